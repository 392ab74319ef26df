"""Every public name of ``numba.cuda`` is in ``gpu.cuda``, or refused by name with what to do instead."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from gpu import cuda
from gpu.cuda._refused import REFUSED

TEXT = (Path(__file__).parent / "numba_names.txt").read_text()
MODULES = {block.partition("]")[0]: block.partition("]")[2].split() for block in TEXT.split("[")[1:]}


def module(title):
    return importlib.import_module("gpu.cuda" if title == "numba.cuda" else f"gpu.cuda.{title}")


def refused(title):
    """Names that are refused in a module, each with why."""
    rows = REFUSED.get("" if title == "numba.cuda" else title, ())
    return {name: reason for names, reason in rows for name in names.split()}


@pytest.mark.parametrize("title", MODULES)
def test_every_name_is_there_or_refused(title):
    found, reasons = module(title), refused(title)
    for name in MODULES[title]:
        if name in reasons:
            with pytest.raises(AttributeError, match=re.escape(reasons[name])):
                getattr(found, name)
        else:
            assert hasattr(found, name), f"{title}.{name}"


def test_the_list_is_whole():
    assert len(MODULES) == 11
    assert len(MODULES["libdevice"]) == 317
    assert {"jit", "to_device", "Reduce", "float32", "set_memory_manager"} <= set(MODULES["numba.cuda"])


@pytest.mark.parametrize("title", REFUSED)
def test_nothing_is_refused_that_numba_lacks(title):
    assert set(refused(title or "numba.cuda")) <= set(MODULES[title or "numba.cuda"])


def test_a_name_that_nobody_has():
    with pytest.raises(AttributeError, match=r"module 'gpu\.cuda' has no attribute 'nothing'"):
        module("numba.cuda").nothing  # noqa: B018


ARRAYS = (np.arange(3.0), np.arange(4, dtype=np.int32))


def test_literal_unroll():
    @cuda.jit
    def sums(out):
        for a in cuda.literal_unroll(ARRAYS):
            out[0] += a.sum()

    out = np.zeros(1)
    sums[1, 1](out)
    assert out[0] == 9


def test_grids_of_few_blocks(monkeypatch):
    @cuda.jit
    def nothing():
        pass

    monkeypatch.setattr(cuda.config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1)
    with pytest.warns(cuda.errors.NumbaPerformanceWarning, match="Grid size 6 .* low occupancy"):
        nothing[(2, 3), 32]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing[128, 32]
        monkeypatch.setattr(cuda.config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)
        nothing[1, 32]


def test_llvm_is_written_as_numba_writes_it() -> None:
    """The same module: fields of metadata in another order, and what names kernels for older versions of LLVM."""
    kernel = cuda.jit("void(float32[::1])", debug=True, opt=False)(lambda x: None)
    plain, text = kernel.inspect("llvm", kernel.signatures[0], arch="sm_80"), kernel.inspect_llvm(kernel.signatures[0])
    assert '!DIBasicType(name: "float32", size: 32, encoding: DW_ATE_float)' in plain
    assert '!DIBasicType(encoding: DW_ATE_float, name: "float32", size: 32)' in text
    assert "= !{ null, " in text and "= !{null, " in plain
    name = kernel.overloads[kernel.signatures[0]].entry_name
    assert f'!{{ ptr @{name}, !"kernel", i32 1 }}' in text
    for line, other in zip(plain.splitlines(), text.splitlines(), strict=False):
        assert sorted(re.findall(r"[^\s,(){}]+", line)) == sorted(re.findall(r"[^\s,(){}]+", other))


def test_dumps(capsys, monkeypatch) -> None:
    """What NUMBA_DUMP_... print of a kernel when it is compiled, once."""
    from gpu.cuda import _dumps, config

    def counting(x, n):
        for i in range(n):
            x[0] += i

    wanted = {
        "DUMP_BYTECODE": "(arg=",
        "DUMP_CFG": "CFG dominators",
        "DUMP_IR": "IR DUMP: counting",
        "DUMP_LLVM": "ptx_kernel void @counting",
        "DUMP_ASSEMBLY": ".visible .entry counting",
    }
    assert set(wanted) == set(config.DUMPS)
    for name, text in wanted.items():
        monkeypatch.setattr(config, name, 1)
        kernel = cuda.jit(counting)
        for _ in range(2):
            kernel[1, 1](np.zeros(1), 3)
        monkeypatch.setattr(config, name, 0)
        printed = capsys.readouterr().out
        assert printed.count(text) >= 1 and printed.count("counting") >= 1
        assert [other for other, its in wanted.items() if its in printed] == [name]
        assert name == "DUMP_BYTECODE" or printed.count(text) == 1
    assert [value for _, value in _dumps.constants_of(lambda x: x + 1.5) if value is not None] == [1.5]
    assert _dumps.graph_of("b0:\n  jump b1\nb1:\n  branch %1, b1, b2\nb2:\n  ret\n") == {
        "b0": ["b1"],
        "b1": ["b1", "b2"],
        "b2": [],
    }
    assert _dumps.dominators({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []})["d"] == ["a", "d"]


def test_types_of_variables() -> None:
    """`Overload._type_annotation`, which tests of numba-cuda look into; the type of an array's elements is a type."""

    @cuda.jit("void(int32[::1])")
    def kernel(x):
        local = cuda.local.array(10, np.int16)
        shared = cuda.shared.array((10, 2), "float32")
        number = x[0] * 1.5
        both = (1, number)  # noqa: F841
        local[0] = shared[0, 0] = number

    (overload,) = kernel.overloads.values()
    types = overload._type_annotation.typemap
    assert types["local"].dtype == cuda.int16 and cuda.int16 == types["local"].dtype != cuda.int32
    assert types["local"].dtype == "int16" and types["local"].dtype != "int32"
    assert (types["shared"].ndim, types["x"], types["number"]) == (2, cuda.int32[::1], cuda.float64)
    assert types["both"] == "tuple(int64, float64)"
