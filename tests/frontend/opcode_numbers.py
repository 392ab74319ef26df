"""Print the section of frontend/pyopnums.def of the interpreter that runs this file.

A new Python version starts here: run this file with it, append the output to pyopnums.def, and give the names that
pyops.def doesn't have yet a row there. The unit tests compare each section with its interpreter, where that exists.
"""

from __future__ import annotations

import opcode
import sys

SKIPPED = ("CACHE", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK", "ENTER_EXECUTOR", "RESUME_CHECK")


def caches(name: str, number: int) -> int:
    """Return how many inline cache units follow the opcode."""
    table = getattr(opcode, "_inline_cache_entries", None)
    if table is None:
        return 0
    return table.get(name, 0) if isinstance(table, dict) else table[number]


def rows() -> list[tuple[int, str, int]]:
    """Return (number, name, cache units) of every opcode that stored code can have."""
    return [
        (number, name, caches(name, number))
        for name, number in sorted(opcode.opmap.items(), key=lambda item: item[1])
        if number < 256 and name not in SKIPPED and not name.startswith("INSTRUMENTED_")
    ]


def main() -> None:
    """Print the section."""
    version = sys.version_info[0] * 100 + sys.version_info[1]
    for number, name, units in rows():
        print(f"PYOPNUM({version}, {number:3}, {name + ',':32} {units})")


if __name__ == "__main__":
    main()
