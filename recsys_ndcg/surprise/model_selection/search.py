"""GridSearchCV and RandomizedSearchCV: Surprise's, with any measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise import model_selection
from surprise.model_selection.search import BaseSearchCV
from surprise.utils import get_rng

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, check_integer, quote, suggest, warn
from recsys_ndcg.folds import (
    CheckedSplits,
    FoldPlan,
    FoldRun,
    Measure,
    average_scores,
    parse_measures,
    run_folds,
)
from recsys_ndcg.significance import estimate_optimism
from recsys_ndcg.surprise.algorithm import Algorithm
from recsys_ndcg.surprise.library import add_missing_names
from recsys_ndcg.surprise.model_selection.validation import pool_scores, tabulate_users
from recsys_ndcg.surprise.traps import warn_of_truncation

if TYPE_CHECKING:
    from recsys_ndcg.comparison import ModelScores

_MAX_KEPT = 500_000  # scores of users in each measure: about 100 MB


class MeasuredSearch(BaseSearchCV):  # type: ignore[misc] # surprise has no types
    """The part of both searches that replaces Surprise's `fit`, and their results."""

    threshold: float | None
    convention: ConventionLike
    keep_per_user: bool | None
    features: Any
    progress: bool
    _known: Mapping[str, Measure] = MappingProxyType({})
    _runs: list[list[FoldRun]]  # of each combination

    def fit(self, data: Any) -> None:
        """Cross-validate all combinations of parameters, with the current attributes.

        Parameters
        ----------
        data : surprise.Dataset
            The ratings.

        Raises
        ------
        InvalidInputError
            Before anything is trained, as for `cross_validate`, or because folds from files cannot
            be refitted. In the end, if no combination has a score to refit by.

        Warns
        -----
        DataWarning
            The scores of users are too many to keep by default; and as for `cross_validate`.
        """
        self.__dict__.update(self._parse_measures(self.measures, self.refit))
        plan = FoldPlan.of(
            [self._known[name] for name in self.measures],
            self.threshold,
            self.convention,
            return_train_measures=self.return_train_measures,
            features=self.features,
        )
        if self.refit and hasattr(data, "folds_files"):
            msg = "refit needs all ratings in one dataset, not load_from_folds(). Remove refit."
            raise InvalidInputError(msg)
        if not len(self.param_combinations):
            msg = "There are no combinations of parameters to try: a list of values is empty."
            raise InvalidInputError(msg)
        splits = CheckedSplits(data, self.cv, model_selection.KFold, "cv")
        splits.check_n_jobs(self.n_jobs)
        plan = splits.resolve(plan)
        # all at once, as in Surprise, so that all combinations get the same folds
        parts = list(splits.iterate(partial(warn_of_truncation, self.algo_class)))
        splits.warn_of_leaks()
        plan = replace(plan, keep_per_user=self._keeps_users(plan, parts))
        pairs = product(self.param_combinations, parts)
        total = len(self.param_combinations) * len(parts)
        runs = run_folds(
            ((Algorithm(self.algo_class(**chosen)), *split) for chosen, split in pairs),
            plan,
            total,
            progress=self.progress,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            verbose=self.joblib_verbose,
        )
        self._runs = [runs[i : i + len(parts)] for i in range(0, total, len(parts))]
        self._warn_of_diverged()
        self._warn_of_random_order()
        self._choose(plan)
        if self.refit:
            if self.best_estimator[self.refit] is None:
                msg = f"No combination has a score in {self.refit}, so there is none to refit."
                raise InvalidInputError(msg)
            self.best_estimator[self.refit].fit(data.build_full_trainset())

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Call `predict` of the refitted estimator."""
        return self._get_refitted().predict(*args, **kwargs)

    def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002 - Surprise's
        """Call `test` of the refitted estimator."""
        return self._get_refitted().test(testset, verbose)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user, indexed by combination, fold and user."""
        self._check_fitted()
        tables = {place: tabulate_users(runs) for place, runs in enumerate(self._runs)}
        return pd.concat(tables, names=["combination"])

    @property
    def model_scores(self) -> dict[str, ModelScores]:
        """Each combination of parameters as a model, for `recsys_ndcg.compare`."""
        self._check_fitted()
        combinations = self.param_combinations
        names = [_describe(chosen, combinations) for chosen in combinations]
        return {
            name: replace(average_scores(runs, chosen), search="")
            for name, chosen, runs in zip(names, combinations, self._runs, strict=True)
        }

    @property
    def optimism(self) -> dict[str, float]:
        """By how much the mean of the best combination is too good, by measure.

        The best of many means is too good, because chance helped to choose it. Subtract this from
        `best_score`, or add it if less is better. The users are split into halves at random, again
        and again: the best for one half is scored on the other half. NaN for measures without a
        score per user.

        Raises
        ------
        InvalidInputError
            Nothing has been searched yet, the scores of users were not kept, or a combination
            diverged.

        See Also
        --------
        recsys_ndcg.significance.estimate_optimism : The formula.
        """
        models = [*self.model_scores.values()]  # of the same users, by the same folds
        optimism = dict.fromkeys(self.measures, np.nan)
        for column, name in enumerate(models[0].names):
            metric = models[0].measurements[column].metric
            if metric.per_user:
                scores = np.column_stack([one.per_user[:, column] for one in models])
                optimism[name] = estimate_optimism(scores if metric.greater_is_better else -scores)
        return optimism

    def to_frame(self) -> pd.DataFrame:
        """Return `cv_results` and the pooled scores as a table with a row per combination."""
        self._check_fitted()
        table = pd.DataFrame({name: list(values) for name, values in self.cv_results.items()})
        sums = pd.DataFrame([pool_scores(runs) for runs in self._runs])
        users = [sum(run.n_users for run in runs) for runs in self._runs]
        table = table.join(sums.add_prefix("pooled_test_")).assign(test_users=users)
        return table.rename_axis("combination")

    def _check_fitted(self) -> None:
        if not hasattr(self, "_runs"):
            msg = "Nothing has been searched yet. Call fit(data) first."
            raise InvalidInputError(msg)

    def _parse_measures(self, measures: Any, refit: Any) -> dict[str, Any]:
        """Return Surprise's attributes: the names of the measures, and of the one to refit by."""
        found = parse_measures(measures, self._known)
        self._known = {**self._known, **{one.name: one for one in found}}
        return {"measures": [one.name for one in found], "refit": _parse_refit(refit, found)}

    def _keeps_users(self, plan: FoldPlan, splits: Sequence[Any]) -> bool:
        """Return whether the scores of users are kept; warn if they are too many to be."""
        if self.keep_per_user is not None:
            return self.keep_per_user
        n_combinations = len(self.param_combinations)
        n_scores = n_combinations * sum(len({row[0] for row in test}) for _, test in splits)
        if n_scores > _MAX_KEPT and (plan.rated or plan.catalogue):
            warn(
                f"This search keeps no scores of users: {n_combinations} combinations have "
                f"{n_scores:,} in {len(splits)} folds, and the default is to keep at most "
                f"{_MAX_KEPT:,}. rn.compare(search), per_user and optimism need "
                "keep_per_user=True; keep_per_user=False silences this."
            )
        return n_scores <= _MAX_KEPT

    def _get_refitted(self) -> Any:
        if not self.refit:
            msg = "refit is False, so no estimator is fitted. Pass refit='ndcg@10', for example."
            raise InvalidInputError(msg)
        self._check_fitted()
        return self.best_estimator[self.refit]

    def _choose(self, plan: FoldPlan) -> None:
        """Set `cv_results` and the best of each measure, in Surprise's names and order."""
        combinations, runs = self.param_combinations, self._runs
        results: dict[str, Any] = {}
        self.cv_results = results
        self.best_index, self.best_params, self.best_score = {}, {}, {}
        self.best_estimator: dict[str, Any] = {}
        for measure in plan.measures:
            name = measure.name
            kinds = {
                kind: np.asarray([[getattr(run, kind)[name] for run in one] for one in runs])
                for kind in (("test", "train") if plan.return_train_measures else ("test",))
            }
            for fold in range(len(runs[0])):
                results |= {f"split{fold}_{kind}_{name}": of[:, fold] for kind, of in kinds.items()}
            for kind, of in kinds.items():
                results[f"mean_{kind}_{name}"] = of.mean(axis=1)
                results[f"std_{kind}_{name}"] = of.std(axis=1)
            mean = results[f"mean_test_{name}"]
            results[f"rank_test_{name}"], place = _rank_combinations(measure, mean)
            chosen = None if place is None else combinations[place]
            self.best_index[name], self.best_params[name] = place, chosen
            self.best_score[name] = np.nan if chosen is None else mean[place]
            self.best_estimator[name] = None if chosen is None else self.algo_class(**chosen)
        for kind in ("fit", "test"):
            times = np.array([[getattr(run, f"{kind}_time") for run in one] for one in runs])
            results[f"mean_{kind}_time"] = times.mean(axis=1)
            results[f"std_{kind}_time"] = times.std(axis=1)
        results["params"] = combinations
        results |= {f"param_{key}": [one[key] for one in combinations] for key in combinations[0]}

    def _warn_of_diverged(self) -> None:
        reasons = [[one.diverged for one in runs if one.diverged] for runs in self._runs]
        bad = [place for place, errors in enumerate(reasons) if errors]
        if bad:
            warn(
                f"{len(bad)} of {len(reasons)} combinations diverged, the first "
                f"{self.param_combinations[bad[0]]}; ranking measures rank them last. "
                f"{reasons[bad[0]][0]}"
            )

    def _warn_of_random_order(self) -> None:
        found = [
            list(dict.fromkeys(name for run in runs for name in run.without_order))
            for runs in self._runs
        ]
        first = next((place for place, names in enumerate(found) if names), 0)
        name = getattr(self.algo_class, "__name__", type(self.algo_class).__name__)
        who = f"{name} with {self.param_combinations[first]}"
        FoldRun.warn_of_random_order(who, found, "combinations")


class GridSearchCV(MeasuredSearch, model_selection.GridSearchCV):  # type: ignore[misc]
    """Search a grid of parameters, as Surprise does, by any measure of `cross_validate`.

    Parameters
    ----------
    algo_class : class
        The class of the algorithm.
    param_grid : mapping
        A list of values per parameter; nested for ``sim_options`` and ``bsl_options``.
    measures : names, functions of predictions, or what `make_measure` returns
        As for `cross_validate`.
    cv, return_train_measures, n_jobs, pre_dispatch, joblib_verbose
        As in Surprise.
    refit : bool or str
        The measure whose best parameters are fitted on all ratings; True means the first one.
    threshold : float, optional
        Ratings at or above it count as relevant; binary metrics need it.
    convention : Convention, optional
        All other choices.
    keep_per_user : bool, optional
        Whether to keep the scores of every user, for `per_user`, `optimism` and
        `recsys_ndcg.compare`: about 200 bytes per user, fold and combination. By default they are
        kept if the number of users × folds × combinations is at most 500,000.
    progress : bool
        Whether to show a progress bar for long jobs, in a terminal or a notebook.

    Attributes
    ----------
    cv_results, best_index, best_params, best_score, best_estimator
        As in Surprise. The best has the greatest or the least mean, depending on the measure; an
        undefined mean is last.
    per_user : pandas.DataFrame
        The scores of every user, indexed by combination, fold and user, if they are kept.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        A measure is unknown, or `refit` is not one of them.

    Notes
    -----
    As in Surprise, `fit` uses the current attributes, for example after
    ``search.measures = ["ndcg@5"]``.

    Examples
    --------
    >>> from surprise import SVD, Dataset, Reader
    >>> from surprise.model_selection import KFold
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> ratings = sample_ratings()[["user", "item", "rating"]]
    >>> data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))
    >>> grid = {"n_factors": [10], "n_epochs": [5, 40], "random_state": [0]}
    >>> folds = KFold(2, random_state=0)
    >>> search = GridSearchCV(SVD, grid, ["rmse", "ndcg@10:catalogue"], cv=folds)
    >>> search.fit(data)
    >>> {name: chosen["n_epochs"] for name, chosen in search.best_params.items()}
    {'rmse': 40, 'ndcg@10:catalogue': 5}
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Surprise's signature, and a few more
        self,
        algo_class: Any,
        param_grid: Mapping[str, Any],
        measures: Iterable[Any] = ("rmse", "mae"),
        cv: Any = None,
        refit: bool | str = False,  # noqa: FBT001, FBT002
        return_train_measures: bool = False,  # noqa: FBT001, FBT002
        n_jobs: int = 1,
        pre_dispatch: int | str = "2*n_jobs",
        joblib_verbose: int = 0,
        *,
        threshold: float | None = None,
        convention: ConventionLike = None,
        keep_per_user: bool | None = None,
        features: Any = None,
        progress: bool = True,
    ) -> None:
        self.threshold, self.convention = threshold, convention
        self.keep_per_user, self.progress = keep_per_user, progress
        self.features = features
        super().__init__(
            _check_class(algo_class),
            _check_lists(param_grid),
            **self._parse_measures(measures, refit),
            cv=cv,
            return_train_measures=return_train_measures,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            joblib_verbose=joblib_verbose,
        )


class RandomizedSearchCV(MeasuredSearch, model_selection.RandomizedSearchCV):  # type: ignore[misc]
    """Search random parameters, as Surprise does, by any measure of `cross_validate`.

    Parameters
    ----------
    algo_class : class
        Of the algorithm.
    param_distributions : mapping
        A list of values, or a distribution of ``scipy.stats``, per parameter.
    n_iter : int
        Number of combinations; without repetition if all parameters have lists.
    random_state : int, RandomState or None
        The seed of the combinations. Surprise 1.1.5 ignores it if all parameters have lists.
    measures, cv, refit, return_train_measures, n_jobs, pre_dispatch, joblib_verbose
        As for `GridSearchCV`.
    threshold, convention, keep_per_user, features, progress
        As for `GridSearchCV`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        As for `GridSearchCV`; or `n_iter` is larger than the number of combinations.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Surprise's signature, and a few more
        self,
        algo_class: Any,
        param_distributions: Mapping[str, Any],
        n_iter: int = 10,
        measures: Iterable[Any] = ("rmse", "mae"),
        cv: Any = None,
        refit: bool | str = False,  # noqa: FBT001, FBT002
        return_train_measures: bool = False,  # noqa: FBT001, FBT002
        n_jobs: int = 1,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        joblib_verbose: int = 0,
        *,
        threshold: float | None = None,
        convention: ConventionLike = None,
        keep_per_user: bool | None = None,
        features: Any = None,
        progress: bool = True,
    ) -> None:
        check_integer("n_iter", n_iter, 1)
        self.threshold, self.convention = threshold, convention
        self.keep_per_user, self.progress = keep_per_user, progress
        self.features = features
        super().__init__(
            _check_class(algo_class),
            _check_lists(param_distributions, is_random=True),
            n_iter=n_iter,
            **self._parse_measures(measures, refit),
            cv=cv,
            return_train_measures=return_train_measures,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            joblib_verbose=joblib_verbose,
        )

    @staticmethod
    def _sample_parameters(
        param_distributions: Mapping[str, Any], n_iter: int, random_state: Any = None
    ) -> Any:
        """Return random combinations; for lists Surprise ignores `random_state`."""
        if any(hasattr(values, "rvs") for values in param_distributions.values()):
            return model_selection.RandomizedSearchCV._sample_parameters(
                param_distributions, n_iter, random_state
            )
        grid = [
            dict(zip(param_distributions, chosen, strict=True))
            for chosen in product(*param_distributions.values())
        ]
        if n_iter > len(grid):
            msg = f"n_iter={n_iter}, but the lists have only {len(grid)} combinations."
            raise InvalidInputError(msg)
        return get_rng(random_state).choice(grid, n_iter, replace=False)


def _check_class(given: Any) -> Any:
    if not callable(given):
        name = type(given).__name__
        msg = f"algo_class must be the class of an algorithm: write {name}, not {name}()."
        raise InvalidInputError(msg)
    return given


def _check_lists(parameters: Any, *, is_random: bool = False) -> dict[str, Any]:
    if not isinstance(parameters, Mapping):
        msg = f"Parameters are a dict of lists, {{'n_factors': [20, 50]}}, not {quote(parameters)}."
        raise InvalidInputError(msg)
    for name, values in parameters.items():
        if name in ("sim_options", "bsl_options"):
            _check_lists(values)
        elif not isinstance(values, Iterable) and not (is_random and hasattr(values, "rvs")):
            msg = f"{name}={quote(values)} is no list of values. Write [{quote(values)}]."
            if hasattr(values, "rvs"):
                msg = f"{name} is a distribution, which only RandomizedSearchCV accepts."
            raise InvalidInputError(msg)
    return dict(parameters)


def _describe(chosen: dict[str, Any], combinations: Sequence[dict[str, Any]]) -> str:
    """Return those parameters of a combination in which others differ."""
    own = [name for name in chosen if any(one.get(name) != chosen[name] for one in combinations)]
    return ", ".join(f"{name}={chosen[name]!r}" for name in own) or "as given"


def _parse_refit(refit: Any, measures: Sequence[Measure]) -> bool | str:
    """Return the name of the measure to refit by, the first one for True."""
    if refit is None or refit is False:
        return False
    known = {one.name: one for one in measures}
    if not known:
        msg = f"refit={quote(refit)} needs a measure, but measures is empty."
        raise InvalidInputError(msg)
    name = measures[0].name if refit is True else parse_measures([refit], known)[0].name
    if name not in known:
        msg = f"refit={quote(refit)} is not one of the measures. {suggest(name, known)}"
        raise InvalidInputError(msg)
    return name


def _rank_combinations(measure: Measure, mean: Floats) -> tuple[Any, Any]:
    """Return the rank of every combination, from 1 for the best, and the place of the best."""
    # a stable sort, so that the first of equals is the best one; undefined means are at the end
    order = (-mean if measure.greater_is_better else mean).argsort(kind="stable")
    best = None if np.isnan(mean).all() else order[0]
    if measure.is_from_surprise and not np.isnan(mean).any():
        order = mean.argsort()[:: -1 if measure.greater_is_better else 1]  # ties as in Surprise
    rank = np.empty_like(order)
    rank[order] = np.arange(1, len(mean) + 1)
    if best is None:
        warn(f"No combination has a score in {measure.name}, so there is no best one.")
    return rank, best


add_missing_names(__name__, "surprise.model_selection.search")
