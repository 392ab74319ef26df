"""Names of symbols as C++ compilers make them, of functions and types: ``numba.cuda.itanium_mangler``.

For programs that look for the symbols of CUDA C, or name their own like that. Code made here has names of its own:
``cuda.compile(..., abi_info={"abi_name": ...})`` says which.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODES = {
    "bool": "b",
    "int8": "a",
    "uint8": "h",
    "int16": "s",
    "uint16": "t",
    "int32": "i",
    "uint32": "j",
    "int64": "x",
    "uint64": "y",
    "float16": "Dh",
    "float32": "f",
    "float64": "d",
    "none": "v",
    "void": "v",
}


def escape_string(text: str) -> str:
    """Text in which letters, digits and ``_`` are kept, and of all else each byte of UTF-8 is ``_`` and two digits."""
    return re.sub(r"[^A-Za-z0-9_]", lambda c: "".join(f"_{byte:02x}" for byte in c[0].encode()), text)


_escape_string = escape_string


def _name(text: str) -> str:
    escaped = escape_string(text)
    escaped = f"_{escaped}" if escaped[:1].isdigit() else escaped
    return f"{len(escaped)}{escaped}"


def mangle_identifier(ident: str, template_params: Iterable[Any] = (), *, abi_tags: Iterable[str] = ()) -> str:
    """A name, of a namespace if it has dots, with the arguments of a template."""
    *spaces, last = (_name(part) for part in ident.split("."))
    last += "".join(f"B{_name(tag)}" for tag in abi_tags)
    params = "".join(map(mangle_type_or_value, template_params))
    last += f"I{params}E" if params else ""
    return f"N{''.join(spaces)}{last}E" if spaces else last


def mangle_type(typ: Any) -> str:
    """A type: C++'s letter for a number, else the type's name."""
    text = str(typ)
    return _CODES.get(text) or mangle_identifier(text.replace(".", "_2e"))


def mangle_value(val: Any) -> str:
    """A constant: C++'s form of an integer, else its text as a name."""
    if isinstance(val, (bool, int)):
        code = "b" if isinstance(val, bool) else "i"
        number = int(val)
        return f"L{code}{'n' if number < 0 else ''}{abs(number)}E"
    return _name(str(val))


def mangle_type_or_value(typ: Any) -> str:
    """An argument of a template."""
    return mangle_value(typ) if isinstance(typ, (int, float, str)) else mangle_type(typ)


def mangle_args(argtys: Iterable[Any]) -> str:
    """The types of a function's arguments."""
    return "".join(map(mangle_type_or_value, argtys))


def mangle(ident: str, argtys: Iterable[Any], *, abi_tags: Iterable[str] = (), uid: int | None = None) -> str:
    """The symbol of a function.

    Parameters
    ----------
    ident : str
        Its name, with dots between namespaces.
    argtys : iterable of types
    abi_tags : iterable of str
    uid : int, optional
        A number that tells it from others of the name.
    """
    tags = [*abi_tags, *([] if uid is None else [f"v{uid}"])]
    return "_Z" + mangle_identifier(ident, abi_tags=tags) + (mangle_args(argtys) or "v")


__all__ = [
    "escape_string",
    "mangle",
    "mangle_args",
    "mangle_identifier",
    "mangle_type",
    "mangle_type_or_value",
    "mangle_value",
]
