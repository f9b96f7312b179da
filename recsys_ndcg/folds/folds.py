"""Run folds: fit, predict and measure, one after the other or with joblib's workers."""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter
from typing import Any

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
from recsys_ndcg.comparison import ModelScores, flatten_parameters
from recsys_ndcg.errors import DivergedModelError, InvalidInputError
from recsys_ndcg.folds.fitting import FoldRun, fit_and_predict
from recsys_ndcg.folds.measures import ACCURACY, FoldPlan
from recsys_ndcg.input import to_column, to_floats
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Grades, GroupedLists, hash_ids, to_lists
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.report import split_by_items
from recsys_ndcg.scoring import Audit, Plan, Totals

_HASHES = 256  # of the pairs in a testset
_NOT_KEPT = (
    "This search kept no scores of users (keep_per_user=False, or too many users): pass "
    "keep_per_user=True, and fit again."
)


@dataclass(frozen=True, eq=False)
class Fold:
    """A trainset and a testset, and the plan of what is measured.

    Parameters
    ----------
    trainset, testset
        The split.
    given_plan : FoldPlan
        The plan of all folds.
    seed, number : int
        In an experiment, the seed of the split, and its number among the splits of that seed.
    split : str
        In an experiment, a digest of the trainset and the testset.
    """

    trainset: Any
    testset: list[Any]
    given_plan: FoldPlan
    seed: int = 0
    number: int = 0
    split: str = ""

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"seed {self.seed}, fold {self.number}"

    @lazy_property
    def plan(self) -> FoldPlan:
        """The plan of this fold, with the threshold by its grades, after a check of the split."""
        plan = self.given_plan
        if plan.rated is not None:
            _check_list_lengths(len(self.list_lengths), max(self.list_lengths.values(), default=0))
        for metric in [] if plan.catalogue is None else plan.catalogue.metrics:
            check_cutoff(metric.k, self.trainset.n_items)
        if plan.rated is not None or plan.catalogue is not None:
            grades = Grades.of(to_floats(list(map(itemgetter(2), self.testset)), "rating"))
            plan = plan.map(lambda one: one.with_threshold(grades))
        if plan.catalogue is not None:
            catalogue = plan.catalogue.with_trainset(self.trainset, **plan.known)
            plan = replace(plan, catalogue=catalogue)
        return plan

    @lazy_property
    def list_lengths(self) -> Counter[Any]:
        """The number of test ratings of each user."""
        return Counter(map(itemgetter(0), self.testset))

    @property
    def task(self) -> dict[str, Any]:
        """The arguments of `fit_and_predict`, except the model."""
        plan = self.plan
        return {
            "trainset": self.trainset,
            "testset": self.testset,
            "functions": [one for one in plan.measures if one.function is not None],
            "predicts_trainset": plan.return_train_measures,
            "returns_predictions": plan.rated is not None,
        }

    def run(self, model: Any, show: Callable[[float], Any] = lambda _: None) -> FoldRun:
        """Fit a model, predict, and measure; `show` gets the ranked share of the catalogue."""
        start, catalogue, lists = time.time(), self.plan.catalogue, None
        run = fit_and_predict(model, **self.task)
        if catalogue is None and model.returns_lists and not run.predictions[0]:
            msg = (
                "The model returns lists, without estimates of all test ratings, and only the "
                "catalogue protocol measures lists. Pass protocol='catalogue', or return a "
                "function that estimates any pairs."
            )
            raise InvalidInputError(msg)
        if catalogue is not None and run.diverged is None:
            begun = time.time()
            show(0.0)
            try:
                lists = _rank_catalogue(model, self.trainset, self.testset, catalogue, show)
                run = replace(run, rank_time=time.time() - begun)
            except DivergedModelError as error:  # its traceback would keep the model in memory
                run = replace(run, diverged=error.with_traceback(None))
            finally:  # a bar does not show the step any longer
                show(1.0)
        run = self.measure(run, lists)
        others = run.fit_time + run.test_time + run.rank_time
        run = replace(run, measure_time=max(time.time() - start - others, 0.0))
        return replace(run, seed=self.seed, fold=self.number, split=self.split)

    def measure(self, run: FoldRun, catalogue: GroupedLists | None = None) -> FoldRun:
        """Rank the predictions of a run, and add the measures of the catalogue."""
        plan, again = self.plan, FoldRun(test=run.train)
        if plan.rated is not None and run.diverged is None:
            ranked, ranked_again = run.predictions
            run = self._rank(run, ranked, plan.rated)
            again = self._rank(again, ranked_again, plan.rated)
        if plan.catalogue is not None and catalogue is not None:
            run = self._score(run, catalogue, plan.catalogue)
        return replace(
            run,
            test=_merge(run, plan),
            train=_merge(again, plan) if plan.return_train_measures else {},
            n_users=len(self.list_lengths),
            tested=_hash_pairs(self.testset) if plan.keep_per_user else frozenset(),
            predictions=([], []),
        )

    def _rank(self, run: FoldRun, predictions: list[Any], own: Plan) -> FoldRun:
        """Return a run with the measures of its predictions, if there are any."""
        if not predictions:
            return run
        lists = build_rated_lists(predictions, own.duplicates)
        return self._score(run, own.add_background(lists), own)

    def _score(self, run: FoldRun, lists: GroupedLists, own: Plan) -> FoldRun:
        """Return a run with the measures of lists by one of the plans."""
        by_items = run.by_items
        if self.plan.keep_per_user:
            facts = own.facts_of(lists)
            audit = Audit.of(lists, own.resolve(facts, lists), facts)
            if self.plan.split_items:
                with suppress(InvalidInputError):  # no metric is a sum over labels
                    part = split_by_items(audit, "popularity", self.trainset)
                    part = part.rename(index=self.plan.names(lists.protocol), level=0)
                    by_items = pd.concat([by_items, part])
            audit = audit.without_lists()
        else:
            totals = Totals.of(own.resolve_and_measure(lists))
            audit = Audit({}, totals, no_scores_hint=_NOT_KEPT)
        audits = {**run.audits, lists.protocol: audit}
        run = replace(run, audits=audits, by_items=by_items)
        if has_no_order(lists):
            more = (name for name in run.names[lists.protocol] if name not in ACCURACY)
            run = replace(run, without_order=[*run.without_order, *more])
        return run


def average_scores(
    runs: Sequence[FoldRun], parameters: Mapping[str, Any] | None = None
) -> ModelScores:
    """Return the scores of a model, of every user in all ranking measures, averaged over folds.

    A fold with ratings that an earlier fold has tested, or with another seed in an experiment,
    begins another repetition.

    Raises
    ------
    InvalidInputError
        No measure ranks, the model diverged, or the scores of users were not kept.
    """
    if any(run.diverged for run in runs):
        msg = f"The model diverged, so it has no scores to compare. {runs[0].diverged or ''}"
        raise InvalidInputError(msg.strip())
    if not all(run.audits for run in runs):
        msg = "No measure here ranks anything. Add one such as 'ndcg@10'."
        raise InvalidInputError(msg)
    joined = [
        ModelScores.join_metrics(
            [ModelScores.from_audit(audit, run.names[name]) for name, audit in run.audits.items()]
        )
        for run in runs
    ]
    # lists of items may be complete enough for the test ratings of some folds only
    common = [name for name in joined[0].names if all(name in one.names for one in joined)]
    joined = [one.select_metrics(common) for one in joined]
    repetitions = [run.seed for run in runs if run.model] or _number_repetitions(runs)
    found = ModelScores.average_runs(joined, repetitions)
    orders = {*compress(found.names, [one.depends_on_order for one in found.metrics])}
    first = [name for name in runs[0].test if name in orders]  # the first is the main metric
    found = found.select_metrics([*first, *(name for name in found.names if name not in orders)])
    return replace(found, parameters=flatten_parameters(parameters or {}))


def _number_repetitions(runs: Sequence[FoldRun]) -> list[int]:
    """Return the number of each fold's repetition, which tests each rating once."""
    numbers: list[int] = []
    tested: frozenset[int] = frozenset()
    for run in runs:
        is_next = not tested.isdisjoint(run.tested)
        tested = run.tested if is_next else tested | run.tested
        numbers.append(numbers[-1] + is_next if numbers else 0)
    return numbers


def _hash_pairs(testset: list[Any]) -> frozenset[int]:
    """Return the lowest hashes of (user, item): testsets that overlap have some in common.

    Two of n pairs with a share f in common have about 256 f hashes in common: an overlap of 2 % is
    missed once in two hundred times.
    """
    columns = (list(map(itemgetter(side), testset)) for side in (0, 1))
    users, items = (hash_ids(to_column(one, "id")) for one in columns)
    return frozenset(np.sort(users * np.uint64(31) + items)[:_HASHES].tolist())


def _merge(run: FoldRun, plan: FoldPlan) -> dict[str, Any]:
    """Return the value of every measure; a ranking measure without lists is NaN."""
    means = {
        name: mean
        for protocol, audit in run.audits.items()
        for name, mean in zip(run.names[protocol], audit.totals.mean.tolist(), strict=True)
    }
    return {
        one.name: (run.test if one.metric is None else means).get(one.name, np.nan)
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
    >>> has_no_order(to_lists({"ann": [(3, 1), (3, 5)], "bob": [(4, 4), (4, 2)]}))
    True
    >>> has_no_order(to_lists({"ann": [(1e-9, 1), (0.0, 5)]}))
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
    folds = ((model, Fold(trainset, testset, plan)) for model, trainset, testset in tasks)
    if plan.catalogue is not None:  # workers rank the catalogue, so that no predictions are sent
        jobs = (delayed(fold.run)(model) for model, fold in folds)
        results = _run_jobs(jobs, parallel)
        return list(iterate_with_progress(results, "Fitting", total, enabled=progress))
    dispatched: deque[Fold] = deque()

    def dispatch() -> Iterator[Any]:
        for model, fold in folds:
            dispatched.append(fold)
            yield delayed(fit_and_predict)(model, **fold.task)

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
