"""The CUDA driver's interface by ctypes, from runtime/cuda_api.def, and what tests of the emulated driver share."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from ctypes import byref, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "runtime"
BUILD = Path(os.environ.get("GPU_BUILD", ROOT / "build"))
LIBCUDA = BUILD / "lib" / "gpu" / "emulator" / "libcuda.so.1"
OURS = BUILD / "lib" / "gpu" / "libgpu_emulated.so"


class Entry(NamedTuple):
    """A row of cuda_api.def."""

    kind: str
    name: str
    base: str
    since: int
    stream: str
    parameters: tuple[str, ...]


def entries() -> list[Entry]:
    """All functions of the driver's interface that the table has."""
    row = re.compile(r"^CUDA_(USED|MORE|REFUSED)\((\w+), (\w+), (\d+), (\w+)(?:, \((.*)\))?\)$", re.MULTILINE)
    found = []
    for kind, name, base, since, stream, parameters in row.findall((RUNTIME / "cuda_api.def").read_text()):
        types = tuple(t for t in parameters.split(", ") if t != "void") if parameters else ()
        found.append(Entry(kind, name, base, int(since), stream, types))
    return found


def errors() -> dict[int, str]:
    """Names of error codes, from cuda_errors.def."""
    row = re.compile(r"^CUDA_ERROR\((\d+), (\w+),", re.MULTILINE)
    return {int(code): name for code, name in row.findall((RUNTIME / "cuda_errors.def").read_text())}


ERRORS = errors()
CODES = {name.removeprefix("CUDA_ERROR_"): code for code, name in ERRORS.items()}

# Types that aren't pointers and aren't passed as an int.
BY_VALUE = {
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": c_uint32,
    "uint64_t": c_uint64,
    "size_t": c_size_t,
    "CUdeviceptr": c_uint64,
    "float": ctypes.c_float,
}
HANDLES = {
    "CUgraph",
    "CUgraphExec",
    "CUgraphNode",
    "CUuserObject",
    "CUcontext",
    "CUmodule",
    "CUfunction",
    "CUlibrary",
    "CUkernel",
    "CUstream",
    "CUevent",
    "CUlinkState",
    "CUmemoryPool",
}
CALLBACKS = {"CUstreamCallback", "CUhostFn", "CUoccupancyB2DSize"}


class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


STRUCTS = {"CUmemLocation": Location, "CUipcMemHandle": IpcHandle, "CUipcEventHandle": IpcHandle}


def ctype(name: str) -> type:
    """The ctypes type of a parameter as the table writes it."""
    if name.endswith("*") or name in HANDLES or name in CALLBACKS:
        return c_void_p
    return STRUCTS.get(name) or BY_VALUE.get(name, c_int)


class DriverError(Exception):
    """A call that failed.

    Parameters
    ----------
    call : str
        The function.
    code : int
        What it returned.
    """

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call}: {ERRORS.get(code, code)}")
        self.call, self.code = call, code


class Driver:
    """A loaded driver: its functions are methods, named as it exports them or by their base, and raise DriverError."""

    def __init__(self, path: Path = LIBCUDA) -> None:
        self.library = ctypes.CDLL(str(path))
        newest: dict[str, Entry] = {}
        for e in sorted(entries(), key=lambda e: e.since):
            if e.since < 13000 or e.base not in newest:
                newest[e.base] = e
        self.table = {e.name: e for e in entries()} | newest

    def raw(self, name: str | Entry) -> Callable[..., int]:
        """The function itself, which returns a code."""
        entry = self.table[name] if isinstance(name, str) else name
        function = getattr(self.library, entry.name)
        function.restype = c_int
        function.argtypes = [ctype(t) for t in entry.parameters]
        return function

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in self.table:
            raise AttributeError(name)
        function = self.raw(name)

        def call(*arguments: object) -> None:
            code = function(*arguments)
            if code:
                raise DriverError(name, code)

        self.__dict__[name] = call
        return call

    # ---- what most tests need

    def start(self, device: int = 0) -> None:
        """Makes the primary context of a device current."""
        self.cuInit(0)
        context = c_void_p()
        self.cuDevicePrimaryCtxRetain(byref(context), device)
        self.cuCtxSetCurrent(context)

    def alloc(self, size: int) -> int:
        address = c_uint64()
        self.cuMemAlloc(byref(address), size)
        return address.value

    def load(self, ptx: str) -> c_void_p:
        module = c_void_p()
        self.cuModuleLoadData(byref(module), ptx.encode() + b"\0")
        return module

    def function(self, module: c_void_p, name: str) -> c_void_p:
        function = c_void_p()
        self.cuModuleGetFunction(byref(function), module, name.encode())
        return function

    def launch(
        self,
        function: c_void_p,
        grid: int,
        block: int,
        *arguments: ctypes._SimpleCData,
        shared: int = 0,
        stream: object = None,
    ) -> None:
        pointers = (c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        self.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, pointers, None)

    def to_device(self, values: object) -> int:
        """An allocation with a NumPy array's bytes in it."""
        address = self.alloc(values.nbytes)
        self.cuMemcpyHtoD(address, values.ctypes.data, values.nbytes)
        return address

    def to_host(self, values: object, address: int) -> None:
        """Fills a NumPy array from device memory."""
        self.cuMemcpyDtoH(values.ctypes.data, address, values.nbytes)


# ---- shared by tests -----------------------------------------------------------------------------------

HEADER = ".version 7.0\n.target sm_70\n.address_size 64\n"
KERNELS = (
    HEADER
    + """
.global .align 4 .u32 counter = 7;
.const .align 4 .u32 table[4] = {1, 2, 3, 4};

// to[i] = from[i] * factor, for i < n
.visible .entry scale(.param .u64 to, .param .u64 from, .param .f32 factor, .param .u32 n) {
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3; ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    add.u64 %rd5, %rd1, %rd3; st.global.f32 [%rd5], %f3;
done:
    ret;
}

// Spins until *flag isn't 0.
.visible .entry spin(.param .u64 flag) {
    .reg .pred %p; .reg .b32 %r1; .reg .b64 %rd1;
    ld.param.u64 %rd1, [flag];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p, %r1, 0;
    @%p bra again;
    ret;
}

.visible .entry shared_bytes() .maxntid 128 {
    .shared .align 4 .b8 buffer[1024];
    .reg .b32 %r1;
    mov.u32 %r1, %tid.x;
    st.shared.u32 [buffer], %r1;
    ret;
}

.visible .entry trap_here() {
    trap;
}
"""
)


def in_child(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the driver, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)} | environment
    program = "import ctypes\nfrom ctypes import *\nfrom cuda_driver import *\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)


def fails(name: str, call: Callable[..., None], *arguments: object, **more: object) -> None:
    """Checks that a call fails with the error of this name."""
    with pytest.raises(DriverError) as e:
        call(*arguments, **more)
    assert ERRORS[e.value.code] == f"CUDA_ERROR_{name}"
