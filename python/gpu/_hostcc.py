"""CUDA C for kernels on the CPU: its device functions as those of a shared library, by the machine's C++ compiler.

Only code that is plain C++ but for CUDA's qualifiers compiles: functions of numbers and pointers. What knows of
threads, or includes CUDA's own headers, is code for GPUs, which the emulated device runs where NVRTC is installed.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The standard headers come first: some of them use names that CUDA has, too, and new ones declare rsqrt.
_PRELUDE = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <algorithm>
#include <cmath>
using std::max;
using std::min;
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
static inline float cuda_rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double cuda_rsqrt(double x) { return 1 / sqrt(x); }
#define rsqrtf cuda_rsqrtf
#define rsqrt cuda_rsqrt
#line 1
"""
_NAMES = ("c++", "g++", "clang++")


def compiler() -> str | None:
    """The path of the C++ compiler: ``CXX``, or the system's; None: there is none."""
    given = os.environ.get("CXX", "").split()
    return next(filter(None, map(shutil.which, given[:1] or _NAMES)), None)


@functools.cache
def _library(sources: tuple[tuple[bytes, str], ...]) -> Any:
    """The shared library of some sources, text and name of each; None: there is no compiler."""
    import ctypes

    found = compiler()
    if found is None:
        return None
    with tempfile.TemporaryDirectory(prefix="gpu-") as folder:
        command = [found, "-shared", "-fPIC", "-O2", "-std=c++17", "-w", "-o", os.path.join(folder, "linked.so")]
        command += [f"-I{path}" for path in _folders(sources)]
        for i, (text, _) in enumerate(sources):
            path = os.path.join(folder, f"{i}.cpp")
            with open(path, "wb") as file:
                file.write(_PRELUDE.encode() + text)
            command.append(path)
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if ran.returncode:
            raise RuntimeError(_failure(found, sources, folder, ran.stderr))
        return ctypes.CDLL(command[command.index("-o") + 1])


def _folders(sources: tuple[tuple[bytes, str], ...]) -> list[str]:
    from ._nvrtc import more_headers

    own = [os.path.dirname(os.path.abspath(name)) for _, name in sources if os.path.exists(name)]
    return [*dict.fromkeys([*own, *more_headers()])]


def _failure(found: str, sources: tuple[tuple[bytes, str], ...], folder: str, said: str) -> str:
    for i, (_, name) in enumerate(sources):
        said = said.replace(os.path.join(folder, f"{i}.cpp"), name)
    names = ", ".join(name for _, name in sources)
    return (
        f"{os.path.basename(found)} can't compile {names} for the cpu device, where CUDA C is C++ that knows nothing "
        f"of threads and CUDA's headers; the emulated device and GPUs run all of it:\n{said.strip()}"
    )


def address(sources: tuple[tuple[int, bytes, str], ...], symbol: str) -> int | None:
    """Where a function of CUDA C is in this process.

    Parameters
    ----------
    sources : tuple of (kind, bytes, name)
        All CUDA C that is linked; functions may call each other.
    symbol : str

    Returns
    -------
    int, or None: there is no such function, or no compiler

    Raises
    ------
    RuntimeError
        The code doesn't compile for the CPU: the message has what the compiler says.
    """
    import ctypes

    library = _library(tuple(dict.fromkeys((text, name) for _, text, name in sources)))
    try:
        function = None if library is None else library[symbol]
    except AttributeError:
        return None
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value
