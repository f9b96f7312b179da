"""Metric: a numerator and a denominator per user, and a name that can be parsed."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.convention import Convention, compute_relevance
from recsys_ndcg.errors import InvalidInputError, as_float, check_choice, quote
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking, weighted_sum

#: The choices about rows and users, which every metric reads.
ROWS_AND_USERS = frozenset({
    "unlabelled", "unlisted", "impossible", "duplicates", "short_list", "undefined", "missing_user",
    "mean_over",
})  # fmt: skip
#: These, and the choices about the order of a list.
ORDER = ROWS_AND_USERS | {"ties", "tie_tolerance"}
#: These, and the gain of an item.
GAINS = ORDER | {"gain"}

PLAIN = re.compile(r"[\w.+-]*")  # text that a name can contain and `parse_metrics` can read


def choice(*values: str | float) -> Any:
    """Declare a choice of a metric by its values, the default first.

    The field is None where nothing is chosen. A name that Python keeps for itself has a final
    underscore, ``as_``, which is not written: ``gini(as=equality)@10``.
    """
    return field(default=None, metadata={"values": values})


@dataclass(frozen=True)
class Metric:
    """A score of each user's list: numerator / denominator, undefined if the denominator is 0.

    Parameters
    ----------
    k : int, optional
        The number of ranks that count, at least 1; by default all.

    Raises
    ------
    InvalidInputError
        `k` is not a whole number of at least 1. Scoring does not raise: what cannot be computed
        is known beforehand from `list_requirements`.

    Notes
    -----
    `numerator` and `denominator` take a `Ranking` and return float64 arrays of shape (n_users,).
    Under tied estimates the numerator is its expectation over all orders of the ties; the
    denominator does not depend on the order. The dataset's mean is over users, its pooled score
    is the sum of the numerators over the sum of the denominators. Sum tables with
    `recsys_ndcg.arrays.row_sums`: the order of additions in ``sum`` depends on the width of the
    table, so that the last digit would depend on the longest list of all users.
    """

    #: Its name in lower case, and its aliases in lower case without underscores, which are ignored.
    name: ClassVar[str]
    also_called: ClassVar[tuple[str, ...]] = ()
    #: Whether it needs to know which items are relevant, and whether it reads gains.
    needs_threshold: ClassVar[bool] = False
    uses_gains: ClassVar[bool] = False
    #: The fields of `Convention` that can change its number, by default all about accuracy. It also
    #: reads the threshold, if `needs_threshold` is true or one of these choices needs it.
    reads: ClassVar[frozenset[str]] = frozenset(Convention.field_names()) - frozenset(
        Convention.BEYOND_ACCURACY
    )
    #: What it needs to know besides the lists (`Background`): "items" (lists of recommended items,
    #: not a user's own test ratings), "train", "catalogue", "features", "base", "groups".
    needs: ClassVar[frozenset[str]] = frozenset()
    #: Sources that can change its number, but need not be given.
    needs_if_known: ClassVar[frozenset[str]] = frozenset()
    #: The items of a user that its values depend on: "history" or "base" (`Background`).
    marks: ClassVar[tuple[str, ...]] = ()
    #: Whether its value under ties is the mean over their orders; else it is the value of the
    #: expected exposures, and its signature says so.
    is_linear: ClassVar[bool] = True
    #: Whether it is a score of each user's list, or of all lists together (`OverLists`).
    per_user: ClassVar[bool] = True
    #: Whether weights of labels can multiply its gains or relevance (or it reads neither), and
    #: whether its denominator then has them, too.
    takes_weights: ClassVar[bool] = False
    weighs_denominator: ClassVar[bool] = False
    #: Its own rule for ties; None if it uses the convention's.
    own_ties: ClassVar[str | None] = None
    #: Whether the best order of a list has the best items first.
    best_first: ClassVar[bool] = True
    #: Why its mean over random orders is not known; "" if it is.
    no_chance: ClassVar[str] = ""
    #: Whether all lists of a user with the same length have the same denominator, whatever their
    #: items: only then is chance in a catalogue exact. False: it depends on the items, but not on
    #: their order. None: yes; but in a user's metric unknown, so that it has no chance.
    same_denominator: ClassVar[bool | None] = None
    #: "usual": a name without @k takes every k of k=; "possible": it takes none; "none": never a k
    cutoff: ClassVar[str] = "usual"
    #: Whether it depends on the order of a list; whether higher is better; whether it is in [0, 1],
    #: or at least never negative.
    depends_on_order: ClassVar[bool] = True
    greater_is_better: ClassVar[bool] = True
    bounded: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False

    #: The column of the features that it reads, a field in metrics that read one.
    column: ClassVar[str] = ""

    k: int | None = None

    def __post_init__(self) -> None:
        """Check and normalise the parameters."""
        object.__setattr__(self, "k", check_k(self.k))
        for one in fields(self):
            value, name, values = getattr(self, one.name), one.name.rstrip("_"), _get_values(one)
            if values and value is not None:
                check_choice(f"{self.name}: {name}", value, values)
                value = value if isinstance(value, str) else float(value)
            if isinstance(value, str) and not PLAIN.fullmatch(value):
                msg = (
                    f"{self.name}: {name} may have letters, digits and _.+- , not {value!r}. "
                    "Rename it."
                )
                raise InvalidInputError(msg)
            # Python numbers, so that the name can be parsed and equal parameters have equal names
            if isinstance(value, Real) and not isinstance(value, int | np.integer):
                value = as_float(value)
            elif isinstance(value, np.generic):
                value = value.item()
            object.__setattr__(self, one.name, value)
        if self.k is not None and self.cutoff == "none":
            msg = f"{self.name} has no cutoff; use {self.name!r}, not '{self.name}@{self.k}'."
            raise InvalidInputError(msg)

    @property
    def needs_labels(self) -> bool:
        """Whether it compares the lists with true values."""
        return not self.needs or self.needs_threshold or self.uses_gains

    def __str__(self) -> str:
        """Return the name with all parameters that are not defaults; `parse_metrics` reads it."""
        texts = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "k" and value != one.default:
                # without quotation marks, as people write them
                is_text = isinstance(one.default, str) or bool(_get_values(one))
                texts[one.name.rstrip("_")] = str(value) if is_text else repr(value)
        first = [texts.pop(name) for name in ("column",) if name in texts]
        options = ",".join(first + [f"{name}={text}" for name, text in texts.items()])
        return self.name + (f"({options})" if options else "") + (f"@{self.k}" if self.k else "")

    @classmethod
    def find_choices(cls) -> dict[str, tuple[str | float, ...]]:
        """Return the values of each choice that it declares, the default first."""
        return {name: _get_values(one) for name, one in cls._find_fields().items()}

    @classmethod
    def _find_fields(cls) -> dict[str, Field[Any]]:
        return {one.name.rstrip("_"): one for one in fields(cls) if _get_values(one)}

    @property
    def choices(self) -> dict[str, str | float]:
        """The choices that it declares, and their values."""
        return {name: values[0] for name, values in self.find_choices().items()} | self._chosen

    @property
    def _chosen(self) -> dict[str, str | float]:
        chosen = {name: getattr(self, one.name) for name, one in self._find_fields().items()}
        return {name: value for name, value in chosen.items() if value is not None}

    def with_choices(self, choices: Mapping[str, Any]) -> Self:
        """Return the metric with some of its choices replaced."""
        changes, declared = {}, self._find_fields()
        for name, value in choices.items():
            is_default = value == _get_values(declared[name])[0]
            changes[declared[name].name] = None if is_default else value
        return replace(self, **changes)

    def with_defaults(self, choices: Mapping[str, Any]) -> Self:
        """Return the metric with some choices where nothing is chosen; others are ignored."""
        declared = self._find_fields()
        given = {name: value for name, value in choices.items() if name in declared}
        return self.with_choices({**given, **self._chosen}) if declared else self

    @property
    def custom_class(self) -> str:
        """The class of a user's metric, ``module:name``; "" for metrics of this package."""
        kind = type(self)
        is_built_in = kind.__module__.startswith("recsys_ndcg.")
        return "" if is_built_in else f"{kind.__module__}:{kind.__qualname__}"

    @property
    def depth(self) -> int | None:
        """The number of ranks that the metric reads; None for all."""
        return self.k

    def compute_fingerprint(self, ranks: int) -> Floats | None:
        """Return numbers that differ between two metrics of the same name, if there are any."""
        return None

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum that each user's list reaches."""
        raise NotImplementedError

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number that the numerator is divided by."""
        raise NotImplementedError

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs under a convention; lists that lack it are refused, with the reason.

        If it needs lists without ties, its mean over the orders of ties is not exact and the best
        order is unknown: chance, best, worst, adjusted and the tie range are NaN.
        """
        found: list[Requirement] = [Requirement("source", name) for name in sorted(self.needs)]
        if not self.best_first and convention.tie_rule.by == "grade":
            why = (
                f"{self} has no score under `ties={convention.ties!r}`: the {convention.ties} "
                "order of tied items depends on all of them together, and is not known. Choose "
                "`ties='expected'` or 'item_asc'."
            )
            found.append(Requirement("no ties", why=why))
        return [*found, Requirement("no chance", why=self.no_chance)] if self.no_chance else found

    def find_sources(self, convention: Convention) -> frozenset[str]:
        """Return what it needs to know besides the lists, under a convention."""
        needed = self.list_requirements(convention)
        return frozenset(one.of for one in needed if one.kind == "source")

    def find_tie_objection(self, convention: Convention) -> str:
        """Return why it has no score if items are tied; "" if it has one."""
        needed = self.list_requirements(convention)
        return next((one.why for one in needed if one.kind == "no ties"), "")

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator under random order, NaN if unknown."""
        return np.full(len(ranking.n_items), np.nan)

    def score(self, ratio: Floats) -> Floats:
        """Return the score for a ratio of numerator to denominator."""
        return ratio


def _get_values(one: Field[Any]) -> tuple[str | float, ...]:
    """Return the values of a choice; none for other parameters."""
    values: tuple[str | float, ...] = one.metadata.get("values", ())
    return values


class Linear(Metric):
    r"""A metric whose numerator is linear in the worth of the items.

    .. math:: \sum_{r \le k} w_r a(r)

    with a(r) the (expected) worth of the item at rank r and w the weights of the ranks. Its
    expectation under ties and its variance under random order are exact.
    """

    #: The worth of an item, as a table of the ranking: "gain", "relevance" or "labelled".
    worth: ClassVar[str] = "relevance"

    def weights(self, ranking: Ranking) -> Floats:
        """Return the weight of each of the first ranks, up to k and the width of the tables: 1.

        The shape is (n_ranks,), or (n_users, n_ranks) if users have different weights. Weights are
        at least 0, and never increase with the rank.
        """
        return np.ones(ranking.width(self.k))

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted sum."""
        return weighted_sum(getattr(ranking, self.worth), self.weights(ranking))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, so that the sum is the score."""
        return np.ones(len(ranking.n_items))

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        return ranking.deviation(self.worth, self.weights(ranking))


@dataclass(frozen=True, kw_only=True)
class SavedMetric(Metric):
    """A user's metric in a saved report: its name, and the attributes that show its scores.

    Parameters
    ----------
    k : int, optional
        Its cutoff.
    text : str
        Its name with the cutoff.
    bounded, depends_on_order, greater_is_better : bool
        As in `Metric`.
    """

    text: str = ""
    bounded: bool = True  # type: ignore[misc] # a field here, a class attribute in Metric
    depends_on_order: bool = True  # type: ignore[misc]
    greater_is_better: bool = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Keep the text as it is."""

    def __str__(self) -> str:
        """Return the name."""
        return self.text


def weigh_by_patience(n_ranks: int, convention: Convention, patience: float = 1.0) -> Floats:
    """Return patience^(r-1) for each of the first ranks: the convention's, else the given one.

    Examples
    --------
    >>> weigh_by_patience(3, Convention(patience=0.5))
    array([1.  , 0.5 , 0.25])
    """
    base = patience if convention.patience is None else convention.patience
    return np.asarray(base ** np.arange(n_ranks, dtype=np.float64))


def find_relevant(ranking: Ranking) -> tuple[Positions, Positions]:
    """Return user and item of all relevant items, in the list or not."""
    lists = ranking.lists
    listed = ranking.graded.compute_relevance(ranking.threshold) > 0
    user, item = lists.user_of_row[listed], np.asarray(lists.item_codes)[listed].astype(np.int64)
    unlisted = compute_relevance(lists.unlisted["true"], ranking.threshold) > 0
    more = np.asarray(lists.unlisted["item"])[unlisted]
    return np.append(user, lists.user_of_label[unlisted]), np.append(item, more)


def check_k(k: Any) -> int | None:
    """Check a cutoff, and return it as an int or None.

    Raises
    ------
    InvalidInputError
        It is not a whole number of at least 1.
    """
    if k is None:
        return None
    is_whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not is_whole or not 1 <= k <= sys.maxsize:
        msg = f"`k` must be a whole number of at least 1, not {quote(k)}."
        raise InvalidInputError(msg)
    return int(k)
