"""``numba.cuda.kernels.transpose``. Where a view will do, ``a.T`` is one."""

from __future__ import annotations

from typing import Any

from .._arrays import DeviceNDArray, as_cuda_array, device_array


def transpose(a: Any, b: Any = None) -> DeviceNDArray:
    """The transpose of a device array of two dimensions, in memory of its own.

    Parameters
    ----------
    a : DeviceNDArray
    b : DeviceNDArray, optional
        Gets the elements; without it a new array does.

    Returns
    -------
    DeviceNDArray
        `b`, or the new one.

    Raises
    ------
    NotImplementedError
        Another number of dimensions.
    """
    view = as_cuda_array(a).transpose()
    out = device_array(view.shape, view.dtype) if b is None else as_cuda_array(b)
    out[...] = view
    return out if b is None else b


__all__ = ["transpose"]
