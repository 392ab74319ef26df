"""The smallest kernel: three contiguous arrays, a guard, no wrap-around checks."""

import gpu
import numpy as np


@gpu.jit
def add(a, b, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


ARGS = {"add": lambda: (4, 64, [np.arange(200, dtype="f4"), np.linspace(0, 1, 200, dtype="f4"), np.zeros(200, "f4")])}

# >>> ir add(f4[::1], f4[::1], f4[::1])
# kernel add_f4c1_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param ptr data "b" leaf 1 align 16 noalias read
# param ptr data "out" leaf 2 align 16 noalias written
# param i64 shape "out" leaf 2
# b0:
#   %1 = param ptr 0
#   %2 = param ptr 1
#   %3 = param ptr 2
#   %4 = param i64 3
#   %5 = sreg.ctaid.x i32
#   %6 = sreg.ntid.x i32
#   %7 = sreg.tid.x i32
#   %8 = convert i32 %4
#   %9 = mul.nowrap i32 %5, %6
#   %10 = add.nowrap i32 %9, %7
#   %11 = cmp.lt bool %10, %8
#   branch %11, b1, b2
# b1:
#   %12 = addr ptr %1, %10, 4
#   %13 = load.invariant f32 %12
#   %14 = addr ptr %2, %10, 4
#   %15 = load.invariant f32 %14
#   %16 = add f32 %13, %15
#   %17 = addr ptr %3, %10, 4
#   store %17, %16
#   jump b2
# b2:
#   ret
# <<<
# >>> ptx sm_80 add(f4[::1], f4[::1], f4[::1])
# .version 7.0
# .target sm_80
# ...
# .visible .entry add{{.*}}
# ...
# ld.global{{(\.nc)?}}.{{[bf]32}} {{.*}}
# ...
# add.{{(rn\.)?}}f32 {{.*}}
# ...
# st.global.{{[bf]32}} {{.*}}
# ...
# <<<
