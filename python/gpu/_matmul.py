"""``a @ b`` on a device: NumPy's rules of shapes and types, and a kernel of tiles.

A product is summed along the inner axis from left to right, with fused multiply-adds, on every device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array, array
from ._device import device_name
from ._elementwise import device_of, empty, is_array, make_kernel
from ._operations import device_function
from ._operators import resolve
from ._reduce import SERIAL, reduce_source

TILE = 16

ROWS = 4  # of the product, for a thread of the CPU

# A thread of the CPU makes 32 neighbours of each of 4 rows, side by side; at the lower edge some rows twice.
_IN_ORDER = """\
def kernel(out, a, b):
    rows = (out.shape[1] + {rows} - 1) // {rows}
    groups = (out.shape[2] + 31) // 32
    t = gpu.grid(1)
    if t < out.shape[0] * rows * groups:
        left = t % groups * 32
        top = t // groups % rows * {rows}
        z = t // groups // rows
        if left + 32 <= out.shape[2]:
{places}{arrays}            for lane in range(32):
{begin}            for k in range(a.shape[2]):
                right = b[z, k, left : left + 32]
{factors}                for lane in range(32):
                    other = acc(right[lane])
{steps}            for lane in range(32):
{store}        else:
            for i in range(top, min(top + {rows}, out.shape[1])):
                for j in range(left, out.shape[2]):
                    total = acc(0)
                    for k in range(a.shape[2]):
                        total = {total}
                    out[z, i, j] = total
"""

_TILED = """\
def kernel(out, a, b):
    left = gpu.shared.array((16, 16), acc)
    right = gpu.shared.array((16, 16), acc)
    x, y = gpu.threadIdx.x, gpu.threadIdx.y
    j = gpu.blockIdx.x * 16 + x
    z = gpu.blockIdx.y
    for first in range(gpu.blockIdx.z * 16, out.shape[1], gpu.gridDim.z * 16):
        i = first + y
        total = acc(0)
        for start in range(0, a.shape[2], 16):
            if i < out.shape[1] and start + x < a.shape[2]:
                left[y, x] = a[z, i, start + x]
            if j < out.shape[2] and start + y < a.shape[2]:
                right[y, x] = b[z, start + y, j]
            gpu.syncthreads()
            for k in range(min(16, a.shape[2] - start)):
                total = {tile}
            gpu.syncthreads()
        if i < out.shape[1] and j < out.shape[2]:
            out[z, i, j] = total
"""

_SUM = "acc({0} + {1} * {2})"
_ANY = "acc({0} | ({1} & {2}))"

_kernels: dict[Any, Any] = {}


def _kernel(acc: np.dtype[Any], serial: bool) -> Any:
    key = (acc, serial)
    kernel = _kernels.get(key)
    if kernel is None:
        from ._dtypes import dtypes

        text = _text(_ANY if acc.kind == "b" else _SUM, serial)
        names = {"acc": dtypes["bool_" if acc.name == "bool" else acc.name]}
        kernel = _kernels[key] = make_kernel("matmul", text, names, "numpy", {})
    return kernel


def _text(step: str, serial: bool) -> str:
    """The kernel; `step` adds a product to a sum."""
    total = step.format("total", "acc(a[z, i, k])", "acc(b[z, k, j])")
    if not serial:
        return _TILED.format(tile=step.format("total", "left[y, k]", "right[k, x]"))

    def for_rows(indent: int, text: str) -> str:
        return "".join(f"{' ' * indent}{text.format(r=r)}\n" for r in range(ROWS))

    return _IN_ORDER.format(
        rows=ROWS,
        total=total,
        places=for_rows(12, "i{r} = min(top + {r}, out.shape[1] - 1)"),
        arrays=for_rows(12, "lanes{r} = gpu.local.array(32, acc)"),
        begin=for_rows(16, "lanes{r}[lane] = acc(0)"),
        factors=for_rows(16, "x{r} = acc(a[z, i{r}, k])"),
        steps=for_rows(20, "lanes{r}[lane] = " + step.format("lanes{r}[lane]", "x{r}", "other")),
        store=for_rows(16, "out[z, i{r}, left + lane] = lanes{r}[lane]"),
    )


def matmul(a: Any, b: Any, out: Any = None, dtype: Any = None, stream: Any = None) -> Any:
    """``numpy.matmul``: products of matrices and vectors, with broadcasting over the axes before.

    Parameters
    ----------
    a, b : array
        Of a device or the host.
    out : array, optional
    dtype : dtype, optional
    stream : Stream, optional

    Raises
    ------
    ValueError
        The inner lengths differ, or an operand has no axes.
    """
    if not (is_array(a) and is_array(b)):
        raise ValueError("matmul: an operand does not have enough dimensions: * multiplies by a number")
    result = resolve(np.matmul, (a.dtype, b.dtype), dtype)[2]
    acc = np.dtype(np.float32) if result.itemsize == 2 and result.kind in "fV" else result
    device = device_of([a, b, out]) or device_name()
    if min(a.ndim, b.ndim) == 1 and a.shape[-1] == b.shape[max(b.ndim - 2, 0)]:
        return _with_vector(a, b, out, acc, result, stream)
    left, right = (x if isinstance(x, Array) else array(x, device=device) for x in (a, b))
    if a.ndim == 1:
        left = left.reshape(1, -1)
    if b.ndim == 1:
        right = right.reshape(-1, 1)
    (n, k), (inner, m) = left.shape[-2:], right.shape[-2:]
    if k != inner:
        raise ValueError(f"matmul: the inner lengths differ: shapes {a.shape} and {b.shape}, {k} and {inner}")
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    final = (*batch, *([n] if a.ndim > 1 else []), *([m] if b.ndim > 1 else []))
    if out is not None and tuple(out.shape) != final:
        raise ValueError(f"matmul: out has the shape {tuple(out.shape)}, and the product {final}")
    target = empty(final, result, "C", device, stream)
    import gpu

    with gpu.device(device):
        if target.size:
            stacked = _stack(target.reshape(*batch, n, m), batch)
            _run(_kernel(acc, device in SERIAL), stacked, _stack(left, batch), _stack(right, batch), device, stream)
    if out is not None:
        out[...] = target
        return out
    return target if final else target.copy_to_host(stream=stream)[()]


def _with_vector(a: Any, b: Any, out: Any, acc: np.dtype[Any], result: np.dtype[Any], stream: Any) -> Any:
    """A product with a vector: sums of many elements each, which a reduction shares out."""
    product = _products.get(acc)
    if product is None:
        from ._dtypes import dtypes

        kind = dtypes["bool_" if acc.name == "bool" else acc.name]

        def multiplied(x: Any, y: Any) -> Any:
            return kind(x) * kind(y)

        product = _products[acc] = device_function(multiplied)
    if b.ndim == 1:
        operands, axis = [a, b], -1
    else:
        operands, axis = [a.reshape(-1, 1), b], -2
    op = "any" if acc.kind == "b" else "add"
    return reduce_source(op, operands, product, axis, None, result, out, False, stream)


_products: dict[Any, Any] = {}


def _stack(x: Array, batch: tuple[int, ...]) -> Array:
    """A stack of matrices along one axis."""
    if x.shape[:-2] != batch:
        x = x._like(np.broadcast_to(x._proxy(), (*batch, *x.shape[-2:])))
    count = 1
    for n in batch:
        count *= n
    return x.reshape(count, *x.shape[-2:])


def _run(kernel: Any, out: Any, a: Any, b: Any, device: str, stream: Any) -> None:
    stacks, rows, columns = out.shape
    if device in SERIAL:
        threads = stacks * -(-rows // ROWS) * -(-columns // 32)
        kernel[-(-threads // 4), 4, stream](out, a, b)
        return
    most = 65535
    for first in range(0, stacks, most):
        part = slice(first, first + most)
        grid = (-(-columns // TILE), min(stacks - first, most), min(-(-rows // TILE), most))
        kernel[grid, (TILE, TILE), stream](out[part], a[part], b[part])
