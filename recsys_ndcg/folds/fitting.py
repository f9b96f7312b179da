"""A worker's part of a fold: fit, predict, and call functions of predictions.

A worker imports only this module of ours, which needs no more than an algorithm of Surprise: each
process has memory of its own for its imports, and pandas needs more than most models.
The main process ranks the predictions.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import DivergedModelError, InvalidInputError, quote, warn

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Audit


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


@dataclass(frozen=True, eq=False)
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
        rest (NaN if another process measures).
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
    predictions : pair of lists
        The predictions of the testset and of the trainset, until they are ranked.
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
    predictions: tuple[list[Any], list[Any]] = ([], [])
    diverged: DivergedModelError | None = None
    peak_memory: float = math.nan
    warnings: tuple[str, ...] = ()
    error: str = ""
    traceback: str = ""

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"{self.model}, seed {self.seed}, fold {self.fold}"

    @property
    def key(self) -> tuple[str, int, int]:
        """In an experiment, the model, and the seed and the number of the fold."""
        return self.model, self.seed, self.fold

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the ranking measures by protocol."""
        return {
            protocol: [
                one if protocol == "rated" else f"{one}:{protocol}" for one in audit.totals.names
            ]
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
        from recsys_ndcg.report import build_tracker_keys  # noqa: PLC0415 - workers need it not

        values = {**self.scores, **self.costs}
        keys = build_tracker_keys(values)
        return {keys[name]: value for name, value in values.items() if math.isfinite(value)}


def fit_and_predict(  # noqa: PLR0913 - a worker's instructions
    model: Any,
    trainset: Any,
    testset: list[Any],
    functions: Sequence[Measure],
    *,
    predicts_trainset: bool,
    returns_predictions: bool,
) -> FoldRun:
    """Fit a model, predict, and call functions of predictions.

    Parameters
    ----------
    model, trainset, testset
        The model of folds, and the split.
    functions : sequence of Measure
        The measures that are functions of predictions.
    predicts_trainset : bool
        Whether to predict the trainset, too.
    returns_predictions : bool
        Whether the main process needs the predictions for ranking.
    """
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
    again = list(model.test(trainset.build_testset())) if predicts_trainset else []
    return FoldRun(
        test={
            one.name: one.compute(predictions)
            for one in functions
            if predictions or not model.returns_lists
        },
        train={one.name: one.compute(again) for one in functions if again},
        fit_time=fitted - start,
        test_time=tested - fitted,
        predictions=(predictions, again) if returns_predictions else ([], []),
        diverged=diverged,
    )
