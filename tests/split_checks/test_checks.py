"""Every check of a split fires where it should, and only there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import csv_of, json_of, run
from tests.errors import assert_rejected, rejects
from tests.findings.claims import CLAIMS
from tests.findings.split_claims import draw_split
from tests.pages import page_of
from tests.profiles import slow

Frame = pd.DataFrame
Parts = dict[str, Any]
HOW: Any = {"threshold": 4}
VERDICTS = ("error", "warning", "fact")
#: Drawn splits in which every check finds something.
QUICK = (*range(36), 63, 75, 98, 112, 142)


def make_split() -> Parts:
    """Return a split at one time in which no check fires: all users and items are known."""
    rng = np.random.default_rng(0)
    rows = [(user, item) for user in range(60) for item in rng.permutation(50)[:30]]
    frame = pd.DataFrame(rows, columns=["user", "item"])
    frame["rating"] = rng.permutation(np.arange(len(frame)) % 5 + 1)
    place = frame.groupby("user").cumcount()
    frame["timestamp"] = place * 100 + frame["user"]
    train, late, test = (frame[place.between(*ends)] for ends in ((0, 19), (20, 24), (25, 29)))
    others = [(user, item) for user in range(60) for item in range(50)]
    unseen = pd.DataFrame(others, columns=["user", "item"])
    seen = pd.MultiIndex.from_frame(train[["user", "item"]])
    unseen = unseen[~pd.MultiIndex.from_frame(unseen).isin(seen)]
    lists = unseen.groupby("user").head(12).assign(estimated=1.0).drop(index=unseen.index[0])
    return {"train": train, "test": test, "validation": late, "lists": lists}


def check(parts: Parts, **how: Any) -> Any:
    """Check parts."""
    return rn.check_split(**parts, **{**HOW, **how})


def write(parts: Parts, folder: Path) -> list[Path]:
    """Write the training and the test rows as CSV, and return the files."""
    paths = [folder / "train.csv", folder / "test.csv"]
    for path in paths:
        parts[path.stem].to_csv(path, index=False)
    return paths


def leak(parts: Parts) -> Parts:
    """Test three rows of training, too."""
    return {**parts, "test": pd.concat([parts["test"], parts["train"].head(3)])}


def test_no_check_fires_on_a_clean_split() -> None:
    """None is skipped."""
    report = check(make_split())
    assert report.verdict == "fact"
    assert [*report.findings["severity"].unique()] == ["fact"]
    assert report.skipped == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", [QUICK, *slow(range(600))])
def test_findings_of_drawn_splits_are_true(seeds: Iterable[int]) -> None:
    """Each has the numbers and rows of plain pandas, and every check finds something somewhere."""
    drawn = set()
    for seed in seeds:
        split = draw_split(seed)
        report = split.check()
        assert [*report.checks["verdict"]] == sorted(report.checks["verdict"], key=VERDICTS.index)
        for check in report.checks.index:
            finding = report[check]
            severity = CLAIMS[finding.kind](split, **finding.numbers, **finding.names)
            assert finding.severity == severity, finding
            drawn.add((check, severity))
    page = page_of("check-split").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (`.*`) \| (\w+) \|", page, re.MULTILINE)
    table = {(name, verdict) for names, verdict in listed for name in re.findall("`(.*?)`", names)}
    assert {name for name, _ in table} == {name for name, _ in drawn}
    assert table <= drawn


def _draw_rows_of_items(rng: Any, sizes: list[int]) -> Frame:
    """Return a row per user, of items of which some have more rows."""
    item = rng.choice(len(sizes), 1200, p=np.array(sizes) / sum(sizes))
    return Frame({"user": np.arange(1200), "item": item})


def _draw_active_users(rng: Any) -> Frame:
    """Return rows of users who know rarer items, the more rows they have."""
    popularity, rows = 1 / np.arange(1.0, 201), []
    for user in range(300):
        n = int(rng.choice([3, 10, 60]))
        weight = popularity ** (0.3 if n == 60 else 1)
        items = rng.choice(200, n, replace=False, p=weight / weight.sum())
        rows += [(user, item) for item in items]
    return Frame(rows, columns=["user", "item"])


@pytest.mark.parametrize("case", slow([1, 1], [90, 9, 1], [30] * 5, [200, *[1] * 50], 1, 2))
def test_random_splits_shift_no_popularity(case: list[int] | int) -> None:
    """However many rows an item has; nor do one or two random rows of each user.

    Although active users know rarer items, which are seldom left out then.
    """
    rng, numbers = np.random.default_rng(0), []
    is_of_users = isinstance(case, int)
    frame = _draw_active_users(rng) if isinstance(case, int) else _draw_rows_of_items(rng, case)
    for _ in range(300):
        keys = pd.Series(rng.random(len(frame)), frame.index)
        places = keys.groupby(frame["user"]).rank() if is_of_users else keys.rank()
        is_test = places <= (case if is_of_users else 240)
        found = rn.check_split(frame[~is_test], frame[is_test])["popularity shift"].numbers
        numbers.append((found["z_squared"], found["p"]))
    squares, p = np.array(numbers).T
    assert abs(squares.mean() - 1) < 4 * squares.std() / np.sqrt(len(squares))
    assert (p <= 0.05).mean() < 0.1
    assert (p <= 0.01).mean() < 0.04
    assert abs((p <= 0.5).mean() - 0.5) < 0.1


@pytest.mark.slow
def test_false_alarms_on_random_splits_are_rare() -> None:
    """At most 5 % of a thousand draws have any warning about shifts; the mean z² is 1."""
    rng = np.random.default_rng(0)
    item = np.minimum(rng.geometric(0.03, 3000), 120)
    frame = pd.DataFrame({"user": np.arange(3000) % 300, "item": item})
    frame = frame.assign(rating=rng.integers(1, 6, 3000)).drop_duplicates(["user", "item"])
    shifts = ("popularity shift", "rating shift", "share of relevant rows")
    alarms, means = 0, []
    for _ in range(1000):
        is_test = rng.random(len(frame)) < 0.2
        found = rn.check_split(frame[~is_test], frame[is_test], threshold=4)
        alarms += any(found[name].severity != "fact" for name in shifts)
        means.append(found["popularity shift"].numbers["z_squared"])
    assert alarms <= 50
    assert np.mean(means) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_files_are_read_by_the_names_of_their_columns(tmp_path: Path, suffix: str) -> None:
    """In any order, with other columns and dates: as the table, also within a memory limit."""
    pytest.importorskip("duckdb")
    parts = {name: make_split()[name] for name in ("train", "test")}
    expected = check(parts).checks
    order = ["genre", "date", "stars", "movieId", "userId"]
    ours = {"user": "userId", "item": "movieId", "rating": "stars"}
    paths = {name: tmp_path / f"{name}.{suffix}" for name in parts}
    for name, part in parts.items():
        dates = pd.to_datetime(part["timestamp"], unit="s")
        table = part.rename(columns=ours).assign(date=dates, genre="x")[order]
        if suffix == "parquet":
            table.to_parquet(paths[name], index=False)
        elif suffix == "csv":
            table.to_csv(paths[name], index=False)
        else:
            table.to_json(paths[name], orient="records", lines=True, date_format="iso")
    limits: list[Parts] = [{}] if suffix == "jsonl" else [{}, {"memory_limit": "2GB"}]
    for limit in limits:
        found = check(paths, columns={"rating": "stars"}, **limit)
        pd.testing.assert_frame_equal(found.checks, expected)
        assert "Columns of train: userId as user" in str(found)


def test_what_cannot_be_read_within_a_memory_limit_is_named(tmp_path: Path) -> None:
    """It is not taken for a missing value."""
    pytest.importorskip("duckdb")
    path, test = tmp_path / "train.csv", [(1, 1)]
    for line, match in {
        "1,1,3,soon": "timestamp: not a time at user 1 item 1",
        "1,1,good,5": "rating: not a number at user 1 item 1",
        ",1,3,5": "user: a missing id",
    }.items():
        path.write_text(f"user,item,rating,timestamp\n{line}\n2,2,4,7\n")
        with rejects(match, whole=False):
            rn.check_split(path, test, memory_limit="2GB")
        where = "timestamp: .*row 0" if "soon" in line else "line 2"
        with rejects(where, whole=False):
            rn.check_split(path, test)


def test_files_without_rows_are_rejected(tmp_path: Path) -> None:
    """In memory and on disk, as one part or the other."""
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("user,item\n1,2\n")
    test.write_text("user,item\n")
    for limit, parts in product((None, "4GB"), ((train, test), (test, train))):
        with rejects("[Tt]here are no rows", whole=False):
            rn.check_split(*parts, memory_limit=limit)


@pytest.mark.filterwarnings("ignore:Using who as user")
@pytest.mark.parametrize(
    ("text", "has_rating"),
    [
        ("1,2\n1,3\n2,3\n", False),
        ("who,what,stars,when\n1,2,3,4\n1,3,4,5\n2,3,1,6\n", True),
        ("user,item,category\n1,2,a\n1,3,a\n2,3,a\n", False),
        ("timestamp,rating,item,user\n4,3,2,1\n5,4,3,1\n6,1,3,2\n", True),
        (("user,item,rating,timestamp\n1,2,3,2020-02-01T00:00:00+05:00\n"
         "1,3,4,2020-02-01T00:00:00-05:00\n2,3,4,2020-02-03\n"), True),
    ],
)  # fmt: skip
def test_files_are_read_alike_in_memory_and_on_disk(
    text: str,
    has_rating: bool,  # noqa: FBT001 - drawn
    tmp_path: Path,
) -> None:
    """With and without a header, with odd names, and times with a zone."""
    pytest.importorskip("duckdb")
    (tmp_path / "train.csv").write_text(text)
    test = pd.DataFrame({"user": [1, 2], "item": [9, 2], "rating": [3, 4], "timestamp": [1e9, 2e9]})
    found = [
        rn.check_split(tmp_path / "train.csv", test, memory_limit=limit) for limit in (None, "4GB")
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert ("rating shift" in found[0].skipped) is not has_rating


def test_batches_of_users_add_up() -> None:
    """A summary of parts is the summary of all."""
    from recsys_ndcg.ratings import read_interactions  # noqa: PLC0415
    from recsys_ndcg.split_checks import split_report  # noqa: PLC0415

    parts = make_split()
    read = {name: read_interactions(part, name) for name, part in parts.items()}
    pieces = [
        read_interactions(parts["train"][parts["train"]["user"].between(*ends)], "train")
        for ends in ((0, 9), (10, 40), (41, 59))
    ]
    others = {name: part for name, part in read.items() if name != "train"}
    found = split_report.check_parts(pieces, others, **HOW)
    assert found.to_dict() == check(parts).to_dict()


def test_what_is_missing_is_named() -> None:
    """If there is no such column, if all values are missing, or if all times are the same."""
    parts = make_split()
    few = {name: parts[name][["user", "item"]] for name in ("train", "test")}
    none = {**parts, "test": parts["test"].assign(rating=np.nan, timestamp=np.nan)}
    for skipped in (check(few).skipped, check(none).skipped):
        assert skipped["rating shift"] == skipped["share of relevant rows"] == "ratings"
        assert skipped["test period"] == "different times (column timestamp)"
    same = check({name: part.assign(timestamp=0) for name, part in parts.items()})
    assert same.skipped["overlap of periods"] == "different times (column timestamp)"
    with rejects("no check 'test period': it needs different times"):
        same["test period"]
    with rejects("no check 'typo'"):
        same["typo"]


SPLIT = make_split()
UNREADABLE: dict[str, dict[str, Any]] = {
    "test: there are no rows": {"test": SPLIT["test"].head(0)},
    "test is None": {"test": None},
    "There are no rows in the results": {"lists": SPLIT["lists"].head(0)},
    "train: .*no column 'user'": {"train": SPLIT["train"].drop(columns="user")},
    "columns: user and rating would both be read from .* 'user'": {"columns": {"rating": "user"}},
    "threshold must be a finite number": {"threshold": np.nan},
    "train: timestamp: text such as 'soon', which is no time, in row 0, 1, 2": {
        "train": SPLIT["train"].assign(timestamp="soon")
    },
}


@pytest.mark.parametrize("match", UNREADABLE)
def test_what_cannot_be_read_is_rejected(match: str) -> None:
    """With the name of the part."""
    how: dict[str, Any] = {"train": SPLIT["train"], "test": SPLIT["test"], **UNREADABLE[match]}
    assert_rejected(match, rn.check_split, **how)


def test_the_report_is_printed_and_has_a_page() -> None:
    """The worst verdict first; the page has every sentence."""
    pytest.importorskip("jinja2")
    found = check(leak(make_split()))
    text, page = str(found), found.to_html()
    assert "This split has errors" in text
    assert "3 of 303 test rows (1.0 %) are in training, too. First: user 0 item" in text
    assert all(sentence.partition("'")[0][:40] in page for sentence in found.checks["sentence"])
    assert found.checks.index[0] == "pairs in both parts"
    assert found.checks["verdict"].tolist()[0] == "error"
    assert "| error" in found.to_markdown()


def test_the_command_exits_by_the_verdict(tmp_path: Path) -> None:
    """--fail-on error, or also a warning."""
    parts = make_split()
    parts["test"] = parts["test"].assign(rating=4)
    words: list[str | Path] = ["check-split", *write(parts, tmp_path), "--threshold", "4"]
    assert run(*words).exit_code == 0
    passed = run(*words, "--fail-on", "error")
    assert (passed.exit_code, passed.stderr) == (0, "passed: No finding fails (fail on: error).\n")
    failed = run(*words, "--fail-on", "warning")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("failed: 2 findings fail: rating_shift, share_of_relevant_rows")
    assert run(*words, "--fail-on", "rating_shift,error").exit_code == 1
    assert run(*words, "--fail-on", "pairs_in_both_parts").exit_code == 0
    kinds = "rating shift,share_of_relevant_rows"
    accepted = run(*words, "--fail-on", "warning", "--accept", kinds)
    text = "(fail on: warning; accepted: rating_shift, share_of_relevant_rows)"
    assert (accepted.exit_code, accepted.stderr) == (0, f"passed: No finding fails {text}.\n")
    found = json_of(*words)
    assert found["verdict"] == "warning"
    assert found["rows"] == {"train": 1200, "test": 300}
    assert run(*words[:2]).exit_code == 2


def test_a_row_of_csv_has_the_first_rows_at_fault(tmp_path: Path) -> None:
    """With semicolons between them."""
    paths = write(leak(make_split()), tmp_path)
    table, found = csv_of("check-split", *paths, index_col="check"), rn.check_split(*paths).checks
    assert list(table) == list(found)
    at_fault: Any = found.loc["pairs in both parts", "rows"]
    assert len(at_fault) == 3
    assert table.loc["pairs in both parts", "rows"] == "; ".join(at_fault)
