"""`print` in kernels: the text is Python's, on `sys.stdout`, on every device; exceptions carry values."""

from __future__ import annotations

import collections
import dataclasses
import enum
import os
import subprocess
import sys
import threading

import gpu
import numpy as np
import pytest
from gpu import cuda

DEVICES = ["python", "cpu", "emulated"]
Point = collections.namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def shown(capsys: pytest.CaptureFixture[str], device: str, kernel: gpu.Kernel, *args: object, **launch: object) -> str:
    """What one block of some threads prints."""
    with gpu.device(device):
        kernel[launch.get("grid", 1), launch.get("block", 1)](*args)
        gpu.synchronize()
    return capsys.readouterr().out


# ---- values


@gpu.jit
def all_types(b, i1, u8, f2, f4, f8, c8, c16):
    print(b[0], i1[0], u8[0], f2[0], f4[0], f8[0], c8[0], c16[0])
    print((b[0], i1[0], f2[0], f4[0], c8[0]))


def test_typed_numbers(capsys: pytest.CaptureFixture[str], device: str) -> None:
    values = [np.array([v], t) for v, t in [(True, "?"), (-7, "i1"), (2**64 - 1, "u8"), (0.1, "f2"), (0.1, "f4")]]
    values += [np.array([v], t) for v, t in [(0.1, "f8"), (1.5 - 0.1j, "c8"), (1e300j, "c16")]]
    b, i1, u8, f2, f4, f8, c8, c16 = (v[0] for v in values)
    print(b, i1, u8, f2, f4, f8, c8, c16)
    print((b, i1, f2, f4, c8))
    expected = capsys.readouterr().out
    assert shown(capsys, device, all_types, *values) == expected


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), -0.0, 1e-45, 3.4e38, 16777216.0, 1e16])
def test_unusual_floats(capsys: pytest.CaptureFixture[str], device: str, value: float) -> None:
    @gpu.jit
    def k(x, n):
        print(x[0], n, repr(x[0]))

    x = np.array([value], "f4")
    assert shown(capsys, device, k, x, value) == f"{x[0]!s} {value} {x[0]!r}\n"


@gpu.jit
def python_values(i, f, c, flag, pair, point):
    print(i, f, c, flag, pair, point.y, None, "text", Colour.RED, sep="; ", end=".\n")
    print()
    print("a", end="")
    print("b", sep=None, end=None)


def test_python_values(capsys: pytest.CaptureFixture[str], device: str) -> None:
    args = (-3, 2.5, 1 + 2j, False, (1, (2.0, True)), Point(1, 2))
    expected = "-3; 2.5; (1+2j); False; (1, (2.0, True)); 2; None; text; Colour.RED.\n\nab\n"
    assert shown(capsys, device, python_values, *args) == expected


@dataclasses.dataclass
class Ray:
    start: float
    step: np.float32


@gpu.jit
def objects(ray, point, table):
    print(ray, point, table, Point(point.y, ray.step), sep="\n")
    print(f"{ray.start:.2f} {point!r}", {"a": point.x, "b": (ray.start,)})


def test_objects(capsys: pytest.CaptureFixture[str], device: str) -> None:
    args = Ray(1.5, np.float32(0.1)), Point(3, 4), {"key": 2.5, "other": (1, None)}
    objects.py_func(*args)
    expected = capsys.readouterr().out
    assert shown(capsys, device, objects, *args) == expected


@gpu.jit
def formats(x, n, width):
    print(f"{x[0]:.3f}|{n:>5d}|{n!r:<4}|{x[0]:{width}.1e}|{'s'!r}|{n:#x}|{x[0]=}")
    print("%5.2f %d %s" % (x[0], n, (n, x[0])), "{0:+} {name:>6}".format(n, name=x[0]), str(n) + "!")  # noqa: UP031, UP032
    print(format(x[0], ".1f"), format(n), repr(x[0]), ascii("é"))
    print("%d%%" % n)  # noqa: UP031


def test_formats(capsys: pytest.CaptureFixture[str], device: str) -> None:
    x, n, width = np.array([2.71828], "f4"), 42, 10
    formats.py_func(x, n, width)
    expected = capsys.readouterr().out
    assert shown(capsys, device, formats, x, n, width) == expected


@gpu.jit
def texts_together(x):
    print(", ".join([str(v) for v in (x[0], 2.5)]), "-".join(("a", "b")), "|".join(str(v) for v in (1, x[1])))
    print("".join([]), f"{x[0]}".join(["a", "b"]), ".".join("abc"))
    print(f"{x[0]} {x[1]} {x[0]} {x[1]} {x[0]} {x[1]} {x[0]} {x[1]} {x[0]} {x[1]} {x[0]} {x[1]} {x[0]} {x[1]} {x[0]}!")


def test_texts_together(capsys: pytest.CaptureFixture[str], device: str) -> None:
    assert shown(capsys, device, texts_together, np.array([7, 8])) == (
        "7, 2.5 a-b 1|8\n a7b a.b.c\n7 8 7 8 7 8 7 8 7 8 7 8 7 8 7!\n"
    )


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_small_arrays(capsys: pytest.CaptureFixture[str], device: str) -> None:
    @gpu.jit
    def k():
        a = gpu.local.array((2, 2), np.float32)
        for i in range(2):
            for j in range(2):
                a[i, j] = np.float32(i) - np.float32(j) / 2
        print(a, f"{a[0]}")

    array = np.array([[0, -0.5], [1, 0.5]], "f4")
    assert shown(capsys, device, k) == f"{array} {array[0]}\n"


def test_text_meets_at_a_branch(capsys: pytest.CaptureFixture[str], device: str) -> None:
    @gpu.jit
    def k(x):
        i = gpu.grid(1)
        text = f"<{x[i]}>"
        if i > 0:
            text = f"<{-x[i]}>"
        print(text)

    assert shown(capsys, device, k, np.array([1.5, 2.5]), block=2) == "<1.5>\n<-2.5>\n"


@gpu.jit
def chooses(x):
    i = gpu.grid(1)
    sign = "negative" if x[i] < 0 else "zero" if x[i] == 0 else "positive"
    size = "small"
    for _ in range(i):
        size = "large"
    if sign == "positive" and size != "small":
        sign = "+"
    print(i, sign, f"{size:>6}|", (sign, size), sign == "other")
    if sign == "zero":
        assert i != 1, sign + " " + size


def test_one_of_several_strings(capsys: pytest.CaptureFixture[str], device: str) -> None:
    assert shown(capsys, device, chooses, np.array([-1.5, 5, 0]), block=3) == (
        "0 negative  small| ('negative', 'small') False\n"
        "1 +  large| ('+', 'large') False\n"
        "2 zero  large| ('zero', 'large') False\n"
    )
    with pytest.raises(AssertionError, match="zero large"):
        shown(capsys, device, chooses, np.array([1.0, 0, 1]), block=3)


# ---- order


@gpu.jit
def numbered():
    print(gpu.blockIdx.x, gpu.threadIdx.x)


def test_blocks_in_order(capsys: pytest.CaptureFixture[str], device: str) -> None:
    expected = "".join(f"{b} {t}\n" for b in range(40) for t in range(3))
    assert shown(capsys, device, numbered, grid=40, block=3) == expected


@gpu.jit
def in_turns():
    t = gpu.threadIdx.x
    print("before", t)
    gpu.syncthreads()
    print("after", t)


def test_barriers_order(capsys: pytest.CaptureFixture[str], device: str) -> None:
    lines = shown(capsys, device, in_turns, block=4).splitlines()
    assert lines == [f"{word} {t}" for word in ("before", "after") for t in range(4)]


def test_what_was_printed_before_an_exception(capsys: pytest.CaptureFixture[str], device: str) -> None:
    @gpu.jit
    def k():
        print("here")
        if gpu.threadIdx.x == 0:
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        shown(capsys, device, k)
    assert capsys.readouterr().out == "here\n"


def test_device_arrays_print_at_the_next_wait(capsys: pytest.CaptureFixture[str]) -> None:
    @gpu.jit
    def k(x, name):
        print(name, x[0])

    with gpu.device("emulated"):
        x = gpu.array(np.array([1.5, 2.5]))
        k[1, 1](x, 1)
        k[1, 1](x, 2)
        assert capsys.readouterr().out == ""
        x.copy_to_host()
        assert capsys.readouterr().out == "1 1.5\n2 1.5\n"
        stream = gpu.Stream()
        k[1, 1, stream](x, 3)
        stream.synchronize()
        assert capsys.readouterr().out == "3 1.5\n"
        del k
        gpu.synchronize()
    assert capsys.readouterr().out == ""


def test_a_kernel_that_is_gone_before_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with gpu.device("emulated"):
        for n in range(3):
            gpu.jit(lambda: print("gone"))[1, n + 1]()
        gpu.synchronize()
    assert capsys.readouterr().out == "gone\n" * 6


# ---- how much, and from where


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


MANY = """
import gpu
@gpu.jit
def k():
    print(gpu.grid(1))
for _ in range(2):
    k[8, 32]()
    gpu.synchronize()
"""


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_lost_prints_are_counted(device: str) -> None:
    lines = run(MANY, GPU_DEVICE=device, GPU_PRINT_BUFFER="4K").splitlines()
    half = lines[: len(lines) // 2]
    assert lines[len(half) :] == half or device == "cpu"
    count = len(half) - 1
    assert 0 < count < 200 and half[-1].startswith(f"... {256 - count} more prints lost: the buffer of ")
    assert all(0 <= int(line) < 256 for line in half[:-1])


@pytest.mark.parametrize("device", DEVICES)
def test_prefix(device: str) -> None:
    code = "import gpu\n@gpu.jit\ndef k():\n    print('x')\nk[(1, 2), 2]()\ngpu.synchronize()"
    lines = run(code, GPU_DEVICE=device, GPU_PRINT_PREFIX="1").splitlines()
    assert lines == [f"[block (0, {b}, 0) thread ({t}, 0, 0)] x" for b in range(2) for t in range(2)]


def test_shown_at_the_end_of_the_process() -> None:
    assert run("import gpu\n@gpu.jit\ndef k():\n    print('x')\nk[1, 2]()", GPU_DEVICE="emulated") == "x\nx\n"


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_functions_called_from_python_print(capsys: pytest.CaptureFixture[str], device: str) -> None:
    @gpu.jit(device=True)
    def f(x):
        print("f of", x)
        return x + 1

    with gpu.device(device):
        assert f(2) == 3
    assert capsys.readouterr().out == "f of 2\n"


# ---- Numba's dialect


@cuda.jit
def of_numba(x, pair):
    print(cuda.threadIdx, cuda.grid(1), x[0], x[0] > 1, 34.75, True)
    print(pair, f"{x[0]:.10f}", (x[0], 1))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_numba_dialect(capsys: pytest.CaptureFixture[str], device: str) -> None:
    expected = "(0, 0, 0) 0 0.1 False 34.75 True\n(1, ((2, 4), 3.0), (4,)) 0.1000000015 (0.1, 1)\n"
    assert shown(capsys, device, of_numba, np.array([0.1], "f4"), (1, ((2, 4), 3.0), (4,))) == expected


# ---- exceptions


class Refused(Exception):
    def __init__(self, index: int, value: float) -> None:
        super().__init__(f"{value} at {index}")
        self.index, self.value = index, value


@gpu.jit
def raises(x, how):
    i = gpu.grid(1)
    if x[i] < 0:
        if how == 0:
            raise ValueError(f"bad {x[i]:.2f} at {i}")
        elif how == 1:
            raise ValueError("bad", i, x[i], (i, None))
        elif how == 2:
            raise Refused(i, x[i])
        raise AssertionError(i)


def caught(device: str, how: int) -> BaseException:
    with gpu.device(device), pytest.raises(Exception) as error:
        raises[2, 2](np.array([1, 2, -3.5, 4], "f4"), how)
        gpu.synchronize()
    assert error.value.block == (1, 0, 0) and error.value.thread == (0, 0, 0)
    return error.value


def test_exceptions_carry_values(device: str) -> None:
    error = caught(device, 0)
    assert type(error) is ValueError and str(error).startswith("bad -3.50 at 2 [")
    error = caught(device, 1)
    assert error.args == ("bad", 2, -3.5, (2, None)) and type(error.args[2]) is np.float32
    assert error.__notes__[0].endswith("block (1, 0, 0), thread (0, 0, 0)]")
    error = caught(device, 2)
    assert type(error) is Refused and (error.index, error.value) == (2, -3.5)
    error = caught(device, 3)
    assert type(error) is AssertionError and error.args == (2,)


def test_what_was_printed_before_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    @gpu.jit
    def k(x):
        print("before", x[0])
        x[1_000_000] = 1

    with gpu.device("emulated"), pytest.raises(gpu.DeviceFault):
        k[1, 1](gpu.array(np.ones(4)))
        gpu.synchronize()
    assert capsys.readouterr().out == "before 1.0\n"


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_threads_of_python(capsys: pytest.CaptureFixture[str], device: str) -> None:
    def work(number: int) -> None:
        with gpu.device(device):
            for n in range(20):
                numbered[2, 2]()
                if n % 7 == number:
                    gpu.synchronize()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with gpu.device(device):
        gpu.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(["0 0", "0 1", "1 0", "1 1"] * 60)


@gpu.jit
def dates_and_lists(t, d, x):
    print(t[0], t[1], d[0], (d[1], t[0] - t[0]), f"{t[0]} {d[0]}", np.timedelta64(3, "s"))
    xs = [1, x[0], (2, 3)]
    print(xs, [], (1, 2), f"{xs}", sep="; ")
    xs[0] = 5
    print(xs, len(xs))


def test_dates_and_lists(capsys: pytest.CaptureFixture[str], device: str) -> None:
    t, d = np.array(["2024-02-28", "NaT"], "datetime64[D]"), np.array([3, -2], "timedelta64[h]")
    print(t[0], t[1], d[0], (d[1], t[0] - t[0]), f"{t[0]} {d[0]}", np.timedelta64(3, "s"))
    xs = [1, np.float64(0.5), (2, 3)]
    print(xs, [], (1, 2), f"{xs}", sep="; ")
    print([5, np.float64(0.5), (2, 3)], 3)
    expected = capsys.readouterr().out
    assert shown(capsys, device, dates_and_lists, t, d, np.array([0.5])) == expected


@gpu.jit
def lists_of_constants(out):
    print([1, 2.5], f"{[1, 2]}", [k * 2 for k in range(3)], (1,))
    out[0] = 1


def test_lists_that_do_not_change(capsys: pytest.CaptureFixture[str], device: str) -> None:
    assert shown(capsys, device, lists_of_constants, np.zeros(1)) == "[1, 2.5] [1, 2] [0, 2, 4] (1,)\n"
