"""`vectorize`: a function of scalars as one of arrays, with NumPy's rules of broadcasting, types and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _elementwise
from ._elementwise import Elementwise, compute, dtype_of_type, is_array, operand, quick, type_of
from ._jit import OPTIONS, Kernel, check_options, declared_types, function_of
from ._operations import check_identity, is_library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._dtypes import Signature

_KINDS = "biufc"  # of dtypes, each of which holds Python's numbers of the ones before


class Loop:
    """A function for operands of certain types.

    Attributes
    ----------
    ins, outs : tuple of dtype
        What the arguments are converted to (None: they have their own types), and what comes out.
    """

    def __init__(self, ufunc: UFunc, ins: Sequence[Any], outs: Sequence[np.dtype[Any]], casts: bool) -> None:
        self.ins, self.outs = tuple(ins), tuple(outs)
        options = {name: ufunc.options[name] for name in OPTIONS if name not in ("device", "cache")}
        wanted = self.ins if casts else (None,) * ufunc.nin
        results = self.outs if casts else (None,) * ufunc.nout
        self.run = Elementwise(ufunc, ufunc.__name__, ufunc.nout, wanted, results, ufunc.dialect, options)

    def takes(self, operands: Sequence[Any]) -> bool:
        """Tell whether operands convert to the loop's types without loss."""
        return all(_converts(x, d) for x, d in zip(operands, self.ins, strict=True))

    def __repr__(self) -> str:
        return f"{''.join(d.char for d in self.ins)}->{''.join(d.char for d in self.outs)}"


def _converts(x: Any, d: np.dtype[Any]) -> bool:
    """Whether an operand converts to a dtype safely; a Python number does if its kind does and it fits."""
    if is_array(x) or isinstance(x, np.generic):
        return bool(np.can_cast(x.dtype, d, "safe"))
    if isinstance(x, bool):
        return True
    if isinstance(x, int) and d.kind in "iu":
        info = np.iinfo(d)
        return bool(info.min <= x <= info.max)
    kind = {int: "i", float: "f", complex: "c"}[type(x)]
    return _KINDS.find(d.kind if d.kind != "V" else "f") >= _KINDS.find(kind)


class UFunc(Kernel):
    """A function of scalars, called with arrays; made by `gpu.vectorize`. Kernels call it as a device function.

    Attributes
    ----------
    nin, nout, nargs : int
        Numbers of arguments, of results and of both.
    types : list of str
        The types that it is compiled for, as a NumPy ufunc lists them: ``"ff->f"``.
    identity : number or None
        What `reduce` of nothing gives.
    signature : None
        As of NumPy's ufuncs of scalars.
    max_blocksize : int
        Accepted, as Numba has it.
    """

    signature = None
    max_blocksize = 1 << 30
    _first_safe = True  # of its signatures, kernels take the first that the arguments convert to safely

    def __init__(
        self,
        function: Callable[..., Any],
        dialect: str,
        options: dict[str, Any],
        signatures: tuple[Signature, ...],
        identity: Any,
    ) -> None:
        super().__init__(function, dialect, {**options, "device": True, "signatures": ()})
        code = function.__code__
        if code.co_flags & 0x4 and not signatures:  # CO_VARARGS
            raise TypeError(f"vectorize: {self.__name__} takes *args; a signature says how many")
        self.nin = len(signatures[0].args) if signatures else code.co_argcount
        self.identity = check_identity(identity)
        self._signatures = signatures
        self.nout = 0  # known by the first loop
        self._loops = [self._declared_loop(s) for s in signatures]
        self._found: dict[Any, Loop] = {}
        if signatures and not code.co_flags & 0x4:
            self._declared = declared_types(function, signatures)  # kernels that call it convert to them
        if not self.nin:
            raise TypeError(f"vectorize: {self.__name__} has no parameters")

    def __reduce__(self) -> str | tuple[Any, ...]:
        from ._byvalue import is_found, reduce_kernel

        return self.__qualname__ if is_found(self) else reduce_kernel(self, self._signatures, self.identity)

    # ---- loops

    def _declared_loop(self, signature: Signature) -> Loop:
        """The loop of a signature, compiled as far as its types are concerned."""
        if len(signature.args) != self.nin:
            raise TypeError(f"vectorize: the signatures of {self.__name__} have different numbers of arguments")
        if any(t.kind in ("array", "tuple", "none") for t in signature.args):
            raise TypeError(f"vectorize: {signature!r}: the arguments of {self.__name__} are scalars")
        found = _core.result_type(self, signature.args)
        results = _elementwise.scalar_types(found if signature.result is None else signature.result, self.__name__)
        self._set_nout(results)
        return Loop(self, map(dtype_of_type, signature.args), [dtype_of_type(t) for t in results], True)

    def _set_nout(self, results: Sequence[Any]) -> None:
        if self.nout and self.nout != len(results):
            raise TypeError(f"{self.__name__}() returns {len(results)} results for these types, and {self.nout} before")
        self.nout = len(results)

    def _loop(self, operands: Sequence[Any], dtype: Any) -> Loop:
        """The loop for operands."""
        given = [getattr(x, "dtype", None) for x in operands]
        key = (*[type(x) if d is None else d for x, d in zip(operands, given, strict=True)], dtype)
        if self._loops:
            if int in key:  # whether it fits depends on the number
                return self._choose(operands, dtype)
            key = (*key, *map(is_array, operands))
        loop = self._found.get(key)
        if loop is None and self._loops:
            loop = self._found[key] = self._choose(operands, dtype)
        if loop is None:
            types = [type_of(x) for x in operands]
            if dtype is not None:
                types = [_core.Type("scalar", dtype=np.dtype(dtype).name)] * self.nin
            results = _elementwise.scalar_types(_core.result_type(self, tuple(types)), self.__name__)
            self._set_nout(results)
            outs = [dtype_of_type(t) for t in results]
            loop = self._found[key] = Loop(self, map(dtype_of_type, types), outs, dtype is not None)
        return loop

    def _choose(self, operands: Sequence[Any], dtype: Any) -> Loop:
        """The first declared loop that takes the operands safely, as NumPy chooses."""
        loops = [loop for loop in self._loops if dtype is None or loop.outs[0] == np.dtype(dtype)]
        typed = operands
        if not any(is_array(x) or isinstance(x, np.generic) for x in operands):
            typed = [np.asarray(x)[()] for x in operands]
        if self.dialect == "numba" and any(map(is_array, operands)):  # scalars are converted to what arrays ask for
            pairs = [[(x, d) for x, d in zip(operands, loop.ins, strict=True) if is_array(x)] for loop in loops]
            same = [loop for loop, of in zip(loops, pairs, strict=True) if all(x.dtype == d for x, d in of)]
            safe = [loop for loop, of in zip(loops, pairs, strict=True) if all(_converts(x, d) for x, d in of)]
        else:
            same, safe = [], [loop for loop in loops if loop.takes(typed)]
            if self.dialect == "numba" and not any(map(is_array, operands)):  # one signature takes any scalars
                safe = safe or loops[: len(loops) == 1]
        if same or safe:
            return (same or safe)[0]
        if dtype is not None and loops:
            return loops[0]
        given = ", ".join(str(type_of(x)) for x in operands)
        wanted = "; ".join(f"({', '.join(map(str, loop.ins))})" for loop in self._loops)
        what = f" with a result of {np.dtype(dtype)}" if dtype is not None else ""
        advice = f"; dtype='{self._loops[0].outs[0]}' takes one all the same, astype converts" if dtype is None else ""
        raise TypeError(f"{self.__name__}: no signature{what} takes ({given}) safely: there are {wanted}{advice}")

    @property
    def nargs(self) -> int:
        """Arguments and results together."""
        return self.nin + (self.nout or 1)

    @property
    def ntypes(self) -> int:
        """How many types there are."""
        return len(self.types)

    @property
    def types(self) -> list[str]:
        """The types, as ``"ff->f"``."""
        return list(map(repr, self._loops or self._found.values()))

    # ---- calls

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: str = "K",
        stream: Any = None,
    ) -> Any:
        """Compute each element.

        Parameters
        ----------
        *args : array_like
            `nin` arrays or scalars, which broadcast; after them the outputs, if they aren't given as `out`.
        out : array or tuple of arrays, optional
            Where the results go; of the shape that the arguments broadcast to, or a larger one.
        where : array_like of bool
            Elements where it is False keep what they were.
        dtype : dtype, optional
            To compute in.
        casting : str
            What a result may be converted by to the dtype of `out`.
        order : str
            ``"C"``, ``"F"``, or ``"K"``: as the arguments have it.
        stream : Stream, optional

        Returns
        -------
        array, scalar or tuple of them
            A `gpu.Array` if an argument is an array of a device, else of NumPy.

        Raises
        ------
        TypeError
            No signature takes the arguments, or a result can't be converted to `out`.
        ValueError
            The shapes don't broadcast.
        gpu.CompileError
        """
        args, out = self._outputs(args, out)
        ins = [operand(x, self.dialect == "numba") for x in args]
        loop = self._loop(ins, dtype)
        if where is True and order == "K" and stream is None and casting == "same_kind":
            found = quick(loop.run, loop.outs, ins, out)
            if found is not None:
                return found
        outs = list(out) if out else [None] * self.nout
        if len(outs) != self.nout:
            raise ValueError(f"{self.__name__}() has {self.nout} outputs, and {len(outs)} were given")
        return compute(loop.run, loop.outs, ins, outs, where, casting, order, stream, self.__name__)

    def _outputs(self, args: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Arguments and outputs, which may stand among the arguments."""
        rest = args[self.nin :]
        if len(args) < self.nin or (self.nout and len(rest) > self.nout):
            takes = f"takes from {self.nin} to {self.nargs} positional arguments"
            raise TypeError(f"{self.__name__}() {takes} but {len(args)} were given")
        if rest and out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        if out is not None:
            rest = out if isinstance(out, tuple) else (out,)
        return args[: self.nin], rest

    # ---- methods of NumPy's ufuncs

    def _binary(self, method: str) -> None:
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        stream: Any = None,
    ) -> Any:
        """Combine elements along an axis by the function, which must be associative; see `gpu.reduce`.

        What `where` leaves out is taken for the identity, which there must be.
        """
        from ._operators import select
        from ._reduce import reduce

        self._binary("reduce")
        initial = self.identity if initial is None else initial
        if where is not True:
            if self.identity is None:
                raise ValueError(
                    f"{self.__name__} has no identity, which stands for what where leaves out: vectorize(identity=...)"
                )
            found = operand(array)
            array = select(found if is_array(found) else np.atleast_1d(found), where, self.identity, self.__name__)
        return reduce(self, array, axis, init=initial, dtype=dtype, out=out, keepdims=keepdims, stream=stream)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None, *, stream: Any = None) -> Any:
        """All partial results along an axis; the function must be associative. See `gpu.scan`."""
        from ._reduce import scan

        self._binary("accumulate")
        return scan(self, array, axis=axis, dtype=dtype, out=out, stream=stream)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        """The function of each element of one array with each of another."""
        self._binary("outer")
        a, b = operand(a), operand(b)
        if is_array(a) and is_array(b):
            a = a.reshape(*a.shape, *(1,) * b.ndim)
        return self(a, b, **kwargs)

    def at(self, *args: Any, **kwargs: Any) -> None:
        """Refused: an update of elements that may repeat needs `gpu.atomic`."""
        raise TypeError(f"{self.__name__}.at isn't supported: write a kernel with gpu.atomic")

    def reduceat(self, *args: Any, **kwargs: Any) -> None:
        """Refused: reduce the slices one by one."""
        raise TypeError(f"{self.__name__}.reduceat isn't supported: use {self.__name__}.reduce on slices")

    def __repr__(self) -> str:
        return f"<gpu.vectorize '{self.__name__}'>"


# ---- the decorator

# Options of Numba's vectorize that change nothing here.
_ACCEPTED = {
    "target": ("cuda", "cpu", "parallel"),
    "nopython": (True,),
    "forceobj": (False,),
    "inline": ("never", "always"),
}


def vectorize(signatures: Any = None, /, *, identity: Any = None, **options: Any) -> Any:
    """Make a function of arrays of a function of scalars; with or without parentheses.

    Parameters
    ----------
    signatures : function, str or list, optional
        The function (``@gpu.vectorize``), compiled for the types that it is called with; or signatures
        (``@gpu.vectorize(["float32(float32, float32)", "float64(float64, float64)"])``): the first that the arguments
        convert to safely is taken, as NumPy does.
    identity : number, optional
        What a reduction of nothing gives.
    **options
        Those of `gpu.jit`.

    Returns
    -------
    UFunc, or a decorator that makes one.

    Raises
    ------
    TypeError
        An unknown option, or not a Python function.
    gpu.SignatureError, gpu.CompileError
        For explicit signatures.
    """
    return make_vectorize("numpy", signatures, identity, options)


def make_vectorize(dialect: str, first: Any, identity: Any, options: dict[str, Any], cls: type[UFunc] = UFunc) -> Any:
    """`vectorize` of both dialects."""
    if isinstance(first, Kernel) or type(first).__name__ == "function":
        return _make(cls, dialect, first, (), identity, options)
    if is_library(first):
        name = getattr(first, "__name__", "f")
        raise TypeError(
            f"vectorize takes a Python function, such as lambda x: {name}(x), and this is a function of a library; "
            f"gpu.map({name}, x) takes those, too"
        )
    parsed = () if first is None else signatures_of(first)
    return lambda function: _make(cls, dialect, function, parsed, identity, options)


def signatures_of(given: Any) -> tuple[Signature, ...]:
    """One signature, or a list of them."""
    from .signature import parse, parse_many

    if isinstance(given, (list, tuple)) and not _is_one(given):
        return tuple(parse(s) for s in given)
    return parse_many(given)


def _is_one(signatures: Any) -> bool:
    """A list or tuple of types is one signature; of texts and signatures, several."""
    from ._dtypes import Signature

    return not all(isinstance(s, (str, Signature, tuple, list)) for s in signatures)


def _make(
    cls: type[UFunc], dialect: str, function: Any, signatures: Any, identity: Any, options: dict[str, Any]
) -> UFunc:
    own = function.options if isinstance(function, Kernel) else {}
    given = {name: value for name, value in own.items() if name in OPTIONS} | options
    for name, allowed in _ACCEPTED.items():
        if name in given and given.pop(name) not in allowed:
            raise TypeError(f"vectorize: {name} is one of {', '.join(map(repr, allowed))}")
    checked = check_options(given)
    return cls(function_of(function, "vectorize"), dialect, checked, signatures, identity)
