"""Memory of a GPU that another process opens, by handles of the driver.

The driver's handle is of a whole allocation, of which an array may be a part: it goes with the place in it. The CPU and
the emulated GPU have no such handles.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _core, _device
from ._memory import DEVICE, address_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAZY_PEERS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS


class _Handle(ctypes.Structure):
    """CUipcMemHandle."""

    _fields_ = (("reserved", ctypes.c_byte * 64),)


def _check_device() -> None:
    device = _device.device_name()
    if not device.startswith("cuda"):
        raise OSError(
            f"memory of the {device} device isn't shared with other processes: put the data into "
            "multiprocessing.shared_memory, or send x.copy_to_host()"
        )


def _call(function: str, *args: Any) -> None:
    """Call the driver, in the context of the current device, when the device has done its work."""
    driver = ctypes.CDLL(os.environ.get("GPU_LIBCUDA") or "libcuda.so.1")
    number, context = ctypes.c_int(int(_device.device_name().partition(":")[2] or 0)), ctypes.c_void_p()
    _core.synchronize()
    code = driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number) or driver.cuCtxPushCurrent_v2(context)
    if not code:
        code = getattr(driver, function)(*args)
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(number)
    if code:
        raise OSError(f"{function} gives error {code}: memory of this kind can't be shared with other processes")


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
        _check_device()
        at = ctypes.c_uint64()
        _call("cuIpcOpenMemHandle_v2", ctypes.byref(at), self.handle, ctypes.c_uint(_LAZY_PEERS))
        self._opened = at.value
        return at.value + self.offset

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
        _call("cuIpcCloseMemHandle", ctypes.c_uint64(self._opened))
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
    _check_device()
    address, handle = address_of(memory), _Handle()
    base, extent = ctypes.c_uint64(), ctypes.c_size_t()
    _call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(extent), ctypes.c_uint64(address))
    _call("cuIpcGetMemHandle", ctypes.byref(handle), base)
    size = getattr(memory, "size", None) or getattr(memory, "nbytes", 0)
    identity = str(_device.properties(_device.device_name()).uuid)
    return IpcHandle(memory, handle, int(size), identity, address - base.value)


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
