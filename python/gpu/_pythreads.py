"""Threads that work together, for the ``python`` device: turns, waits, shared arrays, atomics, warp operations.

One kernel thread runs at a time. The first runs on the caller's OS thread and the others follow there, one after the
other, as long as none waits. One that waits keeps its OS thread, and the next one starts on another. Whoever waits or
ends passes the turn on: to a thread whose wait is over, then to the next of the block that hasn't started, then to the
next block (when this one has ended or waits for memory), at last to those that gave up their turn. So the order is
always the same, and a program that works here doesn't work by luck of timing.
"""

from __future__ import annotations

import math
import operator
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from types import FrameType
from typing import Any

import numpy as np

from . import _pyinstructions, _pypointers
from ._errors import DeviceFault
from ._pygroups import GridGroup, ThreadBlock, Tile
from ._pynames import Converter, as_array, to_integer

WARP = 32
FULL = 0xFFFFFFFF
TRIES = 100  # atomic operations of a thread in a row: it may be waiting for another one
BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
GRID = "gridsync"
BLOCK_WIDE = (*BARRIERS, "block.reduce", "block.scan")


class Stop(BaseException):
    """Ends a kernel thread, since another one has failed."""


@dataclass
class Wait:
    """What a thread waits for: an operation, the lanes that must come, what it brings, the line it stands at."""

    kind: str
    mask: int
    value: Any
    place: str


class Lane:
    """A thread of the kernel."""

    def __init__(self, block: Block, index: tuple[int, ...], number: int) -> None:
        self.block, self.index, self.number = block, index, number
        self.turn = threading.Lock()
        self.turn.acquire()
        self.wait: Wait | None = None
        self.result: Any = None
        self.tries = 0


class Block:
    """A block: its threads that have started and not ended, and its memory."""

    def __init__(self, at: tuple[int, ...], size: tuple[int, int, int], dynamic: int) -> None:
        self.at = at
        self.count = math.prod(size)
        self.unstarted = enumerate(index[::-1] for index in product(*map(range, size[::-1])))
        self.started = 0
        self.live: dict[int, Lane] = {}
        self.arrays: dict[Any, np.ndarray] = {}
        self.memory = np.zeros(dynamic, np.uint8)

    def start(self) -> Lane:
        """The next thread."""
        number, index = next(self.unstarted)
        self.started += 1
        lane = self.live[number] = Lane(self, index, number)
        return lane

    def warp(self, lane: Lane) -> dict[int, Lane]:
        """The live lanes of a warp that have started, by their number in it."""
        first = lane.number // WARP * WARP
        return {n - first: self.live[n] for n in range(first, first + WARP) if n in self.live}

    def missing(self, lane: Lane) -> int:
        """The lanes of a warp that haven't ended, whether they have started or not."""
        first = lane.number // WARP * WARP
        numbers = range(first, min(first + WARP, self.count))
        return sum(1 << n - first for n in numbers if n >= self.started or n in self.live)


@dataclass
class Turns:
    """Who runs next. All of it belongs to the thread whose turn it is.

    Attributes
    ----------
    blocks : iterator of Block
        Those that haven't started.
    """

    blocks: Iterator[Block]
    block: Block | None = None
    ready: deque[Lane] = field(default_factory=deque)
    yielded: deque[Lane] = field(default_factory=deque)
    open: list[Block] = field(default_factory=list)
    failed: BaseException | None = None

    def next(self) -> Lane | None:
        """The thread that runs next, not started by anybody yet if its `wait` is None; None: all have ended."""
        while True:
            if self.ready:
                return self.ready.popleft()
            if self.block and self.block.started < self.block.count:
                return self.block.start()
            if self.release_active():
                continue
            self.open = [b for b in self.open if b.live]
            at_grid = self.open and all(a.wait and a.wait.kind == GRID for b in self.open for a in b.live.values())
            if not self.open or self.yielded or at_grid:
                self.block = next(self.blocks, None)
                if self.block:
                    self.open.append(self.block)
                    continue
            if self.yielded:
                return self.yielded.popleft()
            if at_grid:
                for lane in [a for b in self.open for a in b.live.values()]:
                    self.release(lane)
                continue
            if self.open:
                raise DeviceFault(self.stuck())
            return None

    def release_active(self) -> bool:
        """Let those go on that asked who is here, with those that stand at the same place."""
        for block in self.open:
            asking = {a: a.wait.place for a in block.live.values() if a.wait and a.wait.kind == "activemask"}
            for first in list(asking)[:1]:
                here = {k: a for k, a in block.warp(first).items() if asking.get(a) == asking[first]}
                for lane in here.values():
                    lane.result = np.uint32(sum(1 << k for k in here))
                    self.release(lane)
                return True
        return False

    def stuck(self) -> str:
        """Say who waits where."""
        lanes = [lane for b in self.open for lane in b.live.values() if lane.wait]
        places: dict[str, Lane] = {}
        for lane in lanes:
            assert lane.wait
            places.setdefault(f"{lane.wait.place} ({lane.wait.kind})", lane)
        who = [f"thread {lane.index} of block {lane.block.at} waits at {place}" for place, lane in places.items()]
        subject = "neither" if len(who) > 1 else "it"
        return f"{' and '.join(who[:2])}: {subject} can't go on; all threads must come to the same barrier or operation"

    def settle(self, lane: Lane) -> None:
        """A thread waits or has ended: let those go on whose wait is over."""
        self.settle_warp(lane)
        self.settle_block(lane.block)

    def settle_block(self, block: Block) -> None:
        lanes = list(block.live.values())
        if block.started < block.count or not lanes:
            return
        if any(a.wait is None or a.wait.kind not in BLOCK_WIDE for a in lanes):
            return
        waits = [a.wait for a in lanes if a.wait]
        if len({w.kind for w in waits}) > 1:
            return
        kind = waits[0].kind
        if kind not in BARRIERS:
            results = IN_ORDER[kind.partition(".")[2]]({a.number: a.wait.value for a in lanes if a.wait})
            for lane in lanes:
                lane.result = results[lane.number]
                self.release(lane)
            return
        true = [bool(w.value) for w in waits]
        result = {"syncthreads_count": sum(true), "syncthreads_and": int(all(true)), "syncthreads_or": int(any(true))}
        for lane in lanes:
            lane.result = result.get(kind)
            self.release(lane)

    def settle_warp(self, lane: Lane) -> None:
        warp, alive = lane.block.warp(lane), lane.block.missing(lane)
        for k, first in warp.items():
            wait = first.wait
            if wait is None or wait.kind not in OPERATIONS:
                continue
            same = (wait.kind, wait.mask)
            here = {i: a.wait for i, a in warp.items() if a.wait and (a.wait.kind, a.wait.mask) == same}
            named = (wait.mask | 1 << k) & alive
            if any(named >> i & 1 and i not in here for i in range(WARP)):
                continue
            values = {i: w.value for i, w in here.items() if named >> i & 1}
            results = OPERATIONS[wait.kind](values)
            for i in values:
                warp[i].result = results[i]
                self.release(warp[i])

    def release(self, lane: Lane) -> None:
        lane.wait = Wait("ready", 0, None, "")
        self.ready.append(lane)


# ---- operations of warps: what each lane brings -> what each gets


def _moved(own: int, at: int, first: int, width: int) -> int:
    return at if first <= at < first + width else own


def _up(values: dict[int, Any]) -> dict[int, Any]:
    at = {k: _moved(k, k - int(d), k & ~(w - 1), w) for k, (_, d, w) in values.items()}
    return {k: values.get(at[k], values[k])[0] for k in values}


def _down(values: dict[int, Any]) -> dict[int, Any]:
    at = {k: _moved(k, k + int(d), k & ~(w - 1), w) for k, (_, d, w) in values.items()}
    return {k: values.get(at[k], values[k])[0] for k in values}


def _xor(values: dict[int, Any]) -> dict[int, Any]:
    at = {k: k ^ int(m) if k ^ int(m) < (k & ~(w - 1)) + w else k for k, (_, m, w) in values.items()}
    return {k: values.get(at[k], values[k])[0] for k in values}


def _index(values: dict[int, Any]) -> dict[int, Any]:
    at = {k: (k & ~(w - 1)) + (int(lane) & (w - 1)) for k, (_, lane, w) in values.items()}
    return {k: values.get(at[k], values[k])[0] for k in values}


def _same(make: Callable[[dict[int, Any]], Any]) -> Callable[[dict[int, Any]], dict[int, Any]]:
    """One result for all."""
    return lambda values: dict.fromkeys(values, make(values))


def _ballot(values: dict[int, Any]) -> np.uint32:
    return np.uint32(sum(1 << k for k, v in values.items() if v))


def _bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def _match_any(values: dict[int, Any]) -> dict[int, Any]:
    return {k: np.uint32(sum(1 << i for i, w in values.items() if _bits(w) == _bits(v))) for k, v in values.items()}


def _match_all(values: dict[int, Any]) -> tuple[np.uint32, bool]:
    same = len({_bits(v) for v in values.values()}) == 1
    return np.uint32(sum(1 << k for k in values) if same else 0), same


def _combined(combine: Callable[[Any, Any], Any]) -> Callable[[dict[int, Any]], dict[int, Any]]:
    def over(values: dict[int, Any]) -> Any:
        total, *others = (values[k] for k in sorted(values))
        for value in others:
            total = combine(total, value)
        return total

    return _same(over)


OPERATIONS: dict[str, Callable[[dict[int, Any]], dict[int, Any]]] = {
    "shfl_sync": _index, "shfl_up_sync": _up, "shfl_down_sync": _down, "shfl_xor_sync": _xor,
    "all_sync": _same(lambda v: all(v.values())), "any_sync": _same(lambda v: any(v.values())),
    "eq_sync": _same(lambda v: len(set(v.values())) == 1), "ballot_sync": _same(_ballot),
    "match_any_sync": _match_any, "match_all_sync": _same(_match_all), "syncwarp": _same(lambda v: None),
    "reduce_add_sync": _combined(lambda a, b: a + b), "reduce_min_sync": _combined(np.fmin),
    "reduce_max_sync": _combined(np.fmax), "reduce_and_sync": _combined(lambda a, b: a & b),
    "reduce_or_sync": _combined(lambda a, b: a | b), "reduce_xor_sync": _combined(lambda a, b: a ^ b),
}  # fmt: skip


# ---- reductions and scans of warps and blocks: the same, in the order of the threads


def _reduced(values: dict[int, Any]) -> dict[int, Any]:
    (total, op, *_), *others = (values[k] for k in sorted(values))
    for value, *_ in others:
        total = op(total, value)
    return dict.fromkeys(values, total)


def _scanned(values: dict[int, Any]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    total = None
    for k in sorted(values):
        value, op, exclusive, initial = values[k]
        before = total if total is not None else type(value)(initial)
        total = value if total is None and not exclusive else op(before, value)
        found[k] = before if exclusive else total
    return found


IN_ORDER: dict[str, Callable[[dict[int, Any]], dict[int, Any]]] = {"reduce": _reduced, "scan": _scanned}
OPERATIONS |= {f"warp.{name}": function for name, function in IN_ORDER.items()}


# ---- atomics: what is stored, of the element and the operand, both of the element's type


def _less(a: Any, b: Any) -> Any:
    return b if b < a else a


def _greater(a: Any, b: Any) -> Any:
    return b if b > a else a


ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a | b if a.dtype == bool else a + b, "sub": lambda a, b: a - b,
    "min": _less, "max": _greater, "nanmin": np.fmin, "nanmax": np.fmax,
    "and_": lambda a, b: a & b, "or_": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "exch": lambda a, b: b,
    "inc": lambda a, b: 0 if a >= b else a + 1, "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}  # fmt: skip


def converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as an element of an array."""
    return to_integer(value, dtype) if dtype.kind in "iu" else dtype.type(value)


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """What a kernel gives as an array's dtype."""
    return np.dtype(dtype.dtype if isinstance(dtype, Converter) else dtype)


# ---- elements that follow each other


def neighbours(ary: Any, idx: Any, width: int) -> list[Any]:
    """The index and those after it along the last axis."""
    *lead, last = idx if isinstance(idx, tuple) else (idx,)
    last += ary.shape[-1] if last < 0 else 0
    return [(*lead, last + k) for k in range(width)]


def load_elements(ary: Any, idx: Any, cache: str = "ca", width: int | None = None) -> Any:
    return ary[idx] if width is None else tuple(ary[at] for at in neighbours(ary, idx, width))


def store_elements(ary: Any, idx: Any, val: Any, cache: str = "wb") -> None:
    if not isinstance(val, tuple):
        ary[idx] = val
        return
    for at, one in zip(neighbours(ary, idx, len(val)), val, strict=True):
        ary[at] = one


# ---- what a kernel thread calls


class Calls:
    """The functions, for the kernel threads of one OS thread.

    Parameters
    ----------
    suspend : callable
        Waits; the result of the wait.
    codes : set of code
        The kernel's functions: where a line is looked for.
    numba : bool
        The kernel is in Numba's dialect, where ballots and matches are int32.
    """

    def __init__(self, suspend: Callable[[Wait], Any], codes: set[Any], numba: bool) -> None:
        self.suspend, self.codes, self.numba = suspend, codes, numba
        self.lane: Lane

    def values(self) -> dict[str, Any]:
        """By path: what `gpu.<path>` does."""
        found: dict[str, Any] = {f"gpu.{name}": self.barrier(name) for name in BARRIERS}
        alike = [name for name in OPERATIONS if name.endswith("_sync") and not name.startswith("shfl")]
        found |= {f"gpu.{name}": self.of_warp(name) for name in alike}
        ordered = [f"{scope}.{name}" for scope in ("warp", "block") for name in IN_ORDER]
        found |= {f"gpu.{name}": self.in_order(name) for name in ordered}
        found |= {f"gpu.{name}": self.shuffle(name) for name in OPERATIONS if name.startswith("shfl")}
        found |= {f"gpu.atomic.{name}": self.atomic(name) for name in ATOMICS}
        found |= {f"gpu.threadfence{name}": lambda: None for name in ("", "_block", "_system")}
        found |= {
            "gpu.syncwarp": lambda mask=FULL: self.suspend(self.wait("syncwarp", mask, None)),
            "gpu.activemask": lambda: self.suspend(self.wait("activemask", 0, None)),
            "gpu.nanosleep": lambda ns: self.suspend(self.wait("yield", 0, None)),
            "gpu.atomic.cas": self.cas,
            "gpu.atomic.compare_and_swap": lambda ary, old, val, **how: self.cas(ary, (0,) * ary.ndim, old, val),
            "gpu.load": load_elements,
            "gpu.store": store_elements,
            "gpu.atomic.load": self.load,
            "gpu.atomic.store": self.store,
            "gpu.block.histogram": self.histogram,
            "gpu.shared.array": self.shared,
            "gpu.local.array": lambda shape, dtype, alignment=None: as_array(np.zeros(shape, dtype_of(dtype))),
            "gpu.const.array_like": lambda ndarray: ndarray,
            "gpu.carray": _pypointers.carray,
            "gpu.farray": _pypointers.farray,
        }
        return found | _pyinstructions.functions()

    def enter(self, lane: Lane, values: dict[str, Any]) -> None:
        """Run that kernel thread from now on."""
        self.lane, bit = lane, 1 << lane.number % WARP
        masks = {"eq": bit, "lt": bit - 1, "le": 2 * bit - 1, "gt": FULL & ~(2 * bit - 1), "ge": FULL & ~(bit - 1)}
        values.update({f"gpu.lanemask_{name}": lambda mask=mask: np.uint32(mask) for name, mask in masks.items()})
        values["gpu.cg.this_grid"] = lambda: GridGroup(values, self.grid_sync, self.numba)
        values["gpu.cg.this_thread_block"] = lambda: ThreadBlock(values)
        values["gpu.cg.tiled_partition"] = lambda group, size: Tile(values, int(size), self.of_tile)

    def grid_sync(self) -> None:
        self.suspend(self.wait(GRID, 0, None))

    def of_tile(self, kind: str, mask: int, value: Any) -> Any:
        return self.suspend(self.wait(kind, mask, value))

    def frame(self) -> FrameType | None:
        """The kernel's line that calls."""
        frame: FrameType | None = sys._getframe(1)
        while frame and frame.f_code not in self.codes:
            frame = frame.f_back
        return frame

    def wait(self, kind: str, mask: Any, value: Any) -> Wait:
        frame = self.frame()
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"
        return Wait(kind, int(mask) & FULL, value, place)

    def barrier(self, name: str) -> Callable[..., Any]:
        if name == "syncthreads":
            return lambda: self.suspend(self.wait(name, 0, None))
        return lambda predicate: self.suspend(self.wait(name, 0, predicate))

    def of_warp(self, name: str) -> Callable[..., Any]:
        votes = name in ("all_sync", "any_sync", "eq_sync", "ballot_sync")

        def operation(mask: Any, value: Any) -> Any:
            found = self.suspend(self.wait(name, mask, bool(value) if votes else value))
            if not self.numba:
                return found
            if name == "match_all_sync":
                return found[0].astype(np.int32), found[1]
            return found.astype(np.int32) if name in ("ballot_sync", "match_any_sync") else found

        return operation

    def in_order(self, name: str) -> Callable[..., Any]:
        def combine(value: Any, op: Any = operator.add, exclusive: bool = False, initial: Any = 0) -> Any:
            if isinstance(value, (bool, np.bool_)) and op is operator.add:
                value = int(value)
            return self.suspend(self.wait(name, FULL, (value, op, exclusive, initial)))

        return combine

    def shuffle(self, name: str) -> Callable[..., Any]:
        return lambda mask, value, lane, width=WARP: self.suspend(self.wait(name, mask, (value, lane, int(width))))

    def shared(self, shape: Any, dtype: Any, alignment: int | None = None) -> np.ndarray:
        frame, block = self.frame(), self.lane.block
        if isinstance(shape, (int, np.integer)) and shape == 0:
            size = block.memory.size // dtype_of(dtype).itemsize * dtype_of(dtype).itemsize
            return as_array(block.memory[:size].view(dtype_of(dtype)))
        key = (frame.f_code, frame.f_lasti) if frame else None
        if key not in block.arrays:
            block.arrays[key] = as_array(np.zeros(shape, dtype_of(dtype)))
        return block.arrays[key]

    def histogram(self, values: Any, bins: int, key: Callable[[Any], Any] | None = None) -> np.ndarray:
        block, place = self.lane.block, self.wait("syncthreads", 0, None)
        if isinstance(values, np.ndarray):
            values = values[self.lane.number :: block.count]
        elif not isinstance(values, tuple):
            values = (values,)
        self.suspend(place)
        counts = block.arrays[place.place, "histogram"] = as_array(np.zeros(bins, np.int32))
        self.suspend(place)
        counts = block.arrays[place.place, "histogram"]
        for bin_of in (key(value) if key else value for value in values):
            if 0 <= bin_of < bins:
                counts[int(bin_of)] += 1
        self.suspend(place)
        return counts

    # ---- atomics

    def one_more_try(self) -> None:
        """Who looks at memory again and again may wait for another thread's writing."""
        self.lane.tries += 1
        if self.lane.tries >= TRIES:
            self.suspend(self.wait("yield", 0, None))

    def atomic(self, name: str) -> Callable[..., Any]:
        combine = ATOMICS[name]

        def atomic(ary: Any, idx: Any, val: Any, scope: str = "device", order: str = "relaxed") -> Any:
            self.one_more_try()
            old = ary[idx]
            ary[idx] = converted(combine(old, converted(val, ary.dtype)), ary.dtype)
            return old

        return atomic

    def cas(self, ary: Any, idx: Any, old: Any, val: Any, scope: str = "device", order: str = "relaxed") -> Any:
        self.one_more_try()
        found = ary[idx]
        if _bits(found) == _bits(converted(old, ary.dtype)):
            ary[idx] = converted(val, ary.dtype)
        return found

    def load(self, ary: Any, idx: Any, scope: str = "device", order: str = "acquire") -> Any:
        self.one_more_try()
        return ary[idx]

    def store(self, ary: Any, idx: Any, val: Any, scope: str = "device", order: str = "release") -> None:
        ary[idx] = converted(val, ary.dtype)
