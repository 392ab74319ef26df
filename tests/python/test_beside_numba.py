"""Programs that change their import of ``numba.cuda`` alone: numba's types, signatures and njit functions in kernels.

The package itself needn't be there: what stands for it has classes of its names, as far as gpu looks at them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "numba/__init__.py": """
        from .core import types
        from .core.registry import njit
        from .core.types import *
        from .misc.special import prange
        from .np.ufunc import vectorize
        """,
    "numba/cuda/__init__.py": """
        def grid(ndim):
            raise NotImplementedError
        """,
    "numba/core/registry.py": """
        class CPUDispatcher:
            def __init__(self, function):
                self.py_func = function

            def __call__(self, *args):
                return "compiled", self.py_func(*args)


        def njit(function):
            return CPUDispatcher(function)
        """,
    "numba/core/types.py": """
        import numpy as np


        class Type:
            mangling_args = ()

            def __init__(self, dtype):
                self.dtype = dtype

            def __getitem__(self, dims):
                return Array(self, len(dims) if isinstance(dims, tuple) else 1)

            def __call__(self, *args):
                return Signature(self, args) if isinstance(args[0], Type) else self.dtype.type(args[0])


        class Array(Type):
            layout, mutable, aligned = "A", True, True

            def __init__(self, dtype, ndim):
                self.dtype, self.ndim = dtype, ndim


        class UniTuple(Type):
            def __init__(self, item, count):
                self.types = (item,) * count


        class NoneType(Type):
            pass


        class Signature:
            def __init__(self, return_type, args):
                self.return_type, self.args = return_type, args


        float32, float64, int32 = Type(np.dtype("f4")), Type(np.dtype("f8")), Type(np.dtype("i4"))
        void = NoneType(None)


        def from_dtype(dtype):
            return Type(dtype)
        """,
    "numba/misc/special.py": """
        class prange:
            def __new__(cls, *args):
                return range(*args)
        """,
    "numba/np/numpy_support.py": """
        def as_dtype(kind):
            if kind.dtype is None or hasattr(kind, "ndim"):
                raise NotImplementedError
            return kind.dtype
        """,
    "numba/np/ufunc.py": """
        from . import numpy_support


        def vectorize(signatures, target):
            from numba.cuda.vectorizers import CUDAVectorize

            def decorator(function):
                builder = CUDAVectorize(function, identity=0, cache=False, targetoptions={})
                for signature in signatures:
                    builder.add(signature)
                builder.disable_compile()
                return builder.build_ufunc()

            return decorator
        """,
}
PROGRAM = """
import numba
import numba.cuda
import numpy as np
from numba import float32, float64, from_dtype, int32, njit, prange, types, vectorize, void
{imports}

pixel = np.dtype([("value", "f4"), ("count", "i4")])
pixel_type = from_dtype(pixel)


@njit
def total(x, n):
    found = float32(0)
    for i in prange(n):
        found += x[i]
    return found


@cuda.jit(device=True)
def twice(x):
    return numba.float32(2 * x)


@cuda.jit(float32(float32, float32), device=True)
def add(x, y):
    return x + y


@cuda.jit(void(float32[:], int32, types.UniTuple(float64, 2)))
def kernel(out, n, pair):
    block = cuda.shared.array(4, dtype=float32)
    pixels = cuda.local.array(2, pixel_type)
    i = numba.cuda.grid(1)
    block[i] = i
    cuda.syncthreads()
    pixels[1].value = total(block, n)
    out[i] = add(twice(pixels[1].value), pair[1])


out = np.zeros(4, np.float32)
kernel[1, 4](out, 3, (1.0, 0.5))
assert out.tolist() == [6.5] * 4, out
kernel_of_two = cuda.jit([void(float32[:]), void(float64[:])])(lambda x: None)
assert len(kernel_of_two.overloads) == 2
assert total(out, 2) == ("compiled", 13)
assert cuda.jit(device=True)(total).py_func is total.py_func
plus = cuda.vectorize([float32(float32, float32)])(lambda a, b: a + b)
assert plus(1.5, 2) == 3.5 and plus(out, out).tolist() == [13] * 4
assert str(cuda.typeof(np.zeros(2, pixel))) == "array(record(value: float32, count: int32), 1d, C)"
"""
WHOLE = """
@vectorize([float32(float32, float32)], target="cuda")
def product(a, b):
    return a * b


assert product(out, out).tolist() == [6.5**2] * 4
assert numba.cuda is cuda and cuda.__name__ == "gpu.cuda" and numba.njit.__module__ == "numba.core.registry"
"""

# The package is found as an installed one is: before the program runs.
RUN_WITH_THE_FOLDER = "import sys; sys.path.insert(0, '.'); from gpu.numba import run; run(sys.argv[1:])"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import textwrap

    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


def run(folder: Path, text: str, *options: str) -> None:
    (folder / "program.py").write_text(text)
    command = [sys.executable, *options, "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_one_changed_import(folder: Path) -> None:
    run(folder, PROGRAM.format(imports="from gpu import cuda"))


def test_no_changed_import(folder: Path) -> None:
    run(folder, PROGRAM.format(imports="from numba import cuda") + WHOLE, "-c", RUN_WITH_THE_FOLDER)


def test_the_real_package(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    text = PROGRAM.format(imports="from numba import cuda").replace('== ("compiled", 13)', "== 13")
    run(tmp_path, text, "-c", RUN_WITH_THE_FOLDER)


OF_ITS_OWN = """
import numba
import numpy as np
from gpu import cuda
from numba import carray, types
from numba.experimental import jitclass


@jitclass([("a", numba.float64)])
class Box:
    def __init__(self, a):
        self.a = a

    def get(self):
        return self.a


box, items = Box(3.0), numba.typed.List([5.0])


def of_a_list(x):
    x[0] = items[0]


def of_a_dict(x):
    x[0] = len(numba.typed.Dict.empty(types.int64, types.float64))


def of_a_box(x):
    x[0] = box.get()


for function, words in (of_a_list, "cuda.local.array"), (of_a_dict, "keys and values"), (of_a_box, "Numba's"):
    try:
        cuda.jit("void(float64[:])")(function)
    except cuda.errors.NumbaError as error:
        assert words in str(error) and str(error).startswith(__file__), error
    else:
        raise AssertionError(function)


@cuda.jit("void(CPointer(float64), float64[:])")
def kernel(p, out):
    out[0] = carray(p, (2, 2))[1, 0]


numbers, out = cuda.to_device(np.arange(4.0)), np.zeros(1)
kernel[1, 1](numbers.__cuda_array_interface__["data"][0], out)
assert out[0] == 2
"""


def test_what_the_real_package_has_for_its_own_compiler(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    run(tmp_path, OF_ITS_OWN)
