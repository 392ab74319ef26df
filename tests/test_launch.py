"""Launches: configurations, arguments, what is refused and how it reads; threads, forks."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import warnings
from typing import Any

import gpu
import numpy as np
import pytest


@gpu.jit
def fill(out, value=7.0):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = value


@gpu.jit
def count(out):
    x, y, z = gpu.grid(3)
    w, h, _ = gpu.gridsize(3)
    out[x + w * (y + h * z)] = 1


@pytest.mark.parametrize(
    ("grid", "block"),
    [(2, 3), ((2,), (3,)), ((2, 1), (3, 2)), ((1, 2, 3), (2, 2, 2)), (np.int32(2), np.int64(3)), ([2, 1], [3, 1])],
)
def test_configurations(grid: Any, block: Any) -> None:
    total = int(np.prod(grid)) * int(np.prod(block))
    out = np.zeros(total, "i4")
    count[grid, block](out)
    assert out.sum() == total


def test_keywords_and_defaults() -> None:
    out = np.zeros(4)
    fill[1, 4](out)
    assert out.tolist() == [7] * 4
    fill[1, 4](out, 2)
    assert out.tolist() == [2] * 4
    fill[1, 4](value=3.5, out=out)
    assert out.tolist() == [3.5] * 4


def test_zero_blocks_is_a_no_op() -> None:
    out = np.zeros(4)
    fill[0, 4](out)
    assert out.tolist() == [0] * 4


def test_forall_and_auto() -> None:
    out = np.zeros(1000)
    fill.forall(out.size)(out, 1.0)
    assert (out == 1).all()
    fill[gpu.auto](out, 2.0)
    assert (out == 2).all()


def rows_first(out, x):
    i, j = gpu.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] += x[i, j]


def columns_first(out, x):
    j, i = gpu.grid(2)
    height, width = x.shape
    if i >= height or j >= width:
        return
    out[i, j] += x[i, j]


def inner(out, x):
    j, i = gpu.grid(2)
    edge = i in (0, out.shape[0] - 1) or j in (0, out.shape[1] - 1)
    if i - 1 < out.shape[0] - 1 and j + 1 < out.shape[1] + 1:
        out[i, j] += x[i, j] if edge else 1


def transposed(out, x):
    j, i = gpu.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out.T[i, j] += x[i, j]


@pytest.mark.parametrize("shape", [(100, 7), (5, 1000), (40, 40)])
@pytest.mark.parametrize("function", [rows_first, columns_first, inner, transposed], ids=lambda f: f.__name__)
def test_auto_covers_an_array_in_either_order_of_its_axes(function, shape: tuple[int, int], gpu_device: str) -> None:
    x, out = np.ones(shape), np.zeros(shape[::-1] if function is transposed else shape)
    gpu.jit(function)[gpu.auto](out, x)
    assert (out == 1).all()


def test_auto_warns_of_a_loop_that_every_thread_does(gpu_device: str) -> None:
    @gpu.jit
    def loop(x):
        for i in range(len(x)):
            x[i] = 1

    x = np.zeros(100)
    with pytest.warns(RuntimeWarning, match=r"never asks for its thread's index.*loop\[1, 1\]"):
        loop[gpu.auto](x)
    assert (x == 1).all()


def test_auto_warns_of_threads_beyond_the_end() -> None:
    def unguarded(x):
        x[gpu.grid(1)] = 1

    def guarded(x):
        i = gpu.grid(1)
        if i < x.size:
            x[i] = 1

    def wrapped(x):
        x[gpu.grid(1) % x.size] = 1

    whole, part = np.zeros(128), np.zeros(1000)[:100]  # what is behind the part is there, too
    with gpu.device("cpu"), warnings.catch_warnings():
        warnings.simplefilter("error")
        gpu.jit(unguarded)[gpu.auto](whole)
        gpu.jit(guarded)[gpu.auto](part)
        gpu.jit(wrapped)[gpu.auto](part)
    assert whole.all() and part.all()
    said = r"128 threads run along x, the array has 100 elements.*if i < len"
    with gpu.device("cpu"), pytest.warns(RuntimeWarning, match=said):
        gpu.jit(unguarded)[gpu.auto](part)


def test_auto_covers_the_last_axes_of_three(gpu_device: str) -> None:
    @gpu.jit
    def k(x):
        j, i = gpu.grid(2)
        if i < x.shape[1] and j < x.shape[2]:
            for channel in range(x.shape[0]):
                x[channel, i, j] += 1

    x = np.zeros((3, 40, 50))
    k[gpu.auto](x)
    assert (x == 1).all()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ((1, 2048), "1024"),
        ((1, 0), "block"),
        ((-1, 32), "grid"),
        ((1.5, 32), "integers, .* // is the division"),
        ((np.zeros(3), 32), "integers, .* class numpy.ndarray"),
        ((1, (1, 2, 3, 4)), "three"),
        ((2**40, 32), "grid"),
        (("a", 32), "integer"),
    ],
)
def test_bad_configuration(config: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        fill[config](np.zeros(4))


@pytest.mark.parametrize(
    ("option", "words"),
    [("parallel", "@gpu.parallel"), ("nopython", "always compiled"), ("fastmat", "did you mean 'fastmath'")],
)
def test_options_that_jit_does_not_have(option: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        gpu.jit(**{option: True})


def test_no_configuration() -> None:
    with pytest.raises(TypeError, match="grid, block"):
        fill(np.zeros(4))


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "out"),
        ((np.zeros(3), 1, 2), {}, "2"),
        ((np.zeros(3),), {"valu": 1}, "valu"),
        ((np.zeros(3), 1), {"value": 1}, "value"),
        (("text", 1), {}, "out"),
        ((object(),), {}, "out"),
        ((np.zeros(3), {}), {}, "value"),
        ((np.array(["a", "b"]),), {}, "out"),
        ((np.array([object()]),), {}, "out"),
        ((np.zeros(3, ">f4"),), {}, "out"),
    ],
)
def test_bad_arguments(args: tuple, kwargs: dict, words: str) -> None:
    with pytest.raises((TypeError, gpu.CompileError), match=words):
        fill[1, 4](*args, **kwargs)


class Series:
    """Makes an array of itself, as a column of a table does: a kernel would write a copy."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros(3)


class Settings:
    def __init__(self, *steps: Any) -> None:
        self.steps = steps


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (Series(), r"parameter 'value' takes .* this is a Series; numpy.asarray\(...\) makes"),
        ({"a": Settings(1, [2])}, r"parameter 'value\[\"a\"\].steps\[1\]' takes .* this is a list"),
        (((1, {2: 3}), 4), r"parameter 'value\[0\]\[1\]' takes .* keys of a dict must be strings"),
        (Settings(np.zeros(3, ">f4")), r"parameter 'value.steps\[0\]': the array has the other byte order"),
        (Settings(2**70), r"parameter 'value.steps\[0\]': 1180591620717411303424 doesn't fit"),
    ],
)
def test_a_part_that_no_kernel_takes_is_named(argument: Any, words: str) -> None:
    with gpu.device("cpu"), pytest.raises((TypeError, OverflowError), match=words):
        fill[1, 1](np.zeros(3), argument)


def test_typed_scalars_specialise() -> None:
    out = np.zeros(1)
    for value in (np.int8(-1), np.uint8(255), np.float32(0.1), np.uint64(2**63), True, 2**40, -1.5, np.bool_(True)):
        fill[1, 1](out, value)
        assert out[0] == float(value), repr(value)


def test_arrays_are_used_in_place() -> None:
    base = np.zeros((4, 6))
    fill[1, 8](base[1, ::2], 5.0)
    assert base[1].tolist() == [5, 0, 5, 0, 5, 0] and base.sum() == 15


def test_read_only_array_is_not_written() -> None:
    out = np.zeros(4)
    out.flags.writeable = False
    with pytest.raises(gpu.CompileError, match="read-only"):
        fill[1, 4](out)
    assert out.sum() == 0


def test_function_without_a_source_file() -> None:
    scope: dict[str, Any] = {"gpu": gpu}
    exec("def k(out):\n    out[0] = 3\n", scope)
    out = np.zeros(1)
    gpu.jit(scope["k"])[1, 1](out)
    assert out[0] == 3
    exec("def bad(out):\n    out[0] = nowhere\n", scope)
    with pytest.raises(gpu.CompileError, match="nowhere"):
        gpu.jit(scope["bad"])[1, 1](out)


def test_constants_that_change_with_every_launch() -> None:
    @gpu.jit
    def k(out, mode):
        out[0] = 1 if mode == "last" else 2

    out = np.zeros(1)
    k[1, 1](out, "first")
    with pytest.raises(ValueError, match=r"k\(\) was given 1000 different .* The latest is 'mode 9\d\d'"):
        for n in range(2000):
            k[0, 1](out, f"mode {n}")
    k[1, 1](out, "first")
    assert out[0] == 2
    with pytest.raises(TypeError, match="this is a list"):
        k[1, 1](out, [])


def test_a_name_that_is_not_utf8() -> None:
    def k(a):
        b = a  # noqa: F841

    k.__name__ = "bad\udc80"
    kernel = gpu.jit(k)
    with pytest.raises(gpu.LaunchError, match=r"of bad\\udc80 is an array"):
        kernel[gpu.auto](1)
    with pytest.raises(TypeError, match=r"bad\\udc80"):
        kernel[1, 1]()
    kernel[1, 1](np.zeros(1))


def test_device_function_called_from_python() -> None:
    @gpu.jit(device=True)
    def hypot2(x, y):
        return x * x + y * y, x - y

    total, difference = hypot2(np.float32(1.5), np.float32(2))
    assert type(total) is np.float32 and total == 6.25
    assert type(difference) is np.float32 and difference == -0.5
    assert hypot2(3, 4) == (25, -1)


def test_many_threads_compile_and_launch() -> None:
    @gpu.jit
    def scaled(x, factor):
        i = gpu.grid(1)
        if i < x.size:
            x[i] = x[i] * factor

    faults = []

    def work(n: int) -> None:
        for dtype in ("f4", "f8", "i4", "i8"):
            x = np.ones(100, dtype)
            for _ in range(50):
                scaled[1, 128](x, 1)
            scaled[1, 128](x, n)
            if not (x == n).all():
                faults.append((n, dtype))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def run_script(text: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=timeout, check=False
    )


def test_fork_after_use() -> None:
    done = run_script("""
        import os, numpy as np, gpu
        @gpu.jit
        def fill(out):
            i = gpu.grid(1)
            if i < out.size:
                out[i] = i
        out = np.zeros(200_000)
        fill[800, 256](out)
        child = os.fork()
        again = np.zeros(200_000)
        fill[800, 256](again)
        assert (out == again).all()
        if child:
            _, status = os.waitpid(child, 0)
            assert status == 0, status
            print("both")
    """)
    assert done.stdout.strip() == "both", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_threads_sleep_between_launches_and_a_child_has_its_own() -> None:
    done = run_script("""
        import os, time, numpy as np, gpu
        from gpu import _core
        @gpu.jit
        def fill(out):
            i = gpu.grid(1)
            if i < out.size:
                out[i] = i ** 0.5
        def threads():
            return len(os.listdir("/proc/self/task"))
        def seconds_of_rest():
            time.sleep(0.05)
            before = time.process_time()
            time.sleep(0.3)
            return time.process_time() - before
        _core.set_num_threads(3)
        def run():
            with gpu.device("cpu"):
                out, launch = np.zeros(200_000), fill[800, 256]
                for _ in range(300):
                    launch(out)
        run()
        child = os.fork()
        alone = threads()
        run()
        assert child or (alone == 1 and threads() > 3), threads()
        assert seconds_of_rest() < 0.1
        if child:
            _, status = os.waitpid(child, 0)
            assert status == 0, status
            print("both")
    """)
    assert done.stdout.strip() == "both", done.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_other_threads_compile() -> None:
    """What a thread has locked in LLVM is free in the child."""
    done = run_script("""
        import os, signal, threading, numpy as np, gpu
        def fresh(number):
            def k(out, n):
                for i in range(n):
                    out[0] += i * number
            return gpu.jit(k)
        stop = []
        def compile_on():
            out, n = np.zeros(1), 0
            while not stop:
                fresh(n)[1, 1](out, 3)
                n += 1
        threads = [threading.Thread(target=compile_on) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                out = np.zeros(1)
                fresh(2)[1, 1](out, 3)
                os._exit(0 if out[0] == 6 else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop.append(1)
        for t in threads:
            t.join()
        print("well")
    """)
    assert done.stdout == "well\n", done.stderr


def test_launches_leak_nothing() -> None:
    done = run_script("""
        import resource, numpy as np, gpu
        @gpu.jit
        def fill(out, v):
            out[0] = v
        out = np.zeros(4)
        launch = fill[1, 1]
        for n in range(2000):
            launch(out, n)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for n in range(100_000):
            launch(out, 1.5)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)
    assert int(done.stdout) < 2000, done.stderr  # KiB


def test_a_remainder_of_nan_that_a_loop_made() -> None:
    """LLVM 22 takes fmod(x, y) for never NaN when x can't be infinite."""

    @gpu.jit
    def k(a, out):
        i = gpu.grid(1)
        v = a[i]
        for j in range(4):
            v *= j
        out[i] = v % 7

    a = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    out = np.zeros_like(a)
    k[1, 4](a, out)
    assert np.isnan(out[:3]).all()
    assert out[3] == 0


@pytest.mark.parametrize("shape", ["x", 2.5, None, (2, "a"), [2, [3]]])
def test_shapes_that_are_none_of_integers(shape: Any) -> None:
    with gpu.device("cpu"):
        with pytest.raises(TypeError, match="a shape is an integer or a tuple of integers"):
            gpu.zeros(shape)
        with pytest.raises(TypeError, match="a shape is an integer or a tuple of integers"):
            gpu.zeros(4).reshape((shape,))


def test_launch_bounds_in_ptx() -> None:
    kernel = gpu.jit("void(float32[:])", launch_bounds=(128, 2, 4))(lambda x: None)
    for arch, cluster in (("sm_90", True), ("sm_80", False)):  # older GPUs have no clusters
        ptx = kernel.inspect("ptx", arch=arch)
        assert ".maxntid 128" in ptx and ".minnctapersm 2" in ptx
        assert (".maxclusterrank 4" in ptx) == cluster


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_launches_that_a_device_cannot_take(device: str) -> None:
    """They are errors of a launch, and of the driver, on every device; launch bounds are kept on each."""
    bounded, plain = gpu.jit(launch_bounds=128)(lambda x: None), gpu.jit(lambda x: None)
    with gpu.device(device):
        bounded[1, 128](np.zeros(1))
        for kernel, block in ((bounded, 256), (plain, 1025)):
            for error in (gpu.LaunchError, gpu.DriverError):
                with pytest.raises(error, match="CUDA_ERROR_INVALID_VALUE"):
                    kernel[1, block](np.zeros(1))
