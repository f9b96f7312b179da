"""What both searches do in place of Surprise's `fit`, and what can be read after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise.model_selection import KFold

from recsys_ndcg.arrays import Floats
from recsys_ndcg.comparison import ModelScores, parameters_of
from recsys_ndcg.errors import InvalidInputError, nearest, shown, warn
from recsys_ndcg.folds import (
    FoldPlan,
    FoldRun,
    FoldRuns,
    Splits,
    resolved,
    run_in_order,
)
from recsys_ndcg.surprise.algorithm import Algorithm
from recsys_ndcg.surprise.traps import warn_of_truncation

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention
    from recsys_ndcg.folds import Measure


class SearchResult:
    """What both searches do in place of Surprise's `fit`."""

    algo_class: Any
    param_combinations: Sequence[dict[str, Any]]
    cv: Any
    refit: Any
    n_jobs: int
    pre_dispatch: int | str
    joblib_verbose: int
    measures: Any
    return_train_measures: bool
    threshold: float | None
    convention: Convention | str | None
    keep_per_user: bool
    progress: bool
    _known: Mapping[str, Measure] = MappingProxyType({})
    _folds: list[FoldRuns]

    def fit(self, data: Any) -> None:
        """Cross-validate all combinations of parameters, as the attributes stand by now.

        Parameters
        ----------
        data : surprise.Dataset
            The ratings.

        Raises
        ------
        InvalidInputError
            Before anything is trained, as for `cross_validate`, or where `refit` is asked for and
            the data has no whole to fit on; and in the end, if no combination has a score to refit
            by.
        """
        plan = self._planned()
        if self.refit and hasattr(data, "folds_files"):
            msg = "refit needs all ratings as one; load_from_folds() has them in parts. Leave it."
            raise InvalidInputError(msg)
        if not len(self.param_combinations):
            msg = "There are no combinations of parameters to try: a list of values is empty."
            raise InvalidInputError(msg)
        watched = Splits(data, self.cv, KFold, "cv")
        plan = watched.settled(plan, self.n_jobs)
        # all at once, as Surprise has them: each combination sees the same
        splits = list(watched.by(partial(warn_of_truncation, self.algo_class)))
        watched.warn_of_leaks()
        pairs = product(self.param_combinations, splits)
        total = len(self.param_combinations) * len(splits)
        folds = run_in_order(
            ((Algorithm(self.algo_class(**chosen)), *split) for chosen, split in pairs),
            plan,
            total,
            progress=self.progress,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            verbose=self.joblib_verbose,
        )
        self._folds = [FoldRuns(folds[i : i + len(splits)]) for i in range(0, total, len(splits))]
        self._choose(plan)
        if self.refit:
            self._refit(data)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Call `predict` of the best estimator, which `refit` has fitted."""
        return self._refitted().predict(*args, **kwargs)

    def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002 - Surprise's
        """Call `test` of the best estimator, which `refit` has fitted."""
        return self._refitted().test(testset, verbose)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user, indexed by combination, fold and user."""
        self._check_fitted()
        tables = {place: folds.per_user for place, folds in enumerate(self._folds)}
        return pd.concat(tables, names=["combination"])

    @property
    def contenders(self) -> dict[str, ModelScores]:
        """Each combination of parameters as a model, for `recsys_ndcg.compare`."""
        self._check_fitted()
        names = [_told(chosen, self.param_combinations) for chosen in self.param_combinations]
        return {
            name: replace(folds.contender, parameters=parameters_of(chosen))
            for name, chosen, folds in zip(names, self.param_combinations, self._folds, strict=True)
        }

    def to_frame(self) -> pd.DataFrame:
        """Return `cv_results` as a table, a row per combination, pooled scores beside means."""
        self._check_fitted()
        table = pd.DataFrame({name: list(values) for name, values in self.cv_results.items()})
        sums = pd.DataFrame([folds.pooled for folds in self._folds])
        users = [sum(folds.n_users) for folds in self._folds]
        table = table.join(sums.add_prefix("pooled_test_")).assign(test_users=users)
        return table.rename_axis("combination")

    def _check_fitted(self) -> None:
        if not hasattr(self, "_folds"):
            msg = "Nothing has been searched yet. Call fit(data) first."
            raise InvalidInputError(msg)

    def _measuring(self, measures: Any, refit: Any) -> dict[str, Any]:
        """Return the names of the measures and of `refit`, as Surprise holds them."""
        found = resolved(measures, self._known)
        self._known = {**self._known, **{one.name: one for one in found}}
        return {"measures": [one.name for one in found], "refit": _refit_by(refit, found)}

    def _planned(self) -> FoldPlan:
        """Return what is to be measured, and set the names of the measures and of `refit`."""
        vars(self).update(self._measuring(self.measures, self.refit))
        return FoldPlan.of(
            [self._known[name] for name in self.measures],
            self.threshold,
            self.convention,
            train=self.return_train_measures,
            per_user=self.keep_per_user,
        )

    def _refitted(self) -> Any:
        if not self.refit:
            msg = (
                "refit is False, so no estimator is fitted: ask for refit='ndcg@10', for instance."
            )
            raise InvalidInputError(msg)
        self._check_fitted()
        return self.best_estimator[self.refit]

    def _choose(self, plan: FoldPlan) -> None:
        """Set `cv_results` and the best of each measure, in Surprise's names and order."""
        self._warn_of_diverged()
        self._warn_of_random_order()
        results, best = tabulated(plan, self.param_combinations, self._folds)
        self.cv_results, self.best_index = results, best
        self.best_params = {
            name: None if place is None else self.param_combinations[place]
            for name, place in best.items()
        }
        self.best_score = {
            name: np.nan if place is None else results[f"mean_test_{name}"][place]
            for name, place in best.items()
        }
        self.best_estimator: dict[str, Any] = {
            name: None if chosen is None else self.algo_class(**chosen)
            for name, chosen in self.best_params.items()
        }

    def _refit(self, data: Any) -> None:
        estimator = self.best_estimator[self.refit]
        if estimator is None:
            msg = f"No combination has a score in {self.refit}, so there is none to refit."
            raise InvalidInputError(msg)
        estimator.fit(data.build_full_trainset())

    def _warn_of_diverged(self) -> None:
        reasons = [[one.diverged for one in folds if one.diverged] for folds in self._folds]
        bad = [place for place, found in enumerate(reasons) if found]
        if bad:
            msg = (
                f"{len(bad)} of {len(reasons)} combinations diverged, the first "
                f"{self.param_combinations[bad[0]]}; ranking measures rank them last. "
                f"{reasons[bad[0]][0]}"
            )
            warn(msg)

    def _warn_of_random_order(self) -> None:
        found = [
            list(dict.fromkeys(name for fold in folds for name in fold.orderless))
            for folds in self._folds
        ]
        first = next((place for place, names in enumerate(found) if names), 0)
        name = getattr(self.algo_class, "__name__", type(self.algo_class).__name__)
        who = f"{name} with {self.param_combinations[first]}"
        FoldRuns.warn_of_random_order(who, found, "combinations")


def _told(chosen: dict[str, Any], combinations: Sequence[dict[str, Any]]) -> str:
    """Return the parameters in which combinations differ."""
    own = [name for name in chosen if any(one.get(name) != chosen[name] for one in combinations)]
    return ", ".join(f"{name}={chosen[name]!r}" for name in own) or "as given"


def _refit_by(refit: Any, measures: Sequence[Measure]) -> bool | str:
    """Return the name of the measure to refit by; that of the first for True."""
    if refit is None or refit is False:
        return False
    known = {one.name: one for one in measures}
    if not known:
        msg = f"refit={shown(refit)} chooses by a measure, and measures is empty."
        raise InvalidInputError(msg)
    name = measures[0].name if refit is True else resolved([refit], known)[0].name
    if name not in known:
        msg = f"refit={shown(refit)} is none of the measures. {nearest(name, known)}"
        raise InvalidInputError(msg)
    return name


def tabulated(
    plan: FoldPlan, combinations: Sequence[dict[str, Any]], folds: Sequence[Sequence[FoldRun]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `cv_results`, and the place of the best combination for each measure.

    Parameters
    ----------
    plan : FoldPlan
        What was measured.
    combinations : sequence of dict
        Of parameters.
    folds : sequence of sequences of FoldRun
        What came of each combination.
    """
    results: dict[str, Any] = {}
    best = {}
    for measure in plan.measures:
        name = measure.name
        test = np.asarray([[fold.test[name] for fold in one] for one in folds])
        kinds = {"test": test}
        if plan.train:
            kinds["train"] = np.asarray([[fold.train[name] for fold in one] for one in folds])
        for split in range(test.shape[1]):
            results |= {f"split{split}_{kind}_{name}": of[:, split] for kind, of in kinds.items()}
        for kind, of in kinds.items():
            results[f"mean_{kind}_{name}"] = of.mean(axis=1)
            results[f"std_{kind}_{name}"] = of.std(axis=1)
        results[f"rank_test_{name}"], best[name] = _ranked(measure, test.mean(axis=1))
    for kind in ("fit", "test"):
        times = np.array([[getattr(fold, f"{kind}_time") for fold in one] for one in folds])
        results[f"mean_{kind}_time"] = times.mean(axis=1)
        results[f"std_{kind}_time"] = times.std(axis=1)
    results["params"] = combinations
    for name in combinations[0]:
        results[f"param_{name}"] = [chosen[name] for chosen in combinations]
    return results, best


def _ranked(measure: Measure, mean: Floats) -> tuple[Any, Any]:
    """Return the rank of every combination, 1 for the best, and the place of the best."""
    # a stable sort, so that the best of equals ranks first, with what has no score at the end
    order = (-mean if measure.greater_is_better else mean).argsort(kind="stable")
    best = None if np.isnan(mean).all() else order[0]
    if measure.is_of_surprise and not np.isnan(mean).any():
        order = mean.argsort()[:: -1 if measure.greater_is_better else 1]  # equals as in Surprise
    rank = np.empty_like(order)
    rank[order] = np.arange(1, len(mean) + 1)
    if best is None:
        warn(f"No combination has a score in {measure.name}, so none is the best.")
    return rank, best
