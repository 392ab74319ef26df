"""`gpu.vectorize` and `gpu.map` against NumPy: shapes, types, outputs, on every device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest

RNG = np.random.default_rng(7)


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


@gpu.vectorize
def twice_plus(x: Any, y: Any) -> Any:
    return x * 2 + y


@gpu.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def ratio(x: Any, y: Any) -> Any:
    return x / y


@gpu.vectorize
def halves(x: Any) -> Any:
    return x // 2, x * 0.5


def host(x: Any) -> Any:
    return x.copy_to_host() if isinstance(x, gpu.Array) else x


BASE = RNG.random((3, 4, 70))
OPERANDS = {
    "contiguous": (BASE, BASE[::-1].copy()),
    "transposed": (BASE.T, BASE.transpose(2, 1, 0)),
    "mixed orders": (BASE, np.asfortranarray(BASE)),
    "negative strides": (BASE[::-1, :, ::-2], BASE[:, ::-1, ::2]),
    "broadcast": (BASE, BASE[:, :1, :1]),
    "outer": (BASE[:, 0, :1], BASE[0, 0, :]),
    "scalars": (BASE, 3),
    "0-d": (np.array(2.0), BASE[0]),
    "empty": (BASE[:0], BASE[0]),
    "short rows": (BASE.reshape(-1, 3), BASE.reshape(3, -1).T),
    "read-only": (np.broadcast_to(BASE[0, 0], (3, 70)), np.float32(1)),
    "many axes": (RNG.random((2, 3, 2, 3, 2, 3)), RNG.random((3, 2, 3, 2, 3, 2)).T),
}


@pytest.mark.parametrize("case", OPERANDS)
def test_shapes(case: str) -> None:
    x, y = OPERANDS[case]
    expected = x * 2 + y
    found = twice_plus(x, y)
    assert type(found) is type(expected) and found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", ["contiguous", "transposed", "negative strides", "broadcast", "scalars", "empty"])
def test_device_arrays(case: str, device: str) -> None:
    if device == "python":
        pytest.skip("arrays of the python device are NumPy's")
    x, y = OPERANDS[case]
    found = twice_plus(gpu.array(x), y)
    assert isinstance(found, gpu.Array)
    np.testing.assert_array_equal(found.copy_to_host(), x * 2 + y)


@pytest.mark.parametrize("y", [1, 1.5, np.float32(1.5), np.int64(3), True, np.uint8(7)], ids=repr)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8"])
def test_types_are_numpys(dtype: str, y: Any) -> None:
    x = np.arange(5).astype(dtype)
    expected = x * 2 + y
    found = twice_plus(x, y)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_all_scalars() -> None:
    assert twice_plus(1, 2) == 4 and isinstance(twice_plus(1, 2), np.int64)
    assert isinstance(ratio(np.float32(1), np.float32(2)), np.float32)
    assert ratio(1, 4) == np.float32(0.25)


def test_signatures_are_chosen_as_by_numpy() -> None:
    assert ratio.types == ["ff->f", "dd->d"] and (ratio.nin, ratio.nout, ratio.nargs) == (2, 1, 3)
    f4, f8, i2, i8 = (np.ones(3, t) for t in ("f4", "f8", "i2", "i8"))
    cases = [(f4, f4, "f4"), (f4, f8, "f8"), (f4, 2.5, "f4"), (i2, f4, "f4"), (i8, f4, "f8"), (i2, 2, "f4")]
    for x, y, expected in cases:
        assert ratio(x, y).dtype == expected
    with pytest.raises(TypeError, match=r"ratio: no signature takes \(complex128, float32\) safely: there are"):
        ratio(np.ones(3, "c16"), f4)
    assert ratio(f4, f4, dtype="f8").dtype == "f8"


def test_out_and_where() -> None:
    x = np.arange(6.0).reshape(2, 3)
    out = np.full((2, 3), -1, np.float32)
    assert twice_plus(x, 1, out=out, where=x > 2) is out
    np.testing.assert_array_equal(out, np.where(x > 2, x * 2 + 1, -1))
    twice_plus(x, 1, out)
    np.testing.assert_array_equal(out, x * 2 + 1)
    larger = np.zeros((4, 2, 3))
    twice_plus(x, 1, out=(larger,))
    np.testing.assert_array_equal(larger, np.broadcast_to(x * 2 + 1, (4, 2, 3)))
    alike = np.zeros((2, 3))
    assert twice_plus(x, 1, out=alike) is alike
    np.testing.assert_array_equal(alike, x * 2 + 1)
    alike.flags.writeable = False
    with pytest.raises(ValueError, match="output array is read-only"):
        twice_plus(x, 1, out=alike)


def test_overlapping_output() -> None:
    x = np.arange(10.0)
    twice_plus(x[:-1], 1, out=x[1:])
    np.testing.assert_array_equal(x, [0, *(np.arange(9.0) * 2 + 1)])
    y = np.arange(9.0).reshape(3, 3)
    expected = y * 2 + y.T
    twice_plus(y, y.T, out=y)
    np.testing.assert_array_equal(y, expected)
    z = np.arange(4.0)
    twice_plus(z, z, out=z)
    np.testing.assert_array_equal(z, np.arange(4) * 3)
    twice_plus(z[:], z, out=z)
    np.testing.assert_array_equal(z, np.arange(4) * 9)


def test_several_outputs() -> None:
    x = np.arange(5, dtype=np.int32)
    whole, half = halves(x)
    assert (halves.nout, whole.dtype, half.dtype) == (2, np.int32, np.float64)
    np.testing.assert_array_equal(whole, x // 2)
    np.testing.assert_array_equal(half, x * 0.5)
    a, b = np.zeros(5), np.zeros(5)
    assert halves(x, out=(a, b))[1] is b
    np.testing.assert_array_equal(b, half)


def test_closures_and_device_functions() -> None:
    @gpu.jit(device=True)
    def square(x: Any) -> Any:
        return x * x

    def scaled(factor: float) -> Any:
        @gpu.vectorize
        def f(x: Any) -> Any:
            return square(x) * factor

        return f

    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(scaled(3.0)(x), x * x * 3)
    np.testing.assert_array_equal(scaled(0.5)(x), x * x * np.float32(0.5))


def test_in_a_kernel(device: str) -> None:
    @gpu.jit
    def k(x: Any) -> None:
        i = gpu.grid(1)
        x[i] = twice_plus(x[i], 1)

    x = np.arange(4.0)
    k[1, 4](x)
    np.testing.assert_array_equal(x, np.arange(4) * 2 + 1)

    if device == "python":
        return  # which converts nothing where there are several signatures

    @gpu.jit
    def typed(i: Any, x: Any) -> None:
        x[0] = ratio(i[0], i[1])  # int16: the first signature takes them

    typed[1, 1](np.array([1, 3], np.int16), x)
    assert x[0] == np.float32(1) / np.float32(3)


@gpu.vectorize(["float32(float32)", "int32(int32)", "int64(int64)", "float64(float64)"])
def same(x: Any) -> Any:
    return x


@pytest.mark.parametrize("dtype", ["?", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_a_kernel_takes_the_signature_that_arrays_take(dtype: str, device: str) -> None:
    if device == "python":
        return  # which converts nothing where there are several signatures

    @gpu.jit
    def kernel(x: Any, out: Any) -> None:
        y = same(x[0])
        out[0] = (y.dtype == np.float32) + 2 * (y.dtype == np.int32) + 4 * (y.dtype == np.int64)

    x, out = np.ones(1, dtype), np.zeros(1, np.int8)
    kernel[1, 1](x, out)
    gpu.synchronize()
    assert {0: "f8", 1: "f4", 2: "i4", 4: "i8"}[int(out[0])] == same(x).dtype.str[1:]


def test_casting_is_a_rule_for_operands_too() -> None:
    x = np.ones(3, np.int16)
    assert ratio(x, x, casting="safe").dtype == "f4"
    with pytest.raises(TypeError, match=r"ratio: cannot cast an operand from .*int16.* with casting rule 'equiv'"):
        ratio(x, x, casting="equiv")
    with pytest.raises(ValueError, match="casting must be one of"):
        ratio(x, x, casting="odd")


def test_reductions_of_chosen_elements() -> None:
    plus = gpu.vectorize(["float64(float64, float64)"], identity=0)(lambda x, y: x + y)
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(plus.reduce(x, where=x > 1), np.sum(x, 0, where=x > 1))
    with pytest.raises(ValueError, match=r"twice_plus has no identity.*vectorize\(identity="):
        twice_plus.reduce(x, where=x > 1)
    assert plus.reduce([1.0, 2.0], where=[True, False]) == 1


def test_methods() -> None:
    @gpu.vectorize
    def add(x: Any, y: Any) -> Any:
        return x + y

    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert add.reduce(x).dtype == np.int32
    np.testing.assert_array_equal(add.reduce(x), x.sum(0))
    np.testing.assert_array_equal(add.reduce(x, axis=1, keepdims=True), x.sum(1, keepdims=True))
    np.testing.assert_array_equal(add.accumulate(x, axis=1), x.cumsum(1))
    np.testing.assert_array_equal(add.outer(x[0], x[:, 0]), np.add.outer(x[0], x[:, 0]))
    assert add.reduce(x, axis=None, initial=5) == x.sum() + 5


def test_map() -> None:
    x = np.arange(4.0)
    np.testing.assert_array_equal(gpu.map(lambda a, b: a - b, x, 1), x - 1)
    quotient, rest = gpu.map(lambda a: (a // 2, a % 2), x)
    np.testing.assert_array_equal(quotient * 2 + rest, x)


MISTAKES = {
    "shapes": (
        lambda: twice_plus(np.ones(3), np.ones(4)),
        ValueError,
        r"could not be broadcast together with shapes \(3,\) \(4,\)",
    ),
    "too few": (lambda: twice_plus(1), TypeError, "takes from 2 to 3 positional arguments but 1 were given"),
    "too many": (lambda: twice_plus(1, 2, np.zeros(()), 4), TypeError, "positional arguments but 4 were given"),
    "out twice": (lambda: twice_plus(1, 2, np.zeros(3), out=np.zeros(3)), TypeError, "both a positional and keyword"),
    "out's shape": (lambda: twice_plus(np.ones(3), 1, out=np.zeros(1)), ValueError, "non-broadcastable output"),
    "out's type": (
        lambda: twice_plus(np.ones(3), 1, out=np.zeros(3, int)),
        TypeError,
        "cannot cast the result from dtype.'float64'.",
    ),
    "where": (lambda: twice_plus(1, 2, where=np.ones(3)), TypeError, "where takes bools"),
    "dtype": (lambda: twice_plus(np.array(["a"]), 1), gpu.TypingError, "strings of a fixed size are compared"),
    "option": (lambda: gpu.vectorize(fast=True), TypeError, "unknown option 'fast'"),
    "class": (lambda: gpu.vectorize()(int), TypeError, "@vectorize takes a Python function"),
    "result": (lambda: gpu.map(lambda x: None, np.ones(3)), TypeError, "what is computed for each element is a number"),
    "at": (lambda: twice_plus.at(np.ones(3), 0, 1), TypeError, "write a kernel with gpu.atomic"),
    "unary reduce": (lambda: halves.reduce(np.ones(3)), ValueError, "reduce only supported for binary functions"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    call, kind, match = MISTAKES[case]
    with pytest.raises(kind, match=match):
        result = call()
        if callable(result):
            result(lambda x: x)


def test_mistake_in_the_function() -> None:
    with pytest.raises(gpu.CompileError, match=r"float32 has no attribute 'size_of'(.|\n)*x.size_of"):
        gpu.map(lambda x: x.size_of + 1, np.ones(3, np.float32))


def test_identities_are_numbers() -> None:
    made = gpu.vectorize(["f4(f4, f4)"], identity="reorderable")(lambda a, b: a + b)
    assert made.reduce(np.ones(3, "f4")) == 3
    with pytest.raises(ValueError, match="order is 'C' or 'F', not 'Z'"):
        made(np.ones(3, "f4"), 1, order="Z")
    with pytest.raises(TypeError, match="identity of an operation is a number, not 'zero'"):
        gpu.vectorize(identity="zero")(lambda a, b: a + b)
