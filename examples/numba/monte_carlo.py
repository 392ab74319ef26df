"""Monte Carlo pricing of an Asian call option on the share whose prices Matplotlib ships (Google, 2004 to 2008).

Each thread follows its own paths of the share, one normal number for each week, and pays for the mean of the path above
the strike. The geometric mean of the same paths has a formula (Kemna and Vorst 1990), which is the check.
"""

import math
import sys

import numpy as np
from gpu import cuda
from gpu.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32
from matplotlib import cbook

STEPS = 52


@cuda.jit
def price(states, paths, spot, strike, rate, volatility, years, arithmetic, geometric):
    thread = cuda.grid(1)
    if thread >= arithmetic.size:
        return
    dt = years / STEPS
    drift = (rate - 0.5 * volatility * volatility) * dt
    spread = volatility * math.sqrt(dt)
    sum_arithmetic = 0.0
    sum_geometric = 0.0
    for _ in range(paths):
        log_price = math.log(spot)
        mean = 0.0
        log_mean = 0.0
        for _ in range(STEPS):
            log_price += drift + spread * xoroshiro128p_normal_float32(states, thread)
            mean += math.exp(log_price)
            log_mean += log_price
        sum_arithmetic += max(mean / STEPS - strike, 0.0)
        sum_geometric += max(math.exp(log_mean / STEPS) - strike, 0.0)
    discount = math.exp(-rate * years) / paths
    arithmetic[thread] = sum_arithmetic * discount
    geometric[thread] = sum_geometric * discount


def geometric_price(spot, strike, rate, volatility, years):
    """Price of the option on the geometric mean of STEPS prices at equal distances."""
    dt = years / STEPS
    mean = math.log(spot) + (rate - volatility**2 / 2) * dt * (STEPS + 1) / 2
    deviation = volatility * math.sqrt(dt * (STEPS + 1) * (2 * STEPS + 1) / (6 * STEPS))
    d = (mean - math.log(strike)) / deviation + deviation
    normal = [0.5 * math.erfc(-x / math.sqrt(2)) for x in (d, d - deviation)]
    return math.exp(-rate * years) * (math.exp(mean + deviation**2 / 2) * normal[0] - strike * normal[1])


def main():
    threads, paths = (2048, 4) if "--small" in sys.argv else (65536, 16)
    with cbook.get_sample_data("goog.npz") as file:
        close = file["price_data"]["close"]
    volatility = float(np.std(np.diff(np.log(close))) * math.sqrt(252))
    spot = float(close[-1])
    terms = (spot, round(spot), 0.03, volatility, 1.0)

    states = create_xoroshiro128p_states(threads, seed=2024)
    arithmetic = cuda.device_array(threads, np.float64)
    geometric = cuda.device_array(threads, np.float64)
    price[-(-threads // 128), 128](states, paths, *terms, arithmetic, geometric)

    arithmetic, geometric = arithmetic.copy_to_host(), geometric.copy_to_host()
    error = geometric.std() / math.sqrt(threads)
    want = geometric_price(*terms)
    assert abs(geometric.mean() - want) < 4 * error, (geometric.mean(), want, error)
    print(
        f"monte_carlo: {threads * paths:,} paths of {STEPS} weeks, volatility {volatility:.2f}: "
        f"Asian call {arithmetic.mean():.2f}, geometric {geometric.mean():.2f}; equals the formula's {want:.2f}"
    )


if __name__ == "__main__":
    main()
