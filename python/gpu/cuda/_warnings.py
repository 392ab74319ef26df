"""Warnings that Numba gives and that its settings turn on: of launches that are slow on a GPU, of options."""

from __future__ import annotations

from math import prod
from typing import Any
from warnings import warn

from .._errors import PerformanceWarning


def warn_of_few_blocks(launcher: Any) -> None:
    """Say that a grid is too small to fill a GPU."""
    blocks = prod(launcher.griddim)
    if blocks < 128:
        text = f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy."
        warn(text, PerformanceWarning, stacklevel=3)


def warn_of_host_arrays(values: tuple[Any, ...]) -> None:
    """Say that arguments of a launch are NumPy arrays, which a GPU gets as copies."""
    import numpy as np

    from ._arrays import _VisibleNDArray

    if any(isinstance(value, np.ndarray) and not isinstance(value, _VisibleNDArray) for value in values):
        text = "Host array used in CUDA kernel will incur copy overhead to/from device."
        warn(text, PerformanceWarning, stacklevel=2)


def has_source(function: Any) -> bool:
    """Whether the source of a function can be read, from a file or from `linecache`."""
    import linecache

    code = function.__code__
    # Python 3.13 keeps the program of `python -c` under the name that all strings have
    return code.co_filename != "<string>" and bool(linecache.getline(code.co_filename, code.co_firstlineno))


def warn_of_missing_source(function: Any) -> None:
    """Say that a debugger will show no source of a function that is compiled for one."""
    from .errors import NumbaDebugInfoWarning

    text = f"Could not find source for function: {function}. Debug line information may be inaccurate."
    warn(text, NumbaDebugInfoWarning, stacklevel=4)


def warn_of_debug(options: dict[str, Any]) -> None:
    """Say that debug=True is combined with what Numba can't do beside it. Here it checks, in code as it is."""
    from .errors import NumbaInvalidConfigWarning

    if options.get("opt"):
        text = (
            "debug=True with opt=True is not supported by CUDA compilers of debug information, and Numba warns of it; "
            "here debug then checks, in optimised code: say opt=False, as there, for what a debugger needs"
        )
        warn(text, NumbaInvalidConfigWarning, stacklevel=3)
    if options.get("lineinfo"):
        text = "debug and lineinfo are mutually exclusive in Numba; here debug checks, and lines are there in any case"
        warn(text, NumbaInvalidConfigWarning, stacklevel=3)
