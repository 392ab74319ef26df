"""Every example runs, on small input, and finds what NumPy finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(p for p in (Path(__file__).parent.parent / "examples").glob("*.py") if p.stem != "common")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, path, "--small"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(path.stem + ": ") and "equals NumPy" in done.stdout
    assert not done.stderr
