"""The Numba dialect's memory: by address, mapped, managed, of another library's memory manager, of another process."""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu._device import device_name
from gpu.cuda import _ipc, config
from gpu.cuda.cudadrv import driver


@cuda.jit
def add(x, value):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += value


class Foreign:
    """An array of another library, which shows the memory of one of ours."""

    def __init__(self, array):
        self._array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


# ---- memory by its address


def test_bytes_are_copied_to_the_device_there_and_back():
    context = cuda.current_context()
    one, two = context.memalloc(16), context.memalloc(16)
    driver.host_to_device(one, np.arange(4, dtype=np.uint32), 16)
    driver.device_to_device(two, one, 16)
    found = np.zeros(4, np.uint32)
    driver.device_to_host(found, two, 16)
    assert found.tolist() == [0, 1, 2, 3]
    driver.device_memset(two, 0xAB, 8)
    driver.device_to_host(found, two, 16)
    assert found.tolist() == [0xABABABAB, 0xABABABAB, 2, 3]


def test_objects_of_ctypes_are_host_memory():
    numbers, back = (ctypes.c_int * 3)(1, 2, 3), (ctypes.c_int * 3)()
    memory = cuda.current_context().memalloc(ctypes.sizeof(numbers))
    driver.host_to_device(memory, numbers, ctypes.sizeof(numbers))
    driver.device_to_host(back, memory, ctypes.sizeof(back))
    assert list(back) == [1, 2, 3]


def test_a_copy_beyond_the_host_object_is_refused():
    memory = cuda.current_context().memalloc(64)
    with pytest.raises(ValueError, match="64 bytes are to be copied, and the host object has 16"):
        driver.host_to_device(memory, np.zeros(2), 64)


def test_memory_is_given_back_when_nothing_refers_to_it():
    freed = []
    memory = driver.MemoryPointer(
        cuda.current_context(), ctypes.c_void_p(0x1000), 40, finalizer=lambda: freed.append(1)
    )
    part = memory.view(8, 24)
    assert (int(part.handle), part.size, memory.refct) == (0x1008, 16, 2)
    del memory
    assert not freed
    del part
    assert freed == [1]


def test_a_view_beyond_memory_is_refused():
    memory = cuda.current_context().memalloc(16)
    with pytest.raises(RuntimeError, match="bytes 8 to 17 aren't in memory of 16 bytes"):
        memory.view(8, 17)


@pytest.mark.parametrize("kind", ["memhostalloc", "memallocmanaged"])
def test_memory_that_the_host_sees_is_a_buffer(kind):
    memory = getattr(cuda.current_context(), kind)(32)
    array = np.ndarray(8, np.float32, buffer=memory)
    array[:] = 2
    assert memory.size == 32 and driver.is_device_memory(memory)
    driver.device_memset(memory, 0, 16)
    cuda.synchronize()
    assert array.tolist() == [0] * 4 + [2] * 4


# ---- arrays that host and device see


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_kernels_use_such_arrays_in_place(make):
    x = make(8, np.float32)
    x[:] = 1
    add[1, 32](x, 2)
    add[1, 32](x[2:4], 10)
    cuda.synchronize()
    assert x.tolist() == [3, 3, 13, 13, 3, 3, 3, 3]


def test_what_numpy_makes_of_them_is_in_other_memory():
    x = cuda.mapped_array(8, np.float32)
    x[:] = 1
    y = x + 1
    add[1, 32](y, 2)
    assert (x.tolist(), y.tolist()) == ([1] * 8, [4] * 8)
    assert not hasattr(y, "__cuda_array_interface__")


def test_mapped_arrays_of_a_block():
    x, y = np.zeros(4), np.ones(4)
    with cuda.mapped(x, y) as (on_x, on_y):
        add[1, 32](on_x, 5)
        add[1, 32](on_y, 5)
        cuda.synchronize()
    assert (x.sum(), y.sum()) == (20, 24)


def test_numpy_copies_a_device_array():
    x = cuda.to_device(np.zeros(3))
    host = np.asarray(x)
    host[:] = 7
    assert x.copy_to_host().tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="`copy=False` is not supported"):
        np.array(x, copy=False)


def test_arrays_of_other_libraries_are_used_in_place():
    x = cuda.to_device(np.zeros(4))
    other = Foreign(x)
    assert cuda.is_cuda_array(other) and not cuda.is_cuda_array(np.zeros(4))
    add[1, 32](other, 1)
    add[1, 32](cuda.as_cuda_array(other), 1)
    assert x.copy_to_host().tolist() == [2] * 4


def test_an_array_of_another_library_is_captured():
    other = Foreign(cuda.to_device(np.arange(4.0)))

    @cuda.jit
    def read(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = other[i] * 2

    out = np.zeros(4)
    read[1, 4](out)
    assert out.tolist() == [0, 2, 4, 6]


# ---- memory managers


class Manager(cuda.HostOnlyCUDAMemoryManager):
    """Gives memory of the pool, and writes down what it is asked."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes, self.freed, self.was_reset = [], [], False

    def memalloc(self, size):
        memory = driver.NumbaCUDAMemoryManager(context=self.context).memalloc(size)
        self.sizes.append(size)
        done = lambda: self.freed.append(size + memory.size * 0)  # noqa: E731  # keeps the memory
        return driver.AutoFreePointer(self.context, memory.handle, size, finalizer=done)

    def initialize(self):
        pass

    def reset(self):
        self.was_reset = True

    def get_memory_info(self):
        return cuda.MemoryInfo(free=32, total=64)

    def get_ipc_handle(self, memory):
        return f"handle of {memory.size} bytes"

    @property
    def interface_version(self):
        return 1


@pytest.fixture
def manager():
    context = cuda.current_context()
    before, context.memory_manager = context.memory_manager, Manager(context=context)
    yield context.memory_manager
    context.memory_manager = before


def test_a_memory_manager_gives_the_memory_of_device_arrays(manager):
    x = cuda.to_device(np.arange(6.0).reshape(2, 3))
    y = cuda.device_array((3, 2), np.float32, order="F")
    z = cuda.device_array_like(x)
    assert manager.sizes == [48, 24, 48]
    assert y.is_f_contiguous() and (z.shape, z.strides) == (x.shape, x.strides)
    add[1, 32](x.reshape(6), 1)
    assert x.copy_to_host().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_it_gets_memory_back_when_no_array_is_in_it(manager):
    x = cuda.device_array(4, np.int32)
    part = x[1:]
    del x
    assert not manager.freed
    del part
    assert manager.freed == [16]


def test_it_is_asked_for_the_rest_too(manager):
    context = cuda.current_context()
    assert context.get_memory_info() == (32, 64)
    context.reset()
    assert manager.was_reset
    assert cuda.device_array(3, np.int64).get_ipc_handle()._ipc_handle == "handle of 24 bytes"


def test_a_memory_manager_of_another_version_is_refused():
    class Newer(Manager):
        @property
        def interface_version(self):
            return 2

    with pytest.raises(RuntimeError, match="version 1 required"):
        cuda.set_memory_manager(Newer)


def test_a_memory_manager_must_have_all_methods():
    class Half(cuda.BaseCUDAMemoryManager):
        def memalloc(self, size):
            return None

    with pytest.raises(TypeError, match="abstract"):
        cuda.set_memory_manager(Half)


@pytest.mark.parametrize("other", [object, Manager(context=None), "rmm"], ids=["class", "instance", "name"])
def test_a_memory_manager_is_a_class_of_that_kind(other):
    with pytest.raises(TypeError, match=r"derived from cuda\.BaseCUDAMemoryManager, and this is"):
        cuda.set_memory_manager(other)


def test_the_environment_names_a_module_with_a_memory_manager(tmp_path):
    (tmp_path / "my_manager.py").write_text(
        "from gpu.cuda.cudadrv.driver import NumbaCUDAMemoryManager\n"
        "class _numba_memory_manager(NumbaCUDAMemoryManager):\n"
        "    memory_manager_is_own = False\n"
        "    def memalloc(self, size):\n"
        "        print('asked for', size)\n"
        "        return super().memalloc(size)\n"
    )
    program = "import numpy as np; from gpu import cuda; print(cuda.to_device(np.arange(3.0)).copy_to_host())"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CUDA_MEMORY_MANAGER": "my_manager"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["asked", "for", "24", "[0.", "1.", "2.]"]


# ---- other processes


def in_another_process(handle, *args):
    """What `OTHER` finds, as text."""
    sent = pickle.dumps((handle, *args)).hex()
    done = subprocess.run([sys.executable, "-c", OTHER, sent], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


OTHER = """
import pickle, sys
from gpu import cuda
handle, *more = pickle.loads(bytes.fromhex(sys.argv[1]))
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
try:
    with handle as x:
        before = x.copy_to_host().tolist()
        double[1, 32](x)
        if more:
            x[more[0]] = 0
    print(before, x.copy_to_host().tolist())  # it is open as long as an array refers to it
except OSError as error:
    print("OSError", error)
"""


def test_another_process_reads_and_writes_memory_by_its_handle():
    x = cuda.to_device(np.arange(2000.0))
    assert in_another_process(x[10:13].get_ipc_handle()) == "[10.0, 11.0, 12.0] [20.0, 22.0, 24.0]"
    assert x.copy_to_host()[8:15].tolist() == [8, 9, 20, 22, 24, 13, 14]
    x[11] = 1
    again = cuda.as_cuda_array(Foreign(x))[11:12].get_ipc_handle()
    assert in_another_process(again) == "[1.0] [2.0]"


def test_memory_that_was_given_back_is_not_opened():
    x = cuda.to_device(np.arange(3 << 20, dtype=np.uint8))  # more than a block of the pool
    handle = x.get_ipc_handle()
    del x
    handle._ipc_handle.base = None
    gpu.empty_cache()
    assert "OSError" in in_another_process(handle)
    assert cuda.to_device(np.arange(3 << 20, dtype=np.uint8)).copy_to_host()[:3].tolist() == [0, 1, 2]


@pytest.mark.skipif(device_name().startswith("cuda"), reason="a GPU's driver says so in other words")
def test_a_handle_of_nothing_is_an_error():
    with pytest.raises(OSError, match=r"multiprocessing\.shared_memory"), cuda.open_ipc_array(bytes(64), 3, "float64"):
        pass


@pytest.mark.skipif(device_name() != "cpu", reason="memory of a GPU has handles, whoever allocated it")
def test_memory_beside_others_has_no_handle():
    with pytest.raises(OSError, match=r"arrays that cuda\.to_device and cuda\.device_array made"):
        _ipc.handle_of(gpu.array(np.ones(3))._address)


@pytest.mark.skipif(device_name() != "cpu", reason="the context of a GPU doesn't go through a fork")
def test_shared_memory_stays_shared_after_a_fork_and_other_memory_does_not():
    shared, own = cuda.to_device(np.zeros(3)), cuda.to_device(np.zeros(3))
    shared.get_ipc_handle()
    child = os.fork()
    if child == 0:
        shared[0] = own[0] = 1
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert (shared[0], own[0]) == (1, 0)


def test_a_handle_is_sent_as_bytes_with_its_place():
    made = cuda.IpcHandle(None, _ipc._Handle(bytes(range(64))), 24, "GPU-0", 512)
    again = pickle.loads(pickle.dumps(made))
    assert (again.base, again.size, again.offset) == (None, 24, 512)
    assert again.handle.reserved == bytes(range(64))


def test_memory_of_another_process_is_closed_when_its_block_fails(monkeypatch):
    calls = []
    monkeypatch.setattr(_ipc, "_ask", lambda device, function, *args: calls.append((function.__name__, *args)) or 4096)
    monkeypatch.setattr(_ipc.IpcHandle, "open_array", lambda self, context, *description: self.open(context))
    with pytest.raises(ZeroDivisionError), cuda.open_ipc_array(bytes(64), 3, np.float64):
        raise ZeroDivisionError
    assert calls == [("device_open_shared", bytes(64)), ("device_close_shared", 4096)]


# ---- shapes and strides as Numba has them


def test_a_transpose_is_a_view():
    @cuda.jit
    def negate(v):
        i, j = cuda.grid(2)
        if i < v.shape[0] and j < v.shape[1]:
            v[i, j] = -v[i, j]

    x = cuda.to_device(np.arange(20.0).reshape(4, 5))
    turned = x[::2, ::2].T
    x[0, 0] = 100
    assert turned.copy_to_host().tolist() == [[100, 10], [2, 12], [4, 14]]
    negate[1, (4, 4)](turned)
    assert x.copy_to_host()[2].tolist() == [-10, 11, -12, 13, -14]


def test_what_is_like_a_view_has_its_order():
    view = np.zeros((10, 12), order="F")[::2, ::2]
    for like in (cuda.device_array_like, cuda.mapped_array_like, cuda.pinned_array_like):
        assert like(view).strides == np.zeros_like(view).strides == (8, 40)


def test_repeated_arrays_stay_repeated():
    x = cuda.to_device(np.broadcast_to(np.array([[1.0], [2.0]]), (2, 3)))
    assert (x.strides, x._numba_type_.layout, x._memory.nbytes) == ((8, 0), "A", 16)
    assert x.copy_to_host().tolist() == [[1, 1, 1], [2, 2, 2]]


def test_one_size_of_a_shape_that_is_passed_may_be_open():
    @cuda.jit
    def shaped(x, shape, out):
        y = x.reshape(shape)
        out[0], out[1] = y.shape[0], y.shape[1]

    out = np.zeros(2, np.int64)
    for shape, found in [((-1, 6), [4, 6]), ((8, -1), [8, 3]), ((4, 6), [4, 6])]:
        shaped[1, 1](np.zeros(24), shape, out)
        assert out.tolist() == found
    for shape in [(-1, -1), (-2, -12), (5, -1)]:
        with pytest.raises(ValueError, match="cannot reshape"):
            shaped[1, 1](np.zeros(24), shape, out)
            cuda.synchronize()


def test_the_stream_of_an_interface():
    stream = cuda.stream()
    shown = Foreign(cuda.device_array(3, stream=stream))
    assert shown.__cuda_array_interface__["stream"] == stream.handle
    assert cuda.as_cuda_array(shown).stream.handle == stream.handle
    masked = {**shown.__cuda_array_interface__, "mask": shown}
    with pytest.raises(NotImplementedError, match="Masked arrays"):
        cuda.from_cuda_array_interface(masked)


def test_copies_of_pinned_memory_without_a_stream_are_done_when_the_call_returns() -> None:
    """As in Numba: the array may be read and written at once."""
    pinned = cuda.pinned_array(200_000, np.float32)
    for value in range(10):
        pinned[:] = value
        there = cuda.to_device(pinned)
        pinned[:] = -1
        assert (there.copy_to_host() == value).all()
        pinned[:] = value + 1
        there.copy_to_device(pinned)
        pinned[:] = -1
        there.copy_to_host(pinned)
        assert (pinned == value + 1).all()
        pinned[:] = value + 2
        there[:] = pinned
        pinned[:] = -1
        assert (there.copy_to_host() == value + 2).all()


def test_freed_memory_waits_until_it_is_too_much() -> None:
    waiting = cuda.current_context().deallocations
    waiting.clear()
    for count in range(config.CUDA_DEALLOCS_COUNT):
        cuda.to_device(np.arange(3))
        assert len(waiting) == count + 1
    cuda.to_device(np.arange(3))  # one more
    assert len(waiting) == 0

    before, config.CUDA_DEALLOCS_RATIO = config.CUDA_DEALLOCS_RATIO, 1000 / cuda.get_memory_info().total
    try:
        cuda.to_device(np.zeros(900, np.uint8))
        assert (len(waiting), waiting._size) == (1, 900)
        cuda.to_device(np.zeros(200, np.uint8))
        assert len(waiting) == 0
    finally:
        config.CUDA_DEALLOCS_RATIO = before


def test_freed_memory_waits_for_the_end_of_defer_cleanup() -> None:
    waiting = cuda.current_context().deallocations
    waiting.clear()
    with cuda.defer_cleanup():
        arrays = [cuda.to_device(np.arange(3)) for _ in range(20)]
        del arrays
        assert len(waiting) == 20 and waiting.is_disabled
        waiting.clear()
        assert len(waiting) == 20
        with cuda.defer_cleanup():
            pass
        assert waiting.is_disabled
    gpu.empty_cache()
    assert len(waiting) == 0


def test_memory_that_waits_is_given_back_when_there_is_no_other() -> None:
    with gpu.device("emulated"), cuda.defer_cleanup():
        most = cuda.get_memory_info().free
        for _ in range(4):
            cuda.device_array(most // 3, np.uint8)
