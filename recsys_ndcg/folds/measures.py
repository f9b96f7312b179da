"""What is measured of folds: Surprise's four, ranking metrics, and functions of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, nearest, shown
from recsys_ndcg.folds.fitting import Measure, fcp, mae, mse, rmse
from recsys_ndcg.metrics import METRICS, Metric, parse

if TYPE_CHECKING:
    from collections.abc import Callable

_PROTOCOLS = ("rated", "catalogue")


#: Surprise's own four.
ACCURACY = {one.__name__: Measure(one.__name__, one is fcp, one) for one in (rmse, mae, mse, fcp)}


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
        msg = f"A measure is made of a function of predictions, not of {shown(fn)}."
        raise InvalidInputError(msg)
    if name is None:
        name = getattr(fn, "__name__", type(fn).__name__)
    if not isinstance(name, str) or not name.strip():
        msg = f"The name of a measure is text, not {shown(name)}."
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
        msg = f"measures is a list such as ['rmse', 'ndcg@10'], not {shown(measures)}."
        raise InvalidInputError(msg)
    found: dict[str, Measure] = {}
    for given in measures:
        name = given.strip().lower() if isinstance(given, str) else ""
        one = known[name] if known and name in known else _resolved(given)
        if not _is_same(found.setdefault(one.name, one), one):
            msg = (
                f"measures has two that are called {one.name!r}. Name one of them otherwise: "
                "make_measure(function, 'another name')."
            )
            raise InvalidInputError(msg)
    return list(found.values())


def _is_same(one: Measure, other: Measure) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # keywords that are arrays, which have no one truth
        return False


def _resolved(one: Any) -> Measure:
    if isinstance(one, Measure):
        return one
    if isinstance(one, Metric):
        return _ranking(one, "rated")
    if isinstance(one, str):
        text, colon, protocol = one.strip().lower().partition(":")
        if text in ACCURACY and not colon:
            return ACCURACY[text]
        if colon and protocol not in _PROTOCOLS:
            msg = f"{one!r}: after the colon stands what is ranked. {nearest(protocol, _PROTOCOLS)}"
            raise InvalidInputError(msg)
        return _ranking(_metric(text, one), protocol or "rated")
    if isinstance(one, type) and issubclass(one, Metric):
        msg = f"{one.__name__} is a class of metrics; one of them is {one.__name__}(10)."
        raise InvalidInputError(msg)
    if callable(one):
        return make_measure(one)
    msg = (
        "A measure is a name such as 'rmse' or 'ndcg@10', a function, or make_measure(...), "
        f"not {shown(one)}."
    )
    raise InvalidInputError(msg)


def _metric(text: str, given: str) -> Metric:
    """Return the metric of that name; Surprise's are among those that may have been meant."""
    name = text.partition("@")[0].partition("(")[0]
    try:
        return parse(text)[0]
    except UnknownMetricError:
        msg = f"No measure is named {given!r}. {nearest(name, {*METRICS, *ACCURACY})}"
        raise UnknownMetricError(msg) from None


def _ranking(metric: Metric, protocol: str) -> Measure:
    if not metric.orders:
        msg = f"{metric} compares ratings and ranks nothing: ask for 'rmse' or 'mae' by name."
        raise InvalidInputError(msg)
    if metric.k is None and metric.cutoff == "usual":
        msg = f"{metric} needs a cutoff here: write '{metric}@10', for instance."
        raise InvalidInputError(msg)
    name = str(metric) if protocol == "rated" else f"{metric}:{protocol}"
    return Measure(name, greater_is_better=True, metric=metric, protocol=protocol)
