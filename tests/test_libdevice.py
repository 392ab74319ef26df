"""libdevice's functions by name: their results against exact arithmetic, Python's math and the C library."""

import ctypes
import math
from fractions import Fraction

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu.cuda import libdevice

pytestmark = pytest.mark.one_version

INF = math.inf


def run(name, *columns, result=np.float64):
    """The function's results for rows of arguments."""
    function = getattr(libdevice, name)
    n = len(columns[0])
    out = np.zeros(n, result)

    if len(columns) == 1:

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(x[i])

    elif len(columns) == 2:

        @cuda.jit
        def kernel(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(x[i], y[i])

    else:

        @cuda.jit
        def kernel(x, y, z, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(x[i], y[i], z[i])

    kernel[(n + 63) // 64, 64](*columns, out)
    return out


def neighbour(x, direction):
    return np.nextafter(x, type(x)(direction))


def rounded(exact, mode, dtype):
    """A fraction as a float of a type, rounded in a direction."""
    try:
        with np.errstate(over="ignore"):
            near = dtype(float(exact))
    except OverflowError:
        near = dtype(INF if exact > 0 else -INF)
    candidates = [near, neighbour(near, INF), neighbour(near, -INF)]
    if not np.isfinite(near):
        candidates = [near, neighbour(near, 0)]
    largest = np.finfo(dtype).max
    value = {c: Fraction(float(c)) if np.isfinite(c) else (exact + 1 if c > largest else exact - 1) for c in candidates}
    if mode == "z":
        mode = "d" if exact > 0 else "u"
    if mode == "d":
        return max(c for c in candidates if value[c] <= exact)
    if mode == "u":
        return min(c for c in candidates if value[c] >= exact)
    return near


def numbers(dtype, seed):
    """Numbers of all sizes, among them the smallest and the largest."""
    random = np.random.default_rng(seed)
    low, high = (-140, 125) if dtype is np.float32 else (-1060, 1020)
    found = np.ldexp(random.uniform(-2, 2, 200), random.integers(low, high, 200)).astype(dtype)
    found[:60] = random.uniform(-3, 3, 60)
    found[60:66] = [np.finfo(dtype).max, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, 1, -1, 3]
    return found


EXACT = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("mode", "nduz")
def test_directed_arithmetic(op, mode, dtype):
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    got = run(f"{'f' if dtype is np.float32 else 'd'}{op}_r{mode}", x, y, result=dtype)
    for a, b, r in zip(x, y, got, strict=True):
        exact = EXACT[op](Fraction(float(a)), Fraction(float(b)))
        if mode == "n":
            with np.errstate(all="ignore"):
                wanted = {"add": a + b, "mul": a * b, "div": a / b}[op]
        else:
            wanted = rounded(exact, mode, dtype) if exact else r
        assert r == wanted, (a, b)


@pytest.mark.parametrize("mode", "duz")
def test_directed_fma_and_root(mode):
    x, y, z = (np.random.default_rng(seed).uniform(-2, 2, 100) for seed in (3, 4, 5))
    got = run(f"fma_r{mode}", x, y, z)
    single = run(f"fmaf_r{mode}", *(v.astype(np.float32) for v in (x, y, z)), result=np.float32)
    for a, b, c, r, s in zip(x, y, z, got, single, strict=True):
        assert r == rounded(Fraction(a) * Fraction(b) + Fraction(c), mode, np.float64)
        a, b, c = (Fraction(float(np.float32(v))) for v in (a, b, c))
        assert s == rounded(a * b + c, mode, np.float32)
    roots = run(f"dsqrt_r{mode}", abs(numbers(np.float64, 6)))
    for a, r in zip(abs(numbers(np.float64, 6)), roots, strict=True):
        square, exact = Fraction(r) ** 2, Fraction(a)
        other = Fraction(neighbour(r, INF if mode in "dz" else -INF)) ** 2
        assert square <= exact < other if mode in "dz" else other < exact <= square


@pytest.mark.parametrize("mode", "nduz")
def test_conversions(mode):
    random = np.random.default_rng(7)
    wide = random.integers(-(2**63), 2**63, 100, np.int64)
    for r, i in zip(run(f"ll2double_r{mode}", wide), wide, strict=True):
        assert r == rounded(Fraction(int(i)), mode, np.float64)
    for r, i in zip(run(f"ull2float_r{mode}", wide, result=np.float32), wide, strict=True):
        assert r == rounded(Fraction(int(i) % 2**64), mode, np.float32)
    x = random.uniform(-1e6, 1e6, 100)
    whole = {"n": round, "d": math.floor, "u": math.ceil, "z": math.trunc}[mode]
    assert run(f"double2int_r{mode}", x, result=np.int32).tolist() == [whole(v) for v in x]
    assert run(f"double2float_r{mode}", x, result=np.float32).tolist() == [
        float(rounded(Fraction(v), mode, np.float32)) for v in x
    ]


def test_opposite_numbers_give_minus_zero_downward():
    one = np.ones(1)
    assert math.copysign(1, run("dadd_rd", one, -one)[0]) == -1
    assert math.copysign(1, run("dadd_ru", one, -one)[0]) == 1


LIBM = ctypes.CDLL("libm.so.6")


def libm(name, *kinds):
    function = getattr(LIBM, name)
    function.restype, function.argtypes = ctypes.c_double, kinds
    return function


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_bessel_functions(name):
    x = np.concatenate([np.linspace(1e-6, 60, 300), 10.0 ** np.arange(-12, 3)])
    wanted = np.array([libm(name, ctypes.c_double)(v) for v in x])
    assert np.max(abs(run(name, x) - wanted) / np.maximum(1, abs(wanted))) < 1e-14


@pytest.mark.parametrize("order", [0, 1, 2, 7, 30])
def test_bessel_functions_of_order_n(order):
    x = np.linspace(0.5, 60, 100)
    n = np.full(100, order, np.int32)
    for name in ("jn", "yn"):
        wanted = np.array([libm(name, ctypes.c_int, ctypes.c_double)(order, v) for v in x])
        assert np.max(abs(run(name, n, x) - wanted) / np.maximum(1, abs(wanted))) < 1e-12


def test_error_functions():
    x = np.linspace(-5.5, 25, 200)
    erfc = np.array([math.erfc(v) for v in x])
    back = run("erfcinv", erfc)
    assert np.max(abs(back - x)[x > -3] / np.maximum(1, abs(x[x > -3]))) < 1e-12
    small = np.linspace(-0.99, 0.99, 101)
    assert np.allclose(run("erfinv", np.array([math.erf(v) for v in small])), small, rtol=1e-14, atol=1e-16)
    assert run("erfinv", np.array([1.0, -1.0])).tolist() == [INF, -INF]
    assert np.allclose(run("erfcx", x)[x < 5], [math.exp(v * v) * math.erfc(v) for v in x if v < 5], rtol=1e-12)
    assert np.allclose(run("normcdf", x), [0.5 * math.erfc(-v / math.sqrt(2)) for v in x], rtol=1e-12)
    assert np.allclose(run("normcdfinv", np.array([0.5, 0.975])), [0, 1.959963984540054], atol=1e-15)


def test_sines_of_pi():
    x = np.arange(-8, 8) * 0.25
    assert np.allclose(run("sinpi", x), np.sin(np.pi * x), atol=1e-15)
    assert run("cospi", np.array([0.5, 1.0, 1e15])).tolist() == [0.0, -1.0, 1.0]


def test_integers_and_bits():
    x = np.array([-(2**31), -1, 0, 1, 12345, 2**31 - 1], np.int32)
    y = np.array([3, -7, 9, 2**31 - 1, -12345, 2], np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    assert run("hadd", x, y, result=np.int32).tolist() == [(a + b) >> 1 for a, b in pairs]
    assert run("mulhi", x, y, result=np.int32).tolist() == [(a * b) >> 32 for a, b in pairs]
    unsigned = [((a % 2**32) * (b % 2**32)) >> 32 for a, b in pairs]
    assert run("umulhi", x, y, result=np.int32).tolist() == np.array(unsigned, np.uint32).view(np.int32).tolist()
    assert run("popc", x, result=np.int32).tolist() == [bin(a % 2**32).count("1") for a, _ in pairs]
    assert run("double2hiint", np.array([1.0]), result=np.int32)[0] == 0x3FF00000
    halves = np.array([1.5, -65504, 1e-7], np.float32)
    bits = run("float2half_rn", halves, result=np.int16)
    assert bits.tolist() == halves.astype(np.float16).view(np.int16).tolist()


def test_functions_with_several_results():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        s, c = libdevice.sincos(x[i])
        m, e = libdevice.frexp(x[i])
        r, q = libdevice.remquo(x[i], 3.0)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = s, c, m, e, r, q

    x = np.array([0.5, 10.0, -7.25, 1e10])
    out = np.zeros((4, 6))
    kernel[1, 4](x, out)
    for v, row in zip(x, out, strict=True):
        assert np.allclose(row[:4], [math.sin(v), math.cos(v), *math.frexp(v)])
        q = round(Fraction(v) / 3)
        assert row[4] == math.remainder(v, 3.0)
        assert row[5] == math.copysign(abs(q) % 8, q)


@pytest.mark.parametrize("name", sorted(dir(libdevice)))
def test_every_function_compiles(name):
    args = libdevice._functions[name][0]
    kinds = {"d": "float64", "f": "float32", "w": "float32", "h": "int16", "i": "int32", "l": "int64"}
    types = ", ".join(kinds.get(kind, "int32" if kind == "u" else "int64") for kind in args)
    function = getattr(libdevice, name)
    kernel = gpu.cuda.jit(device=True)(function)
    assert "function" in kernel.inspect("ir", types).splitlines()[0]


def test_unknown_name():
    with pytest.raises(AttributeError, match="libdevice has no function 'sine'"):
        _ = libdevice.sine
