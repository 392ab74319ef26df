"""Every fenced block of the documentation is run, or compared with what it quotes.

* ``python``: the blocks of one page are one program, run from the top. A block whose first line is `# file: NAME`
  is written to that file instead. A ``text`` block right after it is what it prints.
* ``console``: after each `$ ` a command for bash, below it what it prints. `./dev` commands aren't run from inside
  themselves: they must be among those that `./dev help` lists.
* ``ir``: text of the kernel IR, which `irtool` reads and prints alike.
* ``c``: a quotation: each line must be in the sources.

Output is compared loosely: blanks are alike, and `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "compiler").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUOTED = ("*.c", "*.h", "*.def", "*.py")


@dataclass
class Block:
    """A fenced block: its language, its text, the line of the page on which the text starts."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in order."""
    text = page.read_text()
    return [Block(m[1], m[2], text.count("\n", 0, m.start(2)) + 1) for m in FENCE.finditer(text)]


def alike(got: str, want: str) -> bool:
    """Whether `got` is the output that `want` shows."""
    pattern = r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*?") for word in want.split())
    return re.fullmatch(pattern, got.strip(), re.DOTALL) is not None


def run_python(page: Path, block: Block, names: dict[str, Any]) -> str:
    """Run a block in `names`; what it prints. Line numbers are those of the page."""
    source = "\n" * (block.line - 1) + block.text
    filename = f"<{page.name}:{block.line}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, filename, "exec", dont_inherit=True), names)
    return out.getvalue()


def run_console(block: Block, folder: Path) -> None:
    """Run the commands of a block in `folder` and compare what they print; what one exports the next ones see."""
    exports: list[str] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, want = part.partition("\n")
        if command.startswith("./dev "):
            known = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
            assert re.search(rf"^{re.escape(' '.join(command.split()[:2]))}\b", known, re.MULTILINE), command
            continue
        if command.startswith("export "):
            exports.append(command)
            continue
        env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        script = "\n".join([*exports, command])
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=120
        )
        assert alike(done.stdout + done.stderr, want), f"$ {command}\n{done.stdout}{done.stderr}\nexpected:\n{want}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples, and the commands `gpu` and `python`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "bin").mkdir()
    for name, options in (("gpu", " -m gpu"), ("python", "")):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}"{options} "$@"\n')
        command.chmod(0o755)
    return tmp_path


def sources() -> str:
    """All sources, blanks made alike."""
    files = subprocess.run(["git", "ls-files", *QUOTED], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return "\n".join(" ".join(line.split()) for f in files.split() for line in (ROOT / f).read_text().splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)  # a page imports the files that it writes
    names: dict[str, Any] = {"__name__": page.stem}
    printed: str | None = None
    for block in blocks(page):
        if block.language == "python":
            head, _, rest = block.text.partition("\n")
            if head.startswith("# file: "):
                (folder / head.removeprefix("# file: ")).write_text(rest)
                printed = None
            else:
                printed = run_python(page, block, names)
        elif block.language == "text":
            assert printed is not None, f"{page.name}:{block.line}: a text block follows the code that prints it"
            assert alike(printed, block.text), f"{page.name}:{block.line}: printed\n{printed}"
            printed = None
        elif block.language == "console":
            run_console(block, folder)
        elif block.language == "ir":
            tool = [Path(os.environ["GPU_BUILD"]) / "bin" / "irtool", "--spans", "roundtrip"]
            done = subprocess.run(tool, input=block.text, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, f"{page.name}:{block.line}: {done.stderr}"
        elif block.language == "c":
            known = sources()
            for line in block.text.splitlines():
                assert " ".join(line.split()) in known, f"{page.name}:{block.line}: not in the sources: {line}"
        else:
            pytest.fail(f"{page.name}:{block.line}: nothing runs a block of '{block.language}'")


def test_links() -> None:
    """Links between pages lead to files that exist."""
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#\S*)?\)", FENCE.sub("", page.read_text()))
        if not (page.parent / target).exists()
    ]
    assert not broken


def test_files_named() -> None:
    """Paths in backticks are files or folders of this project."""
    wrong = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in re.findall(
            r"`((?:compiler|frontend|runtime|python|tests|examples|docs|cmake)/[\w./]+)`", page.read_text()
        )
        if not (ROOT / name).exists()
    ]
    assert not wrong


def test_the_comparison_can_fail() -> None:
    assert alike("a  b\nc", "a b c")
    assert alike("a 12 c", "a ... c")
    assert not alike("a b", "a c")
    assert not alike("a b c", "a b")
