"""Random functions with much control flow give in their PyFunc what they give in CPython, on every version."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from interpret import Function, Undefined
from rows import dump

TOOL = Path(os.environ.get("GPU_BUILD", Path(__file__).parents[2] / "build")) / "bin" / "pyirtool"
COUNT = int(os.environ.get("GPU_GENERATED", "200"))
NAMES = "abcd"

pytestmark = [
    pytest.mark.skipif(not TOOL.exists(), reason="pyirtool isn't built"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
]


class Source:
    """Makes the source of functions of a, b, c and d, which log what they do."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *choices: str) -> str:
        """Return one of the choices."""
        return self.random.choice(choices)

    def value(self, depth: int) -> str:
        """Return an expression."""
        if depth <= 0:
            return self.pick(*NAMES, *NAMES, "0", "1", "2", "-3")
        one, two, three = (self.value(depth - 1 - self.random.randrange(2)) for _ in range(3))
        return self.pick(
            one,
            f"({one} + {two}) % 89",
            f"({one} - {two} * {three}) % 97",
            f"({one} and {two})",
            f"({one} or {two})",
            f"({one} if {self.test(depth - 1)} else {two})",
            f"(not {one})",
            f"(note({one}) and note({two}) or {three})",
            f"({self.pick(*NAMES)} := {one})",
            f"[{one}, {two}, {three}][{self.pick('0', '1', '-1')}]",
            f"sum([x + {self.value(0)} for x in ({self.value(0)}, 4) if x != {self.pick(*NAMES)}])",
            f"({self.test(depth - 1)})",
            f"note({one})",
        )

    def test(self, depth: int) -> str:
        """Return a condition."""
        one, two, three = (self.value(depth - 1) for _ in range(3))
        if depth <= 0:
            return self.pick(one, f"{one} < {two}", f"{one} == {two}", f"not {one}")
        again, more = self.test(depth - 1), self.test(depth - 1)
        return self.pick(
            f"{one} < {two} <= {three}",
            f"{again} and {more}",
            f"{again} or {more}",
            f"not ({again} and {more})",
            f"({again} or {more}) and {one}",
            f"{one} in ({two}, {three})",
            f"{one} is {self.pick('not ', '')}None",
            f"({again} if {more} else {one})",
            one,
        )

    def block(self, depth: int, indent: int, in_loop: bool) -> None:
        """Add one to three statements."""
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, indent, in_loop)

    def statement(self, depth: int, indent: int, in_loop: bool) -> None:
        """Add a statement."""
        pad = "    " * indent
        kinds = ["assign", "assign", "augment", "swap", "note", "return", "assert"]
        kinds += ["break", "continue"] if in_loop else []
        kinds += ["if", "if", "for", "while", "match", "if"] if depth > 0 else []
        match self.random.choice(kinds):
            case "assign":
                self.lines.append(f"{pad}{self.pick(*NAMES)} = {self.value(2)}")
            case "augment":
                self.lines.append(
                    f"{pad}{self.pick(*NAMES)} {self.pick('+=', '-=', '|=')} {self.pick('1', '2', *NAMES)}"
                )
            case "swap":
                one, two = self.random.sample(NAMES, 2)
                self.lines.append(f"{pad}{one}, {two} = {self.value(1)}, {self.value(1)}")
            case "note":
                self.lines.append(f"{pad}note({self.value(2)})")
            case "return":
                self.lines.append(f"{pad}if {self.test(1)}: return {self.value(2)}")
            case "assert":
                self.lines.append(f"{pad}assert {self.test(1)} or {self.value(1)} or 1, {self.value(1)}")
            case "break" | "continue" as word:
                self.lines.append(f"{pad}if {self.test(1)}: {word}")
            case "match":
                self.lines += [f"{pad}match {self.value(1)}:", f"{pad}    case 0 | 1:"]
                self.block(depth - 1, indent + 2, in_loop)
                self.lines.append(f"{pad}    case {self.pick(*NAMES)} if {self.test(1)}:")
                self.block(depth - 1, indent + 2, in_loop)
            case kind:
                self.compound(kind, depth, indent, in_loop)

    def compound(self, kind: str, depth: int, indent: int, in_loop: bool) -> None:
        """Add an if or a loop, maybe with else."""
        pad = "    " * indent
        inside = in_loop
        if kind == "if":
            self.lines.append(f"{pad}if {self.test(2)}:")
        elif kind == "for":
            self.lines.append(f"{pad}for {self.pick(*NAMES)} in range({self.pick('2', '3', '0')}):")
            inside = True
        else:
            self.loops += 1
            self.lines.append(f"{pad}n{self.loops} = 0")
            self.lines.append(f"{pad}while (n{self.loops} := n{self.loops} + 1) < 4 and ({self.test(1)}):")
            inside = True
        self.block(depth - 1, indent + 1, inside)
        if self.random.random() < 0.4:
            self.lines.append(f"{pad}else:")
            self.block(depth - 1, indent + 1, in_loop)

    def function(self, name: str) -> str:
        """Return the source of a function."""
        self.lines = [f"def {name}(a, b):"]
        self.lines.append("    c = d = 0" if self.random.random() < 0.7 else "    if a == 0: c = d = 0")
        self.block(3, 1, False)
        if self.random.random() < 0.7:
            self.lines.append("    return a, b")
        return "\n".join(self.lines)


def outcome(run: Callable[[], Any], log: list[Any]) -> tuple[str, list[Any]]:
    """Return result or exception, and what was noted."""
    log.clear()
    try:
        result = repr(run())
    except (Undefined, NameError):
        result = "unassigned"
    except (AssertionError, TypeError) as error:
        result = f"{type(error).__name__} {error.args if isinstance(error, AssertionError) else ''}"
    return result, list(log)


@pytest.mark.parametrize("part", range(4))
def test_random_functions(part: int) -> None:
    """Results, exceptions and the order of effects are CPython's."""
    sources = [Source(1000 * part + i).function(f"f{i}") for i in range(COUNT // 4)]
    log: list[Any] = []

    def note(value: Any) -> Any:
        log.append(value)
        return value

    space: dict[str, Any] = {"note": note}
    for source in sources:
        exec(compile(source, "<made>", "exec", dont_inherit=True), space)
    functions = [space[f"f{i}"] for i in range(len(sources))]
    done = subprocess.run([TOOL], input=dump(functions), capture_output=True, text=True, check=True)
    for source, function, text in zip(sources, functions, done.stdout.split("\n\n"), strict=False):
        assert text.startswith("def "), f"{source}\n{text}"
        understood = Function(text)
        for args in ((0, 0), (1, 2), (-3, 1), (2, 0), (0, 5)):
            want = outcome(partial(function, *args), log)
            got = outcome(partial(understood.run, args, space), log)
            if want[0] == "unassigned":  # a mistake that the compiler reports; when it comes to light doesn't matter
                continue
            assert got == want, f"{source}\n{text}\n{args}"
