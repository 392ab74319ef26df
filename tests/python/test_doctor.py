"""gpu doctor: each finding with its action, and the exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
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


# ---- drivers of all sorts


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Finding]]:
    """The driver's findings with variables of the environment."""

    def ask(**variables: str) -> list[Finding]:
        for name in ("GPU_DEVICE", "GPU_LIBCUDA", "CUDA_VISIBLE_DEVICES"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        _doctor.ask.cache_clear()
        return list(_doctor.driver())

    yield ask
    _doctor.ask.cache_clear()


EMULATOR = str(Path(_doctor.__file__).parent / "emulator" / "libcuda.so.1")


def test_two_devices(asked) -> None:
    driver, one, two = asked(GPU_LIBCUDA=EMULATOR, GPU_EMULATOR_DEVICES="2", GPU_EMULATOR_DRIVER="12040")
    assert driver.text == f"for CUDA 12.4, reads PTX up to 8.4, in {EMULATOR}"
    assert (one.topic, two.topic) == ("cuda:0", "cuda:1")
    assert "sm_90, 8 GiB, 16 multiprocessors, GPU-" in one.text
    tests = [finding.text for finding in _doctor.self_test()]
    assert [text.rpartition(" in ")[0] for text in tests] == [
        f"a vector add compiled and ran on {name}" for name in ("cpu", "cuda:0", "emulated:0")
    ]
    (device,) = _doctor.device()
    assert device.text.startswith("cuda:0 (of cuda:0, cuda:1, cpu, emulated:0, emulated:1, python)")


def test_a_device_that_is_too_old(asked) -> None:
    (found,) = asked(GPU_LIBCUDA=EMULATOR, GPU_EMULATOR_SM="70")
    assert (found.state, "7.5 is the least" in found.text + found.action) == (BAD, True)


@pytest.mark.parametrize(
    ("code", "state", "text", "action"),
    [
        (803, BAD, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "reboot"),
        (100, NOTE, "CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES"),
        (999, BAD, "CUDA_ERROR_UNKNOWN", ""),
    ],
)
def test_a_driver_that_fails(asked, code: int, state: str, text: str, action: str) -> None:
    (found,) = asked(GPU_LIBCUDA=EMULATOR, GPU_EMULATOR_FAIL=f"cuInit:1={code}")
    assert found.state == state
    assert text in found.text
    assert action in found.action and found.action


def test_no_driver(asked, tmp_path: Path) -> None:
    empty, other, script = tmp_path / "empty.so", tmp_path / "other.so", tmp_path / "script.so"
    empty.touch()
    elf = bytearray(64)
    elf[:6], elf[18:20] = b"\x7fELF\x02\x01", (183).to_bytes(2, "little")  # AArch64
    other.write_bytes(elf)
    script.write_text("#!/bin/sh\n")
    for path, text in (
        (empty, "is empty"),
        (other, "another architecture"),
        (script, "can't be loaded"),
        (tmp_path / "none.so", "isn't there"),
    ):
        (found,) = asked(GPU_LIBCUDA=str(path))
        assert found.state == BAD
        assert text in found.text
        assert found.action
    (finding,) = _doctor.device()
    assert finding.text.startswith("cpu (of cpu, emulated:0")


def build_driver(folder: Path, body: str) -> str:
    source = folder / "cuda.c"
    source.write_text(body)
    try:
        subprocess.run(["cc", "-w", "-shared", "-fPIC", source, "-o", folder / "libcuda.so.1"], check=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")
    return str(folder / "libcuda.so.1")


@pytest.mark.parametrize(
    ("body", "text", "action"),
    [
        ("int cuDriverGetVersion(int *v) { return *v = 10020, 0; }", "CUDA 10.2, and gpu needs", "newer driver"),
        ("int cuDriverGetVersion(int *v) { return 34; }", "stub library", "stubs out of LD_LIBRARY_PATH"),
        ("int cuDriverGetVersion(int *v) { return *v = 12000, 0; }", "lacks cu", "newer driver"),
        ("int main;", "isn't a CUDA driver", "GPU_LIBCUDA"),
        ("#include <stdlib.h>\nint cuDriverGetVersion(int *v) { abort(); }", "ends the process", "nvidia-smi"),
    ],
)
def test_strange_drivers(asked, tmp_path: Path, body: str, text: str, action: str) -> None:
    (found,) = asked(GPU_LIBCUDA=build_driver(tmp_path, body))
    assert found.state == BAD
    assert text in found.text
    assert action in found.action


def test_variables_of_the_emulator(asked) -> None:
    asked(GPU_EMULATOR_SM="5")
    (found,) = _doctor.emulator()
    assert found.state == BAD
    assert found.text.startswith("GPU_EMULATOR_SM=5: it takes 70 75")
    assert found.action == "correct the variable, or unset it"


def test_gpu_device_names_none(asked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(GPU_DEVICE="tpu")
    (found,) = _doctor.device()
    assert (found.state, found.text) == (BAD, "GPU_DEVICE=tpu: there is no such device")
    assert found.action.startswith("set it to one of: ")
    asked(GPU_DEVICE="cuda", GPU_LIBCUDA="/nowhere/libcuda.so.1")
    (found,) = _doctor.device()
    assert (found.state, "isn't there" in found.text) == (BAD, True)
    asked(GPU_DEVICE="emulated")
    assert next(iter(_doctor.device())).state == OK


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
