"""Reports by user group: how groups are given, and how each group differs from the rest."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.significance import compare_groups
from tests.errors import assert_rejected, rejects
from tests.profiles import examples
from tests.significance.textbook import list_contrasts, mean_apart

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
USERS = ["ann", "bob", "cy", "dee"]
COUNTRY = {"ann": "PL", "bob": "DE", "dee": "PL", "zed": "FR"}
TABLE = pd.DataFrame({"userId": list(COUNTRY), "country": list(COUNTRY.values())})
HOSTILE = ["<b>", "a|b", "50%", "x\n\x1b[2J", "n" * 200, "é\u202e", "=1+1", "(all)", "$x_1$"]


def _rows(users: list[Any]) -> list[tuple[Any, Any, float, float]]:
    """Return a list of two to four items for each user."""
    return [
        (user, item, math.sin(3.7 * place + item), 1 + (place * item + item) % 5)
        for place, user in enumerate(users)
        for item in range(2 + place % 3)
    ]


def _evaluate(users: list[Any], metrics: Any = "ndcg@2", threshold: float | None = 3) -> rn.Report:
    return rn.evaluate(_rows(users), metrics=metrics, threshold=threshold)


@pytest.fixture(name="report", scope="module")
def _report() -> rn.Report:
    return _evaluate(USERS, ["ndcg@2", "recall@2", "rmse"])


def _groups(segments: Any) -> dict[Any, list[Any]]:
    return {label: report.users.tolist() for label, report in segments.items()}


# How groups are given


def _write(path: Path, **options: Any) -> str:
    TABLE.to_csv(path, **options)
    return str(path)


def _with_library(library: str, kind: str) -> Any:
    return getattr(pytest.importorskip(library), kind)(TABLE.to_dict("list"))


FORMS: dict[str, Callable[[Path], Any]] = {
    "{user: group}": lambda _: COUNTRY,
    "{group: users}": lambda _: {"PL": ["ann", "dee", "zed"], "DE": {"bob"}},
    "Series": lambda _: pd.Series(COUNTRY),
    "pandas": lambda _: TABLE,
    "indexed by user": lambda _: TABLE.set_index("userId"),
    "polars": lambda _: _with_library("polars", "DataFrame"),
    "lazy polars": lambda _: _with_library("polars", "LazyFrame"),
    "pyarrow": lambda _: _with_library("pyarrow", "table"),
    "columns": lambda _: {"user": list(COUNTRY), "country": list(COUNTRY.values())},
    "CSV": lambda folder: _write(folder / "g.csv", index=False),
    "CSV with row numbers": lambda folder: _write(folder / "n.csv"),
    "function": lambda _: lambda table: table.index.map(COUNTRY),
    "function of some": lambda _: lambda t: pd.Series(COUNTRY).reindex(t.index).dropna(),
    "function returning an array": lambda _: lambda _: np.array(["PL", "DE", None, "PL"]),
}


@pytest.mark.parametrize("form", [*FORMS, "column", "column of CSV", "renamed column"])
def test_groups_can_be_given_in_many_forms(form: str, report: rn.Report, tmp_path: Path) -> None:
    """Users without scores are ignored; users without a group are counted."""
    if form in FORMS:
        segments = report.by(FORMS[form](tmp_path))
    elif form == "column of CSV":
        segments = report.by("country", data=FORMS["CSV"](tmp_path))
    elif form == "renamed column":
        renamed = _with_library("polars", "DataFrame").rename({"userId": "who"})
        segments = report.by("country", data=renamed, columns={"user": "who", "true": "x"})
    else:  # a missing label does not contradict another
        rows = TABLE.iloc[[0, 1, 2, 0, 3, 2]].assign(item=range(6))
        rows.iloc[0, 1] = None
        segments = report.by("country", data=rows)
    assert _groups(segments) == {"DE": ["bob"], "PL": ["ann", "dee"]}
    assert segments.counts == {"DE": 1, "PL": 2, None: 1}
    assert segments.segment_of_user.dropna().to_dict() == {"ann": "PL", "bob": "DE", "dee": "PL"}
    first = segments.findings.iloc[0]
    assert (first["kind"], first["numbers"]["outside"]) == ("users_outside_segments", 1)


IDS: list[list[Any]] = [["05", "5", "x"], [*pd.date_range("2026-01-01", periods=3)], [1, 2.5, 3]]


@pytest.mark.parametrize("users", [*IDS, [(1, "a"), (1, "b"), (2,)]], ids=repr)
def test_user_ids_of_any_type_are_found(users: list[Any]) -> None:
    """In a mapping of either direction, in a Series and in a table."""
    first, *others = users
    labels = ["one", *["many"] * len(others)]
    table = {"user": users, "group": labels}
    series = pd.Series(labels, pd.Index(users, tupleize_cols=False))
    by_group = {"one": [first], "many": set(others)}
    of_user = dict(zip(users, labels, strict=True))
    for groups in (of_user, by_group, series, table, pd.DataFrame(table)):
        assert _groups(_evaluate(users).by(groups)) == {"many": others, "one": [first]}


@pytest.mark.parametrize("users", [["007", "12", "3"], ["1", "12", "3"]])
def test_user_ids_of_a_file_match_the_evaluated_file(users: list[str], tmp_path: Path) -> None:
    """Leading zeros are kept, even if no id in the file of groups has one."""
    lines = [f"{user},{item},{est},{true}" for user, item, est, true in _rows(users)]
    (tmp_path / "p.csv").write_text("\n".join(["user,item,estimated,true", *lines]))
    report = rn.evaluate(tmp_path / "p.csv")
    kind = str if users[0] == "007" else int
    groups = "\n".join(f"{user},group {user}" for user in [*users[1:], "99"])
    (tmp_path / "g.csv").write_text(f"user,plan\n{groups}\n")
    found = _groups(report.by(tmp_path / "g.csv"))
    assert found == {f"group {user}": [kind(user)] for user in users[1:]}
    assert report.by("cold", train=tmp_path / "g.csv").counts["known"] == 2


def test_numeric_user_ids_of_a_file_match_however_they_are_written(tmp_path: Path) -> None:
    """Text in a CSV file matches numbers in the data."""
    (tmp_path / "g.csv").write_text("user,plan\n1.5,a\n2.0,b\n3,c\n4.50,d\n")
    report = _evaluate([1.5, 2.0, 3.0, 4.5])
    assert _groups(report.by(tmp_path / "g.csv")) == {"a": [1.5], "b": [2.0], "c": [3.0]}
    (tmp_path / "x.csv").write_text("user,plan\nx,a\n")
    assert list(report.by("cold", train=tmp_path / "x.csv")) == ["unknown"]
    assert_rejected(r"have users 'x', the report has 1\.5 to 4\.5", report.by, tmp_path / "x.csv")


CATEGORIES = pd.Categorical(["s", "l", "s"], ["xl", "s", "l"])
LABELS: list[tuple[Any, list[Any]]] = [
    ([True, None, False], [False, True]),
    ([np.int64(3), np.float64(2.5), pd.NA], [2.5, 3]),
    (["x", 2, ("a", 1)], [2, "x", ("a", 1)]),
    ([np.datetime64("2026-02-01"), b"x", 1], [1, pd.Timestamp("2026-02-01"), b"x"]),
    ([np.timedelta64(1, "s"), None, "x"], ["x", pd.Timedelta(seconds=1)]),
    (CATEGORIES, ["s", "l"]),
    (pd.cut(np.array([1, 5, 9]), [0, 4, 10]), [pd.Interval(0, 4), pd.Interval(4, 10)]),
]


@pytest.mark.parametrize(("labels", "expected"), LABELS, ids=repr)
def test_segments_are_in_ascending_or_categorical_order(labels: Any, expected: list[Any]) -> None:
    """Categories without users are left out."""
    report = _evaluate([1, 2, 3])
    frame = pd.DataFrame({"user": [1, 2, 3], "size": labels})
    for groups in (lambda _: labels, pd.Series(labels, [1, 2, 3]), frame):
        segments = report.by(groups)
        assert [*segments] == segments.to_frame()["segment"].tolist() == expected
        assert [*map(type, segments)] == [*map(type, expected)]
        assert segments.segment_of_user.cat.categories.tolist() == expected
    assert str(segments)
    assert [*report.by("size", data=frame)] == expected


def test_polars_enums_keep_their_order() -> None:
    """As categories of pandas do."""
    polars = pytest.importorskip("polars")
    kind = polars.Enum(["xl", "s", "l"])
    table = polars.DataFrame({"user": [1, 2], "size": polars.Series(["l", "s"], dtype=kind)})
    assert list(_evaluate([1, 2]).by(table)) == ["s", "l"]


def test_labels_of_a_csv_file_stay_text_unless_they_are_whole_numbers(tmp_path: Path) -> None:
    """The column may have one of our names; a blank label is no group."""
    report = _evaluate(["u0", "u1", "u2"])
    cases: list[tuple[list[str], list[Any]]] = [
        (["10", "9", ""], [9, 10]), (["10", "9.5", " "], ["9.5", "10"]),
        (["010", "9", "+1"], ["+1", "9", "010"]), (["NA", "DE", "nan"], ["DE", "NA", "nan"]),
    ]  # fmt: skip
    for labels, expected in cases:
        rows = "".join(f"u{place},{label}\n" for place, label in enumerate(labels))
        (tmp_path / "g.csv").write_text(f"uid,rating\n{rows}")
        segments = report.by(tmp_path / "g.csv")
        assert (list(segments), segments.name) == (expected, "rating")
        assert list(report.by("rating", data=tmp_path / "g.csv")) == expected


def test_a_mapping_may_have_users_as_groups() -> None:
    """Lists are users; a tuple is users if each of its values is one."""
    report = _evaluate([1, 2, 3, 4])
    for lists in ({2: [2, 1], 1: [3, 4, 99]}, {2: (2, 1), 1: (3, 4)}):
        assert _groups(report.by(lists)) == {1: [3, 4], 2: [1, 2]}
    assert _groups(report.by({2: ("a", 1), 1: ("a", 2)})) == {("a", 1): [2], ("a", 2): [1]}


def test_a_series_without_an_index_is_read_in_row_order() -> None:
    """If a function returns it, or if its row numbers are exactly the user ids."""
    segments = _evaluate([3, 1, 2]).by(lambda _: pd.Series(["a", "b", "c"]))
    assert _groups(segments) == {"a": [1], "b": [2], "c": [3]}
    report = _evaluate([0, 1, 2])
    assert report.by(pd.Series(["a", "b", "a"])).counts == {"a": 2, "b": 1, None: 0}
    assert _groups(report.by(pd.Series(list("abcd")).rename_axis("user")))["c"] == [2]


def test_a_column_takes_precedence_over_a_file(report: rn.Report, tmp_path: Path) -> None:
    """If both have the name, and the data is a table."""
    path = str(tmp_path / "g.csv")
    pd.Series(COUNTRY, name="x").rename_axis("user").to_csv(path)
    assert list(report.by(path, data={"user": USERS, path: USERS})) == USERS
    assert list(report.by(path, data={"user": USERS, "country": USERS})) == ["DE", "PL"]
    (tmp_path / "p.pickle").write_bytes(pickle.dumps([("ann", 1, 2.0, 3.0, {})]))
    assert list(report.by(path, data=str(tmp_path / "p.pickle"))) == ["DE", "PL"]
    # one mapping of columns is for all tables
    groups, columns = TABLE.rename(columns={"userId": "user"}), {"user": "uid"}
    train = pd.DataFrame({"uid": ["ann"], "user": ["x"]})
    assert report.by(groups, columns=columns).counts == {"DE": 1, "PL": 2, None: 1}
    assert report.by("cold", train=train, columns=columns).counts["known"] == 1


def taste(per_user: pd.DataFrame) -> Any:
    """Return a group for each user, and change the table."""
    per_user["n_items"] = 0
    return np.where(per_user["ndcg@2"] > 0.5, "good", "bad")


def test_segments_are_named_after_the_column_or_the_function(report: rn.Report) -> None:
    """A function gets a table that it may change."""
    cases: list[tuple[Any, str]] = [
        (COUNTRY, "segment"), (pd.Series(COUNTRY, name="country"), "country"), (taste, "taste"),
        (pd.DataFrame({"user": USERS, "time": 1, "plan": 2}), "plan"),
        (pd.DataFrame({"user": USERS, "date": 1}), "date"),
        (lambda table: table["n_items"] > 2, "n_items"),
        (lambda table: pd.Series(1, table.index), "segment"),
    ]  # fmt: skip
    for groups, name in cases:
        assert report.by(groups).name == name
    assert report.per_user["n_items"].tolist() == [2, 3, 4, 2]


def test_compare_takes_the_same_groups() -> None:
    """A column may be in the table of any model."""
    rows = _rows(USERS)
    frame = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    models = {"a": rows, "b": frame.assign(country=frame["user"].map(COUNTRY))}
    for by, labels in (("country", {"DE", "PL"}), ("cold", {"known", "unknown"})):
        train = ["ann"] if by == "cold" else None
        found = rn.compare(models, metrics="ndcg@2", by=by, train=train).segments
        assert {*found.index.get_level_values("segment")} == labels
    with rejects("is named 'country'.*pass its table as data="):
        rn.compare({"a": rows, "b": [*rows]}, metrics="ndcg@2", by="country")


# Built-in groups


@examples(0.5)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_built_in_groups_are_cut_at_the_quartiles(numbers: list[int]) -> None:
    """A quartile is the lowest number that at least a quarter of the users do not exceed."""
    lists = {user: [(0.0, 1), *[(1.0, 5)] * number] for user, number in enumerate(numbers)}
    report = rn.evaluate(lists | {"none": [(1, 1), (0, 5)]}, threshold=4).take([*lists])
    positive = [*filter(None, numbers)]
    for name, more, some in (("list_length", 1, numbers), ("relevant", 0, positive)):
        ordered = sorted(some)
        cuts = {ordered[math.ceil(len(some) * share) - 1] for share in (0.25, 0.5, 0.75) if some}
        part = [sum(cut < one for cut in cuts) if one in some else -1 for one in numbers]
        groups = report.by(name).segment_of_user
        for own, label in zip(part, groups, strict=True):
            alike = [one + more for one, other in zip(numbers, part, strict=True) if other == own]
            low, high = min(alike), max(alike)
            assert label == (f"{low}–{high}" if low < high else f"{low}")
        starts = [int(label.split("–")[0]) for label in groups.cat.categories]
        assert starts == sorted(set(starts))


def test_activity_counts_labels_inside_and_outside_the_lists() -> None:
    """Unlabelled items are no ratings."""
    labels = {"ann": {"a": 5, "b": 1, "c": 2}, "bob": {"a": 4}, "eve": {"x": 1, "y": 5}}
    results = {"ann": ["a", "z"], "bob": ["a", "y", "z"]}
    report = rn.evaluate(rn.RankedLists.from_labels(labels, results), threshold=4)
    assert report.by("activity").segment_of_user.to_dict() == {"ann": "3", "bob": "1", "eve": "2"}
    groups = report.by("list_length").segment_of_user.to_dict()
    assert groups == {"ann": "2", "bob": "3", "eve": "0"}
    assert report.by("relevant").counts == {"1": 3, None: 0}


def _trainset() -> Any:
    surprise = pytest.importorskip("surprise")
    rows = pd.DataFrame({"u": TRAINED, "i": range(5), "r": 3.0})
    return surprise.Dataset.load_from_df(rows, surprise.Reader()).build_full_trainset()


TRAINED = ["ann", "ann", "ann", "bob", "zed"]
TRAINS: dict[str, Callable[[], Any]] = {
    "trainset of Surprise": _trainset,
    "table": lambda: pd.DataFrame({"uid": TRAINED, "iid": range(5)}),
    "columns": lambda: {"user": TRAINED, "item": [1, 2, 3, 1, 1]},
    "list": lambda: TRAINED,
    "Series": lambda: pd.Series(TRAINED),
    "generator": lambda: iter(TRAINED),
}


@pytest.mark.parametrize("form", TRAINS)
def test_training_data_determine_cold_users_and_activity(form: str, report: rn.Report) -> None:
    """In any form; a trainset stays as it was."""
    train = TRAINS[form]()
    cold = report.by("cold", train=train)
    assert _groups(cold) == {"known": ["ann", "bob"], "unknown": ["cy", "dee"]}
    assert not hasattr(train, "ur") or len(train.ur) == 3  # reading a missing list would add it
    active = report.by("activity", train=TRAINS[form]())
    assert active.segment_of_user.to_dict() == {"ann": "3", "bob": "1", "cy": "0", "dee": "0"}
    assert list(active) == ["0", "1", "3"]


def test_a_set_of_users_determines_cold_users_only(report: rn.Report) -> None:
    """It has no number of ratings."""
    train = {"ann", "zed"}
    assert report.by("cold", train=train).counts == {"known": 1, "unknown": 3, None: 0}
    assert_rejected("each user once", report.by, "activity", train=train)


def test_all_users_may_be_in_one_segment(report: rn.Report) -> None:
    """Then there is no other segment to compare with."""
    segments = report.by("cold", train=["zed"])
    assert segments.counts == {"unknown": 4, None: 0}
    assert segments["unknown"] == report
    assert segments.summary[["difference", "p", "p_corrected"]].isna().all(axis=None)
    assert "single_segment" in [*segments.findings["kind"]]
    one = _evaluate(["ann"]).by("list_length")
    assert str(one).startswith("1 segment by list_length, 1 users\n")


# How segments differ


def _of(summary: pd.DataFrame, metric: str) -> dict[Any, dict[str, float]]:
    """Return the row of each segment in a metric."""
    rows: dict[Any, dict[Any, float]] = summary.to_dict("index")
    return {label: row for (label, name), row in rows.items() if name == metric}


grades = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@examples(0.4)
@given(st.lists(st.tuples(st.integers(0, 3), grades), min_size=25, max_size=40))
def test_differences_are_of_scores_minus_chance(drawn: list[tuple[int, list[int]]]) -> None:
    """Users with a score in the segment against users with one in others; RMSE has no chance."""
    assume(len({grade for _, one in drawn for grade in one}) > 1 and any(one for one, _ in drawn))
    rows = {user: [*enumerate(grades)] for user, (_, grades) in enumerate(drawn)}
    groups = {user: group for user, (group, _) in enumerate(drawn) if group}
    report = rn.evaluate(rows, metrics=["ndcg@3", "rmse", "recall@2"], threshold=3)
    segments = report.by(groups)
    scored = report.per_user[["ndcg@3", "recall@2"]].notna().any()  # chance is known if scores are
    assert segments.metrics_minus_chance == [*scored[scored].index]
    codes = [segments.labels.index(group) if group else -1 for group, _ in drawn]
    for metric in report.metrics:
        score = report.per_user[metric].to_numpy()
        if metric in segments.metrics_minus_chance:
            score = score - [report.take([user]).summary["chance"][metric] for user in rows]
        score = np.where(np.abs(score) < 1e-12, 0.0, score)
        how: dict[str, Any] = {"bounded": metric != "rmse", "nonnegative": True}
        how |= {"scores": report.per_user[[metric]].to_numpy(), "draws": segments.draws}
        results = compare_groups(score[:, None], codes, len(segments), **how)
        sides = list_contrasts(len(segments), pairwise=False)
        for code, row in enumerate(_of(segments.summary, metric).values()):
            difference = mean_apart(score.tolist(), codes, sides[code])
            assert row["difference"] == pytest.approx(difference, abs=1e-12, nan_ok=True)
            assert row["p"] == pytest.approx(results.p[code, 0], nan_ok=True)
            assert row["p_corrected"] == pytest.approx(results.p_corrected[code, 0], nan_ok=True)


def test_metrics_of_all_lists_have_no_difference() -> None:
    """No user has a score of coverage, so there is nothing to permute."""
    labels = {user: {"a": 1} for user in range(24)}
    results = {user: ["a", "b"] if user % 3 else ["b", "c"] for user in range(24)}
    lists = {"labels": labels, "results": results}
    segments = rn.evaluate(lists, metrics=["coverage@2", "recall@1"], catalogue=[*"abcd"]).by(
        lambda users: [*"xy"] * (len(users) // 2)
    )
    assert segments.metrics_minus_chance == ["recall@1"]
    coverage = segments.summary.xs("coverage@2", level="metric")
    assert np.isnan(coverage[["difference", "p", "p_corrected"]].to_numpy()).all()
    assert "(minus chance in recall@1)" in segments._document().sections[0].lead


@pytest.mark.parametrize("size", [1e-30, 1e140])
def test_the_size_of_numbers_does_not_matter(size: float) -> None:
    """Nothing overflows when it is squared, and nothing warns."""
    linear = rn.Convention(gain="linear")
    found = []
    for unit in (1.0, size):
        grades = [1, 0, 5] * 5 + [1, 2, 1] * 5
        rows = {user: [(0, 3 * unit), (1, grade * unit)] for user, grade in enumerate(grades)}
        report = rn.evaluate(rows, metrics="cg@1", convention=linear)
        segments = report.by(lambda users: ["a"] * 15 + ["b"] * (len(users) - 15))
        found.append(segments.summary.to_dict("index")["a", "cg@1"])
        assert len(str(segments).splitlines()[2]) < 150
    assert found[0]["difference"] == pytest.approx(1 / 3)  # half: random order has the mean grade
    assert found[1]["difference"] == pytest.approx(found[0]["difference"] * size)
    assert found[0]["p"] == found[1]["p"]


def test_rounding_errors_of_sums_are_no_difference() -> None:
    """0.1 three times, over three, is not 0.1 in floating point."""
    report = rn.evaluate({user: [(2.1, 2.0), (1.1, 1.0)] for user in range(40)}, metrics="rmse")
    for size in range(10, 31, 5):
        summary = report.by({user: user < size for user in range(40)}).summary
        assert summary["difference"].tolist() == [0, 0]
        assert summary["p"].tolist() == [1, 1]


def _two_kinds(n: int = 10) -> rn.Report:
    """Return a report in which n users are better than n others."""
    rows = {("good", user): [(3, 5), (2, 4), (1, 1 + user % 3)] for user in range(n)}
    rows |= {("bad", user): [(3, 1 + user % 2), (2, 4), (1, 5)] for user in range(n)}
    return rn.evaluate(rows, metrics=["ndcg@3", "rr"], threshold=4)


@pytest.mark.parametrize(("size", "is_small"), [(10, False), (9, True)])
def test_segments_of_fewer_than_ten_users_are_not_tested(size: int, *, is_small: bool) -> None:
    """They have a remark."""
    report = _two_kinds()
    segments = report.by({user: user[0] for user in report.users if user[1] < size})
    assert ("small_segments" in [*segments.findings["kind"]]) == is_small
    assert [*segments.summary["p"].isna()] == [is_small] * 4


def test_remarks_mention_segments_whose_order_differs_when_pooled() -> None:
    """The mean counts every user once, pooling counts every relevant item once."""
    kinds = {
        ("a", 1): [(2.0, 5), (1.0, 1)],
        ("a", 2): [*[(9.0, 1)] * 3, *[(1.0 + rank, 5) for rank in range(8)]],
        ("b", 1): [*[(9.0, 1)] * 3, (0.5, 5)],
        ("b", 2): [*[(1.0 + rank, 5) for rank in range(7)], (0.5, 1)],
    }
    lists = {(*kind, user): rows for kind, rows in kinds.items() for user in range(20)}
    report = rn.evaluate(lists, metrics=["recall@1", "recall@3"], threshold=4)
    segments = report.by({user: user[0] for user in report.users})
    assert "reversed_pooled_order" in [*segments.findings["kind"]]
    few = report.take([user for user in report.users if user[2] < 5])
    segments = few.by({user: user[0] for user in few.users})
    recall = segments.summary.xs("recall@3", level="metric")
    assert recall["mean"].round(4).tolist() == [0.5, 0.2143]
    assert "reversed_pooled_order" not in [*segments.findings["kind"]]


@pytest.mark.slow
def test_remarks_on_segments_drawn_by_lot_are_rare() -> None:
    """Of 40 ways to draw segments, about two find a difference, and none an opposite order."""
    draw = np.random.default_rng(0)
    lists = {
        user: [(draw.normal(), 5 * (draw.random() < 0.3)) for _ in range(draw.integers(2, 30))]
        for user in range(240)
    }
    report = rn.evaluate(lists, metrics="recall@3", threshold=4)
    drawn = (report.by(dict(enumerate((draw.permutation(240) % 6).tolist()))) for _ in range(40))
    counts = pd.concat([segments.findings["kind"] for segments in drawn]).value_counts()
    assert counts.get("different_segments", 0) <= 5
    assert "reversed_pooled_order" not in counts


# Segments as a value


def test_a_segment_is_the_report_of_its_users(report: rn.Report, tmp_path: Path) -> None:
    """The summary repeats each report's summary; ties are unknown in a loaded report."""
    segments = report.by(COUNTRY)
    assert segments.labels == ("DE", "PL")
    assert segments["PL"] == report.take(["ann", "dee"])
    summary = segments.summary
    for label, one in segments.items():
        own = summary.loc[label][one.summary.columns]
        pd.testing.assert_frame_equal(own, one.summary, check_names=False)
    assert summary.index.names == ["segment", "metric"]
    assert summary.columns.tolist()[-3:] == ["difference", "p", "p_corrected"]
    assert segments.to_frame().columns.tolist()[:3] == ["segment", "metric", "mean"]
    report.save(tmp_path / "r.json")
    loaded, unknown = rn.Report.load(tmp_path / "r.json").by(COUNTRY), ["tie_low", "tie_high"]
    assert loaded.summary[unknown].isna().all(axis=None)
    known = summary.drop(columns=unknown)
    pd.testing.assert_frame_equal(loaded.summary.drop(columns=unknown), known)


def test_segments_do_not_change_with_their_input_or_output(report: rn.Report) -> None:
    """They are equal after copying and pickling, and cannot be written to."""
    groups = pd.Series(COUNTRY)
    segments = report.by(groups)
    before = str(segments)
    groups[:] = "XX"
    for table in (segments.summary, segments.segment_of_user):
        table.iloc[:] = table.iloc[0]
    segments.counts.clear()
    assert segments == report.by(COUNTRY)
    assert segments != report.by("activity")
    for again in (segments, copy.deepcopy(segments), pickle.loads(pickle.dumps(segments))):  # noqa: S301
        assert again == segments
        assert str(again) == before
    with pytest.raises(AttributeError):
        segments.name = "x"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        segments.codes[0] = 1


@pytest.mark.parametrize("label", ["FR", None, ["PL"], np.array(["PL"])], ids=repr)
def test_an_unknown_label_is_a_key_error(label: Any, report: rn.Report) -> None:
    """The message lists the labels."""
    segments = report.by(COUNTRY)
    with rejects(r"There is no segment .*; there are \['DE', 'PL'\]") as caught:
        segments[label]
    assert isinstance(caught.value, KeyError)
    assert segments.get("FR") is None


def test_the_text_has_all_users_and_every_segment() -> None:
    """For each metric, followed by remarks and signatures."""
    report = _two_kinds(12)
    segments = report.by({user: user[0] for user in report.users if user[1] < 11})
    lines = str(segments).splitlines()
    assert lines[0] == "2 segments, 24 users"
    assert lines[1].split()[1:4] == ["segment", "users", "mean"]
    assert lines[1].endswith("vs others (minus chance) corrected p")
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["ndcg@3", "(all)", "24"], ["ndcg@3", "bad", "11"], ["ndcg@3", "good", "11"],
    ]  # fmt: skip
    difference, p = segments.summary.loc[("bad", "ndcg@3"), ["difference", "p_corrected"]]
    assert lines[3].split()[-2:] == [f"{difference:+.4f}", f"{p:.4f}"]
    assert lines[8].startswith("adjusted: ")
    assert lines[9] == "- 2 of 24 users are in no segment: only the row (all) includes them."
    assert lines[-2].startswith("ndcg@3|defaults:")
    assert repr(segments) == str(segments)


def test_hostile_labels_are_escaped() -> None:
    """As text and as HTML."""
    users = list(range(len(HOSTILE)))
    segments = _evaluate(users).by(dict(zip(users, HOSTILE, strict=True)))
    for text in (str(segments), segments._repr_html_()):
        assert all(character.isprintable() for character in text.replace("\n", ""))
    rows = [line for line in str(segments).splitlines() if line.startswith("ndcg@2 ")]
    assert len(rows) == 1 + len(HOSTILE)
    assert "<b>" not in segments._repr_html_()


# Errors


BAD: dict[str, tuple[Any, dict[str, Any]]] = {
    r"is named 'actvity'\. Did you mean 'activity'": ("actvity", {}),
    r"is named 'country'.*pass its table as data=": ("country", {}),
    r"missing\.csv: cannot be read \(No such file": ("missing.csv", {}),
    r"data has no column 'contry' \(users: 'user'\)\. Did you mean 'country'": (
        "contry", {"data": {"user": USERS, "country": USERS}},
    ),
    "data has no column of groups .* There are no": ("user", {"data": {"user": USERS}}),
    "'usr' is not one of our column": ("activity", {"columns": {"usr": "x"}}),
    "'relevant' is a built-in group and a column of data": (
        "relevant", {"data": pd.DataFrame({"user": USERS, "relevant": 1})},
    ),
    "'cold' is a built-in group and a column of data": (
        "cold", {"data": {"uid": USERS, "cold": USERS}, "columns": {"user": "uid"}},
    ),
    "User 'bob' is in two groups of 'segment', 1 and 2": ({1: ["ann", "bob"], 2: ["bob"]}, {}),
    "None of the 4 .* the groups have users 'x' to 'y', the report has 'ann' to 'dee'": (
        {"y": 1, "x": 2}, {},
    ),
    r"evaluated have ids of type text .*, the users of the groups of type number \(such as 1\)": (
        {1: "a"}, {},
    ),
    "'gone' has none of the evaluated users. Leave": ({"new": ["ann"], "gone": ["zed"]}, {}),
    "Some groups have lists, but 'bob' has 'x'": ({"new": ["ann"], "bob": "x"}, {}),
    "The groups have no rows. Check": ({}, {}),
    "every label is missing": (dict.fromkeys(USERS), {}),
    "a label is not hashable": (lambda table: [[1]] * len(table), {}),
    "1 and '1' are written alike": (lambda _: [1, "1", 1, 1], {}),
    r"groups: '\\ud800' has a lone surrogate": ({"ann": "\ud800", "bob": "x"}, {}),
    r"groups cannot be \['ann', 'bob'\]": (["ann", "bob"], {}),
    "function of per_user returned 'x'": (lambda _: "x", {}),
    "returned 2 groups. Let it return .* for each of 4": (lambda _: [1, 2], {}),
    "returned n_items .* Let it": (lambda table: table, {}),
    "indexed by row numbers, 0 to 8": (pd.Series(range(9)), {}),
    "'cold' needs train=": ("cold", {}),
    "the users of train of type number": ("cold", {"train": [1, 2]}),
    "train: Cannot read data of type int": ("cold", {"train": 3}),
    "train: there are no rows": ("activity", {"train": []}),
    "user: a missing id in row 1": (pd.DataFrame({"user": ["ann", None], "x": 1}), {}),
}  # fmt: skip


@pytest.mark.parametrize("match", BAD)
def test_unusable_groups_are_rejected(match: str, report: rn.Report) -> None:
    """The message names what was found, and what to do."""
    groups, options = BAD[match]
    assert_rejected(match, report.by, groups, **options)


def test_unusable_groups_of_some_reports_are_rejected(report: rn.Report, tmp_path: Path) -> None:
    """Without a threshold, with too many groups, with a blank id in a file."""
    no_threshold = _evaluate(USERS, threshold=None)
    assert_rejected("threshold=, the lowest true value", no_threshold.by, "relevant")
    many = rn.evaluate({user: [(2.0, 5), (1.0, user % 5)] for user in range(1001)})
    message = "'segment' has 1001 groups of 1001 users, more than 1000.*qcut"
    assert_rejected(message, many.by, lambda table: range(len(table)))
    (tmp_path / "g.csv").write_text("user,plan\nann,a\n ,b\n")
    assert_rejected("user: a missing id in row 1", report.by, tmp_path / "g.csv")
