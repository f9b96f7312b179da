"""Checks of numbers, paths and installed libraries."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors.classes import InvalidInputError, MissingExtraError
from recsys_ndcg.errors.visible import shown

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def refuse(reason: str) -> None:
    """Raise an error if there is a reason.

    Raises
    ------
    InvalidInputError
        With the reason as its message.
    """
    if reason:
        raise InvalidInputError(reason)


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
