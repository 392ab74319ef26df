"""Public names of ``numba.cuda`` that aren't here, and what to do instead: looking one up says so."""

from __future__ import annotations

_COMPILER = "it belongs to Numba's compiler, which isn't used; see 'What isn't there' in docs/numba.md"
_LINKER = "the driver links what cuda.jit gets as link=[...]"
DRIVER = "cuda.core, of the package cuda-python, calls the driver; its streams and arrays are taken as they are"
_SHAPES = "numpy.empty(shape, dtype, order).strides says how an array lies"

# What is refused, by module below gpu.cuda ("" is gpu.cuda): names, separated by blanks, and why.
REFUSED: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        (
            "alias api_util cache_hints cext cgutils cloudpickle codegen config_default_cc core cpython cuda_paths "
            "datamodel debuginfo descriptor device_init flags implementation initialize "
            "decorators intrinsics launchconfig locks lowering mathimpl memory_management misc models "
            "numba_cuda_default_ptx_cc nvvm nvvmutils serialize stubs target typing ufuncs utils "
            "vectorizers",
            _COMPILER,
        ),
        ("api", "its functions are in gpu.cuda itself"),
        ("reduction", "from gpu.cuda.kernels import reduction"),
        ("prepare_shape_strides_dtype", _SHAPES),
        ("simulator", 'gpu.set_device("python") runs kernels thread by thread'),
        ("tests", "numba-cuda's tests are in its own wheel"),
    ),
    "cudadrv": (
        ("libs mappings nvvm", _COMPILER),
        ("linkable_code", "PTXSource, CUSource, Cubin and their kind are in gpu.cuda itself, without callbacks"),
    ),
    "cudadrv.driver": (
        ("CudaPythonFunction CudaPythonModule Function FuncAttr load_module_image", "cuda.jit makes and loads code"),
        ("FILE_EXTENSION_MAP inspect_obj_content cached_file_read", _LINKER),
        (
            "DRIVER_LOAD_ERROR_MSG DRIVER_NOT_FOUND_MSG ERROR_MAP CUDA_CORE_GE_1_0 CUDA_CORE_GT_0_6 find_driver "
            "load_driver locate_driver_and_loader make_logger nvrtc serialize utils mviewbuf "
            "get_devptr_for_active_ctx",
            DRIVER,
        ),
        ("ManagedOwnedPointer MappedOwnedPointer", "memory of the host that is owned again is the same object"),
        ("device_extents device_memory_depends memory_size_from_info", _SHAPES),
    ),
    "cudadrv.devicearray": (
        (
            "dummyarray prepare_shape_strides_dtype check_array_compatibility sentry_contiguous to_fixed_tuple",
            _SHAPES,
        ),
        ("numpy_support numpy_version types", _COMPILER),
    ),
    "errors": (("missing_launch_config_msg normalize_kernel_dimensions", _COMPILER),),
    "args": (("Purpose", _COMPILER),),
    "cudadrv.devices": (("driver", "from gpu.cuda.cudadrv import driver"),),
    "types": (
        (
            "LiteralTypingError TypingError abstract containers ext_types function_type functions iterators misc "
            "npytypes numpy_version scalars",
            _COMPILER,
        ),
    ),
    "random": (
        (
            "HAS_NUMBA TWO_PI_FLOAT32 TWO_PI_FLOAT64 cuda from_dtype int64 jit rotl "
            "init_xoroshiro128p_states_cpu uint64_to_unit_float32 uint64_to_unit_float64",
            "create_xoroshiro128p_states makes states, and xoroshiro128p_next and its kind take numbers from them",
        ),
    ),
}


def refusal(module: str, name: str) -> Exception:
    """The error that says why a name isn't there.

    Parameters
    ----------
    module : str
        Below ``gpu.cuda``.
    name : str

    Returns
    -------
    AttributeError, or ImportError where it is imported: Python would put words of its own in the place of the former's
    """
    kind = ImportError if _is_imported() else AttributeError
    full = "gpu.cuda" + ("." + module if module else "")
    for names, reason in REFUSED.get(module, ()):
        if name in names.split():
            return kind(f"{full}.{name} isn't there: {reason}")
    if kind is ImportError:
        return ImportError(f"cannot import name '{name}' from '{full}'")
    return AttributeError(f"module '{full}' has no attribute '{name}'")


def _is_imported() -> bool:
    """Whether what asks for a module's attribute (the caller of the caller of `refusal`) is ``from ... import``."""
    import dis
    import sys

    frame = sys._getframe(3)
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
