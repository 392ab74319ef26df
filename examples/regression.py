"""Logistic regression by gradient descent without a kernel: a ufunc, arithmetic, a parallel loop with a histogram."""

import math

import gpu
import numpy as np
from common import best_of, check, report, small


@gpu.vectorize
def logistic(z):
    return 1 / (1 + math.exp(-z))


@gpu.parallel
def classes(probability, labels, table):
    right = 0
    for i in gpu.prange(len(labels)):
        guess = 1 if probability[i] > 0.5 else 0
        table[2 * labels[i] + guess] += 1  # two samples may be alike: atomic
        if guess == labels[i]:
            right += 1
    return right


def fit(x, y, steps, exponential):
    """Weights after so many steps; `exponential` is the logistic function to use."""
    weights = x[0] * 0
    for _ in range(steps):
        error = exponential(x @ weights) - y
        weights -= (x.T @ error) * (0.5 / len(y))
    return weights


def main() -> None:
    n, steps = (500, 5) if small() else (200_000, 20)
    rng = np.random.default_rng(1)
    truth = np.array([1.5, -2.0, 0.5, 1.0])
    samples = rng.normal(size=(n, 4))
    labels = (rng.random(n) < 1 / (1 + np.exp(-samples @ truth))).astype(np.int64)
    x, y = gpu.array(samples), gpu.array(labels)

    fit(x, y, 1, logistic)
    gpu_s, weights = best_of(lambda: fit(x, y, steps, logistic))
    numpy_s, want = best_of(lambda: fit(samples, labels, steps, lambda z: 1 / (1 + np.exp(-z))), repeat=1)
    check("regression", weights.copy_to_host(), want, rtol=1e-6)

    table = np.zeros(4, np.int64)
    right = classes(np.asarray(logistic(x @ weights)), labels, table)
    guesses = (samples @ want > 0).astype(np.int64)
    check("regression", table, np.bincount(2 * labels + guesses, minlength=4), atol=1)
    report("regression", f"{100 * right / n:.0f} % of {n} samples", gpu_s, numpy_s)


if __name__ == "__main__":
    main()
