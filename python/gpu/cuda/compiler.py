"""The functions that programs import from ``numba.cuda.compiler``."""

from ._compiling import (
    compile,
    compile_all,
    compile_for_current_device,
    compile_ptx,
    compile_ptx_for_current_device,
)

__all__ = ["compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"]
