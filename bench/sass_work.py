"""More kernels that bench/sass.py compares, with sass_work.cu: what programs of many fields spend their time in.

As sass_kernels.py: ``make(gpu)`` gives the kernels of a dialect, SIGNATURES their arguments' types.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

F4, F2, F3 = "f4[::1]", "f4[:, ::1]", "f4[:, :, ::1]"

SIGNATURES = {
    "conv2d": f"{F2}, {F2}, {F2}",
    "batched": f"{F3}, {F3}, {F3}",
    "lu": f"{F3}",
    "cholesky": f"{F3}, {F3}",
    "jacobi": f"{F2}, {F2}",
    "warp_scan": "i4[::1], i4[::1]",
    "segments": f"{F4}, i4[::1], {F4}",
    "digits": "u4[::1], i4, i4[:, ::1]",
    "bfs": "i4[::1], i4[::1], i4[::1], i4, i4[::1]",
    "kmeans": f"{F2}, {F2}, i4[::1]",
    "distances": f"{F2}, {F2}, {F2}",
    "grey": "u1[:, :, ::1], u1[:, ::1]",
    "resize": f"{F2}, {F2}",
    "dft": f"{F4}, {F4}, {F4}, {F4}",
    "axpy_half": "f4, f2[::1], f2[::1]",
    "powmod": "u8[::1], u8, u8, u8[::1]",
    "philox": "u4[:, ::1], u4, u4",
    "leapfrog": f"{F2}, {F2}, {F2}, f4",
    "ising": "i1[:, ::1], f4[:, ::1], f4, i4",
    "compact": f"{F4}, f4, {F4}, i4[::1]",
}

STRIDED = ("conv2d", "distances")


def make(gpu: ModuleType) -> dict[str, Any]:
    """The kernels of a dialect, by name."""

    @gpu.jit
    def conv2d(image, weights, out):
        x, y = gpu.grid(2)
        height, width = out.shape
        if x < width and y < height:
            total = np.float32(0)
            for i in range(weights.shape[0]):
                for j in range(weights.shape[1]):
                    total += image[y + i, x + j] * weights[i, j]
            out[y, x] = total

    @gpu.jit
    def batched(a, b, c):
        i = gpu.grid(1)
        if i < c.shape[0]:
            for row in range(4):
                for column in range(4):
                    total = np.float32(0)
                    for k in range(4):
                        total += a[i, row, k] * b[i, k, column]
                    c[i, row, column] = total

    @gpu.jit
    def lu(a):
        i = gpu.grid(1)
        if i >= a.shape[0]:
            return
        n = a.shape[1]
        for k in range(n):
            for row in range(k + 1, n):
                factor = a[i, row, k] / a[i, k, k]
                a[i, row, k] = factor
                for column in range(k + 1, n):
                    a[i, row, column] -= factor * a[i, k, column]

    @gpu.jit
    def cholesky(a, out):
        i = gpu.grid(1)
        if i >= a.shape[0]:
            return
        n = a.shape[1]
        for row in range(n):
            for column in range(row + 1):
                total = a[i, row, column]
                for k in range(column):
                    total -= out[i, row, k] * out[i, column, k]
                out[i, row, column] = math.sqrt(total) if row == column else total / out[i, column, column]

    @gpu.jit
    def jacobi(a, b):
        tile = gpu.shared.array((18, 18), np.float32)
        tx, ty = gpu.threadIdx.x + 1, gpu.threadIdx.y + 1
        x, y = gpu.grid(2)
        height, width = a.shape
        if x < width and y < height:
            tile[ty, tx] = a[y, x]
            if tx == 1 and x > 0:
                tile[ty, 0] = a[y, x - 1]
            if tx == 16 and x + 1 < width:
                tile[ty, 17] = a[y, x + 1]
            if ty == 1 and y > 0:
                tile[0, tx] = a[y - 1, x]
            if ty == 16 and y + 1 < height:
                tile[17, tx] = a[y + 1, x]
        gpu.syncthreads()
        if 0 < x < width - 1 and 0 < y < height - 1:
            b[y, x] = np.float32(0.25) * (tile[ty - 1, tx] + tile[ty + 1, tx] + tile[ty, tx - 1] + tile[ty, tx + 1])

    @gpu.jit
    def warp_scan(x, y):
        i, lane = gpu.grid(1), gpu.threadIdx.x % 32
        v = x[i] if i < x.size else np.int32(0)
        for k in (1, 2, 4, 8, 16):
            before = gpu.shfl_up_sync(0xFFFFFFFF, v, k)
            if lane >= k:
                v += before
        if i < x.size:
            y[i] = v

    @gpu.jit
    def segments(x, starts, sums):
        i = gpu.grid(1)
        if i < sums.size:
            total = np.float32(0)
            for k in range(starts[i], starts[i + 1]):
                total += x[k]
            sums[i] = total

    @gpu.jit
    def digits(keys, shift, counts):
        mine = gpu.shared.array(16, np.int32)
        t = gpu.threadIdx.x
        if t < 16:
            mine[t] = 0
        gpu.syncthreads()
        for i in range(gpu.grid(1), keys.size, gpu.gridsize(1)):
            gpu.atomic.add(mine, keys[i] >> np.uint32(shift) & np.uint32(15), 1)
        gpu.syncthreads()
        if t < 16:
            counts[t, gpu.blockIdx.x] = mine[t]

    @gpu.jit
    def bfs(starts, edges, distance, level, changed):
        i = gpu.grid(1)
        if i < distance.size and distance[i] == level:
            for k in range(starts[i], starts[i + 1]):
                to = edges[k]
                if distance[to] < 0:
                    distance[to] = level + np.int32(1)
                    changed[0] = 1

    @gpu.jit
    def kmeans(points, centres, nearest):
        i = gpu.grid(1)
        if i >= points.shape[0]:
            return
        best, least = 0, np.float32(math.inf)
        for k in range(centres.shape[0]):
            square = np.float32(0)
            for j in range(points.shape[1]):
                d = points[i, j] - centres[k, j]
                square += d * d
            if square < least:
                best, least = k, square
        nearest[i] = best

    @gpu.jit
    def distances(a, b, out):
        j, i = gpu.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            square = np.float32(0)
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                square += d * d
            out[i, j] = math.sqrt(square)

    @gpu.jit
    def grey(image, out):
        x, y = gpu.grid(2)
        height, width = out.shape
        if x < width and y < height:
            r, g, b = np.int32(image[y, x, 0]), np.int32(image[y, x, 1]), np.int32(image[y, x, 2])
            out[y, x] = (r * np.int32(77) + g * np.int32(150) + b * np.int32(29)) >> np.int32(8)

    @gpu.jit
    def resize(a, out):
        x, y = gpu.grid(2)
        height, width = out.shape
        if x < width and y < height:
            fx = (np.float32(x) + np.float32(0.5)) * np.float32(a.shape[1]) / np.float32(width) - np.float32(0.5)
            fy = (np.float32(y) + np.float32(0.5)) * np.float32(a.shape[0]) / np.float32(height) - np.float32(0.5)
            left, top = int(math.floor(fx)), int(math.floor(fy))  # noqa: RUF046 (a float in Numba's dialect)
            u, v = fx - np.float32(left), fy - np.float32(top)
            x0, y0 = max(left, 0), max(top, 0)
            x1, y1 = min(left + 1, a.shape[1] - 1), min(top + 1, a.shape[0] - 1)
            upper = a[y0, x0] + u * (a[y0, x1] - a[y0, x0])
            lower = a[y1, x0] + u * (a[y1, x1] - a[y1, x0])
            out[y, x] = upper + v * (lower - upper)

    @gpu.jit
    def dft(re, im, to_re, to_im):
        k = gpu.grid(1)
        n = re.size
        if k < n:
            sr, si = np.float32(0), np.float32(0)
            step = np.float32(-2 * math.pi) * np.float32(k) / np.float32(n)
            cs, ss = math.cos(step), math.sin(step)
            c, s = np.float32(1), np.float32(0)
            for i in range(n):
                sr += re[i] * c - im[i] * s
                si += re[i] * s + im[i] * c
                c, s = c * cs - s * ss, c * ss + s * cs
            to_re[k], to_im[k] = sr, si

    @gpu.jit
    def axpy_half(a, x, y):
        i = gpu.grid(1)
        if i < x.size:
            y[i] = np.float16(a * np.float32(x[i]) + np.float32(y[i]))

    @gpu.jit
    def powmod(x, exponent, modulus, out):
        i = gpu.grid(1)
        if i < x.size:
            base, e, result = x[i] % modulus, exponent, np.uint64(1)
            while e > np.uint64(0):
                if e & np.uint64(1):
                    result = result * base % modulus
                base = base * base % modulus
                e >>= np.uint64(1)
            out[i] = result

    @gpu.jit
    def philox(out, key0, key1):
        i = gpu.grid(1)
        if i >= out.shape[0]:
            return
        c0, c1, c2, c3, k0, k1 = np.uint32(i), np.uint32(0), np.uint32(0), np.uint32(0), key0, key1
        for _ in range(10):
            p0, p1 = np.uint64(0xD2511F53) * np.uint64(c0), np.uint64(0xCD9E8D57) * np.uint64(c2)
            c0, c1, c2, c3 = (
                np.uint32(p1 >> np.uint64(32)) ^ c1 ^ k0,
                np.uint32(p1 & np.uint64(0xFFFFFFFF)),
                np.uint32(p0 >> np.uint64(32)) ^ c3 ^ k1,
                np.uint32(p0 & np.uint64(0xFFFFFFFF)),
            )
            k0, k1 = np.uint32(k0 + np.uint32(0x9E3779B9)), np.uint32(k1 + np.uint32(0xBB67AE85))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = c0, c1, c2, c3

    @gpu.jit
    def leapfrog(place, speed, force, dt):
        i = gpu.grid(1)
        if i < place.shape[0]:
            for k in range(3):
                speed[i, k] += force[i, k] * dt
                place[i, k] += speed[i, k] * dt

    @gpu.jit
    def ising(spins, uniform, beta, colour):
        x, y = gpu.grid(2)
        height, width = spins.shape
        if x < width and y < height and (x + y) % 2 == colour:
            around = (
                np.int32(spins[(y + 1) % height, x])
                + np.int32(spins[(y - 1) % height, x])
                + np.int32(spins[y, (x + 1) % width])
                + np.int32(spins[y, (x - 1) % width])
            )
            energy = np.float32(2) * np.float32(spins[y, x]) * np.float32(around)
            if energy < np.float32(0) or uniform[y, x] < math.exp(-beta * energy):
                spins[y, x] = -spins[y, x]

    @gpu.jit
    def compact(x, limit, out, count):
        i = gpu.grid(1)
        if i < x.size:
            v = x[i]
            if v > limit:
                out[gpu.atomic.add(count, 0, 1)] = v

    found = dict(locals())
    return {name: found[name] for name in SIGNATURES}
