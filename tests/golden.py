"""Golden kernels: ordinary Python files that carry their expectations in comments.

A file in `tests/kernels/` has kernels, for each a line that says how to run it, and blocks of expected text:

    @gpu.jit
    def double(x, out):
        ...

    ARGS = {"double": lambda: (1, 4, [np.arange(4.0), np.zeros(4)])}    # grid, block, arguments

    # >>> ir double(f8[::1], f8[::1])
    # kernel @double ...
    # <<<
    # >>> ptx sm_80 double(f8[::1], f8[::1])
    # ...
    # add.{{r?n?}}.f64
    # ...
    # <<<

`ir` and `message` match exactly. `ptx`, `llvm` and `asm` match by ordered lines: `...` skips any number of lines,
`{{pattern}}` is a regular expression, runs of blanks are alike. `GPU_REWRITE=1` rewrites the exact blocks in
place; the review happens in the diff.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent / "kernels"
HEADER = re.compile(r"# >>> (?P<what>\w+)(?: (?P<arch>sm_\w+))? (?P<kernel>\w+)\((?P<signature>.*)\)$")
EXACT = ("ir", "message", "types")


@dataclass
class Block:
    """One expectation: lines `first` to `last` (from 0, without the markers) of `path`."""

    path: Path
    what: str
    arch: str | None
    kernel: str
    signature: str
    first: int
    last: int
    expected: list[str]

    def __str__(self) -> str:
        arch = f" {self.arch}" if self.arch else ""
        return f"{self.path.stem}-{self.what}{arch}-{self.kernel}({self.signature})"


def blocks(path: Path) -> Iterator[Block]:
    """The expectations in a file, from the top."""
    lines = path.read_text().splitlines()
    start = None
    for number, line in enumerate(lines):
        if line.startswith("# >>> "):
            header = HEADER.match(line)
            assert header, f"{path.name}:{number + 1}: not '# >>> what [arch] kernel(signature)': {line}"
            start = number + 1
        elif line == "# <<<":
            assert start is not None, f"{path.name}:{number + 1}: '# <<<' without '# >>>'"
            body = [text.removeprefix("#").removeprefix(" ") for text in lines[start:number]]
            yield Block(path, **header.groupdict(), first=start, last=number, expected=body)
            start = None
    assert start is None, f"{path.name}:{start}: block without '# <<<'"


def load(path: Path) -> ModuleType:
    """Import a golden file under a name of its own."""
    name = f"golden_{path.parent.name}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def rewrite(block: Block, got: str) -> None:
    """Put `got` in the place of the block's text. Blocks further down are found again by their header."""
    lines = block.path.read_text().splitlines()
    header = lines.index(
        f"# >>> {block.what}{' ' + block.arch if block.arch else ''} {block.kernel}({block.signature})"
    )
    end = lines.index("# <<<", header)
    lines[header + 1 : end] = [("# " + text).rstrip() for text in got.splitlines()]
    block.path.write_text("\n".join(lines) + "\n")


def expect(block: Block, got: str) -> None:
    """Compare; `GPU_REWRITE=1` takes what came for the exact kinds instead."""
    if block.what in EXACT:
        clean = [line.rstrip() for line in got.splitlines()]
        if os.environ.get("GPU_REWRITE") and clean != [line.rstrip() for line in block.expected]:
            rewrite(block, got)
            return
        assert clean == [line.rstrip() for line in block.expected]
    else:
        missing = first_unmatched(block.expected, got.splitlines())
        assert missing is None, f"no line matches {missing!r} (in this order) in:\n{got}"


def pattern(line: str) -> re.Pattern[str]:
    """The regular expression of an expected line."""
    pieces = re.split(r"\{\{(.*?)\}\}", line.strip())
    text = "".join(f"(?:{p})" if i % 2 else re.sub(r"(\\?\s)+", r"\\s+", re.escape(p)) for i, p in enumerate(pieces))
    return re.compile(r"\s*" + text + r"\s*")


def first_unmatched(expected: list[str], got: list[str]) -> str | None:
    """The first expected line that has no match; None if all have. Without `...` between, lines are neighbours."""
    at, gap = 0, True
    for line in expected:
        if line.strip() == "...":
            gap = True
            continue
        want = pattern(line)
        last = len(got) if gap else min(at + 1, len(got))
        found = next((i for i in range(at, last) if want.fullmatch(got[i])), None)
        if found is None:
            return line
        at, gap = found + 1, False
    return None
