"""Constructs of Python: numbers and their functions."""

from __future__ import annotations

import math
import operator

import gpu
import numpy as np


def k_big_literals(a, o, n):
    i = gpu.grid(1)
    o[i] = (2**80 >> 78) + 10**30 // 10**29 + 0xFFFFFFFFFFFFFFFF % 1000 + i


def k_bool_arithmetic(a, o, n):
    i = gpu.grid(1)
    b = np.bool_(i > 3)
    c = np.bool_(i % 2)
    o[i] = (b + c) + 2 * (b * c) + 4 * (b | c) + 8 * (b ^ c) + 16 * (True + (i > 2))


def k_abs_builtins(a, o, n):
    i = gpu.grid(1)
    o[i] = abs(-i) + round(2.5) + int(3.7) + float(2) + bool(i) + pow(2, 3) + divmod(7, 2)[1]


def k_complex(a, o, n):
    i = gpu.grid(1)
    z = complex(i, 1)
    o[i] = abs(z) + z.conjugate().imag + (z * 1j).real + (z == complex(3, 1))


def k_int_methods(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        i.bit_length()
        + i.bit_count() * 10
        + (5).bit_length()
        + (-i).bit_length()
        + i.conjugate()
        + i.real
        + i.numerator
        + i.denominator
    )


def k_math_prod(a, o, n):
    i = gpu.grid(1)
    o[i] = math.prod((i, 2, 3)) + math.prod(range(1, 5)) + math.prod((2, i), start=3)


def k_comb(a, o, n):
    i = gpu.grid(1)
    o[i] = math.comb(i, 2) + math.perm(i, 2) + math.comb(5, 2) + math.perm(4) + math.comb(i + 5, i)


def k_operator(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        operator.add(i, 2)
        + operator.mul(i, 3)
        + operator.itemgetter(1)((1, i))
        + operator.neg(i)
        + operator.floordiv(i, 2)
        + operator.mod(i, 3)
        + operator.lt(i, 3)
        + operator.and_(i, 6)
        + operator.truth(i)
        + operator.getitem((1, i), 1)
        + operator.index(i)
        + operator.contains((1, 2), i)
        + operator.xor(i, 5)
        + operator.inv(i)
        + operator.pos(i)
        + operator.not_(i)
        + operator.concat((1,), (i,))[1]
        + operator.countOf((1, i), 1)
        + operator.abs(i)
    )


def k_methodcaller(a, o, n):
    i = gpu.grid(1)
    o[i] = operator.methodcaller("conjugate")(complex(i, 1)).imag + operator.attrgetter("real")(complex(i, 1))


def k_type_limits(a, o, n):
    i = gpu.grid(1)
    low = np.finfo(np.float32).max
    for x in a:
        low = min(low, x)
    room = np.iinfo(np.int16).max - np.iinfo("u1").bits + np.iinfo(n).min / 2**62
    o[i] = low + room + np.finfo(a.dtype).eps * 2**23 + np.finfo(a[i]).tiny
