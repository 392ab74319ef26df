"""Warp operations, and reductions and scans over warps and blocks, against the same on lists of lanes."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

pytestmark = pytest.mark.one_version

ALL = 0xFFFFFFFF
LANES = np.arange(32)
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "bfloat16", "f4", "f8", "c8", "c16"]


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def dtype_of(name: str) -> np.dtype[Any]:
    return gpu.bfloat16.dtype if name == "bfloat16" else np.dtype(name)


# ---- shuffles


@gpu.jit
def shuffles(v, o, lane, delta):
    t = gpu.threadIdx.x
    o[0, t] = gpu.shfl_sync(ALL, v[t], lane)
    o[1, t] = gpu.shfl_up_sync(ALL, v[t], delta)
    o[2, t] = gpu.shfl_down_sync(ALL, v[t], delta)
    o[3, t] = gpu.shfl_xor_sync(ALL, v[t], delta)
    o[4, t] = gpu.shfl_sync(ALL, v[t], 31 - t)
    o[5, t] = gpu.shfl_up_sync(ALL, v[t], 3, width=8)
    o[6, t] = gpu.shfl_down_sync(ALL, v[t], 3, 8)


@pytest.mark.parametrize("name", TYPES)
def test_shuffles_of_every_type(name: str) -> None:
    v = (LANES * 7 + 3 + (1j * LANES if name[0] == "c" else 0)).astype(dtype_of(name))
    o = np.zeros((7, 32), v.dtype)
    shuffles[1, 32](v, o, 5, 9)
    up, down = np.where(LANES >= 9, LANES - 9, LANES), np.where(LANES + 9 < 32, LANES + 9, LANES)
    up8, down8 = np.where(LANES % 8 >= 3, LANES - 3, LANES), np.where(LANES % 8 < 5, LANES + 3, LANES)
    for row, lanes in zip(o, [LANES * 0 + 5, up, down, LANES ^ 9, 31 - LANES, up8, down8], strict=True):
        assert (row == v[lanes]).all()


@gpu.jit
def keeps_weak(x, o):
    t = gpu.threadIdx.x
    o[t] = x[t] * gpu.shfl_sync(ALL, t, 3) + gpu.shfl_sync(ALL, 0.5, 3)


def test_a_shuffled_python_number_stays_one() -> None:
    o = np.zeros(32, np.float32)
    keeps_weak[1, 32](np.ones(32, np.float32), o)
    assert (o == 3.5).all()
    assert "mul.rn.f64" not in keeps_weak.inspect("ptx", "f4[::1], f4[::1]", arch="sm_80")


@gpu.jit
def in_a_branch(o):
    t = gpu.threadIdx.x
    if t < 10:
        o[t] = gpu.shfl_up_sync((1 << 10) - 1, t, 1) + 100 * gpu.popc(gpu.ballot_sync(0x3FF, t % 2 == 0))
    else:
        o[t] = -gpu.shfl_xor_sync(~0x3FF, t, 1)
    gpu.syncwarp()
    gpu.syncwarp(ALL)


def test_a_mask_names_the_lanes_that_come() -> None:
    o = np.zeros(32, np.int64)
    in_a_branch[1, 32](o)
    assert o[:10].tolist() == [max(t - 1, 0) + 500 for t in range(10)]
    assert o[10:].tolist() == [-(t ^ 1) for t in range(10, 32)]


# ---- votes and matches


@gpu.jit
def votes(p, o):
    t = gpu.threadIdx.x
    o[t, 0] = gpu.all_sync(ALL, p[t])
    o[t, 1] = gpu.any_sync(ALL, p[t])
    o[t, 2] = gpu.eq_sync(ALL, p[t])
    o[t, 3] = gpu.ballot_sync(-1, p[t])


@pytest.mark.parametrize(
    "p", [LANES * 0, LANES * 0 + 2, LANES % 3, (LANES == 31) * 1.5], ids=["none", "all", "some", "last"]
)
def test_votes(p: np.ndarray) -> None:
    o = np.zeros((32, 4), np.int64)
    votes[1, 32](p, o)
    true = p != 0
    ballot = int((true << LANES).sum())
    assert (o == [true.all(), true.any(), true.all() or not true.any(), ballot]).all()


@gpu.jit
def matches(v, o):
    t = gpu.threadIdx.x
    o[t, 0] = gpu.match_any_sync(ALL, v[t])
    mask, same = gpu.match_all_sync(ALL, v[t])
    o[t, 1] = mask
    o[t, 2] = same


@pytest.mark.parametrize("name", [name for name in TYPES if name[0] != "c"])
@pytest.mark.parametrize("kinds", [1, 3])
def test_matches(name: str, kinds: int) -> None:
    v = (LANES % kinds).astype(dtype_of(name))
    o = np.zeros((32, 3), np.int64)
    matches[1, 32](v, o)
    same = [int(((v == x) << LANES).sum()) for x in v]
    assert o[:, 0].tolist() == same
    assert (o[:, 1] == (ALL if kinds == 1 else 0)).all() and (o[:, 2] == (kinds == 1)).all()


@gpu.jit
def masks(o):
    t = gpu.threadIdx.x
    o[t, 0] = gpu.activemask()
    o[t, 1] = gpu.lanemask_lt()
    o[t, 2] = gpu.lanemask_le()
    o[t, 3] = gpu.lanemask_eq()
    o[t, 4] = gpu.lanemask_ge()
    o[t, 5] = gpu.lanemask_gt()
    if t < 3:
        o[t, 0] = gpu.activemask()


def test_masks() -> None:
    o = np.zeros((40, 6), np.int64)
    masks[1, 40](o)
    lane = np.arange(40) % 32
    own = 1 << lane
    want = np.stack([o[:, 0], own - 1, 2 * own - 1, own, ALL & ~(own - 1), ALL & ~(2 * own - 1)], 1)
    assert (o == want).all()
    assert (o[:3, 0] == 7).all() and (o[3:32, 0] == ALL).all() and (o[32:, 0] == 255).all()


# ---- what lanes have in common in one warp is another thing in the next


GUARDS = [
    lambda t: t % 32 == 0,
    lambda t: gpu.laneid == 0,
    lambda t: t & 31 == 0,
    lambda t: t % 32 < 3,
    lambda t: t & 31 < t // 32,
    lambda t: t - t % 32 <= t // 32 * 31,
    lambda t: t < gpu.popc(gpu.ballot_sync(ALL, t % (t // 32 + 2) == 0)),
]


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_of_one_warp_says_nothing_of_the_next(guard: Any) -> None:
    def kernel(out, seen):
        t = gpu.threadIdx.x
        s = gpu.shared.array(96, np.int64)
        v = t + gpu.shfl_down_sync(ALL, t, 16)
        if guard(t):
            s[t] = v
        gpu.syncthreads()
        out[t] = s[t] if guard(t) else -1
        seen[t] = guard(t)

    out, seen = np.zeros(96, np.int64), np.zeros(96, bool)
    gpu.jit(kernel)[1, 96](out, seen)
    gpu.synchronize()
    t = np.arange(96)
    np.testing.assert_array_equal(out, np.where(seen, t + np.where(t % 32 < 16, t + 16, t), -1))
    assert seen.any()


# ---- reduce_*_sync


@gpu.jit
def reduces(v, o):
    t = gpu.threadIdx.x
    if t < 20:
        o[0, t] = gpu.reduce_add_sync(0xFFFFF, v[t])
        o[1, t] = gpu.reduce_min_sync(0xFFFFF, v[t])
        o[2, t] = gpu.reduce_max_sync(0xFFFFF, v[t])
        if v.dtype != np.float32 and v.dtype != np.float64:
            o[3, t] = gpu.reduce_and_sync(0xFFFFF, v[t])
            o[4, t] = gpu.reduce_or_sync(0xFFFFF, v[t])
            o[5, t] = gpu.reduce_xor_sync(0xFFFFF, v[t])


@pytest.mark.parametrize("name", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_reduces(name: str) -> None:
    v = np.random.default_rng(3).integers(0, 100, 32).astype(name)
    if name[0] == "i":
        v -= 50
    o = np.zeros((6, 32), name)
    reduces[1, 32](v, o)
    x = v[:20]
    want = [x.sum(dtype=name), x.min(), x.max()]
    if name[0] != "f":
        want += [f.reduce(x) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    for row, value in zip(o, want, strict=False):
        assert (row[:20] == value).all()


# ---- any operator


def later(a, b):
    """Neither commutes nor is a number's operation: of two pairs (length, last digit) packed in an int."""
    return (a // 16 + b // 16) * 16 + b % 16


@gpu.jit
def over_warps(v, o):
    t = gpu.grid(1)
    o[0, t] = gpu.warp.reduce(v[t])
    o[1, t] = gpu.warp.reduce(v[t], max)
    o[2, t] = gpu.warp.reduce(16 + t % 16, later)
    o[3, t] = gpu.warp.scan(v[t])
    o[4, t] = gpu.warp.scan(v[t], operator.mul, exclusive=True, initial=1)
    o[5, t] = gpu.warp.scan(16 + t % 16, later)
    o[6, t] = gpu.warp.scan(v[t], exclusive=True)


@gpu.jit
def over_blocks(v, o):
    t = gpu.grid(1)
    o[0, t] = gpu.block.reduce(v[t])
    o[1, t] = gpu.block.reduce(v[t], max)
    o[2, t] = gpu.block.reduce(16 + t % 16, later)
    o[3, t] = gpu.block.scan(v[t])
    o[4, t] = gpu.block.scan(v[t], operator.mul, exclusive=True, initial=1)
    o[5, t] = gpu.block.scan(16 + t % 16, later)
    o[6, t] = gpu.block.scan(v[t], exclusive=True)


def expected(v: np.ndarray, group: int) -> np.ndarray:
    """The seven rows for groups of threads that follow each other."""
    o = np.zeros((7, len(v)), v.dtype)
    for start in range(0, len(v), group):
        part = slice(start, min(start + group, len(v)))
        x, at = v[part], np.arange(part.start, part.stop)
        o[0, part], o[1, part] = x.sum(dtype=v.dtype), x.max()
        o[2, part] = len(x) * 16 + at[-1] % 16
        o[3, part] = np.cumsum(x, dtype=v.dtype)
        o[4, part] = [1, *np.cumprod(x, dtype=v.dtype)[:-1]]
        o[5, part] = np.arange(1, len(x) + 1) * 16 + at % 16
        o[6, part] = [0, *np.cumsum(x, dtype=v.dtype)[:-1]]
    return o


@pytest.mark.parametrize("name", ["i4", "i8", "f8", "u8"])
@pytest.mark.parametrize("threads", [1, 7, 32, 33, 100, 256])
def test_any_operator(name: str, threads: int) -> None:
    v = np.random.default_rng(5).integers(1, 3, 2 * threads).astype(name)
    o = np.zeros((7, 2 * threads), name)
    over_blocks[2, threads](v, o)
    np.testing.assert_array_equal(o, expected(v, threads))
    over_warps[1, 2 * threads](v, o)
    np.testing.assert_array_equal(o, expected(v, 32))


@gpu.jit
def typed_results(flags, z, o, c):
    t = gpu.threadIdx.x + gpu.threadIdx.y * gpu.blockDim.x
    o[t] = gpu.block.reduce(flags[t] > 0) + gpu.block.reduce(1) * np.float32(0.5)
    c[t] = gpu.block.reduce(z[t], op=lambda a, b: a * b)


def test_bools_are_counted_and_complex_numbers_combined() -> None:
    flags, o = np.arange(48) % 2, np.zeros(48, np.float32)
    z, c = np.exp(1j * np.arange(48)), np.zeros(48, np.complex128)
    typed_results[1, (16, 3)](flags, z, o, c)
    assert (o == 24 + 24).all()
    np.testing.assert_allclose(c, np.prod(z))


# ---- histograms


def by_tenths(x):
    return int(x * 10)


@gpu.jit
def histograms(x, y, o):
    t, threads = gpu.threadIdx.x, gpu.blockDim.x
    own = gpu.block.histogram(x[t], 7)
    for i in range(t, 7, threads):
        o[0, i] = own[i]
    pair = gpu.block.histogram((x[t], x[t + threads], -1), 7)
    for i in range(t, 7, threads):
        o[1, i] = pair[i]
    for step in range(2):
        whole = gpu.block.histogram(x[step:], 5)
        for i in range(t, 5, threads):
            o[2 + step, i] = whole[i]
    tenths = gpu.block.histogram(y, 10, key=by_tenths)
    parity = gpu.block.histogram(x[:100], 2, lambda v: v & 1 == 1)
    for i in range(t, 10, threads):
        o[4, i] = tenths[i]
    if t < 2:
        o[5, t] = parity[t]


@pytest.mark.parametrize("name", ["u1", "i2", "i8", "u8"])
@pytest.mark.parametrize("threads", [5, 64, 100])
def test_histograms(name: str, threads: int) -> None:
    random = np.random.default_rng(7)
    x, y = random.integers(0, 9, 300).astype(name), random.random(301, np.float32)
    o = np.zeros((6, 10), np.int64)
    histograms[1, threads](x, y, o)
    counted = [x[:threads], x[: 2 * threads], x, x[1:], (y * np.float32(10)).astype(int), x[:100] % 2]
    for row, values, bins in zip(o, counted, (7, 7, 5, 5, 10, 2), strict=True):
        assert (row[:bins] == np.bincount(values[values < bins].astype(int), minlength=bins)).all()
        assert not row[bins:].any()


# ---- the Numba dialect


@cuda.jit
def numba_names(o):
    t = cuda.threadIdx.x
    o[t, 0] = cuda.shfl_up_sync(0xFFFFFFFF, t, 1)
    o[t, 1] = cuda.ballot_sync(0xFFFFFFFF, True)
    o[t, 2] = cuda.match_any_sync(0xFFFFFFFF, 1.5)
    o[t, 3] = cuda.activemask()
    o[t, 4] = cuda.lanemask_lt()
    cuda.syncwarp()


def test_numba_types() -> None:
    o = np.zeros((32, 5), np.int64)
    numba_names[1, 32](o)
    assert (o[:, 0] == np.maximum(LANES - 1, 0)).all()
    assert (o[:, 1:3] == -1).all(), "Numba's ballot and match are int32"
    assert (o[:, 3] == ALL).all() and (o[:, 4] == (1 << LANES) - 1).all()
