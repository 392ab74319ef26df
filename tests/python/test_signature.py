"""Signatures in both spellings, and how a wrong one is reported."""

from __future__ import annotations

import contextlib

import gpu
import pytest
from gpu import types
from gpu._core import Type
from gpu.signature import ALIASES, one_type, parse, parse_many


def array(dtype: str, ndim: int = 1, layout: str = "C", readonly: bool = False) -> Type:
    return Type("array", dtype=dtype, ndim=ndim, layout=layout, readonly=readonly)  # type: ignore[arg-type]


def scalar(dtype: str) -> Type:
    return Type("scalar", dtype=dtype)


INT, FLOAT, BOOL, COMPLEX = Type("weak_int"), Type("weak_float"), Type("weak_bool"), Type("weak_complex")

READ = [
    ("float, f4[::1], f4[::1]", (FLOAT, array("float32"), array("float32"))),
    ("int,i8,u1", (INT, scalar("int64"), scalar("uint8"))),
    ("bool, ?, bool_, b1, boolean", (BOOL, *[scalar("bool")] * 4)),
    ("complex, c8, complex128", (COMPLEX, scalar("complex64"), scalar("complex128"))),
    ("f2, bfloat16, half", (scalar("float16"), scalar("bfloat16"), scalar("float16"))),
    ("f4[:]", (array("float32", 1, "A"),)),
    ("float32[:, :]", (array("float32", 2, "A"),)),
    ("float32[:, ::1]", (array("float32", 2, "C"),)),
    ("float32[::1, :, :]", (array("float32", 3, "F"),)),
    ("bool[::1]", (array("bool"),)),
    ("void(float32[:], int32)", (array("float32", 1, "A"), scalar("int32"))),
    ("none(float32[:])", (array("float32", 1, "A"),)),
    (" void ( float32 [ : , :: 1 ] ) ", (array("float32", 2, "C"),)),
    ("np.float32, numpy.int8[:], types.intp", (scalar("float32"), array("int8", 1, "A"), scalar("int64"))),
    ("(i4, f4[::1]), None", (Type("tuple", items=(scalar("int32"), array("float32"))), Type("none"))),
    ("((i4, int), float)", (Type("tuple", items=(Type("tuple", items=(scalar("int32"), INT)), FLOAT)),)),
    ("void(Array(float32, 2, 'C'), Array(int32, 1, 'A', readonly=True))",
     (array("float32", 2, "C"), Type("array", dtype="int32", ndim=1, layout="A", readonly=True))),
    ('Array(float64, 1, "F", False, True)', (array("float64", 1, "F"),)),
    ("Tuple((i4, f8)), UniTuple(int32, 3)", (Type("tuple", items=(scalar("int32"), scalar("float64"))),
                                             Type("tuple", items=(scalar("int32"),) * 3))),
    ("array(float32, 2d, C), array(int8, 1d, A, readonly)", (array("float32", 2), array("int8", 1, "A", True))),
    ("f4[::1],", (array("float32"),)),
    ("", ()),
    ("void()", ()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "types"), READ, ids=[t for t, _ in READ])
def test_text(text: str, types: tuple[Type, ...]) -> None:
    signature = parse(text)
    assert signature.args == types
    assert signature.result is None


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("int32", scalar("int32")),
        ("f4[:]", array("float32", 1, "A")),
        ("UniTuple(i4, 2)", Type("tuple", items=(scalar("int32"),) * 2)),
        ("Tuple((i4, f4))", Type("tuple", items=(scalar("int32"), scalar("float32")))),
        ("(i4, f4)", Type("tuple", items=(scalar("int32"), scalar("float32")))),
    ],
)
def test_results(result: str, kind: Type) -> None:
    signature = parse(f"{result}(i4, f8[:])")
    assert signature.result == kind
    assert signature.args == (scalar("int32"), array("float64", 1, "A"))


def test_every_alias_is_a_dtype_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    for name, dtype in ALIASES.items():
        assert parse(f"{name}").args == (scalar(dtype),)
        if name not in ("bfloat16", "float_", "boolean") and not name.endswith("_") and name != "half":
            with contextlib.suppress(TypeError):  # a name that only Numba has
                assert np.dtype(name).name == dtype, name


def test_what_messages_show_can_be_read_back() -> None:
    for text in (
        "int (weak)",
        "tuple(int (weak), float32)",
        "tuple(tuple(int8))",
        "array(float32, 2d, C)",
        "array(uint8, 1d, A)",
        "array(int8, 3d, F)",
        "float64",
    ):
        (found,) = parse(text).args
        assert repr(found) == text


def test_results_of_device_functions() -> None:
    signature = parse("float32(float32, int32)")
    assert signature.result == scalar("float32")
    assert signature.args == (scalar("float32"), scalar("int32"))
    assert parse("int64()").result == scalar("int64")


WRONG = [
    ("flot32, f4", "unknown type 'flot32'; did you mean 'float32'?", "^^^^^^"),
    ("f4[:, 3]", "expected ':' for a dimension", "      ^"),
    (
        "f4[::1, ::1]",
        "'::1' marks the last dimension (C order) or the first (Fortran order), and not both",
        "  ^^^^^^^^^^",
    ),
    ("f4[:, :", "expected ',' or ']', and the text ends here", "       ^"),
    ("float[:]", "the elements of an array have a size: write f4[:] or f8[:]", "^^^^^"),
    ("int[::1]", "the elements of an array have a size: write i4[:] or i8[:]", "^^^"),
    ("(i4, f4", "expected ',' or ')', and the text ends here", "       ^"),
    ("f4,,f4", "a type is missing here", "   ^"),
    ("f4[:] x", "nothing may follow the last type", "      ^"),
    ("void(none[:])", "'none' is a result, and no array has elements of it", "     ^^^^"),
    ("void(f4[:]) i4", "nothing may follow the last type", "            ^^"),
    ("i4, void", "'void' is a result, not the type of an argument", "    ^^^^"),
    ("array(f4, 2, C)", "the number of dimensions is written like 2d, at most 16d", "          ^"),
    ("array(f4, 2d, B)", "the layout is C, F or A", "              ^"),
    ("array(f4, 2d, C, volatile)", "only 'readonly' may follow the layout", "                 ^^^^^^^^"),
    ("f4[::2]", "expected '::1' for a contiguous dimension", "     ^"),
    ("i4[]", "expected ':' for a dimension", "   ^"),
    ("UniTuple(i4, n)", "the number of items is missing", "             ^"),
    ("f4[" + ", ".join(":" * 17) + "]", "an array type has at most 16 dimensions, and this has 17", "  " + "^" * 51),
    ("void(f4[:]", "expected ',' or ')', and the text ends here", "          ^"),
    ("UniTuple(i4, 256)", "a tuple has at most 255 items", "             ^^^"),
    ("(" * 1000, "tuples nest at most 8 deep", " " * 9 + "^"),
    ("*", "not a type", "^"),
    ("int (strong)", "only '(weak)' may follow 'int'", "     ^^^^^^"),
    ("int(i4)", "only '(weak)' may follow 'int'", "    ^^"),
    ("float32[:](i4)(i4)", "nothing may follow the last type", "              ^^^^"),
]


@pytest.mark.parametrize(("text", "message", "caret"), WRONG, ids=[t for t, _, _ in WRONG])
def test_wrong_text(text: str, message: str, caret: str) -> None:
    with pytest.raises(gpu.SignatureError) as caught:
        parse(text)
    assert str(caught.value) == f"signature: {message}\n    {text}\n    {caret}"


def test_objects() -> None:
    np = pytest.importorskip("numpy")
    wanted = (array("float32", 2), INT, scalar("float32"), Type("none"), scalar("int8"), scalar("float64"), BOOL)
    assert parse((gpu.float32[:, ::1], int, "f4", None, gpu.int8, np.float64, bool)).args == wanted
    assert parse([np.dtype("i2"), types.f4[:]]).args == (scalar("int16"), array("float32", 1, "A"))
    assert parse(gpu.void(gpu.float32[:], gpu.int32)).args == (array("float32", 1, "A"), scalar("int32"))
    assert parse(gpu.float32(gpu.float32, gpu.int32)).result == scalar("float32")
    assert one_type((gpu.int8, (float, gpu.float32[::1]))) == parse("(i1, (float, f4[::1]))").args[0]
    assert types.Array(types.int32, 2, "F") == array("int32", 2, "F")
    assert types.UniTuple(types.int32, 2) == types.Tuple((types.int32, types.int32))


def test_bfloat16_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert one_type(ml_dtypes.bfloat16) == scalar("bfloat16")
    assert gpu.bfloat16.dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("wrong", [3.5, object(), {"f4"}, lambda: 0])
def test_wrong_objects(wrong: object) -> None:
    with pytest.raises(TypeError):
        parse(wrong)
    with pytest.raises(TypeError, match="not the type of an argument"):
        one_type(wrong)


def test_subscripts_of_dtypes() -> None:
    for dims in (3, slice(0, 3), slice(None, None, 2), (slice(None), 1)):
        with pytest.raises(TypeError, match="write ':' for each dimension"):
            gpu.float32[dims]
    with pytest.raises(TypeError, match="and not both"):
        gpu.float32[::1, ::1]
    assert gpu.float32[::1, ::1, :] == gpu.float32[::1, :, :] == one_type("f4[::1, ::1, :]")
    assert gpu.float32[:, ::1, ::1] == gpu.float32[:, :, ::1]


def test_lists_of_signatures() -> None:
    f4 = (scalar("float32"),)
    assert [s.args for s in parse_many("f4")] == [f4]
    assert [s.args for s in parse_many(["f4", "f4"])] == [f4 * 2]
    assert [s.args for s in parse_many(["f4, f4", "f4, i4"])] == [f4 * 2, (*f4, scalar("int32"))]
    assert [s.args for s in parse_many([("f4",), (gpu.float32,)])] == [f4, f4]
    assert [s.args for s in parse_many([gpu.void(gpu.float32), "void(float32)"])] == [f4, f4]
    assert [s.args for s in parse_many((gpu.float32, gpu.float32))] == [f4 * 2]
