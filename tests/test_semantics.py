"""Every row of the table of defined results, run; and what Python gives for it."""

from __future__ import annotations

import math
import warnings
from typing import Any

import gpu
import numpy as np
import pytest
import semantics

ROWS = semantics.rows()


def same(got: Any, want: Any) -> bool:
    """The same type and value; nan equals nan."""
    if isinstance(want, tuple):
        return isinstance(got, tuple) and all(same(g, w) for g, w in zip(got, want, strict=True))
    return type(got) is type(want) and (got == want or (got != got and want != want))


def in_kernel(row: semantics.Row) -> Any:
    """What a device function gives; the exception's name if it is a compile error."""
    parameters = "x, y"[: 3 * len(row.operands) - 2]
    scope: dict[str, Any] = {"np": np, "math": math}
    exec(f"def f({parameters}):\n    return {row.expression}\n", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return gpu.jit(device=True)(scope["f"])(*row.operands)
        except gpu.CompileError:
            return "CompileError"


def in_python(row: semantics.Row) -> Any:
    """What CPython and NumPy give; the exception's name if they raise."""
    names = dict(zip("xy", row.operands, strict=False))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(row.expression, {"np": np, "math": math}, names)
        except Exception as error:
            return type(error).__name__


def test_the_table_is_there() -> None:
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_kernel_gives_what_the_table_says(row: semantics.Row) -> None:
    assert same(in_kernel(row), row.kernel), in_kernel(row)


@pytest.mark.parametrize("row", [r for r in ROWS if r.python is not None], ids=str)
def test_python_gives_what_the_table_says(row: semantics.Row) -> None:
    assert same(in_python(row), row.python), in_python(row)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_constants_fold_to_the_same(row: semantics.Row) -> None:
    """With the operands as constants the compiler computes the result: the same one, or it refuses."""
    text = row.expression
    values = dict(zip("xy", row.operands, strict=False))
    scope: dict[str, Any] = {"np": np, "math": math, **{f"const_{k}": v for k, v in values.items()}}
    body = f"    x = const_x\n    y = {'const_y' if 'y' in values else '0'}\n    return {text}\n"
    exec(f"def f():\n{body}", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            got = gpu.jit(device=True)(scope["f"])()
        except gpu.CompileError:
            return
    exact = isinstance(row.python, (int, float, np.generic)) and same(got, row.python)
    assert same(got, row.kernel) or exact, got


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
@pytest.mark.parametrize(
    "expression", ["x[0] % y[0]", "x[0] // y[0]", "x[0] / y[0]", "divmod(x[0], y[0])[1]", "np.remainder(x[0], y[0])"]
)
def test_with_debug_the_devices_raise_alike(expression: str, dtype: str) -> None:
    if dtype == "f2" and "remainder" in expression:
        pytest.skip("NumPy's % of float16 scalars raises, and its ufunc gives nan")
    scope: dict[str, Any] = {"np": np}
    exec(f"def k(x, y, out):\n    out[0] = {expression}\n", scope)
    raised = []
    for device in ("cpu", "python"):
        with gpu.device(device), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                gpu.jit(debug=True)(scope["k"])[1, 1](np.ones(1, dtype), np.zeros(1, dtype), np.zeros(1))
                gpu.synchronize()
                raised.append(None)
            except ZeroDivisionError as error:
                raised.append(str(error))
    assert raised[0] == raised[1]
