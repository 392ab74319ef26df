"""Scripts and modules of users, run as ``__main__``: one that isn't there, and tracebacks without what ran them."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType


class NoScriptError(Exception):
    """There is no such script or module; the message says which."""


def run(script: str, args: Sequence[str], as_module: bool) -> None:
    """Run a script, or a module, as ``__main__``.

    Parameters
    ----------
    script : str
        A path, or the name of a module.
    args : sequence of str
        What ``sys.argv`` has behind the script.
    as_module : bool
        Whether `script` names a module.

    Raises
    ------
    NoScriptError
        If it isn't there.
    """
    import runpy

    if not (_module_is_there(script) if as_module else os.path.exists(script)):
        raise NoScriptError(f"there is no {'module' if as_module else 'file'} {script}")
    sys.argv = [script, *args]
    if as_module:
        runpy.run_module(script, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(script, run_name="__main__")


def _module_is_there(name: str) -> bool:
    import importlib.util

    if name.startswith("."):  # relative to nothing
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return False


def of_script(trace: TracebackType | None) -> TracebackType | None:
    """What is left of a traceback from the first frame on of a script that `run` ran; all of what it didn't run."""
    ran = trace
    while ran is not None and ran.tb_frame.f_code is not run.__code__:
        ran = ran.tb_next
    if ran is None:  # such as what is typed after the script, with python -i
        return trace
    ran = ran.tb_next
    while ran is not None and os.path.basename(ran.tb_frame.f_code.co_filename) in ("runpy.py", "<frozen runpy>"):
        ran = ran.tb_next
    return ran
