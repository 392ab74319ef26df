"""Loads and stores with a hint to the caches, and a hint that changes nothing, under Numba's names."""

from __future__ import annotations

from gpu import load, store


def ldca(array, i):
    """array[i]: kept in all caches."""
    return load(array, i, "ca")


def ldcg(array, i):
    """array[i]: in L2 alone."""
    return load(array, i, "cg")


def ldcs(array, i):
    """array[i]: used once."""
    return load(array, i, "cs")


def ldlu(array, i):
    """array[i]: the last use."""
    return load(array, i, "lu")


def ldcv(array, i):
    """array[i]: read anew each time."""
    return load(array, i, "cv")


def stcg(array, i, value):
    """array[i] = value: in L2 alone."""
    store(array, i, value, "cg")


def stcs(array, i, value):
    """array[i] = value: not read soon."""
    store(array, i, value, "cs")


def stwb(array, i, value):
    """array[i] = value: kept in all caches."""
    store(array, i, value, "wb")


def stwt(array, i, value):
    """array[i] = value: written through."""
    store(array, i, value, "wt")


def literal_unroll(container):
    """The tuple itself: loops over tuples of different types are unrolled in any case."""
    return container
