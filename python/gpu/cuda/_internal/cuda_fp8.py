"""`gpu.cuda.fp8` under Numba's name."""

from ..fp8 import *  # noqa: F403
