"""Graphs on the emulated driver: what streams capture is done at each launch of the graph, not before."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p

import numpy as np
import pytest
from cuda_driver import KERNELS, Driver, fails

pytestmark = pytest.mark.one_version

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2


@pytest.fixture
def stream(driver: Driver) -> c_void_p:
    made = c_void_p()
    driver.cuStreamCreate(byref(made), 1)
    return made


class Twice:
    """to[i] = 2 * from[i] for four numbers, and what they are."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.module = driver.load(KERNELS)
        self.scale = driver.function(self.module, "scale")
        self.memory = c_uint64()
        driver.cuMemAlloc_v2(byref(self.memory), c_size_t(32))
        self.set([1, 2, 3, 4])

    def set(self, values: list[float]) -> None:
        data = np.array(values + [0] * 4, np.float32)
        self.driver.cuMemcpyHtoD_v2(self.memory, c_void_p(data.ctypes.data), c_size_t(32))

    def launch(self, stream: c_void_p) -> None:
        to, start = c_uint64(self.memory.value + 16), c_uint64(self.memory.value)
        self.driver.launch(self.scale, 1, 32, to, start, c_float(2), c_uint32(4), stream=stream)

    def result(self) -> list[float]:
        data = np.zeros(4, np.float32)
        self.driver.cuMemcpyDtoH_v2(c_void_p(data.ctypes.data), c_uint64(self.memory.value + 16), c_size_t(16))
        return data.tolist()


@pytest.fixture
def twice(driver: Driver) -> Twice:
    return Twice(driver)


def status(driver: Driver, stream: c_void_p) -> int:
    out = c_int()
    driver.cuStreamIsCapturing(stream, byref(out))
    return out.value


def test_a_graph_runs_what_was_captured(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    graph, executable, count = c_void_p(), c_void_p(), c_size_t()
    driver.cuStreamBeginCapture_v2(stream, GLOBAL)
    assert status(driver, stream) == 1
    driver.cuMemsetD32Async(c_uint64(twice.memory.value + 12), c_uint32(0x40E00000), c_size_t(1), stream)  # 7.0
    twice.launch(stream)
    driver.cuStreamEndCapture(stream, byref(graph))
    assert status(driver, stream) == 0
    assert twice.result() == [0, 0, 0, 0]
    driver.cuGraphGetNodes(graph, None, byref(count))
    nodes, kind = (c_void_p * 4)(), c_int()
    assert count.value == 2
    driver.cuGraphGetNodes(graph, nodes, byref(count))
    driver.cuGraphNodeGetType(c_void_p(nodes[0]), byref(kind))
    assert kind.value == 2
    driver.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0))
    driver.cuGraphDestroy(graph)
    for values in ([1, 2, 3, 4], [5, 6, 7, 8]):
        twice.set(values)
        driver.cuGraphLaunch(executable, stream)
        driver.cuStreamSynchronize(stream)
        assert twice.result() == [2 * v for v in values[:3]] + [14]
    driver.cuGraphExecDestroy(executable)
    fails("INVALID_HANDLE", driver.cuGraphLaunch, executable, stream)


def test_events_take_other_streams_along(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    other, forked, joined, graph = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    driver.cuStreamCreate(byref(other), 1)
    driver.cuEventCreate(byref(forked), 2)
    driver.cuEventCreate(byref(joined), 2)

    def capture(join: bool) -> None:
        driver.cuStreamBeginCapture_v2(stream, RELAXED)
        driver.cuEventRecord(forked, stream)
        driver.cuStreamWaitEvent(other, forked, 0)
        twice.launch(other)
        driver.cuEventRecord(joined, other)
        if join:
            driver.cuStreamWaitEvent(stream, joined, 0)

    capture(True)
    fails("CAPTURED_EVENT", driver.cuEventQuery, joined)
    fails("STREAM_CAPTURE_UNMATCHED", driver.cuStreamEndCapture, other, byref(graph))
    driver.cuStreamEndCapture(stream, byref(graph))
    executable = c_void_p()
    driver.cuGraphInstantiate_v2(byref(executable), graph, None, None, c_size_t(0))
    driver.cuGraphLaunch(executable, stream)
    assert twice.result() == [2, 4, 6, 8]
    capture(False)
    fails("STREAM_CAPTURE_UNJOINED", driver.cuStreamEndCapture, stream, byref(graph))
    assert status(driver, other) == 0


def test_a_graph_in_a_graph(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    graph, inner, outer, copy = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL)
    twice.launch(stream)
    driver.cuStreamEndCapture(stream, byref(graph))
    driver.cuGraphClone(byref(copy), graph)
    driver.cuGraphInstantiateWithFlags(byref(inner), copy, c_uint64(0))
    driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL)
    driver.cuGraphLaunch(inner, stream)
    driver.cuStreamEndCapture(stream, byref(graph))
    driver.cuGraphInstantiateWithFlags(byref(outer), graph, c_uint64(0))
    assert twice.result() == [0, 0, 0, 0]
    driver.cuGraphLaunch(outer, stream)
    assert twice.result() == [2, 4, 6, 8]


def test_what_cannot_be_captured(driver: Driver, stream: c_void_p) -> None:
    graph, memory = c_void_p(), c_uint64()
    fails("ILLEGAL_STATE", driver.cuStreamEndCapture, stream, byref(graph))
    fails("STREAM_CAPTURE_UNSUPPORTED", driver.cuStreamBeginCapture_v2, None, GLOBAL)
    for call in (
        lambda: driver.cuStreamSynchronize(stream),
        lambda: driver.cuStreamQuery(stream),
        lambda: driver.cuMemAllocAsync(byref(memory), c_size_t(64), stream),
    ):
        driver.cuStreamBeginCapture_v2(stream, GLOBAL)
        fails("ILLEGAL_STATE", driver.cuStreamBeginCapture_v2, stream, GLOBAL)
        fails("STREAM_CAPTURE_UNSUPPORTED", call)
        assert status(driver, stream) == 2
        fails("STREAM_CAPTURE_INVALIDATED", driver.cuStreamEndCapture, stream, byref(graph))
    driver.cuStreamSynchronize(stream)


def test_work_outside_of_the_capture(driver: Driver, stream: c_void_p) -> None:
    event, graph = c_void_p(), c_void_p()
    driver.cuEventCreate(byref(event), 0)
    driver.cuEventRecord(event, None)
    driver.cuStreamBeginCapture_v2(stream, GLOBAL)
    fails("STREAM_CAPTURE_ISOLATION", driver.cuStreamWaitEvent, stream, event, 0)
    fails("STREAM_CAPTURE_INVALIDATED", driver.cuStreamEndCapture, stream, byref(graph))


def test_what_a_graph_runs_is_gone(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    graph, executable, other = c_void_p(), c_void_p(), c_void_p()
    driver.cuStreamBeginCapture_v2(stream, GLOBAL)
    twice.launch(stream)
    driver.cuStreamEndCapture(stream, byref(graph))
    driver.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0))
    driver.cuModuleUnload(twice.module)
    fails("INVALID_HANDLE", driver.cuGraphLaunch, executable, stream)
    driver.cuStreamCreate(byref(other), 1)
    driver.cuStreamBeginCapture_v2(other, GLOBAL)
    driver.cuStreamDestroy_v2(other)  # and its capture
    driver.cuStreamSynchronize(stream)


def test_functions_of_the_host_and_copies(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    calls: list[int] = []
    called = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: calls.append(1))
    data, graph, executable = np.zeros(4, np.float32), c_void_p(), c_void_p()
    driver.cuStreamBeginCapture_v2(stream, GLOBAL)
    twice.launch(stream)
    pointer, source = c_void_p(data.ctypes.data), c_uint64(twice.memory.value + 16)
    driver.cuMemcpyDtoHAsync_v2(pointer, source, c_size_t(16), stream)
    driver.cuLaunchHostFunc(stream, called, None)
    driver.cuStreamEndCapture(stream, byref(graph))
    driver.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0))
    assert not calls
    for _ in range(3):
        driver.cuGraphLaunch(executable, stream)
    driver.cuStreamSynchronize(stream)
    assert len(calls) == 3
    assert data.tolist() == [2, 4, 6, 8]


def test_what_a_graph_keeps_alive(driver: Driver, stream: c_void_p, twice: Twice) -> None:
    gone: list[int] = []
    end = ctypes.CFUNCTYPE(None, c_void_p)(lambda value: gone.append(value))
    made, graph, executable = c_void_p(), c_void_p(), c_void_p()
    fails("INVALID_VALUE", driver.cuUserObjectCreate, byref(made), c_void_p(7), end, 1, 0)
    driver.cuUserObjectCreate(byref(made), c_void_p(7), end, 1, 1)
    driver.cuStreamBeginCapture_v2(stream, GLOBAL)
    twice.launch(stream)
    driver.cuStreamEndCapture(stream, byref(graph))
    driver.cuGraphRetainUserObject(graph, made, 1, 1)  # the reference is the graph's now
    fails("INVALID_VALUE", driver.cuGraphReleaseUserObject, graph, made, 2)
    driver.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0))
    driver.cuGraphDestroy(graph)
    driver.cuGraphLaunch(executable, stream)
    driver.cuCtxSynchronize()
    assert not gone
    driver.cuGraphExecDestroy(executable)
    driver.cuCtxSynchronize()
    assert gone == [7]
    fails("INVALID_VALUE", driver.cuUserObjectRelease, made, 1)
