"""Measurement: a metric under a convention, the definition of one column of scores."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import Facts
from recsys_ndcg.metrics import Metric, SavedMetric, parse_metrics

#: Choices that are not in `choices_key`: no ranking or metric reads them. `ties` is left out, too,
#: because it matters only if there are ties.
_NOT_IN_KEY = ("undefined", "mean_over", "duplicates", "ties")
_IN_KEY = [choice.name for choice in fields(Convention) if choice.name not in _NOT_IN_KEY]


@dataclass(frozen=True)
class Measurement:
    """The definition of one column of scores.

    Parameters
    ----------
    metric : Metric
        The metric.
    convention : Convention
        All choices.
    threshold : float, optional
        The least grade of a relevant item.
    all_tied : bool
        Whether all estimates of a list count as equal: ``ties="expected"`` is then random order,
        ``"worst"`` and ``"best"`` are the extreme orders of the list.
    unlabelled_as : float, optional
        The grade that unlabelled items get.
    short_below : int
        The least length of a list under ``short_list="drop"``.
    no_score_reason : str
        Why there is no score; the column is NaN then.
    is_weighted : bool
        Whether labels have weights.
    asked_for : str
        The name of the column, if the metric has choices besides that a library makes.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> str(Measurement(rn.NDCG(10)))
    'ndcg@10'
    """

    metric: Metric
    convention: Convention = field(default_factory=Convention)
    threshold: float | None = None
    all_tied: bool = False
    unlabelled_as: float | None = None
    short_below: int = 0
    no_score_reason: str = ""
    is_weighted: bool = False
    asked_for: str = ""

    def __post_init__(self) -> None:
        """Use the metric's own rule for ties, if any, and drop a name that is the metric's."""
        if self.asked_for and self.asked_for == str(self.metric):
            object.__setattr__(self, "asked_for", "")
        ties = self.metric.own_ties
        if ties is not None and self.convention.ties != ties:
            object.__setattr__(self, "convention", self.convention.replace(ties=ties))

    @classmethod
    def under(
        cls, convention: Convention, metric: Metric, threshold: float | None, short_below: int
    ) -> Measurement:
        """Return the measurement of a metric; a library's convention has choices of its own."""
        name = str(metric)
        metric = metric.with_defaults(convention.find_own_choices(name))
        return cls(metric, convention, threshold, short_below=short_below, asked_for=name)

    def __str__(self) -> str:
        """Return the name of the metric, as it was asked for."""
        return self.asked_for or str(self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved file needs to show the scores, as JSON values; NaN is None."""
        metric = self.metric
        return {
            "k": metric.k,
            "bounded": self.is_bounded,
            "orders": metric.depends_on_order,  # the name in files
            "greater_is_better": metric.greater_is_better,
            "a_ratio": type(metric).score is Metric.score,  # whether the score is a quotient
            "undefined": None if np.isnan(self.score_if_undefined) else self.score_if_undefined,
            **({"weighted": True} if self.is_weighted else {}),
            **({"metric": str(metric)} if self.asked_for else {}),
        }

    @classmethod
    def from_dict(cls, name: str, stored: Mapping[str, Any], names: frozenset[str]) -> Measurement:
        """Return the measurement of a saved column.

        If its metric is not registered, the saved scores can be shown, but nothing else computed.

        Parameters
        ----------
        name : str
            The metric's name.
        stored : mapping of str
            The result of `to_dict`.
        names : frozenset of str
            The names of registered metrics.

        Raises
        ------
        InvalidInputError
            The metric is not registered, and its scores are not quotients.
        KeyError, TypeError, ValueError
            The description is invalid.
        """
        if not name.isprintable():  # a crafted name could steer a terminal
            raise ValueError(name)
        undefined = stored["undefined"]
        rule = Convention(undefined="skip" if undefined is None else undefined)
        if re.split(r"\W", name, maxsplit=1)[0].lower() in names:
            with suppress(RecsysNdcgError):
                metric = parse_metrics(stored.get("metric", name))[0]
                if not stored["bounded"]:  # sums over lists
                    rule = rule.replace(list_over="one")
                is_weighted = stored.get("weighted", False)
                return cls(metric, rule, is_weighted=is_weighted, asked_for=name)
        if not stored["a_ratio"]:
            msg = (
                f"{name} is not a built-in metric, and has its own formula for the score. Import "
                "the module that defines it before you load this file."
            )
            raise InvalidInputError(msg)
        metric = SavedMetric(
            stored["k"],
            text=name,
            bounded=stored["bounded"],
            depends_on_order=stored["orders"],
            # absent in the oldest reports that can still be read (format 4)
            greater_is_better=stored.get("greater_is_better", True),
        )
        return cls(metric, rule)

    def without_score(self, reason: str) -> Measurement:
        """Return the measurement without scores, for a reason."""
        return replace(self, no_score_reason=str(InvalidInputError(reason)))

    def with_ties(self, ties: str, *, all_tied: bool = False) -> Measurement:
        """Return the measurement with another rule for ties, without a score if none is known."""

        def replace_ties() -> Measurement:
            changed = self if not all_tied else replace(self, all_tied=True)
            is_mean = ties == "expected"
            has_score = self.metric.own_ties is None if is_mean else self.has_known_tie_range
            if not has_score:
                return changed.without_score(f"its score under ties={ties!r} is not known")
            return changed.with_choices(ties=ties)

        return self._others.get_or_compute((ties, all_tied), replace_ties)

    @lazy_property
    def _others(self) -> Cache:
        return Cache()

    @lazy_property
    def has_known_tie_range(self) -> bool:
        """Whether the range of the score over all orders of ties is known.

        It is if sorting tied items by grade gives the highest score, and the reverse the lowest.
        """
        has_ends = self.metric.own_ties is None and self.metric.best_first
        return has_ends and not self.metric.find_tie_objection(self.convention)

    def with_choices(self, **choices: Any) -> Measurement:
        """Return the measurement with other choices, of its convention or its metric."""
        own = {one: choices.pop(one) for one in choices.keys() & self.metric.choices.keys()}
        metric = self.metric.with_choices(own) if own else self.metric
        return replace(self, metric=metric, convention=self.convention.replace(**choices))

    @lazy_property
    def choices(self) -> dict[str, Any]:
        """The choices that can move the number, of the convention and of the metric."""
        kept = {*Convention.field_names()} - ({*Convention.BEYOND_ACCURACY} - self.metric.reads)
        read = {name: one for name, one in self.convention.choices.items() if name in kept}
        return read | self.metric.choices

    @property
    def is_bounded(self) -> bool:
        """Whether every score is in [0, 1]: no sums over a list, as under ``list_over="one"``."""
        reads, convention = self.metric.reads, self.convention
        if self.is_weighted and self.metric.needs_labels and not self.metric.weighs_denominator:
            return False
        return self.metric.bounded and not ("list_over" in reads and convention.list_over == "one")

    @property
    def kinds(self) -> dict[str, bool]:
        """Which bounds scores have, for the functions that compute intervals."""
        # sums and weighted forms of scores in [0, 1] cannot be negative
        is_nonnegative = self.metric.bounded or self.metric.nonnegative
        return {"bounded": self.is_bounded, "nonnegative": is_nonnegative}

    @property
    def score_if_undefined(self) -> float:
        """The score if the denominator is 0; NaN is left out of the mean."""
        rule = self.convention.undefined
        return np.nan if isinstance(rule, str) else rule

    @lazy_property
    def choices_key(self) -> Hashable:
        """A key of the choices that a ranking or a metric may read, except the rule for ties."""
        return self.convention.select_choices(*_IN_KEY)

    @lazy_property
    def sort_key(self) -> Hashable:
        """A key of the sort: measurements with equal keys share it."""
        if self.all_tied:
            return ("all tied", *self.rows_key)
        return ("estimated", *self.rows_key, self.convention.tie_tolerance)

    @lazy_property
    def rows_key(self) -> tuple[str, bool]:
        """A key of the rows that are ranked: `impossible`, and whether unlabelled rows are out."""
        is_filtered = self.convention.unlabelled == "filter" and self.unlabelled_as is None
        return self.convention.impossible, is_filtered

    @lazy_property
    def tie_objection(self) -> str:
        """Why there is no score if items are tied; "" if there is one.

        The rule for ties then needs the mean over their orders, or their best or worst order, and
        the metric cannot compute it.
        """
        is_single = self.convention.tie_rule.gives_each_item_a_place
        return "" if is_single else self.metric.find_tie_objection(self.convention)

    def requires_no_ties(self, facts: Facts) -> bool:
        """Return whether ties can prevent the measurement.

        Any tie does if ties are broken by item and there are no ids. A tie in the first k does if
        the metric has no score under ties.
        """
        by_item = self.convention.tie_rule.is_by_item
        needs_order = bool(self.tie_objection) or (by_item and not facts.has_items)
        return not self.all_tied and needs_order

    def find_sources(self) -> frozenset[str]:
        """Return which of `SOURCES` can move the number, if they are known."""
        read = self.metric.find_sources(self.convention) | self.metric.needs_if_known
        return read | {"train"} if self.convention.mean_over == "train" else read


def find_least_lengths(metrics: Sequence[Metric]) -> list[int]:
    """Return the least list length that counts for each metric under ``short_list="drop"``.

    For a metric without a cutoff it is the smallest cutoff of the other metrics.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> find_least_lengths([rn.RR(), rn.NDCG(10), rn.AP(5)])
    [5, 10, 5]
    """
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    return [metric.k or min(cutoffs, default=0) for metric in metrics]
