"""for and while with else, break, continue, nested; range with every kind of step."""

import gpu
import numpy as np


@gpu.jit
def for_else(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            if a[i, j] < 0:
                out[i] = j
                break
        else:
            out[i] = -1


@gpu.jit
def while_else(out):
    i = gpu.grid(1)
    n = i
    steps = 0
    while n > 1:
        if steps == 30:
            break
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    else:
        steps += 1000
    if i < out.size:
        out[i] = steps


@gpu.jit
def range_steps(start, stop, step, out):
    n = 0
    total = 0
    last = -99
    for k in range(start, stop, step):
        if k == 7:
            continue
        n += 1
        total += k
        last = k
    out[0] = n
    out[1] = total
    out[2] = last


@gpu.jit
def nested(out):
    i = gpu.grid(1)
    count = 0
    for a in range(i):
        for b in range(a, 2 * i, 3):
            for c in range(5, 0, -1):
                if (a + b) % c == 0:
                    count += 1
                elif c == 2:
                    break
    if i < out.size:
        out[i] = count


@gpu.jit
def assigning_the_loop_variable(out):
    s = 0
    for k in range(6):
        s += k
        k = 100
        s += k
    out[0] = s
    out[1] = k


TABLE = np.array([[1, 2, -3, 4], [1, 2, 3, 4], [-1, 0, 0, 0]], "i4")
ARGS = {
    "for_else": lambda: (1, 8, [TABLE.copy(), np.zeros(3, "i4")]),
    "while_else": lambda: (1, 40, [np.zeros(40, "i8")]),
    "range_steps": lambda: (1, 1, [12, -9, -3, np.zeros(3, "i8")]),
    "nested": lambda: (1, 12, [np.zeros(12, "i8")]),
    "assigning_the_loop_variable": lambda: (1, 1, [np.zeros(2, "i8")]),
}

# >>> ir for_else(i4[:, ::1], i4[::1])
# <<<
# >>> ir while_else(i8[::1])
# <<<
# >>> ir range_steps(int, int, int, i8[::1])
# <<<
# >>> ir nested(i8[::1])
# <<<
# >>> ir assigning_the_loop_variable(i8[::1])
# <<<
