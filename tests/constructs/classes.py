"""Constructs of Python: dataclasses and small classes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import gpu
import numpy as np

from . import given
from .tuples import F4, I4, P


@dataclass
class Point:
    x: float
    y: float = 2.0

    def norm2(self):
        return self.x * self.x + self.y * self.y

    @property
    def total(self):
        return self.x + self.y

    def moved(self, dx):
        return Point(self.x + dx, self.y)

    @staticmethod
    def twice(v):
        return v * 2

    @classmethod
    def of(cls, v):
        return cls(v, v)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


@dataclass(frozen=True)
class Config:
    scale: float
    table: Any
    mode: str = "add"
    inner: Any = None


class Vec:
    x: np.float32
    y: np.float32

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@given(Point(1.5, 2))
def k_dataclass_argument(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.x * i + p.y


@given(Point(1.5, 2))
def k_dataclass_methods(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.norm2() + p.total + Point.twice(i) + p.moved(i).x


def k_dataclass_made(a, o, n):
    i = gpu.grid(1)
    p = Point(a[i], y=i)
    o[i] = p.norm2() + Point(3).y


def k_dataclass_classmethod(a, o, n):
    i = gpu.grid(1)
    o[i] = Point.of(i).total


def k_dataclass_operator(a, o, n):
    i = gpu.grid(1)
    p = Point(a[i], 1) + Point(2, i)
    o[i] = p.x * 100 + p.y


def k_dataclass_equal(a, o, n):
    i = gpu.grid(1)
    o[i] = (Point(i, 1) == Point(3, 1)) + i


@given(Config(0.5, F4, "mul", Point(1, 2)))
def k_dataclass_frozen_nested(a, o, n, c):
    i = gpu.grid(1)
    if c.mode == "mul":
        o[i] = c.scale * c.table[i % 8] + c.inner.y
    else:
        o[i] = 1


@given(Config(0.5, F4))
def k_dataclass_none_field(a, o, n, c):
    i = gpu.grid(1)
    if c.inner is None and c.mode == "add":
        o[i] = c.scale + c.table[i % 8]


def k_dataclass_in_loop(a, o, n):
    i = gpu.grid(1)
    p = Point(0.0, 1.0)
    for k in range(n):
        p = p.moved(a[i])
    o[i] = p.x + p.y


def k_class_made(a, o, n):
    i = gpu.grid(1)
    v = Vec(np.float32(a[i]), np.float32(2))
    w = Vec(np.float32(i), np.float32(3))
    o[i] = v.dot(w)


@given(Vec(np.float32(1.5), np.float32(2.5)))
def k_class_argument(a, o, n, v):
    i = gpu.grid(1)
    o[i] = v.x * i + v.y


def k_dataclass_replace(a, o, n):
    i = gpu.grid(1)
    p = dataclasses.replace(Point(1.0, 2.0), x=a[i])
    o[i] = p.x + p.y + dataclasses.astuple(p)[1]


def k_dataclass_passed(a, o, n):
    i = gpu.grid(1)
    o[i] = length(Point(i, 2)) + length(P(3, i))


def length(p):
    return p.x * p.x + p.y


@given((Point(1, 2), [Point(3, 4)][0]))
def k_dataclass_tuple_argument(a, o, n, t):
    i = gpu.grid(1)
    o[i] = t[0].x + t[1].y * i + t[i % 2].x


def k_dataclass_phi(a, o, n):
    i = gpu.grid(1)
    p = Point(1.0, 2.0) if i > 5 else Point(3.0, float(i))
    o[i] = p.x + p.y


class Settings:
    rate = 0.25
    table = I4
    names = ("a", "b")

    def __init__(self):
        self.gain = 3

    def apply(self, v):
        return v * self.gain + self.rate


SETTINGS = Settings()


def k_global_object(a, o, n):
    i = gpu.grid(1)
    o[i] = SETTINGS.gain * i + SETTINGS.table[i % 8] + Settings.rate + SETTINGS.apply(i)


def k_bound_method_value(a, o, n):
    i = gpu.grid(1)
    f = SETTINGS.apply
    o[i] = f(a[i])
