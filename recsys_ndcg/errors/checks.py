"""Checks of numbers, options and installed libraries."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from recsys_ndcg.errors.classes import InvalidInputError, MissingExtraError
from recsys_ndcg.errors.wording import quote, suggest

Function = TypeVar("Function", bound=Callable[..., Any])
_CHECKOUT = Path(__file__).parents[2]
_PROJECT_NAME = 'name = "recsys-ndcg"'  # in the pyproject.toml of a checkout
_CLOSEST = 1e-12  # to 0 and 1: below, 1 - alpha has fewer than four digits of alpha


@contextmanager
def require_libraries(*libraries: str, job: str, extra: str) -> Iterator[None]:
    """Import the libraries that a job needs, and translate import errors raised during the job.

    Parameters
    ----------
    *libraries : str
        The names to import.
    job : str
        What they are needed for: the subject of the message.
    extra : str
        The extra of this package that installs them.

    Raises
    ------
    MissingExtraError
        A library is not installed, or fails to import.
    """
    for library in libraries:
        try:
            import_module(library)
        except Exception as error:
            if is_caused_by_interrupt(error):
                raise KeyboardInterrupt from error
            is_missing = isinstance(error, ModuleNotFoundError) and error.name == library
            cause = None if is_missing else error
            raise _missing_extra(job, extra, library, cause) from cause
    try:
        yield
    except ImportError as error:  # such as pandas', if a version is too old for it
        if is_caused_by_interrupt(error):
            raise KeyboardInterrupt from error
        name = (error.name or libraries[-1]).partition(".")[0]
        raise _missing_extra(job, extra, name, error) from error


#: Of libraries that several distributions install.
_DISTRIBUTIONS = {"surprise": "surprise (scikit-surprise, or its fork scikit-surprise-2)"}
#: Of libraries that pip knows by another name, for copies of the package that are not installed.
_PIP_NAMES = {
    "surprise": "scikit-surprise",
    "sklearn": "scikit-learn",
    "vl_convert": "vl-convert-python",
    "mlflow": "mlflow-skinny",
}
_IN_EXTRA = re.compile(r"""(.*?)\s*;.*extra == ['"](.*?)['"]""")
_OTHER_EXTRAS = re.compile(r"recsys[-_]ndcg\[(.*)\]")


def _missing_extra(
    job: str, extra: str, library: str, cause: Exception | None
) -> MissingExtraError:
    """Return the error for a library that is not installed, or that raised a cause on import."""
    source = _source(extra, library)
    if cause is None:
        name = _DISTRIBUTIONS.get(library, library)
        msg = f"{job} needs {name}, which is not installed. Run: pip install {source}"
    else:
        # pip's cache may hold a build for a numpy that is gone
        msg = (
            f"{job} needs {library}, which is installed{_location(library)} but cannot be used: "
            f"{_first_line(cause)}. If that file is your own, rename it. Otherwise run: pip "
            f"install --upgrade --force-reinstall --no-cache-dir {source}"
        )
    return MissingExtraError(msg)


def _source(extra: str, library: str) -> str:
    """Return what to pass to pip: this checkout if the package is in one, else the libraries.

    Not the name of this package, which is not in an index, or might be someone else's there.
    """
    try:
        project = (_CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        project = ""
    if _PROJECT_NAME in project:
        return f"-e {shlex.quote(f'{_shorten(_CHECKOUT)}[{extra}]')}"
    found = _list_requirements(extra) or [_PIP_NAMES.get(library, library)]
    return " ".join(map(shlex.quote, found))


def _list_requirements(extra: str) -> list[str]:
    """Return the requirements of an extra, as the installed package declares them.

    Those of the extras that it includes are among them. Empty if the package is not installed.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - for errors only

    try:
        declared = [*filter(None, map(_IN_EXTRA.match, requires("recsys-ndcg") or ()))]
    except PackageNotFoundError:  # a copy, or a zip on the path
        return []
    found: dict[str, None] = {}
    wanted = [extra]
    for name in wanted:  # grows
        for requirement in (one[1] for one in declared if one[2] == name):
            if others := _OTHER_EXTRAS.fullmatch(requirement):
                wanted += [one for one in others[1].split(",") if one not in wanted]
            else:
                found[requirement] = None
    return [*found]


def _shorten(path: Path) -> str:
    """Return a path relative to the current folder, if that is shorter."""
    try:
        return min(str(path), os.path.relpath(path), key=len)
    except (OSError, ValueError):  # the current folder is gone, or on another drive
        return str(path)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def _location(library: str) -> str:
    """Return the file that a library is imported from, in brackets."""
    try:
        spec = find_spec(library)
    except (ImportError, ValueError):
        return ""
    return f" ({spec.origin})" if spec and spec.origin else ""


def is_caused_by_interrupt(error: BaseException | None) -> bool:
    """Return whether a keyboard interrupt led to an error, for instance to a failed import."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def is_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are not.

    Examples
    --------
    >>> is_number(3), is_number("3"), is_number(float("nan"))
    (True, False, False)
    """
    try:
        if type(value).__name__ in ("bool", "timedelta64"):  # NumPy's durations are Integral
            return False
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer larger than all floats
        return False


def as_float(value: Any) -> float:
    """Return a number as a float: half and single precision by their decimals, -0.0 as 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> as_float(np.float32(0.1)), as_float(-0.0)
    (0.1, 0.0)
    """
    is_short = type(value).__name__ in ("float16", "float32")
    return float(str(value) if is_short else value) + 0.0


def check_choice(
    name: str, value: object, allowed: Collection[str | float], also: str = ""
) -> None:
    """Raise if a value is not one of the allowed words or numbers.

    Parameters
    ----------
    name : str
        The option's name.
    value : object
        Its value.
    allowed : collection of str or float
        The values that it may have.
    also : str
        Further text for the message, such as ``" or a function"``.

    Raises
    ------
    InvalidInputError
        The message lists what is allowed.
    """
    if not (isinstance(value, str) or is_number(value)) or value not in allowed:
        known = ", ".join(map(repr, allowed))
        hint = suggest(value if isinstance(value, str) else quote(value), map(str, allowed))
        close = f" {hint}" if hint.startswith("Did") else ""
        msg = f"`{name}` must be one of {known}{also}, not {quote(value)}.{close}"
        raise InvalidInputError(msg)


def check_flag(name: str, value: object) -> None:
    """Raise unless a value is True or False, of Python or NumPy."""
    if type(value).__name__ not in ("bool", "bool_"):
        msg = f"`{name}` must be True or False, not {quote(value)}."
        raise InvalidInputError(msg)


def check_level(name: str, value: object, *, such_as: float) -> None:
    """Raise unless a value is a number between 0 and 1, at least 1e-12 away from both.

    Raises
    ------
    InvalidInputError
        It is not.
    """
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        msg = f"`{name}` must be between 0 and 1, such as {such_as}, not {quote(value)}."
        raise InvalidInputError(msg)
    if not _CLOSEST <= value <= 1 - _CLOSEST:  # type: ignore[operator]
        msg = (
            f"`{name}` must be at least {_CLOSEST} away from 0 and 1, such as {such_as}, not "
            f"{quote(value)}: nothing closer can be computed exactly."
        )
        raise InvalidInputError(msg)


def check_integer(name: str, value: object, least: int, most: float = math.inf) -> None:
    """Raise unless a value is an integer from `least` to `most`.

    Raises
    ------
    InvalidInputError
        It is not.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) <= most
    ):
        bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        msg = f"`{name}` must be a whole number {bounds}, not {quote(value)}."
        raise InvalidInputError(msg)
