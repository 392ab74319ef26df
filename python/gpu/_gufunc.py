"""`guvectorize`: a function of small arrays, applied along the other axes of large ones, as NumPy's gufuncs are."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _elementwise
from ._array import Array, dtype_of
from ._device import device_name
from ._elementwise import device_of, dtype_of_type, empty, is_array, is_time, operand, strided
from ._errors import PerformanceWarning, SignatureError
from ._jit import OPTIONS, check_options, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._dtypes import Signature
    from ._jit import Kernel

_GROUP = re.compile(r"\(\s*((?:\w+\s*(?:,\s*\w+\s*)*)?)\)")
LONELY = 10_000  # elements that a single thread shouldn't go through


class Layout(NamedTuple):
    """The axes of each argument and result, by name or as numbers: ``(m,n),(n)->(m)``."""

    text: str
    ins: tuple[tuple[str, ...], ...]
    outs: tuple[tuple[str, ...], ...]


def parse_layout(text: Any) -> Layout:
    """Read a layout.

    Raises
    ------
    TypeError
        Not text.
    gpu.SignatureError
        Text that can't be read.
    """
    if not isinstance(text, str):
        raise TypeError(f"guvectorize: the layout is text, '(m,n),(n)->(m)', and this is {type(text).__name__}")
    sides = [_GROUP.findall(side) for side in text.split("->")]
    rest = re.sub(r"\s", "", _GROUP.sub("", text))
    groups = [[tuple(re.findall(r"\w+", group)) for group in side] for side in sides]
    if (
        len(sides) != 2
        or not sides[0]
        or not sides[1]
        or rest != "," * (len(sides[0]) - 1) + "->" + "," * (len(sides[1]) - 1)
    ):
        raise SignatureError(
            f"guvectorize: a layout is written '(m,n),(n)->(m)', with () for a number; this is {text!r}"
        )
    return Layout(re.sub(r"\s", "", text), tuple(groups[0]), tuple(groups[1]))


class Core(NamedTuple):
    """The types of a declared signature."""

    ins: tuple[np.dtype[Any], ...]
    outs: tuple[np.dtype[Any], ...]
    as_arrays: tuple[bool, ...]  # arguments ``()`` that the function gets as arrays of one element


class GUFunc:
    """A function of small arrays; made by `gpu.guvectorize`.

    Attributes
    ----------
    signature : str
        The layout.
    nin, nout, nargs : int
    types : list of str
    py_func : function
    """

    max_blocksize = 1 << 30

    def __init__(
        self,
        function: Callable[..., Any],
        layout: Layout,
        signatures: Sequence[Signature],
        dialect: str,
        options: dict[str, Any],
    ) -> None:
        self.py_func, self.layout, self.dialect, self.options = function, layout, dialect, options
        self.__wrapped__ = function
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name))
        self.nin, self.nout = len(layout.ins), len(layout.outs)
        self.nargs, self.signature = self.nin + self.nout, layout.text
        count = function.__code__.co_argcount
        if count != self.nargs and not function.__code__.co_flags & 0x4:
            raise TypeError(
                f"{self.__name__}() has {count} parameters, "
                f"and {layout.text} has {self.nin} arguments and {self.nout} results"
            )
        from .signature import spread

        self._signatures = signatures
        self._cores = [self._core_of(spread(s, self.nargs)) for s in signatures]
        self._kernels: dict[Any, Kernel] = {}

    def __reduce__(self) -> str | tuple[Any, ...]:
        from ._byvalue import by_value, is_found

        if is_found(self):
            return self.__qualname__
        return GUFunc, (by_value(self.py_func), self.layout, self._signatures, self.dialect, self.options)

    def __copy__(self) -> GUFunc:
        return self  # as a function is its own copy

    def __deepcopy__(self, memo: dict[int, Any]) -> GUFunc:
        return self

    def _core_of(self, signature: Signature) -> Core:
        if signature.result is not None:
            raise TypeError(
                f"guvectorized functions cannot return values: signature {signature!r} "
                f"specifies {signature.result!r} return type"
            )
        if len(signature.args) != self.nargs:
            raise TypeError(
                f"{self.__name__}: the signature has {len(signature.args)} types, "
                f"and {self.layout.text} takes {self.nargs}"
            )
        for t, axes in zip(signature.args, self.layout.ins + self.layout.outs, strict=True):
            fits = t.kind == "array" and (t.ndim == len(axes) or (t.ndim == 1 and not axes))
            if not fits and (axes or (t.kind != "scalar" and not is_time(t))):
                raise TypeError(f"{self.__name__}: {t!r} isn't the type of an operand ({','.join(axes)})")
        if any(t.kind != "array" for t in signature.args[self.nin :]):
            raise TypeError(f"{self.__name__}: results are written to arrays; one of () is an array of one element")
        types = [dtype_of_type(t) for t in signature.args]
        as_arrays = tuple(
            t.kind == "array" and not axes for t, axes in zip(signature.args, self.layout.ins, strict=False)
        )
        return Core(tuple(types[: self.nin]), tuple(types[self.nin :]), as_arrays)

    @property
    def types(self) -> list[str]:
        """The declared types, as ``"ff->f"``."""
        return [f"{''.join(d.char for d in c.ins)}->{''.join(d.char for d in c.outs)}" for c in self._cores]

    def __repr__(self) -> str:
        return f"<gpu.guvectorize '{self.__name__}' {self.layout.text}>"

    # ---- calls

    def __call__(self, *args: Any, out: Any = None, stream: Any = None, axes: None = None) -> Any:
        """Apply the function along the axes that the layout doesn't name, which broadcast.

        Parameters
        ----------
        *args : array_like
            The arguments; after them the results' arrays, if they aren't given as `out`.
        out : array or tuple of arrays, optional
        stream : Stream, optional
        axes : None
            The layout's axes are the last ones.

        Returns
        -------
        array or tuple of arrays
            On a device if an argument is.

        Raises
        ------
        ValueError
            Shapes that don't fit the layout.
        TypeError
            No signature takes the arguments.
        """
        if axes is not None:
            raise TypeError(f"{self.__name__}: axes isn't supported: move the axes of the layout to the end")
        given = self._outputs(args, out)
        ins = [operand(x, self.dialect == "numba") for x in args[: self.nin]]
        core = self._choose(ins, given)
        ins = [self._converted(x, d, k) for k, (x, d) in enumerate(zip(ins, core.ins, strict=True))]
        sizes, loop = self._sizes(ins, given)
        device = device_of([*ins, *given])
        outs = []
        for k, (o, d, names) in enumerate(zip(given, core.outs, self.layout.outs, strict=True)):
            shape = (*loop, *self._core_shape(names, sizes, k))
            outs.append(self._output(o, shape, d, device, stream, ins))
        if all(0 not in o.shape[: len(loop)] for o in outs):
            self._run(core, ins, outs, loop, device, stream)
        for o, target in zip(given, outs, strict=True):
            if o is not None and target is not o:
                o[...] = target
        results = [o if o is not None else t for o, t in zip(given, outs, strict=True)]
        results = [r[()] if isinstance(r, np.ndarray) and not r.ndim else r for r in results]
        return results[0] if self.nout == 1 else tuple(results)

    def _outputs(self, args: tuple[Any, ...], out: Any) -> list[Any]:
        if len(args) not in (self.nin, self.nargs):
            takes = f"gufunc accepts {self.nin} positional arguments (inputs), "
            takes += f"or {self.nargs} positional arguments (inputs and outputs)"
            raise TypeError(f"{self.__name__}: {takes}. Got {len(args)} positional argument{'s' * (len(args) != 1)}.")
        if out is not None and len(args) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if out is None:
            return list(args[self.nin :]) or [None] * self.nout
        outs = list(out) if isinstance(out, tuple) else [out]
        if len(outs) != self.nout:
            raise ValueError(f"{self.__name__} has {self.nout} outputs, and {len(outs)} were given")
        return outs

    def _choose(self, ins: Sequence[Any], outs: Sequence[Any]) -> Core:
        """The first signature that takes the arguments safely; without signatures, their own types."""
        kinds = [np.asarray(x).dtype if not hasattr(x, "dtype") else x.dtype for x in ins]
        if not self._cores:
            if any(o is None for o in outs):
                raise TypeError(
                    f"{self.__name__} is declared without types, so nothing says the type of its result: give out="
                )
            return Core(tuple(kinds), tuple(o.dtype for o in outs), (False,) * self.nin)
        for only_arrays in (False, True):
            for core in self._cores:
                pairs = zip(ins, kinds, core.ins, strict=True)
                if all((only_arrays and not is_array(x)) or _safe(x, k, d) for x, k, d in pairs):
                    return core
        if self.dialect == "numba" and len(self._cores) == 1:
            return self._cores[0]  # which converts what is on the host
        there = "; ".join(f"({', '.join(map(str, c.ins))})" for c in self._cores)
        raise TypeError(f"{self.__name__}: no signature takes ({', '.join(map(str, kinds))}) safely: there are {there}")

    def _converted(self, x: Any, d: np.dtype[Any], index: int) -> Any:
        if not is_array(x):
            return np.asarray(x).astype(d)
        if x.dtype == d:
            return x
        if isinstance(x, Array) and not np.can_cast(x.dtype, d, "safe"):
            what = f"argument {index + 1} is {x.dtype}, and the signature says {d}"
            raise TypeError(
                f"{self.__name__}: {what}: a device array does not support .astype() here; convert it before the call"
            )
        return x.astype(d)

    def _sizes(self, ins: Sequence[Any], outs: Sequence[Any]) -> tuple[dict[str, int], tuple[int, ...]]:
        """The length of each named axis, and the shape of the other axes."""
        sizes: dict[str, int] = {}
        loops = []
        named = [("Input", k, x, axes) for k, (x, axes) in enumerate(zip(ins, self.layout.ins, strict=True))]
        named += [
            ("Output", k, o, axes)
            for k, (o, axes) in enumerate(zip(outs, self.layout.outs, strict=True))
            if o is not None
        ]
        for what, k, x, axes in named:
            if x.ndim < len(axes):
                raise ValueError(
                    f"{self.__name__}: {what} operand {k} does not have enough dimensions "
                    f"(has {x.ndim}, gufunc core with signature {self.layout.text} requires {len(axes)})"
                )
            first = x.ndim - len(axes)
            for at, (name, n) in enumerate(zip(axes, x.shape[first:], strict=True)):
                known = int(name) if name.isdigit() else sizes.setdefault(name, n)
                if known != n:
                    raise ValueError(
                        f"{self.__name__}: {what} operand {k} has a mismatch in its core dimension {at}, "
                        f"with gufunc signature {self.layout.text} (size {n} is different from {known})"
                    )
            loops.append(x.shape[:first])
        loop = _elementwise.conforms(loops, self.__name__)
        if self.dialect == "numba" and any(o is not None for o in outs):  # there, an output may lack axes of length 1
            most = max(len(shape) for shape in loops[len(ins) :])
            while len(loop) > most and loop[0] == 1:
                loop = loop[1:]
        return sizes, loop

    def _core_shape(self, names: tuple[str, ...], sizes: dict[str, int], k: int) -> tuple[int, ...]:
        for name in names:
            if not name.isdigit() and name not in sizes:
                raise ValueError(f"{self.__name__}: nothing says how long the axis {name} of output {k} is: give out=")
        return tuple(int(name) if name.isdigit() else sizes[name] for name in names)

    def _output(
        self, o: Any, shape: tuple[int, ...], d: np.dtype[Any], device: str | None, stream: Any, ins: Sequence[Any]
    ) -> Any:
        """The array that the kernel writes: the one given, unless it has other types or lies where an argument does."""
        if o is None:
            return empty(shape, d, "C", device, stream)
        if tuple(o.shape) != shape:
            raise ValueError(f"{self.__name__}: out has the shape {tuple(o.shape)}, and the result {shape}")
        same = isinstance(o, Array) or (isinstance(o, np.ndarray) and o.flags.aligned)
        kind = dtype_of(o.dtype)
        if not np.can_cast(d, kind, "same_kind"):
            raise TypeError(
                f"{self.__name__}: cannot cast the result from {d!r} to {kind!r} with casting rule 'same_kind'"
            )
        clash = any(
            is_array(x) and isinstance(x, Array) == isinstance(o, Array) and _elementwise.overlap(x, o) for x in ins
        )
        return o if same and kind == d and not clash else empty(shape, d, "C", device, stream)

    # ---- launching

    def _run(
        self, core: Core, ins: list[Any], outs: list[Any], loop: tuple[int, ...], device: str | None, stream: Any
    ) -> None:
        """Merge the loop's axes where memory allows, and start a thread for each of its elements."""
        arrays = [*outs, *ins]
        cores = [len(axes) for axes in self.layout.outs + self.layout.ins]
        steps = []
        for x, n in zip(arrays, cores, strict=True):
            outer = x.shape[: x.ndim - n], x.strides[: x.ndim - n]
            missing = len(loop) - len(outer[0])
            if missing < 0:  # axes of length 1
                outer, missing = (outer[0][-missing:], outer[1][-missing:]), 0
            own = [0 if k == 1 and whole != 1 else s for k, s, whole in zip(*outer, loop[missing:], strict=True)]
            steps.append([0] * missing + own)
        sizes, merged = _elementwise.merged(loop, steps)
        one = [True] * self.nout + list(core.as_arrays)  # a () that is passed as an array of one element
        views = []
        for x, n, s, wrap in zip(arrays, cores, merged, one, strict=True):
            inner, gaps = x.shape[x.ndim - n :], x.strides[x.ndim - n :]
            if not n and wrap:
                inner, gaps = (1,), (x.itemsize,)
            views.append(strided(x, (*sizes, *inner), (*s, *gaps)))
        key = (len(sizes), core.as_arrays)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._kernel(len(sizes))
        threads = 1
        for n in sizes:
            threads *= n
        if threads == 1 and max(x.size for x in arrays) > LONELY:
            warnings.warn(
                f"{self.__name__}: Grid size 1 is low occupancy: a single thread goes through all elements, since "
                f"guvectorize shares out the axes that aren't in the layout {self.layout.text}",
                PerformanceWarning,
                stacklevel=3,
            )
        import gpu

        with gpu.device(device or device_name()):
            kernel.forall(threads, 0, stream)(threads, tuple(sizes), *views)

    def _kernel(self, ndim: int) -> Kernel:
        names = [f"o{k}" for k in range(self.nout)] + [f"x{k}" for k in range(self.nin)]
        lines = [f"def kernel(threads, sizes, {', '.join(names)}):", "    at = gpu.grid(1)", "    if at < threads:"]
        for k in range(ndim - 1, 0, -1):
            lines += [f"        i{k} = at % sizes[{k}]", f"        at = at // sizes[{k}]"]
        lines.append("        i0 = at")
        index = ", ".join(f"i{k}" for k in range(ndim))
        passed = [f"{name}[{index}]" for name in names[self.nout :] + names[: self.nout]]
        lines.append(f"        function({', '.join(passed)})")
        source = "\n".join(lines) + "\n"
        options = {name: self.options[name] for name in OPTIONS if name not in ("device", "cache")}
        from ._operations import device_function

        names_in = {"function": device_function(self.py_func, self.dialect)}
        return _elementwise.make_kernel(self.__name__, source, names_in, self.dialect, options)


def _safe(x: Any, kind: np.dtype[Any], d: np.dtype[Any]) -> bool:
    if type(x) in (bool, int, float, complex):
        return bool(np.can_cast(np.result_type(x, d), d, "safe"))
    return bool(np.can_cast(kind, d, "safe"))


def guvectorize(*args: Any, **options: Any) -> Any:
    """Make a function of large arrays of a function of small ones.

    Parameters
    ----------
    signatures : str or list, optional
        ``["void(float32[:], float32[:], float32[:])"]``: the first that the arguments convert to safely is taken.
        Without them it is compiled for the types that it is called with, and `out` must be given.
    layout : str
        The axes of each argument and result that the function works on, ``"(m,n),(n)->(m)"``: by name, equal names for
        equal lengths; ``()`` a number; numbers for fixed lengths. The axes before them are looped over, in parallel.
    **options
        Those of `gpu.jit`.

    Returns
    -------
    A decorator that makes a `GUFunc` of a function, whose last parameters are the arrays to write the results to.

    Examples
    --------
    >>> @gpu.guvectorize("void(f4[:], f4[:])", "(n)->(n)")
    ... def normalised(x, out): ...
    """
    return make_guvectorize("numpy", args, options)


def make_guvectorize(dialect: str, args: tuple[Any, ...], options: dict[str, Any], cls: type[GUFunc] = GUFunc) -> Any:
    """`guvectorize` of both dialects."""
    from ._ufunc import signatures_of

    if not 1 <= len(args) <= 2:
        raise TypeError("guvectorize takes signatures and a layout: @guvectorize(['void(f4[:], f4[:])'], '(n)->(n)')")
    layout = parse_layout(args[-1])
    signatures = signatures_of(args[0]) if len(args) == 2 else ()
    checked = check_options(options)

    def decorate(function: Any) -> GUFunc:
        return cls(function_of(function, "guvectorize"), layout, signatures, dialect, checked)

    return decorate
