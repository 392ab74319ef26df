"""Mistakes with names, variables and attributes."""

import gpu
import numpy as np

SETTINGS = {"scale": 2.0}
WORDS = ["a", "b"]


class Plain:
    value = 3


@gpu.jit
def undefined_name(x):
    x[0] = factor * 2


@gpu.jit
def misspelled_attribute(x, out):
    out[0] = x.shpae[0]


@gpu.jit
def misspelled_function(x, out):
    out[0] = np.sqroot(x[0])


@gpu.jit
def not_on_every_path(x, out):
    i = gpu.grid(1)
    if x[i] > 0:
        value = x[i]
    out[i] = value


@gpu.jit
def only_in_the_loop(x, out):
    for k in range(x.size):
        last = x[k]
    out[0] = last


@gpu.jit
def before_assignment(out):
    out[0] = later
    later = 1


@gpu.jit
def deleted(out):
    value = 1
    del value
    out[0] = value


@gpu.jit
def two_types(x, out, flag):
    if flag:
        value = x
    else:
        value = 1.5
    out[0] = value[0]


@gpu.jit
def unsigned_and_negative(x, out, flag):
    value = x[0]
    if flag:
        value = gpu.grid(1) - 5
    out[0] = value


@gpu.jit
def sides_of_a_conditional(x, out, flag):
    out[0] = x if flag else 1.0


@gpu.jit
def sets_an_attribute(x):
    x.shape = 3


@gpu.jit
def unpacks_too_few(x):
    a, b, c = x[0], x[1]
    x[2] = a + b + c


@gpu.jit
def unpacks_a_number(x):
    a, b = x[0]
    x[1] = a + b


# >>> message undefined_name(f4[::1])
# NameResolutionError: names.py:16:12: error: name 'factor' is not defined
#    16 |     x[0] = factor * 2
#       |            ^^^^^^
#    in kernel undefined_name(array(float32, 1d, C))
# <<<
# >>> message misspelled_attribute(f4[::1], f4[::1])
# NameResolutionError: names.py:21:14: error: array(float32, 1d, C) has no attribute 'shpae'
#    21 |     out[0] = x.shpae[0]
#       |              ^^^^^^^
#    help: did you mean 'shape'?
#    in kernel misspelled_attribute(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message misspelled_function(f4[::1], f4[::1])
# NameResolutionError: names.py:26:14: error: module numpy has no attribute 'sqroot'
#    26 |     out[0] = np.sqroot(x[0])
#       |              ^^^^^^^^^
#    help: did you mean 'sqrt'?
#    in kernel misspelled_function(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message not_on_every_path(f4[::1], f4[::1])
# TypingError: names.py:34:14: error: 'value' is not assigned on every path to here
#    34 |     out[i] = value
#       |              ^^^^^
#    note: names.py:32:8: it is unassigned when this is false
#    32 |     if x[i] > 0:
#       |        ^^^^^^^^
#    help: give 'value' a value before that
#    in kernel not_on_every_path(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message only_in_the_loop(f4[::1], f4[::1])
# TypingError: names.py:41:14: error: 'last' is not assigned on every path to here
#    41 |     out[0] = last
#       |              ^^^^
#    note: names.py:39:5: it is unassigned when this loop has no iteration
#    39 |     for k in range(x.size):
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: give 'last' a value before that
#    in kernel only_in_the_loop(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message before_assignment(f4[::1])
# NameResolutionError: names.py:46:14: error: 'later' is used before it is assigned
#    46 |     out[0] = later
#       |              ^^^^^
#    in kernel before_assignment(array(float32, 1d, C))
# <<<
# >>> message deleted(f4[::1])
# NameResolutionError: names.py:54:14: error: 'value' is used before it is assigned
#    54 |     out[0] = value
#       |              ^^^^^
#    in kernel deleted(array(float32, 1d, C))
# <<<
# >>> message two_types(f4[::1], f4[::1], bool)
# TypingError: names.py:62:17: error: 'value' is array(float32, 1d, C) on one path and float (weak) on another
#    62 |         value = 1.5
#       |                 ^^^
#    note: 'x' is array(float32, 1d, C)
#    note: names.py:62:17: float (weak) here
#    62 |         value = 1.5
#       |                 ^^^
#    in kernel two_types(array(float32, 1d, C), array(float32, 1d, C), bool (weak))
# <<<
# >>> message unsigned_and_negative(u8[::1], i8[::1], bool)
# TypingError: names.py:70:17: error: 'value' is uint64 on one path and int (weak) on another
#    70 |         value = gpu.grid(1) - 5
#       |                 ^^^^^^^^^^^^^^^
#    note: names.py:68:13: uint64 here
#    68 |     value = x[0]
#       |             ^^^^
#    note: names.py:70:17: int (weak) here
#    70 |         value = gpu.grid(1) - 5
#       |                 ^^^^^^^^^^^^^^^
#    in kernel unsigned_and_negative(array(uint64, 1d, C), array(int64, 1d, C), bool (weak))
# <<<
# >>> message sides_of_a_conditional(f4[::1], f4[::1], bool)
# TypingError: names.py:76:14: error: an element of array(float32, 1d, C) can't hold array(float32, 1d, C)
#    76 |     out[0] = x if flag else 1.0
#       |              ^
#    help: store its items one by one
#    in kernel sides_of_a_conditional(array(float32, 1d, C), array(float32, 1d, C), bool (weak))
# <<<
# >>> message sets_an_attribute(f4[::1])
# UnsupportedError: names.py:81:5: error: a kernel can't set an attribute: 'shape' of array(float32, 1d, C)
#    81 |     x.shape = 3
#       |     ^^^^^^^
#    help: a kernel writes elements of arrays
#    in kernel sets_an_attribute(array(float32, 1d, C))
# <<<
# >>> message unpacks_too_few(f4[::1])
# TypingError: names.py:86:5: error: 2 values for 3 names
#    86 |     a, b, c = x[0], x[1]
#       |     ^^^^^^^
#    in kernel unpacks_too_few(array(float32, 1d, C))
# <<<
# >>> message unpacks_a_number(f4[::1])
# TypingError: names.py:92:5: error: float32 can't be unpacked
#    92 |     a, b = x[0]
#       |     ^^^^
#    help: it is one number; gpu.grid(2) gives 2
#    in kernel unpacks_a_number(array(float32, 1d, C))
# <<<
