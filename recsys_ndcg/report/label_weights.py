"""The same lists with other weights of the labels: parts by stratum of items, and sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background, Propensity
from recsys_ndcg.convention import compute_relevance
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics import Metric
from recsys_ndcg.rendering import list_first
from recsys_ndcg.scoring import Audit, Measurement, Plan, Scores, Totals, find_metric_name
from recsys_ndcg.significance import mean_interval

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

#: The first number of training rows of each stratum of popularity.
_STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_COLUMNS = ("items", "labels", "part", "ci_low", "ci_high", "share", "score", "users")
_OTHER = "other"  # items without a stratum
_GAMMA_STEP = 0.05
_MAX_SWAPS = 5  # that a sentence names


def name_counts(counts: Any) -> Any:
    """Return the stratum of each number of training rows, as categories, such as ``"2–4"``.

    Examples
    --------
    >>> name_counts([0, 3, 20_000]).tolist()
    ['0', '2–4', '10000+']
    """
    names = [
        f"{first}" if end == first + 1 else f"{first}–{end - 1}" for first, end in pairwise(_STEPS)
    ]
    codes: Any = np.searchsorted(_STEPS, counts, side="right") - 1
    named = pd.Categorical.from_codes(codes, [*names, f"{_STEPS[-1]}+"], ordered=True)  # type: ignore[call-overload]
    return named.remove_unused_categories()


def split_by_items(audit: Audit, groups: Any, train: Any) -> pd.DataFrame:
    """Return the parts of the scores by stratum of items, as `Report.by_items` describes them."""
    lists, whole = get_lists(audit), audit.scores
    kept = [place for place, one in enumerate(audit.measurements) if _is_sum_over_labels(one)]
    if not kept:
        raise InvalidInputError(_format_no_sums(whole.names))
    measurements = [audit.measurements[place] for place in kept]
    strata = _assign_strata(lists, groups, train)
    tables = {}
    for code, name in enumerate(strata.categories):
        inside = (strata.codes == code).astype(np.float64)
        alone = _measure_weighted(lists, measurements, inside)
        part = Totals.of(replace(alone, denominator=whole.denominator[:, kept]))
        labels = _count_labels(lists, inside, measurements[0].threshold)
        has_none = alone.left_out | (labels == 0)[:, None]
        tables[name] = _describe_part(part, Totals.of(replace(alone, left_out=has_none))).assign(
            items=int(inside.sum()), labels=int(labels.sum())
        )
    names = [str(one) for one in measurements]
    order = pd.MultiIndex.from_product([names, strata.categories], names=["metric", "stratum"])
    found = pd.concat(tables, names=["stratum", "metric"]).swaplevel().reindex(order)
    mean = found.groupby(level="metric")["part"].transform("sum")
    found["share"] = found["part"] / mean.where(mean > 0)
    return pd.DataFrame(found[[*_COLUMNS]])


def _describe_part(part: Totals, alone: Totals) -> pd.DataFrame:
    """Return a row per metric: the part of the mean, its interval, and the score of the stratum."""
    moments, bounded = part.score_moments, [one.is_bounded for one in part.measurements]
    ends = mean_interval(moments.count, moments.mean_x, moments.x_length, bounded=bounded)
    columns = {"part": part.mean, "ci_low": ends[0], "ci_high": ends[1]}
    columns |= {"score": alone.mean, "users": alone.n_scored}
    return pd.DataFrame(columns, index=pd.Index(part.names, name="metric"))


def _assign_strata(lists: GroupedLists, groups: Any, train: Any) -> Any:
    """Return the stratum of every item of `item_ids`, as categories."""
    if lists.item_ids is None:
        msg = "Strata of items need to know the items. Give the items' ids."
        raise InvalidInputError(msg)
    if isinstance(groups, str) and groups == "popularity":
        return name_counts(_count_training_rows(lists, train)[1])
    if not isinstance(groups, Mapping | pd.Series):
        msg = (
            "Strata of items are 'popularity', or a mapping or Series of items to strata, not "
            f"{quote(groups)}."
        )
        raise InvalidInputError(msg)
    by_item = pd.Series(groups)
    repeated = by_item.index[by_item.index.duplicated()]
    if len(repeated):
        msg = f"The item {quote(repeated[0])} has two strata. Give it one."
        raise InvalidInputError(msg)
    stratum = by_item.reindex(pd.Index(lists.item_ids))
    if stratum.isna().all():
        msg = (
            f"None of the {len(stratum)} items of the lists has a stratum: the items have ids such "
            f"as {quote(lists.item_ids[0])}, the strata {quote(by_item.index[0])}."
        )
        raise InvalidInputError(msg)
    if stratum.isna().any():
        stratum = stratum.astype(object).fillna(_OTHER)
    return pd.Categorical(stratum).remove_unused_categories()


def _count_training_rows(lists: GroupedLists, train: Any) -> tuple[Background, Floats]:
    """Return the training rows, and their number for every item of `item_ids`."""
    known = lists.background
    source = Background.of(train)
    if source is None and known is not None:
        source = known if known.propensity is None else known.propensity.train
    if source is None or source.n_rows is None:
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
    plan = Plan(tuple(replace(one, is_weighted=True) for one in measurements))
    return plan.measure(lists.with_weights(*weights))


def _count_labels(lists: GroupedLists, inside: Floats, threshold: float | None) -> Floats:
    """Return each user's number of relevant labels of some items; without a threshold, of all."""
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
        """The range of gamma around the report's in which the order of models is the same."""
        low, high = float(self.means.index[0]), float(self.means.index[-1])
        here = low if self.gamma is None else self.gamma
        at = self.swaps["gamma"].to_numpy(dtype=np.float64)
        return max(at[at <= here], default=low), min(at[at > here], default=high)

    def __str__(self) -> str:
        """Return the range in which the order holds, and where models change places."""
        low, high = self.holds
        text = f"The order of models in {self.metric} holds for gamma from {low:.3g} to {high:.3g}."
        swaps = [
            f"{one.above} passes {one.below} at {one.gamma:.4g}" for one in self.swaps.itertuples()
        ]
        return f"{text} {'; '.join(list_first(swaps, _MAX_SWAPS))}." if swaps else text

    __repr__ = __str__


def vary_gamma(
    reports: Mapping[str, Report], metric: str | Metric | None, train: Any, ends: Sequence[float]
) -> Sensitivity:
    """Return how the means of several reports depend on gamma, as `Report.sensitivity` says."""
    if len(ends) != 2 or not all(map(is_number, ends)) or not -1 <= ends[0] < ends[1]:
        msg = (
            "The ends of gamma must be two numbers of at least -1, the lower one first, such as "
            f"(-1, 3), not {quote(ends)}."
        )
        raise InvalidInputError(msg)
    first = next(iter(reports.values()))
    name = find_metric_name(metric, first.metrics, "This report", first.metrics_of_users)
    means = {model: _MeanByGamma(one, name, train) for model, one in reports.items()}
    low, high = map(float, ends)
    grid = np.linspace(low, high, int(np.ceil((high - low) / _GAMMA_STEP)) + 1).tolist()
    table = pd.DataFrame(
        {model: [*map(one, grid)] for model, one in means.items()}, pd.Index(grid, name="gamma")
    )
    swaps = pd.DataFrame(_find_swaps(table, means), columns=["gamma", "below", "above"])
    known = get_lists(first.audit_data).background
    source = None if known is None else known.propensity
    gamma = None if source is None else source.gamma
    return Sensitivity(name, table, swaps.sort_values("gamma", ignore_index=True), gamma)


def _find_swaps(
    table: pd.DataFrame, means: Mapping[str, _MeanByGamma]
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


class _MeanByGamma:
    """The mean of a metric as a function of gamma."""

    def __init__(self, report: Report, name: str, train: Any) -> None:
        audit = report.audit_data
        lists, self._one = get_lists(audit), audit.measurements[report.metrics.index(name)]
        if not _is_sum_over_labels(self._one):
            raise InvalidInputError(_format_no_sums([name]))
        if "weight" in lists.columns:
            msg = "Labels have a column 'weight', which has no gamma. Use weights=propensity(...)."
            raise InvalidInputError(msg)
        known, self._n_rows = _count_training_rows(lists, train)
        self._propensity = Propensity(known, 0.0)
        background = lists.background
        self._lists = replace(lists, background=background and replace(background, weights=None))

    def __call__(self, gamma: float) -> float:
        weights = self._propensity.with_gamma(gamma).compute_weights(self._n_rows)
        return float(Totals.of(_measure_weighted(self._lists, [self._one], weights)).mean[0])
