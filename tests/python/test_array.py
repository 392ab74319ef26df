"""Arrays on a device behave as NumPy's on every device: shapes, views, copies, errors, exchange with libraries."""

from __future__ import annotations

import copy
import gc
import itertools
import os
import pickle
import random
import subprocess
import sys
from typing import Any

import gpu
import numpy as np
import pytest

NUMPY_2_0 = np.lib.NumpyVersion(np.__version__) < "2.1.0"
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
DEVICES = [name for name in ("cpu", "emulated:0") if name in gpu.devices()]


@pytest.fixture(params=DEVICES, autouse=True)
def device(request: pytest.FixtureRequest) -> Any:
    with gpu.device(request.param):
        yield request.param


def same(a: Any, expected: Any) -> None:
    """Same shape, dtype and elements."""
    host = a.copy_to_host()
    assert host.shape == expected.shape
    assert host.dtype == expected.dtype
    assert np.array_equal(host, expected, equal_nan=expected.dtype.kind in "fc")


def numbers(shape: tuple[int, ...], dtype: str = "f4") -> np.ndarray[Any, Any]:
    return (np.arange(np.prod(shape, dtype=int)) % 120).astype(dtype).reshape(shape)


# ---- making


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 0, 3), (2, 3, 4)])
def test_there_and_back(dtype: str, shape: tuple[int, ...]) -> None:
    host = numbers(shape, dtype)
    a = gpu.array(host)
    same(a, host)
    assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes) == (shape, host.ndim, host.size, host.itemsize, host.nbytes)
    assert a.strides == host.strides


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    host = np.array([1.5, -2, 3], ml_dtypes.bfloat16)
    a = gpu.array(host)
    assert a.dtype == host.dtype
    assert np.asarray(a).dtype == host.dtype
    assert a[::-1].copy_to_host().tolist() == [3, -2, 1.5]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: gpu.zeros((2, 3)), np.zeros((2, 3))),
        (lambda: gpu.zeros(3, "i2", "F"), np.zeros(3, "i2")),
        (lambda: gpu.ones((2, 2), gpu.float32), np.ones((2, 2), "f4")),
        (lambda: gpu.full(3, 2.5), np.full(3, 2.5)),
        (lambda: gpu.full(3, 7, "u1"), np.full(3, 7, "u1")),
        (lambda: gpu.zeros_like(gpu.ones((2, 3), "i4")), np.zeros((2, 3), "i4")),
        (lambda: gpu.ones_like(np.ones((2, 3), "i4"), dtype="f4"), np.ones((2, 3), "f4")),
        (lambda: gpu.full_like([1.0, 2.0], 4), np.full(2, 4.0)),
        (lambda: gpu.arange(2, 11, 3), np.arange(2, 11, 3)),
        (lambda: gpu.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])),
        (lambda: gpu.array(3.5), np.array(3.5)),
        (lambda: gpu.array([1, 2], "f4"), np.array([1, 2], "f4")),
        (lambda: gpu.array(gpu.arange(3), "f8"), np.arange(3.0)),
        (lambda: gpu.array(memoryview(b"abc")), np.frombuffer(b"abc", "u1")),
    ],
)
def test_makers(make: Any, expected: Any) -> None:
    same(make(), expected)


def test_order_is_kept() -> None:
    host = np.asfortranarray(numbers((3, 4)))
    assert gpu.array(host).is_f_contiguous()
    assert not gpu.array(host, order="C").is_f_contiguous()
    assert gpu.empty_like(host).strides == host.strides
    assert gpu.empty((3, 4), "f4", "F").strides == host.strides
    assert gpu.array(numbers((3, 4))[:, ::2]).is_c_contiguous()


def test_copy_or_not(device: str) -> None:
    a = gpu.arange(4)
    assert gpu.array(a) is not a
    assert gpu.asarray(a) is a
    assert gpu.array(a, a.dtype, copy=False) is a
    b = gpu.array(a)
    b[0] = 9
    assert a[0] == 0
    c = gpu.arange(6).reshape(2, 3)
    assert gpu.asarray(c, order="C") is c
    assert gpu.asarray(c, order="F").is_f_contiguous()
    for made in (lambda: gpu.asarray(c, "f4", copy=False), lambda: gpu.array(c, order="F", copy=False)):
        with pytest.raises(ValueError, match="without a copy"):
            made()
    host = np.zeros(4)
    shared = gpu.asarray(host)
    shared[1] = 5
    assert (host[1] == 5) == (device == "cpu")
    with pytest.raises(ValueError, match="without a copy"):
        gpu.array([1, 2], copy=False)


def test_elements_that_are_not_aligned() -> None:
    host = np.frombuffer(bytes(range(33)), "u1")[1:].view("f4")
    a = gpu.asarray(host)
    same(a, host)
    a.copy_to_device(host)
    a[::-1] = host
    same(a, host[::-1])


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16"])
def test_views_that_are_not_aligned(dtype: str) -> None:
    @gpu.jit
    def double(x, out):
        i = gpu.grid(1)
        if i < len(x):
            out[i] = x[i]
            x[i] += x[i]

    items = np.dtype(dtype).itemsize
    a = gpu.zeros(8 * items + 1, "u1")[1:].view(dtype)
    a[:] = np.arange(8, dtype=dtype)
    a[1] = 3
    out = gpu.zeros(8, dtype)
    double[1, 32](a, out)
    expected = np.array([0, 3, 2, 3, 4, 5, 6, 7], dtype)
    same(out, expected)
    same(a, 2 * expected)
    same(a[::-1] + out, 2 * expected[::-1] + expected)
    assert a.sum() == 2 * expected.sum()
    a[...] = 5
    same(a, np.full(8, 5, dtype))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: gpu.empty(-1), ValueError, "negative dimensions"),
        (lambda: gpu.empty((2**40, 2**40)), ValueError, "too big"),
        (lambda: gpu.array([None]), TypeError, "can't have the dtype object"),
        (lambda: gpu.array(np.zeros(2, ">f4")), TypeError, "byte order"),
        (lambda: gpu.empty(3, order="X"), ValueError, "order is"),
        (lambda: gpu.empty(3, device="tpu"), ValueError, "no device 'tpu'"),
        (lambda: gpu.full(2, 300, "u1"), OverflowError, "out of bounds"),
        (lambda: gpu.zeros(3, "f4") + "1", TypeError, "unsupported operand"),
        (lambda: np.linalg.inv(gpu.zeros((3, 3))), TypeError, "copy it first"),
        (lambda: bool(gpu.zeros(3)), ValueError, "ambiguous"),
        (lambda: float(gpu.zeros(3)), ValueError, "size 1"),
        (lambda: len(gpu.array(1)), TypeError, "unsized"),
        (lambda: iter(gpu.array(1)), TypeError, "0-d"),
        (lambda: gpu.zeros(6).reshape(4), ValueError, "cannot reshape"),
        (lambda: gpu.zeros(6).reshape(-1, -1), ValueError, "one unknown"),
        (lambda: gpu.zeros(3, "u1").view("f4"), ValueError, "divis"),
        (lambda: gpu.zeros(3).copy_to_host(np.zeros(4)), ValueError, "different shapes"),
        (lambda: gpu.zeros(3).copy_to_host(np.zeros(3, "f4")), TypeError, "different dtypes"),
        (lambda: gpu.zeros(3).copy_to_device(np.zeros(4)), ValueError, "different shapes"),
    ],
)
def test_refusals(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


# ---- views

KEYS: list[Any] = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    ...,
    (..., 1),
    (slice(None), 1),
    (0, ..., None),
    slice(None, None, -1),
    (slice(None), slice(3, 0, -2)),
    (slice(1, 1),),
    (slice(-100, 100), slice(None), slice(None, None, 3)),
    (None, 1, None, slice(2)),
    (np.int8(1), np.uint64(2)),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_views(key: Any) -> None:
    host = numbers((2, 3, 4))
    a = gpu.array(host)
    view = a[key]
    if isinstance(host[key], np.ndarray):
        same(view, host[key])
        assert view.strides == host[key].strides or 0 in view.shape
    else:
        assert view == host[key]
        assert type(view) is type(host[key])


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("fortran", [False, True])
def test_assignment(key: Any, fortran: bool) -> None:
    host = numbers((2, 3, 4))
    host = np.asfortranarray(host) if fortran else host
    a = gpu.array(host)
    part = host[key]
    for value in (7, np.full(np.shape(part), 3, "i8"), np.arange(np.shape(part)[-1]) if np.ndim(part) else 2.5):
        host[key] = value
        a[key] = value
        same(a, host)
    host[key] = host[key] * 2
    a[key] = gpu.array(host[key])
    same(a, host)


@pytest.mark.parametrize(
    "key", [2, (0, 3), (0, 0, 0, 0), 1.5, [0, 1], np.array([True, False, True]), (True, 0), "x"], ids=repr
)
def test_bad_keys(key: Any) -> None:
    with pytest.raises(IndexError):
        gpu.zeros((2, 3, 4))[key]


@pytest.mark.parametrize("key", [True, False, np.True_])
def test_one_bool_takes_all_or_nothing(key: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    same(gpu.array(host)[key], host[key])


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x.T,
        lambda x: x.transpose(2, 0, 1),
        lambda x: x.transpose((1, 0, 2)),
        lambda x: x.swapaxes(0, -1),
        lambda x: x.reshape(6, 4),
        lambda x: x.reshape((4, -1)),
        lambda x: x.reshape(3, 8, order="F"),
        lambda x: x.T.reshape(24),
        lambda x: x[:, ::-1].reshape(-1),
        lambda x: x.ravel(),
        lambda x: x.ravel(order="F"),
        lambda x: x[:1].squeeze(),
        lambda x: x.view("i4"),
        lambda x: x.view("u1"),
        lambda x: x.copy(order="F"),
        lambda x: x.astype("i2"),
    ],
)
def test_shapes(look: Any) -> None:
    host = numbers((2, 3, 4))
    same(look(gpu.array(host)), look(host))


def test_random_keys_agree_with_numpy() -> None:
    rng = random.Random(8)

    def item() -> Any:
        ends = [None, *range(-4, 5), 2**62, -(2**62)]
        part = slice(rng.choice(ends), rng.choice(ends), rng.choice([None, 1, 2, -1, -3, 2**61]))
        return rng.choice([part, part, rng.randint(-4, 3), np.int16(rng.randint(-2, 1)), None, Ellipsis])

    host = numbers((3, 2, 4), "i4").transpose(2, 0, 1)
    a = gpu.array(host.transpose(1, 2, 0)).transpose(2, 0, 1)
    for _ in range(2000):
        key = tuple(item() for _ in range(rng.randint(0, 5)))
        try:
            expected = host[key]
        except IndexError as error:
            with pytest.raises(IndexError) as got:
                a[key]
            assert str(got.value) == str(error)
            continue
        found = a[key]
        if not isinstance(expected, np.ndarray):
            assert found == expected
            continue
        same(found, expected)
        assert found.strides == expected.strides or 0 in found.shape


def test_random_slices_agree_with_numpy() -> None:
    rng = random.Random(5)
    for _ in range(300):
        shape = tuple(rng.randint(0, 6) for _ in range(rng.randint(1, 4)))
        host = numbers(shape, rng.choice(DTYPES))
        host = host.transpose(rng.sample(range(host.ndim), host.ndim))
        a = gpu.array(host, order=rng.choice("CFK"))
        part = tuple(
            slice(*(rng.choice([None, *range(-7, 8)]) for _ in range(2)), rng.choice([None, 1, 2, 3, -1, -2]))
            for _ in range(host.ndim)
        )
        same(a[part], host[part])
        value = numbers(host[part].shape, host.dtype.str)[tuple(slice(None, None, -1) for _ in part)]
        host = np.array(host, order="K")
        host[part] = value
        a[part] = gpu.array(value) if rng.random() < 0.5 else value
        same(a, host)
        to = np.zeros_like(host).transpose()
        a.T.copy_to_host(to)
        assert np.array_equal(to, host.T)


@pytest.mark.parametrize(
    "key",
    [
        slice(None, None, 20),
        (slice(None), slice(3, 4)),
        (slice(None, None, -11), slice(None, None, -37)),
        (slice(None, None, 7), slice(100)),
        (slice(None), slice(None, None, 2)),
    ],
    ids=repr,
)
def test_sparse_views(key: Any) -> None:
    host = numbers((300, 301))
    a, b = gpu.array(host), gpu.zeros((300, 301), "f4")
    same(a[key], host[key])
    same(a.T[key], host.T[key])
    b[key] = a[key]
    expected = np.zeros_like(host)
    expected[key] = host[key]
    same(b, expected)
    b[key] = host[key][::-1]
    expected[key] = host[key][::-1]
    same(b, expected)
    same(a.T.copy(), host.T)


@pytest.mark.parametrize("step", [1, -1, 2])
def test_overlapping_views(step: int) -> None:
    host = np.arange(20)
    a = gpu.array(host)
    a[2:12:step] = a[4:14:step]
    host[2:12:step] = host[4:14:step].copy()
    same(a, host)
    a[:10] = a[:10][::-1]
    host[:10] = host[:10][::-1].copy()
    same(a, host)


def test_a_view_shares_memory() -> None:
    a = gpu.zeros((4, 4), "i4")
    a[1].fill(5)
    a.T[0] = 7
    assert a.copy_to_host().tolist() == [[7, 0, 0, 0], [7, 5, 5, 5], [7, 0, 0, 0], [7, 0, 0, 0]]


def test_a_view_keeps_the_memory() -> None:
    view = gpu.arange(1000)[10:20]
    gc.collect()
    gpu.zeros(1000, "i8")
    assert view.copy_to_host().tolist() == list(range(10, 20))


# ---- as objects


def test_one_element() -> None:
    a = gpu.array([[2.5]])
    assert (float(a), int(a), complex(a), bool(a), a.item(), a.tolist()) == (2.5, 2, 2.5 + 0j, True, 2.5, [[2.5]])
    assert gpu.arange(5).item(3) == 3
    assert [10, 20, 30][gpu.array(1)] == 20


def test_iteration() -> None:
    assert [row.tolist() for row in gpu.array([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert len(gpu.zeros((5, 2))) == 5


def test_repr(device: str) -> None:
    assert repr(gpu.array([1.0, 2.5], "f4")) == f"gpu.array([1. , 2.5], dtype=float32, device='{device}')"
    assert repr(gpu.zeros((100, 100))) == f"gpu.Array(shape=(100, 100), dtype=float64, device='{device}')"
    assert str(gpu.arange(3)) == "[0 1 2]"


def test_pickle(device: str) -> None:
    a = pickle.loads(pickle.dumps(gpu.arange(5, dtype="i2")))
    assert a.device == device
    same(a, np.arange(5, dtype="i2"))


# ---- kernels


@gpu.jit
def scale(x: Any, factor: Any) -> None:
    i = gpu.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] * factor


@gpu.jit
def copy_2d(to: Any, x: Any) -> None:
    i, j = gpu.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        to[i, j] = x[i, j]


def test_a_kernel_works_in_place() -> None:
    a = gpu.arange(100, dtype="f4")
    scale[1, 128](a, 3.0)
    same(a, np.arange(100, dtype="f4") * 3)
    scale[1, 128](a[::-2], 0.0)
    expected = np.arange(100, dtype="f4") * 3
    expected[::-2] = 0
    same(a, expected)


@pytest.mark.parametrize(
    ("to", "x"),
    list(itertools.product([slice(None), (slice(None, None, -1), slice(None, None, -1))], [slice(None), ...])),
)
def test_a_kernel_and_views(to: Any, x: Any) -> None:
    host = numbers((5, 7))
    out = np.zeros((5, 7), "f4")
    a, b = gpu.array(host), gpu.array(out)
    copy_2d[1, (8, 8)](b[to], a.T.T[x])
    out[to] = host
    same(b, out)


# ---- other libraries


def test_asarray(device: str) -> None:
    a = gpu.arange(4, dtype="f4")
    host = np.asarray(a)
    assert host.tolist() == [0, 1, 2, 3]
    host[0] = 9
    assert (a[0] == 9) == (device == "cpu")
    assert np.asarray(a, "f8").dtype == "f8"
    if device != "cpu":
        with pytest.raises(ValueError, match="by a copy"):
            np.asarray(a, copy=False)


class CudaOnly:
    """An array of another library on the GPU."""

    def __init__(self, a: Any) -> None:
        self.__cuda_array_interface__ = a.__cuda_array_interface__
        self.keep = a


def test_cuda_array_interface(device: str) -> None:
    a = gpu.arange(6, dtype="i4").reshape(2, 3)
    if device == "cpu":
        assert not hasattr(a, "__cuda_array_interface__")
        return
    interface = a.T.__cuda_array_interface__
    assert (interface["shape"], interface["strides"], interface["typestr"]) == ((3, 2), (4, 12), "<i4")
    view = gpu.asarray(CudaOnly(a.T))
    view[0, 0] = 7
    assert a[0, 0] == 7
    assert gpu.array(CudaOnly(a))._address != a._address


def test_dlpack(device: str) -> None:
    a = gpu.arange(6, dtype="f4").reshape(2, 3)
    if device != "cpu":
        with pytest.raises(BufferError, match="can't reach"):
            a.__dlpack_device__()
        return
    host = np.from_dlpack(a[:, ::-1])
    a[0, 2] = 9
    assert host[0, 0] == 9
    if not NUMPY_2_0:  # whose from_dlpack gives what is read-only
        host[0, 1] = 8
        assert a[0, 1] == 8
    del a
    gc.collect()
    assert host[0, 0] == 9
    b = gpu.from_dlpack(np.arange(4.0)[::-1])
    assert b.tolist() == [3, 2, 1, 0]
    for version in (None, (0, 8), (1, 0)):
        gpu.zeros(3).__dlpack__(max_version=version)  # nobody takes it: freed


THEIRS = """
import gc, gpu, numpy as np

class Other:  # another library, which has an array of ours
    def __init__(self, array):
        self.array = array
    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
    def __dlpack__(self, **options):
        self.options = options
        return self.array.__dlpack__(**options)

class Old(Other):  # before DLPack 1.0
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)

assert gpu.current_device() == "cuda:0"
used = gpu.memory_stats()["used"]
a = gpu.arange(12, dtype="i4").reshape(3, 4)[:, ::-1]
assert a.__dlpack_device__() == (2, 0)
for kind in (Other, Old):
    other = kind(a)
    view = gpu.from_dlpack(other)
    assert view._address == a._address and view.device == "cuda:0" and view.strides == a.strides
    assert gpu.asarray(other)._address == a._address != gpu.array(other)._address
    assert gpu.from_dlpack(other, device="cpu").tolist() == a.tolist()
    view[0, 0] += 10
assert a[0, 0] == 23
assert np.from_dlpack(gpu.from_dlpack(Other(a), device="cpu")).sum() == 86
host = a.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
for ask in (dict(dl_device=(1, 0), copy=False), dict(dl_device=(2, 1))):
    try:
        a.__dlpack__(**ask)
    except BufferError:
        continue
    raise SystemExit("a copy was made that was not allowed")
assert gpu.mapped_array(3).__dlpack_device__() == (3, 0)
assert gpu.managed_array(3).__dlpack_device__() == (13, 0)
del a, view, other
gc.collect()
assert gpu.memory_stats()["used"] == used
print("done")
"""


def test_dlpack_of_a_gpu(device: str) -> None:
    if device == "cpu":
        pytest.skip("a GPU's affair")
    libcuda = os.path.join(os.path.dirname(gpu.__file__), "emulator", "libcuda.so.1")
    env = {**os.environ, "GPU_LIBCUDA": libcuda, "GPU_DEVICE": "cuda"}
    done = subprocess.run([sys.executable, "-c", THEIRS], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


def test_a_capsule_is_taken_once() -> None:
    if not hasattr(np, "from_dlpack"):
        pytest.skip("no DLPack")
    from gpu import _core

    with gpu.device("cpu"):
        capsule = gpu.zeros(3).__dlpack__()
    _core.dlpack_import(capsule)
    with pytest.raises(TypeError, match="taken before"):
        _core.dlpack_import(capsule)
    with pytest.raises(TypeError, match="no DLPack capsule"):
        _core.dlpack_import(3)


@pytest.mark.skipif(NUMPY_2_0, reason="NumPy 2.0 can't export a read-only array by DLPack")
def test_read_only() -> None:
    host = np.arange(3)
    host.flags.writeable = False
    with gpu.device("cpu"):
        a = gpu.from_dlpack(host)
        assert not a.flags["writeable"]
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            a[:] = gpu.zeros(3, "i8")


# ---- memory


def test_kinds_of_memory(device: str) -> None:
    pinned = gpu.pinned_array((2, 3), "f4")
    pinned[:] = 2
    assert isinstance(pinned, np.ndarray)
    same(gpu.array(pinned), np.full((2, 3), 2, "f4"))
    for make in (gpu.mapped_array, gpu.managed_array):
        a = make(100, "f4")
        np.asarray(a)[:] = np.arange(100)
        scale[1, 128](a, 2.0)
        gpu.synchronize()
        assert np.array_equal(np.asarray(a), np.arange(100, dtype="f4") * 2)


def test_many_arrays_leave_nothing() -> None:
    for _ in range(1000):
        gpu.empty(1000)
    gc.collect()
    before = gpu.memory_stats()
    for n in range(100_000):
        gpu.empty(n % 4096)
    gc.collect()
    after = gpu.memory_stats()
    assert after["used"] == before["used"]
    assert after["blocks"] == before["blocks"]
    assert after["held"] <= before["held"] + (1 << 25)


def test_a_device_is_its_name(device: str) -> None:
    current = gpu.current_device()
    assert current == device
    assert f"{current}" == device
    assert current in gpu.devices()
    assert current.warp_size == 32
    assert current.kind == device.partition(":")[0]
    assert current.properties.memory_bytes == current.memory_bytes > 0
    with pytest.raises(AttributeError, match="colour"):
        current.colour  # noqa: B018
    with gpu.device(current):
        assert gpu.empty(1).device == current
    assert copy.copy(current) == pickle.loads(pickle.dumps(current)) == device


def test_devices_don_t_mix() -> None:
    if len(DEVICES) < 2:
        pytest.skip("one device only")
    other = gpu.zeros(3, device=next(name for name in DEVICES if name != gpu.current_device()))
    with pytest.raises(
        ValueError, match=f"array on {other.device}, and the kernel is launched on {gpu.current_device()}"
    ):
        scale[1, 32](other, 2.0)
    moved = other.to(gpu.current_device())
    scale[1, 32](moved, 2.0)


def test_copies_between_kinds_of_device() -> None:
    host = numbers((5, 6))
    for one, two in itertools.permutations(DEVICES, 2):
        a = gpu.array(host, device=one)
        stream = gpu.Stream(one)
        for view in (a, a.T, a[::-2, ::3]):
            same(view.to(two), view.copy_to_host())
            same(gpu.array(view, device=two, stream=stream if two == "cpu" else None), view.copy_to_host())
        b = gpu.zeros((5, 6), "f4", device=two)
        b[1::2] = a[::2][:2]
        assert np.array_equal(b.copy_to_host()[1::2], host[::2][:2])


TWO_GPUS = """
import gpu, numpy as np

@gpu.jit
def add(x, value):
    i = gpu.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] + value

gpu.set_device("emulated:0")
host = np.arange(600, dtype="f4").reshape(20, 30)
a = gpu.array(host)
s0, s1 = gpu.Stream("emulated:0", non_blocking=True), gpu.Stream("emulated:1", non_blocking=True)
with s0, s1:
    gpu.synchronize()
    for _ in range(20):
        flat = a.ravel()
        add[5, 128](flat, 1.0)
        with gpu.device("emulated:1"):
            b = a.to("emulated:1")
            add[5, 128](b.ravel(), 1.0)
            a = b.to("emulated:0")
    s0.synchronize()
assert np.array_equal(a.copy_to_host(), host + 40)

b = gpu.zeros((30, 20), "f4", device="emulated:1")
b[::-1, 1:] = a.T[:, 1:]
assert np.array_equal(b.copy_to_host()[::-1, 1:], a.copy_to_host().T[:, 1:])
assert b.device == "emulated:1" and gpu.current_device() == "emulated:0"
try:
    add[1, 32](b.ravel(), 1.0)
except (gpu.LaunchError, TypeError, ValueError) as error:
    assert "emulated:1" in str(error) and "emulated:0" in str(error), error
else:
    raise SystemExit("an array of another device was taken")
print("done")
"""


def test_two_gpus() -> None:
    if gpu.current_device() == "cpu" or len(DEVICES) < 2:
        pytest.skip("the emulator's affair")
    env = {**os.environ, "GPU_EMULATOR_DEVICES": "2"}
    done = subprocess.run([sys.executable, "-c", TWO_GPUS], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


def test_orders_are_numpys() -> None:
    gapped = numbers((3, 4), "i4")[:, ::2]
    for host in (numbers((2, 3)), np.asfortranarray(numbers((2, 3)))):
        a = gpu.array(host)
        for order in "CFA":
            same(a.reshape(3, 2, order=order), host.reshape(3, 2, order=order))
        for order in "CFAK":
            same(a.ravel(order), host.ravel(order))
            same(a.flatten(order), host.flatten(order))
    a = gpu.array(numbers((3, 4), "i4"))[:, ::2]
    same(a.ravel("A"), gapped.ravel("A"))
    for refused in (lambda: a.ravel("K"), lambda: a.reshape(6, order="K"), lambda: a.reshape(6, order="Q")):
        with pytest.raises(ValueError, match="order is 'C' or 'F'"):
            refused()


def test_masks_are_not_lost_in_silence() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    for lost in (gpu.array, gpu.zeros(2).copy_to_device, gpu.zeros(2).__add__, lambda x: gpu.map(abs, x)):
        with pytest.raises(TypeError, match=r"mask.*x\.filled"):
            lost(masked)
