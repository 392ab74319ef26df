"""SAXPY, y = a * x + y: a Python float argument is weak, so float32 arrays stay float32."""

import gpu
import numpy as np
from common import best_of, check, report, small


@gpu.jit(fma=False)  # NumPy rounds the product before it adds; fma=True would round once
def saxpy(a, x, y, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def main() -> None:
    n = 10_000 if small() else 10_000_000
    rng = np.random.default_rng(2)
    x = rng.random(n, dtype=np.float32)
    y = rng.random(n, dtype=np.float32)
    out = np.empty_like(x)
    launch = saxpy.forall(n)
    launch(2.5, x, y, out)
    kernel_s, _ = best_of(lambda: launch(2.5, x, y, out))
    numpy_s, want = best_of(lambda: 2.5 * x + y)
    check("saxpy", out, want)
    report("saxpy", f"{n:,} float32 elements", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
