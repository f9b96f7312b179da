"""What cannot be compared raises an error that says what to do; remarks say what is deceptive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.comparison.models import model, models, ratings
from tests.errors import rejects

SAME = models()["good"]


def test_models_must_be_measured_on_the_same_ratings() -> None:
    """One grade of one user is enough, or another item with the same grade."""
    both = models()
    user, item, estimated, true = both["fair"][7]
    both["fair"][7] = (user, item, estimated, 6 - true if true != 3 else 1.0)
    with rejects(f"'good' and 'fair' were measured on different ratings.*1 of 60.*user '{user}'"):
        rn.compare(both)
    both["fair"][7] = (user, "other", estimated, true)
    with rejects("different ratings.*Let all models predict the same test ratings"):
        rn.compare(both)


def test_models_must_have_the_same_users_or_only_the_common_ones_are_compared() -> None:
    """A remark counts the users that are left out."""
    both = models()
    both["fair"] = [row for row in both["fair"] if row[0] >= "u0010"]
    with rejects(r"good has 60, fair has 50.*user 'u0000' of 'good'.*users='common'"):
        rn.compare(both)
    found = rn.compare(both, users="common")
    assert len(found.users) == 50
    assert any("left out: 10 of good, 10 of poor" in line for line in found.remarks)
    common = [row for row in both["good"] if row[0] >= "u0010"]
    assert found.leaderboard.loc["good", "mean"] == rn.evaluate(common).mean["ndcg@10"]
    both["fair"] = [(f"x{user}", item, est, true) for user, item, est, true in both["fair"]]
    with rejects("No user is in all of"):
        rn.compare(both, users="common")
    numbers = {
        name: [(kind(user), item, item, item) for user in range(3) for item in range(2)]
        for name, kind in (("one", int), ("two", str))
    }
    with rejects("'one' have ids of type number.*'two' of type text"):
        rn.compare(numbers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convention": rn.Convention(gain="linear")}, "ndcg@3 .*: gain is 'exponential' for 'a' "),
        ({"convention": rn.Convention(ties="best")}, "precision@3 .*: ties is 'expected' for 'a' "),
        ({"threshold": 3}, "precision@3 .*: threshold is 4.0 for 'a' and 3.0 for 'b'"),
    ],
)
def test_models_must_be_measured_in_the_same_way(options: dict[str, Any], message: str) -> None:
    """In what a metric reads: precision has no gain."""
    both = models()
    usual: dict[str, Any] = {"metrics": ["precision@3", "ndcg@3"], "threshold": 4}
    one = rn.evaluate(both["good"], **usual)
    two = rn.evaluate(both["fair"], **(usual | options))
    with rejects(f"^{message}.*Evaluate both in the same way"):
        rn.compare({"a": one, "b": two})


def _results(most: int) -> rn.RankedLists:
    """Return supplied lists of the first items of each user."""
    labels = [dict(zip(("user", "item", "true"), row, strict=True)) for row in ratings(40)]
    lists: dict[str, list[str]] = {}
    for row in labels:
        lists.setdefault(str(row["user"]), []).append(str(row["item"]))
    columns = {name: [row[name] for row in labels] for name in labels[0]}
    return rn.RankedLists.from_labels(
        columns, {user: items[:most] for user, items in lists.items()}
    )


def test_models_must_share_a_protocol() -> None:
    """The message says in words what each model ranks."""
    with rejects("'a' ranks each user's own test ratings, 'b' scores the supplied lists"):
        rn.compare({"a": models(40)["good"], "b": _results(8)})


def test_a_remark_names_a_model_with_longer_lists() -> None:
    """What is in no list cannot score."""
    found = rn.compare({"long": _results(8), "short": _results(1)}, metrics=["ndcg@5"])
    assert any(line.startswith("The lists of long are longer than") for line in found.remarks)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "at least two models. There is none"),
        ({"a": SAME}, "There is only 'a'"),
        ([1, 2], "Pass models by name.*not \\[1, 2\\]"),
        ("file.csv", "Pass models by name"),
        ({1: [], 2: []}, "name of a model must be text, not 1"),
        ({" ": [], "b": []}, "name of a model must be text, not ' '"),
        ({"\udcff": [], "b": []}, r"The model name '\\udcff' has a lone surrogate"),
        ({"a": [1], "a ": [2]}, "names differ only in blanks"),
        ({"a": SAME, "b": SAME}, "'a' and 'b' are the same object"),
        ({"a": "one.json", "b": "./one.json"}, "'a' and 'b' are the same file"),
    ],
)
def test_models_need_names_of_their_own(wrong: Any, message: str) -> None:
    """Two or more, each once."""
    with rejects(message):
        rn.compare(wrong)


def test_other_things_are_no_models(tmp_path: Path) -> None:
    """A saved comparison, and what Surprise's own cross-validation returns."""
    both = models(users=20)
    rn.compare(both).save(tmp_path / "c.json")
    with rejects("c.json is a saved comparison, not a model", whole=False):
        rn.compare({"a": str(tmp_path / "c.json"), "b": both["poor"]})
    surprise = {"test_rmse": [0.9, 0.8], "fit_time": (1.0, 2.0), "test_time": (1.0, 1.0)}
    with rejects("a: This is a result of Surprise's own cross_validate", whole=False):
        rn.compare({"a": surprise, "b": both["poor"]})


def test_identical_models_score_the_same() -> None:
    """All differences are 0, p is 1, and the verdict asks whether they are two models."""
    rows = models()["good"]
    found = rn.compare({"a": rows, "b": list(rows)})
    columns = ["p", "p_corrected", "difference", "ci_low", "ci_high"]
    assert found.pairwise[columns].to_numpy().tolist() == [[1, 1, 0, 0, 0]]
    assert found.verdict == (
        "a and b have the same score in ndcg@10 for each of 60 users. Are they different models?"
    )
    assert "a and b have the same score for every user." in found.remarks
    assert found.leaderboard["tier"].tolist() == [1, 1]


def test_one_or_two_users_are_too_few() -> None:
    """Two have a test, and a remark that it is rough; one has none."""
    true = ratings(2)
    two = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    found = rn.compare(two)
    assert np.isfinite(found.pairwise["p"]).all()
    assert any(
        line.startswith("Only 2 users have a score in ndcg@10, so") for line in found.remarks
    )
    found = rn.compare({name: rows[:2] for name, rows in two.items()})
    assert found.pairwise["p"].isna().tolist() == [True]
    assert found.verdict.startswith("Only 1 user can be compared in ndcg@10, which is no evidence")
    assert found.leaderboard["rank_high"].tolist() == [2, 2]


def test_a_metric_may_have_no_score() -> None:
    """If no metric has one, nothing can be compared."""
    true = [(user, item, min(grade, 3.0)) for user, item, grade in ratings(20)]
    both = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    with pytest.warns(rn.DataWarning), rejects("No model has a score for any user in recall@3"):
        rn.compare(both, metrics=["recall@3"], threshold=4)
    with pytest.warns(rn.DataWarning):
        found = rn.compare(both, metrics=["recall@3", "ndcg@3"], threshold=4)
    assert found.verdict.startswith("No user has scores from two models in recall@3")
    assert found.leaderboards["recall@3"]["mean"].isna().all()
    assert found.leaderboards["ndcg@3"]["mean"].notna().all()


def test_reports_must_share_a_metric_and_keep_their_choices() -> None:
    """Metrics that only some have are left out, with a remark; options have no effect on them."""
    both = models()
    names = {"good": ["ndcg@3", "rmse"], "fair": ["ndcg@3"], "poor": ["rmse"]}
    reports = {name: rn.evaluate(both[name], metrics=names[name]) for name in names}
    two = {"a": reports["good"], "b": reports["fair"]}
    found = rn.compare(two)
    assert found.metrics == ["ndcg@3"]
    assert "Metrics that only some models have are left out: rmse." in found.remarks
    with rejects(r"share no metric \(a: ndcg@3, rmse; b: ndcg@3; c: rmse\)"):
        rn.compare({**two, "c": reports["poor"]})
    with rejects("b: This report has no rmse; it has ndcg@3"):
        rn.compare(two, metrics=["rmse"])
    with rejects("'a' is evaluated already, so threshold= would have no effect"):
        rn.compare({"a": reports["good"], "b": both["fair"]}, threshold=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "god"}, "baseline='god' is not a model. Did you mean 'good'"),
        ({"baseline": ["good"]}, "baseline=\\['good'\\] is not a model"),
        ({"users": "some"}, "users must be one of 'all', 'common', not 'some'"),
        ({"k": "3"}, "k must be a whole number"),
        ({"margin": -0.1}, "margin must be a number above 0"),
        ({"correction": "maxT"}, "correction must be one of.*Did you mean 'max-T'"),
        ({"alpha": 1.5}, "alpha"),
        ({"metrics": ["rmse"], "baseline": "chance"}, "no chance level"),
        (
            {"test": "randomisation", "correction": "holm", "draws": 58},
            "no corrected p can reach 0.05.*draws=59 or more",
        ),
    ],
)
def test_options_out_of_range_raise(options: dict[str, Any], message: str) -> None:
    """With what to pass instead."""
    with rejects(message):
        rn.compare(models(), **options)


def test_errors_and_warnings_name_the_model() -> None:
    """A warning does not if it is of all models."""
    with rejects("good: No metric is named 'ndgc@10'", rn.UnknownMetricError):
        rn.compare(models(), metrics=["ndgc@10"])
    both = models()
    tied = [(user, item, round(est / 3), true) for user, item, est, true in both["poor"]]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare({"good": both["good"], "poor": tied})
    assert [str(one.message).startswith("poor: Ties affect") for one in caught] == [True]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare(models(), threshold=9)
    assert [str(one.message)[:10] for one in caught] == ["threshold="]


def test_methods_of_a_comparison_check_their_arguments(tmp_path: Path) -> None:
    """Models, metrics, numbers, users; saved reports have no lists."""
    both = models()
    found = rn.compare(both, metrics=["ndcg@3"])
    with rejects("There is no model 'god'. Did you mean 'good'"):
        found.movers(3, a="god")
    with rejects("n must be a whole number of at least 1, not 0"):
        found.movers(0)
    with rejects("has no metric 'rr'; it has ndcg@3"):
        found.movers(3, metric="rr")
    with rejects("'good' is compared with itself. Pass two models"):
        found.movers(3, a="good", b="good")
    with rejects("margin must be a number above 0"):
        found.not_worse("poor")
    with rejects("'good' is compared with itself"):
        found.not_worse("good", margin=0.1)
    with rejects("There are no segments. Compare"):
        _ = found.segments
    with rejects("no such user|no user", whole=False):
        found.movers(3).explain("nobody")
    paths = {name: tmp_path / f"{name}.json" for name in both}
    for name, path in paths.items():
        rn.evaluate(both[name]).save(path)
    found = rn.compare(paths)
    with rejects("'good' has no lists"):
        found.overlap(3)
    with rejects("'good' has no lists"):
        found.movers(1).explain("u0000")
