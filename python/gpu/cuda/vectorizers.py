"""What ``vectorize(..., target="cuda")`` and ``guvectorize`` of an installed numba ask for, by Numba's names.

Both are builders, which get one signature after the other.
"""

from __future__ import annotations

from typing import Any

from ._programs import guvectorize, vectorize


class _Builder:
    """The function, its options and the signatures so far."""

    def __init__(self, function: Any, targetoptions: dict[str, Any]) -> None:
        self.function, self.options = function, targetoptions
        self.signatures: list[Any] = []

    def add(self, sig: Any = None) -> None:
        """One more signature."""
        self.signatures.append(sig)

    def disable_compile(self) -> None:
        """Nothing: types other than those of the signatures are refused in any case."""


class CUDAVectorize(_Builder):
    """Makes what `cuda.vectorize` makes."""

    def __init__(self, func: Any, identity: Any = None, cache: bool = False, targetoptions: Any = None) -> None:
        super().__init__(func, targetoptions or {})
        self.identity = identity

    def build_ufunc(self) -> Any:
        """The function of arrays."""
        return vectorize(self.signatures, identity=self.identity, **self.options)(self.function)


class CUDAGUFuncVectorize(_Builder):
    """Makes what `cuda.guvectorize` makes."""

    def __init__(
        self,
        func: Any,
        signature: str,
        identity: Any = None,
        cache: bool = False,
        targetoptions: Any = None,
        writable_args: Any = (),
    ) -> None:
        super().__init__(func, targetoptions or {})
        if writable_args:
            raise TypeError("writable_args are not supported")
        self.layout = signature

    def build_ufunc(self) -> Any:
        """The function of arrays."""
        return guvectorize(self.signatures, self.layout, **self.options)(self.function)
