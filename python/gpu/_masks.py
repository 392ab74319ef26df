"""``a[mask]`` of arrays of a device: elements where a mask is true, packed and assigned.

Where an element goes is the number of true ones before it, an exclusive scan of the mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpu
import numpy as np

from ._array import Array, array, empty
from ._elementwise import make_kernel
from ._reduce import scan

if TYPE_CHECKING:
    from ._jit import Kernel

_TEXT = """\
def kernel(x, packed, mask, places, across):
    t = gpu.grid(1)
    if t < mask.size * across:
        i = t // across
        j = t % across
        if mask[i]:
            {step}
"""
_STEPS = {"take": "packed[places[i], j] = x[i, j]", "put": "x[i, j] = packed[places[i], j]"}
_kernels: dict[str, Kernel] = {}


def is_mask(key: Any) -> bool:
    """Tell an array of bools, or one bool, from other indices."""
    return isinstance(key, bool) or (isinstance(key, (Array, np.ndarray, np.bool_)) and key.dtype == bool)


def _whole(x: Array, mask: Any) -> tuple[Array, Any]:
    """A mask without axes chooses all of the array or nothing: the same of an axis more."""
    if isinstance(mask, bool) or not mask.ndim:
        return x[None], np.array([bool(mask)])
    return x, mask


def _places(x: Array, mask: Any) -> tuple[Array, Array, int]:
    """The mask on the device, where each of its elements goes, and how many are true."""
    if x.dtype.names is not None:
        raise IndexError("an array of records isn't indexed by a mask: index its fields, or x.copy_to_host()")
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(
            f"boolean index did not match indexed array: its shape is {mask.shape}, and the array's {x.shape}"
        )
    mask = array(mask, copy=None, device=x.device).ravel()
    places = scan("add", mask, exclusive=True)
    count = int(places[-1]) + bool(mask[-1]) if mask.size else 0
    return mask, places, count


def _run(step: str, x: Array, packed: Array, mask: Array, places: Array) -> None:
    kernel = _kernels.get(step)
    if kernel is None:
        kernel = _kernels[step] = make_kernel(f"mask_{step}", _TEXT.format(step=_STEPS[step]), {}, "numpy", {})
    across = x.size // mask.size if mask.size else 0
    if mask.size and across:
        with gpu.device(x.device):
            kernel.forall(mask.size * across)(x.reshape(mask.size, across), packed, mask, places, across)


def take(x: Array, mask: Any) -> Array:
    """``x[mask]``: a copy of the elements, or of the rows if the mask has fewer axes.

    Raises
    ------
    IndexError
        The mask's shape isn't that of the array's first axes.
    """
    x, mask = _whole(x, mask)
    flat, places, count = _places(x, mask)
    rest = x.shape[mask.ndim :]
    out = empty((count, *rest), x.dtype, device=x.device)
    if out.size:
        _run("take", x, out.reshape(count, -1), flat, places)
    return out


def put(x: Array, mask: Any, value: Any) -> None:
    """``x[mask] = value``: a number, or what broadcasts to the elements where the mask is true.

    Raises
    ------
    IndexError
        The mask's shape isn't that of the array's first axes.
    ValueError
        Another number of values.
    """
    x, mask = _whole(x, mask)
    flat, places, count = _places(x, mask)
    values = empty((count, *x.shape[mask.ndim :]), x.dtype, device=x.device)
    values[...] = value
    if not values.size:
        return
    target = x if x._layout == "C" else x.copy()
    _run("put", target, values.reshape(count, -1), flat, places)
    if target is not x:
        x[...] = target
