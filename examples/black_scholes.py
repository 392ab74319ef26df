"""Black-Scholes prices of European options (Black and Scholes 1973), float32."""

import math

import gpu
import numpy as np
from common import best_of, check, report, small

RATE, VOLATILITY = 0.02, 0.30


def normal_cdf(x):
    """Cumulative distribution of the standard normal."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@gpu.jit
def black_scholes(price, strike, years, call, put):
    i = gpu.grid(1)
    if i < price.size:
        s, k, t = price[i], strike[i], years[i]
        root = VOLATILITY * math.sqrt(t)
        d1 = (math.log(s / k) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / root
        d2 = d1 - root
        discounted = k * math.exp(-RATE * t)
        call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1)


def cdf_numpy(x: np.ndarray) -> np.ndarray:
    """`normal_cdf` of an array. NumPy has no erfc: Abramowitz and Stegun 26.2.17, error below 7.5e-8."""
    z = np.abs(x)
    k = 1.0 / (1.0 + 0.2316419 * z)
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-0.5 * z * z) * poly * 0.3989422804014327
    return np.where(x > 0, 1.0 - tail, tail)


def with_numpy(s: np.ndarray, k: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Call and put prices, each of the shape of `s`."""
    root = VOLATILITY * np.sqrt(t)
    d1 = (np.log(s / k) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / root
    d2 = d1 - root
    discounted = k * np.exp(-RATE * t)
    return s * cdf_numpy(d1) - discounted * cdf_numpy(d2), discounted * cdf_numpy(-d2) - s * cdf_numpy(-d1)


def main() -> None:
    n = 10_000 if small() else 10_000_000
    rng = np.random.default_rng(3)
    price = rng.uniform(5, 30, n).astype(np.float32)
    strike = rng.uniform(1, 100, n).astype(np.float32)
    years = rng.uniform(0.25, 10, n).astype(np.float32)
    call, put = np.empty_like(price), np.empty_like(price)
    launch = black_scholes.forall(n)
    launch(price, strike, years, call, put)
    kernel_s, _ = best_of(lambda: launch(price, strike, years, call, put))
    numpy_s, (want_call, want_put) = best_of(lambda: with_numpy(price, strike, years), repeat=1)
    check("black_scholes", call, want_call, rtol=1e-4, atol=1e-4)
    check("black_scholes", put, want_put, rtol=1e-4, atol=1e-4)
    report("black_scholes", f"{n:,} options, mean call {call.mean(dtype=np.float64):.4f}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
