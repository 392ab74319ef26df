"""NumPy's functions on small matrices, written for kernels: `frontend/devfn.def` names them, and calls are inlined.

What `gpu._smallarrays` says of its functions is true of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu._smallarrays import _along, _common, _float, _zero

# ---- matrices


def numpy_diag(v: Any, k: int = 0) -> Any:
    if v.ndim == 1:
        n = len(v) + abs(k)
        out = np.zeros((n, n), v.dtype)
        for i in range(len(v)):
            out[i + max(-k, 0), i + max(k, 0)] = v[i]
        return out
    rows, columns = v.shape
    n = max(min(rows - max(-k, 0), columns - max(k, 0)), 0)
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
    out = np.copy(m) if m.ndim > 1 else np.broadcast_to(m, (len(m), len(m)))
    for index in np.ndindex(out.shape):
        if index[-1] < index[-2] + k:
            out[index] = 0
    return out


def numpy_tril(m: Any, k: int = 0) -> Any:
    out = np.copy(m) if m.ndim > 1 else np.broadcast_to(m, (len(m), len(m)))
    for index in np.ndindex(out.shape):
        if index[-1] > index[-2] + k:
            out[index] = 0
    return out


def numpy_kron(a: Any, b: Any) -> Any:
    if a.ndim == 1:
        return np.ravel(np.outer(a, b))
    out = np.empty((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), _common((a, b)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i // b.shape[0], j // b.shape[1]] * b[i % b.shape[0], j % b.shape[1]]
    return out


def numpy_convolve(a: Any, v: Any, mode: str = "full") -> Any:
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode is 'full', 'same' or 'valid'")
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("np.convolve and np.correlate take arrays of one axis")
    if len(v) > len(a):
        return numpy_convolve(v, a, mode)
    out = np.zeros(len(a) + len(v) - 1, _common((a, v)))
    for i in range(len(a)):
        for j in range(len(v)):
            out[i + j] += a[i] * v[j]
    if mode == "same":
        return np.copy(out[(len(v) - 1) // 2 : (len(v) - 1) // 2 + len(a)])
    return np.copy(out[len(v) - 1 : len(a)]) if mode == "valid" else out


def numpy_correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    return numpy_convolve(a, np.conj(v[::-1]) if isinstance(_zero(v), np.complexfloating) else v[::-1], mode)


def numpy_diagonal(a: Any) -> Any:
    """Return a copy, where NumPy's view can't be written."""
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return numpy_diag(a)


def numpy_diagflat(v: Any) -> Any:
    return numpy_diag(np.ravel(v))


def numpy_fill_diagonal(a: Any, val: Any) -> None:
    """Take matrices of any size."""
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = val


def numpy_vander(x: Any, N: Any = None) -> Any:
    columns = len(x) if N is None else N
    out = np.ones((len(x), columns), type(_zero(x) + np.int64(0)))
    for k in range(columns - 1):
        out[:, columns - 2 - k] = out[:, columns - 1 - k] * x
    return out


def numpy_triu_indices(n: int, k: int = 0) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(n) if j >= i + k]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def numpy_tril_indices(n: int, k: int = 0) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(n) if j <= i + k]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def numpy_diag_indices(n: int) -> Any:
    return np.arange(n), np.arange(n)


def _product(sizes: Any) -> Any:
    return 1 if len(sizes) == 0 else sizes[0] * _product(sizes[1:])


def _sizes(letters: Any, names: Any, operands: Any) -> Any:
    """Return the size of the axis of each letter."""
    found = [[a.shape[k] for name, a in zip(names, operands) for k, c in enumerate(name) if c == x] for x in letters]  # noqa: B905
    for sizes in found:
        for n in sizes:
            if n != sizes[0]:
                raise ValueError("operands could not be broadcast together: a letter of np.einsum has two sizes")
    return tuple([sizes[0] for sizes in found])


def numpy_einsum(subscripts: str, *operands: Any) -> Any:
    """Take subscripts that are constant, without an ellipsis."""
    left, *right = subscripts.replace(" ", "").split("->")
    names = left.split(",")
    every = left.replace(",", "")
    if len(names) != len(operands):
        raise ValueError("np.einsum: there are as many subscripts as operands")
    letters = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c in every]
    once = [c for c in letters if len([1 for other in every if other == c]) == 1]
    out = [c for c in right[0]] if len(right) > 0 else once  # noqa: C416
    rest = [c for c in letters if c not in out]
    kind = _common(operands)
    inner, outer = _sizes(rest, names, operands), _sizes(out, names, operands)
    result = np.zeros(outer, kind)
    for index in np.ndindex(outer):
        total = np.zeros(1, kind)[0]
        for more in np.ndindex(inner):
            term = np.ones(1, kind)[0]
            for name, a in zip(names, operands, strict=True):
                term *= a[tuple([index[out.index(c)] if c in out else more[rest.index(c)] for c in name])]
            total += term
        result[index] = total
    return result if len(out) > 0 else result[()]


def numpy_tensordot(a: Any, b: Any, axes: int = 2) -> Any:
    """Take a number of axes."""
    if axes == 0:
        return np.multiply(a.reshape((*a.shape, *[1] * b.ndim)), b)
    inner = _product(b.shape[:axes])
    product = np.reshape(a, (-1, inner)) @ np.reshape(b, (inner, -1))
    shape = (*a.shape[: a.ndim - axes], *b.shape[axes:])
    return product.reshape(shape) if len(shape) > 0 else product[0, 0]


def numpy_cov(m: Any) -> Any:
    """Take matrices whose rows are variables."""
    n = m.shape[1]
    centred = np.empty(m.shape, np.float64)
    centred[:, :] = m - np.mean(m, axis=1)[:, None]
    return centred @ centred.T / (n - 1)


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


def _triangle(a: Any) -> Any:
    """Return the sign of the order of rows, and what elimination makes of the matrix: its diagonal has the pivots."""
    n = _rows(a)
    m = np.empty(a.shape, _float(a))
    m[:, :] = a
    sign = np.ones(1, m.dtype)[0]
    for k in range(n):
        row = _pivot(m, k)
        if row != k:
            sign = -sign
            for j in range(n):
                m[k, j], m[row, j] = m[row, j], m[k, j]
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k] if m[k, k] != 0 else m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= factor * m[k, j]
    return sign, m


def numpy_linalg_det(a: Any) -> Any:
    det, m = _triangle(a)
    for k in range(m.shape[0]):
        det *= m[k, k]
    return det


def numpy_linalg_slogdet(a: Any) -> Any:
    sign, m = _triangle(a)
    log = np.abs(_zero(m))
    for k in range(m.shape[0]):
        sign *= np.sign(m[k, k])
        log += np.log(np.abs(m[k, k]))  # their product may be too large, or too small
    return sign, log


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


def numpy_linalg_cholesky(a: Any) -> Any:
    n = _rows(a)
    out = np.zeros(a.shape, _float(a))
    for j in range(n):
        rest = a[j, j] - np.sum(np.abs(out[j, :j]) ** 2)
        if not np.real(rest) > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        out[j, j] = np.sqrt(rest)
        for i in range(j + 1, n):
            total = a[i, j] * 1
            for k in range(j):
                total -= out[i, k] * np.conj(out[j, k])
            out[i, j] = total / out[j, j]
    return out


def numpy_linalg_qr(a: Any) -> Any:
    """Take real matrices, by reflections as LAPACK does."""
    m, n = a.shape
    least = min(m, n)
    r, q = np.empty(a.shape, _float(a)), np.zeros((m, m), _float(a))
    r[:, :] = a
    for k in range(m):
        q[k, k] = 1
    for k in range(min(m - 1, n)):
        below = _zero(r)
        for i in range(k + 1, m):
            below += r[i, k] * r[i, k]
        if below != 0:
            norm = np.sqrt(r[k, k] * r[k, k] + below)
            beta = -norm if r[k, k] >= 0 else norm
            v = np.zeros(m, r.dtype)
            v[k] = 1
            scale = r[k, k] - beta
            for i in range(k + 1, m):
                v[i] = r[i, k] / scale
            tau = (beta - r[k, k]) / beta
            for j in range(n):
                s = tau * np.dot(v, r[:, j])
                for i in range(k, m):
                    r[i, j] -= s * v[i]
            for j in range(m):
                s = tau * np.dot(q[j], v)
                for i in range(k, m):
                    q[j, i] -= s * v[i]
            for i in range(k + 1, m):
                r[i, k] = 0
    return np.copy(q[:, :least]), np.copy(r[:least])


def _rotate(m: Any, p: int, q: int, c: Any, s: Any) -> None:
    """Turn the columns p and q by the angle whose cosine and sine these are."""
    for k in range(m.shape[0]):
        x, y = m[k, p], m[k, q]
        m[k, p], m[k, q] = c * x - s * y, s * x + c * y


def numpy_linalg_eigh(a: Any) -> Any:
    """Take real symmetric matrices, by Jacobi's rotations; the lower triangle counts."""
    n = _rows(a)
    m, v = np.empty(a.shape, _float(a)), np.zeros(a.shape, _float(a))
    for i in range(n):
        v[i, i] = 1
        for j in range(i + 1):
            m[i, j] = a[i, j]
            m[j, i] = a[i, j]
    for _ in range(30):
        off = _zero(m)
        for i in range(n):
            for j in range(i):
                off += m[i, j] * m[i, j]
        if off == 0:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if m[p, q] != 0:
                    theta = (m[q, q] - m[p, p]) / (2 * m[p, q])
                    sign = 1 if theta >= 0 else -1
                    t = sign / (abs(theta) + np.sqrt(theta * theta + 1))
                    c = 1 / np.sqrt(t * t + 1)
                    s = t * c
                    _rotate(m, p, q, c, s)
                    _rotate(m.T, p, q, c, s)
                    _rotate(v, p, q, c, s)
                    m[p, q] = 0
                    m[q, p] = 0
    values = np.empty(n, m.dtype)
    for k in range(n):
        values[k] = m[k, k]
    order = np.argsort(values)
    vectors = np.empty(m.shape, m.dtype)
    ordered = np.empty(n, m.dtype)
    for k in range(n):
        ordered[k] = values[order[k]]
        for i in range(n):
            vectors[i, k] = v[i, order[k]]
    return ordered, vectors


def numpy_linalg_eigvalsh(a: Any) -> Any:
    return numpy_linalg_eigh(a)[0]


def numpy_linalg_multi_dot(arrays: Any) -> Any:
    first, *rest = arrays
    for a in rest:
        first = first @ a
    return first


def norm_of(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Do `np.linalg.norm(x, ord, axis, keepdims)`."""
    if isinstance(axis, tuple):
        if x.ndim != 2 or len(axis) != 2:
            raise NotImplementedError("np.linalg.norm: two axes are those of a matrix")
        return norm_of(np.transpose(x, axis), ord, None, keepdims)
    if axis is not None and x.ndim > 1:
        norms = _along(lambda line: norm_of(line, ord), x, axis)
        return np.expand_dims(norms, axis % x.ndim) if keepdims else norms
    if keepdims:
        norm = np.array((norm_of(x, ord),))
        return norm.reshape((1,) * x.ndim)
    if ord is None or (x.ndim == 2 and ord == "fro") or (x.ndim == 1 and ord == 2):
        return np.linalg.norm(x)
    if x.ndim > 2:
        raise ValueError("Improper number of dimensions to norm.")
    sizes = np.abs(x if isinstance(_zero(x), np.inexact) else x / 1)  # -128 has none in int8
    if x.ndim == 2:
        return _matrix_norm(sizes, ord)
    if ord == np.inf:
        return np.max(sizes)
    if ord == -np.inf:
        return np.min(sizes)
    if ord == 0:
        return np.sum((sizes != 0).astype(sizes.dtype))
    return np.sum(sizes) if ord == 1 else np.sum(sizes**ord) ** (1 / ord)


def _matrix_norm(sizes: Any, ord: Any) -> Any:
    """Return the norm of a matrix whose elements have these sizes."""
    if ord == 1 or ord == -1:
        sums = np.sum(sizes, axis=0)
    elif ord == np.inf or ord == -np.inf:
        sums = np.sum(sizes, axis=1)
    else:
        raise NotImplementedError("np.linalg.norm: of a matrix, ord is 1, -1, inf, -inf or 'fro'")
    return np.max(sums) if ord > 0 else np.min(sums)


def vdot_of(a: Any, b: Any) -> Any:
    """Do `np.vdot(a, b)` for arrays of several axes."""
    return np.vdot(np.ravel(a), np.ravel(b))


def cross_of(a: Any, b: Any) -> Any:
    """Do `np.cross(a, b)` for rows of three elements."""
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("np.cross takes rows of 3 elements")
    n = a.shape[0] if a.ndim == 2 else b.shape[0]
    out = np.empty((n, 3), _common((a, b)))
    for k in range(n):
        out[k] = np.cross(a[k] if a.ndim == 2 else a, b[k] if b.ndim == 2 else b)
    return out
