"""gpu doctor: each finding with its action, and the exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpu import _doctor, _libdevice, _tools
from gpu._doctor import BAD, NOTE, OK, Finding


def findings(check) -> dict[str, Finding]:
    return {f.topic: f for f in check()}


def test_a_working_installation() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpu", "doctor"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for topic in ("gpu", "python", "numpy", "compiler", "device", "self-test", "driver", "libdevice", "ptxas", "cache"):
        assert f"  {topic} " in done.stdout
    assert done.stdout.endswith("Nothing is wrong.\n")
    assert "LLVM 22" in done.stdout
    assert "\x1b[" not in done.stdout


def test_a_bad_finding_has_an_action_and_ends_with_1() -> None:
    env = {**os.environ, "GPU_LIBDEVICE": "/nowhere/libdevice.10.bc", "GPU_NUM_THREADS": "many"}
    done = subprocess.run(
        [sys.executable, "-m", "gpu", "doctor"], capture_output=True, text=True, timeout=120, check=False, env=env
    )
    assert done.returncode == 1
    assert "GPU_LIBDEVICE=/nowhere/libdevice.10.bc is not a file" in done.stdout
    assert "-> set it to the path of libdevice.10.bc, or unset it" in done.stdout
    assert "GPU_NUM_THREADS=many" in done.stdout


def test_everything_that_is_not_ok_has_an_action() -> None:
    for finding in _doctor.checks():
        assert finding.state == OK or finding.action, finding


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken():
        raise RuntimeError("oh")
        yield

    monkeypatch.setattr(_doctor, "package", broken)
    first = next(iter(_doctor.checks()))
    assert (first.state, first.text) == (BAD, "RuntimeError: oh")


def test_without_numpy() -> None:
    code = "import sys; sys.modules['numpy'] = None; from gpu._cli import cli; cli(['doctor'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "BAD   numpy        not installed\n                   -> pip install 'numpy>=2.0'" in done.stdout
    assert "1 problem." in done.stdout


def test_report() -> None:
    lines: list[str] = []
    style = lambda text, fg: text  # noqa: E731
    assert _doctor.report([Finding(OK, "a", "fine"), Finding(NOTE, "b", "so", "do it")], lines.append, style) == 0
    assert lines == [
        "ok    a            fine",
        "note  b            so",
        "                   -> do it",
        "",
        "Nothing is wrong.",
    ]
    assert _doctor.report([Finding(BAD, "a", "x", "y")], lines.append, style) == 1
    assert lines[-1] == "1 problem."


def fake_driver(folder: Path, body: str) -> dict[str, str]:
    cc = "cc"
    source = folder / "cuda.c"
    source.write_text(body)
    try:
        subprocess.run([cc, "-w", "-shared", "-fPIC", source, "-o", folder / "libcuda.so.1"], check=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")
    return {"LD_LIBRARY_PATH": str(folder)}


WHOLE = """
#include <string.h>
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuInit(unsigned f) { return INIT; }
int cuGetErrorName(int e, const char **s) { return *s = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", 0; }
int cuDeviceGetCount(int *n) { return *n = 2, 0; }
int cuDeviceGet(int *d, int i) { return *d = i, 0; }
int cuDeviceGetName(char *s, int n, int d) { return strcpy(s, d ? "Old One" : "Big One"), 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { return *v = a == 75 ? (d ? 6 : 9) : (d ? 1 : 0), 0; }
"""


def test_driver_and_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", fake_driver(tmp_path, "#define INIT 0\n" + WHOLE)["LD_LIBRARY_PATH"])
    found = findings(_doctor.driver)
    assert found["driver"].text == "libcuda.so.1 for CUDA 13.0"
    assert found["device 0"].text == "Big One, sm_90"
    assert (found["device 1"].state, found["device 1"].action) == (NOTE, "PTX is made for sm_75 and later")


def test_a_driver_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", fake_driver(tmp_path, "#define INIT 803\n" + WHOLE)["LD_LIBRARY_PATH"])
    found = list(_doctor.driver())
    assert [f.state for f in found] == [OK, NOTE]
    assert found[1].text == "cuInit gives CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"


def test_a_driver_that_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "#include <stdlib.h>\nint cuDriverGetVersion(int *v) { abort(); }\n"
    monkeypatch.setenv("LD_LIBRARY_PATH", fake_driver(tmp_path, body)["LD_LIBRARY_PATH"])
    (found,) = _doctor.driver()
    assert found.state == NOTE
    assert found.action


def test_libdevice_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_LIBDEVICE", "/some/where.bc")
    assert _libdevice.find() == "/some/where.bc"
    monkeypatch.setenv("GPU_LIBDEVICE", "")
    assert _libdevice.find() is None
    monkeypatch.delenv("GPU_LIBDEVICE")
    toolkit, site = tmp_path / "cuda", tmp_path / "site"
    wheels = [site / wheel.replace("*", "13") / "libdevice.10.bc" for wheel in _libdevice.WHEELS]
    for path in (toolkit / "nvvm/libdevice/libdevice.10.bc", *wheels):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setattr(_libdevice, "TOOLKITS", ())
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert set(_libdevice.candidates()) == set(map(str, wheels))
    monkeypatch.setenv("CUDA_HOME", str(toolkit))
    assert _libdevice.find() == str(toolkit / "nvvm/libdevice/libdevice.10.bc")


def test_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "ptxas"
    program.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.1'\n")
    program.chmod(0o755)
    assert _tools.find("ptxas") == str(program)
    assert _tools.version(str(program)) == "12.4"
    assert _tools.version(str(tmp_path / "none")) == "?"
