"""The extension: types, what counts as an argument, specialisations, signatures, lifetimes."""

from __future__ import annotations

import array
import collections
import ctypes
import enum
import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import _core


def T(dtype: str, ndim: int = 1, layout: Any = "C", **kwargs: Any) -> _core.Type:
    return _core.Type("array", dtype=dtype, ndim=ndim, layout=layout, **kwargs)


@gpu.jit
def scale(out, x, a):
    i = gpu.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i]


@gpu.jit
def copy(out, x):
    i = gpu.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


# ---- Type


def test_type_is_a_value() -> None:
    a, b = T("float32"), T("float32")
    assert a == b and hash(a) == hash(b) and len({a, b}) == 1
    assert a != T("float64") and a != T("float32", 2) and a != T("float32", layout="A") and a != "array"
    assert a != T("float32", readonly=True)
    assert (a.kind, a.dtype, a.ndim, a.layout, a.readonly, a.items, a.fields, a.object) == (
        "array", "float32", 1, "C", False, (), None, None,
    )  # fmt: skip
    assert repr(T("float32", 2, "F")) == "array(float32, 2d, F)"
    assert repr(_core.Type("weak_float")) == "float (weak)"
    with pytest.raises(AttributeError):
        a.ndim = 3  # type: ignore[misc]


def test_type_of_tuples() -> None:
    items = (_core.Type("weak_int"), T("int8"))
    pair = _core.Type("tuple", items=items)
    named = _core.Type("tuple", items=items, fields=("n", "x"))
    assert pair.items == items and pair != named and named.fields == ("n", "x")
    assert pair == _core.Type("tuple", items=list(items))
    assert named != _core.Type("tuple", items=items, fields=("n", "y"))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (("matrix",), {}),
        (("scalar",), {}),
        (("scalar", "float31"), {}),
        (("array", "int8", 17), {}),
        (("array", "int8", -1), {}),
        (("array", "int8", 1, "X"), {}),
        (("tuple",), {"items": (1,)}),
        (("tuple",), {"items": (), "fields": ("a",)}),
    ],
)
def test_bad_types(args: tuple, kwargs: dict) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.Type(*args, **kwargs)


# ---- arguments


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_arrays_of_every_dtype(dtype: str) -> None:
    x = np.array([0, 1, 1, 0], dtype)
    out = np.zeros_like(x)
    copy[1, 4](out, x)
    assert out.tolist() == x.tolist()


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.5, -2.25], ml_dtypes.bfloat16)
    out = np.zeros_like(x)
    scale[1, 2](out, x, ml_dtypes.bfloat16(2))
    assert out.tolist() == [3, -4.5]


def test_longlong_is_int64() -> None:
    x, out = np.arange(4, dtype=np.longlong), np.zeros(4, np.longlong)
    copy[1, 4](out, x)
    scale[1, 4](out, x, np.longlong(3))
    assert out.tolist() == [0, 3, 6, 9]


def test_other_buffers() -> None:
    x = array.array("d", [1, 2, 3])
    out = (ctypes.c_double * 3)()
    copy[1, 3](out, x)
    assert list(out) == [1, 2, 3]
    view = memoryview(bytearray(12)).cast("i")
    copy[1, 3](view, memoryview(array.array("i", [5, 6, 7])))
    assert view.tolist() == [5, 6, 7]


def test_array_interface() -> None:
    class Wrapped:
        def __init__(self, a: np.ndarray) -> None:
            self.a = a
            self.__array_interface__ = a.__array_interface__

    out = np.zeros(3, "f4")
    copy[1, 3](Wrapped(out), Wrapped(np.arange(6, dtype="f4")[::2]))
    assert out.tolist() == [0, 2, 4]
    broken = Wrapped(out)
    for change in ({"typestr": "<f3"}, {"shape": 3}, {"strides": (4, 4)}, {"data": None}, {"shape": None}):
        broken.__array_interface__ = {**out.__array_interface__, **change}
        with pytest.raises((TypeError, ValueError), match="parameter 'out'"):
            copy[1, 3](broken, out)


def test_memory_that_kernels_do_not_see() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(TypeError, match="mask"):
        copy[1, 2](np.zeros(2), masked)

    class OnGpu:
        @property
        def __cuda_array_interface__(self):
            return {}

    # Where there is no GPU, it could only be an array of the CPU device.
    with pytest.raises(TypeError, match="GPU's memory" if gpu._core.device_count("cuda") else "no typestr"):
        copy[1, 2](np.zeros(2), OnGpu())


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


@gpu.jit
def constants(out, colour, dtype, f):
    out[0] = 10 if colour == Colour.RED else 20
    out[1] = f(dtype(out[1]))


def test_compile_time_constants() -> None:
    out = np.array([0, 2.5])
    constants[1, 1](out, Colour.RED, np.int32, abs)
    assert out.tolist() == [10, 2]
    constants[1, 1](out, Colour.BLUE, np.float64, abs)
    assert out.tolist() == [20, 2]
    assert len(constants.specializations) == 2
    with pytest.raises(TypeError, match="parameter 'f'"):
        constants[1, 1](out, Colour.BLUE, np.float64, [abs])


Pair = collections.namedtuple("Pair", "low high")


@gpu.jit
def from_tuples(out, pair, nested):
    out[0] = pair.low + pair.high
    out[1] = nested[1][0] + nested[0]


def test_tuples_are_flattened() -> None:
    out = np.zeros(2)
    from_tuples[1, 1](out, Pair(1, 2.5), (3, (np.float32(4), None)))
    assert out.tolist() == [3.5, 7]


@gpu.jit
def sum_all(out, *xs):
    out[0] = 0
    for x in xs:
        out[0] += x[0]


def test_star_arguments() -> None:
    out = np.zeros(1)
    sum_all[1, 1](out, np.ones(1), np.full(1, 2.0))
    assert out[0] == 3
    sum_all[1, 1](out)
    assert out[0] == 0


def test_many_arguments_and_dimensions() -> None:
    names = [f"x{i}" for i in range(60)]
    scope: dict[str, Any] = {}
    total = " + ".join(f"{n}.ndim" for n in names)
    exec(f"def many(out, {', '.join(names)}):\n    out[0] = {total} + x59[(1,) * 8]", scope)
    out = np.zeros(1)
    arrays = [np.zeros((2,) * 8, "f4")] * 59 + [np.full((2,) * 8, 0.5)]
    gpu.jit(scope["many"])[1, 1](out, *arrays)
    assert out[0] == 480.5


def test_integers_that_do_not_fit() -> None:
    out = np.zeros(1)
    with pytest.raises(OverflowError, match=r"parameter 'a'.*uint64"):
        scale[1, 1](out, out, 2**63)
    with pytest.raises(OverflowError, match="parameter 'a'"):
        scale[1, 1](out, out, -(2**80))


def test_float_subclass_is_weak() -> None:
    class Metres(float):
        pass

    out = np.zeros(1, "f4")
    scale[1, 1](out, np.ones(1, "f4"), Metres(0.5))
    assert out[0] == 0.5


# ---- specialisations


def test_specialisations_by_type() -> None:
    @gpu.jit
    def k(out, a):
        out[0] = a

    x = np.zeros(2)
    for a in (1, 2, 1.5, np.float32(1), np.float32(7), True):
        k[1, 1](x, a)
    assert [str(t[1]) for t in k.specializations] == ["int (weak)", "float (weak)", "float32", "bool (weak)"]
    k[1, 1](x[::-1], 1)
    assert str(k.specializations[-1][0]) == "array(float64, 1d, A)"


def test_overlapping_arrays_are_right() -> None:
    @gpu.jit
    def shift(out, x):
        for i in range(out.shape[0]):
            out[i] = x[i] + 1

    for _ in range(3):  # apart, then overlapping, by turns
        a = np.zeros(9)
        shift[1, 1](np.zeros(8), a[1:])
        shift[1, 1](a[1:], a[:-1])
        assert a.tolist() == list(range(9))
    unaligned = np.zeros(9)[1:]
    shift[1, 1](unaligned, np.zeros(8))
    assert unaligned.tolist() == [1] * 8
    assert len(shift.specializations) == 1


def test_large_arrays_index_right() -> None:
    @gpu.jit
    def corners(x, n, out):
        out[0] = x[n - 1, 0]
        out[1] = x[0, n - 1]

    n = 70_000  # as strided views of little memory whose extent is beyond 2**31 bytes
    base = np.arange(n, dtype="i2")
    x = np.lib.stride_tricks.as_strided(base, (n, n), (0, 2))
    out = np.zeros(2, "i8")
    corners[1, 1](x, n, out)
    assert out.tolist() == [int(base[0]), int(base[-1])]


# ---- signatures


@gpu.jit("f4[::1], f4, i4")
def signed(out, a, n):
    out[0] = a
    out[1] = n


def test_signature_converts_what_is_safe() -> None:
    out = np.zeros(2, "f4")
    pairs = [(1, 2), (1.5, np.int16(-3)), (np.float16(0.5), np.uint8(200)), (np.float32(7), True), (np.int8(-4), -5)]
    for a, n in pairs:
        signed[1, 1](out, a, n)
        assert out.tolist() == [float(a), float(n)], (a, n)
    assert len(signed.specializations) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((np.zeros(2), 1, 1), "'out'"),
        ((np.zeros((1, 2), "f4"), 1, 1), "'out'"),
        ((np.zeros(4, "f4")[::2], 1, 1), "'out'"),
        ((1, 1, 1), "'out'"),
        ((np.zeros(2, "f4"), np.float64(1), 1), "'a'"),
        ((np.zeros(2, "f4"), 1j, 1), "'a'"),
        ((np.zeros(2, "f4"), 1, 1.5), "'n'"),
        ((np.zeros(2, "f4"), 1, 2**31), "'n'"),
        ((np.zeros(2, "f4"), 1, np.int64(1)), "'n'"),
        ((np.zeros(2, "f4"), 1, np.uint32(1)), "'n'"),
    ],
)
def test_signature_refuses(args: tuple, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        signed[1, 1](*args)


def test_several_signatures() -> None:
    @gpu.jit(["f4[:], f4", "f8[:], f8"])
    def k(out, a):
        out[0] = a

    for dtype in ("f4", "f8"):
        out = np.zeros(4, dtype)[::2]
        k[1, 1](out, 0.1)
        assert out[0] == np.dtype(dtype).type(0.1)
    assert len(k.specializations) == 2


# ---- direct calls


@gpu.jit(device=True)
def parts(x, n):
    return x * x, n + 1, x > n


def test_direct_call_keeps_types() -> None:
    square, more, larger = parts(np.float32(1.5), 1)
    assert (type(square), type(more), type(larger)) == (np.float32, int, bool) or larger is np.True_
    assert (square, more, bool(larger)) == (2.25, 2, True)
    assert parts(n=3, x=2) == (4, 4, False)
    with pytest.raises(TypeError, match="'n'"):
        parts(1)
    with pytest.raises(TypeError, match="keywords must be strings"):
        parts(**{1: 2})  # type: ignore[misc]


def test_too_many_items() -> None:
    nested = ((((0,) * 250,) * 250),) * 2
    with pytest.raises(TypeError, match="more than 65535 items"):
        parts(nested, 1)

    @gpu.jit(device=True)
    def grows():
        return len((0, 1, 2, 3) * 1024 * 1024 * 1024)

    with pytest.raises(gpu.TypingError, match="does not take"):
        grows()


def test_more_defaults_than_parameters() -> None:
    def inner(x):
        return x

    @gpu.jit(device=True)
    def outer():
        return inner()

    inner.__defaults__ = (1, 2, 3)
    assert outer() == inner() == 3


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_direct_call_of_every_dtype(dtype: str) -> None:
    @gpu.jit(device=True)
    def same(x):
        return x

    for value in (1, 0, 100):
        x = np.dtype(dtype).type(value)
        assert type(same(x)) is type(x) and same(x) == x


@gpu.jit(device=True)
def root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


def test_direct_call_raises() -> None:
    assert root(4.0) == 2
    with pytest.raises(ValueError, match=r"negative \[.*test_core\.py:\d+ in root\]"):
        root(-1.0)
    assert type(root(np.float32(9))) is np.float32


# ---- inspection


def test_inspect_stages() -> None:
    types = (T("float32"), T("float32"), _core.Type("weak_float"))
    assert "kernel" in _core.inspect(scale, types, "ir")
    assert "define" in _core.inspect(scale, types, "llvm")
    assert ".visible .entry" in _core.inspect(scale, types, "ptx", "sm_90")
    assert "BINARY" in _core.inspect(scale, types, "bytecode")
    shown = _core.inspect(scale, types, "types")
    assert "a * x[i]" in shown and "float32" in shown
    with pytest.raises(ValueError, match="sm_12"):
        _core.inspect(scale, types, "ptx", "sm_12")


def test_ptx_layout() -> None:
    types = (T("float32"), T("float32"), _core.Type("weak_float"))
    text, entry, layout, size = _core.ptx(scale, types, "sm_80", scale.options)
    assert f".entry {entry}(" in text
    assert {p["kind"] for p in layout} == {"data", "shape", "scalar"}
    assert all(p["offset"] % p["bytes"] == 0 and p["offset"] + p["bytes"] <= size for p in layout)
    names = [p["name"] for p in layout]
    assert names == sorted(names, key=["out", "x", "a"].index)


# ---- lifetimes


def test_kernels_are_collected() -> None:
    def make() -> weakref.ref:
        @gpu.jit
        def k(out, a):
            out[0] = a

        k[1, 1](np.zeros(1), 1)
        k.me = k  # a cycle
        return weakref.ref(k)

    ref = make()
    gc.collect()
    assert ref() is None


def test_references_are_balanced() -> None:
    out, x = np.zeros(4), np.ones(4)
    number = 1.25
    launch = scale[1, 4]
    launch(out, x, number)
    before = [sys.getrefcount(o) for o in (out, x, number, launch, scale, None)]
    for _ in range(200):
        launch(out, x, number)
        scale[1, 4](out, x, a=number)
        with pytest.raises(TypeError):
            launch(out, x, [])
        with pytest.raises(TypeError):
            launch(out)
    after = [sys.getrefcount(o) for o in (out, x, number, launch, scale, None)]
    assert all(abs(a - b) < 50 for a, b in zip(after, before, strict=True)), (before, after)


def test_devices_are_per_thread() -> None:
    seen = []
    with gpu.device("python"):
        thread = threading.Thread(target=lambda: seen.append(_core.current_device()))
        thread.start()
        thread.join()
        assert _core.current_device() == "python"
    assert seen == [_core.current_device()] == ["cpu"]
    with pytest.raises(ValueError, match="no device"):
        _core.set_device("toaster")


def test_threads_of_the_cpu_device() -> None:
    before = _core.num_threads()
    assert before >= 1
    try:
        for n in (1, 3):
            _core.set_num_threads(n)
            assert _core.num_threads() == n
            x, out = np.arange(100_000, dtype="f4"), np.zeros(100_000, "f4")
            copy[400, 256](out, x)
            assert (out == x).all()
        for n in (-1, 2000):
            with pytest.raises(ValueError, match="threads"):
                _core.set_num_threads(n)
    finally:
        _core.set_num_threads(0)
    code = "from gpu import _core; print(_core.num_threads())"
    cores = len(os.sched_getaffinity(0))
    for text, expected in (("5", 5), ("none", cores), ("-3", cores)):
        env = {**os.environ, "GPU_NUM_THREADS": text}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        assert int(done.stdout) == expected


def test_import_is_light() -> None:
    code = "import sys, gpu; print([m for m in ('numpy', 'click', 'rich', 'inspect', 'dis') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    maps = "import gpu; print('libgpu_compiler' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", maps], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
