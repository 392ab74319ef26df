"""Arrays that a kernel captures from globals and closures: frozen when it is first compiled, of any size."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

LARGE = 200_000


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def lookup(table: Any) -> Any:
    @gpu.jit
    def kernel(at, out):
        i = gpu.grid(1)
        if i < at.size:
            out[i] = table[at[i]]

    return kernel


def ask(kernel: Any, at: Any, dtype: Any = np.float64) -> np.ndarray:
    out = np.zeros(len(at), dtype)
    kernel[1, 32](np.array(at), out)
    return out


@pytest.mark.parametrize("size", [8, 5_000, LARGE])
def test_frozen_at_the_first_compilation(size: int) -> None:
    table = np.arange(size, dtype=np.float64)
    kernel = lookup(table)
    want = [0, size - 1, size // 2]
    assert (ask(kernel, want) == want).all()
    table[:] = -1
    assert (ask(kernel, want) == want).all()
    assert (ask(kernel, want, np.float32) == want).all(), "another specialisation has the same values"
    assert (ask(lookup(table), want) == -1).all(), "another kernel is compiled now"


@pytest.mark.parametrize(
    "table",
    [
        np.arange(LARGE, dtype=np.int16),
        np.arange(LARGE * 2)[::-2],
        np.arange(LARGE, dtype=">i4"),
        np.frombuffer(b"x" + np.arange(LARGE).tobytes(), np.uint8)[1:].view(np.int64),
        bytes(range(250)) * 1000,
        np.arange(LARGE) % 7 == 3,
    ],
    ids=["i2", "strided", "byte order", "askew", "bytes", "bool"],
)
def test_whatever_the_array_is_like(table: Any) -> None:
    at = [0, 1, 100_003, LARGE - 1]
    assert (ask(lookup(table), at) == [int(table[i]) for i in at]).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_of_two_dimensions(order: str) -> None:
    first = np.asarray(np.arange(300 * 400).reshape(300, 400), order=order)
    second = np.arange(50_000) * 2

    @gpu.jit
    def both(out):
        i = gpu.grid(1)
        out[i] = first[i, 2 * i] + second[second[i]] + first[-1, -1] - len(first)
        for v in first[i, 398:]:
            out[i] += v

    out = np.zeros(64, np.int64)
    both[2, 32](out)
    i = np.arange(64)
    assert (out == first[i, 2 * i] + 4 * i + 119_999 - 300 + first[:64, 398:].sum(1)).all()


def test_a_device_function_captures(device: str) -> None:
    table = np.arange(LARGE) * 3

    @gpu.jit(device=True)
    def of(i):
        return table[i]

    @gpu.jit
    def calls(out):
        out[gpu.grid(1)] = of(1000) + of(LARGE - 1)

    out = np.zeros(4, np.int64)
    calls[1, 4](out)
    assert (out == 3000 + 3 * (LARGE - 1)).all()
    assert of(5) == 15


@cuda.jit
def numba_lookup(out, at):
    i = cuda.grid(1)
    if i < at.size:
        out[i] = TABLE[at[i]] + cuda.const.array_like(TABLE)[0]


TABLE = np.arange(40_000, dtype=np.float64) + 1


def test_numba_dialect() -> None:
    out = np.zeros(3)
    numba_lookup[1, 4](out, np.array([0, 39_999, 12_345]))
    assert out.tolist() == [2.0, 40_001.0, 12_347.0]


def test_an_argument_stays_where_it_is() -> None:
    @cuda.jit
    def kernel(out, table):
        constant = cuda.const.array_like(table)
        out[0] = constant[2]

    out = np.zeros(1)
    kernel[1, 1](out, TABLE)
    assert out[0] == 3


def test_it_is_no_part_of_the_code_and_goes_with_the_kernel(device: str) -> None:
    table = np.arange(LARGE, dtype=np.float64)
    gc.collect()
    before = gpu.memory_stats().get("used", 0) if device == "emulated" else 0
    kernel = lookup(table)
    assert len(kernel.inspect("ptx", "i8[::1], f8[::1]", arch="sm_80")) < 10_000
    for dtype in (np.float64, np.float32, np.int32):
        ask(kernel, [0, LARGE - 1], dtype)
    if device == "emulated":
        used = gpu.memory_stats()["used"] - before
        assert LARGE * 8 <= used < 2 * LARGE * 8, "one copy for all specialisations"
        del kernel
        gc.collect()
        assert gpu.memory_stats()["used"] == before


def test_it_is_read_only() -> None:
    table = np.arange(LARGE)

    @gpu.jit
    def writes(out):
        table[0] = 1
        out[0] = table[0]

    with pytest.raises((gpu.CompileError, ValueError), match="read-only"):
        writes[1, 1](np.zeros(1))


def test_the_command_line_writes_it_into_the_ptx(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "import gpu\nimport numpy as np\nT = np.arange(10000)\n"
        "@gpu.jit\ndef look(o):\n    o[gpu.grid(1)] = T[gpu.grid(1)]\n"
    )
    command = [sys.executable, "-m", "gpu", "ptx", str(tmp_path / "k.py") + ":look", "--sig", "i8[::1]"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "data_0[80000]" in done.stdout
    assert done.stderr == "look: captured arrays of 80000 bytes are written into the PTX\n"


def test_a_fault_names_it(device: str) -> None:
    if device != "emulated":
        pytest.skip("the emulator checks every access")
    with pytest.raises(gpu.DeviceFault, match=r"the captured array \(float64, shape \(200000,\)\): there is no index"):
        ask(lookup(np.zeros(LARGE)), [LARGE])
        gpu.synchronize()


# ---- arrays on a device


def test_an_array_on_the_device_is_used_where_it_is() -> None:
    numbers = gpu.array(np.arange(6, dtype=np.float32))
    columns = gpu.array(np.arange(12.0).reshape(3, 4))[:, ::2]

    @gpu.jit
    def kernel(out):
        i = gpu.grid(1)
        if i < out.size:
            out[i] = numbers[i] + columns[i % 3, 1]
            numbers[i] = -numbers[i]

    out = np.zeros(6)
    kernel[1, 32](out)
    assert out.tolist() == [2, 7, 12, 5, 10, 15]
    assert numbers.copy_to_host().tolist() == [0, -1, -2, -3, -4, -5]
    kernel[1, 32](out)
    assert out.tolist() == [2, 5, 8, -1, 2, 5]


def test_it_may_be_an_argument_too() -> None:
    both = gpu.array(np.arange(6, dtype=np.float32))

    @gpu.jit
    def kernel(x, y):
        i = gpu.grid(1)
        x[i] = both[i] + 1
        both[i] = both[i] * 2
        y[i] = x[i]

    out = gpu.zeros(6, dtype=np.float32)
    kernel[1, 6](both, out)
    assert both.copy_to_host().tolist() == [2, 4, 6, 8, 10, 12]
    assert out.copy_to_host().tolist() == [2, 4, 6, 8, 10, 12]


def test_it_lives_as_long_as_the_kernel() -> None:
    def make() -> Any:
        numbers = gpu.array(np.full(1000, 7.0))
        return lookup(numbers), numbers

    kernel, numbers = make()
    assert ask(kernel, [999]).tolist() == [7]
    del numbers
    gc.collect()
    others = [gpu.zeros(1000) for _ in range(8)]
    assert ask(kernel, [999]).tolist() == [7]
    assert len(others) == 8


def test_on_another_device_it_says_so(device: str) -> None:
    if device == "python":
        pytest.skip("arrays of the python device are the host's")
    numbers = gpu.array(np.arange(6.0))
    kernel = lookup(numbers)
    ask(kernel, [0])
    other = "emulated" if device == "cpu" else "cpu"
    with gpu.device(other), pytest.raises(ValueError, match=r"captures an array on .*, and is launched on"):
        ask(kernel, [0])


def test_code_for_elsewhere_cannot_have_it(device: str) -> None:
    numbers = gpu.array(np.arange(6.0))

    @cuda.jit(device=True)
    def first():
        return numbers[0]

    if device != "python":
        wanted = "this captures an array on a device, which code for elsewhere can't have"
        with pytest.raises(gpu.UnsupportedError, match=wanted):
            first()
