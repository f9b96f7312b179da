"""The errors and the warning that a caller may catch."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path

from recsys_ndcg.errors.wording import visible

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


def warn_of_several(said: Mapping[str, Iterable[str]]) -> None:
    """Warn once of what is said of several, with the names of those if not of all."""
    names: dict[str, list[str]] = {}
    for name, messages in said.items():
        for told in dict.fromkeys(messages):
            names.setdefault(told, []).append(name)
    for told, some in names.items():
        warn(told if len(some) == len(said) else f"{', '.join(some)}: {told}")


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


_NAMED = 'name = "recsys-ndcg"'  # in the pyproject.toml of a checkout


class RecsysNdcgError(ValueError):
    """Everything this package raises on purpose; the message is one visible line."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(visible(str(message)), *more)


class InvalidInputError(RecsysNdcgError):
    """The data or an option cannot be used; the message says where and what to do."""

    @classmethod
    def raise_for(cls, reason: str) -> None:
        """Raise it if there is a reason.

        Raises
        ------
        InvalidInputError
            With the reason as its message.
        """
        if reason:
            raise cls(reason)


class DivergedModelError(InvalidInputError):
    """A model estimates NaN or infinity, and what that is clipped to looks like a rating."""


class UnknownMetricError(RecsysNdcgError):
    """No metric has the name that was asked for."""


class MissingExtraError(RecsysNdcgError, ImportError):
    """A job needs a library that cannot be used; the message says why, and what brings it.

    The command that it names is one that works where this package is: in a checkout, which is on no
    index, the checkout is what is installed.

    Parameters
    ----------
    job : str
        What it is needed for.
    extra : str
        The extra of this package that brings it.
    library : str
        As it is imported.
    said : Exception, optional
        What was raised, if the library is there and fails.
    """

    def __init__(
        self, *, job: str, extra: str, library: str, said: Exception | None = None
    ) -> None:
        if said is None:
            msg = (
                f"{job} needs {library}, which is not installed. Run: pip install {_source(extra)}"
            )
        else:
            # nothing kept, for what pip keeps may be built for a numpy that is gone
            msg = (
                f"{job} needs {library}, which is there{_place(library)} but cannot be used: "
                f"{_first_line(said)}. Unless that is a file of yours, run: pip install --upgrade "
                f"--force-reinstall --no-cache-dir {_source(extra)}"
            )
        super().__init__(msg)


def _source(extra: str) -> str:
    """Return what pip installs to bring an extra: this checkout, or the package by its name."""
    checkout = _PACKAGE.parent
    try:
        ours = _NAMED in (checkout / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        ours = False
    if not ours:
        return f"'recsys-ndcg[{extra}]'"
    return f"-e {shlex.quote(f'{_short(checkout)}[{extra}]')}"


def _short(path: Path) -> str:
    """Return the shorter writing of a path: as it is, or from where one stands."""
    try:
        return min(str(path), os.path.relpath(path), key=len)
    except (OSError, ValueError):  # one stands nowhere, or on another drive
        return str(path)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def _place(library: str) -> str:
    """Return where a library is imported from."""
    try:
        found = find_spec(library)
    except (ImportError, ValueError):
        return ""
    return f" ({found.origin})" if found and found.origin else ""


class DataWarning(UserWarning):
    """The data is legal, but its scores are likely to mislead."""
