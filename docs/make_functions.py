"""Writes docs/functions.md from frontend/devfn.def and compiler/mathfn.def: run it after a change there.

A test compares the page with what this makes.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "functions.md"
ROW = re.compile(
    r'^DEV(?:FN|EACH|ARRAY|NONE)\("(?P<path>[^"]+)",\s*"(?P<sig>[^"]*)",\s*\w+,\s*(?P<param>\w+),\s*"(?P<doc>.*)"\)',
    re.M,
)
VALUE = re.compile(r'^DEVVALUE\("(?P<path>[^"]+)",\s*\w+,\s*\w+,\s*"(?P<doc>.*)"\)', re.M)
SECTION = re.compile(r"^/\* (?P<title>.+?) \*/$", re.M)
MATHFN = re.compile(r"^MATHFN\((\w+),.*,\s*(\d+),\s*(\d+)\)", re.M)

HEAD = """# Functions that a kernel may call

For those who look for a function, or for its errors.

Made from `frontend/devfn.def` by `docs/make_functions.py`. What a kernel defines where Python raises is in
[semantics.md](semantics.md). The last columns bound the error in units in the last place, on every device, for
float64 and float32; 0 is the correctly rounded result; float16 and bfloat16 are computed in float32 and rounded. Where
they are empty the function is exact, or as exact as the operations that it is made of.
"""


def bounds() -> dict[str, tuple[str, str]]:
    """ULPs of each function of mathfn.def: (float64, float32)."""
    return {name: (f64, f32) for name, f64, f32 in MATHFN.findall((ROOT / "compiler" / "mathfn.def").read_text())}


def sections() -> list[tuple[str, list[re.Match[str]]]]:
    """The groups of devfn.def with their rows, in order."""
    text = (ROOT / "frontend" / "devfn.def").read_text()
    marks = [*SECTION.finditer(text)]
    ends = [m.start() for m in marks[1:]] + [len(text)]
    found = []
    for mark, end in zip(marks, ends, strict=True):
        rows = [m for pattern in (VALUE, ROW) for m in pattern.finditer(text, mark.end(), end)]
        found.append((mark["title"], sorted(rows, key=lambda m: m.start())))
    return found


def called(path: str) -> str:
    """The name as a kernel writes it."""
    module, _, name = path.partition(".")
    return {"builtins": "", "numpy": "np.", "scalar": "x.", "str": "'...'."}.get(module, module + ".") + name


def page() -> str:
    """The text of docs/functions.md."""
    ulps = bounds()
    lines = [HEAD]
    for title, rows in sections():
        lines += [f"## {title}", "", "| function | | f64 | f32 |", "|---|---|---|---|"]
        for row in rows:
            groups = row.groupdict()
            real = not groups["path"].startswith("cmath.")
            f64, f32 = ulps.get((groups.get("param") or "").removeprefix("MATH_") if real else "", ("", ""))
            text = groups["doc"].replace("|", r"\|")
            lines.append(f"| `{called(groups['path'])}{groups.get('sig') or ''}` | {text} | {f64} | {f32} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
