"""Plan: the requested measurements, settled, so that nothing is decided while scoring."""

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
from recsys_ndcg.lists import Facts, Grades, GroupedLists, prepare_lists
from recsys_ndcg.metrics import Metric, check_name_is_free, parse_metrics
from recsys_ndcg.ranking import SortedLists
from recsys_ndcg.scoring.measurement import Measurement, shortest_lengths
from recsys_ndcg.scoring.measuring import map_blocks
from recsys_ndcg.scoring.scores import Scores

Metrics = Iterable[str | Metric] | str | Metric | None
Cutoffs = int | Iterable[int | None] | None

_DEFAULT_METRICS = ("ndcg", "precision", "recall")


@dataclass(frozen=True)
class Plan:
    """The measurements to make, a column of scores each.

    Parameters
    ----------
    measurements : tuple of Measurement
        All with the same threshold.
    is_default : bool
        Whether the metrics are the default ones: without a threshold, those that need one are left
        out.

    Examples
    --------
    >>> plan = Plan.of(["ndcg", "rr"], k=[5, 10], threshold=4)
    >>> plan.names, plan.threshold
    (['ndcg@5', 'ndcg@10', 'rr'], 4.0)
    """

    measurements: tuple[Measurement, ...]
    is_default: bool = False

    #: Equal sums over neighbours may differ: 4.0 and 3.9999999999999996.
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
        """Read the options of `recsys_ndcg.evaluate`.

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
        chosen = read_metrics(_DEFAULT_METRICS if metrics is None else metrics, k)
        if metrics is None and threshold is None:  # without what the preset does not fit
            chosen = [
                one
                for one in chosen
                if not (one.needs_threshold and _find_preset_mismatch(one, convention))
            ]
        return cls(
            tuple(
                Measurement(metric, _convention_for(metric, convention), threshold, short_below=n)
                for metric, n in zip(chosen, shortest_lengths(chosen), strict=True)
            ),
            is_default=metrics is None,
        )

    @property
    def names(self) -> list[str]:
        """The names of the metrics, in the order of the request."""
        return [str(one) for one in self.measurements]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the same order."""
        return [one.metric for one in self.measurements]

    @property
    def threshold(self) -> float | None:
        """The least grade of a relevant item."""
        return self.measurements[0].threshold

    @property
    def duplicates(self) -> str:
        """How repeated (user, item) rows are merged when the data is read."""
        return self.measurements[0].convention.duplicates

    def depends_on_merging(self, *, unlabelled: bool) -> bool:
        """Return whether the plan needs the grades after repeated rows are merged.

        It does to find the threshold, and the highest grade for unlabelled items; by the rule
        ``"max"`` merging does not change the highest.
        """
        if self.duplicates == "raise":
            return False
        return self.threshold is None or (unlabelled and self.duplicates != "max")

    @property
    def threshold_readers(self) -> list[str]:
        """The metrics and choices that need to know which items are relevant."""
        return list(
            dict.fromkeys(why for one in self.measurements for why in _threshold_readers_of(one))
        )

    def threshold_warnings(self, facts: Facts) -> Iterator[str]:
        """Yield warnings about the threshold, if anything reads it."""
        if self.threshold is not None and self.threshold_readers:
            yield from facts.find_threshold_suspicions(self.threshold)

    def map_measurements(self, change: Callable[[Measurement], Measurement]) -> Plan:
        """Return the plan with each measurement replaced by the result of a function."""
        return replace(self, measurements=tuple(map(change, self.measurements)))

    def with_choices(self, **choices: Any) -> Plan:
        """Return the plan with other choices in every convention."""
        return self.map_measurements(lambda one: one.with_choices(**choices))

    def with_tie_tolerance(self) -> Plan:
        """Return the plan with at least the tie tolerance that models' estimates need.

        Examples
        --------
        >>> Plan.of("ndcg@10").with_tie_tolerance().measurements[0].convention.tie_tolerance
        1e-09
        """

        def change(one: Measurement) -> Measurement:
            step = one.convention.tie_tolerance
            fine = not isinstance(step, str) and step < self.TIE_TOLERANCE
            return one.with_choices(tie_tolerance=self.TIE_TOLERANCE) if fine else one

        return self.map_measurements(change)

    def with_metrics(self, metrics: Sequence[Metric]) -> Plan:
        """Return the plan with more metrics, under the choices of the first."""
        first, cutoffs = self.measurements[0], shortest_lengths([*self.metrics, *metrics])
        added = zip(metrics, cutoffs[len(self.measurements) :], strict=True)
        more = (replace(first, metric=one, short_below=n) for one, n in added)
        return replace(self, measurements=(*self.measurements, *more))

    def facts_of(self, lists: GroupedLists, known: Facts | None = None) -> Facts:
        """Return the facts of lists that settle the plan.

        Parameters
        ----------
        lists : GroupedLists
            All lists, or a part whose facts are merged with the other parts' facts.
        known : Facts, optional
            The facts without the first ties that these measurements depend on.
        """
        exact = any(not isinstance(one.convention.gain, str) for one in self.measurements)
        facts = Facts.of(lists, distinct=exact) if known is None else known
        wanted = {one.order: one for one in self.measurements if one.depends_on_ties(facts)}
        ties = {}
        for order, one in wanted.items():
            ready = prepare_lists(lists, one.convention, unlabelled_as=one.unlabelled_as)
            ties[order] = float(SortedLists(ready, one.convention).first_tie.min(initial=np.inf))
        return replace(facts, first_ties=ties)

    def settle(self, facts: Facts, lists: GroupedLists | None = None) -> Plan:
        """Return the plan with its threshold, after checking that everything can be computed.

        Parameters
        ----------
        facts : Facts
            The facts of all the lists.
        lists : GroupedLists, optional
            The lists, for the first offending rows in the message.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed; the message says why and what to do.
        """
        plan = self.with_threshold(facts.all_grades)
        InvalidInputError.raise_if(_find_mistake(facts))
        plan.check(facts, lists)
        return plan

    def measure(self, lists: GroupedLists) -> Scores:
        """Rank lists block by block, and fill a column for each measurement.

        The plan is settled against the facts of all the lists, so nothing raises here.

        Returns
        -------
        Scores
            The users are in the order of the lists. A score depends only on the user's own rows, to
            the last bit: not on other users, blocks or threads.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> lists = rn.RankedLists.from_tuples({"ann": [(4.5, 1), (3.0, 5)], "bob": [(2.0, 4)]})
        >>> Plan.of("rr", threshold=4).measure(lists).per_user.ravel().tolist()
        [0.5, 1.0]
        """
        wanted = self.measurements
        return Scores.concat(map_blocks(lists, wanted, lambda block: block.score(wanted)))

    def score_lists(self, lists: GroupedLists) -> Scores:
        """Settle the plan against lists, and measure them.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed, or a score is undefined under ``undefined="raise"``.
        """
        scores = self.settle(self.facts_of(lists), lists).measure(lists)
        InvalidInputError.raise_if(scores.objection())
        return scores

    def check(self, facts: Facts, lists: GroupedLists | None = None) -> None:
        """Raise if a measurement cannot be computed of lists, or of a part of them.

        Raises
        ------
        InvalidInputError
            The message says why and what to do.
        """
        for one in self.measurements:
            InvalidInputError.raise_if(one.objection(facts, lists))

    def with_reasons(self, facts: Facts) -> Plan:
        """Return the plan with a reason in each measurement that cannot be computed."""
        return self.map_measurements(
            lambda one: replace(one, reason=one.reason or one.objection(facts))
        )

    def with_threshold(self, grades: Grades) -> Plan:
        """Return the plan with the threshold 1 if it needs one and all grades are 0 or 1.

        If it needs one and grades are others, default metrics that need one are left out.

        Raises
        ------
        InvalidInputError
            The plan needs a threshold and has none.
        """
        if self.threshold is not None:
            return self
        if self.is_default and not grades.is_binary:
            kept = tuple(one for one in self.measurements if not one.metric.needs_threshold)
            return replace(self, measurements=kept, is_default=False).with_threshold(grades)
        readers = self.threshold_readers
        if not readers:
            return self
        if not grades.is_binary:
            msg = (
                f"{', '.join(readers)} needs to know which items are relevant: pass "
                "threshold=4.0 (--threshold 4), for instance, so that items with a true value of "
                "at least 4.0 are."
            )
            raise InvalidInputError(msg)
        return self.map_measurements(lambda one: replace(one, threshold=1.0))


def _threshold_readers_of(one: Measurement) -> list[str]:
    """Return the metric and the choices of a measurement that need a threshold."""
    gain = one.convention.gain
    readers = {
        str(one.metric): one.metric.needs_threshold,
        f"gain={gain!r}": one.metric.uses_gains and one.convention.gain_needs_threshold,
        "mean_over='relevant'": one.convention.mean_over == "relevant",
    }
    return [name for name, needs_threshold in readers.items() if needs_threshold]


def read_metrics(metrics: Iterable[str | Metric] | str | Metric, k: Cutoffs) -> list[Metric]:
    """Return the requested metrics, each once, in the order of the request."""
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
            check_name_is_free(type(one))
        groups.append([one] if isinstance(one, Metric) else parse_metrics(one, ks))
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


def find_metric_name(metric: str | Metric, names: Sequence[str], whose: str) -> str:
    """Return the name of a metric among measured ones, also if it is typed in another way.

    Raises
    ------
    InvalidInputError
        The metric is not among them.

    Examples
    --------
    >>> find_metric_name("NDCG@10", ["rr", "ndcg@10"], "This report")
    'ndcg@10'
    """
    name = str(metric)
    if name not in names:
        with suppress(RecsysNdcgError):
            name = str(parse_metrics(name)[0])
    if name in names:
        return name
    asked = name if isinstance(metric, Metric) else repr(metric)
    msg = f"{whose} has no metric {asked}; it has {', '.join(names)}."
    raise InvalidInputError(msg)


def _convention_for(metric: Metric, convention: Convention | str | None) -> Convention:
    """Return the convention of a metric; a library's name is its preset for that metric."""
    chosen = Convention.validate(convention)
    if isinstance(chosen, str):
        return Convention.preset(chosen, str(metric))
    InvalidInputError.raise_if(_find_preset_mismatch(metric, chosen))
    return chosen


def _find_preset_mismatch(metric: Metric, convention: Convention | str | None) -> str:
    """Return why the preset of another metric does not fit a metric; "" if it does."""
    return (
        convention.find_preset_mismatch(str(metric)) if isinstance(convention, Convention) else ""
    )


def _find_mistake(facts: Facts) -> str:
    """Return why scores of such data are meaningless; "" if they are not."""
    no_others = math.isnan(facts.unlisted.highest)
    if facts.unlabelled == facts.ratings and no_others:
        return (
            "No item has a true value, so there is nothing to compare the estimates with. "
            "Give the users' own ratings as 'true' (Surprise: r_ui)."
        )
    catalogue = facts.placement_choices is not None
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
