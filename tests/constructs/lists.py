"""Constructs of Python: lists that change."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import dataclass

import gpu
import numpy as np


@dataclass
class Item:
    x: float
    y: float = 0.0


def swap(xs, i, j):
    xs[i], xs[j] = xs[j], xs[i]


def k_list_as_local_array(a, o, n):
    i = gpu.grid(1)
    xs = [0.0] * 8
    for k in range(8):
        xs[k] = k * a[i]
    o[i] = xs[i % 8] + sum(xs) + xs[-1]


def k_two_names_of_a_list(a, o, n):
    i = gpu.grid(1)
    xs = [1, 2, 3]
    ys = xs
    ys[0] = i
    zs = xs.copy()
    zs[1] = 9
    o[i] = xs[0] + len(xs) + 10 * (ys is xs) + 100 * xs[1] + 1000 * zs[1]


def k_list_append(a, o, n):
    i = gpu.grid(1)
    xs = []
    for k in range(16):
        if a[k] > i % 5:
            xs.append(a[k] * 0.5)
    total = 0.0
    for x in xs:
        total += x
    o[i] = total + 100 * len(xs) + (max(xs) if xs else -1) + sum(xs) * 1000


def k_list_as_stack(a, o, n):
    i = gpu.grid(1)
    todo = [i % 6]
    done = 0
    while todo:
        v = todo.pop()
        done += v
        if v > 1:
            todo.append(v - 1)
            todo.append(v - 2)
    o[i] = done


def k_list_as_queue(a, o, n):
    i = gpu.grid(1)
    todo = [7, 7]
    todo.clear()
    todo.append(i)
    done = 0
    while len(todo) > 0 and done < 40:
        v = todo.pop(0)
        done += 1
        if v < 8:
            todo += [v + 1, v + 2]
    o[i] = done


def k_list_methods(a, o, n):
    i = gpu.grid(1)
    xs = [3, 1, 2]
    xs.sort()
    xs.insert(0, i)
    xs.reverse()
    del xs[1]
    xs.extend((7, 8))
    xs.remove(7)
    o[i] = xs[0] + 10 * xs[1] + 100 * xs[-1] + 1000 * xs.index(8) + 10000 * xs.count(3) + (i in xs)


def k_list_of_different_types(a, o, n):
    i = gpu.grid(1)
    xs = [1, 2.5, (3, 4)]
    xs[0] = i
    xs[2] = (i, 5)
    o[i] = xs[0] + xs[1] + xs[2][0] + xs[2][1]


def k_list_bubble_sort(a, o, n):
    i = gpu.grid(1)
    xs = [(k * 7 + i) % 5 for k in range(6)]
    for last in range(5, 0, -1):
        for b in range(last):
            if xs[b] > xs[b + 1]:
                swap(xs, b, b + 1)
    for v in xs:
        o[i] = o[i] * 10 + v


def k_list_of_objects(a, o, n):
    i = gpu.grid(1)
    items = [Item(0.0), Item(1.0)]
    items[0] = Item(5.0)
    for p in items:
        p.y = p.x + i
    o[i] = items[0].y + 10 * items[1].y


def k_list_of_lists(a, o, n):
    i = gpu.grid(1)
    m = [[0] * 3, [0] * 3]
    m[1][i % 3] = 7
    m[0][0] = i
    o[i] = m[0][0] + 10 * m[1][0] + 100 * m[1][1] + sum(m[1]) * 1000


def k_list_sieve(a, o, n):
    i = gpu.grid(1)
    prime = [True] * 30
    for p in range(2, 30):
        if prime[p]:
            for q in range(p * p, 30, p):
                prime[q] = False
    for p in range(2, 30):
        if prime[p]:
            o[i] += p


def k_list_slices_and_comparisons(a, o, n):
    i = gpu.grid(1)
    xs = [1, 2, 3, 4]
    ys = xs[1:3]
    ys[0] = i
    zs = ys + [5]
    zs[1] = 8
    o[i] = xs[1] + 10 * ys[0] + 100 * zs[1] + 1000 * (ys == [i, 3]) + 10000 * (ys < [4, 0])


def k_list_from_a_function(a, o, n):
    def multiples(m):
        r = [0] * 4
        for k in range(4):
            r[k] = m * k
        return r

    i = gpu.grid(1)
    x, y = multiples(1), multiples(i)
    o[i] = sum(x) + 100 * sum(y)


def k_list_enumerated_and_zipped(a, o, n):
    i = gpu.grid(1)
    xs = [1.5, 2.0, 3.0]
    for k, v in enumerate(xs):
        xs[k] = v * 2 + i
    for x, w in zip(xs, (1, 10, 100)):  # noqa: B905
        o[i] += x * w
    for x in reversed(xs):
        o[i] = o[i] * 0.5 + x


def k_list_sorted_by_a_key(a, o, n):
    i = gpu.grid(1)
    xs = [3, 1, i]
    xs.sort(key=lambda v: -v)
    ys = sorted(xs)
    o[i] = xs[0] * 10000 + ys[0] * 100 + xs[2]


def k_methods_of_sets(a, o, n):
    i = gpu.grid(1)
    s = {1, 2, 3}
    o[i] = len(s.union((4, 1))) + 10 * len(s.intersection({1, 9})) + 100 * len(s.difference([1]))
    o[i] += 1000 * len(s.symmetric_difference({3, 4})) + 10000 * s.issubset({1, 2, 3, 4}) + 20000 * s.isdisjoint({4})
    o[i] += 40000 * s.issuperset((1, 5))


def k_lists_in_other_things_stay_the_same(a, o, n):
    i = gpu.grid(1)
    x = [1]
    pairs = [x] * 2
    seen = tuple(pairs) + (x,)
    named = dict(p=x)
    again = dict(named)
    x.append(2)
    operator.iadd(x, [3])
    push = functools.partial(lambda xs, v: xs.append(v), x)
    push(i)
    o[i] = len(pairs[1]) + 10 * len(seen[0]) + 100 * len(seen[2]) + 1000 * len(named["p"]) + 10000 * len(again["p"])
    o[i] += 100000 * len([*pairs, x][2])


def k_rows_of_lists(a, o, n):
    i = gpu.grid(1)
    rows = [[0] * 3 for _ in range(2)]
    same = [[0] * 3] * 2
    rows[1][2] = 5
    same[1][i % 3] = 7
    o[i] = sum(rows[0]) + 10 * sum(rows[1]) + 100 * same[0][i % 3]


def k_list_of_run_time_length_beside_library(a, o, n):
    i = gpu.grid(1)
    xs = [k * k for k in range(i)]
    w = np.arange(6).reshape(2, 3)
    o[i] = len(xs) + np.diff(w)[1, 1] + np.squeeze(w[:1])[2] + w[np.ix_([1, 0], [2])][0, 0]
    o[i] += sum(x * y for x, y in itertools.combinations((1, 2, 3), 2)) + len(tuple(itertools.product((1, 2), (i, 4))))
