"""What the examples share: the --small switch, timing, and the line that each prints at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).resolve().parent.parent / "out"


def small() -> bool:
    """Whether `--small` was given: a size that runs in a moment, for the tests."""
    return "--small" in sys.argv[1:]


def output(name: str) -> Path:
    """Path of a result file in `out/`, which is made."""
    OUT.mkdir(exist_ok=True)
    return OUT / name


def best_of(f: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """Shortest time in seconds of `repeat` calls of `f`, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return best, result


def check(name: str, got: np.ndarray, want: np.ndarray, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Stop with the largest deviation if `got` and `want` differ by more than the tolerances."""
    if not np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True):
        worst = np.nanmax(np.abs(np.asarray(got, np.float64) - np.asarray(want, np.float64)))
        sys.exit(f"{name}: differs from NumPy by up to {worst:g}")


def report(name: str, what: str, kernel_s: float, numpy_s: float, agrees: str = "equals NumPy") -> None:
    """Print what was computed, and the time beside NumPy's."""
    print(
        f"{name}: {what}; {agrees}. "
        f"kernel {kernel_s * 1e3:.2f} ms, NumPy {numpy_s * 1e3:.2f} ms ({numpy_s / kernel_s:.1f} times)"
    )
