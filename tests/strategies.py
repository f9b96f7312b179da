"""Drawn data: small lists with ties, gaps in the labels and missing users, in every convention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.textbook import Choices, Row

GRADES = (0.0, 0.5, 1.0, 2.0, 3.5, 5.0)
ESTIMATES = (-1.0, 0.0, 0.3, 2.0, 2.0 + 1e-9, 2.5)
ANY_ORDER = ("expected", "best", "worst")
MAPPED = {0.0: 0.0, 0.5: 4.0, 1.0: 1.0, 2.0: 1.0, 3.5: 9.0, 5.0: 2.5}


def root(grades: Any) -> Any:
    """Return a gain that a user might write."""
    return np.sqrt(grades)


def stairs(ranks: Any) -> Any:
    """Return a discount that a user might write."""
    return 1 / np.floor(ranks / 2 + 1)


@dataclass(frozen=True)
class Sample:
    """The same data for the textbook and for the library."""

    users: dict[int, list[Row]]
    unlisted: dict[int, list[float]]
    order: list[int]
    joined: bool

    @property
    def frame(self) -> pd.DataFrame:
        """All rows, users mixed, each user's own in their order."""
        rows = [
            (user, row.item, row.estimated, np.nan if row.true is None else row.true)
            for user, one in self.users.items()
            for row in one
        ]
        queue = {user: [row for row in rows if row[0] == user] for user in self.users}
        mixed = [queue[rows[place][0]].pop(0) for place in self.order]
        return pd.DataFrame(mixed, columns=["user", "item", "estimated", "true"])

    @property
    def tables(self) -> list[pd.DataFrame]:
        """The predictions, or the labels and the results."""
        rows = self.frame
        if not self.joined:
            return [rows]
        extra = [
            (user, 1000 + place, true)
            for user, trues in self.unlisted.items()
            for place, true in enumerate(trues)
        ]
        columns = ["user", "item", "true"]
        unlisted = pd.DataFrame(extra, columns=columns).astype({"true": float})
        labels = pd.concat([part for part in (rows.dropna()[columns], unlisted) if len(part)])
        return [labels, rows[["user", "item", "estimated"]]]

    @property
    def lists(self) -> rn.RankedLists:
        """The library's lists: from one table, or joined from labels and results."""
        make = rn.RankedLists.from_labels if self.joined else rn.RankedLists.from_frame
        return make(*self.tables)


@st.composite
def datasets(draw: Callable[[Any], Any], most: int = 5, *, may_join: bool = True) -> Sample:
    """Draw one to three users."""
    joined = draw(st.booleans()) if may_join else False
    grade = st.one_of(st.none(), st.sampled_from(GRADES))
    users, unlisted = {}, {}
    for user in draw(st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True)):
        pair = st.tuples(st.sampled_from(ESTIMATES), grade)
        pairs = draw(st.lists(pair, min_size=not joined, max_size=most))
        items = draw(st.permutations(range(8, 8 + len(pairs))))  # 10 comes before 9 as text
        users[user] = [Row(e, t, i) for (e, t), i in zip(pairs, items, strict=True)]
        unlisted[user] = draw(st.lists(st.sampled_from(GRADES), max_size=3)) if joined else []
    users = {user: one for user, one in users.items() if one or unlisted[user]}
    unlisted = {user: trues for user, trues in unlisted.items() if trues}
    rows = [row for one in users.values() for row in one]
    return Sample(users, unlisted, draw(st.permutations(range(len(rows)))), joined)


def is_usable(drawn: Sample) -> bool:
    """Return whether `evaluate` accepts it: not empty, not all unlabelled, not all the same."""
    trues = [row.true for one in drawn.users.values() for row in one]
    labels = [true for true in trues if true is not None]
    extra = [true for one in drawn.unlisted.values() for true in one]
    if drawn.joined:
        return bool(trues) and bool(labels or extra)
    constant = None not in trues and len(set(trues)) == 1 and len(drawn.users) > 1
    return bool(labels) and not constant


def _set_reachable_max_grade(chosen: Choices) -> Choices:
    """Return choices whose max_grade has the largest gain: `MAPPED` does not rise."""
    mapped = chosen.gain == MAPPED and chosen.ideal == "max"
    return replace(chosen, max_grade=3.5) if mapped else chosen


choices = st.builds(
    Choices,
    gain=st.sampled_from(["exponential", "linear", "binary", "exponential_above", MAPPED, root]),
    discount=st.sampled_from(["log2", "ln", "log2_max", "reciprocal", stairs]),
    ideal=st.sampled_from(["global", "local", "max"]),
    max_grade=st.just(5.0),
    unlabelled=st.sampled_from(["zero", "filter"]),
    unlisted=st.sampled_from(["count", "ignore"]),
    ties=st.sampled_from(
        ["expected", "input", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"]
    ),
    tie_tolerance=st.sampled_from([0.0, 0.5, 1e-9, "float32"]),
    short_list=st.sampled_from(["k", "n", "drop"]),
    recall_over=st.sampled_from(["relevant", "capped"]),
    ap_over=st.sampled_from(["relevant", "capped", "k", "hits"]),
    undefined=st.sampled_from(["skip", 0.0, 1.0]),
    missing_user=st.sampled_from(["zero", "skip"]),
    mean_over=st.sampled_from(["all", "labelled", "relevant"]),
    recommend_from=st.sampled_from([None, 2.0, 0.2, 0.3, "threshold"]),
    threshold=st.sampled_from([0.0, 1.0, 3.0]),
).map(_set_reachable_max_grade)


def without_estimate_limit(chosen: Choices, data: Sample) -> Choices:
    """Return choices without a limit on estimates that may be no ratings."""
    return replace(chosen, recommend_from=None) if data.joined else chosen


def to_convention(chosen: Choices) -> rn.Convention:
    """Return the library's form of the textbook's choices."""
    options = {one.name: getattr(chosen, one.name) for one in fields(chosen)}
    del options["threshold"]
    return rn.Convention(**options)
