"""Stand-in `numba` package, for numba-cuda's own tests against another implementation of `numba.cuda`.

Put the directory holding this package FIRST on PYTHONPATH (a real directory,
not only sys.modules entries: ~35 tests start sub-processes that do
`from numba import cuda`).

  PEER_TESTS   directory .../numba_cuda/numba/cuda/tests of the peer's wheel
  NBSHIM_GPU   import name of the implementation under test (default gpu.cuda)

Names are resolved in this order:
  1. sys.modules['numba.cuda'] IS the module gpu.cuda (same object, so that a
     compiler that resolves `cuda.grid` by identity still works)
  2. ALIAS:   numba.cuda.X -> gpu.cuda.X (or gpu.X) when that exists
  3. SHIM:    small modules built here (testing, tests.support, config, errors,
              numpy_support, ...)
  4. numba.cuda.tests.*: the peer's files, unchanged
  5. POISON:  every other numba.* / llvmlite.* / cuda.* import succeeds, and
              any *use* of a name from it inside a running test is a
              unittest.SkipTest("N: ...").  Class N tests thus skip themselves.
"""

import contextlib
import enum
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import sys
import types as _pt
import unittest

# 0. numba-cuda's wheel installs a .pth that puts a redirecting finder first on
#    sys.meta_path; it would send `numba.cuda` back to the real peer.
sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "NumbaCudaFinder"]

__version__ = "0.0.0+nbshim"
__path__ = []
PEER_TESTS = os.environ["PEER_TESTS"]
GPU = os.environ.get("NBSHIM_GPU", "gpu.cuda")
_CUDA_HOME = os.environ.get("CUDA_HOME") or os.path.dirname(
    os.path.dirname(os.path.realpath(shutil.which("nvcc") or "/x/y"))
)
RUNNING = False  # set True by the runner once collection is over
TOPS = ("numba", "numba_cuda", "cuda", "llvmlite")  # top-level packages that are faked


# ---------------------------------------------------------------- poison
class PoisonBase:
    """Base class standing in for a numba-internal class."""

    def __init__(self, *a, **k):
        pass

    def __init_subclass__(cls, **k):
        pass

    def __getitem__(self, _):
        return Poison(type(self).__name__ + "[]")


class Poison:
    def __init__(self, name):
        object.__setattr__(self, "_n", name)

    def _use(self):
        if RUNNING:
            raise unittest.SkipTest("N: needs numba internal " + self._n)

    def __getattr__(self, a):
        if a.startswith("__") and a.endswith("__"):
            raise AttributeError(a)
        self._use()
        return Poison(self._n + "." + a)

    def __setattr__(self, a, v):
        self._use()

    def __call__(self, *a, **k):
        self._use()
        return Poison(self._n + "()")

    def __getitem__(self, i):
        self._use()
        return Poison(self._n + "[]")

    def __iter__(self):
        self._use()
        return iter(())

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *a):
        pass

    def __mro_entries__(self, bases):
        return (PoisonBase,)

    def __instancecheck__(self, o):
        return False

    def __repr__(self):
        return f"<poison {self._n}>"


class PoisonModule(_pt.ModuleType):
    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, a):
        if a.startswith("__") and a.endswith("__"):
            raise AttributeError(a)
        return Poison(self.__name__ + "." + a)


# ---------------------------------------------------------------- the backend
gpu_cuda = importlib.import_module(GPU)
if not hasattr(gpu_cuda, "__path__"):
    gpu_cuda.__path__ = []
gpu_top = sys.modules[GPU.split(".")[0]]


def _backend(name):
    """gpu.cuda.<name>, then gpu.<name>; attribute or submodule; or None."""
    for base in (gpu_cuda, gpu_top):
        v = base
        for part in name.split("."):
            n = getattr(v, part, None)
            if n is None and isinstance(v, _pt.ModuleType) and v.__name__.split(".")[0] not in TOPS:
                try:
                    n = importlib.import_module(v.__name__ + "." + part)
                except ImportError:
                    n = None
            if type(n).__name__ == "_Filled":  # a module of the backend that was imported by its name in numba
                n = n._real
            v = None if isinstance(n, (Poison, PoisonModule)) else n
            if v is None:
                break
        if v is not None:
            return v
    return None


def _mod(fullname, **names):
    m = PoisonModule(fullname)
    m.__dict__.update(names)
    return m


def _pick(src, *names):
    return {n: getattr(src, n) for n in names if hasattr(src, n)}


# ---------------------------------------------------------------- config
_CONFIG = {
    "ENABLE_CUDASIM": 0,
    "CUDA_LOW_OCCUPANCY_WARNINGS": 1,
    "CUDA_WARN_ON_IMPLICIT_COPY": 1,
    "DISABLE_PERFORMANCE_WARNINGS": 0,
    "CUDA_ENABLE_NRT": False,
    "CUDA_NRT_STATS": False,
    "CUDA_DEBUGINFO_DEFAULT": 0,
    "CUDA_MEMORY_MANAGER": "default",
    "CUDA_ARRAY_INTERFACE_SYNC": 1,
    "CUDA_NVRTC_EXTRA_SEARCH_PATHS": "",
    "CUDA_DEALLOCS_COUNT": 10,
    "CUDA_DEALLOCS_RATIO": 0.2,
    "CUDA_DEFAULT_PTX_CC": (7, 5),
    "DUMP_ASSEMBLY": 0,
    "DUMP_LLVM": 0,
    "DUMP_IR": 0,
    "DUMP_CFG": 0,
    "DUMP_BYTECODE": 0,
    "OPT": 3,
    "CACHE_DIR": "",
    "CUDA_DEBUG_POLY": 0,
    "CUDA_DEBUG_POLY_USE_TYPED_CONST": 0,
    "IS_WIN32": False,
    "DISABLE_CUDA": 0,
    "FORCE_CUDA_CC": None,
}


class ConfigModule(_pt.ModuleType):
    """numba.core.config; reads/writes go to gpu's config where it has the name."""

    def __init__(self):
        super().__init__("numba.core.config")
        d = self.__dict__
        d["_real"] = _backend("config")
        d["_own"] = dict(_CONFIG)

    def __getattr__(self, a):
        if a.startswith("__"):
            raise AttributeError(a)
        r = self.__dict__["_real"]
        if r is not None and hasattr(r, a):
            return getattr(r, a)
        try:
            return self.__dict__["_own"][a]
        except KeyError:
            raise AttributeError(a) from None

    def __setattr__(self, a, v):
        if a.startswith("__"):
            return super().__setattr__(a, v)
        r = self.__dict__["_real"]
        if r is not None and hasattr(r, a):
            setattr(r, a, v)
        else:
            self.__dict__["_own"][a] = v

    def reload_config(self):
        r = self.__dict__["_real"]
        if r is not None and hasattr(r, "reload_config"):
            r.reload_config()

    def _OptLevel(self, v):
        return 3 if v == "max" else int(v)


config = ConfigModule()


# ---------------------------------------------------------------- errors
_ERR = [
    "NumbaError",
    "TypingError",
    "LoweringError",
    "NumbaTypeError",
    "NumbaValueError",
    "NumbaAttributeError",
    "NumbaNotImplementedError",
    "UnsupportedError",
    "UnsupportedBytecodeError",
    "CompilerError",
    "RequireLiteralValue",
    "RequireConstValue",
    "ConstantInferenceError",
    "ForceLiteralArg",
    "DeprecationError",
    "KernelRuntimeError",
    "UndeclaredVariable",
    "NumbaRuntimeError",
    "InternalError",
]
_WARN = [
    "NumbaWarning",
    "NumbaPerformanceWarning",
    "NumbaDeprecationWarning",
    "NumbaDebugInfoWarning",
    "NumbaInvalidConfigWarning",
    "NumbaPedanticWarning",
]


def _errors():
    real = _backend("errors")
    ns, base, wbase = {}, None, None
    for n in _ERR:
        c = getattr(real, n, None) if real else None
        if c is None:
            base = base or ns.get("NumbaError", Exception)
            c = type(n, (base,), {})
        ns[n] = c
    for n in _WARN:
        c = getattr(real, n, None) if real else None
        if c is None:
            wbase = wbase or ns.get("NumbaWarning", Warning)
            c = type(n, (wbase,), {})
        ns[n] = c
    return ns


ERRORS = _errors()


# ---------------------------------------------------------------- shim table
@functools.cache
def _types():
    """Gpu's types; what it lacks of Numba's is poison, and a class derived from Type is one of Numba's inside."""
    real = _backend("types")

    class Type(real.Type):
        _test = staticmethod(real.Type._test)

        def __init__(self, *args, **kwargs):
            if RUNNING:
                raise unittest.SkipTest("N: a type made by Numba's typing extensions")

    module = _filled("numba.types", real)
    module.Type = Type
    module.NoneType = Poison("numba.types.NoneType")  # made by tests of passes alone
    return module


class _Filled(PoisonModule):
    """A module of gpu; what it lacks of Numba's is poison."""

    def __getattr__(self, name):
        real = self.__dict__["_real"]
        return getattr(real, name) if hasattr(real, name) else super().__getattr__(name)


def _filled(name, real):
    module = _Filled(name)
    module._real = real
    return module


def _first(*paths):
    for p in paths:
        v = _backend(p)
        if v is not None:
            return v
    return None


@functools.cache
def _sig():
    v = _first("types.signature")
    return {"signature": v} if v is not None else {}


def _np_support():
    import numpy as np

    ver = tuple(int(x) for x in np.__version__.split(".")[:2])
    ns = {"numpy_version": ver}
    for n in ("from_dtype", "as_dtype", "carray", "farray", "map_arrayscalar_type", "is_contiguous", "is_fortran"):
        v = _first("numpy_support." + n, "np.numpy_support." + n, n, "types." + n)
        if v is not None:
            ns[n] = v
    return ns


def _driver():
    ns = {}
    real = _first("cudadrv.driver")
    for n in (
        "driver",
        "binding",
        "CudaAPIError",
        "LinkerError",
        "Stream",
        "Event",
        "Context",
        "Device",
        "MemoryPointer",
        "MappedMemory",
        "PinnedMemory",
        "ManagedMemory",
        "MemoryInfo",
        "IpcHandle",
        "host_to_device",
        "device_to_host",
        "device_to_device",
        "device_memset",
        "device_memory_size",
        "host_memory_size",
        "host_memory_extents",
        "memory_size_from_info",
        "host_pointer",
        "device_pointer",
        "is_device_memory",
        "require_device_memory",
        "_have_nvjitlink",
        "_to_core_stream",
        "_Linker",
        "event_elapsed_time",
    ):
        v = getattr(real, n, None) if real else None
        if v is None:
            v = _backend(n) if not n.startswith("_") else None
        if v is not None:
            ns[n] = v
    ns.setdefault("_have_nvjitlink", lambda: False)
    ns.setdefault("CudaAPIError", type("CudaAPIError", (Exception,), {}))
    ns.setdefault("LinkerError", type("LinkerError", (RuntimeError,), {}))
    return ns


def _cudadrv_error():
    real = _first("cudadrv.error", "errors")
    ns = {}
    for n, b in (
        ("CudaSupportError", ImportError),
        ("CudaDriverError", Exception),
        ("CudaRuntimeError", Exception),
        ("NvvmSupportError", ImportError),
        ("NvvmError", Exception),
        ("NvvmWarning", Warning),
        ("NvrtcError", Exception),
        ("CCSupportError", RuntimeError),
    ):
        ns[n] = (getattr(real, n, None) if real else None) or _backend(n) or type(n, (b,), {})
    return ns


def _cpu_only(*a, **k):
    if RUNNING or not (len(a) == 1 and callable(a[0])):
        if RUNNING:
            raise unittest.SkipTest("N: needs numba's CPU compiler")
        return lambda f: f
    return a[0]


def _vec(name):
    real = _backend(name)

    def deco(*a, target=None, **k):
        if len(a) == 1 and callable(a[0]) and not k and target is None:
            import numpy as np  # bare @vectorize: CPU reference

            return np.vectorize(a[0])
        if target not in (None, "cuda"):
            raise unittest.SkipTest("N: vectorize target " + str(target))
        return real(*a, **k)

    return deco if real is not None else Poison("numba." + name)


_ROUNDING = {"cudaRoundNearest": 0, "cudaRoundZero": 1, "cudaRoundPosInf": 2, "cudaRoundMinInf": 3}


def SHIM():
    t = _types()
    return {
        "numba.types": lambda f: t,
        "numba.core.types": lambda f: t,
        "numba.cuda.types": lambda f: t,
        "numba.core.config": lambda f: config,
        "numba.config": lambda f: config,
        "numba.cuda.core.config": lambda f: config,
        "numba.cuda.config": lambda f: config,
        "numba.errors": lambda f: _mod(f, **ERRORS),
        "numba.core.errors": lambda f: _mod(f, **ERRORS),
        "numba.cuda.core.errors": lambda f: _mod(f, **ERRORS),
        "numba.cuda.errors": lambda f: _mod(f, **ERRORS),
        "numba.cuda.core": lambda f: _mod(f, config=config, errors=_mod(f + ".errors", **ERRORS)),
        "numba.cuda.np": lambda f: _mod(f, numpy_support=_mod(f + ".numpy_support", **_np_support())),
        "numba.cuda.np.numpy_support": lambda f: _mod(f, **_np_support()),
        "numba.cuda.typing": lambda f: _mod(f, **_sig()),
        "numba.cuda.typing.templates": lambda f: _mod(f, **_sig()),
        "numba.cuda.typing.typeof": lambda f: _mod(
            f,
            **(
                {"typeof": _first("typing.typeof.typeof", "types.typeof", "typeof")}
                if _first("typing.typeof.typeof", "types.typeof", "typeof")
                else {}
            ),
        ),
        "numba.core.typing.typeof": lambda f: _mod(f, typeof=Poison("cpu typeof")),
        "numba.cuda.utils": lambda f: _mod(f, PYVERSION=sys.version_info[:2]),
        "numba.cuda.cudadrv": lambda f: _alias_or(f, "cudadrv", driver=_drv_mod(), error=_err_mod()),
        "numba.cuda.cudadrv.driver": lambda f: _drv_mod(),
        "numba.cuda.cudadrv.error": lambda f: _err_mod(),
        "numba.cuda.testing": _testing,
        "numba.cuda.tests.support": _support,
        "numba.cuda.args": lambda f: _alias_or(f, "args", **_pick(gpu_cuda, "In", "Out", "InOut")),
        "numba.cuda.compiler": lambda f: _mod(
            f,
            **_pick(
                gpu_cuda,
                "compile",
                "compile_all",
                "compile_ptx",
                "compile_for_current_device",
                "compile_ptx_for_current_device",
            ),
        ),
        "numba.cuda.misc.special": lambda f: _mod(f, **_pick(gpu_cuda, "literal_unroll")),
        "numba.cuda.libdevicefuncs": _peer_data_module,
        # CUDA-python names the tests import at module level
        "cuda.core._utils.cuda_utils": lambda f: _mod(
            f,
            CUDAError=_first("CudaError", "CudaAPIError", "cudadrv.driver.CudaAPIError")
            or type("CUDAError", (Exception,), {}),
            NVRTCError=_first("cudadrv.error.NvrtcError"),
        ),
        "cuda.bindings.runtime": lambda f: _mod(f, cudaRoundMode=enum.IntEnum("cudaRoundMode", _ROUNDING)),
        "numba.extending": lambda f: _mod(f, **_pick(gpu_cuda.extending, "overload", "overload_method")),
        "numba_cuda": lambda f: _mod(f, __version__="0.30.4"),
    }


@functools.cache
def _drv_mod():
    return _alias_or("numba.cuda.cudadrv.driver", "cudadrv.driver", **_driver())


@functools.cache
def _err_mod():
    return _mod("numba.cuda.cudadrv.error", **_cudadrv_error())


def _alias_or(fullname, path, **names):
    v = _backend(path)
    if isinstance(v, _pt.ModuleType):
        module = _filled(fullname, v)
        module.__dict__.update({k: n for k, n in names.items() if not hasattr(v, k)})
        return module
    return _mod(fullname, **names)


def _load(name):
    return importlib.import_module(name)


def _peer_data_module(fullname):
    """libdevicefuncs.py is pure data (317 names -> signature): run the peer's."""
    v = _backend(fullname[len("numba.cuda.") :])
    if isinstance(v, _pt.ModuleType):
        return v
    m = _mod(fullname)
    p = os.path.join(PEER_TESTS, "..", fullname.rsplit(".", 1)[1] + ".py")
    exec(compile(pathlib.Path(p).read_text(), p, "exec"), m.__dict__)
    return m


def _fill(module, prefix, names):
    """Put names that only the shim knows on the aliased module: `from numba.cuda import X` looks there alone."""
    for n in names:
        if not hasattr(module, n):
            with contextlib.suppress(ImportError):
                module.__dict__[n] = importlib.import_module(prefix + "." + n)


# names that must never come from the backend even if it has them
NOALIAS = {"numba.cuda.testing", "numba.cuda.tests", "numba.cuda.tests.support", "numba.cuda.core", "numba.cuda.config"}


# ---------------------------------------------------------------- testing
_peer_src = None


def _peer_support_ns(ns):
    """Run the parts of the peer's tests/support.py that touch no numba internals."""
    import ast

    p = os.path.join(PEER_TESTS, "support.py")
    tree = ast.parse(pathlib.Path(p).read_text())
    keep = []
    drop = {"EnableNRTStatsMixin", "MemoryLeak", "MemoryLeakMixin"}
    for n in tree.body:
        if isinstance(n, ast.Import) or (isinstance(n, ast.ImportFrom) and not (n.module or "").startswith("numba")):
            keep.append(n)
        elif isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.If)):
            if getattr(n, "name", None) in drop:
                continue
            if isinstance(n, ast.If) and "HAS_NUMBA" in ast.unparse(n.test):
                continue
            keep.append(n)
    exec(compile(ast.Module(keep, []), p, "exec"), ns)


def _support(fullname):
    m = _mod(fullname)

    class _CffiUtils:
        SUPPORTED = importlib.util.find_spec("cffi") is not None

    ns = m.__dict__
    ns.update(
        __file__=os.path.join(PEER_TESTS, "support.py"),
        types=_types(),
        config=config,
        HAS_NUMBA=False,
        errors=_mod("numba.core.errors", **ERRORS),
        cffi_utils=_CffiUtils,
        PYVERSION=sys.version_info[:2],
        numpy_support=_mod("ns", **_np_support()),
        rtsys=Poison("rtsys"),
        typeof_impl=Poison("typeof_impl"),
        register_model=Poison("register_model"),
        unbox=Poison("unbox"),
        NativeValue=Poison("NativeValue"),
        OpaqueModel=Poison("OpaqueModel"),
    )
    _peer_support_ns(ns)

    class _NoNRT:  # NRT counters do not exist here
        def setUp(self):
            super().setUp()

        def tearDown(self):
            super().tearDown()

        def disable_leak_check(self):
            pass

    ns["EnableNRTStatsMixin"] = ns["MemoryLeakMixin"] = ns["MemoryLeak"] = _NoNRT
    return m


# CPU numba is absent, so tests marked so are skipped -- except these, whose
# subject (the RNG) has no need of it outside numba.
STANDALONE_OK = ("test_random", "test_montecarlo")


def _testing(fullname):
    import numpy as np

    sup = _load("numba.cuda.tests.support")
    m = _mod(fullname)

    def skip_on_cudasim(reason):
        return unittest.skipIf(config.ENABLE_CUDASIM, reason)

    def skip_unless_cudasim(reason):
        return unittest.skipUnless(config.ENABLE_CUDASIM, reason)

    def standalone(fn):
        if any(s in getattr(fn, "__module__", "") for s in STANDALONE_OK):
            return fn
        return unittest.skip("requires base numba install")(fn)

    def cc_X_or_above(major, minor):
        if config.ENABLE_CUDASIM:
            return True
        return tuple(gpu_cuda.get_current_device().compute_capability) >= (major, minor)

    def need_cc(a, b):
        return lambda fn: unittest.skipUnless(cc_X_or_above(a, b), f"requires cc >= {a}.{b}")(fn)

    def opt_skip(cond):
        return lambda reason: unittest.skipIf(cond, reason)

    have_inc = os.path.exists(os.path.join(_CUDA_HOME, "include", "cuda.h"))
    have_cur = os.path.exists(os.path.join(_CUDA_HOME, "include", "curand_kernel.h"))
    import platform
    import shutil

    nvdisasm = shutil.which("nvdisasm") or (shutil.which("nvdisasm"))
    nvjit = bool(_load("numba.cuda.cudadrv.driver")._have_nvjitlink())

    class CUDATestCase(sup.TestCase):
        FLOAT16_RTOL = np.finfo(np.float16).eps
        _dump_failed_filechecks = False

        def setUp(self):
            self._a = config.CUDA_LOW_OCCUPANCY_WARNINGS
            self._b = config.CUDA_WARN_ON_IMPLICIT_COPY
            config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
            config.CUDA_WARN_ON_IMPLICIT_COPY = 0

        def tearDown(self):
            config.CUDA_LOW_OCCUPANCY_WARNINGS = self._a
            config.CUDA_WARN_ON_IMPLICIT_COPY = self._b

        def assertFileCheckLLVM(self, *a, **k):
            raise unittest.SkipTest("N: LLVM IR text")

        def assertFileCheckAsm(self, disp, signature=None, check_prefixes=("ASM",), **k):
            asm = disp.inspect_asm()
            asm = [asm] if isinstance(asm, str) else ([asm[signature]] if signature else list(asm.values()))
            for x in asm:
                self.assertFileCheckMatches(x, disp.__doc__, check_prefixes, **k)

        def assertFileCheckMatches(self, text, check_patterns, check_prefixes=("CHECK",), **k):
            try:
                from filecheck.finput import FInput
                from filecheck.matcher import Matcher
                from filecheck.options import Options
                from filecheck.parser import Parser, pattern_for_opts
            except ImportError:
                raise unittest.SkipTest("filecheck not installed") from None
            import io

            o = Options(match_filename="-", check_prefixes=list(check_prefixes), **k)
            mt = Matcher(
                o, FInput(fname="-", content=text), Parser(o, io.StringIO(check_patterns), *pattern_for_opts(o))
            )
            mt.stderr = io.StringIO()
            if mt.run() != 0:
                self.fail("FileCheck failed:\n" + mt.stderr.getvalue())

    class ForeignArray:
        def __init__(self, arr):
            self._arr = arr
            on_gpu = hasattr(arr, "__cuda_array_interface__")  # on the CPU device arrays show that they are the host's
            name = "__cuda_array_interface__" if on_gpu else "__array_interface__"
            setattr(self, name, getattr(arr if on_gpu else np.asarray(arr), name))

    arm = platform.processor().startswith(("arm", "aarch"))
    wsl = "wsl2" in platform.release().lower()
    m.__dict__.update(
        unittest=unittest,
        CUDATestCase=CUDATestCase,
        TestCase=sup.TestCase,
        ForeignArray=ForeignArray,
        skip_on_cudasim=skip_on_cudasim,
        skip_unless_cudasim=skip_unless_cudasim,
        skip_on_standalone_numba_cuda=standalone,
        cc_X_or_above=cc_X_or_above,
        skip_unless_cc_50=need_cc(5, 0),
        skip_unless_cc_53=need_cc(5, 3),
        skip_unless_cc_60=need_cc(6, 0),
        skip_unless_cc_75=need_cc(7, 5),
        skip_unless_cc_90=need_cc(9, 0),
        xfail_unless_cudasim=(lambda f: f) if config.ENABLE_CUDASIM else unittest.expectedFailure,
        skip_unless_conda_cudatoolkit=opt_skip(True),
        skip_if_external_memmgr=opt_skip(config.CUDA_MEMORY_MANAGER != "default"),
        skip_under_cuda_memcheck=opt_skip("CUDA_MEMCHECK" in os.environ),
        skip_without_nvdisasm=opt_skip(nvdisasm is None),
        skip_with_nvdisasm=opt_skip(nvdisasm is not None),
        skip_on_arm=opt_skip(arm),
        skip_on_wsl2=opt_skip(wsl),
        skip_if_cuda_includes_missing=lambda f: unittest.skipUnless(have_inc, "no cuda.h")(f),
        skip_if_curand_kernel_missing=lambda f: unittest.skipUnless(have_cur, "no curand_kernel.h")(f),
        cudadevrt_missing=lambda: False,
        skip_if_cudadevrt_missing=lambda f: f,
        skip_if_nvjitlink_missing=lambda r: unittest.skipIf(not nvjit, r),
        skip_on_nvjitlink_13_1_sm_120=opt_skip(False),
        numba_cuda_dir=pathlib.Path(PEER_TESTS).parent,
        test_data_dir=pathlib.Path(PEER_TESTS) / "data",
        HAS_NUMBA=False,
    )
    return m


# ---------------------------------------------------------------- finder
class _Loader(importlib.abc.Loader):
    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        self.saved = {
            k: self.module.__dict__.get(k, _Loader) for k in ("__name__", "__spec__", "__loader__", "__package__")
        }
        return self.module

    def exec_module(self, module):
        for k, v in self.saved.items():  # aliases keep their own identity
            if v is not _Loader and v is not None:
                with contextlib.suppress(Exception):
                    module.__dict__[k] = v


class ShimFinder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.table = None

    def find_spec(self, fullname, path=None, target=None):
        top = fullname.split(".")[0]
        if top not in TOPS:
            return None
        if self.table is None:
            self.table = SHIM()
        if fullname in self.table:
            return self.spec(fullname, self.table[fullname](fullname))
        if fullname == "numba.cuda.tests" or fullname.startswith("numba.cuda.tests."):
            rel = fullname.split(".")[3:]
            p = os.path.join(PEER_TESTS, *rel)
            if os.path.isdir(p):
                return (
                    importlib.util.spec_from_file_location(
                        fullname, os.path.join(p, "__init__.py"), submodule_search_locations=[p]
                    )
                    if os.path.exists(os.path.join(p, "__init__.py"))
                    else None
                )
            if os.path.exists(p + ".py"):
                return importlib.util.spec_from_file_location(fullname, p + ".py")
            return None
        if fullname.startswith("numba.cuda.") and fullname not in NOALIAS:
            v = _backend(fullname[len("numba.cuda.") :])
            if isinstance(v, _pt.ModuleType):
                return self.spec(fullname, _filled(fullname, v))
        hid = getattr(gpu_top, "_real", None)  # validation stand-in only
        if hid and fullname in hid and not fullname.startswith("numba.cuda"):
            return self.spec(fullname, hid[fullname])
        return self.spec(fullname, PoisonModule(fullname))

    def spec(self, fullname, module):
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=True)


sys.meta_path.insert(0, ShimFinder())

# ---------------------------------------------------------------- top-level names
cuda = gpu_cuda
sys.modules["numba.cuda"] = gpu_cuda
gpu_cuda.__dict__["HAS_NUMBA"] = True  # "from numba.core..." branches: all shimmed
gpu_cuda.__dict__.setdefault("config", config)
types = _types()
sys.modules["numba.types"] = sys.modules["numba.cuda.types"] = types
gpu_cuda.__dict__["types"] = types
errors = _load("numba.core.errors")
_fill(
    gpu_cuda,
    "numba.cuda",
    [
        "cudadrv",
        "core",
        "np",
        "typing",
        "utils",
        "args",
        "cgutils",
        "compiler",
        "codegen",
        "descriptor",
        "dispatcher",
        "cudadecl",
        "cudaimpl",
        "extending",
        "launchconfig",
        "misc",
        "memory_management",
        "flags",
        "itanium_mangler",
        "libdevicefuncs",
        "simulator",
        "vector_types",
        "kernels",
        "serialize",
        "typeconv",
        "errors",
        "random",
        "libdevice",
        "bf16",
        "fp16",
    ],
)
_fill(
    _load("numba.cuda.cudadrv"),
    "numba.cuda.cudadrv",
    ["driver", "devices", "devicearray", "nvrtc", "nvvm", "error", "runtime", "libs", "linkable_code", "dummyarray"],
)
typeof = _first("typing.typeof.typeof", "types.typeof", "typeof") or Poison("typeof")
vectorize, guvectorize = _vec("vectorize"), _vec("guvectorize")
njit = jit = objmode = prange = _cpu_only
HAS_NUMBA = False


def __getattr__(a):
    if a.startswith("__"):
        raise AttributeError(a)
    v = getattr(types, a, None) if not isinstance(types, PoisonModule) else None
    return v if v is not None else Poison("numba." + a)
