"""Settings under the names of ``numba.config``. Those that change anything here say so; the others are kept as set."""

from __future__ import annotations

ENABLE_CUDASIM = 0  # gpu.set_device("python") runs kernels thread by thread; it isn't Numba's simulator
CUDA_LOW_OCCUPANCY_WARNINGS = 0  # 1: a launch of fewer than 128 blocks is a warning. In Numba it is 1 by itself
CUDA_WARN_ON_IMPLICIT_COPY = 1
CUDA_DEBUGINFO_DEFAULT = 0
CUDA_DEFAULT_PTX_CC = (7, 5)
CUDA_MEMORY_MANAGER = "default"
CUDA_NVRTC_EXTRA_SEARCH_PATHS = ""  # folders of headers of CUDA C that is linked
CUDA_ARRAY_INTERFACE_SYNC = 1
CUDA_DEALLOCS_COUNT = 10
CUDA_DEALLOCS_RATIO = 0.2
CUDA_PER_THREAD_DEFAULT_STREAM = 0
CUDA_ENABLE_NRT = False
CUDA_USE_NVIDIA_BINDING = False
CUDA_LOG_LEVEL = ""
CUDA_DRIVER = ""
DISABLE_CUDA = 0
DISABLE_PERFORMANCE_WARNINGS = 0
FORCE_CUDA_CC = None
OPT = 3
CACHE_DIR = ""


def reload_config() -> None:
    """Nothing: no setting is read from the environment."""
