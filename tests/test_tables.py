"""Every row of a table is seen by some test: messages, opcodes. Tests of operations and of functions walk theirs."""

from __future__ import annotations

import dis
import os
import re
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import gpu
import pytest

ROOT = Path(__file__).resolve().parents[1]
VERSION = sys.version_info.major * 100 + sys.version_info.minor


def table(path: str, row: str) -> list[tuple[str, ...]]:
    """Rows of a .def file, as the groups of `row`."""
    return re.findall(rf"^{row}", (ROOT / path).read_text(), re.MULTILINE)


def words(path: Path) -> str:
    """A file's text without comment signs and line ends, so that wrapped messages are found."""
    return " ".join(re.sub(r"\n\s*#", "\n", path.read_text(errors="replace")).split())


# ---- messages ---------------------------------------------------------------------------------------------

# What no kernel can show, since somebody else refuses it first.
SHIELDED = {
    "UNTYPED": "a net below the other messages",
    "NO_CODE": "gpu.jit takes functions only; the drivers of the C tests reach it",
    "CAPTURE": "of comprehensions as Python 3.12 and later compile them",
    "PARAMETER_KIND": "gpu.jit refuses **options itself",
}


@gpu.jit(device=True)
def counts(x):
    return range(x)


def test_host_result() -> None:
    with pytest.raises(gpu.TypingError, match="a call from Python can't return range"):
        counts(1)


def test_strange_bytecode() -> None:
    names: dict[str, FunctionType] = {}
    exec("def k(x): x[0] = 1", names)
    unused = next(n for n in range(200, 250) if dis.opname[n] == f"<{n}>")
    names["k"].__code__ = names["k"].__code__.replace(co_code=bytes([unused, 0] * 20))
    with pytest.raises(gpu.UnsupportedError, match=re.escape("k() is not understood: ")):
        gpu.jit(names["k"]).compile("f4[::1]")


def test_loop_without_iterator() -> None:
    """Bytecode that no compiler makes: a loop over what was never made an iterator."""
    names: dict[str, FunctionType] = {}
    exec("def k(x):\n    for i in range(3): x[0] = i", names)
    code = names["k"].__code__
    nothing = bytes([dis.opmap["NOP"], 0])
    at = next(i for i in dis.get_instructions(code) if i.opname == "GET_ITER").offset
    names["k"].__code__ = code.replace(co_code=code.co_code[:at] + nothing + code.co_code[at + 2 :])
    with pytest.raises(gpu.TypingError, match="can't be iterated"):
        gpu.jit(names["k"]).compile("f4[::1]")


def deep_calls(n: int) -> gpu.Kernel:
    """A kernel with n calls in each other."""
    names: dict[str, FunctionType] = {}
    lines = [f"def f{j}(x): return f{j - 1}(x) + {j}" if j else "def f0(x): return x" for j in range(n)]
    exec("\n".join([*lines, f"def k(x): x[0] = f{n - 1}(x[1])"]), names)
    return gpu.jit(names["k"])


@pytest.mark.skipif("build-sanitize" in os.environ.get("GPU_BUILD", ""), reason="needs more stack for all it does")
def test_small_stack() -> None:
    """What the stack of a thread is too small for is refused there."""
    seen: list[str] = []

    def work() -> None:
        try:
            deep_calls(62).compile("f8[::1]")
        except gpu.UnsupportedError as e:
            seen.append(str(e))

    threading.stack_size(192 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert not seen or "a thread with a larger stack" in seen[0]
    deep_calls(62).compile("f8[::1]")


@pytest.mark.one_version
def test_messages() -> None:
    """The longest fixed part of each message stands in some test."""
    seen = "\n".join(words(p) for p in (ROOT / "tests").rglob("*") if p.suffix in (".py", ".txt"))
    rows = table("frontend/diag.def", r'DIAG\((\w+),\s*\w+,\s*"\w+",\s*"((?:[^"\\]|\\.)*)"\)')
    assert len(rows) > 50
    missing = []
    for code, text in rows:
        fixed = max(re.split(r"%\w", text.replace('\\"', '"')), key=len).strip()
        if fixed not in seen and code not in SHIELDED:
            missing.append(f"{code}: {text}")
    assert not missing
    assert set(SHIELDED) <= {code for code, _ in rows}


# ---- operations and passes of the IR ------------------------------------------------------------------------


@pytest.mark.one_version
def test_manual_of_the_ir() -> None:
    """IR.md has each operation with its operands and meaning, as ops.def has it, and each pass."""
    manual = (ROOT / "compiler" / "IR.md").read_text()
    told = {
        name.split(".")[0]: (operands, meaning)
        for name, operands, meaning in re.findall(
            r"^\| `([\w.]+)`[^|]*\| (\w+) \| [^|]*\| (.*) \|$", manual, re.MULTILINE
        )
    }
    rows = table("compiler/ops.def", r'OP\((\w+),\s*(\w+),.*?"(.*)"\)')
    assert len(rows) > 40
    for name, operands, meaning in rows:
        want = ("any" if operands == "VAR" else operands, meaning[0].upper() + meaning[1:])
        assert told.get(name.lower()) == want, name
    for name in re.findall(r'^    \{"(\w+)"', (ROOT / "compiler" / "pipeline.c").read_text(), re.MULTILINE):
        assert f"`{name}`" in manual


# ---- opcodes ----------------------------------------------------------------------------------------------

# Statements for opcodes that no other test's functions have; each is a whole function f.
SNIPPETS = {
    (310, 399): """
        async def f(x):
            async with x: pass
        ---
        async def f(x):
            yield x
        ---
        def f(x):
            g = lambda: x
            del x
            g()[0] = 1
        ---
        def f(x):
            global q
            del q
        ---
        def f(x):
            while x is not None: x = x[0]
        ---
        def f(x):
            class C:
                y = x
                del y
                def g(self): return super().g()
        """,
    (311, 399): """
        def f(x):
            try: x[0] = 1
            except* ValueError: x[0] = 2
        """,
    (312, 399): """
        def f(x):
            type T = x
        ---
        def f[T](x: T):
            class C[U: T]: pass
        """,
    (314, 399): """
        def f(x):
            print(t"{x[0]}")
        """,
}
# Opcodes of modules, class bodies and the interactive prompt, which the decoder knows to be able to name them; and one
# that the compiler of 3.10 always folds away.
OUTSIDE = {"ROT_N", "DELETE_NAME", "IMPORT_STAR", "PRINT_EXPR", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_LOCALS"}


def snippets() -> Iterator[str]:
    for (since, until), text in SNIPPETS.items():
        if since <= VERSION <= until:
            yield from textwrap.dedent(text).split("---\n")


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def test_snippets_are_refused() -> None:
    """None of them is a kernel, and each is told so."""
    for source in snippets():
        names: dict[str, FunctionType] = {}
        exec(source, names)
        with pytest.raises((gpu.CompileError, TypeError)):
            gpu.jit(names["f"]).compile("f4[::1]")


def test_opcodes() -> None:
    """The bytecode of the tests has every opcode that pyops.def knows of this version."""
    known = {
        name
        for name, since, until in table("frontend/pyops.def", r"PYOP(?:_SINCE)?\((\w+),\s*(\d+),\s*(\d+)")
        if int(since) <= VERSION <= int(until)
    }
    assert len(known) > 80
    sources = [p.read_text() for p in (ROOT / "tests").rglob("*.py")] + list(snippets())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = {
            instruction.opname
            for source in sources
            for code in codes(compile(source, "<test>", "exec"))
            for instruction in dis.get_instructions(code)
        }
    missing = known - seen - OUTSIDE
    assert not missing
