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


@gpu.jit
def torus(a, b):
    """Nothing is divided: a neighbour is one size away at most. The loop begins behind the guard."""
    x, y = gpu.grid(2)
    height, width = a.shape
    if x >= width or y >= height:
        return
    total = 0
    for dy in range(-1, 2):
        total += a[(y + dy) % height, (x - 1) % width] + a[(y + dy) % height, (x + 1) % width]
    b[y, x] = total


@gpu.jit
def farther(a, b):
    """Two sizes away or more, it is divided, without a sign if the distance is below the size."""
    x = gpu.grid(1)
    if x < a.size:
        b[x] = a[(x - 3) % a.size] + 10 * a[(x - 1) % (a.size // 2)] + 100 * a[(x + 70) % a.size]


@gpu.jit
def flat(a, numbers, b):
    """The index y * width + x is below the number of elements, so that it fits as they do."""
    x, y = gpu.grid(2)
    height, width = a.shape
    if x < width and y < height:
        i = y * width + x
        while a[i // width, i % width] > numbers[i]:
            i = numbers[i]
        b[y, x] = i


@gpu.jit
def shares(a, b):
    """A share times blockIdx.x isn't above the size and the number of blocks together."""
    part = (a.size + gpu.gridDim.x - 1) // gpu.gridDim.x
    first = part * gpu.blockIdx.x
    for i in range(first + gpu.threadIdx.x, min(first + part, a.size), gpu.blockDim.x):
        b[i] = a[i] + 1


@gpu.jit
def above(a, b):
    """Two rows above the first there is nothing: what is made of that is below 0."""
    x, y = gpu.grid(2)
    height, width = a.shape
    if x < width and y < height:
        b[y, x] = ((y - 2) * width + x) // 3 + (y - 2) * width // height % height


NUMBERS = np.arange(35, dtype="i4") ** 2 % 23
ARGS = {
    "beside": lambda: ((2, 2), (4, 3), [NUMBERS.reshape(5, 7), np.zeros((5, 7), "i4")]),
    "around": lambda: (3, 16, [NUMBERS, np.zeros(35, "i4")]),
    "torus": lambda: ((2, 2), (4, 3), [NUMBERS.reshape(5, 7), np.zeros((5, 7), "i4")]),
    "farther": lambda: (3, 16, [NUMBERS, np.zeros(35, "i4")]),
    "flat": lambda: ((2, 2), (4, 3), [NUMBERS.reshape(5, 7), np.arange(35, dtype="i4") // 2, np.zeros((5, 7), "i4")]),
    "above": lambda: ((2, 2), (4, 3), [NUMBERS.reshape(5, 7), np.zeros((5, 7), "i4")]),
    "shares": lambda: (4, 8, [NUMBERS, np.zeros(35, "i4")]),
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
#   %14 = truncmod.bypositive.nosign.once i32 %13, %9
#   %15 = addr ptr %3, %14, 4
#   %16 = load.invariant i32 %15
#   %17 = add.nowrap i32 %11, %1
#   %18 = floormod.bypositive.fromminus.once.below i32 %17, %9
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

# >>> ir torus(i4[:, ::1], i4[:, ::1])
# kernel torus_i4c2_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param ptr data "b" leaf 1 align 16 noalias written
# param i64 shape "b" leaf 1 axis 1
# b0:
#   %1 = const i32 2
#   %2 = const i32 1
#   %3 = const i32 -1
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
#   %15 = const i32 0
#   %16 = convert i32 %5
#   %17 = convert i32 %6
#   %18 = convert i32 %8
#   %19 = mul.nowrap i32 %9, %10
#   %20 = add.nowrap i32 %19, %11
#   %21 = mul.nowrap i32 %12, %13
#   %22 = add.nowrap i32 %21, %14
#   %23 = cmp.ge bool %20, %17
#   branch %23, b5, b1
# b1:
#   %24 = cmp.ge bool %22, %16
#   branch %24, b5, b2
# b2:
#   %25 = phi i32 b1:%15, b3:%43
#   %26 = phi i32 b1:%3, b3:%28
#   %27 = cmp.lt bool %26, %1
#   branch %27, b3, b4
# b3:
#   %28 = add.nowrap i32 %26, %2
#   %29 = add.nowrap i32 %22, %26
#   %30 = floormod.bypositive.fromminus.once i32 %29, %16
#   %31 = add.nowrap i32 %20, %3
#   %32 = floormod.bypositive.fromminus.once.below i32 %31, %17
#   %33 = mul.nowrap i32 %30, %17
#   %34 = add.nowrap i32 %33, %32
#   %35 = addr ptr %4, %34, 4
#   %36 = load.invariant i32 %35
#   %37 = add.nowrap i32 %20, %2
#   %38 = truncmod.bypositive.nosign.once i32 %37, %17
#   %39 = add.nowrap i32 %33, %38
#   %40 = addr ptr %4, %39, 4
#   %41 = load.invariant i32 %40
#   %42 = add i32 %36, %41
#   %43 = add i32 %25, %42
#   jump b2
# b4:
#   %44 = mul.nowrap i32 %22, %18
#   %45 = add.nowrap i32 %44, %20
#   %46 = addr ptr %7, %45, 4
#   store %46, %25
#   jump b5
# b5:
#   ret
# <<<

# >>> ir flat(i4[:, ::1], i4[::1], i4[:, ::1])
# kernel flat_i4c2_i4c1_i4c2
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param i64 shape "a" leaf 0 axis 1
# param ptr data "numbers" leaf 1 align 16 noalias read
# param i64 shape "numbers" leaf 1
# param ptr data "b" leaf 2 align 16 noalias written
# param i64 shape "b" leaf 2 axis 1
# b0:
#   %1 = const i32 0
#   %2 = param ptr 0
#   %3 = param i64 1
#   %4 = param i64 2
#   %5 = param ptr 3
#   %6 = param i64 4
#   %7 = param ptr 5
#   %8 = param i64 6
#   %9 = sreg.ctaid.x i32
#   %10 = sreg.ntid.x i32
#   %11 = sreg.tid.x i32
#   %12 = sreg.ctaid.y i32
#   %13 = sreg.ntid.y i32
#   %14 = sreg.tid.y i32
#   %15 = convert i32 %3
#   %16 = convert i32 %4
#   %17 = convert i32 %8
#   %18 = mul.nowrap i32 %9, %10
#   %19 = add.nowrap i32 %18, %11
#   %20 = mul.nowrap i32 %12, %13
#   %21 = add.nowrap i32 %20, %14
#   %22 = cmp.lt bool %19, %16
#   branch %22, b1, b6
# b1:
#   %23 = cmp.lt bool %21, %15
#   branch %23, b2, b6
# b2:
#   %24 = mul.nowrap i32 %21, %16
#   %25 = add.nowrap i32 %24, %19
#   jump b3
# b3:
#   %26 = phi i32 b2:%25, b4:%46
#   %27 = convert i64 %26
#   %28 = floordiv.bypositive i32 %26, %16
#   %29 = convert i64 %28
#   %30 = floormod.bypositive i32 %26, %16
#   %31 = add i64 %29, %3
#   %32 = cmp.lt bool %28, %1
#   %33 = select i64 %32, %31, %29
#   %34 = convert i32 %33
#   %35 = mul.nowrap i32 %34, %16
#   %36 = add.nowrap i32 %35, %30
#   %37 = addr ptr %2, %36, 4
#   %38 = load.invariant i32 %37
#   %39 = add i64 %27, %6
#   %40 = cmp.lt bool %26, %1
#   %41 = select i64 %40, %39, %27
#   %42 = convert i32 %41
#   %43 = addr ptr %5, %42, 4
#   %44 = load.invariant i32 %43
#   %45 = cmp.gt bool %38, %44
#   branch %45, b4, b5
# b4:
#   %46 = load.invariant i32 %43
#   jump b3
# b5:
#   %47 = mul.nowrap i32 %21, %17
#   %48 = add.nowrap i32 %47, %19
#   %49 = addr ptr %7, %48, 4
#   store %49, %26
#   jump b6
# b6:
#   ret
# <<<

# >>> ir shares(i4[::1], i4[::1])
# kernel shares_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "a" leaf 0 align 16 noalias read
# param i64 shape "a" leaf 0
# param ptr data "b" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 -1
#   %2 = param ptr 0
#   %3 = param i64 1
#   %4 = param ptr 2
#   %5 = sreg.nctaid.x i32
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.tid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = const i32 1
#   %10 = convert i32 %3
#   %11 = add.nowrap i32 %10, %5
#   %12 = add.nowrap i32 %11, %1
#   %13 = truncdiv.bypositive.nosign i32 %12, %5
#   %14 = mul.nowrap i32 %13, %6
#   %15 = add.nowrap i32 %14, %7
#   %16 = add.nowrap i32 %14, %13
#   %17 = min i32 %16, %10
#   %18 = convert u32 %17
#   jump b1
# b1:
#   %19 = phi i32 b0:%15, b2:%22
#   %20 = convert u32 %19
#   %21 = cmp.lt bool %20, %18
#   branch %21, b2, b3
# b2:
#   %22 = add.nowrap i32 %19, %8
#   %23 = addr ptr %2, %19, 4
#   %24 = load.invariant i32 %23
#   %25 = add i32 %24, %9
#   %26 = addr ptr %4, %19, 4
#   store %26, %25
#   jump b1
# b3:
#   ret
# <<<

# >>> ptx sm_80 flat(i4[:, ::1], i4[::1], i4[:, ::1])
# ...
# min.u32 {{.*}};
# ...
# <<<
