"""The vector types in a dictionary: ``numba.cuda.vector_types``. Kernels use those of `gpu.cuda` itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import types


class VectorType(NamedTuple):
    """One of them.

    Attributes
    ----------
    name : str
        ``"float32x4"``.
    base_type : gpu.Type
        Of a field.
    num_elements : int
    attr_names : tuple of str
        ``x``, ``y``, ``z``, ``w``, as many as there are.
    user_facing_object : type
        What kernels call: ``cuda.float32x4``.
    """

    name: str
    base_type: Any
    num_elements: int
    attr_names: tuple[str, ...]
    user_facing_object: Any


def _all() -> dict[str, VectorType]:
    from .. import cuda

    bases = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)] + ["float32", "float64"]
    found = {}
    for base in bases:
        for n in range(1, 5):
            name = f"{base}x{n}"
            found[name] = VectorType(name, getattr(types, base), n, tuple("xyzw"[:n]), getattr(cuda, name))
    return found


vector_types = _all()

__all__ = ["VectorType", "vector_types"]
