"""Floating point numbers of 8 bits: `gpu.cuda.fp8`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gpu import cuda
from gpu.cuda import bfloat16, float16, float32, float64, fp8, int8, int64
from gpu.cuda._internal.cuda_fp8 import fp8_e4m3, fp8_e5m2, fp8_e8m0, fp8_interpretation_t, saturation_t

E4M3, E5M2 = fp8_interpretation_t.E4M3, fp8_interpretation_t.E5M2


def value_of(bits: int, mantissa: int, bias: int) -> float:
    """What finite bits stand for, by the definition."""
    exponent, part = (bits & 0x7F) >> mantissa, bits & ((1 << mantissa) - 1)
    size = (part + (1 << mantissa) * (exponent > 0)) * 2.0 ** (max(exponent, 1) - bias - mantissa)
    return -size if bits & 0x80 else size


@pytest.mark.parametrize(
    ("kind", "interpretation", "mantissa", "bias", "largest"),
    [(fp8_e4m3, E4M3, 3, 7, 0x7E), (fp8_e5m2, E5M2, 2, 15, 0x7B)],
)
def test_all_values_and_what_lies_between_them(kind, interpretation, mantissa, bias, largest) -> None:
    """Every value comes back with its bits; what lies between two goes to the nearer one, or to the even one."""

    @cuda.jit
    def kernel(x, out, bits):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = float32(kind(x[i]))
            bits[i] = fp8.cvt_float_to_fp8(x[i], saturation_t.SATFINITE, interpretation)

    codes = np.array([c for c in range(256) if c & 0x7F <= largest])
    values = np.array([value_of(c, mantissa, bias) for c in codes], np.float32)
    positive = values[: largest + 1]
    middles = (positive[1:] + positive[:-1]) / 2
    x = np.concatenate([values, np.nextafter(middles, np.float32(0)), middles, np.nextafter(middles, np.float32(1e9))])
    even = np.where(np.arange(largest) % 2 == 0, positive[:-1], positive[1:])
    expected = np.concatenate([values, positive[:-1], even, positive[1:]])
    out, bits = np.zeros_like(x), np.zeros(x.size, np.uint8)
    kernel[(x.size + 63) // 64, 64](x, out, bits)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(bits[: codes.size], codes)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(expected))


def test_beyond_the_range() -> None:
    @cuda.jit
    def kernel(x, bits):
        i = cuda.grid(1)
        bits[i, 0] = fp8.cvt_double_to_fp8(x[i], saturation_t.NOSAT, E5M2)
        bits[i, 1] = fp8.cvt_double_to_fp8(x[i], saturation_t.SATFINITE, E5M2)
        bits[i, 2] = fp8.cvt_double_to_fp8(x[i], saturation_t.NOSAT, E4M3)
        bits[i, 3] = fp8.cvt_double_to_fp8(x[i], saturation_t.SATFINITE, E4M3)
        bits[i, 4] = fp8.cvt_double_to_e8m0(x[i], saturation_t.NOSAT, fp8.round_mode.cudaRoundPosInf)
        bits[i, 5] = fp8.cvt_double_to_e8m0(x[i], saturation_t.SATFINITE, fp8.round_mode.cudaRoundZero)

    bits = np.zeros((4, 6), np.uint8)
    kernel[1, 4](np.array([1e300, -math.inf, math.nan, 3.0]), bits)
    assert bits.tolist() == [
        [0x7C, 0x7B, 0x7F, 0x7E, 0xFF, 0xFE],
        [0xFC, 0xFB, 0xFF, 0xFE, 0xFF, 0xFE],
        [0x7F, 0x7F, 0x7F, 0x7F, 0xFF, 0xFF],
        [0x42, 0x42, 0x44, 0x44, 129, 128],
    ]


def test_conversions_of_types() -> None:
    @cuda.jit
    def kernel(x, n):
        value = fp8_e5m2(int8(-6))
        x[0] = float16(value)
        x[1] = bfloat16(fp8_e4m3(float16(2.5)))
        x[2] = float64(fp8_e8m0(bfloat16(3.0)))  # a scale: upwards
        x[3] = float32(fp8_e8m0(float("nan")))
        x[4] = float32(fp8.cvt_e8m0_to_bf16raw(126))
        n[0] = int8(value)
        n[1] = int64(fp8_e4m3(20))
        n[2] = fp8.cvt_e8m0_to_bf16raw(127).x

    x, n = np.zeros(5), np.zeros(3, np.int64)
    kernel[1, 1](x, n)
    np.testing.assert_array_equal(x, [-6, 2.5, 4, math.nan, 0.5])
    assert n.tolist() == [-6, 20, 0x3F80]
