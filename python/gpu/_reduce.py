"""`reduce`, `scan`, `transform_reduce` and `map`: with any associative function, on every device."""

from __future__ import annotations

import operator
from itertools import pairwise
from math import prod
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
from ._operations import NAMED, Op, device_function, identity_of, is_library, keep, op_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._jit import Kernel

SERIAL = ("cpu", "python")  # devices that run the lanes of a warp in order
FEW = 32  # elements of a row that aren't worth a warp
FOLD_BLOCK = {True: 256, False: 16}  # threads of a block, by warps and in order


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
    m, n = prod([shape[k] for k in kept]), prod([shape[k] for k in axes])
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

    def fold_kernel(self, across: bool, by_warp: bool, pattern: str) -> Kernel:
        """The kernel that combines chunks: of columns or rows, for operands as `pattern` has them."""
        mode = "columns" if across else "rows" if self.op.commutes else "ordered"

        def text() -> str:
            params = ", ".join(f"x{k}" for k, p in enumerate(pattern) if p != "i")
            return _fold.fold_source(mode, by_warp, params, self.source.item(pattern))

        return self.kernel((mode, by_warp, pattern), text)

    def chunks(self, out: Any, n: int, parts: int, operands: Sequence[Any], serial: bool, stream: Any) -> None:
        """Combine each chunk of rows of n elements; `out` is (rows, parts)."""
        m = out.shape[0]
        first = next(x for x in operands if is_array(x))
        across = m >= _fold.LANES and abs(first.strides[0]) < abs(first.strides[1])
        by_warp = not serial and (across or n >= FEW)
        pattern = "".join("a" if is_array(x) else "i" if x is INDEX else "s" for x in operands)
        kernel = self.fold_kernel(across, by_warp, pattern)
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


def _plain_fold(op: Op, acc: np.dtype[Any]) -> Fold:
    """Of what chunks give."""
    found = _folds.get((op, None, acc))
    return _fold_of(op, Source([np.empty(0, acc)], None, op.name), acc) if found is None else found


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
    _combine_rows(_fold_of(op, source, acc), operands, m, n, target, device in SERIAL, stream)


def _combine_rows(
    fold: Fold, operands: Sequence[Any], m: int, n: int, target: Any, serial: bool, stream: Any = None
) -> None:
    """Combine each of m rows of n elements into an element of `target`: chunk by chunk, then what they give."""
    op, acc = fold.op, fold.acc
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
        fold, operands, n = _plain_fold(op, acc), [out], parts


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
    if init is None and out is None and stream is None and not keepdims:
        found = _quick_reduce(op, arrays, function, axis, dtype)
        if found is not None:
            return found
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


# ---- calls of the common kind


def _alike(arrays: Sequence[Any]) -> bool:
    """Tell C-contiguous arrays of one shape that have elements, where the current device, the CPU, reads them."""
    if _core.current_device() != "cpu":
        return False
    shape = getattr(arrays[0], "shape", None)
    for x in arrays:
        if type(x) is np.ndarray:
            flags = x.flags
            if not (flags.c_contiguous and flags.aligned):
                return False
        elif not isinstance(x, Array) or x._layout != "C" or x.device != "cpu":
            return False
        if x.shape != shape or not x.size:
            return False
    return True


def _in_one_row(x: Any) -> Any:
    """The elements of a C-contiguous array as (1, n)."""
    return x.reshape(1, -1) if type(x) is np.ndarray else x.reshape(1, x.size)


class Plan(NamedTuple):
    """What calls alike have in common, whatever the number of elements is.

    Attributes
    ----------
    fold, plain : Fold
        Of the elements, and of what chunks or tiles of them give.
    kernel, after : Kernel or None
        The same, for a reduction.
    result : dtype
    """

    fold: Fold
    plain: Fold
    kernel: Kernel | None
    after: Kernel | None
    result: np.dtype[Any]


_plans: dict[Any, Plan] = {}


def _plan(op: Op, arrays: Sequence[Any], function: Any, dtype: Any, reduces: bool) -> Plan:
    """The plan for one row of elements in order, made when it is new."""
    key = (op, function, dtype, reduces, *[x.dtype for x in arrays])
    found = _plans.get(key)
    if found is None:
        source = Source([operand(x).reshape(-1) for x in arrays], function, op.name)
        acc, result = _accumulator(op, source, dtype, None)
        fold, plain = _fold_of(op, source, acc), _plain_fold(op, acc)
        kernel = fold.fold_kernel(False, False, "a" * len(arrays)) if reduces else None
        after = plain.fold_kernel(False, False, "a") if reduces else None
        found = keep(_plans, key, Plan(fold, plain, kernel, after, result))
    return found


def _quick_reduce(op: Op, arrays: Sequence[Any], function: Any, axis: Any, dtype: Any) -> Any:
    """Arrays of the CPU combined as a whole, or one along its first or last axis, in a third of the time; else None."""
    first = arrays[0]
    if type(axis) is int and len(arrays) == 1 and function is None and getattr(first, "ndim", 0) > 1:
        return _quick_axis(op, first, axis, dtype)
    whole = axis is None or (type(axis) is int and axis in (0, -1) and getattr(first, "ndim", 0) == 1)
    if not whole or not (dtype is None or isinstance(dtype, np.dtype)) or not _alike(arrays):
        return None
    plan = _plan(op, arrays, function, dtype, True)
    rows, n, chunk, kernel = [_in_one_row(x) for x in arrays], first.size, plan.fold.chunk(), plan.kernel
    while True:
        parts = -(-n // chunk)
        out = np.empty((1, parts), plan.result if parts == 1 else plan.fold.acc)
        _launch(kernel, parts, False, None, (out, n, parts, *rows))  # type: ignore[arg-type]
        if parts == 1:
            return out[0, 0]
        kernel, rows, n = plan.after, [out], parts


def _quick_axis(op: Op, x: Any, axis: int, dtype: Any) -> Any:
    last = x.ndim - 1
    axis += x.ndim if axis < 0 else 0
    if axis not in (0, last) or not (dtype is None or isinstance(dtype, np.dtype)) or not _alike([x]):
        return None
    plan = _plan(op, [x], None, dtype, True)
    n = x.shape[axis]
    m = x.size // n
    host = type(x) is np.ndarray
    if axis == last:
        rows = x.reshape(m, n)
    else:
        rows = x.reshape(n, m).T if host else _elementwise.strided(x, (m, n), (x.itemsize, m * x.itemsize))
    target = empty(x.shape[:axis] + x.shape[axis + 1 :], plan.result, "C", None if host else "cpu", None)
    _combine_rows(plan.fold, [rows], m, n, target.reshape(m), True)
    return target


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
    axis = None if axis is None or not _axes(operator.index(axis), x.ndim) else axis
    whole = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    if not whole.shape[along]:
        raise ValueError(f"attempt to get arg{op} of an empty sequence")
    at_hand = axis is None and x.device == "cpu"  # a number costs nothing there, and elsewhere a copy to the host
    best = reduce(op, whole, along, keepdims=not at_hand)
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
    if init is None and stream is None and not exclusive:
        found = _quick_scan(op, x, axis, dtype, out)
        if found is not None:
            return found
    given = operand(x)
    given = given if is_array(given) else np.asarray(given)
    if axis is None or not given.ndim:
        given, axis = given.reshape(-1), 0 if axis is None else axis
    (axis,) = _axes(operator.index(axis), given.ndim)
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


def _quick_scan(op: Op, x: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """A scan of all elements of an array of the CPU, in a third of the time; None: it isn't that."""
    whole = axis is None or (type(axis) is int and axis in (0, -1) and getattr(x, "ndim", 0) == 1)
    if not whole or not (dtype is None or isinstance(dtype, np.dtype)) or not _alike([x]):
        return None
    plan = _plan(op, [x], None, dtype, False)
    n = x.size
    if out is None:
        target = empty((n,), plan.result, "C", None if type(x) is np.ndarray else "cpu", None)
    elif type(out) is np.ndarray and type(x) is np.ndarray and out.dtype == plan.result and _alike([out]):
        if out.shape != (n,) or not out.flags.writeable or np.may_share_memory(out, x):
            return None
        target = out
    else:
        return None
    _scan_rows(plan.fold, plan.plain, _in_one_row(target), [_in_one_row(x)], n, (), False, True, None)
    return target


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
    plain = _plain_fold(op, acc)
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
