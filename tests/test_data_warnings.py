"""Valid but suspicious data gives one warning with counts, which points at the caller's line."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.errors import rejects

HERE = Path(__file__)


def warnings_of(data: Any, **options: Any) -> list[str]:
    """Return the messages of an evaluation's warnings, all of which point at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rn.evaluate(data, **options)
    assert {(one.category, Path(one.filename)) for one in caught} <= {(rn.DataWarning, HERE)}
    return [str(one.message) for one in caught]


def evaluate_silently(data: Any, **options: Any) -> rn.Report:
    """Return the report without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rn.evaluate(data, **options)


def rows(n_users: int, n_items: int, *, seed: int = 0) -> pd.DataFrame:
    """Return distinct estimates and varied grades."""
    draw = np.random.default_rng(seed)
    user, item = np.divmod(np.arange(n_users * n_items), n_items)
    true = draw.integers(1, 6, len(user)).astype(float)
    frame = {"user": user, "item": item, "estimated": draw.normal(3, 1, len(user)), "true": true}
    return pd.DataFrame(frame)


def test_ordinary_data_gives_no_warning() -> None:
    """If it did, users would skip the others."""
    assert warnings_of(rows(20, 5), k=3, threshold=4) == []


def test_estimates_at_a_bound_of_the_scale_are_counted() -> None:
    """A model given the wrong rating_scale predicts its top for most items."""
    frame = rows(20, 5)
    frame.loc[frame.index[:60], "estimated"] = 7.0
    first, *others = warnings_of(frame, convention=rn.Convention(ties="input"), metrics="rmse")
    assert "60.0% of the estimates are exactly 7.0" in first
    assert "1.0 to 5.0" in first
    assert "rating_scale" in first
    assert not others


@pytest.mark.parametrize(("at_bound", "expected"), [(50, 0), (51, 1)])
def test_half_of_the_estimates_at_a_bound_is_not_most(at_bound: int, expected: int) -> None:
    """Of 100 rows, at the lower bound."""
    frame = rows(20, 5)
    frame.loc[frame.index[:at_bound], "estimated"] = -9.0
    assert len(warnings_of(frame, metrics="rmse")) == expected


def test_where_nothing_is_labelled_no_scale_is_suspected() -> None:
    """There are no true values to which estimates could be too high."""
    labels = pd.DataFrame({"user": range(20), "item": "elsewhere", "true": 5.0})
    results = rows(20, 5).drop(columns="true").astype({"item": str})
    results.loc[results.index[:60], "estimated"] = 7.0
    with pytest.warns(rn.DataWarning, match="No item of the results is among the labels"):
        lists = rn.RankedLists.from_labels(labels, results)
    assert warnings_of(rn.RankedLists(replace(lists._data, protocol="rated"))) == []


def test_a_class_that_most_items_get_is_no_bound() -> None:
    """Rounded estimates and 0 or 1 are classes, of which one may well be most of them."""
    frame = rows(20, 5)
    classes = frame["true"].where(frame.index < 40, 5)
    liked = (frame["true"] > 2).astype(int)
    for change in (
        frame.assign(estimated=classes),
        frame.assign(estimated=liked, true=liked.sample(frac=1, random_state=0).to_numpy()),
    ):
        assert warnings_of(change, metrics="rmse") == []
    known = frame["estimated"].abs().where(frame.index >= 70, 0.0)  # as neighbours score most items
    assert warnings_of(frame.assign(estimated=known), metrics="rmse") == []
    top = frame.assign(estimated=np.where(frame.index < 60, 5.0, 1.0))
    (only,) = warnings_of(top, metrics="rmse")
    assert "60.0% of the estimates are exactly 5.0" in only


def test_lists_of_one_item_are_counted() -> None:
    """Any order of one item is perfect."""
    frame = pd.concat([rows(8, 1), rows(4, 5).assign(user=lambda one: one["user"] + 100)])
    (only,) = warnings_of(frame)
    assert "8 of 12 users have one item" in only


@pytest.mark.parametrize(("top", "expected"), [(5, 0), (9, 0), (10, 1), (100, 1)])
def test_default_gains_of_a_long_scale_get_one_warning(top: int, expected: int) -> None:
    """With the call of linear gains; neither a library's own gains nor other metrics do."""
    frame = rows(20, 5)
    frame["true"] *= top / frame["true"].max()
    frame["estimated"] = frame["true"] + frame["estimated"]
    found = warnings_of(frame, metrics=["ndcg@3", "dcg@3", "rmse"], k=3)
    assert len(found) == expected
    for text in found:
        assert f"with grades up to {top}, almost only the highest ones count in ndcg@3" in text
    for how in ({"convention": rn.Convention(gain="linear")}, {"convention": "lightgbm"}):
        assert warnings_of(frame, metrics="ndcg@3", **how) == []
    assert warnings_of(frame, metrics="precision@3", threshold=top) == []


@pytest.mark.parametrize(
    ("grades", "suggested"),
    [((1, 5), 4), ((0, 2), 2), ((0, 100), 75), ((1, 10), 8), ((0, 0.5), 0.375), ((3, 3), 3)],
)
def test_the_suggested_threshold_is_on_the_scale_of_the_data(
    grades: tuple[float, float], suggested: float
) -> None:
    """Whatever needs one."""
    rows = [("ann", "a", 1.0, grades[0]), ("ann", "b", 2.0, grades[1])]
    for how in ({"metrics": "recall"}, {"convention": rn.Convention(gain="binary")}):
        with rejects(rf"pass threshold={suggested:g}\b", whole=False):
            rn.evaluate(rows, **how)


def test_supplied_lists_say_what_gives_a_chance_of_the_catalogue() -> None:
    """Until the number of candidates is known."""
    lists: dict[str, Any] = {"labels": {"ann": {"x": 1}}, "results": {"ann": ["x", "z"]}}
    line = "give the catalogue (catalogue=items, or their number)"
    assert line in "\n".join(evaluate_silently(lists).remarks)
    known = rn.RankedLists.from_labels(**lists, n_items=9)
    assert line not in "\n".join(evaluate_silently(known).remarks)


TIED = {"a": [(2, 5), (2, 1)], "b": [(2, 5), (2, 1)]}


def test_a_tie_range_that_reaches_the_third_decimal_is_reported_with_its_ends() -> None:
    """The score depends on an arbitrary order; one user has no interval."""
    worst = (1 + 31 / np.log2(3)) / (31 + 1 / np.log2(3))
    for data in (TIED, {"a": TIED["a"]}):
        (only,) = warnings_of(data)
        assert f"is {worst:.4f} to 1.0000" in only


@pytest.mark.parametrize(("n_users", "expected"), [(40, 0), (4000, 1)])
def test_a_tie_range_within_the_error_of_the_mean_is_a_remark(n_users: int, expected: int) -> None:
    """The same ties matter once there are so many users that the mean is known better."""
    frame = rows(n_users, 5)
    tied = frame.assign(estimated=(frame["true"] + frame["estimated"]).round(1))
    found = warnings_of(tied, metrics="ndcg@3")
    assert [one[:11] for one in found] == ["Ties affect"] * expected
    report = evaluate_silently(tied, metrics="ndcg@3")
    ends = report.summary.loc["ndcg@3"]
    width = ends["tie_high"] - ends["tie_low"]
    assert width > 0.001
    assert (width > (ends["ci_high"] - ends["ci_low"]) / 2) == bool(expected)
    assert any(line.startswith("Ties affect") for line in report.remarks)


def test_a_tie_between_equal_grades_is_not_worth_a_warning() -> None:
    """Every order of it scores the same."""
    assert warnings_of({"a": [(2, 5), (2, 5), (1, 3)], "b": [(2, 5), (1, 4)]}) == []


def test_users_of_one_table_only_are_reported_when_the_tables_are_joined() -> None:
    """Every score is 0, most likely because the ids were renumbered."""
    labels = pd.DataFrame({"user": [1, 1], "item": [1, 2], "true": [4, 1]})
    with pytest.warns(rn.DataWarning, match="No user of the results is among the labels") as found:
        rn.RankedLists.from_labels(labels, labels.assign(user=7, rank=[1, 2]))
    assert len(found) == 1
    assert "If the ids were renumbered" in str(found[0].message)
    assert Path(found[0].filename) == HERE


def test_reading_the_report_gives_no_further_warning() -> None:
    """Once is enough, also for warnings as errors."""
    with pytest.warns(rn.DataWarning):
        report = rn.evaluate(TIED, k=2, threshold=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(report)
        assert len(report.summary) == 3
        assert report.counts["tied"] == 2


def predicted(n_users: int = 5, n_items: int = 8) -> pd.DataFrame:
    """Return estimates off the grid of the ratings, close to them."""
    frame = rows(n_users, n_items)
    noise = np.random.default_rng(1).normal(0, 0.3, len(frame))
    return frame.assign(estimated=(frame["true"] + noise).round(4))


def test_rows_in_the_order_of_surprise_give_a_warning() -> None:
    """True and estimated are exchanged, in whichever form they come."""
    frame = predicted()
    columns = ["user", "item", "true", "estimated"]
    exchanged = frame.rename(columns={"true": "estimated", "estimated": "true"})
    tuples = list(frame[columns].itertuples(index=False, name=None))
    for data in (tuples, exchanged, exchanged.to_dict("list")):
        first, *_ = warnings_of(data)
        assert "The columns estimated and true look swapped" in first
        assert "the estimates look like ratings from 1 to 5, but true values such as" in first
        assert "(uid, iid, r_ui, est) have the true rating first: give them as Predictions" in first
    assert warnings_of(frame) == []
    assert warnings_of([(*row, {}) for row in tuples]) == []  # predictions of Surprise as they are


@pytest.mark.parametrize("factor", [0.2, 20])
def test_ratings_of_another_scale_in_the_place_of_estimates_give_a_warning(factor: float) -> None:
    """Tenths up to 1, and percents."""
    frame = predicted()
    scaled = frame[["true", "estimated"]] * factor
    first, *_ = warnings_of(frame.assign(estimated=scaled["true"], true=scaled["estimated"]))
    assert f"look like ratings from {factor:g} to {5 * factor:g}" in first
    assert warnings_of(frame.assign(**scaled), metrics="rmse") == []


def test_columns_that_may_well_be_right_give_no_warning() -> None:
    """Whole estimates of whole grades, and continuous ones of continuous grades."""
    frame = predicted()
    for change in (
        frame.assign(estimated=frame["true"].sample(frac=1, random_state=0).to_numpy()),
        frame.assign(true=frame["estimated"] + 7),
        frame.assign(estimated=frame["true"].shift(1, fill_value=2), true=frame["true"] / 10),
        frame.assign(estimated=frame["true"].shift(1, fill_value=2), true=np.log1p(frame["true"])),
        frame.assign(estimated=np.arange(len(frame)) * 3.0, true=frame["estimated"] + 7),
    ):
        assert warnings_of(change, metrics="rmse", convention=rn.Convention(ties="input")) == []


def guessed(n_users: int = 60, *, seed: int = 0) -> pd.DataFrame:
    """Return sample ratings with estimates that are somewhat right."""
    ratings = sample_ratings(n_users=n_users, seed=seed).rename(columns={"rating": "true"})
    noise = np.random.default_rng(seed).normal(0, 1, len(ratings))
    return ratings.drop(columns="timestamp").assign(estimated=ratings["true"] + noise)


def ranks_of(frame: pd.DataFrame, *, best_first: bool) -> pd.DataFrame:
    """Return the same with each user's places in the order of the estimates in their place."""
    places = frame.groupby("user")["estimated"].rank(ascending=not best_first, method="first")
    return frame.assign(estimated=places)


@pytest.mark.parametrize("metrics", [None, "rr", "ap@10", "dcg@5", ["rmse", "precision@3"]])
def test_estimates_of_which_the_lowest_is_best_give_a_warning(metrics: Any) -> None:
    """Ranks, from 1 or 0 on, and scores with the wrong sign: random order would be better."""
    frame = guessed(300)
    ranks = ranks_of(frame, best_first=True)
    for lower in (
        ranks,
        ranks.assign(estimated=ranks["estimated"] - 1),
        frame.assign(estimated=-frame["estimated"]),
        frame.assign(estimated=1 / (2 + frame["estimated"].abs())),
    ):
        found = warnings_of(lower, metrics=metrics, threshold=4)
        (only,) = (text for text in found if "Ties" not in text)
        report = evaluate_silently(lower, metrics=metrics, threshold=4)
        metric = only.partition(" is ")[0]
        assert f"{metric} is {report[metric]:.4f}, but the same lists in random order" in only
        assert f"score {report.audit['chance'][metric]:.4f}" in only
        assert "If a lower estimate is better (distances, losses), negate" in only


def test_many_users_give_the_same_warnings_as_in_batches() -> None:
    """In memory, chance is first measured of some users, to see whether it has to be of all."""
    frame = guessed(1500)
    frame = frame.assign(estimated=-frame["estimated"])
    users = frame["user"].factorize()[0]
    scores = rn.Accumulator("ndcg@5").update(users, frame["estimated"], frame["true"])
    with pytest.warns(rn.DataWarning) as expected:
        scores.report()
    found = warnings_of(frame, metrics="ndcg@5")
    assert found == [str(one.message) for one in expected]


def test_numbers_of_which_the_highest_is_best_may_look_like_ranks() -> None:
    """Borda points, from 1 or 0 on, and means of the ranks of several models, counted upwards."""
    frame = guessed()
    points = ranks_of(frame, best_first=False)
    other = ranks_of(guessed(seed=0).assign(estimated=frame["true"] * 1.0), best_first=False)
    means = points.assign(estimated=(points["estimated"] + other["estimated"]) / 2)
    for higher in (points, points.assign(estimated=points["estimated"] - 1), means):
        found = warnings_of(higher, metrics=["ndcg@10", "precision@10"], threshold=4)
        assert [text for text in found if "Ties" not in text] == []


def test_a_model_without_skill_is_not_called_worse_than_random_order() -> None:
    """Nor one that is worse by chance, for few users or by little."""
    frame = guessed()
    draw = np.random.default_rng(1)
    few = frame[frame["user"].isin(frame["user"].unique()[:5])]
    for some in [frame, few] * 20:
        assert warnings_of(some.assign(estimated=draw.random(len(some))), metrics="ndcg@10") == []
    many = guessed(3000)
    little = many.assign(estimated=draw.normal(0, 20, len(many)) - many["true"])
    audit = evaluate_silently(little, metrics="ndcg@10").audit.loc["ndcg@10"]
    assert audit["z"] < -4
    assert -0.1 < audit["adjusted"] < 0
    assert warnings_of(little, metrics="ndcg@10") == []


def test_ties_in_their_worst_order_are_not_reported_as_a_reversed_order() -> None:
    """The warning about ties is enough."""
    frame = guessed()
    tied = frame.assign(estimated=(frame["estimated"] > 0).astype(float))
    found = warnings_of(tied, metrics="ndcg@10", convention=rn.Convention(ties="worst"))
    assert not any("random order score" in text for text in found)


def test_lists_with_the_best_item_last_give_a_warning() -> None:
    """There is no estimate, but an order that is the wrong way round."""
    frame = guessed()
    users = frame.sort_values("estimated").groupby("user")
    lists = {user: own["item"].tolist() for user, own in users}
    labels = frame[["user", "item", "true"]]
    (only,) = warnings_of(rn.RankedLists.from_labels(labels, lists), metrics="ndcg@5")
    assert "If it is the worst, reverse each list" in only
    best_first = {user: items[::-1] for user, items in lists.items()}
    assert warnings_of(rn.RankedLists.from_labels(labels, best_first), metrics="ndcg@5") == []


@pytest.mark.parametrize("scale", [1, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("column", ["estimated", "true"])
def test_times_as_numbers_give_a_warning(column: str, scale: float) -> None:
    """With what they are times of."""
    frame = rows(5, 4)
    times = (881_250_949 + np.arange(20) * 86_400) * scale
    convention = rn.Convention(gain="linear")
    found = warnings_of(frame.assign(**{column: times}), convention=convention)
    assert f"{column}: all values are times in" in found[0]
    assert "from 1997-12-04 to 1997-12-23. Is this the column of timestamps?" in found[0]
    sizes = frame.assign(**{column: np.arange(20) * 3.0 % 50 + 2})
    assert warnings_of(sizes, convention=convention) == []


@pytest.mark.parametrize(
    ("threshold", "match"),
    [
        (5.5, "threshold=5.5 is above every true value (the highest is 5), so nothing is relevant"),
        (1, "threshold=1 is at or below every true value (the lowest is 1), so every rated item"),
    ],
)
def test_a_threshold_that_separates_nothing_gives_a_warning(threshold: float, match: str) -> None:
    """Once, and only if a metric or a gain uses it."""
    (only,) = warnings_of(rows(20, 5), metrics=["ndcg@3", "precision@3"], threshold=threshold)
    assert only.startswith(match)
    assert warnings_of(rows(20, 5), metrics=["ndcg@3"], threshold=threshold) == []
    binary = rn.Convention(gain="binary")
    (only,) = warnings_of(rows(20, 5), metrics="ndcg@3", threshold=threshold, convention=binary)


def test_labels_that_are_all_relevant_are_usual_but_not_if_a_grade_is_0() -> None:
    """Tests of implicit data hold what was liked alone; judgements hold 0 for the others."""
    results = {"u": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for grade, n_warnings in ((1, 0), (0, 1)):
        lists = rn.RankedLists.from_trec({"u": {"a": 3, "b": grade}}, results)
        assert len(warnings_of(lists, metrics="precision@3", threshold=grade)) == n_warnings


def test_a_model_that_may_have_diverged_gives_a_warning() -> None:
    """The only sign of it is that every estimate is the same."""
    (only,) = warnings_of(rows(20, 5).assign(estimated=5.0))
    assert "All 100 estimates are 5: these items have no order" in only
    assert "predict(user, item, clip=False), and train with a smaller" in only
