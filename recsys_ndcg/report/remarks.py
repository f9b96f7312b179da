"""The remarks and the verdict of a report, and the warnings of suspicious data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import escape_invisible, format_count
from recsys_ndcg.lists import Facts, find_suspicions
from recsys_ndcg.rendering import (
    Verdict,
    format_number,
    join_names,
    list_first,
    pluralise,
)
from recsys_ndcg.scoring import describe_protocol
from recsys_ndcg.significance import Moments, count_needed_users, is_of_few, measure_skewness

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.report.data import ReportData
    from recsys_ndcg.scoring import Audit, Plan, Totals


#: The audit: the row of each metric, by its name.
AuditRows = dict[str, dict[str, Any]]
_HIGH_CHANCE = 0.5  # a chance level that a reader would not expect
_MAX_LINES = 3  # about the same finding in several metrics
_CLEAR_Z = 2.0  # standard deviations of random order
_TIES_MATTER = 0.001  # a range of scores this wide changes the third decimal
_FEW_TIED = 0.001  # a share of users whose ties cannot change the third decimal
_MIN_SAMPLED = 50  # items of a list; examples and top-20 lists are shorter
_FEW_USERS = 0.01  # a share of users too small to move a mean
_MIN_SHARE, _MIN_Z = 0.1, 4.0  # of a mean below chance
#: Numbers of users to measure first, and by how many standard errors their means must exceed
#: chance so that the others need not be measured.
_SAMPLES = ((100, 2.0), (1000, 0.0))
_LOWER_IS_BETTER = (
    "If a lower estimate is better (distances, losses), negate the estimates. If they are ranks, "
    "pass the table as results, with the ranks in the column 'rank': "
    "RankedLists.from_labels(labels, results). One table can be both."
)
_REVERSED = (
    "The first item, or the item of rank 1, counts as the best. If it is the worst, reverse each "
    "list, or pass the ranks as estimates, columns={'estimated': 'rank'}: then the largest number "
    "counts as the best."
)


def find_remarks(data: ReportData) -> list[str]:
    """Return the reasons to be careful with the numbers of a report, a sentence each."""
    audit_rows: Any = data.audit_table.to_dict("index")
    topics = (
        *(_remark_on_chance, _remark_on_users, _remark_on_ties),
        *(_remark_on_weights, _remark_on_labels),
    )
    return [escape_invisible(line) for topic in topics for line in topic(data, audit_rows)]


def _remark_on_chance(data: ReportData, audit_rows: AuditRows) -> Iterator[str]:
    mean = dict(zip(data.metrics, data.audit.totals.mean.tolist(), strict=True))
    bounded = data.bounded  # an unbounded metric has no scale
    # random lists are the most novel, so only metrics of relevance are compared with chance
    of_relevance = _name_relevance_metrics(data)
    audit_rows = {name: audit_rows[name] for name in of_relevance}
    for model, means in data.baseline_table.drop("chance").iterrows():
        beaten = [name for name in of_relevance if means[name] >= mean[name]]
        if beaten:
            yield f"{model} is as good or better in {', '.join(beaten)}."
    counts = data.counts
    order = "A random order of each list" if "recommended" in counts else "Random order"
    if "candidates" in counts:
        order = "A random choice of the candidates"
    high = [
        f"{format_number(row['chance'])} in {name} (worst order {format_number(row['worst'])})"
        for name, row in audit_rows.items()
        if row["chance"] >= _HIGH_CHANCE and bounded[name]
    ]
    if high:
        shown = ", ".join(list_first(high, _MAX_LINES, "similar values in {} more metrics"))
        yield f"{order} would already score {shown}."
    has_chance = any(not math.isnan(row["chance"]) for row in audit_rows.values())
    if sampled := describe_sampled_lists(data):
        yield sampled
    elif has_chance and data.audit.protocol == "supplied":
        yield (
            "Chance is a random order of each list. For random lists of the catalogue's items, "
            "give the catalogue (catalogue=items, or their number)."
        )
    unsure = [name for name, row in audit_rows.items() if abs(row["z"]) < _CLEAR_Z]
    worse = [name for name in _name_metrics_below_chance(data) if name in of_relevance]
    if worse:
        yield f"Worse than random order: {', '.join(list_first(worse, _MAX_LINES))}."
    if unsure:
        names = ", ".join(list_first(unsure, _MAX_LINES))
        yield f"Not clearly different from random order (z between -2 and 2): {names}."


def describe_sampled_lists(data: ReportData) -> str:
    """Return a sentence if lists hold sampled items, or look as if they do; "" if not.

    They do if all have the same length, at least `_MIN_SAMPLED`, and one relevant item each: in
    the first items of a whole catalogue, some users' relevant items are missing.
    """
    scores, protocol = data.audit.by_user, data.audit.protocol
    is_named = protocol == "sampled"
    if scores is None or protocol.startswith("catalogue"):
        return ""
    counts, size = scores.counts, int(scores.counts.n_items.max(initial=0))
    is_alike = bool((counts.n_items == size).all() and (counts.n_relevant == 1).all())
    looks_sampled = is_alike and size >= _MIN_SAMPLED and not counts.unlisted.any()
    if not is_named and not (looks_sampled and len(scores.users) > 1):
        return ""
    what = f"1 relevant among {size}" if is_alike else "the relevant items among a few others"
    hint = "" if is_named else " Name this protocol with RankedLists.as_sampled()."
    return (
        f"The lists hold sampled items ({what}): the scores cannot be compared with scores over "
        f"a whole catalogue, and may order models differently.{hint}"
    )


def _remark_on_users(data: ReportData, _: AuditRows) -> Iterator[str]:
    counts = data.counts
    users = counts["users"]
    findings = {
        "missing": "have labels but no list",
        "left_out": "are left out of a metric by the convention",
    }
    for key, finding in findings.items():
        if counts[key] > _FEW_USERS * users:
            yield f"{counts[key]} of {users} users {finding}."
    summary, moments = data.summary, data.audit.totals.score_moments
    is_same: Any = moments.is_constant
    yield from _limit_lines(
        describe_equal_scores(f"All {row.users} users", name, row.mean, row.ci_low)
        for name, row in zip(summary.index[is_same], summary[is_same].itertuples(), strict=True)
    )
    by_user = data.audit.by_user
    scores = None if by_user is None else by_user.per_user
    named = [("", name) for name in data.metrics]
    yield from _limit_lines(describe_rough_means(moments, scores, named, data.bounded))
    undefined = [*summary.index[summary["users"] == 0]]
    of_users = [name for name in undefined if name in data.metrics_of_users]
    of_all = [name for name in undefined if name not in of_users]
    if of_users:
        yield f"No user has a score in {', '.join(of_users)}."
    if of_all:
        yield f"Undefined for these lists: {', '.join(of_all)}."


def describe_equal_scores(users: str, metric: str, score: float, low: float) -> str:
    """Describe what the interval is if all users have the same score; `low` is its lower end.

    Examples
    --------
    >>> describe_equal_scores("All 40 users", "rmse", 0.5, np.nan)
    'All 40 users score 0.5000 in rmse: no interval can be computed from scores that do not vary.'
    """
    interval = "the interval is the exact binomial bound."
    if np.isnan(low):
        interval = "no interval can be computed from scores that do not vary."
    return f"{users} score {format_number(score)} in {metric}: {interval}"


def describe_rough_means(
    moments: Moments, scores: Floats | None, names: Sequence[tuple[str, str] | None], bounded: Any
) -> Iterator[str]:
    """Describe the means whose intervals are rough: few users make them, or scores are skewed.

    Parameters
    ----------
    moments : Moments
        The moments of the scores.
    scores : float64 array, shape (n_users, n_columns), optional
        The scores, if they are known.
    names : sequence of tuple of str
        For each column, whose scores they are (" of A", or ""), and the metric; None: left out.
    bounded : bool or array
        Whether all scores of a column are in [0, 1]. Their intervals are right if they are skewed.
    """
    is_bounded = np.broadcast_to(bounded, len(names))
    for column in np.flatnonzero((moments.count > 1) & ~moments.is_constant).tolist():
        if (name := names[column]) is None:
            continue
        (whose, metric), users = name, int(moments.count[column])
        few, side = int(moments.n_nonzero[column]), "other than 0"
        if is_bounded[column] and moments.n_below[column] < few:
            few, side = int(moments.n_below[column]), "below 1"
        end = f"in {metric}: the interval of the mean is rough."
        if is_of_few(users, few):
            verb = "has" if few == 1 else "have"
            yield f"Only {few} of {users} users{whose} {verb} a score {side} {end}"
        elif scores is not None and not is_bounded[column]:
            skewness = measure_skewness(scores[:, column])
            if users < (needed := count_needed_users(skewness)):
                yield (
                    f"The scores of {users} users{whose} are skewed (skewness {skewness:.1f}: "
                    f"{needed} users are needed) {end}"
                )


def _remark_on_ties(data: ReportData, audit_rows: AuditRows) -> Iterator[str]:
    wide = [
        column
        for column, row in enumerate(audit_rows.values())
        if row["tie_high"] - row["tie_low"] >= _TIES_MATTER
    ]
    if wide:
        yield _describe_ties(data.audit.totals, wide)


def _describe_ties(totals: Totals, columns: Sequence[int]) -> str:
    """Describe how many users have ties that matter, and the range of some metrics' means."""
    counts = np.rint(totals.mean_of("decided_by_ties") * totals.n_scored)[columns]
    most, low, high = counts.argmax(), totals.mean_of("lowest"), totals.mean_of("highest")
    users = f"{counts[most]:.0f} of {pluralise(int(totals.n_scored[columns][most]))}"
    ranges = [
        f"{totals.names[one]} is {format_number(low[one])} to {format_number(high[one])}"
        for one in columns
    ]
    return (
        f"Ties affect {'up to ' if len(columns) > 1 else ''}{users}; depending on how they are "
        f"broken, {', '.join(list_first(ranges, _MAX_LINES))}."
    )


def _remark_on_weights(data: ReportData, _: AuditRows) -> Iterator[str]:
    weights = data.label_weights
    if weights is None:
        return
    labels = format_count(int(weights["labels"]), "relevant label")
    if weights["effective"] == 0:
        yield f"Labels are weighted, and the weights of all {labels} are 0."
        return
    yield (
        f"Labels are weighted: {labels}, worth {weights['effective']:.0f} of equal weight; the "
        f"heaviest 1 % hold {100 * weights['top_share']:.0f} % of the weight."
    )
    measurements = data.audit.measurements
    sums = [str(one) for one in measurements if one.metric.bounded and not one.is_bounded]
    if sums:
        yield (
            f"With weights {join_names(sums)} can be more than 1, and twice the weights give twice "
            "the score: compare it only with scores of the same weights."
        )


def _remark_on_labels(data: ReportData, audit_rows: AuditRows) -> Iterator[str]:
    counts = data.counts
    findings = {
        "unlabelled": "Listed items without a true value",
        "unlisted": "Labelled items in no list",
        "impossible": "Predictions that the model could not make (was_impossible)",
        "duplicates": "Repeated rows that were merged",
        "cold": "Listed items without training rows (cold)",
        "outside": "Listed items that are not in the catalogue",
        "seen": "Listed items that the user had in training",
    }
    measurements = data.audit.measurements
    if not any(one.metric.needs_labels for one in measurements):
        del findings["unlabelled"]
    for key, finding in findings.items():
        if counts.get(key):
            yield f"{finding}: {counts[key]}."
    for measurement, (name, row) in zip(measurements, audit_rows.items(), strict=True):
        needs_labels = measurement.metric.needs_labels
        if needs_labels and row["judged"] < 1 and not math.isnan(row["unlabelled_top"]):
            k = measurement.metric.k
            items = "listed items" if k is None else f"top-{k} items"
            yield (
                f"{row['judged']:.1%} of the {items} are labelled. If the rest are irrelevant, "
                f"{name} is {format_number(row['unlabelled_zero'])}; if all are of the top grade, "
                f"{format_number(row['unlabelled_top'])}."
            )
            return  # one metric is enough


def _name_relevance_metrics(data: ReportData) -> list[str]:
    """Return the names of the metrics that are not of items."""
    return [str(one) for one in data.audit.measurements if not one.metric.needs]


def _name_metrics_below_chance(data: ReportData) -> list[str]:
    """Return the names of the metrics whose mean is clearly below chance."""
    totals = data.audit.totals_with_all_roles
    is_below = (totals.adjusted < 0) & (np.abs(_find_z(totals)) >= _CLEAR_Z)
    return [*np.array(data.metrics)[is_below]]


def _find_z(totals: Totals) -> Floats:
    """Return z; if it is unknown, with the largest variance that scores in [0, 1] can have."""
    chance = totals.mean_of("chance")
    bounded = [one.metric.bounded for one in totals.measurements]
    with np.errstate(all="ignore"):
        max_error = np.sqrt(np.where(bounded, chance * (1 - chance), np.nan) / totals.n_scored)
        return np.where(np.isnan(totals.z), (totals.mean - chance) / max_error, totals.z)


def _limit_lines(lines: Iterable[str]) -> list[str]:
    """Return the first lines about a finding, and the number of other metrics."""
    return list_first(lines, _MAX_LINES, "… and the same in {} more metrics.")


def build_verdict(data: ReportData) -> Verdict:
    """Return what a report shows: whether the order is better than chance, and by how much.

    The verdict is on the first metric that has a chance level.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)
    >>> print(build_verdict(report._data))
    In ndcg@2 (rated items) this order cannot be distinguished from chance. It scores 0.8129 for 1
    user; chance is 0.6583, the best order 1.0000. One user is not enough evidence.
    """
    audit_table, summary = data.audit_table, data.summary
    # a list that is more novel than random ones is not a better one
    of_relevance = _name_relevance_metrics(data)
    if of_relevance:
        audit_table, summary = audit_table.loc[of_relevance], summary.loc[of_relevance]
    has_chance = audit_table["chance"].notna() & (summary["users"] > 0).to_numpy()
    name = next(iter(audit_table.index[has_chance]), audit_table.index[0])
    row: dict[str, Any] = {**summary.loc[name], **audit_table.loc[name]}
    where = f"{name} ({describe_protocol(data.audit.signatures[name])})"
    if not row["users"]:
        return Verdict(f"No user has a score in {where}: there is nothing to judge.")
    is_below = name in _name_metrics_below_chance(data)
    headline = _judge_order(where, row, is_below_chance=is_below)
    evidence = _format_score(row)
    others = data.baseline_table.drop("chance")[name]
    better = others[others >= row["mean"]]
    if len(better):
        evidence += f" {better.index[0]} is as good or better ({format_number(better.iloc[0])})."
    return Verdict(headline, evidence)


def _judge_order(where: str, row: dict[str, Any], *, is_below_chance: bool) -> str:
    chance, adjusted, z = row["chance"], row["adjusted"], row["z"]
    if np.isnan(chance):
        return f"The mean of {where} is {format_number(row['mean'])}; it has no chance level."
    if np.isnan(adjusted):
        return (
            f"Every order of these lists has the same score in {where}, so it cannot show whether "
            "the model is good."
        )
    if is_below_chance:
        return f"In {where} this order is worse than chance."
    if abs(z) < _CLEAR_Z or (np.isnan(z) and not row["ci_low"] > chance):
        return f"In {where} this order cannot be distinguished from chance."
    share = f"{adjusted:.0%}".replace("%", " %")
    return f"In {where} this order achieves {share} of the possible improvement over chance."


def _format_score(row: dict[str, Any]) -> str:
    """Format the score with its interval, chance and the best order."""
    low, high, users = row["ci_low"], row["ci_high"], int(row["users"])
    text = f"It scores {format_number(row['mean'])} for {pluralise(users)}"
    if not np.isnan([low, high]).any():
        interval = f"(95 % interval {format_number(low)} to {format_number(high)})"
        text = f"It scores {format_number(row['mean'])} {interval} over {pluralise(users)}"
    if not np.isnan(row["adjusted"]):
        chance, best = format_number(row["chance"]), format_number(row["best"])
        text += f"; chance is {chance}, the best order {best}"
    return f"{text}.{' One user is not enough evidence.' if users == 1 else ''}"


# The warnings


def find_warnings(data: ReportData, facts: Facts, plan: Plan) -> Iterator[str]:
    """Yield warnings of valid but suspicious data, and of misleading scores."""
    audit = data.audit
    yield from (*find_suspicions(facts), *plan.find_warnings(facts))
    totals, column = _find_metric_below_chance(audit)
    if column is not None:
        mean, chance = totals.mean[column], totals.mean_of("chance")[column]
        yield (
            f"{totals.names[column]} is {mean:.4f}, but the same lists in random order score "
            f"{chance:.4f}: relevant items are near the end of the lists. "
            f"{_REVERSED if facts.order_only else _LOWER_IS_BETTER}"
        )
    column = None if facts.is_constant else _find_widest_tie_range(data)
    if column is not None:
        yield _describe_ties(audit.totals, [column])


def _find_widest_tie_range(data: ReportData) -> int | None:
    """Return the column of the metric with the widest range from ties, if it matters.

    A range matters if it changes the third decimal and is wider than half the interval of the
    mean. One user has no interval, so only the third decimal counts.
    """
    totals = data.audit.totals
    if totals.counts["tied"] < _FEW_TIED * totals.counts["users"]:
        return None
    width = totals.mean_of("highest") - totals.mean_of("lowest")
    matters = data.bounded.to_numpy() & (width >= _TIES_MATTER)
    if not matters.any():
        return None
    low, high = totals.mean_interval()
    matters &= width > np.nan_to_num((high - low) / 2)
    return int(np.where(matters, width, 0.0).argmax()) if matters.any() else None


def _find_metric_below_chance(audit: Audit) -> tuple[Totals, int | None]:
    """Return the column of the metric that is most clearly below random order, if any.

    If there are lists, samples are measured first, and all users only if these do not decide.
    Metrics of items are not measured again: they have no bad end.
    """
    of_relevance = tuple(
        one for one in audit.measurements if one.metric.greater_is_better and not one.metric.needs
    )
    if not of_relevance:
        return audit.totals, None
    if audit.lists is not None:
        samples = _SAMPLES if audit.n_users > _SAMPLES[0][0] else _SAMPLES[1:]
        if any(audit.exceeds_chance(of_relevance, *sample) for sample in samples):
            return audit.totals, None
        if len(of_relevance) < len(audit.measurements):
            audit = audit.measure_others(of_relevance)
    return audit.totals_with_orders, _find_column_below_chance(audit.totals_with_orders)


def _find_column_below_chance(totals: Totals) -> int | None:
    """Return the column whose mean is most clearly below its chance level, if any.

    The score (ties in their best order) is below it by a share of the way from chance to the worst
    order, and the mean by a number of standard deviations of random order.
    """
    mean, z = totals.mean, _find_z(totals)
    chance, worst = totals.mean_of("chance"), totals.mean_of("worst")
    metrics = [measurement.metric for measurement in totals.measurements]
    of_relevance = [not metric.needs for metric in metrics]
    greater_is_better = [metric.greater_is_better for metric in metrics]
    with_best_ties = np.fmax(mean, totals.mean_of("highest"))
    with np.errstate(all="ignore"):
        is_far = chance - with_best_ties > _MIN_SHARE * (chance - worst)
        below = greater_is_better & is_far & (z <= -_MIN_Z) & np.array(of_relevance)
    return int(np.where(below, z, 0.0).argmin()) if below.any() else None
