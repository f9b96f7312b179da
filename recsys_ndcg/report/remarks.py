"""The verdict and the remarks of a report, and the warnings of suspicious data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.findings import Finding
from recsys_ndcg.lists import Facts, find_suspicions
from recsys_ndcg.scoring import describe_protocol
from recsys_ndcg.significance import Moments, count_needed_users, is_of_few, measure_skewness

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Flags, Floats
    from recsys_ndcg.scoring import Audit, Measurement, Plan, Scores, Signature, Totals


_HIGH_CHANCE = 0.5  # a chance level that a reader would not expect
_CLEAR_Z = 2.0  # standard deviations of random order
_TIES_MATTER = 0.001  # a range of scores this wide changes the third decimal
_FEW_TIED = 0.001  # a share of users whose ties cannot change the third decimal
_MIN_SAMPLED = 50  # items of a list; examples and top-20 lists are shorter
_FEW_USERS = 0.01  # a share of users too small to move a mean
_MIN_SHARE, _MIN_Z = 0.1, 4.0  # of a mean below chance
#: Numbers of users to measure first, and by how many standard errors their means must exceed
#: chance so that the others need not be measured.
_SAMPLES = ((100, 2.0), (1000, 0.0))
#: The kind of finding for each count of users or rows.
_OF_USERS = {"missing": "users_without_list", "left_out": "users_left_out"}
_OF_ROWS = {
    "unlabelled": "unlabelled_items",
    "unlisted": "unlisted_labels",
    "impossible": "impossible_predictions",
    "duplicates": "merged_rows",
    "cold": "cold_items",
    "outside": "items_outside_catalogue",
    "seen": "seen_items",
}


def join_tables(audit: Audit, summary: pd.DataFrame, audit_table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per metric: its summary, its audit, and what kind of metric it is.

    The further columns are k, and whether it is in [0, 1] (bounded), compares the order with
    labels (of_relevance), has a score per user (per_user), needs labels (needs_labels), can be
    above 1 only because of weights (is_sum), and is clearly below chance (below_chance).
    """
    totals, measurements = audit.totals_with_all_roles, audit.measurements
    metrics = [each.metric for each in measurements]
    is_bounded = totals.kinds["bounded"]
    return summary.assign(
        **audit_table,
        k=np.array([metric.k for metric in metrics], dtype=object),
        bounded=is_bounded,
        of_relevance=[not metric.needs for metric in metrics],
        per_user=[metric.per_user for metric in metrics],
        needs_labels=[metric.needs_labels for metric in metrics],
        is_sum=[metric.bounded for metric in metrics] & ~is_bounded,
        below_chance=(totals.adjusted < 0) & (np.abs(_find_z(totals)) >= _CLEAR_Z),
    )


# The remarks


def find_remarks(
    audit: Audit,
    table: pd.DataFrame,
    baselines: pd.DataFrame,
    counts: Mapping[str, int],
    weights: pd.Series[float] | None,
) -> list[Finding]:
    """Find the reasons to be careful with the numbers of a report.

    Parameters
    ----------
    audit : Audit
        What was measured.
    table : pandas.DataFrame
        What `join_tables` returns.
    baselines, counts, weights
        As in `Report.baselines`, `Report.counts` and `Report.label_weights`.
    """
    # random lists are the most novel, so only metrics of relevance are compared with chance
    relevant, moments = table[table["of_relevance"]], audit.totals.score_moments
    names = [{"metric": name} for name in table.index]
    scores = None if audit.by_user is None else audit.by_user.per_user
    return [
        *_find_strong_baselines(relevant["mean"], baselines),
        *_find_high_chance(relevant[relevant["bounded"]], counts),
        *_find_kinds_of_lists(audit.by_user, audit.protocol, relevant["chance"]),
        *_find_metrics_below_chance(relevant),
        *_find_missing_users(counts),
        *find_equal_scores(table, moments.is_constant, names),
        *find_rough_means(moments, scores, table["bounded"], names),
        *_find_metrics_without_scores(table),
        *_find_decisive_ties(audit.totals, table["tie_high"] - table["tie_low"]),
        *_find_weights(weights, [*table.index[table["is_sum"]]]),
        *_find_rows(counts, needs_labels=bool(table["needs_labels"].any())),
        *_find_labelled_share(table[table["needs_labels"]]),
    ]


def _find_strong_baselines(mean: pd.Series[float], baselines: pd.DataFrame) -> Iterator[Finding]:
    for baseline, means in baselines.drop("chance")[mean.index].iterrows():
        if beaten := [*mean.index[means >= mean]]:
            yield Finding("strong_baseline", {}, {"baseline": baseline, "metrics": beaten})


def _find_high_chance(bounded: pd.DataFrame, counts: Mapping[str, int]) -> Iterator[Finding]:
    """Find metrics whose chance level is high; metrics that are not in [0, 1] have no scale."""
    high = bounded[bounded["chance"] >= _HIGH_CHANCE]
    if len(high):
        sizes = {name: counts[name] for name in ("candidates", "recommended") if name in counts}
        levels = {"chance": [*high["chance"]], "worst": [*high["worst"]]}
        yield Finding("high_chance", {**levels, **sizes}, {"metrics": [*high.index]})


def _find_kinds_of_lists(
    scores: Scores | None, protocol: str, chance: pd.Series[float]
) -> Iterator[Finding]:
    """Find lists of sampled items, or else what random order means if only lists are known.

    Lists look sampled if all have the same length, at least `_MIN_SAMPLED`, and one relevant item
    each: in the first items of a whole catalogue, some users' relevant items are missing.
    """
    if scores is not None and not protocol.startswith("catalogue"):
        counts, size = scores.counts, int(scores.counts.n_items.max(initial=0))
        is_alike = bool((counts.n_items == size).all() and (counts.n_relevant == 1).all())
        looks_sampled = is_alike and size >= _MIN_SAMPLED and not counts.unlisted.any()
        if protocol == "sampled":
            yield Finding("sampled_lists", {"items": size} if is_alike else {"items": None})
            return
        if looks_sampled and len(scores.users) > 1:
            yield Finding("unnamed_sampling", {"items": size})
            return
    if protocol == "supplied" and chance.notna().any():
        yield Finding("chance_of_lists")


def _find_metrics_below_chance(relevant: pd.DataFrame) -> Iterator[Finding]:
    is_unsure = relevant["z"].abs() < _CLEAR_Z
    for kind, is_so in {"below_random": relevant["below_chance"], "like_random": is_unsure}.items():
        if is_so.any():
            yield Finding(
                kind, {"z": [*relevant["z"][is_so]]}, {"metrics": [*relevant.index[is_so]]}
            )


def _find_missing_users(counts: Mapping[str, int]) -> Iterator[Finding]:
    users = counts["users"]
    for key, kind in _OF_USERS.items():
        if counts[key] > _FEW_USERS * users:
            yield Finding(kind, {"count": counts[key], "users": users})


def find_equal_scores(
    table: pd.DataFrame, is_constant: Flags, names: Sequence[Mapping[str, str] | None]
) -> Iterator[Finding]:
    """Find the means of users who all have the same score, and say what their intervals are.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per mean: mean, users, and the lower end of the interval, ci_low.
    is_constant : bool array
        Whether all scores of a mean are the same.
    names : sequence of mapping of str
        For each mean the metric, and the model if there are several; None: left out.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"mean": [0.5], "users": 40, "ci_low": np.nan})
    >>> next(find_equal_scores(table, np.array([True]), [{"metric": "rmse"}])).sentence
    'All 40 users score 0.5000 in rmse: no interval can be computed from scores that do not vary.'
    """
    for row, is_same, about in zip(table.to_dict("records"), is_constant, names, strict=True):
        if is_same and about:
            numbers = {"users": int(row["users"]), "mean": float(row["mean"])}
            kind = "equal_scores" if np.isnan(row["ci_low"]) else "extreme_scores"
            yield Finding(kind, numbers, about)


def find_rough_means(
    moments: Moments,
    scores: Floats | None,
    bounded: Any,
    names: Sequence[Mapping[str, str] | None],
) -> Iterator[Finding]:
    """Find the means whose intervals are rough: few users make them, or scores are skewed.

    Parameters
    ----------
    moments : Moments
        The moments of the scores.
    scores : float64 array, shape (n_users, n_columns), optional
        The scores, if they are known.
    bounded : bool or array
        Whether all scores of a column are in [0, 1]. Their intervals are right if they are skewed.
    names : sequence of mapping of str
        For each column the metric, and the model if there are several; None: left out.
    """
    is_bounded = np.broadcast_to(bounded, len(names))
    for column in np.flatnonzero((moments.count > 1) & ~moments.is_constant).tolist():
        if (about := names[column]) is None:
            continue
        users, few, usual = int(moments.count[column]), int(moments.n_nonzero[column]), 0
        if is_bounded[column] and moments.n_below[column] < few:
            few, usual = int(moments.n_below[column]), 1
        if is_of_few(users, few):
            yield Finding(
                "few_different_scores", {"few": few, "users": users, "usual": usual}, about
            )
        elif scores is not None and not is_bounded[column]:
            skewness = measure_skewness(scores[:, column])
            if users < (needed := count_needed_users(skewness)):
                numbers = {"users": users, "skewness": skewness, "needed": needed}
                yield Finding("skewed_scores", numbers, about)


def _find_metrics_without_scores(table: pd.DataFrame) -> Iterator[Finding]:
    empty = table[table["users"] == 0]
    for kind, rows in {
        "metrics_without_scores": empty[empty["per_user"]],
        "undefined_metrics": empty[~empty["per_user"]],
    }.items():
        if len(rows):
            yield Finding(kind, {}, {"metrics": [*rows.index]})


def _find_decisive_ties(totals: Totals, width: pd.Series[float]) -> Iterator[Finding]:
    wide = np.flatnonzero(width >= _TIES_MATTER)
    if len(wide):
        yield _describe_ties(totals, wide)


def _describe_ties(totals: Totals, columns: Any) -> Finding:
    """Describe how many users have ties that matter, and the range of some metrics' means."""
    counts = np.rint(totals.mean_of("decided_by_ties") * totals.n_scored)[columns]
    most = counts.argmax()
    numbers = {"tied": int(counts[most]), "users": int(totals.n_scored[columns][most])}
    ends = {"low": totals.mean_of("lowest"), "high": totals.mean_of("highest")}
    ranges = {name: values[columns].tolist() for name, values in ends.items()}
    names = [totals.names[column] for column in columns]
    return Finding("decisive_ties", {**numbers, **ranges}, {"metrics": names})


def _find_weights(weights: pd.Series[float] | None, sums: list[str]) -> Iterator[Finding]:
    if weights is None:
        return
    labels = {"labels": int(weights["labels"])}
    if weights["effective"] == 0:
        yield Finding("zero_weights", labels)
        return
    shares = {name: float(weights[name]) for name in ("effective", "top_share")}
    yield Finding("weighted_labels", {**labels, **shares})
    if sums:
        yield Finding("weighted_sums", {}, {"metrics": sums})


def _find_rows(counts: Mapping[str, int], *, needs_labels: bool) -> Iterator[Finding]:
    for key, kind in _OF_ROWS.items():
        if counts.get(key) and (needs_labels or key != "unlabelled"):
            yield Finding(kind, {"count": counts[key]})


def _find_labelled_share(table: pd.DataFrame) -> Iterator[Finding]:
    """Find the range that unlabelled items leave open in the first metric with one."""
    is_open = (table["judged"] < 1) & table["unlabelled_top"].notna()
    for metric, row in table[is_open].head(1).iterrows():
        ends = {"labelled": row["judged"], "zero": row["unlabelled_zero"]}
        numbers = {**ends, "top": row["unlabelled_top"], "k": row["k"]}
        yield Finding("unlabelled_range", numbers, {"metric": metric})


def _find_z(totals: Totals) -> Floats:
    """Return z; if it is unknown, with the largest variance that scores in [0, 1] can have."""
    chance = totals.mean_of("chance")
    bounded = [each.metric.bounded for each in totals.measurements]
    with np.errstate(all="ignore"):
        max_error = np.sqrt(np.where(bounded, chance * (1 - chance), np.nan) / totals.n_scored)
        return np.where(np.isnan(totals.z), (totals.mean - chance) / max_error, totals.z)


# The verdict


def judge_report(
    table: pd.DataFrame, baselines: pd.DataFrame, signatures: Mapping[str, Signature]
) -> list[Finding]:
    """Judge whether the order is better than chance, and by how much: first the headline.

    The verdict is on the first metric that has a chance level.

    Parameters
    ----------
    table : pandas.DataFrame
        What `join_tables` returns.
    baselines, signatures
        As in `Report.baselines` and `Report.signatures`.
    """
    # a list that is more novel than random ones is not a better one
    candidates = table[table["of_relevance"]] if table["of_relevance"].any() else table
    has_chance = candidates["chance"].notna() & (candidates["users"] > 0)
    metric = next(iter(candidates.index[has_chance]), candidates.index[0])
    row: dict[str, Any] = candidates.loc[metric].to_dict()
    names = {"metric": metric, "ranked": describe_protocol(signatures[metric])}
    if not row["users"]:
        return [Finding("nothing_to_judge", {}, names)]
    keys = ("mean", "ci_low", "ci_high", "users", "chance", "best", "adjusted")
    findings = [Finding(_judge_order(row), {name: row[name] for name in keys}, names)]
    if row["users"] == 1:
        findings.append(Finding("one_user"))
    others = baselines.drop("chance")[metric]
    better = others[others >= row["mean"]].head(1)
    for baseline, score in better.items():
        about = {"metric": metric, "baseline": baseline}
        findings.append(Finding("better_baseline", {"mean": score}, about))
    return findings


def _judge_order(row: Mapping[str, Any]) -> str:
    """Return the kind of the verdict on a metric."""
    if np.isnan(row["chance"]):
        return "no_chance_level"
    if np.isnan(row["adjusted"]):
        return "equal_orders"
    if row["below_chance"]:
        return "worse_than_chance"
    is_unsure = np.isnan(row["z"]) and not row["ci_low"] > row["chance"]
    return "like_chance" if is_unsure or abs(row["z"]) < _CLEAR_Z else "better_than_chance"


# The warnings


def find_warnings(audit: Audit, facts: Facts, plan: Plan) -> Iterator[str]:
    """Yield warnings of valid but suspicious data, and of misleading scores."""
    yield from (*find_suspicions(facts), *plan.find_warnings(facts))
    for finding in find_misleading_scores(audit, facts):
        yield finding.sentence


def find_misleading_scores(audit: Audit, facts: Facts) -> Iterator[Finding]:
    """Find lists that are worse than random order, and ties that matter; also without a report."""
    totals, column = _find_metric_below_chance(audit)
    if column is not None:
        means = {"mean": totals.mean, "chance": totals.mean_of("chance")}
        numbers = {name: float(values[column]) for name, values in means.items()}
        kind = "reversed_order" if facts.order_only else "reversed_estimates"
        yield Finding(kind, numbers, {"metric": totals.names[column]})
    column = None if facts.is_constant else _find_widest_tie_range(audit.totals)
    if column is not None:
        yield _describe_ties(audit.totals, [column])


def _find_widest_tie_range(totals: Totals) -> int | None:
    """Return the column of the metric with the widest range from ties, if it matters.

    A range matters if it changes the third decimal and is wider than half the interval of the
    mean. One user has no interval, so only the third decimal counts.
    """
    if totals.counts["tied"] < _FEW_TIED * totals.counts["users"]:
        return None
    width = totals.mean_of("highest") - totals.mean_of("lowest")
    low, high = totals.mean_interval()
    is_wider = width > np.nan_to_num((high - low) / 2)
    matters = totals.kinds["bounded"] & (width >= _TIES_MATTER) & is_wider
    return int(np.where(matters, width, 0.0).argmax()) if matters.any() else None


def _find_metric_below_chance(audit: Audit) -> tuple[Totals, int | None]:
    """Return the totals, and the column of the metric most clearly below random order, if any.

    Its score (ties in their best order) is below chance by a share of the way from chance to the
    worst order, and its mean by a number of standard deviations of random order.

    If there are lists, samples are measured first, and all users only if these do not decide.
    Metrics of items are not measured again: they have no bad end.
    """
    of_relevance = tuple(filter(_has_bad_end, audit.measurements))
    if not of_relevance:
        return audit.totals, None
    if audit.lists is not None:
        samples = _SAMPLES if audit.n_users > _SAMPLES[0][0] else _SAMPLES[1:]
        if any(audit.exceeds_chance(of_relevance, *sample) for sample in samples):
            return audit.totals, None
        if len(of_relevance) < len(audit.measurements):
            audit = audit.measure_others(of_relevance)
    totals = audit.totals_with_orders
    mean, z = totals.mean, _find_z(totals)
    chance, worst = totals.mean_of("chance"), totals.mean_of("worst")
    has_bad_end = [*map(_has_bad_end, totals.measurements)]
    with_best_ties = np.fmax(mean, totals.mean_of("highest"))
    with np.errstate(all="ignore"):
        is_far = chance - with_best_ties > _MIN_SHARE * (chance - worst)
        below = has_bad_end & is_far & (z <= -_MIN_Z)
    return totals, int(np.where(below, z, 0.0).argmin()) if below.any() else None


def _has_bad_end(measurement: Measurement) -> bool:
    """Return whether low scores are bad: of a metric of accuracy of which more is better."""
    return measurement.metric.greater_is_better and not measurement.metric.needs
