"""The ``python`` device: the undecorated function, run by CPython for one kernel thread after the other.

Blocks run in ascending order, the threads of a block in CUDA's order (x fastest). `pdb`, `print` and coverage work,
since the function's own code object runs, with its file and lines; only its globals are a copy, in which `math`,
`numpy` and `gpu` names behave as in kernels (see `gpu._pynames`). It is slow, and the reference of the tests.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from . import _core, _pynames
from ._names import Intrinsic, running
from ._pythreads import Block, Calls, Lane, Stop, Turns, Wait

WARP = 32
AXES = "xyz"


def launch(
    kernel: _core.Kernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: tuple[Any, ...],
    types: tuple[_core.Type, ...],
    shared_bytes: int = 0,
) -> None:
    """Run a kernel for every thread of a grid.

    Parameters
    ----------
    kernel : Kernel
    grid, block : tuple of three ints
        Numbers of blocks, and of threads in a block.
    args : tuple
        One value for each parameter, keyword-only ones after the others, then the items of ``*args``; NumPy arrays are
        used in place.
    types : tuple of Type
        A type for each parameter in the specialisation, a tuple's for ``*args``: by a signature, or in the Numba
        dialect, Python numbers have types.
    shared_bytes : int
        Bytes of dynamic shared memory.

    Raises
    ------
    Exception
        What a thread raises; its message names kernel, block and thread, which are also attributes of it.
    """
    scope = Scope(kernel)
    function = scope.function(kernel.py_func)
    code = function.__code__
    first, last = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        types = (*types[:last], *types[last].items)
    values = [_pynames.as_argument(a, t) for a, t in zip(args, types, strict=True)]
    keywords = dict(zip(code.co_varnames[first:last], values[first:last], strict=True))
    values = values[:first] + values[last:]
    Launch(kernel, grid, block, partial(function, *values, **keywords), scope, shared_bytes).run()


class Launch:
    """A launch: kernel threads on the caller's OS thread, and on others while some wait (see `gpu._pythreads`)."""

    def __init__(
        self,
        kernel: _core.Kernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        call: Callable[[], Any],
        scope: Scope,
        shared_bytes: int,
    ) -> None:
        self.kernel, self.grid, self.block, self.call, self.scope = kernel, grid, block, call, scope
        blocks = (Block(at[::-1], block, shared_bytes) for at in product(*map(range, grid[::-1])))
        self.turns = Turns(blocks)
        self.others: list[threading.Thread] = []
        self.ended = threading.Lock()
        self.ended.acquire()

    def run(self) -> None:
        """Run all threads of the grid."""
        before = running.values
        try:
            first = self.turns.next()
            assert first
            self.work(first)
            self.ended.acquire()
        except BaseException as error:  # Ctrl-C while it waits
            self.fail(error)
        finally:
            running.values = before
        if not isinstance(self.turns.failed, KeyboardInterrupt):
            for thread in self.others:
                thread.join()
        if self.turns.failed:
            raise self.turns.failed

    def work(self, lane: Lane | None) -> None:
        """Run kernel threads that haven't started, until one comes whose turn it is elsewhere."""
        thread = Thread(self.grid, self.block)
        calls = Calls(
            lambda wait: self.suspend(calls.lane, wait, thread), self.scope.codes, self.kernel.dialect == "numba"
        )
        thread.values.update(calls.values())
        running.values = thread.values
        debug = bool(self.kernel.options["debug"] and not self.kernel.options["fastmath"])
        with np.errstate(all="ignore", divide="raise" if debug else "ignore"):
            while lane and lane.wait is None:
                thread.enter(lane.block.at, lane.index)
                calls.enter(lane, thread.values)
                self.scope.enter(thread)
                try:
                    _run(self.kernel, self.call, thread, self.scope)
                    lane = self.after(lane)
                except Stop:
                    return
                except BaseException as error:
                    return self.fail(error)
        self.resume(lane)

    def after(self, lane: Lane) -> Lane | None:
        """Who runs next, when a thread has ended."""
        if self.turns.failed:
            raise Stop
        del lane.block.live[lane.number]
        self.turns.settle(lane)
        return self.turns.next()

    def resume(self, lane: Lane | None) -> None:
        """Give the turn to a thread that waits, or end."""
        (lane.turn if lane else self.ended).release()

    def suspend(self, lane: Lane, wait: Wait, thread: Thread) -> Any:
        """Let others run until the wait is over; its result."""
        lane.wait, lane.result, lane.tries = wait, None, 0
        if wait.kind == "yield":
            self.turns.yielded.append(lane)
        self.turns.settle(lane)
        following = self.turns.next()
        if following is not lane:
            if following and following.wait is None:
                other = threading.Thread(target=self.work, args=(following,), daemon=True)
                self.others.append(other)
                other.start()
            else:
                self.resume(following)
            lane.turn.acquire()
        if self.turns.failed:
            raise Stop
        lane.wait = Wait("runs", 0, None, "")
        self.scope.enter(thread)
        return lane.result

    def fail(self, error: BaseException) -> None:
        """All threads end."""
        if self.turns.failed is None:
            self.turns.failed = error
            for block in self.turns.open:
                for lane in block.live.values():
                    if lane.turn.locked():
                        lane.turn.release()
            self.ended.release()


def call(kernel: _core.Kernel, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Call a device function from Python.

    Parameters
    ----------
    kernel : Kernel
    args, kwargs
        Scalars: typed ones keep their types, Python's numbers are weak.
    """
    function = Scope(kernel).kernel(kernel)
    with np.errstate(all="ignore"):
        return function(*args, **kwargs or {})


def _run(kernel: _core.Kernel, call: Callable[[], Any], thread: Thread, scope: Scope) -> None:
    name = kernel.py_func.__name__
    try:
        try:
            result = call()
        except FloatingPointError as error:  # debug=True alone
            raise ZeroDivisionError("division by zero").with_traceback(error.__traceback__) from None
        if result is not None:
            raise TypeError(f"kernel {name} returned a value; a kernel writes its results to arrays")
    except Exception as error:
        if type(error).__module__ != "bdb":
            _locate(error, name, thread, scope)
        raise


def _locate(error: Exception, kernel: str, thread: Thread, scope: Scope) -> None:
    """Say in the exception where in the grid it was raised."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_code in scope.codes:
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno} "
        trace = trace.tb_next
    block, index = thread.block, thread.index
    where = f"[{place}in {kernel}, block {block}, thread {index}]"
    if all(isinstance(a, str) for a in error.args) and len(error.args) <= 1:
        error.args = (" ".join([*error.args, where]),)
    else:
        error.__dict__["__notes__"] = [where]
    error.__dict__.update(kernel=kernel, block=block, thread=index)


class Thread:
    """The kernel thread that is running: what `gpu.threadIdx.x` and its kind answer."""

    def __init__(self, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
        self.grid_dim, self.block_dim = grid, block
        self.values: dict[str, Any] = {"gpu.grid": self.grid, "gpu.gridsize": self.gridsize, "gpu.warpsize": WARP}
        for axis, blocks, threads in zip(AXES, grid, block, strict=True):
            self.values[f"gpu.gridDim.{axis}"] = blocks
            self.values[f"gpu.blockDim.{axis}"] = threads

    def enter(self, block: tuple[int, ...], index: tuple[int, ...]) -> None:
        """Become that thread of that block; both are (x, y, z)."""
        self.block, self.index = block, index
        for i, axis in enumerate(AXES):
            self.values[f"gpu.blockIdx.{axis}"] = block[i]
            self.values[f"gpu.threadIdx.{axis}"] = index[i]
        size = self.block_dim
        self.values["gpu.laneid"] = (index[0] + size[0] * (index[1] + size[1] * index[2])) % WARP

    def grid(self, ndim: int) -> Any:
        """`gpu.grid`."""
        at = [b * n + t for b, n, t in zip(self.block, self.block_dim, self.index, strict=True)]
        return _first("grid", at, ndim)

    def gridsize(self, ndim: int) -> Any:
        """`gpu.gridsize`."""
        return _first("gridsize", [g * b for g, b in zip(self.grid_dim, self.block_dim, strict=True)], ndim)


def _first(name: str, values: list[int], ndim: int) -> Any:
    if ndim not in (1, 2, 3):
        raise ValueError(f"gpu.{name}() takes 1, 2 or 3")
    return values[0] if ndim == 1 else tuple(values[:ndim])


class Scope:
    """The functions of one launch, bound to copies of their globals and closures."""

    def __init__(self, kernel: _core.Kernel) -> None:
        self.root = kernel
        self.functions: dict[FunctionType, FunctionType] = {}
        self.spaces: dict[int, dict[str, Any]] = {}
        self.modules: dict[str, _pynames.Namespace] = {}
        self.live: list[tuple[dict[str, Any], str, Intrinsic]] = []  # values that differ by thread, imported by name
        self.codes: set[CodeType] = set()

    def enter(self, thread: Thread) -> None:
        """Set the names that stand for a value of the thread, such as `laneid`."""
        for space, name, intrinsic in self.live:
            space[name] = thread.values.get(intrinsic._path, intrinsic)

    def function(self, function: Any) -> FunctionType:
        """The function, with its names replaced; functions that it calls likewise."""
        if function in self.functions:
            return self.functions[function]
        code: CodeType = function.__code__
        self.codes.add(code)
        space = self.space(function.__globals__)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        bound = FunctionType(code, space, function.__name__, function.__defaults__, cells)
        bound.__kwdefaults__ = function.__kwdefaults__
        self.functions[function] = bound  # before what it names: it may call itself
        for name in _names_of(code, self.codes):
            self.bind(space, name, function.__globals__)
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell stays empty
                cell.cell_contents = self.replace(original.cell_contents)
        return bound

    def kernel(self, kernel: _core.Kernel) -> Callable[..., Any]:
        """A device function; with a signature, arguments and result are converted to its types.

        With several, which compilers choose among by types, nothing is converted.
        """
        function, declared = self.function(kernel.py_func), getattr(kernel, "_declared", None)
        code = function.__code__
        if declared is None or len(declared) > code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + 1:
            return function
        types = dict(zip(code.co_varnames, declared[1:], strict=False))

        def typed(*args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(code.co_varnames, args, strict=False)), **kwargs}
            given = {name: _pynames.convert(value, types.get(name)) for name, value in given.items()}
            return _pynames.convert(function(**given), declared[0])

        return typed

    def space(self, original: dict[str, Any]) -> dict[str, Any]:
        """One copy of each module's globals."""
        return self.spaces.setdefault(id(original), dict(original))

    def bind(self, space: dict[str, Any], name: str, original: dict[str, Any]) -> None:
        if name in original:
            value = original[name]
            if isinstance(value, Intrinsic) and not value._members and not value._is_function:
                self.live.append((space, name, value))
            else:
                space[name] = self.replace(value)
        elif name in _pynames.BUILTINS:
            space[name] = _pynames.BUILTINS[name]

    def replace(self, value: Any) -> Any:
        """What a global, a closure variable or an attribute of a module becomes."""
        if isinstance(value, ModuleType):
            return self.module(value)
        if isinstance(value, _core.Kernel):
            return self.kernel(value)
        if "numba.core.typing.templates" in sys.modules:
            from ._numbas import adopt_overloads

            adopt_overloads()
        extending = sys.modules.get("gpu.cuda.extending")
        if extending and isinstance(value, FunctionType) and value in extending.overloads:
            return extending.by_values(value, self.replace)
        if isinstance(value, FunctionType) and _is_users(value.__module__):
            return self.function(value)
        if isinstance(value, Intrinsic):
            return value if value._members or value._is_function else value._value()
        if isinstance(value, np.ndarray):
            value = self.root._frozen(value)
        return _pynames.replace_library(value)

    def module(self, module: ModuleType) -> Any:
        name = module.__name__
        if not (_is_users(name) or name.partition(".")[0] in ("math", "cmath", "numpy", "gpu")):
            return module
        if name not in self.modules:
            self.modules[name] = _pynames.Namespace(module, self.replace)
        return self.modules[name]


def _names_of(code: CodeType, codes: set[CodeType]) -> set[str]:
    """Names that a code object and the functions in it may look up."""
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            codes.add(const)
            names |= _names_of(const, codes)
    return names


def _is_users(module: str | None) -> bool:
    """Tell modules whose functions may be device functions from libraries."""
    if module == "gpu.random":  # written for kernels
        return True
    top = (module or "").partition(".")[0]
    return top == "__main__" or (top not in sys.stdlib_module_names and top not in ("numpy", "gpu", "ml_dtypes"))
