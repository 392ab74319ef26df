"""C, Fortran and strided arrays of several dimensions; negative indices; attributes."""

import gpu
import numpy as np


@gpu.jit
def transpose(a, out):
    x, y = gpu.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        out[x, y] = a[y, x]


@gpu.jit
def negative_indices(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        out[-1 - i] = a[i - 2, -1] + a[-i, 0]


@gpu.jit
def attributes(a, out):
    out[0] = a.ndim
    out[1] = a.size
    out[2] = len(a)
    out[3] = a.shape[-1]
    out[4] = a.strides[0]
    out[5] = a.itemsize
    if a.ndim == 3 and a.dtype == np.float32:
        out[6] = a[1, 0, 1] + len(a.shape)
    else:
        out[6] = a.no_such_attribute


@gpu.jit
def rows(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        row = a[i]
        total = 0.0
        for j in range(len(row)):
            total += row[j] + a[i][j]
        out[i] = total


@gpu.jit
def zero_dimensional(a, out):
    out[()] = a[()] + 1


CUBE = np.arange(24, dtype="f4").reshape(2, 3, 4)
ARGS = {
    "transpose": lambda: ((1, 1), (8, 8), [np.arange(15.0).reshape(3, 5), np.zeros((5, 3), order="F")]),
    "negative_indices": lambda: (1, 4, [np.arange(24.0).reshape(4, 6)[:, ::-2], np.zeros(8)[::2]]),
    "attributes": lambda: (1, 1, [CUBE.copy(), np.zeros(7, "i8")]),
    "rows": lambda: (1, 4, [np.arange(12, dtype="f4").reshape(3, 4)[:, ::2], np.zeros(3, "f4")]),
    "zero_dimensional": lambda: (1, 1, [np.array(41), np.array(0)]),
}

# >>> ir transpose(f8[:, ::1], f8[::1, :])
# kernel transpose_f8c2_f8f2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param i64 2
#   %4 = param ptr 3
#   %5 = param i64 4
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = sreg.tid.x i32
#   %9 = sreg.ctaid.y i32
#   %10 = sreg.ntid.y i32
#   %11 = sreg.tid.y i32
#   %12 = convert i32 %2
#   %13 = convert i32 %3
#   %14 = convert i32 %5
#   %15 = mul.nowrap i32 %6, %7
#   %16 = add.nowrap i32 %15, %8
#   %17 = mul.nowrap i32 %9, %10
#   %18 = add.nowrap i32 %17, %11
#   %19 = cmp.lt bool %16, %13
#   branch %19, b1, b3
# b1:
#   %20 = cmp.lt bool %18, %12
#   branch %20, b2, b3
# b2:
#   %21 = mul.nowrap i32 %18, %13
#   %22 = add.nowrap i32 %21, %16
#   %23 = addr ptr %1, %22, 8
#   %24 = load.invariant f64 %23
#   %25 = mul.nowrap i32 %18, %14
#   %26 = add.nowrap i32 %25, %16
#   %27 = addr ptr %4, %26, 8
#   store %27, %24
#   jump b3
# b3:
#   ret
# <<<
# >>> ir negative_indices(f8[:, :], f8[:])
# kernel negative_indices_f8a2_f8a1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param i64 stride "a" leaf 0
# param i64 stride "a" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# param i64 stride "out" leaf 1
# b0:
#   %1 = const i32 -1
#   %2 = const i32 0
#   %3 = const i32 -2
#   %4 = param ptr 0
#   %5 = param i64 1
#   %6 = param i64 2
#   %7 = param i64 3
#   %8 = param i64 4
#   %9 = param ptr 5
#   %10 = param i64 6
#   %11 = param i64 7
#   %12 = sreg.ctaid.x i32
#   %13 = sreg.ntid.x i32
#   %14 = sreg.tid.x i32
#   %15 = convert i32 %5
#   %16 = convert i32 %6
#   %17 = convert i32 %7
#   %18 = convert i32 %8
#   %19 = convert i32 %10
#   %20 = convert i32 %11
#   %21 = mul.nowrap i32 %12, %13
#   %22 = add.nowrap i32 %21, %14
#   %23 = cmp.lt bool %22, %15
#   branch %23, b1, b2
# b1:
#   %24 = add.nowrap i32 %22, %3
#   %25 = convert i64 %24
#   %26 = add i64 %25, %5
#   %27 = cmp.lt bool %24, %2
#   %28 = select i64 %27, %26, %25
#   %29 = convert i32 %28
#   %30 = add.nowrap i32 %16, %1
#   %31 = mul i32 %29, %17
#   %32 = mul i32 %30, %18
#   %33 = add i32 %31, %32
#   %34 = addr ptr %4, %33, 1
#   %35 = load.invariant f64 %34
#   %36 = neg i32 %22
#   %37 = add.nowrap i32 %36, %15
#   %38 = cmp.lt bool %36, %2
#   %39 = select i32 %38, %37, %36
#   %40 = mul.nowrap i32 %39, %17
#   %41 = addr ptr %4, %40, 1
#   %42 = load.invariant f64 %41
#   %43 = add f64 %35, %42
#   %44 = sub.nowrap i32 %1, %22
#   %45 = add.nowrap i32 %44, %19
#   %46 = mul i32 %45, %20
#   %47 = addr ptr %9, %46, 1
#   store %47, %43
#   jump b2
# b2:
#   ret
# <<<
# >>> ir attributes(f4[:, :, ::1], i8[::1])
# kernel attributes_f4c3_i8c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param i64 shape "a" leaf 0 axis 2
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 6
#   %2 = const i32 5
#   %3 = const i32 4
#   %4 = const i32 3
#   %5 = const i32 2
#   %6 = const i32 1
#   %7 = param ptr 0
#   %8 = param i64 1
#   %9 = param i64 2
#   %10 = param i64 3
#   %11 = param ptr 4
#   %12 = const i64 3
#   %13 = const i64 4
#   %14 = const f32 3.0
#   %15 = convert i32 %9
#   %16 = convert i32 %10
#   %17 = mul i64 %8, %9
#   %18 = mul i64 %17, %10
#   store %11, %12
#   %19 = addr ptr %11, %6, 8
#   store %19, %18
#   %20 = addr ptr %11, %5, 8
#   store %20, %8
#   %21 = addr ptr %11, %4, 8
#   store %21, %10
#   %22 = mul i64 %9, %13
#   %23 = mul i64 %22, %10
#   %24 = addr ptr %11, %3, 8
#   store %24, %23
#   %25 = addr ptr %11, %2, 8
#   store %25, %13
#   %26 = mul.nowrap i32 %15, %16
#   %27 = add.nowrap i32 %26, %6
#   %28 = addr ptr %7, %27, 4
#   %29 = load.invariant f32 %28
#   %30 = add f32 %29, %14
#   %31 = addr ptr %11, %1, 8
#   %32 = convert i64 %30
#   store %31, %32
#   ret
# <<<
# >>> ir rows(f4[:, :], f4[::1])
# kernel rows_f4a2_f4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param i64 stride "a" leaf 0
# param i64 stride "a" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param i64 2
#   %6 = param i64 3
#   %7 = param i64 4
#   %8 = param ptr 5
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = const f32 0.0
#   %13 = convert i32 %4
#   %14 = convert i32 %5
#   %15 = convert i32 %6
#   %16 = mul.nowrap i32 %9, %10
#   %17 = add.nowrap i32 %16, %11
#   %18 = cmp.lt bool %17, %13
#   branch %18, b1, b5
# b1:
#   %19 = mul.nowrap i32 %17, %15
#   %20 = addr ptr %3, %19, 1
#   jump b2
# b2:
#   %21 = phi f32 b1:%12, b3:%31
#   %22 = phi i32 b1:%2, b3:%25
#   %23 = convert i64 %22
#   %24 = cmp.lt bool %22, %14
#   branch %24, b3, b4
# b3:
#   %25 = add.nowrap i32 %22, %1
#   %26 = mul i64 %23, %7
#   %27 = addr ptr %20, %26, 1
#   %28 = load.invariant f32 %27
#   %29 = load.invariant f32 %27
#   %30 = add f32 %28, %29
#   %31 = add f32 %21, %30
#   jump b2
# b4:
#   %32 = addr ptr %8, %17, 4
#   store %32, %21
#   jump b5
# b5:
#   ret
# <<<
# >>> ir zero_dimensional(array(int64, 0d, C), array(int64, 0d, C))
# kernel zero_dimensional_i8c0_i8c0
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param ptr 1
#   %3 = const i64 1
#   %4 = load.invariant i64 %1
#   %5 = add i64 %4, %3
#   store %2, %5
#   ret
# <<<
