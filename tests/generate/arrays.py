"""Random kernels that work on whole arrays: made, viewed, aliased, assigned, changed in place, passed and returned.

Also with masks, integer arrays as indices and NumPy's functions of small arrays. NumPy on the `python` device is the
reference, so names that mean one array must go on meaning one array, and names that don't mustn't. Values are integers
that wrap, or small floats, so that results are exact. Arguments are contiguous or not, and two may share memory.
The compiler refuses a kernel whose arrays would have to outlive their memory, and code refuses to copy what overlaps.
"""

from __future__ import annotations

import numpy as np

from .writer import Sampler, function_of, launch

N = 4  # threads
FAMILIES = [["np.int64", "np.int32", "np.uint8"], ["np.float64"]]  # a float out of an integer's range is a difference
SHAPES = [(3,), (2, 2), (4,), (2, 3)]
REFUSED = (
    "only an array in C order has another shape",
    "it takes the memory of the one made an iteration before",
    "its arrays may have changed since",
)
HELPERS = """\
def same(x):
    return x


def added(x, y):
    return x + y


def bumped(x, k):
    x += k
    return x


def chosen(c, x, y):
    if c:
        return x
    return y


def grown(x, n):
    for k in range(n):
        x = x + k
    return x


def cleared(x):
    for k in range(len(x)):
        x[k] = 0


"""


class Generator(Sampler):
    """Makes one kernel; samples of all variables say what fits where. They are copies: only types and shapes count."""

    SCOPED = ("env", "names")

    def __init__(self, seed: int) -> None:
        super().__init__(seed, HELPERS)
        self.names: list[str] = []  # of arrays
        self.dtypes = self.random.choice(FAMILIES)
        self.env |= {"i": 1, "a": np.arange(12).reshape(4, 3), "c": np.arange(16.0).reshape(4, 2, 2)}
        self.env |= {name: np.arange(16).reshape(4, 4).astype(self.dtypes[0][3:]) for name in "ds"}
        self.rows = self.random.random() < 0.4  # d and s are used

    def make(self) -> str:
        r = self.random
        for _ in range(r.randint(2, 4)):
            self.declare(1)
        self.statements(1, r.randint(3, 9))
        for number, name in enumerate(self.names):
            value = self.env[name]
            self.emit(
                1,
                f"o[i, {number}, :{value.size}] = {name}.flatten()" if r.random() < 0.5 else self.stored(name, number),
            )
        body = "\n".join(self.lines)
        return f"{HELPERS}def kernel(a, c, o, d, s):\n    i = gpu.grid(1)\n{body}\n"

    def stored(self, name: str, number: int) -> str:
        if self.env[name].ndim == 1:
            return f"o[i, {number}, :{self.env[name].size}] = {name}"
        rows, columns = self.env[name].shape
        return f"for q in range({rows}): o[i, {number}, q * {columns} : (q + 1) * {columns}] = {name}[q]"

    # ---- expressions

    def like(self, name: str | None = None) -> list[str]:
        """Arrays of the shape and type of this one, or all."""
        if name is None:
            return self.names
        want = self.env[name]
        return [n for n in self.names if self.env[n].shape == want.shape and self.env[n].dtype == want.dtype]

    def scalar(self) -> str:
        r = self.random
        name = r.choice(self.names)
        ndim = self.env[name].ndim
        index = r.choice(["0", "i % 2", "-1", "1"]) if ndim == 1 else r.choice(["0, 1", "i % 2, 0", "1, -1"])
        options = ["i", "2", "3", f"{name}[{index}]", f"{name}.max()", f"{name}.sum()", f"len({name})", "a[i, 1]"]
        options += [f"np.count_nonzero({name} > 1)", f"np.argmax({name})", f"np.ptp({name})", f"({name} == i).any()"]
        options += [f"np.prod({name} % 3)"] if ndim == 2 else [f"np.dot({name}, {name})", f"np.searchsorted({name}, i)"]
        return r.choice(options)

    def made(self) -> str:
        """An expression that makes an array."""
        r = self.random
        shape, dtype = r.choice(SHAPES), r.choice(self.dtypes)
        options = [
            f"np.zeros({shape}, {dtype})",
            f"np.full({shape}, {r.randint(0, 5)}, {dtype})",
            f"np.ones({shape}, {dtype})",
        ]
        if len(shape) == 1:
            options += [
                f"np.array([{', '.join(r.choice(['i', '1', '2', 'a[i, 0]']) for _ in range(shape[0]))}], {dtype})"
            ]
        else:
            options += [f"np.arange({shape[0] * shape[1]}, dtype={dtype}).reshape({shape})"]
        return r.choice(options)

    def array(self) -> str:
        """Any array expression."""
        r = self.random
        if not self.names or r.random() < 0.15:
            return self.made()
        x = r.choice(self.names)
        y = r.choice(self.like(x) if r.random() < 0.7 else self.names)
        options = [
            f"{x} {r.choice('+-*')} {y}",
            f"{x} {r.choice('+-*')} {r.choice(['2', 'i', '1'])}",
            f"-{x}",
            f"{x} + a[i, 0]",
        ]
        options += [f"np.where({x} > {y}, {x}, {y})", f"np.minimum({x}, {y})", f"np.maximum({x}, 2)", f"abs({x})"]
        options += [f"{x}.copy()", f"same({x})", f"added({x}, {y})", f"grown({x}, {r.choice(['0', '2', 'i'])})"]
        options += [
            f"chosen(i > {r.randint(0, 3)}, {x}, {r.choice(self.like(x))})",
            f"({x}, {y})[{r.randint(0, 1)}]",
            f"bumped({x}, 1)",
            x,
            x,
        ]
        if self.env[x].ndim == 1:
            options += [
                f"{x}[::-1]",
                f"{x}[{r.randint(0, 2)}:]",
                f"{x}[:2]",
                f"{x} + a[i, : {len(self.env[x])}]" if len(self.env[x]) > 1 else x,
            ]
        else:
            options += [
                f"{x}.T",
                f"{x}[{r.randint(0, 1)}]",
                f"{x}[:, 0]",
                f"{x}.sum(axis={r.randint(0, 1)})",
                f"{x} @ {y}",
            ]
            options += [f"{x}.T @ {x}", f"{x}[::-1]", f"{x}.T.copy()"]
        return r.choice(self.functions(x, y) if r.random() < 0.3 else options)

    def functions(self, x: str, y: str) -> list[str]:
        """Calls of NumPy's functions, and elements chosen by arrays."""
        k = self.random.randint(-2, 2)
        options = [f"np.roll({x}, {k})", f"np.flip({x})", f"np.clip({x}, 1, i)", f"np.concatenate(({x}, {y}))"]
        options += [
            f"np.stack(({x}, {y}))",
            f"np.cumsum(np.ravel({x}))",
            f"np.diff({x})",
            f"{x}[[0, -1]]",
            f"np.sort({x})",
        ]
        options += [
            f"np.where({x} > 1, {y}, i)",
            f"{x}[np.array([1, i % 2])]",
            f"np.flip({x}, 0)",
            f"np.append({x}, i)",
        ]
        if self.env[x].ndim == 1:
            more = [
                f"np.argsort({x} * 16 + np.arange({len(self.env[x])}))",
                f"np.tile({x}, 2)",
                f"np.repeat({x}, 2)",
                f"np.diag({x})",
            ]
            more += [f"np.convolve({x}, {y}[:2])", f"{x}[np.array([[0, 1], [i % 2, -1]])]"]
            more += [
                f"np.sort(a[i, :{self.random.randint(1, 3)}])",
                "a[i, 1:3].copy()",
            ]
            if self.env[y].ndim == 1:
                more += [f"np.kron({x}[:2], {y}[:2])", f"np.outer({x}, {y})"]
            return [*options, *more, f"np.isin({x}, {y}) + {x}", f"np.take({x}, [1, 0, i % 2])", f"{x}.reshape(-1, 1)"]
        more = [
            f"np.triu({x})",
            f"np.tril({x}, {k})",
            f"np.diag({x}).copy()",
            f"np.hstack(({x}, {y}))",
            f"np.rot90({x})",
        ]
        more += [f"{x}[[0, 1], [1, 0]]", f"{x}[:, [1, 0]]", f"{x}[i % 2, [1, 0, 1]]", f"{x}[..., [0, -1]]"]
        more += [f"{x}[np.ix_([1, 0], [0])]", f"{x}[[1, 0], :1]", f"{x}[np.array([i % 2, 1]), 0]", f"{x}[::-1, [1]]"]
        more += [f"{x}[np.array([[i % 2]]), np.array([0, 1])]"]
        more += [
            f"np.vstack(({x}, {y}))",
            f"{x}[[1, 0]]",
            f"np.squeeze({x}[:1])",
            f"np.ravel({x}) + 0",
        ]
        return [
            *options,
            *more,
            f"np.moveaxis({x}, 0, 1)",
            f"np.split({x}, 2)[1]",
            f"{x}.reshape(-1)",
        ]

    # ---- statements

    def statement(self, depth: int) -> None:
        r = self.random
        choice = r.random()
        if choice < 0.12 and depth < 2:
            self.declare(depth)
        elif choice < 0.4:
            self.rebind(depth)
        elif choice < 0.75:
            self.change(depth)
        elif choice < 0.8:
            self.swap(depth)
        elif depth < 4:
            self.block(depth)

    def declare(self, depth: int) -> None:
        text = self.array()
        value = self.evaluate(text)
        if not isinstance(value, np.ndarray) or not 0 < value.ndim < 3 or not 0 < value.size <= 16:
            text = self.made()
            value = self.evaluate(text)
        name = self.fresh()
        self.emit(depth, f"{name} = {text}")
        self.env[name] = value.copy()
        self.names.append(name)

    def rebind(self, depth: int) -> None:
        """Another array of the shape and type that the variable has."""
        name = self.random.choice(self.names)
        want = self.env[name]
        for _ in range(20):
            text = self.array()
            value = self.evaluate(text)
            if isinstance(value, np.ndarray) and value.shape == want.shape and value.dtype == want.dtype:
                return self.emit(depth, f"{name} = {text}")
        return self.change(depth)

    def change(self, depth: int) -> None:
        """The elements of an array."""
        r = self.random
        if self.rows and r.random() < 0.4:
            return self.change_row(depth)
        x = r.choice(self.names)
        y = r.choice(self.like(x))
        options = [
            f"{x}[:] = {y}",
            f"{x} += {y}",
            f"{x} += 1",
            f"{x}[0] = {self.scalar()}",
            f"{x}[-1] += 2",
            f"{x}.fill(i)",
        ]
        options += [
            f"{x}[:] = {self.array()}",
            f"{x}[1:] = {x}[:-1]",
            f"{x}[:-1] = {y}[1:]",
            f"{x}[:] = {x}[::-1] + {y}",
        ]
        options += [f"{x} *= {y}", f"{x}[::2] = 3", f"bumped({x}, {r.choice(['1', 'i'])})", f"{x}[...] = 2"]
        if self.env[x].ndim == 2:
            options += [
                f"{x}[:, 1] = {x}[:, 0]",
                f"{x}[i % 2] = {self.array()}",
                f"{x}[0, 1] = {self.scalar()}",
                f"{x}[1] += {x}[0]",
            ]
            options += [f"{x}[:] = {x}.T", f"for row in {x}: row[0] = i"]
        else:
            options += [f"cleared({x})", f"{x}[i % 2] = {self.scalar()}", f"for k, e in enumerate({x}): {x}[k] = e + k"]
        masks = [
            f"{x}[{x} > {r.randint(0, 3)}] = {self.scalar()}",
            f"{x}[{y} == 1] += 1",
            f"{x}[[0, 1]] = {self.scalar()}",
        ]
        masks += [f"{x}[({x} > 0) & ({y} < 3)] = 2", f"{x}[~({x} < {y})] -= 1", f"{x}[np.array([1, 0])] = {y}[:2]"]
        masks += [f"{x}.sort()", f"{x}[{x} != {x}.max()] = 0", f"{x}[[0, -1]] += 1"]
        masks += [f"{x}[[0, 0]] += 1", f"{x}[np.array([i % 2, 1])] = {y}[:2]", f"{x}[[1, 0]] = {x}[:2]"]
        masks += [f"{x}[[0, 1], [1, 0]] = {self.scalar()}", f"{x}[:, [1, 0]] = {y}[:, :2]", f"{x}[:, [1]] -= 2"]
        masks += [f"{x}[i % 2, [0, 1]] = {self.scalar()}", f"{x}[[0, 1], [1, 1]] += {x}[0, :2]"]
        masks += [f"{x}[np.ix_([1, 0], [0, 1])] = {y}[:2, :2]", f"{x}[..., [0, -1]] *= 2"]
        for _ in range(20):
            text = r.choice(masks if r.random() < 0.2 else options)
            if self.runs(text):
                return self.emit(depth, text)
        return None

    def change_row(self, depth: int) -> None:
        """The elements of d or s that the thread has for itself, whose memory may be the same."""
        r = self.random
        x, y = r.choice(["ds", "sd", "dd"])
        u, v = r.choice(["[i]", "[i, :]", "[i, ::-1]"]), r.choice(["[i]", "[i, ::-1]"])
        short = r.choice([f"{y}[i, :2]", f"{y}[i, ::2]", f"{y}[i, 1:3]", f"{y}[i, -1:-3:-1]"])
        texts = [f"{x}{u} = {y}{v}", f"{x}{u} += {y}{v}", f"{x}{u} = {y}{v} {r.choice('+-*')} {x}[i]"]
        texts += [f"{x}[i, 1:] = {y}[i, :3]", f"{x}[i, :2] = {short}", f"{x}[i, ::2] -= {short}"]
        texts += [f"{x}[i, {r.randint(-2, 2)}] += {self.scalar()}", f"{x}{u} = np.where({y}{v} > 1, {y}{v}, {x}[i])"]
        texts += [f"{x}[i][{y}{v} > 1] = {self.scalar()}", f"for k in range(3): {x}[i, k] = {y}[i, k + 1] + k"]
        texts += [f"{x}{u} = {self.scalar()}", f"{x}[i, 2:] = -{y}[i, 1:3]", f"{x}{u} = abs({y}{v}) + i"]
        near = [n for n in self.names if self.env[n].shape == (4,)]
        if near:
            n = r.choice(near)
            texts += [f"{x}{u} = {n}", f"{n}[:] = {x}{u}", f"{n} += {x}{u}", f"{x}{u} = {y}{v} + {n}"] * 2
        text = r.choice(texts)
        if self.runs(text):
            self.emit(depth, text)

    def swap(self, depth: int) -> None:
        x = self.random.choice(self.names)
        y = self.random.choice(self.like(x))
        self.emit(depth, f"{x}, {y} = {y}, {x}")

    def block(self, depth: int) -> None:
        r = self.random
        if r.random() < 0.4:
            return self.alternatives(depth, 4, f"i {r.choice(['>', '<', '=='])} {r.randint(0, 3)}")
        self.emit(depth, f"for {self.fresh('k')} in range({r.choice(['2', '3', 'i', '0', 'i + 1'])}):")
        self.scoped(depth + 1, r.randint(1, 4))
        if r.random() < 0.3:
            self.leaving(depth + 1, f"{self.scalar()} > {r.randint(0, 9)}")
        return None


def show(seed: int) -> str:
    """The source of a seed's kernel."""
    return Generator(seed).make()


def laid_out(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """The same elements with other strides, maybe read-only."""
    form = rng.integers(6)
    if form < 2:
        return x
    if form == 2:
        return np.asfortranarray(x)
    if form == 3:
        x = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    else:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        x = wide[..., ::2]
    x.flags.writeable = form != 5
    return x


def arguments(seed: int) -> list[np.ndarray]:
    """The arrays of a launch: a, c are read, o takes results, s is a view of d whose row i is made of d's."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(-5, 6, (N, 3)), rng.integers(-3, 4, (N, 2, 2)).astype(float)
    own = rng.integers(-4, 5, (N, 8)).astype(Generator(seed).dtypes[0][3:])
    d = own[:, 1:5]
    s = [d, d[:, ::-1], own[:, 2:6], own[:, :8:2], own[:, 4:8], own[:, 4:0:-1]][rng.integers(6)]
    return [laid_out(rng, a), laid_out(rng, c), np.zeros((N, 40, 16)), d, s]


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if ": error: " in line]


def agree(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal where floats are exact; sums of numbers beyond 2**53 are rounded in another order."""
    exact = ~(np.abs(want) >= 2.0**53) & ~np.isinf(got)
    return np.array_equal(got[exact], want[exact], equal_nan=True)


def compare(seed: int, devices: tuple[str, ...] = ("cpu", "emulated")) -> str | None:
    """None: `python` and the devices agree; a text that starts with "refused"; or what differs."""
    import gpu

    source = show(seed)
    jitted = gpu.jit(fma=False)(function_of(source, seed))
    want: list[np.ndarray] = []
    for device in ("python", *devices):
        args = arguments(seed)
        try:
            launch(device, jitted, (1, N), args)
        except Exception as e:
            if device == "python" and isinstance(e, (IndexError, OverflowError)):
                return f"refused: seed {seed}"  # values that the samples don't have
            if isinstance(e, gpu.CompileError) and all(any(why in m for why in REFUSED) for m in errors(str(e))):
                return f"refused: seed {seed}"
            if isinstance(e, ValueError) and "overlap" in str(e):
                return f"refused: seed {seed}"
            return f"seed {seed}: {device}: {type(e).__name__}: {e}\n{source}"
        want = want or args
        if not agree(args[2], want[2]):
            return f"seed {seed}: {device} gives\n{args[2][:, :4, :4]}\nnot\n{want[2][:, :4, :4]}\n{source}"
        if not agree(args[3], want[3]):
            return f"seed {seed}: {device} gives d\n{args[3]}\nnot\n{want[3]}\n{source}"
    return None
