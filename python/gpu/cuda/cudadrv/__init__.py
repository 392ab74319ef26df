"""What programs import from ``numba.cuda.cudadrv``: arrays, devices, errors, enumerations of the driver."""

import importlib
from typing import Any

from . import devicearray, devices, driver, enums, error


def __getattr__(name: str) -> Any:
    if name in ("dummyarray", "nvrtc", "runtime"):  # few programs want them
        return importlib.import_module("." + name, __name__)
    from .._refused import refusal

    raise refusal("cudadrv", name)


__all__ = ["devicearray", "devices", "driver", "enums", "error"]
