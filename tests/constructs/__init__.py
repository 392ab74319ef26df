"""Kernels that use one construct of Python each; test_constructs.py runs them on every device and compares.

Each takes an array of 16 numbers, an output of 16 and the integer 3; `given` adds arguments. There is a module for
each theme; `kernels` finds them all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

ARGUMENTS: dict[Callable[..., Any], tuple[Any, ...]] = {}


def given(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds arguments to the launches of a kernel."""

    def keep(kernel: Callable[..., Any]) -> Callable[..., Any]:
        ARGUMENTS[kernel] = args
        return kernel

    return keep


def kernels() -> list[Callable[..., Any]]:
    """The kernels of all modules."""
    modules = [import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__)]
    return [k for m in modules for name, k in vars(m).items() if name.startswith("k_")]
