"""Objects that a kernel changes: what it refuses of that."""

import dataclasses

import gpu


@dataclasses.dataclass
class Point:
    x: float
    y: object = 0.0

    def moved(self, dx):
        self.x += dx
        return self


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: float


class Temperature:
    def __init__(self):
        self.kelvin = 0.0

    @property
    def celsius(self):
        return self.kelvin - 273.15


ORIGIN = Point(0.0)


@gpu.jit
def sets_what_comes_from_outside(out):
    ORIGIN.x = 2.0
    out[0] = ORIGIN.x


@gpu.jit
def sets_a_frozen_field(out):
    p = Frozen(1.0)
    p.x = 2.0
    out[0] = p.x


@gpu.jit
def sets_a_property_without_setter(out):
    t = Temperature()
    t.celsius = 20.0
    out[0] = t.kelvin


@gpu.jit
def field_of_two_types(out):
    p = Point(1.0)
    p.y = (1, 2)
    out[0] = p.x


@gpu.jit
def keeps_an_object_of_a_loop(out):
    line = Point(0.0, Point(0.0))
    for k in range(4):
        p = Point(k)
        p.x += 1
        if k == out[0]:
            line.y = p
    out[0] = line.y.x


@gpu.jit
def sets_a_field_of_a_tuple(out):
    t = (1, 2)
    t.x = 3
    out[0] = t[0]


@gpu.jit
def lazy_field(x, out):
    p = Point(1.0)
    p.y = x * 2
    out[0] = p.y[0]


@gpu.jit
def deletes_a_nonlocal(out):
    t = 1

    def f():
        nonlocal t
        del t

    f()
    out[0] = 1


def _outer():
    t = 1

    @gpu.jit
    def assigns_outside(out):
        nonlocal t
        t = 2
        out[0] = 1

    return assigns_outside


assigns_outside = _outer()


@gpu.jit
def list_index_outside(out):
    xs = [1, 2, 3]
    xs[3] = 4
    out[0] = xs[0]


@gpu.jit
def item_of_another_type(out):
    xs = [1, 2, 3]
    xs[out.shape[0]] = "a"
    out[0] = xs[0]


@gpu.jit
def changes_a_tuple(out):
    t = (1, 2)
    t[0] = 3
    out[0] = t[0]


@gpu.jit
def array_of_a_growing_list(out):
    xs = []
    for k in range(out.shape[0]):
        xs.append(k)
    out[0] = len(tuple(xs))


@gpu.jit
def list_made_in_a_loop(out):
    last = [0, 0]
    for k in range(out.shape[0]):
        xs = [k, k]
        xs[0] += last[1]
        last = xs
    out[0] = last[0]


@gpu.jit
def unpacks_a_growing_list(out):
    xs = [1]
    xs.append(2)
    out[0] = max(*xs)


@gpu.jit
def method_of_a_list(o):
    xs = [1, 2]
    xs.append(3)
    xs.apend(4)
    o[0] = xs[0]


CORNERS = [0, 2]


@gpu.jit
def changes_a_list_from_outside(out):
    xs = CORNERS
    xs += [3]
    out[0] = len(xs)


@gpu.jit
def adds_a_list_to_a_tuple(out):
    t = (1, 2) + [3]
    out[0] = len(t)


# >>> message sets_what_comes_from_outside(f4[::1])
# UnsupportedError: changes.py:37:5: error: a kernel can't set an attribute: 'x' of Point
#    37 |     ORIGIN.x = 2.0
#       |     ^^^^^^^^
#    help: a kernel writes elements of arrays
#    in kernel sets_what_comes_from_outside(array(float32, 1d, C))
# <<<
# >>> message sets_a_frozen_field(f4[::1])
# UnsupportedError: changes.py:44:5: error: this assignment is not supported in a kernel: the class is frozen, or has a __setattr__ of its own
#    44 |     p.x = 2.0
#       |     ^^^
#    help: dataclasses.replace(x, field=...) makes another one
#    in kernel sets_a_frozen_field(array(float32, 1d, C))
# <<<
# >>> message sets_a_property_without_setter(f4[::1])
# UnsupportedError: changes.py:51:5: error: a kernel can't set an attribute: 'celsius' of Temperature
#    51 |     t.celsius = 20.0
#       |     ^^^^^^^^^
#    help: give the property a setter
#    in kernel sets_a_property_without_setter(array(float32, 1d, C))
# <<<
# >>> message field_of_two_types(f4[::1])
# TypingError: changes.py:58:5: error: '.y' is float (weak) on one path and tuple(int (weak), int (weak)) on another
#    58 |     p.y = (1, 2)
#       |     ^^^
#    help: give it values of one type
#    in kernel field_of_two_types(array(float32, 1d, C))
# <<<
# >>> message keeps_an_object_of_a_loop(f4[::1])
# UnsupportedError: changes.py:66:13: error: this object is not supported in a kernel: it takes the memory of the one made an iteration before, which is still in use
#    66 |         p = Point(k)
#       |             ^^^^^^^^
#    help: make the objects before the loop, and assign to their fields
#    in kernel keeps_an_object_of_a_loop(array(float32, 1d, C))
# <<<
# >>> message sets_a_field_of_a_tuple(f4[::1])
# UnsupportedError: changes.py:76:5: error: a kernel can't set an attribute: 'x' of tuple(int (weak), int (weak))
#    76 |     t.x = 3
#       |     ^^^
#    help: make a new one of the class, or dataclasses.replace(x, field=...)
#    in kernel sets_a_field_of_a_tuple(array(float32, 1d, C))
# <<<
# >>> message lazy_field(f4[::1], f4[::1])
# UnsupportedError: changes.py:83:5: error: this array is not supported in a kernel: its size isn't known when compiling
#    83 |     p.y = x * 2
#       |     ^^^
#    help: assign it to a slice: out[i, :] = ...
#    in kernel lazy_field(array(float32, 1d, C), array(float32, 1d, C))
# <<<
# >>> message deletes_a_nonlocal(f4[::1])
# UnsupportedError: changes.py:93:13: error: the deletion of a nonlocal variable is not supported in a kernel: a variable of a kernel keeps its place
#    93 |         del t
#       |             ^
#    help: assign None, or leave it
#    called from deletes_a_nonlocal, changes.py:95:5
#    95 |     f()
#       |     ^^^
#    in kernel deletes_a_nonlocal(array(float32, 1d, C))
# <<<
# >>> message assigns_outside(f4[::1])
# UnsupportedError: changes.py:105:9: error: an assignment to a nonlocal variable here is not supported in a kernel: a variable outside of the kernel is a constant of it
#   105 |         t = 2
#       |         ^
#    help: make the variable in the kernel, or write the result into an array
#    in kernel assigns_outside(array(float32, 1d, C))
# <<<
# >>> message list_index_outside(f4[::1])
# TypingError: changes.py:117:5: error: index 3 is out of range for a list of 3
#   117 |     xs[3] = 4
#       |     ^^^^^
#    in kernel list_index_outside(array(float32, 1d, C))
# <<<
# >>> message item_of_another_type(f4[::1])
# TypingError: changes.py:124:5: error: 'an item of this list' is int (weak) on one path and str 'a' on another
#   124 |     xs[out.shape[0]] = "a"
#       |     ^^^^^^^^^^^^^^^^
#    help: give it items of one type: [0.0] * n
#    in kernel item_of_another_type(array(float32, 1d, C))
# <<<
# >>> message changes_a_tuple(f4[::1])
# TypingError: changes.py:131:5: error: items of tuple(int (weak), int (weak)) can't be assigned
#   131 |     t[0] = 3
#       |     ^^^^
#    help: a tuple can't be changed: make a new one
#    in kernel changes_a_tuple(array(float32, 1d, C))
# <<<
# >>> message array_of_a_growing_list(f4[::1])
# UnsupportedError: changes.py:140:18: error: this use of a list that gets longer or shorter is not supported in a kernel: its length is known at run time only
#   140 |     out[0] = len(tuple(xs))
#       |                  ^^^^^^^^^
#    help: loop over it: for x in xs
#    in kernel array_of_a_growing_list(array(float32, 1d, C))
# <<<
# >>> message list_made_in_a_loop(f4[::1])
# UnsupportedError: changes.py:147:14: error: this object is not supported in a kernel: it takes the memory of the one made an iteration before, which is still in use
#   147 |         xs = [k, k]
#       |              ^^^^^^
#    help: make the objects before the loop, and assign to their fields
#    in kernel list_made_in_a_loop(array(float32, 1d, C))
# <<<
# >>> message method_of_a_list(i8[::1])
# NameResolutionError: changes.py:164:5: error: list has no attribute 'apend'
#   164 |     xs.apend(4)
#       |     ^^^^^^^^
#    help: did you mean 'append'?
#    in kernel method_of_a_list(array(int64, 1d, C))
# <<<
# >>> message changes_a_list_from_outside(f4[::1])
# UnsupportedError: changes.py:174:5: error: this change of a list is not supported in a kernel: it is a constant, or isn't made in this kernel
#   174 |     xs += [3]
#       |     ^^^^^^^^^
#    help: list(xs) makes a list that may change
#    in kernel changes_a_list_from_outside(array(float32, 1d, C))
# <<<
# >>> message adds_a_list_to_a_tuple(f4[::1])
# TypingError: changes.py:180:9: error: + does not take (tuple(int (weak), int (weak)), list(int (weak),))
#   180 |     t = (1, 2) + [3]
#       |         ^^^^^^^^^^^^
#    in kernel adds_a_list_to_a_tuple(array(float32, 1d, C))
# <<<
# >>> message unpacks_a_growing_list(f4[::1])
# UnsupportedError: changes.py:157:14: error: this use of a list that gets longer or shorter is not supported in a kernel: its length is known at run time only
#   157 |     out[0] = max(*xs)
#       |              ^^^^^^^^
#    help: loop over it: for x in xs
#    in kernel unpacks_a_growing_list(array(float32, 1d, C))
# <<<
