"""Kernels that bench/sass.py compares with sass_kernels.cu: short ones of many kinds, the same text in both dialects.

``make(gpu)`` gives the kernels of the module ``gpu`` or ``gpu.cuda``. Constants have NumPy's types, since in Numba's
rules a literal is int64 or float64. Arguments' types stand in SIGNATURES; the C-contiguous arrays of STRIDED become
strided ones.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

F4, F2, M4, S2 = "f4[::1]", "f4[:, ::1]", "f4[:, :, ::1]", "f4[:, :]"

SIGNATURES = {
    "saxpy32": f"f4, {F4}, {F4}",
    "saxpy64": "f8, f8[::1], f8[::1]",
    "grid_stride": f"f4, {F4}, {F4}",
    "matmul_naive": f"{F2}, {F2}, {F2}",
    "matmul_half": "f2[:, ::1], f2[:, ::1], f4[:, ::1]",
    "transpose": f"{F2}, {F2}",
    "stencil1": f"{F4}, {F4}",
    "stencil2": f"{F2}, {F2}",
    "stencil3": f"{M4}, {M4}",
    "reduce_shared": f"{F4}, {F4}",
    "reduce_shuffle": f"{F4}, {F4}",
    "block_scan": "i4[::1], i4[::1]",
    "mandelbrot32": "i4[:, ::1], i4",
    "n_body": f"{F2}, {F2}, f4",
    "bitonic_step": f"{F4}, i4, i4",
    "fft_stage": f"{F4}, {F4}, {F4}, {F4}, i4",
    "sha256": "u4[:, ::1], u4[:, ::1], u4[::1]",
    "pi32": "u4[::1], i4, u4[::1]",
    "life": "u1[:, ::1], u1[:, ::1]",
    "sobel": f"{F2}, {F2}",
    "softmax": f"{F2}, {F2}",
    "layernorm": f"{F2}, {F4}, {F4}, {F2}",
    "spheres": f"{F2}, {F2}, {F4}",
    "hash64": "u8[::1], u8[::1]",
    "gather32": f"{F4}, i4[::1], {F4}",
    "gather64": f"{F4}, i8[::1], {F4}",
    "scatter_add": f"{F4}, i4[::1], {F4}",
    "count": "u1[::1], i4[::1]",
}

# the same with strided arrays of two dimensions
STRIDED = ("matmul_naive", "transpose", "stencil2", "sobel", "softmax")


def make(gpu: ModuleType) -> dict[str, Any]:
    """The kernels of a dialect, by name."""

    @gpu.jit
    def saxpy32(a, x, y):
        i = gpu.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    @gpu.jit
    def saxpy64(a, x, y):
        i = gpu.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    @gpu.jit
    def grid_stride(a, x, y):
        for i in range(gpu.grid(1), x.size, gpu.gridsize(1)):
            y[i] = a * x[i] + y[i]

    @gpu.jit
    def matmul_naive(a, b, c):
        row, column = (
            gpu.blockIdx.y * gpu.blockDim.y + gpu.threadIdx.y,
            gpu.blockIdx.x * gpu.blockDim.x + gpu.threadIdx.x,
        )
        if row < c.shape[0] and column < c.shape[1]:
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, column]
            c[row, column] = total

    @gpu.jit
    def matmul_half(a, b, c):
        left, right = gpu.shared.array((16, 16), np.float16), gpu.shared.array((16, 16), np.float16)
        tx, ty = gpu.threadIdx.x, gpu.threadIdx.y
        x, y = gpu.blockIdx.x * 16 + tx, gpu.blockIdx.y * 16 + ty
        total = np.float32(0)
        for start in range(0, a.shape[1], 16):
            left[ty, tx] = a[y, start + tx]
            right[ty, tx] = b[start + ty, x]
            gpu.syncthreads()
            for k in range(16):
                total += np.float32(left[ty, k]) * np.float32(right[k, tx])
            gpu.syncthreads()
        c[y, x] = total

    @gpu.jit
    def transpose(a, b):
        tile = gpu.shared.array((32, 33), np.float32)
        tx, ty = gpu.threadIdx.x, gpu.threadIdx.y
        x, y = gpu.blockIdx.x * 32 + tx, gpu.blockIdx.y * 32 + ty
        for j in range(0, 32, 8):
            if x < a.shape[1] and y + j < a.shape[0]:
                tile[ty + j, tx] = a[y + j, x]
        gpu.syncthreads()
        x, y = gpu.blockIdx.y * 32 + tx, gpu.blockIdx.x * 32 + ty
        for j in range(0, 32, 8):
            if x < b.shape[1] and y + j < b.shape[0]:
                b[y + j, x] = tile[tx, ty + j]

    @gpu.jit
    def stencil1(x, y):
        part = gpu.shared.array(256 + 6, np.float32)
        i, t = gpu.grid(1), gpu.threadIdx.x
        n = x.size
        part[t + 3] = x[i] if i < n else np.float32(0)
        if t < 3:
            part[t] = x[i - 3] if i >= 3 else np.float32(0)
            part[t + 259] = x[i + 256] if i + 256 < n else np.float32(0)
        gpu.syncthreads()
        total = np.float32(0)
        for k in range(7):
            total += part[t + k]
        if i < n:
            y[i] = total

    @gpu.jit
    def stencil2(a, b):
        x, y = gpu.grid(2)
        height, width = a.shape
        if 0 < x < width - 1 and 0 < y < height - 1:
            b[y, x] = np.float32(0.25) * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])

    @gpu.jit
    def stencil3(a, b):
        x, y, z = gpu.grid(3)
        depth, height, width = a.shape
        if 0 < x < width - 1 and 0 < y < height - 1 and 0 < z < depth - 1:
            b[z, y, x] = a[z, y, x] + np.float32(0.1) * (
                a[z - 1, y, x] + a[z + 1, y, x] + a[z, y - 1, x] + a[z, y + 1, x] + a[z, y, x - 1] + a[z, y, x + 1]
                - np.float32(6) * a[z, y, x]
            )  # fmt: skip

    @gpu.jit
    def reduce_shared(x, out):
        part = gpu.shared.array(256, np.float32)
        i, t = gpu.grid(1), gpu.threadIdx.x
        part[t] = x[i] if i < x.size else np.float32(0)
        gpu.syncthreads()
        half = 128
        while half > 0:
            if t < half:
                part[t] += part[t + half]
            gpu.syncthreads()
            half //= 2
        if t == 0:
            out[gpu.blockIdx.x] = part[0]

    @gpu.jit
    def reduce_shuffle(x, out):
        parts = gpu.shared.array(32, np.float32)
        t = gpu.threadIdx.x
        total = np.float32(0)
        for i in range(gpu.grid(1), x.size, gpu.gridsize(1)):
            total += x[i]
        for k in (16, 8, 4, 2, 1):
            total += gpu.shfl_down_sync(0xFFFFFFFF, total, k)
        if t % 32 == 0:
            parts[t // 32] = total
        gpu.syncthreads()
        if t < 32:
            total = parts[t] if t < gpu.blockDim.x // 32 else np.float32(0)
            for k in (16, 8, 4, 2, 1):
                total += gpu.shfl_down_sync(0xFFFFFFFF, total, k)
            if t == 0:
                gpu.atomic.add(out, 0, total)

    @gpu.jit
    def block_scan(x, y):
        part = gpu.shared.array(256, np.int32)
        i, t = gpu.grid(1), gpu.threadIdx.x
        part[t] = x[i] if i < x.size else np.int32(0)
        step = 1
        while step < 256:
            gpu.syncthreads()
            before = part[t - step] if t >= step else np.int32(0)
            gpu.syncthreads()
            part[t] += before
            step *= 2
        if i < x.size:
            y[i] = part[t]

    @gpu.jit
    def mandelbrot32(out, most):
        x, y = gpu.grid(2)
        height, width = out.shape
        if x < width and y < height:
            cr = np.float32(-2) + np.float32(x) * (np.float32(3) / np.float32(width))
            ci = np.float32(-1) + np.float32(y) * (np.float32(2) / np.float32(height))
            zr, zi, n = np.float32(0), np.float32(0), 0
            while n < most and zr * zr + zi * zi <= np.float32(4):
                zr, zi = zr * zr - zi * zi + cr, np.float32(2) * zr * zi + ci
                n += 1
            out[y, x] = n

    @gpu.jit
    def n_body(bodies, pull, soft):
        i = gpu.grid(1)
        n = bodies.shape[0]
        if i >= n:
            return
        x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
        ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
        for j in range(n):
            dx, dy, dz = bodies[j, 0] - x, bodies[j, 1] - y, bodies[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + soft
            inverse = np.float32(1) / math.sqrt(square)
            force = bodies[j, 3] * inverse * inverse * inverse
            ax += dx * force
            ay += dy * force
            az += dz * force
        pull[i, 0], pull[i, 1], pull[i, 2] = ax, ay, az

    @gpu.jit
    def bitonic_step(x, distance, run):
        i = gpu.grid(1)
        partner = i ^ distance
        if partner > i:
            a, b = x[i], x[partner]
            if (i & run == 0) == (a > b):
                x[i] = b
                x[partner] = a

    @gpu.jit
    def fft_stage(re, im, to_re, to_im, size):
        t = gpu.grid(1)
        half = re.size // 2
        if t < half:
            k = t % size
            angle = np.float32(-math.pi) * np.float32(k) / np.float32(size)
            c, s = math.cos(angle), math.sin(angle)
            ar, ai, br, bi = re[t], im[t], re[t + half], im[t + half]
            r, i = c * br - s * bi, c * bi + s * br
            to = 2 * t - k
            to_re[to], to_im[to] = ar + r, ai + i
            to_re[to + size], to_im[to + size] = ar - r, ai - i

    @gpu.jit(device=True)
    def rotate(x, n):
        return x >> np.uint32(n) | x << np.uint32(32 - n)

    @gpu.jit
    def sha256(messages, digests, constants):
        i = gpu.grid(1)
        if i >= messages.shape[0]:
            return
        w = gpu.local.array(64, np.uint32)
        for k in range(16):
            w[k] = messages[i, k]
        for k in range(16, 64):
            s0 = rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> np.uint32(3)
            s1 = rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> np.uint32(10)
            w[k] = w[k - 16] + s0 + w[k - 7] + s1
        a, b, c, d = digests[i, 0], digests[i, 1], digests[i, 2], digests[i, 3]
        e, f, g, h = digests[i, 4], digests[i, 5], digests[i, 6], digests[i, 7]
        for k in range(64):
            s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            t1 = np.uint32(h + s1 + (e & f ^ ~e & g) + constants[k] + w[k])
            s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            t2 = np.uint32(s0 + (a & b ^ a & c ^ b & c))
            h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + t1), c, b, a, np.uint32(t1 + t2)
        digests[i, 0] += a
        digests[i, 1] += b
        digests[i, 2] += c
        digests[i, 3] += d
        digests[i, 4] += e
        digests[i, 5] += f
        digests[i, 6] += g
        digests[i, 7] += h

    @gpu.jit
    def pi32(states, n, hits):
        i = gpu.grid(1)
        s = states[i]
        inside = np.uint32(0)
        for _ in range(n):
            s ^= s << np.uint32(13)
            s ^= s >> np.uint32(17)
            s ^= s << np.uint32(5)
            x = np.float32(s >> np.uint32(8)) * np.float32(2.0**-24)
            s ^= s << np.uint32(13)
            s ^= s >> np.uint32(17)
            s ^= s << np.uint32(5)
            y = np.float32(s >> np.uint32(8)) * np.float32(2.0**-24)
            if x * x + y * y < np.float32(1):
                inside += np.uint32(1)
        states[i] = s
        gpu.atomic.add(hits, 0, inside)

    @gpu.jit
    def life(now, then):
        x, y = gpu.grid(2)
        height, width = now.shape
        if x >= width or y >= height:
            return
        alive = 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx != 0 or dy != 0:
                    alive += now[(y + dy) % height, (x + dx) % width]
        then[y, x] = alive == 3 or (alive == 2 and now[y, x])

    @gpu.jit
    def sobel(a, out):
        x, y = gpu.grid(2)
        height, width = a.shape
        if 0 < x < width - 1 and 0 < y < height - 1:
            two = np.float32(2)
            gx = (
                a[y - 1, x + 1]
                - a[y - 1, x - 1]
                + two * (a[y, x + 1] - a[y, x - 1])
                + a[y + 1, x + 1]
                - a[y + 1, x - 1]
            )
            gy = (
                a[y + 1, x - 1]
                - a[y - 1, x - 1]
                + two * (a[y + 1, x] - a[y - 1, x])
                + a[y + 1, x + 1]
                - a[y - 1, x + 1]
            )
            out[y, x] = math.sqrt(gx * gx + gy * gy)

    @gpu.jit(device=True)
    def warp_sum(v):
        for k in (16, 8, 4, 2, 1):
            v += gpu.shfl_xor_sync(0xFFFFFFFF, v, k)
        return v

    @gpu.jit(device=True)
    def warp_max(v):
        for k in (16, 8, 4, 2, 1):
            v = max(v, gpu.shfl_xor_sync(0xFFFFFFFF, v, k))
        return v

    @gpu.jit
    def softmax(x, y):
        row, lane = gpu.blockIdx.x, gpu.threadIdx.x
        n = x.shape[1]
        most = np.float32(-math.inf)
        for k in range(lane, n, 32):
            most = max(most, x[row, k])
        most = warp_max(most)
        total = np.float32(0)
        for k in range(lane, n, 32):
            total += math.exp(x[row, k] - most)
        total = warp_sum(total)
        for k in range(lane, n, 32):
            y[row, k] = math.exp(x[row, k] - most) / total

    @gpu.jit
    def layernorm(x, weight, bias, y):
        row, lane = gpu.blockIdx.x, gpu.threadIdx.x
        n = x.shape[1]
        total, squares = np.float32(0), np.float32(0)
        for k in range(lane, n, 32):
            v = x[row, k]
            total += v
            squares += v * v
        mean = warp_sum(total) / np.float32(n)
        scale = np.float32(1) / math.sqrt(warp_sum(squares) / np.float32(n) - mean * mean + np.float32(1e-5))
        for k in range(lane, n, 32):
            y[row, k] = (x[row, k] - mean) * scale * weight[k] + bias[k]

    @gpu.jit
    def spheres(rays, balls, nearest):
        i = gpu.grid(1)
        if i >= rays.shape[0]:
            return
        ox, oy, oz, dx, dy, dz = rays[i, 0], rays[i, 1], rays[i, 2], rays[i, 3], rays[i, 4], rays[i, 5]
        best = np.float32(math.inf)
        for k in range(balls.shape[0]):
            x, y, z = ox - balls[k, 0], oy - balls[k, 1], oz - balls[k, 2]
            b = x * dx + y * dy + z * dz
            c = x * x + y * y + z * z - balls[k, 3] * balls[k, 3]
            inner = b * b - c
            if inner > np.float32(0):
                t = -b - math.sqrt(inner)
                if np.float32(0) < t < best:
                    best = t
        nearest[i] = best

    @gpu.jit
    def hash64(x, out):
        i = gpu.grid(1)
        if i < x.size:
            z = x[i] + np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
            out[i] = z ^ z >> np.uint64(31)

    @gpu.jit
    def gather32(x, index, out):
        i = gpu.grid(1)
        if i < index.size:
            out[i] = x[index[i]]

    @gpu.jit
    def gather64(x, index, out):
        i = gpu.grid(1)
        if i < index.size:
            out[i] = x[index[i]]

    @gpu.jit
    def scatter_add(x, index, out):
        i = gpu.grid(1)
        if i < index.size:
            gpu.atomic.add(out, index[i], x[i])

    @gpu.jit
    def count(x, counts):
        for i in range(gpu.grid(1), x.size, gpu.gridsize(1)):
            gpu.atomic.add(counts, x[i], 1)

    found = dict(locals())
    return {name: found[name] for name in SIGNATURES}
