"""What programs import from ``numba.cuda.cudadrv.driver``: errors, sizes and addresses of memory, memory managers.

A memory manager of somebody else (CuPy's pool, RMM) isn't used: memory comes from the pool of this package, and arrays
of others are passed to kernels as they are. Setting one is refused by name.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..._array import Array
from ..._device import MemoryInfo
from .._arrays import DeviceNDArray
from .._devices import Context, Device
from .._streams import Event, Stream, event_elapsed_time
from .error import CudaAPIError, CudaDriverError, LinkerError

_REASON = (
    "external memory managers aren't supported: device memory comes from the pool of gpu. Arrays of CuPy, RMM or "
    "PyTorch can be passed to kernels as they are, and gpu.empty_cache() gives the pool's unused memory back"
)


class BaseCUDAMemoryManager:
    """A memory manager of somebody else's: it can't be set here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REASON)


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A memory manager of somebody else's that leaves host memory alone: it can't be set here."""


class GetIpcHandleMixin:
    """Memory that other processes open: not supported."""


def set_memory_manager(mm_plugin: Any) -> NoReturn:
    """Refused: device memory comes from the pool of this package.

    Raises
    ------
    NotImplementedError
    """
    raise NotImplementedError(_REASON)


def device_memory_size(obj: Any) -> int:
    """Bytes of a device array's memory."""
    return int(obj.alloc_size if isinstance(obj, DeviceNDArray) else obj._memory.nbytes)


def device_pointer(obj: Any) -> int:
    """Address of a device array's first element."""
    return int(obj._address if isinstance(obj, Array) else obj.__cuda_array_interface__["data"][0])


def is_device_memory(obj: Any) -> bool:
    """Tell device arrays from everything else."""
    return isinstance(obj, Array) or getattr(obj, "__cuda_memory__", False)


def host_memory_size(obj: Any) -> int:
    """Bytes from a host array's first to its last element."""
    first, end = host_memory_extents(obj)
    return end - first


def host_memory_extents(obj: Any) -> tuple[int, int]:
    """Address of a host array's first byte, and of the byte after its last; also of an object of ctypes."""
    import ctypes

    import numpy as np

    if hasattr(obj, "__array_interface__"):
        found: tuple[int, int] = np.lib.array_utils.byte_bounds(obj)
        return found
    first = ctypes.addressof(obj)
    return first, first + ctypes.sizeof(obj)


def host_pointer(obj: Any, readonly: bool = False) -> int:
    """Address of a host array's first element."""
    import numpy as np

    return int(np.asarray(obj).ctypes.data)


__all__ = [
    "BaseCUDAMemoryManager",
    "Context",
    "CudaAPIError",
    "CudaDriverError",
    "Device",
    "Event",
    "GetIpcHandleMixin",
    "HostOnlyCUDAMemoryManager",
    "LinkerError",
    "MemoryInfo",
    "Stream",
    "device_memory_size",
    "device_pointer",
    "event_elapsed_time",
    "host_memory_extents",
    "host_memory_size",
    "host_pointer",
    "is_device_memory",
    "set_memory_manager",
]
