"""Where ``cache=True`` of the Numba dialect keeps code: as Numba does, in ``__pycache__`` beside the program's file.

Files begin with the function's name and line. One of them, the index, says which version of the program the others
were made of: when that changes they go, so that they don't pile up. (Whether code is the right one isn't decided by
that, but by what it was made of.) ``NUMBA_CACHE_DIR`` names another folder; where there is no file, or its folder can't
be written, or ``GPU_CACHE_DIR`` is set, code goes where that of `gpu.jit` does.
"""

from __future__ import annotations

import contextlib
import json
import os
import re

from .. import _cache
from . import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_NAME = 120  # characters; hash, ending and number of the writing process follow


def _folder(file: str) -> str | None:
    """The folder for a program's file, made if need be; None: it can't be."""
    home = os.path.dirname(os.path.abspath(file))
    found = os.path.join(home, "__pycache__")
    if config.CACHE_DIR:
        from hashlib import sha1

        mark = sha1(home.encode(), usedforsecurity=False).hexdigest()
        found = os.path.join(os.path.abspath(config.CACHE_DIR), f"{os.path.basename(home)}_{mark}")
    try:
        os.makedirs(found, mode=0o755, exist_ok=True)
    except OSError:
        return None
    return found if _cache.problem(found) is None and os.access(found, os.W_OK) else None


def place(function: Any) -> tuple[str, str] | None:
    """Folder and beginning of the names of a function's code; what is there of other versions of its file is removed.

    Returns
    -------
    tuple of two str, or None: it goes to the user's folder
    """
    code = function.__code__
    if os.environ.get("GPU_CACHE_DIR") or not os.path.isfile(code.co_filename):
        return None
    folder = _folder(code.co_filename)
    if folder is None:
        return None
    stem = os.path.splitext(os.path.basename(code.co_filename))[0]
    name = re.sub(r"[^\w.-]", "_", f"{stem}.{function.__qualname__}-{code.co_firstlineno}", flags=re.ASCII)[-MOST_NAME:]
    try:
        _renew(folder, name, code.co_filename)
    except OSError:
        return None
    return folder, name


def _renew(folder: str, name: str, file: str) -> None:
    """Write the index, and remove what is older, unless the index has this version of the file."""
    status = os.stat(file)
    stamp = {"file": os.path.abspath(file), "modified": status.st_mtime_ns, "bytes": status.st_size}
    index = os.path.join(folder, name + ".nbi")
    with contextlib.suppress(OSError, ValueError), open(index, encoding="utf-8") as kept:
        if json.load(kept) == stamp:
            return
    for entry in os.listdir(folder):
        if entry.startswith(name + ".") and entry.endswith(".gpu"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, entry))
    unfinished = f"{index}.{os.getpid()}"
    with open(unfinished, "w", encoding="utf-8") as made:
        json.dump(stamp, made)
    os.replace(unfinished, index)
