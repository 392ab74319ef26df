"""Where Python would do things in another order, or do more of them, than a kernel could."""

import gpu


def root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


@gpu.jit
def call_that_raises_before_a_finally(out):
    try:
        out[1] = root(out[0])
    finally:
        out[2] = 1


@gpu.jit
def shapes_may_differ_before_a_finally(out, x):
    try:
        out[:] = x
    finally:
        out[2] = 1


@gpu.jit
def raise_after_a_return_before_a_finally(out):
    try:
        if out[0] > 0:
            return
        out[1] = 1
        raise ValueError("negative")
    finally:
        out[2] = 1


# >>> message call_that_raises_before_a_finally(f4[::1])
# UnsupportedError: order.py:8:9: error: what may raise ValueError inside try/finally is not supported in a kernel: a thread ends where it raises, and leaves the finally block out
#     8 |         raise ValueError("negative")
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: call it before the try, or without it
#    called from call_that_raises_before_a_finally, order.py:15:18
#    15 |         out[1] = root(out[0])
#       |                  ^^^^^^^^^^^^
#    in kernel call_that_raises_before_a_finally(array(float32, 1d, C))
# <<<
# >>> message shapes_may_differ_before_a_finally(f4[::1], f4[::1])
# UnsupportedError: order.py:23:9: error: what may raise ValueError inside try/finally is not supported in a kernel: a thread ends where it raises, and leaves the finally block out
#    23 |         out[:] = x
#       |         ^^^^^^
#    help: do it before the try, or without it
#    in kernel shapes_may_differ_before_a_finally(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message raise_after_a_return_before_a_finally(f4[::1])
# UnsupportedError: order.py:30:5: error: a raise inside try/finally is not supported in a kernel: a thread ends where it raises
#    30 |     try:
#       |     ^^^
#    help: raise before the try, or without it
#    in kernel raise_after_a_return_before_a_finally(array(float32, 1d, C))
# <<<
