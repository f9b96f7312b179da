"""GridSearchCV and RandomizedSearchCV: Surprise's, with any measure to choose by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from surprise import model_selection
from surprise.utils import get_rng

from recsys_ndcg.errors import InvalidInputError, check_whole, shown
from recsys_ndcg.surprise.library import complete
from recsys_ndcg.surprise.model_selection.search_result import SearchResult

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention

_NESTED = ("sim_options", "bsl_options")


class GridSearchCV(SearchResult, model_selection.GridSearchCV):  # type: ignore[misc] # no types there
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
    keep_per_user : bool
        Whether to keep the scores of every user, for `per_user`: about 100 bytes for each user,
        fold and combination.
    progress : bool
        Whether a bar counts the folds of all combinations, where a person watches.

    Attributes
    ----------
    cv_results, best_index, best_params, best_score, best_estimator
        As in Surprise. The best has the greatest mean, or the least, as the measure says; one
        without a score is last.
    per_user : pandas.DataFrame
        The scores of every user, indexed by combination, fold and user, where they are kept.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        A measure is unknown, or `refit` is none of them.

    Notes
    -----
    What is set after the search is made, such as ``search.measures = ["ndcg@5"]``, is heeded by
    the next `fit`, as in Surprise.

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
        convention: Convention | str | None = None,
        keep_per_user: bool = False,
        progress: bool = True,
    ) -> None:
        self.threshold, self.convention = threshold, convention
        self.keep_per_user, self.progress = keep_per_user, progress
        super().__init__(
            _checked_class(algo_class),
            _checked_lists(param_grid),
            **self._measuring(measures, refit),
            cv=cv,
            return_train_measures=return_train_measures,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            joblib_verbose=joblib_verbose,
        )


class RandomizedSearchCV(SearchResult, model_selection.RandomizedSearchCV):  # type: ignore[misc]
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
    threshold, convention, keep_per_user, progress
        As for `GridSearchCV`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        As for `GridSearchCV`; or there are fewer combinations than are to be drawn.
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
        convention: Convention | str | None = None,
        keep_per_user: bool = False,
        progress: bool = True,
    ) -> None:
        self.threshold, self.convention = threshold, convention
        self.keep_per_user, self.progress = keep_per_user, progress
        check_whole("n_iter", n_iter, 1)
        super().__init__(
            _checked_class(algo_class),
            _checked_lists(param_distributions, drawn=True),
            n_iter=n_iter,
            **self._measuring(measures, refit),
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


def _checked_lists(parameters: Any, *, drawn: bool = False) -> dict[str, Any]:
    if not isinstance(parameters, Mapping):
        msg = f"Parameters are a dict of lists, {{'n_factors': [20, 50]}}, not {shown(parameters)}."
        raise InvalidInputError(msg)
    for name, values in parameters.items():
        if name in _NESTED:
            _checked_lists(values)
        elif not isinstance(values, Iterable) and not (drawn and hasattr(values, "rvs")):
            msg = f"{name}={shown(values)} is no list of values to try. Write [{shown(values)}]."
            if hasattr(values, "rvs"):
                msg = f"{name} is a distribution, which only RandomizedSearchCV draws from."
            raise InvalidInputError(msg)
    return dict(parameters)


complete(__name__, "surprise.model_selection.search")
