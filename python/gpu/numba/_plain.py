"""Names of ``numba`` where it isn't installed: its functions are Python's, on one thread, and kernels may call them."""

from __future__ import annotations

import contextlib
from typing import Any

_MASK = {"threads": 1}


def jit(function: Any = None, *signatures: Any, **options: Any) -> Any:
    """What ``numba.jit`` and ``njit`` are here: the function stays Python, and kernels may call it."""
    if callable(function) and type(function).__name__ == "function":
        function.py_func = function  # type: ignore[attr-defined]
        return function
    return jit


njit = jit
prange = range


def literal_unroll(container: Any) -> Any:
    """The container itself: loops over tuples of different types are unrolled in any case."""
    return container


def literally(value: Any) -> Any:
    """The value itself: constants are known as such in any case."""
    return value


def pndindex(*shape: int) -> Any:
    """``numpy.ndindex``."""
    import numpy

    return numpy.ndindex(*shape)


def objmode(*args: Any, **types: Any) -> contextlib.AbstractContextManager[None]:
    """Nothing: functions are Python in any case."""
    return contextlib.nullcontext()


def get_num_threads() -> int:
    """What `set_num_threads` was told, 1 at first."""
    return _MASK["threads"]


def set_num_threads(n: int) -> None:
    """Remember the number; functions run on one thread."""
    _MASK["threads"] = int(n)


def get_thread_id() -> int:
    """0."""
    return 0


def threading_layer() -> str:
    """A name of none of Numba's."""
    return "none"


__all__ = [
    "get_num_threads",
    "get_thread_id",
    "jit",
    "literal_unroll",
    "literally",
    "njit",
    "objmode",
    "pndindex",
    "prange",
    "set_num_threads",
    "threading_layer",
]
