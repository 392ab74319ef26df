"""Atomic operations of every type, on arguments and shared arrays, against one step after the other in Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

pytestmark = pytest.mark.one_version

DEVICES = ["cpu", "emulated"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8", "bfloat16"]
THREADS = 96


@pytest.fixture(params=DEVICES, autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def dtype_of(name: str) -> np.dtype[Any]:
    return gpu.bfloat16.dtype if name == "bfloat16" else np.dtype(name)


def applying(name: str, index: int = 1) -> Any:
    """A kernel in which each thread applies an operation to one element, and keeps what was there before."""
    operation = getattr(gpu.atomic, name)

    def kernel(x, v, old):
        i = gpu.grid(1)
        old[i] = operation(x, index, v[i])

    kernel.__name__ = name
    return gpu.jit(kernel)


adds = applying("add")


@gpu.jit
def by_cas(x, v, old):
    """Adds with a loop around compare-and-swap."""
    i = gpu.grid(1)
    seen = x[1]
    while True:
        found = gpu.atomic.cas(x, 1, seen, seen + v[i])
        if found == seen:
            break
        seen = found
    old[i] = found


EVERY = [
    (adds, INTEGERS + FLOATS, lambda x, v: x + v.sum(dtype=v.dtype)),
    (applying("sub", -2), INTEGERS + FLOATS, lambda x, v: x - v.sum(dtype=v.dtype)),
    (applying("min"), INTEGERS + FLOATS, lambda x, v: min(x, v.min())),
    (applying("max"), INTEGERS + FLOATS, lambda x, v: max(x, v.max())),
    (applying("nanmin"), INTEGERS + FLOATS, lambda x, v: min(x, v.min())),
    (applying("nanmax"), INTEGERS + FLOATS, lambda x, v: max(x, v.max())),
    (applying("and_"), [*INTEGERS, "?"], lambda x, v: x & np.bitwise_and.reduce(v)),
    (applying("or_"), [*INTEGERS, "?"], lambda x, v: x | np.bitwise_or.reduce(v)),
    (applying("xor"), [*INTEGERS, "?"], lambda x, v: x ^ np.bitwise_xor.reduce(v)),
    (by_cas, INTEGERS + FLOATS, lambda x, v: x + v.sum(dtype=v.dtype)),
]
CASES = [(k, name, f) for k, names, f in EVERY for name in names]


@pytest.mark.parametrize(("kernel", "name", "result"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_result_and_neighbours(kernel: Any, name: str, result: Callable[..., Any]) -> None:
    """What comes out doesn't depend on the order; elements beside it, in the same word too, stay as they were."""
    dtype = dtype_of(name)
    v = (np.arange(THREADS) % 3).astype(dtype)
    x = np.array([1, 7, 1]).astype(dtype)
    old = np.zeros(THREADS, dtype)
    with np.errstate(all="ignore"):
        want = dtype.type(result(x[1], v))
        kernel[3, THREADS // 3](x, v, old)
    assert x[1] == want
    assert x[0] == x[2] == 1
    assert dtype.type(7) in old, "one thread comes first"


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "?"])
def test_exchanges_pass_every_value_on(name: str) -> None:
    dtype = dtype_of(name)
    v = np.arange(THREADS).astype(dtype)
    x, old = np.array([1, 100, 1], dtype), np.zeros(THREADS, dtype)
    applying("exch")[3, THREADS // 3](x, v, old)
    passed = sorted([*old.astype("f8"), float(x[1])])
    assert passed == sorted([*v.astype("f8"), float(dtype.type(100))])
    assert x[0] == x[2] == 1


@gpu.jit
def counts(x, old):
    i = gpu.grid(1)
    old[i] = gpu.atomic.inc(x, 0, 9)
    gpu.atomic.dec(x, 1, 9)


@pytest.mark.parametrize("name", ["u4", "u8"])
def test_counters_wrap_at_their_limit(name: str) -> None:
    x, old = np.array([0, 3], name), np.zeros(25, name)
    counts[1, 25](x, old)
    assert x[0] == 25 % 10 and sorted(old) == sorted(i % 10 for i in range(25))
    assert x[1] == (3 - 25) % 10


@gpu.jit
def complex_adds(x, v):
    gpu.atomic.add(x, (0, -1), v[gpu.grid(1)])
    gpu.atomic.sub(x, (1, 0), 2j)


@pytest.mark.parametrize("name", ["c8", "c16"])
def test_complex_numbers_are_added_by_parts(name: str) -> None:
    v = (np.arange(8) * (1 + 2j)).astype(name)
    x = np.zeros((2, 2), name)
    complex_adds[1, 8](x, v)
    assert (x == [[0, v.sum()], [-16j, 0]]).all()


NAN = float("nan")

# The value there, the operand, then what is there afterwards: min, max, nanmin, nanmax.
WITH_NAN = [
    (1.0, NAN, 1.0, 1.0, 1.0, 1.0),
    (NAN, 1.0, NAN, NAN, 1.0, 1.0),
    (NAN, NAN, NAN, NAN, NAN, NAN),
    (1.0, 2.0, 1.0, 2.0, 1.0, 2.0),
    (np.inf, NAN, np.inf, np.inf, np.inf, np.inf),
    (-np.inf, 0.0, -np.inf, 0.0, -np.inf, 0.0),
]


@gpu.jit
def four(x, v):
    gpu.atomic.min(x, 0, v)
    gpu.atomic.max(x, 1, v)
    gpu.atomic.nanmin(x, 2, v)
    gpu.atomic.nanmax(x, 3, v)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("row", WITH_NAN, ids=str)
def test_nan(name: str, row: tuple[float, ...]) -> None:
    dtype = dtype_of(name)
    x = np.full(4, row[0], dtype)
    four[1, 1](x, dtype.type(row[1]))
    np.testing.assert_array_equal(x.astype("f8"), row[2:])


@gpu.jit
def places(x, o, i):
    o[0] = gpu.atomic.add(x, (1, 2), 1)
    o[1] = gpu.atomic.add(x, (-1, -1), 1)
    o[2] = gpu.atomic.add(x[1], i, 1)
    o[3] = gpu.atomic.add(x[:, 0], -1, 1)
    o[4] = gpu.atomic.add(x.T, (i, 0), 1)


def test_indices() -> None:
    x, o = np.arange(6).reshape(2, 3), np.zeros(5, np.int64)
    places[1, 1](x, o, -2)
    assert (o == [5, 6, 4, 3, 1]).all()
    assert (x == [[0, 2, 2], [4, 5, 7]]).all()


def test_arrays_with_strides() -> None:
    base = np.zeros((4, 6), np.int16)
    adds[1, 4](base[:, ::2][1], np.ones(4, np.int16), np.zeros(4, np.int16))
    assert base[1, 2] == 4 and base.sum() == 4


@gpu.jit
def ordered(x, o):
    o[0] = gpu.atomic.add(x, 0, 1, scope="block", order="acquire")
    o[1] = gpu.atomic.exch(x, 0, 5, scope="system", order="seq_cst")
    o[2] = gpu.atomic.cas(x, 0, 5, 6, order="acq_rel")
    gpu.atomic.store(x, 0, gpu.atomic.load(x, 0, order="seq_cst") + 1, order="release")
    o[3] = gpu.atomic.load(x, 0, order="relaxed", scope="system")
    gpu.atomic.add(x, 0, 1, order="release")


def test_scopes_and_orders(device: str) -> None:
    x, o = np.zeros(1, np.int32), np.zeros(4, np.int32)
    ordered[1, 1](x, o)
    assert (o == [0, 1, 5, 7]).all() and x[0] == 8
    ptx = ordered.inspect("ptx", "i4[::1], i4[::1]", arch="sm_80")
    assert "atom.acquire.cta.global.add" in ptx and "fence.sc.gpu" in ptx


@cuda.jit
def numba_atomics(x, u, o):
    i = cuda.grid(1)
    cuda.atomic.add(x, 0, i)
    cuda.atomic.max(x, 1, i)
    o[i] = cuda.atomic.compare_and_swap(x[2:], 0, i + 1)
    cuda.atomic.cas(x, 3, 0, i + 1)
    cuda.atomic.inc(u, 0, 1000)


def test_numba_signatures() -> None:
    x, u, o = np.zeros(4, np.int32), np.zeros(1, np.uint32), np.zeros(64, np.int32)
    numba_atomics[2, 32](x, u, o)
    assert x[0] == 63 * 32 and x[1] == 63 and u[0] == 64
    assert sorted(o)[0] == 0 and (o == 0).sum() == 1 and o[x[2] - 1] == 0
    assert 1 <= x[3] <= 64


@gpu.jit
def shared_histogram(a, bins):
    mine = gpu.shared.array(16, np.uint16)
    t = gpu.threadIdx.x
    if t < 16:
        mine[t] = 0
    gpu.syncthreads()
    for i in range(gpu.grid(1), a.size, gpu.gridsize(1)):
        gpu.atomic.add(mine, a[i] % 16, 1)
    gpu.syncthreads()
    if t < 16:
        gpu.atomic.add(bins, t, mine[t])


def test_shared_arrays() -> None:
    a = np.random.default_rng(1).integers(0, 1000, 2000)
    bins = np.zeros(16, np.int64)
    shared_histogram[4, 64](a, bins)
    assert (bins == np.bincount(a % 16, minlength=16)).all()


@gpu.jit
def ticket_lock(lock, total, count):
    ticket = gpu.atomic.add(lock, 0, 1)
    while gpu.atomic.load(lock, 1) != ticket:
        pass
    total[0] = total[0] + count
    gpu.atomic.store(lock, 1, ticket + 1)


def test_ticket_lock_between_blocks() -> None:
    lock, total = np.zeros(2, np.int32), np.zeros(1, np.int64)
    ticket_lock[40, 1](lock, total, 3)
    assert total[0] == 120


@gpu.jit
def everywhere(i, u, f, d, h):
    """Every operation of the IR with a scope and an order that aren't the usual ones."""
    gpu.atomic.add(i, 0, 1, scope="system", order="release")
    gpu.atomic.sub(i, 0, 1, scope="block")
    gpu.atomic.min(i, 0, 1, order="acquire")
    gpu.atomic.max(u, 0, 1, order="acq_rel")
    gpu.atomic.inc(u, 0, 1, order="seq_cst")
    gpu.atomic.dec(u, 0, 1, scope="block", order="seq_cst")
    gpu.atomic.and_(u, 0, 1, scope="system")
    gpu.atomic.or_(i, 0, 1, scope="block", order="release")
    gpu.atomic.xor(i, 0, 1, scope="block", order="acquire")
    gpu.atomic.add(f, 0, 1, scope="system", order="acq_rel")
    gpu.atomic.sub(d, 0, 1, scope="block", order="release")
    gpu.atomic.exch(f, 0, 1, scope="system", order="seq_cst")
    gpu.atomic.exch(d, 0, 1, scope="block", order="acquire")
    gpu.atomic.nanmax(f, 0, 1, scope="block", order="seq_cst")
    gpu.atomic.add(h, 0, 1, scope="block", order="acq_rel")
    gpu.atomic.cas(h, 0, 1, 2, scope="system", order="release")


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_ptx_of_scopes_and_orders(arch: str, tmp_path: Path) -> None:
    ptx = everywhere.inspect("ptx", "i4[::1], u4[::1], f4[::1], f8[::1], f2[::1]", arch=arch)
    for text in ("add.u32", "add.f32", "exch.b64", "inc.u32"):
        assert re.search(rf"atom\.(?:release|acq_rel|acquire)\.(?:cta|sys|gpu)\.global\.{text}", ptx), text
    assert not re.search(r"atom\.global", ptx), "an atom without its scope and order"
    (tmp_path / "k.ptx").write_text(ptx)
    command = ["ptxas", f"-arch={arch}", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.ptx")]
    subprocess.run(command, check=True, capture_output=True, text=True)


@gpu.jit
def extremes_of_one_element(x, least, most):
    i = gpu.grid(1)
    gpu.atomic.min(least, 1, x[i])
    gpu.atomic.max(most, 1, x[i])


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2"])
def test_all_lanes_meet_in_a_small_element(device: str, dtype: str) -> None:
    x = np.random.default_rng(1).permutation(120)[:64].astype(dtype)
    least, most = np.full(4, 119, dtype), np.zeros(4, dtype)
    with gpu.device(device):
        extremes_of_one_element[2, 32](x, least, most)
        gpu.synchronize()
    assert least.tolist() == [119, x.min(), 119, 119] and most.tolist() == [0, x.max(), 0, 0]
