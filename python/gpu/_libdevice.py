"""Where bitcode libraries of math functions are: NVIDIA's libdevice, and libclc beside the package.

The compiler asks at its first compilation to PTX. Nothing is imported: wheels are found by their place.
"""

from __future__ import annotations

import glob
import os
import sys

NAME = "libdevice.10.bc"

# Where PyPI's wheels keep it, below site-packages: nvidia-cuda-nvcc, nvidia-nvvm, their -cu12 names, Triton.
WHEELS = (
    "nvidia/cuda_nvcc/nvvm/libdevice",
    "nvidia/nvvm/nvvm/libdevice",
    "nvidia/cu*/nvvm/libdevice",
    "nvidia/nvvm/libdevice",
    "triton/backends/nvidia/lib",
)
TOOLKITS = ("/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit", "/usr/local/cuda-*")


def find() -> str | None:
    """Path of ``libdevice.10.bc``, or None.

    The environment variable ``GPU_LIBDEVICE`` comes first (a file, or empty for none), then ``CUDA_HOME`` and
    ``CUDA_PATH``, toolkits at their usual places, and wheels in this Python's path.
    """
    named = os.environ.get("GPU_LIBDEVICE")
    if named is not None:
        return named or None
    return next(iter(candidates()), None)


def candidates() -> list[str]:
    """All copies that are found, in the order in which `find` takes them."""
    patterns = [os.path.join(root, "nvvm/libdevice", NAME) for root in toolkits()]
    patterns += [os.path.join(path, wheel, NAME) for path in sys.path if path for wheel in WHEELS]
    found: list[str] = []
    for pattern in patterns:
        matches = glob.glob(pattern) if "*" in pattern else [pattern] if os.path.isfile(pattern) else []
        found += [m for m in sorted(matches, reverse=True) if m not in found]
    return found


def toolkits() -> list[str]:
    """Folders of installed CUDA toolkits."""
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    found = [root for root in named if root]
    for pattern in TOOLKITS:
        found += sorted(glob.glob(pattern), reverse=True)
    return [root for i, root in enumerate(found) if os.path.isdir(root) and root not in found[:i]]


def libclc_dir() -> str | None:
    """Folder of the split libclc bitcode that comes with the package, or None."""
    named = os.environ.get("GPU_LIBCLC")
    folder = named if named else os.path.join(os.path.dirname(os.path.abspath(__file__)), "libclc")
    return folder if os.path.isdir(folder) else None
