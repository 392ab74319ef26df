"""Random numbers: the streams of Numba and cuRAND, on every device."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu import random as rng

MASK = 2**64 - 1


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    with gpu.device(request.param):
        yield


# ---- xoroshiro128+, as its authors write it


class Xoroshiro:
    def __init__(self, seed: int, jumps: int = 0) -> None:
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        self.s = [z ^ z >> 31] * 2
        for _ in range(jumps):
            self.jump()

    def next(self) -> int:
        def turned(x: int, k: int) -> int:
            return (x << k | x >> 64 - k) & MASK

        s0, s1 = self.s
        t = s0 ^ s1
        self.s = [turned(s0, 55) ^ t ^ (t << 14 & MASK), turned(t, 36)]
        return (s0 + s1) & MASK

    def jump(self) -> None:
        total = [0, 0]
        for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
            for bit in range(64):
                if word >> bit & 1:
                    total = [total[0] ^ self.s[0], total[1] ^ self.s[1]]
                self.next()
        self.s = total


@pytest.mark.parametrize(("seed", "start"), [(1, 0), (2**63 + 5, 3), (-1, 0)])
def test_states_are_jumps_apart(seed: int, start: int) -> None:
    states = np.asarray(rng.create_xoroshiro128p_states(5, seed, subsequence_start=start).copy_to_host())
    assert [list(state) for state in states.tolist()] == [Xoroshiro(seed, start + i).s for i in range(5)]
    rows = np.zeros((5, 2), np.uint64)
    rng.init_xoroshiro128p_states(rows, seed, start)
    assert rows.tolist() == [Xoroshiro(seed, start + i).s for i in range(5)]


def draws(states, words, uniform, normal):
    i = names.grid(1)
    if i < words.shape[0]:
        words[i] = rng.xoroshiro128p_next(states, i)
        uniform[i, 0] = rng.xoroshiro128p_uniform_float32(states, i)
        uniform[i, 1] = rng.xoroshiro128p_uniform_float64(states, i)
        normal[i, 0] = rng.xoroshiro128p_normal_float32(states, i)
        normal[i, 1] = rng.xoroshiro128p_normal_float64(states, i)


names = gpu
KERNELS = {"numpy": gpu.jit(draws), "numba": cuda.jit(draws)}


@pytest.mark.parametrize("dialect", KERNELS)
def test_stream(dialect: str) -> None:
    states = rng.create_xoroshiro128p_states(7, seed=42)
    words, uniform, normal = np.zeros(7, np.uint64), np.zeros((7, 2)), np.zeros((7, 2))
    KERNELS[dialect][1, 8](states, words, uniform, normal)
    for i in range(7):
        x = Xoroshiro(42, i)
        assert words[i] == x.next()
        units = [(x.next() >> 11) * 2.0**-53 for _ in range(6)]
        assert uniform[i].tolist() == [float(np.float32(units[0])), units[1]]
        a, b, c, d = map(np.float32, units[2:])
        single = math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
        double = math.sqrt(-2 * np.float64(np.log(c))) * math.cos(2 * math.pi * np.float64(d))
        np.testing.assert_allclose(normal[i], [single, double], rtol=2e-5, atol=2e-6)


def seeds_and_jumps(states, words):
    i = names.grid(1)
    if i < words.shape[0]:
        rng.init_xoroshiro128p_state(states, i, i - 2)
        rng.xoroshiro128p_jump(states, i)
        words[i] = rng.xoroshiro128p_next(states, i)


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit], ids=["numpy", "numba"])
@pytest.mark.parametrize("rows", [True, False])
def test_one_state_is_seeded_and_moved_in_a_kernel(jit, rows: bool) -> None:
    states = np.zeros((4, 2), np.uint64) if rows else np.zeros(4, rng.xoroshiro128p_dtype)
    words = np.zeros(4, np.uint64)
    jit(seeds_and_jumps)[1, 8](states, words)
    for i in range(4):
        x = Xoroshiro(i - 2, 1)
        assert words[i] == x.next()
        assert list(states[i]) == x.s


def test_numba_module_name() -> None:
    assert importlib.import_module("gpu.cuda.random") is rng is cuda.random


# ---- Philox: the known answers of Random123

KNOWN = [
    ((0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((MASK, MASK, MASK), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3243F6A88),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(args, o):
    i = names.grid(1)
    a, b, c, d = rng.philox4x32(args[i, 0], args[i, 1], args[i, 2])
    o[i, 0] = a
    o[i, 1] = b
    o[i, 2] = c
    o[i, 3] = d


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit], ids=["numpy", "numba"])
def test_philox_known_answers(jit) -> None:
    o = np.zeros((3, 4), np.uint32)
    jit(philox)[1, 3](np.array([a for a, _ in KNOWN], np.uint64), o)
    assert o.tolist() == [list(words) for _, words in KNOWN]


@gpu.jit
def philox_numbers(u, n, u64, n64):
    i = gpu.grid(1)
    a, b, c, d = rng.philox_uniform_float32(7, i, 0)
    u[i, 0], u[i, 1], u[i, 2], u[i, 3] = a, b, c, d
    a, b, c, d = rng.philox_normal_float32(7, i, 1)
    n[i, 0], n[i, 1], n[i, 2], n[i, 3] = a, b, c, d
    u64[i, 0], u64[i, 1] = rng.philox_uniform_float64(7, i, 2)
    n64[i, 0], n64[i, 1] = rng.philox_normal_float64(7, i, 3)


def test_distributions_of_philox() -> None:
    u, n, u64, n64 = (np.zeros((1024, k), t) for k, t in ((4, "f4"), (4, "f4"), (2, "f8"), (2, "f8")))
    philox_numbers[8, 128](u, n, u64, n64)
    for uniform in (u, u64):
        assert uniform.min() >= 0 and uniform.max() < 1
        assert abs(uniform.mean() - 0.5) < 0.03 and abs(uniform.var() - 1 / 12) < 0.01
        assert len(np.unique(uniform)) > 0.99 * uniform.size
    for normal in (n, n64):
        assert abs(normal.mean()) < 0.1 and abs(normal.var() - 1) < 0.15
        assert np.isfinite(normal).all()
