"""What programs ask of ``numba.cuda.cudadrv.runtime``: its version. There is no such library: the driver does all."""

from __future__ import annotations

from .driver import get_version

__all__ = ["get_version"]
