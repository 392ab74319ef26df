"""datetime64, timedelta64 and strings of a fixed size in kernels: what NumPy gives, on all devices, both dialects."""

from __future__ import annotations

import operator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

DEVICES = ["python", "cpu", "emulated"]
JITS = [gpu.jit, cuda.jit]
DAY, NAT = np.timedelta64(1, "D"), np.datetime64("NaT")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Any:
    with gpu.device(request.param):
        yield request.param


def same(got: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(got.view(np.int64), expected.view(np.int64))


OPERATORS = {
    "date - date": (lambda a, b: a - b, "M8[D]", "M8[D]", "m8[D]"),
    "date - date of a finer unit": (lambda a, b: a - b, "M8[D]", "M8[s]", "m8[s]"),
    "date + delta": (lambda a, b: a + b, "M8[D]", "m8[D]", "M8[D]"),
    "delta + date": (lambda a, b: b + a, "M8[ns]", "m8[h]", "M8[ns]"),
    "delta - delta": (lambda a, b: a - b, "m8[Y]", "m8[M]", "m8[M]"),
    "delta * integer": (lambda a, b: a * b, "m8[D]", "i8", "m8[D]"),
    "float * delta": (lambda a, b: b * a, "m8[s]", "f8", "m8[s]"),
    "delta / float": (lambda a, b: a / b, "m8[s]", "f8", "m8[s]"),
    "delta / integer": (lambda a, b: a / b, "m8[D]", "i8", "m8[D]"),
    "delta // integer": (lambda a, b: a // b, "m8[D]", "i8", "m8[D]"),
    "delta / delta": (lambda a, b: a / b, "m8[D]", "m8[h]", "f8"),
    "delta // delta": (lambda a, b: a // b, "m8[D]", "m8[h]", "i8"),
    "delta % delta": (lambda a, b: a % b, "m8[D]", "m8[h]", "m8[h]"),
    "date + integer": (lambda a, b: a + b, "M8[D]", "i8", "M8[D]"),
    "-delta": (lambda a, b: -a, "m8[D]", "i8", "m8[D]"),
    "abs(delta)": (lambda a, b: abs(a), "m8[D]", "i8", "m8[D]"),
    "np.abs(delta)": (lambda a, b: np.abs(a), "m8[s]", "i8", "m8[s]"),
    "date < date": (lambda a, b: a < b, "M8[D]", "M8[s]", "?"),
    "date >= date": (lambda a, b: a >= b, "M8[M]", "M8[Y]", "?"),
    "date == date": (lambda a, b: a == b, "M8[D]", "M8[D]", "?"),
    "date != date": (lambda a, b: a != b, "M8[D]", "M8[D]", "?"),
    "delta > delta": (lambda a, b: a > b, "m8[us]", "m8[D]", "?"),
    "isnat": (lambda a, b: np.isnat(a), "M8[D]", "i8", "?"),
}
VALUES = [-(2**63), 0, 1, -7, 12345, 86400 * 20, -3, 12345]  # NumPy refuses what overflows in the finer unit


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("jit", JITS)
def test_operators(name: str, jit: Any, device: str) -> None:
    function, *types = OPERATORS[name]

    @jit
    def kernel(a, b, out):
        i = gpu.grid(1)
        if i < out.size:
            out[i] = function(a[i], b[i])

    pairs = [(x, y) for x in VALUES for y in VALUES[1 if types[1][0] in "if" else 0 :]]
    a, b = (
        np.array([p[k] for p in pairs]).astype(t if t[0] in "if" else "i8").view(t) for k, t in enumerate(types[:2])
    )
    out = np.zeros(len(pairs), types[2])
    with np.errstate(all="ignore"):
        expected = function(a, b).astype(types[2])
        kernel[2, 32](a, b, out)
    np.testing.assert_array_equal(out, expected)
    assert out.dtype == expected.dtype


@pytest.mark.parametrize("jit", JITS)
def test_scalars_constants_fields(jit: Any, device: str) -> None:
    start = np.datetime64("2024-02-28")
    event = np.dtype([("when", "M8[s]"), ("lasts", "m8[m]"), ("count", "i4")])

    @jit
    def kernel(dates, since, step, events):
        i = gpu.grid(1)
        if i < dates.size:
            last = dates[i] if dates[i] > since else since
            last += step * i
            if last == np.datetime64("2024-03-01"):
                last = np.datetime64("NaT")
            dates[i] = last
            events[i].when = last
            events[i]["lasts"] = last - start
            events[i].count = (last - start) // np.timedelta64(i + 1, "D")

    dates = np.arange("2024-02-25", "2024-03-03", dtype="M8[D]")
    events = np.zeros(dates.size, event)
    expected, records = dates.copy(), events.copy()
    for i in range(dates.size):
        last = max(dates[i], start + DAY) + DAY * i
        last = NAT if last == np.datetime64("2024-03-01") else last
        expected[i] = last
        records[i] = (last, last - start, 0 if np.isnat(last) else (last - start) // np.timedelta64(i + 1, "D"))
    kernel[1, 32](dates, start + DAY, DAY, events)
    same(dates, expected)
    for each in (events, records):
        each["lasts"][np.isnat(each["when"])] = 0  # what NumPy 2.2 makes of a NaT in days
    assert events.tobytes() == records.tobytes()


def test_device_arrays_and_units(device: str) -> None:
    @cuda.jit
    def kernel(when, seconds, ticks):
        i = cuda.grid(1)
        if i < when.size:
            seconds[i] = when[i] + np.timedelta64(1500, "ms") * 2
            ticks[i] = (when[i] - np.datetime64("2020-01-01T00:00:00", "s")).astype(np.int64)

    when = np.array(["2020-01-01T00:00:01", "1969-12-31T23:59:59"], "M8[s]")
    seconds, ticks = cuda.to_device(np.zeros(2, "M8[D]")), np.zeros(2, np.int64)
    kernel[1, 2](cuda.to_device(when), seconds, ticks)
    same(seconds.copy_to_host(), (when + np.timedelta64(3, "s")).astype("M8[D]"))
    assert ticks.tolist() == [1, -1577836801]
    assert cuda.to_device(when).view(np.int64).copy_to_host().tolist() == when.view(np.int64).tolist()


@pytest.mark.parametrize("jit", JITS)
@pytest.mark.parametrize("kind", ["S5", "U5"])
def test_strings(kind: str, jit: Any, device: str) -> None:
    short = np.dtype(kind[0] + "3")
    entry = np.dtype([("id", "i1"), ("name", kind)])
    one, many = (b"abc", b"abcdefg") if kind[0] == "S" else ("äbc", "äbcdefg")

    @jit
    def kernel(x, y, entries, found):
        i = gpu.grid(1)
        if i < x.size:
            found[i, 0] = x[i] == one
            found[i, 1] = x[i] < y[i]
            found[i, 2] = x[i] >= y[i]
            found[i, 3] = entries[i]["name"] != x[i]
            found[i, 4] = len(x[i]) == 2
            entries[i]["name"] = many
            if i == 1:
                x[i] = y[i]
            elif i == 2:
                x[i] = one

    x = np.array([one, "zz", "zzzzz", "a", ""], kind)
    y = np.array(["ab", "zz", "zza", "b", "a"], short)
    entries = np.zeros(5, entry)
    entries["name"] = [one, "", "zzzzz", "ab", ""]
    found = np.zeros((5, 5), bool)
    expected = np.stack([x == x[0], x < y, x >= y, entries["name"] != x, [False, True, False, False, False]], 1)
    stored = x.copy()
    stored[1], stored[2] = y[1], one
    kernel[1, 8](x, y, entries, found)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(x, stored)
    assert set(entries["name"]) == {np.array(many, kind)[()]} and not entries["id"].any()


def test_years_are_no_days() -> None:
    @gpu.jit
    def kernel(a, b, out):
        out[0] = a[0] - b[0]

    with gpu.device("cpu"), pytest.raises(gpu.TypingError, match="no fixed number of days"):
        kernel[1, 1](np.zeros(1, "M8[Y]"), np.zeros(1, "M8[s]"), np.zeros(1, "m8[s]"))
    with pytest.raises(TypeError, match="single units"):
        kernel[1, 1](np.zeros(1, "M8[25s]"), np.zeros(1, "M8[s]"), np.zeros(1, "m8[s]"))


def test_strings_of_other_kinds_are_refused() -> None:
    @gpu.jit
    def kernel(x):
        x[0] = b"bytes"

    with gpu.device("cpu"), pytest.raises(gpu.TypingError, match=r"bytes go to a byte string"):
        kernel[1, 1](np.zeros(1, "U5"))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_operators_of_device_arrays(device: str) -> None:
    days = np.array(["2020-01-05", "2021-01-01", "NaT"], "M8[D]")
    with gpu.device(device):
        x = gpu.array(days)
        same((x - gpu.array(days[::-1].copy())).copy_to_host(), days - days[::-1])
        same((x + DAY).copy_to_host(), days + DAY)
        assert (x > days[0]).copy_to_host().tolist() == [False, True, False]
        assert (x == x).copy_to_host().tolist() == [True, True, False]
        with pytest.raises(TypeError, match="int64"):
            x.max()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("kind", ["S", "U"])
def test_strings_of_device_arrays(device: str, kind: str) -> None:
    @gpu.vectorize
    def longer(x, n):
        return len(x) > n

    a, b = np.array(["ab", "abc", "x"], kind + "3"), np.array(["ab", "ab", "xyz"], kind + "5")
    with gpu.device(device):
        x, y = gpu.array(a), gpu.array(b)
        for compare in (operator.eq, operator.ne, operator.lt, operator.ge):
            np.testing.assert_array_equal(compare(x, y).copy_to_host(), compare(a, b))
            np.testing.assert_array_equal(compare(x, b[0]).copy_to_host(), compare(a, b[0]))
        assert (x == ("abc" if kind == "U" else b"abc")).copy_to_host().tolist() == [False, True, False]
        assert longer(x, gpu.array([1, 3, 1])).copy_to_host().tolist() == [True, False, False]
        np.testing.assert_array_equal(x.astype(b.dtype).copy_to_host(), a.astype(b.dtype))
        for wrong in (lambda: x + y, lambda: np.where(x == y, x, y), x.max):
            with pytest.raises(TypeError, match=r"copy_to_host\(\)"):
                wrong()


@pytest.mark.parametrize("jit", JITS)
def test_slices_and_extremes(jit: Any, device: str) -> None:
    @jit
    def kernel(x, out):
        out[:] = max(x[0], x[1], x[2])
        out[0] = min(x[0], x[1])

    x, out = np.array(["2020-02-01", "2019-01-01", "2021-01-01"], "M8[D]"), np.zeros(3, "M8[D]")
    kernel[1, 1](x, out)
    same(out, np.array(["2019-01-01", "2021-01-01", "2021-01-01"], "M8[D]"))
