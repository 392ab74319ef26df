"""What a device is, has and can do: names, properties, memory, and `KernelStats` of `Kernel.stats`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from . import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _named(device: Any) -> str:
    """The name of a device given by name, by number (of a GPU), by an object with a name, or None: the current one."""
    if device is None:
        return _core.current_device()
    if isinstance(device, int) and not isinstance(device, bool):
        return f"cuda:{device}"
    name = device if isinstance(device, str) else getattr(device, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"a device is a name like 'cuda:0', or a number, not {device!r}")
    return name


def device_name(device: Any = None) -> str:
    """The device that arrays live on: of a name, a number (of a GPU), an object with a name, or the current one."""
    name = _named(device)
    return "cpu" if name == "python" else name


def is_available(kind: str = "cuda") -> bool:
    """Tell whether there is a GPU that kernels can run on.

    Parameters
    ----------
    kind : str
        ``"cuda"``, or ``"emulated"``, ``"cpu"``; or the name of one device, ``"cuda:1"``. For ``cuda`` this loads the
        driver. ``python -m gpu doctor`` says why there is none.
    """
    return bool(_core.device_count(kind)) if ":" not in kind else _core.device_problem(kind) is None


class Properties:
    """The properties of a device; `properties` makes it. Attributes can be listed with ``vars``.

    Attributes
    ----------
    device : str
        ``"cuda:0"``.
    kind : str
        ``"cuda"``, ``"emulated"`` or ``"cpu"``.
    name : str
        What its maker calls it.
    uuid : str
        ``"GPU-..."`` as nvidia-smi shows it; empty on the CPU.
    compute_capability : (int, int)
        ``(9, 0)``; ``(0, 0)`` on the CPU.
    memory_bytes : int
        Of the device, in all.
    driver_version, ptx_version : (int, int)
        The version of CUDA that the driver is for, and the newest PTX that it reads; ``(0, 0)`` on the CPU.
    multiprocessors, warp_size, max_threads_per_block, ... : int
        As the driver gives them; ``runtime/device_info.def`` describes each. 0 where a driver doesn't know.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        raw = values.pop("uuid").hex()
        pair = values.pop("compute_capability_major"), values.pop("compute_capability_minor")
        driver, ptx = values.pop("driver_version"), values.pop("ptx_version")
        groups = (raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:])
        self.__dict__.update(values)
        self.uuid = "GPU-" + "-".join(groups) if raw.strip("0") else ""
        self.compute_capability = pair
        self.driver_version = (driver // 1000, driver % 1000 // 10)
        self.ptx_version = (ptx // 10, ptx % 10)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        rows = "\n".join(f"  {name:<34} {value}" for name, value in vars(self).items())
        return f"<properties of {self.device}\n{rows}>"


def properties(device: str | int | None = None) -> Properties:
    """The properties of a device.

    Parameters
    ----------
    device : str or int, optional
        ``"cuda:1"`` or 1; the current one by default.

    Raises
    ------
    ValueError, gpu.DeviceError
        There is no such device, or it can't be used.
    """
    name = _named(device)
    return Properties(_core.device_properties(name))


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory, as the driver counts: `free` are those that nobody has, this process included."""

    free: int
    total: int


def memory_info(device: Any = None) -> MemoryInfo:
    """Free and total memory of a device, in bytes."""
    return MemoryInfo(*_core.memory_info(device_name(device)))


def memory_stats(device: Any = None, *, reset_peaks: bool = False) -> dict[str, int]:
    """What arrays and the caching pool of a device hold.

    Parameters
    ----------
    device : str or int, optional
    reset_peaks : bool
        Start the peaks anew, from what is held now.

    Returns
    -------
    dict
        In bytes: ``used`` by arrays, ``held`` from the driver, ``cached`` (held and not used), ``largest_free``,
        ``peak_used``, ``peak_held``, ``pinned``, ``managed``. Counts: ``blocks``, ``segments``, ``allocations``,
        ``frees``, ``driver_allocations``, ``retries`` (how often the cache had to be emptied).
    """
    return _core.memory_stats(device_name(device), reset_peaks)


def empty_cache(device: Any = None) -> None:
    """Give memory that no array uses back to the driver, so that other processes and libraries can have it."""
    _core.empty_cache(device_name(device))


@contextlib.contextmanager
def pinned(*arrays: Any, device: str | int | None = None) -> Iterator[None]:
    """Pin NumPy arrays for a while: copies from and to them are fast, and go on beside kernels.

    Parameters
    ----------
    *arrays : numpy.ndarray
        Contiguous.
    device : str or int, optional
        The current one by default.

    Raises
    ------
    ValueError
        An array isn't contiguous.
    gpu.DriverError
        The memory is pinned already, or can't be.
    """
    name = _named(device)
    with contextlib.ExitStack() as stack:
        for array in arrays:
            if not (array.flags.c_contiguous or array.flags.f_contiguous):
                raise ValueError("only contiguous arrays can be pinned")
            if array.nbytes:
                address = array.__array_interface__["data"][0]
                _core.device_pin(name, address, array.nbytes)
                stack.callback(_core.device_pin, name, address, 0)
        yield


def can_access_peer(device: str | int, other: str | int) -> bool:
    """Tell whether copies and kernels of a GPU reach another's memory directly; if they can, they do from then on.

    Copies between GPUs always work; where this is False they go through the host.
    """
    names = (f"cuda:{d}" if isinstance(d, int) else d for d in (device, other))
    return _core.device_peers(*names)


class KernelStats(NamedTuple):
    """What a specialisation of a kernel needs on a device. None: the device doesn't say.

    Attributes
    ----------
    device : str
    registers : int or None
        32-bit registers of a thread.
    spill_bytes : int or None
        Of registers that a thread had to put into local memory.
    local_bytes, shared_bytes, constant_bytes : int
        Local memory of a thread, static shared memory of a block, constant memory of the kernel's module.
    max_threads : int
        The largest block that its registers allow.
    max_dynamic_shared_bytes : int or None
        What a launch can ask for.
    block, suggested_block : int
        The threads of a block that the next figures are for, and what the driver suggests.
    blocks_per_multiprocessor : int
        How many such blocks are on a multiprocessor at once.
    occupancy : float or None
        Resident threads as a part of the most that a multiprocessor takes, 0 to 1.
    ptx_version, binary_version : (int, int) or None
        Of the PTX, and of the machine code (9, 0).
    """

    device: str
    registers: int | None
    spill_bytes: int | None
    local_bytes: int
    shared_bytes: int
    constant_bytes: int
    max_threads: int
    max_dynamic_shared_bytes: int | None
    block: int
    suggested_block: int
    blocks_per_multiprocessor: int
    occupancy: float | None
    ptx_version: tuple[int, int] | None
    binary_version: tuple[int, int] | None


def kernel_stats(kernel: Any, types: Any, device: str | None, block: int, shared: int) -> KernelStats:
    """`Kernel.stats`, for argument types."""
    found = _core.stats(kernel, types, device, block, shared)
    resident, most = found.pop("resident_threads"), found.pop("max_resident_threads")
    for name in ("ptx_version", "binary_version"):
        found[name] = found[name] and divmod(found[name], 10)
    return KernelStats(
        device=device or _core.current_device(),
        occupancy=resident / most if resident is not None and most else None,
        **found,
    )
