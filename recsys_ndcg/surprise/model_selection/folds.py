"""One fold: fit, predict, measure; and all folds, one after the other or in parallel."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.input.ids import index_of
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.report.measured import MeasuredAudit
from recsys_ndcg.scoring import Totals, facts_for, settled_scores
from recsys_ndcg.scoring.plan import checked_convention
from recsys_ndcg.surprise.catalogue.candidates import Candidates, refuse_beyond
from recsys_ndcg.surprise.catalogue.placement import Placement, labels_from_testset, placing
from recsys_ndcg.surprise.model_selection.measures import ACCURACY
from recsys_ndcg.surprise.orderless import orderless
from recsys_ndcg.surprise.printing import with_progress
from recsys_ndcg.surprise.tolerance import tolerant_plan
from recsys_ndcg.surprise.traps import rated_lists, refuse_diverged, refuse_single_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report.stored_audit import StoredAudit
    from recsys_ndcg.scoring import Plan
    from recsys_ndcg.surprise.model_selection.measures import Measure


@dataclass(frozen=True)
class FoldPlan:
    """What is measured of every fold.

    Parameters
    ----------
    measures : sequence of Measure
        In the order they were asked for.
    rated, catalogue : Plan, optional
        What ranks the users' test ratings, with their errors beside, and what ranks all items.
    train : bool
        Whether measures are taken of the trainset, too.
    per_user : bool
        Whether the scores of every user are kept: numerator, denominator and more of each.
    """

    measures: Sequence[Measure]
    rated: Plan | None
    catalogue: Plan | None
    train: bool = False
    per_user: bool = True

    @classmethod
    def of(
        cls,
        known: Sequence[Measure],
        threshold: float | None,
        convention: Convention | str | None,
        *,
        train: bool,
        per_user: bool = True,
    ) -> FoldPlan:
        """Give the conventions of measures the plug-in's tolerance."""
        checked_convention(convention)
        rated, catalogue = (
            tolerant_plan(metrics, threshold=threshold, convention=convention) if metrics else None
            for metrics in (_ranking(known, "rated"), _ranking(known, "catalogue"))
        )
        if rated is not None and rated.measurements[0].convention.impossible != "last":
            rated = rated.with_metrics(_errors(known))
        if catalogue is not None:
            placing(catalogue)  # refuses metrics that would rank differently
        return cls(known, rated, catalogue, train, per_user)

    @property
    def catalogue_names(self) -> list[str]:
        """The names of the measures that rank all items."""
        return [one.name for one in self.measures if one.metric and one.protocol == "catalogue"]

    def each(self, change: Callable[[Plan], Plan]) -> FoldPlan:
        """Return the same with what a function makes of each plan that there is."""
        rated, catalogue = (
            None if plan is None else change(plan) for plan in (self.rated, self.catalogue)
        )
        return replace(self, rated=rated, catalogue=catalogue)

    def names(self, protocol: str) -> dict[str, str]:
        """Return what the measures of a protocol are called, by the names of their metrics."""
        return {
            str(one.metric): one.name
            for one in self.measures
            if one.metric and one.protocol == protocol
        }


def _ranking(measures: Sequence[Measure], protocol: str) -> list[Metric]:
    return [one.metric for one in measures if one.metric and one.protocol == protocol]


def _errors(measures: Sequence[Measure]) -> list[Metric]:
    """Return the metrics that have an error of Surprise's user by user."""
    wanted = [one.name for one in measures if one == ACCURACY.get(one.name)]
    return [METRICS[name]() for name in wanted if name in METRICS]


class Ranked(NamedTuple):
    """What a fold has under the measures of one protocol; users' scores where they are kept."""

    names: list[str]
    totals: Totals
    audit: StoredAudit | None
    orderless: bool


@dataclass(frozen=True)
class Fold:
    """What came of one fold.

    Parameters
    ----------
    test, train : mapping
        The value of every measure on the testset, and on the trainset if that was asked for.
    fit_time, test_time : float
        Seconds.
    n_users : int
        How many users the testset has.
    ranked : sequence of Ranked
        What the ranking measures found, user by user.
    diverged : DivergedModelError, optional
        What is wrong with a model that estimates NaN.
    """

    test: dict[str, Any]
    train: dict[str, Any]
    fit_time: float
    test_time: float
    n_users: int
    ranked: Sequence[Ranked]
    diverged: DivergedModelError | None = None

    @property
    def orderless(self) -> list[str]:
        """The measures of lists in each of which all items have one estimate."""
        names = (name for part in self.ranked if part.orderless for name in part.names)
        return [name for name in names if name not in ACCURACY]

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores by user, a column per measure."""
        tables = [
            pd.DataFrame(
                audit.scores.per_user,
                index=index_of(audit.scores.users, "user"),
                columns=names,
                copy=True,
            )
            for names, _, audit, _ in self.ranked
            if audit is not None
        ]
        return pd.concat(tables, axis=1) if tables else pd.DataFrame()


def pooled(folds: Sequence[Fold]) -> dict[str, float]:
    """Return the sums of the numerators over those of the denominators, if no fold diverged."""
    found: dict[str, float] = {}
    if any(fold.diverged for fold in folds):
        return found
    for parts in zip(*(fold.ranked for fold in folds), strict=True):
        totals = Totals.merged(part.totals for part in parts)
        found |= dict(zip(parts[0].names, totals.pooled.tolist(), strict=True))
    return found


def run(
    tasks: Iterable[tuple[Any, Any, Any]],
    plan: FoldPlan,
    total: int | None,
    **parallel: Any,
) -> list[Fold]:
    """Run folds, given as algorithm, trainset and testset.

    Parameters
    ----------
    tasks : iterable
        Taken one by one as they are needed.
    plan : FoldPlan
        What to measure.
    total : int, optional
        How many there are, for the bar of progress.
    **parallel
        For joblib.
    """
    jobs = (delayed(_fold)(*task, plan) for task in tasks)
    try:
        workers = Parallel(return_as="generator", **parallel)
    except ValueError:  # a backend that gives everything in the end, so that no bar can follow
        return list(Parallel(**parallel)(jobs))
    return list(with_progress(workers(jobs), total))


def _fold(algo: Any, trainset: Any, testset: Any, plan: FoldPlan) -> Fold:
    sizes = Counter(map(itemgetter(0), testset))
    if plan.rated is not None:
        refuse_single_items(len(sizes), max(sizes.values(), default=0))
    for metric in [] if plan.catalogue is None else plan.catalogue.metrics:
        refuse_beyond(metric.k, trainset)
    grades = Grades.of(np.array(list(map(itemgetter(2), testset)), dtype=np.float64))
    plan = plan.each(lambda one: one.with_threshold(grades))
    start = time.time()
    algo.fit(trainset)
    fitted = time.time()
    predictions = list(algo.test(testset))
    tested = time.time()
    train = list(algo.test(trainset.build_testset())) if plan.train else []
    diverged = None
    ranked: list[Ranked] = []
    again: list[Ranked] = []
    try:
        refuse_diverged(algo, predictions)
        if plan.rated is not None:
            ranked.append(_rated(predictions, plan, plan.rated))
            again += [_rated(train, plan, plan.rated)] if train else []
        if plan.catalogue is not None:
            ranked.append(_catalogue(algo, trainset, testset, plan, plan.catalogue))
    except DivergedModelError as error:
        diverged, ranked, again = error, [], []
    return Fold(
        test=_values(predictions, ranked, plan),
        train=_values(train, again, plan) if train else {},
        fit_time=fitted - start,
        test_time=tested - fitted,
        n_users=len(sizes),
        ranked=ranked,
        diverged=diverged,
    )


def _values(predictions: list[Any], ranked: Sequence[Ranked], plan: FoldPlan) -> dict[str, Any]:
    """Return the value of every measure, NaN of those that nothing was ranked for."""
    means = {
        name: mean
        for names, totals, *_ in ranked
        for name, mean in zip(names, totals.mean.tolist(), strict=True)
    }
    return {
        one.name: one.of(predictions) if one.metric is None else means.get(one.name, np.nan)
        for one in plan.measures
    }


def _rated(predictions: list[Any], plan: FoldPlan, rated: Plan) -> Ranked:
    """Rank the users' test ratings."""
    return _scored(rated_lists(predictions, rated.duplicates), rated, plan, "rated")


def _catalogue(algo: Any, trainset: Any, testset: Any, plan: FoldPlan, catalogue: Plan) -> Ranked:
    candidates = Candidates(algo, trainset, convention=placing(catalogue))
    lists = Placement(candidates, labels_from_testset(testset), catalogue, shown=False).lists()
    return _scored(lists, catalogue, plan, "catalogue")


def _scored(lists: GroupedLists, own: Plan, plan: FoldPlan, protocol: str) -> Ranked:
    names = plan.names(protocol)
    called = [names.get(name, name) for name in own.names]
    if not plan.per_user:
        return Ranked(called, Totals.of(settled_scores(lists, own)), None, orderless(lists))
    facts = facts_for(lists, own.measurements)
    audit = MeasuredAudit.of(lists, facts, own.settled(facts, lists)).stored()
    return Ranked(called, audit.totals, audit, orderless(lists))
