"""`math`, `cmath`, `numpy` and conversions as kernels see them, for the ``python`` device.

What NumPy and CPython do natively is left to them. Here is what a kernel defines otherwise (docs/semantics.md):

* ``math.*`` of a typed float keeps its type; of an integer or a Python number it gives a Python float; a domain error
  or an overflow gives nan or inf, as IEEE 754 has it, and no exception;
* a float that becomes an integer saturates, and nan becomes 0;
* an integer that becomes a narrower integer wraps;
* ``min`` and ``max`` choose as CPython does, and give the type that the arguments have in common;
* ``numpy`` functions give scalars, never arrays of no dimension.
"""

from __future__ import annotations

import builtins
import cmath
import copy
import functools
import math
from collections.abc import Callable
from types import BuiltinFunctionType, MethodType
from typing import Any

import numpy as np

from . import _messages
from ._core import Type
from ._dtypes import DType, RecordType, dtypes
from ._names import running

WEAK = {"weak_bool": bool, "weak_int": int, "weak_float": float, "weak_complex": complex}
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def is_typed_float(x: Any) -> bool:
    """Tell NumPy's float scalars, bfloat16 among them."""
    return isinstance(x, np.floating) or (isinstance(x, np.generic) and x.dtype.name == "bfloat16")


def is_float(x: Any) -> bool:
    """Tell real floating-point numbers, typed or Python's."""
    return isinstance(x, float) or is_typed_float(x)


# ---- conversions to integers


def saturate(x: float, least: int, most: int) -> int:
    """The integer nearest to zero of a float, held between two limits; nan gives 0."""
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return most if x > 0 else least
    return min(max(math.trunc(x), least), most)


def to_integer(value: Any, dtype: np.dtype[Any]) -> Any:
    """A scalar of an integer dtype: floats saturate, integers wrap."""
    info = np.iinfo(dtype)
    if is_float(value):
        return dtype.type(saturate(float(value), int(info.min), int(info.max)))
    if isinstance(value, (int, np.integer, np.bool_)):
        wrapped = int(value) & (2**info.bits - 1)
        return dtype.type(wrapped - 2**info.bits if wrapped > info.max else wrapped)
    return dtype.type(value)


class Converter(type):
    """Stands for ``np.int32`` and its kind: a call converts as a kernel does; else it is dtype and class."""

    dtype: np.dtype[Any]

    def __new__(cls, dtype: np.dtype[Any]) -> Converter:
        bases = (dtype.type,) if dtype.kind in "iu" else ()  # of which a kernel may ask, too
        return super().__new__(cls, dtype.name, bases, {"dtype": dtype})

    def __init__(self, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype.name, (), {})

    def __call__(self, value: Any = 0) -> Any:
        return to_integer(value, self.dtype) if self.dtype.kind in "iu" else self.dtype.type(value)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self.dtype.type)

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self.dtype.type)

    def __eq__(self, other: object) -> bool:
        return bool(self.dtype == (other.dtype if isinstance(other, Converter) else other))

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"<converts to {self.dtype.name}>"


@functools.cache
def converter_of(dtype: np.dtype[Any]) -> Converter:
    """The converter to a dtype."""
    return Converter(dtype)


_ABSTRACT = (np.integer, np.signedinteger, np.timedelta64)  # not what a kernel's integers are converted by


def convert(value: Any, to: DType | None) -> Any:
    """A number as a signature declares it; others, and where it declares nothing, as they are."""
    if to is None or not isinstance(value, (int, float, complex, np.generic)):
        return value
    return converter_of(to.dtype)(value)


class _IntMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, builtins.int)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, builtins.int)


class KernelInt(int, metaclass=_IntMeta):
    """``int`` in a kernel: a float beyond 64 bits saturates, nan gives 0."""

    def __new__(cls, value: Any = 0, *base: Any) -> int:  # type: ignore[misc]
        if not base and is_float(value):
            return saturate(float(value), INT64_MIN, INT64_MAX)
        return builtins.int(value, *base)


def kernel_round(value: Any, ndigits: int | None = None) -> Any:
    """``round`` in a kernel: an infinite or nan argument saturates or gives 0."""
    if ndigits is None and is_float(value) and not math.isfinite(float(value)):
        return saturate(float(value), INT64_MIN, INT64_MAX)
    return round(value) if ndigits is None else round(value, ndigits)


def _choose(choose: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` or ``max`` in a kernel: CPython's choice, in the type that all arguments have in common."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        found = choose(*args, **kwargs)
        if len(args) < 2 or not any(isinstance(a, np.generic) for a in args):
            return found
        dtype = np.result_type(*(a.dtype if isinstance(a, np.generic) else a for a in args))
        if isinstance(found, np.generic) and found.dtype == dtype:
            return found
        try:
            return dtype.type(found)
        except OverflowError:
            return found

    return chosen


def kernel_print(*values: Any, sep: str | None = " ", end: str | None = "\n") -> None:
    """``print`` in a kernel: with the thread in front, if that is asked for."""
    at = running.values or {}
    index = [tuple(at.get(f"gpu.{name}.{axis}", 0) for axis in "xyz") for name in ("blockIdx", "threadIdx")]
    text = (" " if sep is None else sep).join(map(str, values))
    builtins.print(_messages.prefix(*index) + text, end=end)


def kernel_type(value: Any) -> Any:
    """``type`` in a kernel, where the name ``int`` is `KernelInt`, and ``np.int32`` a `Converter`."""
    if isinstance(value, np.integer) and type(value) not in _ABSTRACT:
        return converter_of(value.dtype)
    return KernelInt if type(value) is builtins.int else type(value)


BUILTINS: dict[str, Any] = {
    "int": KernelInt,
    "round": kernel_round,
    "min": _choose(min),
    "max": _choose(max),
    "print": kernel_print,
    "type": kernel_type,
}


# ---- math


def _ieee(name: str) -> Callable[..., float]:
    """What a function gives where CPython raises."""
    numpy_name = {"acos": "arccos", "asin": "arcsin", "acosh": "arccosh", "atanh": "arctanh", "pow": "power"}.get(
        name, name
    )
    if name == "gamma":
        return lambda x: math.copysign(math.inf, x) if x == 0 else math.inf if x > 0 else math.nan
    if name == "lgamma":
        return lambda x: math.inf
    if name == "ldexp":
        return lambda x, exponent: math.copysign(math.inf, x)
    if name in ("fmod", "remainder"):
        return lambda x, y: math.nan
    if name == "log":
        return lambda x, base=math.e: float(
            np.log(np.float64(x)) / (np.float64(1) if base == math.e else np.log(np.float64(base)))
        )
    ufunc = getattr(np, numpy_name, None)
    if ufunc is None:
        return lambda *args: math.nan
    return lambda *args: float(ufunc(*map(np.float64, args)))


def _result_dtype(args: tuple[Any, ...]) -> np.dtype[Any] | None:
    """The dtype of a math function's result; None where it is a Python float."""
    if not any(is_typed_float(a) for a in args):
        return None
    return np.result_type(*(a.dtype if isinstance(a, np.generic) else a for a in args))


def _plain(x: Any) -> Any:
    return float(x) if is_float(x) else int(x) if isinstance(x, (int, np.integer, np.bool_)) else x


WEAK_RESULT = frozenset(
    [
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "isqrt",
        "gcd",
        "lcm",
        "comb",
        "perm",
        "factorial",
        "fsum",
        "prod",
        "dist",
        "sumprod",
    ]
)


def _math_function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(math, name)
    ieee = _ieee(name)

    def call(*args: Any) -> Any:
        plain = [_plain(a) for a in args]
        try:
            return function(*plain)
        except (ValueError, OverflowError, ZeroDivisionError):
            with np.errstate(all="ignore"):
                return ieee(*plain)

    def typed(*args: Any) -> Any:
        dtype = _result_dtype(args)
        found = call(*args)
        return found if dtype is None else dtype.type(found)

    def floor_like(x: Any) -> int:
        x = _plain(x)
        return function(x) if math.isfinite(x) else saturate(x, INT64_MIN, INT64_MAX)

    def first_typed(*args: Any) -> Any:
        dtype = _result_dtype(args[:1])
        found = call(*args)
        return found if dtype is None else dtype.type(found)

    def parts(x: Any) -> tuple[Any, Any]:
        dtype = _result_dtype((x,))
        first, second = function(_plain(x))
        if dtype is not None:
            first, second = dtype.type(first), second if name == "frexp" else dtype.type(second)
        return first, second

    def neighbour(*args: Any) -> Any:
        dtype = _result_dtype(args)
        if dtype is None:
            return function(*map(_plain, args))
        return np.nextafter(*map(dtype.type, args)) if name == "nextafter" else np.spacing(np.abs(args[0]))

    if name in WEAK_RESULT:
        return function
    return {
        "floor": floor_like, "ceil": floor_like, "trunc": floor_like, "ldexp": first_typed,
        "frexp": parts, "modf": parts, "nextafter": neighbour, "ulp": neighbour,
    }.get(name, typed)  # fmt: skip


def _cmath_function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(cmath, name)

    def typed(*args: Any) -> Any:
        found = function(*args)
        single = [a for a in args if isinstance(a, np.generic)]
        if single and all(a.dtype.itemsize <= (8 if a.dtype.kind == "c" else 4) for a in single):
            return (
                np.complex64(found)
                if isinstance(found, complex)
                else np.float32(found)
                if isinstance(found, float)
                else found
            )
        return found

    return typed


# ---- numpy


class NumpyFunction:
    """A NumPy function or ufunc whose results are scalars, and which doesn't warn or raise on IEEE's special values."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function in (np.divide, np.floor_divide, np.remainder, np.divmod):  # debug=True lets these raise
            return _as_scalar(self._function(*args, **kwargs))
        with np.errstate(all="ignore"):
            return _as_scalar(self._function(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _as_scalar(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(map(_as_scalar, found))
    if isinstance(found, np.ndarray) and found.dtype.names is not None:
        return as_array(found)
    return found[()] if isinstance(found, np.ndarray) and found.ndim == 0 else found


# ---- what a value of a global, a closure or a module's attribute becomes


class Namespace:
    """Stands for a module: its attributes go through `replace`."""

    def __init__(self, module: Any, replace: Callable[[Any], Any]) -> None:
        self._module = module
        self._replace = replace

    def __getattr__(self, name: str) -> Any:
        found = self._replace(getattr(self._module, name))
        if isinstance(found, (Converter, NumpyFunction)) or type(found).__name__ == "function":
            setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"{self._module!r}, as kernels see it"


_functions: dict[tuple[str, str], Callable[..., Any]] = {}


def replace_library(value: Any) -> Any:
    """The kernel's version of a function, class or dtype of `math`, `cmath`, `numpy` and `gpu`; others as they are."""
    if isinstance(value, BuiltinFunctionType) and value.__module__ in ("math", "cmath"):
        key = (value.__module__, value.__name__)
        if key not in _functions:
            _functions[key] = (_math_function if key[0] == "math" else _cmath_function)(key[1])
        return _functions[key]
    if isinstance(value, type) and issubclass(value, np.integer) and value not in _ABSTRACT:
        return converter_of(np.dtype(value))
    if isinstance(value, DType):
        return value.dtype if isinstance(value, RecordType) else converter_of(value.dtype)
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names is not None:
        return _records().captured(value)
    if isinstance(value, np.ufunc) or (callable(value) and not isinstance(value, type) and _is_numpy(value)):
        return NumpyFunction(value)
    return value


def _records() -> Any:
    """The module for structured dtypes, which most programs don't have."""
    from . import _pyrecords

    return _pyrecords


def _is_numpy(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"


# ---- arrays


class KernelArray(np.ndarray):
    """An argument: assigning an element converts as a kernel does."""

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, to_element(value, self.dtype))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Sums and extremes are numbers, as those of plain arrays are."""
        return array.view(type(self)) if array.ndim else array[()]


def to_element(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as an element of the dtype holds it."""
    return to_integer(value, dtype) if dtype.kind in "iu" and (is_float(value) or isinstance(value, int)) else value


def as_array(value: np.ndarray[Any, Any]) -> KernelArray:
    """A view of an array, as a kernel's argument is one."""
    return value.view(KernelArray if value.dtype.names is None else _records().RecordArray)


def _with_arguments(value: Any, type_: Type) -> Any:
    """A tuple, a dict, a partial function, a bound method or an instance whose parts are `as_argument`'s."""
    if isinstance(value, functools.partial):
        function, args, keywords = map(as_argument, (value.func, value.args, value.keywords), type_.items)
        return functools.partial(function, *args, **keywords)
    if isinstance(value, MethodType):
        return MethodType(value.__func__, as_argument(value.__self__, type_.items[1].items[0]))
    if isinstance(value, tuple):
        items = [as_argument(v, t) for v, t in zip(value, type_.items, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    named = zip(type_.fields or (), type_.items, strict=True)
    if isinstance(value, dict):
        return {name: as_argument(value[name], t) for name, t in named}
    made = copy.copy(value)
    for name, t in named:
        object.__setattr__(made, name, as_argument(getattr(value, name), t))
    return made


def as_argument(value: Any, type_: Type) -> Any:
    """An argument as the kernel's thread sees it.

    Arrays, also in tuples, become `KernelArray` without a copy; numbers get the type that the specialisation gives
    them.
    """
    if type_.kind == "tuple":
        return _with_arguments(value, type_)
    if type_.kind == "array":
        there = getattr(value, "_host_address", None) is not None  # asarray() of the Numba dialect's arrays copies
        return as_array(value._host_view() if there else np.asarray(value))
    if type_.kind == "pointer":
        from ._pypointers import KernelPointer

        return KernelPointer(int(value), np.dtype(type_.dtype))
    if type_.kind == "record":
        return _records().as_record(value, type_.readonly)
    if type_.kind == "scalar" and type_.dtype is not None:
        dtype = dtypes["bool_" if type_.dtype == "bool" else type_.dtype].dtype
        return value if isinstance(value, np.generic) and value.dtype == dtype else dtype.type(value)
    if type_.kind in WEAK:
        return WEAK[type_.kind](value)
    return value
