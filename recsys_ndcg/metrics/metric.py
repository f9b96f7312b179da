"""What a metric is: a numerator and a denominator per user, and a name that reads back."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, as_float, quote
from recsys_ndcg.ranking import Ranking, weighted_sum

#: The choices that decide which rows there are and which users count, for every metric.
ROWS_AND_USERS = frozenset(
    {
        "unlabelled",
        "unlisted",
        "impossible",
        "duplicates",
        "short_list",
        "undefined",
        "missing_user",
        "mean_over",
    }
)
#: With those by which the order of a list comes about.
ORDER = ROWS_AND_USERS | {"ties", "tie_tolerance"}
#: And what an item is worth in DCG and its kin.
GAINS = ORDER | {"gain"}

PLAIN = re.compile(r"[\w.+-]*")  # what a name can hold and read back


@dataclass(frozen=True)
class Metric:
    """A score of each user's list: numerator over denominator, undefined where that is 0.

    Parameters
    ----------
    k : int, optional
        How many of the first items count, at least 1; all of them without it.

    Raises
    ------
    InvalidInputError
        `k` is not a whole number of at least 1. Nothing is raised while scoring: what cannot be
        computed is said beforehand, by `objection` and `tie_objection`.

    Notes
    -----
    `numerator` and `denominator` take a `Ranking` and return float64 arrays of shape (n_users,).
    Under tied estimates the numerator is its expectation over all orders of the ties; the
    denominator does not depend on the order. The dataset's mean is over users, its pooled score
    is the sum of the numerators over the sum of the denominators. Tables are added up by
    `recsys_ndcg.arrays.row_sums`: ``sum`` adds in an order that depends on the width of a table,
    so that a last digit would depend on the longest list beside a user's own.
    """

    #: Its name, in lower case, and what else people type for it: without capitals and underscores,
    #: which are overlooked.
    name: ClassVar[str]
    also_called: ClassVar[tuple[str, ...]] = ()
    #: Whether it must know which items are relevant, and whether it reads gains.
    needs_threshold: ClassVar[bool] = False
    uses_gains: ClassVar[bool] = False
    #: The fields of `Convention` that can move its number: all of them, unless it says so. The
    #: threshold is read where `needs_threshold` or a choice that is read asks for it.
    reads: ClassVar[frozenset[str]] = frozenset(one.name for one in fields(Convention))
    #: By which rule it breaks ties, whatever the convention says; None where it obeys that.
    own_ties: ClassVar[str | None] = None
    #: Whether the best order of a list is that with the best items first.
    best_first: ClassVar[bool] = True
    #: Whether what there is to collect hangs on which items are in the list, and not on labels and
    #: the length alone: then drawn lists have no exact mean. Of somebody's own, None means unknown.
    within_list: ClassVar[bool | None] = None
    #: "usual": a bare name takes every k of k=; "possible": it stands alone; "none": no k at all
    cutoff: ClassVar[str] = "usual"
    #: Whether the order of a list moves it, it lies between 0 and 1, and more of it is better.
    orders: ClassVar[bool] = True
    greater_is_better: ClassVar[bool] = True
    bounded: ClassVar[bool] = True

    k: int | None = None

    def __post_init__(self) -> None:
        """Refuse a cutoff that is not one."""
        object.__setattr__(self, "k", check_k(self.k))
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, str) and not PLAIN.fullmatch(value):
                msg = f"{self.name}: {one.name} may hold letters, digits and _.+- , not {value!r}."
                raise InvalidInputError(msg)
            # so that a name reads back, and equal ones are equal
            if isinstance(value, Real) and not isinstance(value, int | np.integer):
                value = as_float(value)
            elif isinstance(value, np.generic):
                value = value.item()
            object.__setattr__(self, one.name, value)
        if self.k is not None and self.cutoff == "none":
            msg = f"{self.name} has no cutoff; ask for {self.name!r}, not '{self.name}@{self.k}'."
            raise InvalidInputError(msg)

    def __str__(self) -> str:
        """Return the name that `parse` reads back: ``ndcg@10``."""
        given = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if one.name != "k" and getattr(self, one.name) != one.default
        ]
        options = f"({','.join(given)})" if given else ""
        return self.name + options + (f"@{self.k}" if self.k else "")

    @property
    def origin(self) -> str:
        """Where a metric of somebody's own comes from, ``module:name``; nothing for those here."""
        kind = type(self)
        ours = kind.__module__.startswith("recsys_ndcg.")
        return "" if ours else f"{kind.__module__}:{kind.__qualname__}"

    @property
    def depth(self) -> int | None:
        """How many ranks the metric reads; None means all."""
        return self.k

    def compute_fingerprint(self, ranks: int) -> Floats | None:  # noqa: ARG002 - some need it
        """Return numbers by which two metrics of one name are told apart, if it has any."""
        return None

    def numerator(self, ranking: Ranking) -> Floats:
        """Return what the user's list collects."""
        raise NotImplementedError

    def denominator(self, ranking: Ranking) -> Floats:
        """Return what there was to collect."""
        raise NotImplementedError

    def objection(self, convention: Convention, longest: int) -> str:  # noqa: ARG002 - some need it
        """Return why there is no such number under a convention; nothing if there is one.

        Parameters
        ----------
        convention : Convention
            Every choice.
        longest : int
            How many ranks the longest list has.
        """
        return ""

    def tie_objection(self, convention: Convention) -> str:  # noqa: ARG002 - some need it
        """Return why ties leave this metric's score undefined; "" if they do not.

        Then its mean over their orders is not exact, and which order is the best is not known:
        chance, best, worst, adjusted and the tie range are NaN.
        """
        return ""

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator under random order, NaN if unknown."""
        return np.full(len(ranking.n_items), np.nan)

    def score(self, ratio: Floats) -> Floats:
        """Turn numerator over denominator into the score."""
        return ratio


class Linear(Metric):
    r"""A metric whose numerator is linear in what the items are worth.

    .. math:: \sum_{r \le k} w_r a(r)

    with a(r) the (expected) worth of the item at rank r and w the weights of the ranks. So its
    expectation under ties is exact, and so is its variance under random order.
    """

    #: What an item is worth: the table of the ranking ("gain", "relevance" or "labelled").
    worth: ClassVar[str] = "relevance"

    def weights(self, ranking: Ranking) -> Floats:
        """Return the weight of each of the first ranks, up to k and the width of the tables: 1.

        Of shape (n_ranks,), or (n_users, n_ranks) where users differ; at least 0, and never
        increasing with the rank.
        """
        return np.ones(ranking.width(self.k))

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted sum."""
        return weighted_sum(getattr(ranking, self.worth), self.weights(ranking))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1: the sum is the score, where a metric does not divide it by another."""
        return np.ones(len(ranking.n_items))

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        return ranking.deviation(self.worth, self.weights(ranking))


@dataclass(frozen=True, kw_only=True)
class SavedMetric(Metric):
    """The name of somebody's own metric, with what is needed to show its scores.

    Parameters
    ----------
    k : int, optional
        Its cutoff.
    text : str
        Its name, with the cutoff.
    bounded, orders, greater_is_better : bool
        As it had them.
    """

    text: str = ""
    bounded: bool = True  # type: ignore[misc] # of each one, where a metric has it of all
    orders: bool = True  # type: ignore[misc]
    greater_is_better: bool = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Keep the text as it is."""

    def __str__(self) -> str:
        """Return the name."""
        return self.text


def check_k(k: Any) -> int | None:
    """Return a cutoff as an int, None for none.

    Raises
    ------
    InvalidInputError
        It is not a whole number of at least 1.
    """
    if k is None:
        return None
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= sys.maxsize:
        msg = f"k must be a whole number of at least 1, not {quote(k)}."
        raise InvalidInputError(msg)
    return int(k)
