"""A function that calls itself: one body, a stack in the thread's memory, comparisons that lead back."""

import gpu
import numpy as np


def depth(tree, node):
    if node >= len(tree) or tree[node] < 0:
        return 0
    left = depth(tree, 2 * node + 1)
    return 1 + max(left, depth(tree, 2 * node + 2))


@gpu.jit
def depths(tree, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = depth(tree, i)


ARGS = {"depths": lambda: (1, 12, [np.array([3, 1, 4, -1, 5, 9, 2, 6, 5, 3, 5], np.int32), np.zeros(12, np.int32)])}


# >>> ir depths(i4[::1], i4[::1])
# kernel depths_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "tree" leaf 0 align 16 noalias read
# param i64 shape "tree" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# site "RecursionError" "maximum recursion depth exceeded in depth()"
# site "RecursionError" "maximum recursion depth exceeded in depth()"
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = param i64 3
#   %5 = const i32 16
#   %6 = const i32 4096
#   %7 = const i64 0
#   %8 = const i32 0
#   %9 = const i64 2
#   %10 = const i64 1
#   %11 = const u32 1
#   %12 = const u32 2
#   %13 = const i32 -8
#   %14 = sreg.ctaid.x i32
#   %15 = sreg.ntid.x i32
#   %16 = sreg.tid.x i32
#   %17 = const u32 0
#   %18 = const i32 -16
#   %19 = convert i32 %4
#   %20 = alloca ptrl 4104
#   %21 = mul.nowrap i32 %14, %15
#   %22 = add.nowrap i32 %21, %16
#   %23 = convert i64 %22
#   %24 = cmp.lt bool %22, %19
#   branch %24, b1, b15
# b1:
#   store %20, %17
#   jump b2
# b2:
#   %25 = phi i32 b1:%8, b14:%58
#   %26 = phi i64 b1:%23, b14:%59
#   %27 = cmp.ge bool %26, %2
#   branch %27, b4, b3
# b3:
#   %28 = add i64 %26, %2
#   %29 = cmp.lt bool %26, %7
#   %30 = select i64 %29, %28, %26
#   %31 = addr ptr %1, %30, 4
#   %32 = load.invariant i32 %31
#   %33 = cmp.lt bool %32, %8
#   branch %33, b4, b11
# b4:
#   %34 = phi i64 b2:%7, b3:%7, b9:%49
#   %35 = phi i32 b2:%25, b3:%25, b9:%47
#   %36 = addr ptrl %20, %35, 1
#   %37 = load u32 %36
#   %38 = cmp.eq bool %37, %11
#   branch %38, b5, b8
# b5:
#   %39 = addr ptrl %36, %13, 1
#   %40 = load i64 %39
#   %41 = mul i64 %40, %9
#   %42 = add i64 %41, %9
#   %43 = cmp.gt bool %35, %6
#   branch %43, b6, b7
# b6:
#   raise 1
# b7:
#   store %36, %12
#   store %39, %34
#   jump b14
# b8:
#   %44 = cmp.eq bool %37, %12
#   branch %44, b9, b10
# b9:
#   %45 = addr ptrl %36, %13, 1
#   %46 = load i64 %45
#   %47 = add i32 %35, %18
#   %48 = max i64 %46, %34
#   %49 = add i64 %48, %10
#   jump b4
# b10:
#   %50 = addr ptr %3, %22, 4
#   %51 = convert i32 %34
#   store %50, %51
#   jump b15
# b11:
#   %52 = mul i64 %26, %9
#   %53 = add i64 %52, %10
#   %54 = add i32 %25, %5
#   %55 = cmp.gt bool %54, %6
#   branch %55, b12, b13
# b12:
#   raise 0
# b13:
#   %56 = addr ptrl %20, %54, 1
#   store %56, %11
#   %57 = addr ptrl %56, %13, 1
#   store %57, %26
#   jump b14
# b14:
#   %58 = phi i32 b7:%35, b13:%54
#   %59 = phi i64 b7:%42, b13:%53
#   jump b2
# b15:
#   ret
# <<<
# >>> ptx sm_80 depths(i4[::1], i4[::1])
# ...
# .local .align 16{{.*}}
# ...
# ld.local{{.*}}
# ...
# <<<
