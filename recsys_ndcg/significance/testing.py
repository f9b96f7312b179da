"""How pairs of models are tested, as one value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from recsys_ndcg.errors import InvalidInputError, is_number, nearest, shown

MOST_DRAWS = 10_000_000
_CLOSEST = 1e-12  # to 0 and 1: below, 1 - alpha has fewer than four digits of alpha
TESTS = ("t", "randomisation", "bootstrap", "wilcoxon", "sign")
CORRECTIONS = ("max-T", "holm", "bonferroni", "bh", "none")
#: Those whose intervals hold for all pairs at once, and agree with the corrected p.
SIMULTANEOUS = ("max-T", "bonferroni")

#: Those that have intervals of their own; the others look at ranks or signs, and have that of t.
AGREEING = ("t", "randomisation", "bootstrap")

#: Those that draw signs or users, which takes its time.
DRAWN = ("randomisation", "bootstrap")


@dataclass(frozen=True)
class Testing:
    """How pairs of models are tested.

    Parameters
    ----------
    test : {'t', 'randomisation', 'bootstrap', 'wilcoxon', 'sign'}
        Student's paired t; random signs of the differences (Fisher 1935); resampled users, shifted
        to a difference of 0 (Efron & Tibshirani 1993, chapter 16); Wilcoxon's signed ranks (1945);
        wins against losses.
    correction : {'max-T', 'holm', 'bonferroni', 'bh', 'none'}
        For testing many pairs. The single-step max-T knows how the pairs depend on each other
        (Westfall & Young 1993; for t: Hothorn, Bretz & Westfall 2008); it, Holm (1979) and
        Bonferroni bound the chance of any false finding, Benjamini & Hochberg (1995) the share of
        false ones among the findings.
    alpha : float
        The level, between 0 and 1, and at least 1e-12 away from both.
    draws : int
        Random signs, resamples or draws of the largest t; no p of these is below 1 / (draws + 1).
    seed : int
        Of the draws, at least 0.

    Raises
    ------
    InvalidInputError
        An option is something else, or max-T is asked for of a test of ranks or signs.

    Examples
    --------
    >>> Testing("randomisation", alpha=0.01).correction
    'max-T'
    """

    __test__: ClassVar[bool] = False  # of pytest's

    test: str = "t"
    correction: str = "max-T"
    alpha: float = 0.05
    draws: int = 10_000
    seed: int = 0

    @classmethod
    def of(cls, test: str, correction: str | None, **choices: Any) -> Testing:
        """Return the same, with max-T by default where the test has it, and else Holm."""
        if correction is None:
            correction = "max-T" if test in AGREEING else "holm"
        return cls(test, correction, **choices)

    def __post_init__(self) -> None:
        """Refuse what is no way of testing."""
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        if self.test not in AGREEING and self.correction == "max-T":
            others = ", ".join(repr(one) for one in CORRECTIONS if one != "max-T")
            msg = f"test={self.test!r} has no correction 'max-T'; it has {others}."
            raise InvalidInputError(msg)
        check_level("alpha", self.alpha, such_as=0.05)
        check_whole("draws", self.draws, 1, MOST_DRAWS)
        check_whole("seed", self.seed, 0)

    def check_pairs(self, n_pairs: int) -> None:
        """Refuse so few draws that no difference of so many pairs could be found, however large.

        Raises
        ------
        InvalidInputError
            They are; with how many would do.
        """
        drawn = self.test in DRAWN
        drawn |= self.correction == "max-T" and n_pairs > 1
        family = n_pairs if self.correction in {"holm", "bonferroni"} else 1
        if drawn and family > self.alpha * (self.draws + 1):
            needed = math.ceil(family / self.alpha) - 1
            msg = (
                f"With draws={self.draws} no corrected p of {n_pairs} pairs can be as low as "
                f"{self.alpha:g}, so nothing could be found. Take draws={needed} or more, or "
                "correction='max-T'."
            )
            raise InvalidInputError(msg)


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
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
