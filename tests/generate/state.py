"""What changes while a kernel runs and isn't an array, for `values`.

Fields, variables of outer functions, tuples that a loop carries, dicts of names; and what a function leaves behind on
its way out.
"""

from __future__ import annotations

from typing import Any

from .memory import dtype_of
from .writer import Sampler

STATE = """\
class Tally:
    def __init__(self, x):
        self.x = x
        self.n = 0

    def add(self, y):
        self.x = self.x + y
        self.n += 1
        return self

    @property
    def last(self):
        return self.x


@dataclass
class Cell:
    x: Any
    inner: Any = None

    def put(self, y):
        self.x, y = y, self.x
        return y


def same_one(x):
    return x


def filled_in(cell, y, n):
    for k in range(n):
        if k % 2:
            cell.x = y
    return cell


"""


class State(Sampler):
    """Statements that the generator of numbers adds to its own.

    ``objects`` has the kind of each object's field x, ``pairs`` the two kinds of each named tuple, ``dicts`` those of
    each dict.
    """

    def typed(self) -> tuple[str, str]:
        """An expression whose type is NumPy's, and its kind."""
        for _ in range(20):
            text = self.expression(2)
            if self.kind(text) not in self.WEAK:
                return text, self.kind(text)
        return "np.float32(1)", "f4"

    def read(self, depth: int, text: str, kind: str) -> None:
        """A variable that keeps what an object has now."""
        name = self.fresh()
        self.emit(depth, f"{name} = {text}")
        self.declare(name, dtype_of(kind).type(1))

    def object_state(self, depth: int) -> None:
        """An object is made, given another name, changed, or read."""
        r = self.random
        if not self.objects or r.random() < 0.25:
            text, kind = self.typed()
            name = self.fresh("t")
            made = r.choice(
                [f"Tally({text})", f"Cell({text})", f"Cell({text}, Tally(1))", f"filled_in(Cell({text}), {text}, 0)"]
            )
            self.emit(depth, f"{name} = {made}")
            self.objects[name] = kind, made[0] == "T"
            return
        name = r.choice(list(self.objects))
        kind, tally = self.objects[name]
        text = self.of_kind(kind)
        if r.random() < 0.4 or text is None:
            return self.read(depth, r.choice([f"{name}.x", f"{name}.last" if tally else f"{name}.x"]), kind)
        if r.random() < 0.15:
            other = self.fresh("t")
            self.emit(depth, f"{other} = {name}")
            self.objects[other] = kind, tally
            return
        options = [f"{name}.x = {text}", f"filled_in({name}, {text}, i % 3)", f"if i > 7: {name}.x = {text}"]
        options += [f"for k in range(i % 4): {name}.x = {text}"]
        options += [f"{name}.add({text})", f"{name}.add({text}).n += 2"] if tally else [f"{name}.put({text})"]
        if kind != "?":
            options += [f"{name}.x {r.choice(['+=', '-=', '*='])} {text}"]
        return self.emit(depth, r.choice(options))

    def pair_state(self, depth: int) -> None:
        """A named tuple that takes another value, here or in each round of a loop."""
        r = self.random
        if not self.pairs or r.random() < 0.3:
            (a, ka), (b, kb) = self.typed(), self.typed()
            name = self.fresh("t")
            self.emit(depth, f"{name} = Pair({a}, {b})")
            self.pairs[name] = ka, kb
            return
        name = r.choice(list(self.pairs))
        kinds = self.pairs[name]
        if r.random() < 0.35:
            k = r.randint(0, 1)
            return self.read(depth, f"{name}{r.choice([f'[{k}]', '.' + ('left', 'right')[k]])}", kinds[k])
        a, b = self.of_kind(kinds[0]), self.of_kind(kinds[1])
        if a is None or b is None:
            return None
        forms = [f"Pair({a}, {name}.right)", f"{name}._replace(right={b})", f"Pair({a}, {b})"]
        forms += [f"Pair({a}, {b}) if {self.condition(1)} else {name}"]
        if kinds[0] == kinds[1]:
            forms += [f"{name}.swapped()", f"Pair(*{name}[::-1])"] * 2
        around = r.choice(["", f"for {self.fresh('j')} in range(i % 5): ", f"if {self.condition(1)}: "])
        return self.emit(depth, f"{around}{name} = {r.choice(forms)}")

    def dict_state(self, depth: int) -> None:
        """A dict with names as keys."""
        r = self.random
        if not self.dicts or r.random() < 0.4:
            (a, ka), (b, kb) = self.typed(), self.typed()
            name = self.fresh("d")
            self.emit(depth, f"{name} = {{'p': {a}, 'q': {b}}}")
            self.dicts[name] = {"p": ka, "q": kb}
            return
        name = r.choice(list(self.dicts))
        key = r.choice("pq")
        kind = self.dicts[name][key]
        text = self.of_kind(kind)
        if text is None or r.random() < 0.5:
            return self.read(
                depth, r.choice([f"{name}['{key}']", f"{name}.get('{key}')", f"dict(**{name})['{key}']"]), kind
            )
        return self.emit(depth, f"{name} = {{**{name}, '{key}': {text}}}")

    def outer_variable(self, depth: int) -> None:
        """An inner function that assigns a variable of the kernel's."""
        r = self.random
        names = [n for n in self.variables() if self.kinds[n] not in self.WEAK]
        if not names:
            return
        name, inner = r.choice(names), self.fresh("f")
        text, other = self.of_kind(self.kinds[name]), self.of_kind(self.kinds[name])
        if text is None or other is None:
            return
        self.emit(depth, f"def {inner}(x):")
        self.emit(depth + 1, f"nonlocal {name}")
        self.emit(depth + 1, f"if x % {r.randint(2, 4)}: {name} = {text}")
        self.emit(depth + 1, r.choice([f"return {name}", "return x", f"return {other}"]))
        calls = [f"{inner}(i)", f"for {self.fresh('j')} in range(i % 4): {inner}(i + 1)", f"{inner}({inner}(2) == 0)"]
        self.emit(depth, r.choice(calls))
        if self.lines[-2].strip() != "return x" and r.random() < 0.5:
            self.read(depth, f"{inner}(3)", self.kinds[name])

    def chosen_meaning(self, depth: int) -> None:
        """A function, or a member of an enum, that is chosen at run time."""
        r = self.random
        (text, kind), name = self.typed(), self.fresh("f")
        other = self.of_kind(kind)
        if other is None or kind == "?":
            return
        if r.random() < 0.4:
            self.emit(depth, f"{name} = Mode.ADD if {self.condition(1)} else Mode.SUB")
            return self.read(depth, f"applied({name}, {text}, {other})", kind)
        choices = [f"(lambda x: {other})", "(lambda x: -x)", "(lambda x: x)", "same_one"]
        self.emit(depth, f"{name} = {' if i % 3 else '.join(r.sample(choices, 2))}")
        if r.random() < 0.5:
            self.emit(depth, f"if {self.condition(1)}: {name} = {r.choice(choices)}")
        return self.read(depth, r.choice([f"{name}({text})", f"twice({name}, {text})"]), kind)

    def on_the_way_out(self, depth: int) -> None:
        """A function that returns from within a try, with a finally that changes an array."""
        r = self.random
        (text, kind), name = self.typed(), self.fresh("f")
        other = self.of_kind(kind)
        if not self.small or other is None:
            return
        array = r.choice(list(self.small))
        change = self.of_kind(self.small[array])
        if change is None:
            return
        self.emit(depth, f"def {name}(x):")
        looped = r.random() < 0.5
        if looped:
            self.emit(depth + 1, f"for k in range({r.choice(['2', 'x % 4'])}):")
        at = depth + 1 + looped
        self.emit(at, "try:")
        self.emit(at + 1, f"if x {r.choice('<>')} {r.randint(0, 9)}: return {text}")
        if looped:
            self.emit(at + 1, r.choice(["continue", "break", "if x == 3: break"]))
        self.emit(at, "finally:")
        self.emit(at + 1, f"{array}[{r.choice(['0', 'x % 3', '1:'])}] {r.choice(['=', '+='])} {change}")
        self.emit(depth + 1, f"return {other}")
        self.read(depth, f"{name}(i)", kind)

    def by_index(self, depth: int) -> None:
        """A loop over all indices of a shape, or all elements with theirs."""
        r, p, q = self.random, self.fresh("j"), self.fresh("j")
        array = r.choice(self.kernel.inputs)[0]
        name = self.fresh("e")
        heads = [f"for {p}, {q} in np.ndindex({r.choice(['2, 3', 'i % 3, 2', '(1, i)', '0, 4'])}):"]
        heads += [f"for ({p}, {q}), {name} in np.ndenumerate({array}.reshape(4, 4)):"]
        head = r.choice(heads)
        self.emit(depth, head)
        with self.scope_of_body():
            self.declare(p, 2)
            self.declare(q, 1)
            if name in head:
                self.declare(name, self.env[array][3])
            self.scoped(depth + 1, r.randint(1, 2))


def fields() -> dict[str, dict[str, Any]]:
    """What a generator knows of objects, tuples and dicts at first."""
    return {"objects": {}, "pairs": {}, "dicts": {}}
