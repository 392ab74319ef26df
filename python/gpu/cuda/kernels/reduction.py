"""``numba.cuda.kernels.reduction``."""

from .._programs import Reduce

__all__ = ["Reduce"]
