"""What the generators have in common: lines of source, names, samples of what is in scope, and a launch."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

REFUSALS = (TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError)


class Writer:
    """Writes a kernel from one seed.

    A generator with statements has ``statement(depth)``, which writes one of them, and names in ``SCOPED`` what it
    knows of variables: after a body it knows no more than before.
    """

    SCOPED: tuple[str, ...] = ()

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counter = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self, letter: str = "v") -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def body(self, depth: int, write: Callable[[], object]) -> None:
        """The lines that `write` makes, or one that does nothing."""
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.emit(depth, "pass")

    @contextmanager
    def scope_of_body(self) -> Iterator[None]:
        """What is declared within is gone after it."""
        before = {name: copy.copy(getattr(self, name)) for name in self.SCOPED}
        yield
        vars(self).update(before)

    def statement(self, depth: int) -> None:
        raise NotImplementedError

    def statements(self, depth: int, count: int) -> None:
        for _ in range(count):
            self.statement(depth)

    def scoped(self, depth: int, count: int) -> None:
        """A body of statements: what it declares is gone after it."""
        with self.scope_of_body():
            self.body(depth, lambda: self.statements(depth, count))

    def alternatives(self, depth: int, most: int, *conditions: str) -> None:
        """An ``if`` with an ``elif`` for each further condition and, more often than not, an ``else``."""
        for k, condition in enumerate(conditions):
            self.emit(depth, f"{'elif' if k else 'if'} {condition}:")
            self.scoped(depth + 1, self.random.randint(1, most))
        if self.random.random() < 0.6:
            self.emit(depth, "else:")
            self.scoped(depth + 1, self.random.randint(1, most))

    def leaving(self, depth: int, condition: str, *ways: str) -> None:
        """In a loop: a way out of it or on to the next round, and a statement for those who stay."""
        self.emit(depth, f"if {condition}:")
        self.emit(depth + 1, self.random.choice(ways or ("break", "continue")))
        self.scoped(depth, 1)


class Sampler(Writer):
    """A writer that knows a sample of each variable: an expression has the type of its sample."""

    def __init__(self, seed: int, helpers: str = "") -> None:
        super().__init__(seed)
        self.env: dict[str, Any] = {"np": np}
        exec(compile(helpers, "<helpers>", "exec", dont_inherit=True), self.env)

    def scope(self) -> dict[str, Any]:
        """The samples that an expression sees, those that it could change as copies."""
        return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in self.env.items()}

    def evaluate(self, text: str) -> Any:
        """The sample of an expression; None if Python refuses it."""
        with quiet():
            try:
                return eval(text, self.scope())
            except REFUSALS:
                return None

    def runs(self, text: str) -> bool:
        """Whether Python takes a statement."""
        with quiet():
            try:
                exec(text, self.scope())
            except REFUSALS:
                return False
        return True


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def function_of(source: str, seed: int, **names: Any) -> Callable[..., Any]:
    """The function ``kernel`` of a source that sees gpu, cuda, np and `names`."""
    import gpu
    from gpu import cuda

    scope: dict[str, Any] = {"np": np, "gpu": gpu, "cuda": cuda, **names}
    exec(compile(source, f"<seed {seed}>", "exec", dont_inherit=True), scope)
    return scope["kernel"]


def launch(device: str, kernel: Any, config: tuple[Any, ...], args: list[Any]) -> None:
    """Run a kernel to its end."""
    import gpu

    with gpu.device(device), quiet():
        kernel[config](*args)
        gpu.synchronize()
