"""Random numbers inside kernels, with the same streams on every device.

``xoroshiro128p_*``: the names, arguments and streams of ``numba.cuda.random``. A state for each thread lies in an
array that the host makes; the functions advance it.

``philox_*``: Philox 4x32-10, which has no state: the numbers follow from a seed, the number of a subsequence (such as
the thread's) and an offset in it.

Every function without ``states`` in its name is a device function, for kernels of both dialects.
"""

from __future__ import annotations

import math

from ._dtypes import float32, float64, uint32, uint64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    xoroshiro128p_dtype: Any
    xoroshiro128p_type: Any


__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_state",
    "init_xoroshiro128p_states",
    "philox4x32",
    "philox_normal_float32",
    "philox_normal_float64",
    "philox_uniform_float32",
    "philox_uniform_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

_TWO_PI = 2 * math.pi
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the polynomial of 2**64 steps
_WORD = 2**64 - 1


# ---- xoroshiro128+ in kernels


def _rotl(x: Any, k: Any) -> Any:
    return (x << uint32(k)) | (x >> uint32(64 - k))


def _get(states: Any, index: Any) -> Any:
    if states.ndim == 2:
        return states[index, 0], states[index, 1]
    return states[index]["s0"], states[index]["s1"]


def _set(states: Any, index: Any, s0: Any, s1: Any) -> None:
    if states.ndim == 2:
        states[index, 0] = s0
        states[index, 1] = s1
    else:
        states[index]["s0"] = s0
        states[index]["s1"] = s1


def init_xoroshiro128p_state(states: Any, index: Any, seed: Any) -> None:
    """Seed one state in a kernel; `init_xoroshiro128p_states` seeds them so that streams lie apart.

    Parameters
    ----------
    states : array of `xoroshiro128p_dtype`, shape (n,), or of uint64, shape (n, 2)
    index : int
        Which one.
    seed : int
        Its low 64 bits count.
    """
    z = uint64(seed) + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint32(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint32(27))) * uint64(0x94D049BB133111EB)
    z = z ^ (z >> uint32(31))
    _set(states, index, z, z)


def xoroshiro128p_jump(states: Any, index: Any) -> None:
    """Advance a state by 2**64 steps.

    Parameters
    ----------
    states : array of `xoroshiro128p_dtype`, shape (n,), or of uint64, shape (n, 2)
    index : int
        Which one.
    """
    s0 = uint64(0)
    s1 = uint64(0)
    for word in _JUMP:
        for bit in range(64):
            if (uint64(word) >> uint32(bit)) & uint64(1):
                a, b = _get(states, index)
                s0 ^= a
                s1 ^= b
            xoroshiro128p_next(states, index)
    _set(states, index, s0, s1)


def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """The next 64 random bits of a state.

    Parameters
    ----------
    states : array of `xoroshiro128p_dtype`, shape (n,), or of uint64, shape (n, 2)
        From `create_xoroshiro128p_states`; number `index` is advanced.
    index : int

    Returns
    -------
    uint64
    """
    s0, s1 = _get(states, index)
    result = s0 + s1
    s1 = s1 ^ s0
    _set(states, index, _rotl(s0, 55) ^ s1 ^ (s1 << uint32(14)), _rotl(s1, 36))
    return result


def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A float64 in [0, 1), from the upper 53 bits of `xoroshiro128p_next`."""
    return float64(xoroshiro128p_next(states, index) >> uint32(11)) * float64(2.0**-53)


def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """`xoroshiro128p_uniform_float64` rounded to float32, as Numba has it: it can be 1."""
    return float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A normal float32 of mean 0 and deviation 1 by Box and Muller's method; it takes two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float32(-2.0) * math.log(u1)) * math.cos(float32(_TWO_PI) * u2)


def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """A normal float64 made of two uniform float32, as Numba has it."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float64(-2.0) * float64(math.log(u1))) * math.cos(float64(_TWO_PI) * float64(u2))


# ---- Philox in kernels


def philox4x32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Four random words.

    Parameters
    ----------
    seed, subsequence, offset : int
        64 bits each. ``curand4`` of cuRAND gives the same after ``curand_init(seed, subsequence, 4 * offset)``.

    Returns
    -------
    tuple of four uint32
    """
    key0, key1 = uint32(seed), uint32(uint64(seed) >> uint32(32))
    c0, c1 = uint32(offset), uint32(uint64(offset) >> uint32(32))
    c2, c3 = uint32(subsequence), uint32(uint64(subsequence) >> uint32(32))
    for _ in range(10):
        first = uint64(c0) * uint64(0xD2511F53)
        second = uint64(c2) * uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            uint32(second >> uint32(32)) ^ c1 ^ key0,
            uint32(second),
            uint32(first >> uint32(32)) ^ c3 ^ key1,
            uint32(first),
        )
        key0 = uint32(uint64(key0) + uint64(0x9E3779B9))
        key1 = uint32(uint64(key1) + uint64(0xBB67AE85))
    return c0, c1, c2, c3


def _unit_float32(word: Any) -> Any:
    return float32(word >> uint32(8)) * float32(2.0**-24)


def _unit_float64(low: Any, high: Any) -> Any:
    return float64(((uint64(high) << uint32(32)) | uint64(low)) >> uint32(11)) * float64(2.0**-53)


def philox_uniform_float32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Four float32 in [0, 1), as a tuple."""
    a, b, c, d = philox4x32(seed, subsequence, offset)
    return _unit_float32(a), _unit_float32(b), _unit_float32(c), _unit_float32(d)


def philox_uniform_float64(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Two float64 in [0, 1), as a tuple."""
    a, b, c, d = philox4x32(seed, subsequence, offset)
    return _unit_float64(a, b), _unit_float64(c, d)


def philox_normal_float32(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Four normal float32 of mean 0 and deviation 1, as a tuple."""
    a, b, c, d = philox_uniform_float32(seed, subsequence, offset)
    one, turn = float32(1.0), float32(_TWO_PI)
    near = math.sqrt(float32(-2.0) * math.log(one - a))
    far = math.sqrt(float32(-2.0) * math.log(one - c))
    return near * math.cos(turn * b), near * math.sin(turn * b), far * math.cos(turn * d), far * math.sin(turn * d)


def philox_normal_float64(seed: Any, subsequence: Any, offset: Any) -> Any:
    """Two normal float64 of mean 0 and deviation 1, as a tuple."""
    a, b = philox_uniform_float64(seed, subsequence, offset)
    radius = math.sqrt(float64(-2.0) * math.log(float64(1.0) - a))
    return radius * math.cos(float64(_TWO_PI) * b), radius * math.sin(float64(_TWO_PI) * b)


# ---- states on the host


def _first_state(seed: int) -> int:
    """SplitMix64 of the seed, in both words, so that small seeds don't begin alike."""
    z = (seed + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def _jump(states: Any) -> Any:
    """States (n, 2) after 2**64 steps each."""
    import numpy as np

    s0, s1 = states[:, 0].copy(), states[:, 1].copy()
    a0, a1 = np.zeros_like(s0), np.zeros_like(s1)
    for bit in range(128):
        if _JUMP[bit // 64] >> bit % 64 & 1:
            a0 ^= s0
            a1 ^= s1
        t = s0 ^ s1
        s0 = (s0 << np.uint64(55) | s0 >> np.uint64(9)) ^ t ^ (t << np.uint64(14))
        s1 = t << np.uint64(36) | t >> np.uint64(28)
    return np.stack([a0, a1], 1)


def _apply(columns: Any, states: Any) -> Any:
    """A linear map of 128 bits, given by what becomes of each bit, on states (n, 2)."""
    import numpy as np

    result = np.zeros_like(states)
    for bit in range(128):
        is_set = (states[:, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1)
        result ^= (np.uint64(0) - is_set)[:, None] & columns[bit]
    return result


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = None) -> None:
    """Fill an array with states that are 2**64 steps apart.

    Parameters
    ----------
    states : array of `xoroshiro128p_dtype`, shape (n,), or of uint64, shape (n, 2)
        On any device.
    seed : int
        Its low 64 bits count.
    subsequence_start : int
        So many times 2**64 steps come before the first state.
    stream : stream, optional
        In which they are copied to the device.
    """
    import numpy as np

    n = states.shape[0]
    columns = np.zeros((128, 2), np.uint64)
    for bit in range(128):
        columns[bit, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    columns = _jump(columns)
    word = _first_state(int(seed) & _WORD)
    found = np.array([[word, word]], np.uint64)
    power, left = columns, int(subsequence_start)
    while left:  # by the powers of two in it
        if left & 1:
            found = _apply(power, found)
        power, left = _apply(power, power), left >> 1
    while len(found) < n:  # the second half is the first one, moved on by its length
        found = np.concatenate([found, _apply(columns, found)])
        columns = _apply(columns, columns)
    found = np.ascontiguousarray(found[:n])
    if states.dtype.names is not None:
        found = found.view(states.dtype)[:, 0]
    if isinstance(states, np.ndarray):
        states[...] = found
    else:
        states.copy_to_device(found, stream)


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = None) -> Any:
    """States for n threads, on the current device.

    Parameters
    ----------
    n : int
    seed, subsequence_start, stream
        As for `init_xoroshiro128p_states`.

    Returns
    -------
    Array
        Of `xoroshiro128p_dtype`, records of two uint64 ``s0`` and ``s1``, shape (n,).
    """
    import numpy as np

    from ._array import to_device

    states = np.empty(n, __getattr__("xoroshiro128p_dtype"))
    init_xoroshiro128p_states(states, seed, subsequence_start)
    return to_device(states, stream)


def __getattr__(name: str) -> Any:
    if name not in ("xoroshiro128p_dtype", "xoroshiro128p_type"):
        from .cuda._refused import refusal

        raise refusal("random", name)
    import numpy as np

    dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
    if name == "xoroshiro128p_dtype":
        return dtype
    from .cuda import from_dtype

    return from_dtype(dtype)
