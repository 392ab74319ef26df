"""docs/accuracy.md says what the table of functions and the test of the CPU's functions say."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_table() -> None:
    """Each row has the CPU's bound from test_math.c and CUDA's from mathfn.def; no function is left out."""
    rows = re.findall(r'MATHFN\((\w+), +\d, "(\w+)", +[^)]*?(\d+), (\d+)\)', (ROOT / "compiler/mathfn.def").read_text())
    source = (ROOT / "tests/compiler/test_math.c").read_text()
    bounds = dict(re.findall(r"\{MATH_(\w+), \w+, \w+, [^}]*?, ([\d.]+)\}", source))
    want = [f"| `{lib}` | {bounds[n]} | {f32} | {f64} |" for n, lib, f64, f32 in rows if n in bounds and n != "SQRT"]
    text = (ROOT / "docs/accuracy.md").read_text().splitlines()
    assert [line for line in text if line.startswith("| `") and line.count("|") == 5] == want
    assert len(want) > 25


def test_quick_functions() -> None:
    """Each row of approxfn.def is in the table, with its error."""
    rows = re.findall(r'APPROXFN\(\w+, +"(\w+)", +\d, \w+, +"(.*)"\)', (ROOT / "compiler/approxfn.def").read_text())
    text = (ROOT / "docs/accuracy.md").read_text().splitlines()
    want = [f"| `gpu.fast.{name}` | {error} |" for name, error in rows]
    assert len(want) == 15 and [line for line in text if line.startswith("| `gpu.fast.")] == want
