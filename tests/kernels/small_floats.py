"""float16 arithmetic rounds after each operation; complex numbers."""

import gpu
import numpy as np


@gpu.jit
def half(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] * b[i] - a[i]
        out[i, 2] = a[i] / b[i]
        out[i, 3] = a[i] * 0.1


@gpu.jit
def complex_numbers(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = -a[i] * 2j
        out[i, 3] = a[i].conjugate()
        out[i, 4] = complex(a[i].imag, b[i].real)
        out[i, 5] = 1 if a[i] == b[i] else 0


H = np.array([0.1, 1.5, -2.25, 1000, 6.1e-5, 3e-7, 65504, -0.0], "f2")
Z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 4j, 0, 1j])
ARGS = {
    "half": lambda: (1, 8, [H.copy(), H[::-1].copy(), np.zeros((8, 4), "f2")]),
    "complex_numbers": lambda: (1, 8, [Z.copy(), Z[::-1].copy(), np.zeros((5, 6), "c16")]),
}

# >>> ir half(f2[::1], f2[::1], f2[:, ::1])
# kernel half_f2c1_f2c1_f2c2
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
#   %12 = const f16 0.1
#   %13 = convert i32 %5
#   %14 = convert i32 %8
#   %15 = mul.nowrap i32 %9, %10
#   %16 = add.nowrap i32 %15, %11
#   %17 = cmp.lt bool %16, %13
#   branch %17, b1, b2
# b1:
#   %18 = addr ptr %4, %16, 2
#   %19 = load.invariant f16 %18
#   %20 = addr ptr %6, %16, 2
#   %21 = load.invariant f16 %20
#   %22 = add f16 %19, %21
#   %23 = mul.nowrap i32 %16, %14
#   %24 = addr ptr %7, %23, 2
#   store %24, %22
#   %25 = load.invariant f16 %18
#   %26 = load.invariant f16 %20
#   %27 = mul f16 %25, %26
#   %28 = load.invariant f16 %18
#   %29 = sub f16 %27, %28
#   %30 = add.nowrap i32 %23, %3
#   %31 = addr ptr %7, %30, 2
#   store %31, %29
#   %32 = load.invariant f16 %18
#   %33 = load.invariant f16 %20
#   %34 = div f16 %32, %33
#   %35 = add.nowrap i32 %23, %2
#   %36 = addr ptr %7, %35, 2
#   store %36, %34
#   %37 = load.invariant f16 %18
#   %38 = mul f16 %37, %12
#   %39 = add.nowrap i32 %23, %1
#   %40 = addr ptr %7, %39, 2
#   store %40, %38
#   jump b2
# b2:
#   ret
# <<<
# >>> ir complex_numbers(c16[::1], c16[::1], c16[:, ::1])
# kernel complex_numbers_c16c1_c16c1_c16c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# param i64 shape "out" leaf 2 axis 1
# b0:
#   %1 = const i32 0
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
#   %15 = const f64 0.0
#   %16 = const f64 2.0
#   %17 = convert i32 %8
#   %18 = convert i32 %11
#   %19 = mul.nowrap i32 %12, %13
#   %20 = add.nowrap i32 %19, %14
#   %21 = cmp.lt bool %20, %17
#   branch %21, b1, b4
# b1:
#   %22 = addr ptr %7, %20, 16
#   %23 = load.invariant f64 %22
#   %24 = addr ptr %22, %6, 8
#   %25 = load.invariant f64 %24
#   %26 = addr ptr %9, %20, 16
#   %27 = load.invariant f64 %26
#   %28 = addr ptr %26, %6, 8
#   %29 = load.invariant f64 %28
#   %30 = add f64 %23, %27
#   %31 = add f64 %25, %29
#   %32 = mul.nowrap i32 %20, %18
#   %33 = addr ptr %10, %32, 16
#   store %33, %30
#   %34 = addr ptr %33, %6, 8
#   store %34, %31
#   %35 = load.invariant f64 %22
#   %36 = load.invariant f64 %24
#   %37 = load.invariant f64 %26
#   %38 = load.invariant f64 %28
#   %39 = sub f64 %35, %37
#   %40 = sub f64 %36, %38
#   %41 = add.nowrap i32 %32, %6
#   %42 = addr ptr %10, %41, 16
#   store %42, %39
#   %43 = addr ptr %42, %6, 8
#   store %43, %40
#   %44 = load.invariant f64 %22
#   %45 = load.invariant f64 %24
#   %46 = neg f64 %44
#   %47 = neg f64 %45
#   %48 = mul f64 %46, %15
#   %49 = mul f64 %47, %16
#   %50 = sub f64 %48, %49
#   %51 = mul f64 %46, %16
#   %52 = mul f64 %47, %15
#   %53 = add f64 %51, %52
#   %54 = add.nowrap i32 %32, %5
#   %55 = addr ptr %10, %54, 16
#   store %55, %50
#   %56 = addr ptr %55, %6, 8
#   store %56, %53
#   %57 = load.invariant f64 %22
#   %58 = load.invariant f64 %24
#   %59 = neg f64 %58
#   %60 = add.nowrap i32 %32, %4
#   %61 = addr ptr %10, %60, 16
#   store %61, %57
#   %62 = addr ptr %61, %6, 8
#   store %62, %59
#   %63 = load.invariant f64 %24
#   %64 = load.invariant f64 %26
#   %65 = add.nowrap i32 %32, %3
#   %66 = addr ptr %10, %65, 16
#   store %66, %63
#   %67 = addr ptr %66, %6, 8
#   store %67, %64
#   %68 = load.invariant f64 %22
#   %69 = load.invariant f64 %24
#   %70 = load.invariant f64 %26
#   %71 = load.invariant f64 %28
#   %72 = cmp.eq bool %68, %70
#   %73 = cmp.eq bool %69, %71
#   %74 = and bool %72, %73
#   branch %74, b3, b2
# b2:
#   jump b3
# b3:
#   %75 = phi i32 b1:%6, b2:%1
#   %76 = add.nowrap i32 %32, %2
#   %77 = addr ptr %10, %76, 16
#   %78 = convert f64 %75
#   store %77, %78
#   %79 = addr ptr %77, %6, 8
#   store %79, %15
#   jump b4
# b4:
#   ret
# <<<
