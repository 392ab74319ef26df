"""``numba.cuda.dispatcher``: the class of what ``cuda.jit`` gives, by its name there."""

from __future__ import annotations

from ._dispatcher import Dispatcher

CUDADispatcher = Dispatcher

__all__ = ["CUDADispatcher", "Dispatcher"]
