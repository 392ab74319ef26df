"""SHA-256 of many messages at once: the search for a number that gives a text a hash with zeros in front.

Each thread tries one number after the text, with integers of 32 bits, rotations and tables. The check is hashlib.
"""

import hashlib
import sys

import numpy as np
from gpu import cuda

PRIMES = [p for p in range(2, 312) if all(p % q for q in range(2, int(p**0.5) + 1))]


def root_bits(p, n):
    """The first 32 bits after the point of the n-th root of p (FIPS 180-4, sections 4.2.2 and 5.3.3)."""
    low, high = 0, p << 40
    while low < high:
        mid = (low + high + 1) // 2
        low, high = (mid, high) if mid**n <= p << (32 * n) else (low, mid - 1)
    return low & 0xFFFFFFFF


K = np.array([root_bits(p, 3) for p in PRIMES], np.uint32)
START = np.array([root_bits(p, 2) for p in PRIMES[:8]], np.uint32)


@cuda.jit(device=True)
def rotate(x, n):
    return (x >> np.uint32(n)) | (x << np.uint32(32 - n))


@cuda.jit(device=True)
def compress(state, w):
    """One block: w[0..16) holds the message, w[16..64) is made of it."""
    k = cuda.const.array_like(K)
    for t in range(16, 64):
        s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >> np.uint32(3))
        s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >> np.uint32(10))
        w[t] = w[t - 16] + s0 + w[t - 7] + s1
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for t in range(64):
        s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
        t1 = np.uint32(h + s1 + ((e & f) ^ (~e & g)) + k[t] + w[t])
        s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
        t2 = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + t1), c, b, a, np.uint32(t1 + t2)
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


@cuda.jit
def search(block, zeros, found, hashes):
    """Hash the text with the thread's number as word 12; keep the smallest whose hash begins with enough zeros."""
    start = cuda.const.array_like(START)
    number = cuda.grid(1)
    w = cuda.local.array(64, np.uint32)
    state = cuda.local.array(8, np.uint32)
    for t in range(16):
        w[t] = block[t]
    w[12] = number
    for t in range(8):
        state[t] = start[t]
    compress(state, w)
    if cuda.clz(state[0]) >= zeros:
        cuda.atomic.min(found, 0, number)
    if number < hashes.shape[0]:
        for t in range(8):
            hashes[number, t] = state[t]


def main():
    zeros, threads = (8, 2048) if "--small" in sys.argv else (20, 1 << 21)
    text = b"Explicit is better than implicit.".ljust(48)  # with 4 bytes of the number it fits into one block
    block = np.frombuffer(text + bytes(4) + b"\x80" + bytes(3) + (8 * 52).to_bytes(8, "big"), ">u4").astype(np.uint32)
    found = np.array([threads], np.int64)
    hashes = np.zeros((64, 8), np.uint32)
    search[threads // 256, 256](block, zeros, found, hashes)

    def digest(number):
        return hashlib.sha256(text + number.to_bytes(4, "big")).digest()

    assert all(hashes[i].astype(">u4").tobytes() == digest(i) for i in range(64))
    number = int(found[0])
    first = next(i for i in range(threads) if int.from_bytes(digest(i)[:4], "big") >> (32 - zeros) == 0)
    assert number == first
    print(f"sha256: {digest(number).hex()[:24]}... from number {number:,} of {threads:,}; equals hashlib")


if __name__ == "__main__":
    main()
