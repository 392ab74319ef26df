"""Numba's type names: ``types.float32[:]``, ``types.Array(types.int32, 2, "C")``, ``types.void(...)``."""

from __future__ import annotations

from . import _core
from ._dtypes import (
    DType,
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
from .signature import ALIASES, one_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

globals().update({name: DType(of) for name, of in ALIASES.items() if name.isidentifier() and name not in dtypes})
none = None


def Array(dtype: Any, ndim: int, layout: Literal["C", "F", "A"], readonly: bool = False) -> _core.Type:
    """The type of an array.

    Parameters
    ----------
    dtype : DType
    ndim : int
        0 to 16.
    layout : str
        ``"C"``, ``"F"`` or ``"A"`` (any strides).
    readonly : bool
        A kernel that writes it doesn't compile.
    """
    return _core.Type("array", dtype=one_type(dtype).dtype, ndim=ndim, layout=layout, readonly=readonly)


def Tuple(items: Any) -> _core.Type:
    """The type of a tuple with these items."""
    return one_type(tuple(items))


def UniTuple(item: Any, count: int) -> _core.Type:
    """The type of a tuple with `count` items of one type."""
    return one_type((item,) * count)


__all__ = [
    "Array",
    "Tuple",
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
