"""Mistakes with arrays and their indices."""

import gpu
import numpy as np

TABLE = np.arange(4.0)


@gpu.jit
def float_index(img, out):
    i = gpu.grid(1)
    out[i] = img[i / 2]


@gpu.jit
def too_many_indices(img, out):
    i, j = gpu.grid(2)
    out[i] = img[i, j, 0]


@gpu.jit
def bool_index(x, out):
    i = gpu.grid(1)
    out[i > 0] = x[i]


@gpu.jit
def index_of_a_number(x, n):
    x[0] = n[0]


@gpu.jit
def read_only(x):
    TABLE[gpu.grid(1)] = x[0]


@gpu.jit
def read_only_argument(x, out):
    x[gpu.grid(1)] = out[0]


@gpu.jit
def whole_array_in_an_expression(x, y, out):
    out[gpu.grid(1)] = x + y


@gpu.jit
def assigns_a_slice(x):
    x[:] = None


@gpu.jit
def stores_an_array(x, out):
    out[gpu.grid(1)] = x


@gpu.jit
def stores_complex(z, out):
    out[gpu.grid(1)] = z[gpu.grid(1)] * 2


@gpu.jit
def stores_none(out):
    out[gpu.grid(1)] = None


@gpu.jit
def constant_too_large(out):
    out[gpu.grid(1)] = 300


@gpu.jit
def tuple_item(x):
    pair = (1, 2.5)
    x[0] = pair[2]


@gpu.jit
def run_time_index_of_a_mixed_tuple(x):
    pair = (x, 2.5)
    x[0] = pair[gpu.grid(1)]


@gpu.jit
def changes_a_tuple(x):
    pair = (1, 2)
    pair[0] = 3
    x[0] = pair[0]


@gpu.jit
def array_as_condition(x, out):
    if x:
        out[0] = 1


# >>> message float_index(f4[::1], f4[::1])
# TypingError: indices.py:12:18: error: an index must be an integer, and this is float (weak)
#    12 |     out[i] = img[i / 2]
#       |                  ^^^^^
#    help: // is the integer division; int(...) truncates
#    in kernel float_index(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message too_many_indices(f4[:, ::1], f4[::1])
# TypingError: indices.py:18:14: error: 3 indices for array(float32, 2d, C)
#    18 |     out[i] = img[i, j, 0]
#       |              ^^^^^^^^^^^^
#    help: this array has 2 axes
#    in kernel too_many_indices(array(float32, 2d, C), array(float32, 1d, C))
# <<<
# >>> message bool_index(f4[::1], f4[::1])
# TypingError: indices.py:24:9: error: an index must be an integer, and this is bool (weak)
#    24 |     out[i > 0] = x[i]
#       |         ^^^^^
#    help: int(...) makes an integer of a bool
#    in kernel bool_index(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message index_of_a_number(f4[::1], int)
# TypingError: indices.py:29:12: error: int (weak) can't be indexed
#    29 |     x[0] = n[0]
#       |            ^^^^
#    help: declare the argument as an array, or drop the index
#    in kernel index_of_a_number(array(float32, 1d, C), int (weak))
# <<<
# >>> message read_only(f8[::1])
# TypingError: indices.py:34:5: error: this array is read-only: array(float64, 1d, C, readonly)
#    34 |     TABLE[gpu.grid(1)] = x[0]
#       |     ^^^^^^^^^^^^^^^^^^
#    help: captured arrays are constants: pass it as an argument
#    in kernel read_only(array(float64, 1d, C))
# <<<
# >>> message whole_array_in_an_expression(f4[::1], f4[::1], f4[::1])
# TypingError: indices.py:44:24: error: an element of array(float32, 1d, C) can't hold array expression(float32, 1d)
#    44 |     out[gpu.grid(1)] = x + y
#       |                        ^^^^^
#    help: store its items one by one
#    in kernel whole_array_in_an_expression(array(float32, 1d, C), array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message assigns_a_slice(f4[::1])
# TypingError: indices.py:49:12: error: an element of array(float32, 1d, C) can't hold None
#    49 |     x[:] = None
#       |            ^^^^
#    in kernel assigns_a_slice(array(float32, 1d, C))
# <<<
# >>> message stores_an_array(f4[::1], f4[::1])
# TypingError: indices.py:54:24: error: an element of array(float32, 1d, C) can't hold array(float32, 1d, C)
#    54 |     out[gpu.grid(1)] = x
#       |                        ^
#    help: store its items one by one
#    in kernel stores_an_array(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message stores_complex(c16[::1], f4[::1])
# TypingError: indices.py:59:24: error: complex128 does not become float32: the imaginary part would be lost
#    59 |     out[gpu.grid(1)] = z[gpu.grid(1)] * 2
#       |                        ^^^^^^^^^^^^^^^^^^
#    help: store .real, .imag or abs(...)
#    in kernel stores_complex(array(complex128, 1d, C), array(float32, 1d, C))
# <<<
# >>> message stores_none(f4[::1])
# TypingError: indices.py:64:24: error: an element of array(float32, 1d, C) can't hold None
#    64 |     out[gpu.grid(1)] = None
#       |                        ^^^^
#    help: an element is one number
#    in kernel stores_none(array(float32, 1d, C))
# <<<
# >>> message constant_too_large(i1[::1])
# TypingError: indices.py:69:24: error: 300 does not fit int8
#    69 |     out[gpu.grid(1)] = 300
#       |                        ^^^
#    help: 44 is what its low bits are
#    in kernel constant_too_large(array(int8, 1d, C))
# <<<
# >>> message tuple_item(f4[::1])
# TypingError: indices.py:75:12: error: index 2 is out of range for a tuple of 2
#    75 |     x[0] = pair[2]
#       |            ^^^^^^^
#    in kernel tuple_item(array(float32, 1d, C))
# <<<
# >>> message run_time_index_of_a_mixed_tuple(f4[::1])
# TypingError: indices.py:81:12: error: a tuple of different types needs a constant index: (tuple(array(float32, 1d, C), float (weak)))[int (weak)]
#    81 |     x[0] = pair[gpu.grid(1)]
#       |            ^^^^^^^^^^^^^^^^^
#    help: only a constant index may choose among items of different types
#    in kernel run_time_index_of_a_mixed_tuple(array(float32, 1d, C))
# <<<
# >>> message changes_a_tuple(f4[::1])
# TypingError: indices.py:87:5: error: items of tuple(int (weak), int (weak)) can't be assigned
#    87 |     pair[0] = 3
#       |     ^^^^^^^
#    help: a tuple can't be changed: make a new one
#    in kernel changes_a_tuple(array(float32, 1d, C))
# <<<
# >>> message array_as_condition(f4[::1], f4[::1])
# TypingError: indices.py:93:8: error: array(float32, 1d, C) is neither true nor false
#    93 |     if x:
#       |        ^
#    help: test one element; np.any(...) and np.all(...) test all
#    in kernel array_as_condition(array(float32, 1d, C), array(float32, 1d, C))
# <<<
