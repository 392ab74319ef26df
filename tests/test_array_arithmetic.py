"""Operators, reductions and NumPy's functions of `gpu.Array`: values, dtypes and shapes are NumPy's."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gpu
import numpy as np
import pytest

DTYPES = ["?", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.fixture(params=["cpu", "emulated"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def skip_most_on_emulator(device: str, dtype: str) -> None:
    """Types whose code differs; all of them are compiled the same way on the CPU."""
    if device == "emulated" and dtype not in ("?", "i1", "u4", "f2", "f8", "c8"):
        pytest.skip("another type stands for it")


def values(dtype: str) -> Any:
    return np.array([[1, 2, 5], [7, 3, 0]]).astype(dtype) if dtype != "?" else np.array([[1, 0, 1], [1, 1, 0]], bool)


def agree(found: Any, expected: Any, rtol: float = 1e-6) -> None:
    """The same dtype, shape and elements."""
    assert isinstance(found, gpu.Array) or np.ndim(expected) == 0
    elements = found.copy_to_host() if isinstance(found, gpu.Array) else found
    assert elements.dtype == expected.dtype and elements.shape == np.shape(expected)
    np.testing.assert_allclose(elements, expected, rtol=2e-3 if expected.dtype == np.float16 else rtol)


def both(call: Callable[..., Any], *operands: Any, rtol: float = 1e-6) -> None:
    """A call gives on a device what it gives in NumPy, or both refuse it."""
    with np.errstate(all="ignore"):
        try:
            expected = call(*operands)
        except (TypeError, OverflowError, ValueError) as error:
            with pytest.raises(type(error).__mro__[-3] if isinstance(error, TypeError) else type(error)):
                call(*(gpu.array(x) if isinstance(x, np.ndarray) else x for x in operands))
            return
        agree(call(*(gpu.array(x) if isinstance(x, np.ndarray) else x for x in operands)), expected, rtol)


BINARY = {
    name: getattr(operator, name)
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and_",
        "or_",
        "xor",
        "lshift",
        "lt",
        "eq",
        "ge",
    )
}


# Before NumPy 2.3 the operator with a constant forgets the constant's type; the function doesn't.
if np.lib.NumpyVersion(np.__version__) < "2.3.0":
    BINARY["pow"] = np.power


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators(op: str, dtype: str, device: str) -> None:
    """With the same type, another, a Python number and a NumPy scalar on either side."""
    skip_most_on_emulator(device, dtype)
    f, x = BINARY[op], values(dtype)
    if dtype[0] == "c" and op in ("lt", "ge"):
        pytest.skip("complex numbers have no order in kernels")
    for y in (x[::-1], 3, np.int16(2), *([0.5] if device == "cpu" else [])):
        if not (op in ("floordiv", "mod") and dtype[0] in "iub?" and isinstance(y, np.ndarray)):
            both(f, x, y, rtol=1e-5)
    both(f, 2, x, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4"])
@pytest.mark.parametrize("other", DTYPES)
def test_promotion(dtype: str, other: str) -> None:
    with gpu.device("cpu"):
        both(operator.add, values(dtype), values(other))
        both(operator.mul, values(dtype), values(other)[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary(dtype: str, device: str) -> None:
    skip_most_on_emulator(device, dtype)
    x = values(dtype)
    for f in (
        operator.neg,
        operator.pos,
        operator.invert,
        abs,
        np.square,
        np.isnan,
        np.conjugate,
        np.logical_not,
    ):
        both(f, x)


UFUNCS = [
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "arctan",
    "floor",
    "ceil",
    "rint",
    "exp2",
    "log1p",
    "cbrt",
    "reciprocal",
    "degrees",
    "signbit",
    "isfinite",
]


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs(name: str, device: str) -> None:
    for dtype in ("i2", "f2", "f4", "f8") if device == "cpu" else ("f4",):
        both(getattr(np, name), values(dtype)[:, :2] + 1, rtol=1e-5)


def test_ufuncs_of_two(device: str) -> None:
    x, y = values("f4"), values("i4")
    for f in (
        np.arctan2,
        np.hypot,
        np.copysign,
        np.fmod,
        np.minimum,
        np.fmax,
        np.logaddexp,
        np.logical_xor,
        np.nextafter,
    ):
        both(f, x, y, rtol=1e-5)
    for f in (np.gcd, np.bitwise_and, np.left_shift):
        both(f, y, y[0])
    with gpu.device("cpu"):
        a = gpu.array(x)
        for found, expected in zip(divmod(a, 2), divmod(x, 2), strict=True):
            agree(found, expected)
        for found, expected in zip(np.modf(a / 4), np.modf(x / 4), strict=True):
            agree(found, expected)


def test_integers_out_of_range(device: str) -> None:
    x = np.array([0, 200], np.uint8)
    a = gpu.array(x)
    for f, n in ((operator.lt, 300), (operator.eq, 300), (operator.ge, -1), (operator.ne, 256), (operator.gt, 1000)):
        agree(f(a, n), f(x, n))
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        a + 300
    with pytest.raises(ValueError, match="negative integer powers"):
        a**-1


def test_in_place_and_out(device: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    a = gpu.array(x)
    b = a
    a += 1
    a[1:, ::2] *= a[:2, 1::2]
    x += 1
    x[1:, ::2] *= x[:2, 1::2]
    assert a is b
    agree(a, x)
    out = gpu.zeros((3, 4), "f8")
    assert np.sqrt(a, out=out) is out
    agree(out, np.sqrt(x).astype("f8"))
    with pytest.raises(TypeError, match="cannot cast the result"):
        i = gpu.arange(3)
        i += 0.5
    agree(np.add(a, 1, where=gpu.array(x > 3), out=gpu.zeros((3, 4), "f4")), np.where(x > 3, x + 1, 0).astype("f4"))


def test_shapes(device: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    a = gpu.array(x)
    agree(a + a[:, :1, ::-1], x + x[:, :1, ::-1])
    agree(a.T - a.transpose(2, 1, 0), x.T - x.T)
    agree(a[..., None] * np.arange(2), x[..., None] * np.arange(2))
    agree(np.arange(4.0) + a, x + np.arange(4))
    agree(a[:0] + 1, x[:0] + 1)
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(2, 3, 4\) \(5,\)"):
        a + gpu.ones(5)


METHODS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(),
    "sum of rows": lambda a: a.sum(axis=1),
    "sum of both": lambda a: a.sum((0, 1), keepdims=True),
    "prod": lambda a: a.prod(0),
    "min": lambda a: a.min(1),
    "max": lambda a: np.max(a),
    "mean": lambda a: a.mean(),
    "mean of rows": lambda a: np.mean(a, axis=1),
    "var": lambda a: a.var(0),
    "std": lambda a: a.std(ddof=1),
    "any": lambda a: a.any(),
    "all": lambda a: a.all(axis=0),
    "argmin": lambda a: a.argmin(),
    "argmax": lambda a: a.argmax(1),
    "cumsum": lambda a: a.cumsum(),
    "cumsum of columns": lambda a: np.cumsum(a, axis=0),
    "add.reduce": np.add.reduce,
    "maximum.accumulate": np.maximum.accumulate,
    "multiply.outer": lambda a: np.multiply.outer(a, a[0]),
    "clip": lambda a: a.clip(1, 5),
    "np.clip": lambda a: np.clip(a, None, 3),
    "where": lambda a: np.where(a > 2, a, 7),
    "concatenate": lambda a: np.concatenate([a, a[:1]]),
    "concatenate rows": lambda a: np.concatenate((a, a), axis=1),
    "stack": lambda a: np.stack([a, a], axis=1),
    "reshape": lambda a: np.reshape(a, (3, 2)),
    "flip": lambda a: np.flip(a, 1),
    "round": lambda a: (a / 3).round(1),
    "ptp": lambda a: np.ptp(a, 0),
    "dot": lambda a: np.dot(a, a[0]),
    "real": lambda a: a.real,
    "zeros_like": np.zeros_like,
    "astype": lambda a: a.astype("i2"),
    "flatten": lambda a: a[:, ::-1].flatten(),
    "flatten in Fortran's order": lambda a: a.flatten("F"),
    "item": lambda a: a[0] * float(a.item(4) + a.item(1, 0) + a.item(-1)),
    "count_nonzero": lambda a: np.count_nonzero(a > 2) + np.count_nonzero(a - 1, axis=0),
    "outer": lambda a: np.outer(a[0], a),
    "diff": lambda a: np.diff(a),
    "diff of columns, twice": lambda a: np.diff(np.concatenate([a, a * 2]), n=2, axis=0),
    "diff of bools": lambda a: np.diff(a > 2),
    "norm": lambda a: np.linalg.norm(a / 2),
    "norm of rows": lambda a: np.linalg.norm(a, axis=1),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_and_functions(name: str, device: str) -> None:
    for dtype in ("i2", "u4", "f2", "f4", "f8") if device == "cpu" else ("i2", "f4"):
        if not (name == "reshape" and dtype != "f4"):
            both(METHODS[name], values(dtype), rtol=1e-5)


def test_indices_with_nan(device: str) -> None:
    x = np.array([[3, np.nan, 1, np.nan], [2, 5, 5, 0]])
    for f in (np.argmin, np.argmax):
        both(f, x)
        both(lambda a, f=f: f(a, axis=1), x)
        both(lambda a, f=f: f(a, axis=0), x)
    with pytest.raises(ValueError, match="attempt to get argmin of an empty sequence"):
        gpu.zeros(0).argmin()


@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f4", "f8", "c8"])
def test_matmul(dtype: str, device: str) -> None:
    rng = np.random.default_rng(5)

    def random(*shape: int) -> Any:
        return (rng.random(shape) * 4).astype(dtype)

    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((17, 19), (19, 35)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (3, 4, 2)),
        ((2, 0), (0, 3)),
    ]
    for left, right in shapes:
        both(operator.matmul, random(*left), random(*right), rtol=1e-4)
    x = random(20, 33)
    both(operator.matmul, x.T, x[:, ::2], rtol=1e-4)
    with pytest.raises(ValueError, match=r"inner lengths differ: shapes \(2, 3\) and \(2, 3\)"):
        gpu.array(x[:2, :3]) @ gpu.array(x[:2, :3])


def test_masks(device: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    a = gpu.array(x)
    agree(a[a > 7], x[x > 7])
    agree(a[x > 100], x[x > 100])
    agree(a[:, :, 1][np.array([[True, False, True], [False, True, True]])], x[:, :, 1][[0, 0, 1, 1], [0, 2, 1, 2]])
    agree(a[gpu.array([False, True])], x[[False, True]])
    agree(a.T[a.T % 2 == 0], x.T[x.T % 2 == 0])
    for target, mask in ((a, a > 15), (a.transpose(1, 0, 2), np.array([True, False, True]))):
        target[mask] = -1
    x[x > 15] = -1
    x.transpose(1, 0, 2)[np.array([True, False, True])] = -1
    agree(a, x)
    a[a == -1] = np.arange((x == -1).sum())
    x[x == -1] = np.arange((x == -1).sum())
    agree(a, x)
    with pytest.raises(IndexError, match="boolean index did not match"):
        a[np.ones(3, bool)]
    with pytest.raises(IndexError, match="and masks, not by Array"):
        a[gpu.array([0, 1])]


def test_conversions_of_bools(device: str) -> None:
    x = np.array([True, False, True])
    for dtype in ("i1", "u8", "f2", "f4", "c8"):
        agree(gpu.array(x).astype(dtype), x.astype(dtype))
        agree(np.concatenate((gpu.array(x), gpu.ones(2, dtype))), np.concatenate((x, np.ones(2, dtype))))
    agree(gpu.array([0, 0.5, np.nan]).astype(bool), np.array([False, True, True]))
    for n in (0, 1, 2, 3):
        agree(gpu.array(x) ** n, x**n)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "var", "std", "min", "max"])
def test_reductions_of_chosen_elements(name: str, device: str) -> None:
    for dtype in ("?", "i1", "f4"):
        x = values(dtype)
        for mask in (x > 2, x[:1] == 1, np.array([[True], [False]]), np.True_):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                options = {"where": mask} | ({"initial": 1} if name in ("min", "max") else {})
                for axis in (None, 1):
                    both(lambda a, axis=axis, options=options: getattr(a, name)(axis=axis, **options), x)
    both(lambda a: np.add.reduce(a, where=np.array([True, False, True])), values("f8"))
    if name in ("min", "max"):
        with pytest.raises(ValueError, match=f"'{name}' does not have an identity, so to use a where mask"):
            getattr(gpu.array(x), name)(where=x > 2)


def test_rules_of_conversions(device: str) -> None:
    a = gpu.array([1, 2, 3])
    both(lambda x: np.logical_or(x, x, casting="no"), np.arange(3))
    both(lambda x: np.concatenate((x, x), dtype="f4", casting="unsafe"), np.arange(3.0))
    for call in (
        lambda: np.sqrt(a, casting="no"),
        lambda: np.add(a, np.int8(7), casting="equiv"),
        lambda: np.concatenate((a, a * 0.5), dtype="i4"),
        lambda: a.argmax(axis=(0,)),
        lambda: a.cumsum(axis=(0,)),
    ):
        with pytest.raises(TypeError, match=r"cast|'tuple' object cannot be interpreted as an integer"):
            call()
    with pytest.raises(ValueError, match="casting must be one of"):
        np.add(a, a, casting="odd")  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4"])
def test_rounding_to_tens(dtype: str, device: str) -> None:
    for decimals in (-1, -2, 1):
        both(lambda a, n=decimals: a.round(n), np.array([15, 25, 96, 4], dtype))
    out = gpu.zeros(2, np.float64)
    assert gpu.array([14, 16], dtype=dtype).round(-1, out=out) is out
    agree(out, np.array([10.0, 20]))
    both(np.round, values("?"))
    with pytest.raises(TypeError, match="bools aren't rounded to -1 decimals"):
        gpu.array([True]).round(-1)


def test_no_axes(device: str) -> None:
    x = np.float32(3)
    a = gpu.array(x)
    for f in (np.sum, np.argmax, np.cumsum, np.any):
        both(lambda a, f=f: f(a, axis=0), np.asarray(x))
    agree(a[a > 1], np.asarray(x)[np.True_])
    agree(a[a > 5], np.asarray(x)[np.False_])
    a[a < 1] = 7
    assert a[()] == 3
    a[a > 1] = 7
    assert a[()] == 7
    with pytest.raises(np.exceptions.AxisError):
        np.argmin(gpu.ones(3), axis=1)


def test_axes_without_elements(device: str) -> None:
    x = np.ones((0, 3, 4))
    both(lambda a: a.argmin(axis=1), x)
    with pytest.raises(ValueError, match="attempt to get argmin of an empty sequence"):
        gpu.array(x).argmin(axis=0)
    a = gpu.zeros((2, 3))
    a[1] = gpu.array([[[5.0]]])
    a[...] = a[None] + 1
    agree(a, np.array([[1.0] * 3, [6.0] * 3]))


def test_comparisons_of_arrays(device: str) -> None:
    x = np.array([1.0, np.nan, 3])
    a = gpu.array(x)
    assert 3 in a and 4 not in a
    assert np.array_equal(a[::2], [1, 3]) and not np.array_equal(a, x) and np.array_equal(a, x, equal_nan=True)
    assert np.allclose(a, x + 1e-12, equal_nan=True) and not np.allclose(a[::2], [1, 4])
    assert (a == None) is False  # noqa: E711
    with pytest.raises(ValueError, match="truth of an array with more than one element"):
        bool(a == x)


def test_what_is_refused(device: str) -> None:
    a = gpu.ones((2, 2))
    with pytest.raises(
        TypeError, match=r"numpy.linalg.norm with ord doesn't take arrays of a device: copy it first, x.copy_to_host"
    ):
        np.linalg.norm(a, 1)
    with pytest.raises(TypeError, match=r"negative\.at isn't computed on a device"):
        np.negative.at(a, 0)
    with pytest.raises(TypeError, match="isn't computed on a device"):
        np.frompyfunc(lambda x: x, 1, 1)(a)
    with pytest.raises(TypeError, match="unsupported operand"):
        a + "x"
    with gpu.device("cpu" if device == "emulated" else "emulated"):
        other = gpu.ones((2, 2))
    with pytest.raises(ValueError, match="the arrays are on cpu and on emulated:0"):
        a + other


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1, 2.5, 3], ml_dtypes.bfloat16)
    a = gpu.array(x)
    for found, expected in (
        (a + a, x + x),
        (a * 2, x * 2),
        (np.sqrt(a), np.sqrt(x)),
        (a + np.float32(1), x + np.float32(1)),
    ):
        assert found.dtype == expected.dtype
        assert (found.copy_to_host() == expected).all()


def test_views_of_an_array_without_axes_read_nothing(device: str) -> None:
    """NumPy arranges the view, of an address that the host can't read."""
    x = np.array(3.5)
    for call in (np.flip, np.transpose, np.squeeze, lambda a: np.expand_dims(a, 0), lambda a: np.broadcast_to(a, (2,))):
        both(call, x)
    both(lambda a: np.flip(a, 0), x)
