"""Work on the emulated device: streams and events, modules, launches, faults, threads and processes."""

from __future__ import annotations

import ctypes
import ctypes.util
import resource
import shutil
import subprocess
import threading
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from cuda_driver import CODES, ERRORS, HEADER, KERNELS, Driver, fails, in_child

pytestmark = pytest.mark.one_version


# ---- streams, events, the order of work ---------------------------------------------------------------


@pytest.fixture
def flag(driver: Driver) -> np.ndarray:
    """A word that a kernel can wait for while the host goes on."""
    host = c_void_p()
    driver.cuMemHostAlloc(byref(host), 4096, 2)
    values = np.ctypeslib.as_array(ctypes.cast(host, ctypes.POINTER(c_uint32)), (1024,))
    values[:] = 0
    return values


def test_work_is_done_behind_the_caller(driver: Driver, flag: np.ndarray) -> None:
    stream, event, other = c_void_p(), c_void_p(), c_void_p()
    driver.cuStreamCreate(byref(stream), 1)
    driver.cuEventCreate(byref(event), 0)
    driver.cuEventCreate(byref(other), 0)
    driver.cuEventRecord(other, stream)
    module = driver.load(KERNELS)
    driver.launch(driver.function(module, "spin"), 1, 1, c_uint64(flag.ctypes.data), stream=stream)
    driver.cuEventRecord(event, stream)
    fails("NOT_READY", driver.cuStreamQuery, stream)
    fails("NOT_READY", driver.cuEventQuery, event)
    took = c_float()
    fails("NOT_READY", driver.cuEventElapsedTime, byref(took), other, event)
    flag[0] = 1
    driver.cuEventSynchronize(event)
    driver.cuEventElapsedTime(byref(took), other, event)
    assert 0 < took.value < 60_000
    driver.cuStreamQuery(stream)


def test_events_without_time(driver: Driver) -> None:
    a, b, took = c_void_p(), c_void_p(), c_float()
    driver.cuEventCreate(byref(a), 2)
    driver.cuEventCreate(byref(b), 2)
    driver.cuEventQuery(a)
    driver.cuEventSynchronize(a)
    fails("INVALID_HANDLE", driver.cuEventElapsedTime, byref(took), a, b)
    driver.cuEventRecord(a, None)
    driver.cuEventRecord(b, None)
    fails("INVALID_HANDLE", driver.cuEventElapsedTime, byref(took), a, b)


def test_functions_of_the_host(driver: Driver) -> None:
    """They are called in order, on another thread, and may not wait for the device themselves."""
    seen: list[object] = []

    @ctypes.CFUNCTYPE(None, c_void_p)
    def function(user: int) -> None:
        seen.append((user, threading.get_ident() != main, driver.raw("cuCtxSynchronize")()))

    @ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)
    def callback(_stream: int, status: int, user: int) -> None:
        seen.append((status, user))

    main = threading.get_ident()
    driver.cuLaunchHostFunc(None, ctypes.cast(function, c_void_p), 11)
    driver.cuStreamAddCallback(None, ctypes.cast(callback, c_void_p), 12, 0)
    driver.cuStreamSynchronize(None)
    assert seen == [(11, True, CODES["INVALID_CONTEXT"]), (0, 12)]


def test_waiting_for_another_device() -> None:
    run = in_child(
        f"""
        import numpy as np
        d = Driver(OURS)
        flag, event, first, second = c_void_p(), c_void_p(), c_void_p(), c_void_p()
        d.start(0)
        d.cuMemHostAlloc(byref(flag), 4096, 3)
        words = np.ctypeslib.as_array(cast(flag, POINTER(c_uint32)), (4,)); words[:] = 0
        module = d.load({KERNELS!r})
        d.launch(d.function(module, "spin"), 1, 1, c_uint64(flag.value))
        d.cuEventCreate(byref(event), 0); d.cuEventRecord(event, None)
        d.cuCtxGetCurrent(byref(first))
        a = d.to_device(np.arange(8, dtype='i4'))
        """.replace("a = d.to_device", "pass #")
        + """
        d.start(1)
        d.cuStreamWaitEvent(None, event, 0)
        d.cuMemsetD32Async(flag.value + 4, 5, 1, None)
        print(d.raw('cuStreamQuery')(None), words[1])
        words[0] = 1
        d.cuStreamSynchronize(None)
        print(words[1])
        d.cuCtxGetCurrent(byref(second))
        b = d.to_device(np.arange(8, dtype='i4'))
        d.cuCtxSetCurrent(first)
        a, out = d.alloc(32), np.zeros(8, 'i4')
        d.cuMemcpyPeer(a, first, b, second, 32)
        d.to_host(out, a)
        print(out.tolist())
        """,
        GPU_EMULATOR_DEVICES="2",
    )
    assert run.stdout.splitlines() == [f"{CODES['NOT_READY']} 0", "5", "[0, 1, 2, 3, 4, 5, 6, 7]"], run.stderr


# ---- modules -------------------------------------------------------------------------------------------


def load_with_log(driver: Driver, image: bytes) -> tuple[int, str]:
    log = ctypes.create_string_buffer(4096)
    options = (c_int * 2)(5, 6)
    values = (c_void_p * 2)(ctypes.addressof(log), 4096)
    module = c_void_p()
    code = driver.raw("cuModuleLoadDataEx")(byref(module), image, 2, options, values)
    assert len(log.value) == (values[1] or 0)
    return code, log.value.decode()


def test_errors_in_ptx_have_their_line(driver: Driver) -> None:
    text = KERNELS.replace("mul.f32 %f3, %f2, %f1;", "mull.f32 %f3, %f2, %f1;")
    line = 1 + text[: text.index("mull")].count("\n")
    code, log = load_with_log(driver, text.encode() + b"\0")
    assert code == CODES["INVALID_PTX"]
    assert f"line {line}; error" in log
    assert "mull" in log


def test_machine_code_is_refused(driver: Driver) -> None:
    code, log = load_with_log(driver, b"\x7fELF" + bytes(64))
    assert code == CODES["NO_BINARY_FOR_GPU"]
    assert "the emulator executes PTX" in log


@pytest.mark.parametrize("image", [b"", b"x", b"\x50\xed\x55\xba" + bytes(60), b"\xb1\x43\x62\x46" + bytes(60)])
def test_images_that_are_none(driver: Driver, image: bytes) -> None:
    code, _ = load_with_log(driver, image + b"\0")
    assert ERRORS[code] in ("CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE")


def test_too_much_shared_memory(driver: Driver) -> None:
    text = HEADER + ".visible .entry k() { .shared .b8 a[50000]; st.shared.u8 [a], 1; ret; }"
    code, log = load_with_log(driver, text.encode() + b"\0")
    assert code == CODES["INVALID_PTX"]
    assert "'k' uses too much shared data (0xc350 bytes, 0xc000 max)" in log


def test_variables(driver: Driver) -> None:
    module, p, size = driver.load(KERNELS), c_uint64(), c_size_t()
    driver.cuModuleGetGlobal(byref(p), byref(size), module, b"table")
    out = np.zeros(4, np.uint32)
    assert size.value == out.nbytes
    driver.to_host(out, p.value)
    assert out.tolist() == [1, 2, 3, 4]
    driver.cuModuleGetGlobal(byref(p), None, module, b"counter")
    driver.cuMemcpyHtoD(p.value, np.array([9], np.uint32).ctypes.data, 4)
    driver.to_host(out[:1], p.value)
    assert out[0] == 9
    fails("NOT_FOUND", driver.cuModuleGetGlobal, byref(p), None, module, b"tabel")
    fails("INVALID_VALUE", driver.cuMemFree, p)


def test_functions_of_a_module(driver: Driver) -> None:
    module, n = driver.load(KERNELS), c_uint32()
    driver.cuModuleGetFunctionCount(byref(n), module)
    assert n.value == KERNELS.count(".entry")
    functions = (c_void_p * n.value)()
    driver.cuModuleEnumerateFunctions(functions, n.value, module)
    names = []
    for f in functions:
        name = c_char_p()
        driver.cuFuncGetName(byref(name), f)
        names.append(name.value.decode())
    assert names == ["scale", "spin", "shared_bytes", "trap_here"]
    fails("NOT_FOUND", driver.function, module, "scael")
    driver.cuModuleUnload(module)
    fails("INVALID_HANDLE", driver.function, module, "scale")
    fails("INVALID_HANDLE", driver.launch, functions[0], 1, 1)


def link(driver: Driver, *texts: str) -> c_void_p:
    """A module of several texts."""
    state, image, size, module = c_void_p(), c_void_p(), c_size_t(), c_void_p()
    driver.cuLinkCreate(0, None, None, byref(state))
    for text in texts:
        driver.cuLinkAddData(state, 1, text.encode(), len(text), b"a.ptx", 0, None, None)
    driver.cuLinkComplete(state, byref(image), byref(size))
    driver.cuModuleLoadData(byref(module), image)
    driver.cuLinkDestroy(state)
    return module


def test_linking(driver: Driver) -> None:
    """Two texts, one of which calls a function of the other."""
    caller = (
        HEADER
        + """
        .extern .func (.param .b32 result) seven();
        .visible .entry k(.param .u64 to) {
            .reg .b32 %r1; .reg .b64 %rd1;
            .param .b32 result;
            call (result), seven, ();
            ld.param.b32 %r1, [result];
            ld.param.u64 %rd1, [to];
            st.global.u32 [%rd1], %r1;
            ret;
        }"""
    )
    callee = HEADER + ".visible .func (.param .b32 result) seven() { st.param.b32 [result], 7; ret; }"
    module = link(driver, caller, callee)
    state, image, size = c_void_p(), c_void_p(), c_size_t()
    p, out = driver.alloc(4), np.zeros(1, np.uint32)
    driver.launch(driver.function(module, "k"), 1, 1, c_uint64(p))
    driver.to_host(out, p)
    assert out[0] == 7

    log = ctypes.create_string_buffer(4096)
    options, values = (c_int * 2)(5, 6), (c_void_p * 2)(ctypes.addressof(log), 4096)  # used until cuLinkDestroy
    driver.cuLinkCreate(2, options, values, byref(state))
    driver.cuLinkAddData(state, 1, caller.encode(), len(caller), b"a.ptx", 0, None, None)
    fails("INVALID_PTX", driver.cuLinkComplete, state, byref(image), byref(size))
    assert b"seven" in log.value
    devrt = b"!<arch>\n...cuda_device_runtime.o..."  # NVIDIA's libcudadevrt.a is built in
    driver.cuLinkAddData(state, 4, devrt, len(devrt), b"libcudadevrt.a", 0, None, None)
    fails("NO_BINARY_FOR_GPU", driver.cuLinkAddData, state, 4, b"!<arch>\n...", 11, b"a.a", 0, None, None)
    fails("NO_BINARY_FOR_GPU", driver.cuLinkAddData, state, 0, b"\x7fELF....", 8, b"a.cubin", 0, None, None)
    driver.cuLinkDestroy(state)


def test_libraries(driver: Driver) -> None:
    library, kernel, n, name = c_void_p(), c_void_p(), c_uint32(), c_char_p()
    driver.cuLibraryLoadData(byref(library), KERNELS.encode() + b"\0", None, None, 0, None, None, 0)
    driver.cuLibraryGetKernelCount(byref(n), library)
    assert n.value == 4
    driver.cuLibraryGetKernel(byref(kernel), library, b"scale")
    driver.cuKernelGetName(byref(name), kernel)
    assert name.value == b"scale"
    values = np.arange(100, dtype=np.float32)
    p = driver.to_device(values)
    driver.launch(kernel, 1, 128, c_uint64(p), c_uint64(p), c_float(2), c_uint32(100))
    out = np.zeros_like(values)
    driver.to_host(out, p)
    assert (out == 2 * values).all()
    fails("NOT_FOUND", driver.cuLibraryGetKernel, byref(kernel), library, b"scael")
    driver.cuLibraryUnload(library)
    fails("INVALID_HANDLE", driver.launch, kernel, 1, 1)


@pytest.mark.parametrize("mode", ["-no-compress", "-compress-mode=speed", "-compress-mode=size"])
def test_fat_binaries(driver: Driver, mode: str, tmp_path: Path) -> None:
    """As nvcc makes them: plain, compressed by LZ4, by zstd."""
    if not shutil.which("nvcc"):
        pytest.skip("no nvcc")
    if mode.endswith("size") and not ctypes.util.find_library("zstd"):
        pytest.skip("no libzstd")
    (tmp_path / "a.cu").write_text('extern "C" __global__ void set(int *x) { *x = 42; }')
    target = "-gencode=arch=compute_80,code=[compute_80,sm_80]"
    made = subprocess.run(["nvcc", "-fatbin", mode, target, "-o", "a.fatbin", "a.cu"], cwd=tmp_path)
    if made.returncode:
        pytest.skip("nvcc doesn't know this mode")
    image, module = (tmp_path / "a.fatbin").read_bytes(), c_void_p()
    driver.cuModuleLoadData(byref(module), image)
    p, out = driver.alloc(4), np.zeros(1, np.int32)
    driver.launch(driver.function(module, "set"), 1, 1, c_uint64(p))
    driver.to_host(out, p)
    assert out[0] == 42
    (tmp_path / "b.fatbin").write_bytes(image)
    driver.cuModuleLoad(byref(module), str(tmp_path / "b.fatbin").encode())
    fails("FILE_NOT_FOUND", driver.cuModuleLoad, byref(module), b"/nowhere")


# ---- functions and launches ----------------------------------------------------------------------------


def attribute(driver: Driver, function: c_void_p, which: int) -> int:
    value = c_int()
    driver.cuFuncGetAttribute(byref(value), which, function)
    return value.value


def test_attributes_of_a_function(driver: Driver) -> None:
    f = driver.function(driver.load(KERNELS), "shared_bytes")
    assert attribute(driver, f, 0) == 128
    assert attribute(driver, f, 1) == 1024
    assert attribute(driver, f, 4) >= 16
    assert attribute(driver, f, 6) == 90
    assert attribute(driver, f, 8) == 49152 - 1024
    fails("INVALID_VALUE", driver.cuFuncSetAttribute, f, 8, 232448)
    driver.cuFuncSetAttribute(f, 8, 100_000)
    driver.launch(f, 1, 128, shared=100_000)
    fails("INVALID_VALUE", driver.launch, f, 1, 128, shared=100_001)


def test_declared_with_a_result_that_is_none(driver: Driver) -> None:
    """As numba declares functions that return nothing; a parameter more is an error."""
    caller = (
        HEADER
        + """
        .extern .func (.param .b32 unused) put(.param .b64 to);
        .visible .entry k(.param .u64 to) {
            .reg .b32 %r1; .reg .b64 %rd1;
            .param .b32 unused; .param .b64 p;
            ld.param.u64 %rd1, [to];
            st.param.b64 [p], %rd1;
            call (unused), put, (p);
            ld.param.b32 %r1, [unused];
            ret;
        }"""
    )
    callee = (
        HEADER
        + """
        .visible .func put(.param .b64 to) {
            .reg .b64 %rd1;
            ld.param.u64 %rd1, [to];
            st.global.u32 [%rd1], 9;
            ret;
        }"""
    )
    p, out = driver.alloc(4), np.zeros(1, np.uint32)
    driver.launch(driver.function(link(driver, caller, callee), "k"), 1, 1, c_uint64(p))
    driver.to_host(out, p)
    assert out[0] == 9
    fails("INVALID_PTX", link, driver, caller, callee.replace("(.param .b64 to)", "(.param .b64 to, .param .b32 more)"))


def many_registers(n: int) -> str:
    """A kernel with so many values at once."""
    loads = "".join(f"ld.global.u32 %r{i}, [%rd1+{4 * i}];" for i in range(n))
    stores = "".join(f"st.global.u32 [%rd1+{4 * i}], %r{n - 1 - i};" for i in range(n))
    text = f".visible .entry k(.param .u64 p) {{ .reg .b32 %r<{n}>; .reg .b64 %rd1; ld.param.u64 %rd1, [p];"
    return HEADER + text + loads + stores + "ret; }"


def test_too_many_registers(driver: Driver) -> None:
    """65536 registers are enough for 512 threads with 100 of them, and not for 1024."""
    k = driver.function(driver.load(many_registers(100)), "k")
    p = driver.alloc(400)
    fails("LAUNCH_OUT_OF_RESOURCES", driver.launch, k, 1, 1024, c_uint64(p))
    assert attribute(driver, k, 0) < 1024
    driver.launch(k, 1, 512, c_uint64(p))


@pytest.mark.parametrize("limit", [0, 24])
def test_limit_on_registers(driver: Driver, limit: int) -> None:
    """Given to the linker, it holds for the image that comes of it; the driver is content with fewer registers."""
    text = many_registers(50)
    state, image, size, module = c_void_p(), c_void_p(), c_size_t(), c_void_p()
    driver.cuLinkCreate(1, byref(c_int(0)), byref(c_void_p(limit)), byref(state))
    driver.cuLinkAddData(state, 1, text.encode(), len(text), b"a.ptx", 0, None, None)
    driver.cuLinkComplete(state, byref(image), byref(size))
    driver.cuModuleLoadData(byref(module), image)
    driver.cuLinkDestroy(state)
    registers = attribute(driver, driver.function(module, "k"), 4)
    assert registers == limit if limit else registers > 50


def test_occupancy(driver: Driver) -> None:
    """2048 threads and 227 KiB of shared memory on a multiprocessor of sm_90, at most 32 blocks."""
    module, blocks, grid, block = driver.load(KERNELS), c_int(), c_int(), c_int()
    f = driver.function(module, "scale")
    for threads, shared, expected in (
        (32, 0, 32),
        (256, 0, 8),
        (1024, 0, 2),
        (1000, 0, 2),
        (32, 100 << 10, 2),
        (1025, 0, 0),
    ):
        driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(byref(blocks), f, threads, shared)
        assert blocks.value == expected, (threads, shared)
    driver.cuOccupancyMaxPotentialBlockSize(byref(grid), byref(block), f, None, 0, 0)
    assert (grid.value, block.value) == (32, 1024)
    driver.cuOccupancyMaxPotentialBlockSize(byref(grid), byref(block), f, None, 0, 100)
    assert block.value == 64

    @ctypes.CFUNCTYPE(c_size_t, c_int)
    def by_threads(n: int) -> int:
        return 256 * n

    driver.cuOccupancyMaxPotentialBlockSize(byref(grid), byref(block), f, ctypes.cast(by_threads, c_void_p), 0, 0)
    assert 0 < block.value * 256 <= 232448


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute with three numbers."""

    _fields_ = [("id", c_int), ("pad", c_uint32), ("value", c_uint32 * 3), ("rest", c_uint32 * 13)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("shared", c_uint32),
        ("stream", c_void_p),
        ("attributes", c_void_p),
        ("n", c_uint32),
    ]


def test_clusters(driver: Driver) -> None:
    """At most 8 blocks, which divide the grid."""
    f = driver.function(driver.load(KERNELS), "shared_bytes")
    attribute, n = LaunchAttribute(id=4, value=(4, 1, 1)), c_int()
    config = LaunchConfig((8, 1, 1), (128, 1, 1), attributes=ctypes.addressof(attribute), n=1)
    driver.cuLaunchKernelEx(byref(config), f, None, None)
    driver.cuOccupancyMaxPotentialClusterSize(byref(n), f, byref(config))
    assert n.value == 8
    driver.cuOccupancyMaxActiveClusters(byref(n), f, byref(config))
    assert n.value == 16 * 16 // 4  # 16 blocks of 128 threads on each of 16 multiprocessors
    for size in 3, 16:
        attribute.value[0] = size
        fails("INVALID_CLUSTER_SIZE", driver.cuLaunchKernelEx, byref(config), f, None, None)


def test_arguments_in_a_buffer(driver: Driver) -> None:
    f = driver.function(driver.load(KERNELS), "scale")
    values = np.arange(50, dtype=np.float32)
    p = driver.to_device(values)

    class Arguments(ctypes.Structure):
        _fields_ = [("to", c_uint64), ("from_", c_uint64), ("factor", c_float), ("n", c_uint32)]

    packed, size = Arguments(p, p, 5, 50), c_size_t(ctypes.sizeof(Arguments))
    extra = (c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
    driver.cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, None, None, extra)
    out = np.zeros_like(values)
    driver.to_host(out, p)
    assert (out == 5 * values).all()
    size.value -= 1
    fails("INVALID_VALUE", driver.cuLaunchKernel, f, 1, 1, 1, 64, 1, 1, 0, None, None, extra)


def test_arguments_one_by_one(driver: Driver) -> None:
    """As programs launched before there was cuLaunchKernel."""
    f = driver.function(driver.load(KERNELS), "scale")
    values = np.arange(50, dtype=np.float32)
    p = driver.to_device(values)
    pointer = c_uint64(p)
    driver.cuFuncSetBlockShape(f, 64, 1, 1)
    driver.cuParamSetv(f, 0, ctypes.addressof(pointer), 8)
    driver.cuParamSetv(f, 8, ctypes.addressof(pointer), 8)
    driver.cuParamSetf(f, 16, 3.0)
    driver.cuParamSeti(f, 20, 50)
    driver.cuParamSetSize(f, 24)
    driver.cuLaunchGrid(f, 1, 1)
    out = np.zeros_like(values)
    driver.to_host(out, p)
    assert (out == 3 * values).all()
    fails("INVALID_VALUE", driver.cuParamSeti, f, 21, 50)
    fails("INVALID_VALUE", driver.cuParamSetSize, f, 25)


@pytest.mark.parametrize(
    ("grid", "block", "error"),
    [
        ((0, 1, 1), (1, 1, 1), "INVALID_VALUE"),
        ((1, 65536, 1), (1, 1, 1), "INVALID_VALUE"),
        ((1, 1, 1), (1025, 1, 1), "INVALID_VALUE"),
        ((1, 1, 1), (1, 1, 65), "INVALID_VALUE"),
        ((1, 1, 1), (1 << 16, 1 << 16, 1), "INVALID_VALUE"),
        ((1, 1, 1), (129, 1, 1), "INVALID_VALUE"),  # .maxntid 128
    ],
)
def test_bad_shapes(driver: Driver, grid: tuple[int, ...], block: tuple[int, ...], error: str) -> None:
    f = driver.function(driver.load(KERNELS), "shared_bytes")
    fails(error, driver.cuLaunchKernel, f, *grid, *block, 0, None, None, None)


def test_cooperative_launch_too_large(driver: Driver) -> None:
    f = driver.function(driver.load(KERNELS), "shared_bytes")
    driver.cuLaunchCooperativeKernel(f, 16 * 16, 1, 1, 128, 1, 1, 0, None, None)
    fails(
        "COOPERATIVE_LAUNCH_TOO_LARGE", driver.cuLaunchCooperativeKernel, f, 16 * 16 + 1, 1, 1, 128, 1, 1, 0, None, None
    )


# ---- faults --------------------------------------------------------------------------------------------


class Fault(ctypes.Structure):
    """The beginning of EmulatorFault in private_api.h."""

    _fields_ = [
        ("size", c_size_t),
        ("kind", c_uint32),
        ("cuda_error", c_uint32),
        ("what", c_char_p),
        ("text", c_char_p),
        ("kernel", c_char_p),
        ("file", c_char_p),
        ("function", c_char_p),
        ("line", c_uint32),
        ("ptx_line", c_uint32),
        ("block", c_uint32 * 3),
        ("thread", c_uint32 * 3),
        ("space", c_uint32),
        ("is_write", ctypes.c_bool),
        ("is_atomic", ctypes.c_bool),
        ("address", c_uint64),
        ("bytes", c_uint32),
        ("alloc_address", c_uint64),
        ("alloc_bytes", c_uint64),
        ("rest", c_double * 16),
    ]


def take_fault(driver: Driver) -> Fault | None:
    fault = Fault(size=ctypes.sizeof(Fault))
    driver.library.gpuEmulatorTakeFault.restype = ctypes.c_bool
    return fault if driver.library.gpuEmulatorTakeFault(byref(fault)) else None


def test_a_fault_stays_until_reset(driver: Driver) -> None:
    """Work behind it isn't done; every call returns the error; a reset of the primary context ends that."""
    module = driver.load(KERNELS)
    f = driver.function(module, "scale")
    p, q = driver.alloc(400), driver.to_device(np.zeros(100, np.float32))
    driver.launch(f, 1, 128, c_uint64(q), c_uint64(p), c_float(1), c_uint32(101))
    fails("ILLEGAL_ADDRESS", driver.cuCtxSynchronize)
    stream, out = c_void_p(), c_uint64()
    fails("ILLEGAL_ADDRESS", driver.cuStreamCreate, byref(stream), 0)
    fails("ILLEGAL_ADDRESS", driver.cuMemAlloc, byref(out), 1)
    fails("ILLEGAL_ADDRESS", driver.launch, f, 1, 1)
    fault = take_fault(driver)
    assert fault.cuda_error == 700
    assert fault.kernel == b"scale"
    assert list(fault.thread) == [100, 0, 0]
    assert (fault.address, fault.bytes) == (p + 400, 4)
    assert (fault.alloc_address, fault.alloc_bytes) == (p, 400)
    assert not fault.is_write
    assert KERNELS.splitlines()[fault.ptx_line - 1].strip().startswith("add.u64 %rd4, %rd2")
    driver.library.gpuEmulatorFreeFault(byref(fault))
    assert take_fault(driver) is None
    driver.cuDevicePrimaryCtxReset(0)
    driver.alloc(16)
    fails("INVALID_HANDLE", driver.launch, f, 1, 1)


def test_faults_are_printed() -> None:
    run = in_child(
        f"""
        d = Driver(OURS); d.start()
        d.launch(d.function(d.load({KERNELS!r}), "trap_here"), 1, 1)
        print(d.raw('cuCtxSynchronize')())
        """
    )
    assert int(run.stdout) == CODES["LAUNCH_FAILED"]
    assert run.stderr.startswith("gpu emulator: ")
    assert "trap_here" in run.stderr


def test_endless_kernels_end() -> None:
    run = in_child(
        f"""
        d = Driver(OURS); d.start()
        p = d.alloc(4); d.cuMemsetD32(p, 0, 1)
        d.launch(d.function(d.load({KERNELS!r}), "spin"), 1, 32, c_uint64(p))
        print(d.raw('cuCtxSynchronize')())
        """,
        GPU_EMULATOR_BUDGET="100000",
        GPU_EMULATOR_REPORT="off",
    )
    assert int(run.stdout) == CODES["LAUNCH_TIMEOUT"], run.stderr
    assert run.stderr == ""


def test_interrupt(driver: Driver, flag: np.ndarray) -> None:
    """A kernel can be ended from outside; that isn't an error."""
    driver.launch(driver.function(driver.load(KERNELS), "spin"), 1, 1, c_uint64(flag.ctypes.data))
    fails("NOT_READY", driver.cuStreamQuery, None)
    while driver.raw("cuStreamQuery")(None) == CODES["NOT_READY"]:
        driver.library.gpuEmulatorInterrupt(0)
    driver.cuCtxSynchronize()


# ---- processes and threads -----------------------------------------------------------------------------


def test_child_of_a_process_that_used_it() -> None:
    run = in_child(
        """
        import os
        d = Driver(OURS); d.start()
        n = c_int()
        if os.fork() == 0:
            os._exit(d.raw('cuCtxSynchronize')() * 10 + d.raw('cuInit')(0))
        print(os.waitstatus_to_exitcode(os.wait()[1]), d.raw('cuCtxSynchronize')())
        """
    )
    assert run.stdout.split() == ["33", "0"], run.stderr


def test_threads(driver: Driver) -> None:
    """Eight at once, each with memory, a stream and a module of its own, in one context."""
    context, bad = c_void_p(), []
    driver.cuCtxGetCurrent(byref(context))

    def work(k: int) -> None:
        try:
            fails("INVALID_CONTEXT", driver.cuCtxSynchronize)
            driver.cuCtxSetCurrent(context)
            f = driver.function(driver.load(KERNELS), "scale")
            stream, values = c_void_p(), np.arange(200, dtype=np.float32)
            driver.cuStreamCreate(byref(stream), 1)
            for _ in range(20):
                p = driver.to_device(values)
                driver.launch(f, 2, 128, c_uint64(p), c_uint64(p), c_float(k), c_uint32(200), stream=stream)
                out = np.zeros_like(values)
                driver.cuMemcpyDtoHAsync(out.ctypes.data, p, out.nbytes, stream)
                driver.cuStreamSynchronize(stream)
                assert (out == k * values).all()
                driver.cuMemFree(p)
        except BaseException as e:
            bad.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert bad == []


@pytest.mark.slow
def test_nothing_leaks(driver: Driver) -> None:
    """100,000 allocations, launches, events and streams."""
    f = driver.function(driver.load(KERNELS), "shared_bytes")
    event, stream = c_void_p(), c_void_p()

    def rounds(n: int) -> int:
        for i in range(n):
            p = driver.alloc(1000)
            driver.launch(f, 1, 1)
            driver.cuEventCreate(byref(event), 0)
            driver.cuStreamCreate(byref(stream), 0)
            driver.cuEventRecord(event, stream)
            driver.cuEventDestroy(event)
            driver.cuStreamDestroy(stream)
            driver.cuMemFree(p)
            if i % 100 == 0:
                driver.cuCtxSynchronize()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = rounds(20_000)
    assert rounds(80_000) - before < 4096
