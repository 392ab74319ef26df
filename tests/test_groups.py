"""Cooperative groups: the grid, blocks, and tiles of a warp."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import gpu
import numpy as np
import pytest
from gpu import cuda


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


@gpu.jit
def rounds(x, y, n):
    """Each round every thread takes what its right neighbour in the grid has."""
    grid = gpu.cg.this_grid()
    t = grid.thread_rank()
    for _ in range(n):
        y[t] = x[(t + 1) % x.size] + 1
        grid.sync()
        x[t] = y[t]
        grid.sync()


def test_the_whole_grid_waits() -> None:
    x = np.arange(96)
    rounds[3, 32](x, np.zeros(96, np.int64), 5)
    assert (x == (np.arange(96) + 5) % 96 + 5).all()
    two = np.arange(24)
    rounds[(3, 2), (2, 2)](two, np.zeros(24, np.int64), 4)
    assert (two == (np.arange(24) + 4) % 24 + 4).all()


@cuda.jit
def numba_rows(m):
    """Numba's example: each row depends on the one before."""
    column = cuda.grid(1)
    g = cuda.cg.this_grid()
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
        g.sync()


def test_numba_example() -> None:
    m = np.zeros((16, 64), np.int32)
    m[0] = np.arange(64)
    numba_rows[2, 32](m)
    want = [m[0]]
    for _ in range(15):
        want.append(want[-1][::-1] + 1)
    assert (m == want).all()


def test_a_grid_that_cannot_be_there_at_once_is_refused(device: str) -> None:
    if device != "emulated":
        pytest.skip("it has room for any number of blocks")
    x = np.zeros(1 << 20, np.int64)
    with pytest.raises(gpu.LaunchError, match="fit at once"):
        rounds[1 << 15, 32](x, x.copy(), 1)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_ptx(arch: str, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(rounds.inspect("ptx", "i8[::1], i8[::1], int", arch=arch))
    command = ["ptxas", f"-arch={arch}", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.ptx")]
    subprocess.run(command, check=True, capture_output=True, text=True)


@gpu.jit
def ranks(o):
    grid, block = gpu.cg.this_grid(), gpu.cg.this_thread_block()
    tile = gpu.cg.tiled_partition(block, 8)
    small = gpu.cg.tiled_partition(tile, 4)
    i = grid.thread_rank()
    o[i, 0] = grid.size() * 2 - grid.num_threads()
    o[i, 1] = grid.block_rank()
    o[i, 2] = grid.num_blocks()
    o[i, 3] = block.thread_rank()
    o[i, 4] = block.num_threads() * 2 - block.size()
    o[i, 5] = tile.thread_rank()
    o[i, 6] = tile.meta_group_rank()
    o[i, 7] = tile.meta_group_size()
    o[i, 8] = small.thread_rank() + 10 * small.size() + tile.num_threads() - tile.size()
    block.sync()


def test_ranks() -> None:
    threads, blocks = 5 * 4 * 2, 3 * 2
    o = np.zeros((threads * blocks, 9), np.int64)
    ranks[(3, 2), (5, 4, 2)](o)
    i = np.arange(threads * blocks)
    t = i % threads
    want = [threads * blocks + 0 * i, i // threads, blocks + 0 * i, t, threads + 0 * i, t % 8, t // 8, 5 + 0 * i]
    assert (o[:, :8] == np.stack(want, 1)).all()
    assert (o[:, 8] == t % 4 + 40).all()


def tile_kernel(size: int):
    @gpu.jit
    def tiles(v, o):
        t = gpu.threadIdx.x
        tile = gpu.cg.tiled_partition(gpu.cg.this_thread_block(), size)
        o[0, t] = tile.shfl(v[t], 1)
        o[1, t] = tile.shfl_up(v[t], 1)
        o[2, t] = tile.shfl_down(v[t], 1)
        o[3, t] = tile.shfl_xor(v[t], 1)
        o[4, t] = tile.all(v[t] > 0)
        o[5, t] = tile.any(v[t] == 3)
        o[6, t] = tile.ballot(v[t] % 2)
        o[7, t] = tile.match_any(v[t])
        o[8, t] = tile.match_all(v[t])
        o[9, t] = tile.reduce(v[t])
        o[10, t] = tile.reduce(v[t], max)
        o[11, t] = tile.inclusive_scan(v[t])
        o[12, t] = tile.exclusive_scan(v[t])
        tile.sync()

    return tiles


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32])
def test_tiles(size: int) -> None:
    v = np.random.default_rng(size).integers(0, 4, 64)
    o = np.zeros((13, 64), np.int64)
    tile_kernel(size)[1, 64](v, o)
    rank = np.arange(size)
    for start in range(0, 64, size):
        x, got = v[start : start + size], o[:, start : start + size]
        want = [
            x[[1] * size], x[np.maximum(rank - 1, 0)], x[np.minimum(rank + 1, size - 1)], x[rank ^ 1],
            [(x > 0).all()] * size, [(x == 3).any()] * size, [int((x % 2 << rank).sum())] * size,
            [int(((x == y) << rank).sum()) for y in x], [len({*x}) == 1] * size, [x.sum()] * size, [x.max()] * size,
            x.cumsum(), x.cumsum() - x,
        ]  # fmt: skip
        assert (got == np.array(want)).all()
