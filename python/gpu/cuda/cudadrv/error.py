"""Errors of ``numba.cuda.cudadrv.error`` and ``numba.cuda.cudadrv.driver``."""

from __future__ import annotations

from ..._errors import DeviceError, DriverError


class CudaSupportError(ImportError):
    """There is no GPU to use."""


class NvvmSupportError(ImportError):
    """NVVM is asked for: this compiler has none."""


class NvvmError(Exception):
    """An error of NVVM."""


class NvvmWarning(Warning):
    """A warning of NVVM."""


class CCSupportError(RuntimeError):
    """A compute capability that isn't supported."""


CudaDriverError = CudaRuntimeError = DeviceError
CudaAPIError = DriverError
LinkerError = DeviceError

__all__ = [
    "CCSupportError",
    "CudaAPIError",
    "CudaDriverError",
    "CudaRuntimeError",
    "CudaSupportError",
    "LinkerError",
    "NvvmError",
    "NvvmSupportError",
    "NvvmWarning",
]
