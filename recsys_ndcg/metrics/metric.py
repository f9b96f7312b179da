"""What a metric is: a numerator and a denominator per user, and a name that reads back."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.convention.metric_names import ALSO_CALLED, bare, offered, plainly
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, as_float, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking.ranking import Ranking

#: The choices that decide which rows there are and which users count, for every metric.
ROWS_AND_USERS = frozenset(
    {
        "unlabelled",
        "unlisted",
        "impossible",
        "duplicates",
        "short_list",
        "undefined",
        "missing_user",
        "mean_over",
    }
)
#: With those by which the order of a list comes about.
ORDER = ROWS_AND_USERS | {"ties", "tie_tolerance"}
#: And what an item is worth in DCG and its kin.
GAINS = ORDER | {"gain"}

_WORDS = {"None": None, "True": True, "False": False}
_PLAIN = re.compile(r"[\w.+-]*")  # what a name can hold and read back


@dataclass(frozen=True)
class Metric:
    """A score of each user's list: numerator over denominator, undefined where that is 0.

    Parameters
    ----------
    k : int, optional
        How many of the first items count, at least 1; all of them without it.

    Raises
    ------
    InvalidInputError
        `k` is not a whole number of at least 1. Nothing is raised while scoring: what cannot be
        computed is said beforehand, by `objection` and `tie_objection`.

    Notes
    -----
    `numerator` and `denominator` take a `Ranking` and return float64 arrays of shape (n_users,).
    Under tied estimates the numerator is its expectation over all orders of the ties; the
    denominator does not depend on the order. The dataset's mean is over users, its pooled score
    is the sum of the numerators over the sum of the denominators. Tables are added up by
    `recsys_ndcg.arrays.row_sums`: ``sum`` adds in an order that depends on the width of a table,
    so that a last digit would depend on the longest list beside a user's own.
    """

    #: Its name, in lower case, and what else people type for it: without capitals and underscores,
    #: which are overlooked.
    name: ClassVar[str]
    also_called: ClassVar[tuple[str, ...]] = ()
    #: Whether it must know which items are relevant, and whether it reads gains.
    needs_threshold: ClassVar[bool] = False
    uses_gains: ClassVar[bool] = False
    #: The fields of `Convention` that can move its number: all of them, unless it says so. The
    #: threshold is read where `needs_threshold` or a choice that is read asks for it.
    reads: ClassVar[frozenset[str]] = frozenset(one.name for one in fields(Convention))
    #: By which rule it breaks ties, whatever the convention says; None where it obeys that.
    own_ties: ClassVar[str | None] = None
    #: Whether the best order of a list is that with the best items first.
    best_first: ClassVar[bool] = True
    #: Whether what there is to collect hangs on which items are in the list, and not on labels and
    #: the length alone: then drawn lists have no exact mean. Of somebody's own, None means unknown.
    within_list: ClassVar[bool | None] = None
    #: "usual": a bare name takes every k of k=; "possible": it stands alone; "none": no k at all
    cutoff: ClassVar[str] = "usual"
    #: Whether the order of a list moves it, it lies between 0 and 1, and more of it is better.
    orders: ClassVar[bool] = True
    greater_is_better: ClassVar[bool] = True
    bounded: ClassVar[bool] = True

    k: int | None = None

    def __post_init__(self) -> None:
        """Refuse a cutoff that is not one."""
        object.__setattr__(self, "k", checked_k(self.k))
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, str) and not _PLAIN.fullmatch(value):
                msg = f"{self.name}: {one.name} may hold letters, digits and _.+- , not {value!r}."
                raise InvalidInputError(msg)
            # so that a name reads back, and equal ones are equal
            if isinstance(value, Real) and not isinstance(value, int | np.integer):
                value = as_float(value)
            elif isinstance(value, np.generic):
                value = value.item()
            object.__setattr__(self, one.name, value)
        if self.k is not None and self.cutoff == "none":
            msg = f"{self.name} has no cutoff; ask for {self.name!r}, not '{self.name}@{self.k}'."
            raise InvalidInputError(msg)

    def __str__(self) -> str:
        """Return the name that `parse` reads back: ``ndcg@10``."""
        given = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if one.name != "k" and getattr(self, one.name) != one.default
        ]
        options = f"({','.join(given)})" if given else ""
        return self.name + options + (f"@{self.k}" if self.k else "")

    @property
    def origin(self) -> str:
        """Where a metric of somebody's own comes from, ``module:name``; nothing for those here."""
        kind = type(self)
        ours = kind.__module__.startswith("recsys_ndcg.")
        return "" if ours else f"{kind.__module__}:{kind.__qualname__}"

    @property
    def depth(self) -> int | None:
        """How many ranks the metric reads; None means all."""
        return self.k

    def fingerprinted(self, ranks: int) -> Floats | None:  # noqa: ARG002 - some need it
        """Return numbers by which two metrics of one name are told apart, if it has any."""
        return None

    def numerator(self, ranking: Ranking) -> Floats:
        """Return what the user's list collects."""
        raise NotImplementedError

    def denominator(self, ranking: Ranking) -> Floats:
        """Return what there was to collect."""
        raise NotImplementedError

    def objection(self, convention: Convention, longest: int) -> str:  # noqa: ARG002 - some need it
        """Return why there is no such number under a convention; nothing if there is one.

        Parameters
        ----------
        convention : Convention
            Every choice.
        longest : int
            How many ranks the longest list has.
        """
        return ""

    def tie_objection(self, convention: Convention) -> str:  # noqa: ARG002 - some need it
        """Return why ties leave this metric's score undefined; "" if they do not.

        Then its mean over their orders is not exact, and which order is the best is not known:
        chance, best, worst, adjusted and the tie range are NaN.
        """
        return ""

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator under random order, NaN if unknown."""
        return np.full(len(ranking.n_items), np.nan)

    def score(self, ratio: Floats) -> Floats:
        """Turn numerator over denominator into the score."""
        return ratio


def checked_k(k: Any) -> int | None:
    """Return a cutoff as an int, None for none.

    Raises
    ------
    InvalidInputError
        It is not a whole number of at least 1.
    """
    if k is None:
        return None
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= sys.maxsize:
        msg = f"k must be a whole number of at least 1, not {shown(k)}."
        raise InvalidInputError(msg)
    return int(k)


METRICS: dict[str, type[Metric]] = {}
_Class = TypeVar("_Class", bound=type[Metric])
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FORM = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*)(\((?P<options>[^()]*)\))?(@(?P<k>[^@]*))?")
_ENTRY_POINTS = "recsys_ndcg.metrics"


def register(metric: _Class) -> _Class:
    """Make a metric known by its name.

    Raises
    ------
    InvalidInputError
        The name cannot be read back, or is that of another metric. The same class may be made
        again, as where a cell of a notebook is run twice.
    """
    name = getattr(metric, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = (
            f"A metric needs a name in lower case, of letters, digits and _, such as 'early': "
            f"{metric.__name__} has {shown(name)}."
        )
        raise InvalidInputError(msg)
    check_free(metric)
    METRICS[name] = metric
    ALSO_CALLED.update(dict.fromkeys((name, *metric.also_called), name))
    return metric


def check_free(metric: type[Metric]) -> None:
    """Refuse a metric under the name of another.

    Raises
    ------
    InvalidInputError
        The name, or one that leads to another metric, is taken.
    """
    for known in METRICS.values():
        same = (known.__module__, known.__qualname__) == (metric.__module__, metric.__qualname__)
        theirs = {known.name, *known.also_called}
        for name in (metric.name, *metric.also_called):
            if not same and (name in theirs or plainly(name) in theirs):
                msg = (
                    f"The name {name!r} is taken by {known.__module__}.{known.__qualname__}: "
                    f"give {metric.__name__} another name."
                )
                raise InvalidInputError(msg)


def parse(text: str, ks: Iterable[int | None] = (None,)) -> list[Metric]:
    """Return the metrics that a name stands for: one, or one per k for a name without ``@k``.

    The names that people type lead to ours: they stand in `Metric.also_called`.

    Raises
    ------
    UnknownMetricError
        There is no such metric; the nearest name is given.
    InvalidInputError
        The cutoff or the options cannot be read.

    Examples
    --------
    >>> [str(metric) for metric in parse("NDCG", [5, 10])]
    ['ndcg@5', 'ndcg@10']
    >>> str(parse("rbp(0.9)@10")[0]), str(parse("MAP@10")[0])
    ('rbp(p=0.9)@10', 'ap@10')
    """
    found = _FORM.fullmatch(text.strip())
    name = (found["name"] if found else text).lower()
    kind = _known(name) if found else None
    if found is None or kind is None:
        msg = f"No metric is named {text!r}. {nearest(name, names_known())}"
        raise UnknownMetricError(msg)
    options = {} if found["options"] is None else _options(kind, found["options"], text)
    if found["k"] is not None:
        return [kind(k=_cutoff(found["k"], text), **options)]
    return [kind(k=k, **options) for k in (ks if kind.cutoff == "usual" else (None,))]


def _options(kind: type[Metric], text: str, where: str) -> dict[str, Any]:
    """Return the parameters in brackets: by name, or the only one of a metric by itself."""
    own = [one.name for one in fields(kind) if one.name != "k"]
    if not own:
        msg = f"{where!r}: {kind.name} has no option in brackets; ask for '{kind.name}@10'."
        raise InvalidInputError(msg)
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and len(own) == 1:
            name, value = own[0], name
        name = next((one for one in own if one.lower() == name.lower()), name)
        if name not in own or name in found:
            example = ",".join(f"{one}=..." for one in own)
            msg = f"{where!r}: write the parameters of {kind.name} as '{kind.name}({example})@10'."
            raise InvalidInputError(msg)
        found[name] = _value(value, where)
    return found


def _cutoff(text: str, where: str) -> int:
    try:
        if text.isascii():
            return int(text)
    except ValueError:  # of more digits than Python reads, too
        pass
    msg = f"{shown(where)}: {shown(text)} is not a number; write a metric as 'ndcg@10'."
    raise InvalidInputError(msg)


def _value(text: str, where: str) -> Any:
    """Return what Python wrote as None, True, False, a number or a text in quotes."""
    if text in _WORDS:
        return _WORDS[text]
    quoted = re.fullmatch(rf"(['\"])({_PLAIN.pattern})\1", text)
    if quoted:
        return quoted[2]
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    msg = f"{where!r}: {text!r} is not a number; write a metric as 'ndcg@10'."
    raise InvalidInputError(msg)


def _known(name: str) -> type[Metric] | None:
    """Return the metric of that name, or the one of ours that people call so.

    A package's comes before: one that takes a name which leads to ours is refused, not hidden.
    """
    if name in METRICS:
        return METRICS[name]
    for point in offered(_ENTRY_POINTS):
        if point.name.lower() == name:
            try:
                kind = point.load()
            except Exception as error:  # a package of somebody else's may fail in any way
                msg = f"The metric {name!r} of {point.value} cannot be loaded: {error!r}."
                raise InvalidInputError(msg) from error
            if not (isinstance(kind, type) and issubclass(kind, Metric) and kind.name == name):
                msg = f"{point.value} is offered as the metric {name!r}, but is {shown(kind)}."
                raise InvalidInputError(msg)
            return register(kind)
    return METRICS.get(bare(name))


def names_known() -> frozenset[str]:
    """Return the names of all metrics, those that installed packages offer among them.

    To look for those takes a while: who has many names to look up asks once.
    """
    return frozenset({*METRICS, *(one.name.lower() for one in offered(_ENTRY_POINTS))})
