"""Values that double in loops, or are nested without end: each part would be code."""

import gpu

DEEP = ()
for _ in range(1000):
    DEEP = (DEEP,)


@gpu.jit
def pairs_of_pairs(out):
    x = 1.0
    for _ in range(40):
        x = (x, x)
    out[0] = len(x)


@gpu.jit
def longer_and_longer(out):
    x = (1, 2)
    for _ in range(40):
        x = x + x
    out[0] = len(x)


@gpu.jit
def text(out):
    x = "text"
    for _ in range(40):
        x = x + x
    out[0] = len(x)


@gpu.jit
def nested_outside(out):
    out[0] = len(DEEP)


def halves(x, n):
    return 1.0 if n == 0 else halves((x, x), n - 1) + halves((x, 1), n - 1)


@gpu.jit
def ever_other_types(out):
    out[0] = halves(out[0], 40)


# >>> message pairs_of_pairs(f4[::1])
# UnsupportedError: too_large.py:14:13: error: a value of more than 131072 parts, or nested deeper than 100, is too large for a kernel, where each part is code
#    14 |         x = (x, x)
#       |             ^^^^^^
#    help: keep numbers in an array
#    in kernel pairs_of_pairs(array(float32, 1d, C))
# <<<
# >>> message longer_and_longer(f4[::1])
# UnsupportedError: too_large.py:22:13: error: a value of more than 131072 parts, or nested deeper than 100, is too large for a kernel, where each part is code
#    22 |         x = x + x
#       |             ^^^^^
#    help: keep numbers in an array
#    in kernel longer_and_longer(array(float32, 1d, C))
# <<<
# >>> message text(f4[::1])
# UnsupportedError: too_large.py:30:13: error: a text of more than 1048576 bytes is too long for a kernel
#    30 |         x = x + x
#       |             ^^^^^
#    in kernel text(array(float32, 1d, C))
# <<<
# >>> message nested_outside(f4[::1])
# UnsupportedError: too_large.py:36:18: error: a value of more than 131072 parts, or nested deeper than 100, is too large for a kernel, where each part is code
#    36 |     out[0] = len(DEEP)
#       |                  ^^^^
#    help: keep numbers in an array
#    in kernel nested_outside(array(float32, 1d, C))
# <<<
# >>> message ever_other_types(f4[::1])
# UnsupportedError: too_large.py:45:14: error: to find the types takes too long here: halves() is called with ever more combinations of types and constants
#    45 |     out[0] = halves(out[0], 40)
#       |              ^^^^^^^^^^^^^^^^^^
#    help: let fewer of its calls differ in them: write a loop, keep numbers in an array
#    in kernel ever_other_types(array(float32, 1d, C))
# <<<
