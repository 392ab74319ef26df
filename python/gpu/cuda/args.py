"""`In`, `Out` and `InOut`: which way a host array goes when it is passed to a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _array
from ._typing import typeof as typeof


class ArgHint:
    """An argument with a direction.

    Attributes
    ----------
    value : array
    """

    def __new__(cls, value: Any) -> Any:
        if isinstance(value, _array.Array) or hasattr(value, "__cuda_array_interface__"):
            return value  # it is on the device: no direction
        return super().__new__(cls)

    def __init__(self, value: Any) -> None:
        self.value = value


class In(ArgHint):
    """A host array that the kernel reads: what it writes there is dropped."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Of a copy, made anew for each launch."""
        self._copy = np.array(self.value)
        interface: dict[str, Any] = self._copy.__array_interface__
        return interface


class Out(ArgHint):
    """A host array that the kernel writes."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Of the array itself."""
        interface: dict[str, Any] = self.value.__array_interface__
        return interface


class InOut(Out):
    """A host array that the kernel reads and writes. This is also what happens without a hint."""


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> Any:
    """The value with a direction, unless it has one or is no host array."""
    return default(value) if isinstance(value, np.ndarray) else value


def __getattr__(name: str) -> Any:
    from ._refused import refusal

    raise refusal("args", name)
