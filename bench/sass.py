"""Counts machine instructions of the examples' kernels beside those that nvcc makes of the same algorithms in CUDA C.

    python bench/sass.py [--arch sm_90] [--show KERNEL]

Needs nvcc, ptxas and cuobjdump or nvdisasm. Prints a table for README.md: instructions in all (without padding), in the
innermost loops, registers. `--show` prints both listings of one kernel. Static counts say what a thread could do, not
what it does; they show what the compiler adds to an algorithm.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from gpu import _tools

HERE = Path(__file__).resolve().parent
CUDA = HERE / "sass.cu"
INSTRUCTION = re.compile(r"/\*(?P<at>[0-9a-f]{4,})\*/\s+(?:@!?U?P\d+\s+)?(?P<op>[A-Z][\w.]*)(?P<rest>[^;]*);")

# kernel: the example, and the types of its arguments
KERNELS = {
    "saxpy": ("saxpy", "float, f4[::1], f4[::1], f4[::1]"),
    "black_scholes": ("black_scholes", "f4[::1], f4[::1], f4[::1], f4[::1], f4[::1]"),
    "mandelbrot": ("mandelbrot", "i4[:, ::1]"),
    "matmul": ("matmul", "f4[:, ::1], f4[:, ::1], f4[:, ::1]"),
    "histogram": ("histogram", "u1[::1], i8[::1]"),
    "prefix_sum": ("prefix_sum", "i4[::1], i4[::1], u8[::1]"),
    "near": ("bitonic", "f4[::1], int, int"),
    "far": ("bitonic", "f4[::1], int, int"),
    "hits": ("pi", "u8[:, ::1], int, i8[::1]"),
    "spmv": ("spmv", "i8[::1], i4[::1], f8[::1], f8[::1], f8[::1]"),
    "link": ("components", "b1[:, ::1], i4[::1]"),
    "blur": ("blur", "f4[:, ::1], f4[:, ::1]"),
}


class Code(NamedTuple):
    """A kernel's machine code.

    Attributes
    ----------
    text : str
        One instruction a line.
    count : int
        Instructions, without the padding at the end.
    loops : int
        Those that lie in some loop.
    registers : int
        Of a thread.
    """

    text: str
    count: int
    loops: int
    registers: int


def disassemble(cubin: Path) -> dict[str, str]:
    """The listing of each function of a cubin."""
    cuobjdump = _tools.find("cuobjdump")
    if cuobjdump is None:
        sys.exit("cuobjdump isn't installed: pip install nvidia-cuda-cuobjdump")
    done = subprocess.run([cuobjdump, "-sass", cubin], capture_output=True, text=True, check=True)
    parts = re.split(r"^\s*Function : (\S+)$", done.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def registers(cubin: Path) -> dict[str, int]:
    """Registers of each function of a cubin."""
    done = subprocess.run(
        [str(_tools.find("cuobjdump")), "-res-usage", cubin], capture_output=True, text=True, check=True
    )
    found = re.findall(r"Function (\S+):\s+REG:(\d+)", done.stdout)
    return {name: int(count) for name, count in found}


def read(listing: str, registers: int) -> Code:
    """Count instructions; a jump back closes a loop, and the last jump to itself is padding."""
    found = [(int(m["at"], 16), m["op"], m["rest"]) for m in INSTRUCTION.finditer(listing)]
    kept = [i for i in found if i[1] != "NOP" and not (i[1] == "BRA" and int(i[2].split()[-1], 16) == i[0])]
    inside = set()
    for at, op, rest in kept:
        target = re.search(r"0x([0-9a-f]+)\s*$", rest)
        if op.startswith("BRA") and target and int(target[1], 16) <= at:
            inside |= {i[0] for i in kept if int(target[1], 16) <= i[0] <= at}
    text = "\n".join(f"{at:04x}  {op}{rest}" for at, op, rest in kept)
    return Code(text, len(kept), len(inside), registers)


def ours(kernel: str, arch: str, folder: Path) -> Code:
    """What this compiler and ptxas make of an example's kernel."""
    example, signature = KERNELS[kernel]
    function = getattr(importlib.import_module(example), kernel)
    cubin = folder / f"{kernel}.cubin"
    _tools.assemble(function.inspect("ptx", signature, arch=arch), arch, str(cubin))
    ((name, listing),) = disassemble(cubin).items()
    return read(listing, registers(cubin)[name])


def nvcc(arch: str, folder: Path) -> dict[str, Code]:
    """What nvcc makes of sass.cu."""
    program = _tools.find("nvcc")
    if program is None:
        sys.exit("nvcc isn't installed: it comes with the CUDA toolkit")
    cubin = folder / "nvcc.cubin"
    subprocess.run([program, "-cubin", f"-arch={arch}", "-O3", "-o", cubin, CUDA], check=True)
    used = registers(cubin)
    return {name: read(listing, used[name]) for name, listing in disassemble(cubin).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--show", choices=KERNELS)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE.parent / "examples"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = nvcc(options.arch, folder)
        if options.show:
            for title, code in (("ours", ours(options.show, options.arch, folder)), ("nvcc", theirs[options.show])):
                print(f"---- {title}\n{code.text}")
            return
        print("| kernel | gpu | nvcc | ratio | in loops, gpu | nvcc | registers, gpu | nvcc |")
        print("|---|---|---|---|---|---|---|---|")
        for kernel in KERNELS:
            a, b = ours(kernel, options.arch, folder), theirs[kernel]
            ratio = f"{a.count / b.count:.2f}"
            print(
                f"| `{kernel}` | {a.count} | {b.count} | {ratio} | {a.loops} | {b.loops} "
                f"| {a.registers} | {b.registers} |"
            )


if __name__ == "__main__":
    main()
