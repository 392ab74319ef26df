"""Python numbers are weak: float32 arrays stay float32, whatever literals and arguments meet them."""

import gpu
import numpy as np


@gpu.jit
def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] * 0.5 - 1


@gpu.jit
def weak_float_with_integer_element(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = a[i] * 0.5 + 1.25


@gpu.jit
def constants_fit_small_types(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = (a[i] + 100) * 2 - 7


F4 = np.linspace(-3, 3, 50, dtype="f4")
I1 = np.arange(-60, 60, dtype="i1")
ARGS = {
    "saxpy": lambda: (2, 32, [0.1, F4.copy(), F4[::-1].copy()]),
    "weak_float_with_integer_element": lambda: (4, 32, [I1.copy(), np.zeros(120)]),
    "constants_fit_small_types": lambda: (4, 32, [I1.copy(), np.zeros(120, "i1")]),
}
RTOL = {"saxpy": 1e-6}  # x * y + z may be fused

# >>> ir saxpy(float, f4[::1], f4[::1])
# kernel saxpy_f_f4c1_f4c1
# facts size32 align16 noalias
# param f64 scalar "a" leaf 0
# param ptr data "x" leaf 1 align 16 noalias read
# param i64 shape "x" leaf 1
# param ptr data "y" leaf 2 align 16 noalias written read
# b0:
#   %1 = param f64 0
#   %2 = param ptr 1
#   %3 = param i64 2
#   %4 = param ptr 3
#   %5 = sreg.ctaid.x i32
#   %6 = sreg.ntid.x i32
#   %7 = sreg.tid.x i32
#   %8 = const f32 0.5
#   %9 = const f32 1.0
#   %10 = convert i32 %3
#   %11 = mul.nowrap i32 %5, %6
#   %12 = add.nowrap i32 %11, %7
#   %13 = cmp.lt bool %12, %10
#   branch %13, b1, b2
# b1:
#   %14 = addr ptr %2, %12, 4
#   %15 = load.invariant f32 %14
#   %16 = convert f32 %1
#   %17 = addr ptr %4, %12, 4
#   %18 = load f32 %17
#   %19 = mul f32 %18, %8
#   %20 = fma f32 %16, %15, %19
#   %21 = sub f32 %20, %9
#   store %17, %21
#   jump b2
# b2:
#   ret
# <<<
# >>> ir weak_float_with_integer_element(i1[::1], f8[::1])
# kernel weak_float_with_integer_element_i1c1_f8c1
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
#   %7 = const f64 0.5
#   %8 = const f64 1.25
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %11, 1
#   %14 = load.invariant i8 %13
#   %15 = convert f64 %14
#   %16 = fma f64 %15, %7, %8
#   %17 = addr ptr %3, %11, 8
#   store %17, %16
#   jump b2
# b2:
#   ret
# <<<
# >>> ir constants_fit_small_types(i1[::1], i1[::1])
# kernel constants_fit_small_types_i1c1_i1c1
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
#   %7 = const i8 100
#   %8 = const i8 2
#   %9 = const i8 -7
#   %10 = convert i32 %2
#   %11 = mul.nowrap i32 %4, %5
#   %12 = add.nowrap i32 %11, %6
#   %13 = cmp.lt bool %12, %10
#   branch %13, b1, b2
# b1:
#   %14 = addr ptr %1, %12, 1
#   %15 = load.invariant i8 %14
#   %16 = add i8 %15, %7
#   %17 = mul i8 %16, %8
#   %18 = add i8 %17, %9
#   %19 = addr ptr %3, %12, 1
#   store %19, %18
#   jump b2
# b2:
#   ret
# <<<
