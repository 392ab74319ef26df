"""A grammar of functions, for `nonsense`: what may stand in a kernel, and what may not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .writer import Writer

TABLE = Path(__file__).parents[2] / "frontend" / "devfn.def"


def words(*lines: str) -> list[str]:
    """What spaces part."""
    return " ".join(lines).split()


class Point(NamedTuple):
    x: float
    y: Any


NAMES: dict[str, Any] = {
    "a": np.ones(16, np.float32),
    "b": np.ones((3, 4), np.int32),
    "c": 1 + 2j,
    "d": {"p": 1, "q": 2.5},
    "e": np.ones((2, 2, 2), np.complex64),
    "f": abs,
    "g": np.float16(1.5),
    "h": np.ones(4, np.float16),
    "k": 3,
    "m": np.ones(16, np.bool_),
    "o": np.ones(16),
    "p": Point(1.5, (2, 3)),
    "r": np.zeros(4, [("x", "i4"), ("y", "f8", 3), ("z", [("u", "u1")])]),
    "s": 2.5,
    "t": (1, 2.5, (3, 4)),
    "u": np.uint8(7),
    "w": "abc",
    "x": np.ones(5, np.int64)[::2],
    "y": np.zeros(4, "M8[s]"),
    "z": None,
    "q": np.zeros((), np.int16),
}
ATTRIBUTES = words(
    "x y z u real imag shape size ndim T dtype strides flat copy sum max min mean astype view reshape ravel fill",
    "conjugate item any all argmax argmin dot transpose swapaxes append pop keys values items get upper split",
    "_replace _fields is_integer bit_count nonexistent __class__ __len__ __add__ sort tolist nbytes itemsize base",
    "cumsum round clip flatten real imag z.u p q start stop step count index name value",
)
FUNCTIONS = words(
    "len range abs min max int float bool complex sum any all round divmod pow sorted reversed enumerate zip",
    "tuple list dict set str repr ord chr isinstance hasattr getattr type callable print map filter slice id hash",
    "iter next open input eval super vars helper fact two apply P M C Scale Defaults object property bytes",
    "bytearray frozenset format bin hex oct globals",
)
OPERATORS = words("+ - * / // % ** & | ^ << >> @")
COMPARISONS = ["<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"]
LITERALS = words(
    "0 1 2 3 -1 7 255 256 2**31 2**63 2**64 -2**63 10**30 0.5 1e300 1e-320 -0.0 1j True False None 'abc' '' b'xy'",
    "... () [] {} (1,) (1,2) [1,2.0] {1,2} {'p':1} float('nan') float('inf') np.float32 np.int8 np.pi np.newaxis",
    "gpu.bfloat16",
)
ARGUMENTS = {
    "mask": ["-1", "0xffffffff", "k", "0"],
    "shape": ["4", "(2, 3)", "0", "k", "-1", "()", "(2**40,)", "2.5"],
    "dtype": [
        "np.float32",
        "np.int8",
        "'i4'",
        "float",
        "bool",
        "a.dtype",
        "np.complex64",
        "r.dtype",
        "gpu.bfloat16",
        "k",
    ],
    "ary": ["a", "b", "o", "m", "x", "gpu.shared.array(4, np.int32)", "t", "r"],
    "idx": ["0", "k", "(0, 1)", "-1", "s", "()", "b"],
    "scope": ["'block'", "'device'", "'nowhere'", "k"],
    "order": ["'relaxed'", "'seq_cst'", "1"],
    "axis": ["0", "1", "-1", "None", "(0, 1)", "5", "k"],
    "function": ["abs", "lambda x: x", "lambda x, y: x + y", "helper", "max", "k"],
    "predicate": ["lambda x: x > 0", "k > 0", "s"],
    "op": ["max", "lambda x, y: x + y", "helper", "'add'", "k"],
    "iterable": ["t", "a", "range(k)", "(1, 2)", "b", "[x for x in t]", "'abc'", "d"],
    "key": ["abs", "lambda v: -v", "None"],
    "group": ["gpu.cg.this_grid()", "gpu.cg.this_thread_block()", "k"],
    "width": ["4", "2", "3", "32", "k"],
}


def signatures() -> list[tuple[str, list[str]]]:
    """The path and the parameters of each function that kernels may call."""
    found = re.findall(r'^DEV(?:FN|ARRAY)\("([^"]+)",\s*"\(([^"]*)\)"', TABLE.read_text(), re.MULTILINE)
    return [(path, [p.strip() for p in parameters.split(",") if p.strip()]) for path, parameters in found]


SIGNATURES = signatures()


class Sentences(Writer):
    """Writes expressions and statements about some names."""

    SCOPED = ("names",)

    def __init__(self, seed: int, names: list[str] | None = None) -> None:
        super().__init__(seed)
        self.names = list(names or ["a", "o", "n"])

    def lines_of(self, count: int, depth: int = 0) -> list[str]:
        """The lines of some statements."""
        before = len(self.lines)
        self.statements(depth, count)
        lines = self.lines[before:]
        del self.lines[before:]
        return lines

    # ---- expressions

    def attribute(self) -> str:
        return self.random.choice(ATTRIBUTES)

    def call(self, depth: int) -> str:
        """A call of a function from the table, mostly with the right number of arguments."""
        r = self.random
        path, parameters = r.choice(SIGNATURES)
        arguments = []
        for p in parameters:
            name, _, default = p.partition("=")
            if (default and r.random() < 0.6) or name in ("/", "*", "..."):
                continue
            words = ARGUMENTS.get(name.strip("*"), [])
            text = r.choice(words) if words and r.random() < 0.8 else self.expression(depth - 1)
            arguments.append(f"{name}={text}" if default and "*" not in name else text)
        if r.random() < 0.1 and arguments:
            r.choice([arguments.pop, lambda: arguments.append("k")])()
        path = path.removeprefix("builtins.").replace("numpy.", "np.")
        if path.startswith(("_operator", "_functools", "itertools")):
            path = path.replace("_operator", "operator").replace("_functools", "functools")
            path = f"__import__({path.split('.')[0]!r}).{path.partition('.')[2]}" if r.random() < 0.1 else path
        positional = [x for x in arguments if "=" not in x.split("(")[0] or x.startswith(("lambda", "("))]
        return f"{path}({', '.join(positional + [x for x in arguments if x not in positional])})"

    def index(self, depth: int) -> str:
        r = self.random
        part = [
            self.expression(depth - 1),
            "0",
            "-1",
            ":",
            "1:",
            "::2",
            "::-1",
            ":-1",
            "...",
            "None",
            "i",
            "1, 2",
            "[0, 1]",
        ]
        return ", ".join(r.choice(part) for _ in range(r.choice([1, 1, 1, 2, 2, 3])))

    def expression(self, depth: int = 3) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.1:
            return r.choice([*self.names, *self.names, *self.names, r.choice(LITERALS)])

        def sub() -> str:
            return self.expression(depth - 1)

        a, b, c = sub(), sub(), sub()
        name = r.choice(self.names)
        options = [
            f"({a} {r.choice(OPERATORS)} {b})",
            f"({a} {r.choice(OPERATORS)} {b})",
            f"({a} {r.choice(COMPARISONS)} {b})",
            f"({r.choice(['-', '+', '~', 'not '])}{a})",
            f"({a} {r.choice(['and', 'or'])} {b})",
            f"({a} if {b} else {c})",
            f"({a}).{self.attribute()}",
            f"{name}.{self.attribute()}",
            f"{name}.{self.attribute()}({r.choice(['', b, f'{b}, {c}', f'axis={b}'])})",
            f"{name}[{self.index(depth)}]",
            f"{name}[{self.index(depth)}]",
            f"({a})[{self.index(depth)}]",
            self.call(depth),
            self.call(depth),
            self.call(depth),
            f"{r.choice(FUNCTIONS)}({r.choice(['', a, f'{a}, {b}', f'*{a}', f'{a}, k={b}', f'**{a}'])})",
            f"{name}({r.choice(['', a, f'{a}, {b}'])})",
            r.choice([f"({a}, {b})", f"[{a}, {b}]", f"{{{a}: {b}}}", f"({a}, *{b})", f"{{{a}, {b}}}", f"[*{a}]"]),
            f"[{a} for j in {b}]",
            f"({a} for j in {b} if {c})",
            f"sum({a} for j in {b})",
            f"tuple(j for j in {a})",
            f"{{j: {a} for j in {b}}}",
            f"(lambda j, k=1: {a})({b})",
            f"(lambda *j: j)({a}, {b})",
            f"(j := {a})",
            f'f"{{{name}}} and {{{name}!r:>{r.randint(0, 20)}}}"',
            f"({a} < {b} <= {c})",
            f"(yield {a})" if r.random() < 0.05 else a,
        ]
        return r.choice(options)

    def target(self, depth: int) -> str:
        r, name = self.random, self.random.choice(self.names)
        fresh = self.fresh()
        options = [fresh, fresh, fresh, name, f"{name}[{self.index(1)}]", f"{name}[i]", f"{name}.{self.attribute()}"]
        options += [f"{fresh}, {name}", f"{fresh}, *{name}", f"({name}, ({fresh}, j))", f"[{fresh}, {name}[0]]"]
        chosen = r.choice(options)
        if fresh in chosen and depth < 2:
            self.names.append(fresh)
        return chosen

    # ---- statements

    def statement(self, depth: int) -> None:
        r = self.random
        if depth > 4 or r.random() < 0.5:
            return self.simple(depth)
        return r.choice([self.branch, self.loop, self.loop, self.guarded, self.function, self.matching])(depth)

    def simple(self, depth: int) -> None:
        r, text = self.random, self.expression(self.random.randint(1, 3))
        name = r.choice(self.names)
        usual = [f"{self.target(depth)} = {text}"] * 6 + [f"{name} {r.choice(OPERATORS)}= {text}", f"o[k] = {text}"]
        usual += [f"{name}[{self.index(1)}] {r.choice(OPERATORS)}= {text}", f"{self.fresh()}: {text} = 1", text]
        rare = [f"return {text}", "return", f"raise {text}", "raise", f"assert {text}, {name}", f"del {name}", "pass"]
        rare += [
            f"import {r.choice(['math', 'os', 'numpy as np'])}",
            "from math import sin",
            f"global {self.fresh('G')}",
        ]
        rare += [
            f"print({text}, sep={name})",
            f"{name}[0]: int",
            "raise ValueError(n)",
            f"del {name}[0]",
            "break",
            "continue",
        ]
        rare += [f"raise KeyError({text}) from {name}", f"yield {text}", f"await {text}", f"nonlocal {name}"]
        self.emit(depth, r.choice(usual if r.random() < 0.85 else rare))

    def branch(self, depth: int) -> None:
        self.alternatives(depth, 3, *(self.expression(2) for _ in range(self.random.randint(1, 2))))

    def loop(self, depth: int) -> None:
        r, text = self.random, self.expression(2)
        heads = [f"for {self.fresh('j')} in range({text}):", f"for {self.target(depth)} in {text}:", f"while {text}:"]
        heads += [
            "for i in range(n):",
            "while True:",
            f"for j, k in enumerate({text}):",
            f"for j in {r.choice(self.names)}:",
        ]
        self.emit(depth, r.choice(heads))
        self.scoped(depth + 1, r.randint(1, 3))
        if r.random() < 0.3:
            self.leaving(depth + 1, self.expression(1), "break", "continue", "return", "raise IndexError")
        if r.random() < 0.15:
            self.emit(depth, "else:")
            self.scoped(depth + 1, 1)

    def guarded(self, depth: int) -> None:
        r = self.random
        heads = [("try:", "finally:"), ("try:", "except ValueError as e:"), ("try:", "except:")]
        heads += [(f"with {self.expression(1)} as {self.fresh()}:", ""), ("try:", "finally:")]
        head, tail = r.choice(heads)
        self.emit(depth, head)
        self.scoped(depth + 1, r.randint(1, 2))
        if tail:
            self.emit(depth, tail)
            self.scoped(depth + 1, 1)

    def function(self, depth: int) -> None:
        r, name = self.random, self.fresh("f")
        parameters = r.choice(["", "j", "j, k=1", "*j", "j, *, k", "**j", "j, /"])
        heads = [f"def {name}({parameters}):"] * 4 + [f"class {name}:", f"async def {name}():", f"class {name}(Scale):"]
        self.emit(depth, r.choice(heads))
        self.scoped(depth + 1, r.randint(1, 2))
        if r.random() < 0.7:
            self.emit(depth + 1, f"return {r.choice([self.expression(2), f'{name}(j)', name])}")
        self.names.append(name)

    def matching(self, depth: int) -> None:
        r = self.random
        self.emit(depth, f"match {self.expression(2)}:")
        cases = [
            "0",
            "1 | 2",
            "(j, k)",
            "[j, *k]",
            "{'p': j}",
            "P(x=j)",
            "Point()",
            "int()",
            "None",
            "'abc'",
            "j if j",
            "-1.5",
        ]
        for case in [*r.sample(cases, r.randint(1, 3)), "_"]:
            self.emit(depth + 1, f"case {case}:")
            self.scoped(depth + 2, 1)
