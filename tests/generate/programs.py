"""Random programs on arrays without kernels: arithmetic of `gpu.Array`, vectorized functions, reductions, `prange`.

NumPy runs the same lines on its own arrays; each must give equal shapes, dtypes and values, or raise on both sides.
After a line whose floats are only close, the device goes on with NumPy's, so that differences don't add up.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from . import loops
from .writer import Writer, quiet

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(3, 4), (2, 3, 4), (5,), (4, 4), (1, 6), (0, 3), (2, 1, 5), (70,), (3, 40), ()]
BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "**"]
UNARY = [
    "sqrt",
    "exp",
    "sin",
    "floor",
    "rint",
    "sign",
    "square",
    "negative",
    "isfinite",
    "invert",
    "conjugate",
    "signbit",
]
PAIRS = ["add", "subtract", "multiply", "divide", "minimum", "maximum", "fmax", "hypot", "copysign", "logical_and"]
PAIRS += ["bitwise_or", "floor_divide", "remainder", "arctan2", "equal", "less", "power", "left_shift", "gcd", "fmod"]
METHODS = ["sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax", "cumsum", "cumprod", "var", "std"]
# Complex numbers have no order in kernels, and a sum of them is no float; of 0-d arrays only NumPy makes scalars.
REFUSED = [
    "doesn't take arrays of a device",
    "complex numbers have no order",
    "take complex",
    "take (complex",
    ", complex",
    "imaginary part",
    "take (int (weak), uint64)",
    "index did not match",
    "take array(bool",
    "can't return array expression",
    "negative integer powers",
]
TAKEN = [
    "cannot accumulate on a scalar",
    "does not support item assignment",
    "negative integer powers",
    "input types",
    "non-broadcastable output",
    "boolean array indexing",
    "boolean subtract",
    "zero-size array",
    "too many indices for array",
    "only 0-dimensional arrays",
    "out of bounds for ",
    "an array element with a sequence",
    "return arrays must be of ArrayType",
]
FUNCTIONS = [
    "lambda x, y: x + y",
    "lambda x, y: x * 2 - y",
    "lambda x, y: (x - y) * (x + 1)",
    "lambda x, y: abs(x) + np.maximum(y, x)",
    "lambda x, y: np.where(x > y, x, y)",
    "lambda x, y: x / 3 + y",
]


def reduce_of(name: str, x: Any, axis: Any = None, keepdims: bool = False, scan: bool = False) -> Any:
    """What gpu.reduce and gpu.scan give, by NumPy."""
    ufunc = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}
    ufunc |= {"and": np.bitwise_and, "or": np.bitwise_or, "any": np.logical_or, "all": np.logical_and}
    if scan:
        return ufunc[name].accumulate(x, axis)
    return ufunc[name].reduce(x, axis, keepdims=keepdims)


REFERENCE = SimpleNamespace(
    vectorize=lambda f: f,
    map=lambda f, *arrays: f(*arrays),
    reduce=reduce_of,
    scan=lambda name, x, axis=0: reduce_of(name, x, axis, scan=True),
    transform_reduce=lambda f, name, *arrays, axis=None: reduce_of(name, f(*arrays), axis),
    parallel=lambda f: f,
)


def name_of(view: str) -> str:
    """The array of a view."""
    return view.partition("[")[0].partition(".")[0]


class Generator(Writer):
    """Makes the lines of one program; NumPy's arrays tell what fits."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rng = np.random.default_rng(seed)
        self.shape = self.random.choice(SHAPES)
        self.family = self.random.sample(DTYPES, 3)
        self.inputs: dict[str, np.ndarray] = {}
        for k in range(3):
            self.inputs[f"x{k}"] = self.sample(self.random.choice(self.family))

    def sample(self, dtype: str) -> np.ndarray:
        """Small numbers, which sums hold exactly; of a shape that broadcasts to the program's, maybe with strides."""
        r, shape = self.random, list(self.shape)
        for axis in range(len(shape)):
            if r.random() < 0.15:
                shape[axis] = 1
        if shape and r.random() < 0.2:
            del shape[0]
        low = 0 if dtype[0] in "u?" else -4
        values = self.rng.integers(low, 2 if dtype == "?" else 7, [2 * n for n in shape])
        a = (values + 1j * (values > 2) if dtype[0] == "c" else values).astype(dtype)
        form = r.random()
        if form < 0.5 or not shape:
            return np.ascontiguousarray(a[tuple(slice(n) for n in shape)]).reshape(shape)
        step = r.choice([2, -2])
        return a[tuple(slice(None, None, step) for _ in shape)]

    def any(self) -> str:
        return self.random.choice(list(self.inputs) + self.names)

    def view(self) -> str:
        """An array or a part of it."""
        r, name = self.random, self.any()
        options = [name] * 6 + [
            f"{name}[::-1]",
            f"{name}[..., 1:]",
            f"{name}[1:]",
            f"{name}.T",
            f"{name}[0]",
            f"{name}[None]",
        ]
        return r.choice([*options, f"{name}[..., ::2]", f"{name}.reshape(-1)", f"{name}[..., 0]", f"{name}[-1:]"])

    def operand(self) -> str:
        r = self.random
        if r.random() < 0.75:
            return self.view()
        return r.choice(["2", "3", "-1", "0.5", "True", "1j", "np.float32(1.5)", "np.int8(3)", "np.uint16(7)", "0"])

    def axis(self) -> str:
        return self.random.choice(["", "axis=0", "axis=-1", "axis=1", "axis=None", "axis=0, keepdims=True"])

    def expression(self) -> str:
        r, a, b = self.random, self.view(), self.operand()
        name = r.choice(PAIRS)
        options = [f"{a} {r.choice(BINARY)} {b}"] * 5 + [f"{b} {r.choice(BINARY)} {a}", f"-{a}", f"~{a}", f"abs({a})"]
        options += [f"np.{r.choice(UNARY)}({a})", f"np.{name}({a}, {b})"] * 2
        options += [f"np.{name}({a}, {b}, out={self.any()})", f"np.{name}({a}, {b}, dtype='{r.choice(DTYPES)}')"]
        # where the types of operands and result differ, NumPy changes elements that the mask leaves out, too
        options += [f"np.{r.choice(['add', 'maximum'])}({a}, {a}, out={name_of(a)}, where={self.view()} > 1)"]
        options += [f"{a}.{r.choice(METHODS)}({self.axis()})"] * 4
        options += [f"np.where({self.view()} > 1, {a}, {b})", f"np.clip({a}, 0, 3)", f"{a} @ {self.view()}"]
        options += [
            f"{a}.astype('{r.choice(['f8', 'c16', 'f4'])}')",
            f"{a}.copy()",
            f"np.concatenate(({a}, {self.view()}))",
        ]
        options += [
            f"np.stack(({a}, {a}))",
            f"{a}[{self.view()} > 0]",
            f"np.sum({a}, {r.choice(['axis=0', 'dtype=float'])})",
        ]
        mask = f"where={self.view()} {r.choice(['> 1', '== 0'])}"
        options += [
            f"{a}.{r.choice(['sum', 'prod', 'any', 'all', 'mean', 'var', 'std'])}({r.choice(['', 'axis=0, '])}{mask})",
            f"{a}.{r.choice(['min', 'max'])}(initial=2, {mask})",
            f"np.round({a}, {r.randint(-2, 0)})",
            f"np.add({a}, {b}, casting='{r.choice(['no', 'equiv', 'safe'])}')",
        ]
        f = r.choice(FUNCTIONS)
        options += [
            f"P.vectorize({f})({a}, {b})",
            f"P.map({f}, {a}, {self.view()})",
            f"P.vectorize({f})({a}, {a}[::-1])",
        ]
        op = r.choice(["add", "mul", "min", "max", "and", "or", "xor", "any", "all"])
        where = r.choice(["", ", axis=0", ", axis=-1"])
        options += [f"P.reduce('{op}', {a}{where})", f"P.transform_reduce({f}, '{op}', {a}, {self.view()})"]
        if op not in ("any", "all"):
            options.append(f"P.scan('{op}', {a}, axis={r.choice(['0', '-1'])})")
        if self.first and len(self.shape) == 1 and all(x.shape == self.shape for x in self.inputs.values()):
            names = ", ".join(r.sample(["x0", "x1", "x2"], 3))  # small numbers so far
            loop = r.choice(["axpy", "total", "span", "counted", "rows"])
            call = f"P.parallel({loop})({names})"
            options += [f"float({call})" if loop == "span" else call] * 20
        return r.choice(options)

    def line(self) -> str:
        r = self.random
        if r.random() < 0.25:
            target = r.choice([self.any(), self.view(), f"{self.any()}[...]", f"{self.any()}[{self.any()} > 1]"])
            return f"{target} {r.choice(['=', '+=', '-=', '*=', '|=', '//='])} {self.operand()}"
        text = self.expression()
        return f"{self.fresh()} = {text}"

    def make(self) -> tuple[dict[str, np.ndarray], list[str]]:
        self.names: list[str] = []
        lines = []
        for _ in range(self.random.randint(4, 10)):
            self.first = not lines
            lines.append(self.line())
            if lines[-1].startswith("v") and " = " in lines[-1] and self.random.random() < 0.6:
                self.names.append(lines[-1].split(" = ")[0])
        return self.inputs, lines


def show(seed: int) -> str:
    """Its inputs and its lines."""
    inputs, lines = Generator(seed).make()
    given = [f"{k}: {v.dtype} {v.shape} strides {v.strides}" for k, v in inputs.items()]
    return "\n".join([*given, *lines])


def step(line: str, scope: dict[str, Any]) -> str:
    """Run a line; the kind of exception that it raises, if any."""
    with quiet():
        try:
            exec(line, scope)
        except Exception as e:
            return f"{type(e).__name__}: {e}"
    return ""


def keeps_kind(line: str, scope: dict[str, Any]) -> bool:
    """Whether an assignment to elements is of their kind: floats out of an integer's range are a difference."""
    target, is_assignment, value = line.partition(" = ")
    name = line.split()[0].partition("[")[0]
    if line.split()[1] != "=" and not isinstance(scope.get(name), np.ndarray):
        return False  # NumPy has a scalar, where a device has an array without axes
    if not is_assignment or target.isalnum():
        return True
    with quiet():
        try:
            kinds = [np.asarray(eval(text, scope)).dtype for text in (value, target.partition("[")[0])]
        except Exception:
            return False
    return np.can_cast(kinds[0], kinds[1], "same_kind")


def differs(want: Any, got: Any, single: bool) -> str:
    """How a result differs; "close" if only in the last digits. `single`: magnitudes of complex64 may be part of it."""
    got = np.asarray(got)
    if not isinstance(want, np.ndarray):
        want = np.asarray(want)
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    exact = want.dtype.kind not in "fc"
    if np.array_equal(want, got, equal_nan=not exact):
        return ""
    tolerance = (
        {2: 2e-2, 4: 1e-5, 8: 1e-12 if want.dtype.kind == "f" else 1e-5, 16: 1e-12}[want.dtype.itemsize] + 1e-6 * single
        if not exact
        else 0
    )
    if want.dtype == np.float16:  # products leave its range in one order and not in another
        within = np.isfinite(want) & np.isfinite(got)
        want, got = want[within], got[within]
    with quiet():
        if not exact and np.allclose(want, got, rtol=tolerance, atol=tolerance, equal_nan=True):
            return "close"
    return f"\n{got!r}\nnot\n{want!r}"


def compare(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> str | None:
    """Run a program on NumPy and on each device; None if they agree, else what differs."""
    import gpu

    for device in devices:
        generator = Generator(seed)
        (inputs, lines), family = generator.make(), generator.family
        reference = {"np": np, "P": REFERENCE, **vars(loops), **{k: v.copy() for k, v in inputs.items()}}
        with gpu.device(device):
            mine = {"np": np, "P": gpu, **vars(loops), **{k: gpu.array(v) for k, v in inputs.items()}}
            for line in lines:
                if not keeps_kind(line, reference):
                    continue
                want = step(line, reference)
                if want.startswith("NameError"):  # the line that makes it raised
                    continue
                got = step(line, mine)
                where = f"seed {seed}: {device}: {line}"
                if bool(want) != bool(got):
                    if any(why in got for why in REFUSED) or any(why in want for why in TAKEN):
                        return f"refused: {where}"
                    return f"{where}: {got or 'passes'}, NumPy: {want or 'passes'}\n{show(seed)}"
                for name in [n for n in reference if n[0] in "xv" and n[1:].isdigit()]:
                    how = differs(reference[name], mine[name], "c8" in family)
                    if how == "close" and isinstance(mine[name], gpu.Array):
                        mine[name][...] = reference[name]  # in place: others may be views
                    elif how == "close":
                        mine[name] = reference[name]
                    elif how:
                        return f"{where}: {name} is {how}\n{show(seed)}"
    return None
