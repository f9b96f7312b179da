"""What a worker does of a fold: fit, predict, and call the functions of predictions.

It is all that a worker imports of ours, and needs no more than an algorithm of Surprise does: each
process has memory of its own for what it imports, and pandas alone takes more than most models.
Predictions are ranked where the folds are asked for.
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


# Surprise's own four, to the last bit, for where it is not installed.


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
    """Return the fraction of concordant pairs: mean counts of the users who have any."""
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
    """A number per fold, of which the greatest or the least is the best.

    Parameters
    ----------
    name : str
        Lower case, as it stands in the keys of the results.
    greater_is_better : bool
        Which way is up.
    function : callable, optional
        Takes the predictions of a fold.
    keywords : mapping
        For the function.
    metric : Metric, optional
        A ranking metric instead.
    protocol : {'rated', 'catalogue'}
        What it ranks: the user's test ratings, or all items not rated in training.
    """

    name: str
    greater_is_better: bool
    function: Callable[..., float] | None = None
    keywords: dict[str, Any] = field(default_factory=dict)
    metric: Metric | None = None
    protocol: str = "rated"

    @property
    def is_of_surprise(self) -> bool:
        """Whether it is one of Surprise's own four."""
        return self.function in (rmse, mae, mse, fcp)

    def of(self, predictions: list[Any]) -> Any:
        """Return the function's number of some predictions.

        Raises
        ------
        InvalidInputError
            The function does not return a number.
        ValueError
            Surprise's own has no predictions.
        """
        if self.is_of_surprise and not predictions:
            msg = "Prediction list is empty."
            raise ValueError(msg)
        value: Any = self.function and self.function(predictions, **self.keywords)
        if not isinstance(value, Real):
            msg = f"The measure {self.name!r} must return a number, not {quote(value)}."
            raise InvalidInputError(msg)
        return value if isinstance(value, np.floating) else float(value)


class FittedFold(NamedTuple):
    """What came of fitting and predicting.

    Parameters
    ----------
    test, train : list of predictions
        Of the testset, and of the trainset; none of what was not asked for.
    test_values, train_values : mapping
        What the functions found, by their names.
    fit_time, test_time : float
        Seconds.
    diverged : DivergedModelError, optional
        What is wrong with a model that estimates NaN.
    """

    test: list[Any]
    train: list[Any]
    test_values: dict[str, Any]
    train_values: dict[str, Any]
    fit_time: float
    test_time: float
    diverged: DivergedModelError | None


class FoldJob(NamedTuple):
    """What is to be done with a split, besides to fit and to predict.

    Parameters
    ----------
    functions : sequence of Measure
        That are functions of the predictions.
    train : bool
        Whether the trainset is predicted, too.
    ranked : bool
        Whether predictions are ranked; otherwise a worker need not send them.
    """

    functions: Sequence[Measure]
    train: bool
    ranked: bool

    def run(self, model: Any, trainset: Any, testset: list[Any]) -> FittedFold:
        """Fit a model, let it predict, and measure what takes predictions."""
        start = time.time()
        model.fit(trainset)
        fitted = time.time()
        predictions = list(model.test(testset))
        tested = time.time()
        again = list(model.test(trainset.build_testset())) if self.train else []
        diverged = None
        try:
            model.refuse_diverged(predictions)
        except DivergedModelError as error:
            diverged = error.with_traceback(None)  # which would keep the model
        return FittedFold(
            test=predictions if self.ranked else [],
            train=again if self.ranked else [],
            test_values={one.name: one.of(predictions) for one in self.functions},
            train_values={one.name: one.of(again) for one in self.functions if again},
            fit_time=fitted - start,
            test_time=tested - fitted,
            diverged=diverged,
        )
