"""Text that kernels can't make: what `print` shows and exceptions carry, put together from their numbers by Python.

A print or a raise of a kernel has the types of its values (`_core.Type`, kind ``"text"`` for formatted text) from the
compiler; a launch gives the numbers, eight bytes each, depth first: integers extended by their sign, bools as 0 or 1,
floats as float64.
"""

from __future__ import annotations

import struct
import sys

from . import _environment
from ._core import Type
from ._errors import TypingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = tuple[tuple[Type, ...], str, tuple[int, int, int], tuple[int, int, int], bytes]


class Short(float):
    """A narrow float of the Numba dialect: a Python float, shown with the digits that its type needs."""

    def __new__(cls, value: float, text: str) -> Short:
        made = super().__new__(cls, value)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def _number(dtype: str, at: Reader) -> Any:
    if dtype == "bool":
        value: Any = at.integer() != 0
    elif dtype.startswith("complex"):
        value = complex(at.real(), at.real())
    elif "float" in dtype:
        value = at.real()
    else:
        value = at.integer()
        if dtype == "uint64":
            value %= 2**64
    if at.dialect == "numba" and dtype not in ("float16", "bfloat16", "float32", "complex64"):
        return value
    import numpy as np

    if at.dialect == "numba" and dtype == "bfloat16":
        return Short(value, f"{value:f}")  # as Numba prints it
    typed = _bfloat16(value) if dtype == "bfloat16" else np.dtype(dtype).type(value)
    return Short(value, str(typed)) if at.dialect == "numba" and dtype != "complex64" else typed


def _bfloat16(value: float) -> Any:
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return value
    return bfloat16(value)


class Reader:
    """The numbers of one message, one after the other."""

    def __init__(self, data: bytes, dialect: str, arrays: tuple[Any, ...] = ()) -> None:
        self.data, self.dialect, self.place, self.arrays = data, dialect, 0, arrays

    def _next(self, form: str) -> Any:
        self.place += 8
        return struct.unpack_from(form, self.data, self.place - 8)[0]

    def integer(self) -> int:
        """The next number as a signed integer."""
        found: int = self._next("<q")
        return found

    def real(self) -> float:
        """The next number as a float."""
        found: float = self._next("<d")
        return found

    def value(self, t: Type) -> Any:
        """The Python object of a type, from the next numbers."""
        if t.kind == "scalar":
            return _number(str(t.dtype), self)
        if t.kind == "weak_bool":
            return self.integer() != 0
        if t.kind == "weak_int":
            return self.integer()
        if t.kind == "weak_float":
            return self.real()
        if t.kind == "weak_complex":
            return complex(self.real(), self.real())
        if t.kind == "tuple":
            items = tuple(self.value(item) for item in t.items)
            return items if t.fields is None else (t.object or _named(t.fields))(*items)
        if t.kind == "text":
            return self.text(t)
        return t.object if t.kind == "object" else None

    def text(self, t: Type) -> Any:
        """Formatted text; an array for elements that are to be shown as one."""
        kind, word, *items = (self.value(item) for item in t.items)
        if kind == "format":
            value, spec = (*items, "")[:2]
            converted = {"s": str, "r": repr, "a": ascii}.get(word, lambda x: x)(value)
            return format(converted, spec)
        if kind == "percent":
            return items[0] % items[1]
        if kind == "method":
            names = (t.fields or ())[3:]
            plain = [x for x, name in zip(items[1:], names, strict=True) if not name]
            return items[0].format(*plain, **{n: x for x, n in zip(items[1:], names, strict=True) if n})
        if kind == "array":
            import numpy as np

            return np.array(items[0], dtype=word)
        if kind == "view":
            return _view(word, items, self.arrays)
        if kind == "choice":
            return word.split("\x1f")[items[0]]
        if kind == "value":
            return items[0]
        if kind == "list":
            return items
        if kind == "time":
            import numpy as np

            return np.array(items[0], np.int64).view(word.replace("[generic]", ""))[()]
        if kind == "dict":
            return dict(zip(items[::2], items[1::2], strict=True))
        if kind == "record":
            return _record((t.fields or ())[2:], items)
        if kind == "instance":
            made = object.__new__(items[0])
            for name, x in zip((t.fields or ())[3:], items[1:], strict=True):
                object.__setattr__(made, name, x)
            return made
        return "".join(items)


def _record(names: tuple[str, ...], items: list[Any]) -> Any:
    """A NumPy record of these fields."""
    import numpy as np

    values = [np.float32(x) if isinstance(x, Short) else np.asarray(x) for x in items]
    dtype = np.dtype([(name, x.dtype, x.shape) for name, x in zip(names, values, strict=True)])
    return np.array(tuple(items), dtype)[()]


class _Memory:
    """Memory as NumPy takes it; it lives as long as its owner."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner, self.__array_interface__ = owner, interface


def _view(dtype: str, parts: list[int], arrays: tuple[Any, ...]) -> Any:
    """An array at an address, with shape and strides in bytes; a copy of what isn't the memory of an argument."""
    import numpy as np

    address, ndim = parts[0], len(parts) // 2
    found = _dtype(dtype)
    owner = next((a for a in arrays if a.ctypes.data <= address <= a.ctypes.data + _extent(a)), None)
    interface = {
        "data": (address, owner is None or not owner.flags.writeable),
        "typestr": f"|V{found.itemsize}" if dtype == "bfloat16" else found.str, "version": 3,
        "shape": tuple(parts[1 : 1 + ndim]), "strides": tuple(parts[1 + ndim :]),
    }  # fmt: skip
    view = np.asarray(_Memory(owner, interface))
    view = view.view(found) if dtype == "bfloat16" else view
    return view.copy() if owner is None else view


def _dtype(name: str) -> Any:
    import numpy as np

    if name != "bfloat16":
        return np.dtype(name)
    from ml_dtypes import bfloat16

    return np.dtype(bfloat16)


def _extent(array: Any) -> int:
    """Bytes from an array's first element to its last."""
    return int(sum((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True)))


def _arrays(value: Any) -> list[Any]:
    """The NumPy arrays in an argument."""
    if hasattr(value, "__array_interface__") and hasattr(value, "ctypes"):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    elif hasattr(value, "__dict__") and not isinstance(value, tuple):
        value = tuple(vars(value).values())
    return [a for item in value for a in _arrays(item)] if isinstance(value, tuple) else []


def result(t: Type, dialect: str, data: bytes, args: tuple[Any, ...]) -> Any:
    """What a device function called from Python returns, where it isn't numbers alone.

    Parameters
    ----------
    t : Type
    dialect : str
    data : bytes
        Its numbers and addresses, eight bytes each.
    args : tuple
        The arguments: an array of the result may be in their memory, which it then shares.
    """
    return Reader(data, dialect, tuple(_arrays(args))).value(t)


def _named(fields: tuple[str, ...]) -> Any:
    """A class for a named tuple whose own isn't known."""
    from collections import namedtuple

    return namedtuple("tuple", fields)


def arguments(types: tuple[Type, ...], dialect: str, data: bytes) -> tuple[Any, ...]:
    """The values of a message."""
    reader = Reader(data, dialect)
    return tuple(reader.value(t) for t in types)


def _is_fixed(t: Type) -> bool:
    """Whether no format specification in a text depends on a value."""
    if t.kind not in ("text", "tuple"):
        return True
    named = t.kind == "text" and t.items[0].object == "format" and len(t.items) > 3
    return all(map(_is_fixed, t.items)) and (not named or t.items[3].kind == "object")


def check(types: tuple[Type, ...], dialect: str, file: str, line: int) -> bool:
    """Format zeros, so that a specification that its type doesn't take is an error of the compilation.

    Raises
    ------
    TypingError
        With what Python says to it, and the line.
    """
    try:
        if all(map(_is_fixed, types)):
            arguments(types, dialect, bytes(8 * 1024))
    except (ValueError, TypeError, LookupError) as error:
        raise TypingError(f"{file}:{line}: this text can't be formatted: {error}") from None
    return True


def prefix(block: Iterable[int], thread: Iterable[int]) -> str:
    """What stands in front of a line on request (``GPU_PRINT_PREFIX=1``); else nothing."""
    if not _environment.flag("GPU_PRINT_PREFIX"):
        return ""
    return f"[block {tuple(map(int, block))} thread {tuple(map(int, thread))}] "


def _line(record: Record) -> str:
    types, dialect, block, thread, data = record
    try:
        sep, end, *values = arguments(types, dialect, data)
        text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
    except (ValueError, TypeError, LookupError) as error:
        text = f"<{type(error).__name__}: {error}>\n"
    return prefix(block, thread) + text


def show(records: list[Record], lost: int, room: int) -> None:
    """Write what kernels printed to ``sys.stdout``.

    Parameters
    ----------
    records : list of tuples
        For each print: types, dialect, block, thread, and the numbers as bytes.
    lost : int
        How many more found no room.
    room : int
        Bytes of the buffer on the device.
    """
    if sys.stdout is None:
        return
    text = "".join(map(_line, records))
    if lost:
        text += f"... {lost} more print{'s' * (lost != 1)} lost: the buffer of {room} bytes was full; "
        text += "GPU_PRINT_BUFFER sets its size\n"
    sys.stdout.write(text)


_at_exit: set[str] = set()


def show_at_exit(device: str) -> None:
    """Wait for a device when the process ends, so that what nobody waited for is shown."""
    if device in _at_exit:
        return
    import atexit

    _at_exit.add(device)
    atexit.register(_finish, device)


def _finish(device: str) -> None:
    from contextlib import suppress

    from ._core import synchronize_device

    with suppress(Exception):  # a device that failed, or a forked child: nobody waits for its work any more
        synchronize_device(device)
