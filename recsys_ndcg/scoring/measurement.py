"""Measurement: a metric under a convention, of the lists as they are or blind."""

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
from recsys_ndcg.metrics import Metric, Recorded, parse

#: Choices that no ranking and no metric looks at: they decide who counts. Nor is the rule for
#: ties here, which makes a difference only where something is tied.
_BESIDE = ("undefined", "mean_over", "duplicates", "ties")
_READ = [one.name for one in fields(Convention) if one.name not in _BESIDE]


@dataclass(frozen=True)
class Measurement:
    """What fills one column of scores.

    Parameters
    ----------
    metric : Metric
        What is measured.
    convention : Convention
        How.
    threshold : float, optional
        From which grade an item is relevant.
    blind : bool
        Whether all estimates of a list count as equal: ``ties="expected"`` is then random order,
        ``"worst"`` and ``"best"`` are the extreme orders of the list.
    unlabelled_as : float, optional
        The grade that items without one are given.
    short_below : int
        Lists of fewer items are left out.
    reason : str
        Why there is no such number; the column is NaN.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> str(Measurement(rn.NDCG(10)))
    'ndcg@10'
    """

    metric: Metric
    convention: Convention = field(default_factory=Convention)
    threshold: float | None = None
    blind: bool = False
    unlabelled_as: float | None = None
    short_below: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        """Keep to the metric's own rule for ties, if it has one."""
        own = self.metric.own_ties
        if own is not None and self.convention.ties != own:
            object.__setattr__(self, "convention", self.convention.replace(ties=own))

    def __str__(self) -> str:
        """Return the name of the metric."""
        return str(self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Return what must be known of it to show its scores, as plain values; NaN is None."""
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
        """Return what fills a column; one whose metric is not known here shows its scores.

        Parameters
        ----------
        name : str
            Of the metric.
        stored : mapping of str
            What `to_dict` returned.
        known : frozenset of str
            The names of metrics that are known here.

        Raises
        ------
        InvalidInputError
            The metric is not known, and its scores are no quotients.
        KeyError, TypeError, ValueError
            No metric is described like this.
        """
        if not name.isprintable():  # somebody made the file, and the name would act on a terminal
            raise ValueError(name)
        undefined = stored["undefined"]
        rule = Convention(undefined="skip" if undefined is None else undefined)
        if re.split(r"\W", name, maxsplit=1)[0].lower() in known:
            with suppress(RecsysNdcgError):
                return cls(parse(name)[0], rule)
        if not stored["a_ratio"]:
            msg = (
                f"{name} makes its score in a way that is not known here: import its module first."
            )
            raise InvalidInputError(msg)
        metric = Recorded(
            stored["k"],
            text=name,
            bounded=stored["bounded"],
            orders=stored["orders"],
            greater_is_better=stored.get("greater_is_better", True),  # the first files of 4 lack it
        )
        return cls(metric, rule)

    def without(self, reason: str) -> Measurement:
        """Return the measurement as one that has no number, for a reason."""
        return replace(self, reason=reason)

    def extreme(self, ties: str) -> Measurement:
        """Return that of ties in their best, worst or expected order, where that is known."""
        known = self.has_tie_range if ties != "expected" else self.metric.own_ties is None
        if not known:
            return self.without("there is no telling which order is its best or worst")
        return self.under(ties=ties)

    @property
    def has_tie_range(self) -> bool:
        """Whether sorting by grade gives the best score, and the reverse order the worst."""
        metric = self.metric
        return (
            metric.own_ties is None
            and metric.best_first
            and not metric.tie_objection(self.convention)
        )

    def under(self, **choices: Any) -> Measurement:
        """Return the measurement with other choices of its convention."""
        return replace(self, convention=self.convention.replace(**choices))

    @property
    def undefined(self) -> float:
        """What stands where the denominator is 0; NaN keeps it out of the mean."""
        rule = self.convention.undefined
        return np.nan if isinstance(rule, str) else rule

    @lazy_property
    def choices(self) -> Hashable:
        """The choices that a ranking or a metric may look at, but for the rule for ties."""
        return self.convention.only(*_READ)

    @lazy_property
    def order(self) -> Hashable:
        """By what the rows are sorted: measurements that agree in it share a sort."""
        if self.blind:
            return ("blind", *self.rows)
        return ("estimated", *self.rows, self.convention.tie_tolerance)

    @lazy_property
    def rows(self) -> tuple[str, bool]:
        """Which rows there are."""
        filtered = self.convention.unlabelled == "filter" and self.unlabelled_as is None
        return self.convention.impossible, filtered

    @property
    def needs_tie_free(self) -> bool:
        """Whether equal estimates leave it without a value: no exact mean, no known best order."""
        return self.convention.any_order and bool(self.metric.tie_objection(self.convention))

    def hangs_on_ties(self, facts: Facts) -> bool:
        """Whether it can be computed only where no estimates are equal."""
        by_item = self.convention.ties.startswith(("item", "text"))
        return not self.blind and (self.needs_tie_free or (by_item and not facts.has_items))

    def objection(self, facts: Facts, lists: GroupedLists | None = None) -> str:
        """Return why it cannot be computed; nothing if it can.

        Parameters
        ----------
        facts : Facts
            What is known of all the lists.
        lists : GroupedLists, optional
            Where the first offending rows are looked up, if they are at hand.
        """
        return self._of_the_lists(facts, lists) or self._of_the_metric(facts, lists)

    def draw_objection(self, facts: Facts) -> str:
        """Return why it has no exact mean over lists drawn from the candidates; nothing if it has.

        What there is to collect, and what the list shows, must be the same whatever is drawn.
        """
        convention, within = self.convention, self.metric.within_list
        unknown = within is None and bool(self.metric.origin)
        local = self.metric.uses_gains and "ideal" in self.metric.reads
        hangs = (
            within
            or unknown
            or (local and convention.ideal == "local")
            or convention.unlabelled == "filter"
            or (convention.unlisted == "ignore" and facts.unlisted.known.size > 0)
            or (convention.impossible != "rank" and facts.impossible > 0)
        )
        return "what there is to collect hangs on which items are drawn" if hangs else ""

    def _of_the_lists(self, facts: Facts, lists: GroupedLists | None) -> str:
        if self.unlabelled_as is not None and facts.placed_under is not None:
            return "The unlabelled items of a catalogue are counted, not kept."
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
            # a catalogue of the plug-in's is estimated on the scale of the ratings
            strange = facts.protocol != "rated" and facts.placed_under is None
            if facts.order_only or strange:
                return (
                    f"recommend_from={limit!r} is a limit on the scale of the ratings, but these "
                    "lists hold ranks, or scores that may be on another scale. Leave it out, and "
                    "give each user the items that were recommended."
                )
        if self.metric.own_ties is not None and facts.placed_under is not None:
            return f"{self} looks at whole lists, but of a catalogue places alone are kept."
        settled = self.convention
        if not facts.has_items and not self.blind and np.isinf(facts.first_ties.get(self.order, 1)):
            settled = settled.replace(ties="expected")  # nothing is tied: no rule is needed
        return Objections(settled, self.threshold, facts, lists).to_order()

    def _of_the_metric(self, facts: Facts, lists: GroupedLists | None) -> str:
        reads, convention = self.metric.reads, self.convention
        if self.metric.uses_gains:
            if "ideal" not in reads:
                convention = convention.replace(ideal="global")
            against = Objections(convention, self.threshold, facts, lists)
            why = against.to_gains(self.unlabelled_as)
            if why:
                return why
        longest = facts.seen_by(self.convention).longest
        why = self.metric.objection(self.convention, longest)
        if not why and self.metric.uses_gains and "discount" in reads:
            k = self.metric.k or longest
            why = self.convention.discount_objection(
                k if self.convention.ideal == "max" else min(k, longest)
            )
        if not why and self.needs_tie_free:
            first = 1.0 if self.blind else facts.first_ties.get(self.order, np.inf)
            if first <= (self.metric.k or np.inf):
                return self.metric.tie_objection(self.convention)
        return why


def short_below(metrics: Sequence[Metric]) -> list[int]:
    """Return how long a list must be for each metric, where short ones are left out.

    A metric without a cutoff goes with the smallest one asked for.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> short_below([rn.RR(), rn.NDCG(10), rn.AP(5)])
    [5, 10, 5]
    """
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    return [metric.k or min(cutoffs, default=0) for metric in metrics]
