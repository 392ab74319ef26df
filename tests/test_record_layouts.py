"""Structured dtypes of random layout: kernels on every device leave what NumPy leaves.

A dtype has numbers, records and arrays of either, one after the other, aligned, or wherever, also on top of each other;
strings stand between them. A kernel adds up all its numbers, changes each, and copies whole records.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from test_records import contents

REAL = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
SCALARS = [*REAL, "c8", "c16"]
RECORDS, LAYOUTS = 4, int(os.environ.get("GPU_GENERATED_LAYOUTS", "40"))


def random_dtype(rng: random.Random, depth: int = 0) -> np.dtype:
    """A structured dtype of one to five fields."""
    names = rng.sample(["x", "y", "mass", "shape", "id", "_n", "real", "T"], rng.randint(1, 5))
    formats = [random_field(rng, depth) for _ in names]
    layout = rng.choice(["packed", "aligned", "spread"])
    if layout != "spread":
        return np.dtype(list(zip(names, formats, strict=True)), align=layout == "aligned")
    sizes = [np.dtype(f).itemsize for f in formats]
    offsets = [rng.randint(0, 40) for _ in names]
    end = max(o + s for o, s in zip(offsets, sizes, strict=True))
    titles = [None if rng.random() < 0.7 else f"the {name}" for name in names]
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "titles": titles, "itemsize": end + rng.randint(0, 9)}
    )


def random_field(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if kind < 0.1:
        return "S3"
    of = random_dtype(rng, depth + 1) if kind < 0.35 and depth < 2 else rng.choice(SCALARS)
    shape = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))
    return (of, shape) if rng.random() < 0.3 else of


def paths(dtype: np.dtype, rng: random.Random, so_far: str = "e") -> Iterator[tuple[str, np.dtype]]:
    """How each number of a record `e` is written, with constant and run-time indices of arrays."""
    for name in dtype.names or ():
        field = dtype.fields[name][0]
        base, shape = field.subdtype or (field, ())
        title = dtype.fields[name][2] if len(dtype.fields[name]) > 2 and rng.random() < 0.5 else name
        at = so_far + rng.choice([f"[{title!r}]", f"[{dtype.names.index(name)}]" if dtype.names else ""])
        if shape:
            at += "[" + ", ".join(rng.choice([str(rng.randrange(-n, n)), f"i % {n}"]) for n in shape) + "]"
        if base.names:
            yield from paths(base, rng, at)
        elif base.kind != "S":
            yield at, base


def random_kernel(dtype: np.dtype, rng: random.Random) -> Callable[..., Any]:
    numbers = list(paths(dtype, rng))
    lines = ["def kernel(a, b, out):", "    i = gpu.grid(1)", "    e = a[i]"]
    lines += [f"    out[i] = out[i] + {path}" for path, _ in numbers]
    lines += [f"    b[i] = a[{RECORDS - 1} - i]", "    e = b[i]"]
    for path, of in rng.sample(numbers, len(numbers)):
        lines.append(f"    {path} = not {path}" if of.kind == "b" else f"    {path} = {path} + {rng.randint(1, 9)}")
    scope = {"gpu": gpu}
    exec(compile("\n".join(lines), "<layout>", "exec"), scope)
    return scope["kernel"]


def numbers(dtype: np.dtype, rng: random.Random) -> np.ndarray:
    """Records of small numbers, and of what no field has: bytes of small floats are floats, of bools bools."""
    a = np.frombuffer(bytearray(rng.randbytes(RECORDS * dtype.itemsize)), dtype)
    fill(a, rng)
    return a


def fill(a: np.ndarray, rng: random.Random) -> None:
    for name in a.dtype.names or ():
        field = a[name]
        if field.dtype.names:
            fill(field, rng)
        elif field.dtype.kind == "S":
            field[...] = b"ab"
        else:
            field[...] = np.array(
                [rng.randint(0, 1 if field.dtype.kind == "b" else 50) for _ in range(field.size)]
            ).reshape(field.shape)


CASES = []
rng = random.Random(20)
while len(CASES) < LAYOUTS:
    dtype = random_dtype(rng)
    if list(paths(dtype, random.Random(0))):
        CASES.append(dtype)


@pytest.mark.parametrize("number", range(LAYOUTS))
def test_layout(number: int) -> None:
    dtype, rng = CASES[number], random.Random(number)
    kernel = random_kernel(dtype, rng)
    a = numbers(dtype, rng)
    wanted = [np.frombuffer(bytearray(a.tobytes()), dtype), np.zeros(RECORDS, dtype), np.zeros(RECORDS, complex)]
    with np.errstate(all="ignore"):
        for i in range(RECORDS):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(gpu, "grid", lambda ndim, i=i: i)
                kernel(*wanted)
    for device in ("cpu", "emulated", "python"):
        got = [np.frombuffer(bytearray(a.tobytes()), dtype), np.zeros(RECORDS, dtype), np.zeros(RECORDS, complex)]
        with gpu.device(device):
            gpu.jit(kernel)[1, RECORDS](*got)
        assert got[0].tobytes() == a.tobytes()
        for g, w in zip(got[1:], wanted[1:], strict=True):
            assert contents(g) == contents(w), f"{device}\n{g}\n{w}"
