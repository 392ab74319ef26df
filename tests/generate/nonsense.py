"""Random functions that may mean nothing: each becomes a kernel, or the compiler says why not, with the line.

Half are sentences of a grammar that knows the names, attributes and functions that kernels have, and those that they
haven't; half are kernels that other tests run, with some of their expressions and statements exchanged for others.
Kernels return before their first statement, since what they would do may be anything: they are compiled, but not run.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import math
import random
import re
import time
from typing import Any

import constructs
import language
import numpy as np

from . import values
from .nonsense_words import NAMES, Sentences
from .writer import launch, quiet

SECONDS = 5.0  # of this process, for one function
PLACE = re.compile(r"^\S.*:\d+(:\d+)?: error: ", re.MULTILINE)
MODULES = [language, *{inspect.getmodule(k): None for k in constructs.kernels()}]
KERNELS = [f for m in MODULES for n, f in vars(m).items() if n.startswith("k_") and inspect.isfunction(f)]
OPTIONS = [{}, {}, {}, {"debug": True}, {"boundscheck": True}, {"fma": False}]


class Mutator(ast.NodeTransformer):
    """Exchanges some parts of a kernel."""

    def __init__(self, seed: int, rate: float) -> None:
        self.random = random.Random(seed)
        self.sentences = Sentences(seed)
        self.rate = rate
        self.pool: list[ast.expr] = []

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.Starred, ast.JoinedStr)):
            return node  # not everything may stand there
        node = self.generic_visit(node)
        if self.random.random() > self.rate:
            return node
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            return self.expression(node)
        return self.statement(node) if isinstance(node, ast.stmt) else node

    def expression(self, node: ast.expr) -> ast.expr:
        r = self.random
        choice = r.random()
        if choice < 0.4 and self.pool:
            return copy.deepcopy(r.choice(self.pool))
        if choice < 0.7:
            return ast.parse(self.sentences.expression(2), mode="eval").body
        if choice < 0.8:
            return ast.Attribute(node, self.sentences.attribute(), ast.Load())
        if choice < 0.9:
            return ast.Subscript(node, ast.parse(self.sentences.expression(0), mode="eval").body, ast.Load())
        return ast.UnaryOp(r.choice([ast.USub, ast.Not, ast.Invert])(), node)

    def statement(self, node: ast.stmt) -> Any:
        r = self.random
        if isinstance(node, ast.FunctionDef):
            return node
        choice = r.random()
        if choice < 0.2:
            return [node, node]
        if choice < 0.3:
            return ast.Pass()
        heads = ["if {}: pass", "while {}: pass", "for i in {}: pass", "with {}: pass", "if 0 or {}: pass"]
        if choice < 0.7:
            around = ast.parse(r.choice(heads).format(self.sentences.expression(1))).body[0]
            around.body = [node]  # type: ignore[attr-defined]
            return around
        return [*ast.parse("\n".join(self.sentences.lines_of(1))).body, node]


def mutated(seed: int, source: str, stop: str) -> str:
    """A source with parts of its last function exchanged, which returns at once where `stop` holds."""
    tree = ast.parse(source)
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    mutator = Mutator(seed, random.Random(seed).choice([1, 2, 5]) / sum(1 for _ in ast.walk(function)))
    loads = [n for n in ast.walk(function) if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", None), ast.Load)]
    mutator.pool = [n for n in loads if not isinstance(n, ast.Starred)]
    body = [mutator.visit(s) for s in function.body]
    function.body = ast.parse(f"if {stop}: return").body + [
        s for one in body for s in (one if isinstance(one, list) else [one])
    ]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def made(seed: int) -> tuple[str, str, dict[str, Any], list[Any]]:
    """The source and the name of a function, what it sees and its arguments."""
    r = random.Random(seed)
    if r.random() < 0.4:
        names = r.sample(list(NAMES), r.randint(2, 6))
        body = "\n".join(Sentences(seed, names).lines_of(r.randint(1, 8), depth=1))
        source = f"def kernel(n, {', '.join(names)}):\n    if n == 0: return\n{body}\n"
        return source, "kernel", vars(language), [0, *(NAMES[name] for name in names)]
    if r.random() < 0.3:
        kernel = values.generate(seed)
        return mutated(seed, kernel.source, "len(a0) > 0"), "kernel", {"np": np}, list(kernel.arguments().values())
    function = r.choice(KERNELS)
    arguments = [np.zeros(16, r.choice(["f4", "i4", "f8", "u1"])), np.zeros(16), 0]
    arguments += constructs.ARGUMENTS.get(function, ())
    source = mutated(seed, inspect.getsource(function), "len(a) > 0")
    return source, function.__name__, vars(inspect.getmodule(function)), arguments


def show(seed: int) -> str:
    """The source of a seed's function."""
    return made(seed)[0]


def compare(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> str | None:
    """None for a kernel; a text that starts with "refused" for a good message; or what is wrong."""
    import gpu
    from gpu import cuda

    r = random.Random(seed)
    source, name, seen, arguments = made(seed)
    file = f"<seed {seed}>"
    scope: dict[str, Any] = {"math": math, "gpu": gpu, "cuda": cuda, **seen}
    with quiet():
        try:
            exec(compile(source, file, "exec", dont_inherit=True), scope)
        except SyntaxError:
            return f"refused: seed {seed}"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    result: str | None = None
    start = time.process_time()
    try:
        with quiet():
            jitted = r.choice([gpu.jit, cuda.jit])(**r.choice(OPTIONS))(scope[name])
            for device in devices:
                launch(device, jitted, (1, 1), arguments)
    except gpu.CompileError as e:
        result = f"refused: seed {seed}" if PLACE.search(str(e)) else f"seed {seed}: no line: {e}\n{source}"
    except Exception as e:
        if isinstance(e, TypeError) and "is a generator or a coroutine" in str(e):
            return f"refused: seed {seed}"
        result = f"seed {seed}: {type(e).__name__}: {e}\n{source}"
    finally:
        del linecache.cache[file]
    took = time.process_time() - start
    return f"seed {seed}: {took:.1f} s\n{source}" if took > SECONDS else result
