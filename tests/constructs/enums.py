"""Constructs of Python: enums."""

from __future__ import annotations

import enum

import gpu
import numpy as np

from . import given


class Mode(enum.IntEnum):
    ADD = 1
    MUL = 2


class Color(enum.Enum):
    RED = 1
    GREEN = 2.5
    NAME = "abc"


class Bits(enum.IntFlag):
    A = 1
    B = 2
    C = 4


class Plain(enum.Flag):
    A = 1
    B = 2


@given(Mode.MUL)
def k_enum_argument(a, o, n, mode):
    i = gpu.grid(1)
    if mode == Mode.ADD:
        o[i] = a[i] + 2
    elif mode == Mode.MUL:
        o[i] = a[i] * 2


@given(Color.GREEN)
def k_enum_member_argument(a, o, n, c):
    i = gpu.grid(1)
    if c is Color.GREEN:
        o[i] = c.value + i
    o[i] += len(c.name)


def k_enum_int_attributes(a, o, n):
    i = gpu.grid(1)
    o[i] = Mode.MUL.value + len(Mode.MUL.name) + Mode.ADD * i


def k_enum_beside_typed_numbers(a, o, n):
    i = gpu.grid(1)
    third = (Mode.MUL * (a[:4] / np.float32(3)))[1]
    o[i] = (Mode.MUL + np.int8(125 - i)) / 7 + third + (Mode.ADD + 1) * np.float32(0.1)


def k_enum_name_compare(a, o, n):
    i = gpu.grid(1)
    o[i] = i + (Mode.ADD.name == "ADD") + (Color.NAME.value == "abc") * 2


def k_enum_flag(a, o, n):
    i = gpu.grid(1)
    o[i] = (i & Bits.B) + (Bits.A | Bits.C) + bool(i & Bits.A)


def k_enum_identity(a, o, n):
    i = gpu.grid(1)
    m = Mode.MUL
    if m is Mode.MUL and m is not Mode.ADD:
        o[i] = i + 1


def k_enum_plain_flag(a, o, n):
    i = gpu.grid(1)
    m = Plain.A | Plain.B
    if Plain.A in m:
        o[i] = m.value + i


def k_enum_local(a, o, n):
    i = gpu.grid(1)
    m = Mode.ADD if i > 4 else Mode.MUL
    o[i] = 5 if m == Mode.ADD else 6


def k_enum_match(a, o, n):
    i = gpu.grid(1)
    m = i % 3
    match m:
        case Mode.ADD:
            o[i] = 10
        case Mode.MUL:
            o[i] = 20
        case _:
            o[i] = 30


def k_enum_by_value(a, o, n):
    i = gpu.grid(1)
    o[i] = i + (Mode(2) == Mode.MUL) + (Color["RED"] is Color.RED)


def k_enum_iterate(a, o, n):
    i = gpu.grid(1)
    s = 0
    for m in Mode:
        s += m * i
    o[i] = s + len(Mode)


def k_member_chosen_at_run_time(a, o, n):
    i = gpu.grid(1)
    color = Plain.A if i % 3 else Plain.B
    other = color
    for k in range(i):
        if a[k] > 3:
            other = Plain.B
    o[i] = color.value * 100 + other.value * 10 + (color is other) + (other == Plain.B) * 2
    if other.name == "B" and color and color in (Plain.B, other):
        o[i] += 1000
    match color:
        case Plain.A:
            o[i] += 2000


def k_flags_combined(a, o, n):
    i = gpu.grid(1)
    both = Bits.A | Bits.C
    o[i] = both.value * 10 + (Bits.A in both) + 2 * (Bits.B in both) + (both & i)
