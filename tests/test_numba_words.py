"""What Numba says of a mistake stands in the messages of the Numba dialect, as a note; what it refuses is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gpu import cuda
from gpu.cuda.errors import TypingError


def unknown_name(x):
    return floor(x)  # noqa: F821


inner = cuda.jit(device=True)(unknown_name)
twice = cuda.jit([cuda.float64(cuda.float64)], device=True)(lambda x: x + x)


@cuda.jit(device=True)
def growing(n):
    if n == 0:
        return None
    return n, growing(n - 1)


def calls_unknown(x):
    inner(1.5)


def calls_with_others(x):
    x[0] = twice(1j).real


def grid_of_a_variable(x):
    cuda.grid(x.size)


def size_of_a_variable(x):
    cuda.shared.array(shape=(1, x.size), dtype=np.float32)


def does_not_end(x):
    growing(x.size)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (calls_unknown, "NameError: name 'floor' is not defined"),
        (calls_unknown, "resolving callee type: type(CUDADispatcher"),
        (calls_with_others, "Invalid use of type(CUDADispatcher(<function <lambda>>)) with parameters (complex128)"),
        (grid_of_a_variable, "RequireLiteralValue"),
        (size_of_a_variable, "No implementation of function Function(<function shared.array>)"),
        (size_of_a_variable, ">>> array(shape=Tuple(Literal[int](1), int64), dtype=class(float32))"),
        (does_not_end, "Return type of recursive function does not converge"),
    ],
)
def test_numbas_words(kernel, words: str) -> None:
    with pytest.raises(TypingError, match=re.escape(words)):
        cuda.jit("void(float64[:])")(kernel)


def test_signatures_that_fit_equally() -> None:
    kernel = cuda.jit(["(float64[::1], float32, float64)", "(float64[::1], float64, float32)"])(lambda r, x, y: None)
    with pytest.raises(TypeError) as caught:
        kernel[1, 1](np.zeros(1), 1.0, 2.0)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("Ambiguous overloading for <function") and lines[0].endswith(", float64, float64):")
    assert lines[1] == "(Array(float64, 1, 'C', False, aligned=True), float32, float64) -> none"


def test_place_of_an_exception() -> None:
    @cuda.jit
    def fails(x):
        if x[cuda.threadIdx.x] == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match=r"In function 'fails', file .*, line \d+, tid=\[3, 0, 0\] .*: three$"):
        fails[1, 8](cuda.to_device(np.arange(8)))
        cuda.synchronize()


def test_overload_with_other_parameters() -> None:
    def chosen(a): ...

    cuda.extending.overload(chosen)(lambda a: lambda b: b)

    with pytest.raises(TypingError, match="First difference: 'a'"):
        cuda.jit("void(int32)")(lambda n: chosen(n))


def test_copies_that_numba_refuses() -> None:
    rows, columns = np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))
    there = cuda.to_device(rows)
    with pytest.raises(ValueError, match=re.escape("incompatible strides: (24, 8) vs. (8, 16)")):
        there.copy_to_device(cuda.to_device(columns))
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        there[:, 1].copy_to_device(np.zeros(2))
    with pytest.raises(NotImplementedError, match="negative strides"):
        there[::-1].copy_to_host()
    assert "4." in repr(there[::-1]) and np.asarray(there[::-1])[0, 0] == 3  # those who only look needn't mind
    with pytest.raises(NotImplementedError, match="isn't supported"):
        np.transpose(cuda.to_device(np.zeros((2, 3, 4))))
    with pytest.raises(NotImplementedError, match="gaps"):
        there[0, ::2].ravel()
    there[...] = cuda.to_device(columns + 1)
    assert there.copy_to_host().tolist() == (rows + 1).tolist()


def test_what_is_made_like_a_transpose() -> None:
    there = cuda.to_device(np.arange(120).reshape(10, 12))
    assert cuda.device_array_like(there[::2, ::2].T).strides == (40, 8)  # as Numba's, whose transpose is a copy
    assert cuda.device_array_like(cuda.device_array((10, 12), order="F")[::2, ::2]).strides == (8, 40)


def test_bfloat16_is_printed_as_numba_does(capfd: pytest.CaptureFixture[str]) -> None:
    @cuda.jit
    def prints():
        print(cuda.bf16.float32_to_bfloat16(np.float32(0.9375)))

    prints[1, 1]()
    cuda.synchronize()
    assert capfd.readouterr().out == "0.937500\n"


def test_debugged_kernels_raise_at_the_launch() -> None:
    @cuda.jit("void(int32)", debug=True, opt=False)
    def fails(x):
        if x == 1:
            raise ValueError

    with pytest.raises(ValueError, match="In function 'fails'"):
        fails[1, 1](1)


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba's settings, from the environment or set, do what they say."""
    kernel, x = cuda.jit(lambda x: None), np.zeros(3)
    monkeypatch.setattr(cuda.config, "CUDA_WARN_ON_IMPLICIT_COPY", 1)
    with pytest.warns(cuda.errors.NumbaPerformanceWarning, match="Host array used in CUDA kernel will incur copy"):
        kernel[1, 1](x)
    kernel[1, 1](cuda.to_device(x))  # tests make errors of warnings
    kernel[1, 1](cuda.mapped_array(3))
    monkeypatch.setattr(cuda.config, "DISABLE_PERFORMANCE_WARNINGS", 1)
    kernel[1, 1](x)
    monkeypatch.setattr(cuda.config, "OPT", 0)
    assert cuda.jit(lambda x: None).targetoptions["opt"] == 0
    monkeypatch.setattr(cuda.config, "CUDA_DEBUGINFO_DEFAULT", 1)
    assert cuda.jit(lambda x: None).targetoptions["debug"]


def test_disabled_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_CUDA", "1")
    cuda.config.reload_config()
    try:
        assert not cuda.is_available() and "NUMBA_DISABLE_CUDA" in cuda.cuda_error()
        with pytest.raises(cuda.CudaSupportError, match="CUDA is disabled"):
            cuda.device_array(1)
        with pytest.raises(cuda.CudaSupportError):
            cuda.jit(lambda x: None)[1, 1]
    finally:
        monkeypatch.delenv("NUMBA_DISABLE_CUDA")
        cuda.config.reload_config()
    assert cuda.is_available() and cuda.cuda_error() is None


def test_debugging_with_optimisation_is_a_warning() -> None:
    with pytest.warns(cuda.errors.NumbaInvalidConfigWarning, match="not supported by CUDA"):
        cuda.jit(debug=True)(lambda x: None)
    cuda.jit(debug=True, opt=False)(lambda x: None)


def test_signed_and_unsigned_arrays_of_a_size_go_for_each_other() -> None:
    """As in Numba, whose kernels with a signature read the bits; one of the very type comes first."""

    def first(x, out):
        out[0] = x[0]

    out = np.zeros(1, np.int64)
    narrow = cuda.jit("void(int32[:], int64[:])")(first)
    narrow[1, 1](np.array([2**32 - 5], np.uint32), out)
    assert out[0] == -5
    both = cuda.jit(["void(int32[:], int64[:])", "void(uint32[:], int64[:])"])(first)
    both[1, 1](np.array([2**32 - 5], np.uint32), out)
    assert out[0] == 2**32 - 5
    with pytest.raises(TypeError, match="int32"):
        narrow[1, 1](np.zeros(1, np.float32), out)


def test_devices_have_names_of_their_own() -> None:
    uuid = cuda.get_current_device().uuid
    assert re.fullmatch(r"GPU(-[0-9a-f]+){5}", uuid) and uuid == cuda.get_current_device().uuid


def test_kernels_of_whole_grids() -> None:
    @cuda.jit("void(int32[:])")
    def whole(x):
        grid = cuda.cg.this_grid()
        if grid is None:
            x[0] = 1

    plain = cuda.jit("void(int32[:])")(lambda x: None)
    assert [kernel.overloads[kernel.signatures[0]].cooperative for kernel in (whole, plain)] == [True, False]


def test_the_import_of_a_refused_name_says_why() -> None:
    with pytest.raises(ImportError, match="it belongs to Numba's compiler"):
        from gpu.cuda.cudadrv import nvvm  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from gpu.cuda.errors import nothing  # noqa: F401
    assert not hasattr(cuda.cudadrv, "nvvm")


def test_a_generalized_ufunc_is_called_from_python() -> None:
    @cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
    def copy(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i]

    @cuda.jit
    def kernel(x, out):
        copy(x, out)

    with pytest.raises(TypingError, match="Untyped global name 'copy'") as raised:
        kernel[1, 1](np.zeros(2, np.float32), np.zeros(2, np.float32))
    assert "call the function that it was made of" in str(raised.value)


def test_objects_of_numbas_compiler_say_what_to_do_instead() -> None:
    stencils = type("StencilFunc", (), {"__module__": "numba.stencils.stencil", "__call__": lambda self, x: x})
    smoothed = stencils()

    @cuda.jit
    def kernel(x):
        x[0] = smoothed(x)

    with pytest.raises(TypingError, match="read the neighbours of each thread's element"):
        kernel[1, 1](np.zeros(2))


def test_types_as_text_and_pointers_to_elements() -> None:
    assert (str(cuda.float32), str(cuda.boolean)) == ("float32", "bool")
    assert np.zeros(1, str(cuda.complex64)).dtype == np.complex64
    assert cuda.types.CPointer(cuda.float32[:].dtype) == cuda.types.CPointer(cuda.float32)
