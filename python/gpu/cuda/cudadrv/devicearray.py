"""Device arrays, as ``numba.cuda.cudadrv.devicearray`` names them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._array import Array, _is_fortran
from .._arrays import NON_CONTIGUOUS, DeviceNDArray, ManagedNDArray, MappedNDArray, device_array, to_device
from .._ipc import IpcArrayHandle
from .._typing import from_dtype
from ..args import In, InOut, Out
from ..errors import NumbaPerformanceWarning
from . import devices

DeviceNDArrayBase = DeviceNDArray


class DeviceRecord(DeviceNDArray):
    """One record on the device, with any contents; as an array it has no axes.

    Parameters
    ----------
    dtype : structured dtype
    """

    __slots__ = ()

    def __new__(cls, dtype: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceRecord:  # type: ignore[misc]
        """A record with any contents."""
        made: DeviceRecord = cls._of(device_array((), dtype, stream=stream))
        return made

    @property
    def _numba_type_(self) -> Any:
        """The type of the record."""
        return from_dtype(self.dtype)


def is_cuda_ndarray(obj: Any) -> bool:
    """Tell a device array of this package from everything else."""
    return isinstance(obj, Array)


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """TypeError unless it is a device array of this package."""
    if not is_cuda_ndarray(obj):
        raise TypeError(f"a device array is needed, and this is {type(obj).__name__}")


def require_cuda_ndarray(obj: Any) -> None:
    """ValueError unless it is a device array of this package."""
    if not is_cuda_ndarray(obj):
        raise ValueError("require an cuda ndarray object")


def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
    """A device array with the shape, dtype and order of another, with any contents."""
    return device_array(ary.shape, ary.dtype, None, "F" if _is_fortran(ary) else "C", stream)


def from_record_like(rec: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceRecord:
    """A record on the device with the dtype of another, with any contents."""
    return DeviceRecord(rec.dtype, stream)


def auto_device(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, bool]:
    """An array on the device, and whether it was made here; ValueError for one of the host with gaps."""
    if is_cuda_ndarray(obj):
        return obj, False
    if isinstance(obj, np.void):
        return DeviceRecord._of(to_device(np.asarray(obj), stream, copy)), True
    host = np.asanyarray(obj)
    if not (is_contiguous(array_core(host)) or host.flags.f_contiguous):
        raise ValueError(errmsg_contiguous_buffer)
    return to_device(host, stream, copy), True


errmsg_contiguous_buffer = NON_CONTIGUOUS


def is_contiguous(ary: Any) -> bool:
    """Whether elements are in C order without gaps, axes of length 1 and repeated ones left aside."""
    size = ary.dtype.itemsize
    for length, stride in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if length > 1 and stride != 0:
            if size != stride:
                return False
            size *= length
    return True


def array_core(ary: Any) -> Any:
    """The part of an array that isn't repeated: the first element along each axis of stride 0."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(0 if stride == 0 else slice(None) for stride in ary.strides)]


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv.devicearray", name)


__all__ = [
    "DeviceNDArray",
    "DeviceNDArrayBase",
    "DeviceRecord",
    "In",
    "InOut",
    "IpcArrayHandle",
    "ManagedNDArray",
    "MappedNDArray",
    "NumbaPerformanceWarning",
    "Out",
    "array_core",
    "auto_device",
    "devices",
    "errmsg_contiguous_buffer",
    "from_array_like",
    "from_record_like",
    "is_contiguous",
    "is_cuda_ndarray",
    "require_cuda_ndarray",
    "verify_cuda_ndarray_interface",
]
