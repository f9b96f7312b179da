"""Checks of numbers, options and installed libraries."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral, Real
from typing import Any

from recsys_ndcg.errors.classes import InvalidInputError, MissingExtraError
from recsys_ndcg.errors.wording import nearest, shown

_CLOSEST = 1e-12  # to 0 and 1: below, 1 - alpha has fewer than four digits of alpha


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
        except Exception as error:
            if comes_of_interrupt(error):
                raise KeyboardInterrupt from error
            absent = isinstance(error, ModuleNotFoundError) and error.name == library
            said = None if absent else error
            raise MissingExtraError(job=job, extra=extra, library=library, said=said) from said
    try:
        yield
    except ImportError as error:  # such as pandas', of a version that is too old for it
        if comes_of_interrupt(error):
            raise KeyboardInterrupt from error
        name = (error.name or libraries[-1]).partition(".")[0]
        raise MissingExtraError(job=job, extra=extra, library=name, said=error) from error


def comes_of_interrupt(error: BaseException | None) -> bool:
    """Return whether an interrupt led to an error, as where it stopped a library's import."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


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


def check_choice(
    name: str, value: object, allowed: Collection[str | float], also: str = ""
) -> None:
    """Refuse what is none of the words or numbers, nor what may stand there `also`."""
    if not (isinstance(value, str) or is_number(value)) or value not in allowed:
        known = ", ".join(map(repr, allowed))
        hint = nearest(value if isinstance(value, str) else shown(value), map(str, allowed))
        close = f" {hint}" if hint.startswith("Did") else ""
        msg = f"{name} must be one of {known}{also}, not {shown(value)}.{close}"
        raise InvalidInputError(msg)


def check_level(name: str, value: object, *, such_as: float) -> None:
    """Refuse what is no number between 0 and 1, or lies within 1e-12 of either."""
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        msg = f"{name} must be between 0 and 1, such as {such_as}, not {shown(value)}."
        raise InvalidInputError(msg)
    if not _CLOSEST <= value <= 1 - _CLOSEST:  # type: ignore[operator]
        msg = (
            f"{name} must be at least {_CLOSEST} away from 0 and 1, such as {such_as}, not "
            f"{shown(value)}: nothing closer can be computed exactly."
        )
        raise InvalidInputError(msg)


def check_whole(name: str, value: object, least: int, most: float = math.inf) -> None:
    """Refuse what is no whole number of at least this many, and at most that many."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) <= most
    ):
        among = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        msg = f"{name} must be a whole number {among}, not {shown(value)}."
        raise InvalidInputError(msg)
