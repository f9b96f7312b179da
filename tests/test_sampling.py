"""What sampling would say: equal to the mean over all samples, one by one."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import log2
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.sampling import read_ranks
from recsys_ndcg.scoring import Plan
from tests.errors import assert_rejected, rejects
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["hit@2", "ndcg@2", "precision@2", "recall@2", "ap@2", "rr", "auc"]
Row = tuple[float, int]  # estimated, and whether it is relevant


def score(metric: str, labels: list[int], k: int = 2) -> float:
    """Return the score of one list of 0 and 1, best first, by the textbook."""
    relevant, ranks = sum(labels), [rank for rank, label in enumerate(labels, 1) if label]
    top = [rank for rank in ranks if rank <= k]
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(relevant, k) + 1))
    behind = [labels[rank:].count(0) for rank in ranks]
    return {
        "hit@2": float(bool(top)),
        "ndcg@2": sum(1 / log2(rank + 1) for rank in top) / ideal,
        "precision@2": len(top) / k,
        "recall@2": len(top) / relevant,
        "ap@2": sum(place / rank for place, rank in enumerate(top, 1)) / relevant,
        "rr": 1 / ranks[0],
        "auc": sum(behind) / (relevant * labels.count(0)),
    }[metric]


def enumerate_samples(metric: str, rows: list[Row], negatives: int, *, replacement: bool) -> float:
    """Return the mean over all samples, and over all orders of their ties."""
    others, ours = [one for one in rows if not one[1]], [one for one in rows if one[1]]
    samples: Any = combinations(others, negatives)
    if replacement:
        samples = product(others, repeat=negatives)
    return mean(
        mean(
            score(metric, [label for _, label in sorted(order, key=lambda row: -row[0])])
            for order in permutations([*ours, *sample])
        )
        for sample in samples
    )


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[Row], int]:
    """Draw one user's candidates with ties, and a number of negatives that there are."""
    labels = draw(st.permutations([1] * draw(st.integers(1, 3)) + [0] * draw(st.integers(1, 4))))
    estimated = draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=7, max_size=7))
    negatives = draw(st.integers(1, min(3, labels.count(0))))
    return list(zip(estimated, labels, strict=False)), negatives


@pytest.mark.parametrize("replacement", [False, True])
@examples(4)
@given(candidates())
def test_the_expected_score_is_the_mean_over_all_samples(
    replacement: bool,  # noqa: FBT001 - pytest
    case: tuple[list[Row], int],
) -> None:
    """Of several relevant items, with any ties, with and without replacement."""
    rows, negatives = case
    table = rn.what_sampling_would_say(
        {"ann": rows}, negatives, metrics=METRICS, threshold=1, replacement=replacement
    )
    random_order = [(0.0, label) for _, label in rows]
    for name in METRICS:
        for column, lists in {"sampled": rows, "sampled_chance": random_order}.items():
            expected = enumerate_samples(name, lists, negatives, replacement=replacement)
            assert table.loc[name, column] == pytest.approx(expected, abs=1e-12)
    usual = rn.evaluate({"ann": rows}, metrics=METRICS, threshold=1)
    np.testing.assert_allclose(table["full"], usual.mean)
    np.testing.assert_allclose(table["full_chance"], usual.audit["chance"])


def test_the_chance_of_one_item_among_a_hundred_is_a_tenth() -> None:
    """In any catalogue, for 99 negatives and 10 places."""
    ranks = {"rank": [1, 17, 3706], "candidates": 3706}
    table = rn.what_sampling_would_say(ranks, metrics=["hit@10", "precision@10"])
    assert table["sampled_chance"].tolist() == pytest.approx([0.1, 0.01], abs=1e-15)
    tied = {"ann": [(3.0, int(item == 5)) for item in range(500)]}
    table = rn.what_sampling_would_say(tied, metrics="hit@10")
    assert table.loc["hit@10", "sampled"] == pytest.approx(0.1, abs=1e-13)


def test_a_simulation_agrees() -> None:
    """Within four standard errors, on a catalogue of 2,000 items."""
    draw = np.random.default_rng(0)
    rank, n_items = draw.integers(1, 400, size=50), 2000
    ranks = pd.DataFrame({"user": range(50), "rank": rank, "candidates": n_items})
    table = rn.what_sampling_would_say(ranks, metrics=["hit@10", "rr"])
    ahead = draw.hypergeometric(rank - 1, n_items - rank, 99, size=(4000, 50))
    simulated = {"hit@10": ahead < 10, "rr": 1 / (1 + ahead)}
    for name, values in simulated.items():
        error = values.mean(axis=1).std() / np.sqrt(4000)
        assert abs(table.loc[name, "sampled"] - values.mean()) < 4 * error


def test_ranks_lists_and_reports_agree() -> None:
    """Also for several relevant items of a user, and users with catalogues of their own."""
    draw = np.random.default_rng(1)
    rows, ranks = [], []
    for user, (size, n_relevant) in enumerate([(40, 1), (55, 3), (60, 2)]):
        liked = draw.choice(size, size=n_relevant, replace=False)
        rows += [(user, item, float(size - item), int(item in liked)) for item in range(size)]
        ranks += [(user, item + 1, size) for item in liked]
    table = pd.DataFrame(ranks, columns=["user", "rank", "candidates"])
    how: dict[str, Any] = {"metrics": METRICS, "threshold": 1}
    expected = rn.what_sampling_would_say(rows, 20, **how)
    of_ranks = rn.what_sampling_would_say(table, 20, **how)
    of_report = rn.what_sampling_would_say(rn.evaluate(rows, **how), 20, metrics=METRICS)
    pd.testing.assert_frame_equal(of_ranks, expected)
    pd.testing.assert_frame_equal(of_report, expected)


@pytest.mark.parametrize(
    ("scores", "options", "match"),
    [
        ({"ann": [(2.0, 1), (1.0, 0)]}, {}, "negatives=99, but 1 users have fewer.* 'ann' has 1"),
        ({"ann": [(2.0, 1), (1.0, 0)]}, {"negatives": 0}, "negatives"),
        ({"rank": [0], "candidates": [9]}, {}, "rank must be a whole number from 1"),
        ({"rank": [2.5], "candidates": [9]}, {}, "rank must be a whole number from 1"),
        ({"rank": [], "candidates": []}, {}, "no rows"),
        ({"user": [1, 1], "rank": [2, 2], "candidates": 200}, {}, "different ranks"),
        ({"user": [1, 1], "rank": [1, 2], "candidates": [200, 201]}, {}, "the same number"),
        ({"rank": [1], "candidates": [200]}, {"metrics": "coverage@10"}, "coverage.* no known"),
        (
            {"rank": [1], "candidates": [200]},
            {"metrics": "precision@5", "convention": rn.Convention(recommend_from=4.0)},
            "recommend_from",
        ),
        (
            {"labels": {"ann": {1, 5}}, "results": {"ann": [1, 2, 3]}},
            {},
            "1 relevant items are in no list, the first of user 'ann'",
        ),
    ],
)
def test_what_cannot_be_computed_is_an_error(
    scores: Any, options: dict[str, Any], match: str
) -> None:
    """It says which rows, and what to give instead."""
    assert_rejected(match, rn.what_sampling_would_say, scores, **options)
    lists = rn.RankedLists.from_labels({"ann": {1}}, {"ann": [1, 2, 3]}, n_items=9)
    assert_rejected("hold 3 of 9 candidates", rn.what_sampling_would_say, lists, 1)
    graded = {"ann": [(3.0, 4), (2.0, 5), (1.0, 2)]}
    assert_rejected(
        "which items are relevant", rn.what_sampling_would_say, graded, 1, metrics="ndcg"
    )
    weighted = pd.DataFrame({"user": 1, "item": [1, 2], "true": [1, 0], "weight": [0.5, 1.0]})
    weighted["estimated"] = [2.0, 1.0]
    assert_rejected(
        "Labels with weights", rn.what_sampling_would_say, weighted, 1, metrics="ndcg@1"
    )


def sampled_lists(n_items: int, n_users: int = 3) -> tuple[dict[str, Any], list[Any]]:
    """Return labels and results, and the same as predictions: one relevant item in each list."""
    labels = {user: {user} for user in range(n_users)}
    results = {user: [*range(n_items)] for user in range(n_users)}
    rows = [
        (user, item, float(-item), int(user == item)) for user in results for item in results[user]
    ]
    return {"labels": labels, "results": results}, rows


@pytest.mark.parametrize("size", [50, 100, 101])
def test_lists_that_look_sampled_are_named(size: int) -> None:
    """As results and as predictions, with the exact chance."""
    for data in sampled_lists(size):
        report = rn.evaluate(data, metrics="hit@10", threshold=1)
        assert f"sampled items (1 relevant among {size})" in str(report)
        assert "Name this protocol with RankedLists.as_sampled()" in " ".join(str(report).split())
        assert report.audit.loc["hit@10", "chance"] == pytest.approx(10 / size, abs=1e-15)


def test_other_lists_do_not_look_sampled() -> None:
    """Short lists, lists of a catalogue, lists without some users' relevant items."""
    pair, rows = sampled_lists(60)
    missed = {**pair, "labels": {0: {0}, 1: {999}, 2: {2}}}
    several = [*rows, (0, 60, -60.0, 1), (1, 60, -60.0, 0), (2, 60, -60.0, 0)]
    lists = [
        sampled_lists(49)[1],
        missed,
        several,
        rows[:-1],
        rn.RankedLists.from_labels(**pair, n_items=70),
    ]
    for data in lists:
        assert "sampled" not in str(rn.evaluate(data, metrics="hit@10", threshold=1))


def test_a_named_protocol_is_in_the_signature() -> None:
    """And in the accumulator's; a catalogue does not change its chance."""
    lists = rn.RankedLists.from_labels(**sampled_lists(20)[0]).as_sampled()
    how: dict[str, Any] = {"metrics": "hit@10", "threshold": 1}
    for catalogue in (None, range(500)):
        report = rn.evaluate(lists, **how, catalogue=catalogue)
        assert report.signature("hit@10").fields["protocol"] == "sampled"
        assert report.counts["candidates"] == 60
        assert report.audit.loc["hit@10", "chance"] == pytest.approx(0.5, abs=1e-15)
        assert "1 relevant among 20" in str(report)
        assert "as_sampled" not in str(report)
    user, item, estimated, true = zip(*sampled_lists(20)[1], strict=True)
    scores = rn.Accumulator("hit@10", threshold=1, protocol="sampled", per_user=True)
    streamed = scores.update(user, estimated, true, items=item).report()
    assert streamed.signature("hit@10") == rn.evaluate(lists, **how).signature("hit@10")
    catalogue_lists = rn.RankedLists.from_labels(**sampled_lists(20)[0], n_items=70)
    assert_rejected("come from a catalogue", catalogue_lists.as_sampled)


def test_places_in_a_catalogue_count_ties_as_whole_lists_do() -> None:
    """A ranked catalogue keeps the places of the relevant items alone."""
    plan = Plan.of(METRICS, threshold=1)
    ranks = pd.DataFrame({"user": [0, 0], "rank": [6, 9], "candidates": 30})
    places = read_ranks(ranks, plan).with_columns(
        ahead=np.array([5, 8]), tied=np.array([3, 4]), within=np.array([1, 0])
    )
    estimated = [*range(100, 95, -1), *[90] * 3, *[80] * 4, *range(70, 52, -1)]
    rows = [(float(one), int(place in (6, 8))) for place, one in enumerate(estimated)]
    whole = rn.RankedLists.from_tuples({0: rows})
    for replacement in (False, True):
        found, expected = (
            plan.measure_sampled(lists, 7, replacement=replacement)[0].mean()
            for lists in (places, whole._data)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_users_without_a_relevant_item_have_no_score() -> None:
    """Also if no user of a block has one."""
    rows = [(1000.0 - item, 0) for item in range(400)]
    table = rn.what_sampling_would_say({"ann": rows}, negatives=20)
    assert table.isna().all(axis=None)
    liked = {"bob": [(3.0, 1), (2.0, 0), (1.0, 0)]}
    with_bob = rn.what_sampling_would_say({"ann": rows} | liked, negatives=2)
    alone = rn.what_sampling_would_say(liked, negatives=2)
    pd.testing.assert_frame_equal(with_bob, alone)


def test_a_table_of_ranks_needs_the_number_of_candidates() -> None:
    """The error names the column."""
    with rejects("needs the column 'candidates'"):
        rn.what_sampling_would_say({"rank": [1, 2]})
