"""Numba's type names: ``types.float32[:]``, ``types.Array(types.int32, 2, "C")``, ``types.void(...)``."""

from __future__ import annotations

from . import _core
from ._dtypes import (
    DType,
    Pointer,
    RecordType,
    Signature,
    TupleType,
    Void,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtypes,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from ._dtypes import from_dtype as from_dtype
from .signature import ALIASES, one_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

globals().update({name: DType(of) for name, of in ALIASES.items() if name.isidentifier() and name not in dtypes})
none = void
# What types of the host are: numba.types has them under names with these prefixes.
_OF_PYTHON = {
    "bool": bool_,
    "np_long": int64,
    "np_ulong": uint64,
    "py_bool": bool_,
    "py_int": int64,
    "py_float": float64,
    "py_complex": complex128,
}
_PREFIXES = ("np_", "c_", "py_")
_OF_CONSTANTS = ("BooleanLiteral", "IntegerLiteral", "Literal", "StringLiteral", "literal", "unliteral")


def inside() -> frozenset[str]:
    """Names that only Numba's compiler and its extensions use; a look finds a stand-in."""
    from ._numbatypes import names

    return names() | {"bool"}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    prefix = next((p for p in _PREFIXES if name.startswith(p)), "")
    found = _OF_PYTHON.get(name) or (globals().get(name[len(prefix) :]) if prefix else None)
    if not isinstance(found, (DType, frozenset)):
        from ._numbatypes import names, stand_in
        from .cuda._refused import refusal

        if name not in names():
            raise refusal("types", name)
        if name in _OF_CONSTANTS:
            from . import _literals

            found = getattr(_literals, name)
        else:
            found = stand_in(name, Type)
    globals()[name] = found
    return found


class _Kind(type):
    """Classes that stand for Numba's classes of types: what a type is decides `isinstance`, not its class."""

    _test: Any

    def __instancecheck__(cls, value: object) -> bool:
        if cls in type(value).__mro__:  # of a class that a program derived
            return True
        kind = value._type if isinstance(value, (DType, TupleType)) else value
        known = "_test" in vars(cls) or cls.__module__ == __name__  # a program's class has its own types alone
        return known and isinstance(kind, (_core.Type, Void)) and cls._test(kind)


def _scalar(*starts: str) -> Any:
    return staticmethod(lambda kind: getattr(kind, "kind", "") == "scalar" and kind.dtype.startswith(starts))


class Type(metaclass=_Kind):
    """Any type. A class derived from it makes types by name that no kernel can use: they are refused where one does.

    Parameters
    ----------
    name : str
    """

    _test = staticmethod(lambda kind: True)

    def __init__(self, name: str = "", *args: Any, **kwargs: Any) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name if isinstance(self.name, str) else f"{type(self).__name__}({self.name!r})"


class Number(Type):
    """A number of any kind but bool."""

    _test = _scalar("int", "uint", "float", "bfloat", "complex")


class Integer(Type):
    """An integer."""

    _test = _scalar("int", "uint")


class Float(Type):
    """A real floating point number."""

    _test = _scalar("float", "bfloat")


class Complex(Type):
    """A complex number."""

    _test = _scalar("complex")


class Boolean(Type):
    """A bool."""

    _test = _scalar("bool")


class NoneType(Type):
    """The type of None."""

    _test = staticmethod(lambda kind: isinstance(kind, Void) or kind.kind == "none")


class BaseTuple(Type):
    """A tuple of any types."""

    _test = staticmethod(lambda kind: getattr(kind, "kind", "") == "tuple")


class Array(Type):
    """The type of an array: ``Array(dtype, ndim, layout, readonly=False)``.

    Parameters
    ----------
    dtype : DType
    ndim : int
        0 to 16.
    layout : str
        ``"C"``, ``"F"`` or ``"A"`` (any strides).
    readonly : bool
        A kernel that writes it doesn't compile.
    aligned : bool
        True: elements lie at multiples of their size. Those of records needn't.
    """

    _test = staticmethod(lambda kind: getattr(kind, "kind", "") == "array")

    def __new__(  # type: ignore[misc]
        cls, dtype: Any, ndim: int, layout: Literal["C", "F", "A"], readonly: bool = False, aligned: bool = True
    ) -> _core.Type:
        """Make the type."""
        element = one_type(dtype)
        if not aligned and element.kind != "record":
            raise NotImplementedError(
                "arrays of unaligned elements aren't supported: numpy.require(x, requirements='A')"
            )
        return _core.Type("array", dtype=element.dtype, ndim=ndim, layout=layout, readonly=readonly)


class Tuple(BaseTuple):
    """The type of a tuple: ``Tuple((t, u))``."""

    def __new__(cls, items: Any) -> _core.Type:  # type: ignore[misc]
        """Make the type."""
        return one_type(tuple(items))


def CPointer(dtype: DType) -> Pointer:  # Numba's name
    """A pointer, in the signatures of kernels, which are given an address, and of declared functions.

    Kernels pass those ``ffi.from_buffer(x)``, the array itself, or a pointer.
    """
    return Pointer(dtype)


class UniTuple(BaseTuple):
    """The type of a tuple whose items have one type: ``UniTuple(t, n)``."""

    _test = staticmethod(lambda kind: getattr(kind, "kind", "") == "tuple" and len(set(kind.items)) <= 1)

    def __new__(cls, item: Any, count: int) -> _core.Type:  # type: ignore[misc]
        """Make the type."""
        return one_type((item,) * count)


class NamedTuple(BaseTuple):
    """The type of a named tuple: ``NamedTuple((t, u), cls)``."""

    _test = staticmethod(lambda kind: getattr(kind, "kind", "") == "tuple" and kind.fields is not None)

    def __new__(cls, items: Any, named: Any) -> _core.Type:  # type: ignore[misc]
        """Make the type."""
        return one_type(named(*items))


class NamedUniTuple(NamedTuple):
    """The type of a named tuple whose items have one type: ``NamedUniTuple(t, n, cls)``."""

    def __new__(cls, item: Any, count: int, named: Any) -> _core.Type:  # type: ignore[misc]
        """Make the type."""
        return one_type(named(*(item,) * count))


def signature(return_type: Any, *args: Any) -> Signature:
    """The signature of a function: ``signature(int32, float32, float32)`` is ``int32(float32, float32)``."""
    result = None if return_type is None or isinstance(return_type, Void) else one_type(return_type)
    return Signature(tuple(map(one_type, args)), result)


# Sets of types, as Numba has them.
signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = integer_domain | real_domain | complex_domain


# Classes of types: a module that says "from numba.cuda import *" gets types alone.
def NestedArray(dtype: Any, shape: tuple[int, ...]) -> Any:
    """What `Record.make_c_struct` takes for a field that is an array; a NumPy dtype."""
    return __import__("numpy").dtype((getattr(dtype, "dtype", dtype), tuple(shape)))


class Record(RecordType):
    """The type of a record, of a structured NumPy dtype."""

    @staticmethod
    def make_c_struct(name_types: Any) -> RecordType:
        """A record laid out as C does it.

        Parameters
        ----------
        name_types : iterable of (str, type)
            Names and types of the fields: `float32`, another record, `NestedArray`.
        """
        numpy = __import__("numpy")
        fields = [(name, of.dtype if isinstance(of, DType) else of) for name, of in name_types]
        return Record(numpy.dtype(fields, align=True))


__all__ = [
    "Array",
    "BaseTuple",
    "Boolean",
    "Complex",
    "Float",
    "Integer",
    "NamedTuple",
    "NamedUniTuple",
    "NoneType",
    "Number",
    "Tuple",
    "Type",
    "UniTuple",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "none",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "void",
]
__all__ += [name for name in ALIASES if name.isidentifier() and name not in dtypes]
