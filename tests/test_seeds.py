"""Every worked number of the five documents this library implements, through the public API."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn

expects_ties = pytest.mark.filterwarnings("ignore:Tied estimates:recsys_ndcg.DataWarning")


def full(value: float | list[float]) -> object:
    """Compare with a number that the document prints in all its digits."""
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def six(value: float | list[float]) -> object:
    """Compare with a number that the document prints with six decimals."""
    return pytest.approx(value, rel=0, abs=1e-6)


def ranked(*grades: float) -> list[tuple[float, float]]:
    """Return (estimated, true) for grades that stand in ranked order."""
    return [(-place, grade) for place, grade in enumerate(grades)]


# Real-life NDCG: two queries, judged and returned documents that overlap in part

LABELS = pd.DataFrame(
    {
        "query_id": [1, 1, 1, 2, 2, 2, 2],
        "grade": [0.9, 0.9, 0.1, 1.0, 0.9, 0.8, 0.1],
        "doc_id": [125125, 5678, 1122, 12225, 1521, 5125, 1111],
    }
)
RESULTS = pd.DataFrame(
    {
        "query_id": [1, 1, 2, 2, 2],
        "rank": [1, 2, 1, 2, 3],
        "doc_id": [5678, 1122, 1521, 1251, 5125],
    }
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
    """DCG-z keeps the place of the unlabelled result, DCG-f moves up what follows it."""
    report = search(convention, k)
    name = "dcg" if k is None else "dcg@10"
    assert report.per_user.loc[[1, 2], name].tolist() == six(dcg)


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
def test_ndcg_depends_on_the_ideal_it_is_divided_by(
    convention: rn.Convention, k: int | None, ideal: list[float], ndcg: list[float]
) -> None:
    """The same DCG scores from 1 down to 0.2."""
    report = search(convention, k)
    name = "ndcg" if k is None else "ndcg@10"
    assert [report.explain(query, k)["ideal_dcg"].iloc[-1] for query in (1, 2)] == six(ideal)
    assert report.per_user.loc[[1, 2], name].tolist() == six(ndcg)


def test_ten_places_of_the_top_grade_have_the_documented_ideal_dcg_in_all_digits() -> None:
    """The only number of this document that is printed in full."""
    assert search(MAX, 10).explain(1, 10)["ideal_dcg"].iloc[-1] == full(6.554970525044798)


def test_the_gains_and_discounts_of_each_result_are_those_of_the_table() -> None:
    """Query 2 with the unlabelled result at rank 2, as the document's table has it."""
    table = search(ZERO).explain(2, 3)
    assert table["item"].tolist() == [1521, 1251, 5125]
    assert table["gain"].tolist() == six([0.866066, 0.0, 0.741101])
    assert table["discount"].tolist() == six([1.442695, 0.910239, 0.721348])
    assert table["discounted_gain"].tolist() == six([1.249469, 0.0, 0.534591])
    first = search(ZERO).explain(1, 2)
    assert first["item"].tolist() == [5678, 1122]
    assert first["discounted_gain"].tolist() == six([1.249469, 0.065331])


def test_filtering_moves_the_results_below_the_unlabelled_one_up() -> None:
    """The second labelled result of query 2 takes the discount of rank 2."""
    table = search(FILTER).explain(2, 2)
    assert table["item"].tolist() == [1521, 5125]
    assert table["discount"].tolist() == six([1.442695, 0.910239])
    assert table["discounted_gain"].tolist() == six([1.249469, 0.674579])


def test_the_global_ideal_list_is_all_the_labels_best_first() -> None:
    """The document's table of ideal gains, for both queries."""
    report = search(FILTER)
    ideal = {
        1: [1.249469, 0.788327, 0.051774],
        2: [1.442695, 0.788327, 0.534591, 0.044595],
    }
    for query, expected in ideal.items():
        table = report.explain(query, None)
        assert (table["ideal_gain"] * table["discount"]).tolist() == six(expected)


@pytest.mark.parametrize("k", [10, None])
def test_jaccard_compares_the_documents_of_two_result_lists(k: int | None) -> None:
    """One of three documents in common for query 1, all three for query 2."""
    changed = RESULTS.assign(doc_id=[5678, 2511, 1521, 1251, 5125])
    shared = rn.jaccard_at_k(RESULTS, changed, k, columns=COLUMNS)
    assert shared[[1, 2]].tolist() == full([1 / 3, 1.0])


# CatBoost and scikit-learn: one list of five documents

JUDGED = {"d1": 2, "d2": 2, "d3": 2, "d4": 3, "d5": 1}
RETURNED = ["d4", "d2", "d1", "d5", "d3"]
FIVE = [3, 2, 2, 1, 2]
SCORES = [5, 4, 3, 2, 1]
TYPES = {"exponential": "Exp", "linear": "Base"}


def test_the_documents_stand_in_the_order_of_their_scores() -> None:
    """Looking the grades up by document gives the list that all the other numbers are of."""
    rows = [("q", name, score, JUDGED[name]) for name, score in zip(RETURNED, SCORES, strict=True)]
    report = rn.evaluate(rows[::-1], metrics=["dcg@5", "ndcg@5"])
    assert report.explain("q")["item"].tolist() == RETURNED
    assert report.explain("q")["true"].tolist() == FIVE
    assert report.mean.tolist() == full([11.98402424049139, 0.99273940647578])


def test_dcg_is_the_same_at_five_and_at_ten_for_five_documents() -> None:
    """Places past the end of the list add nothing."""
    assert rn.dcg_at_k(FIVE, 5) == full(11.98402424049139)
    assert rn.dcg_at_k(FIVE, 10) == full(11.98402424049139)


def test_ndcg_of_the_five_documents() -> None:
    """Nearly ideal at 5, ideal at 2."""
    assert rn.ndcg_at_k(FIVE, 5) == full(0.99273940647578)
    assert rn.ndcg_at_k(FIVE, 2) == 1.0


def test_a_linear_gain_gives_the_numbers_of_scikit_learn() -> None:
    """CatBoost calls the linear gain Base."""
    assert rn.dcg_at_k(FIVE, 5, gain="linear") == full(6.466241679685391)
    assert rn.ndcg_at_k(FIVE, 5, gain="linear") == full(0.9932683086972719)
    assert rn.ndcg_at_k(FIVE, 2, gain="linear") == 1.0


def test_a_list_of_zeros_has_no_score_unless_the_convention_gives_it_one() -> None:
    """The document lets it score 1; by default it is undefined."""
    assert math.isnan(rn.ndcg_at_k([0] * 5, 5))
    assert rn.ndcg_at_k([0] * 5, 5, undefined=1.0) == 1.0


@pytest.mark.parametrize("grade", [1, 2, 3])
def test_a_list_of_equal_grades_is_ideal_in_any_order(grade: int) -> None:
    """Whatever the grade, as long as it gains something."""
    assert rn.ndcg_at_k([grade] * 5, 5) == 1.0
    assert rn.ndcg_at_k([grade] * 5, 3) == 1.0


@pytest.mark.parametrize(
    ("gain", "dcg", "ndcg"),
    [
        ("exponential", 11.98402424049139, 0.99273940647578),
        ("linear", 6.466241679685391, 0.9932683086972719),
    ],
)
def test_catboost_gives_the_same_numbers(gain: str, dcg: float, ndcg: float) -> None:
    """CatBoost's DCG and NDCG stand beside ours and beside the document's."""
    catboost = pytest.importorskip("catboost.utils")

    def theirs(metric: str, top: int) -> float:
        name = f"{metric}:top={top};type={TYPES[gain]}"
        return float(catboost.eval_metric(FIVE, SCORES, name, group_id=[1] * 5)[0])

    assert theirs("DCG", 5) == full(dcg)
    assert theirs("NDCG", 5) == full(ndcg)
    assert theirs("NDCG", 2) == full(1.0)
    for k in (5, 2):
        assert rn.dcg_at_k(FIVE, k, gain=gain) == full(theirs("DCG", k))
        assert rn.ndcg_at_k(FIVE, k, gain=gain) == full(theirs("NDCG", k))


def test_scikit_learn_gives_the_same_numbers() -> None:
    """Its gain is linear; given 2^t - 1 as grades it agrees with the exponential one too."""
    metrics = pytest.importorskip("sklearn.metrics")
    assert metrics.dcg_score([FIVE], [SCORES], k=5) == full(6.466241679685391)
    assert metrics.ndcg_score([FIVE], [SCORES], k=5) == full(0.9932683086972719)
    assert metrics.ndcg_score([FIVE], [SCORES], k=2) == full(1.0)
    for gain, given in (("linear", FIVE), ("exponential", [2**grade - 1 for grade in FIVE])):
        for k in (5, 2):
            dcg, ndcg = metrics.dcg_score, metrics.ndcg_score
            assert rn.dcg_at_k(FIVE, k, gain=gain) == full(dcg([given], [SCORES], k=k))
            assert rn.ndcg_at_k(FIVE, k, gain=gain) == full(ndcg([given], [SCORES], k=k))


def test_a_list_of_zeros_scores_one_in_catboost_and_zero_in_scikit_learn() -> None:
    """Either is one value of `undefined`."""
    catboost = pytest.importorskip("catboost.utils")
    metrics = pytest.importorskip("sklearn.metrics")
    zeros = [0] * 5
    name = "NDCG:top=5;type=Exp"
    theirs = float(catboost.eval_metric(zeros, SCORES, name, group_id=[1] * 5)[0])
    assert rn.ndcg_at_k(zeros, 5, undefined=1.0) == theirs
    assert rn.ndcg_at_k(zeros, 5, undefined=0.0) == metrics.ndcg_score([zeros], [SCORES], k=5)


# The Surprise walkthrough: ten ratings of one user, estimates half a star off

PAIRS = [(2.5, 3), (4.5, 4), (4.5, 5), (1.5, 1), (1.5, 2)]
PAIRS += [(3.5, 3), (3.5, 4), (5.5, 5), (4.5, 5), (4.5, 4)]
SORTED = [(5.5, 5), (4.5, 4), (4.5, 5), (4.5, 5), (4.5, 4)]
SORTED += [(3.5, 3), (3.5, 4), (2.5, 3), (1.5, 1), (1.5, 2)]
THREE = [(0.5, 1), (3.5, 3), (4.5, 5)]
INPUT = rn.Convention.preset("surprise_walkthrough")


@expects_ties
def test_a_stable_sort_keeps_the_input_order_of_equal_estimates() -> None:
    """The ten pairs stand in the document's order, and the ideal list beside them."""
    table = rn.evaluate({"User 1": PAIRS}, convention=INPUT).explain("User 1")
    assert list(zip(table["estimated"], table["true"], strict=True)) == SORTED
    ideal = [5, 5, 5, 4, 4, 4, 3, 3, 2, 1]
    assert table["ideal_gain"].tolist() == [2**grade - 1 for grade in ideal]


@expects_ties
@pytest.mark.parametrize(("k", "ideal"), [(10, 89.3986129310978), (5, 78.3217628403342)])
@pytest.mark.parametrize("ties", ["input", "expected"])
def test_the_ideal_dcg_of_the_ten_ratings(ties: str, k: int, ideal: float) -> None:
    """Ties in the estimates leave it alone."""
    report = rn.evaluate({"User 1": PAIRS}, convention=rn.Convention(ties=ties))
    assert report.explain("User 1", k)["ideal_dcg"].iloc[-1] == full(ideal)


@expects_ties
@pytest.mark.parametrize(
    ("k", "dcg", "ndcg"),
    [
        (10, 85.98764063423907, 0.9618453554812123),
        (5, 75.11771171236516, 0.9590911770652969),
    ],
)
def test_ties_in_input_order_give_the_numbers_of_the_walkthrough(
    k: int, dcg: float, ndcg: float
) -> None:
    """DCG and NDCG, by the shortcut and by evaluate."""
    assert rn.dcg_at_k(PAIRS, k, ties="input") == full(dcg)
    assert rn.ndcg_at_k(PAIRS, k, ties="input") == full(ndcg)
    report = rn.evaluate({"User 1": PAIRS}, metrics=["dcg", "ndcg"], k=k, convention=INPUT)
    assert report.mean.tolist() == full([dcg, ndcg])


@pytest.mark.parametrize(("k", "ndcg"), [(10, 0.9707974922098048), (5, 0.9679884234574836)])
def test_by_default_a_tie_counts_as_the_mean_over_its_orders(k: int, ndcg: float) -> None:
    """The score is then the same for every order of the rows."""
    assert rn.ndcg_at_k(PAIRS, k) == full(ndcg)
    assert rn.ndcg_at_k(PAIRS[::-1], k) == full(ndcg)


def test_ties_that_leave_the_third_decimal_open_are_warned_of() -> None:
    """The walkthrough's own list is one of them."""
    with pytest.warns(rn.DataWarning, match=r"ndcg@10 open between 0\.9416 and 1\.0000"):
        rn.evaluate({"User 1": PAIRS}, convention=INPUT)


def test_ndcg_at_ten_of_three_ratings_is_taken_over_the_three_ranks_there_are() -> None:
    """The document's open question: DCG and ideal DCG both end at rank 3."""
    dcg = 31 + 7 / math.log2(3) + 1 / 2
    table = rn.evaluate({"User 2": THREE}).explain("User 2", 10)
    assert table.index.tolist() == [1, 2, 3]
    assert table["true"].tolist() == [5, 3, 1]
    assert rn.dcg_at_k(THREE, 10) == full(dcg)
    assert table["ideal_dcg"].iloc[-1] == full(dcg)
    assert rn.ndcg_at_k(THREE, 10) == 1.0
    worst = [(-estimated, true) for estimated, true in THREE]
    assert rn.ndcg_at_k(worst, 10) == full((1 + 7 / math.log2(3) + 31 / 2) / dcg)


@pytest.mark.parametrize(("rule", "precision"), [("k", 1 / 10), ("n", 1 / 3)])
def test_precision_at_ten_of_three_ratings_is_over_ten_or_over_three(
    rule: str, precision: float
) -> None:
    """One rating reaches 4: one hit over the places asked for, or over those there are."""
    assert rn.precision_at_k(THREE, 10, threshold=4, short_list=rule) == full(precision)
    assert rn.ndcg_at_k(THREE, 10, short_list=rule) == 1.0


@expects_ties
def test_a_user_with_three_ratings_is_left_out_at_ten_under_drop() -> None:
    """All three are among the first ten in any order, so the user says nothing about precision."""
    users = {"User 1": PAIRS, "User 2": THREE}
    dropping = rn.Convention(short_list="drop")
    report = rn.evaluate(users, k=[10, 3], threshold=4, convention=dropping)
    at_10 = report.per_user.loc["User 2", ["ndcg@10", "precision@10", "recall@10"]]
    assert np.isnan(at_10.to_numpy(dtype=float)).all()
    assert report.per_user.loc["User 2", "precision@3"] == full(1 / 3)
    assert report.counts["left_out"] == 1
    assert report.counts["undefined ndcg@10"] == 0
    assert report.mean["precision@10"] == full(6 / 10)
    assert report.pooled["precision@10"] == full(6 / 10)
    assert report.mean["ndcg@10"] == full(0.9707974922098048)


# Evaluation for information retrieval: what sees the order, and what the length

LINEAR = rn.Convention.preset("evaluation_for_ir")


@pytest.mark.parametrize("labels", [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
def test_precision_does_not_see_the_order(labels: list[int]) -> None:
    """Three of five, at the top or at the bottom."""
    assert rn.precision_at_k(labels, 5) == full(3 / 5)


def test_cumulative_gain_does_not_see_the_order_and_dcg_does() -> None:
    """Both models have CG 12."""
    models = {"A": ranked(5, 2, 4, 0, 1), "B": ranked(2, 0, 5, 1, 4)}
    report = rn.evaluate(models, metrics=["cg", "dcg"], k=5, convention=LINEAR)
    assert report.per_user.loc[["A", "B"], "cg@5"].tolist() == [12, 12]
    assert report.per_user.loc["A", "dcg@5"] == pytest.approx(8.65, abs=0.005)
    of_b = 2 + 5 / 2 + 1 / math.log2(5) + 4 / math.log2(6)
    assert report.per_user.loc["B", "dcg@5"] == full(of_b)


@pytest.mark.parametrize(
    ("grades", "dcg", "ideal", "ndcg"),
    [([5, 2, 4], 8.26, 8.52, 0.9694), ([5, 2, 4, 0, 1], 8.65, 8.95, 0.9664)],
)
def test_ndcg_compares_lists_of_different_lengths(
    grades: list[int], dcg: float, ideal: float, ndcg: float
) -> None:
    """The document divides DCGs rounded to two decimals, so its NDCG is right to about 0.001."""
    k = len(grades)
    table = rn.evaluate({"q": ranked(*grades)}, convention=LINEAR).explain("q", k)
    assert rn.dcg_at_k(grades, k, gain="linear") == pytest.approx(dcg, abs=0.005)
    assert table["ideal_dcg"].iloc[-1] == pytest.approx(ideal, abs=0.005)
    assert rn.ndcg_at_k(grades, k, gain="linear") == pytest.approx(ndcg, rel=0, abs=1e-3)
    rounded = round(table["dcg"].iloc[-1], 2) / round(table["ideal_dcg"].iloc[-1], 2)
    assert rounded == pytest.approx(ndcg, rel=0, abs=1e-4)  # which it cuts to four decimals


@pytest.mark.parametrize(
    ("grades", "terms", "sums"),
    [
        ([5, 2, 4, 0, 1], [5.00, 1.26, 2.00, 0.00, 0.39], [5.00, 6.26, 8.26, 8.26, 8.65]),
        ([2, 0, 5, 1, 4], [2.00, 0.00, 2.50, 0.43, 1.55], [2.00, 2.00, 4.50, 4.93, 6.48]),
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


def test_map_is_the_mean_of_average_precision_over_all_relevant_documents() -> None:
    """AP by the document's formula: precision at each hit, over the relevant documents."""
    queries = {"a": ranked(1, 0, 1, 0), "b": ranked(0, 0, 1, 0), "c": ranked(0, 1, 1, 1)}
    by_hand = [(1 / 1 + 2 / 3) / 2, 1 / 3, (1 / 2 + 2 / 3 + 3 / 4) / 3]
    report = rn.evaluate(queries, metrics=["ap@4"])
    assert report.per_user.loc[["a", "b", "c"], "ap@4"].tolist() == full(by_hand)
    assert report.mean["ap@4"] == full(sum(by_hand) / 3)
    assert rn.average_precision_at_k([1, 0, 1, 0], 2) == full(1 / 2)
    assert rn.average_precision_at_k([1, 1, 1, 0, 0], 5) == 1.0
    assert rn.average_precision_at_k([0, 0, 1, 1, 1], 5) == full((1 / 3 + 2 / 4 + 3 / 5) / 3)


def test_mrr_is_the_mean_of_one_over_the_first_relevant_rank() -> None:
    """First hits at ranks 1, 3 and 2."""
    queries = {"a": ranked(1, 0, 1, 0), "b": ranked(0, 0, 1, 0), "c": ranked(0, 1, 1, 1)}
    report = rn.evaluate(queries, metrics=["rr"])
    assert report.per_user.loc[["a", "b", "c"], "rr"].tolist() == full([1, 1 / 3, 1 / 2])
    assert report.mean["rr"] == full((1 + 1 / 3 + 1 / 2) / 3)


@pytest.mark.parametrize("rank", range(1, 21))
def test_reciprocal_rank_falls_as_one_over_the_rank(rank: int) -> None:
    """The curve that the document plots."""
    assert rn.reciprocal_rank([0] * (rank - 1) + [1]) == full(1 / rank)


# NDCG metrics and implementations: one list in three orders, then a data set

GRADES = [3, 1, 2, 0, 2]


@pytest.mark.parametrize("discount", ["log2", "ln"])
@pytest.mark.parametrize(
    ("grades", "ndcg"),
    [
        (GRADES, 0.950849602851865),
        (sorted(GRADES), 0.5664478625498256),
        (sorted(GRADES, reverse=True), 1.0),
    ],
    ids=["as given", "worst", "best"],
)
def test_ndcg_of_a_list_as_given_and_in_its_worst_and_best_order(
    grades: list[int], ndcg: float, discount: str
) -> None:
    """The base of the logarithm, 2 in the formula and e in the code, cancels out."""
    assert rn.ndcg_at_k(grades, 5, discount=discount) == full(ndcg)


def test_the_worst_order_scores_as_ties_in_their_worst_order_do() -> None:
    """A recommender that rates all items the same is open to both ends."""
    tied = [(1.0, grade) for grade in GRADES]
    assert rn.ndcg_at_k(tied, 5, ties="worst") == full(0.5664478625498256)
    assert rn.ndcg_at_k(tied, 5, ties="best") == 1.0


def test_cumulative_gain_of_the_list_is_eight_in_any_order() -> None:
    """CG sums the gains, here the grades."""
    orders = {"given": ranked(*GRADES), "sorted": ranked(*sorted(GRADES))}
    report = rn.evaluate(orders, metrics=["cg@5"], convention=LINEAR)
    assert report.per_user["cg@5"].tolist() == [8, 8]


def test_the_score_of_a_data_set_is_averaged_and_pooled() -> None:
    """The mean of the ratios, and the ratio of the sums."""
    dcg = [7 + 1 / math.log2(3) + 3 / 2 + 3 / math.log2(6), 1 + 7 / math.log2(3)]
    ideal = [7 + 3 / math.log2(3) + 3 / 2 + 1 / math.log2(5), 7 + 1 / math.log2(3)]
    report = rn.evaluate({"a": ranked(*GRADES), "b": ranked(1, 3)}, k=5)
    assert report.mean["ndcg@5"] == full((dcg[0] / ideal[0] + dcg[1] / ideal[1]) / 2)
    assert report.pooled["ndcg@5"] == full(sum(dcg) / sum(ideal))
    assert report.mean["ndcg@5"] != pytest.approx(report.pooled["ndcg@5"], abs=0.01)


def test_gains_of_ones_own_replace_the_default_for_any_grade() -> None:
    """The document's list of gains by grade is a mapping here, so no grade is out of its range."""
    doubling = {0: 0, 1: 1, 2: 3, 3: 7}
    assert rn.ndcg_at_k(GRADES, 5, gain=doubling) == full(0.950849602851865)
    own = {0: 0, 1: 0, 2: 1, 3: 10}
    dcg, ideal = 10 + 1 / 2 + 1 / math.log2(6), 10 + 1 / math.log2(3) + 1 / 2
    assert rn.ndcg_at_k(GRADES, 5, gain=own) == full(dcg / ideal)
    stars = {0: 0, 2.5: 1, 40: 5}
    assert rn.dcg_at_k([2.5, 40, 0], 3, gain=stars) == full(1 + 5 / math.log2(3))


def test_lists_without_an_ideal_are_skipped_and_counted() -> None:
    """They are left out of the mean, add nothing to the pooled score, and do not score 0."""
    lists = {"a": ranked(*GRADES), "b": ranked(1, 3), "c": ranked(0, 0), "d": ranked(0, 0, 0)}
    report = rn.evaluate(lists, k=5)
    without = rn.evaluate({"a": lists["a"], "b": lists["b"]}, k=5)
    assert report.per_user.loc[["c", "d"], "ndcg@5"].isna().all()
    assert report.counts["undefined ndcg@5"] == 2
    assert report.summary["users"].tolist() == [2]
    assert report.summary["undefined"].tolist() == [2]
    assert report.mean["ndcg@5"] == full(without.mean["ndcg@5"])
    assert report.pooled["ndcg@5"] == full(without.pooled["ndcg@5"])
