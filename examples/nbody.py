"""Gravitational n-body: accelerations of every body by every other, softened, float32."""

import math

import gpu
import numpy as np
from common import best_of, check, report, small

SOFTENING = 0.01


@gpu.jit
def accelerations(position, mass, out):
    i = gpu.grid(1)
    if i < len(mass):
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        ax = ay = az = 0.0
        for j in range(len(mass)):
            dx = position[j, 0] - x
            dy = position[j, 1] - y
            dz = position[j, 2] - z
            r2 = dx * dx + dy * dy + dz * dz + SOFTENING
            pull = mass[j] / (r2 * math.sqrt(r2))
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        out[i, 0] = ax
        out[i, 1] = ay
        out[i, 2] = az


def with_numpy(position: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Accelerations, shape (n, 3)."""
    out = np.empty_like(position)
    for i, p in enumerate(position):
        d = position - p
        r2 = (d * d).sum(axis=1) + np.float32(SOFTENING)
        out[i] = (d * (mass / (r2 * np.sqrt(r2)))[:, None]).sum(axis=0)
    return out


def main() -> None:
    n = 200 if small() else 8_000
    rng = np.random.default_rng(5)
    position = rng.standard_normal((n, 3)).astype(np.float32)
    mass = rng.uniform(0.5, 2, n).astype(np.float32)
    out = np.empty_like(position)
    launch = accelerations.forall(n)
    launch(position, mass, out)
    kernel_s, _ = best_of(lambda: launch(position, mass, out))
    numpy_s, want = best_of(lambda: with_numpy(position, mass), repeat=1)
    check("nbody", out, want, rtol=2e-3, atol=2e-2)
    report("nbody", f"{n:,} bodies, {n * n / kernel_s / 1e9:.2f} 10^9 pairs/s", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
