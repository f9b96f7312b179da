"""Signatures: how a number was computed, in words."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.convention.gains import discounts, gains
from recsys_ndcg.convention.notation import written
from recsys_ndcg.scoring.measuring import short_below
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring.measuring import Scores
    from recsys_ndcg.scoring.source import Source


def signatures(source: Source, scores: Scores) -> dict[str, str]:
    """Return the signature of every metric: its name, all choices, and over how many users."""
    users = (~np.isnan(scores.per_user)).sum(axis=0).tolist()
    threshold = "none" if source.threshold is None else source.threshold
    found = {}
    for place, metric in enumerate(source.metrics):
        others = ""
        if source.convention.short_list == "drop" and metric.k is None:
            others = f"|short_below:{short_below(source.metrics)[place]}"
        found[str(metric)] = (
            f"{metric}|{_told_apart(source, metric)}|threshold:{threshold}{others}|"
            f"protocol:{source.lists.protocol}|users:{users[place]}|version:{__version__}"
        )
    return found


def _told_apart(source: Source, metric: Metric) -> str:
    """Return the choices, with what a function of the user's gives: two may share a name."""
    convention, lists = source.convention, source.lists
    text = convention.signature
    given = {}
    if callable(convention.gain):
        top = [] if convention.max_grade is None else [convention.max_grade]
        true = np.concatenate([lists.true, lists.unlisted_true, top])
        grades = np.sort(pd.unique(true[~np.isnan(true)]))
        given["gain"] = gains(grades, convention, source.threshold)
    if callable(convention.discount):
        longest = int((lists.n_items + lists.n_unlisted).max(initial=1))
        given["discount"] = discounts(metric.depth or longest, convention)
    for name, values in given.items():
        choice = f"{name}:{written(getattr(convention, name))}"
        text = text.replace(choice, f"{choice[:-1]}#{_fingerprint(values)})")
    return text


def _fingerprint(values: Floats) -> str:
    """Return eight signs that differ where the numbers differ, up to their last digits."""
    return sha256(",".join(f"{value:.12g}" for value in values.tolist()).encode()).hexdigest()[:8]
