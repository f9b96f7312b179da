"""A user's score depends on that user's rows only, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from tests.accuracy import METRICS
from tests.profiles import examples, slow

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ORDERED = ["expected", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"]
#: Each user has one: half stars, a scale of 100, clicks. Their gains reach from 1 to 1e30.
SCALES: list[tuple[float, ...]] = [
    (0.5, 1.0, 1.5, 3.5, 4.5, 5.0), (0.1, 0.2, 0.3, 0.7), (1.0, 64.5, 99.5, 100.0), (0.0, 1.0),
]  # fmt: skip
CUT = [name for name, kind in METRICS.items() if kind.cutoff != "none"]
NAMES = [*METRICS, *(f"{name}@{k}" for name in CUT for k in (1, 5, 10, 200))]


def _make_users(seed: int, n_users: int) -> pd.DataFrame:
    """Return users with lists of 1 to 300 items, of their own scales, most with ties."""
    rng = np.random.default_rng(seed)
    parts = []
    for user in range(n_users):
        n = int(rng.choice([1, 2, 7, 9, 20, 130, 300]))
        items, estimated = rng.permutation(1000)[:n], rng.integers(0, max(n // 4, 2), n) / 3
        true = rng.choice(SCALES[int(rng.integers(len(SCALES)))], n)
        columns = {"user": user, "item": items, "estimated": estimated, "true": true}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _score(frame: pd.DataFrame, options: dict[str, Any], rows: int = 1 << 16) -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", 4 * rows)
        how: dict[str, Any] = {"threshold": 3, "convention": rn.Convention(**options)}
        return rn.evaluate(frame, metrics=NAMES, k=None, **how).per_user


def _check_same_bits(one: pd.DataFrame, other: pd.DataFrame, what: str) -> None:
    left, right = one.to_numpy(dtype=float), other.to_numpy(dtype=float)
    differs = (left != right) & ~(np.isnan(left) & np.isnan(right))
    assert not differs.any(), f"{what}: {one.columns[differs.any(axis=0)].tolist()}"


CHOICES: list[dict[str, Any]] = [
    {}, {"ideal": "max", "max_grade": 100.0}, {"ideal": "local", "discount": "ln"},
    {"discount": "reciprocal", "ap_over": "capped", "short_list": "n"},
    {"recommend_from": 1.0, "tie_tolerance": 0.5},
]  # fmt: skip
TIES, GAINS = st.sampled_from(ORDERED), st.sampled_from(["exponential", "linear"])
OPTIONS = st.builds(lambda ties, gain, choices: {"ties": ties, "gain": gain, **choices},
                    TIES, GAINS, st.sampled_from(CHOICES))  # fmt: skip


@examples(0.25)
@given(st.integers(0, 1 << 30), OPTIONS, st.sampled_from([1, 50, 400]))
def test_scores_do_not_depend_on_other_users_or_blocks(seed: int, options: Any, rows: int) -> None:
    """Every metric and rule for ties; blocks of any size; rows and users in any order."""
    frame, rng = _make_users(seed, 6), np.random.default_rng(seed)
    together = _score(frame, options)
    _check_same_bits(_score(frame, options, rows), together, "blocks")
    _check_same_bits(_score(frame.sample(frac=1, random_state=rng), options), together, "rows")
    renamed = frame.assign(user=5 - frame["user"])
    reversed_users = _score(renamed, options).iloc[::-1].set_axis(together.index)
    _check_same_bits(reversed_users, together, "users")
    for user in (0, 3):
        own = frame[frame["user"] == user]
        if len(set(own["true"])) > 1 or len(own) <= 2:
            _check_same_bits(_score(own, options), together.loc[[user]], f"only user {user}")


def test_ties_in_input_order_depend_only_on_the_users_own_rows() -> None:
    """Under ties="input"."""
    frame, options = _make_users(3, 8), {"ties": "input"}
    together = _score(frame, options)
    mixed = frame.iloc[np.argsort(np.random.default_rng(0).random(8)[frame["user"]], kind="stable")]
    _check_same_bits(_score(mixed, options), together, "users mixed")
    _check_same_bits(_score(frame[frame["user"] == 4], options), together.loc[[4]], "only user 4")


@pytest.mark.parametrize("n", [10_000, *slow(1_000_000)])
def test_a_long_list_does_not_change_the_score_of_a_short_one(n: int) -> None:
    """The widths of their tables could not differ more."""
    rng = np.random.default_rng(0)
    large = pd.DataFrame({"item": np.arange(n), "estimated": rng.integers(0, 1000, n) / 7})
    large = large.assign(user="large", true=rng.integers(1, 11, n) / 2)
    small = pd.DataFrame({"user": "small", "item": [1], "estimated": [2.0], "true": [0.3]})
    names = ["ndcg", "ndcg@10", "dcg", "ap", "rr", "rprecision", "rmse", "rbp"]
    how: dict[str, Any] = {"metrics": names, "k": None, "threshold": 0.2}
    together = rn.evaluate(pd.concat([small, large]), **how).per_user
    for user, part in (("small", small), ("large", large)):
        _check_same_bits(rn.evaluate(part, **how).per_user, together.loc[[user]], user)


def test_impossible_predictions_rank_below_the_users_own_estimates() -> None:
    """Another user's lowest estimate does not decide what is recommended."""
    ann: list[Any] = [("ann", "b", 5.0, 3.0, {"was_impossible": True}), ("ann", "c", 1.0, 2.0, {})]
    bob: list[Any] = [("bob", "a", 5.0, -900.0, {}), ("bob", "b", 1.0, 3.0, {})]
    last = rn.Convention(impossible="last", recommend_from=-50.0)
    how: Any = {"metrics": ["precision@3", "recall@3"], "threshold": 4, "convention": last}
    together = rn.evaluate(ann + bob, **how).per_user
    _check_same_bits(rn.evaluate(ann, **how).per_user, together.loc[["ann"]], "ann")
