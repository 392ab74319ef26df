"""match on constants, alternatives, captures and guards."""

import gpu
import numpy as np


@gpu.jit
def classify(a, out):
    i = gpu.grid(1)
    if i < a.size:
        match a[i]:
            case 0:
                out[i] = 10
            case 1 | 2:
                out[i] = 20
            case x if x < 0:
                out[i] = -x
            case _:
                out[i] = 99


@gpu.jit
def pairs(a, out):
    i = gpu.grid(1)
    if i < a.size:
        match (a[i] % 2, a[i] % 3):
            case (0, 0):
                out[i] = 6
            case (0, r):
                out[i] = 100 + r
            case (_, 0):
                out[i] = 3
            case _:
                out[i] = 1


ARGS = {
    "classify": lambda: (1, 8, [np.arange(-3, 5, dtype="i4"), np.zeros(8, "i4")]),
    "pairs": lambda: (1, 12, [np.arange(12, dtype="i4"), np.zeros(12, "i4")]),
}

# >>> ir classify(i4[::1], i4[::1])
# kernel classify_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const i32 0
#   %8 = const i32 10
#   %9 = const i32 1
#   %10 = const i32 2
#   %11 = const i32 20
#   %12 = const i32 99
#   %13 = convert i32 %2
#   %14 = mul.nowrap i32 %4, %5
#   %15 = add.nowrap i32 %14, %6
#   %16 = cmp.lt bool %15, %13
#   branch %16, b1, b9
# b1:
#   %17 = addr ptr %1, %15, 4
#   %18 = load.invariant i32 %17
#   %19 = cmp.eq bool %18, %7
#   branch %19, b2, b3
# b2:
#   %20 = addr ptr %3, %15, 4
#   store %20, %8
#   jump b9
# b3:
#   %21 = cmp.eq bool %18, %9
#   branch %21, b5, b4
# b4:
#   %22 = cmp.eq bool %18, %10
#   branch %22, b5, b6
# b5:
#   %23 = addr ptr %3, %15, 4
#   store %23, %11
#   jump b9
# b6:
#   %24 = cmp.lt bool %18, %7
#   branch %24, b7, b8
# b7:
#   %25 = neg i32 %18
#   %26 = addr ptr %3, %15, 4
#   store %26, %25
#   jump b9
# b8:
#   %27 = addr ptr %3, %15, 4
#   store %27, %12
#   jump b9
# b9:
#   ret
# <<<
# >>> ir pairs(i4[::1], i4[::1])
# kernel pairs_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const i32 2
#   %8 = const i32 3
#   %9 = const i32 0
#   %10 = const i32 6
#   %11 = const i32 100
#   %12 = const i32 1
#   %13 = convert i32 %2
#   %14 = mul.nowrap i32 %4, %5
#   %15 = add.nowrap i32 %14, %6
#   %16 = cmp.lt bool %15, %13
#   branch %16, b1, b9
# b1:
#   %17 = addr ptr %1, %15, 4
#   %18 = load.invariant i32 %17
#   %19 = floormod i32 %18, %7
#   %20 = load.invariant i32 %17
#   %21 = floormod i32 %20, %8
#   %22 = cmp.eq bool %19, %9
#   branch %22, b2, b4
# b2:
#   %23 = cmp.eq bool %21, %9
#   branch %23, b3, b4
# b3:
#   %24 = addr ptr %3, %15, 4
#   store %24, %10
#   jump b9
# b4:
#   branch %22, b5, b6
# b5:
#   %25 = add i32 %21, %11
#   %26 = addr ptr %3, %15, 4
#   store %26, %25
#   jump b9
# b6:
#   %27 = cmp.eq bool %21, %9
#   branch %27, b7, b8
# b7:
#   %28 = addr ptr %3, %15, 4
#   store %28, %8
#   jump b9
# b8:
#   %29 = addr ptr %3, %15, 4
#   store %29, %12
#   jump b9
# b9:
#   ret
# <<<
