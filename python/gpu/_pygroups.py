"""Cooperative groups on the ``python`` device: `gpu.cg` as objects that ask the kernel thread who it is.

A tile is a part of a warp; what it does are the warp's operations with its lanes as the mask.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

WARP = 32
SHUFFLES = {"shfl": "shfl_sync", "shfl_up": "shfl_up_sync", "shfl_down": "shfl_down_sync", "shfl_xor": "shfl_xor_sync"}


class Group:
    """Threads that wait for each other.

    Parameters
    ----------
    values : dict
        By path: what `gpu.<path>` is for the kernel thread that is running.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def _of(self, name: str) -> tuple[int, int, int]:
        x, y, z = (self._values[f"gpu.{name}.{axis}"] for axis in "xyz")
        return x, y, z

    def _thread(self) -> int:
        """The number of the thread in its block."""
        (x, y, z), (width, height, _) = self._of("threadIdx"), self._of("blockDim")
        return x + width * (y + height * z)

    def num_threads(self) -> int:
        raise NotImplementedError

    def size(self) -> int:
        return self.num_threads()


class ThreadBlock(Group):
    """`gpu.cg.this_thread_block()`."""

    def sync(self) -> None:
        self._values["gpu.syncthreads"]()

    def thread_rank(self) -> int:
        return self._thread()

    def num_threads(self) -> int:
        return math.prod(self._of("blockDim"))


class GridGroup(Group):
    """`gpu.cg.this_grid()`.

    Parameters
    ----------
    wait : callable
        Waits for all threads of the grid.
    """

    def __init__(self, values: dict[str, Any], wait: Callable[[], None], numba: bool) -> None:
        super().__init__(values)
        self._wait, self._numba = wait, numba

    def sync(self) -> Any:
        self._wait()
        return np.int32(0) if self._numba else None

    def block_rank(self) -> int:
        (x, y, z), (width, height, _) = self._of("blockIdx"), self._of("gridDim")
        return x + width * (y + height * z)

    def num_blocks(self) -> int:
        return math.prod(self._of("gridDim"))

    def thread_rank(self) -> int:
        return self.block_rank() * math.prod(self._of("blockDim")) + self._thread()

    def num_threads(self) -> int:
        return self.num_blocks() * math.prod(self._of("blockDim"))


class Tile(Group):
    """`gpu.cg.tiled_partition(group, size)`.

    Parameters
    ----------
    operation : callable
        ``operation(kind, mask, value)`` waits for the lanes of the mask at an operation of a warp.
    """

    def __init__(self, values: dict[str, Any], size: int, operation: Callable[[str, int, Any], Any]) -> None:
        super().__init__(values)
        self._size, self._operation = size, operation

    @property
    def _mask(self) -> int:
        return ((1 << self._size) - 1) << self._first

    @property
    def _first(self) -> int:
        """The tile's first lane."""
        return self._thread() % WARP // self._size * self._size

    def sync(self) -> None:
        self._operation("syncwarp", self._mask, None)

    def thread_rank(self) -> int:
        return self._thread() % self._size

    def num_threads(self) -> int:
        return self._size

    def meta_group_rank(self) -> int:
        return self._thread() // self._size

    def meta_group_size(self) -> int:
        return -(-math.prod(self._of("blockDim")) // self._size)

    def __getattr__(self, name: str) -> Any:
        if name in SHUFFLES:
            return lambda value, lane: self._operation(SHUFFLES[name], self._mask, (value, lane, self._size))
        raise AttributeError(f"tile has no attribute '{name}'")

    def all(self, predicate: Any) -> bool:
        found: bool = self._operation("all_sync", self._mask, bool(predicate))
        return found

    def any(self, predicate: Any) -> bool:
        found: bool = self._operation("any_sync", self._mask, bool(predicate))
        return found

    def _ranks(self, lanes: Any) -> Any:
        return type(lanes)(int(lanes) >> self._first)

    def ballot(self, predicate: Any) -> Any:
        return self._ranks(self._operation("ballot_sync", self._mask, bool(predicate)))

    def match_any(self, value: Any) -> Any:
        return self._ranks(self._operation("match_any_sync", self._mask, value))

    def match_all(self, value: Any) -> bool:
        return bool(self._operation("match_all_sync", self._mask, value)[1])

    def _combine(self, kind: str, value: Any, op: Any, exclusive: bool, initial: Any) -> Any:
        if isinstance(value, (bool, np.bool_)) and op is operator.add:
            value = int(value)
        return self._operation(kind, self._mask, (value, op, exclusive, initial))

    def reduce(self, value: Any, op: Any = operator.add) -> Any:
        return self._combine("warp.reduce", value, op, False, 0)

    def inclusive_scan(self, value: Any, op: Any = operator.add) -> Any:
        return self._combine("warp.scan", value, op, False, 0)

    def exclusive_scan(self, value: Any, op: Any = operator.add, initial: Any = 0) -> Any:
        return self._combine("warp.scan", value, op, True, initial)
