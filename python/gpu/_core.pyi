"""The C extension: what it offers to the Python layer (python/ext implements it, python/gpu uses it)."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal, final

__version__: str

TypeKind = Literal[
    "none",
    "weak_bool",
    "weak_int",
    "weak_float",
    "weak_complex",
    "scalar",
    "array",
    "record",
    "pointer",
    "tuple",
    "object",
]

@final
class Type:
    """The type of one kernel argument. Immutable and hashable; ``repr`` is what messages show.

    Parameters
    ----------
    kind : str
        ``"scalar"``, ``"array"``, ``"weak_int"``, ...
    dtype : str, optional
        ``"float32"``, ``"bool"``, ``"bfloat16"``, ...; of scalars and arrays. Of records, and arrays of them, a
        structured NumPy dtype.
    ndim : int
        Number of dimensions of an array, 0 to 16.
    layout : str
        ``"C"``, ``"F"`` or ``"A"`` (any strides).
    readonly : bool
        A kernel that writes such an array doesn't compile.
    items : sequence of Type
        Items of a tuple.
    fields : sequence of str, optional
        Names of the items of a named tuple.
    object : object, optional
        The value of a compile-time constant.
    """

    def __init__(
        self,
        kind: TypeKind,
        dtype: Any = None,
        ndim: int = 0,
        layout: Literal["C", "F", "A"] = "C",
        readonly: bool = False,
        items: Sequence[Type] = (),
        fields: Sequence[str] | None = None,
        object: Any = None,
    ) -> None: ...
    @property
    def kind(self) -> TypeKind: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> int: ...
    @property
    def layout(self) -> Literal["C", "F", "A"]: ...
    @property
    def readonly(self) -> bool: ...
    @property
    def items(self) -> tuple[Type, ...]: ...
    @property
    def fields(self) -> tuple[str, ...] | None: ...
    @property
    def object(self) -> Any: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: Any, /) -> bool: ...

class Launcher:
    """A kernel with a launch configuration: ``kernel[grid, block]``."""

    @property
    def griddim(self) -> tuple[int, int, int]: ...
    @property
    def blockdim(self) -> tuple[int, int, int]: ...
    @property
    def pre_launch_callbacks(self) -> list[Callable[[Kernel, Launcher], Any]]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

class Kernel:
    """A function, a dialect and options; compiles and launches. `gpu.Kernel` derives from it.

    Parameters
    ----------
    function : function
        The Python function.
    dialect : str
        ``"numpy"`` or ``"numba"``.
    options : dict
        As `gpu._jit` normalises them; every key is there.
    """

    def __init__(self, function: Callable[..., Any], dialect: str, options: dict[str, Any]) -> None: ...
    @property
    def py_func(self) -> Callable[..., Any]: ...
    @property
    def dialect(self) -> str: ...
    @property
    def options(self) -> dict[str, Any]: ...
    @property
    def specializations(self) -> list[tuple[Type, ...]]: ...
    @property
    def _kept(self) -> list[tuple[tuple[Type, ...], bool]]: ...
    _watched: tuple[Collection[Any], ...]  # while one has items, k[...] is k._configured(...)

    def _launcher(self, config: Any, /) -> Launcher: ...
    def compile(self, types: tuple[Type, ...], /) -> Any: ...
    def _frozen(self, array: Any, /) -> Any: ...
    def configure(
        self,
        grid: Any,
        block: Any,
        stream: Any = None,
        shared: int = 0,
        cooperative: bool = False,
        cluster: Any = None,
    ) -> Launcher:
        """A launch, as ``k[grid, block, stream, shared]``, with what that has no room for.

        Parameters
        ----------
        grid, block : int or tuple of ints
        stream : Stream, optional
        shared : int
            Bytes of dynamic shared memory.
        cooperative : bool
            All blocks run at once; gpu.LaunchError where they don't fit the device.
        cluster : int or tuple of ints, optional
            Blocks of a cluster, on sm_90 and later. The grid must be a multiple.
        """

    def forall(self, n: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Launcher: ...
    def __getitem__(self, config: Any) -> Launcher: ...
    def __call__(self, *args: Any) -> Any: ...

@final
class Memory:
    """Memory of a device that arrays share."""

    @property
    def nbytes(self) -> int: ...
    @property
    def owner(self) -> Any: ...
    @property
    def stream(self) -> StreamBase | None: ...

class ArrayBase:
    """What `gpu.Array` is made of: exact arguments, no conversions. Offsets and strides are in bytes."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def _dtype_name(self) -> Any: ...
    @property
    def _shares_host(self) -> bool: ...
    @property
    def _address(self) -> int: ...
    @property
    def _host_address(self) -> int | None: ...
    @property
    def _readonly(self) -> bool: ...
    @property
    def _layout(self) -> Literal["C", "F", "A"]: ...
    @property
    def _kind(self) -> int: ...
    @property
    def _memory(self) -> Memory: ...
    @classmethod
    def _alloc(
        cls, device: str, shape: tuple[int, ...], dtype: Any, order: str, kind: int, flags: int, stream: Any, /
    ) -> Any: ...
    @classmethod
    def _wrap(
        cls,
        device: str,
        address: int,
        host_address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        dtype: Any,
        readonly: bool,
        kind: int,
        owner: Any,
        stream: Any,
        /,
    ) -> Any: ...
    @classmethod
    def _of(cls, array: ArrayBase, /) -> Any: ...
    def _index(self, key: Any, /) -> Any: ...
    def _view(
        self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, readonly: bool, /
    ) -> Any: ...
    def _copy_from(self, array: Any, stream: Any, /) -> None: ...
    def _copy_to(self, array: Any, stream: Any, /) -> None: ...
    def _fill(self, element: bytes, stream: Any, /) -> None: ...

class StreamBase:
    """What `gpu.Stream` is made of."""

    @property
    def handle(self) -> int: ...
    @property
    def device(self) -> str: ...
    @classmethod
    def _create(cls, device: str, non_blocking: bool, priority: int, /) -> Any: ...
    @classmethod
    def _wrap(cls, device: str, handle: int, owner: Any, /) -> Any: ...
    @classmethod
    def _default(cls, device: str, per_thread: bool, /) -> Any: ...
    @classmethod
    def _current(cls, device: str, /) -> Any: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool: ...
    def wait(self, event: EventBase, /) -> None: ...
    def callback(self, function: Callable[[], Any], /) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: object) -> None: ...

class EventBase:
    """What `gpu.Event` is made of."""

    @property
    def handle(self) -> int: ...
    @property
    def device(self) -> str: ...
    @classmethod
    def _create(cls, device: str, timing: bool, blocking: bool, /) -> Any: ...
    def record(self, stream: Any = None) -> Any: ...
    def query(self) -> bool: ...
    def synchronize(self) -> None: ...
    def elapsed(self, end: EventBase, /) -> float: ...

class _Auto: ...

auto: Final[_Auto]

def inspect(kernel: Kernel, types: tuple[Type, ...], what: str, arch: str | None = None) -> str: ...
def result_type(function: Kernel, types: tuple[Type, ...], /) -> Type:
    """The type of what a device function returns; raises CompileError as a compilation would."""

def architectures() -> list[int]: ...
def ptx(
    kernel: Kernel, types: tuple[Type, ...], arch: str, options: dict[str, Any], facts: int = 0, function: bool = False
) -> tuple[str, str, list[dict[str, Any]], int]:
    """PTX text, entry name, parameters (kind, axis, type, bytes, offset, leaf), bytes of the parameter buffer.

    With `function` it is a device function's ``.func``, which other code calls.
    """

def devfn_table() -> list[tuple[str, str, str]]:
    """Path, signature ("(x)", "" for a value) and doc line of every name that a kernel may use."""

def compiler_info() -> dict[str, str]:
    """Loads the compiler library; its path and the version of LLVM in it."""

def set_device(name: str | int, /) -> None:
    """The device that this thread launches on; a number is that of a GPU."""

def device_count(kind: str, /) -> int:
    """How many devices of a kind (``"cuda"``, ``"emulated"``, ``"cpu"``) there are; loads the driver."""

def device_problem(name: str, /) -> str | None:
    """Why a device can't be used; None: it can."""

def device_properties(name: str, /) -> dict[str, Any]:
    """By the names of runtime/device_info.def, and some more; `gpu.properties` shapes them."""

def device_pin(name: str, address: int, nbytes: int, /) -> None:
    """Pin host memory that is there; 0 bytes: no longer."""

def device_owner(name: str, address: int, /) -> int:
    """The number of the device whose memory an address is in, of the kind of `name`; -1: its driver doesn't know it."""

def device_share(name: str, address: int, /) -> tuple[bytes, int]:
    """The driver's handle, 64 bytes, of the allocation that an address is in, and the address's place in it."""

def device_open_shared(name: str, handle: bytes, /) -> int:
    """The address of another process's allocation, in this process."""

def device_close_shared(name: str, address: int, /) -> None:
    """What `device_open_shared` gave is used no more."""

def device_profiler(name: str, records: bool, /) -> None:
    """Let the vendor's profilers record from here on, or no further."""

def device_peers(name: str, other: str, /) -> bool:
    """Whether kernels and copies of a device reach another's memory directly. If so, they do from then on."""

def stats(
    kernel: Kernel, types: tuple[Type, ...], device: str | None, block: int, shared_bytes: int, /
) -> dict[str, int | None]:
    """What `gpu._device.KernelStats` is made of; block 0: the driver's suggestion."""

def dtype_known(dtype: Any, /) -> bool:
    """Whether arrays in kernels can have a NumPy dtype."""

def memory_info(device: str, /) -> tuple[int, int]:
    """Free and total bytes."""

def memory_stats(device: str, reset_peaks: bool, /) -> dict[str, int]: ...
def empty_cache(device: str, /) -> None: ...
def pending_read(device: str, /) -> tuple[int, int, int]:
    """Items and bytes that wait to be given back, and the bytes that the device has. From now on it has a list."""

def pending_hold(device: str, hold: bool, /) -> None:
    """Until this is undone limits don't count."""

def pending_limits(items: int, part: float, /) -> None:
    """What waits to be given back at most: so many items, and this part of a device's memory."""

def dlpack_export(array: ArrayBase, device_type: int, device_id: int, versioned: bool, copied: bool, /) -> Any:
    """A DLPack capsule."""

def dlpack_import(capsule: Any, /) -> tuple[int, int, int, tuple[int, ...], tuple[int, ...] | None, str, bool, Any]:
    """Device type, device id, address, shape, strides in bytes, dtype, readonly, what keeps the memory."""

def warn_of_host_arrays(on: bool, /) -> None:
    """Whether launches in the Numba dialect warn of arrays that are copied."""

def profile_count(on: bool, /) -> None:
    """Whether the emulated devices count what kernels do."""

def profile_read() -> list[tuple[str, str | None, int, int, dict[str, int]]]:
    """Kernel, file, line, launches, and counters by name, of each line counted so far."""

def current_device() -> str: ...
def device_names() -> tuple[str, ...]: ...
def synchronize() -> None: ...
def synchronize_device(name: str) -> None: ...
def set_num_threads(n: int, /) -> None:
    """How many OS threads the ``cpu`` device uses, 1 to 1024; 0: one for each core that the process may use."""

def num_threads() -> int: ...
