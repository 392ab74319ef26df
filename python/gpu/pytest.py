"""A plugin for pytest: the fixture ``gpu_device`` runs a test on several devices, ``--gpu-check`` looks for faults.

An installed package registers it; from a source tree: ``python -m pytest -p gpu.pytest``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gpu
import pytest
from gpu import _checks

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVICES = ("python", "cpu", "emulated", "cuda")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--gpu-devices`` and ``--gpu-check``."""
    group = parser.getgroup("gpu", "kernels of gpu")
    group.addoption(
        "--gpu-devices",
        default="python,cpu,emulated",
        metavar="NAMES",
        help="what gpu_device goes through, with commas: python, cpu, emulated, cuda, cuda:1. Default: %(default)s",
    )
    group.addoption(
        "--gpu-check",
        metavar="WHAT",
        help="an index out of bounds raises on every device, and the emulated GPU looks for "
        f"{', '.join(_checks.CHECKS[1:])} (several with commas) or all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options, and set what ``--gpu-check`` asks for before a kernel is made and the emulator starts."""
    devices = config.getoption("--gpu-devices").split(",")
    if unknown := [d for d in devices if d.partition(":")[0] not in DEVICES]:
        raise pytest.UsageError(f"--gpu-devices {', '.join(unknown)}: there are {', '.join(DEVICES)}")
    what = config.getoption("--gpu-check")
    if message := _checks.ask_for(what, "--gpu-check") if what else None:
        raise pytest.UsageError(message)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses ``gpu_device`` once for each device."""
    if "gpu_device" in metafunc.fixturenames:
        names = metafunc.config.getoption("--gpu-devices").split(",")
        metafunc.parametrize("gpu_device", names, indirect=True)


@pytest.fixture
def gpu_device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a device the current one; its name.

    The test is run once for each device of ``--gpu-devices``. What its kernels raise is raised at the latest when it
    ends. A GPU that isn't there skips the test.
    """
    name: str = request.param
    if name.startswith("cuda") and not gpu.is_available():
        pytest.skip("there is no GPU")
    with gpu.device(name):
        yield name
        gpu.synchronize()
