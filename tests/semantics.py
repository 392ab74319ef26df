"""The table of defined results in `docs/semantics.md`, as rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "semantics.md"
NAMES = {"np": np, "math": math, "inf": math.inf, "nan": math.nan}


@dataclass
class Row:
    """A case: what a kernel gives, and what Python gives (None: it depends; an exception's name; or a value)."""

    expression: str
    operands: tuple[Any, ...]
    kernel: Any
    python: Any

    def __str__(self) -> str:
        return f"{self.expression} of {self.operands}"


def value(cell: str) -> Any:
    """A cell in backquotes is an expression; others are words."""
    code = re.fullmatch(r"`(.*)`", cell)
    return eval(code[1], dict(NAMES)) if code else cell


def rows() -> list[Row]:
    """The rows of the table, in order."""
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        operands = eval(cells[1].strip("`") + ",", dict(NAMES))
        python = value(cells[3])
        found.append(Row(cells[0].strip("`"), operands, value(cells[2]), None if " " in str(python) else python))
    return found
