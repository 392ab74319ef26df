#!/usr/bin/env python3
"""On a machine with a GPU: every golden kernel on ``cuda`` and on ``emulated``, compared to the bit; then the runtime.

    PYTHONPATH=build/lib python tests/gpu/compare.py --seconds 300

Takes as long as it is told for generated kernels, and about a minute for the rest. Ends with 1 if anything differs.
Functions that PTX only defines approximately (``sin.approx`` and its kind) may differ in the last bits: for the kernels
of `APPROXIMATE` that is counted and not a fault.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import golden
import numpy as np

APPROXIMATE = {"maths", "functions"}
ULPS = 4


def run_golden(device: str, path: Path, name: str) -> list[Any]:
    """The arguments of a kernel after a run with fresh ones."""
    import gpu

    module = golden.load(path)
    grid, block, args = module.ARGS[name]()
    with gpu.device(device):
        getattr(module, name)[grid, block](*args)
        gpu.synchronize()
    return args


def ulps(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> int:
    """The largest distance of two float arrays, in units of the last place; 0 where both are NaN or bits are equal."""
    kind = {2: np.int16, 4: np.int32, 8: np.int64}.get(a.dtype.itemsize)
    if kind is None or a.dtype.kind not in "fV":
        return 0 if a.tobytes() == b.tobytes() else 1 << 30
    x, y = a.view(kind).astype(object), b.view(kind).astype(object)
    low = -(1 << (8 * a.dtype.itemsize - 1))
    order = np.vectorize(lambda v: v if v >= 0 else low - v, otypes=[object])
    same = np.isnan(a.astype(float)) & np.isnan(b.astype(float))
    distance = np.where(same, 0, abs(order(x) - order(y))) if a.size else np.zeros(1)
    return int(max(distance.ravel()))


def compare_golden() -> tuple[int, int]:
    """Run all; how many there are and how many differ."""
    n = bad = 0
    for path in sorted(golden.FOLDER.glob("*.py")):
        for name in golden.load(path).ARGS:
            n += 1
            allowed = ULPS if path.stem in APPROXIMATE else 0
            try:
                pairs = zip(run_golden("cuda", path, name), run_golden("emulated", path, name), strict=True)
                worst = max((ulps(a, b) for a, b in pairs if isinstance(a, np.ndarray)), default=0)
            except Exception:
                traceback.print_exc()
                worst = 1 << 30
            if worst > allowed:
                bad += 1
                print(f"DIFFERS {path.stem}.{name}: {worst} units in the last place")
            elif worst:
                print(f"{path.stem}.{name}: {worst} units in the last place, of approximate functions")
    return n, bad


def compare_generated(seconds: float) -> tuple[int, int]:
    """Random kernels of each kind in turn, until the time is over."""
    from generate import arrays, threads, values

    kinds = (values, arrays, threads)
    n = bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = kinds[n % len(kinds)]
        fault = kind.compare(n, ("cuda", "emulated"))
        n += 1
        if fault and not fault.startswith("refused"):
            bad += 1
            print(f"DIFFERS {kind.__name__} {fault}")
    return n, bad


# ---- what only a real driver shows


def memory() -> None:
    """Kinds of memory, the pool, and running out of memory."""
    import gpu

    x = gpu.array(np.arange(1000.0))
    assert (x.copy_to_host() == np.arange(1000)).all()
    pinned = gpu.pinned_array(1000)
    pinned[:] = 1
    x.copy_to_device(pinned)
    assert (x.copy_to_host() == 1).all()
    with gpu.pinned(np.ones(100_000)) as _:
        pass
    try:
        gpu.empty(1 << 50, "u1")
    except gpu.OutOfMemoryError as error:
        print(f"  {error}")
    else:
        raise AssertionError("a petabyte was given out")
    before = gpu.memory_stats()["driver_allocations"]
    for _ in range(10_000):
        gpu.empty(1000)
    assert gpu.memory_stats()["driver_allocations"] - before <= 2
    gpu.empty_cache()


def streams() -> None:
    """Order, events, callbacks."""
    import gpu

    @gpu.jit
    def spin(x, n):
        for i in range(n):
            x[0] += i

    s, start, end = gpu.Stream(), gpu.Event(), gpu.Event()
    x = gpu.zeros(1, stream=s)
    called: list[int] = []
    start.record(s)
    spin[1, 1, s](x, 100_000)
    end.record(s)
    s.callback(lambda: called.append(1))
    s.synchronize()
    assert called == [1] and start.elapsed(end) > 0.01


def errors() -> None:
    """Exceptions of kernels, and launches that don't fit."""
    import gpu

    @gpu.jit
    def careful(x, n):
        i = gpu.grid(1)
        if i >= n:
            raise IndexError("beyond")
        x[i] = i

    x = gpu.zeros(64)
    careful[1, 64](x, 10)
    try:
        gpu.synchronize()
    except IndexError as error:
        assert error.block == (0, 0, 0)
    else:
        raise AssertionError("no exception came")
    careful.configure(1, 64, shared=60_000)(x, 64)
    gpu.synchronize()
    try:
        careful.configure(1, 64, shared=10_000_000)(x, 64)
    except gpu.LaunchError as error:
        print(f"  {error}")
    else:
        raise AssertionError("10 MB of shared memory were given out")


def overhead() -> None:
    """Launches of three device arrays, one after the other."""
    import gpu

    @gpu.jit
    def nothing(x, y, z):
        pass

    x = gpu.zeros(10)
    launch = nothing[1, 1]
    best = float("inf")
    for _ in range(20):
        gpu.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            launch(x, x, x)
        best = min(best, (time.perf_counter() - start) / 500)
    print(f"  {best * 1e6:.2f} us a launch")


def main() -> int:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120, help="for generated kernels")
    seconds = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    import gpu

    if not gpu.is_available():
        print(f"no GPU here: {gpu._core.device_problem('cuda')}")
        return 2
    properties = gpu.properties("cuda")
    capability = properties.compute_capability
    os.environ.setdefault("GPU_EMULATOR_SM", f"{capability[0]}{capability[1]}")
    os.environ["GPU_EMULATOR_REPORT"] = "off"
    if gpu._core.device_problem("emulated"):
        os.environ["GPU_EMULATOR_SM"] = "90"
    print(f"{properties.name}, compute capability {capability}, driver {properties.driver_version}")
    gpu.set_device("cuda")
    faults = 0
    parts: list[Callable[[], None]] = [memory, streams, errors, overhead]
    for part in parts:
        try:
            part()
            print(f"ok {part.__name__}")
        except Exception:
            traceback.print_exc()
            faults += 1
    for name, (n, bad) in (("golden", compare_golden()), ("generated", compare_generated(seconds))):
        print(f"{n - bad} of {n} {name} kernels agree")
        faults += bad
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
