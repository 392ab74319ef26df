"""Constructs of Python: objects that change after they were made."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import gpu
import numpy as np


@dataclass
class Body:
    x: float
    v: Any = 0.0

    def step(self, dt):
        self.x += self.v * dt
        return self

    def __add__(self, other):
        return Body(self.x + other.x, self.v + other.v)

    def __iadd__(self, other):
        self.x += other.x
        return self


class Counted:
    step = 3

    def grow(self, k=1):
        self.step += k


class Optional:
    def __init__(self, given):
        if given:
            self.value = 1

    def set(self, value):
        self.value = value


class Stack:
    def __init__(self):
        self.data = gpu.local.array(16, np.float64)
        self.n = 0

    def push(self, v):
        self.data[self.n] = v
        self.n += 1

    def pop(self):
        self.n -= 1
        return self.data[self.n]

    def __len__(self):
        return self.n


class Temperature:
    def __init__(self):
        self._kelvin = 0.0

    @property
    def celsius(self):
        return self._kelvin - 273.15

    @celsius.setter
    def celsius(self, c):
        self._kelvin = c + 273.15


class Random:
    def __init__(self, seed):
        self.state = np.uint32(seed)

    def __call__(self):
        self.state ^= self.state << np.uint32(13)
        self.state ^= self.state >> np.uint32(17)
        self.state ^= self.state << np.uint32(5)
        return self.state


class Logged:
    def __init__(self, a):
        self.a = a
        self.log(1)

    def log(self, v):
        self.last = v


class LoggedTwice(Logged):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b
        self.log(self.last + b)


class Node:
    def __init__(self, v):
        self.v = v
        self.next = None


def k_assigned_field(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0 * i)
    p.x = a[i]
    p.v += 1
    o[i] = p.x * 10 + p.v


def k_two_names(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0 * i)
    q = p
    q.x = 10
    o[i] = p.x


def k_one_of_two(a, o, n):
    i = gpu.grid(1)
    p, q = Body(1), Body(2.0)
    r = p if i % 2 else q
    r.x += 100
    o[i] = p.x * 1000 + q.x + (r is p)


def k_method_in_a_loop(a, o, n):
    i = gpu.grid(1)
    p = Body(0.0, 0.5)
    while p.x < i:
        p.step(0.25).step(0.25)
    o[i] = p.x


def k_in_place_operator(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0)
    q = p
    p += Body(2.0 + i)
    o[i] = q.x


def k_new_ones_in_a_loop(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0)
    for k in range(i):
        p = p + Body(2.0, k)
    p.x = -p.x
    o[i] = p.x + 10 * p.v


def k_attribute_of_the_class(a, o, n):
    i = gpu.grid(1)
    c, d = Counted(), Counted()
    c.grow(i)
    o[i] = c.step + 100 * d.step


def k_field_of_some(a, o, n):
    i = gpu.grid(1)
    c = Optional(i > 3)
    if i <= 3:
        c.set(5.5)
    o[i] = c.value


def k_stack(a, o, n):
    i = gpu.grid(1)
    s = Stack()
    for k in range(i + 1):
        s.push(a[k])
    total = 1.0
    while len(s):
        total = total * 0.5 + s.pop()
    o[i] = total


def k_property_setter(a, o, n):
    i = gpu.grid(1)
    t = Temperature()
    t.celsius = i
    o[i] = t._kelvin + t.celsius


def k_generator_of_numbers(a, o, n):
    i = gpu.grid(1)
    draw = Random(i + 1)
    for _ in range(10):
        o[i] += draw() / 2**32


def k_method_in_init(a, o, n):
    i = gpu.grid(1)
    p = LoggedTwice(i, 2)
    p.a += 1
    o[i] = p.a + 10 * p.b + 100 * p.last


def k_method_in_init_alone(a, o, n):
    i = gpu.grid(1)
    o[i] = LoggedTwice(i, 2).last


def k_objects_in_a_list(a, o, n):
    i = gpu.grid(1)
    bodies = [Body(k * 1.0) for k in range(4)]
    for b in bodies:
        b.x += i
    o[i] = sum([b.x for b in bodies]) + bodies[2].x


def k_object_in_an_object(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0, Body(2.0, 3))
    p.v.v = i
    p.v.step(5)
    inner = p.v
    p.v = Body(7.0, 8)
    o[i] = p.v.x + 10 * inner.x


def k_linked_objects(a, o, n):
    i = gpu.grid(1)
    first, second = Node(1), Node(2)
    if i > 4:
        first.next = second
    second.v += i
    total, at = 0, first
    if at.next is not None:
        total = at.next.v
    o[i] = total


def k_replaced(a, o, n):
    i = gpu.grid(1)
    p = Body(1.0, i)
    p.x += 0.5
    q = replace(p, v=7)
    q.x = 9
    o[i] = astuple(p)[0] + q.x + (p == q) + (p == Body(1.5, 3))


def k_object_given_to_functions(a, o, n):
    def fall(body, dt):
        body.v -= 9.81 * dt
        body.step(dt)

    i = gpu.grid(1)
    p = Body(a[i])
    for _ in range(n):
        fall(p, 0.5)
    o[i] = p.x


def k_nonlocal(a, o, n):
    total, best, where = 0, -1.0, -1

    def see(k, v):
        nonlocal total, best, where
        total += v
        if v > best:
            best, where = v, k

    i = gpu.grid(1)
    for k in range(16):
        see(k, a[(k + i) % 16])
    o[i] = total + 100 * best + 1000 * where


def k_nonlocal_further_out(a, o, n):
    def twice(x):
        def grow():
            def more():
                nonlocal x
                x *= n

            more()
            more()

        grow()
        return x

    i = gpu.grid(1)
    o[i] = twice(i) + twice(0.5)


def k_counters(a, o, n):
    def counter():
        k = 0

        def count():
            nonlocal k
            k += 1
            return k

        return count

    i = gpu.grid(1)
    c, d = counter(), counter()
    c()
    for _ in range(i):
        d()
    o[i] = c() * 100 + d()


def k_assigned_after_the_function(a, o, n):
    def f():
        return t

    i = gpu.grid(1)
    t = i
    first = f()
    t = 5.5
    o[i] = f() + first * 10


def k_functions_that_call_each_other(a, o, n):
    def even(m):
        return True if m == 0 else odd(m - 1)

    def odd(m):
        return False if m == 0 else even(m - 1)

    i = gpu.grid(1)
    o[i] = even(i) + 2 * odd(3)


def k_late_binding(a, o, n):
    i = gpu.grid(1)
    total = 0
    for k in range(3):
        f = lambda: k * 10 + i  # noqa: E731, B023
        total += f()
    k += 100
    o[i] = total + f()


def k_recursion_that_counts(a, o, n):
    calls = 0

    def fib(m):
        nonlocal calls
        calls += 1
        return m if m < 2 else fib(m - 1) + fib(m - 2)

    i = gpu.grid(1)
    o[i] = fib(i % 6) + 1000 * calls
