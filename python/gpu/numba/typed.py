"""``numba.typed`` where numba isn't installed: Python's list and dict, for code that runs on the host."""

from __future__ import annotations

from typing import Any


class List(list[Any]):
    """A list; types are as its items'."""

    @classmethod
    def empty_list(cls, item_type: Any, allocated: int = 0) -> List:
        """An empty list."""
        return cls()


class Dict(dict[Any, Any]):
    """A dict; types are as its items'."""

    @classmethod
    def empty(cls, key_type: Any, value_type: Any, n_keys: int = 0) -> Dict:
        """An empty dict."""
        return cls()


__all__ = ["Dict", "List"]
