"""Random kernels in which lists of integers change under several names: all devices must do what Python does.

Names of lists are assigned to each other, kept in tuples, lists, objects and dicts, handed to functions and seen by
inner functions. Each thread adds up what its lists hold, and stores the sum.
"""

from __future__ import annotations

import numpy as np

from .writer import Writer, function_of, launch

N = 4
MOST = 12  # items that a list gets

HELPERS = """\
from dataclasses import dataclass
from typing import Any


@dataclass
class Holder:
    items: Any
    count: int = 0

    def put(self, x):
        if len(self.items) < 12:
            self.items.append(x)
            self.count += 1
        return self


def push(xs, x=1):
    if len(xs) < 12:
        xs.append(x)
    return xs


def lengthened(xs, more):
    if len(xs) + len(more) < 16:
        xs += more
    return len(xs)


def renamed(xs):
    xs = xs[:3] + [5]
    return xs


def set_first(xs, x):
    if len(xs) > 0:
        xs[0] += x
        return xs[0]
    return x


def digest(xs, h):
    for x in xs:
        h = (h * 31 + x) % 1000003
    return h


"""


class Generator(Writer):
    """Statements about the lists `a`, `b`, `c` and what holds them."""

    SCOPED = ("holders",)

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.holders: list[str] = []
        self.loops = 0

    def name(self) -> str:
        return self.random.choice("abc")

    def number(self) -> str:
        r = self.random
        return r.choice(
            [str(r.randint(-3, 9)), "n", f"n + {r.randint(1, 5)}", f"h % {r.randint(2, 9)}", f"len({self.name()})", "i"]
        )

    def condition(self) -> str:
        r = self.random
        x, y = self.name(), self.name()
        return r.choice(
            [
                f"n > {r.randint(0, 3)}",
                f"len({x}) > {r.randint(0, 4)}",
                f"h % 2 == {r.randint(0, 1)}",
                f"{x} == {y}",
                f"{x} is {y}",
                f"{self.number()} in {x}",
                f"{x}",
                f"{x} < {y}",
                f"not {x}",
            ]
        )

    def bound(self) -> str:
        return self.random.choice(["", "", "1", "-1", "2", "n", "-n", "5"])

    def display(self) -> str:
        return "[" + ", ".join(self.number() for _ in range(self.random.randint(0, 4))) + "]"

    def new(self) -> str:
        """An expression that makes a list."""
        r = self.random
        x, y = self.name(), self.name()
        return r.choice(
            [
                self.display(),
                self.display(),
                f"{x}[{self.bound()}:{self.bound()}]",
                f"{x}.copy()",
                f"list({x})",
                f"sorted({x})",
                f"{x}[:4] + {y}[:3]",
                f"{x}[:3] * {r.choice(['2', '3', '0'])}",
                f"[x + 1 for x in {x}]",
                f"renamed({x})",
                f"[k for k in range({r.choice(['3', 'n'])})]",
                f"{x}[::-1]",
            ]
        )

    def change(self, depth: int) -> None:
        """A statement that changes a list."""
        r = self.random
        x, y, k = self.name(), self.name(), r.randint(0, 3)
        room = f"len({x}) < {MOST}"
        guarded = [
            (room, f"{x}.append({self.number()})"),
            (room, f"{x}.insert({r.choice(['0', '1', 'n', '-1', '-9', '9'])}, {self.number()})"),
            (room, f"{x} += {self.display()}"),
            (f"len({x}) + len({y}) < {MOST}", r.choice([f"{x} += {y}", f"{x}.extend({y})", f"{x} = {x} + {y}"])),
            (f"len({x}) < 6", f"{x} *= {r.choice(['2', '0', 'n', '1'])}"),
            (f"len({x}) > {k}", r.choice([f"{x}[{k}] = {self.number()}", f"{x}[{k}] += {self.number()}"])),
            (f"len({x}) > n", r.choice([f"{x}[n] = {self.number()}", f"h += {x}[n]", f"{x}[-n - 1] -= 1"])),
            (f"len({x}) > {k}", r.choice([f"h += {x}.pop()", f"{x}.pop({k})", f"del {x}[{k}]", f"del {x}[-1]"])),
            (f"{k} in {x}", r.choice([f"{x}.remove({k})", f"h += {x}.index({k})"])),
            (f"len({x}) > 1", f"{x}[0], {x}[1] = {x}[1], {x}[0]"),
        ]
        plain = [
            f"{x}.sort()",
            f"{x}.sort(reverse=True)",
            f"{x}.reverse()",
            f"{x}.clear()",
            f"push({x}, {self.number()})",
            f"push({x})",
            f"h += lengthened({x}, {r.choice([y, '[4]', '(1, 2)'])})",
            f"h += set_first({x}, {self.number()})",
            f"{x}[{self.bound()}:{self.bound()}] = {r.choice([y + '[:3]', self.display(), '(7,)'])}",
            f"del {x}[{self.bound()}:{self.bound()}]",
        ]
        if r.random() < 0.6:
            condition, text = r.choice(guarded)
            self.emit(depth, f"if {condition}:")
            return self.emit(depth + 1, text)
        return self.emit(depth, r.choice(plain))

    def hold(self, depth: int) -> None:
        """A list in something else, changed there."""
        r = self.random
        x, y, t = self.name(), self.name(), self.fresh("t")
        value = self.number()
        self.emit(depth, f"{t} = " + r.choice([f"({x}, {y})", f"[{x}, {y}]", f"({y}, {x}, {y})"]))
        ways = [
            f"push({t}[{r.randint(-2, 1)}], {value})",
            f"push({t}[n % 2])",
            f"h += lengthened({t}[1], [n])",
            f"set_first({t}[0], 2)",
        ]
        for _ in range(r.randint(1, 3)):
            self.emit(depth, r.choice(ways))
        if r.random() < 0.4:
            self.emit(depth, f"for r in {t}:")
            self.emit(depth + 1, r.choice([f"push(r, {value})", "h = digest(r, h)"]))
        if r.random() < 0.4:
            self.emit(depth, f"{r.choice('ab')}, {r.choice('bc')} = {t}[0], {t}[1]")

    def objects(self, depth: int) -> None:
        r = self.random
        x, t = self.name(), self.fresh("d")
        if r.random() < 0.5:
            self.emit(depth, f"{t} = Holder({r.choice([x, self.display()])})")
            for _ in range(r.randint(1, 3)):
                self.emit(
                    depth,
                    r.choice(
                        [
                            f"{t}.put({self.number()})",
                            f"push({t}.items)",
                            f"{t}.items = {self.name()}",
                            f"h += {t}.count",
                        ]
                    ),
                )
            self.emit(depth, r.choice([f"{self.name()} = {t}.items", f"h = digest({t}.items, h)"]))
        else:
            self.emit(depth, f"{t} = {{'p': {x}, 'q': {self.name()}}}")
            self.emit(
                depth,
                r.choice([f"push({t}['p'], {self.number()})", f"h += len({t}['q'])", f"{self.name()} = {t}['q']"]),
            )

    def inner(self, depth: int) -> None:
        r = self.random
        x, f = self.name(), self.fresh("f")
        self.emit(depth, f"def {f}(x, into={self.name()}):")
        self.emit(depth + 1, r.choice([f"push({x}, x)", "push(into, x)", f"lengthened({x}, into[:2])"]))
        self.emit(depth, f"{f}({self.number()})")
        if r.random() < 0.5:
            self.emit(depth, f"{f}({self.number()}, {self.name()})")

    def statement(self, depth: int) -> None:
        r = self.random
        choice = r.random()
        if choice < 0.12:
            return self.emit(depth, f"{self.name()} = {self.name()}")
        if choice < 0.24:
            return self.emit(depth, f"{self.name()} = {self.new()}")
        if choice < 0.30:
            return self.emit(
                depth,
                f"{self.name()} = {self.name()} if {self.condition()} else {r.choice([self.name(), self.display()])}",
            )
        if choice < 0.36:
            return self.hold(depth)
        if choice < 0.41:
            return self.objects(depth)
        if choice < 0.45 and not self.loops:
            return self.inner(depth)
        if choice < 0.55 and depth < 3:
            return self.alternatives(depth, 2, self.condition())
        if choice < 0.63 and not self.loops:
            self.loops += 1
            self.emit(depth, f"for k in {r.choice(['range(n)', 'range(2)', self.name() + '[:3]', self.name()])}:")
            self.emit(depth + 1, "h += k")
            self.scoped(depth + 1, 2)
            self.loops -= 1
            return None
        if choice < 0.70:
            x = self.name()
            return self.emit(
                depth, f"h = digest({x}, h) + len({x}) * 3 + ({x} == {self.name()}) * 2 + ({x} is {self.name()})"
            )
        return self.change(depth)

    def make(self) -> str:
        self.emit(0, "def kernel(o, numbers):")
        self.emit(1, "i = gpu.grid(1)")
        self.emit(1, "n = int(numbers[i])")
        self.emit(1, "h = 0")
        for name in "abc":
            self.emit(1, f"{name} = {self.random.choice(['[]', '[n]', '[1, 2, 3]', '[n, i, 5, 0]'])}")
        self.statements(1, self.random.randint(3, 9))
        for name in "abc":
            self.emit(1, f"h = digest({name}, h) + len({name})")
        self.emit(1, "o[i] = h")
        return HELPERS + "\n".join(self.lines) + "\n"


def show(seed: int) -> str:
    """Its source."""
    return Generator(seed).make()


def compare(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> str | None:
    """Run a kernel on `python` and each device; None if they agree, else what differs."""
    import gpu

    source = show(seed)
    kernel = gpu.jit(function_of(source, seed))
    want = np.zeros(N, np.int64)
    launch("python", kernel, (1, N), [want, np.arange(N)])
    for device in devices:
        got = np.zeros(N, np.int64)
        try:
            launch(device, kernel, (1, N), [got, np.arange(N)])
        except gpu.UnsupportedError as e:
            return f"refused: seed {seed}: {e}"
        except Exception as e:
            return f"seed {seed}: {device}: {type(e).__name__}: {e}\n{source[len(HELPERS) :]}"
        if (got != want).any():
            return f"seed {seed}: {device} gives {got}, not {want}\n{source[len(HELPERS) :]}"
    return None
