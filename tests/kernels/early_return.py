"""Threads that return early, from inside loops too."""

import gpu
import numpy as np


@gpu.jit
def guard_first(a, out):
    i = gpu.grid(1)
    if i >= out.size:
        return
    if a[i] < 0:
        out[i] = -1
        return
    out[i] = a[i] * 2


@gpu.jit
def from_a_loop(a, out):
    i = gpu.grid(1)
    if i >= out.size:
        return
    for j in range(a.size):
        if a[j] > i:
            out[i] = j
            return
    out[i] = 77


A = np.array([3, -1, 4, -1, 5, 9, -2, 6], "i4")
ARGS = {
    "guard_first": lambda: (2, 8, [A.copy(), np.zeros(8, "i4")]),
    "from_a_loop": lambda: (2, 8, [A.copy(), np.zeros(12, "i4")]),
}

# >>> ir guard_first(i4[::1], i4[::1])
# kernel guard_first_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# b0:
#   %1 = param ptr 0
#   %2 = param ptr 1
#   %3 = param i64 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const i32 0
#   %8 = const i32 -1
#   %9 = const i32 2
#   %10 = convert i32 %3
#   %11 = mul.nowrap i32 %4, %5
#   %12 = add.nowrap i32 %11, %6
#   %13 = cmp.ge bool %12, %10
#   branch %13, b4, b1
# b1:
#   %14 = addr ptr %1, %12, 4
#   %15 = load.invariant i32 %14
#   %16 = cmp.lt bool %15, %7
#   branch %16, b2, b3
# b2:
#   %17 = addr ptr %2, %12, 4
#   store %17, %8
#   jump b4
# b3:
#   %18 = load.invariant i32 %14
#   %19 = mul i32 %18, %9
#   %20 = addr ptr %2, %12, 4
#   store %20, %19
#   jump b4
# b4:
#   ret
# <<<
# >>> ir from_a_loop(i4[::1], i4[::1])
# kernel from_a_loop_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = param i64 3
#   %7 = sreg.ctaid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = sreg.tid.x i32
#   %10 = const i32 77
#   %11 = convert i32 %4
#   %12 = convert i32 %6
#   %13 = mul.nowrap i32 %7, %8
#   %14 = add.nowrap i32 %13, %9
#   %15 = cmp.ge bool %14, %12
#   branch %15, b5, b1
# b1:
#   %16 = phi i32 b0:%2, b2:%18
#   %17 = cmp.lt bool %16, %11
#   branch %17, b2, b4
# b2:
#   %18 = add.nowrap i32 %16, %1
#   %19 = addr ptr %3, %16, 4
#   %20 = load.invariant i32 %19
#   %21 = cmp.gt bool %20, %14
#   branch %21, b3, b1
# b3:
#   %22 = addr ptr %5, %14, 4
#   store %22, %16
#   jump b5
# b4:
#   %23 = addr ptr %5, %14, 4
#   store %23, %10
#   jump b5
# b5:
#   ret
# <<<
