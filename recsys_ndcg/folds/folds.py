"""Run folds: fit, predict and measure, one after the other or with joblib's workers."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from recsys_ndcg.errors import DivergedModelError, InvalidInputError, warn
from recsys_ndcg.folds.measures import ACCURACY, FoldPlan, name_measure
from recsys_ndcg.input import to_column, to_floats
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Grades, GroupedLists, hash_ids, to_lists
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.report import build_tracker_keys, split_by_items
from recsys_ndcg.scoring import Audit, Plan, Totals

_HASHES = 256  # of the pairs in a testset
_NOT_KEPT = (
    "This search kept no scores of users (keep_per_user=False, or too many users): pass "
    "keep_per_user=True, and fit again."
)


@dataclass(frozen=True, eq=False, repr=False)
class FoldRun:
    """One model, trained on one fold and measured; or the error that ended it.

    Parameters
    ----------
    model, seed, fold : str, int, int
        In an experiment, the name of the model, and the seed and the number of the fold.
    split : str
        In an experiment, a digest of the trainset and the testset.
    test, train : mapping
        The value of every measure on the testset, and on the trainset if it is measured.
    fit_time, test_time, rank_time, measure_time : float
        Seconds to fit, to predict the testset, to estimate and rank the catalogue, and for the
        rest.
    n_users : int
        Number of users in the testset.
    audits : mapping of str to Audit
        The ranking measures by protocol: the scores of every user if they are kept, or totals.
    without_order : sequence of str
        The ranking measures of lists in each of which all estimates are equal.
    by_items : pandas.DataFrame, optional
        The scores by popularity of items in training (`Report.by_items`), if wanted.
    tested : frozenset of int
        Hashes of some of the rated pairs in the testset: folds with a common one test it twice.
    diverged : DivergedModelError, optional
        The error of a model that estimates NaN.
    peak_memory : float
        In an experiment, the process's peak memory meanwhile, in megabytes.
    warnings : tuple of str
        In an experiment, the messages of the warnings.
    error, traceback : str
        In an experiment, why the model failed.
    """

    model: str = ""
    seed: int = 0
    fold: int = 0
    split: str = ""
    test: Mapping[str, Any] = field(default_factory=dict)
    train: Mapping[str, Any] = field(default_factory=dict)
    fit_time: float = 0.0
    test_time: float = 0.0
    rank_time: float = 0.0
    measure_time: float = math.nan
    n_users: int = 0
    audits: Mapping[str, Audit] = field(default_factory=dict)
    without_order: Sequence[str] = ()
    by_items: pd.DataFrame | None = None
    tested: frozenset[int] = frozenset()
    diverged: DivergedModelError | None = None
    peak_memory: float = math.nan
    warnings: tuple[str, ...] = ()
    error: str = ""
    traceback: str = ""

    def __repr__(self) -> str:
        """Return its name, also in messages."""
        return f"{self.model}, seed {self.seed}, fold {self.fold}"

    @property
    def key(self) -> tuple[str, int, int]:
        """In an experiment, the model, and the seed and the number of the fold."""
        return self.model, self.seed, self.fold

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the ranking measures by protocol."""
        return {
            protocol: [name_measure(one, protocol) for one in audit.totals.names]
            for protocol, audit in self.audits.items()
        }

    @property
    def scores(self) -> dict[str, float]:
        """The value of every measure."""
        return {name: float(value) for name, value in self.test.items()}

    @property
    def costs(self) -> dict[str, float]:
        """Seconds to fit, to predict and to measure, and megabytes of memory."""
        return {
            "fit_seconds": self.fit_time,
            "predict_seconds": self.test_time + self.rank_time,
            "measure_seconds": self.measure_time,
            "peak_memory_mb": self.peak_memory,
        }

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

    def to_metrics(self) -> dict[str, float]:
        """Return scores and costs as one flat dict of numbers, under keys that trackers take."""
        values = {**self.scores, **self.costs}
        keys = build_tracker_keys(values)
        return {keys[name]: value for name, value in values.items() if math.isfinite(value)}


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

    def run(self, model: Any, show: Callable[[float], Any] = lambda _: None) -> FoldRun:
        """Fit a model, predict, and measure; `show` gets the ranked share of the catalogue."""
        plan, start = self.plan, time.perf_counter()
        model.fit(self.trainset)
        fitted = time.perf_counter()
        predictions: list[Any] | None = list(model.test(self.testset))
        tested = time.perf_counter()
        if model.returns_lists and not predictions:
            predictions = None
            if plan.catalogue is None:
                msg = (
                    "The model returns lists, without estimates of all test ratings, and only the "
                    "catalogue protocol measures lists. Pass protocol='catalogue', or return a "
                    "function that estimates any pairs."
                )
                raise InvalidInputError(msg)
        lists = diverged = None
        try:
            model.check_not_diverged()
            if plan.catalogue is not None:
                lists = self._rank_catalogue(model, plan.catalogue, show)
        except DivergedModelError as error:  # its traceback would keep the model in memory
            diverged = error.with_traceback(None)
        ranked = time.perf_counter()
        run = self._measure(predictions, lists, diverged)
        if plan.return_train_measures:
            again = list(model.test(self.trainset.build_testset()))
            run = replace(run, train=self._measure(again, None, diverged).test)
        return replace(
            run,
            seed=self.seed,
            fold=self.number,
            split=self.split,
            fit_time=fitted - start,
            test_time=tested - fitted,
            rank_time=ranked - tested,
            measure_time=time.perf_counter() - ranked,
            n_users=len(self.list_lengths),
            tested=_hash_pairs(self.testset) if plan.keep_per_user else frozenset(),
        )

    def _rank_catalogue(self, model: Any, plan: Plan, show: Callable[[float], Any]) -> GroupedLists:
        """Return the test users' lists of the items that they did not rate in training."""
        labels = read_testset(self.testset)
        if model.returns_lists:
            training = Interactions.from_trainset(self.trainset)
            return build_chosen_lists(model.read_lists(), training, labels, plan)
        show(0.0)
        try:
            candidates = model.candidates(self.trainset, choose_convention(plan))
            lists = Placement(candidates, labels, plan, shown=False).lists(show)
        finally:
            show(1.0)  # a bar does not show the step any longer
        return plan.add_background(lists)

    def _measure(
        self,
        predictions: list[Any] | None,
        catalogue: GroupedLists | None,
        diverged: DivergedModelError | None,
    ) -> FoldRun:
        """Return a run with the value of every measure; a ranking measure without lists is NaN."""
        run, plan = FoldRun(diverged=diverged), self.plan
        computed = {
            one.name: one.compute(predictions)
            for one in plan.measures
            if one.function is not None and predictions is not None
        }
        if plan.rated is not None and predictions and diverged is None:
            lists = build_rated_lists(predictions, plan.rated.duplicates)
            run = self._score(run, plan.rated.add_background(lists), plan.rated)
        if plan.catalogue is not None and catalogue is not None:
            run = self._score(run, catalogue, plan.catalogue)
        values: dict[str, Any] = {}
        for protocol, audit in run.audits.items():
            values |= zip(run.names[protocol], audit.totals.mean.tolist(), strict=True)
        values |= computed  # a fold's rmse is over all its ratings, not the mean of users' errors
        return replace(run, test={one.name: values.get(one.name, np.nan) for one in plan.measures})

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
    orders = {*compress(found.names, [one.metric.depends_on_order for one in found.measurements])}
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
    jobs = (delayed(Fold(trainset, testset, plan).run)(model) for model, trainset, testset in tasks)
    results = _run_jobs(jobs, parallel)
    try:
        return list(iterate_with_progress(results, "Fitting", total, enabled=progress))
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
