"""Every golden kernel: its expectations, its result on every device, its PTX through `ptxas`."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path

import golden
import gpu
import numpy as np
import pytest

FILES = sorted(golden.FOLDER.glob("*.py"))
BLOCKS = [block for path in FILES for block in golden.blocks(path)]
COMPILED_DEVICES = ["cpu", "emulated"]
PTXAS = shutil.which("ptxas")


def runs() -> list[tuple[Path, str]]:
    """Every kernel that has a row in its file's ARGS."""
    return [(path, name) for path in FILES for name in golden.load(path).ARGS]


def kernel_ids(item: object) -> str:
    return item.stem if isinstance(item, Path) else str(item)


def launch(device: str, path: Path, name: str) -> list:
    """Run a kernel on fresh arguments; returns them as they are afterwards."""
    module = golden.load(path)
    grid, block, args = module.ARGS[name]()
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(module, name)[grid, block](*args)
        gpu.synchronize()
    return args


def same(got: object, want: object) -> bool:
    """Equal in type and to the bit; any NaN equals any NaN."""
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape
        if want.dtype.kind in "fc":
            return np.array_equal(got, want, equal_nan=True) and np.array_equal(
                np.signbit(got.real), np.signbit(want.real)
            )
        return np.array_equal(got, want)
    return True


def test_every_file_states_something() -> None:
    for path in FILES:
        assert golden.load(path).__doc__, f"{path.name} has no docstring"
        assert golden.load(path).ARGS, f"{path.name} runs nothing"
        assert any(block.path == path for block in BLOCKS), f"{path.name} expects no text"


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_text(block: golden.Block) -> None:
    kernel = getattr(golden.load(block.path), block.kernel)
    options = {"arch": block.arch} if block.arch else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        golden.expect(block, kernel.inspect(block.what, block.signature, **options))


@pytest.mark.parametrize("device", COMPILED_DEVICES)
@pytest.mark.parametrize(("path", "name"), runs(), ids=kernel_ids)
def test_result(path: Path, name: str, device: str) -> None:
    want = launch("python", path, name)
    got = launch(device, path, name)
    tolerance = getattr(golden.load(path), "RTOL", {}).get(name)
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if tolerance is not None and isinstance(b, np.ndarray) and b.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=tolerance, err_msg=f"argument {number}")
        else:
            assert same(a, b), f"argument {number}: {device} gives {a!r}, Python {b!r}"


@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")
@pytest.mark.one_version
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("path", FILES, ids=kernel_ids)
def test_ptxas(path: Path, arch: str, tmp_path: Path) -> None:
    for block in golden.blocks(path):
        if block.what != "ir":
            continue
        kernel = getattr(golden.load(path), block.kernel)
        source = tmp_path / "k.ptx"
        source.write_text(kernel.inspect("ptx", block.signature, arch=arch))
        done = subprocess.run(
            [PTXAS, f"-arch={arch}", "-o", str(tmp_path / "k.cubin"), str(source)], capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}: {done.stderr}"
