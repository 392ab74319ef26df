"""Kernels go to other processes: by name where they can be imported, else by their code and what it names."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys

import gpu
import numpy as np
import pytest
from gpu import cuda


@gpu.jit
def importable(x):
    x[gpu.grid(1)] += 1


def test_a_kernel_of_a_module_goes_by_name():
    assert pickle.loads(pickle.dumps(importable)) is importable


def local_kernel(signature=None):
    """A kernel that names a module, a closure's value, a device function, a function and itself's name."""
    step = 2

    @gpu.jit(device=True)
    def halved(x):
        return x / step

    def squared(x, power=2):
        return x**power

    def kernel(x):
        i = gpu.grid(1)
        if i < x.size:
            x[i] = math.sqrt(squared(x[i])) + halved(x[i])

    return gpu.jit(signature)(kernel) if signature else gpu.jit(kernel)


@pytest.mark.parametrize("signature", [None, "void(float64[:])"])
def test_a_local_kernel_goes_by_its_code(signature):
    kernel = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(local_kernel(signature)))))
    x = np.array([4.0, 8.0])
    kernel[1, 32](x)
    assert x.tolist() == [6, 12]


def test_another_process_needs_nothing_of_this_one():
    text = (
        "import pickle, sys, numpy as np; kernel = pickle.loads(sys.stdin.buffer.read()); "
        "x = np.full(3, 2.0); kernel[1, 32](x); print(x)"
    )
    data = pickle.dumps(local_kernel())
    done = subprocess.run([sys.executable, "-c", text], input=data, capture_output=True, timeout=100, check=True)
    assert done.stdout.split() == b"[3. 3. 3.]".split()


def test_a_launch_keeps_its_sizes():
    launch = pickle.loads(pickle.dumps(importable[(5, 2), 8]))
    assert (launch.griddim, launch.blockdim) == ((5, 2, 1), (8, 1, 1))
    for other in (importable.forall(10), importable[1, 1, gpu.Stream()]):
        with pytest.raises(TypeError, match="without a stream"):
            pickle.dumps(other)


def test_a_launch_calls_back_before():
    said = []
    launch, x = importable[1, 1], np.zeros(1)
    launch.pre_launch_callbacks.append(lambda *given: said.append((given, x[0])))
    launch(x)
    assert said == [((importable, launch), 0)]
    with pytest.raises(pickle.PicklingError, match="pre-launch callbacks"):
        pickle.dumps(launch)
    launch.pre_launch_callbacks[:] = [lambda *given: 1 / 0]
    after = x.copy()
    with pytest.raises(ZeroDivisionError):
        launch(x)
    assert x == after
    launch.pre_launch_callbacks.clear()
    assert pickle.loads(pickle.dumps(launch)).griddim == (1, 1, 1)


def test_functions_that_call_themselves():
    @cuda.jit(device=True)
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    @cuda.jit
    def kernel(x):
        x[0] = factorial(x[0])

    x = np.array([5])
    pickle.loads(pickle.dumps(kernel))[1, 1](x)
    assert x[0] == 120


def test_a_ufunc():
    @cuda.vectorize(["int64(int64)", "float64(float64)"])
    def double(x):
        return x * 2

    again = pickle.loads(pickle.dumps(double))
    assert (again(np.arange(3)).tolist(), again(1.5)) == ([0, 2, 4], 3)


def test_a_kernel_is_its_own_copy():
    kernel = local_kernel()
    assert copy.copy(kernel) is kernel and copy.deepcopy({"kernel": kernel})["kernel"] is kernel


@gpu.parallel
def importable_loop(x):
    for i in gpu.prange(len(x)):
        x[i] += 1


def local_loop():
    step = 3.0

    @gpu.parallel
    def loop(x):
        for i in gpu.prange(len(x)):
            x[i] += step

    return loop


def local_gufunc():
    @gpu.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
    def doubled(x, y):
        for i in range(len(x)):
            y[i] = 2 * x[i]

    return doubled


def test_parallel_loops_and_gufuncs_go_to_other_processes():
    assert pickle.loads(pickle.dumps(importable_loop)) is importable_loop
    loop, x = pickle.loads(pickle.dumps(local_loop())), np.zeros(3)
    loop(x)
    assert x.tolist() == [3, 3, 3]
    doubled = pickle.loads(pickle.dumps(local_gufunc()))
    assert doubled(x).tolist() == [6, 6, 6] and copy.copy(doubled) is doubled and copy.deepcopy(loop) is loop
