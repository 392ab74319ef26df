"""How long people wait: import, the first compilation, the next one, a launch. Side by side with the peers.

Each figure is taken in fresh processes, ours and the peers' in turn, and the minimum of the rounds is kept. The
figures of one run are comparable with each other only; read the ratios.

    ./dev bench                      # makes an environment for the peers and runs this
    python bench/latency.py --peers PEER_PYTHON [--rounds 7]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

CLOCK = """
import json, sys, time
t = time.perf_counter
"""

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
launch = add[1, 32]; launch(a, b, c)
t5 = t()
for _ in range(2000): launch(a, b, c)
t6 = t()
long = 'def long(x, o):\\n    i = gpu.grid(1)\\n    b = x[i]\\n'
long += ''.join(f'    if b > {j}: b = b * 0.5 + {j}\\n' for j in range(1000)) + '    o[i] = b\\n'
exec(long)
t9 = t(); gpu.jit(long).compile('f4[::1], f4[::1]'); t10 = t()
t7 = t(); add.inspect('ptx', 'f4[::1], f4[::1], f4[::1]', arch='sm_80'); t8 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'second kernel': 1e3*(t4-t3),
                  'launch of 32 threads': 1e6*(t6-t5)/2000, 'PTX': 1e3*(t8-t7),
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
s = c[:32]
t5 = t()
for _ in range(2000): add(a, b, s)
t6 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'second kernel': 1e3*(t4-t3),
                  'launch of 32 threads': 1e6*(t6-t5)/2000}))
"""

NUMBA_CUDA = """
t0 = t(); from numba import cuda, float32; t1 = t()
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
t2 = t(); cuda.compile_ptx(add, (float32[::1], float32[::1], float32[::1]), cc=(8, 0)); t3 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'PTX': 1e3*(t3-t2)}))
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
t5 = t()
for _ in range(2000): wp.launch(add, dim=32, inputs=[a, b, c], device='cpu')
t6 = t()
print(json.dumps({'import': 1e3*(t1-t0), 'first compile': 1e3*(t3-t2), 'launch of 32 threads': 1e6*(t6-t5)/2000}))
"""


def run(python: str, script: str, *args: str) -> dict[str, float] | None:
    """One fresh process, from a file, which Warp reads; None if it fails, and then why on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(CLOCK + textwrap.dedent(script))
        done = subprocess.run([python, program, *args], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.splitlines()[-1:], file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measure(peers: str | None, rounds: int) -> dict[str, dict[str, float]]:
    """Minima over the rounds, by contestant."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        contest = [("gpu", sys.executable, OURS)]
        if peers:
            contest += [("numba", peers, NUMBA), ("numba-cuda", peers, NUMBA_CUDA), ("warp", peers, WARP)]
        for name, python, script in contest:
            with tempfile.TemporaryDirectory() as empty_cache:
                for key, value in (run(python, script, empty_cache) or {}).items():
                    figures = best.setdefault(name, {})
                    figures[key] = min(value, figures.get(key, value))
    return best


def table(best: dict[str, dict[str, float]]) -> str:
    """Our figures, and the peers' as multiples of ours."""
    peers = [name for name in best if name != "gpu"]
    lines = [f"{'':22}{'gpu':>12}" + "".join(f"{p:>14}" for p in peers)]
    for key, ours in best["gpu"].items():
        unit = "us" if key.startswith("launch") else "ms"
        row = f"{key:22}{ours:9.2f} {unit}"
        for peer in peers:
            theirs = best[peer].get(key)
            row += f"{theirs / ours:12.1f} x" if theirs is not None else f"{'-':>14}"
        lines.append(row)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="a Python that has numba, numba-cuda, warp-lang")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(table(measure(options.peers, options.rounds)))


if __name__ == "__main__":
    main()
