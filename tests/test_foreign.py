"""Declared functions: LLVM code, PTX and functions of shared libraries, called from kernels on every device."""

from __future__ import annotations

import ctypes
from pathlib import Path

import gpu
import numpy as np
import pytest
from gpu import _hostcc, _nvrtc, cuda, types

HOST = """
define float @axpb(float %a, i16 signext %b) {
  %x = sitofp i16 %b to float
  %y = fadd float %a, %x
  ret float %y
}
"""
FILL = """
define void @fill(ptr %x, i32 %n) {
  %first = icmp sgt i32 %n, 0
  br i1 %first, label %loop, label %done
loop:
  %i = phi i32 [0, %0], [%next, %loop]
  %at = getelementptr float, ptr %x, i32 %i
  %v = sitofp i32 %i to float
  store float %v, ptr %at
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
PTX = """
.version 6.5
.target sm_50
.address_size 64
.visible .func (.param .b32 result) times2(.param .b64 out, .param .b32 a)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [a];
    shl.b32 %r2, %r1, 1;
    st.u32 [%rd1], %r2;
    mov.u32 %r1, 0;
    st.param.b32 [result], %r1;
    ret;
}
.visible .func (.param .b32 result) fails(.param .b64 out, .param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    st.param.b32 [result], %r1;
    ret;
}
.visible .func (.param .b32 result) total(.param .b64 out, .param .b64 m, .param .b64 p, .param .b64 n,
                                          .param .b64 bytes, .param .b64 data, .param .b64 shape, .param .b64 stride)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [n];
    ld.param.u64 %rd3, [stride];
    mov.u32 %r1, 0;
again:
    ld.u32 %r2, [%rd1];
    add.s32 %r1, %r1, %r2;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, -1;
    setp.ne.s64 %p, %rd2, 0;
    @%p bra again;
    ld.param.u64 %rd4, [out];
    st.u32 [%rd4], %r1;
    mov.u32 %r3, 0;
    st.param.b32 [result], %r3;
    ret;
}
"""


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_llvm_text(device: str) -> None:
    axpb = gpu.declare_device("axpb", "float32(float32, int16)", link=HOST.encode())
    fill = gpu.declare_device("fill", "void(float32[:], int32)", link=[FILL.encode(), HOST.encode()])

    @gpu.jit
    def k(x, y):
        i = gpu.grid(1)
        if i < len(x):
            x[i] = axpb(x[i], i - 2)
        if i == 0:
            fill(y, len(y))

    x, y = np.ones(5, "f4"), np.zeros(4, "f4")
    with gpu.device(device):
        k[1, 32](x, y)
    assert x.tolist() == [-1, 0, 1, 2, 3] and y.tolist() == [0, 1, 2, 3]


def test_the_right_target_is_taken(tmp_path: Path) -> None:
    files = []
    for triple, value in [("nvptx64-nvidia-cuda", 1), ("x86_64-pc-linux-gnu", 2)]:
        files.append(tmp_path / f"{triple}.ll")
        files[-1].write_text(f'target triple = "{triple}"\ndefine i32 @which() {{\n  ret i32 {value}\n}}\n')
    which = gpu.declare_device("which", "int32()", link=files)

    @gpu.jit
    def k(x):
        x[0] = which()

    for device, value in [("emulated", 1), ("cpu", 2)]:
        x = np.zeros(1, "i4")
        with gpu.device(device):
            k[1, 1](x)
        assert x[0] == value


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("how", ["path", "ctypes", "address"])
def test_shared_library(device: str, how: str) -> None:
    function = ctypes.CDLL("libm.so.6").ldexp
    cpu = {"path": "libm.so.6", "ctypes": function, "address": ctypes.cast(function, ctypes.c_void_p).value}[how]
    ldexp = gpu.declare_device("ldexp", "float64(float64, int32)", cpu=cpu)

    @gpu.jit
    def k(x):
        i = gpu.grid(1)
        x[i] = ldexp(x[i], i)

    x = np.full(4, 1.5)
    with gpu.device(device):
        k[1, 4](x)
    assert x.tolist() == [1.5, 3, 6, 12] and ldexp(0.5, 3) == 4


def test_arrays_go_to_a_library_as_pointers() -> None:
    memset = gpu.declare_device("memset", "void(uint8[:, :], int32, uint64)", cpu="libc.so.6")

    @gpu.jit
    def k(x):
        memset(x, 7, x.size)

    x = np.zeros((2, 3), "u1")
    with gpu.device("cpu"):
        k[1, 1](x)
        assert (x == 7).all()
        with pytest.raises(gpu.TypingError, match="memset"):
            k[1, 1](np.zeros((2, 6), "u1")[:, ::2])
        x.flags.writeable = False
        with pytest.raises(gpu.TypingError, match="memset"):
            k[1, 1](x)


def test_numbas_convention(tmp_path: Path) -> None:
    (tmp_path / "code.ptx").write_text(PTX)
    times2 = cuda.declare_device("times2", "int32(int32)")
    total = cuda.declare_device("total", "int32(int32[:])", link=cuda.PTXSource(PTX))

    def helper(x):
        return times2(x) + 1

    @cuda.jit(link=[str(tmp_path / "code.ptx")])
    def k(x, y, out):
        i = cuda.grid(1)
        x[i] += helper(y[i]) + times2(i)
        if i == 0:
            out[0] = total(y[::2])

    x, y, out = np.zeros(4, "i4"), np.arange(4, dtype="i4"), np.zeros(1, "i4")
    with gpu.device("emulated"):
        k[1, 4](x, y, out)
    assert x.tolist() == [1, 5, 9, 13] and out[0] == 2


class FFI:
    """Stands for cffi's."""

    def from_buffer(self, array: object) -> object:
        return array


def test_pointers() -> None:
    ffi = FFI()
    fill = cuda.declare_device(
        "fill", types.void(types.CPointer(types.float32), types.int32), link=FILL.encode(), abi="c"
    )
    assert repr(fill.sig) == "void(float32*, int32)"

    @cuda.jit
    def k(x, y):
        fill(ffi.from_buffer(x), 3)
        fill(y[1:], 2)

    for device in ("emulated", "cpu"):
        x, y = np.zeros((2, 2), "f4"), np.zeros(3, "f4")
        with gpu.device(device):
            k[1, 1](x, y)
        assert x.tolist() == [[0, 1], [2, 0]] and y.tolist() == [0, 0, 1]
    with gpu.device("cpu"), pytest.raises(gpu.TypingError, match="pointer to float32"):
        k[1, 1](x, np.zeros(3))


def test_a_status_that_says_failure() -> None:
    fails = cuda.declare_device("fails", "int32(int32)", link=PTX.encode())

    @cuda.jit
    def k(x):
        x[0] = fails(x[0])

    with gpu.device("emulated"):
        k[1, 1](np.array([-2], "i4"))  # the status of a function that returns None
        with pytest.raises(RuntimeError, match=r"fails\(\) returned a status"):
            k[1, 1](np.array([1], "i4"))


def test_declarations() -> None:
    for signature in (cuda.int32(cuda.float32[:]), "int32(float32[:])"):
        f = cuda.declare_device("f1", signature)
        assert f.name == "f1" and f.sig.args == (cuda.float32[:],)
    for signature in ((cuda.float32[:],), "(float32[:],)"):
        with pytest.raises(TypeError, match="Return type"):
            cuda.declare_device("f1", signature)
    with pytest.raises(TypeError, match="complex64"):
        gpu.declare_device("f", "int32(complex64)")
    with pytest.raises(ValueError, match="symbol"):
        gpu.declare_device("no name", "int32()")
    with pytest.raises(RuntimeError, match="CUDA C has the ending"):
        gpu.jit(link="f.cuh")(lambda: None)
    with pytest.raises(NotImplementedError, match="LTO-IR"):
        cuda.declare_device("f", "int32()", link=cuda.LTOIR(b""))
    with pytest.raises(ValueError, match="neither PTX"):
        gpu.declare_device("f", "int32()", link=b"something else")
    with pytest.raises(OSError):
        gpu.declare_device("f", "int32()", link="/there/is/no.ptx")
    with pytest.raises(ValueError, match="has no function"):
        gpu.declare_device("there_is_no_such_function", "int32()", cpu="libm.so.6")


@pytest.mark.parametrize(
    ("device", "link", "message"),
    [
        ("cpu", None, "nothing defines it for the CPU"),
        ("cpu", b".version 7.0\n.target sm_75", r'nothing defines it for the CPU.* gpu\.device\("emulated"\) runs it'),
        ("emulated", None, "nothing defines it for a GPU"),
        ("cpu", b"define i32 @f() { ret float 1.0 }", "can't be linked: .*result type"),
        ("cpu", b"BC\xc0\xde" + bytes(40), "can't be linked"),
        ("emulated", b".version 7.0\nnonsense", "nonsense"),
    ],
)
def test_what_cant_be_linked(device: str, link: bytes | None, message: str) -> None:
    f = gpu.declare_device("f", "int32()", link=link)

    @gpu.jit
    def k(x):
        x[0] = f()

    with gpu.device(device), pytest.raises(gpu.CompileError, match=message):
        k[1, 1](np.zeros(1, "i4"))


# ---- CUDA C

needs_nvrtc = pytest.mark.skipif(_nvrtc.library() is None, reason="NVRTC isn't installed")
CUDA_C = """
#include <cuda_fp16.h>
#include "three.h"
extern "C" __device__ int triple(int *result, int x) { *result = x * THREE; return 0; }
extern "C" __device__ float halved(float x) { return __half2float(__float2half(x)) / 2; }
"""


@needs_nvrtc
def test_cuda_c_is_compiled_and_linked(tmp_path: Path) -> None:
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    (tmp_path / "f.cu").write_text(CUDA_C)
    triple = cuda.declare_device("triple", "int32(int32)", link=str(tmp_path / "f.cu"))
    halved = gpu.declare_device("halved", "float32(float32)", link=tmp_path / "f.cu")

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        x[i] = triple(x[i])
        y[i] = halved(y[i])

    x, y = np.arange(4, dtype=np.int32), np.arange(4, dtype=np.float32)
    with gpu.device("emulated"):
        kernel[1, 4](x, y)
    assert (x.tolist(), y.tolist()) == ([0, 3, 6, 9], [0, 0.5, 1, 1.5])


@needs_nvrtc
@pytest.mark.parametrize("named", ["setting", "variable"])
def test_headers_of_cuda_c_lie_in_folders_that_numbas_setting_names(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    if named == "setting":
        monkeypatch.setattr(cuda.config, "CUDA_NVRTC_EXTRA_SEARCH_PATHS", str(tmp_path))
    else:
        monkeypatch.setenv("NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", f"/nowhere:{tmp_path}")
    assert b"triple" in _nvrtc.compile_cuda(CUDA_C.encode(), "f")


@needs_nvrtc
def test_errors_of_cuda_c_are_shown() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)can't compile mine.*mine\(1\): error.*oops"):
        cuda.declare_device("f", "int32()", link=cuda.CUSource("int f() { return oops; }", "mine"))


@needs_nvrtc
def test_ptx_of_cuda_c_by_numbas_name():
    from gpu.cuda.cudadrv import nvrtc

    source = 'extern "C" __device__ int twice(int *result, int x) { *result = 2 * x; return 0; }'
    made, log = nvrtc.compile(source, "twice.cu", (8, 0))
    assert b".target sm_80" in made.code and log == ""
    twice = cuda.declare_device("twice", "int32(int32)", link=made)

    @cuda.jit
    def kernel(x):
        x[0] = twice(x[0])

    x = np.full(1, 21, np.int32)
    with gpu.device("emulated"):
        kernel[1, 1](x)
    assert x[0] == 42
    with pytest.raises(NotImplementedError, match="LTO-IR"):
        nvrtc.compile(source, "twice.cu", (8, 0), ltoir=True)


def test_cuda_c_without_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_nvrtc, "library", lambda: None)
    with gpu.device("emulated"), pytest.raises(NotImplementedError, match=r"pip install nvidia-cuda-nvrtc.*nvcc -ptx"):
        cuda.declare_device("f", "int32()", link=cuda.CUSource("int f() {}"))


# ---- CUDA C on the CPU

needs_compiler = pytest.mark.skipif(_hostcc.compiler() is None, reason="no C++ compiler is installed")


@needs_compiler
@pytest.mark.parametrize("nvrtc", ["there", "missing"])
def test_cuda_c_on_the_cpu(nvrtc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if nvrtc == "missing":
        monkeypatch.setattr(_nvrtc, "library", lambda: None)
    (tmp_path / "three.h").write_text(
        "#define THREE 3\n__device__ __forceinline__ int least(int a) { return min(a, 7); }\n"
    )
    twice = tmp_path / "twice.cu"
    twice.write_text('#include "three.h"\nextern "C" __device__ int twice(int x) { return 2 * least(x); }\n')
    more = cuda.CUSource("""
        extern "C" __device__ int twice(int);
        extern "C" __device__ int fill(float *a, int n) {
            for (int i = 0; i < n; i++) a[i] = rsqrtf((float)twice(i));
            return n;
        }""")

    with gpu.device("cpu"):
        fill = cuda.declare_device("fill", "int32(float32[::1], int32)", link=[more, str(twice)], abi="c")

        @cuda.jit
        def kernel(out, n):
            n[0] = fill(out, 9)

        out, n = np.zeros(9, np.float32), np.zeros(1, np.int32)
        kernel[1, 1](out, n)
    assert n[0] == 9
    np.testing.assert_allclose(out[1:], 1 / np.sqrt(2.0 * np.minimum(np.arange(1, 9), 7)), rtol=1e-6)


@needs_compiler
def test_cuda_c_that_is_code_for_gpus_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_nvrtc, "library", lambda: None)
    with gpu.device("cpu"):
        f = cuda.declare_device(
            "f", "int32()", link=cuda.CUSource('extern "C" __device__ int f(int *r) { return threadIdx.x; }', "mine")
        )
        with pytest.raises(RuntimeError, match=r"(?s)can't compile mine for the cpu device.*mine:1:.*threadIdx"):
            cuda.jit("void(int32)")(lambda x: print(f()))


@needs_nvrtc
def test_warnings_of_cuda_c_are_warnings() -> None:
    with pytest.warns(UserWarning, match=r"NVRTC log messages.*mine(?s:.*)unused"):
        _nvrtc.compile_cuda(b'extern "C" __device__ int f() { int unused; return 1; }', "mine")


def test_code_that_is_not_there() -> None:
    for error in (FileNotFoundError, gpu.DeviceError):
        with pytest.raises(error, match=r"^nowhere\.a not found$"):
            gpu.jit(link="nowhere.a")(lambda: None)
    with pytest.raises(RuntimeError, match="with no extension"):
        gpu.jit(link="nowhere")(lambda: None)
