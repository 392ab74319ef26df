"""Constructs of Python: inheritance, flags, special methods."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field
from typing import Any

import gpu

from . import given
from .classes import Point


@dataclass
class Defaults:
    x: int = 3
    y: Any = field(default=4)
    z: Any = field(default_factory=tuple)


def k_dataclass_field_defaults(a, o, n):
    i = gpu.grid(1)
    d = Defaults()
    o[i] = d.x + d.y + i + len(d.z)


@dataclass
class Derived(Point):
    z: float = 1.0

    def norm2(self):
        return super().norm2() + self.z * self.z

    def __post_init__(self):
        pass


def k_dataclass_inherited(a, o, n):
    i = gpu.grid(1)
    d = Derived(i, 2, 3)
    o[i] = d.total + d.z


def k_dataclass_super(a, o, n):
    i = gpu.grid(1)
    o[i] = Derived(i, 2, 3).norm2()


class Base:
    def __init__(self, x):
        super().__init__()
        self.x = x

    def value(self):
        return self.x


class Child(Base):
    def __init__(self, x, y):
        super().__init__(x * 2)
        self.y = y
        self.x = self.x + 1

    def value(self):
        return super().value() * self.y

    def __getitem__(self, k):
        return self.x + k

    def __len__(self):
        return 7

    def __contains__(self, k):
        return k == 3

    def __bool__(self):
        return self.y > 4

    def __lt__(self, other):
        return self.y < other.y

    def __neg__(self):
        return Child(-self.x, self.y)

    def __rmul__(self, k):
        return self.x * k


def k_class_inherited_init(a, o, n):
    i = gpu.grid(1)
    o[i] = Child(a[i], i).value()


def k_class_special_methods(a, o, n):
    i = gpu.grid(1)
    c = Child(a[i], i)
    o[i] = c[2] + len(c) + (3 in c) + (c < Child(1, 5)) * 10 + 3 * c
    if c:
        o[i] += 100


def k_dataclass_asdict(a, o, n):
    i = gpu.grid(1)
    o[i] = dataclasses.asdict(Point(i, 2))["y"] + sum(dataclasses.astuple(Point(i, 2)))


class Hue(enum.Flag):
    R = 1
    G = 2
    B = 4


@given(Hue.R | Hue.B)
def k_flag(a, o, n, c):
    i = gpu.grid(1)
    o[i] = 1 if c & Hue.R else 0
    if Hue.G in c:
        o[i] += 2
    if Hue.B in c:
        o[i] += 4
    if (c & ~Hue.R) == Hue.B:
        o[i] += 8
    o[i] += c.value * 100


class Both:
    K = 5

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @staticmethod
    def s(k):
        return k * 2

    @classmethod
    def make(cls, k):
        return cls(k, k + cls.K)

    @property
    def norm(self):
        return self.x * self.x + self.y

    def __call__(self, k):
        return self.x + k

    def __add__(self, o):
        return Both(self.x + o.x, self.y + o.y)

    def __radd__(self, o):
        return Both(self.x + o, self.y)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __bool__(self):
        return self.x > 3

    def __eq__(self, o):
        return self.x == o.x

    def __lt__(self, o):
        return self.x < o.x

    def __neg__(self):
        return Both(-self.x, -self.y)

    def __contains__(self, k):
        return self.x == k

    def __abs__(self):
        return self.x + self.y

    def __float__(self):
        return float(self.x)

    def __int__(self):
        return int(self.x)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __hash__(self):
        return 1


def k_class1(a, o, n):
    i = gpu.grid(1)
    v = Both.make(i)
    o[i] = Both.s(3) + v.norm + v(4) + Both.K + v.K + (v + v).y + (3 + v).x + v[1] + v[0] + len(v)


def k_class_iter(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    s = 0
    for x in v:
        s = s * 10 + x
    x, y = v
    o[i] = s + x + y


def k_class_bool(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    if v:
        o[i] = 1
    if not v:
        o[i] += 2
    o[i] += (v == Both(3, 1)) * 4 + (v != Both(3, 1)) * 8 + (v < Both(5, 1)) * 16 + (v > Both(5, 1)) * 32


def k_class_misc(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    o[i] = (-v).x + (i in v) + abs(v) + float(v) + int(v) + v @ v + bool(v) + sum(v) + max(v) + tuple(v)[1]


class Steps:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(3))


def iter_of(n):
    return [x + n for x in Steps(n)]
