"""Which GPU code is made for when a program asks for it: that of the current device, or a usual one on the CPU."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What code is shown and counted for where no GPU is, and what a program that asks the CPU device for its abilities is
# told: kernels may use all that such a GPU has.
WITHOUT_GPU = (9, 0)


def capability() -> tuple[int, int]:
    """Compute capability of the current device."""
    if _core.current_device().partition(":")[0] in ("cpu", "python"):
        return WITHOUT_GPU
    from .._device import properties

    found: tuple[int, int] = properties(_core.current_device()).compute_capability
    return found


def arch(cc: tuple[Any, ...] | None = None) -> str:
    """``sm_90``, ``sm_90a`` of (9, 0, "a"): of a compute capability, or of the current device."""
    return "sm_" + "".join(map(str, cc or capability()))


def stats_device() -> str | None:
    """Where registers and memory are counted: the current device; on the CPU the emulated GPU."""
    return "emulated" if _core.current_device().partition(":")[0] in ("cpu", "python") else None
