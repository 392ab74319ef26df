"""Mistakes with calls."""

import math
import time

import gpu
import numpy as np


def square(x):
    return x * x


def halves(img, k):
    return img[k / 2]


def twice(img, k):
    return halves(img, k) * 2


def forever(n):
    return forever(n - 1)


def two_results(flag, x):
    if flag:
        return x
    return 1.0


@gpu.jit
def too_many_arguments(x):
    x[0] = square(x[0], 2)


@gpu.jit
def missing_argument(x):
    x[0] = square()


@gpu.jit
def unknown_keyword(x):
    x[0] = square(y=x[0])


@gpu.jit
def argument_twice(x):
    x[0] = square(x[0], x=2)


@gpu.jit
def math_of_an_array(x, out):
    out[0] = math.sin(x)


@gpu.jit
def math_of_complex(z, out):
    out[0] = math.sin(z[0])


@gpu.jit
def numpy_of_complex(z, out):
    out[0] = np.floor(z[0])


@gpu.jit
def gcd_of_floats(x, out):
    out[0] = math.gcd(x[0], 2)


@gpu.jit
def wrong_count(x, out):
    out[0] = math.atan2(x[0])


@gpu.jit
def prints(x):
    print(x[0], file=None)


@gpu.jit
def makes_an_array(x):
    y = np.zeros(len(x))
    x[0] = y[0]


@gpu.jit
def sorts_an_array(x, out):
    out[0] = np.sort(x)


@gpu.jit
def asks_the_time(out):
    out[0] = time.time()


@gpu.jit
def calls_a_number(x):
    n = 3
    x[0] = n(x[0])


@gpu.jit
def run_time_axes(x, n):
    x[0] = gpu.grid(n)


@gpu.jit
def four_axes(x):
    x[0] = gpu.grid(4)[0]


@gpu.jit
def float_range(x):
    for k in range(x.size / 2):
        x[k] = 0


@gpu.jit
def zero_step(x):
    for k in range(0, 10, 0):
        x[k] = 0


@gpu.jit
def iterates_a_number(x):
    for k in 10:
        x[k] = 0


@gpu.jit
def in_a_called_function(x, out):
    i = gpu.grid(1)
    out[i] = twice(x, i)


@gpu.jit
def recursion(x):
    x[0] = forever(x[0])


@gpu.jit
def results_differ(x, out, flag):
    out[0] = two_results(flag, x)[0]


@gpu.jit
def returns_a_value(x):
    return x[0]


@gpu.jit
def half_a_digit(x, n):
    x[0] = round(x[0], 0.5)


@gpu.jit
def min_of_an_array(x, out):
    out[0] = min(x)


@gpu.jit
def min_of_nothing(x):
    x[0] = min()


@gpu.jit
def grows_by_a_mistake(x, out):
    result = (x[0],)
    for _ in range(3):
        result = (*result, result[-1] + (1,))
    out[0] = result[0]


@gpu.jit
def counts_from_an_array(x, out):
    for i, v in enumerate(x, x):
        out[i] = v
    out[0] = np.clip(None, 0, 1)


# >>> message too_many_arguments(f4[::1])
# TypingError: calls.py:34:12: error: too many arguments for square(): it takes 1, and this call has 2
#    34 |     x[0] = square(x[0], 2)
#       |            ^^^^^^^^^^^^^^^
#    help: it is square(x)
#    in kernel too_many_arguments(array(float32, 1d, C))
# <<<
# >>> message missing_argument(f4[::1])
# TypingError: calls.py:39:12: error: square() needs the argument 'x'
#    39 |     x[0] = square()
#       |            ^^^^^^^^
#    help: it is square(x)
#    in kernel missing_argument(array(float32, 1d, C))
# <<<
# >>> message unknown_keyword(f4[::1])
# TypingError: calls.py:44:12: error: square() has no argument 'y'
#    44 |     x[0] = square(y=x[0])
#       |            ^^^^^^^^^^^^^^
#    help: it is square(x)
#    in kernel unknown_keyword(array(float32, 1d, C))
# <<<
# >>> message argument_twice(f4[::1])
# TypingError: calls.py:49:12: error: square() got the argument 'x' twice
#    49 |     x[0] = square(x[0], x=2)
#       |            ^^^^^^^^^^^^^^^^^
#    help: it is square(x)
#    in kernel argument_twice(array(float32, 1d, C))
# <<<
# >>> message math_of_an_array(f4[::1], f4[::1])
# TypingError: calls.py:54:14: error: math.sin() does not take array(float32, 1d, C)
#    54 |     out[0] = math.sin(x)
#       |              ^^^^^^^^^^^
#    help: it takes numbers: index the array, as in x[i]; np's functions take arrays, too
#    in kernel math_of_an_array(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message math_of_complex(c8[::1], f4[::1])
# TypingError: calls.py:59:23: error: math.sin() does not take complex64
#    59 |     out[0] = math.sin(z[0])
#       |                       ^^^^
#    help: take .real, .imag or abs(...) of a complex number
#    in kernel math_of_complex(array(complex64, 1d, C), array(float32, 1d, C))
# <<<
# >>> message numpy_of_complex(c8[::1], f4[::1])
# TypingError: calls.py:64:14: error: np.floor() does not take complex64
#    64 |     out[0] = np.floor(z[0])
#       |              ^^^^^^^^^^^^^^
#    help: take .real, .imag or abs(...) of a complex number
#    in kernel numpy_of_complex(array(complex64, 1d, C), array(float32, 1d, C))
# <<<
# >>> message gcd_of_floats(f4[::1], f4[::1])
# TypingError: calls.py:69:23: error: math.gcd() does not take float32
#    69 |     out[0] = math.gcd(x[0], 2)
#       |                       ^^^^
#    help: int(...) truncates
#    in kernel gcd_of_floats(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message wrong_count(f4[::1], f4[::1])
# TypingError: calls.py:74:14: error: math.atan2() needs the argument 'x2'
#    74 |     out[0] = math.atan2(x[0])
#       |              ^^^^^^^^^^^^^^^^
#    help: it is math.atan2(x1, x2)
#    in kernel wrong_count(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message prints(f4[::1])
# UnsupportedError: calls.py:79:5: error: the argument 'file' of print() has no meaning in a kernel
#    79 |     print(x[0], file=None)
#       |     ^^^^^^^^^^^^^^^^^^^^^^
#    help: output goes to sys.stdout when the launch is waited for
#    in kernel prints(array(float32, 1d, C))
# <<<
# >>> message makes_an_array(f4[::1])
# TypingError: calls.py:84:18: error: np.zeros() needs a constant for 'shape', and this is int (weak)
#    84 |     y = np.zeros(len(x))
#       |                  ^^^^^^
#    help: use numbers, globals, or variables of an enclosing function; of an array argument each thread can take a row of any size
#    in kernel makes_an_array(array(float32, 1d, C))
# <<<
# >>> message sorts_an_array(f4[::1], f4[::1])
# TypingError: calls.py:90:14: error: np.sort() needs an array whose size is known when compiling, and this is array(float32, 1d, C)
#    90 |     out[0] = np.sort(x)
#       |              ^^^^^^^^^^
#    help: name how many elements: x[:8], x[i:i + 8]; or write the loop
#    in kernel sorts_an_array(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message asks_the_time(f4[::1])
# UnsupportedCallError: calls.py:95:14: error: time.time() can't be called in a kernel
#    95 |     out[0] = time.time()
#       |              ^^^^^^^^^^^
#    help: gpu.clock64() counts cycles in a kernel; a launch is timed outside, up to gpu.synchronize()
#    in kernel asks_the_time(array(float32, 1d, C))
# <<<
# >>> message calls_a_number(f4[::1])
# TypingError: calls.py:101:12: error: int (weak) can't be called
#   101 |     x[0] = n(x[0])
#       |            ^^^^^^^
#    help: a number isn't a function: is a * missing?
#    in kernel calls_a_number(array(float32, 1d, C))
# <<<
# >>> message run_time_axes(f4[::1], int)
# TypingError: calls.py:106:12: error: gpu.grid() needs a constant for 'ndim', and this is int (weak)
#   106 |     x[0] = gpu.grid(n)
#       |            ^^^^^^^^^^^
#    help: the number of axes is part of the compiled code
#    in kernel run_time_axes(array(float32, 1d, C), int (weak))
# <<<
# >>> message four_axes(f4[::1])
# TypingError: calls.py:111:21: error: gpu.grid(): a grid has 1, 2 or 3 axes
#   111 |     x[0] = gpu.grid(4)[0]
#       |                     ^
#    in kernel four_axes(array(float32, 1d, C))
# <<<
# >>> message float_range(f4[::1])
# TypingError: calls.py:116:14: error: range() takes integers, and this is float (weak)
#   116 |     for k in range(x.size / 2):
#       |              ^^^^^^^^^^^^^^^^^
#    help: int(...) truncates; // is the integer division
#    in kernel float_range(array(float32, 1d, C))
# <<<
# >>> message zero_step(f4[::1])
# TypingError: calls.py:122:14: error: the step of range() must not be 0
#   122 |     for k in range(0, 10, 0):
#       |              ^^^^^^^^^^^^^^^
#    in kernel zero_step(array(float32, 1d, C))
# <<<
# >>> message iterates_a_number(f4[::1])
# TypingError: calls.py:128:14: error: int (weak) 10 can't be iterated
#   128 |     for k in 10:
#       |              ^^
#    help: range(n) counts to n
#    in kernel iterates_a_number(array(float32, 1d, C))
# <<<
# >>> message in_a_called_function(f4[::1], f4[::1])
# TypingError: calls.py:15:16: error: an index must be an integer, and this is float (weak)
#    15 |     return img[k / 2]
#       |                ^^^^^
#    help: // is the integer division; int(...) truncates
#    called from twice, calls.py:19:12
#    19 |     return halves(img, k) * 2
#       |            ^^^^^^^^^^^^^^
#    called from in_a_called_function, calls.py:135:14
#   135 |     out[i] = twice(x, i)
#       |              ^^^^^^^^^^^
#    in kernel in_a_called_function(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message recursion(f4[::1])
# TypingError: calls.py:23:12: error: cannot type infer runaway recursion: forever() calls itself on every way to its end
#    23 |     return forever(n - 1)
#       |            ^^^^^^^^^^^^^^
#    help: let it return without that call where it ends
#    called from recursion, calls.py:140:12
#   140 |     x[0] = forever(x[0])
#       |            ^^^^^^^^^^^^^
#    in kernel recursion(array(float32, 1d, C))
# <<<
# >>> message results_differ(f4[::1], f4[::1], bool)
# TypingError: calls.py:29:12: error: two_results() returns array(float32, 1d, C) on one path and float (weak) on another
#    29 |     return 1.0
#       |            ^^^
#    note: calls.py:28:9: array(float32, 1d, C) here
#    28 |         return x
#       |         ^^^^^^^^
#    called from results_differ, calls.py:145:14
#   145 |     out[0] = two_results(flag, x)[0]
#       |              ^^^^^^^^^^^^^^^^^^^^
#    in kernel results_differ(array(float32, 1d, C), array(float32, 1d, C), bool (weak))
# <<<
# >>> message returns_a_value(f4[::1])
# TypingError: calls.py:150:5: error: a kernel returns nothing, and this returns float32
#   150 |     return x[0]
#       |     ^^^^^^^^^^^
#    help: store the result in an array
#    in kernel returns_a_value(array(float32, 1d, C))
# <<<
# >>> message half_a_digit(f4[::1], int)
# TypingError: calls.py:155:24: error: round() needs a constant for 'ndigits', and this is float (weak)
#   155 |     x[0] = round(x[0], 0.5)
#       |                        ^^^
#    help: the number of digits is part of the compiled code
#    in kernel half_a_digit(array(float32, 1d, C), int (weak))
# <<<
# >>> message min_of_an_array(f4[:, ::1], f4[::1])
# TypingError: calls.py:160:14: error: min() does not take array(float32, 2d, C)
#   160 |     out[0] = min(x)
#       |              ^^^^^^
#    help: the items of this array are rows; np.sum(...), np.min(...) and np.any(...) take all elements
#    in kernel min_of_an_array(array(float32, 2d, C), array(float32, 1d, C))
# <<<
# >>> message min_of_nothing(f4[::1])
# TypingError: calls.py:165:12: error: too few arguments for min(): it needs at least 1, and this call has 0
#   165 |     x[0] = min()
#       |            ^^^^^
#    in kernel min_of_nothing(array(float32, 1d, C))
# <<<
# >>> message grows_by_a_mistake(f4[::1], f4[::1])
# TypingError: calls.py:172:28: error: + does not take (float32, tuple(int (weak),))
#   172 |         result = (*result, result[-1] + (1,))
#       |                            ^^^^^^^^^^^^^^^^^
#    in kernel grows_by_a_mistake(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message counts_from_an_array(f4[::1], f4[::1])
# TypingError: calls.py:178:17: error: enumerate() does not take array(float32, 1d, C)
#   178 |     for i, v in enumerate(x, x):
#       |                 ^^^^^^^^^^^^^^^
#    help: start is an integer
#
# calls.py:180:22: error: np.clip() does not take None
#   180 |     out[0] = np.clip(None, 0, 1)
#       |                      ^^^^
#    in kernel counts_from_an_array(array(float32, 1d, C), array(float32, 1d, C))
# <<<
