"""LLVM's IR as programs for Numba read it: the same module, its metadata written as llvmlite writes them."""

from __future__ import annotations

import re

_FIELD = re.compile(r'(\w+): ("[^"]*"|[^,()]+(?:\([^()]*\))?)(?:, |$)')
_NODE = re.compile(r"^(!\d+ = (?:distinct )?!\w+)\((\w+: .*)\)$", re.MULTILINE)
_TUPLE = re.compile(r"^(![\w.]+ = (?:distinct )?)!\{(.+)\}$", re.MULTILINE)
_KERNEL = re.compile(r'^define (?:\w+ )*ptx_kernel void (@(?:"[^"]*"|[\w.$]+))\(', re.MULTILINE)


def _in_order(node: re.Match[str]) -> str:
    """A node with its fields in alphabetical order; as it is, if not all of it is fields."""
    fields = _FIELD.findall(node[2])
    text = ", ".join(f"{key}: {value}" for key, value in fields)
    if text != node[2]:
        return node[0]
    return f"{node[1]}({', '.join(f'{key}: {value}' for key, value in sorted(fields))})"


def as_numba_writes(ir: str) -> str:
    """The module with other spelling, which LLVM reads as the same.

    Fields of metadata come in alphabetical order, and lists of metadata have spaces inside their braces. Kernels are
    named in ``nvvm.annotations``, too, where versions of LLVM that don't know the calling convention ``ptx_kernel``
    look for them.

    Parameters
    ----------
    ir : str
        A module, as LLVM prints it.
    """
    ir = _NODE.sub(_in_order, ir)
    kernels = _KERNEL.findall(ir)
    if kernels and "!nvvm.annotations" not in ir:
        first = 1 + max(map(int, re.findall(r"^!(\d+) = ", ir, re.MULTILINE)), default=-1)
        numbers = range(first, first + len(kernels))
        ir = ir.rstrip("\n") + f"\n\n!nvvm.annotations = !{{{', '.join(f'!{n}' for n in numbers)}}}\n\n"
        ir += "".join(f'!{n} = !{{ptr {name}, !"kernel", i32 1}}\n' for n, name in zip(numbers, kernels, strict=True))
    return _TUPLE.sub(r"\1!{ \2 }", ir)
