"""The Numba dialect: the names of ``numba.cuda``, with its rules of types.

``from gpu import cuda`` in place of ``from numba import cuda``. It is the same compiler as `gpu`, with another
promotion table. Arrays, streams and devices are those of `gpu` under Numba's names; numbers of devices count those of
the kind of the current one.
"""

from __future__ import annotations

import sys as _sys

from . import _jit, _names, random, types
from ._core import synchronize as synchronize
from .types import *  # noqa: F403  # Numba programs say cuda.float32, cuda.void as well

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._names import Intrinsic

    grid: Intrinsic
    gridsize: Intrinsic
    threadIdx: Intrinsic
    blockIdx: Intrinsic
    blockDim: Intrinsic
    gridDim: Intrinsic
    laneid: Intrinsic
    warpsize: Intrinsic

globals().update(_names.intrinsics)
_sys.modules[__name__ + ".random"] = random  # Numba programs say: from numba.cuda.random import ...

# Options of numba.cuda.jit that change nothing here, with the values that ask for nothing else.
_WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "inline": ("never", "always", True, False, None),  # LLVM inlines device functions
    "forceinline": (True, False),
    "link": (None, (), []),
    "boundscheck": (None, False),
    "lto": (None, True, False),
    "nopython": (True,),
    "forceobj": (False,),
}


def jit(func_or_sig: Any = None, /, **options: Any) -> Any:
    """Make a kernel, as `gpu.jit` does, with Numba's rules of types.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures, optional
        ``@cuda.jit``, ``@cuda.jit("void(float32[:], int32)")``, ``@cuda.jit(void(float32[:]))``.
    **options
        Those of `gpu.jit`. ``inline`` and ``lto`` are accepted and have no effect; ``link`` must be empty.

    Raises
    ------
    TypeError
        An unknown option.
    NotImplementedError
        An option of Numba that asks for what isn't there.
    """
    for name, neutral in _WITHOUT_EFFECT.items():
        if name in options:
            value = options.pop(name)
            if not any(value is n or (type(value) is type(n) and value == n) for n in neutral):
                raise NotImplementedError(f"cuda.jit: {name}={value!r} isn't supported; leave it out")
    given = {name: value for name, value in options.items() if value is not None}
    return _jit.make_jit("numba", func_or_sig, given)


def is_available() -> bool:
    """True: kernels run here, without a GPU on the CPU device."""
    return True


def compile_ptx(
    pyfunc: Any, sig: Any, device: bool = False, cc: tuple[int, int] = (8, 0), **options: Any
) -> tuple[str, Any]:
    """PTX of a kernel.

    Parameters
    ----------
    pyfunc : function
    sig : signature
    device : bool
        True isn't supported: a device function has no entry.
    cc : (int, int)
        Compute capability.
    **options
        Those of `cuda.jit`.

    Returns
    -------
    ptx : str
    result : void
    """
    if device:
        raise NotImplementedError(
            "compile_ptx: a device function has no entry of its own; compile the kernel that calls it"
        )
    kernel = jit(**options)(pyfunc)
    signature = types.void(*sig) if isinstance(sig, (tuple, list)) else sig
    return kernel.inspect("ptx", signature, arch=f"sm_{cc[0]}{cc[1]}"), types.void


# Names that are looked up when they are asked for, in _numba.py, which imports NumPy.
_LATER = (
    "DeviceNDArray",
    "Event",
    "Stream",
    "as_cuda_array",
    "close",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "is_cuda_array",
    "legacy_default_stream",
    "list_devices",
    "managed_array",
    "mapped_array",
    "mapped_array_like",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "profile_start",
    "profile_stop",
    "profiling",
    "select_device",
    "stream",
    "to_device",
)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'gpu.cuda' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module("._numba", __package__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]
__all__ += list(_LATER)
