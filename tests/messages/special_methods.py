"""Methods of classes that Python calls, and whose results must be of a kind."""

import gpu
import numpy as np


class Odd:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return self

    def __len__(self):
        return 2.5

    def __float__(self):
        return self


@gpu.jit
def results_of_methods(out):
    odd = Odd(1.0)
    out[0] = 1 if odd else len(odd)
    out[1] = np.float32(odd)


# >>> message results_of_methods(f4[::1])
# TypingError: special_methods.py:24:19: error: Odd.__bool__() must return bool, and this is Odd
#    24 |     out[0] = 1 if odd else len(odd)
#       |                   ^^^
#    help: return a value of the type bool there
#
# special_methods.py:24:28: error: Odd.__len__() must return int, and this is float (weak)
#    24 |     out[0] = 1 if odd else len(odd)
#       |                            ^^^^^^^^
#    help: return a value of the type int there
#
# special_methods.py:25:14: error: Odd.__float__() must return float, and this is Odd
#    25 |     out[1] = np.float32(odd)
#       |              ^^^^^^^^^^^^^^^
#    help: return a value of the type float there
#    in kernel results_of_methods(array(float32, 1d, C))
# <<<
