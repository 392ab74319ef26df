"""``gpu doctor``: what is installed, what is wrong, one action for each.

A check is a function that returns findings; it must not raise. The driver is asked in a process of its own, so that a
broken one can't end this.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import gpu
from gpu import _core, _libdevice, _tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

OK, NOTE, BAD = "ok", "note", "bad"
MARKS = {OK: ("ok  ", "green"), NOTE: ("note", "yellow"), BAD: ("BAD ", "red")}


class Finding(NamedTuple):
    """One line of the report; `action` says what to do where something is missing or wrong."""

    state: str
    topic: str
    text: str
    action: str = ""


def checks() -> Iterable[Finding]:
    """All findings, in the order of the report."""
    for check in (package, python, numpy, compiler, device, self_test, driver, bitcode, tools, caches):
        try:
            yield from check()
        except Exception as error:  # a check that fails is a finding too
            yield Finding(BAD, check.__name__, f"{type(error).__name__}: {error}", "report this as a bug of gpu")


def report(findings: Iterable[Finding], echo: Callable[..., Any], style: Callable[..., str]) -> int:
    """Print the findings; 1 if one is bad, else 0."""
    bad = 0
    for finding in findings:
        mark, colour = MARKS[finding.state]
        echo(f"{style(mark, fg=colour)}  {finding.topic:<12} {finding.text}")
        if finding.action:
            echo(f"      {'':<12} -> {finding.action}")
        bad += finding.state == BAD
    echo("")
    echo("Nothing is wrong." if not bad else f"{bad} problem{'s' if bad > 1 else ''}.")
    return 1 if bad else 0


def package() -> Iterable[Finding]:
    """The package and its extension."""
    yield Finding(OK, "gpu", f"{gpu.__version__} in {os.path.dirname(gpu.__file__)}")
    if _core.__version__ != gpu.__version__:
        yield Finding(BAD, "gpu", f"the extension is of version {_core.__version__}", "install the package again")


def python() -> Iterable[Finding]:
    """The interpreter."""
    text = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding(OK, "python", f"{text}, {sys.executable}")


def numpy() -> Iterable[Finding]:
    """NumPy 2, and ml_dtypes for bfloat16."""
    try:
        import numpy as np
    except ImportError:
        yield Finding(BAD, "numpy", "not installed", "pip install 'numpy>=2.0'")
        return
    if int(np.__version__.partition(".")[0]) < 2:
        yield Finding(BAD, "numpy", f"{np.__version__} has other rules of types", "pip install 'numpy>=2.0'")
    else:
        yield Finding(OK, "numpy", np.__version__)
    try:
        import ml_dtypes

        yield Finding(OK, "ml_dtypes", ml_dtypes.__version__)
    except ImportError:
        yield Finding(NOTE, "ml_dtypes", "not installed: no bfloat16 arrays", "pip install ml_dtypes")


def compiler() -> Iterable[Finding]:
    """The library with LLVM."""
    try:
        start = time.perf_counter()
        info = _core.compiler_info()
    except (ImportError, OSError) as error:
        yield Finding(BAD, "compiler", str(error), "install the package again")
        return
    took = (time.perf_counter() - start) * 1e3
    yield Finding(OK, "compiler", f"LLVM {info['llvm']}, loaded in {took:.0f} ms from {info['path']}")


def device() -> Iterable[Finding]:
    """Where kernels run."""
    named = os.environ.get("GPU_DEVICE")
    names = _core.device_names()
    if named and named not in names:
        yield Finding(BAD, "device", f"GPU_DEVICE={named} names no device", f"set it to one of: {', '.join(names)}")
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = os.environ.get("GPU_NUM_THREADS")
    if threads and not (threads.isdigit() and int(threads) > 0):
        yield Finding(
            BAD, "device", f"GPU_NUM_THREADS={threads} is not a number of threads", "set it to 1 or more, or unset it"
        )
    text = f"{_core.current_device()} (of {', '.join(names)}); {cores} core{'s' if cores > 1 else ''}"
    yield Finding(OK, "device", text + (f", GPU_NUM_THREADS={threads}" if threads else ""))


def _add(x: Any, y: Any, out: Any) -> None:
    i = gpu.grid(1)
    if i < len(out):
        out[i] = x[i] + y[i]


def self_test() -> Iterable[Finding]:
    """Compile a vector add, run it on the CPU device and compare."""
    try:
        import numpy as np
    except ImportError:
        return  # said above
    if os.environ.get("GPU_DEVICE", "cpu") not in _core.device_names():
        return  # said above
    x = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(x)
    start = time.perf_counter()
    try:
        with gpu.device("cpu"):
            gpu.jit(_add)[8, 128](x, x, out)
    except Exception as error:
        yield Finding(BAD, "self-test", f"{type(error).__name__}: {error}", "report this as a bug of gpu")
        return
    took = (time.perf_counter() - start) * 1e3
    if np.array_equal(out, x + x):
        yield Finding(OK, "self-test", f"a vector add compiled and ran on the CPU in {took:.0f} ms")
    else:
        yield Finding(BAD, "self-test", "a vector add gave wrong numbers", "report this as a bug of gpu")


# Runs in a process of its own; prints the driver's version, then a line for each device.
DRIVER_PROBE = """
import ctypes, sys
try:
    cu = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit("absent %s" % error)
def call(name, *args):
    code = getattr(cu, name)(*args)
    if code:
        text = ctypes.c_char_p()
        cu.cuGetErrorName(code, ctypes.byref(text))
        sys.exit("%s gives %s" % (name, (text.value or b"error %d" % code).decode()))
version, count, n, d = (ctypes.c_int() for _ in range(4))
call("cuDriverGetVersion", ctypes.byref(version))
print(version.value, flush=True)
call("cuInit", 0)
call("cuDeviceGetCount", ctypes.byref(count))
for i in range(count.value):
    name = ctypes.create_string_buffer(100)
    major, minor = ctypes.c_int(), ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(d), i)
    call("cuDeviceGetName", name, 100, d)
    call("cuDeviceGetAttribute", ctypes.byref(major), 75, d)
    call("cuDeviceGetAttribute", ctypes.byref(minor), 76, d)
    print(i, "sm_%d%d" % (major.value, minor.value), name.value.decode())
"""


def driver() -> Iterable[Finding]:
    """NVIDIA's driver and its devices."""
    launches = "cuda" in _core.device_names()
    try:
        done = subprocess.run(
            [sys.executable, "-c", DRIVER_PROBE], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        yield Finding(
            NOTE, "driver", "doesn't answer within a minute", "look at nvidia-smi and the kernel log; a reboot may help"
        )
        return
    lines, problem = done.stdout.splitlines(), done.stderr.strip()
    if problem.startswith("absent"):
        yield Finding(
            NOTE, "driver", "libcuda.so.1 is not installed: kernels run on the CPU, PTX can be made",
            "for an NVIDIA GPU install its driver",
        )  # fmt: skip
        return
    if lines:
        version = int(lines[0])
        yield Finding(OK, "driver", f"libcuda.so.1 for CUDA {version // 1000}.{version % 1000 // 10}")
    if done.returncode:
        last = problem.splitlines()[-1] if problem else f"the driver ends the process (status {done.returncode})"
        action = "look at nvidia-smi: the driver's kernel module and library must be of one version"
        yield Finding(NOTE, "driver", last, action)
    for line in lines[1:]:
        number, sm, name = line.split(" ", 2)
        low = int(sm[3:]) < 75
        action = (
            "PTX is made for sm_75 and later" if low else "" if launches else "export PTX for it: gpu ptx --arch " + sm
        )
        yield Finding(NOTE if low or not launches else OK, f"device {number}", f"{name}, {sm}", action)


def bitcode() -> Iterable[Finding]:
    """Math functions of PTX."""
    path, named = _libdevice.find(), os.environ.get("GPU_LIBDEVICE")
    if named and not os.path.isfile(named):
        yield Finding(
            BAD,
            "libdevice",
            f"GPU_LIBDEVICE={named} is not a file",
            "set it to the path of libdevice.10.bc, or unset it",
        )
    elif path:
        yield Finding(OK, "libdevice", path)
    elif _libdevice.libclc_dir():
        yield Finding(
            NOTE, "libdevice", "not found: PTX uses the math functions of libclc, which are slower",
            "pip install nvidia-nvvm, or set GPU_LIBDEVICE",
        )  # fmt: skip
    else:
        yield Finding(
            BAD, "libdevice", "neither libdevice nor libclc: PTX has no math functions", "install the package again"
        )


def tools() -> Iterable[Finding]:
    """Programs of the toolkit; none is needed."""
    for name, use, wheel in (
        ("ptxas", "checks PTX and makes machine code", "nvidia-cuda-nvcc"),
        ("nvdisasm", "shows machine code", "nvidia-cuda-nvdisasm"),
        ("cuobjdump", "shows machine code", "nvidia-cuda-cuobjdump"),
    ):
        path = _tools.find(name)
        if path:
            yield Finding(OK, name, f"{_tools.version(path)} in {path}")
        else:
            yield Finding(NOTE, name, f"not installed; it {use}", f"pip install {wheel}")


def caches() -> Iterable[Finding]:
    """Where compiled kernels are kept."""
    yield Finding(OK, "cache", "compiled kernels are kept in memory, as long as the process runs")
