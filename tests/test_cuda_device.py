"""The CUDA device of the runtime, on the emulated driver: memory, exceptions, faults, host arrays, threads, forks.

What every device does is tested in test_launch.py and its like, arrays in python/test_array.py, failing driver calls in
test_driver_failures.py.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import gpu
import numpy as np
import pytest
from cuda_driver import LIBCUDA, OURS, ROOT

pytestmark = [pytest.mark.one_version, pytest.mark.skipif(not OURS.exists(), reason="the emulator isn't built")]


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    with gpu.device("emulated"):
        yield


@gpu.jit
def add(x, y, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@gpu.jit
def checked(out, limit):
    i = gpu.grid(1)
    if i >= limit:
        raise IndexError("beyond the limit")
    out[i] = i


@gpu.jit
def column(out, j):
    i = gpu.grid(1)
    out[i, j] = i


def run(text: str, **env: str) -> str:
    """Run a script with ``gpu`` and ``np`` in a process of its own, on the emulated device; what it prints."""
    head = "import gpu, json, numpy as np\n@gpu.jit\ndef one(x):\n    x[0] = 1\n"
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(text)],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "GPU_DEVICE": "emulated", **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- memory


def test_freed_memory_is_used_again_in_stream_order() -> None:
    """At once on the same stream, by others only when it may be."""
    out = run(
        """
        address = lambda a: a.__cuda_array_interface__["data"][0]
        s = gpu.Stream()
        a = gpu.empty(1000, stream=s)
        first = address(a)
        one[1, 1, s](a)
        del a
        b = gpu.empty(1000, stream=s)
        c = gpu.empty(1000)
        same, other = address(b) == first, address(c) == first
        # A block that another stream has used waits for that.
        d = gpu.empty(5000)
        was = address(d)
        one[1, 1, s](d)
        s.callback(lambda: __import__("time").sleep(0.2))
        del d
        early = address(gpu.empty(5000)) == was
        s.synchronize()
        late = [address(x) for x in [gpu.empty(5000) for _ in range(3)]]
        print(json.dumps([same, other, early, was in late]))
        """,
        GPU_MEMORY_POOL="1",
    )
    assert json.loads(out) == [True, False, False, True]


def test_neighbours_are_merged_and_streams_leave_their_memory() -> None:
    out = run(
        """
        parts = [gpu.empty(2 << 20, "u1") for _ in range(9)]    # from one segment of 20 MiB
        before = gpu.memory_stats()
        del parts
        whole = gpu.empty(18 << 20, "u1")
        after = gpu.memory_stats()
        s = gpu.Stream()
        a = gpu.empty(3 << 20, "u1", stream=s)
        del a, s
        gpu.synchronize()
        gpu.empty_cache()
        del whole
        gpu.empty_cache()
        end = gpu.memory_stats()
        print(json.dumps([before["segments"], after["segments"], end["segments"], end["held"]]))
        """,
        GPU_MEMORY_POOL="1",
    )
    assert json.loads(out) == [1, 1, 0, 0]


@pytest.mark.parametrize("pool", ["0", "1"])
def test_out_of_memory(pool: str) -> None:
    """The cache is emptied before it is given up; the message has the figures; freeing helps."""
    out = run(
        """
        small = [gpu.empty(1 << 20, "u1") for _ in range(40)]
        del small
        large = gpu.empty(50 << 20, "u1")
        try:
            gpu.empty(30 << 20, "u1")
        except gpu.OutOfMemoryError as error:
            print(error)
        del large
        gpu.empty(60 << 20, "u1")
        x = gpu.zeros(3)
        one[1, 1](x)
        print(x.copy_to_host()[0], gpu.memory_stats()["retries"] >= 1)
        """,
        GPU_EMULATOR_MEMORY="64M",
        GPU_MEMORY_POOL=pool,
    )
    message, works = out.splitlines()
    assert "no room for 30.0 MiB" in message and "64 MiB" in message and "hold 50.0" in message
    assert works == "1.0 True"


@pytest.mark.slow
def test_allocations_leak_nothing() -> None:
    out = run(
        """
        def rss():
            return int(open("/proc/self/statm").read().split()[1]) * 4
        def work(n):
            for i in range(n):
                x = gpu.empty(100 + i % 50)
                one[1, 1](x)
                if i % 64 == 0:
                    s = gpu.Stream()
                    one[1, 1, s](x)
                    gpu.Event().record(s)
        work(2000)
        before = rss()
        work(20_000)
        gpu.synchronize()
        stats = gpu.memory_stats()
        print(json.dumps([rss() - before, stats["blocks"] <= 1, stats["segments"]]))
        """,
        GPU_MEMORY_POOL="1",
    )
    grown, freed, segments = json.loads(out)
    assert grown < 3000 and freed and segments == 1


# ---- host arrays as arguments


def test_views_of_one_array_stay_one() -> None:
    base = np.arange(20, dtype=np.float32)
    want = base.copy()
    want[10:] = want[:10] + want[5:15]
    add[1, 32](base[:10], base[5:15], base[10:])
    assert np.array_equal(base, want)
    x = np.ones(8)
    add[1, 8](x, x, x)
    assert x.tolist() == [2] * 8


def test_views_with_gaps_change_nothing_else() -> None:
    base = np.zeros((50, 60))
    add[1, 64](np.ones(50), base[:, 7], base[:, 7])
    assert base[:, 7].tolist() == [1] * 50 and base.sum() == 50
    backwards = np.arange(10.0)
    add[1, 10](backwards[::-1], np.zeros(10), backwards.copy())
    out = np.zeros(10)
    add[1, 10](backwards[::-1], np.zeros(10), out[::-1])
    assert np.array_equal(out, backwards)


def test_what_isnt_written_isnt_copied_back() -> None:
    x = np.ones(10)
    x.flags.writeable = False
    out = np.zeros(10)
    add[1, 10](x, x, out)
    assert out.tolist() == [2] * 10
    add[1, 10](np.zeros(0), np.zeros(0), np.zeros(0))


def test_an_array_elsewhere_is_refused_by_name() -> None:
    there = gpu.zeros(4, device="cpu")
    with pytest.raises(ValueError, match=r"parameter 'x' is an array on cpu.* on emulated:0: copy it"):
        add[1, 4](there, there, gpu.zeros(4))


# ---- exceptions and faults


def test_an_exception_comes_when_somebody_waits() -> None:
    out = gpu.zeros(10)
    checked[1, 10](out, 5)
    with pytest.raises(
        IndexError, match=r"beyond the limit \[.*in checked, block \(0, 0, 0\), thread \([5-9], 0, 0\)\]"
    ):
        gpu.synchronize()
    gpu.synchronize()
    checked[1, 10](out, 10)
    assert out.copy_to_host().tolist() == list(range(10))
    stream = gpu.Stream()
    checked[1, 10, stream](out, 3)
    with pytest.raises(IndexError) as caught:
        stream.synchronize()
    assert caught.value.kernel == "checked" and caught.value.block == (0, 0, 0)
    host = np.zeros(10)
    with pytest.raises(IndexError):
        checked[1, 10](host, 5)
    assert host[:5].tolist() == list(range(5))


def test_an_exception_comes_with_a_copy_to_the_host() -> None:
    out = gpu.zeros(4, "i4")
    for read in (gpu.Array.copy_to_host, np.asarray, lambda x: x[0], repr):
        checked[1, 4](out, 2)
        with pytest.raises(IndexError):
            read(out)
        gpu.synchronize()  # it is told of once
        read(out)


def test_ctrl_c_ends_a_copy_that_waits() -> None:
    text = """
    import os, signal, threading

    @gpu.jit
    def endless(x):
        while x[0] == 0:
            pass

    out = gpu.zeros(1 << 16, "i4")
    for copy in (out.copy_to_host, lambda: out.copy_to_device(np.ones(1 << 16, "i4")), lambda: one[1, 1](np.zeros(9))):
        endless[1, 1](out)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            copy()
        except KeyboardInterrupt:
            print("interrupted")
        gpu.synchronize()
    """
    assert run(text, GPU_EMULATOR_BUDGET="0").split() == ["interrupted"] * 3


def test_a_program_ends_while_a_kernel_runs() -> None:
    text = """
    @gpu.jit
    def endless(x):
        while x[0] == 0:
            pass

    stream, x = gpu.Stream(), gpu.zeros(1)
    endless[1, 1, stream](x)
    print("ends")
    """
    assert run(text, GPU_EMULATOR_BUDGET="0") == "ends\n"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GPU_EMULATOR_DRIVER", "10020", "it is for CUDA 10.2, and gpu needs one for CUDA 11.0 or later"),
        ("GPU_EMULATOR_DRIVER", "12", "GPU_EMULATOR_... has a value that makes no sense"),
        ("GPU_EMULATOR_MEMORY", "much", "GPU_EMULATOR_... has a value that makes no sense"),
        ("GPU_EMULATOR_DEVICES", "0", "no CUDA-capable device is detected"),
    ],
)
def test_a_driver_that_doesnt_start(variable: str, value: str, message: str) -> None:
    text = """
    try:
        gpu.zeros(3)
    except gpu.DeviceError as error:
        print(error)
    """
    assert message in run(text, **{variable: value})


def test_an_exception_survives_its_kernel() -> None:
    def short_lived() -> None:
        @gpu.jit
        def k(x):
            if x.size == 3:
                raise ValueError("of a kernel that is gone")

        k[1, 1](gpu.zeros(3))

    short_lived()
    with pytest.raises(ValueError, match="of a kernel that is gone"):
        gpu.synchronize()


def test_a_fault_names_the_array_and_the_device_goes_on() -> None:
    out = gpu.zeros((10, 4), np.float32)
    column[1, 11](out, 3)
    with pytest.raises(gpu.DeviceFault) as caught:
        gpu.synchronize()
    text = str(caught.value)
    assert "out of bounds" in text and "array 'out' (float32, shape (10, 4)): there is no index (10, 3)" in text
    assert caught.value.thread == (10, 0, 0) and caught.value.line == column.py_func.__code__.co_firstlineno + 3
    column[1, 10](out, 3)
    assert out.copy_to_host()[:, 3].tolist() == list(range(10))


def test_a_fault_before_an_array_has_the_index_of_the_kernel() -> None:
    @gpu.jit
    def before(x, back):
        x[-back] = 1

    for x in (gpu.zeros(4), np.zeros(4), gpu.zeros(8)[::-2]):
        before[1, 1](x, 4)
        with pytest.raises(gpu.DeviceFault, match=r"array 'x' \(float64, shape \(4,\)\): there is no index \(-5,\)"):
            before[1, 1](x, 5)
            gpu.synchronize()


def test_a_fault_in_a_wide_access_names_the_first_element_that_is_not_there() -> None:
    @gpu.jit
    def four(x, o):
        i = gpu.grid(1)
        o[i] = sum(gpu.load(x, 4 * i, width=4))

    four[1, 3](gpu.zeros(14, np.float32), gpu.zeros(4, np.float32))
    with pytest.raises(gpu.DeviceFault, match=r"array 'x' \(float32, shape \(14,\)\): there is no index \(14,\)"):
        four[1, 4](gpu.zeros(14, np.float32), gpu.zeros(4, np.float32))
        gpu.synchronize()


def test_a_race_names_the_shared_array() -> None:
    out = run(
        """
        @gpu.jit
        def turned(x, out):
            line = gpu.shared.array(8, "i4")
            tile = gpu.shared.array((16, 17), np.float32)
            i = gpu.grid(1)
            line[i % 8] = 1
            tile[i, 3] = x[i]
            out[i] = tile[15 - i, 3]

        try:
            turned[1, 16](np.ones(16, "f4"), np.zeros(16, "f4"))
        except gpu.DeviceFault as error:
            print(error)
        """,
        GPU_EMULATOR_CHECK="races",
    )
    assert "data race" in out and "in the shared array of line" in out
    assert "(float32, shape (16, 17)) at index (15, 3)" in out


def test_behind_the_last_shared_array() -> None:
    @gpu.jit
    def beyond(x, row):
        tile = gpu.shared.array((4, 8), np.float64)
        line = gpu.shared.array(8, np.float64)
        i = gpu.grid(1)
        tile[i // 8, i % 8] = x[i]
        line[i % 8] = x[i]
        gpu.syncthreads()
        x[i] = tile[row, i % 8] + line[7 - i % 8]

    @gpu.jit
    def alone(x, row):
        tile = gpu.shared.array((4, 8), np.float64)
        i = gpu.grid(1)
        tile[i // 8, i % 8] = x[i]
        gpu.syncthreads()
        x[i] = tile[row, i % 8]

    with pytest.raises(gpu.DeviceFault, match=r"behind the shared array of line \d+, the last one"):
        beyond[1, 32](gpu.ones(32), 9)
        gpu.synchronize()
    with pytest.raises(gpu.DeviceFault, match=r"by the shared array .*\(4, 8\)\): there is no index \(4, 0\)"):
        alone[1, 32](gpu.ones(32), 4)
        gpu.synchronize()


def test_a_captured_array_is_named() -> None:
    table = np.arange(10, dtype=np.float32)

    @gpu.jit
    def looks_up(x, i):
        x[0] = table[i]

    with pytest.raises(
        gpu.DeviceFault, match=r"by the captured array \(float32, shape \(10,\)\): there is no index \(10,\)"
    ):
        looks_up[1, 1](gpu.ones(4), 10)
        gpu.synchronize()


def test_local_arrays_are_named() -> None:
    @gpu.jit
    def one(x, n):
        t = gpu.local.array((2, 4), np.float32)
        for i in range(n):
            t[i // 4, i % 4] = i
        x[0] = t[1, n % 4]

    out = run(
        """
        @gpu.jit
        def two(x, n):
            t = gpu.local.array((3, 4), np.int32)
            u = gpu.local.array(5, np.float64)
            for i in range(n):
                t[i, 2] = i
                u[i] = i
            x[0] = t[int(x[1]), int(x[2])] + u[int(x[3])]

        for places in ([0, 2, 1, 2], [0, 2, 2, 4]):
            try:
                two[1, 1](np.array(places, "f4"), 3)
            except gpu.DeviceFault as error:
                print(error)
        """,
        GPU_EMULATOR_CHECK="uninit",
    )
    assert "(float64, shape (5,)) at index (4,)" in out
    assert "(int32, shape (3, 4)) at index (2, 1)" in out
    with pytest.raises(gpu.DeviceFault, match=r"by the local array .*\(2, 4\)\): there is no index \(2, 0\)"):
        one[1, 1](gpu.ones(4), 9)
        gpu.synchronize()


# ---- launches


def test_sizes_come_from_the_driver() -> None:
    x = gpu.array(np.ones(5000, np.float32))
    out = gpu.zeros_like(x)
    add[gpu.auto](x, x, out)
    assert (out.copy_to_host() == 2).all()
    out.fill(0)
    add.forall(5000)(x, x, out)
    assert (out.copy_to_host() == 2).all()
    stats = add.stats("f4[::1], f4[::1], f4[::1]", block=256)
    assert stats.device == "emulated:0" and stats.block == 256 and stats.occupancy == 1 and stats.max_threads == 1024


def test_shared_memory_that_doesnt_fit() -> None:
    x = gpu.zeros(4)
    add.configure(1, 4, shared=200_000)(x, x, x)
    with pytest.raises(gpu.LaunchError, match=r"300000 of dynamic shared memory, together \d+ more than the 232448"):
        add.configure(1, 4, shared=300_000)(x, x, x)


def test_a_cooperative_launch_that_doesnt_fit() -> None:
    x = gpu.zeros(4)
    add.configure(4, 32, cooperative=True)(x, x, x)
    with pytest.raises(gpu.LaunchError, match="100000 blocks were asked, and"):
        add.configure(100_000, 32, cooperative=True)(x, x, x)


def test_threads_compile_and_launch() -> None:
    @gpu.jit
    def scaled(x, factor):
        i = gpu.grid(1)
        if i < x.size:
            x[i] = x[i] * factor

    faults = []

    def work(n: int) -> None:
        gpu.set_device("emulated")
        stream = gpu.Stream()
        for dtype in ("f4", "i8"):
            x = gpu.array(np.ones(100, dtype), stream=stream)
            for _ in range(20):
                scaled[1, 128, stream](x, 1)
            scaled[1, 128, stream](x, n)
            if not (x.copy_to_host(stream=stream) == n).all():
                faults.append((n, dtype))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_forked_child_has_the_cpu() -> None:
    out = run("""
        import os
        x = gpu.zeros(3)
        one[1, 1](x)
        gpu.synchronize()
        if os.fork() == 0:
            try:
                one[1, 1](x)
            except gpu.DeviceError as error:
                print("spawn" in str(error), flush=True)
            with gpu.device("cpu"):
                y = np.zeros(3)
                one[1, 1](y)
            del x
            print(y[0], flush=True)
            os._exit(0)
        os.wait()
        one[1, 1](x)
        print(x.copy_to_host()[0])
    """)
    assert out.split() == ["True", "1.0", "1.0"]


# ---- a driver that does nothing


@pytest.fixture(scope="module")
def no_op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bench/noop_driver.c as a library."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    source = ROOT / "bench" / "noop_driver.c"
    subprocess.run([compiler, "-std=c17", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def test_the_first_gpu_is_the_default(no_op: Path) -> None:
    out = run(
        "print(gpu.current_device(), gpu.devices()[0], gpu.is_available())", GPU_LIBCUDA=str(no_op), GPU_DEVICE=""
    )
    assert out.split() == ["cuda:0", "cuda:0", "True"]


def test_a_copy_that_takes_longer_than_the_kernel_is_told_of_once(no_op: Path) -> None:
    out = run(
        """
        import warnings
        x = np.zeros(1 << 20)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one[1, 1](x)
            one[1, 1](x)
            one[1, 1](x[:100])
        print([(w.category.__name__, "gpu.array(x)" in str(w.message)) for w in caught])
        """,
        GPU_LIBCUDA=str(no_op),
        GPU_DEVICE="cuda",
    )
    assert out.strip() == "[('PerformanceWarning', True)]"


def test_the_script_for_real_gpus() -> None:
    """tests/gpu/compare.py, with another copy of the emulator as the GPU."""
    env = {**os.environ, "GPU_LIBCUDA": str(LIBCUDA), "GPU_DEVICE": ""}
    script = ROOT / "tests" / "gpu" / "compare.py"
    done = subprocess.run(
        [sys.executable, str(script), "--seconds", "1"],
        capture_output=True, text=True, timeout=300, check=False, env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "golden kernels agree" in done.stdout and "DIFFERS" not in done.stdout


# ---- other libraries' arrays


class DlTensor(ctypes.Structure):
    """DLPack's, with the fields of its device and dtype in line."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Exchange(ctypes.Structure):
    """DLPack 1.3's table of functions of a type."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("other", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p),
        ("tensor", ctypes.c_void_p), ("stream", ctypes.c_void_p),
    ]  # fmt: skip


class Tensor:
    """A library's array that shows itself by that table alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape = np.array(array.shape, np.int64)


def exchange_table() -> tuple[object, ...]:
    """Of Tensor; the objects that must live as long."""

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))
    def tensor(o, out):
        t = out[0]
        t.data, t.device_type, t.device_id, t.ndim = o.array.ctypes.data, 1, 0, o.array.ndim
        t.code, t.bits, t.lanes, t.shape, t.strides = 2, 32, 1, o.shape.ctypes.data, None
        return 0

    table = Exchange(1, 3, None, None, None, None, ctypes.cast(tensor, ctypes.c_void_p), None)
    name = ctypes.create_string_buffer(b"dlpack_exchange_api")
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    Tensor.__dlpack_c_exchange_api__ = new(ctypes.addressof(table), ctypes.addressof(name), None)
    return tensor, table, name


TABLE = exchange_table()


class OnlyDlpack:
    """An array that shows itself by DLPack's methods alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_dlpack_arguments(device: str) -> None:
    x, out, more = np.arange(10, dtype=np.float32), np.zeros(10, np.float32), np.zeros((2, 3), np.float32)
    with gpu.device(device):
        add[1, 10](Tensor(x), OnlyDlpack(x), Tensor(out))
        assert np.array_equal(out, 2 * x)
        add[1, 10](OnlyDlpack(x[::2]), x[:5], OnlyDlpack(out[5:]))
        assert np.array_equal(out[5:], x[::2] + x[:5])
        column[1, 2](OnlyDlpack(more), 1)
        assert more[:, 1].tolist() == [0, 1]


def test_an_array_that_cant_be_described_is_refused_after_others_of_its_type() -> None:
    class Other:
        def __init__(self, array: gpu.Array, **wrong: object) -> None:
            self.array = array
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **wrong}

    x = gpu.array(np.arange(3.0))
    out = np.zeros(3)
    add[1, 3](Other(x), Other(x), out)
    assert out.tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match=r"add\(\): parameter 'y': .*mask"):
        add[1, 3](Other(x), Other(x, mask=x), out)


def test_a_gpus_array_isnt_read_by_others(no_op: Path) -> None:
    """__cuda_array_interface__ and DLPack of a GPU's memory are taken there, and refused elsewhere."""
    out = run(
        """
        class Other:
            def __init__(self, array):
                self.array = array
                self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": 1}
        class Packed:
            def __init__(self, array):
                self.array = array
            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        x = gpu.zeros(10)
        for argument in (Other(x), Packed(x)):
            one[1, 1](argument)
            with gpu.device("cpu"):
                try:
                    one[1, 1](argument)
                except TypeError as error:
                    print(type(error).__name__)
        """,
        GPU_LIBCUDA=str(no_op),
        GPU_DEVICE="cuda",
    )
    assert out.split() == ["TypeError"] * 2


def test_launches_of_mixed_arrays_are_ordered_with_other_libraries_streams() -> None:
    """Only with arrays of ours among them does a launch leave the other's stream; then each waits for the other."""
    out = run(
        """
        stream = gpu.Stream(non_blocking=True)
        class Other:
            def __init__(self, array):
                self.array = array
                self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream.handle}
        @gpu.jit
        def both(x, y):
            x[0] += 1
            y[0] += 1
        x, y, z = gpu.zeros(1), gpu.zeros(1), gpu.zeros(1)
        both[1, 1](Other(x), Other(z))
        for _ in range(3):
            try:
                both[1, 1](Other(x), y)
            except gpu.DriverError as error:
                print("cuStreamWaitEvent" in str(error))
        gpu.synchronize()
        print(x[0], y[0], z[0])
        """,
        GPU_LIBCUDA=str(LIBCUDA),
        GPU_DEVICE="cuda",
        GPU_EMULATOR_FAIL="cuStreamWaitEvent:1,cuStreamWaitEvent:3",
    )
    # The first isn't launched, the second is before it fails, the third does both.
    assert out.split() == ["True", "True", "3.0", "2.0", "1.0"]


def test_from_dlpack_names_the_current_stream(no_op: Path) -> None:
    out = run(
        """
        class Other:
            def __init__(self, array):
                self.array = array
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
            def __dlpack__(self, *, stream, **options):
                print(stream)
                return self.array.__dlpack__(stream=-1, **options)
        other = Other(gpu.zeros(3))
        gpu.from_dlpack(other)
        with gpu.external_stream(0x1230):
            gpu.from_dlpack(other)
        """,
        GPU_LIBCUDA=str(no_op),
        GPU_DEVICE="cuda",
    )
    assert out.split() == ["1", str(0x1230)]


def test_somebody_else_resets_the_context() -> None:
    """What the context had is gone; the process lives, and new kernels that may raise run."""
    out = run(
        """
        import ctypes, os

        @gpu.jit
        def first(x, n):
            if n < 0:
                raise ValueError("first")
            x[0] = n

        @gpu.jit
        def second(x, n):
            if n < 0:
                raise ValueError("second")
            x[0] = n

        x = np.zeros(4)
        first[1, 1](x, 1)
        driver = ctypes.CDLL(os.path.join(os.path.dirname(gpu.__file__), "libgpu_emulated.so"))
        assert driver.cuDevicePrimaryCtxReset_v2(0) == 0
        second[1, 1](x, 2)
        print(x[0])
        """
    )
    assert out.strip() == "2.0"


def test_an_array_of_another_library_is_where_its_memory_is() -> None:
    program = """
    import gpu
    import numpy as np
    there = gpu.array(np.arange(10), device="emulated:1")
    class Shown:
        __cuda_array_interface__ = there.__cuda_array_interface__
    with gpu.device("emulated:0"):
        here = gpu.array(Shown())
        assert here.device == "emulated:0" and here.copy_to_host()[9] == 9
        from gpu._exchange import from_cuda_interface
        assert from_cuda_interface(Shown.__cuda_array_interface__, there).device == "emulated:1"
    print("right")
    """
    assert run(program, GPU_EMULATOR_DEVICES="2").strip().endswith("right")
