"""What the emulated GPU looks for while kernels run: for ``gpu check`` and the plugin of pytest."""

from __future__ import annotations

import os

CHECKS = ("all", "uninit", "races", "barriers", "masks")


def ask_for(what: str, option: str) -> str | None:
    """Ask for checks, and for those of indices; before a kernel is made and the emulator starts.

    Parameters
    ----------
    what : str
        Some of `CHECKS`, with commas.
    option : str
        Of the command line, for the message.

    Returns
    -------
    str or None
        A message: some are no checks, and nothing was done.
    """
    if unknown := set(what.split(",")) - set(CHECKS):
        return f"{option} {', '.join(sorted(unknown))}: there are {', '.join(CHECKS)}"
    os.environ.update(GPU_EMULATOR_CHECK=what, GPU_BOUNDSCHECK="1")
    return None
