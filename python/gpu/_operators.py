"""Operators and methods of `gpu.Array`, and NumPy's functions of it: elementwise kernels, reductions, products.

Types are NumPy's own: it is asked which loop a ufunc takes for the operands' dtypes, Python's numbers being weak.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _elementwise  # the latter imports _array, and that imports this

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._array import Array

_COMPARISONS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
_FAST_POWERS = {2: np.square, 0.5: np.sqrt, 1: np.positive, -1: np.reciprocal}
_REFUSAL = "copy it first, x.copy_to_host(), or write a kernel"


class _Loops:
    """The loops of NumPy's ufuncs as kernels, made when they are first asked for."""

    def __init__(self) -> None:
        self.known = {path[6:] for path, _, _ in _core.devfn_table() if path.startswith("numpy.")}
        self.found: dict[Any, Any] = {}

    def of(self, ufunc: np.ufunc, kinds: tuple[Any, ...], dtype: Any) -> Any:
        """Kernel, dtypes of the arguments and dtypes of the results, for dtypes (or int, float, complex)."""
        key = (ufunc, kinds, dtype)
        loop = self.found.get(key)
        if loop is None:
            loop = self.found[key] = self.make(ufunc, kinds, dtype)
        return loop

    def make(self, ufunc: np.ufunc, kinds: tuple[Any, ...], dtype: Any) -> Any:
        name = ufunc.__name__
        if getattr(np, name, None) is not ufunc or name not in self.known:
            raise TypeError(f"{name} isn't computed on a device: {_REFUSAL}")
        types = resolve(ufunc, kinds, dtype)
        for d in types:
            if not _core.dtype_known(d):
                raise TypeError(f"{name} of {', '.join(map(str, kinds))} is computed in {d}: {_REFUSAL}")
        ins, outs = types[: ufunc.nin], types[ufunc.nin :]
        function: Any = ufunc
        if any(d.kind in "SU" for d in types):  # strings are compared, and no more
            function = _COMPARISONS.get(name)
            if function is None:
                raise TypeError(f"{name} of strings isn't computed on a device: {_REFUSAL}")
        return _elementwise.Elementwise(function, name, ufunc.nout, ins, [None] * ufunc.nout), ins, outs


def resolve(ufunc: np.ufunc, kinds: Sequence[Any], dtype: Any = None) -> tuple[np.dtype[Any], ...]:
    """The dtypes that NumPy computes a ufunc in, for those of arguments (int, float, complex for Python's numbers)."""
    given = (*kinds, *[None] * ufunc.nout)
    if dtype is None:
        return ufunc.resolve_dtypes(given)
    return ufunc.resolve_dtypes(given, signature=(*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout))


_loops = _Loops()


def apply(
    ufunc: np.ufunc,
    inputs: Sequence[Any],
    out: Any = None,
    where: Any = True,
    dtype: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    stream: Any = None,
) -> Any:
    """A NumPy ufunc of arrays of a device; see `numpy.ufunc`.

    Raises
    ------
    TypeError
        It isn't one that kernels have, or not for these dtypes.
    ValueError
        Shapes that don't broadcast; arrays of different devices.
    """
    ins = [_elementwise.operand(x) for x in inputs]
    if ufunc is np.matmul:
        from ._matmul import matmul

        return matmul(ins[0], ins[1], out[0] if isinstance(out, tuple) else out, dtype, stream)
    if ufunc is np.power:
        ufunc, ins = _power(ins)
    kinds = tuple(map(_kind_of, ins))
    run, types, results = _loops.of(ufunc, kinds, dtype)
    if casting != "same_kind":
        _elementwise.check_casting(run, ins, casting, ufunc.__name__)
    for k, x in enumerate(ins):
        if not _elementwise.is_array(x):
            if type(x) is int and types[k].kind in "iu" and not _fits(x, types[k]):
                if ufunc.__name__ in _COMPARISONS:
                    return _out_of_range(ufunc, ins, out, where, stream)
                raise OverflowError(f"Python integer {x} out of bounds for {types[k]}")
            ins[k] = types[k].type(x)
    if out is None and where is True and order == "K" and stream is None and casting == "same_kind":
        found = _elementwise.quick(run, results, ins)
        if found is not None:
            return found
    outs = list(out) if isinstance(out, tuple) else [out] * ufunc.nout if out is None else [out]
    return _elementwise.compute(run, results, ins, outs, where, casting, order, stream, ufunc.__name__)


def _kind_of(x: Any) -> Any:
    """What an operand's loop depends on: a dtype, or int, float or complex."""
    dtype = getattr(x, "dtype", None)
    return dtype if dtype is not None else np.dtype(bool) if isinstance(x, bool) else type(x)


def _power(ins: list[Any]) -> tuple[np.ufunc, list[Any]]:
    """Powers that NumPy computes otherwise; integers have no negative ones."""
    x, y = ins
    if not hasattr(y, "dtype") and hasattr(x, "dtype"):
        if x.dtype.kind in "fc" and y in _FAST_POWERS:
            return _FAST_POWERS[y], [x]
        if x.dtype == bool and type(y) is int and y == 2:
            return np.square, [x]  # of int8, where other powers are of int64
        if x.dtype.kind in "iu" and isinstance(y, int) and y < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
    return np.power, ins


def _fits(x: int, d: np.dtype[Any]) -> bool:
    info = np.iinfo(d)
    return bool(info.min <= x <= info.max)


def _out_of_range(ufunc: np.ufunc, ins: list[Any], out: Any, where: Any, stream: Any) -> Any:
    """A comparison with an integer beyond the array's type: the same for all elements."""
    array = next(x for x in ins if _elementwise.is_array(x))
    one = [np.zeros((), x.dtype) if _elementwise.is_array(x) else x for x in ins]
    answer = np.bool_(ufunc(*one))
    return apply(np.logical_or if answer else np.logical_and, [array, answer], out, where, stream=stream)


# ---- NumPy's functions


def ufunc_call(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What ``__array_ufunc__`` does."""
    from . import _operations, _reduce

    if method == "__call__":
        extra = set(kwargs) - {"out", "where", "dtype", "casting", "order", "stream"}
        if extra:
            raise TypeError(f"{ufunc.__name__}: {', '.join(sorted(extra))} isn't supported for arrays of a device")
        return apply(ufunc, inputs, **kwargs)
    if method in ("reduce", "accumulate") and ufunc in _operations.OBJECTS:
        out = kwargs.pop("out", None)
        out = out[0] if isinstance(out, tuple) else out
        mask = kwargs.pop("where", True)
        if method == "accumulate":
            return _reduce.scan(ufunc, *inputs, axis=kwargs.get("axis", 0), dtype=kwargs.get("dtype"), out=out)
        initial = kwargs.get("initial")
        initial = None if initial is np._NoValue else initial  # type: ignore[attr-defined]
        options = {"dtype": kwargs.get("dtype"), "keepdims": kwargs.get("keepdims", False), "init": initial}
        chosen = selected(ufunc, inputs[0], mask, initial)
        return _reduce.reduce(ufunc, chosen, kwargs.get("axis", 0), out=out, **options)
    if method == "outer":
        a, b = map(_elementwise.operand, inputs)
        if _elementwise.is_array(a) and _elementwise.is_array(b):
            a = a.reshape(*a.shape, *(1,) * b.ndim)
        return apply(ufunc, [a, b], **kwargs)
    raise TypeError(f"{ufunc.__name__}.{method} isn't computed on a device: {_REFUSAL}")


def where(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where`` of three arguments."""
    ins = [_elementwise.operand(condition), _elementwise.operand(x), _elementwise.operand(y)]
    result = np.result_type(*(v if not _elementwise.is_array(v) else v.dtype for v in ins[1:]))
    if result.kind in "SU":
        raise TypeError(f"where of strings isn't computed on a device: {_REFUSAL}")
    key = ("where", result)
    run = _others.get(key)
    if run is None:
        run = _others[key] = _elementwise.Elementwise(np.where, "where", 1, [np.dtype(bool), result, result], [None])
    ins[1:] = [v if _elementwise.is_array(v) else np.asarray(v).astype(result)[()] for v in ins[1:]]
    return _elementwise.compute(run, [result], ins, [None], True, "same_kind", "K", None, "where")


_others: dict[Any, _elementwise.Elementwise] = {}


def selected(op: Any, x: Any, mask: Any, initial: Any) -> Any:
    """The elements of an array to combine where a mask is True, and what changes no result in the place of others."""
    from ._operations import op_of

    if mask is True:
        return x
    found = op_of(op)
    other = found.start(x.dtype)
    if other is None and found.name in ("min", "max"):
        other = initial
    return select(x, mask, other, found.name)


def select(x: Any, mask: Any, other: Any, name: str) -> Any:
    """The elements of an array where a mask is True, and `other` elsewhere.

    Raises
    ------
    ValueError
        `other` is None.
    """
    if other is None:
        lacks = f"reduction operation {name!r} does not have an identity"
        raise ValueError(f"{lacks}, so to use a where mask one has to specify 'initial'")
    return where(_mask_of(x, mask), x, np.asarray(other).astype(x.dtype)[()])


def _mask_of(x: Any, mask: Any) -> Any:
    """A mask that broadcasts to an array."""
    chosen = _elementwise.mask_of(mask)
    if _elementwise.conforms([x.shape, chosen.shape], "where") != x.shape:
        raise ValueError(f"where of shape {chosen.shape} has more elements than the array, of shape {x.shape}")
    return chosen


def convert(source: Any, target: Any, stream: Any = None) -> None:
    """``target[...] = source`` between arrays of one device, with an assignment's conversion and broadcasting."""
    run = _others.get("copy")
    if run is None:
        run = _others["copy"] = _elementwise.Elementwise(np.positive, "copy", 1, [None], [None])
    view = source.view("u1") if source.dtype == bool else source
    goal = target.view("u1") if view is not source and target.dtype == bool else target
    _elementwise.compute(run, [goal.dtype], [view], [goal], True, "unsafe", "K", stream, "copy")


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """``numpy.clip``: maximum with one bound, then minimum with the other."""
    if a_min is None and a_max is None:
        return a.copy()
    if a_min is not None:
        a = apply(np.maximum, [a, a_min], out=out if a_max is None else None, **kwargs)
    return a if a_max is None else apply(np.minimum, [a, a_max], out=out, **kwargs)


def concatenate(
    arrays: Sequence[Any], axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """``numpy.concatenate`` of arrays of one device, and host arrays."""
    from ._array import Array, array, empty

    device = _elementwise.device_of(arrays)
    parts = [x if isinstance(x, Array) else array(x, device=device) for x in arrays]
    if axis is None:
        parts, axis = [x.ravel() for x in parts], 0
    ndim = parts[0].ndim
    axis = np.lib.array_utils.normalize_axis_index(axis, ndim)
    shapes = {x.shape[:axis] + x.shape[axis + 1 :] for x in parts}
    if len(shapes) > 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    if out is None:
        shape = list(parts[0].shape)
        shape[axis] = sum(x.shape[axis] for x in parts)
        out = empty(shape, np.result_type(*(x.dtype for x in parts)) if dtype is None else dtype, device=device)
    for x in parts:
        if not np.can_cast(x.dtype, out.dtype, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to {out.dtype!r} according to the rule {casting!r}"
            )
    at = 0
    for x in parts:
        out[(*[slice(None)] * axis, slice(at, at + x.shape[axis]))] = x
        at += x.shape[axis]
    return out


def stack(
    arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """``numpy.stack``."""
    if len({np.shape(x) for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    axis = np.lib.array_utils.normalize_axis_index(axis, np.ndim(arrays[0]) + 1)
    index = (*[slice(None)] * axis, None)
    return concatenate([x[index] for x in arrays], axis, out, dtype=dtype, casting=casting)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """``numpy.count_nonzero``; a Python int if no axes are left."""
    found = (a != 0).sum(axis=axis, keepdims=keepdims)
    return int(found) if axis is None and not keepdims else found


def outer(a: Any, b: Any) -> Any:
    """``numpy.outer``: the products of all elements of one with all of the other."""
    x, y = _elementwise.operand(a), _elementwise.operand(b)
    return apply(np.multiply, [x.reshape(-1, 1), y.reshape(1, -1)])


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """``numpy.diff``, without ``prepend`` and ``append``; bools differ where they are not equal."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    before = (slice(None),) * np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    for _ in range(n):
        pair = [a[(*before, slice(1, None))], a[(*before, slice(None, -1))]]
        a = apply(np.not_equal if a.dtype == bool else np.subtract, pair)
    return a


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``numpy.linalg.norm`` without ``ord``: the root of the sum of squares."""
    if ord is not None or (isinstance(axis, tuple) and len(axis) > 2):
        raise TypeError(f"numpy.linalg.norm with ord doesn't take arrays of a device: {_REFUSAL}")
    size = apply(np.absolute, [x])
    wide = size if size.dtype.kind == "f" else size.astype(np.float64)
    return np.sqrt((wide * wide).sum(axis=axis, keepdims=keepdims))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """``numpy.array_equal``."""
    a, b = _elementwise.operand(a1), _elementwise.operand(a2)
    if np.shape(a) != np.shape(b):
        return False
    same = apply(np.equal, [a, b])
    if equal_nan:
        same = apply(np.logical_or, [same, apply(np.logical_and, [apply(np.isnan, [a]), apply(np.isnan, [b])])])
    return bool(same.all())


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """``numpy.isclose``."""
    from ._reduce import map as map_elements

    x, y = _elementwise.operand(a), _elementwise.operand(b)
    close = map_elements(_close, x, y, rtol, atol)
    if not equal_nan:
        return close
    return apply(np.logical_or, [close, apply(np.logical_and, [apply(np.isnan, [x]), apply(np.isnan, [y])])])


def _close(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
    return np.isclose(x, y, rtol, atol)


def _method(name: str) -> Callable[..., Any]:
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(a, name)(*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})  # type: ignore[attr-defined]

    return call


_METHODS = (
    "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum", "cumprod", "ptp",
    "reshape", "ravel", "transpose", "swapaxes", "squeeze", "copy", "dot", "round", "astype",
)  # fmt: skip
FUNCTIONS: dict[Any, Callable[..., Any]] = {getattr(np, name): _method(name) for name in _METHODS}
FUNCTIONS |= {
    np.amin: _method("min"),
    np.amax: _method("max"),
    np.around: _method("round"),
    np.where: where,
    np.clip: clip,
    np.concatenate: concatenate,
    np.stack: stack,
    np.array_equal: array_equal,
    np.count_nonzero: count_nonzero,
    np.outer: outer,
    np.diff: diff,
    np.linalg.norm: norm,
    np.isclose: isclose,
    np.allclose: lambda *args, **kwargs: bool(isclose(*args, **kwargs).all()),
    np.expand_dims: lambda a, axis: a._like(np.expand_dims(a._proxy(), axis)),
    np.moveaxis: lambda a, source, destination: a._like(np.moveaxis(a._proxy(), source, destination)),
    np.flip: lambda m, axis=None: m._like(np.flip(m._proxy(), axis) if m.ndim or axis is not None else m._proxy()),
    np.broadcast_to: lambda array, shape, subok=False: array._like(np.broadcast_to(array._proxy(), shape)),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.result_type: lambda *given: np.result_type(*(x.dtype if _elementwise.is_array(x) else x for x in given)),
    np.can_cast: lambda from_, to, casting="safe": np.can_cast(from_.dtype, to, casting),
}


def function_call(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What ``__array_function__`` does."""
    own = FUNCTIONS.get(function)
    if own is None:
        from . import _array

        name = f"{function.__module__}.{function.__name__}"
        if function in (np.zeros_like, np.ones_like, np.empty_like, np.full_like):
            return getattr(_array, function.__name__)(*args, **kwargs)
        raise TypeError(f"{name} doesn't take arrays of a device: {_REFUSAL}")
    return own(*args, **kwargs)


# ---- operators and methods

_BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "lshift": np.left_shift, "rshift": np.right_shift, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "matmul": np.matmul,
}  # fmt: skip
_COMPARE = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
_UNARY = {"neg": np.negative, "pos": np.positive, "invert": np.invert, "abs": np.absolute}


def _takes(array: Any, other: Any) -> bool:
    """Whether an operator of an array computes with an object; else Python asks that object."""
    if isinstance(other, (str, bytes)):
        return bool(array.dtype.kind in "SU")
    return other is not None and not isinstance(other, (dict, set))


def _binary(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda a, b: apply(ufunc, (a, b)) if _takes(a, b) else NotImplemented


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda a, b: apply(ufunc, (b, a)) if _takes(a, b) else NotImplemented


def _in_place(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda a, b: apply(ufunc, (a, b), out=(a,)) if _takes(a, b) else NotImplemented


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda a: apply(ufunc, (a,))


def _combined(op: str, x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    from ._reduce import reduce

    return reduce(op, selected(op, x, where, initial), axis, dtype=dtype, out=out, keepdims=keepdims, init=initial)


def _reduction(op: str) -> Callable[..., Any]:
    def method(
        self: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        return _combined(op, self, axis, dtype, out, keepdims, initial, where)

    method.__doc__ = f"``numpy.{op}`` along axes, on the device: see `gpu.reduce`."
    return method


def _plain_reduction(op: str) -> Callable[..., Any]:
    def method(
        self: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        return _combined(op, self, axis, None, out, keepdims, initial, where)

    method.__doc__ = f"``numpy.{op}`` along axes, on the device: see `gpu.reduce`."
    return method


class Operators:
    """What `gpu.Array` computes: by kernels on its device, with NumPy's types and shapes."""

    __slots__ = ()

    for _name, _ufunc in _BINARY.items():
        locals()[f"__{_name}__"] = _binary(_ufunc)
        locals()[f"__r{_name}__"] = _reflected(_ufunc)
        locals()[f"__i{_name}__"] = _in_place(_ufunc)
    for _name, _ufunc in _COMPARE.items():
        locals()[f"__{_name}__"] = _binary(_ufunc)
    for _name, _ufunc in _UNARY.items():
        locals()[f"__{_name}__"] = _unary(_ufunc)
    for _name in ("sum", "prod"):
        locals()[_name] = _reduction({"sum": "add", "prod": "mul"}[_name])
    for _name in ("min", "max", "any", "all"):
        locals()[_name] = _plain_reduction(_name)
    del _name, _ufunc

    def __divmod__(self, other: Any) -> Any:
        return apply(np.divmod, (self, other))

    def __rdivmod__(self, other: Any) -> Any:
        return apply(np.divmod, (other, self))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's ufuncs stay on the device."""
        return ufunc_call(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Some of NumPy's functions stay on the device; the others refuse its arrays."""
        return function_call(function, args, kwargs)

    def __contains__(self, value: object) -> bool:
        return bool(apply(np.equal, (self, value)).any())  # type: ignore[attr-defined]

    def mean(
        self: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> Any:
        """``numpy.mean`` along axes."""
        return _mean(self, axis, dtype, out, keepdims, None, where)

    def var(
        self: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        """``numpy.var`` along axes: the mean of the squared distances from the mean."""
        return _mean(self, axis, dtype, out, keepdims, ddof, where)

    def std(
        self: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        """``numpy.std`` along axes."""
        found = _mean(self, axis, dtype, None, keepdims, ddof, where)
        root = np.sqrt(found)
        if out is None:
            return root
        out[...] = root
        return out

    def argmin(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """``numpy.argmin``: the index of the first smallest element, or of the first nan."""
        from ._reduce import first_index

        return first_index("min", self, axis, out, keepdims)

    def argmax(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """``numpy.argmax``: the index of the first largest element, or of the first nan."""
        from ._reduce import first_index

        return first_index("max", self, axis, out, keepdims)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """``numpy.cumsum``: see `gpu.scan`."""
        from ._reduce import scan

        return scan("add", self, axis=axis, dtype=dtype, out=out)

    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """``numpy.cumprod``: see `gpu.scan`."""
        from ._reduce import scan

        return scan("mul", self, axis=axis, dtype=dtype, out=out)

    def ptp(self: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """``numpy.ptp``: the largest element minus the smallest."""
        return np.subtract(self.max(axis, None, keepdims), self.min(axis, None, keepdims), out=out)

    def dot(self, other: Any, out: Any = None) -> Any:
        """``numpy.dot`` of arrays of one or two dimensions."""
        if self.ndim > 2 or np.ndim(other) > 2:  # type: ignore[attr-defined]
            raise TypeError("dot takes arrays of one or two dimensions here; @ multiplies stacks of matrices")
        return apply(np.matmul if self.ndim and np.ndim(other) else np.multiply, (self, other), out=out)  # type: ignore[attr-defined]

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """``numpy.clip``."""
        return clip(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """``numpy.round``."""
        if self.dtype.kind == "b" and decimals:  # type: ignore[attr-defined]
            raise TypeError(f"bools aren't rounded to {decimals} decimals: x.astype(int) has numbers")
        if self.dtype.kind in "iu" and decimals >= 0:  # type: ignore[attr-defined]
            return apply(np.positive, (self,), out=out)
        if self.dtype.kind in "iu":  # type: ignore[attr-defined]
            whole = self.astype(np.float64).round(decimals).astype(self.dtype)  # type: ignore[attr-defined]
            return whole if out is None else apply(np.positive, (whole,), out=out)
        if decimals == 0 or self.dtype.kind not in "f":  # type: ignore[attr-defined]
            return apply(np.rint, (self,), out=out)
        factor = 10.0 ** abs(decimals)
        first, second = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)
        return apply(second, (apply(np.rint, (apply(first, (self, factor)),)), factor), out=out)

    def conj(self) -> Any:
        """``numpy.conjugate``."""
        return apply(np.conjugate, (self,))

    conjugate = conj

    @property
    def real(self: Any) -> Any:
        """The real parts: a view."""
        return self._part(0)

    @property
    def imag(self: Any) -> Any:
        """The imaginary parts: a view; zeros for real numbers."""
        return self._part(1)

    def _part(self: Any, which: int) -> Any:
        if self.dtype.kind != "c":
            from ._array import zeros_like

            return zeros_like(self) if which else self
        part = np.dtype(f"f{self.itemsize // 2}")
        return self._view(which * part.itemsize, self.shape, self.strides, part.name, False)


def _mean(x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, ddof: float | None, mask: Any) -> Any:
    """The mean, or with `ddof` the variance, in float64 for integers and in float32 for halves."""
    from ._reduce import reduce

    kind = np.dtype(dtype) if dtype is not None else np.dtype(float) if x.dtype.kind in "iub" else x.dtype
    inner = np.dtype(np.float32) if kind.itemsize == 2 else kind
    total = reduce("add", selected("add", x, mask, None), axis, dtype=inner, keepdims=keepdims or ddof is not None)
    if ddof is not None:
        with np.errstate(all="ignore"):
            mean = np.divide(total, _count(x, axis, True, mask, inner))
        distances = apply(np.subtract, (x, mean))
        size = apply(np.absolute, (distances,)) if distances.dtype.kind == "c" else distances
        kind, inner = (np.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d for d in (kind, inner))
        squares = selected("add", apply(np.square, (size,)), mask, None)
        total = reduce("add", squares, axis, dtype=inner, keepdims=keepdims)
    with np.errstate(all="ignore"):
        found = np.divide(total, _count(x, axis, keepdims, mask, inner, ddof or 0))
    if out is not None:
        out[...] = found
        return out
    return found.astype(kind) if found.dtype != kind else found


def _count(x: Any, axis: Any, keepdims: bool, mask: Any, dtype: np.dtype[Any], less: float = 0) -> Any:
    """How many elements there are along axes, or how many a mask selects; `less` of them, but not below 0."""
    from ._array import ones
    from ._reduce import _axes, reduce

    if mask is not True:
        each = where(_mask_of(x, mask), ones(x.shape, dtype, device=x.device), dtype.type(0))
        n = reduce("add", each, axis, dtype=dtype, keepdims=keepdims)
        return np.maximum(np.subtract(n, dtype.type(less)), dtype.type(0)) if less else n
    count = 1
    for k in _axes(axis, x.ndim):
        count *= x.shape[k]
    return dtype.type(max(count - less, 0))
