"""Objects of the package numba, where a program has it, too: its types, signatures and compiled functions.

A program may change its import of ``numba.cuda`` alone and go on with ``numba.float32``, ``numba.void(...)`` and
``numba.njit``. Nothing here imports numba: its objects are told by the module of their class.
"""

from __future__ import annotations

import sys
from types import FunctionType
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


def numbas_type(kind: Any) -> Any:
    """Numba's type that is one of ours: what `type_of` takes back. What it has none for stays as it is.

    Parameters
    ----------
    kind : gpu._core.Type, or a dtype, or the type of a constant
    """
    theirs = sys.modules["numba.core.types"]
    if hasattr(kind, "literal_value"):
        return theirs.literal(kind.literal_value)
    kind = one_type(kind)
    if kind.kind == "tuple":
        items = [numbas_type(item) for item in kind.items]
        if kind.fields is None:
            return theirs.BaseTuple.from_types(items)
        from collections import namedtuple

        return theirs.BaseTuple.from_types(items, namedtuple("Fields", kind.fields))  # type: ignore[misc]
    if kind.kind == "none":
        return theirs.none
    if kind.kind not in ("scalar", "array", "record"):
        return kind
    import numpy as np

    element = sys.modules["numba.np.numpy_support"].from_dtype(np.dtype(kind.dtype))
    if kind.kind != "array":
        return element
    return theirs.Array(element, kind.ndim, kind.layout, readonly=kind.readonly)


_adopted = [0, 0]  # how many of numba's functions and attributes have been looked at


def adopt_overloads() -> None:
    """Let kernels call what a program has registered with ``numba.extending``, where it is numba's own."""
    registry = sys.modules["numba.core.typing.templates"].builtin_registry
    if _adopted == [len(registry.globals), len(registry.attributes)]:
        return
    from .cuda.extending import adopt, type_callable

    functions = [one for _, kind in registry.globals[_adopted[0] :] for one in getattr(kind, "templates", ())]
    for template in (*functions, *registry.attributes[_adopted[1] :]):
        choose, key = getattr(template, "_overload_func", None), getattr(template, "key", None)
        if choose and _package(choose) not in ("", "numba") and _package(key) not in _OWN:
            adopt(template, numbas_type)
        elif not choose and isinstance(key, FunctionType) and _package(key) not in ("", "numba", *_OWN):
            type_callable(key)  # kernels refuse it
    _adopted[:] = len(registry.globals), len(registry.attributes)


def _package(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


_OWN = ("numpy", "math", "cmath", "_operator")  # whose functions kernels have as they are


def signature_of(given: Any) -> Signature:
    """The signature that is one of numba's, ``numba.void(numba.float32[:])``, or one type of its."""
    if not hasattr(given, "args") or not hasattr(given, "return_type"):
        return Signature((type_of(given),))
    none = type(given.return_type).__name__ == "NoneType"
    return Signature(tuple(map(one_type, given.args)), None if none else one_type(given.return_type))
