"""Constants fold and decide branches before types are inferred; unused arguments cost nothing."""

import gpu
import numpy as np

DEBUG = False
MODE = "fast"
WEIGHTS = np.array([0.25, 0.5, 0.25], "f4")


@gpu.jit
def fold(out):
    if DEBUG:
        out[0] = undefined_name  # noqa: F821
    elif MODE == "fast":
        out[0] = 40 + 2
    else:
        out[0] = "text"


@gpu.jit
def captured_array(a, out):
    i = gpu.grid(1)
    if 0 < i < a.size - 1:
        total = 0.0
        for k in range(len(WEIGHTS)):
            total += WEIGHTS[k] * a[i + k - 1]
        out[i] = total


@gpu.jit
def only_what_is_used(a, b, out):
    out[0] = b.shape[0]


ARGS = {
    "fold": lambda: (1, 1, [np.zeros(1, "i4")]),
    "captured_array": lambda: (1, 16, [np.arange(10, dtype="f4") ** 2, np.zeros(10, "f4")]),
    "only_what_is_used": lambda: (1, 1, [np.zeros((2, 3)), np.zeros((7, 2)), np.zeros(1, "i8")]),
}
RTOL = {"captured_array": 1e-6}

# >>> ir fold(i4[::1])
# <<<
# >>> ir captured_array(f4[::1], f4[::1])
# <<<
# >>> ir only_what_is_used(f8[:, ::1], f8[:, ::1], i8[::1])
# <<<
# >>> ptx sm_80 fold(i4[::1])
# ...
# {{mov|st}}{{.*}}42;
# ...
# <<<
