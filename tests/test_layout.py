"""The layout of the sources: who includes whom, what no tracked file contains, what each file begins with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)

# What each folder may include, beside its own files and the C library: ours by path, others by prefix.
MAY_INCLUDE = {
    "compiler": ({"runtime/image.h"}, ("llvm-c/", "llvm/Config/")),
    "frontend": ({"compiler/ir.h", "compiler/arena.h"}, ()),
    "runtime": ({"runtime/emulator/private_api.h"}, ()),
    "runtime/emulator": (
        {
            "runtime/clock.h",
            "runtime/cuda_abi.h",
            "runtime/cuda_api.def",
            "runtime/cuda_attributes.def",
            "runtime/cuda_errors.def",
            "runtime/sharing.h",
        },
        (),
    ),
    "python/ext": (
        {
            "compiler/compiler.h",
            "compiler/irtext.h",
            "frontend/frontend.h",
            "frontend/devfn.h",
            "runtime/clock.h",
            "runtime/runtime.h",
            "runtime/device_info.def",
            "runtime/profile.h",
            "runtime/status.def",
        },
        ("Python.h", "structmember.h", "ffi.h"),
    ),
}
FOREIGN = ("llvm", "Python.h", "structmember.h", "ffi.h", "cuda", "dlpack")


def tracked(*patterns: str) -> list[Path]:
    """Tracked files that match."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.mark.one_version
@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes(folder: str) -> None:
    ours, others = MAY_INCLUDE[folder]
    wrong = []
    for path in tracked(f":(glob){folder}/*.c", f":(glob){folder}/*.h"):
        for quote, name in INCLUDE.findall(path.read_text()):
            if quote == '"':
                target = (path.parent / name).resolve().relative_to(ROOT)
                good = target.parent == Path(folder) or str(target) in ours
            else:
                good = name.startswith(others) or not name.startswith(FOREIGN)
            if not good:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


@pytest.mark.one_version
def test_llvm_stays_in_its_library() -> None:
    """Only the files that CMake puts into libgpu_compiler.so call LLVM; gpu_ir is linked elsewhere too."""
    pattern = re.search(r'llvm_sources INCLUDE REGEX "(.*)"\)', (ROOT / "CMakeLists.txt").read_text())
    assert pattern
    of_llvm = re.compile(pattern[1].replace("\\\\", "\\"))
    wrong = [
        path.name
        for path in tracked("compiler/*.c")
        if re.search(r'#include (<llvm|"(lower|emit|legal)\.h)', path.read_text()) and not of_llvm.search(str(path))
    ]
    assert not wrong


@pytest.mark.one_version
def test_tracked_files_name_no_machine() -> None:
    """No absolute path of somebody's machine and no package index in any tracked file."""
    machine = re.compile(
        r"/(?:root|home|work|Users)/\w|\b(?:pypi\.org|pythonhosted\.org|deb\.debian\.org|npmjs\.org)\b"
    )
    wrong = []
    for path in tracked():
        if path == Path(__file__).resolve() or path.suffix in (".png", ".jpg", ".bin"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if machine.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not wrong


@pytest.mark.one_version
def test_files_say_what_they_do() -> None:
    """Each source opens with a sentence on what it is for."""
    wrong = [str(p.relative_to(ROOT)) for p in tracked("*.c", "*.h", "*.def") if not p.read_text().startswith("/* ")]
    for path in tracked("*.py", "*.pyi"):
        if not re.match(r'(#!.*\n)?r?"""', path.read_text()):
            wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


@pytest.mark.one_version
def test_the_versions_of_python_are_those_of_dev() -> None:
    line = next(x for x in (ROOT / "dev").read_text().splitlines() if x.startswith("PYTHONS="))
    versions = re.findall(r"3\.\d+", line)
    assert re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text()) == versions
    assert f"Python {versions[0]} to {versions[-1]}" in (ROOT / "README.md").read_text()


@pytest.mark.one_version
def test_the_guide_for_contributors_places_each_module() -> None:
    """Files of python/gpu stand in a row of CONTRIBUTING.md's table: a newcomer sees where a new thing goes."""
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    modules = {p.stem for p in tracked("python/gpu/*.py") if p.parent.name == "gpu"} - {
        "__init__",
        "__main__",
        "_errors",
    }
    assert sorted(m for m in modules if f"`{m}`" not in guide) == []


@pytest.mark.one_version
def test_each_document_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert sorted(p.name for p in tracked("docs/*.md") if f"docs/{p.name}" not in readme) == []
