"""What cannot be compared raises an error with the fix; remarks name what is deceptive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.comparison.models import model, models, ratings
from tests.errors import assert_rejected, rejects

MODELS = models()
SAME = MODELS["good"]
HOW: dict[str, Any] = {"metrics": ["precision@3", "ndcg@3"], "threshold": 4}


def test_models_must_be_measured_on_the_same_ratings() -> None:
    """One grade of one user is enough, or another item with the same grade."""
    both = models()
    user, item, estimated, true = both["fair"][7]
    both["fair"][7] = (user, item, estimated, 6 - true if true != 3 else 1.0)
    message = f"'good' and 'fair' were measured on different ratings.*1 of 60.*user '{user}'"
    assert_rejected(message, rn.compare, both)
    both["fair"][7] = (user, "other", estimated, true)
    message = "different ratings.*Let all models predict the same test ratings"
    assert_rejected(message, rn.compare, both)


def test_models_must_have_the_same_users_or_only_the_common_ones_are_compared() -> None:
    """A remark counts the users that are left out."""
    both = models()
    both["fair"] = [row for row in both["fair"] if row[0] >= "u0010"]
    message = r"good has 60, fair has 50.*user 'u0000' of 'good'.*users='common'"
    assert_rejected(message, rn.compare, both)
    found = rn.compare(both, users="common")
    assert len(found.users) == 50
    assert any("left out: 10 of good, 10 of poor" in line for line in found.remarks)
    common = [row for row in both["good"] if row[0] >= "u0010"]
    assert found.leaderboard.loc["good", "mean"] == rn.evaluate(common).mean["ndcg@10"]
    both["fair"] = [(f"x{user}", item, est, true) for user, item, est, true in both["fair"]]
    assert_rejected("No user is in all of", rn.compare, both, users="common")
    rows = [(user, item, item, item) for user in range(3) for item in range(2)]
    texts = [(str(user), *rest) for user, *rest in rows]
    message = "'one' have ids of type number.*'two' of type text"
    assert_rejected(message, rn.compare, {"one": rows, "two": texts})


DIFFERENT: dict[str, dict[str, Any]] = {
    "ndcg@3 .*: gain is 'exponential' for 'a' ": {"convention": rn.Convention(gain="linear")},
    "precision@3 .*: ties is 'expected' for 'a' ": {"convention": rn.Convention(ties="best")},
    "precision@3 .*: threshold is 4.0 for 'a' and 3.0 for 'b'": {"threshold": 3},
}


@pytest.mark.parametrize("message", DIFFERENT)
def test_models_must_be_measured_in_the_same_way(message: str) -> None:
    """In what a metric reads: precision has no gain."""
    one = rn.evaluate(SAME, **HOW)
    two = rn.evaluate(MODELS["fair"], **HOW | DIFFERENT[message])
    assert_rejected(f"^{message}.*Evaluate both in the same way", rn.compare, {"a": one, "b": two})


def _results(most: int) -> rn.RankedLists:
    """Return supplied lists of the first items of each user."""
    labels = pd.DataFrame(ratings(40), columns=["user", "item", "true"])
    lists = labels.groupby("user")["item"].agg(lambda items: [*items[:most]])
    return rn.RankedLists.from_labels(labels, lists.to_dict())


def test_models_must_share_a_protocol() -> None:
    """The message describes what each model ranks; a remark names a model with longer lists."""
    message = r"ndcg@10 \(rated items\) of 'a' cannot be compared with .* \(supplied lists\) of 'b'"
    with rejects(message):
        rn.compare({"a": models(40)["good"], "b": _results(8)})
    found = rn.compare({"long": _results(8), "short": _results(1)}, metrics=["ndcg@5"])
    assert any(line.startswith("The lists of long are longer than") for line in found.remarks)


BAD: dict[str, Any] = {
    "at least two models. There is none": {},
    "There is only 'a'": {"a": SAME},
    r"Pass models by name.*not \[1, 2\]": [1, 2],
    "Pass models by name": "file.csv",
    "name of a model must be text that UTF-8 can encode, not 1": {1: [], 2: []},
    "name of a model must be text that UTF-8 can encode, not ' '": {" ": [], "b": []},
    r"must be text that UTF-8 can encode, not '\\udcff'": {"\udcff": [], "b": []},
    "names differ only in blanks": {"a": [1], "a ": [2]},
    "'a' and 'b' are the same object": {"a": SAME, "b": SAME},
    "'a' and 'b' are the same file": {"a": "one.json", "b": "./one.json"},
}


@pytest.mark.parametrize("message", BAD)
def test_models_need_names_of_their_own(message: str) -> None:
    """Two or more, each once."""
    assert_rejected(message, rn.compare, BAD[message])


def test_other_things_are_no_models(tmp_path: Path) -> None:
    """A saved comparison, and what Surprise's own cross-validation returns."""
    rn.compare(models(users=20)).save(tmp_path / "c.json")
    surprise = {"test_rmse": [0.9, 0.8], "fit_time": (1.0, 2.0), "test_time": (1.0, 1.0)}
    wrong: dict[str, Any] = {
        "c.json is a saved comparison, not a model": str(tmp_path / "c.json"),
        "a: This is a result of Surprise's own cross_validate": surprise,
    }
    for message, one in wrong.items():
        assert_rejected(message, rn.compare, {"a": one, "b": SAME}, whole=False)


def test_identical_models_score_the_same() -> None:
    """All differences are 0, p is 1, and the verdict asks whether they are two models."""
    found = rn.compare({"a": SAME, "b": list(SAME)})
    columns = ["p", "p_corrected", "difference", "relative"]
    assert found.pairwise[columns].to_numpy().tolist() == [[1, 1, 0, 0]]
    assert found.pairwise[["ci_low", "ci_high"]].isna().all(axis=None)
    assert found.leaderboard["tier"].tolist() == [1, 1]


def test_one_or_two_users_are_too_few() -> None:
    """Two have a test, and a remark that it is rough; one has none."""
    true = ratings(2)
    two = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    found = rn.compare(two)
    assert np.isfinite(found.pairwise["p"]).all()
    found = rn.compare({name: rows[:2] for name, rows in two.items()})
    assert found.pairwise["p"].isna().tolist() == [True]
    assert found.leaderboard["rank_high"].tolist() == [2, 2]


def test_a_metric_may_have_no_score() -> None:
    """If no metric has one, nothing can be compared."""
    true = [(user, item, min(grade, 3.0)) for user, item, grade in ratings(20)]
    both = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    with pytest.warns(rn.DataWarning), rejects("No model has a score for any user in recall@3"):
        rn.compare(both, metrics=["recall@3"], threshold=4)
    with pytest.warns(rn.DataWarning):
        found = rn.compare(both, metrics=["recall@3", "ndcg@3"], threshold=4)
    assert found.verdict.startswith("Nothing can be compared in recall@3 (rated items)")
    assert found.leaderboards["recall@3"]["mean"].isna().all()
    assert found.leaderboards["ndcg@3"]["mean"].notna().all()


def test_reports_must_share_a_metric_and_keep_their_choices() -> None:
    """Metrics that only some have are left out, with a remark; options have no effect on them."""
    names = {"good": ["ndcg@3", "rmse"], "fair": ["ndcg@3"], "poor": ["rmse"]}
    a, b, c = (rn.evaluate(MODELS[name], metrics=metrics) for name, metrics in names.items())
    two = {"a": a, "b": b}
    found = rn.compare(two)
    assert found.metrics == ["ndcg@3"]
    assert "Metrics that only some models have are left out: rmse." in found.remarks
    message = r"share no metric \(a: ndcg@3, rmse; b: ndcg@3; c: rmse\)"
    assert_rejected(message, rn.compare, {**two, "c": c})
    message = "b: This report has no metric 'rmse'; it has ndcg@3"
    assert_rejected(message, rn.compare, two, metrics=["rmse"])
    message = "'a' is evaluated already, so threshold= would have no effect"
    assert_rejected(message, rn.compare, {"a": a, "b": MODELS["fair"]}, threshold=4)


FEW_DRAWS = {"test": "randomisation", "correction": "holm", "draws": 58}
CHANCE = {"metrics": ["rmse"], "baseline": "chance"}
OPTIONS: dict[str, dict[str, Any]] = {
    "baseline='god' is not a model. Did you mean 'good'": {"baseline": "god"},
    r"baseline=\['good'\] is not a model": {"baseline": ["good"]},
    "users must be one of 'all', 'common', not 'some'": {"users": "some"},
    "k must be a whole number": {"k": "3"},
    "margin must be a number above 0": {"margin": -0.1},
    "correction must be one of.*Did you mean 'max-T'": {"correction": "maxT"},
    "alpha": {"alpha": 1.5},
    "Chance cannot.*: no metric of 'good' depends on the order .rmse.": CHANCE,
    r"no corrected p can reach 0.05.*draws=59 or more": FEW_DRAWS,
}


@pytest.mark.parametrize("message", OPTIONS)
def test_options_out_of_range_raise(message: str) -> None:
    """With what to pass instead."""
    assert_rejected(message, rn.compare, MODELS, **OPTIONS[message])


def test_errors_and_warnings_name_the_model() -> None:
    """A warning does not if it is of all models."""
    with rejects("good: No metric is named 'ndgc@10'", rn.UnknownMetricError):
        rn.compare(MODELS, metrics=["ndgc@10"])
    tied = [(user, item, round(est / 3), true) for user, item, est, true in MODELS["poor"]]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare({"good": SAME, "poor": tied})
    assert [str(one.message).startswith("poor: Ties affect") for one in caught] == [True]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare(MODELS, threshold=9)
    assert [str(one.message)[:10] for one in caught] == ["threshold="]


def test_methods_of_a_comparison_check_their_arguments(tmp_path: Path) -> None:
    """Models, metrics, numbers, users; saved reports have no lists."""
    paths = {name: tmp_path / f"{name}.json" for name in MODELS}
    for name, path in paths.items():
        rn.evaluate(MODELS[name]).save(path)
    found, saved = rn.compare(MODELS, metrics=["ndcg@3"]), rn.compare(paths)
    move, prove = found.movers, found.not_worse
    assert_rejected("There is no model 'god'. Did you mean 'good'", move, 3, a="god")
    assert_rejected("n must be a whole number of at least 1, not 0", move, 0)
    assert_rejected("has no metric 'rr'; it has ndcg@3", move, 3, metric="rr")
    assert_rejected("'good' is compared with itself. Pass another", move, 3, a="good", b="good")
    assert_rejected("no such user|no user", move(3).explain, "unknown", whole=False)
    assert_rejected("margin must be a number above 0", prove, "poor")
    assert_rejected("'good' is compared with itself", prove, "good", margin=0.1)
    assert_rejected("There are no segments of users' scores. Compare", lambda: found.segments)
    assert_rejected("'good' has no lists", saved.overlap, 3)
    assert_rejected("'good' has no lists", saved.movers(1).explain, "u0000")
