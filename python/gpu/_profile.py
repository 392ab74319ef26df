"""`profile`: what kernels do, line by line, counted by the emulated GPU; reports as text, JSON and HTML.

Counts are of the PTX that a GPU would get: instructions of whole warps, sectors of memory, waves of shared memory. They
are exact and the same in each run. Times they are not: the emulator has no caches and no clock.
"""

from __future__ import annotations

import ast
import html
import json
import linecache
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WARP = 32
NOTEWORTHY = 2.0  # times as much memory traffic, or waves, as needed


@dataclass(frozen=True)
class Line:
    """What one line of a source file made a kernel do. Counters are sums over all launches.

    Attributes
    ----------
    kernel : str
        Entry in the PTX.
    file : str or None
        None: the code has no line information.
    line : int
        0: instructions of no line.
    launches : int
        Of the kernel.
    instructions : int
        Issued for a warp.
    lanes : int
        Threads that were active in them.
    branches, divergent : int
        Branches, and how many of them split their warp.
    requests, sectors, ideal_sectors : int
        Accesses of a warp to global memory; sectors of 32 bytes that they touched; those that their bytes would fill.
    shared_requests, shared_waves, ideal_waves : int
        Accesses of a warp to shared memory; passes that they took (more, if banks collide); passes for their bytes.
    atomic_requests, atomic_rounds : int
        Atomic operations of a warp, and the rounds that they took: the most threads on one address.
    bytes_read, bytes_written : int
        By all threads, from and to any memory.
    """

    kernel: str
    file: str | None
    line: int
    launches: int
    instructions: int = 0
    lanes: int = 0
    divergent: int = 0
    branches: int = 0
    requests: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    shared_requests: int = 0
    shared_waves: int = 0
    ideal_waves: int = 0
    atomic_requests: int = 0
    atomic_rounds: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def active_lanes(self) -> float:
        """Active threads of an instruction, of 32."""
        return self.lanes / self.instructions if self.instructions else 0.0

    @property
    def sector_ratio(self) -> float:
        """Sectors over those needed: 1 is ideal, below 1 threads share elements, 8 is a column of float32."""
        return self.sectors / self.ideal_sectors if self.ideal_sectors else 0.0

    @property
    def wave_ratio(self) -> float:
        """Waves of shared memory over those needed: 1 is free of bank conflicts, 32 the worst."""
        return self.shared_waves / self.ideal_waves if self.ideal_waves else 0.0

    @property
    def atomic_ratio(self) -> float:
        """Threads of a warp that wait for each other at an atomic, 1 to 32."""
        return self.atomic_rounds / self.atomic_requests if self.atomic_requests else 0.0

    @property
    def source(self) -> str:
        """The line's text; empty where it can't be read."""
        return linecache.getline(self.file, self.line).strip() if self.file and self.line else ""

    @property
    def notes(self) -> list[str]:
        """What is worth a look, in words."""
        found = []
        if self.sector_ratio >= NOTEWORTHY:
            found.append(
                f"{self.sector_ratio:.1f} times the memory traffic that is needed: neighbouring threads (x) should "
                f"use neighbouring elements"
            )
        if self.wave_ratio >= NOTEWORTHY:
            found.append(
                f"bank conflicts: {self.wave_ratio:.1f} passes in place of one; a column more in the shared array "
                f"spreads them"
            )
        if self.atomic_ratio >= NOTEWORTHY:
            found.append(
                f"atomics: {self.atomic_ratio:.0f} threads of a warp wait for each other on one address; reduce "
                f"within the warp or block first"
            )
        if self.divergent:
            found.append(f"{self.divergent} of {self.branches} branches split their warp")
        return found


class Column(NamedTuple):
    """A column of the reports: heading, what it says of a line, and what it means."""

    title: str
    text: Callable[[Line, int], str]
    meaning: str


def _ratio(value: float, is_there: int) -> str:
    return f"{value:.2f}" if is_there else ""


COLUMNS = (
    Column("instr", lambda x, all_: f"{100 * x.instructions / all_:.1f}%" if all_ else "", "share of the instructions"),
    Column("lanes", lambda x, _: f"{x.active_lanes:.1f}", "active threads of 32"),
    Column("split", lambda x, _: str(x.divergent) if x.divergent else "", "branches that split their warp"),
    Column("sectors", lambda x, _: _ratio(x.sector_ratio, x.requests), "global memory: sectors over those needed"),
    Column("waves", lambda x, _: _ratio(x.wave_ratio, x.shared_requests), "shared memory: passes over those needed"),
    Column("atomics", lambda x, _: _ratio(x.atomic_ratio, x.atomic_requests), "threads on one address"),
)


class Profile:
    """The counters of what ran in a ``with gpu.profile() as p:`` block. Printing it gives the table.

    Attributes
    ----------
    lines : list of Line
        By kernel, file and line. Inside of the block: what was counted so far.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._before: str | None = None
        self._start: dict[tuple[Any, ...], Line] = {}
        self._lines: list[Line] | None = None
        self._counts = False

    def __enter__(self) -> Profile:
        if self._counts:
            raise RuntimeError("this profile is counting; gpu.profile() makes another one")
        before = _core.current_device()
        if not before.startswith("emulated"):
            _core.set_device(self._device)
        self._before = before
        self._start = {_key(line): line for line in _read()}
        self._lines = None
        self._counts = True
        _open.append(self)
        _core.profile_count(True)
        return self

    def __exit__(self, *exception: object) -> None:
        self._lines = self.lines
        self._counts = False
        _open.remove(self)
        if not _open and os.environ.get("GPU_EMULATOR_PROFILE", "off") == "off":
            _core.profile_count(False)
        if self._before is not None:
            _core.set_device(self._before)

    @property
    def lines(self) -> list[Line]:
        """What was counted, by kernel, file and line."""
        if not self._counts:
            return self._lines or []
        since = (_since(line, self._start.get(_key(line))) for line in _read())
        return [line for line in since if line.instructions]

    def table(self) -> str:
        """The counters as text, for a terminal."""
        lines = self.lines
        if not lines:
            return "no kernel ran on the emulated GPU"
        rows = [row for kernel, found in _by_kernel(lines) for row in _kernel_rows(kernel, found)]
        return "\n".join([*rows, *(f"{column.title:>15}: {column.meaning}" for column in COLUMNS)])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The counters as JSON: ``{"lines": [{"kernel": ..., ...}, ...]}``; written to a file if one is named."""
        rows = [
            {
                **asdict(line),
                "active_lanes": line.active_lanes,
                "sector_ratio": line.sector_ratio,
                "wave_ratio": line.wave_ratio,
                "atomic_ratio": line.atomic_ratio,
                "source": line.source,
                "notes": line.notes,
            }
            for line in self.lines
        ]
        return _write(json.dumps({"lines": rows}, indent=1), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page with the source beside the figures, which needs no other file; written to a file if one is named."""
        body = "".join(_kernel_html(kernel, found) for kernel, found in _by_kernel(self.lines))
        return _write(PAGE.replace("BODY", body or "<p>No kernel ran on the emulated GPU.</p>"), path)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        lines = self.lines
        return f"<gpu.profile: {len(lines)} lines of {len({line.kernel for line in lines})} kernels>"


_open: list[Profile] = []  # those that count


def profile(device: str = "emulated") -> Profile:
    """Count what kernels do in a ``with`` block, for each line of their source. No GPU is needed.

    In the block kernels run on the emulated GPU, unless another device is set there: counts are those of its PTX, but
    it is thousands of times slower than a GPU, so the problem should be small.

    Parameters
    ----------
    device : str
        Which emulated device, if the current one isn't emulated.

    Returns
    -------
    Profile

    Raises
    ------
    gpu.DeviceError
        The package has no emulator.

    Examples
    --------
    >>> with gpu.profile() as p:
    ...     kernel[8, 128](x, y)
    >>> print(p)
    """
    if not device.startswith("emulated"):
        raise ValueError(f"only emulated devices count what kernels do, not {device}")
    return Profile(device)


def _read() -> list[Line]:
    return [Line(kernel, file, line, launches, **c) for kernel, file, line, launches, c in _core.profile_read()]


def _key(line: Line) -> tuple[Any, ...]:
    return line.kernel, line.file, line.line


def _since(now: Line, then: Line | None) -> Line:
    if then is None:
        return now
    numbers = {f.name: getattr(now, f.name) - getattr(then, f.name) for f in fields(Line)[3:]}
    return Line(now.kernel, now.file, now.line, **numbers)


def _write(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


# ---- kernels and the functions that their lines are in


def _by_kernel(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """Kernels with their lines, those with the most instructions first."""
    kernels: dict[str, list[Line]] = {}
    for line in lines:
        kernels.setdefault(line.kernel, []).append(line)
    return sorted(kernels.items(), key=lambda pair: -_instructions(pair[1]))


def _instructions(lines: list[Line]) -> int:
    return sum(line.instructions for line in lines)


class Section(NamedTuple):
    """A function of a file: its lines first to last, and those with counters."""

    file: str | None
    name: str
    first: int
    last: int
    lines: dict[int, Line]


def _sections(lines: list[Line]) -> Iterator[Section]:
    """The functions that the lines of a kernel are in; lines of no function make one of their own."""
    sections: dict[tuple[Any, ...], Section] = {}
    extents: dict[str | None, list[tuple[int, int, str]]] = {}
    for line in lines:
        if line.file not in extents:
            extents[line.file] = _functions(line.file)
        around = [e for e in extents[line.file] if line.line and e[0] <= line.line <= e[1]]
        first, last, name = max(around) if around else (line.line, line.line, "")
        key = (line.file, first, last) if around else (line.file, 0, 0)
        sections.setdefault(key, Section(line.file, name, first, last, {})).lines[line.line] = line
    for section in sorted(sections.values(), key=lambda s: (s.file or "", s.first)):
        yield section if section.name else section._replace(first=min(section.lines), last=max(section.lines))


def _functions(file: str | None) -> list[tuple[int, int, str]]:
    """First line, last line and name of each function in a file."""
    if file is None:
        return []
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    return [
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


# ---- text


def _heading(lines: list[Line]) -> str:
    launches = max(line.launches for line in lines)
    return f"{launches} launch{'es' if launches != 1 else ''}, {_instructions(lines)} instructions of warps"


def _kernel_rows(kernel: str, lines: list[Line]) -> Iterator[str]:
    total = _instructions(lines)
    yield f"{kernel}: {_heading(lines)}"
    file: str | None = ""
    for section in _sections(lines):
        if section.file != file:
            yield f"  {section.file or 'no line information'}"
            yield "   line " + " ".join(f"{column.title:>7}" for column in COLUMNS) + "  source"
            file = section.file
        for number, line in sorted(section.lines.items()):
            cells = " ".join(f"{column.text(line, total):>7}" for column in COLUMNS)
            yield f"  {number or '-':>5} {cells}  {line.source}".rstrip()
            yield from (f"{'':>8}-> {note}" for note in line.notes)
    yield ""


# ---- HTML

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>gpu profile</title><style>
:root { color-scheme: light dark; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: .5em 0 2em; }
th, td { padding: 0 .6em; text-align: right; white-space: pre; }
th { position: sticky; top: 0; background: Canvas; border-bottom: 1px solid; font-weight: 600; }
td.code, th.code { text-align: left; font-family: ui-monospace, monospace; }
td.note { text-align: left; color: #c2570c; font-size: 12px; white-space: normal; }
td.bad { color: #c2570c; font-weight: 600; }
tr.quiet { opacity: .55; }
</style></head><body><h1>gpu profile</h1>BODY</body></html>
"""


def _kernel_html(kernel: str, lines: list[Line]) -> str:
    parts = [f"<h2>{html.escape(kernel)}</h2><p>{_heading(lines)}</p>"]
    heads = "".join(f'<th title="{html.escape(c.meaning)}">{c.title}</th>' for c in COLUMNS)
    total = _instructions(lines)
    for section in _sections(lines):
        parts.append(f"<h3>{html.escape(section.file or 'no line information')}</h3>")
        parts.append(f'<table><tr><th>line</th>{heads}<th class="code">source</th></tr>')
        numbers = range(section.first, section.last + 1) if section.name else sorted(section.lines)
        parts.extend(_line_html(number, section, total) for number in numbers)
        parts.append("</table>")
    return "".join(parts)


def _line_html(number: int, section: Section, total: int) -> str:
    text = linecache.getline(section.file, number).rstrip() if section.file and number else ""
    code = f'<td class="code">{html.escape(text)}</td>'
    line = section.lines.get(number)
    if line is None:
        return f'<tr class="quiet"><td>{number}</td>{"<td></td>" * len(COLUMNS)}{code}</tr>'
    share = line.instructions / total if total else 0
    heat = f' style="background: rgb(234 88 12 / {0.5 * share:.3f})"'
    bad = {"sectors": line.sector_ratio, "waves": line.wave_ratio, "atomics": line.atomic_ratio}
    cells = "".join(
        f"<td{' class=bad' if bad.get(column.title, 0) >= NOTEWORTHY else ''}>{column.text(line, total)}</td>"
        for column in COLUMNS
    )
    notes = "".join(
        f'<tr><td></td><td class="note" colspan="{len(COLUMNS) + 1}">{html.escape(note)}</td></tr>'
        for note in line.notes
    )
    return f"<tr{heat}><td>{number or '-'}</td>{cells}{code}</tr>{notes}"
