"""Measures of folds: Surprise's four, ranking metrics and functions; and the plan of all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from recsys_ndcg.catalogue import choose_convention
from recsys_ndcg.convention import Convention, ConventionLike, split_names
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, check_choice, quote, suggest
from recsys_ndcg.metrics import METRICS, Metric, parse_metrics
from recsys_ndcg.scoring import Cutoffs, Plan

_PROTOCOLS = ("rated", "catalogue")


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
    counts = Counter[Any](), Counter[Any]()
    for user, rows in by_user.items():
        for (true, estimated), (other, least) in product(rows, rows):
            counts[0][user] += estimated > least and true > other
            counts[1][user] += estimated >= least and true < other
    each = ([one for one in side.values() if one] for side in counts)
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


#: Surprise's four measures.
ACCURACY = {one.__name__: Measure(one.__name__, one is fcp, one) for one in (rmse, mae, mse, fcp)}


def lower_is_better(name: str) -> bool:
    """Return whether less of a measure is better, as of an error."""
    if name in ACCURACY:
        return not ACCURACY[name].greater_is_better
    try:
        return not _parse_measures(name)[0].greater_is_better
    except InvalidInputError:  # a function of predictions, of which only the name is known
        return False


def make_measure(
    fn: Callable[..., float],
    name: str | None = None,
    greater_is_better: bool = True,  # noqa: FBT001, FBT002 - as in scikit-learn's make_scorer
    **keywords: Any,
) -> Measure:
    """Make a measure for cross-validation and searches from a function of predictions.

    Parameters
    ----------
    fn : callable
        Takes the list of a fold's predictions and returns a number. It must be picklable for
        ``n_jobs`` above 1.
    name : str, optional
        The name in the keys of the results, in lower case; the function's by default.
    greater_is_better : bool
        Whether the best model has the greatest value, or the least.
    **keywords
        Further arguments of the function.

    Returns
    -------
    Measure
        For ``measures=``.

    Raises
    ------
    InvalidInputError
        `fn` is no function, or its name is empty or "time".

    Examples
    --------
    >>> def share_above(predictions, limit):
    ...     return sum(one.est >= limit for one in predictions) / len(predictions)
    >>> make_measure(share_above, name="share of 4", limit=4).name
    'share of 4'
    """
    if not callable(fn):
        msg = f"A measure is made from a function of predictions, not from {quote(fn)}."
        raise InvalidInputError(msg)
    if name is None:
        name = getattr(fn, "__name__", type(fn).__name__)
    if not isinstance(name, str) or not name.strip():
        msg = f"The name of a measure must be text, not {quote(name)}."
        raise InvalidInputError(msg)
    if name.strip().lower() == "time":
        msg = "A measure cannot be named 'time', because the results have a key 'test_time'."
        raise InvalidInputError(msg)
    return Measure(name.strip().lower(), bool(greater_is_better), fn, keywords=keywords)


def parse_measures(measures: Any, known: Mapping[str, Measure] | None = None) -> list[Measure]:
    """Return the measures without repetition.

    Parameters
    ----------
    measures : names, functions of predictions, or what `make_measure` returns
        One or several; without any only the times are measured, as in Surprise.
    known : mapping, optional
        Measures that exist already, by name.

    Raises
    ------
    UnknownMetricError
        A name is unknown; the message suggests the nearest one.
    InvalidInputError
        Two measures have the same name, or a metric lacks its cutoff.
    """
    by_name: dict[str, Measure] = {}
    for given in split_names(measures):
        name = given.strip().lower() if isinstance(given, str) else ""
        one = known[name] if known and name in known else _parse_measures(given)[0]
        if by_name.setdefault(one.name, one) != one:
            msg = (
                f"measures has two different measures named {one.name!r}. Rename one of them: "
                "make_measure(function, 'another name')."
            )
            raise InvalidInputError(msg)
    return list(by_name.values())


def _parse_measures(
    given: Any, ks: Iterable[int | None] = (None,), protocol: str = "rated"
) -> list[Measure]:
    """Return a measure: one, or one per k for the name of a metric without a cutoff.

    A metric has the given protocol, unless its name has one.
    """
    if isinstance(given, Measure):
        return [given]
    if isinstance(given, Metric):
        return [_from_metric(given, protocol)]
    if isinstance(given, str):
        text, colon, named = given.strip().partition(":")  # names of columns keep their case
        if text.lower() in ACCURACY and not colon:
            return [ACCURACY[text.lower()]]
        protocol = named.lower() if colon else protocol
        if protocol not in _PROTOCOLS:
            msg = f"{given!r}: the protocol after the colon is unknown. "
            raise InvalidInputError(msg + suggest(protocol, _PROTOCOLS))
        try:
            return [_from_metric(one, protocol) for one in parse_metrics(text, ks)]
        except UnknownMetricError:
            names = suggest(text.partition("@")[0].partition("(")[0], {*METRICS, *ACCURACY})
            msg = f"No measure is named {given!r}. {names}"
            raise UnknownMetricError(msg) from None
    if isinstance(given, type) and issubclass(given, Metric):
        msg = f"{given.__name__} is a class of metrics. Write {given.__name__}(10)."
        raise InvalidInputError(msg)
    if callable(given):
        return [make_measure(given)]
    msg = (
        "A measure is a name such as 'rmse' or 'ndcg@10', a function, or make_measure(...), "
        f"not {quote(given)}."
    )
    raise InvalidInputError(msg)


def name_measure(metric: object, protocol: str) -> str:
    """Return the name of a metric under a protocol."""
    return str(metric) if protocol == "rated" else f"{metric}:{protocol}"


def _from_metric(metric: Metric, protocol: str) -> Measure:
    if not metric.depends_on_order:
        msg = f"{metric} compares ratings and ranks nothing. Write 'rmse' or 'mae'."
        raise InvalidInputError(msg)
    if metric.find_sources(Convention()) & {"base", "groups"}:
        msg = (
            f"{metric} needs the lists of another model, or groups of users, which folds do not "
            "have. Measure one split: evaluate_catalogue(..., base=..., groups=...)."
        )
        raise InvalidInputError(msg)
    name = name_measure(metric, protocol)
    better = metric.greater_is_better
    return Measure(name, greater_is_better=better, metric=metric, protocol=protocol)


@dataclass(frozen=True)
class FoldPlan:
    """The measures of every fold.

    Parameters
    ----------
    measures : sequence of Measure
        In the order of the results.
    rated, catalogue : Plan, optional
        The metrics that rank users' test ratings, with the errors by user, and the metrics that
        rank all items.
    return_train_measures : bool
        Whether the trainset is measured, too.
    keep_per_user : bool
        Whether the scores of every user are kept.
    known : mapping of str
        What is known besides the trainset, as for `Background.of`: features.
    split_items : bool
        Whether scores are also split by the number of training ratings of the items.
    """

    measures: Sequence[Measure]
    rated: Plan | None
    catalogue: Plan | None
    return_train_measures: bool = False
    keep_per_user: bool = True
    known: Mapping[str, Any] = field(default_factory=dict)
    split_items: bool = False

    @classmethod
    def of(  # noqa: PLR0913 - the options of folds
        cls,
        measures: Any,
        threshold: float | None,
        convention: ConventionLike,
        *,
        return_train_measures: bool = False,
        features: Any = None,
        k: Cutoffs = "default",
    ) -> FoldPlan:
        """Parse measures, and give their metrics a convention with the plug-in's tie tolerance.

        Raises
        ------
        InvalidInputError
            As `parse_measures`; or the catalogue is to be measured for training ratings, which it
            leaves out.
        """
        parsed, (ks, _) = parse_measures(measures), Plan.complete_options(k, threshold, convention)
        for one in [] if None in ks else parsed:
            if one.metric and one.metric.k is None and one.metric.cutoff == "usual":
                msg = f"{one.metric} needs a cutoff here. Write '{one.metric}@10', for example."
                raise InvalidInputError(msg)
        rated, catalogue = (
            Plan.of(some, k=None, threshold=threshold, convention=convention).with_tie_tolerance()
            if some
            else None
            for some in (
                [one.metric for one in parsed if one.metric and one.protocol == protocol]
                for protocol in _PROTOCOLS
            )
        )
        if rated is not None and rated.measurements[0].convention.impossible != "last":
            # metrics that have an error of Surprise's user by user
            errors = [one.name for one in parsed if one == ACCURACY.get(one.name)]
            rated = rated.with_metrics([METRICS[name]() for name in errors if name in METRICS])
        known = {} if features is None else {"features": features}
        plan = cls(parsed, rated, catalogue, return_train_measures, known=known)
        if catalogue is not None:
            choose_convention(catalogue)  # raises if two metrics rank differently
            if return_train_measures:
                msg = (
                    f"{', '.join(plan.names('catalogue').values())} leaves out the items that a "
                    "user rated in training, so on the trainset it is 0. Measure it without "
                    "return_train_measures."
                )
                raise InvalidInputError(msg)
        return plan

    @classmethod
    def of_protocols(  # noqa: PLR0913 - the options of an experiment
        cls,
        protocol: Any,
        metrics: Any,
        k: Cutoffs,
        threshold: float | None,
        convention: ConventionLike,
        *,
        features: Any = None,
    ) -> FoldPlan:
        """Return a plan with every metric under each protocol, unless its name has a protocol.

        Raises
        ------
        InvalidInputError
            No metric ranks anything, or a protocol is unknown.
        """
        given = _PROTOCOLS if protocol == "both" else protocol
        several = isinstance(given, Iterable) and not isinstance(given, str)
        protocols: list[Any] = (several and [*given]) or [given]
        unknown = [one for one in protocols if one not in _PROTOCOLS]
        if unknown:
            check_choice("protocol", unknown[0], [*_PROTOCOLS, "both"])
        ks, threshold = Plan.complete_options(k, threshold, convention)
        if metrics is None:
            metrics = ["ndcg", *([] if threshold is None else ["precision", "recall"])]
        measures = [
            one
            for each in protocols
            for given in split_names(metrics)
            for one in _parse_measures(given, ks, each)
            # of a user's own ratings, measures of what is recommended mean nothing
            if len(protocols) == 1
            or each != "rated"
            or ":" in str(given)
            or not (one.metric and one.metric.needs)
        ]
        plan = cls.of(measures, threshold, convention, features=features, k=ks)
        if plan.rated is None and plan.catalogue is None:
            msg = "No metric here ranks anything. Add one such as 'ndcg@10' to compare models by."
            raise InvalidInputError(msg)
        return plan

    def map(self, change: Callable[[Plan], Plan]) -> FoldPlan:
        """Return a copy with both plans changed by a function."""
        plans = self.rated, self.catalogue
        rated, catalogue = (None if plan is None else change(plan) for plan in plans)
        return replace(self, rated=rated, catalogue=catalogue)

    def names(self, protocol: str) -> dict[str, str]:
        """Return the names of a protocol's measures by the names of their metrics."""
        return {
            str(one.metric): one.name
            for one in self.measures
            if one.metric and one.protocol == protocol
        }
