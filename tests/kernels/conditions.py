"""and, or, not give operands, not bools; comparisons chain; conditional expressions and walrus."""

import gpu
import numpy as np


@gpu.jit
def boolean_operators(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] and b[i]
        out[i, 1] = a[i] or b[i]
        out[i, 2] = not a[i]
        out[i, 3] = a[i] > 0 and b[i] > 0 or not (a[i] or b[i])


@gpu.jit
def chained(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = 2 if -1 <= a[i] < 2 != 5 else (1 if a[i] == 3 else 0)


@gpu.jit
def walrus(a, out):
    i = gpu.grid(1)
    if i < a.size:
        if (twice := a[i] * 2) > 3:
            out[i] = twice
        else:
            out[i] = -twice


@gpu.jit
def guard_by_short_circuit(a, out):
    i = gpu.grid(1)
    if i < out.size and i + 3 < a.size and a[i + 3] > 0:
        out[i] = 1


A = np.array([-2, -1, 0, 0, 1, 2, 3, 4], "i4")
ARGS = {
    "boolean_operators": lambda: (1, 8, [A.copy(), A[::-1].copy(), np.zeros((8, 4), "i4")]),
    "chained": lambda: (1, 8, [A.copy(), np.zeros(8, "i4")]),
    "walrus": lambda: (1, 8, [A.copy(), np.zeros(8, "i4")]),
    "guard_by_short_circuit": lambda: (1, 16, [A.copy(), np.zeros(10, "i4")]),
}

# >>> ir boolean_operators(i4[::1], i4[::1], i4[:, ::1])
# kernel boolean_operators_i4c1_i4c1_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# param i64 shape "out" leaf 2 axis 1
# b0:
#   %1 = const i32 3
#   %2 = const i32 2
#   %3 = const i32 1
#   %4 = param ptr 0
#   %5 = param i64 1
#   %6 = param ptr 2
#   %7 = param ptr 3
#   %8 = param i64 4
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = const i32 0
#   %13 = convert i32 %5
#   %14 = convert i32 %8
#   %15 = mul.nowrap i32 %9, %10
#   %16 = add.nowrap i32 %15, %11
#   %17 = cmp.lt bool %16, %13
#   branch %17, b1, b11
# b1:
#   %18 = addr ptr %4, %16, 4
#   %19 = load.invariant i32 %18
#   %20 = convert bool %19
#   branch %20, b2, b3
# b2:
#   %21 = addr ptr %6, %16, 4
#   %22 = load.invariant i32 %21
#   jump b3
# b3:
#   %23 = phi i32 b1:%19, b2:%22
#   %24 = mul.nowrap i32 %16, %14
#   %25 = addr ptr %7, %24, 4
#   store %25, %23
#   %26 = load.invariant i32 %18
#   %27 = convert bool %26
#   branch %27, b5, b4
# b4:
#   %28 = addr ptr %6, %16, 4
#   %29 = load.invariant i32 %28
#   jump b5
# b5:
#   %30 = phi i32 b3:%26, b4:%29
#   %31 = add.nowrap i32 %24, %3
#   %32 = addr ptr %7, %31, 4
#   store %32, %30
#   %33 = load.invariant i32 %18
#   %34 = convert bool %33
#   %35 = not bool %34
#   %36 = add.nowrap i32 %24, %2
#   %37 = addr ptr %7, %36, 4
#   %38 = convert i32 %35
#   store %37, %38
#   %39 = load.invariant i32 %18
#   %40 = cmp.gt bool %39, %12
#   branch %40, b6, b7
# b6:
#   %41 = addr ptr %6, %16, 4
#   %42 = load.invariant i32 %41
#   %43 = cmp.gt bool %42, %12
#   branch %43, b10, b7
# b7:
#   %44 = load.invariant i32 %18
#   %45 = convert bool %44
#   branch %45, b9, b8
# b8:
#   %46 = addr ptr %6, %16, 4
#   %47 = load.invariant i32 %46
#   jump b9
# b9:
#   %48 = phi i32 b7:%44, b8:%47
#   %49 = convert bool %48
#   %50 = not bool %49
#   jump b10
# b10:
#   %51 = phi bool b6:%43, b9:%50
#   %52 = add.nowrap i32 %24, %1
#   %53 = addr ptr %7, %52, 4
#   %54 = convert i32 %51
#   store %53, %54
#   jump b11
# b11:
#   ret
# <<<
# >>> ir chained(i4[::1], i4[::1])
# kernel chained_i4c1_i4c1
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
#   %7 = const i32 -1
#   %8 = const i32 2
#   %9 = const i32 3
#   %10 = const i32 1
#   %11 = const i32 0
#   %12 = convert i32 %2
#   %13 = mul.nowrap i32 %4, %5
#   %14 = add.nowrap i32 %13, %6
#   %15 = cmp.lt bool %14, %12
#   branch %15, b1, b7
# b1:
#   %16 = addr ptr %1, %14, 4
#   %17 = load.invariant i32 %16
#   %18 = cmp.ge bool %17, %7
#   branch %18, b2, b4
# b2:
#   %19 = cmp.lt bool %17, %8
#   branch %19, b3, b4
# b3:
#   %20 = addr ptr %3, %14, 4
#   store %20, %8
#   jump b7
# b4:
#   %21 = load.invariant i32 %16
#   %22 = cmp.eq bool %21, %9
#   branch %22, b5, b6
# b5:
#   %23 = addr ptr %3, %14, 4
#   store %23, %10
#   jump b7
# b6:
#   %24 = addr ptr %3, %14, 4
#   store %24, %11
#   jump b7
# b7:
#   ret
# <<<
# >>> ir walrus(i4[::1], i4[::1])
# kernel walrus_i4c1_i4c1
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
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b4
# b1:
#   %13 = addr ptr %1, %11, 4
#   %14 = load.invariant i32 %13
#   %15 = mul i32 %14, %7
#   %16 = cmp.gt bool %15, %8
#   branch %16, b2, b3
# b2:
#   %17 = addr ptr %3, %11, 4
#   store %17, %15
#   jump b4
# b3:
#   %18 = neg i32 %15
#   %19 = addr ptr %3, %11, 4
#   store %19, %18
#   jump b4
# b4:
#   ret
# <<<
# >>> ir guard_by_short_circuit(i4[::1], i4[::1])
# kernel guard_by_short_circuit_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# b0:
#   %1 = const i32 3
#   %2 = param ptr 0
#   %3 = param i64 1
#   %4 = param ptr 2
#   %5 = param i64 3
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = sreg.tid.x i32
#   %9 = const i32 0
#   %10 = const i32 1
#   %11 = convert i32 %3
#   %12 = convert i32 %5
#   %13 = mul.nowrap i32 %6, %7
#   %14 = add.nowrap i32 %13, %8
#   %15 = cmp.lt bool %14, %12
#   branch %15, b1, b4
# b1:
#   %16 = add.nowrap i32 %14, %1
#   %17 = cmp.lt bool %16, %11
#   branch %17, b2, b4
# b2:
#   %18 = addr ptr %2, %16, 4
#   %19 = load.invariant i32 %18
#   %20 = cmp.gt bool %19, %9
#   branch %20, b3, b4
# b3:
#   %21 = addr ptr %4, %14, 4
#   store %21, %10
#   jump b4
# b4:
#   ret
# <<<
