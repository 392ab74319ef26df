"""Streams and events under Numba's names: thin classes on those of `gpu`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .. import _device, _stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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

    _number = 0  # the driver's number of a default stream

    def __int__(self) -> int:
        return self.handle or self._number

    @property
    def external(self) -> bool:
        """Whether it is another library's."""
        return isinstance(self, _External)

    def __repr__(self) -> str:
        return f"<{self._title()} on {self.device}>"

    def _title(self) -> str:
        return f"CUDA stream {self.handle:#x}" if self.handle else "Default CUDA stream"

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


class _Legacy(Stream):
    __slots__ = ()
    _number = 1

    def _title(self) -> str:
        return "Legacy default CUDA stream"


class _PerThread(Stream):
    __slots__ = ()
    _number = 2

    def _title(self) -> str:
        return "Per-thread default CUDA stream"


class _External(Stream):
    __slots__ = ()

    def _title(self) -> str:
        return f"External CUDA stream {self.handle:#x}"


def stream() -> Stream:
    """A new stream."""
    return Stream()


def default_stream() -> Stream:
    """The stream of work that names none."""
    return Stream._default(_device.device_name(), False)


def legacy_default_stream() -> Stream:
    """The stream of work that names none, which waits for the others and they for it."""
    return _Legacy._default(_device.device_name(), False)


def per_thread_default_stream() -> Stream:
    """The default stream of this thread alone."""
    return _PerThread._default(_device.device_name(), True)


def external_stream(ptr: int) -> Stream:
    """A stream of another library, by its handle."""
    return stream_of(ptr, None)


def stream_of(ptr: int, device: str | None) -> Stream:
    """A stream of another library on a device."""
    wrapped = _stream.external_stream(ptr, device=device)
    number = {1: False, 2: True}.get(wrapped.handle)
    if number is not None or not wrapped.handle:
        return Stream._default(wrapped.device, bool(number))
    return _External._wrap(wrapped.device, wrapped.handle, wrapped)


def event(timing: bool = True) -> Event:
    """A new event."""
    return Event(timing=timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two recorded events."""
    return evtstart.elapsed_time(evtend)
