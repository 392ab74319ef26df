"""for and while with else, break, continue, nested; range with every kind of step."""

import gpu
import numpy as np


@gpu.jit
def for_else(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            if a[i, j] < 0:
                out[i] = j
                break
        else:
            out[i] = -1


@gpu.jit
def while_else(out):
    i = gpu.grid(1)
    n = i
    steps = 0
    while n > 1:
        if steps == 30:
            break
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    else:
        steps += 1000
    if i < out.size:
        out[i] = steps


@gpu.jit
def range_steps(start, stop, step, out):
    n = 0
    total = 0
    last = -99
    for k in range(start, stop, step):
        if k == 7:
            continue
        n += 1
        total += k
        last = k
    out[0] = n
    out[1] = total
    out[2] = last


@gpu.jit
def nested(out):
    i = gpu.grid(1)
    count = 0
    for a in range(i):
        for b in range(a, 2 * i, 3):
            for c in range(5, 0, -1):
                if (a + b) % c == 0:
                    count += 1
                elif c == 2:
                    break
    if i < out.size:
        out[i] = count


@gpu.jit
def assigning_the_loop_variable(out):
    s = 0
    for k in range(6):
        s += k
        k = 100
        s += k
    out[0] = s
    out[1] = k


@gpu.jit
def nearest(points, centres, out):
    i = gpu.grid(1)
    if i < points.size:
        least = np.inf
        best = -1
        for c in range(centres.size):
            distance = abs(points[i] - centres[c])
            if distance < least:
                least = distance
                best = c
        out[i] = best


TABLE = np.array([[1, 2, -3, 4], [1, 2, 3, 4], [-1, 0, 0, 0]], "i4")
ARGS = {
    "for_else": lambda: (1, 8, [TABLE.copy(), np.zeros(3, "i4")]),
    "while_else": lambda: (1, 40, [np.zeros(40, "i8")]),
    "range_steps": lambda: (1, 1, [12, -9, -3, np.zeros(3, "i8")]),
    "nested": lambda: (1, 12, [np.zeros(12, "i8")]),
    "nearest": lambda: (1, 8, [np.arange(8, dtype="f8"), np.array([1.1, 6.4, 2.2]), np.zeros(8, "i4")]),
    "assigning_the_loop_variable": lambda: (1, 1, [np.zeros(2, "i8")]),
}

# >>> ir for_else(i4[:, ::1], i4[::1])
# kernel for_else_i4c2_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param i64 2
#   %6 = param ptr 3
#   %7 = sreg.ctaid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = sreg.tid.x i32
#   %10 = const i32 -1
#   %11 = convert i32 %4
#   %12 = convert i32 %5
#   %13 = mul.nowrap i32 %7, %8
#   %14 = add.nowrap i32 %13, %9
#   %15 = cmp.lt bool %14, %11
#   branch %15, b1, b5
# b1:
#   %16 = phi i32 b0:%2, b2:%18
#   %17 = cmp.lt bool %16, %12
#   branch %17, b2, b4
# b2:
#   %18 = add.nowrap i32 %16, %1
#   %19 = mul.nowrap i32 %14, %12
#   %20 = add.nowrap i32 %19, %16
#   %21 = addr ptr %3, %20, 4
#   %22 = load.invariant i32 %21
#   %23 = cmp.lt bool %22, %2
#   branch %23, b3, b1
# b3:
#   %24 = addr ptr %6, %14, 4
#   store %24, %16
#   jump b5
# b4:
#   %25 = addr ptr %6, %14, 4
#   store %25, %10
#   jump b5
# b5:
#   ret
# <<<
# >>> ir while_else(i8[::1])
# kernel while_else_i8c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# param i64 shape "out" leaf 0
# b0:
#   %1 = const i32 0
#   %2 = param ptr 0
#   %3 = param i64 1
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const i64 0
#   %8 = const i64 1
#   %9 = const i64 30
#   %10 = const i64 2
#   %11 = const i64 3
#   %12 = const i64 1000
#   %13 = convert i32 %3
#   %14 = mul.nowrap i32 %4, %5
#   %15 = add.nowrap i32 %14, %6
#   %16 = convert i64 %15
#   jump b1
# b1:
#   %17 = phi i64 b0:%16, b6:%27
#   %18 = phi i64 b0:%7, b6:%28
#   %19 = cmp.gt bool %17, %8
#   branch %19, b2, b7
# b2:
#   %20 = cmp.eq bool %18, %9
#   branch %20, b8, b3
# b3:
#   %21 = truncmod i64 %17, %10
#   %22 = convert i32 %21
#   %23 = cmp.eq bool %22, %1
#   branch %23, b4, b5
# b4:
#   %24 = truncdiv i64 %17, %10
#   jump b6
# b5:
#   %25 = mul i64 %17, %11
#   %26 = add i64 %25, %8
#   jump b6
# b6:
#   %27 = phi i64 b4:%24, b5:%26
#   %28 = add i64 %18, %8
#   jump b1
# b7:
#   %29 = add i64 %18, %12
#   jump b8
# b8:
#   %30 = phi i64 b2:%18, b7:%29
#   %31 = cmp.lt bool %15, %13
#   branch %31, b9, b10
# b9:
#   %32 = addr ptr %2, %15, 8
#   store %32, %30
#   jump b10
# b10:
#   ret
# <<<
# >>> ir range_steps(int, int, int, i8[::1])
# kernel range_steps_i_i_i_i8c1
# facts size32 align16 noalias counts
# param i64 scalar "start" leaf 0
# param i64 scalar "stop" leaf 1
# param i64 scalar "step" leaf 2
# param ptr data "out" leaf 3 align 16 noalias written
# site "ValueError" "range() arg 3 must not be zero"
# b0:
#   %1 = const i32 2
#   %2 = const i32 1
#   %3 = const i32 7
#   %4 = const i32 0
#   %5 = param i64 0
#   %6 = param i64 1
#   %7 = param i64 2
#   %8 = param ptr 3
#   %9 = const i64 0
#   %10 = const i64 -99
#   %11 = const i64 1
#   %12 = convert u32 %5
#   %13 = convert i32 %7
#   %14 = convert u32 %7
#   %15 = cmp.eq bool %13, %4
#   branch %15, b1, b2
# b1:
#   raise 0
# b2:
#   %16 = convert u32 %6
#   jump b3
# b3:
#   %17 = phi i64 b2:%10, b6:%28
#   %18 = phi i64 b2:%9, b6:%29
#   %19 = phi i64 b2:%9, b6:%30
#   %20 = phi u32 b2:%12, b6:%24
#   %21 = convert i64 %20
#   %22 = convert i32 %20
#   %23 = cmp.lt bool %20, %16
#   branch %23, b4, b7
# b4:
#   %24 = add.nowrap u32 %20, %14
#   %25 = cmp.eq bool %22, %3
#   branch %25, b6, b5
# b5:
#   %26 = add i64 %18, %11
#   %27 = add i64 %19, %21
#   jump b6
# b6:
#   %28 = phi i64 b4:%17, b5:%21
#   %29 = phi i64 b4:%18, b5:%26
#   %30 = phi i64 b4:%19, b5:%27
#   jump b3
# b7:
#   store %8, %18
#   %31 = addr ptr %8, %2, 8
#   store %31, %19
#   %32 = addr ptr %8, %1, 8
#   store %32, %17
#   ret
# <<<
# >>> ir nested(i8[::1])
# kernel nested_i8c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# param i64 shape "out" leaf 0
# b0:
#   %1 = const i32 2
#   %2 = const i32 -1
#   %3 = const i32 5
#   %4 = const u32 3
#   %5 = const u32 2
#   %6 = const i32 1
#   %7 = const i32 0
#   %8 = param ptr 0
#   %9 = param i64 1
#   %10 = sreg.ctaid.x i32
#   %11 = sreg.ntid.x i32
#   %12 = sreg.tid.x i32
#   %13 = const i64 0
#   %14 = const i64 1
#   %15 = convert i32 %9
#   %16 = mul.nowrap i32 %10, %11
#   %17 = add.nowrap i32 %16, %12
#   %18 = convert u32 %17
#   jump b1
# b1:
#   %19 = phi i64 b0:%13, b3:%26
#   %20 = phi i32 b0:%7, b3:%24
#   %21 = convert i64 %20
#   %22 = convert u32 %20
#   %23 = cmp.lt bool %20, %17
#   branch %23, b2, b11
# b2:
#   %24 = add.nowrap i32 %20, %6
#   %25 = mul.nowrap u32 %18, %5
#   jump b3
# b3:
#   %26 = phi i64 b2:%19, b10:%31
#   %27 = phi u32 b2:%22, b10:%30
#   %28 = convert i64 %27
#   %29 = cmp.lt bool %27, %25
#   branch %29, b4, b1
# b4:
#   %30 = add.nowrap u32 %27, %4
#   jump b5
# b5:
#   %31 = phi i64 b4:%26, b9:%42
#   %32 = phi i32 b4:%3, b9:%35
#   %33 = convert i64 %32
#   %34 = cmp.gt bool %32, %7
#   branch %34, b6, b10
# b6:
#   %35 = add.nowrap i32 %32, %2
#   %36 = add i64 %21, %28
#   %37 = truncmod.bypositive.nosign i64 %36, %33
#   %38 = convert i32 %37
#   %39 = cmp.eq bool %38, %7
#   branch %39, b7, b8
# b7:
#   %40 = add i64 %31, %14
#   jump b9
# b8:
#   %41 = cmp.eq bool %32, %1
#   branch %41, b10, b9
# b9:
#   %42 = phi i64 b7:%40, b8:%31
#   jump b5
# b10:
#   jump b3
# b11:
#   %43 = cmp.lt bool %17, %15
#   branch %43, b12, b13
# b12:
#   %44 = addr ptr %8, %17, 8
#   store %44, %19
#   jump b13
# b13:
#   ret
# <<<
# >>> ir assigning_the_loop_variable(i8[::1])
# kernel assigning_the_loop_variable_i8c1
# facts size32 align16 noalias
# param ptr data "out" leaf 0 align 16 noalias written
# b0:
#   %1 = const i32 6
#   %2 = const i32 1
#   %3 = const i32 0
#   %4 = param ptr 0
#   %5 = const i64 0
#   %6 = const i64 100
#   jump b1
# b1:
#   %7 = phi i64 b0:%5, b2:%13
#   %8 = phi i32 b0:%3, b2:%11
#   %9 = convert i64 %8
#   %10 = cmp.lt bool %8, %1
#   branch %10, b2, b3
# b2:
#   %11 = add.nowrap i32 %8, %2
#   %12 = add i64 %7, %9
#   %13 = add i64 %12, %6
#   jump b1
# b3:
#   store %4, %7
#   %14 = addr ptr %4, %2, 8
#   store %14, %6
#   ret
# <<<
# >>> ptx sm_80 nearest(f8[::1], f8[::1], i4[::1])
# ...
# setp.lt.f64 {{.*}}
# ...
# selp.{{[bf]64}} {{.*}}
# ...
# st.global.b32 {{.*}}
# ...
# <<<
