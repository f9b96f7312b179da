"""One fold: fit, predict, measure; and all folds, one after the other or in parallel."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs

from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.input.ids import index_of
from recsys_ndcg.input.tuples import read_numbers
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.progress import followed
from recsys_ndcg.scoring import Totals, facts_for, settled_scores
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.surprise.catalogue.candidates import Candidates, refuse_beyond
from recsys_ndcg.surprise.catalogue.placement import Placement, labels_from_testset, placing
from recsys_ndcg.surprise.model_selection.fitting import (
    Tested,
    fitted_and_tested,
    rows_of,
    sent,
)
from recsys_ndcg.surprise.model_selection.measures import ACCURACY
from recsys_ndcg.surprise.orderless import orderless
from recsys_ndcg.surprise.traps import rated_lists, refuse_single_items

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring import Plan
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan


class Ranked(NamedTuple):
    """What a fold has under the measures of one protocol; users' scores where they are kept."""

    names: list[str]
    totals: Totals
    audit: Audit | None
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
    *,
    progress: bool = True,
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
    progress : bool
        Whether there is a bar.
    **parallel
        For joblib.
    """
    if plan.catalogue is not None or effective_n_jobs(parallel.get("n_jobs")) == 1:
        # all items are ranked where the model is, which is larger than anything that comes of it
        jobs = (delayed(fold_of)(*task, plan) for task in tasks)
        return list(followed(_results(jobs, parallel), "Fitting", total, wanted=progress))
    begun: deque[_Begun] = deque()
    results = _results(_dispatched(tasks, plan, begun), parallel)
    # a fold is ranked while others are fitted
    with _closed(results):
        ranked = (begun.popleft().fold(one) for one in results)
        return list(followed(ranked, "Fitting", total, wanted=progress))


@contextmanager
def _closed(results: Generator[Any, None, None]) -> Iterator[None]:
    """Stop the workers in the end, also where a fold is refused while others are fitted."""
    try:
        yield
    finally:
        with warnings.catch_warnings():  # joblib's, of what they did in vain
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            results.close()


def _results(jobs: Iterable[Any], parallel: dict[str, Any]) -> Generator[Any, None, None]:
    """Yield what comes of jobs, in their order."""
    try:
        workers = Parallel(return_as="generator", **parallel)
    except ValueError:  # a backend that gives everything in the end, so that no bar can follow
        workers = Parallel(**parallel)
    yield from workers(jobs)


def _dispatched(
    tasks: Iterable[tuple[Any, Any, Any]], plan: FoldPlan, begun: deque[_Begun]
) -> Iterator[Any]:
    """Yield jobs for workers, and keep of each what its predictions are ranked with."""
    for algo, trainset, testset in tasks:
        fold = _Begun.of(trainset, testset, plan)
        begun.append(fold.without_ratings())
        yield delayed(sent)(algo, trainset, testset, plan.job)


def fold_of(algo: Any, trainset: Any, testset: Any, plan: FoldPlan) -> Fold:
    """Fit an algorithm, let it predict, and measure what is planned."""
    begun = _Begun.of(trainset, testset, plan)
    tested = fitted_and_tested(algo, trainset, testset, plan.job)
    return begun.fold(tested, algo)


@dataclass(frozen=True)
class _Begun:
    """What is known of a fold before anything is fitted, and ranks what comes of it."""

    plan: FoldPlan
    n_users: int
    trainset: Any
    testset: Any

    @classmethod
    def of(cls, trainset: Any, testset: list[Any], plan: FoldPlan) -> _Begun:
        """Look at a split, and settle the threshold by its grades."""
        sizes = Counter(map(itemgetter(0), testset))
        if plan.rated is not None:
            refuse_single_items(len(sizes), max(sizes.values(), default=0))
        for metric in [] if plan.catalogue is None else plan.catalogue.metrics:
            refuse_beyond(metric.k, trainset)
        if plan.rated is not None or plan.catalogue is not None:
            grades = Grades.of(read_numbers(list(map(itemgetter(2), testset)), "rating"))
            plan = plan.each(lambda one: one.with_threshold(grades))
        return cls(plan, len(sizes), trainset, testset)

    def without_ratings(self) -> _Begun:
        """Leave out the ratings that no row of a prediction is made of: most of the memory."""
        ranked = self.plan.rated is not None
        return replace(
            self,
            trainset=self.trainset if ranked and self.plan.train else None,
            testset=self.testset if ranked else None,
        )

    def fold(self, tested: Tested, algo: Any = None) -> Fold:
        """Rank what was predicted; all items, if they are asked for, by the fitted algorithm."""
        plan, diverged = self.plan, tested.diverged
        ranked: list[Ranked] = []
        again: list[Ranked] = []
        try:
            if plan.rated is not None and diverged is None:
                ranked.append(_rated(rows_of(tested.test, self.testset), plan, plan.rated))
                if plan.train:
                    rows = rows_of(tested.train, self.trainset.build_testset())
                    again.append(_rated(rows, plan, plan.rated))
            if plan.catalogue is not None and diverged is None:
                split = self.trainset, self.testset
                ranked.append(_catalogue(algo, *split, plan, plan.catalogue))
        except DivergedModelError as error:
            diverged, ranked, again = error.with_traceback(None), [], []
        return Fold(
            test=_values(tested.test_values, ranked, plan),
            train=_values(tested.train_values, again, plan) if plan.train else {},
            fit_time=tested.fit_time,
            test_time=tested.test_time,
            n_users=self.n_users,
            ranked=ranked,
            diverged=diverged,
        )


def _values(found: Mapping[str, Any], ranked: Sequence[Ranked], plan: FoldPlan) -> dict[str, Any]:
    """Return the value of every measure, NaN of those that nothing was ranked for."""
    means = {
        name: mean
        for names, totals, *_ in ranked
        for name, mean in zip(names, totals.mean.tolist(), strict=True)
    }
    return {
        one.name: found[one.name] if one.metric is None else means.get(one.name, np.nan)
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
    audit = Audit.of(lists, facts, own.settled(facts, lists)).without_lists()
    return Ranked(called, audit.totals, audit, orderless(lists))
