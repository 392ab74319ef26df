"""Python functions as GPU kernels: ``@gpu.jit``, ``k[grid, block](arrays)``.

The NumPy dialect is here; `gpu.cuda` has the names of ``numba.cuda``. Importing this touches neither NumPy, the
compiler nor a driver.
"""

from __future__ import annotations

try:
    from . import _core, _names
except ImportError as error:  # the extension is made for the interpreters that are supported
    import sys

    if "_core" not in str(error):
        raise
    raise ImportError(
        f"gpu has no compiled part for this Python, {sys.version.split()[0]} ({sys.executable}), in {__path__[0]}: "
        "there is one for CPython 3.10 to 3.14, where the package was installed, or built, for that version"
    ) from None
from ._core import auto, set_device, synchronize
from ._dtypes import (
    DType,
    Signature,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from ._errors import (
    AlignmentError,
    CompileError,
    DeviceError,
    DeviceFault,
    DriverError,
    LaunchError,
    LaunchSizeError,
    NameResolutionError,
    OutOfMemoryError,
    OutsideKernelError,
    PerformanceWarning,
    SignatureError,
    TypingError,
    UnsupportedCallError,
    UnsupportedError,
)
from ._jit import Kernel, jit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from ._device import Properties
    from ._names import Intrinsic

    grid: Intrinsic
    gridsize: Intrinsic
    threadIdx: Intrinsic
    blockIdx: Intrinsic
    blockDim: Intrinsic
    gridDim: Intrinsic
    laneid: Intrinsic
    warpsize: Intrinsic

__version__: str = _core.__version__

_names.intrinsics.update(_names.build(_core.devfn_table()))
globals().update(_names.intrinsics)


class device:
    """Run a block of code on another device: ``with gpu.device("python"): k[1, 32](x)``.

    Parameters
    ----------
    name : str or int
        ``"cuda:1"``, ``"cpu"``, ``"emulated"``, ``"python"``, or the number of a GPU. The environment variable
        ``GPU_DEVICE`` names the default; without it that is the first GPU, else the CPU.
    """

    def __init__(self, name: str | int) -> None:
        self.name = name
        self._before: list[str] = []

    def __enter__(self) -> device:
        before = current_device()
        set_device(self.name)
        self._before.append(before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_device(self._before.pop())


class Device(str):
    """The name of a device, such as ``"cuda:0"``, with what `properties` tells of it as attributes.

    >>> gpu.current_device().compute_capability
    (9, 0)
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        from ._device import properties

        return getattr(properties(self), name)

    @property
    def properties(self) -> Properties:
        """All that is known of the device; its ``repr`` is a table."""
        from ._device import properties

        return properties(self)


def current_device() -> Device:
    """The device that this thread launches on."""
    return Device(_core.current_device())


def devices() -> tuple[Device, ...]:
    """The devices of this machine, as `set_device` takes them, GPUs first. This loads the driver."""
    return tuple([Device(name) for name in _core.device_names()])  # `map` is gpu.map in here


__all__ = [
    "AlignmentError",
    "CompileError",
    "DType",
    "Device",
    "DeviceError",
    "DeviceFault",
    "DriverError",
    "Kernel",
    "LaunchError",
    "LaunchSizeError",
    "NameResolutionError",
    "OutOfMemoryError",
    "OutsideKernelError",
    "PerformanceWarning",
    "Signature",
    "SignatureError",
    "TypingError",
    "UnsupportedCallError",
    "UnsupportedError",
    "auto",
    "current_device",
    "device",
    "devices",
    "jit",
    "set_device",
    "synchronize",
    "void",
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    *_names.intrinsics,
]


# Names that are looked up when they are asked for: some of these modules import NumPy.
_LATER = {
    "_array": [
        "Array",
        "array",
        "asarray",
        "empty",
        "zeros",
        "ones",
        "full",
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "arange",
        "to_device",
        "pinned_array",
        "mapped_array",
        "managed_array",
    ],
    "_device": [
        "is_available",
        "properties",
        "memory_info",
        "memory_stats",
        "empty_cache",
        "pinned",
        "can_access_peer",
    ],
    "_dtypes": ["from_dtype"],
    "_exchange": ["from_dlpack"],
    "_foreign": ["declare_device"],
    "_gufunc": ["guvectorize"],
    "_parallel": ["parallel", "prange"],
    "_profile": ["profile"],
    "_reduce": ["map", "reduce", "scan", "transform_reduce"],
    "_ufunc": ["vectorize"],
    "_vectors": [
        *[f"{kind}{n}" for kind in ("char", "uchar", "short", "ushort", "int", "uint") for n in range(1, 5)],
        *[f"{kind}{n}" for kind in ("long", "ulong", "longlong", "ulonglong", "float", "double") for n in range(1, 5)],
    ],
    "_stream": ["Stream", "Event", "current_stream", "default_stream", "external_stream"],
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}
__all__ += list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("cuda", "random", "signature"):
        return importlib.import_module("." + name, __name__)
    if name in _MODULE_OF:
        value = getattr(importlib.import_module("." + _MODULE_OF[name], __name__), name)
        globals()[name] = value
        return value
    import sys

    numpys = callable(getattr(sys.modules.get("numpy"), name, None)) and not name.startswith("_")
    help = f": NumPy has it, and gpu.array(np.{name}(...)) is a copy on the device" if numpys else ""
    raise AttributeError(f"module 'gpu' has no attribute '{name}'{help}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), "cuda", "random", *_MODULE_OF})
