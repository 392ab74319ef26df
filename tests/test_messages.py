"""The whole message of each kind of mistake, as the golden files in `tests/messages/` have it.

Columns and carets are what Python 3.11 and later know; on 3.10 the message has the line without them. For a few
constructs the releases put them at different places of the statement: the files have what 3.12 says.
`GPU_REWRITE=1` takes what came; the review happens in the diff.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path

import golden
import gpu
import pytest

# The kernels whose positions depend on the release.
MOVES = {
    "dict_that_grows",
    "results_of_methods",
    "iterates_a_number",
    "array_as_condition",
    "with_block",
    "formatted",
    "only_in_the_loop",
    "spans_several_lines",
    "stores_text",
    "joins_texts",
    "rest_of_a_dict",
    "tuple_as_long_as_run_time_says",
    "least_of_an_unknown_number",
    "super_of_nothing",
    "set_that_is_made",
}
FOLDER = Path(__file__).parent / "messages"
BLOCKS = [block for path in sorted(FOLDER.glob("*.py")) for block in golden.blocks(path)]


def message(block: golden.Block) -> str:
    """The text of the error, or of the warnings, with file names only."""
    kernel = getattr(golden.load(block.path), block.kernel)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kernel.compile(block.signature)
        except gpu.CompileError as error:
            text = f"{type(error).__name__}: {error}"
        else:
            text = "\n".join(f"{w.category.__name__}: {w.filename}:{w.lineno}: {w.message}" for w in caught)
    return text.replace(f"{block.path.parent}{os.sep}", "")


def without_columns(text: str) -> str:
    """The same message where there are no columns: of an expression over several lines the first one is shown."""
    lines = [line.rstrip() for line in text.splitlines() if not re.fullmatch(r" +\| +\^+", line)]
    shown = [bool(re.match(r" +\d+ \| ", line)) for line in lines]
    lines = [line for i, line in enumerate(lines) if not (i and shown[i] and shown[i - 1])]
    return re.sub(r"(\w+\.py:\d+):\d+", r"\1", "\n".join(lines))


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_message(block: golden.Block) -> None:
    got = message(block)
    moves = block.kernel in MOVES and sys.version_info[:2] != (3, 12)
    if sys.version_info < (3, 11) or moves:
        assert without_columns(got) == without_columns("\n".join(block.expected))
    else:
        golden.expect(block, got)


def test_there_are_many_kinds() -> None:
    """At least 40 kinds of mistake, counted by the words of their messages."""
    kinds = {re.sub(r".*: (error|warning): ", "", b.expected[0]) for b in BLOCKS if b.expected}
    assert len(kinds) >= 40


def test_no_colours_in_a_pipe() -> None:
    assert not any("\033" in line for block in BLOCKS for line in block.expected)
