"""Random functions on numbers in the Numba dialect: numba itself says the types and values of all variables.

A function's variables are of four classes (integer, float, bool, complex), so that most operations make sense; which
of the types of a class an expression has is for both sides to find out. What numba refuses isn't compared. Not made:
what numba leaves to the machine (the sign of nan, shifts by the width, floats out of an integer's range), and uint64
beside signed integers, which are compared exactly here. Conditions are made of variables: of two branches, one of
which no thread can take, numba joins the types all the same. Squares are of small numbers: numba takes it that they
don't overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .writer import Writer, function_of, launch, quiet

TYPES = {
    "i": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "intp"],
    "f": ["float32", "float64"],
    "b": ["bool_"],
    "c": ["complex64", "complex128"],
}
HELPERS = """\
def twice(f, x):
    return f(f(x))


def scaled(x, k=2):
    return x * k + 1


def ordered(x, y):
    return (y, x) if y < x else (x, y)


def total(x, y, z=1):
    return x + y + z


"""


class Generator(Writer):
    """Makes one function ``kernel`` and the arguments of three calls."""

    SCOPED = ("classes",)

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.classes: dict[str, str] = {}
        self.types: list[str] = []

    def make(self) -> str:
        r = self.random
        for k, cls in enumerate(["i", "f", "b", "c", *r.choices("if", k=r.randint(0, 2))]):
            self.types.append(r.choice(TYPES[cls]))
            self.classes[f"p{k}"] = cls
        names = list(self.classes)
        for _ in range(r.randint(1, 3)):
            self.assign(1)
        for _ in range(r.randint(1, 6)):
            self.statement(1)
        results = ", ".join(n for n in self.classes if n[0] == "v")
        body = "\n".join(self.lines)
        return f"def kernel({', '.join(names)}):\n{body}\n    return ({results},)\n"

    def arguments(self) -> list[tuple[Any, ...]]:
        return [tuple(self.argument(t) for t in self.types) for _ in range(3)]

    def argument(self, name: str) -> Any:
        r, t = self.random, np.dtype(name.rstrip("_")).type
        if t is np.bool_:
            return t(r.random() < 0.5)
        if issubclass(t, np.integer):
            info = np.iinfo(t)
            edges = [info.max, info.min] if info.bits < 64 else []  # what overflows there may be anything to numba
            return t(r.choice([r.randint(max(info.min, -50), 50), 0, *edges]))
        if issubclass(t, np.complexfloating):
            return t(complex(r.randint(-8, 8) / 2, r.randint(-8, 8) / 2))
        return t(r.choice([r.randint(-40, 40) / 4, 0.1, math.inf, math.nan, -0.0]))

    # ---- expressions

    def variable(self, cls: str) -> str:
        return self.random.choice([n for n, c in self.classes.items() if c == cls])

    def leaf(self, cls: str) -> str:
        r = self.random
        if cls == "b" or r.random() < 0.7:
            return self.variable(cls)
        literals = {"i": ["1", "2", "7", "-3", "100", "2**31"], "f": ["0.5", "1.25", "-2.0", "math.pi", "1e10"]}
        return r.choice((literals | {"c": ["1j", "(2 - 0.5j)"]})[cls])

    def expression(self, cls: str, depth: int = 2) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            return self.leaf(cls)

        def sub(which: str) -> str:
            return self.expression(which, depth - 1)

        return r.choice(getattr(self, {"i": "whole", "f": "real", "b": "truth", "c": "imaginary"}[cls])(sub))

    def whole(self, sub: Any) -> list[str]:
        r, a, b, c = self.random, sub("i"), sub("i"), sub("b")
        options = [f"({a} {op} {b})" for op in ("+", "-", "*", "&", "|", "^", "//", "%")]
        options += [f"({a} << {r.randint(0, 6)})", f"({a} >> {r.randint(0, 6)})", f"(({a} & 255) ** {r.randint(0, 3)})"]
        options += [f"-({a})", f"~({a})", f"+({a})", f"abs({a})", f"min({a}, {b})", f"max({a}, {b}, 3)", f"({a} + {c})"]
        options += [f"({a} if {c} else {b})", f"int({a})", f"np.{r.choice(TYPES['i'])}({a})", f"ordered({a}, {b})[0]"]
        options += [f"int({c})", f"({c} + {sub('b')})", f"({a}, {b})[{r.randint(0, 1)}]", f"scaled({a}, k=3)"]
        options += [f"total({a}, {b}, 1)", f"twice(lambda x: x * 2, {a})", f"len(({a}, {b}))", f"divmod({a}, 7)[0]"]
        return [
            *options,
            f"({self.variable('i')} {r.choice(['and', 'or'])} {b})",
            f"np.int32({c})",
            f"pow({a} & 127, 2)",
        ]

    def real(self, sub: Any) -> list[str]:
        r, a, b, i, c = self.random, sub("f"), sub("f"), sub("i"), sub("b")
        options = [f"({x} {op} {y})" for op in "+-*/" for x, y in ((a, b), (a, i), (i, a))]
        options += [f"({i} / {sub('i')})", f"({a} // 2)", f"({a} % 1.5)", f"-({a})", f"abs({a})", f"float({i})"]
        options += [f"np.float32({a})", f"np.float64({i})", f"({a} if {c} else {b})"]
        options += [f"math.sqrt(abs({a}))", f"math.sqrt({i} & 255)", f"math.fabs({a})", f"math.copysign({a}, {i})"]
        options += [f"np.sqrt(abs({a}))", f"np.floor({a})", f"np.{r.choice(['float32', 'float64'])}({i} & 1023)"]
        options += [f"({a} + {c})", f"scaled({a})", f"total({a}, {i})", f"math.hypot({a}, 2)", f"({a} ** 2)"]
        options += [f"abs({sub('c')})", f"({sub('c')}).real", f"({sub('c')}).imag"]
        return [*options, f"np.minimum({a}, {b})", f"np.rint({a})", f"ordered({a}, {b})[1]"]

    def truth(self, sub: Any) -> list[str]:
        r, kind = self.random, self.random.choice("if")
        a, b = self.variable(kind), sub(kind)
        options = [f"({a} {op} {b})" for op in ("<", "<=", ">", ">=", "==", "!=")]
        options += [f"(not {sub('b')})", f"({sub('b')} {r.choice(['and', 'or'])} {sub('b')})", f"({a} < {b} < 5)"]
        options += [f"({sub('b')} {r.choice('&|^')} {sub('b')})", f"bool({a})", f"math.isnan({self.variable('f')})"]
        options += [f"({self.variable('i')} in (1, 2, 7))", f"({self.variable('i')} < {sub('f')})"]
        return [*options, f"({self.variable('c')} == {sub('c')})"]

    def imaginary(self, sub: Any) -> list[str]:
        a, b = sub("c"), sub("c")
        options = [f"({x} {op} {y})" for op in "+-*" for x, y in ((a, b), (a, sub("f")), (sub("i"), a))]
        options += [f"-({a})", f"({a}).conjugate()", f"complex({sub('f')}, 2)", f"np.complex64({a})", f"({a} / 2)"]
        return [*options, f"({a} if {sub('b')} else {b})", f"complex({sub('f')})", f"np.complex128({sub('i')})"]

    # ---- statements

    def assign(self, depth: int) -> None:
        cls = self.random.choices("ifbc", [4, 4, 1, 1])[0]
        text, name = self.expression(cls, 3), self.fresh()
        self.emit(depth, f"{name} = {text}")
        self.classes[name] = cls

    def reassign(self, depth: int) -> None:
        r, names = self.random, [n for n in self.classes if n[0] == "v"]
        name = r.choice(names)
        cls = self.classes[name]
        if cls in "if" and r.random() < 0.4:
            operand = self.expression(r.choice("if") if cls == "f" else "i", 1)
            return self.emit(depth, f"{name} {r.choice(['+=', '-=', '*='])} {operand}")
        return self.emit(depth, f"{name} = {self.expression(cls)}")

    def statement(self, depth: int) -> None:
        r = self.random
        choice = r.random()
        if depth > 3 or choice < 0.5:
            self.reassign(depth)
        elif choice < 0.65:
            self.assign(depth)
        elif choice < 0.85:
            self.alternatives(depth, 3, self.expression("b"))
        elif choice < 0.95:
            name = self.fresh("j")
            self.emit(depth, f"for {name} in range({r.choice(['3', '1, 9, 3', '4, 0, -1'])}):")
            with self.scope_of_body():
                self.classes[name] = "i"
                self.scoped(depth + 1, r.randint(1, 3))
                if r.random() < 0.3:
                    self.leaving(depth + 1, self.expression("b", 1))
        else:
            name = self.fresh("n")
            self.emit(
                depth, f"{name} = {r.randint(1, 3)} + (p0 & 1)"
            )  # of a constant numba would see what it rules out
            self.emit(depth, f"while {name} > 0:")
            self.emit(depth + 1, f"{name} -= 1")
            self.scoped(depth + 1, r.randint(1, 3))


def show(seed: int) -> str:
    """The source of a seed's function."""
    return HELPERS + Generator(seed).make()


def reference(source: str, seed: int, calls: list[tuple[Any, ...]]) -> tuple[list[str], list[Any]] | None:
    """The types of the results and their values by numba; None if it refuses."""
    import numba

    scope: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, f"<seed {seed}>", "exec", dont_inherit=True), scope)
    for name in ("scaled", "ordered", "total", "twice"):
        scope[name] = numba.njit(error_model="numpy")(scope[name])
    function = numba.njit(error_model="numpy")(scope["kernel"])
    with quiet():
        try:
            values = [function(*args) for args in calls]
        except (numba.core.errors.NumbaError, AttributeError, OverflowError, ValueError):
            return None
    types = function.nopython_signatures[0].return_type
    types = types.types if hasattr(types, "types") else [types.dtype] * len(types)
    return [str(numba.types.unliteral(t)) for t in types], values


def equal(got: Any, want: Any) -> bool:
    """The same number, or close where a function is rounded otherwise."""
    if isinstance(want, (float, complex, np.inexact)):
        tolerance = 1e-5 if np.asarray(got).dtype.itemsize <= 4 or np.asarray(got).dtype == np.complex64 else 1e-12
        return bool(np.isclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True))
    return bool(got == want)


def compare(seed: int) -> str | None:
    """Call a function from Python and in an emulated kernel; None if both give what numba gives."""
    from gpu import cuda

    generator = Generator(seed)
    source, calls = HELPERS + generator.make(), generator.arguments()
    expected = reference(source, seed, calls)
    if expected is None:
        return f"refused: seed {seed}"
    types, values = expected
    function = cuda.jit(device=True, fma=False)(function_of(source, seed, math=math))
    outs = ", ".join(f"o{k}" for k in range(len(types)))
    params = ", ".join(f"p{k}" for k in range(len(generator.types)))
    stores = "\n".join(f"    o{k}[0] = r[{k}]" for k in range(len(types)))
    around = function_of(f"def kernel({outs}, {params}):\n    r = f({params})\n{stores}\n", seed, f=function)
    kernel = cuda.jit(fma=False)(around)
    for args, want in zip(calls, values, strict=True):
        try:
            with quiet():
                got = function(*args)
            places = [np.zeros(1, t) for t in types]
            launch("emulated", kernel, (1, 1), [*places, *args])
        except Exception as e:
            return f"seed {seed}: {type(e).__name__}: {e}\n{args!r}\n{source}"
        mine = [str(np.asarray(v).dtype) for v in got]
        if any(
            m[:3] in ("int", "uin") and t in ("float64", "int64") and m != t for m, t in zip(mine, types, strict=True)
        ):
            return f"refused: seed {seed}"  # uint64 joined with a signed integer; a branch that constants rule out
        if mine != types:
            return f"seed {seed}: types {mine}, not {types}\n{args!r}\n{source}"
        for k, value in enumerate(want):
            for device, result in (("cpu", got[k]), ("emulated", places[k][0])):
                if not equal(result, value):
                    return f"seed {seed}: {device}: result {k} is {result!r}, not {value!r}; {args!r}\n{source}"
    return None
