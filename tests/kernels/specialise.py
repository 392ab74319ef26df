"""Constants fold and decide branches before types are inferred; unused arguments cost nothing."""

import gpu
import numpy as np

DEBUG = False
MODE = "fast"
WEIGHTS = np.array([0.25, 0.5, 0.25], "f4")


@gpu.jit
def fold(out):
    if DEBUG:
        out[0] = undefined_name  # noqa: F821
    elif MODE == "fast":
        out[0] = 40 + 2
    else:
        out[0] = "text"


@gpu.jit
def captured_array(a, out):
    i = gpu.grid(1)
    if 0 < i < a.size - 1:
        total = 0.0
        for k in range(len(WEIGHTS)):
            total += WEIGHTS[k] * a[i + k - 1]
        out[i] = total


@gpu.jit
def only_what_is_used(a, b, out):
    out[0] = b.shape[0]


ARGS = {
    "fold": lambda: (1, 1, [np.zeros(1, "i4")]),
    "captured_array": lambda: (1, 16, [np.arange(10, dtype="f4") ** 2, np.zeros(10, "f4")]),
    "only_what_is_used": lambda: (1, 1, [np.zeros((2, 3)), np.zeros((7, 2)), np.zeros(1, "i8")]),
}
RTOL = {"captured_array": 1e-6}

# >>> ir fold(i4[::1])
# kernel fold_i4c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = const i32 42
#   store %1, %2
#   ret
# <<<
# >>> ir captured_array(f4[::1], f4[::1])
# kernel captured_array_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# data align 16 const "0000803e0000003f0000803e"
# data align 16 const "0000803e0000003f0000803e"
# b0:
#   %1 = const i32 3
#   %2 = const i32 1
#   %3 = const i32 -1
#   %4 = const i32 0
#   %5 = param ptr 0
#   %6 = param i64 1
#   %7 = param ptr 2
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = const f32 0.0
#   %12 = data ptrc 1
#   %13 = convert i32 %6
#   %14 = mul.nowrap i32 %8, %9
#   %15 = add.nowrap i32 %14, %10
#   %16 = cmp.gt bool %15, %4
#   branch %16, b1, b5
# b1:
#   %17 = add.nowrap i32 %13, %3
#   %18 = cmp.lt bool %15, %17
#   branch %18, b2, b5
# b2:
#   %19 = phi f32 b1:%11, b3:%29
#   %20 = phi i32 b1:%4, b3:%22
#   %21 = cmp.lt bool %20, %1
#   branch %21, b3, b4
# b3:
#   %22 = add.nowrap i32 %20, %2
#   %23 = addr ptrc %12, %20, 4
#   %24 = load.invariant f32 %23
#   %25 = add.nowrap i32 %15, %20
#   %26 = add.nowrap i32 %25, %3
#   %27 = addr ptr %5, %26, 4
#   %28 = load.invariant f32 %27
#   %29 = fma f32 %24, %28, %19
#   jump b2
# b4:
#   %30 = addr ptr %7, %15, 4
#   store %30, %19
#   jump b5
# b5:
#   ret
# <<<
# >>> ir only_what_is_used(f8[:, ::1], f8[:, ::1], i8[::1])
# kernel only_what_is_used_f8c2_f8c2_i8c1
# facts size32 align16 noalias
# param i64 shape "b" leaf 1
# param ptr data "out" leaf 2 align 16 noalias written
# b0:
#   %1 = param i64 0
#   %2 = param ptr 1
#   store %2, %1
#   ret
# <<<
# >>> ptx sm_80 fold(i4[::1])
# ...
# {{mov|st}}{{.*}}42;
# ...
# <<<
