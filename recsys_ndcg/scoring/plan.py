"""Plan: the measurements asked for, settled, so that nothing is left to decide while scoring."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, as_float, is_number, quote
from recsys_ndcg.lists import Facts, Grades, GroupedLists, prepare
from recsys_ndcg.metrics import Metric, check_free, parse
from recsys_ndcg.ranking import SortedLists
from recsys_ndcg.scoring.measurement import Measurement, short_below
from recsys_ndcg.scoring.measuring import in_blocks
from recsys_ndcg.scoring.scores import Scores

Metrics = Iterable[str | Metric] | str | Metric | None
Cutoffs = int | Iterable[int | None] | None

_DEFAULT_METRICS = ("ndcg", "precision", "recall")


@dataclass(frozen=True)
class Plan:
    """What is measured, a column each.

    Parameters
    ----------
    measurements : tuple of Measurement
        All with the same threshold.
    by_default : bool
        Whether nobody named the metrics: those that need a threshold fall away where there is none.

    Examples
    --------
    >>> plan = Plan.of(["ndcg", "rr"], k=[5, 10], threshold=4)
    >>> plan.names, plan.threshold
    (['ndcg@5', 'ndcg@10', 'rr'], 4.0)
    """

    measurements: tuple[Measurement, ...]
    by_default: bool = False

    #: Sums over neighbours that are equal come out as 4.0 and 3.9999999999999996.
    TIE_TOLERANCE: ClassVar[float] = 1e-9

    @classmethod
    def of(
        cls,
        metrics: Metrics = None,
        *,
        k: Cutoffs = 10,
        threshold: float | None = None,
        convention: Convention | str | None = None,
    ) -> Plan:
        """Read what is asked for, as `recsys_ndcg.evaluate` takes it.

        Raises
        ------
        UnknownMetricError, InvalidInputError
            A metric, a cutoff, the threshold or the convention cannot be read.
        """
        if threshold is not None:
            if not is_number(threshold):
                msg = f"threshold must be a finite number, not {quote(threshold)}."
                raise InvalidInputError(msg)
            threshold = as_float(threshold)
        chosen = chosen_metrics(_DEFAULT_METRICS if metrics is None else metrics, k)
        if metrics is None and threshold is None:  # nobody asked for what a preset would refuse
            chosen = [
                one for one in chosen if not (one.needs_threshold and _misled(one, convention))
            ]
        return cls(
            tuple(
                Measurement(metric, _convention_for(metric, convention), threshold, short_below=n)
                for metric, n in zip(chosen, short_below(chosen), strict=True)
            ),
            by_default=metrics is None,
        )

    @property
    def names(self) -> list[str]:
        """The names of the metrics, in the order they were asked for."""
        return [str(one) for one in self.measurements]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the same order."""
        return [one.metric for one in self.measurements]

    @property
    def threshold(self) -> float | None:
        """From which grade an item is relevant."""
        return self.measurements[0].threshold

    @property
    def duplicates(self) -> str:
        """What becomes of the same (user, item) twice, when the data is read."""
        return self.measurements[0].convention.duplicates

    def hangs_on_merging(self, *, unlabelled: bool) -> bool:
        """Tell whether it takes the grades of merged rows, and not those that are merged.

        They lead to a threshold, and the highest is the top that unlabelled items might have; by
        the rule ``"max"`` that is the highest of all.
        """
        if self.duplicates == "raise":
            return False
        return self.threshold is None or (unlabelled and self.duplicates != "max")

    @property
    def reading_threshold(self) -> list[str]:
        """What must know which items are relevant: metrics, and choices."""
        return list(dict.fromkeys(why for one in self.measurements for why in _needs_of(one)))

    def doubts(self, facts: Facts) -> Iterator[str]:
        """Return what is to be said of the threshold, where something reads it."""
        if self.threshold is not None and self.reading_threshold:
            yield from facts.doubts_of(self.threshold)

    def each(self, change: Callable[[Measurement], Measurement]) -> Plan:
        """Return the plan with what a function makes of each measurement."""
        return replace(self, measurements=tuple(map(change, self.measurements)))

    def under(self, **choices: Any) -> Plan:
        """Return the plan with other choices of every convention."""
        return self.each(lambda one: one.under(**choices))

    def tolerant(self) -> Plan:
        """Return the plan with at least the tolerance for ties that estimates of models need.

        Examples
        --------
        >>> Plan.of("ndcg@10").tolerant().measurements[0].convention.tie_tolerance
        1e-09
        """

        def change(one: Measurement) -> Measurement:
            step = one.convention.tie_tolerance
            fine = not isinstance(step, str) and step < self.TIE_TOLERANCE
            return one.under(tie_tolerance=self.TIE_TOLERANCE) if fine else one

        return self.each(change)

    def with_metrics(self, metrics: Sequence[Metric]) -> Plan:
        """Return the plan with more metrics, measured under the choices of the first."""
        first, cutoffs = self.measurements[0], short_below([*self.metrics, *metrics])
        added = zip(metrics, cutoffs[len(self.measurements) :], strict=True)
        more = (replace(first, metric=one, short_below=n) for one, n in added)
        return replace(self, measurements=(*self.measurements, *more))

    def facts_of(self, lists: GroupedLists, known: Facts | None = None) -> Facts:
        """Return what is to be known of lists to settle the plan.

        Parameters
        ----------
        lists : GroupedLists
            All of them, or a part whose facts are merged with those of the others.
        known : Facts, optional
            What is known already: only the first ties that these measurements hang on are new then.
        """
        exact = any(not isinstance(one.convention.gain, str) for one in self.measurements)
        facts = Facts.of(lists, distinct=exact) if known is None else known
        wanted = {one.order: one for one in self.measurements if one.hangs_on_ties(facts)}
        ties = {}
        for order, one in wanted.items():
            ready = prepare(lists, one.convention, unlabelled_as=one.unlabelled_as)
            ties[order] = float(SortedLists(ready, one.convention).first_tie.min(initial=np.inf))
        return replace(facts, first_ties=ties)

    def settled(self, facts: Facts, lists: GroupedLists | None = None) -> Plan:
        """Return the plan with its threshold, if everything in it can be computed.

        Parameters
        ----------
        facts : Facts
            What is known of all the lists.
        lists : GroupedLists, optional
            Where the first offending rows are looked up, if they are at hand.

        Raises
        ------
        InvalidInputError
            Something cannot be computed; the message says why, and what to do.
        """
        plan = self.with_threshold(facts.all_true)
        InvalidInputError.raise_if(_senseless(facts))
        plan.check(facts, lists)
        return plan

    def measure(self, lists: GroupedLists) -> Scores:
        """Rank lists block by block, and fill a column for each measurement.

        The plan is settled against the facts of all the lists: nothing is refused here.

        Returns
        -------
        Scores
            Of the users in the order of the lists. A score depends on the user's own rows alone, to
            the last bit: neither on the other users nor on blocks and threads.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> lists = rn.RankedLists.from_tuples({"ann": [(4.5, 1), (3.0, 5)], "bob": [(2.0, 4)]})
        >>> Plan.of("rr", threshold=4).measure(lists).per_user.ravel().tolist()
        [0.5, 1.0]
        """
        wanted = self.measurements
        return Scores.concat(in_blocks(lists, wanted, lambda block: block.scores(wanted)))

    def scores_of(self, lists: GroupedLists) -> Scores:
        """Settle the plan against lists, measure them by it, and hold undefined scores to it.

        Raises
        ------
        InvalidInputError
            Something cannot be computed, or is undefined where it must not be.
        """
        scores = self.settled(self.facts_of(lists), lists).measure(lists)
        InvalidInputError.raise_if(scores.objection())
        return scores

    def check(self, facts: Facts, lists: GroupedLists | None = None) -> None:
        """Refuse what cannot be computed of lists, or of a part of them, nor then of the whole.

        Raises
        ------
        InvalidInputError
            The message says why, and what to do.
        """
        for one in self.measurements:
            InvalidInputError.raise_if(one.objection(facts, lists))

    def with_reasons(self, facts: Facts) -> Plan:
        """Return the plan with the reason beside whatever has no number."""
        return self.each(lambda one: replace(one, reason=one.reason or one.objection(facts)))

    def with_threshold(self, grades: Grades) -> Plan:
        """Return the plan with the threshold 1 if it lacks one, needs one, and all is 0 or 1.

        Metrics that nobody named fall away in place of needing one.

        Raises
        ------
        InvalidInputError
            It needs one, and there is none.
        """
        if self.threshold is not None:
            return self
        if self.by_default and not grades.zero_one:
            kept = tuple(one for one in self.measurements if not one.metric.needs_threshold)
            return replace(self, measurements=kept, by_default=False).with_threshold(grades)
        needing = self.reading_threshold
        if not needing:
            return self
        if not grades.zero_one:
            msg = (
                f"{', '.join(needing)} needs to know which items are relevant: pass "
                "threshold=4.0 (--threshold 4), for instance, so that items with a true value of "
                "at least 4.0 are."
            )
            raise InvalidInputError(msg)
        return self.each(lambda one: replace(one, threshold=1.0))


def _needs_of(one: Measurement) -> list[str]:
    """Return what of a measurement needs a threshold."""
    gain = one.convention.gain
    needs = {
        str(one.metric): one.metric.needs_threshold,
        f"gain={gain!r}": one.metric.uses_gains and one.convention.gain_needs_threshold,
        "mean_over='relevant'": one.convention.mean_over == "relevant",
    }
    return [why for why, needed in needs.items() if needed]


def chosen_metrics(metrics: Iterable[str | Metric] | str | Metric, k: Cutoffs) -> list[Metric]:
    """Return the metrics once each, in the order they were asked for."""
    if isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    single = isinstance(k, str | bytes) or not hasattr(k, "__iter__") or getattr(k, "ndim", 1) == 0
    ks: list[Any] = [k] if single else list(k)  # type: ignore[arg-type]
    groups: list[list[Metric]] = []
    for one in metrics:
        if not isinstance(one, str | Metric):
            msg = f"A metric is a name such as 'ndcg@10' or a metric object, not {quote(one)}."
            raise InvalidInputError(msg)
        if isinstance(one, Metric):
            check_free(type(one))
        groups.append([one] if isinstance(one, Metric) else parse(one, ks))
    found = dict.fromkeys(chain(*groups))
    names = [str(one) for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"Two different metrics are called {twice[0]!r}: give one of them another name."
        raise InvalidInputError(msg)
    if not groups or not all(groups):
        msg = "Name at least one metric and one k, such as 'ndcg@10'."
        raise InvalidInputError(msg)
    return list(found)


def metric_among(metric: str | Metric, names: Sequence[str], whose: str) -> str:
    """Return the name under which a metric was measured, as it stands or as it is typed.

    Raises
    ------
    InvalidInputError
        It was not.

    Examples
    --------
    >>> metric_among("NDCG@10", ["rr", "ndcg@10"], "This report")
    'ndcg@10'
    """
    name = str(metric)
    if name not in names:
        with suppress(RecsysNdcgError):
            name = str(parse(name)[0])
    if name in names:
        return name
    asked = name if isinstance(metric, Metric) else repr(metric)
    msg = f"{whose} has no metric {asked}; it has {', '.join(names)}."
    raise InvalidInputError(msg)


def _convention_for(metric: Metric, convention: Convention | str | None) -> Convention:
    """Return how a metric is measured: by a library's name, as that library measures it."""
    chosen = Convention.checked(convention)
    if isinstance(chosen, str):
        return Convention.preset(chosen, str(metric))
    InvalidInputError.raise_if(_misled(metric, chosen))
    return chosen


def _misled(metric: Metric, convention: Convention | str | None) -> str:
    """Return why a preset that was made for another metric is not the one for this."""
    return convention.misleading(str(metric)) if isinstance(convention, Convention) else ""


def _senseless(facts: Facts) -> str:
    """Return why no score of such data means anything."""
    no_others = math.isnan(facts.unlisted.highest)
    if facts.unlabelled == facts.ratings and no_others:
        return (
            "No item has a true value, so there is nothing to compare the estimates with. "
            "Give the users' own ratings as 'true' (Surprise: r_ui)."
        )
    catalogue = facts.placed_under is not None
    whole = no_others and not facts.unlabelled
    same = whole and facts.listed.lowest == facts.listed.highest
    if same and (catalogue or facts.protocol == "rated") and facts.users > 1 and facts.ratings > 2:
        real = (
            " of a test instead."
            if catalogue
            else ": RankedLists.from_labels(test_ratings, predictions), or rank all items by the "
            "plug-in's evaluate_catalogue(algo, trainset, testset)."
        )
        return (
            f"Every true value is {facts.listed.lowest} ({facts.ratings} rows, {facts.users} "
            "users), so every order scores the same. If they come from Surprise's "
            f"build_anti_testset(), which fills in the mean, give the real ratings{real}"
        )
    return ""
