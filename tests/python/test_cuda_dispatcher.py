"""Dispatchers of the Numba dialect: signatures, what they tell of compiled code, launches, code for elsewhere."""

from __future__ import annotations

import io
import math
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu.cuda import args, bf16, cudadrv, errors, fp16, testing, types


def add_kernel(r: Any, x: Any, y: Any) -> None:
    r[0] = x + y


def add(x: Any, y: Any) -> Any:
    return x + y


# ---- which signature


def test_the_best_signature_is_taken() -> None:
    kernel = cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])(add_kernel)
    out = np.zeros(1)
    kernel[1, 1](out, 1, 2**-25)
    assert out[0] == 1 + 2**-25
    kernel[1, 1](out, np.float32(1), np.float32(2**-25))
    assert out[0] == 1


def test_two_that_fit_equally_well() -> None:
    kernel = cuda.jit(["(f8[::1], f4, f8)", "(f8[::1], f8, f4)", "(f8[::1], i8, i8)"])(add_kernel)
    with pytest.raises(TypeError, match=r"Ambiguous overloading for <function add_kernel"):
        kernel[1, 1](np.zeros(1), 1.0, 2.0)


def test_none_that_fits() -> None:
    kernel = cuda.jit(["(i8[::1], i8, i8)", "(f8[::1], f8, f8)"])(add_kernel)
    with pytest.raises(TypeError, match=r"No matching definition of add_kernel\(\) for arguments of types \(array"):
        kernel[1, 1](np.zeros(1, np.complex128), 1j, 1j)


def test_an_integer_goes_by_its_bits() -> None:
    @cuda.jit("(int32[:], int32)")
    def store(out: Any, value: Any) -> None:
        out[0] = value

    out = np.zeros(1, np.int32)
    store[1, 1](out, 0xFFFFFFFF)
    assert out[0] == -1
    with pytest.raises(TypeError, match="doesn't convert to it safely"):
        store[1, 1](out, 2**33)


@pytest.mark.parametrize(
    ("signatures", "x", "y", "want"),
    [
        (["(int64, int64)"], 1.5, 2.5, 3),
        (["(int64, int64)", "(float64, float64)"], 1.5, 2.5, 4),
        (["(int64, int64)", "(float64, float64)"], np.int32(1), 2.5, 3.5),
        (["(float32, float32)", "(float64, float64)"], 1, 2**-25, 1 + 2**-25),
        (["(float32, float32)", "(float64, float64)"], np.float32(1), np.float32(2**-25), 1),
        (["(float32, float64)", "(float64, float32)", "(int64, int64)"], 1.5, 2.5, 4),
    ],
)
def test_signatures_of_device_functions(signatures: list[str], x: Any, y: Any, want: float) -> None:
    device = cuda.jit(signatures, device=True)(add)

    @cuda.jit
    def kernel(out: Any, x: Any, y: Any) -> None:
        out[0] = device(x, y)

    out = np.zeros(1)
    kernel[1, 1](out, x, y)
    assert out[0] == want


# ---- specialisations


def test_specialize() -> None:
    kernel = cuda.jit(lambda x: None)
    one = kernel.specialize(types.float32[::1])
    assert one.specialized and not kernel.specialized
    assert kernel.specialize(types.float32[::1]) is one
    assert kernel.specialize(np.zeros(1, np.int32)) is not one
    assert len(kernel.specializations) == 2
    with pytest.raises(RuntimeError, match="Dispatcher already specialized"):
        one.specialize(types.float32[::1])


def test_overloads() -> None:
    kernel = cuda.jit(add_kernel)
    kernel[1, 1](np.zeros(1), 1, 2.5)
    ((key, overload),) = kernel.overloads.items()
    assert key == types.void(types.float64[::1], types.int64, types.float64).args
    assert overload.signature == types.void(types.float64[::1], types.int64, types.float64)
    assert overload.entry_name.startswith("add_kernel")
    assert overload.max_cooperative_grid_blocks(128) > 0
    kernel.disable_compile()
    kernel[1, 1](np.zeros(1), 1, 2.5)
    with pytest.raises(TypeError, match="No matching definition"):
        kernel[1, 1](np.zeros(1), 1.5, 2.5)


def test_code_can_be_looked_at() -> None:
    kernel = cuda.jit(lambda x: None)
    one, other = (types.float32[::1],), (types.float64[::1],)
    kernel.compile(one)
    kernel.compile(other)
    assert set(kernel.inspect_asm()) == set(kernel.inspect_llvm()) == {one, other}
    assert ".visible .entry" in kernel.inspect_asm(one)
    assert "target triple" in kernel.inspect_llvm(types.void(*one))
    text = io.StringIO()
    kernel.inspect_types(text)
    assert "(array(float32, 1d, C))" in text.getvalue()


def test_what_a_kernel_needs() -> None:
    @cuda.jit
    def kernel(x: Any) -> None:
        tile = cuda.shared.array(32, types.float32)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        x[i] = tile[31 - i]

    x = np.arange(32, dtype=np.float32)
    kernel[1, 32](x)
    (key,) = kernel.overloads
    assert kernel.get_regs_per_thread() == {key: kernel.get_regs_per_thread(key)}
    assert kernel.get_regs_per_thread(key) > 0
    assert kernel.get_shared_mem_per_block(key) == 128
    assert kernel.get_max_threads_per_block(key) >= 32
    assert kernel.get_const_mem_size(key) >= 0 <= kernel.get_local_mem_per_thread(key)


# ---- launches


def test_without_a_configuration() -> None:
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        cuda.jit(lambda x: None)(0)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (((1, 2, 3, 4), 1), "griddim must be a sequence of 1, 2 or 3 integers"),
        ((1, (2, 3, 4, 5)), "blockdim must be a sequence of 1, 2 or 3 integers"),
        ((2.0, 3), r"griddim must be a sequence of integers, got \[2.0\]"),
        (5, "must specify at least the griddim and blockdim"),
    ],
)
def test_wrong_configurations(config: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        cuda.jit(lambda x: None)[config]


def test_directions_of_arguments() -> None:
    kernel = cuda.jit(lambda x: set_three(x))
    x = np.zeros(1, np.int64)
    kernel[1, 1](cuda.In(x))
    assert x[0] == 0
    kernel[1, 1](cuda.InOut(x))
    assert x[0] == 3
    y = np.zeros(1, np.int64)
    kernel[1, 1](cuda.Out(y))
    assert y[0] == 3
    there = cuda.to_device(np.zeros(1))
    assert cuda.In(there) is there


def set_three(x: Any) -> None:
    x[0] = 3


def test_extensions_see_the_arguments() -> None:
    class Times:
        def __init__(self, factor: int) -> None:
            self.factor = factor

        def prepare_args(self, ty: Any, val: Any, stream: Any, retr: list[Any]) -> Any:
            return (ty, val * self.factor + 1) if isinstance(val, int) else (ty, args.wrap_arg(val))

    kernel = cuda.jit(extensions=[Times(2), Times(10)])(add_kernel)
    out = np.zeros(1, np.int64)
    kernel[1, 1](out, 1, 0)
    assert out[0] == ((1 * 10 + 1) * 2 + 1) + ((0 * 10 + 1) * 2 + 1)


def test_forall_of_less_than_nothing() -> None:
    with pytest.raises(ValueError, match="Can't create ForAll with negative task count"):
        cuda.jit(lambda x: None).forall(-1)


# ---- code for elsewhere


@pytest.mark.parametrize(
    ("signature", "result"),
    [
        ((types.float32, types.float32), types.float32),
        (types.int32(types.int32, types.int32), types.int32),
        ("uint32(uint32, uint32)", types.uint32),
        ((types.int32, types.int32), types.int64),
    ],
)
def test_device_functions(signature: Any, result: Any) -> None:
    text, kind = cuda.compile(add, signature)
    assert kind == result
    assert ".visible .func" in text and "func_retval0" in text and ".entry" not in text
    assert cuda.compile_all(add, signature)[0] == [text]


def test_names_of_device_functions() -> None:
    assert "(.param .b32 func_retval0) q(" in cuda.compile(add, "int32(int32, int32)", abi_info={"abi_name": "q"})[0]
    text, _ = cuda.compile_ptx(add, "int32(int32, int32)", device=True)
    assert "test_cuda_dispatcher_add_int32_int32" in text
    text, result = cuda.compile(lambda x, y: (x, y * 2), (types.int32, types.float64))
    assert repr(result) == "tuple(int32, float64)" and "func_retval0[16]" in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"abi": "fastcall"}, NotImplementedError, "Unsupported ABI: fastcall"),
        ({"device": False}, NotImplementedError, "The C ABI is not supported for kernels"),
        ({"output": "ltoir"}, NotImplementedError, "LTO-IR is made by NVVM"),
        ({"device": False, "abi": "numba"}, TypeError, "CUDA kernel must have void return type"),
    ],
)
def test_code_that_cannot_be(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cuda.compile(add, (types.int32, types.int32), **options)


def test_a_device_function_with_arrays() -> None:
    with pytest.raises(NotImplementedError, match="a device function for other code takes numbers"):
        cuda.compile(lambda x: x[0], (types.float32[:],))


# ---- types


def test_typeof() -> None:
    assert cuda.typeof(1) == types.int64 and cuda.typeof(2**63) == types.uint64
    assert cuda.typeof(1.0) == types.float64 and cuda.typeof(np.float32(1)) == types.float32
    assert cuda.typeof(np.zeros((2, 3), np.float32, order="F")) == types.float32[::1, :]
    assert cuda.to_device(np.zeros(3))._numba_type_ == types.float64[::1]
    assert repr(cuda.typeof((1, 2.0))) == "tuple(int64, float64)"
    with pytest.raises(ValueError, match="Cannot determine Numba type"):
        cuda.typeof(object())


def test_classes_of_types() -> None:
    assert isinstance(types.float32, types.Float) and not isinstance(types.float32, types.Integer)
    assert isinstance(types.uint8, types.Integer) and isinstance(types.complex64, types.Complex)
    assert isinstance(types.float32[:], types.Array) and isinstance(types.float32[:], types.Type)
    assert isinstance(types.UniTuple(types.int32, 2), types.UniTuple)
    signature = types.signature(types.UniTuple(types.int32, 2), types.float32)
    assert [kind[::1] for kind in signature.return_type] == [types.int32[::1]] * 2
    assert types.float32._type == types.float32 and hash(types.float32) == hash(types.float32._type)
    with pytest.raises(NotImplementedError, match="no kernel has such values"):
        cuda.jit((types.Type("mine"),))(lambda x: None)


# ---- what programs import


def test_errors_are_those_of_gpu() -> None:
    assert errors.TypingError is gpu.TypingError
    assert issubclass(cudadrv.error.CudaSupportError, ImportError)


def test_memory_by_the_drivers_names() -> None:
    array = cuda.to_device(np.arange(6.0).reshape(2, 3))
    assert cudadrv.driver.device_memory_size(array) == 48
    assert cudadrv.driver.is_device_memory(array) and cudadrv.devicearray.is_cuda_ndarray(array)
    assert array.flags["C_CONTIGUOUS"] and not array.flags["F_CONTIGUOUS"]
    assert cuda.get_memory_info().total > 0


class HelpersOfTests(testing.CUDATestCase):
    """As a program's own tests use them."""

    @testing.skip_on_cudasim("not on the simulator")
    @testing.skip_unless_cc_60
    def test_runs(self) -> None:
        self.assertTrue(testing.cc_X_or_above(6, 0))


def test_halves_and_bfloat16() -> None:
    @cuda.jit
    def kernel(out: Any) -> None:
        out[0] = fp16.hfma(fp16.hadd(1.5, 2), 2.0, 0.5)
        out[1] = bf16.bfloat16_to_float32(bf16.float32_to_bfloat16_ru(1.001))
        out[2] = bf16.int32_to_bfloat16_rz(789)
        out[3] = bf16.hmax_nan(math.nan, 1.0)

    out = np.zeros(4)
    kernel[1, 1](out)
    assert out[:3].tolist() == [7.5, 1.0078125, 788] and math.isnan(out[3])


def test_functions_write_into_their_last_argument() -> None:
    @cuda.jit
    def kernel(x: Any, y: Any, out: Any, sums: Any, scalar: Any) -> None:
        np.sin(x, out)
        np.add(x, y, out=sums)
        np.sqrt(4.0, scalar)

    x, y = np.linspace(0, 1, 5), np.arange(5.0)
    out, sums, scalar = np.zeros(5), np.zeros(5), np.zeros(1)
    kernel[1, 1](x, y, out, sums, scalar)
    assert np.allclose(out, np.sin(x)) and (sums == x + y).all() and scalar[0] == 2


def test_streams_say_what_they_are() -> None:
    assert "Default CUDA stream" in repr(cuda.default_stream())
    assert "Legacy default CUDA stream" in repr(cuda.legacy_default_stream())
    assert "Per-thread default CUDA stream" in repr(cuda.per_thread_default_stream())
    stream = cuda.stream()
    assert "CUDA stream" in repr(stream) and not stream.external
    assert cuda.external_stream(stream.handle).external


def test_shapes_are_integers() -> None:
    assert cuda.device_array(np.array([2, 3])).shape == (2, 3)
    for shape in (1.5, np.array(1.5), [2, 1.5]):
        with pytest.raises(TypeError, match="shape must be an integer"):
            cuda.device_array(shape)
    assert cuda.cudadrv.devicearray.DeviceNDArray((1, 10), (800, 8), np.float64).flags["F_CONTIGUOUS"]


@pytest.mark.parametrize("digits", [-2, 0, 1, 5, 300])
def test_round_to_digits_known_at_run_time(digits: int) -> None:
    numbers = np.array([123.456, -2.5, 1e300, 0.5, 1250.0])

    @cuda.jit
    def kernel(x: Any, n: Any, out: Any) -> None:
        i = cuda.grid(1)
        out[i] = round(x[i], n)

    out = np.zeros(5)
    kernel[1, 5](numbers, digits, out)
    assert out.tolist() == [round(float(x), digits) for x in numbers]
