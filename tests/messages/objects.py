"""Classes, dicts, functions of functions and loops that must be unrolled: what a kernel refuses of them."""

import dataclasses
import enum
import functools
import operator
from typing import NamedTuple

import gpu


class Pair(NamedTuple):
    first: float
    second: float


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


@dataclasses.dataclass
class Checked:
    x: float

    def __post_init__(self):
        self.y = self.x.missing


class Plain:
    def __init__(self, x):
        self.x = x


class Mode(enum.Enum):
    ADD = 1


PRICES = {"low": 1.0, "high": 2.0}
MIXED = {1: 2.0, 2: "two"}


def doubled(n):
    return n if n < 1 else doubled(n - 1) + doubled(n - 1)


def spread(n, x):
    if n == 0:
        return 0
    left = spread(n - 1, x)
    return left + spread(n - 1, x) + x


@gpu.jit
def sets_a_field(out):
    p = Point
    p.x = 2.0
    out[0] = p.y


@gpu.jit
def no_such_field(out):
    out[0] = Point(1.0, 2.0).z


@gpu.jit
def no_such_parameter(out):
    out[0] = Point(1.0, z=2.0).x


@gpu.jit
def no_such_parameter_of_init(out):
    out[0] = Plain(1.0, y=2.0).x


@gpu.jit
def in_post_init(out):
    out[0] = Checked(out[0]).x


@gpu.jit
def not_a_member(out):
    if Mode(out[0]) == Mode.ADD:
        out[0] = 1


@gpu.jit
def no_operator(out):
    p = Point(1.0) + Point(2.0)
    out[0] = p.x


@gpu.jit
def no_order(out):
    if Point(1.0) < Point(2.0):
        out[0] = 1


@gpu.jit
def not_callable(out):
    p = Point(1.0)
    out[0] = p(2)


@gpu.jit
def no_such_replacement(out):
    out[0] = dataclasses.replace(Point(1.0), z=2.0).x
    out[1] = Pair(1.0, 2.0)._replace(third=3.0).first


@gpu.jit
def two_classes(out, n):
    p = Point(1.0) if n > 0 else Plain(2.0)
    out[0] = p.x


@gpu.jit
def no_such_key(out):
    out[0] = PRICES["middle"]
    local = {"a": 1}
    out[1] = local["b"]


@gpu.jit
def values_of_two_types(out, n):
    out[0] = MIXED[n]


@gpu.jit
def key_at_run_time(out, n):
    out[0] = PRICES.get(n, 0.0)


@gpu.jit
def keyword_that_is_none(out):
    options = {1: 2.0}
    out[0] = Point(**options).x


@gpu.jit
def filtered_at_run_time(out):
    for x in filter(lambda x: x > out[0], (1.0, 2.0)):
        out[1] = x


@gpu.jit
def sorts_two_types(out):
    out[0] = sorted((1.0, "a"))[0]


@gpu.jit
def reduces_nothing(out):
    out[0] = functools.reduce(operator.add, ())


@gpu.jit
def maps_an_array(out):
    out[0] = sum(map(abs, out))


@gpu.jit
def attribute_at_run_time(out, n):
    out[0] = getattr(Pair(1.0, 2.0), n)


@gpu.jit
def not_in_the_tuple(out):
    out[0] = (1, 2).index(3)


@gpu.jit
def pattern_with_too_many_parts(out):
    match Pair(1.0, 2.0):
        case Pair(a, b, c):
            out[0] = a


@gpu.jit
def pattern_of_no_class(out):
    match out[0]:
        case doubled():
            out[0] = 1


@gpu.jit
def rest_of_a_dict(out):
    match {"a": 1, "b": 2}:
        case {"a": a, **rest}:
            out[0] = a


@gpu.jit
def finally_after_raise(out):
    try:
        if out[0] < 0:
            raise ValueError("negative")
    finally:
        out[0] = 1


@gpu.jit
def list_as_long_as_run_time_says(out, n):
    out[0] = len(tuple([k for k in range(n)]))


@gpu.jit
def tuple_as_long_as_run_time_says(out, n):
    out[0] = len(tuple(k for k in range(n)))


@gpu.jit
def least_of_an_unknown_number(out, n):
    out[0] = min(out[k] for k in range(n))


@gpu.jit
def filtered_list_at_run_time(out):
    kept = [k for k in (1, 2, 3) if k > out[0]]
    out[0] = len(tuple(kept))


@gpu.jit
def mistake_in_a_loop_over_items(out):
    for name in ("first", "third"):
        out[0] = getattr(Pair(1.0, 2.0), name)


@gpu.jit
def mistake_in_a_loop(out):
    for k in range(3):
        out[k] = missing + k


@gpu.jit
def text_at_run_time(out):
    out[0] = "abc".startswith(out[0])


@gpu.jit
def too_many_calls(out):
    out[0] = spread(14, out[0])


@gpu.jit
def next_item(out):
    items = iter((1, 2))
    out[0] = next(items)


@gpu.jit
def super_of_nothing(out):
    out[0] = super(Point, out[0]).x


@gpu.jit
def dict_that_grows(out, n):
    counts = {}
    for k in range(n):
        counts[k] = k
    out[0] = len(counts)


@gpu.jit
def set_that_is_made(out):
    found = {out[1], out[2]}
    out[0] = len(found)


def total(values):
    return sum(values)


@gpu.jit
def generator_in_a_variable(out):
    squares = (k * k for k in range(3))
    out[0] = sum(squares)


@gpu.jit
def generator_in_a_loop(out):
    for v in (out[k] for k in range(3)):
        out[0] += v


@gpu.jit
def generator_for_a_function(out):
    out[0] = total(k * k for k in range(3))


@gpu.jit
def same_instance(out):
    p = Point(1.0)
    if p is p:
        out[0] = 1


# >>> message sets_a_field(f4[::1])
# UnsupportedError: objects.py:58:5: error: a kernel can't set an attribute: 'x' of class Point
#    58 |     p.x = 2.0
#       |     ^^^
#    help: a kernel writes elements of arrays
#    in kernel sets_a_field(array(float32, 1d, C))
# <<<
# >>> message no_such_field(f4[::1])
# NameResolutionError: objects.py:64:14: error: Point has no attribute 'z'
#    64 |     out[0] = Point(1.0, 2.0).z
#       |              ^^^^^^^^^^^^^^^^^
#    in kernel no_such_field(array(float32, 1d, C))
# <<<
# >>> message no_such_parameter(f4[::1])
# TypingError: objects.py:69:14: error: Point() has no argument 'z'
#    69 |     out[0] = Point(1.0, z=2.0).x
#       |              ^^^^^^^^^^^^^^^^^
#    in kernel no_such_parameter(array(float32, 1d, C))
# <<<
# >>> message no_such_parameter_of_init(f4[::1])
# TypingError: objects.py:74:14: error: Plain() has no argument 'y'
#    74 |     out[0] = Plain(1.0, y=2.0).x
#       |              ^^^^^^^^^^^^^^^^^
#    help: it is __init__(self, x)
#    in kernel no_such_parameter_of_init(array(float32, 1d, C))
# <<<
# >>> message in_post_init(f4[::1])
# NameResolutionError: objects.py:28:18: error: float32 has no attribute 'missing'
#    28 |         self.y = self.x.missing
#       |                  ^^^^^^^^^^^^^^
#    called from in_post_init, objects.py:79:14
#    79 |     out[0] = Checked(out[0]).x
#       |              ^^^^^^^^^^^^^^^
#    in kernel in_post_init(array(float32, 1d, C))
# <<<
# >>> message not_a_member(f4[::1])
# TypingError: objects.py:84:8: error: Mode() takes a constant that is the value of a member
#    84 |     if Mode(out[0]) == Mode.ADD:
#       |        ^^^^^^^^^^^^
#    help: compare with the values of the members
#    in kernel not_a_member(array(float32, 1d, C))
# <<<
# >>> message no_operator(f4[::1])
# TypingError: objects.py:90:9: error: + does not take (Point, Point)
#    90 |     p = Point(1.0) + Point(2.0)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel no_operator(array(float32, 1d, C))
# <<<
# >>> message no_order(f4[::1])
# TypingError: objects.py:96:8: error: < does not take (Point, Point)
#    96 |     if Point(1.0) < Point(2.0):
#       |        ^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel no_order(array(float32, 1d, C))
# <<<
# >>> message not_callable(f4[::1])
# TypingError: objects.py:103:14: error: Point can't be called
#   103 |     out[0] = p(2)
#       |              ^^^^
#    in kernel not_callable(array(float32, 1d, C))
# <<<
# >>> message no_such_replacement(f4[::1])
# TypingError: objects.py:108:14: error: dataclasses.replace() has no argument 'z'
#   108 |     out[0] = dataclasses.replace(Point(1.0), z=2.0).x
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#
# objects.py:109:14: error: _replace() has no argument 'third'
#   109 |     out[1] = Pair(1.0, 2.0)._replace(third=3.0).first
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel no_such_replacement(array(float32, 1d, C))
# <<<
# >>> message two_classes(f4[::1], int)
# TypingError: objects.py:114:34: error: the two sides of this expression are Point and Plain
#   114 |     p = Point(1.0) if n > 0 else Plain(2.0)
#       |                                  ^^^^^^^^^^
#    note: objects.py:114:9: Point here
#   114 |     p = Point(1.0) if n > 0 else Plain(2.0)
#       |         ^^^^^^^^^^
#    note: objects.py:114:34: Plain here
#   114 |     p = Point(1.0) if n > 0 else Plain(2.0)
#       |                                  ^^^^^^^^^^
#    in kernel two_classes(array(float32, 1d, C), int (weak))
# <<<
# >>> message no_such_key(f4[::1])
# TypingError: objects.py:120:14: error: dict has no item 'middle'
#   120 |     out[0] = PRICES["middle"]
#       |              ^^^^^^^^^^^^^^^^
#    help: the kernel sees it as it is when it is compiled
#
# objects.py:122:14: error: dict has no item 'b'
#   122 |     out[1] = local["b"]
#       |              ^^^^^^^^^^
#    help: its keys are 'a'
#    in kernel no_such_key(array(float32, 1d, C))
# <<<
# >>> message values_of_two_types(f4[::1], int)
# TypingError: objects.py:127:14: error: a dict whose values have different types needs a constant key, and this is int (weak)
#   127 |     out[0] = MIXED[n]
#       |              ^^^^^^^^
#    in kernel values_of_two_types(array(float32, 1d, C), int (weak))
# <<<
# >>> message key_at_run_time(f4[::1], int)
# TypingError: objects.py:132:14: error: PRICES.get() needs a constant for 'key', and this is int (weak)
#   132 |     out[0] = PRICES.get(n, 0.0)
#       |              ^^^^^^^^^^^^^^^^^^
#    help: a key is a constant here; d[key] takes a number
#    in kernel key_at_run_time(array(float32, 1d, C), int (weak))
# <<<
# >>> message keyword_that_is_none(f4[::1])
# TypingError: objects.py:138:14: error: dict can't be unpacked
#   138 |     out[0] = Point(**options).x
#       |              ^^^^^^^^^^^^^^^^
#    help: keywords are strings
#    in kernel keyword_that_is_none(array(float32, 1d, C))
# <<<
# >>> message filtered_at_run_time(f4[::1])
# TypingError: objects.py:143:14: error: filter(): which items are left is known at run time only
#   143 |     for x in filter(lambda x: x > out[0], (1.0, 2.0)):
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: write a loop with an `if`
#    in kernel filtered_at_run_time(array(float32, 1d, C))
# <<<
# >>> message sorts_two_types(f4[::1])
# TypingError: objects.py:149:21: error: sorted() does not take tuple(float (weak), str)
#   149 |     out[0] = sorted((1.0, "a"))[0]
#       |                     ^^^^^^^^^^
#    help: items of one type have an order
#    in kernel sorts_two_types(array(float32, 1d, C))
# <<<
# >>> message reduces_nothing(f4[::1])
# TypingError: objects.py:154:14: error: functools.reduce(): there is nothing to combine
#   154 |     out[0] = functools.reduce(operator.add, ())
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: give it an initial value
#    in kernel reduces_nothing(array(float32, 1d, C))
# <<<
# >>> message maps_an_array(f4[::1])
# TypingError: objects.py:159:18: error: map() does not take array(float32, 1d, C)
#   159 |     out[0] = sum(map(abs, out))
#       |                  ^^^^^^^^^^^^^
#    help: its length isn't known when compiling: write a loop
#    in kernel maps_an_array(array(float32, 1d, C))
# <<<
# >>> message attribute_at_run_time(f4[::1], int)
# TypingError: objects.py:164:14: error: getattr() needs a constant for 'name', and this is int (weak)
#   164 |     out[0] = getattr(Pair(1.0, 2.0), n)
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel attribute_at_run_time(array(float32, 1d, C), int (weak))
# <<<
# >>> message not_in_the_tuple(f4[::1])
# TypingError: objects.py:169:14: error: tuple(int (weak), int (weak)) has no item int (weak) 3
#   169 |     out[0] = (1, 2).index(3)
#       |              ^^^^^^^^^^^^^^^
#    in kernel not_in_the_tuple(array(float32, 1d, C))
# <<<
# >>> message pattern_with_too_many_parts(f4[::1])
# TypingError: objects.py:175:14: error: a pattern of class Pair has at most 2 parts without a name, and this has 3
#   175 |         case Pair(a, b, c):
#       |              ^^^^^^^^^^^^^
#    in kernel pattern_with_too_many_parts(array(float32, 1d, C))
# <<<
# >>> message pattern_of_no_class(f4[::1])
# TypingError: objects.py:182:14: error: a pattern with parentheses names a class, and this is function doubled
#   182 |         case doubled():
#       |              ^^^^^^^^^
#    in kernel pattern_of_no_class(array(float32, 1d, C))
# <<<
# >>> message rest_of_a_dict(f4[::1])
# UnsupportedError: objects.py:189:14: error: a dict without some of its keys (del, or the rest of a match) is not supported in a kernel: a dict in a kernel has a fixed size
#   189 |         case {"a": a, **rest}:
#       |              ^^^^^^^^^^^^^^^^
#    help: name the keys that stay: {key: d[key] for key in ('a', 'b')}
#    in kernel rest_of_a_dict(array(float32, 1d, C))
# <<<
# >>> message finally_after_raise(f4[::1])
# UnsupportedError: objects.py:195:5: error: a raise inside try/finally is not supported in a kernel: a thread ends where it raises
#   195 |     try:
#       |     ^^^
#    help: raise before the try, or without it
#    in kernel finally_after_raise(array(float32, 1d, C))
# <<<
# >>> message list_as_long_as_run_time_says(f4[::1], int)
# UnsupportedError: objects.py:204:18: error: this use of a list that gets longer or shorter is not supported in a kernel: its length is known at run time only
#   204 |     out[0] = len(tuple([k for k in range(n)]))
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: loop over it: for x in xs
#    in kernel list_as_long_as_run_time_says(array(float32, 1d, C), int (weak))
# <<<
# >>> message tuple_as_long_as_run_time_says(f4[::1], int)
# UnsupportedError: objects.py:209:24: error: a list that grows is not supported in a kernel: how many items there are is part of a value's type
#   209 |     out[0] = len(tuple(k for k in range(n)))
#       |                        ^
#    help: write a loop, or a list: [ ]
#    in kernel tuple_as_long_as_run_time_says(array(float32, 1d, C), int (weak))
# <<<
# >>> message least_of_an_unknown_number(f4[::1], int)
# UnsupportedError: objects.py:214:18: error: a list that grows is not supported in a kernel: how many items there are is part of a value's type
#   214 |     out[0] = min(out[k] for k in range(n))
#       |                  ^^^^^^
#    help: write a loop, or a list: [ ]
#    in kernel least_of_an_unknown_number(array(float32, 1d, C), int (weak))
# <<<
# >>> message filtered_list_at_run_time(f4[::1])
# UnsupportedError: objects.py:220:18: error: this use of a list that gets longer or shorter is not supported in a kernel: its length is known at run time only
#   220 |     out[0] = len(tuple(kept))
#       |                  ^^^^^^^^^^^
#    help: loop over it: for x in xs
#    in kernel filtered_list_at_run_time(array(float32, 1d, C))
# <<<
# >>> message mistake_in_a_loop_over_items(f4[::1])
# NameResolutionError: objects.py:226:18: error: tuple(float (weak), float (weak)) has no attribute 'third'
#   226 |         out[0] = getattr(Pair(1.0, 2.0), name)
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel mistake_in_a_loop_over_items(array(float32, 1d, C))
# <<<
# >>> message mistake_in_a_loop(f4[::1])
# NameResolutionError: objects.py:232:18: error: name 'missing' is not defined
#   232 |         out[k] = missing + k
#       |                  ^^^^^^^
#    in kernel mistake_in_a_loop(array(float32, 1d, C))
# <<<
# >>> message text_at_run_time(f4[::1])
# TypingError: objects.py:237:14: error: 'abc'.startswith(): its arguments must be constants that Python takes
#   237 |     out[0] = "abc".startswith(out[0])
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^
#    in kernel text_at_run_time(array(float32, 1d, C))
# <<<
# >>> message too_many_calls(f4[::1])
# UnsupportedError: objects.py:51:12: error: this kernel makes more than 20000 calls, the last of spread(), and each is code of its own
#    51 |     left = spread(n - 1, x)
#       |            ^^^^^^^^^^^^^^^^
#    help: write a loop
#    called from spread, objects.py:51:12
#    51 |     left = spread(n - 1, x)
#       |            ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:51:12
#    51 |     left = spread(n - 1, x)
#       |            ^^^^^^^^^^^^^^^^
#    ... 8 more calls
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from too_many_calls, objects.py:242:14
#   242 |     out[0] = spread(14, out[0])
#       |              ^^^^^^^^^^^^^^^^^^
#
# objects.py:52:19: error: this kernel makes more than 20000 calls, the last of spread(), and each is code of its own
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    help: write a loop
#    called from spread, objects.py:51:12
#    51 |     left = spread(n - 1, x)
#       |            ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from spread, objects.py:51:12
#    51 |     left = spread(n - 1, x)
#       |            ^^^^^^^^^^^^^^^^
#    ... 8 more calls
#    called from spread, objects.py:52:19
#    52 |     return left + spread(n - 1, x) + x
#       |                   ^^^^^^^^^^^^^^^^
#    called from too_many_calls, objects.py:242:14
#   242 |     out[0] = spread(14, out[0])
#       |              ^^^^^^^^^^^^^^^^^^
#    in kernel too_many_calls(array(float32, 1d, C))
# <<<
# >>> message next_item(f4[::1])
# UnsupportedCallError: objects.py:247:13: error: iter() can't be called in a kernel
#   247 |     items = iter((1, 2))
#       |             ^^^^^^^^^^^^
#    help: write a for loop
#    in kernel next_item(array(float32, 1d, C))
# <<<
# >>> message super_of_nothing(f4[::1])
# UnsupportedError: objects.py:253:14: error: super() is not supported in a kernel: it is for methods of instances that are made in the kernel or passed to it
#   253 |     out[0] = super(Point, out[0]).x
#       |              ^^^^^^^^^^^^^^^^^^^^^^
#    help: call the function that is meant
#    in kernel super_of_nothing(array(float32, 1d, C))
# <<<
# >>> message dict_that_grows(f4[::1], int)
# TypingError: objects.py:260:9: error: items of dict can't be assigned
#   260 |         counts[k] = k
#       |         ^^^^^^^^^
#    help: a dict can't be changed: make another one, {**d, key: value}; numbers as keys are indices of an array
#    in kernel dict_that_grows(array(float32, 1d, C), int (weak))
# <<<
# >>> message set_that_is_made(f4[::1])
# UnsupportedError: objects.py:266:13: error: this set is not supported in a kernel: how many of its items differ is known at run time only
#   266 |     found = {out[1], out[2]}
#       |             ^^^^^^^^^^^^^^^^
#    help: use a tuple
#    in kernel set_that_is_made(array(float32, 1d, C))
# <<<
# >>> message generator_in_a_variable(f4[::1])
# UnsupportedError: objects.py:276:15: error: a generator expression that no call takes at once is not supported in a kernel: a kernel has no suspended code
#   276 |     squares = (k * k for k in range(3))
#       |               ^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_in_a_variable(array(float32, 1d, C))
# <<<
# >>> message generator_in_a_loop(f4[::1])
# UnsupportedError: objects.py:282:14: error: a generator expression that no call takes at once is not supported in a kernel: a kernel has no suspended code
#   282 |     for v in (out[k] for k in range(3)):
#       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_in_a_loop(array(float32, 1d, C))
# <<<
# >>> message generator_for_a_function(f4[::1])
# UnsupportedError: objects.py:288:19: error: a generator expression for a function of yours is not supported in a kernel: its items are made before the function begins
#   288 |     out[0] = total(k * k for k in range(3))
#       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^
#    help: make it a list: [ ]
#    in kernel generator_for_a_function(array(float32, 1d, C))
# <<<
# >>> message same_instance(f4[::1])
# TypingError: objects.py:294:8: error: 'is' compares objects, and a kernel has only values: (Point, Point)
#   294 |     if p is p:
#       |        ^^^^^^
#    help: use == to compare values
#    in kernel same_instance(array(float32, 1d, C))
# <<<
