"""Fixtures that several files use."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator

import gpu
import pytest
from cuda_driver import LIBCUDA, Driver

pytest_plugins = ["gpu.pytest"]  # gpu_device

# A shell's background job ignores SIGINT, and what tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The user's own folder of compiled code is neither read nor filled.
_kept_code = tempfile.TemporaryDirectory(prefix="gpu-tests-")
os.environ["GPU_CACHE_DIR"] = _kept_code.name


@pytest.fixture(autouse=True)
def same_device() -> Iterator[None]:
    """A test that fails half-way leaves the current device as it was."""
    before = gpu.current_device()
    yield
    if gpu.current_device() != before:
        gpu.set_device(before)


@pytest.fixture(scope="session")
def driver_library() -> Driver:
    """The emulated driver, in this process; it prints no faults. What its contexts lose isn't the package's."""
    d = Driver(LIBCUDA)
    d.library.gpuEmulatorPrintFaults(False)
    return d


@pytest.fixture
def driver(driver_library: Driver) -> Iterator[Driver]:
    """The driver with the first device's primary context current; what a test leaves in it goes."""
    driver_library.start()
    yield driver_library
    driver_library.cuDevicePrimaryCtxReset(0)
    driver_library.cuDevicePrimaryCtxRelease(0)
