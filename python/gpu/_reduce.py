"""`reduce`, `scan`, `transform_reduce` and `map`: with any associative function, on every device."""

from __future__ import annotations

import builtins
import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _elementwise, _fold
from ._array import Array, array
from ._device import device_name
from ._elementwise import (
    Elementwise,
    device_of,
    dtype_of_type,
    empty,
    is_array,
    make_kernel,
    operand,
    type_of,
)
from ._jit import Kernel, check_options, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SERIAL = ("cpu", "python")  # devices that run the lanes of a warp in order
FEW = 32  # elements of a row that aren't worth a warp
FOLD_BLOCK = {True: 256, False: 16}  # threads of a block, by warps and in order


# ---- operations by name


MOST_KEPT = 256  # of operations and functions that were compiled
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def identity_of(function: Any) -> Any:
    """What is equal for functions that are the same when compiled: a lambda that is made again isn't compiled again."""
    if type(function).__name__ != "function":
        return function if isinstance(function, Kernel) else id(function)
    values = list(function.__defaults__ or ())
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # an empty cell
        return function
    if not all(type(v) in _PLAIN for v in values) or function.__kwdefaults__:
        return function
    return function.__code__, id(function.__globals__), tuple([(type(v), repr(v)) for v in values])


def keep(cache: dict[Any, Any], key: Any, value: Any) -> Any:
    """Put a value into a cache, which is emptied when it's full."""
    if len(cache) >= MOST_KEPT:
        cache.clear()
    cache[key] = value
    return value


_device_functions: dict[Any, Kernel] = {}


def is_library(function: Any) -> bool:
    """Tell functions of NumPy, math and operator, which kernels know by name."""
    return isinstance(function, np.ufunc) or type(function).__name__ == "builtin_function_or_method"


def device_function(function: Any, dialect: str = "numpy", nargs: int = 1) -> Kernel:
    """A function as a device function, whose result types can be asked; `nargs` is for one of a library."""
    if is_library(function):
        names = ", ".join(f"a{k}" for k in range(nargs))
        scope = {"function": function, "__name__": "__main__"}
        exec(f"def call({names}):\n    return function({names})\n", scope)
        call: Any = scope["call"]
        call.__name__ = call.__qualname__ = function.__name__
        return _device_function(call, dialect)
    if isinstance(function, Kernel) and function.options["device"]:
        return function
    key = (identity_of(function), dialect)
    known = _device_functions.get(key)
    return keep(_device_functions, key, _device_function(function, dialect)) if known is None else known


def _device_function(function: Any, dialect: str) -> Kernel:
    return Kernel(function_of(function, "map"), dialect, {**check_options({"device": True}), "signatures": ()})


def _add(a: Any, b: Any) -> Any:
    return a + b


def _mul(a: Any, b: Any) -> Any:
    return a * b


def _and(a: Any, b: Any) -> Any:
    return a & b


def _or(a: Any, b: Any) -> Any:
    return a | b


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def _min(a: Any, b: Any) -> Any:
    return np.minimum(a, b)


def _max(a: Any, b: Any) -> Any:
    return np.maximum(a, b)


def _all(a: Any, b: Any) -> Any:
    return np.logical_and(a, b)


def _any(a: Any, b: Any) -> Any:
    return np.logical_or(a, b)


class Op(NamedTuple):
    """A function that combines two elements.

    Attributes
    ----------
    name : str
    function : function or Kernel
    commutes : bool
    identity : number or None
    wide : bool
        Small integers are combined as int64 or uint64, halves as float32, as NumPy sums.
    logical : bool
        The result is a bool.
    dialect : str
        Whose rules of types the function has.
    """

    name: str
    function: Any
    commutes: bool
    identity: Any = None
    wide: bool = False
    logical: bool = False
    dialect: str = "numpy"

    def start(self, dtype: np.dtype[Any]) -> Any:
        """The identity as a scalar; None if there is none."""
        return None if self.identity is None else np.asarray(self.identity).astype(dtype)[()]


NAMED = {
    "add": Op("add", device_function(_add), True, 0, wide=True),
    "mul": Op("mul", device_function(_mul), True, 1, wide=True),
    "min": Op("min", device_function(_min), True),
    "max": Op("max", device_function(_max), True),
    "and": Op("and", device_function(_and), True, -1),
    "or": Op("or", device_function(_or), True, 0),
    "xor": Op("xor", device_function(_xor), True, 0),
    "all": Op("all", device_function(_all), True, True, logical=True),
    "any": Op("any", device_function(_any), True, False, logical=True),
}
_OTHER_NAMES = {
    "sum": "add",
    "+": "add",
    "prod": "mul",
    "multiply": "mul",
    "*": "mul",
    "minimum": "min",
    "maximum": "max",
}
_OBJECTS = {
    operator.add: "add", operator.mul: "mul", operator.and_: "and", operator.or_: "or", operator.xor: "xor",
    builtins.min: "min", builtins.max: "max", builtins.sum: "add", builtins.all: "all", builtins.any: "any",
    np.add: "add", np.multiply: "mul", np.minimum: "min", np.maximum: "max", np.bitwise_and: "and",
    np.bitwise_or: "or", np.bitwise_xor: "xor", np.logical_and: "all", np.logical_or: "any",
    np.sum: "add", np.prod: "mul", np.min: "min", np.max: "max", np.all: "all", np.any: "any",
}  # fmt: skip
_ops: dict[Any, Op] = {}
_COMMUTING = ("fmin", "fmax", "gcd", "lcm", "hypot", "logaddexp", "logaddexp2", "logical_xor")
_COMMUTE = ("+", "*", "&", "|", "^")


def op_of(op: Any, dialect: str = "numpy") -> Op:
    """The operation that a call was given, by name or as a function.

    Raises
    ------
    TypeError
        Neither; or a function of another number of arguments.
    """
    if isinstance(op, Op):
        return op
    if isinstance(op, str):
        found = NAMED.get(_OTHER_NAMES.get(op, op))
        if found is None:
            raise TypeError(
                f"no operation is called {op!r}: there are {', '.join(NAMED)}, and any function of two arguments"
            )
        return found
    try:
        if op in _OBJECTS:
            return NAMED[_OBJECTS[op]]
    except TypeError:  # not hashable: no function either
        pass
    key = (identity_of(op), dialect)
    known = _ops.get(key)
    return keep(_ops, key, _op_of_function(op, dialect)) if known is None else known


def _op_of_function(op: Any, dialect: str) -> Op:
    if is_library(op):
        return Op(op.__name__, device_function(op, dialect, 2), op.__name__ in _COMMUTING, dialect=dialect)
    if not callable(op):
        raise TypeError(
            f"reduce(op, array): the operation comes first, one of {', '.join(NAMED)} or a function of two elements, "
            f"not {type(op).__name__}"
        )
    function = function_of(op, "reduce")
    code = function.__code__
    if code.co_argcount - len(function.__defaults__ or ()) > 2 or (code.co_argcount < 2 and not code.co_flags & 0x4):
        raise TypeError(f"{function.__name__}() has {code.co_argcount} parameters: an operation combines two elements")
    kernel = device_function(op, dialect)
    return Op(function.__name__, kernel, _commutes(function), getattr(op, "identity", None), dialect=kernel.dialect)


def _commutes(function: Callable[..., Any]) -> bool:
    """Whether a function is no more than ``a + b``, ``a * b``, ``a & b``, ``a | b`` or ``a ^ b``."""
    import dis

    names = function.__code__.co_varnames[:2]
    steps = [
        (i.opname, i.argrepr) for i in dis.get_instructions(function) if i.opname not in ("RESUME", "CACHE", "NOP")
    ]
    loads = []
    while steps and steps[0][0].startswith("LOAD_FAST"):
        loads += steps.pop(0)[1].replace("(", "").replace(")", "").split(", ")
    old = {"BINARY_ADD": "+", "BINARY_MULTIPLY": "*", "BINARY_AND": "&", "BINARY_OR": "|", "BINARY_XOR": "^"}
    return (
        len(steps) == 2
        and sorted(loads) == sorted(names)
        and len(names) == 2
        and old.get(steps[0][0], steps[0][1]) in _COMMUTE
        and steps[1][0] == "RETURN_VALUE"
    )


# ---- what is combined


class _Index:
    """An operand that is the place of the element along the axis, an int64."""


INDEX = _Index()


class Source:
    """Elements to combine: arrays and scalars, and perhaps a function of one of each.

    Attributes
    ----------
    operands : list
        Of one shape, or scalars.
    function : Kernel or None
    dtype : dtype
        Of an element.
    """

    def __init__(self, operands: Sequence[Any], function: Any, name: str) -> None:
        self.operands, self.function = list(operands), function
        shapes = [x.shape for x in operands if is_array(x)]
        self.shape = _elementwise.conforms(shapes, name)
        if function is None:
            self.dtype = operands[0].dtype if hasattr(operands[0], "dtype") else np.asarray(operands[0]).dtype
        else:
            index = _core.Type("scalar", dtype="int64")
            found = _core.result_type(function, tuple(index if x is INDEX else type_of(x) for x in operands))
            types = _elementwise.scalar_types(found, name)
            if len(types) > 1:
                raise TypeError(f"{name}: {function.__name__}() returns {len(types)} results, and one is combined")
            self.dtype = dtype_of_type(types[0])

    def item(self, pattern: str) -> Callable[[str, str], str]:
        """How kernels write an element."""
        names = [f"x{k}" for k in range(len(pattern))]

        def text(row: str, at: str) -> str:
            texts = {"a": "{}[{}, {}]", "s": "{}", "i": "np.int64({2})"}
            values = [texts[p].format(x, row, at) for x, p in zip(names, pattern, strict=True)]
            return f"acc(function({', '.join(values)}))" if self.function else f"acc({values[0]})"

        return text


def _rows(source: Source, axes: tuple[int, ...], device: str, commutes: bool) -> tuple[list[Any], int, int]:
    """The operands as arrays of two axes: results, and what is combined for each. Copied if it takes that."""
    shape = source.shape
    kept = [k for k in range(len(shape)) if k not in axes]
    m = int(np.prod([shape[k] for k in kept], dtype=np.int64))
    n = int(np.prod([shape[k] for k in axes], dtype=np.int64))
    on_host = device in SERIAL and device_of(source.operands) is None
    operands = [x if on_host or not is_array(x) else array(x, copy=None, device=device) for x in source.operands]
    arrays = [x for x in operands if is_array(x)]
    if all(a.shape == shape and _elementwise.is_contiguous(a, "C") for a in arrays) and list(axes) == list(
        range(len(kept), len(shape))
    ):
        return [a.reshape(m, n) if is_array(a) else a for a in operands], m, n
    steps = [_elementwise.broadcast_strides(a, len(shape), shape) for a in arrays]
    views = []
    outer = _one_axis([shape[k] for k in kept], [[s[k] for k in kept] for s in steps], False)
    inner = _one_axis([shape[k] for k in axes], [[s[k] for k in axes] for s in steps], commutes)
    for a, s in zip(arrays, steps, strict=True):
        if outer is not None and inner is not None:
            pair = (outer[len(views)], inner[len(views)])
            views.append(_elementwise.strided(a, (m, n), pair))
            continue
        order = (*kept, *axes)
        moved = _elementwise.strided(a, tuple(shape[k] for k in order), tuple(s[k] for k in order))
        views.append((moved.copy() if isinstance(moved, Array) else np.ascontiguousarray(moved)).reshape(m, n))
    rest = iter(views)
    return [next(rest) if is_array(x) else x for x in operands], m, n


def _one_axis(sizes: list[int], steps: list[list[int]], any_order: bool) -> list[int] | None:
    """The strides of several axes as one; None if they can't be one."""
    if any_order:
        merged, found = _elementwise.merged(tuple(sizes), steps)
        return [s[0] for s in found] if len(merged) == 1 else None
    axes = [k for k, n in enumerate(sizes) if n != 1]
    for s in steps:
        if any(s[k] != s[after] * sizes[after] for k, after in pairwise(axes)):
            return None
    return [s[axes[-1]] if axes else 0 for s in steps]


# ---- types


def _accumulator(op: Op, source: Source, dtype: Any, init: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The dtypes that elements are combined in and that the result has."""
    if dtype is not None:
        result = np.dtype(dtype)
    elif op.logical:
        result = np.dtype(bool)
    elif op.wide and source.dtype.kind in "biu":
        result = np.result_type(source.dtype, np.uint64 if source.dtype.kind == "u" else np.int64)
    elif op.name in NAMED:
        result = source.dtype
    else:
        result = _closed(op, source.dtype, init)
    half = op.wide and result.itemsize == 2 and result.kind in "fV"
    return (np.dtype(np.float32) if half else result), result


def _closed(op: Op, dtype: np.dtype[Any], init: Any) -> np.dtype[Any]:
    """The type that a user's function stays in: that of its result, if it gives that type again."""
    start = (
        dtype
        if init is None
        else np.result_type(dtype, init if type(init) in (int, float, complex) else np.asarray(init))
    )
    found = start
    for _ in range(3):
        t = _core.Type("scalar", dtype=found.name)
        types = _elementwise.scalar_types(_core.result_type(op.function, (t, t)), op.name)
        if len(types) != 1:
            raise TypeError(f"{op.name}() returns {len(types)} results: an operation gives one element of two")
        now = dtype_of_type(types[0])
        if now == found:
            return found
        if op.dialect == "numba" and np.can_cast(now, found, "same_kind"):
            return found
        found = now
    raise TypeError(f"{op.name}() makes {found} of {start}, and another type of that: an operation keeps the type")


# ---- reductions


class Fold:
    """The kernels of a reduction: they depend on operation, function and types."""

    def __init__(self, op: Op, source: Source, acc: np.dtype[Any]) -> None:
        self.op, self.source, self.acc = op, source, acc
        self.kernels: dict[Any, Kernel] = {}

    def kernel(self, key: tuple[Any, ...], text: Callable[[], str]) -> Kernel:
        """The kernel of a key; `text` writes it when it is new."""
        kernel = self.kernels.get(key)
        if kernel is None:
            from ._dtypes import dtypes

            if self.acc.kind in "SUMm":
                numbers = "x.view('int64') has the numbers of units"
                instead = numbers if self.acc.kind in "Mm" else "copy it first, x.copy_to_host()"
                raise TypeError(f"{self.op.name} of {self.acc} isn't there: {instead}")
            acc = dtypes["bool_" if self.acc.name == "bool" else self.acc.name]
            names = {"op": self.op.function, "function": self.source.function, "acc": acc}
            kernel = self.kernels[key] = make_kernel(self.op.name, text(), names, self.op.dialect, {})
        return kernel

    def chunks(self, out: Any, n: int, parts: int, operands: Sequence[Any], serial: bool, stream: Any) -> None:
        """Combine each chunk of rows of n elements; `out` is (rows, parts)."""
        m = out.shape[0]
        first = next(x for x in operands if is_array(x))
        across = m >= _fold.LANES and abs(first.strides[0]) < abs(first.strides[1])
        mode = "columns" if across else "rows" if self.op.commutes else "ordered"
        by_warp = not serial and (across or n >= FEW)
        pattern = "".join("a" if is_array(x) else "i" if x is INDEX else "s" for x in operands)
        params = ", ".join(f"x{k}" for k, x in enumerate(operands) if x is not INDEX)

        def text() -> str:
            return _fold.fold_source(mode, by_warp, params, self.source.item(pattern))

        kernel = self.kernel((mode, by_warp, pattern), text)
        if across:
            threads = m * parts if by_warp else -(-m // _fold.LANES) * parts
        else:
            threads = m * parts * (_fold.LANES if by_warp else 1)
        _launch(kernel, threads, by_warp, stream, (out, n, parts, *(x for x in operands if x is not INDEX)))

    def chunk(self) -> int:
        """How many elements a chunk has."""
        return _fold.CHUNK if self.op.commutes else _fold.ORDERED_CHUNK


def _launch(kernel: Kernel, threads: int, by_warp: bool, stream: Any, args: Sequence[Any]) -> None:
    block = FOLD_BLOCK[by_warp]
    kernel[-(-threads // block), block, stream](*args)


_folds: dict[Any, Fold] = {}


def _fold_of(op: Op, source: Source, acc: np.dtype[Any]) -> Fold:
    key = (op, source.function, acc)
    found = _folds.get(key)
    if found is None:
        found = keep(_folds, key, Fold(op, source, acc))
    return found


def run_reduce(
    op: Op,
    source: Source,
    axes: tuple[int, ...],
    acc: np.dtype[Any],
    target: Any,
    device: str,
    stream: Any,
) -> None:
    """Combine along axes into `target`, an array of one axis with a result for each of the others.

    There must be elements. `device` is the current one.
    """
    operands, m, n = _rows(source, axes, device, op.commutes)
    serial = device in SERIAL
    fold = _fold_of(op, source, acc)
    plain = _fold_of(op, Source([np.empty(0, acc)], None, op.name), acc)
    while True:
        first = next(x for x in operands if is_array(x))
        across = m >= _fold.LANES and abs(first.strides[0]) < abs(first.strides[1])
        parts = -(-n // (_fold.CHUNK if across else fold.chunk()))
        out = (
            target.reshape(m, 1)
            if parts == 1
            else empty((m, parts), acc, "C", target.device if isinstance(target, Array) else None, stream)
        )
        fold.chunks(out, n, parts, operands, serial, stream)
        if parts == 1:
            return
        fold, operands, n = plain, [out], parts


def reduce(
    op: Any,
    x: Any,
    axis: Any = None,
    *,
    init: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    stream: Any = None,
) -> Any:
    """Combine the elements of an array.

    Parameters
    ----------
    op : str or function
        ``"add"``, ``"mul"``, ``"min"``, ``"max"``, ``"and"``, ``"or"``, ``"xor"``, ``"all"``, ``"any"``, or a
        function of two elements, which must be associative. Elements keep their order unless it is known to commute.
    x : array_like
    axis : int, tuple of ints or None
        Along which; None: all.
    init : number, optional
        Stands before the first element.
    dtype : dtype, optional
        To combine in; else the elements' (``"add"`` and ``"mul"`` take int64 or uint64 for integers, as NumPy does).
    out : array, optional
        Where the result goes.
    keepdims : bool
        Axes stay, with length 1.
    stream : Stream, optional

    Returns
    -------
    scalar or array
        A NumPy scalar if all axes are combined, else an array of `x`'s device. The same to the bit on every device.

    Raises
    ------
    ValueError
        No elements, and no `init`.
    TypeError
        Not an operation; its result has another type.
    """
    return reduce_source(op, [x], None, axis, init, dtype, out, keepdims, stream)


def transform_reduce(
    function: Any,
    op: Any,
    *arrays: Any,
    axis: Any = None,
    init: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    stream: Any = None,
) -> Any:
    """Combine what a function gives for each element: ``reduce(op, map(function, ...))`` without an array between.

    Parameters
    ----------
    function : function
        Of as many scalars as there are arrays.
    op, axis, init, dtype, out, keepdims, stream
        As for `reduce`.
    *arrays : array_like
        Arrays and scalars, which broadcast.

    Examples
    --------
    >>> gpu.transform_reduce(lambda a, b: a * b, "add", x, y)  # the dot product
    """
    return reduce_source(
        op, arrays, device_function(function, nargs=len(arrays)), axis, init, dtype, out, keepdims, stream
    )


def reduce_source(
    op: Any,
    arrays: Sequence[Any],
    function: Any,
    axis: Any,
    init: Any,
    dtype: Any,
    out: Any,
    keepdims: bool,
    stream: Any,
) -> Any:
    """What `reduce` and `transform_reduce` do."""
    op = op_of(op)
    source = Source([a if a is INDEX else operand(a) for a in arrays], function, op.name)
    if not any(is_array(x) for x in source.operands):
        source.operands[0] = np.asarray(source.operands[0]).reshape(1)
        source.shape, axis = (1,), None
    ndim = len(source.shape)
    axes = _axes(axis, ndim)
    acc, result = _accumulator(op, source, dtype, init)
    shape = tuple(1 if k in axes else n for k, n in enumerate(source.shape))
    final = shape if keepdims else tuple(n for k, n in enumerate(shape) if k not in axes)
    _check_out(out, final, result, op.name)
    own = device_of([*source.operands, out])
    device = own or device_name()
    host = own is None and device in SERIAL
    if own == "cpu" and out is None and not final:  # the memory is the host's, and so is the result
        source.operands = [x._host_view() if isinstance(x, Array) else x for x in source.operands]
        host = True
    target = empty(final, result, "C", None if host else device, stream)
    import gpu

    with gpu.device(device):
        if target.size:
            _fill(op, source, axes, acc, target, init, device, stream)
    return _answer(target, out, own is None, stream)


def _check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    if out is not None and (tuple(out.shape) != shape or not np.can_cast(dtype, out.dtype, "same_kind")):
        given = f"{tuple(out.shape)} of {out.dtype}"
        raise ValueError(f"{name}: out must have the shape {shape} and take {dtype}, and it has {given}")


def _fill(op: Op, source: Source, axes: Any, acc: Any, target: Any, init: Any, device: str, stream: Any) -> None:
    empty_axes = 0 in source.shape
    if empty_axes and init is None:
        init = op.start(acc)
        if init is None:
            raise ValueError(f"zero-size array to reduction operation {op.name} which has no identity: give init")
    if empty_axes:
        target[...] = init
        return
    run_reduce(op, source, axes, acc, target.reshape(-1), device, stream)
    if init is not None:
        combine = Elementwise(op.function, op.name, 1, [acc, acc], [target.dtype], op.dialect)
        combine([target], [init if is_array(init) else np.asarray(init, acc)[()], target], None, stream)


def _answer(target: Any, out: Any, to_host: bool, stream: Any) -> Any:
    """The result where it is wanted: in `out`; a scalar; an array of the host or a device."""
    if out is not None:
        out[...] = (
            target if isinstance(out, Array) or isinstance(target, np.ndarray) else target.copy_to_host(stream=stream)
        )
        return out
    if not target.ndim:
        return target[()] if isinstance(target, np.ndarray) else target.copy_to_host(stream=stream)[()]
    return target.copy_to_host(stream=stream) if to_host and isinstance(target, Array) else target


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = [operator.index(k) for k in given]
    if not ndim and len(axes) == 1 and axes[0] in (0, -1):  # NumPy allows it
        return ()
    for k in axes:
        if not -ndim <= k < ndim:
            raise np.exceptions.AxisError(k, ndim)
    axes = sorted(k % ndim for k in axes)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return tuple(axes)


def _place_of(x: Any, best: Any, i: Any, n: Any) -> Any:
    return i if x == best or x != x else n


def first_index(op: str, x: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    """``numpy.argmin`` or ``argmax`` of an array of a device.

    Raises
    ------
    ValueError
        No elements.
    numpy.exceptions.AxisError
    """
    axis = None if axis is None or not _axes(axis, x.ndim) else axis
    whole = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    if not whole.shape[along]:
        raise ValueError(f"attempt to get arg{op} of an empty sequence")
    best = reduce(op, whole, along, keepdims=True)
    operands = [whole, best, INDEX, np.int64(whole.shape[along])]
    found = reduce_source("min", operands, device_function(_place_of), along, None, None, None, False, None)
    if keepdims:
        shape = [1] * x.ndim if axis is None else [1 if k == along % x.ndim else n for k, n in enumerate(x.shape)]
        found = array(found, device=x.device).reshape(shape)
    if out is None:
        return found
    out[...] = found
    return out


# ---- scans


def scan(
    op: Any,
    x: Any,
    *,
    exclusive: bool = False,
    axis: int | None = None,
    init: Any = None,
    dtype: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """All partial results along an axis: element i of the result combines the elements 0 to i.

    Parameters
    ----------
    op : str or function
        As for `reduce`: associative; order is kept.
    x : array_like
    exclusive : bool
        Element i isn't part of result i; the first is `init`, or what the operation starts from.
    axis : int, optional
        Along which; None: over all elements in C order, as ``numpy.cumsum``.
    init : number, optional
        Stands before the first element.
    dtype : dtype, optional
    out : array, optional
    stream : Stream, optional

    Returns
    -------
    array
        Of the shape of `x` (of one axis, if `axis` is None), on its device.

    Raises
    ------
    ValueError
        An exclusive scan by a function without `init`.
    """
    op = op_of(op)
    given = operand(x)
    given = given if is_array(given) else np.asarray(given)
    if axis is None or not given.ndim:
        given, axis = given.reshape(-1), 0 if axis is None else axis
    (axis,) = _axes(axis, given.ndim)
    source = Source([given], None, op.name)
    if exclusive and init is None and op.identity is None:
        raise ValueError(f"an exclusive scan by {op.name} starts from a value: give init")
    acc, result = _accumulator(op, source, dtype, init)
    if exclusive and init is None:
        init = op.start(acc)
    _check_out(out, given.shape, result, op.name)
    own = device_of([given, out])
    device = own or device_name()
    import gpu

    with gpu.device(device):
        target = empty(given.shape, result, "C", None if own is None and device in SERIAL else device, stream)
        if target.size:
            _scan_axis(op, source, axis, acc, target, init, exclusive, device, stream)
    return _answer(target, out, own is None, stream)


def _scan_axis(
    op: Op, source: Source, axis: int, acc: Any, target: Any, init: Any, exclusive: bool, device: str, stream: Any
) -> None:
    shape = source.shape
    operands, m, n = _rows(source, (axis,), device, False)
    last = axis == len(shape) - 1
    rows = (
        target.reshape(m, n)
        if last
        else empty((m, n), target.dtype, "C", target.device if isinstance(target, Array) else None, stream)
    )
    fold = _fold_of(op, source, acc)
    plain = _fold_of(op, Source([np.empty(0, acc)], None, op.name), acc)
    start = () if init is None else (np.asarray(init, acc)[()],)
    _scan_rows(fold, plain, rows, operands, n, start, exclusive, device in SERIAL, stream)
    if not last:
        moved = rows.reshape(*(s for k, s in enumerate(shape) if k != axis), n)
        order = list(range(moved.ndim - 1))
        order.insert(axis, moved.ndim - 1)
        target[...] = moved.transpose(order)


def _scan_rows(
    fold: Fold,
    plain: Fold,
    rows: Any,
    operands: list[Any],
    n: int,
    init: tuple[Any, ...],
    exclusive: bool,
    serial: bool,
    stream: Any,
) -> None:
    """Scan each row of (m, n): totals of tiles, those scanned, then the elements."""
    m, by_warp = rows.shape[0], not serial
    tiles = -(-n // _fold.TILE)
    carries: tuple[Any, ...] = ()
    item = fold.source.item("a")
    threads = m * tiles * (_fold.LANES if by_warp else 1)
    if tiles > 1:
        totals = empty((m, tiles), fold.acc, "C", rows.device if isinstance(rows, Array) else None, stream)
        kernel = fold.kernel(("totals", by_warp), lambda: _fold.scan_source("totals", by_warp, "x0", item, ""))
        _launch(kernel, threads, by_warp, stream, (totals, n, tiles, *operands))
        scanned = empty((m, tiles), fold.acc, "C", rows.device if isinstance(rows, Array) else None, stream)
        _scan_rows(plain, plain, scanned, [totals], tiles, (), False, serial, stream)
        carries = (scanned,)
    carry = {(0, 0): "", (1, 0): "init", (0, 1): "tiles", (1, 1): "both"}[len(init), len(carries)]
    kind = "exclusive" if exclusive else "inclusive"
    params = ", ".join(["x0", *(["init"] if init else []), *(["carries"] if carries else [])])
    kernel = fold.kernel((kind, by_warp, carry), lambda: _fold.scan_source(kind, by_warp, params, item, carry))
    _launch(kernel, threads, by_warp, stream, (rows, n, tiles, *operands, *init, *carries))


# ---- map

_maps: dict[Any, Any] = {}


def map(function: Any, *arrays: Any, out: Any = None, stream: Any = None) -> Any:
    """What a function gives for each element of arrays.

    Parameters
    ----------
    function : function
        Of as many scalars as there are arrays; it returns a number, or a tuple of them for several arrays.
    *arrays : array_like
        Arrays and scalars, which broadcast.
    out : array or tuple of arrays, optional
    stream : Stream, optional

    Returns
    -------
    array or tuple of arrays
    """
    from ._ufunc import UFunc, vectorize

    key = (identity_of(function), len(arrays) if is_library(function) else None)
    ufunc = function if isinstance(function, UFunc) else _maps.get(key)
    if ufunc is None:
        ufunc = keep(_maps, key, vectorize()(device_function(function, nargs=len(arrays))))
    return ufunc(*arrays, out=out, stream=stream)
