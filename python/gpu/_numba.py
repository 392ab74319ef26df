"""Numba's names for arrays, streams, events and devices: thin classes on those of `gpu`, for `gpu.cuda`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _array, _core, _device, _stream
from ._array import DEVICE, MANAGED, MANAGED_HOST, PINNED, PINNED_MAPPED, PINNED_PORTABLE, PINNED_WRITE_COMBINED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# ---- arrays


class DeviceNDArray(_array.Array):
    """A `gpu.Array` with Numba's names beside its own. As in Numba, reshaping never copies."""

    __slots__ = ()
    __cuda_memory__ = True

    @property
    def alloc_size(self) -> int:
        """Bytes of the memory that the array lies in."""
        return self._memory.nbytes

    @property
    def gpu_data(self) -> _core.Memory:
        """The memory that the array lies in."""
        return self._memory

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """A view of another shape; NotImplementedError if it would have to copy."""
        view = super().reshape(*shape, order=order)
        if view._memory is not self._memory:
            raise NotImplementedError("reshape would need a copy: the array isn't contiguous")
        return view

    def ravel(self, order: str = "C", stream: Any = 0) -> Any:
        """A view of one dimension; NotImplementedError if it would have to copy."""
        return self.reshape(-1, order=order)

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Any:
        """A view without the axes of length one."""
        return super().squeeze(axis)

    def transpose(self, axes: Any = None) -> Any:
        """A view with the axes in another order; reversed, if none is given."""
        return super().transpose() if axes is None else super().transpose(*axes)

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Views of `section` elements each, of a one-dimensional array."""
        if self.ndim != 1:
            raise ValueError("only arrays of one dimension can be split")
        return (self[start : start + section] for start in range(0, self.size, section))

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """The array itself: work says in which stream it goes."""
        return self

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """``self[item]``, read in a stream."""
        view = self._at(item)
        found = self[item]
        if isinstance(found, _array.Array):
            return found
        return view.copy_to_host(stream=stream)[()]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """``self[key] = value``, in a stream."""
        self._at(key)._assign(value, stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceNDArray:
    """Copy an array to the current device.

    Parameters
    ----------
    obj : array_like
    stream : Stream, optional
    copy : bool
        False: allocate without copying the contents.
    to : DeviceNDArray, optional
        Copy into this array, of the same shape and dtype, in place of a new one.

    Returns
    -------
    DeviceNDArray
        Of the same shape, dtype and order.
    """
    made = _array.to_device(obj, stream, copy, to)
    return made if isinstance(made, DeviceNDArray) else DeviceNDArray._of(made)


def device_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """An array on the current device, with any contents.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype
    strides : int or tuple of ints, optional
        In bytes.
    order : str
        ``"C"`` or ``"F"``.
    """
    return _new(shape, dtype, strides, order, DEVICE, 0, stream)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """An array on the current device with the shape, dtype and order of another, with any contents."""
    return DeviceNDArray._of(_array.empty_like(ary, device=_device.device_name(), stream=stream))


def _new(
    shape: Any, dtype: Any, strides: Any, order: str, kind: int, flags: int = 0, stream: Any = None
) -> DeviceNDArray:
    sizes, name = _array._shape(shape), _array.dtype_of(dtype).name
    if strides is None:
        return DeviceNDArray._alloc(_device.device_name(), sizes, name, _array._order(order), kind, flags, stream)
    steps = _array._shape(strides)
    if len(steps) != len(sizes) or any(s < 0 for s in steps):
        raise ValueError(f"strides {steps} don't fit the shape {sizes}: one of 0 or more for each dimension")
    extent = sum((n - 1) * s for n, s in zip(sizes, steps, strict=True)) if all(sizes) else 0
    nbytes = (extent + np.dtype(dtype).itemsize,)
    block = DeviceNDArray._alloc(_device.device_name(), nbytes, "uint8", "C", kind, flags, stream)
    return block._view(0, sizes, steps, name, False)


def _host_flags(portable: bool, wc: bool) -> int:
    return (PINNED_PORTABLE if portable else 0) | (PINNED_WRITE_COMBINED if wc else 0)


def pinned_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", *, wc: bool = False
) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory, which copies faster and beside the host's work."""
    return _new(shape, dtype, strides, order, PINNED, _host_flags(True, wc))._host_view()


def pinned_array_like(ary: Any) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory with the shape, dtype and order of another."""
    return pinned_array(ary.shape, ary.dtype, None, "F" if _array._is_fortran(ary) else "C")


def mapped_array(
    shape: Any,
    dtype: Any = "float64",
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> np.ndarray[Any, Any]:
    """A NumPy array in page-locked memory that GPUs can address.

    Kernels that get it see a copy on the device, as of any NumPy array; `gpu.mapped_array` gives one that they use in
    place.
    """
    flags = PINNED_MAPPED | _host_flags(portable, wc)
    return _new(shape, dtype, strides, order, PINNED, flags)._host_view()


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> np.ndarray[Any, Any]:
    """`mapped_array` with the shape, dtype and order of another."""
    return mapped_array(ary.shape, ary.dtype, None, "F" if _array._is_fortran(ary) else "C", stream, portable, wc)


def managed_array(
    shape: Any,
    dtype: Any = "float64",
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> np.ndarray[Any, Any]:
    """A NumPy array in managed memory. Kernels see a copy; `gpu.managed_array` gives one that they use in place."""
    return _new(shape, dtype, strides, order, MANAGED, 0 if attach_global else MANAGED_HOST)._host_view()


def pinned(*arrays: np.ndarray[Any, Any]) -> contextlib.AbstractContextManager[None]:
    """Pin NumPy arrays in a ``with`` block."""
    return _device.pinned(*arrays)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A view of an array that is on the device, of this or another library, without a copy.

    Raises
    ------
    TypeError
        Not an array of this device.
    """
    if isinstance(obj, DeviceNDArray):
        return obj
    if isinstance(obj, _array.Array):
        return DeviceNDArray._of(obj)
    if hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)
    if not is_cuda_array(obj):
        raise TypeError(f"{type(obj).__name__} is not an array on the {_core.current_device()} device")
    return DeviceNDArray._of(_array.from_host(np.asarray(obj)))


def is_cuda_array(obj: Any) -> bool:
    """Tell whether `as_cuda_array` takes it: on the CPU device that is every array of the host."""
    if isinstance(obj, _array.Array) or hasattr(obj, "__cuda_array_interface__"):
        return True
    return _device.device_name() == "cpu" and hasattr(obj, "__array_interface__")


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A view of memory that a ``__cuda_array_interface__`` describes; `owner` is kept alive."""
    return DeviceNDArray._of(_array.from_cuda_interface(desc, owner, None, sync))


# ---- streams and events


class Stream(_stream.Stream):
    """A `gpu.Stream` with Numba's names beside its own."""

    __slots__ = ()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise at the end of a ``with`` block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Call ``callback(stream, 0, arg)``, in another thread, when the work so far is done; no calls of gpu in it."""
        self.callback(lambda: callback(self, 0, arg))

    def async_done(self) -> Any:
        """An awaitable that is done when the work so far is."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done() -> None:
            if not future.done():
                future.set_result(self)

        self.callback(lambda: loop.call_soon_threadsafe(done))
        return future

    def __int__(self) -> int:
        return self.handle

    def __bool__(self) -> bool:
        return True


class Event(_stream.Event):
    """A `gpu.Event` with Numba's names beside its own."""

    __slots__ = ()

    def record(self, stream: Any = 0) -> Event:
        """Mark the point after the work so far in a stream."""
        return super().record(stream)

    def wait(self, stream: Any = 0) -> None:
        """Let what comes later in a stream wait for the point."""
        (stream if isinstance(stream, _stream.Stream) else default_stream()).wait(self)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds from this event to another, both recorded with timing."""
        return self.elapsed(evtend)


def stream() -> Stream:
    """A new stream."""
    return Stream()


def default_stream() -> Stream:
    """The stream of work that names none."""
    return Stream._default(_device.device_name(), False)


legacy_default_stream = default_stream


def per_thread_default_stream() -> Stream:
    """The default stream of this thread alone."""
    return Stream._default(_device.device_name(), True)


def external_stream(ptr: int) -> Stream:
    """A stream of another library, by its handle."""
    wrapped = _stream.external_stream(ptr)
    number = {1: False, 2: True}.get(wrapped.handle)
    if number is not None or not wrapped.handle:
        return Stream._default(wrapped.device, bool(number))
    return Stream._wrap(wrapped.device, wrapped.handle, wrapped)


def event(timing: bool = True) -> Event:
    """A new event."""
    return Event(timing=timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two recorded events."""
    return evtstart.elapsed_time(evtend)


# ---- devices

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
        ``(0, 0)`` on the CPU.
    uuid : str
    """

    def __init__(self, device: str) -> None:
        self._device = device
        number = device.partition(":")[2]
        self.id = int(number) if number else 0
        self._before: list[str] = []

    @property
    def name(self) -> bytes:
        """The device's name, as bytes, as Numba has it."""
        return str(self._properties.name).encode()

    @property
    def compute_capability(self) -> tuple[int, int]:
        """``(9, 0)``."""
        found: tuple[int, int] = self._properties.compute_capability
        return found

    @property
    def uuid(self) -> str:
        """``"GPU-..."``; empty on the CPU."""
        return str(self._properties.uuid)

    @property
    def supports_float16(self) -> bool:
        """True: every device here computes with halves."""
        return True

    @property
    def _properties(self) -> _device.Properties:
        return _device.properties(self._device)

    def __getattr__(self, name: str) -> int:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"no attribute of a device is called {name}")
        properties, field = self._properties, _ATTRIBUTES[name]
        if field.startswith("compute_capability_"):
            return int(properties.compute_capability[field.endswith("minor")])
        return int(getattr(properties, field))

    def get_primary_context(self) -> Context:
        """The device's context."""
        return Context(self._device)

    def reset(self) -> None:
        """Wait for the device, and give memory that nobody uses back to its driver. Arrays stay."""
        self.get_primary_context().reset()

    def __enter__(self) -> Device:
        before = _core.current_device()
        _core.set_device(self._device)
        self._before.append(before)
        return self

    def __exit__(self, *exception: object) -> None:
        _core.set_device(self._before.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._device == self._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<device {self.id}: {self._device}>"


class Context:
    """What Numba asks of a device's context."""

    def __init__(self, device: str) -> None:
        self._device = device

    @property
    def device(self) -> Device:
        """The device."""
        return Device(self._device)

    def get_memory_info(self) -> _device.MemoryInfo:
        """Free and total memory, in bytes."""
        return _device.memory_info(self._device)

    def synchronize(self) -> None:
        """Wait for the device."""
        with self.device:
            _core.synchronize()

    def reset(self) -> None:
        """Wait for the device, and give memory that nobody uses back to its driver. Arrays stay."""
        self.synchronize()
        _device.empty_cache(self._device)

    def create_stream(self) -> Stream:
        """A new stream."""
        return Stream(self._device)

    def create_event(self, timing: bool = True) -> Event:
        """A new event."""
        return Event(self._device, timing=timing)

    def can_access_peer(self, peer: int) -> bool:
        """Tell whether the device reaches another's memory directly."""
        return _device.can_access_peer(self._device, _numbered(peer)._device)

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Nothing changes: freed memory goes to a cache in any case."""
        yield


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

    def __getitem__(self, number: int) -> Device:
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
        return f"<devices {', '.join(device._device for device in self)}>"


gpus = _Devices()


def list_devices() -> _Devices:
    """The devices of the current one's kind."""
    return gpus


def get_current_device() -> Device:
    """The device of this thread."""
    return Device(_core.current_device())


def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of one by its number."""
    return (get_current_device() if devnum is None else _numbered(devnum)).get_primary_context()


def select_device(device_id: int) -> Device:
    """Make a device the current one, by its number among those of the same kind.

    Raises
    ------
    ValueError
        There is none of this number.
    """
    device = _numbered(device_id)
    _core.set_device(device._device)
    return device


def close() -> None:
    """Wait for the current device, and give memory that nobody uses back to its driver. Arrays stay valid."""
    current_context().reset()


def detect() -> bool:
    """Print which devices there are. True if one of them is a GPU."""
    names = _core.device_names()
    print(f"{len(names)} devices; kernels run on {_core.current_device()}")
    for name in names:
        properties = _device.properties(name)
        print(f"  {name:<12} {properties.name}", end="")
        if properties.compute_capability[0]:
            print(
                f", compute capability {'.'.join(map(str, properties.compute_capability))}, {properties.uuid}", end=""
            )
        print()
    return any(name.startswith("cuda") for name in names)


def defer_cleanup() -> contextlib.AbstractContextManager[None]:
    """Nothing changes in the ``with`` block: freed memory goes to a cache in any case."""
    return current_context().defer_cleanup()


def _profiler(function: str) -> None:
    """Tell NVIDIA's profilers; there are none of the CPU device and the emulator."""
    if _kind() != "cuda":
        return
    import ctypes
    import os

    code = getattr(ctypes.CDLL(os.environ.get("GPU_LIBCUDA") or "libcuda.so.1"), function)()
    if code:
        raise RuntimeError(f"{function} gives error {code}")


def profile_start() -> None:
    """NVIDIA's profilers record from here, if they were told to wait for that (``--capture-range=cudaProfilerApi``)."""
    _profiler("cuProfilerStart")


def profile_stop() -> None:
    """NVIDIA's profilers record no further."""
    _profiler("cuProfilerStop")


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Let NVIDIA's profilers record a ``with`` block. `gpu.profile` counts on the emulator, without a GPU."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
