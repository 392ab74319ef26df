"""The Numba dialect: the names of ``numba.cuda``, with its rules of types.

``from gpu import cuda`` in place of ``from numba import cuda``. It is the same compiler as `gpu`, with another
promotion table. Memory management works on the current device; on the CPU device arrays live in the host's memory.
"""

from __future__ import annotations

import contextlib
import time

from . import _core, _jit, _names, types
from ._core import synchronize
from .types import *  # noqa: F403  # Numba programs say cuda.float32, cuda.void as well

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ._devarray import DeviceNDArray
    from ._names import Intrinsic

    grid: Intrinsic
    gridsize: Intrinsic
    threadIdx: Intrinsic
    blockIdx: Intrinsic
    blockDim: Intrinsic
    gridDim: Intrinsic
    laneid: Intrinsic
    warpsize: Intrinsic

globals().update(_names.intrinsics)

# Options of numba.cuda.jit that change nothing here, with the values that ask for nothing else.
_WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "inline": ("never", "always", True, False, None),  # LLVM inlines device functions
    "forceinline": (True, False),
    "link": (None, (), []),
    "boundscheck": (None, False),
    "lto": (None, True, False),
    "nopython": (True,),
    "forceobj": (False,),
}


def jit(func_or_sig: Any = None, /, **options: Any) -> Any:
    """Make a kernel, as `gpu.jit` does, with Numba's rules of types.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures, optional
        ``@cuda.jit``, ``@cuda.jit("void(float32[:], int32)")``, ``@cuda.jit(void(float32[:]))``.
    **options
        Those of `gpu.jit`. ``inline`` and ``lto`` are accepted and have no effect; ``link`` must be empty.

    Raises
    ------
    TypeError
        An unknown option.
    NotImplementedError
        An option of Numba that asks for what isn't there.
    """
    for name, neutral in _WITHOUT_EFFECT.items():
        if name in options:
            value = options.pop(name)
            if not any(value is n or (type(value) is type(n) and value == n) for n in neutral):
                raise NotImplementedError(f"cuda.jit: {name}={value!r} isn't supported; leave it out")
    given = {name: value for name, value in options.items() if value is not None}
    return _jit.make_jit("numba", func_or_sig, given)


# ---- arrays


def to_device(obj: Any, stream: Stream | int = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """Copy an array to the device.

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
    import numpy as np

    from ._devarray import DeviceNDArray

    source = np.asarray(obj)
    if source.dtype.hasobject:
        raise TypeError(f"an array of {source.dtype} can't be on a device")
    if to is None:
        return DeviceNDArray(source.copy(order="K") if copy else np.empty_like(source))
    to.copy_to_device(source, stream)
    return to


def device_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", stream: Stream | int = 0
) -> DeviceNDArray:
    """An array on the device, with any contents.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype
    strides : int or tuple of ints, optional
        In bytes.
    order : str
        ``"C"`` or ``"F"``.
    """
    from ._devarray import DeviceNDArray, empty

    return DeviceNDArray(empty(shape, dtype, strides, order))


def device_array_like(ary: Any, stream: Stream | int = 0) -> DeviceNDArray:
    """An array on the device with the shape, dtype and order of another, with any contents."""
    import numpy as np

    from ._devarray import DeviceNDArray

    return DeviceNDArray(np.empty_like(np.asarray(ary)))


def pinned_array(shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C") -> Any:
    """A NumPy array whose memory the device can reach quickly; on the CPU device any memory is."""
    from ._devarray import empty

    return empty(shape, dtype, strides, order)


def mapped_array(
    shape: Any, dtype: Any = "float64", strides: Any = None, order: str = "C", stream: Stream | int = 0, **options: Any
) -> Any:
    """A NumPy array that host and device share."""
    return pinned_array(shape, dtype, strides, order)


managed_array = mapped_array


@contextlib.contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """Keep host arrays in memory that the device can reach; on the CPU device they are there."""
    yield


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A view of an array that another library has on the device, without a copy.

    Raises
    ------
    TypeError
        Not an array of this device.
    """
    import numpy as np

    from ._devarray import DeviceNDArray

    if isinstance(obj, DeviceNDArray):
        return obj
    if not hasattr(obj, "__array_interface__"):
        raise TypeError(f"{type(obj).__name__} is not an array on the {_core.current_device()} device")
    return DeviceNDArray(np.asarray(obj))


def is_cuda_array(obj: Any) -> bool:
    """Tell whether `as_cuda_array` takes it."""
    return hasattr(obj, "__array_interface__")


# ---- streams and events


class Stream:
    """A queue of launches. On the CPU device a launch has ended when the call returns, so every stream is empty."""

    handle = 0

    def synchronize(self) -> None:
        """Wait for the launches in this stream."""
        synchronize()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise at the end of a ``with`` block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Call ``callback(stream, 0, arg)`` when the launches so far have ended."""
        self.synchronize()
        callback(self, 0, arg)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<stream on the {_core.current_device()} device>"


class Event:
    """A point of a stream, with its time."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._at: float | None = None

    def record(self, stream: Stream | int = 0) -> None:
        """Mark the point after the launches so far."""
        synchronize()
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Tell whether the point has been reached."""
        return True

    def synchronize(self) -> None:
        """Wait until the point has been reached."""
        synchronize()

    def wait(self, stream: Stream | int = 0) -> None:
        """Let a stream wait for the point."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`; ValueError if one of them isn't recorded or has no timing."""
        if self._at is None or end._at is None or not (self.timing and end.timing):
            raise ValueError("both events must have timing=True and be recorded")
        return (end._at - self._at) * 1e3


def stream() -> Stream:
    """A new stream."""
    return Stream()


def default_stream() -> Stream:
    """The stream of launches that name none."""
    return Stream()


legacy_default_stream = per_thread_default_stream = default_stream


def event(timing: bool = True) -> Event:
    """A new event."""
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two recorded events."""
    return start.elapsed_time(end)


# ---- devices


class Device:
    """The device that kernels run on, with the limits of a block."""

    id = 0
    WARP_SIZE = 32
    MAX_THREADS_PER_BLOCK = 1024
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = 1024, 1024, 64
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = 2**31 - 1, 65535, 65535

    @property
    def name(self) -> bytes:
        """Its name, as bytes, as Numba has it."""
        return _core.current_device().encode()

    @property
    def MULTIPROCESSOR_COUNT(self) -> int:
        """How many blocks run at a time: one for each core."""
        import os

        return len(os.sched_getaffinity(0))

    def __repr__(self) -> str:
        return f"<device {_core.current_device()}>"


def get_current_device() -> Device:
    """The device of this thread."""
    return Device()


def is_available() -> bool:
    """True: kernels run here, without a GPU on the CPU device."""
    return True


def select_device(device_id: int) -> Device:
    """Choose the device by number: there is number 0.

    Raises
    ------
    ValueError
        Another number.
    """
    if device_id != 0:
        raise ValueError(f"there is one device, number 0, and this asks for number {device_id}")
    return Device()


def detect() -> bool:
    """Print which devices there are."""
    print(f"Devices: {', '.join(_core.device_names())}; kernels run on {_core.current_device()}")
    return True


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Free no memory in a ``with`` block; on the CPU device freeing costs nothing."""
    yield


def close() -> None:
    """Give up the device's resources; on the CPU device arrays are freed with their objects."""


def compile_ptx(
    pyfunc: Any, sig: Any, device: bool = False, cc: tuple[int, int] = (8, 0), **options: Any
) -> tuple[str, Any]:
    """PTX of a kernel.

    Parameters
    ----------
    pyfunc : function
    sig : signature
    device : bool
        True isn't supported: a device function has no entry.
    cc : (int, int)
        Compute capability.
    **options
        Those of `cuda.jit`.

    Returns
    -------
    ptx : str
    result : void
    """
    if device:
        raise NotImplementedError(
            "compile_ptx: a device function has no entry of its own; compile the kernel that calls it"
        )
    kernel = jit(**options)(pyfunc)
    signature = types.void(*sig) if isinstance(sig, (tuple, list)) else sig
    return kernel.inspect("ptx", signature, arch=f"sm_{cc[0]}{cc[1]}"), types.void


__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "contextlib", "time")]
