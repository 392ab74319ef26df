"""Conversions of types, and the signature that suits best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .castgraph import Conversion, TypeGraph

if TYPE_CHECKING:
    from collections.abc import Sequence


class TypeManager:
    """Which types become which."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, Any], Conversion] = {}

    def set_compatible(self, source: Any, target: Any, by: Conversion) -> None:
        """Learn one conversion; nothing follows from it."""
        self._known[source, target] = by

    def set_promote(self, source: Any, target: Any) -> None:
        """To a larger type of the same kind."""
        self.set_compatible(source, target, Conversion.promote)

    def set_safe_convert(self, source: Any, target: Any) -> None:
        """To a type of another kind that has the values, or most of them."""
        self.set_compatible(source, target, Conversion.safe)

    def set_unsafe_convert(self, source: Any, target: Any) -> None:
        """To a type that lacks values."""
        self.set_compatible(source, target, Conversion.unsafe)

    def check_compatible(self, source: Any, target: Any) -> Conversion | None:
        """How a type becomes another; None: it doesn't."""
        return Conversion.exact if source == target else self._known.get((source, target))

    def select_overload(
        self, sig: Sequence[Any], overloads: Sequence[Sequence[Any]], allow_unsafe: bool, exact_match_required: bool
    ) -> int:
        """The number of the signature that suits best: with the fewest unsafe, then safe conversions, then promotions.

        Parameters
        ----------
        sig : sequence of types
            Of the arguments.
        overloads : sequence of sequences of types
        allow_unsafe, exact_match_required : bool

        Raises
        ------
        TypeError
            None suits, or two do equally.
        """
        worst = Conversion.exact if exact_match_required else Conversion.unsafe if allow_unsafe else Conversion.safe
        suiting = []
        for number, types in enumerate(overloads):
            found = [self.check_compatible(a, b) for a, b in zip(sig, types, strict=False)]
            if len(types) == len(sig) and all(one is not None and one <= worst for one in found):
                order = (Conversion.unsafe, Conversion.safe, Conversion.promote)
                suiting.append((*(found.count(one) for one in order), number))
        suiting.sort()
        if not suiting:
            raise TypeError("no matching overload")
        if len(suiting) > 1 and suiting[0][:3] == suiting[1][:3]:
            raise TypeError("ambiguous overloading: two signatures suit equally")
        return int(suiting[0][3])


class TypeCastingRules:
    """Rules of a `TypeManager`, with what follows from them."""

    def __init__(self, tm: TypeManager) -> None:
        self._graph = TypeGraph(tm.set_compatible)
        self.promote, self.safe, self.unsafe = self._graph.promote, self._graph.safe, self._graph.unsafe

    def promote_unsafe(self, a: Any, b: Any) -> None:
        """Promotion, and an unsafe way back."""
        self.promote(a, b)
        self.unsafe(b, a)

    def safe_unsafe(self, a: Any, b: Any) -> None:
        """A safe conversion, and an unsafe way back."""
        self.safe(a, b)
        self.unsafe(b, a)

    def unsafe_unsafe(self, a: Any, b: Any) -> None:
        """Unsafe both ways."""
        self.unsafe(a, b)
        self.unsafe(b, a)


__all__ = ["TypeCastingRules", "TypeManager"]
