"""How gufuncs go over arrays: ``numba.cuda.deviceufunc.GUFuncEngine``."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._gufunc import Layout, parse_layout

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[int, ...]


class GUFuncSchedule(NamedTuple):
    """One call.

    Attributes
    ----------
    ishapes, oshapes : list of tuples of int
        What the function sees of each argument and result.
    loopdims : tuple of int
        What it is called for.
    pinned : list of bool
        Of each argument: it is the same for all calls.
    """

    ishapes: list[Shape]
    oshapes: list[Shape]
    loopdims: Shape
    pinned: list[bool]

    @property
    def loopn(self) -> int:
        """How many calls there are."""
        return prod(self.loopdims)

    @property
    def output_shapes(self) -> list[Shape]:
        """The shapes of the results of all calls."""
        return [self.loopdims + shape for shape in self.oshapes]


class GUFuncEngine:
    """A layout, ``"(m, n), (n) -> (m)"``, and what follows from the shapes of arguments."""

    def __init__(self, layout: Layout) -> None:
        self.sin, self.sout = layout.ins, layout.outs
        self.nin, self.nout = len(layout.ins), len(layout.outs)

    @classmethod
    def from_signature(cls, signature: str) -> GUFuncEngine:
        """Read a layout.

        Raises
        ------
        gpu.SignatureError
            It can't be read.
        """
        return cls(parse_layout(signature))

    def schedule(self, ishapes: Sequence[Any]) -> GUFuncSchedule:
        """What is called with arguments of these shapes.

        Raises
        ------
        TypeError
            Another number of arguments, or one with too few axes.
        ValueError
            Axes of one name have different lengths, or arguments don't go together.
        """
        if len(ishapes) != self.nin:
            raise TypeError(f"{len(ishapes)} arguments are given, and the layout has {self.nin}")
        sizes: dict[str, int] = {}
        inner: list[Shape] = []
        loops: list[Shape] = []
        for number, (names, given) in enumerate(zip(self.sin, ishapes, strict=True)):
            shape = tuple(int(n) for n in given)
            if len(shape) < len(names):
                raise TypeError(f"argument {number} has {len(shape)} axes, and the layout asks for {len(names)}")
            at = len(shape) - len(names)
            loops.append(shape[:at])
            inner.append(shape[at:])
            for name, size in zip(names, shape[at:], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(f"axis {name} has length {sizes[name]}, and in argument {number} {size}")
        loop = np.broadcast_shapes(*loops)
        pinned = [one != loop for one in loops]
        if any(same and prod(one) != 1 for same, one in zip(pinned, loops, strict=True)):
            raise ValueError(f"loops {loops} don't go together: those of an argument are all there, or of length 1")
        return GUFuncSchedule(inner, [tuple(sizes[name] for name in names) for names in self.sout], loop, pinned)


__all__ = ["GUFuncEngine", "GUFuncSchedule"]
