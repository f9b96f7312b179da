"""One fold: fit, predict, measure; and all folds, one after the other or in parallel."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.evaluation import source_of, threshold_for
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.surprise.catalogue.candidates import Candidates, refuse_beyond
from recsys_ndcg.surprise.catalogue.placement import Placement, labels_from_testset
from recsys_ndcg.surprise.divergence import refuse_diverged
from recsys_ndcg.surprise.model_selection.measures import ACCURACY, resolved
from recsys_ndcg.surprise.printing import with_progress
from recsys_ndcg.surprise.rated import rated_lists, refuse_single_items
from recsys_ndcg.surprise.tolerance import with_tolerance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring.measuring import Scores
    from recsys_ndcg.surprise.model_selection.measures import Measure


@dataclass(frozen=True)
class Plan:
    """What is measured of every fold, and how."""

    measures: Sequence[Measure]
    threshold: float | None
    convention: Convention
    train: bool = False

    @classmethod
    def of(
        cls,
        measures: Any,
        threshold: float | None,
        convention: Convention | None,
        *,
        train: bool,
    ) -> Plan:
        """Read the measures, and give the convention the plug-in's tolerance."""
        return cls(resolved(measures), threshold, with_tolerance(convention), train)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that rank."""
        return [one.metric for one in self.measures if one.metric]

    def settled(self, testset: Sequence[Any]) -> Plan:
        """Return the plan with a threshold where the test ratings are 0 or 1, or refuse."""
        true = np.array([row[2] for row in testset], dtype=np.float64)
        threshold = threshold_for(true, self.metrics, self.convention, self.threshold)
        return replace(self, threshold=threshold)

    def ranking(self, protocol: str) -> dict[str, Metric]:
        """Return the metrics of the measures that rank under a protocol, by their names."""
        return {
            one.name: one.metric for one in self.measures if one.metric and one.protocol == protocol
        }


class Ranked(NamedTuple):
    """The scores of the users of a fold under the measures of one protocol."""

    names: list[str]
    users: Ids
    scores: Scores


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
    def per_user(self) -> pd.DataFrame:
        """The scores by user, a column per measure."""
        tables = [
            pd.DataFrame(scores.per_user, index=pd.Index(users, name="user"), columns=names)
            for names, users, scores in self.ranked
        ]
        return pd.concat(tables, axis=1) if tables else pd.DataFrame()


def pooled(folds: Sequence[Fold]) -> dict[str, float]:
    """Return the sums of the numerators over those of the denominators, if no fold diverged."""
    found: dict[str, float] = {}
    if any(fold.diverged for fold in folds):
        return found
    for parts in zip(*(fold.ranked for fold in folds), strict=True):
        tables = [part.scores for part in parts]
        joined = replace(
            tables[0],
            **{
                name: np.concatenate([getattr(one, name) for one in tables])
                for name in ("numerator", "denominator", "left_out")
            },
        )
        found |= dict(zip(parts[0].names, joined.pooled.tolist(), strict=True))
    return found


def run(
    tasks: Iterable[tuple[Any, Any, Any]],
    plan: Plan,
    total: int | None,
    **parallel: Any,
) -> list[Fold]:
    """Run folds, given as algorithm, trainset and testset.

    Parameters
    ----------
    tasks : iterable
        Taken one by one as they are needed.
    plan : Plan
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


def _fold(algo: Any, trainset: Any, testset: Any, plan: Plan) -> Fold:
    sizes = Counter(row[0] for row in testset)
    if plan.ranking("rated"):
        refuse_single_items(len(sizes), max(sizes.values(), default=0))
    for metric in plan.ranking("catalogue").values():
        refuse_beyond(metric.k, trainset)
    plan = plan.settled(testset)
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
        if plan.ranking("rated"):
            ranked.append(_rated(predictions, plan))
            again += [_rated(train, plan)] if train else []
        if plan.ranking("catalogue"):
            ranked.append(_catalogue(algo, trainset, testset, plan))
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


def _values(predictions: list[Any], ranked: Sequence[Ranked], plan: Plan) -> dict[str, Any]:
    """Return the value of every measure, NaN of those that nothing was ranked for."""
    means = {
        name: mean
        for names, _, scores in ranked
        for name, mean in zip(names, scores.mean.tolist(), strict=True)
    }
    return {
        one.name: one.of(predictions) if one.metric is None else means.get(one.name, np.nan)
        for one in plan.measures
    }


def _rated(predictions: list[Any], plan: Plan) -> Ranked:
    """Rank the users' test ratings, and keep their errors beside."""
    metrics = plan.ranking("rated")
    if plan.convention.impossible != "last":
        errors = [one.name for one in plan.measures if one == ACCURACY.get(one.name)]
        metrics |= {name: METRICS[name]() for name in errors if name in METRICS}
    return _scored(rated_lists(predictions, plan.convention), metrics, plan)


def _catalogue(algo: Any, trainset: Any, testset: Any, plan: Plan) -> Ranked:
    candidates = Candidates(algo, trainset, convention=plan.convention)
    labels = labels_from_testset(testset)
    lists = Placement(candidates, labels, plan.convention, plan.threshold).lists()
    return _scored(lists, plan.ranking("catalogue"), plan)


def _scored(lists: RankedLists, metrics: dict[str, Metric], plan: Plan) -> Ranked:
    source = source_of(lists, metrics.values(), None, plan.threshold, plan.convention)
    return Ranked(list(metrics), source.lists.users, source.measured(tie_range=False).scores)
