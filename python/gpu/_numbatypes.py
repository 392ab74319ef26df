"""Names of ``numba.types`` that only Numba's compiler and its extensions use (`gpu._literals` has those of constants).

Programs import some of them, test values against them, derive classes from them. All of that works; a kernel or an
array that gets such a type refuses it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CLASSES = """
    Any ArrayCTypes ArrayCompatible ArrayFlags ArrayIterator BaseAnonymousTuple BaseContainerIterator
    BaseContainerPayload BaseFunction BaseNamedTuple BooleanLiteral BoundFunction Buffer ByteArray Bytes
    Callable CharSeq ClassDataType ClassInstanceType ClassType CompileResultWAP ConstSized Container
    ContextManager Conversion DTypeSpec DeferredType DictItemsIterableType DictIteratorType DictKeysIterableType
    DictType DictValuesIterableType Dim3 Dispatcher Dummy EllipsisType EnumClass EnumMember EnumerateType
    EphemeralArray EphemeralPointer ExceptionClass ExceptionInstance ExternalFunction ExternalFunctionPointer
    Function FunctionPrototype FunctionType Generator GridGroup Hashable InitialValue IntEnumClass IntEnumMember
    IntegerLiteral IterableType IteratorType List ListIter ListPayload ListType ListTypeIterableType
    ListTypeIteratorType Literal LiteralList LiteralStrKeyDict MakeFunctionLiteral MemInfoPointer MemoryView
    Module MutableSequence NPDatetime NPTimedelta NamedTupleClass NumPyRandomBitGeneratorType
    NumPyRandomGeneratorType NumberClass NumpyFlatType NumpyNdEnumerateType NumpyNdIndexType NumpyNdIterType
    ObjModeDispatcher Object Omitted Opaque Optional Pair Phantom Poison PolynomialType PyArray PyObject
    RangeIteratorType RangeType RawPointer RecursiveCall Sequence Set SetEntry SetIter SetIterableType
    SetIteratorType SetPayload SetType SimpleIterableType SimpleIteratorType Sized SliceLiteral SliceType
    StarArgTuple StarArgUniTuple StringLiteral StructRef StructRefPayload TypeRef UndefVar Undefined
    UndefinedFunctionType UndefinedType UniTupleIter UnicodeCharSeq UnicodeIteratorType UnicodeType UnionType
    VarArg WeakType WrapperAddressProtocol ZipType
"""
_OBJECTS = """
    all_str argsnkwargs_to_str code_type deferred_type dim3 ellipsis ffi ffi_forced_object get_hashable_key
    grid_group is_homogeneous literal maybe_literal npy_bitgen npy_rng optional parse_integer_bitwidth
    parse_integer_signed py2_string_type pyfunc_type pyobject range_iter32_type range_iter64_type
    range_state32_type range_state64_type slice2_type slice3_type string undefined unicode_type unknown
    unliteral unsigned_range_iter64_type unsigned_range_state64_type voidptr
"""


def names() -> frozenset[str]:
    """All of them."""
    return frozenset(_CLASSES.split()) | frozenset(_OBJECTS.split())


def stand_in(name: str, base: Any) -> Any:
    """What stands for a name of `_CLASSES` or `_OBJECTS`: a class of types that no value has, or a type by its name.

    Parameters
    ----------
    name : str
    base : type
        The class of all types.
    """
    if name == "GridGroup":
        test = staticmethod(lambda kind: getattr(kind, "kind", "") == "object" and kind.object == "grid group")
        return type(base)(name, (base,), {"_test": test, "__doc__": "Of what ``cuda.cg.this_grid()`` gives."})
    if name in _CLASSES.split():
        doc = "Of Numba's compiler: no kernel has values of this type."
        return type(base)(name, (base,), {"_test": staticmethod(lambda kind: False), "__doc__": doc})
    return base(name)
