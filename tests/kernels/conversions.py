"""int(), float(), bool(), NumPy constructors; stores convert: integers wrap, floats saturate."""

import gpu
import numpy as np


@gpu.jit
def constructors(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = int(x[i])
        out[i, 1] = float(int(x[i])) / 4
        out[i, 2] = bool(x[i])
        out[i, 3] = np.int8(int(x[i]))
        out[i, 4] = np.float32(x[i]) * np.float32(0.1)


@gpu.jit
def narrow_stores(a, small, unsigned):
    i = gpu.grid(1)
    if i < a.size:
        small[i] = a[i]
        unsigned[i] = a[i]


@gpu.jit
def joins_never_narrow(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        x = a[i]
        if x > 3:
            x = b[i]
        out[i] = x * x


@gpu.jit
def accumulate(a, out):
    count = 0
    total = 0.0
    for j in range(a.size):
        total += a[j]
        count += 1
    mean = total / count
    out[0] = total
    out[1] = mean


X = np.array([-3.7, -0.2, 0.0, 0.9, 2.5, 100.25])
ARGS = {
    "constructors": lambda: (1, 8, [X.copy(), np.zeros((6, 5))]),
    "narrow_stores": lambda: (
        1,
        8,
        [np.array([0, 1, 127, 100, 3, 70], "i8"), np.zeros(6, "i1"), np.zeros(6, "u2")],
    ),
    "joins_never_narrow": lambda: (1, 8, [np.arange(6, dtype="i2"), np.arange(6, dtype="f4") + 0.5, np.zeros(6)]),
    "accumulate": lambda: (1, 1, [np.linspace(0, 1, 37, dtype="f4"), np.zeros(2, "f4")]),
}

# >>> ir constructors(f8[::1], f8[:, ::1])
# kernel constructors_f8c1_f8c2
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 4
#   %2 = const i32 3
#   %3 = const i32 2
#   %4 = const i32 1
#   %5 = param ptr 0
#   %6 = param i64 1
#   %7 = param ptr 2
#   %8 = param i64 3
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = const f64 4.0
#   %13 = const f32 0.1
#   %14 = convert i32 %6
#   %15 = convert i32 %8
#   %16 = mul.nowrap i32 %9, %10
#   %17 = add.nowrap i32 %16, %11
#   %18 = cmp.lt bool %17, %14
#   branch %18, b1, b2
# b1:
#   %19 = addr ptr %5, %17, 8
#   %20 = load.invariant f64 %19
#   %21 = convert i64 %20
#   %22 = mul.nowrap i32 %17, %15
#   %23 = addr ptr %7, %22, 8
#   %24 = convert f64 %21
#   store %23, %24
#   %25 = load.invariant f64 %19
#   %26 = convert i64 %25
#   %27 = convert f64 %26
#   %28 = div f64 %27, %12
#   %29 = add.nowrap i32 %22, %4
#   %30 = addr ptr %7, %29, 8
#   store %30, %28
#   %31 = load.invariant f64 %19
#   %32 = convert bool %31
#   %33 = add.nowrap i32 %22, %3
#   %34 = addr ptr %7, %33, 8
#   %35 = convert f64 %32
#   store %34, %35
#   %36 = load.invariant f64 %19
#   %37 = convert i64 %36
#   %38 = convert i8 %37
#   %39 = add.nowrap i32 %22, %2
#   %40 = addr ptr %7, %39, 8
#   %41 = convert f64 %38
#   store %40, %41
#   %42 = load.invariant f64 %19
#   %43 = convert f32 %42
#   %44 = mul f32 %43, %13
#   %45 = add.nowrap i32 %22, %1
#   %46 = addr ptr %7, %45, 8
#   %47 = convert f64 %44
#   store %46, %47
#   jump b2
# b2:
#   ret
# <<<
# >>> ir narrow_stores(i8[::1], i1[::1], u2[::1])
# kernel narrow_stores_i8c1_i1c1_u2c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "small" leaf 1 align 16 noalias written
# param ptr data "unsigned" leaf 2 align 16 noalias written
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
#   %12 = addr ptr %1, %10, 8
#   %13 = load.invariant i64 %12
#   %14 = addr ptr %3, %10, 1
#   %15 = convert i8 %13
#   store %14, %15
#   %16 = load.invariant i64 %12
#   %17 = addr ptr %4, %10, 2
#   %18 = convert u16 %16
#   store %17, %18
#   jump b2
# b2:
#   ret
# <<<
# >>> ir joins_never_narrow(i2[::1], f4[::1], f8[::1])
# kernel joins_never_narrow_i2c1_f4c1_f8c1
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
#   %8 = const i16 3
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %5, %6
#   %11 = add.nowrap i32 %10, %7
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b4
# b1:
#   %13 = addr ptr %1, %11, 2
#   %14 = load.invariant i16 %13
#   %15 = cmp.gt bool %14, %8
#   %16 = convert f32 %14
#   branch %15, b2, b3
# b2:
#   %17 = addr ptr %3, %11, 4
#   %18 = load.invariant f32 %17
#   jump b3
# b3:
#   %19 = phi f32 b1:%16, b2:%18
#   %20 = mul f32 %19, %19
#   %21 = addr ptr %4, %11, 8
#   %22 = convert f64 %20
#   store %21, %22
#   jump b4
# b4:
#   ret
# <<<
# >>> ir accumulate(f4[::1], f4[::1])
# kernel accumulate_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = const i64 1
#   %7 = const i64 0
#   %8 = const f32 0.0
#   %9 = convert i32 %4
#   jump b1
# b1:
#   %10 = phi i64 b0:%7, b2:%18
#   %11 = phi f32 b0:%8, b2:%17
#   %12 = phi i32 b0:%2, b2:%14
#   %13 = cmp.lt bool %12, %9
#   branch %13, b2, b3
# b2:
#   %14 = add.nowrap i32 %12, %1
#   %15 = addr ptr %3, %12, 4
#   %16 = load.invariant f32 %15
#   %17 = add f32 %11, %16
#   %18 = add i64 %10, %6
#   jump b1
# b3:
#   %19 = convert f32 %10
#   %20 = div f32 %11, %19
#   store %5, %11
#   %21 = addr ptr %5, %1, 4
#   store %21, %20
#   ret
# <<<
