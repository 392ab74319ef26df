"""Streams and events: order, times, callbacks, handles of other libraries. On the CPU device every stream is empty."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import Any

import gpu
import numpy as np
import pytest

DEVICES = [name for name in ("cpu", "emulated:0") if name in gpu.devices()]


@pytest.fixture(params=DEVICES, autouse=True)
def device(request: pytest.FixtureRequest) -> Any:
    with gpu.device(request.param):
        yield request.param


@gpu.jit
def add(x: Any, value: Any) -> None:
    i = gpu.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] + value


@gpu.jit
def busy(x: Any, n: Any) -> None:
    for _ in range(n):
        x[0] = x[0] * 3 + 1


@gpu.jit
def check(x: Any) -> None:
    if x[0] < 0:
        raise ValueError("negative")


def test_work_in_a_stream_is_in_order() -> None:
    stream = gpu.Stream()
    x = gpu.array(np.arange(1000.0), stream=stream)
    for _ in range(10):
        add[8, 128, stream](x, 1.0)
    host = x.copy_to_host(stream=stream)
    assert np.array_equal(host, np.arange(1000.0) + 10)
    stream.synchronize()
    assert stream.query()


def test_with_stream() -> None:
    outer, inner = gpu.Stream(), gpu.Stream()
    assert gpu.current_stream() == gpu.default_stream()
    with outer:
        assert gpu.current_stream() is outer
        x = gpu.zeros(10)
        with inner, outer:
            assert gpu.current_stream() is outer
        with inner:
            assert gpu.current_stream() is inner
        add[1, 32](x, 2.0)
        assert x._memory.stream is outer
    assert gpu.current_stream() == gpu.default_stream()
    assert x.tolist() == [2.0] * 10


def test_each_thread_has_its_own_current_stream(device: str) -> None:
    seen = []
    with gpu.Stream():
        thread = threading.Thread(target=lambda: seen.append(gpu.current_stream(device) == gpu.default_stream(device)))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize("name", ["stream", 1.5, 17, True])
def test_what_is_no_stream(name: Any, device: str) -> None:
    with pytest.raises(TypeError, match="a stream is a gpu"):
        gpu.zeros(3, stream=name)


def test_a_stream_of_another_device(device: str) -> None:
    if len(DEVICES) < 2:
        pytest.skip("one device only")
    other = next(name for name in DEVICES if name != device)
    with pytest.raises(ValueError, match=f"this is a stream of {other}, and the work is {device}'s"):
        gpu.zeros(3, stream=gpu.Stream(other))
    with gpu.Stream(other):  # is another device's affair
        assert gpu.zeros(3).tolist() == [0, 0, 0]


def test_events_and_time(device: str) -> None:
    stream = gpu.Stream()
    x = gpu.zeros(1, "i8")
    start, end = gpu.Event(), gpu.Event()
    assert start.query()
    assert start.record(stream) is start
    busy[1, 1, stream](x, 20_000)
    stream.record(end)
    end.synchronize()
    assert start.query()
    assert end.query()
    assert 0 < start.elapsed(end) < 60_000
    assert isinstance(stream.record(), gpu.Event)


def test_times_that_there_are_not(device: str) -> None:
    with pytest.raises((ValueError, gpu.DriverError)):
        gpu.Event().elapsed(gpu.Event())
    with pytest.raises((ValueError, gpu.DriverError)):
        gpu.Event(timing=False).record().elapsed(gpu.Event().record())
    with pytest.raises(TypeError, match="the event at the end"):
        gpu.Event().record().elapsed(3)


def test_a_stream_waits_for_an_event() -> None:
    one, two = gpu.Stream(non_blocking=True), gpu.Stream(non_blocking=True, priority=-1)
    x, y = gpu.zeros(1, "i8"), gpu.zeros(1, "i8")
    gpu.synchronize()
    busy[1, 1, one](x, 5000)
    two.wait(gpu.Event().record(stream=one))
    y.copy_to_device(x, stream=two)
    assert y.copy_to_host(stream=two)[0] == x[0]
    with pytest.raises(TypeError, match="wait takes a gpu"):
        two.wait(one)


def test_callbacks() -> None:
    stream, seen = gpu.Stream(), []
    x = gpu.zeros(1, "i8")
    busy[1, 1, stream](x, 100)
    stream.callback(lambda: seen.append(1))
    stream.callback(lambda: seen.append(2))
    stream.synchronize()
    assert seen == [1, 2]
    with pytest.raises(TypeError, match="function without arguments"):
        stream.callback(3)


def test_a_callback_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: seen.append(info.exc_type))
    stream = gpu.Stream()
    stream.callback(lambda: 1 / 0)
    stream.synchronize()
    assert seen == [ZeroDivisionError]


def test_handles(device: str) -> None:
    stream = gpu.Stream()
    assert stream.device == device
    assert stream.__cuda_stream__() == (0, stream.handle)
    again = gpu.external_stream(stream.handle)
    assert (again == stream) == (hash(again) == hash(stream))
    if device != "cpu":
        assert stream.handle
        assert again == stream

    class Theirs:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, stream.handle

    class Torch:
        cuda_stream = stream.handle

    x = gpu.zeros(5)
    for other in (Theirs(), Torch(), again):
        add[1, 32, gpu.external_stream(other)](x, 1.0)
    gpu.synchronize()
    assert x.tolist() == [3.0] * 5
    assert gpu.external_stream(stream) is stream
    with pytest.raises(TypeError, match="no stream"):
        gpu.external_stream("x")
    assert device in repr(stream)
    assert device in repr(gpu.Event())


def test_default_streams() -> None:
    for number, stream in ((1, gpu.default_stream()), (2, gpu.default_stream(per_thread=True))):
        x = gpu.zeros(5)
        gpu.synchronize()
        add[1, 32, stream](x, 1.0)
        stream.synchronize()
        assert x.tolist() == [1.0] * 5
        assert gpu.external_stream(number) == stream


def test_memory_freed_while_another_stream_uses_it() -> None:
    one, two = gpu.Stream(non_blocking=True), gpu.Stream(non_blocking=True)
    slow = gpu.zeros(1, "i8", stream=one)
    one.synchronize()
    for _ in range(20):
        x = gpu.full(1000, 1.0, stream=one)
        one.synchronize()
        busy[1, 1, two](slow, 500)
        add[8, 128, two](x, 1.0)
        y = gpu.empty_like(x, stream=two)
        y.copy_to_device(x, stream=two)
        del x
        gpu.full(1000, 9.0, stream=one)  # must not get the memory of x before the copy is done
        assert y.copy_to_host(stream=two).tolist() == [2.0] * 1000


def test_a_stream_goes_while_it_works() -> None:
    stream = gpu.Stream()
    x = gpu.zeros(1, "i8", stream=stream)
    busy[1, 1, stream](x, 5000)
    del stream
    gc.collect()
    gpu.synchronize()
    assert x[0] != 0


def test_an_exception_of_a_kernel_comes_with_the_wait() -> None:
    stream = gpu.Stream()
    x = gpu.full(3, -1.0)
    gpu.synchronize()
    with pytest.raises(ValueError, match="negative"):
        check[1, 1, stream](x)
        stream.synchronize()
    stream.synchronize()
    x[:] = 1
    check[1, 1, stream](x)
    stream.synchronize()


def test_pinned_memory_copies_beside_the_host() -> None:
    stream = gpu.Stream()
    host = gpu.pinned_array(1000, "f4")
    host[:] = np.arange(1000)
    x = gpu.array(host, stream=stream)
    add[8, 128, stream](x, 1.0)
    x.copy_to_host(host, stream=stream)
    stream.synchronize()
    assert np.array_equal(host, np.arange(1000, dtype="f4") + 1)


def test_threads_with_streams_of_their_own(device: str) -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        with gpu.device(device), gpu.Stream():
            for i in range(50):
                x = gpu.full(100 + i, number)
                add[4, 64](x, i)
                y = x[::-1].copy()
                del x
                if y.copy_to_host().tolist() != [number + i] * (100 + i):
                    wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_streams_and_events_leave_nothing() -> None:
    x = gpu.zeros(10)
    for _ in range(500):
        stream = gpu.Stream()
        add[1, 32, stream](x, 1.0)
        stream.record()
    gpu.synchronize()
    assert x.tolist() == [500.0] * 10


ENDLESS = """
import os, signal, threading, time
import gpu

@gpu.jit
def endless(x):
    while x[0] == 0:
        x[1] += 1

x = gpu.zeros(2, "i8")
stream = gpu.Stream()
event = gpu.Event()
for wait in (stream.synchronize, event.synchronize, gpu.synchronize):
    endless[1, 1, stream](x)
    event.record(stream)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        wait()
    except KeyboardInterrupt:
        assert 0.2 < time.monotonic() - start < 20
    else:
        raise SystemExit("the wait ended")
print("done", flush=True)
os._exit(0)
"""


def test_ctrl_c_ends_a_wait(device: str) -> None:
    if device == "cpu":
        pytest.skip("there a launch waits: tests/test_interrupts.py")
    env = {**os.environ, "GPU_DEVICE": "emulated"}
    done = subprocess.run([sys.executable, "-c", ENDLESS], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr
