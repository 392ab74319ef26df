"""Generated kernels whose threads work together give the same on `emulated`, `cpu` and (some) `python`.

`GPU_GENERATED_THREADS` says how many (default 200), `GPU_GENERATED_SEED` where the seeds start.
"""

import os

import generate_threads
import pytest

FIRST = int(os.environ.get("GPU_GENERATED_SEED", "1"))
COUNT = int(os.environ.get("GPU_GENERATED_THREADS", "200"))
BATCH = 25


@pytest.mark.one_version
@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_generated_threads(first: int) -> None:
    faults = [f for f in map(generate_threads.compare, range(first, first + BATCH)) if f]
    assert not faults, f"{len(faults)} of {BATCH}:\n\n" + "\n\n".join(faults[:3])
