"""Threads that cooperate: shared memory, barriers, atomics, warp operations, against what they are defined to do."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

pytestmark = pytest.mark.one_version

TILE = 8
ROWS, COLUMNS = 4, 8


class Size(enum.IntEnum):
    SMALL = 16


class Sizes:
    small = 16


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


# ---- shared memory

SHAPE = (ROWS, COLUMNS)


def shaped(shape: Any, dtype: Any = np.float32) -> Any:
    """A kernel that turns the first 16 of its elements around in a shared array of a shape from its closure."""

    @gpu.jit
    def turned(a, o):
        s = gpu.shared.array(shape, dtype=dtype).ravel()
        t = gpu.threadIdx.x
        s[t] = a[t]
        gpu.syncthreads()
        o[t] = s[15 - t]

    return turned


@pytest.mark.parametrize(
    "shape",
    [16, 2 * TILE, (16,), (2, 8), SHAPE, (TILE // 2, 2, 2), Size.SMALL, Sizes.small, np.int32(16), (Size.SMALL, 2)],
    ids=repr,
)
def test_shapes_of_shared_arrays(shape: Any) -> None:
    a = np.arange(16, dtype=np.float32)
    o = np.zeros_like(a)
    shaped(shape)[1, 16](a, o)
    assert (o == a[::-1]).all()


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint16",
        "i4",
        "float64",
        np.bool_,
        np.uint64,
        np.float16,
        np.complex64,
        np.dtype("c16"),
        gpu.bfloat16,
        float,
    ],
    ids=str,
)
def test_types_of_shared_arrays(dtype: Any) -> None:
    a = np.arange(16) % 2
    o = np.zeros(16, np.complex128)
    shaped(16, dtype)[1, 16](a, o)
    assert (o == a[::-1]).all()


@gpu.jit
def of_globals(o):
    s = gpu.shared.array((ROWS, COLUMNS * 2), np.int32, alignment=16)
    y, x = gpu.threadIdx.y, gpu.threadIdx.x
    s[y, x] = y * 100 + x
    gpu.syncthreads()
    o[y, x] = s[-1 - y, -1 - x] + s[y:][0][x]


def test_indices_of_shared_arrays() -> None:
    o = np.zeros((ROWS, 2 * COLUMNS), np.int32)
    of_globals[1, (2 * COLUMNS, ROWS)](o)
    s = np.add.outer(np.arange(ROWS) * 100, np.arange(2 * COLUMNS))
    assert (o == s[::-1, ::-1] + s).all()


def reversed_in(s, t, n):
    """A device function with an array of its own, and a barrier."""
    mine = gpu.shared.array(32, np.int64)
    mine[t] = s[t]
    gpu.syncthreads()
    v = mine[n - 1 - t]
    gpu.syncthreads()
    return v


@gpu.jit
def through_functions(o):
    s = gpu.shared.array(32, np.int64)
    t = gpu.threadIdx.x
    s[t] = t
    pair = (s, s[16:])
    gpu.syncthreads()
    once = reversed_in(pair[0], t, 32)
    s[t] = once
    gpu.syncthreads()
    o[t] = once * 1000 + reversed_in(s, t, 32) * 10 + pair[1][t // 2] - pair[1][t // 2]


def test_shared_arrays_pass_through_functions() -> None:
    o = np.zeros(32, np.int64)
    through_functions[1, 32](o)
    t = np.arange(32)
    assert (o == (31 - t) * 1000 + t * 10).all()
    ptx = through_functions.inspect("ptx", "i8[::1]", arch="sm_80")
    assert ptx.count(".shared .align") == 2, "a function called twice has one array"


@gpu.jit
def dynamic(o):
    t = gpu.threadIdx.x
    floats = gpu.shared.array(0, np.float32)[:16]
    integers = gpu.shared.array(0, np.int32)[16:32]
    wide = gpu.shared.array(0, np.uint8)[128:].view(np.float64).reshape(2, -1)
    floats[t] = np.float32(t) / 2
    integers[t] = t
    wide[t // 8, t % 8] = -t
    gpu.syncthreads()
    o[t] = floats[15 - t] + integers[15 - t] * 100 + wide[1 - t // 8, t % 8] * 10000
    o[16] = gpu.shared.array(0, np.float64).size


def test_dynamic_shared_memory() -> None:
    o = np.zeros(17)
    dynamic[1, 16, 0, 256](o)
    t = np.arange(16)
    assert (o[:16] == (15 - t) / 2 + (15 - t) * 100 - 10000 * (t ^ 8)).all()
    assert o[16] == 32


@cuda.jit
def numba_shared(a, o):
    s = cuda.shared.array(shape=(2, TILE), dtype=cuda.float32)
    mine = cuda.local.array(2, cuda.float64)
    i = cuda.threadIdx.x
    s[i // TILE, i % TILE] = a[i]
    cuda.syncthreads()
    for k in range(2):
        mine[k] = s[k, i % TILE]
    o[i] = mine[0] + 100 * mine[-1] + cuda.const.array_like(TABLE)[i % 3]


TABLE = np.array([1000, 2000, 3000])


def test_numba_names() -> None:
    a = np.arange(16, dtype=np.float32)
    o = np.zeros(16)
    numba_shared[1, 16](a, o)
    t = np.arange(16)
    assert (o == t % 8 + 100 * (8 + t % 8) + TABLE[t % 3]).all()


@gpu.jit
def barriers(o):
    t = gpu.threadIdx.x
    o[t, 0] = gpu.syncthreads_count(t % 3 == 0)
    o[t, 1] = gpu.syncthreads_and(t < 40)
    o[t, 2] = gpu.syncthreads_or(t == 39)
    o[t, 3] = gpu.syncthreads_and(t < 39) + gpu.syncthreads_or(t > 39)


def test_barriers_with_predicates() -> None:
    o = np.full((40, 4), -1)
    barriers[1, 40](o)
    assert (o == [14, 1, 1, 0]).all()


@gpu.jit
def fences(data, flag, o):
    if gpu.blockIdx.x == 0:
        data[0] = 42
        gpu.threadfence()
        flag[0] = 1
    else:
        while flag[0] == 0:
            pass
        gpu.threadfence()
        gpu.threadfence_block()
        gpu.threadfence_system()
        o[0] = data[0]


def test_fences_order_memory() -> None:
    o = np.zeros(1, np.int64)
    fences[2, 1](np.zeros(1, np.int64), np.zeros(1, np.int32), o)
    assert o[0] == 42


@gpu.jit(device=True)
def waits(x):
    gpu.syncthreads()
    return x


@gpu.jit(device=True)
def shares(x):
    return gpu.shared.array(4, np.float32)[0] + x


@pytest.mark.parametrize("function", [waits, shares], ids=["waits", "shares"])
def test_a_call_from_python_has_no_other_threads(function: Any, device: str) -> None:
    error = gpu.OutsideKernelError if device == "python" else gpu.UnsupportedError
    with pytest.raises(error, match=r"of a launch, and this is a call from Python|this is plain Python"):
        function(1.0)


# ---- hints for caches


@gpu.jit
def copies(x, o):
    i = gpu.grid(1)
    o[0, i] = gpu.load(x, i)
    o[1, i] = gpu.load(x, -1 - i, cache="cg")
    o[2, i] = gpu.load(x, i, cache="cs")
    o[3, i] = gpu.load(x, (i,), "lu")
    o[4, i] = gpu.load(x, i, cache="cv")
    gpu.store(o, (5, i), x[i])
    gpu.store(o, (6, -1 - i), x[i], cache="cg")
    gpu.store(o, (7, i), x[i], cache="cs")
    gpu.store(o, (8, i), x[i], cache="wt")


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", gpu.bfloat16.dtype], ids=str
)
def test_hints_for_caches_change_nothing(dtype: Any) -> None:
    x = (np.arange(16) % 7).astype(dtype)
    o = np.zeros((9, 16), x.dtype)
    copies[1, 16](x, o)
    for row, got in enumerate(o):
        assert (got == (x[::-1] if row in (1, 6) else x)).all(), row


def test_hints_for_caches_in_ptx() -> None:
    ptx = copies.inspect("ptx", "f4[::1], f4[:, ::1]", arch="sm_80")
    for instruction in ("ld.global.cg.b32", "ld.global.cs.b32", "ld.global.lu.b32", "ld.volatile.global"):
        assert instruction in ptx
    for instruction in ("st.global.cg.b32", "st.global.cs.b32", "st.volatile.global"):
        assert instruction in ptx


@gpu.jit
def waits_for_another_kernel(flag, o):
    while flag[0] == 0:
        pass
    o[0] = gpu.atomic.load(flag, 1)


def test_what_is_read_anew_is_not_taken_for_constant() -> None:
    ptx = waits_for_another_kernel.inspect("ptx", "i4[::1], i4[::1]", arch="sm_80")
    assert "ld.global.nc" not in ptx and ptx.count("ld.volatile.global") == 2


# ---- neighbours as one access


def moving(width: int) -> Any:
    """A kernel whose threads move so many neighbours each, halves exchanged, from `start` on."""

    @gpu.jit
    def moved(x, o, start):
        i = start + width * gpu.grid(1)
        items = gpu.load(x, i, width=width)
        gpu.store(o, i, items[width // 2 :] + items[: width // 2])

    return moved


WIDE_TYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", gpu.bfloat16.dtype]


@pytest.mark.parametrize("dtype", WIDE_TYPES, ids=str)
def test_neighbours_at_any_alignment(dtype: Any) -> None:
    for width in (1, 2, 4, 16) if dtype == "f4" else (8,):
        for start in (0, 1, width // 2):
            x = (np.arange(16 * 6) % 7).astype(dtype)
            o = np.zeros_like(x)
            moving(width)[1, 4](x, o, start)
            part = slice(start, start + 4 * width)
            assert (o[part] == np.roll(x[part].reshape(4, width), width - width // 2, axis=1).ravel()).all(), start
            assert not o[: part.start].any() and not o[part.stop :].any()


@gpu.jit
def rows(x, o):
    s = gpu.shared.array((4, 8), np.float32, alignment=16)
    t = gpu.threadIdx.x
    for k in range(0, 8, 4):
        gpu.store(s, (t, k), gpu.load(x, (t, k), width=4))
    gpu.syncthreads()
    a, b = gpu.load(s, (3 - t, -2), width=2)
    gpu.store(o, t, (a, b), cache="cs") if o.ndim == 1 else gpu.store(o, (t, 0), (a, b))


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_neighbours_along_the_last_axis(order: str) -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    given = np.repeat(x, 2, axis=1)[:, ::2] if order == "strided" else np.array(x, order=order)
    o = np.zeros((4, 2), np.float32, order="C" if order == "C" else "F")
    rows[1, 4](given, o)
    assert (o == x[::-1, -2:]).all()


def test_neighbours_are_one_access_in_ptx() -> None:
    def accesses(kernel: Any, *types: str) -> list[str]:
        lines = kernel.inspect("ptx", ",".join(types), arch="sm_80").splitlines()
        return [line.split()[0] for line in lines if ".global" in line and line.strip()[:3] in ("ld.", "st.")]

    @gpu.jit
    def explicit(x, o):
        i = gpu.grid(1)
        gpu.store(o, 4 * i, gpu.load(x, 4 * i, width=4))

    @gpu.jit
    def plain(x, o):
        i = 4 * gpu.grid(1)
        if i + 3 < o.size:
            o[i], o[i + 1], o[i + 2], o[i + 3] = x[i], x[i + 1], x[i + 2], x[i + 3]

    for kernel in (explicit, plain):
        assert accesses(kernel, "f4[::1]", "f4[::1]") == ["ld.global.nc.v4.b32", "st.global.v4.b32"]
        assert accesses(kernel, "f8[::1]", "f8[::1]") == ["ld.global.nc.v2.b64"] * 2 + ["st.global.v2.b64"] * 2
    both = accesses(moving(4), "f4[::1]", "f4[::1]", "int")
    wide, narrow = ["ld.global.nc.v4.b32", "st.global.v4.b32"], ["ld.global.nc.b32", "st.global.b32"]
    assert sorted(both) == sorted(wide + narrow * 4)

    @gpu.jit
    def hinted(x, o):
        i = gpu.grid(1)
        gpu.store(o, 8 * i, gpu.load(x, 8 * i, cache="cs", width=8), cache="cg")

    for dtype, unit in (("u1", "b64"), ("f2", "v2.b64")):
        assert accesses(hinted, *2 * [f"{dtype}[::1]"]) == [f"ld.global.cs.{unit}", f"st.global.cg.{unit}"]


@pytest.mark.parametrize("dtype", WIDE_TYPES, ids=str)
def test_neighbours_with_hints(dtype: Any) -> None:
    @gpu.jit
    def hinted(x, o):
        i = 2 * gpu.grid(1)
        gpu.store(o, i, gpu.load(x, i, cache="cs", width=2), cache="cg")
        gpu.store(o, 8 + 2 * i, gpu.load(x, 8 + 2 * i, cache="lu", width=4), cache="cs")

    x = (np.arange(24) % 7).astype(dtype)
    o = np.zeros_like(x)
    hinted[1, 4](x, o)
    assert (o == x).all()


@cuda.jit
def sums_without_waits(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]
        s[t] += s[t + 16]
        s[t] += s[t + 8]
        s[t] += s[t + 4]
        s[t] += s[t + 2]
        s[t] += s[t + 1]
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_programs_of_warps_in_step(device: str) -> None:
    x, out = np.arange(512, dtype="f4"), np.zeros(8, "f4")
    with gpu.device(device):
        sums_without_waits[8, 64](x, out)
    assert (out == x.reshape(8, 64).sum(1)).all()
