"""Mistakes that few make, so that each row of diag.def is seen."""

import gpu
import numpy as np

ONE = 1
TABLE = np.arange(3.0)
SIZES = {"small": 1}


def nest(inner):
    return lambda x: inner(x) + 1


def deep(x):
    return x


for _ in range(200):
    deep = nest(deep)


def late():
    @gpu.jit
    def never_assigned(x):
        x[0] = later

    if ONE > 1:
        later = 2
    return never_assigned


never_assigned = late()


@gpu.jit
def long_literal(x):
    x[0] = 1361129467683753853853498429727072845824


@gpu.jit
def large_power(x):
    x[0] = ONE << 500


@gpu.jit
def different_sides(x):
    y = (x[0], 1) if x[0] > 0 else x
    x[0] = y[0]


@gpu.jit
def imports_nothing(x):
    import no_such_module

    x[0] = no_such_module.one


@gpu.jit
def beyond_a_constant(x):
    x[0] = TABLE[5]


@gpu.jit
def no_such_key(x):
    x[0] = SIZES["large"]


@gpu.jit
def modular_power(x):
    x[0] = pow(x[0], 2, 3)


@gpu.jit
def floats_have_no_gcd(x):
    x[0] = np.gcd(x[0], 1.5)


@gpu.jit
def nested_too_deep(x):
    x[0] = deep(x[0])


# >>> message never_assigned(i8[::1])
# NameResolutionError: limits.py:26:16: error: free variable 'later' has no value yet
#    26 |         x[0] = later
#       |                ^^^^^
#    in kernel never_assigned(array(int64, 1d, C))
# <<<

# >>> message long_literal(i8[::1])
# TypingError: limits.py:38:12: error: the integer 1361129467683753853853498429727072845824 does not fit 64 bits
#    38 |     x[0] = 1361129467683753853853498429727072845824
#       |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel long_literal(array(int64, 1d, C))
# <<<

# >>> message large_power(i8[::1])
# TypingError: limits.py:43:12: error: << of the constants int (weak) 1 and int (weak) 500 has no result that a kernel can hold
#    43 |     x[0] = ONE << 500
#       |            ^^^^^^^^^^
#    in kernel large_power(array(int64, 1d, C))
# <<<

# >>> message different_sides(i8[::1])
# TypingError: limits.py:48:9: error: the two sides of this expression are tuple(int64, int (weak)) and array(int64, 1d, C)
#    48 |     y = (x[0], 1) if x[0] > 0 else x
#       |         ^^^^^^^^^
#    note: limits.py:48:9: tuple(int64, int (weak)) here
#    48 |     y = (x[0], 1) if x[0] > 0 else x
#       |         ^^^^^^^^^
#    in kernel different_sides(array(int64, 1d, C))
# <<<

# >>> message imports_nothing(i8[::1])
# NameResolutionError: limits.py:54:5: error: no module named 'no_such_module'
#    54 |     import no_such_module
#       |     ^^^^^^^^^^^^^^^^^^^^^
#    in kernel imports_nothing(array(int64, 1d, C))
# <<<

# >>> message beyond_a_constant(i8[::1])
# TypingError: limits.py:61:18: error: index 5 is out of range: axis 0 has 3 items
#    61 |     x[0] = TABLE[5]
#       |                  ^
#    in kernel beyond_a_constant(array(int64, 1d, C))
# <<<

# >>> message no_such_key(i8[::1])
# TypingError: limits.py:66:12: error: dict has no item 'large'
#    66 |     x[0] = SIZES["large"]
#       |            ^^^^^^^^^^^^^^
#    help: the kernel sees it as it is when it is compiled
#    in kernel no_such_key(array(int64, 1d, C))
# <<<

# >>> message modular_power(i8[::1])
# UnsupportedError: limits.py:71:25: error: the argument 'mod' of pow() has no meaning in a kernel
#    71 |     x[0] = pow(x[0], 2, 3)
#       |                         ^
#    help: write pow(base, exp) % mod, or a loop that takes the remainder at each step
#    in kernel modular_power(array(int64, 1d, C))
# <<<

# >>> message floats_have_no_gcd(i8[::1])
# TypingError: limits.py:76:12: error: np.gcd() does not take (int64, float (weak))
#    76 |     x[0] = np.gcd(x[0], 1.5)
#       |            ^^^^^^^^^^^^^^^^^
#    help: it takes integers: int(...) truncates
#    in kernel floats_have_no_gcd(array(int64, 1d, C))
# <<<

# >>> message nested_too_deep(i8[::1])
# UnsupportedError: limits.py:12:22: error: calls are nested more than 64 deep at <lambda>()
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    called from nest.<locals>.<lambda>, limits.py:12:22
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    called from nest.<locals>.<lambda>, limits.py:12:22
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    called from nest.<locals>.<lambda>, limits.py:12:22
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    called from nest.<locals>.<lambda>, limits.py:12:22
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    ... 58 more calls
#    called from nest.<locals>.<lambda>, limits.py:12:22
#    12 |     return lambda x: inner(x) + 1
#       |                      ^^^^^^^^
#    called from nested_too_deep, limits.py:81:12
#    81 |     x[0] = deep(x[0])
#       |            ^^^^^^^^^^
#    in kernel nested_too_deep(array(int64, 1d, C))
# <<<
