"""Measurement: a metric under a convention, the definition of one column of scores."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from recsys_ndcg.background import SOURCES
from recsys_ndcg.convention import Convention, parse_metric_name
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts, GroupedLists, Objections, find_seen, format_rows
from recsys_ndcg.metrics import Metric, SavedMetric, parse_metrics

#: Choices that are not in `choices_key`: no ranking or metric reads them. `ties` is left out, too,
#: because it matters only if there are ties.
_NOT_IN_KEY = ("undefined", "mean_over", "duplicates", "ties")
_IN_KEY = [choice.name for choice in fields(Convention) if choice.name not in _NOT_IN_KEY]


@dataclass(frozen=True)
class Measurement:
    """The definition of one column of scores.

    Parameters
    ----------
    metric : Metric
        The metric.
    convention : Convention
        All choices.
    threshold : float, optional
        The least grade of a relevant item.
    all_tied : bool
        Whether all estimates of a list count as equal: ``ties="expected"`` is then random order,
        ``"worst"`` and ``"best"`` are the extreme orders of the list.
    unlabelled_as : float, optional
        The grade that unlabelled items get.
    short_below : int
        The least length of a list under ``short_list="drop"``.
    no_score_reason : str
        Why there is no score; the column is NaN then.
    is_weighted : bool
        Whether labels have weights.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> str(Measurement(rn.NDCG(10)))
    'ndcg@10'
    """

    metric: Metric
    convention: Convention = field(default_factory=Convention)
    threshold: float | None = None
    all_tied: bool = False
    unlabelled_as: float | None = None
    short_below: int = 0
    no_score_reason: str = ""
    is_weighted: bool = False

    def __post_init__(self) -> None:
        """Use the metric's own rule for ties, if it has one."""
        ties = self.metric.own_ties
        if ties is not None and self.convention.ties != ties:
            object.__setattr__(self, "convention", self.convention.replace(ties=ties))

    @classmethod
    def under(
        cls, convention: Convention, metric: Metric, threshold: float | None, short_below: int
    ) -> Measurement:
        """Return the measurement of a metric; a library's convention has choices of its own."""
        is_its = parse_metric_name((convention.preset_of or ("", ""))[1]) == metric.name
        metric = metric.fill_in(convention.own_choices if is_its else {})
        return cls(metric, convention, threshold, short_below=short_below)

    def __str__(self) -> str:
        """Return the name of the metric."""
        return str(self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Return what a saved file needs to show the scores, as JSON values; NaN is None."""
        metric = self.metric
        return {
            "k": metric.k,
            "bounded": self.is_bounded,
            "orders": metric.depends_on_order,  # the name in files
            "greater_is_better": metric.greater_is_better,
            "a_ratio": type(metric).score is Metric.score,  # whether the score is a quotient
            "undefined": None if np.isnan(self.score_if_undefined) else self.score_if_undefined,
            **({"weighted": True} if self.is_weighted else {}),
        }

    @classmethod
    def from_dict(cls, name: str, stored: Mapping[str, Any], names: frozenset[str]) -> Measurement:
        """Return the measurement of a saved column.

        If its metric is not registered, the saved scores can be shown, but nothing else computed.

        Parameters
        ----------
        name : str
            The metric's name.
        stored : mapping of str
            The result of `to_dict`.
        names : frozenset of str
            The names of registered metrics.

        Raises
        ------
        InvalidInputError
            The metric is not registered, and its scores are not quotients.
        KeyError, TypeError, ValueError
            The description is invalid.
        """
        if not name.isprintable():  # a crafted name could steer a terminal
            raise ValueError(name)
        undefined = stored["undefined"]
        rule = Convention(undefined="skip" if undefined is None else undefined)
        if re.split(r"\W", name, maxsplit=1)[0].lower() in names:
            with suppress(RecsysNdcgError):
                metric = parse_metrics(name)[0]
                if not stored["bounded"]:  # sums over lists
                    rule = rule.replace(list_over="one")
                return cls(metric, rule, is_weighted=stored.get("weighted", False))
        if not stored["a_ratio"]:
            msg = (
                f"{name} is not a built-in metric, and has its own formula for the score. Import "
                "the module that defines it before you load this file."
            )
            raise InvalidInputError(msg)
        metric = SavedMetric(
            stored["k"],
            text=name,
            bounded=stored["bounded"],
            depends_on_order=stored["orders"],
            # absent in the oldest reports that can still be read (format 4)
            greater_is_better=stored.get("greater_is_better", True),
        )
        return cls(metric, rule)

    def without_score(self, reason: str) -> Measurement:
        """Return the measurement without scores, for a reason."""
        return replace(self, no_score_reason=reason)

    def with_ties(self, ties: str) -> Measurement:
        """Return the measurement with another rule for ties, without a score if none is known."""
        has_score = self.has_known_tie_range if ties != "expected" else self.metric.own_ties is None
        if not has_score:
            return self.without_score(f"its score under ties={ties!r} is not known")
        return self.with_choices(ties=ties)

    @property
    def has_known_tie_range(self) -> bool:
        """Whether the range of the score over all orders of ties is known.

        It is if sorting tied items by grade gives the highest score, and the reverse the lowest.
        """
        metric = self.metric
        return (
            metric.own_ties is None
            and metric.best_first
            and not metric.tie_objection(self.convention)
        )

    def with_choices(self, **choices: Any) -> Measurement:
        """Return the measurement with other choices, of its convention or its metric."""
        own = {one: choices.pop(one) for one in choices.keys() & self.metric.choices.keys()}
        metric = self.metric.with_choices(own) if own else self.metric
        return replace(self, metric=metric, convention=self.convention.replace(**choices))

    @lazy_property
    def choices(self) -> dict[str, Any]:
        """The choices that can move the number, of the convention and of the metric."""
        kept = {*Convention.field_names()} - ({*Convention.BEYOND_ACCURACY} - self.metric.reads)
        read = {name: one for name, one in self.convention.choices.items() if name in kept}
        return read | self.metric.choices

    @property
    def is_bounded(self) -> bool:
        """Whether every score is in [0, 1]: no sums over a list, as under ``list_over="one"``."""
        reads, convention = self.metric.reads, self.convention
        if self.is_weighted and self.metric.needs_labels and not self.metric.weighs_denominator:
            return False
        return self.metric.bounded and not ("list_over" in reads and convention.list_over == "one")

    @property
    def is_nonnegative(self) -> bool:
        """Whether no score can be negative; sums and weighted forms of scores in [0, 1] cannot."""
        return self.metric.bounded or self.metric.nonnegative

    @property
    def kinds(self) -> dict[str, bool]:
        """Which bounds scores have, for the functions that compute intervals."""
        return {"bounded": self.is_bounded, "nonnegative": self.is_nonnegative}

    @property
    def score_if_undefined(self) -> float:
        """The score if the denominator is 0; NaN is left out of the mean."""
        rule = self.convention.undefined
        return np.nan if isinstance(rule, str) else rule

    @lazy_property
    def choices_key(self) -> Hashable:
        """A key of the choices that a ranking or a metric may read, except the rule for ties."""
        return self.convention.select_choices(*_IN_KEY)

    @lazy_property
    def sort_key(self) -> Hashable:
        """A key of the sort: measurements with equal keys share it."""
        if self.all_tied:
            return ("all tied", *self.rows_key)
        return ("estimated", *self.rows_key, self.convention.tie_tolerance)

    @lazy_property
    def rows_key(self) -> tuple[str, bool]:
        """A key of the rows that are ranked: `impossible`, and whether unlabelled rows are out."""
        is_filtered = self.convention.unlabelled == "filter" and self.unlabelled_as is None
        return self.convention.impossible, is_filtered

    @property
    def fails_under_ties(self) -> bool:
        """Whether there is no score if items are tied.

        The rule for ties then needs the mean over their orders, or their best or worst order, and
        the metric cannot compute it.
        """
        objection = self.metric.tie_objection(self.convention)
        return not self.convention.tie_rule.gives_each_item_a_place and bool(objection)

    def requires_no_ties(self, facts: Facts) -> bool:
        """Return whether ties can prevent the measurement.

        Any tie does if ties are broken by item and there are no ids. A tie in the first k does if
        the metric has no score under ties.
        """
        by_item = self.convention.tie_rule.is_by_item
        return not self.all_tied and (self.fails_under_ties or (by_item and not facts.has_items))

    def objection(self, facts: Facts, lists: GroupedLists | None = None) -> str:
        """Return why the measurement cannot be computed; "" if it can.

        Parameters
        ----------
        facts : Facts
            The facts of all the lists.
        lists : GroupedLists, optional
            The lists, for the first offending rows in the message.
        """
        return (
            self._background_objection(facts, lists)
            or self._list_objection(facts, lists)
            or self.find_weights_objection()
            or self._metric_objection(facts, lists)
        )

    def find_sources(self) -> frozenset[str]:
        """Return which of `SOURCES` can move the number, if they are known."""
        read = self.metric.find_needs(self.convention) | self.metric.needs_if_known
        if self.convention.mean_over == "train":
            read |= {"train"}
        return read

    def denominator_objection(self, facts: Facts, *, is_chosen: bool) -> str:
        """Return why the denominator may depend on the order, so that chance is unknown; "" if not.

        Parameters
        ----------
        facts : Facts
            The facts of all the lists.
        is_chosen : bool
            Whether lists are chosen from candidates: chance is the mean over all random choices,
            so the denominator must not depend on which items are chosen, either.
        """
        convention, metric = self.convention, self.metric
        is_built_in = str(type(metric).denominator.__module__).startswith("recsys_ndcg.")
        if metric.same_denominator is None and not is_built_in:
            return "its class does not declare same_denominator"
        has_ideal = metric.uses_gains and "ideal" in metric.reads
        varies = (
            metric.same_denominator is False
            or (has_ideal and convention.ideal == "local")
            or convention.unlabelled == "filter"
            or (convention.unlisted == "ignore" and facts.unlisted.values.size > 0)
            or (convention.impossible != "rank" and facts.impossible > 0)
        )
        return "its denominator depends on which items are drawn" if is_chosen and varies else ""

    def _list_objection(self, facts: Facts, lists: GroupedLists | None) -> str:
        """Return why these lists cannot be ranked for the metric; "" if they can."""
        is_catalogue = facts.is_catalogue
        if self.unlabelled_as is not None and is_catalogue:
            return "Unlabelled items of a catalogue are only counted: they cannot get a grade."
        if not self.metric.depends_on_order:
            if self.convention.impossible == "last" and facts.impossible:
                return (
                    f"impossible='last' lowers estimates, which {self} compares with ratings. "
                    "Choose impossible='rank' or 'drop'."
                )
            if facts.order_only or facts.protocol != "rated":
                return (
                    f"{self} compares estimates with ratings, but these lists hold ranks, or "
                    "scores that may be on another scale. Evaluate predictions of ratings."
                )
        limit = self.convention.recommend_from
        if limit is not None and "recommend_from" in self.metric.reads:
            # the plug-in's estimates of a catalogue are on the scale of the ratings
            is_other_scale = facts.protocol != "rated" and not is_catalogue
            if facts.order_only or is_other_scale:
                return (
                    f"recommend_from={limit!r} is a limit on the scale of the ratings, but these "
                    "lists hold ranks, or scores that may be on another scale. Leave it out, and "
                    "give each user the items that were recommended."
                )
        if self.metric.own_ties is not None and is_catalogue:
            return f"{self} needs whole lists, which are not kept if the catalogue is ranked."
        convention = self.convention
        if (
            not facts.has_items
            and not self.all_tied
            and np.isinf(facts.first_tie_ranks.get(self.sort_key, 1))  # 1: unknown, so assume ties
        ):
            convention = convention.replace(ties="expected")  # without ties no rule is needed
        return Objections(convention, self.threshold, facts, lists).find_order_objection()

    def find_weights_objection(self) -> str:
        """Return why labels with weights cannot be measured; "" if they can."""
        if not (self.is_weighted and self.metric.needs_labels):
            return ""
        without = "leave out weights= or the column 'weight' (rename it if it is something else)"
        if not self.metric.takes_weights:
            return (
                f"{self} has no weighted form, as it is not a sum over labels. Measure dcg, ndcg, "
                f"precision or recall, or {without}."
            )
        if "ideal" in self.metric.reads and self.convention.ideal == "max":
            return f"ideal='max' has no weighted form: choose ideal='global', or {without}."
        return ""

    def _background_objection(self, facts: Facts, lists: GroupedLists | None) -> str:
        """Return what the metric needs besides the lists and does not have; "" if nothing."""
        metric, convention = self.metric, self.convention
        is_known = frozenset() if facts.background is None else facts.background.known
        if convention.mean_over == "train" and "train" not in is_known:
            return f"mean_over='train' needs {SOURCES['train']}."
        if not metric.needs:
            return ""
        return _find_facts_objection(metric, convention, facts) or (
            "" if lists is None else _find_rows_objection(metric, convention, lists)
        )

    def _metric_objection(self, facts: Facts, lists: GroupedLists | None) -> str:
        """Return why the metric's gains, discounts or ties cannot be computed; "" if they can."""
        reads, convention = self.metric.reads, self.convention
        if self.metric.uses_gains:
            if "ideal" not in reads:
                convention = convention.replace(ideal="global")  # `max_grade` is not read
            objections = Objections(convention, self.threshold, facts, lists)
            reason = objections.find_gain_objection(self.unlabelled_as)
            if reason:
                return reason
        longest = facts.apply_convention(self.convention).longest
        reason = self.metric.objection(self.convention, longest)
        if not reason and self.metric.uses_gains and "discount" in reads:
            k = self.metric.k or longest
            reason = self.convention.find_discount_objection(
                k if self.convention.ideal == "max" else min(k, longest)
            )
        if not reason and self.fails_under_ties:
            rank = 1.0 if self.all_tied else facts.first_tie_ranks.get(self.sort_key, np.inf)
            if rank <= (self.metric.k or np.inf):
                return self.metric.tie_objection(self.convention)
        return reason


def find_least_lengths(metrics: Sequence[Metric]) -> list[int]:
    """Return the least list length that counts for each metric under ``short_list="drop"``.

    For a metric without a cutoff it is the smallest cutoff of the other metrics.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> find_least_lengths([rn.RR(), rn.NDCG(10), rn.AP(5)])
    [5, 10, 5]
    """
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    return [metric.k or min(cutoffs, default=0) for metric in metrics]


# What measures of recommended items need


def _find_facts_objection(metric: Metric, convention: Convention, facts: Facts) -> str:
    """Return what a metric needs to know and is not known; "" if nothing."""
    if facts.protocol == "rated":
        return (
            f"{metric} measures what was recommended, but these lists are the users' own test "
            "ratings (protocol 'rated'). Give recommendations: {'labels': test, 'results': "
            "lists} (None without labels), or rank the catalogue: evaluate_catalogue(), or in "
            f"cross-validation and searches '{metric}:catalogue'."
        )
    if not facts.has_items:
        return f"{metric} needs to know which items were recommended. Give the items' ids."
    if facts.is_catalogue and metric.k is None:
        return f"{metric} of a ranked catalogue needs a cutoff. Write '{metric}@10'."
    known = facts.background
    needs = metric.find_needs(convention) - {"items"}
    if "seen" in metric.reads and convention.seen == "raise":
        needs |= {"train"}
    missing = needs if known is None else needs - known.known
    if missing:
        needed = "; ".join(SOURCES[name] for name in SOURCES if name in missing)
        return f"{metric} needs {needed}."
    return "" if known is None else metric.background_objection(known, convention)


def _find_rows_objection(metric: Metric, convention: Convention, lists: GroupedLists) -> str:
    """Return which listed items a convention does not allow, with the first; "" if none."""
    known = lists.background
    if known is None:
        return ""
    # the rows of a ranked catalogue are labels, too
    is_ranked = lists.pool.placement is not None
    if "seen" in metric.reads and convention.seen == "raise" and not is_ranked:
        seen = find_seen(lists)
        if seen.any():
            return (
                f"{metric}: {int(seen.sum())} listed items were in the user's training rows, the "
                f"first {format_rows(lists, seen)}. Leave them out of the lists, or choose "
                "seen='count'."
            )
    if "cold_item" in metric.reads and convention.cold_item == "raise":
        is_cold = ~known.in_train[np.asarray(lists.item_codes)]
        if is_cold.any():
            return (
                f"{metric}: {int(is_cold.sum())} listed items have no training rows, the first "
                f"{format_rows(lists, is_cold)}. Leave them out, or choose another cold_item, "
                "such as 'zero'."
            )
    return metric.list_objection(lists, convention)
