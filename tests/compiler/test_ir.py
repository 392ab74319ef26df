"""Golden files of single passes over IR text, messages of the parser and the verifier, the manual.

A `.ir` file names its passes in its first line (`# passes: simplify`) and ends in what they leave, in comments.
GPU_REWRITE=1 writes that part anew.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = HERE.parents[1] / "compiler"
TOOL = Path(os.environ.get("GPU_BUILD", HERE.parents[1] / "build")) / "bin" / "irtool"
pytestmark = [pytest.mark.skipif(not TOOL.exists(), reason="irtool isn't built"), pytest.mark.one_version]

SMALL = 'kernel k\nparam ptr data "p" leaf 0\nb0:\n  %1 = param ptr 0\n  %2 = const i32 1\n'
BROKEN = {
    "": "line 1: no kernel",
    "kernel k\n": "line 2: no blocks",
    'kernel k\nparam f31 scalar "x"\n': "line 2: 'f31' is not a type",
    "kernel k\nb0:\n  jump b1\n": "line 3: b1 is not defined",
    "kernel k\nb0:\n  ret\nb0:\n  ret\n": "line 4: b0 is defined twice",
    SMALL + "  %3 = add i32 %2, %9\n  ret\n": "line 6: %9 is not defined",
    SMALL + "  %2 = const i32 1\n  ret\n": "line 6: %2 is defined twice",
    SMALL + "  %3 = frob i32 %2\n  ret\n": "line 6: unknown operation 'frob'",
    SMALL + "  %3 = cmp.foo bool %2, %2\n  ret\n": "line 6: CMP has no variant 'foo'",
    SMALL + "  %3 = const i8 200\n  ret\n": "line 6: the constant doesn't fit i8",
    SMALL + "  %3 = addr ptr %1, %2\n  ret\n": "line 6: ADDR needs an immediate",
    SMALL + "  %3 = phi i32 b7:%2\n  ret\n": "line 6: b7 is not defined",
    SMALL + "  ret\n  ret\n": "line 6: RET isn't the last instruction of its block",
    SMALL + "  ret !4\n": "line 6: there is no span 4",
    SMALL + '  ret "x\n': "line 6: ",
    SMALL + "  %3 = add i64 %2, %2\n  ret\n": "input: ADD (value 3, block 0): operand 0 is i32, the result i64",
    SMALL + "  store %2, %1\n  ret\n": "input: STORE (value 3, block 0): stores to a pointer",
    SMALL + "  %3 = div i32 %2, %2\n  ret\n": "input: DIV (value 3, block 0): doesn't take i32",
    SMALL + "  branch %2, b1, b1\nb1:\n  ret\n": "input: BRANCH (value 3, block 0): the condition isn't a bool",
    SMALL + "  %4 = neg i32 %3\n  %3 = neg i32 %2\n  ret\n": "input: NEG (value 3, block 0): operand 0 (value 4",
    SMALL + "  %3 = param i32 0\n  ret\n": "input: PARAM (value 3, block 0): the parameter has another type",
    SMALL: "input: CONST (value 2, block 0): the block doesn't end",
}


def run(text: str, *passes: str) -> subprocess.CompletedProcess[str]:
    """Irtool on a text."""
    return subprocess.run([TOOL, *passes], input=text, capture_output=True, text=True)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ir")), ids=lambda p: p.stem)
def test_golden(path: Path) -> None:
    text = path.read_text()
    source, _, expected = text.partition("# >>>\n")
    passes = re.match(r"# passes: (.+)\n", text)
    assert passes, f"{path.name} names no passes"
    got = run(source, *passes[1].split())
    assert got.returncode == 0, got.stderr
    lines = "".join(f"# {line}".rstrip() + "\n" for line in got.stdout.splitlines()) + "# <<<\n"
    if os.environ.get("GPU_REWRITE") and lines != expected:
        path.write_text(source + "# >>>\n" + lines)
        return
    assert lines == expected


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ir")), ids=lambda p: p.stem)
def test_the_text_is_read_back(path: Path) -> None:
    assert run(path.read_text(), "roundtrip").returncode == 0


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_messages(text: str) -> None:
    got = run(text)
    assert got.returncode == 1
    assert got.stderr.startswith("error: " + BROKEN[text]), got.stderr


def test_the_manual_has_every_operation() -> None:
    """A table row for each row of ops.def, with its operand count, and no other."""
    rows = re.findall(r"^OP\((\w+),\s*(\w+),", (COMPILER / "ops.def").read_text(), re.MULTILINE)
    manual = re.findall(r"^\| `(\w+)[^`]*` \| (\w+) \|", (COMPILER / "IR.md").read_text(), re.MULTILINE)
    assert sorted(manual) == sorted((name.lower(), "any" if n == "VAR" else n) for name, n in rows)


def test_every_operation_is_in_some_golden_file() -> None:
    names = re.findall(r"^OP\((\w+),", (COMPILER / "ops.def").read_text(), re.MULTILINE)
    used = "\n".join(p.read_text() for p in [*HERE.glob("*.ir"), HERE / "test_fold.py"])
    assert [n for n in names if not re.search(rf"\b{n.lower()}\b", used)] == []
