"""Names that are imported when they are first asked for.

A worker of a search imports the plug-in to fit and to predict, and needs little of it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def found(package: str, name: str, places: Mapping[str, str]) -> Any:
    """Return what stands for a name in a package: what one of its modules has, or one of them.

    Parameters
    ----------
    package : str
        Its name.
    name : str
        What is asked for.
    places : mapping
        Of names to modules below the package, ``"catalogue.catalogue"``.

    Raises
    ------
    AttributeError
        Nothing does.

    Examples
    --------
    >>> found("recsys_ndcg", "shown", {"shown": "errors"})("a")
    "'a'"
    """
    if name in places:
        return getattr(import_module(f"{package}.{places[name]}"), name)
    if not name.startswith("_") and find_spec(f"{package}.{name}"):
        return import_module(f"{package}.{name}")
    msg = f"module {package!r} has no attribute {name!r}"
    raise AttributeError(msg)
