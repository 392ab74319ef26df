"""Generated kernels agree on all devices: `generate` says what each kind makes.

The variable of a kind says how many (`GPU_GENERATED=100000`), `GPU_GENERATED_SEED` where the seeds start.
"""

import os
from importlib import import_module
from typing import NamedTuple

import pytest


class Kind(NamedTuple):
    variable: str
    count: int  # unless the variable says another
    batch: int
    versions: bool  # of Python make a difference


KINDS = {
    "values": Kind("GPU_GENERATED", 2000, 100, True),
    "arrays": Kind("GPU_GENERATED_ARRAYS", 300, 50, True),
    "threads": Kind("GPU_GENERATED_THREADS", 200, 25, False),
    "programs": Kind("GPU_GENERATED_PROGRAMS", 100, 25, False),
    "calls": Kind("GPU_GENERATED_CALLS", 40, 20, False),
    "numba_dialect": Kind("GPU_GENERATED_NUMBA", 30, 15, False),
    "lists": Kind("GPU_GENERATED_LISTS", 30, 15, True),
    "nonsense": Kind("GPU_GENERATED_NONSENSE", 200, 100, True),
}
FIRST = int(os.environ.get("GPU_GENERATED_SEED", "1"))


def batches() -> list[object]:
    """Kinds with the first seed and the size of each batch."""
    found: list[object] = []
    for name, kind in KINDS.items():
        count = int(os.environ.get(kind.variable, kind.count))
        marks = [] if kind.versions else [pytest.mark.one_version]
        found += [
            pytest.param(name, first, min(kind.batch, count), marks=marks, id=f"{name}-{first}")
            for first in range(FIRST, FIRST + count, kind.batch)
        ]
    return found


@pytest.mark.parametrize(("kind", "first", "count"), batches())
def test_generated(kind: str, first: int, count: int) -> None:
    if kind == "numba_dialect":
        pytest.importorskip("numba")
    compare = import_module(f"generate.{kind}").compare
    results = [compare(seed) for seed in range(first, first + count)]
    faults = [r for r in results if r and not r.startswith("refused")]
    assert not faults, f"{len(faults)} of {count}:\n\n" + "\n\n".join(faults[:3])
    refused = sum(r is not None for r in results)
    assert refused < count * (0.9 if kind == "nonsense" else 0.5), "most kernels are refused"
