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


@gpu.jit
def alignments(o):
    gpu.shared.array(16, np.int64, alignment=48)
    gpu.local.array(16, np.int64, alignment=4)
    gpu.local.array(16, np.int64, alignment=2048)


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
#    in kernel sizes(array(int64, 1d, C), int (weak))
# <<<
# >>> message alignments(i8[::1])
# AlignmentError: threads.py:19:5: error: gpu.shared.array(): Alignment must be a power of 2, from 1 to 1024, and this is 48
#    19 |     gpu.shared.array(16, np.int64, alignment=48)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# threads.py:21:5: error: gpu.local.array(): Alignment must be a power of 2, from 1 to 1024, and this is 2048
#    21 |     gpu.local.array(16, np.int64, alignment=2048)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel alignments(array(int64, 1d, C))
# <<<
# >>> message all_together(i8[::1])
# TypingError: threads.py:27:9: error: gpu.shared.array(): with the arrays before, it takes 65536 bytes, and there are at most 49152
#    27 |     b = gpu.shared.array(4096, np.float64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: gpu.shared.array(0, dtype) takes its size from the launch, k[grid, block, stream, bytes], and can be larger
#    in kernel all_together(array(int64, 1d, C))
# <<<
# >>> message two_spaces(i8[::1])
# TypingError: threads.py:33:9: error: 's' is array(int64, 1d, C, shared) on one path and array(int64, 1d, C) on another
#    33 |     s = gpu.shared.array(16, np.int64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    note: threads.py:33:9: array(int64, 1d, C, shared) here
#    33 |     s = gpu.shared.array(16, np.int64)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    note: 'o' is array(int64, 1d, C)
#    in kernel two_spaces(array(int64, 1d, C))
# <<<
# >>> message views(f4[::1])
# CompileError: threads.py:42:5: error: view() does not take (array(float32, 2d, C, shared), float64)
#    42 |     s.view(np.float64)
#       |     ^^^^^^^^^^^^^^^^^^
#    help: the bytes of the last axis are a multiple of the new type's
#
# threads.py:43:5: error: T.reshape is not supported in a kernel: only an array in C order has another shape without a copy
#    43 |     s.T.reshape(12)
#       |     ^^^^^^^^^^^^^^^
#    help: index it as it is, or take .copy() of a small one
#
# threads.py:44:5: error: reshape(): 12 elements don't become 10
#    44 |     s.reshape(5, 2)
#       |     ^^^^^^^^^^^^^^^
#
# threads.py:45:5: error: reshape(): one size may be -1, and no other below 0
#    45 |     s.reshape(-1, -1)
#       |     ^^^^^^^^^^^^^^^^^
#
# threads.py:46:5: error: gpu.const.array_like() does not take array(float32, 2d, C, shared)
#    46 |     gpu.const.array_like(s)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: a global, or a variable of an enclosing function, that is a NumPy array
#    in kernel views(array(float32, 1d, C))
# <<<


@gpu.jit
def atomics(x, f, c, n):
    gpu.atomic.add(x[0], 0, 1)
    gpu.atomic.and_(f, 0, 1)
    gpu.atomic.inc(x, 0, 5)
    gpu.atomic.max(c, 0, 1)
    gpu.atomic.add(x, (0, 1), 1)
    gpu.atomic.add(x, slice(3), 1)
    gpu.atomic.add(x, 0, 1j)
    gpu.atomic.add(x, 0, 1, scope="cluster")
    gpu.atomic.add(x, 0, 1, order=n)
    gpu.atomic.load(x, 0, order="release")
    gpu.atomic.add(gpu.local.array(4, "i4"), 0, 1)
    gpu.atomic.add(np.arange, 0, 1)


@gpu.jit
def warps(x, z, n):
    gpu.shfl_sync(1.5, x[0], 0)
    gpu.shfl_sync(-1, x, 0)
    gpu.shfl_down_sync(-1, x[0], 1, width=5)
    gpu.shfl_down_sync(-1, x[0], 1, width=n)
    gpu.match_any_sync(-1, z[0])
    gpu.reduce_or_sync(-1, x[0] > 1)
    gpu.reduce_add_sync(-1, z[0])
    gpu.all_sync(x[0])


@gpu.jit
def collectives(x, n):
    gpu.block.reduce(x)
    gpu.block.reduce(x[0], lambda a, b: (a, b))
    gpu.block.scan(x[0], max, exclusive=True)
    gpu.warp.scan(x[0], exclusive=n)
    gpu.cg.tiled_partition(gpu.cg.this_grid(), 8)
    gpu.cg.tiled_partition(gpu.cg.this_thread_block(), 64)
    gpu.cg.this_grid().synch()
    gpu.syncthreads(1)


# >>> message atomics(i8[::1], f4[::1], c8[::1], int)
# CompileError: threads.py:136:20: error: gpu.atomic.add() does not take int64
#   136 |     gpu.atomic.add(x[0], 0, 1)
#       |                    ^^^^
#    help: the first argument is the array, the second the index: (x, i, value)
#
# threads.py:137:5: error: gpu.atomic.and_() does not take array(float32, 1d, C)
#   137 |     gpu.atomic.and_(f, 0, 1)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: it works on the bits of integers: .view(np.uint32) of the array gives them
#
# threads.py:138:5: error: gpu.atomic.inc() does not take array(int64, 1d, C)
#   138 |     gpu.atomic.inc(x, 0, 5)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: it counts in uint32 and uint64 elements
#
# threads.py:139:5: error: gpu.atomic.max() does not take array(complex64, 1d, C)
#   139 |     gpu.atomic.max(c, 0, 1)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: complex elements can be added to; use .view(np.float32) of the array for their parts
#
# threads.py:140:23: error: 2 indices for array(int64, 1d, C)
#   140 |     gpu.atomic.add(x, (0, 1), 1)
#       |                       ^^^^^^
#    help: this array has one axis
#
# threads.py:141:23: error: this on several elements is not supported in a kernel: it works on one element at a time
#   141 |     gpu.atomic.add(x, slice(3), 1)
#       |                       ^^^^^^^^
#    help: an index for each axis, as a tuple
#
# threads.py:142:26: error: complex (weak) does not become int64: the imaginary part would be lost
#   142 |     gpu.atomic.add(x, 0, 1j)
#       |                          ^^
#    help: store .real, .imag or abs(...)
#
# threads.py:143:5: error: gpu.atomic.add(): scope 'cluster' isn't known
#   143 |     gpu.atomic.add(x, 0, 1, scope="cluster")
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: one of 'device', 'block', 'system'
#
# threads.py:144:5: error: gpu.atomic.add() needs a constant for 'order', and this is int (weak)
#   144 |     gpu.atomic.add(x, 0, 1, order=n)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# threads.py:145:5: error: gpu.atomic.load(): a load releases nothing
#   145 |     gpu.atomic.load(x, 0, order="release")
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: one of 'relaxed', 'acquire', 'seq_cst'
#
# threads.py:146:20: error: gpu.atomic.add() does not take array(int32, 1d, C, local)
#   146 |     gpu.atomic.add(gpu.local.array(4, "i4"), 0, 1)
#       |                    ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: no other thread sees a local array: assign to its element
#
# threads.py:147:20: error: gpu.atomic.add() does not take function numpy.arange
#   147 |     gpu.atomic.add(np.arange, 0, 1)
#       |                    ^^^^^^^^^
#    help: the first argument is the array, the second the index: (x, i, value)
#    in kernel atomics(array(int64, 1d, C), array(float32, 1d, C), array(complex64, 1d, C), int (weak))
# <<<
# >>> message warps(i8[::1], c8[::1], int)
# TypingError: threads.py:152:19: error: gpu.shfl_sync() does not take float (weak)
#   152 |     gpu.shfl_sync(1.5, x[0], 0)
#       |                   ^^^
#    help: Mask type must be an integer, with a bit for each lane, such as 0xffffffff
#
# threads.py:153:5: error: gpu.shfl_sync() does not take array(int64, 1d, C)
#   153 |     gpu.shfl_sync(-1, x, 0)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: a shuffle moves one number; move items one by one
#
# threads.py:154:5: error: gpu.shfl_down_sync(): the number of lanes is a power of 2
#   154 |     gpu.shfl_down_sync(-1, x[0], 1, width=5)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: 1, 2, 4, 8, 16 or 32
#
# threads.py:155:5: error: gpu.shfl_down_sync() needs a constant for 'width', and this is int (weak)
#   155 |     gpu.shfl_down_sync(-1, x[0], 1, width=n)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# threads.py:156:28: error: gpu.match_any_sync() does not take complex64
#   156 |     gpu.match_any_sync(-1, z[0])
#       |                            ^^^^
#    help: it compares the bits of real numbers
#
# threads.py:157:28: error: gpu.reduce_or_sync() does not take bool
#   157 |     gpu.reduce_or_sync(-1, x[0] > 1)
#       |                            ^^^^^^^^
#    help: all_sync and any_sync take bools; int(...) makes a number of one
#
# threads.py:158:29: error: gpu.reduce_add_sync() does not take complex64
#   158 |     gpu.reduce_add_sync(-1, z[0])
#       |                             ^^^^
#    help: it takes real numbers; gpu.warp.reduce takes others, too
#
# threads.py:159:5: error: gpu.all_sync() needs the argument 'predicate'
#   159 |     gpu.all_sync(x[0])
#       |     ^^^^^^^^^^^^^^^^^^
#    help: it is gpu.all_sync(mask, predicate)
#    in kernel warps(array(int64, 1d, C), array(complex64, 1d, C), int (weak))
# <<<
# >>> message collectives(i8[::1], int)
# CompileError: threads.py:164:5: error: gpu.block.reduce() does not take array(int64, 1d, C)
#   164 |     gpu.block.reduce(x)
#       |     ^^^^^^^^^^^^^^^^^^^
#    help: combine one number after the other
#
# threads.py:165:5: error: op() does not take tuple(int64, int64)
#   165 |     gpu.block.reduce(x[0], lambda a, b: (a, b))
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: two numbers give one
#
# threads.py:166:5: error: gpu.block.scan() needs the argument 'initial'
#   166 |     gpu.block.scan(x[0], max, exclusive=True)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: such as initial=1 for a product
#
# threads.py:167:5: error: gpu.warp.scan() needs a constant for 'exclusive', and this is int (weak)
#   167 |     gpu.warp.scan(x[0], exclusive=n)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# threads.py:168:28: error: gpu.cg.tiled_partition() does not take grid group
#   168 |     gpu.cg.tiled_partition(gpu.cg.this_grid(), 8)
#       |                            ^^^^^^^^^^^^^^^^^^
#    help: gpu.cg.this_thread_block(), or a larger tile
#
# threads.py:169:5: error: gpu.cg.tiled_partition(): the number of lanes is a power of 2
#   169 |     gpu.cg.tiled_partition(gpu.cg.this_thread_block(), 64)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: 1, 2, 4, 8, 16 or 32
#
# threads.py:170:5: error: grid group has no attribute 'synch'
#   170 |     gpu.cg.this_grid().synch()
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: did you mean 'sync'?
#
# threads.py:171:5: error: too many arguments for gpu.syncthreads(): it takes 0, and this call has 1
#   171 |     gpu.syncthreads(1)
#       |     ^^^^^^^^^^^^^^^^^^
#    help: it is gpu.syncthreads()
#    in kernel collectives(array(int64, 1d, C), int (weak))
# <<<


@gpu.jit
def neighbours(x, n):
    a, b, c = gpu.load(x, 0, width=3)
    gpu.load(x, 0, width=n)
    gpu.load(x, 0, cache="L1")
    gpu.store(x, 0, (1.0, 2.0, 3.0))
    gpu.store(x, 0, (1.0, "two"))
    gpu.store(x, slice(0, 2), (1.0, 2.0))


# >>> message neighbours(f4[::1], int)
# CompileError: threads.py:321:15: error: gpu.load(): the number of neighbours is a power of 2
#   321 |     a, b, c = gpu.load(x, 0, width=3)
#       |               ^^^^^^^^^^^^^^^^^^^^^^^
#    help: 1, 2, 4, 8 or 16
#
# threads.py:322:5: error: gpu.load() needs a constant for 'width', and this is int (weak)
#   322 |     gpu.load(x, 0, width=n)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#
# threads.py:323:5: error: gpu.load(): cache 'L1' isn't known
#   323 |     gpu.load(x, 0, cache="L1")
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: one of 'ca', 'cg', 'cs', 'lu', 'cv'
#
# threads.py:324:5: error: gpu.store(): the number of neighbours is a power of 2
#   324 |     gpu.store(x, 0, (1.0, 2.0, 3.0))
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: 1, 2, 4, 8 or 16
#
# threads.py:325:21: error: gpu.store() does not take str 'two'
#   325 |     gpu.store(x, 0, (1.0, "two"))
#       |                     ^^^^^^^^^^^^
#    help: an element is one number
#
# threads.py:326:18: error: this on several elements is not supported in a kernel: it works on one element at a time
#   326 |     gpu.store(x, slice(0, 2), (1.0, 2.0))
#       |                  ^^^^^^^^^^^
#    help: an index for each axis, as a tuple
#    in kernel neighbours(array(float32, 1d, C), int (weak))
# <<<


@gpu.jit
def histograms(x, y, n):
    gpu.block.histogram(x, n)
    gpu.block.histogram(x, 0)
    gpu.block.histogram(y, 8)
    gpu.block.histogram(x, 8)
    gpu.block.histogram(n, 8, key=lambda v: v / 2)
    gpu.block.histogram(n, 100000)


# >>> message histograms(f4[::1], i4[:, :], int)
# TypingError: threads.py:364:5: error: gpu.block.histogram() needs a constant for 'bins', and this is int (weak)
#   364 |     gpu.block.histogram(x, n)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: the counts are shared memory, whose size is a constant
#
# threads.py:365:28: error: gpu.block.histogram(): it needs a bin to count in
#   365 |     gpu.block.histogram(x, 0)
#       |                            ^
#
# threads.py:366:5: error: gpu.block.histogram() does not take array(int32, 2d, A)
#   366 |     gpu.block.histogram(y, 8)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: x.ravel() has one axis
#
# threads.py:367:5: error: gpu.block.histogram() does not take float32
#   367 |     gpu.block.histogram(x, 8)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: a bin is an integer; key=lambda x: int(...) makes one of a value
#
# threads.py:368:5: error: key() does not take float (weak)
#   368 |     gpu.block.histogram(n, 8, key=lambda v: v / 2)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: a bin is an integer; key=lambda x: int(...) makes one of a value
#
# threads.py:369:5: error: gpu.block.histogram(): the array takes 400000 bytes, and there are at most 49152
#   369 |     gpu.block.histogram(n, 100000)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: gpu.shared.array(0, dtype) takes its size from the launch, k[grid, block, stream, bytes], and can be larger
#    in kernel histograms(array(float32, 1d, C), array(int32, 2d, A), int (weak))
# <<<
