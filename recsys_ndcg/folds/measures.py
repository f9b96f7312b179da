"""What is measured of folds: Surprise's four, ranking metrics, functions; and the plan of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recsys_ndcg.catalogue import placing
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, quote, suggest
from recsys_ndcg.folds.fitting import Measure, fcp, mae, mse, rmse
from recsys_ndcg.metrics import METRICS, Metric, parse
from recsys_ndcg.scoring import Cutoffs, Plan

_PROTOCOLS = ("rated", "catalogue")

#: Surprise's own four.
ACCURACY = {one.__name__: Measure(one.__name__, one is fcp, one) for one in (rmse, mae, mse, fcp)}


def lower_is_better(name: str) -> bool:
    """Tell errors from all other measures."""
    return name in ACCURACY and not ACCURACY[name].greater_is_better


def make_measure(
    fn: Callable[..., float],
    name: str | None = None,
    greater_is_better: bool = True,  # noqa: FBT001, FBT002 - as in scikit-learn's make_scorer
    **keywords: Any,
) -> Measure:
    """Make a measure for cross-validation and search of a function of predictions.

    Parameters
    ----------
    fn : callable
        Takes the list of a fold's predictions and returns a number. For ``n_jobs`` above 1 it
        must be possible to pickle it.
    name : str, optional
        As it stands in the keys of the results, in lower case; that of the function by default.
    greater_is_better : bool
        Whether the best model is that with the greatest value, or the least.
    **keywords
        Passed on to the function.

    Returns
    -------
    Measure
        For ``measures=``.

    Raises
    ------
    InvalidInputError
        The function cannot be called, or has no usable name.

    Examples
    --------
    >>> def share_above(predictions, limit):
    ...     return sum(one.est >= limit for one in predictions) / len(predictions)
    >>> make_measure(share_above, name="share of 4", limit=4).name
    'share of 4'
    """
    if not callable(fn):
        msg = f"A measure is made of a function of predictions, not of {quote(fn)}."
        raise InvalidInputError(msg)
    if name is None:
        name = getattr(fn, "__name__", type(fn).__name__)
    if not isinstance(name, str) or not name.strip():
        msg = f"The name of a measure is text, not {quote(name)}."
        raise InvalidInputError(msg)
    if name.strip().lower() == "time":
        msg = "A measure cannot be named 'time': the results have 'test_time' already."
        raise InvalidInputError(msg)
    return Measure(name.strip().lower(), bool(greater_is_better), fn, keywords=keywords)


def resolved(measures: Any, known: Mapping[str, Measure] | None = None) -> list[Measure]:
    """Return the measures, once each, before anything is trained.

    Parameters
    ----------
    measures : names, functions of predictions, or what `make_measure` returns
        One or several; none at all is time alone, as in Surprise.
    known : mapping, optional
        Of names to measures that need not be made anew.

    Raises
    ------
    UnknownMetricError
        There is none of that name; the nearest is given.
    InvalidInputError
        Different ones have one name, or a metric lacks its cutoff.
    """
    if isinstance(measures, str | Measure | Metric) or callable(measures):
        measures = [measures]
    if not isinstance(measures, Iterable):
        msg = f"measures is a list such as ['rmse', 'ndcg@10'], not {quote(measures)}."
        raise InvalidInputError(msg)
    found: dict[str, Measure] = {}
    for given in measures:
        name = given.strip().lower() if isinstance(given, str) else ""
        one = known[name] if known and name in known else _resolved(given)
        if found.setdefault(one.name, one) != one:
            msg = (
                f"measures has two that are called {one.name!r}. Name one of them otherwise: "
                "make_measure(function, 'another name')."
            )
            raise InvalidInputError(msg)
    return list(found.values())


def _resolved(one: Any) -> Measure:
    if isinstance(one, Measure):
        return one
    if isinstance(one, Metric):
        return _measure_of(one, "rated")
    if isinstance(one, str):
        text, colon, protocol = one.strip().lower().partition(":")
        if text in ACCURACY and not colon:
            return ACCURACY[text]
        if colon and protocol not in _PROTOCOLS:
            msg = f"{one!r}: after the colon stands what is ranked. {suggest(protocol, _PROTOCOLS)}"
            raise InvalidInputError(msg)
        return _measure_of(_metric(text, one), protocol or "rated")
    if isinstance(one, type) and issubclass(one, Metric):
        msg = f"{one.__name__} is a class of metrics; one of them is {one.__name__}(10)."
        raise InvalidInputError(msg)
    if callable(one):
        return make_measure(one)
    msg = (
        "A measure is a name such as 'rmse' or 'ndcg@10', a function, or make_measure(...), "
        f"not {quote(one)}."
    )
    raise InvalidInputError(msg)


def _metric(text: str, given: str) -> Metric:
    """Return the metric of that name; Surprise's are among those that may have been meant."""
    name = text.partition("@")[0].partition("(")[0]
    try:
        return parse(text)[0]
    except UnknownMetricError:
        msg = f"No measure is named {given!r}. {suggest(name, {*METRICS, *ACCURACY})}"
        raise UnknownMetricError(msg) from None


def _measure_of(metric: Metric, protocol: str) -> Measure:
    if not metric.orders:
        msg = f"{metric} compares ratings and ranks nothing: ask for 'rmse' or 'mae' by name."
        raise InvalidInputError(msg)
    if metric.k is None and metric.cutoff == "usual":
        msg = f"{metric} needs a cutoff here: write '{metric}@10', for instance."
        raise InvalidInputError(msg)
    name = str(metric) if protocol == "rated" else f"{metric}:{protocol}"
    return Measure(name, greater_is_better=True, metric=metric, protocol=protocol)


@dataclass(frozen=True)
class FoldPlan:
    """What is measured of every fold.

    Parameters
    ----------
    measures : sequence of Measure
        In the order they were asked for.
    rated, catalogue : Plan, optional
        What ranks the users' test ratings, with their errors beside, and what ranks all items.
    train : bool
        Whether measures are taken of the trainset, too.
    per_user : bool
        Whether the scores of every user are kept: numerator, denominator and more of each.
    """

    measures: Sequence[Measure]
    rated: Plan | None
    catalogue: Plan | None
    train: bool = False
    per_user: bool = True

    @classmethod
    def of(
        cls,
        measures: Any,
        threshold: float | None,
        convention: Convention | str | None,
        *,
        train: bool,
        per_user: bool = True,
    ) -> FoldPlan:
        """Give the conventions of measures, as `resolved` takes them, the plug-in's tolerance."""
        known = resolved(measures)
        Convention.checked(convention)
        rated, catalogue = (
            Plan.of(metrics, k=None, threshold=threshold, convention=convention).tolerant()
            if metrics
            else None
            for metrics in (
                [one.metric for one in known if one.metric and one.protocol == protocol]
                for protocol in _PROTOCOLS
            )
        )
        if rated is not None and rated.measurements[0].convention.impossible != "last":
            # metrics that have an error of Surprise's user by user
            errors = [one.name for one in known if one == ACCURACY.get(one.name)]
            rated = rated.with_metrics([METRICS[name]() for name in errors if name in METRICS])
        if catalogue is not None:
            placing(catalogue)  # refuses metrics that would rank differently
        return cls(known, rated, catalogue, train, per_user)

    @classmethod
    def under(
        cls,
        protocol: Any,
        metrics: Any,
        k: Cutoffs,
        threshold: float | None,
        convention: Convention | str | None,
    ) -> FoldPlan:
        """Take metrics under each protocol; those that name one, under that alone.

        Raises
        ------
        InvalidInputError
            Nothing that is asked for ranks anything, or there is no such protocol.
        """
        asked = _PROTOCOLS if protocol == "both" else protocol
        several = isinstance(asked, Iterable) and not isinstance(asked, str)
        protocols: list[Any] = (several and [*asked]) or [asked]
        unknown = [one for one in protocols if one not in _PROTOCOLS]
        if unknown:
            told = suggest(str(unknown[0]), [*_PROTOCOLS, "both"])
            msg = f"protocol={quote(protocol)}: what is ranked is 'rated' or 'catalogue'. {told}"
            raise InvalidInputError(msg)
        if metrics is None:
            metrics = ["ndcg", *([] if threshold is None else ["precision", "recall"])]
        single = isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable)
        given = [metrics] if single else list(metrics)
        ks = list(k) if isinstance(k, Iterable) else [k]
        measures = [
            name
            for place, each in enumerate(dict.fromkeys(protocols))
            for one in given
            for name in _under(each, one, ks, first=place == 0)
        ]
        plan = cls.of(measures, threshold, convention, train=False)
        if plan.rated is None and plan.catalogue is None:
            msg = (
                "No metric here ranks anything: ask for one such as 'ndcg@10', by which models "
                "are compared."
            )
            raise InvalidInputError(msg)
        return plan

    def each(self, change: Callable[[Plan], Plan]) -> FoldPlan:
        """Return the same with what a function makes of each plan that there is."""
        rated, catalogue = (
            None if plan is None else change(plan) for plan in (self.rated, self.catalogue)
        )
        return replace(self, rated=rated, catalogue=catalogue)

    def names(self, protocol: str) -> dict[str, str]:
        """Return what the measures of a protocol are called, by the names of their metrics."""
        return {
            str(one.metric): one.name
            for one in self.measures
            if one.metric and one.protocol == protocol
        }


def _under(protocol: str, given: Any, ks: list[int | None], *, first: bool) -> Iterable[Any]:
    if not isinstance(given, str | Metric) or str(given).strip().lower() in ACCURACY:
        return [given] if first else []
    name, colon, named = str(given).partition(":")
    if colon:
        return [f"{one}:{named}" for one in parse(name, ks)] if first else []
    parsed = [given] if isinstance(given, Metric) else parse(name, ks)
    return [f"{one}:{protocol}" if protocol != "rated" else one for one in parsed]
