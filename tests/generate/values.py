"""Random kernels on numbers: the same source on the `python` device and on compiled ones, in value and type.

A kernel reads typed arrays and weak scalars, computes in variables, ifs and loops, and stores what it has.
The generator knows the NumPy type of every variable, because it evaluates each expression that it
makes on sample values; an expression that Python refuses is thrown away. What the table in
`docs/semantics.md` says to differ from CPython is not generated: run-time weak integers that overflow,
division of weak numbers by zero, floats stored into integers out of range.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .flow import Flow
from .memory import CELLS, Memory, dtype_of, record_dtype, same
from .objects import OBJECTS, Objects
from .paths import PATHS, Paths, dates
from .state import STATE, State, fields
from .writer import Sampler, function_of, launch

N = 16  # threads, and the length of every array
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "bf2", "f4", "f8", "?", "c8", "c16"]
INTS = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}
FLOATS = {"f2", "bf2", "f4", "f8"}
COMPLEX = {"c8", "c16"}
WEAK = {"int", "float", "bool"}
REFUSED = (
    "inside try/finally",
    "does not fit",  # a constant on a way that no thread goes
    "run time chooses among functions that use no array",
)
HELPERS = (
    OBJECTS
    + PATHS
    + STATE
    + """\
def doubled(x, times):
    return x if times == 0 else doubled(x + x, times - 1)


def pick(c, x, y):
    return x if c else y


def scaled(x, k=2, *, plus=1):
    return x * k + plus


def ordered(x, y):
    if y < x:
        return y, x
    return x, y


def twice(f, x):
    return f(f(x))


def leaves(x, n):
    for k in range(n):
        if k * k > 5:
            return -x
    else:
        x = x + x
    return x


def total(*items):
    sum_ = items[0]
    for item in items[1:]:
        sum_ = sum_ + item
    return sum_


"""
)


def kind_of(value: Any) -> str:
    """The type of a sample: a dtype code, or int, float, bool for Python's own."""
    return code_of(value.dtype) if isinstance(value, np.generic) else type(value).__name__


def code_of(dtype: np.dtype[Any]) -> str:
    return {"bool": "?", "bfloat16": "bf2"}.get(dtype.name) or dtype.str.lstrip("<|>=")


@dataclass
class Kernel:
    """A generated kernel: its source and how to call it."""

    seed: int
    source: str = ""
    inputs: list[tuple[str, str]] = field(default_factory=list)  # name, dtype
    outputs: list[tuple[str, str]] = field(default_factory=list)
    scalars: dict[str, Any] = field(default_factory=dict)
    records: bool = False  # there are r and q
    cells: bool = False  # ... cells0, cells1 ...
    dates: bool = False  # ... when, gap, code
    fails: bool = False  # a thread raises an exception

    def arguments(self) -> dict[str, Any]:
        """Fresh arguments by name, in the order of the parameters."""
        rng = np.random.default_rng(self.seed)
        values: dict[str, Any] = {name: sample_array(rng, dtype) for name, dtype in self.inputs} | self.scalars
        values |= {name: np.zeros(N, dtype_of(dtype)) for name, dtype in self.outputs}
        if self.records:
            values["r"], values["q"] = (np.zeros(N, record_dtype(self.seed)) for _ in "rq")
            fill(rng, values["r"])
        if self.cells:
            values |= {f"cells{k}": sample_array(rng, dtype) for k, dtype in enumerate(CELLS)}
        return values | (dates(rng, N) if self.dates else {})


def sample_array(rng: np.random.Generator, dtype: str) -> np.ndarray:
    """Ordinary values with edge cases among them, shape (N,)."""
    if dtype == "?":
        return rng.integers(0, 2, N).astype("?")
    if dtype in COMPLEX:
        part = "f4" if dtype == "c8" else "f8"
        return (sample_array(rng, part) + 1j * np.where(rng.random(N) < 0.3, 0, rng.uniform(-3, 3, N))).astype(dtype)
    if dtype in FLOATS:
        tiny = 1.2e-38 if dtype == "bf2" else np.finfo(dtype).tiny
        edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, tiny])
        return np.where(rng.random(N) < 0.2, rng.choice(edges, N), rng.uniform(-8, 8, N)).astype(dtype_of(dtype))
    info = np.iinfo(dtype)
    values = rng.integers(max(-100, info.min), 100, N).astype(dtype)
    edges = np.array([info.min, info.max, 0, 1], dtype)
    return np.where(rng.random(N) < 0.2, rng.choice(edges, N), values).astype(dtype)


def fill(rng: np.random.Generator, records: np.ndarray) -> None:
    """Sample values into all fields."""
    for name in records.dtype.names or ():
        part = records[name]
        if part.dtype.names:
            fill(rng, part)
        else:
            columns = part.reshape(N, -1)
            for k in range(columns.shape[1]):
                columns[:, k] = sample_array(rng, code_of(part.dtype))


class Generator(Objects, Memory, Paths, State, Flow, Sampler):
    """Makes one kernel."""

    WEAK, COMPLEX = WEAK, COMPLEX
    SCOPED = ("env", "kinds", "small", "objects", "pairs", "dicts")

    def __init__(self, seed: int) -> None:
        super().__init__(seed, HELPERS)
        import gpu

        self.kernel = Kernel(seed)
        self.kinds: dict[str, str] = {}
        self.small: dict[str, str] = {}  # arrays of three, with their kind
        vars(self).update(fields())
        self.env["gpu"] = gpu
        self.special = self.random.random() < 0.5  # statements that few kernels have
        self.prints = self.random.random() < 0.1

    def make(self) -> Kernel:
        r = self.random
        for n in range(r.randint(1, 3)):
            dtype = r.choice(DTYPES)
            self.kernel.inputs.append((f"a{n}", dtype))
            sample = np.array([True] if dtype == "?" else [3] * N).astype(dtype_of(dtype))
            self.env[f"a{n}"] = np.resize(sample, N)
        for name, value in (("s", r.randint(-9, 9)), ("t", round(r.uniform(-4, 4), 2))):
            if r.random() < 0.6:
                self.kernel.scalars[name] = value
                self.declare(name, value)
        self.env["i"], self.kinds["i"] = 3, "int"
        for _ in range(3):
            self.assign(1)
        self.statements(1, r.randint(2, 7))
        if r.random() < 0.1:
            self.early_return()
            self.statements(1, r.randint(1, 4))
        self.store_all(1)
        if r.random() < 0.04:
            self.failure()
        head = f"def kernel({', '.join(self.kernel.arguments())}):\n    i = gpu.grid(1)\n"
        self.kernel.source = HELPERS + head + "\n".join(self.lines) + "\n"
        return self.kernel

    def declare(self, name: str, value: Any) -> None:
        self.env[name] = value
        self.kinds[name] = kind_of(value)

    # ---- expressions: text whose sample evaluates, of a kind that is asked for or any

    def scope(self) -> dict[str, Any]:
        return self.env  # expressions change nothing

    def evaluate(self, text: str) -> Any:
        value = super().evaluate(text)
        return value if isinstance(value, (np.generic, bool, int, float)) else None

    def kind(self, text: str) -> str:
        """The type of an expression."""
        return kind_of(self.evaluate(text))

    def of_kind(self, kind: str) -> str | None:
        """An expression of this type, if one is found."""
        for _ in range(12):
            text = self.expression(2)
            if self.kind(text) == kind:
                return text
        names = self.variables(kind)
        return self.random.choice(names) if names else None

    def leaf(self) -> str:
        r = self.random
        choice = r.random()
        if self.small and r.random() < 0.15:
            name = r.choice(list(self.small))
            total = f"{name}.sum()" if self.small[name] != "bf2" else f"{name}.max()"
            return r.choice([f"{name}[i % 3]", f"{name}[-1]", total, f"({name} + {name}[::-1])[1]"])
        names = list(self.kinds)
        if choice < 0.45 or not names:
            array = r.choice(self.kernel.inputs)[0]
            return f"{array}[{r.choice(['i', 'i', '-1 - i', '(i * 5) % 16', 'i // 2'])}]"
        if choice < 0.8:
            return r.choice(names)
        if choice < 0.85:
            array = r.choice(self.kernel.inputs)[0]
            return r.choice(
                [f"{array}[2:][i % 9]", f"{array}[::-2][i // 2]", f"{array}[-9:12][i % 5]", f"{array}.T[i]"]
            )
        ordered = [name for name, dtype in self.kernel.inputs if dtype not in COMPLEX]
        if choice < 0.87 and ordered:
            return self.of_many(r.choice(ordered))
        if choice < 0.9:
            return r.choice(["(3, 5, 8)[i % 3]", "len(a0)", "a0.shape[0]", "range(2, 40, 2)[i]", "(i + 1 - i)", "-i"])
        return r.choice(
            ["1", "2", "3", "7", "0.5", "1.25", "-2", "True", "np.int8(5)", "np.float32(0.75)", "np.uint16(9)"]
        )

    def of_many(self, array: str) -> str:
        """A number made of several elements; few enough that NumPy adds floats one after the other, too.

        Kernels add bfloat16 in float32, which ml_dtypes doesn't.
        """
        r = self.random
        low = r.randint(0, 9)
        part = f"{array}[{low} : {low + r.randint(2, 6)}]"
        options = [
            f"{part}.max()" if dict(self.kernel.inputs)[array] == "bf2" else f"np.sum({part})",
            f"{part}.max()",
            f"{part}.argmin()",
            f"({part} == {array}[i]).any()",
            f"(-{part})[1]",
        ]
        options += [f"np.prod({part}[:2])", f"np.array([{array}[i], {array}[3]])[i % 2]", f"({array}[i] in {part})"]
        options += [f"({part} + {part}[::-1])[1]", f"np.where({part} > 1, {part}, 0)[i % 2]", f"abs({part}).min()"]
        options += [f"np.int64(np.count_nonzero({part}))", f"({array}[:4] * {array}[4:8])[1]", f"len({part}[:: i + 1])"]
        return r.choice(options)

    def expression(self, depth: int) -> str:
        """Any expression that has a type."""
        for _ in range(20):
            text = self.compose(depth)
            value = self.evaluate(text)
            if value is not None and self.is_tame(text, value):
                return text
        return "a0[i]"

    def is_tame(self, text: str, value: Any) -> bool:
        """Weak results stay small: as run-time values they must not overflow."""
        return not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) < 1e4

    def compose(self, depth: int) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            return self.leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        ka, kb = self.kind(a), self.kind(b)
        both_weak = ka in WEAK and kb in WEAK
        options = [f"({a} + {b})", f"({a} - {b})", f"-({a})"]
        if r.random() < 0.15:
            return self.through_objects(a, b)
        if r.random() < 0.06:
            return self.by_paths(a, b)
        if ka not in COMPLEX:
            options += [f"abs({a})", f"int({a} != {b})", f"np.float32({a})", f"({a}).real"]
        if ka in COMPLEX:
            options += [f"({a}).real", f"({a}).imag", f"({a}).conjugate()", f"({a} * {b})", f"+({a})"]
        if ka not in WEAK:
            options += [f"twice(lambda x: -x, {a})", f"scaled({a})"]
            options += [f"scaled({a}, k=3)", f"scaled(plus=2, x={a})", f"total({a}, {b})", f"total({a})"]
        if not both_weak:
            options += [f"({a} * {b})", f"({a} / {b})", f"({a} // {b})", f"({a} % {b})"] * 2
            options += [f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})"]
        if ka in INTS:
            options += [
                f"~({a})",
                f"({a} << {r.randint(0, 7)})",
                f"({a} >> {r.randint(0, 7)})",
                f"({a} ** {r.randint(0, 3)})",
            ]
        if ka in INTS and kb in INTS:
            options += [f"({a} << {b})", f"({a} >> {b})"]
        if ka in INTS and kb in INTS and "u8" not in (ka, kb):
            options += [f"divmod({a}, {b})[{r.randint(0, 1)}]"]
        if ka == kb and ka not in COMPLEX:
            options += [f"ordered({a}, {b})[{r.randint(0, 1)}]", f"np.where({self.condition(depth - 1)}, {a}, {b})"]
            options += [f"pick({self.condition(depth - 1)}, {a}, {b})"]
        if ka == kb and ka in COMPLEX:
            return r.choice([*options, f"({a} if {self.condition(depth - 1)} else {b})"])
        if ka == kb:
            options += [f"min({a}, {b})", f"max({a}, {b})", f"({a} if {self.condition(depth - 1)} else {b})"]
        if ka in FLOATS:
            options += [f"np.floor({a})", f"np.sqrt(abs({a}))", f"np.rint({a})", f"np.copysign({a}, {a})"]
        if ka in FLOATS and kb == ka:
            options += [f"np.minimum({a}, {b})", f"np.maximum({a}, {b})", f"np.fmin({a}, {b})"]
        if ka in INTS | FLOATS | COMPLEX:
            options += [f"leaves({a}, {r.choice(['2', '5', 'i % 5'])})"]
        if ka in INTS | FLOATS:
            options += [f"np.float32({a})", f"np.float64({a})"]
        return r.choice(options)

    def condition(self, depth: int) -> str:
        r = self.random
        for _ in range(20):
            a, b = self.expression(depth), self.expression(depth)
            orders = ["==", "!="] if {self.kind(x) for x in (a, b)} & COMPLEX else ["<", "<=", ">", ">=", "==", "!="]
            text = f"{a} {r.choice(orders)} {b}"
            if len(orders) > 2 and r.random() < 0.15:
                text = f"{a} {r.choice(orders)} {b} {r.choice(orders)} {self.leaf_of_order()}"
            if r.random() < 0.1:
                text = r.choice(
                    [f"{a} in (1, {b}, 3)", f"i {r.choice(['in', 'not in'])} range(1, 14, {r.randint(1, 4)})"]
                )
            if r.random() < 0.05:
                kinds = r.choice(
                    ["np.int32", "(np.uint8, np.float64)", "np.integer", "np.floating", "np.int64 | np.float32"]
                )
                text = r.choice([f"isinstance({a}, {kinds})", f"type({a}) {r.choice(['==', 'is not'])} np.int32"])
            if r.random() < 0.2:
                text = f"not ({text})"
            if r.random() < 0.2:
                text = f"({text}) {r.choice(['and', 'or'])} i % 3 != 1"
            if self.evaluate(text) is not None:
                return text
        return "i > 4"

    def leaf_of_order(self) -> str:
        """A leaf that has an order."""
        for _ in range(20):
            text = self.leaf()
            if self.kind(text) not in COMPLEX:
                return text
        return "i"

    # ---- statements

    def statement(self, depth: int) -> None:
        r = self.random
        choice = r.random()
        if depth > 1 and r.random() < 0.5:
            self.reassign(depth)  # into a variable that is stored at the end
        elif depth < 4 and self.special and r.random() < 0.35:
            more = [self.record, self.record, self.small_array, self.small_array, self.own_cell, self.function]
            more += [self.maybe, self.fill_recursively, self.of_dates]
            more += [self.object_state, self.object_state, self.pair_state, self.pair_state, self.dict_state]
            more += [self.outer_variable, self.on_the_way_out, self.by_index, self.chosen_meaning]
            more += [self.try_finally, self.loop_else, self.forever, self.assertion, self.untaken_raise]
            r.choice([*more, *[self.printing] * 3 * self.prints])(depth)
        elif depth > 3 or choice < 0.45:
            self.assign(depth)
        elif choice < 0.6:
            self.reassign(depth)
        elif choice < 0.72:
            self.branch(depth)
        elif choice < 0.77:
            self.matching(depth)
        elif choice < 0.88:
            self.loop(depth)
        elif choice < 0.91:
            self.over_items(depth)
        elif choice < 0.93:
            self.over_mixed(depth)
        elif choice < 0.95:
            self.inner_function(depth)
        else:
            self.swap(depth)

    def assign(self, depth: int) -> None:
        text = self.expression(3)
        value = self.evaluate(text)
        name = self.fresh()
        self.emit(depth, f"{name} = {text}")
        self.declare(name, value)

    def variables(self, wanted: str | None = None) -> list[str]:
        return [n for n, k in self.kinds.items() if n[0] == "v" and (wanted is None or k == wanted)]

    def reassign(self, depth: int) -> None:
        """Give a typed variable another value of its own type."""
        names = [n for n in self.variables() if self.kinds[n] not in ("int", "float", "bool")]
        if not names:
            return self.assign(depth)
        name = self.random.choice(names)
        for _ in range(20):
            text = self.expression(2)
            if self.kind(text) == self.kinds[name]:
                return self.emit(depth, f"{name} = {text}")
            both = f"{name} + {text}"
            value = self.evaluate(both)
            if value is not None and kind_of(value) == self.kinds[name] and self.kinds[name] != "?":
                return self.emit(depth, f"{name} {self.random.choice(['+=', '-=', '*='])} {text}")
        return None

    def branch(self, depth: int) -> None:
        conditions = [self.condition(1) for _ in range(1 + (self.random.random() < 0.4))]
        self.alternatives(depth, 3, *conditions)

    def matching(self, depth: int) -> None:
        r = self.random
        self.emit(depth, f"match {r.choice(['i % 4', '(i % 3, i > 7)'])}:")
        pair = self.lines[-1].endswith("):")
        cases = ["(0, _)", "(1, True)", "(_, False)"] if pair else ["0", "1 | 2", "n if n > i - 3"]
        for case in [*r.sample(cases, 2), "_"]:
            self.emit(depth + 1, f"case {case}:")
            self.scoped(depth + 2, r.randint(1, 2))

    def over_items(self, depth: int) -> None:
        """A loop over an array or a tuple, alone, counted or beside another."""
        r = self.random
        array, name, number = (
            r.choice(self.kernel.inputs)[0],
            self.fresh("e"),
            self.fresh("j"),
        )
        items = r.choice([array, f"{array}[3:11:3]", "(i, 2, 5)", "reversed(range(i % 7))", "range(0, 12, i + 1)"])
        heads = [f"for {name} in {items}:", f"for {number}, {name} in enumerate({items}):"]
        head = r.choice([*heads, f"for {number}, {name} in zip(range(5, 0, -1), {items}):"])
        self.emit(depth, head)
        with self.scope_of_body():
            if number in head:
                self.declare(number, 2)
            self.declare(name, self.env[array][3] if array in items else 2)
            self.scoped(depth + 1, r.randint(1, 3))

    def over_mixed(self, depth: int) -> None:
        """A loop over values of several types, which must be unrolled."""
        r = self.random
        name = self.fresh("e")
        items = r.choice(["('a', 2, 'b')", "(i, 'a', a0)", "{'a': 1, 2: i}", "Pair('a', i)", "zip('ab', (i, a0))"])
        self.emit(depth, f"for {name} in {items}:")
        test = r.choice(["isinstance({}, str)", "isinstance({}, (str, tuple))", "hasattr({}, 'shape')"]).format(name)
        self.emit(depth + 1, f"if {test}:")
        self.scoped(depth + 2, r.randint(1, 2))
        self.emit(depth + 1, "else:")
        self.scoped(depth + 2, r.randint(1, 2))

    def inner_function(self, depth: int) -> None:
        """A function that closes over what there is."""
        text = self.expression(2)
        name = self.fresh()
        self.emit(depth, f"{name} = (lambda x: {text} + x)({self.random.choice(['1', 'i', 'a0[i]'])})")
        value = self.evaluate(self.lines[-1].split(" = ", 1)[1])
        if value is None or not self.is_tame("", value):
            self.lines.pop()
        else:
            self.declare(name, value)

    def loop(self, depth: int) -> None:
        r = self.random
        name = self.fresh("j")
        if r.random() < 0.7:
            bounds = r.choice(
                ["4", "1, 6", "6, 0, -2", "i % 5", "i, 20, 7", "-3, i % 4", "0, 9, i % 3 + 1", "i, -1, -1 - i"]
            )
            self.emit(depth, f"for {name} in range({bounds}):")
        else:
            self.emit(depth, f"{name} = {r.randint(0, 3)}")
            self.emit(depth, f"while {name} < {r.randint(2, 6)}:")
            self.emit(depth + 1, f"{name} += 1")
        with self.scope_of_body():
            self.declare(name, 2)
            self.scoped(depth + 1, r.randint(1, 3))
            if r.random() < 0.4:
                self.leaving(depth + 1, self.condition(1))

    def swap(self, depth: int) -> None:
        for name in self.variables():
            others = [n for n in self.variables(self.kinds[name]) if n != name]
            if others:
                other = self.random.choice(others)
                return self.emit(depth, f"{name}, {other} = {other}, {name}")
        return self.assign(depth)

    def store_all(self, depth: int) -> None:
        """Each variable into an array of its own type: the comparison sees every one."""
        wide = {"int": "i8", "float": "f8", "bool": "?"}
        self.kernel.outputs = []
        for number, name in enumerate(self.variables()):
            dtype = wide.get(self.kinds[name], self.kinds[name])
            self.kernel.outputs.append((f"o{number}", dtype))
            self.emit(depth, f"o{number}[i] = {name}")
        if not self.kernel.outputs:
            self.kernel.outputs.append(("o0", "i8"))
            self.emit(depth, "o0[i] = i")

    def early_return(self) -> None:
        """Some threads end; what is stored so far are the first of all outputs."""
        self.emit(1, f"if {self.condition(2)}:")
        self.store_all(2)
        self.emit(2, "return")

    def failure(self) -> None:
        """One thread raises an exception, whose text shows a value."""
        self.kernel.fails = True
        self.emit(1, f"if i == {self.random.randint(0, 15)}:")
        shown = (self.variables() or ["i"])[0]
        kind = self.random.choice(["ValueError", "IndexError", "RuntimeError"])
        self.emit(2, f'raise {kind}(f"thread {{i}} has {{{shown}}}")')


def generate(seed: int) -> Kernel:
    """The kernel of a seed."""
    return Generator(seed).make()


def show(seed: int) -> str:
    """Its source."""
    return generate(seed).source


def run(device: str, jitted: Any, args: dict[str, Any]) -> tuple[list[str], str]:
    """Launch: the lines that were printed, sorted, and the exception that a thread raised."""
    failed, out = "", io.StringIO()
    with redirect_stdout(out):
        try:
            launch(device, jitted, (1, N), list(args.values()))
        except (ValueError, IndexError, RuntimeError) as e:
            failed = f"{type(e).__name__}: {e}"
    return sorted(out.getvalue().splitlines()), failed  # where one fails, others may have printed or not


def compare(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> str | None:
    """Run a kernel on `python` and each device; None if they agree, else what differs."""
    import gpu

    kernel = generate(seed)
    jitted = gpu.jit(fma=False)(function_of(kernel.source, seed))
    want: dict[str, Any] = {}
    said: tuple[list[str], str] = ([], "")
    for device in ("python", *devices):
        args = kernel.arguments()
        try:
            lines = run(device, jitted, args)
        except OverflowError as e:
            if device == "python" and "Python integer" in str(e):
                return None  # a weak integer that doesn't fit: Python refuses the value, devices wrap
            return f"seed {seed}: {device}: {e}\n{kernel.source}"
        except Exception as e:
            if isinstance(e, gpu.CompileError) and any(why in str(e) for why in REFUSED):
                return f"refused: seed {seed}"
            return f"seed {seed}: {device}: {type(e).__name__}: {e}\n{kernel.source}"
        if not want:
            want, said = args, lines
        if lines[kernel.fails :] != said[kernel.fails :] or (lines[1] and not kernel.fails):
            return f"seed {seed}: {device} says\n{lines}\nnot\n{said}\n{kernel.source}"
        if kernel.fails:
            continue
        for name, value in args.items():
            if isinstance(value, np.ndarray) and not same(want[name], value):
                return f"seed {seed}: {name} on {device} is\n{value!r}\nnot\n{want[name]!r}\n{kernel.source}"
    return None
