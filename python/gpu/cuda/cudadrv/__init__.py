"""What programs import from ``numba.cuda.cudadrv``: arrays, devices, errors, enumerations of the driver."""

from typing import Any

from . import devicearray, devices, driver, enums, error


def __getattr__(name: str) -> Any:
    from .._refused import refusal

    raise refusal("cudadrv", name)


__all__ = ["devicearray", "devices", "driver", "enums", "error"]
