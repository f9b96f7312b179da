"""Fingerprints: digests of everything in a model, a function or a metric that can move a number.

An object counts by its content. A function or a class of the user's own counts by its code and by
all that the code refers to; one of an installed library by its name and the library's version.
"""

from __future__ import annotations

import dis
import inspect
import io
import marshal
import os
import platform
import random
import re
import sys
import sysconfig
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import cloudpickle
import numpy as np
from joblib.hashing import NumpyHasher

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.version import __version__

_LIBRARY_FOLDERS = {"site-packages", "dist-packages"}
_RANDOM = re.compile(r"[0-9a-f]{32}")  # cloudpickle gives a class another in each process
_NOT_CODE = re.compile(r"__(doc|module|firstlineno|static_attributes|slotnames|annot\w*)__")
_TOOLS = {"cloudpickle", "joblib"}  # take objects apart, and compute nothing
_PLAIN = {str, int, float, bool, type(None)}
_MOST = 100  # members of a list or a dict that are written out
_DEEPEST = 5  # lists within lists that are written out
_DEFINED = FunctionType | type | ModuleType
#: What belongs to the process, and counts by its name.
_SHARED = (os.environ, random.random.__self__, np.random.random.__self__)  # type: ignore[attr-defined]
_lock = threading.Lock()  # cloudpickle has one list per process of modules to take by value


class FingerprintError(InvalidInputError):
    """An object has no content to compare: a lock, a connection, an open file."""


def fingerprint(value: Any) -> tuple[str, dict[str, str]]:
    """Return the digest of a value, and the versions of the libraries that it refers to.

    It is the same in every process, on any day and from any folder.

    Raises
    ------
    FingerprintError
        The value holds something that has no content to compare.
    """
    with _lock:
        hasher = _Hasher()
        try:
            return hasher.hash(value)[:32], dict(sorted(hasher.libraries.items()))
        finally:
            for module in hasher.by_value:
                cloudpickle.unregister_pickle_by_value(module)


class _Hasher(NumpyHasher):  # type: ignore[misc] # joblib has no types
    """joblib's hash of a pickle, with functions and classes taken apart by cloudpickle."""

    def __init__(self) -> None:
        super().__init__("sha256")
        self.libraries: dict[str, str] = {}
        self.by_value: list[ModuleType] = []
        self._cloud = cloudpickle.Pickler(io.BytesIO())
        self.dispatch_table = self._cloud.dispatch_table.new_child(
            {
                CodeType: self._reduce_code,
                TypeVar: lambda one: (TypeVar, (one.__name__, one.__bound__, one.__constraints__)),
                cached_property: lambda one: (cached_property, (one.func,)),
                type(cache(len)): lambda one: (cache, (one.__wrapped__,)),
            }
        )

    def save(self, obj: Any) -> None:
        """Pickle an object.

        Raises
        ------
        FingerprintError
            It cannot be pickled.
        """
        if isinstance(obj, MethodType):  # joblib would take the name of the function alone
            obj = ("method", obj.__func__, obj.__self__)
        elif isinstance(obj, np.ndarray) and not obj.flags.c_contiguous:
            obj = obj.copy(order="C")
        try:
            super().save(obj)
        except FingerprintError:
            raise
        except (Exception, SystemExit) as error:
            msg = f"it holds an object of {qualified_name(type(obj))} ({error})"
            raise FingerprintError(msg) from error

    def reducer_override(self, obj: Any) -> Any:
        """Take an object apart, in the form of `object.__reduce__`; pickle calls this."""
        if type(obj) in (list, tuple) and _is_plain(obj):
            found: Any = (bytes, (marshal.dumps(obj, 2),))  # the last version without references
        elif isinstance(obj, np.generic) and not obj.dtype.hasobject:
            found = bytes, (obj.dtype.str.encode() + obj.tobytes(),)
        elif isinstance(obj, dict):
            factory = obj.default_factory if isinstance(obj, defaultdict) else None
            found = type(obj), (), ([*dict.items(obj)], getattr(obj, "__dict__", None), factory)
        elif isinstance(obj, set | frozenset):
            found = type(obj), (), self._in_order(obj)
        elif any(obj is one for one in _SHARED):
            found = str, (qualified_name(type(obj)),)
        elif isinstance(obj, FunctionType | type | ModuleType):
            found = self._reduce_definition(obj)
        else:
            found = NotImplemented
        return found

    def _in_order(self, values: Any) -> list[Any]:
        """Return the members of a set, or their digests, in the same order everywhere."""
        if _is_plain([*values]):
            return sorted(values, key=lambda one: (type(one).__name__, repr(one)))
        return sorted(map(self._digest, values))

    def _digest(self, value: Any) -> str:
        inner = _Hasher()
        inner.libraries, inner.by_value = self.libraries, self.by_value
        return str(inner.hash(value))

    def _reduce_code(self, code: CodeType) -> Any:
        """Leave out the file and the lines in which a function is written."""
        self.libraries["python"] = ".".join(platform.python_version_tuple()[:2])
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        return CodeType, (code.co_code, code.co_consts, code.co_exceptiontable, names, counts)

    def _reduce_definition(self, obj: Any) -> Any:
        """Take functions and classes of the user's own by value, those of libraries by name."""
        module = obj if isinstance(obj, ModuleType) else sys.modules.get(obj.__module__)
        library = None if module is None else _library_of(module)
        if library is not None:
            self.libraries |= library
        elif isinstance(obj, ModuleType):
            held = {name: one for name, one in vars(obj).items() if isinstance(one, _DEFINED)}
            return ModuleType, (obj.__name__, _source_of(obj)), held
        elif module and module.__name__ not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            self.by_value.append(module)
        found = self._cloud.reducer_override(obj)
        if found is NotImplemented or len(found) == 2:  # by name
            return found
        _, args, (attributes, slots), *_ = found
        if isinstance(obj, FunctionType):
            del slots["_cloudpickle_submodules"]  # what has been imported by now
            named = _find_names(obj.__code__)
            used = {name: _used_of(one, named) for name, one in slots["__globals__"].items()}
            slots |= {"__globals__": used, "imports": self._imported_by(obj, named)}
            args = (obj.__code__,)
        else:
            args = [one for one in args if not (isinstance(one, str) and _RANDOM.fullmatch(one))]
            args = tuple(_only_code(one) if isinstance(one, dict) else one for one in args)
        return type(obj), args, (_only_code(attributes), _only_code(slots))

    def _imported_by(self, function: FunctionType, named: set[str]) -> dict[str, Any]:
        """Return what a function uses of the modules that it imports while it runs."""
        found = {}
        for name, members, level in _find_imports(function.__code__):
            top = name.partition(".")[0]
            if level == 0 and _is_library(top):
                self.libraries |= _version_of(top)
                continue
            with suppress(Exception, SystemExit):  # the model will say what cannot be imported
                module = __import__(name, function.__globals__, None, members, level)
                found[f"{level} {name}"] = _used_of(module, named)
        return found


def _is_plain(values: list[Any] | tuple[Any, ...], depth: int = 4) -> bool:
    """Return whether all values are numbers and texts of Python, or lists and tuples of them."""
    others = {*map(type, values)} - _PLAIN
    if not others or depth == 0 or not others <= {list, tuple}:
        return not others
    return _is_plain(
        [*chain.from_iterable(one for one in values if type(one) in others)], depth - 1
    )


def _only_code(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in members.items() if not _NOT_CODE.fullmatch(name)}


def _library_of(module: ModuleType) -> dict[str, str] | None:
    """Return the version of the library that a module belongs to; None for the user's own."""
    name, file = module.__name__.partition(".")[0], Path(getattr(module, "__file__", None) or "")
    if name == "recsys_ndcg":  # by its version even in a checkout
        return {name: __version__}
    if name != "__main__" and _is_library(name):
        return _version_of(name)
    if file.is_file() and file.suffix not in {".py", ".ipynb"}:  # compiled
        return {module.__name__: sha256(file.read_bytes()).hexdigest()[:16]}
    return None


@cache
def _version_of(library: str) -> dict[str, str]:
    """Return the version of an installed library by its name; nothing for the standard library."""
    if library in _TOOLS or library in sys.stdlib_module_names:
        return {}
    found = packages_distributions().get(library)
    known = version(found[0]) if found else getattr(sys.modules.get(library), "__version__", None)
    return {} if known is None else {library: str(known)}


def _is_library(name: str) -> bool:
    """Return whether the module or package of that name, without a dot, is installed."""
    standard = os.path.realpath(sysconfig.get_path("stdlib"))
    with suppress(ImportError, ValueError):
        found = find_spec(name)
        if found is None:
            return False
        places = [found.origin] if found.has_location else found.submodule_search_locations or []
        return all(
            _LIBRARY_FOLDERS & {*Path(str(place)).parts}
            or Path(os.path.realpath(str(place))).is_relative_to(standard)
            for place in places
        )
    return False


def _iterate_code(code: CodeType) -> Iterator[CodeType]:
    """Give the code of a function, and of all functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _iterate_code(one)


def _find_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in the code of a function."""
    return {name for one in _iterate_code(code) for name in one.co_names}


def _used_of(value: Any, names: set[str], seen: tuple[ModuleType, ...] = ()) -> Any:
    """Return of a module of the user's own what a function names, of `helpers.clean` clean.

    It may name a module and a function in it alike, `clean.clean`; modules may hold each other.
    """
    if not isinstance(value, ModuleType) or _library_of(value) is not None:
        return value
    if value in seen:
        return value.__name__
    held = {name: one for name, one in sorted(vars(value).items()) if name in names}
    return {name: _used_of(one, names, (*seen, value)) for name, one in held.items()}


def _find_imports(code: CodeType) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Give what a function imports while it runs: the module, what of it, and how relative."""
    for one in _iterate_code(code):
        steps = list(dis.get_instructions(one))
        for level, members, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                yield step.argval, members.argval or (), level.argval or 0


def _source_of(module: ModuleType) -> bytes:
    with suppress(OSError, TypeError):
        return Path(str(module.__file__)).read_bytes()
    return b""


def qualified_name(kind: Any) -> str:
    """Return where a class or function can be imported from."""
    module = getattr(kind, "__module__", "")
    return f"{module}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"


def readable(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON that people read; of an object its type and, if it has one, a digest.

    Examples
    --------
    >>> readable({"k": 20, "init": (0.5, float("nan"))})
    {'k': 20, 'init': [0.5, 'nan']}
    """
    is_short = isinstance(value, dict | list | tuple) and len(value) <= _MOST and depth < _DEEPEST
    if is_short and isinstance(value, dict) and all(type(name) in _PLAIN for name in value):
        return {str(name): readable(one, depth + 1) for name, one in value.items()}
    if is_short and not isinstance(value, dict):
        return [readable(one, depth + 1) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return repr(value)
    if isinstance(value, str | float | None) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return _type_and_digest(value)


def globals_of(code: Any) -> dict[str, Any]:
    """Return the globals that a function names: numbers, and digests of all else."""
    function = inspect.unwrap(getattr(code, "__func__", code))
    if not inspect.isfunction(function):
        return {}
    found = {}
    for name in sorted(_find_names(function.__code__) & function.__globals__.keys()):
        value = function.__globals__[name]
        is_number = isinstance(value, int | float | None)  # others may be secrets
        found[name] = value if is_number else _type_and_digest(value)
    return found


def _type_and_digest(value: Any) -> str:
    """Return the name of a type, class or function, and a digest of its content if it has one."""
    named = value if isinstance(value, type) or inspect.isroutine(value) else type(value)
    try:
        digest = f" {fingerprint(value)[0][:16]}"
    except FingerprintError:
        digest = ""
    return f"{qualified_name(named)}{digest}"
