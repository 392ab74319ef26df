"""`gpu.cuda.bf16` under Numba's name, and the type."""

from __future__ import annotations

from typing import Any

from ... import types
from .. import bf16

nv_bfloat16 = types.bfloat16


def __getattr__(name: str) -> Any:
    return getattr(bf16, name)


def __dir__() -> list[str]:
    return ["nv_bfloat16", *dir(bf16)]
