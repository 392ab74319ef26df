"""Bits, saturation, selection, clocks: GPUs' instructions on every device, in both dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    with gpu.device(request.param):
        yield


def body(x, o, b):
    i = names.grid(1)
    if i < x.size:
        o[i, 0] = names.popc(x[i])
        o[i, 1] = names.clz(x[i])
        o[i, 2] = names.ffs(x[i])
        b[i] = names.brev(x[i])


names = gpu
KERNELS = {"numpy": gpu.jit(body), "numba": cuda.jit(body)}


def values(name: str) -> np.ndarray:
    bits = np.dtype(name).itemsize * 8
    some = [0, 1, 2, 3, 1 << (bits - 1), (1 << bits) - 1, 0x5A, 12, (1 << bits) // 3]
    return np.array(some, np.uint64).astype(f"u{bits // 8}").view(name)


@pytest.mark.parametrize("dialect", KERNELS)
@pytest.mark.parametrize("name", INTEGERS)
def test_bits_of_integers(name: str, dialect: str) -> None:
    x = values(name)
    bits = x.dtype.itemsize * 8
    o, b = np.zeros((x.size, 3), np.int64), np.zeros_like(x)
    KERNELS[dialect][1, 16](x, o, b)
    plain = [int(v) & ((1 << bits) - 1) for v in x]
    assert o[:, 0].tolist() == [bin(v).count("1") for v in plain]
    assert o[:, 1].tolist() == [bits - v.bit_length() for v in plain]
    assert o[:, 2].tolist() == [(v & -v).bit_length() for v in plain]
    if dialect == "numpy" or bits >= 32:
        assert [int(v) & ((1 << bits) - 1) for v in b] == [int(f"{v:0{bits}b}"[::-1], 2) for v in plain]


@gpu.jit
def of_python_numbers(n, o):
    o[0] = gpu.popc(n)
    o[1] = gpu.clz(n)
    o[2] = gpu.ffs(n)
    o[3] = gpu.brev(n)
    o[4] = gpu.mulhi(n, n)
    o[5] = gpu.popc(255) + gpu.clz(1) * 1000


def test_a_python_int_has_64_bits() -> None:
    o = np.zeros(6, np.int64)
    of_python_numbers[1, 1](3 << 40, o)
    assert o.tolist() == [2, 22, 41, 3 << 22, 9 << 16, 8 + 63000]


@gpu.jit
def words(x, y, o):
    i = gpu.grid(1)
    o[i, 0] = gpu.byte_perm(x[i], y[i], 0x3715)
    o[i, 1] = gpu.byte_perm(x[i], y[i], 0x8C4F)
    for n in range(40):
        o[i, 2] += gpu.funnelshift_l(x[i], y[i], n) * np.uint32(n + 1)
        o[i, 3] += gpu.funnelshift_r(x[i], y[i], n) * np.uint32(n + 1)
        o[i, 4] += gpu.funnelshift_lc(x[i], y[i], n) * np.uint32(n + 1)
        o[i, 5] += gpu.funnelshift_rc(x[i], y[i], n) * np.uint32(n + 1)


def byte_perm(x: int, y: int, selector: int) -> int:
    chosen = 0
    for k in range(4):
        nibble = selector >> 4 * k & 15
        byte = (y << 32 | x) >> 8 * (nibble & 7) & 255
        chosen |= ((255 if byte & 128 else 0) if nibble & 8 else byte) << 8 * k
    return chosen


def test_words() -> None:
    x, y = (np.random.default_rng(1).integers(0, 2**32, 8, np.uint32) for _ in range(2))
    y[0], x[1] = 0, 0xFFFFFFFF
    o = np.zeros((8, 6), np.uint32)
    words[1, 8](x, y, o)
    for row, lo, hi in zip(o.tolist(), x.tolist(), y.tolist(), strict=True):
        both, mask = hi << 32 | lo, 2**32 - 1
        assert row[:2] == [byte_perm(lo, hi, 0x3715), byte_perm(lo, hi, 0x8C4F)]
        shifts = range(40)
        assert row[2] == sum((both << n % 32 >> 32 & mask) * (n + 1) for n in shifts) & mask
        assert row[3] == sum((both >> n % 32 & mask) * (n + 1) for n in shifts) & mask
        assert row[4] == sum((both << min(n, 32) >> 32 & mask) * (n + 1) for n in shifts) & mask
        assert row[5] == sum((both >> min(n, 32) & mask) * (n + 1) for n in shifts) & mask


@gpu.jit
def products(x, y, o):
    i = gpu.grid(1)
    o[i] = gpu.mulhi(x[i], y[i])


@pytest.mark.parametrize("name", INTEGERS)
def test_upper_halves_of_products(name: str) -> None:
    x = values(name)
    y, bits = x[::-1].copy(), x.dtype.itemsize * 8
    o = np.zeros_like(x)
    products[1, x.size](x, y, o)
    assert o.tolist() == [int(a) * int(b) >> bits for a, b in zip(x, y, strict=True)]


@gpu.jit
def floats(x, o):
    i = gpu.grid(1)
    o[i, 0] = gpu.saturate(x[i])
    o[i, 1] = gpu.rsqrt(x[i])
    o[i, 2] = gpu.cbrt(x[i])
    o[i, 3] = gpu.fma(x[i], x[i], -1)
    o[i, 4] = gpu.selp(x[i] > 1, x[i], 0)


@pytest.mark.parametrize("name", ["f4", "f8"])
def test_floats(name: str) -> None:
    x = np.array([0.25, 0.1, 1.0, 3.5, 1e10, -2.0, np.nan, np.inf, -np.inf], name)
    o = np.zeros((x.size, 5), name)
    floats[1, x.size](x, o)
    assert o[:, 0].tolist() == np.where(np.isnan(x), 0, np.clip(x, 0, 1)).tolist()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(o[:, 1], 1 / np.sqrt(x), rtol=3 * np.finfo(name).eps)
        np.testing.assert_allclose(o[:, 3], x * x - 1, rtol=2 * np.finfo(name).eps)
    np.testing.assert_allclose(o[:, 2], np.cbrt(x), rtol=2 * np.finfo(name).eps)
    assert o[:, 4].tolist() == np.where(x > 1, x, 0).tolist()


@gpu.jit
def times(o):
    first, ns = gpu.clock64(), gpu.globaltimer()
    low = gpu.clock()
    gpu.nanosleep(1000)
    o[0] = gpu.clock64() - first
    o[1] = gpu.globaltimer() - ns
    o[2] = gpu.clock() - low


def test_time_passes() -> None:
    o = np.full(3, -1)
    times[1, 1](o)
    assert o[0] > 0 and o[1] >= 0 and 0 < o[2] < 2**32


def test_types_of_the_numba_dialect() -> None:
    @cuda.jit
    def kernel(x, o):
        o[0] = cuda.ffs(x[0]) - 5
        o[1] = cuda.popc(x[0]) - 5

    def stored(name: str) -> Any:
        o = np.zeros(2, np.float64)
        kernel[1, 1](np.array([1], name), o)
        return o.tolist()

    assert stored("i4") == [-4, -4] and stored("i8") == [-4, -4]


# ---- gpu.fast


def fast(name: str) -> Any:
    function = FAST[name][0]

    @gpu.jit
    def kernel(x, y, o):
        i = gpu.grid(1)
        o[i] = function(x[i], y[i])

    return kernel


# the function and the exact one, the operands, and the largest error as (absolute, ULP)
FAST = {
    "sin": (lambda x, y: gpu.fast.sin(x), lambda x, y: np.sin(x), (-np.pi, np.pi), (2**-21.41, 0)),
    "cos": (lambda x, y: gpu.fast.cos(x), lambda x, y: np.cos(x), (-np.pi, np.pi), (2**-21.19, 0)),
    "tan": (lambda x, y: gpu.fast.tan(x), lambda x, y: np.tan(x), (-1, 1), (2**-19, 0)),
    "exp": (lambda x, y: gpu.fast.exp(x), lambda x, y: np.exp(x), (-10, 10), (0, 14)),
    "exp2": (lambda x, y: gpu.fast.exp2(x), lambda x, y: np.exp2(x), (-10, 10), (0, 3)),
    "exp10": (lambda x, y: gpu.fast.exp10(x), lambda x, y: 10**x, (-4, 4), (0, 18)),
    "log": (lambda x, y: gpu.fast.log(x), lambda x, y: np.log(x), (0.1, 100), (2**-21.41, 3)),
    "log2": (lambda x, y: gpu.fast.log2(x), lambda x, y: np.log2(x), (0.1, 100), (2**-22, 2)),
    "log10": (lambda x, y: gpu.fast.log10(x), lambda x, y: np.log10(x), (0.1, 100), (2**-24, 3)),
    "pow": (lambda x, y: gpu.fast.pow(x, y), lambda x, y: x**y, (0.5, 4), (0, 30)),
    "div": (lambda x, y: gpu.fast.div(x, y), lambda x, y: x / y, (0.5, 4), (0, 2)),
    "rcp": (lambda x, y: gpu.fast.rcp(x), lambda x, y: 1 / x, (0.1, 9), (0, 1)),
    "sqrt": (lambda x, y: gpu.fast.sqrt(x), lambda x, y: np.sqrt(x), (0, 100), (0, 1)),
    "rsqrt": (lambda x, y: gpu.fast.rsqrt(x), lambda x, y: 1 / np.sqrt(x), (0.1, 100), (0, 2)),
    "tanh": (lambda x, y: gpu.fast.tanh(x), lambda x, y: np.tanh(x), (-4, 4), (2**-10, 0)),
}


@pytest.mark.parametrize("name", FAST)
def test_quick_functions(name: str) -> None:
    _, exact, (low, high), (absolute, ulp) = FAST[name]
    random = np.random.default_rng(1)
    for dtype in (np.float32, np.float64, np.float16):
        x, y = (random.uniform(low, high, 64).astype(dtype) for _ in range(2))
        o = np.zeros_like(x)
        fast(name)[1, 64](x, y, o)
        want = exact(x.astype(float), y.astype(float))
        unit = np.spacing(np.abs(want).astype(dtype)).astype(float)
        most = 2 * unit if dtype == np.float64 else absolute + (ulp + 1) * unit
        assert (np.abs(o - want) <= most).all()


def test_quick_functions_are_instructions() -> None:
    units = {
        "exp": "ex2",
        "exp10": "ex2",
        "exp2": "ex2",
        "pow": "ex2",
        "log": "lg2",
        "log2": "lg2",
        "log10": "lg2",
        "tan": "div",
    }
    for name in FAST:
        ptx = fast(name).inspect("ptx", "f4[::1], f4[::1], f4[::1]", arch="sm_80")
        assert f"{units.get(name, name)}.approx.f32" in ptx and ".func" not in ptx
        assert "approx.f32" not in fast(name).inspect("ptx", "f8[::1], f8[::1], f8[::1]", arch="sm_75")


@gpu.jit
def signs(x, o):
    i = gpu.grid(1)
    odd = False
    for _ in range(x[i]):
        odd = not odd
    o[i] = -odd


@pytest.mark.parametrize("name", ["f2", "bfloat16", "f4", "f8"])
def test_a_condition_is_minus_one(name: str) -> None:
    dtype = pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else name
    o = np.zeros(8, dtype)
    signs[1, 8](np.arange(8), o)
    assert o.tolist() == [0, -1] * 4
