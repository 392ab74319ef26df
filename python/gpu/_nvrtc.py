"""CUDA C for kernels to link: compiled by NVRTC, where a toolkit or a wheel of NVIDIA's has it.

NVRTC is opened at run time; it needs no GPU. What comes out is relocatable PTX, for the driver or the emulated GPU to
link.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import sys

from ._libdevice import toolkits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_WHEELS = ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib")
_HEADERS = ("nvidia/cu*/include", "nvidia/cu*/include/cccl", "nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include")
MISSING = (
    "CUDA C is compiled by NVRTC, and it isn't installed: pip install nvidia-cuda-nvrtc, or install a CUDA toolkit; or "
    "compile the code first, as in `nvcc -ptx -rdc=true -arch=sm_80 f.cu`, and link the .ptx"
)


def _places(wheels: tuple[str, ...], below: tuple[str, ...]) -> list[str]:
    """Folders of toolkits and of wheels that are there."""
    found = [os.path.join(root, name) for root in toolkits() for name in below]
    for wheel in wheels:
        for path in sys.path:
            found += sorted(glob.glob(os.path.join(path, wheel)), reverse=True)
    return [place for place in found if os.path.isdir(place)]


@functools.cache
def library() -> Any:
    """NVRTC as an object of ctypes; None: it isn't installed."""
    places = ["", *_places(_WHEELS, ("lib64", "lib"))]
    for path in (os.path.join(place, name) for name in _NAMES for place in places):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _check(nvrtc: Any, code: int, what: str) -> None:
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC: {what}: {nvrtc.nvrtcGetErrorString(code).decode()}")


def _text(nvrtc: Any, program: Any, kind: str) -> bytes:
    """What NVRTC has of a program: its ``PTX`` or ``ProgramLog``."""
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)), kind)
    buffer = ctypes.create_string_buffer(max(1, size.value))
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{kind}")(program, buffer), kind)
    return buffer.value


def _arch(nvrtc: Any, wanted: int) -> int:
    """The newest architecture that NVRTC knows, up to the wanted one; else its oldest."""
    count = ctypes.c_int()
    _check(nvrtc, nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "architectures")
    known = (ctypes.c_int * count.value)()
    _check(nvrtc, nvrtc.nvrtcGetSupportedArchs(known), "architectures")
    return max((arch for arch in known if arch <= wanted), default=min(known))


def _capability() -> int:
    """Of the current device; of a usual GPU on devices that aren't one."""
    from . import _core

    device = _core.current_device()
    if device.partition(":")[0] in ("cpu", "python"):
        return 80
    from ._device import properties

    major, minor = properties(device).compute_capability
    return int(10 * major + minor)


def more_headers() -> list[str]:
    """What Numba's setting, or its variable, names."""
    config = sys.modules.get("gpu.cuda.config")
    given = getattr(config, "CUDA_NVRTC_EXTRA_SEARCH_PATHS", "")
    given = given or os.environ.get("NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", "")
    return [folder for folder in given.split(os.pathsep) if folder]


def compile_cuda(source: bytes, name: str, include: Sequence[str] = (), arch: int | None = None) -> bytes:
    """PTX of CUDA C, for the current device and newer ones.

    Parameters
    ----------
    source : bytes
        Functions are ``extern "C" __device__``.
    name : str
        For messages.
    include : sequence of str
        Folders of headers, before the toolkit's.
    arch : int, optional
        80: for such a GPU and newer ones.

    Raises
    ------
    NotImplementedError
        NVRTC isn't installed.
    RuntimeError
        The code has errors: the message has what NVRTC says.
    """
    nvrtc = library()
    if nvrtc is None:
        raise NotImplementedError(f"{name}: {MISSING}")
    headers = [*include, *more_headers(), *_places(_HEADERS, ("include", "include/cccl"))]
    options = [
        f"--gpu-architecture=compute_{_arch(nvrtc, arch or _capability())}",
        "--relocatable-device-code=true",
        "-std=c++17",
    ]
    options += [f"-I{folder}" for folder in headers]
    program = ctypes.c_void_p()
    made = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, os.path.basename(name).encode(), 0, None, None)
    _check(nvrtc, made, name)
    try:
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        code = nvrtc.nvrtcCompileProgram(program, len(options), given)
        log = _text(nvrtc, program, "ProgramLog").decode(errors="replace").strip("\n\0 ")
        if code:
            raise RuntimeError(f"NVRTC_ERROR_COMPILATION: NVRTC can't compile {name}:\n{log}")
        if log:
            from warnings import warn

            warn(f"NVRTC log messages whilst compiling {name}:\n{log}", stacklevel=2)
        return _text(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
