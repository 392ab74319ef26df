"""print and exceptions with values: numbers go to the host, with what they are part of."""

import gpu
import numpy as np


@gpu.jit
def shows(x, n):
    i = gpu.grid(1)
    if i < len(x):
        print("x", i, x[i], f"{x[i]:.2f} of {n}", (True, None))


@gpu.jit
def refuses(x):
    i = gpu.grid(1)
    assert x[i] < 100, f"{x[i]} at {i}"


ARGS = {
    "shows": lambda: (1, 4, [np.arange(3, dtype="f4"), 7]),
    "refuses": lambda: (1, 4, [np.arange(4, dtype="i4")]),
}

# >>> ir shows(f4[::1], int64)
# kernel shows_f4c1_i8
# facts size32 align16 noalias counts
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param i64 scalar "n" leaf 1
# message "x{}{}{}.2f of {}{}"
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param i64 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const bool true
#   %8 = convert i32 %2
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = convert i64 %10
#   %12 = cmp.lt bool %10, %8
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %10, 4
#   %14 = load.invariant f32 %13
#   %15 = load.invariant f32 %13
#   print 0, %11, %14, %15, %3, %7
#   jump b2
# b2:
#   ret
# <<<
# >>> ptx sm_80 shows(f4[::1], int64)
# ...
# atom.global.add.u64 %rd{{\d+}}, [%rd{{\d+}}], 88;
# ...
# st.global.b64 [%rd{{\d+}}+112], 1;
# fence.acq_rel.sys;
# st.relaxed.sys.global.b32 [%rd{{\d+}}+32], 6;
# ...
# <<<
# >>> ir refuses(i4[::1])
# kernel refuses_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# site "AssertionError" "{} at {}"
# b0:
#   %1 = param ptr 0
#   %2 = sreg.ctaid.x i32
#   %3 = sreg.ntid.x i32
#   %4 = sreg.tid.x i32
#   %5 = const i32 100
#   %6 = mul.nowrap i32 %2, %3
#   %7 = add.nowrap i32 %6, %4
#   %8 = convert i64 %7
#   %9 = addr ptr %1, %7, 4
#   %10 = load.invariant i32 %9
#   %11 = cmp.lt bool %10, %5
#   branch %11, b1, b2
# b1:
#   ret
# b2:
#   %12 = load.invariant i32 %9
#   raise 0, %12, %8
# <<<
