"""The plugin for pytest: one test on several devices, and what --gpu-check finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = (Path(__file__).parents[1] / "faulty_kernels.py").read_text().partition("if __name__")[0]
TESTS = (
    KERNELS
    + """
def test_device(gpu_device):
    assert gpu.current_device() == gpu_device or gpu.current_device().startswith(gpu_device)

def test_race(gpu_device):
    reverse[1, 64](np.zeros(64, np.float32))

def test_bounds(gpu_device):
    shift[1, 4](np.zeros(4))

def test_late(gpu_device):
    fails[1, 1](gpu.zeros(1))
"""
)


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_kernels.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "gpu.pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_each_device_in_turn(tmp_path: Path) -> None:
    done = run(tmp_path, "-k", "device", "-vv")
    for name in ("python", "cpu", "emulated"):
        assert f"test_device[{name}] PASSED" in done.stdout
    assert "test_device[cuda] SKIPPED" in run(tmp_path, "-k", "device", "-vv", "--gpu-devices", "cuda").stdout


@pytest.mark.parametrize(
    ("test", "options", "outcome"),
    [
        ("race", ["--gpu-check", "races"], "data race"),
        ("race", ["--gpu-check", "barriers"], "1 passed"),
        ("bounds", ["--gpu-check", "all"], "index 4 is out of bounds for axis 0 with size 4"),
        ("late", [], "not positive"),
        ("late", ["--gpu-check", "rases"], "--gpu-check rases: there are all, uninit"),
    ],
)
def test_what_is_found(tmp_path: Path, test: str, options: list[str], outcome: str) -> None:
    done = run(tmp_path, "-k", test, "--gpu-devices", "emulated", *options)
    assert outcome in done.stdout + done.stderr
    assert (done.returncode == 0) == ("passed" in outcome)
