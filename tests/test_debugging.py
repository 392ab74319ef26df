"""Debug information: what is compiled with debug=True and without optimisation has all that a debugger shows."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu.cuda.errors import NumbaDebugInfoWarning

PAIR = np.dtype([("a", np.int32), ("b", np.float64, (2,))])


def doubled(p):
    twice = p + p
    return twice


inner = cuda.jit(device=True)(doubled)
before_and = cuda.jit(device=True)(lambda z: z + 1)


# The decorator's lines aren't the function's.
@cuda.jit(
    "void(float64[:, :], int32, boolean, complex64)",
    debug=True,
    opt=False,
)
def variables(x, n, flag, c):
    local = cuda.local.array(4, np.int16)
    shared = cuda.shared.array(3, np.float32)
    records = cuda.local.array(2, PAIR)
    both = (n, 1.5)
    text = "no value at run time"  # noqa: F841
    total = 0.0
    for k in range(n):
        if flag:
            continue
        total += inner(k)
    total, before = before_and(total), total
    never_read = total == before  # noqa: F841
    local[0] = shared[0] = records[0].a = 1
    x[0, 0] = total + before + both[1] + local[0] + shared[0] + records[0].a + c.real


DEF = doubled.__code__.co_firstlineno + 15  # of `variables`


def llvm() -> str:
    return str(variables.inspect("llvm", variables.signatures[0], arch="sm_80"))


def nodes(text: str) -> dict[str, str]:
    return dict(re.findall(r"^(!\d+) = (?:distinct )?(.*)$", text, re.MULTILINE))


def variable(text: str, name: str) -> dict[str, str]:
    found = [n for n in nodes(text).values() if n.startswith(f'!DILocalVariable(name: "{name}"')]
    assert len(found) == 1, found
    return dict(re.findall(r"(\w+): ([^,)]+)", found[0]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("n", '"int32", size: 32, encoding: DW_ATE_signed'),
        ("flag", '"bool", size: 8, encoding: DW_ATE_boolean'),
        ("c", '"complex64", size: 64, encoding: DW_ATE_complex_float'),
        ("k", '"int32", size: 32, encoding: DW_ATE_signed'),
        ("total", '"float64", size: 64, encoding: DW_ATE_float'),
        ("before", '"float64"'),
        ("never_read", '"bool"'),
        ("twice", '"int64"'),
        ("x", '"array(float64, 2d, A)"'),
        ("shared", '"array(float32, 1d, C, shared)"'),
        ("both", "DW_TAG_structure_type"),
    ],
)
def test_variables_have_types(name: str, kind: str) -> None:
    text = llvm()
    assert kind in nodes(text)[variable(text, name)["type"]]


def test_members_and_address_classes() -> None:
    text = llvm()
    known = nodes(text)
    members = known[re.search(r"elements: (!\d+)", known[variable(text, "shared")["type"]])[1]]
    parts = [known[m] for m in re.findall(r"!\d+", members)]
    names = ["meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"]
    assert [re.search(r'name: "(\w+)"', part)[1] for part in parts] == names
    assert "offset: 384" in parts[-1]
    assert "dwarfAddressSpace" not in known[re.search(r"baseType: (!\d+)", parts[4])[1]]
    assert "store volatile i64 ptrtoint (ptr addrspacecast (ptr addrspace(3) @" in text
    fields = 'name: "a", ', 'name: "b", '
    assert all(any(f in n for n in known.values() if "DW_TAG_member" in n) for f in fields)


def test_variables_are_assigned_arrays_again() -> None:
    @cuda.jit("void(float32[:, ::1])", debug=True, opt=False, cache=True)
    def kernel(x):
        row = x[0]
        for i in range(2):
            row = x[i]
        row[0] = 3

    x = np.zeros((2, 2), np.float32)
    kernel[1, 1](x)
    assert x[1, 0] == 3
    text = kernel.inspect("llvm", kernel.signatures[0], arch="sm_80")
    assert len(re.findall('DILocalVariable\\(name: "row"', text)) == 1


def test_arrays_of_the_other_dialect_know_their_memory() -> None:
    def kernel(x):
        shared = gpu.shared.array(3, np.float32)
        shared[0] = x[0]
        x[1] = shared[0]

    known = nodes(gpu.jit(kernel, debug=True, opt=0).inspect("llvm", "f4[::1]", arch="sm_80"))
    assert any('name: "strides"' in n and "offset: 128" in n for n in known.values())
    assert any("DW_TAG_pointer_type" in n and "dwarfAddressSpace: 8" in n for n in known.values())


def test_functions_and_lines() -> None:
    text = llvm()
    symbol = variables.overloads[variables.signatures[0]].entry_name
    assert f'DISubprogram(name: "variables", linkageName: "{symbol}"' in text
    assert re.search(rf'DISubprogram\(name: "variables".*? line: {DEF},', text)
    assert "emissionKind: FullDebug" in text and "isOptimized: false" in text
    assert variable(text, "n")["arg"] == "2" and variable(text, "n")["line"] == str(DEF)
    assert variable(text, "total")["line"] == str(DEF + 6) and "arg" not in variable(text, "total")
    assert f"DILocation(line: {DEF + 11}, " in text
    assert re.search(rf'DISubprogram\(name: "<lambda>".*? line: {DEF - 9},', text)
    assert not any("DILocalVariable" in n and '"text"' in n for n in nodes(text).values())


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
class Pair(NamedTuple):
    x: int
    y: int


class Ends(NamedTuple):
    lo: int
    hi: int


def test_named_tuples_of_one_text() -> None:
    """Both are `tuple(int (weak), int (weak))`: the names of their fields tell them apart."""

    def kernel(x, p, q):
        t = p
        x[0] = t.x
        t = q
        x[0] += t.lo

    compiled = gpu.jit(debug=True, opt=0)(kernel)
    compiled[1, 1](np.zeros(1), Pair(1, 2), Ends(3, 4))
    known = nodes(str(compiled.inspect("llvm", arch="sm_80")))
    types = [re.search(r"type: (!\d+)", n)[1] for n in known.values() if n.startswith('!DILocalVariable(name: "t"')]
    members = [known[re.search(r"elements: (!\d+)", known[t])[1]] for t in types]
    fields = [[re.search(r'name: "(\w+)"', known[m])[1] for m in re.findall(r"!\d+", ms)] for ms in members]
    assert sorted(fields) == [["lo", "hi"], ["x", "y"]]


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_ptxas(arch: str, tmp_path: Path) -> None:
    ptx = variables.inspect("ptx", variables.signatures[0], arch=arch)
    assert re.search(r"\.section\s+\.debug_info", ptx) and f".target {arch}, debug" in ptx
    (tmp_path / "k.ptx").write_text(ptx)
    command = ["ptxas", "-g", f"-arch={arch}", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.ptx")]
    subprocess.run(command, check=True)


def test_results() -> None:
    x = np.zeros((2, 2))
    variables[1, 1](x, 4, False, np.complex64(0.5))
    assert x[0, 0] == 13 + 12 + 1.5 + 1 + 1 + 1 + 0.5


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"opt": 0}])
def test_without_debugging_there_are_lines_alone(options: dict[str, object]) -> None:
    def first(x):
        x[0] = doubled(x[0])

    kernel = gpu.jit(**options)(first)
    text = kernel.inspect("llvm", (gpu.types.float32[::1],), arch="sm_80")
    assert "FullDebug" not in text and "DILocalVariable" not in text and "DILocation" in text


def test_the_numpy_dialect_has_it_too() -> None:
    def kernel(x, i):
        value = x[i]
        x[0] = value

    ptx = gpu.jit(debug=True, opt=0)(kernel).inspect("ptx", (gpu.types.float32[::1], gpu.types.int64))
    assert re.search(r"\.section\s+\.debug_info", ptx)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_numbas_fastmath_takes_the_instruction_for_tanh(arch: str) -> None:
    def kernel(x):
        x[0] = math.tanh(x[0])

    types = (gpu.types.float32[::1],)
    assert "tanh.approx.f32" in cuda.jit(fastmath=True)(kernel).inspect("ptx", types, arch=arch)
    assert "tanh.approx" not in cuda.jit(kernel).inspect("ptx", types, arch=arch)
    assert "tanh.approx" not in gpu.jit(fastmath=True)(kernel).inspect("ptx", types, arch=arch)


def test_missing_source() -> None:
    scope: dict[str, object] = {}
    exec("def nowhere():\n    pass", scope)
    kernel = cuda.jit(debug=True, opt=False)(scope["nowhere"])
    with pytest.warns(NumbaDebugInfoWarning, match="Could not find source for function: <function nowhere"):
        kernel[1, 1]()
    kernel[1, 1]()  # once is enough
