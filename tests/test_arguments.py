"""What kernels take as arguments and do with them gives on the compiled devices what Python gives."""

import math
import warnings
from collections import namedtuple
from collections.abc import Callable

import gpu
import numpy as np
import pytest

P = namedtuple("P", "x y")


def zeros() -> np.ndarray:
    return np.zeros(8)


def k_tuple(o, p):
    o[gpu.grid(1)] = p[0] + p[1][1]


def k_nt(o, p):
    o[gpu.grid(1)] = p.x * p.y + p[0]


def k_tuparr(o, p):
    i = gpu.grid(1)
    for k in range(len(p)):
        o[i] += p[0][i] * k
    for q in p:
        o[i] += q[i]


def k_none(o, b):
    i = gpu.grid(1)
    if b is None:
        o[i] = 1
    else:
        o[i] = b[i]


def k_fn(o, f):
    o[gpu.grid(1)] = f(gpu.grid(1))


def sq(x):
    return x * x


def k_str(o, s):
    o[gpu.grid(1)] = 1 if s == "a" else 2


def k_dt(o, d):
    o[gpu.grid(1)] = d(3.7)


def k_0d(o, z):
    if gpu.grid(1) == 0:
        o[()] = z[()] + o[()]


def k_5d(o, z):
    i = gpu.grid(1)
    o[i] = z[i % 2, 1, i % 3, -1, 0] + z.shape[3] + z.ndim + z.size


def k_rev(o, z):
    i = gpu.grid(1)
    o[i] = z[i] + z.strides[0]


def k_bool(o, z, m):
    i = gpu.grid(1)
    if m[i] and not z[i]:
        o[i] = 1
    m[i] = o[i] or z[i]
    o[i] += m[i]


def k_cplx(o, z):
    i = gpu.grid(1)
    o[i] = z[i] * z[i].conjugate() + z[i].real * 1j - (z[i] ** 2) / 3


def k_hw(o, z):
    i = gpu.grid(1)
    h, w = z.shape
    y, x = divmod(i, w)
    o[i] = z[y % h, x] + h * w


def k_img(o, z):
    i = gpu.grid(1)
    o[i] = (z[i] + z[(i + 1) % 8]) // 2
    if z[i] > 100:
        o[i] += 1


def fac(c):
    def k(o):
        o[gpu.grid(1)] = c * gpu.grid(1)

    return k


def k_stride(o, x):
    for i in range(gpu.grid(1), len(o), gpu.gridsize(1)):
        o[i] = x[i] * 2


def k_mat(o, a, b):
    i = gpu.grid(1)
    for j in range(b.shape[1]):
        s = a.dtype.type(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        o[i, j] = s


def k_rowview(o, a):
    r = a[gpu.grid(1)]
    m = r[0]
    for v in r:
        if v > m:
            m = v
    o[gpu.grid(1)] = m + len(r)


def dot(x, y):
    s = 0.0
    for k in range(len(x)):
        s += x[k] * y[k]
    return s


def k_dot(o, a):
    o[gpu.grid(1)] = dot(a[gpu.grid(1)], a[:, 0][:5])


def k_norm(o, a):
    i = gpu.grid(1)
    x, y, z = a[i, 0], a[i, 1], a[i, 2]
    r = math.sqrt(x * x + y * y + z * z)
    if r > 0:
        x /= r
        y /= r
    else:
        x = y = 0
    o[i] = x + y


def k_sign(o, a):
    i = gpu.grid(1)
    s = 1 if a[i] > 0 else -1 if a[i] < 0 else 0
    o[i] = s * a[i]


def k_bits(o, a):
    i = gpu.grid(1)
    x = a[i]
    x ^= x << 13
    x ^= x >> 17
    x ^= x << 5
    o[i] = x


def k_lcg(o):
    i = gpu.grid(1)
    s = i
    for _ in range(5):
        s = (s * 1103515245 + 12345) & 0x7FFFFFFF
    o[i] = s


def k_u64(o):
    i = gpu.grid(1)
    s = np.uint64(i) + np.uint64(0x9E3779B97F4A7C15)
    s = (s ^ (s >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    o[i] = s ^ (s >> 31)


def k_sort(o, a):
    i = gpu.grid(1)
    for p in range(1, a.shape[1]):
        v = a[i, p]
        q = p - 1
        while q >= 0 and a[i, q] > v:
            a[i, q + 1] = a[i, q]
            q -= 1
        a[i, q + 1] = v
    o[i] = a[i, 0] + 10 * a[i, -1]


def k_bisect(o, a):
    i = gpu.grid(1)
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < i * 3:
            lo = mid + 1
        else:
            hi = mid
    o[i] = lo


def k_gcd(o, a):
    i = gpu.grid(1)
    x, y = a[i], 12
    while y:
        x, y = y, x % y
    o[i] = x


def k_horner(o, a):
    i = gpu.grid(1)
    r = 0
    for c in (1, 2.5, -3, 4):
        r = r * a[i] + c
    o[i] = r


CASES = [
    (k_tuple, lambda: (zeros(), (1, (2, 3.5)))),
    (k_nt, lambda: (zeros(), P(2, np.float32(3.5)))),
    (k_tuparr, lambda: (zeros(), (np.arange(8.0), np.arange(8.0) * 2))),
    (k_none, lambda: (zeros(), None)),
    (k_none, lambda: (zeros(), np.arange(8))),
    (k_fn, lambda: (zeros(), sq)),
    (k_fn, lambda: (zeros(), math.sqrt)),
    (k_fn, lambda: (zeros(), np.float32)),
    (k_str, lambda: (zeros(), "a")),
    (k_str, lambda: (zeros(), "b")),
    (k_dt, lambda: (zeros(), np.int8)),
    (k_0d, lambda: (np.array(3.0), np.array(4))),
    (k_5d, lambda: (zeros(), np.arange(2 * 2 * 3 * 4 * 2).reshape(2, 2, 3, 4, 2))),
    (k_5d, lambda: (zeros(), np.asfortranarray(np.arange(2 * 2 * 3 * 4 * 2).reshape(2, 2, 3, 4, 2)))),
    (k_5d, lambda: (zeros(), np.arange(2 * 2 * 3 * 8 * 2).reshape(2, 2, 3, 8, 2)[:, :, :, ::2])),
    (k_rev, lambda: (zeros(), np.arange(8)[::-1])),
    (k_rev, lambda: (zeros(), np.broadcast_to(np.float32(3), (8,)))),
    (k_bool, lambda: (zeros(), np.arange(8) % 3 == 0, np.arange(8) % 2 == 0)),
    (k_cplx, lambda: (np.zeros(8, np.complex64), (np.arange(8) + 1j).astype(np.complex64))),
    (k_hw, lambda: (zeros(), np.arange(15, dtype=np.uint8).reshape(3, 5))),
    (k_img, lambda: (zeros(), np.arange(0, 240, 30).astype(np.uint8))),
    (fac(3), lambda: (zeros(),)),
    (fac(np.float32(2.5)), lambda: (zeros(),)),
    (fac(1j), lambda: (np.zeros(8, complex),)),
    (k_stride, lambda: (np.zeros(100), np.arange(100.0))),
    (
        k_mat,
        lambda: (
            np.zeros((8, 3), np.float32),
            np.arange(32, dtype=np.float32).reshape(8, 4),
            np.arange(12, dtype=np.float32).reshape(4, 3),
        ),
    ),
    (k_rowview, lambda: (zeros(), np.random.RandomState(0).rand(8, 5))),
    (k_dot, lambda: (zeros(), np.random.RandomState(0).rand(8, 5).astype("f4"))),
    (k_norm, lambda: (zeros(), np.random.RandomState(0).rand(8, 3).astype("f4"))),
    (k_sign, lambda: (zeros(), (np.arange(8) - 4).astype("i2"))),
    (k_bits, lambda: (np.zeros(8, np.uint32), np.arange(1, 9).astype("u4"))),
    (k_lcg, lambda: (np.zeros(8, np.int64),)),
    (k_u64, lambda: (np.zeros(8, np.uint64),)),
    (k_sort, lambda: (zeros(), np.random.RandomState(1).rand(8, 9))),
    (k_bisect, lambda: (zeros(), np.arange(0, 20, 2))),
    (k_gcd, lambda: (zeros(), np.arange(8) + 5)),
    (k_gcd, lambda: (zeros(), (np.arange(8) + 5).astype("i2"))),
    (k_horner, lambda: (zeros(), np.arange(8).astype("f4"))),
    (k_horner, lambda: (zeros(), np.arange(8).astype("i4"))),
]


def run(kernel: Callable, make: Callable, device: str) -> np.ndarray:
    """The first argument after eight threads."""
    args = make()
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel)[1, 8](*args)
        gpu.synchronize()
    return args[0]


@pytest.mark.parametrize(("kernel", "make"), CASES, ids=[k.__name__ for k, _ in CASES])
def test_arguments(kernel: Callable, make: Callable) -> None:
    np.testing.assert_allclose(run(kernel, make, "cpu"), run(kernel, make, "python"), rtol=2e-6)


@gpu.jit
def scale_box(box, out, by):
    for k in range(3):
        box[k] *= by
    out[0] = box[0] + box[1] + box[2]


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_three_elements_are_three(dtype: type) -> None:
    """The emulated device sees no access behind the array, though its code loads three elements as four."""
    with gpu.device("emulated"):
        box, out = gpu.to_device(np.arange(1, 4).astype(dtype)), gpu.zeros(1, dtype)
        scale_box[1, 1](box, out, dtype(2))
        assert out.copy_to_host()[0] == 12


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_more_parameters_than_4096_bytes(device: str) -> None:
    @gpu.jit
    def total(out, numbers):
        s = 0.0
        for x in numbers:
            s += x
        out[0] = s

    out = np.zeros(1)
    with gpu.device(device):
        total[1, 1](out, tuple(np.float64(n) for n in range(600)))
        gpu.synchronize()
    assert out[0] == sum(range(600))


def test_more_parameters_than_fit() -> None:
    rows = tuple(tuple(np.float64(n) for n in range(100)) for _ in range(50))
    kernel = gpu.jit(lambda out, rows: gpu.syncthreads())

    def used(out, rows):
        for row in rows:
            out[0] += sum(row)

    with gpu.device("emulated"):
        kernel[1, 1](np.zeros(1), rows)  # what isn't used is no parameter
        with pytest.raises(gpu.CompileError, match=r"take \d+ bytes, and 32764 fit: from 'rows\[\d+\]\[\d+\]' on"):
            gpu.jit(used)[1, 1](np.zeros(1), rows)
    with pytest.raises(TypeError, match="more than 4096 items"):
        kernel[1, 1](np.zeros(1), tuple(range(5000)))


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_unaligned_arrays_and_signatures(device: str) -> None:
    @gpu.jit("f8[:], f8[::1], (f8[:], i8)")
    def kernel(x, y, pair):
        i = gpu.grid(1)
        if i < x.size:
            x[i] = i + y[i] + pair[0][i] * pair[1]

    memory = np.zeros(8 * 10, np.uint8)
    x, aligned = memory[4:-4].view(), np.arange(9.0)
    x = np.ndarray(9, np.float64, x)
    other = np.ndarray(9, np.float64, np.zeros(8 * 10, np.uint8)[3:-5])
    other[:] = 2
    with gpu.device(device):
        kernel[1, 32](x, aligned, (other, 3))
        np.testing.assert_array_equal(x, np.arange(9) * 2 + 6)
        kernel[1, 32](aligned, other, (x, 1))
        np.testing.assert_array_equal(aligned, np.arange(9) * 3 + 8)


@pytest.mark.parametrize(("name", "instead"), [("List", "numpy.array"), ("Dict", "two arrays"), ("Particle", "record")])
def test_objects_of_numba_are_refused_by_what_to_pass(name: str, instead: str) -> None:
    kind = type(name, (), {"_numba_type_": None, "x": 1.0})
    with pytest.raises(TypeError, match=f"'value'.*{name}; .*{instead}"):
        gpu.jit(lambda out, value: None)[1, 1](np.zeros(1), kind())
