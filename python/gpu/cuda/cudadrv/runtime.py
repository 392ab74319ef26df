"""What programs ask of ``numba.cuda.runtime``: its version. There is no such library: the driver does all."""

from __future__ import annotations

from .driver import get_version


class Runtime:
    """The library as an object, ``cuda.runtime``."""

    def get_version(self) -> tuple[int, int]:
        """The version of CUDA that the driver has; without one the newest that code is made for."""
        return get_version()

    def is_supported_version(self) -> bool:
        """True: code is made for the driver that is there."""
        return True


runtime = Runtime()

__all__ = ["Runtime", "get_version", "runtime"]
