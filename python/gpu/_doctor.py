"""``gpu doctor``: what is installed, what is wrong, one action for each.

A check is a function that returns findings; it must not raise. Devices are asked in processes of their own, so that a
broken driver can't end this.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import gpu
from gpu import _core, _environment, _libdevice, _tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

OK, NOTE, BAD = "ok", "note", "bad"
MARKS = {OK: ("ok  ", "green"), NOTE: ("note", "yellow"), BAD: ("BAD ", "red")}


class Finding(NamedTuple):
    """One line of the report; `action` says what to do where something is missing or wrong."""

    state: str
    topic: str
    text: str
    action: str = ""


def checks() -> Iterable[Finding]:
    """All findings, in the order of the report."""
    for check in (
        package,
        python,
        numpy,
        compiler,
        environment,
        device,
        driver,
        emulator,
        self_test,
        bitcode,
        tools,
        caches,
    ):
        try:
            yield from check()
        except Exception as error:  # a check that fails is a finding too
            yield Finding(BAD, check.__name__, f"{type(error).__name__}: {error}", "report this as a bug of gpu")


def report(findings: Iterable[Finding], echo: Callable[..., Any], style: Callable[..., str]) -> int:
    """Print the findings; 1 if one is bad, else 0."""
    bad = 0
    for finding in findings:
        mark, colour = MARKS[finding.state]
        echo(f"{style(mark, fg=colour)}  {finding.topic:<12} {finding.text}")
        if finding.action:
            echo(f"      {'':<12} -> {finding.action}")
        bad += finding.state == BAD
    echo("")
    echo("Nothing is wrong." if not bad else f"{bad} problem{'s' if bad > 1 else ''}.")
    return 1 if bad else 0


def package() -> Iterable[Finding]:
    """The package and its extension."""
    yield Finding(OK, "gpu", f"{gpu.__version__} in {os.path.dirname(gpu.__file__)}")
    if _core.__version__ != gpu.__version__:
        yield Finding(BAD, "gpu", f"the extension is of version {_core.__version__}", "install the package again")


def python() -> Iterable[Finding]:
    """The interpreter."""
    text = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding(OK, "python", f"{text}, {sys.executable}")


def numpy() -> Iterable[Finding]:
    """NumPy 2, and ml_dtypes for bfloat16."""
    try:
        import numpy as np
    except ImportError:
        yield Finding(BAD, "numpy", "not installed", "pip install 'numpy>=2.0'")
        return
    if int(np.__version__.partition(".")[0]) < 2:
        yield Finding(BAD, "numpy", f"{np.__version__} has other rules of types", "pip install 'numpy>=2.0'")
    else:
        yield Finding(OK, "numpy", np.__version__)
    try:
        import ml_dtypes

        yield Finding(OK, "ml_dtypes", ml_dtypes.__version__)
    except ImportError:
        yield Finding(NOTE, "ml_dtypes", "not installed: no bfloat16 arrays", "pip install ml_dtypes")


def compiler() -> Iterable[Finding]:
    """The library with LLVM."""
    try:
        start = time.perf_counter()
        info = _core.compiler_info()
    except (ImportError, OSError) as error:
        yield Finding(BAD, "compiler", str(error), "install the package again")
        return
    took = (time.perf_counter() - start) * 1e3
    yield Finding(OK, "compiler", f"LLVM {info['llvm']}, loaded in {took:.0f} ms from {info['path']}")


# ---- devices: each kind is asked in a process of its own

PROBE = "import sys; sys.path[:0] = [sys.argv[1]]; from gpu import _doctor; _doctor.probe(sys.argv[2])"
PROBE_SECONDS = 120


class Kind(NamedTuple):
    """What a process found out about one kind of device."""

    problem: str | None  # why there is none
    library: str  # the driver's, "" on the CPU
    devices: list[dict[str, Any]]
    test: dict[str, Any] | None  # of the first device: "ms", or "error"
    said: str  # the last line on stderr


def _add(x: Any, y: Any, out: Any) -> None:
    i = gpu.grid(1)
    if i < len(out):
        out[i] = x[i] + y[i]


def probe(kind: str) -> None:
    """Print what there is of a kind of device as JSON, then a line about a vector add on the first one."""
    names = ["cpu"] if kind == "cpu" else [f"{kind}:{i}" for i in range(_core.device_count(kind) or 1)]
    devices = []
    for name in names:
        problem = _core.device_problem(name)
        devices.append({"device": name, "problem": problem} if problem else {**vars(gpu.properties(name))})
    print(json.dumps({"devices": devices, "library": _driver_library(kind)}), flush=True)
    usable = next((d["device"] for d in devices if not d.get("problem")), None)
    if usable:
        print(json.dumps(_vector_add(usable)), flush=True)


def _driver_library(kind: str) -> str:
    """The path of the driver that this process has loaded."""
    name = {"cuda": "libcuda", "emulated": "libgpu_emulated"}.get(kind)
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            return next((line.split()[-1] for line in maps if name and name in line), "")
    except OSError:
        return ""


def _vector_add(device: str) -> dict[str, Any]:
    try:
        import numpy as np
    except ImportError:
        return {}
    start = time.perf_counter()
    try:
        gpu.set_device(device)
        x = np.arange(1000, dtype=np.float32)
        out = np.zeros_like(x)
        gpu.jit(_add)[8, 128](x, x, out)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    if not np.array_equal(out, x + x):
        return {"error": "wrong numbers came out"}
    return {"ms": (time.perf_counter() - start) * 1e3}


@functools.cache
def ask(kind: str) -> Kind:
    """What `probe` found, or how its process ended."""
    folder = os.path.dirname(os.path.dirname(gpu.__file__))
    command = [sys.executable, "-c", PROBE, folder, kind]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Kind(f"the driver doesn't answer within {PROBE_SECONDS} s; see nvidia-smi and dmesg", "", [], None, "")
    lines = done.stdout.splitlines()
    last = (done.stderr.strip().splitlines() or [""])[-1]
    ended = f"the driver ends the process (status {done.returncode}) {last}; see nvidia-smi and dmesg"
    if not lines:
        return Kind(ended, "", [], None, last)
    found = json.loads(lines[0])
    first = found["devices"][0]
    problem = first["problem"] if len(found["devices"]) == 1 and first.get("problem") else None
    test = json.loads(lines[1]) if len(lines) > 1 else {"error": ended} if not problem else None
    return Kind(problem, found["library"], found["devices"], test, last)


def split_problem(problem: str, otherwise: str) -> tuple[str, str]:
    """What is wrong, and what to do: messages of the runtime have the advice behind a semicolon."""
    text, _, action = problem.partition("; ")
    return text, action or otherwise


def device() -> Iterable[Finding]:
    """Where kernels run."""
    named = os.environ.get("GPU_DEVICE")
    kinds = {kind: ask(kind) for kind in ("cuda", "cpu", "emulated")}
    names = [d["device"] for found in kinds.values() for d in found.devices if not d.get("problem")] + ["python"]
    if named and named not in names and f"{named}:0" not in names:
        problem = kinds[named.partition(":")[0]].problem if named.partition(":")[0] in kinds else None
        text, action = split_problem(problem or "there is no such device", f"set it to one of: {', '.join(names)}")
        yield Finding(BAD, "device", f"GPU_DEVICE={named}: {text}", action)
    else:
        yield Finding(OK, "device", f"{named or names[0]} (of {', '.join(names)})")


def environment() -> Iterable[Finding]:
    """Variables whose values mean nothing; those that name files are said with what the file is for."""
    for problem, takes in _environment.problems():
        if not problem.endswith("file"):
            yield Finding(BAD, "environment", problem, f"{takes}; or unset it")


def driver() -> Iterable[Finding]:
    """NVIDIA's driver and its devices."""
    found = ask("cuda")
    if found.problem:
        named = os.environ.get("GPU_LIBCUDA")
        fix = "set GPU_LIBCUDA to the path of libcuda.so.1, or unset it" if named else "install the NVIDIA driver again"
        text, action = split_problem(found.problem, fix)
        none_here = "there is no NVIDIA driver" in text or "CUDA_ERROR_NO_DEVICE" in text
        yield Finding(NOTE if none_here else BAD, "driver", text, action)
        return
    yield from devices_of(found, f"in {found.library}")


def devices_of(found: Kind, where: str) -> Iterable[Finding]:
    """The driver's versions, and a line for each device."""
    usable = [d for d in found.devices if not d.get("problem")]
    if usable:
        cuda, ptx = (".".join(map(str, usable[0][field])) for field in ("driver_version", "ptx_version"))
        yield Finding(OK, "driver", f"for CUDA {cuda}, reads PTX up to {ptx}, {where}")
    for d in found.devices:
        if d.get("problem"):
            text, action = split_problem(d["problem"], "choose another device with GPU_DEVICE")
            yield Finding(NOTE, d["device"], text, action)
        else:
            major, minor = d["compute_capability"]
            size = f"{d['memory_bytes'] / 2**30:.0f} GiB, {d['multiprocessors']} multiprocessors"
            yield Finding(OK, d["device"], f"{d['name']}, sm_{major}{minor}, {size}, {d['uuid']}")


def emulator() -> Iterable[Finding]:
    """The emulated GPU, and what the environment makes of it."""
    found = ask("emulated")
    if found.problem:
        refused = found.said.startswith("gpu emulator: GPU_EMULATOR_")
        text, action = split_problem(found.problem, "install the package again")
        if refused:
            text, action = found.said.removeprefix("gpu emulator: "), "correct the variable, or unset it"
        yield Finding(BAD, "emulator", text, action)
    for d in found.devices:
        if not d.get("problem"):
            yield Finding(OK, d["device"], f"{d['name']}, {d['memory_bytes'] / 2**30:.3g} GiB")


def self_test() -> Iterable[Finding]:
    """A vector add on the first device of each kind."""
    for kind in ("cpu", "cuda", "emulated"):
        found = ask(kind)
        if not found.test:
            continue  # no such device, or no NumPy: said elsewhere
        name = next(d["device"] for d in found.devices if not d.get("problem"))
        if "error" in found.test:
            text, action = split_problem(found.test["error"], "report this as a bug of gpu")
            yield Finding(BAD, "self-test", f"a vector add on {name}: {text}", action)
        else:
            yield Finding(OK, "self-test", f"a vector add compiled and ran on {name} in {found.test['ms']:.0f} ms")


def bitcode() -> Iterable[Finding]:
    """Math functions of PTX."""
    path, named = _libdevice.find(), os.environ.get("GPU_LIBDEVICE")
    if named and not os.path.isfile(named):
        yield Finding(
            BAD,
            "libdevice",
            f"GPU_LIBDEVICE={named} is not a file",
            "set it to the path of libdevice.10.bc, or unset it",
        )
    elif path:
        yield Finding(OK, "libdevice", path)
    elif _libdevice.libclc_dir():
        yield Finding(
            NOTE, "libdevice", "not found: PTX uses the math functions of libclc, which are slower",
            "pip install nvidia-nvvm, or set GPU_LIBDEVICE",
        )  # fmt: skip
    else:
        yield Finding(
            BAD, "libdevice", "neither libdevice nor libclc: PTX has no math functions", "install the package again"
        )


def tools() -> Iterable[Finding]:
    """Programs of the toolkit; none is needed."""
    for name, use, wheel in (
        ("ptxas", "checks PTX and makes machine code", "nvidia-cuda-nvcc"),
        ("nvdisasm", "shows machine code", "nvidia-cuda-nvdisasm"),
        ("cuobjdump", "shows machine code", "nvidia-cuda-cuobjdump"),
    ):
        path = _tools.find(name)
        if path:
            yield Finding(OK, name, f"{_tools.version(path)} in {path}")
        else:
            yield Finding(NOTE, name, f"not installed; it {use}", f"pip install {wheel}")


def caches() -> Iterable[Finding]:
    """Where compiled kernels are kept."""
    from . import _cache

    found = _cache.path()
    problem = _cache.problem(found)
    if problem is None and not os.access(found if os.path.isdir(found) else os.path.dirname(found) or ".", os.W_OK):
        parent = os.path.dirname(found)
        problem = f"{found} can't be written" if os.path.isdir(parent) else None
    if problem:
        yield Finding(NOTE, "cache", f"{problem}; kernels with cache=True are compiled anew", "set GPU_CACHE_DIR")
    else:
        yield Finding(OK, "cache", f"code of kernels with cache=True: {_cache.summary(found)}")
