"""``numba.cuda.extending``: functions whose implementation is chosen by the types of a call's arguments.

`overload`, `overload_method` and `overload_attribute` need nothing of Numba's compiler: what they register takes types
and gives a Python function, which kernels call. Types and code in LLVM's IR can't be added: those names are here, so
that a program that has them for Numba's own kernels can be imported, and a kernel that calls what they made is refused.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import _core, types
from .._literals import literal

if TYPE_CHECKING:
    from collections.abc import Callable

# What was registered, by the function that it stands for; ".name" are attributes, ".name()" methods.
overloads: dict[Any, list[_Overload]] = {}
_TARGETS = ("cuda", "gpu", "generic", "cpu")


class _Overload:
    """A function that chooses, and what it chose, by types and names of keywords."""

    def __init__(
        self, choose: Callable[..., Any], target: str, strict: bool = False, prefer_literal: bool = False
    ) -> None:
        self.choose = choose
        self.strict = strict
        self.prefer_literal = prefer_literal
        self.rank = _TARGETS.index(target)
        self._chosen: dict[Any, Any] = {}

    def __call__(self, kinds: tuple[Any, ...], names: tuple[str, ...]) -> Any:
        key = (kinds, names)
        if key not in self._chosen:
            positional = len(kinds) - len(names)
            made = self.choose(*kinds[:positional], **dict(zip(names, kinds[positional:], strict=True)))
            made = getattr(made, "py_func", made)
            if self.strict and made is not None:
                _check_alike(self.choose, made)
            self._chosen[key] = made
        return self._chosen[key]


def _check_alike(choose: Callable[..., Any], made: Callable[..., Any]) -> None:
    """Refuse an implementation whose parameters aren't those of the function that chose it."""
    from inspect import Parameter, signature

    typing, given = (list(signature(one).parameters.values()) for one in (choose, made))
    for parameter in (*typing, *given):
        if parameter.kind is Parameter.VAR_KEYWORD:
            raise TypeError(
                f"use of VAR_KEYWORD (e.g. **kwargs) is unsupported; offending argument name is '{parameter}'"
            )
    stars = [[str(p) for p in some if p.kind is Parameter.VAR_POSITIONAL] for some in (typing, given)]
    if stars[0] != stars[1]:
        raise TypeError(
            "Typing and implementation arguments differ in argument names: use of VAR_POSITIONAL (e.g. *args) argument "
            f"kind must be the same in both; offending argument name is '{(stars[0] + stars[1])[0]}'"
            + _first_difference(typing, given)
        )
    differs = [
        (what, [p for p in ours if key(p) not in set(map(key, others))])
        for what, key in (("argument names", lambda p: p.name), ("argument default values", lambda p: repr(p.default)))
        for ours, others in ((typing, given), (given, typing))
    ]
    for what, only in differs:
        if only:
            keyword = "keyword " if any(p.default is not Parameter.empty for p in only) else ""
            both = [[p for p in some if p.default is not Parameter.empty or not keyword] for some in (typing, given)]
            raise TypeError(
                f"Typing and implementation arguments differ in {keyword}{what}: {both[0]} and {both[1]}. "
                f"First difference: '{only[0].name}'"
            )


def _first_difference(typing: list[Any], given: list[Any]) -> str:
    """The first parameters without defaults that have different names, and all of both."""
    both = [[p for p in some if p.default is p.empty and p.kind is not p.VAR_POSITIONAL] for some in (typing, given)]
    differ = [b.name for a, b in zip(*both, strict=False) if a.name != b.name]
    return f". First difference: '{differ[0]}', in {both[0]} and {both[1]}" if differ else ""


def _public(kind: _core.Type) -> Any:
    """A scalar's type as programs name it: ``types.int32``."""
    return getattr(types, str(kind.dtype)) if kind.kind == "scalar" else kind


def implementation(
    function: Any, given: tuple[Any, ...], names: tuple[str, ...], constants: tuple[Any, ...] = ()
) -> Any:
    """What a call is to call instead.

    Parameters
    ----------
    function : object
        A key of `overloads`.
    given : tuple of gpu._core.Type
        Of all arguments.
    names : tuple of str
        Of those that came by keyword, the last ones.
    constants : tuple
        The values of arguments that are constants, None for others.

    Returns
    -------
    function, or str: why there is none
    """
    plain = tuple(map(_public, given))
    exact = tuple(
        kind if value is None else literal(bool(value) if kind == types.bool_ else value)
        for kind, value in zip(plain, constants or (None,) * len(plain), strict=True)
    )
    said = ""
    for candidate in sorted(overloads[function], key=lambda one: one.rank):
        for kinds in dict.fromkeys((exact, plain) if candidate.prefer_literal else (plain, exact)):
            try:
                made = candidate(kinds, names)
            except Exception as error:  # it is the program's, and may raise anything
                said = said or f": {error}"
                continue
            if made is not None:
                return made
    return f"no overload takes ({', '.join(map(repr, given))}){said}"


def by_values(function: Any, replace: Callable[[Any], Any]) -> Callable[..., Any]:
    """What stands for a function with overloads on the ``python`` device: it chooses by the types of values."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from ..signature import one_type
        from ._typing import typeof

        given = tuple(one_type(typeof(value)) for value in (*args, *kwargs.values()))
        chosen = implementation(function, given, tuple(kwargs))
        if isinstance(chosen, str):
            raise TypeError(f"{function.__name__}(): {chosen}")
        return replace(chosen)(*args, **kwargs)

    return call


def overload(func: Any, jit_options: Any = None, strict: bool = True, inline: str = "never", **kwargs: Any) -> Any:
    """Register implementations of a function for kernels of ``cuda.jit``.

    Parameters
    ----------
    func : callable
        What kernels call.
    strict : bool
        Whether an implementation must have the parameters of the function that chose it.
    prefer_literal : bool
        Whether types of constants (`types.IntegerLiteral`, ...) are tried before those without values, or after them.
    jit_options, inline : optional
        Without effect.
    target : str
        ``"cuda"``, which comes first, or ``"generic"``; what is for ``"cpu"`` isn't called here.

    Returns
    -------
    A decorator for a function that takes the types of the arguments, under their names, and gives a function, or None
    if it has none for them.

    Examples
    --------
    >>> def twice(x): ...
    >>> @overload(twice)
    ... def choose(x):
    ...     if isinstance(x, types.Float):
    ...         return lambda x: x * 2.0
    """
    target = kwargs.get("target", "cuda")
    if target not in _TARGETS:
        raise ValueError(f"overload: target is one of {', '.join(_TARGETS)}, and this is {target!r}")

    def register(choose: Any) -> Any:
        if target != "cpu":
            overloads.setdefault(func, []).append(_Overload(choose, target, strict, bool(kwargs.get("prefer_literal"))))
        return choose

    return register


def _member(
    key: str, typ: Any, target: str, make: Callable[[Any], Any], known: Callable[[Any], Any] = lambda kind: kind
) -> Any:
    """A decorator that registers an attribute or a method of the values of a type, or a class of types.

    `known` gives what stands for the type of a value where `typ` is from.
    """

    def register(choose: Any) -> Any:
        made = make(choose)

        def fits(obj: Any) -> Any:
            kind = known(obj)
            whole = isinstance(kind, typ) if isinstance(typ, type) else kind == typ
            return made(obj) if whole else None

        overload(key, strict=False, target=target)(fits)
        return choose

    return register


def overload_attribute(typ: Any, attr: str, target: str = "cuda", **kwargs: Any) -> Any:
    """Register an attribute that values of a type have in kernels, beside those that they have.

    Parameters
    ----------
    typ : a type, or a class of types such as ``types.Array``
    attr : str
    target : str
        As for `overload`.

    Returns
    -------
    A decorator for a function that takes the type and gives a function of the value.
    """
    return _member(f".{attr}", typ, target, lambda choose: choose)


def overload_method(typ: Any, attr: str, target: str = "cuda", **kwargs: Any) -> Any:
    """Register a method that values of a type have in kernels, beside those that they have.

    Parameters
    ----------
    typ, attr, target
        As for `overload_attribute`.

    Returns
    -------
    A decorator for a function that takes the types of the value and of the arguments, as for `overload`.
    """
    return _member(f".{attr}()", typ, target, _as_method(target))


def _as_method(target: str) -> Callable[[Any], Any]:
    def make(choose: Any) -> Any:
        def method() -> None:
            """What the name is in a kernel; `overloads` says what is called."""

        overload(method, target=target)(choose)
        return lambda obj: method

    return make


def adopt(template: Any, known: Callable[[Any], Any]) -> None:
    """Register what a program has registered with numba's own ``overload`` or its two like it.

    Parameters
    ----------
    template : type
        Numba's class for it.
    known : callable
        Gives numba's type for one of ours.
    """
    from functools import wraps

    inner = template._overload_func

    @wraps(inner)
    def choose(*kinds: Any, **named: Any) -> Any:
        return inner(*map(known, kinds), **{name: known(kind) for name, kind in named.items()})

    target = template.metadata.get("target", "generic")
    if target not in _TARGETS:
        return
    attr = getattr(template, "_attr", None)
    if attr is None:
        strict, literals = template._strict, template.prefer_literal
        overload(template.key, strict=strict, target=target, prefer_literal=literals)(choose)
    elif any(base.__name__ == "_OverloadMethodTemplate" for base in template.__mro__):
        _member(f".{attr}()", template.key, target, _as_method(target), known)(choose)
    else:
        _member(f".{attr}", template.key, target, lambda made: made, known)(choose)


class _Intrinsic:
    """What `intrinsic` makes: kernels refuse it."""

    def __init__(self, function: Any) -> None:
        self._name = getattr(function, "__name__", "intrinsic")
        overload(self, strict=False)(_refuse("an intrinsic is code for Numba's compiler: write it as a plain function"))

    def __repr__(self) -> str:
        return f"<intrinsic {self._name}>"


def _refuse(reason: str) -> Callable[..., Any]:
    def choose(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(reason)

    return choose


def intrinsic(*args: Any, **options: Any) -> Any:
    """What it makes isn't usable in kernels: it is code for Numba's compiler."""
    return _Intrinsic(args[0]) if args and callable(args[0]) else _Intrinsic


class _Registry:
    """Decorators for Numba's compiler, without effect, but that kernels refuse the functions that they are about."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], FunctionType):
            overload(args[0], strict=False, target="cpu" if args[0] in overloads else "generic")(
                _refuse("its type and code are for Numba's compiler: register a plain function with overload()")
            )
        return lambda function: function

    register = __call__


type_callable = lower_builtin = lower_cast = lower_getattr = lower_setattr = typeof_impl = _Registry()
register_model = make_attribute_wrapper = overload_classmethod = _Registry()


class core_models:  # Numba's name
    """Classes that data models of Numba's compiler derive from; no kernel uses them."""

    class StructModel:
        """A model of fields."""

        def __init__(self, dmm: Any, fe_type: Any, members: Any) -> None:
            self._members = members

    class OpaqueModel(StructModel):
        """A model of nothing."""

    class PrimitiveModel(StructModel):
        """A model of one value."""


models = core_models


def register_jitable(*args: Any, **options: Any) -> Any:
    """The function itself: kernels call plain Python functions."""
    return args[0] if args and callable(args[0]) else lambda function: function


def __getattr__(name: str) -> Any:
    from ._refused import refusal

    raise refusal("extending", name)


__all__ = ["intrinsic", "overload", "overload_attribute", "overload_method", "register_jitable", "type_callable"]
