"""The door for metrics of somebody's own: a function of ranks, a function of lists, or a class."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Real
from typing import Any, ClassVar, overload

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import Convention, compute_weights
from recsys_ndcg.errors import InvalidInputError, escape_invisible, quote
from recsys_ndcg.metrics.metric import GAINS, ORDER, Linear, Metric
from recsys_ndcg.metrics.ndcg import MAX_PLACES, sum_top_grades
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking, weighted_sum

_CHOICES = {
    "of": ("relevance", "gain"),
    "over": ("ideal", "weights", "nothing"),
    # rules that put each item in one place, whatever it is worth
    "ties": ("input", "item_asc", "item_desc", "text_asc", "text_desc"),
    "bounded": (True, False),
}


class ByRank(Linear):
    """A weighted sum over ranks, of relevance or gain, over what `over` names.

    The weights are those that `function` gives an array of ranks.
    """

    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[str] = "ranks"
    options: ClassVar[tuple[str, ...]] = ("of", "over")
    over: ClassVar[str] = "ideal"
    within_list: ClassVar[bool | None] = False

    @staticmethod
    def body_of(of: str = "relevance", over: str = "ideal") -> dict[str, Any]:
        """Return what a class is to say for these options."""
        by_gain = of == "gain"
        return {
            "worth": of,
            "over": over,
            "reads": GAINS | {"ideal", "max_grade"} if by_gain else ORDER,
            "needs_threshold": not by_gain,
            "uses_gains": by_gain,
            "bounded": over == "ideal" or (over == "weights" and not by_gain),
        }

    def weights(self, ranking: Ranking) -> Floats:
        """Return those of the first ranks."""
        return ranking.get_or_compute(self, lambda: self._weights(ranking.width(self.k)))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the same sum over the ideal list, the sum of the weights of all places, or 1."""
        if self.over == "nothing":
            return super().denominator(ranking)
        if self.over == "ideal" and self.worth == "gain":
            if ranking.convention.ideal == "max":
                return sum_top_grades(ranking, self.k, self._weights)
            return weighted_sum(ranking.ideal_gain, self.weights(ranking))
        if self.over == "ideal":
            places = ranking.n_relevant.astype(np.int64)
        else:
            places = ranking.n_items if self.k is None else np.full(len(ranking.n_items), self.k)
        most = int(places.max(initial=1)) if self.k is None else self.k
        so_far = np.append(0.0, np.cumsum(self._weights(most)))
        total: Floats = so_far[np.minimum(places, most)]
        return total

    def objection(self, convention: Convention, longest: int) -> str:  # noqa: ARG002
        """Return why the function gives no usable weights."""
        if self.k is not None and self.k > MAX_PLACES:
            return f"{self} adds up the weights of all k places; choose k up to {MAX_PLACES}."
        try:
            self._weights(longest if self.k is None else self.k)
        except InvalidInputError as error:
            return str(error)
        return ""

    def compute_fingerprint(self, ranks: int) -> Floats:
        """Return weights; without a cutoff as many whatever the data, if the function has them."""
        if self.k is None:
            with suppress(InvalidInputError):
                return self._weights(1 << max(ranks - 1, 1023).bit_length())
        return self._weights(ranks)

    def _weights(self, ranks: int) -> Floats:
        named = f"The metric {self.name!r}"
        try:
            return compute_weights(self.function, ranks, named)
        except InvalidInputError as error:
            if error.__cause__ is None:
                raise
            msg = f"{error} One made of a function of lists says ties=..."
            raise InvalidInputError(msg) from error
        except Exception as error:
            msg = f"{named} fails for an array of ranks: {error!r}."
            raise InvalidInputError(msg) from error


class OfList(Metric):
    """What a function says of one user's ranked list; its mean over users is pooled, too."""

    cutoff: ClassVar[str] = "possible"
    reads: ClassVar[frozenset[str]] = ORDER
    takes: ClassVar[str] = "a list"
    options: ClassVar[tuple[str, ...]] = ("ties", "bounded")
    function: ClassVar[Callable[..., Any]]

    @staticmethod
    def body_of(ties: str, *, bounded: bool = False) -> dict[str, Any]:
        """Return what a class is to say for these options."""
        return {"own_ties": ties, "bounded": bounded}

    def numerator(self, ranking: Ranking) -> Floats:
        """Return what the function says, 0 where that is NaN.

        Raises
        ------
        InvalidInputError
            It fails, or says something that is no number: the user is named.
        """
        return np.nan_to_num(self._said(ranking))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, and 0 where the function says NaN: the score is undefined there."""
        return (~np.isnan(self._said(ranking))).astype(np.float64)

    def _said(self, ranking: Ranking) -> Floats:
        def said() -> Floats:
            asked = np.ones(len(ranking.n_items), dtype=bool)  # but about those who do not count
            if ranking.convention.missing_user == "skip":
                asked &= ~ranking.missing
            if self.k is not None and ranking.convention.short_list == "drop":
                asked &= ranking.n_items >= self.k
            lists = zip(asked.tolist(), *ranking.split_lists(self.k), strict=True)
            return np.array([self._of(*own) if one else 0.0 for one, *own in lists])

        return ranking.get_or_compute(self, said)

    def _of(self, user: Any, estimated: Floats, true: Floats, items: Any) -> float:
        try:
            value = self.function(estimated, true, items)
        except Exception as error:
            empty = "" if len(true) else ", whose list is empty"
            msg = f"The metric {self.name!r} fails for user {quote(user)}{empty}: {error!r}."
            raise InvalidInputError(msg) from error
        if not isinstance(value, Real | np.bool_) or math.isinf(value):
            msg = (
                f"The metric {self.name!r} must give a number for each list, or NaN where there is "
                f"none; for user {quote(user)} it gave {quote(value)}."
            )
            raise InvalidInputError(msg)
        return float(value)


@overload
def metric(made: Callable[..., Any] | type[Metric], /) -> type[Metric]: ...
@overload
def metric(
    *,
    name: str | None = None,
    of: str | None = None,
    over: str | None = None,
    ties: str | None = None,
    bounded: bool | None = None,
) -> Callable[[Callable[..., Any]], type[Metric]]: ...
def metric(  # noqa: PLR0913 - the kinds of metric
    made: Callable[..., Any] | type[Metric] | None = None,
    /,
    *,
    name: str | None = None,
    of: str | None = None,
    over: str | None = None,
    ties: str | None = None,
    bounded: bool | None = None,
) -> Any:
    r"""Make a metric of one's own of a function or a class, known by its name.

    Of a function of ranks, fast and exact under ties:

    .. math:: \frac{\sum_{r \le k} w(r)\,a(r)}{\sum_{r \le k} w(r)\,a^*(r)}

    with a(r) the relevance or gain at rank r and a* that of the ideal list: all relevant items
    first, or the gains by `Convention.ideal`. With `ties`, of a function of one user's list,
    called once for each user who counts, also one whose list is empty. Or of a class of metrics,
    which has a numerator and a denominator.

    Parameters
    ----------
    made : callable, or a subclass of `Metric`
        ``w(rank)``: takes an array of ranks from 1 on, and gives a weight for each, at least 0
        and never increasing. With `ties`: ``f(estimated, true, items)``, arrays in ranked order
        (true is NaN where unlabelled), cut at k; gives a number, NaN where there is none.
    name : str, optional
        As in ``"early@10"``; that of the function by default.
    of : {'relevance', 'gain'}
        What the weights weigh.
    over : {'ideal', 'weights', 'nothing'}
        What the sum is divided by: the same sum over the ideal list, as NDCG; the sum of the
        weights of all k places, as precision; or 1, as DCG.
    ties : {'input', 'item_asc', 'item_desc', 'text_asc', 'text_desc'}
        For a function of a list: in which order equal estimates stand, whatever the convention
        says. A function has no exact mean over all their orders.
    bounded : bool
        For a function of a list: whether it lies between 0 and 1. False by default.

    Returns
    -------
    type of Metric
        ``early(10)`` is ``"early@10"``. As with any class, pickles (and so ``n_jobs=2``) find it
        where it was defined, under the name of the function: decorate, or assign it to that.

    Raises
    ------
    InvalidInputError
        The name is taken, or an option is none of those.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> @rn.metric
    ... def early(rank):
    ...     return 0.5 ** (rank - 1)
    >>> @rn.metric(ties="item_asc")
    ... def spread(estimated, true, items):
    ...     return true.max() - true.min()
    >>> rows = [("ann", "a", 3.0, 2), ("ann", "b", 2.0, 5), ("ann", "c", 1.0, 4)]
    >>> dict(rn.evaluate(rows, metrics=[early(2), "spread@2"], threshold=4))
    {'early@2': 0.3333333333333333, 'spread@2': 3.0}
    """
    given = {"name": name, "of": of, "over": over, "ties": ties, "bounded": bounded}
    options = {option: value for option, value in given.items() if value is not None}
    return (lambda made: _made(made, dict(options))) if made is None else _made(made, options)


def _made(made: Any, options: dict[str, Any]) -> type[Metric]:
    if isinstance(made, type) and issubclass(made, Metric):
        if options:
            msg = f"A class of metrics says all by itself: leave out {', '.join(options)}."
            raise InvalidInputError(msg)
        return register_metric(made)
    if not callable(made) or isinstance(made, type):
        msg = f"A metric is made of a function or a subclass of Metric, not of {quote(made)}."
        raise InvalidInputError(msg)
    for option, known in _CHOICES.items():
        if option in options and options[option] not in known:
            words = ", ".join(map(repr, known))
            msg = f"{option} must be one of {words}, not {quote(options[option])}."
            raise InvalidInputError(msg)
    called = escape_invisible(
        getattr(made, "__name__", type(made).__name__)
    )  # what a class can be called
    body = {
        "__doc__": made.__doc__,
        "__module__": made.__module__ or "__main__",
        "__qualname__": escape_invisible(getattr(made, "__qualname__", called)),
        "name": options.pop("name", called.lower()),
        "function": staticmethod(made),
    }
    kind: type[ByRank | OfList] = OfList if "ties" in options else ByRank
    if others := [option for option in options if option not in kind.options]:
        msg = f"A metric by a function of {kind.takes} has no option {', '.join(others)}."
        raise InvalidInputError(msg)
    return register_metric(type(called, (kind,), body | kind.body_of(**options)))
