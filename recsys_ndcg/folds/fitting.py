"""What a worker does of a fold: fit, predict, and call the functions of predictions.

It is all that a worker imports of ours, and needs no more than an algorithm of Surprise does: each
process has memory of its own for what it imports, and pandas alone takes more than most models.
What ranks is where the folds are asked for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import repeat
from numbers import Real
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import DivergedModelError, InvalidInputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recsys_ndcg.arrays import Flags, Floats
    from recsys_ndcg.metrics import Metric

_EXACT = {float, int, np.float64}  # what is the same number as a float64
_POSSIBLE, _IMPOSSIBLE = ({"was_impossible": one} for one in (False, True))


# Surprise's own four, to the last bit, for where it is not installed.


def rmse(predictions: list[Any]) -> Any:
    """Return the root of the mean squared error of predictions."""
    return np.sqrt(mse(predictions))


def mse(predictions: list[Any]) -> Any:
    """Return the mean squared error of predictions."""
    _refuse_none(predictions)
    return np.mean([float((true - estimated) ** 2) for _, _, true, estimated, _ in predictions])


def mae(predictions: list[Any]) -> Any:
    """Return the mean absolute error of predictions."""
    _refuse_none(predictions)
    return np.mean([float(abs(true - estimated)) for _, _, true, estimated, _ in predictions])


def fcp(predictions: list[Any]) -> Any:
    """Return the fraction of concordant pairs: mean counts of the users who have any."""
    _refuse_none(predictions)
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


def _refuse_none(predictions: list[Any]) -> None:
    if not predictions:
        msg = "Prediction list is empty."
        raise ValueError(msg)


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

    def of(self, predictions: list[Any]) -> Any:
        """Return the function's number of some predictions.

        Raises
        ------
        InvalidInputError
            The function does not return a number.
        """
        value: Any = self.function and self.function(predictions, **self.keywords)
        if not isinstance(value, Real):
            msg = f"The measure {self.name!r} must return a number, not {shown(value)}."
            raise InvalidInputError(msg)
        return value if isinstance(value, np.floating) else float(value)


class Packed(NamedTuple):
    """Predictions without what is known where they go to: the testset.

    Parameters
    ----------
    estimates : float64 array
        One for each row of the testset.
    impossible : bool array, optional
        Which of them the algorithm could not make; None where it made all.
    """

    estimates: Floats
    impossible: Flags | None

    @classmethod
    def of(cls, predictions: Predictions, testset: list[Any]) -> Predictions:
        """Pack predictions of a testset, and leave those that are not as usual as they are."""
        if isinstance(predictions, Packed):
            return predictions
        if len(predictions) != len(testset) or set(map(len, predictions)) != {5}:
            return predictions  # of an algorithm with a `test` of its own
        for place in range(3):
            each = (map(itemgetter(place), rows) for rows in (predictions, testset))
            if not all(map(is_, *each)):
                return predictions
        estimates = list(map(itemgetter(3), predictions))
        if not set(map(type, estimates)) <= _EXACT:
            return predictions
        try:
            said = list(map(itemgetter("was_impossible"), map(itemgetter(4), predictions)))
            packed = np.array(estimates, dtype=np.float64)
        except (KeyError, TypeError, OverflowError):
            return predictions
        return cls(packed, np.array(list(map(bool, said))) if any(said) else None)

    def unpacked(self, testset: Sequence[Any]) -> list[Any]:
        """Return rows as predictions have them, of the testset that they are of."""
        details: Any = repeat(_POSSIBLE)
        if self.impossible is not None:
            details = map((_POSSIBLE, _IMPOSSIBLE).__getitem__, self.impossible.tolist())
        columns = (map(itemgetter(place), testset) for place in range(3))
        return list(zip(*columns, self.estimates.tolist(), details, strict=False))


Predictions = list[Any] | Packed


@dataclass(frozen=True)
class FittedFold:
    """What came of fitting and predicting.

    Parameters
    ----------
    test, train : Predictions
        Of the testset, and of the trainset; none of what was not asked for.
    test_values, train_values : mapping
        What the functions found, by their names.
    fit_time, test_time : float
        Seconds.
    diverged : DivergedModelError, optional
        What is wrong with a model that estimates NaN.
    """

    test: Predictions
    train: Predictions
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
        Whether predictions are ranked where they go to; otherwise they need not go there.
    """

    functions: Sequence[Measure]
    train: bool
    ranked: bool


def fitted_and_tested(model: Any, trainset: Any, testset: list[Any], job: FoldJob) -> FittedFold:
    """Fit a model, let it predict, and measure what takes predictions."""
    start = time.time()
    model.fit(trainset)
    fitted = time.time()
    predictions = list(model.test(testset))
    tested = time.time()
    again = list(model.test(trainset.build_testset())) if job.train else []
    diverged = None
    try:
        model.refuse_diverged(predictions)
    except DivergedModelError as error:
        diverged = error.with_traceback(None)  # which would keep the model
    return FittedFold(
        test=predictions,
        train=again,
        test_values={one.name: one.of(predictions) for one in job.functions},
        train_values={one.name: one.of(again) for one in job.functions if again},
        fit_time=fitted - start,
        test_time=tested - fitted,
        diverged=diverged,
    )


def sent(model: Any, trainset: Any, testset: list[Any], job: FoldJob) -> FittedFold:
    """Do the same in a worker, and return no more than is needed, as small as it can be."""
    tested = fitted_and_tested(model, trainset, testset, job)
    if not job.ranked or tested.diverged is not None:
        return replace(tested, test=[], train=[])
    again = Packed.of(tested.train, trainset.build_testset()) if job.train else []
    return replace(tested, test=Packed.of(tested.test, testset), train=again)


def rows_of(predicted: Predictions, testset: Sequence[Any]) -> list[Any]:
    """Return predictions as rows, whether they came packed or not."""
    return predicted.unpacked(testset) if isinstance(predicted, Packed) else predicted
