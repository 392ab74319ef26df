"""Threads that cooperate: shared memory and barriers, atomics, warps, blocks, groups, and neighbours as one access."""

import gpu
import numpy as np


@gpu.jit
def turned(x):
    """Shared memory; the barrier stands between writing and reading."""
    s = gpu.shared.array(64, np.float32)
    t = gpu.threadIdx.x
    s[t] = x[t]
    gpu.syncthreads()
    x[t] = s[63 - t]


@gpu.jit
def counted(x, bins):
    """Atomics in shared memory at block scope, then in global memory."""
    mine = gpu.shared.array(4, np.int32)
    t = gpu.threadIdx.x
    if t < 4:
        mine[t] = 0
    gpu.syncthreads()
    gpu.atomic.add(mine, x[gpu.grid(1)] & 3, 1, scope="block")
    gpu.syncthreads()
    if t < 4:
        gpu.atomic.add(bins, t, mine[t])


@gpu.jit
def summed(x, o):
    """A butterfly over the lanes of a warp, and a vote."""
    t = gpu.grid(1)
    v = x[t]
    for k in (16, 8, 4, 2, 1):
        v += gpu.shfl_xor_sync(0xFFFFFFFF, v, k)
    o[t] = v + gpu.popc(gpu.ballot_sync(0xFFFFFFFF, x[t] > 3))


@gpu.jit
def over_block(x, o):
    """A reduction of the block by the library; its shared memory is counted with the kernel's."""
    t = gpu.grid(1)
    total = gpu.block.reduce(x[t])
    if gpu.threadIdx.x == 0:
        o[gpu.blockIdx.x] = total


@gpu.jit
def in_tiles(x, o):
    """Tiles of eight lanes, then the whole grid."""
    grid = gpu.cg.this_grid()
    tile = gpu.cg.tiled_partition(gpu.cg.this_thread_block(), 8)
    i = grid.thread_rank()
    x[i] = tile.reduce(x[i], max)
    grid.sync()
    o[i] = x[x.size - 1 - i]


@gpu.jit
def doubled(x, o):
    """Four neighbours at once, where the address allows it."""
    i = 4 * gpu.grid(1)
    a, b, c, d = gpu.load(x, i, width=4)
    gpu.store(o, i, (2 * a, 2 * b, 2 * c, 2 * d))


@gpu.jit
def quick(x, o):
    """The instructions that gpu.fast stands for; the CPU computes the exact functions."""
    i = gpu.grid(1)
    o[i] = gpu.fast.exp2(x[i]) + gpu.fast.rsqrt(x[i])


def some(n):
    return np.arange(n, dtype=np.int32) * 7 % 11


ARGS = {
    "turned": lambda: (1, 64, [np.arange(64, dtype=np.float32)]),
    "counted": lambda: (3, 64, [some(192), np.zeros(4, np.int32)]),
    "summed": lambda: (2, 64, [some(128), np.zeros(128, np.int32)]),
    "over_block": lambda: (3, 48, [some(144), np.zeros(3, np.int32)]),
    "in_tiles": lambda: (2, 32, [some(64), np.zeros(64, np.int32)]),
    "doubled": lambda: (2, 8, [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]),
    "quick": lambda: (1, 32, [np.arange(1, 33, dtype=np.float32), np.zeros(32, np.float32)]),
}
RTOL = {"quick": 1e-6}

# >>> ir turned(f4[::1])
# kernel turned_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias written read
# shared 256 align 4
# b0:
#   %1 = const i32 64
#   %2 = const i32 0
#   %3 = const i32 63
#   %4 = param ptr 0
#   %5 = sreg.tid.x i32
#   %6 = shared ptrs 0
#   %7 = addr ptr %4, %5, 4
#   %8 = load f32 %7
#   %9 = addr ptrs %6, %5, 4
#   store %9, %8
#   barrier
#   %10 = sub.nowrap i32 %3, %5
#   %11 = add.nowrap i32 %10, %1
#   %12 = cmp.lt bool %10, %2
#   %13 = select i32 %12, %11, %10
#   %14 = addr ptrs %6, %13, 4
#   %15 = load f32 %14
#   store %7, %15
#   ret
# <<<
# >>> ptx sm_80 turned(f4[::1])
# ...
# .shared .align 4 .b8 {{\w+}}[256];
# ...
# st.shared.b32 {{.*}}
# ...
# bar{{(rier)?}}.sync{{.*}} 0;
# ...
# ld.shared.b32 {{.*}}
# ...
# <<<
# >>> ir counted(i4[::1], i4[::1])
# kernel counted_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param ptr data "bins" leaf 1 align 16 noalias written read
# shared 16 align 4
# b0:
#   %1 = const i32 4
#   %2 = param ptr 0
#   %3 = param ptr 1
#   %4 = sreg.tid.x i32
#   %5 = const i32 0
#   %6 = sreg.ctaid.x i32
#   %7 = sreg.ntid.x i32
#   %8 = const i32 3
#   %9 = const i32 1
#   %10 = shared ptrs 0
#   %11 = cmp.lt bool %4, %1
#   branch %11, b1, b2
# b1:
#   %12 = addr ptrs %10, %4, 4
#   store %12, %5
#   jump b2
# b2:
#   barrier
#   %13 = mul.nowrap i32 %6, %7
#   %14 = add.nowrap i32 %13, %4
#   %15 = addr ptr %2, %14, 4
#   %16 = load.invariant i32 %15
#   %17 = and i32 %16, %8
#   %18 = addr ptrs %10, %17, 4
#   %19 = atomic.add.block i32 %18, %9
#   barrier
#   branch %11, b3, b4
# b3:
#   %20 = addr ptrs %10, %4, 4
#   %21 = load i32 %20
#   %22 = addr ptr %3, %4, 4
#   %23 = atomic.add i32 %22, %21
#   jump b4
# b4:
#   ret
# <<<
# >>> ptx sm_80 counted(i4[::1], i4[::1])
# ...
# atom{{.*}}.shared.add.{{[us]32}} {{.*}}
# ...
# atom{{.*}}.global.add.{{[us]32}} {{.*}}
# ...
# <<<
# >>> ir summed(i4[::1], i4[::1])
# kernel summed_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param ptr data "o" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 16
#   %2 = const i32 8
#   %3 = const i32 4
#   %4 = const i32 3
#   %5 = const i32 2
#   %6 = const i32 5
#   %7 = const i32 1
#   %8 = const i32 0
#   %9 = param ptr 0
#   %10 = param ptr 1
#   %11 = sreg.ctaid.x i32
#   %12 = sreg.ntid.x i32
#   %13 = sreg.tid.x i32
#   %14 = const u32 4294967295
#   %15 = const i32 32
#   %16 = mul.nowrap i32 %11, %12
#   %17 = add.nowrap i32 %16, %13
#   %18 = addr ptr %9, %17, 4
#   %19 = load.invariant i32 %18
#   jump b1
# b1:
#   %20 = phi i32 b0:%19, b2:%33
#   %21 = phi i32 b0:%8, b2:%31
#   %22 = cmp.lt bool %21, %6
#   branch %22, b2, b3
# b2:
#   %23 = cmp.eq bool %21, %7
#   %24 = select i32 %23, %2, %1
#   %25 = cmp.eq bool %21, %5
#   %26 = select i32 %25, %3, %24
#   %27 = cmp.eq bool %21, %4
#   %28 = select i32 %27, %5, %26
#   %29 = cmp.eq bool %21, %3
#   %30 = select i32 %29, %7, %28
#   %31 = add.nowrap i32 %21, %7
#   %32 = shfl.xor i32 %14, %20, %30, %15
#   %33 = add i32 %20, %32
#   jump b1
# b3:
#   %34 = load.invariant i32 %18
#   %35 = cmp.gt bool %34, %4
#   %36 = vote.ballot u32 %14, %35
#   %37 = popc u32 %36
#   %38 = convert i32 %37
#   %39 = add i32 %20, %38
#   %40 = addr ptr %10, %17, 4
#   store %40, %39
#   ret
# <<<
# >>> ptx sm_80 summed(i4[::1], i4[::1])
# ...
# shfl.sync.bfly.b32 {{.*}}, 16, 31, {{.*}}
# ...
# shfl.sync.bfly.b32 {{.*}}, 1, 31, {{.*}}
# ...
# vote.sync.ballot.b32 {{.*}}
# ...
# <<<
# >>> ir over_block(i4[::1], i4[::1])
# kernel over_block_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param ptr data "o" leaf 1 align 16 noalias written
# shared 128 align 4
# b0:
#   %1 = const i32 0
#   %2 = param ptr 0
#   %3 = param ptr 1
#   %4 = sreg.ctaid.x i32
#   %5 = sreg.ntid.x i32
#   %6 = sreg.tid.x i32
#   %7 = sreg.tid.z i32
#   %8 = sreg.ntid.y i32
#   %9 = sreg.tid.y i32
#   %10 = sreg.ntid.z i32
#   %11 = const i32 5
#   %12 = const i32 32
#   %13 = const i32 31
#   %14 = const u32 4294967295
#   %15 = sreg.laneid i32
#   %16 = const i32 1
#   %17 = const i32 2
#   %18 = const i32 4
#   %19 = const i32 8
#   %20 = const i32 16
#   %21 = mul.nowrap i32 %4, %5
#   %22 = add.nowrap i32 %21, %6
#   %23 = addr ptr %2, %22, 4
#   %24 = load.invariant i32 %23
#   %25 = mul i32 %7, %8
#   %26 = add i32 %25, %9
#   %27 = mul i32 %26, %5
#   %28 = add i32 %27, %6
#   %29 = mul i32 %5, %8
#   %30 = mul i32 %29, %10
#   %31 = shr i32 %28, %11
#   %32 = add i32 %30, %13
#   %33 = shr i32 %32, %11
#   %34 = shl i32 %31, %11
#   %35 = sub i32 %30, %34
#   %36 = min i32 %35, %12
#   %37 = sub i32 %12, %36
#   %38 = convert u32 %37
#   %39 = shr u32 %14, %38
#   %40 = shared ptrs 0
#   %41 = shfl.down i32 %39, %24, %16, %12
#   %42 = add i32 %24, %41
#   %43 = add i32 %15, %16
#   %44 = cmp.lt bool %43, %36
#   %45 = select i32 %44, %42, %24
#   %46 = shfl.down i32 %39, %45, %17, %12
#   %47 = add i32 %45, %46
#   %48 = add i32 %15, %17
#   %49 = cmp.lt bool %48, %36
#   %50 = select i32 %49, %47, %45
#   %51 = shfl.down i32 %39, %50, %18, %12
#   %52 = add i32 %50, %51
#   %53 = add i32 %15, %18
#   %54 = cmp.lt bool %53, %36
#   %55 = select i32 %54, %52, %50
#   %56 = shfl.down i32 %39, %55, %19, %12
#   %57 = add i32 %55, %56
#   %58 = add i32 %15, %19
#   %59 = cmp.lt bool %58, %36
#   %60 = select i32 %59, %57, %55
#   %61 = shfl.down i32 %39, %60, %20, %12
#   %62 = add i32 %60, %61
#   %63 = add i32 %15, %20
#   %64 = cmp.lt bool %63, %36
#   %65 = select i32 %64, %62, %60
#   %66 = cmp.eq bool %15, %1
#   branch %66, b1, b2
# b1:
#   %67 = addr ptrs %40, %31, 4
#   store %67, %65
#   jump b2
# b2:
#   barrier
#   %68 = load i32 %40
#   jump b3
# b3:
#   %69 = phi i32 b2:%16, b4:%75
#   %70 = phi i32 b2:%68, b4:%74
#   %71 = cmp.lt bool %69, %33
#   branch %71, b4, b5
# b4:
#   %72 = addr ptrs %40, %69, 4
#   %73 = load i32 %72
#   %74 = add i32 %70, %73
#   %75 = add i32 %69, %16
#   jump b3
# b5:
#   barrier
#   %76 = cmp.eq bool %6, %1
#   branch %76, b6, b7
# b6:
#   %77 = addr ptr %3, %4, 4
#   store %77, %70
#   jump b7
# b7:
#   ret
# <<<
# >>> ptx sm_80 over_block(i4[::1], i4[::1])
# ...
# shfl.sync.down.b32 {{.*}}
# ...
# <<<
# >>> ir in_tiles(i4[::1], i4[::1])
# kernel in_tiles_i4c1_i4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias written read
# param i64 shape "x" leaf 0
# param ptr data "o" leaf 1 align 16 noalias written
# param i64 shape "o" leaf 1
# b0:
#   %1 = param ptr 0
#   %2 = param i64 1
#   %3 = param ptr 2
#   %4 = param i64 3
#   %5 = sreg.ntid.x i32
#   %6 = sreg.ntid.y i32
#   %7 = sreg.ntid.z i32
#   %8 = sreg.ctaid.z i32
#   %9 = sreg.nctaid.y i32
#   %10 = sreg.ctaid.y i32
#   %11 = sreg.nctaid.x i32
#   %12 = sreg.ctaid.x i32
#   %13 = sreg.tid.z i32
#   %14 = sreg.tid.y i32
#   %15 = sreg.tid.x i32
#   %16 = const i64 0
#   %17 = sreg.laneid i32
#   %18 = const i32 7
#   %19 = const u32 255
#   %20 = const i32 1
#   %21 = const i32 8
#   %22 = const i32 2
#   %23 = const i32 4
#   %24 = const i32 0
#   %25 = const i64 -1
#   %26 = mul i32 %5, %6
#   %27 = mul i32 %26, %7
#   %28 = convert i64 %27
#   %29 = convert i64 %8
#   %30 = convert i64 %9
#   %31 = mul i64 %29, %30
#   %32 = convert i64 %10
#   %33 = add i64 %31, %32
#   %34 = convert i64 %11
#   %35 = mul i64 %33, %34
#   %36 = convert i64 %12
#   %37 = add i64 %35, %36
#   %38 = mul i64 %37, %28
#   %39 = mul i32 %13, %6
#   %40 = add i32 %39, %14
#   %41 = mul i32 %40, %5
#   %42 = add i32 %41, %15
#   %43 = convert i64 %42
#   %44 = add i64 %38, %43
#   %45 = add i64 %44, %2
#   %46 = cmp.lt bool %44, %16
#   %47 = select i64 %46, %45, %44
#   %48 = addr ptr %1, %47, 4
#   %49 = load i32 %48
#   %50 = and i32 %17, %18
#   %51 = sub i32 %17, %50
#   %52 = convert u32 %51
#   %53 = shl u32 %19, %52
#   %54 = shfl.down i32 %53, %49, %20, %21
#   %55 = max i32 %49, %54
#   %56 = shfl.down i32 %53, %55, %22, %21
#   %57 = max i32 %55, %56
#   %58 = shfl.down i32 %53, %57, %23, %21
#   %59 = max i32 %57, %58
#   %60 = shfl.idx i32 %53, %59, %24, %21
#   store %48, %60
#   gridsync
#   %61 = add i64 %2, %25
#   %62 = sub i64 %61, %44
#   %63 = add i64 %62, %2
#   %64 = cmp.lt bool %62, %16
#   %65 = select i64 %64, %63, %62
#   %66 = addr ptr %1, %65, 4
#   %67 = load i32 %66
#   %68 = add i64 %44, %4
#   %69 = select i64 %46, %68, %44
#   %70 = addr ptr %3, %69, 4
#   store %70, %67
#   ret
# <<<
# >>> ptx sm_80 in_tiles(i4[::1], i4[::1])
# ...
# shfl.sync.down.b32 {{.*}}
# ...
# <<<
# >>> ir doubled(f4[::1], f4[::1])
# kernel doubled_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param ptr data "o" leaf 1 align 16 noalias written
# b0:
#   %1 = const i32 3
#   %2 = const i32 2
#   %3 = const i32 1
#   %4 = const i32 4
#   %5 = param ptr 0
#   %6 = param ptr 1
#   %7 = sreg.ctaid.x i32
#   %8 = sreg.ntid.x i32
#   %9 = sreg.tid.x i32
#   %10 = const f32 2.0
#   %11 = mul.nowrap i32 %7, %8
#   %12 = add.nowrap i32 %11, %9
#   %13 = mul.nowrap i32 %12, %4
#   %14 = addr ptr %5, %13, 4
#   %15 = aligned bool %14, 16
#   branch %15, b1, b2
# b1:
#   %16 = load.invariant.align16 f32 %14
#   %17 = addr ptr %14, %3, 4
#   %18 = load.invariant f32 %17
#   %19 = addr ptr %14, %2, 4
#   %20 = load.invariant f32 %19
#   %21 = addr ptr %14, %1, 4
#   %22 = load.invariant f32 %21
#   jump b3
# b2:
#   %23 = load.invariant f32 %14
#   %24 = addr ptr %14, %3, 4
#   %25 = load.invariant f32 %24
#   %26 = addr ptr %14, %2, 4
#   %27 = load.invariant f32 %26
#   %28 = addr ptr %14, %1, 4
#   %29 = load.invariant f32 %28
#   jump b3
# b3:
#   %30 = phi f32 b1:%16, b2:%23
#   %31 = phi f32 b1:%18, b2:%25
#   %32 = phi f32 b1:%20, b2:%27
#   %33 = phi f32 b1:%22, b2:%29
#   %34 = mul f32 %30, %10
#   %35 = mul f32 %31, %10
#   %36 = mul f32 %32, %10
#   %37 = mul f32 %33, %10
#   %38 = addr ptr %6, %13, 4
#   %39 = aligned bool %38, 16
#   branch %39, b4, b5
# b4:
#   store.align16 %38, %34
#   %40 = addr ptr %38, %3, 4
#   store %40, %35
#   %41 = addr ptr %38, %2, 4
#   store %41, %36
#   %42 = addr ptr %38, %1, 4
#   store %42, %37
#   jump b6
# b5:
#   store %38, %34
#   %43 = addr ptr %38, %3, 4
#   store %43, %35
#   %44 = addr ptr %38, %2, 4
#   store %44, %36
#   %45 = addr ptr %38, %1, 4
#   store %45, %37
#   jump b6
# b6:
#   ret
# <<<
# >>> ptx sm_80 doubled(f4[::1], f4[::1])
# ...
# ld.global.nc.v4.b32 {{.*}}
# ...
# st.global.v4.b32 {{.*}}
# ...
# <<<
# >>> ir quick(f4[::1], f4[::1])
# kernel quick_f4c1_f4c1
# facts size32 align16 noalias
# param ptr data "x" leaf 0 align 16 noalias read
# param ptr data "o" leaf 1 align 16 noalias written
# b0:
#   %1 = param ptr 0
#   %2 = param ptr 1
#   %3 = sreg.ctaid.x i32
#   %4 = sreg.ntid.x i32
#   %5 = sreg.tid.x i32
#   %6 = mul.nowrap i32 %3, %4
#   %7 = add.nowrap i32 %6, %5
#   %8 = addr ptr %1, %7, 4
#   %9 = load.invariant f32 %8
#   %10 = approx.exp2 f32 %9
#   %11 = load.invariant f32 %8
#   %12 = approx.rsqrt f32 %11
#   %13 = add f32 %10, %12
#   %14 = addr ptr %2, %7, 4
#   store %14, %13
#   ret
# <<<
# >>> ptx sm_80 quick(f4[::1], f4[::1])
# ...
# ex2.approx.f32 {{.*}}
# ...
# rsqrt.approx.f32 {{.*}}
# ...
# <<<
