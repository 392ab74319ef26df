"""``cache=True``: code is kept in a folder, found again by all that it was made of, and never trusted blindly.

Each program runs in a process of its own, which says what it computed and how many specialisations were kept.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import gpu, math, sys
import numpy as np
from gpu import cuda

def report(*kernels):
    pairs = [pair for k in kernels for pair in k._kept]
    print(sum(kept for _, kept in pairs), "of", len(pairs))
"""
SIMPLE = (
    HEAD
    + """
FACTOR = 3

@gpu.jit(cache=True)
def scale(x):
    i = gpu.grid(1)
    if i < x.size:
        x[i] *= FACTOR

x = np.ones(4)
scale[1, 32](x)
print(x.sum())
report(scale)
"""
)


@pytest.fixture
def run(tmp_path):
    """Run a program with a folder for code that is empty at first; its words."""

    def run(text, folder=tmp_path / "kept"):
        program = tmp_path / "program.py"
        program.write_text(text)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GPU_CACHE_DIR": str(folder)}
        ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    return run


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def test_the_next_process_finds_the_code(run, tmp_path):
    assert run(SIMPLE) == ["12.0", "0 of 1"]
    assert len(files(tmp_path / "kept")) == 1
    assert run(SIMPLE) == ["12.0", "1 of 1"]


def test_without_the_option_nothing_is_kept(run, tmp_path):
    run(SIMPLE.replace("cache=True", ""))
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("FACTOR = 3", "FACTOR = 4", "16.0"),  # a global
        ("*= FACTOR", "+= FACTOR", "16.0"),  # the code
        ("cache=True", "cache=True, fastmath=True", "12.0"),  # an option
        ("np.ones(4)", "np.ones(4, np.float32)", "12.0"),  # types
        ("np.ones(4)", "np.ones(8)[::2]", "12.0"),  # the order of elements
    ],
)
def test_other_code_is_made_anew(run, old, new, result):
    run(SIMPLE)
    assert run(SIMPLE.replace(old, new)) == [result, "0 of 1"]
    assert run(SIMPLE) == ["12.0", "1 of 1"]


RICH = (
    HEAD
    + """
TABLE = np.arange(64.0)
POINT = np.dtype([("x", np.float32), ("n", np.int32)])

@gpu.jit(cache=True)
def together(x, out):
    s = gpu.shared.array(64, x.dtype)
    i = gpu.threadIdx.x
    s[i] = x[i] * TABLE[i]
    gpu.syncthreads()
    out[i] = s[63 - i]

@gpu.jit(cache=True)
def raises(x):
    i = gpu.grid(1)
    if x[i] > 2:
        raise ValueError("too much", x[i])

@gpu.jit(cache=True)
def prints(r):
    print("n is", r[0].n)

@gpu.jit(cache=True, device=True)
def host(a, b):
    return a + b, a * b

out = np.zeros(64)
together[1, 64](np.ones(64), out)
print(out[0], out[63])
try:
    raises[1, 4](np.arange(4.0))
except ValueError as error:
    print("ValueError", error.args[0])
prints[1, 1](np.array([(1, 7)], POINT))
gpu.synchronize()
sys.stdout.flush()
print(host(2, 3))
report(together, raises, prints, host)
"""
)


def test_what_belongs_to_the_code_is_there_again(run):
    first, again = run(RICH), run(RICH)
    assert first[:-1] == again[:-1] == ["63.0 0.0", "ValueError too much", "n is 7", "(5, 6)"]
    assert (first[-1], again[-1]) == ("0 of 4", "4 of 4")


SWEEP = (
    HEAD
    + """
@gpu.jit(cache=True)
def total(x, out, n, k, m):
    i, s = gpu.grid(1), 0.0
    while i < (n if m > 3 else k):
        s += x[i]
        i += gpu.gridsize(1)
    out[gpu.grid(1)] = s

out = np.zeros(256)
total[4, 64](np.arange(10000.0), out, 10000, 5000, 5)
print(out.sum())
report(total)
"""
)


def test_kept_code_is_cut_as_it_was(run):
    """Threads wait in this loop once its condition is a select: the image must say so of code that was found, too."""
    assert run(SWEEP) == ["49995000.0", "0 of 1"]
    assert run(SWEEP) == ["49995000.0", "1 of 1"]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_file_is_made_again(run, tmp_path, damage):
    run(SIMPLE)
    (file,) = files(tmp_path / "kept")
    good = file.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    file.write_bytes({"cut": good[:middle], "flip": flipped, "empty": b"", "other": b"x" * len(good)}[damage])
    assert run(SIMPLE) == ["12.0", "0 of 1"]
    assert file.read_bytes() == good


def test_a_file_under_a_wrong_name_is_not_taken(run, tmp_path):
    run(SIMPLE)
    (file,) = files(tmp_path / "kept")
    good = file.read_bytes()
    run(SIMPLE.replace("FACTOR = 3", "FACTOR = 4"))
    (other,) = set(files(tmp_path / "kept")) - {file}
    other.write_bytes(good)
    assert run(SIMPLE.replace("FACTOR = 3", "FACTOR = 4")) == ["16.0", "0 of 1"]


def test_what_others_can_write_is_not_read(run, tmp_path):
    run(SIMPLE)
    (file,) = files(tmp_path / "kept")
    file.chmod(0o666)
    assert run(SIMPLE) == ["12.0", "0 of 1"]
    (tmp_path / "kept").chmod(0o777)
    assert run(SIMPLE) == ["12.0", "0 of 1"]
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o777


def test_without_a_folder_kernels_run(run, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(SIMPLE, tmp_path / "file" / "kept") == ["12.0", "0 of 1"]
    assert run(SIMPLE, Path("/proc/none")) == ["12.0", "0 of 1"]


def test_processes_share_the_folder(run, tmp_path):
    many = SIMPLE.replace("FACTOR = 3", "FACTOR = int(sys.argv[1])")
    program = tmp_path / "many.py"
    program.write_text(many)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GPU_CACHE_DIR": str(tmp_path / "kept")}
    started = [
        subprocess.Popen([sys.executable, program, str(n)], env=environment, stdout=subprocess.PIPE, text=True)
        for n in (3, 3, 4, 4)
    ]
    said = [process.communicate()[0].splitlines()[0] for process in started]
    assert said == ["12.0", "12.0", "16.0", "16.0"]
    assert len(files(tmp_path / "kept")) == 2  # nothing unfinished is left


def test_numbas_names_count_what_was_found(run):
    program = (
        SIMPLE.replace("gpu.jit", "cuda.jit") + "print(sum(scale.stats.cache_hits.values()), scale.stats().block > 0)\n"
    )
    assert run(program)[2] == "0 True"
    assert run(program)[1:] == ["1 of 1", "1 True"]


def test_the_folder_is_shown_and_emptied(tmp_path, monkeypatch):
    from gpu import _cache

    monkeypatch.setenv("GPU_CACHE_DIR", str(tmp_path / "kept"))
    assert _cache.summary(_cache.path()) == f"0 specialisations, 0 KiB in {tmp_path / 'kept'}"
    assert _cache.folder() == str(tmp_path / "kept")
    (tmp_path / "kept" / "00.gpu").write_bytes(bytes(2**20))
    (tmp_path / "kept" / "notes.txt").write_text("not code")
    assert _cache.summary(_cache.path()).startswith("1 specialisation, 1.0 MiB")
    assert _cache.clear(_cache.path()) == 1
    assert [file.name for file in files(tmp_path / "kept")] == ["notes.txt"]


def test_why_a_folder_keeps_nothing(tmp_path):
    from gpu import _cache

    assert _cache.problem(str(tmp_path / "none")) is None
    (tmp_path / "file").write_text("")
    assert "isn't a folder" in str(_cache.problem(str(tmp_path / "file")))
    tmp_path.chmod(0o777)
    assert "can be written by others" in str(_cache.problem(str(tmp_path)))


NUMBA = """
import sys
from gpu import cuda
import numpy as np

def made(factor):
    @cuda.jit(cache=True)
    def scale(x):
        x[cuda.grid(1)] *= factor
    return scale

for factor in map(int, sys.argv[1:]):
    kernel, x = made(factor), np.ones(4)
    kernel[1, 4](x)
    print(int(x[0]), sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
print(kernel.stats.cache_path)
"""


def test_in_the_numba_dialect_code_lies_beside_the_program(tmp_path: Path) -> None:
    """One index for a function and one file for each specialisation, which go when the program changes."""
    program, beside = tmp_path / "program.py", tmp_path / "__pycache__"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("GPU_CACHE_DIR", None)

    def run(*factors: str, **more: str) -> list[str]:
        command = [sys.executable, str(program), *factors]
        ran = subprocess.run(command, env={**environment, **more}, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    program.write_text(NUMBA)
    assert run("2", "3", "2") == ["2 0 1", "3 0 1", "2 1 0", str(beside)]
    assert run("3") == ["3 1 0", str(beside)]
    assert sorted(path.suffix for path in beside.iterdir()) == [".gpu", ".gpu", ".nbi"]
    before = set(beside.glob("*.gpu"))
    # A file is named by its code: one that multiplies by 3, as before, would have the name that it had there where
    # Python knows no columns.
    program.write_text(NUMBA.replace("*= factor", "*= factor + 5"))
    assert run("2") == ["7 0 1", str(beside)]
    after = set(beside.glob("*.gpu"))
    assert len(after) == 1 and not after & before
    elsewhere = tmp_path / "kept"
    path = Path(run("2", NUMBA_CACHE_DIR=str(elsewhere))[-1])
    assert path.parent == elsewhere and len(list(path.iterdir())) == 2


def test_other_math_functions_make_other_code(run, tmp_path, monkeypatch):
    import shutil

    import gpu

    copy = tmp_path / "libclc"
    shutil.copytree(Path(gpu.__file__).parent / "libclc", copy)
    for name, value in (("GPU_LIBDEVICE", ""), ("GPU_LIBCLC", str(copy)), ("GPU_DEVICE", "emulated")):
        monkeypatch.setenv(name, value)
    program = SIMPLE.replace("x[i] *= FACTOR", "x[i] = math.cos(x[i])")
    assert [run(program)[1], run(program)[1]] == ["0 of 1", "1 of 1"]
    os.utime(next(copy.glob("*.bc")), (1, 1))
    assert run(program)[1] == "0 of 1"
