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
#   %22 = const i64 10
#   %23 = const i64 100
#   %24 = convert i32 %7
#   %25 = convert i32 %8
#   %26 = convert i32 %9
#   %27 = convert i64 %10
#   %28 = mul.nowrap i32 %10, %11
#   %29 = add.nowrap i32 %28, %12
#   %30 = convert i64 %13
#   %31 = mul.nowrap i32 %13, %14
#   %32 = add.nowrap i32 %31, %15
#   %33 = convert i64 %16
#   %34 = mul.nowrap i32 %16, %17
#   %35 = add.nowrap i32 %34, %18
#   %36 = convert i64 %19
#   %37 = mul.nowrap i32 %19, %11
#   %38 = convert i64 %20
#   %39 = mul.nowrap i32 %20, %14
#   %40 = convert i64 %21
#   %41 = mul.nowrap i32 %21, %17
#   %42 = cmp.lt bool %29, %37
#   branch %42, b1, b4
# b1:
#   %43 = cmp.lt bool %32, %39
#   branch %43, b2, b4
# b2:
#   %44 = cmp.lt bool %35, %41
#   branch %44, b3, b4
# b3:
#   %45 = mul.nowrap i32 %15, %5
#   %46 = add.nowrap i32 %12, %45
#   %47 = mul.nowrap i32 %18, %4
#   %48 = add.nowrap i32 %46, %47
#   %49 = mul.nowrap i32 %35, %24
#   %50 = add.nowrap i32 %49, %32
#   %51 = mul.nowrap i32 %50, %25
#   %52 = add.nowrap i32 %51, %29
#   %53 = mul.nowrap i32 %52, %26
#   %54 = addr ptr %6, %53, 4
#   store %54, %48
#   %55 = mul i64 %30, %22
#   %56 = add i64 %27, %55
#   %57 = mul i64 %33, %23
#   %58 = add i64 %56, %57
#   %59 = add.nowrap i32 %53, %3
#   %60 = addr ptr %6, %59, 4
#   %61 = convert i32 %58
#   store %60, %61
#   %62 = mul.nowrap i32 %14, %5
#   %63 = add.nowrap i32 %11, %62
#   %64 = mul.nowrap i32 %17, %4
#   %65 = add.nowrap i32 %63, %64
#   %66 = add.nowrap i32 %53, %2
#   %67 = addr ptr %6, %66, 4
#   store %67, %65
#   %68 = mul i64 %38, %22
#   %69 = add i64 %36, %68
#   %70 = mul i64 %40, %23
#   %71 = add i64 %69, %70
#   %72 = add.nowrap i32 %53, %1
#   %73 = addr ptr %6, %72, 4
#   %74 = convert i32 %71
#   store %73, %74
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
#   %9 = convert i32 %2
#   %10 = convert i64 %4
#   %11 = convert i64 %5
#   %12 = mul i64 %10, %11
#   %13 = convert i64 %6
#   %14 = add i64 %12, %13
#   %15 = mul.nowrap i32 %7, %5
#   %16 = convert i64 %15
#   %17 = convert u64 %9
#   jump b1
# b1:
#   %18 = phi i64 b0:%14, b2:%22
#   %19 = convert i32 %18
#   %20 = convert u64 %18
#   %21 = cmp.lt bool %20, %17
#   branch %21, b2, b3
# b2:
#   %22 = add i64 %18, %16
#   %23 = addr ptr %1, %19, 4
#   %24 = load.invariant i32 %23
#   %25 = add i32 %24, %8
#   %26 = addr ptr %3, %19, 4
#   store %26, %25
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
