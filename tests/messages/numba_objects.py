"""What programs for Numba are told of that only gpu.jit takes."""

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


# >>> message untyped_class(f8[::1])
# UnsupportedError: numba_objects.py:13:9: error: Robot is not supported in a kernel: cuda.jit makes no objects of classes without typed fields; gpu.jit does
#    13 |     r = Robot()
#       |         ^^^^^^^
#    help: declare the types of its fields in the class (x: float), or make it a dataclass
#    in kernel untyped_class(array(float64, 1d, C))
# <<<
# >>> message dict_inside(f8[::1])
# UnsupportedError: numba_objects.py:19:14: error: a dict is not supported in a kernel: cuda.jit makes none; gpu.jit does
#    19 |     prices = {"a": 1}
#       |              ^^^^^^^^
#    help: make the dict outside of the kernel, where its keys and values are constants
#    in kernel dict_inside(array(float64, 1d, C))
# <<<
