"""Kernels with functions that call themselves; test_recursion.py runs them on every device and compares.

Each takes an array of 16 float32, an output of 16 float64 and a table of 16 int64.
"""

from __future__ import annotations

import cmath
import functools
from dataclasses import dataclass
from typing import Any

import gpu
import numpy as np


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def k_fibonacci(a, o, t):
    i = gpu.grid(1)
    o[i] = fib(t[i]) + 0.5


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def k_ackermann(a, o, t):
    i = gpu.grid(1)
    o[i] = ackermann(t[i] % 3, i % 4) + 10 * ackermann(2, i % 5)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def k_mutual(a, o, t):
    i = gpu.grid(1)
    o[i] = 1 if is_even(t[i]) else 2 if is_odd(t[i] * 3) else 5


def hofstadter_f(n):
    return 1 if n == 0 else n - hofstadter_m(hofstadter_f(n - 1))


def hofstadter_m(n):
    return 0 if n == 0 else n - hofstadter_f(hofstadter_m(n - 1))


def k_mutual_nested(a, o, t):
    i = gpu.grid(1)
    o[i] = hofstadter_f(t[i]) + 100 * hofstadter_m(t[i])


def expression(t, k, depth):
    s = term(t, k, depth)
    for j in range(k % 3):
        s += term(t, k + j, depth)
    return s


def term(t, k, depth):
    if depth == 0:
        return t[k % 16]
    if k % 2:
        return 2 * term(t, k + 1, depth - 1) - factor(t, k, depth)
    return factor(t, k, depth) + 1


def factor(t, k, depth):
    if depth <= 0:
        return 3
    return expression(t, k + 1, depth - 1) + term(t, k + 3, depth - 2 if depth > 1 else 0)


def k_three_functions(a, o, t):
    i = gpu.grid(1)
    o[i] = expression(t, i, i % 5)


def quicksort(a, low, high):
    if low >= high:
        return
    pivot, k = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[k], a[j] = a[j], a[k]
            k += 1
    a[k], a[high] = a[high], a[k]
    quicksort(a, low, k - 1)
    quicksort(a, k + 1, high)


def k_quicksort(a, o, t):
    i = gpu.grid(1)
    mine = np.zeros(16)
    for k in range(16):
        mine[k] = a[(k * (i + 3) + i) % 16] * 2 - k
    quicksort(mine, 0, i)
    for k in range(16):
        o[i] += mine[k] * (k + 1)


def total(a):
    if len(a) == 0:
        return 0.0
    if len(a) == 1:
        return a[0]
    half = len(a) // 2
    return total(a[:half]) + 2 * total(a[half:])


def k_slices(a, o, t):
    i = gpu.grid(1)
    o[i] = total(a[i:]) + total(t[:i])


def subtree(t, node):
    s = t[node]
    for child in (2 * node + 1, 2 * node + 2):
        if child < 16:
            s += subtree(t, child)
    return s


def k_tree_in_a_loop(a, o, t):
    i = gpu.grid(1)
    o[i] = subtree(t, i)


def merge(a, low, high):
    buffer = np.zeros(16)
    if high - low < 2:
        return
    middle = (low + high) // 2
    for k in range(low, high):
        buffer[k] = a[k]
    merge(a, low, middle)
    merge(a, middle, high)
    check = 0.0
    for k in range(low, high):
        check += buffer[k]
        buffer[k] = a[k]
    j, k = low, middle
    for n in range(low, high):
        if k >= high or (j < middle and buffer[j] <= buffer[k]):
            a[n] = buffer[j]
            j += 1
        else:
            a[n] = buffer[k]
            k += 1
        check -= a[n]
    a[low] += check


def k_array_in_each_call(a, o, t):
    i = gpu.grid(1)
    mine = np.zeros(16)
    for k in range(16):
        mine[k] = (k * 7 + i) % 16
    merge(mine, i // 2, 16)
    for k in range(16):
        o[i] += mine[k] * (k + 1)


def pick(x, n):
    return x if n == 0 else pick(x * 0.5, n - 1)


def k_float32_stays(a, o, t):
    i = gpu.grid(1)
    o[i] = pick(a[i], i % 3) * 1e-8 + pick(a[i], i % 3)


def power(z, n):
    if n == 0:
        return 1
    half = power(z, n // 2)
    return half * half if n % 2 == 0 else half * half * z


def k_complex(a, o, t):
    i = gpu.grid(1)
    z = power(complex(a[i], 1.0), i % 5 + 1)
    o[i] = z.real + cmath.phase(z)


def extended_gcd(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = extended_gcd(b, a % b)
    return g, y, x - (a // b) * y


def k_tuple_result(a, o, t):
    i = gpu.grid(1)
    g, x, y = extended_gcd(t[i] * 6 + 4, i + 2)
    o[i] = g + 10 * x + 1000 * y


def collatz(n, steps, most):
    if n <= 1:
        return steps, most
    return collatz(n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1, max(most, n))


def k_constants_that_grow(a, o, t):
    i = gpu.grid(1)
    steps, most = collatz(t[i] + 1, 0, 1)
    o[i] = steps + most


def k_deep_constants(a, o, t):
    i = gpu.grid(1)
    o[i] = i + triangle(100)


def triangle(n):
    return 0 if n == 0 else n + triangle(n - 1)


def hanoi(moves, n, src, dst, via):
    if n > 0:
        hanoi(moves, n - 1, src, via, dst)
        gpu.atomic.add(moves, dst, src + 1)
        hanoi(moves, n - 1, via, dst, src)


def k_no_result(a, o, t):
    i = gpu.grid(1)
    moves = gpu.shared.array(3, np.int32)
    if i < 3:
        moves[i] = 0
    gpu.syncthreads()
    hanoi(moves, i % 5, 0, 1, 2)
    gpu.syncthreads()
    o[i] = moves[i % 3]


def reduce_block(tile, n):
    if n > 1:
        half = n // 2
        if gpu.threadIdx.x < half:
            tile[gpu.threadIdx.x] += tile[gpu.threadIdx.x + half]
        gpu.syncthreads()
        reduce_block(tile, half)


def k_barrier(a, o, t):
    i = gpu.grid(1)
    tile = gpu.shared.array(16, np.float32)
    tile[i] = a[i] + 1
    gpu.syncthreads()
    reduce_block(tile, t[0] + 16)
    o[i] = tile[0]


def simpson(f, low, high, depth):
    middle = 0.5 * (low + high)
    coarse = (high - low) / 6 * (f(low) + 4 * f(middle) + f(high))
    if depth == 0:
        return coarse
    return simpson(f, low, middle, depth - 1) + simpson(f, middle, high, depth - 1)


def k_function_argument(a, o, t):
    i = gpu.grid(1)
    scale = a[i] + 1
    o[i] = simpson(lambda x: x * x * scale, 0.0, 1.0 + i, i % 4)


def k_inside_reduce(a, o, t):
    i = gpu.grid(1)
    o[i] = functools.reduce(lambda s, n: s + fib(n), (i % 5, t[i] % 7, 3), 0.0) + sum(fib(t[k] % 6) for k in range(i))


@dataclass(frozen=True)
class Node:
    key: float
    depth: int

    def walk(self, x):
        if self.depth == 0:
            return self.key
        return Node(self.key * x + self.depth, self.depth - 1).walk(x)


def k_method(a, o, t):
    i = gpu.grid(1)
    o[i] = Node(1.0, i % 6).walk(a[i])


def search(a, x, low, high):
    while low < high:
        middle = (low + high) // 2
        if a[middle] == x:
            return middle
        if a[middle] > x:
            return search(a, x, low, middle)
        low = middle + 1
    return -1


def k_return_in_a_loop(a, o, t):
    i = gpu.grid(1)
    o[i] = search(t, i * 2, 0, 16) + 0.5


def swap_sides(left, right, n):
    if n == 0:
        return left[0] * 10 + right[0]
    return swap_sides(right, left[1:], n - 1)


def k_arrays_change_places(a, o, t):
    i = gpu.grid(1)
    o[i] = swap_sides(a, a[3:], i % 7)


def twice(n):
    return 0 if n <= 0 else 1 + thrice(n - 1) + twice(n - 3)


def thrice(n):
    return 1 if n <= 0 else twice(n - 1) + twice(n - 2) + thrice(n - 2)


def k_each_calls_both(a, o, t):
    i = gpu.grid(1)
    o[i] = twice(i) + 1000 * thrice(i)


def outer(n):
    def inner(k):
        return k * 2 if k > n else inner_helper(k, n)

    return inner(n // 2)


def inner_helper(k, n):
    return outer(n - 1) + k if n > 0 else k


def k_inner_function(a, o, t):
    i = gpu.grid(1)
    o[i] = outer(i)


def half_until(x: Any, n: int):
    flags = (n > 3, n < 2)
    if flags[1]:
        return x
    y = half_until(x / 2, n - 1)
    return y if flags[0] else y + 1


def k_bools_are_kept(a, o, t):
    i = gpu.grid(1)
    o[i] = half_until(a[i], i % 9)


def k_in_a_loop(a, o, t):
    i = gpu.grid(1)
    s = 0
    for k in range(i):
        if k % 3 != 1:
            s += fib(k % 7) * (k + 1)
    o[i] = s


def k_def_inside(a, o, t):
    i = gpu.grid(1)
    scale = a[i]

    def climb(n, step=2):
        return scale if n <= 0 else climb(n - step) + climb(n - 3, step=step) * t[n]

    def constant(n):
        return 1 if n == 0 else n * constant(n - 1)

    o[i] = climb(i) + constant(4)
