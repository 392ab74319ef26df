"""Our LLVM and another package's live in one process, whichever is loaded first."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

OURS = """
import gpu, numpy as np
@gpu.jit
def add(a, b, c):
    i = gpu.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
c = np.zeros(100, 'f4')
add[1, 128](np.ones(100, 'f4'), np.ones(100, 'f4'), c)
assert (c == 2).all()
assert '.entry' in add.inspect('ptx', 'f4[::1], f4[::1], f4[::1]', arch='sm_90')
"""

THEIRS = {
    "llvmlite": """
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
module = llvm.parse_assembly('define i32 @f(i32 %x) { %y = add i32 %x, 1 ret i32 %y }')
machine = llvm.Target.from_default_triple().create_target_machine()
assert 'f:' in machine.emit_assembly(module)
""",
    "numba": """
import numba
assert numba.njit(lambda x: x + 1)(1) == 2
""",
    "torch": """
import torch
assert torch.ones(3).sum().item() == 3
""",
    "triton": """
import triton._C.libtriton as t
t.llvm.init_targets()
""",
}


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("package", THEIRS)
def test_together(package: str, first: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    parts = [OURS, THEIRS[package]] if first == "ours" else [THEIRS[package], OURS]
    # Each again: what the other loaded or registered must not be taken for one's own.
    code = "\n".join(parts + parts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
