"""Each construct of Python that kernels may use gives on the compiled devices what Python gives."""

import warnings
from collections.abc import Callable
from typing import Any

import constructs
import gpu
import numpy as np
import pytest

KERNELS = constructs.kernels()


def run(kernel: Callable[..., Any], device: str) -> np.ndarray:
    """The output of 16 threads."""
    a, out = (np.arange(16) % 7).astype(np.float32), np.zeros(16)
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel)[1, 16](a, out, 3, *constructs.ARGUMENTS.get(kernel, ()))
        gpu.synchronize()
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_construct(kernel: Callable[..., Any]) -> None:
    want = run(kernel, "python")
    assert want.any()
    for device in ("cpu", "emulated"):
        np.testing.assert_allclose(run(kernel, device), want, rtol=2e-6, err_msg=device)


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_vectors_under_numbas_names(device: str) -> None:
    from gpu import cuda

    def kernel(out: Any, v: Any) -> None:
        w = cuda.float32x4(v, cuda.float32x2(3, 4))
        u = cuda.uchar2(255, 1)
        out[0], out[1], out[2], out[3] = w.x, w.w, u.x, (w + w).y

    assert cuda.float32x4 is cuda.float4 is gpu.float4
    out = np.zeros(4)
    with gpu.device(device):
        cuda.jit(kernel)[1, 1](out, cuda.float2(1, 2))
        gpu.synchronize()
    np.testing.assert_array_equal(out, [1, 4, 255, 4])


def test_a_vector_has_as_many_parts_as_its_name_says() -> None:
    with pytest.raises(gpu.TypingError, match="5 values for 4 names"):
        gpu.jit(lambda out: gpu.float4(gpu.float3(1, 2, 3), gpu.float2(4, 5)).x).compile("f4[::1]")
    assert repr(gpu.int2(1, 2)) == "int2(1, 2)" and gpu.int2(1, 2) == gpu.int2(gpu.int2(1, 2))


def test_shared_memory_in_an_unrolled_loop_is_one_array() -> None:
    def kernel(out: Any) -> None:
        t = gpu.threadIdx.x
        for name in ("a", "b", "c"):
            tile = gpu.shared.array(32, np.float32)
            tile[t] = t + (1 if name == "a" else 2)
            gpu.syncthreads()
            out[t] += tile[31 - t]
            gpu.syncthreads()

    jitted = gpu.jit(kernel)
    for device in ("python", "cpu", "emulated"):
        out = np.zeros(32)
        with gpu.device(device):
            jitted[1, 32](out)
            gpu.synchronize()
        np.testing.assert_array_equal(out, 98 - 3 * np.arange(32))
    assert jitted.inspect("ptx", arch="sm_80").count(".shared .align") == 1
