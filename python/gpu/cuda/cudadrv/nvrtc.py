"""What programs ask of ``numba.cuda.cudadrv.nvrtc``: for which GPUs code is made, and PTX of CUDA C."""

from __future__ import annotations

from typing import Any

from ... import _core
from ..._foreign import PTXSource
from ..._nvrtc import compile_cuda


def get_supported_ccs() -> tuple[tuple[int, int], ...]:
    """Compute capabilities for which code is made, ascending."""
    return tuple(divmod(sm, 10) for sm in _core.architectures())


def get_lowest_supported_cc() -> tuple[int, int]:
    """The lowest of them."""
    return get_supported_ccs()[0]


def find_closest_arch(mycc: tuple[int, int]) -> tuple[int, int]:
    """The highest of them that a GPU of this compute capability runs.

    Raises
    ------
    CCSupportError
        It runs none.
    """
    runs = [cc for cc in get_supported_ccs() if cc <= tuple(mycc)]
    if not runs:
        from .error import CCSupportError

        lowest = ".".join(map(str, get_lowest_supported_cc()))
        raise CCSupportError(f"GPU compute capability {mycc[0]}.{mycc[1]} is not supported (requires >={lowest})")
    return runs[-1]


def get_arch_option(major: int, minor: int) -> str:
    """``compute_80``: the closest to a compute capability."""
    return "compute_{}{}".format(*find_closest_arch((major, minor)))


class CompiledPTX(PTXSource):
    """PTX that `link` takes; `code` has its text as bytes, as cuda.core's objects do."""

    @property
    def code(self) -> bytes:
        """The text."""
        return self.data


def compile(  # Numba's name
    src: str, name: str, cc: tuple[int, int], ltoir: bool = False, lineinfo: bool = False, debug: bool = False
) -> tuple[CompiledPTX, str]:
    """PTX of CUDA C, and an empty text: what NVRTC says beside it is a warning.

    Parameters
    ----------
    src, name : str
        The code, and the name of its file, for messages.
    cc : (int, int)
        Of the GPU.
    ltoir : bool
        Must be false.
    lineinfo, debug : bool
        Without effect.

    Raises
    ------
    NotImplementedError
        LTO-IR is asked for, or NVRTC isn't installed.
    RuntimeError
        The code has errors: the message has what NVRTC says.
    """
    if ltoir:
        raise NotImplementedError("LTO-IR can't be linked: leave out ltoir=True for PTX")
    major, minor = cc[:2]
    return CompiledPTX(compile_cuda(src.encode(), name, (), 10 * major + minor), name), ""


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv.nvrtc", name)


__all__ = [
    "CompiledPTX",
    "compile",
    "find_closest_arch",
    "get_arch_option",
    "get_lowest_supported_cc",
    "get_supported_ccs",
]
