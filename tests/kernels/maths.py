"""math functions keep float32; NumPy functions follow the ufunc's loops."""

import math

import gpu
import numpy as np


@gpu.jit
def float32_stays(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i]) + math.sqrt(x[i]) + math.fabs(x[i] - 1)


@gpu.jit
def rounding(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = math.floor(x[i])
        out[i, 1] = math.ceil(x[i])
        out[i, 2] = math.trunc(x[i])
        out[i, 3] = round(x[i])
        out[i, 4] = np.rint(x[i])
        out[i, 5] = math.copysign(1.0, x[i])


@gpu.jit
def tests(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = math.isnan(x[i])
        out[i, 1] = math.isinf(x[i])
        out[i, 2] = np.isfinite(x[i])
        out[i, 3] = np.signbit(x[i])


@gpu.jit
def minimum_and_maximum(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = min(x[i], y[i])
        out[i, 1] = max(x[i], y[i])
        out[i, 2] = np.minimum(x[i], y[i])
        out[i, 3] = np.maximum(x[i], y[i])
        out[i, 4] = np.fmin(x[i], y[i])
        out[i, 5] = np.fmax(x[i], y[i])
        out[i, 6] = min(x[i], y[i], 0.5)


@gpu.jit
def select(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = np.where(x[i] > 0, x[i], -1)


X = np.array([0.25, 0.5, 1.0, 1.5, 2.5, 3.75], "f4")
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 3.5])
ARGS = {
    "float32_stays": lambda: (1, 8, [X.copy(), np.zeros(6, "f4")]),
    "rounding": lambda: (1, 8, [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, -7.3]), np.zeros((8, 6))]),
    "tests": lambda: (1, 8, [SPECIAL.copy(), np.zeros((8, 4), "i4")]),
    "minimum_and_maximum": lambda: (1, 8, [SPECIAL.copy(), np.roll(SPECIAL, 3), np.zeros((8, 7))]),
    "select": lambda: (1, 8, [X - 1, np.zeros(6, "f4")]),
}
RTOL = {"float32_stays": 1e-6}

# >>> ir float32_stays(f4[::1], f4[::1])
# kernel float32_stays_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const f32 1.0
#   %8 = convert i32 %2
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = cmp.lt bool %10, %8
#   branch %11, b1, b2
# b1:
#   %12 = addr ptr %1, %10, 4
#   %13 = load.invariant f32 %12
#   %14 = math.sin f32 %13
#   %15 = load.invariant f32 %12
#   %16 = neg f32 %15
#   %17 = math.exp f32 %16
#   %18 = load.invariant f32 %12
#   %19 = math.sqrt f32 %18
#   %20 = fma f32 %14, %17, %19
#   %21 = load.invariant f32 %12
#   %22 = sub f32 %21, %7
#   %23 = abs f32 %22
#   %24 = add f32 %20, %23
#   %25 = addr ptr %3, %10, 4
#   store %25, %24
#   jump b2
# b2:
#   ret
# <<<
# >>> ir rounding(f8[::1], f8[:, ::1])
# kernel rounding_f8c1_f8c2
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 5
#   %2 = const i32 4
#   %3 = const i32 3
#   %4 = const i32 2
#   %5 = const i32 1
#   %6 = param ptr 0
#   %7 = param i64 1
#   %8 = param ptr 2
#   %9 = param i64 3
#   %10 = sreg.ctaid.x i32
#   %11 = sreg.ntid.x i32
#   %12 = sreg.tid.x i32
#   %13 = const f64 1.0
#   %14 = convert i32 %7
#   %15 = convert i32 %9
#   %16 = mul.nowrap i32 %10, %11
#   %17 = add.nowrap i32 %16, %12
#   %18 = cmp.lt bool %17, %14
#   branch %18, b1, b2
# b1:
#   %19 = addr ptr %6, %17, 8
#   %20 = load.invariant f64 %19
#   %21 = math.floor f64 %20
#   %22 = convert i64 %21
#   %23 = mul.nowrap i32 %17, %15
#   %24 = addr ptr %8, %23, 8
#   %25 = convert f64 %22
#   store %24, %25
#   %26 = load.invariant f64 %19
#   %27 = math.ceil f64 %26
#   %28 = convert i64 %27
#   %29 = add.nowrap i32 %23, %5
#   %30 = addr ptr %8, %29, 8
#   %31 = convert f64 %28
#   store %30, %31
#   %32 = load.invariant f64 %19
#   %33 = math.trunc f64 %32
#   %34 = convert i64 %33
#   %35 = add.nowrap i32 %23, %4
#   %36 = addr ptr %8, %35, 8
#   %37 = convert f64 %34
#   store %36, %37
#   %38 = load.invariant f64 %19
#   %39 = math.rint f64 %38
#   %40 = convert i64 %39
#   %41 = add.nowrap i32 %23, %3
#   %42 = addr ptr %8, %41, 8
#   %43 = convert f64 %40
#   store %42, %43
#   %44 = load.invariant f64 %19
#   %45 = math.rint f64 %44
#   %46 = add.nowrap i32 %23, %2
#   %47 = addr ptr %8, %46, 8
#   store %47, %45
#   %48 = load.invariant f64 %19
#   %49 = math.copysign f64 %13, %48
#   %50 = add.nowrap i32 %23, %1
#   %51 = addr ptr %8, %50, 8
#   store %51, %49
#   jump b2
# b2:
#   ret
# <<<
# >>> ir tests(f8[::1], i4[:, ::1])
# kernel tests_f8c1_i4c2
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
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
#   %11 = const i64 0
#   %12 = const f64 inf
#   %13 = convert i32 %5
#   %14 = convert i32 %7
#   %15 = mul.nowrap i32 %8, %9
#   %16 = add.nowrap i32 %15, %10
#   %17 = cmp.lt bool %16, %13
#   branch %17, b1, b2
# b1:
#   %18 = addr ptr %4, %16, 8
#   %19 = load.invariant f64 %18
#   %20 = cmp.ne bool %19, %19
#   %21 = mul.nowrap i32 %16, %14
#   %22 = addr ptr %6, %21, 4
#   %23 = convert i32 %20
#   store %22, %23
#   %24 = load.invariant f64 %18
#   %25 = abs f64 %24
#   %26 = cmp.eq bool %25, %12
#   %27 = add.nowrap i32 %21, %3
#   %28 = addr ptr %6, %27, 4
#   %29 = convert i32 %26
#   store %28, %29
#   %30 = load.invariant f64 %18
#   %31 = abs f64 %30
#   %32 = cmp.lt bool %31, %12
#   %33 = add.nowrap i32 %21, %2
#   %34 = addr ptr %6, %33, 4
#   %35 = convert i32 %32
#   store %34, %35
#   %36 = load.invariant f64 %18
#   %37 = bitcast i64 %36
#   %38 = cmp.lt bool %37, %11
#   %39 = add.nowrap i32 %21, %1
#   %40 = addr ptr %6, %39, 4
#   %41 = convert i32 %38
#   store %40, %41
#   jump b2
# b2:
#   ret
# <<<
# >>> ir minimum_and_maximum(f8[::1], f8[::1], f8[:, ::1])
# kernel minimum_and_maximum_f8c1_f8c1_f8c2
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "y" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# param i64 shape "out" leaf 2 axis 1
# b0:
#   %1 = const i32 6
#   %2 = const i32 5
#   %3 = const i32 4
#   %4 = const i32 3
#   %5 = const i32 2
#   %6 = const i32 1
#   %7 = param ptr 0
#   %8 = param i64 1
#   %9 = param ptr 2
#   %10 = param ptr 3
#   %11 = param i64 4
#   %12 = sreg.ctaid.x i32
#   %13 = sreg.ntid.x i32
#   %14 = sreg.tid.x i32
#   %15 = const f64 0.5
#   %16 = convert i32 %8
#   %17 = convert i32 %11
#   %18 = mul.nowrap i32 %12, %13
#   %19 = add.nowrap i32 %18, %14
#   %20 = cmp.lt bool %19, %16
#   branch %20, b1, b2
# b1:
#   %21 = addr ptr %7, %19, 8
#   %22 = load.invariant f64 %21
#   %23 = addr ptr %9, %19, 8
#   %24 = load.invariant f64 %23
#   %25 = min f64 %22, %24
#   %26 = mul.nowrap i32 %19, %17
#   %27 = addr ptr %10, %26, 8
#   store %27, %25
#   %28 = load.invariant f64 %21
#   %29 = load.invariant f64 %23
#   %30 = max f64 %28, %29
#   %31 = add.nowrap i32 %26, %6
#   %32 = addr ptr %10, %31, 8
#   store %32, %30
#   %33 = load.invariant f64 %21
#   %34 = load.invariant f64 %23
#   %35 = nanmin f64 %33, %34
#   %36 = add.nowrap i32 %26, %5
#   %37 = addr ptr %10, %36, 8
#   store %37, %35
#   %38 = load.invariant f64 %21
#   %39 = load.invariant f64 %23
#   %40 = nanmax f64 %38, %39
#   %41 = add.nowrap i32 %26, %4
#   %42 = addr ptr %10, %41, 8
#   store %42, %40
#   %43 = load.invariant f64 %21
#   %44 = load.invariant f64 %23
#   %45 = fmin f64 %43, %44
#   %46 = add.nowrap i32 %26, %3
#   %47 = addr ptr %10, %46, 8
#   store %47, %45
#   %48 = load.invariant f64 %21
#   %49 = load.invariant f64 %23
#   %50 = fmax f64 %48, %49
#   %51 = add.nowrap i32 %26, %2
#   %52 = addr ptr %10, %51, 8
#   store %52, %50
#   %53 = load.invariant f64 %21
#   %54 = load.invariant f64 %23
#   %55 = min f64 %53, %54
#   %56 = min f64 %55, %15
#   %57 = add.nowrap i32 %26, %1
#   %58 = addr ptr %10, %57, 8
#   store %58, %56
#   jump b2
# b2:
#   ret
# <<<
# >>> ir select(f4[::1], f4[::1])
# kernel select_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const f32 0.0
#   %8 = const f32 -1.0
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %11, 4
#   %14 = load.invariant f32 %13
#   %15 = cmp.gt bool %14, %7
#   %16 = load.invariant f32 %13
#   %17 = select f32 %15, %16, %8
#   %18 = addr ptr %3, %11, 4
#   store %18, %17
#   jump b2
# b2:
#   ret
# <<<
