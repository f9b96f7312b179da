"""Gaps between the mean scores of groups of users, with intervals that hold for all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, check_level
from recsys_ndcg.input import make_index
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.significance import compare_groups, mean_interval

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report.data import ReportData

#: The tables of `Report.gaps`.
TABLES = ("metrics", "pairs", "groups")
_MIN_USERS = 10  # fewer are too few for the interval of a group
#: The interval of a group is as if five more users with the same mean had scores of 0 or 1: a few
#: users do not show how skewed scores are.
_PRIOR_USERS = 5
_ROUNDING = 1e-12  # relative to the highest score: smaller differences are rounding errors


def build_gaps(  # noqa: PLR0913 - all are inputs
    data: ReportData,
    segment_of_user: pd.Series[Any],
    metric: str | Metric | None,
    of: str,
    *,
    level: float,
    draws: int,
    seed: int,
    progress: bool,
) -> pd.DataFrame:
    """Return one of the tables of `Report.gaps`, for the groups from `assign_segments`.

    Raises
    ------
    InvalidInputError
        There is no such table, no such metric, or only one group, or an option is out of range.
    """
    check_choice("of", of, TABLES)
    check_level("level", level, such_as=0.95)
    check_integer("draws", draws, 1)
    check_integer("seed", seed, 0)
    needed = math.ceil(level / (1 - level) * (1 - _ROUNDING))
    if draws < needed:
        msg = (
            f"draws={draws} is too few for level={level:g}: no gap could be found. "
            f"Use draws={needed} or more."
        )
        raise InvalidInputError(msg)
    labels = segment_of_user.cat.categories.tolist()
    if len(labels) < 2:
        msg = (
            f"All users are in the group {labels[0]!r} of {segment_of_user.name!r}. A gap needs at "
            "least two groups. Give each user a group, such as groups={'ann': 'new', 'bob': 'old'}."
        )
        raise InvalidInputError(msg)
    codes, names, scores = segment_of_user.cat.codes.to_numpy(), data.metrics_of_users, data.scores
    if metric is not None or not names:
        names = [data.metrics[data.find_column_of_users(metric)]]
    columns = [scores.names.index(name) for name in names]
    values = scores.per_user[:, columns]
    kinds: Any = pd.DataFrame([scores.measurements[column].kinds for column in columns])
    groups = [
        describe_groups(column, codes, len(labels), level, **one)
        for column, one in zip(values.T, kinds.to_dict("records"), strict=True)
    ]
    if of == "groups":
        return _stack(names, [pd.DataFrame({"group": labels}).join(table) for table in groups])
    with progress_bar(enabled=progress) as show:
        tests = compare_groups(
            values, codes, len(labels), pairwise=True, level=level, draws=draws, seed=seed,
            min_users=2, show=partial(show, "Permuting users"), **kinds,
        )  # fmt: skip
    fields = {"gap": tests.difference, "low": tests.low, "high": tests.high}
    parts = zip(*(one.T for one in (*fields.values(), tests.p_corrected)), strict=True)
    pairs = [pd.DataFrame(np.transpose(one), columns=[*fields, "p_corrected"]) for one in parts]
    if of == "metrics":
        rows = map(partial(_describe_metric, labels), groups, pairs, tests.by_chance.tolist())
        return pd.DataFrame([*rows], index=pd.Index(names, name="metric"))
    sides = [[labels[code] for code in side] for side in np.triu_indices(len(labels), 1)]
    names_of_pairs = pd.DataFrame(dict(zip(("group", "other"), sides, strict=True)))
    return _stack(names, [names_of_pairs.join(table) for table in pairs])


def _stack(names: Sequence[str], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all metrics, one below the other, with the metric as first column."""
    table = pd.concat(dict(zip(names, tables, strict=True)), names=["metric"])
    return table.reset_index("metric").reset_index(drop=True)


def _describe_metric(
    labels: Sequence[Any], groups: pd.DataFrame, pairs: pd.DataFrame, by_chance: float
) -> dict[str, Any]:
    """Return the mean and the largest absolute gap of all pairs, as a row of a table."""
    # an interval that contains 0 allows an absolute gap of 0
    low, high = np.maximum(pairs["low"], -pairs["high"]), np.maximum(pairs["high"], -pairs["low"])
    ends = pd.DataFrame({"gap": pairs["gap"].abs(), "low": np.maximum(low, 0.0), "high": high})
    mean, lowest, highest = groups["mean"], None, None
    if mean.notna().any():
        slack = _ROUNDING * mean.abs().max()
        lowest = labels[(mean <= mean.min() + slack).argmax()]
        highest = labels[(mean >= mean.max() - slack).argmax()]
    return {
        "groups": int(mean.notna().sum()),
        "users": int(groups["users"].sum()),
        **ends.mean().add_prefix("mean_"),
        **ends.max().add_prefix("largest_"),
        "by_chance": by_chance,
        "lowest": lowest,
        "highest": highest,
        "p_corrected": pairs["p_corrected"].min(),
    }


def describe_groups(
    scores: Floats, codes: Any, n_groups: int, level: float, **kinds: bool
) -> pd.DataFrame:
    """Return the number of users, the mean and its interval of each group, by code.

    Parameters
    ----------
    scores : float64 array, shape (n_users,)
        NaN if there is none.
    codes : int array, shape (n_users,)
        The group of each user, from 0; -1 for users in no group.
    n_groups : int
        The number of groups.
    level : float
        The probability that all intervals hold.
    **kinds
        bounded and nonnegative, as in `mean_interval`.
    """
    groups = pd.Series(scores).groupby(codes).agg(["count", "mean", "std"])
    count, mean, deviation = groups.reindex(range(n_groups)).fillna({"count": 0}).to_numpy().T
    has_enough, variance = count >= _MIN_USERS, deviation**2
    if kinds["bounded"]:
        of_prior = _PRIOR_USERS * np.maximum(mean * (1 - mean), 0.0)
        variance = ((count - 1) * variance + of_prior) / (count - 1 + _PRIOR_USERS)
    length = np.sqrt(variance * np.maximum(count - 1, 0))
    one = level ** (1 / max(has_enough.sum(), 1))
    low, high = np.where(has_enough, mean_interval(count, mean, length, one, **kinds), np.nan)
    remark = np.where(np.isnan(low), "all scores are equal", "")
    remark = np.where(has_enough, remark, f"fewer than {_MIN_USERS} users with a score")
    columns = {"users": count.astype(np.int64), "mean": mean, "low": low, "high": high}
    return pd.DataFrame({**columns, "remark": remark.astype(object)})


def find_known_groups(lists: GroupedLists | None) -> pd.Series[Any]:
    """Return the groups of users that were given to the evaluation, by user.

    Raises
    ------
    InvalidInputError
        There are none.
    """
    known = None if lists is None else lists.background
    if lists is None or known is None or known.group_of is None:
        msg = (
            "gaps needs groups of users, and none were given to evaluate(). Write "
            "report.gaps({'ann': 'new', 'bob': 'old'}), or evaluate(..., groups=...)."
        )
        raise InvalidInputError(msg)
    codes = np.append(known.group_of, -1)[np.asarray(lists.background_users)]
    labels = np.fromiter([*known.groups, None], dtype=object)  # None for users without a group
    return pd.Series(labels[codes], make_index(lists.users), dtype=object)
