"""Helpers for tests of programs with kernels, as ``numba.cuda.testing`` has them."""

from __future__ import annotations

import contextlib
import io
import unittest
from typing import TYPE_CHECKING, Any

from . import config
from ._target import capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class CUDATestCase(unittest.TestCase):
    """A test case that launches kernels."""


class ContextResettingTestCase(CUDATestCase):
    """A test case after which memory that nobody uses goes back to the driver."""

    def tearDown(self) -> None:
        """Give unused memory back."""
        from ._devices import current_context

        super().tearDown()
        current_context().reset()


def skip_on_cudasim(reason: str) -> Callable[[Any], Any]:
    """Skip a test on Numba's simulator, which this isn't: the test runs."""
    return unittest.skipIf(bool(config.ENABLE_CUDASIM), reason)


def skip_unless_cudasim(reason: str) -> Callable[[Any], Any]:
    """Skip a test except on Numba's simulator, which this isn't."""
    return unittest.skipUnless(bool(config.ENABLE_CUDASIM), reason)


def cc_X_or_above(major: int, minor: int) -> bool:
    """Whether the current device has a compute capability, or more; the CPU device counts as ``(9, 0)``."""
    return capability() >= (major, minor)


def _needs(major: int, minor: int) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        found = cc_X_or_above(major, minor)
        return unittest.skipUnless(found, f"requires cc >= {major}.{minor}")(function)

    return decorate


skip_unless_cc_50 = _needs(5, 0)
skip_unless_cc_53 = _needs(5, 3)
skip_unless_cc_60 = _needs(6, 0)
skip_unless_cc_75 = _needs(7, 5)
skip_unless_cc_90 = _needs(9, 0)


@contextlib.contextmanager
def captured_stdout() -> Iterator[io.StringIO]:
    """What Python prints in a ``with`` block, in place of standard output."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        yield text


__all__ = [
    "CUDATestCase",
    "ContextResettingTestCase",
    "captured_stdout",
    "cc_X_or_above",
    "skip_on_cudasim",
    "skip_unless_cc_50",
    "skip_unless_cc_53",
    "skip_unless_cc_60",
    "skip_unless_cc_75",
    "skip_unless_cc_90",
    "skip_unless_cudasim",
    "unittest",
]
