"""`Array`: an array on a device, and the functions that make one.

Shapes, views and errors are NumPy's own: a view is taken of a NumPy array that has this one's address and strides and
that nobody reads, and what comes out says where the view lies.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _shapes
from ._device import device_name
from ._errors import DeviceError
from ._operators import Operators, convert

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ._stream import Stream

DEVICE, PINNED, MANAGED = range(3)  # MemoryKind of runtime.h
DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED = 1, 2, 3, 13  # DLDeviceType of DLPack
PINNED_MAPPED, PINNED_PORTABLE, PINNED_WRITE_COMBINED, MANAGED_HOST, DEVICE_SHAREABLE = 1, 2, 4, 8, 16
REPR_ELEMENTS = 1000  # more aren't fetched for a repr
PLAIN = {d: d.name for d in map(np.dtype, "?bhilqBHILQefdFD")}  # NumPy works the name out at each question
_DTYPES = {name: d for d, name in PLAIN.items()}


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of what names one.

    Raises
    ------
    TypeError
        Not a dtype that kernels have.
    """
    d = np.dtype(dtype)
    if _core.dtype_known(d):
        return d
    raise TypeError(
        f"a device array can't have the dtype {d}: there are bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
        f"float32, float64, complex64, complex128, datetime64, timedelta64, strings and records of these"
        + ("" if d.isnative else ", in the machine's byte order")
    )


def _name_of(dtype: np.dtype[Any]) -> Any:
    """What the extension calls a dtype: its name, or a structured dtype itself."""
    name = PLAIN.get(dtype)
    return name or (dtype if dtype.kind in "VSUMm" and dtype.name != "bfloat16" else dtype.name)


def _numpy_dtype(name: Any) -> np.dtype[Any]:
    if isinstance(name, str) and name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return _DTYPES.get(name) or np.dtype(name)


class _Memory:
    """What NumPy makes an array of: an address that need not be readable."""

    def __init__(self, interface: dict[str, Any], owner: Any = None) -> None:
        self.__array_interface__ = interface
        self.owner = owner


class Array(Operators, _core.ArrayBase):
    """An array on a device. Kernels take it without a copy.

    Made by `gpu.array`, `gpu.empty`, `gpu.zeros`, ... Indexing with integers, slices, ``None`` and ``...`` gives views;
    one element comes as a NumPy scalar, or if it is a record as a view, of which ``r["x"]`` is read and assigned. The
    name of a field gives that field of all records. Operators, reductions and NumPy's ufuncs compute on the device.

    Attributes
    ----------
    shape, strides, ndim, size, itemsize, nbytes, dtype
        As of a NumPy array; strides in bytes.
    device : str
        ``"cpu"``, ``"cuda:0"``, ...
    """

    __slots__ = ()

    # ---- what it is

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _ELSEWHERE]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return _numpy_dtype(self._dtype_name)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def flags(self) -> dict[str, bool]:
        """``c_contiguous``, ``f_contiguous``, ``writeable``, ``owndata``: as NumPy's flags, as a dict."""
        proxy = self._proxy().flags
        return {
            "c_contiguous": proxy.c_contiguous,
            "f_contiguous": proxy.f_contiguous,
            "writeable": not self._readonly,
            "owndata": self._memory.owner is None,
        }

    def is_c_contiguous(self) -> bool:
        """Tell whether elements are in C order, without gaps."""
        return self.flags["c_contiguous"]

    def is_f_contiguous(self) -> bool:
        """Tell whether elements are in Fortran order, without gaps."""
        return self.flags["f_contiguous"]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        where = f"device='{self.device}'"
        try:
            elements = self._on_host() if self.size <= REPR_ELEMENTS else None
        except DeviceError:  # a fault ended the context: debuggers and messages still want to show the array
            elements = None
        if elements is None:
            return f"gpu.Array(shape={self.shape}, dtype={self.dtype}, {where})"
        host = np.array2string(elements, separator=", ", prefix="gpu.array(")
        return f"gpu.array({host}, dtype={self.dtype}, {where})"

    def __str__(self) -> str:
        return str(self._on_host()) if self.size <= REPR_ELEMENTS else repr(self)

    # ---- views

    def _proxy(self) -> np.ndarray[Any, Any]:
        """A NumPy array with this one's address, shape and strides. It must not be read."""
        return np.asarray(_Memory(self._interface(self._address, False)))

    def _interface(self, address: int | None, readonly: bool) -> dict[str, Any]:
        """What NumPy makes an array of, for memory at an address; bfloat16 as the bits, which NumPy itself knows."""
        return {
            "shape": self.shape,
            "strides": self.strides,
            "typestr": "<u2" if self._is_bfloat16() else self.dtype.str,
            "data": (address or 64, readonly),  # no elements, no address
            "version": 3,
        }

    def _is_bfloat16(self) -> bool:
        name = self._dtype_name
        return isinstance(name, str) and name == "bfloat16"

    def _like(self, proxy: np.ndarray[Any, Any], dtype: Any = None) -> Array:
        """The view that a view of `_proxy` stands for."""
        offset = proxy.__array_interface__["data"][0] - (self._address or 64) if proxy.size else 0
        return self._view(offset, proxy.shape, proxy.strides, self._dtype_name if dtype is None else dtype, False)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self._is_plain_field(key):
            return self.item_as_numpy()[key]
        if isinstance(key, (Array, np.ndarray, np.bool_, bool)):
            from . import _masks

            if _masks.is_mask(key):
                return _masks.take(self, key)
        view = self._at(key)
        whole = key is Ellipsis or (isinstance(key, tuple) and any(k is Ellipsis for k in key))
        return view if view.ndim or whole or view.dtype.names is not None else view.item_as_numpy()

    def _is_plain_field(self, name: str) -> bool:
        """Tell a field of one record that is no record or array; it may be a string, and lie anywhere."""
        fields = self.dtype.fields
        return not self.ndim and fields is not None and name in fields and fields[name][0].kind != "V"

    def _field(self, name: str) -> Array:
        """The field of that name, or title, of all records."""
        dtype = self.dtype
        if dtype.fields is None or name not in dtype.fields:
            names = ", ".join(map(repr, dtype.names or ()))
            raise KeyError(
                f"no field {name!r}: there is {names}" if names else f"no records here, and {name!r} is a field"
            )
        field, offset = dtype.fields[name][:2]
        base, shape = field.subdtype or (field, ())
        inner = np.empty(shape, base).strides
        return self._view(offset, self.shape + shape, self.strides + inner, _name_of(dtype_of(base)), False)

    def _at(self, key: Any) -> Array:
        if isinstance(key, str) and self.dtype.names is not None:
            return self._field(key)
        view = None if isinstance(key, Array) else self._index(key)
        if view is not None:
            return view
        whole = key if isinstance(key, tuple) else (key,)
        for k in whole:
            basic = k is None or k is Ellipsis or isinstance(k, (slice, int, np.integer)) or hasattr(k, "__index__")
            if not basic or isinstance(k, (bool, np.bool_)) or (isinstance(k, (np.ndarray, Array)) and k.ndim):
                raise IndexError(
                    f"a device array is indexed by integers, slices, None, '...' and masks, not by {type(k).__name__}: "
                    f"index x.copy_to_host(), or write a kernel"
                )
        if any(k is Ellipsis for k in whole):
            return self._like(self._proxy()[whole])
        return self._like(self._proxy()[(*whole, Ellipsis)])

    def item_as_numpy(self) -> Any:
        """The only element as a NumPy scalar."""
        host = np.empty(self.shape, self.dtype)
        self._copy_to(host, None)
        return host.reshape(())[()]

    def item(self, *index: int) -> Any:
        """One element as a Python number; one index counts in C order."""
        if len(index) == 1 and len(self.shape) > 1:
            if not -self.size <= index[0] < self.size:
                raise IndexError(f"index {index[0]} is out of bounds for size {self.size}")
            index = tuple(int(k) for k in np.unravel_index(index[0] % self.size, self.shape))
        view = self._at(index) if index else self
        if view.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return view.item_as_numpy().item()

    def tolist(self) -> Any:
        """Elements as nested lists of Python numbers."""
        return self._on_host().tolist()

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """The elements in another shape; a view where that is possible, else a copy.

        Raises
        ------
        ValueError
            Another number of elements.
        """
        new = tuple(shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape)
        order = self._order_of(order)
        if new == (-1,):
            new = (self.size,)
        if self._layout == "C" and order == "C" and all(type(n) is int and n > 0 for n in new):
            whole, strides = self.itemsize, []  # type: ignore[attr-defined]
            for n in reversed(new):
                strides.append(whole)
                whole *= n
            if whole == self.nbytes:
                return self._view(0, new, tuple(strides[::-1]), self._dtype_name, self._readonly)  # type: ignore[no-any-return]
        view = _shapes.reshaped(self._proxy(), new, order)
        if view is not None:
            return self._like(view)
        return self.copy(order=order).reshape(new, order=order)

    def _order_of(self, order: str, as_they_lie: bool = False) -> str:
        """C or F, one of which ``"A"`` is: Fortran's, where elements lie so; and ``"K"``, where there are no gaps."""
        if order == "A" or (order == "K" and as_they_lie and (self._layout != "A" or self.ndim < 2)):
            return "F" if self._layout == "F" else "C"
        return _shapes.checked_order(order)

    def ravel(self, order: str = "C") -> Array:
        """All elements in one dimension; a view where that is possible."""
        return self.reshape(-1, order=self._order_of(order, True))

    def flatten(self, order: str = "C") -> Array:
        """All elements in one dimension, a copy."""
        order = self._order_of(order, True)
        return self.copy(order=order).reshape(-1, order=order)

    def transpose(self, *axes: Any) -> Array:
        """A view with the axes in another order; reversed, if none is given."""
        return self._like(self._proxy().transpose(*axes))

    @property
    def T(self) -> Array:
        """The transpose, a view."""
        return self.transpose()

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """A view with two axes exchanged."""
        return self._like(self._proxy().swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> Array:
        """A view without axes of length one."""
        return self._like(self._proxy().squeeze(axis))

    def view(self, dtype: Any = None) -> Array:
        """The same memory, as elements of another dtype.

        Raises
        ------
        ValueError
            The last axis doesn't divide into such elements.
        """
        if dtype is None:
            return self._like(self._proxy())
        new = dtype_of(dtype)
        stand_in = np.dtype("u2") if new.name == "bfloat16" else new
        return self._like(self._proxy().view(stand_in), _name_of(new))

    # ---- contents

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str) and self._is_plain_field(key):
            record = self.item_as_numpy()
            record[key] = value
            self._assign(record, None)
            return
        if isinstance(key, (Array, np.ndarray, np.bool_, bool)):
            from . import _masks

            if _masks.is_mask(key):
                return _masks.put(self, key, value)
        self._at(key)._assign(value, None)

    def _assign(self, value: Any, stream: Stream | int | None) -> None:
        """``self[...] = value``, with NumPy's conversions and broadcasting; it may have more axes, of length 1."""
        while isinstance(value, Array) and value.ndim > self.ndim and value.shape[0] == 1:
            value = value.reshape(value.shape[1:])
        if isinstance(value, Array) and value.dtype == self.dtype and value.shape == self.shape:
            self._copy_from(value, stream)
            return
        if isinstance(value, Array) and value.device == self.device and _converts(value.dtype, self.dtype):
            convert(value, self, stream)
            return
        source = value._on_host() if isinstance(value, Array) else value
        if self._is_one_element(source):
            element = np.zeros((), self.dtype)
            element[...] = source
            if self._layout != "A" and (self._shares_host or self._fills_at_once()):
                self._fill(element.tobytes(), stream)
                return
            source = element
        host = np.empty(self.shape, self.dtype)
        host[...] = source
        self._copy_from(host, stream)

    def _fills_at_once(self) -> bool:
        """Whether elements lie where a driver's memset takes them."""
        size = self.dtype.itemsize
        return self._address % min(size & -size, 8) == 0

    def _is_one_element(self, value: Any) -> bool:
        """Tell a number, or a record as a tuple, from arrays of them."""
        return isinstance(value, tuple) if self.dtype.names and isinstance(value, (tuple, list)) else not np.ndim(value)

    def fill(self, value: Any, stream: Stream | int | None = None) -> None:
        """Set all elements to a number."""
        if not self._is_one_element(value):
            raise TypeError("fill takes one number; x[...] = values assigns several")
        self._assign(value, stream)

    def copy_to_host(
        self, ary: np.ndarray[Any, Any] | None = None, stream: Stream | int | None = None
    ) -> np.ndarray[Any, Any]:
        """Copy to a new NumPy array, or to `ary`, which must have this shape and dtype.

        Returns when the elements are there, unless `ary` is pinned memory: then when the stream has come so far.

        Raises
        ------
        ValueError
            `ary` has another shape.
        TypeError
            `ary` has another dtype.
        """
        if ary is None:
            return self._on_host(stream)
        self._same(ary)
        self._copy_to(ary, stream)
        return ary

    def _on_host(self, stream: Stream | int | None = None) -> np.ndarray[Any, Any]:
        """A copy on the host, whatever the strides are."""
        host = np.empty(self.shape, self.dtype, order="F" if self._layout == "F" else "C")
        self._copy_to(host, stream)
        return host

    def copy_to_device(self, ary: Any, stream: Stream | int | None = None) -> None:
        """Copy from an array of this shape and dtype, on the host or a device.

        Raises
        ------
        ValueError
            Another shape.
        TypeError
            Another dtype.
        """
        source = ary if isinstance(ary, Array) else _shapes.aligned(_shapes.host_array(ary))
        self._same(source)
        self._copy_from(source, stream)

    def _same(self, other: Any) -> None:
        if tuple(other.shape) != self.shape:
            raise ValueError(f"the arrays have different shapes: {tuple(other.shape)}, and on the device {self.shape}")
        if other.dtype != self.dtype:
            raise TypeError(f"the arrays have different dtypes: {other.dtype}, and on the device {self.dtype}")

    def copy(self, order: str = "C", stream: Stream | int | None = None) -> Array:
        """A packed copy on the same device, in C or Fortran order (or ``"K"``: as this one)."""
        if order == "K":
            order = "F" if self._layout == "F" else "C"
        new = Array._alloc(self.device, self.shape, self._dtype_name, _shapes.checked_order(order), DEVICE, 0, stream)
        new._copy_from(self, stream)
        return new

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """A copy with another dtype; with ``copy=False`` this array if it has that dtype."""
        new = dtype_of(dtype)
        if new == self.dtype:
            return self.copy("K") if copy else self
        if _converts(self.dtype, new):
            made = empty_like(self, new)
            convert(self, made)
            return made
        return array(self._on_host().astype(new), device=self.device)

    def to(self, device: Any, stream: Stream | int | None = None) -> Array:
        """The array itself if it is on that device, else a copy there."""
        name = device_name(device)
        return self if name == self.device else array(self, device=name, stream=stream)

    # ---- other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """For ``numpy.asarray``: the memory itself on the cpu device, else a copy on the host."""
        if self._shares_host and self._host_address is not None:
            host = self._host_view()
            return np.array(host, dtype, copy=copy) if dtype is not None or copy else host
        if copy is False:
            raise ValueError(f"`copy=False` is not possible: an array on {self.device} is read from the host by a copy")
        host = self._on_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def _host_view(self) -> np.ndarray[Any, Any]:
        return np.asarray(_Memory(self._interface(self._host_address, self._readonly), self)).view(self.dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's description of the memory; missing where the host can't read it."""
        if self._host_address is None or self._is_bfloat16():
            raise AttributeError("__array_interface__")
        return dict(self._host_view().__array_interface__)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description that CUDA libraries exchange (version 3); missing on the cpu device."""
        if self._shares_host or self._is_bfloat16():
            raise AttributeError("__cuda_array_interface__")
        from ._stream import current_stream

        handle = current_stream(self.device).handle or (self._memory.stream and self._memory.stream.handle)
        return self._cuda_interface(handle or 1)

    def _cuda_interface(self, stream: int | None) -> dict[str, Any]:
        """``__cuda_array_interface__``, with the stream in which the contents are complete."""
        records = {} if self.dtype.names is None else {"descr": self.dtype.descr}
        return {
            **records,
            "shape": self.shape,
            "strides": None if self._layout == "C" else self.strides,
            "typestr": self.dtype.str,
            "data": (self._address if self.size else 0, self._readonly),
            "stream": stream,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (device type, device number)."""
        if self._shares_host:
            return DL_CPU, 0
        kind, _, number_text = self.device.partition(":")
        if kind != "cuda":
            raise BufferError(f"other libraries can't reach the memory of {self.device}: give them x.copy_to_host()")
        number = int(number_text)
        return {DEVICE: DL_CUDA, PINNED: DL_CUDA_HOST, MANAGED: DL_CUDA_MANAGED}[self._kind], number

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the memory.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream, which will find the contents complete; -1: it takes care itself.
        max_version : tuple of two ints, optional
            The newest DLPack that the consumer reads.
        dl_device : tuple of two ints, optional
            Where the consumer wants it: this array's device, or ``(1, 0)``, the host.
        copy : bool, optional

        Raises
        ------
        BufferError
            What is asked for can't be done.
        """
        where = self.__dlpack_device__()
        versioned = max_version is not None and max_version[0] >= 1
        if dl_device is not None and tuple(dl_device) != where:
            if tuple(dl_device) != (DL_CPU, 0) or copy is False:
                raise BufferError(f"this array is on DLPack's device {where}, and {dl_device} was asked for")
            host = from_host(self._on_host())
            return _core.dlpack_export(host, DL_CPU, 0, versioned, True)
        if self._readonly and not versioned:
            raise BufferError("a read-only array can only be given to a consumer of DLPack 1.0 or later")
        source = self.copy("K") if copy else self
        if not self._shares_host and stream != -1:
            self._order_after(stream)
        return _core.dlpack_export(source, *where, versioned, bool(copy))

    def _order_after(self, stream: Any) -> None:
        """Let a stream of another library wait for what is going on here."""
        from ._stream import Event, current_stream, external_stream

        own = current_stream(self.device)
        consumer = external_stream(1 if stream is None else stream, self.device)
        consumer.wait(Event(self.device, timing=False).record(own))

    # ---- as one number

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth of an array with more than one element (or none) is ambiguous")
        return bool(self.item_as_numpy())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer arrays without dimensions can be converted to an index")
        return int(self.item())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._on_host(), self.device)


class _Elsewhere:
    """An attribute that arrays of NumPy or of another library have, and these don't: it says what to write instead."""

    def __init__(self, name: str, help: str) -> None:
        self.text = f"'Array' object has no attribute '{name}': {help}"

    def __get__(self, array: Array | None, owner: type[Array]) -> Any:
        raise AttributeError(self.text)


_ELSEWHERE = {
    **dict.fromkeys(("numpy", "to_numpy", "asnumpy", "cpu", "get"), "x.copy_to_host() is a NumPy array"),
    "cuda": 'x.to("cuda:0") is a copy on that device',
    **{
        name: "copy it first, x.copy_to_host(), or write a kernel"
        for name in dir(np.ndarray)
        if not name.startswith("_") and not hasattr(Array, name)
    },
}
for _name, _help in _ELSEWHERE.items():
    setattr(Array, _name, _Elsewhere(_name, _help))


def _converts(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether a kernel converts it: not records and strings, nor what NumPy warns of."""
    plain = all(d.fields is None and d.kind not in "SU" for d in (source, target))
    return plain and (source.kind != "c" or target.kind == "c")


def _restore(host: np.ndarray[Any, Any], device: str) -> Array:
    """Unpickle: on the device it was on, or on the current one if that isn't here."""
    return array(host, device=device if device in _core.device_names() else None)


# ---- making arrays


def array(
    obj: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    device: Any = None,
    stream: Stream | int | None = None,
) -> Array:
    """An array on a device with the elements of another, of a list or of a number.

    Parameters
    ----------
    obj : array_like
        A NumPy array, a device array of this or another library (``__cuda_array_interface__``, DLPack,
        ``__array_interface__``, the buffer protocol), nested lists, a number.
    dtype : dtype, optional
    copy : bool, optional
        None: only if it is needed, because the memory is elsewhere or has another dtype or order; False: never.
    order : str
        ``"C"``, ``"F"``, or ``"K"``: as `obj` has it.
    device : str or int, optional
        ``"cpu"``, ``"cuda:1"``, ``1``; else the current device.
    stream : Stream, optional
        In which to copy; else the current one.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        A dtype that kernels don't have.
    ValueError
        A copy is needed, and isn't allowed.
    OutOfMemoryError
        The device has no room.
    """
    return _array_of(obj, dtype, copy, order, device, stream, 0)


def _array_of(obj: Any, dtype: Any, copy: bool | None, order: str, device: Any, stream: Any, flags: int) -> Array:
    """`array`, in memory of some kind (``DEVICE_...``)."""
    if order not in ("C", "F", "K"):
        raise ValueError(f"order is 'C', 'F' or 'K', not {order!r}")
    name = device_name(device)
    source = _on_device(obj)
    wanted = None if dtype is None else dtype_of(dtype)
    if source is None:
        source = _shapes.host_array(obj, wanted)
        dtype_of(source.dtype)
        there = name == "cpu" and source is obj and source.flags.aligned
        source = _shapes.aligned(source)
    else:
        there = source.device == name and wanted in (None, source.dtype)
    if there and not copy and _shapes.has_order(source, order):
        return source if isinstance(source, Array) else from_host(source)
    if copy is False:
        raise ValueError(f"this can't be an array on {name} without a copy; copy=None makes one where it is needed")
    if wanted is not None and wanted != source.dtype:
        source = source._on_host().astype(wanted)
    fortran = order == "F" or (order == "K" and _is_fortran(source))
    own = stream if getattr(stream, "device", name) == name else None  # a copy to the host goes in the source's stream
    new = Array._alloc(name, source.shape, _name_of(source.dtype), "F" if fortran else "C", DEVICE, flags, own)
    new._copy_from(source, stream)
    return new


def asarray(
    obj: Any,
    dtype: Any = None,
    *,
    copy: bool | None = None,
    order: str = "K",
    device: Any = None,
    stream: Stream | int | None = None,
) -> Array:
    """Like `array`, without a copy where the memory is on the device already."""
    return array(obj, dtype, copy=copy, order=order, device=device, stream=stream)


def from_host(source: np.ndarray[Any, Any]) -> Array:
    """An array of the cpu device that shares the memory of a NumPy array."""
    address = source.__array_interface__["data"][0]
    return Array._wrap(
        "cpu",
        address,
        address,
        source.shape,
        source.strides,
        _name_of(source.dtype),
        not source.flags.writeable,
        DEVICE,
        source,
        None,
    )


def _on_device(obj: Any) -> Array | None:
    """An array that shares memory with one of a device; None: it is on the host."""
    if isinstance(obj, Array):
        return obj
    if isinstance(obj, np.ndarray):
        return None
    from ._exchange import on_device

    return on_device(obj)


def empty(
    shape: Any, dtype: Any = "float64", order: str = "C", *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """An array with any contents.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype
    order : str
        ``"C"`` or ``"F"``.
    device : str or int, optional
    stream : Stream, optional
        The stream that uses it first; memory is given and freed in its order.
    """
    return Array._alloc(
        device_name(device),
        _shapes.as_shape(shape),
        _name_of(dtype_of(dtype)),
        _shapes.checked_order(order),
        DEVICE,
        0,
        stream,
    )


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    stream: Stream | int | None = None,
) -> Array:
    """An array of one value; the dtype is the value's, if none is given."""
    kind = np.asarray(fill_value).dtype if dtype is None else dtype
    new = empty(shape, kind, order, device=device, stream=stream)
    new._assign(fill_value, stream)
    return new


def _zero(dtype: Any) -> Any:
    """What an array of zeros is filled with: 0, or a record of zero bytes."""
    structured = dtype is not None and np.dtype(dtype).names is not None
    return np.zeros((), dtype)[()] if structured else 0


def zeros(
    shape: Any, dtype: Any = "float64", order: str = "C", *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """An array of zeros."""
    return full(shape, _zero(dtype), dtype, order, device=device, stream=stream)


def ones(
    shape: Any, dtype: Any = "float64", order: str = "C", *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """An array of ones."""
    return full(shape, 1, dtype, order, device=device, stream=stream)


def _is_fortran(a: Any) -> bool:
    """In Fortran order, and not in C order as well."""
    return a._layout == "F" if isinstance(a, Array) else getattr(getattr(a, "flags", None), "fnc", False)


def _model(a: Any, dtype: Any, shape: Any, device: Any) -> tuple[Any, Any, str, Any]:
    like = a if isinstance(a, Array) or hasattr(a, "dtype") else np.asarray(a)
    where = like.device if device is None and isinstance(like, Array) else device
    return (
        like.shape if shape is None else shape,
        like.dtype if dtype is None else dtype,
        "F" if _is_fortran(like) else "C",
        where,
    )


def empty_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """An array with any contents, with shape, dtype, order (and device, if it has one) of another."""
    shape, dtype, order, device = _model(a, dtype, shape, device)
    return empty(shape, dtype, order, device=device, stream=stream)


def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """Zeros, with shape, dtype, order and device of another array."""
    return full_like(
        a, _zero(getattr(a, "dtype", None) if dtype is None else dtype), dtype, shape, device=device, stream=stream
    )


def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, stream: Stream | int | None = None
) -> Array:
    """Ones, with shape, dtype, order and device of another array."""
    return full_like(a, 1, dtype, shape, device=device, stream=stream)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
    stream: Stream | int | None = None,
) -> Array:
    """One value, with shape, dtype, order and device of another array."""
    shape, dtype, order, device = _model(a, dtype, shape, device)
    return full(shape, fill_value, dtype, order, device=device, stream=stream)


def arange(*args: Any, dtype: Any = None, device: Any = None, stream: Stream | int | None = None) -> Array:
    """``numpy.arange`` on a device."""
    return array(np.arange(*args, dtype=dtype), device=device, stream=stream)


def to_device(
    obj: Any, stream: Stream | int | None = None, copy: bool = True, to: Array | None = None, device: Any = None
) -> Array:
    """Copy an array to the device, as ``numba.cuda.to_device``.

    Parameters
    ----------
    obj : array_like
    copy : bool
        False: allocate without copying the contents.
    to : Array, optional
        Copy into this array, of the same shape and dtype, in place of a new one.
    """
    if to is not None:
        to.copy_to_device(obj, stream)
        return to
    return array(obj, device=device, stream=stream) if copy else empty_like(obj, device=device, stream=stream)


def pinned_array(
    shape: Any, dtype: Any = "float64", order: str = "C", *, write_combined: bool = False, device: Any = None
) -> npt.NDArray[Any]:
    """A NumPy array in page-locked memory: copies to and from it are fast, and run while the host goes on.

    Returns
    -------
    numpy.ndarray
        With any contents. A copy between it and a device has ended when the stream has come so far.
    """
    flags = PINNED_PORTABLE | (PINNED_WRITE_COMBINED if write_combined else 0)
    return _host_array(shape, dtype, order, PINNED, flags, device)._host_view()


def mapped_array(
    shape: Any, dtype: Any = "float64", order: str = "C", *, write_combined: bool = False, device: Any = None
) -> Array:
    """An array in page-locked host memory that kernels use over the bus; ``numpy.asarray`` of it is the memory."""
    flags = PINNED_PORTABLE | PINNED_MAPPED | (PINNED_WRITE_COMBINED if write_combined else 0)
    return _host_array(shape, dtype, order, PINNED, flags, device)


def managed_array(
    shape: Any, dtype: Any = "float64", order: str = "C", *, attach_global: bool = True, device: Any = None
) -> Array:
    """An array that moves between host and device as it is used; ``numpy.asarray`` of it is the memory."""
    return _host_array(shape, dtype, order, MANAGED, 0 if attach_global else MANAGED_HOST, device)


def _host_array(shape: Any, dtype: Any, order: str, kind: int, flags: int, device: Any) -> Array:
    name = _name_of(dtype_of(dtype))
    return Array._alloc(
        device_name(device), _shapes.as_shape(shape), name, _shapes.checked_order(order), kind, flags, None
    )
