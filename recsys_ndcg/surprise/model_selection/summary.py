"""What `cross_validate` prints: Surprise's summary, line for line, with what ranking adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.surprise.model_selection.folds import pooled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.surprise.model_selection.folds import Fold
    from recsys_ndcg.surprise.model_selection.measures import Measure


def title(name: str, measures: Sequence[Measure], folds: Sequence[Fold]) -> str:
    """Return the line above the summary of an algorithm."""
    asked = ", ".join(one.name.upper() for one in measures)
    return f"Evaluating {asked} of algorithm {name} on {len(folds)} split(s)."


def rows(measures: Sequence[Measure], folds: Sequence[Fold]) -> list[list[str]]:
    """Return a head, a row for every measure, and those of the times.

    Measures that rank have their pooled score besides, below the mean of the folds, and the number
    of users that each testset has.
    """
    names = [one.name for one in measures]
    ranked = [one.name for one in measures if one.metric is not None]
    table = [["", *(f"Fold {place}" for place in range(1, len(folds) + 1)), "Mean", "Std"]]
    # without measures Surprise leaves their line empty
    table += [
        _row(f"{name.upper()} (testset)", (one.test[name] for one in folds)) for name in names
    ] or [[]]
    if folds[0].train:
        table += [
            _row(f"{name.upper()} (trainset)", (one.train[name] for one in folds)) for name in names
        ]
    if ranked:
        sums, blank = pooled(folds), [""] * len(folds)
        table += [[f"{name.upper()} (pooled)", *blank, f"{sums[name]:.4f}"] for name in ranked]
        users = [one.n_users for one in folds]
        means = [f"{np.mean(users):.1f}", f"{np.std(users):.1f}"]
        table.append(["Users (testset)", *map(str, users), *means])
    table.append(_row("Fit time", (one.fit_time for one in folds), digits=2))
    table.append(_row("Test time", (one.test_time for one in folds), digits=2))
    return table


def _row(name: str, values: Iterable[Any], digits: int = 4) -> list[str]:
    """Return a value for each fold, their mean and their standard deviation."""
    each = list(values)
    return [name, *(f"{one:.{digits}f}" for one in [*each, np.mean(each), np.std(each)])]
