"""Statements around other statements, for `values`: functions, loops, handlers, texts."""

from __future__ import annotations

import numpy as np

from .writer import Sampler

SPECS = {"i": ["", ":d", ":5", ":+d", ":x", ":08b", ":,"], "f": ["", ":.3f", ":e", ":10.2g", ":+.1f", "!r", ":<9"]}


class Flow(Sampler):
    """Statements that the generator of numbers adds to its own.

    It has ``kinds``, the type of each variable, ``expression``, ``condition``, ``declare`` and ``is_tame``.
    """

    def try_finally(self, depth: int) -> None:
        """With what happens on the way out, also out of a loop."""
        r, name = self.random, self.fresh("j")
        looped = r.random() < 0.5
        if looped:
            self.emit(depth, f"for {name} in range({r.choice(['3', 'i % 4', '5, 0, -2'])}):")
            depth += 1
        self.emit(depth, "try:")
        self.scoped(depth + 1, r.randint(1, 2))
        if looped and r.random() < 0.7:
            self.leaving(depth + 1, self.condition(1))
        self.emit(depth, "finally:")
        self.scoped(depth + 1, r.randint(1, 2))

    def loop_else(self, depth: int) -> None:
        """A loop that does something more unless it was left."""
        r, name = self.random, self.fresh("j")
        heads = [f"for {name} in range(i % 5):", f"for {name} in (1, 4, i):", f"while ({name} := {name} - 1) > 0:"]
        head = r.choice(heads)
        if head.startswith("while"):
            self.emit(depth, f"{name} = {r.choice(['4', 'i % 6'])}")
        self.emit(depth, head)
        self.scoped(depth + 1, r.randint(1, 2))
        self.leaving(depth + 1, self.condition(1), "break", "break", "continue")
        self.emit(depth, "else:")
        self.scoped(depth + 1, r.randint(1, 2))

    def forever(self, depth: int) -> None:
        """A loop whose end stands in its middle."""
        r, name = self.random, self.fresh("j")
        self.emit(depth, f"{name} = {r.choice(['0', 'i'])}")
        self.emit(depth, "while True:")
        self.scoped(depth + 1, 1)
        self.emit(depth + 1, f"{name} += {r.randint(1, 3)}")
        self.leaving(depth + 1, f"{name} > {r.randint(5, 20)}", "break")
        if r.random() < 0.5:
            self.leaving(depth + 1, self.condition(1), "continue")

    def shown(self, depth: int) -> str:
        """What may stand in an f-string of all versions of Python: no quotes, no braces."""
        text = self.expression(2)
        if not set(text) & set("'\"{}\\"):
            return text
        name, value = self.fresh(), self.evaluate(text)
        self.emit(depth, f"{name} = {text}")
        self.declare(name, value)
        return name

    def assertion(self, depth: int) -> None:
        """Texts that nobody gets to see, made of values."""
        text = self.shown(depth)
        options = [f'assert i < 99, f"{{i}} of {{{text}}}"', f'assert {self.condition(1)} or i >= 0, "why"']
        self.emit(depth, self.random.choice(options))

    def untaken_raise(self, depth: int) -> None:
        self.emit(depth, f"if i + {self.random.randint(20, 90)} < 0:")
        self.emit(
            depth + 1, self.random.choice(['raise ValueError("no", i)', "raise IndexError", 'raise KeyError(f"{i}")'])
        )

    def function(self, depth: int) -> None:
        """A function with two ways out that closes over what there is."""
        r, name, result = self.random, self.fresh("f"), self.expression(2)
        kind = self.kind(result)
        for _ in range(20):
            other = self.expression(2)
            if self.kind(other) == kind:
                break
        else:
            return
        first = r.choice(["x, k=2", "x, /, k=2", "x, *more", "x, **more"])
        call = {"x, k=2": "1, k=3", "x, /, k=2": "i, 5", "x, *more": "2, 3, 4", "x, **more": "1, k=i"}[first]
        self.emit(depth, f"def {name}({first}):")
        self.emit(depth + 1, f"if x {r.choice('<>')} {r.randint(0, 9)} and {self.condition(1)}:")
        self.emit(depth + 2, f"return {result}")
        self.emit(depth + 1, f"return {other}")
        made = self.fresh()
        self.emit(depth, f"{made} = {name}({call})")
        self.declare(made, self.evaluate(result))

    def printing(self, depth: int) -> None:
        """A line that begins with the thread, since devices have orders of their own."""
        r, text = self.random, self.shown(depth)
        value = self.evaluate(text)
        if isinstance(value, (np.bool_, bool, np.complexfloating)):
            self.emit(depth, f"print(i, {text}, sep={r.choice(['None', repr(', '), repr('')])})")
            return
        whole = isinstance(value, (int, np.integer))
        options = [f"print(i, 'is', {text})", f"print(i, {text}, -1.5, end='.\\n')", f"print(i, ({text}, 'x'))"]
        options += [f"print(f'{{i:3}}: {{{text}{r.choice(SPECS['i' if whole else 'f'])}}} <')"]
        self.emit(depth, r.choice(options))
