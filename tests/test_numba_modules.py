"""Small modules below ``numba.cuda`` that programs import: layouts of arrays, schedules of gufuncs, symbols."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import cuda
from gpu.cuda.cudadrv import nvrtc, runtime
from gpu.cuda.cudadrv.dummyarray import Array
from gpu.cuda.deviceufunc import GUFuncEngine
from gpu.cuda.itanium_mangler import escape_string, mangle, mangle_identifier, mangle_type, mangle_value
from gpu.cuda.kernels.reduction import Reduce
from gpu.cuda.kernels.transpose import transpose
from gpu.cuda.typeconv import Conversion
from gpu.cuda.typeconv.rules import default_type_manager
from gpu.cuda.typeconv.typeconv import TypeCastingRules, TypeManager
from gpu.cuda.vector_types import vector_types

X = np.zeros((4, 5, 6))
VIEWS = {
    "whole": lambda a: a,
    "rows": lambda a: a[1:3],
    "column": lambda a: a[:, 2],
    "steps": lambda a: a[::2, ::-1, 1:5:3],
    "last": lambda a: a[..., -1],
    "none": lambda a: a[2:2],
    "one": lambda a: a[1, 2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_layout_has_the_shape_and_the_bytes_that_a_view_has(view):
    expected, found = view(X), view(Array.from_desc(0, X.shape, X.strides, 8))
    assert (found.shape, found.strides) == (expected.shape, expected.strides)
    assert found.flags == {name: expected.flags[name] for name in found.flags}
    start = X.__array_interface__["data"][0]
    if expected.size:
        first, end = np.lib.array_utils.byte_bounds(expected)
        assert found.extent == (first - start, end - start)
        pieces = list(found.iter_contiguous_extent())
        assert sum(b - a for a, b in pieces) == expected.nbytes
    assert found[..., :0].extent[0] == found[..., :0].extent[1]


def test_a_layout_that_a_copy_alone_has_is_refused():
    layout = Array.from_desc(16, X.shape, X.strides, 8)
    assert layout.reshape(20, -1)[0].strides == (48, 8)
    assert layout.ravel()[1] == [(16, 976)]
    assert layout[1, 2, 3].extent == (16 + 360, 24 + 360)
    with pytest.raises(NotImplementedError, match="copy"):
        layout[:, ::2].reshape(-1)
    with pytest.raises(ValueError, match="cannot infer valid shape"):
        layout.reshape(-1, 7)
    with pytest.raises(ValueError, match="order is 'C' or 'F'"):
        layout.reshape(-1, order="Q")


def test_a_schedule_says_what_a_gufunc_is_called_for():
    plan = GUFuncEngine.from_signature("(m, n), (n) -> (m)").schedule([(7, 3, 4), (1, 4)])
    assert (plan.ishapes, plan.oshapes, plan.loopdims) == ([(3, 4), (4,)], [(3,)], (7,))
    assert (plan.pinned, plan.loopn, plan.output_shapes) == ([False, True], 7, [(7, 3)])
    with pytest.raises(ValueError, match="axis n has length 4, and in argument 1 5"):
        GUFuncEngine.from_signature("(m, n), (n) -> (m)").schedule([(3, 4), (5,)])
    with pytest.raises(ValueError, match="don't go together"):
        GUFuncEngine.from_signature("(), () -> ()").schedule([(7, 3), (1, 3)])
    with pytest.raises(TypeError, match="has 1 axes"):
        GUFuncEngine.from_signature("(m, n) -> (m)").schedule([(3,)])


def test_names_of_symbols_are_those_of_compilers():
    assert mangle("f", []) == "_Z1fv"
    assert mangle("space.f", [cuda.int32, cuda.float64]) == "_ZN5space1fEid"
    assert mangle_identifier("f", [cuda.int8, -3]) == "1fIaLin3EE"
    assert mangle("f", [cuda.uint64], abi_tags=["v1"]) == "_Z1fB2v1y"
    assert [mangle_type(t) for t in (cuda.uint8, cuda.int16, cuda.boolean)] == ["h", "s", "b"]
    assert (escape_string("é<f>"), mangle_value(True)) == ("_c3_a9_3cf_3e", "Lb1E")


@pytest.mark.parametrize("shape", [(3, 5), (1, 4), (0, 2)])
def test_a_transpose_in_memory_of_its_own(shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    out = cuda.device_array(shape[::-1], x.dtype)
    assert transpose(cuda.to_device(x), out) is out
    assert np.array_equal(out.copy_to_host(), x.T)
    assert np.array_equal(transpose(cuda.to_device(x)).copy_to_host(), x.T)


def test_modules_have_what_gpu_cuda_has():
    assert Reduce is cuda.Reduce
    assert len(vector_types) == 40
    four = vector_types["float32x4"]
    assert (four.num_elements, four.base_type, four.user_facing_object) == (4, cuda.float32, cuda.float4)
    assert vector_types["int64x2"].user_facing_object.aliases == ("long2", "longlong2")


def test_for_which_gpus_code_is_made():
    known = nvrtc.get_supported_ccs()
    assert (nvrtc.get_lowest_supported_cc(), known) == (known[0], tuple(sorted(known)))
    for cc in known:
        assert f".target sm_{cc[0]}{cc[1]}" in cuda.compile_ptx(lambda: None, cuda.void(), cc=cc)[0]
    assert nvrtc.get_arch_option(8, 5) == "compute_80"
    assert nvrtc.find_closest_arch((99, 0)) == known[-1]
    with pytest.raises(cuda.cudadrv.error.CCSupportError, match=r"3\.5 is not supported"):
        nvrtc.find_closest_arch((3, 5))
    assert runtime.get_version() >= (11, 0)


def test_the_runtime_is_an_object_of_its_own():
    version = cuda.runtime.get_version()
    assert version == cuda.cudadrv.runtime.get_version() == cuda.cudadrv.driver.driver.get_version()
    assert version >= (12, 0) and cuda.runtime.is_supported_version()


def test_how_types_of_numbers_become_others():
    found = default_type_manager.check_compatible
    assert found(cuda.int8, cuda.int64) == found(cuda.float16, cuda.float64) == Conversion.promote
    assert found(cuda.uint8, cuda.int64) == found(cuda.int32, cuda.complex128) == Conversion.safe
    assert found(cuda.int32, cuda.float32) == found(cuda.float64, cuda.boolean) == Conversion.unsafe
    assert found(cuda.complex64, cuda.float32) is None
    assert found(cuda.int32, cuda.int32) == Conversion.exact


def test_the_signature_that_suits_best():
    choose = default_type_manager.select_overload
    given, exact = (cuda.int32, cuda.float32), (cuda.int32, cuda.float32)
    wide, other = (cuda.int64, cuda.float64), (cuda.float64, cuda.float64)
    assert choose(given, [other, wide, exact], False, False) == 2
    assert choose(given, [other, wide], False, False) == 1
    assert choose(given, [(cuda.int16, cuda.float16)], True, False) == 0
    for several, unsafe in (
        ([(cuda.int16, cuda.float16)], False),
        ([wide, wide], True),
        ([], True),
        ([given[:1]], True),
    ):
        with pytest.raises(TypeError, match=r"no matching overload|ambiguous"):
            choose(given, several, unsafe, False)
    with pytest.raises(TypeError, match="no matching"):
        choose(given, [wide], True, True)


def test_rules_have_consequences():
    manager = TypeManager()
    rules = TypeCastingRules(manager)
    rules.promote_unsafe("a", "b")
    rules.safe("b", "c")
    assert manager.check_compatible("a", "c") == Conversion.safe
    assert manager.check_compatible("c", "a") is None
    rules.promote("a", "c")
    assert manager.check_compatible("a", "c") == Conversion.promote
