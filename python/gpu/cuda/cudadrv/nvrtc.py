"""What programs ask of ``numba.cuda.cudadrv.nvrtc``: for which GPUs code is made. CUDA C is compiled for `link`."""

from __future__ import annotations

from typing import Any

from ... import _core


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


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv.nvrtc", name)


__all__ = ["find_closest_arch", "get_arch_option", "get_lowest_supported_cc", "get_supported_ccs"]
