"""Gravitational n-body: a cluster of stars (Plummer 1911) that should keep its energy over some hundred steps.

Blocks load the bodies in tiles into shared memory (Nyland, Harris, Prins 2007); the steps are leapfrog's.
"""

import math
import sys

import numpy as np
from gpu import cuda

TILE = 128
SOFTENING2 = np.float32(0.05**2)


@cuda.jit(device=True)
def pull(xi, yi, zi, body):
    """What a body (x, y, z, mass) adds to the acceleration at a place."""
    dx, dy, dz = body[0] - xi, body[1] - yi, body[2] - zi
    r2 = dx * dx + dy * dy + dz * dz + SOFTENING2
    inverse = np.float32(1) / math.sqrt(r2)
    s = body[3] * inverse * inverse * inverse
    return dx * s, dy * s, dz * s


@cuda.jit("void(float32[:,::1], float32[:,::1])")
def accelerate(bodies, acceleration):
    tile = cuda.shared.array((TILE, 4), np.float32)
    i = cuda.grid(1)
    me = cuda.threadIdx.x
    n = bodies.shape[0]
    x = y = z = ax = ay = az = np.float32(0)
    if i < n:
        x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
    for first in range(0, n, TILE):
        if first + me < n:
            for k in range(4):
                tile[me, k] = bodies[first + me, k]
        cuda.syncthreads()
        for j in range(min(TILE, n - first)):
            px, py, pz = pull(x, y, z, tile[j])
            ax += px
            ay += py
            az += pz
        cuda.syncthreads()
    if i < n:
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az


@cuda.jit
def kick(velocity, acceleration, dt):
    i, k = cuda.grid(2)
    if i < velocity.shape[0] and k < 3:
        velocity[i, k] += acceleration[i, k] * dt


@cuda.jit
def drift(bodies, velocity, dt):
    i, k = cuda.grid(2)
    if i < velocity.shape[0] and k < 3:
        bodies[i, k] += velocity[i, k] * dt


def plummer(n):
    """Bodies (n, 4) and velocities (n, 3), float32; G and the mass of all are 1, the energy about -1/4."""
    rng = np.random.default_rng(1911)

    def directions():
        v = rng.standard_normal((n, 3))
        return v / np.linalg.norm(v, axis=1, keepdims=True)

    scale = 3 * math.pi / 16
    radius = 1 / np.sqrt(rng.uniform(0.01, 0.99, n) ** (-2 / 3) - 1)
    escape = np.sqrt(2) * (1 + radius**2) ** -0.25
    speed = escape * np.sqrt(rng.beta(1.5, 4.5, n)) / math.sqrt(scale)
    radius *= scale
    bodies = np.column_stack([radius[:, None] * directions(), np.full(n, 1 / n)])
    return bodies.astype(np.float32), (speed[:, None] * directions()).astype(np.float32)


def energy(bodies, velocity):
    """Kinetic and potential energy, by NumPy in double precision."""
    x, m = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    r2 = ((x[:, None] - x) ** 2).sum(axis=2) + float(SOFTENING2)
    potential = m[:, None] * m / np.sqrt(r2)
    np.fill_diagonal(potential, 0)
    return (m[:, None] * velocity.astype(np.float64) ** 2).sum() / 2 - potential.sum() / 2


def main():
    n, steps = (300, 20) if "--small" in sys.argv else (2000, 100)
    dt = np.float32(0.005)
    bodies, velocity = plummer(n)
    device, speed = cuda.to_device(bodies), cuda.to_device(velocity)
    acceleration = cuda.device_array((n, 3), np.float32)
    blocks, each = -(-n // TILE), ((-(-n // 32), 1), (32, 4))

    accelerate[blocks, TILE](device, acceleration)
    x, m = bodies[:, :3], bodies[:, 3]
    d = x[None] - x[:50, None]
    want = (d * (m / ((d**2).sum(axis=2) + SOFTENING2) ** 1.5)[..., None]).sum(axis=1)
    assert np.allclose(acceleration.copy_to_host()[:50], want, rtol=1e-3, atol=1e-4)

    for _ in range(steps):
        kick[each](speed, acceleration, dt / 2)
        drift[each](device, speed, dt)
        accelerate[blocks, TILE](device, acceleration)
        kick[each](speed, acceleration, dt / 2)
    before, after = energy(bodies, velocity), energy(device.copy_to_host(), speed.copy_to_host())
    assert abs(after - before) < 2e-3 * abs(before), (before, after)
    print(f"nbody: {n:,} bodies, {steps} steps, energy {before:.5f} -> {after:.5f}; the first pulls equal NumPy's")


if __name__ == "__main__":
    main()
