"""The Numba dialect: the names of ``numba.cuda``, with its rules of types.

``from gpu import cuda`` in place of ``from numba import cuda``. It is the same compiler as `gpu`, with another
promotion table. Arrays, streams and devices are those of `gpu` under Numba's names; numbers of devices count those of
the kind of the current one.
"""

from __future__ import annotations

import sys as _sys

from .. import _jit, _names, random, types
from .._core import synchronize as synchronize
from ..types import *  # noqa: F403  # Numba programs say cuda.float32, cuda.void as well

HAS_NUMBA = False  # nothing of it is used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._names import Intrinsic

    grid: Intrinsic
    gridsize: Intrinsic
    threadIdx: Intrinsic
    blockIdx: Intrinsic
    blockDim: Intrinsic
    gridDim: Intrinsic
    laneid: Intrinsic
    warpsize: Intrinsic

globals().update(_names.intrinsics)
# Numba programs say: from numba.cuda.random import ..., from numba.cuda.types import ...
_sys.modules[__name__ + ".random"] = random
_sys.modules[__name__ + ".types"] = types

# Options of numba.cuda.jit that change nothing here, with the values that ask for nothing else.
_WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "inline": ("never", "always", True, False, None),  # LLVM inlines device functions
    "forceinline": (True, False),
    "lto": (None, True, False),
    "nopython": (True, None),
    "forceobj": (False, None),
    "looplift": (False, None),
    "nrt": (False, None),
    "_dbg_extend_lifetimes": (None, True, False),
    "_dbg_optnone": (None, True, False),
}
# Options of old versions, and what Numba says of them.
_GONE = {
    "argtypes": "Deprecated keyword argument `argtypes`. Signatures should be passed as the first positional argument.",
    "restype": "Deprecated keyword argument `restype`. Signatures should be passed as the first positional argument.",
    "bind": "Deprecated keyword argument `bind`: leave it out.",
}


def jit(func_or_sig: Any = None, device: bool = False, inline: Any = "never", link: Any = (), **options: Any) -> Any:
    """Make a kernel, as `gpu.jit` does, with Numba's rules of types.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures, optional
        ``@cuda.jit``, ``@cuda.jit("void(float32[:], int32)")``, ``@cuda.jit(void(float32[:]))``.
    device : bool
        A device function.
    inline : str
        ``"never"`` or ``"always"``; without effect, since device functions are inlined in any case.
    link : list
        Code for the functions that `declare_device` declares.
    **options
        Those of `gpu.jit`, and Numba's: ``lto``, ``forceinline`` and the like are accepted and have no effect.
        ``extensions``: see `Dispatcher`. ``shared_memory_carveout``: a hint.

    Returns
    -------
    Dispatcher, or a decorator that makes one.

    Raises
    ------
    TypeError
        An unknown option.
    ValueError
        A value that an option can't have.
    NotImplementedError
        An option of Numba that asks for what isn't there.
    """
    from ._dispatcher import Dispatcher

    options.update(device=device, inline=inline, link=() if link is None else link)
    extensions = list(options.pop("extensions", None) or ())
    _check_numba_options(options)
    for name, neutral in _WITHOUT_EFFECT.items():
        if name in options:
            value = options.pop(name)
            if not any(value is n or (type(value) is type(n) and value == n) for n in neutral):
                raise NotImplementedError(f"cuda.jit: {name}={value!r} isn't supported; leave it out")
    given = {name: value for name, value in options.items() if value is not None}
    _set_defaults(given)
    if isinstance(given.get("fastmath"), (set, dict)):
        given["fastmath"] = bool(given["fastmath"])
    if isinstance(func_or_sig, Dispatcher):
        return func_or_sig
    made = _jit.make_jit("numba", _signatures(func_or_sig), given, Dispatcher)
    return _extended(made, extensions) if extensions else made


def _set_defaults(given: dict[str, Any]) -> None:
    """What the settings say of debug and opt where the call says nothing."""
    from . import config as settings

    if settings.CUDA_DEBUGINFO_DEFAULT:
        given.setdefault("debug", True)
    if not settings.OPT:
        given.setdefault("opt", False)
    if given.get("debug"):
        from ._warnings import warn_of_debug

        warn_of_debug({"opt": True, **given})


def _signatures(given: Any) -> Any:
    """What `cuda.jit` got as signatures: text in parentheses has the types of all arguments, and is no tuple's type."""
    if isinstance(given, list):
        return [_signatures(one) for one in given]
    if not isinstance(given, str):
        return given
    from ..signature import parse

    signature = parse(given)
    in_parentheses = given.strip().startswith("(") and len(signature.args) == 1 and signature.args[0].kind == "tuple"
    return signature.args[0].items if in_parentheses else signature


def _extended(made: Any, extensions: list[Any]) -> Any:
    """A dispatcher, or the decorator that makes it, with extensions."""
    if hasattr(made, "extensions"):
        made.extensions.extend(extensions)
        return made
    return lambda function: _extended(made(function), extensions)


def _check_numba_options(options: dict[str, Any]) -> None:
    for name, text in _GONE.items():
        if name in options:
            raise DeprecationWarning(text) if name == "bind" else DeprecationError(text)
    if options["inline"] not in _WITHOUT_EFFECT["inline"]:
        raise ValueError(f"inline must be 'never' or 'always', and this is {options['inline']!r}")
    bounds = options.get("launch_bounds")
    if isinstance(bounds, (tuple, list)) and len(bounds) > 3:
        raise ValueError(
            f"Got {len(bounds)} launch bounds: {bounds!r}. A maximum of three are supported: max threads per block, "
            "min blocks per multiprocessor, max blocks of a cluster"
        )
    carveout = options.pop("shared_memory_carveout", None)
    names = ("default", "maxl1", "maxshared", "none")
    if isinstance(carveout, str) and carveout.lower() not in names:
        raise ValueError(f"Invalid carveout value: {carveout!r}; it is -1 to 100, 'default', 'maxl1' or 'maxshared'")
    if isinstance(carveout, bool) or not isinstance(carveout, (str, int, type(None))):
        raise TypeError(f"shared_memory_carveout is an integer or a name, and this is {carveout!r}")
    if isinstance(carveout, int) and not -1 <= carveout <= 100:
        raise ValueError(f"Carveout value must be between -1 and 100, and this is {carveout}")


class DeprecationError(Exception):
    """An option that Numba had once."""


def is_available() -> bool:
    """True: kernels run here, without a GPU on the CPU device. False where ``NUMBA_DISABLE_CUDA`` says so."""
    from . import config

    return not config.DISABLE_CUDA


# Names that are looked up when they are asked for: these modules import NumPy.
_LATER = {
    "._arrays": [
        "DeviceNDArray",
        "ManagedNDArray",
        "MappedNDArray",
        "as_cuda_array",
        "device_array",
        "device_array_like",
        "from_cuda_array_interface",
        "is_cuda_array",
        "managed_array",
        "mapped",
        "mapped_array",
        "mapped_array_like",
        "pinned",
        "pinned_array",
        "pinned_array_like",
        "to_device",
    ],
    "._compiling": [
        "compile",
        "compile_all",
        "compile_for_current_device",
        "compile_ptx",
        "compile_ptx_for_current_device",
    ],
    "._devices": [
        "close",
        "current_context",
        "cuda_error",
        "defer_cleanup",
        "detect",
        "get_current_device",
        "get_memory_info",
        "gpus",
        "is_bfloat16_supported",
        "is_float16_supported",
        "is_fp8_supported",
        "is_supported_version",
        "list_devices",
        "profile_start",
        "profile_stop",
        "profiling",
        "require_context",
        "select_device",
    ],
    "._foreign": [
        "Archive",
        "CUSource",
        "Cubin",
        "Fatbin",
        "LTOIR",
        "LinkableCode",
        "Object",
        "PTXSource",
        "declare_device",
    ],
    "._hints": ["literal_unroll", "ldca", "ldcg", "ldcs", "ldcv", "ldlu", "stcg", "stcs", "stwb", "stwt"],
    "._programs": ["Reduce", "guvectorize", "reduce", "vectorize"],
    "._streams": [
        "Event",
        "Stream",
        "default_stream",
        "event",
        "event_elapsed_time",
        "external_stream",
        "legacy_default_stream",
        "per_thread_default_stream",
        "stream",
    ],
    ".._vectors": [
        *[f"{kind}{n}" for kind in ("char", "uchar", "short", "ushort", "int", "uint") for n in range(1, 5)],
        *[f"{kind}{n}" for kind in ("long", "ulong", "longlong", "ulonglong", "float", "double") for n in range(1, 5)],
        *[f"{kind}{bits}x{n}" for kind in ("int", "uint") for bits in (8, 16, 32, 64) for n in range(1, 5)],
        *[f"float{bits}x{n}" for bits in (32, 64) for n in range(1, 5)],
    ],
    "._typing": ["as_dtype", "from_dtype", "typeof"],
    ".args": ["In", "InOut", "Out"],
    "._ipc": ["IpcHandle", "open_ipc_array"],
    "._memory": [
        "BaseCUDAMemoryManager",
        "GetIpcHandleMixin",
        "HostOnlyCUDAMemoryManager",
        "MappedMemory",
        "MemoryPointer",
        "PinnedMemory",
        "set_memory_manager",
    ],
    ".._device": ["MemoryInfo"],
    ".cudadrv.error": ["CudaSupportError", "KernelRuntimeError"],
    ".cudadrv.runtime": ["runtime"],
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}
_SUBMODULES = (
    "args",
    "bf16",
    "compiler",
    "config",
    "cudadrv",
    "deviceufunc",
    "dispatcher",
    "errors",
    "extending",
    "fp16",
    "fp8",
    "itanium_mangler",
    "kernels",
    "libdevice",
    "testing",
    "typeconv",
    "vector_types",
)


def __getattr__(name: str) -> Any:
    import importlib

    if name in _SUBMODULES:
        return importlib.import_module("." + name, __name__)
    if name in ("devicearray", "devices", "driver"):
        return importlib.import_module(".cudadrv." + name, __name__)
    if name not in _MODULE_OF:
        if name[:1] != "_" and name in types.inside():
            return getattr(types, name)
        from ._refused import refusal

        raise refusal("", name)
    value = getattr(importlib.import_module(_MODULE_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_SUBMODULES})


__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]
