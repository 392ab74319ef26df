"""Where Python would do things in another order, or do more of them, than a kernel could."""

import gpu
import numpy as np


def root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


@gpu.jit
def call_that_raises_before_a_finally(out):
    try:
        out[1] = root(out[0])
    finally:
        out[2] = 1


@gpu.jit
def shapes_may_differ_before_a_finally(out, x):
    try:
        out[:] = x
    finally:
        out[2] = 1


@gpu.jit
def raise_after_a_return_before_a_finally(out):
    try:
        if out[0] > 0:
            return
        out[1] = 1
        raise ValueError("negative")
    finally:
        out[2] = 1


def next_number(out):
    return gpu.atomic.add(out, 0, 1)


def total(items, start):
    return sum(items) + start


@gpu.jit
def generator_before_an_argument_that_writes(out, x):
    out[1] = sum((x[k] for k in range(3)), next_number(x))


@gpu.jit
def generator_for_a_function_with_more_arguments(out, x):
    out[1] = total((x[k] for k in range(3)), 1)


@gpu.jit
def generator_in_a_tuple(out, x):
    pair = (x[k] for k in range(3)), 4
    out[1] = sum(pair[0])


@gpu.jit
def generator_in_turns_with_a_loop(x):
    for i, v in enumerate(x[k] for k in range(3)):
        x[i + 1] = v


@gpu.jit
def several_values_under_a_mask(x, y):
    x[x > 3] += y


@gpu.jit
def several_in_place(a, indices):
    a[indices] += 1


def same(t, u):
    return t == u


@gpu.jit
def type_that_may_be_a_dtype(out):
    out[0] = 1 if same(float, np.float64) else 2


# >>> message call_that_raises_before_a_finally(f4[::1])
# UnsupportedError: order.py:9:9: error: what may raise ValueError inside try/finally is not supported in a kernel: a thread ends where it raises, and leaves the finally block out
#     9 |         raise ValueError("negative")
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: call it before the try, or without it
#    called from call_that_raises_before_a_finally, order.py:16:18
#    16 |         out[1] = root(out[0])
#       |                  ^^^^^^^^^^^^
#    in kernel call_that_raises_before_a_finally(array(float32, 1d, C))
# <<<
# >>> message shapes_may_differ_before_a_finally(f4[::1], f4[::1])
# UnsupportedError: order.py:24:9: error: what may raise ValueError inside try/finally is not supported in a kernel: a thread ends where it raises, and leaves the finally block out
#    24 |         out[:] = x
#       |         ^^^^^^
#    help: do it before the try, or without it
#    in kernel shapes_may_differ_before_a_finally(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message raise_after_a_return_before_a_finally(f4[::1])
# UnsupportedError: order.py:31:5: error: a raise inside try/finally is not supported in a kernel: a thread ends where it raises
#    31 |     try:
#       |     ^^^
#    help: raise before the try, or without it
#    in kernel raise_after_a_return_before_a_finally(array(float32, 1d, C))
# <<<
# >>> message generator_before_an_argument_that_writes(f4[::1], f4[::1])
# UnsupportedError: order.py:50:18: error: a generator expression whose order matters is not supported in a kernel: all its items are made here; Python makes them one by one, after the arguments that follow
#    50 |     out[1] = sum((x[k] for k in range(3)), next_number(x))
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_before_an_argument_that_writes(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message generator_for_a_function_with_more_arguments(f4[::1], f4[::1])
# UnsupportedError: order.py:55:20: error: a generator expression for a function of yours is not supported in a kernel: its items are made before the function begins
#    55 |     out[1] = total((x[k] for k in range(3)), 1)
#       |                    ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_for_a_function_with_more_arguments(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message generator_in_a_tuple(f4[::1], f4[::1])
# UnsupportedError: order.py:60:12: error: a generator expression that no call takes at once is not supported in a kernel: a kernel has no suspended code
#    60 |     pair = (x[k] for k in range(3)), 4
#       |            ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_in_a_tuple(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message generator_in_turns_with_a_loop(f4[::1])
# UnsupportedError: order.py:66:26: error: a generator expression that takes turns with a loop is not supported in a kernel: all its items are made before the loop, which may change what they are made of
#    66 |     for i, v in enumerate(x[k] for k in range(3)):
#       |                          ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_in_turns_with_a_loop(array(float32, 1d, C))
# <<<
# >>> message several_values_under_a_mask(f4[::1], f4[::1])
# UnsupportedError: order.py:72:5: error: a[mask] with an operator and several values is not supported in a kernel: which element gets which isn't known
#    72 |     x[x > 3] += y
#       |     ^^^^^^^^^^^^^
#    help: write a loop: if mask[i]: a[i] += b[i]
#    in kernel several_values_under_a_mask(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message several_in_place(f4[::1], i4[::1])
# UnsupportedError: order.py:77:5: error: this assignment to several elements is not supported in a kernel: how many there are is known at run time only, and all are read before one is stored
#    77 |     a[indices] += 1
#       |     ^^^^^^^^^^^^^^^
#    help: write a loop: for k in range(len(indices)): a[indices[k]] += ...
#    in kernel several_in_place(array(float32, 1d, C), array(int32, 1d, C))
# <<<
# >>> message type_that_may_be_a_dtype(f4[::1])
# UnsupportedError: order.py:81:12: error: a comparison of a Python type with this is not supported in a kernel: it may be a class of NumPy, which differs, or a dtype, which is equal
#    81 |     return t == u
#       |            ^^^^^^
#    help: np.dtype(t) == np.float64 compares dtypes; type(x) == np.float64 types
#    called from type_that_may_be_a_dtype, order.py:86:19
#    86 |     out[0] = 1 if same(float, np.float64) else 2
#       |                   ^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel type_that_may_be_a_dtype(array(float32, 1d, C))
# <<<
