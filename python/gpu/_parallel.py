"""`parallel`: an ordinary function whose loops over `prange` run on a device.

The loops are taken out by `gpu._prange`. What stands between them runs as Python does. A loop without reductions is a
kernel with a thread for each iteration. One with reductions goes through chunks of iterations, whose lanes are combined
as those of `gpu.reduce` are, so that a sum is the same to the bit on all devices.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _elementwise, _fold, _operations, _prange, _reduce
from ._array import Array
from ._device import device_name
from ._elementwise import device_of, dtype_of_type, empty, make_kernel
from ._errors import CompileError
from ._jit import check_options, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FunctionType

    from ._jit import Kernel

_WEAK = {bool: "weak_bool", int: "weak_int", float: "weak_float", complex: "weak_complex"}
_PYTHON = {"weak_bool": bool, "weak_int": int, "weak_float": float, "weak_complex": complex}
CHUNKS = 1024  # as many as iterations are shared out over, if there are enough

# How parts are combined; where a part starts, None: from the value before the loop.
_START = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0, "min": None, "max": None}
_TEXT = {
    "add": "{a} + {b}", "mul": "{a} * {b}", "and": "{a} & {b}", "or": "{a} | {b}", "xor": "{a} ^ {b}",
    "min": "min({a}, {b})", "max": "max({a}, {b})",
}  # fmt: skip
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "mul": operator.mul, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "min": min, "max": max,
}  # fmt: skip

_PLAIN = """\
def kernel(start, step, n{params}):
    t = gpu.grid(1)
    if t < n:
        body({i}{values})
"""

_LANES = """\
def kernel(start, step, n, parts{outs}{inits}{params}):
    t = gpu.grid(1)
    if t < parts:
        first = t * {chunk}
        last = min(first + {chunk}, n)
        rest = (last - first) % 32
{arrays}        for lane in range(32):
{begin}        for at in range(first, last - rest, 32):
            for lane in range(32):
                r = body({at}{values}{lanes})
{take}        for lane in range(32):
            if lane < rest:
                r = body({tail}{values}{lanes})
{take}        half = 16
        while half > 0:
            for lane in range(half):
{halves}            half = half // 2
{store}"""

_WARP = """\
def kernel(start, step, n, parts{outs}{inits}{params}):
    t = gpu.grid(1) // 32
    lane = gpu.laneid
    if t < parts:
        first = t * {chunk}
{begin}        for at in range(first + lane, min(first + {chunk}, n), 32):
            r = body({at}{values}{totals})
{take}        half = 16
        while half > 0:
{halves}            half = half // 2
        if lane == 0:
{store}"""


def prange(*args: int) -> range:
    """The range of a parallel loop, in a function under `gpu.parallel`: ``for i in gpu.prange(n):``.

    Elsewhere it is a ``range``, so that the function without the decorator does the same.
    """
    return range(*args)


class Parallel:
    """A function with parallel loops; made by `gpu.parallel`.

    Attributes
    ----------
    py_func : function
        The undecorated function.
    """

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.py_func = self.__wrapped__ = function
        self._options = options
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name))
        self._host, loops, cell = _prange.split(function, prange)
        cell.cell_contents = [_Launch(loop, options) for loop in loops]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function: its loops on the current device, or that of the arrays."""
        return self._host(*args, **kwargs)

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        """As an attribute of an object it is bound, as a function is."""
        if owner is None:
            return self
        from types import MethodType

        return MethodType(self, owner)

    def __repr__(self) -> str:
        return f"<gpu.parallel function {self.__qualname__}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        from ._byvalue import by_value, is_found

        return self.__qualname__ if is_found(self) else (Parallel, (by_value(self.py_func), self._options))

    def __copy__(self) -> Parallel:
        return self  # as a function is its own copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Parallel:
        return self


class _Launch:
    """A loop, launched: called with the range, the values that it reads, and those of the reductions."""

    def __init__(self, loop: _prange.Loop, options: dict[str, Any]) -> None:
        self.loop, self.options = loop, options
        self.body = _operations.device_function(loop.body)
        self.kernels: dict[Any, Kernel] = {}
        self.types: dict[Any, tuple[_core.Type, ...]] = {}

    def __call__(self, limits: tuple[Any, ...], live: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
        along = range(*map(operator.index, limits))
        device = device_of(live) or device_name()
        if not along:
            return values
        import gpu

        with gpu.device(device):
            try:
                if self.loop.reductions:
                    return self.reduce(along, live, values, device)
                kernel = self.plain(along)
                kernel.forall(len(along))(along.start, along.step, len(along), *live)
            except TypeError as error:
                if type(error) is TypeError:  # no mistake of the loop's, which has a class of its own and a line
                    raise TypeError(self.with_names(str(error))) from None
                raise
        return ()

    def with_names(self, message: str) -> str:
        """A message about a parameter of the kernel, which are numbered, as one about the function's variable."""
        for k, name in enumerate(self.loop.live):
            message = message.replace(f"parameter 'a{k}'", f"'{name}', which the loop reads,")
        return message

    def parameters(self) -> tuple[str, str]:
        """Text for what the loop reads, in a list of parameters and in a call."""
        names = "".join(f", a{k}" for k in range(len(self.loop.live)))
        return names, names

    def made(self, key: Any, text: Callable[[], str], names: dict[str, Any]) -> Kernel:
        kernel = self.kernels.get(key)
        if kernel is None:
            name = self.loop.body.__name__
            kernel = self.kernels[key] = make_kernel(name, text(), {"body": self.body, **names}, "numpy", self.options)
        return kernel

    def plain(self, along: range) -> Kernel:
        """The kernel of a loop without reductions; the commonest range has simpler indices."""
        params, values = self.parameters()
        simple = along.start == 0 and along.step == 1
        index = "t" if simple else "start + t * step"
        return self.made(simple, lambda: _PLAIN.format(params=params, i=index, values=values), {})

    # ---- reductions

    def reduce(self, along: range, live: tuple[Any, ...], values: tuple[Any, ...], device: str) -> tuple[Any, ...]:
        types = self.result_types(live, values)
        n = len(along)
        serial = device in _reduce.SERIAL
        chunk = min(max(1 << (-(-n // CHUNKS) - 1).bit_length(), _fold.LANES), _fold.CHUNK)
        parts = -(-n // chunk)
        dtypes = [dtype_of_type(t) for t in types]
        outs = [empty((parts,), d, "C", None if serial else device, None) for d in dtypes]
        inits = [np.asarray(v).astype(d)[()] for v, d in zip(values, dtypes, strict=True)]
        simple = along.start == 0 and along.step == 1
        kernel = self.made(
            (serial, simple, chunk, types), lambda: self.text(serial, simple, chunk), self.accumulators(dtypes)
        )
        threads, block = (parts, 4) if serial else (parts * _fold.LANES, 128)
        grid = -(-threads // block)
        kernel[grid, block](along.start, along.step, n, parts, *outs, *inits, *live)
        found = []
        for value, t, d, out, (_, op) in zip(values, types, dtypes, outs, self.loop.reductions, strict=True):
            found.append(_finish(value, t, d, out, op, device))
        return tuple(found)

    def accumulators(self, dtypes: Sequence[np.dtype[Any]]) -> dict[str, Any]:
        from ._dtypes import dtypes as known

        return {f"acc{k}": known["bool_" if d.name == "bool" else d.name] for k, d in enumerate(dtypes)}

    def result_types(self, live: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[_core.Type, ...]:
        """The types that the reductions stay in, from those of the values before the loop on."""
        for (name, _), value in zip(self.loop.reductions, values, strict=True):
            if type(value) not in _WEAK and not isinstance(value, np.generic):
                what = type(value).__name__
                raise TypeError(f"{self.loop.body.__name__}(): the reduction '{name}' is a number, and this is {what}")
        around = tuple(map(type_of_argument, live))
        first = tuple(map(type_of_argument, values))
        key = (around, first)
        types = self.types.get(key)
        if types is None:
            types = self.types[key] = self.closed(around, first)
        return types

    def closed(self, around: tuple[_core.Type, ...], first: tuple[_core.Type, ...]) -> tuple[_core.Type, ...]:
        types = first
        for _ in range(4):
            # The loop variable is a Python int.
            found = _core.result_type(self.body, (_core.Type("weak_int"), *around, *types))
            now = tuple(_joined(a, b) for a, b in zip(types, found.items, strict=True))
            if now == types:
                return types
            types = now
        names = ", ".join(name for name, _ in self.loop.reductions)
        raise TypeError(f"{self.loop.body.__name__}(): the type of {names} changes with each iteration")

    def text(self, serial: bool, simple: bool, chunk: int) -> str:
        """The kernel of a loop with reductions; `simple` is a range that counts from 0."""
        at, tail = ("at + lane" if serial else "at"), "last - rest + lane"
        if not simple:
            at, tail = f"start + ({at}) * step", f"start + ({tail}) * step"
        params, values = self.parameters()
        ops = [op for _, op in self.loop.reductions]
        count = range(len(ops))
        a, b = (
            ("lanes{}[lane]", "lanes{}[lane + half]")
            if serial
            else ("total{}", "gpu.shfl_down_sync(-1, total{}, half)")
        )
        pad = " " * (16 if serial else 12)
        begin = [f"acc{k}({f'init{k}' if _START[op] is None else _START[op]})" for k, op in enumerate(ops)]
        halves = [f"acc{k}({_TEXT[op].format(a=a.format(k), b=b.format(k))})" for k, op in enumerate(ops)]

        def lines(indent: str, right: Sequence[str], left: str) -> str:
            return "".join(f"{indent}{left.format(k)} = {value}\n" for k, value in enumerate(right))

        return (_LANES if serial else _WARP).format(
            outs="".join(f", out{k}" for k in count),
            inits="".join(f", init{k}" for k in count),
            params=params,
            values=values,
            at=at,
            chunk=chunk,
            tail=tail,
            lanes="".join(f", lanes{k}[lane]" for k in count),
            totals="".join(f", total{k}" for k in count),
            arrays="".join(f"        lanes{k} = gpu.local.array(32, acc{k})\n" for k in count),
            begin=lines(" " * (12 if serial else 8), begin, a),
            take=lines(pad, [f"acc{k}(r[{k}])" for k in count], a),
            halves=lines(pad, halves, a),
            store=lines(
                " " * (8 if serial else 12),
                [("lanes{}[0]" if serial else "total{}").format(k) for k in count],
                "out{}[t]",
            ),
        )


def _finish(value: Any, t: _core.Type, d: np.dtype[Any], out: Any, op: str, device: str) -> Any:
    """The value after the loop: a Python number where Python would have one."""
    target = np.empty((), d) if isinstance(out, np.ndarray) else Array._alloc(device, (), d.name, "C", 0, 0, None)
    source = _reduce.Source([out], None, op)
    _reduce.run_reduce(_operations.NAMED[op], source, (0,), d, target.reshape(-1), device, None)
    total = target[()] if isinstance(target, np.ndarray) else target.copy_to_host()[()]
    python = _PYTHON.get(t.kind)
    total = python(total) if python else total
    with np.errstate(all="ignore"):
        return _COMBINE[op](value, total)


def _joined(a: _core.Type, b: _core.Type) -> _core.Type:
    """The type of a variable that has one type before the loop and another in it."""
    if a == b or (a.kind in _PYTHON and b.kind not in _PYTHON):
        return b
    if a.kind in _PYTHON and b.kind in _PYTHON:
        return max(a, b, key=lambda t: list(_PYTHON).index(t.kind))
    d = np.result_type(dtype_of_type(a), dtype_of_type(b)) if b.kind == "scalar" else dtype_of_type(a)
    return _core.Type("scalar", dtype=d.name)


def type_of_argument(value: Any) -> _core.Type:
    """The type that a kernel gets for an argument."""
    kind = _WEAK.get(type(value))
    if kind:
        return _core.Type(kind)  # type: ignore[arg-type]
    if isinstance(value, np.generic):
        return _core.Type("scalar", dtype=value.dtype.name)
    if _elementwise.is_array(value):
        layout = (
            "C" if _elementwise.is_contiguous(value, "C") else "F" if _elementwise.is_contiguous(value, "F") else "A"
        )
        readonly = value._readonly if isinstance(value, Array) else not value.flags.writeable
        return _core.Type("array", dtype=value.dtype.name, ndim=value.ndim, layout=layout, readonly=readonly)  # type: ignore[arg-type]
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        return _core.Type("tuple", items=tuple(map(type_of_argument, value)), fields=fields)
    return _core.Type("none") if value is None else _core.Type("object", object=value)


def parallel(function: Any = None, /, **options: Any) -> Any:
    """Run a function's loops over `gpu.prange` in parallel on the device; with or without parentheses.

    Each iteration may read what is around the loop, and write array elements that no other iteration touches. A
    variable that has a value before the loop, and that every iteration only adds to (``s += x[i]``; also ``-= *= /= &=
    |= ^=``, ``s = min(s, x[i])``, ``max``, ``if x[i] > s: s = x[i]``), is a reduction, with its result after the loop.
    Updates of elements that others may have too (``bins[k[i]] += 1``) are atomic. All else runs as Python.

    Parameters
    ----------
    function : function, optional
        From a file: its source is read.
    **options
        Of `gpu.jit`, for the loops' kernels.

    Returns
    -------
    Parallel, or a decorator that makes one.

    Raises
    ------
    gpu.UnsupportedError
        A loop whose iterations depend on each other: the message shows where.
    """
    if function is None:
        return lambda f: parallel(f, **options)
    checked = check_options(options)
    kept = {name: value for name, value in checked.items() if name not in ("device", "cache")}
    plain = function_of(function, "parallel")
    try:
        return Parallel(plain, kept)  # type: ignore[arg-type]
    except CompileError as error:
        raise error.with_traceback(None) from None  # the message shows the place
