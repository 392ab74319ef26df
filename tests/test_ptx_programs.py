"""PTX that others made, on the emulator: programs in CUDA C, as nvcc compiled them once and, where it is there, now.

The programs and their expectations are in `tests/ptx`. The PTX of our own golden kernels is loaded here for each GPU;
what it computes is compared in `test_golden.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import golden
import gpu
import pytest

sys.path.insert(0, str(Path(__file__).parent / "ptx"))
import run_ptx

EMULATOR = Path(gpu.__file__).parent / "libgpu_emulated.so"
BLOCKS = [block for path in sorted(golden.FOLDER.glob("*.py")) for block in golden.blocks(path) if block.what == "ptx"]

pytestmark = pytest.mark.one_version


@pytest.fixture(scope="module")
def driver() -> run_ptx.Driver:
    return run_ptx.Driver(str(EMULATOR))


@pytest.mark.parametrize("program", run_ptx.programs(), ids=lambda path: path.stem)
def test_kept_ptx(driver: run_ptx.Driver, program: Path) -> None:
    try:
        run_ptx.run(driver, program, program.with_suffix(".ptx").read_bytes())
    except RuntimeError:
        driver.reset()
        raise


def test_checks_are_silent_on_right_programs() -> None:
    """All but the one whose threads end before a barrier, which the check of barriers tells of."""
    checks = os.environ | {"GPU_EMULATOR_CHECK": "uninit,races,barriers,masks"}
    chosen = [str(path) for path in run_ptx.programs() if path.stem != "early_exit"]
    command = [sys.executable, run_ptx.__file__, "--lib", str(EMULATOR), *chosen]
    result = subprocess.run(command, env=checks, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not run_ptx.NVCC, reason="nvcc is not installed")
def test_ptx_of_the_installed_nvcc(driver: run_ptx.Driver) -> None:
    with ThreadPoolExecutor(2) as pool:
        for program, ptx in zip(run_ptx.programs(), pool.map(run_ptx.compile_ptx, run_ptx.programs()), strict=True):
            run_ptx.run(driver, program, ptx)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_golden_ptx_loads(driver: run_ptx.Driver, block: golden.Block, arch: str) -> None:
    kernel = getattr(golden.load(block.path), block.kernel)
    driver.load(kernel.inspect("ptx", block.signature, arch=arch).encode()).unload()
