"""What the generators have in common: lines of source, names, samples of what is in scope, and a launch."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

REFUSALS = (TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError)


class Writer:
    """Writes a kernel from one seed."""

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
