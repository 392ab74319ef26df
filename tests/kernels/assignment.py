"""Tuple packing and unpacking, swaps, chained and augmented assignment, del, annotations."""

import gpu
import numpy as np


@gpu.jit
def unpack(a, out):
    """A docstring is no code."""
    i = gpu.grid(1)
    if i < out.shape[0]:
        x, y = a[i, 0], a[i, 1]
        x, y = y, x
        (p, q), r = (x + 1, y + 2), x * y
        first, *rest = (p, q, r)
        out[i, 0] = first
        out[i, 1] = rest[0] - rest[1]
        out[i, 2] = len(rest)


@gpu.jit
def chained(out):
    n: int = 3
    a = b = c = n
    a += 1
    b -= 1
    c *= 2
    c //= 4
    a **= 2
    b <<= 3
    b |= 1
    b ^= 5
    b &= 30
    a %= 7
    a >>= 1
    del c
    out[0] = a
    out[1] = b


ARGS = {
    "unpack": lambda: (1, 4, [np.arange(8, dtype="i4").reshape(4, 2), np.zeros((4, 3), "i4")]),
    "chained": lambda: (1, 1, [np.zeros(2, "i4")]),
}

# >>> ir unpack(i4[:, ::1], i4[:, ::1])
# kernel unpack_i4c2_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 2
#   %2 = const i32 1
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = param i64 3
#   %7 = param i64 4
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = convert i32 %4
#   %12 = convert i32 %6
#   %13 = convert i32 %7
#   %14 = mul.nowrap i32 %8, %9
#   %15 = add.nowrap i32 %14, %10
#   %16 = cmp.lt bool %15, %12
#   branch %16, b1, b2
# b1:
#   %17 = mul.nowrap i32 %15, %11
#   %18 = addr ptr %3, %17, 4
#   %19 = load.invariant i32 %18
#   %20 = add.nowrap i32 %17, %2
#   %21 = addr ptr %3, %20, 4
#   %22 = load.invariant i32 %21
#   %23 = add i32 %22, %2
#   %24 = add i32 %19, %1
#   %25 = mul i32 %22, %19
#   %26 = mul.nowrap i32 %15, %13
#   %27 = addr ptr %5, %26, 4
#   store %27, %23
#   %28 = sub i32 %24, %25
#   %29 = add.nowrap i32 %26, %2
#   %30 = addr ptr %5, %29, 4
#   store %30, %28
#   %31 = add.nowrap i32 %26, %1
#   %32 = addr ptr %5, %31, 4
#   store %32, %1
#   jump b2
# b2:
#   ret
# <<<
# >>> ir chained(i4[::1])
# kernel chained_i4c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# b0:
#   %1 = const i32 1
#   %2 = param ptr 0
#   %3 = const i32 20
#   store %2, %1
#   %4 = addr ptr %2, %1, 4
#   store %4, %3
#   ret
# <<<
