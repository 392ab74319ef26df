"""Kernels and device functions in classes, and what can't be a kernel."""

from __future__ import annotations

from typing import Any

import gpu
import numpy as np
import pytest


class Scale:
    factor = 2.5

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def of(self, x: Any, more: int = 1) -> Any:
        return x * self.factor + self.offset * more

    @gpu.jit(device=True)
    def compiled(self, x):
        return x + self.offset

    @gpu.jit
    def kernel(self, x):
        x[0] = self.offset

    @staticmethod
    @gpu.jit
    def unbound(x, offset):
        x[0] = offset


scale = Scale(7)


def test_methods_of_an_object_are_called_with_it() -> None:
    @gpu.jit
    def kernel(x):
        of = scale.of
        for i in range(3):
            x[i] = scale.of(i, more=2) + of(i) + scale.compiled(i)

    x = np.zeros(3)
    kernel[1, 1](x)
    assert x.tolist() == [scale.of(i, 2) + scale.of(i) + i + 7 for i in range(3)]


def test_a_kernel_isnt_bound() -> None:
    x = np.zeros(1)
    scale.unbound[1, 1](x, 3)
    assert x[0] == 3
    with pytest.raises(TypeError, match=r"Scale\.kernel is a kernel, and a kernel gets no object as self: put @static"):
        scale.kernel[1, 1](x)


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (np.array(3), "takes a Python function or a signature, and this is an object of class ndarray"),
        ({}, "takes a Python function or a signature, and this is an object of class dict"),
        (scale.of, "the bound method of: jit its function, and pass what it needs of its object"),
    ],
    ids=["array", "dict", "method"],
)
def test_what_jit_takes(thing: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        gpu.jit(thing)


class AnswersAll(type):
    def __getattr__(cls, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        return 5


class Length(metaclass=AnswersAll):
    def __init__(self, x: float) -> None:
        self.x = x

    def twice(self) -> float:
        return self.x * 2


def test_a_metaclass_that_has_every_attribute() -> None:
    """It isn't asked whether the class is one of numba's."""

    def kernel(out, length):
        out[0] = length.twice() + Length(1.0).twice()

    out = np.zeros(1)
    gpu.jit(kernel)[1, 1](out, Length(4.0))
    assert out[0] == 10


@pytest.mark.parametrize("what", [None, 3, "tipes"])
def test_what_inspect_takes(what: Any) -> None:
    with pytest.raises(ValueError, match=r"inspect: what is one of bytecode, types, ir"):
        Scale.unbound.inspect(what)
