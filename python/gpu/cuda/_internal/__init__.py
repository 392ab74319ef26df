"""``numba.cuda._internal``, which programs import floating point numbers of 8 bits from."""
