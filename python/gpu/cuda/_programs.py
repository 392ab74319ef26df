"""``cuda.vectorize``, ``cuda.guvectorize`` and ``cuda.Reduce``: those of `gpu` with Numba's names and types."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _array, _elementwise, _gufunc, _operations, _reduce, _ufunc
from . import _signatures
from ._arrays import DeviceNDArray, as_cuda_array

if TYPE_CHECKING:
    from collections.abc import Callable

_NOPYTHON = "nopython kwarg for cuda target is redundant"


def _ours(result: Any) -> Any:
    """Arrays of a device as Numba's class of them."""
    if isinstance(result, tuple):
        return tuple(map(_ours, result))
    if isinstance(result, _array.Array) and not isinstance(result, DeviceNDArray):
        return DeviceNDArray._of(result)
    return result


def _there(value: Any) -> Any:
    """An array of another library that is on the device as one of ours; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(_there, value))
    foreign = hasattr(value, "__cuda_array_interface__") and not isinstance(value, _array.Array)
    return as_cuda_array(value) if foreign else value


class UFunc(_ufunc.UFunc):
    """A function of scalars, called with arrays. Arrays of the device stay there."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute each element: see `gpu.vectorize`."""
        return _ours(super().__call__(*map(_there, args), **{name: _there(value) for name, value in kwargs.items()}))

    def reduce(self, arg: Any, stream: Any = 0, **kwargs: Any) -> Any:
        """Combine the elements of an array by the function."""
        return _ours(super().reduce(arg, stream=stream, **kwargs))


class GUFunc(_gufunc.GUFunc):
    """A function of small arrays, applied along the other axes. Arrays of the device stay there."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the function: see `gpu.guvectorize`."""
        return _ours(super().__call__(*map(_there, args), **{name: _there(value) for name, value in kwargs.items()}))


def vectorize(
    ftylist_or_function: Any = (), target: str = "cuda", identity: Any = None, **kws: Any
) -> UFunc | Callable[[Any], UFunc]:
    """Make a function of arrays of a function of scalars, as `gpu.vectorize`, with Numba's rules of types.

    Parameters
    ----------
    ftylist_or_function : function, signature or list of signatures, optional
    target : str
        ``"cuda"``: the current device.
    identity : number, optional
    **kws
        ``cache`` is accepted. ``nopython`` is redundant.

    Raises
    ------
    KeyError
        An unknown option.
    """
    if kws.pop("nopython", None) is not None:
        warnings.warn(_NOPYTHON, RuntimeWarning, stacklevel=2)
    kws.pop("cache", None)
    unknown = set(kws) - set(_ufunc.OPTIONS)
    if unknown:
        raise KeyError(f"Unrecognized options. Got: {sorted(unknown)}")
    if target not in ("cuda", "cpu", "parallel"):
        raise ValueError(f"Unsupported target: {target}")
    first = None if isinstance(ftylist_or_function, (tuple, list)) and not ftylist_or_function else ftylist_or_function
    made: Any = _ufunc.make_vectorize("numba", _signatures(first), identity, kws, UFunc)
    return made  # type: ignore[no-any-return]


def guvectorize(
    ftylist: Any, signature: str | None = None, target: str = "cuda", **kws: Any
) -> Callable[[Any], GUFunc]:
    """Make a function of large arrays of a function of small ones, as `gpu.guvectorize`, with Numba's rules of types.

    Parameters
    ----------
    ftylist : list of signatures
    signature : str
        ``"(m,n),(n)->(m)"``.
    target : str
        ``"cuda"``: the current device.

    Raises
    ------
    TypeError
        An unknown option.
    """
    if kws.pop("nopython", True) is not True:
        raise TypeError("nopython flag must be True")
    kws.pop("cache", None)
    unknown = set(kws) - set(_ufunc.OPTIONS)
    if unknown:
        raise TypeError(f"The following target options are not supported: {', '.join(map(repr, sorted(unknown)))}")
    ftylist = _signatures(ftylist)
    args = (ftylist,) if signature is None else (ftylist, signature)
    made: Any = _gufunc.make_guvectorize("numba", args, kws, GUFunc)
    return made  # type: ignore[no-any-return]


class Reduce:
    """A reduction by a function of two elements: ``sum_reduce = cuda.Reduce(lambda a, b: a + b)``.

    Parameters
    ----------
    functor : function
        Associative. Elements keep their order.
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._op = _operations.op_of(functor, "numba")

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        """Combine the elements.

        Parameters
        ----------
        arr : array
            Of one dimension, of the host or the device.
        size : int, optional
            How many elements, from the first.
        res : array, optional
            Of the device: its first element gets the result, and None is returned.
        init : number
            Stands before the first element.
        stream : Stream, optional

        Returns
        -------
        scalar or None
        """
        x = _elementwise.operand(arr)
        if not _elementwise.is_array(x) or x.ndim != 1:
            raise TypeError("only support 1D array")
        x = x if size is None else x[:size]
        out = None if res is None else _elementwise.strided(res, (), ())
        init = np.asarray(init).astype(x.dtype)[()]
        found = _reduce.reduce_source(self._op, [x], None, None, init, x.dtype, out, False, stream)
        return None if res is not None else found


reduce = Reduce
