"""Warnings that point at the caller's line, and messages that begin with a name."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.errors.classes import DataWarning, MissingExtraError, RecsysNdcgError
from recsys_ndcg.errors.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PACKAGE = Path(__file__).parents[1]


_SAID: ContextVar[list[str] | None] = ContextVar("_SAID", default=None)


@contextmanager
def about(name: str) -> Iterator[list[str]]:
    """Begin an error with a name, and gather what is warned of, where one of several is looked at.

    Raises
    ------
    RecsysNdcgError
        As it was raised, with the name.
    """
    said: list[str] = []
    token = _SAID.set(said)
    try:
        yield said
    except MissingExtraError:
        raise
    except RecsysNdcgError as error:
        msg = f"{name}: {error}" if name else str(error)
        raise type(error)(msg) from None
    finally:
        _SAID.reset(token)


def warn_of_some(said: Mapping[str, Iterable[str]]) -> None:
    """Emit once what is said of several, with the names of those it is said of if not of all."""
    names: dict[str, list[str]] = {}
    for name, messages in said.items():
        for message in dict.fromkeys(messages):
            names.setdefault(message, []).append(name)
    for message, some in names.items():
        told = message if len(some) == len(said) else f"{', '.join(some)}: {message}"
        warn(told)


def warn(message: str) -> None:
    """Emit a `DataWarning` that points at the line outside this package which led to it."""
    said = _SAID.get()
    if said is not None:
        said.append(message)
        return
    level, frame = 1, sys._getframe()  # noqa: SLF001 - as pandas does
    while frame.f_back and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(visible(message), DataWarning, stacklevel=level)
