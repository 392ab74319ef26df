"""How long people wait: import, the first compilation, the next one, a launch. Side by side with the peers.

Each figure is taken in fresh processes, ours and the peers' in turn, and the minimum of the rounds is kept. The
figures of one run are comparable with each other only; read the ratios. numba-cuda runs on the emulated driver, and so
does `gpu emulated`. Where other work keeps the machine busy, `--clock cpu` counts the time of the processor instead.

    ./dev bench                      # makes an environment for the peers and runs this
    python bench/latency.py --peers PEER_PYTHON [--rounds 7] [--clock cpu]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import gpu

# What each program begins with. Launches wake threads that wait by going round, so their time is always what passes.
HEAD = """
import json, sys, time
t = time.CLOCK
def quickest(launch, *args):
    best = 1e9
    for _ in range(10):
        start = time.perf_counter()
        for _ in range(200): launch(*args)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / 200
"""
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

# Each script prints a JSON object of milliseconds (microseconds for launches). The work is the same: c = a + b over
# float32 arrays of 1000 elements, then a second kernel of the same kind; ours alone, a kernel of a
# thousand lines.
OURS = """
import numpy as np
t0 = t(); import gpu; t1 = t()
@gpu.jit
def add(a, b, c):
    i = gpu.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
@gpu.jit
def scale(a, b, c):
    i = gpu.grid(1)
    if i < c.size:
        c[i] = 3 * a[i] - b[i]
a = np.ones(1000, 'f4'); b = np.ones(1000, 'f4'); c = np.zeros(1000, 'f4')
t2 = t(); add[8, 128](a, b, c); t3 = t(); assert c[0] == 2
scale[8, 128](a, b, c); t4 = t(); assert c[0] == 2
each = quickest(add[1, 32], a, b, c)
long = 'def long(x, o):\\n    i = gpu.grid(1)\\n    b = x[i]\\n'
long += ''.join(f'    if b > {j}: b = b * 0.5 + {j}\\n' for j in range(1000)) + '    o[i] = b\\n'
exec(long)
t9 = t(); gpu.jit(long).compile('f4[::1], f4[::1]'); t10 = t()
t7 = t(); add.inspect('ptx', 'f4[::1], f4[::1], f4[::1]', arch='sm_80'); t8 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'second kernel': 1e3*(t4-t3),
                  'launch of 32 threads': each, 'PTX': 1e3*(t8-t7),
                  '1000 lines': 1e3*(t10-t9)}))
"""

NUMBA = """
import numpy as np
t0 = t(); import numba; t1 = t()
@numba.njit(parallel=True)
def add(a, b, c):
    for i in numba.prange(c.size):
        c[i] = a[i] + b[i]
@numba.njit(parallel=True)
def scale(a, b, c):
    for i in numba.prange(c.size):
        c[i] = np.float32(3) * a[i] - b[i]
a = np.ones(1000, 'f4'); b = np.ones(1000, 'f4'); c = np.zeros(1000, 'f4')
t2 = t(); add(a, b, c); t3 = t(); assert c[0] == 2
scale(a, b, c); t4 = t(); assert c[0] == 2
each = quickest(add, a, b, c[:32])
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'second kernel': 1e3*(t4-t3),
                  'launch of 32 threads': each}))
"""

# One program of two packages: numba-cuda is measured on the same emulated driver.
DIALECT = """
import numpy as np
t0 = t(); from PACKAGE import cuda; t1 = t()
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
@cuda.jit
def scale(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = 3 * a[i] - b[i]
a, b, c = (cuda.to_device(x) for x in (np.ones(1000, 'f4'), np.ones(1000, 'f4'), np.zeros(1000, 'f4')))
t2 = t(); add[8, 128](a, b, c); cuda.synchronize(); t3 = t(); assert c.copy_to_host()[0] == 2
scale[8, 128](a, b, c); cuda.synchronize(); t4 = t(); assert c.copy_to_host()[0] == 2
each = quickest(add[1, 32], a, b, c)
t7 = t(); cuda.compile_ptx(add.py_func, (cuda.types.float32[::1],) * 3, cc=(8, 0)); t8 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'second kernel': 1e3*(t4-t3),
                  'launch of 32 threads': each, 'PTX': 1e3*(t8-t7)}))
"""

WARP = """
import numpy as np
t0 = t(); import warp as wp; t1 = t()
wp.config.quiet = True
@wp.kernel
def add(a: wp.array(dtype=wp.float32), b: wp.array(dtype=wp.float32), c: wp.array(dtype=wp.float32)):
    i = wp.tid()
    c[i] = a[i] + b[i]
wp.config.kernel_cache_dir = sys.argv[1]
wp.init()
a = wp.array(np.ones(1000, 'f4'), device='cpu'); b = wp.array(np.ones(1000, 'f4'), device='cpu')
c = wp.zeros(1000, dtype=wp.float32, device='cpu')
t2 = t(); wp.launch(add, dim=1000, inputs=[a, b, c], device='cpu'); t3 = t()
each = quickest(lambda: wp.launch(add, dim=32, inputs=[a, b, c], device='cpu'))
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'launch of 32 threads': each}))
"""


# A whole process, from its start to its end: import, one kernel, one launch.
WHOLE = {
    "gpu": """
import numpy as np, gpu
@gpu.jit
def add(a, b, c):
    i = gpu.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
a = np.ones(1000, 'f4'); c = np.zeros(1000, 'f4')
add[8, 128](a, a, c)
""",
    "numba": """
import numpy as np, numba
@numba.njit(parallel=True)
def add(a, b, c):
    for i in numba.prange(c.size):
        c[i] = a[i] + b[i]
a = np.ones(1000, 'f4'); c = np.zeros(1000, 'f4')
add(a, a, c)
""",
    "numba-cuda": """
import numpy as np
from numba import cuda
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
a = cuda.to_device(np.ones(1000, 'f4')); c = cuda.to_device(np.zeros(1000, 'f4'))
add[8, 128](a, a, c)
c.copy_to_host()
""",
    "warp": """
import numpy as np, warp as wp
wp.config.quiet = True
wp.config.kernel_cache_dir = sys.argv[1]
@wp.kernel
def add(a: wp.array(dtype=wp.float32), b: wp.array(dtype=wp.float32), c: wp.array(dtype=wp.float32)):
    i = wp.tid()
    c[i] = a[i] + b[i]
wp.init()
a = wp.array(np.ones(1000, 'f4'), device='cpu'); c = wp.zeros(1000, dtype=wp.float32, device='cpu')
wp.launch(add, dim=1000, inputs=[a, a, c], device='cpu')
""",
}
WHOLE["gpu emulated"] = WHOLE["numba-cuda"].replace("numba", "gpu")


def environment(name: str, scratch: Path) -> dict[str, str]:
    """The variables of a contestant's process; numba-cuda finds our driver and none of NVIDIA's tools."""
    env = dict(os.environ, GPU_DEVICE="emulated" if name == "gpu emulated" else "cpu", GPU_EMULATOR_REPORT="off")
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # what pip installs comes compiled; ours is from the second round on
    if name != "numba-cuda":
        return env
    for library in ("libnvJitLink.so.13", "libnvJitLink.so.12"):
        (scratch / library).write_bytes(b"")
    kept = {k: v for k, v in env.items() if not k.startswith(("CUDA", "NUMBA", "PYTHON", "LD_"))}
    kept["PATH"] = os.pathsep.join(p for p in kept.get("PATH", "").split(os.pathsep) if "cuda" not in p)
    kept["LD_LIBRARY_PATH"] = f"{scratch}:{Path(gpu.__file__).parent / 'emulator'}"
    return kept


def run(name: str, python: str, script: str, clock: str) -> tuple[str, float] | None:
    """One fresh process, from a file, which Warp reads.

    Returns
    -------
    tuple of str and float, or None
        What it printed last, and the time from start to end in milliseconds; None if it fails, and then why on stderr.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(HEAD.replace("CLOCK", CLOCKS[clock].__name__) + textwrap.dedent(script))
        with (Path(folder) / "out").open("w+") as out, (Path(folder) / "err").open("w+") as err:
            start = time.perf_counter()
            process = subprocess.Popen(
                [python, program, folder], stdout=out, stderr=err, env=environment(name, Path(folder))
            )
            _, status, used = os.wait4(process.pid, 0)
            whole = time.perf_counter() - start if clock == "wall" else used.ru_utime + used.ru_stime
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            if process.returncode:
                print(f"{name}: {(err.read().splitlines() or ['failed'])[-1]}", file=sys.stderr)
                return None
            return (out.read().splitlines() or [""])[-1], 1e3 * whole


def measure(peers: str | None, rounds: int, clock: str, seconds: float) -> dict[str, dict[str, float]]:
    """Minima over the rounds, by contestant; a round that would end after `seconds` isn't begun."""
    contest = [("gpu", sys.executable, OURS), ("gpu emulated", sys.executable, DIALECT.replace("PACKAGE", "gpu"))]
    if peers:
        contest += [
            ("numba", peers, NUMBA),
            ("numba-cuda", peers, DIALECT.replace("PACKAGE", "numba")),
            ("warp", peers, WARP),
        ]
    best: dict[str, dict[str, float]] = {name: {} for name, _, _ in contest}
    start = time.perf_counter()
    for done in range(rounds):
        if done and (time.perf_counter() - start) * (done + 1) / done > seconds:
            print(f"{done} of {rounds} rounds: {seconds:.0f} s are over", file=sys.stderr)
            break
        for name, python, script in contest:
            parts, whole = run(name, python, script, clock), run(name, python, WHOLE[name], clock)
            found = {**(json.loads(parts[0]) if parts else {}), **({"whole process": whole[1]} if whole else {})}
            for key, value in found.items():
                best[name][key] = min(value, best[name].get(key, value))
    return best


def table(best: dict[str, dict[str, float]]) -> str:
    """Our figures, and the peers' as multiples of ours; of `gpu emulated` for numba-cuda, where it has one."""
    lines = ["| | " + " | ".join(best) + " |", "|---|" + "---|" * len(best)]
    for key in dict.fromkeys(k for figures in best.values() for k in figures):
        unit = "us" if key.startswith("launch") else "ms"
        row = [key]
        for name, figures in best.items():
            rival = best["gpu emulated"] if name == "numba-cuda" and key in best["gpu emulated"] else best["gpu"]
            if key not in figures:
                row.append("-")
            elif name.startswith("gpu"):
                row.append(f"{figures[key]:.3g} {unit}")
            else:
                row.append(f"{figures[key] / rival[key]:.3g} x")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="a Python that has numba, numba-cuda, warp-lang")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="time that passes, or time of the processor")
    parser.add_argument("--seconds", type=float, default=240, help="no round is begun that would end later")
    options = parser.parse_args()
    print(table(measure(options.peers, options.rounds, options.clock, options.seconds)))


if __name__ == "__main__":
    main()
