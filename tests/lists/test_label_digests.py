"""The digest of the truth: it depends on each user's labels, and on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.lists import digest_labels, to_lists
from tests import strategies
from tests.drawn_reports import have_same_labels
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
COLUMNS = ["user", "item", "estimated", "true"]
GRADES = [-1.0, 0.0, 0.5, 1.0, 2.0, 5.0]


def _digests(frame: Any) -> dict[Any, int]:
    lists = to_lists(frame)
    return dict(zip(lists.users.tolist(), digest_labels(lists).tolist(), strict=True))


def _frame(seed: int = 0, users: int = 6, items: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.permutation(9)[:items] for _ in range(users)])
    frame = pd.DataFrame({"user": np.repeat(np.arange(users), items), "item": item})
    estimated, true = rng.normal(size=len(item)), rng.choice(GRADES[1:], len(item))
    return frame.assign(estimated=estimated, true=true)


TEXT: list[tuple[Any, ...]] = [
    ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1.5), ("ann", "c", 1.0, None),
    ("Zoë", "a", 2.0, 0.0), ("Zoë", "b", 2.0, 2), ("cy", "a", 1.0, None),
]  # fmt: skip
NUMBERS = [(user, ord(item), *rest) for user, item, *rest in TEXT]
SWAPPED = [(item, user, *rest) for user, item, *rest in NUMBERS]
GOLDEN: list[tuple[Any, dict[Any, int]]] = [
    (TEXT, {"Zoë": 484957367, "ann": 2954139898, "cy": 0}),
    (NUMBERS, {"Zoë": 3533496718, "ann": 3685999507, "cy": 0}),
    (SWAPPED, {97: 4181270319, 98: 7837314, 99: 0}),
    ({7: [(4.5, 5), (3.0, 2)], 9: [(1.0, 3.5)]}, {7: 3181220401, 9: 3972562781}),
    ([(1.5, 1.25, 2.0, 3.0), (2.5, 1.25, 2.0, 3.0)], {1.5: 3562240105, 2.5: 3308216708}),
]


@pytest.mark.parametrize(("data", "digests"), GOLDEN)
def test_it_is_the_same_as_in_earlier_versions(data: Any, digests: dict[Any, int]) -> None:
    """Old saved reports are compared with new ones."""
    audit = rn.evaluate(data)._data.audit
    assert dict(zip(audit.scores.users.tolist(), audit.label_digests, strict=True)) == digests


@examples(0.4)
@given(strategies.datasets(may_join=False), st.integers(0, 99), st.sampled_from([1, 1 << 16]))
def test_it_depends_on_labels_only(data: strategies.Sample, seed: int, rows: int) -> None:
    """Not of estimates, the order of rows, unlabelled rows, or the size of blocks."""
    assume(strategies.is_usable(data))
    frame = data.frame
    expected = _digests(frame)
    rng = np.random.default_rng(seed)
    other = frame.assign(estimated=rng.normal(size=len(frame))).sample(frac=1, random_state=seed)
    extra = [(user, 5000 + seed, 1.0, np.nan) for user in expected]
    more = pd.concat([other, pd.DataFrame(extra, columns=COLUMNS)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        assert _digests(other) == expected
        assert _digests(more) == expected
    labelled = set(frame.dropna()["user"])
    assert {user for user, digest in expected.items() if digest} <= labelled


@examples(0.4)
@given(data=strategies.datasets())
def test_two_tables_have_the_digests_of_one(data: strategies.Sample) -> None:
    """From labels and results, or one table of what is known."""
    assume(strategies.is_usable(data))
    rows = [(user, one.item, 1.0, one.true) for user, own in data.users.items() for one in own]
    if data.joined:
        for user, trues in data.unlisted.items():
            rows += [(user, 1000 + place, 1.0, true) for place, true in enumerate(trues)]
    labelled = [row for row in rows if row[3] is not None]
    assume(labelled)
    expected = _digests(pd.DataFrame(labelled, columns=COLUMNS))
    found = _digests(data.lists)
    assert {user: found[user] for user in expected} == expected
    assert not any(digest for user, digest in found.items() if user not in expected)


TYPES = {
    "true": ["int8", "int64", "float32", "object", "Float64"],
    "user": ["int8", "uint64", "float32", "object", "Int64", "category"],
    "text user": ["object", "string", "category"],
}
TYPES |= {"item": TYPES["user"], "text item": TYPES["text user"]}


@pytest.mark.parametrize(("column", "kind"), [(one, kind) for one in TYPES for kind in TYPES[one]])
def test_it_does_not_depend_on_the_type_of_a_column(column: str, kind: str) -> None:
    """Nor on the library of the table, nor on the sign of a zero."""
    is_text, name = column.startswith("text"), column.removeprefix("text ")
    frame = _frame().assign(true=lambda table: table["true"].round())
    if is_text:
        frame[name] = pd.Series([f"Zoë {one}" for one in frame[name]], dtype=object)
    table: Any = pl.from_pandas(frame)
    same = [frame.astype({name: kind}), table, [*frame.itertuples(index=False, name=None)]]
    same += [frame.assign(true=np.where(frame["true"] == 0, -0.0, frame["true"]))]
    same += [table.with_columns(pl.col(name).cast(pl.Categorical))] if is_text else []
    assert [_digests(other) for other in same] == [_digests(frame)] * len(same)


@examples(0.4)
@given(place=st.integers(0, 29), seed=st.integers(0, 20), what=st.sampled_from(COLUMNS))
def test_it_depends_on_each_grade_item_and_user(place: int, seed: int, what: str) -> None:
    """Of the user whose row it is, and of no other."""
    frame: Any = _frame(seed)
    before = _digests(frame)
    user, changed = frame.loc[place, "user"], frame.copy()
    others = {"user": 99, "item": 55, "estimated": 7.5, "true": frame.loc[place, "true"] + 0.25}
    changed.loc[place, what] = others[what]
    after = _digests(changed)
    different = {one for one in before if before[one] != after[one]}
    assert different == (set() if what == "estimated" else {user})
    removed = _digests(frame.drop(index=place))
    assert {one for one in before if before[one] != removed[one]} == {user}


def test_swapped_grades_and_swapped_users_have_other_digests() -> None:
    """The same grades on other items, the same items of another user."""
    rows = [("ann", "a", 2.0, 5.0), ("ann", "b", 1.0, 1.0), ("bob", "a", 2.0, 5.0)]
    found = _digests([*rows, ("bob", "b", 1.0, 1.0)])
    swapped = _digests([*rows[:2], ("bob", "a", 2.0, 1.0), ("bob", "b", 1.0, 5.0)])
    assert len({found["ann"], found["bob"], swapped["bob"]}) == 3
    assert swapped["ann"] == found["ann"]


IDS = st.integers(0, 5) | st.sampled_from([0.5, 2.5, 2**60, 2**63, 2**70, -1, "7", "a", "Zoë", ""])
LABELS = st.tuples(IDS, IDS, st.just(1.0), st.sampled_from(GRADES))


@examples(0.8)
@given(st.lists(LABELS, min_size=2, max_size=8, unique_by=lambda row: row[:2]), st.integers(1, 7))
def test_digests_of_parts_add_up_to_the_digest_of_the_whole(rows: list[Any], cut: int) -> None:
    """Modulo 2^32, however the rows are divided, whatever other ids there are."""
    assume(cut < len(rows))
    first, second = _digests(rows[:cut]), _digests(rows[cut:])
    for user, digest in _digests(rows).items():
        assert digest == (first.get(user, 0) + second.get(user, 0)) % 2**32


def test_reports_on_the_same_ratings_are_recognised() -> None:
    """Of two models, in any form and under any convention; and not, where one grade differs."""
    frame = _frame()
    frame.loc[3, "true"] = np.nan
    lists = rn.RankedLists.from_labels(frame.dropna(), frame.assign(item=frame["item"] + 3))
    extra = pd.DataFrame([(77, 1, 2.0, np.nan)], columns=COLUMNS)
    reports = {
        "same": rn.evaluate(frame), "fewer": rn.evaluate(frame.drop(index=5)),
        "same other model": rn.evaluate(frame.assign(estimated=1.0), metrics="rmse"),
        "same joined": rn.evaluate(lists, convention=rn.Convention(unlabelled="filter")),
        "another grade": rn.evaluate(frame.assign(true=frame["true"].replace(5.0, 4.5))),
        "without a user": rn.evaluate(frame[frame["user"] > 0]),
        "with an unlabelled user": rn.evaluate(pd.concat([frame, extra])),
    }  # fmt: skip
    for name, report in reports.items():
        found = {
            have_same_labels(reports["same"], report),
            have_same_labels(report, reports["same"]),
        }
        assert found == {name.startswith("same")}, name


def test_a_catalogue_has_the_digests_of_its_test_ratings() -> None:
    """As the ratings that the users gave, whatever was ranked."""
    pytest.importorskip("surprise")
    from recsys_ndcg.surprise import MostPopular, evaluate_catalogue  # noqa: PLC0415
    from tests.surprise.samples import TABLE, dataset  # noqa: PLC0415

    train = dataset(TABLE.drop(TABLE.index[::3])).build_full_trainset()
    rows = [*TABLE[::3].itertuples(index=False, name=None)]
    algo, metrics = MostPopular().fit(train), ["ndcg@5", "auc"]
    report = evaluate_catalogue(algo, train, rows, metrics=metrics, threshold=4)
    rated = rn.evaluate([(user, item, 1.0, true) for user, item, true in rows])
    assert have_same_labels(report, rated)
    changed = rn.evaluate([(user, item, 1.0, true + 0.5) for user, item, true in rows])
    assert not have_same_labels(report, changed)
