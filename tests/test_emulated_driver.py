"""The emulated libcuda as a program that uses the CUDA driver sees it: its functions, contexts, memory."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from cuda_driver import (
    CODES,
    ERRORS,
    KERNELS,
    LIBCUDA,
    OURS,
    ROOT,
    RUNTIME,
    Driver,
    Location,
    entries,
    fails,
    in_child,
)

pytestmark = pytest.mark.one_version


# ---- exports ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [LIBCUDA, OURS], ids=["libcuda", "ours"])
def test_exports(path: Path) -> None:
    """Each row of the table, and beside them only our own interface."""
    library = ctypes.CDLL(str(path))
    assert [e.name for e in entries() if not hasattr(library, e.name)] == []
    if shutil.which("nm"):
        nm = ["nm", "-D", "--defined-only", path]
        listing = subprocess.run(nm, capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in listing.splitlines()}
        rows = {e.name + suffix for e in entries() for suffix in ("", f"_{e.stream.lower()}")}
        others = names - rows
        assert all(name.startswith("gpuEmulator") for name in others), others


def test_soname() -> None:
    """Only one of the two may be taken for a driver."""
    if not shutil.which("readelf"):
        pytest.skip("no readelf")
    for path, name in (LIBCUDA, "libcuda.so.1"), (OURS, "libgpu_emulated.so"):
        out = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        assert f"[{name}]" in out


BEFORE_INIT = {
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetProcAddress",
    "cuGetExportTable",
}

ABUSE = """
import sys
d = Driver(OURS)
WRONG = {garbage}
def wrong(t):
    kind = ctype(t)
    if issubclass(kind, ctypes.Structure): return kind()
    if t.endswith("*"): return None
    if t in CALLBACKS: return None
    return 0 if not WRONG else -1 if kind in (c_int, ctypes.c_float) else WRONG
if {init}: d.cuInit(0)
if {context}: d.start()
for e in entries():
    if {context} and e.base in ("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxReset"): continue
    arguments = [wrong(t) for t in e.parameters]
    if e.base == "cuInit": arguments = [1]
    if e.base == "cuCtxPopCurrent" or (not WRONG and e.base == "cuCtxSetCurrent"): continue
    print(e.name, d.raw(e)(*arguments), flush=True)
"""


@pytest.mark.parametrize("garbage", [0, 0x7A0])
@pytest.mark.parametrize("state", ["loaded", "initialised", "current"])
def test_wrong_arguments(state: str, garbage: int) -> None:
    """Each function with NULLs and with handles that are none: an error of CUDA's, never a crash."""
    run = in_child(ABUSE.format(garbage=garbage, init=state != "loaded", context=state == "current"))
    assert run.returncode == 0, run.stdout[-300:] + run.stderr
    results = {name: int(code) for name, code in map(str.split, run.stdout.splitlines())}
    assert set(results.values()) <= set(ERRORS)
    for e in entries():
        if e.name not in results or e.base in BEFORE_INIT:
            continue
        if state == "loaded":
            assert results[e.name] == CODES["NOT_INITIALIZED"], e.name
        elif e.kind == "REFUSED":
            assert results[e.name] == CODES["NOT_SUPPORTED"], e.name


def test_null_is_harmless(driver: Driver) -> None:
    driver.cuMemFree(0)
    driver.cuMemFreeHost(None)
    driver.cuMemFreeAsync(0, None)
    driver.cuStreamSynchronize(None)
    driver.cuMemcpyDtoD(0, 0, 0)


# ---- names and texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "version", "flags", "name"),
    [
        ("cuMemAlloc", 12000, 0, "cuMemAlloc_v2"),
        ("cuMemAlloc", 2000, 0, None),
        ("cuCtxCreate", 11000, 0, "cuCtxCreate_v2"),
        ("cuCtxCreate", 11040, 0, "cuCtxCreate_v3"),
        ("cuCtxCreate", 12080, 0, "cuCtxCreate_v4"),
        ("cuCtxSynchronize", 12090, 0, "cuCtxSynchronize"),
        ("cuGraphInstantiate", 11040, 0, "cuGraphInstantiate_v2"),
        ("cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags"),
        ("cuStreamGetCaptureInfo", 12020, 0, "cuStreamGetCaptureInfo_v2"),
        ("cuLaunchKernel", 4000, 2, None),
        ("cuLaunchKernel", 7000, 2, "cuLaunchKernel"),
        ("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"),
        ("cuNothing", 13000, 0, None),
    ],
)
def test_proc_address(driver: Driver, base: str, version: int, flags: int, name: str | None) -> None:
    out, found = c_void_p(), c_int()
    driver.cuGetProcAddress(base.encode(), byref(out), version, flags, byref(found))
    expected = ctypes.cast(getattr(driver.library, name), c_void_p).value if name else None
    assert out.value == expected
    assert found.value == (0 if name else 1 if base == "cuNothing" else 2)


def test_error_texts(driver: Driver) -> None:
    for code, name in ERRORS.items():
        text = c_char_p()
        driver.cuGetErrorName(code, byref(text))
        assert text.value == name.encode()
        driver.cuGetErrorString(code, byref(text))
        assert text.value
    fails("INVALID_VALUE", driver.cuGetErrorName, 12345, byref(text))


# ---- the environment -----------------------------------------------------------------------------------


def test_devices_as_asked() -> None:
    run = in_child(
        """
        d = Driver(OURS); d.cuInit(0)
        n, major, minor, version, total = c_int(), c_int(), c_int(), c_int(), c_size_t()
        d.cuDeviceGetCount(byref(n)); d.cuDriverGetVersion(byref(version)); d.cuDeviceTotalMem(byref(total), 1)
        d.cuDeviceGetAttribute(byref(major), 75, 1); d.cuDeviceGetAttribute(byref(minor), 76, 1)
        uuids = []
        for i in range(n.value):
            uuid = create_string_buffer(16)
            d.cuDeviceGetUuid(byref(uuid), i)
            uuids.append(uuid.raw)
        print(n.value, major.value, minor.value, version.value, total.value, len(set(uuids)))
        """,
        GPU_EMULATOR_DEVICES="3",
        GPU_EMULATOR_SM="86",
        GPU_EMULATOR_DRIVER="12040",
        GPU_EMULATOR_MEMORY="64M",
    )
    assert run.stdout.split() == ["3", "8", "6", "12040", str(64 << 20), "3"], run.stderr


def test_no_device() -> None:
    run = in_child("print(Driver(OURS).raw('cuInit')(0))", GPU_EMULATOR_DEVICES="0")
    assert int(run.stdout) == CODES["NO_DEVICE"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEVICES", "17"),
        ("SM", "91"),
        ("DRIVER", "12.4"),
        ("MEMORY", "8T"),
        ("CHECK", "race"),
        ("BUDGET", "-1"),
        ("THREADS", "0"),
        ("FAIL", "cuMemAlloc"),
        ("FAIL", "cuMemAllocate:1"),
        ("FAIL", "cuMemAlloc:1=x"),
    ],
)
def test_senseless_values(name: str, value: str) -> None:
    """Start fails, and stderr says which variable takes what."""
    run = in_child("print(Driver(OURS).raw('cuInit')(0))", **{f"GPU_EMULATOR_{name}": value})
    assert int(run.stdout) == CODES["INVALID_VALUE"]
    assert f"GPU_EMULATOR_{name}={value}: it takes" in run.stderr


def test_calls_that_fail() -> None:
    run = in_child(
        """
        d = Driver(OURS); d.start()
        p = c_uint64()
        print([d.raw('cuMemAlloc')(byref(p), 256) for i in range(4)], [d.raw('cuMemFree_v2')(0) for i in range(3)])
        """,
        GPU_EMULATOR_FAIL="cuMemAlloc:2=2,cuMemAlloc:3=700,cuMemFree_v2:1",
    )
    assert run.stdout.strip() == "[0, 2, 700, 0] [999, 0, 0]", run.stderr


# ---- contexts ------------------------------------------------------------------------------------------


def test_stack_of_contexts(driver: Driver) -> None:
    primary, other, current = c_void_p(), c_void_p(), c_void_p()
    driver.cuCtxGetCurrent(byref(primary))
    driver.cuCtxCreate_v2(byref(other), 0, 0)
    driver.cuCtxGetCurrent(byref(current))
    assert current.value == other.value != primary.value
    driver.cuCtxPushCurrent(primary)
    driver.cuCtxPopCurrent(byref(current))
    assert current.value == primary.value
    driver.cuCtxDestroy(other)
    driver.cuCtxGetCurrent(byref(current))
    assert current.value == primary.value
    fails("INVALID_CONTEXT", driver.cuCtxSetCurrent, other)


def test_destroyed_context_is_named() -> None:
    run = in_child(
        """
        d = Driver(OURS); d.cuInit(0)
        c = c_void_p()
        d.cuCtxCreate_v2(byref(c), 0, 0); d.cuCtxPushCurrent(c)
        d.cuCtxDestroy(c)
        p = c_uint64()
        print(d.raw('cuMemAlloc')(byref(p), 1))
        """
    )
    assert int(run.stdout) == CODES["CONTEXT_IS_DESTROYED"], run.stderr


def test_what_a_context_owned_goes_with_it(driver: Driver) -> None:
    before, after, total, other = c_size_t(), c_size_t(), c_size_t(), c_void_p()
    driver.cuMemGetInfo(byref(before), byref(total))
    driver.cuCtxCreate_v2(byref(other), 0, 0)
    driver.alloc(1 << 20)
    driver.load(KERNELS)
    host, stream, event = c_void_p(), c_void_p(), c_void_p()
    driver.cuMemHostAlloc(byref(host), 4096, 0)
    driver.cuStreamCreate(byref(stream), 0)
    driver.cuEventCreate(byref(event), 0)
    driver.cuCtxDestroy(other)
    driver.cuMemGetInfo(byref(after), byref(total))
    assert after.value == before.value
    fails("INVALID_HANDLE", driver.cuStreamQuery, stream)
    fails("INVALID_HANDLE", driver.cuEventQuery, event)


def test_limits(driver: Driver) -> None:
    value = c_size_t()
    driver.cuCtxSetLimit(0, 4096)
    driver.cuCtxGetLimit(byref(value), 0)
    assert value.value == 4096
    fails("INVALID_VALUE", driver.cuCtxGetLimit, byref(value), 77)


# ---- memory --------------------------------------------------------------------------------------------


def test_copies(driver: Driver) -> None:
    data = np.arange(1000, dtype=np.int32)
    a, b = driver.to_device(data), driver.alloc(data.nbytes)
    driver.cuMemcpyDtoD(b, a, data.nbytes)
    back = np.zeros_like(data)
    driver.to_host(back, b)
    assert (back == data).all()
    driver.cuMemcpy(a, back.ctypes.data, 400)
    fails("INVALID_VALUE", driver.cuMemcpyDtoH, back.ctypes.data, a, data.nbytes + 1)
    fails("INVALID_VALUE", driver.cuMemcpyDtoH, None, a, 4)
    fails("INVALID_VALUE", driver.cuMemcpyHtoD, a, b, 4)
    fails("INVALID_VALUE", driver.cuMemcpyHtoD, back.ctypes.data, back.ctypes.data, 4)


def test_freed_memory(driver: Driver) -> None:
    a = driver.alloc(64)
    fails("INVALID_VALUE", driver.cuMemFree, a + 4)
    driver.cuMemFree(a)
    fails("INVALID_VALUE", driver.cuMemFree, a)
    host = np.zeros(64, np.uint8)
    fails("INVALID_VALUE", driver.cuMemcpyDtoH, host.ctypes.data, a, 4)
    fails("INVALID_VALUE", driver.cuMemcpy, host.ctypes.data, a, 4)


def test_fills(driver: Driver) -> None:
    out = np.zeros(64, np.uint8)
    p = driver.alloc(64)
    driver.cuMemsetD8(p, 1, 64)
    driver.cuMemsetD16(p + 2, 0x0302, 3)
    driver.cuMemsetD32(p + 8, 0x07060504, 2)
    driver.cuMemsetD2D8(p + 16, 16, 9, 2, 3)
    driver.to_host(out, p)
    expected = np.ones(64, np.uint8)
    expected[2:8] = [2, 3] * 3
    expected[8:16] = [4, 5, 6, 7] * 2
    expected[16:].reshape(3, 16)[:, :2] = 9
    assert (out == expected).all()
    fails("INVALID_VALUE", driver.cuMemsetD32, p + 2, 0, 1)
    fails("INVALID_VALUE", driver.cuMemsetD8, p, 0, 65)


BOX_END = [
    *((name, c_size_t) for name in ("x", "y", "z", "lod")),
    ("type", c_int),
    ("host", c_void_p),
    ("device", c_uint64),
    ("array", c_void_p),
    ("reserved", c_void_p),
    ("pitch", c_size_t),
    ("height", c_size_t),
]


class Box(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = [
        *((f"src_{name}", kind) for name, kind in BOX_END),
        *((f"dst_{name}", kind) for name, kind in BOX_END),
        ("width", c_size_t),
        ("rows", c_size_t),
        ("depth", c_size_t),
    ]


def test_boxes(driver: Driver) -> None:
    """A part of a three-dimensional array, out of one and into another."""
    data = np.arange(4 * 5 * 8, dtype=np.uint8).reshape(4, 5, 8)
    p = driver.to_device(data)
    out = np.zeros((2, 3, 4), np.uint8)
    box = Box(src_x=2, src_y=1, src_z=1, src_type=2, src_device=p, src_pitch=8, src_height=5)
    box.dst_type, box.dst_host, box.dst_pitch, box.dst_height = 1, out.ctypes.data, 4, 3
    box.width, box.rows, box.depth = 4, 3, 2
    driver.cuMemcpy3D(byref(box))
    assert (out == data[1:3, 1:4, 2:6]).all()
    box.src_z = 3
    fails("INVALID_VALUE", driver.cuMemcpy3D, byref(box))


def test_pitch(driver: Driver) -> None:
    p, pitch = c_uint64(), c_size_t()
    driver.cuMemAllocPitch(byref(p), byref(pitch), 1000, 3, 4)
    assert pitch.value == 1024
    driver.cuMemsetD8(p.value, 0, 3 * 1024)
    fails("INVALID_VALUE", driver.cuMemAllocPitch, byref(p), byref(pitch), 1000, 3, 3)


def test_out_of_memory(driver: Driver) -> None:
    available, total = c_size_t(), c_size_t()
    driver.cuMemGetInfo(byref(available), byref(total))
    fails("OUT_OF_MEMORY", driver.alloc, total.value + 1)
    fails("OUT_OF_MEMORY", driver.alloc, (1 << 64) - 1)
    fails("INVALID_VALUE", driver.alloc, 0)
    half = driver.alloc(available.value // 2)
    fails("OUT_OF_MEMORY", driver.alloc, available.value // 2 + (1 << 20))
    driver.cuMemFree(half)
    driver.alloc(available.value // 2 + (1 << 20))


def test_host_memory(driver: Driver) -> None:
    host, device, flags = c_void_p(), c_uint64(), c_uint32()
    driver.cuMemHostAlloc(byref(host), 4000, 2)
    driver.cuMemHostGetDevicePointer(byref(device), host.value + 8, 0)
    assert device.value == host.value + 8
    driver.cuMemHostGetFlags(byref(flags), host)
    assert flags.value == 2
    ctypes.memset(host.value, 5, 4000)
    module = driver.load(KERNELS)
    values = np.ctypeslib.as_array(ctypes.cast(host, ctypes.POINTER(c_float)), (1000,))
    values[:] = 3
    driver.launch(
        driver.function(module, "scale"), 4, 256, c_uint64(host.value), c_uint64(host.value), c_float(2), c_uint32(1000)
    )
    driver.cuCtxSynchronize()
    assert (values == 6).all()
    driver.cuMemsetD32(host.value, 0, 1000)  # waits, since the host sees this memory
    assert (values == 0).all()
    driver.cuMemFreeHost(host)
    fails("INVALID_VALUE", driver.cuMemFreeHost, host)

    own = np.zeros(4096, np.uint8)
    driver.cuMemHostRegister(own.ctypes.data, own.nbytes, 0)
    fails("HOST_MEMORY_ALREADY_REGISTERED", driver.cuMemHostRegister, own.ctypes.data, own.nbytes, 0)
    driver.cuMemHostUnregister(own.ctypes.data)
    fails("HOST_MEMORY_NOT_REGISTERED", driver.cuMemHostUnregister, own.ctypes.data)
    driver.cuMemcpyHtoD(driver.alloc(4096), own.ctypes.data, 4096)


def test_managed_memory(driver: Driver) -> None:
    p = c_uint64()
    driver.cuMemAllocManaged(byref(p), 4000, 1)
    values = np.ctypeslib.as_array(ctypes.cast(p.value, ctypes.POINTER(c_float)), (1000,))
    values[:] = np.arange(1000)
    driver.launch(driver.function(driver.load(KERNELS), "scale"), 4, 256, p, p, c_float(3), c_uint32(1000))
    driver.cuCtxSynchronize()
    assert (values == 3 * np.arange(1000)).all()
    driver.cuMemPrefetchAsync(p.value, 4000, Location(2, 0), 0, None)
    fails("INVALID_VALUE", driver.cuMemAllocManaged, byref(p), 4000, 7)


@pytest.mark.parametrize(
    ("attribute", "kind", "expected"),
    [(2, c_int, 2), (9, c_int, 0), (11, c_uint64, "start"), (12, c_uint64, 100), (8, c_int, 0), (13, c_int, 1)],
)
def test_pointer_attributes(driver: Driver, attribute: int, kind: type, expected: object) -> None:
    p = driver.alloc(100)
    value = kind()
    driver.cuPointerGetAttribute(byref(value), attribute, p + 50)
    assert value.value == (p if expected == "start" else expected)
    own = np.zeros(10)
    fails("INVALID_VALUE", driver.cuPointerGetAttribute, byref(value), attribute, own.ctypes.data)
    driver.cuPointerGetAttributes(1, byref(c_int(attribute)), byref(c_void_p(ctypes.addressof(value))), own.ctypes.data)
    assert value.value == (-2 if attribute == 9 else 0)


def test_address_range(driver: Driver) -> None:
    p, base, size = driver.alloc(1000), c_uint64(), c_size_t()
    driver.cuMemGetAddressRange(byref(base), byref(size), p + 999)
    assert (base.value, size.value) == (p, 1000)
    fails("NOT_FOUND", driver.cuMemGetAddressRange, byref(base), byref(size), p + 1000)


def test_pools(driver: Driver) -> None:
    pool, used, stream, p = c_void_p(), c_uint64(), c_void_p(), c_uint64()
    driver.cuDeviceGetDefaultMemPool(byref(pool), 0)
    driver.cuStreamCreate(byref(stream), 1)
    driver.cuMemAllocAsync(byref(p), 1 << 20, stream)
    driver.cuMemPoolGetAttribute(pool, 7, byref(used))
    assert used.value == 1 << 20
    driver.cuMemsetD8Async(p, 1, 1 << 20, stream)
    driver.cuMemFreeAsync(p, stream)
    fails("INVALID_VALUE", driver.cuMemFreeAsync, p, stream)
    driver.cuStreamSynchronize(stream)
    driver.cuMemPoolGetAttribute(pool, 7, byref(used))
    assert used.value == 0
    driver.cuMemPoolGetAttribute(pool, 8, byref(used))
    assert used.value >= 1 << 20
    fails("INVALID_VALUE", driver.cuMemFree, p)


def test_manual() -> None:
    """The manual's table of variables is the driver's."""
    row = re.compile(r'^OPTION\((\w+), "(.*?)", "(.*?)", "(.*?)"\)$', re.MULTILINE)
    options = row.findall((RUNTIME / "emulator" / "driver_options.def").read_text())
    manual = (ROOT / "docs" / "emulator.md").read_text()
    assert len(options) > 8
    for name, standard, values, text in options:
        default = f"`{standard}`" if standard else ""
        assert f"| `{name}` | {default} | {values} | {text} |" in manual
