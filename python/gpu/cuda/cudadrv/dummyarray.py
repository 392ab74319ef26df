"""How an array lies in memory, without the memory: ``numba.cuda.cudadrv.dummyarray``.

NumPy does the arithmetic, on arrays of addresses that nobody reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import _shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

Extent = tuple[int, int]  # the first byte, and the one after the last
_START = 1 << 62  # where offset 0 is thought to be: steps may lead below it


class _Described:
    """What NumPy makes an array of."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


class Dim(NamedTuple):
    """One dimension: where it begins and ends in bytes, how many elements it has, and bytes from one to the next."""

    start: int
    stop: int
    size: int
    stride: int


class Element:
    """One element, by where it lies."""

    is_array = False

    def __init__(self, extent: Extent) -> None:
        self.extent = extent

    def iter_contiguous_extent(self) -> Iterator[Extent]:
        """Its bytes."""
        yield self.extent


class Array:
    """The layout of an array.

    Attributes
    ----------
    shape, strides : tuple of int
        Strides are in bytes.
    itemsize, size, ndim : int
    dims : tuple of Dim
    extent : (int, int)
        The first byte, and the one after the last.
    flags : dict
        ``C_CONTIGUOUS``, ``F_CONTIGUOUS``.
    """

    is_array = True

    def __init__(self, proxy: np.ndarray[Any, Any]) -> None:
        self._proxy = proxy
        self.shape: tuple[int, ...] = proxy.shape
        self.strides: tuple[int, ...] = proxy.strides
        self.itemsize, self.size, self.ndim = proxy.itemsize, proxy.size, proxy.ndim
        self.is_c_contig, self.is_f_contig = proxy.flags.c_contiguous, proxy.flags.f_contiguous
        self.flags = {"C_CONTIGUOUS": self.is_c_contig, "F_CONTIGUOUS": self.is_f_contig}

    @classmethod
    def from_desc(cls, offset: int, shape: Any, strides: Any, itemsize: int) -> Array:
        """The layout of elements of `itemsize` bytes that begin at an offset, in bytes."""
        sizes, steps = (tuple(int(n) for n in np.atleast_1d(ns)) for ns in (shape, strides))
        if len(sizes) != len(steps):
            raise ValueError(f"shape {sizes} and strides {steps} have different numbers of axes")
        data = (_START + int(offset), True)
        described = {"shape": sizes, "strides": steps, "typestr": f"|V{int(itemsize)}", "data": data, "version": 3}
        return cls(np.asarray(_Described(described)))

    @property
    def extent(self) -> Extent:
        """The bytes from its first to its last."""
        first, end = np.lib.array_utils.byte_bounds(self._proxy)
        return int(first) - _START, int(end) - _START if self.size else int(first) - _START

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Its dimensions; the first begins where the array does, others at 0."""
        at = self._proxy.__array_interface__["data"][0] - _START
        starts = (at, *(0 for _ in self.shape[1:]))
        return tuple(Dim(b, b + n * s, n, s) for b, n, s in zip(starts, self.shape, self.strides, strict=True))

    def __getitem__(self, item: Any) -> Array | Element:
        parts = item if isinstance(item, tuple) else (item,)
        view = self._proxy[(*parts, Ellipsis)] if Ellipsis not in parts else self._proxy[parts]
        found = Array(view)
        return found if found.ndim else Element(found.extent)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Array | Element]:
        return (self[k] for k in range(len(self)))

    def iter_contiguous_extent(self) -> Iterator[Extent]:
        """The bytes of each part that lies in one piece: all of it, or those of its rows."""
        if self.is_c_contig or self.is_f_contig:
            yield self.extent
            return
        for part in self:
            yield from part.iter_contiguous_extent()

    def _viewed(self, view: np.ndarray[Any, Any]) -> tuple[Array, list[Extent]]:
        made = Array(view)
        return made, list(made.iter_contiguous_extent())

    def reshape(self, *newdims: Any, order: str = "C") -> tuple[Array, list[Extent]]:
        """The same elements in another shape, and the bytes of its parts.

        Raises
        ------
        ValueError
            Another number of elements.
        NotImplementedError
            That would take a copy.
        """
        new = newdims[0] if len(newdims) == 1 and not hasattr(newdims[0], "__index__") else newdims
        sizes = tuple(int(n) for n in new)
        known = int(np.prod([n for n in sizes if n != -1]))
        if sizes.count(-1) == 1 and (not known or self.size % known):
            raise ValueError("cannot infer valid shape for unknown dimension")
        view = _shapes.reshaped(self._proxy, sizes, order)
        if view is None:
            raise NotImplementedError("reshape would require copy")
        return self._viewed(view)

    def ravel(self, order: str = "C") -> tuple[Array, list[Extent]]:
        """All elements in one dimension; order ``"A"``: as they lie."""
        if order == "A":
            order = "F" if self.is_f_contig and not self.is_c_contig else "C"
        return self.reshape(-1, order=order)

    def squeeze(self, axis: Any = None) -> tuple[Array, list[Extent]]:
        """The same elements without axes of length one.

        Raises
        ------
        ValueError
            The length of an axis isn't one.
        """
        return self._viewed(self._proxy.squeeze(axis))


__all__ = ["Array", "Dim", "Element"]
