"""CUDA's vector types: `float4` and its kind, for kernels and outside.

A vector has the fields x, y, z, w, as many as its name says, all of one type. It is made of numbers and smaller
vectors (``float4(float2(1, 2), 3, 4)``), goes by value to kernels and functions, and has element-wise arithmetic with
vectors of its type and with numbers. Two vectors are equal if all their fields are.

The code here is ordinary Python that kernels inline: nothing in the compiler knows these classes.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


class Vector:
    """A vector type's base class; `_dtype` is the type of the fields, `_names` has their names."""

    aliases: tuple[str, ...] = ()  # CUDA's names of the type
    _dtype: Any = None
    _names: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(v) for v in self.values())})"

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: Any) -> Any:
        return self.values()[index]

    def values(self) -> tuple[Any, ...]:
        """The fields as a tuple."""
        raise NotImplementedError

    def dot(self, other: Any) -> Any:
        """The sum of the products of the fields."""
        return sum([a * b for a, b in zip(self.values(), _parts_like(self, other))])  # noqa: B905  # of one length

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, type(self)) and self.values() == other.values()

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __neg__(self) -> Any:
        return type(self)(*[-v for v in self.values()])

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return type(self)(*[abs(v) for v in self.values()])

    def __add__(self, other: Any) -> Any:
        return type(self)(*map(operator.add, self.values(), _parts_like(self, other)))

    def __radd__(self, other: Any) -> Any:
        return type(self)(*map(operator.add, _parts_like(self, other), self.values()))

    def __sub__(self, other: Any) -> Any:
        return type(self)(*map(operator.sub, self.values(), _parts_like(self, other)))

    def __rsub__(self, other: Any) -> Any:
        return type(self)(*map(operator.sub, _parts_like(self, other), self.values()))

    def __mul__(self, other: Any) -> Any:
        return type(self)(*map(operator.mul, self.values(), _parts_like(self, other)))

    def __rmul__(self, other: Any) -> Any:
        return type(self)(*map(operator.mul, _parts_like(self, other), self.values()))

    def __floordiv__(self, other: Any) -> Any:
        return type(self)(*map(operator.floordiv, self.values(), _parts_like(self, other)))

    def __mod__(self, other: Any) -> Any:
        return type(self)(*map(operator.mod, self.values(), _parts_like(self, other)))


class FloatVector(Vector):
    """A vector of floats, which alone have ``/``."""

    def __truediv__(self, other: Any) -> Any:
        return type(self)(*map(operator.truediv, self.values(), _parts_like(self, other)))

    def __rtruediv__(self, other: Any) -> Any:
        return type(self)(*map(operator.truediv, _parts_like(self, other), self.values()))


def _parts_like(vector: Any, other: Any) -> tuple[Any, ...]:
    """A value for each field: those of a vector of the same type, or a number again and again."""
    if isinstance(other, type(vector)):
        return other.values()
    return (vector._dtype(other),) * len(vector._names)


def _parts(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers, and the fields of vectors, in order."""
    found: tuple[Any, ...] = ()
    for v in values:
        if isinstance(v, Vector):
            found += v.values()
        else:
            found += (v,)
    return found


class _Of1:
    def __init__(self: Any, *values: Any) -> None:
        (x,) = _parts(values)
        self.x = self._dtype(x)

    def values(self: Any) -> tuple[Any, ...]:
        return (self.x,)


class _Of2:
    def __init__(self: Any, *values: Any) -> None:
        x, y = _parts(values)
        self.x = self._dtype(x)
        self.y = self._dtype(y)

    def values(self: Any) -> tuple[Any, ...]:
        return self.x, self.y


class _Of3:
    def __init__(self: Any, *values: Any) -> None:
        x, y, z = _parts(values)
        self.x = self._dtype(x)
        self.y = self._dtype(y)
        self.z = self._dtype(z)

    def values(self: Any) -> tuple[Any, ...]:
        return self.x, self.y, self.z


class _Of4:
    def __init__(self: Any, *values: Any) -> None:
        x, y, z, w = _parts(values)
        self.x = self._dtype(x)
        self.y = self._dtype(y)
        self.z = self._dtype(z)
        self.w = self._dtype(w)

    def values(self: Any) -> tuple[Any, ...]:
        return self.x, self.y, self.z, self.w


_KINDS = {1: _Of1, 2: _Of2, 3: _Of3, 4: _Of4}
# CUDA's names of the types of fields; `long` has 64 bits, as on Linux.
NAMES = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}


def _make(name: str, dtype: str, n: int) -> type[Vector]:
    base = FloatVector if dtype.startswith("float") else Vector
    fields = ("x", "y", "z", "w")[:n]
    body = {
        "__module__": "gpu",
        "__doc__": f"{n} numbers of type {dtype}: {', '.join(fields)}.",
        "__annotations__": dict.fromkeys(fields, getattr(np, dtype)),
        "_dtype": getattr(np, dtype),
        "_names": fields,
    }
    return type(name, (_KINDS[n], base), body)


# "int32x4" is the class that has CUDA's name "int4".
vectors: dict[str, type[Vector]] = {}
for _name, _dtype in NAMES.items():
    for _n in range(1, 5):
        long = f"{_dtype}x{_n}"
        vectors[f"{_name}{_n}"] = vectors.setdefault(long, _make(f"{_name}{_n}", _dtype, _n))
        vectors[long].aliases += (f"{_name}{_n}",)
globals().update(vectors)
