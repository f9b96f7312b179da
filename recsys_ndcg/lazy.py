"""Lazy attributes and lazy imports."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

Value = TypeVar("Value")
_IMPORT = re.compile(r"from (\S+) import \w+ as (\w+)(?:  # (unlisted|a module))?")


class lazy_property(cached_property[Value]):  # noqa: N801 - used as a decorator, like property
    """Compute an attribute once, at the first access.

    `functools.cached_property` of Python 3.11 holds one lock for all instances of a class while
    it computes, so that threads over blocks would wait for each other.
    """

    if not TYPE_CHECKING:  # type checkers use `cached_property`

        def __get__(self, instance: object | None, owner: type | None = None) -> Any:
            """Compute the value and keep it under the attribute's own name."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class Viewed:
    """A value that notebooks show as a document, which a room above its own builds."""

    #: The function that builds the document, ``module:name``.
    _view: ClassVar[str]

    def _repr_html_(self) -> str:
        module, _, name = self._view.partition(":")
        html: str = getattr(import_module(module), name)(self).render("html")
        return html


@dataclass(eq=False, repr=False)
class Cache:
    """A cache of one value per key; also a base of such classes.

    Threads that ask for a value at the same time may each compute it.

    Examples
    --------
    >>> cache = Cache()
    >>> cache.get_or_compute("a", lambda: 1), cache.get_or_compute("a", lambda: 2)
    (1, 1)
    """

    _values: dict[Hashable, Any] = field(default_factory=dict, init=False)

    def get_or_compute(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key; compute it at the first call."""
        if key not in self._values:
            self._values[key] = compute()
        value: Value = self._values[key]
        return value


def attach_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports lazily.

    The package's ``__init__.pyi`` is the only list of its names, one per line:
    ``from recsys_ndcg.room.file import name as name``, or ``from recsys_ndcg.room import file as
    file`` for a file of its own. Type checkers read the same file. Names with the comment
    ``# unlisted`` are for other rooms; those with ``# a module`` are in ``__dir__`` only.

    Parameters
    ----------
    package, file : str
        The package's ``__name__`` and ``__file__``.

    Examples
    --------
    >>> import recsys_ndcg
    >>> "evaluate" in recsys_ndcg.__all__
    True
    """
    # by the loader, because Spark sends the package to its workers as a zip
    loader: Any = sys.modules[package].__loader__
    stub = loader.get_data(f"{file.removesuffix('.py')}.pyi")
    imports = _IMPORT.findall(stub.decode())
    modules = {name: module for module, name, _ in imports}
    public_names = sorted(name for _, name, comment in imports if not comment)
    listed = sorted(name for _, name, comment in imports if comment != "unlisted")

    def __getattr__(name: str) -> Any:  # noqa: N807 - becomes the package's
        """Import a name at its first use, and keep it."""
        if modules.get(name, package) != package:
            value = getattr(import_module(modules[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        if not name.startswith("__"):
            with suppress(ModuleNotFoundError):
                return import_module(f"{package}.{name}")
        msg = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(msg)

    def __dir__() -> list[str]:  # noqa: N807 - becomes the package's
        """List the public names, also names that are not imported yet."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_globals.get("__name__") == "pydoc":  # would print every class in full
                return []
            frame = frame.f_back
        return listed

    return __getattr__, __dir__, public_names
