"""Kernels whose threads part, in all the ways that running threads in vectors gets wrong easily.

The `python` device runs one thread after the other, and says what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version

ALL = 0xFFFFFFFF
ROWS = [5, 64, (16, 3), (33, 2)]  # shorter and longer than a vector, one and several
CONTROL: list[Callable[..., Any]] = []
WARPS: list[Callable[..., Any]] = []


def control(f: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel (x, y, n): x int32[64], y int64 with an element for each thread, n fewer than the threads."""
    CONTROL.append(gpu.jit(f))
    return f


def warps(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with operations of warps in it."""
    WARPS.append(gpu.jit(f))
    return f


def results(kernel: Callable[..., Any], device: str, block: int | tuple[int, int], dtype: str = "i4") -> np.ndarray:
    threads = 2 * int(np.prod(block))
    x = (np.arange(64) * 37 % 64).astype(dtype)
    y = np.full(threads, -1, np.int64)
    with gpu.device(device):
        kernel[2, block](x, y, threads - 3)
    return y


def number(i: int) -> int:
    """The thread in the grid, all blocks counted."""
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    return t + gpu.blockIdx.x * gpu.blockDim.x * gpu.blockDim.y


@control
def guard(x, y, n):
    i = number(0)
    if i < n:
        total = 0
        for k in range(8):
            total += int(x[(i + k) % 64]) * k
        y[i] = total


@control
def early_return(x, y, n):
    i = number(0)
    if i >= n or i % 3 == 1:
        return
    for k in range(x[i % 64] % 5):
        y[i] += k


@control
def own_trip_counts(x, y, n):
    i = number(0)
    a, k = i, 0
    while a % 7 != 3 and k < 20:
        a, k = (a * 3 + x[k]) % 1000, k + 1
    y[i] = a * 100 + k


@control
def leaves_in_the_middle(x, y, n):
    i = number(0)
    last = -5
    for k in range(10):
        if k == x[i % 64] % 12:
            last = k * 1000
            break
        if (k + i) % 3 == 0:
            continue
        last = last * 2 + k
    else:
        last -= 7
    y[i] = last


@control
def loops_in_loops(x, y, n):
    i = number(0)
    total = 0
    for a in range(i % 4):
        for b in range(x[(i + a) % 64] % 4):
            if b > a:
                total += 1
                break
            total += a * 10 + b * i
        if total > 200:
            break
    y[i] = total


@control
def two_ways_back(x, y, n):
    i = number(0)
    a = b = 0
    k = 0
    while k < 12:
        k += 1
        if (k ^ i) & 1:
            a += k
            continue
        b += a * k
    y[i] = a + 1000 * b


@control
def shared_counter(x, y, n):
    i = number(0)
    kept = 0
    for k in range(6):  # all lanes have the same k while they are in the loop, and different ones behind it
        kept = k
        if x[(i * 5 + k) % 64] < 20:
            break
    y[i] = kept * 10 + k


@control
def lowest_lane_is_off(x, y, n):
    t, i = gpu.threadIdx.x, number(0)
    total = 0
    for k in range(3):
        if t >= 4 + k:
            total += x[(t - 4 - k) % 64]
    y[i] = total


@control
def divides_by_zero_elsewhere(x, y, n):
    i = number(0)
    total = 0
    for k in range(4):
        d = x[(i + k) % 64] - 10
        if d != 0:
            total += 1000 // d + 1000 % d
        total += (i % 5) ** (x[(i + k) % 64] % 4)
    y[i] = total


@control
def one_place(x, y, n):
    i = number(0)
    for k in range(3):
        if i == k * 7:
            y[0] = i + k
        elif i > 0 and k == 1:
            y[i] = i


@control
def far_apart(x, y, n):
    i = number(0)
    for k in range(2):
        y[(y.size - 1 - i) if k else i] = x[(i * 13) % 64] + k


@control
def atomics_lane_by_lane(x, y, n):
    s = gpu.shared.array(8, np.int32)
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    if t < 8:
        s[t] = 0
    gpu.syncthreads()
    for k in range(3):
        if x[(t + k) % 64] % 2:
            gpu.atomic.add(s, t % 5, k + 1)
            gpu.atomic.max(s, 6, t * k)
    gpu.syncthreads()
    y[number(0)] = s[t % 8]


@control
def values_across_barriers(x, y, n):
    s = gpu.shared.array(512, np.int64)
    t, i = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y, number(0)
    odd, half = x[i % 64] % 2 == 1, np.float32(i) / 2
    v = 7 if t < 6 else t * 3  # a guard's value lives on
    s[t] = i
    gpu.syncthreads()
    for step in (1, 2, 4):
        if t >= step:
            v += s[t - step]
        gpu.syncthreads()
        s[t] = v
        gpu.syncthreads()
    y[i] = v * 2 + odd + int(half * 10)


@control
def falling_guards(x, y, n):
    s = gpu.shared.array(512, np.int64)
    size = gpu.blockDim.x * gpu.blockDim.y
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    s[t] = x[t % 64]
    gpu.syncthreads()
    step = 64
    while step > 0:
        if t < step and t + step < size:
            s[t] += s[t + step]
        gpu.syncthreads()
        step //= 2
    if t == 3:
        y[number(0)] = s[0]
    total = gpu.syncthreads_count(t % 3 == 0)
    if t > 3:
        y[number(0)] = total


@control
def along_rows(x, y, n):
    i = number(0)
    if i < n:
        rows = x.reshape(8, 8)
        total = 0
        for k in range(rows.shape[1]):
            total += rows[i % 8, k] * k
        for k in range(rows.shape[0]):
            total += rows[k, i % 8] ^ k
        y[i] = total


@control
def windows(x, y, n):
    column, row = gpu.threadIdx.x, gpu.threadIdx.y
    i = number(0)
    if i < n and 2 <= column < 62:
        total = row
        for k in range(5):
            total += x[column + k - 2] * k
        y[i] = total


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("block", [*ROWS, (40, 2)], ids=str)
@pytest.mark.parametrize("kernel", CONTROL, ids=lambda k: k.__name__)
def test_lanes_that_part(kernel: Callable[..., Any], block: int | tuple[int, int], device: str) -> None:
    assert (results(kernel, device, block) == results(kernel, "python", block)).all()


@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "f4", "f8"])
@pytest.mark.parametrize("kernel", [guard, values_across_barriers], ids=lambda k: k.__name__)
def test_elements_of_any_size(kernel: Callable[..., Any], dtype: str) -> None:
    kernel = gpu.jit(kernel)
    assert (results(kernel, "cpu", 50, dtype) == results(kernel, "python", 50, dtype)).all()


def test_functions_of_vectors() -> None:
    """A function in a loop of lanes that part: of libmvec, of libm, of nobody."""

    @gpu.jit
    def sums(x, y):
        i = gpu.grid(1)
        for k in range(i % 3):
            y[0, i] += np.exp(x[i]) + np.sin(x[i] + k)
            y[1, i] += np.fmod(x[i], x.dtype.type(0.3)) + np.nextafter(x[i], x.dtype.type(9))
            y[2, i] += np.sqrt(x[i]) + np.floor(x[i] * 10)

    for dtype, off in (("f4", 1e-6), ("f8", 1e-14)):
        x = np.random.default_rng(5).random(100).astype(dtype)
        y, expected = np.zeros((3, 100), dtype), np.zeros((3, 100), dtype)
        with gpu.device("cpu"):
            sums[2, 50](x, y)
        with gpu.device("python"):
            sums[2, 50](x, expected)
        assert np.allclose(y, expected, rtol=off, atol=0)


# ---- a vector that is a warp


@warps
def sums_of_warps(x, y, n):
    v = x[number(0) % 64]
    for step in (16, 8, 4, 2, 1):
        v += gpu.shfl_down_sync(ALL, v, step)
    y[number(0)] = gpu.shfl_sync(ALL, v, 0)


@warps
def sums_of_blocks(x, y, n):
    s = gpu.shared.array(32, np.int32)
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    v = x[t % 64]
    step = 16
    while step > 0:
        v += gpu.shfl_xor_sync(ALL, v, step)
        step //= 2
    if t % 32 == 0:
        s[t // 32] = v
    gpu.syncthreads()
    if t < 32:
        v = s[t] if t < gpu.blockDim.x * gpu.blockDim.y // 32 else 0
        for k in range(5):
            v += gpu.shfl_xor_sync(ALL, v, 16 >> k)
        y[number(0)] = v


@warps
def votes(x, y, n):
    i = number(0)
    odd = x[i % 64] % 2 == 1
    a = gpu.ballot_sync(ALL, odd) & 0xFFFF
    b = gpu.all_sync(ALL, i >= 0) + 2 * gpu.any_sync(ALL, i == 35) + 4 * gpu.eq_sync(ALL, odd)
    c = gpu.reduce_max_sync(ALL, x[i % 64]) + 100 * gpu.reduce_add_sync(ALL, i % 4)
    rounds = 0
    while gpu.any_sync(ALL, rounds < x[i % 64] % 6):  # as long as one lane wants
        rounds += 1
    y[i] = a + 100000 * (b + 10 * c) + rounds


@warps
def segments(x, y, n):
    i = number(0)
    v = x[i % 64] * 1.5
    a = gpu.shfl_up_sync(ALL, v, 1, width=8) + gpu.shfl_down_sync(ALL, v, 2, width=4)
    b = gpu.shfl_sync(ALL, x[i % 64], i % 3, width=16) + gpu.popc(gpu.match_any_sync(ALL, x[i % 64] % 3))
    gpu.syncwarp()
    y[i] = int(a * 2) + 1000 * b


@warps
def numbers_like_those_of_warps(x, y, n):
    """Numbers that are a multiple of 32 and the lane, but not one multiple for all lanes, or below 0."""
    i = number(0)
    t = gpu.threadIdx.y * gpu.threadIdx.x * gpu.blockDim.x + gpu.threadIdx.x
    u = gpu.threadIdx.y * -7 * gpu.blockDim.x + gpu.threadIdx.x
    v = gpu.threadIdx.x + gpu.blockDim.x * (gpu.threadIdx.x % 3)
    y[i] = ((t >> 5) + 32 * (v >> 5)) * 1000 + np.fmod(u, 32) + gpu.warp.reduce(x[i % 64])


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("block", [96, (32, 3), (8, 8)], ids=str)
@pytest.mark.parametrize("kernel", WARPS, ids=lambda k: k.__name__)
def test_whole_warps(kernel: Callable[..., Any], block: int | tuple[int, int], device: str) -> None:
    assert (results(kernel, device, block) == results(kernel, "python", block)).all()


def test_a_row_that_is_no_warp_has_other_code() -> None:
    """The same kernel in blocks of 64 x 2 and 16 x 4: lanes of a warp lie in one row of the first only."""
    kernel = gpu.jit(sums_of_warps)
    for block in ((64, 2), (16, 4), (64, 2)):
        assert (results(kernel, "cpu", block) == results(kernel, "python", block)).all()


def test_the_last_warp_may_be_short() -> None:
    @gpu.jit
    def short(o):
        t = gpu.threadIdx.x
        mask = gpu.activemask()
        o[t, 0] = gpu.popc(mask)
        o[t, 1] = gpu.popc(gpu.ballot_sync(mask, t % 2 == 0))
        o[t, 2] = gpu.all_sync(mask, t < 40)

    o, expected = np.zeros((40, 3), np.int64), np.zeros((40, 3), np.int64)
    with gpu.device("cpu"):
        short[1, 40](o)
    expected[:32], expected[32:] = (32, 16, 1), (8, 4, 1)
    assert (o == expected).all()


def test_divisions_in_loops() -> None:
    """Divisors that differ: no vector instruction divides integers, and lanes that are off may hold a zero."""

    @gpu.jit
    def digits(x, o):
        i = gpu.grid(1)
        v = x[i % 64] * 977
        for k in range(i % 5):
            o[i] = o[i] * 31 + v % (x[(i + k) % 64] + 2) + v // (x[(i * k) % 64] + 1)

    x = np.arange(64, dtype=np.int32)
    o, expected = np.zeros(80, np.int64), np.zeros(80, np.int64)
    with gpu.device("cpu"):
        digits[2, 40](x, o)
    with gpu.device("python"):
        digits[2, 40](x, expected)
    assert (o == expected).all()


# ---- lanes that raise ------------------------------------------------------------------------------------------------


@gpu.jit
def raises_before_and_behind_a_store(x, y):
    i = gpu.grid(1)
    if i < y.size:
        if x[i, 0] < 0:
            raise ValueError(f"{i} has {x[i, 0]}")
        y[i] = x[i, 0] * 2
        if x[i, 1] >= 100:
            raise AssertionError("large")


@gpu.jit
def raises_in_a_loop(x, y):
    i = gpu.grid(1)
    total = 0.0
    for k in range(x.shape[1]):
        v = x[i, k] if i < y.size else 1.0
        total += v
        if i < y.size:
            y[i] = total
        if v < 0:
            raise ValueError(i, k, total)
        if v >= 100:
            raise AssertionError()


@gpu.jit
def raises_in_a_loop_of_its_own(x, y):
    i = gpu.grid(1)
    row = min(i, y.size - 1)
    k, total = 0, np.float64(0)
    while k < (i & 3):
        v = x[row, k]
        y[row] = total
        if v < 0 or v > 100:
            raise OverflowError(i, k, total)
        total = ((((total * 0.5 + v) * 0.25 - v) * 0.5 + v) * 0.75 - v) * 0.5 + v
        k += 1
    if i < y.size:
        y[i] = total


@gpu.jit
def raises_before_a_barrier(x, y):
    shared = gpu.shared.array(64, np.float64)
    t, i = gpu.threadIdx.x, gpu.grid(1)
    shared[t] = v = x[i, 0] if i < y.size else 0.0
    if v < 0:
        raise ValueError(i, v)
    gpu.syncthreads()
    other = shared[gpu.blockDim.x - 1 - t]
    if other >= 100:
        raise AssertionError(f"thread {i} sees {other}")
    gpu.syncthreads()
    if i < y.size:
        y[i] = v + other


@gpu.jit
def raises_on_two_ways(x, y):
    i = gpu.grid(1)
    v = x[i, 0] if i < y.size else 0.0
    if i & 1:
        v += 1
        if v < 0:
            if i > 7:
                raise ValueError("odd and late", i)
            raise ValueError("odd", i)
    if v > 100:
        w = v - 100
        raise OverflowError(w)
    if i < y.size:
        y[i] = v


@gpu.jit
def raises_beside_a_warp(x, y):
    i = gpu.grid(1)
    v = x[i, 0] if i < y.size else 0.0
    if v < 0:
        raise ValueError(i, v)
    total = gpu.warp.reduce(v)
    if i < y.size:
        y[i] = total
        if x[i, 0] >= 100:
            raise AssertionError(f"thread {i}")


@gpu.jit
def raises_where_only_some_are(x, y):
    i = gpu.grid(1)
    if i < y.size:
        v = x[i, 0]
        if v > 4:
            if x[0, 1] < 0:  # the same for all
                raise ValueError(i, v)
            v = v * 2 + x[i, 2]
            y[i] = v * v
        y[i] += v


@gpu.jit
def raises_behind_a_loop(x, y):
    i = gpu.grid(1)
    v = x[i, 0] if i < y.size else 0.0
    if v < 0:
        total = 0.0
        for k in range(x.shape[1]):
            total = total * 0.5 + x[i, k]
        raise ValueError(i, total)
    if i < y.size:
        y[i] = v + 1


RAISES = [
    raises_before_and_behind_a_store,
    raises_in_a_loop,
    raises_in_a_loop_of_its_own,
    raises_before_a_barrier,
    raises_on_two_ways,
    raises_beside_a_warp,
    raises_where_only_some_are,
    raises_behind_a_loop,
]


def outcome(kernel: Callable[..., Any], x: np.ndarray, block: int, device: str) -> str:
    y = np.zeros(len(x))
    try:
        with gpu.device(device):
            kernel[-(-len(x) // block), block](x, y)
    except (ValueError, OverflowError, AssertionError) as e:
        return f"{type(e).__name__}{e.args}"
    return str(y.tolist())


@pytest.mark.parametrize("block", [1, 31, 33, 64])
@pytest.mark.parametrize("kernel", RAISES, ids=lambda k: k.__name__)
def test_the_first_thread_that_raises_is_reported(kernel: Callable[..., Any], block: int) -> None:
    """The lowest lane, wherever in the code it raises; without one that does, nothing is different."""
    random = np.random.default_rng(block)
    for bad in [0, 1, 1, 1, 2, 3, 3]:
        x = random.integers(0, 9, (100, 4)).astype(np.float64)
        for _ in range(bad):
            x[random.integers(len(x)), random.integers(4)] = random.choice([-50.0, 200.0])
        x[0, 1] -= 50 * (bad == 2)
        assert outcome(kernel, x, block, "cpu") == outcome(kernel, x, block, "python")


def test_kernels_that_raise_run_in_vectors() -> None:
    for kernel in RAISES[:4]:
        kernel = gpu.jit(kernel)
        assert outcome(kernel, np.ones((8, 4)), 32, "cpu")[0] == "["
        with gpu.device("cpu"):
            assert "x double>" in kernel.inspect("llvm")


# ---- arrays of a thread's own ----------------------------------------------------------------------------------------

OWN: list[Callable[..., Any]] = []


def own(f: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel (x, y, n) like those above, with arrays of its own."""
    OWN.append(gpu.jit(f))
    return f


@own
def places_from_data(x, y, n):
    i = number(0)
    counts = gpu.local.array(8, np.int32)
    for k in range(8):
        counts[k] = 0
    for k in range(20):
        counts[x[(i + k) % 64] & 7] += k
    total = 0
    for k in range(8):
        total = total * 3 + counts[-1 - k]
    if i < n:
        y[i] = total


@own
def as_many_as_each_likes(x, y, n):
    i = number(0)
    seen = gpu.local.array((4, 3), np.float32)
    for k in range(12):
        seen[k // 3, k % 3] = k
    for k in range(i % 5):
        seen[k % 4, (k + i) % 3] += x[k] * np.float32(0.5)
        seen[3 - k % 4, k % 3] *= np.float32(2)
    total = np.float32(0)
    for k in range(4):
        for m in range(3):
            total = total + seen[k, m] * np.float32(k + m)
    if i < n:
        y[i] = int(total)


@own
def in_some_lanes(x, y, n):
    i = number(0)
    if i >= n:
        return
    a = gpu.local.array(6, np.int64)
    b = gpu.local.array(6, np.bool_)
    for k in range(6):
        a[k], b[k] = k, k & 1 == 0
    if i % 3 == 0:
        for k in range(x[i % 64] & 3):
            a[k + 1] += a[k] * 5
            b[k] = a[k] > 7
    elif i % 3 == 1:
        a[i % 6] = -1
        b[(i * 2) % 6] = True
    total = 0
    for k in range(6):
        total = total * 7 + (a[k] if b[k] else 1)
    y[i] = total


@own
def sorts_its_own(x, y, n):
    i = number(0)
    a = gpu.local.array(7, np.int16)
    for k in range(7):
        a[k] = (x[(i + 9 * k) % 64] * 31) % 100
    for k in range(1, 7):
        v, m = a[k], k - 1
        while m >= 0 and a[m] > v:
            a[m + 1] = a[m]
            m -= 1
        a[m + 1] = v
    if i < n:
        for k in range(7):
            y[i] = y[i] * 3 + a[k]


@own
def across_barriers(x, y, n):
    i, t = number(0), number(0) % (gpu.blockDim.x * gpu.blockDim.y)
    s = gpu.shared.array(64, np.int32)
    a = gpu.local.array((3, 2), np.int32)
    for k in range(3):
        a[k, 0], a[k, 1] = k, t
    for k in range(4):
        s[t] = x[(i + k) % 64]
        gpu.syncthreads()
        for m in range(3):
            a[m, k & 1] += s[(t + m) % (gpu.blockDim.x * gpu.blockDim.y)]
            a[(t + m) % 3, 1] ^= m
        gpu.syncthreads()
    if i < n:
        y[i] = a[0, 0] + 10 * a[1, 1] + 100 * a[2, 0] + 1000 * a[t % 3, t % 2]


@own
def beside_what_is_not_in_vectors(x, y, n):
    """One region divides by what differs, which goes thread by thread; the others don't."""
    i, t = number(0), number(0) % (gpu.blockDim.x * gpu.blockDim.y)
    a = gpu.local.array(5, np.int32)
    for k in range(5):
        a[k] = x[(i + k) % 64]
    gpu.syncthreads()
    for k in range(5):
        a[k] = (a[k] + 1000) // (x[(t + k) % 64] + 1) + a[(t + k) % 5]
    gpu.syncthreads()
    total = 0
    for k in range(5):
        total = total * 3 + a[(k + t) % 5]
    if i < n:
        y[i] = total


@own
def of_complex_numbers(x, y, n):
    i = number(0)
    a = gpu.local.array(4, np.complex64)
    for k in range(4):
        a[k] = complex(k, x[(i + k) % 64] % 5)
    for k in range(i % 4):
        a[k] = a[k] * a[3 - k] + 1
    if i < n:
        y[i] = int(a[0].real + a[1].imag * 2 + a[i % 4].real * 3)


@own
def with_warps(x, y, n):
    i = number(0)
    a = gpu.local.array(4, np.int32)
    for k in range(4):
        a[k] = x[(i + k) % 64]
    for k in range(4):
        a[k] += gpu.warp.reduce(a[(k + 1) % 4])
    if i < n:
        y[i] = a[0] + 3 * a[1] + 5 * a[i % 4]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("block", [1, *ROWS, 97, (32, 2)], ids=str)
@pytest.mark.parametrize("kernel", OWN, ids=lambda k: k.__name__)
def test_arrays_of_each_lane(kernel: Callable[..., Any], block: int | tuple[int, int], device: str) -> None:
    if "barriers" in kernel.__name__ and np.prod(block) > 64:
        return
    assert (results(kernel, device, block) == results(kernel, "python", block)).all()


def test_records_and_arrays_under_two_types_are_right_too() -> None:
    """Elements of several sizes aren't interleaved."""

    @gpu.jit
    def mixed(x, y):
        i = gpu.grid(1)
        a = gpu.local.array(4, np.int64)
        halves = a.view(np.int32)
        for k in range(8):
            halves[k] = x[(i + k) % 64]
        total = 0
        for k in range(4):
            total ^= a[(k + i) % 4] * (k + 1)
        y[i] = total

    x, y, expected = np.arange(64, dtype=np.int32), np.zeros(50, np.int64), np.zeros(50, np.int64)
    with gpu.device("cpu"):
        mixed[1, 50](x, y)
    for i in range(50):
        a = x[(i + np.arange(8)) % 64].copy().view(np.int64)
        expected[i] = np.bitwise_xor.reduce([a[(k + i) % 4] * (k + 1) for k in range(4)])
    assert (y == expected).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4"])
def test_divisions_at_the_ends_of_a_type(dtype: str) -> None:
    """Of up to 32 bits they are divisions of float64: of each quotient next to an integer, too."""

    @gpu.jit
    def divide(x, d, o):
        i = gpu.grid(1)
        for k in range(d.size):
            if i < x.size:
                o[0, k, i] = x[i] // d[(i + k) % d.size]
                o[1, k, i] = x[i] % d[(i + k) % d.size]
                o[2, k, i] = x[i] // d[k] - x[i] % d[k]

    info = np.iinfo(dtype)
    random = np.random.default_rng(5)
    d = np.array([0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1], dtype)
    d = np.concatenate([d, random.integers(info.min, info.max, 9, dtype, endpoint=True)])
    x = np.concatenate([d, -d, *(d * np.array(k, dtype) + np.array(e, dtype) for k in (2, 3, 50) for e in (0, 1))])
    o, expected = np.zeros((3, d.size, x.size), dtype), np.zeros((3, d.size, x.size), dtype)
    with gpu.device("cpu"):
        divide[3, 64](x, d, o)
        assert "fdiv <" in divide.inspect("llvm")
    with gpu.device("python"), np.errstate(all="ignore"):
        divide[3, 64](x, d, expected)
    assert (o == expected).all()


# ---- lanes that print ------------------------------------------------------------------------------------------------


@gpu.jit
def prints_what_is_odd(x, y):
    i = gpu.grid(1)
    if i < y.size:
        total = 0.0
        for k in range(x.shape[1]):
            total += x[i, k]
        y[i] = total
        if total < 5 or x[i, 0] == 3:
            print("thread", i, "of", x[i, 0], total)
        y[i] += 1


@gpu.jit
def prints_between_barriers(x, y):
    i, t = gpu.grid(1), gpu.threadIdx.x
    s = gpu.shared.array(128, np.float64)
    s[t] = x[i, 0] if i < y.size else 0.0
    for k in range(3):
        gpu.syncthreads()
        other = s[(t + k) % gpu.blockDim.x]
        if other > 6:
            print(k, i, other, bool(t & 1))
    if i < y.size:
        y[i] = other


@pytest.mark.parametrize("block", [1, 31, 33, 97, 128])
@pytest.mark.parametrize("kernel", [prints_what_is_odd, prints_between_barriers], ids=lambda k: k.__name__)
def test_lanes_print_in_the_order_of_threads(kernel: Callable[..., Any], block: int, capsys: Any) -> None:
    x = np.random.default_rng(2).integers(0, 9, (200, 3)).astype(np.float64)
    said = []
    for device in ["cpu", "python"]:
        y = np.zeros(200)
        with gpu.device(device):
            kernel[-(-200 // block), block](x, y)
            gpu.synchronize()
        said.append((capsys.readouterr().out, y.tolist()))
    assert said[0] == said[1]
    assert said[0][0].count("\n") > 10
    with gpu.device("cpu"):
        assert "x double>" in kernel.inspect("llvm")


def test_a_shared_array_that_nobody_uses() -> None:
    @gpu.jit
    def unused(x, y):
        i = gpu.grid(1)
        gpu.shared.array(64, np.int32)
        if x[i] < 0:
            raise ValueError(i)
        y[i] = x[i]

    x, y = np.arange(64), np.zeros(64, np.int64)
    with gpu.device("cpu"):
        unused[2, 32](x, y)
    assert (x == y).all()


def test_a_number_that_a_loop_decides_late_is_compared() -> None:
    """LLVM's pass that splits loops at comparisons crashed where the number was a PHI in the middle of a loop."""

    @gpu.jit
    def late(x, y, n):
        i = gpu.grid(1)
        t = gpu.threadIdx.x
        v0, v1, v2 = np.int32(t), np.int32(i), np.int32(1)
        a = gpu.local.array(8, np.int32)
        s = gpu.shared.array(128, np.int32)
        for k in range(8):
            a[k] = np.int32(k)
        s[t] = v0
        gpu.syncthreads()
        v1 = s[t % gpu.blockDim.x]
        gpu.syncthreads()
        for _ in range(t & 3):
            if v0 == np.int32(t):
                if i < n:
                    v2 = np.int32(t - 2)
                else:
                    v0 = np.int32(t // a[v0 & 7])
            else:
                v2 = np.int32(v2 & a[0])
            if i < n:
                break
        a[6] = np.int32(t - a[v0 & 7])
        s[t] = v1
        gpu.syncthreads()
        if i < n:
            y[i] = a[v0 & 7] + s[(t + 5) % gpu.blockDim.x] + v2

    results = []
    for device in ["cpu", "python"]:
        y = np.zeros(62, np.int64)
        with gpu.device(device):
            late[2, 31](np.arange(64, dtype=np.int32), y, 59)
        results.append(y.tolist())
    assert results[0] == results[1]


@gpu.jit
def same_quotient(a, c, out):
    i = gpu.grid(1)
    n, d = c[0], c[1]
    if n > 0 and d > 0 and 0 < i < a.size:
        out[i] = a[n // d] + a[i]


@gpu.jit
def same_of_two(a, c, out):
    i = gpu.grid(1)
    n, d = c[0], c[1]
    if n > 0 and d > 0 and a[i] > 11:
        q = n if n > 5 else d
        out[i] = a[q % d]


@gpu.jit
def same_in_a_loop(a, c, out):
    i = gpu.grid(1)
    d = max(c[1], 1)
    if i < out.size and d > 0:
        total = 0
        for k in range(a.size):
            if a[k] > 13:
                total += a[i // d]
        out[i] = total


@pytest.mark.parametrize("dtype", ["u1", "u4", "u8", "i4", "i8"])
@pytest.mark.parametrize("kernel", [same_quotient, same_of_two, same_in_a_loop], ids=lambda k: k.__name__)
def test_divisions_that_the_first_lane_does_not_come_to(kernel: gpu.Kernel, dtype: str) -> None:
    """What is made of them are only addresses: LLVM's vectoriser did the division for the first lane alone."""
    a = np.arange(10, 43, dtype="i4")
    results = []
    for device in ("python", "cpu"):
        out = np.zeros(33, "i8")
        with gpu.device(device):
            kernel[1, 33](a, np.array([7, 4], dtype), out)
        results.append(out.tolist())
    assert results[0] == results[1]
