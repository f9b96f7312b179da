"""Chance, extremes, adjusted and z of each user, by trying every order; and leaderboards."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from tests import sample_lists, strategies, textbook
from tests.errors import assert_rejected
from tests.profiles import examples
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
LINEAR = ["cg", "dcg", "ndcg", "precision", "recall", "f1", "rbp", "judged", "rprecision", "auc"]
METRICS = [*LINEAR, "ap", "rr", "hit"]
GRADED = ["cg@3", "dcg@3", "ndcg@3", "dcg", "ndcg", "ndcg@40"]
CUTOFFS = st.sampled_from([1, 2, 3, None])
COLUMNS = ["score", "chance", "worst", "best", "adjusted", "z", "excess", "variance"]


def _levels(metric: str, k: int | None, data: Sample, chosen: Choices) -> pd.DataFrame:
    """Return a row per user, by trying every order; NaN for users who are left out."""
    found: dict[Any, list[float]] = {}
    expected = replace(chosen, ties="expected")
    counted = textbook.counted(metric, k, data.users, data.unlisted, chosen, 0.8)
    for user, parts in counted.items():
        found[user] = [math.nan] * len(COLUMNS)
        others = textbook.known(data.unlisted.get(user, []), chosen)
        if parts is None:
            continue
        found[user][0] = textbook.value(metric, *parts, chosen)
        if not _depends_on_order(metric, chosen):
            orders = permutations(textbook.kept(data.users.get(user, []), chosen))
            every = [textbook.across([[*o]], metric, k, others, expected, 0.8) for o in orders]
            assert len({denominator for _, denominator in every}) == 1
            found[user][1:] = _of_one(parts, [one for one, _ in every], metric, chosen)
    return pd.DataFrame.from_dict(found, orient="index", columns=COLUMNS)


def _depends_on_order(metric: str, chosen: Choices) -> bool:
    """Return whether the denominator depends on the order, so that no order is the best."""
    return metric == "ap" and chosen.ap_over == "hits"


def _of_one(
    parts: textbook.Parts, numerators: list[float], metric: str, chosen: Choices
) -> list[float]:
    """Return all columns but the score."""
    mean = math.fsum(numerators) / len(numerators)
    variance = math.fsum((one - mean) ** 2 for one in numerators) / len(numerators)
    score, chance, worst, best = (
        textbook.value(metric, one, parts[1], chosen)
        for one in (parts[0], mean, min(numerators), max(numerators))
    )
    excess = parts[0] - mean
    adjusted, linear = _adjusted(score, chance, best), [math.nan] * 3
    if parts[1] == 0 or best - worst < 1e-9:
        adjusted = math.nan
    elif metric in LINEAR:
        linear = [excess / math.sqrt(variance), excess, variance]
    return [chance, worst, best, adjusted, *linear]


def _adjusted(score: float, chance: float, best: float) -> float:
    return (score - chance) / (best - chance) if best - chance > 1e-9 else math.nan


def _check_levels(data: Sample, chosen: Choices, k: int | None) -> None:
    """Compare the levels of each user and of all users together with every order's."""
    uncut = {"auc", "rprecision"}
    names = {one if k is None or one in uncut else f"{one}@{k}": one for one in METRICS}
    how: dict[str, Any] = {"convention": strategies.to_convention(chosen), "k": None}
    report = rn.evaluate(data.lists, metrics=[*names], threshold=chosen.threshold, **how)
    for name, metric in names.items():
        expected = _levels(metric, k, data, chosen)
        assert {*report.per_user_audit(name).index} == {*expected.index}
        ours, theirs = (one[COLUMNS[:6]] for one in (report.per_user_audit(name), expected))
        np.testing.assert_allclose(ours.loc[theirs.index], theirs, 1e-9, 1e-9, err_msg=name)
        assert report.counts[f"trivial {name}"] == (expected.best - expected.worst < 1e-9).sum()
        mean = expected.mean()
        z = expected["excess"].sum() / math.sqrt(expected["variance"].sum() or math.nan)
        ties = [math.nan] * 2
        if not _depends_on_order(metric, chosen):
            ties = [
                textbook.mean(metric, k, data.users, data.unlisted, replace(chosen, ties=one), 0.8)
                for one in ("worst", "best")
            ]
        adjusted = _adjusted(mean["score"], mean["chance"], mean["best"])
        wanted = [*mean[["chance", "worst", "best"]], adjusted, z, *ties]
        found = report.audit.loc[name, [*COLUMNS[1:6], "tie_low", "tie_high"]].astype(float)
        np.testing.assert_allclose(found, wanted, 1e-9, 1e-9, err_msg=f"{name} of all")


@examples(0.6)
@given(data=strategies.datasets(most=5), chosen=strategies.choices, k=CUTOFFS)
def test_levels_agree_with_all_orders(data: Sample, chosen: Choices, k: int | None) -> None:
    """Of each user, and of all users together."""
    assume(strategies.is_usable(data))
    chosen = strategies.without_estimate_limit(chosen, data)
    if chosen.ap_over == "k" and k is None:
        chosen = replace(chosen, ap_over="capped")
    if chosen.ap_over == "hits" and chosen.ties in strategies.ANY_ORDER:  # undefined with ties
        chosen = replace(chosen, ties="item_asc")
    _check_levels(data, chosen, k)


CHANGES: list[tuple[dict[str, Any], int | None]] = [
    ({}, None), ({"ties": "best", "ideal": "max"}, 2),
    ({"ties": "worst", "unlabelled": "filter", "unlisted": "ignore"}, None),
    ({"ties": "item_asc", "tie_tolerance": 0.5, "gain": "linear"}, 2),
    ({"ideal": "local", "recommend_from": 1.0, "undefined": 0.0}, 2),
    ({"ties": "item_desc", "ap_over": "hits", "undefined": 1.0}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "k"), CHANGES)
def test_levels_of_constructed_lists(changed: dict[str, Any], k: int | None) -> None:
    """With a tie across the cutoff, and users without a list or without labels."""
    data = sample_lists.rated_data() if "recommend_from" in changed else sample_lists.joined_data()
    _check_levels(data, replace(Choices(threshold=3.0, max_grade=5.0), **changed), k)


def _lists(sizes: dict[str, tuple[int, float]], seed: int = 0) -> pd.DataFrame:
    """Draw lists with ties: for each user the number of items, and the scale of the grades."""
    rng, parts = np.random.default_rng(seed), []
    for user, (n, scale) in sizes.items():
        part = pd.DataFrame({"user": user, "item": rng.permutation(n)})
        estimated, true = rng.integers(0, max(n // 2, 2), n) / 3, rng.integers(1, 6, n) * scale
        parts.append(part.assign(estimated=estimated, true=true))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("options", [{}, {"ideal": "max", "max_grade": 5e200}])
@pytest.mark.parametrize("ties", ["expected", "worst"])
def test_users_may_have_gains_of_any_magnitude(ties: Any, options: dict[str, Any]) -> None:
    """Each user's z and adjusted do not depend on the scale of the grades."""
    scales = {"plain": 1.0, "large": 1e200, "small": 1e-100 if options else 1e-200}
    lengths = {user: (9 + place, 1.0) for place, user in enumerate(scales)}
    frame = _lists({**lengths, "single": (1, 1.0), "long": (400, 1.0)})
    convention = rn.Convention(gain="linear", ties=ties, **options)
    scaled = frame.assign(true=frame["true"] * frame["user"].map(scales).fillna(1.0))
    plain, report = (
        rn.evaluate(one, metrics=GRADED, k=None, convention=convention) for one in (frame, scaled)
    )
    for name in GRADED:
        ours, expected = report.per_user_audit(name), plain.per_user_audit(name)
        assert expected["z"].notna().sum() >= 1 + (name != "cg@3")
        for column in ("adjusted", "z"):
            np.testing.assert_allclose(ours[column], expected[column], rtol=1e-9, atol=1e-13)


OPTIONS: list[dict[str, Any]] = [
    {}, {"recommend_from": 1.0, "tie_tolerance": 0.5}, {"ideal": "max", "max_grade": 5e30},
]  # fmt: skip
TIES = ["expected", "best", "worst", "item_asc", "text_desc"]
drawn = st.tuples(st.sampled_from(TIES), st.sampled_from(OPTIONS), st.sampled_from([1, 100]))


@examples(0.15)
@given(st.integers(0, 1 << 30), drawn)
def test_levels_depend_on_the_users_own_rows_only(seed: int, how: Any) -> None:
    """To the last bit: alone or among others, in any order of rows, in blocks of any size."""
    ties, options, rows = how
    sizes = {"a": (1, 1.0), "b": (30, 1e30), "c": (7, 1e-30), "d": (300, 1.0), "e": (9, 0.1)}
    frame = _lists(sizes, seed)
    names = [*GRADED, "precision@5", "recall@40", "f1", "rbp", "rbp@5", "judged@5", "ap", "rr@5"]
    convention = rn.Convention(gain="linear", ties=ties, **options)

    def audits(table: pd.DataFrame) -> pd.DataFrame:
        report = rn.evaluate(table, metrics=names, k=None, threshold=3, convention=convention)
        return pd.concat({name: report.per_user_audit(name) for name in names}, axis=1).sort_index()

    together = audits(frame)
    mixed = frame.sample(frac=1, random_state=seed % 1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", rows)
        pd.testing.assert_frame_equal(audits(mixed), together, check_exact=True)
    for user in "abde":
        own = audits(mixed[mixed["user"] == user])
        pd.testing.assert_frame_equal(own, together.loc[[user]], check_exact=True)


# Leaderboards


def _ranked(**lists: str) -> dict[str, list[tuple[float, int]]]:
    """Return lists of grades in ranked order."""
    return {
        user: [(-at, int(one)) for at, one in enumerate(grades)] for user, grades in lists.items()
    }


@pytest.fixture(name="board")
def _board() -> rn.Report:
    """Bob and cy have the same list; eve's is trivial, and fay's has nothing relevant."""
    lists = _ranked(ann="110000", bob="1100", cy="1100", dan="0110", eve="11", fay="000", gus="100")
    return rn.evaluate(lists, metrics=["recall@2", "precision@2", "rr@2"], threshold=1)


def test_a_leaderboard_ranks_users_by_score_adjusted_or_z(board: rn.Report) -> None:
    """Users with equal scores are ordered by z; users equal in both share a rank."""
    best = board.leaderboard("RECALL@2")
    assert best["rank"].to_dict() == {"ann": 1, "bob": 2, "cy": 2, "gus": 4, "dan": 5}
    assert [*best] == ["rank", "items", "relevant", "score", "chance", "adjusted", "z"]
    worst = board.leaderboard("recall@2", ascending=True)
    assert worst["rank"].to_dict() == {"dan": 1, "gus": 2, "bob": 3, "cy": 3, "ann": 5}
    for by in ("score", "adjusted", "z"):
        for ascending in (False, True):
            table = board.leaderboard("recall@2", by=by, ascending=ascending)
            assert table[by].tolist() == sorted(table[by], reverse=not ascending)
            assert table.pop("rank").is_monotonic_increasing
            audit = board.per_user_audit("recall@2").loc[table.index]
            pd.testing.assert_frame_equal(table, audit.drop(columns=["worst", "best"]))
    assert board.leaderboard("recall@2", n=2).index.tolist() == ["ann", "bob"]


def test_a_leaderboard_leaves_out_and_counts_trivial_users(board: rn.Report) -> None:
    """And leaves out users without a score."""
    for name, trivial in (("recall@2", 1), ("precision@2", 2), ("rr@2", 1)):
        table = board.leaderboard(name)
        assert table.attrs["trivial"] == board.counts[f"trivial {name}"] == trivial
        assert not {"eve", "fay"} & set(table.index)
    assert board.leaderboard("rr@2")["z"].isna().all()


def test_a_leaderboard_of_all_users_can_include_trivial_ones(board: rn.Report) -> None:
    """They have no z: in its order they come last and share a rank, worst first, too."""
    all_users = board.leaderboard("recall", None)
    assert len(all_users) == board.leaderboard("recall").index.size == 5
    found = {
        (by, up): board.leaderboard("recall", None, by=by, ascending=up, include_trivial=True)
        for by in ("score", "z") for up in (False, True)
    }  # fmt: skip
    for table in found.values():
        assert sorted(table.index) == ["ann", "bob", "cy", "dan", "eve", "gus"]
    ranks = found["score", False]["rank"].to_dict()  # eve's score is 1, too
    assert (ranks["gus"], ranks["eve"], ranks["dan"]) == (4, 5, 6)
    two = board.leaderboard("precision@2", None, by="z", include_trivial=True)
    assert two["rank"].iloc[-2:].tolist() == [len(two) - 1] * 2
    assert {*two.index[-2:]} == {"eve", "fay"}
    for up in (False, True):
        assert found["z", up].index[-1] == "eve"


def test_a_metric_is_left_out_where_there_is_one(board: rn.Report) -> None:
    """With several, the error names them; so does a name without cutoff that fits several."""
    lists = {"labels": {"ann": {"b", "c"}}, "results": {"ann": ["b", "a", "c"]}}
    one = rn.evaluate(lists, metrics=["coverage@2", "ndcg@2"], catalogue=[*"abcd"])
    pd.testing.assert_frame_equal(one.leaderboard(), one.leaderboard("ndcg@2"))
    pd.testing.assert_frame_equal(one.per_user_audit(), one.per_user_audit("ndcg"))
    assert rn.evaluate({"ann": [(4, 5), (3, 2)]}, k=2).signature().startswith("ndcg@2|")
    message = "This report has 3 metrics: recall@2, precision@2, rr@2. Name one of them."
    for call in (board.leaderboard, board.per_user_audit, board.signature):
        assert_rejected(message, call)


@pytest.mark.parametrize("short", ["1010", "10"])
def test_the_longer_list_comes_first_if_score_and_z_are_equal(short: str) -> None:
    """Half of each list is relevant: z is 1 for both, up to rounding."""
    lists = _ranked(short=short, long="101010")
    report = rn.evaluate(lists, metrics="precision@1", threshold=1)
    for ascending in (False, True):
        table = report.leaderboard("precision@1", ascending=ascending)
        assert [*table["rank"].items()] == [("long", 1), ("short", 1)]


def test_a_leaderboard_rejects_unusable_arguments(board: rn.Report) -> None:
    """No users, no such column, no such number."""
    for n in (0, 2.0, True, "3"):
        assert_rejected("n must be a whole number of at least 1", board.leaderboard, "recall@2", n)
    message = "by must be one of 'score', 'adjusted', 'z', not 'lift'"
    assert_rejected(message, board.leaderboard, "recall@2", by="lift")
    message = "rr@2 has no z for any user: pass by='score'"
    assert_rejected(message, board.leaderboard, "rr@2", by="z")
