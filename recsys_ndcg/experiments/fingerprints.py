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
_STANDARD_LIBRARY = os.path.realpath(sysconfig.get_path("stdlib"))
_CLASS_ID = re.compile(r"[0-9a-f]{32}")  # cloudpickle's id of a class, new in each process
_NOT_CODE = re.compile(r"__(doc|module|firstlineno|static_attributes|slotnames|annot\w*)__")
_TOOLS = {"cloudpickle", "joblib"}  # take objects apart, but compute no numbers
_PLAIN_TYPES = {str, int, float, bool, type(None)}
_MAX_SIZE = 100  # members of a list or a dict that are written out
_DEPTH = 5  # lists within lists that are written out
_DEFINED = FunctionType | type | ModuleType
#: Objects of the process, which count by their type's name.
_SHARED = (os.environ, random.random.__self__, np.random.random.__self__)  # type: ignore[attr-defined]
_lock = threading.Lock()  # the process has one list of modules that cloudpickle takes by value


class FingerprintError(InvalidInputError):
    """The content of an object, such as a lock or an open file, cannot be compared."""


def fingerprint(value: Any) -> tuple[str, dict[str, str]]:
    """Return the digest of a value, and the versions of the libraries that it refers to.

    It is the same in every process and from any folder.

    Raises
    ------
    FingerprintError
        The value holds an object whose content cannot be compared.
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
                TypeVar: lambda of: (TypeVar, (of.__name__, of.__bound__, of.__constraints__)),
                cached_property: lambda of: (cached_property, (of.func,)),
                type(cache(len)): lambda of: (cache, (of.__wrapped__,)),
            }
        )

    def save(self, obj: Any) -> None:
        """Pickle an object.

        Raises
        ------
        FingerprintError
            It cannot be pickled.
        """
        if isinstance(obj, MethodType):  # joblib would take only the function's name
            obj = ("method", obj.__func__, obj.__self__)
        elif isinstance(obj, np.ndarray) and not obj.flags.c_contiguous:
            obj = obj.copy(order="C")
        try:
            super().save(obj)
        except FingerprintError:
            raise
        except (Exception, SystemExit) as error:
            msg = f"it holds an object of {get_qualified_name(type(obj))} ({error})"
            raise FingerprintError(msg) from error

    def reducer_override(self, obj: Any) -> Any:
        """Take an object apart, in the form of `object.__reduce__`; pickle calls this."""
        if type(obj) in (list, tuple) and _is_plain(obj):
            reduced: Any = (bytes, (marshal.dumps(obj, 2),))  # version 3 adds references
        elif isinstance(obj, np.generic) and not obj.dtype.hasobject:
            reduced = bytes, (obj.dtype.str.encode() + obj.tobytes(),)
        elif isinstance(obj, dict):
            factory = obj.default_factory if isinstance(obj, defaultdict) else None
            reduced = type(obj), (), ([*dict.items(obj)], getattr(obj, "__dict__", None), factory)
        elif isinstance(obj, set | frozenset):
            reduced = type(obj), (), self._sort_members(obj)
        elif any(obj is one for one in _SHARED):
            reduced = str, (get_qualified_name(type(obj)),)
        elif isinstance(obj, _DEFINED):
            reduced = self._reduce_definition(obj)
        else:
            reduced = NotImplemented
        return reduced

    def _sort_members(self, values: Any) -> list[Any]:
        """Return the members of a set, or their digests, in the same order everywhere."""
        if _is_plain([*values]):
            return sorted(values, key=lambda one: (type(one).__name__, repr(one)))
        return sorted(map(self._digest, values))

    def _digest(self, value: Any) -> str:
        inner = _Hasher()
        inner.libraries, inner.by_value = self.libraries, self.by_value
        return str(inner.hash(value))

    def _reduce_code(self, code: CodeType) -> Any:
        """Take the code of a function without its file and its line numbers."""
        self.libraries["python"] = ".".join(platform.python_version_tuple()[:2])
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        return CodeType, (code.co_code, code.co_consts, code.co_exceptiontable, names, counts)

    def _reduce_definition(self, obj: Any) -> Any:
        """Take the user's functions and classes by value, and a library's by name."""
        module = obj if isinstance(obj, ModuleType) else sys.modules.get(obj.__module__)
        library = None if module is None else _find_library(module)
        if library is not None:
            self.libraries |= library
        elif isinstance(obj, ModuleType):
            members = {name: one for name, one in vars(obj).items() if isinstance(one, _DEFINED)}
            return ModuleType, (obj.__name__, _read_source(obj)), members
        elif module and module.__name__ not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            self.by_value.append(module)
        reduced = self._cloud.reducer_override(obj)
        if reduced is NotImplemented or len(reduced) == 2:  # by name
            return reduced
        _, args, (attributes, slots), *_ = reduced
        if isinstance(obj, FunctionType):
            del slots["_cloudpickle_submodules"]  # it depends on what has been imported
            named = _find_names(obj.__code__)
            used = {name: _select_used(one, named) for name, one in slots["__globals__"].items()}
            slots |= {"__globals__": used, "imports": self._find_imported(obj, named)}
            args = (obj.__code__,)
        else:
            args = [one for one in args if not (isinstance(one, str) and _CLASS_ID.fullmatch(one))]
            args = tuple(_keep_code(one) if isinstance(one, dict) else one for one in args)
        return type(obj), args, (_keep_code(attributes), _keep_code(slots))

    def _find_imported(self, function: FunctionType, named: set[str]) -> dict[str, Any]:
        """Return what a function uses of the modules that it imports while it runs."""
        used = {}
        for name, members, level in _find_imports(function.__code__):
            top = name.partition(".")[0]
            if level == 0 and _is_library(top):
                self.libraries |= _find_version(top)
                continue
            with suppress(Exception, SystemExit):  # the model will raise the error
                module = __import__(name, function.__globals__, None, members, level)
                used[f"{level} {name}"] = _select_used(module, named)
        return used


def _is_plain(values: list[Any] | tuple[Any, ...], depth: int = 4) -> bool:
    """Return whether all values are numbers and texts of Python, or lists and tuples of them."""
    others = {*map(type, values)} - _PLAIN_TYPES
    if not others or depth == 0 or not others <= {list, tuple}:
        return not others
    nested = [one for one in values if type(one) in others]
    return _is_plain([*chain.from_iterable(nested)], depth - 1)


def _keep_code(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in members.items() if not _NOT_CODE.fullmatch(name)}


def _find_library(module: ModuleType) -> dict[str, str] | None:
    """Return the version of the library that a module belongs to; None for the user's own."""
    name, file = module.__name__.partition(".")[0], Path(getattr(module, "__file__", None) or "")
    if name == "recsys_ndcg":  # by its version even in a checkout
        return {name: __version__}
    if name != "__main__" and _is_library(name):
        return _find_version(name)
    if file.is_file() and file.suffix not in {".py", ".ipynb"}:  # compiled
        return {module.__name__: sha256(file.read_bytes()).hexdigest()[:16]}
    return None


@cache
def _find_version(library: str) -> dict[str, str]:
    """Return the version of an installed library by its name; nothing for the standard library."""
    if library in _TOOLS or library in sys.stdlib_module_names:
        return {}
    packages = packages_distributions().get(library)
    module = sys.modules.get(library)
    found = version(packages[0]) if packages else getattr(module, "__version__", None)
    return {} if found is None else {library: str(found)}


def _is_library(name: str) -> bool:
    """Return whether a top-level module or package belongs to an installed library."""
    with suppress(ImportError, ValueError):
        spec = find_spec(name)
        if spec is None:
            return False
        places = [spec.origin] if spec.has_location else spec.submodule_search_locations or []
        return all(
            _LIBRARY_FOLDERS & {*Path(str(place)).parts}
            or Path(os.path.realpath(str(place))).is_relative_to(_STANDARD_LIBRARY)
            for place in places
        )
    return False


def _iterate_code(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of all functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _iterate_code(one)


def _find_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in the code of a function."""
    return {name for one in _iterate_code(code) for name in one.co_names}


def _select_used(value: Any, names: set[str], seen: tuple[ModuleType, ...] = ()) -> Any:
    """Return the members of a user's module that a function names: clean, of `helpers.clean`.

    A module and a function in it may have the same name, and modules may refer to each other.
    """
    if not isinstance(value, ModuleType) or _find_library(value) is not None:
        return value
    if value in seen:
        return value.__name__
    return {
        name: _select_used(member, names, (*seen, value))
        for name, member in sorted(vars(value).items())
        if name in names
    }


def _find_imports(code: CodeType) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield the imports in a function: the module, the imported names, and the relative level."""
    for one in _iterate_code(code):
        steps = list(dis.get_instructions(one))
        for level, members, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                yield step.argval, members.argval or (), level.argval or 0


def _read_source(module: ModuleType) -> bytes:
    with suppress(OSError, TypeError):
        return Path(str(module.__file__)).read_bytes()
    return b""


def get_qualified_name(kind: Any) -> str:
    """Return the import path of a class or function."""
    module = getattr(kind, "__module__", "")
    return f"{module}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"


def describe_value(value: Any, depth: int = 0) -> Any:
    """Return a value as readable JSON; an object is its type and, if it has one, a digest.

    Examples
    --------
    >>> describe_value({"k": 20, "init": (0.5, float("nan"))})
    {'k': 20, 'init': [0.5, 'nan']}
    """
    is_short = isinstance(value, dict | list | tuple) and len(value) <= _MAX_SIZE and depth < _DEPTH
    if is_short and isinstance(value, dict) and all(type(name) in _PLAIN_TYPES for name in value):
        return {str(name): describe_value(one, depth + 1) for name, one in value.items()}
    if is_short and not isinstance(value, dict):
        return [describe_value(one, depth + 1) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return repr(value)
    if isinstance(value, str | float | None) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return _describe_object(value)


def describe_globals(code: Any) -> dict[str, Any]:
    """Return the globals that a function uses: numbers as they are, and digests of the others."""
    function = inspect.unwrap(getattr(code, "__func__", code))
    if not inspect.isfunction(function):
        return {}
    values = {}
    for name in sorted(_find_names(function.__code__) & function.__globals__.keys()):
        value = function.__globals__[name]
        is_number = isinstance(value, int | float | None)  # a text may be a secret
        values[name] = value if is_number else _describe_object(value)
    return values


def _describe_object(value: Any) -> str:
    """Return the name of a type, class or function, and a digest of its content if it has one."""
    named = value if isinstance(value, type) or inspect.isroutine(value) else type(value)
    try:
        digest = f" {fingerprint(value)[0][:16]}"
    except FingerprintError:
        digest = ""
    return f"{get_qualified_name(named)}{digest}"
