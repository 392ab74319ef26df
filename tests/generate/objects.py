"""What only exists when compiling, for `values`: tuples, objects, functions as values, enums, vectors."""

from __future__ import annotations

from .writer import Sampler

OBJECTS = """\
import enum
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple


class Pair(NamedTuple):
    left: Any
    right: Any

    def swapped(self):
        return Pair(self.right, self.left)


@dataclass
class Box:
    value: Any
    label: str = "plain"

    def relabeled(self, label):
        return Box(self.value, label)

    @property
    def shown(self):
        return self.value if self.label == "plain" else -self.value


@dataclass(frozen=True)
class Vec:
    x: Any
    y: Any = 1
    WIDTH = 2

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __neg__(self):
        return replace(self, x=-self.x)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __len__(self):
        return self.WIDTH

    def __call__(self, x):
        return self.x if x > 3 else self.x

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @classmethod
    def both(cls, x):
        return cls(x, x)

    @staticmethod
    def second(x, y):
        return y


class Turned(Vec):
    def __getitem__(self, k):
        return super().__getitem__(1 - k)


class Mode(enum.Enum):
    ADD = 1
    SUB = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def applied(mode, x, y):
    match mode:
        case Mode.ADD:
            return x + y
        case Mode.SUB:
            return x - y
    return x


def spread(first, *rest, scale=1, **named):
    total = first
    for item in rest:
        total = total + item
    for name, item in named.items():
        if name == "plus":
            total = total + item
    return total * scale


def chosen(mode, **parts):
    match mode:
        case "left" | "right":
            return parts[mode]
        case _:
            return parts["left"]


"""


class Objects(Sampler):
    """Expressions by way of objects; the generator of numbers has `kind`, the type of an expression."""

    def through_objects(self, a: str, b: str) -> str:
        """One of two values, or something made of them."""
        r = self.random
        ka, kb = self.kind(a), self.kind(b)
        side, bit = r.choice(["left", "right"]), r.randint(0, 1)
        options = [
            f"Pair({a}, {b}).swapped().{side}",
            f"Pair({a}, 2)._replace(right={b})[1]",
            f"Box({a}).relabeled('plain').shown",
            f"{{'p': {a}, 'q': {b}}}['q']",
            f"[x for x in ({a}, {b}, {a})][{r.randint(-3, 2)}]",
            f"chosen('{r.choice(['left', 'right', 'none'])}', left={a}, right={b})",
            f"tuple(y for x in ({a}, {b}) for y in (x, 2))[{r.choice([0, 2])}]",
            f"Pair(*[{a}, {b}]).{side}",
            f"Vec({a}, {b})[{bit}]",
            f"Turned({a}, {b})[{bit}]",
            f"Vec.both({a})({b} != 0)",
            f"Vec.second({a}, {b})",
            f"getattr(Pair({a}, Box({b})), 'right').value",
            f"(({a}, {b}), ({b}, {a}))[{bit}][{r.randint(-2, 1)}]",
            f"({a}, {b}, {a})[::-1][{bit}]",
            f"({a}, *[{b}, 3], {b})[{r.choice([0, 1, 3])}]",
            f"dict(p={a}, q=({b}, 2))['q'][0]",
            f"{{Mode.ADD: {a}, Mode.SUB: {b}}}[Mode.{r.choice(['ADD', 'SUB'])}]",
            f"(lambda p, /, q={b}: q if p is None else p)({r.choice([a, 'None'])})",
        ]
        if ka not in self.WEAK and ka != "?":
            options += [f"doubled({a}, {r.randint(0, 3)})", f"partial(scaled, k=3)({a})", f"spread({a}, scale=2)"]
            options += [f"Box({a}, label='x').shown", f"sum(x for x in ({a}, {b}))", f"(-Vec({a}, {b})).x"]
            options += [f"(Vec({a}, {b}) + Vec({b}, {a}))[{bit}]", f"applied(Mode.ADD, {a}, {b})"]
            options += [f"applied(Mode.SUB, y={a}, x={b})", f"spread({a}, {b}, plus={a})", f"spread(*({a}, {b}))"]
            options += [f"reduce(lambda p, q: p + q, ({a}, {b}, {a}))", f"Vec({a}, {b}).dot(Vec({b}, {a}))"]
            options += [f"Level.HIGH + ({a})", f"Vec({a}).x * len(Vec({a}))"]
        if ka == kb and ka not in self.COMPLEX:
            options += [f"sorted(({a}, {b}))[{bit}]", f"max(x for x in ({a}, {b}, {a}))", f"min(({a}, {b}), key=abs)"]
        if ka in ("i1", "i2", "i4", "u1", "u2") and kb in ("i1", "i2", "i4", "u1", "u2"):
            options += [f"gpu.int2({a}, {b}).{r.choice('xy')}", f"(gpu.int2({a}, {b}) + gpu.int2(1, {a})).y"]
        if ka in ("f4", "f2", "i2", "u1") and kb in ("f4", "f2", "i2"):
            options += [f"gpu.float4({a}, {b}, 1, 2).y", f"(gpu.float2({a}, {b}) * gpu.float2({b}, 0.5)).x"]
        return r.choice(options)
