"""Arrays under Numba's names: thin classes and functions on those of `gpu`."""

from __future__ import annotations

import contextlib
import operator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _core, _device, _exchange, _shapes
from .._array import (
    DEVICE,
    DEVICE_SHAREABLE,
    MANAGED,
    MANAGED_HOST,
    PINNED,
    PINNED_MAPPED,
    PINNED_PORTABLE,
    PINNED_WRITE_COMBINED,
)
from . import config as _settings
from ._memory import MemoryPointer, OwnedPointer, foreign_memory, managers
from ._typing import typeof

if TYPE_CHECKING:
    from collections.abc import Iterator


def _on_host(value: Any) -> Any:
    """Device arrays in arguments as NumPy arrays."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(_on_host, value))
    return np.asarray(value) if isinstance(value, _array.Array) else value


class DeviceNDArray(_array.Array):
    """A `gpu.Array` with Numba's names beside its own.

    As in Numba, reshaping never copies, whole arrays are copied between memory without gaps and of one order alone, and
    arrays of two dimensions alone are transposed; elements are assigned (``a[...] = b``) whatever lies between them.
    """

    __slots__ = ("_transposed",)  # a transpose of an array with gaps: Numba's is a copy, in C order
    __cuda_memory__ = True

    def __new__(cls, shape: Any, strides: Any, dtype: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
        """An array on the current device, with any contents, as `device_array` makes it."""
        if gpu_data is not None:
            raise NotImplementedError("memory that is there already is viewed by cuda.from_cuda_array_interface()")
        return _new(shape, dtype, strides, "C", DEVICE, 0, stream)

    def _finish(self, stream: Any) -> None:
        """As in Numba, a copy that names no stream, of an array without one, is done when the call returns.

        It would be in any case but for pinned memory, which is read and written later.
        """
        if not stream and not self._memory.stream:
            from ._streams import Stream

            Stream._current(self.device).synchronize()

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._finish(0)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """NumPy's functions: on the device those that `gpu.Array` has, others of a copy on the host, as Numba does."""
        from .._operators import FUNCTIONS, function_call

        if function in FUNCTIONS:
            return function_call(function, args, kwargs)
        return function(*_on_host(args), **{name: _on_host(value) for name, value in kwargs.items()})

    @property
    def alloc_size(self) -> int:
        """Bytes of the memory that the array lies in."""
        return self._memory.nbytes

    @property
    def gpu_data(self) -> MemoryPointer | OwnedPointer:
        """The memory that the array lies in, from its first element on."""
        from ._devices import current_context

        owner = self._memory.owner
        if isinstance(owner, (MemoryPointer, OwnedPointer)) and owner.handle == self._address:
            return owner
        return MemoryPointer(current_context(), self._address, self.nbytes, owner=self._memory)

    def get_ipc_handle(self) -> Any:
        """What another process opens the array by, in a ``with`` block: see `IpcArrayHandle`.

        Raises
        ------
        OSError
            The device's memory isn't shared with other processes.
        """
        from ._devices import current_context
        from ._ipc import IpcArrayHandle

        strides = None if self.is_c_contiguous() else self.strides
        description = {"shape": self.shape, "strides": strides, "dtype": self.dtype}
        return IpcArrayHandle(current_context().get_ipc_handle(self.gpu_data), description)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description that CUDA libraries exchange (version 3).

        An array of the cpu device has it where there is no GPU: elsewhere another library would take its address for a
        GPU's.
        """
        if not self._shares_host or self._is_bfloat16() or _core.device_count("cuda"):
            return super().__cuda_array_interface__
        stream = self._memory.stream  # of work that is done: readers wait for nothing
        return self._cuda_interface((stream.handle or None) if stream else None)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Missing: `__array__` makes a copy."""
        raise AttributeError("__array_interface__")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """For ``numpy.asarray``: a copy on the host, on every device as on a GPU."""
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        host = self._on_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address of the first element, as a number of ctypes; 0 for an array without elements."""
        import ctypes

        return ctypes.c_uint64(self._address if self.size else 0)

    @property
    def stream(self) -> Any:
        """The stream that its memory was allocated in, or 0."""
        return self._memory.stream or 0

    @property
    def flags(self) -> dict[str, bool]:
        """NumPy's flags as a dict, under both spellings: ``C_CONTIGUOUS`` and ``c_contiguous``."""
        flags = super().flags
        return flags | {name.upper(): value for name, value in flags.items()}

    @property
    def _numba_type_(self) -> _core.Type:
        """The type that a kernel's parameter gets from it."""
        return typeof(self)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """A view of another shape; NotImplementedError if it would have to copy."""
        view = super().reshape(*shape, order=order)
        if view._memory is not self._memory:
            raise NotImplementedError("reshape would need a copy: the array isn't contiguous")
        return view

    def ravel(self, order: str = "C", stream: Any = 0) -> Any:
        """A view of one dimension, in order C, F or A; NotImplementedError unless the array is contiguous."""
        if not (self.is_c_contiguous() or self.is_f_contiguous()):
            raise NotImplementedError(
                "ravel() of an array with gaps would need a copy: reshape(-1) makes a view if it can"
            )
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        return self.reshape(-1, order=order)

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Any:
        """A view without the axes of length one."""
        return super().squeeze(axis)

    def transpose(self, axes: Any = None) -> Any:
        """A view with the two axes exchanged; of another number of axes NotImplementedError. In Numba it is a copy."""
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"invalid axes list {axes!r}")
        view = super().transpose()
        view._transposed = not (self.is_c_contiguous() or self.is_f_contiguous())
        return view

    def copy_to_host(self, ary: Any = None, stream: Any = None) -> Any:
        """As `gpu.Array.copy_to_host`; NotImplementedError for an array that runs backwards."""
        if any(stride < 0 for stride in self.strides):
            raise NotImplementedError(f"D->H copy not implemented for negative strides: {self.strides}")
        found = super().copy_to_host(ary, stream)
        if ary is not None:
            self._finish(stream)
        return found

    def copy_to_device(self, ary: Any, stream: Any = None) -> None:
        """Copy from an array of this shape and dtype, on the host or a device.

        Raises
        ------
        ValueError
            Another shape, elements with gaps between them, or on the device another order.
        TypeError
            Another dtype.
        """
        if self.size:
            _require_contiguous(self)
            if is_cuda_array(ary):
                source = as_cuda_array(ary)
                _require_contiguous(source)
                if source.shape == self.shape and source.strides != self.strides and source.dtype == self.dtype:
                    raise ValueError(f"incompatible strides: {self.strides} vs. {source.strides}")
        super().copy_to_device(ary, stream)
        self._finish(stream)

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Views of `section` elements each, of a one-dimensional array."""
        if self.ndim != 1:
            raise ValueError("only arrays of one dimension can be split")
        return (self[start : start + section] for start in range(0, self.size, section))

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """The array itself: work says in which stream it goes."""
        return self

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """``self[item]``, read in a stream."""
        view = self._at(item)
        found = self[item]
        if isinstance(found, _array.Array):
            return found
        return view.copy_to_host(stream=stream)[()]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """``self[key] = value``, in a stream."""
        self._at(key)._assign(value, stream)


NON_CONTIGUOUS = "Array contains non-contiguous buffer and cannot be transferred as a single memory region."


def _require_contiguous(ary: DeviceNDArray) -> None:
    """ValueError for an array with gaps between elements; one that repeats some has none."""
    core = ary
    for axis, stride in enumerate(ary.strides):
        if stride == 0 and core.ndim:
            core = core[(slice(None),) * axis + (slice(0, 1),)]
    flags = core.flags
    if not (flags["c_contiguous"] or flags["f_contiguous"]):
        raise ValueError(NON_CONTIGUOUS)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceNDArray:
    """Copy an array to the current device.

    Parameters
    ----------
    obj : array_like
    stream : Stream, optional
    copy : bool
        False: allocate without copying the contents.
    to : DeviceNDArray, optional
        Copy into this array, of the same shape and dtype, in place of a new one.

    Returns
    -------
    DeviceNDArray
        Of the same shape, dtype and order.
    """
    _settings.require_cuda()
    if to is None and managers.foreign and not isinstance(obj, _array.Array):
        return _to_foreign(np.asarray(obj), stream, copy)
    if to is None and isinstance(obj, np.ndarray) and _repeats(obj):
        return _to_broadcast(obj, stream, copy)
    if to is not None:
        made = _array.to_device(obj, stream, copy, to)
    elif copy:
        made = _array._array_of(obj, None, True, "K", None, stream, DEVICE_SHAREABLE)
    else:
        made = _empty_like(obj, stream)
    if not isinstance(made, DeviceNDArray):
        made = DeviceNDArray._of(made)
    if copy:
        made._finish(stream)
    if isinstance(obj, np.ndarray) and not obj.size and to is None:
        made = made._view(
            0, obj.shape, obj.strides, made._dtype_name, False
        )  # strides of no elements stay as they were
    return made


def device_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """An array on the current device, with any contents.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype
    strides : int or tuple of ints, optional
        In bytes.
    order : str
        ``"C"`` or ``"F"``.
    """
    return _new(shape, dtype, strides, order, DEVICE, 0, stream)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """An array on the current device with the shape, dtype and order of another, with any contents."""
    if managers.foreign:
        return _to_foreign(np.empty_like(np.asarray(ary)), stream, False)
    if getattr(ary, "ndim", 0) > 1 and not _array._is_fortran(ary):
        return _new(ary.shape, _array.dtype_of(ary.dtype), _strides_like(ary), "C", DEVICE, 0, stream)
    return _empty_like(ary, stream)


def _empty_like(ary: Any, stream: Any) -> DeviceNDArray:
    """Packed, in C or Fortran order as the other."""
    shape, dtype, order, _ = _array._model(ary, None, None, None)
    return _new(shape, dtype, None, order, DEVICE, 0, stream)


def _strides_like(ary: Any) -> tuple[int, ...]:
    """Strides of a packed array whose axes follow each other in memory as those of another, as NumPy gives them."""
    size = _array.dtype_of(ary.dtype).itemsize
    if getattr(ary, "_transposed", False):
        return _packed(ary.shape, size, "C")
    model = np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), ary.shape, ary.strides)
    return tuple(step * size for step in np.empty_like(model).strides)


def _repeats(host: np.ndarray[Any, Any]) -> bool:
    """Whether elements lie in one place."""
    return 0 in host.strides and any(n > 1 and s == 0 for n, s in zip(host.shape, host.strides, strict=True))


def _to_broadcast(host: np.ndarray[Any, Any], stream: Any, copy: bool) -> DeviceNDArray:
    """A repeated array, with each element on the device once."""
    once = host[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in host.strides)]
    made = to_device(np.ascontiguousarray(once), stream, copy)
    steps = tuple(0 if stride == 0 else step for stride, step in zip(host.strides, made.strides, strict=True))
    view: DeviceNDArray = made._view(0, host.shape, steps, made._dtype_name, False)
    return view


def _to_foreign(host: np.ndarray[Any, Any], stream: Any, copy: bool) -> DeviceNDArray:
    """An array in memory of another library's memory manager, with the shape, dtype and order of one of the host."""
    order = "F" if _array._is_fortran(host) else "C"
    made = _new(host.shape, _array.dtype_of(host.dtype), None, order, DEVICE, 0, stream)
    if copy:
        made.copy_to_device(host, stream)
    return made


def _in_memory(memory: Any, sizes: tuple[int, ...], dtype: Any, order: str) -> DeviceNDArray:
    """A packed array in memory that a memory manager gave."""
    device, name = _device.device_name(), _array._name_of(dtype)
    address = int(memory.handle)
    strides = _packed(sizes, dtype.itemsize, order)
    host = address if device == "cpu" else 0
    return DeviceNDArray._wrap(device, address, host, sizes, strides, name, False, DEVICE, memory, None)


def _packed(sizes: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """Strides without gaps."""
    strides, step = [], itemsize
    for n in sizes if order == "F" else reversed(sizes):
        strides.append(step)
        step *= n
    return tuple(strides if order == "F" else reversed(strides))


def _new(
    shape: Any, dtype: Any, strides: Any, order: str, kind: int, flags: int = 0, stream: Any = None
) -> DeviceNDArray:
    _settings.require_cuda()
    sizes, name = _sizes(shape), _array._name_of(_array.dtype_of(dtype))
    if kind == DEVICE:
        flags |= DEVICE_SHAREABLE  # get_ipc_handle() may come
    if strides is None:
        order, of = _shapes.checked_order(order), _array.dtype_of(dtype)
        memory = foreign_memory(prod(sizes) * of.itemsize) if kind == DEVICE and managers.foreign else None
        if memory is not None:
            return _in_memory(memory, sizes, of, order)
        return DeviceNDArray._alloc(_device.device_name(), sizes, name, order, kind, flags, stream)
    steps = _shapes.as_shape(strides)
    if len(steps) != len(sizes) or any(s < 0 for s in steps):
        raise ValueError(f"strides {steps} don't fit the shape {sizes}: one of 0 or more for each dimension")
    extent = sum((n - 1) * s for n, s in zip(sizes, steps, strict=True)) if all(sizes) else 0
    nbytes = (extent + np.dtype(dtype).itemsize,)
    block = DeviceNDArray._alloc(_device.device_name(), nbytes, "uint8", "C", kind, flags, stream)
    return block._view(0, sizes, steps, name, False)


def _sizes(shape: Any) -> tuple[int, ...]:
    """A shape as Numba takes it: an integer, or a list, tuple or array of integers."""
    sizes = [shape] if np.ndim(shape) == 0 else list(shape)
    try:
        return tuple(map(operator.index, sizes))
    except TypeError:
        raise TypeError(f"shape must be an integer or a sequence of integers, and this is {shape!r}") from None


def _host_flags(portable: bool, wc: bool) -> int:
    return (PINNED_PORTABLE if portable else 0) | (PINNED_WRITE_COMBINED if wc else 0)


def pinned_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", *, wc: bool = False
) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory, which copies faster and beside the host's work."""
    return _new(shape, dtype, strides, order, PINNED, _host_flags(True, wc))._host_view()


def pinned_array_like(ary: Any) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory with the shape, dtype and order of another."""
    return pinned_array(ary.shape, ary.dtype, _strides_like(ary))


def mapped_array(
    shape: Any,
    dtype: Any = "float64",
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory that kernels use in place; wait for them before it is read."""
    flags = PINNED_MAPPED | _host_flags(portable, wc)
    return _visible(MappedNDArray, _new(shape, dtype, strides, order, PINNED, flags, stream))


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> np.ndarray[Any, Any]:
    """`mapped_array` with the shape, dtype and order of another."""
    return mapped_array(ary.shape, ary.dtype, _strides_like(ary), "C", stream, portable, wc)


def managed_array(
    shape: Any,
    dtype: Any = "float64",
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> np.ndarray[Any, Any]:
    """A NumPy array in managed memory, which kernels use in place; wait for them before it is read."""
    flags = 0 if attach_global else MANAGED_HOST
    return _visible(ManagedNDArray, _new(shape, dtype, strides, order, MANAGED, flags, stream))


class _VisibleNDArray(np.ndarray[Any, Any]):
    """A NumPy array in memory that the device sees too. Results of NumPy's functions are not in such memory."""

    __cuda_memory__ = True
    _on_device: DeviceNDArray | None = None

    def __array_finalize__(self, obj: Any) -> None:
        self._on_device = getattr(obj, "_on_device", None)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description that CUDA libraries exchange; missing of an array in other memory."""
        memory = self._on_device
        first, end = np.lib.array_utils.byte_bounds(self)
        start = None if memory is None else memory._host_address
        if memory is None or start is None or not start <= first <= end <= start + memory.nbytes:
            raise AttributeError("__cuda_array_interface__")
        address = self.__array_interface__["data"][0] - start + memory._address
        whole = memory.__cuda_array_interface__
        strides = None if self.flags.c_contiguous else self.strides
        place = {"shape": self.shape, "strides": strides, "typestr": self.dtype.str}
        return {**whole, **place, "data": (address if self.size else 0, not self.flags.writeable)}

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address of the first element on the device, as a number of ctypes."""
        import ctypes

        return ctypes.c_size_t(self.__cuda_array_interface__["data"][0])

    @property
    def gpu_data(self) -> MemoryPointer:
        """The memory that it lies in."""
        from ._devices import current_context

        address = self.__cuda_array_interface__["data"][0]
        return MemoryPointer(current_context(), address, self.nbytes, owner=self._on_device)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """A copy, in `ary` if one is given."""
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary


class MappedNDArray(_VisibleNDArray):
    """What `mapped_array` gives: a NumPy array in page-locked memory that GPUs address."""


class ManagedNDArray(_VisibleNDArray):
    """What `managed_array` gives: a NumPy array in memory that moves between host and device."""


def _visible(kind: type[_VisibleNDArray], memory: DeviceNDArray) -> Any:
    made = memory._host_view().view(kind)
    base = memory._view(0, (memory._memory.nbytes,), (1,), "uint8", False)
    made._on_device = base
    return made


@contextlib.contextmanager
def mapped(*arylist: np.ndarray[Any, Any], **kws: Any) -> Iterator[Any]:
    """Map NumPy arrays to the device in a ``with`` block, which gets device arrays in their memory.

    Yields
    ------
    DeviceNDArray, or a list of them if there are several arrays
    """
    with _device.pinned(*arylist):
        made = [_mapped(array) for array in arylist]
        yield made[0] if len(made) == 1 else made


def _mapped(array: np.ndarray[Any, Any]) -> DeviceNDArray:
    address, name = array.__array_interface__["data"][0], _array._name_of(_array.dtype_of(array.dtype))
    place, device = (array.shape, array.strides, name, not array.flags.writeable), _device.device_name()
    return DeviceNDArray._wrap(device, address, address, *place, PINNED, array, None)


def pinned(*arrays: np.ndarray[Any, Any]) -> contextlib.AbstractContextManager[None]:
    """Pin NumPy arrays in a ``with`` block."""
    return _device.pinned(*arrays)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A view of an array that is on the device, of this or another library, without a copy.

    Raises
    ------
    TypeError
        Not an array of this device.
    """
    if isinstance(obj, DeviceNDArray):
        return obj
    if isinstance(obj, _array.Array):
        return DeviceNDArray._of(obj)
    if hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)
    if _device.device_name() != "cpu" or not hasattr(obj, "__array_interface__"):
        raise TypeError(f"{type(obj).__name__} is not an array on the {_core.current_device()} device")
    return DeviceNDArray._of(_array.from_host(np.asarray(obj)))


def is_cuda_array(obj: Any) -> bool:
    """Tell device arrays, of this or another library, from everything else."""
    return isinstance(obj, _array.Array) or hasattr(obj, "__cuda_array_interface__")


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A view of memory that a ``__cuda_array_interface__`` describes; `owner` is kept alive.

    With `sync`, and `config.CUDA_ARRAY_INTERFACE_SYNC`, the host waits for the stream that the description names.
    """
    from ._streams import stream_of

    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported: a kernel doesn't see the mask")
    handle = desc.get("stream")
    own = stream_of if handle and handle > 2 else None  # 1 and 2 are the default streams
    view = _exchange.from_cuda_interface(desc, owner, None, False, own)
    if sync and handle and _settings.CUDA_ARRAY_INTERFACE_SYNC:
        (view._memory.stream or stream_of(handle, view.device)).synchronize()
    return DeviceNDArray._of(view)
