"""A user's score depends on that user's rows alone, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.metrics import METRICS
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ORDERED = ["expected", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"]
#: Grades of one user beside those of another: half stars, a scale of 100, and gains of 1 and 1e30.
SCALES: list[tuple[float, ...]] = [
    (0.5, 1.0, 1.5, 3.5, 4.5, 5.0),
    (0.1, 0.2, 0.3, 0.7),
    (1.0, 64.5, 99.5, 100.0),
    (0.0, 1.0),
]


def _drawn(seed: int, n_users: int) -> pd.DataFrame:
    """Draw users with lists of 1 to 300 items, of their own scales, most with ties."""
    rng = np.random.default_rng(seed)
    parts = []
    for user in range(n_users):
        n = int(rng.choice([1, 2, 7, 9, 20, 130, 300]))
        parts.append(
            pd.DataFrame(
                {
                    "user": user,
                    "item": rng.permutation(1000)[:n],
                    "estimated": rng.integers(0, max(n // 4, 2), n) / 3,
                    "true": rng.choice(SCALES[int(rng.integers(len(SCALES)))], n),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _scores(frame: pd.DataFrame, options: dict[str, Any], rows: int = 1 << 16) -> pd.DataFrame:
    names = [*METRICS, *(f"{name}@{k}" for name in METRICS if _cut(name) for k in (1, 5, 10, 200))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", 4 * rows)
        return rn.evaluate(
            frame, metrics=names, k=None, threshold=3, convention=rn.Convention(**options)
        ).per_user


def _cut(name: str) -> bool:
    return METRICS[name].cutoff != "none"


def _same_bits(one: pd.DataFrame, other: pd.DataFrame, what: str) -> None:
    left, right = one.to_numpy(dtype=float), other.to_numpy(dtype=float)
    differs = (left != right) & ~(np.isnan(left) & np.isnan(right))
    assert not differs.any(), f"{what}: {one.columns[differs.any(axis=0)].tolist()}"


@examples(0.25)
@given(
    seed=st.integers(0, 1 << 30),
    ties=st.sampled_from(ORDERED),
    gain=st.sampled_from(["exponential", "linear"]),
    choices=st.sampled_from(
        [
            {},
            {"ideal": "max", "max_grade": 100.0},
            {"ideal": "local", "discount": "ln"},
            {"discount": "reciprocal", "ap_over": "capped", "short_list": "n"},
            {"recommend_from": 1.0, "tie_tolerance": 0.5},
        ]
    ),
    rows=st.sampled_from([1, 50, 400]),
)
def test_alone_or_among_others_in_any_order_and_block(
    seed: int, ties: str, gain: str, choices: dict[str, Any], rows: int
) -> None:
    """Every metric and rule for ties; blocks of any size; rows and users in any order."""
    frame, rng = _drawn(seed, 6), np.random.default_rng(seed)
    options = {"ties": ties, "gain": gain, **choices}
    together = _scores(frame, options)
    _same_bits(_scores(frame, options, rows), together, "blocks")
    _same_bits(_scores(frame.sample(frac=1, random_state=rng), options), together, "rows")
    renamed = frame.assign(user=5 - frame["user"])
    _same_bits(_scores(renamed, options).iloc[::-1].set_axis(together.index), together, "users")
    for user in (0, 3):
        own = frame[frame["user"] == user]
        if len(set(own["true"])) > 1 or len(own) <= 2:
            _same_bits(_scores(own, options), together.loc[[user]], f"user {user} alone")


def test_the_order_of_the_input_settles_ties_whoever_else_is_there() -> None:
    """Under ties="input" the user's own rows keep their order, and nothing else plays a part."""
    frame = _drawn(3, 8)
    options = {"ties": "input"}
    together = _scores(frame, options)
    mixed = frame.iloc[np.argsort(np.random.default_rng(0).random(8)[frame["user"]], kind="stable")]
    _same_bits(_scores(mixed, options), together, "users mixed")
    _same_bits(_scores(frame[frame["user"] == 4], options), together.loc[[4]], "alone")


def test_a_user_of_a_million_rows_beside_one_of_a_single_row() -> None:
    """The widths of their tables could not differ more."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    large = pd.DataFrame(
        {
            "user": "large",
            "item": np.arange(n),
            "estimated": rng.integers(0, 1000, n) / 7,
            "true": rng.integers(1, 11, n) / 2,
        }
    )
    small = pd.DataFrame({"user": "small", "item": [1], "estimated": [2.0], "true": [0.3]})
    other = small.assign(user="other", true=100.0)
    names = ["ndcg", "ndcg@10", "dcg", "ap", "rr", "rprecision", "rmse", "rbp"]
    how: dict[str, Any] = {"metrics": names, "k": None, "threshold": 0.2}
    together = rn.evaluate(pd.concat([small, large, other]), **how).per_user
    for part in (small, large, other):
        user = part["user"].iloc[0]
        alone = rn.evaluate(part, **how).per_user
        _same_bits(alone, together.loc[[user]], user)


def test_one_users_gains_do_not_destroy_anothers_score() -> None:
    """Gains of 1 and of 1e30 side by side, with ties."""
    ann = [("ann", item, estimated, 100.0) for item, estimated in enumerate([3, 3, 2, 1])]
    bob = [("bob", item, *pair) for item, pair in enumerate([(3, 1), (3, 0.5), (2, 4), (1, 2)])]
    alone = rn.evaluate(bob, k=4).per_user
    for rows in (ann + bob, bob + ann):
        _same_bits(rn.evaluate(rows, k=4).per_user.loc[["bob"]], alone, "bob")


def test_where_impossible_predictions_go_is_the_users_own_affair() -> None:
    """Below the user's own estimates: another's lowest one does not decide what is recommended."""
    flag = {"was_impossible": True}
    ann: list[Any] = [
        ("ann", "a", 5.0, 4.0, {}),
        ("ann", "b", 5.0, 3.0, flag),
        ("ann", "c", 1.0, 2.0, {}),
    ]
    bob: list[Any] = [("bob", "a", 5.0, -900.0, {}), ("bob", "b", 1.0, 3.0, {})]
    how: dict[str, Any] = {
        "metrics": ["precision@3", "recall@3"],
        "threshold": 4,
        "convention": rn.Convention(impossible="last", recommend_from=-50.0),
    }
    alone = rn.evaluate(ann, **how).per_user
    _same_bits(rn.evaluate(ann + bob, **how).per_user.loc[["ann"]], alone, "ann")
