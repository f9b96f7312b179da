"""A page has the lists of `Report.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.rendering import UserLists
from recsys_ndcg.rendering.page import pack_lists
from recsys_ndcg.report import build_user_lists

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
GRADES = st.one_of(st.none(), st.integers(0, 5))
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 3), GRADES),
    min_size=1,
    unique_by=lambda row: row[:2],
)


def check(report: rn.Report, k: int) -> None:
    """Compare the lists of all users, in any order, with `explain` for each."""
    places = np.random.default_rng(0).permutation(len(report.users))
    sides = build_user_lists(report._data.audit, places, k=k)
    assert sides is not None
    both = sides.sides.values()
    for place, own, ideal in zip(places.tolist(), *both, strict=True):
        table = report.explain(report.users.tolist()[place], k)
        listed = table.iloc[: len(own["item"])]
        assert table["item"].iloc[len(own["item"]) :].isna().all()
        assert own["item"] == listed["item"].tolist()
        same(own["true"], listed["true"])
        same(own.get("estimated", [np.nan] * len(listed)), listed["estimated"])
        same(own["gain"], listed["gain"])
        assert ideal["item"] == [None if pd.isna(one) else one for one in table["ideal_item"]]
        same(ideal["gain"], table["ideal_gain"])
        same(sides.weights[: len(table)], table["discount"])


def same(mine: Sequence[float] | Any, theirs: Any) -> None:
    """Compare numbers to the last bit."""
    np.testing.assert_array_equal(np.asarray(mine, float), np.asarray(theirs, float))


@given(ROWS, st.integers(1, 6), st.sampled_from(["expected", "input", "worst", "item_desc"]))
def test_lists_equal_explain(
    rows: list[tuple[int, int, int, int | None]], k: int, ties: Any
) -> None:
    """With ties and unlabelled items."""
    rows = [*rows, (9, 0, 1, 3), (9, 1, 2, 4)]  # some grades are known and differ
    check(rn.evaluate(rows, metrics="ndcg@5", convention=rn.Convention(ties=ties)), k)


CHOICES: list[dict[str, Any]] = [
    {"ideal": "local"}, {"ideal": "max", "max_grade": 5}, {"unlabelled": "filter"},
    {"unlisted": "ignore"}, {"gain": "linear", "discount": "ln"},
]  # fmt: skip


@pytest.mark.parametrize("how", CHOICES)
def test_lists_follow_the_convention(how: dict[str, Any]) -> None:
    """With unlisted labels, and users without a list."""
    labels = pd.DataFrame({"user": list("aaab"), "item": list("xyzw"), "true": [3, 1, 2, 2]})
    results = pd.DataFrame({"user": list("aacc"), "item": list("xqyz"), "rank": [2, 1, 1, 2]})
    lists = rn.RankedLists.from_labels(labels, results)
    check(rn.evaluate(lists, metrics="ndcg@2", convention=rn.Convention(**how)), 3)


@pytest.mark.parametrize("ties", ["worst", "best"])
def test_equal_items_keep_the_order_of_the_input(ties: Any) -> None:
    """Also next to users with so many rows that another sort is used."""
    mine = [(99, item, 1.0, 3.0) for item in range(30, 0, -1)] + [(99, 0, 1.0, 5.0)]
    others = [(user, item, user + item % 7, 2.0) for user in range(9) for item in range(200)]
    for rows in (mine, [*mine, *others]):
        report = rn.evaluate(rows, metrics="ndcg@3", convention=rn.Convention(ties=ties))
        shown = report.explain(99)["item"].tolist()
        assert shown[0] == (0 if ties == "best" else 30)
        rest = [item for item in shown if item]
        assert rest == sorted(rest, reverse=True)


def test_a_report_without_lists_has_none(tmp_path: Any) -> None:
    """For example a loaded one."""
    report = rn.evaluate({"ann": [(4, 5), (3, 2)]})
    report.save(tmp_path / "r.json")
    assert build_user_lists(rn.Report.load(tmp_path / "r.json")._data.audit, np.array([0])) is None


def test_lists_are_limited_in_size() -> None:
    """The first users come first; each item is named once."""
    users = [{"item": [user, "x"], "gain": [1.0, np.nan]} for user in range(50)]
    lists = UserLists({"model": users}, [1.0, 0.5])
    whole = pack_lists(lists)
    assert len(whole["users"]) == 50
    assert whole["items"] == ["0", "x", *map(str, range(1, 50))]
    assert whole["users"][1] == [[[2, 1], [1, None]]]
    some = pack_lists(lists, most=300)
    assert 0 < len(some["users"]) < 20
    assert some["users"] == whole["users"][: len(some["users"])]
    assert pack_lists(UserLists({"model": []}, []))["users"] == []


def test_users_whose_order_does_not_matter_come_last() -> None:
    """The caption counts them; users with longer lists come before users with shorter ones."""
    rows = {f"flat{place}": [(2.5, 3), (1, 3)] for place in range(3)}
    rows |= {"short": [(2.5, 5), (1, 3)], "long": [(3.5, 5), (2, 4), (1, 3)]}
    rows["bad"] = [(1, 5), (2.5, 3)]
    page = rn.evaluate(rows).to_html()
    places = [page.index(f"<bdi>{name}</bdi>") for name in ("bad", "flat0", "flat2")]
    assert places == sorted(places)
    assert page.index("<bdi>short</bdi>") < places[0] > page.index("<bdi>long</bdi>")
    caption = "; last, 3 users whose score does not depend on the order"
    assert caption in page
    other = {user: [(-one, true) for one, true in some] for user, some in rows.items()}
    assert caption in rn.compare({"one": rows, "other": other}).to_html()


def test_the_caption_counts_only_users_who_are_shown() -> None:
    """Of too many, users whose order does not matter are left out."""
    rows = {user: [(2.5, 5), (1, 3 + user % 2)] for user in range(1200)}
    rows |= {-user: [(2.5, 3), (1, 3)] for user in range(1, 5)}
    assert "; last, " not in rn.evaluate(rows).to_html()
