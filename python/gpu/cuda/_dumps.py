"""What ``NUMBA_DUMP_BYTECODE``, ``_CFG``, ``_IR``, ``_LLVM`` and ``_ASSEMBLY`` print of a kernel when it is made."""

from __future__ import annotations

import dis
import re
from typing import Any

from . import config

Graph = dict[str, list[str]]


def _heading(text: str) -> None:
    print(text.center(80, "-"))


def _bytecode(kernel: Any, types: Any) -> None:
    _heading(f"BYTECODE: {kernel.__name__}")
    line = 0
    for one in dis.get_instructions(kernel.py_func):
        line = getattr(one, "line_number", None) or (one.starts_line if one.starts_line not in (None, True) else line)
        mark = ">" if one.is_jump_target else " "
        print(f"{mark} {one.offset:8d}\t{one.opname}(arg={one.arg}, lineno={int(line or 0)})")


def graph_of(ir: str) -> Graph:
    """The blocks of a kernel's IR, with those that follow each."""
    graph: Graph = {}
    for block, body in re.findall(r"^(b\d+):\n((?:  .*\n?)*)", ir, re.MULTILINE):
        last = body.rstrip().rpartition("\n")[2]
        graph[block] = re.findall(r"\bb\d+\b", last) if re.match(r" *(jump|branch) ", last) else []
    return graph


def dominators(graph: Graph) -> dict[str, list[str]]:
    """The blocks through which every way to each block leads, itself among them, in the order of the text."""
    before: Graph = {block: [] for block in graph}
    for block, after in graph.items():
        for one in after:
            before[one].append(block)
    entry = next(iter(graph))
    found = {block: {entry} if block == entry else set(graph) for block in graph}
    changed = True
    while changed:
        changed = False
        for block in graph:
            ways = [found[one] for one in before[block]]
            now = {block} | (set.intersection(*ways) if ways and block != entry else set())
            changed |= now != found[block]
            found[block] = now
    return {block: [one for one in graph if one in found[block]] for block in graph}


def constants_of(function: Any) -> list[tuple[int, Any]]:
    """The constants that a function's own code loads, each with the number of its line."""
    found, line = [], 0
    for one in dis.get_instructions(function):
        line = getattr(one, "line_number", None) or (one.starts_line if one.starts_line not in (None, True) else line)
        if one.opcode in dis.hasconst:
            found.append((int(line or 0), one.argval))
    return found


def _cfg(kernel: Any, types: Any) -> None:
    graph = graph_of(kernel.inspect("ir", types))
    dominated_by = dominators(graph)
    back = [(block, one) for block, after in graph.items() for one in after if one in dominated_by[block]]
    print(f"CFG adjacency lists of {kernel.__name__}:\n{graph}")
    print(f"CFG dominators:\n{dominated_by}")
    print(f"CFG back edges:\n{back}")


def _ir(kernel: Any, types: Any) -> None:
    _heading(f"IR DUMP: {kernel.__name__}")
    for line, value in constants_of(kernel.py_func):
        print(f"; line {line}: const({type(value).__name__}, {value!r})")
    print(kernel.inspect("ir", types))


def _llvm(kernel: Any, types: Any) -> None:
    _heading(f"LLVM DUMP {kernel.__name__}")
    print(kernel.inspect_llvm(types))
    print("=" * 80)


def _assembly(kernel: Any, types: Any) -> None:
    _heading(f"ASSEMBLY {kernel.__name__}")
    print(kernel.inspect_asm(types))
    print("=" * 80)


_DUMPS = {
    "DUMP_BYTECODE": _bytecode,
    "DUMP_CFG": _cfg,
    "DUMP_IR": _ir,
    "DUMP_LLVM": _llvm,
    "DUMP_ASSEMBLY": _assembly,
}


def dump(kernel: Any, types: Any) -> None:
    """Print what the settings ask for of the specialisation for these types."""
    for name, show in _DUMPS.items():
        if getattr(config, name):
            show(kernel, types)
