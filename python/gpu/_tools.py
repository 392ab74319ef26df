"""Programs of the CUDA toolkit that are used where they are installed: ``ptxas``, ``nvdisasm``, ``cuobjdump``."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile

from ._libdevice import toolkits

WHEELS = ("nvidia/cuda_nvcc/bin", "nvidia/cu*/bin", "nvidia/cuda_cuobjdump/bin", "triton/backends/nvidia/bin")


def find(name: str) -> str | None:
    """Path of a program: on PATH, in a toolkit, in a wheel; None if it isn't installed."""
    on_path = shutil.which(name)
    if on_path:
        return on_path
    places = [os.path.join(root, "bin") for root in toolkits()]
    places += [os.path.join(path, wheel) for path in sys.path if path for wheel in WHEELS]
    for place in places:
        for found in sorted(glob.glob(os.path.join(place, name)), reverse=True):
            if os.access(found, os.X_OK):
                return found
    return None


def version(program: str) -> str:
    """The version that a program of the toolkit prints, ``"?"`` if it doesn't run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    for line in done.stdout.splitlines():
        if "release" in line:
            return line.partition("release")[2].split(",")[0].strip()
    return "?"


def assemble(ptx: str, arch: str, output: str) -> None:
    """Run ``ptxas``.

    Parameters
    ----------
    ptx : str
    arch : str
        ``sm_75``, ...
    output : str
        Path of the cubin to write.

    Raises
    ------
    RuntimeError
        There is no ``ptxas``, or it refuses the text; the message has what it printed.
    """
    ptxas = find("ptxas")
    if ptxas is None:
        raise RuntimeError("ptxas isn't installed: it comes with the CUDA toolkit, or pip install nvidia-cuda-nvcc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)
        done = subprocess.run([ptxas, "-arch", arch, "-o", output, path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ptxas -arch {arch} refuses the PTX:\n{done.stderr or done.stdout}")


def disassemble(ptx: str, arch: str) -> str:
    """Machine code of PTX as text.

    Raises
    ------
    RuntimeError
        ``ptxas`` or a disassembler is missing or fails.
    """
    nvdisasm, cuobjdump = find("nvdisasm"), find("cuobjdump")
    if nvdisasm is None and cuobjdump is None:
        raise RuntimeError(
            "neither nvdisasm nor cuobjdump is installed: they come with the CUDA toolkit, "
            "or pip install nvidia-cuda-cuobjdump"
        )
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernel.cubin")
        assemble(ptx, arch, cubin)
        command = [nvdisasm, "-c", cubin] if nvdisasm else [str(cuobjdump), "-sass", cubin]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(command[0])} fails:\n{done.stderr or done.stdout}")
    return done.stdout
