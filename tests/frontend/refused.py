"""Functions outside the language: test_pyir.py compares the messages, the same under all versions, with refused.txt."""

# ruff: noqa
# fmt: off


def try_except(x):
    x[0] = 1
    try:
        x[1] = 2
    except ValueError:
        x[2] = 3
    return x


def try_finally(x):
    try:
        raise f(x)
    finally:
        x[2] = 3


def two_mistakes(x):
    global g
    with open(x) as f:
        x[1] = f
    g = 5
    try:
        x[0] = g
    except:
        pass


def generator(x):
    for i in x:
        yield i


async def coroutine(x):
    return x


async def awaits(x):
    await x
    async for i in x:
        x[i] = 0


def class_inside(x):
    class C:
        a = 1

    return C.a


def global_store(x):
    global counter
    counter = x


def nonlocal_store(x):
    n = 0

    def add():
        nonlocal n
        n += x

    add()
    return n


def captured(x, n):
    k = 1
    f = lambda: k
    for i in range(n):
        x[i] = f()
        k += 1


def captured_after(x):
    k = 1
    f = lambda: k
    k = 2
    x[0] = f()


def captured_in_loop(x, n):
    f = None
    for i in range(n):
        if f is not None:
            x[i] = f()
        f = lambda: i


def deletes_attribute(x):
    del x.real


def recursive(x):
    inner = lambda n: 0 if n == 0 else n + inner(n - 1)  # noqa: E731

    x[0] = inner(3)
