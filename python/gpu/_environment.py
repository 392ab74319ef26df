"""Variables of the environment that are read here and in the runtime: what they take, and a warning of other values."""

from __future__ import annotations

import os

_ON = ("1", "true", "yes", "on")
_OFF = ("", "0", "false", "no", "off")
_TAKES = {
    "GPU_BOUNDSCHECK": ("|".join(_ON + _OFF), "0 or 1"),
    "GPU_MEMORY_POOL": ("[01]?", "0 or 1"),
    "GPU_NUM_THREADS": (r"0*[1-9]\d*|", "a number of threads, 1 or more"),
    "GPU_PRINT_BUFFER": (r"\d+[KMG]?|", "bytes, or with K, M, G"),
    "GPU_PRINT_PREFIX": ("|".join(_ON + _OFF), "0 or 1"),
}
_FILES = ("GPU_LIBDEVICE",)  # the driver says it of its own

_checked = False


def flag(name: str) -> bool:
    """Whether a variable is set to 1, or to a word that means it."""
    return os.environ.get(name, "").lower() in _ON


def problems() -> list[tuple[str, str]]:
    """What is wrong with values, each with what the variable takes."""
    import re

    found = []
    for name, (pattern, takes) in _TAKES.items():
        value = os.environ.get(name)
        if value is not None and not re.fullmatch(pattern, value, re.IGNORECASE):
            found.append((f"{name}={value} means nothing", f"it takes {takes}"))
    for name in _FILES:
        value = os.environ.get(name, "")
        if "/" in value and not os.path.isfile(value):
            found.append((f"{name}={value} is not a file", "it takes a path"))
    return found


def check() -> None:
    """Warn once of variables that are set to what they don't take, since a typing error would go unseen."""
    global _checked
    if _checked:
        return
    _checked = True
    if not any(name in os.environ for name in (*_TAKES, *_FILES)):
        return
    for problem, takes in problems():
        warn(f"{problem}, and is as if it weren't there: {takes}")


def warn(text: str) -> None:
    """A warning that has its place in the environment, and not in a program."""
    import warnings

    warnings.warn_explicit(text, RuntimeWarning, "the environment", 1)
