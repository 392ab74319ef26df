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
#   %1 = const i32 2
#   %2 = const i32 3
#   %3 = const i32 0
#   %4 = const i32 1
#   %5 = param ptr 0
#   %6 = param i64 1
#   %7 = param ptr 2
#   %8 = param i64 3
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = const f64 0.0
#   %13 = const f64 0.5
#   %14 = const i64 8
#   %15 = convert i32 %6
#   %16 = convert i32 %8
#   %17 = alloca ptrl 16
#   %18 = alloca ptrl 16
#   %19 = alloca ptrl 16
#   %20 = alloca ptrl 16
#   %21 = alloca ptrl 16
#   %22 = alloca ptrl 16
#   %23 = mul.nowrap i32 %9, %10
#   %24 = add.nowrap i32 %23, %11
#   %25 = convert i64 %24
#   %26 = mul.nowrap i32 %24, %15
#   %27 = addr ptr %5, %26, 8
#   %28 = load.invariant f64 %27
#   %29 = add.nowrap i32 %26, %4
#   %30 = addr ptr %5, %29, 8
#   %31 = load.invariant f64 %30
#   store %19, %28
#   %32 = addr ptrl %19, %4, 8
#   store %32, %31
#   store %20, %12
#   %33 = addr ptrl %20, %4, 8
#   store %33, %12
#   %34 = load f64 %19
#   %35 = addr ptrl %17, %4, 8
#   %36 = load f64 %32
#   %37 = load f64 %20
#   %38 = addr ptrl %18, %4, 8
#   %39 = load f64 %33
#   store %17, %34
#   store %35, %36
#   store %18, %37
#   store %38, %39
#   jump b1
# b1:
#   %40 = phi i32 b0:%3, b2:%42
#   %41 = cmp.lt bool %40, %2
#   branch %41, b2, b3
# b2:
#   %42 = add.nowrap i32 %40, %4
#   %43 = load f64 %17
#   %44 = mul f64 %43, %13
#   %45 = load f64 %35
#   %46 = mul f64 %45, %13
#   store %21, %44
#   %47 = addr ptrl %21, %4, 8
#   store %47, %46
#   %48 = load f64 %18
#   %49 = load f64 %21
#   %50 = sub f64 %48, %49
#   %51 = load f64 %38
#   %52 = load f64 %47
#   %53 = sub f64 %51, %52
#   store %22, %50
#   %54 = addr ptrl %22, %4, 8
#   store %54, %53
#   %55 = load f64 %17
#   %56 = load f64 %22
#   %57 = add f64 %55, %56
#   %58 = load f64 %35
#   %59 = load f64 %54
#   %60 = add f64 %58, %59
#   store %17, %57
#   store %35, %60
#   %61 = load f64 %22
#   %62 = load f64 %54
#   store %18, %61
#   store %38, %62
#   jump b1
# b3:
#   %63 = mul i64 %8, %14
#   %64 = mul i64 %25, %63
#   %65 = addr ptr %7, %64, 1
#   %66 = cmp.eq bool %16, %1
#   branch %66, b4, b6
# b4:
#   %67 = phi i32 b3:%3, b5:%72
#   %68 = cmp.lt bool %67, %16
#   branch %68, b5, b10
# b5:
#   %69 = addr ptrl %17, %67, 8
#   %70 = load f64 %69
#   %71 = addr ptr %65, %67, 8
#   store %71, %70
#   %72 = add.nowrap i32 %67, %4
#   jump b4
# b6:
#   %73 = cmp.ne bool %16, %1
#   branch %73, b7, b8
# b7:
#   raise 0
# b8:
#   %74 = phi i32 b6:%3, b9:%81
#   %75 = convert i64 %74
#   %76 = cmp.lt bool %74, %16
#   branch %76, b9, b10
# b9:
#   %77 = mul i64 %75, %14
#   %78 = addr ptrl %17, %77, 1
#   %79 = load f64 %78
#   %80 = addr ptr %65, %74, 8
#   store %80, %79
#   %81 = add.nowrap i32 %74, %4
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
#   %10 = const i64 8
#   %11 = convert i32 %6
#   %12 = convert i32 %8
#   %13 = alloca ptrl 16
#   %14 = alloca ptrl 16
#   %15 = alloca ptrl 16
#   %16 = alloca ptrl 16
#   store %15, %9
#   %17 = addr ptrl %15, %3, 8
#   store %17, %9
#   %18 = load f64 %15
#   %19 = addr ptrl %13, %3, 8
#   %20 = load f64 %17
#   %21 = load f64 %15
#   %22 = addr ptrl %14, %3, 8
#   %23 = load f64 %17
#   store %13, %18
#   store %19, %20
#   store %14, %21
#   store %22, %23
#   jump b1
# b1:
#   %24 = phi i32 b0:%2, b2:%28
#   %25 = cmp.lt bool %24, %11
#   branch %25, b2, b3
# b2:
#   %26 = addr ptr %5, %24, 8
#   %27 = load.invariant f64 %26
#   %28 = add.nowrap i32 %24, %3
#   %29 = load f64 %14
#   %30 = add f64 %29, %27
#   %31 = load f64 %22
#   %32 = add f64 %31, %27
#   store %16, %30
#   %33 = addr ptrl %16, %3, 8
#   store %33, %32
#   %34 = load f64 %14
#   %35 = load f64 %22
#   %36 = load f64 %16
#   %37 = load f64 %33
#   store %13, %34
#   store %19, %35
#   store %14, %36
#   store %22, %37
#   jump b1
# b3:
#   %38 = min i32 %4, %12
#   %39 = cmp.eq bool %38, %4
#   branch %39, b4, b14
# b4:
#   %40 = phi i32 b3:%2, b5:%45
#   %41 = cmp.lt bool %40, %38
#   branch %41, b5, b6
# b5:
#   %42 = addr ptrl %14, %40, 8
#   %43 = load f64 %42
#   %44 = addr ptr %7, %40, 8
#   store %44, %43
#   %45 = add.nowrap i32 %40, %3
#   jump b4
# b6:
#   %46 = sub.nowrap i32 %12, %38
#   %47 = max i32 %46, %2
#   %48 = mul.nowrap i32 %38, %1
#   %49 = addr ptr %7, %48, 1
#   %50 = cmp.eq bool %47, %4
#   branch %50, b7, b9
# b7:
#   %51 = phi i32 b6:%2, b8:%56
#   %52 = cmp.lt bool %51, %47
#   branch %52, b8, b13
# b8:
#   %53 = addr ptrl %13, %51, 8
#   %54 = load f64 %53
#   %55 = addr ptr %49, %51, 8
#   store %55, %54
#   %56 = add.nowrap i32 %51, %3
#   jump b7
# b9:
#   %57 = cmp.ne bool %47, %4
#   branch %57, b10, b11
# b10:
#   raise 1
# b11:
#   %58 = phi i32 b9:%2, b12:%65
#   %59 = convert i64 %58
#   %60 = cmp.lt bool %58, %47
#   branch %60, b12, b13
# b12:
#   %61 = mul i64 %59, %10
#   %62 = addr ptrl %13, %61, 1
#   %63 = load f64 %62
#   %64 = addr ptr %49, %58, 8
#   store %64, %63
#   %65 = add.nowrap i32 %58, %3
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
#   %11 = const i64 8
#   %12 = convert i32 %7
#   %13 = alloca ptrl 16
#   %14 = alloca ptrl 16
#   store %13, %8
#   %15 = addr ptrl %13, %3, 8
#   store %15, %8
#   store %14, %9
#   %16 = addr ptrl %14, %3, 8
#   store %16, %9
#   %17 = load.invariant f64 %5
#   %18 = cmp.gt bool %17, %9
#   branch %18, b2, b1
# b1:
#   jump b2
# b2:
#   %19 = phi ptrl b0:%13, b1:%14
#   %20 = addr ptrl %19, %3, 8
#   store %20, %10
#   %21 = min i32 %4, %12
#   %22 = cmp.eq bool %21, %4
#   branch %22, b3, b13
# b3:
#   %23 = phi i32 b2:%2, b4:%28
#   %24 = cmp.lt bool %23, %21
#   branch %24, b4, b5
# b4:
#   %25 = addr ptrl %13, %23, 8
#   %26 = load f64 %25
#   %27 = addr ptr %6, %23, 8
#   store %27, %26
#   %28 = add.nowrap i32 %23, %3
#   jump b3
# b5:
#   %29 = sub.nowrap i32 %12, %21
#   %30 = max i32 %29, %2
#   %31 = mul.nowrap i32 %21, %1
#   %32 = addr ptr %6, %31, 1
#   %33 = cmp.eq bool %30, %4
#   branch %33, b6, b8
# b6:
#   %34 = phi i32 b5:%2, b7:%39
#   %35 = cmp.lt bool %34, %30
#   branch %35, b7, b12
# b7:
#   %36 = addr ptrl %14, %34, 8
#   %37 = load f64 %36
#   %38 = addr ptr %32, %34, 8
#   store %38, %37
#   %39 = add.nowrap i32 %34, %3
#   jump b6
# b8:
#   %40 = cmp.ne bool %30, %4
#   branch %40, b9, b10
# b9:
#   raise 1
# b10:
#   %41 = phi i32 b8:%2, b11:%48
#   %42 = convert i64 %41
#   %43 = cmp.lt bool %41, %30
#   branch %43, b11, b12
# b11:
#   %44 = mul i64 %42, %11
#   %45 = addr ptrl %14, %44, 1
#   %46 = load f64 %45
#   %47 = addr ptr %32, %41, 8
#   store %47, %46
#   %48 = add.nowrap i32 %41, %3
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
