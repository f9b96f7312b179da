"""Checks of options: a word of a list, a level, a whole number."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING

from recsys_ndcg.errors import InvalidInputError, is_number, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Collection

_CLOSEST = 1e-12  # to 0 and 1: below, 1 - alpha has fewer than four digits of alpha


def check_choice(name: str, value: object, allowed: Collection[str]) -> None:
    """Refuse what is none of the words."""
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(repr(one) for one in allowed)
        hint = nearest(str(value), allowed)
        close = f" {hint}" if hint.startswith("Did") else ""
        msg = f"{name} must be one of {known}, not {shown(value)}.{close}"
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
