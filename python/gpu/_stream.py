"""Streams and events of a device."""

from __future__ import annotations

from typing import Any

from . import _core
from ._device import device_name

_LEGACY, _PER_THREAD = 1, 2  # handles that CUDA gives the two default streams


class Stream(_core.StreamBase):
    """A queue of work on a device; work in it runs in order, beside that of other streams.

    ``k[grid, block, stream](...)``, ``x.copy_to_host(stream=stream)``; in ``with stream:`` it is the stream of all
    launches and copies of this thread that name none. On the cpu device work is done when a call returns.

    Parameters
    ----------
    device : str or int, optional
        Else the current device.
    non_blocking : bool
        It doesn't wait for the default stream, nor that for it.
    priority : int
        0 is normal, negative more urgent.
    """

    __slots__ = ()

    def __new__(cls, device: Any = None, *, non_blocking: bool = False, priority: int = 0) -> Stream:
        """Make a stream."""
        return cls._create(device_name(device), non_blocking, priority)

    def record(self, event: Event | None = None) -> Event:
        """An event for when this stream comes here; a new one, if none is given."""
        return (Event(self.device) if event is None else event).record(self)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries exchange streams: (0, handle)."""
        return 0, self.handle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _core.StreamBase) and (self.device, self.handle) == (other.device, other.handle)

    def __hash__(self) -> int:
        return hash((self.device, self.handle))

    def __repr__(self) -> str:
        return f"<gpu.Stream {self.handle:#x} on {self.device}>"


class Event(_core.EventBase):
    """A point in the work of a stream, with its time.

    Parameters
    ----------
    device : str or int, optional
        Else the current device.
    timing : bool
        False: `elapsed` isn't asked for, which makes recording cheaper.
    blocking : bool
        `synchronize` sleeps instead of looking again and again.
    """

    __slots__ = ()

    def __new__(cls, device: Any = None, *, timing: bool = True, blocking: bool = False) -> Event:
        """Make an event."""
        return cls._create(device_name(device), timing, blocking)

    def __repr__(self) -> str:
        return f"<gpu.Event on {self.device}>"


def default_stream(device: Any = None, *, per_thread: bool = False) -> Stream:
    """The stream of work that names none, or this thread's own default stream."""
    return Stream._default(device_name(device), per_thread)


def current_stream(device: Any = None) -> Stream:
    """The stream of this thread's work that names none: of the innermost ``with stream:``, or the default one."""
    return Stream._current(device_name(device))


def external_stream(stream: Any, device: Any = None) -> Stream:
    """A stream of another library.

    Parameters
    ----------
    stream : int or object
        The driver's handle, or an object with ``__cuda_stream__`` (or ``cuda_stream``, as PyTorch's).
    device : str or int, optional
        The device that it belongs to; else the current one.
    """
    if isinstance(stream, Stream):
        return stream
    owner = stream
    if hasattr(stream, "__cuda_stream__"):
        method = stream.__cuda_stream__
        stream = (method() if callable(method) else method)[1]
    elif hasattr(stream, "cuda_stream"):
        stream = stream.cuda_stream
    if not hasattr(stream, "__index__"):
        raise TypeError(f"no stream: {owner!r}; give its handle, or an object with __cuda_stream__")
    handle = int(stream.__index__())
    name = device_name(device)
    if handle in (0, _LEGACY, _PER_THREAD):
        return Stream._default(name, handle == _PER_THREAD)
    return Stream._wrap(name, handle, owner)
