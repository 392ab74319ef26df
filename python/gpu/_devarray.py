"""`DeviceNDArray` of the Numba dialect, for devices that share the host's memory: NumPy behind Numba's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .cuda import Stream


class DeviceNDArray:
    """An array on the device.

    Made by `gpu.cuda.to_device` and `gpu.cuda.device_array`. Kernels take it as they take NumPy arrays; the host
    reads it through `copy_to_host`, element access or ``numpy.asarray``.

    Attributes
    ----------
    shape, strides, dtype, ndim, size, nbytes
        As of a NumPy array.
    """

    __array_priority__ = -1.0

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__

    shape = property(lambda self: self._array.shape)
    strides = property(lambda self: self._array.strides)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    nbytes = property(lambda self: self._array.nbytes)
    alloc_size = nbytes

    @property
    def T(self) -> DeviceNDArray:
        """The transpose, a view."""
        return self.transpose()

    def copy_to_host(self, ary: np.ndarray[Any, Any] | None = None, stream: Stream | int = 0) -> np.ndarray[Any, Any]:
        """Copy to a new NumPy array, or to `ary`, which must have this shape and dtype.

        Raises
        ------
        ValueError
            `ary` has another shape.
        TypeError
            `ary` has another dtype.
        """
        if ary is None:
            return self._array.copy(order="K")
        _same(ary, self._array)
        ary[...] = self._array
        return ary

    def copy_to_device(self, ary: Any, stream: Stream | int = 0) -> None:
        """Copy from an array on the host or the device of this shape and dtype.

        Raises
        ------
        ValueError
            Another shape.
        TypeError
            Another dtype.
        """
        source = np.asarray(ary)
        _same(source, self._array)
        self._array[...] = source

    def is_c_contiguous(self) -> bool:
        """Tell whether elements are in C order, without gaps."""
        return self._array.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Tell whether elements are in Fortran order, without gaps."""
        return self._array.flags.f_contiguous

    def reshape(self, *shape: Any, order: Any = "C") -> DeviceNDArray:
        """A view of another shape; NotImplementedError if it would have to copy."""
        view = self._array.reshape(*shape, order=order)
        if view.size and not np.shares_memory(view, self._array):
            raise NotImplementedError("reshape would need a copy: the array isn't contiguous")
        return DeviceNDArray(view)

    def ravel(self, order: Any = "C", stream: Stream | int = 0) -> DeviceNDArray:
        """A view of one dimension."""
        return self.reshape(-1, order=order)

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """A view with permuted axes."""
        return DeviceNDArray(self._array.transpose(axes))

    def squeeze(self, axis: Any = None, stream: Stream | int = 0) -> DeviceNDArray:
        """A view without the axes of length one."""
        return DeviceNDArray(self._array.squeeze(axis))

    def view(self, dtype: Any) -> DeviceNDArray:
        """The same bytes as another dtype."""
        return DeviceNDArray(self._array.view(dtype))

    def split(self, section: int, stream: Stream | int = 0) -> Iterator[DeviceNDArray]:
        """Views of `section` elements each, of a one-dimensional array."""
        for start in range(0, self.size, section):
            yield DeviceNDArray(self._array[start : start + section])

    def bind(self, stream: Stream | int = 0) -> DeviceNDArray:
        """A view that belongs to a stream; all streams are the same on this device."""
        return DeviceNDArray(self._array)

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return DeviceNDArray(found) if isinstance(found, np.ndarray) else found

    def getitem(self, index: Any, stream: Stream | int = 0) -> Any:
        """``self[index]``."""
        return self[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = np.asarray(value) if isinstance(value, DeviceNDArray) else value

    def setitem(self, index: Any, value: Any, stream: Stream | int = 0) -> None:
        """``self[index] = value``."""
        self[index] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self._array.copy() if copy else self._array
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<DeviceNDArray of {self.dtype}, shape {self.shape}>"


def _same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    if one.dtype != other.dtype:
        raise TypeError(f"incompatible dtypes: {one.dtype} and {other.dtype}")
    if one.shape != other.shape:
        raise ValueError(f"incompatible shapes: {one.shape} and {other.shape}")


def empty(shape: Any, dtype: Any, strides: Any, order: str) -> np.ndarray[Any, Any]:
    """A new NumPy array; `strides` in bytes, None for those of `order`."""
    if strides is None:
        return np.empty(shape, dtype, order=order)  # type: ignore[call-overload, no-any-return]
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    if len(strides) != len(shape) or any(s < 0 for s in strides):
        raise ValueError(f"strides {strides} don't fit the shape {shape}: one of 0 or more for each dimension")
    extent = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if all(shape) else 0
    buffer = np.empty(extent + np.dtype(dtype).itemsize, np.uint8)
    return np.ndarray(shape, dtype, buffer, 0, strides)
