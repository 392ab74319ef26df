"""NumPy's functions on small arrays, written for kernels: `frontend/devfn.def` names them, and calls are inlined.

Arrays that such a function makes have constant shapes, and so have those that it takes, save where it says otherwise.
Types follow from the same operations on elements, so each dialect has its own. On the ``python`` device NumPy's own
functions run; they are what these are compared with.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def _zero(a: Any) -> Any:
    """Return a zero of the array's type."""
    return np.zeros(1, a.dtype)[0]


def _common(arrays: Any) -> Any:
    """Return the type that elements of all arrays have together."""
    first, *rest = [np.zeros(1, a.dtype) for a in arrays]  # of arrays, since numbers get wider in the Numba dialect
    return functools.reduce(lambda x, y: x + y, rest, first).dtype


def _float(a: Any) -> Any:
    """Return the type of the array's elements in a division."""
    return type(_zero(a) / (_zero(a) + 1))


def _before(x: Any, y: Any) -> Any:
    """Tell whether x is sorted before y: NaN comes last."""
    return x < y or (y != y and x == x)


# ---- order


def ndarray_sort(a: Any, axis: int = -1) -> None:
    if a.ndim > 1:
        rows = np.swapaxes(a, axis, a.ndim - 1)
        for k in range(rows.shape[0]):
            ndarray_sort(rows[k])
        return
    for k in range(1, len(a)):
        x, j = a[k], k
        while j > 0 and _before(x, a[j - 1]):
            a[j] = a[j - 1]
            j -= 1
        a[j] = x


def numpy_sort(a: Any, axis: int = -1) -> Any:
    b = np.copy(a)
    ndarray_sort(b, axis)
    return b


def numpy_argsort(a: Any) -> Any:
    order = np.zeros(a.shape, np.int64)
    for k in range(1, len(a)):
        j = k
        while j > 0 and _before(a[k], a[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    return order


def numpy_searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Take arrays `a` of any length."""
    if isinstance(v, np.ndarray):
        found = np.empty(v.shape, np.int64)
        for k in range(len(v)):
            found[k] = numpy_searchsorted(a, v[k], side)
        return found
    low, high = np.int64(0), np.int64(len(a))
    while low < high:
        middle = (low + high) // 2
        behind = _before(a[middle], v) if side == "left" else not _before(v, a[middle])
        if behind:
            low = middle + 1
        else:
            high = middle
    return low


def numpy_digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Take bins of any length, which grow or fall."""
    side = "left" if right else "right"
    if len(bins) > 1 and bins[0] > bins[len(bins) - 1]:
        return len(bins) - np.searchsorted(bins[::-1], x, side)
    return np.searchsorted(bins, x, side)


def numpy_median(a: Any) -> Any:
    b = np.sort(np.ravel(a))
    n = len(b)
    middle = b[n // 2] / 1 if n % 2 else (b[n // 2 - 1] + b[n // 2]) / 2
    return b[n - 1] / 1 if b[n - 1] != b[n - 1] else middle


def numpy_quantile(a: Any, q: Any) -> Any:
    b = np.sort(np.ravel(a))
    at = q * (len(b) - 1)
    k = min(int(at), len(b) - 2) if len(b) > 1 else 0
    return b[k] + (b[min(k + 1, len(b) - 1)] - b[k]) * (at - k)


def numpy_percentile(a: Any, q: Any) -> Any:
    return numpy_quantile(a, q / 100)


# ---- arrays put together and taken apart


def numpy_concatenate(arrays: Any, axis: int = 0) -> Any:
    shape = arrays[0].shape
    at = axis if axis >= 0 else axis + len(shape)
    total = sum([a.shape[at] for a in arrays])
    out = np.empty((*shape[:at], total, *shape[at + 1 :]), _common(arrays))
    rows = np.swapaxes(out, 0, at)
    k = 0
    for a in arrays:
        rows[k : k + a.shape[at]] = np.swapaxes(a, 0, at)
        k = k + a.shape[at]
    return out


def numpy_stack(arrays: Any, axis: int = 0) -> Any:
    shape = arrays[0].shape
    at = axis if axis >= 0 else axis + len(shape) + 1
    out = np.empty((*shape[:at], len(arrays), *shape[at:]), _common(arrays))
    rows = np.swapaxes(out, 0, at) if at < 2 else out
    for k in range(len(arrays)):
        if at < 2:
            rows[k] = arrays[k] if at == 0 or len(shape) < 2 else np.swapaxes(arrays[k], 0, at - 1)
        else:
            out[:, :, k] = arrays[k]
    return out


def numpy_linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    kind = type(start * 1.0 + stop * 1.0)
    out = np.empty(num, kind)
    steps = num - 1 if endpoint else num
    step = (stop * 1.0 - start * 1.0) / steps if steps else start * 0.0
    for k in range(num):
        out[k] = k * step + start
    if endpoint and num > 1:
        out[num - 1] = stop
    return out


def numpy_atleast_1d(a: Any) -> Any:
    if isinstance(a, np.ndarray):
        return a
    return np.array((a,))


def numpy_atleast_2d(a: Any) -> Any:
    if not isinstance(a, np.ndarray):
        return np.array(((a,),))
    return a.reshape((1, a.shape[0])) if a.ndim == 1 else a


def numpy_select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for k in range(len(condlist)):
        result = np.where(condlist[-1 - k], choicelist[-1 - k], result)
    return result


def numpy_vstack(arrays: Any) -> Any:
    return numpy_concatenate([a.reshape((1, len(a))) if a.ndim == 1 else a for a in arrays])


def numpy_hstack(arrays: Any) -> Any:
    return numpy_concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def numpy_append(arr: Any, values: Any) -> Any:
    more = np.ravel(values) if isinstance(values, np.ndarray) else np.array((values,))
    return numpy_concatenate((np.ravel(arr), more))


def numpy_split(ary: Any, sections: int) -> Any:
    n = len(ary) // sections
    return [ary[k * n : (k + 1) * n] for k in range(sections)]


def numpy_tile(a: Any, reps: int) -> Any:
    return numpy_concatenate([a] * reps, a.ndim - 1)


def numpy_repeat(a: Any, repeats: int) -> Any:
    b = np.ravel(a)
    out = np.empty(len(b) * repeats, a.dtype)
    for k in range(len(b) * repeats):
        out[k] = b[k // repeats]
    return out


def numpy_take(a: Any, indices: Any) -> Any:
    """Take arrays `a` of any length."""
    flat = a.reshape(-1) if a.ndim > 1 else a
    if isinstance(indices, (int, np.integer)):
        return flat[indices]
    out = np.empty(len(indices), a.dtype)
    for k in range(len(indices)):
        out[k] = flat[indices[k]]
    return out


def numpy_expand_dims(a: Any, axis: int) -> Any:
    at = axis if axis >= 0 else axis + a.ndim + 1
    return a.reshape((*a.shape[:at], 1, *a.shape[at:]))


def numpy_squeeze(a: Any) -> Any:
    return a.reshape(tuple([n for n in a.shape if n != 1]))


def numpy_moveaxis(a: Any, source: int, destination: int) -> Any:
    at = source if source >= 0 else source + a.ndim
    to = destination if destination >= 0 else destination + a.ndim
    rest = [k for k in range(a.ndim) if k != at]
    return np.transpose(a, (*rest[:to], at, *rest[to:]))


def numpy_flip(m: Any, axis: Any = None) -> Any:
    """Take arrays of any length."""
    if m.ndim == 1:
        return m[::-1]
    if axis is None:
        return m[::-1, ::-1]
    return m[::-1] if axis in (0, -2) else m[:, ::-1]


def numpy_flipud(m: Any) -> Any:
    """Take arrays of any length."""
    return m[::-1]


def numpy_fliplr(m: Any) -> Any:
    """Take arrays of any length."""
    return m[:, ::-1]


def numpy_rot90(m: Any) -> Any:
    """Take arrays of any length."""
    return np.transpose(m)[::-1]


def numpy_roll(a: Any, shift: int, axis: Any = None) -> Any:
    out = np.empty(a.shape, a.dtype)
    if axis is not None and a.ndim > 1:
        rows, source = np.swapaxes(out, 0, axis), np.swapaxes(a, 0, axis)
        for k in range(rows.shape[0]):
            rows[(k + shift) % rows.shape[0]] = source[k]
        return out
    to, flat = out.reshape(-1), np.ravel(a)
    for k in range(len(flat)):
        to[(k + shift) % len(flat)] = flat[k]
    return out


def numpy_diff(a: Any, n: int = 1) -> Any:
    rest = np.moveaxis(np.copy(a), -1, 0)
    last = len(rest)
    for step in range(1, n + 1):
        for k in range(last - step):
            rest[k] = rest[k + 1] - rest[k]
    return np.copy(np.moveaxis(rest[: last - n], 0, -1))


def ndarray_clip(a: Any, min: Any = None, max: Any = None) -> Any:
    return np.clip(a, min, max)


def numpy_ix_(*args: Any) -> Any:
    n = len(args)
    return tuple([np.array(args[k]).reshape((*[1] * k, -1, *[1] * (n - 1 - k))) for k in range(n)])


# ---- numbers from arrays, of any length


def numpy_interp(x: Any, xp: Any, fp: Any) -> Any:
    """Take arrays of any length, and a number or an array `x`."""
    if isinstance(x, np.ndarray):
        out = np.empty(x.shape)
        for k in range(len(x)):
            out[k] = numpy_interp(x[k], xp, fp)
        return out
    n = len(xp)
    at = np.float64(x)
    if at != at:
        return at
    if at >= xp[n - 1]:
        return np.float64(fp[n - 1])
    if at <= xp[0]:
        return np.float64(fp[0])
    k = numpy_searchsorted(xp, at, "right") - 1
    left, right = np.float64(fp[k]), np.float64(fp[k + 1])
    slope = (right - left) / (np.float64(xp[k + 1]) - np.float64(xp[k]))
    return slope * (at - np.float64(xp[k])) + left


def numpy_average(a: Any, weights: Any = None) -> Any:
    """Take arrays of any length."""
    if weights is None:
        return np.mean(a)
    total, scale = _zero(a) * _zero(weights) * 1.0, _zero(a) * _zero(weights) * 1.0
    for k in range(len(a)):
        total += a[k] * weights[k]
        scale += weights[k]
    return total / scale


def numpy_polyval(p: Any, x: Any) -> Any:
    """Take arrays of any length."""
    y = 0 * x + 0 * p[0]
    for k in range(len(p)):
        y = y * x + p[k]
    return y


def numpy_trapezoid(y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    """Take arrays of any length."""
    total = _zero(y) * 0.5
    for k in range(1, len(y)):
        step = dx if x is None else x[k] - x[k - 1]
        total += step * (y[k] + y[k - 1]) / 2.0
    return total


def numpy_nansum(a: Any) -> Any:
    """Take arrays of any length."""
    total = np.sum(np.zeros(1, a.dtype))
    for x in np.ravel(a):
        total += x if x == x else 0
    return total


def numpy_nanprod(a: Any) -> Any:
    """Take arrays of any length."""
    total = np.prod(np.ones(1, a.dtype))
    for x in np.ravel(a):
        total *= x if x == x else 1
    return total


def numpy_nanmean(a: Any) -> Any:
    """Take arrays of any length."""
    total, count = _zero(a) / 1, 0
    for x in np.ravel(a):
        if x == x:
            total += x
            count += 1
    return total / count


def numpy_nanmax(a: Any) -> Any:
    """Take arrays of any length."""
    flat = np.ravel(a)
    most = flat[0]
    for x in flat:
        most = x if x > most or most != most else most
    return most


def numpy_nanmin(a: Any) -> Any:
    """Take arrays of any length."""
    flat = np.ravel(a)
    least = flat[0]
    for x in flat:
        least = x if x < least or least != least else least
    return least


def numpy_isin(element: Any, test_elements: Any) -> Any:
    """Take a number or a small array, and a tuple or an array of any length."""
    if isinstance(element, np.ndarray):
        out = np.zeros(element.shape, np.bool_)
        flat = out.reshape(-1)
        for k, x in enumerate(np.ravel(element)):
            flat[k] = numpy_isin(x, test_elements)
        return out
    found = False
    for x in test_elements if isinstance(test_elements, (tuple, list)) else np.ravel(test_elements):
        found = found or element == x
    return found


# ---- matrices


def numpy_diag(v: Any, k: int = 0) -> Any:
    if v.ndim == 1:
        n = len(v) + abs(k)
        out = np.zeros((n, n), v.dtype)
        for i in range(len(v)):
            out[i + max(-k, 0), i + max(k, 0)] = v[i]
        return out
    rows, columns = v.shape
    n = min(rows - max(-k, 0), columns - max(k, 0))
    line = np.empty(n, v.dtype)
    for i in range(n):
        line[i] = v[i + max(-k, 0), i + max(k, 0)]
    return line


def numpy_tri(N: int, M: Any = None, k: int = 0) -> Any:
    columns = N if M is None else M
    out = np.zeros((N, columns))
    for i in range(N):
        for j in range(columns):
            out[i, j] = 1 if j <= i + k else 0
    return out


def numpy_triu(m: Any, k: int = 0) -> Any:
    out = np.copy(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j < i + k:
                out[i, j] = 0
    return out


def numpy_tril(m: Any, k: int = 0) -> Any:
    out = np.copy(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j > i + k:
                out[i, j] = 0
    return out


def numpy_kron(a: Any, b: Any) -> Any:
    if a.ndim == 1:
        return np.ravel(np.outer(a, b))
    out = np.empty((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), _common((a, b)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i // b.shape[0], j // b.shape[1]] * b[i % b.shape[0], j % b.shape[1]]
    return out


def numpy_convolve(a: Any, v: Any) -> Any:
    out = np.zeros(len(a) + len(v) - 1, _common((a, v)))
    for i in range(len(a)):
        for j in range(len(v)):
            out[i + j] += a[i] * v[j]
    return out


def _rows(a: Any) -> Any:
    """Return the number of rows of a square matrix."""
    if a.ndim != 2 or a.shape[0] != a.shape[-1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a.shape[0]


def _pivot(m: Any, k: int) -> Any:
    """Return the row from k on with the greatest element in column k."""
    row = k
    for i in range(k + 1, m.shape[0]):
        if abs(m[i, k]) > abs(m[row, k]):
            row = i
    return row


def numpy_linalg_det(a: Any) -> Any:
    n = _rows(a)
    m = np.empty(a.shape, _float(a))
    m[:, :] = a
    det = m[0, 0] * 0 + 1
    for k in range(n):
        row = _pivot(m, k)
        if row != k:
            det = -det
            for j in range(n):
                m[k, j], m[row, j] = m[row, j], m[k, j]
        det *= m[k, k]
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k] if m[k, k] != 0 else m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= factor * m[k, j]
    return det


def _eliminate(m: Any, right: Any) -> None:
    """Make `m` the identity by operations on rows, which `right` goes through, too."""
    n, columns = right.shape
    for k in range(n):
        row = _pivot(m, k)
        if m[row, k] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        if row != k:
            for j in range(n):
                m[k, j], m[row, j] = m[row, j], m[k, j]
            for j in range(columns):
                right[k, j], right[row, j] = right[row, j], right[k, j]
        scale = 1 / m[k, k]
        for j in range(n):
            m[k, j] *= scale
        for j in range(columns):
            right[k, j] *= scale
        for i in range(n):
            factor = m[i, k]
            if i != k:
                for j in range(n):
                    m[i, j] -= factor * m[k, j]
                for j in range(columns):
                    right[i, j] -= factor * right[k, j]


def numpy_linalg_inv(a: Any) -> Any:
    m = np.empty(a.shape, _float(a))
    right = np.eye(_rows(a), dtype=_float(a))
    m[:, :] = a
    _eliminate(m, right)
    return right


def numpy_linalg_solve(a: Any, b: Any) -> Any:
    if _rows(a) != len(b):
        raise ValueError("solve: the right-hand side has another number of rows")
    kind = type(_zero(a) / (_zero(b) + 1))
    m = np.empty(a.shape, kind)
    m[:, :] = a
    right = np.empty(b.shape, kind)
    right[:] = b
    _eliminate(m, right.reshape((len(b), 1)) if b.ndim == 1 else right)
    return right


def numpy_linalg_matrix_power(a: Any, n: int) -> Any:
    """Take exponents of 0 and more."""
    if n < 0:
        raise ValueError("a negative power of a matrix: take that of np.linalg.inv")
    out, square, product = np.eye(_rows(a), dtype=a.dtype), np.copy(a), np.copy(a)
    while n > 0:
        if n % 2:
            product[:, :] = out @ square
            out[:, :] = product
        product[:, :] = square @ square
        square[:, :] = product
        n //= 2
    return out
