"""`raise` and `assert` in kernels: the launch raises that exception, with message, line, block and thread."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gpu
import numpy as np
import pytest

DEVICES = ["python", "cpu"]


@gpu.jit
def refuse_negative(a, out):
    i = gpu.grid(1)
    if i < a.size:
        if a[i] < 0:
            raise ValueError("negative input")
        out[i] = a[i]


@gpu.jit
def assert_small(a):
    i = gpu.grid(1)
    if i < a.size:
        assert a[i] < 10, "too large"


def checked(x):
    if x > 5:
        raise OverflowError("above five")
    return x + 1


@gpu.jit
def raises_in_a_helper(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = checked(a[i])


@gpu.jit
def bare(a):
    if a[0] == 1:
        raise RuntimeError
    assert a[0] != 2


@gpu.jit
def unpacks(a, out):
    x, y, z = a[0]
    out[0] = x + y + z


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_other_lengths(device: str) -> None:
    out = np.zeros(1)
    with gpu.device(device):
        unpacks[1, 1](np.ones((2, 3)), out)
        assert out[0] == 3
        for n, what in ((2, "not enough"), (4, "too many")):
            with pytest.raises(ValueError, match=rf"{what} values to unpack \(expected 3"):
                unpacks[1, 1](np.ones((2, n)), out)


@pytest.mark.parametrize("device", DEVICES)
def test_message_line_block_and_thread(device: str) -> None:
    a = np.ones(64, "f4")
    a[37] = -1
    with gpu.device(device):
        refuse_negative[4, 16](np.abs(a), np.zeros(64, "f4"))
        with pytest.raises(ValueError, match="negative input") as caught:
            refuse_negative[4, 16](a, np.zeros(64, "f4"))
            gpu.synchronize()
    text = str(caught.value)
    assert f"test_exceptions.py:{refuse_negative.py_func.__code__.co_firstlineno + 5}" in text
    assert "block (2, 0, 0)" in text and "thread (5, 0, 0)" in text


@pytest.mark.parametrize("device", DEVICES)
def test_launches_after_it_work(device: str) -> None:
    a, out = np.ones(8, "f4"), np.zeros(8, "f4")
    with gpu.device(device):
        with pytest.raises(ValueError, match="negative input"):
            refuse_negative[1, 8](-a, out)
            gpu.synchronize()
        refuse_negative[1, 8](a, out)
        gpu.synchronize()
    assert out.tolist() == [1] * 8


@pytest.mark.parametrize("device", DEVICES)
def test_assert(device: str) -> None:
    with gpu.device(device):
        assert_small[1, 32](np.arange(9))
        with pytest.raises(AssertionError, match="too large"):
            assert_small[1, 32](np.arange(30))
            gpu.synchronize()


@pytest.mark.parametrize("device", DEVICES)
def test_in_a_device_function(device: str) -> None:
    out = np.zeros(4, "i4")
    with gpu.device(device):
        raises_in_a_helper[1, 4](np.arange(4, dtype="i4"), out)
        assert out.tolist() == [1, 2, 3, 4]
        with pytest.raises(OverflowError, match="above five"):
            raises_in_a_helper[1, 4](np.arange(4, 8, dtype="i4"), out)
            gpu.synchronize()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("value", "exception"), [(1, RuntimeError), (2, AssertionError)])
def test_without_a_message(device: str, value: int, exception: type[Exception]) -> None:
    with gpu.device(device), pytest.raises(exception):
        bare[1, 1](np.array([value]))
        gpu.synchronize()


class Refused(Exception):
    """An exception class of the user's own."""


@gpu.jit
def own_class(a):
    if a[0] > 0:
        raise Refused("by us")


@pytest.mark.parametrize("device", DEVICES)
def test_own_exception_class(device: str) -> None:
    with gpu.device(device), pytest.raises(Refused, match="by us"):
        own_class[1, 1](np.ones(1))
        gpu.synchronize()


ORDER = """
import gpu, numpy as np
@gpu.jit
def k(x, n):
    s = x[0]
    for i in range(n if gpu.blockIdx.x == 3 else 1):
        s = s * 1.0000001 + 1
    if gpu.blockIdx.x >= 3 and s > 0 and gpu.threadIdx.x > 1:
        raise ValueError
seen = set()
for _ in range(20):
    try:
        k[256, 8](np.ones(1), 1000000)
    except ValueError as error:
        seen.add((error.block, error.thread))
print(seen)
"""


def test_the_first_block_and_thread_is_told_of() -> None:
    """On the CPU, though a later block raises sooner."""
    env = {**os.environ, "GPU_NUM_THREADS": "4", "GPU_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", ORDER], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "{((3, 0, 0), (2, 0, 0))}"


def test_fastmath_divides_floats_by_zero_in_debug_mode() -> None:
    @gpu.jit(debug=True, fastmath=True)
    def kernel(x, n):
        x[0] = x[0] / x[1]
        n[0] = n[0] // n[1]

    x, n = np.array([1.0, 0.0]), np.array([4, 2])
    kernel[1, 1](x, n)
    assert not np.isfinite(x[0])
    with pytest.raises(ZeroDivisionError):
        kernel[1, 1](x, np.array([1, 0]))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("on_host", [True, False])
def test_each_thread_gets_its_own(device: str, on_host: bool) -> None:
    """Launches of one kernel by several threads of the program: each gets its own exception."""

    @gpu.jit
    def fail(x, who):
        if x[gpu.grid(1)] == 3:
            raise ValueError("three", who)
        x[gpu.grid(1)] += 1

    def launch(who: int) -> list[object]:
        told: list[object] = []
        with gpu.device(device):
            for _ in range(20):
                x = np.arange(5)
                stream = gpu.Stream()
                given = x if on_host else gpu.array(x, stream=stream)
                try:
                    fail[1, 5, stream](given, who)
                    stream.synchronize()
                    told.append(None)
                except ValueError as e:
                    told.append(e.args[1])
        return told

    with ThreadPoolExecutor(4) as pool:
        for who, told in enumerate(pool.map(launch, range(4))):
            assert told == [who] * 20
