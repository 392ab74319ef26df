"""Elements beside each other share an address; the size of what a thread is inside of is a divisor above 0."""

import gpu
import numpy as np


@gpu.jit
def beside(a, b):
    x, y = gpu.grid(2)
    height, width = a.shape
    if 0 < x < width - 1 and y < height:
        b[y, x] = a[y, x + 1] - a[y, x - 1]


@gpu.jit
def around(a, b):
    x = gpu.grid(1)
    if x < a.size:
        b[x] = a[(x + 1) % a.size] - a[(x - 1) % a.size]


@gpu.jit
def guarded(a, b):
    """The divisor of every other thread is 0: nobody divides by it, on a CPU neither."""
    x = gpu.grid(1)
    d = a[x]
    b[x] = 100 // d if d > 0 else -1


NUMBERS = np.arange(35, dtype="i4") ** 2 % 23
ARGS = {
    "beside": lambda: ((2, 2), (4, 3), [NUMBERS.reshape(5, 7), np.zeros((5, 7), "i4")]),
    "around": lambda: (3, 16, [NUMBERS, np.zeros(35, "i4")]),
    "guarded": lambda: (1, 32, [np.arange(32, dtype="i8") % 2 * np.arange(32), np.zeros(32, "i8")]),
}

# >>> ir beside(i4[:, ::1], i4[:, ::1])
# kernel beside_i4c2_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param ptr data "b" leaf 1 align 16 noalias written
# param i64 shape "b" leaf 1 axis 1
# b0:
#   %1 = const i32 -1
#   %2 = const i32 1
#   %3 = const i32 0
#   %4 = param ptr 0
#   %5 = param i64 1
#   %6 = param i64 2
#   %7 = param ptr 3
#   %8 = param i64 4
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = sreg.ctaid.y i32
#   %13 = sreg.ntid.y i32
#   %14 = sreg.tid.y i32
#   %15 = convert i32 %5
#   %16 = convert i32 %6
#   %17 = convert i32 %8
#   %18 = mul.nowrap i32 %9, %10
#   %19 = add.nowrap i32 %18, %11
#   %20 = mul.nowrap i32 %12, %13
#   %21 = add.nowrap i32 %20, %14
#   %22 = cmp.gt bool %19, %3
#   branch %22, b1, b4
# b1:
#   %23 = add.nowrap i32 %16, %1
#   %24 = cmp.lt bool %19, %23
#   branch %24, b2, b4
# b2:
#   %25 = cmp.lt bool %21, %15
#   branch %25, b3, b4
# b3:
#   %26 = mul.nowrap i32 %21, %16
#   %27 = add.nowrap i32 %26, %19
#   %28 = add.nowrap i32 %27, %2
#   %29 = addr ptr %4, %28, 4
#   %30 = load.invariant i32 %29
#   %31 = add.nowrap i32 %27, %1
#   %32 = addr ptr %4, %31, 4
#   %33 = load.invariant i32 %32
#   %34 = sub i32 %30, %33
#   %35 = mul.nowrap i32 %21, %17
#   %36 = add.nowrap i32 %35, %19
#   %37 = addr ptr %7, %36, 4
#   store %37, %34
#   jump b4
# b4:
#   ret
# <<<

# >>> ir around(i4[::1], i4[::1])
# kernel around_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 -1
#   %2 = const i32 1
#   %3 = param ptr 0
#   %4 = param i64 1
#   %5 = param ptr 2
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = sreg.tid.x i32
#   %9 = convert i32 %4
#   %10 = mul.nowrap i32 %6, %7
#   %11 = add.nowrap i32 %10, %8
#   %12 = cmp.lt bool %11, %9
#   branch %12, b1, b2
# b1:
#   %13 = add.nowrap i32 %11, %2
#   %14 = truncmod.bypositive.nosign i32 %13, %9
#   %15 = addr ptr %3, %14, 4
#   %16 = load.invariant i32 %15
#   %17 = add.nowrap i32 %11, %1
#   %18 = floormod.bypositive i32 %17, %9
#   %19 = addr ptr %3, %18, 4
#   %20 = load.invariant i32 %19
#   %21 = sub i32 %16, %20
#   %22 = addr ptr %5, %11, 4
#   store %22, %21
#   jump b2
# b2:
#   ret
# <<<

# >>> ptx sm_80 beside(i4[:, ::1], i4[:, ::1])
# ...
# ld.global.nc.b32 {{%r\d+}}, [{{%rd\d+}}+4];
# ...
# ld.global.nc.b32 {{%r\d+}}, [{{%rd\d+}}+-4];
# ...
# <<<
