"""Kernels of a thousand lines, as generators write them: compile time grows like the length, results stay right."""

from __future__ import annotations

import linecache
import math
import os
import resource
from collections.abc import Callable

import gpu
import numpy as np
import pytest

# One line of the kernel for each j. `a` stays what the thread read, `b` collects.
LINES = {
    "arithmetic": "    b = b * 0.5 + a * {j}.25",
    "if": "    if a > {j}.5: b = b * 0.25 + {j}",
    "if_else": "    if a > {j}.5:\n        b = b * 0.25 + a\n    else:\n        b = b - 0.5 * {j}",
    "if_store": "    if a > {j}.5: o[i] = b + {j}",
    "elif": "    {el}if a == {j}: b = b + {j}",
    "early_return": "    if a == {j}:\n        o[i] = {j}\n        return",
    "loop": "    for t in range(4):\n        b = b * 0.5 + t",
    "load": "    b = b * 0.5 + x[i + {j}]",
    "math": "    b = math.sin(b) + math.exp(-a)",
    "own_array": "    c[{j} % 64] = c[{j} * 7 % 64] * 0.5 - c[(i + {j}) % 64] * 0.25 + a",
    "barrier": "    c[i] = b\n    gpu.syncthreads()\n    b = c[(i + {j}) % 32] + 1\n    gpu.syncthreads()",
    "division": "    b = b + (i + {j}) // (i + 3) % 7",
}
# What stands before the lines, if not the guard.
GUARD = "    if i >= o.size:\n        return"
BEFORE = {
    "own_array": GUARD + "\n    c = gpu.local.array(64, 'f4')\n    for j in range(64): c[j] = x[i + j]",
    "barrier": "    c = gpu.shared.array(32, 'f4')",
}


def kernel(kind: str, n: int) -> gpu.Kernel:
    """A kernel k(x, o) with n lines of a kind."""
    body = "\n".join(LINES[kind].format(j=j, el="el" * (j > 0)) for j in range(n))
    source = (
        f"def k(x, o):\n    i = gpu.grid(1)\n{BEFORE.get(kind, GUARD)}\n    a = x[i]\n    b = x[i] + 1\n{body}\n"
        f"    {'b = b + c[i]' if kind in BEFORE else 'pass'}\n    if i < o.size:\n        o[i] = a + b\n"
    )
    file = f"<{kind} {n}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"gpu": gpu, "math": math}
    exec(compile(source, file, "exec"), names)
    return gpu.jit(names["k"], fma=False)


def seconds(action: Callable[[gpu.Kernel], object], k: gpu.Kernel) -> float:
    """CPU time of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    action(k)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


TARGETS = {
    "cpu": lambda k: k.compile("f4[::1], f4[::1]"),
    "ptx": lambda k: k.inspect("ptx", "f4[::1], f4[::1]", arch="sm_80"),
}


@pytest.mark.skipif("build-sanitize" in os.environ.get("GPU_BUILD", ""), reason="times of an unoptimised build")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", LINES)
def test_time_grows_like_the_length(kind: str, target: str) -> None:
    """Four times as long a kernel takes less than eight times as long; a quadratic step would take sixteen times."""
    n = 75 if kind in ("loop", "barrier") else 300  # LLVM's loop passes aren't linear, but a hundred loops are many
    TARGETS[target](kernel(kind, 10))
    short = min(seconds(TARGETS[target], kernel(kind, n)) for _ in range(2))
    long = seconds(TARGETS[target], kernel(kind, 4 * n))
    assert long < 8 * max(short, 0.2), f"{short:.2f} s for {n} lines, {long:.2f} s for {4 * n}"


@pytest.mark.parametrize("kind", LINES)
def test_results_stay_the_same(kind: str) -> None:
    """What is compiled in a simpler way because it is long computes the same as Python does, thread by thread."""
    k = kernel(kind, 60 if kind == "barrier" else 1000)  # Python's threads wait slowly
    n = 24
    x = np.linspace(0, 42000, n + 1000, dtype="f4").round()
    results = {}
    for device in ("cpu", "python"):
        results[device] = np.zeros(n, "f4")
        with gpu.device(device):
            k[1, 32](x, results[device])
    np.testing.assert_allclose(results["cpu"], results["python"], rtol=1e-5)


def test_a_chain_of_operations_isnt_too_long_for_the_stack() -> None:
    n = 25000
    step = "    a = (a ^ i) + 1\n"
    names = {"gpu": gpu}
    exec(compile(f"def k(o):\n    i = gpu.threadIdx.x\n    a = i\n{step * n}    o[i] = a\n", "<chain>", "exec"), names)
    out = np.zeros(4, "i4")  # narrower than `a`: LLVM looks along the chain whether it could be, too
    with gpu.device("cpu"):
        gpu.jit(names["k"])[1, 4](out)
    expected = np.arange(4)
    for _ in range(n):
        expected = (expected ^ np.arange(4)) + 1
    assert out.tolist() == expected.tolist()


def test_a_list_that_takes_many_ways() -> None:
    """Where lists change, each is followed through all the joins behind it, not along every way through them."""
    ways = 40
    source = "def k(x, o):\n    i = gpu.grid(1)\n    xs = [x[i], 1.0]\n    xs.append(2.0)\n"
    for j in range(ways):
        source += f"    if x[i] > {j}:\n        if x[i + 1] > {j + 1}:\n            xs = [x[{j}], x[i]]\n"
    names = {"gpu": gpu}
    exec(compile(source + "    o[i] = sum(xs)\n", "<ways>", "exec"), names)
    x, out = np.arange(ways + 1.0)[::-1].copy(), np.zeros(ways)
    with gpu.device("cpu"):
        gpu.jit(names["k"])[1, ways](x, out)
    for i in range(ways):
        xs = [x[i], 1.0, 2.0]
        for j in range(ways):
            if x[i] > j and x[i + 1] > j + 1:
                xs = [x[j], x[i]]
        assert out[i] == sum(xs)


def compile_text(source: str) -> str:
    """The IR of its last function for an array, or the first line of why there is none."""
    names = {"gpu": gpu}
    exec(compile(source, "<text>", "exec"), names)
    try:
        return gpu.jit(names["k"]).inspect("ir", "f8[::1]")
    except gpu.CompileError as e:
        return str(e).splitlines()[0]


def test_functions_of_many_versions() -> None:
    """Each of sixteen functions calls the one before for two constants, so that the first has 65,536 versions."""
    source = "def f0(x): return x\n"
    for j in range(1, 17):
        source += f"def f{j}(x): return f{j - 1}(2 * x) + f{j - 1}(2 * x + 1)\n"
    total = sum(range(1024, 2048))
    assert f"const f64 {total}.0" in compile_text(source + "def k(o): o[0] = f10(1)\n")
    assert "ever more combinations" in compile_text(source + "def k(o): o[0] = f16(1)\n")


def test_functions_that_all_call_each_other() -> None:
    """Each has a body inside each of those that call it: a factorial of them, until that is refused."""

    def source(n: int) -> str:
        text = ""
        for j in range(n):
            calls = " + ".join(f"f{i}(n - {i + 1})" for i in range(n))
            text += f"def f{j}(n): return 1.5 if n <= 0 else {calls}\n"
        return text + "def k(o): o[0] = f0(int(o[1]) % 3)\n"

    assert "f64" in compile_text(source(4))
    refused = compile_text(source(8))
    assert "functions that call themselves are in this kernel more than 400 times" in refused


def test_a_display_of_many_items() -> None:
    """Python appends the items of a long display one by one; none of the lists in between is one of the kernel's."""
    n = 3000
    source = f"def k(o):\n    t = ({', '.join(f'o[{j}]' for j in range(n))})\n    o[0] = t[{n - 1}] + t[7]\n"
    names = {"gpu": gpu}
    exec(compile(source, "<display>", "exec"), names)
    out = np.arange(n + 0.0)
    assert seconds(lambda k: k.compile("f8[::1]"), gpu.jit(names["k"])) < 2
    with gpu.device("cpu"):
        gpu.jit(names["k"])[1, 1](out)
    assert out[0] == n - 1 + 7


def test_values_that_all_lanes_share() -> None:
    """LLVM's vectoriser would ask of each, and of each operand of each, whether they are the same for all lanes."""
    n = 27
    source = "def k(x, o):\n    i = gpu.grid(1)\n    t = (" + ", ".join(f"x[{j}]" for j in range(n)) + ")\n"
    for j in range(n):
        source += f"    if x[{j}] > {j * 3 % 20}: t = t[1:] + (x[i],)\n"
    names = {"gpu": gpu}
    exec(compile(source + "    o[i] = t[0] + t[-1]\n", "<shared>", "exec"), names)
    kernel = gpu.jit(names["k"])
    assert seconds(lambda k: k.compile("f8[::1], f8[::1]"), kernel) < 2
    x, out = np.arange(n + 0.0), np.zeros(n)
    with gpu.device("cpu"):
        kernel[1, n](x, out)
    for i in range(n):
        t = list(x)
        for j in range(n):
            if x[j] > j * 3 % 20:
                t = [*t[1:], x[i]]
        assert out[i] == t[0] + t[-1]
