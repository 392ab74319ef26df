"""The folder where ``cache=True`` keeps compiled code: ``GPU_CACHE_DIR``, or ``gpu`` in the user's folder for caches.

`compiler/store.c` writes and reads the files; here the folder is found, made, counted and emptied.
"""

from __future__ import annotations

import os

_SUFFIX = ".gpu"


def path() -> str:
    """The folder's path, whether it is there or not."""
    given = os.environ.get("GPU_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.abspath(given or os.path.join(base, "gpu"))


def folder() -> str | None:
    """The folder, made if need be; None: there can be none, and nothing is kept."""
    found = path()
    try:
        os.makedirs(found, mode=0o700, exist_ok=True)
        why = problem(found)
    except OSError as error:
        why = problem(found) or f"{found}: {error.strerror}"
    if why and os.environ.get("GPU_CACHE_DIR"):
        from . import _environment

        _environment.warn(f"GPU_CACHE_DIR: {why}, so kernels with cache=True aren't kept")
    return None if why else found


def problem(found: str) -> str | None:
    """Why a folder that is there keeps nothing; None: it does, or isn't there yet."""
    try:
        status = os.stat(found)
    except OSError as error:
        return None if isinstance(error, FileNotFoundError) else f"{found}: {error.strerror}"
    if not os.path.isdir(found):
        return f"{found} isn't a folder"
    if status.st_uid != os.geteuid():
        return f"{found} belongs to another user, whose code isn't run"
    if status.st_mode & 0o022:
        return f"{found} can be written by others, whose code isn't run: chmod go-w {found}"
    return None


def entries(found: str) -> list[tuple[str, int]]:
    """Path and size in bytes of each file of kept code."""
    kept = []
    try:
        with os.scandir(found) as listing:
            for entry in listing:
                if _SUFFIX in entry.name and entry.is_file(follow_symlinks=False):
                    kept.append((entry.path, entry.stat(follow_symlinks=False).st_size))
    except OSError:
        return []
    return kept


def clear(found: str) -> int:
    """Remove all kept code.

    Returns
    -------
    int
        How many files there were.
    """
    removed = 0
    for name, _ in entries(found):
        try:
            os.unlink(name)
        except OSError:
            continue
        removed += 1
    return removed


def summary(found: str) -> str:
    """One line: how much there is."""
    kept = entries(found)
    size = sum(n for _, n in kept)
    amount = f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{(size + 1023) // 1024} KiB"
    return f"{len(kept)} specialisation{'' if len(kept) == 1 else 's'}, {amount} in {found}"
