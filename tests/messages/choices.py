"""What is only known at run time, where a kernel must know it before."""

import enum

import gpu
import numpy as np


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


@gpu.jit
def member_at_run_time(out):
    side = Side.LEFT if out[0] > 0 else Side.RIGHT
    out[1] = side is Side.LEFT


@gpu.jit
def member_in_branches(out):
    side = Side.LEFT
    if out[0] > 0:
        side = Side.RIGHT
    out[1] = side is Side.LEFT


@gpu.jit
def copy_of_some_length(out):
    own = out[: len(out) - 3].copy()
    own[0] = 5
    out[1] = own[0]


@gpu.jit
def limits_of_a_string(out):
    out[0] = np.finfo("int33").eps


# >>> message member_at_run_time(f4[::1])
# TypingError: choices.py:16:41: error: the two sides of this expression are Side and Side
#    16 |     side = Side.LEFT if out[0] > 0 else Side.RIGHT
#       |                                         ^^^^^^^^^^
#    note: choices.py:16:12: Side here
#    16 |     side = Side.LEFT if out[0] > 0 else Side.RIGHT
#       |            ^^^^^^^^^
#    note: choices.py:16:41: Side here
#    16 |     side = Side.LEFT if out[0] > 0 else Side.RIGHT
#       |                                         ^^^^^^^^^^
#    help: members of an Enum are constants: make it an IntEnum, or choose between their values
#    in kernel member_at_run_time(array(float32, 1d, C))
# <<<
# >>> message member_in_branches(f4[::1])
# TypingError: choices.py:24:16: error: 'side' is Side on one path and Side on another
#    24 |         side = Side.RIGHT
#       |                ^^^^^^^^^^
#    note: choices.py:22:12: Side here
#    22 |     side = Side.LEFT
#       |            ^^^^^^^^^
#    note: choices.py:24:16: Side here
#    24 |         side = Side.RIGHT
#       |                ^^^^^^^^^^
#    help: members of an Enum are constants: make it an IntEnum, or choose between their values
#    in kernel member_in_branches(array(float32, 1d, C))
# <<<
# >>> message copy_of_some_length(f4[::1])
# TypingError: choices.py:31:5: error: items of array expression(float32, 1d) can't be assigned
#    31 |     own[0] = 5
#       |     ^^^^^^
#    help: give it memory of a size that is known: w = np.empty(4), then w[:] = ...
#    in kernel copy_of_some_length(array(float32, 1d, C))
# <<<
# >>> message limits_of_a_string(f4[::1])
# TypingError: choices.py:37:14: error: np.finfo() does not take str 'int33'
#    37 |     out[0] = np.finfo("int33").eps
#       |              ^^^^^^^^^^^^^^^^^
#    in kernel limits_of_a_string(array(float32, 1d, C))
# <<<
