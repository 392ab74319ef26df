"""Constructs of Python: vector types."""

from __future__ import annotations

import gpu

from . import given
from .tuples import F4


def k_vector_made(a, o, n):
    i = gpu.grid(1)
    v = gpu.float4(gpu.float2(a[i], 1), i, 4)
    w = gpu.float4(*(1, 2), gpu.float2(3, 4))
    o[i] = v.x + v.y * 10 + v.z * 100 + v.w + w.z + len(v) + v[1]


def k_vector_arithmetic(a, o, n):
    i = gpu.grid(1)
    v = gpu.float3(a[i], i, 2)
    w = 2 * v + gpu.float3(1, 2, 3) / 4 - 1
    k = gpu.int2(i, 7) % 3 + gpu.int2(5, i) // 2
    o[i] = w.x + w.y * 10 + w.z * 100 + k.x + k.y + v.dot(w) + (-v).x + abs(-v).y


def k_vector_equal(a, o, n):
    i = gpu.grid(1)
    o[i] = (gpu.int3(i, 1, 2) == gpu.int3(3, 1, 2)) + 2 * (gpu.int2(1, i) != gpu.int2(1, 4))


@given(gpu.double2(1.5, 2), (gpu.uchar4(1, 2, 3, 255), F4))
def k_vector_argument(a, o, n, v, t):
    i = gpu.grid(1)
    o[i] = scaled(v, i).y + t[0].w + (t[0] + gpu.uchar4(1, 1, 1, 1)).w


def scaled(v, k):
    return v * k


def k_vector_in_loop(a, o, n):
    i = gpu.grid(1)
    s = gpu.float2(0, 1)
    for k in range(n):
        s = s + gpu.float2(a[k], s.x)
    o[i] = s.x + s.y
