"""Work on whole arrays: shapes that don't go together, sizes that must be constant, what NumPy would copy."""

import gpu
import numpy as np


@gpu.jit
def shapes(x):
    v = np.zeros(3) + np.ones(4)
    m = np.eye(2) @ np.ones(3)
    np.zeros(3)[:] = (1, 2)
    x[:3] = v + m


@gpu.jit
def in_place_of_integers(n):
    n += 0.5
    n[:2] *= 2.5


@gpu.jit
def kept_too_long(x, y):
    t = x * 2
    y[0] = 1
    y[:] = t


@gpu.jit
def kept_in_a_loop(x, n):
    v = np.zeros(3)
    t = (v, v)
    for i in range(n):
        t = (t[1], v + i)
    x[:3] = t[0]


@gpu.jit
def sizes(x, n):
    np.zeros(n)
    np.zeros((1000, 1000))
    np.ones(-1)
    np.arange(n)
    np.array([[1, 2], [3]])
    x @ x
    np.zeros((2, n))[0]


@gpu.jit
def subscripts(x, i):
    x[[0, 1]]
    x[x > 0]
    x[..., 0, ...]
    (x + x)[1:]
    x[:, ::0]


@gpu.jit
def reductions(x, i):
    np.sum(x, axis=2)
    np.sum(x, axis=i)
    np.sum(x, axis=0)
    np.max(np.zeros(0))
    np.argmin(1j * x)
    np.modf(x)


@gpu.jit
def views(x):
    x.T.reshape(4)
    x.transpose(0, 0)
    x.swapaxes(0, 3)
    x.T.flatten()
    x.T.flat
    np.cross(np.zeros(2), np.ones(2))
    x.sorted()


@gpu.jit
def doubles(x):
    t = x * 2
    t = t + t
    t = t + t
    t = t + t
    t = t + t
    t = t + t
    t = t + t
    x[:] = t


# >>> message shapes(f8[::1])
# TypingError: arrays.py:9:9: error: arrays of shapes (3,) and (4,) don't go together element by element
#     9 |     v = np.zeros(3) + np.ones(4)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: sizes are equal, or one of them is 1
#
# arrays.py:10:9: error: matrices of shapes (2, 2) and (3,) have no product
#    10 |     m = np.eye(2) @ np.ones(3)
#       |         ^^^^^^^^^^^^^^^^^^^^^^
#    help: the last axis of the left side is as long as the first of the right
#
# arrays.py:11:22: error: a value of shape (2,) doesn't fill (3,)
#    11 |     np.zeros(3)[:] = (1, 2)
#       |                      ^^^^^^
#    help: sizes are equal, or the value's is 1
#    in kernel shapes(array(float64, 1d, C))
# <<<
# >>> message in_place_of_integers(i4[::1])
# TypingError: arrays.py:17:5: error: the result is float64, which doesn't go into array(int32, 1d, C) in place
#    17 |     n += 0.5
#       |     ^^^^^^^^
#    help: write a = a + b, which makes a new array, or convert the right side
#    in kernel in_place_of_integers(array(int32, 1d, C))
# <<<
# >>> message kept_too_long(f8[::1], f8[::1])
# UnsupportedError: arrays.py:25:5: error: this array expression is not supported in a kernel: its size isn't a small constant, and its arrays may have changed since it was made
#    25 |     y[:] = t
#       |     ^^^^
#    help: write the expression where it is used, or store it: t[:] = ...
#    in kernel kept_too_long(array(float64, 1d, C), array(float64, 1d, C))
# <<<
# >>> message kept_in_a_loop(f8[::1], int)
# UnsupportedError: arrays.py:33:20: error: this array is not supported in a kernel: it takes the memory of the one made an iteration before, which is still in use
#    33 |         t = (t[1], v + i)
#       |                    ^^^^^
#    help: make the arrays before the loop, and assign to their elements: a[:] = ...
#    in kernel kept_in_a_loop(array(float64, 1d, C), int (weak))
# <<<
# >>> message sizes(f8[:, ::1], int)
# CompileError: arrays.py:39:5: error: np.zeros() needs a constant for 'shape', and this is int (weak)
#    39 |     np.zeros(n)
#       |     ^^^^^^^^^^^
#    help: use numbers, globals, or variables of an enclosing function; of an array argument each thread can take a row of any size
#
# arrays.py:40:5: error: np.zeros(): a thread has 512 KiB for arrays of its own, and this takes 7813
#    40 |     np.zeros((1000, 1000))
#       |     ^^^^^^^^^^^^^^^^^^^^^^
#    help: use a part of an array argument for each thread
#
# arrays.py:41:13: error: np.ones(): a size is 0 or more, and below 2**31
#    41 |     np.ones(-1)
#       |             ^^
#
# arrays.py:42:5: error: np.arange() needs a constant for 'bounds', and this is int (weak)
#    42 |     np.arange(n)
#       |     ^^^^^^^^^^^^
#    help: range(...) counts with run-time bounds
#
# arrays.py:43:5: error: this array is not supported in a kernel: its items differ in shape
#    43 |     np.array([[1, 2], [3]])
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: all rows have one length
#
# arrays.py:44:5: error: this product is not supported in a kernel: its shape isn't known when compiling
#    44 |     x @ x
#       |     ^^^^^
#    help: write the loops, or take rows: a[i] @ b[j]
#
# arrays.py:45:14: error: np.zeros() needs a constant for 'shape', and this is int (weak)
#    45 |     np.zeros((2, n))[0]
#       |              ^^^^^^
#    help: use numbers, globals, or variables of an enclosing function; of an array argument each thread can take a row of any size
#    in kernel sizes(array(float64, 2d, C), int (weak))
# <<<
# >>> message subscripts(f8[:, ::1], int)
# CompileError: arrays.py:51:7: error: an index must be an integer, and this is array expression(bool, 2d)
#    51 |     x[x > 0]
#       |       ^^^^^
#    help: how many elements a mask takes isn't known: np.where(mask, x, y), or a loop that appends to a list; x[mask] = number, x[mask] += number (made before) and x[mask].sum() are fine; gpu.scan of a mask gives each its place in a shorter array
#
# arrays.py:52:5: error: this subscript is not supported in a kernel: there is one ... in it at most
#    52 |     x[..., 0, ...]
#       |     ^^^^^^^^^^^^^^
#    help: write : for the other axes
#
# arrays.py:53:5: error: a slice of this expression is not supported in a kernel: its elements aren't in memory
#    53 |     (x + x)[1:]
#       |     ^^^^^^^^^^^
#    help: slice the arrays that it is made of
#
# arrays.py:54:5: error: this step is not supported in a kernel: the step of a slice is other than 0
#    54 |     x[:, ::0]
#       |     ^^^^^^^^^
#    help: use a step that isn't 0
#    in kernel subscripts(array(float64, 2d, C), int (weak))
# <<<
# >>> message reductions(f8[:, ::1], int)
# CompileError: arrays.py:59:5: error: np.sum(): there is no axis 2: the array has 2
#    59 |     np.sum(x, axis=2)
#       |     ^^^^^^^^^^^^^^^^^
#
# arrays.py:60:5: error: np.sum() needs a constant for 'axis', and this is int (weak)
#    60 |     np.sum(x, axis=i)
#       |     ^^^^^^^^^^^^^^^^^
#    help: one axis, as a constant
#
# arrays.py:61:5: error: np.sum is not supported in a kernel: the shape of its result isn't known when compiling
#    61 |     np.sum(x, axis=0)
#       |     ^^^^^^^^^^^^^^^^^
#    help: loop over the other axes, and take the whole of a[i]
#
# arrays.py:62:5: error: np.max(): an array without elements has none
#    62 |     np.max(np.zeros(0))
#       |     ^^^^^^^^^^^^^^^^^^^
#
# arrays.py:63:5: error: np.argmin() does not take array expression(complex128, 2d)
#    63 |     np.argmin(1j * x)
#       |     ^^^^^^^^^^^^^^^^^
#    help: take .real, .imag or abs(...)
#
# arrays.py:64:5: error: this on an array is not supported in a kernel: it gives several values for each element
#    64 |     np.modf(x)
#       |     ^^^^^^^^^^
#    help: call it on the elements, in a loop
#    in kernel reductions(array(float64, 2d, C), int (weak))
# <<<
# >>> message views(f8[:, ::1])
# CompileError: arrays.py:69:5: error: x.T.reshape is not supported in a kernel: only an array in C order has another shape without a copy
#    69 |     x.T.reshape(4)
#       |     ^^^^^^^^^^^^^^
#    help: index it as it is, or take .copy() of a small one
#
# arrays.py:70:5: error: x.transpose(): it takes each axis once, or none
#    70 |     x.transpose(0, 0)
#       |     ^^^^^^^^^^^^^^^^^
#
# arrays.py:71:5: error: x.swapaxes(): there is no axis 3: the array has 2
#    71 |     x.swapaxes(0, 3)
#       |     ^^^^^^^^^^^^^^^^
#
# arrays.py:72:5: error: x.T.flatten is not supported in a kernel: it copies, and only elements in C order are found by one index
#    72 |     x.T.flatten()
#       |     ^^^^^^^^^^^^^
#    help: np.ndenumerate(x) goes through the elements with their indices
#
# arrays.py:73:5: error: flat is not supported in a kernel: this array isn't in C order
#    73 |     x.T.flat
#       |     ^^^^^^^^
#    help: np.ndenumerate(x) goes through the elements with their indices
#
# arrays.py:74:14: error: np.cross() does not take array(float64, 1d, C, local)
#    74 |     np.cross(np.zeros(2), np.ones(2))
#       |              ^^^^^^^^^^^
#    help: it takes vectors of 3 elements
#
# arrays.py:75:5: error: array(float64, 2d, C) has no attribute 'sorted'
#    75 |     x.sorted()
#       |     ^^^^^^^^
#    help: did you mean 'sort'?
#    in kernel views(array(float64, 2d, C))
# <<<
# >>> message doubles(f8[::1])
# UnsupportedError: arrays.py:86:9: error: this expression is not supported in a kernel: it works on more than 128 arrays and parts
#    86 |     t = t + t
#       |         ^^^^^
#    help: store a part of it in an array
#    in kernel doubles(array(float64, 1d, C))
# <<<
