"""Levels: what every order of a list scores, and who leads the board, by trying every order."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from tests import sample_lists, strategies, textbook
from tests.errors import rejects
from tests.profiles import examples
from tests.textbook import Choices

if TYPE_CHECKING:
    from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
LINEAR = ["cg", "dcg", "ndcg", "precision", "recall", "f1", "rbp", "judged", "rprecision", "auc"]
OTHERS = ["ap", "rr", "hit"]
GRADED = ["cg@3", "dcg@3", "ndcg@3", "dcg", "ndcg", "ndcg@40"]
CUTOFFS = st.sampled_from([1, 2, 3, None])


def _levels(metric: str, k: int | None, data: Sample, chosen: Choices) -> pd.DataFrame:
    """Return a row per user, by trying every order; without numbers for those left out.

    The estimates say how many items are recommended, and nothing else.
    """
    counted = textbook.counted(metric, k, data.users, data.unlisted, chosen, 0.8)
    found = {user: {"score": math.nan} for user in counted}
    expected = replace(chosen, ties="expected")
    for user, parts in counted.items():
        others = textbook.known(data.unlisted.get(user, []), chosen)
        orders = permutations(textbook.kept(data.users.get(user, []), chosen))
        if parts is not None:
            every = [textbook.across([[*o]], metric, k, others, expected, 0.8) for o in orders]
            if _open(metric, chosen):
                found[user] = {"score": textbook.value(metric, *parts, chosen)}
            else:
                assert len({denominator for _, denominator in every}) == 1
                found[user] = _of_one(parts, [one[0] for one in every], metric, chosen)
    columns = ["score", "chance", "worst", "best", "adjusted", "z", "excess", "variance"]
    return pd.DataFrame.from_dict(found, orient="index").reindex(columns=columns)


def _open(metric: str, chosen: Choices) -> bool:
    """Tell where the denominator depends on the order, so that no order is known to be best."""
    return metric == "ap" and chosen.ap_over == "hits"


def _of_one(
    parts: textbook.Parts, numerators: list[float], metric: str, chosen: Choices
) -> dict[str, float]:
    mean = math.fsum(numerators) / len(numerators)
    variance = math.fsum((one - mean) ** 2 for one in numerators) / len(numerators)
    score, chance, worst, best = (
        textbook.value(metric, one, parts[1], chosen)
        for one in (parts[0], mean, min(numerators), max(numerators))
    )
    row = {"score": score, "chance": chance, "worst": worst, "best": best}
    if parts[1] == 0 or best - worst < 1e-9:
        return row
    z = (parts[0] - mean) / math.sqrt(variance)
    row |= {"adjusted": _adjusted(score, chance, best)}
    linear = {"z": z, "excess": parts[0] - mean, "variance": variance}
    return row | linear if metric in LINEAR else row


def _adjusted(score: float, chance: float, best: float) -> float:
    return (score - chance) / (best - chance) if best - chance > 1e-9 else math.nan


@examples(0.6)
@given(
    data=strategies.datasets(most=5),
    chosen=strategies.choices,
    k=CUTOFFS,
)
def test_levels_are_those_of_all_orders(data: Sample, chosen: Choices, k: int | None) -> None:
    """Chance, extremes, adjusted and z; the last two also of all who have a score together."""
    assume(strategies.is_usable(data))
    chosen = strategies.without_estimate_limit(chosen, data)
    if chosen.ap_over == "k" and k is None:
        chosen = replace(chosen, ap_over="capped")
    if (
        chosen.ap_over == "hits" and chosen.ties in strategies.ANY_ORDER
    ):  # without a number under ties
        chosen = replace(chosen, ties="item_asc")
    _are_those_of_all_orders(data, chosen, k)


USUAL = Choices(threshold=3.0, max_grade=5.0)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"ties": "best", "ideal": "max"},
        {"ties": "worst", "unlabelled": "filter", "unlisted": "ignore"},
        {"ties": "item_asc", "tie_tolerance": 0.5, "gain": "linear"},
        {"ideal": "local", "recommend_from": 1.0, "undefined": 0.0},
        {"ties": "item_desc", "ap_over": "hits", "undefined": 1.0},
    ],
)
def test_levels_of_lists_made_to_show_them(changed: dict[str, Any], k: int | None) -> None:
    """With a tie across the cutoff, and with users who have no list or no label."""
    data = sample_lists.rated_data() if "recommend_from" in changed else sample_lists.joined_data()
    _are_those_of_all_orders(data, replace(USUAL, **changed), k)


def _are_those_of_all_orders(data: Sample, chosen: Choices, k: int | None) -> None:
    uncut = {"auc", "rprecision"}
    names = {
        name if k is None or name in uncut else f"{name}@{k}": name for name in [*LINEAR, *OTHERS]
    }
    convention = strategies.to_convention(chosen)
    report = rn.evaluate(
        data.lists, metrics=[*names], k=None, threshold=chosen.threshold, convention=convention
    )
    for name, metric in names.items():
        expected = _levels(metric, k, data, chosen)
        ours, columns = report.per_user_audit(name), [*expected.columns[:6]]
        assert set(ours.index) == set(expected.index)
        np.testing.assert_allclose(
            ours.loc[expected.index, columns], expected[columns], 1e-9, 1e-9, err_msg=name
        )
        assert report.counts[f"trivial {name}"] == (expected.best - expected.worst < 1e-9).sum()
        mean, of_all = expected.mean(), report.audit.loc[name].to_dict()
        _is_that_of_all_ties([of_all["tie_low"], of_all["tie_high"]], metric, k, data, chosen)
        adjusted = _adjusted(mean["score"], mean["chance"], mean["best"])
        z = math.nan
        if expected["variance"].any():
            z = expected["excess"].sum() / math.sqrt(expected["variance"].sum())
        found = [of_all["adjusted"], of_all["z"]]
        np.testing.assert_allclose(found, [adjusted, z], 1e-9, 1e-9, err_msg=f"{name} of all")


def _is_that_of_all_ties(
    found: list[float], metric: str, k: int | None, data: Sample, chosen: Choices
) -> None:
    """Compare with the means of each user's lowest and highest score over all orders of ties."""
    expected = [math.nan, math.nan]
    if not _open(metric, chosen):
        expected = [
            textbook.mean(metric, k, data.users, data.unlisted, replace(chosen, ties=ties), 0.8)
            for ties in ("worst", "best")
        ]
    np.testing.assert_allclose(found, expected, 1e-9, 1e-9, err_msg=f"ties of {metric}")


def _lists(n_items: dict[str, tuple[int, float]], seed: int = 0) -> pd.DataFrame:
    """Draw lists with ties, of so many items and of grades 1 to 5 times so much."""
    rng = np.random.default_rng(seed)
    parts = [
        {
            "user": user,
            "item": rng.permutation(n),
            "estimated": rng.integers(0, max(n // 2, 2), n) / 3,
            "true": rng.integers(1, 6, n) * scale,
        }
        for user, (n, scale) in n_items.items()
    ]
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)


@pytest.mark.parametrize("top", [None, 5e200])
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "item_asc"])
def test_gains_of_any_magnitude_stand_side_by_side(ties: str, top: float | None) -> None:
    """Each user's z and adjusted are those of the same list with grades from 1 to 5."""
    scales = {"plain": 1.0, "large": 1e200, "small": 1e-100 if top else 1e-200}
    lengths = {user: (9 + place, 1.0) for place, user in enumerate(scales)}
    frame = _lists({**lengths, "single": (1, 1.0), "long": (400, 1.0)})
    options: dict[str, Any] = {"gain": "linear", "ties": ties}
    if top is not None:
        options |= {"ideal": "max", "max_grade": top}
    how: dict[str, Any] = {"metrics": GRADED, "k": None, "convention": rn.Convention(**options)}
    scaled = frame.assign(true=frame["true"] * frame["user"].map(scales).fillna(1.0))
    plain, report = rn.evaluate(frame, **how), rn.evaluate(scaled, **how)
    for name in GRADED:
        ours, expected = report.per_user_audit(name), plain.per_user_audit(name)
        assert expected["z"].notna().sum() >= 1 + (name != "cg@3")
        for column in ("adjusted", "z"):
            np.testing.assert_allclose(ours[column], expected[column], rtol=1e-9, atol=1e-13)


@examples(0.15)
@given(
    seed=st.integers(0, 1 << 30),
    ties=st.sampled_from(["expected", "best", "worst", "item_asc", "text_desc"]),
    options=st.sampled_from(
        [{}, {"recommend_from": 1.0, "tie_tolerance": 0.5}, {"ideal": "max", "max_grade": 5e30}]
    ),
    rows=st.sampled_from([1, 100]),
)
def test_levels_are_the_users_own_to_the_last_bit(
    seed: int, ties: str, options: dict[str, Any], rows: int
) -> None:
    """Alone or among others, in any order of the rows, in blocks of any size."""
    sizes = {"a": (1, 1.0), "b": (30, 1e30), "c": (7, 1e-30), "d": (300, 1.0), "e": (9, 0.1)}
    frame = _lists(sizes, seed)
    names = [*GRADED, "precision@5", "recall@40", "f1", "rbp", "rbp@5", "judged@5", "ap", "rr@5"]
    convention = rn.Convention(gain="linear", ties=ties, **options)

    def audits(table: pd.DataFrame) -> pd.DataFrame:
        report = rn.evaluate(table, metrics=names, k=None, threshold=3, convention=convention)
        return pd.concat({name: report.per_user_audit(name) for name in names}, axis=1).sort_index()

    together = audits(frame)
    mixed = frame.sample(frac=1, random_state=seed % 1000)
    pd.testing.assert_frame_equal(audits(mixed), together, check_exact=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", rows)
        pd.testing.assert_frame_equal(audits(mixed), together, check_exact=True)
    for user in "abde":
        own = audits(mixed[mixed["user"] == user])
        pd.testing.assert_frame_equal(own, together.loc[[user]], check_exact=True)


@pytest.fixture(name="long_way", scope="module")
def _long_way() -> Any:
    """Return the tests of the catalogue, where Surprise is installed."""
    return pytest.importorskip("tests.surprise.test_catalogue")


@examples(0.4)
@given(inner=st.data(), chosen=strategies.choices, k=CUTOFFS)
def test_a_catalogue_has_the_levels_of_all_its_candidates(
    long_way: Any, inner: st.DataObject, chosen: Choices, k: int | None
) -> None:
    """Though it keeps the labelled ones alone: user by user, as all of them ranked."""
    algo, trainset, test = inner.draw(long_way.experiments())
    users = {trainset.to_raw_uid(one) for one in trainset.all_users()}
    assume(trainset.n_items >= (k or 1) and users & {user for user, _, _ in test})
    lists = long_way.estimated(long_way.ranked_the_long_way(algo, trainset, test))
    assume(lists.n_unlabelled or len({grade for _, _, grade in test}) > 1)
    chosen = replace(chosen, tie_tolerance=1e-9, ap_over="relevant")
    names = [name if k is None else f"{name}@{k}" for name in [*LINEAR[:-2], *OTHERS]]
    how: dict[str, Any] = {
        "metrics": names, "k": None, "threshold": chosen.threshold,
        "convention": strategies.to_convention(chosen),
    }  # fmt: skip
    report = long_way.evaluate_catalogue(algo, trainset, test, clip=False, **how)
    every = rn.evaluate(lists, **how)
    for name in names:
        ours, expected = report.per_user_audit(name), every.per_user_audit(name)
        pd.testing.assert_frame_equal(ours, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(report.audit["z"], every.audit["z"], rtol=1e-10, atol=1e-10)


def _ranked(**lists: str) -> dict[str, list[tuple[float, int]]]:
    """Return lists of grades in ranked order."""
    return {
        user: [(-place, int(grade)) for place, grade in enumerate(grades)]
        for user, grades in lists.items()
    }


@pytest.fixture(name="board")
def _board() -> rn.Report:
    """Bob and cy have the same list; eve's is trivial, and fay's without anything relevant."""
    lists = _ranked(ann="110000", bob="1100", cy="1100", dan="0110", eve="11", fay="000", gus="100")
    return rn.evaluate(lists, metrics=["recall@2", "precision@2", "rr@2"], threshold=1)


def test_a_leaderboard_ranks_by_what_it_is_told(board: rn.Report) -> None:
    """Either way; equal scores stand by z, and users equal in both share their rank."""
    best = board.leaderboard("recall@2")
    assert best["rank"].to_dict() == {"ann": 1, "bob": 2, "cy": 2, "gus": 4, "dan": 5}
    worst = board.leaderboard("recall@2", ascending=True)
    assert worst["rank"].to_dict() == {"dan": 1, "gus": 2, "bob": 3, "cy": 3, "ann": 5}
    for by in ("score", "adjusted", "z"):
        for ascending in (False, True):
            table = board.leaderboard("recall@2", by=by, ascending=ascending)
            assert table[by].tolist() == sorted(table[by], reverse=not ascending)
            assert table["rank"].is_monotonic_increasing
            audit = board.per_user_audit("recall@2").loc[table.index]
            pd.testing.assert_frame_equal(
                table.drop(columns="rank"), audit.drop(columns=["worst", "best"])
            )
    assert board.leaderboard("recall@2", n=2).index.tolist() == ["ann", "bob"]


def test_a_leaderboard_counts_whom_every_order_serves_alike(board: rn.Report) -> None:
    """Without those who have no score, unless the convention gives them one."""
    for name, trivial in (("recall@2", 1), ("precision@2", 2), ("rr@2", 1)):
        table = board.leaderboard(name)
        assert table.attrs["trivial"] == board.counts[f"trivial {name}"] == trivial
        assert not {"eve", "fay"} & set(table.index)
    assert board.leaderboard("rr@2")["z"].isna().all()


@pytest.mark.parametrize("short", ["1010", "10"])
def test_the_longer_list_stands_first_where_score_and_z_are_equal(short: str) -> None:
    """Half of each list is relevant: z is 1 for both, whatever the last digit of it."""
    lists = _ranked(short=short, long="101010")
    report = rn.evaluate(lists, metrics="precision@1", threshold=1)
    for ascending in (False, True):
        table = report.leaderboard("precision@1", ascending=ascending)
        assert table["rank"].to_dict() == {"long": 1, "short": 1}
        assert table.index.tolist() == ["long", "short"]


def test_a_leaderboard_refuses_what_it_cannot_rank_by(board: rn.Report) -> None:
    """No users, no such column, no such number."""
    for n in (0, -1, 2.0, True, "3"):
        with rejects("n must be a whole number of at least 1"):
            board.leaderboard("recall@2", n)  # type: ignore[arg-type]
    with rejects("by must be one of 'score', 'adjusted', 'z', not 'lift'"):
        board.leaderboard("recall@2", by="lift")
    with rejects("rr@2 has no z for any user: rank them by='score'"):
        board.leaderboard("rr@2", by="z")


ROWS: list[Any] = [
    ("ann", "a", 5.0, 4.0, {}), ("ann", "b", None, 3.0, {}), ("ann", "c", 2.0, 2.0, {}),
    ("ann", "d", 4.0, 1.0, {"was_impossible": True}), ("bob", "a", 1.0, 1.0, {}),
]  # fmt: skip
LABELS = {"ann": {"a": 1, "y": 4, "z": 5, "c": 3}, "bob": {"y": 2}}
TREC = (LABELS, {"ann": {"c": 3, "a": 2, "b": 1}})


@pytest.mark.parametrize(
    ("lists", "options", "user", "ideal"),
    [
        (ROWS, {}, "ann", ["a", "d", "c", "b"]),
        (ROWS, {"ideal": "max", "max_grade": 5}, "ann", [""] * 10),
        (ROWS, {"impossible": "drop"}, "ann", ["a", "d", "c"]),
        (ROWS, {"impossible": "drop", "ideal": "local"}, "ann", ["a", "c", "b"]),
        (ROWS, {"impossible": "drop", "unlisted": "ignore"}, "ann", ["a", "c", "b"]),
        (TREC, {}, "ann", ["z", "y", "c", "a"]),
        (TREC, {"ideal": "local"}, "ann", ["c", "a", "b"]),
        (TREC, {"unlisted": "ignore"}, "ann", ["c", "a", "b"]),
        (TREC, {"ideal": "local"}, "bob", ["y"]),
    ],
)
def test_explain_names_the_items_of_the_ideal(
    lists: Any, options: dict[str, Any], user: str, ideal: list[str]
) -> None:
    """Unlisted labels among them where they count; and marks what is relevant."""
    given = rn.RankedLists.from_trec(*lists) if lists is TREC else lists
    how: dict[str, Any] = {"convention": rn.Convention(**options)}
    table = rn.evaluate(given, metrics=["ndcg@9"], threshold=3, **how).explain(user)
    assert table["ideal_item"].fillna("").tolist() == ideal
    listed = table["item"].notna()
    expected = [true >= 3 for true in table["true"][listed]]
    assert table["relevant"][listed].tolist() == expected
    assert table["relevant"][~listed].isna().all()
    assert rn.evaluate(given, metrics="ndcg@9", **how).explain(user)["relevant"].isna().all()
