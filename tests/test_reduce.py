"""`gpu.reduce`, `gpu.scan` and `gpu.transform_reduce` against NumPy, on every device; to the bit the same on all."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import _operations, _reduce

DEVICES = ["cpu", "emulated", "python"]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def values(n: int, dtype: str) -> Any:
    return (np.random.default_rng(n).random(n) * 20 - (0 if dtype[0] in "u?" else 10)).astype(dtype)


REFERENCE = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "all": np.logical_and,
    "any": np.logical_or,
}
TYPES = ["?", "i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("op", REFERENCE)
@pytest.mark.parametrize("dtype", TYPES)
def test_operations(op: str, dtype: str, device: str) -> None:
    if (op in ("and", "or", "xor") and dtype[0] in "fc") or (op in ("min", "max") and dtype[0] == "c"):
        pytest.skip("not defined")
    x = values(70 if op != "mul" else 9, dtype)
    expected = REFERENCE[op].reduce(x)
    found = gpu.reduce(op, x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype == "f2" else 1e-5)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 2047, 2048, 2049, 5000])
def test_sizes(n: int, device: str) -> None:
    if device == "python" and n > 100:
        pytest.skip("slow there")
    x = np.random.default_rng(n).integers(-100, 100, n).astype(np.int32)
    assert gpu.reduce("add", x) == x.sum()
    assert gpu.reduce(lambda a, b: b, x) == x[-1]  # order is kept
    assert gpu.reduce(lambda a, b: a, x) == x[0]
    np.testing.assert_array_equal(gpu.scan("add", x), np.cumsum(x))
    np.testing.assert_array_equal(gpu.scan("add", x, exclusive=True), np.cumsum(x) - x)
    np.testing.assert_array_equal(gpu.scan("max", x, init=5), np.maximum(np.maximum.accumulate(x), 5))
    np.testing.assert_array_equal(gpu.scan(lambda a, b: b, x, exclusive=True, init=9), [9, *x[:-1]])
    np.testing.assert_array_equal(gpu.scan(lambda a, b: a, x), np.full(n, x[0]))


def test_the_same_on_all_devices() -> None:
    """A sum of floats isn't rounded differently on another device."""
    for shape, axis in (((5000,), None), ((40, 70), 0), ((40, 70), 1), ((3, 40, 9), (0, 2))):
        x = np.random.default_rng(1).random(shape, np.float32)
        bits = set()
        for name in DEVICES[:2] if len(shape) == 1 else DEVICES:
            with gpu.device(name):
                bits.add((gpu.reduce("add", x, axis).tobytes(), gpu.scan("add", x[..., :300]).tobytes()))
        assert len(bits) == 1


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_axes(axis: Any, device: str) -> None:
    base = np.random.default_rng(2).random((34, 3, 35))
    for x in (base, base.T, base[::-1, :, ::2], np.broadcast_to(base[:, :1], base.shape)):
        np.testing.assert_allclose(gpu.reduce("add", x, axis), x.sum(axis))
        if device == "python":
            break
        np.testing.assert_array_equal(gpu.reduce("max", gpu.array(x), axis, keepdims=True), x.max(axis, keepdims=True))
        if isinstance(axis, int):
            np.testing.assert_allclose(gpu.scan("add", x, axis=axis), np.cumsum(x, axis))


def test_a_function_that_does_not_commute(device: str) -> None:
    """Affine maps x -> a x + b, packed as a + b j, composed from left to right."""

    def compose(f: Any, g: Any) -> Any:
        return complex(g.real * f.real, g.real * f.imag + g.imag)

    rng = np.random.default_rng(3)
    maps = rng.integers(-1, 2, 1500 if device != "python" else 40) + 1j * rng.integers(
        -3, 4, 1500 if device != "python" else 40
    )
    expected = [maps[0]]
    for m in maps[1:]:
        expected.append(complex(m.real * expected[-1].real, m.real * expected[-1].imag + m.imag))
    assert gpu.reduce(compose, maps) == expected[-1]
    np.testing.assert_array_equal(gpu.scan(compose, maps), expected)


def test_initial_values_and_outputs(device: str) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert gpu.reduce("add", x, init=10) == 25
    out = np.zeros(3, np.float64)
    assert gpu.reduce("add", x, 0, out=out) is out
    np.testing.assert_array_equal(out, x.sum(0))
    assert gpu.reduce("add", x, dtype="f8").dtype == np.float64
    assert gpu.reduce("add", np.zeros(0)) == 0 and gpu.reduce("mul", np.zeros((0, 2)), 0).tolist() == [1, 1]
    assert gpu.reduce("max", np.zeros(0), init=3) == 3
    assert gpu.scan("add", np.zeros(0)).shape == (0,)
    assert gpu.reduce("add", 5) == 5
    assert gpu.reduce(lambda a, b: a + b, np.ones(3, np.int32)).dtype == np.int32  # a function says its type


def test_on_the_device() -> None:
    with gpu.device("emulated"):
        x = gpu.arange(3000, dtype="f4")
        assert isinstance(gpu.reduce("add", x.reshape(30, 100), 1), gpu.Array)
        out = gpu.zeros((), "f4")
        gpu.reduce("max", x, out=out)
        assert out.item() == 2999
        assert isinstance(gpu.scan("add", x), gpu.Array)


def test_transform_reduce(device: str) -> None:
    x, y = values(100, "f4"), values(100, "f8")
    np.testing.assert_allclose(gpu.transform_reduce(lambda a, b: a * b, "add", x, y), np.dot(x, y))
    assert gpu.transform_reduce(lambda a: a > 0, "add", x) == (x > 0).sum()
    m = x.reshape(4, 25)
    np.testing.assert_allclose(
        gpu.transform_reduce(lambda a, b: abs(a - b), "max", m, m[:, :1], axis=1), abs(m - m[:, :1]).max(1)
    )


MISTAKES = {
    "name": (lambda x: gpu.reduce("plus", x), TypeError, "no operation is called 'plus': there are add, mul, min"),
    "parameters": (
        lambda x: gpu.reduce(lambda a: a, x),
        TypeError,
        "has 1 parameters: an operation combines two elements",
    ),
    "type": (lambda x: gpu.reduce(lambda a, b: (a, b), x), TypeError, "returns 2 results"),
    "empty": (
        lambda x: gpu.reduce("max", x[:0]),
        ValueError,
        "reduction operation max which has no identity: give init",
    ),
    "exclusive": (lambda x: gpu.scan("max", x, exclusive=True), ValueError, "starts from a value: give init"),
    "axis": (lambda x: gpu.reduce("add", x, 1), np.exceptions.AxisError, "axis 1 is out of bounds"),
    "out": (lambda x: gpu.reduce("add", x, out=np.zeros(2)), ValueError, r"out must have the shape \(\)"),
    "not a function": (lambda x: gpu.reduce(3, x), TypeError, "the operation comes first"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    call, kind, match = MISTAKES[case]
    with pytest.raises(kind, match=match):
        call(np.ones(3))


def test_identities() -> None:
    for dtype in ("u1", "i4", "?"):
        x = values(5, dtype)
        np.testing.assert_array_equal(gpu.scan("xor", x, exclusive=True)[1:], np.bitwise_xor.accumulate(x)[:-1])
    assert gpu.reduce("and", np.zeros(0, np.uint8)) == 255


def test_functions_of_libraries(device: str) -> None:
    x = np.array([12, 18, 30])
    assert gpu.reduce(np.gcd, x) == 6 and gpu.reduce(operator.sub, x) == -36
    np.testing.assert_allclose(gpu.map(np.hypot, x, 5), np.hypot(x, 5))
    assert gpu.transform_reduce(math.sqrt, "max", x) == math.sqrt(30)


def test_calls_of_the_common_kind_are_those_with_axes() -> None:
    """What is kept from the first call (operation, function, dtypes) is right for the next, of another shape."""
    gpu.set_device("cpu")
    numbers = np.random.default_rng(5).standard_normal(5000)
    for dtype in ("float32", "int8"):
        for n in (1, 31, 32, 256, 257, 1025, 2048, 2049, 5000):
            x = (numbers[:n] * 9).astype(dtype)
            row = x.reshape(1, n)
            for op in ("add", "max", lambda a, b: a if a > b else b, np.fmax if dtype == "float32" else "min"):
                want = gpu.reduce(op, row, 1)[0]
                for given in (x, gpu.array(x)):
                    got = gpu.reduce(op, given)
                    assert type(got) is type(want) and got.tobytes() == want.tobytes()
                np.testing.assert_array_equal(gpu.scan(op, x), gpu.scan(op, row, axis=1)[0], strict=True)
            np.testing.assert_array_equal(gpu.scan("add", gpu.array(x)).copy_to_host(), gpu.scan("add", x))
    assert gpu.reduce("add", x, dtype=np.dtype("int32")).dtype == np.int32
    y = np.arange(4, dtype=np.float32)
    assert gpu.scan("add", y, out=y) is y and y.tolist() == [0, 1, 3, 6]
    assert gpu.scan("add", y[::-1]).tolist() == [6, 9, 10, 10]
    y.flags.writeable = False
    with pytest.raises(ValueError):
        gpu.scan("add", x[:4], out=y, dtype=np.dtype("float32"))
    assert gpu.reduce("max", np.broadcast_to(np.float32(3), (4, 4))) == 3


def test_functions_of_libraries_are_compiled_once() -> None:
    """Not anew in each call, as one made by `exec` would be."""
    x = np.linspace(1, 2, 9, dtype=np.float32)
    first = gpu.transform_reduce(np.multiply, "add", x, x)
    kept = [dict(cache) for cache in (_operations._device_functions, _reduce._folds)]
    assert gpu.transform_reduce(np.multiply, "add", x, x) == first
    assert kept == [_operations._device_functions, _reduce._folds]


def test_the_identity_is_that_of_the_function_at_hand() -> None:
    def sum_from(identity: Any) -> Any:
        def add(a: Any, b: Any) -> Any:
            return a + b

        add.identity = identity  # type: ignore[attr-defined]
        return gpu.scan(add, np.arange(1, 4), exclusive=True).tolist()

    assert [sum_from(start)[0] for start in (0, 5, np.int8(-1), 0)] == [0, 5, -1, 0]
    with pytest.raises(TypeError, match="identity of an operation is a number"):
        sum_from([0])
    with pytest.raises(ValueError, match="give init"):
        sum_from("reorderable")


@pytest.mark.parametrize("values", [(np.float32(0.5), np.float64(0.5)), ((1, 0.0), (True, 0.0), (1, -0.0))])
def test_functions_are_known_by_the_values_that_they_close_over(values: tuple[Any, ...]) -> None:
    def make(value: Any) -> Any:
        return _operations.identity_of(lambda a: value)

    assert all(make(value) == make(value) for value in values)
    assert len({make(value) for value in values}) == len(values)


SCALE = 1


def scaled(v: Any) -> Any:
    return v * (SCALE if isinstance(SCALE, int) else SCALE[0])


@pytest.mark.parametrize("scales", [(1, 3, 1), (np.array([1]), np.array([3]), np.array([1]))], ids=["int", "array"])
def test_functions_made_again_see_globals_as_they_are(scales: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, seen = np.arange(1, 5), []
    for scale in scales:
        monkeypatch.setitem(globals(), "SCALE", scale)
        factor = int(gpu.transform_reduce(lambda v: scaled(v), "max", x)) // 4
        seen.append((gpu.map(lambda v: scaled(v) + 0 * v, x) == x * factor).all() and factor)
    assert seen == [1, 3, 1]
