"""``numba.experimental`` where numba isn't installed."""

from __future__ import annotations

from typing import Any


def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any:
    """The class as it is, with or without types of its attributes.

    Parameters
    ----------
    cls_or_spec : class, or the types of its attributes
        ``@jitclass``, ``@jitclass(spec)`` and ``jitclass(cls, spec)``.
    spec : list of (str, type), optional
    """
    return cls_or_spec if isinstance(cls_or_spec, type) else lambda cls: cls


__all__ = ["jitclass"]
