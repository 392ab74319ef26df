"""What beginners write first: names without their module, C's names, results that a kernel can't keep."""

import gpu
import numpy as np
from gpu import cuda


def first_or_nothing(x, i):
    if i > 3:
        return None
    return x


def one_or_the_other(x, y, i):
    if i > 3:
        return x
    return y


@gpu.jit
def without_the_module(x):
    i = threadIdx.x
    x[i] = sqrt(x[0])
    __syncthreads()
    atomicAdd(x, 0, 1)


@gpu.jit
def without_an_import(x):
    s = gpu.shared.array(4, float32)
    x[0] = s[0]


@cuda.jit
def without_an_import_in_numba(x):
    s = cuda.shared.array(4, float32)
    x[0] = s[0]


@cuda.jit
def letters_of_another_case(x):
    i = cuda.threadidx.x
    x[i] = cuda.threadIdx.w
    cuda.syncThreads()
    cuda.atomic.Add(x, 0, 1)


@gpu.jit
def launches_a_kernel(x):
    without_the_module[1, 1](x)


@gpu.jit
def random_numbers(x):
    x[0] = np.random.rand()


@cuda.jit
def local_array_of_any_size(x):
    s = cuda.local.array(x.size, np.float32)
    x[0] = s[0]


@gpu.jit
def list_of_any_length(x, n):
    numbers = [0.0] * n
    x[0] = numbers[0]


@gpu.jit
def result_in_a_number(n):
    n[0] = 1


@gpu.jit
def calls_what_is_none(x):
    m, n = x.shape()
    x[0, 0] = x(1)


@gpu.jit
def parameter_as_index(x, name):
    x[name] = 1


@gpu.jit
def a_or_b(a, b, flag):
    x = a if flag else b
    x[0] = 1


@gpu.jit
def prints_what_may_be_none(x, i):
    show = print
    print(first_or_nothing(x[0], i))
    show(first_or_nothing(x[0], i))


@gpu.jit
def either_array(x, y, i):
    one_or_the_other(x, y, i)[0] = 1


@gpu.jit
def loops_and_stops(x):
    for i in gpu.prange(len(x)):
        x[i] = 1
    breakpoint()


@gpu.jit
def adds_under_a_mask(x):
    small = x[x < 3]
    x[x > 3] += small


@gpu.jit
def a_group_of_numbers(x):
    i = gpu.threadIdx + 1
    j = gpu.blockIdx()
    x[i] = j


@gpu.jit
def names_that_numpy_had(x):
    x[0] = np.float(x[1])
    x[1] = np.int(3)


@gpu.jit
def sizes_that_are_no_integers(x):
    a = np.zeros(len((1, 2, 3)) / 2)
    x[0] = a[0]


@gpu.jit
def indices_of_what_is_true(x):
    x[0] = np.where(x > 1)[0][0]


@gpu.jit
def dict_that_grows(x):
    d = {k: k for k in range(int(x[0]))}
    x[0] = d[0]


@gpu.jit
def another_key(x):
    d = {"low": 1, "high": 2}
    x[0] = d["lo"]


@cuda.jit
def axis_as_an_index(x):
    x[cuda.threadIdx[0]] = 1


# >>> message without_the_module(f4[::1])
# NameResolutionError: beginners.py:22:9: error: name 'threadIdx' is not defined
#    22 |     i = threadIdx.x
#       |         ^^^^^^^^^
#    help: it is gpu.threadIdx
#
# beginners.py:23:12: error: name 'sqrt' is not defined
#    23 |     x[i] = sqrt(x[0])
#       |            ^^^^
#    help: it is math.sqrt
#
# beginners.py:24:5: error: name '__syncthreads' is not defined
#    24 |     __syncthreads()
#       |     ^^^^^^^^^^^^^
#    help: it is gpu.syncthreads
#
# beginners.py:25:5: error: name 'atomicAdd' is not defined
#    25 |     atomicAdd(x, 0, 1)
#       |     ^^^^^^^^^
#    help: it is gpu.atomic.add
#    in kernel without_the_module(array(float32, 1d, C))
# <<<
# >>> message without_an_import(f4[::1])
# NameResolutionError: beginners.py:30:29: error: name 'float32' is not defined
#    30 |     s = gpu.shared.array(4, float32)
#       |                             ^^^^^^^
#    help: write np.float32, or import the name: from gpu import float32
#    in kernel without_an_import(array(float32, 1d, C))
# <<<
# >>> message without_an_import_in_numba(f4[::1])
# NameResolutionError: beginners.py:36:30: error: name 'float32' is not defined
#    36 |     s = cuda.shared.array(4, float32)
#       |                              ^^^^^^^
#    note: Numba says: NameError: name 'float32' is not defined
#    help: write np.float32, or import the name: from gpu.cuda import float32
#    in kernel without_an_import_in_numba(array(float32, 1d, C))
# <<<
# >>> message letters_of_another_case(f4[::1])
# NameResolutionError: beginners.py:42:9: error: module gpu.cuda has no attribute 'threadidx'
#    42 |     i = cuda.threadidx.x
#       |         ^^^^^^^^^^^^^^
#    help: did you mean 'threadIdx'?
#
# beginners.py:43:12: error: cuda.threadIdx has no attribute 'w'
#    43 |     x[i] = cuda.threadIdx.w
#       |            ^^^^^^^^^^^^^^^^
#    help: there is cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
#
# beginners.py:44:5: error: module gpu.cuda has no attribute 'syncThreads'
#    44 |     cuda.syncThreads()
#       |     ^^^^^^^^^^^^^^^^
#    help: did you mean 'syncthreads'?
#
# beginners.py:45:5: error: cuda.atomic has no attribute 'Add'
#    45 |     cuda.atomic.Add(x, 0, 1)
#       |     ^^^^^^^^^^^^^^^
#    help: did you mean 'add'?
#    in kernel letters_of_another_case(array(float32, 1d, C))
# <<<
# >>> message launches_a_kernel(f4[::1])
# TypingError: beginners.py:50:5: error: function without_the_module can't be indexed
#    50 |     without_the_module[1, 1](x)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: a kernel launches none: call the function for this thread, f(x), or launch it from Python
#    in kernel launches_a_kernel(array(float32, 1d, C))
# <<<
# >>> message random_numbers(f4[::1])
# UnsupportedCallError: beginners.py:55:12: error: np.random.rand() can't be called in a kernel
#    55 |     x[0] = np.random.rand()
#       |            ^^^^^^^^^^^^^^^^
#    help: random numbers of each thread: states made before the launch by gpu.random.create_xoroshiro128p_states(n, seed), and gpu.random.xoroshiro128p_uniform_float32(states, i) here; or pass an array of them
#    in kernel random_numbers(array(float32, 1d, C))
# <<<
# >>> message local_array_of_any_size(f4[::1])
# TypingError: beginners.py:60:26: error: cuda.local.array() needs a constant for 'shape', and this is int64
#    60 |     s = cuda.local.array(x.size, np.float32)
#       |                          ^^^^^^
#    note: Numba says: No implementation of function Function(<function local.array>) found for signature:
#
#  >>> array(shape=int64, dtype=class(float32))
#    help: use numbers, globals, or variables of an enclosing function; of an array argument each thread can take a row of any size
#    in kernel local_array_of_any_size(array(float32, 1d, C))
# <<<
# >>> message list_of_any_length(f4[::1], int)
# TypingError: beginners.py:66:15: error: * does not take (list(float (weak),), int (weak))
#    66 |     numbers = [0.0] * n
#       |               ^^^^^^^^^
#    help: how often is a constant up to 1024; gpu.local.array(size, dtype) makes an array
#    in kernel list_of_any_length(array(float32, 1d, C), int (weak))
# <<<
# >>> message result_in_a_number(int)
# TypingError: beginners.py:72:5: error: items of int (weak) can't be assigned
#    72 |     n[0] = 1
#       |     ^^^^
#    help: a number comes as a copy: pass an array of one element for a result
#    in kernel result_in_a_number(int (weak))
# <<<
# >>> message calls_what_is_none(f4[:, ::1])
# TypingError: beginners.py:77:12: error: tuple(int (weak), int (weak)) can't be called
#    77 |     m, n = x.shape()
#       |            ^^^^^^^^^
#    help: a tuple isn't a function: no ( ) behind x.shape, [ ] for an item
#
# beginners.py:78:15: error: array(float32, 2d, C) can't be called
#    78 |     x[0, 0] = x(1)
#       |               ^^^^
#    help: an array isn't a function: its elements are x[i]
#    in kernel calls_what_is_none(array(float32, 2d, C))
# <<<
# >>> message parameter_as_index(f4[::1], f4)
# TypingError: beginners.py:83:7: error: an index must be an integer, and this is float32
#    83 |     x[name] = 1
#       |       ^^^^
#    help: // is the integer division; int(...) truncates
#    in kernel parameter_as_index(array(float32, 1d, C), float32)
# <<<
# >>> message a_or_b(f4[::1], f8[::1], bool)
# TypingError: beginners.py:89:5: error: 'x' is array(float32, 1d, C) on one path and array(float64, 1d, C) on another
#    89 |     x[0] = 1
#       |     ^
#    note: 'a' is array(float32, 1d, C)
#    note: 'b' is array(float64, 1d, C)
#    in kernel a_or_b(array(float32, 1d, C), array(float64, 1d, C), bool (weak))
# <<<
# >>> message prints_what_may_be_none(f4[::1], int)
# TypingError: beginners.py:95:5: error: print() does not take optional(float32)
#    95 |     print(first_or_nothing(x[0], i))
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: test it with `is None` first
#
# beginners.py:96:5: error: print() does not take optional(float32)
#    96 |     show(first_or_nothing(x[0], i))
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: test it with `is None` first
#    in kernel prints_what_may_be_none(array(float32, 1d, C), int (weak))
# <<<
# >>> message either_array(f4[::1], f8[::1], int)
# TypingError: beginners.py:17:5: error: one_or_the_other() returns array(float32, 1d, C) on one path and array(float64, 1d, C) on another
#    17 |     return y
#       |     ^^^^^^^^
#    note: beginners.py:16:9: array(float32, 1d, C) here
#    16 |         return x
#       |         ^^^^^^^^
#    called from either_array, beginners.py:101:5
#   101 |     one_or_the_other(x, y, i)[0] = 1
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel either_array(array(float32, 1d, C), array(float64, 1d, C), int (weak))
# <<<
# >>> message loops_and_stops(f4[::1])
# UnsupportedCallError: beginners.py:106:14: error: gpu.prange() can't be called in a kernel
#   106 |     for i in gpu.prange(len(x)):
#       |              ^^^^^^^^^^^^^^^^^^
#    help: range(...) in a kernel, whose threads run side by side; @gpu.parallel makes kernels of prange loops
#
# beginners.py:108:5: error: breakpoint() can't be called in a kernel
#   108 |     breakpoint()
#       |     ^^^^^^^^^^^^
#    help: after gpu.set_device('python') the function itself runs, thread by thread, under any debugger
#    in kernel loops_and_stops(array(float32, 1d, C))
# <<<
# >>> message adds_under_a_mask(f4[::1])
# TypingError: beginners.py:113:15: error: an index must be an integer, and this is array expression(bool, 1d)
#   113 |     small = x[x < 3]
#       |               ^^^^^
#    help: how many elements a mask takes isn't known: np.where(mask, x, y), or a loop that appends to a list; x[mask] = number, x[mask] += number (made before) and x[mask].sum() are fine; gpu.scan of a mask gives each its place in a shorter array
#    in kernel adds_under_a_mask(array(float32, 1d, C))
# <<<
# >>> message a_group_of_numbers(f4[::1])
# CompileError: beginners.py:119:9: error: + does not take (gpu.threadIdx, int (weak) 1)
#   119 |     i = gpu.threadIdx + 1
#       |         ^^^^^^^^^^^^^^^^^
#    help: there is gpu.threadIdx.x, gpu.threadIdx.y, gpu.threadIdx.z
#
# beginners.py:120:9: error: gpu.blockIdx() can't be called in a kernel
#   120 |     j = gpu.blockIdx()
#       |         ^^^^^^^^^^^^^^
#    help: there is gpu.blockIdx.x, gpu.blockIdx.y, gpu.blockIdx.z
#    in kernel a_group_of_numbers(array(float32, 1d, C))
# <<<
# >>> message names_that_numpy_had(f4[::1])
# NameResolutionError: beginners.py:126:12: error: module numpy has no attribute 'float'
#   126 |     x[0] = np.float(x[1])
#       |            ^^^^^^^^
#    help: NumPy has it no more: write float, or np.float64
#
# beginners.py:127:12: error: module numpy has no attribute 'int'
#   127 |     x[1] = np.int(3)
#       |            ^^^^^^
#    help: NumPy has it no more: write int, or np.int64
#    in kernel names_that_numpy_had(array(float32, 1d, C))
# <<<
# >>> message sizes_that_are_no_integers(f4[::1])
# TypingError: beginners.py:132:18: error: np.zeros(): a size is an integer
#   132 |     a = np.zeros(len((1, 2, 3)) / 2)
#       |                  ^^^^^^^^^^^^^^^^^^
#    help: // is the integer division; int(...) truncates
#    in kernel sizes_that_are_no_integers(array(float32, 1d, C))
# <<<
# >>> message indices_of_what_is_true(f4[::1])
# TypingError: beginners.py:138:12: error: np.where() needs the argument 'x'
#   138 |     x[0] = np.where(x > 1)[0][0]
#       |            ^^^^^^^^^^^^^^^
#    help: indices of what is true: how many isn't known, so count in a loop
#    in kernel indices_of_what_is_true(array(float32, 1d, C))
# <<<
# >>> message dict_that_grows(f4[::1])
# UnsupportedError: beginners.py:143:10: error: a dict that grows is not supported in a kernel: its keys must be known when compiling
#   143 |     d = {k: k for k in range(int(x[0]))}
#       |          ^^^^
#    help: what run time counts is an array, whose indices are the keys
#    in kernel dict_that_grows(array(float32, 1d, C))
# <<<
# >>> message another_key(f4[::1])
# TypingError: beginners.py:150:12: error: dict has no item 'lo'
#   150 |     x[0] = d["lo"]
#       |            ^^^^^^^
#    help: its keys are 'low', 'high'
#    in kernel another_key(array(float32, 1d, C))
# <<<
# >>> message axis_as_an_index(f4[::1])
# TypingError: beginners.py:155:7: error: cuda.threadIdx can't be indexed
#   155 |     x[cuda.threadIdx[0]] = 1
#       |       ^^^^^^^^^^^^^^^^^
#    help: there is cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
#    in kernel axis_as_an_index(array(float32, 1d, C))
# <<<
