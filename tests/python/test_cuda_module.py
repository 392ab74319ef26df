"""gpu.cuda: arrays, streams, events and devices under Numba's names."""

from __future__ import annotations

import asyncio
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda, types

DEVICES = [name for name in ("cpu", "emulated:0") if name in gpu.devices()]


@pytest.fixture(params=DEVICES, autouse=True)
def device(request: pytest.FixtureRequest) -> Any:
    with gpu.device(request.param):
        yield request.param


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
    with pytest.raises(ValueError, match=r"different shapes: \(3,\), and on the device \(4,\)"):
        device.copy_to_host(np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="different dtypes: float64, and on the device int32"):
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
    end.wait(stream)
    end.wait()
    with pytest.raises((ValueError, gpu.DriverError)):
        cuda.event().elapsed_time(end)
    assert cuda.external_stream(stream.handle).handle == stream.handle
    assert cuda.default_stream() and cuda.per_thread_default_stream() and cuda.legacy_default_stream()
    assert int(stream) == stream.handle


def test_elements_and_streams() -> None:
    array, stream = cuda.to_device(np.arange(6.0)), cuda.stream()
    array.setitem(slice(2), 9.0, stream)
    assert array.getitem(1, stream) == 9
    assert array.getitem(slice(1, 3), stream).copy_to_host(stream=stream).tolist() == [9, 2]
    assert isinstance(array[1:], cuda.DeviceNDArray) and array[1:].alloc_size == 48


def test_awaiting_a_stream() -> None:
    async def work() -> Any:
        stream, array = cuda.stream(), cuda.to_device(np.zeros(4))
        add_one[1, 4, stream](array)
        return stream is await stream.async_done(), array.copy_to_host().tolist()

    assert asyncio.run(work()) == (True, [1] * 4)


def test_profilers_are_told() -> None:
    a = cuda.to_device(np.zeros(4, np.int32))
    with cuda.profiling():
        add_one[1, 4](a)
    assert a.copy_to_host().tolist() == [1] * 4


def test_device(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cuda.is_available()
    found = cuda.get_current_device()
    assert found.ASYNC_ENGINE_COUNT >= 1 and found.MAX_SHARED_MEMORY_PER_BLOCK == 49152  # programs divide by them
    assert cuda.gpus[0]._device.name == found.name
    assert found.WARP_SIZE == 32 and found.MULTIPROCESSOR_COUNT >= 1 and isinstance(found.name, bytes)
    assert found.MAX_THREADS_PER_BLOCK == 1024
    assert found.compute_capability == (found.COMPUTE_CAPABILITY_MAJOR, found.COMPUTE_CAPABILITY_MINOR)
    with pytest.raises(AttributeError, match="WARPS"):
        found.WARPS  # noqa: B018
    assert cuda.select_device(0) == found and found.id == 0
    assert len(cuda.gpus) == 1 and list(cuda.gpus) == cuda.gpus.lst == [found] and cuda.gpus.current == found
    with pytest.raises(ValueError, match="number 1"):
        cuda.select_device(1)
    with pytest.raises(IndexError, match="number 1"):
        cuda.gpus[1]
    with gpu.device("python"), found:
        assert gpu.current_device() == device
    with cuda.defer_cleanup(), cuda.profiling():
        array = cuda.to_device(np.ones(3))
    cuda.detect()
    assert device in capsys.readouterr().out
    context = cuda.current_context()
    context.deallocations.clear()
    assert len(context.deallocations) == 0 and not context.deallocations.is_disabled
    free, total = context.get_memory_info()
    assert 0 < free <= total
    context.create_event().record(context.create_stream())
    context.synchronize()
    cuda.close()
    assert array.copy_to_host().tolist() == [1, 1, 1]


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_host_memory(make: Any) -> None:
    array = make((2, 3), np.float32, order="F")
    assert isinstance(array, np.ndarray) and array.strides == (4, 8)
    array[:] = 1
    add_one[1, 8](array.reshape(-1, order="F"))
    assert array.tolist() == [[2] * 3] * 2
    assert make(3, "i4", strides=8).strides == (8,)


def test_pinned() -> None:
    host = np.zeros(1000)
    with cuda.pinned(host):
        array = cuda.to_device(host)
    assert cuda.pinned_array_like(host).shape == cuda.mapped_array_like(host).shape == array.shape


def test_options_of_numba() -> None:
    for options in (
        {"inline": "always"},
        {"link": []},
        {"debug": True, "opt": False},
        {"cache": True},
        {"lineinfo": True},
    ):
        assert cuda.jit(**options)(add_one.py_func).dialect == "numba"
    with pytest.raises(NotImplementedError, match="nopython=False isn't supported"):
        cuda.jit(nopython=False)
    assert cuda.jit(boundscheck=True)(add_one.py_func).options["boundscheck"]
    assert not cuda.jit(boundscheck=None)(add_one.py_func).options["boundscheck"]
    with pytest.raises(TypeError, match="unknown option 'fastmaths'"):
        cuda.jit(fastmaths=True)


def test_types() -> None:
    kernel = cuda.jit(cuda.void(cuda.float32[:], cuda.int32))(lambda a, n: None)
    assert repr(kernel.signatures[0][0]) == "array(float32, 1d, A)"
    kernel = cuda.jit([types.void(types.float64[:, ::1]), "void(f4[:])"])(lambda a: None)
    assert len(kernel.overloads) == 2


def test_ptx() -> None:
    text, result = cuda.compile_ptx(add_one.py_func, (types.float32[:],), cc=(9, 0))
    assert ".target sm_90" in text and result is types.void
    with pytest.raises(NotImplementedError, match="device function"):
        cuda.compile_ptx(add_one.py_func, (types.float32[:],), device=True)
