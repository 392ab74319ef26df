"""The command line: output, errors on stderr, exit status; the header and the C program that uses it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gpu
import pytest
from gpu import _tools

ROOT = Path(__file__).resolve().parents[2]

SOURCE = """
import math
import gpu

@gpu.jit
def scale(a, x, out):
    i = gpu.grid(1)
    if i < len(out):
        out[i] = a * x[i]

@gpu.jit("f8[:, ::1], (i4, c8)")
def mixed(m, t):
    m[0, 0] = t[0] + t[1].real + m.shape[1]

def plain(x):
    x[0] = math.sin(x[0])

@gpu.jit
def wrong(x):
    x[0] = "text"

number = 3
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    return path


def run(*args: object, status: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "gpu", *map(str, args)],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert not done.stdout
        assert done.stderr.strip()
        assert "Traceback" not in done.stderr or "can't be imported" in done.stderr
    return done


def test_version() -> None:
    assert run("--version").stdout == f"gpu {gpu.__version__}\n"


def test_help() -> None:
    for command in ("ptx", "inspect", "doctor"):
        assert command in run("--help").stdout
        assert run(command, "--help").stdout.startswith("Usage: gpu " + command)


def test_ptx_to_stdout(source: Path) -> None:
    out = run("ptx", f"{source}:scale", "--sig", "float, f4[::1], f4[::1]", "--arch", "sm_90").stdout
    assert ".target sm_90" in out
    assert ".entry scale" in out
    assert "mul.f32" in out or "mul.rn.f32" in out  # a weak float takes the array's type


def test_both_spellings_give_the_same(source: Path) -> None:
    one = run("ptx", f"{source}:scale", "--sig", "f4, f4[::1], f4[::1]").stdout
    two = run("ptx", f"{source}:scale", "--sig", "void(float32, float32[::1], float32[::1])").stdout
    assert one == two


def test_typed_numbers_are_not_weak(source: Path) -> None:
    out = run("ptx", f"{source}:scale", "--sig", "f8, f4[::1], f4[::1]").stdout
    assert re.search(r"mul(\.rn)?\.f64", out)


def test_several_kernels_and_archs(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("ptx", f"{source}:scale,plain", "--sig", "f4, f4[::1], f4[::1]", "--sig", "f4[::1]",
        "--arch", "sm_75,sm_120", "-o", f"{folder}{os.sep}")  # fmt: skip
    assert sorted(p.name for p in folder.iterdir()) == [
        "plain.sm_120.ptx", "plain.sm_75.ptx", "scale.sm_120.ptx", "scale.sm_75.ptx",
    ]  # fmt: skip
    assert ".target sm_120" in (folder / "plain.sm_120.ptx").read_text()
    run(
        "ptx",
        f"{source}:scale",
        "--sig",
        "f4, f4[::1], f4[::1]",
        "--arch",
        "sm_75,sm_90",
        "-o",
        tmp_path / "a_{arch}.ptx",
    )
    assert (tmp_path / "a_sm_90.ptx").exists()


def test_options(tmp_path: Path) -> None:
    source = tmp_path / "axpy.py"
    source.write_text("def k(a, x, y):\n    y[0] = a * x[0] + y[0]\n    y[1] = x[1] / a\n")

    def made(*options: str) -> str:
        return run("ptx", f"{source}:k", "--sig", "f4, f4[::1], f4[::1]", *options).stdout

    plain = made()
    assert "fma.rn.f32" in plain and "div.rn.f32" in plain
    assert ".maxnreg" not in plain and ".loc" not in made("--no-lineinfo")
    assert "fma.rn.f32" not in made("--no-fma")
    assert "div.approx" in made("--fastmath")
    assert ".maxnreg 32" in made("--max-registers", "32")
    assert "axpy.py" in plain and re.search(r"\.loc\s+1 2 ", plain) and re.search(r"\.loc\s+1 3 ", plain)


def test_the_decorators_signature_is_the_default(source: Path) -> None:
    assert ".entry mixed" in run("ptx", f"{source}:mixed").stdout


@pytest.mark.skipif(_tools.find("ptxas") is None, reason="ptxas isn't installed")
def test_ptxas_takes_it(source: Path, tmp_path: Path) -> None:
    for arch in ("sm_75", "sm_90", "sm_120"):
        path = tmp_path / "k.ptx"
        run("ptx", f"{source}:mixed", "--arch", arch, "-o", path)
        _tools.assemble(path.read_text(), arch, str(tmp_path / "k.cubin"))


USAGE = [
    (["ptx"], "Missing argument"),
    (["ptx", "kernels.py"], "write FILE.py:KERNEL"),
    (["ptx", "FILE:scale"], "scale is decorated without types: add --sig"),
    (["ptx", "FILE:scale,plain", "--sig", "f4[:]"], "2 texts to write"),
    (["ptx", "FILE:scale", "--sig", "f4", "--sig", "f4"], "2 signatures for 1 kernels"),
    (["ptx", "FILE:mixed", "--arch", "sm_80,sm_90", "-o", "one.ptx"], "2 texts to write, and one file"),
    (["inspect", "FILE:mixed", "--what", "magic"], "'magic' is not one of"),
    (["inspect", "FILE:mixed,plain"], "inspect takes one kernel"),
    (["frobnicate"], "No such command"),
]


@pytest.mark.parametrize(("args", "message"), USAGE)
def test_wrong_usage_ends_with_2(source: Path, args: list[str], message: str) -> None:
    done = run(*(a.replace("FILE", str(source)) for a in args), status=2)
    assert message in done.stderr


INPUT = [
    (["ptx", "nowhere.py:k"], "there is no file nowhere.py"),
    (["ptx", "FILE:nope", "--sig", "f4"], "has no 'nope'; its kernels are: scale, mixed, wrong"),
    (["ptx", "FILE:number", "--sig", "f4"], "has something else (int) as its 'number'"),
    (["ptx", "FILE:scale", "--sig", "f4, flot32"], "    f4, flot32\n        ^^^^^^"),
    (["ptx", "FILE:scale", "--sig", "f4[:]"], "scale"),
    (["ptx", "FILE:scale", "--sig", "f4, f4[::1], f4[::1]", "--arch", "sm_12"], "sm_12"),
    (["ptx", "FILE:scale", "--sig", "f4, f4[::1], f4[::1]", "--arch", "gfx90"], "gfx90"),
    (["ptx", "FILE:wrong", "--sig", "f4[::1]"], "kernels.py:20"),
    (["inspect", "FILE:wrong", "--what", "ir", "--sig", "f4[::1]"], "kernels.py:20"),
    (["ptx", "FILE:mixed", "-o", "/proc/no/such/place.ptx"], "can't write /proc/no/such/place.ptx"),
]


@pytest.mark.parametrize(("args", "message"), INPUT)
def test_wrong_input_ends_with_1(source: Path, args: list[str], message: str) -> None:
    done = run(*(a.replace("FILE", str(source)) for a in args), status=1)
    assert message in done.stderr
    assert "\x1b[" not in done.stderr  # no colours in a pipe


def test_a_file_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("def f():\n    1 / 0\nf()\n")
    done = run("ptx", f"{path}:k", status=1)
    assert "can't be imported" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "_cli.py" not in done.stderr
    path.write_text("def f(:\n")
    assert "SyntaxError" in run("ptx", f"{path}:k", status=1).stderr


@pytest.mark.parametrize("what", ["bytecode", "types", "ir", "llvm", "llvm_opt", "asm", "ptx"])
def test_inspect(source: Path, what: str) -> None:
    assert run("inspect", f"{source}:mixed", "--what", what).stdout.strip()


def test_sass(source: Path) -> None:
    if _tools.find("ptxas") and (_tools.find("nvdisasm") or _tools.find("cuobjdump")):
        assert "EXIT" in run("inspect", f"{source}:mixed", "--what", "sass").stdout
    else:
        assert "installed" in run("inspect", f"{source}:mixed", "--what", "sass", status=1).stderr


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("no C compiler")
    return found


FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]


def test_header_of_many_types(tmp_path: Path) -> None:
    """A struct of every kind of parameter compiles; its offsets are asserted in the header itself."""
    source = tmp_path / "many.py"
    source.write_text(
        "import gpu\n\n@gpu.jit\ndef k(x, t, flag, z, int):\n"
        "    x[gpu.grid(1), 0] = t[0] + t[1][0][2] + t[1][1] + flag + z.real + z.imag + int\n"
        "    x[0, 1] = x.shape[0] + x.strides[1]\n"
    )
    header = tmp_path / "many.h"
    run("ptx", f"{source}:k", "--sig", "f4[:, :], (i1, (f8[::1], u2)), bool, complex, int", "-o", tmp_path / "k.ptx",
        "--header", header)  # fmt: skip
    text = header.read_text()
    for field in ("float32", "x_shape0", "x_stride0", "t_0", "t_1_0", "t_1_1", "z_re", "z_im", "int_", "K_SM_80_FILE"):
        assert field in text, text
    program = tmp_path / "use.c"
    program.write_text('#include "many.h"\nint main(void) { k_params p = {0}; return p.t_0 + K_PARAMS_BYTES * 0; }\n')
    subprocess.run([compiler(), *FLAGS, "-o", tmp_path / "use", program], check=True)


def test_header_of_records(tmp_path: Path) -> None:
    """A record is a C struct with its fields where they are, as a parameter and as an array's element."""
    source = tmp_path / "records.py"
    source.write_text("import gpu\n\n@gpu.jit\ndef k(r, p):\n    r[gpu.grid(1)].x += p.y + p.s[1].b\n")
    header = tmp_path / "records.h"
    array = "record(x: float32 @ 4, n: int16[3] @ 8, 16 bytes)[::1]"
    scalar = "record(y: float64, z: int8, s: record(a: complex64, b: bool)[2])"
    run("ptx", f"{source}:k", "--sig", f"{array}, {scalar}", "-o", tmp_path / "k.ptx", "--header", header)
    program = tmp_path / "use.c"
    program.write_text(
        '#include "records.h"\n'
        "int main(void) {\n"
        "    k_params params = {.p = {.y = 2, .s = {[1] = {.a = {1, 2}, .b = 1}}}};\n"
        "    k_r element = {.x = 1.5f, .n = {1, 2, 3}};\n"
        "    return !(offsetof(k_r, n) == 8 && sizeof element == 16 && params.p.s[1].b && element.x > 1);\n"
        "}\n"
    )
    subprocess.run([compiler(), *FLAGS, "-o", tmp_path / "use", program], check=True)
    subprocess.run([tmp_path / "use"], check=True)


def test_header_says_what_launches_promise(source: Path, tmp_path: Path) -> None:
    header = tmp_path / "k.h"
    args = ["ptx", f"{source}:mixed", "-o", tmp_path / "k.ptx", "--header", header]
    run(*args)
    assert "promises" not in header.read_text()
    run(*args, "--assume", "noalias", "--assume", "size32")
    assert header.read_text().count("Every launch promises: ") == 2


def test_header_of_a_kernel_that_raises(tmp_path: Path) -> None:
    source, header, program = tmp_path / "raises.py", tmp_path / "raises.h", tmp_path / "use.c"
    source.write_text("def k(x):\n    if x[0] < 0:\n        raise ValueError('negative')\n    x[0] = 1\n")
    run("ptx", f"{source}:k", "--sig", "f4[::1]", "-o", tmp_path / "k.ptx", "--header", header)
    program.write_text(
        '#include "raises.h"\nint main(void) { return sizeof(k_params) != K_PARAMS_BYTES || '
        "offsetof(k_params, error_record) + 8 != K_PARAMS_BYTES; }\n"
    )
    subprocess.run([compiler(), *FLAGS, "-o", tmp_path / "use", program], check=True)
    subprocess.run([tmp_path / "use"], check=True)
    params = re.findall(r"^\s*\.param ", (tmp_path / "k.ptx").read_text(), re.MULTILINE)
    assert len(params) == header.read_text().count("static_assert(")


def test_the_c_example(tmp_path: Path) -> None:
    """examples/c compiles against the header, loads the PTX and launches it through a driver that checks the call."""
    folder = ROOT / "examples" / "c"
    run("ptx", f"{folder / 'saxpy.py'}:saxpy", "-o", tmp_path / "saxpy.ptx", "--header", tmp_path / "saxpy.h")
    cc = compiler()
    subprocess.run([cc, *FLAGS, f"-I{tmp_path}", folder / "saxpy.c", "-ldl", "-o", tmp_path / "saxpy"], check=True)
    subprocess.run(
        [
            cc,
            *FLAGS,
            f"-I{tmp_path}",
            "-shared",
            "-fPIC",
            ROOT / "tests/python/fake_driver.c",
            "-o",
            tmp_path / "libcuda.so.1",
        ],
        check=True,
    )
    command = [tmp_path / "saxpy", tmp_path / "saxpy.ptx"]
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{1 << 20} elements, 0 wrong\n", "")


@pytest.mark.parametrize(
    ("what", "options", "status", "message"),
    [
        ("reverse", ["--only", "races"], 1, "DeviceFault: reverse_f4c1(): data race"),
        ("reverse", ["--only", "barriers"], 0, "nothing found"),
        ("shift", [], 1, "IndexError: index 64 is out of bounds for axis 0 with size 64"),
        ("add_one", [], 0, "gpu check: nothing found"),
        ("add_one", ["--only", "rases"], 2, "--only rases: there are"),
    ],
)
def test_check(what: str, options: list[str], status: int, message: str) -> None:
    script = ROOT / "tests" / "faulty_kernels.py"
    done = subprocess.run(
        [sys.executable, "-m", "gpu", "check", *options, script, what], capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert message in done.stderr
    assert "_cli.py" not in done.stderr


@pytest.mark.parametrize("command", ["check", "profile", "numba"])
def test_a_script_that_raises_is_shown_without_what_ran_it(command: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def f():\n    return 1 // 0\n\n\nf()\n")
    (tmp_path / "no_syntax.py").write_text("def f(:\n")
    for script, frames, error in (("wrong.py", 2, "ZeroDivisionError"), ("no_syntax.py", 1, "SyntaxError")):
        done = subprocess.run(
            [sys.executable, "-m", "gpu", command, script], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 1
        assert done.stderr.count("  File ") == frames and error in done.stderr


def test_what_is_typed_after_a_script_has_its_traceback(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("x = 0\n")
    command = [sys.executable, "-i", "-m", "gpu.numba", "script.py"]
    done = subprocess.run(command, input="1 // 0\n", capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "Traceback" in done.stderr and 'File "<' in done.stderr and "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("command", ["check", "profile", "numba"])
def test_a_script_that_is_not_there(command: str) -> None:
    assert "gpu: there is no file nothing.py\n" in run(command, "nothing.py", status=1).stderr
    for name in ("no.such_module", ".relative"):
        assert f"gpu: there is no module {name}\n" in run(command, "-m", name, status=1).stderr
