"""Runs numba-cuda's own tests, as its wheel carries them, on the emulated libcuda.

    python tests/peer/run_numba_cuda.py [--part ci|all] [--only TEXT] [--environment FOLDER] [--record]

numba-cuda hands PTX to the driver only when it finds no nvJitLink: the environment leaves that wheel out, and an empty
file of its name comes first on the library path. Each module runs in a process of its own, since a test that fails
inside the driver leaves a broken context behind. What doesn't pass is compared with `numba_cuda.txt`: a test that isn't
listed there and fails makes this program fail.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "numba_cuda.txt"
REQUIREMENTS = (
    "numba-cuda==0.30.4",
    "nvidia-nvvm==13.*",
    "nvidia-cuda-runtime==13.*",
    "nvidia-cuda-nvrtc==13.*",
    "nvidia-cuda-cccl==13.*",
    "numpy<2.5",
    "pytest",
    "psutil",
    "cffi",
    "ml_dtypes",
    "filecheck",
)

# Modules that together take a few minutes and touch each part of the driver and of the emulator.
CI = (
    "cudadrv.test_context_stack",
    "cudadrv.test_cuda_driver",
    "cudadrv.test_cuda_memory",
    "cudadrv.test_cuda_ndarray",
    "cudadrv.test_events",
    "cudadrv.test_host_alloc",
    "cudadrv.test_linker",
    "cudadrv.test_managed_alloc",
    "cudadrv.test_reset_device",
    "cudapy.test_constmem",
    "cudapy.test_cooperative_groups",
    "cudapy.test_exception",
    "cudapy.test_gufunc",
    "cudapy.test_intrinsics",
    "cudapy.test_localmem",
    "cudapy.test_print",
    "cudapy.test_record_dtype",
    "cudapy.test_recursion",
    "cudapy.test_reduction",
    "cudapy.test_sm",
    "cudapy.test_sync",
    "cudapy.test_warp_ops",
)

BROKEN = 77  # how the plugin ends after a fault of a kernel


class Unreachable(Exception):
    """The package index can't be reached."""


# ---- the environment -----------------------------------------------------------------------------------


def prepare(folder: Path) -> Path:
    """Makes the virtual environment unless it is there.

    Parameters
    ----------
    folder : Path
        Where it is or shall be.

    Returns
    -------
    Path
        Its interpreter.

    Raises
    ------
    Unreachable
        Packages can't be installed.
    """
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = "\n".join(REQUIREMENTS)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *REQUIREMENTS]
    made = subprocess.run(pip, capture_output=True, text=True)
    if made.returncode:
        raise Unreachable(made.stderr.strip().splitlines()[-1] if made.stderr.strip() else "pip failed")
    stamp.write_text(wanted)
    return python


def environment(build: Path, scratch: Path) -> dict[str, str]:
    """The variables with which a test program finds our driver and not NVIDIA's tools."""
    hidden = scratch / "hidden"
    hidden.mkdir(exist_ok=True)
    for name in ("libnvJitLink.so.13", "libnvJitLink.so.12"):
        (hidden / name).write_bytes(b"")
    dropped = ("CUDA_", "GPU_", "NUMBA_", "PYTHON", "LD_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    env["PATH"] = os.pathsep.join(p for p in env.get("PATH", "").split(os.pathsep) if "cuda" not in p)
    env["LD_LIBRARY_PATH"] = f"{hidden}:{build / 'lib' / 'gpu' / 'emulator'}"
    env["PYTHONPATH"] = str(HERE)
    env["GPU_EMULATOR_REPORT"] = "off"
    return env


def modules(python: Path) -> list[str]:
    """Names of all test modules, from `numba.cuda.tests.` on."""
    code = "import numba_cuda; print(numba_cuda.__path__[0])"
    package = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    tests = Path(package) / "numba" / "cuda" / "tests"
    found = (p.relative_to(tests).with_suffix("") for p in sorted(tests.rglob("test_*.py")))
    return [".".join(p.parts) for p in found if p.parts[0] not in ("benchmarks", "cudasim")]


# ---- running -------------------------------------------------------------------------------------------


def read(log: Path) -> Iterator[dict[str, str]]:
    """What the plugin wrote, line by line; the last may be cut off."""
    for line in log.read_text().splitlines() if log.exists() else []:
        try:
            yield json.loads(line)
        except ValueError:
            return


def run_module(python: Path, name: str, env: dict[str, str], scratch: Path, limit: float) -> dict[str, tuple[str, str]]:
    """Runs a module's tests.

    A test that kills the process or takes too long is left out, and the others run again without it; after one that
    leaves a broken context, the rest goes on in a new process.

    Returns
    -------
    dict
        By name of the test its outcome and why.
    """
    results: dict[str, tuple[str, str]] = {}
    for _ in range(20):
        log = scratch / f"{name}.log"
        log.unlink(missing_ok=True)
        own = env | {"PEER_MODULE": name, "PEER_LOG": str(log), "PEER_SKIP": json.dumps(sorted(results))}
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "peer_plugin", "--pyargs"]
        started, ended = time.monotonic(), "crashed"
        try:
            done = subprocess.run(
                [*command, f"numba.cuda.tests.{name}"],
                env=own,
                cwd=scratch,
                capture_output=True,
                text=True,
                timeout=limit,
            )
            output = done.stdout + done.stderr
            ended = "ok" if done.returncode in (0, 1, 5) else "broken" if done.returncode == BROKEN else "crashed"
        except subprocess.TimeoutExpired as e:
            output, ended = str(e.stdout or ""), "timeout"
        running = None
        for line in read(log):
            if line["outcome"] == "starts":
                running = line["test"]
            else:
                results[line["test"]] = (line["outcome"], line["why"])
                running = None if running == line["test"] else running
        if ended == "broken":
            continue
        if ended == "ok":
            break
        if running is None:
            results[f"{name}::"] = (ended, output.strip()[-300:])
            break
        results[running] = (ended, f"after {time.monotonic() - started:.0f} s")
    return results


# ---- the report ----------------------------------------------------------------------------------------


def expected() -> dict[str, str]:
    """Tests that are known not to pass, with the reason."""
    rows = (line.split(maxsplit=1) for line in EXPECTED.read_text().splitlines() if line and not line.startswith("#"))
    return dict(rows)


def figures(results: dict[str, tuple[str, str]]) -> str:
    """How many tests had each outcome."""
    counts = Counter(outcome for outcome, _ in results.values())
    return ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())


def report(results: dict[str, tuple[str, str]], show: bool) -> list[str]:
    """Prints what fails, what is skipped and figures in all; returns the tests that fail and aren't expected to."""
    known = expected()
    bad = [t for t, (outcome, _) in results.items() if outcome not in ("passed", "skipped")]
    new = sorted(t for t in bad if t not in known)
    for test in new:
        print(f"FAILS  {test}: {results[test][1]}")
    fixed = sorted(t for t in known if results.get(t, ("",))[0] == "passed")
    for test in fixed:
        print(f"passes now: {test}")
    if show:
        reasons = Counter(why for outcome, why in results.values() if outcome == "skipped")
        for why, n in reasons.most_common():
            print(f"{n:5} skipped: {why}")
    print(f"{figures(results)}; {len(new)} not expected to fail")
    return new


def main() -> int:
    """Runs what was asked for; 0 when nothing fails that isn't expected to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("ci", "all"), default="all")
    parser.add_argument("--only", default="", help="a part of the modules' names")
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv" / "numba-cuda")
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("GPU_BUILD", ROOT / "build")))
    parser.add_argument("--limit", type=float, default=600, help="seconds for one module")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="a file for all outcomes, as JSON")
    args = parser.parse_args()
    try:
        python = prepare(args.environment)
    except Unreachable as e:
        print(f"skipped: numba-cuda can't be installed: {e}")
        return 0
    names = [n for n in modules(python) if args.only in n and (args.part == "all" or n in CI)]
    results: dict[str, tuple[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        scratch = Path(folder)
        env = environment(args.build.resolve(), scratch)
        jobs = {pool.submit(run_module, python, name, env, scratch, args.limit): name for name in names}
        for job in as_completed(jobs):
            results |= job.result()
            print(f"{jobs[job]:45} {figures(job.result())}", flush=True)
            if args.results:
                args.results.write_text(json.dumps(results, indent=1))
    return 1 if report(results, args.part == "all") else 0


if __name__ == "__main__":
    sys.exit(main())
