"""User-defined metrics: a function of ranks, a function of a list, or a class."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Real
from typing import Any, ClassVar, overload

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import TIE_RULES, Convention, compute_weights
from recsys_ndcg.errors import InvalidInputError, escape_invisible, quote
from recsys_ndcg.metrics.metric import GAINS, ORDER, Linear, Metric
from recsys_ndcg.metrics.ndcg import MAX_PLACES, sum_ideal_gains
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking

_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_CHOICES = {
    "of": ("relevance", "gain"),
    "over": ("ideal", "weights", "nothing"),
    # rules that give each item one place, whatever its grade
    "ties": tuple(name for name, rule in TIE_RULES.items() if rule.gives_each_item_a_place),
    "bounded": (True, False),
}


class ByRank(Linear):
    """A weighted sum of relevance or gain over ranks, divided as the option `over` specifies.

    `function` takes an array of ranks and returns their weights.
    """

    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[str] = "ranks"
    options: ClassVar[tuple[str, ...]] = ("of", "over")
    over: ClassVar[str] = "ideal"
    nonnegative: ClassVar[bool] = True
    same_denominator: ClassVar[bool | None] = True

    @staticmethod
    def make_attributes(of: str = "relevance", over: str = "ideal") -> dict[str, Any]:
        """Return the class attributes for these options."""
        is_gain = of == "gain"
        return {
            "worth": of,
            "over": over,
            "reads": GAINS | {"ideal", "max_grade"} if is_gain else ORDER,
            "needs_threshold": not is_gain,
            "uses_gains": is_gain,
            "bounded": over == "ideal" or (over == "weights" and not is_gain),
        }

    def weights(self, ranking: Ranking) -> Floats:
        """Return the weights of the first ranks."""
        return ranking.get_or_compute(self, lambda: self._compute_weights(ranking.width(self.k)))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the same sum over the ideal list, the sum of the weights of all places, or 1."""
        if self.over == "nothing":
            return super().denominator(ranking)
        if self.over == "ideal" and self.worth == "gain":
            return sum_ideal_gains(self, ranking, self._compute_weights)
        if self.over == "ideal":
            places = ranking.n_relevant.astype(np.int64)
        else:
            places = ranking.n_items if self.k is None else np.full(len(ranking.n_items), self.k)
        depth = int(places.max(initial=1)) if self.k is None else self.k
        sums = np.append(0.0, np.cumsum(self._compute_weights(depth)))
        return sums[np.minimum(places, depth)]

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: usable weights."""
        found = super().list_requirements(convention)
        if self.k is not None and self.k > MAX_PLACES:
            why = f"{self} adds up the weights of all k places; choose k up to {MAX_PLACES}."
            return [*found, Requirement("never", why=why)]
        return [*found, Requirement("weights", self._find_fault)]

    def _find_fault(self, ranks: int) -> str:
        """Return why the function gives no usable weights."""
        try:
            self._compute_weights(ranks)
        except InvalidInputError as error:
            return str(error)
        return ""

    def compute_fingerprint(self, ranks: int) -> Floats:
        """Return weights; without a cutoff, their number hardly depends on the data."""
        if self.k is None:
            with suppress(InvalidInputError):
                return self._compute_weights(1 << max(ranks - 1, 1023).bit_length())
        return self._compute_weights(ranks)

    def _compute_weights(self, ranks: int) -> Floats:
        name = f"The metric {self.name!r}"
        try:
            return compute_weights(self.function, ranks, name)
        except InvalidInputError as error:
            if error.__cause__ is None:
                raise
            msg = (
                f"{error} If it takes a user's list, not ranks, declare it with @metric(ties=...)."
            )
            raise InvalidInputError(msg) from error
        except Exception as error:
            msg = f"{name} fails for an array of ranks: {error!r}."
            raise InvalidInputError(msg) from error


class OfList(Metric):
    """The result of a function of one user's ranked list; the pooled score is its mean, too."""

    cutoff: ClassVar[str] = "possible"
    reads: ClassVar[frozenset[str]] = ORDER
    takes: ClassVar[str] = "a list"
    options: ClassVar[tuple[str, ...]] = ("ties", "bounded")
    function: ClassVar[Callable[..., Any]]

    @staticmethod
    def make_attributes(ties: str, *, bounded: bool = False) -> dict[str, Any]:
        """Return the class attributes for these options."""
        return {"own_ties": ties, "bounded": bounded}

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the function's results, 0 for NaN.

        Raises
        ------
        InvalidInputError
            The function fails, or returns no number; the message names the user.
        """
        return np.nan_to_num(self._score_users(ranking))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, and 0 for NaN, which means that the score is undefined."""
        return (~np.isnan(self._score_users(ranking))).astype(np.float64)

    def _score_users(self, ranking: Ranking) -> Floats:
        def score_users() -> Floats:
            counts = np.ones(len(ranking.n_items), dtype=bool)
            if ranking.convention.missing_user == "skip":
                counts &= ~ranking.missing
            if self.k is not None and ranking.convention.short_list == "drop":
                counts &= ranking.n_items >= self.k
            lists = zip(counts.tolist(), *ranking.split_lists(self.k), strict=True)
            return np.array([self._score_user(*args) if scored else 0.0 for scored, *args in lists])

        return ranking.get_or_compute(self, score_users)

    def _score_user(self, user: Any, estimated: Floats, true: Floats, items: Any) -> float:
        try:
            value = self.function(estimated, true, items)
        except Exception as error:
            hint = "" if len(true) else ", whose list is empty"
            msg = f"The metric {self.name!r} fails for user {quote(user)}{hint}: {error!r}."
            raise InvalidInputError(msg) from error
        if not isinstance(value, Real | np.bool_) or math.isinf(value):
            msg = (
                f"The metric {self.name!r} must give a number for each list, or NaN if there is "
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
    r"""Make and register a metric from a function or a class.

    From a function of ranks, fast and exact under ties:

    .. math:: \frac{\sum_{r \le k} w(r)\,a(r)}{\sum_{r \le k} w(r)\,a^*(r)}

    with a(r) the relevance or gain at rank r, and a* the same in the ideal list: all relevant items
    first, or the gains by `Convention.ideal`. With `ties`, from a function of one user's list,
    which is called once for each user who counts, also if the list is empty. Or from a subclass of
    `Metric`, which has a numerator and a denominator.

    Parameters
    ----------
    made : callable, or a subclass of `Metric`
        ``w(rank)``: takes an array of ranks from 1 on, and gives a weight for each, at least 0
        and never increasing. With `ties`: ``f(estimated, true, items)``, arrays in ranked order,
        cut at k (true is NaN for unlabelled items); gives a number, or NaN for no score.
    name : str, optional
        As in ``"early@10"``; by default the name of the function.
    of : {'relevance', 'gain'}
        The values that are weighted.
    over : {'ideal', 'weights', 'nothing'}
        The denominator: the same sum over the ideal list, as in NDCG; the sum of the weights of
        all k places, as in precision; or 1, as in DCG.
    ties : {'input', 'item_asc', 'item_desc', 'text_asc', 'text_desc'}
        For a function of a list: the order of equal estimates, instead of the convention's rule,
        because a function has no exact mean over all their orders.
    bounded : bool
        For a function of a list: whether its results are between 0 and 1. False by default.

    Returns
    -------
    type of Metric
        ``early(10)`` is ``"early@10"``. As with any class, pickles (and so ``n_jobs=2``) find it
        where it was defined, under the name of the function: decorate, or assign it to that.

    Raises
    ------
    InvalidInputError
        The name is taken, or an option has another value.

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
    if made is None:
        return lambda made: _make_metric(made, dict(options))
    return _make_metric(made, options)


def _check_parameters(function: Callable[..., Any], kind: type[ByRank | OfList]) -> None:
    """Raise if a function does not take what its kind of metric passes to it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C
        return
    by_place = [one for one in parameters if one.kind in {one.POSITIONAL_ONLY, _BY_PLACE}]
    n_needed = sum(one.default is one.empty for one in by_place)
    most = math.inf if any(one.kind is one.VAR_POSITIONAL for one in parameters) else len(by_place)
    n_passed = 3 if kind is OfList else 1
    if n_needed <= n_passed <= most:
        return
    name = getattr(function, "__name__", type(function).__name__)
    takes = f"{name} takes {n_needed} parameter{'' if n_needed == 1 else 's'}"
    msg = (
        f"{takes}, but a function of ranks takes one. A function of a user's list takes estimated, "
        "true and items, and needs the order of ties: @rn.metric(ties='item_asc')."
    )
    if kind is OfList:
        msg = (
            f"{takes}, but with ties= it is a function of a user's list and gets estimated, true "
            "and items. For a function of ranks leave out ties=."
        )
    raise InvalidInputError(msg)


def _make_metric(made: Any, options: dict[str, Any]) -> type[Metric]:
    if isinstance(made, type) and issubclass(made, Metric):
        if options:
            msg = f"A subclass of Metric takes no options: leave out {', '.join(options)}."
            raise InvalidInputError(msg)
        return register_metric(made)
    if not callable(made) or isinstance(made, type):
        msg = f"A metric is made from a function or a subclass of Metric, not from {quote(made)}."
        raise InvalidInputError(msg)
    for option, choices in _CHOICES.items():
        if option in options and options[option] not in choices:
            words = ", ".join(map(repr, choices))
            msg = f"{option} must be one of {words}, not {quote(options[option])}."
            raise InvalidInputError(msg)
    # a class cannot have invisible characters in its name
    class_name = escape_invisible(getattr(made, "__name__", type(made).__name__))
    attributes = {
        "__doc__": made.__doc__,
        "__module__": made.__module__ or "__main__",
        "__qualname__": escape_invisible(getattr(made, "__qualname__", class_name)),
        "name": options.pop("name", class_name.lower()),
        "function": staticmethod(made),
    }
    kind: type[ByRank | OfList] = OfList if "ties" in options else ByRank
    _check_parameters(made, kind)
    if unknown := [option for option in options if option not in kind.options]:
        names = f"option{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}"
        msg = f"A metric made from a function of {kind.takes} does not take the {names}."
        raise InvalidInputError(msg)
    return register_metric(type(class_name, (kind,), attributes | kind.make_attributes(**options)))
