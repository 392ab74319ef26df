"""What a function that calls itself can't return or take."""

import gpu
import numpy as np


def last(x, n):
    y = np.zeros(4)
    y[0] = x[n]
    return y if n == 0 else last(x, n - 1)


@gpu.jit
def returns_its_array(x):
    x[0] = last(x, len(x))[0]


def whole(x, n):
    return x[0] if n == 0 else whole(x, n - 1)


@gpu.jit
def passes_arithmetic(x):
    x[0] = whole(x[:4] * 2, len(x))


def nest(x, n):
    return x if n == 0 else (nest(x, n - 1), 1)


@gpu.jit
def result_grows(x):
    x[0] = nest(x[0], len(x))[1]


def large(n):
    y = np.zeros(40000)
    for k in range(40000):
        y[k] = n
    if n > 0:
        large(n - 1)


@gpu.jit
def array_for_each_call(x):
    large(len(x))


# >>> message returns_its_array(f4[::1])
# UnsupportedError: recursion.py:15:12: error: the result of last() is not supported in a kernel: an array of a function that calls itself ends with the call
#    15 |     x[0] = last(x, len(x))[0]
#       |            ^^^^^^^^^^^^^^^
#    help: store the result in an array that it gets as an argument
#    in kernel returns_its_array(array(float32, 1d, C))
# <<<
# >>> message passes_arithmetic(f4[::1])
# UnsupportedError: recursion.py:24:12: error: this argument is not supported in a kernel: arithmetic on whole arrays can't be passed to a function that calls itself
#    24 |     x[0] = whole(x[:4] * 2, len(x))
#       |            ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: give it an array that holds the result
#    in kernel passes_arithmetic(array(float32, 1d, C))
# <<<
# >>> message result_grows(f4[::1])
# TypingError: recursion.py:28:29: error: nest() returns float32 on one path and tuple(float32, int (weak)) on another
#    28 |     return x if n == 0 else (nest(x, n - 1), 1)
#       |                             ^^^^^^^^^^^^^^^^^^^
#    note: recursion.py:28:5: float32 here
#    28 |     return x if n == 0 else (nest(x, n - 1), 1)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    called from result_grows, recursion.py:33:12
#    33 |     x[0] = nest(x[0], len(x))[1]
#       |            ^^^^^^^^^^^^^^^^^^
#    in kernel result_grows(array(float32, 1d, C))
# <<<
# >>> message array_for_each_call(f4[::1])
# UnsupportedError: recursion.py:46:5: error: this recursion is not supported in a kernel: the arrays of one call are larger than the stack of a thread
#    46 |     large(len(x))
#       |     ^^^^^^^^^^^^^
#    help: make its arrays smaller, or in the kernel
#    in kernel array_for_each_call(array(float32, 1d, C))
# <<<
