"""Answers ``import numba.cuda`` with `gpu.cuda`, on request only, so that a whole program runs unchanged.

``python -m gpu.numba script.py`` and ``gpu numba script.py`` do it for one program; `install` does it for this process.
Where numba is installed, all but its ``cuda`` is its own: ``njit``, ``typed``, ``types`` are what they were, and
kernels take them. Elsewhere a module of the few names that kernels need stands for it; what belongs to Numba's inside
isn't there then, and importing it says so.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

# Modules of Numba and what stands for them. What is below numba.cuda is looked for below gpu.cuda.
_MODULES = {
    "numba.cuda": "gpu.cuda",
    "numba.types": "gpu.types",
    "numba.core.types": "gpu.types",
    "numba.errors": "gpu.cuda.errors",
    "numba.core.errors": "gpu.cuda.errors",
    "numba.cuda.core.errors": "gpu.cuda.errors",
    "numba.config": "gpu.cuda.config",
    "numba.core.config": "gpu.cuda.config",
    "numba.cuda.core.config": "gpu.cuda.config",
    "numba.np.numpy_support": "gpu.cuda._typing",
    "numba.cuda.np.numpy_support": "gpu.cuda._typing",
    "numba.experimental": "gpu.numba.experimental",
    "numba.extending": "gpu.numba.extending",
    "numba.core.extending": "gpu.numba.extending",
    "numba.typed": "gpu.numba.typed",
    "numba.misc.special": "gpu.numba._plain",
    "numba.core.decorators": "gpu.numba._plain",
    "numba.cuda.api": "gpu.cuda",
}
_PACKAGES = ("numba.core", "numba.np", "numba.misc", "numba.cuda.core", "numba.cuda.np")
_HELP = (
    "Numba's inside isn't there in gpu: typing extensions, passes, LLVM and NVVM text have no counterpart. "
    "docs/numba.md of gpu says what to write instead"
)


_VERSION = (0, 60, 0)


def _ufunc(name: str) -> Callable[..., Any]:
    """``numba.vectorize`` and its kind, those of `gpu.cuda` whatever target is named."""

    def decorator(*args: Any, **options: Any) -> Any:
        from .. import cuda

        options.pop("nopython", None)
        options["target"] = "cuda"
        return getattr(cuda, name)(*args, **options)

    decorator.__name__ = name
    return decorator


def _numba() -> ModuleType:
    """The package ``numba``: types, decorators, and ``cuda``."""
    import gpu

    from .. import cuda, types
    from ..cuda import _typing, config, errors
    from . import _plain

    module = ModuleType("numba", __doc__)
    module.__path__ = []
    names = {name: getattr(types, name) for name in types.__all__}
    module.__dict__.update(names)
    module.__dict__.update({name: getattr(_plain, name) for name in _plain.__all__})
    module.__dict__.update({name: getattr(errors, name) for name in errors.__all__ if "Warning" in name})
    module.__dict__.update(
        __version__="0.60.0",
        version_info=_VERSION,
        carray=gpu.carray,
        config=config,
        cuda=cuda,
        errors=errors,
        farray=gpu.farray,
        from_dtype=_typing.from_dtype,
        guvectorize=_ufunc("guvectorize"),
        typeof=_typing.typeof,
        types=types,
        vectorize=_ufunc("vectorize"),
    )

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if f"numba.{name}" in _MODULES:  # numba imports those itself
            return importlib.import_module(f"numba.{name}")
        raise AttributeError(f"numba.{name} isn't there. {_HELP}")

    module.__dict__["__getattr__"] = missing
    return module


def _submodule(name: str) -> Any:
    """The module of that name; ImportError, with what to do, for one of Numba's inside."""
    if name in _MODULES or name in _PACKAGES:
        return importlib.import_module(name)
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    raise ImportError(f"{name} isn't there. {_HELP}", name=name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``numba.cuda`` and what is below it, before an installed one; without an installed one ``numba``, too."""

    beside = False  # an installed numba
    package = False  # an installed numba-cuda

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for each name below ``numba``; ImportError for what isn't there."""
        if fullname == "numba_cuda" and not self.package:
            return importlib.machinery.ModuleSpec(fullname, self)
        if fullname.partition(".")[0] != "numba" or (self.beside and not f"{fullname}.".startswith("numba.cuda.")):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module of gpu that stands for it, which keeps its own name and spec."""
        name = spec.name
        if name == "numba":
            return _numba()
        if name == "numba_cuda":  # programs look at its version
            package = ModuleType(name, "The package numba-cuda whose names `gpu.cuda` has.")
            package.__dict__["__version__"] = "0.30.4"
            return package
        if name in _PACKAGES:
            package = ModuleType(name)
            package.__path__ = []
            package.__dict__["__getattr__"] = lambda attribute: _submodule(f"{name}.{attribute}")
            return package
        ours = _MODULES.get(name) or ("gpu." + name.partition(".")[2] if name.startswith("numba.cuda.") else None)
        try:
            found = importlib.import_module(ours) if ours else None
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise ModuleNotFoundError(f"No module named '{name}'. {_HELP}", name=name)
        self._own = {key: found.__dict__.get(key) for key in ("__spec__", "__loader__", "__package__", "__path__")}
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Give a module of gpu back what importing it as another has changed."""
        if module.__name__.partition(".")[0] == "gpu":
            for key, value in self._own.items():
                if value is None:
                    module.__dict__.pop(key, None)
                else:
                    module.__dict__[key] = value


_finder = _Finder()


def install() -> None:
    """From now on ``import numba.cuda`` in this process gives `gpu.cuda`.

    Raises
    ------
    RuntimeError
        The real module was imported before.
    """
    if _finder in sys.meta_path:
        return
    if "numba.cuda" in sys.modules:
        raise RuntimeError("numba.cuda is imported already: call gpu.numba.install() before")
    _finder.beside = "numba" in sys.modules or importlib.util.find_spec("numba") is not None
    _finder.package = "numba_cuda" in sys.modules or importlib.util.find_spec("numba_cuda") is not None
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Take back what `install` did; modules that were imported so far stay as they are with who has them."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        ours = "numba.cuda." if _finder.beside else "numba."
        for name in [name for name in sys.modules if f"{name}.".startswith(ours)]:
            del sys.modules[name]
        if not _finder.package:
            sys.modules.pop("numba_cuda", None)
        if _finder.beside:
            sys.modules["numba"].__dict__.pop("cuda", None)


def run(argv: list[str]) -> None:
    """Run a program in which ``import numba.cuda`` gives `gpu.cuda`.

    Parameters
    ----------
    argv : list of str
        A script and its arguments, or ``-m``, a module and its arguments.
    """
    import os

    from .. import _scripts

    install()
    as_module = argv[0] == "-m"
    script, *args = argv[1:] if as_module else argv
    sys.path[0] = os.getcwd() if as_module else os.path.dirname(os.path.abspath(script))
    _scripts.run(script, args, as_module)


def main(argv: list[str]) -> None:
    """Run a program as `run` does, for a shell: what it raises is shown without what ran it.

    Parameters
    ----------
    argv : list of str
        A script and its arguments, or ``-m``, a module and its arguments.
    """
    from .. import _scripts

    show = sys.excepthook

    def show_its_own(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        error.__traceback__ = _scripts.of_script(trace)
        show(kind, error, error.__traceback__)

    sys.excepthook = show_its_own
    try:
        run(argv)
    except _scripts.NoScriptError as error:
        sys.exit(f"gpu: {error}")


__all__ = ["install", "main", "run", "uninstall"]
