"""Signals while native code runs: Ctrl-C ends it wherever it is, handlers that are content let it go on, forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SOON = 1.0  # seconds; tests share their cores with others, and alone it is less than 0.1

PRELUDE = """
import math, os, signal, threading, time
import numpy as np
import gpu
from gpu import _core

@gpu.jit
def rounds(out, n):
    s = 0
    for i in range(n):
        s = s * 3 + i
    out[gpu.grid(1) % out.size] = s

@gpu.jit
def nested(out, n):
    s = 0
    for i in range(n):
        for j in range(n):
            s = s * 3 + j
    out[0] = s

@gpu.jit
def endless(out):
    k = 0
    while True:
        k += 1

@gpu.jit
def waits(out):
    while out[0] == 0:
        pass

@gpu.jit
def tiny(out):
    i = gpu.grid(1)
    out[i % 1024] = i

@gpu.jit
def library(out, n):
    s = 0.5
    for i in range(n):
        s = math.sin(math.pow(s, 0.3) + i)
    out[gpu.grid(1) % out.size] = s

@gpu.jit(device=True)
def collatz(n):
    k = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k

@gpu.jit(device=True)
def counted(n):
    s = 0
    for i in range(n):
        s = s * 3 + i
    return s

gpu.set_device("cpu")
out = np.zeros(64, "i8")
x = np.zeros(64)
FOREVER = 1 << 45
"""


def python(script: str, timeout: float = 60) -> str:
    """Standard output of a script that must end well."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ENDLESS = {
    "for, one thread": "rounds[1, 1](out, FOREVER)",
    "for, many threads": "rounds[4096, 256](out, FOREVER)",
    "nested for": "nested[1, 1](out, FOREVER)",
    "while True": "endless[1, 1](out)",
    "while True, many threads": "endless[4096, 256](out)",
    "a loop that waits": "waits[1, 32](np.zeros(1, 'i8'))",
    "a long grid": "tiny[2**31 - 1, 1024](np.zeros(1024, 'i8'))",
    "in libm": "library[8, 32](x, FOREVER)",
    "a device function": "collatz(0)",
    "a device function with a for": "counted(FOREVER)",
}


BUSY = ("for, one thread", "a device function")  # with another Python thread that keeps the GIL and a core busy


@pytest.mark.parametrize(
    ("call", "busy"), [(call, False) for call in ENDLESS.values()] + [(ENDLESS[name], True) for name in BUSY]
)
def test_ctrl_c(call: str, busy: bool) -> None:
    """In code that was never interrupted before and in code believed to be short; the next launch is right."""
    script = PRELUDE + textwrap.dedent(f"""
        rounds[1, 1](out, 10); collatz(7); counted(7)
        {"threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()" if busy else ""}
        for attempt in range(2):
            print("started", flush=True)
            try:
                {call}
                print("ended")
            except KeyboardInterrupt:
                print(time.monotonic(), flush=True)
        out[:] = 0
        rounds[64, 1](out, 5)
        assert (out == 58).all(), out
        assert collatz(7) == 16 and counted(5) == 58
        print("right", flush=True)
        os._exit(0)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for _ in range(2):
            assert process.stdout.readline() == "started\n"
            time.sleep(0.2)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            took = float(process.stdout.readline()) - sent
            if os.environ.get("GPU_SHOW_LATENCY"):
                print(f"{call}: {1e3 * took:.0f} ms", file=sys.stderr)
            assert took < SOON
        assert process.stdout.readline() == "right\n"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("grid", [1, 64])
def test_a_content_handler_lets_the_kernel_go_on(grid: int) -> None:
    python(f"""
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
        expected = 0
        rounds[1, 1](out, 1000)
        n = 1000
        while True:  # long enough for the handler to run many times in it
            n *= 2
            start = time.monotonic()
            rounds[{grid}, 1](out, n)
            if time.monotonic() - start > 0.2:
                break
        right = out.copy()
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        for _ in range(3):
            out[:] = 0
            rounds[{grid}, 1](out, n)
            assert (out == right).all()
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(seen) > 3, seen
    """)


def test_a_handler_that_raises_ends_the_kernel_with_its_exception() -> None:
    python("""
        class Timeout(Exception):
            pass
        def late(*_):
            raise Timeout("too late")
        signal.signal(signal.SIGALRM, late)
        for call in (lambda: rounds[1, 1](out, FOREVER), lambda: endless[99, 64](out), lambda: collatz(0)):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                call()
            except Timeout as error:
                assert str(error) == "too late"
            else:
                raise AssertionError
    """)


def test_a_handler_may_launch_and_call() -> None:
    python("""
        def handler(*_):
            inside = np.zeros(64, "i8")
            rounds[64, 1](inside, 5)
            assert (inside == 58).all() and collatz(7) == 16
            count.append(1)
            if len(count) >= 3:
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise RuntimeError("enough")
        for call in (lambda: rounds[1, 1](out, FOREVER), lambda: endless[99, 64](out), lambda: collatz(0)):
            count = []
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            try:
                call()
            except RuntimeError:
                pass
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert len(count) >= 3  # the timer may ring once more before it is stopped
    """)


def test_an_exception_in_a_thread_ends_the_others() -> None:
    python("""
        @gpu.jit
        def fails(out, flag):
            if gpu.blockIdx.x == 0:
                while flag[0] == 0:
                    pass
            else:
                raise ValueError("no")
        _core.set_num_threads(2)
        try:
            fails[2, 1](out, np.zeros(1, "i4"))
        except ValueError as error:
            assert "no" in str(error) and error.block == (1, 0, 0)
        else:
            raise AssertionError
    """)


def test_launches_of_other_threads_go_on() -> None:
    python("""
        @gpu.jit
        def released(flag, out):
            while flag[0] == 0:
                pass
            out[0] = 7
        flag, result = np.zeros(1, "i4"), np.zeros(1, "i4")
        other = threading.Thread(target=lambda: released[1, 1](flag, result))
        other.start()
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                endless[8, 8](out)
            except KeyboardInterrupt:
                pass
        assert other.is_alive()
        flag[0] = 1
        other.join(10)
        assert result[0] == 7
    """)


FORKED = """
    def child():
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        assert _core.num_threads() == 3
        for call in (lambda: endless[8, 8](out), lambda: rounds[1, 1](out, FOREVER), lambda: collatz(0)):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                call()
            except KeyboardInterrupt:
                pass
            else:
                os._exit(1)
        rounds[64, 1](out, 5)
        os._exit(0 if (out == 58).all() else 2)

    def parent():
        pid = os.fork()
        if pid == 0:
            try:
                child()
            finally:
                os._exit(3)
        assert os.waitpid(pid, 0)[1] == 0
        print("well", flush=True)

    _core.set_num_threads(3)
    rounds[64, 64](out, 5)
    collatz(7)
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("where", ["main", "thread", "launching"])
def test_a_forked_child_is_interruptible(where: str) -> None:
    """Forked by the main thread, by another one (which becomes the child's main thread), and while a launch runs."""
    run = {
        "main": "parent()",
        "thread": "t = threading.Thread(target=parent); t.start(); t.join()",
        "launching": """
            flag = np.zeros(4, "i8")
            t = threading.Thread(target=lambda: waits[4, 4](flag)); t.start()
            time.sleep(0.1)
            parent()
            flag[:] = 1
            t.join()
        """,
    }[where]
    assert python(textwrap.dedent(FORKED) + textwrap.dedent(run)) == "well\n"


def test_a_handler_may_fork() -> None:
    """The child returns from the handler into the middle of a launch, without the pool's threads: it mustn't hang."""
    done = python("""
        parent = os.getpid()
        def handler(*_):
            if not children:
                children.append(os.fork())
        signal.signal(signal.SIGALRM, handler)
        for grid in (1, 64):
            children = []
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            start = time.monotonic()
            try:
                rounds[grid, 1](out, 1 << 28 if grid == 1 else 1 << 24)
            except KeyboardInterrupt:
                assert os.getpid() != parent
            if os.getpid() != parent:
                rounds[64, 1](out, 5)
                os._exit(0 if (out == 58).all() else 1)
            while not children:
                time.sleep(0.01)
            assert os.waitpid(children[0], 0)[1] == 0
        print("well")
    """)
    assert done == "well\n"


def test_sigurg_of_others_still_arrives() -> None:
    python("""
        seen = []
        for _ in range(2):
            signal.signal(signal.SIGURG, lambda *_: seen.append(1))
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                endless[8, 8](out)
            except KeyboardInterrupt:
                pass
            assert not seen
            signal.raise_signal(signal.SIGURG)
            assert seen == [1]
            seen.clear()
    """)
