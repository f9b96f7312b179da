"""What the documentation says of choices whose names do not say it, by formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest

import recsys_ndcg as rn


def measure(lists: dict[Any, Any], metric: str, train: Any = None, **how: Any) -> float:
    """Return a metric of lists in which each user's first item is relevant."""
    known = {name: how.pop(name) for name in ("catalogue", "features") if name in how}
    labelled = rn.RankedLists.from_labels({user: {one[0]} for user, one in lists.items()}, lists)
    convention = rn.Convention(**how)
    report = rn.evaluate(
        labelled, metrics=metric, train=train, convention=convention, threshold=1, **known
    )
    return float(report.mean.iloc[0])


def test_entropy_over_lists_is_a_cross_entropy() -> None:
    """It can exceed the entropy, and the logarithm of the number of items."""
    long = [f"y{place}" for place in range(10)]
    lists = {1: ["x"], 2: long, 3: long}
    expected = 1 / 3 * math.log2(21) + 2 / 3 * math.log2(21 / 2)
    assert measure(lists, "entropy(over=lists)@10") == pytest.approx(expected)
    assert expected > math.log2(11) > measure(lists, "entropy@10")


@pytest.mark.parametrize(("catalogue", "counts"), [("a", [1, 1, 2]), ("adefg", [0, 0, 1, 1, 2])])
def test_gini_takes_the_larger_number_of_items(catalogue: str, counts: list[int]) -> None:
    """Of the universe and of the shown items, if those outside count."""
    found = measure({1: ["a", "b"], 2: ["a", "c"]}, "gini@2", catalogue=[*catalogue],
                    outside="count")  # fmt: skip
    n = len(counts)
    terms = [(2 * place - n - 1) * count for place, count in enumerate(counts, 1)]
    assert found == pytest.approx(sum(terms) / (n * sum(counts)))


@pytest.mark.parametrize("rule", ["users", "rows"])
def test_bias_disparity_counts_a_training_item_once(rule: str) -> None:
    """Of two items of the user one is of the category, which is one of four."""
    known = {"catalogue": [*"abcd"], "features": {"item": [*"abcd"], "maker": [*"xyyy"]}}
    train = [("ann", "a"), ("ann", "a"), ("ann", "b")]
    metric = "bias_disparity(maker,item_group=x,which=BS)@2"
    found = measure({"ann": ["a", "b"]}, metric, train, popularity_of=rule, **known)
    assert found == pytest.approx((1 / 2) / (1 / 4))


def test_ranks_of_serendipity_have_no_gaps() -> None:
    """Equal numbers of users share a rank; an item that nobody had comes after the catalogue."""
    numbers = {"a": 5, "b": 3, "c": 3, "d": 1}
    train = [(f"u{place}", item) for item, n in numbers.items() for place in range(n)]
    for item, rank in {"a": 1, "b": 2, "c": 2, "d": 3, "e": 9}.items():
        found = measure({"eve": [item]}, "serendipity@1", train, catalogue=[*"abcdefgh"])
        assert found == pytest.approx((rank - 1) / 8)


def test_hamming_counts_members_of_sets_and_entries_of_vectors() -> None:
    """That only one of the two has, or that differ."""
    for values, distance in {
        (frozenset("pq"), frozenset("qrs")): 3,
        ((1.0, 2.0, 3.0), (1.0, 5.0, 6.0)): 2,
    }.items():
        features = {"item": ["a", "b"], "s": [*values]}
        found = measure({1: ["a", "b"]}, "diversity(s)@2", features=features, distance="hamming")
        assert found == distance


def test_cold_items_have_a_value_of_their_own() -> None:
    """In EPC 1, or 0 under zero; they are in no tail of training items."""
    train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    lists = {"eve": ["c"]}
    assert measure(lists, "epc@1", train) == 1
    assert measure(lists, "epc@1", train, cold_item="zero") == 0
    assert measure(lists, "tail@1", train) == 1
    assert measure(lists, "tail@1", train, universe="train") == 0
    assert measure(lists, "tail@1", train, tail="rarest") == 0
