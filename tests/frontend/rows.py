"""Functions as rows of text, which rowhost.c reads: bytecode tests that need no Python to run.

One line an object, numbered from 0: ``none``, ``bool 1``, ``int 5``, ``float 0x1.8p+0``, ``complex re im``,
``str text``, ``tuple 1 2``, ``slice 1 2 3``, ``other type``, or ``code`` and its parts up to ``end``. Texts are
percent-encoded. ``root 7`` lines say which objects are to be compiled.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from urllib.parse import quote


def word(text: str) -> str:
    """Return text as one word."""
    return quote(text, errors="replace", safe="<>.,:=()[]*+'\"/") or "%"


def positions(code: types.CodeType) -> list[int]:
    """Return line, end line, column, end column of each code unit, from 1; 0 is unknown."""
    flat: list[int] = []
    if hasattr(code, "co_positions"):
        for line, end, col, end_col in code.co_positions():
            flat += [line or 0, end or 0, 0 if col is None else col + 1, 0 if end_col is None else end_col + 1]
        return flat
    lines = {unit: line for start, stop, line in code.co_lines() for unit in range(start, stop, 2)}
    for unit in range(0, len(code.co_code), 2):
        flat += [lines.get(unit) or 0, 0, 0, 0]
    return flat


class Rows:
    """Collects objects; ``lines`` is the text."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.known: dict[tuple[type, str], int] = {}

    def _line(self, line: str) -> int:
        self.lines.append(line)
        self.count += 1
        return self.count - 1

    def add(self, obj: object) -> int:
        """Add an object with what it refers to; return its number."""
        key = (type(obj), repr(obj))
        if key not in self.known:
            self.known[key] = self._code(obj) if isinstance(obj, types.CodeType) else self._line(self._plain(obj))
        return self.known[key]

    def _plain(self, obj: object) -> str:
        if obj is None:
            return "none"
        if isinstance(obj, (bool, int)):
            return f"{type(obj).__name__} {int(obj)}"
        if isinstance(obj, float):
            return f"float {obj.hex()}"
        if isinstance(obj, complex):
            return f"complex {obj.real.hex()} {obj.imag.hex()}"
        if isinstance(obj, str):
            return f"str {word(obj)}"
        if isinstance(obj, tuple):
            return " ".join(["tuple", *(str(self.add(item)) for item in obj)])
        if isinstance(obj, slice):
            return " ".join(["slice", *(str(self.add(item)) for item in (obj.start, obj.stop, obj.step))])
        return f"other {word(type(obj).__name__)}"

    def _code(self, code: types.CodeType) -> int:
        consts = [self.add(item) for item in code.co_consts]

        def listed(name: str, items: Iterable[object]) -> None:
            self.lines.append(" ".join([name, *(str(item) for item in items)]))

        self.lines.append("code")
        self.lines.append(f"version {sys.version_info[0] * 100 + sys.version_info[1]}")
        self.lines.append(f"name {word(code.co_name)}")
        self.lines.append(f"first {code.co_firstlineno}")
        self.lines.append(f"flags {code.co_flags}")
        listed("args", (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
        for part in ("names", "varnames", "cellvars", "freevars"):
            listed(part, map(word, getattr(code, "co_" + part)))
        if sys.version_info >= (3, 11):
            cells = [name for name in code.co_cellvars if name not in code.co_varnames]
            listed("localsplus", map(word, (*code.co_varnames, *cells, *code.co_freevars)))
            self.lines.append(f"table {code.co_exceptiontable.hex()}")
        listed("consts", consts)
        self.lines.append(f"bytes {code.co_code.hex()}")
        listed("positions", positions(code))
        return self._line("end")


def dump(functions: Iterable[Callable[..., object]]) -> str:
    """Return the rows of functions."""
    rows = Rows()
    roots = [rows.add(function.__code__) for function in functions]
    return "\n".join([*rows.lines, *(f"root {root}" for root in roots)]) + "\n"


def main() -> None:
    """Print the rows of every function that a file defines, in its order."""
    space: dict[str, object] = {}
    with open(sys.argv[1], encoding="utf-8") as source:
        exec(compile(source.read(), sys.argv[1], "exec", dont_inherit=True), space)
    sys.stdout.write(dump(f for f in space.values() if isinstance(f, types.FunctionType)))


if __name__ == "__main__":
    main()
