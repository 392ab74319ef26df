"""Device functions: plain Python functions and jitted ones, defaults, keywords, several results, closures, lambdas."""

import math

import gpu
import numpy as np

SCALE = 3
OFFSETS = (10, 20.5)


def polar(x, y=1.0, *, squared=False):
    r = x * x + y * y
    if squared:
        return r, x - y
    return math.sqrt(r), x - y


@gpu.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


def make_kernel(factor):
    @gpu.jit
    def scaled(a, out):
        i = gpu.grid(1)
        if i < a.size:
            out[i] = a[i] * factor + OFFSETS[0]

    return scaled


@gpu.jit
def calls(a, out):
    i = gpu.grid(1)
    if i < a.size:
        r, d = polar(a[i])
        s, _ = polar(y=a[i], x=2.0, squared=True)
        out[i, 0] = r
        out[i, 1] = d
        out[i, 2] = s
        out[i, 3] = clamp(a[i], -1, SCALE) + OFFSETS[1]


@gpu.jit
def local_lambda(a, out):
    i = gpu.grid(1)
    shift = a[0]
    f = lambda v, k=2: (v - shift) * k
    if i < a.size:
        out[i] = f(a[i]) + f(a[i], k=i)


def apply(f, x):
    return f(f(x))


def successor(x):
    return x + 1


@gpu.jit
def functions_as_arguments(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = apply(successor, a[i]) + apply(abs, a[i])


scaled = make_kernel(2.5)
A = np.linspace(-2, 5, 8)
ARGS = {
    "calls": lambda: (1, 8, [A.copy(), np.zeros((8, 4))]),
    "scaled": lambda: (1, 8, [A.astype("f4"), np.zeros(8, "f4")]),
    "local_lambda": lambda: (1, 8, [A.copy(), np.zeros(8)]),
    "functions_as_arguments": lambda: (1, 8, [np.arange(-4, 4, dtype="i4"), np.zeros(8, "i4")]),
}
RTOL = {"calls": 1e-15, "scaled": 1e-6}

# >>> ir calls(f8[::1], f8[:, ::1])
# kernel calls_f8c1_f8c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# b0:
#   %1 = const i32 3
#   %2 = const i32 2
#   %3 = const i32 1
#   %4 = param ptr 0
#   %5 = param i64 1
#   %6 = param ptr 2
#   %7 = param i64 3
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = const f64 1.0
#   %12 = const f64 4.0
#   %13 = const f64 -1.0
#   %14 = const f64 3.0
#   %15 = const f64 20.5
#   %16 = convert i32 %5
#   %17 = convert i32 %7
#   %18 = mul.nowrap i32 %8, %9
#   %19 = add.nowrap i32 %18, %10
#   %20 = cmp.lt bool %19, %16
#   branch %20, b1, b2
# b1:
#   %21 = addr ptr %4, %19, 8
#   %22 = load.invariant f64 %21
#   %23 = fma f64 %22, %22, %11
#   %24 = math.sqrt f64 %23
#   %25 = sub f64 %22, %11
#   %26 = load.invariant f64 %21
#   %27 = fma f64 %26, %26, %12
#   %28 = mul.nowrap i32 %19, %17
#   %29 = addr ptr %6, %28, 8
#   store %29, %24
#   %30 = add.nowrap i32 %28, %3
#   %31 = addr ptr %6, %30, 8
#   store %31, %25
#   %32 = add.nowrap i32 %28, %2
#   %33 = addr ptr %6, %32, 8
#   store %33, %27
#   %34 = load.invariant f64 %21
#   %35 = max f64 %34, %13
#   %36 = min f64 %35, %14
#   %37 = add f64 %36, %15
#   %38 = add.nowrap i32 %28, %1
#   %39 = addr ptr %6, %38, 8
#   store %39, %37
#   jump b2
# b2:
#   ret
# <<<
# >>> ir scaled(f4[::1], f4[::1])
# kernel scaled_f4c1_f4c1
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
#   %7 = const f32 2.5
#   %8 = const f32 10.0
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %11, 4
#   %14 = load.invariant f32 %13
#   %15 = fma f32 %14, %7, %8
#   %16 = addr ptr %3, %11, 4
#   store %16, %15
#   jump b2
# b2:
#   ret
# <<<
# >>> ir local_lambda(f8[::1], f8[::1])
# kernel local_lambda_f8c1_f8c1
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
#   %7 = const f64 2.0
#   %8 = convert i32 %2
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = load.invariant f64 %1
#   %12 = cmp.lt bool %10, %8
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %10, 8
#   %14 = load.invariant f64 %13
#   %15 = sub f64 %14, %11
#   %16 = mul f64 %15, %7
#   %17 = load.invariant f64 %13
#   %18 = sub f64 %17, %11
#   %19 = convert f64 %10
#   %20 = mul f64 %18, %19
#   %21 = add f64 %16, %20
#   %22 = addr ptr %3, %10, 8
#   store %22, %21
#   jump b2
# b2:
#   ret
# <<<
# >>> ir functions_as_arguments(i4[::1], i4[::1])
# kernel functions_as_arguments_i4c1_i4c1
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
#   %7 = const i32 2
#   %8 = convert i32 %2
#   %9 = mul.nowrap i32 %4, %5
#   %10 = add.nowrap i32 %9, %6
#   %11 = cmp.lt bool %10, %8
#   branch %11, b1, b2
# b1:
#   %12 = addr ptr %1, %10, 4
#   %13 = load.invariant i32 %12
#   %14 = add i32 %13, %7
#   %15 = load.invariant i32 %12
#   %16 = abs i32 %15
#   %17 = add i32 %14, %16
#   %18 = addr ptr %3, %10, 4
#   store %18, %17
#   jump b2
# b2:
#   ret
# <<<
