"""``numba.extending`` where numba isn't installed: what `gpu.cuda.extending` has."""

from __future__ import annotations

from typing import Any

from ..cuda import extending
from ._plain import jit as register_jitable


def overload(func: Any, *args: Any, target: str = "generic", **kwargs: Any) -> Any:
    """As `gpu.cuda.extending.overload`, for kernels unless `target` says otherwise."""
    return extending.overload(func, *args, target=target, **kwargs)


def overload_attribute(typ: Any, attr: str, target: str = "generic", **kwargs: Any) -> Any:
    """As `gpu.cuda.extending.overload_attribute`."""
    return extending.overload_attribute(typ, attr, target, **kwargs)


def overload_method(typ: Any, attr: str, target: str = "generic", **kwargs: Any) -> Any:
    """As `gpu.cuda.extending.overload_method`."""
    return extending.overload_method(typ, attr, target, **kwargs)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if hasattr(extending, name):
        return getattr(extending, name)
    from . import _HELP

    raise ImportError(f"numba.extending.{name} isn't there. {_HELP}", name="numba.extending")


__all__ = ["overload", "overload_attribute", "overload_method", "register_jitable"]
