"""What tells a model or a function from another, as JSON: its name, parameters and source."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

_PLAIN = (str, int, float, bool, type(None))
_OURS = ("surprise", "recsys_ndcg")


def described_algorithm(algo: Any) -> dict[str, Any]:
    """Return what tells an algorithm from another."""
    kind = type(algo)
    return {"class": named(kind), "parameters": held(algo), **_source(kind)}


def described_function(function: Any) -> dict[str, Any]:
    """Return what tells a function from another: what it encloses, too."""
    inner = unwrapped(function)
    return {"function": named(inner), "parameters": bound(function), **_source(inner)}


def named(kind: Any) -> str:
    """Return where a class or function can be imported from."""
    module = getattr(kind, "__module__", "")
    return f"{module}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"


def plain(value: Any) -> Any:
    """Return what JSON can hold of a value; of what it cannot, the type and a digest, if it can."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, AbstractSet):
        return sorted(str(plain(one)) for one in value)
    value = value.item() if getattr(value, "shape", None) == () else value
    if isinstance(value, float) and not abs(value) < float("inf"):
        return repr(value)
    return value if isinstance(value, _PLAIN) else f"{named(_known_by(value))}{_contents(value)}"


def held(algo: Any) -> dict[str, Any]:
    """Return what the constructors of an algorithm take, as it holds it."""
    names = {"sim_options", "bsl_options"}
    for kind in type(algo).__mro__:
        made = vars(kind).get("__init__")
        names |= {*_signature(made)} if callable(made) else set()
    own = sorted(_attributes(algo).items())
    return {name: plain(value) for name, value in own if name in names - {"verbose"}}


def bound(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a function was given before it is called.

    Arguments, defaults, what it encloses, and what the object holds whose method it is.
    """
    found: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        found |= {f"{place}": plain(one) for place, one in enumerate(function.args)}
        found = {name: plain(one) for name, one in function.keywords.items()} | found
        function = function.func
    if not inspect.isroutine(function):  # an object that can be called
        return {name: plain(one) for name, one in _attributes(function).items()} | found
    given = {name: one.default for name, one in _signature(function).items()}
    own = {name: one for name, one in given.items() if one is not inspect.Parameter.empty}
    if inspect.ismethod(function):
        own |= _attributes(function.__self__)
    if inspect.isfunction(function):
        own |= inspect.getclosurevars(function).nonlocals
    return {name: plain(one) for name, one in own.items()} | found


def _attributes(given: Any) -> Mapping[str, Any]:
    return {} if isinstance(given, type) else getattr(given, "__dict__", {})


def _signature(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function that is not Python's
        return {}


def unwrapped(function: Any) -> Any:
    """Return the function below those that give it some of its arguments."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _known_by(value: Any) -> Any:
    """Return what names a value: itself, if it is a class or a function."""
    return value if isinstance(value, type) or inspect.isroutine(value) else type(value)


def _contents(value: Any) -> str:
    """Return a digest of arrays, tables and functions, empty for all else."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f" {value.dtype} {value.shape} {_digest(value.tobytes())}"
    if isinstance(value, pd.DataFrame | pd.Series):
        try:
            rows = pd.util.hash_pandas_object(value).to_numpy().tobytes()
        except TypeError:  # something in it has no hash
            return ""
        return f" {value.shape} {_digest(rows + repr(list(value.axes[-1])).encode())}"
    return "".join(f" {one}" for one in _source(value).values()) if inspect.isroutine(value) else ""


def _source(kind: Any) -> dict[str, str]:
    """Return a digest of how somebody's own class or function is written, where that is known."""
    if named(kind).partition(".")[0] in _OURS:
        return {}
    try:
        text = inspect.getsource(kind if inspect.isroutine(kind) else _class_of(kind))
    except (OSError, TypeError):
        code = getattr(kind, "__code__", None)  # of what was typed in, there is that alone
        return {} if code is None else {"source": _digest(repr(_written(code)).encode())}
    return {"source": _digest(text.encode(errors="replace"))}


def _written(code: CodeType) -> list[Any]:
    consts = [_written(one) if hasattr(one, "co_code") else repr(one) for one in code.co_consts]
    return [code.co_code, code.co_names, consts]


def _class_of(kind: Any) -> Any:
    return kind if isinstance(kind, type) else type(kind)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()
