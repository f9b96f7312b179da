"""GridSearchCV and RandomizedSearchCV: Surprise's, with any measure to choose by."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from surprise import model_selection
from surprise.dataset import DatasetUserFolds
from surprise.utils import get_rng

from recsys_ndcg.errors import InvalidInputError, nearest, shown, warn
from recsys_ndcg.surprise.model_selection.folds import FoldPlan, pooled, run
from recsys_ndcg.surprise.model_selection.measures import resolved
from recsys_ndcg.surprise.model_selection.preflight import checked_splits, iterator_of, settled_plan
from recsys_ndcg.surprise.model_selection.tabulation import tabulated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.surprise.model_selection.folds import Fold


class _Search:
    """What both searches do in place of Surprise's `fit`."""

    algo_class: Any
    param_combinations: Sequence[dict[str, Any]]
    cv: Any
    refit: Any
    n_jobs: int
    pre_dispatch: int | str
    joblib_verbose: int
    _plan: FoldPlan
    _folds: list[list[Fold]]

    def fit(self, data: Any) -> None:
        """Cross-validate all combinations of parameters.

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
        if self.refit and isinstance(data, DatasetUserFolds):
            msg = "refit needs all ratings as one; load_from_folds() has them in parts. Leave it."
            raise InvalidInputError(msg)
        if not len(self.param_combinations):
            msg = "There are no combinations of parameters to try: a list of values is empty."
            raise InvalidInputError(msg)
        plan = settled_plan(self._plan, data, self.cv)
        # all at once, as Surprise has them: each combination sees the same
        splits = list(checked_splits(iterator_of(self.cv).split(data), self.algo_class))
        pairs = product(self.param_combinations, splits)
        total = len(self.param_combinations) * len(splits)
        folds = run(
            ((self.algo_class(**chosen), *split) for chosen, split in pairs),
            plan,
            total,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            verbose=self.joblib_verbose,
        )
        self._folds = [folds[i : i + len(splits)] for i in range(0, total, len(splits))]
        self._choose()
        if self.refit:
            self._refit(data)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """Call `predict` of the best estimator, which `refit` has fitted."""
        if not self.refit:
            msg = (
                "refit is False, so no estimator is fitted: ask for refit='ndcg@10', for instance."
            )
            raise InvalidInputError(msg)
        self._check_fitted()
        return self.best_estimator[self.refit].predict(*args, **kwargs)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user, indexed by combination, fold and user."""
        self._check_fitted()
        tables = {
            (place, number): fold.per_user
            for place, folds in enumerate(self._folds)
            for number, fold in enumerate(folds, 1)
        }
        return pd.concat(tables, names=["combination", "fold", "user"])

    def to_frame(self) -> pd.DataFrame:
        """Return `cv_results` as a table, a row per combination, pooled scores beside means."""
        self._check_fitted()
        table = pd.DataFrame({name: list(values) for name, values in self.cv_results.items()})
        sums = pd.DataFrame([pooled(folds) for folds in self._folds])
        users = [sum(fold.n_users for fold in folds) for folds in self._folds]
        table = table.join(sums.add_prefix("pooled_test_")).assign(test_users=users)
        return table.rename_axis("combination")

    def _check_fitted(self) -> None:
        if not hasattr(self, "_folds"):
            msg = "Nothing has been searched yet. Call fit(data) first."
            raise InvalidInputError(msg)

    def _choose(self) -> None:
        """Set `cv_results` and the best of each measure, in Surprise's names and order."""
        self._warn_of_diverged()
        results, best = tabulated(self._plan, self.param_combinations, self._folds)
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


class GridSearchCV(_Search, model_selection.GridSearchCV):  # type: ignore[misc] # no types there
    """Search a grid of parameters, as Surprise does, by any measure of `cross_validate`.

    Parameters
    ----------
    algo_class : class
        Of the algorithm.
    param_grid : mapping
        Of parameters to lists of values; nested for ``sim_options`` and ``bsl_options``.
    measures : names, functions of predictions, or what `make_measure` returns
        As for `cross_validate`.
    cv, return_train_measures, n_jobs, pre_dispatch, joblib_verbose
        As in Surprise.
    refit : bool or str
        By which measure the best parameters are fitted on all ratings; True is the first.
    threshold : float, optional
        From which rating an item is relevant; binary metrics need it.
    convention : Convention, optional
        Every other choice that moves a number.

    Attributes
    ----------
    cv_results, best_index, best_params, best_score, best_estimator
        As in Surprise. The best has the greatest mean, or the least, as the measure says; one
        without a score is last.
    per_user : pandas.DataFrame
        The scores of every user, indexed by combination, fold and user.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        A measure is unknown, or `refit` is none of them.

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

    def __init__(  # noqa: PLR0913, PLR0917 - Surprise's signature, and two more
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
        convention: Convention | str | None = None,
    ) -> None:
        self._plan = FoldPlan.of(measures, threshold, convention, train=return_train_measures)
        super().__init__(
            _checked_class(algo_class),
            _checked_lists(param_grid),
            measures=[one.name for one in self._plan.measures],
            cv=cv,
            refit=_refit_by(refit, self._plan),
            return_train_measures=return_train_measures,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            joblib_verbose=joblib_verbose,
        )


class RandomizedSearchCV(_Search, model_selection.RandomizedSearchCV):  # type: ignore[misc]
    """Search parameters drawn at random, as Surprise does, by any measure of `cross_validate`.

    Parameters
    ----------
    algo_class : class
        Of the algorithm.
    param_distributions : mapping
        Of parameters to lists of values, or to distributions of ``scipy.stats``.
    n_iter : int
        How many combinations are drawn; without repetition if all are lists.
    random_state : int, RandomState or None
        For drawing them. Surprise 1.1.5 does not heed it where all are lists; this does.
    measures, cv, refit, return_train_measures, n_jobs, pre_dispatch, joblib_verbose
        As for `GridSearchCV`.
    threshold, convention
        As for `GridSearchCV`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        As for `GridSearchCV`; or there are fewer combinations than are to be drawn.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Surprise's signature, and two more
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
        convention: Convention | str | None = None,
    ) -> None:
        self._plan = FoldPlan.of(measures, threshold, convention, train=return_train_measures)
        if not isinstance(n_iter, Integral) or n_iter < 1:
            msg = f"n_iter must be a whole number of at least 1, not {shown(n_iter)}."
            raise InvalidInputError(msg)
        super().__init__(
            _checked_class(algo_class),
            _checked_lists(param_distributions),
            n_iter=n_iter,
            measures=[one.name for one in self._plan.measures],
            cv=cv,
            refit=_refit_by(refit, self._plan),
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
        """Draw the combinations; from lists with `random_state`, which Surprise leaves out."""
        if any(hasattr(values, "rvs") for values in param_distributions.values()):
            return model_selection.RandomizedSearchCV._sample_parameters(  # noqa: SLF001
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


def _checked_class(algo_class: Any) -> Any:
    if not callable(algo_class):
        name = type(algo_class).__name__
        msg = f"algo_class is the class of an algorithm, {name} without brackets, not {name}()."
        raise InvalidInputError(msg)
    return algo_class


def _checked_lists(parameters: Any) -> dict[str, Any]:
    if not isinstance(parameters, Mapping):
        msg = f"Parameters are a dict of lists, {{'n_factors': [20, 50]}}, not {shown(parameters)}."
        raise InvalidInputError(msg)
    return dict(parameters)


def _refit_by(refit: Any, plan: FoldPlan) -> bool | str:
    """Return the name of the measure to refit by, as Surprise takes it."""
    if isinstance(refit, bool) or refit is None:
        return bool(refit)
    names = [one.name for one in plan.measures]
    own = isinstance(refit, str) and refit.strip().lower() in names
    name = refit.strip().lower() if own else resolved(refit)[0].name
    if name not in names:
        msg = f"refit={shown(refit)} is none of the measures. {nearest(name, names)}"
        raise InvalidInputError(msg)
    return name
