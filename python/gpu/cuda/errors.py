"""Numba's names of exceptions and warnings: most are those of `gpu`."""

from __future__ import annotations

from .._errors import CompileError, NameResolutionError, PerformanceWarning, TypingError, UnsupportedError

NumbaError = LoweringError = CompilerError = CompileError
NumbaTypeError = NumbaValueError = RequireLiteralValue = RequireConstValue = TypingError
NumbaNotImplementedError = UnsupportedBytecodeError = UnsupportedError
NumbaAttributeError = NameResolutionError
NumbaPerformanceWarning = PerformanceWarning


class NumbaWarning(Warning):
    """A warning."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something will be gone."""


class NumbaDebugInfoWarning(NumbaWarning):
    """A variable that a debugger doesn't see."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """A setting that has no effect."""


__all__ = [
    "CompileError",
    "CompilerError",
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
