"""What is only known at run time, where a kernel must know it before."""

import enum

import gpu
import numpy as np


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Way(enum.Enum):
    UP = 1


@gpu.jit
def members_of_two_enums(out):
    side = Side.LEFT if out[0] > 0 else Way.UP
    out[1] = side is Side.LEFT


@gpu.jit
def functions_with_arrays(out):
    own = np.zeros(3)

    def first(x):
        own[0] = x

    def second(x):
        own[1] = x

    change = first
    if out[0] > 0:
        change = second
    change(5)
    out[1] = own[1]


@gpu.jit
def copy_of_some_length(out):
    own = out[: len(out) - 3].copy()
    own[0] = 5
    out[1] = own[0]


@gpu.jit
def limits_of_a_string(out):
    out[0] = np.finfo("int33").eps


# >>> message members_of_two_enums(f4[::1])
# TypingError: choices.py:20:41: error: the two sides of this expression are Side and Way
#    20 |     side = Side.LEFT if out[0] > 0 else Way.UP
#       |                                         ^^^^^^
#    note: choices.py:20:12: Side here
#    20 |     side = Side.LEFT if out[0] > 0 else Way.UP
#       |            ^^^^^^^^^
#    note: choices.py:20:41: Way here
#    20 |     side = Side.LEFT if out[0] > 0 else Way.UP
#       |                                         ^^^^^^
#    help: run time chooses among members of one enum: choose between their values
#    in kernel members_of_two_enums(array(float32, 1d, C))
# <<<
# >>> message functions_with_arrays(f4[::1])
# TypingError: choices.py:31:5: error: 'change' is function on one path and function on another
#    31 |     def second(x):
#       |     ^^^^^^^^^^^^^^
#    note: choices.py:28:5: function here
#    28 |     def first(x):
#       |     ^^^^^^^^^^^^^
#    note: choices.py:31:5: function here
#    31 |     def second(x):
#       |     ^^^^^^^^^^^^^^
#    help: run time chooses among functions that use no array of the kernel's own, and no variable that changes: give them such as arguments
#    in kernel functions_with_arrays(array(float32, 1d, C))
# <<<
# >>> message copy_of_some_length(f4[::1])
# TypingError: choices.py:44:5: error: items of array expression(float32, 1d) can't be assigned
#    44 |     own[0] = 5
#       |     ^^^^^^
#    help: give it memory of a size that is known: w = np.empty(4), then w[:] = ...
#    in kernel copy_of_some_length(array(float32, 1d, C))
# <<<
# >>> message limits_of_a_string(f4[::1])
# TypingError: choices.py:50:14: error: np.finfo() does not take str 'int33'
#    50 |     out[0] = np.finfo("int33").eps
#       |              ^^^^^^^^^^^^^^^^^
#    in kernel limits_of_a_string(array(float32, 1d, C))
# <<<
