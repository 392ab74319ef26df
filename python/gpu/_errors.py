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


class NameResolutionError(TypingError):
    """A name or attribute that doesn't exist, or isn't assigned on every path."""


class UnsupportedCallError(UnsupportedError, TypingError):
    """A call of a function that kernels can't call; Numba, which looks at the function's type, has a TypingError."""


class AlignmentError(TypingError, ValueError):
    """An alignment that no array can have; in Numba a ValueError."""


class SignatureError(ValueError):
    """A signature that can't be read; the message has a caret under the place."""


class LaunchError(ValueError):
    """A launch configuration or an argument that a kernel can't take."""


class DeviceError(RuntimeError):
    """A device isn't there, or can't do what it was asked.

    Attributes
    ----------
    device : str or None
        ``"cuda:0"``.
    code : int
        The driver's error code; 0 if it isn't the driver that refuses.
    call : str or None
        The driver function that failed, ``"cuMemAlloc"``.
    log : str or None
        What the driver's compiler of PTX wrote.
    """

    device: str | None = None
    code: int = 0
    call: str | None = None
    log: str | None = None


class DriverError(DeviceError):
    """A call of the driver failed."""


class LaunchSizeError(LaunchError, DriverError):
    """A launch that the device can't take: more threads, blocks, registers or bytes than there are."""


class DeviceFault(DeviceError):
    """A kernel did what none may, such as an access out of bounds. On a GPU the process can't use the device again."""


class OutOfMemoryError(MemoryError):
    """The device has no memory left; the message says what was asked, what is free and what arrays hold."""


class OutsideKernelError(RuntimeError):
    """A name that has a meaning in kernels alone was used from plain Python."""


class PerformanceWarning(UserWarning):
    """The kernel is right, and slower than it needs to be."""
