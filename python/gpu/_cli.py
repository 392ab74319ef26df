"""The ``gpu`` command: ``ptx``, ``inspect``, ``doctor``, ``cache``, ``numba``, ``check``, ``profile``.

Errors go to stderr; exit status 1 says that the input is wrong, 2 that the command line is.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

import click
import gpu
from gpu import _core, _header, _scripts
from gpu._jit import STAGES, Kernel
from gpu.signature import parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


# FACT_* of compiler/ir.h: what a launch from Python finds out for itself, and an exported kernel must be told.
ASSUMPTIONS = {"size32": 1, "align16": 2, "noalias": 4, "counts": 16}


LARGE_CAPTURES = 32768  # bytes: a launch from Python passes larger ones beside the code


class InputError(click.ClickException):
    """What the user gave can't be worked on: exit status 1."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        """Print the message as it is: a CompileError begins with its place, not with a title."""
        click.echo(self.message, err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(gpu.__version__, prog_name="gpu", message="%(prog)s %(version)s")
def cli() -> None:
    """Kernels in Python: export them as PTX, look at their compilation, check the installation."""


@cli.command()
@click.argument("kernels", nargs=-1, required=True, metavar="FILE.py:KERNEL...")
@click.option(
    "--sig",
    "signatures",
    multiple=True,
    help="Argument types, as 'f4[::1], float' or 'void(float32[:])'; once, or once for each kernel.",
)
@click.option("--arch", "archs", default="sm_80", show_default=True, help="Architectures, separated by commas.")
@click.option(
    "-o", "--output", help="A file, a folder, or a name with {kernel} and {arch} in it. Default: standard output."
)
@click.option("--header", type=click.Path(dir_okay=False), help="Write a C header with entries and parameter layout.")
@click.option("--fastmath", is_flag=True, help="Approximate functions; no care for NaN and signed zero.")
@click.option("--no-fma", is_flag=True, help="Don't fuse x * y + z.")
@click.option("--no-lineinfo", is_flag=True, help="No line numbers of the Python file in the PTX.")
@click.option(
    "--max-registers", type=click.IntRange(0, 255), default=0, help="Registers a thread may use; 0: no limit."
)
@click.option(
    "--assume",
    multiple=True,
    type=click.Choice(list(ASSUMPTIONS)),
    help="What every launch promises: sizes and grid below 2^31 bytes and threads, 16-byte aligned arrays, no overlap, "
    "integers from 0 to 2^31 - 1.",
)
def ptx(
    kernels: tuple[str, ...],
    signatures: tuple[str, ...],
    archs: str,
    output: str | None,
    header: str | None,
    fastmath: bool,
    no_fma: bool,
    no_lineinfo: bool,
    max_registers: int,
    assume: tuple[str, ...],
) -> None:
    """Write the PTX of kernels.

    A kernel decorated with a signature needs no --sig. Several kernels may be named as FILE.py:one,two.
    """
    found = [pair for text in kernels for pair in load_kernels(text)]
    if len(signatures) not in (0, 1, len(found)):
        raise click.UsageError(f"{len(signatures)} signatures for {len(found)} kernels: give one, or one for each")
    names = [arch.strip() for arch in archs.split(",") if arch.strip()]
    target = check_output(output, len(found) * len(names))
    results: list[_header.Entry] = []
    for number, (kernel, source) in enumerate(found):
        types = kernel_types(kernel, signatures[number % len(signatures)] if signatures else None)
        options = {**kernel.options, "signatures": ()}
        options.update(
            fastmath=fastmath or kernel.options["fastmath"],
            fma=kernel.options["fma"] and not no_fma,
            lineinfo=kernel.options["lineinfo"] and not no_lineinfo,
            max_registers=max_registers or kernel.options["max_registers"],
        )
        for arch in names:
            text, entry, layout, size = run(
                lambda k=kernel, t=types, a=arch, o=options: _core.ptx(k, t, a, o, sum(ASSUMPTIONS[f] for f in assume))
            )
            tell_captured(text, kernel.__name__)
            path = write_ptx(text, target, kernel.__name__, arch)
            results.append(_header.Entry(kernel, types, arch, entry, layout, size, path, source, assume))
    if header:
        write(header, run(lambda: _header.text(results, header)))


@cli.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--what", type=click.Choice(STAGES), default="ir", show_default=True)
@click.option("--sig", "signature", help="Argument types, as 'f4[::1], float' or 'void(float32[:])'.")
@click.option("--arch", help="sm_75 to sm_121, for ptx, sass and llvm. [default: sm_80 for ptx and sass, else the CPU]")
def inspect(kernel: str, what: str, signature: str | None, arch: str | None) -> None:
    """Print one stage of a kernel's compilation."""
    found = load_kernels(kernel)
    if len(found) != 1:
        raise click.UsageError("inspect takes one kernel")
    k = found[0][0]
    types = None if what == "bytecode" and signature is None else kernel_types(k, signature)
    text = run(lambda: k.inspect(what, types, arch=arch))
    click.echo(text, nl=not text.endswith("\n"))


@cli.command()
def doctor() -> None:
    """Say what is installed, what is wrong, and what to do about it.

    Exit status 1 if something is wrong.
    """
    from gpu import _doctor

    sys.exit(_doctor.report(_doctor.checks(), click.echo, click.style))


@cli.command()
@click.option("--clear", is_flag=True, help="Remove all of it.")
def cache(clear: bool) -> None:
    """Show how much compiled code of kernels with cache=True is kept, and where."""
    from gpu import _cache

    found = _cache.path()
    problem = _cache.problem(found)
    if problem:
        raise InputError(f"gpu cache: {problem}")
    if clear:
        removed = _cache.clear(found)
        click.echo(f"removed {removed} file{'' if removed == 1 else 's'} from {found}")
    else:
        click.echo(_cache.summary(found))


@cli.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT.py [ARGUMENTS...]")
def numba(program: tuple[str, ...]) -> None:
    """Run a program written for Numba: its `import numba` gives gpu.cuda.

    The script stays as it is, and so do modules that it imports. `-m MODULE` runs a module.
    """
    from gpu.numba import main as run_program

    if program == ("-m",):
        raise click.UsageError("-m takes the name of a module")
    run_program(list(program))


@cli.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--only", default="all", show_default=True, help="uninit, races, barriers, masks; several with commas.")
@click.option("-m", "as_module", is_flag=True, help="SCRIPT is the name of a module.")
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def check(only: str, as_module: bool, script: str, args: tuple[str, ...]) -> None:
    """Run a script on the emulated GPU, and look for what its kernels do wrong.

    Indices and addresses out of bounds, always; reads of what nothing has written, races, barriers that not all threads
    reach, wrong masks of warp operations. The first fault ends the script, with line, thread and array. The exit status
    is the script's.
    """
    from gpu import _checks

    if message := _checks.ask_for(only, "--only"):
        raise click.UsageError(message)
    os.environ["GPU_EMULATOR_REPORT"] = "off"
    status = run_script(script, args, as_module)
    if not status:
        click.echo("gpu check: nothing found", err=True)
    sys.exit(status)


@cli.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "json_path", help="Write the counters as JSON; - for standard output, in place of the table.")
@click.option("--html", "html_path", help="Write a page with the source beside the figures.")
@click.option("-m", "as_module", is_flag=True, help="SCRIPT is the name of a module.")
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def profile(json_path: str | None, html_path: str | None, as_module: bool, script: str, args: tuple[str, ...]) -> None:
    """Run a script on the emulated GPU, and say what each line of its kernels did.

    Instructions, active threads, branches that split, memory traffic, bank conflicts, atomics: counted, not sampled.
    The exit status is the script's.
    """
    with gpu.profile() as p:
        status = run_script(script, args, as_module)
    if json_path == "-":
        click.echo(p.to_json())
    else:
        click.echo(str(p))
        if json_path:
            write(json_path, p.to_json())
    if html_path:
        write(html_path, p.to_html())
    sys.exit(status)


def run_script(script: str, args: tuple[str, ...], as_module: bool) -> Any:
    """Run a script, or a module, as ``__main__`` on the emulated GPU; its exit status."""
    sys.path.insert(0, "" if as_module else os.path.dirname(os.path.realpath(script)))
    gpu.set_device("emulated")
    try:
        _scripts.run(script, args, as_module)
        gpu.synchronize()
    except SystemExit as end:
        return end.code
    except _scripts.NoScriptError as error:
        raise InputError(f"gpu: {error}") from None
    except BaseException as error:
        traceback.print_exception(type(error), error, _scripts.of_script(error.__traceback__))
        return 1
    return 0


# ---- kernels in files


def load_kernels(text: str) -> list[tuple[Kernel, str]]:
    """The kernels that ``FILE.py:one,two`` names, with the file."""
    path, colon, names = text.rpartition(":")
    if not colon or not path or not names:
        raise click.UsageError(f"'{text}': write FILE.py:KERNEL")
    module = load_file(path)
    return [(find_kernel(module, name.strip(), path), path) for name in names.split(",")]


_loaded: dict[str, ModuleType] = {}


def load_file(path: str) -> ModuleType:
    """Run a Python file as a module of its own name, once."""
    full = os.path.realpath(path)
    if full in _loaded:
        return _loaded[full]
    if not os.path.isfile(full):
        raise InputError(f"gpu: there is no file {path}")
    name = os.path.splitext(os.path.basename(full))[0]
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise InputError(f"gpu: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(full))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except gpu.CompileError as error:
        raise InputError(str(error)) from None
    except (Exception, SystemExit) as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != full:
            trace = trace.tb_next
        lines = traceback.format_exception(type(error), error, trace)
        raise InputError(f"gpu: {path} can't be imported\n{''.join(lines).rstrip()}") from None
    _loaded[full] = module
    return module


def find_kernel(module: ModuleType, name: str, path: str) -> Kernel:
    """A kernel of a module by its name; a plain function becomes one."""
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if isinstance(value, Kernel):
        return value
    if type(value).__name__ == "function":
        return gpu.jit(value)  # type: ignore[no-any-return]
    there = [n for n, v in vars(module).items() if isinstance(v, Kernel)]
    what = "has no" if value is None else f"has something else ({type(value).__name__}) as its"
    raise InputError(f"gpu: {path} {what} '{name}'; its kernels are: {', '.join(there) or 'none'}")


def kernel_types(kernel: Kernel, signature: str | None) -> tuple[_core.Type, ...]:
    """The argument types, of --sig or of the decorator."""
    if signature is None:
        signatures: tuple[tuple[_core.Type, ...], ...] = kernel.options["signatures"]
        if not signatures:
            example = ", ".join("f4[::1]" for _ in range(kernel.py_func.__code__.co_argcount))
            raise click.UsageError(
                f"{kernel.__name__} is decorated without types: add --sig, for example --sig '{example}'"
            )
        return signatures[0]
    return run(lambda: parse(signature)).args  # type: ignore[no-any-return]


def run(action: Any) -> Any:
    """Do something that may fail for the input's sake: those errors end with status 1."""
    try:
        return action()
    except gpu.CompileError as error:
        raise InputError(str(error)) from None
    except (ValueError, TypeError, RuntimeError, ImportError, OSError) as error:
        raise InputError(f"gpu: {error}") from None


# ---- output


def check_output(output: str | None, count: int) -> str | None:
    """``output`` as a pattern of file names; refuses one file for several outputs."""
    if output is None or output == "-":
        if count > 1:
            raise click.UsageError(
                f"{count} texts to write: give a folder, or a name with {{kernel}} and {{arch}}, with -o"
            )
        return None
    if output.endswith(os.sep) or os.path.isdir(output):
        return os.path.join(output, "{kernel}.{arch}.ptx")
    if count > 1 and not ("{kernel}" in output or "{arch}" in output):
        raise click.UsageError(
            f"{count} texts to write, and one file: give -o a folder, or a name with {{kernel}} and {{arch}}"
        )
    return output


def tell_captured(text: str, kernel: str) -> None:
    """Say how large the captured arrays in a kernel's PTX are, if they are."""
    found = re.findall(r"^\.(?:visible )?(?:global|const) .*\bdata_\d+\[(\d+)\]", text, re.MULTILINE)
    size = sum(map(int, found))
    if size > LARGE_CAPTURES:
        click.echo(f"{kernel}: captured arrays of {size} bytes are written into the PTX", err=True)


_written: set[str] = set()


def write_ptx(text: str, pattern: str | None, kernel: str, arch: str) -> str | None:
    """Write one text; its path, or None for standard output."""
    if pattern is None:
        click.echo(text, nl=not text.endswith("\n"))
        return None
    path = pattern.replace("{kernel}", kernel).replace("{arch}", arch)
    if path in _written:
        raise click.UsageError(f"two texts would be written to {path}: use both {{kernel}} and {{arch}}")
    _written.add(path)
    write(path, text)
    return path


def write(path: str, lines: str | Iterable[str]) -> None:
    """Write a file; its folder is made."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        raise InputError(f"gpu: can't write {path}: {error.strerror}") from None
