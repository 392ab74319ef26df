"""Errors of ``numba.cuda.cudadrv.error`` and ``numba.cuda.cudadrv.driver``."""

from __future__ import annotations

from ..._errors import DeviceError, DriverError
from ..errors import KernelRuntimeError


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


NvrtcError = NvrtcCompilationError = NvrtcBuiltinOperationFailure = RuntimeError  # as CUDA C is refused
NvrtcSupportError = NotImplementedError
CudaDriverError = CudaRuntimeError = DeviceError
CudaAPIError = DriverError
LinkerError = DeviceError

__all__ = [
    "CCSupportError",
    "CudaAPIError",
    "CudaDriverError",
    "CudaRuntimeError",
    "CudaSupportError",
    "KernelRuntimeError",
    "LinkerError",
    "NvrtcBuiltinOperationFailure",
    "NvrtcCompilationError",
    "NvrtcError",
    "NvrtcSupportError",
    "NvvmError",
    "NvvmSupportError",
    "NvvmWarning",
]
