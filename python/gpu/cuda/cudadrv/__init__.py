"""What programs import from ``numba.cuda.cudadrv``: arrays, devices, errors, enumerations of the driver."""

from . import devicearray, devices, driver, enums, error

__all__ = ["devicearray", "devices", "driver", "enums", "error"]
