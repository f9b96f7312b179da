"""Every check of a split fires where it should, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.commands import csv_of, json_of, run
from tests.errors import rejects
from tests.pages import page_of, text_of
from tests.profiles import slow

Frame = pd.DataFrame
Parts = dict[str, Any]
HOW: Any = {"threshold": 4}


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


def edit(part: str, change: Callable[[Frame], Frame]) -> Callable[[Parts], Parts]:
    """Return a function that changes one part of a split."""
    return lambda parts: {**parts, part: change(parts[part])}


def move_users(frame: Frame) -> Frame:
    """Give half of the users another id."""
    return frame.assign(user=frame["user"].where(frame["user"] % 2 == 0, frame["user"] + 1000))


def list_candidates(parts: Parts) -> Parts:
    """Return lists of 100 items each: one test item and others; the first user lacks it."""
    rows = [(user, 100 + item) for user in range(60) for item in range(99)]
    first = parts["test"].groupby("user").head(1)[["user", "item"]]
    first = first.assign(item=first["item"].where(first["user"] > 0, 999))
    lists = pd.concat([first, pd.DataFrame(rows, columns=["user", "item"])]).assign(estimated=1.0)
    return {**parts, "lists": lists, "test": parts["test"].groupby("user").head(1)}


#: What makes each check fire: the change, and the verdict.
FAULTS: dict[str, tuple[Callable[[Parts], Parts], str]] = {
    "pairs in both parts": (
        lambda parts: {**parts, "test": pd.concat([parts["test"], parts["train"].head(3)])},
        "error",
    ),
    "validation rows in other parts": (
        lambda parts: {**parts, "validation": pd.concat([parts["validation"], parts["test"]])},
        "error",
    ),
    "repeated pairs": (edit("test", lambda part: pd.concat([part, part.head(2)])), "error"),
    "users unknown in training": (edit("test", move_users), "warning"),
    "items unknown in training": (
        edit("test", lambda part: part.assign(item=part["item"] + 25)),
        "warning",
    ),
    "users with one test row": (edit("test", lambda part: part.groupby("user").head(1)), "warning"),
    "popularity shift": (
        edit("train", lambda part: part.assign(item=(part["item"] ** 2) // 50)),
        "warning",
    ),
    "rating shift": (edit("test", lambda part: part.assign(rating=5)), "warning"),
    "share of relevant rows": (edit("test", lambda part: part.assign(rating=4)), "warning"),
    "validation made like test": (
        edit("validation", lambda part: part.groupby("user").head(1)),
        "warning",
    ),
    "later rows of the same user in training": (
        edit("test", lambda part: part.assign(timestamp=part["timestamp"] - 2000)),
        "warning",
    ),
    "overlap of periods": (
        edit("test", lambda part: part.assign(timestamp=part["timestamp"] - 2000)),
        "warning",
    ),
    "items from the future": (
        edit("train", lambda part: part.assign(timestamp=part["timestamp"] + 9999)),
        "warning",
    ),
    "items from the future in lists": (
        edit("train", lambda part: part.assign(timestamp=part["timestamp"] + 9999)),
        "warning",
    ),
    "training items in lists": (
        lambda parts: {**parts, "lists": parts["train"].head(4).assign(estimated=1.0)},
        "error",
    ),
    "sampled candidates": (list_candidates, "warning"),
    "test items missing from candidates": (list_candidates, "error"),
    "users with lists": (
        edit("lists", lambda part: part.assign(user=part["user"] + 1000)),
        "error",
    ),
    "test period": (
        lambda parts: {
            "train": parts["train"].assign(timestamp=parts["train"]["timestamp"] + 1.5e9),
            "test": parts["test"].assign(timestamp=(parts["test"]["timestamp"] + 1.5e9) * 1000),
        },
        "error",
    ),
    "what this split can tell apart": (
        edit("test", lambda part: part.head(1).drop(columns="rating")),
        "warning",
    ),
}
#: These only describe.
FACTS = {
    "users who can be scored", "users with fewer than k test rows", "filtered by number of rows",
}  # fmt: skip


def test_no_check_fires_on_a_clean_split() -> None:
    """None is skipped."""
    found = check(make_split())
    assert {one.check: one.sentence for one in found.findings if one.verdict != "fact"} == {}
    assert found.verdict == "fact"
    assert found.skipped == {}


def count_by_hand(train: Frame, test: Frame, validation: Frame, lists: Frame) -> Parts:
    """Return the rows or users that each check counts, and among how many."""
    pairs = {
        name: pd.MultiIndex.from_frame(part[["user", "item"]])
        for name, part in {"train": train, "test": test, "late": validation, "lists": lists}.items()
    }
    of_users, first = test["user"].value_counts(), train.groupby("item")["timestamp"].min()
    last, users = train.groupby("user")["timestamp"].max(), test["user"].drop_duplicates()
    repeats = [part.duplicated(["user", "item"]).sum() for part in (train, test)]
    until = lists["user"].map(test.groupby("user")["timestamp"].max())
    rows: Any = {
        "pairs in both parts": pairs["test"].isin(pairs["train"]),
        "validation rows in other parts": pairs["late"].isin(pairs["train"].union(pairs["test"])),
        "users unknown in training": ~test["user"].isin(train["user"]),
        "items unknown in training": ~test["item"].isin(train["item"]),
        "users with one test row": of_users == 1,
        "users with fewer than k test rows": of_users < 7,
        "later rows of the same user in training": test["timestamp"] < test["user"].map(last),
        "overlap of periods": train["timestamp"] > test["timestamp"].median(),
        "items from the future": test["timestamp"] < test["item"].map(first),
        "items from the future in lists": lists["item"].map(first) > until,
        "training items in lists": pairs["lists"].isin(pairs["train"]),
        "users with lists": users.isin(lists["user"]),
        "test items missing from candidates": (
            test["user"].isin(lists["user"]) & ~pairs["test"].isin(pairs["lists"])
        ),
    }
    counted = {name: (int(one.sum()), len(one)) for name, one in rows.items()}
    return counted | {"repeated pairs": (sum(repeats), len(train) + len(test))}


def test_every_count_is_that_of_plain_pandas() -> None:
    """Of a split without faults, and of one with many; the worst verdicts come first."""
    clean = make_split()
    test = move_users(clean["test"]).assign(item=lambda part: part["item"] + 3)
    test["timestamp"] -= 700
    test = pd.concat([test.iloc[4:], test.tail(2), clean["train"].head(3)])
    train: Frame = pd.concat([clean["train"], clean["train"].tail(5)])
    late = pd.concat([clean["validation"], test.head(7), clean["train"].head(6)])
    lists = pd.concat([clean["lists"], clean["train"].head(4), test.head(9)])
    lists = lists.drop_duplicates(["user", "item"]).assign(estimated=1.0)
    faulty = {"train": train, "test": test, "validation": late, "lists": lists}
    for parts in (clean, faulty):
        found = check(parts, k=7).checks
        counted = count_by_hand(**parts)
        shown = found.loc[[*counted], ["count", "share"]]
        assert shown["count"].to_dict() == {name: one[0] for name, one in counted.items()}
        assert shown["share"].tolist() == [count / total for count, total in counted.values()]
        assert found["verdict"].tolist() == sorted(
            found["verdict"], key=["error", "warning", "fact"].index
        )


def find_p(gap: float, error: float) -> float:
    """Return the two-sided p-value of a normal difference."""
    return float(2 * norm.sf(abs(gap) / error))


def test_numbers_of_the_checks_are_by_their_formulas() -> None:
    """Welch's z, the z of a share, lengths of lists, shares of the validation part."""
    parts = make_split()
    train, test = (parts[name]["rating"] for name in ("train", "test"))
    parts["test"]["rating"] = test = (test + (np.arange(300) % 9 == 0)).clip(upper=5)
    parts["validation"] = parts["validation"].iloc[4:]
    found = check(parts)
    error = np.sqrt(train.var(ddof=0) / 1200 + test.var(ddof=0) / 300)
    p_value = find_p(test.mean() - train.mean(), error)
    expected = {"test": test.mean(), "train": train.mean(), "p_value": p_value}
    assert found["rating shift"].numbers == pytest.approx(expected)
    share, before = (test >= 4).mean(), (train >= 4).mean()
    p_value = find_p(share - before, np.sqrt(before * (1 - before) * (1 / 300 + 1 / 1200)))
    expected = {"test": share, "train": before, "p_value": p_value}
    assert found["share of relevant rows"].numbers == pytest.approx(expected)
    lengths = parts["lists"]["user"].value_counts()
    assert found["sampled candidates"].numbers == {"shortest": 11, "longest": 12}
    assert (lengths.min(), lengths.max()) == (11, 12)
    single = found["validation made like test"].numbers["validation: users with one row"]
    assert single == (parts["validation"]["user"].value_counts() == 1).mean() > 0
    none = edit("test", lambda part: part.assign(rating=0))(parts)
    users = check(none, threshold=0)["users who can be scored"].numbers
    assert users["with a relevant row (recall)"] == 60
    unrated = {name: part.drop(columns="rating") for name, part in parts.items() if name != "lists"}
    found = rn.check_split(**unrated)
    assert found["what this split can tell apart"].numbers == {
        "hit of two independent models, at most": rn.power(deviation=np.sqrt(0.5), users=60)
    }
    assert found.to_dict()["skipped"]["rating shift"] == "ratings"


@pytest.mark.parametrize(("rating", "p_value"), [(3, 1.0), (4, 0.0)])
def test_equal_ratings_differ_with_certainty_or_not_at_all(rating: int, p_value: float) -> None:
    """If all of a part are equal, there is no chance in the difference of the means."""
    parts = make_split()
    parts = {name: parts[name].assign(rating=3) for name in ("train", "test")}
    found = check({**parts, "test": parts["test"].assign(rating=rating)})["rating shift"]
    assert found.numbers["p_value"] == p_value
    assert found.verdict == ("warning" if rating == 4 else "fact")


def test_every_check_has_a_fault_that_makes_it_fire() -> None:
    """Or only describes."""
    assert {one.check for one in check(make_split()).findings} == {*FAULTS} | FACTS


@pytest.mark.parametrize("name", FAULTS)
def test_a_check_fires_on_its_fault(name: str) -> None:
    """With its verdict, a number, and the first rows if it has rows."""
    change, verdict = FAULTS[name]
    found = check(change(make_split()))[name]
    assert found.verdict == verdict, found.sentence
    has_rows = not name.startswith(("users with", "overlap"))
    assert not found.count or not has_rows or found.rows


def test_ids_of_other_types_are_an_error_and_compared_as_text() -> None:
    """1 and "1" never match."""
    parts = make_split()
    parts["test"] = parts["test"].assign(user=parts["test"]["user"].astype(str))
    found = check(parts)
    assert found["user ids of one type"].verdict == "error"
    sentence = found["user ids of one type"].sentence
    assert "300 of 300 test rows have the user of a training row" in sentence
    assert found["users unknown in training"].count == 0
    parts["train"] = parts["train"].assign(user=parts["train"]["user"].astype(float))
    assert check(parts)["users unknown in training"].count == 0


def test_traces_of_a_filter_are_named() -> None:
    """If every user has at least ten rows, and several have just ten."""
    parts = make_split()
    assert (
        "No trace"
        in check({"train": parts["train"].head(21), "test": parts["test"].head(2)})[
            "filtered by number of rows"
        ].sentence
    )
    sentence = check(parts)["filtered by number of rows"].sentence
    assert "every user has 30 rows or more, 100.0 % just 30" in sentence
    del parts["validation"]
    sentence = check(parts)["filtered by number of rows"].sentence
    assert "every user has 25 rows or more, 100.0 % just 25" in sentence


def test_lists_of_a_hundred_are_recommendations_if_they_lack_test_items() -> None:
    """Candidates have the test item of nearly every user."""
    parts = list_candidates(make_split())
    found = check(parts)["sampled candidates"]
    assert (found.verdict, found.numbers) == ("warning", {"shortest": 100, "longest": 100})
    recommended = parts["lists"].copy()
    is_test = recommended["item"] < 100
    recommended.loc[is_test, "item"] = recommended["item"][is_test].where(
        recommended["user"][is_test] % 3 > 0, 999
    )
    found = check({**parts, "lists": recommended})
    assert found["sampled candidates"].sentence == "Lists have 100 items."
    assert found["test items missing from candidates"].verdict == "fact"


def test_a_threshold_that_separates_nothing_is_named() -> None:
    """As it is on another scale."""
    found = check(make_split(), threshold=11)["share of relevant rows"]
    assert found.verdict == "warning"
    assert found.sentence.endswith("separates no test rows: give that of this scale.")


def test_no_row_at_fault_has_no_consequence() -> None:
    """The clause that says what faults mean is left out."""
    found = check(make_split())
    assert found["training items in lists"].sentence == (
        "No listed item is in the user's training rows."
    )
    assert found["items unknown in training"].sentence == (
        "No test row has an item without training rows."
    )


def test_validation_rows_have_a_median_of_their_own() -> None:
    """Training rows between the two medians are later than one of them only."""
    parts = make_split()
    train = parts["train"].assign(timestamp=lambda part: part["timestamp"] + 1000)
    found = check({**parts, "train": train})
    numbers = found["validation made like test"].numbers
    median = parts["validation"]["timestamp"].median()
    share = (train["timestamp"] > median).mean()
    assert numbers["validation: training rows later than the median"] == share > 0
    assert found["overlap of periods"].share < share


def test_what_users_remain_for_each_metric() -> None:
    """Counted one by one."""
    parts = make_split()
    test = move_users(parts["test"])
    test = pd.concat([test, pd.DataFrame([(0, 999, 5, 1), (7, 0, 1, 1)], columns=test.columns)])
    found = check({**parts, "test": test})["users who can be scored"].numbers
    liked = test[test["rating"] >= 4]
    assert found == {
        "users": test["user"].nunique(),
        "with training rows": test.loc[test["user"] < 60, "user"].nunique(),
        "with two test rows or more (rated ndcg)": int((test["user"].value_counts() > 1).sum()),
        "with a relevant row (recall)": liked["user"].nunique(),
        "with a relevant row of a known item": liked.loc[liked["item"] < 50, "user"].nunique(),
    }


def test_the_detectable_difference_is_that_of_two_random_orders() -> None:
    """Simulated: the deviation of the difference of a user's scores, and the power."""
    parts = make_split()
    found = check(parts)["what this split can tell apart"].numbers["rated ndcg@10"]
    rng, test = np.random.default_rng(0), parts["test"]
    rows = test.rename(columns={"rating": "true"})[["user", "item", "true"]]
    users = rows["user"].astype(str)
    drawn = pd.concat([rows.assign(user=f"{draw:03} " + users) for draw in range(300)])
    report = rn.evaluate(drawn.assign(estimated=rng.random(len(drawn))), metrics=["ndcg@10"])
    table = report.per_user["ndcg@10"].to_numpy().reshape(300, -1)
    deviation = np.sqrt(np.mean((table[:150] - table[150:]) ** 2))
    assert found == pytest.approx(rn.power(deviation=deviation, users=60), rel=0.05)


@given(st.integers(0, 10**6))
def test_the_mean_square_of_z_is_by_the_formula(seed: int) -> None:
    """In plain Python, of items with ten rows or more."""
    rng = np.random.default_rng(seed)
    item = np.minimum(rng.geometric(0.08, 400), 30)
    frame = pd.DataFrame({"user": np.arange(400), "item": item})
    is_test = rng.random(400) < 0.3
    found = rn.check_split(frame[~is_test], frame[is_test])["popularity shift"].numbers
    share, squares, usual = is_test.mean(), [], []
    for one in {*item.tolist()}:
        n, t = (item == one).sum(), (item[is_test] == one).sum()
        if n >= 10:
            squares.append((t - n * share) ** 2 / (n * share * (1 - share)))
            usual.append((400 - n) / 399)
    assert found["mean square of z"] == pytest.approx(sum(squares) / sum(usual))
    assert found["items"] == len(squares)


@pytest.mark.parametrize("sizes", slow([1, 1], [90, 9, 1], [30] * 5, [200, *[1] * 50]))
def test_the_mean_square_of_z_is_one_for_few_items_too(sizes: list[int]) -> None:
    """However many rows one of them has."""
    rng = np.random.default_rng(0)
    item = rng.choice(len(sizes), 1200, p=np.array(sizes) / sum(sizes))
    frame = pd.DataFrame({"user": np.arange(1200), "item": item})
    found = []
    for _ in range(300):
        test = rng.permutation(1200)[:240]
        report = rn.check_split(frame.drop(test.tolist()), frame.loc[test])
        found.append(report["popularity shift"].numbers)
    squares = [one["mean square of z"] for one in found]
    assert abs(np.mean(squares) - 1) < 4 * np.std(squares) / np.sqrt(len(squares))
    p_values = [one["p_value"] for one in found]
    assert np.mean([one < 0.05 for one in p_values]) < 0.12
    assert abs(np.mean([one < 0.5 for one in p_values]) - 0.5) < 0.1


def _make_active_users_of_rare_items(rng: Any) -> pd.DataFrame:
    """Return rows of users who know rarer items, the more rows they have."""
    popularity = 1 / np.arange(1.0, 201)
    rows = []
    for user in range(300):
        n = int(rng.choice([3, 10, 60]))
        weight = popularity ** (0.3 if n == 60 else 1)
        items = rng.choice(200, n, replace=False, p=weight / weight.sum())
        rows += [(user, item) for item in items]
    return pd.DataFrame(rows, columns=["user", "item"])


def _draw_rows_of_each_user(frame: pd.DataFrame, n: int, rng: Any) -> Any:
    """Return flags of n rows of each user, drawn at random."""
    keys = pd.Series(rng.random(len(frame)), frame.index)
    return keys.groupby(frame["user"]).rank(method="first") <= n


@pytest.mark.parametrize("n", [1, 2])
def test_the_mean_square_of_z_of_n_rows_of_each_user_is_by_the_formula(n: int) -> None:
    """Means and variances are sums over the users of an item, also if batches add up."""
    rng = np.random.default_rng(n)
    frame = _make_active_users_of_rare_items(rng)
    is_test = _draw_rows_of_each_user(frame, n, rng)
    found = rn.check_split(frame[~is_test], frame[is_test])["popularity shift"].numbers
    share = n / frame.groupby("user")["item"].transform("size")
    squares = []
    for _, rows in frame.groupby("item"):
        p = share[rows.index]
        if len(rows) >= 10:
            squares.append((is_test[rows.index].sum() - p.sum()) ** 2 / (p * (1 - p)).sum())
    assert found["mean square of z"] == pytest.approx(np.mean(squares))
    assert found["items"] == len(squares)


@pytest.mark.parametrize("n", slow(1, 2))
def test_false_alarms_on_random_rows_of_each_user_are_rare(n: int) -> None:
    """Though active users know rarer items, which are seldom left out then."""
    rng = np.random.default_rng(0)
    frame = _make_active_users_of_rare_items(rng)
    found = []
    for _ in range(200):
        is_test = _draw_rows_of_each_user(frame, n, rng)
        report = rn.check_split(frame[~is_test], frame[is_test])
        found.append(report["popularity shift"].numbers)
    p_values = np.array([one["p_value"] for one in found])
    assert np.mean([one["mean square of z"] for one in found]) == pytest.approx(1, abs=0.05)
    assert np.mean(p_values <= 0.05) < 0.1
    assert np.mean(p_values <= 0.01) < 0.04
    assert abs(np.mean(p_values <= 0.5) - 0.5) < 0.12


def test_a_test_part_of_popular_items_is_found() -> None:
    """Rows drawn by the popularity of their items, as in a published split."""
    ratings = sample_ratings()
    weight = ratings.groupby("item")["user"].transform("size").to_numpy(dtype=float)
    how: dict[str, Any] = {"replace": False, "p": weight / weight.sum()}
    picked = np.random.default_rng(0).choice(len(ratings), len(ratings) // 5, **how)
    found = rn.check_split(ratings.drop(picked.tolist()), ratings.loc[picked])["popularity shift"]
    assert found.verdict == "warning"
    assert found.numbers["mean square of z"] > 2


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
        alarms += any(found[name].verdict != "fact" for name in shifts)
        means.append(found["popularity shift"].numbers["mean square of z"])
    assert alarms <= 50
    assert np.mean(means) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_files_are_read_by_the_names_of_their_columns(tmp_path: Path, suffix: str) -> None:
    """In any order, with other columns and dates: as the table, also within a memory limit."""
    pytest.importorskip("duckdb")
    parts = {name: make_split()[name] for name in ("train", "test")}
    expected = check(parts).findings
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
        assert [one.sentence for one in found.findings] == [one.sentence for one in expected]
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


def test_two_users_can_tell_models_apart() -> None:
    """By the four places of the one row with a lower rating, if orders are drawn."""
    discounts = 1 / np.log2(np.arange(2, 6))
    dcg = 31 * discounts.sum() - 16 * discounts  # gains: 2 ** rating - 1
    deviation = np.sqrt(2) * (dcg / dcg.max()).std()
    test = [(user, item, 4 + (item > 0)) for user in range(2) for item in range(4)]
    found = rn.check_split([(0, 9, 1), (1, 9, 1)], test)["what this split can tell apart"]
    expected = {"rated ndcg@10": rn.power(deviation=deviation, users=2)}
    assert found.numbers == pytest.approx(expected)


def test_few_users_cannot_tell_models_apart() -> None:
    """If the detectable difference is above 1, which no scores can have."""
    test = [(user, 0) for user in range(3)]
    found = rn.check_split([(user, 1) for user in range(3)], test)["what this split can tell apart"]
    assert (found.verdict, dict(found.numbers)) == ("warning", {})
    assert found.sentence.startswith("3 test users can hardly tell two models apart")


def test_missing_times_and_ratings_are_left_out_and_counted() -> None:
    """Of rows that have others."""
    parts = make_split()
    parts["test"].loc[parts["test"].index[:7], ["rating", "timestamp"]] = np.nan
    parts["train"].loc[parts["train"].index[:2], "timestamp"] = np.nan
    found = check({name: parts[name] for name in ("train", "test")})
    assert (
        "Rows without a time, which checks of time leave out: 9." in found["test period"].sentence
    )
    rated = parts["test"]["rating"].dropna()
    assert found["share of relevant rows"].numbers["test"] == (rated >= 4).mean()
    none = check({**parts, "test": parts["test"].assign(rating=np.nan, timestamp=np.nan)})
    assert {none.skipped[name] for name in ("rating shift", "share of relevant rows")} == {
        "ratings"
    }
    assert none.skipped["overlap of periods"].startswith("different times")
    same = {name: part.assign(timestamp=0) for name, part in parts.items()}
    assert check(same).skipped["overlap of periods"].startswith("different times")


def test_units_of_all_parts_are_compared() -> None:
    """Also of validation rows, and of days and seconds; times without a date are left alone."""
    parts = make_split()
    dated = {
        name: part.assign(timestamp=part["timestamp"] + 1.5e9) if name != "lists" else part
        for name, part in parts.items()
    }
    assert check(dated)["test period"].verdict == "fact"
    late = {**parts, "test": parts["test"].assign(timestamp=parts["test"]["timestamp"] * 99)}
    assert check(late)["test period"].verdict == "fact"
    validation = dated["validation"].assign(timestamp=dated["validation"]["timestamp"] * 1000)
    found = check({**dated, "validation": validation})["test period"]
    assert found.sentence.endswith("training and validation rows are not in the same unit.")
    days = dated["train"].assign(timestamp=dated["train"]["timestamp"] // 86400)
    found = check({**dated, "train": days})["test period"]
    assert found.sentence.endswith("of training and test rows are not in the same unit.")


def test_files_without_rows_are_rejected(tmp_path: Path) -> None:
    """In memory and on disk, as one part or the other; and no test rows at all."""
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("user,item\n1,2\n")
    test.write_text("user,item\n")
    for limit in (None, "4GB"):
        for parts in ((train, test), (test, train)):
            with rejects("[Tt]here are no rows", whole=False):
                rn.check_split(*parts, memory_limit=limit)
    with rejects("columns: user and rating would both be read from the column 'user'"):
        rn.check_split(make_split()["train"], make_split()["test"], columns={"rating": "user"})
    with rejects("test is None"):
        rn.check_split(train, None)


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
    """Checks that need times, ratings, a threshold, lists or validation rows."""
    parts = make_split()
    few = {name: parts[name][["user", "item"]] for name in ("train", "test")}
    found = rn.check_split(**few)
    assert found.skipped["test period"] == "different times (column timestamp)"
    assert found.skipped["rating shift"] == "ratings"
    with rejects("no check 'test period': it needs different times"):
        found["test period"]
    with rejects("no check 'typo'"):
        found["typo"]


def test_parts_that_cannot_be_read_are_rejected() -> None:
    """With the name of the part."""
    parts = make_split()
    with rejects("test: there are no rows"):
        rn.check_split(parts["train"], parts["test"].head(0))
    with rejects("train: .*no column 'user'"):
        rn.check_split(parts["train"].drop(columns="user"), parts["test"])
    with rejects("threshold must be a finite number"):
        rn.check_split(parts["train"], parts["test"], threshold=np.nan)
    with rejects("train: timestamp: text such as 'soon', which is no time, in row 0, 1, 2"):
        rn.check_split(parts["train"].assign(timestamp="soon"), parts["test"])


def test_the_report_is_printed_and_has_a_page() -> None:
    """The worst verdict first; the page has every sentence."""
    pytest.importorskip("jinja2")
    parts = FAULTS["pairs in both parts"][0](make_split())
    found = check(parts)
    text, page = str(found), found.to_html()
    assert "This split has errors" in text
    assert "3 of 303 test rows (1.0 %) are in training, too. First: user 0 item" in text
    for one in found.findings:
        assert one.sentence.partition("'")[0][:40] in page
    assert found.checks.index[0] == "pairs in both parts"
    assert found.checks["verdict"].tolist()[0] == "error"
    assert "| error" in found.to_markdown()


def test_the_command_exits_by_the_verdict(tmp_path: Path) -> None:
    """--fail-on error, or also a warning."""
    parts = make_split()
    parts["test"] = parts["test"].assign(rating=4)
    for name in ("train", "test"):
        parts[name].to_csv(tmp_path / f"{name}.csv", index=False)
    words: list[str | Path] = [
        "check-split",
        tmp_path / "train.csv",
        tmp_path / "test.csv",
        "--threshold",
        "4",
    ]
    assert run(*words).exit_code == 0
    assert run(*words, "--fail-on", "error").exit_code == 0
    failed = run(*words, "--fail-on", "warning")
    assert failed.exit_code == 1
    assert "share of relevant rows" in failed.stdout
    assert failed.stderr.startswith("failed: The split fails 2 checks:")
    assert "share of relevant rows" in failed.stderr
    assert "passed: No check" in run(*words, "--fail-on", "error").stderr
    found = json_of(*words)
    assert found["verdict"] == "warning"
    assert found["rows"] == {"train": 1200, "test": 300}
    assert run(*words, "--fail-on", "fact").exit_code == 2
    assert run(*words[:2]).exit_code == 2


def test_a_row_of_csv_has_the_first_rows_at_fault(tmp_path: Path) -> None:
    """With semicolons between them."""
    parts = FAULTS["pairs in both parts"][0](make_split())
    for name in ("train", "test"):
        parts[name].to_csv(tmp_path / f"{name}.csv", index=False)
    table = csv_of("check-split", tmp_path / "train.csv", tmp_path / "test.csv", index_col="check")
    found = rn.check_split(tmp_path / "train.csv", tmp_path / "test.csv").checks
    assert list(table) == list(found)
    at_fault: Any = found.loc["pairs in both parts", "rows"]
    assert len(at_fault) == 3
    assert table.loc["pairs in both parts", "rows"] == "; ".join(at_fault)


def test_the_page_names_every_check() -> None:
    """With the names that reports have."""
    page = text_of(page_of("check-split"))
    assert [name for name in {*FAULTS} | FACTS if f"`{name}`" not in page] == []
