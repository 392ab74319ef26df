"""Memory of a device that another process opens, by handles.

A handle is of a whole allocation, of which an array may be a part: it goes with the place in it. On the CPU device such
memory has pages of its own, which become a file in memory when a handle is asked for.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _core, _device, _errors
from ._memory import DEVICE, address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Handle:
    """CUipcMemHandle.

    Attributes
    ----------
    reserved : bytes
        All 64 that it has.
    """

    def __init__(self, reserved: bytes = bytes(64)) -> None:
        self.reserved = bytes(reserved)

    def __bytes__(self) -> bytes:
        return self.reserved


def _ask(device: str, function: Callable[..., Any], *args: Any) -> Any:
    """Ask a device, when it has done its work."""
    _core.synchronize_device(device)
    try:
        return function(device, *args)
    except _errors.DeviceError as error:
        other = "data of any array is sent by multiprocessing.shared_memory, or x.copy_to_host()"
        raise OSError(f"{error}; {other}") from error


class _Opened:
    """Memory of another process, open as long as something refers to this."""

    def __init__(self, handle: bytes) -> None:
        self.device = _device.device_name()
        self.address = int(_ask(self.device, _core.device_open_shared, handle))
        weakref.finalize(self, _ask, self.device, _core.device_close_shared, self.address).atexit = False


class IpcHandle:
    """Memory of another process, to be opened once.

    Attributes
    ----------
    base : object
        What keeps the memory, in the process that has it; None in others.
    handle : CUipcMemHandle
        ``handle.reserved`` has its 64 bytes.
    size : int
        In bytes.
    offset : int
        Where it begins in the allocation that the handle is of.
    """

    def __init__(self, base: Any, handle: Any, size: int, source_info: Any = None, offset: int = 0) -> None:
        self.base, self.handle, self.size = base, handle, size
        self.source_info, self.offset = source_info, offset
        self._opened: _Opened | None = None

    def open(self, context: Any) -> int:
        """The address of the memory, in this process.

        Raises
        ------
        ValueError
            It is open.
        OSError
            The driver can't.
        """
        if self._opened is not None:
            raise ValueError("IpcHandle is already opened")
        self._opened = _Opened(bytes(self.handle))
        return self._opened.address + self.offset

    open_direct = open_staged = open

    def open_array(self, context: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        """The memory as a device array."""
        from ._arrays import DeviceNDArray

        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        name = _array._name_of(_array.dtype_of(dtype))
        steps = None if strides is None else (strides,) if isinstance(strides, int) else tuple(strides)
        address, opened = self.open(context), self._opened
        device = _device.device_name()
        host = address if device == "cpu" else 0
        return DeviceNDArray._wrap(device, address, host, sizes, steps, name, False, DEVICE, opened, None)

    def close(self) -> None:
        """Close the memory: when the last array of it is gone, or at once."""
        if self._opened is None:
            raise ValueError("IpcHandle is not opened")
        self._opened = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (bytes(self.handle), self.size, self.source_info, self.offset)


def _rebuilt(handle: bytes, size: int, source_info: Any, offset: int) -> IpcHandle:
    return IpcHandle(None, _Handle(handle), size, source_info, offset)


def handle_of(memory: Any) -> IpcHandle:
    """The handle of memory of the current device.

    Raises
    ------
    OSError
        The device, or its driver, has no handles.
    """
    shared, offset = _ask(_device.device_name(), _core.device_share, address_of(memory))
    size = getattr(memory, "size", None) or getattr(memory, "nbytes", 0)
    identity = str(_device.properties(_device.device_name()).uuid)
    return IpcHandle(memory, _Handle(shared), int(size), identity, offset)


class IpcArrayHandle:
    """A device array of another process: in a ``with`` block it is a device array of this one."""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle, self._array_desc = ipc_handle, array_desc

    def open(self) -> Any:
        """The array."""
        from ._devices import current_context

        return self._ipc_handle.open_array(current_context(), **self._array_desc)

    def close(self) -> None:
        """Close the memory."""
        self._ipc_handle.close()

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *exception: object) -> None:
        self.close()


@contextlib.contextmanager
def open_ipc_array(handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0) -> Iterator[Any]:
    """A device array in memory of another process, in a ``with`` block.

    Parameters
    ----------
    handle : bytes
        ``IpcHandle.handle.reserved``.
    shape : int or tuple of ints
    dtype : dtype
    strides : tuple of ints, optional
        In bytes.
    offset : int
        Where it begins in the allocation that the handle is of, in bytes.
    """
    from ._devices import current_context

    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(sizes)) * np.dtype(dtype).itemsize
    ipc = IpcHandle(None, _Handle(handle), size, None, offset)
    opened = ipc.open_array(current_context(), sizes, dtype, strides)
    try:
        yield opened
    finally:
        ipc.close()
