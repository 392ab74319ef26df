"""Device functions that are made of a row of a table, with a source that messages can show."""

from __future__ import annotations

import linecache
from typing import Any


def device_function(source: str, name: str, names: dict[str, Any]) -> Any:
    """The function that a source defines.

    Parameters
    ----------
    source : str
        ``def NAME(...):`` and its body; for a name that the body needs for something else, ``NAME_``.
    name : str
        What the function is called.
    names : dict
        Globals of the function, with the name of its module.
    """
    filename = f"<{names['__name__']}.{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    made: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names, made)
    (function,) = made.values()
    function.__name__ = function.__qualname__ = name
    return function
