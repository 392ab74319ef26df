"""`jit` and `Kernel`: the decorator, and what can be asked of the object that it makes."""

from __future__ import annotations

from . import _core, _environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, overload

    from ._device import KernelStats
    from ._dtypes import DType, Signature
else:

    def overload(function: Any) -> Any:
        """Stand for `typing.overload`: importing typing takes longer than all of this package."""
        return function


STAGES = ("bytecode", "types", "ir", "llvm", "llvm_opt", "asm", "ptx", "sass")

# name -> default; the rows are what _core.Kernel reads, what `jit` takes and what its messages list.
OPTIONS: dict[str, Any] = {
    "device": False,
    "fastmath": False,
    "fma": True,
    "max_registers": 0,
    "launch_bounds": (0, 0, 0),
    "lineinfo": True,
    "debug": False,
    "boundscheck": False,
    "recursion_limit": 256,
    "opt": 2,
    "cache": False,
    "link": (),
}


class Kernel(_core.Kernel):
    """A Python function as a kernel.

    ``k[grid, block](...)`` launches it, ``k[gpu.auto](...)`` takes the size from the arguments, ``k.forall(n)(...)``
    runs at least n threads. A kernel made with ``device=True`` is a device function: other kernels call it, and so may
    plain Python.

    Attributes
    ----------
    py_func : function
        The undecorated function (also ``__wrapped__``).
    dialect : str
        ``"numpy"`` or ``"numba"``.
    options : dict
        The options of `gpu.jit`.
    specializations : list of tuple of gpu._core.Type
        The argument types that it has been compiled for, in order.
    """

    __name__: str
    __qualname__: str
    # Of a device function with a signature: dtypes of result and parameters, None where it says no scalar type. The
    # compiler converts to them in calls.
    _declared: tuple[DType | None, ...] | None = None

    def __init__(self, function: Callable[..., Any], dialect: str, options: dict[str, Any]) -> None:
        super().__init__(function, dialect, options)
        self.__wrapped__ = function
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name))

    @property
    def _compiled(self) -> list[tuple[_core.Type, ...]]:
        """What `specializations` is here: the Numba dialect has another meaning for that name."""
        return _core.Kernel.specializations.__get__(self)  # type: ignore[attr-defined, no-any-return]

    def compile(self, signature: Any, /) -> Kernel:
        """Compile for a signature now rather than at the first call.

        Parameters
        ----------
        signature : str, tuple or list
            ``"float, f4[::1], f4[::1]"``, ``"void(float32[:])"``, ``(gpu.float32[::1], int)``; see `gpu.signature`.

        Returns
        -------
        Kernel
            The kernel itself.

        Raises
        ------
        gpu.SignatureError, gpu.CompileError
        """
        super().compile(_parse(signature).args)
        return self

    def inspect(self, what: str = "ir", signature: Any = None, *, arch: str | None = None) -> str:
        """Text of one stage of the compilation.

        Parameters
        ----------
        what : str
            ``bytecode``, ``types`` (the source with the type of each expression), ``ir``, ``llvm``, ``llvm_opt``,
            ``asm`` (of the CPU), ``ptx``, or ``sass`` if ``ptxas`` and a disassembler are installed.
        signature : optional
            As for `compile`; without it the specialisation that was compiled last.
        arch : str, optional
            ``sm_75`` to ``sm_121``, for ``ptx`` and ``sass`` (default ``sm_80``), and for ``llvm`` (default: the CPU).

        Returns
        -------
        str

        Raises
        ------
        ValueError
            An unknown stage, or no signature where nothing is compiled yet.
        gpu.CompileError
        """
        if not isinstance(what, str) or what not in STAGES:
            near = _near(what, STAGES) if isinstance(what, str) else ""
            raise ValueError(f"inspect: what is one of {', '.join(STAGES)}{near}; it was {what!r}")
        types = () if what == "bytecode" and signature is None else self._types_of(signature)
        if what in ("ptx", "sass"):
            arch = arch or "sm_80"
        if what == "sass":
            from ._tools import disassemble

            return disassemble(_core.inspect(self, types, "ptx", arch), arch or "sm_80")
        return _core.inspect(self, types, what, arch)

    def stats(
        self, signature: Any = None, *, device: str | int | None = None, block: int = 0, shared: int = 0
    ) -> KernelStats:
        """What the kernel needs on a device: registers, spills, local and shared memory, occupancy.

        Parameters
        ----------
        signature : optional
            As for `compile`; without it the specialisation that was compiled last.
        device : str or int, optional
            Where; the current device by default.
        block : int
            Threads of the block that the occupancy is for; 0: what the driver suggests.
        shared : int
            Bytes of dynamic shared memory of a block.

        Returns
        -------
        KernelStats
            A named tuple: ``registers``, ``spill_bytes``, ``occupancy``, ``max_threads``, ...

        Raises
        ------
        ValueError
            No signature where nothing is compiled yet, or no such device.
        gpu.CompileError, gpu.DeviceError
        """
        from ._device import kernel_stats

        name = f"cuda:{device}" if isinstance(device, int) else device
        return kernel_stats(self, self._types_of(signature), name, block, shared)

    def _types_of(self, signature: Any) -> tuple[Any, ...]:
        """The argument types of a signature; without one, those that were compiled last."""
        if signature is not None:
            return _parse(signature).args
        if self._compiled:
            return self._compiled[-1]
        raise ValueError(
            f"{self.__name__} isn't compiled for any types yet: launch it first, or pass a signature, "
            "for example 'f4[::1], float'"
        )

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        """As an attribute of an object: a device function is bound as a function is, a kernel isn't."""
        if owner is None or self.py_func.__code__.co_varnames[:1] not in (("self",), ("cls",)):
            return self
        if not self.options["device"]:
            return _Unbound(self)
        from types import MethodType

        return MethodType(self, owner)

    def __repr__(self) -> str:
        kind = "device function" if self.options["device"] else "kernel"
        count = len(self._compiled)
        return f"<gpu {kind} {self.__qualname__}, {count} specialization{'' if count == 1 else 's'}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        from ._byvalue import is_found, reduce_kernel

        return self.__qualname__ if is_found(self) else reduce_kernel(self)  # by reference, as functions are

    def __copy__(self) -> Kernel:
        return self  # as a function is its own copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self


class _Unbound:
    """What ``obj.kernel`` is where the kernel has a parameter ``self``: it says why it can't be launched."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self._kernel.__qualname__} is a kernel, and a kernel gets no object as self: put @staticmethod above "
            "@gpu.jit, and pass what it needs of the object as arguments"
        )

    __getitem__ = __call__ = forall = _refuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


@overload
def jit(function: Callable[..., Any], /) -> Kernel: ...
@overload
def jit(signature: Any = None, /, **options: Any) -> Callable[[Callable[..., Any]], Kernel]: ...  # noqa: F811


def jit(function_or_signature: Any = None, /, **options: Any) -> Any:  # noqa: F811
    """Make a kernel of a Python function; with or without parentheses.

    Parameters
    ----------
    function_or_signature : function, str, tuple or list, optional
        The function (``@gpu.jit``), or a signature or list of signatures (``@gpu.jit("f4[::1], float")``): the kernel
        is compiled for those at once and takes only arguments that convert to them safely.
    device : bool
        A device function: it may return values, and is called from kernels or from Python.
    fastmath : bool
        Approximate functions; no care for NaN and signed zero. Default False.
    fma : bool
        ``x * y + z`` is rounded once. Default True; False matches NumPy to the bit.
    max_registers : int
        Registers that a GPU thread may use. Default: no limit.
    launch_bounds : int or (int, int) or (int, int, int)
        Largest number of threads in a block, the least number of blocks that should fit a multiprocessor, and the
        largest number of blocks in a cluster.
    lineinfo : bool
        Line numbers of the Python file in PTX, for profilers. Default True; the code is the same without.
    debug : bool
        Checks that cost time: a division by zero raises, and indices are checked as with `boundscheck`. With
        ``opt=0`` the code for GPUs has what a debugger needs as well: functions, lines, variables and their types.
    boundscheck : bool
        An index that is out of bounds raises IndexError, on every device: with NumPy's message, the line and the
        thread. Without it, such an access is undefined. Default: False; True where the environment variable
        ``GPU_BOUNDSCHECK`` is 1.
    recursion_limit : int
        How deep functions may call themselves where only run time knows the end, 1 to 65535. Each thread has a stack
        for so many calls, of 256 KiB at most; a call beyond it raises RecursionError. Default 256.
    opt : int or bool
        0 to 3, or True, False for 3 and 0. Default 2.
    cache : bool
        Keep the code in a folder (``GPU_CACHE_DIR``), and load it from there in the next process. Default False.
    link : path, bytes, or a list of them
        Code for the functions that `gpu.declare_device` declares.

    Returns
    -------
    Kernel, or a decorator that makes one.

    Raises
    ------
    TypeError
        An unknown option, an option of the wrong type, or something that isn't a Python function.
    gpu.SignatureError, gpu.CompileError
        For an explicit signature.
    """
    return make_jit("numpy", function_or_signature, options)


def make_jit(dialect: str, first: Any, given: dict[str, Any], cls: type[Kernel] = Kernel) -> Any:
    """`jit` of both dialects: checks the options, tells a function from signatures. `cls` is what it makes."""
    options = check_options(given)
    if type(first).__hash__ is None and not isinstance(first, list):
        raise TypeError(f"@jit takes a Python function or a signature, and this is {_describe(first)}")
    if first is None or not callable(first) or _is_type(first):
        signatures = () if first is None else _parse_many(first)
        return lambda function: _make_kernel(dialect, function, options, signatures, cls)
    return _make_kernel(dialect, first, options, (), cls)


def function_of(function: Any, decorator: str = "jit") -> Callable[..., Any]:
    """The plain function that a decorator was given, perhaps as a `Kernel`.

    Raises
    ------
    TypeError
        It is something else.
    """
    if isinstance(function, Kernel):
        return function.py_func
    if isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"@{decorator} goes under @{type(function).__name__}, next to the function")
    if str(type(function).__module__).startswith("numba."):
        function = getattr(function, "py_func", function)  # what numba.njit made of it
    code = getattr(function, "__code__", None)
    if type(function).__name__ != "function" or code is None:
        raise TypeError(f"@{decorator} takes a Python function, and this is {_describe(function)}")
    if code.co_flags & 0x2A0:  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR, without importing inspect
        raise TypeError(
            f"@{decorator} takes a plain function, and {function.__name__} is a generator or a coroutine: write the "
            "values into an array"
        )
    return function  # type: ignore[no-any-return]


def _make_kernel(
    dialect: str, function: Any, options: dict[str, Any], signatures: tuple[Any, ...], cls: type[Kernel]
) -> Kernel:
    function = function_of(function)
    if signatures:
        from .signature import spread

        signatures = tuple(spread(s, function.__code__.co_argcount) for s in signatures)
    for signature in signatures:
        if signature.result is not None and not options["device"]:
            raise TypeError(f"a kernel returns nothing: write void(...) for {function.__name__}, or device=True")
        signature.args = tuple(getattr(kind, "_type", kind) for kind in signature.args)  # of a CPointer
    kernel = cls(function, dialect, {**options, "signatures": tuple(s.args for s in signatures)})
    if not options["device"]:
        for signature in signatures:
            kernel.compile(signature)
    elif signatures:
        kernel._declared = declared_types(function, signatures)
    return kernel


def declared_types(function: Any, signatures: tuple[Signature, ...]) -> tuple[DType | None, ...]:
    """Of each signature the dtype of the result and those of the parameters, one after the other."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)  # CO_VARARGS
    from ._dtypes import dtypes

    found: list[DType | None] = []
    for signature in signatures:
        types = (signature.result, *signature.args)
        if len(types) - 1 != count:
            raise TypeError(f"{function.__name__}() has {count} parameters, and its signature {len(types) - 1} types")
        scalars = (t.dtype if t and t.kind == "scalar" else None for t in types)
        found += [dtypes.get("bool_" if name == "bool" else str(name)) if name else None for name in scalars]
    return tuple(found)


# What programs for numba.jit pass.
_OTHERS_OPTIONS = {
    "parallel": "parallel isn't an option: @gpu.parallel makes kernels of loops over gpu.prange",
    "nopython": "nopython isn't an option: a kernel is always compiled",
}


def check_options(given: dict[str, Any]) -> dict[str, Any]:
    """All options with their defaults, checked."""
    for name in given:
        if name not in OPTIONS:
            why = _OTHERS_OPTIONS.get(name) or f"unknown option '{name}'{_near(name, OPTIONS)}"
            raise TypeError(f"jit: {why}; there are {', '.join(OPTIONS)}")
    options = {**OPTIONS, **given}
    for name in ("device", "fastmath", "fma", "lineinfo", "debug", "boundscheck", "cache"):
        options[name] = _boolean(name, options[name])
    _environment.check()
    if "boundscheck" not in given and _environment.flag("GPU_BOUNDSCHECK"):
        options["boundscheck"] = True
    if options["link"] != ():
        from ._foreign import read_links

        options["link"] = read_links(options["link"])
    opt = options["opt"]
    if isinstance(opt, bool):
        options["opt"] = 3 if opt else 0
    elif not isinstance(opt, int) or not 0 <= opt <= 3:
        raise TypeError(f"jit: opt is 0, 1, 2, 3 or a bool, and this is {opt!r}")
    options["max_registers"] = _count("max_registers", options["max_registers"] or 0, 255)
    limit = options["recursion_limit"]
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= 65535:
        raise TypeError(f"jit: recursion_limit takes integers from 1 to 65535, and this is {limit!r}")
    bounds = options["launch_bounds"]
    bounds = tuple(bounds) if isinstance(bounds, (tuple, list)) else (bounds or 0, 0)
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"jit: launch_bounds is threads or (threads, blocks, cluster), and this is {bounds!r}")
    most = zip((*bounds, 0, 0)[:3], (1024, 32, 16), strict=True)
    options["launch_bounds"] = tuple(_count("launch_bounds", n, largest) for n, largest in most)
    return options


def _parse(signature: Any) -> Signature:
    from .signature import parse  # read only by those who write signatures: import time

    return parse(signature)


def _parse_many(signatures: Any) -> tuple[Signature, ...]:
    from .signature import parse_many

    return parse_many(signatures)


def _boolean(name: str, value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    raise TypeError(f"jit: {name} is True or False, and this is {value!r}")


def _count(name: str, value: Any, largest: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest:
        return value
    raise TypeError(f"jit: {name} takes integers from 0 (no limit) to {largest}, and this is {value!r}")


def _is_type(value: Any) -> bool:
    """Tell types of a signature (int, np.float32, gpu.float32, gpu.void) from functions."""
    from ._dtypes import DType, Void

    if isinstance(value, (DType, Void)) or value in (int, float, complex, bool) or hasattr(value, "mangling_args"):
        return True  # the last are numba's own
    return (
        isinstance(value, type) and type(value).__module__ == "builtins" and value.__module__ in ("numpy", "ml_dtypes")
    )


def _describe(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if type(value).__name__ == "builtin_function_or_method":
        return f"the built-in function {value.__name__}"
    if type(value).__name__ == "method":
        return f"the bound method {value.__name__}: jit its function, and pass what it needs of its object as arguments"
    return f"an object of class {type(value).__name__}"


def _near(name: str, names: Any) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(names), 1, 0.5)
    return f" (did you mean '{near[0]}'?)" if near else ""


def warn_of_names(function: Callable[..., Any], types: tuple[Any, ...]) -> None:
    """Warn of a kernel that writes nothing, and gives the name of an array that is passed to something else.

    Called by the compiler, with the types of the parameters.
    """
    import dis
    import warnings

    code = function.__code__
    arrays = {name for name, kind in zip(code.co_varnames, types, strict=False) if kind.kind == "array"}
    for instruction in dis.get_instructions(code):
        if not instruction.opname.startswith("STORE_FAST"):
            continue
        stored = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if instruction.opname == "STORE_FAST_LOAD_FAST":
            stored = stored[:1]
        for name in arrays.intersection(stored):
            warnings.warn(
                f"{code.co_name}() writes to no array: '{name} = ...' gives the name to another array, and "
                f"{name}[:] = ... or {name}[i] = ... writes elements",
                RuntimeWarning,
                stacklevel=2,
            )
            return
