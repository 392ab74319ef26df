"""Constructs of Python: sequences, sets, iterators."""

from __future__ import annotations

import itertools

import gpu
import numpy as np

from . import given
from .more_classes import iter_of
from .tuples import P


def k_enumerate_start(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k, x in enumerate((2, 3, i), start=1):
        s += k * x
    o[i] = s


def k_slice_object(a, o, n):
    i = gpu.grid(1)
    s = slice(2, 6)
    o[i] = a[s][i % 4] + s.start


def k_unpack_range(a, o, n):
    i = gpu.grid(1)
    x, y, z = range(3)
    o[i] = x + y * 10 + z * 100 + i


def k_sum_of_run_time_length(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(a[k] for k in range(i)) + any(a[k] == 5 for k in range(n)) + all(a[k] < 5 for k in range(i))


def k_generator_in_loop(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x in [k * i for k in (1, 2, 3)]:
        s += x
    o[i] = s + sum((k for k in (1, 2)), 10)


def k_loop_break_unrolled(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for x in (1, 2.5, "stop", 4):
        if x == "stop":
            break
        if x > a[i]:
            continue
        s += x
    o[i] = s + 1


def k_loop_over_fields(a, o, n):
    i = gpu.grid(1)
    p = P(i, a[i])
    s = 0
    for name in p._fields:
        s += getattr(p, name)
    for name, value in p._asdict().items():
        if name == "x":
            s += 10 * value
    o[i] = s


def k_string_iterated(a, o, n):
    i = gpu.grid(1)
    s = 0
    for c in "abca":
        if c == "a":
            s += i
        else:
            s += 1
    o[i] = s


def k_count_run_time(a, o, n):
    i = gpu.grid(1)
    t = (i, 2, a[i], 2)
    o[i] = t.count(2) + 10 * t.index(i)


def k_tuple_repeated_compare(a, o, n):
    i = gpu.grid(1)
    o[i] = ((i,) * 2 == (3, 3)) + ((1, "a") == (1, "a")) * 2 + ((1, 2) < (1, 2, 3)) * 4 + i


def k_comprehension_of_a_choice(a, o, n):
    i = gpu.grid(1)
    t = [x + i for x in ((1, 2) if i > 3 else (3, 4))]
    s = sum(x * i for x in (n if i > 2 else 5, sum(k for k in (i, 1) if k)))
    o[i] = t[0] + t[1] * 10 + s


@given(np.int32(2**31 - 1), np.float16(9.3))
def k_items_keep_their_types(a, o, n, large, half):
    i = gpu.grid(1)
    s = 0.0
    for x in (large, i):
        s += x + large  # int32 wraps, a Python integer takes int32's type
    o[i] = s + sum(x for x in (half, i)) + sum(x * n for x in (i, half))


def k_set_comp(a, o, n):
    i = gpu.grid(1)
    s = {k % 3 for k in range(7)}
    o[i] = 1 if i in s else 0
    o[i] += len(s)


def k_set_display(a, o, n):
    i = gpu.grid(1)
    o[i] = 1 if i in {1, 2, 3} else 0


def k_zip_strict(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in zip((1, 2), (i, 4), strict=True):
        s += x * y
    o[i] = s


def k_range_obj(a, o, n):
    i = gpu.grid(1)
    r = range(2, 20, 3)
    q = r[1:4]
    o[i] = len(r) + r[2] + (i in r) * 7 + q[0] + len(q) + r[-1] + r.start + r.step + r.index(8) + r.count(5)


def k_product(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in itertools.product((1, 2), (i, 4)):
        s += x * y
    for x, y in itertools.product(range(2), repeat=2):
        s += x * 10 + y * i
    o[i] = s


def k_chain(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x in itertools.chain((1, 2), (i, 4.5)):
        s = s * 2 + x
    for x in itertools.repeat(i, 3):
        s += x
    for x in itertools.accumulate((1, i, 3)):
        s += x * 3
    for x, y in itertools.pairwise((1, i, 3)):
        s += x * y
    o[i] = s


def k_itertools2(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in itertools.combinations((1, i, 3), 2):
        s += x * y
    for x, y in itertools.permutations((1, i, 3), 2):
        s += x * y * 2
    for x in itertools.islice((1, i, 3, 4), 1, 3):
        s += x
    for x, y in itertools.zip_longest((1, i), (3,), fillvalue=7):
        s += x * y
    for x in itertools.starmap(lambda p, q: p * q, ((1, i), (2, 3))):
        s += x
    for x in itertools.compress((1, i, 3), (1, 0, 1)):
        s += x
    o[i] = s


def k_count(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k, x in zip(itertools.count(2), (i, 5)):
        s += k * x
    o[i] = s


def k_combinations_again(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(x * y for x, y in itertools.combinations_with_replacement((1, i, 3), 2)) + len(tuple(iter_of(i)))


def k_generators_among_arguments(a, o, n):
    i = gpu.grid(1)
    total = sum((counted(o, i) * k for k in range(3)), 1)
    for k, v in enumerate(j * j for j in range(3)):
        total += k * v
    o[i] += total + max((a[k] for k in range(3)), default=a[i]) + sum([counted(o, i) for _ in range(2)], o[i])


def counted(o, i):
    o[i] += 1
    return o[i]


def k_sum_of_ranges(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(range(i)) + sum(range(-i, 3 * i + 1, 3)) * 1000 + sum(range(i, -5, -2), 7)


def k_least_tuple(a, o, n):
    i = gpu.grid(1)
    distance, k = min((abs(a[k] - 3), -k) for k in range(5))
    o[i] = distance * 100 + k + max((i, 2), (5, i))[1] + len(min("pear", "apple"))


def k_sorted_constants(a, o, n):
    i = gpu.grid(1)
    (first, x), (second, y) = sorted({"b": 1, "a": 2.5}.items())
    o[i] = x * 10 + y + (first < second) + sorted((3, 0.5, i > 99))[2]


def k_slices_of_strings(a, o, n):
    i = gpu.grid(1)
    name = "kernel"
    o[i] = (name[::-1] == "lenrek") + 2 * (name[1:4] == "ern") + 4 * len(name[2:]) + (name[:0] == "")


def k_numbers_in_text(a, o, n):
    i = gpu.grid(1)
    z = complex("1.5-2j")
    o[i] = z.imag + int("ff", 16) + int("-12") + i


def k_digits_of_integers(a, o, n):
    i = gpu.grid(1)
    if i > 99:
        print(hex(i), bin(n + i), oct(-i))
    o[i] = bin(0b10110).count("1") + (hex(255) == "0xff") + len(oct(8)) + i
