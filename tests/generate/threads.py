"""Random kernels whose threads work together: all devices must give the same.

A program is right by construction: the generator knows at each statement which threads of the block are there, so that
masks name the lanes that come, shuffles read lanes that take part, and barriers stand where all threads that haven't
ended come. Where control depends on data, threads do nothing together, but for the lanes that a ballot has found.
Shared elements are written between barriers, each by one thread; atomics are those whose order makes no difference, or
on elements that one thread has for itself.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from .cooperation import HELPERS, Cooperation, memory
from .writer import function_of, launch

BLOCKS = (1, 2, 7, 31, 32, 33, 40, 64, 65, 96, 100, 127, 128)  # threads
ROWS = ((16, 4), (32, 3), (8, 8), (33, 2), (1, 40), (4, 4, 4), (32, 2, 2), (5, 3, 7))
VARIABLES = 4
ATOMICS = ("add", "min", "max", "and_", "or_", "xor")
OTHERS = {"f": ("np.float32", 0xFFFF), "c": ("np.uint8", 0xFF), "h": ("np.int16", 0x7FFF)}  # shared arrays that may be
SHUFFLED = ("int32", "int64", "float32", "float64", "int8", "uint16")
DYNAMIC = {"d": 0xFFFF, "d2": 0x7FFF, "d3": 0xFF}  # int32, int16 and uint8 in dynamic shared memory


class Program:
    """A kernel with the launch and the arguments that it takes.

    Attributes
    ----------
    source : str
        A function ``kernel`` that takes `inputs` and `results`.
    numba : bool
        In which dialect it is.
    options : dict
        Of the decorator.
    grid : int
        Blocks.
    block : tuple of int
        Threads of each along x, y and z.
    dynamic : int
        Bytes of dynamic shared memory.
    masks : numpy.ndarray
        uint32 by number of a place in the program and by warp: the lanes that come there.
    lanes : numpy.ndarray
        int32 by number of a place and by thread: a lane that comes there, too.
    """

    source: str
    numba: bool
    options: dict[str, bool]
    grid: int
    block: tuple[int, ...]
    dynamic: int
    masks: np.ndarray
    lanes: np.ndarray

    def inputs(self) -> dict[str, np.ndarray]:
        """What the kernel reads, by name."""
        threads = self.grid * math.prod(self.block)
        x = np.random.default_rng(threads).integers(0, 1 << 16, (threads, VARIABLES))
        return {"x": x, "trips": np.array([0, 1, 2, 3]), "masks": self.masks, "lanes": self.lanes}

    def results(self) -> dict[str, np.ndarray]:
        """New results by name: a row for each thread, a value for each atomic operation, and those of `cooperation`."""
        threads = self.grid * math.prod(self.block)
        out = np.full((threads, VARIABLES + 1), -1, np.int64)
        return {"out": out, "acc": np.zeros((len(ATOMICS), 8), np.int64), **memory(threads)}


class Generator(Cooperation):
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.program = Program()
        self.masks: list[list[int]] = []
        self.lanes: list[list[int]] = []

    def make(self) -> Program:
        """Write the kernel."""
        r, p = self.random, self.program
        p.numba, p.grid = r.random() < 0.4, r.randint(1, 2)
        p.block = (r.choice(BLOCKS),) if r.random() < 0.7 else r.choice(ROWS)
        self.size = math.prod(p.block)
        p.dynamic = 7 * self.size if r.random() < 0.3 else 0
        p.options = r.choice([{}, {}, {}, {}, {"boundscheck": True}, {"debug": True}, {"fma": False}])
        self.has_mine = r.random() < 0.4  # with an array of each thread's own, the CPU device makes no vectors
        self.arrays = {"s": 0xFFFF} | {name: OTHERS[name][1] for name in OTHERS if r.random() < 0.25}
        self.alive = [True] * self.size
        self.start()
        for _ in range(r.choice([r.randint(1, 4), r.randint(5, 12)])):
            if r.random() < 0.1:
                self.early_return()
            else:
                self.statement(1, list(self.alive), block=True, depth=0)
        self.emit(1, "gpu.syncthreads()")
        self.finish(1, "s[t] + w[t]")
        names = ", ".join(["x", "trips", "masks", "lanes", *p.results()])
        text = f"{HELPERS}def kernel({names}):\n" + "\n".join(self.lines) + "\n"
        p.source = text.replace("gpu.", "cuda.") if p.numba else text
        warps = (self.size + 31) // 32
        p.masks = np.array(self.masks or [[0] * warps], np.uint32)
        p.lanes = np.array(self.lanes or [[0] * self.size], np.int32)
        return p

    def start(self) -> None:
        if len(self.program.block) == 1:
            self.emit(1, "t = gpu.threadIdx.x")
            self.emit(1, "i = gpu.grid(1)")
        else:
            self.emit(1, "t = gpu.threadIdx.x + gpu.blockDim.x * (gpu.threadIdx.y + gpu.blockDim.y * gpu.threadIdx.z)")
            self.emit(1, f"i = gpu.blockIdx.x * {self.size} + t")
        self.emit(1, "warp = t // 32")
        self.emit(1, f"s = gpu.shared.array({self.size}, np.int64)")
        self.emit(1, f"w = gpu.shared.array({(self.size + 31) // 32 * 32}, np.int64)")
        self.emit(1, "sums = gpu.shared.array(4, np.int64)")
        for name in OTHERS:
            if name in self.arrays:
                self.emit(1, f"{name} = gpu.shared.array({self.size}, {OTHERS[name][0]})")
                self.emit(1, f"{name}[{self.size} - 1 - t] = t")
        if self.program.dynamic:
            self.emit(1, "d = gpu.shared.array(0, np.int32)")
            self.emit(1, f"d2 = gpu.shared.array(0, np.uint8)[{4 * self.size} : {6 * self.size}].view(np.int16)")
            self.emit(1, f"d3 = gpu.shared.array(0, np.uint8)[{6 * self.size} :]")
            for name in DYNAMIC:
                self.emit(1, f"{name}[t] = t")
        for k in range(VARIABLES):
            self.emit(1, f"v{k} = x[i, {k}]")
        if self.has_mine:
            self.emit(1, "mine = gpu.local.array(4, np.int64)")
            self.emit(1, "for j in range(4):")
            self.emit(2, "mine[j] = v0 + j")
        self.emit(1, "s[t] = v1")
        self.emit(1, "w[t] = v2")
        self.emit(1, "gpu.syncthreads()")

    def finish(self, indent: int, last: str) -> None:
        for k in range(VARIABLES):
            self.emit(indent, f"out[i, {k}] = v{k}")
        self.emit(indent, f"out[i, {VARIABLES}] = {last}")

    # ---- text

    def variable(self) -> str:
        return f"v{self.random.randrange(VARIABLES)}"

    def assign(self, indent: int, text: str) -> None:
        """Into some variable: small numbers, that sums can't overflow and float32 can hold."""
        self.emit(indent, f"{self.variable()} = np.int64({text}) & 0xFFFF")

    def expression(self, depth: int = 2) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            own = ["mine[t & 3]", f"mine[{self.variable()} & 3]"] if self.has_mine else ["warp", "gpu.laneid"]
            far = f"x[(i * {r.randint(1, 9)} + {r.randint(0, 9)}) % len(x), {r.randrange(VARIABLES)}]"
            return r.choice([self.variable(), self.variable(), "t", far, *own])
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        return r.choice([f"({a} {op} {b})" for op in "+-^&|"] + [f"({a} * {r.randint(2, 9)})", f"({a} >> 2)"])

    def condition(self) -> str:
        return f"{self.expression(1)} & 0xFFFF {self.random.choice('<>')} {self.expression(1)} & 0xFFFF"

    def place(self) -> str:
        """An expression for an element of `s`."""
        n = self.size
        return self.random.choice([f"({self.expression(1)} & 0xFFFF) % {n}", f"{n - 1} - t", f"(t + 1) % {n}", "t"])

    # ---- who is there

    def here(self, there: list[bool]) -> str:
        """The mask of a place, as the kernel writes it."""
        rows = [sum(1 << k for k, on in enumerate(there[w : w + 32]) if on) for w in range(0, self.size, 32)]
        self.masks.append(rows)
        if all(m == 0xFFFFFFFF for m in rows) and self.random.random() < 0.7:
            self.lanes.append([0] * self.size)
            return "0xFFFFFFFF"
        self.lanes.append([0] * self.size)
        return f"masks[{len(self.masks) - 1}, warp]"

    def other_lanes(self, there: list[bool]) -> str:
        """A lane that is there, too, for each thread."""
        row = []
        for t in range(self.size):
            first = t // 32 * 32
            row.append(self.random.choice([k for k, on in enumerate(there[first : first + 32]) if on] or [0]))
        self.masks.append([0] * ((self.size + 31) // 32))
        self.lanes.append(row)
        return f"lanes[{len(self.lanes) - 1}, t]"

    def known_condition(self) -> tuple[str, list[bool]]:
        """A condition that depends on the thread's number alone, and for whom it holds."""
        n = self.random.randint(1, self.size)
        every = self.random.randint(2, 5)
        some = [f"t < {n}", f"t >= {n}", f"t % {every} == 1", "t // 32 % 2 == 0", f"t & {n} != 0", "t == 0"]
        some += ["t % 32 == 0", "gpu.laneid == 0", f"t & 31 < {n % 32}", f"warp == {n // 32}", "t % 32 >= t // 32"]
        some += [f"gpu.laneid < {n % 33} and warp > 0", "t & 31 != warp", f"t * 2 < {n}", f"t + warp < {n}"]
        text = self.random.choice(some)
        names = [{"t": t, "warp": t // 32, "gpu": SimpleNamespace(laneid=t % 32)} for t in range(self.size)]
        return text, [bool(eval(text, scope)) for scope in names]

    # ---- statements

    def statement(self, indent: int, there: list[bool], block: bool, depth: int) -> None:
        """One statement for the threads that are there: all that haven't ended, if `block`."""
        r = self.random
        options = [self.compute, self.touch, self.shuffle, self.vote, self.exchange, self.ballot_branch, self.data_loop]
        weights = [2, 2, 3, 3, 2, 1, 1]
        options += [self.small_atomic, self.own_row, self.fence, self.random_number, self.one_at_a_time]
        weights += [2, 1, 1, 1, 0.5]
        if depth < 2:
            options += [self.known_branch, self.warp_loop, self.while_any]
            weights += [2, 1, 1]
        if block:
            options += [self.write_shared, self.block_sum, self.block_vote, self.two_barriers, self.leaders, self.tree]
            weights += [3, 2, 2, 1, 2, 1]
            options += [self.running_sums, self.tickets, self.in_a_function]
            weights += [1, 1, 1]
            if self.program.dynamic:
                options.append(self.write_dynamic)
                weights.append(2)
            if all(self.alive):
                options += [self.together, self.whole_grid]
                weights += [3, depth == 0]
            if depth < 2:
                options.append(self.block_loop)
                weights.append(3)
        r.choices(options, weights)[0](indent, there, depth)

    def members(self, indent: int, there: list[bool], block: bool, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, there, block, depth)

    def compute(self, indent: int, there: list[bool], depth: int) -> None:
        self.assign(indent, self.expression(3))

    def touch(self, indent: int, there: list[bool], depth: int) -> None:
        """Memory that needs no others: the own array, an atomic operation, a shared element that nobody writes now."""
        r = self.random
        which = r.randrange(len(ATOMICS))
        value = f"({self.expression()}) & 0xFFFF"
        choice = r.random()
        if choice < 0.1:
            self.emit(indent, f"if {self.condition()}:")
            self.assign(indent + 1, self.expression(1))
        elif choice < 0.4 and self.has_mine:
            self.emit(indent, f"mine[({self.expression(1)}) & 3] = {value}")
        elif choice < 0.7:
            self.emit(indent, f"gpu.atomic.{ATOMICS[which]}(acc, ({which}, ({self.expression(1)}) & 7), {value})")
        elif choice < 0.8:
            v, lost = self.variable(), r.randint(2, 4)
            self.emit(indent, f"while {v} > {r.randint(8, 99)}:")
            self.emit(indent + 1, f"{v} //= {lost}")
            if r.random() < 0.5:
                self.emit(indent + 1, f"{v} ^= x[{v} % len(x), 0] & {2 ** r.randint(0, 2) - 1}")
                self.emit(indent + 1, f"if {self.condition()}:")
                self.emit(indent + 2, r.choice(["break", f"{v} //= 2"]))
        else:
            self.assign(indent, f"{r.choice(list(self.arrays))}[{self.place()}]")

    def shuffle(self, indent: int, there: list[bool], depth: int) -> None:
        r = self.random
        dtype, value = r.choice(SHUFFLED), f"({self.expression(1)}) & 0x7F"
        mask, step = self.here(there), r.choice([1, 2, 5, 16])
        moved = {
            "up": lambda k: k - step if k >= step else k,
            "down": lambda k: k + step if k + step < 32 else k,
            "xor": lambda k: k ^ step,
        }
        name = r.choice(list(moved))
        sources = [t // 32 * 32 + moved[name](t % 32) for t in range(self.size)]
        ok = all(k < self.size and there[k] for t, k in enumerate(sources) if there[t])
        which = f"_{name}_sync({mask}, np.{dtype}({value}), {step})"
        if not ok or r.random() < 0.4:
            which = f"_sync({mask}, np.{dtype}({value}), {self.other_lanes(there)})"
        self.assign(indent, f"gpu.shfl{which}")

    def vote(self, indent: int, there: list[bool], depth: int) -> None:
        mask, few = self.here(there), f"({self.expression(1)}) & 3"
        options = [f"gpu.{name}_sync({mask}, {self.condition()})" for name in ("all", "any", "eq", "ballot")]
        options += [f"gpu.match_any_sync({mask}, {few})", f"gpu.match_all_sync({mask}, {few})[0]"]
        if not self.program.numba:
            names = self.random.sample(["add", "min", "max", "and", "or", "xor"], 3)
            options += [f"gpu.reduce_{name}_sync({mask}, np.uint32({self.expression(1)} & 0xFFFF))" for name in names]
        self.assign(indent, self.random.choice(options))

    def exchange(self, indent: int, there: list[bool], depth: int) -> None:
        """Through shared memory, among the lanes of a warp."""
        mask, lane = self.here(there), self.other_lanes(there)
        self.emit(indent, f"gpu.syncwarp({mask})")
        self.emit(indent, f"w[t] = {self.expression()} & 0xFFFF")
        self.emit(indent, f"gpu.syncwarp({mask})")
        self.assign(indent, f"w[warp * 32 + {lane}]")
        self.emit(indent, f"gpu.syncwarp({mask})")  # some lanes may write next while others still read

    def ballot_branch(self, indent: int, there: list[bool], depth: int) -> None:
        """Lanes that data chooses work together."""
        p, b = self.fresh("p"), self.fresh("b")
        self.emit(indent, f"{p} = {self.condition()}")
        self.emit(indent, f"{b} = gpu.ballot_sync({self.here(there)}, {p})")
        self.emit(indent, f"if {p}:")
        self.assign(indent + 1, f"gpu.shfl_sync({b}, {self.variable()}, gpu.ffs({b}) - 1)")
        self.emit(indent + 1, f"if gpu.any_sync({b}, {self.condition()}):")
        self.assign(indent + 2, f"gpu.popc(gpu.ballot_sync({b}, {self.condition()}))")
        if self.random.random() < 0.5:
            self.emit(indent, "else:")
            self.compute(indent + 1, there, depth)

    def data_loop(self, indent: int, there: list[bool], depth: int) -> None:
        """Each thread for itself."""
        name = self.fresh("j")
        self.emit(indent, f"for {name} in range({self.variable()} % 5):")
        self.touch(indent + 1, there, depth)
        self.emit(indent + 1, f"if {self.condition()}:")
        self.emit(indent + 2, self.random.choice(["break", "continue"]))
        self.compute(indent + 1, there, depth)

    def known_branch(self, indent: int, there: list[bool], depth: int) -> None:
        text, holds = self.known_condition()
        self.emit(indent, f"if {text}:")
        self.members(indent + 1, [a and b for a, b in zip(there, holds, strict=True)], False, depth + 1)
        if self.random.random() < 0.6:
            self.emit(indent, "else:")
            self.members(indent + 1, [a and not b for a, b in zip(there, holds, strict=True)], False, depth + 1)

    def warp_loop(self, indent: int, there: list[bool], depth: int) -> None:
        """Warps go round differently often."""
        self.emit(indent, f"for {self.fresh('j')} in range(warp + {self.random.randint(0, 1)}):")
        self.members(indent + 1, there, False, depth + 1)

    def while_any(self, indent: int, there: list[bool], depth: int) -> None:
        """Until no lane of the warp has work."""
        n = self.fresh("n")
        self.emit(indent, f"{n} = {self.variable()} & 3")
        self.emit(indent, f"while gpu.any_sync({self.here(there)}, {n} > 0):")
        self.emit(indent + 1, f"if {n} > 0:")
        self.touch(indent + 2, there, depth)
        self.emit(indent + 2, f"{n} -= 1")
        self.members(indent + 1, there, False, depth + 1)

    def block_loop(self, indent: int, there: list[bool], depth: int) -> None:
        r, name = self.random, self.fresh("j")
        self.emit(indent, f"for {name} in range({r.choice(['2', '3', f'trips[{r.randint(0, 3)}]'])}):")
        self.members(indent + 1, there, True, depth + 1)
        if r.random() < 0.4:
            vote = f"gpu.syncthreads_{r.choice(['or', 'and'])}({self.condition()})"
            self.emit(indent + 1, f"if {r.choice([vote, f'{name} == trips[1]'])}:")
            self.emit(indent + 2, r.choice(["break", "continue"]))
            self.members(indent + 1, there, True, depth + 1)

    def write_shared(self, indent: int, there: list[bool], depth: int) -> None:
        n = self.size
        place = self.random.choice(["t", f"{n - 1} - t", f"(t + {self.random.randint(1, n)}) % {n}"])
        self.emit(indent, "gpu.syncthreads()")
        name = self.random.choice(list(self.arrays))
        self.emit(indent, f"{name}[{place}] = ({self.expression()}) & {self.arrays[name]}")
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, f"{name}[{self.place()}]")

    def block_sum(self, indent: int, there: list[bool], depth: int) -> None:
        name, cell = self.random.choice(["add", "max", "xor", "or_"]), self.random.randrange(4)
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"sums[{cell}] = 0")
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"if {self.condition()}:")
        self.emit(indent + 1, f"gpu.atomic.{name}(sums, {cell}, {self.expression()} & 0xFFFF)")
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, f"sums[{cell}]")

    def block_vote(self, indent: int, there: list[bool], depth: int) -> None:
        self.assign(indent, f"gpu.syncthreads_{self.random.choice(['count', 'and', 'or'])}({self.condition()})")

    def two_barriers(self, indent: int, there: list[bool], depth: int) -> None:
        """Warps meet at barriers of different lines."""
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"s[t] = {self.variable()}")
        self.emit(indent, "if warp % 2 == 0:")
        self.emit(indent + 1, "gpu.syncthreads()")
        self.assign(indent + 1, f"s[{self.place()}]")
        self.emit(indent, "else:")
        self.compute(indent + 1, there, depth)
        self.emit(indent + 1, "gpu.syncthreads()")

    def leaders(self, indent: int, there: list[bool], depth: int) -> None:
        """Some threads of each warp write, and all read."""
        text, holds = self.known_condition()
        place = self.random.choice(["t", "t", f"{self.size - 1} - t"])
        if all(h is (t % 32 == 0) for t, h in enumerate(holds)):
            place = self.random.choice(["warp", "t"])
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"if {text}:")
        self.emit(indent + 1, f"s[{place}] = {self.expression(1)} & 0xFFFF")
        self.emit(indent, "gpu.syncthreads()")
        read = self.random.choice([f"s[{place}] if {text} else -1", "s[warp]", f"s[{self.place()}]"])
        self.assign(indent, read)

    def tree(self, indent: int, there: list[bool], depth: int) -> None:
        """A reduction by halves, with a barrier for each; the elements of threads that have ended count, too."""
        step, half = self.fresh("k"), 1 << max(self.size - 1, 1).bit_length() - 1
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"s[t] = {self.expression(1)} & 0xFFF")
        self.emit(indent, f"{step} = {half}")
        self.emit(indent, f"while {step} > 0:")
        self.emit(indent + 1, "gpu.syncthreads()")
        self.emit(indent + 1, f"if t < {step} and t + {step} < {self.size}:")
        self.emit(indent + 2, f"s[t] {self.random.choice(['+=', '^=', '-='])} s[t + {step}]")
        self.emit(indent + 1, self.random.choice([f"{step} //= 2", f"{step} >>= 1"]))
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, self.random.choice(["s[0]", "s[t]"]))

    def running_sums(self, indent: int, there: list[bool], depth: int) -> None:
        """A scan by doubling: read, wait, write, wait."""
        step, got = self.fresh("k"), self.fresh("g")
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"s[t] = {self.variable()} & 0xFF")
        self.emit(indent, f"{step} = 1")
        self.emit(indent, f"while {step} < {self.size}:")
        self.emit(indent + 1, "gpu.syncthreads()")
        self.emit(indent + 1, f"{got} = s[t - {step}] if t >= {step} else 0")
        self.emit(indent + 1, "gpu.syncthreads()")
        self.emit(indent + 1, f"s[t] += {got}")
        self.emit(indent + 1, f"{step} *= 2")
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, "s[t]")

    def tickets(self, indent: int, there: list[bool], depth: int) -> None:
        """Old values of atomic operations, each of which one thread gets: their sum doesn't depend on the order."""
        cell, old, value = self.random.randrange(4), self.fresh("n"), f"{self.expression(1)} & 0xFF"
        taken = self.random.choice([f"gpu.atomic.add(sums, {cell}, 1)", f"gpu.atomic.exch(s, t, {value})"])
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"sums[{cell}] = 0")
        self.emit(indent, f"sums[{(cell + 1) % 4}] = 0")
        self.emit(indent, "gpu.syncthreads()")
        self.emit(indent, f"if {self.condition()}:")
        self.emit(indent + 1, f"{old} = {taken}")
        self.emit(indent + 1, f"gpu.atomic.add(sums, {(cell + 1) % 4}, {old} * {old} & 0xFFFF)")
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, f"sums[{(cell + 1) % 4}]")

    def write_dynamic(self, indent: int, there: list[bool], depth: int) -> None:
        n = self.size
        place = self.random.choice(["t", f"{n - 1} - t", f"(t + {self.random.randint(1, n)}) % {n}"])
        self.emit(indent, "gpu.syncthreads()")
        name = self.random.choice(list(DYNAMIC))
        self.emit(indent, f"{name}[{place}] = ({self.expression()}) & {DYNAMIC[name]}")
        self.emit(indent, "gpu.syncthreads()")
        self.assign(indent, f"{name}[{self.place()}]")

    def together(self, indent: int, there: list[bool], depth: int) -> None:
        """What needs all threads of the block."""
        r, value = self.random, f"({self.expression(1)}) & 0xFF"
        options = [f"gpu.{what}.reduce({value})" for what in ("block", "warp")]
        options += [f"gpu.{what}.scan({value}, max)" for what in ("block", "warp")]
        options += [f"gpu.block.scan({value}, exclusive=True, initial={r.randint(0, 9)})", f"gpu.warp.scan({value})"]
        options += [f"gpu.block.reduce({value}, lambda p, q: p ^ q)", *self.libraries(value)]
        if self.size % 32 == 0 and r.random() < 0.6:
            size, group = r.choice([2, 4, 8, 16, 32]), self.fresh("g")
            self.emit(indent, f"{group} = gpu.cg.tiled_partition(gpu.cg.this_thread_block(), {size})")
            options = [f"{group}.shfl({value}, {r.randrange(size)})", f"{group}.shfl_xor({value}, {size // 2})"]
            options += [f"{group}.reduce({value})", f"{group}.inclusive_scan({value})", f"{group}.thread_rank()"]
            options += [f"{group}.ballot({self.condition()})", f"{group}.exclusive_scan({value}, max, 0)"]
            options += [f"{group}.shfl_up({value}, 1)", f"{group}.any({self.condition()})"]
        self.assign(indent, r.choice(options))

    def early_return(self) -> None:
        text, holds = self.known_condition()
        self.emit(1, f"if {text}:")
        self.finish(2, "-2")
        self.emit(2, "return")
        self.alive = [a and not b for a, b in zip(self.alive, holds, strict=True)]


def generate(seed: int) -> Program:
    """The program of a seed."""
    return Generator(seed).make()


def show(seed: int) -> str:
    """Its source."""
    return generate(seed).source


def compare(seed: int, devices: tuple[str, ...] | None = None) -> str | None:
    """Run a program on each device; None if all agree with the first, else what differs.

    By default on `emulated` and `cpu`, and every eighth on `python`, which is slow.
    """
    import gpu
    from gpu import cuda

    devices = devices or ("emulated", "cpu", "python")[: 3 if seed % 8 == 0 else 2]
    program = generate(seed)
    jit = (cuda.jit if program.numba else gpu.jit)(**program.options)
    kernel = jit(function_of(program.source, seed))
    config = (program.grid, program.block, 0, program.dynamic)
    want: dict[str, np.ndarray] = {}
    for device in devices:
        results = program.results()
        try:
            launch(device, kernel, config, [*program.inputs().values(), *results.values()])
        except Exception as e:
            return f"seed {seed}: {device}: {type(e).__name__}: {e}\n{program.source}"
        want = want or results
        for name, a in want.items():
            b = results[name]
            if not np.array_equal(a, b):
                at = tuple(int(k) for k in np.argwhere(a != b)[0])
                values = f"{b[at]}, not {a[at]}"
                return (
                    f"seed {seed}: {name}{list(at)} on {device} is {values}; <<<{program.grid}, {program.block}>>>\n"
                    f"{program.source}"
                )
    return None
