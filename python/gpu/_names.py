"""Names that have a meaning inside kernels: ``gpu.grid``, ``gpu.threadIdx.x``, ...

They are made from the table of device functions (frontend/devfn.def), so that a new row there is a new name here.
The compiler knows them by ``_path``. Called from plain Python they raise; on the ``python`` device they answer
for the thread that is being run.
"""

from __future__ import annotations

import _thread

from ._errors import OutsideKernelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class _Running(_thread._local):
    """The kernel thread that this OS thread is running on the ``python`` device."""

    values: dict[str, Any] | None = None  # path -> function or value


running = _Running()


class Intrinsic:
    """A function or a group of values that exists in kernels only."""

    _path: str

    def __init__(self, path: str, signature: str = "", doc: str = "") -> None:
        self._path = path
        self._members: dict[str, Intrinsic] = {}
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]
        self.__module__ = "gpu"
        self.__doc__ = f"{path}{signature}\n\n{doc}" if signature else doc or f"Names of {path}; they exist in kernels."
        self._is_function = bool(signature)

    def _attr(self, name: str) -> Intrinsic:
        """The member of that name; for the compiler, which must not ask for its value."""
        try:
            return self._members[name]
        except KeyError:
            raise AttributeError(f"{self._path} has no '{name}'") from None

    def _value(self) -> Any:
        values = running.values
        if values is None:
            raise OutsideKernelError(
                f"{self._path} has a meaning inside a kernel only, and this is plain Python: launch a function "
                f"decorated with @gpu.jit, or debug it thread by thread with gpu.set_device('python')"
            )
        try:
            return values[self._path]
        except KeyError:
            raise NotImplementedError(f"the python device doesn't run {self._path}") from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._members:
            raise TypeError(f"{self._path} is not a function: use {self._path}.{next(iter(self._members))}")
        value: Callable[..., Any] = self._value()
        try:
            return value(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
        # The arguments don't fit: said in the words of the name, not of what runs it.
        raise TypeError(f"{len(args) + len(kwargs)} arguments for {(self.__doc__ or self._path).splitlines()[0]}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        member = self._attr(name)
        return member if member._is_function or member._members else member._value()

    def __dir__(self) -> list[str]:
        return sorted(self._members)

    def __str__(self) -> str:
        """`threadIdx` and its kind print as (x, y, z), as they do in compiled kernels."""
        values = running.values or {}
        parts = tuple(values.get(f"{self._path}.{axis}") for axis in "xyz")
        return repr(self) if None in parts else str(parts)

    def __repr__(self) -> str:
        return f"<{self._path}, for use in kernels>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return _find, (self._path,)


def _find(path: str) -> Intrinsic:
    """The object of a path; unpickles an `Intrinsic`."""
    first, *rest = path.split(".")[1:]
    found = intrinsics[first]
    for name in rest:
        found = found._attr(name)
    return found


def build(table: Iterable[tuple[str, str, str]]) -> dict[str, Intrinsic]:
    """The top-level names of ``gpu.*`` paths in a table of (path, signature, doc)."""
    found: dict[str, Intrinsic] = {}
    for path, signature, doc in table:
        if not path.startswith("gpu."):
            continue
        names = path.split(".")[1:]
        siblings = found
        for depth, name in enumerate(names):
            if depth == len(names) - 1:
                siblings[name] = Intrinsic(path, signature, doc)
            else:
                group = siblings.setdefault(name, Intrinsic("gpu." + ".".join(names[: depth + 1])))
                siblings = group._members
    return found


intrinsics: dict[str, Intrinsic] = {}
