"""Segments: who is in which, however it is said, and how they differ, worked out by hand."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter, defaultdict
from dataclasses import fields
from datetime import date
from statistics import mean, variance
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.report.user_groups import BUILT_IN, segments_of
from recsys_ndcg.scoring.scores import ListCounts, Scores
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
USERS = ["ann", "bob", "cy", "dee"]
COUNTRY = {"ann": "PL", "bob": "DE", "dee": "PL", "zed": "FR"}
METRICS = ["ndcg@2", "precision@2", "recall@2", "rmse"]
KINDS = ["bad", "good"]
HOSTILE = ["<b>", "a|b", "50%", "x\n\x1b[2J", "n" * 200, "é\u202e", "=1+1", "(all)", "$x_1$"]


def _rows(users: list[Any]) -> list[tuple[Any, Any, float, float]]:
    """Return a list of two to four items for each user."""
    return [
        (user, item, math.sin(3.7 * place + item), 1 + (place * item + item) % 5)
        for place, user in enumerate(users)
        for item in range(2 + place % 3)
    ]


def _evaluated(users: list[Any], **options: Any) -> rn.Report:
    usual: dict[str, Any] = {"metrics": METRICS, "threshold": 3}
    return rn.evaluate(_rows(users), **usual | options)


@pytest.fixture(name="report", scope="module")
def _report() -> rn.Report:
    return _evaluated(USERS)


def _groups(segments: Any) -> dict[Any, list[Any]]:
    return {label: report.users.tolist() for label, report in segments.items()}


def _counts(n_users: int, **known: Any) -> ListCounts:
    columns = {one.name: np.zeros(n_users) for one in fields(ListCounts)}
    return ListCounts(**columns | {name: np.array(values) for name, values in known.items()})


def _built_in(name: str, counts: ListCounts, users: list[Any] | None = None, **options: Any) -> Any:
    ids = np.arange(len(counts.n_items)) if users is None else np.array(users)
    nothing = np.zeros((len(ids), 0))
    scores = Scores((), ids, nothing, nothing, nothing.astype(bool), counts)
    return segments_of(name, scores, **options)


# Who is in which


def _forms(folder: Path) -> dict[str, Callable[[], tuple[Any, dict[str, Any]]]]:
    """Return the same groups in every form."""
    table = pd.DataFrame({"userId": list(COUNTRY), "country": list(COUNTRY.values())})
    rows = table.iloc[[0, 1, 2, 0, 3, 2]].assign(item=range(6))
    renamed = table.rename(columns={"userId": "who"})

    def written(name: str, write: str, **options: Any) -> str:
        getattr(table, write)(folder / name, **options)
        return str(folder / name)

    def arrow() -> Any:
        pytest.importorskip("pyarrow")
        return pytest.importorskip("pyarrow").table(table.to_dict("list"))

    def polars() -> Any:
        return pytest.importorskip("polars").DataFrame(table.to_dict("list"))

    def parquet() -> str:
        pytest.importorskip("pyarrow")
        return written("g.parquet", "to_parquet")

    by_group = {"PL": ["ann", "dee", "zed"], "DE": {"bob"}}
    return {
        "{user: group}": lambda: (COUNTRY, {}),
        "{group: users}": lambda: (by_group, {}),
        "Series": lambda: (pd.Series(COUNTRY), {}),
        "pandas": lambda: (table, {}),
        "indexed": lambda: (table.set_index("userId"), {}),
        "polars": lambda: (polars(), {}),
        "lazy": lambda: (polars().lazy(), {}),
        "pyarrow": lambda: (arrow(), {}),
        "columns": lambda: ({"user": list(COUNTRY), "country": list(COUNTRY.values())}, {}),
        "CSV": lambda: (written("g.csv", "to_csv", index=False), {}),
        "numbered CSV": lambda: (written("n.csv", "to_csv"), {}),
        "packed": lambda: (written("g.csv.gz", "to_csv", index=False), {}),
        "JSON": lambda: (written("g.jsonl", "to_json", orient="records", lines=True), {}),
        "Parquet": lambda: (parquet(), {}),
        "column": lambda: ("country", {"data": rows}),
        "column of polars": lambda: ("country", {"data": polars()}),
        "column of CSV": lambda: ("country", {"data": written("d.csv", "to_csv", index=False)}),
        "said": lambda: ("country", {"data": renamed, "columns": {"user": "who", "true": "x"}}),
        "function": lambda: (lambda table: table.index.map(COUNTRY), {}),
        "some": lambda: (lambda table: pd.Series(COUNTRY).reindex(table.index).dropna(), {}),
        "array": lambda: (lambda table: np.array(["PL", "DE", None, "PL"][: len(table)]), {}),
    }  # fmt: skip


@pytest.mark.parametrize("form", list(_forms(None)))  # type: ignore[arg-type]
def test_every_form_says_the_same(form: str, report: rn.Report, tmp_path: Path) -> None:
    """Users that the report does not have are ignored, and those in no group counted."""
    groups, options = _forms(tmp_path)[form]()
    segments = report.by(groups, **options)
    assert _groups(segments) == {"DE": ["bob"], "PL": ["ann", "dee"]}
    assert segments.counts == {"DE": 1, "PL": 2, None: 1}
    assert segments.groups.astype(object).where(segments.groups.notna(), None).to_dict() == {
        user: COUNTRY.get(user) for user in USERS
    }
    assert segments.remarks[0].startswith("1 of 4 users are in no segment")


def test_a_segment_is_the_report_of_its_users(report: rn.Report) -> None:
    """And its rows in the summary are that report's summary."""
    segments = report.by(COUNTRY)
    assert segments.labels == ("DE", "PL")
    assert segments["PL"] == report.take(["ann", "dee"])
    assert segments["PL"] == _evaluated(USERS).take(["dee", "ann"])
    summary = segments.summary
    for label, one in segments.items():
        pd.testing.assert_frame_equal(
            summary.loc[label][one.summary.columns], one.summary, check_names=False
        )
    assert summary.index.names == ["segment", "metric"]
    assert summary.columns.tolist()[-3:] == ["difference", "p", "corrected"]
    assert segments.to_frame().columns.tolist()[:3] == ["segment", "metric", "mean"]
    assert len(segments.to_frame()) == 8


@pytest.mark.parametrize(
    "users",
    [
        [5, 6, 7],
        ["5", "6", "7"],
        ["05", "5", "x"],
        [date(2026, 1, 1), date(2026, 1, 2), date(2026, 2, 1)],
        [*pd.date_range("2026-01-01", periods=3)],
        [(1, "a"), (1, "b"), (2,)],
        [1.5, 2.0, 2.5],
    ],
    ids=repr,
)
def test_ids_of_any_type_are_found(users: list[Any]) -> None:
    """In a mapping of either direction, in a Series and in a table."""
    report = _evaluated(users)
    first, *others = users
    expected = {"many": others, "one": [first]}
    of_user = {first: "one", **dict.fromkeys(others, "many")}
    index = pd.Index(list(of_user), tupleize_cols=False)
    table = {"user": list(of_user), "group": list(of_user.values())}
    assert _groups(report.by(of_user)) == expected
    assert _groups(report.by({"one": [first], "many": set(others)})) == expected
    assert _groups(report.by(pd.Series(list(of_user.values()), index))) == expected
    assert _groups(report.by(table)) == expected
    assert _groups(report.by(pd.DataFrame(table))) == expected


@pytest.mark.parametrize("users", [["007", "12", "3"], ["1", "12", "3"]])
def test_ids_of_a_file_are_those_of_the_evaluated_file(users: list[str], tmp_path: Path) -> None:
    """Leading zeros stay, also where no id in the file of the groups has one."""
    lines = [f"{user},{item},{est},{true}" for user, item, est, true in _rows(users)]
    (tmp_path / "p.csv").write_text("\n".join(["user,item,estimated,true", *lines]))
    report = rn.evaluate(tmp_path / "p.csv")
    for some in (users, users[1:]):
        groups = "\n".join(f"{user},group {user}" for user in [*some, "99"])
        (tmp_path / "g.csv").write_text(f"user,plan\n{groups}\n")
        found = _groups(report.by(tmp_path / "g.csv"))
        kind = str if users[0] == "007" else int
        assert found == {f"group {user}": [kind(user)] for user in sorted(some)}
        assert report.by("cold", train=tmp_path / "g.csv").counts["known"] == len(some)


def test_numbers_are_found_in_a_file_however_they_are_written(tmp_path: Path) -> None:
    """Ids of text stand for those of the data; a file in which none does, for nobody."""
    (tmp_path / "g.csv").write_text("user,plan\n1.5,a\n2.0,b\n3,c\n4.50,d\n")
    report = _evaluated([1.5, 2.0, 3.0, 4.5])
    assert _groups(report.by(tmp_path / "g.csv")) == {"a": [1.5], "b": [2.0], "c": [3.0]}
    (tmp_path / "x.csv").write_text("user,plan\nx,a\n")
    assert list(report.by("cold", train=tmp_path / "x.csv")) == ["unknown"]
    with rejects(r"have 'x', and evaluated were 1\.5 to 4\.5"):
        report.by(tmp_path / "x.csv")


def test_a_missing_group_says_nothing_against_another(report: rn.Report) -> None:
    """Of the same user, in another row."""
    rows = pd.DataFrame({"user": ["ann", "ann", "bob"], "plan": [None, "a", None]})
    assert report.by("plan", data=rows).counts == {"a": 1, None: 3}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([10, 9, 10], [9, 10]),
        (["b", "a", None], ["a", "b"]),
        ([True, False, True], [False, True]),
        ([True, None, False], [False, True]),
        ([1e30, 1.0, math.nan], [1.0, 1e30]),
        ([np.int64(3), np.float64(2.5), pd.NA], [2.5, 3]),
        (["x", 2, ("a", 1)], [2, "x", ("a", 1)]),
        ([date(2026, 2, 1), date(2026, 1, 1), None], [date(2026, 1, 1), date(2026, 2, 1)]),
        ([np.timedelta64(1, "s"), None, "x"], ["x", pd.Timedelta(seconds=1)]),
        ([np.datetime64("2026-02-01"), b"x", 1], [1, pd.Timestamp("2026-02-01"), b"x"]),
        (pd.Categorical(["s", "l", "s"], ["xl", "s", "l"]), ["s", "l"]),
        (pd.Categorical([5, 1, None], [5, 3, 1]), [5, 1]),
        (pd.cut(np.array([1, 5, 9]), [0, 4, 10]), [pd.Interval(0, 4), pd.Interval(4, 10)]),
    ],
    ids=repr,
)
def test_labels_stand_in_order(labels: Any, expected: list[Any]) -> None:
    """Ascending, or in that of their categories, of which those that nobody has are left out."""
    report = _evaluated([1, 2, 3])
    tables = [lambda _: labels, pd.Series(labels, [1, 2, 3])]
    frame = pd.DataFrame({"user": [1, 2, 3], "size": labels})
    for groups in (*tables, frame):
        segments = report.by(groups)
        assert list(segments) == expected
        assert list(map(type, segments)) == list(map(type, expected))
        assert segments.groups.cat.categories.tolist() == expected
        str(segments)
        assert segments.to_frame()["segment"].tolist()[:: len(report.metrics)] == expected
    by_column = report.by("size", data=frame)
    assert (by_column.name, list(by_column)) == ("size", expected)


def test_numbers_are_groups_also_where_users_are_called_so() -> None:
    """The lists tell users; tuples do where each of them is a user."""
    report = _evaluated([1, 2, 3, 4])
    expected = {1: [3, 4], 2: [1, 2]}
    assert _groups(report.by({2: [2, 1], 1: [3, 4, 99]})) == expected
    assert _groups(report.by({2: (2, 1), 1: (3, 4)})) == expected
    assert _groups(report.by({2: ("a", 1), 1: ("a", 2)})) == {("a", 1): [2], ("a", 2): [1]}


def test_what_is_said_of_other_tables_does_not_hide_the_users(report: rn.Report) -> None:
    """One mapping of columns is for all tables."""
    groups = pd.DataFrame({"user": list(COUNTRY), "country": list(COUNTRY.values())})
    train = pd.DataFrame({"uid": ["ann"], "user": ["x"]})
    columns = {"user": "uid"}
    assert report.by(groups, columns=columns).counts == {"DE": 1, "PL": 2, None: 1}
    assert report.by("cold", train=train, columns=columns).counts["known"] == 1


def test_a_comparison_takes_the_same(tmp_path: Path) -> None:
    """It gives the first table on, or the first file."""
    rows = _rows(USERS)
    frame = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    frame["country"], frame["cold"] = frame["user"].map(COUNTRY), 1
    frame.to_csv(tmp_path / "a.csv", index=False)
    pd.Series(COUNTRY, name="x").rename_axis("user").to_csv(tmp_path / "g.csv")
    groups = {"DE": ["bob"], "PL": ["ann", "dee"]}
    other = frame.assign(estimated=frame["item"])
    path = str(tmp_path / "g.csv")

    def by(how: Any, data: Any, **options: Any) -> list[Any]:
        found = rn.compare({"a": data, "b": other}, metrics="ndcg@2", by=how, **options)
        return found.segments.index.get_level_values("segment").unique().tolist()

    for data in (rows, frame, str(tmp_path / "a.csv")):
        for how in (groups, path):
            assert by(how, data) == ["DE", "PL"]
        assert by("activity", data) == ["2", "3", "4"]
        assert by("cold", data, train=["ann"]) == ["known", "unknown"]
    assert by("country", frame) == by("country", str(tmp_path / "a.csv")) == ["DE", "PL"]
    assert by("country", rows) == ["DE", "PL"]  # the other model's table has it
    with rejects("no segments 'country'.*say of which table"):
        rn.compare({"a": rows, "b": [*rows]}, metrics="ndcg@2", by="country")


def test_a_column_comes_before_a_file(report: rn.Report, tmp_path: Path) -> None:
    """Of the same name, where there is a table of columns."""
    path = str(tmp_path / "g.csv")
    pd.Series(COUNTRY, name="x").rename_axis("user").to_csv(path)
    assert list(report.by(path, data={"user": USERS, path: USERS})) == USERS
    assert list(report.by(path, data={"user": USERS, "country": USERS})) == ["DE", "PL"]
    with rejects("data has no column 'country'"):
        report.by("country", data=path)
    (tmp_path / "p.pickle").write_bytes(pickle.dumps([("ann", 1, 2.0, 3.0, {})]))
    assert list(report.by(path, data=str(tmp_path / "p.pickle"))) == ["DE", "PL"]


def test_an_enumeration_of_polars_keeps_its_order() -> None:
    """As categories of pandas do."""
    polars = pytest.importorskip("polars")
    kind = polars.Enum(["xl", "s", "l"])
    table = polars.DataFrame({"user": [1, 2], "size": polars.Series(["l", "s"], dtype=kind)})
    assert list(_evaluated([1, 2]).by(table)) == ["s", "l"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["10", "9", ""], [9, 10]),
        (["10", "9.5", " "], ["9.5", "10"]),
        (["010", "9", "x"], ["010", "9", "x"]),
        (["010", "9", "+1"], ["+1", "9", "010"]),
        (["NA", "DE", "nan"], ["DE", "NA", "nan"]),
        (["-1", "2", "1"], [-1, 1, 2]),
    ],
)
def test_labels_of_a_text_stay_as_they_are_written(
    written: list[str], expected: list[Any], tmp_path: Path
) -> None:
    """Whole numbers apart; a column may be called as one of ours is; a blank one is no group."""
    rows = "".join(f"u{place},{label}\n" for place, label in enumerate(written))
    (tmp_path / "g.csv").write_text(f"uid,rating\n{rows}")
    report = _evaluated(["u0", "u1", "u2"])
    segments = report.by(tmp_path / "g.csv")
    assert (list(segments), segments.name) == (expected, "rating")
    assert list(report.by("rating", data=tmp_path / "g.csv")) == expected


@pytest.mark.parametrize(
    ("groups", "name"),
    [
        ("activity", "activity"),
        (COUNTRY, "segment"),
        (pd.Series(COUNTRY, name="country"), "country"),
        (pd.DataFrame({"user": USERS, "time": 1, "plan": 2}), "plan"),
        (pd.DataFrame({"user": USERS, "date": 1}), "date"),
        (lambda table: table["n_items"] > 2, "n_items"),
        (lambda table: [1] * len(table), "segment"),
        (lambda table: pd.Series(1, table.index), "segment"),
    ],
)
def test_segments_have_a_name(groups: Any, name: str, report: rn.Report) -> None:
    """That of the column, if there is one."""
    assert report.by(groups).name == name


def test_a_function_with_a_name_gives_it(report: rn.Report) -> None:
    """It is called with a table that it may change."""

    def taste(per_user: pd.DataFrame) -> Any:
        per_user["n_items"] = 0
        return np.where(per_user["ndcg@2"] > 0.5, "good", "bad")

    assert report.by(taste).name == "taste"
    assert report.per_user["n_items"].tolist() == [2, 3, 4, 2]


def test_a_series_in_the_order_of_the_rows_is_read_so() -> None:
    """Where a function returns it without an index."""
    report = _evaluated([3, 1, 2])
    segments = report.by(lambda _: pd.Series(["a", "b", "c"]))
    assert _groups(segments) == {"a": [1], "b": [2], "c": [3]}
    assert _groups(report.by(lambda table: pd.Series(["x"], [3]).reindex(table.index))) == {
        "x": [3]
    }


# Built in


@examples(0.5)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.sampled_from(BUILT_IN))
def test_quarters_are_cut_at_the_quartiles(numbers: list[int], name: str) -> None:
    """The first of which is the least number with a quarter of the users at or below it."""
    if name == "cold":
        return
    columns: dict[str, Any] = {
        "list_length": {"n_items": numbers},
        "relevant": {"n_relevant": [float(one) for one in numbers]},
        "activity": {"ratings": [one + 3 for one in numbers], "unlabelled": [5.0] * len(numbers),
                     "unlisted": [2] * len(numbers)},
    }  # fmt: skip
    found = _built_in(name, _counts(len(numbers), **columns[name]))
    some = [one for one in numbers if one or name != "relevant"]

    def reaches(share: float) -> int:
        return min(one for one in some if sum(x <= one for x in some) >= share * len(some))

    def part(number: int) -> int:
        if number not in some:
            return -1
        return len({cut for share in (0.25, 0.5, 0.75) if (cut := reaches(share)) < number})

    for number, label in zip(numbers, found, strict=True):
        alike = [one for one in numbers if part(one) == part(number)]
        low, high = min(alike), max(alike)
        assert label == (f"{low}–{high}" if low < high else f"{low}")
    starts = [int(label.split("–")[0]) for label in found.cat.categories]
    assert starts == sorted(set(starts))
    assert set(found) == set(found.cat.categories)


def test_activity_counts_labels_wherever_they_are() -> None:
    """In the list and outside; items of which nobody knows the grade are no ratings."""
    labels = {"ann": {"a": 5, "b": 1, "c": 2}, "bob": {"a": 4}, "eve": {"x": 1, "y": 5}}
    results = {"ann": ["a", "z"], "bob": ["a", "y", "z"]}
    report = rn.evaluate(rn.RankedLists.from_labels(labels, results), threshold=4)
    assert report.by("activity").groups.to_dict() == {"ann": "3", "bob": "1", "eve": "2"}
    assert report.by("list_length").groups.to_dict() == {"ann": "2", "bob": "3", "eve": "0"}
    assert report.by("relevant").counts == {"1": 3, None: 0}


class Trainset:
    """As Surprise has it: inner ids, and lists that come to be when they are read."""

    def __init__(self, users: list[Any]) -> None:
        counted = Counter(users)
        self.raw = [*counted, "cy", "zoe"]  # of whom there is nothing
        self.ur: defaultdict[int, list[Any]] = defaultdict(list)
        self.ur.update({inner: [0] * count for inner, count in enumerate(counted.values())})

    def all_users(self) -> range:
        """Return the inner ids."""
        return range(len(self.raw))

    def to_raw_uid(self, inner: int) -> Any:
        """Return the raw id."""
        return self.raw[inner]


TRAINED = ["ann", "ann", "ann", "bob", "zed"]
TRAINS: dict[str, Callable[[], Any]] = {
    "trainset": lambda: Trainset(TRAINED),
    "table": lambda: pd.DataFrame({"uid": TRAINED, "iid": range(5)}),
    "columns": lambda: {"user": TRAINED, "item": [1, 2, 3, 1, 1]},
    "list": lambda: TRAINED,
    "Series": lambda: pd.Series(TRAINED),
    "array": lambda: np.array(TRAINED),
    "generator": lambda: iter(TRAINED),
}


@pytest.mark.parametrize("form", TRAINS)
def test_what_a_model_was_trained_on_tells_cold_users_and_activity(
    form: str, report: rn.Report
) -> None:
    """In any form, read to its rows."""
    cold = report.by("cold", train=TRAINS[form]())
    assert _groups(cold) == {"known": ["ann", "bob"], "unknown": ["cy", "dee"]}
    active = report.by("activity", train=TRAINS[form]())
    assert active.groups.to_dict() == {"ann": "3", "bob": "1", "cy": "0", "dee": "0"}
    assert list(active) == ["0", "1", "3"]


def test_sets_and_mappings_tell_who_is_known(report: rn.Report) -> None:
    """And nothing of how many ratings each has."""
    for train in ({"ann", "zed"}, {"ann": [1], "zed": [2, 3]}):
        assert report.by("cold", train=train).counts == {"known": 1, "unknown": 3, None: 0}
        with rejects("each user once"):
            report.by("activity", train=train)


def test_reading_a_trainset_leaves_it_as_it_was(report: rn.Report) -> None:
    """A list that is not there would be made by asking for it."""
    trainset = Trainset(TRAINED)
    report.by("cold", train=trainset)
    assert len(trainset.ur) == 3


def test_a_trainset_of_surprise_is_read() -> None:
    """And is as it was."""
    surprise = pytest.importorskip("surprise")
    rows = pd.DataFrame({"u": [1, 1, 2], "i": [1, 2, 1], "r": [3.0, 4.0, 5.0]})
    trainset = surprise.Dataset.load_from_df(rows, surprise.Reader()).build_full_trainset()
    before = copy.deepcopy(dict(trainset.ur))
    report = _evaluated([1, 2, 3])
    assert report.by("cold", train=trainset).counts == {"known": 2, "unknown": 1, None: 0}
    assert report.by("activity", train=trainset).groups.tolist() == ["2", "1", "0"]
    assert dict(trainset.ur) == before


def test_everybody_may_be_in_one_segment(report: rn.Report) -> None:
    """There is nobody to compare them with."""
    segments = report.by("cold", train=["zed"])
    assert segments.counts == {"unknown": 4, None: 0}
    assert segments["unknown"] == report
    assert segments.summary[["difference", "p", "corrected"]].isna().all(axis=None)
    assert any("no other to compare it with" in line for line in segments.remarks)


def test_a_report_of_one_user_has_segments() -> None:
    """One."""
    segments = _evaluated(["ann"], metrics="ndcg@2").by("list_length")
    assert _groups(segments) == {"2": ["ann"]}
    str(segments)


# How they differ


def _scores(drawn: list[tuple[int, list[int]]]) -> tuple[rn.Report, dict[int, int]]:
    """Return a report on lists of drawn grades, worst first, and the group of each user."""
    rows = {
        user: [(float(rank), grade) for rank, grade in enumerate(grades)]
        for user, (_, grades) in enumerate(drawn)
    }
    groups = {user: group for user, (group, _) in enumerate(drawn) if group}
    return rn.evaluate(rows, metrics=["ndcg@3", "cg@2", "recall@2"], threshold=3), groups


def _of(summary: pd.DataFrame, metric: str) -> dict[Any, dict[str, float]]:
    """Return what is said of each segment in a metric."""
    rows: dict[Any, dict[Any, float]] = summary.to_dict("index")
    return {label: row for (label, name), row in rows.items() if name == metric}


def _welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return p of the two-sided test, for variances that are not 0."""
    a, b = variance(one) / len(one), variance(other) / len(other)
    t = (mean(one) - mean(other)) / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a * a / (len(one) - 1) + b * b / (len(other) - 1))
    return float(2 * stats.t.sf(abs(t), freedom))


def _holm(p: list[float]) -> list[float]:
    """Return what each must be multiplied with, the least first, none below one before it."""
    ordered = sorted(p)
    return [
        min(1.0, max((len(p) - ordered.index(q)) * q for q in ordered if q <= one)) for one in p
    ]


grades = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@examples(0.4)
@given(st.lists(st.tuples(st.integers(0, 3), grades), min_size=4, max_size=16))
def test_differences_are_those_of_the_textbook(drawn: list[tuple[int, list[int]]]) -> None:
    """Of the users who have a score, in the segment and in all others."""
    if len({grade for _, one in drawn for grade in one}) < 2 or not any(one for one, _ in drawn):
        return
    report, groups = _scores(drawn)
    summary = report.by(groups).summary
    for metric in report.metrics:
        score: dict[Any, float] = dict(report.per_user[metric].dropna())
        found = _of(summary, metric)
        for label, row in found.items():
            own = [score[user] for user in score if groups.get(user) == label]
            others = [score[user] for user in score if groups.get(user, label) != label]
            if not own or not others:
                assert math.isnan(row["difference"])
            else:
                assert row["difference"] == pytest.approx(mean(own) - mean(others), abs=1e-12)
            if len(own) < 2 or len(others) < 2:
                assert math.isnan(row["p"])
            elif np.ptp(own) > 1e-9 or np.ptp(others) > 1e-9:
                assert row["p"] == pytest.approx(_welch(own, others), rel=1e-9, abs=1e-300)
            else:
                same = mean(own) == pytest.approx(mean(others))
                assert row["p"] == pytest.approx(1.0 if same else 0.0, abs=1e-9)
        tested = {label: row for label, row in found.items() if not math.isnan(row["p"])}
        corrected = _holm([row["p"] for row in tested.values()])
        assert [row["corrected"] for row in tested.values()] == pytest.approx(corrected)
        assert all(
            math.isnan(row["corrected"]) for label, row in found.items() if label not in tested
        )


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30, 1e140])
def test_the_size_of_numbers_does_not_matter(size: float) -> None:
    """Nothing overflows when it is squared, nor warns."""
    grades = [[3, 1], [2, 0], [5, 5], [4, 1], [0, 2], [1, 1]]
    lists = {
        user: [(rank, grade * size) for rank, grade in enumerate(one)]
        for user, one in enumerate(grades)
    }
    convention = rn.Convention(gain="linear")
    report = rn.evaluate(lists, metrics="cg@1", convention=convention)
    segments = report.by(dict.fromkeys(range(3), "a") | dict.fromkeys(range(3, 6), "b"))
    first, second = [one[1] for one in grades[:3]], [one[1] for one in grades[3:]]
    row = segments.summary.to_dict("index")["a", "cg@1"]
    assert row["difference"] == pytest.approx((mean(first) - mean(second)) * size)
    assert row["p"] == pytest.approx(_welch(first, second))
    assert len(str(segments).splitlines()[2]) < 150


def test_equal_scores_do_not_differ_by_the_last_digits_of_their_sums() -> None:
    """0.1 three times, over three, is not 0.1; nor do they vary by them."""
    lists = {user: [(2.0, 5.0), (1.0, 1.0)] for user in range(7)}
    report = rn.evaluate(lists, metrics="precision@10", threshold=3)
    for size in range(2, 6):
        summary = report.by({user: user < size for user in lists}).summary
        assert summary["difference"].tolist() == [0, 0]
        assert summary["p"].tolist() == [1, 1]
    lists[7] = [(1.0, 4.0), (0.0, 2.0), (0.5, 4.0)]
    report = rn.evaluate(lists, metrics="precision@10", threshold=3)
    for size in range(2, 6):
        summary = report.by({user: user < size for user in lists}).summary
        same, others = [0.1] * size, [0.1] * (7 - size) + [0.2]
        assert summary["p"].tolist() == pytest.approx([_welch(same, others)] * 2, rel=1e-12)


def _two_kinds() -> rn.Report:
    """Return a report in which long lists are worse, and ten users are better than ten."""
    rows: dict[Any, list[tuple[float, float]]] = {}
    for user in range(10):
        rows["good", user] = [(3, 5), (2, 4), (1, 1 + user % 3)]
        rows["bad", user] = [(3, 1 + user % 2), (2, 4), (1, 5)]
    return rn.evaluate(rows, metrics=["ndcg@3", "rr"], threshold=4)


def test_what_differs_is_said_and_what_is_small() -> None:
    """With the furthest first, and only where there are users enough."""
    report = _two_kinds()
    lines = report.by({user: user[0] for user in report.users}).remarks
    scores: dict[Any, float] = dict(report.per_user["ndcg@3"])
    bad, good = (mean(scores[user] for user in scores if user[0] == kind) for kind in KINDS)
    told = "2 of 2 segments differ from all other users (Welch's test, Holm's correction)"
    assert lines == [
        f"In ndcg@3, {told}: bad (-{good - bad:.4f}), good (+{good - bad:.4f}).",
        f"In rr, {told}: bad (-0.5000), good (+0.5000).",
    ]
    kinds = {user: user[0] if user[1] < 8 else "rest" for user in report.users}
    (line,) = report.by(kinds).remarks
    assert line == (
        "Of fewer than 10 users an interval says little, a test less: bad (8), good (8), rest (4)."
    )


def test_the_furthest_come_first_and_the_others_are_counted() -> None:
    """Of segments, and of metrics."""
    draw = np.random.default_rng(0)
    lists: dict[Any, list[tuple[float, int]]] = {}
    for shift in range(6):
        for user in range(12):
            grades = draw.permutation(6) if shift else np.arange(6)
            tilt = (1, 0, 2, 4, 8, 0.5)[shift]
            lists[shift, user] = [(tilt * one + draw.normal(), int(one)) for one in grades]
    metrics = [f"ndcg@{k}" for k in range(1, 6)]
    segments = rn.evaluate(lists, metrics=metrics).by({user: user[0] for user in lists})
    told = [line for line in segments.remarks if "differ" in line]
    assert [line.split(",")[0] for line in told] == ["In ndcg@1", "In ndcg@2", "In ndcg@3"]
    assert "… and so in 2 more metrics." in segments.remarks
    summary = _of(segments.summary, "ndcg@3")
    sure = [label for label, row in summary.items() if row["corrected"] < 0.05]
    sure.sort(key=lambda label: -abs(summary[label]["difference"]))
    names = [f"{label} ({summary[label]['difference']:+.4f})" for label in sure]
    assert len(names) > 3
    shown = names if len(names) < 5 else [*names[:3], f"{len(names) - 3} more"]
    assert told[2].endswith(f": {', '.join(shown)}.")


def test_a_difference_of_chance_is_said() -> None:
    """As between short and long lists."""
    lists = {user: [(2.0, 5), (1.0, 1)] for user in range(3)}
    lists |= {user: [(float(rank), rank % 6) for rank in range(12)] for user in range(3, 6)}
    segments = rn.evaluate(lists, metrics="ndcg@5").by("list_length")
    chance = segments.summary["chance"].tolist()
    assert (
        f"Chance is {chance[1]:.4f} in ndcg@5 for list_length 12 and {chance[0]:.4f} for "
        "list_length 2, so that means differ in any case: compare adjusted." in segments.remarks
    )


def test_two_segments_that_change_places_when_pooled_are_said() -> None:
    """Where the users with much to collect are the better ones of one, and the worse of another."""
    lists = {
        ("a", 1): [(2.0, 5), (1.0, 1)],
        ("a", 2): [(9.0, 1), *[(1.0 + rank, 5) for rank in range(7)], (0.5, 5)],
        ("b", 1): [(2.0, 1), (1.0, 5), (0.5, 1), (0.4, 1)],
        ("b", 2): [*[(1.0 + rank, 5) for rank in range(7)], (0.5, 1)],
    }
    report = rn.evaluate(lists, metrics=["recall@1", "recall@3"], threshold=4)
    segments = report.by({user: user[0] for user in report.users})
    table = _of(segments.summary, "recall@1")
    assert table["a"]["mean"] > table["b"]["mean"]
    assert table["a"]["pooled"] < table["b"]["pooled"]
    (line,) = [one for one in segments.remarks if "pooled" in one]
    assert line.startswith("In recall@1, segment a is above segment b by the mean (0.5000 and ")


def test_a_report_of_a_file_has_segments(report: rn.Report, tmp_path: Path) -> None:
    """With all but what takes a look at the lists."""
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json").by("activity").summary
    unknown = ["tie_low", "tie_high"]
    assert loaded[unknown].isna().all(axis=None)
    expected = report.by("activity").summary.drop(columns=unknown)
    pd.testing.assert_frame_equal(loaded.drop(columns=unknown), expected)


# A value that is shown


def test_segments_are_a_value(report: rn.Report) -> None:
    """What happens to the groups, or to what was returned, changes nothing."""
    groups = pd.Series(COUNTRY)
    segments = report.by(groups)
    before = str(segments)
    groups[:] = "XX"
    for table in (segments.summary, segments.groups):
        table.iloc[:] = table.iloc[0]
    segments.counts.clear()
    assert str(segments) == before
    assert segments == report.by(COUNTRY)
    assert segments != report.by("activity")
    for again in (copy.deepcopy(segments), pickle.loads(pickle.dumps(segments))):  # noqa: S301
        assert again == segments
        assert str(again) == before
    with pytest.raises(AttributeError):
        segments.name = "x"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        segments.codes[0] = 1


def test_an_unknown_label_is_a_key_error(report: rn.Report) -> None:
    """That says what there is."""
    segments = report.by(COUNTRY)
    for label in ("FR", None, ["PL"], np.array(["PL"])):
        with rejects(r"There is no segment .*; there are \['DE', 'PL'\]"):
            segments[label]
        with pytest.raises(KeyError):
            segments[label]
    assert "FR" not in segments
    assert segments.get("FR") is None


def test_the_text_has_all_users_and_every_segment() -> None:
    """For each metric, with the signatures below."""
    report = _two_kinds()
    segments = report.by({user: user[0] for user in report.users if user[1] < 9})
    lines = str(segments).splitlines()
    assert lines[0] == "2 segments, 20 users"
    assert str(report.by("list_length")).startswith("1 segment by list_length, 20 users\n")
    assert lines[1].split() == [
        "metric", "segment", "users", "mean", "±95%", "pooled", "chance", "adjusted",
        "difference", "p", "(Holm)",
    ]  # fmt: skip
    assert [line.split()[:3] for line in lines[2:8]] == [
        ["ndcg@3", "(all)", "20"], ["ndcg@3", "bad", "9"], ["ndcg@3", "good", "9"],
        ["rr", "(all)", "20"], ["rr", "bad", "9"], ["rr", "good", "9"],
    ]  # fmt: skip
    assert lines[3].split()[-2:] == ["-0.3517", "<0.0001"]
    assert lines[8] == "2 of 20 users are in no segment: only the row of all users has them."
    assert lines[-2].startswith("ndcg@3|gain:exponential|")
    assert repr(segments) == str(segments)


def test_hostile_labels_are_shown_as_they_stand() -> None:
    """In every format, and nothing of them acts."""
    users = list(range(len(HOSTILE)))
    segments = _evaluated(users, metrics="ndcg@2").by(dict(zip(users, HOSTILE, strict=True)))
    assert set(segments) == set(HOSTILE)
    shown = str(segments)
    assert not [one for one in shown if not one.isprintable() and one != "\n"]
    assert len(shown.splitlines()) == 2 + 1 + len(HOSTILE) + len(segments.remarks) + 1
    page = segments._repr_html_()
    assert not [one for one in page if not one.isprintable() and one != "\n"]
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "n" * 200 in page


def test_hostile_labels_are_escaped_in_markup() -> None:
    """A bar is no column of Markdown, a percent sign no comment of LaTeX."""
    pytest.importorskip("tabulate")
    pytest.importorskip("jinja2")
    users = list(range(len(HOSTILE)))
    segments = _evaluated(users, metrics="ndcg@2").by(dict(zip(users, HOSTILE, strict=True)))
    markdown, latex = segments.to_markdown(), segments.to_latex()
    assert r"a\|b" in markdown
    assert r"\<b\>" in markdown
    assert markdown.count("\n| ndcg@2 ") == 1 + len(HOSTILE)
    assert all(f"- {line[:10]}" in markdown for line in segments.remarks)
    assert r"50\%" in latex
    assert r"\$x\_1\$" in latex
    assert latex.count("\nndcg@2 & ") == 1 + len(HOSTILE)


# What is refused

#: A trainset of users of whom nobody has rated anything.
NO_RATINGS = SimpleNamespace(all_users=lambda: range(3), to_raw_uid=USERS.__getitem__, ur={})
BAD: dict[str, tuple[Any, dict[str, Any]]] = {
    r"no segments 'actvity'\. Did you mean 'activity'": ("actvity", {}),
    r"no segments 'country'.*data=table": ("country", {}),
    r"missing\.csv: cannot be read \(No such file": ("missing.csv", {}),
    "The path of the file is empty": ("", {}),
    r"data has no column 'contry'\. Did you mean 'country'": (
        "contry", {"data": {"user": USERS, "country": USERS}},
    ),
    "data has no column of groups. There is none": ("user", {"data": {"user": USERS}}),
    "data has no column 'user'; its columns are a, b.*columns={'user': ...}": (
        "a", {"data": pd.DataFrame({"a": [1], "b": [2]})},
    ),
    "groups has no column 'who'": (
        pd.DataFrame({"uuid": ["ann"], "x": 1}), {"columns": {"user": "who"}},
    ),
    "the column of the users, data has no column of groups": (
        "uid", {"data": pd.DataFrame({"uid": USERS, "x": 1})},
    ),
    "'uid' and 'customer' of groups could each be": (
        pd.DataFrame({"uid": [1], "customer": 1, "x": 2}), {},
    ),
    "'relevant' is a column of data, and built in": (
        "relevant", {"data": pd.DataFrame({"user": USERS, "relevant": 1})},
    ),
    "User 'ann' is in two groups of 'country', 'PL' and 'DE'": (
        "country", {"data": {"user": ["bob", "ann", "ann"], "country": ["DE", "PL", "DE"]}},
    ),
    "User 'bob' is in two groups of 'segment', 1 and 2": ({1: ["ann", "bob"], 2: ["bob"]}, {}),
    "among the 4 that were evaluated: the groups have 'x' to 'y', and evaluated were 'ann'": (
        {"y": 1, "x": 2}, {},
    ),
    r"evaluated have ids of type text .*, those of the groups of type number \(such as 1\)": (
        {1: "a"}, {},
    ),
    "'old' names nobody who was evaluated. Leave": ({"new": ["ann"], "old": []}, {}),
    "'gone' names nobody who was evaluated. Leave": ({"new": ["ann"], "gone": ["zed"]}, {}),
    "those of the groups of type number": ({"new": [1, 2]}, {}),
    "the groups have 'a' to 'b', and evaluated were": ({"ann": ["a", "b"]}, {}),
    "Some groups have lists, but 'bob' has 'x'": ({"new": ["ann"], "bob": "x"}, {}),
    "The groups have no rows. Check": ({}, {}),
    "The groups have no rows": (pd.DataFrame({"user": [], "x": []}), {}),
    "every label is missing": (dict.fromkeys(USERS), {}),
    "a label is not hashable": (lambda table: [[1]] * len(table), {}),
    "1 and '1' are written alike": (lambda _: [1, "1", 1, 1], {}),
    r"\['ann', 'bob'\] does not say which user is in which group": (["ann", "bob"], {}),
    "None does not say which user": (None, {}),
    "no segments 'xxx": ("x" * 5000, {}),
    "function of per_user returned None": (lambda _: None, {}),
    "function of per_user returned 'x'": (lambda _: "x", {}),
    "returned 2 groups. Let it return .* for each of 4": (lambda _: [1, 2], {}),
    "indexed by the numbers of rows, 0 to 8": (pd.Series(range(9)), {}),
    r"returned \[\[0.0, 0.0\], .* Let it": (lambda _: np.zeros((4, 2)), {}),
    "returned n_items .* Let it": (lambda table: table, {}),
    "no column 'usr' to rename": ("activity", {"columns": {"usr": "x"}}),
    "'cold' needs train=": ("cold", {}),
    "those of train of type number": ("cold", {"train": [1, 2]}),
    "train: 3 has no users": ("cold", {"train": 3}),
    "train has no rows": ("activity", {"train": []}),
    "train has no rows, so that nobody is known": ("cold", {"train": NO_RATINGS}),
    "train has no column 'user'; its columns are a": ("cold", {"train": pd.DataFrame({"a": [1]})}),
    "user: a missing id in row 1": (pd.DataFrame({"user": ["ann", None], "x": 1}), {}),
    "there is no column 'usr'": ("x", {"data": {"user": USERS}, "columns": {"usr": "a"}}),
}  # fmt: skip


@pytest.mark.parametrize("match", BAD)
def test_what_fits_no_user_is_refused(match: str, report: rn.Report) -> None:
    """With what was found, and what to do."""
    groups, options = BAD[match]
    with rejects(match):
        report.by(groups, **options)


def test_relevant_needs_a_threshold() -> None:
    """It is said how to give one."""
    with rejects(r"threshold=4.0 \(--threshold 4\)"):
        _evaluated(USERS, metrics="ndcg@2", threshold=None).by("relevant")


def test_more_groups_than_anybody_reads_are_refused() -> None:
    """As those by a number that each user has another of."""
    lists = {user: [(2.0, 5), (1.0, user % 5)] for user in range(1001)}
    report = rn.evaluate(lists)
    with rejects("1001 groups of 1001 users by 'segment': more than 1000 are no segments.*qcut"):
        report.by(lambda table: range(len(table)))


def test_half_a_character_is_no_label(report: rn.Report) -> None:
    """No table of pandas could have it, and no file."""
    with rejects(r"groups: '\\ud800' has a lone surrogate"):
        report.by({"ann": "\ud800", "bob": "x"})
    with rejects(r"groups: 'kind\\ud800' has a lone surrogate"):
        report.by(pd.Series({"ann": "a", "bob": "x"}, name="kind\ud800"))


def test_a_blank_id_in_a_text_is_refused(report: rn.Report, tmp_path: Path) -> None:
    """And no user is called so."""
    (tmp_path / "g.csv").write_text("user,plan\nann,a\n ,b\n")
    with rejects("user: a missing id in row 1"):
        report.by(tmp_path / "g.csv")


def test_a_series_of_rows_that_are_the_users_is_read() -> None:
    """Where it has every user, and no other."""
    report = _evaluated([0, 1, 2])
    assert report.by(pd.Series(["a", "b", "a"])).counts == {"a": 2, "b": 1, None: 0}
    assert report.by(pd.Series(list("abcd")).rename_axis("user")).counts == {
        "a": 1, "b": 1, "c": 1, None: 0
    }  # fmt: skip
