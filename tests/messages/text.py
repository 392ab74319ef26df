"""Text: what can't be shown, and where text can't go."""

import gpu


@gpu.jit
def prints_an_array(x):
    print(x)


@gpu.jit
def prints_a_range(x):
    print(range(len(x)))


@gpu.jit
def flushes(x):
    print(x[0], flush=True)


@gpu.jit
def strange_keyword(x):
    print(x[0], ends="")


@gpu.jit
def separated_by_a_number(x):
    print(x[0], x[1], sep=1)


@gpu.jit
def prints_too_much(x):
    print((x[0],) * 65)


@gpu.jit
def raises_too_much(x):
    raise ValueError((x[0],) * 17)


@gpu.jit
def raises_an_array(x):
    raise ValueError(x)


@gpu.jit
def stores_text(x):
    x[0] = f"{x[0]}"


@gpu.jit
def compares_text(x):
    if str(x[0]) == "1.0":
        x[0] = 2


@gpu.jit
def adds_text(x):
    print("x" + x[0])


@gpu.jit
def joins_texts(x):
    text = f"{x[0]}" if x[0] > 1 else f"{x[0]:.2f}"
    print(text)


@gpu.jit
def no_such_format(x):
    print(f"{x[0]:d}")


@gpu.jit
def too_few_to_format(x):
    raise ValueError("%d %d" % (x[0],))  # noqa: UP031, F507


# >>> message prints_an_array(f4[::1])
# TypingError: text.py:8:5: error: print can't show array(float32, 1d, C)
#     8 |     print(x)
#       |     ^^^^^^^^
#    help: give its elements; an array of a few elements whose shape is constant can be shown whole
#    in kernel prints_an_array(array(float32, 1d, C))
# <<<
# >>> message prints_a_range(f4[::1])
# TypingError: text.py:13:11: error: print can't show range
#    13 |     print(range(len(x)))
#       |           ^^^^^^^^^^^^^
#    help: give the numbers that it is made of
#    in kernel prints_a_range(array(float32, 1d, C))
# <<<
# >>> message flushes(f4[::1])
# UnsupportedError: text.py:18:5: error: the argument 'flush' of print() has no meaning in a kernel
#    18 |     print(x[0], flush=True)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^
#    help: output goes to sys.stdout when the launch is waited for
#    in kernel flushes(array(float32, 1d, C))
# <<<
# >>> message strange_keyword(f4[::1])
# TypingError: text.py:23:5: error: print() has no argument 'ends'
#    23 |     print(x[0], ends="")
#       |     ^^^^^^^^^^^^^^^^^^^^
#    help: it is print(*values, sep=' ', end='\n')
#    in kernel strange_keyword(array(float32, 1d, C))
# <<<
# >>> message separated_by_a_number(f4[::1])
# TypingError: text.py:28:5: error: print() does not take int (weak) 1
#    28 |     print(x[0], x[1], sep=1)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^
#    help: give text or None
#    in kernel separated_by_a_number(array(float32, 1d, C))
# <<<
# >>> message prints_too_much(f4[::1])
# UnsupportedError: text.py:33:5: error: print() has 65 numbers here, and they may be 64 at most
#    33 |     print((x[0],) * 65)
#       |     ^^^^^^^^^^^^^^^^^^^
#    help: show a part of them at a time
#    in kernel prints_too_much(array(float32, 1d, C))
# <<<
# >>> message raises_too_much(f4[::1])
# UnsupportedError: text.py:38:5: error: ValueError() has 17 numbers here, and they may be 16 at most
#    38 |     raise ValueError((x[0],) * 17)
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: show a part of them at a time
#    in kernel raises_too_much(array(float32, 1d, C))
# <<<
# >>> message raises_an_array(f4[::1])
# TypingError: text.py:43:5: error: ValueError can't show array(float32, 1d, C)
#    43 |     raise ValueError(x)
#       |     ^^^^^^^^^^^^^^^^^^^
#    help: give its elements; an array of a few elements whose shape is constant can be shown whole
#    in kernel raises_an_array(array(float32, 1d, C))
# <<<
# >>> message stores_text(f4[::1])
# TypingError: text.py:48:14: error: an element of array(float32, 1d, C) can't hold text
#    48 |     x[0] = f"{x[0]}"
#       |              ^^^^^^
#    help: an element is one number
#    in kernel stores_text(array(float32, 1d, C))
# <<<
# >>> message compares_text(f4[::1])
# TypingError: text.py:53:8: error: == does not take (text, str '1.0')
#    53 |     if str(x[0]) == "1.0":
#       |        ^^^^^^^^^^^^^^^^^^
#    help: text is for print and exceptions; str(...) makes text of a value
#    in kernel compares_text(array(float32, 1d, C))
# <<<
# >>> message adds_text(f4[::1])
# TypingError: text.py:59:11: error: + does not take (str 'x', float32)
#    59 |     print("x" + x[0])
#       |           ^^^^^^^^^^
#    help: text is for print and exceptions; str(...) makes text of a value
#    in kernel adds_text(array(float32, 1d, C))
# <<<
# >>> message joins_texts(f4[::1])
# TypingError: text.py:64:41: error: the two sides of this expression are text and text
#    64 |     text = f"{x[0]}" if x[0] > 1 else f"{x[0]:.2f}"
#       |                                         ^^^^^^^^^^
#    note: text.py:64:14: text here
#    64 |     text = f"{x[0]}" if x[0] > 1 else f"{x[0]:.2f}"
#       |              ^^^^^^
#    note: text.py:64:41: text here
#    64 |     text = f"{x[0]}" if x[0] > 1 else f"{x[0]:.2f}"
#       |                                         ^^^^^^^^^^
#    help: text is put together when it is printed: print the pieces, or keep numbers
#    in kernel joins_texts(array(float32, 1d, C))
# <<<
# >>> message no_such_format(f4[::1])
# TypingError: text.py:70: this text can't be formatted: Unknown format code 'd' for object of type 'float'
# <<<
# >>> message too_few_to_format(f4[::1])
# TypingError: text.py:75: this text can't be formatted: not enough arguments for format string
# <<<
