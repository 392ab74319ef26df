"""Devices and contexts under Numba's names. Numbers of devices count those of the kind of the current one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .. import _core, _device
from . import config as _settings
from ._memory import BaseCUDAMemoryManager, managers
from ._streams import Event, Stream, default_stream, external_stream, legacy_default_stream, per_thread_default_stream
from ._target import WITHOUT_GPU

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The driver's names of attributes, as Numba has them, and those of gpu.properties.
_ATTRIBUTES = {
    "MULTIPROCESSOR_COUNT": "multiprocessors",
    "WARP_SIZE": "warp_size",
    "MAX_THREADS_PER_BLOCK": "max_threads_per_block",
    "MAX_BLOCK_DIM_X": "max_block_x",
    "MAX_BLOCK_DIM_Y": "max_block_y",
    "MAX_BLOCK_DIM_Z": "max_block_z",
    "MAX_GRID_DIM_X": "max_grid_x",
    "MAX_GRID_DIM_Y": "max_grid_y",
    "MAX_GRID_DIM_Z": "max_grid_z",
    "MAX_THREADS_PER_MULTI_PROCESSOR": "max_threads_per_multiprocessor",
    "MAX_BLOCKS_PER_MULTIPROCESSOR": "max_blocks_per_multiprocessor",
    "MAX_REGISTERS_PER_BLOCK": "registers_per_block",
    "MAX_REGISTERS_PER_MULTIPROCESSOR": "registers_per_multiprocessor",
    "MAX_SHARED_MEMORY_PER_BLOCK": "shared_bytes_per_block",
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": "shared_bytes_per_block_optin",
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": "shared_bytes_per_multiprocessor",
    "TOTAL_CONSTANT_MEMORY": "constant_bytes",
    "L2_CACHE_SIZE": "l2_bytes",
    "CLOCK_RATE": "clock_khz",
    "MEMORY_CLOCK_RATE": "memory_clock_khz",
    "GLOBAL_MEMORY_BUS_WIDTH": "memory_bus_bits",
    "ASYNC_ENGINE_COUNT": "copy_engines",
    "CONCURRENT_KERNELS": "concurrent_kernels",
    "ECC_ENABLED": "ecc",
    "INTEGRATED": "integrated",
    "PCI_DOMAIN_ID": "pci_domain",
    "PCI_BUS_ID": "pci_bus",
    "PCI_DEVICE_ID": "pci_device",
    "UNIFIED_ADDRESSING": "unified_addressing",
    "MANAGED_MEMORY": "managed_memory",
    "CONCURRENT_MANAGED_ACCESS": "concurrent_managed_access",
    "PAGEABLE_MEMORY_ACCESS": "pageable_memory_access",
    "CAN_MAP_HOST_MEMORY": "can_map_host_memory",
    "COOPERATIVE_LAUNCH": "cooperative_launch",
    "COMPUTE_MODE": "compute_mode",
    "COMPUTE_CAPABILITY_MAJOR": "compute_capability_major",
    "COMPUTE_CAPABILITY_MINOR": "compute_capability_minor",
}

# What the CPU device answers where it has no such number: programs divide by these and make arrays of such sizes. It is
# what kernels may use, those of the capability that `_target` tells.
_ON_THE_CPU = {
    "MAX_THREADS_PER_MULTI_PROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 228 << 10,
    "TOTAL_CONSTANT_MEMORY": 64 << 10,
    "L2_CACHE_SIZE": 1 << 20,
    "CLOCK_RATE": 1000000,
    "MEMORY_CLOCK_RATE": 1000000,
    "GLOBAL_MEMORY_BUS_WIDTH": 64,
    "ASYNC_ENGINE_COUNT": 1,
    "CONCURRENT_KERNELS": 1,
    "COOPERATIVE_LAUNCH": 1,
}


def _kind() -> str:
    """The kind of the current device: numbers of devices count those of this kind."""
    return _core.current_device().partition(":")[0]


class Device:
    """A device by its number, with the driver's attributes: ``MAX_THREADS_PER_BLOCK``, ``MULTIPROCESSOR_COUNT``, ...

    In ``with cuda.gpus[1]:`` it is the current one.

    Attributes
    ----------
    id : int
        Counts the devices of the kind of the current one.
    name : bytes
        What its maker calls it.
    compute_capability : (int, int)
        On the CPU device ``(9, 0)``: kernels may use there what such a GPU has.
    uuid : str
    """

    def __init__(self, device: str) -> None:
        self._text = device
        number = device.partition(":")[2]
        self.id = int(number) if number else 0
        self._before: list[str] = []

    @property
    def name(self) -> bytes:
        """The device's name, as bytes, as Numba has it."""
        return str(self._properties.name).encode()

    @property
    def _device(self) -> Device:
        """Itself: what `gpus` gives has the device under this name in Numba, and programs read it."""
        return self

    @property
    def compute_capability(self) -> tuple[int, int]:
        """``(9, 0)``."""
        found: tuple[int, int] = self._properties.compute_capability
        return found if found[0] else WITHOUT_GPU

    @property
    def uuid(self) -> str:
        """``"GPU-..."``; the CPU's is made of the names of the machine and the processor, in the same form."""
        found = self._properties.uuid
        if found:
            return str(found)
        import platform
        import uuid

        return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{platform.node()} {self._properties.name}')}"

    @property
    def supports_float16(self) -> bool:
        """True: every device here computes with halves."""
        return True

    @property
    def _properties(self) -> _device.Properties:
        return _device.properties(self._text)

    def __getattr__(self, name: str) -> int:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"no attribute of a device is called {name}")
        properties, field = self._properties, _ATTRIBUTES[name]
        if field.startswith("compute_capability_"):
            return int(self.compute_capability[field.endswith("minor")])
        found = int(getattr(properties, field))
        return found or (_ON_THE_CPU.get(name, 0) if self._text in ("cpu", "python") else 0)

    def get_primary_context(self) -> Context:
        """The device's context."""
        return Context(self._text)

    def reset(self) -> None:
        """Wait for the device, and give memory that nobody uses back to its driver. Arrays stay."""
        self.get_primary_context().reset()

    def __enter__(self) -> Device:
        before = _core.current_device()
        _core.set_device(self._text)
        self._before.append(before)
        return self

    def __exit__(self, *exception: object) -> None:
        _core.set_device(self._before.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"<device {self.id}: {self._text}>"


class Context:
    """What Numba asks of a device's context."""

    def __init__(self, device: str) -> None:
        self._device = device

    @property
    def device(self) -> Device:
        """The device."""
        return Device(self._device)

    @property
    def memory_manager(self) -> BaseCUDAMemoryManager:
        """What gives memory to device arrays; can be set."""
        return managers.of(self)

    @memory_manager.setter
    def memory_manager(self, manager: BaseCUDAMemoryManager) -> None:
        managers.put(self, manager)

    @property
    def deallocations(self) -> Any:
        """What is freed and not given back yet: ``cuda.current_context().deallocations.clear()``."""
        return self.memory_manager.deallocations  # type: ignore[attr-defined]

    def get_memory_info(self) -> _device.MemoryInfo:
        """Free and total memory, in bytes."""
        return self.memory_manager.get_memory_info()

    def memalloc(self, bytesize: int) -> Any:
        """Memory of the device."""
        return self.memory_manager.memalloc(bytesize)

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> Any:
        """Memory that moves between host and device."""
        return self.memory_manager.memallocmanaged(bytesize, attach_global)  # type: ignore[attr-defined]

    def memhostalloc(self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked memory of the host."""
        return self.memory_manager.memhostalloc(bytesize, mapped, portable, wc)

    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool = False) -> Any:
        """Memory that is there, page-locked until the result is gone."""
        return self.memory_manager.mempin(owner, pointer, size, mapped)

    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which other processes open memory."""
        return self.memory_manager.get_ipc_handle(memory)

    def open_ipc_handle(self, handle: Any, size: int) -> Any:
        """Memory of another process, by the driver's handle."""
        from ._ipc import IpcHandle
        from ._memory import MemoryPointer

        opened = IpcHandle(None, handle, size)
        return MemoryPointer(self, opened.open(self), size, finalizer=opened.close)

    def synchronize(self) -> None:
        """Wait for the device."""
        with self.device:
            _core.synchronize()

    def reset(self) -> None:
        """Wait for the device, and give memory that nobody uses back to its driver. Arrays stay."""
        self.synchronize()
        self.memory_manager.reset()

    @property
    def id(self) -> int:
        """The device's number."""
        return self.device.id

    @property
    def handle(self) -> int:
        """A number that two devices don't share."""
        return hash(self._device)

    def get_default_stream(self) -> Stream:
        """The stream of work that names none."""
        with self.device:
            return default_stream()

    def get_legacy_default_stream(self) -> Stream:
        """The stream of work that names none."""
        with self.device:
            return legacy_default_stream()

    def get_per_thread_default_stream(self) -> Stream:
        """The default stream of this thread alone."""
        with self.device:
            return per_thread_default_stream()

    def create_external_stream(self, ptr: int) -> Stream:
        """A stream of another library, by its handle."""
        with self.device:
            return external_stream(ptr)

    def push(self) -> None:
        """Make the device the current one."""
        _core.set_device(self._device)

    def create_stream(self) -> Stream:
        """A new stream."""
        return Stream(self._device)

    def create_event(self, timing: bool = True) -> Event:
        """A new event."""
        return Event(self._device, timing=timing)

    def can_access_peer(self, peer: int) -> bool:
        """Tell whether the device reaches another's memory directly."""
        return _device.can_access_peer(self._device, _numbered(peer)._text)

    def defer_cleanup(self) -> contextlib.AbstractContextManager[None]:
        """Freed memory isn't given back in a ``with`` block, unless memory runs out."""
        return self.memory_manager.defer_cleanup()

    def enable_peer_access(self, peer_context: Context, flags: int = 0) -> None:
        """Nothing: kernels and copies reach memory of another GPU where the machine can."""

    def prepare_for_use(self) -> None:
        """Nothing: a context is ready when it is first used."""

    def pop(self) -> None:
        """Nothing: the device stays the current one until another is selected."""


def _numbered(number: int) -> Device:
    kind = _kind()
    count = _core.device_count(kind) if kind in ("cuda", "emulated") else 1
    if not 0 <= number < count:
        there = f"there is one {kind} device, number 0" if count == 1 else f"there are {count} {kind} devices"
        raise ValueError(f"{there}, and this asks for number {number}")
    return Device(kind if kind in ("cpu", "python") else f"{kind}:{number}")


class _Devices:
    """The devices of the current one's kind, by number."""

    def __len__(self) -> int:
        kind = _kind()
        return _core.device_count(kind) if kind in ("cuda", "emulated") else 1

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return list(self)[number]
        try:
            return _numbered(number)
        except ValueError as error:
            raise IndexError(str(error)) from None

    def __iter__(self) -> Iterator[Device]:
        return (self[i] for i in range(len(self)))

    @property
    def lst(self) -> list[Device]:
        """All of them."""
        return list(self)

    @property
    def current(self) -> Device:
        """The current one."""
        return get_current_device()

    def __repr__(self) -> str:
        return f"<devices {', '.join(device._text for device in self)}>"


gpus = _Devices()


def list_devices() -> _Devices:
    """The devices of the current one's kind."""
    return gpus


def get_current_device() -> Device:
    """The device of this thread."""
    return Device(_core.current_device())


def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of one by its number."""
    _settings.require_cuda()
    return (get_current_device() if devnum is None else _numbered(devnum)).get_primary_context()


def select_device(device_id: int) -> Device:
    """Make a device the current one, by its number among those of the same kind.

    Raises
    ------
    ValueError
        There is none of this number.
    """
    device = _numbered(device_id)
    _core.set_device(device._text)
    return device


def close() -> None:
    """Wait for the current device, and give memory that nobody uses back to its driver. Arrays stay valid."""
    current_context().reset()


def detect() -> bool:
    """Print which devices there are. True if one of them is a GPU."""
    names = _core.device_names()
    count = sum(name.startswith("cuda") for name in names)
    print(f"Found {count} CUDA devices; kernels run on {_core.current_device()}")
    for name in names:
        properties = _device.properties(name)
        print(f"  {name:<12} {properties.name}", end="")
        if properties.compute_capability[0]:
            print(
                f", compute capability {'.'.join(map(str, properties.compute_capability))}, {properties.uuid}", end=""
            )
        print()
    return any(name.startswith("cuda") for name in names)


def get_memory_info() -> _device.MemoryInfo:
    """Free and total memory of the current device, in bytes."""
    return current_context().get_memory_info()


def is_float16_supported() -> bool:
    """True: every device here computes with halves."""
    return True


def is_fp8_supported() -> bool:
    """True: kernels convert from and to numbers of 8 bits (`gpu.cuda.fp8`) on every device."""
    return True


def is_bfloat16_supported() -> bool:
    """True: every device here computes with bfloat16."""
    return True


def is_supported_version() -> bool:
    """True: an unsupported driver is reported when a device is first used."""
    return True


def cuda_error() -> str | None:
    """Why no GPU can be used; None: one can, or kernels run on another device."""
    if _settings.DISABLE_CUDA:
        return _settings.DISABLED
    return _core.device_problem("cuda") if _kind() == "cuda" else None


def require_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing changes: a device's context is there when it is first used."""
    return function


def defer_cleanup() -> contextlib.AbstractContextManager[None]:
    """Freed memory isn't given back in a ``with`` block, unless memory runs out: nothing waits for kernels in it."""
    return current_context().defer_cleanup()


def profile_start() -> None:
    """NVIDIA's profilers record from here, if they were told to wait for that (``--capture-range=cudaProfilerApi``)."""
    _core.device_profiler(_device.device_name(), True)


def profile_stop() -> None:
    """NVIDIA's profilers record no further."""
    _core.device_profiler(_device.device_name(), False)


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Let NVIDIA's profilers record a ``with`` block. `gpu.profile` counts on the emulator, without a GPU."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
