"""gpu.profile: counters of each source line, as objects, text, JSON and HTML, and as a command."""

from __future__ import annotations

import html.parser
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu._profile import Line

if "emulated:0" not in gpu.devices():
    pytest.skip("no emulator", allow_module_level=True)


@gpu.jit
def rows_and_columns(x: Any, out: Any) -> None:
    i = gpu.grid(1)
    out[0, i] = x[0, i] + 1  # neighbours
    out[i, 0] = x[i, 0] + 1  # a column


@gpu.jit
def split(x: Any) -> None:
    i = gpu.grid(1)
    if i % 2 == 0:
        x[i] = x[i] * x[i]
    else:
        x[i] = 1.0


def line_of(p: Any, text: str) -> Line:
    """The only line with this text in its source."""
    (found,) = (line for line in p.lines if text in line.source)
    return found


def count(kernel: Any, *args: Any, blocks: int = 1) -> Any:
    with gpu.profile() as p:
        kernel[blocks, 32](*args)
    return p


def test_memory_traffic() -> None:
    p = count(rows_and_columns, np.zeros((32, 32), "f4"), np.zeros((32, 32), "f4"))
    near, far = line_of(p, "# neighbours"), line_of(p, "# a column")
    assert (near.requests, near.sectors, near.ideal_sectors) == (2, 8, 8)
    assert (far.requests, far.sectors, far.ideal_sectors) == (2, 64, 8)
    assert near.bytes_read == near.bytes_written == far.bytes_read == 128
    assert near.notes == []
    assert far.notes[0].startswith("8.0 times the memory traffic")
    assert far.launches == 1
    assert Path(str(far.file)).name == "test_profile.py"


def test_divergence() -> None:
    p = count(split, np.zeros(64, "f4"), blocks=2)
    branch = line_of(p, "if i % 2")
    assert (branch.branches, branch.divergent) == (2, 2)
    assert branch.notes == ["2 of 2 branches split their warp"]
    assert line_of(p, "x[i] * x[i]").active_lanes < 20  # 16, but for addresses


@gpu.jit
def conditions(x: Any) -> None:
    i = gpu.grid(1)
    chosen = (i > 3 and x[0] > 1) or i == 7  # one line
    if chosen:
        x[i] += 1


def test_code_that_is_made_of_several_expressions_has_a_line() -> None:
    p = count(conditions, np.ones(32, "f4"))
    assert all(line.line for line in p.lines)
    assert line_of(p, "# one line").instructions > 5


def test_what_is_counted() -> None:
    x = np.zeros(32, "f4")
    with gpu.device("cpu"):
        with gpu.profile() as outer:
            assert gpu.current_device() == "emulated:0"
            split[1, 32](x)
            with gpu.profile() as inner:
                split[1, 32](x)
                split[1, 32](x)
                assert line_of(inner, "if i % 2").branches == 2
            split[1, 32](x)
        assert gpu.current_device() == "cpu"
    with gpu.device("emulated"):
        split[1, 32](x)
    assert (line_of(inner, "if i % 2").branches, line_of(inner, "if i % 2").launches) == (2, 2)
    assert (line_of(outer, "if i % 2").branches, line_of(outer, "if i % 2").launches) == (4, 4)
    with outer:  # counts anew
        pass
    assert outer.lines == []
    assert str(outer) == "no kernel ran on the emulated GPU"
    with outer, pytest.raises(RuntimeError, match="is counting"):
        outer.__enter__()
    with pytest.raises(ValueError, match="only emulated devices"):
        gpu.profile("cpu")


def test_a_kernel_that_fails_is_counted_so_far() -> None:
    @gpu.jit
    def fails(x: Any) -> None:
        x[0] = 1.0
        if x[0] > 0:
            raise ValueError("so it is")

    p = gpu.profile()
    with pytest.raises(ValueError, match="so it is"), p:
        fails[1, 1](np.zeros(1, "f4"))
        gpu.synchronize()
    assert line_of(p, "x[0] = 1.0").instructions > 0
    assert not gpu._profile._open


@pytest.mark.parametrize(
    ("counters", "note"),
    [
        ({"shared_requests": 10, "shared_waves": 320, "ideal_waves": 10}, "bank conflicts: 32.0 passes"),
        ({"atomic_requests": 2, "atomic_rounds": 64}, "atomics: 32 threads of a warp wait"),
        ({"requests": 10, "sectors": 20, "ideal_sectors": 10}, "2.0 times the memory traffic"),
        ({"requests": 10, "sectors": 10, "ideal_sectors": 40}, None),
        ({"branches": 10}, None),
    ],
)
def test_notes(counters: dict[str, int], note: str | None) -> None:
    found = Line("k", None, 0, 1, instructions=10, lanes=320, **counters).notes
    assert [text.startswith(str(note)) for text in found] == [True] * (note is not None)


class Cells(html.parser.HTMLParser):
    """Rows of the tables in a page, as lists of texts."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_reports(tmp_path: Path) -> None:
    p = count(rows_and_columns, np.zeros((32, 32), "f4"), np.zeros((32, 32), "f4"))
    text = str(p)
    assert "rows_and_columns" in text.splitlines()[0]
    assert "1 launch, " in text
    (row,) = (row for row in text.splitlines() if "# a column" in row)
    assert row.split()[3] == "8.00"
    assert f"{100 * line_of(p, '# a column').instructions / sum(x.instructions for x in p.lines):.1f}%" in row
    rows = json.loads(p.to_json(tmp_path / "p.json"))["lines"]
    assert json.loads((tmp_path / "p.json").read_text())["lines"] == rows
    assert [row["sectors"] for row in rows if row["source"].endswith("# a column")] == [64]
    cells = Cells()
    cells.feed(p.to_html(tmp_path / "p.html"))
    assert not cells.open
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")
    (found,) = (row for row in cells.rows if row[-1].endswith("# a column"))
    assert found[4] == "8.00"
    assert any(row[-1] == "def rows_and_columns(x: Any, out: Any) -> None:" for row in cells.rows)
    assert repr(p).startswith("<gpu.profile: ")


# ---- the command

SCRIPT = """
import sys
import gpu
import numpy as np

@gpu.jit
def double(x):
    i = gpu.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] * 2  # <doubled>

if __name__ == "__main__":
    x = np.ones(100, "f4")
    double[4, 32](x)
    print(sys.argv[1:], x.sum())
    if "fail" in sys.argv:
        raise KeyError("oh")
    sys.exit(3)
"""


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "gpu", "profile", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_command(tmp_path: Path) -> None:
    done = run(tmp_path, "--html", "out/p.html", "--json", "p.json", "script.py", "--size", "7")
    assert done.returncode == 3
    assert done.stdout.startswith("['--size', '7'] 200.0\ndouble")
    assert "x[i] = x[i] * 2  # <doubled>" in done.stdout
    assert "# &lt;doubled&gt;" in (tmp_path / "out" / "p.html").read_text()
    assert json.loads((tmp_path / "p.json").read_text())["lines"]


def test_command_with_a_module_and_json(tmp_path: Path) -> None:
    done = run(tmp_path, "--json", "-", "-m", "script", "x")
    first, _, rest = done.stdout.partition("\n")
    assert first == "['x'] 200.0"
    assert {Path(line["file"]).name for line in json.loads(rest)["lines"]} == {"script.py"}


def test_command_when_the_script_fails(tmp_path: Path) -> None:
    done = run(tmp_path, "script.py", "fail")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert 'File "script.py", line 17' in done.stderr.splitlines()[1]
    assert "KeyError: 'oh'" in done.stderr
    assert "# <doubled>" in done.stdout
    done = run(tmp_path, "none.py")
    assert (done.returncode, done.stderr) == (1, "gpu: there is no file none.py\n")
