"""Mistakes with operators and types."""

import gpu


@gpu.jit
def shift_of_a_float(x, out):
    out[0] = x[0] << 2


@gpu.jit
def complex_order(z, out):
    out[0] = 1 if z[0] < z[1] else 0


@gpu.jit
def complex_floor(z, out):
    out[0] = z[0] // 2


@gpu.jit
def bool_minus(a, b, out):
    out[0] = a[0] - b[0]


@gpu.jit
def uint64_and_int64(a, b, out):
    out[0] = a[0] & b[0]


@gpu.jit
def invert_a_float(x, out):
    out[0] = ~x[0]


@gpu.jit
def constant_does_not_fit(x, out):
    out[0] = x[0] + 300


@gpu.jit
def negative_power(x, out):
    out[0] = x[0] ** -1


@gpu.jit
def matrix_product(a, b, out):
    out[0] = a[0] @ b[0]


@gpu.jit
def none_plus_one(x, n):
    x[0] = n + 1


@gpu.jit
def is_between_values(x, out):
    i = gpu.grid(1)
    out[i] = 1 if x[i] is i else 0


@gpu.jit
def in_a_number(x, out):
    out[0] = 1 if 3 in x[0] else 0


@gpu.jit
def huge_integer(out):
    out[0] = 2**70


@gpu.jit
def text_plus_number(out):
    out[0] = "a" + 1


@gpu.jit
def several_at_once(x, z, out):
    i = gpu.grid(1)
    out[i] = x[i] << 1
    out[i + 1] = x[i / 2]
    out[i + 2] = undefined(x[i])
    out[i + 3] = z[i] // 2


@gpu.jit
def max_of_too_large(x, out):
    out[0] = max(x[0], 2**63)


# >>> message shift_of_a_float(f4[::1], f4[::1])
# TypingError: operators.py:8:14: error: << does not take (float32, int (weak) 2)
#     8 |     out[0] = x[0] << 2
#       |              ^^^^^^^^^
#    help: convert with int(...) first
#    in kernel shift_of_a_float(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message complex_order(c8[::1], f4[::1])
# TypingError: operators.py:13:19: error: complex numbers have no order: < does not take (complex64, complex64)
#    13 |     out[0] = 1 if z[0] < z[1] else 0
#       |                   ^^^^^^^^^^^
#    help: compare abs(...) or the real parts
#    in kernel complex_order(array(complex64, 1d, C), array(float32, 1d, C))
# <<<
# >>> message complex_floor(c8[::1], c8[::1])
# TypingError: operators.py:18:14: error: // does not take (complex64, int (weak) 2)
#    18 |     out[0] = z[0] // 2
#       |              ^^^^^^^^^
#    in kernel complex_floor(array(complex64, 1d, C), array(complex64, 1d, C))
# <<<
# >>> message bool_minus(?[::1], ?[::1], ?[::1])
# TypingError: operators.py:23:14: error: - of two np.bool_ has no meaning
#    23 |     out[0] = a[0] - b[0]
#       |              ^^^^^^^^^^^
#    help: ^ is the exclusive or; int(...) makes numbers of bools
#    in kernel bool_minus(array(bool, 1d, C), array(bool, 1d, C), array(bool, 1d, C))
# <<<
# >>> message uint64_and_int64(u8[::1], i8[::1], i8[::1])
# TypingError: operators.py:28:14: error: & does not take (uint64, int64)
#    28 |     out[0] = a[0] & b[0]
#       |              ^^^^^^^^^^^
#    help: no integer type holds both: convert one of them, with np.uint64(...) or np.int64(...)
#    in kernel uint64_and_int64(array(uint64, 1d, C), array(int64, 1d, C), array(int64, 1d, C))
# <<<
# >>> message invert_a_float(f4[::1], f4[::1])
# TypingError: operators.py:33:14: error: ~ does not take float32
#    33 |     out[0] = ~x[0]
#       |              ^^^^^
#    help: convert with int(...) first
#    in kernel invert_a_float(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message constant_does_not_fit(i1[::1], i8[::1])
# TypingError: operators.py:38:14: error: 300 does not fit int8
#    38 |     out[0] = x[0] + 300
#       |              ^^^^^^^^^^
#    help: convert the other operand to a wider type, such as np.int64(...)
#    in kernel constant_does_not_fit(array(int8, 1d, C), array(int64, 1d, C))
# <<<
# >>> message negative_power(i4[::1], f8[::1])
# TypingError: operators.py:43:14: error: an integer to the negative power int (weak) -1 is not an integer
#    43 |     out[0] = x[0] ** -1
#       |              ^^^^^^^^^^
#    help: convert the base to a float first
#    in kernel negative_power(array(int32, 1d, C), array(float64, 1d, C))
# <<<
# >>> message matrix_product(f4[::1], f4[::1], f4[::1])
# TypingError: operators.py:48:14: error: @ does not take (float32, float32)
#    48 |     out[0] = a[0] @ b[0]
#       |              ^^^^^^^^^^^
#    help: it multiplies vectors and matrices
#    in kernel matrix_product(array(float32, 1d, C), array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message none_plus_one(f4[::1], none)
# TypingError: operators.py:53:12: error: + does not take (None, int (weak) 1)
#    53 |     x[0] = n + 1
#       |            ^^^^^
#    help: test it with `is None` first
#    in kernel none_plus_one(array(float32, 1d, C), None)
# <<<
# >>> message is_between_values(i8[::1], i8[::1])
# TypingError: operators.py:59:19: error: 'is' compares objects, and a kernel has only values: (int64, int (weak))
#    59 |     out[i] = 1 if x[i] is i else 0
#       |                   ^^^^^^^^^
#    help: use == to compare values
#    in kernel is_between_values(array(int64, 1d, C), array(int64, 1d, C))
# <<<
# >>> message in_a_number(f4[::1], f4[::1])
# TypingError: operators.py:64:19: error: 'in' needs a tuple or a range, and this is float32
#    64 |     out[0] = 1 if 3 in x[0] else 0
#       |                   ^^^^^^^^^
#    help: `in` works on tuples, ranges and arrays
#    in kernel in_a_number(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message huge_integer(i8[::1])
# TypingError: operators.py:69:14: error: 1180591620717411303424 does not fit int64
#    69 |     out[0] = 2**70
#       |              ^^^^^
#    help: 0 is what its low bits are
#    in kernel huge_integer(array(int64, 1d, C))
# <<<
# >>> message text_plus_number(i8[::1])
# TypingError: operators.py:74:14: error: + does not take (str 'a', int (weak) 1)
#    74 |     out[0] = "a" + 1
#       |              ^^^^^^^
#    help: text is for print and exceptions; str(...) makes text of a value
#    in kernel text_plus_number(array(int64, 1d, C))
# <<<
# >>> message several_at_once(f4[::1], c8[::1], f4[::1])
# CompileError: operators.py:80:14: error: << does not take (float32, int (weak) 1)
#    80 |     out[i] = x[i] << 1
#       |              ^^^^^^^^^
#    help: convert with int(...) first
#
# operators.py:81:20: error: an index must be an integer, and this is float (weak)
#    81 |     out[i + 1] = x[i / 2]
#       |                    ^^^^^
#    help: // is the integer division; int(...) truncates
#
# operators.py:82:18: error: name 'undefined' is not defined
#    82 |     out[i + 2] = undefined(x[i])
#       |                  ^^^^^^^^^
#
# operators.py:83:18: error: // does not take (complex64, int (weak) 2)
#    83 |     out[i + 3] = z[i] // 2
#       |                  ^^^^^^^^^
#    in kernel several_at_once(array(float32, 1d, C), array(complex64, 1d, C), array(float32, 1d, C))
# <<<
# >>> message max_of_too_large(i8[::1], f8[::1])
# TypingError: operators.py:88:14: error: max() does not take (int64, int (weak) 9223372036854775808)
#    88 |     out[0] = max(x[0], 2**63)
#       |              ^^^^^^^^^^^^^^^^
#    help: convert one of them
#    in kernel max_of_too_large(array(int64, 1d, C), array(float64, 1d, C))
# <<<
