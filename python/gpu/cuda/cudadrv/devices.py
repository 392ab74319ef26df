"""Devices and contexts, as ``numba.cuda.cudadrv.devices`` has them."""

from .._devices import close as reset
from .._devices import current_context as get_context
from .._devices import gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]
