"""Signatures: text or objects in, argument types of a kernel out.

Two spellings, which may be mixed:

* NumPy's: ``"float, f4[::1], i8, (i4, f4[:])"``. ``int``, ``float``, ``complex`` and ``bool`` are Python's numbers
  (weak); ``i8``, ``f8``, ``float64``, ``bool_`` are typed.
* Numba's: ``"void(float32[:], int32)"``, or the objects: ``void(float32[:], int32)``, ``[float32[::1], int32]``.

Arrays: a ``:`` for each dimension; ``::1`` on the last one says C order, on the first one Fortran order. The text that
messages show, ``array(float32, 2d, C)``, ``int (weak)``, can be read back.
"""

from __future__ import annotations

from . import _core
from ._dtypes import MAX_NDIM, DType, Pointer, RecordType, Signature, TupleType, Void, array_type, dtypes
from ._errors import SignatureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

MAX_DEPTH, MAX_ITEMS = 8, 255  # of tuples, as of arguments

WEAK = {"int": "weak_int", "float": "weak_float", "complex": "weak_complex", "bool": "weak_bool"}

# Other names of the dtypes: NumPy's codes and C names, Numba's names.
ALIASES = {
    "b1": "bool", "?": "bool", "bool_": "bool", "boolean": "bool",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
    "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128",
    "half": "float16", "single": "float32", "double": "float64", "float_": "float32",
    "char": "int8", "uchar": "uint8",
    "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32",
    "int_": "int64", "uint": "uint64", "long_": "int64", "ulong": "uint64", "longlong": "int64",
    "ulonglong": "uint64", "intp": "int64", "uintp": "uint64", "ssize_t": "int64", "size_t": "uint64",
}  # fmt: skip
for _dtype in dtypes.values():
    ALIASES.setdefault(_dtype.name, _dtype._dtype)


def parse(signature: Any) -> Signature:
    """Read one signature.

    Parameters
    ----------
    signature : str, tuple, list, Signature
        Text in either spelling, or a sequence with an item for each argument: text, `gpu.float32`, `gpu.float32[:]`,
        a NumPy dtype or scalar class, ``int``, ``float``, ``complex``, ``bool``, a tuple of those, ``None``.

    Returns
    -------
    Signature

    Raises
    ------
    SignatureError
        The text can't be read; the message has a caret under the place.
    TypeError
        An item that isn't a type.
    """
    if isinstance(signature, Signature):
        return signature
    if isinstance(signature, str):
        try:
            return _Reader(signature).signature()
        except SignatureError as error:
            raise error.with_traceback(None) from None  # the message shows the place
    if isinstance(signature, (tuple, list)):
        return Signature(tuple(one_type(item) for item in signature))
    if isinstance(signature, (DType, Void, _core.Type)) or signature in _PYTHON_TYPES:
        return Signature((one_type(signature),))
    from ._numbas import is_numbas, signature_of

    if is_numbas(signature):
        return signature_of(signature)
    raise TypeError(
        f"a signature is text ('f4[::1], int'), a tuple of types, or void(...), and this is {type(signature).__name__}"
    )


def spread(signature: Signature, count: int) -> Signature:
    """Numba's spelling without a result, ``"(f4[:], i4)"``: types of `count` parameters where these are several."""
    args = signature.args
    if count < 2 or len(args) != 1 or isinstance(args[0], Pointer) or args[0].kind != "tuple":
        return signature
    items = args[0].items
    return Signature(tuple(items), signature.result) if len(items) == count else signature


def parse_many(signatures: Any) -> tuple[Signature, ...]:
    """Read what `gpu.jit` takes as its first argument: one signature or a list of them.

    A list whose items are signatures themselves (text with several types, tuples, ``void(...)``) is several signatures;
    a list of single types is one signature.
    """
    if not isinstance(signatures, list):
        return (parse(signatures),)
    many = (Signature, str, tuple, list)  # numba's own signatures have a return type, too
    if all(isinstance(item, many) or hasattr(item, "return_type") for item in signatures) and any(
        not isinstance(item, str) or _Reader(item).is_signature() for item in signatures
    ):
        return tuple(parse(item) for item in signatures)
    return (parse(signatures),)


def _class_of(item: tuple[Any, ...]) -> type | None:
    """The class of a named tuple."""
    return type(item) if hasattr(item, "_fields") else None


def one_type(item: Any) -> _core.Type:
    """The type of one argument from text, a dtype object, a Python or NumPy type, or a tuple of such."""
    if isinstance(item, (_core.Type, Pointer)):
        return item  # type: ignore[return-value]
    if isinstance(item, (DType, TupleType)):
        return item._type
    if isinstance(item, str):
        return _Reader(item).only_type()
    if item is None or isinstance(item, Void):
        return _core.Type("none")
    if isinstance(item, tuple):
        return _core.Type(
            "tuple",
            items=tuple(one_type(i) for i in item),
            fields=getattr(item, "_fields", None),
            object=_class_of(item),
        )
    if isinstance(item, type) and item in _PYTHON_TYPES:
        return _core.Type(_PYTHON_TYPES[item])  # type: ignore[arg-type]
    if getattr(item, "names", None) is not None and hasattr(item, "fields"):  # a structured dtype
        return RecordType(item)._type
    name = _numpy_name(item)
    if name == "bool" or name in dtypes:
        return _core.Type("scalar", dtype=name)
    from . import _numbas

    if _numbas.is_numbas(item):
        return _numbas.type_of(item)  # type: ignore[no-any-return]
    if any(cls.__module__ == "gpu.types" for cls in type(item).__mro__):
        raise NotImplementedError(
            f"{item!r} is a type of Numba's compiler or its extensions, and no kernel has such values: pass a number, "
            "an array, a tuple, a named tuple or a record"
        )
    raise TypeError(
        f"not the type of an argument: {item!r}; there are gpu.float32, gpu.float32[:], 'f4[::1]', int, ..."
    )


def _dtype_object(name: str) -> str:
    """The key of `dtypes` for a dtype's name."""
    return "bool_" if name == "bool" else name


_PYTHON_TYPES: dict[Any, str] = {int: "weak_int", float: "weak_float", complex: "weak_complex", bool: "weak_bool"}


def _numpy_name(item: Any) -> str | None:
    """``float32`` for ``np.float32``, ``np.dtype('f4')``, ``ml_dtypes.bfloat16``; None for anything else."""
    import sys

    np = sys.modules.get("numpy")
    if np is None:
        return None
    if isinstance(item, np.dtype) or (isinstance(item, type) and issubclass(item, np.generic)):
        try:
            return str(np.dtype(item).name)
        except TypeError:
            return None
    return None


class _Reader:
    """A recursive-descent reader of one text; `at` is the place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0  # of tuples

    # ---- what is read

    def signature(self) -> Signature:
        """``[result](types)`` or ``types``, up to the end of the text."""
        start = self.at
        nothing = self.word() in ("void", "none", "None") and self.peek() == "("
        if not nothing:
            self.at = start
        result = None if nothing or not self.peek() else self.type()
        if nothing or self.peek() == "(":
            self.take("(")
            args = self.types(")")
            self.take(")", "',' or ')'")
            self.end()
            return Signature(args, result)
        self.at = start
        args = self.types("")
        self.end()
        return Signature(args)

    def is_signature(self) -> bool:
        """Tell a signature (several types, or ``result(types)``) from one type."""
        try:
            self.type()
        except SignatureError:
            return True
        return self.peek() != ""

    def only_type(self) -> _core.Type:
        found = self.type()
        self.end()
        return found

    def types(self, closing: str) -> tuple[_core.Type, ...]:
        found: list[_core.Type] = []
        while self.peek() != closing:
            found.append(self.type())
            if not self.skip(","):
                break
        return tuple(found)

    def type(self) -> _core.Type:
        start = self.skip_space()
        if self.depth > MAX_DEPTH:
            self.fail(start, start + 1, f"tuples nest at most {MAX_DEPTH} deep")
        self.depth += 1
        found = self.type_at(start)
        self.depth -= 1
        return found

    def type_at(self, start: int) -> _core.Type:
        if self.skip("("):
            items = self.types(")")
            self.take(")", "',' or ')'")
            return _core.Type("tuple", items=items)
        name = self.word()
        if not name:
            missing = self.peek() in ("", ",", ")")
            self.fail(start, max(start + 1, self.at), "a type is missing here" if missing else "not a type")
        if name in CONSTRUCTORS and self.peek() == "(":
            return CONSTRUCTORS[name](self)
        if self.peek() == "[":
            return self.array(name, start)
        return self.named(name, start)

    def array(self, name: str, start: int) -> _core.Type:
        return self.array_of(self.dtype(name, start))

    def array_of(self, dtype: Any) -> _core.Type:
        """What follows the type of the elements: ``[:, ::1]``."""
        open_at = self.at
        self.take("[")
        contiguous = []
        while True:
            self.take(":", "':' for a dimension")
            mark = self.skip(":")
            if mark:
                self.take("1", "'::1' for a contiguous dimension")
            contiguous.append(mark)
            if not self.skip(","):
                break
        self.take("]", "',' or ']'")
        try:
            return array_type(dtype, contiguous)
        except TypeError as error:
            self.fail(open_at, self.at, str(error))

    def read_array(self) -> _core.Type:
        """``array(float32, 2d, C)``, with ``readonly`` or ``read-only`` at the end."""
        self.take("(")
        start = self.skip_space()
        name = self.word()
        dtype = self.record_dtype() if name == "record" else self.dtype(name, start)
        self.take(",")
        start = self.skip_space()
        ndim = self.word()
        if not (ndim.endswith("d") and ndim[:-1].isdigit() and int(ndim[:-1]) <= 16):
            self.fail(start, self.at, "the number of dimensions is written like 2d, at most 16d")
        self.take(",")
        start = self.skip_space()
        layout = self.word()
        if layout not in ("C", "F", "A"):
            self.fail(start, self.at, "the layout is C, F or A")
        readonly = False
        if self.skip(","):
            start = self.skip_space()
            first = self.word()
            readonly = first == "readonly" or (first == "read" and self.skip("-") and self.word() == "only")
            if not readonly:
                self.fail(start, self.at, "only 'readonly' may follow the layout")
        self.take(")")
        return _core.Type("array", dtype=dtype, ndim=int(ndim[:-1]), layout=layout, readonly=readonly)  # type: ignore[arg-type]

    def read_numbas_array(self) -> _core.Type:
        """``Array(float32, 2, 'C')``, ``Array(float32, 2, 'C', readonly=True, aligned=True)``."""
        self.take("(")
        start = self.skip_space()
        name = self.word()
        dtype = self.record_dtype() if name in ("record", "Record") else self.dtype(name, start)
        self.take(",")
        ndim = self.number()
        self.take(",")
        start = self.skip_space()
        layout = self.quoted()
        if layout not in ("C", "F", "A") or ndim > MAX_NDIM:
            self.fail(start, self.at, f"Array(dtype, ndim, layout): at most {MAX_NDIM} dimensions; 'C', 'F' or 'A'")
        given = ["False", "True"]  # of readonly and aligned
        names, at = ("readonly", "aligned"), 0
        while self.skip(","):
            start = self.skip_space()
            word = self.word()
            if self.skip("=") and word in names:
                at, word = names.index(word), self.word()
            if word not in ("True", "False") or at > 1:
                self.fail(start, self.at, "readonly and aligned are True or False")
            given[at], at = word, at + 1
        self.take(")", "',' or ')'")
        if given[1] == "False" and isinstance(dtype, str):  # records have an alignment of their own
            self.fail(start, self.at, "arrays of unaligned elements aren't supported")
        readonly = given[0] == "True"
        return _core.Type("array", dtype=dtype, ndim=ndim, layout=layout, readonly=readonly)  # type: ignore[arg-type]

    def quoted(self) -> str:
        """A word in quotes of either kind."""
        quote = self.peek()
        if quote not in ("'", '"'):
            return self.word()
        self.at += 1
        word = self.word()
        self.take(quote)
        return word

    def read_tuple(self) -> _core.Type:
        """``Tuple((t, u))`` or ``Tuple(t, u)``."""
        self.take("(")
        double = self.peek() == "("
        items = self.types(")")
        self.take(")", "',' or ')'")
        if double and len(items) == 1 and items[0].kind == "tuple":
            return items[0]
        return _core.Type("tuple", items=items)

    def read_unituple(self) -> _core.Type:
        """``UniTuple(t, n)``."""
        self.take("(")
        item = self.type()
        self.take(",")
        start = self.skip_space()
        count = self.word()
        if not count.isdigit():
            self.fail(start, self.at, "the number of items is missing")
        if len(count) > 3 or int(count) > MAX_ITEMS:
            self.fail(start, self.at, f"a tuple has at most {MAX_ITEMS} items")
        self.take(")")
        return _core.Type("tuple", items=(item,) * int(count))

    def read_pointer(self) -> _core.Type:
        """``CPointer(float32)``."""
        self.take("(")
        start = self.skip_space()
        name = self.dtype(self.word(), start)
        self.take(")", "')'")
        return Pointer(dtypes[_dtype_object(name)])  # type: ignore[return-value]

    def read_record(self) -> _core.Type:
        """``record(x: float32, y: int32[3])``, alone or with dimensions: an array of them."""
        dtype = self.record_dtype()
        return self.array_of(dtype) if self.peek() == "[" else RecordType(dtype)._type

    def record_dtype(self) -> Any:
        """The fields of a record, laid out as C does it, without gaps if it ends with ``packed``, or as it says.

        ``x: int32 @ 8`` gives a field's offset, ``24 bytes`` at the end the size.
        """
        import numpy as np

        start = self.at
        fields: dict[str, Any] = {"names": [], "formats": [], "offsets": []}
        align, size = True, None
        self.take("(")
        while self.peek() not in (")", ""):
            name = self.word()
            if name == "packed" and self.peek() == ")":
                align = False
                break
            if name.isdigit() and self.skip_word("bytes"):
                size = int(name)
                break
            self.take(":", "':' and the type of the field")
            fields["names"].append(name)
            fields["formats"].append(self.field_dtype())
            if self.skip("@"):
                fields["offsets"].append(self.number())
            if not self.skip(","):
                break
        self.take(")", "',' or ')'")
        if len(fields["offsets"]) != (0 if size is None else len(fields["names"])):
            self.fail(start, self.at, "where each field lies is written with the size: 'x: int32 @ 4, 8 bytes'")
        try:
            if size is None:
                return np.dtype(list(zip(fields["names"], fields["formats"], strict=True)), align=align)
            return np.dtype({**fields, "itemsize": size})
        except (TypeError, ValueError) as error:
            self.fail(start, self.at, str(error))

    def field_dtype(self) -> Any:
        """A dtype, with a shape if the field is an array."""
        start = self.skip_space()
        name = self.word()
        dtype = self.record_dtype() if name == "record" else dtypes[_dtype_object(self.dtype(name, start))].dtype
        shape = []
        if self.skip("["):
            shape.append(self.number())
            while self.skip(","):
                shape.append(self.number())
            self.take("]", "',' or ']'")
        return (dtype, tuple(shape)) if shape else dtype

    def number(self) -> int:
        start = self.skip_space()
        word = self.word()
        if not word.isdigit():
            self.fail(start, max(start + 1, self.at), "a number is missing here")
        return int(word)

    def skip_word(self, word: str) -> bool:
        """Read `word` if it comes next."""
        before = self.at
        if self.word() == word:
            return True
        self.at = before
        return False

    def named(self, name: str, start: int) -> _core.Type:
        if name in WEAK:
            if self.skip("("):  # "int (weak)", as messages have it
                start = self.skip_space()
                if self.word() != "weak":
                    self.fail(start, max(start + 1, self.at), f"only '(weak)' may follow '{name}'")
                self.take(")")
            return _core.Type(WEAK[name])  # type: ignore[arg-type]
        if name in ("None", "none"):
            return _core.Type("none")
        if name == "void":
            self.fail(start, self.at, "'void' is a result, not the type of an argument")
        return _core.Type("scalar", dtype=self.dtype(name, start))

    def dtype(self, name: str, start: int) -> str:
        """The dtype that an array's element or a typed scalar has."""
        if name in ALIASES:
            return ALIASES[name]
        if name == "bool":
            return "bool"
        if name in ("int", "float", "complex"):
            size = {"int": "i4[:] or i8[:]", "float": "f4[:] or f8[:]", "complex": "c8[:] or c16[:]"}[name]
            self.fail(start, self.at, f"the elements of an array have a size: write {size}")
        if name in ("void", "none", "None"):
            self.fail(start, self.at, f"'{name}' is a result, and no array has elements of it")
        import difflib

        near = difflib.get_close_matches(name, [*ALIASES, *WEAK, "void"], 1, 0.6)
        self.fail(start, self.at, f"unknown type '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))

    # ---- characters

    def skip_space(self) -> int:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.at : self.at + 1]

    def skip(self, char: str) -> bool:
        found = self.peek() == char
        self.at += found
        return found

    def take(self, char: str, wanted: str = "") -> None:
        if not self.skip(char):
            what = wanted or f"'{char}'"
            self.fail(self.at, self.at + 1, f"expected {what}" + ("" if self.peek() else ", and the text ends here"))

    def word(self) -> str:
        start = self.skip_space()
        if self.text[self.at : self.at + 1] == "?":
            self.at += 1
            return "?"
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
            self.at += 1
        word = self.text[start : self.at]
        for module in ("np", "numpy", "gpu", "cuda", "numba", "types"):  # np.float32, numba.types.int32
            if word == module and self.text[self.at : self.at + 1] == ".":
                self.at += 1
                return self.word()
        return word

    def end(self) -> None:
        if self.peek():
            self.fail(self.at, len(self.text), "nothing may follow the last type")

    def fail(self, start: int, end: int, message: str) -> NoReturn:
        line = self.text.replace("\n", " ").replace("\t", " ")
        raise SignatureError(f"signature: {message}\n    {line}\n    {' ' * start}{'^' * max(1, end - start)}")


CONSTRUCTORS = {
    "array": _Reader.read_array,
    "Array": _Reader.read_numbas_array,
    "tuple": _Reader.read_tuple,
    "Tuple": _Reader.read_tuple,
    "UniTuple": _Reader.read_unituple,
    "record": _Reader.read_record,
    "CPointer": _Reader.read_pointer,
}
