"""What Python has and a kernel can't."""

import gpu


@gpu.jit
def catches(x):
    try:
        x[0] = 1
    except ValueError:
        x[0] = 2


def items(x):
    yield x[0]


@gpu.jit
def generator(x):
    for v in items(x):
        x[1] = v


@gpu.jit
def with_block(x):
    with open("f") as f:
        x[0] = 1


@gpu.jit
def global_store(x):
    global COUNT
    COUNT = 1
    x[0] = 1


@gpu.jit
def list_of_numbers(x):
    values = {1, 2, 3}
    values.add(4)
    x[0] = len(values)


@gpu.jit
def dictionary(x, key):
    values = {key: 2.0}
    x[0] = values[key]


@gpu.jit
def formatted(x):
    text = f"{x[0]}"
    x[1] = len(text)


@gpu.jit
def bare_raise(x):
    raise


@gpu.jit
def raises_a_number(x):
    raise x[0]


@gpu.jit
def class_inside(x):
    class Point:
        pass

    x[0] = 1


@gpu.jit
def import_inside(x):
    import os

    x[0] = os.getpid()


# fmt: off
@gpu.jit
def spans_several_lines(x, out):
    out[0] = (
        x[0]
        << 2
    )
# fmt: on


@gpu.jit
def wide_characters(x, größe, out):
    out[0] = "日本語" + größe  # the carets stand under the expression


@gpu.jit
def sides(x, n):
    i = gpu.grid(1)
    x[i] = (x[i] and n) + 1


@gpu.jit
def first_of_a_set(x):
    values = {1, 2, 3}
    x[0] = values[0]


@gpu.jit
def changes_a_set(x):
    values = {1, 2, 3}
    values |= {4}
    x[0] = len(values)


# >>> message catches(f4[::1])
# UnsupportedError: language.py:8:5: error: try is not supported in a kernel: a kernel has no exception handling
#     8 |     try:
#       |     ^^^
#    help: test the condition with `if` before the operation that fails
#    in kernel catches(array(float32, 1d, C))
# <<<
# >>> message generator(f4[::1])
# UnsupportedError: language.py:15:5: error: a generator is not supported in a kernel: a kernel can't be suspended at a yield
#    15 |     yield x[0]
#       |     ^^^^^^^^^^
#    help: write the values into an array
#    called from generator, language.py:20:14
#    20 |     for v in items(x):
#       |              ^^^^^^^^
#    in kernel generator(array(float32, 1d, C))
# <<<
# >>> message with_block(f4[::1])
# UnsupportedError: language.py:26:5: error: with is not supported in a kernel: context managers need exception handling
#    26 |     with open("f") as f:
#       |     ^^^^^^^^^^^^^^^^^^^^
#    help: call what the block needs directly, and do before the launch what needs Python
#    in kernel with_block(array(float32, 1d, C))
# <<<
# >>> message global_store(f4[::1])
# UnsupportedError: language.py:33:5: error: an assignment to a global variable is not supported in a kernel: globals are constants of the compiled kernel
#    33 |     COUNT = 1
#       |     ^^^^^
#    help: write the result into an array argument
#    in kernel global_store(array(float32, 1d, C))
# <<<
# >>> message list_of_numbers(f4[::1])
# NameResolutionError: language.py:40:5: error: set(int (weak), int (weak), int (weak)) has no attribute 'add'
#    40 |     values.add(4)
#       |     ^^^^^^^^^^
#    help: a tuple or set can't be changed: make another one, (*t, x) or {*s, x}, or a list
#    in kernel list_of_numbers(array(float32, 1d, C))
# <<<
# >>> message dictionary(f4[::1], int)
# UnsupportedError: language.py:46:14: error: a dict with this key is not supported in a kernel: its keys must be known when compiling
#    46 |     values = {key: 2.0}
#       |              ^^^^^^^^^^
#    help: a tuple or an array has run-time indices
#    in kernel dictionary(array(float32, 1d, C), int (weak))
# <<<
# >>> message formatted(f4[::1])
# TypingError: language.py:53:12: error: len() does not take text
#    53 |     x[1] = len(text)
#       |            ^^^^^^^^^
#    help: len() takes arrays, tuples and ranges
#    in kernel formatted(array(float32, 1d, C))
# <<<
# >>> message bare_raise(f4[::1])
# UnsupportedError: language.py:58:5: error: raise without an exception has nothing to raise again
#    58 |     raise
#       |     ^^^^^
#    help: name the exception
#    in kernel bare_raise(array(float32, 1d, C))
# <<<
# >>> message raises_a_number(f4[::1])
# TypingError: language.py:63:5: error: only an exception can be raised, and this is float32
#    63 |     raise x[0]
#       |     ^^^^^^^^^^
#    help: such as ValueError("what is wrong")
#    in kernel raises_a_number(array(float32, 1d, C))
# <<<
# >>> message class_inside(f4[::1])
# UnsupportedError: language.py:68:5: error: a class definition is not supported in a kernel: types can't be made in a kernel
#    68 |     class Point:
#       |     ^^^^^^^^^^^^
#    help: define the class outside, or use a tuple
#    in kernel class_inside(array(float32, 1d, C))
# <<<
# >>> message import_inside(f4[::1])
# UnsupportedCallError: language.py:78:12: error: os.getpid() can't be called in a kernel
#    78 |     x[0] = os.getpid()
#       |            ^^^^^^^^^^^
#    help: a kernel calls math, gpu, elementwise numpy functions and plain Python functions; compute the rest before the launch
#    in kernel import_inside(array(float32, 1d, C))
# <<<
# >>> message spans_several_lines(f4[::1], f4[::1])
# TypingError: language.py:85:9: error: << does not take (float32, int (weak) 2)
#    85 |         x[0]
#       |         ^^^^
#    86 |         << 2
#       |         ^^^^
#    help: convert with int(...) first
#    in kernel spans_several_lines(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message wide_characters(f4[::1], int, f4[::1])
# TypingError: language.py:93:14: error: + does not take (str '日本語', int (weak))
#    93 |     out[0] = "日本語" + größe  # the carets stand under the expression
#       |              ^^^^^^^^^^^^^^^^
#    help: text is for print and exceptions; str(...) makes text of a value
#    in kernel wide_characters(array(float32, 1d, C), int (weak), array(float32, 1d, C))
# <<<
# >>> message sides(u8[::1], int)
# TypingError: language.py:99:13: error: the two sides of this expression are uint64 and int (weak)
#    99 |     x[i] = (x[i] and n) + 1
#       |             ^^^^
#    note: language.py:99:13: uint64 here
#    99 |     x[i] = (x[i] and n) + 1
#       |             ^^^^
#    in kernel sides(array(uint64, 1d, C), int (weak))
# <<<
# >>> message first_of_a_set(f4[::1])
# UnsupportedError: language.py:105:12: error: an index of a set is not supported in a kernel: its items have no order
#   105 |     x[0] = values[0]
#       |            ^^^^^^^^^
#    help: sorted(s) is a list
#    in kernel first_of_a_set(array(float32, 1d, C))
# <<<
# >>> message changes_a_set(f4[::1])
# UnsupportedError: language.py:111:5: error: this change of a set is not supported in a kernel: its items are known when compiling
#   111 |     values |= {4}
#       |     ^^^^^^^^^^^^^
#    help: make another one: s = s | t
#    in kernel changes_a_set(array(float32, 1d, C))
# <<<
