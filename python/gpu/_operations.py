"""What elements are combined by: operations by name, and functions of the user's, NumPy's, `math`'s and `operator`'s.

Functions are recognised when they come again, so that they are compiled once.
"""

from __future__ import annotations

import builtins
import operator
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._jit import Kernel, check_options, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_KEPT = 256  # of operations and functions that were compiled
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


# Modules whose names mean the same at every call.
_LIBRARIES = ("numpy", "math", "cmath", "operator", "gpu", "numba")


def identity_of(function: Any, callers: tuple[Any, ...] = ()) -> Any:
    """What is equal for functions that are the same when compiled: a lambda that is made again isn't compiled again.

    They have the same code, and what they read from outside is the same: closed-over variables, defaults, and globals.
    """
    if type(function).__name__ != "function":
        return function if callable(function) and type(function).__hash__ else id(function)
    values = list(function.__defaults__ or ())
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # an empty cell
        return function
    scope = function.__globals__
    values += [scope[name] for name in _names_in(function.__code__) if name in scope]
    callers = (*callers, function)
    parts = tuple(_same(value, callers) for value in values)
    changed = function.__kwdefaults__ or any(part is None for part in parts)
    return function if changed else (function.__code__, id(scope), parts)


def _names_in(code: CodeType) -> list[str]:
    """The globals that a function may read; names of attributes are among them."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names_in(constant)
    return names


def _same(value: Any, callers: tuple[Any, ...]) -> Any:
    """What is equal for values that mean the same in code; None for one that may have changed."""
    if _is_plain(value):
        return _exactly(value)
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__.partition(".")[0] in _LIBRARIES else None
    if type(value).__name__ == "function":
        known = callers.index(value) if value in callers else identity_of(value, callers)
        return None if known is value else known
    return value if callable(value) and type(value).__hash__ else None


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN or isinstance(value, (np.number, np.bool_))


def _exactly(value: Any) -> Any:
    """What tells -0.0 from 0.0, 1 from True, and a nan from no other."""
    if type(value) is tuple:
        return tuple(map(_exactly, value))
    return type(value), value.tobytes() if isinstance(value, np.generic) else repr(value)


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
    if isinstance(function, Kernel) and function.options["device"]:
        return function
    key: Any = (function, nargs, dialect) if is_library(function) else (identity_of(function), dialect)
    known = _device_functions.get(key)
    if known is None:
        plain = _call_of(function, nargs) if is_library(function) else function
        known = keep(_device_functions, key, _device_function(plain, dialect))
    return known


def _call_of(function: Any, nargs: int) -> Callable[..., Any]:
    """A Python function that calls one of a library."""
    names = ", ".join(f"a{k}" for k in range(nargs))
    scope = {"function": function, "__name__": "__main__"}
    exec(f"def call({names}):\n    return function({names})\n", scope)
    call: Any = scope["call"]
    call.__name__ = call.__qualname__ = function.__name__
    return call  # type: ignore[no-any-return]


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
OBJECTS = {
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
        if op in OBJECTS:
            return NAMED[OBJECTS[op]]
    except TypeError:  # not hashable: no function either
        pass
    identity = None if is_library(op) else check_identity(getattr(op, "identity", None))
    key = (op if is_library(op) else identity_of(op), dialect, _exactly(identity))
    known = _ops.get(key)
    return keep(_ops, key, _op_of_function(op, dialect)) if known is None else known


def check_identity(value: Any) -> Any:
    """What an operation starts from: a number or None, as which ``"reorderable"`` stands in Numba.

    Raises
    ------
    TypeError
        Neither.
    """
    if value is None or (isinstance(value, str) and value == "reorderable"):
        return None
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise TypeError(f"the identity of an operation is a number, not {value!r}")
    return value


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
    return Op(
        function.__name__,
        kernel,
        _commutes(function),
        check_identity(getattr(op, "identity", None)),
        dialect=kernel.dialect,
    )


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
