"""What ``numba.cuda.kernels`` has: `transpose.transpose` and `reduction.Reduce`."""
