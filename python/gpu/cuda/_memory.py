"""Memory by its address, and memory managers of other libraries: what ``numba.cuda.cudadrv.driver`` has of them.

A memory manager is an object with `memalloc` and its like. The one that is set gives the memory of new device arrays;
without one memory comes from the pool of `gpu`. NumPy arrays that are passed to a kernel are copied to memory of that
pool in any case.
"""

from __future__ import annotations

import abc
import contextlib
import ctypes
import os
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _core, _device
from .._array import DEVICE, MANAGED, MANAGED_HOST, PINNED, PINNED_MAPPED, PINNED_PORTABLE, PINNED_WRITE_COMBINED
from . import config as _settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTERFACE_VERSION = 1  # of memory managers


def _number(pointer: Any) -> int:
    """An address, as a number, an object of ctypes, or one of a driver's binding."""
    return int(getattr(pointer, "value", pointer) or 0)


class MemoryPointer:
    """Memory of a device by its address, given back by `finalizer` when nothing refers to it any more.

    Parameters
    ----------
    context : Context
    pointer : int or object of ctypes
        The address.
    size : int
        In bytes.
    owner : object, optional
        Kept as long as this is.
    finalizer : callable, optional
        Called without arguments.
    """

    __cuda_memory__ = True

    def __init__(
        self, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Callable[[], Any] | None = None
    ) -> None:
        self._open(context, pointer, owner, finalizer)
        self.size = size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryPointer) and (self.handle, self.size) == (other.handle, other.size)

    def __hash__(self) -> int:
        return hash(self.handle)

    def _open(self, context: Any, pointer: Any, owner: Any, finalizer: Callable[[], Any] | None) -> None:
        self.context = context
        self.device_pointer = pointer
        self.handle = _number(pointer)
        self.is_managed = finalizer is not None
        self._owner = owner
        self._owned: weakref.WeakSet[OwnedPointer] = weakref.WeakSet()
        self._finalizer = weakref.finalize(self, finalizer) if finalizer else None

    @property
    def owner(self) -> Any:
        """What keeps the memory."""
        return self if self._owner is None else self._owner

    @property
    def refct(self) -> int:
        """How many refer to it: this one, and what `own` and `view` made."""
        return 1 + len(self._owned)

    @property
    def _cuda_memsize_(self) -> int:
        return self.size

    @property
    def device_pointer_value(self) -> int | None:
        """The address; None for 0."""
        return self.handle or None

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address as a number of ctypes."""
        return ctypes.c_size_t(self.handle)

    def __int__(self) -> int:
        return self.handle

    def own(self) -> Any:
        """Another reference to the memory."""
        return OwnedPointer(self)

    def free(self) -> None:
        """Give the memory back now.

        Raises
        ------
        RuntimeError
            It was given back before.
        """
        if self._finalizer is None:
            return
        if not self._finalizer.alive:
            raise RuntimeError("this memory was given back before")
        self._finalizer()

    def memset(self, byte: int, count: int | None = None, stream: Any = 0) -> None:
        """Set bytes, all of them if no `count` is given."""
        device_memset(self, byte, self.size if count is None else count, stream)

    def view(self, start: int, stop: int | None = None) -> OwnedPointer:
        """The bytes from `start` to `stop`.

        Raises
        ------
        RuntimeError
            They aren't all in this memory.
        """
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise RuntimeError(f"bytes {start} to {stop} aren't in memory of {self.size} bytes")
        part = MemoryPointer(self.context, self.handle + start, stop - start, owner=self.owner)
        return OwnedPointer(self.owner, part)


class AutoFreePointer(MemoryPointer):
    """Memory that is given back when the last of what `own` made of it is gone."""


class OwnedPointer:
    """A reference to memory, or to a part of it; what isn't found here is asked of the memory."""

    def __init__(self, memory: Any, part: MemoryPointer | None = None) -> None:
        self._memory = memory
        self._part = memory if part is None else part
        memory._owned.add(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._part, name)

    __cuda_memory__ = True

    def __int__(self) -> int:
        return self._part.handle

    def view(self, start: int, stop: int | None = None) -> OwnedPointer:
        """The bytes from `start` to `stop` of this part."""
        return self._part.view(start, stop)


class _HostVisible(np.ndarray[Any, Any], MemoryPointer):
    """Memory that the host sees as bytes: an array of uint8 and a `MemoryPointer` at once."""

    def __new__(
        cls, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Callable[[], Any] | None = None
    ) -> Any:
        """A view of the bytes at an address."""
        interface = {"shape": (size,), "typestr": "|u1", "data": (_number(pointer) or 64, False), "version": 3}
        return np.asarray(_array._Memory(interface, owner)).view(cls)

    def __init__(
        self, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Callable[[], Any] | None = None
    ) -> None:
        self._open(context, pointer, owner, finalizer)

    view = MemoryPointer.view  # type: ignore[assignment]


class MappedMemory(_HostVisible):
    """Memory of the host that GPUs can address."""


class PinnedMemory(_HostVisible):
    """Page-locked memory of the host."""


class ManagedMemory(_HostVisible):
    """Memory that moves between host and device."""


# ---- copies


def address_of(obj: Any) -> int:
    """The address of an array, of memory, or a number."""
    if isinstance(obj, _array.Array):
        return obj._address
    if isinstance(obj, (MemoryPointer, OwnedPointer)):
        return int(obj.handle)
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0] or 0)
    return _number(obj) if isinstance(obj, int) or hasattr(obj, "value") else host_bytes(obj)[0]


def host_bytes(obj: Any) -> tuple[int, int]:
    """Address of a host object's first byte, and of the byte after its last."""
    if hasattr(obj, "__array_interface__"):
        found: tuple[int, int] = np.lib.array_utils.byte_bounds(obj)
        return found
    first = ctypes.addressof(obj)
    return first, first + ctypes.sizeof(obj)


def _on_device(obj: Any, size: int, stream: Any) -> _array.Array:
    """Bytes of the current device as an array."""
    device = _device.device_name()
    address = address_of(obj)
    host = address if device == "cpu" else 0
    made: _array.Array = _array.Array._wrap(device, address, host, (size,), None, "uint8", False, DEVICE, obj, None)
    return made


def _on_host(obj: Any, size: int) -> np.ndarray[Any, Any]:
    first, end = host_bytes(obj)
    if size > end - first:
        raise ValueError(f"{size} bytes are to be copied, and the host object has {end - first}")
    interface = {"shape": (size,), "typestr": "|u1", "data": (first, False), "version": 3}
    return np.asarray(_array._Memory(interface, obj))


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes of the host to the current device."""
    _on_device(dst, size, stream)._copy_from(_on_host(src, size), stream)
    _finish(stream)


def device_to_host(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes of the current device to the host."""
    _on_device(src, size, stream)._copy_to(_on_host(dst, size), stream)
    _finish(stream)


def _finish(stream: Any) -> None:
    """A copy that names no stream is done when the call returns, with pinned memory too."""
    if not stream:
        from ._streams import Stream

        Stream._current(_device.device_name()).synchronize()


def device_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes on the current device."""
    _on_device(dst, size, stream)._copy_from(_on_device(src, size, stream), stream)


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Set bytes of the current device."""
    _on_device(dst, size, stream)._fill(bytes([val & 255]), stream)
    _finish(stream)


# ---- memory managers


class BaseCUDAMemoryManager(abc.ABC):
    """What a memory manager has.

    Parameters
    ----------
    context : Context
        Of the device that it gives memory of.
    """

    memory_manager_is_own = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "context" not in kwargs:
            raise RuntimeError("Memory manager requires a context")
        self.context = kwargs.pop("context")

    @abc.abstractmethod
    def memalloc(self, size: int) -> MemoryPointer:
        """Memory of the device, of so many bytes."""

    @abc.abstractmethod
    def memhostalloc(self, size: int, mapped: bool, portable: bool, wc: bool) -> Any:
        """Page-locked memory of the host."""

    @abc.abstractmethod
    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool) -> Any:
        """Memory that is there, page-locked."""

    @abc.abstractmethod
    def initialize(self) -> None:
        """Get ready; called before anything else, more than once."""

    @abc.abstractmethod
    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which other processes open memory."""

    @abc.abstractmethod
    def get_memory_info(self) -> _device.MemoryInfo:
        """Free and total memory, in bytes."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Give all memory back."""

    @abc.abstractmethod
    def defer_cleanup(self) -> contextlib.AbstractContextManager[None]:
        """Memory isn't given back in a ``with`` block."""

    @property
    @abc.abstractmethod
    def interface_version(self) -> int:
        """1."""


class PendingDeallocs:
    """Memory that nobody uses and that the device hasn't got back yet.

    It is there from the first time that somebody asks for it: until then memory goes back to the pool of `gpu` at once,
    which waits for nothing either. ``config.CUDA_DEALLOCS_COUNT`` and ``CUDA_DEALLOCS_RATIO`` limit it.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._disabled = 0
        _core.pending_read(device)

    def clear(self) -> None:
        """Give it to the driver, outside of the blocks of `disable`."""
        if not self._disabled:
            _device.empty_cache(self._device)

    def __len__(self) -> int:
        return _core.pending_read(self._device)[0]

    @property
    def _size(self) -> int:
        """Bytes of it."""
        return _core.pending_read(self._device)[1]

    @property
    def _max_pending_bytes(self) -> int:
        """Bytes that it has at most."""
        return int(_core.pending_read(self._device)[2] * _settings.CUDA_DEALLOCS_RATIO)

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """Nothing is given back in a ``with`` block, unless memory runs out."""
        self._disabled += 1
        _core.pending_hold(self._device, True)
        try:
            yield
        finally:
            self._disabled -= 1
            _core.pending_hold(self._device, False)

    @property
    def is_disabled(self) -> bool:
        """Whether this is such a block."""
        return self._disabled > 0


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A memory manager whose memory of the host, and managed memory, is that of `gpu`: the base of most others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allocations: dict[Any, Any] = {}
        self._pending: PendingDeallocs | None = None

    @property
    def deallocations(self) -> PendingDeallocs:
        """What is freed and not given back yet."""
        if self._pending is None:
            self._pending = PendingDeallocs(self.context._device)
        return self._pending

    def memhostalloc(self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked memory of the host."""
        flags = (PINNED_MAPPED if mapped else 0) | (PINNED_PORTABLE if portable else 0)
        block = self._block(size, PINNED, flags | (PINNED_WRITE_COMBINED if wc else 0))
        kind = MappedMemory if mapped else PinnedMemory
        return kind(self.context, block._host_address, size, owner=None, finalizer=_keep(block))

    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool = False) -> Any:
        """Memory that is there, page-locked until the result is gone."""
        address, device = _number(pointer), self.context._device
        _core.device_pin(device, address, size)
        kind = MappedMemory if mapped else PinnedMemory
        return kind(self.context, address, size, owner, lambda: _core.device_pin(device, address, 0))

    def memallocmanaged(self, size: int, attach_global: bool = True) -> Any:
        """Memory that moves between host and device."""
        block = self._block(size, MANAGED, 0 if attach_global else MANAGED_HOST)
        return ManagedMemory(self.context, block._host_address, size, owner=None, finalizer=_keep(block))

    def _block(self, size: int, kind: int, flags: int) -> Any:
        return _array.Array._alloc(self.context._device, (size,), "uint8", "C", kind, flags, None)

    def reset(self) -> None:
        """Give memory that nobody uses back to the driver."""
        _device.empty_cache(self.context._device)

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Freed memory isn't given back in a ``with`` block, unless memory runs out."""
        with self.deallocations.disable():
            yield


def _keep(block: Any) -> Callable[[], None]:
    """A finalizer that has the memory as long as it isn't called."""
    held = [block]
    return held.clear


class GetIpcHandleMixin:
    """`get_ipc_handle` by the driver."""

    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which other processes open memory of a GPU."""
        from ._ipc import handle_of

        return handle_of(memory)


class NumbaCUDAMemoryManager(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """The memory manager that is there without another: the pool of `gpu`."""

    memory_manager_is_own = True

    def memalloc(self, size: int) -> MemoryPointer:
        """Memory of the device."""
        block = self._block(size, DEVICE, 0)
        return MemoryPointer(self.context, block._address, size, finalizer=_keep(block))

    def initialize(self) -> None:
        """Nothing."""

    def get_memory_info(self) -> _device.MemoryInfo:
        """Free and total memory, in bytes."""
        return _device.memory_info(self.context._device)

    @property
    def interface_version(self) -> int:
        """1."""
        return INTERFACE_VERSION


class _Managers:
    """Which memory manager is used, and the one of each device."""

    def __init__(self) -> None:
        self.kind: type[BaseCUDAMemoryManager] | None = None
        self.of_device: dict[str, BaseCUDAMemoryManager] = {}
        self.foreign = bool(self._named())  # whether any array may come from another manager

    @staticmethod
    def _named() -> str:
        name = os.environ.get("NUMBA_CUDA_MEMORY_MANAGER", "default")
        return "" if name == "default" else name

    def class_(self) -> type[BaseCUDAMemoryManager]:
        """What was set, or what NUMBA_CUDA_MEMORY_MANAGER names."""
        if self.kind is None and self._named():
            import importlib

            set_memory_manager(importlib.import_module(self._named())._numba_memory_manager)
        return self.kind or NumbaCUDAMemoryManager

    def of(self, context: Any) -> BaseCUDAMemoryManager:
        """The memory manager of a context's device."""
        found = self.of_device.get(context._device)
        if found is None:
            found = self.class_()(context=context)
            found.initialize()
            self.of_device[context._device] = found
        return found

    def put(self, context: Any, manager: BaseCUDAMemoryManager) -> None:
        """Set the memory manager of one device."""
        manager.initialize()
        self.of_device[context._device] = manager
        self.foreign = any(not getattr(m, "memory_manager_is_own", False) for m in self.of_device.values())


managers = _Managers()


def set_memory_manager(mm_plugin: Any) -> None:
    """Let device arrays that are made from now on have memory of another memory manager.

    Parameters
    ----------
    mm_plugin : class
        Derived from `BaseCUDAMemoryManager`.

    Raises
    ------
    TypeError
        No such class, or one that lacks methods.
    RuntimeError
        It is written for another version of the interface.
    """
    if not (isinstance(mm_plugin, type) and hasattr(mm_plugin, "interface_version")):
        raise TypeError(
            f"a memory manager is a class that is derived from cuda.BaseCUDAMemoryManager, and this is {mm_plugin!r}"
        )
    version = mm_plugin(context=None).interface_version
    if version != INTERFACE_VERSION:
        raise RuntimeError(f"EMM Plugin interface has version {version} - version {INTERFACE_VERSION} required")
    managers.kind = mm_plugin
    managers.of_device.clear()
    managers.foreign = not getattr(mm_plugin, "memory_manager_is_own", False)


def foreign_memory(nbytes: int) -> Any:
    """Memory of the current device from the memory manager of another library; None: the pool of `gpu` gives it."""
    if not managers.foreign:
        return None
    from ._devices import current_context

    manager = managers.of(current_context())
    return None if getattr(manager, "memory_manager_is_own", False) else manager.memalloc(nbytes)
