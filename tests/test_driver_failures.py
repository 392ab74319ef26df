"""Each call of the driver that the runtime makes fails once.

The exception says which it was, the same step works when it is done again, nothing is leaked, the next launch works.
The calls are the rows CUDA_USED of runtime/cuda_api.def.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cuda_driver import OURS, entries

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted({entry.base for entry in entries() if entry.kind == "USED"})
MOST = 3  # calls of one function that are made to fail, each in a run of its own

# A failure of these isn't the caller's affair: there is another way, or nothing left to do.
UNHEARD = {
    "cuGetProcAddress": "functions are found by their names, too",
    "cuEventDestroy": "cleaning up",
    "cuMemFree": "cleaning up",
    "cuMemFreeHost": "cleaning up",
    "cuModuleUnload": "cleaning up",
    "cuStreamDestroy": "cleaning up",
    "cuLinkDestroy": "cleaning up",
    "cuCtxEnablePeerAccess": "emulated devices don't reach each other's memory",
    "cuGetErrorName": "only asked for errors that have no row in cuda_errors.def",
    "cuGetErrorString": "only asked for errors that have no row in cuda_errors.def",
}
# After these there is no driver.
FINAL = {"cuInit", "cuDriverGetVersion"}
# Steps whose failing leaves something in the driver that nobody can take back.
KEPT = {"cuMemFree", "cuMemFreeHost"}

pytestmark = [pytest.mark.one_version, pytest.mark.skipif(not OURS.exists(), reason="the emulator isn't built")]


@cache
def answers() -> dict[str, dict[str, Any]]:
    """By what failed: what driver_failures.py said."""
    specs = [f"{name}:{n}" for name in NAMES for n in range(1, (1 if name in FINAL else MOST) + 1)]
    # The first ones are the memory pool's, which has another way; how many it makes depends on what has ended by then.
    specs += [f"{name}:{n}" for name in ("cuEventQuery", "cuEventRecord") for n in range(MOST + 1, 25)]
    specs += [
        "cuMemAlloc:1=2,cuMemAlloc:2=2,cuMemAlloc:3=2",
        "cuMemAlloc:1=2",
        "cuLaunchKernel:1=701",
    ]
    specs += ["cuModuleLoadDataEx:1=218", "cuLaunchKernel:1=1"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "driver_failures.py")],
        input="\n".join(specs), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["spec"]: line for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_call(name: str) -> None:
    heard = 0
    for spec, answer in answers().items():
        if spec.partition(":")[0] != name or "=" in spec:
            continue
        raised = answer["raised"]
        heard += bool(raised)
        assert all(step["ours"] for step in raised), answer
        assert all(name in f"{step['call']} {step['text']}" for step in raised), answer
        if name in FINAL:
            assert raised and answer["unexpected"]
            continue
        assert answer["unexpected"] is None, answer["unexpected"]
        assert answer["works"]
        assert len(raised) <= 1
        assert name in KEPT or not any(answer["left"].values()), answer
    assert heard or name in UNHEARD, "no step of the program failed: does it call this function?"
    assert not (heard and name in UNHEARD), "this failure is heard of"


def one(spec: str) -> dict[str, Any]:
    """The only exception of a case."""
    answer = answers()[spec]
    assert answer["unexpected"] is None, answer["unexpected"]
    assert answer["works"] and not any(answer["left"].values())
    (raised,) = answer["raised"]
    return raised


def test_out_of_memory_once_is_tried_again() -> None:
    assert answers()["cuMemAlloc:1=2"]["raised"] == []


def test_out_of_memory() -> None:
    raised = one("cuMemAlloc:1=2,cuMemAlloc:2=2,cuMemAlloc:3=2")
    assert raised["type"] == "OutOfMemoryError"
    assert "no room for" in raised["text"] and "free" in raised["text"]


def test_too_many_resources() -> None:
    assert one("cuLaunchKernel:1=701")["type"] == "LaunchSizeError"


def test_refused_code() -> None:
    raised = one("cuModuleLoadDataEx:1=218")
    assert raised["type"] == "CompileError" and "sm_90" in raised["text"]
