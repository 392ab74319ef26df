"""The smallest kernel: three contiguous arrays, a guard, no wrap-around checks."""

import gpu
import numpy as np


@gpu.jit
def add(a, b, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


ARGS = {"add": lambda: (4, 64, [np.arange(200, dtype="f4"), np.linspace(0, 1, 200, dtype="f4"), np.zeros(200, "f4")])}

# >>> ir add(f4[::1], f4[::1], f4[::1])
# <<<
# >>> ptx sm_80 add(f4[::1], f4[::1], f4[::1])
# .version 7.0
# .target sm_80
# ...
# .visible .entry add{{.*}}
# ...
# ld.global{{(\.nc)?}}.{{[bf]32}} {{.*}}
# ...
# add.{{(rn\.)?}}f32 {{.*}}
# ...
# st.global.{{[bf]32}} {{.*}}
# ...
# <<<
