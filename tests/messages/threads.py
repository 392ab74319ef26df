"""Shared and local arrays, atomics and warp operations that aren't there."""

import gpu
import numpy as np


@gpu.jit
def sizes(o, n):
    gpu.shared.array(n, np.float32)
    gpu.shared.array((4, 0), np.float32)
    gpu.local.array(0, np.int32)
    gpu.shared.array(20000, "f4")
    gpu.shared.array(2.5, "f4")
    gpu.shared.array(16, 4)
    gpu.shared.array(16, np.int64, alignment=4)


@gpu.jit
def all_together(o):
    a = gpu.shared.array((64, 64), np.float64)
    b = gpu.shared.array(4096, np.float64)
    o[0] = a[0, 0] + b[0]


@gpu.jit
def two_spaces(o):
    s = gpu.shared.array(16, np.int64)
    if o[0]:
        s = o
    o[1] = s[0]


@gpu.jit
def views(o):
    s = gpu.shared.array((4, 3), np.float32)
    s.view(np.float64)
    s.T.reshape(12)
    s.reshape(5, 2)
    s.reshape(-1, -1)
    gpu.const.array_like(s)


# >>> message sizes(i8[::1], int)
# TypingError: threads.py:9:5: error: gpu.shared.array() needs a constant for 'shape', and this is int (weak)
#     9 |     gpu.shared.array(n, np.float32)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: use numbers, globals, or variables of an enclosing function; gpu.shared.array(0, dtype) takes its size from the launch
#
# threads.py:10:22: error: gpu.shared.array(): sizes must be above 0
#    10 |     gpu.shared.array((4, 0), np.float32)
#       |                      ^^^^^^
#    help: shape 0 stands for dynamic shared memory, in one axis; view() and reshape() give it others
#
# threads.py:11:21: error: gpu.local.array(): sizes must be above 0
#    11 |     gpu.local.array(0, np.int32)
#       |                     ^
#
# threads.py:12:5: error: gpu.shared.array(): the array takes 80000 bytes, and there are at most 49152
#    12 |     gpu.shared.array(20000, "f4")
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: gpu.shared.array(0, dtype) takes its size from the launch, k[grid, block, stream, bytes], and can be larger
#
# threads.py:13:22: error: gpu.shared.array() needs a constant for 'shape', and this is float (weak)
#    13 |     gpu.shared.array(2.5, "f4")
#       |                      ^^^
#    help: a size is an integer
#
# threads.py:14:26: error: gpu.shared.array() does not take int (weak) 4
#    14 |     gpu.shared.array(16, 4)
#       |                          ^
#    help: a dtype is written np.float32 or "float32"
#
# threads.py:15:5: error: gpu.shared.array(): the alignment is a power of 2, and no less than an element's
#    15 |     gpu.shared.array(16, np.int64, alignment=4)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: from 8 to 1024
#    in kernel sizes(array(int64, 1d, C), int (weak))
# <<<
# >>> message all_together(i8[::1])
# TypingError: threads.py:21:9: error: gpu.shared.array(): with the arrays before, it takes 65536 bytes, and there are at most 49152
#    21 |     b = gpu.shared.array(4096, np.float64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: gpu.shared.array(0, dtype) takes its size from the launch, k[grid, block, stream, bytes], and can be larger
#    in kernel all_together(array(int64, 1d, C))
# <<<
# >>> message two_spaces(i8[::1])
# TypingError: threads.py:27:9: error: 's' is array(int64, 1d, C, shared) on one path and array(int64, 1d, C) on another
#    27 |     s = gpu.shared.array(16, np.int64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    note: threads.py:27:9: array(int64, 1d, C, shared) here
#    27 |     s = gpu.shared.array(16, np.int64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    note: threads.py:25: array(int64, 1d, C) here
#    25 | @gpu.jit
#    in kernel two_spaces(array(int64, 1d, C))
# <<<
# >>> message views(f4[::1])
# CompileError: threads.py:36:5: error: view() does not take (array(float32, 2d, C, shared), float64)
#    36 |     s.view(np.float64)
#       |     ^^^^^^^^^^^^^^^^^^
#    help: the bytes of the last axis are a multiple of the new type's
#
# threads.py:37:5: error: T.reshape is not supported in a kernel: only an array in C order has another shape without a copy
#    37 |     s.T.reshape(12)
#       |     ^^^^^^^^^^^^^^^
#    help: index it as it is
#
# threads.py:38:5: error: reshape(): 12 elements don't become 10
#    38 |     s.reshape(5, 2)
#       |     ^^^^^^^^^^^^^^^
#
# threads.py:39:5: error: reshape(): one size may be -1, and no other below 0
#    39 |     s.reshape(-1, -1)
#       |     ^^^^^^^^^^^^^^^^^
#
# threads.py:40:5: error: gpu.const.array_like() does not take array(float32, 2d, C, shared)
#    40 |     gpu.const.array_like(s)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: a global, or a variable of an enclosing function, that is a NumPy array
#    in kernel views(array(float32, 1d, C))
# <<<
