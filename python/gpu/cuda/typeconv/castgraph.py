"""What follows from rules of conversion: a type that becomes a second, which becomes a third, becomes the third."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Conversion(enum.IntEnum):
    """How good a conversion is; the first is the best."""

    exact = 1
    promote = 2
    safe = 3
    unsafe = 4
    nil = 99


class TypeGraph:
    """Conversions, with those that follow from them.

    Parameters
    ----------
    callback : callable, optional
        Called with both types and the conversion for each that is new or better.
    """

    def __init__(self, callback: Callable[[Any, Any, Conversion], Any] | None = None) -> None:
        self._callback = callback
        self._known: dict[Any, dict[Any, Conversion]] = {}

    def get(self, source: Any, target: Any) -> Conversion | None:
        """The best known conversion; None: there is none."""
        return Conversion.exact if source == target else self._known.get(source, {}).get(target)

    def _learn(self, source: Any, target: Any, found: Conversion) -> bool:
        before = self.get(source, target)
        if before is not None and before <= found:
            return False
        self._known.setdefault(source, {})[target] = found
        if self._callback:
            self._callback(source, target, found)
        return True

    def insert_rule(self, source: Any, target: Any, found: Conversion) -> None:
        """Learn a conversion, and what follows: several in a row are as good as the worst of them."""
        if not self._learn(source, target, found):
            return
        before = [(one, to[source]) for one, to in self._known.items() if source in to] + [(source, Conversion.exact)]
        behind = [*self._known.get(target, {}).items(), (target, Conversion.exact)]
        for first, start in before:
            for last, end in behind:
                if first != last:
                    self._learn(first, last, max(start, found, end))

    def promote(self, source: Any, target: Any) -> None:
        """To a larger type of the same kind."""
        self.insert_rule(source, target, Conversion.promote)

    def safe(self, source: Any, target: Any) -> None:
        """To a type of another kind that has the values, or most of them."""
        self.insert_rule(source, target, Conversion.safe)

    def unsafe(self, source: Any, target: Any) -> None:
        """To a type that lacks values."""
        self.insert_rule(source, target, Conversion.unsafe)


__all__ = ["Conversion", "TypeGraph"]
