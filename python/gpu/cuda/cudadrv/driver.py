"""What programs import from ``numba.cuda.cudadrv.driver``: errors, memory by its address, memory managers."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from ..._array import Array
from ..._device import MemoryInfo
from .._arrays import DeviceNDArray
from .._devices import Context, Device, profile_start, profile_stop, profiling
from .._foreign import LTOIR, Fatbin, LinkableCode, Object
from .._ipc import IpcHandle
from .._memory import (
    AutoFreePointer,
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    ManagedMemory,
    MappedMemory,
    MemoryPointer,
    NumbaCUDAMemoryManager,
    OwnedPointer,
    PinnedMemory,
    address_of,
    device_memset,
    device_to_device,
    device_to_host,
    host_bytes,
    host_to_device,
    set_memory_manager,
)
from .._streams import Event, Stream, event_elapsed_time
from .enums import CU_STREAM_DEFAULT
from .error import CudaAPIError, CudaDriverError, CudaSupportError, LinkerError


def _have_nvjitlink() -> bool:
    """False: code is linked by the driver, not by NVIDIA's nvJitLink."""
    return False


def device_memory_size(obj: Any) -> int:
    """Bytes of a device array's memory, or of memory."""
    if isinstance(obj, Array):
        return int(obj.alloc_size if isinstance(obj, DeviceNDArray) else obj._memory.nbytes)
    return int(obj.nbytes if hasattr(obj, "nbytes") else obj.size)


device_pointer = address_of


def device_ctypes_pointer(obj: Any) -> Any:
    """Address of a device array's first element, as a number of ctypes."""
    import ctypes

    return ctypes.c_size_t(address_of(obj))


def require_device_memory(obj: Any) -> None:
    """Exception unless it is a device array, or memory of a device."""
    if not is_device_memory(obj):
        raise Exception("Not a CUDA memory object.")


def is_device_memory(obj: Any) -> bool:
    """Tell device arrays from everything else."""
    return isinstance(obj, Array) or getattr(obj, "__cuda_memory__", False)


def host_memory_size(obj: Any) -> int:
    """Bytes from a host array's first to its last element."""
    first, end = host_memory_extents(obj)
    return end - first


host_memory_extents = host_bytes


def host_pointer(obj: Any, readonly: bool = False) -> int:
    """Address of a host array's first element."""
    import numpy as np

    return int(np.asarray(obj).ctypes.data)


def get_version() -> tuple[int, int]:
    """The version of CUDA that the driver has; without one the newest that code is made for."""
    return driver.get_version()


class Driver:
    """The driver as an object: what programs ask it for. Its functions themselves aren't there."""

    is_initialized = True
    initialization_error = None

    def ensure_initialized(self) -> None:
        """Nothing: a driver is loaded when its device is first used."""

    @property
    def is_available(self) -> bool:
        """True: kernels run here, without a GPU on the CPU device."""
        return True

    def get_device(self, devnum: int = 0) -> Device:
        """A device by its number."""
        from .._devices import gpus

        found: Device = gpus[devnum]
        return found

    def get_device_count(self) -> int:
        """How many devices there are, of the current one's kind."""
        from .._devices import gpus

        return len(gpus)

    def list_devices(self) -> list[Device]:
        """All of them."""
        from .._devices import gpus

        return list(gpus)

    def get_version(self) -> tuple[int, int]:
        """The version of CUDA that the driver has; without one the newest that code is made for."""
        from ..._device import properties

        found: tuple[int, int] = properties().driver_version
        return found if found[0] else CUDA_VERSION

    def cuMemGetInfo(self) -> tuple[int, int]:
        """Free and total memory of the current device, in bytes."""
        from .._devices import current_context

        return tuple(current_context().get_memory_info())  # type: ignore[return-value]

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("cu"):
            raise AttributeError(f"the driver has no attribute {name}")
        from .._refused import DRIVER

        raise AttributeError(f"{name}() of the driver isn't offered: {DRIVER}")


CUDA_VERSION = (13, 0)
MIN_REQUIRED_CC = (7, 5)
SUPPORTS_IPC = sys.platform.startswith("linux")
driver = Driver()


class _Linker:
    """NVIDIA's linker as Numba wraps it: not here, where the driver links what `cuda.jit` gets as ``link``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "the linker has no object of its own: cuda.jit(link=[...]) and declare_device link code"
        )

    new = __init__


def _to_core_stream(stream: Any) -> Any:
    """A stream as cuda.core has it."""
    from cuda.core import Stream as CoreStream  # type: ignore[import-not-found]

    return CoreStream.from_handle(int(stream))


class DeadMemoryError(RuntimeError):
    """Memory that was given back is used."""


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv.driver", name)


__all__ = [
    "CUDA_VERSION",
    "CU_STREAM_DEFAULT",
    "LTOIR",
    "MIN_REQUIRED_CC",
    "SUPPORTS_IPC",
    "AutoFreePointer",
    "BaseCUDAMemoryManager",
    "Context",
    "CudaAPIError",
    "CudaDriverError",
    "CudaSupportError",
    "DeadMemoryError",
    "Device",
    "Driver",
    "Event",
    "Fatbin",
    "GetIpcHandleMixin",
    "HostOnlyCUDAMemoryManager",
    "IpcHandle",
    "LinkableCode",
    "LinkerError",
    "ManagedMemory",
    "MappedMemory",
    "MemoryInfo",
    "MemoryPointer",
    "NumbaCUDAMemoryManager",
    "Object",
    "OwnedPointer",
    "PinnedMemory",
    "Stream",
    "device_ctypes_pointer",
    "device_memory_size",
    "device_memset",
    "device_pointer",
    "device_to_device",
    "device_to_host",
    "driver",
    "event_elapsed_time",
    "get_version",
    "host_memory_extents",
    "host_memory_size",
    "host_pointer",
    "host_to_device",
    "is_device_memory",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_device_memory",
    "set_memory_manager",
]
