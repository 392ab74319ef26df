"""Our LLVM and another package's live in one process, whichever is loaded first."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

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
f = torch.jit.script(torch.nn.Linear(3, 3))
assert f(torch.ones(3)).shape == (3,)
""",
    "triton": """
import triton, triton.language as tl
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget
@triton.jit
def their_add(a, b, c, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(c + i, tl.load(a + i) + tl.load(b + i))
types = {'a': '*fp32', 'b': '*fp32', 'c': '*fp32', 'n': 'constexpr'}
source = ASTSource(fn=their_add, signature=types, constexprs={'n': 128})
assert '.entry' in triton.compile(source, target=GPUTarget('cuda', 80, 32)).asm['ptx']
""",
}


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("package", THEIRS)
def test_together(package: str, first: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    parts = [OURS, THEIRS[package]] if first == "ours" else [THEIRS[package], OURS]
    # Each again: what the other loaded or registered must not be taken for one's own.
    program = tmp_path / "program.py"
    program.write_text("\n".join(parts + parts))
    environment = os.environ | {"TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.one_version
def test_a_fatal_error_of_llvm_is_an_exception(tmp_path: Path) -> None:
    """LLVM ends the process when it can't select an instruction, as in this library of math functions."""
    binding = pytest.importorskip("llvmlite.binding")
    library = binding.parse_assembly("""
        target triple = "nvptx64-nvidia-cuda"
        declare i64 @llvm.x86.rdtsc()
        define double @__nv_sin(double %x) {
            %t = call i64 @llvm.x86.rdtsc()
            %d = uitofp i64 %t to double
            ret double %d
        }
    """)
    path = tmp_path / "libdevice.bc"
    path.write_bytes(library.as_bitcode())
    script = """
        import math
        import numpy as np, gpu
        @gpu.jit
        def bad(x):
            x[0] = math.sin(x[1])
        @gpu.jit
        def good(x):
            x[0] = 2
        for _ in range(3):
            try:
                bad.inspect("ptx", "f8[::1]", arch="sm_80")
            except gpu.CompileError as error:
                print(error)
            assert "st.global" in good.inspect("ptx", "f8[::1]", arch="sm_80")
        x = np.zeros(1)
        good[1, 1](x)
        assert x[0] == 2
    """
    environment = {**os.environ, "GPU_LIBDEVICE": str(path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.count("Cannot select: intrinsic %llvm.x86.rdtsc") == 3, done.stderr
    assert done.returncode == 0, done.stderr
