"""Bytecode to Python SSA: the same text for one source under every Python version, and the same messages."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOOL = Path(os.environ.get("GPU_BUILD", HERE.parents[1] / "build")) / "bin" / "pyirtool"
VERSIONS = re.findall(r"3\.\d+", re.findall(r"^PYTHONS=.*", (HERE.parents[1] / "dev").read_text(), re.MULTILINE)[0])
REWRITE = bool(os.environ.get("GPU_REWRITE"))

pytestmark = [pytest.mark.skipif(not TOOL.exists(), reason="pyirtool isn't built"), pytest.mark.one_version]


def interpreter(version: str) -> str | None:
    """Return an interpreter of the version, if there is one."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def run(*command: str | Path, text: str | None = None) -> str:
    """Run a program; return its output."""
    done = subprocess.run(list(command), input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def rows(version: str, source: Path) -> str:
    """Return the rows of a file's functions as a version compiles them."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version}")
    return run(python, "-B", "-W", "ignore", HERE / "rows.py", source)


def compare(got: str, golden: Path) -> None:
    """Compare with a golden file, function by function."""
    want = golden.read_text()
    if got == want:
        return
    diff = difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got", lineterm="")
    pytest.fail("\n".join(list(diff)[:80]))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["functions", "refused"])
def test_same_text_on_all_versions(name: str, version: str) -> None:
    """Golden text of functions of every construct, and the messages for those outside the language."""
    got = run(TOOL, text=rows(version, HERE / f"{name}.py"))
    golden = HERE / f"{name}.txt"
    if REWRITE and version == next(filter(interpreter, VERSIONS)):
        golden.write_text(got)
    compare(got, golden)


def test_bytecode_of_3_14() -> None:
    """The stored rows of 3.14 give the golden text too."""
    compare(run(TOOL, text=(HERE / "functions_314.rows").read_text()), HERE / "functions.txt")


def test_rows_of_3_14_are_current() -> None:
    """The stored rows are what make_314.py prints now."""
    python = interpreter("3.13")
    if python is None:
        pytest.skip("no Python 3.13")
    made = run(python, "-B", HERE / "make_314.py")
    stored = HERE / "functions_314.rows"
    if REWRITE:
        stored.write_text(made)
    assert made == stored.read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_opcode_numbers(version: str) -> None:
    """The table of opcode numbers is that of each interpreter that is here."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version}")
    section = f"PYOPNUM({version.replace('.', '')},"
    table = (HERE.parents[1] / "frontend" / "pyopnums.def").read_text().splitlines()
    assert run(python, HERE / "opcode_numbers.py").splitlines() == [row for row in table if row.startswith(section)]


@pytest.mark.parametrize("version", VERSIONS)
def test_spans(version: str) -> None:
    """Columns from 3.11 on, lines before: those of the expression itself."""
    text = run(TOOL, "--spans", text=rows(version, HERE / "functions.py"))
    function = text.split("\n\n")[0]
    lines = dict(line.strip().split("   ; ") for line in function.splitlines() if "   ; " in line)
    at = {
        "%12 = BINARY + %10, %11": "13:18-13:29",
        "%9 = COMPARE < %7, %8": "12:8-12:20",
        "%5 = ATTR grid %4": "11:9-11:17",
    }
    for instruction, span in at.items():
        assert lines[instruction] == (span if version != "3.10" else span.split(":")[0])


MALFORMED = {
    "an opcode is unknown in this version of Python": (312, "ff00"),
    "the last instruction is cut off": (312, "7c00 7c00 6b20"),
    "a constant number is out of range": (312, "6409 5300"),
    "a name number is out of range": (310, "7409 5300"),
    "a variable number is out of range": (312, "7c09 5300"),
    "a cell number is out of range": (310, "8809 5300"),
    "an operator number is out of range": (312, "7c00 7c00 7a63 0000 5300"),
    "a comparison number is out of range": (312, "7c00 7c00 6bf0 0000 5300"),
    "a jump leaves the code": (312, "6eff 5300"),
    "a jump leads into the middle of an instruction": (312, "6e01 7a00 0000 6400 5300"),
    "a loop doesn't end in END_FOR": (312, "7c00 4400 5d00 0000 0100 6400 5300"),
    "the code runs past its end": (312, "6400"),
    "the stack is empty": (312, "5300"),
    "a value is missing on the stack": (312, "0200 5300"),
    "a callable is missing": (312, "0200 0200 ab00 0000 0000 0000 5300"),
    "two ways to one place have different stacks": (312, "7c00 7201 7c00 6400 5300"),
    "the code of an exception handler is reached without one": (312, "2300 5300"),
    "a function is made of something that isn't code": (312, "6400 8400 5300"),
    "a call has no tuple of keyword names": (312, "ac00 0200 7c00 6400 ab01 0000 0000 0000 5300"),
    "a slice has two or three parts": (312, "7c00 7c00 7c00 7c00 8504 5300"),
    "this version of Python isn't known": (309, "5300"),
}


@pytest.mark.parametrize("why", MALFORMED)
def test_malformed_bytecode(why: str) -> None:
    """Bytecode that no compiler makes is refused with what is wrong about it."""
    version, code = MALFORMED[why]
    parts = ["none", "code", f"version {version}", "name k", "first 1", "flags 3", "args 1 0 0", "varnames a"]
    parts += ["localsplus a"] * (version > 310) + ["consts 0", f"bytes {code.replace(' ', '')}", "end", "root 1"]
    got = run(TOOL, text="\n".join(parts) + "\n")
    assert got.startswith(f"k:1: UnsupportedError: the bytecode of k() is not understood: {why}\n"), got
