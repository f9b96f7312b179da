"""A published number under each protocol: what is impossible, and what sampled items imply."""

from __future__ import annotations

from math import comb, log2
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.scoring import Audit
from tests.commands import error_of, json_of, run
from tests.errors import assert_rejected, rejects
from tests.findings.published_claims import check_number
from tests.profiles import examples

PAPER = "HR@10 0.69, leave-one-out, 100 negatives, ML-1M"
#: Published numbers, or numbers that libraries printed, and the verdict on each: of the stated
#: protocol, or of all protocols if none is stated.
CLASSIFIED = {
    # a hit rate as of neural collaborative filtering
    PAPER: "possible",
    "HR@10 0.10, leave-one-out, 1 in 100": "possible: chance",
    "HR@10 0.09, leave-one-out, 1 in 100": "possible, but worse than chance",
    # the README of recommenders, without the protocol of its split
    "nDCG@10 .095930, full ranking, ML-100K": "possible",
    "P@10 .091198, full ranking, ML-100K": "possible",
    "nDCG@10 .382461, full ranking, ML-100K": "possible",
    "P@10 .330753, full ranking, ML-100K": "possible",
    # the whole catalogue, by the models of Surprise's README
    "NDCG@10 .0978, full ranking, ML-100K": "possible",
    "recall@10 .0658, full ranking, ML-100K": "possible",
    "NDCG@10 .0769, full ranking, ML-100K": "possible",
    "recall@10 .0507, full ranking, ML-100K": "possible",
    "NDCG@10 .0756, full ranking, ML-100K": "possible",
    "recall@10 .0583, full ranking, ML-100K": "possible",
    "NDCG@10 .1648, full ranking, ML-100K": "possible",
    "recall@10 .1382, full ranking, ML-100K": "possible",
    "NDCG@10 .0090, full ranking, ML-100K": "possible",
    "NDCG@10 .0004, full ranking, ML-100K": "possible, but worse than chance",
    "recall@10 .0003, full ranking, ML-100K": "possible, but worse than chance",
    # the same model's test ratings alone
    "NDCG@10 .8308, rated items": "possible",
    "NDCG@10 .6973, rated items": "possible",
    "precision@10 0.137, rated items": "possible",
    "precision@10 0.591, rated items": "possible",
    "AP@10 .919, rated items": "possible",
    "MRR .0385, 1 in 40": "possible, but worse than chance",
    # with one relevant item, no more than one of ten is a hit
    "precision@10 0.137, leave-one-out, full ranking, ML-1M": "impossible: above the best",
    "precision@10 0.591, leave-one-out, 1 in 100": "impossible: above the best",
    # the only order of one item is the best one
    "HR@10 0.69, leave-one-out, rated items": "impossible: below the worst",
    # scores above 1 that libraries have printed for duplicates and ties
    "recall@10 1.33": "impossible: above the best",
    "NDCG@10 1.41": "impossible: above the best",
    "NDCG@2 1.23": "impossible: above the best",
    "precision@1 2.0": "impossible: above the best",
    "precision@10 1.33": "impossible: above the best",
}


@pytest.mark.parametrize("text", CLASSIFIED)
def test_published_numbers_are_classified(text: str) -> None:
    """Thirty numbers, some of them impossible."""
    found = rn.explain_number(text)
    table, kinds = found.table, check_number(found)
    chosen = table[table["stated"]] if table["stated"].any() else table
    assert {*chosen["verdict"]} == {CLASSIFIED[text]}
    assert kinds == found.findings["kind"].tolist()


def test_chance_and_best_have_the_textbook_values() -> None:
    """Of one relevant item among 101, among 100 and among all."""
    table = rn.explain_number(PAPER).table.set_index("protocol")
    chance = table["chance"].round(15).to_dict()
    assert chance == {
        "all items": round(10 / 3706, 15), "1 relevant among 101": round(10 / 101, 15),
        "1 relevant among 100": 0.1, "rated items": 1.0,
    }  # fmt: skip
    found = rn.explain_number("NDCG@5 0.3, 2 relevant, 1 in 50").table.set_index("protocol")
    ideal = 1 + 1 / log2(3)
    expected = 2 / 50 * sum(1 / log2(rank + 1) for rank in range(1, 6)) / ideal
    assert found.loc["2 relevant among 50", "chance"] == pytest.approx(expected)
    found = rn.explain_number("precision@5 0.3, 2 relevant, 1 in 50").table.set_index("protocol")
    assert found.loc["2 relevant among 50", "best"] == pytest.approx(2 / 5)


def score_sampled(rank: int, n_items: int, k: int, negatives: int) -> float:
    """Return the probability of a hit in a sample, by the textbook."""
    return sum(
        comb(rank - 1, ahead) * comb(n_items - rank, negatives - ahead)
        for ahead in range(min(k, negatives + 1))
    ) / comb(n_items - 1, negatives)


@examples(2)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(1, 5))
def test_the_bounds_for_the_ranks_hold_for_any_users(ranks: list[int], k: int) -> None:
    """Whatever their ranks among all items."""
    n_items, negatives = 60, 20
    value = np.mean([score_sampled(rank, n_items, k, negatives) for rank in ranks])
    text = f"HR@{k} {value:.6f}, leave-one-out, 1 in {negatives + 1}, {n_items} items"
    found = rn.explain_number(text)
    numbers = found.findings.set_index("kind")["numbers"]["implied_ranks"]
    assert check_number(found)[-1] == "implied_ranks"
    middle = sorted(ranks)[(len(ranks) - 1) // 2]
    assert numbers["median_low"] <= middle <= numbers["median_high"]
    hits = np.mean([rank <= k for rank in ranks])
    assert numbers["hit_low"] - 1e-4 <= hits <= numbers["hit_high"] + 1e-4
    if len({*ranks}) == 1 and 0.001 < value < 0.999:
        assert abs(numbers["same_rank"] - ranks[0]) <= 1


def test_texts_are_read_in_many_forms() -> None:
    """Percent, commas in numbers, other separators, the names of data sets."""
    forms = [
        "hit@10: 69%; LOO; 100 sampled negatives; MovieLens 1M",
        "HR@10 = 69 %, leave one out, 100 negatives, 3,706 items",
    ]
    expected = rn.explain_number("HR@10 0.69, leave-one-out, 100 negatives", items=3706)
    for text in [*forms, PAPER]:
        found = rn.explain_number(text)
        assert found.table.equals(expected.table)
        assert (found.text, found.metric, found.value) == (text, "hit@10", 0.69)
    unfiltered = rn.explain_number(PAPER, items=3416)
    assert unfiltered.table.loc[0, "items"] == 3416
    assert check_number(rn.explain_number("HR@10 0.5, 1 in 100, 500 items"))[-1] == "implied_ranks"
    remarks = ["unknown_relevant_items", "unknown_catalogue", "number_above_one"]
    assert check_number(rn.explain_number("NDCG@10 1.41"))[-3:] == remarks


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("0.69", "'0.69' is not a metric and its value. Write it as 'HR@10 0.69"),
        ("HR@10", "not a metric and its value"),
        ("RMSE .934", "rmse has no known mean over random lists. Metrics that have one: ap, "),
        ("HR@10 0.69, five folds", "'five folds' cannot be read. Write it as"),
        ("HR@10 0.69, 0 negatives", "'0 negatives' cannot be read"),
        ("HR@10 0.69, 1 items", "'1 items' cannot be read"),
        ("HR@10 0.69, 2000000 items", "items must be a whole number from 2 to 1000000"),
    ],
)
def test_other_texts_are_errors_that_show_the_form(text: str, match: str) -> None:
    """Nothing is guessed or passed over."""
    assert_rejected(match, rn.explain_number, text)
    assert_rejected("items", rn.explain_number, PAPER, items=1)
    with rejects("ndgc", rn.UnknownMetricError):
        rn.explain_number("ndgc@10 0.5")


def test_the_command_prints_the_explanation() -> None:
    """In every format."""
    found = rn.explain_number(PAPER)
    printed = " ".join(run("explain-number", PAPER).stdout.split())
    assert found.remarks[0] in printed
    values: dict[str, Any] = json_of("explain-number", PAPER, "--format", "json")
    assert values == found.to_dict()
    assert (values["remarks"], len(values["protocols"])) == (found.remarks, len(found.table))
    markdown = run("explain-number", PAPER, "--format", "markdown").stdout
    assert markdown.strip() == found.to_markdown().strip()
    assert "possible" in str(found)
    assert "cannot be read" in error_of("explain-number", "HR@10 0.69, x")
    assert "3416" in run("explain-number", PAPER, "--items", "3416").stdout


def test_contradictions_are_rejected() -> None:
    """Two sets of ranked items, two numbers of relevant items; decimal commas are explained."""
    for text in ("100 negatives, full ranking", "1 in 100, rated items"):
        with rejects("names two sets of items to rank"):
            rn.explain_number(f"HR@10 0.5, {text}")
    with rejects("'5 relevant' contradicts an earlier part, which says 1"):
        rn.explain_number("HR@10 0.5, leave-one-out, 5 relevant")
    for more in ("ML-1M, 1 in 5000", "100 negatives, 50 items", "1 in 20000000000"):
        with rejects("which are more than there are"):
            rn.explain_number(f"HR@10 0.5, {more}")
    with rejects("'42' cannot be read. Decimals have a point: 0.69"):
        rn.explain_number("HR@10 0,42")
    with rejects("not a metric and its value.*with commas between"):
        rn.explain_number("HR@10 0.69 leave-one-out ML-1M")


def test_what_cannot_be_computed_is_no_possible_number() -> None:
    """A list of one item has no AUC; a catalogue of unknown size has no chance."""
    table = rn.explain_number("AUC 0.85, leave-one-out").table.set_index("protocol")
    assert table.loc["rated items", "verdict"] == "no score"
    sizes = rn.explain_number("HR@5 0.5, 100 relevant").table["items"].dropna()
    assert sizes.tolist() == [101]  # of 100 items, all would be relevant
    table = rn.explain_number("precision@10 0.5, ML-1M").table
    assert "among 100" in {*table["protocol"]}  # one relevant item allows no more than 0.1
    table = rn.explain_number("HR@10 0.5, leave-one-out, full ranking").table.set_index("protocol")
    assert table["stated"].to_dict()["all items"]
    assert table["chance"].isna()["all items"]
    joined = json_of("explain-number", "precision@10", "0.2,", "leave-one-out")
    assert joined["text"] == "precision@10 0.2, leave-one-out"


@pytest.mark.parametrize(("value", "fewest"), [(0.06, 1), (0.421, 5), (1.0, 10)])
def test_chance_is_that_of_the_fewest_relevant_items_that_allow_a_number(
    value: float, fewest: int
) -> None:
    """With n relevant items precision@10 is at most n / 10, and n / 100 by chance of 100 items."""
    found = rn.explain_number(f"P@10 {value}, ML-1M")
    chance = found.table.set_index("protocol")["chance"]
    assert chance["among 100"] == pytest.approx(fewest / 100)
    assert chance["all items"] == pytest.approx(fewest / 3706)
    numbers = found.findings.set_index("kind")["numbers"]["unknown_relevant_items"]
    assert numbers == {"relevant": fewest, "is_possible": True}
    assert ("implied_ranks" in check_number(found)) == (fewest == 1)


def test_a_number_that_no_number_of_relevant_items_allows_is_impossible() -> None:
    """Above 1, or above n / 10 of a catalogue of n items; the remark does not say otherwise."""
    for text in ("P@10 1.5", "P@10 .421, 3 items"):
        found = rn.explain_number(text)
        assert {*found.table["verdict"]} == {"impossible: above the best"}
        numbers = found.findings.set_index("kind")["numbers"]["unknown_relevant_items"]
        assert numbers == {"relevant": 1, "is_possible": False}
    assert {*found.table["best"].round(9)} == {0.3}
    best = rn.explain_number("P@1000 .03, ML-1M").table["best"]
    assert best.tolist() == pytest.approx([1, 0.1, 0.101, 1])  # of all, among 100 and 101, rated


def test_the_fewest_relevant_items_are_found_in_few_steps() -> None:
    """A search of all numbers took minutes for a long list."""
    with patch.object(Audit, "of", wraps=Audit.of) as measured:
        findings = rn.explain_number("P@200 .421, 3000 items").findings.set_index("kind")
    assert findings["numbers"]["unknown_relevant_items"]["relevant"] == 85
    assert measured.call_count < 25
