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
