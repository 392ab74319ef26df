"""What Python programmers write by habit, and a kernel refuses: containers that change, modules of the library, None."""

import heapq
from collections import deque

import gpu
import numpy as np

SEEN = []
COUNTS = {"all": 0}


@gpu.jit
def queue(out):
    waiting = deque([1, 2])
    heapq.heappush(waiting, 3)
    out[0] = len(waiting)


@gpu.jit
def containers_outside(out):
    SEEN.append(1)
    COUNTS["all"] = 1


@gpu.jit
def dict_without_a_key(out):
    d = {"a": 1, "b": 2}
    del d["a"]
    out[0] = len(d)


@gpu.jit
def dict_that_takes_another(out):
    d = {"a": 1}
    d |= {"b": 2}
    out[0] = len(d - {"a": 1})


@gpu.jit
def numpys_iterators(m, out):
    for v in np.nditer(m):
        out[0] += v
    if np.can_cast(np.int32, np.float32):
        out[1] = 1


@gpu.jit
def bits_of_numbers(out, n):
    out[0] = n.to_bytes(4, "little")[0]
    out[1] = out[0].as_integer_ratio()[0]
    out[2] = int.from_bytes(b"ab", "little")


@gpu.jit
def letter(out, i):
    out[0] = ord("ACGT"[i])


@gpu.jit
def indexes_none(out):
    weights = None
    out[0] = weights[0]


# >>> message queue(f4[::1])
# UnsupportedCallError: habits.py:15:15: error: deque() can't be called in a kernel
#    15 |     waiting = deque([1, 2])
#       |               ^^^^^^^^^^^^^
#    help: a list has append(), pop() and pop(0)
#    in kernel queue(array(float32, 1d, C))
# <<<
# >>> message containers_outside(f4[::1])
# CompileError: habits.py:22:5: error: SEEN.append() can't be called in a kernel
#    22 |     SEEN.append(1)
#       |     ^^^^^^^^^^^^^^
#    help: a list outside of the kernel is a constant: make one in the kernel, or write into an array argument
#
# habits.py:23:5: error: items of dict can't be assigned
#    23 |     COUNTS["all"] = 1
#       |     ^^^^^^^^^^^^^
#    help: what lies outside of the kernel is a constant: write into an array argument
#    in kernel containers_outside(array(float32, 1d, C))
# <<<
# >>> message dict_without_a_key(f4[::1])
# UnsupportedError: habits.py:29:9: error: a dict without some of its keys (del, or the rest of a match) is not supported in a kernel: a dict in a kernel has a fixed size
#    29 |     del d["a"]
#       |         ^^^^^^
#    help: name the keys that stay: {key: d[key] for key in ('a', 'b')}
#    in kernel dict_without_a_key(array(float32, 1d, C))
# <<<
# >>> message dict_that_takes_another(f4[::1])
# UnsupportedError: habits.py:36:5: error: this change of a dict is not supported in a kernel: its keys are known when compiling
#    36 |     d |= {"b": 2}
#       |     ^^^^^^^^^^^^^
#    help: make another one: d = d | other
#    in kernel dict_that_takes_another(array(float32, 1d, C))
# <<<
# >>> message numpys_iterators(f4[:, ::1], f4[::1])
# UnsupportedCallError: habits.py:42:14: error: np.nditer() can't be called in a kernel
#    42 |     for v in np.nditer(m):
#       |              ^^^^^^^^^^^^
#    help: for v in a.flat, or for i, v in np.ndenumerate(a)
#
# habits.py:44:8: error: np.can_cast() can't be called in a kernel
#    44 |     if np.can_cast(np.int32, np.float32):
#       |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: compare dtypes: x.dtype == np.float32, which is known when compiling
#    in kernel numpys_iterators(array(float32, 2d, C), array(float32, 1d, C))
# <<<
# >>> message bits_of_numbers(f4[::1], int)
# CompileError: habits.py:50:14: error: int (weak) has no attribute 'to_bytes'
#    50 |     out[0] = n.to_bytes(4, "little")[0]
#       |              ^^^^^^^^^^
#    help: shift and mask: (n >> 8 * k) & 255
#
# habits.py:51:14: error: float32 has no attribute 'as_integer_ratio'
#    51 |     out[1] = out[0].as_integer_ratio()[0]
#       |              ^^^^^^^^^^^^^^^^^^^^^^^
#    help: math.frexp(x) gives a fraction and an exponent
#
# habits.py:52:14: error: int.from_bytes() can't be called in a kernel
#    52 |     out[2] = int.from_bytes(b"ab", "little")
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: shift and add: n = n << 8 | b for each byte
#    in kernel bits_of_numbers(array(float32, 1d, C), int (weak))
# <<<
# >>> message letter(f4[::1], int)
# UnsupportedError: habits.py:57:18: error: a character of a string by an index of run time is not supported in a kernel: strings are known when compiling
#    57 |     out[0] = ord("ACGT"[i])
#       |                  ^^^^^^^^^
#    help: pass an array of its characters: np.frombuffer(text.encode(), np.uint8)
#    in kernel letter(array(float32, 1d, C), int (weak))
# <<<
# >>> message indexes_none(f4[::1])
# TypingError: habits.py:63:14: error: None can't be indexed
#    63 |     out[0] = weights[0]
#       |              ^^^^^^^^^^
#    help: pass an array; where None is an answer, test it first: if a is not None
#    in kernel indexes_none(array(float32, 1d, C))
# <<<
