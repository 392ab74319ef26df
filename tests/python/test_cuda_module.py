"""gpu.cuda: arrays, streams, events and devices under Numba's names."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import cuda, types


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


def test_copies() -> None:
    host = np.arange(4, dtype=np.int32)
    device = cuda.to_device(host)
    add_one[1, 4](device)
    assert host.tolist() == [0, 1, 2, 3]
    assert device.copy_to_host().tolist() == [1, 2, 3, 4]
    device.copy_to_device(np.full(4, 9, np.int32))
    out = np.zeros(4, np.int32)
    assert device.copy_to_host(out) is out
    assert out.tolist() == [9] * 4
    cuda.to_device(np.arange(4, dtype=np.int32), to=device)
    assert device.copy_to_host().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"incompatible shapes: \(3,\) and \(4,\)"):
        device.copy_to_host(np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="incompatible dtypes: float64 and int32"):
        device.copy_to_device(np.zeros(4))
    with pytest.raises(TypeError, match="object"):
        cuda.to_device(np.array([object()]))


def test_shapes_and_orders() -> None:
    array = cuda.device_array((3, 2), np.int8, order="F")
    assert array.is_f_contiguous() and not array.is_c_contiguous()
    assert (array.shape, array.strides, array.dtype) == ((3, 2), (1, 3), np.int8)
    assert (array.ndim, array.size, array.nbytes) == (2, 6, 6)
    assert cuda.device_array(3).dtype == np.float64
    assert cuda.device_array(3, np.int32, strides=8).strides == (8,)
    assert cuda.device_array((0, 4), np.int32, strides=(16, 4)).size == 0
    like = cuda.device_array_like(np.zeros((2, 3), np.float32, order="F"))
    assert (like.shape, like.strides) == ((2, 3), (4, 8))
    assert cuda.to_device(np.zeros((2, 3), order="F")).is_f_contiguous()
    with pytest.raises(ValueError, match="strides"):
        cuda.device_array((3, 2), np.int8, strides=1)


def test_views_share_memory() -> None:
    array = cuda.to_device(np.arange(6.0))
    grid = array.reshape(2, 3)
    grid[1, 2] = 50
    assert array[5] == 50
    assert grid.T.shape == (3, 2) == grid.transpose().shape
    assert grid[:, 1].copy_to_host().tolist() == [1, 4]
    add_one[1, 8](array[::2])
    assert array.copy_to_host().tolist() == [1, 1, 3, 3, 5, 50]
    assert [part.size for part in array.split(4)] == [4, 2]
    assert array.view(np.int64).dtype == np.int64
    assert array.reshape(1, 6).squeeze().shape == (6,)
    assert next(iter(array)) == 1 and len(array) == 6
    with pytest.raises(NotImplementedError, match="copy"):
        grid.T.reshape(6)
    array[:2] = cuda.to_device(np.array([7.0, 8.0]))
    assert np.asarray(array)[:2].tolist() == [7, 8]
    assert cuda.is_cuda_array(array) and cuda.as_cuda_array(array) is array
    with pytest.raises(TypeError, match="not an array"):
        cuda.as_cuda_array([1])


def test_streams_and_events() -> None:
    array = cuda.to_device(np.zeros(4))
    stream, called = cuda.stream(), []
    start, end = cuda.event(), cuda.event()
    start.record(stream)
    with stream.auto_synchronize():
        add_one[1, 4, stream](array)
    stream.add_callback(lambda *args: called.append(args), "x")
    end.record(stream)
    end.synchronize()
    assert called == [(stream, 0, "x")]
    assert array.copy_to_host(stream=stream).tolist() == [1] * 4
    assert end.query() and cuda.event_elapsed_time(start, end) >= 0
    with pytest.raises(ValueError, match="recorded"):
        cuda.event().elapsed_time(end)


def test_device() -> None:
    assert cuda.is_available()
    device = cuda.get_current_device()
    assert device.WARP_SIZE == 32 and device.MULTIPROCESSOR_COUNT >= 1 and isinstance(device.name, bytes)
    assert cuda.select_device(0).id == 0
    with pytest.raises(ValueError, match="number 1"):
        cuda.select_device(1)
    with cuda.defer_cleanup(), cuda.pinned(np.zeros(1)):
        assert cuda.pinned_array(3).shape == cuda.mapped_array(3).shape == (3,)


def test_options_of_numba() -> None:
    for options in (
        {"inline": "always"},
        {"link": []},
        {"debug": True, "opt": False},
        {"cache": True},
        {"lineinfo": True},
    ):
        assert cuda.jit(**options)(add_one.py_func).dialect == "numba"
    with pytest.raises(NotImplementedError, match="boundscheck=True isn't supported"):
        cuda.jit(boundscheck=True)
    with pytest.raises(TypeError, match="unknown option 'fastmaths'"):
        cuda.jit(fastmaths=True)


def test_types() -> None:
    kernel = cuda.jit(cuda.void(cuda.float32[:], cuda.int32))(lambda a, n: None)
    assert repr(kernel.specializations[0][0]) == "array(float32, 1d, A)"
    kernel = cuda.jit([types.void(types.float64[:, ::1]), "void(f4[:])"])(lambda a: None)
    assert len(kernel.specializations) == 2


def test_ptx() -> None:
    text, result = cuda.compile_ptx(add_one.py_func, (types.float32[:],), cc=(9, 0))
    assert ".target sm_90" in text and result is types.void
    with pytest.raises(NotImplementedError, match="device function"):
        cuda.compile_ptx(add_one.py_func, (types.float32[:],), device=True)
