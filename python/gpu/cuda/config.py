"""Settings under the names of ``numba.config``. Those that change anything here say so; the others are kept as set.

Each is read from the environment when this module is imported, and by `reload_config`: ``NUMBA_`` and its name.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from .. import _core

DUMPS = ("DUMP_BYTECODE", "DUMP_CFG", "DUMP_IR", "DUMP_LLVM", "DUMP_ASSEMBLY")

_DEFAULTS: dict[str, Any] = {
    "ENABLE_CUDASIM": 0,  # gpu.set_device("python") runs kernels thread by thread; it isn't Numba's simulator
    "CUDA_LOW_OCCUPANCY_WARNINGS": 0,  # 1: a launch of fewer than 128 blocks is a warning. In Numba it is 1 by itself
    "CUDA_WARN_ON_IMPLICIT_COPY": 0,  # 1: a NumPy array as an argument is a warning. In Numba it is 1 by itself
    "CUDA_DEBUGINFO_DEFAULT": 0,  # what cuda.jit takes for debug where nothing is said
    "CUDA_DEFAULT_PTX_CC": (7, 5),
    "CUDA_MEMORY_MANAGER": "default",  # the module of a memory manager
    "CUDA_NVRTC_EXTRA_SEARCH_PATHS": "",  # folders of headers of CUDA C that is linked
    "CUDA_ARRAY_INTERFACE_SYNC": 1,  # 0: arrays of other libraries are taken without waiting for their streams
    "CUDA_DEALLOCS_COUNT": 10,  # of freed memory that isn't given back yet: see `PendingDeallocs`
    "CUDA_DEALLOCS_RATIO": 0.2,  # ... part of the device's memory
    "CUDA_PER_THREAD_DEFAULT_STREAM": 0,
    "CUDA_ENABLE_NRT": False,
    "CUDA_USE_NVIDIA_BINDING": False,
    "CUDA_LOG_LEVEL": "",
    "CUDA_DRIVER": "",
    "DISABLE_CUDA": 0,  # 1: whatever uses a device is a CudaSupportError
    "DISABLE_PERFORMANCE_WARNINGS": 0,  # 1: no warning of few blocks, or of copies
    "FORCE_CUDA_CC": None,
    **dict.fromkeys(DUMPS, 0),  # 1: print it of each kernel that is compiled
    "OPT": 3,  # 0: cuda.jit optimises only where it is asked to
    "CACHE_DIR": "",
}

# Settings whose variables have other names.
_VARIABLES = {
    "CUDA_DEALLOCS_COUNT": "CUDA_MAX_PENDING_DEALLOCS_COUNT",
    "CUDA_DEALLOCS_RATIO": "CUDA_MAX_PENDING_DEALLOCS_RATIO",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    CUDA_DEALLOCS_RATIO: float
    CUDA_ARRAY_INTERFACE_SYNC: int
    CUDA_DEBUGINFO_DEFAULT: int
    CUDA_LOW_OCCUPANCY_WARNINGS: int
    DISABLE_CUDA: int
    DISABLE_PERFORMANCE_WARNINGS: int
    ENABLE_CUDASIM: int
    OPT: int


def _read(name: str, default: Any) -> Any:
    """A setting from the environment, of the default's type; the default where it isn't set, or can't be read."""
    text = os.environ.get("NUMBA_" + _VARIABLES.get(name, name))
    if text is None or isinstance(default, tuple) or default is None:
        return default
    try:
        return type(default)(int(text)) if isinstance(default, bool) else type(default)(text)
    except ValueError:
        return default


def reload_config() -> None:
    """Read all settings from the environment again."""
    for name, default in _DEFAULTS.items():
        setattr(sys.modules[__name__], name, _read(name, default))


WATCHED: set[str] = set()  # settings that are on and that a launch looks at


class _Settings(ModuleType):
    """The module itself, which tells the extension what launches are to warn of."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("CUDA_LOW_OCCUPANCY_WARNINGS", "DISABLE_CUDA", *DUMPS):
            (WATCHED.add if value else WATCHED.discard)(name)
        if name in _VARIABLES and "CUDA_DEALLOCS_RATIO" in vars(self):
            _core.pending_limits(int(vars(self)["CUDA_DEALLOCS_COUNT"]), float(vars(self)["CUDA_DEALLOCS_RATIO"]))
        if name in ("CUDA_WARN_ON_IMPLICIT_COPY", "DISABLE_PERFORMANCE_WARNINGS"):
            quiet = getattr(self, "DISABLE_PERFORMANCE_WARNINGS", 0)
            _core.warn_of_host_arrays(bool(getattr(self, "CUDA_WARN_ON_IMPLICIT_COPY", 0) and not quiet))


def require_cuda() -> None:
    """CudaSupportError where the settings say that CUDA isn't to be used."""
    if vars(sys.modules[__name__])["DISABLE_CUDA"]:
        from .cudadrv.error import CudaSupportError

        raise CudaSupportError(DISABLED)


DISABLED = "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 in the environment"
sys.modules[__name__].__class__ = _Settings
reload_config()
