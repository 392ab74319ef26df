"""Instances, dicts and unrolled loops leave arithmetic behind, the same on all versions of Python."""

from dataclasses import dataclass

import gpu
import numpy as np


@dataclass
class Line:
    slope: float
    offset: float = 1.0

    def at(self, x):
        return self.slope * x + self.offset


UNITS = {"one": 1.0, "ten": 10.0}


@gpu.jit
def lines(x, out):
    i = gpu.grid(1)
    if i < x.size:
        line = Line(x[i], offset=2.0)
        match line:
            case Line(slope, offset=o):
                out[i] = line.at(3) + slope * o


@gpu.jit
def units(x, out):
    i = gpu.grid(1)
    if i < x.size:
        for name in ("ten", "one"):
            out[i] += x[i] * UNITS[name]


@gpu.jit
def found(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = any(x[k] > x[i] for k in range(i))


ARGS = {
    "lines": lambda: (1, 8, [np.arange(8, dtype="f4"), np.zeros(8, "f4")]),
    "units": lambda: (1, 8, [np.arange(8, dtype="f4"), np.zeros(8, "f4")]),
    "found": lambda: (1, 8, [np.array([1, 5, 2, 8, 3, 9, 9, 0], "f4"), np.zeros(8, "i4")]),
}
# >>> ir lines(f4[::1], f4[::1])
# kernel lines_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const f32 3.0
#   %8 = const f32 2.0
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %1, %11, 4
#   %14 = load.invariant f32 %13
#   %15 = fma f32 %14, %7, %8
#   %16 = fma f32 %14, %8, %15
#   %17 = addr ptr %3, %11, 4
#   store %17, %16
#   jump b2
# b2:
#   ret
# <<<
# >>> ir units(f4[::1], f4[::1])
# kernel units_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written read
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = const f32 10.0
#   %8 = const f32 1.0
#   %9 = convert i32 %2
#   %10 = mul.nowrap i32 %4, %5
#   %11 = add.nowrap i32 %10, %6
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = addr ptr %3, %11, 4
#   %14 = load f32 %13
#   %15 = addr ptr %1, %11, 4
#   %16 = load.invariant f32 %15
#   %17 = fma f32 %16, %7, %14
#   store %13, %17
#   %18 = load f32 %13
#   %19 = load.invariant f32 %15
#   %20 = fma f32 %19, %8, %18
#   store %13, %20
#   jump b2
# b2:
#   ret
# <<<
# >>> ir found(f4[::1], i4[::1])
# kernel found_f4c1_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param i64 shape "x" leaf 0
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 1
#   %2 = const i32 0
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = sreg.tid.x i32
#   %9 = const bool false
#   %10 = convert i32 %4
#   %11 = mul.nowrap i32 %6, %7
#   %12 = add.nowrap i32 %11, %8
#   %13 = cmp.lt bool %12, %10
#   branch %13, b1, b4
# b1:
#   %14 = phi i32 b0:%2, b2:%17
#   %15 = phi bool b0:%9, b2:%22
#   %16 = cmp.lt bool %14, %12
#   branch %16, b2, b3
# b2:
#   %17 = add.nowrap i32 %14, %1
#   %18 = addr ptr %3, %14, 4
#   %19 = load.invariant f32 %18
#   %20 = addr ptr %3, %12, 4
#   %21 = load.invariant f32 %20
#   %22 = cmp.gt bool %19, %21
#   branch %22, b3, b1
# b3:
#   %23 = phi bool b1:%15, b2:%22
#   %24 = addr ptr %5, %12, 4
#   %25 = convert i32 %23
#   store %24, %25
#   jump b4
# b4:
#   ret
# <<<
