"""Records: fields at offsets, aligned and packed, columns, whole copies, and records by value."""

import gpu
import numpy as np

PARTICLE = np.dtype([("position", "f4", 3), ("mass", "f8"), ("tag", [("id", "i4"), ("on", "?")])], align=True)
PACKED = np.dtype([("kind", "u1"), ("energy", "f8"), ("count", "i4")])


@gpu.jit
def fields(p, dt):
    i = gpu.grid(1)
    e = p[i]
    e.position[1] += e["mass"] * dt
    if not e.tag.on:
        e.tag.id = i


@gpu.jit
def column(p, out):
    i = gpu.grid(1)
    out[i] = p["position"][i, 2]


@gpu.jit
def packed(p):
    i = gpu.grid(1)
    p[i].energy = p[i].count


@gpu.jit
def copies(p):
    i = gpu.grid(1)
    if i > 0:
        p[i] = p[0]


@gpu.jit
def by_value(p, out):
    i = gpu.grid(1)
    out[i] = p.mass + p.position[2]


def particles() -> np.ndarray:
    p = np.zeros(4, PARTICLE)
    p["position"] = np.arange(12).reshape(4, 3)
    p["mass"] = 2
    p["tag"]["on"] = [1, 0, 1, 0]
    return p


ARGS = {
    "fields": lambda: (1, 4, [particles(), 0.5]),
    "column": lambda: (1, 4, [particles(), np.zeros(4, np.float32)]),
    "packed": lambda: (1, 4, [np.array([(1, 0, 7)] * 4, PACKED)]),
    "copies": lambda: (1, 4, [particles()]),
    "by_value": lambda: (1, 4, [particles()[1], np.zeros(4)]),
}

# >>> ir fields(record(position: float32[3], mass: float64, tag: record(id: int32, on: bool))[::1], float)
# kernel fields_V32c1_f
# facts size32 align16 noalias
# param ptr data "p" leaf 0 align 16 noalias written read
# param f64 scalar "dt" leaf 1
# b0:
#   %1 = const i32 4
#   %2 = const i32 24
#   %3 = const i32 16
#   %4 = const i32 1
#   %5 = param ptr 0
#   %6 = param f64 1
#   %7 = sreg.ctaid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = sreg.tid.x i32
#   %10 = mul.nowrap i32 %7, %8
#   %11 = add.nowrap i32 %10, %9
#   %12 = addr ptr %5, %11, 32
#   %13 = addr ptr %12, %4, 4
#   %14 = load f32 %13
#   %15 = addr ptr %12, %3, 1
#   %16 = load f64 %15
#   %17 = convert f64 %14
#   %18 = fma f64 %16, %6, %17
#   %19 = convert f32 %18
#   store %13, %19
#   %20 = addr ptr %12, %2, 1
#   %21 = addr ptr %20, %1, 1
#   %22 = load bool %21
#   branch %22, b2, b1
# b1:
#   store %20, %11
#   jump b2
# b2:
#   ret
# <<<

# >>> ir column(record(position: float32[3], mass: float64, tag: record(id: int32, on: bool))[::1], f4[::1])
# kernel column_V32c1_f4c1
# facts size32 align16 noalias
# param ptr data "p" leaf 0 align 16 noalias read
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 8
#   %2 = const i32 32
#   %3 = param ptr 0
#   %4 = param ptr 1
#   %5 = sreg.ctaid.x i32
#   %6 = sreg.ntid.x i32
#   %7 = sreg.tid.x i32
#   %8 = mul.nowrap i32 %5, %6
#   %9 = add.nowrap i32 %8, %7
#   %10 = mul.nowrap i32 %9, %2
#   %11 = add.nowrap i32 %10, %1
#   %12 = addr ptr %3, %11, 1
#   %13 = load.invariant f32 %12
#   %14 = addr ptr %4, %9, 4
#   store %14, %13
#   ret
# <<<

# >>> ir packed(record(kind: uint8, energy: float64, count: int32, packed)[::1])
# kernel packed_V13c1
# facts size32 align16 noalias
# param ptr data "p" leaf 0 align 16 noalias written read
# b0:
#   %1 = const i32 1
#   %2 = const i32 9
#   %3 = param ptr 0
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = mul.nowrap i32 %4, %5
#   %8 = add.nowrap i32 %7, %6
#   %9 = addr ptr %3, %8, 13
#   %10 = addr ptr %9, %2, 1
#   %11 = load.unaligned i32 %10
#   %12 = addr ptr %9, %1, 1
#   %13 = convert f64 %11
#   store.unaligned %12, %13
#   ret
# <<<

# >>> ir copies(record(position: float32[3], mass: float64, tag: record(id: int32, on: bool))[::1])
# kernel copies_V32c1
# facts size32 align16 noalias
# param ptr data "p" leaf 0 align 16 noalias written read
# b0:
#   %1 = const i32 24
#   %2 = const i32 16
#   %3 = const i32 8
#   %4 = const i32 0
#   %5 = param ptr 0
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = sreg.tid.x i32
#   %9 = mul.nowrap i32 %6, %7
#   %10 = add.nowrap i32 %9, %8
#   %11 = cmp.gt bool %10, %4
#   branch %11, b1, b2
# b1:
#   %12 = addr ptr %5, %10, 32
#   %13 = load u64 %5
#   %14 = addr ptr %5, %3, 1
#   %15 = load u64 %14
#   %16 = addr ptr %5, %2, 1
#   %17 = load u64 %16
#   %18 = addr ptr %5, %1, 1
#   %19 = load u64 %18
#   store %12, %13
#   %20 = addr ptr %12, %3, 1
#   store %20, %15
#   %21 = addr ptr %12, %2, 1
#   store %21, %17
#   %22 = addr ptr %12, %1, 1
#   store %22, %19
#   jump b2
# b2:
#   ret
# <<<

# >>> ir by_value(record(position: float32[3], mass: float64, tag: record(id: int32, on: bool)), f8[::1])
# kernel by_value_V32_f8c1
# facts size32 align16 noalias
# param u64 record "p" leaf 0
# param u64 record "p" leaf 0 axis 1
# param u64 record "p" leaf 0 axis 2
# param u64 record "p" leaf 0 axis 3
# param ptr data "out" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 2
#   %2 = const i32 24
#   %3 = const i32 16
#   %4 = const i32 8
#   %5 = param u64 0
#   %6 = param u64 1
#   %7 = param u64 2
#   %8 = param u64 3
#   %9 = param ptr 4
#   %10 = sreg.ctaid.x i32
#   %11 = sreg.ntid.x i32
#   %12 = sreg.tid.x i32
#   %13 = alloca ptrl 32
#   store %13, %5
#   %14 = addr ptrl %13, %4, 1
#   store %14, %6
#   %15 = addr ptrl %13, %3, 1
#   store %15, %7
#   %16 = addr ptrl %13, %2, 1
#   store %16, %8
#   %17 = mul.nowrap i32 %10, %11
#   %18 = add.nowrap i32 %17, %12
#   %19 = load f64 %15
#   %20 = addr ptrl %13, %1, 4
#   %21 = load f32 %20
#   %22 = convert f64 %21
#   %23 = add f64 %19, %22
#   %24 = addr ptr %9, %18, 8
#   store %24, %23
#   ret
# <<<

# A float64 at odd addresses is stored byte by byte.
# >>> ptx sm_80 packed(record(kind: uint8, energy: float64, count: int32, packed)[::1])
# ...
# st.global.b8 [%rd{{\d+}}+8], %{{.*}};
# ...
# <<<

# Of a record by value, what is read comes straight from the parameters.
# >>> ptx sm_80 by_value(record(position: float32[3], mass: float64, tag: record(id: int32, on: bool)), f8[::1])
# ...
# ld.param.{{b|u|f}}{{32|64}} {{.*}}
# ...
# <<<
