"""What programs for Numba are told of that only gpu.jit takes."""

import numpy as np
from gpu import cuda


class Robot:
    def __init__(self):
        self.q = 1.0


@cuda.jit
def untyped_class(out):
    r = Robot()
    out[0] = r.q


@cuda.jit
def dict_inside(out):
    prices = {"a": 1}
    out[0] = prices["a"]


@cuda.jit
def method_of_a_class(out):
    top, bottom = float.as_integer_ratio(1.25)
    out[0] = top / bottom


@cuda.jit
def objects(out):
    kept = cuda.shared.array(4, dtype=np.dtype("O"))
    kept[0] = out


# >>> message untyped_class(f8[::1])
# UnsupportedError: numba_objects.py:14:9: error: Robot is not supported in a kernel: cuda.jit makes no objects of classes without typed fields; gpu.jit does
#    14 |     r = Robot()
#       |         ^^^^^^^
#    help: declare the types of its fields in the class (x: float), or make it a dataclass
#    in kernel untyped_class(array(float64, 1d, C))
# <<<
# >>> message dict_inside(f8[::1])
# UnsupportedError: numba_objects.py:20:14: error: a dict is not supported in a kernel: cuda.jit makes none; gpu.jit does
#    20 |     prices = {"a": 1}
#       |              ^^^^^^^^
#    help: make the dict outside of the kernel, where its keys and values are constants
#    in kernel dict_inside(array(float64, 1d, C))
# <<<
# >>> message method_of_a_class(f8[::1])
# UnsupportedCallError: numba_objects.py:26:19: error: float.as_integer_ratio() can't be called in a kernel
#    26 |     top, bottom = float.as_integer_ratio(1.25)
#       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    note: Numba says: Unknown attribute 'as_integer_ratio' of type class(float64)
#    help: a kernel calls math, gpu, elementwise numpy functions and plain Python functions; compute the rest before the launch
#    in kernel method_of_a_class(array(float64, 1d, C))
# <<<
# >>> message objects(f8[::1])
# TypingError: numba_objects.py:32:39: error: np.dtype(): kernels have no values of dtype 'O'
#    32 |     kept = cuda.shared.array(4, dtype=np.dtype("O"))
#       |                                       ^^^^^^^^^^^^^
#    note: Numba says: Cannot infer the type of variable 'kept'
#    help: a dtype is written np.float32 or "float32"
#    in kernel objects(array(float64, 1d, C))
# <<<
