"""Every worked number of the five documents that this library implements, in its public API."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn

expects_ties = pytest.mark.filterwarnings("ignore:Ties affect:recsys_ndcg.DataWarning")
LINEAR = rn.Convention.preset("evaluation_for_ir")


def full(value: float | list[float]) -> object:
    """Compare with a number that the document prints in all its digits."""
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def six(value: float | list[float]) -> object:
    """Compare with a number that the document prints with six decimals."""
    return pytest.approx(value, rel=0, abs=1e-6)


def ranked(*grades: float) -> list[tuple[float, float]]:
    """Return (estimated, true) for grades in ranked order."""
    return [(-place, grade) for place, grade in enumerate(grades)]


# Scores of one list, by document

FIVE = [3, 2, 2, 1, 2]
PAIRS = [(2.5, 3), (4.5, 4), (4.5, 5), (1.5, 1), (1.5, 2)]
PAIRS += [(3.5, 3), (3.5, 4), (5.5, 5), (4.5, 5), (4.5, 4)]
THREE = [(0.5, 1), (3.5, 3), (4.5, 5)]
DCG_OF_THREE = 31 + 7 / math.log2(3) + 1 / 2
GRADES = [3, 1, 2, 0, 2]
OWN_GAINS = {0: 0, 1: 0, 2: 1, 3: 10}
DCG_OF_OWN = 10 + 1 / 2 + 1 / math.log2(6), 10 + 1 / math.log2(3) + 1 / 2
IR_A, IR_B = [5, 2, 4, 0, 1], [2, 0, 5, 1, 4]
N, D = rn.ndcg_at_k, rn.dcg_at_k
ONE_LIST: dict[str, list[tuple[Any, Any, int, dict[str, Any], float]]] = {
    "CatBoost and scikit-learn": [  # k may be beyond the list
        (D, FIVE, 5, {}, 11.98402424049139), (D, FIVE, 10, {}, 11.98402424049139),
        (N, FIVE, 5, {}, 0.99273940647578), (N, FIVE, 2, {}, 1.0),
        (D, FIVE, 5, {"gain": "linear"}, 6.466241679685391),
        (N, FIVE, 5, {"gain": "linear"}, 0.9932683086972719),
        (N, FIVE, 2, {"gain": "linear"}, 1.0), (N, [0] * 5, 5, {}, math.nan),
        (N, [0] * 5, 5, {"undefined": 1.0}, 1.0), (N, [2] * 5, 3, {}, 1.0),
    ],
    "the Surprise walkthrough": [
        (D, PAIRS, 10, {"ties": "input"}, 85.98764063423907),
        (D, PAIRS, 5, {"ties": "input"}, 75.11771171236516),
        (N, PAIRS, 10, {"ties": "input"}, 0.9618453554812123),
        (N, PAIRS, 5, {"ties": "input"}, 0.9590911770652969),
        (N, PAIRS, 10, {}, 0.9707974922098048), (N, PAIRS[::-1], 10, {}, 0.9707974922098048),
        (N, PAIRS, 5, {}, 0.9679884234574836), (D, THREE, 10, {}, DCG_OF_THREE),
        (N, THREE, 10, {}, 1.0),
        (N, ranked(1, 3, 5), 10, {}, (1 + 7 / math.log2(3) + 31 / 2) / DCG_OF_THREE),
        (rn.precision_at_k, THREE, 10, {"threshold": 4}, 1 / 10),
        (rn.precision_at_k, THREE, 10, {"threshold": 4, "short_list": "n"}, 1 / 3),
    ],
    "evaluation for information retrieval": [
        (rn.precision_at_k, [1, 1, 1, 0, 0], 5, {}, 3 / 5),
        (rn.precision_at_k, [0, 0, 1, 1, 1], 5, {}, 3 / 5),
        (rn.average_precision_at_k, [1, 0, 1, 0], 2, {}, 1 / 2),
        (rn.average_precision_at_k, [1, 1, 1, 0, 0], 5, {}, 1.0),
        (rn.average_precision_at_k, [0, 0, 1, 1, 1], 5, {}, (1 / 3 + 2 / 4 + 3 / 5) / 3),
    ],
    "NDCG metrics and implementations": [
        (N, GRADES, 5, {}, 0.950849602851865), (N, sorted(GRADES), 5, {}, 0.5664478625498256),
        (N, sorted(GRADES, reverse=True), 5, {}, 1.0),
        (N, GRADES, 5, {"discount": "ln"}, 0.950849602851865),
        (N, [(1, one) for one in GRADES], 5, {"ties": "worst"}, 0.5664478625498256),
        (N, [(1, one) for one in GRADES], 5, {"ties": "best"}, 1.0),
        (N, GRADES, 5, {"gain": {0: 0, 1: 1, 2: 3, 3: 7}}, 0.950849602851865),
        (N, GRADES, 5, {"gain": OWN_GAINS}, DCG_OF_OWN[0] / DCG_OF_OWN[1]),
        (D, [2.5, 40, 0], 3, {"gain": {0: 0, 2.5: 1, 40: 5}}, 1 + 5 / math.log2(3)),
        (D, [3, 2, 1], 3, {"gain": "linear", "discount": "reciprocal"}, 4 + 1 / 3),
    ],
}  # fmt: skip


@pytest.mark.parametrize("document", ONE_LIST)
def test_scores_of_one_list(document: str) -> None:
    """By the functions of one list, and in a report."""
    for function, data, k, options, expected in ONE_LIST[document]:
        context = function.__name__, data, k, options
        found = function(data, k, **options)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True), context


@pytest.mark.parametrize("rank", [1, 2, 3, 20])
def test_reciprocal_rank_falls_as_one_over_the_rank(rank: int) -> None:
    """The curve that the document plots."""
    assert rn.reciprocal_rank([0] * (rank - 1) + [1]) == full(1 / rank)


# Real-life NDCG: two queries, labelled and returned documents that overlap in part

LABELS = pd.DataFrame({
    "query_id": [1, 1, 1, 2, 2, 2, 2], "grade": [0.9, 0.9, 0.1, 1.0, 0.9, 0.8, 0.1],
    "doc_id": [125125, 5678, 1122, 12225, 1521, 5125, 1111],
})  # fmt: skip
RESULTS = pd.DataFrame(
    {"query_id": [1, 1, 2, 2, 2], "rank": [1, 2, 1, 2, 3], "doc_id": [5678, 1122, 1521, 1251, 5125]}
)
COLUMNS = {"user": "query_id", "item": "doc_id", "true": "grade"}
ZERO = rn.Convention.preset("real_life_ndcg")
FILTER = ZERO.replace(unlabelled="filter")
LOCAL = FILTER.replace(ideal="local")
MAX = FILTER.replace(ideal="max", max_grade=1.0)


def search(convention: rn.Convention, k: int | None = None) -> rn.Report:
    """Evaluate the two queries."""
    lists = rn.RankedLists.from_labels(LABELS, RESULTS, columns=COLUMNS)
    return rn.evaluate(lists, metrics=["dcg", "ndcg"], k=k, convention=convention)


@pytest.mark.parametrize(
    ("convention", "dcg"), [(ZERO, [1.314800, 1.784061]), (FILTER, [1.314800, 1.924048])]
)
@pytest.mark.parametrize("k", [None, 10])
def test_an_unlabelled_result_gains_nothing_or_is_removed(
    convention: rn.Convention, dcg: list[float], k: int | None
) -> None:
    """DCG-z keeps the place of the unlabelled result, DCG-f moves up the results after it."""
    assert search(convention, k).per_user.loc[[1, 2]].iloc[:, 2].tolist() == six(dcg)


@pytest.mark.parametrize(
    ("convention", "k", "ideal", "ndcg"),
    [
        (LOCAL, None, [1.314800, 1.924048], [1.0, 1.0]),
        (FILTER, None, [2.089570, 2.810209], [0.629220, 0.684664]),
        (MAX, None, [2.352934, 2.352934], [0.558792, 0.817723]),
        # The document's last cut keeps ranks < 10, k=10 keeps ranks <= 10. No list reaches rank
        # 10 and the document's ideal has all ten places, so here it makes no difference.
        (MAX, 10, [6.554970525044798] * 2, [0.200581, 0.293525]),
    ],
    ids=["local", "global", "max", "max at 10"],
)
def test_ndcg_depends_on_its_ideal(
    convention: rn.Convention, k: int | None, ideal: list[float], ndcg: list[float]
) -> None:
    """The same DCG scores from 1 down to 0.2."""
    report = search(convention, k)
    assert [report.explain(query, k)["ideal_dcg"].iloc[-1] for query in (1, 2)] == six(ideal)
    assert report.per_user.loc[[1, 2]].iloc[:, 3].tolist() == six(ndcg)


@pytest.mark.parametrize(
    ("convention", "query", "items", "discounts", "gains"),
    [
        (ZERO, 1, [5678, 1122], [1.442695, 0.910239], [1.249469, 0.065331]),
        (ZERO, 2, [1521, 1251, 5125], [1.442695, 0.910239, 0.721348], [1.249469, 0.0, 0.534591]),
        (FILTER, 2, [1521, 5125], [1.442695, 0.910239], [1.249469, 0.674579]),
    ],
)
def test_explain_shows_the_gain_and_discount_of_each_result(
    convention: rn.Convention, query: int, items: list[int], discounts: Any, gains: Any
) -> None:
    """With the unlabelled result at rank 2, or without it."""
    table = search(convention).explain(query, len(items))
    assert table["item"].tolist() == items
    assert table["discount"].tolist() == six(discounts)
    assert table["discounted_gain"].tolist() == six(gains)


@pytest.mark.parametrize(
    ("query", "expected"),
    [(1, [1.249469, 0.788327, 0.051774]), (2, [1.442695, 0.788327, 0.534591, 0.044595])],
)
def test_the_global_ideal_list_has_all_labels(query: int, expected: list[float]) -> None:
    """The document's table of ideal gains."""
    table = search(FILTER).explain(query, None)
    assert (table["ideal_gain"] * table["discount"]).tolist() == six(expected)


@pytest.mark.parametrize("k", [10, None])
def test_jaccard_compares_the_documents_of_two_result_lists(k: int | None) -> None:
    """One of three documents in common for query 1, all three for query 2."""
    changed = RESULTS.assign(doc_id=[5678, 2511, 1521, 1251, 5125])
    shared = rn.jaccard_at_k(RESULTS, changed, k, columns=COLUMNS)
    assert shared[[1, 2]].tolist() == full([1 / 3, 1.0])


# CatBoost and scikit-learn: one list of five documents


def test_documents_are_ranked_by_their_scores() -> None:
    """Grades are found by document."""
    judged = {"d1": 2, "d2": 2, "d3": 2, "d4": 3, "d5": 1}
    returned = ["d4", "d2", "d1", "d5", "d3"]
    rows = [("q", name, -place, judged[name]) for place, name in enumerate(returned)]
    report = rn.evaluate(rows[::-1], metrics=["dcg@5", "ndcg@5"])
    assert report.explain("q")["item"].tolist() == returned
    assert report.explain("q")["true"].tolist() == FIVE
    assert report.mean.tolist() == full([11.98402424049139, 0.99273940647578])


# The Surprise walkthrough: ten ratings of one user, estimates half a star off

SORTED = [(5.5, 5), (4.5, 4), (4.5, 5), (4.5, 5), (4.5, 4)]
SORTED += [(3.5, 3), (3.5, 4), (2.5, 3), (1.5, 1), (1.5, 2)]
INPUT = rn.Convention.preset("surprise_walkthrough")


def test_a_stable_sort_keeps_the_input_order_of_equal_estimates() -> None:
    """The ten pairs are in the document's order; the ties are worth a warning."""
    with pytest.warns(rn.DataWarning, match=r"ndcg@10.* 0\.9416 (and|to) 1\.0000"):
        report = rn.evaluate({"User 1": PAIRS}, convention=INPUT)
    table = report.explain("User 1")
    assert list(zip(table["estimated"], table["true"], strict=True)) == SORTED
    ideal = [5, 5, 5, 4, 4, 4, 3, 3, 2, 1]
    assert table["ideal_gain"].tolist() == [2**grade - 1 for grade in ideal]


@expects_ties
@pytest.mark.parametrize("ties", ["input", "expected"])
def test_ties_do_not_change_the_ideal_dcg(ties: Any) -> None:
    """Of the ten ratings."""
    report = rn.evaluate({"User 1": PAIRS}, convention=rn.Convention(ties=ties))
    for k, ideal in ((10, 89.3986129310978), (5, 78.3217628403342)):
        assert report.explain("User 1", k)["ideal_dcg"].iloc[-1] == full(ideal)


@expects_ties
def test_a_user_with_three_ratings_is_left_out_at_ten_under_drop() -> None:
    """All three are among the first ten in any order, so precision does not depend on the model."""
    users = {"User 1": PAIRS, "User 2": THREE}
    dropping = rn.Convention(short_list="drop")
    report = rn.evaluate(users, k=[10, 3], threshold=4, convention=dropping)
    at_10 = ["ndcg@10", "precision@10", "recall@10"]
    assert report.per_user.loc["User 2", at_10].isna().all()
    assert report.per_user.loc["User 2", "precision@3"] == full(1 / 3)
    assert (report.counts["left_out"], report.counts["undefined ndcg@10"]) == (1, 0)
    assert report.mean["precision@10"] == report.pooled["precision@10"] == full(6 / 10)
    assert report.mean["ndcg@10"] == full(0.9707974922098048)


# Evaluation for information retrieval: the order and the length of lists


def test_cumulative_gain_ignores_the_order_and_dcg_does_not() -> None:
    """Both models have CG 12."""
    models = {"A": ranked(*IR_A), "B": ranked(*IR_B)}
    report = rn.evaluate(models, metrics=["cg", "dcg"], k=5, convention=LINEAR)
    assert report.per_user.loc[["A", "B"], "cg@5"].tolist() == [12, 12]
    assert report.per_user.loc["A", "dcg@5"] == pytest.approx(8.65, abs=0.005)
    of_b = 2 + 5 / 2 + 1 / math.log2(5) + 4 / math.log2(6)
    assert report.per_user.loc["B", "dcg@5"] == full(of_b)


@pytest.mark.parametrize(
    ("grades", "dcg", "ideal", "ndcg"),
    [([5, 2, 4], 8.26, 8.52, 0.9694), (IR_A, 8.65, 8.95, 0.9664)],
)
def test_ndcg_compares_lists_of_different_lengths(
    grades: list[int], dcg: float, ideal: float, ndcg: float
) -> None:
    """The document divides DCGs rounded to two decimals, so its NDCG is right to about 0.001."""
    k = len(grades)
    last = rn.evaluate({"q": ranked(*grades)}, convention=LINEAR).explain("q", k).iloc[-1]
    assert last[["dcg", "ideal_dcg"]].tolist() == pytest.approx([dcg, ideal], abs=0.005)
    assert last["ndcg"] == pytest.approx(ndcg, rel=0, abs=1e-3)
    rounded = round(last["dcg"], 2) / round(last["ideal_dcg"], 2)
    assert rounded == pytest.approx(ndcg, rel=0, abs=1e-4)  # which it cuts to four decimals


@pytest.mark.parametrize(
    ("grades", "terms", "sums"),
    [
        (IR_A, [5.00, 1.26, 2.00, 0.00, 0.39], [5.00, 6.26, 8.26, 8.26, 8.65]),
        (IR_B, [2.00, 0.00, 2.50, 0.43, 1.55], [2.00, 2.00, 4.50, 4.93, 6.48]),
        ([5, 2, 4], [5.00, 1.26, 2.00], [5.00, 6.26, 8.26]),
        ([5, 4, 2], [5.00, 2.52, 1.00], [5.00, 7.52, 8.52]),
        ([5, 4, 2, 1, 0], [5.00, 2.52, 1.00, 0.43, 0.00], [5.00, 7.52, 8.52, 8.95, 8.95]),
    ],
)
def test_explain_is_the_step_by_step_table_of_dcg(
    grades: list[int], terms: list[float], sums: list[float]
) -> None:
    """Position, relevance, discount, their product, and DCG so far."""
    table = rn.evaluate({"q": ranked(*grades)}, convention=LINEAR).explain("q")
    ranks = range(1, len(grades) + 1)
    assert table.index.tolist() == list(ranks)
    assert table["true"].tolist() == grades
    assert table["discount"].tolist() == full([1 / math.log2(rank + 1) for rank in ranks])
    assert table["discounted_gain"].round(2).tolist() == terms
    assert table["dcg"].round(2).tolist() == sums


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        ("ap@4", [(1 / 1 + 2 / 3) / 2, 1 / 3, (1 / 2 + 2 / 3 + 3 / 4) / 3]),
        ("rr", [1, 1 / 3, 1 / 2]),
    ],
)
def test_map_and_mrr_are_means_over_queries(metric: str, by_hand: list[float]) -> None:
    """AP: precision at each hit, over the relevant documents; RR: 1 / the rank of the first."""
    queries = {"a": ranked(1, 0, 1, 0), "b": ranked(0, 0, 1, 0), "c": ranked(0, 1, 1, 1)}
    report = rn.evaluate(queries, metrics=[metric])
    assert report.per_user.loc[["a", "b", "c"], metric].tolist() == full(by_hand)
    assert report.mean[metric] == full(sum(by_hand) / 3)


# NDCG metrics and implementations: a data set


def test_the_score_of_a_data_set_is_averaged_and_pooled() -> None:
    """The mean of the ratios, and the ratio of the sums; lists without an ideal are skipped."""
    dcg = [7 + 1 / math.log2(3) + 3 / 2 + 3 / math.log2(6), 1 + 7 / math.log2(3)]
    ideal = [7 + 3 / math.log2(3) + 3 / 2 + 1 / math.log2(5), 7 + 1 / math.log2(3)]
    lists = {"a": ranked(*GRADES), "b": ranked(1, 3), "c": ranked(0, 0), "d": ranked(0, 0, 0)}
    report = rn.evaluate(lists, k=5)
    assert report.mean["ndcg@5"] == full((dcg[0] / ideal[0] + dcg[1] / ideal[1]) / 2)
    assert report.pooled["ndcg@5"] == full(sum(dcg) / sum(ideal))
    assert report.per_user.loc[["c", "d"], "ndcg@5"].isna().all()
    assert report.counts["undefined ndcg@5"] == 2
    assert report.summary[["users", "undefined"]].to_numpy().tolist() == [[2, 2]]
