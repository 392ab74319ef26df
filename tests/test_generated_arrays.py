"""Generated kernels that work on whole arrays give what NumPy gives, on the compiled devices.

`GPU_GENERATED_ARRAYS` says how many (default 300), `GPU_GENERATED_SEED` where the seeds start.
"""

import os

import generate_arrays
import pytest

FIRST = int(os.environ.get("GPU_GENERATED_SEED", "1"))
COUNT = int(os.environ.get("GPU_GENERATED_ARRAYS", "300"))
BATCH = 50


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_generated_arrays(first: int) -> None:
    results = [generate_arrays.compare(seed, ["cpu", "emulated"]) for seed in range(first, first + BATCH)]
    faults = [f for f in results if f and not f.startswith("refused")]
    assert not faults, f"{len(faults)} of {BATCH}:\n\n" + "\n\n".join(faults[:3])
    assert sum(f is not None for f in results) < BATCH / 2, "most kernels are refused"
