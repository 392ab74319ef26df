"""Runs the printed text of a PyFunc in Python: what the frontend understood, compared with what CPython does."""

from __future__ import annotations

import builtins
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "/": operator.truediv,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
INSTR = re.compile(r"  %(\d+) = (\w+)(.*)")
BLOCK = re.compile(r"b(\d+):(?:  ; from (.*?))?(?:, a loop)?$")
OPERANDS = re.compile(r" ((?:%\d+|-)(?:, (?:\w+=)?(?:%\d+|-))*)$")


class Undefined(Exception):
    """A variable is read before it is assigned."""


class Steps(Exception):
    """The function ran too long."""


class Function:
    """A PyFunc, parsed."""

    def __init__(self, text: str) -> None:
        self.blocks: list[tuple[list[int], list[tuple[int, str, str, list[str]]], str]] = []
        preds: list[int] = []
        instrs: list[tuple[int, str, str, list[str]]] = []
        for line in text.splitlines()[1:]:
            if block := BLOCK.match(line):
                preds = [int(p[1:]) for p in (block[2] or "").split(", ") if p]
                instrs = []
            elif instr := INSTR.match(line):
                rest, operands = instr[3], []
                if instr[2] not in ("CONST", "GLOBAL", "PARAM", "UNDEF") and (found := OPERANDS.search(rest)):
                    operands = found[1].split(", ")
                    rest = rest[: found.start()]
                instrs.append((int(instr[1]), instr[2], rest.strip(), operands))
            else:
                self.blocks.append((preds, instrs, line.strip()))

    def run(self, args: Sequence[Any], space: dict[str, Any], steps: int = 20000) -> Any:
        """Return what the function returns."""
        values: dict[int, Any] = {}
        block, came_from = 0, -1
        while True:
            preds, instrs, end = self.blocks[block]
            phis = [i for i in instrs if i[1] == "PHI"]
            taken = [values.get(int(i[3][preds.index(came_from)][1:])) for i in phis]
            values.update(zip((i[0] for i in phis), taken, strict=True))
            for number, op, what, operands in instrs[len(phis) :]:
                steps -= 1
                values[number] = self.one(op, what, [values[int(o.split("%")[1])] for o in operands], args, space)
            steps -= 1
            if steps < 0:
                raise Steps
            word, *where = end.replace(",", "").split()
            if word == "return":
                return self.defined(values[int(where[0][1:])])
            if word == "raise":
                raise values[int(where[0][1:])]
            came_from = block
            if word == "branch":
                where = [where[1] if self.defined(values[int(where[0][1:])]) else where[2]]
            block = int(where[0][1:])

    @staticmethod
    def defined(value: Any) -> Any:
        """Return the value; an unassigned variable raises."""
        if isinstance(value, Undefined):
            raise value
        return value

    def one(self, op: str, what: str, v: list[Any], args: Sequence[Any], space: dict[str, Any]) -> Any:
        """Run one operation."""
        if op == "UNDEF":
            return Undefined(what)
        v = [self.defined(x) for x in v]
        first = what.split(" ")[0]
        match op:
            case "CONST":
                return eval(what, {})
            case "PARAM":
                return args[int(first)]
            case "GLOBAL":
                return space[what] if what in space else getattr(builtins, what)
            case "BINARY":
                sign = first[:-1] if first.endswith("=") else first
                return BINARY[sign](v[0], v[1])
            case "COMPARE":
                return COMPARE[first](v[0], v[1])
            case "UNARY":
                return UNARY[first](v[0])
            case "NOT":
                return not v[0]
            case "IS":
                return (v[0] is v[1]) != (what == "not")
            case "CONTAINS":
                return (v[0] in v[1]) != (what == "not")
            case "SUBSCR":
                return v[0][v[1]]
            case "STORE_SUBSCR":
                v[0][v[1]] = v[2]
                return None
            case "TUPLE":
                return tuple(v)
            case "LIST":
                return list(v)
            case "LIST_APPEND":
                return [*v[0], v[1]]
            case "LIST_EXTEND":
                return [*v[0], *v[1]]
            case "TO_TUPLE":
                return tuple(v[0])
            case "SLICE":
                return slice(*v)
            case "UNPACK_ITEM":
                return list(v[0])[int(first)]
            case "UNPACK_EX":
                before, after = map(int, what.split(" of ")[1].split("+*+"))
                items = list(v[0])
                stop = len(items) - after
                return [*items[:before], items[before:stop], *items[stop:]][int(first)]
            case "ITER":
                return list(v[0]), 0
            case "ITER_HAS":
                return v[0][1] < len(v[0][0])
            case "ITER_VALUE":
                return v[0][0][v[0][1]]
            case "ITER_NEXT":
                return v[0][0], v[0][1] + 1
            case "MATCH_SEQ":
                return isinstance(v[0], (tuple, list))
            case "MATCH_LEN":
                return len(v[0])
            case "CALL":
                return v[0](*v[1:])
        raise NotImplementedError(op)
