"""How types of numbers become others: ``numba.cuda.typeconv``. For programs that choose between signatures themselves.

A kernel's launch and its calls choose by rules of the compiler, which are the same for numbers (docs/numba.md).
"""

from .castgraph import Conversion

__all__ = ["Conversion"]
