"""Counts machine instructions of our kernels beside those that nvcc makes of the same algorithms in CUDA C.

    python bench/sass.py [--arch sm_90] [--show KERNEL]

Needs nvcc, ptxas and cuobjdump. Prints three tables for README.md: the kernels of the examples beside sass.cu, and
those of sass_kernels.py and sass_work.py, in both dialects and with strided arrays (`_strided`), beside sass_kernels.cu
and sass_work.cu. Counted are instructions in all (without padding), those in some loop, registers, and bytes of the
stack if there are any. `--show` prints the listings of one kernel. Static counts say what a thread could do, not what
it does; they show what the compiler adds to an algorithm.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import gpu
import sass_kernels
import sass_work
from gpu import _tools
from gpu import cuda as numba

HERE = Path(__file__).resolve().parent
INSTRUCTION = re.compile(r"/\*(?P<at>[0-9a-f]{4,})\*/\s+(?:@!?U?P\d+\s+)?(?P<op>[A-Z][\w.]*)(?P<rest>[^;]*);")

# kernel: the example, and the types of its arguments
EXAMPLES = {
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
    stack : int
        Bytes of a thread's stack: arrays of its own and spilled registers.
    """

    text: str
    count: int
    loops: int
    registers: int
    stack: int


def disassemble(cubin: Path) -> dict[str, str]:
    """The listing of each function of a cubin."""
    cuobjdump = _tools.find("cuobjdump")
    if cuobjdump is None:
        sys.exit("cuobjdump isn't installed: pip install nvidia-cuda-cuobjdump")
    done = subprocess.run([cuobjdump, "-sass", cubin], capture_output=True, text=True, check=True)
    parts = re.split(r"^\s*Function : (\S+)$", done.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def usage(cubin: Path) -> dict[str, tuple[int, int]]:
    """Registers and bytes of stack of each function of a cubin."""
    done = subprocess.run(
        [str(_tools.find("cuobjdump")), "-res-usage", cubin], capture_output=True, text=True, check=True
    )
    found = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+)", done.stdout)
    return {name: (int(count), int(stack)) for name, count, stack in found}


def read(listing: str, used: tuple[int, int]) -> Code:
    """Count instructions; a jump back closes a loop, and the last jump to itself is padding."""
    found = [(int(m["at"], 16), m["op"], m["rest"]) for m in INSTRUCTION.finditer(listing)]
    kept = [i for i in found if i[1] != "NOP" and not (i[1] == "BRA" and int(i[2].split()[-1], 16) == i[0])]
    inside = set()
    for at, op, rest in kept:
        target = re.search(r"0x([0-9a-f]+)\s*$", rest)
        if op.startswith("BRA") and target and int(target[1], 16) <= at:
            inside |= {i[0] for i in kept if int(target[1], 16) <= i[0] <= at}
    text = "\n".join(f"{at:04x}  {op}{rest}" for at, op, rest in kept)
    return Code(text, len(kept), len(inside), *used)


def ours(function: Any, signature: str, arch: str, folder: Path) -> Code:
    """What this compiler and ptxas make of a kernel."""
    cubin = folder / "ours.cubin"
    _tools.assemble(function.inspect("ptx", signature, arch=arch), arch, str(cubin))
    ((name, listing),) = disassemble(cubin).items()
    return read(listing, usage(cubin)[name])


def nvcc(source: Path, arch: str, folder: Path) -> dict[str, Code]:
    """What nvcc makes of a file."""
    program = _tools.find("nvcc")
    if program is None:
        sys.exit("nvcc isn't installed: it comes with the CUDA toolkit")
    cubin = folder / "nvcc.cubin"
    subprocess.run([program, "-cubin", f"-arch={arch}", "-O3", "-o", cubin, source], check=True)
    used = usage(cubin)
    return {name: read(listing, used[name]) for name, listing in disassemble(cubin).items()}


def examples(arch: str, folder: Path) -> Iterator[tuple[str, dict[str, Code]]]:
    """Each kernel of the examples: its name with its contestants' code; nvcc's comes last."""
    theirs = nvcc(HERE / "sass.cu", arch, folder)
    for kernel, (example, signature) in EXAMPLES.items():
        function = getattr(importlib.import_module(example), kernel)
        yield kernel, {"gpu": ours(function, signature, arch, folder), "nvcc": theirs[kernel]}


def in_both_dialects(kernels: ModuleType, arch: str, folder: Path) -> Iterator[tuple[str, dict[str, Code]]]:
    """The same of a module with kernels."""
    theirs = nvcc(HERE / f"{kernels.__name__}.cu", arch, folder)
    dialects = {"gpu": kernels.make(gpu), "gpu.cuda": kernels.make(numba)}
    cases = [(name, name, signature) for name, signature in kernels.SIGNATURES.items()]
    for name in kernels.STRIDED:
        cases.append((name + "_strided", name, kernels.SIGNATURES[name].replace("::1", ":")))
    for name, kernel, signature in cases:
        codes = {title: ours(made[kernel], signature, arch, folder) for title, made in dialects.items()}
        yield name, codes | {"nvcc": theirs[name]}


def row(name: str, codes: dict[str, Code]) -> str:
    """A line of the table: the figures of each contestant, and ours as multiples of nvcc's."""
    base = codes["nvcc"].count
    cells = [f"`{name}`"]
    for what in ("count", "loops", "registers"):
        cells += [str(getattr(c, what)) for c in codes.values()]
        if what == "count":
            cells += [f"{c.count / base:.2f}" for title, c in codes.items() if title != "nvcc"]
    stacks = {c.stack for c in codes.values()}
    cells.append("" if stacks == {0} else ", ".join(str(c.stack) for c in codes.values()))
    return "| " + " | ".join(cells) + " |"


def table(contests: Iterator[tuple[str, dict[str, Code]]]) -> None:
    titles: tuple[str, ...] = ()
    for name, codes in contests:
        if not titles:
            titles = tuple(codes)
            heads = [*titles, *["ratio"] * (len(titles) - 1), *[f"in loops, {t}" for t in titles]]
            heads = ["kernel", *heads, *[f"registers, {t}" for t in titles], "stack"]
            print("\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        print(row(name, codes), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--show", metavar="KERNEL")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE.parent / "examples"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = [examples(options.arch, folder)]
        tables += [in_both_dialects(kernels, options.arch, folder) for kernels in (sass_kernels, sass_work)]
        if not options.show:
            for contests in tables:
                table(contests)
            return
        for kernel, codes in chain(*tables):
            if kernel != options.show:
                continue
            for title, code in codes.items():
                print(f"---- {title}\n{code.text}")


if __name__ == "__main__":
    main()
