"""`typeof` and `from_dtype`: the types that values and NumPy dtypes have in a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._array import Array, _name_of
from .._dtypes import DType, Void
from .._dtypes import from_dtype as type_of_dtype
from .._exchange import interface_dtype
from ..signature import one_type


def typeof(value: Any, purpose: Any = None) -> Any:
    """The type of a kernel's argument.

    Parameters
    ----------
    value : number, array, tuple, or a type
        A type is given back.

    Returns
    -------
    DType for a number, otherwise gpu._core.Type

    Raises
    ------
    ValueError
        A kernel takes no such value.

    Examples
    --------
    >>> cuda.typeof(np.zeros((2, 3), np.float32))
    array(float32, 2d, C)
    """
    if isinstance(value, (DType, Void, _core.Type)):
        return value._type if isinstance(value, DType) else value
    if isinstance(value, (bool, np.bool_)):
        return one_type("bool")
    if isinstance(value, int):
        return one_type("int64" if -(2**63) <= value < 2**63 else "uint64")
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return one_type("float64" if isinstance(value, float) else "complex128")
    if isinstance(value, type) and issubclass(value, np.generic):
        return _core.Type("object", object=value)
    if isinstance(value, tuple):
        return one_type(type(value)(*map(typeof, value)) if hasattr(value, "_fields") else tuple(map(typeof, value)))
    if value is None:
        return one_type(None)
    if isinstance(value, np.generic):
        return one_type(value.dtype)
    interface = getattr(value, "__cuda_array_interface__", None) or getattr(value, "__array_interface__", None)
    if isinstance(value, Array):
        return _core.Type("array", dtype=value._dtype_name, ndim=value.ndim, layout=value._layout)
    if interface is not None:
        return _array_type(interface, np.dtype(interface_dtype(interface, value)))
    raise ValueError(f"Cannot determine Numba type of {type(value)}")


def _array_type(interface: dict[str, Any], dtype: np.dtype[Any]) -> _core.Type:
    shape, strides = interface["shape"], interface.get("strides")
    layout = "C"
    if strides is not None:
        view = np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)
        layout = "C" if view.flags.c_contiguous else "F" if view.flags.f_contiguous else "A"
    return _core.Type("array", dtype=_name_of(dtype), ndim=len(shape), layout=layout)  # type: ignore[arg-type]


def from_dtype(dtype: Any) -> DType:
    """The type of a scalar of a NumPy dtype, or of a record of a structured one.

    Raises
    ------
    NotImplementedError
        A kernel has no such numbers.
    """
    try:
        return type_of_dtype(dtype)
    except TypeError as error:
        raise NotImplementedError(f"{np.dtype(dtype)!r} is not the type of a number in kernels") from error


def ambiguity(function: Any, given: tuple[Any, ...], fitting: tuple[tuple[Any, ...], ...]) -> str:
    """Numba's message for arguments that fit two signatures equally well.

    Parameters
    ----------
    function : function
    given : tuple of gpu._core.Type
        Of the arguments.
    fitting : tuple of tuples of gpu._core.Type
        The signatures.
    """
    arguments = [", ".join(map(_numba_repr, types)) for types in (given, *fitting)]
    lines = [f"Ambiguous overloading for {function} ({arguments[0]}):", *(f"({a}) -> none" for a in arguments[1:])]
    return "\n".join(lines) + "\nboth fit equally well: add the signature of these arguments, or convert one"


def _numba_repr(kind: Any) -> str:
    """A type as Numba prints it in signatures."""
    if kind.kind == "array":
        return f"Array({kind.dtype}, {kind.ndim}, {kind.layout!r}, {kind.readonly}, aligned=True)"
    return repr(kind)


def as_dtype(kind: Any) -> Any:
    """The NumPy dtype of a type."""
    if isinstance(kind, DType):
        return kind.dtype
    found = one_type(kind)
    return np.dtype(found.dtype)
