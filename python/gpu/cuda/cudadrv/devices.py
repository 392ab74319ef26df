"""Devices and contexts, as ``numba.cuda.cudadrv.devices`` has them."""

from __future__ import annotations

from typing import Any

from .._devices import close as reset
from .._devices import current_context as get_context
from .._devices import gpus, require_context


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv.devices", name)


__all__ = ["get_context", "gpus", "require_context", "reset"]
