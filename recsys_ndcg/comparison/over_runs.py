"""One model from several runs: metrics side by side, folds and seeds averaged."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import quotient
from recsys_ndcg.comparison.model_scores import over
from recsys_ndcg.input import encode
from recsys_ndcg.scoring import ListCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Ids, Positions
    from recsys_ndcg.comparison.model_scores import ModelScores, Parameter


def beside(parts: Sequence[ModelScores]) -> ModelScores:
    """Return the metrics of all parts side by side, over the users of any."""
    users, places = _all_users(parts)
    spread = [_spread(one, len(users), place) for one, place in zip(parts, places, strict=True)]
    tables: dict[str, Any] = {
        name: np.hstack([getattr(one, name) for one in spread])
        for name in (*spread[0].parts, "truth", "runs")
    }
    return replace(
        spread[0],
        measurements=sum((one.measurements for one in spread), ()),
        users=users,
        called=sum((one.called for one in spread), ()),
        signatures=sum((one.signatures for one in spread), ()),
        roles={role: np.hstack([one.roles[role] for one in spread]) for role in spread[0].roles},
        **tables,
    )


def averaged(parts: Sequence[ModelScores]) -> ModelScores:
    """Return the scores of several runs, averaged within each user; sums are added up.

    Folds are parts of what is known of a user, seeds are measured on the same: their digests are
    one.
    """
    if len(parts) == 1:
        return parts[0]
    users, places = _all_users(parts)
    spread = [_spread(one, len(users), place) for one, place in zip(parts, places, strict=True)]
    same = all(
        len(one.users) == len(users) and np.array_equal(one.truth, spread[0].truth)
        for one in spread
    )
    counts = [one.counts for one in spread]
    roles = {role: _mean_within([one.roles[role] for one in spread]) for role in spread[0].roles}
    return replace(
        spread[0],
        users=users,
        numerator=reduce(np.add, [one.numerator for one in spread]),
        denominator=reduce(np.add, [one.denominator for one in spread]),
        left_out=reduce(np.logical_and, [one.left_out for one in spread]),
        roles=roles,
        truth=spread[0].truth if same else _together([one.truth for one in spread]),
        counts=counts[0] if same else _counts_of_all(counts),
        signatures=over(parts[0].signatures, roles["own"]),
        runs=np.concatenate([one.runs for one in parts]),
        report=None,
        parameters=_shared([one.parameters for one in parts]),
    )


def _shared(parameters: Sequence[Mapping[str, Parameter]]) -> dict[str, Parameter]:
    """Return the parameters that all runs have, a seed of each run is none."""
    first, *others = parameters
    return {
        name: value
        for name, value in first.items()
        if all(name in one and one[name] == value for one in others)
    }


def _all_users(parts: Sequence[ModelScores]) -> tuple[Ids, list[Positions]]:
    """Return the users of any part in their order, and where each part's stand there."""
    lengths = [len(one.users) for one in parts]
    users, codes = encode(np.concatenate([one.users for one in parts]), "user")
    return users, np.split(codes, np.cumsum(lengths)[:-1])


def _spread(one: ModelScores, size: int, places: Positions) -> ModelScores:
    """Return tables with rows for other users, who have nothing."""
    if len(places) == size:
        return one

    def rows(table: NDArray[Any], fill: float) -> NDArray[Any]:
        wide = np.full((size, *table.shape[1:]), fill, dtype=table.dtype)
        wide[places] = table
        return wide

    tables: dict[str, Any] = {
        name: rows(table, 0) for name, table in {**one.parts, "truth": one.truth}.items()
    }
    counts = {name: rows(values, 0) for name, values in vars(one.counts).items()}
    roles = {role: rows(table, np.nan) for role, table in one.roles.items()}
    return replace(one, **tables, counts=ListCounts(**counts), roles=roles)


def _mean_within(tables: Sequence[Floats]) -> Floats:
    """Return the mean of what is there, NaN where nothing is."""
    there = sum((~np.isnan(one)).astype(np.int64) for one in tables)
    total = reduce(np.add, [np.nan_to_num(one, nan=0.0) for one in tables])
    return quotient(total, there)


def _together(truths: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a digest of what is known of a user fold by fold, in any order of the folds.

    Folds are mixed before they are added up: the same ratings in other folds are other lists.
    """
    mixed = [
        pd.util.hash_array(one.ravel(), categorize=False).reshape(one.shape) * (one != 0)
        for one in truths
    ]
    total: NDArray[np.uint64] = reduce(np.add, mixed)
    return total


def _counts_of_all(counts: Sequence[ListCounts]) -> ListCounts:
    """Return what there is to count in all folds: flags of any, numbers added up."""
    return ListCounts(
        **{
            name: reduce(np.logical_or if values.dtype == bool else np.add, columns)
            for name, values in vars(counts[0]).items()
            for columns in [[getattr(one, name) for one in counts]]
        }
    )
