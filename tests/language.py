"""Kernels that go once through the language; test_language.py runs each on every device and compares.

Each takes an array of 16 numbers, an output and the integer 3.
"""

import enum
import math
from collections import namedtuple
from typing import NamedTuple

import gpu
import numpy as np

P = namedtuple("P", "x y")
TAB = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
TF = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
TUP = (3, 1.5, (2, 7))
CFG = {"a": 3, "b": 4}
LST = [5, 6, 7]


def k_walrus(a, o, n):
    i = gpu.grid(1)
    if (v := a[i]) > 2:
        o[i] = v
    else:
        o[i] = -v


def k_match(a, o, n):
    i = gpu.grid(1)
    match i % 5:
        case 0:
            o[i] = 10
        case 1 | 2:
            o[i] = 20
        case x if x > 3:
            o[i] = x
        case _:
            o[i] = 30


def k_matchseq(a, o, n):
    i = gpu.grid(1)
    t = (i, 2)
    match t:
        case (0, y):
            o[i] = y
        case (x, 2):
            o[i] = x * 3


def k_star(a, o, n):
    i = gpu.grid(1)
    x, *r = (a[i], 2, 3.5)
    o[i] = x + r[0] + r[1] + len(r)


def k_unpack_a_row(a, o, n):
    i = gpu.grid(1)
    x, y, z, w = a.reshape(4, 4)[i % 4]
    o[i] = 1000 * x + 100 * y + 10 * z + w


def k_nested(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for j in range(3):
        for k in range(j, 5):
            if k == 3:
                continue
            if j * k > 6:
                break
            s += a[j] * k
        else:
            s += 100
    o[i] = s


def k_while(a, o, n):
    i = gpu.grid(1)
    c = 0
    v = i + 1
    while v != 1 and c < 50:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        c += 1
    else:
        c += 1000
    o[i] = c


def k_chain(a, o, n):
    i = gpu.grid(1)
    x = y = a[i]
    o[i] = (0 < x <= 5) + (1 < i < 4 < 10) * 2


def k_boolops(a, o, n):
    i = gpu.grid(1)
    o[i] = (a[i] and 5) + (i or 7) + (not a[i]) + (n and i and 3)


def k_table(a, o, n):
    i = gpu.grid(1)
    o[i] = TAB[i % 2, i % 3] + TF[1, i % 3] + TUP[2][1] + LST[1] + TAB.shape[1] + len(TAB)


def k_neg(a, o, n):
    i = gpu.grid(1)
    o[-1 - i] = a[-i - 1] * 2


def k_nt(a, o, n):
    i = gpu.grid(1)
    p = P(a[i], y=i)
    q = p._replace if False else p
    o[i] = q.x * 2 + p[1]


def helper(x, y=2, *, z=3):
    return x * y + z


def k_call(a, o, n):
    i = gpu.grid(1)
    o[i] = helper(a[i]) + helper(1, z=a[i]) + helper(y=i, x=2)


def fact(m):
    r = 1
    for k in range(2, m + 1):
        r *= k
    return r


def k_fact(a, o, n):
    i = gpu.grid(1)
    o[i] = fact(i % 8)


def two(x):
    if x > 3:
        return x, 1
    return 2 * x, 0


def k_two(a, o, n):
    i = gpu.grid(1)
    x, c = two(a[i])
    o[i] = x + 10 * c


def apply(f, x):
    return f(f(x))


def k_hof(a, o, n):
    i = gpu.grid(1)
    o[i] = apply(lambda t: t * t + i, a[i])


def k_inner(a, o, n):
    i = gpu.grid(1)
    k = a[i]

    def g(x, m=2):
        def h(y):
            return y + k

        return h(x) * m

    o[i] = g(3) + g(i, m=a[0])


def k_ext(a, o, n):
    i = gpu.grid(1)
    for j in reversed(range(0, 9, 2)):
        o[i] += j * a[j % 3]
    for j, v in enumerate((1, 2, 3)):
        o[i] += j * v
    for x, y in zip(a, range(4)):
        o[i] += x * y
    for v in (1.5, 2.5):
        o[i] -= v


def k_shift(a, o, n):
    i = gpu.grid(1)
    o[i] = (1 << (i % 40)) % 1000 + (-i >> 1) + (i & 5 | 8 ^ 3) + ~i


def k_div(a, o, n):
    i = gpu.grid(1)
    o[i] = (i - 8) // 3 + (i - 8) % 3 + divmod(-i - 1, 4)[0] + (i + 1) / 4 + (-7.5) // 2


def k_cond(a, o, n):
    i = gpu.grid(1)
    o[i] = a[i] if i % 2 else (3 if i > 4 else a[0])


def k_aug(a, o, n):
    i = gpu.grid(1)
    o[i] += a[i]
    o[i] *= 3
    o[i] -= 1
    o[i] /= 2
    o[i] **= 2


def k_del(a, o, n):
    i = gpu.grid(1)
    x = a[i]
    del x
    x = 3
    o[i] = x


def k_is(a, o, n):
    i = gpu.grid(1)
    v = None
    if v is None:
        o[i] = 1
    if a is not None:
        o[i] += 2


def k_in(a, o, n):
    i = gpu.grid(1)
    o[i] = (i in (1, 3, 5)) + 2 * (i not in (2, 4))


def k_view(a, o, n):
    i = gpu.grid(1)
    s = a[2:]
    r = a[::-1]
    o[i] = s[i % 4] + r[i] + len(s) + s[1:3][-1]


def k_shape(a, o, n):
    i = gpu.grid(1)
    o[i] = a.shape[0] + a.ndim + a.size + a.itemsize + a.strides[0]


def k_dtype(a, o, n):
    i = gpu.grid(1)
    if a.dtype == np.float32:
        o[i] = 1
    elif a.dtype == np.int64:
        o[i] = "never"
    if a.ndim == 2:
        o[i, 0] = 5


def k_cplx(a, o, n):
    i = gpu.grid(1)
    z = complex(a[i], 1) * (2 - 1j) / (1 + a[i] * 1j)
    o[i] = z.real + z.imag + abs(z) + (z == z) + (z**2).real


def k_loopjoin(a, o, n):
    i = gpu.grid(1)
    acc = 0
    m = -1
    for j in range(4):
        acc += a[j] * 0.5
        m = max(m, a[j])
    o[i] = acc + m


def k_flag(a, o, n):
    i = gpu.grid(1)
    found = False
    for j in range(n):
        if a[j] == i:
            found = True
            where = j
            break
    if found:
        o[i] = where
    else:
        o[i] = -1


def k_ret(a, o, n):
    i = gpu.grid(1)
    if i > 10:
        return
    for j in range(10):
        if j == i:
            o[i] = j
            return
    o[i] = 99


def k_bigconst(a, o, n):
    i = gpu.grid(1)
    o[i] = (2**70 >> 68) + (10**20 // 10**19) + int(1e3)


def k_global_fn(a, o, n):
    i = gpu.grid(1)
    o[i] = math.floor(a[i] / 2) + math.pi + np.float32(1.5) + np.pi


def k_kwonly(a, o, n=4, *, m=2):
    i = gpu.grid(1)
    o[i] = n * m


def k_argstar(a, o, n):
    i = gpu.grid(1)
    t = (1, 2)
    d = {"z": 5}
    o[i] = helper(*t) + helper(*t, **d) + helper(1, **d)


def k_assertok(a, o, n):
    i = gpu.grid(1)
    assert n > 0, "n"
    o[i] = n


def k_rangert(a, o, n):
    i = gpu.grid(1)
    for j in range(i, -3, -n):
        o[i] += j
    for j in range(0, i, n):
        o[i] += j * 10


def k_len(a, o, n):
    i = gpu.grid(1)
    o[i] = len(a) + len((1, 2)) + len(range(2, 11, 3)) + len(range(n))


def k_str(a, o, n):
    i = gpu.grid(1)
    mode = "fast"
    if mode == "fast" and "as" in mode:
        o[i] = 1
    else:
        o[i] = 2


def k_rangeidx(a, o, n):
    i = gpu.grid(1)
    r = range(3, 50, 2)
    o[i] = r[i] + r[-1] + r.start


def k_tupeq(a, o, n):
    i = gpu.grid(1)
    o[i] = ((i, 1) == (3, 1)) + ((i, 2) < (5, 1)) * 2


def k_u8(a, o, n):
    i = gpu.grid(1)
    x = np.uint8(250)
    y = x + np.uint8(i)
    o[i] = y


def k_ifexp_types(a, o, n):
    i = gpu.grid(1)
    x = 1 if i > 3 else 2.5
    o[i] = x * a[i]


class M(enum.IntEnum):
    A = 1
    B = 2


class C(enum.Enum):
    R = 1
    G = 2


def k_enum(a, o, n):
    i = gpu.grid(1)
    o[i] = (M.A + i) * M.B if i != M.B else 0
    if C.R is C.R and C.R != C.G:
        o[i] += 1
    o[i] += C.G.value


def k_dtypestr(a, o, n):
    i = gpu.grid(1)
    if a.dtype == "float32":
        o[i] = 1
    elif a.dtype == "i4":
        o[i] = 2
    elif a.dtype == np.dtype("f8"):
        o[i] = 3


def h(t, k):
    return t[k] * 2


def k_tup(a, o, n):
    i = gpu.grid(1)
    o[i] = h((1.5, a[i], 3), i % 3)


def k_max(a, o, n):
    i = gpu.grid(1)
    o[i] = max(1, a[i]) + min(a[i], 2.5, i) + abs(-a[i]) + round(a[i] / 3, 1) + int(a[i] / 2) + float(i) + bool(i)


def k_mathmix(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        math.sqrt(i)
        + math.hypot(a[i], 2)
        + np.sqrt(a[i])
        + np.maximum(a[i], 2)
        + np.where(a[i] > 2, a[i], 0)
        + math.atan2(i, 2.0)
    )


def k_2d(a, o, n):
    x, y = gpu.grid(2)
    o[x] = x + y


def k_conditional_call(a, o, n):
    i = gpu.grid(1)
    f = math.sin if a.ndim == 1 else math.cos
    o[i] = f(a[i])


def k_none_default(a, o, n, m=None):
    i = gpu.grid(1)
    if m is None:
        m = 5
    o[i] = m


def k_loop_else_break(a, o, n):
    i = gpu.grid(1)
    for j in range(i):
        if a[j] == 4:
            break
    else:
        j = -5
    o[i] = j


def k_while_true(a, o, n):
    i = gpu.grid(1)
    j = 0
    while True:
        j += 1
        if j * j > i:
            break
    o[i] = j


def k_nested_fn_default(a, o, n):
    i = gpu.grid(1)

    def f(x, y=i):
        return x + y

    o[i] = f(2) + f(1, 1)


def k_unpack_arr(a, o, n):
    i = gpu.grid(1)
    (p, q), r = (i, a[i]), 3
    o[i] = p + q + r
    p, q = q, p
    o[i] += 2 * p + 3 * q


def k_augtuple(a, o, n):
    i = gpu.grid(1)
    t = (1,) + (i, 3)
    t += (a[i],)
    o[i] = t[0] + t[1] * t[2] + t[-1] + len(t * 2)


def k_comp(a, o, n):
    i = gpu.grid(1)
    o[i] = -5 % 3 + (-i) % 4 + (7 - i) // 2 * 1.0 + (a[i] % 3) + (a[i] // 2)


def k_intwrap(a, o, n):
    i = gpu.grid(1)
    x = np.int32(2147483647)
    x += np.int32(i)
    u = np.uint8(200) * np.uint8(2)
    o[i] = x + u


def k_cmpchain(a, o, n):
    i = gpu.grid(1)
    if 1 < i < 5 or i == 9 and not (a[i] > 3):
        o[i] = 1


def k_boolarr(a, o, n):
    i = gpu.grid(1)
    b = a[i] > 2
    c = b and i > 3
    o[i] = b | (i > 4)
    o[i] += int(c)


def k_f16(a, o, n):
    i = gpu.grid(1)
    h = np.float16(a[i]) * np.float16(1.5) + 1
    o[i] = h


def k_ternchain(a, o, n):
    i = gpu.grid(1)
    o[i] = 1 if i < 3 else 2 if i < 6 else 3


def k_lam(a, o, n):
    i = gpu.grid(1)
    fs = (lambda x: x + 1, lambda x: x * 2)
    o[i] = fs[0](a[i]) + fs[1](i)


def k_pow(a, o, n):
    i = gpu.grid(1)
    o[i] = a[i] ** 2 + a[i] ** 0.5 + 2**i + i**2 + 2.0**-1 + 2**-1


def k_const_if(a, o, n):
    i = gpu.grid(1)
    if False:
        o[i] = undefined_thing
    if 1:
        o[i] = 3


def k_neg_zero(a, o, n):
    i = gpu.grid(1)
    z = -0.0
    o[i] = math.copysign(1.0, z) + math.copysign(2, -i)


def k_cast(a, o, n):
    i = gpu.grid(1)
    o[i] = np.int8(i * 9) + np.float32(0.1) + np.uint16(7)


NUMBERS = range(3, 20, 4)
BYTES = b"\x01\xffabcdefgh"
SWAPPED = np.arange(5, dtype=">f8") * 1.5
ASKEW = np.frombuffer(b"\x00" + np.arange(5, dtype=np.int32).tobytes(), np.uint8)[1:].view(np.int32)


class Defaults(NamedTuple):
    x: float
    y: float = 2.5
    z: int = 4


class Scale:
    factor = 2.5

    def __init__(self, offset):
        self.offset = offset

    def of(self, x, more=1):
        return x * self.factor + self.offset * more

    @staticmethod
    def half(x):
        return x / 2

    @property
    def both(self):
        return [self.factor, self.offset]


SCALE = Scale(7)


def k_global_range(a, o, n):
    i = gpu.grid(1)
    o[i] = NUMBERS[i % 5] + NUMBERS[-1] * len(NUMBERS) + NUMBERS[1:4][n - 1] + (i in NUMBERS)
    for v in NUMBERS[::-2]:
        o[i] = o[i] * 3 + v


def k_global_bytes(a, o, n):
    i = gpu.grid(1)
    o[i] = BYTES[i % 10] * 300 + BYTES[1] + len(BYTES)
    for b in BYTES:
        o[i] += b << 8


def k_arrays_of_another_order(a, o, n):
    i = gpu.grid(1)
    o[i] = SWAPPED[i % 5] + ASKEW[i % 5]


def k_bound_method(a, o, n):
    i = gpu.grid(1)
    scale = SCALE.of
    for _ in range(n):
        o[i] = SCALE.of(i, more=2) + scale(a[i]) + Scale.half(i) + SCALE.both[1]


def k_membership(a, o, n):
    i = gpu.grid(1)
    o[i] = (i in range(n, 16, 2)) + 10 * (i not in range(9, -1, -n)) + 100 * (a[i] in range(5))


def k_match_singletons(a, o, n):
    i = gpu.grid(1)
    match i > 4:
        case True:
            o[i] = 1
        case False:
            o[i] = 2
    match a[i] > 2:  # a np.bool_ isn't True
        case True:
            o[i] += 10
        case None:
            o[i] += 20
        case _:
            o[i] += 30
    match "text":
        case True | None | 3:
            o[i] += 100
        case "text":
            o[i] += 200
    o[i] += 1000 * (i is True) + 2000 * ((a[i] > 2) is (a[i] > 2))


def k_integers_beyond_64_bits(a, o, n):
    i = gpu.grid(1)
    o[i] = (i < 2**70) + 2 * (-(2**70) >= n) + 4 * (i in (2**65, n)) + min(i, 2**64) + max(-(2**90), n, i)
    o[i] += ((i > 3) < 5) + ((i > 3) == 2**80)


def k_reversed_range(a, o, n):
    i = gpu.grid(1)
    o[i] = 0
    for v in reversed(range(i, 20, n)):
        o[i] = o[i] * 2 + v
    for v in range(i, -n, -n):
        o[i] = o[i] % 1000 * 3 + v
    for k, v in enumerate(range(n, i, n), 5):
        o[i] += k * v


def k_named_tuple_defaults(a, o, n):
    i = gpu.grid(1)
    t, u, v = Defaults(a[i]), Defaults(i, z=n), Defaults(z=1, x=2)
    o[i] = t.x * t.y + t.z + u.x * u.y * u.z + v.x + v[1] + v.z


def k_lists_changed_in_place_have_all_their_names(a, out, n):
    i = gpu.grid(1)
    xs = [1, 2]
    ys = xs
    ys += [3]
    t = (1, 2)
    u = t
    u += (3,)
    zs = sorted((2, 1))
    ws = zs
    ws *= 2
    out[i] = len(xs) + 10 * len(t) + 100 * len(zs) + 1000 * ([1, 2] == (1, 2)) + 2000 * isinstance(xs, list)


def k_list_in_a_variable_takes_rows(a, o, n):
    i = gpu.grid(1)
    t = np.arange(12.0).reshape(4, 3)
    rows = [i % 4, 2]
    o[i] = t[rows][0, 1] * 10 + t[rows][1, 2]
    t[rows] = a[i]
    o[i] += t[2, 0]


def k_growing_lists_are_compared_sliced_and_joined(a, o, n):
    i = gpu.grid(1)
    xs = [k * k for k in range(i % 5)]
    ys = xs[n - 2 :] + [7] * n
    ys[1:n] = xs[:2]
    del ys[::n]
    zs = ys
    zs *= 2
    zs[:1] = []
    o[i] = len(xs) + 10 * len(ys) + 100 * (xs == ys[: len(xs)]) + 200 * (xs < ys) + 400 * (ys is zs)
    for v in ys:
        o[i] = o[i] * 2 + v
    if len(xs) == 2:
        first, last = xs
        o[i] += last - first * 3


def k_lists_of_several_lengths(a, o, n):
    i = gpu.grid(1)
    xs = [1, 2] if i % 2 else [n]
    ys = xs if i > 3 else [k for k in range(4)]
    ys += (5,)
    o[i] = len(xs) + 10 * len(ys) + 100 * (xs is ys) + sum(xs) + max(*(1, 2))


FACES = frozenset({1, 5, 9})


def k_sets(a, o, n):
    i = gpu.grid(1)
    s, t = {1, 2, 3}, {3, 4, *(1, 7)}
    o[i] = len(s | t) + 10 * len(s & t) + 100 * len(s - t) + 1000 * len(s ^ t) + (i in (s | t))
    o[i] += 10000 * ({1, 2} == {2, 1}) + 20000 * ({1, 2} == (1, 2)) + 40000 * ({1} < {1, 2}) + 80000 * (s >= {1, 9})
    o[i] += 100000 * isinstance(s, tuple) + 200000 * isinstance(s, set) + 400000 * (FACES == {9, 1, 5}) + len(FACES | s)
    o[i] += 1000000 * len({k % 2 for k in (1, 2, 3)}) + 4000000 * (type(s) is set) + 0.25 * (sorted(set((4, 2, 4)))[1])
