"""The code of a function as its file has it, where an import hook changed it.

pytest rewrites the ``assert`` statements of test modules so that they explain themselves. The rewritten code
builds strings and calls pytest, which no kernel can; a kernel in a test file is compiled from its source instead.
"""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@lru_cache(maxsize=64)
def _module(text: str, file: str) -> CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def _named(within: CodeType, code: CodeType) -> Iterator[CodeType]:
    """Functions of that name and line, wherever they are."""
    for constant in within.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == code.co_name and constant.co_firstlineno == code.co_firstlineno:
                yield constant
            yield from _named(constant, code)


def pristine(code: CodeType) -> CodeType:
    """The code object that compiling the source file gives for the function of `code`; `code` if there is none."""
    text = "".join(linecache.getlines(code.co_filename))
    try:
        found = list(_named(_module(text, code.co_filename), code))
    except (SyntaxError, ValueError):
        return code
    if len(found) != 1:  # several lambdas of a line, which have no assert
        return code
    same = found[0].co_varnames[: found[0].co_argcount] == code.co_varnames[: code.co_argcount]
    return found[0] if same else code
