"""Memory of a GPU that another process opens, by handles of the driver.

The driver's handle is of a whole allocation, of which an array may be a part: it goes with the place in it. The CPU has
none, and the emulated driver refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _core, _device, _errors
from ._memory import DEVICE, address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Handle(ctypes.Structure):
    """CUipcMemHandle."""

    _fields_ = (("reserved", ctypes.c_byte * 64),)


def _ask(function: Callable[..., Any], *args: Any) -> Any:
    """Ask the current device, when it has done its work."""
    device = _device.device_name()
    _core.synchronize()
    try:
        return function(device, *args)
    except _errors.DeviceError as error:
        raise OSError(
            f"{error}: memory of {device} isn't shared with other processes; put the data into "
            "multiprocessing.shared_memory, or send x.copy_to_host()"
        ) from error


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
        self._opened: int | None = None

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
        self._opened = int(_ask(_core.device_open_shared, bytes(self.handle)))
        return self._opened + self.offset

    open_direct = open_staged = open

    def open_array(self, context: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        """The memory as a device array; `close` ends it."""
        from ._arrays import DeviceNDArray

        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        name = _array._name_of(_array.dtype_of(dtype))
        steps = None if strides is None else (strides,) if isinstance(strides, int) else tuple(strides)
        address, device = self.open(context), _device.device_name()
        return DeviceNDArray._wrap(device, address, 0, sizes, steps, name, False, DEVICE, self, None)

    def close(self) -> None:
        """Close the memory: arrays of it must not be used any more."""
        if self._opened is None:
            raise ValueError("IpcHandle is not opened")
        _ask(_core.device_close_shared, self._opened)
        self._opened = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (bytes(self.handle), self.size, self.source_info, self.offset)


def _rebuilt(handle: bytes, size: int, source_info: Any, offset: int) -> IpcHandle:
    return IpcHandle(None, _Handle.from_buffer_copy(handle), size, source_info, offset)


def handle_of(memory: Any) -> IpcHandle:
    """The handle of memory of the current device.

    Raises
    ------
    OSError
        The device, or its driver, has no handles.
    """
    shared, offset = _ask(_core.device_share, address_of(memory))
    size = getattr(memory, "size", None) or getattr(memory, "nbytes", 0)
    identity = str(_device.properties(_device.device_name()).uuid)
    return IpcHandle(memory, _Handle.from_buffer_copy(shared), int(size), identity, offset)


class IpcArrayHandle:
    """A device array of another process: in a ``with`` block it is a device array of this one."""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle, self._array_desc = ipc_handle, array_desc

    def open(self) -> Any:
        """The array; `close` ends it."""
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
    ipc = IpcHandle(None, _Handle.from_buffer_copy(bytes(handle)), size, None, offset)
    opened = ipc.open_array(current_context(), sizes, dtype, strides)
    try:
        yield opened
    finally:
        ipc.close()
