"""Libraries, grids and memory that threads share in smaller pieces, for `threads`."""

from __future__ import annotations

import numpy as np

from .writer import Writer

HELPERS = """\
def passed_on(s, t, value, k):
    gpu.syncthreads()
    s[t] = value
    gpu.syncthreads()
    return s[k]


def locked(lock, total, value):
    while gpu.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    gpu.threadfence()
    total[0] += value
    gpu.threadfence()
    gpu.atomic.exch(lock, 0, 0)


"""
# Arrays of small elements: the operation on each, whose order makes no difference, and a value of it.
SMALL = {
    "bytes_": (np.uint8, "add", "np.uint8({} & 0xFF)"),
    "flips": (np.uint8, "xor", "np.uint8({} & 0xFF)"),
    "shorts": (np.int16, "max", "np.int16({} & 0x7FFF)"),
    "signed": (np.int8, "min", "np.int8(-({} & 0x7F))"),
    "halves": (np.float16, "add", "np.float16(1)"),
}
RANDOM = {
    "gpu.random.xoroshiro128p_next(states, i)": "np.int64(({}) >> np.uint64(40))",
    "gpu.random.xoroshiro128p_uniform_float64(states, i)": "({}) * 60000",
    "gpu.random.xoroshiro128p_uniform_float32(states, i)": "({}) * 60000",
    "gpu.random.philox_uniform_float32(7, i, t)": "({})[3] * 60000",
    "gpu.random.philox_uniform_float64(i, 3, t)": "({})[0] * 60000",
    "gpu.random.philox4x32(i, t, 5)": "({})[2] >> np.uint32(8)",
}
TOTALS = 32


def memory(threads: int) -> dict[str, np.ndarray]:
    """Fresh arguments by name, which are results, too: for all threads, or for each."""
    given = {name: np.zeros(32, dtype) for name, (dtype, _, _) in SMALL.items()}
    given |= {"scratch": np.zeros(threads, np.int64), "kept": np.arange(4 * threads).reshape(threads, 4)}
    given |= {"lock": np.zeros(1, np.int32), "total": np.zeros(1, np.int64), "totals": np.zeros(TOTALS, np.int64)}
    return given | {"states": np.random.default_rng(3).integers(1, 2**63, (threads, 2)).astype(np.uint64)}


class Cooperation(Writer):
    """Statements that the generator of threads adds to its own.

    It has ``program``, ``size``, the threads of a block, ``expression``, ``condition``, ``place``, ``variable`` and
    ``assign``.
    """

    def small_atomic(self, indent: int, there: list[bool], depth: int) -> None:
        """On an element of 1 or 2 bytes, while other threads change its neighbours."""
        name = self.random.choice(list(SMALL))
        _, operation, value = SMALL[name]
        place, text = f"({self.expression(1)}) & 31", value.format(f"({self.expression(1)})")
        self.emit(indent, f"gpu.atomic.{operation}({name}, {place}, {text})")

    def own_row(self, indent: int, there: list[bool], depth: int) -> None:
        """Several elements at once, at any alignment, in memory of the thread's own."""
        r, v = self.random, self.variable
        width = r.choice([2, 2, 4])
        at = 0 if width == 4 else r.randint(0, 2)
        values = ", ".join(v() for _ in range(width))
        self.emit(indent, f"gpu.store(kept, (i, {at}), ({values}){r.choice(['', ', cache=' + repr('cs')])})")
        if r.random() < 0.4:
            old = f"gpu.atomic.{r.choice(['add', 'exch', 'max'])}(kept, (i, {r.randint(0, 3)}), {v()})"
            self.assign(indent, old)
        if r.random() < 0.4:
            self.assign(indent, f"gpu.atomic.cas(kept, (i, {at}), {v()}, {v()})")
        self.assign(indent, f"gpu.load(kept, (i, {at}), width={width})[{r.randrange(width)}]")
        other = f"({self.expression(1)} & 0xFFFF) % len(x)"
        self.assign(
            indent, f"gpu.load(x, ({other}, {r.randint(0, 2)}), cache={r.choice(['ca', 'cg', 'cs'])!r}, width=2)[1]"
        )

    def fence(self, indent: int, there: list[bool], depth: int) -> None:
        self.emit(indent, f"gpu.threadfence{self.random.choice(['', '_block', '_system'])}()")

    def random_number(self, indent: int, there: list[bool], depth: int) -> None:
        call = self.random.choice(list(RANDOM))
        self.assign(indent, RANDOM[call].format(call))

    def one_at_a_time(self, indent: int, there: list[bool], depth: int) -> None:
        """A lock, which at most one thread of each warp waits for."""
        self.emit(indent, f"if t % 32 == {self.random.choice([0, 0, 5])}:")
        self.emit(indent + 1, f"locked(lock, total, {self.expression(1)} & 0xFF)")

    def in_a_function(self, indent: int, there: list[bool], depth: int) -> None:
        """Barriers in a function that is called in several places."""
        self.assign(indent, f"passed_on(s, t, {self.variable()}, {self.place()})")

    def libraries(self, value: str) -> list[str]:
        """Calls that all threads of the block come to."""
        r, n = self.random, self.random.randint(2, 9)
        key = r.choice(["", ", key=lambda v: v >> 1"])
        options = [f"gpu.block.histogram({value}, {n}{key})[{r.randrange(n)}]"]
        options += [f"gpu.block.histogram(({value}, {self.variable()}), {n})[{r.randrange(n)}]"]
        for what in ("block", "warp"):
            options += [
                f"gpu.{what}.reduce({value}, lambda p, q: {r.choice('pq')})",
                f"gpu.{what}.reduce({value}, min)",
            ]
            options += [f"gpu.{what}.scan({value}, lambda p, q: q if q > 99 else p)"]
            options += [f"gpu.{what}.scan({value}, max, exclusive=True, initial={n})"]
            options += [f"gpu.{what}.scan(np.float32({value}))", f"gpu.{what}.reduce(np.int16({value}), max)"]
            options += [f"gpu.{what}.reduce({self.condition()})"]
            # of small integers the Numba dialect makes large ones, which the device `python` doesn't know
            options += [f"gpu.{what}.reduce(np.uint8({value}))"] * (not self.program.numba)
        return options

    def whole_grid(self, indent: int, there: list[bool], depth: int) -> None:
        """All threads of all blocks wait for each other."""
        r, grid = self.random, self.fresh("g")
        self.emit(indent, f"{grid} = gpu.cg.this_grid()")
        self.emit(indent, f"{grid}.sync()")
        self.emit(indent, f"scratch[i] = {self.variable()}")
        cell = self.counter % TOTALS  # a new one for most
        self.emit(indent, f"gpu.atomic.add(totals, {cell}, {self.expression(1)} & 0xFF)")
        self.emit(indent, f"{grid}.sync()")
        far = f"(i * {r.randint(1, 9)} + {r.randint(0, 99)}) % len(scratch)"
        self.assign(indent, r.choice([f"scratch[{far}]", f"totals[{cell}]", "scratch[len(scratch) - 1 - i]"]))
        self.emit(indent, f"{grid}.sync()")
