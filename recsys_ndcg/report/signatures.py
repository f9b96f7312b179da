"""Signatures: how a number was computed, in words."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.convention.gains import discounts, gains
from recsys_ndcg.convention.notation import written
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.plan import Plan


def signatures(plan: Plan, facts: Facts, users: Positions) -> dict[str, str]:
    """Return the signature of every metric: its name, all choices, and over how many users."""
    return {
        str(one): signature(one, facts, count)
        for one, count in zip(plan.measurements, users.tolist(), strict=True)
    }


def signature(one: Measurement, facts: Facts, users: int) -> str:
    """Return the signature of one measurement over some number of users."""
    others = ""
    if one.convention.short_list == "drop" and one.metric.k is None:
        others = f"|short_below:{one.short_below}"
    threshold = "none" if one.threshold is None else one.threshold
    return (
        f"{one}|{_told_apart(one, facts)}|threshold:{threshold}{others}|"
        f"protocol:{facts.protocol}|users:{users}|version:{__version__}"
    )


def _told_apart(one: Measurement, facts: Facts) -> str:
    """Return the choices, with what a function of the user's gives: two may share a name."""
    convention = one.convention
    text = convention.signature
    given = {}
    if callable(convention.gain):
        top = [] if convention.max_grade is None else [convention.max_grade]
        grades = np.unique(np.concatenate([facts.all_true.known, top]))
        given["gain"] = gains(grades, convention, one.threshold)
    if callable(convention.discount):
        given["discount"] = discounts(one.metric.depth or facts.longest, convention)
    for name, values in given.items():
        choice = f"{name}:{written(getattr(convention, name))}"
        text = text.replace(choice, f"{choice[:-1]}#{_fingerprint(values)})")
    return text


def _fingerprint(values: Floats) -> str:
    """Return eight signs that differ where the numbers differ, up to their last digits."""
    return sha256(",".join(f"{value:.12g}" for value in values.tolist()).encode()).hexdigest()[:8]
