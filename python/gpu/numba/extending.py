"""``numba.extending`` where numba isn't installed: functions for kernels are plain Python, and types can't be added."""

from __future__ import annotations

from typing import Any

from ._plain import jit as register_jitable


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from . import _HELP

    raise ImportError(f"numba.extending.{name} isn't there. {_HELP}", name="numba.extending")


__all__ = ["register_jitable"]
