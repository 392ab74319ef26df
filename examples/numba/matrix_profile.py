"""The matrix profile of a recording: for each stretch of it, how far its nearest neighbour elsewhere is.

The recording is the current through an ion channel that Matplotlib ships. A thread walks along one diagonal of the
matrix of all distances, where the dot product of two stretches follows from the one before (Zhu and others 2016), and
leaves the best correlation of each stretch by an atomic maximum.
"""

import math
import sys

import numpy as np
from gpu import cuda
from matplotlib import cbook


@cuda.jit
def diagonals(series, mean, deviation, m, best):
    n = mean.size
    shift = cuda.grid(1) + m // 2 + 1  # stretches that overlap by more than half aren't neighbours
    if shift >= n:
        return
    dot = 0.0
    for k in range(m):
        dot += series[k] * series[k + shift]
    for i in range(n - shift):
        j = i + shift
        if i > 0:
            dot += series[i + m - 1] * series[j + m - 1] - series[i - 1] * series[j - 1]
        correlation = (dot / m - mean[i] * mean[j]) / (deviation[i] * deviation[j])
        cuda.atomic.max(best, i, correlation)
        cuda.atomic.max(best, j, correlation)


def matrix_profile(series, m):
    """Distance of each stretch of m values to its nearest neighbour, after both were brought to mean 0, deviation 1."""
    stretches = np.lib.stride_tricks.sliding_window_view(series, m)
    mean, deviation = stretches.mean(axis=1), stretches.std(axis=1)
    best = cuda.to_device(np.full(mean.size, -1.0))
    diagonals.forall(mean.size)(cuda.to_device(series), cuda.to_device(mean), cuda.to_device(deviation), m, best)
    return np.sqrt(2 * m * np.maximum(1 - best.copy_to_host(), 0))


def with_numpy(series, m):
    """The same from all distances."""
    stretches = np.lib.stride_tricks.sliding_window_view(series, m)
    normal = (stretches - stretches.mean(axis=1)[:, None]) / stretches.std(axis=1)[:, None]
    correlation = normal @ normal.T / m
    at = np.arange(len(normal))
    correlation[np.abs(at[:, None] - at) <= m // 2] = -1
    return np.sqrt(2 * m * np.maximum(1 - correlation.max(axis=1), 0))


def main():
    with cbook.get_sample_data("membrane.dat") as file:
        series = np.frombuffer(file.read(), np.float32).astype(np.float64)
    n, m = (600, 25) if "--small" in sys.argv else (6000, 100)
    series = series[:n] - series[:n].mean()
    got = matrix_profile(series, m)
    assert np.allclose(got, with_numpy(series, m), rtol=0, atol=1e-5 * math.sqrt(m))
    print(
        f"matrix_profile: stretches of {m} in {n:,} values; the strangest begins at {int(got.argmax())}, "
        f"{got.max():.2f} from its nearest; equals NumPy"
    )


if __name__ == "__main__":
    main()
