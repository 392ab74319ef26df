"""Kernels in pickles: functions that another process can't import go by their code, with the names that it uses."""

from __future__ import annotations

import builtins
import copyreg
import importlib
import marshal
import sys
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from . import _core, _jit


def is_found(thing: Any) -> bool:
    """Whether a function or kernel is what its module has under its name; the script that runs isn't a module."""
    found: Any = sys.modules.get(thing.__module__) if thing.__module__ != "__main__" else None
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is thing


class _ByValue:
    """What is pickled for a function: there is one for each, so that functions may name each other."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    def __reduce__(self) -> tuple[Any, ...]:
        f = self.function
        names = _names(f.__code__)
        found = {name: f.__globals__[name] for name in sorted(names) if name in f.__globals__}
        cells = [_content(cell) for cell in f.__closure__ or ()]
        state = {
            "globals": {name: _portable(value) for name, value in found.items()},
            "cells": cells,
            "defaults": f.__defaults__,
            "kwdefaults": f.__kwdefaults__,
        }
        start = (marshal.dumps(f.__code__), sys.version_info[:2], f.__module__, f.__qualname__, len(cells))
        return _begin, start, state, None, None, _finish


class _Module:
    """A module that a function names."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.name,)


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def _content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (_portable(cell.cell_contents),)
    except ValueError:  # empty
        return ()


def _portable(value: Any) -> Any:
    """A value as it can be pickled."""
    if isinstance(value, ModuleType):
        return _Module(value.__name__)
    if isinstance(value, FunctionType) and not is_found(value):
        return by_value(value)
    return value


def by_value(function: Any) -> Any:
    """What is pickled for a function that can't be imported; the function itself, if it can."""
    if isinstance(function, BuiltinFunctionType) or is_found(function):
        return function
    return function.__dict__.setdefault("__gpu_by_value__", _ByValue(function))


def _begin(code: bytes, version: tuple[int, int], module: str, qualname: str, cells: int) -> FunctionType:
    """A function without anything that it names.

    Raises
    ------
    RuntimeError
        Its code is another Python's.
    """
    if version != sys.version_info[:2]:
        raise RuntimeError(f"{qualname}() was pickled by Python {'.'.join(map(str, version))}: code is no other's")
    names = {"__builtins__": builtins, "__name__": module}
    made = FunctionType(marshal.loads(code), names, closure=tuple(CellType() for _ in range(cells)) or None)
    made.__qualname__ = qualname
    return made


def _finish(made: FunctionType, state: dict[str, Any]) -> None:
    made.__globals__.update(state["globals"])
    made.__defaults__, made.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    for cell, content in zip(made.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = content[0]


def _type(kind: _core.Type) -> tuple[Any, ...]:
    values = kind.kind, kind.dtype, kind.ndim, kind.layout, kind.readonly, kind.items, kind.fields, kind.object
    return _core.Type, values


copyreg.pickle(_core.Type, _type)  # type: ignore[arg-type]


def reduce_kernel(kernel: _jit.Kernel, *more: Any) -> tuple[Any, ...]:
    """What `pickle` makes a kernel of: its class, function and options, and what else the class takes."""
    function = by_value(kernel.py_func)
    return _make, (type(kernel), function, kernel.dialect, kernel.options, kernel._declared, more)


def _make(cls: Any, function: Any, dialect: str, options: dict[str, Any], declared: Any, more: tuple[Any, ...]) -> Any:
    kernel = cls(function, dialect, options, *more)
    kernel._declared = declared
    return kernel
