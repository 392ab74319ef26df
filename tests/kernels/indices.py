"""Thread and block indices in one to three dimensions, grid strides."""

import gpu
import numpy as np


@gpu.jit
def all_parts(out):
    x, y, z = gpu.grid(3)
    w, h, d = gpu.gridsize(3)
    if x < w and y < h and z < d:
        out[z, y, x, 0] = gpu.threadIdx.x + 10 * gpu.threadIdx.y + 100 * gpu.threadIdx.z
        out[z, y, x, 1] = gpu.blockIdx.x + 10 * gpu.blockIdx.y + 100 * gpu.blockIdx.z
        out[z, y, x, 2] = gpu.blockDim.x + 10 * gpu.blockDim.y + 100 * gpu.blockDim.z
        out[z, y, x, 3] = gpu.gridDim.x + 10 * gpu.gridDim.y + 100 * gpu.gridDim.z


@gpu.jit
def grid_stride(a, out):
    for i in range(gpu.grid(1), a.size, gpu.gridsize(1)):
        out[i] = a[i] + 1


@gpu.jit
def lanes(out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = gpu.laneid + gpu.warpsize


ARGS = {
    "all_parts": lambda: ((2, 3, 2), (3, 2, 2), [np.zeros((4, 6, 6, 4), "i4")]),
    "grid_stride": lambda: (2, 4, [np.arange(30, dtype="i4"), np.zeros(30, "i4")]),
    "lanes": lambda: (2, 48, [np.zeros(96, "i4")]),
}

# >>> ir all_parts(i4[:, :, :, ::1])
# kernel all_parts_i4c4
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# param i64 shape "out" leaf 0 axis 1
# param i64 shape "out" leaf 0 axis 2
# param i64 shape "out" leaf 0 axis 3
# b0:
#   %1 = const i32 3
#   %2 = const i32 2
#   %3 = const i32 1
#   %4 = const i32 100
#   %5 = const i32 10
#   %6 = param ptr 0
#   %7 = param i64 1
#   %8 = param i64 2
#   %9 = param i64 3
#   %10 = sreg.ctaid.x i32
#   %11 = sreg.ntid.x i32
#   %12 = sreg.tid.x i32
#   %13 = sreg.ctaid.y i32
#   %14 = sreg.ntid.y i32
#   %15 = sreg.tid.y i32
#   %16 = sreg.ctaid.z i32
#   %17 = sreg.ntid.z i32
#   %18 = sreg.tid.z i32
#   %19 = sreg.nctaid.x i32
#   %20 = sreg.nctaid.y i32
#   %21 = sreg.nctaid.z i32
#   %22 = convert i32 %7
#   %23 = convert i32 %8
#   %24 = convert i32 %9
#   %25 = mul.nowrap i32 %10, %11
#   %26 = add.nowrap i32 %25, %12
#   %27 = mul.nowrap i32 %13, %14
#   %28 = add.nowrap i32 %27, %15
#   %29 = mul.nowrap i32 %16, %17
#   %30 = add.nowrap i32 %29, %18
#   %31 = mul.nowrap i32 %19, %11
#   %32 = mul.nowrap i32 %20, %14
#   %33 = mul.nowrap i32 %21, %17
#   %34 = cmp.lt bool %26, %31
#   branch %34, b1, b4
# b1:
#   %35 = cmp.lt bool %28, %32
#   branch %35, b2, b4
# b2:
#   %36 = cmp.lt bool %30, %33
#   branch %36, b3, b4
# b3:
#   %37 = mul.nowrap i32 %15, %5
#   %38 = add.nowrap i32 %12, %37
#   %39 = mul.nowrap i32 %18, %4
#   %40 = add.nowrap i32 %38, %39
#   %41 = mul.nowrap i32 %30, %22
#   %42 = add.nowrap i32 %41, %28
#   %43 = mul.nowrap i32 %42, %23
#   %44 = add.nowrap i32 %43, %26
#   %45 = mul.nowrap i32 %44, %24
#   %46 = addr ptr %6, %45, 4
#   store %46, %40
#   %47 = mul.nowrap i32 %13, %5
#   %48 = add.nowrap i32 %10, %47
#   %49 = mul.nowrap i32 %16, %4
#   %50 = add.nowrap i32 %48, %49
#   %51 = add.nowrap i32 %45, %3
#   %52 = addr ptr %6, %51, 4
#   store %52, %50
#   %53 = mul.nowrap i32 %14, %5
#   %54 = add.nowrap i32 %11, %53
#   %55 = mul.nowrap i32 %17, %4
#   %56 = add.nowrap i32 %54, %55
#   %57 = add.nowrap i32 %45, %2
#   %58 = addr ptr %6, %57, 4
#   store %58, %56
#   %59 = mul.nowrap i32 %20, %5
#   %60 = add.nowrap i32 %19, %59
#   %61 = mul.nowrap i32 %21, %4
#   %62 = add.nowrap i32 %60, %61
#   %63 = add.nowrap i32 %45, %1
#   %64 = addr ptr %6, %63, 4
#   store %64, %62
#   jump b4
# b4:
#   ret
# <<<
# >>> ir grid_stride(i4[::1], i4[::1])
# kernel grid_stride_i4c1_i4c1
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
#   %7 = sreg.nctaid.x i32
#   %8 = const i32 1
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = convert u32 %10
#   %12 = mul.nowrap i32 %7, %5
#   %13 = convert u32 %12
#   %14 = convert u32 %2
#   jump b1
# b1:
#   %15 = phi u32 b0:%11, b2:%18
#   %16 = convert i32 %15
#   %17 = cmp.lt bool %15, %14
#   branch %17, b2, b3
# b2:
#   %18 = add.nowrap u32 %15, %13
#   %19 = addr ptr %1, %16, 4
#   %20 = load.invariant i32 %19
#   %21 = add i32 %20, %8
#   %22 = addr ptr %3, %16, 4
#   store %22, %21
#   jump b1
# b3:
#   ret
# <<<
# >>> ir lanes(i4[::1])
# kernel lanes_i4c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# param i64 shape "out" leaf 0
# b0:
#   %1 = const i32 32
#   %2 = param ptr 0
#   %3 = param i64 1
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = sreg.laneid i32
#   %8 = convert i32 %3
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = cmp.lt bool %10, %8
#   branch %11, b1, b2
# b1:
#   %12 = add.nowrap i32 %7, %1
#   %13 = addr ptr %2, %10, 4
#   store %13, %12
#   jump b2
# b2:
#   ret
# <<<
