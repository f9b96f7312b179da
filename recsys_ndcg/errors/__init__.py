"""The errors and the warning a caller may catch."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PACKAGE = Path(__file__).parents[1]
_LONGEST = 100
_SAID: ContextVar[list[str] | None] = ContextVar("_SAID", default=None)
_NAMED = 'name = "recsys-ndcg"'  # in the pyproject.toml of a checkout


class RecsysNdcgError(ValueError):
    """Everything this package raises on purpose; the message is one visible line."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(visible(str(message)), *more)


class InvalidInputError(RecsysNdcgError):
    """The data or an option cannot be used; the message says where and what to do."""


class DivergedModelError(InvalidInputError):
    """A model estimates NaN or infinity, and what that is clipped to looks like a rating."""


class UnknownKeyError(InvalidInputError, KeyError):
    """What a report raises as a mapping, asked for a metric that it does not have."""

    __str__ = ValueError.__str__


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


@contextmanager
def needing(*libraries: str, job: str, extra: str) -> Iterator[None]:
    """Import the libraries that a job needs, and see it through if it needs more of them.

    Raises
    ------
    MissingExtraError
        A library is not installed; or it is, and fails.
    """
    for library in libraries:
        try:
            import_module(library)
        except Exception as error:  # noqa: BLE001 - built for another numpy, it is a ValueError
            absent = isinstance(error, ModuleNotFoundError) and error.name == library
            said = None if absent else error
            raise MissingExtraError(job=job, extra=extra, library=library, said=said) from said
    try:
        yield
    except ImportError as error:  # such as pandas', of a version that is too old for it
        name = (error.name or libraries[-1]).partition(".")[0]
        raise MissingExtraError(job=job, extra=extra, library=name, said=error) from error


@contextmanager
def reading(path: object) -> Iterator[None]:
    """Turn what the system says against a file that is read into an error of ours.

    Raises
    ------
    InvalidInputError
        It is no path, or the file cannot be read.
    """
    check_path(path)
    try:
        yield
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror or error})."
        raise InvalidInputError(msg) from None


def check_path(path: object) -> None:
    """Refuse what the system has no name for."""
    if not isinstance(path, str | os.PathLike):
        msg = f"Give the path of a file, not {shown(path)}."
        raise InvalidInputError(msg)
    try:
        named = b"\0" not in os.fsencode(path) and os.fspath(path) != ""
    except UnicodeEncodeError:
        named = False
    if not named:
        msg = f"{str(path)!r}: cannot be the name of a file."
        raise InvalidInputError(msg)


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


class DataWarning(UserWarning):
    """The data is legal, but its scores are likely to mislead."""


def is_number(value: object) -> bool:
    """Tell a finite number from anything else, True and False among it.

    Examples
    --------
    >>> is_number(3), is_number("3"), is_number(float("nan"))
    (True, False, False)
    """
    try:
        if type(value).__name__ in ("bool", "timedelta64"):  # NumPy calls a duration an integer
            return False
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def as_float(value: Any) -> float:
    """Return a number as a float, a short one as the decimal that it stands for; -0.0 as 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> as_float(np.float32(0.1)), as_float(-0.0)
    (0.1, 0.0)
    """
    short = type(value).__name__ in ("float16", "float32")
    return float(str(value) if short else value) + 0.0


def shown(value: object) -> str:
    """Return a value as a message shows it: on one short line, numbers as Python writes them.

    Examples
    --------
    >>> import numpy as np
    >>> shown({"k": np.float64(2.5)})
    "{'k': 2.5}"
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = value.tolist() if hasattr(value, "tolist") else value
    try:
        written = repr(plain)
    except ValueError:  # Python writes no whole number of thousands of digits
        return "a number of more than 4300 digits"
    except RecursionError:
        return f"a {type(plain).__name__} that is nested too deep to be shown"
    text = " ".join(re.sub(r"np\.\w+\(([^()]*)\)", r"\1", written).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the hint naming the word that was probably meant, or all that exist.

    Examples
    --------
    >>> nearest("ndgc", ["ndcg", "recall"])
    "Did you mean 'ndcg'?"
    >>> nearest("x", ["ndcg", "recall"])
    'There are: ndcg, recall.'
    """
    import difflib  # noqa: PLC0415 - needed where something is wrong

    known = sorted(words)
    close = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."
