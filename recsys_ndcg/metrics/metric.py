"""What a metric is: a numerator and a denominator per user, and a name that reads back."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.ranking.ranking import Ranking


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

    #: Its name, in lower case, and names that lead to it when somebody types them.
    name: ClassVar[str]
    also_called: ClassVar[tuple[str, ...]] = ()
    #: Whether it must know which items are relevant, and whether it reads gains.
    needs_threshold: ClassVar[bool] = False
    uses_gains: ClassVar[bool] = False
    #: "usual": a bare name takes every k of k=; "possible": it stands alone; "none": no k at all
    cutoff: ClassVar[str] = "usual"
    #: Whether the order of a list moves it, and whether it lies between 0 and 1.
    orders: ClassVar[bool] = True
    bounded: ClassVar[bool] = True

    k: int | None = None

    def __post_init__(self) -> None:
        """Refuse a cutoff that is not one."""
        object.__setattr__(self, "k", checked_k(self.k))
        if self.k is not None and self.cutoff == "none":
            msg = f"{self.name} has no cutoff; ask for {self.name!r}, not '{self.name}@{self.k}'."
            raise InvalidInputError(msg)

    def __str__(self) -> str:
        """Return the name that `parse` reads back: ``ndcg@10``."""
        given = [
            str(getattr(self, one.name))
            for one in fields(self)
            if one.name != "k" and getattr(self, one.name) != one.default
        ]
        options = f"({','.join(given)})" if given else ""
        return self.name + options + (f"@{self.k}" if self.k else "")

    @property
    def depth(self) -> int | None:
        """How many ranks the metric reads; None means all."""
        return self.k

    def numerator(self, ranking: Ranking) -> Floats:
        """Return what the user's list collects."""
        raise NotImplementedError

    def denominator(self, ranking: Ranking) -> Floats:
        """Return what there was to collect."""
        raise NotImplementedError

    def objection(self, convention: Convention) -> str:  # noqa: ARG002 - some need it
        """Return why there is no such number under a convention; nothing if there is one."""
        return ""

    def tie_objection(self, convention: Convention) -> str:  # noqa: ARG002 - some need it
        """Return why the expected score of tied estimates has no exact value, if it has none."""
        return ""

    def score(self, ratio: Floats) -> Floats:
        """Turn numerator over denominator into the score."""
        return ratio


def checked_k(k: Any) -> int | None:
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
        msg = f"k must be a whole number of at least 1, not {shown(k)}."
        raise InvalidInputError(msg)
    return int(k)


METRICS: dict[str, type[Metric]] = {}
_Class = TypeVar("_Class", bound=type[Metric])
_FORM = re.compile(r"(?P<name>[a-z][a-z0-9]*)(\((?P<option>[^()]*)\))?(@(?P<k>[^@]*))?")


def register(metric: _Class) -> _Class:
    """Make a metric known by its name."""
    METRICS[metric.name] = metric
    return metric


def parse(text: str, ks: Iterable[int | None] = (None,)) -> list[Metric]:
    """Return the metrics that a name stands for: one, or one per k for a name without ``@k``.

    Raises
    ------
    UnknownMetricError
        There is no such metric; the nearest name is given.
    InvalidInputError
        The cutoff or the option cannot be read.

    Examples
    --------
    >>> [str(metric) for metric in parse("NDCG", [5, 10])]
    ['ndcg@5', 'ndcg@10']
    """
    found = _FORM.fullmatch(text.strip().lower())
    kind = METRICS.get(found["name"]) if found else None
    if found is None or kind is None:
        raise UnknownMetricError(_unknown(text, found["name"] if found else text.lower()))
    options: dict[str, Any] = {}
    if found["option"] is not None:
        own = [one.name for one in fields(kind) if one.name != "k"]
        if len(own) != 1:
            msg = f"{text!r}: {kind.name} has no option in brackets; ask for '{kind.name}@10'."
            raise InvalidInputError(msg)
        options[own[0]] = _number(found["option"], float, text)
    if found["k"] is not None:
        return [kind(k=_number(found["k"], int, text), **options)]
    return [kind(k=k, **options) for k in (ks if kind.cutoff == "usual" else (None,))]


def _number(text: str, kind: Callable[[str], Any], where: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        msg = f"{where!r}: {text!r} is not a number; write a metric as 'ndcg@10'."
        raise InvalidInputError(msg) from None


def _unknown(text: str, name: str) -> str:
    for metric in METRICS.values():
        if name in metric.also_called:
            return f"No metric is named {text!r} here; that is {metric.name!r}."
    return f"No metric is named {text!r}. {nearest(name, METRICS)}"
