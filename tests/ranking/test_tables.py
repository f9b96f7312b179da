"""The tables of a `Ranking`, which a user's own metric may read, compared with every order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from recsys_ndcg.ranking import Ranking
from recsys_ndcg.ranking.ranking import compute_weight_norm
from recsys_ndcg.scoring import rank
from tests import sample_lists, strategies, textbook
from tests.errors import rejects
from tests.textbook import Choices, Row

USUAL = Choices(threshold=3.0, max_grade=5.0)
CHANGES: list[dict[str, Any]] = [
    {},
    {"ties": "item_desc", "gain": "linear"},
    {"ties": "text_asc", "unlabelled": "filter", "gain": "binary"},
    {"ties": "input", "tie_tolerance": 0.5, "unlisted": "ignore", "discount": "ln"},
    {"tie_tolerance": "float32", "ideal": "local", "recommend_from": 2.0},
    {"ideal": "max", "recommend_from": "threshold", "gain": "exponential_above"},
]


def _tables(rows: list[Row], chosen: Choices, depth: int) -> dict[str, list[float]]:
    """Return the mean of each table over the orders of equal estimates."""
    found: list[dict[str, list[float]]] = []
    for order in textbook.orders(rows, chosen):
        relevant = [float(textbook.relevant(row.true, chosen)) for row in order]
        places = [*enumerate(relevant)]
        found.append(
            {
                "gain": [textbook.gain(row.true, chosen) for row in order], "relevance": relevant,
                "labelled": [row.true is not None for row in order],
                "relevance_so_far": [one * sum(relevant[: r + 1]) for r, one in places],
                "first_hit": [one * (not sum(relevant[:r])) for r, one in places],
            }
        )  # fmt: skip
    return {
        name: [
            math.fsum((each[name] + [0.0] * depth)[rank] for each in found) / len(found)
            for rank in range(depth)
        ]
        for name in found[0]
    }


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_tables_are_means_over_tied_orders(changes: dict[str, Any], depth: int | None) -> None:
    """A row per user, a column per rank, as many as the longest list with its labels has."""
    chosen, data = replace(USUAL, **changes), sample_lists.joined_data()
    lists = data.lists
    ranking = rank(lists._data, strategies.to_convention(chosen), depth, threshold=chosen.threshold)
    kept = {user: textbook.kept(data.users.get(user, []), chosen) for user in lists.users.tolist()}
    others = {user: textbook.known(data.unlisted.get(user, []), chosen) for user in kept}
    width = depth or max(len(kept[user]) + len(others[user]) for user in kept)
    for place, user in enumerate(kept):
        expected = _tables(kept[user], chosen, width)
        expected["ideal_gain"] = textbook.ideal_gains(width, kept[user], others[user], chosen)
        for name, row in expected.items():
            table = getattr(ranking, name)
            assert table.shape == (len(lists), width)
            padded = [*row, *[0.0] * width][:width]
            assert table[place].tolist() == pytest.approx(padded, abs=1e-12), (name, user)
    discounts = [textbook.discount(r, chosen) for r in range(1, width + 1)]
    assert ranking.discount.tolist() == pytest.approx(discounts)
    _counts_are_those_of_the_textbook(ranking, kept, others, chosen)


def _counts_are_those_of_the_textbook(
    ranking: Ranking, kept: dict[int, list[Row]], others: dict[int, list[float]], chosen: Choices
) -> None:
    def trues(user: int) -> list[float | None]:
        return [*(row.true for row in kept[user]), *others[user]]

    def recommended(user: int) -> int:
        if chosen.recommend_from is None:
            return len(kept[user])
        least = chosen.threshold if chosen.recommend_from == "threshold" else chosen.recommend_from
        return sum(textbook.ranked_by(row, chosen) >= least for row in kept[user])  # type: ignore[operator]

    expected: dict[str, Callable[[int], int]] = {
        "n_items": lambda user: len(kept[user]),
        "n_labelled": lambda user: sum(true is not None for true in trues(user)),
        "n_relevant": lambda user: sum(textbook.relevant(true, chosen) for true in trues(user)),
        "n_recommended": recommended,
    }
    for name, count in expected.items():
        assert getattr(ranking, name).tolist() == [count(user) for user in kept], name
    top = 1.0 if chosen.max_grade is None else textbook.gain(chosen.max_grade, chosen)
    assert ranking.top_gain == pytest.approx(top)


def test_a_list_of_one_item_has_a_table_of_one_rank() -> None:
    """Ranks that no list has are not in the table."""
    lists = rn.RankedLists.from_tuples({"ann": [(1.0, 2.0)]})
    ranking = rank(lists._data, rn.Convention(gain="linear"))
    assert ranking.gain.tolist() == ranking.ideal_gain.tolist() == [[2.0]]
    assert ranking.error.tolist() == [-1.0]
    assert ranking.n_recommended.tolist() == [1]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"unlabelled": "raise"}, "user 'bob'.*unlabelled|unlabelled.*user 'bob'"),
        ({"ties": "item_asc"}, "item"),
        ({"gain": {1.0: 0.0, 5.0: 1.0}}, "the grade 2.0 .*user 'ann'.* has no gain"),
    ],
)
def test_lists_that_cannot_be_ranked_are_refused(changes: dict[str, Any], why: str) -> None:
    """With the first row that is the reason."""
    rows = {"ann": [(3.0, 5.0), (2.0, 1.0), (2.0, 2.0)], "bob": [(1.0, None)]}
    lists = rn.RankedLists.from_tuples(rows)
    with rejects(why):
        rank(lists._data, rn.Convention(**changes))


def test_weights_of_all_lists_or_of_each_have_one_length() -> None:
    """Weights that all lists share are summed once for each length of a list."""
    weights, n_items = np.array([1.0, 0.5, 0.25]), np.array([4, 1, 2, 4, 3, 0, 2])
    alike = np.broadcast_to(weights, (len(n_items), len(weights)))
    found = compute_weight_norm(weights, n_items)
    np.testing.assert_array_equal(found, compute_weight_norm(alike, n_items))
    np.testing.assert_allclose(found[[0, 3]], np.std([*weights, 0]) * 2, rtol=1e-15)


def test_sums_by_user_leave_out_what_is_unlabelled() -> None:
    """The sums are equal to the last bit for any order of the rows."""
    trues = [0.1, 0.2, 0.3, None, 1e16, -1e16]
    pairs = [(0.0, true) for true in trues]
    sums = []
    for rows in (pairs, pairs[::-1], pairs[3:] + pairs[:3]):
        ranking = rank(to_lists({"ann": rows}), rn.Convention(gain=np.abs))
        sums.append(ranking.per_user(ranking.error).tolist())
        assert ranking.per_user(np.isnan(ranking.error)).tolist() == [1.0]
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.parametrize(
    ("ties", "rows"),
    [
        ("expected", [0, 1, 3, 4, 2, 6, 5]), ("input", [0, 1, 3, 4, 2, 6, 5]),
        ("best", [1, 4, 3, 0, 2, 6, 5]), ("worst", [0, 3, 1, 4, 2, 6, 5]),
    ],
)  # fmt: skip
def test_rows_of_equal_rank_or_gain_are_in_input_order(ties: Any, rows: list[int]) -> None:
    """Ranks count from 0 for each user."""
    pairs = {"ann": [(2, 1), (2, 5), (1, 3), (2, 2), (2, 5)], "bob": [(1, 5), (2, 1)]}
    ranking = rank(to_lists(pairs), rn.Convention(ties=ties))
    assert [one.tolist() for one in ranking.ranks_of_rows] == [rows, [0, 1, 2, 3, 4, 0, 1]]
