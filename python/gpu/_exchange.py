"""Arrays of other libraries as arrays of `gpu`, in the memory where they are: DLPack, ``__cuda_array_interface__``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._array import (
    DEVICE,
    DL_CPU,
    DL_CUDA,
    DL_CUDA_HOST,
    DL_CUDA_MANAGED,
    MANAGED,
    PINNED,
    Array,
    _name_of,
    array,
    dtype_of,
)
from ._device import device_name

if TYPE_CHECKING:
    from collections.abc import Callable


def on_device(obj: Any) -> Array | None:
    """A view of an array of another library that lies on a device; None: it is on the host."""
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is not None:
        return from_cuda_interface(interface, obj)
    place = getattr(obj, "__dlpack_device__", None)
    return None if place is None or place()[0] == DL_CPU else from_dlpack(obj)


def from_dlpack(obj: Any, *, device: Any = None, copy: bool | None = None) -> Array:
    """A view of an array of another library, by the DLPack protocol.

    Parameters
    ----------
    obj : object with ``__dlpack__`` and ``__dlpack_device__``
    device : str or int, optional
        Where it is wanted; else where it is.
    copy : bool, optional
        True: always; False: never; None: if `device` is another one.

    Raises
    ------
    BufferError
        Its device isn't one of ours, or a copy is needed and not allowed.
    """
    kind, number = obj.__dlpack_device__()
    if kind not in (DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED):
        raise BufferError(f"DLPack's device type {kind} isn't known here")
    own = {DL_CPU: "cpu"}.get(kind, f"cuda:{number}")
    stream = {} if kind == DL_CPU else {"stream": _consumer(own)}
    try:
        capsule = obj.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # a producer of DLPack before 1.0
        capsule = obj.__dlpack__(**stream)
    _, _, address, shape, strides, dtype, readonly, owner = _core.dlpack_import(capsule)
    memory = {DL_CUDA_HOST: PINNED, DL_CUDA_MANAGED: MANAGED}.get(kind, DEVICE)
    host = 0 if kind == DL_CUDA else address
    view = Array._wrap(own, address, host, shape, strides, dtype, readonly, memory, owner, None)
    wanted = own if device is None else device_name(device)
    if wanted == own and not copy:
        return view
    if copy is False:
        raise BufferError(f"the array is on {own}: it can't be on {wanted} without a copy")
    return array(view, device=wanted)


def _consumer(device: str) -> int:
    """The stream in which contents must be complete, as DLPack numbers it: the current one; 1 is the default one."""
    from ._stream import current_stream

    return current_stream(device).handle or 1


def from_cuda_interface(
    interface: dict[str, Any],
    owner: Any,
    device: Any = None,
    sync: bool = True,
    stream_of: Callable[[int, str], Any] | None = None,
) -> Array:
    """A view of memory that ``__cuda_array_interface__`` describes; `owner` is kept alive.

    On the cpu device of a machine without a GPU it is a view of an array of that device (see `gpu.cuda`). `stream_of`
    makes the array's stream of the handle that is named.

    Raises
    ------
    TypeError
        A mask, or a dtype that kernels don't have.
    """
    if interface.get("mask") is not None:
        raise TypeError("a kernel doesn't see the mask of a masked array")
    name = device_name(device)
    if name == "cpu" and _core.device_count("cuda"):
        name = "cuda:0"
    address, readonly = interface["data"]
    if device is None and address and name != "cpu":  # whose memory it is, whatever the current device
        kind, _, number = name.partition(":")
        owner_number = _core.device_owner(name, address)
        name = f"{kind}:{number if owner_number < 0 else owner_number}"
    dtype = dtype_of(interface_dtype(interface, owner))
    stream = interface.get("stream")
    if sync and stream is not None and interface.get("version", 0) >= 3 and name != "cpu":
        from ._stream import external_stream

        external_stream(stream, device=name).synchronize()
    named = stream_of(stream, name) if stream_of and stream else None
    return Array._wrap(
        name,
        address or 0,
        address or 0 if name == "cpu" else 0,
        tuple(interface["shape"]),
        None if interface.get("strides") is None else tuple(interface["strides"]),
        _name_of(dtype),
        bool(readonly),
        DEVICE,
        owner,
        named,
    )


def interface_dtype(interface: dict[str, Any], owner: Any) -> Any:
    """The dtype of ``__cuda_array_interface__``; of records, what the array or 'descr' says."""
    if not interface["typestr"].startswith("|V"):
        return interface["typestr"]
    own = getattr(owner, "dtype", None)
    if isinstance(own, np.dtype) and own.names is not None:
        return own
    return np.lib.format.descr_to_dtype(interface["descr"]) if "descr" in interface else interface["typestr"]
