"""Integer operators: Python's signs, wrapping at the width, division by zero is 0, shifts by any amount."""

import gpu
import numpy as np


@gpu.jit
def division(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]
        q, r = divmod(a[i], b[i])
        out[i, 2] = q * b[i] + r


@gpu.jit
def true_division(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = a[i] / b[i]


@gpu.jit
def wrapping(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + a[i]
        out[i, 1] = a[i] * a[i]
        out[i, 2] = -a[i]
        out[i, 3] = abs(a[i])


@gpu.jit
def bits(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] & b[i]
        out[i, 1] = a[i] | b[i]
        out[i, 2] = a[i] ^ b[i]
        out[i, 3] = ~a[i]


@gpu.jit
def shifts(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] << b[i]
        out[i, 1] = a[i] >> b[i]
        out[i, 2] = a[i] << 3
        out[i, 3] = a[i] >> 2


@gpu.jit
def powers(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] ** 2
        out[i, 1] = a[i] ** 3
        out[i, 2] = a[i] ** 0


I4 = np.array([-9, 9, -9, 9, -8, 0, 7, -(2**31), 2**31 - 1, 5], "i4")
D4 = np.array([4, -4, -4, 4, 3, 5, -7, -1, 2, 0], "i4")
U1 = np.array([0, 1, 127, 128, 200, 255], "u1")
ARGS = {
    "division": lambda: (1, 16, [I4.copy(), D4.copy(), np.zeros((10, 3), "i4")]),
    "true_division": lambda: (1, 16, [I4.copy(), D4.copy(), np.zeros(10)]),
    "wrapping": lambda: (1, 16, [I4.copy(), np.zeros((10, 4), "i4")]),
    "bits": lambda: (1, 8, [U1.copy(), U1[::-1].copy(), np.zeros((6, 4), "u1")]),
    "shifts": lambda: (1, 16, [I4.copy(), np.array([0, 1, 2, 31, 32, 33, 40, 5, 6, 7], "i4"), np.zeros((10, 4), "i4")]),
    "powers": lambda: (1, 16, [I4.copy(), np.zeros((10, 3), "i4")]),
}

# >>> ir division(i4[::1], i4[::1], i4[:, ::1])
# kernel division_i4c1_i4c1_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# param i64 shape "out" leaf 2 axis 1
# b0:
#   %1 = const i32 2
#   %2 = const i32 1
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = param ptr 3
#   %7 = param i64 4
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = convert i32 %4
#   %12 = convert i32 %7
#   %13 = mul.nowrap i32 %8, %9
#   %14 = add.nowrap i32 %13, %10
#   %15 = cmp.lt bool %14, %11
#   branch %15, b1, b2
# b1:
#   %16 = addr ptr %3, %14, 4
#   %17 = load.invariant i32 %16
#   %18 = addr ptr %5, %14, 4
#   %19 = load.invariant i32 %18
#   %20 = floordiv i32 %17, %19
#   %21 = mul.nowrap i32 %14, %12
#   %22 = addr ptr %6, %21, 4
#   store %22, %20
#   %23 = load.invariant i32 %16
#   %24 = load.invariant i32 %18
#   %25 = floormod i32 %23, %24
#   %26 = add.nowrap i32 %21, %2
#   %27 = addr ptr %6, %26, 4
#   store %27, %25
#   %28 = load.invariant i32 %16
#   %29 = load.invariant i32 %18
#   %30 = floordiv i32 %28, %29
#   %31 = floormod i32 %28, %29
#   %32 = load.invariant i32 %18
#   %33 = mul i32 %30, %32
#   %34 = add i32 %33, %31
#   %35 = add.nowrap i32 %21, %1
#   %36 = addr ptr %6, %35, 4
#   store %36, %34
#   jump b2
# b2:
#   ret
# <<<
# >>> ir true_division(i4[::1], i4[::1], f8[::1])
# kernel true_division_i4c1_i4c1_f8c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = param ptr 3
#   %5 = sreg.ctaid.x i32
#   %6 = sreg.ntid.x i32
#   %7 = sreg.tid.x i32
#   %8 = convert i32 %2
#   %9 = mul.nowrap i32 %5, %6
#   %10 = add.nowrap i32 %9, %7
#   %11 = cmp.lt bool %10, %8
#   branch %11, b1, b2
# b1:
#   %12 = addr ptr %1, %10, 4
#   %13 = load.invariant i32 %12
#   %14 = addr ptr %3, %10, 4
#   %15 = load.invariant i32 %14
#   %16 = convert f64 %13
#   %17 = convert f64 %15
#   %18 = div f64 %16, %17
#   %19 = addr ptr %4, %10, 8
#   store %19, %18
#   jump b2
# b2:
#   ret
# <<<
# >>> ir wrapping(i4[::1], i4[:, ::1])
# kernel wrapping_i4c1_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 3
#   %2 = const i32 2
#   %3 = const i32 1
#   %4 = param ptr 0
#   %5 = param i64 1
#   %6 = param ptr 2
#   %7 = param i64 3
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = convert i32 %5
#   %12 = convert i32 %7
#   %13 = mul.nowrap i32 %8, %9
#   %14 = add.nowrap i32 %13, %10
#   %15 = cmp.lt bool %14, %11
#   branch %15, b1, b2
# b1:
#   %16 = addr ptr %4, %14, 4
#   %17 = load.invariant i32 %16
#   %18 = load.invariant i32 %16
#   %19 = add i32 %17, %18
#   %20 = mul.nowrap i32 %14, %12
#   %21 = addr ptr %6, %20, 4
#   store %21, %19
#   %22 = load.invariant i32 %16
#   %23 = load.invariant i32 %16
#   %24 = mul i32 %22, %23
#   %25 = add.nowrap i32 %20, %3
#   %26 = addr ptr %6, %25, 4
#   store %26, %24
#   %27 = load.invariant i32 %16
#   %28 = neg i32 %27
#   %29 = add.nowrap i32 %20, %2
#   %30 = addr ptr %6, %29, 4
#   store %30, %28
#   %31 = load.invariant i32 %16
#   %32 = abs i32 %31
#   %33 = add.nowrap i32 %20, %1
#   %34 = addr ptr %6, %33, 4
#   store %34, %32
#   jump b2
# b2:
#   ret
# <<<
# >>> ir bits(u1[::1], u1[::1], u1[:, ::1])
# kernel bits_u1c1_u1c1_u1c2
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
#   %12 = convert i32 %5
#   %13 = convert i32 %8
#   %14 = mul.nowrap i32 %9, %10
#   %15 = add.nowrap i32 %14, %11
#   %16 = cmp.lt bool %15, %12
#   branch %16, b1, b2
# b1:
#   %17 = addr ptr %4, %15, 1
#   %18 = load.invariant u8 %17
#   %19 = addr ptr %6, %15, 1
#   %20 = load.invariant u8 %19
#   %21 = and u8 %18, %20
#   %22 = mul.nowrap i32 %15, %13
#   %23 = addr ptr %7, %22, 1
#   store %23, %21
#   %24 = load.invariant u8 %17
#   %25 = load.invariant u8 %19
#   %26 = or u8 %24, %25
#   %27 = add.nowrap i32 %22, %3
#   %28 = addr ptr %7, %27, 1
#   store %28, %26
#   %29 = load.invariant u8 %17
#   %30 = load.invariant u8 %19
#   %31 = xor u8 %29, %30
#   %32 = add.nowrap i32 %22, %2
#   %33 = addr ptr %7, %32, 1
#   store %33, %31
#   %34 = load.invariant u8 %17
#   %35 = not u8 %34
#   %36 = add.nowrap i32 %22, %1
#   %37 = addr ptr %7, %36, 1
#   store %37, %35
#   jump b2
# b2:
#   ret
# <<<
# >>> ir shifts(i4[::1], i4[::1], i4[:, ::1])
# kernel shifts_i4c1_i4c1_i4c2
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
#   %12 = convert i32 %5
#   %13 = convert i32 %8
#   %14 = mul.nowrap i32 %9, %10
#   %15 = add.nowrap i32 %14, %11
#   %16 = cmp.lt bool %15, %12
#   branch %16, b1, b2
# b1:
#   %17 = addr ptr %4, %15, 4
#   %18 = load.invariant i32 %17
#   %19 = addr ptr %6, %15, 4
#   %20 = load.invariant i32 %19
#   %21 = shl i32 %18, %20
#   %22 = mul.nowrap i32 %15, %13
#   %23 = addr ptr %7, %22, 4
#   store %23, %21
#   %24 = load.invariant i32 %17
#   %25 = load.invariant i32 %19
#   %26 = shr i32 %24, %25
#   %27 = add.nowrap i32 %22, %3
#   %28 = addr ptr %7, %27, 4
#   store %28, %26
#   %29 = load.invariant i32 %17
#   %30 = shl i32 %29, %1
#   %31 = add.nowrap i32 %22, %2
#   %32 = addr ptr %7, %31, 4
#   store %32, %30
#   %33 = load.invariant i32 %17
#   %34 = shr i32 %33, %2
#   %35 = add.nowrap i32 %22, %1
#   %36 = addr ptr %7, %35, 4
#   store %36, %34
#   jump b2
# b2:
#   ret
# <<<
# >>> ir powers(i4[::1], i4[:, ::1])
# kernel powers_i4c1_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 2
#   %2 = const i32 1
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = param i64 3
#   %7 = sreg.ctaid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = sreg.tid.x i32
#   %10 = const i32 0
#   %11 = convert i32 %4
#   %12 = convert i32 %6
#   %13 = mul.nowrap i32 %7, %8
#   %14 = add.nowrap i32 %13, %9
#   %15 = cmp.lt bool %14, %11
#   branch %15, b1, b2
# b1:
#   %16 = addr ptr %3, %14, 4
#   %17 = load.invariant i32 %16
#   %18 = mul i32 %17, %17
#   %19 = mul.nowrap i32 %14, %12
#   %20 = addr ptr %5, %19, 4
#   store %20, %18
#   %21 = load.invariant i32 %16
#   %22 = mul i32 %21, %21
#   %23 = mul i32 %22, %21
#   %24 = add.nowrap i32 %19, %2
#   %25 = addr ptr %5, %24, 4
#   store %25, %23
#   %26 = load.invariant i32 %16
#   %27 = pow i32 %26, %10
#   %28 = add.nowrap i32 %19, %1
#   %29 = addr ptr %5, %28, 4
#   store %29, %27
#   jump b2
# b2:
#   ret
# <<<
