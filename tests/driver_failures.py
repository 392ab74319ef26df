"""Runs a fixed program on the emulated device, once for each call of the driver that is to fail.

For test_driver_failures.py. Reads lines ``cuMemAlloc:2=999`` and answers each with a line of JSON: what was raised at
which step, whether the same step worked when it was done again, and what was still held in the end. Each case is a
child of this process, which has imported everything but hasn't opened the device.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
from gpu import _core

DEVICE = "emulated"


@gpu.jit
def double(x, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


@gpu.jit
def careful(x, out):
    i = gpu.grid(1)
    if i >= out.size:
        raise IndexError("too many threads")
    out[i] = x[i] + 1


TWICE = b"""
.version 6.5
.target sm_50
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 a)
{
    .reg .f32 %f;
    ld.param.f32 %f, [a];
    add.f32 %f, %f, %f;
    st.param.f32 [result], %f;
    ret;
}
"""
twice = gpu.declare_device("twice", "float32(float32)", link=TWICE)


def linked(x: gpu.Array) -> None:
    """A kernel with code of others, which prints; made anew, so that it is linked again."""

    @gpu.jit
    def k(x):
        x[0] = twice(x[0])
        print(end="")

    k[1, 1](x)
    gpu.synchronize()


class Program:
    """Steps that together call every function of the driver that the runtime uses."""

    def __init__(self) -> None:
        self.raised: list[dict[str, Any]] = []

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        """Do it; if it raises, note that and do it again, which must work."""
        try:
            return action()
        except Exception as error:
            self.raised.append({
                "step": name, "type": type(error).__name__, "text": str(error), "call": getattr(error, "call", None),
                "ours": isinstance(error, (gpu.DeviceError, gpu.OutOfMemoryError, gpu.LaunchError, gpu.CompileError)),
            })  # fmt: skip
        return action()

    def run(self) -> None:
        """All steps."""
        step, host = self.step, np.arange(1000, dtype=np.float32)
        step("open", lambda: gpu.set_device(DEVICE))
        step("properties", lambda: gpu.properties(DEVICE))
        x = step("array", lambda: gpu.array(host))
        out = step("zeros", lambda: gpu.zeros_like(x))
        step("launch", lambda: double[8, 128](x, out))
        assert np.array_equal(step("to host", out.copy_to_host), 2 * host)
        step("fills", lambda: fills(x))
        step("columns", lambda: columns(host))
        step("on the device", lambda: check(np.array_equal(x.copy().copy_to_host(), x.copy_to_host())))
        step("host arrays", host_arrays)
        step("streams", lambda: streams(host))
        step("shared memory", lambda: double[8, 128, 0, 100_000](x, out))
        step("cooperative", lambda: double.configure(8, 128, cooperative=True)(x, out))
        step("a thread", lambda: wait_in_a_thread(x, out))
        step("raise", lambda: raising(x))
        step("linked", lambda: linked(x))
        step("memory kinds", memory_kinds)
        step("pinned", pinned)
        step("peers", peers)
        step("between processes", lambda: between_processes(x))
        step("profilers", profilers)
        step("stats", lambda: double.stats("f4[::1], f4[::1]"))
        step("auto", lambda: double[gpu.auto](x, out))
        step("memory", lambda: check(gpu.memory_info()[0] > 0))
        step("kernel ends", a_kernel_ends)
        step("synchronize", gpu.synchronize)


def check(condition: bool) -> None:
    """Assert, in a lambda."""
    assert condition


def fills(x: Any) -> None:
    """Elements of 1, 2, 4 and 16 bytes."""
    for dtype, value in (("u1", 7), ("u2", 515), ("i4", -77777), ("c16", 1 + 2j)):
        full = gpu.full(100, value, dtype)
        assert (full.copy_to_host() == value).all()


def columns(host: np.ndarray[Any, Any]) -> None:
    """A copy with gaps."""
    square = host.reshape(20, 50)
    on_device = gpu.array(square)
    assert np.array_equal(on_device[:, 10:20].copy_to_host(), square[:, 10:20])


def host_arrays() -> None:
    """Copied in and back."""
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    double[1, 128](x, out)
    assert (out == 2).all()


def streams(host: np.ndarray[Any, Any]) -> None:
    """Streams, events, callbacks, an array that two streams use."""
    one, two = gpu.Stream(DEVICE, priority=-1), gpu.Stream(DEVICE)
    start, end = gpu.Event(DEVICE), gpu.Event(DEVICE)
    called = []
    x = gpu.array(host, stream=one)
    out = gpu.empty_like(x, stream=one)
    start.record(one)
    double[8, 128, one](x, out)
    end.record(one)
    two.wait(end)
    double[8, 128, two](out, x)
    two.callback(lambda: called.append(1))
    del out
    two.synchronize()
    end.synchronize()
    assert start.query() and two.query() and start.elapsed(end) >= 0
    gpu.synchronize()
    assert np.array_equal(x.copy_to_host(), 4 * host) and called == [1]


def wait_in_a_thread(x: Any, out: Any) -> None:
    """Where Ctrl-C isn't heard, the driver's own waits are used."""
    failed = []

    def wait() -> None:
        try:
            gpu.set_device(DEVICE)
            event = gpu.Event(DEVICE)
            double[8, 128](x, out)
            event.record()
            event.synchronize()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def raising(x: Any) -> None:
    """An exception of a kernel."""
    small = gpu.zeros(10, np.float32)
    try:
        careful[1, 10](x, small)
        careful[1, 11](x, small)
        gpu.synchronize()
    except IndexError:
        return
    raise AssertionError("the kernel's exception didn't come")


def memory_kinds() -> None:
    """Mapped and managed memory."""
    for make in (gpu.mapped_array, gpu.managed_array):
        array = make(100, np.float32, device=DEVICE)
        double[1, 128](array, array)
        gpu.synchronize()


def pinned() -> None:
    """Pinned memory, made and registered."""
    made = gpu.pinned_array(1000, np.float32, device=DEVICE)
    made[:] = 3
    assert (gpu.array(made).copy_to_host() == 3).all()
    there = np.full(4096, 5, np.float32)
    with gpu.pinned(there, device=DEVICE):
        assert (gpu.array(there).copy_to_host() == 5).all()


class Shown:
    """An array of another library."""

    def __init__(self, array: gpu.Array) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def peers() -> None:
    """Copies between two devices; an array that another library shows is where its memory is."""
    gpu.can_access_peer("emulated:0", "emulated:1")
    there = gpu.array(np.arange(10), device="emulated:1")
    with gpu.device(DEVICE):
        assert gpu.array(Shown(there)).copy_to_host()[9] == 9
    assert there.to("emulated:0").copy_to_host()[9] == 9


def between_processes(x: Any) -> None:
    """A handle; a process doesn't open its own, nor close what it hasn't opened."""
    handle, _ = _core.device_share(f"{DEVICE}:0", x.__cuda_array_interface__["data"][0])
    for function, argument, refusal in (
        (_core.device_open_shared, handle, "CUDA_ERROR_INVALID_CONTEXT"),
        (_core.device_close_shared, 4096, "CUDA_ERROR_INVALID_VALUE"),
    ):
        try:
            function(f"{DEVICE}:0", argument)
        except gpu.DeviceError as error:
            if refusal not in str(error):
                raise


def profilers() -> None:
    """They are told when to record."""
    for records in (True, False):
        _core.device_profiler(f"{DEVICE}:0", records)


def a_kernel_ends() -> None:
    """Its code is unloaded."""

    @gpu.jit
    def short(x):
        x[0] = 1

    x = gpu.zeros(1)
    short[1, 1](x)
    assert x.copy_to_host()[0] == 1


def case(spec: str) -> dict[str, Any]:
    """Run the program with that failure."""
    os.environ["GPU_EMULATOR_FAIL"] = spec
    program = Program()
    answer: dict[str, Any] = {"spec": spec, "unexpected": None}
    try:
        program.run()
        gc.collect()  # what exceptions' tracebacks hold
        program.step("end", gpu.synchronize)
        program.step("empty", gpu.empty_cache)
        stats = gpu.memory_stats()
        answer["left"] = {name: stats[name] for name in ("used", "blocks", "held", "segments", "pinned", "managed")}
        out = np.zeros(5, np.float32)
        program.step("again", lambda: double[1, 5](np.ones(5, np.float32), out))
        answer["works"] = bool((out == 2).all())
    except BaseException:
        answer["unexpected"] = traceback.format_exc()
    answer["raised"] = program.raised
    return answer


def main() -> None:
    """Fork for each line."""
    warnings.simplefilter("ignore")
    os.environ["GPU_EMULATOR_REPORT"] = "off"
    os.environ["GPU_EMULATOR_DEVICES"] = "2"
    double.inspect("ptx", "f4[::1], f4[::1]")  # the compiler is loaded
    for line in sys.stdin:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            print(json.dumps(case(line.strip())), flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            print(json.dumps({"spec": line.strip(), "unexpected": f"wait status {status}", "raised": []}), flush=True)


if __name__ == "__main__":
    main()
