"""The same lists with other weights of the labels: parts by stratum of items, and sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background, Propensity
from recsys_ndcg.convention import compute_relevance
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.input import has_values_by_id, read_values_by_id
from recsys_ndcg.lists import GroupedLists, digest_labels
from recsys_ndcg.metrics import Metric
from recsys_ndcg.rendering import Document, Section, ShownTable, format_number, list_first, shorten
from recsys_ndcg.report.user_groups import BIN_STARTS, UNKNOWN_BIN, Groups, name_range
from recsys_ndcg.scoring import (
    Audit,
    Measurement,
    Plan,
    Scores,
    Totals,
    find_metric_name,
    find_weights_objection,
)

if TYPE_CHECKING:
    from recsys_ndcg.report.data import ReportData

_COLUMNS = ("items", "labels", "part", "ci_low", "ci_high", "share", "score", "users")
_OTHER = "other"  # items without a stratum
_GAMMA_STEP = 0.05
_MAX_SWAPS = 5  # that a sentence names
_N_GAMMAS_SHOWN = 9  # in a notebook


def name_counts(counts: Any) -> Any:
    """Return the bin of each number of training rows, as categories, such as ``"2–4"``.

    Examples
    --------
    >>> name_counts([0, 3, 1]).tolist()
    ['0 (unknown)', '2–4', '1']
    """
    names = [name_range(first, end - 1) for first, end in pairwise(BIN_STARTS)]
    bins = pd.cut(np.asarray(counts), [0, *BIN_STARTS], right=False, labels=[UNKNOWN_BIN, *names])
    return bins.remove_unused_categories()


def split_by_items(audit: Audit, groups: Any, train: Any) -> pd.DataFrame:
    """Return the parts of the scores by stratum of items, as `Report.by_items` describes them."""
    lists, whole = get_lists(audit), audit.scores
    kept = [place for place, one in enumerate(audit.measurements) if _is_sum_over_labels(one)]
    if not kept:
        raise InvalidInputError(_format_no_sums(whole.names))
    measurements = [_with_weights(audit.measurements[place]) for place in kept]
    for one in measurements:
        _check_parts_add_up(one)
    strata = _assign_strata(lists, groups, train)
    tables = {}
    for code, name in enumerate(strata.categories):
        inside = (strata.codes == code).astype(np.float64)
        alone = _measure_weighted(lists, measurements, inside)
        part = Totals.of(replace(alone, denominator=whole.denominator[:, kept]))
        counts = [_count_labels(lists, inside, one) for one in measurements]
        labels = np.column_stack(counts)
        stratum = Totals.of(replace(alone, left_out=alone.left_out | (labels == 0)))
        low, high = part.mean_interval()
        columns = {"part": part.mean, "ci_low": low, "ci_high": high, "score": stratum.mean}
        tables[name] = pd.DataFrame(columns, index=pd.Index(part.names, name="metric")).assign(
            items=int(inside.sum()), labels=labels.sum(axis=0).astype(int), users=stratum.n_scored
        )
    names = [str(one) for one in measurements]
    order = pd.MultiIndex.from_product([names, strata.categories], names=["metric", "stratum"])
    found = pd.concat(tables, names=["stratum", "metric"]).swaplevel().reindex(order)
    mean = found.groupby(level="metric")["part"].transform("sum")
    found["share"] = found["part"] / mean.where(mean > 0)
    return pd.DataFrame(found[[*_COLUMNS]])


def _assign_strata(lists: GroupedLists, groups: Any, train: Any) -> Any:
    """Return the stratum of every item of `item_ids`, as categories."""
    if lists.item_ids is None:
        msg = "Strata of items need to know the items. Give the items' ids."
        raise InvalidInputError(msg)
    if isinstance(groups, str) and groups == "popularity":
        return name_counts(_count_training_rows(lists, train)[1])
    if isinstance(groups, str) or not has_values_by_id(groups):
        msg = (
            "Strata of items are 'popularity', or a mapping, Series or table of items to strata, "
            f"not {quote(groups)}."
        )
        raise InvalidInputError(msg)
    ids, values = read_values_by_id(groups, "strata")
    known = pd.notna(ids)  # a table after a merge may have rows without an item
    named = Groups.from_values(ids[known], values[known], "strata", "item")
    strata = named.align(np.asarray(lists.item_ids))
    n_missing = int(strata.isna().sum())
    if n_missing:
        if _OTHER in strata.cat.categories:
            msg = (
                f"{n_missing} items have no stratum, and would be in 'other', which is the name of "
                "one of yours. Give these items a stratum, or rename it."
            )
            raise InvalidInputError(msg)
        strata = strata.cat.add_categories([_OTHER]).fillna(_OTHER)
    return strata.array


def _count_training_rows(lists: GroupedLists, train: Any) -> tuple[Background, Floats]:
    """Return the training rows, and their number for every item of `item_ids`."""
    known = lists.background
    source = Background.of(train=train)
    if source is None and known is not None:
        source = known if known.propensity is None else known.propensity.train
    if source is None or source.history is None:
        msg = (
            "Popularity is the number of training rows: pass train=, the rows of the training set."
        )
        raise InvalidInputError(msg)
    aligned, codes = source.align(np.asarray(lists.item_ids))
    return source, np.asarray(aligned.n_rows)[codes]


def _is_sum_over_labels(one: Measurement) -> bool:
    """Return whether the score is a quotient whose numerator is a sum over labels."""
    metric = one.metric
    is_quotient = type(metric).score is Metric.score and metric.depends_on_order
    return is_quotient and metric.takes_weights and (metric.uses_gains or metric.needs_threshold)


def _with_weights(one: Measurement) -> Measurement:
    """Return a measurement of weighted labels.

    Raises
    ------
    InvalidInputError
        It cannot have weights under its convention.
    """
    weighted = replace(one, is_weighted=True)
    InvalidInputError.raise_if(find_weights_objection(weighted))
    return weighted


def _replace_weights(lists: GroupedLists, weights: Floats, unlisted: Floats) -> GroupedLists:
    """Return lists with other weights of the labels of their rows, and of unlisted ones."""
    lists = lists.with_columns(weight=weights)
    return replace(lists, unlisted={**lists.unlisted, "weight": unlisted})


def _check_parts_add_up(one: Measurement) -> None:
    """Raise if the parts of strata would not add up to the score."""
    undefined = one.score_if_undefined
    if one.convention.tie_rule.by == "grade":
        reason = f"ties={one.convention.ties!r} would order tied items of each stratum on their own"
    elif undefined > 0:
        reason = f"users with undefined={undefined:g} have a score that is not made of labels"
    else:
        return
    msg = f"The parts of {one} do not add up: {reason}. Evaluate with another choice."
    raise InvalidInputError(msg)


def _format_no_sums(names: Sequence[str]) -> str:
    return (
        f"{', '.join(names)}: not sums over labels, so other weights of labels do not apply. "
        "Measure dcg, ndcg, precision or recall."
    )


def _measure_weighted(
    lists: GroupedLists, measurements: Sequence[Measurement], factors: Floats
) -> Scores:
    """Measure lists with the weights of labels multiplied by a factor for each item."""
    columns = (lists.columns, lists.weights), (lists.unlisted, lists.unlisted_weights)
    weights = [
        factors[part["item"]] * (1.0 if weight is None else weight) for part, weight in columns
    ]
    return Plan(tuple(measurements)).measure(_replace_weights(lists, *weights))


def _count_labels(lists: GroupedLists, inside: Floats, one: Measurement) -> Floats:
    """Return each user's number of relevant labels of some items, or of all if they have gains."""
    has_gains = one.metric.uses_gains and one.convention.gain != "binary"
    threshold = None if has_gains else one.threshold
    counts = np.zeros(len(lists))
    parts = (lists.user_of_row, lists.columns), (lists.user_of_label, lists.unlisted)
    for user, part in parts:
        true = part["true"]
        counted = ~np.isnan(true) if threshold is None else compute_relevance(true, threshold) > 0
        counts += np.bincount(user, inside[part["item"]] * counted, minlength=len(lists))
    return counts


def get_lists(audit: Audit) -> GroupedLists:
    """Return the lists of a report.

    Raises
    ------
    InvalidInputError
        They are not known.
    """
    if audit.lists is None:
        msg = (
            "This report has no lists: it was read from a file, or its data is larger than the "
            "memory limit. Evaluate the data again."
        )
        raise InvalidInputError(msg)
    return audit.lists


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How the means of models depend on gamma, the exponent of popularity in the weights.

    Parameters
    ----------
    metric : str
        The metric.
    means : pandas.DataFrame
        A row for each gamma, a column for each model.
    swaps : pandas.DataFrame
        A row wherever two models change places: gamma, below (the better model below it), above.
    gamma : float, optional
        The gamma of the report.
    """

    metric: str
    means: pd.DataFrame
    swaps: pd.DataFrame
    gamma: float | None = None

    @property
    def holds(self) -> tuple[float, float]:
        """The range of gamma in which the order of models is the same.

        It is around the gamma of the report; if that is outside the range of `means`, or if there
        is none, at the nearer end of `means`, or its low end.
        """
        low, high = float(self.means.index[0]), float(self.means.index[-1])
        here = low if self.gamma is None else min(max(self.gamma, low), high)
        at = self.swaps["gamma"].to_numpy(dtype=np.float64)
        return max(at[at <= here], default=low), min(at[at > here], default=high)

    def __str__(self) -> str:
        """Return the range in which the order holds, and where models change places."""
        if len(self.means.columns) == 1:
            ends = self.means.iloc[[0, -1], 0]
            (low, first), (high, last) = ends.items()
            return f"{self.metric} is {first:.4f} at gamma {low:.3g} and {last:.4f} at {high:.3g}."
        low, high = self.holds
        text = f"The order of models in {self.metric} holds for gamma from {low:.3g} to {high:.3g}."
        swaps = [
            f"{one.above} passes {one.below} at {one.gamma:.4g}" for one in self.swaps.itertuples()
        ]
        return f"{text} {'; '.join(list_first(swaps, _MAX_SWAPS))}." if swaps else text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        chosen = np.linspace(0, len(self.means) - 1, min(len(self.means), _N_GAMMAS_SHOWN))
        means = self.means.iloc[chosen.astype(int)].map(format_number).rename(columns=shorten)
        means.insert(0, "gamma", [f"{gamma:.3g}" for gamma in means.index])
        parts = [ShownTable(f"{self.metric} by gamma", means)]
        return Document(str(self), [Section("gamma", "Gamma", "", parts)]).render("html")


def vary_gamma(
    reports: Mapping[str, ReportData], metric: str | Metric | None, train: Any, ends: Any
) -> Sensitivity:
    """Return how the means of several reports depend on gamma, as `Report.sensitivity` says."""
    is_pair = isinstance(ends, Sequence) and len(ends) == 2 and all(map(is_number, ends))
    if not is_pair or not -1 <= ends[0] < ends[1] <= Propensity.MAX_GAMMA:
        msg = (
            f"The ends of gamma must be two numbers from -1 to {Propensity.MAX_GAMMA:g}, "
            f"ascending, such as (-1, 3), not {quote(ends)}."
        )
        raise InvalidInputError(msg)
    first = next(iter(reports.values()))
    name = find_metric_name(metric, first.metrics, "This report", first.metrics_of_users)
    for model, one in reports.items():
        find_metric_name(name, one.metrics, f"The report {quote(model)}")
    users = _find_common_users(reports, name)
    means = {model: _make_mean(one, name, train, users) for model, one in reports.items()}
    low, high = map(float, ends)
    grid = np.linspace(low, high, int(np.ceil((high - low) / _GAMMA_STEP)) + 1).tolist()
    table = pd.DataFrame(
        {model: [*map(one, grid)] for model, one in means.items()}, pd.Index(grid, name="gamma")
    )
    swaps = pd.DataFrame(_find_swaps(table, means), columns=["gamma", "below", "above"])
    known = get_lists(first.audit).background
    source = None if known is None else known.propensity
    gamma = None if source is None else source.gamma
    return Sensitivity(name, table, swaps.sort_values("gamma", ignore_index=True), gamma)


def _find_common_users(reports: Mapping[str, ReportData], name: str) -> pd.Index[Any]:
    """Return the users of all reports.

    Raises
    ------
    InvalidInputError
        There is none, or their labels or the conventions differ.
    """
    by_model = {model: _digest_labels(one) for model, one in reports.items()}
    digests = pd.concat(by_model, axis=1, join="inner")
    users, first = digests.index, next(iter(reports))
    if not len(users):
        msg = "The reports have no user in common. Evaluate the models on the same labels."
        raise InvalidInputError(msg)
    for model, report in reports.items():
        different = users[digests[model] != digests[first]]
        if len(different):
            msg = (
                f"The labels of {quote(different[0])} differ between the reports, and those of "
                f"{len(different) - 1} more of {len(users)} users, in {quote(model)}. Evaluate the "
                "models on the same labels."
            )
            raise InvalidInputError(msg)
        if _choices(reports[first], name) != _choices(report, name):
            msg = f"The report {quote(model)} has another convention or threshold of {name}."
            raise InvalidInputError(msg)
    return users


def _digest_labels(report: ReportData) -> pd.Series[int]:
    """Return a digest of each user's labels without weights by item, which are varied."""
    lists = replace(get_lists(report.audit), background=None)
    return pd.Series(digest_labels(lists), pd.Index(lists.users))


def _choices(report: ReportData, name: str) -> Measurement:
    """Return the measurement of a metric, as if labels had weights."""
    one = report.audit.measurements[report.metrics.index(name)]
    return replace(one, is_weighted=True)


def _find_swaps(
    table: pd.DataFrame, means: Mapping[str, Callable[[float], float]]
) -> Iterator[tuple[float, str, str]]:
    """Yield where the means of two models cross: gamma, the better one below it, and above it."""
    from scipy.optimize import brentq  # noqa: PLC0415 - scipy takes longer than pandas

    for first, second in combinations(means, 2):
        gap = table[first] - table[second]
        known = gap[gap != 0]
        for (low, high), (before, after) in zip(
            pairwise(known.index), pairwise(known), strict=True
        ):
            if before * after < 0:
                root = brentq(lambda at: means[first](at) - means[second](at), low, high)  # noqa: B023 - called now
                better = (first, second) if before > 0 else (second, first)
                yield (float(root), *better)


def _make_mean(
    report: ReportData, name: str, train: Any, users: pd.Index[Any]
) -> Callable[[float], float]:
    """Return the mean of a metric as a function of gamma."""
    audit = report.audit
    lists, one = get_lists(audit), audit.measurements[report.metrics.index(name)]
    if not _is_sum_over_labels(one):
        raise InvalidInputError(_format_no_sums([name]))
    measurement = _with_weights(one)
    lists = lists.take(np.flatnonzero(np.isin(lists.users, users)))
    if "weight" in lists.columns:
        msg = "Labels have a column 'weight', which has no gamma. Use weights=propensity(...)."
        raise InvalidInputError(msg)
    known, n_rows = _count_training_rows(lists, train)
    background = lists.background
    lists = replace(lists, background=background and replace(background, weights=None))

    def compute_mean(gamma: float) -> float:
        weights = Propensity(known, gamma).compute_weights(n_rows)
        return float(Totals.of(_measure_weighted(lists, [measurement], weights)).mean[0])

    return compute_mean
