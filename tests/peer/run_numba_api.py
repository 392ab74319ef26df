"""Runs numba-cuda's own tests, as its wheel carries them, against `gpu.cuda`.

    python tests/peer/run_numba_api.py [--part ci|all] [--device cpu|emulated] [--tests FOLDER] [--only TEXT]

FOLDER is ``.../numba_cuda/numba/cuda/tests`` of an environment in which numba-cuda is installed; without it one is made
in ``.venv/numba-cuda``. This program runs in one that has gpu, numpy and pytest. `api/numba` stands in for the package
numba: its ``cuda`` is `gpu.cuda`, and what belongs to Numba's inside skips the test that touches it. Each module runs
in a process of its own. What doesn't pass is compared with `numba_api.txt`: a test that isn't listed there and fails
makes this program fail.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import types
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHIM = HERE / "api"
EXCUSED = HERE / "numba_api.txt"
GOOD = ("pass", "xfail", "xpass", "skip")  # xpass: what Numba can't do
# What a program may import from numba; a test that imports more than this is of class H.
PUBLIC = ("numba", "numba.cuda", "numba.cuda.random", "numba.cuda.testing", "numba.types", "numba.cuda.types")
POISON = re.compile(r"<poison |\bPoison(Module)?\b")  # what the stand-in gives for a name of Numba's inside
# Modules that together take a minute or two on a device and touch each part of the interface.
CI = (
    "cudadrv/test_cuda_array_slicing.py",
    "cudadrv/test_cuda_memory.py",
    "cudadrv/test_cuda_ndarray.py",
    "cudadrv/test_events.py",
    "cudapy/test_array.py",
    "cudapy/test_atomics.py",
    "cudapy/test_bfloat16.py",
    "cudapy/test_compiler.py",
    "cudapy/test_complex.py",
    "cudapy/test_constmem.py",
    "cudapy/test_cuda_array_interface.py",
    "cudapy/test_dispatcher.py",
    "cudapy/test_gufunc.py",
    "cudapy/test_laplace.py",
    "cudapy/test_localmem.py",
    "cudapy/test_operator.py",
    "cudapy/test_record_dtype.py",
    "cudapy/test_reduction.py",
    "cudapy/test_sm.py",
    "cudapy/test_vectorize.py",
    "cudapy/test_warp_ops.py",
)
TEXT_OF_CODE = re.compile(r"inspect_(asm|llvm|sass|lto_ptx)|compile_ptx|compile\(|FileCheck")


def modules(tests: Path, only: str) -> list[str]:
    """Test modules of the wheel whose name has `only` in it, as paths below its folder of tests.

    Those under ``benchmarks`` and ``cudasim`` time things, and need Numba's simulator.
    """
    found = (str(path.relative_to(tests)) for path in sorted(tests.rglob("test_*.py")))
    return [name for name in found if only in name and not name.startswith(("benchmarks/", "cudasim/"))]


def installed_tests() -> Path | None:
    """The tests of numba-cuda in an environment that is made for them; None: it can't be installed."""
    import run_numba_cuda

    try:
        python = run_numba_cuda.prepare(run_numba_cuda.ROOT / ".venv" / "numba-cuda")
    except run_numba_cuda.Unreachable as error:
        print(f"skipped: numba-cuda can't be installed: {error}")
        return None
    return next(python.parent.parent.glob("lib/python*/site-packages/numba_cuda/numba/cuda/tests"))


def classes_of(tests: Path, module: str) -> dict[str, str]:
    """P, H or X for each test of a module: the public interface alone, the stand-in's helpers too, text of code.

    The manifest decides where it has the test. In a module that it lacks, imports and the test's source do.
    """
    listed = json.loads((SHIM / "manifest.json").read_text())
    tree = ast.parse((tests / module).read_text())
    public = True
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba"):
            public &= node.module in PUBLIC
        elif isinstance(node, ast.Import):
            public &= all(not n.name.startswith("numba") or n.name in PUBLIC for n in node.names)
    found: dict[str, str] = {}
    for owner in tree.body:
        members = owner.body if isinstance(owner, ast.ClassDef) else [owner]
        prefix = f"{owner.name}::" if isinstance(owner, ast.ClassDef) else ""
        for node in members:
            if isinstance(node, ast.FunctionDef):
                name = f"{module}::{prefix}{node.name}"
                found[name] = "X" if TEXT_OF_CODE.search(ast.unparse(node)) else "P" if public else "H"
    return found | {name: kind for name, kind in listed.items() if name.startswith(module + "::")}


# ---- one module, in the process made for it


class _Results(unittest.TestResult):
    """Outcome and message of the test that is running, in `found` under its name."""

    def __init__(self, found: dict[str, list[str]], name: str) -> None:
        super().__init__()
        self.found, self.name = found, name

    def put(self, outcome: str, message: str = "") -> None:
        if outcome in ("fail", "error") and POISON.search(message):
            outcome, message = "skip", "N: " + message.strip().splitlines()[-1]
        if self.found.get(self.name, ["pass"])[0] in ("pass", "skip"):
            self.found[self.name] = [outcome, message[-3000:]]

    def addSuccess(self, test: Any) -> None:
        self.found.setdefault(self.name, ["pass", ""])

    def addSkip(self, test: Any, reason: str) -> None:
        self.put("skip", reason)

    def addFailure(self, test: Any, error: Any) -> None:
        self.put("fail", self._exc_info_to_string(error, test))

    def addError(self, test: Any, error: Any) -> None:
        if error[0].__name__ == "Skipped":
            self.put("skip", str(error[1]))
        else:
            self.put("error", self._exc_info_to_string(error, test))

    def addExpectedFailure(self, test: Any, error: Any) -> None:
        self.put("xfail")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.put("xpass")

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error:
            failed = issubclass(error[0], test.failureException)
            self.put("fail" if failed else "error", self._exc_info_to_string(error, test))


def _load(module: str) -> tuple[dict[str, Any], str, str]:
    """The module's tests by name, or why there are none: an outcome and a message."""
    import importlib

    try:
        loaded = importlib.import_module("numba.cuda.tests." + module[:-3].replace("/", "."))
    except BaseException as error:
        skipped = isinstance(error, unittest.SkipTest) or type(error).__name__ == "Skipped"  # pytest.importorskip
        return {}, "skip" if skipped else "importerror", str(error) if skipped else traceback.format_exc()[-3000:]
    tests = {}
    for name, value in list(vars(loaded).items()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == loaded.__name__:
            for test in unittest.defaultTestLoader.loadTestsFromTestCase(value):
                tests[f"{module}::{name}::{test._testMethodName}"] = test
        elif isinstance(value, types.FunctionType) and name.startswith("test"):
            tests[f"{module}::{name}"] = unittest.FunctionTestCase(value)
    return tests, "", ""


def child(module: str, out: Path, name_has: str) -> None:
    """Run one module's tests and write ``{name: [outcome, message]}``, again after each test: the next may crash."""
    sys.path.insert(0, str(SHIM))
    import numba  # the stand-in

    tests, outcome, message = _load(module)
    found: dict[str, list[str]] = {} if tests else {f"{module}::(module)": [outcome or "skip", message]}
    numba.RUNNING = True  # type: ignore[attr-defined]
    for name, test in tests.items():
        if name_has and name_has not in name:
            continue
        out.write_text(json.dumps({**found, name: ["crash", "the process ended here"]}))
        unittest.TestSuite([test]).run(_Results(found, name))
        found.setdefault(name, ["pass", ""])
    out.write_text(json.dumps(found))


# ---- all of them


def run_module(module: str, tests: Path, device: str, limit: float, name_has: str) -> dict[str, list[str]]:
    """Outcomes of one module's tests."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        paths = [str(SHIM), os.environ.get("PYTHONPATH", ""), os.environ.get("PEER_EXTRA", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PEER_TESTS": str(tests),
            "GPU_DEVICE": device,
        }
        command = [sys.executable, __file__, "--child", module, "--out", str(out), "--name", name_has]
        try:
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
            code, text = str(ran.returncode), ran.stderr[-2000:]
        except subprocess.TimeoutExpired:
            code, text = f"more than {limit:.0f} s", ""
        found: dict[str, list[str]] = json.loads(out.read_text()) if out.exists() else {}
    if not found:
        found = {f"{module}::(module)": ["crash", f"{code} {text}"]}
    for result in found.values():
        if result[0] == "crash":
            result[1] = f"{code} {text}"
    return found


def excused(device: str) -> dict[str, str]:
    """Reason by name of a test, or of several with ``*``; ``cpu:`` before it is for that device."""
    reasons = {}
    for line in EXCUSED.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, reason = line.split(" ", 1)
        on, rest = name.split(":", 1) if name.startswith(("cpu:", "emulated:")) else (device, name)
        if on == device:
            reasons[rest] = reason
    return reasons


def is_excused(name: str, reasons: dict[str, str]) -> bool:
    """Tell whether a test, or the group that it is in, has a reason."""
    return name in reasons or any(fnmatch.fnmatchcase(name, key) for key in reasons if "*" in key or "?" in key)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=Path, default=os.environ.get("PEER_TESTS"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "emulated"])
    parser.add_argument("--part", default="all", choices=["ci", "all"])
    parser.add_argument("--only", default="", help="part of a module's name")
    parser.add_argument("--name", default="", help="part of a test's name")
    parser.add_argument("--out", type=Path, help="JSON of all outcomes")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a module")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.out, given.name)
        return 0
    given.tests = given.tests or installed_tests()
    if given.tests is None:
        return 0
    if not given.tests.is_dir():
        parser.error("--tests is the folder numba_cuda/numba/cuda/tests of an environment that has numba-cuda")
    reasons = excused(given.device)
    everything: dict[str, list[str]] = {}
    classes: dict[str, str] = {}
    for module in modules(given.tests, given.only):
        if given.part == "ci" and module not in CI:
            continue
        start = time.monotonic()
        found = run_module(module, given.tests, given.device, given.limit, given.name)
        classes |= classes_of(given.tests, module)
        everything |= found
        counts = dict(Counter(outcome for outcome, _ in found.values()))
        print(f"{module:45} {time.monotonic() - start:6.1f} s  {counts}", flush=True)
    if given.out:
        given.out.write_text(json.dumps(everything, indent=0))
    return report(everything, classes, reasons)


def report(everything: dict[str, list[str]], classes: dict[str, str], reasons: dict[str, str]) -> int:
    """Print counts by class and what failed without a reason; 1 if there is any. Class X is counted alone."""
    by_class: dict[str, Counter[str]] = {}
    for name, (outcome, _) in everything.items():
        counted = "excused" if outcome not in GOOD and is_excused(name, reasons) else outcome
        by_class.setdefault(classes.get(name, "H"), Counter())[counted] += 1
    for kind, counts in sorted(by_class.items()):
        tried = sum(n for outcome, n in counts.items() if outcome not in ("skip", "excused"))
        good = counts["pass"] + counts["xfail"]
        print(f"class {kind}: {good} of {tried} pass; {dict(counts)}")
    bad = [
        name
        for name, (outcome, _) in everything.items()
        if outcome not in GOOD and classes.get(name) != "X" and not is_excused(name, reasons)
    ]
    for name in bad:
        print(f"{everything[name][0]}: {name} [{classes.get(name, 'H')}]")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
