"""Kernels that compute each element of arrays of the same shape: what `vectorize`, `map` and operators are made of.

An `Elementwise` is a function of scalars. For the operands of a call it makes a kernel, once for each pattern of
scalars, arrays and dimensions: one index when all memory is evenly spaced, else rows along the innermost axis.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _array, _core, _shapes  # _array imports the operators, and those import this
from ._core import ArrayBase as Array
from ._device import device_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._jit import Kernel

BLOCK = 256  # threads of a block that goes along rows
SHORT_ROW = 32  # of elements: shorter ones are not worth a block of their own
MOST_ROWS = 65535  # of a grid along its second axis

_PYTHON = {bool: "weak_bool", int: "weak_int", float: "weak_float", complex: "weak_complex"}
_WEAK = {"weak_bool": "bool", "weak_int": "int64", "weak_float": "float64", "weak_complex": "complex128"}
_AS_THEY_ARE = "MmSU"  # kinds of dtypes that are never converted: dates, their differences, strings


# ---- operands


def operand(value: Any, numba: bool = False) -> Any:
    """What a call was given as an `Array`, a NumPy array of one or more dimensions, or a scalar.

    Parameters
    ----------
    value : array_like
    numba : bool
        Python's numbers get a type, as in Numba's dialect.

    Raises
    ------
    TypeError
        A dtype that kernels don't have.
    """
    if type(value) is np.ndarray and value.ndim and value.dtype in _array.PLAIN:
        return value if value.flags.aligned else value.copy()
    if isinstance(value, Array):
        plain = type(value._dtype_name) is str or value.dtype.names is None  # type: ignore[attr-defined]
        return value if plain else _refuse_records(value.dtype)  # type: ignore[attr-defined]
    if type(value) in _PYTHON:
        return np.asarray(value)[()] if numba else value
    if not isinstance(value, (np.ndarray, np.generic)):
        found = _array._on_device(value)
        if found is not None:
            return found
    host = _shapes.host_array(value)
    if _array.dtype_of(host.dtype).names is not None:
        _refuse_records(host.dtype)
    if not host.ndim:
        return host.reshape(1) if host.dtype.kind in "SU" else host[()]  # kernels have no scalar strings as arguments
    return host if host.flags.aligned else host.copy()


def _refuse_records(dtype: np.dtype[Any]) -> NoReturn:
    names = dtype.names or ("x",)
    raise TypeError(f"these elements are records, and numbers are computed with: take a field, x[{names[0]!r}]")


def is_array(value: Any) -> bool:
    """Tell arrays from scalars."""
    return isinstance(value, (Array, np.ndarray))


def type_of(value: Any) -> _core.Type:
    """The type that a function gets for an element of an operand."""
    kind = _PYTHON.get(type(value))
    if not kind and value.dtype.kind in _AS_THEY_ARE:
        return _core.Type("record", dtype=value.dtype)
    return _core.Type(kind) if kind else _core.Type("scalar", dtype=_array._name_of(value.dtype))  # type: ignore[arg-type]


def dtype_named(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name; bfloat16 is ml_dtypes'."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def dtype_of_type(t: _core.Type) -> np.dtype[Any]:
    """The dtype of the array that results of a type go to: Python's numbers are int64, float64, ..."""
    return t.dtype if t.kind == "record" else dtype_named(_WEAK.get(t.kind) or t.dtype or "")  # type: ignore[return-value]


def is_time(t: _core.Type) -> bool:
    """Tell the types of dates and their differences."""
    return t.kind == "record" and getattr(t.dtype, "kind", "") in "Mm"


def scalar_types(result: _core.Type, name: str) -> tuple[_core.Type, ...]:
    """The results of a function, one or several.

    Raises
    ------
    TypeError
        It returns something else than numbers.
    """
    types = result.items if result.kind == "tuple" else (result,)
    if not types or any(t.kind not in _WEAK and t.kind != "scalar" and not is_time(t) for t in types):
        raise TypeError(
            f"{name}() returns {result!r}: what is computed for each element is a number, or a tuple of them"
        )
    return types


def device_of(operands: Sequence[Any]) -> str | None:
    """The device that the arrays among operands are on; None if there are no arrays of a device.

    Raises
    ------
    ValueError
        There are two.
    """
    names = {x.device for x in operands if isinstance(x, Array)}
    if len(names) > 1:
        one, other = sorted(names)[:2]
        raise ValueError(f"the arrays are on {one} and on {other}: x.to('{one}') copies")
    return names.pop() if names else None


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: str, device: str | None, stream: Any) -> Any:
    """A new array: of a device, or of NumPy if there is none."""
    if device is None:
        return np.empty(shape, dtype, order="F" if order == "F" else "C")
    return _array.Array._alloc(device, shape, _array._name_of(dtype), order, _array.DEVICE, 0, stream)


def order_of(operands: Sequence[Any], ndim: int) -> str:
    """The order in memory of a result: Fortran's if all operands with all dimensions have it."""
    whole = [x for x in operands if is_array(x) and x.ndim == ndim]
    return (
        "F" if ndim > 1 and whole and all(is_contiguous(x, "F") and not is_contiguous(x, "C") for x in whole) else "C"
    )


def is_contiguous(array: Any, order: str) -> bool:
    """Tell whether elements are without gaps in C or Fortran order."""
    if isinstance(array, Array):
        return array._layout == order or (array.ndim <= 1 and array._layout == "C")
    return bool(array.flags.c_contiguous if order == "C" else array.flags.f_contiguous)


def strided(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The memory of an array under other axes."""
    if isinstance(array, Array):
        return array._view(0, shape, strides, array._dtype_name, array._readonly)
    return np.lib.stride_tricks.as_strided(array, shape, strides, writeable=array.flags.writeable)


def extent(array: Any) -> tuple[int, int]:
    """The addresses first <= a < last of an array's elements."""
    if isinstance(array, Array):
        at = array._address or 0
        if array._layout != "A":
            return at, at + array.size * array.itemsize  # type: ignore[attr-defined]
        low = sum(min(0, (n - 1) * s) for n, s in zip(array.shape, array.strides, strict=True))
        high = sum(max(0, (n - 1) * s) for n, s in zip(array.shape, array.strides, strict=True))
        return (at + low, at + high + array.itemsize) if array.size else (at, at)
    return np.lib.array_utils.byte_bounds(array)  # type: ignore[no-any-return]


def same_elements(a: Any, b: Any) -> bool:
    """Tell whether two arrays are the same memory under the same axes."""
    return extent(a) == extent(b) and a.shape == b.shape and a.strides == b.strides and a.itemsize == b.itemsize


def overlap(a: Any, b: Any) -> bool:
    """Tell whether two arrays may have memory in common."""
    if not isinstance(a, Array):
        return np.may_share_memory(a, b)
    (first, last), (start, end) = extent(a), extent(b)
    return first < end and start < last


# ---- axes


def broadcast_strides(array: Any, ndim: int, shape: tuple[int, ...]) -> list[int]:
    """Strides of an array under a shape that it broadcasts to."""
    missing = ndim - array.ndim
    steps = zip(array.shape, array.strides, shape[missing:], strict=True)
    return [0] * missing + [0 if n == 1 and whole != 1 else s for n, s, whole in steps]


def merged(shape: tuple[int, ...], strides: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """The same elements under as few axes as possible, the first array's closest ones last.

    Parameters
    ----------
    shape : tuple of int
    strides : list of list of int
        Of each array, in bytes.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    axes.sort(key=lambda k: -abs(strides[0][k]))
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for k in axes:
        if sizes and all(s[-1] == of[k] * shape[k] for s, of in zip(steps, strides, strict=True)):
            sizes[-1] *= shape[k]
            for s, of in zip(steps, strides, strict=True):
                s[-1] = of[k]
        else:
            sizes.append(shape[k])
            for s, of in zip(steps, strides, strict=True):
                s.append(of[k])
    if not sizes:
        return [1], [[0] for _ in strides]
    return sizes, steps


# ---- kernels


def make_kernel(name: str, source: str, names: dict[str, Any], dialect: str, options: dict[str, Any]) -> Kernel:
    """A kernel of Python text; messages show its lines as those of any file.

    Parameters
    ----------
    name : str
        What messages call it.
    source : str
        A function called ``kernel``.
    names : dict
        Its globals, beside ``gpu`` and ``np``.
    """
    import gpu

    from ._jit import make_jit

    file = f"<gpu: {name} {len(_sources)}>"
    _sources.append(file)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"gpu": gpu, "np": np, "__name__": "__main__", **names}
    exec(compile(source, file, "exec"), scope)
    function = scope["kernel"]
    function.__name__ = function.__qualname__ = name
    return make_jit(dialect, function, options)  # type: ignore[no-any-return]


_sources: list[str] = []


class Elementwise:
    """A function of scalars, applied to each element.

    Parameters
    ----------
    function : function, Kernel or NumPy ufunc
        What kernels may call.
    name : str
    nout : int
        How many results it returns; more than one come as a tuple.
    casts : sequence of dtype or None
        To convert the arguments to, before the call.
    results : sequence of dtype or None
        To convert the results to, before they are stored.
    dialect : str
    options : dict
        Of `gpu.jit`.
    """

    def __init__(
        self,
        function: Any,
        name: str,
        nout: int,
        casts: Sequence[np.dtype[Any] | None],
        results: Sequence[np.dtype[Any] | None],
        dialect: str = "numpy",
        options: dict[str, Any] | None = None,
    ) -> None:
        self.function, self.name, self.nout = function, name, nout
        self.casts = [None if d is not None and d.kind in _AS_THEY_ARE else d for d in casts]
        self.results = [None if d is not None and d.kind in _AS_THEY_ARE else d for d in results]
        self.dialect, self.options = dialect, options or {}
        self.kernels: dict[Any, Kernel] = {}

    def __call__(self, outs: Sequence[Any], ins: Sequence[Any], where: Any = None, stream: Any = None) -> None:
        """Compute all elements of `outs`, arrays of one shape that `ins` broadcast to."""
        shape = outs[0].shape
        arrays = [*outs, *(x for x in ins if is_array(x))]
        pattern = ["s" if not is_array(x) else "a" for x in ins]
        if where is not None:
            arrays.append(where)
        if all(a.shape == shape and is_contiguous(a, "C") for a in arrays):
            views = arrays if len(shape) == 1 else [a.reshape(-1) for a in arrays]
            sizes = [views[0].size]
        else:
            ndim = len(shape)
            sizes, steps = merged(shape, [broadcast_strides(a, ndim, shape) for a in arrays])
            views = [strided(a, tuple(sizes), tuple(s)) for a, s in zip(arrays, steps, strict=True)]
        if not outs[0].size:
            return
        flat = len(sizes) > 1 and sizes[-1] < SHORT_ROW
        kernel = self.kernel(pattern, where is not None, len(sizes), flat)
        rest = iter(views[len(outs) :])
        args = [*views[: len(outs)], *(next(rest) if is_array(x) else x for x in ins), *rest]
        device = device_of(arrays)
        if device is not None and device != device_name():
            import gpu

            with gpu.device(device):
                _start(kernel, sizes, flat, stream, args)
        else:
            _start(kernel, sizes, flat, stream, args)

    def kernel(self, pattern: list[str], where: bool, ndim: int, flat: bool) -> Kernel:
        """The kernel for a pattern of operands, made when it is new."""
        key = (*pattern, where, ndim, flat)
        kernel = self.kernels.get(key)
        if kernel is None:
            source = self.source(pattern, where, ndim, flat)
            kernel = self.kernels[key] = make_kernel(self.name, source, self.names(), self.dialect, self.options)
        return kernel

    def names(self) -> dict[str, Any]:
        """The globals of the kernels: the function, and the dtypes to convert to."""
        from ._dtypes import dtypes

        names = {"function": self.function}
        for prefix, given in (("cast", self.casts), ("result", self.results)):
            for k, d in enumerate(given):
                if d is not None:
                    names[f"{prefix}{k}"] = dtypes["bool_" if d.name == "bool" else d.name]
        return names

    def source(self, pattern: list[str], where: bool, ndim: int, flat: bool) -> str:
        """The kernel's text."""
        outs = [f"o{k}" for k in range(self.nout)]
        ins = [f"x{k}" for k in range(len(pattern))]
        params = [*outs, *ins, *(["where"] if where else [])]
        lines = [f"def kernel({', '.join(params)}):"]
        if ndim == 1:
            lines += ["    i0 = gpu.grid(1)", "    if i0 < o0.size:"]
        elif flat:
            lines += ["    at = gpu.grid(1)", "    if at < o0.size:"]
        else:
            rows = " * ".join(f"o0.shape[{k}]" for k in range(ndim - 1))
            lines += [
                f"    i{ndim - 1} = gpu.grid(1)",
                "    at = gpu.blockIdx.y + gpu.gridDim.y * gpu.blockIdx.z",
                f"    if i{ndim - 1} < o0.shape[{ndim - 1}] and at < {rows}:",
            ]
        if ndim > 1:
            split = list(range(ndim - 1, 0, -1)) if flat else list(range(ndim - 2, 0, -1))
            for k in split:
                lines += [f"        i{k} = at % o0.shape[{k}]", f"        at = at // o0.shape[{k}]"]
            lines.append("        i0 = at")
        index = ", ".join(f"i{k}" for k in range(ndim))
        indent = "        "
        if where:
            lines.append(f"        if where[{index}]:")
            indent += "    "
        values = [f"{x}[{index}]" if p == "a" else x for x, p in zip(ins, pattern, strict=True)]
        values = [v if d is None else f"cast{k}({v})" for k, (v, d) in enumerate(zip(values, self.casts, strict=True))]
        results = [f"result{k}(" if d is not None else "(" for k, d in enumerate(self.results)]
        name = f"np.{self.function.__name__}" if isinstance(self.function, np.ufunc) else "function"
        call = f"{name}({', '.join(values)})"
        if self.nout == 1:
            lines.append(f"{indent}o0[{index}] = {results[0]}{call})")
        else:
            lines.append(f"{indent}r = {call}")
            lines += [f"{indent}{o}[{index}] = {results[k]}r[{k}])" for k, o in enumerate(outs)]
        return "\n".join(lines) + "\n"


def _start(kernel: Kernel, sizes: list[int], flat: bool, stream: Any, args: Sequence[Any]) -> None:
    if len(sizes) == 1 or flat:
        n = 1
        for size in sizes:
            n *= size
        kernel.forall(n, 0, stream)(*args)
        return
    rows = 1
    for size in sizes[:-1]:
        rows *= size
    block = BLOCK if sizes[-1] >= BLOCK else -(-sizes[-1] // 32) * 32
    across = min(rows, MOST_ROWS)
    grid = (-(-sizes[-1] // block), across, -(-rows // across))
    kernel[grid, block, stream](*args)


def conforms(shapes: Sequence[tuple[int, ...]], name: str) -> tuple[int, ...]:
    """The shape that all broadcast to.

    Raises
    ------
    ValueError
        There is none.
    """
    first = shapes[0] if shapes else ()
    if all(shape == first for shape in shapes):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"{name}: operands could not be broadcast together with shapes {' '.join(map(str, shapes))}"
        ) from None


# ---- a call


def quick(run: Elementwise, dtypes: Sequence[np.dtype[Any]], ins: Sequence[Any], given: Sequence[Any] = ()) -> Any:
    """The common case: scalars, or C-contiguous arrays of one shape, of NumPy or of the current device; else None.

    It does what `compute` would, in a quarter of the time. `given` are the outputs, if there are any: arrays of NumPy
    that lie apart from the operands, or are one of them.
    """
    first: Any = None
    pattern = []
    for x in ins:
        if type(x) is np.ndarray:
            contiguous = x.flags.c_contiguous
        elif isinstance(x, Array):
            contiguous = x._layout == "C"
        else:
            pattern.append("s")
            continue
        pattern.append("a")
        if first is None:
            first = x
        if not contiguous or x.shape != first.shape or type(x) is not type(first):
            return None
    if first is None and not given:
        ones = [np.empty(1, d) for d in dtypes]
        run.kernel(pattern, False, 1, False).forall(1)(*ones, *ins)
        return ones[0][0] if len(ones) == 1 else tuple([o[0] for o in ones])
    if first is None or not first.size or not first.ndim:
        return None
    shape, n = first.shape, first.size
    outs: list[Any]
    if given:
        arrays = [x for p, x in zip(pattern, ins, strict=True) if p == "a"]
        if len(given) != len(dtypes) or not all(_takes_all(o, d, arrays) for o, d in zip(given, dtypes, strict=True)):
            return None
        outs = list(given)
    elif isinstance(first, Array):
        device = first.device
        if device != device_name() or any(p == "a" and x.device != device for p, x in zip(pattern, ins, strict=True)):
            return None
        outs = [empty(shape, d, "C", device, None) for d in dtypes]
    else:
        outs = [np.empty(shape, d) for d in dtypes]
    args = [*outs, *ins]
    if first.ndim > 1:
        args = [_flat(x, n) if is_array(x) else x for x in args]
    run.kernel(pattern, False, 1, False).forall(n)(*args)
    return outs[0] if len(outs) == 1 else tuple(outs)


def _takes_all(o: Any, dtype: np.dtype[Any], ins: Sequence[Any]) -> bool:
    """Whether results for arrays of NumPy, alike and C-contiguous, may be written to `o` as they are made."""
    if type(o) is not np.ndarray or type(ins[0]) is not np.ndarray or o.dtype != dtype or o.shape != ins[0].shape:
        return False
    flags = o.flags
    if not (flags.c_contiguous and flags.writeable):
        return False
    return all(x is o or not np.may_share_memory(x, o) for x in ins)


def _flat(x: Any, n: int) -> Any:
    return x._view(0, (n,), (x.itemsize,), x._dtype_name, x._readonly) if isinstance(x, Array) else x.reshape(n)


def compute(
    run: Elementwise,
    dtypes: Sequence[np.dtype[Any]],
    ins: Sequence[Any],
    outs: list[Any],
    where: Any,
    casting: str,
    order: str,
    stream: Any,
    name: str,
) -> Any:
    """Check shapes and types, make outputs, run: what every elementwise call does.

    Parameters
    ----------
    run : Elementwise
    dtypes : sequence of dtype
        Of the results.
    ins : sequence
        Operands.
    outs : list of array or None
        None: to be made.
    where : array_like
    casting, order : str
    stream : Stream or None
    name : str
        For messages.
    """
    if casting != "same_kind":
        check_casting(run, ins, casting, name)
    mask = None if where is True else mask_of(where)
    shapes = [x.shape for x in ins if is_array(x)]
    if mask is not None:
        shapes.append(mask.shape)
    shape = conforms(shapes, name)
    given = [o for o in outs if o is not None]
    if given:
        shape = _check_outputs(given, shape, shapes, name)
    for o, d in zip(outs, dtypes, strict=True):
        if o is not None and not np.can_cast(d, o.dtype, casting):  # type: ignore[arg-type]
            raise TypeError(f"{name}: cannot cast the result from {d!r} to {o.dtype!r} with casting rule {casting!r}")
    device = device_of([*ins, *given, mask])
    whole = len(shape)
    order = order_of(ins, whole) if order in ("K", "A") else _shapes.checked_order(order)
    results = [
        o if o is not None else empty(shape, d, order, device, stream) for o, d in zip(outs, dtypes, strict=True)
    ]
    targets = [_apart(o, ins, mask) for o in results] if given else results
    for target, o in zip(targets, results, strict=True):
        if target is not o and mask is not None:
            target[...] = o
    run(targets, ins, mask, stream)
    for target, o in zip(targets, results, strict=True):
        if target is not o:
            o[...] = target
    answers = [
        o[()] if isinstance(o, np.ndarray) and not o.ndim and g is None else o
        for o, g in zip(results, outs, strict=True)
    ]
    return answers[0] if len(answers) == 1 else tuple(answers)


def mask_of(where: Any) -> Any:
    """An array of bools, or one bool as an array without axes."""
    mask = operand(where)
    if mask.dtype != np.dtype(bool) if hasattr(mask, "dtype") else not isinstance(mask, bool):
        raise TypeError("where takes bools")
    return mask if is_array(mask) else np.full((), mask)


def check_casting(run: Elementwise, ins: Sequence[Any], casting: str, name: str) -> None:
    """Whether the operands convert to what is computed in, by a rule of NumPy's; to bools they do by any."""
    np.can_cast(bool, bool, casting)  # type: ignore[arg-type]
    for x, d in zip(ins, run.casts, strict=True):
        if d is None or d.kind == "b" or not hasattr(x, "dtype"):
            continue
        if not np.can_cast(x.dtype, d, casting):  # type: ignore[arg-type]
            raise TypeError(f"{name}: cannot cast an operand from {x.dtype!r} to {d!r} with casting rule {casting!r}")


def _check_outputs(
    given: list[Any], shape: tuple[int, ...], shapes: list[tuple[int, ...]], name: str
) -> tuple[int, ...]:
    for o in given:
        if not isinstance(o, (Array, np.ndarray)):
            raise TypeError(
                f"{name}: return arrays must be of ArrayType: out takes arrays, and this is {type(o).__name__}"
            )
        if (isinstance(o, Array) and o._readonly) or (isinstance(o, np.ndarray) and not o.flags.writeable):
            raise ValueError(f"{name}: output array is read-only")
        if conforms([shape, o.shape], name) != o.shape or o.shape != given[0].shape:
            what = f"{o.shape} doesn't match the broadcast shape {shape}"
            raise ValueError(f"{name}: non-broadcastable output operand with shape {what}")
    return given[0].shape  # type: ignore[no-any-return]


def _apart(o: Any, ins: Sequence[Any], mask: Any) -> Any:
    """The output, or a copy where an input that isn't the same elements lies in its memory."""
    for x in [*ins, mask]:
        clash = is_array(x) and isinstance(x, Array) == isinstance(o, Array) and overlap(x, o)
        if clash and not same_elements(x, o):
            return _array.empty_like(o) if isinstance(o, Array) else np.empty_like(o)
    return o
