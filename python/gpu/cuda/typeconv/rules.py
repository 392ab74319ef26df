"""The conversions of numbers."""

from __future__ import annotations

from itertools import pairwise

from ... import types
from .typeconv import TypeCastingRules, TypeManager


def _numbers() -> TypeManager:
    manager = TypeManager()
    rules = TypeCastingRules(manager)
    ints = [getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)]
    uints = [getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)]
    floats, complexes = [types.float16, types.float32, types.float64], [types.complex64, types.complex128]
    for row in (ints, uints, floats, complexes):
        for a, b in pairwise(row):
            rules.promote_unsafe(a, b)
    for a, b in zip(ints, uints, strict=True):
        rules.unsafe_unsafe(a, b)
    for a in (ints[0], uints[0]):
        rules.safe_unsafe(types.boolean, a)
    for a, b in zip(uints, ints[1:], strict=False):
        rules.safe_unsafe(a, b)
    for a in (*ints[2:], *uints[2:]):
        rules.safe_unsafe(a, types.float64)
    for a, b in zip(floats[1:], complexes, strict=True):
        rules.safe(a, b)
    return manager


default_type_manager = _numbers()

__all__ = ["default_type_manager"]
