"""Objects of the package numba, where a program has it, too: its types, signatures and compiled functions.

A program may change its import of ``numba.cuda`` alone and go on with ``numba.float32``, ``numba.void(...)`` and
``numba.njit``. Nothing here imports numba: its objects are told by the module of their class.
"""

from __future__ import annotations

import sys
from typing import Any

from . import _core
from ._dtypes import Signature
from .signature import one_type


def is_numbas(value: Any) -> bool:
    """Tell an object whose class is one of numba's."""
    return str(getattr(type(value), "__module__", "")).partition(".")[0] in ("numba", "numba_cuda")


def dtype_of(kind: Any) -> Any:
    """The NumPy dtype of a type of numba's: a number's, or a structured one.

    Returns
    -------
    numpy.dtype, or None for a type that is no array's element and for what is no type.
    """
    if not hasattr(kind, "mangling_args"):  # of all types, and of nothing else
        return None
    support = sys.modules.get("numba.np.numpy_support") or sys.modules.get("numba_cuda.numba.cuda.np.numpy_support")
    try:
        return support.as_dtype(kind) if support else None
    except NotImplementedError:
        return None


def type_of(kind: Any) -> Any:
    """The argument's type that is a type of numba's.

    Parameters
    ----------
    kind : numba.types.Type
        A number, a record, an array of either, a tuple, a named tuple, a literal, none.

    Returns
    -------
    gpu._core.Type

    Raises
    ------
    TypeError
        Any other.
    """
    name = type(kind).__name__
    if name == "Array":
        element = one_type(dtype_of(kind.dtype))
        if not kind.aligned and element.kind != "record":
            raise TypeError(f"arrays of unaligned elements aren't supported: {kind}")
        return _core.Type("array", dtype=element.dtype, ndim=kind.ndim, layout=kind.layout, readonly=not kind.mutable)
    if name in ("Tuple", "UniTuple"):
        return one_type(tuple(kind.types))
    if name in ("NamedTuple", "NamedUniTuple"):
        return one_type(kind.instance_class(*kind.types))
    if name == "NoneType":
        return one_type(None)
    if hasattr(kind, "literal_type"):
        return one_type(kind.literal_type)
    dtype = dtype_of(kind)
    if dtype is None:
        raise TypeError(f"not the type of a kernel's argument: {kind} of numba")
    return one_type(dtype)


def signature_of(given: Any) -> Signature:
    """The signature that is one of numba's, ``numba.void(numba.float32[:])``, or one type of its."""
    if not hasattr(given, "args") or not hasattr(given, "return_type"):
        return Signature((type_of(given),))
    none = type(given.return_type).__name__ == "NoneType"
    return Signature(tuple(map(one_type, given.args)), None if none else one_type(given.return_type))
