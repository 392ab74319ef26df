"""What `cuda.jit` makes: a `gpu.Kernel` with Numba's names beside its own."""

from __future__ import annotations

from .. import _core, _jit
from . import config as _settings
from .config import WATCHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._dtypes import Signature


class Dispatcher(_jit.Kernel):
    """A kernel or device function in Numba's dialect.

    Attributes
    ----------
    extensions : list
        Objects with ``prepare_args(ty, val, stream=, retr=)``; each may replace an argument before a launch, the last
        one first.
    targetoptions : dict
        The options of `cuda.jit`.
    """

    def __init__(self, function: Callable[..., Any], dialect: str, options: dict[str, Any]) -> None:
        super().__init__(function, dialect, options)
        self.targetoptions = dict(options)
        self._specialized: dict[tuple[Any, ...], Dispatcher] = {}
        self._unusual = {"device"} if self.options["device"] else set()
        if self.options["debug"]:
            from ._warnings import has_source

            if not has_source(self.py_func):
                self._unusual.add("source")
        self.extensions = []

    @property
    def extensions(self) -> list[Any]:
        """Objects that may replace arguments."""
        return self._extensions

    @extensions.setter
    def extensions(self, given: list[Any]) -> None:
        self._extensions = given
        self._watched = (given, self._unusual, WATCHED)

    # ---- specialisations

    @property
    def specializations(self) -> dict[tuple[Any, ...], Dispatcher]:  # type: ignore[override]
        """The dispatchers that `specialize` made, by compute capability and types."""
        return self._specialized

    @property
    def specialized(self) -> bool:
        """Whether it was made for one signature alone, by `cuda.jit` or `specialize`."""
        return bool(self.options["signatures"])

    def specialize(self, *args: Any) -> Dispatcher:
        """A dispatcher for these types of arguments, or those of these values, alone.

        Raises
        ------
        RuntimeError
            It is specialised already.
        """
        from ._target import capability
        from ._typing import typeof

        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        types = tuple(map(typeof, args))
        key = (capability(), types)
        if key not in self._specialized:
            made = Dispatcher(self.py_func, self.dialect, {**self.options, "signatures": (types,)})
            made.extensions = self.extensions
            made.compile(types)
            self._specialized[key] = made
        return self._specialized[key]

    @property
    def overloads(self) -> dict[tuple[Any, ...], Overload]:
        """What has been compiled, by the types of its arguments."""
        return {types: Overload(self, types) for types in self._compiled}

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The types of the arguments of each specialisation."""
        return self._compiled

    @property
    def nopython_signatures(self) -> list[Signature]:
        """The signatures of all specialisations."""
        return [overload.signature for overload in self.overloads.values()]

    def disable_compile(self, val: bool = True) -> None:
        """No more specialisations: from now on a launch with other types is a TypeError."""
        (self._unusual.add if val else self._unusual.discard)("compiled")

    def compile(self, signature: Any, /) -> Any:  # as the base class's
        if "compiled" in self._unusual:
            raise RuntimeError("compilation of this dispatcher was disabled")
        self._warn_of_source()
        return self._dumped(signature) if WATCHED.intersection(_settings.DUMPS) else super().compile(signature)

    def _dumped(self, signature: Any) -> Any:
        """`compile`, which prints what the settings say of what is new."""
        from ._dumps import dump

        before = len(self._compiled)
        result = super().compile(signature)
        for types in self._compiled[before:]:
            dump(self, types)
        return result

    def _warn_of_source(self) -> None:
        """Warn, once, that a debugger will show no source."""
        if "source" in self._unusual:
            from ._warnings import warn_of_missing_source

            self._unusual.discard("source")
            warn_of_missing_source(self.py_func)

    def compile_device(self, args: Any, return_type: Any = None) -> Overload:
        """Compile a device function for these types."""
        types = self._types_of(args)
        self.inspect("ir", types)
        return Overload(self, types)

    def bind(self) -> None:
        """Load the kernel on the current device; launching does that too."""
        for types in self._compiled:
            super().compile(types)

    @property
    def stats(self) -> _Stats:  # type: ignore[override]
        """What ``cache=True`` found compiled, and what not; called, what a specialisation needs: `gpu.Kernel.stats`."""
        return _Stats(self)

    # ---- launches

    def _configured(self, config: Any) -> Any:
        """``self[config]`` of what isn't a kernel like any other, or with settings that something is done here."""
        if self.options["device"]:
            raise RuntimeError(
                "Cannot compile a device function as a kernel: a kernel calls it; leave out device=True to launch it"
            )
        _settings.require_cuda()
        self._warn_of_source()
        launcher = self._launcher(config)
        if "CUDA_LOW_OCCUPANCY_WARNINGS" in WATCHED and not _settings.DISABLE_PERFORMANCE_WARNINGS:
            from ._warnings import warn_of_few_blocks

            warn_of_few_blocks(launcher)
        special = self.extensions or "compiled" in self._unusual or WATCHED.intersection(_settings.DUMPS)
        return self._prepared(launcher, config) if special else launcher

    def _refused(self, config: Any, error: Exception) -> Exception:
        """What is wrong with ``self[config]``, with what Numba says of it in front, where Numba says something."""
        return _in_numbas_words(config, error) if isinstance(error, (TypeError, ValueError)) else error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.options["device"]:
            raise ValueError(
                "Kernel launch configuration was not specified. Use the syntax:\n\n"
                "kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)"
            )
        return super().__call__(*args, **kwargs)

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Any:
        """A launch of at least `ntasks` threads in one dimension.

        Parameters
        ----------
        ntasks : int
            0: nothing is launched.
        tpb : int
            Threads of a block; 0: as many as suit the kernel.
        stream : Stream, optional
        sharedmem : int
            Bytes of dynamic shared memory.

        Raises
        ------
        ValueError
            `ntasks` is negative.
        """
        if isinstance(ntasks, int) and ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        launcher = super().forall(ntasks, tpb, stream, sharedmem)
        special = self.extensions or "compiled" in self._unusual
        return self._prepared(launcher, (0, 0, stream)) if special else launcher

    def _prepared(self, launcher: Any, config: Any) -> Callable[..., None]:
        """A launch whose arguments the extensions see first."""
        stream = config[2] if isinstance(config, tuple) and len(config) > 2 else 0

        def launch(*args: Any) -> None:
            from ._typing import typeof

            after: list[Callable[[], None]] = []
            values = []
            for value in args:
                kind = typeof(value)
                for extension in reversed(self.extensions):
                    kind, value = extension.prepare_args(kind, value, stream=stream, retr=after)
                values.append(value)
            if "compiled" in self._unusual:
                self._check_compiled(values)
            elif WATCHED.intersection(_settings.DUMPS):
                self.compile(tuple(map(typeof, values)))
            launcher(*values)
            for write_back in after:
                write_back()

        return launch

    def _check_compiled(self, values: list[Any]) -> None:
        from ._typing import typeof

        types = tuple(map(typeof, values))
        if types not in self._compiled:
            raise TypeError(f"No matching definition for argument type(s) {', '.join(map(repr, types))}")

    # ---- what was compiled

    def _by_signature(self, signature: Any, ask: Callable[[tuple[Any, ...]], Any]) -> Any:
        """The answer for one signature; without one that of the only one, or of all by their types."""
        if signature is not None:
            return ask(self._types_of(getattr(signature, "args", signature)))
        if self.specialized and len(self._compiled) == 1:
            return ask(self._compiled[0])
        return {types: ask(types) for types in self._compiled}

    def inspect_llvm(self, signature: Any = None) -> Any:
        """LLVM IR for the GPU: text, or a dict by types if no signature is given."""
        from ._llvmtext import as_numba_writes
        from ._target import arch

        if signature is None:
            return {types: self.inspect_llvm(types) for types in self._compiled}
        return as_numba_writes(self.inspect("llvm", getattr(signature, "args", signature), arch=arch()))

    def inspect_asm(self, signature: Any = None) -> Any:
        """PTX: text, or a dict by types if no signature is given. A device function's has C's calling convention."""
        if signature is None:
            return {types: self._ptx(types) for types in self._compiled}
        return self._ptx(self._types_of(getattr(signature, "args", signature)))

    def _ptx(self, types: tuple[Any, ...]) -> str:
        from ._target import arch

        if self.options["device"]:
            return _core.ptx(self, types, arch(), self.options, 0, True)[0]
        return self.inspect("ptx", types, arch=arch())

    def inspect_sass(self, signature: Any = None) -> Any:
        """Machine code of the GPU, disassembled: text, or a dict by types. It needs ``ptxas`` and a disassembler."""
        from ._target import arch

        if signature is None:
            return {types: self.inspect("sass", types, arch=arch()) for types in self._compiled}
        return self.inspect("sass", getattr(signature, "args", signature), arch=arch())

    def inspect_sass_cfg(self, signature: Any = None) -> Any:
        """Not there: NVIDIA's nvdisasm draws control flow of a cubin; `inspect_sass` gives the text."""
        raise NotImplementedError("inspect_sass_cfg isn't supported: inspect_sass() gives the machine code as text")

    def inspect_lto_ptx(self, signature: Any = None) -> Any:
        """PTX, as `inspect_asm` gives it: device functions are inlined before, so linking changes nothing."""
        return self.inspect_asm(signature)

    def inspect_types(self, file: Any = None) -> None:
        """Print the source with the type of each expression, for each specialisation."""
        for types in self._compiled:
            signature = f"{self.__name__} ({', '.join(map(repr, types))})"
            print(f"{signature}\n{'-' * 80}\n{self.inspect('types', types)}\n{'=' * 80}", file=file)

    def _stat(self, name: str, signature: Any) -> Any:
        from ._target import stats_device

        return self._by_signature(
            signature, lambda types: int(getattr(self.stats(types, device=stats_device()), name) or 0)
        )

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of a thread: an int, or a dict by types. On the CPU device those that the emulated GPU counts."""
        return self._stat("registers", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Bytes of constant memory: an int, or a dict by types."""
        return self._stat("constant_bytes", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Bytes of static shared memory of a block: an int, or a dict by types."""
        return self._stat("shared_bytes", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The largest block that can be launched: an int, or a dict by types."""
        return self._stat("max_threads", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Bytes of local memory of a thread: an int, or a dict by types."""
        return self._stat("local_bytes", signature)


class _Stats:
    """`Dispatcher.stats`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _jit.Kernel.stats(self._dispatcher, *args, **options)

    @property
    def cache_path(self) -> str:
        """The folder."""
        from .. import _cache
        from ._filecache import place

        beside = place(self._dispatcher.py_func)
        return beside[0] if beside else _cache.path()

    def _count(self, kept: bool) -> Any:
        from collections import Counter

        cached = self._dispatcher.options["cache"]
        return Counter(types for types, found in self._dispatcher._kept if cached and found == kept)

    @property
    def cache_hits(self) -> Any:
        """How many specialisations were found in the folder: a Counter by types."""
        return self._count(True)

    @property
    def cache_misses(self) -> Any:
        """How many specialisations had to be compiled: a Counter by types."""
        return self._count(False)


def _in_numbas_words(config: Any, error: Exception) -> Exception:
    """An error of a launch configuration: with what Numba says of it in front, where Numba says something."""
    if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
        return ValueError(
            f"{error}\nmust specify at least the griddim and blockdim: kernel[griddim, blockdim, stream, sharedmem]"
        )
    for name, dims in (("griddim", config[0]), ("blockdim", config[1])):
        sizes = list(dims) if isinstance(dims, (tuple, list)) else [dims]
        if not 1 <= len(sizes) <= 3:
            return ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {sizes}")
        if not all(hasattr(n, "__index__") for n in sizes):
            return TypeError(f"{name} must be a sequence of integers, got {sizes}")
    return error


def _named_type(text: str) -> Any:
    """The type that messages write so: of a number, or of an array of numbers; of others the text."""
    import re

    from .. import types

    array = re.fullmatch(r"array\((\w+), (\d+)d, ([CFA]).*\)", text)
    if array:
        return types.Array(getattr(types, array[1]), int(array[2]), array[3])
    return getattr(types, text, text)


class Overload:
    """A dispatcher's specialisation for one list of types.

    Attributes
    ----------
    argument_types : tuple of gpu._core.Type
    """

    def __init__(self, dispatcher: Dispatcher, types: tuple[Any, ...]) -> None:
        self._dispatcher = dispatcher
        self.argument_types = types

    @property
    def signature(self) -> Signature:
        """``(types) -> result``."""
        from .._dtypes import Signature

        return Signature(self.argument_types)

    @property
    def _type_annotation(self) -> Any:
        """What Numba's tests look into: ``typemap``, the types of variables by name; types without a name as text."""
        from types import SimpleNamespace

        lines = _core.inspect(self._dispatcher, self.argument_types, "variables", None).splitlines()
        return SimpleNamespace(
            typemap={name: _named_type(text) for name, _, text in (one.partition("\t") for one in lines)}
        )

    @property
    def entry_name(self) -> str:
        """The name of the kernel in PTX."""
        from ._target import arch

        name: str = _core.ptx(self._dispatcher, self.argument_types, arch(), self._dispatcher.options)[1]
        return name

    @property
    def cooperative(self) -> bool:
        """Whether it has to do with its whole grid; where it waits for that, every launch is cooperative."""
        waits = " gridsync" in self._dispatcher.inspect("ir", self.argument_types)
        return waits or "grid group" in self._dispatcher.inspect("types", self.argument_types)

    @property
    def regs_per_thread(self) -> int:
        """Registers of a thread."""
        return int(self._dispatcher.get_regs_per_thread(self.argument_types))

    @property
    def const_mem_size(self) -> int:
        """Bytes of constant memory."""
        return int(self._dispatcher.get_const_mem_size(self.argument_types))

    @property
    def shared_mem_per_block(self) -> int:
        """Bytes of static shared memory of a block."""
        return int(self._dispatcher.get_shared_mem_per_block(self.argument_types))

    @property
    def max_threads_per_block(self) -> int:
        """The largest block that can be launched."""
        return int(self._dispatcher.get_max_threads_per_block(self.argument_types))

    @property
    def local_mem_per_thread(self) -> int:
        """Bytes of local memory of a thread."""
        return int(self._dispatcher.get_local_mem_per_thread(self.argument_types))

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """How many blocks of this size the current device runs at once.

        Parameters
        ----------
        blockdim : int or tuple of ints
        dynsmemsize : int
            Bytes of dynamic shared memory of a block.
        """
        from math import prod

        from .._device import properties
        from ._target import stats_device

        threads = prod(blockdim) if isinstance(blockdim, tuple) else int(blockdim)
        device = stats_device()
        stats = self._dispatcher.stats(self.argument_types, device=device, block=threads, shared=dynsmemsize)
        return stats.blocks_per_multiprocessor * max(1, properties(device or _core.current_device()).multiprocessors)

    def inspect_llvm(self) -> str:
        """LLVM IR for the GPU."""
        return str(self._dispatcher.inspect_llvm(self.argument_types))

    def inspect_asm(self, cc: Any = None) -> str:
        """PTX."""
        return str(self._dispatcher.inspect_asm(self.argument_types))

    def inspect_sass(self) -> str:
        """Machine code of the GPU, disassembled."""
        return str(self._dispatcher.inspect_sass(self.argument_types))
