"""Functions of every construct of the language, whose PyFunc must be the same under all Python versions.

They are compiled, never called. test_pyir.py compares with functions.txt; GPU_REWRITE=1 rewrites that.
"""

# ruff: noqa
# fmt: off


def vector_add(x, y, out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def empty():
    pass


def for_range(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    return s


def for_else(x, n):
    for i in range(0, n, 2):
        if x[i] < 0:
            break
        if x[i] == 1:
            continue
        x[i] = 1
    else:
        x[0] = 7
    return i


def while_loop(x, n):
    i = 0
    while i < n and x[i] > 0:
        i += 1
    return i


def while_else(x, n):
    i = 0
    while i < n:
        if x[i]:
            break
        i += 2
    else:
        i = -1
    x[0] = i


def while_or(x, n):
    while n > 0 or x[n]:
        n -= 1
        if n == 5:
            continue
        x[n] = n


def while_true(x):
    n = 0
    while True:
        n += 1
        if x[n] == n:
            return n
        if n > 100:
            break
    return -1


def while_nested(x, n):
    i = 0
    while i < n:
        j = 0
        while j < i:
            x[i, j] = 0
            j += 1
        i += 1


def nested_loops(x, n, m):
    for i in range(n):
        for j in range(m):
            if j == i:
                break
            x[i, j] = i
        else:
            continue
        x[i, i] = -1


def early_return(x, i):
    if i < 0:
        return
    if i == 0:
        x[0] = 1
        return
    x[i] = 2


def elif_chain(x, i):
    if i == 0:
        x[i] = 1.0
    elif i == 1:
        x[i] = 2.0
    elif not i > 7:
        x[i] = 3.0
    else:
        x[i] = 4.0
    x[9] = 5.0


def chained(x, a, b, c):
    if 0 <= a < b <= c:
        x[0] = 1
    return a < b < c


def logic(x, a, b, c):
    p = a and b or c
    q = (a or b) and not c
    if (a and not b) or (c and b):
        x[0] = p
    return not (a and b) or q


def logic_values(a, b, c):
    return a or (b and c) or 1


def conditional(x, a, b):
    y = a if a > b else b
    x[0] = y if y else a if b else -1
    return (a if b else 2) * 3


def conditional_tail(x, i, a, b):
    x[i] = a if i < 3 else b


def conditional_call(f, a, b):
    return f(a if a else b)


def conditional_return(a, b):
    return a if a < b else b


def none_tests(a, b):
    if a is None:
        return 0
    if b is not None and a is not b:
        return 1
    return 2 if a is not None else 3


def membership(a, b):
    return a in (1, 2, 3) or b not in [4, 5]


def operators(a, b):
    c = a + b - a * b / a // b % a ** b
    d = a << 1 | b >> 2 & a ^ ~b
    return -c, +d, a @ b, a != b, a >= b, a <= b, a == b


def augmented(x, a):
    a += 1; a -= 2; a *= 3; a /= 4; a //= 5; a %= 6; a **= 7
    a <<= 1; a >>= 1; a &= 3; a |= 4; a ^= 5; a @= a
    x[a] += a
    x[a, 1] *= 2
    x.real += 1
    return a


def slices(x, a, b):
    x[a:b] += 2
    x[1:] = x[:-1]
    x[::2] = x[a:b:2, 0, ...]
    y = x[:]
    del x[a:b]
    return y[1:3]


def packing(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    t = a, b
    (p, q), r = t, c
    d, e, f, g = a, b, c, p
    h = i = a
    return p, q, r, d, e, f, g, h, i


def unpack(t):
    a, b = t
    (c, d), e = a
    f, *g = b
    *h, i = e
    j, *k, l = c
    return a, b, c, d, e, f, g, h, i, j, k, l


def star_display(a, b):
    return (1, *a, *b), [*a, 2]


def walrus(x, n):
    while (v := x[n]) > 0:
        n += v
    if (m := n * 2) < 10:
        return m
    return v


def delete(x, a):
    b = a
    del b
    if a:
        b = 1
    x[0] = b
    del x[1]
    del a


def match_constant(x, n):
    match n:
        case 0:
            x[0] = 1
        case 1 | 2:
            x[1] = 2
        case -1:
            return 3
        case True:
            x[4] = 3
        case None:
            x[5] = 3
        case m if m > 10:
            x[2] = m
        case _:
            x[3] = 4
    return n


def match_sequence(p, x):
    match p:
        case (0, y):
            return y
        case (a, b, c):
            return a + b + c
        case [a, *rest]:
            return rest
    x[0] = 1


def match_same(p):
    match p, p:
        case 0, _:
            return 1
        case _, 2:
            return 2


def keywords(f, a, b):
    f(a, key=b)
    f(key=a, other=b)
    gpu.atomic.add(a, 0, value=b)
    return f()


def starred(f, a, k):
    f(*a)
    f(1, *a, 2)
    f(*a, **k)
    return f(a, x=1, **k)


def positions(a, /, b, *args, c, d=1, **kw):
    return a + b + args[0] + c + d


def lambdas(x, n):
    f = lambda v, w=2: v * n + w
    x[0] = f(x[1]) + (lambda: 3)()


def closure(x, n):
    k = n + 1

    def inner(v: int, *, scale: float = 2.0) -> float:
        return v * k * scale

    for i in range(n):
        x[i] = inner(x[i])


def closure_loop(x, n):
    for i in range(n):
        f = lambda v: v + i
        x[i] = f(x[i])


def comprehension(x, n):
    a = [x[i] * n for i in range(n) if i != 3]
    b = [i * j for i in range(n) for j in range(i)]
    c = [[j for j in range(i)] for i in range(n)]
    x[0] = a[0] + b[0] + c[0][0]
    return [n for n in (1, 2, 3)]


def comprehension_same_name(x, i):
    t = [i * i for i in range(3)]
    x[0] = i
    return t


def set_and_dict(n):
    return {i for i in range(n)}, {i: 2 * i for i in range(n)}, {1, n}, {"a": n, 2: 1}


def strings(a, b):
    print(f"a = {a}, {b!r:>10} {a:{b}} {a!s}")
    return f"{a}"


def asserts(x, n):
    assert n > 0
    assert x[0], "x must be positive"
    assert x[1] or n, f"{n}"


def raises(x, n):
    if n < 0:
        raise ValueError("negative")
    if n > 9:
        raise IndexError
    if n == 5:
        raise ValueError("bad") from None
    return x[n]


def raise_last(n):
    raise ValueError("a" if n else "b")


def imports(a):
    import math
    import os.path as p
    from math import sin, cos as c
    import a.b

    return math.pi + sin(a) + c(a)


def attributes(x):
    return x.shape[0] * x.T.ndim, x.astype(np.float32).sum()


def annotated(x, n):
    """The docstring."""
    a: float = 2.0
    b: int
    x[0] = a * n


def constant_tests(x):
    if 1:
        x[0] = 1
    if 0:
        x[1] = 1
    while 1:
        if x[0]:
            break
    if None:
        x[2] = 2
    else:
        x[3] = 3


def returns_in_loop(x, n):
    for i in range(n):
        for j in range(n):
            if x[i, j]:
                return i, j
    return None


def loop_conditions(x, n):
    while n > 0 if x[0] else n < 0:
        n = n - 1
    while not (n > 3 and x[1] < 0):
        n = n + 1
    return n


def literals(x):
    x[0] = 1.5
    x[1] = 2j
    x[2] = "text"
    x[3] = (1, 2.0)
    x[4] = -1
    x[5] = 10**3
    x[6] = 100000000000000000000
    return 5


def many_names(x):
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = s = t = 1
    for u in range(a):
        b, c, d = u, b, c
        t, s, r, q = q, t, s, r
    x[0] = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t


def long_jumps(x, n):
    for i in range(n):
        if x[i] > 0:
            x[i] = x[i] * 2 + x[i] * 3 + x[i] * 4 + x[i] * 5 + x[i] * 6 + x[i] * 7 + x[i] * 8 + x[i] * 9
            x[i] = x[i] * 2 + x[i] * 3 + x[i] * 4 + x[i] * 5 + x[i] * 6 + x[i] * 7 + x[i] * 8 + x[i] * 9
            x[i] = x[i] * 2 + x[i] * 3 + x[i] * 4 + x[i] * 5 + x[i] * 6 + x[i] * 7 + x[i] * 8 + x[i] * 9
            x[i] = x[i] * 2 + x[i] * 3 + x[i] * 4 + x[i] * 5 + x[i] * 6 + x[i] * 7 + x[i] * 8 + x[i] * 9
            x[i] = x[i] * 2 + x[i] * 3 + x[i] * 4 + x[i] * 5 + x[i] * 6 + x[i] * 7 + x[i] * 8 + x[i] * 9
        else:
            break
