"""Run folds: fit, predict and measure, one after the other or with joblib's workers."""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import compress
from operator import add, itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from recsys_ndcg.catalogue import (
    Placement,
    build_chosen_lists,
    check_cutoff,
    choose_convention,
    read_testset,
)
from recsys_ndcg.comparison import ModelScores
from recsys_ndcg.errors import DivergedModelError, InvalidInputError, warn
from recsys_ndcg.folds.fitting import FittedFold, FoldJob
from recsys_ndcg.folds.measures import ACCURACY, FoldPlan
from recsys_ndcg.input import make_index, to_column, to_floats
from recsys_ndcg.lists import Grades, GroupedLists, hash_ids, to_lists
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.report import split_by_items
from recsys_ndcg.scoring import Audit, Plan, Totals

_HASHES = 256  # of the pairs in a testset


class ProtocolScores(NamedTuple):
    """A fold's ranking measures under one protocol; `audit` has users' scores if they are kept.

    `by_items` has the scores by popularity of items in training (`Report.by_items`), if wanted.
    """

    names: list[str]
    totals: Totals
    audit: Audit | None
    has_no_order: bool
    by_items: pd.DataFrame | None = None


@dataclass(frozen=True)
class FoldRun:
    """The result of training one model on one fold.

    Parameters
    ----------
    test, train : mapping
        The value of every measure on the testset, and on the trainset if it is measured.
    fit_time, test_time, rank_time, measure_time : float
        Seconds to fit, to predict the testset, to estimate and rank the catalogue, and for the
        rest (NaN if another process measures).
    n_users : int
        Number of users in the testset.
    ranked : sequence of ProtocolScores
        The ranking measures, user by user.
    tested : frozenset of int
        Hashes of some of the rated pairs in the testset: folds with a common one test it twice.
    diverged : DivergedModelError, optional
        The error of a model that estimates NaN.
    """

    test: dict[str, Any]
    train: dict[str, Any]
    fit_time: float
    test_time: float
    n_users: int
    ranked: Sequence[ProtocolScores]
    tested: frozenset[int] = frozenset()
    diverged: DivergedModelError | None = None
    rank_time: float = 0.0
    measure_time: float = np.nan

    @classmethod
    def of(
        cls,
        model: Any,
        trainset: Any,
        testset: list[Any],
        plan: FoldPlan,
        show: Callable[[float], Any] = lambda _: None,
    ) -> FoldRun:
        """Fit a model, predict, and measure; `show` gets the ranked share of the catalogue."""
        start, rank_time = time.time(), 0.0
        prepared = PreparedFold.of(trainset, testset, plan)
        fitted, own = prepared.job.run(model, trainset, testset), prepared.plan.catalogue
        ranked: list[ProtocolScores] = []
        if own is None and model.returns_lists and not fitted.test:
            msg = (
                "The model returns lists, without estimates of all test ratings, and only the "
                "catalogue protocol measures lists. Pass protocol='catalogue', or return a "
                "function that estimates any pairs."
            )
            raise InvalidInputError(msg)
        if own is not None and fitted.diverged is None:
            begun = time.time()
            show(0.0)
            try:
                lists = _rank_catalogue(model, trainset, testset, own, show)
                rank_time = time.time() - begun
                ranked.append(prepared.score(lists, own))
            except DivergedModelError as error:  # its traceback would keep the model in memory
                fitted = fitted._replace(diverged=error.with_traceback(None))
            finally:  # a bar does not show the step any longer
                show(1.0)
        fold = prepared.measure(fitted, ranked)
        others = fold.fit_time + fold.test_time + rank_time
        measure_time = max(time.time() - start - others, 0.0)
        return replace(fold, rank_time=rank_time, measure_time=measure_time)

    @property
    def names_without_order(self) -> list[str]:
        """The ranking measures of lists in each of which all estimates are equal."""
        names = (name for part in self.ranked if part.has_no_order for name in part.names)
        return [name for name in names if name not in ACCURACY]

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores by user, with a column per measure."""
        kept = [(part.names, part.audit.scores) for part in self.ranked if part.audit is not None]
        tables = [
            pd.DataFrame(scores.per_user, make_index(scores.users, "user"), names, copy=True)
            for names, scores in kept
        ]
        return pd.concat(tables, axis=1) if tables else pd.DataFrame()


class FoldRuns(tuple["FoldRun", ...]):
    """All folds of a model."""

    __slots__ = ()

    @property
    def pooled(self) -> dict[str, float]:
        """The pooled score of each ranking measure; empty if a fold diverged."""
        pooled: dict[str, float] = {}
        if any(fold.diverged for fold in self):
            return pooled
        for parts in zip(*(fold.ranked for fold in self), strict=True):
            totals = reduce(add, (part.totals for part in parts))
            pooled |= dict(zip(parts[0].names, totals.pooled.tolist(), strict=True))
        return pooled

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user, indexed by fold and user."""
        self._check_users_are_kept()
        tables = {place: fold.per_user for place, fold in enumerate(self, 1)}
        return pd.concat(tables, names=["fold", "user"])

    @property
    def averaged_scores(self) -> ModelScores:
        """The scores of every user in all ranking measures: see `average_scores`."""
        return self.average_scores()

    def average_scores(self, run_of: Sequence[int] | None = None) -> ModelScores:
        """Return the scores of every user in all ranking measures, averaged over the folds.

        Parameters
        ----------
        run_of : sequence of int, optional
            The number of each fold's run. By default, a fold with ratings that an earlier fold of
            the run has tested begins another run.

        Raises
        ------
        InvalidInputError
            No measure ranks, the model diverged, or the scores of users were not kept.
        """
        if any(fold.diverged for fold in self):
            msg = f"The model diverged, so it has no scores to compare. {self[0].diverged or ''}"
            raise InvalidInputError(msg.strip())
        parts = [
            [ModelScores.from_audit(part.audit, part.names) for part in fold.ranked if part.audit]
            for fold in self
        ]
        self._check_users_are_kept()
        if not all(parts):
            msg = "No measure here ranks anything. Add one such as 'ndcg@10'."
            raise InvalidInputError(msg)
        joined = [ModelScores.join_metrics(each) for each in parts]
        # lists of items may be complete enough for the test ratings of some folds only
        common = [name for name in joined[0].names if all(name in one.names for one in joined)]
        joined = [one.select_metrics(common) for one in joined]
        found = ModelScores.average_runs(joined, run_of or self._number_runs())
        orders = {*compress(found.names, [one.depends_on_order for one in found.metrics])}
        first = [name for name in self[0].test if name in orders]  # the first is the main metric
        return found.select_metrics([*first, *(name for name in found.names if name not in orders)])

    def _number_runs(self) -> list[int]:
        """Return the number of each fold's run: a run tests each rating once."""
        numbers: list[int] = []
        tested: frozenset[int] = frozenset()
        for fold in self:
            is_next = not tested.isdisjoint(fold.tested)
            tested = fold.tested if is_next else tested | fold.tested
            numbers.append(numbers[-1] + is_next if numbers else 0)
        return numbers

    def _check_users_are_kept(self) -> None:
        """Raise if a search kept no scores of users.

        Raises
        ------
        InvalidInputError
            A fold has no users' scores; the message has the option that keeps them.
        """
        if any(part.audit is None for fold in self for part in fold.ranked):
            msg = (
                "This search kept no scores of users (keep_per_user=False, or too many users): "
                "pass keep_per_user=True, and fit again."
            )
            raise InvalidInputError(msg)

    @staticmethod
    def warn_of_random_order(who: str, names: Sequence[Sequence[str]], parts: str) -> None:
        """Warn of an algorithm whose lists have no order.

        Parameters
        ----------
        who : str
            The algorithm.
        names : sequence of sequences of str
            For each part, the measures of lists without an order; usually none.
        parts : str
            A noun for the parts: folds or combinations.
        """
        bad = [one for one in names if one]
        if bad:
            warn(
                f"{who} estimates the same for every item of a user ({len(bad)} of {len(names)} "
                f"{parts}): random order scores the same in {', '.join(bad[0])}. Check its "
                "parameters, and whether it can learn from these ratings."
            )


class PreparedFold(NamedTuple):
    """A fold's plan with its threshold, the number of its test users, and `FoldRun.tested`.

    `train` has the training rows if scores are split by items.
    """

    plan: FoldPlan
    n_users: int
    tested: frozenset[int]
    train: Any = None

    @classmethod
    def of(cls, trainset: Any, testset: list[Any], plan: FoldPlan) -> PreparedFold:
        """Check a split, and set the threshold by its grades."""
        sizes = Counter(map(itemgetter(0), testset))
        if plan.rated is not None:
            _check_list_lengths(len(sizes), max(sizes.values(), default=0))
        for metric in [] if plan.catalogue is None else plan.catalogue.metrics:
            check_cutoff(metric.k, trainset.n_items)
        if plan.rated is not None or plan.catalogue is not None:
            grades = Grades.of(to_floats(list(map(itemgetter(2), testset)), "rating"))
            plan = plan.map(lambda one: one.with_threshold(grades))
        if plan.catalogue is not None:
            plan = replace(plan, catalogue=plan.catalogue.with_trainset(trainset, **plan.known))
        tested = _hash_pairs(testset) if plan.keep_per_user else frozenset()
        return cls(plan, len(sizes), tested, trainset if plan.split_items else None)

    @property
    def job(self) -> FoldJob:
        """The instructions for a worker, which does everything except ranking."""
        functions = [one for one in self.plan.measures if one.function is not None]
        return FoldJob(functions, self.plan.return_train_measures, self.plan.rated is not None)

    def measure(self, fitted: FittedFold, catalogue: Sequence[ProtocolScores] = ()) -> FoldRun:
        """Rank the predictions, and combine all measures; the catalogue is ranked already."""
        plan = self.plan
        ranked, again = list[ProtocolScores](), list[ProtocolScores]()
        if plan.rated is not None and fitted.diverged is None:
            for found, predictions in ((ranked, fitted.test), (again, fitted.train)):
                if predictions:
                    lists = build_rated_lists(predictions, plan.rated.duplicates)
                    lists = plan.rated.add_background(lists)
                    found.append(self.score(lists, plan.rated))
        ranked += catalogue
        return FoldRun(
            test=_merge(fitted.test_values, ranked, plan),
            train=_merge(fitted.train_values, again, plan) if plan.return_train_measures else {},
            fit_time=fitted.fit_time,
            test_time=fitted.test_time,
            n_users=self.n_users,
            ranked=ranked,
            tested=self.tested,
            diverged=fitted.diverged,
        )

    def score(self, lists: GroupedLists, own: Plan) -> ProtocolScores:
        """Measure lists by one of the plans, which names their protocol's metrics."""
        by_metric = self.plan.names(lists.protocol)
        names = [by_metric.get(name, name) for name in own.names]
        if not self.plan.keep_per_user:
            totals = Totals.of(own.resolve_and_measure(lists))
            return ProtocolScores(names, totals, None, has_no_order(lists))
        facts = own.facts_of(lists)
        audit, by_items = Audit.of(lists, own.resolve(facts, lists), facts), None
        if self.train is not None:
            with suppress(InvalidInputError):  # no metric is a sum over labels
                by_items = split_by_items(audit, "popularity", self.train)
                by_items = by_items.rename(index=dict(zip(own.names, names, strict=True)), level=0)
        kept = audit.without_lists()
        return ProtocolScores(names, kept.totals, kept, has_no_order(lists), by_items)


def _hash_pairs(testset: list[Any]) -> frozenset[int]:
    """Return the lowest hashes of (user, item): testsets that overlap have some in common.

    Two of n pairs with a share f in common have about 256 f hashes in common: an overlap of 2 % is
    missed once in two hundred times.
    """
    columns = (list(map(itemgetter(side), testset)) for side in (0, 1))
    users, items = (hash_ids(to_column(one, "id")) for one in columns)
    return frozenset(np.sort(users * np.uint64(31) + items)[:_HASHES].tolist())


def _merge(values: dict[str, Any], ranked: list[ProtocolScores], plan: FoldPlan) -> dict[str, Any]:
    """Return the value of every measure; a ranking measure without lists is NaN."""
    means = {
        name: mean
        for names, totals, *_ in ranked
        for name, mean in zip(names, totals.mean.tolist(), strict=True)
    }
    return {
        one.name: (values if one.metric is None else means).get(one.name, np.nan)
        for one in plan.measures
    }


def _rank_catalogue(
    model: Any, trainset: Any, testset: Any, plan: Plan, show: Callable[[float], Any]
) -> GroupedLists:
    """Return the test users' lists of the items that they did not rate in training."""
    labels = read_testset(testset)
    if model.returns_lists:
        return build_chosen_lists(
            model.read_lists(), Interactions.from_trainset(trainset), labels, plan
        )
    candidates = model.candidates(trainset, choose_convention(plan))
    return plan.add_background(Placement(candidates, labels, plan, shown=False).lists(show))


def build_rated_lists(predictions: Any, duplicates: str) -> GroupedLists:
    """Return the ranked lists of predictions of test ratings.

    Raises
    ------
    InvalidInputError
        The predictions are invalid, or every user has only one.
    """
    lists = to_lists(predictions, duplicates=duplicates)
    _check_list_lengths(len(lists), int(lists.n_items.max(initial=0)))
    return lists


def _check_list_lengths(n_users: int, longest: int) -> None:
    """Raise if the lists of several users all have one item.

    Raises
    ------
    InvalidInputError
        They do; the message has ways to get longer lists.
    """
    if n_users > 1 and longest == 1:
        msg = (
            f"All {n_users} users have one predicted item, and any order of one item is "
            "perfect: NDCG is 1 for every model. Test on more ratings of each user, with "
            "LeaveNOut(5), or rank all items: 'ndcg@10:catalogue' or evaluate_catalogue()."
        )
        raise InvalidInputError(msg)


def has_no_order(lists: GroupedLists) -> bool:
    """Return whether all estimates are equal in each list, and a list has several.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> has_no_order(rn.RankedLists.from_tuples({"ann": [(3, 1), (3, 5)], "bob": [(4, 4), (4, 2)]}))
    True
    >>> has_no_order(rn.RankedLists.from_tuples({"ann": [(1e-9, 1), (0.0, 5)]}))
    False
    """
    is_one_tie = lists.pool.is_one_tie(lists, Plan.TIE_TOLERANCE)
    return is_one_tie and int(lists.n_items.max(initial=0)) > 1


def run_folds(
    tasks: Iterable[tuple[Any, Any, Any]],
    plan: FoldPlan,
    total: int | None,
    *,
    progress: bool = True,
    **parallel: Any,
) -> list[FoldRun]:
    """Run folds, and return their results in order; the first error ends all.

    Parameters
    ----------
    tasks : iterable of (model, trainset, testset)
        Each is taken when a worker is free.
    plan : FoldPlan
        The measures.
    total : int, optional
        The number of folds, for the progress bar.
    progress : bool
        Whether there is a bar.
    **parallel
        Options of `joblib.Parallel`.
    """
    if plan.catalogue is not None:  # workers rank the catalogue, so that no predictions are sent
        jobs = (delayed(FoldRun.of)(*task, plan) for task in tasks)
        results = _run_jobs(jobs, parallel)
        return list(iterate_with_progress(results, "Fitting", total, enabled=progress))
    dispatched: deque[PreparedFold] = deque()

    def dispatch() -> Iterator[Any]:
        for model, trainset, testset in tasks:
            dispatched.append(PreparedFold.of(trainset, testset, plan))
            yield delayed(dispatched[-1].job.run)(model, trainset, testset)

    results = _run_jobs(dispatch(), parallel)
    try:
        # this process ranks a fold while workers fit others
        ranked = (dispatched.popleft().measure(one) for one in results)
        return list(iterate_with_progress(ranked, "Fitting", total, enabled=progress))
    finally:  # stop the workers, also after an error in one fold while others are fitted
        with warnings.catch_warnings():  # joblib's, of interrupted work
            warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
            results.close()


def _run_jobs(jobs: Iterable[Any], parallel: dict[str, Any]) -> Generator[Any, None, None]:
    """Yield the results of jobs in their order."""
    try:
        workers = Parallel(return_as="generator", **parallel)
    except ValueError:  # a backend that returns all results at the end, without a progress bar
        workers = Parallel(**parallel)
    yield from workers(jobs)
