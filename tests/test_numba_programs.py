"""``cuda.vectorize``, ``cuda.guvectorize`` and ``cuda.Reduce``: Numba's types, options and array classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gpu import cuda
from gpu.cuda import float32, float64, int32


@pytest.fixture(params=["cpu", "emulated"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    import gpu

    with gpu.device(request.param):
        yield request.param


@cuda.vectorize([int32(int32, int32), float32(float32, float32), float64(float64, float64)])
def add(a: Any, b: Any) -> Any:
    return a + b


def test_signatures() -> None:
    for dtype in ("i4", "f4", "f8"):
        x = np.arange(5, dtype=dtype)
        assert add(x, x).dtype == dtype  # int32 + int32 is int64 inside, and the signature says int32
        assert add(x, 1).dtype == dtype
        np.testing.assert_array_equal(add(x, x[::-1]), x + x[::-1])
    assert add(1.2, 2.3) == 1.2 + 2.3
    halves = cuda.vectorize([float32(float32)])(lambda x: x / 2)
    assert halves(3) == 1.5  # one signature takes any scalar
    with pytest.raises(TypeError, match="no signature takes"):
        halves(np.ones(2))


def test_arrays_of_the_device_stay_there() -> None:
    x = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    stream = cuda.stream()
    found = add(x, x, stream=stream)
    assert isinstance(found, cuda.DeviceNDArray)
    np.testing.assert_array_equal(found.copy_to_host(stream=stream), np.arange(12).reshape(3, 4) * 2)
    assert add(x, x, out=x) is x
    assert add.reduce(cuda.to_device(np.arange(100, dtype=np.int32))) == 4950


def test_functions_of_numpy_take_device_arrays() -> None:
    x = cuda.to_device(np.arange(4.0))
    assert np.linalg.norm(x) == np.linalg.norm(np.arange(4.0))  # of a copy on the host
    assert np.sum(x) == 6 and np.median([x, x]) == 1.5


def test_options() -> None:
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize("f8(f8)", nopython=True)
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize("f8(f8)", target="cuda", nonexistent=2)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(n)->(n)", nopython=False)
    with pytest.raises(TypeError, match="target options are not supported: 'what'"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(n)->(n)", what=1)


def test_guvectorize() -> None:
    @cuda.guvectorize(["void(int32, int32[:], int32[:])"], "(),(t)->(t)", target="cuda")
    def scale(a: Any, b: Any, out: Any) -> None:
        for i in range(b.size):
            out[i] = a * b[i]

    b = np.arange(10, dtype=np.int32).reshape(2, 5)
    np.testing.assert_array_equal(scale(np.int64(2), b), 2 * b)
    found = scale(2, cuda.to_device(b))
    assert isinstance(found, cuda.DeviceNDArray)
    np.testing.assert_array_equal(found.copy_to_host(), 2 * b)
    with pytest.raises(TypeError, match=r"argument 1 is int64, and the signature says int32.*does not support .astype"):
        scale(cuda.to_device(np.array(2)), b)


def test_reduce() -> None:
    x = np.arange(1, 3001, dtype=np.float64)
    total = cuda.reduce(lambda a, b: a + b)
    assert total(x) == x.sum() and total(x, init=3) == x.sum() + 3 and total(x[:0]) == 0 and total(x, size=10) == 55
    assert cuda.Reduce(lambda a, b: max(a, b))(cuda.to_device(x)) == 3000
    result = cuda.to_device(np.zeros(1))
    assert total(cuda.to_device(x), res=result) is None
    assert result[0] == x.sum()
    assert total(x.astype(np.int32)).dtype == np.int32
    with pytest.raises(TypeError, match="only support 1D array"):
        total(np.ones((2, 2)))
