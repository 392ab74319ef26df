"""Numba's names of exceptions and warnings: most are those of `gpu`."""

from __future__ import annotations

from typing import Any

from .._errors import CompileError, NameResolutionError, PerformanceWarning, TypingError, UnsupportedError

NumbaError = LoweringError = CudaLoweringError = CompilerError = InternalError = CompileError
NumbaTypeError = NumbaValueError = RequireLiteralValue = RequireConstValue = TypingError
NumbaNotImplementedError = UnsupportedBytecodeError = UnsupportedError
ByteCodeSupportError = ConstantInferenceError = UnsupportedError
NumbaAttributeError = UntypedAttributeError = NameResolutionError
NumbaIndexError = NumbaKeyError = NumbaAssertionError = NumbaRuntimeError = TypingError
NumbaPerformanceWarning = PerformanceWarning


class KernelRuntimeError(RuntimeError):
    """What a kernel raised without a Python exception of its own; here kernels raise Python's."""


class NumbaWarning(Warning):
    """A warning."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something will be gone."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something will be deprecated."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Something may change."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A conversion loses something."""


class NumbaParallelSafetyWarning(NumbaWarning):
    """A loop can't be parallel."""


class NumbaPedanticWarning(NumbaWarning):
    """A matter of taste."""


class NumbaSystemWarning(NumbaWarning):
    """A matter of the machine."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Something that a debugger won't show: a function whose source can't be found."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """A setting that has no effect."""


def __getattr__(name: str) -> Any:
    from ._refused import refusal

    raise refusal("errors", name)


__all__ = [
    "ByteCodeSupportError",
    "CompileError",
    "CompilerError",
    "ConstantInferenceError",
    "CudaLoweringError",
    "InternalError",
    "KernelRuntimeError",
    "LoweringError",
    "NameResolutionError",
    "NumbaAssertionError",
    "NumbaAttributeError",
    "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaExperimentalFeatureWarning",
    "NumbaIndexError",
    "NumbaInvalidConfigWarning",
    "NumbaKeyError",
    "NumbaNotImplementedError",
    "NumbaParallelSafetyWarning",
    "NumbaPedanticWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaRuntimeError",
    "NumbaSystemWarning",
    "NumbaTypeError",
    "NumbaTypeSafetyWarning",
    "NumbaValueError",
    "NumbaWarning",
    "PerformanceWarning",
    "RequireConstValue",
    "RequireLiteralValue",
    "TypingError",
    "UnsupportedBytecodeError",
    "UnsupportedError",
    "UntypedAttributeError",
]
