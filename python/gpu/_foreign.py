"""Functions that are compiled elsewhere: declared with a signature, linked into the kernels that call them.

On a GPU the code is PTX, a cubin, fatbin, object or library of objects, which the driver links, or LLVM bitcode or
text for ``nvptx64``, which is compiled with the kernel. On the CPU it is LLVM code for this machine, or a function
of a shared library. CUDA C is PTX for the former (`gpu._nvrtc`) and a shared library for the latter (`gpu._hostcc`).
"""

from __future__ import annotations

import os
import re

from ._dtypes import Pointer, Signature
from ._errors import DeviceError
from .signature import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Link = tuple[int, bytes, str]

CUBIN, PTX, FATBIN, OBJECT, LIBRARY, LLVM, SOURCE = range(7)  # LinkKind of runtime/image.h; SOURCE is the extension's
KINDS = {
    ".ptx": PTX, ".cubin": CUBIN, ".fatbin": FATBIN, ".o": OBJECT, ".a": LIBRARY, ".lib": LIBRARY,
    ".bc": LLVM, ".ll": LLVM,
}  # fmt: skip


class LinkableCode:
    """Code in memory, with its kind; `data` is bytes, text, or an object with ``read()``."""

    kind: int | None = None

    def __init__(
        self, data: Any, name: str | None = None, setup_callback: Any = None, teardown_callback: Any = None
    ) -> None:
        if setup_callback or teardown_callback:
            raise NotImplementedError("callbacks of linked code aren't supported: call them around the launches")
        data = data.read() if hasattr(data, "read") else data
        self.data: bytes = data.encode() if isinstance(data, str) else bytes(data)
        self.name = name or f"<{type(self).__name__}>"


class PTXSource(LinkableCode):
    """PTX text."""

    kind = PTX


class Cubin(LinkableCode):
    """Machine code of a GPU."""

    kind = CUBIN


class Fatbin(LinkableCode):
    """Code for several GPUs, as nvcc packs it."""

    kind = FATBIN


class Object(LinkableCode):
    """An object file of nvcc -dc."""

    kind = OBJECT


class Archive(LinkableCode):
    """A library of object files."""

    kind = LIBRARY


class CUSource(LinkableCode):
    """CUDA C, which NVRTC compiles where it is installed."""


class LTOIR(LinkableCode):
    """NVVM's own code for link-time optimisation, which is refused where it is linked."""


def _kind_of(data: bytes, name: str) -> int:
    """The kind of code in memory, by how it begins."""
    if data[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        return LLVM
    if data[:4] == b"\x7fELF":
        return CUBIN if data[18:20] == b"\xbe\x00" else OBJECT  # EM_CUDA
    if data[:4] == b"\x50\xed\x55\xba":
        return FATBIN
    if data[:8] == b"!<arch>\n":
        return LIBRARY
    if re.search(rb"^\s*\.version\s", data, re.M):
        return PTX
    if re.search(rb"^\s*(define|target triple|declare)\b", data, re.M):
        return LLVM
    raise ValueError(f"{name} is neither PTX nor LLVM code nor an object that the driver links")


class MissingCodeError(DeviceError, FileNotFoundError):
    """A file of code isn't there."""


def _read(item: Any) -> list[Link]:
    """The code that one item of ``link=`` names, for GPUs and for the CPU."""
    if isinstance(item, CUSource):
        return _compiled(item.data, item.name, ())
    if not isinstance(item, (LinkableCode, bytes, bytearray, memoryview)):
        path = os.fspath(item)
        if os.path.splitext(path)[1].lower() == ".cu":
            with open(path, "rb") as file:
                return _compiled(file.read(), path, (os.path.dirname(os.path.abspath(path)),))
    return [_read_code(item)]


def _read_code(item: Any) -> Link:
    if isinstance(item, LinkableCode):
        if item.kind is None:
            raise NotImplementedError("LTO-IR can't be linked: link PTX")
        return item.kind, item.data, item.name
    if isinstance(item, (bytes, bytearray, memoryview)):
        data = bytes(item)
        return _kind_of(data, "this code"), data, "<bytes>"
    path = os.fspath(item)
    ending = os.path.splitext(path)[1].lower()
    if ending in (".c", ".cpp", ".cuh", ".h"):
        raise RuntimeError(f"{path}: Don't know how to link file with extension {ending}; CUDA C has the ending .cu")
    if ending == ".ltoir":
        raise NotImplementedError(f"{path}: LTO-IR can't be linked; link PTX")
    if not os.path.exists(path):
        none = f"Don't know how to link file with no extension, and there is none: {path}"
        raise MissingCodeError(f"{path} not found" if ending else none)
    with open(path, "rb") as file:
        data = file.read()
    kind = KINDS.get(ending)
    return _kind_of(data, path) if kind is None else kind, data, path


def _compiled(source: bytes, name: str, include: tuple[str, ...]) -> list[Link]:
    """CUDA C as PTX, and as it is; the latter alone without NVRTC, where the current device is the CPU."""
    from . import _core, _hostcc, _nvrtc

    text = (SOURCE, source, name)
    here = _core.current_device() in ("cpu", "python") and _hostcc.compiler()
    if here and _nvrtc.library() is None:
        return [text]
    return [(PTX, _nvrtc.compile_cuda(source, name, include), name), text]


def read_links(link: Any) -> tuple[Link, ...]:
    """Read what ``link=`` names.

    Parameters
    ----------
    link : path, bytes, `LinkableCode`, or a list, tuple or set of those
        Files are told by their ending: ``.ptx``, ``.cubin``, ``.fatbin``, ``.o``, ``.a``, ``.bc``, ``.ll``, and
        ``.cu``, which NVRTC compiles, and for the CPU the system's C++ compiler; code in memory by how it begins.

    Returns
    -------
    tuple of (kind, bytes, name)

    Raises
    ------
    NotImplementedError
        LTO-IR; CUDA C where NVRTC isn't installed.
    RuntimeError
        CUDA C with errors.
    ValueError
        Bytes that are no code.
    OSError
        A file that can't be read.
    """
    if link is None:
        return ()
    items: Iterable[Any] = link if isinstance(link, (list, tuple, set, frozenset)) else (link,)
    return tuple(link for item in items for link in _read(item))


# ---- types


def _scalar(name: str, types: tuple[Any, ...]) -> Any:
    from ._dtypes import dtypes

    if any("complex" in str(t) or str(t) in ("float16", "bfloat16") for t in types[:1]):
        raise TypeError(
            f"{name}: a declared function takes integers, bool, float32 and float64, and this is {types[0]}"
        )
    return dtypes["bool_" if types[0] == "bool" else types[0]]


def _parameter(name: str, t: Any) -> Any:
    if isinstance(t, Pointer):
        return (_scalar(name, (t.dtype,)), None)
    if t.kind in ("scalar", "array"):
        dtype = _scalar(name, (t.dtype,))
        return dtype if t.kind == "scalar" else (dtype, t.ndim)
    raise TypeError(f"{name}: a declared function takes numbers and arrays of a stated type, and this is {t!r}")


def _signature(given: Any) -> Signature:
    has_result = isinstance(given, Signature) or (isinstance(given, str) and re.match(r"\s*\w+\s*\(", given))
    if not has_result:
        raise TypeError(f"Return type must be provided for device declarations: 'float32(float32)', not {given!r}")
    return parse(given)


class ForeignFunction:
    """A declared function, to be called in kernels.

    Attributes
    ----------
    name : str
    sig : Signature
    link : tuple
    """

    _is_foreign = True

    def __init__(self, name: str, signature: Any, link: Any, abi: str, cpu: Any) -> None:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_$.][A-Za-z0-9_$.]*", name):
            raise ValueError(f"a declared function has the name of a symbol, and this is {name!r}")
        if abi not in ("c", "numba"):
            raise NotImplementedError(f"Unsupported ABI: {abi}")
        if cpu is not None and abi == "numba":
            raise ValueError("cpu=... is a function of C: declare it with abi='c'")
        self.name, self.sig, self.link = name, _signature(signature), link
        self._symbol, self._abi = name, abi
        self._parameters = tuple(_parameter(name, t) for t in self.sig.args)
        result = self.sig.result
        self._result = None if result is None or result.kind == "none" else _parameter(name, result)
        if isinstance(self._result, tuple):
            raise TypeError(f"{name}: a declared function returns a number or nothing")
        self._links = read_links(link)
        self._keep, self._address = _in_process(name, cpu)

    def __repr__(self) -> str:
        return f"<declared function {self.name}: {self.sig!r}>"

    def __call__(self, *args: Any) -> Any:
        """Call the CPU's version, from plain Python or on the ``python`` device."""
        if self._address is None:
            from ._errors import OutsideKernelError

            raise OutsideKernelError(f"{self.name}() is called in kernels; cpu=... gives it a version for Python")
        import ctypes

        if len(args) != len(self._parameters):
            raise TypeError(f"{self.name}() takes {len(self._parameters)} arguments, and this call has {len(args)}")
        types = [ctypes.c_void_p if isinstance(p, tuple) else _c_type(p) for p in self._parameters]
        result = None if self._result is None else _c_type(self._result)
        given = [_data(a) if isinstance(p, tuple) else p(a).item() for a, p in zip(args, self._parameters, strict=True)]
        found = ctypes.CFUNCTYPE(result, *types)(self._address)(*given)
        return found if self._result is None else self._result(found)


def _c_type(dtype: Any) -> Any:
    import ctypes

    names = {"float32": "c_float", "float64": "c_double", "bool": "c_bool"}
    return getattr(ctypes, names.get(dtype._dtype, f"c_{dtype._dtype}"))


def _data(array: Any) -> int:
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise TypeError("C gets a pointer to the first element: pass an array in C order that may be written")
    address: int = array.ctypes.data
    return address


def _in_process(name: str, cpu: Any) -> tuple[Any, int | None]:
    """What keeps the CPU's version alive, and its address."""
    if cpu is None or isinstance(cpu, int):
        return None, cpu
    import ctypes

    if isinstance(cpu, (str, os.PathLike)):
        library = ctypes.CDLL(os.fspath(cpu))
        try:
            cpu = library[name]
        except AttributeError:
            raise ValueError(f"{os.fspath(library._name)} has no function {name}") from None
    try:
        address = ctypes.cast(cpu, ctypes.c_void_p).value
    except (TypeError, ctypes.ArgumentError):
        raise TypeError(
            f"cpu is a function of ctypes, the path of a shared library or an address, and this is {cpu!r}"
        ) from None
    return cpu, address


def declare_device(name: str, signature: Any, link: Any = None, *, abi: str = "c", cpu: Any = None) -> ForeignFunction:
    """Declare a function that is compiled elsewhere, to call it in kernels.

    Parameters
    ----------
    name : str
        Its symbol.
    signature : str or Signature
        ``"float32(float32, int32)"``, ``"void(float32[:], int32)"``: result, then parameters. C gets an array as a
        pointer to its first element; it must be in C order and may be written.
    link : optional
        Its code: a path, bytes, or several; see `read_links`. Code for GPUs and for the CPU may stand side by side.
    abi : str
        ``"c"``, or ``"numba"``: a status is returned, and the result written through a first pointer.
    cpu : optional
        Its version on the CPU: a function of ctypes, the path of a shared library that has it, or an address.

    Returns
    -------
    ForeignFunction

    Raises
    ------
    TypeError
        A signature without a result, or with a type that C doesn't have.
    NotImplementedError
        LTO-IR, or another ABI; CUDA C where NVRTC isn't installed.
    ValueError, OSError
        Code that can't be read, a library without the function.
    """
    return ForeignFunction(name, signature, link, abi, cpu)
