"""The verdict is true in every case: what it claims is read back and held against the numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.comparison.models import Rows, model, models, ratings


def _check(found: rn.Comparison) -> None:
    """Hold each claim against the tables."""
    board, pairs, said = found.leaderboard, found.pairwise, found.verdict
    pairs = pairs[pairs["metric"] == found.metrics[0]]
    sure = pairs[pairs["p_corrected"] <= 0.05]
    if match := re.match(r"(\w+) is better than (\w+) in ", said):
        winner, loser = match.groups()
        assert len(sure) == 1
        assert board["mean"][winner] > board["mean"][loser]
        behind = re.search(r"behind for (\d+)%", said)
        low, high = map(float, re.findall(r"interval (\S+) to ([^)]+)\)", said)[0])
        apart = board["mean"][winner] - board["mean"][loser]
        assert 0 < low <= apart * 1.1 + 1e-3
        assert high >= apart * 0.9 - 1e-3
        assert behind is not None
    elif match := re.match(r"(\w+) is better than each of the other (\d+) models", said):
        assert int(match[2]) == len(board) - 1
        assert (sure["a"].eq(match[1]) | sure["b"].eq(match[1])).sum() == len(board) - 1
        assert board["tier"].drop(match[1]).min() > 1
        assert board.index[0] == match[1]
    elif match := re.match(r"(\w+) alone is in the first tier of", said):
        assert (board["tier"] == 1).sum() == 1
        assert board.loc[match[1], "tier"] == 1
    elif match := re.match(r"(.+) share the first tier of (\d+) models", said):
        names = re.split(r", | and ", match[1])
        top = board.index[board["tier"] == 1].tolist()
        assert names == top if len(top) <= 4 else names[:4] == top[:4]
        assert len(sure) > 0
    elif re.match(r"The data do not tell ", said):
        assert len(sure) == 0
        assert (pairs["wins"] + pairs["losses"]).sum() > 0
    elif "score the same in" in said:
        assert (pairs["wins"] + pairs["losses"]).sum() == 0
    else:
        assert said.startswith(("Only 1 user can be compared", "Nobody has a score"))
        assert pairs["p_corrected"].isna().all()
    assert said.count("\n") == 0
    assert len(re.findall(r"[.?](?= [A-Z]|$)", said)) <= 3, said


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@given(
    st.integers(1, 40),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, 30.0]), min_size=2, max_size=5),
    st.integers(0, 10),
    st.sampled_from(["ndcg@3", "rmse", "precision@3"]),
    st.sampled_from(["max-T", "holm", "none"]),
)
def test_the_verdict_of_drawn_models_is_true(
    users: int, noise: list[float], seed: int, metric: str, correction: str
) -> None:
    """Equal models, one user, few and many."""
    true = ratings(users, seed)
    entered = {f"m{place}": model(true, size, seed) for place, size in enumerate(noise)}
    found = rn.compare(entered, metrics=[metric], threshold=4, correction=correction, draws=499)
    if metric == "rmse":
        board = found.leaderboard
        ordered = board.sort_values(["tier", "mean"], kind="stable")
        assert board["mean"].tolist() == ordered["mean"].tolist() or board["mean"].isna().any()
        return
    _check(found)


def test_all_ties() -> None:
    """Models that order nothing score as chance does, all the same."""
    true = ratings(30)
    flat: dict[str, Rows] = {
        name: [(user, item, value, grade) for user, item, grade in true]
        for name, value in (("one", 1.0), ("two", 2.0), ("three", 3.0))
    }
    with pytest.warns(rn.DataWarning, match="order is random"):
        found = rn.compare(flat)
    assert found.verdict.startswith("All 3 models score the same in ndcg@10 for each of 30 users.")


def test_many_users_and_a_trivial_difference() -> None:
    """It is significant, and called very small."""
    draw = np.random.default_rng(0)
    true = [
        (user, item, float(grade))
        for user in range(4000)
        for item, grade in enumerate(draw.integers(1, 6, size=3))
    ]
    one = [(user, item, draw.normal(), grade) for user, item, grade in true]
    better = {int(user) for user in draw.choice(4000, size=40, replace=False)}
    two = [
        (user, item, grade if user in better else estimated, grade)
        for user, item, estimated, grade in one
    ]
    found = rn.compare({"one": one, "two": two}, metrics=["ndcg@3"])
    assert found.verdict.startswith("two is better than one in ndcg@3: by 0.00")
    assert "That is a very small difference (d_z = 0.0" in found.verdict
    assert "behind for 0%" in found.verdict


@pytest.mark.parametrize("metric", ["rmse", "mse", "mae"])
def test_no_difference_has_no_sign(metric: str) -> None:
    """Of errors, less is better: the difference was shown as -0.0000."""
    rows: dict[str, Rows] = {
        name: [
            (f"u{user}", item, true + (user % 2 == odd), true)
            for user in range(12)
            for item, true in (("x", 3.0), ("y", 1.0))
        ]
        for odd, name in enumerate(("one", "two"))
    }
    found = rn.compare(rows, metrics=[metric], margin=0.1)
    assert found.pairwise["difference"].iloc[0] == 0
    assert "one less two is 0.0000 over 12 users" in found.verdict
    assert f"two against one in {metric}: 0.0000 over 12 users" in found.not_worse("two").reason


def test_no_difference_states_what_would_have_been_found() -> None:
    """So that it is read rightly."""
    found = rn.compare(models(users=30, one=1.0, other=1.05), metrics=["ndcg@5"])
    assert found.verdict.startswith("The data do not tell one and other apart in ndcg@5:")
    least = float(found.pairwise["detectable"].iloc[0])
    assert f"A difference of {least:.4f} would have been found with 80 % power." in found.verdict


def test_a_margin_answers_in_its_own_words() -> None:
    """Equivalent, not worse, or not shown."""
    near = models(users=400, one=1.0, other=1.01)
    assert "They are equivalent within the margin of 0.05." in rn.compare(near, margin=0.05).verdict
    few = models(users=8, one=1.0, other=1.5)
    assert "is not shown" in rn.compare(few, margin=0.001).verdict
    apart = models(users=200, good=0.2, poor=20.0)
    said = rn.compare(apart, margin=0.01).verdict
    assert said.startswith("good is better than poor")
    assert "good is not worse than poor by 0.01 or more; of poor that is not shown." in said


def test_a_margin_answers_for_many_models() -> None:
    """Who is surely not worse than the best."""
    near = models(users=300, one=1.0, other=1.01, far=9.0)
    found = rn.compare(near, margin=0.05, metrics=["ndcg@5"])
    best, second, _ = found.leaderboard.index
    assert f"Shown to be not worse than {best} by 0.05 or more: {second}." in found.verdict
    few = rn.compare(models(users=8, a=1.0, b=1.2, c=1.4), margin=0.001, metrics=["ndcg@5"])
    assert "Of no model it is shown that it is not worse than" in few.verdict


def test_hostile_names_stay_on_one_line() -> None:
    """Names are shown, not obeyed."""
    both = models(users=20, a=0.5, b=3.0)
    found = rn.compare({"\x1b[2Jx\n": both["a"], "b": both["b"]})
    assert found.verdict.isprintable()
    assert all(line.isprintable() for line in found.remarks)
