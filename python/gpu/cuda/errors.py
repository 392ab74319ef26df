"""Numba's names of exceptions and warnings: most are those of `gpu`."""

from __future__ import annotations

from typing import Any

from .._errors import CompileError, NameResolutionError, PerformanceWarning, TypingError, UnsupportedError

NumbaError = LoweringError = CudaLoweringError = CompilerError = CompileError
NumbaTypeError = NumbaValueError = RequireLiteralValue = RequireConstValue = TypingError
NumbaNotImplementedError = UnsupportedBytecodeError = UnsupportedError
NumbaAttributeError = NameResolutionError
NumbaPerformanceWarning = PerformanceWarning


class KernelRuntimeError(RuntimeError):
    """What a kernel raised without a Python exception of its own; here kernels raise Python's."""


class NumbaWarning(Warning):
    """A warning."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something will be gone."""


class NumbaDebugInfoWarning(NumbaWarning):
    """A variable that a debugger doesn't see."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """A setting that has no effect."""


def __getattr__(name: str) -> Any:
    from ._refused import refusal

    raise refusal("errors", name)


__all__ = [
    "CompileError",
    "CompilerError",
    "CudaLoweringError",
    "KernelRuntimeError",
    "LoweringError",
    "NameResolutionError",
    "NumbaAttributeError",
    "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaInvalidConfigWarning",
    "NumbaNotImplementedError",
    "NumbaPerformanceWarning",
    "NumbaTypeError",
    "NumbaValueError",
    "NumbaWarning",
    "PerformanceWarning",
    "RequireConstValue",
    "RequireLiteralValue",
    "TypingError",
    "UnsupportedBytecodeError",
    "UnsupportedError",
]
