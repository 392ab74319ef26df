"""The code of a function as its file has it, where an import hook changed it.

pytest rewrites the ``assert`` statements of test modules so that they explain themselves. The rewritten code
builds strings and calls pytest, which no kernel can; a kernel in a test file is compiled from its source instead.
"""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=64)
def _module(text: str, file: str) -> CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def _find(within: CodeType, code: CodeType) -> CodeType | None:
    for constant in within.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == code.co_name and constant.co_firstlineno == code.co_firstlineno:
                return constant
            found = _find(constant, code)
            if found is not None:
                return found
    return None


def pristine(code: CodeType) -> CodeType:
    """The code object that compiling the source file gives for the function of `code`; `code` if there is none."""
    text = "".join(linecache.getlines(code.co_filename))
    try:
        found = _find(_module(text, code.co_filename), code)
    except (SyntaxError, ValueError):
        return code
    same = found is not None and found.co_varnames[: found.co_argcount] == code.co_varnames[: code.co_argcount]
    return found if found is not None and same else code
