"""Slices as targets, small arrays of the thread's own in loops and branches, sums over arrays."""

import gpu
import numpy as np


@gpu.jit
def scaled_row(a, b, c):
    i = gpu.grid(1)
    a[i, :] = b[i, :] * 2 + c


@gpu.jit
def steps(p, out):
    i = gpu.grid(1)
    at = np.array([p[i, 0], p[i, 1]])
    speed = np.zeros(2)
    for _ in range(3):
        speed = speed - at * 0.5
        at += speed
    out[i, :] = at


@gpu.jit
def shifted(a):
    a[1:] = a[:-1]


@gpu.jit
def kept(a, out):
    v = np.zeros(2)
    old = v
    for x in a:
        old = v
        v = v + x
    out[:2] = v
    out[2:] = old


@gpu.jit
def one_of_two(a, out):
    v = np.zeros(2)
    w = np.ones(2)
    chosen = v if a[0] > 1 else w
    chosen[1] = 7
    out[:2] = v
    out[2:] = w


@gpu.jit
def products(m, out):
    r = np.array([[0.0, 1.0], [-1.0, 0.0]])
    k = r @ r + np.eye(2)
    out[0] = k.sum() + np.linalg.norm(k[0]) + m.sum() + m[:, 0].max()
    out[1] = np.argmax(m[1])
    out[2:4] = k[0]


ARGS = {
    "scaled_row": lambda: (1, 4, [np.zeros((4, 5), np.float32), np.arange(20, dtype=np.float32).reshape(4, 5), 3.0]),
    "steps": lambda: (1, 4, [np.arange(8.0).reshape(4, 2), np.zeros((4, 2))]),
    "shifted": lambda: (1, 1, [np.arange(70, dtype=np.int16)]),
    "kept": lambda: (1, 1, [np.arange(5.0), np.zeros(4)]),
    "one_of_two": lambda: (1, 1, [np.arange(5.0), np.zeros(4)]),
    "products": lambda: (1, 1, [np.arange(12.0).reshape(3, 4), np.zeros(4)]),
}

# >>> ir scaled_row(f4[:, ::1], f4[:, ::1], float)
# kernel scaled_row_f4c2_f4c2_f
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias written
# param i64 shape "a" leaf 0 axis 1
# param ptr data "b" leaf 1 align 16 noalias read
# param i64 shape "b" leaf 1 axis 1
# param f64 scalar "c" leaf 2
# site "ValueError" "the shapes of these arrays don't go together"
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = param i64 3
#   %7 = param f64 4
#   %8 = sreg.ctaid.x i32
#   %9 = sreg.ntid.x i32
#   %10 = sreg.tid.x i32
#   %11 = const i64 4
#   %12 = const i64 0
#   %13 = const f32 2.0
#   %14 = convert i32 %4
#   %15 = convert i32 %6
#   %16 = convert i64 %8
#   %17 = convert i64 %9
#   %18 = mul i64 %16, %17
#   %19 = convert i64 %10
#   %20 = add i64 %18, %19
#   %21 = mul i64 %6, %11
#   %22 = mul i64 %20, %21
#   %23 = addr ptr %5, %22, 1
#   %24 = mul i64 %4, %11
#   %25 = mul i64 %20, %24
#   %26 = addr ptr %3, %25, 1
#   %27 = cmp.eq bool %15, %14
#   branch %27, b1, b3
# b1:
#   %28 = phi i32 b0:%2, b2:%35
#   %29 = cmp.lt bool %28, %14
#   branch %29, b2, b8
# b2:
#   %30 = addr ptr %23, %28, 4
#   %31 = load.invariant f32 %30
#   %32 = convert f32 %7
#   %33 = fma f32 %31, %13, %32
#   %34 = addr ptr %26, %28, 4
#   store %34, %33
#   %35 = add.nowrap i32 %28, %1
#   jump b1
# b3:
#   %36 = cmp.ne bool %15, %14
#   %37 = cmp.eq bool %15, %1
#   %38 = cmp.ne bool %15, %1
#   %39 = and bool %36, %38
#   branch %39, b4, b5
# b4:
#   raise 0
# b5:
#   %40 = select i64 %37, %12, %11
#   jump b6
# b6:
#   %41 = phi i32 b5:%2, b7:%50
#   %42 = convert i64 %41
#   %43 = cmp.lt bool %41, %14
#   branch %43, b7, b8
# b7:
#   %44 = mul i64 %42, %40
#   %45 = addr ptr %23, %44, 1
#   %46 = load.invariant f32 %45
#   %47 = convert f32 %7
#   %48 = fma f32 %46, %13, %47
#   %49 = addr ptr %26, %41, 4
#   store %49, %48
#   %50 = add.nowrap i32 %41, %1
#   jump b6
# b8:
#   ret
# <<<
# >>> ir steps(f8[:, ::1], f8[:, ::1])
# kernel steps_f8c2_f8c2
# facts size32 align16 noalias
# param ptr data "p" leaf 0 align 16 noalias read
# param i64 shape "p" leaf 0 axis 1
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1 axis 1
# site "ValueError" "the shapes of these arrays don't go together"
# b0:
#   %1 = const i32 8
#   %2 = const i32 2
#   %3 = const i32 3
#   %4 = const i32 0
#   %5 = const i32 1
#   %6 = param ptr 0
#   %7 = param i64 1
#   %8 = param ptr 2
#   %9 = param i64 3
#   %10 = sreg.ctaid.x i32
#   %11 = sreg.ntid.x i32
#   %12 = sreg.tid.x i32
#   %13 = const f64 0.0
#   %14 = const f64 0.5
#   %15 = const i64 8
#   %16 = convert i32 %7
#   %17 = convert i32 %9
#   %18 = alloca ptrl 16
#   %19 = alloca ptrl 16
#   %20 = alloca ptrl 16
#   %21 = alloca ptrl 16
#   %22 = alloca ptrl 16
#   %23 = alloca ptrl 16
#   %24 = mul.nowrap i32 %10, %11
#   %25 = add.nowrap i32 %24, %12
#   %26 = convert i64 %25
#   %27 = mul.nowrap i32 %25, %16
#   %28 = addr ptr %6, %27, 8
#   %29 = load.invariant f64 %28
#   %30 = add.nowrap i32 %27, %5
#   %31 = addr ptr %6, %30, 8
#   %32 = load.invariant f64 %31
#   store %20, %29
#   %33 = addr ptrl %20, %5, 8
#   store %33, %32
#   store %21, %13
#   %34 = addr ptrl %21, %5, 8
#   store %34, %13
#   %35 = load f64 %20
#   %36 = addr ptrl %18, %5, 8
#   %37 = load f64 %33
#   %38 = load f64 %21
#   %39 = addr ptrl %19, %5, 8
#   %40 = load f64 %34
#   store %18, %35
#   store %36, %37
#   store %19, %38
#   store %39, %40
#   jump b1
# b1:
#   %41 = phi i32 b0:%4, b2:%43
#   %42 = cmp.lt bool %41, %3
#   branch %42, b2, b3
# b2:
#   %43 = add.nowrap i32 %41, %5
#   %44 = load f64 %18
#   %45 = mul f64 %44, %14
#   %46 = load f64 %36
#   %47 = mul f64 %46, %14
#   store %22, %45
#   %48 = addr ptrl %22, %5, 8
#   store %48, %47
#   %49 = load f64 %19
#   %50 = load f64 %22
#   %51 = sub f64 %49, %50
#   %52 = load f64 %39
#   %53 = load f64 %48
#   %54 = sub f64 %52, %53
#   store %23, %51
#   %55 = addr ptrl %23, %5, 8
#   store %55, %54
#   %56 = load f64 %18
#   %57 = load f64 %23
#   %58 = add f64 %56, %57
#   %59 = load f64 %36
#   %60 = load f64 %55
#   %61 = add f64 %59, %60
#   store %18, %58
#   store %36, %61
#   %62 = load f64 %23
#   %63 = load f64 %55
#   store %19, %62
#   store %39, %63
#   jump b1
# b3:
#   %64 = mul i64 %9, %15
#   %65 = mul i64 %26, %64
#   %66 = addr ptr %8, %65, 1
#   %67 = cmp.eq bool %17, %2
#   branch %67, b4, b6
# b4:
#   %68 = phi i32 b3:%4, b5:%73
#   %69 = cmp.lt bool %68, %17
#   branch %69, b5, b10
# b5:
#   %70 = addr ptrl %18, %68, 8
#   %71 = load f64 %70
#   %72 = addr ptr %66, %68, 8
#   store %72, %71
#   %73 = add.nowrap i32 %68, %5
#   jump b4
# b6:
#   %74 = cmp.ne bool %17, %2
#   branch %74, b7, b8
# b7:
#   raise 0
# b8:
#   %75 = phi i32 b6:%4, b9:%81
#   %76 = cmp.lt bool %75, %17
#   branch %76, b9, b10
# b9:
#   %77 = mul.nowrap i32 %75, %1
#   %78 = addr ptrl %18, %77, 1
#   %79 = load f64 %78
#   %80 = addr ptr %66, %75, 8
#   store %80, %79
#   %81 = add.nowrap i32 %75, %5
#   jump b8
# b10:
#   ret
# <<<
# >>> ir kept(f8[::1], f8[::1])
# kernel kept_f8c1_f8c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# site "ValueError" "the shapes of these arrays don't go together"
# site "ValueError" "the shapes of these arrays don't go together"
# b0:
#   %1 = const i32 8
#   %2 = const i32 0
#   %3 = const i32 1
#   %4 = const i32 2
#   %5 = param ptr 0
#   %6 = param i64 1
#   %7 = param ptr 2
#   %8 = param i64 3
#   %9 = const f64 0.0
#   %10 = convert i32 %6
#   %11 = convert i32 %8
#   %12 = alloca ptrl 16
#   %13 = alloca ptrl 16
#   %14 = alloca ptrl 16
#   %15 = alloca ptrl 16
#   store %14, %9
#   %16 = addr ptrl %14, %3, 8
#   store %16, %9
#   %17 = load f64 %14
#   %18 = addr ptrl %12, %3, 8
#   %19 = load f64 %16
#   %20 = load f64 %14
#   %21 = addr ptrl %13, %3, 8
#   %22 = load f64 %16
#   store %12, %17
#   store %18, %19
#   store %13, %20
#   store %21, %22
#   jump b1
# b1:
#   %23 = phi i32 b0:%2, b2:%27
#   %24 = cmp.lt bool %23, %10
#   branch %24, b2, b3
# b2:
#   %25 = addr ptr %5, %23, 8
#   %26 = load.invariant f64 %25
#   %27 = add.nowrap i32 %23, %3
#   %28 = load f64 %13
#   %29 = add f64 %28, %26
#   %30 = load f64 %21
#   %31 = add f64 %30, %26
#   store %15, %29
#   %32 = addr ptrl %15, %3, 8
#   store %32, %31
#   %33 = load f64 %13
#   %34 = load f64 %21
#   %35 = load f64 %15
#   %36 = load f64 %32
#   store %12, %33
#   store %18, %34
#   store %13, %35
#   store %21, %36
#   jump b1
# b3:
#   %37 = min i32 %4, %11
#   %38 = cmp.eq bool %37, %4
#   branch %38, b4, b14
# b4:
#   %39 = phi i32 b3:%2, b5:%44
#   %40 = cmp.lt bool %39, %37
#   branch %40, b5, b6
# b5:
#   %41 = addr ptrl %13, %39, 8
#   %42 = load f64 %41
#   %43 = addr ptr %7, %39, 8
#   store %43, %42
#   %44 = add.nowrap i32 %39, %3
#   jump b4
# b6:
#   %45 = sub.nowrap i32 %11, %37
#   %46 = max i32 %45, %2
#   %47 = mul.nowrap i32 %37, %1
#   %48 = addr ptr %7, %47, 1
#   %49 = cmp.eq bool %46, %4
#   branch %49, b7, b9
# b7:
#   %50 = phi i32 b6:%2, b8:%55
#   %51 = cmp.lt bool %50, %46
#   branch %51, b8, b13
# b8:
#   %52 = addr ptrl %12, %50, 8
#   %53 = load f64 %52
#   %54 = addr ptr %48, %50, 8
#   store %54, %53
#   %55 = add.nowrap i32 %50, %3
#   jump b7
# b9:
#   %56 = cmp.ne bool %46, %4
#   branch %56, b10, b11
# b10:
#   raise 1
# b11:
#   %57 = phi i32 b9:%2, b12:%63
#   %58 = cmp.lt bool %57, %46
#   branch %58, b12, b13
# b12:
#   %59 = mul.nowrap i32 %57, %1
#   %60 = addr ptrl %12, %59, 1
#   %61 = load f64 %60
#   %62 = addr ptr %48, %57, 8
#   store %62, %61
#   %63 = add.nowrap i32 %57, %3
#   jump b11
# b13:
#   ret
# b14:
#   raise 0
# <<<
# >>> ir one_of_two(f8[::1], f8[::1])
# kernel one_of_two_f8c1_f8c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param ptr data "out" leaf 1 align 16 noalias written
# param i64 shape "out" leaf 1
# site "ValueError" "the shapes of these arrays don't go together"
# site "ValueError" "the shapes of these arrays don't go together"
# b0:
#   %1 = const i32 8
#   %2 = const i32 0
#   %3 = const i32 1
#   %4 = const i32 2
#   %5 = param ptr 0
#   %6 = param ptr 1
#   %7 = param i64 2
#   %8 = const f64 0.0
#   %9 = const f64 1.0
#   %10 = const f64 7.0
#   %11 = convert i32 %7
#   %12 = alloca ptrl 16
#   %13 = alloca ptrl 16
#   store %12, %8
#   %14 = addr ptrl %12, %3, 8
#   store %14, %8
#   store %13, %9
#   %15 = addr ptrl %13, %3, 8
#   store %15, %9
#   %16 = load.invariant f64 %5
#   %17 = cmp.gt bool %16, %9
#   branch %17, b2, b1
# b1:
#   jump b2
# b2:
#   %18 = phi ptrl b0:%12, b1:%13
#   %19 = addr ptrl %18, %3, 8
#   store %19, %10
#   %20 = min i32 %4, %11
#   %21 = cmp.eq bool %20, %4
#   branch %21, b3, b13
# b3:
#   %22 = phi i32 b2:%2, b4:%27
#   %23 = cmp.lt bool %22, %20
#   branch %23, b4, b5
# b4:
#   %24 = addr ptrl %12, %22, 8
#   %25 = load f64 %24
#   %26 = addr ptr %6, %22, 8
#   store %26, %25
#   %27 = add.nowrap i32 %22, %3
#   jump b3
# b5:
#   %28 = sub.nowrap i32 %11, %20
#   %29 = max i32 %28, %2
#   %30 = mul.nowrap i32 %20, %1
#   %31 = addr ptr %6, %30, 1
#   %32 = cmp.eq bool %29, %4
#   branch %32, b6, b8
# b6:
#   %33 = phi i32 b5:%2, b7:%38
#   %34 = cmp.lt bool %33, %29
#   branch %34, b7, b12
# b7:
#   %35 = addr ptrl %13, %33, 8
#   %36 = load f64 %35
#   %37 = addr ptr %31, %33, 8
#   store %37, %36
#   %38 = add.nowrap i32 %33, %3
#   jump b6
# b8:
#   %39 = cmp.ne bool %29, %4
#   branch %39, b9, b10
# b9:
#   raise 1
# b10:
#   %40 = phi i32 b8:%2, b11:%46
#   %41 = cmp.lt bool %40, %29
#   branch %41, b11, b12
# b11:
#   %42 = mul.nowrap i32 %40, %1
#   %43 = addr ptrl %13, %42, 1
#   %44 = load f64 %43
#   %45 = addr ptr %31, %40, 8
#   store %45, %44
#   %46 = add.nowrap i32 %40, %3
#   jump b10
# b12:
#   ret
# b13:
#   raise 0
# <<<
# >>> ptx sm_90 steps(f8[:, ::1], f8[:, ::1])
# ...
# .visible .entry {{.*}}
# ...
# ld.global{{.*}}
# ...
# mul.rn.f64 {{.*}}
# ...
# sub.rn.f64 {{.*}}
# ...
# st.global.{{.*}}
# ...
# <<<
