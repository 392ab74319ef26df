"""`compile`, `compile_ptx` and their family: code for a GPU, as text, without a launch."""

from __future__ import annotations

import re
from typing import Any

from .. import _core, _jit
from .._dtypes import Signature, dtypes, void
from ..signature import one_type, parse

DEFAULT_CC = (7, 5)  # the oldest that CUDA 13 knows

# The types of results in the text of the IR.
_RESULTS = {"bool": dtypes["bool_"], "bf16": dtypes["bfloat16"]} | {
    f"{letter}{bits}": dtypes[f"{name}{bits}"]
    for letter, name in (("i", "int"), ("u", "uint"), ("f", "float"))
    for bits in (8, 16, 32, 64)
    if f"{name}{bits}" in dtypes
}


def compile(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: tuple[Any, ...] | None = None,
    opt: bool | int | None = None,
    abi: str = "c",
    abi_info: dict[str, str] | None = None,
    output: str = "ptx",
    forceinline: bool = False,
    launch_bounds: Any = None,
) -> tuple[str, Any]:
    """Code of a kernel or of a device function.

    Parameters
    ----------
    pyfunc : function
    sig : signature
        Types of the arguments, or with that of the result.
    debug, lineinfo, fastmath, opt, launch_bounds
        As for `cuda.jit`.
    device : bool
        A device function: ``.visible .func``.
    cc : (int, int) or (int, int, str), optional
        Compute capability; ``(9, 0, "a")``: code that runs on GPUs of that architecture alone.
    abi : str
        ``"c"``: a device function's name is that of the Python function, or ``abi_info["abi_name"]``, and it returns
        its result. ``"numba"``: the name says module and types.
    output : str
        ``"ptx"``.
    forceinline : bool
        Of LTO-IR alone: in PTX device functions are inlined in any case.

    Returns
    -------
    code : str
        PTX.
    result : type
        Of a device function; void of a kernel.

    Raises
    ------
    ValueError
        `forceinline`.
    NotImplementedError
        Another `abi` or `output`; LTO-IR is NVVM's.
    TypeError
        A kernel that returns something.
    gpu.CompileError
    """
    from . import jit
    from ._target import arch

    if forceinline and output != "ltoir":
        raise ValueError(
            "Can only designate forced inlining in LTO-IR: in PTX device functions are inlined in any case"
        )
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if output != "ptx":
        hint = "; LTO-IR is made by NVVM alone, and this compiler has none" if output == "ltoir" else ""
        raise NotImplementedError(f"Unsupported output type: {output}{hint}")
    signature = _signature(sig)
    options = {"debug": debug, "lineinfo": lineinfo, "fastmath": fastmath, "opt": opt, "launch_bounds": launch_bounds}
    kernel = jit(device=device, **{name: value for name, value in options.items() if value is not None})(pyfunc)
    target = arch(cc or DEFAULT_CC)
    if device:
        return _device_function(kernel, signature, target, abi, abi_info or {})
    if signature.result is not None:
        raise TypeError("CUDA kernel must have void return type.")
    _check_void(kernel, signature)
    return _core.ptx(kernel, signature.args, target, kernel.options)[0], void


def _signature(sig: Any) -> Signature:
    return sig if isinstance(sig, Signature) else parse(tuple(sig) if isinstance(sig, list) else sig)


def _check_void(kernel: Any, signature: Signature) -> None:
    """A kernel that returns a value is a TypeError, as for Numba, rather than the compiler's error."""
    from .._errors import CompileError

    try:
        kernel.inspect("ir", signature.args)
    except CompileError as error:
        if any(d.get("code") == "KERNEL_RETURNS" for d in error.diagnostics):
            raise TypeError(f"CUDA kernel must have void return type.\n{error}") from None
        raise


def _device_function(
    kernel: Any, signature: Signature, target: str, abi: str, abi_info: dict[str, str]
) -> tuple[str, Any]:
    """PTX of a device function, under the name that the ABI gives it, and the type of its result."""
    if signature.result is not None:
        kernel = type(kernel)(kernel.py_func, kernel.dialect, kernel.options)
        kernel._declared = _jit.declared_types(kernel.py_func, (signature,))
    for number, kind in enumerate(signature.args):
        if kind.kind not in ("scalar", "none"):
            raise NotImplementedError(
                f"parameter {number} of {kernel.__name__} is {kind!r}: a device function for other code takes numbers"
            )
    result = _result(kernel.inspect("ir", signature.args))
    name = abi_info.get("abi_name", kernel.__name__)
    if abi == "numba":
        name = f"{kernel.__module__}_{kernel.__qualname__}_{'_'.join(map(repr, signature.args))}"
    symbol = re.sub(r"\W", "_", name)
    ptx = _core.ptx(kernel, signature.args, target, kernel.options, 0, True)
    return re.sub(rf"\b{re.escape(ptx[1])}\b", symbol, ptx[0]), result


def _result(ir: str) -> Any:
    """The type that a function returns, from the first line of its IR: ``function NAME f32``."""
    names = [_RESULTS[name] for name in ir.partition("\n")[0].replace(",", " ").split()[2:]]
    return names[0] if len(names) == 1 else one_type(tuple(names)) if names else void


def compile_ptx(
    pyfunc: Any,
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = False,
    fastmath: bool = False,
    cc: tuple[Any, ...] | None = None,
    opt: bool | int | None = None,
    abi: str = "numba",
    abi_info: dict[str, str] | None = None,
    forceinline: bool = False,
    launch_bounds: Any = None,
) -> tuple[str, Any]:
    """PTX of a kernel or of a device function: `compile` with Numba's older defaults."""
    return compile(
        pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, abi, abi_info, "ptx", forceinline, launch_bounds
    )


def compile_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[str, Any]:
    """`compile` for the compute capability of the current device."""
    from ._target import capability

    return compile(pyfunc, sig, cc=capability(), **options)


def compile_ptx_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[str, Any]:
    """`compile_ptx` for the compute capability of the current device."""
    from ._target import capability

    return compile_ptx(pyfunc, sig, cc=capability(), **options)


def compile_all(pyfunc: Any, sig: Any, **options: Any) -> tuple[list[str], Any]:
    """`compile`, and the code that it is linked with: a list of one, since foreign code is linked in at once."""
    code, result = compile(pyfunc, sig, **options)
    return [code], result
