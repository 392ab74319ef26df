"""Random calls of what makes kernels of a user's function: folds, ufuncs, gufuncs, parallel loops.

Plain Python on NumPy's elements is the reference, one after the other. Numbers are small integers or floats that are
exact, so that neither order nor fusing shows; functions to fold with are associative, but don't all commute.
"""

from __future__ import annotations

import linecache
import math
import re
from typing import Any

import numpy as np

from .writer import Writer, function_of, quiet

LENGTHS = [0, 1, 2, 3, 31, 32, 33, 64, 65, 100, 257, 1000, 1024, 1025, 4097]
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
FOLDS = [
    "b if b > 0 else a",
    "a",
    "b",
    "a if abs(a) > abs(b) else b",
    "max(a, b)",
    "min(a, b)",
    "a if a == a and a != 0 else b",
    "a + b",
    "a | b",
    "a ^ b",
    "a if (a & 3) > (b & 3) else b",
    "a + b - 1",
    "np.maximum(a, b)",
]
TERMS = ["{x}", "{x} * 2", "{x} - 1", "abs({x})", "{x} + k", "-{x}", "{x} * {y}", "{x} if {x} > {y} else {y}", "k"]
UPDATES = {
    "i": ["s += {t}", "s -= {t}", "s *= {t}", "s |= {t}", "s &= {t}", "s ^= {t}", "s = s + {t}"],
    "f": ["s += {t}", "s -= {t}", "s = s + {t}"],
}
ORDERS = ["s = min(s, {t})", "s = max(s, {t})", "if {t} > s: s = {t}", "if {t} < s: s = {t}"]
LAYOUTS = [
    "(n)->()",
    "(n)->(n)",
    "(n),(n)->()",
    "(n),()->(n)",
    "(),()->()",
    "(m,n)->(n)",
    "(m,n),(n)->(m)",
    "(m,n)->(n,m)",
    "(n)->(),(n)",
    "(m,n),(n,p)->(m,p)",
    "(3),(n)->(n,3)",
    "(n),(n)->(n),()",
    "(m),(n)->(m,n),(m)",
]


class Generator(Writer):
    """Makes one call: the source of its function, and its arguments."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.source = ""
        self.arrays: list[np.ndarray] = []

    def array(self, shape: tuple[int, ...], dtype: str, most: int = 7) -> np.ndarray:
        """Small numbers, in memory of any strides."""
        low = 0 if dtype[0] == "u" else -4
        form = self.random.random()
        if form < 0.5 or not shape:
            return self.rng.integers(low, most, shape).astype(dtype)
        wide = self.rng.integers(low, most, (*shape[:-1], 2 * shape[-1])).astype(dtype)
        if form < 0.7:
            return wide[..., ::2]
        if form < 0.85:
            return wide[..., : shape[-1]][..., ::-1]
        return np.asfortranarray(wide[..., : shape[-1]])

    def out(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Something there already, which a result may leave."""
        return self.array(shape, np.dtype(dtype).str)

    def function(self, name: str, params: str, *body: str) -> Any:
        """A function with these lines, which has a source for who reads it."""
        self.source = f"def kernel({params}):\n" + "".join(f"    {line}\n" for line in body)
        file = f"<seed {self.seed}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        return function_of(self.source, self.seed, math=math)

    # ---- kinds of calls: each returns what to do with a device, and what Python gives

    def fold(self) -> tuple[Any, Any]:
        """gpu.reduce, gpu.scan and gpu.transform_reduce with a function."""
        r = self.random
        dtype, text = r.choice(DTYPES), r.choice(FOLDS)
        if dtype[0] == "f" and ("|" in text or "^" in text or "&" in text):
            text = r.choice(FOLDS[:7])
        n = r.choice(LENGTHS)
        shape = r.choice([(n,), (n,), (3, min(n, 257)), (min(n, 257), 3), (2, min(n, 100), 2)])
        axis = r.choice([None, *range(-len(shape), len(shape))])
        x = self.array(shape, dtype)
        self.arrays = [x]
        f = self.function("fold", "a, b", f"return {text}")
        options: dict[str, Any] = {"axis": axis}
        if r.random() < 0.4 or 0 in shape:
            options["init"] = r.choice([0, 1, 3])
        scan = r.random() < 0.5
        if scan and "init" in options and r.random() < 0.5:
            options["exclusive"] = True
        mapped = not scan and r.random() < 0.4
        if not scan and r.random() < 0.3:
            options["keepdims"] = True
        self.note = f"{'scan' if scan else 'reduce'} {text} {dtype}{shape} {options} mapped {mapped}"

        def run(gpu: Any) -> Any:
            if scan:
                return gpu.scan(f, x, **options)
            if mapped:
                return gpu.transform_reduce(lambda v: v + v, f, x, **options)
            return gpu.reduce(f, x, **options)

        return run, lambda: folded(f, x + x if mapped else x, scan, **options)

    def ufunc(self) -> tuple[Any, Any]:
        """gpu.vectorize and gpu.map with out=, where= and several results."""
        r = self.random
        shape = r.choice([(5,), (3, 4), (2, 3, 4), (), (0, 3), (33,), (1, 7), (2, 100)])
        kinds = [r.choice(DTYPES) for _ in range(2)]
        if r.random() < 0.5:
            kinds[1] = kinds[0]
        x, y = (self.array(self.part(shape), d) for d in kinds)
        self.arrays = [x, y]
        k = r.choice(["1", "2", "0.5"])
        texts = [t.format(x="x", y="y").replace("k", k) for t in TERMS]
        many = r.random() < 0.3
        results = [r.choice(texts) for _ in range(2 if many else 1)]
        lines = ["if x > y:", f"    return {', '.join(results)}", f"return {', '.join(results[::-1])}"]
        if not many:
            lines = [f"t = {results[0]}", "if y > 2:", "    t = t + t", "return t"]
        f = self.function("ufunc", "x, y", *lines)
        types = self.types_of(f, x, y)
        whole = np.broadcast_shapes(x.shape, y.shape)
        options: dict[str, Any] = {}
        if types and r.random() < 0.6:
            options["out"] = tuple(self.out(whole, r.choice([t, t, np.result_type(t, "f4")])) for t in types)
            if r.random() < 0.5:
                options["where"] = self.rng.random(self.part(whole)) < 0.5
            if r.random() < 0.3:
                options["casting"] = r.choice(["unsafe", "same_kind", "no", "safe"])
            if not many:
                options["out"] = options["out"][0]
        self.note = f"vectorize {kinds} {x.shape} {y.shape} {options}"
        self.outs = options.get("out")

        def run(gpu: Any) -> Any:
            mine = dict(options)
            if "out" in mine:
                mine["out"] = tuple(o.copy() for o in mine["out"]) if many else mine["out"].copy()
            if not options and r.random() < 0.5:
                return gpu.map(f, x, y)
            return gpu.vectorize(f)(x, y, **mine)

        return run, lambda: mapped(f, x, y, types, **options)

    def part(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        made = [1 if self.random.random() < 0.2 else n for n in shape]
        return tuple(made[1:] if made and self.random.random() < 0.2 else made)

    def types_of(self, f: Any, x: np.ndarray, y: np.ndarray) -> list[np.dtype[Any]]:
        """The types of all results together."""
        found: list[set[Any]] = []
        for a in range(-4, 8):
            for b in range(-4, 8):
                with quiet():
                    try:
                        v = f(x.dtype.type(a), y.dtype.type(b))
                    except OverflowError:
                        continue
                v = v if isinstance(v, tuple) else (v,)
                found = found or [set() for _ in v]
                for types, item in zip(found, v, strict=True):
                    types.add(np.asarray(item).dtype if isinstance(item, np.generic) else type(item))
        if any(not all(isinstance(t, np.dtype) for t in types) for types in found):
            return []
        return [np.result_type(*types) for types in found]

    def gufunc(self) -> tuple[Any, Any]:
        """gpu.guvectorize, declared or not, with axes that broadcast."""
        r = self.random
        layout, dtype = r.choice(LAYOUTS), r.choice(["i4", "i8", "f4", "f8", "u1", "i2"])
        ins, outs = (re.findall(r"\(([^)]*)\)", side) for side in layout.split("->"))
        ins, outs = ([g.split(",") if g else [] for g in side] for side in (ins, outs))
        lengths = {name: r.choice([1, 2, 3, 5, 33]) for names in ins for name in names} | {"3": 3}
        loop = r.choice([(), (4,), (3, 2), (70,), (0,), (2, 1, 3)])
        self.arrays = [self.array((*self.part(loop), *(lengths[n] for n in names)), dtype, 3) for names in ins]
        whole = np.broadcast_shapes(*(x.shape[: x.ndim - len(g)] for x, g in zip(self.arrays, ins, strict=True)))
        shapes = [(*whole, *(lengths[n] for n in names)) for names in outs]
        lines: list[str] = []
        for k, names in enumerate(outs):
            self.write_result(lines, k, names, ins)
        params = ", ".join([f"x{k}" for k in range(len(ins))] + [f"o{k}" for k in range(len(outs))])
        f = self.function("gufunc", params, *lines)
        places = [self.out(s, dtype) for s in shapes]
        declared = r.random() < 0.6
        types = [
            f"{dtype}[{','.join(':' * len(names)) or ':' * (k >= len(ins))}]" for k, names in enumerate(ins + outs)
        ]
        signature = f"void({', '.join(t.replace('[]', '') for t in types)})"
        args = [x if whole or names else x[()] for x, names in zip(self.arrays, ins, strict=True)]
        self.note = f"guvectorize {layout} {signature if declared else 'dynamic'} {[x.shape for x in args]}"
        give = not declared or r.random() < 0.5

        def run(gpu: Any) -> Any:
            made = gpu.guvectorize([signature], layout)(f) if declared else gpu.guvectorize(layout)(f)
            results = [p.copy() for p in places]
            if not give:
                return made(*args)
            return made(*args, out=tuple(results)) if r.random() < 0.5 else made(*args, *results)

        def want() -> Any:
            results = [p.copy() for p in places]
            cores = [np.broadcast_to(x, (*whole, *x.shape[x.ndim - len(g) :])) for x, g in zip(args, ins, strict=True)]
            for at in np.ndindex(whole):
                rows = [o[at] if g else o[(*at, None)] for o, g in zip(results, outs, strict=True)]
                f(*(c[at] for c in cores), *rows)
            return tuple(results) if len(results) > 1 else results[0]

        return run, want

    def write_result(self, lines: list[str], k: int, names: list[str], ins: list[list[str]]) -> None:
        """The loops that fill result number k."""
        r, depth = self.random, 0
        bound = {name: f"p{a}" for a, name in enumerate(names)}
        for a in range(len(names)):
            lines.append("    " * depth + f"for p{a} in range(o{k}.shape[{a}]):")
            depth += 1
        place = f"o{k}[{', '.join(bound[n] for n in names) or '0'}]"
        lines.append("    " * depth + f"{place} = {r.choice(['0', '1', '2'])}")
        for j, axes in enumerate(ins):
            at, own = depth, dict(bound)
            for a, name in enumerate(axes):
                if name not in own:
                    own[name] = f"q{a}"
                    lines.append("    " * at + f"for q{a} in range(x{j}.shape[{a}]):")
                    at += 1
            item = f"x{j}[{', '.join(own[n] for n in axes)}]" if axes else f"x{j}"
            text = r.choice(["{}", "{} * 2", "abs({})", "{} if {} > 1 else 1"]).replace("{}", item)
            lines.append("    " * at + f"{place} += {text}")

    def loop(self) -> tuple[Any, Any]:
        """gpu.parallel with a loop that has reductions."""
        r = self.random
        dtype, n = r.choice(["i4", "i8", "u1", "f4", "f8", "i2"]), r.choice(LENGTHS)
        x, y = self.array((n,), dtype), self.array((n,), dtype)
        self.arrays = [x, y]
        bounds = r.choice(["len(x)", "0, len(x)", "1, len(x)", "0, len(x), 2", "len(x) - 1, -1, -1", "len(x), 0"])
        terms = [
            "x[i]",
            "x[i] * 2",
            "y[i] - x[i]",
            "abs(x[i])",
            "y[-1 - i]",
            "1",
            "x[i] & 3" if dtype[0] != "f" else "0.5",
        ]
        names = ["s", "t"][: r.randint(1, 2)]
        lines = [f"{name} = x.dtype.type({r.choice('0115')})" for name in names]
        lines.append(f"for i in gpu.prange({bounds}):")
        for k, name in enumerate(names):
            ordered = r.random() < 0.4
            update = r.choice(ORDERS if ordered else UPDATES["f" if dtype[0] == "f" else "i"])
            update = update.replace("s", name).replace("{t}", r.choice(terms[:5] if ordered else terms))
            if "if" in update or r.random() < 0.6:
                lines.append("    " + update)
                if not ordered and r.random() < 0.5:
                    lines[k] = f"{name} = {r.choice(['0', '1', '5'])}"
            else:  # a Python number might stay one
                lines += [f"    if x[i] {r.choice('<>')} 1:", "        " + update]
        if r.random() < 0.4:
            lines.append(f"    o[i] = {r.choice(terms)}")
        lines.append(f"return {', '.join(names)}")
        f = self.function("loop", "x, y, o", *lines)
        o = self.out((n,), dtype)
        self.note = f"prange {dtype} {n}"

        def run(gpu: Any) -> Any:
            place = o.copy()
            return gpu.parallel(f)(x, y, place), place

        def want() -> Any:
            place = o.copy()
            return f(x, y, place), place

        return run, want


def folded(
    f: Any, x: np.ndarray, scan: bool, axis: Any, init: Any = None, exclusive: bool = False, keepdims: bool = False
) -> Any:
    """What gpu.reduce and gpu.scan give, element by element."""
    flat = np.moveaxis(x.reshape(-1) if axis is None else x, axis or 0, 0)
    rows = flat.reshape(flat.shape[0], math.prod(flat.shape[1:]))
    made: list[list[Any]] = []
    for column in range(rows.shape[1]):
        items = list(rows[:, column])
        acc = x.dtype.type(init) if init is not None else None
        seen: list[Any] = []
        for item in items:
            if exclusive:
                seen.append(acc)
            acc = item if acc is None else f(acc, item)
            if not exclusive:
                seen.append(acc)
        made.append(seen if scan else [acc])
    found = np.array(made) if made else np.zeros((0, len(rows) if scan else 1))
    if scan:
        return np.moveaxis(found.T.reshape(flat.shape), 0, axis or 0)
    result = found.T.reshape(flat.shape[1:])
    if keepdims:
        return result.reshape((1,) * x.ndim) if axis is None else np.expand_dims(result, axis)
    return result


def mapped(
    f: Any,
    x: np.ndarray,
    y: np.ndarray,
    types: list[Any],
    out: Any = None,
    where: Any = True,
    casting: str = "same_kind",
) -> Any:
    """What gpu.vectorize gives, element by element."""
    a, b = np.broadcast_arrays(x, y)
    if not types:
        raise OverflowError("Python numbers among the results")
    single = not isinstance(out, tuple) and len(types) == 1
    places = [np.zeros(a.shape, t) for t in types] if out is None else [o.copy() for o in ([out] if single else out)]
    for place, t in zip(places, types, strict=True):
        if not np.can_cast(t, place.dtype, casting):
            raise TypeError(f"cannot cast {t} to {place.dtype}")
    mask = np.broadcast_to(where, a.shape)
    for at in np.ndindex(a.shape):
        if mask[at]:
            v = f(a[at], b[at])
            for place, t, item in zip(places, types, v if isinstance(v, tuple) else (v,), strict=True):
                place[at] = np.asarray(item).astype(t)
    return places[0] if single else tuple(places)


KINDS = ["fold", "ufunc", "gufunc", "loop"]
UFUNC = 1  # whose types are those of all branches, of which Python may take one alone


def made(seed: int) -> tuple[Generator, Any, Any]:
    generator = Generator(seed)
    run, want = getattr(generator, KINDS[seed % len(KINDS)])()
    return generator, run, want


def show(seed: int) -> str:
    """The call of a seed."""
    generator = made(seed)[0]
    given = [f"{a.dtype} {a.shape} strides {a.strides}" for a in generator.arrays]
    return "\n".join([generator.note, *given, generator.source])


def outcome(action: Any) -> tuple[Any, str]:
    """The result as a list of arrays, or what was raised."""
    with quiet():
        try:
            result = action()
        except Exception as e:
            return None, f"{type(e).__name__}: {e}"
    return [np.asarray(v) for v in flattened(result)], ""


def flattened(value: Any) -> list[Any]:
    return [v for item in value for v in flattened(item)] if isinstance(value, tuple) else [value]


def compare(seed: int, devices: tuple[str, ...] = ("python", "cpu", "emulated")) -> str | None:
    """Make a call on each device; None if all give what Python gives, else what differs."""
    import gpu

    want, raised = outcome(made(seed)[2])
    for device in devices:
        with gpu.device(device):
            generator, run, _ = made(seed)
            got, mine = outcome(lambda: run(gpu))  # noqa: B023
        where = f"seed {seed}: {device}: {generator.note}"
        if bool(raised) != bool(mine):
            wider = seed % len(KINDS) == UFUNC and "cannot cast the result" in mine
            if wider or "OverflowError" in raised or "UnsupportedError" in mine or "TypingError" in mine:
                return f"refused: {where}: {mine} {raised}"
            return f"{where}: {mine or 'passes'}; Python: {raised or 'passes'}\n{generator.source}"
        for k, (a, b) in enumerate(zip(got or [], want or [], strict=True)):
            same_type = np.can_cast(b.dtype, a.dtype) if seed % len(KINDS) == UFUNC else a.dtype == b.dtype
            same_type |= 0 in a.shape
            if not same_type or a.shape != b.shape or not np.array_equal(a, b):
                return (
                    f"{where}: result {k} is {a.dtype}{a.shape}\n{a}\nnot {b.dtype}{b.shape}\n{b}\n{generator.source}"
                )
    return None
