"""Exceptions and warnings of the package. The C extension raises them by name."""

from __future__ import annotations


class CompileError(Exception):
    """A kernel can't be compiled.

    The message shows file, line, the source with carets, why, and what to write instead.

    Attributes
    ----------
    diagnostics : list of dict
        One for each mistake: ``code``, ``message``, ``file``, ``line``, ``col``, ``help``.
    """

    def __init__(self, message: str = "", diagnostics: list[dict[str, object]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics if diagnostics is not None else []

    def __reduce__(self) -> tuple[type, tuple[str, list[dict[str, object]]]]:
        return type(self), (str(self), self.diagnostics)


class TypingError(CompileError):
    """An operation doesn't take the types that it gets."""


class UnsupportedError(CompileError):
    """Python that has no meaning in a kernel."""


class NameResolutionError(CompileError):
    """A name or attribute that doesn't exist, or isn't assigned on every path."""


class SignatureError(ValueError):
    """A signature that can't be read; the message has a caret under the place."""


class LaunchError(ValueError):
    """A launch configuration or an argument that a kernel can't take."""


class OutsideKernelError(RuntimeError):
    """A name that has a meaning in kernels alone was used from plain Python."""


class PerformanceWarning(UserWarning):
    """The kernel is right, and slower than it needs to be."""
