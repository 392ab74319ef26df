"""Memory of a thread's own, for `values`: records, small arrays, atomic operations on elements that nobody else has."""

from __future__ import annotations

from typing import Any

import numpy as np

from .writer import Sampler

FIELDS: list[Any] = [
    ("x", "i4"),
    ("y", "f4"),
    ("z", "i2", 3),
    ("w", [("u", "u1"), ("v", "f8")]),
    ("c", "c8"),
    ("b", "?"),
]
READS = {"x": "i4", "y": "f4", "w.u": "u1", "w.v": "f8", "c": "c8", "b": "?", "z[i % 3]": "i2", "z[-1]": "i2"}
CELLS = ["i4", "u4", "i8", "u8", "f4", "f8"]


def record_dtype(seed: int) -> np.dtype[Any]:
    """Fields in some order, with or without gaps; the values of a record fit any array of N records."""
    rng = np.random.default_rng(seed)
    fields = [FIELDS[k] for k in rng.permutation(len(FIELDS))]
    return np.dtype(fields, align=bool(rng.integers(2)))


def dtype_of(code: str) -> np.dtype[Any]:
    """The dtype of a code."""
    if code == "bf2":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(code)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal numbers, nan like nan, in all fields."""
    if a.dtype.names:
        return all(same(a[name], b[name]) for name in a.dtype.names)
    if a.dtype.name == "bfloat16":
        a, b = a.astype("f4"), b.astype("f4")
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fcmM")


class Memory(Sampler):
    """Statements that the generator of numbers adds to its own; ``kernel.records`` says whether it has `r` and `q`.

    `r` holds records that are read, `q` those that are written, `cells` numbers that change by atomic operations.
    """

    def reading(self) -> tuple[str, str]:
        """The path and the kind of a number in a record."""
        path = self.random.choice(list(READS))
        return path, READS[path]

    def record(self, depth: int) -> None:
        r = self.random
        self.kernel.records = True
        path, kind = self.reading()
        first, _, rest = path.partition(".")
        forms = [f"r[i].{path}", f"r[-1 - i].{path}", f"r[i % 5].{path}"]
        if "[" not in path:
            forms += [
                f"r['{first}'][i]" + (f".{rest}" if rest else ""),
                f"r.{first}[i]" + (f"['{rest}']" if rest else ""),
            ]
        choice = r.random()
        if choice < 0.4:
            name = self.fresh()
            self.emit(depth, f"{name} = {r.choice(forms)}")
            return self.declare(name, dtype_of(kind).type(1))
        if choice < 0.5:
            return self.emit(depth, r.choice(["q[i] = r[-1 - i]", "q[i].z[:] = r[i].z", "q[i].w = r[i - 3].w"]))
        if choice < 0.6:
            return self.emit(depth, "for k in range(3): q[i].z[k] = r[i].z[2 - k]")
        if choice < 0.7:
            name = self.fresh()
            self.emit(depth, f"{name} = 0.5")
            self.emit(depth, f"for e in ({r.choice(['r[i].w', 'r[i].z', '(r[2].x, r[i].y)'])}): {name} += e")
            return self.declare(name, np.float64(1))
        text = self.of_kind(kind)
        if text is None:
            return None
        if choice < 0.85:
            return self.emit(depth, f"q[i].{path} = {text}")
        name = self.fresh("c")
        self.emit(depth, f"{name} = r[i].copy()")
        self.emit(depth, f"{name}.{path} = {text}")
        return self.emit(depth, f"q[i] = {name}")

    def small_array(self, depth: int) -> None:
        """Make an array of three, or change one."""
        r = self.random
        if self.small and r.random() < 0.6:
            name = r.choice(list(self.small))
            text = self.of_kind(self.small[name])
            place = r.choice(["i % 3", "0", "-1", "1:", "::2", ":"])
            if text:
                self.emit(depth, f"{name}[{place}] {r.choice(['=', '=', '+=', '-='])} {text}")
            return
        kind = r.choice(["i1", "i4", "u2", "i8", "f4", "f8", "c8"])
        texts = [self.of_kind(kind) for _ in range(3)]
        name = self.fresh("w")
        if None in texts:
            self.emit(depth, f"{name} = np.{r.choice(['zeros', 'ones'])}(3, np.{np.dtype(kind).name})")
        else:
            self.emit(depth, f"{name} = np.array([{', '.join(str(t) for t in texts)}])")
        self.env[name] = np.ones(3, kind)
        self.small[name] = kind

    def own_cell(self, depth: int) -> None:
        """An atomic operation on the thread's own element, whose old value nobody else has changed."""
        r, number = self.random, self.random.randrange(len(CELLS))
        kind = CELLS[number]
        text = self.of_kind(kind)
        if text is None:
            return
        self.kernel.cells = True
        names = ["add", "sub", "min", "max", "exch", "nanmin", "nanmax"]
        name = r.choice(names if kind[0] == "f" else [*names, "and_", "or_", "xor"])
        made = self.fresh()
        self.emit(depth, f"{made} = gpu.atomic.{name}(cells{number}, {r.choice(['i', '(i,)', 'i - 16'])}, {text})")
        self.declare(made, np.dtype(kind).type(1))
