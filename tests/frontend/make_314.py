"""Print functions.py as rows of Python 3.14, made from the bytecode of the 3.13 that runs this file.

For machines without a 3.14. The differences are those of the documentation ("CPython bytecode changes" of What's New
in Python 3.14, and `dis`): loads that borrow, small integers, NOT_TAKEN behind conditional jumps, subscripts as
BINARY_OP, POP_ITER, LOAD_COMMON_CONSTANT, constant slices, CALL_FUNCTION_EX that always has a mapping, dicts whose
keys are loaded one by one, annotations in a function of their own; RETURN_CONST, BUILD_CONST_KEY_MAP and
BINARY_SUBSCR are gone. The output is stored as functions_314.rows.
"""

from __future__ import annotations

import dis
import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from rows import Rows, positions, word

ROOT = Path(__file__).resolve().parents[2]
SLICE_OP = 26
CONDITIONAL = ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
ANNOTATIONS, ANNOTATE = 4, 16


@dataclass
class Op:
    """One instruction: its name, operand or jump target, and the positions of its unit."""

    name: str
    arg: int
    where: list[int]
    label: int | None = None
    target: int | None = None


def numbers() -> dict[str, tuple[int, int]]:
    """Return number and cache units of each 3.14 opcode."""
    text = (ROOT / "frontend" / "pyopnums.def").read_text()
    found = re.findall(r"PYOPNUM\(314, +(\d+), (\w+), +(\d+)\)", text)
    return {name: (int(number), int(caches)) for number, name, caches in found}


def read(code: types.CodeType) -> list[Op]:
    """Return the instructions of a 3.13 code object."""
    where = positions(code)
    ops = []
    for i in dis.get_instructions(code):
        if i.opname == "EXTENDED_ARG":
            continue
        unit = i.offset // 2
        ops.append(Op(i.opname, i.arg or 0, where[4 * unit : 4 * unit + 4], i.start_offset, i.jump_target))
    return ops


class Converter:
    """Turns the instructions of one code object into those that 3.14 would have."""

    def __init__(self, code: types.CodeType) -> None:
        self.consts = list(code.co_consts)
        self.ops = read(code)
        self.out: list[Op] = []

    def const(self, value: object) -> int:
        """Return the number of a constant, new ones at the end."""
        for i, item in enumerate(self.consts):
            if type(item) is type(value) and repr(item) == repr(value):
                return i
        self.consts.append(value)
        return len(self.consts) - 1

    def load(self, value: object, like: Op) -> Op:
        """Return the load of a constant."""
        if type(value) is int and 0 <= value < 256:
            return Op("LOAD_SMALL_INT", value, like.where, like.label)
        return Op("LOAD_CONST", self.const(value), like.where, like.label)

    def value(self, op: Op) -> object:
        """Return what a load of a constant loads."""
        return op.arg if op.name == "LOAD_SMALL_INT" else self.consts[op.arg]

    def constants(self, n: int) -> list[object] | None:
        """Return the last n values, if all are constants."""
        last = self.out[-n:]
        if any(op.name not in ("LOAD_CONST", "LOAD_SMALL_INT") for op in last):
            return None
        return [self.value(op) for op in last]

    def slice(self, op: Op, parts: int, store: str) -> None:
        """Add a slice, constant if its parts are."""
        values = self.constants(parts)
        if values is None:
            name = {"": "BUILD_SLICE", "load": "BINARY_SLICE", "store": "STORE_SLICE"}[store]
            self.out.append(Op(name, parts if not store else 0, op.where, op.label))
            return
        first = self.out[-parts]
        del self.out[-parts:]
        self.out.append(Op("LOAD_CONST", self.const(slice(*values)), first.where, first.label))
        if store == "load":
            self.out.append(Op("BINARY_OP", SLICE_OP, op.where))
        elif store == "store":
            self.out.append(Op("STORE_SUBSCR", 0, op.where))

    def annotate(self, op: Op) -> None:
        """Turn the tuple of annotations, made before the function, into a function that makes them."""
        tuples = [i for i, made in enumerate(self.out) if made.name == "BUILD_TUPLE"]
        at = tuples[-2] if self.out[-1].name == "SET_FUNCTION_ATTRIBUTE" else tuples[-1]  # behind it: the closure
        count = self.out[at].arg
        code = self.const(compile("lambda format: {}", "annotate", "eval").co_consts[0])
        where = self.out[at].where
        self.out[at - count : at + 1] = [Op("LOAD_CONST", code, where), Op("MAKE_FUNCTION", 0, where)]
        self.out.append(Op("SET_FUNCTION_ATTRIBUTE", ANNOTATE, op.where))

    def key_map(self, op: Op) -> None:
        """Load keys and values in turn; here the values are one instruction each."""
        keys = self.value(self.out.pop())
        values = self.out[-op.arg :]
        del self.out[-op.arg :]
        for key, value in zip(keys, values, strict=True):
            self.out += [self.load(key, value), value]
        self.out.append(Op("BUILD_MAP", op.arg, op.where))

    def convert(self) -> list[Op]:
        """Return the instructions of 3.14."""
        for op in self.ops:
            self.one(op)
        return self.out

    def one(self, op: Op) -> None:
        """Convert one instruction."""
        add = self.out.append
        match op.name:
            case "LOAD_FAST":
                add(Op("LOAD_FAST_BORROW", op.arg, op.where, op.label))
            case "LOAD_FAST_LOAD_FAST":
                add(Op("LOAD_FAST_BORROW_LOAD_FAST_BORROW", op.arg, op.where, op.label))
            case "LOAD_CONST":
                add(self.load(self.consts[op.arg], op))
            case "RETURN_CONST":
                add(self.load(self.consts[op.arg], op))
                add(Op("RETURN_VALUE", 0, op.where))
            case "BINARY_SUBSCR":
                add(Op("BINARY_OP", SLICE_OP, op.where, op.label))
            case "BINARY_SLICE":
                self.slice(op, 2, "load")
            case "STORE_SLICE":
                self.slice(op, 2, "store")
            case "BUILD_SLICE":
                self.slice(op, op.arg, "")
            case "LOAD_ASSERTION_ERROR":
                add(Op("LOAD_COMMON_CONSTANT", 0, op.where, op.label))
            case "BUILD_CONST_KEY_MAP":
                self.key_map(op)
            case "SET_FUNCTION_ATTRIBUTE" if op.arg == ANNOTATIONS:
                self.annotate(op)
            case "CALL_FUNCTION_EX":
                if not op.arg & 1:
                    add(Op("PUSH_NULL", 0, op.where, op.label))
                add(Op("CALL_FUNCTION_EX", 0, op.where))
            case "POP_TOP" if self.out[-1].name == "END_FOR":
                add(Op("POP_ITER", 0, op.where, op.label))
            case name if name in CONDITIONAL:
                add(op)
                add(Op("NOT_TAKEN", 0, op.where))
            case _:
                add(op)


def assemble(ops: list[Op]) -> tuple[bytes, list[int]]:
    """Return code and positions; jumps get as many EXTENDED_ARGs as they need."""
    table = numbers()
    prefixes = [0] * len(ops)
    while True:
        start, unit = [], 0
        for op, extra in zip(ops, prefixes, strict=True):
            start.append(unit)
            unit += extra + 1 + table[op.name][1]
        at = {op.label: begin for op, begin in zip(ops, start, strict=True) if op.label is not None}
        args = []
        for op, begin, extra in zip(ops, start, prefixes, strict=True):
            behind = begin + extra + 1 + table[op.name][1]
            distance = None if op.target is None else at[op.target] - behind
            args.append(op.arg if distance is None else abs(distance))
        needed = [max(0, (max(arg.bit_length(), 1) - 1) // 8) for arg in args]
        if all(have >= need for have, need in zip(prefixes, needed, strict=True)):
            break
        prefixes = [max(have, need) for have, need in zip(prefixes, needed, strict=True)]
    code, where = bytearray(), []
    for op, arg, extra in zip(ops, args, prefixes, strict=True):
        number, caches = table[op.name]
        for k in range(extra, 0, -1):
            code += bytes((table["EXTENDED_ARG"][0], arg >> 8 * k & 255))
        code += bytes((number, arg & 255)) + bytes(2 * caches)
        where += op.where * (extra + 1 + caches)
    return bytes(code), where


class Rows314(Rows):
    """Rows whose code objects are those of 3.14."""

    def _code(self, code: types.CodeType) -> int:
        converter = Converter(code)
        made, where = assemble(converter.convert())
        consts = [self.add(item) for item in converter.consts]
        cells = [name for name in code.co_cellvars if name not in code.co_varnames]
        self.lines += ["code", "version 314", f"name {word(code.co_name)}", f"first {code.co_firstlineno}"]
        self.lines += [f"flags {code.co_flags}"]
        self.lines += [f"args {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}"]
        for part in ("names", "varnames", "cellvars", "freevars"):
            self.lines.append(" ".join([part, *map(word, getattr(code, "co_" + part))]))
        self.lines.append(" ".join(["localsplus", *map(word, (*code.co_varnames, *cells, *code.co_freevars))]))
        self.lines.append(" ".join(["consts", *map(str, consts)]))
        self.lines.append(f"bytes {made.hex()}")
        self.lines.append(" ".join(["positions", *map(str, where)]))
        return self._line("end")


def main() -> None:
    """Print the rows."""
    if sys.version_info[:2] != (3, 13):
        sys.exit("this runs on Python 3.13")
    source = Path(__file__).with_name("functions.py")
    space: dict[str, object] = {}
    exec(compile(source.read_text(), source.name, "exec", dont_inherit=True), space)
    rows = Rows314()
    roots = [rows.add(f.__code__) for f in space.values() if isinstance(f, types.FunctionType)]
    print("\n".join([*rows.lines, *(f"root {root}" for root in roots)]))


if __name__ == "__main__":
    main()
