"""Types of constants, as overloads of the Numba dialect get them: the value is part of the type."""

from __future__ import annotations

from . import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Literal(types.Type):
    """The type of a constant.

    Attributes
    ----------
    literal_value : int, bool or str
    literal_type : type
        Without the value.
    """

    _test = staticmethod(lambda kind: False)

    def __init__(self, value: Any) -> None:
        super().__init__(f"Literal[{type(value).__name__}]({value})")
        self.literal_value = value

    @property
    def literal_type(self) -> Any:
        """``types.int64``, ``types.bool_``, ``types.unicode_type``."""
        if isinstance(self.literal_value, str):
            return types.unicode_type
        return types.bool_ if isinstance(self.literal_value, bool) else types.int64

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.literal_value == self.literal_value

    def __hash__(self) -> int:
        return hash((type(self), self.literal_value))


class IntegerLiteral(Literal, types.Integer):
    """Of an integer."""


class BooleanLiteral(Literal, types.Boolean):
    """Of True or False."""


class StringLiteral(Literal):
    """Of a string."""


def literal(value: Any) -> Literal:
    """The type of a constant; TypeError for a value that has none."""
    for of, kind in ((bool, BooleanLiteral), (int, IntegerLiteral), (str, StringLiteral)):
        if isinstance(value, of):
            return kind(value)
    raise TypeError(f"a literal is an int, a bool or a string, and this is {value!r}")


def unliteral(kind: Any) -> Any:
    """A type without its value; other types as they are."""
    return kind.literal_type if isinstance(kind, Literal) else kind
