"""A pytest plugin for run_numba_cuda.py: a test module by its real name, and a log of what each test does."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from types import ModuleType

import pytest

MODULE = os.environ["PEER_MODULE"]
FAULTS = (
    "ILLEGAL_ADDRESS",
    "MISALIGNED_ADDRESS",
    "LAUNCH_FAILED",
    "LAUNCH_TIMEOUT",
    "ILLEGAL_INSTRUCTION",
    "INVALID_PC",
)
BROKEN = 77  # also in run_numba_cuda.py
SKIP = set(json.loads(os.environ["PEER_SKIP"]))


broken: list[str] = []


class Named(pytest.Module):
    """A module of numba.cuda.tests, which lies in a folder of another name."""

    def _getobj(self) -> ModuleType:
        return importlib.import_module(f"numba.cuda.tests.{MODULE}")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir:
    """Folders are no packages: those would be imported by a wrong name."""
    return pytest.Dir.from_parent(parent, path=path)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return Named.from_parent(parent, path=module_path)


@pytest.fixture
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What the conftest.py of numba-cuda's repository does, which the wheel lacks."""
    request.cls._dump_failed_filechecks = False


def name_of(nodeid: str) -> str:
    return f"{MODULE}::" + nodeid.split("::", 1)[-1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if name_of(item.nodeid) not in SKIP]


def write(nodeid: str, outcome: str, why: str = "") -> None:
    with open(os.environ["PEER_LOG"], "a") as log:
        log.write(json.dumps({"test": name_of(nodeid), "outcome": outcome, "why": why}) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    write(nodeid, "starts")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        xfail = hasattr(report, "wasxfail")
        why = report.wasxfail if xfail else report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        write(report.nodeid, "passed" if xfail else "skipped", why)
    elif report.failed:
        lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
        broken.extend(name for name in FAULTS if name in report.longreprtext)
        write(report.nodeid, "failed", (lines[0] if lines else report.longreprtext)[2:].strip()[:300])
    elif report.when == "call":
        write(report.nodeid, "passed")


def pytest_runtest_logfinish() -> None:
    """A fault of a kernel stays in the context: the other tests run in a process of their own."""
    if broken:
        pytest.exit("the context is broken", returncode=BROKEN)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        write("::", "failed", report.longreprtext[-300:])
