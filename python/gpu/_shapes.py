"""Shapes, strides and orders of arrays, by what NumPy says of them; only a copy in `aligned` reads elements."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def reshaped(proxy: np.ndarray[Any, Any], shape: tuple[Any, ...], order: str) -> np.ndarray[Any, Any] | None:
    """A view of another shape; None: that takes a copy, which must not be made of a proxy."""
    wanted = resolved(shape, proxy.size)
    view = proxy
    if checked_order(order) == "F":
        view = view.T
        wanted = wanted[::-1]
    strides = strides_of_view(view, wanted)
    if strides is None:
        return None
    out = np.lib.stride_tricks.as_strided(view, wanted, strides, writeable=view.flags.writeable)
    return out.T if order == "F" else out


def strides_of_view(old: np.ndarray[Any, Any], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides in bytes of a view with another shape of the same size; None if it can't be one.

    Ours, because NumPy 2.0 tells the two apart only by making the copy, and so reads memory of a device.
    """
    if old.size == 0:
        return np.empty(shape, old.dtype).strides
    dims = [(n, s) for n, s in zip(old.shape, old.strides, strict=True) if n != 1]
    strides = [old.itemsize] * len(shape)
    at, end = 0, 0  # of the dimensions of `old` that the next ones of `shape` divide anew
    first = 0
    while first < len(shape) and at < len(dims):
        last, end = first, at
        new_size, old_size = shape[first], dims[at][0]
        while new_size != old_size:
            if new_size < old_size:
                last += 1
                new_size *= shape[last]
            else:
                end += 1
                old_size *= dims[end][0]
        if any(dims[k][1] != dims[k + 1][0] * dims[k + 1][1] for k in range(at, end)):
            return None
        strides[last] = dims[end][1]
        for k in range(last, first, -1):
            strides[k - 1] = strides[k] * shape[k]
        first, at = last + 1, end + 1
    return tuple(strides)


def resolved(shape: tuple[Any, ...], size: int) -> tuple[int, ...]:
    sizes = list(as_shape(shape))
    unknown = [i for i, n in enumerate(sizes) if n == -1]
    known = 1
    for n in sizes:
        known *= n if n != -1 else 1
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    if unknown and known and size % known == 0:
        sizes[unknown[0]] = size // known
        known = size
    if any(n < 0 for n in sizes) or known != size:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple(sizes)


def checked_order(order: str) -> str:
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    return order


def as_shape(shape: Any) -> tuple[int, ...]:
    try:
        if hasattr(shape, "__index__"):
            return (int(shape.__index__()),)
        return tuple(map(operator.index, shape))
    except TypeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, and this is {shape!r}") from None


def host_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """``numpy.asarray``, which refuses a masked array: its mask would be lost in silence."""
    if isinstance(value, np.ndarray) and hasattr(value, "_mask"):
        raise TypeError("a device array has no mask, and that of a masked array would be lost: x.filled(...) or x.data")
    return np.asarray(value, dtype)


def aligned(host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array, or a copy whose elements are aligned."""
    return host if host.flags.aligned else host.copy()


def has_order(a: Any, order: str) -> bool:
    flags = a.flags
    if isinstance(flags, dict):
        return order == "K" or bool(flags["f_contiguous" if order == "F" else "c_contiguous"])
    return order == "K" or bool(flags.f_contiguous if order == "F" else flags.c_contiguous)
