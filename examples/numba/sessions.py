"""Sessions of users in a log of page views: a new one begins with another user, or after half an hour of silence.

Each thread looks at an entry of the sorted log. Who begins a session numbers its entries until the next begins; what
the block loaded into shared memory is not read again.
"""

import sys

import numpy as np
from gpu import cuda

THREADS = 256
SILENCE = np.int64(30 * 60)


@cuda.jit
def sessionize(user, time, session):
    block_user = cuda.shared.array(THREADS, np.int64)
    block_time = cuda.shared.array(THREADS, np.int64)
    me = cuda.threadIdx.x
    i = cuda.grid(1)
    n = user.size
    if i < n:
        block_user[me] = user[i]
        block_time[me] = time[i]
    cuda.syncthreads()
    if i >= n:
        return

    if me > 0:
        before_user, before_time = block_user[me - 1], block_time[me - 1]
    elif i > 0:
        before_user, before_time = user[i - 1], time[i - 1]
    else:
        before_user, before_time = np.int64(-1), np.int64(0)
    begins = i == 0 or before_user != block_user[me] or block_time[me] - before_time > SILENCE
    if not begins:
        return

    session[i] = i
    last_time = block_time[me]
    k = i + 1
    while k < n:
        j = me + (k - i)
        if j < THREADS:
            next_user, next_time = block_user[j], block_time[j]
        else:
            next_user, next_time = user[k], time[k]
        if next_user != block_user[me] or next_time - last_time > SILENCE:
            break
        session[k] = i
        last_time = next_time
        k += 1


def log(entries):
    """Users and times in seconds, sorted by both: bursts of views, as people make them."""
    rng = np.random.default_rng(11)
    visits = entries // 12
    user = rng.integers(0, max(visits // 5, 2), visits)
    start = rng.integers(0, 30 * 24 * 3600, visits)
    visit = rng.integers(0, visits, entries)
    user, time = user[visit], start[visit] + rng.exponential(600, entries).astype(np.int64)
    order = np.lexsort((time, user))
    return user[order], time[order]


def with_numpy(user, time):
    """The index of the first entry of each entry's session."""
    begins = np.ones(user.size, bool)
    begins[1:] = (np.diff(user) != 0) | (np.diff(time) > SILENCE)
    return np.maximum.accumulate(np.where(begins, np.arange(user.size), 0))


def main():
    entries = 20_000 if "--small" in sys.argv else 2_000_000
    user, time = log(entries)
    session = cuda.device_array(entries, np.int64)
    sessionize[-(-entries // THREADS), THREADS](cuda.to_device(user), cuda.to_device(time), session)
    got = session.copy_to_host()
    assert np.array_equal(got, with_numpy(user, time))
    print(f"sessions: {np.unique(got).size:,} sessions in {entries:,} page views; equals NumPy")


if __name__ == "__main__":
    main()
