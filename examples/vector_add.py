"""Add two vectors: the smallest kernel."""

import gpu
import numpy as np
from common import best_of, check, report, small


@gpu.jit
def add(a, b, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def main() -> None:
    n = 10_000 if small() else 10_000_000
    rng = np.random.default_rng(1)
    a = rng.random(n, dtype=np.float32)
    b = rng.random(n, dtype=np.float32)
    out = np.empty_like(a)
    launch = add.forall(n)
    launch(a, b, out)  # compiles
    kernel_s, _ = best_of(lambda: launch(a, b, out))
    numpy_s, want = best_of(lambda: a + b)
    check("vector_add", out, want)
    report("vector_add", f"{n:,} float32 sums", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
