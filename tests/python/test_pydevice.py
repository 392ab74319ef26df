"""The python device: what a thread sees, how a kernel's rules differ from plain NumPy, how errors are reported."""

from __future__ import annotations

import cmath
import math
import subprocess
import sys
import warnings
from math import sin

import gpu
import numpy as np
import pytest
from gpu import cuda, laneid

SCALE = 3


@pytest.fixture(autouse=True)
def on_python():
    with gpu.device("python"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def run(function, *args, grid=1, block=1, **options):
    gpu.jit(**options)(function)[grid, block](*args)


def test_order_of_threads() -> None:
    seen = []

    def k():
        t, b = gpu.threadIdx, gpu.blockIdx
        seen.append((b.z, b.y, b.x, t.z, t.y, t.x))

    run(k, grid=(2, 2, 2), block=(3, 2, 2))
    assert seen == sorted(seen)
    assert len(seen) == 8 * 12


def test_indices() -> None:
    out = np.zeros((2 * 4, 3 * 2), np.int64)

    def k(out):
        x, y = gpu.grid(2)
        w, h = gpu.gridsize(2)
        assert (w, h) == (8, 6) == (gpu.gridDim.x * gpu.blockDim.x, gpu.gridDim.y * gpu.blockDim.y)
        assert (x, y, 0) == gpu.grid(3)
        assert x == gpu.grid(1) == gpu.blockIdx.x * gpu.blockDim.x + gpu.threadIdx.x
        out[x, y] += x + w * y

    run(k, out, grid=(2, 3), block=(4, 2))
    x, y = np.indices(out.shape)
    assert (out == x + 8 * y).all()


def test_lane_by_each_of_its_names() -> None:
    out = np.zeros(70, np.int64)

    def k(out):
        i = gpu.grid(1)
        assert laneid == gpu.laneid == cuda.laneid
        out[i] = laneid

    run(k, out, block=70)
    assert (out == np.arange(70) % 32).all()


def test_typed_math_keeps_its_type() -> None:
    def k(x, n):
        for value in (math.sin(x[0]), sin(x[0]), math.pow(x[0], 2), math.ldexp(x[0], 1), math.modf(x[0])[1]):
            assert isinstance(value, np.float32), value
        assert isinstance(math.sin(n), float) and not isinstance(math.sin(n), np.generic)
        assert isinstance(math.sqrt(np.int32(4)), float)
        assert isinstance(math.atan2(x[0], np.float64(1)), np.float64)
        assert math.floor(x[0]) == 2 and not isinstance(math.floor(x[0]), np.generic)
        assert math.nextafter(x[0], 3) == np.nextafter(np.float32(2.5), np.float32(3))
        assert isinstance(cmath.sqrt(np.complex64(-4)), np.complex64)
        assert math.isnan(x[0]) is False and math.gcd(12, 18) == 6
        assert math.pi == np.pi

    run(k, np.array([2.5], np.float32), 2.0)


IEEE = [
    ("sqrt", (-1.0,), math.nan),
    ("log", (0.0,), -math.inf),
    ("log", (-1.0,), math.nan),
    ("log", (0.0, 2.0), -math.inf),
    ("log2", (0.0,), -math.inf),
    ("log1p", (-1.0,), -math.inf),
    ("exp", (1000.0,), math.inf),
    ("sinh", (-1000.0,), -math.inf),
    ("acos", (2.0,), math.nan),
    ("atanh", (1.0,), math.inf),
    ("acosh", (0.5,), math.nan),
    ("pow", (0.0, -1.0), math.inf),
    ("pow", (-8.0, 0.5), math.nan),
    ("pow", (-10.0, 999.0), -math.inf),
    ("fmod", (1.0, 0.0), math.nan),
    ("remainder", (math.inf, 2.0), math.nan),
    ("gamma", (0.0,), math.inf),
    ("gamma", (-0.0,), -math.inf),
    ("gamma", (-2.0,), math.nan),
    ("gamma", (200.0,), math.inf),
    ("lgamma", (-1.0,), math.inf),
    ("ldexp", (-1.0, 5000), -math.inf),
    ("sin", (math.inf,), math.nan),
    ("floor", (math.nan,), 0),
    ("ceil", (-math.inf,), -(2**63)),
    ("trunc", (math.inf,), 2**63 - 1),
]


@pytest.mark.parametrize(("name", "args", "wanted"), IEEE)
def test_math_gives_ieee_results_where_cpython_raises(name, args, wanted) -> None:
    found = []

    def k():
        found.append(getattr(math, name)(*args))

    run(k)
    assert found == [wanted] or (math.isnan(wanted) and math.isnan(found[0]))
    assert math.copysign(1, found[0]) == math.copysign(1, wanted) or math.isnan(wanted)


def test_conversions_to_integers() -> None:
    out = np.zeros(8, np.int8)

    def k(out, x, n):
        out[0] = x[0]  # 1e9 saturates
        out[1] = x[1]  # nan
        out[2] = n  # 300 wraps
        out[3] = np.int8(np.float32(-1e9))
        out[4] = np.int8(np.int32(200))
        out[5] = int(x[1])
        out[6] = round(x[2])
        out[7] = gpu.int8(n)
        assert int(x[0] * x[0]) == 10**18 or isinstance(int(x[0]), int)
        assert int(float("inf")) == 2**63 - 1

    run(k, out, np.array([1e9, np.nan, np.inf], np.float32), 300)
    assert out.tolist() == [127, 0, 44, -128, -56, 0, -1, 44]


def test_integers_wrap_and_divide_in_silence() -> None:
    def k(a):
        assert a[0] + a[0] == np.int32(-2)
        assert a[0] // a[1] == 0 and a[0] % a[1] == 0
        assert a[0] / a[1] == math.inf
        assert a[0] << np.int32(40) == 0 and (-a[0]) >> np.int32(40) == -1

    run(k, np.array([2**31 - 1, 0], np.int32))


def test_numpy_functions_give_scalars() -> None:
    def k(x):
        found = np.where(x[0] > 0, x[0], 0.5)
        assert isinstance(found, np.float32)
        assert not isinstance(np.where(x[0] > 0, x[0], 0.5), np.ndarray)
        assert np.log(x[1]) == -np.inf
        assert x.dtype == np.float32 and np.int32 == np.dtype("i4")

    run(k, np.array([1, 0], np.float32))


def test_min_and_max_give_the_common_type() -> None:
    def k(x, d):
        assert isinstance(min(x[0], 0), np.float32) and min(x[0], 0) == 0
        assert isinstance(max(x[0], d[0]), np.float64)
        assert min(2, 3) == 2 and not isinstance(min(2, 3), np.generic)
        assert min((x[0], x[1])) == x[0]
        assert math.isnan(min(d[1], x[0])) and min(x[0], d[1]) == x[0]

    run(k, np.array([1, 2], np.float32), np.array([0, np.nan]))


def helper(x):
    return math.exp(x) * SCALE


@gpu.jit
def device_function(x):
    return helper(x) + gpu.threadIdx.x


def test_helpers_and_closures_see_the_same_names() -> None:
    out = np.zeros(2, np.float32)
    types = []

    def inner(x):
        return math.sin(x)

    def k(out):
        i = gpu.grid(1)
        value = device_function(out[i]) + inner(out[i])
        types.append(type(value))
        out[i] = value

    run(k, out, block=2)
    assert out.tolist() == [3, 4]
    assert types == [np.float32, np.float32]


def test_direct_calls_of_device_functions() -> None:
    @gpu.jit(device=True)
    def f(x, y=2):
        return math.exp(x) * y

    assert isinstance(f(np.float32(0)), np.float32) and f(np.float32(0), y=3) == 3
    assert f(0.0) == 2 and not isinstance(f(0.0), np.generic)
    with pytest.raises(gpu.OutsideKernelError):
        gpu.jit(device=True)(lambda: gpu.grid(1))()


def test_declared_types_of_device_functions() -> None:
    @gpu.jit("uint32(uint32)", device=True)
    def lcg(x):
        return x * 1664525 + 1013904223

    def k(out, seed):
        out[0] = lcg(lcg(seed))

    want = 42
    for _ in range(2):
        want = (want * 1664525 + 1013904223) % 2**32
    for device in ("python", "cpu"):
        with gpu.device(device):
            out = np.zeros(1, np.uint64)
            run(k, out, 42)
            assert out[0] == want
            assert lcg(lcg(42)) == want and isinstance(lcg(x=np.uint32(1)), np.uint32)


def test_arguments() -> None:
    box = []

    def k(out, n, t, flag=True, *rest, scale):
        box.append((type(n) is int, type(t[1]), flag, rest, scale))
        t[0][0] = n

    array, out = np.zeros(1), np.zeros(1)
    run(lambda out: box.append(out.base is not None), out)
    gpu.jit(k)[1, 1](out, 2, (array, np.float32(1)), scale=4)
    assert box == [True, (True, np.float32, True, (), 4)]
    assert array[0] == 2


def test_read_only_arrays_stay_so() -> None:
    x = np.zeros(1)
    x.flags.writeable = False

    def k(x):
        x[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        run(k, x)


def test_an_exception_names_its_thread() -> None:
    def k(x):
        if gpu.grid(1) == 5:
            raise ValueError("five")

    with pytest.raises(ValueError, match="five") as caught:
        run(k, np.zeros(1), grid=2, block=4)
    line = k.__code__.co_firstlineno + 2
    assert str(caught.value) == f"five [{__file__}:{line} in k, block (1, 0, 0), thread (1, 0, 0)]"
    assert (caught.value.kernel, caught.value.block, caught.value.thread) == ("k", (1, 0, 0), (1, 0, 0))
    with pytest.raises(gpu.OutsideKernelError):
        gpu.grid(1)


def test_bounds_are_checked() -> None:
    with pytest.raises(IndexError, match="thread"):
        run(lambda x: x[7], np.zeros(3))


def test_debug_raises_on_division_by_zero() -> None:
    def k(a):
        a[0] = a[0] // a[1]
        a[1] = np.log(np.float64(0)) < 0

    a = np.array([1, 0])
    run(k, a)
    assert a.tolist() == [0, 1]
    with pytest.raises(ZeroDivisionError):
        run(k, np.array([1, 0]), debug=True)


def test_results_are_refused() -> None:
    with pytest.raises(Exception, match="return"):
        run(lambda x: 1.0, np.zeros(1))


def test_pdb_stops_in_the_kernel(tmp_path) -> None:
    file = tmp_path / "stop.py"
    file.write_text(
        "import pdb\nimport numpy as np\nimport gpu\ngpu.set_device('python')\n\n\n"
        "@gpu.jit\ndef k(x):\n    i = gpu.grid(1)\n    if i == 2:\n        pdb.set_trace()\n    x[i] = i\n\n\n"
        "k[1, 4](np.zeros(4))\n"
    )
    done = subprocess.run(
        [sys.executable, str(file)],
        input="p i\np gpu.threadIdx.x\nwhere\nc\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(Pdb) 2") == 2
    assert f"{file}(12)k()" in done.stdout or f"{file}(11)k()" in done.stdout


def test_coverage_sees_the_lines() -> None:
    lines = set()

    def k(x):
        if x[0] > 0:
            x[0] = 1
        else:
            x[0] = 2

    def trace(frame, event, arg):
        if frame.f_code is k.__code__ and event == "line":
            lines.add(frame.f_lineno - k.__code__.co_firstlineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(k, np.array([5.0]))
    finally:
        sys.settrace(before)
    assert {1, 2} <= lines and 4 not in lines
