"""Functions of `itertools` and `operator` on tuples and what has a known length, written for kernels.

`frontend/devfn.def` names them. What they give is a tuple, made when compiling.
"""

from __future__ import annotations

import operator
from typing import Any


def itertools_chain(*iterables: Any) -> Any:
    result = ()
    for items in iterables:
        result = result + tuple(items)
    return result


def itertools_repeat(object: Any, times: int) -> Any:
    return (object,) * times


def itertools_count(start: Any = 0, step: Any = 1) -> Any:
    return range(start, 2**62, step) if step > 0 else range(start, -(2**62), step)


def itertools_pairwise(iterable: Any) -> Any:
    t = tuple(iterable)
    return [(t[k], t[k + 1]) for k in range(len(t) - 1)]


def itertools_accumulate(iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    t = tuple(iterable) if initial is None else (initial, *iterable)
    result = t[:1]
    for k in range(1, len(t)):
        result = (*result, func(result[-1], t[k]))
    return result


def itertools_product(*iterables: Any, repeat: int = 1) -> Any:
    result = [()]
    for items in iterables * repeat:
        result = [(*x, y) for x in result for y in tuple(items)]
    return result


def _combinations(t: Any, r: int, again: int) -> Any:
    if r == 0:
        return [()]
    if len(t) == 0:
        return []
    return [(t[0], *c) for c in _combinations(t[1 - again :], r - 1, again)] + _combinations(t[1:], r, again)


def itertools_combinations(iterable: Any, r: int) -> Any:
    return _combinations(tuple(iterable), r, 0)


def itertools_combinations_with_replacement(iterable: Any, r: int) -> Any:
    return _combinations(tuple(iterable), r, 1)


def _permutations(t: Any, r: int) -> Any:
    if r == 0:
        return [()]
    return [(t[k], *rest) for k in range(len(t)) for rest in _permutations(t[:k] + t[k + 1 :], r - 1)]


def itertools_permutations(iterable: Any, r: Any = None) -> Any:
    t = tuple(iterable)
    return _permutations(t, len(t) if r is None else r)


def itertools_islice(iterable: Any, *bounds: Any) -> Any:
    return tuple(iterable)[slice(*bounds)]


def itertools_starmap(function: Any, iterable: Any) -> Any:
    return [function(*args) for args in tuple(iterable)]


def itertools_compress(data: Any, selectors: Any) -> Any:
    t, keep = tuple(data), tuple(selectors)
    return [t[k] for k in range(min(len(t), len(keep))) if keep[k]]


def _item(row: Any, k: int, fillvalue: Any) -> Any:
    return row[k] if k < len(row) else fillvalue


def itertools_zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    rows = [tuple(items) for items in iterables]
    longest = max([len(row) for row in rows])
    result = ()
    for k in range(longest):
        result = (*result, tuple([_item(row, k, fillvalue) for row in rows]))
    return result


def operator_concat(a: Any, b: Any) -> Any:
    return a + b


def operator_countOf(a: Any, b: Any) -> Any:
    count = 0
    for x in a:
        count += 1 if x == b else 0
    return count


def operator_methodcaller(name: str, *args: Any, **kwargs: Any) -> Any:
    return lambda object: getattr(object, name)(*args, **kwargs)


def range_index(r: Any, x: Any) -> Any:
    if x not in r:
        raise ValueError("the number is not in range")
    return (x - r.start) // r.step


def range_count(r: Any, x: Any) -> Any:
    return 1 if x in r else 0


# Lists that change. They are passed as they are, and changed in place.


def list_insert(xs: Any, index: int, item: Any) -> None:
    n = len(xs)
    at = min(max(index + n, 0), n) if index < 0 else min(index, n)
    xs.append(item)
    k = n
    while k > at:
        xs[k] = xs[k - 1]
        k -= 1
    xs[at] = item


def list_pop(xs: Any, index: int) -> Any:
    item = xs[index]
    for k in range(index + len(xs) if index < 0 else index, len(xs) - 1):
        xs[k] = xs[k + 1]
    xs.pop()
    return item


def list_extend(xs: Any, iterable: Any) -> None:
    for k in range(len(iterable)):
        xs.append(iterable[k])


def list_repeat(xs: Any, times: int) -> None:
    n = len(xs)
    for _ in range(n - n * max(times, 0)):
        xs.pop()
    for k in range(n * max(times, 0) - n):
        xs.append(xs[k])


def list_joined(xs: Any, ys: Any) -> Any:
    joined = list_copy(xs)
    list_extend(joined, ys)
    return joined


def list_times(xs: Any, times: int) -> Any:
    repeated = list_copy(xs)
    list_repeat(repeated, times)
    return repeated


def list_slice(xs: Any, start: Any, stop: Any, step: Any) -> Any:
    part = []
    for k in range(len(xs))[start:stop:step]:
        part.append(xs[k])
    return part


def list_delete_slice(xs: Any, start: Any, stop: Any, step: Any) -> None:
    n = len(xs)
    gone = range(n)[start:stop:step]
    kept = 0
    for k in range(n):
        if k not in gone:
            xs[kept] = xs[k]
            kept += 1
    for _ in range(n - kept):
        xs.pop()


def list_set_slice(xs: Any, start: Any, stop: Any, step: Any, values: Any) -> None:
    items = list_copy(values)
    at = range(len(xs))[start:stop:step]
    if step is not None and step != 1:
        if len(items) != len(at):
            raise ValueError(f"attempt to assign sequence of size {len(items)} to extended slice of size {len(at)}")
        for k in range(len(items)):
            xs[at[k]] = items[k]
        return
    first, more = at.start, len(items) - len(at)
    for k in range(more):
        xs.append(items[k])
    if more > 0:
        for k in range(len(xs) - 1, first + len(items) - 1, -1):
            xs[k] = xs[k - more]
    for k in range(first + len(items), len(xs) + more if more < 0 else 0):
        xs[k] = xs[k - more]
    for _ in range(-more):
        xs.pop()
    for k in range(len(items)):
        xs[first + k] = items[k]


def list_equal(xs: Any, ys: Any) -> bool:
    if len(xs) != len(ys):
        return False
    if len(xs) == 0 or len(ys) == 0:
        return True
    return all(xs[k] == ys[k] for k in range(len(xs)))


def list_less(xs: Any, ys: Any) -> bool:
    for k in range(min(len(xs), len(ys))):
        if xs[k] != ys[k]:
            return xs[k] < ys[k]
    return len(xs) < len(ys)


def list_less_or_equal(xs: Any, ys: Any) -> bool:
    for k in range(min(len(xs), len(ys))):
        if xs[k] != ys[k]:
            return xs[k] < ys[k]
    return len(xs) <= len(ys)


def list_remove(xs: Any, item: Any) -> None:
    list_pop(xs, list_index(xs, item))


def list_clear(xs: Any) -> None:
    while len(xs) > 0:
        xs.pop()


def list_reverse(xs: Any) -> None:
    k, last = 0, len(xs) - 1
    while k < last:
        xs[k], xs[last] = xs[last], xs[k]
        k += 1
        last -= 1


def list_sort(xs: Any, *, key: Any = None, reverse: bool = False) -> None:
    for k in range(1, len(xs)):
        item = xs[k]
        at = k
        if key is None:
            while at > 0 and (xs[at - 1] < item if reverse else item < xs[at - 1]):
                xs[at] = xs[at - 1]
                at -= 1
        else:
            rank = key(item)
            while at > 0 and (key(xs[at - 1]) < rank if reverse else rank < key(xs[at - 1])):
                xs[at] = xs[at - 1]
                at -= 1
        xs[at] = item


def list_index(xs: Any, item: Any) -> int:
    for k in range(len(xs)):
        if xs[k] == item:
            return k
    raise ValueError("the item is not in the list")


def list_count(xs: Any, item: Any) -> int:
    n = 0
    for k in range(len(xs)):
        if xs[k] == item:
            n += 1
    return n


def list_copy(xs: Any) -> Any:
    copy = []
    for k in range(len(xs)):
        copy.append(xs[k])
    return copy


def list_sorted(xs: Any, *, key: Any = None, reverse: bool = False) -> Any:
    copy = list_copy(xs)
    list_sort(copy, key=key, reverse=reverse)
    return copy


def list_sum(xs: Any, start: Any = 0) -> Any:
    total = start
    for k in range(len(xs)):
        total += xs[k]
    return total


def list_contains(xs: Any, item: Any) -> bool:
    return any(xs[k] == item for k in range(len(xs)))


def list_min(xs: Any) -> Any:
    if len(xs) == 0:
        raise ValueError("min() iterable argument is empty")
    least = xs[0]
    for k in range(1, len(xs)):
        least = min(least, xs[k])
    return least


def list_max(xs: Any) -> Any:
    if len(xs) == 0:
        raise ValueError("max() iterable argument is empty")
    most = xs[0]
    for k in range(1, len(xs)):
        most = max(most, xs[k])
    return most


def list_any(xs: Any) -> bool:
    return any(xs[k] for k in range(len(xs)))


def list_all(xs: Any) -> bool:
    return all(xs[k] for k in range(len(xs)))
