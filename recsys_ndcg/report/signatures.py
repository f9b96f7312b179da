"""Signatures: how a number was computed, in words."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.convention.gains import discounts, gains
from recsys_ndcg.convention.notation import written
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.scores import Scores


def signatures(scores: Scores, facts: Facts) -> dict[str, str]:
    """Return the signature of every metric: its name, all choices, and over how many users."""
    longest = int(scores.counts.n_items.max(initial=1))
    users = (~np.isnan(scores.per_user)).sum(axis=0).tolist()
    return {
        str(one): _signature(one, facts, longest, count)
        for one, count in zip(scores.measurements, users, strict=True)
    }


def _signature(one: Measurement, facts: Facts, longest: int, users: int) -> str:
    others = ""
    if one.convention.short_list == "drop" and one.metric.k is None:
        others = f"|short_below:{one.short_below}"
    threshold = "none" if one.threshold is None else one.threshold
    return (
        f"{one}|{_told_apart(one, facts, longest)}|threshold:{threshold}{others}|"
        f"protocol:{facts.protocol}|users:{users}|version:{__version__}"
    )


def _told_apart(one: Measurement, facts: Facts, longest: int) -> str:
    """Return the choices, with what a function of the user's gives: two may share a name.

    A metric that reads no gains does not depend on it, and it need not stand what would be asked.
    """
    convention = one.convention
    text = convention.signature
    given = {}
    if not one.metric.uses_gains:
        return text
    if callable(convention.gain):
        top = [] if convention.max_grade is None else [convention.max_grade]
        grades = np.unique(np.concatenate([facts.grades(convention).known, top]))
        given["gain"] = gains(grades, convention, one.threshold)
    if callable(convention.discount):
        given["discount"] = discounts(one.metric.depth or longest, convention)
    for name, values in given.items():
        choice = f"{name}:{written(getattr(convention, name))}"
        text = text.replace(choice, f"{choice[:-1]}#{_fingerprint(values)})")
    return text


def _fingerprint(values: Floats) -> str:
    """Return eight signs that differ where the numbers differ, up to their last digits."""
    return sha256(",".join(f"{value:.12g}" for value in values.tolist()).encode()).hexdigest()[:8]
