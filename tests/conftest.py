"""Fixtures that several files use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cuda_driver import OURS, Driver


@pytest.fixture(scope="session")
def driver_library() -> Driver:
    """The emulated driver that the package has, in this process; it prints no faults."""
    d = Driver(OURS)
    d.library.gpuEmulatorPrintFaults(False)
    return d


@pytest.fixture
def driver(driver_library: Driver) -> Iterator[Driver]:
    """The driver with the first device's primary context current; what a test leaves in it goes."""
    driver_library.start()
    yield driver_library
    driver_library.cuDevicePrimaryCtxReset(0)
    driver_library.cuDevicePrimaryCtxRelease(0)
