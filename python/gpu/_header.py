"""C headers for exported PTX: entry names, and a struct for the parameters of each kernel."""

from __future__ import annotations

import inspect
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import gpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu import _core
    from gpu._jit import Kernel

C_TYPES = {
    "bool": "uint8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double", "ptr": "uint64_t",
}  # fmt: skip

# C types of NumPy's numbers, by code; complex ones are arrays of two.
C_NUMBERS = {
    "b1": "uint8_t", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
    "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t",
    "f2": "uint16_t", "f4": "float", "f8": "double",
}  # fmt: skip

# fmt: off
C_WORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false",
    "asm", "class", "delete", "new", "operator", "private", "protected", "public", "template", "this", "throw", "try",
    "using", "virtual",
))
# fmt: on


# What --assume says, for the reader of the header.
PROMISES = {
    "size32": "arrays and the grid are smaller than 2^31 bytes and threads",
    "align16": "addresses of arrays are multiples of 16",
    "noalias": "no array that is written overlaps another",
    "counts": "64-bit integers are from 0 to 2^31 - 1",
}


class Entry(NamedTuple):
    """One kernel for one architecture, as it was written."""

    kernel: Kernel
    types: tuple[_core.Type, ...]
    arch: str
    entry: str
    layout: list[dict[str, Any]]
    size: int
    path: str | None
    source: str
    assume: tuple[str, ...] = ()


def text(entries: list[Entry], path: str) -> str:
    """The header.

    Parameters
    ----------
    entries : list of Entry
        Those of one kernel stand together.
    path : str
        Where the header will be; names its include guard.

    Raises
    ------
    ValueError
        A kernel's parameters differ between architectures.
    """
    guard = re.sub(r"\W", "_", os.path.basename(path)).upper()
    guard = guard if not guard[0].isdigit() else "H_" + guard
    sources = ", ".join(dict.fromkeys(os.path.basename(e.source) for e in entries))
    lines = [
        f"/* Kernels of {sources}, made by gpu {gpu.__version__}.",
        " *",
        " * Load the PTX (cuModuleLoad), find the entry (cuModuleGetFunction), fill in the struct, and launch:",
        " *     size_t size = NAME_PARAMS_BYTES;",
        " *     void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &params,",
        " *                      CU_LAUNCH_PARAM_BUFFER_SIZE, &size,",
        " *                      CU_LAUNCH_PARAM_END};",
        " *     cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, stream, NULL, extra);",
        " * Arrays are device addresses, shapes count elements, strides count bytes. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <assert.h>",
        "#include <stdalign.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.kernel.__name__, []).append(entry)
    for name, group in groups.items():
        lines += ["", *_kernel(c_name(name), group)]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */"]
    return "\n".join(lines) + "\n"


def _kernel(name: str, group: list[Entry]) -> Iterator[str]:
    first = group[0]
    for other in group:
        if (other.layout, other.size, other.types) != (first.layout, first.size, first.types):
            raise ValueError(
                f"{name}: parameters differ between {first.arch} and {other.arch}; write a header for each"
            )
    upper = name.upper()
    signature = ", ".join(f"{p}: {t!r}" for p, t in zip(parameter_names(first), first.types, strict=True))
    opening = [f"/* {first.kernel.__qualname__}({signature})"]
    opening += [f" * Every launch promises: {PROMISES[fact]}." for fact in first.assume]
    yield "\n".join(opening) + " */"
    if len({e.entry for e in group}) == 1:
        yield f'#define {upper}_ENTRY "{first.entry}"'
    for entry in group:
        tag = f"{upper}_{entry.arch.upper()}"
        if len({e.entry for e in group}) > 1:
            yield f'#define {tag}_ENTRY "{entry.entry}"'
        if entry.path is not None:
            yield f'#define {tag}_FILE "{os.path.basename(entry.path)}"'
    for field, type_ in _leaves(first):
        if _is_record(type_):
            yield from _struct(f"{name}_{c_name(field)}", type_.dtype)
    yield f"#define {upper}_PARAMS_BYTES {first.size}"
    yield f"typedef struct {name}_params {{"
    fields = list(_fields(first))
    for field, parameter, comment in fields:
        c_type = f"alignas(8) {name}_{field}" if parameter["kind"] == "record" else C_TYPES[parameter["type"]]
        yield f"    {c_type} {field};  /* {comment} */"
    if not fields:
        yield "    char none;  /* the kernel reads no argument */"
    yield f"}} {name}_params;"
    for field, parameter, _ in fields:
        yield f'static_assert(offsetof({name}_params, {field}) == {parameter["offset"]}, "layout of {name}_params");'


HIDDEN = {
    "error": ("error_record", "address of 160 zero bytes: where the kernel says that it raised"),
    "print_log": ("print_log", "address of four uint64 (0, size, 0, 0) and size zero bytes: what it prints"),
    "print_owner": ("print_owner", "a number that is put in what it prints"),
    "print_launch": ("print_launch", "the same"),
}


def _fields(entry: Entry) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, row of the layout, and comment of each field, in order of their offsets."""
    leaves = list(_leaves(entry))
    taken: set[str] = set()
    for parameter in sorted(entry.layout, key=lambda p: int(p["offset"])):
        kind, axis = parameter["kind"], parameter["axis"]
        if kind == "record" and axis:  # the rest of a struct
            continue
        if kind in HIDDEN:
            name, comment = HIDDEN[kind]
        else:
            name, type_ = leaves[parameter["leaf"]]
            if kind in ("data", "record"):
                comment = f"{type_!r}"
            elif kind == "scalar":
                complex_ = type_.kind == "weak_complex" or (type_.dtype or "").startswith("complex")
                name += ("_re", "_im")[axis] if complex_ else ""
                comment = f"{type_!r}"
            else:
                name, comment = (
                    f"{name}_{kind}{axis}",
                    f"{kind} of axis {axis}" + (", in bytes" if kind == "stride" else ""),
                )
        name = c_name(name)
        while name in taken:
            name += "_"
        taken.add(name)
        yield name, parameter, comment


def _is_record(type_: _core.Type) -> bool:
    return type_.kind in ("array", "record") and not isinstance(type_.dtype, str)


def _struct(name: str, dtype: Any) -> Iterator[str]:
    """A C struct with the fields of a structured dtype, where the dtype has them."""
    fields = sorted((dtype.fields[f][1], f, dtype.fields[f][0]) for f in dtype.names)
    lines, end, taken = [], 0, set()
    for offset, field, of in fields:
        if offset < end:  # fields lie on top of each other, which is no struct
            yield f"typedef struct {name} {{ uint8_t bytes[{dtype.itemsize}]; }} {name};"
            return
        base, shape = of.subdtype or (of, ())
        member = c_name(field)
        while member in taken:
            member += "_"
        taken.add(member)
        if base.names is not None:
            yield from _struct(f"{name}_{member}", base)
        if offset > end:
            lines.append(f"    uint8_t gap{end}[{offset - end}];")
        c_type, more = _member(base, f"{name}_{member}")
        lines.append(f"    {c_type} {member}{''.join(f'[{n}]' for n in (*shape, *more))};")
        end = offset + of.itemsize
    if dtype.itemsize > end:
        lines.append(f"    uint8_t gap{end}[{dtype.itemsize - end}];")
    yield "#pragma pack(push, 1)"
    yield f"typedef struct {name} {{"
    yield from lines
    yield f"}} {name};"
    yield "#pragma pack(pop)"
    yield f'static_assert(sizeof({name}) == {dtype.itemsize}, "layout of {name}");'


def _member(dtype: Any, struct: str) -> tuple[str, tuple[int, ...]]:
    """The C type of a field, and the dimensions that it adds."""
    if dtype.names is not None:
        return struct, ()
    if dtype.isnative and dtype.str[1:] in C_NUMBERS:
        return C_NUMBERS[dtype.str[1:]], ()
    if dtype.isnative and dtype.kind == "c":
        return C_NUMBERS[f"f{dtype.itemsize // 2}"], (2,)
    return "uint8_t", (dtype.itemsize,)


def _leaves(entry: Entry) -> Iterator[tuple[str, _core.Type]]:
    """Name and type of each scalar and array, tuples taken apart depth first."""
    for name, type_ in zip(parameter_names(entry), entry.types, strict=True):
        yield from _flatten(name, type_)


def _flatten(name: str, type_: _core.Type) -> Iterator[tuple[str, _core.Type]]:
    if type_.kind == "tuple":
        for number, item in enumerate(type_.items):
            yield from _flatten(f"{name}_{type_.fields[number] if type_.fields else number}", item)
    elif type_.kind not in ("none", "object"):
        yield name, type_


def parameter_names(entry: Entry) -> list[str]:
    """The names of the function's parameters, ``*args`` last."""
    code = entry.kernel.py_func.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return list(code.co_varnames[:count])


def c_name(name: str) -> str:
    """A name that C takes: ASCII letters, digits and underscores."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if name in C_WORDS:
        return name + "_"
    return name if not name[:1].isdigit() else "_" + name
