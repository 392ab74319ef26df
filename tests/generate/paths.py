"""What differs from path to path or is neither number nor array, for `values`: None, recursion, dates, strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from .writer import Sampler

PATHS = """\
def found(c, x):
    if c:
        return x
    return None


def or_else(x, y):
    return y if x is None else x


def climbs(x, n):
    return x if n <= 0 else climbs(x + x, n - 1)


def tree(n):
    return 1 if n < 2 else tree(n - 1) + tree(n - 2)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def weave(x, y, n):
    if n == 0:
        return x, y
    p, q = weave(y, x, n - 1)
    return (p, q) if n % 3 else (q, p)


def filled(w, x, k):
    if k < 0:
        return
    filled(w, x, k - 1)
    w[k] = w[k] + x
    if k > 1:
        filled(w, x, k - 2)


"""
WHEN = ["2024-02-28T23:59:58", "2024-02-29", "NaT", "1969-12-31T23:59:59", "2038-01-19T03:14:08", "1600-01-01"]
CODES = [b"", b"a", b"ab", b"abcd", b"b", b"ab\xff"]


def dates(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Arguments by name, shape (n,): points in time, differences and strings, and places for such."""
    gaps = rng.integers(-9000, 9000, n).astype("m8[ms]")
    gaps[rng.random(n) < 0.1] = "NaT"
    given = {"when": rng.choice(np.array(WHEN, "M8[s]"), n), "gap": gaps, "code": rng.choice(np.array(CODES), n)}
    return given | {"then": np.zeros(n, "M8[ms]"), "span": np.zeros(n, "m8[s]"), "name": np.zeros(n, "S3")}


class Paths(Sampler):
    """Expressions and statements for the generator of numbers; ``kernel.dates`` says whether it has dates."""

    def by_paths(self, a: str, b: str) -> str:
        """One of two values, or something made of them, by way of None or of calls that only run time ends."""
        r, (ka, kb) = self.random, (self.kind(a), self.kind(b))
        options = ["tree(i % 7)", f"is_even(i + {r.randint(0, 3)})", f"or_else(found(i > {r.randint(0, 15)}, 1), 2)"]
        if ka not in self.WEAK and ka != "?":
            options += [f"climbs({a}, {r.choice(['i % 4', 'i - 12', '3'])})"] * 2
            if ka == kb:
                options += [f"or_else(found({self.condition(0)}, {a}), {b})"] * 2
                options += [f"weave({a}, {b}, i % {r.randint(2, 6)})[{r.randint(0, 1)}]"] * 2
        return r.choice(options)

    def maybe(self, depth: int) -> None:
        """A variable that is None on some paths."""
        r, text = self.random, self.expression(2)
        kind = self.kind(text)
        if kind in self.WEAK:
            return
        name, made = self.fresh("n"), self.fresh()
        self.emit(depth, f"{name} = None")
        self.emit(depth, r.choice([f"for {self.fresh('j')} in range(i % 4):", "if i > 0:"]))
        self.emit(depth + 1, f"if {self.condition(1)}:")
        self.emit(depth + 2, f"{name} = {text}")
        other = self.of_kind(kind)
        self.emit(depth + 1, f"elif {name} is not None:")
        self.emit(depth + 2, f"{name} = {r.choice([other or 'None', 'None'])}")
        forms = [f"{made} = {text} if {name} is None else {name}", f"{made} = or_else({name}, {text})"]
        self.emit(depth, r.choice(forms))
        self.declare(made, self.evaluate(text))

    def fill_recursively(self, depth: int) -> None:
        if not self.small:
            return
        name = self.random.choice(list(self.small))
        text = self.of_kind(self.small[name])
        if text:
            self.emit(depth, f"filled({name}, {text}, {self.random.choice(['2', 'i % 3', 'i - 14'])})")

    def of_dates(self, depth: int) -> None:
        """A number that dates or strings give."""
        r = self.random
        self.kernel.dates = True
        k, unit, text = r.randrange(16), r.choice(["s", "ms", "h", "D"]), r.choice(CODES)
        numbers: list[tuple[str, Any]] = [
            (f"(when[i] - when[{k}]) / np.timedelta64(7, {unit!r})", np.float64(1)),
            (f"(when[i] + gap[{k}]).astype(np.int64)", np.int64(1)),
            (f"(gap[i] * {r.randint(-3, 3)} - gap[{k}]).astype(np.int64)", np.int64(1)),
            (f"(abs(gap[i]) % np.timedelta64({r.randint(1, 99)}, {unit!r})).astype(np.int64)", np.int64(1)),
            (f"np.isnat(when[i] - gap[{k}])", np.True_),
            (f"np.timedelta64(i, {unit!r}).astype(np.int64)", np.int64(1)),
            ("len(code[i])", 2),
        ]
        conditions = [f"when[i] {r.choice(['<', '>=', '!='])} when[{k}]", f"gap[i] > gap[{k}]"]
        conditions += [f"code[i] == {text!r}", f"then[i] < when[{k}]", "span[i] >= gap[i]", f"name[i] == {text!r}"]
        conditions += [f"code[i] {r.choice(['<', '!=', '>='])} code[{k}]", f"when[i] - gap[i] < when[{k}]"]
        changes = [f"span[i] = gap[-1 - i] * 2 if i > {k} else gap[i]", f"name[i] = {text!r}", "then[i] -= gap[i]"]
        changes += [f"span[i] -= np.timedelta64({k}, 's')", f"name[i] = code[{k}] if i % 3 == 1 else code[i]"]
        changes += ["then[i] = when[i]", f"then[i] = np.datetime64({k}, 'D')", "name[i] = code[i]"]
        choice = r.random()
        if choice < 0.5:
            text_, value = r.choice(numbers)
            name = self.fresh()
            self.emit(depth, f"{name} = {text_}")
            return self.declare(name, value)
        if choice < 0.8:
            return self.alternatives(depth, 2, r.choice(conditions))
        return self.emit(depth, r.choice(changes))
