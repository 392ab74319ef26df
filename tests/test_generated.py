"""Generated kernels agree between the `python` device and the compiled ones, in value and type.

`GPU_GENERATED` says how many (default 2000), `GPU_GENERATED_SEED` where the seeds start.
"""

import os

import generate
import pytest

FIRST = int(os.environ.get("GPU_GENERATED_SEED", "1"))
COUNT = int(os.environ.get("GPU_GENERATED", "2000"))
BATCH = 100


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_generated(first: int) -> None:
    faults = [f for f in (generate.compare(seed, ["cpu", "emulated"]) for seed in range(first, first + BATCH)) if f]
    assert not faults, f"{len(faults)} of {BATCH}:\n\n" + "\n\n".join(faults[:3])
