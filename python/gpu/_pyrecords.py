"""Records as kernels see them, for the ``python`` device: fields by name, by number and as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._pynames import KernelArray, as_array, to_element

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_record(value: Any) -> bool:
    """Tell NumPy's scalars of structured dtypes."""
    return isinstance(value, np.void) and value.dtype.names is not None


def wrapped(value: Any) -> Any:
    """An element or a field: records and arrays as kernels see them, numbers as they are."""
    if is_record(value):
        return KernelRecord(value)
    if isinstance(value, np.ndarray):
        return as_array(value)
    return value


def plain(value: Any) -> Any:
    """What NumPy knows of a value: the record itself."""
    return value._record if isinstance(value, KernelRecord) else value


class KernelRecord:
    """A reference to a record. Names of fields come before other attributes.

    Parameters
    ----------
    record : numpy.void
        A view of an array's element, or a record of its own.
    readonly : bool
        It came by value.
    """

    __slots__ = ("_readonly", "_record")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, record: np.void, readonly: bool = False) -> None:
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "_readonly", readonly)

    def __getitem__(self, index: Any) -> Any:
        found = wrapped(self._record[index])
        if self._readonly and isinstance(found, KernelRecord):
            return KernelRecord(found._record, True)
        if self._readonly and isinstance(found, np.ndarray):
            found.flags.writeable = False
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._readonly:
            raise ValueError("a record that is passed by value is read-only: r.copy() may be changed")
        name = index if isinstance(index, str) else self._record.dtype.names[index]
        field = self._record.dtype.fields[name][0]
        if field.names is not None:
            KernelRecord(self._record[name])._assign(value)
        elif field.subdtype is not None:
            as_array(self._record[name])[...] = value
        else:
            self._record[name] = to_element(value, field)

    def _assign(self, value: Any) -> None:
        """The whole record, as NumPy assigns: field by field in their order, a number to all."""
        names = self._record.dtype.names
        items = tuple(plain(value)) if isinstance(value, (KernelRecord, tuple)) else (value,) * len(names)
        if len(items) != len(names):
            raise ValueError(f"a record of {len(names)} fields can't hold {len(items)} values")
        for name, item in zip(names, items, strict=True):
            if self._record.dtype.fields[name][0].kind in "SUMm" or isinstance(item, (bytes, str)):
                self._record[name] = item
            else:
                self[name] = wrapped(item)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") or name in object.__getattribute__(self, "_record").dtype.fields:
            record = object.__getattribute__(self, "_record")
            if name in record.dtype.fields:
                return self[name]
            if name in ("dtype", "itemsize", "nbytes"):
                return getattr(record, name)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._record.dtype.fields:
            raise AttributeError(f"the record has no field '{name}'")
        self[name] = value

    def copy(self) -> KernelRecord:
        """A record of its own with the same contents."""
        return KernelRecord(self._record.copy())

    def __len__(self) -> int:
        return len(self._record.dtype.names)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> Any:
        return self._record == plain(other)

    def __ne__(self, other: object) -> Any:
        return self._record != plain(other)

    def __repr__(self) -> str:
        return repr(self._record)

    def __str__(self) -> str:
        return str(self._record)


class RecordArray(KernelArray):
    """An array of records: an element is a reference, a field an array."""

    def __getitem__(self, index: Any) -> Any:
        return wrapped(super().__getitem__(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        element = index if isinstance(index, str) else np.ndarray.__getitem__(self, index)
        if isinstance(element, str):
            self[element][...] = value
        elif is_record(element):
            KernelRecord(element)._assign(value)
        else:
            np.ndarray.__setitem__(self, index, plain(value))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in (self.dtype.fields or ()):
            return self[name]
        raise AttributeError(f"the array has no attribute or field '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(np.ndarray, name) and name in (self.dtype.fields or ()):
            self[name][...] = value
        else:
            super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    @property
    def flat(self) -> Flat:  # type: ignore[override]
        """All records, in C order."""
        return Flat(self)


class Flat:
    """An array's records by one number."""

    def __init__(self, array: RecordArray) -> None:
        self.array = array

    def __len__(self) -> int:
        return self.array.size

    def __getitem__(self, index: int) -> Any:
        return self.array[np.unravel_index(range(len(self))[index], self.array.shape)]

    def __setitem__(self, index: int, value: Any) -> None:
        self.array[np.unravel_index(range(len(self))[index], self.array.shape)] = value

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def as_record(value: Any, readonly: bool) -> Any:
    """An argument: a copy, which the kernel only reads, or the caller's record; a date as it is."""
    if not is_record(value):
        return value
    return KernelRecord(value.copy() if readonly else value, readonly)


def captured(value: Any) -> Any:
    """A global or closure variable: a constant."""
    if isinstance(value, np.ndarray):
        view = as_array(value)
        view.flags.writeable = False
        return view
    return KernelRecord(value, True) if is_record(value) else value
