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


def ndarray_sort(a: Any, axis: int = -1, kind: Any = None) -> None:
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


def numpy_sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        flat = np.ravel(np.copy(a))
        ndarray_sort(flat)
        return flat
    b = np.copy(a)
    ndarray_sort(b, axis)
    return b


def numpy_argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if a.ndim > 1 and axis is None:
        return numpy_argsort(np.ravel(a))
    if a.ndim > 1:
        at = axis % a.ndim
        out = np.zeros(a.shape, np.int64)
        for index in np.ndindex((*a.shape[:at], *a.shape[at + 1 :])):
            line = (*index[:at], slice(None), *index[at:])
            out[line] = numpy_argsort(a[line])
        return out
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


def _along(function: Any, a: Any, axis: int) -> Any:
    """Return the numbers that the function gives for the lines along an axis."""
    at = axis % a.ndim
    out = np.zeros(
        (*a.shape[:at], *a.shape[at + 1 :]), type(function(a[tuple([0] * at)][(slice(None), *[0] * (a.ndim - 1 - at))]))
    )
    for index in np.ndindex(out.shape):
        out[index] = function(a[(*index[:at], slice(None), *index[at:])])
    return out


def numpy_median(a: Any, axis: Any = None) -> Any:
    if axis is not None and a.ndim > 1:
        return _along(numpy_median, a, axis)
    b = np.sort(np.ravel(a))
    n = len(b)
    return b[n - 1] / 1 if b[n - 1] != b[n - 1] else _middle(b, n)


def _middle(b: Any, n: Any) -> Any:
    """Return the median of the first n numbers, which are sorted."""
    return b[n // 2] / 1 if n % 2 else np.mean(np.array((b[n // 2 - 1], b[n // 2])))  # a sum of int8 has no room in it


def numpy_quantile(a: Any, q: Any, axis: Any = None) -> Any:
    if isinstance(q, (tuple, list, np.ndarray)):
        return np.array([numpy_quantile(a, np.float64(part), axis) for part in q])
    if axis is not None and a.ndim > 1:
        return _along(lambda line: numpy_quantile(line, q), a, axis)
    if not (q >= 0 and q <= 1):
        raise ValueError("Quantiles must be in the range [0, 1]")
    b = np.sort(np.ravel(a))
    last = len(b) - 1
    at = q * last
    k = int(at)
    if isinstance(q, int):
        return b[k] if b[last] == b[last] else b[last]
    low, high, part = b[k] / 1, b[min(k + 1, last)] / 1, at - k  # a difference of int8 has no room in it
    between = low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)  # from the nearer one
    return between if b[last] == b[last] else between * b[last]  # of NaN there is none


def numpy_percentile(a: Any, q: Any, axis: Any = None) -> Any:
    if isinstance(q, (tuple, list)):
        return np.array([numpy_percentile(a, np.float64(part), axis) for part in q])
    return numpy_quantile(a, q / 100, axis)


# ---- arrays put together and taken apart


def _check_shapes(a: Any, b: Any) -> None:
    """Refuse arrays whose shapes differ: a store would repeat the smaller one."""
    if a != b:
        raise ValueError(
            "all the input arrays must have the same shape, except for the axis along which they are joined"
        )


def numpy_concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis is None:
        return numpy_concatenate([np.ravel(a) for a in arrays])
    shape = arrays[0].shape
    at = axis if axis >= 0 else axis + len(shape)
    for a in arrays:
        _check_shapes((*a.shape[:at], shape[at], *a.shape[at + 1 :]), shape)
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
    for k in range(len(arrays)):
        _check_shapes(arrays[k].shape, shape)
        out[(*[slice(None)] * at, k)] = arrays[k]
    return out


def numpy_linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    kind = type(start * 1.0 + stop * 1.0)
    if dtype is not None:
        points = numpy_linspace(start, stop, num, endpoint)
        return np.floor(points).astype(dtype) if isinstance(np.zeros(1, dtype)[0], np.integer) else points.astype(dtype)
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
    return numpy_concatenate([numpy_atleast_2d(a) for a in arrays])


def numpy_hstack(arrays: Any) -> Any:
    some = [numpy_atleast_1d(a) for a in arrays]
    return numpy_concatenate(some, 0 if some[0].ndim == 1 else 1)


def numpy_append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is not None:
        return numpy_concatenate((arr, values), axis)
    more = np.ravel(values) if isinstance(values, np.ndarray) else np.array((values,))
    return numpy_concatenate((np.ravel(arr), more))


def numpy_split(ary: Any, sections: Any, axis: int = 0) -> Any:
    if axis % ary.ndim:
        return [np.swapaxes(part, 0, axis) for part in numpy_split(np.swapaxes(ary, 0, axis), sections)]
    if isinstance(sections, (tuple, list)):
        ends = [*sections, len(ary)]
        return [ary[start:end] for start, end in zip([0, *sections], ends, strict=True)]
    if len(ary) % sections:
        raise ValueError("array split does not result in an equal division")
    n = len(ary) // sections
    return [ary[k * n : (k + 1) * n] for k in range(sections)]


def numpy_array_split(ary: Any, sections: int) -> Any:
    n, more = len(ary) // sections, len(ary) % sections
    ends = [0, *[(k + 1) * n + min(k + 1, more) for k in range(sections)]]
    return [ary[ends[k] : ends[k + 1]] for k in range(sections)]


def numpy_vsplit(ary: Any, sections: Any) -> Any:
    return numpy_split(ary, sections)


def numpy_hsplit(ary: Any, sections: Any) -> Any:
    return numpy_split(ary, sections, 0 if ary.ndim == 1 else 1)


def numpy_column_stack(arrays: Any) -> Any:
    return numpy_concatenate([a.reshape((len(a), 1)) if a.ndim == 1 else a for a in arrays], 1)


def numpy_dstack(arrays: Any) -> Any:
    return numpy_concatenate([numpy_atleast_3d(a) for a in arrays], 2)


def numpy_atleast_3d(a: Any) -> Any:
    if not isinstance(a, np.ndarray):
        return np.array((((a,),),))
    if a.ndim == 1:
        return a.reshape((1, a.shape[0], 1))
    return a.reshape((*a.shape, 1)) if a.ndim == 2 else a


def numpy_broadcast_to(array: Any, shape: Any) -> Any:
    """Return a copy, where NumPy's view can't be written."""
    out = np.empty(shape, array.dtype)
    out[...] = array
    return out


def numpy_pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    """Take the modes constant, edge, wrap and reflect."""
    if isinstance(pad_width, int):
        pads = [(pad_width, pad_width)] * array.ndim
    else:
        pads = [pad_width] if isinstance(pad_width[0], int) else list(pad_width)
        pads = [(p[0], p[-1]) for p in (pads * array.ndim if len(pads) == 1 else pads)]
    out = np.empty(tuple([n + pads[k][0] + pads[k][1] for k, n in enumerate(array.shape)]), array.dtype)
    if mode == "constant":
        out[...] = constant_values
        out[tuple([slice(pads[k][0], pads[k][0] + n) for k, n in enumerate(array.shape)])] = array
        return out
    for index in np.ndindex(out.shape):
        out[index] = array[tuple([_padded(j - pads[k][0], array.shape[k], mode) for k, j in enumerate(index)])]
    return out


def _padded(k: Any, n: int, mode: str) -> Any:
    """Return the index of the element that is repeated at index k, outside of 0 ... n - 1 maybe."""
    if mode == "edge":
        return min(max(k, 0), n - 1)
    if mode == "wrap":
        return k % n
    if mode != "reflect":
        raise NotImplementedError("np.pad: modes are constant, edge, wrap and reflect")
    period = max(2 * n - 2, 1)
    return min(k % period, period - k % period)


def numpy_delete(arr: Any, obj: int, axis: Any = None) -> Any:
    if axis is None:
        return numpy_delete(np.ravel(arr), obj, 0)
    at, n = axis % arr.ndim, arr.shape[axis]
    if obj < -n or obj >= n:
        raise IndexError(f"index {obj} is out of bounds for axis {at} with size {n}")
    k = obj % n
    out = np.empty((*arr.shape[:at], n - 1, *arr.shape[at + 1 :]), arr.dtype)
    rows, source = np.swapaxes(out, 0, at), np.swapaxes(arr, 0, at)
    for j in range(n - 1):
        rows[j] = source[j if j < k else j + 1]
    return out


def numpy_insert(arr: Any, obj: int, values: Any) -> Any:
    """Take arrays of one axis, and one number."""
    n = len(arr)
    if obj < -n or obj > n:
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {n}")
    k = obj if obj >= 0 else obj + n
    out = np.empty(n + 1, arr.dtype)
    for j in range(n + 1):
        if j == k:
            out[j] = values
        else:
            out[j] = arr[j if j < k else j - 1]
    return out


def numpy_tile(a: Any, reps: Any) -> Any:
    if isinstance(reps, tuple):
        ndim = max(a.ndim, len(reps))
        times = (*[1] * (ndim - len(reps)), *reps)
        out = a.reshape((*[1] * (ndim - a.ndim), *a.shape))
        for k in range(ndim):
            out = numpy_concatenate([out] * times[k], k)
        return out
    return numpy_concatenate([a] * reps, a.ndim - 1)


def numpy_repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, (tuple, list)):
        which = tuple([k for k, times in enumerate(repeats) for _ in range(times)])
        return numpy_take(a, which, axis)
    if axis is not None and a.ndim > 1:
        return numpy_take(a, tuple([k // repeats for k in range(a.shape[axis] * repeats)]), axis)
    b = np.ravel(a)
    out = np.empty(len(b) * repeats, a.dtype)
    for k in range(len(b) * repeats):
        out[k] = b[k // repeats]
    return out


def numpy_take(a: Any, indices: Any, axis: Any = None) -> Any:
    """Take arrays `a` of any length."""
    if axis is not None and a.ndim > 1:
        at = axis % a.ndim
        if isinstance(indices, (int, np.integer)):
            return np.copy(a[(*[slice(None)] * at, indices)])
        return a[(*[slice(None)] * at, indices if isinstance(indices, np.ndarray) else np.array(indices))]
    flat = a.reshape(-1) if a.ndim > 1 else a
    if isinstance(indices, (int, np.integer)):
        return flat[indices]
    if isinstance(indices, np.ndarray) and indices.ndim > 1:
        return numpy_take(flat, np.ravel(indices)).reshape(indices.shape)
    out = np.empty(len(indices), a.dtype)
    for k in range(len(indices)):
        out[k] = flat[indices[k]]
    return out


def numpy_expand_dims(a: Any, axis: int) -> Any:
    at = axis if axis >= 0 else axis + a.ndim + 1
    return a.reshape((*a.shape[:at], 1, *a.shape[at:]))


def numpy_squeeze(a: Any, axis: Any = None) -> Any:
    if axis is not None:
        if a.shape[axis] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return a.reshape(tuple([n for k, n in enumerate(a.shape) if k != axis % a.ndim]))
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
        return m[(slice(None, None, -1),) * m.ndim]
    axes = [k % m.ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
    return m[tuple([slice(None, None, -1 if k in axes else None) for k in range(m.ndim)])]


def numpy_flipud(m: Any) -> Any:
    """Take arrays of any length."""
    return m[::-1]


def numpy_fliplr(m: Any) -> Any:
    """Take arrays of any length."""
    return m[:, ::-1]


def numpy_rot90(m: Any, k: int = 1) -> Any:
    """Take arrays of any length."""
    if m.ndim < 2:
        raise ValueError("np.rot90 turns arrays of two axes or more")
    if k % 4 == 0:
        return m[:]
    if k % 4 == 1:
        return np.swapaxes(m, 0, 1)[::-1]
    return m[::-1, ::-1] if k % 4 == 2 else np.swapaxes(m, 0, 1)[:, ::-1]


def numpy_roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if isinstance(axis, tuple):
        moved = a
        for k in range(len(axis)):
            moved = numpy_roll(moved, shift[k] if isinstance(shift, tuple) else shift, axis[k])
        return moved
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


def numpy_rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    at = axis % a.ndim
    return numpy_moveaxis(a, at, start - 1 if at < start else start)


def numpy_ediff1d(ary: Any) -> Any:
    return numpy_diff(np.ravel(ary))


def numpy_gradient(f: Any, h: Any = 1.0) -> Any:
    """Take arrays of one axis."""
    n = len(f)
    if n < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    y, out = np.empty(n, _float(f)), np.empty(n, _float(f))
    y[:] = f
    for k in range(1, n - 1):
        out[k] = (y[k + 1] - y[k - 1]) / (2.0 * h)
    out[0] = (y[1] - y[0]) / h
    out[n - 1] = (y[n - 1] - y[n - 2]) / h
    return out


def numpy_diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    if a.ndim > 1 and axis % a.ndim != a.ndim - 1:
        return np.copy(np.swapaxes(numpy_diff(np.copy(np.swapaxes(a, axis, -1)), n), axis, -1))
    if n < 0:
        raise ValueError("np.diff: the order must not be negative")
    rest = np.moveaxis(np.copy(a), -1, 0)
    last = len(rest)
    for step in range(1, n + 1):
        for k in range(last - step):
            rest[k] = rest[k + 1] != rest[k] if isinstance(_zero(a), np.bool_) else rest[k + 1] - rest[k]
    return np.copy(np.moveaxis(rest[: max(last - n, 0)], 0, -1))


def ndarray_clip(a: Any, min: Any = None, max: Any = None) -> Any:
    return np.clip(a, min, max)


def numpy_ix_(*args: Any) -> Any:
    n = len(args)
    return tuple(_along_axis(x, k, n) for k, x in enumerate(args))


def _along_axis(x: Any, at: int, ndim: int) -> Any:
    """Return a sequence as an array of so many axes, along one of them."""
    return np.array(x).reshape((1,) * at + (-1,) + (1,) * (ndim - 1 - at))


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


def numpy_average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        if weights is None:
            return np.mean(a, axis)
        return _along(lambda line: numpy_average(line, None, weights), a, axis)
    if weights is None:
        return np.mean(a)
    if not isinstance(weights, np.ndarray):
        return numpy_average(a, None, np.array(weights))
    if a.shape != weights.shape:
        raise ValueError("np.average: weights are as many as the elements, or as those along an axis that is given")
    if a.ndim > 1:
        return numpy_average(np.ravel(a), None, np.ravel(weights))
    total, scale = _zero(a) / 1 * _zero(weights), _zero(a) / 1 * _zero(weights)
    for k in range(len(a)):
        total += a[k] / 1 * weights[k]
        scale += weights[k]
    if scale == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total / scale


def numpy_polyval(p: Any, x: Any) -> Any:
    """Take arrays of any length."""
    at = x if isinstance(x, np.ndarray) else np.array((x,))[0]  # a number of Python's has its own type there
    y = 0 * at + 0 * p[0]
    for k in range(len(p)):
        y = y * at + p[k]
    return y


def numpy_trapezoid(y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    """Take arrays of any length, and small ones of several axes."""
    if y.ndim > 1:
        out = np.zeros(y.shape[:-1], type(_zero(y) / 1))
        for index in np.ndindex(out.shape):
            out[index] = numpy_trapezoid(y[index], x if x is None or x.ndim == 1 else x[index], dx)
        return out
    total = _zero(y) * 0.5
    for k in range(1, len(y)):
        step = dx if x is None else x[k] - x[k - 1]
        total += step * (y[k] + y[k - 1]) / 2.0
    return total


def numpy_nansum(a: Any, axis: Any = None) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        return _along(numpy_nansum, a, axis)
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


def numpy_nanmean(a: Any, axis: Any = None) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        return _along(numpy_nanmean, a, axis)
    total, count = _zero(a) / 1, 0
    for x in np.ravel(a):
        if x == x:
            total += x
            count += 1
    return total / count


def numpy_nanmax(a: Any, axis: Any = None) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        return _along(numpy_nanmax, a, axis)
    flat = np.ravel(a)
    most = flat[0]
    for x in flat:
        most = x if x > most or most != most else most
    return most


def numpy_nanmin(a: Any, axis: Any = None) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        return _along(numpy_nanmin, a, axis)
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


def numpy_nanvar(a: Any, axis: Any = None, ddof: int = 0) -> Any:
    """Take arrays of any length."""
    if axis is not None and a.ndim > 1:
        return _along(lambda line: numpy_nanvar(line, None, ddof), a, axis)
    if not isinstance(_zero(a), np.inexact):
        return np.var(a, ddof=ddof)
    mean = numpy_nanmean(a)
    total, count = np.abs(_zero(a)), 0
    for x in np.ravel(a):
        if x == x:
            total += np.real((x - mean) * np.conj(x - mean))
            count += 1
    return (total if count > ddof else total * 0) / max(count - ddof, 0)


def numpy_nanstd(a: Any, axis: Any = None, ddof: int = 0) -> Any:
    """Take arrays of any length."""
    return np.sqrt(numpy_nanvar(a, axis, ddof))


def numpy_nanargmax(a: Any) -> Any:
    """Take arrays of any length."""
    flat = np.ravel(a)
    at = np.int64(-1)
    for k in range(len(flat)):
        if flat[k] == flat[k] and (at < 0 or flat[k] > flat[at]):
            at = np.int64(k)
    if at < 0:
        raise ValueError("All-NaN slice encountered")
    return at


def numpy_nanargmin(a: Any) -> Any:
    """Take arrays of any length."""
    flat = np.ravel(a)
    at = np.int64(-1)
    for k in range(len(flat)):
        if flat[k] == flat[k] and (at < 0 or flat[k] < flat[at]):
            at = np.int64(k)
    if at < 0:
        raise ValueError("All-NaN slice encountered")
    return at


def numpy_bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Take values below `minlength`, and arrays `x` of any length."""
    out = np.zeros(minlength, np.int64 if weights is None else np.float64)
    for k in range(len(x)):
        if x[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        if x[k] >= minlength:
            raise ValueError(
                "np.bincount: a value isn't below minlength, which in a kernel is the length of the result"
            )
        out[x[k]] += 1 if weights is None else weights[k]
    return out


def numpy_histogram(a: Any, bins: Any = 10, range: Any = None) -> Any:
    """Take arrays `a` of any length, and either edges or a number of bins with the range."""
    if isinstance(bins, int):
        if range is None:
            raise NotImplementedError("np.histogram: name the range, range=(low, high)")
        edges = numpy_linspace(np.float64(range[0]), np.float64(range[1]), bins + 1).astype(_float(a))
        return _counts(a, edges), edges
    edges = np.array(bins)
    return _counts(a, edges), edges


def _counts(a: Any, edges: Any) -> Any:
    n = len(edges) - 1
    counts = np.zeros(n, np.int64)
    for x in np.ravel(a):
        if x >= edges[0] and x <= edges[n]:
            counts[min(numpy_searchsorted(edges, x, "right") - 1, n - 1)] += 1
    return counts


def numpy_logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0) -> Any:
    return np.power(base, numpy_linspace(start, stop, num, endpoint))


def numpy_meshgrid(*xi: Any, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    places = [1 - k if indexing == "xy" and n > 1 and k < 2 else k for k in range(n)]
    shape = tuple([len(xi[places[k]]) for k in range(n)])
    return tuple([_spread(xi[k], shape, places[k]) for k in range(n)])


def _spread(x: Any, shape: Any, at: int) -> Any:
    """Return the array of a shape whose elements are those of x along one axis."""
    out = np.empty(shape, x.dtype)
    out[...] = x.reshape((*[1] * at, len(x), *[1] * (len(shape) - 1 - at)))
    return out


def numpy_indices(dimensions: Any) -> Any:
    out = np.empty((len(dimensions), *dimensions), np.int64)
    for index in np.ndindex(dimensions):
        for k in range(len(dimensions)):
            out[(k, *index)] = index[k]
    return out


def numpy_unravel_index(indices: Any, shape: Any) -> Any:
    """Take one index."""
    rest, out = np.int64(indices), ()
    for k in range(len(shape)):
        size = shape[len(shape) - 1 - k]
        out = (rest % size, *out)
        rest = rest // size
    if rest != 0:
        raise ValueError("index is out of bounds for array")
    return out


def numpy_ravel_multi_index(multi_index: Any, dims: Any) -> Any:
    """Take one index for each axis."""
    total = np.int64(0)
    for k in range(len(dims)):
        if multi_index[k] < 0 or multi_index[k] >= dims[k]:
            raise ValueError("invalid entry in coordinates array")
        total = total * dims[k] + multi_index[k]
    return total


def numpy_apply_along_axis(func1d: Any, axis: int, arr: Any) -> Any:
    """Take functions that give a number."""
    return _along(func1d, arr, axis)


def ndarray_item(a: Any, *index: Any) -> Any:
    """Take arrays of any length."""
    if len(index) == 0:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return a[(0,) * a.ndim].item()
    if len(index) == 1 and a.ndim > 1:
        return a[np.unravel_index(index[0], a.shape)].item()
    return a[tuple(index)].item()


def running_sums(a: Any, axis: Any) -> Any:
    return _running(a, axis, np.cumsum)


def running_products(a: Any, axis: Any) -> Any:
    return _running(a, axis, np.cumprod)


def _running(a: Any, axis: Any, function: Any) -> Any:
    """Return the running sums or products along an axis of an array of several axes."""
    if axis is None:
        return function(np.ravel(a))
    at = axis % a.ndim
    out = np.empty(a.shape, function(np.zeros(1, a.dtype)).dtype)
    for index in np.ndindex((*a.shape[:at], *a.shape[at + 1 :])):
        line = (*index[:at], slice(None), *index[at:])
        out[line] = function(a[line])
    return out


def numpy_nanmedian(a: Any) -> Any:
    flat = np.sort(np.ravel(a))
    n = 0
    for x in flat:
        n += x == x
    return flat[0] / 1 if n == 0 else _middle(flat, n)
