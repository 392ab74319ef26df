"""Addresses as kernels see them, for the ``python`` device: elements are counted from there, nothing checks them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._pynames import KernelArray, as_array, to_element


class KernelPointer:
    """An address in the host's memory, of elements of a dtype.

    Parameters
    ----------
    address : int
    dtype : numpy.dtype
    """

    __slots__ = ("address", "dtype")

    def __init__(self, address: int, dtype: np.dtype[Any]) -> None:
        self.address, self.dtype = address, dtype

    def array(self, first: int, shape: tuple[int, ...], order: Any) -> np.ndarray[Any, Any]:
        """The elements from one on."""
        count = int(np.prod(shape, dtype=np.int64))
        memory = (ctypes.c_char * (count * self.dtype.itemsize)).from_address(
            self.address + first * self.dtype.itemsize
        )
        return np.frombuffer(memory, self.dtype, count).reshape(shape, order=order)

    def __getitem__(self, index: Any) -> Any:
        return self.array(int(index), (1,), "C")[0]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array(int(index), (1,), "C")[0] = to_element(value, self.dtype)


def carray(ptr: KernelPointer, shape: Any, dtype: Any = None, order: str = "C") -> KernelArray:
    """The elements at an address as an array."""
    return as_array(ptr.array(0, tuple(shape) if isinstance(shape, tuple) else (int(shape),), order))


def farray(ptr: KernelPointer, shape: Any, dtype: Any = None) -> KernelArray:
    """The same in Fortran order."""
    return carray(ptr, shape, dtype, "F")
