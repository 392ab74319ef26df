"""``python -m gpu``: the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry of the ``gpu`` command."""
    try:
        from ._cli import cli
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("gpu: the command line needs click: pip install click")
    cli(prog_name="gpu")


if __name__ == "__main__":
    main()
