"""Dates, their differences, and strings of a fixed size."""

import gpu
import numpy as np

DAYS, MONTHS = np.dtype("M8[D]"), np.dtype("M8[M]")
NAMES, CODES = np.dtype("U5"), np.dtype("S3")


@gpu.jit
def dates_added():
    a, b = gpu.shared.array(1, DAYS), gpu.shared.array(1, DAYS)
    a[0] = a[0] + b[0]


@gpu.jit
def days_and_months():
    a, b = gpu.shared.array(1, DAYS), gpu.shared.array(1, MONTHS)
    if a[0] < b[0]:
        a[0] = b[0]


@gpu.jit
def number_as_date():
    a, b = gpu.shared.array(1, DAYS), gpu.shared.array(1, DAYS)
    a[0] = 2.5


@gpu.jit
def unit_at_run_time():
    a, b = gpu.shared.array(1, DAYS), gpu.shared.array(1, DAYS)
    a[0] = np.datetime64(b[0].astype(np.int64))


@gpu.jit
def nat_of_a_number(a, x):
    a[0] = np.isnat(x)


@gpu.jit
def bytes_to_string():
    s, t = gpu.shared.array(1, NAMES), gpu.shared.array(1, CODES)
    s[0] = b"abc"


@gpu.jit
def number_to_string():
    s, t = gpu.shared.array(1, NAMES), gpu.shared.array(1, CODES)
    s[0] = 1


@gpu.jit
def strings_added():
    s, t = gpu.shared.array(1, NAMES), gpu.shared.array(1, CODES)
    s[0] = s[0] + t[0]


# >>> message dates_added()
# TypingError: dates.py:13:12: error: + does not take (datetime64[D], datetime64[D])
#    13 |     a[0] = a[0] + b[0]
#       |            ^^^^^^^^^^^
#    help: dates are subtracted and compared; a timedelta64 is added
#    in kernel dates_added()
# <<<
# >>> message days_and_months()
# TypingError: dates.py:19:8: error: < does not take (datetime64[D], datetime64[M])
#    19 |     if a[0] < b[0]:
#       |        ^^^^^^^^^^^
#    help: years and months are no fixed number of days: x.astype('datetime64[D]') before the launch makes days
#
# dates.py:20:16: error: datetime64[D] can't hold datetime64[M]
#    20 |         a[0] = b[0]
#       |                ^^^^
#    help: years and months are no fixed number of days
#    in kernel days_and_months()
# <<<
# >>> message number_as_date()
# TypingError: dates.py:26:12: error: datetime64[D] can't hold float (weak)
#    26 |     a[0] = 2.5
#       |            ^^^
#    help: np.datetime64(...) and np.timedelta64(...) make them of constants and of integers
#    in kernel number_as_date()
# <<<
# >>> message unit_at_run_time()
# TypingError: dates.py:32:26: error: np.datetime64() does not take int64
#    32 |     a[0] = np.datetime64(b[0].astype(np.int64))
#       |                          ^^^^^^^^^^^^^^^^^^^^^
#    help: it is made of a constant, or of an integer and a unit
#    in kernel unit_at_run_time()
# <<<
# >>> message nat_of_a_number(i8[:], f8)
# TypingError: dates.py:37:12: error: np.isnat() does not take float64
#    37 |     a[0] = np.isnat(x)
#       |            ^^^^^^^^^^^
#    help: it takes a datetime64 or a timedelta64; np.isnan takes numbers
#    in kernel nat_of_a_number(array(int64, 1d, A), float64)
# <<<
# >>> message bytes_to_string()
# TypingError: dates.py:43:12: error: U5 can't hold bytes
#    43 |     s[0] = b"abc"
#       |            ^^^^^^
#    help: str goes to a string (U), bytes go to a byte string (S)
#    in kernel bytes_to_string()
# <<<
# >>> message number_to_string()
# TypingError: dates.py:49:12: error: U5 can't hold int (weak) 1
#    49 |     s[0] = 1
#       |            ^
#    help: it takes a string: a constant, or another element or field
#    in kernel number_to_string()
# <<<
# >>> message strings_added()
# TypingError: dates.py:55:12: error: + does not take (U5, S3)
#    55 |     s[0] = s[0] + t[0]
#       |            ^^^^^^^^^^^
#    help: strings of a fixed size are compared with their kind, and assigned
#    in kernel strings_added()
# <<<
