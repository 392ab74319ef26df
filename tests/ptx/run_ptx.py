"""Runs the programs of this folder: CUDA C kernels that carry what launches them and what must come out.

A program is a `.cu` file with a comment of Python, which is run with these names:

    launch("kernel", grid, block, *arguments, shared=0)   arrays are copied to the device and back
    same(got, want)                                       equal to the bit; any NaN equals any NaN
    close(got, want, ulp)                                 within `ulp` units in the last place of got's dtype
    symbol("name", array)                                 copies an array into a variable of the module
    read("name", array)                                   and back

and beside each `.cu` the PTX that nvcc made of it, for where nvcc isn't installed. A line `// nvcc -arch=sm_80`
in the program gives options of nvcc's. By hand: ``python tests/ptx/run_ptx.py --lib libcuda.so.1 shuffles.cu``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
LOG_BUFFER, LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
Dim = int | tuple[int, ...]


class Driver:
    """A driver library, and one context on its first device.

    Parameters
    ----------
    library : str
        Path of ``libcuda.so.1`` or of the emulator.

    Raises
    ------
    RuntimeError
        With the name of the call and the code that the driver gave.
    """

    def __init__(self, library: str) -> None:
        self.lib = ctypes.CDLL(library)
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *args: Any) -> None:
        code = getattr(self.lib, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def load(self, ptx: bytes) -> Module:
        """A module from PTX text; what the driver says about errors is in the message."""
        log, module = ctypes.create_string_buffer(8192), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(LOG_BUFFER, LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(ptx), 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{log.value.decode(errors='replace')}") from None
        return Module(self, module)

    def reset(self) -> None:
        """A fault spoils the context: the next program gets a new one."""
        self.lib.cuDevicePrimaryCtxReset_v2(self.device)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)


class Module:
    """A loaded module: launches, and its variables."""

    def __init__(self, driver: Driver, handle: ctypes.c_void_p) -> None:
        self.driver, self.handle = driver, handle

    @contextlib.contextmanager
    def on_device(self, array: np.ndarray) -> Iterator[ctypes.c_uint64]:
        """A copy of an array on the device, which is copied back at the end."""
        if not array.flags.c_contiguous:
            raise ValueError("arrays must be contiguous")
        pointer, data = ctypes.c_uint64(), ctypes.c_void_p(array.ctypes.data)
        self.driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(array.nbytes, 1)))
        self.driver.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(array.nbytes))
        yield pointer
        self.driver.call("cuMemcpyDtoH_v2", data, pointer, ctypes.c_size_t(array.nbytes))
        self.driver.call("cuMemFree_v2", pointer)

    def launch(self, name: str, grid: Dim, block: Dim, *args: Any, shared: int = 0, cooperative: bool = False) -> None:
        """Run a kernel to its end. Scalars are NumPy scalars, so that their size is known."""
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.handle, name.encode())
        if shared > 48 << 10:
            self.driver.call("cuFuncSetAttribute", function, 8, shared)
        dims = [d for v in (grid, block) for d in (*(v if isinstance(v, tuple) else (v,)), 1, 1)[:3]]
        with contextlib.ExitStack() as stack:
            params = []
            for arg in args:
                if isinstance(arg, np.ndarray):
                    params.append(stack.enter_context(self.on_device(arg)))
                else:
                    params.append((ctypes.c_char * arg.nbytes).from_buffer_copy(arg.tobytes()))
            pointers = (ctypes.c_void_p * max(len(params), 1))(*[ctypes.addressof(p) for p in params])
            if cooperative:
                self.driver.call("cuLaunchCooperativeKernel", function, *dims, shared, None, pointers)
            else:
                self.driver.call("cuLaunchKernel", function, *dims, shared, None, pointers, None)
            self.driver.call("cuCtxSynchronize")

    def variable(self, name: str) -> tuple[ctypes.c_uint64, int]:
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
        call = self.driver.call
        call("cuModuleGetGlobal_v2", ctypes.byref(pointer), ctypes.byref(size), self.handle, name.encode())
        return pointer, size.value

    def symbol(self, name: str, array: np.ndarray) -> None:
        pointer, size = self.variable(name)
        assert array.nbytes <= size
        self.driver.call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def read(self, name: str, array: np.ndarray) -> None:
        pointer, size = self.variable(name)
        assert array.nbytes <= size
        self.driver.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), pointer, ctypes.c_size_t(array.nbytes))

    def unload(self) -> None:
        self.driver.call("cuModuleUnload", self.handle)


# ---- comparisons ------------------------------------------------------------------------------------------------


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal in dtype, shape and to the bit; any NaN equals any NaN."""
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.dtype, want.shape)
    equal = got == want
    if got.dtype.kind == "f":
        equal = (equal & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
    if not equal.all():
        at = tuple(int(i[0]) for i in np.nonzero(~equal))
        raise AssertionError(f"{(~equal).sum()} of {got.size} differ, first at {at}: {got[at]!r}, wanted {want[at]!r}")


def close(got: np.ndarray, want: np.ndarray, ulp: float) -> None:
    """Within `ulp` units in the last place of got's dtype of what is exact."""
    exact = np.asarray(want, np.float64)
    unit = np.spacing(np.maximum(abs(exact), np.finfo(got.dtype).tiny).astype(got.dtype)).astype(np.float64)
    error = abs(got.astype(np.float64) - exact) / unit
    worst = int(np.nanargmax(error))
    assert (np.isnan(exact) == np.isnan(got)).all() and error.flat[worst] <= ulp, (
        f"{error.flat[worst]:.2f} ulp at {worst}: {got.flat[worst]!r}, wanted {exact.flat[worst]!r}"
    )


# ---- programs ---------------------------------------------------------------------------------------------------


def programs() -> list[Path]:
    return sorted(FOLDER.glob("*.cu"))


def options(source: str) -> list[str]:
    """The options of nvcc that a program asks for."""
    line = re.search(r"^// nvcc (.*)$", source, re.MULTILINE)
    given = line.group(1).split() if line else []
    return given if any(o.startswith("-arch") for o in given) else ["-arch=sm_75", *given]


def compile_ptx(program: Path) -> bytes:
    """What the installed nvcc makes of a program."""
    command = [NVCC, "-ptx", "-lineinfo", "-o", "-", *options(program.read_text()), program.name]
    ptx = subprocess.run(command, cwd=FOLDER, check=True, capture_output=True).stdout
    return re.sub(rb'(\.file\s+\d+ )"[^"]*/', rb'\1"', ptx)  # no folders of this machine


def run(driver: Driver, program: Path, ptx: bytes) -> None:
    """Load the PTX, launch as the program's comment says, compare."""
    source = program.read_text()
    comment = re.search(r"^/\*\n(.*?)^\*/", source, re.MULTILINE | re.DOTALL)
    assert comment, f"{program.name} has no comment that launches it"
    module = driver.load(ptx)
    names = {
        "np": np,
        "same": same,
        "close": close,
        "launch": module.launch,
        "symbol": module.symbol,
        "read": module.read,
    }
    first = source[: comment.start(1)].count("\n")
    exec(compile("\n" * first + comment.group(1), str(program), "exec"), names)
    module.unload()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default=os.environ.get("GPU_LIBCUDA", "libcuda.so.1"), help="driver library")
    parser.add_argument("--nvcc", action="store_true", help="compile anew and keep the PTX beside the programs")
    parser.add_argument("programs", nargs="*", type=Path)
    args = parser.parse_args()
    chosen = args.programs or programs()
    if args.nvcc:
        for program in chosen:
            program.with_suffix(".ptx").write_bytes(compile_ptx(program))
    driver, failed = Driver(args.lib), 0
    for program in chosen:
        try:
            run(driver, program, program.with_suffix(".ptx").read_bytes())
            print(f"{program.stem}: ok", flush=True)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print(f"{program.stem}: {type(error).__name__}: {error}", flush=True)
            driver.reset()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
