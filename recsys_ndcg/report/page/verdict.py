"""The answer of a report in a sentence or two: how far it is from chance to the best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.table import number

if TYPE_CHECKING:
    from recsys_ndcg.rendering.view import Shown

_SURE = 2.0  # standard deviations of random order


def verdict(report: Shown) -> str:
    """Return what a report says of the order, in its first metric that tells an order from chance.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> print(verdict(rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)))
    In ndcg@2 this order cannot be told from chance (0.6583): it scores 0.8129 for 1 user. One
    user is no evidence.
    """
    audit, summary = report.audit, report.summary
    ordered = audit["chance"].notna() & (summary["users"] > 0).to_numpy()
    name = next(iter(audit.index[ordered]), report.metrics[0])
    both = pd.concat([summary.loc[name], audit.loc[name]])
    row: dict[str, Any] = {str(what): value for what, value in both.items()}
    told = _nobody if not row["users"] else _plainly if not ordered.any() else _of_an_order
    return visible(f"{told(name, row)}{_beaten(report, name, row)}")


def _nobody(name: str, _: dict[str, Any]) -> str:
    return f"Nobody has a score in {name}, so there is nothing to judge."


def _plainly(name: str, row: dict[str, Any]) -> str:
    return f"The mean of {name} is {_score(row)}. It knows no order, and so no chance to beat."


def _of_an_order(name: str, row: dict[str, Any]) -> str:
    chance, best, far = row["chance"], row["best"], row["adjusted"]
    if np.isnan(far):
        return (
            f"In {name} every order of these lists scores the same, {_score(row)}: nothing can be "
            "told of the model."
        )
    score = _score(row)
    if far < 0 and not abs(row["z"]) < _SURE:
        return f"In {name} this order is worse than chance ({number(chance)}): it scores {score}."
    if abs(row["z"]) < _SURE or (np.isnan(row["z"]) and row["ci_low"] <= chance):
        return (
            f"In {name} this order cannot be told from chance ({number(chance)}): it scores "
            f"{score}."
        )
    return (
        f"In {name} this order goes {far:.0%} of the way from chance ({number(chance)}) to the "
        f"best order of the same lists ({number(best)}): it scores {score}."
    ).replace("%", " %", 1)


def _score(row: dict[str, Any]) -> str:
    low, high, users = row["ci_low"], row["ci_high"], int(row["users"])
    people = f"{users:,} user{'' if users == 1 else 's'}"
    if np.isnan(low) or np.isnan(high):
        alone = ". One user is no evidence" if users == 1 else ""
        return f"{number(row['mean'])} for {people}{alone}"
    ends = f"(95 % interval {number(low)} to {number(high)})"
    return f"{number(row['mean'])} {ends} over {people}"


def _beaten(report: Shown, name: str, row: dict[str, Any]) -> str:
    """Return which model that needs no training is as good."""
    others = report.baselines.drop("chance")[name]
    better = [str(model) for model, mean in others.items() if mean >= row["mean"]]
    return f" {better[0]} is as good or better ({number(others[better[0]])})." if better else ""
