"""Measurement: a metric under a convention, with all that decides one column of scores."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts, GroupedLists, Objections
from recsys_ndcg.metrics import Metric, SavedMetric, parse_metrics

#: Choices that no ranking and no metric reads: they decide which users count. The rule for ties
#: is among them, as it matters only if there are ties.
_NOT_READ = ("undefined", "mean_over", "duplicates", "ties")
_READ = [one.name for one in fields(Convention) if one.name not in _NOT_READ]


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
        Under ``short_list="drop"``, lists of fewer items are left out.
    reason : str
        Why there is no score; the column is NaN then.

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
    reason: str = ""

    def __post_init__(self) -> None:
        """Use the metric's own rule for ties, if it has one."""
        own = self.metric.own_ties
        if own is not None and self.convention.ties != own:
            object.__setattr__(self, "convention", self.convention.replace(ties=own))

    def __str__(self) -> str:
        """Return the name of the metric."""
        return str(self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved file needs to show the scores, as plain values; NaN is None."""
        metric = self.metric
        return {
            "k": metric.k,
            "bounded": metric.bounded,
            "orders": metric.orders,
            "greater_is_better": metric.greater_is_better,
            "a_ratio": type(metric).score is Metric.score,
            "undefined": None if np.isnan(self.undefined) else self.undefined,
        }

    @classmethod
    def from_dict(cls, name: str, stored: Mapping[str, Any], known: frozenset[str]) -> Measurement:
        """Return the measurement of a saved column; an unknown metric can only show its scores.

        Parameters
        ----------
        name : str
            The metric's name.
        stored : mapping of str
            The result of `to_dict`.
        known : frozenset of str
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
        if re.split(r"\W", name, maxsplit=1)[0].lower() in known:
            with suppress(RecsysNdcgError):
                return cls(parse_metrics(name)[0], rule)
        if not stored["a_ratio"]:
            msg = f"{name} computes its score in a way of its own: import its module first."
            raise InvalidInputError(msg)
        metric = SavedMetric(
            stored["k"],
            text=name,
            bounded=stored["bounded"],
            orders=stored["orders"],
            greater_is_better=stored.get(
                "greater_is_better", True
            ),  # absent in the first files of version 4
        )
        return cls(metric, rule)

    def without_score(self, reason: str) -> Measurement:
        """Return the measurement without scores, for a reason."""
        return replace(self, reason=reason)

    def with_ties(self, ties: str) -> Measurement:
        """Return the measurement with ties in their best, worst or expected order, if known."""
        known = self.has_tie_range if ties != "expected" else self.metric.own_ties is None
        if not known:
            return self.without_score("its best and worst order are not known")
        return self.with_choices(ties=ties)

    @property
    def has_tie_range(self) -> bool:
        """Whether sorting by grade gives the best score, and the reverse order the worst."""
        metric = self.metric
        return (
            metric.own_ties is None
            and metric.best_first
            and not metric.tie_objection(self.convention)
        )

    def with_choices(self, **choices: Any) -> Measurement:
        """Return the measurement with other choices of its convention."""
        return replace(self, convention=self.convention.replace(**choices))

    @property
    def undefined(self) -> float:
        """The score if the denominator is 0; NaN is left out of the mean."""
        rule = self.convention.undefined
        return np.nan if isinstance(rule, str) else rule

    @lazy_property
    def choices(self) -> Hashable:
        """The choices that a ranking or a metric may read, except the rule for ties."""
        return self.convention.select_choices(*_READ)

    @lazy_property
    def order(self) -> Hashable:
        """The sort key: measurements with equal keys share a sort."""
        if self.all_tied:
            return ("all tied", *self.rows)
        return ("estimated", *self.rows, self.convention.tie_tolerance)

    @lazy_property
    def rows(self) -> tuple[str, bool]:
        """The choices that decide which rows are ranked."""
        filtered = self.convention.unlabelled == "filter" and self.unlabelled_as is None
        return self.convention.impossible, filtered

    @property
    def needs_no_ties(self) -> bool:
        """Whether it has no score under ties: no exact mean, or no known best order."""
        return self.convention.has_symmetric_ties and bool(
            self.metric.tie_objection(self.convention)
        )

    def depends_on_ties(self, facts: Facts) -> bool:
        """Return whether it can only be computed if no estimates are equal."""
        by_item = self.convention.ties.startswith(("item", "text"))
        return not self.all_tied and (self.needs_no_ties or (by_item and not facts.has_items))

    def objection(self, facts: Facts, lists: GroupedLists | None = None) -> str:
        """Return why it cannot be computed; "" if it can.

        Parameters
        ----------
        facts : Facts
            The facts of all the lists.
        lists : GroupedLists, optional
            The lists, for the first offending rows in the message.
        """
        return self._list_objection(facts, lists) or self._metric_objection(facts, lists)

    def draw_objection(self, facts: Facts) -> str:
        """Return why it has no exact mean over lists drawn from the candidates; "" if it has.

        The denominator must be the same for all drawn lists.
        """
        convention, within = self.convention, self.metric.within_list
        unknown = within is None and bool(self.metric.origin)
        local = self.metric.uses_gains and "ideal" in self.metric.reads
        depends = (
            within
            or unknown
            or (local and convention.ideal == "local")
            or convention.unlabelled == "filter"
            or (convention.unlisted == "ignore" and facts.unlisted.values.size > 0)
            or (convention.impossible != "rank" and facts.impossible > 0)
        )
        return "its denominator depends on which items are drawn" if depends else ""

    def _list_objection(self, facts: Facts, lists: GroupedLists | None) -> str:
        if self.unlabelled_as is not None and facts.placement_choices is not None:
            return "The unlabelled items of a catalogue are only counted."
        if not self.metric.orders:
            if self.convention.impossible == "last" and facts.impossible:
                return (
                    f"impossible='last' moves estimates, which {self} compares with ratings. "
                    "Ask for it under impossible='rank' or 'drop'."
                )
            if facts.order_only or facts.protocol != "rated":
                return (
                    f"{self} compares estimates with ratings, but these lists hold ranks, or "
                    "scores that may be on another scale. Ask for it on predictions of ratings."
                )
        limit = self.convention.recommend_from
        if limit is not None and "recommend_from" in self.metric.reads:
            # the plug-in's estimates of a catalogue are on the scale of the ratings
            is_other_scale = facts.protocol != "rated" and facts.placement_choices is None
            if facts.order_only or is_other_scale:
                return (
                    f"recommend_from={limit!r} is a limit on the scale of the ratings, but these "
                    "lists hold ranks, or scores that may be on another scale. Leave it out, and "
                    "give each user the items that were recommended."
                )
        if self.metric.own_ties is not None and facts.placement_choices is not None:
            return f"{self} reads whole lists, but only the ranks of a catalogue are kept."
        convention = self.convention
        if (
            not facts.has_items
            and not self.all_tied
            and np.isinf(facts.first_ties.get(self.order, 1))
        ):
            convention = convention.replace(ties="expected")  # without ties no rule is needed
        return Objections(convention, self.threshold, facts, lists).find_order_objection()

    def _metric_objection(self, facts: Facts, lists: GroupedLists | None) -> str:
        reads, convention = self.metric.reads, self.convention
        if self.metric.uses_gains:
            if "ideal" not in reads:
                convention = convention.replace(ideal="global")
            against = Objections(convention, self.threshold, facts, lists)
            why = against.find_gain_objection(self.unlabelled_as)
            if why:
                return why
        longest = facts.apply_convention(self.convention).longest
        why = self.metric.objection(self.convention, longest)
        if not why and self.metric.uses_gains and "discount" in reads:
            k = self.metric.k or longest
            why = self.convention.find_discount_objection(
                k if self.convention.ideal == "max" else min(k, longest)
            )
        if not why and self.needs_no_ties:
            first = 1.0 if self.all_tied else facts.first_ties.get(self.order, np.inf)
            if first <= (self.metric.k or np.inf):
                return self.metric.tie_objection(self.convention)
        return why


def shortest_lengths(metrics: Sequence[Metric]) -> list[int]:
    """Return the shortest list that counts for each metric under ``short_list="drop"``.

    For a metric without a cutoff it is the smallest cutoff of the others.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> shortest_lengths([rn.RR(), rn.NDCG(10), rn.AP(5)])
    [5, 10, 5]
    """
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    return [metric.k or min(cutoffs, default=0) for metric in metrics]
