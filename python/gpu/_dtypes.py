"""Scalar types as objects: ``float32``, ``float32[:, ::1]`` (an array type), ``void(float32[:], int32)`` (a signature).

One object serves signatures in Numba's spelling, conversions in kernels, and ``numpy.dtype(gpu.float32)``. NumPy is
imported when a value is converted, not before.
"""

from __future__ import annotations

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_NDIM = 16


class Signature:
    """The types of a function's arguments and, for device functions, of its result.

    Attributes
    ----------
    args : tuple of gpu._core.Type
    result : gpu._core.Type or None
        None when the signature doesn't say it, or says ``void``.
    """

    def __init__(self, args: tuple[_core.Type, ...], result: _core.Type | None = None) -> None:
        self.args = args
        self.result = result

    @property
    def return_type(self) -> Any:
        """The type of the result, as Numba names it: ``void`` if there is none; a tuple's has its items."""
        if self.result is None:
            return void
        return TupleType(self.result) if self.result.kind == "tuple" else dtype_of_type(self.result)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and (self.args, self.result) == (other.args, other.result)

    def __hash__(self) -> int:
        return hash((self.args, self.result))

    def __repr__(self) -> str:
        return f"{self.result or 'void'}({', '.join(map(repr, self.args))})"


class DType:
    """A scalar type of kernels.

    ``t[:]`` and ``t[:, ::1]`` are array types, ``t(x)`` converts a value, ``t(types...)`` is a signature with this
    result.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._dtype = "bool" if name == "bool_" else name
        self._type = _core.Type("scalar", dtype=self._dtype)

    def __getitem__(self, dims: Any) -> _core.Type:
        """An array of this type: a slice for each dimension, ``::1`` where elements are contiguous."""
        dims = dims if isinstance(dims, tuple) else (dims,)
        steps = []
        for dim in dims:
            if not isinstance(dim, slice) or dim.start is not None or dim.stop is not None or dim.step not in (None, 1):
                raise TypeError(f"{self.name}[...]: write ':' for each dimension, '::1' for a contiguous one")
            steps.append(dim.step == 1)
        return array_type(self._dtype, steps)

    def __call__(self, *values: Any) -> Any:
        if any(isinstance(v, (DType, Pointer, _core.Type)) for v in values):
            from .signature import one_type

            return Signature(tuple(one_type(v) for v in values), self._type)
        if not values:
            return Signature((), self._type)
        if len(values) != 1:
            raise TypeError(f"{self.name}() takes one value, {len(values)} given")
        return self.dtype.type(values[0])

    @property
    def dtype(self) -> Any:
        """The NumPy dtype; makes ``numpy.dtype(gpu.float32)`` work. ``bfloat16`` needs ``ml_dtypes``."""
        if self._dtype == "bfloat16":
            import ml_dtypes

            return __import__("numpy").dtype(ml_dtypes.bfloat16)
        return __import__("numpy").dtype(self._dtype)

    @property
    def bitwidth(self) -> int:
        """Bits of a value in memory, as Numba names it; 1 for bool."""
        return 1 if self._dtype == "bool" else int(self.dtype.itemsize) * 8

    @property
    def underlying_float(self) -> DType:
        """The type of the parts of a complex type."""
        if not self._dtype.startswith("complex"):
            raise AttributeError(f"{self.name} has no parts")
        return dtypes["float32" if self._dtype == "complex64" else "float64"]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DTypeName):
            return str(other) == self._dtype
        return other._dtype == self._dtype if isinstance(other, DType) else bool(other == self._type)

    def __hash__(self) -> int:
        return hash(self._type)

    def __repr__(self) -> str:
        return f"gpu.{self.name}"

    def __str__(self) -> str:
        return "bool" if self._dtype == "bool" else self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return DType, (self.name,)


class RecordType(DType):
    """A structured type, as an object like ``float32``: ``t[:]`` is the type of an array of such records.

    Parameters
    ----------
    dtype : numpy.dtype
        Structured.

    Raises
    ------
    TypeError
        Kernels can't have it: a field is a Python object, or there are no fields.
    """

    def __init__(self, dtype: Any) -> None:
        if not _core.dtype_known(dtype):
            raise TypeError(f"a kernel can't have records of the dtype {dtype}: it has objects, or no fields")
        self._dtype = dtype
        self._type = _core.Type("record", dtype=dtype)
        self.name = repr(self._type)

    def __call__(self, *values: Any) -> Any:
        if len(values) == 1 and not isinstance(values[0], (DType, _core.Type)):
            return __import__("numpy").array(values[0], self._dtype)[()]
        return super().__call__(*values)

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return self._dtype

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordType, (self._dtype,)


def from_dtype(dtype: Any) -> DType:
    """The type that elements of a NumPy dtype have in kernels, structured dtypes among them.

    Parameters
    ----------
    dtype : numpy.dtype, or what names one

    Raises
    ------
    TypeError
        Kernels don't have it.
    """
    np = __import__("numpy")
    dtype = np.dtype(dtype)
    if dtype.names is not None or (dtype.kind in "SUMm" and dtype.isnative):
        return RecordType(dtype)
    found = dtypes.get("bool_" if dtype.name == "bool" else dtype.name)
    if found is None or not dtype.isnative:
        raise TypeError(f"a kernel has no type for the dtype {dtype}")
    return found


class DTypeName(str):
    """The name of an element's type, ``"float32"``, with what Numba's programs ask of that type.

    It is equal to the type, too. As a key it is the name, which a dict of types doesn't have.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other._dtype if isinstance(other, DType) else other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    @property
    def name(self) -> str:
        """The name itself."""
        return str(self)

    @property
    def bitwidth(self) -> int:
        """Bits of a value in memory; 1 for bool."""
        return dtypes["bool_" if self == "bool" else str(self)].bitwidth


class TupleType(tuple):  # type: ignore[type-arg]
    """The type of a tuple as a tuple of types."""

    _type: _core.Type

    def __new__(cls, kind: _core.Type) -> TupleType:
        """Take the type apart."""
        made = super().__new__(cls, map(dtype_of_type, kind.items))
        made._type = kind
        return made


def dtype_of_type(kind: _core.Type) -> Any:
    """The `DType` of a scalar's type; other types stay as they are."""
    return dtypes["bool_" if kind.dtype == "bool" else str(kind.dtype)] if kind.kind == "scalar" else kind


class Pointer:
    """``types.CPointer(int32)``: the address of an array's first element, a number for kernels."""

    kind = "pointer"

    def __init__(self, dtype: DType | DTypeName) -> None:
        self.dtype = str(dtype) if isinstance(dtype, DTypeName) else dtype._dtype

    @property
    def _type(self) -> _core.Type:
        """What a kernel's parameter is."""
        return _core.Type("pointer", dtype=self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pointer) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("pointer", self.dtype))

    def __repr__(self) -> str:
        return f"{self.dtype}*"


class Void:
    """``void(float32[:], int32)``: the signature of a kernel."""

    def __call__(self, *types: Any) -> Signature:
        from .signature import one_type

        return Signature(tuple(one_type(t) for t in types))

    def __repr__(self) -> str:
        return "void"


def array_type(dtype: Any, contiguous: list[bool], readonly: bool = False) -> _core.Type:
    """An array type from the dimensions that were marked ``::1``: the last one (C), the first one (F) or none.

    Others may be marked beside one of these, as in Numba.

    Raises
    ------
    TypeError
        For marks on neither or on both, and for more than 16 dimensions.
    """
    ndim = len(contiguous)
    if ndim > MAX_NDIM:
        raise TypeError(f"an array type has at most {MAX_NDIM} dimensions, and this has {ndim}")
    first, last = contiguous[0], contiguous[-1]
    if not any(contiguous):
        layout = "A"
    elif last and (ndim == 1 or not first):
        layout = "C"
    elif first and not last:
        layout = "F"
    else:
        raise TypeError("'::1' marks the last dimension (C order) or the first (Fortran order), and not both")
    return _core.Type("array", dtype=dtype, ndim=ndim, layout=layout, readonly=readonly)  # type: ignore[arg-type]


bool_ = DType("bool_")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = DType("float64")
complex64 = DType("complex64")
complex128 = DType("complex128")

dtypes = {name: value for name, value in list(globals().items()) if isinstance(value, DType)}
void = Void()
