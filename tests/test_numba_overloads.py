"""`overload` and its like: functions, attributes and methods that kernels choose by types."""

from __future__ import annotations

import contextlib

import gpu
import numpy as np
import pytest
from gpu import cuda
from gpu.cuda import types
from gpu.cuda.extending import intrinsic, overload, overload_attribute, overload_method


def scaled(x, factor=2): ...


@overload(scaled, target="generic")
def scaled_of_any(x, factor=2):
    def implementation(x, factor=2):
        return -1

    return implementation


@overload(scaled)
def scaled_on_cuda(x, factor=2):
    if isinstance(x, types.Float):

        def of_float(x, factor=2):
            return x * factor

        return of_float
    if isinstance(x, types.UniTuple):

        def of_pair(x, factor=2):
            return scaled(x[0], factor) + scaled(x[1], factor=factor)

        return of_pair
    return None


@overload_attribute(types.Array, "middle")
def middle(array):
    return lambda array: array[array.size // 2]


@overload_method(types.Array, "total")
def total(array, start=0.0):
    def implementation(array, start=0.0):
        for i in range(array.size):
            start += array[i]
        return start

    return implementation


@pytest.mark.parametrize("device", ["python", "default"])
def test_types_choose(device):
    @cuda.jit
    def kernel(x, out):
        out[0] = scaled(x[1])
        out[1] = scaled(x[1], factor=3)
        out[2] = scaled((x[0], x[1]), 10)
        out[3] = scaled(x.size)  # an integer: the generic one

    out = np.zeros(4)
    with gpu.device("python") if device == "python" else contextlib.nullcontext():
        kernel[1, 1](np.array([1, 2], np.float32), out)
    assert out.tolist() == [4, 6, 30, -1]


def test_members():
    @cuda.jit
    def kernel(x, out):
        out[0] = x.middle
        out[1] = x.total()
        out[2] = x.total(start=0.5)

    out = np.zeros(3)
    kernel[1, 1](np.arange(5.0), out)
    assert out.tolist() == [2, 10, 10.5]


def only_floats(x): ...


@overload(only_floats)
def choose_only_floats(x):
    return (lambda x: x) if isinstance(x, types.Float) else None


def other_names(x): ...


@overload(other_names)
def choose_other_names(x):
    return lambda y: y


@intrinsic
def made_for_numba(context, x):
    raise AssertionError


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (only_floats, r"only_floats|function\(\): no overload takes \(int64\)"),
        (other_names, "arguments differ in argument names"),
        (made_for_numba, "write it as a plain function"),
    ],
)
def test_refused(function, text):
    @cuda.jit
    def kernel(out):
        out[0] = function(1)

    with pytest.raises(cuda.errors.TypingError, match=text):
        kernel[1, 1](np.zeros(1))


def test_types_of_constants():
    def axis_of(axis): ...

    @overload(axis_of, prefer_literal=True)
    def choose(axis):
        if isinstance(axis, types.IntegerLiteral):
            assert isinstance(axis, types.Integer) and types.unliteral(axis) == types.int64
            if axis.literal_value == 0:
                return lambda axis: 100
            raise TypeError("not this one")
        if isinstance(axis, types.StringLiteral):
            return {"rows": lambda axis: 1, "columns": lambda axis: 2}[axis.literal_value]
        if isinstance(axis, types.BooleanLiteral):
            return lambda axis: 3
        return lambda axis: -axis

    def without(axis): ...

    @overload(without)
    def never(axis):
        return (lambda axis: 1) if isinstance(axis, types.Literal) else lambda axis: 0

    @cuda.jit
    def kernel(x, n):
        x[0] = axis_of(0)
        x[1] = axis_of(7)
        x[2] = axis_of(n)
        x[3] = axis_of("columns")
        x[4] = axis_of(True)
        x[5] = without(0)

    x = np.zeros(6)
    kernel[1, 1](x, 5)
    assert x.tolist() == [100, -7, -5, 2, 3, 0]


def test_a_class_of_types_of_a_program_has_no_type_of_kernels():
    class Made(types.Integer):
        pass

    assert not isinstance(types.int32, Made)
    assert isinstance(types.int32, types.Integer)
    assert isinstance(types.Tuple([types.int32, types.float64]), types.Tuple)
    assert isinstance(types.UniTuple(types.int32, 2), types.UniTuple)


def test_functions_that_kernels_have_keep_their_meaning_for_other_types(monkeypatch):
    from gpu.cuda import extending

    monkeypatch.setattr(extending, "overloads", dict(extending.overloads))  # others' kernels call len, too

    @overload(len, target="cuda")
    def length_of_a_grid(group):
        if isinstance(group, types.GridGroup):
            return lambda group: cuda.gridsize(1)
        return None

    @cuda.jit
    def kernel(x, out):
        out[0] = len(x)
        out[1] = len(cuda.cg.this_grid())
        out[2] = len((1, 2, 3))

    out = np.zeros(3)
    kernel[2, 4](np.zeros(5), out)
    assert out.tolist() == [5, 8, 3]
