"""Functions in the Numba dialect have the types that numba-cuda 0.30.4 infers (tests/frontend/numba_functions.json)."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

REFERENCE: dict[str, str] = json.loads((Path(__file__).parent / "frontend" / "numba_functions.json").read_text())
FUNCTIONS = sorted({key.partition("(")[0] for key in REFERENCE})


def ours(function: str, kinds: list[str]) -> str:
    """The type of a call as numba writes it; `-` for a compile error."""
    parameters = ", ".join("xy"[: len(kinds)])
    scope: dict[str, Any] = {"np": np, "math": math}
    exec(f"def f({parameters}):\n    return {function}({parameters})\n", scope)
    values = [np.dtype(k).type(1) for k in kinds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = cuda.jit(device=True)(scope["f"])(*values)
        except gpu.CompileError:
            return "-"
    return name_of(found)


def differs(name: str, kinds: list[str]) -> bool:
    """What is typed otherwise on purpose: a float64 would lose digits of uint64 and int64, bool makes no unsigned."""
    if name in ("min", "max", "divmod") and "uint64" in kinds:
        return any(k.startswith(("int", "bool")) for k in kinds)
    return name in ("divmod", "pow") and "bool" in kinds


def name_of(value: Any) -> str:
    if isinstance(value, tuple):
        names = [name_of(v) for v in value]
        return f"UniTuple({names[0]} x {len(names)})" if len(set(names)) == 1 else f"Tuple({', '.join(names)})"
    return str(np.asarray(value).dtype) if not isinstance(value, bool) else "bool"


@pytest.mark.one_version
@pytest.mark.parametrize("function", FUNCTIONS)
def test_types(function: str) -> None:
    faults = []
    for key, want in REFERENCE.items():
        name, _, kinds = key.rstrip(")").partition("(")
        if name != function or want == "-" or differs(name, kinds.split(", ")):
            continue
        got = ours(name, kinds.split(", "))
        if got != want:
            faults.append(f"{key}: {got}, not {want}")
    assert not faults, "\n".join(faults)


WHERE_TYPES = ["bool", *(f"{u}int{8 << k}" for u in ("", "u") for k in range(4)), "float32", "float64", "complex64"]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_where_joins_types_as_numba_does(device: str) -> None:
    """Numba types np.where(c, x, y) as np.promote_types(x, y),; literals are int64 and float64."""

    def pick(x: Any, y: Any) -> Any:
        return np.where(x != y, x, y), np.where(x != y, x, 2), np.where(x == y, x, 2.5)

    faults = []
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a in WHERE_TYPES:
            for b in WHERE_TYPES if device == "cpu" else ["int32"]:
                got = cuda.jit(device=True)(pick)(np.dtype(a).type(1), np.dtype(b).type(0))
                want = [np.promote_types(a, t) for t in (b, "int64", "float64")]
                if [name_of(v) for v in got] != [str(w) for w in want] or got != (1, 1, 2.5):
                    faults.append(f"{a}, {b}: {got}, not {want}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_where_keeps_digits_of_int32_beside_float32(device: str) -> None:
    @cuda.jit
    def kernel(out: Any, x: Any, n: Any) -> None:
        out[0] = np.where(x[0] > 1, x[0], n[0])

    out = np.zeros(1)
    with gpu.device(device):
        kernel[1, 1](out, np.ones(1, np.float32), np.full(1, 2**24 + 1, np.int32))
        gpu.synchronize()
    assert out[0] == 2**24 + 1


def test_code_of_one_architecture():
    code, _ = cuda.compile_ptx(lambda x: None, (cuda.float32[::1],), cc=(9, 0, "a"))
    assert ".target sm_90a" in code
