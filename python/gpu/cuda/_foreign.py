"""`declare_device` and the kinds of code that it links."""

from __future__ import annotations

from typing import Any

from .._foreign import LTOIR as LTOIR
from .._foreign import Archive as Archive
from .._foreign import Cubin as Cubin
from .._foreign import CUSource as CUSource
from .._foreign import Fatbin as Fatbin
from .._foreign import ForeignFunction
from .._foreign import LinkableCode as LinkableCode
from .._foreign import Object as Object
from .._foreign import PTXSource as PTXSource


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba", cpu: Any = None
) -> ForeignFunction:
    """Declare a function that is compiled elsewhere.

    Parameters
    ----------
    name : str
        Its symbol.
    sig : str or signature
        ``"int32(int32)"``, ``int32(float32[:])``.
    link : optional
        Its code; see `gpu.declare_device`.
    use_cooperative : bool
        Without effect: a launch is cooperative where the kernel waits for the whole grid, or where `configure` says so.
    abi : str
        ``"numba"``: it returns a status, and writes its result through a pointer that comes first. ``"c"``.
    cpu : optional
        Its version on the CPU, for ``abi="c"``.

    Returns
    -------
    ForeignFunction

    Raises
    ------
    TypeError
        A signature without a result.
    NotImplementedError
        CUDA C, LTO-IR, another ABI.
    """
    return ForeignFunction(name, sig, link, abi, cpu)
