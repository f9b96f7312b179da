"""Values worked out, and names imported, when first asked for, without a lock."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - used as a decorator, like property
    """Compute an attribute once, at the first access.

    `functools.cached_property` of Python 3.11 holds one lock for all instances of a class while
    it computes, so that threads over blocks would wait for each other.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Value | lazy[Value]:
        """Compute the value and keep it under the attribute's own name."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value


class Known:
    """Values worked out once for each key; used by one thread at a time.

    Examples
    --------
    >>> known = Known()
    >>> known.once("a", lambda: 1), known.once("a", lambda: 2)
    (1, 1)
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed when it is asked for first."""
        if key not in self._values:
            self._values[key] = compute()
        value: Value = self._values[key]
        return value


def imported(package: str, name: str, places: Mapping[str, str]) -> Any:
    """Return what stands for a name in a package: what one of its modules has, or one of them.

    Parameters
    ----------
    package : str
        Its name.
    name : str
        What is asked for.
    places : mapping
        Of names to modules below the package, ``"catalogue.catalogue"``; of modules to themselves.

    Raises
    ------
    AttributeError
        Nothing does.

    Examples
    --------
    >>> imported("recsys_ndcg", "shown", {"shown": "errors"})("a")
    "'a'"
    """
    if name not in places:
        msg = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(msg)
    module = import_module(f"{package}.{places[name]}")
    return module if places[name] == name else getattr(module, name)
