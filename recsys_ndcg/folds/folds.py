"""Folds: fit, predict, measure, and what came of it; one after the other, or in processes."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from recsys_ndcg.catalogue import Placement, labels_from_testset, placing, refuse_beyond
from recsys_ndcg.comparison import ModelScores
from recsys_ndcg.errors import DivergedModelError, InvalidInputError, warn
from recsys_ndcg.folds.fitting import FittedFold, FoldJob
from recsys_ndcg.folds.measures import ACCURACY, FoldPlan
from recsys_ndcg.input import floats, index_of
from recsys_ndcg.lists import Grades, GroupedLists, PlacedLists, RankedLists
from recsys_ndcg.progress import iterate_with_progress
from recsys_ndcg.scoring import Audit, Plan, Totals


class Ranked(NamedTuple):
    """What a fold has under the measures of one protocol; users' scores where they are kept."""

    names: list[str]
    totals: Totals
    audit: Audit | None
    orderless: bool


@dataclass(frozen=True)
class FoldRun:
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

    @classmethod
    def of(cls, model: Any, trainset: Any, testset: Any, plan: FoldPlan) -> FoldRun:
        """Fit a model, let it predict, and measure what is planned."""
        begun = BegunFold.of(trainset, testset, plan)
        fitted, own = begun.job.run(model, trainset, testset), begun.plan.catalogue
        if own is None or fitted.diverged is not None:
            return begun.fold(fitted)
        try:
            ranked = _rank_catalogue(begun.plan, own, model, trainset, testset)
        except DivergedModelError as error:  # whose traceback would keep the model
            return begun.fold(fitted._replace(diverged=error.with_traceback(None)))
        return begun.fold(fitted, [ranked])

    @property
    def orderless(self) -> list[str]:
        """The measures of lists in each of which all items have one estimate."""
        names = (name for part in self.ranked if part.orderless for name in part.names)
        return [name for name in names if name not in ACCURACY]

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores by user, a column per measure."""
        kept = [(names, audit.scores) for names, _, audit, _ in self.ranked if audit is not None]
        tables = [
            pd.DataFrame(scores.per_user, index_of(scores.users, "user"), names, copy=True)
            for names, scores in kept
        ]
        return pd.concat(tables, axis=1) if tables else pd.DataFrame()


class FoldRuns(tuple["FoldRun", ...]):
    """All folds of a model."""

    __slots__ = ()

    @property
    def pooled(self) -> dict[str, float]:
        """The sums of the numerators over those of the denominators, if no fold diverged."""
        found: dict[str, float] = {}
        if any(fold.diverged for fold in self):
            return found
        for parts in zip(*(fold.ranked for fold in self), strict=True):
            totals = reduce(add, (part.totals for part in parts))
            found |= dict(zip(parts[0].names, totals.pooled.tolist(), strict=True))
        return found

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user, indexed by fold and user, if they were kept."""
        self._check_kept()
        tables = {place: fold.per_user for place, fold in enumerate(self, 1)}
        return pd.concat(tables, names=["fold", "user"])

    @property
    def contender(self) -> ModelScores:
        """The scores of every user under all ranking measures, averaged over folds.

        Raises
        ------
        InvalidInputError
            Nothing was ranked, the model diverged, or the scores of users were not kept.
        """
        if any(fold.diverged for fold in self):
            msg = f"The model diverged, so it has no scores to compare. {self[0].diverged or ''}"
            raise InvalidInputError(msg.strip())
        parts = [
            [ModelScores.of(part.audit, part.names) for part in fold.ranked if part.audit]
            for fold in self
        ]
        self._check_kept()
        if not all(parts):
            msg = "No measure here ranks anything: ask for one such as 'ndcg@10'."
            raise InvalidInputError(msg)
        found = ModelScores.averaged([ModelScores.beside(each) for each in parts])
        orders = {name for name, one in zip(found.names, found.metrics, strict=True) if one.orders}
        asked = [name for name in self[0].test if name in orders]  # the first of them decides
        return found.in_metrics([*asked, *(name for name in found.names if name not in orders)])

    def _check_kept(self) -> None:
        """Refuse folds of a search that kept no scores of users.

        Raises
        ------
        InvalidInputError
            It did not.
        """
        if any(part.audit is None for fold in self for part in fold.ranked):
            msg = (
                "The scores of every user are not kept by a search unless asked for: pass "
                "keep_per_user=True, and fit again."
            )
            raise InvalidInputError(msg)

    @staticmethod
    def warn_of_random_order(who: str, found: Sequence[Sequence[str]], parts: str) -> None:
        """Warn of an algorithm whose lists have no order, with the measures that this spoils.

        Parameters
        ----------
        who : str
            The algorithm, or the first of several.
        found : sequence of sequences of str
            The measures of each part that were taken of lists without an order; mostly none.
        parts : str
            What the parts are: folds, or combinations.
        """
        bad = [names for names in found if names]
        if not bad:
            return
        msg = (
            f"{who} estimates the same for every item of a user ({len(bad)} of {len(found)} "
            f"{parts}): random order scores the same in {', '.join(bad[0])}. Check its parameters, "
            "and whether it can learn anything of these ratings."
        )
        warn(msg)


class BegunFold(NamedTuple):
    """What is measured of a fold, with its threshold, and how many users it has."""

    plan: FoldPlan
    n_users: int

    @classmethod
    def of(cls, trainset: Any, testset: list[Any], plan: FoldPlan) -> BegunFold:
        """Look at a split, and settle the threshold by its grades."""
        sizes = Counter(map(itemgetter(0), testset))
        if plan.rated is not None:
            refuse_single_items(len(sizes), max(sizes.values(), default=0))
        for metric in [] if plan.catalogue is None else plan.catalogue.metrics:
            refuse_beyond(metric.k, trainset.n_items)
        if plan.rated is not None or plan.catalogue is not None:
            grades = Grades.of(floats(list(map(itemgetter(2), testset)), "rating"))
            plan = plan.each(lambda one: one.with_threshold(grades))
        return cls(plan, len(sizes))

    @property
    def job(self) -> FoldJob:
        """What a worker does: all but the ranking."""
        functions = [one for one in self.plan.measures if one.function is not None]
        return FoldJob(functions, self.plan.train, self.plan.rated is not None)

    def fold(self, tested: FittedFold, catalogue: Sequence[Ranked] = ()) -> FoldRun:
        """Rank what was predicted; the catalogue is ranked already."""
        plan = self.plan
        ranked, again = list[Ranked](), list[Ranked]()
        if plan.rated is not None and tested.diverged is None:
            for found, predictions in ((ranked, tested.test), (again, tested.train)):
                if predictions:
                    lists = rated_lists(predictions, plan.rated.duplicates)
                    found.append(_scored(lists, plan.rated, plan, "rated"))
        ranked += catalogue
        return FoldRun(
            test=_values(tested.test_values, ranked, plan),
            train=_values(tested.train_values, again, plan) if plan.train else {},
            fit_time=tested.fit_time,
            test_time=tested.test_time,
            n_users=self.n_users,
            ranked=ranked,
            diverged=tested.diverged,
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


def _rank_catalogue(plan: FoldPlan, own: Plan, model: Any, trainset: Any, testset: Any) -> Ranked:
    candidates = model.candidates(trainset, placing(own))
    lists = Placement(candidates, labels_from_testset(testset), own, shown=False).lists()
    return _scored(lists, own, plan, "catalogue")


def _scored(lists: GroupedLists, own: Plan, plan: FoldPlan, protocol: str) -> Ranked:
    names = plan.names(protocol)
    called = [names.get(name, name) for name in own.names]
    if not plan.per_user:
        return Ranked(called, Totals.of(own.scores_of(lists)), None, orderless(lists))
    facts = own.facts_of(lists)
    audit = Audit.of(lists, own.settled(facts, lists), facts).without_lists()
    return Ranked(called, audit.totals, audit, orderless(lists))


def rated_lists(predictions: Any, duplicates: str) -> GroupedLists:
    """Return the lists of predictions of test ratings.

    Raises
    ------
    InvalidInputError
        The predictions cannot be used, or every user has a single one.
    """
    lists = RankedLists.of(predictions, duplicates=duplicates)
    refuse_single_items(len(lists), int(lists.n_items.max()))
    return lists


def refuse_single_items(n_users: int, longest: int) -> None:
    """Refuse lists of which none has a second item.

    Raises
    ------
    InvalidInputError
        There are several users, and the longest list has one item.
    """
    if n_users > 1 and longest == 1:
        msg = (
            f"All {n_users} users have one predicted item, and any order of one item is "
            "perfect: whatever the model, NDCG is 1. Test on more of each user's ratings, by "
            "LeaveNOut(5), or rank all items: 'ndcg@10:catalogue' or evaluate_catalogue()."
        )
        raise InvalidInputError(msg)


def orderless(lists: GroupedLists) -> bool:
    """Tell lists in each of which all items have one estimate.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> orderless(rn.RankedLists.from_tuples({"ann": [(3, 1), (3, 5)], "bob": [(4, 4), (4, 2)]}))
    True
    """
    if isinstance(lists, PlacedLists):
        lengths = np.repeat(lists.lengths, np.diff(lists.offsets))
        return bool(len(lengths) and lengths.max() > 1 and (lists.tied == lengths).all())
    first = np.repeat(lists.estimated[lists.offsets[:-1]], lists.n_items)
    same = np.abs(lists.estimated - first) <= Plan.TIE_TOLERANCE
    return bool(same.all()) and int(lists.n_items.max()) > 1


def run_in_order(
    tasks: Iterable[tuple[Any, Any, Any]],
    plan: FoldPlan,
    total: int | None,
    *,
    progress: bool = True,
    **parallel: Any,
) -> list[FoldRun]:
    """Run folds, given as model, trainset and testset; the first error ends all.

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
    if plan.catalogue is not None:  # ranked where the model is, so that no predictions are sent
        jobs = (delayed(FoldRun.of)(*task, plan) for task in tasks)
        return list(
            iterate_with_progress(_results(jobs, parallel), "Fitting", total, enabled=progress)
        )
    begun: deque[BegunFold] = deque()

    def dispatched() -> Iterator[Any]:
        for model, trainset, testset in tasks:
            begun.append(BegunFold.of(trainset, testset, plan))
            yield delayed(begun[-1].job.run)(model, trainset, testset)

    results = _results(dispatched(), parallel)
    try:
        # a fold is ranked while others are fitted, by workers that import nothing for that
        ranked = (begun.popleft().fold(one) for one in results)
        return list(iterate_with_progress(ranked, "Fitting", total, enabled=progress))
    finally:  # stop the workers, also where a fold is refused while others are fitted
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
