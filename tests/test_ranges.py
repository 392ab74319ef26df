"""A range has the numbers that it has in Python, also where a step passes the end of a 64-bit integer."""

from __future__ import annotations

import itertools

import gpu
import numpy as np
import pytest
from gpu import cuda

pytestmark = pytest.mark.one_version

LEAST, MOST = -(2**63), 2**63 - 1
MANY = 6


def counting(step: str):
    """A kernel that writes the first numbers of range(a, b, step) and how many there were, at most MANY."""
    scope: dict = {}
    source = (
        "def k(a, b, c, out):\n    n = 0\n    for i in range(a, b, STEP):\n        out[1 + n] = i\n        n += 1\n"
    )
    exec(source.replace("STEP", step) + f"        if n == {MANY}:\n            break\n    out[0] = n\n", scope)
    return scope["k"]


RUN_TIME = gpu.jit(counting("c"))
CASES = [
    (MOST - 4, MOST, 3),
    (0, MOST, 2**62),
    (5, MOST, 2**61),
    (LEAST + 4, LEAST, -3),
    (-5, LEAST, -(2**62)),
    (MOST, 0, LEAST),
    (LEAST, -1, 2**61),
    (-3, 12, 4),
    (12, -3, -4),
    (3, 3, 2),
    (3, -3, 2),
    (MOST - 1, MOST, 1),
    (LEAST + 1, LEAST, -1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_range_ends_where_pythons_does(case: tuple[int, int, int]) -> None:
    want = list(itertools.islice(range(*case), MANY))
    for kernel in (RUN_TIME, gpu.jit(counting(str(case[2])))):
        out = np.zeros(MANY + 1, np.int64)
        kernel[1, 1](*case, out)
        assert out[: 1 + len(want)].tolist() == [len(want), *want]


@pytest.mark.parametrize(
    "case", [(2**31 - 5, 2**31 - 1, 3), (-(2**31) + 4, -(2**31), -3), (0, 2**31 - 1, 2**30)], ids=str
)
def test_narrow_counters_of_the_numba_dialect(case: tuple[int, int, int]) -> None:
    out = np.zeros(MANY + 1, np.int64)
    cuda.jit(counting("c"))[1, 1](*(np.int32(v) for v in case), out)
    want = list(range(*case))
    assert out[: 1 + len(want)].tolist() == [len(want), *want]


def test_unsigned_counters_of_the_numba_dialect() -> None:
    case = (np.uint64(2**64 - 6), np.uint64(2**64 - 1), np.uint64(4))
    out = np.zeros(MANY + 1, np.uint64)
    cuda.jit(counting("c"))[1, 1](*case, out)
    assert out[:3].tolist() == [2, 2**64 - 6, 2**64 - 2]


def test_a_step_of_zero_raises() -> None:
    with pytest.raises(ValueError, match=r"range\(\) arg 3 must not be zero.* in k"):
        RUN_TIME[1, 1](0, 5, 0, np.zeros(MANY + 1, np.int64))
        gpu.synchronize()


def test_more_than_64_bits_between_start_and_stop_raise() -> None:
    with pytest.raises(OverflowError, match=r"range\(\) spans more than 64 bits hold"):
        RUN_TIME[1, 1](LEAST, MOST, 2**62, np.zeros(MANY + 1, np.int64))
        gpu.synchronize()


@gpu.jit(device=True)
def length(a, b, c):
    return len(range(a, b, c))


@gpu.jit(device=True)
def inside(x, a, b, c):
    return x in range(a, b, c)


@gpu.jit(device=True)
def outside_constant(x):
    return x not in range(3, 20, 4)


@gpu.jit(device=True)
def backwards(a, b, c):
    total = 0
    for i in reversed(range(a, b, c)):
        total = total * 31 + i
    return total


@pytest.mark.parametrize(
    "case", [(0, 9, 2), (9, 0, -2), (-7, 7, 3), (5, 5, 1), (5, 1, 1), (LEAST, LEAST + 9, 4), (0, MOST, 2**61)], ids=str
)
def test_length_membership_and_reversal(case: tuple[int, int, int]) -> None:
    numbers = range(*case)
    assert length(*case) == len(numbers)
    total = 0
    for i in reversed(numbers):
        total = total * 31 + i
    assert backwards(*case) == (total - LEAST) % 2**64 + LEAST
    for x in (*case, 0, 1, 2, 3, 3.0, 2.5, np.float32(4), np.int8(-1), np.uint64(2**64 - 1), True):
        assert inside(x, *case) == (x in numbers), x
        assert outside_constant(x) == (x not in range(3, 20, 4)), x


@pytest.mark.parametrize("first", [5, -3, 1 << 40])
def test_integers_that_are_no_counts(first: int) -> None:
    """A launch whose integers fit 31 bits may have code of its own; others have the same meaning."""

    @gpu.jit
    def sums(x, n, pair, o):
        i = gpu.grid(1)
        o[i, 0] = i + n * n
        o[i, 1] = x[(pair[0] + i) % x.size]
        o[i, 2] = x[min(n, 2)] if n > -4 else 0
        o[i, 3] = n // 3 + n % 5 - (n < 0)

    x = np.arange(8) * 10
    i = np.arange(4)
    for n in (first, 7, -3, 1 << 40, 0):
        o = np.zeros((4, 4), np.int64)
        sums[1, 4](x, n, (n, 2.5), o)
        want = [
            i + ((n * n + 2**63) % 2**64 - 2**63),
            x[(n + i) % 8],
            x[min(n, 2)] + 0 * i,
            n // 3 + n % 5 - (n < 0) + 0 * i,
        ]
        assert (o == np.stack(want, 1)).all(), n


@pytest.mark.parametrize("blocks", [2**21, 2**21 + 1])
def test_a_block_index_times_1024(blocks: int) -> None:
    """Up to 2**21 blocks the product fits 31 bits, and so do tiles of so many elements; above, it needs more."""

    @gpu.jit
    def last(o):
        if gpu.blockIdx.x == gpu.gridDim.x - 1:
            o[0] = gpu.blockIdx.x * 1024 + 1023
            o[1] = gpu.gridDim.x * 1024

    o = np.zeros(2, np.int64)
    last[blocks, 1](o)
    assert o.tolist() == [blocks * 1024 - 1, blocks * 1024]


@pytest.mark.parametrize("n", [5, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 3])
def test_strides_that_pass_32_bits(n: int) -> None:
    @gpu.jit
    def numbers(n, step, o):
        for i in range(gpu.grid(1), n, step):
            if i + step >= n:
                o[gpu.grid(1)] = i

    for step in (2**30 + 1, 2**31 - 1, 2**31 + 1):
        o = np.zeros(3, np.int64)
        numbers[1, 3](n, step, o)
        assert o.tolist() == [range(t, n, step)[-1] for t in range(3)]


def test_remainders_by_any_divisor() -> None:
    """A remainder is nearer to 0 than the divisor, whatever their signs: as an index, and where it is compared."""

    @gpu.jit
    def remainders(a, d, x, o):
        i = gpu.grid(1)
        r = a[i] % d[i]
        o[i, 0] = r
        o[i, 1] = x[r]
        o[i, 2] = (r < 128) + 2 * (r > -128) + 4 * (r > 0)

    a, d = (v.ravel() for v in np.meshgrid(np.arange(-130, 131, 13), np.array([-128, -7, -1, 0, 1, 5, 127])))
    x = np.arange(256) * 3
    o = np.zeros((a.size, 3), np.int64)
    remainders[1, a.size](a.astype(np.int32), d.astype(np.int8), x, o)
    with np.errstate(divide="ignore"):
        r = a % d
    assert o.T.tolist() == [r.tolist(), x[r].tolist(), ((r < 128) + 2 * (r > -128) + 4 * (r > 0)).tolist()]


@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.int8])
def test_shares_of_blocks_through_other_types(kind: type) -> None:
    """How large a block's share, -(-n // blocks), gets is known, unless it is converted on the way."""

    @gpu.jit
    def shares(n, o):
        part = -np.int64(kind(-n // gpu.gridDim.x))
        o[gpu.blockIdx.x] = 1 if part * gpu.blockIdx.x < 0 else 0

    for n in (10, 1000):
        o = np.zeros(4, np.int64)
        shares[4, 1](np.int64(n), o)
        with np.errstate(over="ignore"):
            part = -int(np.array(-n // 4).astype(kind))
        assert o.tolist() == [int(part * i < 0) for i in range(4)]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_numbers_below_zero_in_sums_that_are_not(device: str) -> None:
    """`j` looks like an index that counts from the end; it isn't one, and may be below 0."""

    @gpu.jit
    def moved(x, i, o):
        t = gpu.threadIdx.x
        k = min(max(i[t], np.int32(-20)), np.int32(9))
        j = np.where(k < 0, k + 16, k)
        o[t] = x[j + 16]

    i, o = np.arange(-32, 32, dtype=np.int32), np.zeros(64, np.int64)
    with gpu.device(device):
        moved[1, 64](np.arange(32), i, o)
    k = np.clip(i, -20, 9)
    assert (o == np.where(k < 0, k + 16, k) + 16).all()


def test_what_guards_a_loop_is_known_in_it() -> None:
    """Indices that are held within an array next to a guard are small and not negative, as is what the loop adds."""

    @gpu.jit
    def blurred(x, out):
        j, i = gpu.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            s = np.float32(0)
            for di in range(-2, 3):
                for dj in range(-2, 3):
                    s += x[min(max(i + di, 0), x.shape[0] - 1), min(max(j + dj, 0), x.shape[1] - 1)]
            out[i, j] = s

    ir = blurred.inspect("ir", "f4[:, ::1], f4[:, ::1]")
    assert "select" not in ir and "max i64" not in ir and "mul i64" not in ir
    x = np.arange(77, dtype=np.float32).reshape(7, 11)
    out = np.zeros_like(x)
    blurred[gpu.auto](x, out)
    edged = np.pad(x, 2, "edge")
    assert (out == sum(edged[i : i + 7, j : j + 11] for i in range(5) for j in range(5))).all()
