"""Every example runs, on small input, and finds what NumPy finds; Numba programs on the emulated device, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(p for p in FOLDER.glob("*.py") if p.stem != "common")
NUMBA = sorted((FOLDER / "numba").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, path, "--small"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(path.stem + r": .*; (equals NumPy|is as near as NumPy's)\. ", done.stdout), done.stdout
    assert not done.stderr


@pytest.mark.parametrize("name", ["bitonic", "blur", "components", "histogram", "matmul", "prefix_sum"])
def test_nothing_is_found_in_those_whose_threads_cooperate(name: str) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "gpu", "check", FOLDER / f"{name}.py", "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "gpu check: nothing found\n")


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("path", NUMBA, ids=lambda p: p.stem)
def test_numba_program(path: Path, device: str) -> None:
    pytest.importorskip("matplotlib")
    environment = {**os.environ, "GPU_DEVICE": device}
    command = [sys.executable, path, "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert re.match(path.stem + r": .* equals? (NumPy|hashlib|the formula)", done.stdout), done.stdout
    assert not done.stderr


@pytest.mark.parametrize("path", NUMBA, ids=lambda p: p.stem)
def test_only_the_import_is_ours(path: Path) -> None:
    ours = [line for line in path.read_text().splitlines() if re.search(r"\bgpu\b", line)]
    assert ours and all(re.fullmatch(r"from gpu import cuda|from gpu\.cuda\.random import .*", line) for line in ours)
