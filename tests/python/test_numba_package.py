"""Programs that say ``import numba`` run on gpu.cuda when they are asked to."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import gpu.numba
import pytest

PROGRAM = """
import sys
import numba
import numba.cuda
import numpy as np
from numba import cuda, float32, njit, prange, types
from numba.core import types as core_types
from numba.core.errors import TypingError
from numba.cuda import libdevice
from numba.cuda.random import create_xoroshiro128p_states
import helper


@njit
def square(x):
    return x * x


@cuda.jit(device=True)
def more(x):
    return square(x) + 1


@cuda.jit("void(float32[:])")
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = more(x[i])


x = np.arange(4, dtype=np.float32)
kernel[1, 32](x)
print(x.tolist(), sys.argv[1:], helper.available(), core_types is types, cuda is numba.cuda, cuda.__name__)
try:
    kernel[1, 32]("text")
except TypeError as error:
    print("TypeError")
"""
HELPER = "from numba import cuda\n\n\ndef available():\n    return cuda.is_available()\n"
PRINTED = "[1.0, 2.0, 5.0, 10.0] ['a', '-b'] True True True gpu.cuda\nTypeError\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def run(folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_script_runs_unchanged(program: Path) -> None:
    assert run(Path.cwd(), "gpu.numba", str(program), "a", "-b") == PRINTED


def test_a_module_runs_unchanged(program: Path) -> None:
    assert run(program.parent, "gpu.numba", "-m", "program", "a", "-b") == PRINTED


def test_the_command_runs_it_too(program: Path) -> None:
    pytest.importorskip("click")
    assert run(Path.cwd(), "gpu", "numba", str(program), "a", "-b") == PRINTED


NAMES_WITHOUT_NUMBA = """
import numba_cuda
import numpy as np
from numba import cuda
from numba.cuda._internal.cuda_bf16 import hsqrt, nv_bfloat16
from numba.extending import overload


def answer():
    raise NotImplementedError


@overload(answer, target="cuda", inline="always")
def answer_of():
    def made():
        a = cuda.local.array(1, np.float32)
        a[0] = 42
        return a[0]

    return made


@cuda.jit
def kernel(x):
    x[0] = answer()
    x[1] = np.float32(hsqrt(nv_bfloat16(9)))


x = np.zeros(2)
kernel[1, 1](x)
print(x.tolist(), numba_cuda.__version__ >= "0.30")
"""


def test_without_a_script_it_says_how() -> None:
    done = subprocess.run([sys.executable, "-m", "gpu.numba"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m gpu.numba script.py")


# In an environment without numba; test_beside_numba.py has one.
HIDE_NUMBA = (
    "import importlib.util, sys; find = importlib.util.find_spec; "
    "importlib.util.find_spec = lambda name, *at: None if name == 'numba' else find(name, *at); "
    "from gpu.numba import run; run(sys.argv[1:])"
)


def run_text(folder: Path, text: str, installed: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a program where numba is, or where it isn't."""
    (folder / "p.py").write_text(text)
    command = [sys.executable, *(("-m", "gpu.numba") if installed else ("-c", HIDE_NUMBA)), "p.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_names_where_numba_is_not(tmp_path: Path) -> None:
    done = run_text(tmp_path, NAMES_WITHOUT_NUMBA)
    assert done.stdout == "[42.0, 3.0] True\n", done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "from numba.core import ir",
        "import numba.core.ir",
        "from numba.extending import NativeValue",
        "import numba.parfors",
    ],
)
def test_the_inside_is_refused_by_name(line: str, tmp_path: Path) -> None:
    done = run_text(tmp_path, line)
    assert done.returncode == 1
    assert "Numba's inside isn't there in gpu" in done.stderr
    assert "docs/numba.md" in done.stderr


def test_a_missing_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "numba"}
    for name in before:
        del sys.modules[name]
    try:
        gpu.numba.install()
        gpu.numba.install()  # twice is once
        import numba

        with pytest.raises(AttributeError, match=r"numba\.stencil isn't there"):
            _ = numba.stencil
        assert gpu.cuda.__spec__.name == "gpu.cuda"
    finally:
        gpu.numba.uninstall()
        sys.modules.update(before)


ON_THE_HOST = """
import numba
from numba import NumbaWarning, literal_unroll, njit, objmode, set_num_threads
from numba.experimental import jitclass
from numba.extending import register_jitable
from numba.typed import Dict, List


@jitclass([("x", numba.int32)])
class Box:
    def __init__(self, x):
        self.x = x


@njit(parallel=True)
def total(boxes):
    found = 0
    with objmode():
        for i in numba.prange(len(boxes)):
            found += boxes[i].x
    return found


@register_jitable
def double(x):
    return 2 * x


@numba.cuda.jit
def kernel(out):
    for i in literal_unroll((1, 2.5)):
        out[0] += double(i)


set_num_threads(2)
counts = Dict.empty(key_type=numba.types.int64, value_type=numba.types.int64)
counts[1] = total.py_func(List([Box(1), Box(2)]))
import numpy as np
out = np.zeros(1)
kernel[1, 1](out)
print(counts, out, numba.get_num_threads(), numba.__version__.split("."), issubclass(NumbaWarning, Warning))
"""


def test_what_programs_do_on_the_host(tmp_path: Path) -> None:
    done = run_text(tmp_path, ON_THE_HOST)
    assert done.stdout == "{1: 3} [7.] 2 ['0', '60', '0'] True\n", done.stderr


def test_a_numba_that_is_imported_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba.cuda", sys)
    with pytest.raises(RuntimeError, match=r"numba\.cuda is imported already"):
        gpu.numba.install()


OVERLOADS = """
import numpy as np
from numba import cuda, types
from numba.extending import overload, overload_attribute, overload_method, type_callable


def bar(x, y=None):
    return x


@overload(bar)
def choose_bar(x, y=None):
    if isinstance(x, types.Array):
        return lambda x, y=None: x.shape[0]
    if isinstance(x, types.UniTuple):
        return lambda x, y=None: x[0] - x[1]
    return (lambda x, y=None: 2 * x) if isinstance(x, types.Integer) else lambda x, y=None: -x


def axis_of(axis):
    return -1


@overload(axis_of, prefer_literal=True)
def choose_axis(axis):
    if isinstance(axis, types.StringLiteral) and axis.literal_value == "rows":
        return lambda axis: 100
    return lambda axis: 200


@overload_method(types.Array, "second")
def second(array):
    return lambda array: array[1]


@overload_attribute(types.Array, "twice")
def twice(array):
    return lambda array: array.size * 2


def typed(x):
    return x


@type_callable(typed)
def type_of_typed(context):
    return lambda x: types.float64


@overload(bar, target="cpu")
def not_in_kernels(x, y=None):
    raise AssertionError


@cuda.jit
def kernel(x, n, out):
    out[0] = bar(n)
    out[1] = bar(x[1], 3)
    out[2] = bar(x)
    out[3] = bar((5.0, 2.0))
    out[4] = axis_of("rows") + axis_of("columns")
    out[5] = x.second() + x.twice


out = np.zeros(6)
kernel[1, 1](np.arange(4.0), 4, out)
print(out.tolist())
try:
    cuda.jit("void(float64[:])")(lambda x: typed(x[0]))
except cuda.errors.TypingError as error:
    print("register a plain function" in str(error))
"""


@pytest.mark.parametrize("installed", [True, False])
def test_functions_that_types_choose(tmp_path: Path, installed: bool) -> None:
    if installed:
        pytest.importorskip("numba")
    done = run_text(tmp_path, OVERLOADS, installed)
    assert done.stdout == "[8.0, -1.0, 4.0, 3.0, 300.0, 9.0]\nTrue\n", done.stderr


IMPORTS = """
import numba
import numpy as np
from numba import cuda, literally
from numba.core.decorators import njit
from numba.core.errors import NumbaPendingDeprecationWarning, NumbaTypeSafetyWarning, NumbaWarning
from numba.cuda.api import DeviceNDArray, to_device
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_next, xoroshiro128p_type
from numba.misc.special import literal_unroll, prange


@cuda.jit(numba.void(xoroshiro128p_type[:], numba.uint64[:]))
def kernel(states, out):
    for i in prange(out.size):
        out[i] = xoroshiro128p_next(states, 0)


out = np.zeros(2, np.uint64)
kernel[1, 1](create_xoroshiro128p_states(1, seed=1), out)
print(isinstance(kernel, CUDADispatcher), isinstance(to_device(out), DeviceNDArray), len(set(out)))
print(issubclass(NumbaPendingDeprecationWarning, NumbaWarning), numba.version_info[0])
"""


@pytest.mark.parametrize("installed", [True, False])
def test_names_that_programs_import(tmp_path: Path, installed: bool) -> None:
    if installed:
        pytest.importorskip("numba")
    done = run_text(tmp_path, IMPORTS, installed)
    assert done.stdout == "True True 2\nTrue 0\n", done.stderr
