"""A worker's part of a fold: fit, predict, and call functions of predictions.

A worker imports only this module of ours, which needs no more than an algorithm of Surprise: each
process has memory of its own for its imports, and pandas needs more than most models.
The main process ranks the predictions.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import DivergedModelError, InvalidInputError, quote

if TYPE_CHECKING:
    from recsys_ndcg.metrics import Metric


# Surprise's four measures, equal to the last bit, in case it is not installed.


def rmse(predictions: list[Any]) -> Any:
    """Return the root of the mean squared error of predictions."""
    return np.sqrt(mse(predictions))


def mse(predictions: list[Any]) -> Any:
    """Return the mean squared error of predictions."""
    return np.mean([float((true - estimated) ** 2) for _, _, true, estimated, _ in predictions])


def mae(predictions: list[Any]) -> Any:
    """Return the mean absolute error of predictions."""
    return np.mean([float(abs(true - estimated)) for _, _, true, estimated, _ in predictions])


def fcp(predictions: list[Any]) -> Any:
    """Return the fraction of concordant pairs: means over the users who have any."""
    by_user: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
    for user, _, true, estimated, _ in predictions:
        by_user[user].append((true, estimated))
    counts = [
        (
            sum(e > f and t > s for t, e in rows for s, f in rows),
            sum(e >= f and t < s for t, e in rows for s, f in rows),
        )
        for rows in by_user.values()
    ]
    each = ([one for one in side if one] for side in zip(*counts, strict=True))
    concordant, discordant = (np.mean(side) if side else 0 for side in each)
    if not concordant + discordant:
        msg = (
            "cannot compute fcp on this list of prediction. Does every user have at least two "
            "predictions?"
        )
        raise ValueError(msg)
    return concordant / (concordant + discordant)


@dataclass(frozen=True)
class Measure:
    """A number per fold, to maximise or to minimise.

    Parameters
    ----------
    name : str
        Lower case, as in the keys of the results.
    greater_is_better : bool
        Whether the greatest value is the best.
    function : callable, optional
        Computes it from the predictions of a fold.
    keywords : mapping
        Further arguments of the function.
    metric : Metric, optional
        A ranking metric in place of a function.
    protocol : {'rated', 'catalogue'}
        Which items it ranks: the user's test ratings, or all items not rated in training.
    """

    name: str
    greater_is_better: bool
    function: Callable[..., float] | None = None
    keywords: dict[str, Any] = field(default_factory=dict)
    metric: Metric | None = None
    protocol: str = "rated"

    @property
    def is_from_surprise(self) -> bool:
        """Whether it is one of Surprise's four measures."""
        return self.function in (rmse, mae, mse, fcp)

    def compute(self, predictions: list[Any]) -> Any:
        """Return the function's value for some predictions.

        Raises
        ------
        InvalidInputError
            The function does not return a number.
        ValueError
            A measure of Surprise gets no predictions.
        """
        if self.is_from_surprise and not predictions:
            msg = "Prediction list is empty."
            raise ValueError(msg)
        value: Any = self.function and self.function(predictions, **self.keywords)
        if not isinstance(value, Real):
            msg = f"The measure {self.name!r} must return a number, not {quote(value)}."
            raise InvalidInputError(msg)
        return value if isinstance(value, np.floating) else float(value)


class FittedFold(NamedTuple):
    """The result of fitting a model on one fold and predicting.

    Parameters
    ----------
    test, train : list of predictions
        The predictions of the testset and of the trainset, if they are returned.
    test_values, train_values : mapping
        The values of the functions by name.
    fit_time, test_time : float
        Seconds.
    diverged : DivergedModelError, optional
        The error of a model that estimates NaN.
    """

    test: list[Any]
    train: list[Any]
    test_values: dict[str, Any]
    train_values: dict[str, Any]
    fit_time: float
    test_time: float
    diverged: DivergedModelError | None


class FoldJob(NamedTuple):
    """The instructions for a worker.

    Parameters
    ----------
    functions : sequence of Measure
        The measures that are functions of predictions.
    predicts_trainset : bool
        Whether to predict the trainset, too.
    returns_predictions : bool
        Whether the main process needs the predictions for ranking.
    """

    functions: Sequence[Measure]
    predicts_trainset: bool
    returns_predictions: bool

    def run(self, model: Any, trainset: Any, testset: list[Any]) -> FittedFold:
        """Fit a model, predict, and call the functions."""
        start = time.time()
        model.fit(trainset)
        fitted = time.time()
        predictions = list(model.test(testset))
        tested = time.time()
        diverged = None
        try:
            model.check_not_diverged()
        except DivergedModelError as error:
            diverged = error.with_traceback(None)  # its traceback would keep the model in memory
        again = list(model.test(trainset.build_testset())) if self.predicts_trainset else []
        return FittedFold(
            test=predictions if self.returns_predictions else [],
            train=again if self.returns_predictions else [],
            test_values={
                one.name: one.compute(predictions)
                for one in self.functions
                if predictions or not model.returns_lists
            },
            train_values={one.name: one.compute(again) for one in self.functions if again},
            fit_time=fitted - start,
            test_time=tested - fitted,
            diverged=diverged,
        )
