"""What cannot be compared is refused, with what to do; what is deceptive is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.comparison.models import Rows, model, models, ratings
from tests.errors import rejects

if TYPE_CHECKING:
    from pathlib import Path


def _report(rows: Rows, **choices: Any) -> rn.Report:
    return rn.evaluate(rows, **{"metrics": ["ndcg@3"], **choices})


def test_other_truth_is_refused() -> None:
    """One grade of one user is enough."""
    both = models()
    user, item, estimated, true = both["fair"][7]
    both["fair"][7] = (user, item, estimated, 6 - true if true != 3 else 1.0)
    with rejects(f"'good' and 'fair' were measured on different ratings.*1 of 60.*user '{user}'"):
        rn.compare(both)


def test_other_items_are_other_ratings() -> None:
    """With the same grades."""
    one = [("ann", "a", 2.0, 4.0), ("ann", "b", 1.0, 2.0)]
    two = [("ann", "a", 2.0, 4.0), ("ann", "c", 1.0, 2.0)]
    with rejects("different ratings.*Let all models predict the same test ratings"):
        rn.compare({"one": one, "two": two})


def test_other_users_are_refused_until_the_common_ones_are_asked_for() -> None:
    """And then they are counted, never dropped silently."""
    both = models()
    both["fair"] = [row for row in both["fair"] if row[0] >= "u0010"]
    with rejects(r"good has 60, fair has 50.*user 'u0000' of 'good'.*users='common'"):
        rn.compare(both)
    found = rn.compare(both, users="common")
    assert len(found.users) == 50
    assert any("left out: 10 of good, 10 of poor" in line for line in found.remarks)
    alone = [row for row in models()["good"] if row[0] >= "u0010"]
    assert found.leaderboard.loc["good", "mean"] == rn.evaluate(alone).mean["ndcg@10"]
    with rejects("No user is in all of"):
        rn.compare(
            {"a": models()["good"], "b": [(f"x{u}", *rest) for u, *rest in models()["fair"]]},
            users="common",
        )
    with rejects("users must be one of 'all', 'common', not 'some'"):
        rn.compare(models(), users="some")


def test_ids_of_another_type_are_told() -> None:
    """1 is not '1'."""
    one = [(user, "a", 2.0, 3.0) for user in range(3)] + [
        (user, "b", 1.0, 2.0) for user in range(3)
    ]
    two = [(str(user), *rest) for user, *rest in one]
    with rejects("'one' have ids of type number.*'two' of type text"):
        rn.compare({"one": one, "two": two})


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        (
            {"convention": rn.Convention(gain="linear")},
            "gain is 'exponential' for 'a' and 'linear'",
        ),
        ({"convention": rn.Convention(ties="best")}, "ties is 'expected' for 'a' and 'best'"),
    ],
)
def test_numbers_computed_in_different_ways_are_refused(choices: Any, told: str) -> None:
    """Where the metric reads the choice."""
    both = models()
    one, two = _report(both["good"]), _report(both["fair"], **choices)
    with rejects(f"ndcg@3 was computed in different ways: {told}.*Measure both in the same way"):
        rn.compare({"a": one, "b": two})


def test_choices_that_a_metric_does_not_read_do_not_matter() -> None:
    """Precision has no gain."""
    how: dict[str, Any] = {"metrics": ["precision@3"], "threshold": 4}
    both = models()
    one = rn.evaluate(both["good"], **how)
    two = rn.evaluate(both["poor"], convention=rn.Convention(gain="linear"), **how)
    assert rn.compare({"a": one, "b": two}).leaderboard.loc["a", "tier"] == 1
    other = rn.evaluate(both["poor"], metrics=["precision@3"], threshold=3)
    with rejects("threshold is 4.0 for 'a' and 3.0 for 'b'"):
        rn.compare({"a": one, "b": other})


def test_other_protocols_are_told_in_words() -> None:
    """Ratings against supplied lists."""
    rows = models()["good"]
    labels = [(user, item, true) for user, item, _, true in rows]
    results = [(user, item, estimated) for user, item, estimated, _ in rows]
    supplied = rn.RankedLists.from_labels(
        *(
            dict(zip(names, map(list, zip(*table, strict=True)), strict=True))
            for names, table in (
                (("user", "item", "true"), labels),
                (("user", "item", "estimated"), results),
            )
        )
    )
    with rejects("'a' ranks each user's own test ratings, 'b' scores lists that were supplied"):
        rn.compare({"a": rows, "b": supplied})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "at least two models. There is none"),
        ({"a": [("ann", "x", 1.0, 2.0), ("ann", "y", 2.0, 1.0)]}, "There is only 'a'"),
        ([1, 2], "Give the models by name.*not \\[1, 2\\]"),
        ({1: [], 2: []}, "name of a model is text, not 1"),
        ({" ": [], "b": []}, "name of a model is text, not ' '"),
        ({"\udcff": [], "b": []}, r"The name '\\udcff' of a model has a lone surrogate"),
        ("file.csv", "Give the models by name"),
    ],
)
def test_what_are_no_models_is_told(wrong: Any, told: str) -> None:
    """None, one, without names."""
    with rejects(told):
        rn.compare(wrong)


def test_one_model_under_two_names_is_refused(tmp_path: Path) -> None:
    """An object, a file."""
    rows = models()["good"]
    with rejects("'a' and 'b' are the same object"):
        rn.compare({"a": rows, "b": rows})
    report = rn.evaluate(rows)
    report.save(tmp_path / "one.json")
    with rejects("'a' and 'b' are the same file"):
        rn.compare({"a": tmp_path / "one.json", "b": str(tmp_path / "." / "one.json")})


def test_identical_models_are_told() -> None:
    """All differences are 0: p is 1, and the sentence says it."""
    rows = models()["good"]
    found = rn.compare({"a": rows, "b": list(rows)})
    assert found.pairwise[["p", "p_corrected"]].to_numpy().tolist() == [[1.0, 1.0]]
    assert found.pairwise[["difference", "ci_low", "ci_high"]].to_numpy().tolist() == [[0, 0, 0]]
    assert found.verdict == (
        "a and b score the same in ndcg@10 for each of 60 users. Are they two models?"
    )
    assert "a and b score the same for every user." in found.remarks
    assert found.leaderboard["tier"].tolist() == [1, 1]


def test_one_user_and_two_users() -> None:
    """One is no evidence, two are hardly any; nothing falls over."""
    true = ratings(2)
    two = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    found = rn.compare(two)
    assert np.isfinite(found.pairwise["p"]).all()
    assert any(line.startswith("2 users in ndcg@10: so few") for line in found.remarks)
    one = {name: [row for row in rows if row[0] == "u0000"] for name, rows in two.items()}
    alone = rn.compare(one)
    assert alone.pairwise["p"].isna().tolist() == [True]
    assert alone.verdict.startswith("Only 1 user can be compared in ndcg@10, and one user is no ")
    assert alone.leaderboard["rank_high"].tolist() == [2, 2]


def test_nobody_has_a_score() -> None:
    """All undefined, in all metrics; or in one of them."""
    true = [(user, item, min(grade, 3.0)) for user, item, grade in ratings(20)]
    both = {"a": model(true, 0.5, 1), "b": model(true, 3.0, 2)}
    with pytest.warns(rn.DataWarning), rejects("No model has a score for any user in recall@3"):
        rn.compare(both, metrics=["recall@3"], threshold=4)
    with pytest.warns(rn.DataWarning):
        found = rn.compare(both, metrics=["recall@3", "ndcg@3"], threshold=4)
    assert found.verdict.startswith("Nobody has a score of two models in recall@3")
    assert found.leaderboards["recall@3"]["mean"].isna().all()
    assert found.leaderboards["ndcg@3"]["mean"].notna().all()


def test_metrics_must_be_shared() -> None:
    """Those that only some have are left out, and said."""
    both = models()
    one = _report(both["good"], metrics=["ndcg@3", "rmse"])
    two = _report(both["fair"])
    found = rn.compare({"a": one, "b": two})
    assert found.metrics == ["ndcg@3"]
    assert "Only some models have rmse: left out." in found.remarks
    other = _report(both["poor"], metrics=["rmse"])
    with rejects(r"share no metric \(a: ndcg@3, rmse; b: ndcg@3; c: rmse\)"):
        rn.compare({"a": one, "b": two, "c": other})
    with rejects("b: It was not measured in rmse; it has ndcg@3"):
        rn.compare({"a": one, "b": two}, metrics=["rmse"])


def test_choices_come_too_late_for_a_report() -> None:
    """They would change nothing of it."""
    both = models()
    with rejects("'a' is measured already, so that threshold= would change nothing"):
        rn.compare({"a": _report(both["good"]), "b": both["fair"]}, threshold=4)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"baseline": "god"}, "baseline='god' is none of the models. Did you mean 'good'"),
        ({"margin": 0}, "margin must be a number above 0"),
        ({"margin": -0.1}, "margin must be a number above 0"),
        ({"margin": "wide"}, "margin must be a number above 0"),
        ({"test": "z"}, "test must be one of"),
        ({"correction": "maxT"}, "correction must be one of.*Did you mean 'max-T'"),
        ({"test": "wilcoxon", "correction": "max-T"}, "has no correction 'max-T'"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"draws": 0}, "draws"),
        ({"seed": -1}, "seed"),
        ({"metrics": ["rmse"], "baseline": "chance"}, "no chance level"),
    ],
)
def test_options_that_cannot_be_used_are_told(options: Any, told: str) -> None:
    """Each with what may stand there."""
    with rejects(told):
        rn.compare(models(), **options)


def test_an_error_says_of_which_model_it_is() -> None:
    """And a warning says so unless it is of all."""
    with rejects("good: No metric is named 'ndgc@10'", rn.UnknownMetricError):
        rn.compare(models(), metrics=["ndgc@10"])
    both = models()
    both["fair"][3] = (*both["fair"][3][:2], float("nan"), 3.0)
    with rejects("fair: .*NaN|fair: .*nan"):
        rn.compare(both)
    tied = [
        (user, item, round(estimated / 3), true) for user, item, estimated, true in both["poor"]
    ]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare({"good": both["good"], "poor": tied})
    assert [str(one.message).startswith("poor: Tied estimates") for one in caught] == [True]
    with pytest.warns(rn.DataWarning) as caught:
        rn.compare(models(), threshold=9)
    assert [str(one.message)[:10] for one in caught] == ["threshold="]


def test_what_is_asked_of_a_comparison_is_checked() -> None:
    """Models, metrics, numbers."""
    found = rn.compare(models(), metrics=["ndcg@3"])
    with rejects("There is no model 'god'. Did you mean 'good'"):
        found.movers(3, a="god")
    with rejects("n must be a whole number of at least 1, not 0"):
        found.movers(0)
    with rejects("has no metric 'rr'; it has ndcg@3"):
        found.movers(3, metric="rr")
    with rejects("margin must be a number above 0"):
        found.not_worse("poor")
    with rejects("'good' is compared with itself"):
        found.not_worse("good", margin=0.1)
    with rejects("There are no segments: compare"):
        _ = found.segments
    with rejects("no such user|no user", whole=False):
        found.movers(3).explain("nobody")


def test_lists_that_are_gone_are_told(tmp_path: Path) -> None:
    """A saved report has none."""
    both = models()
    for name in ("good", "poor"):
        _report(both[name]).save(tmp_path / f"{name}.json")
    found = rn.compare({name: tmp_path / f"{name}.json" for name in ("good", "poor")})
    with rejects("'good' has no lists"):
        found.overlap(3)
    with rejects("'good' has no lists"):
        found.movers(1).explain("u0000")


def test_what_looks_like_a_model_and_is_none_is_told(tmp_path: Path) -> None:
    """A saved comparison; what Surprise's own cross-validation gives."""
    both = models(users=20)
    rn.compare(both).save(tmp_path / "c.json")
    with rejects("c.json is a saved comparison, not a model", whole=False):
        rn.compare({"a": str(tmp_path / "c.json"), "b": both["poor"]})
    surprise = {"test_rmse": [0.9, 0.8], "fit_time": (1.0, 2.0), "test_time": (1.0, 1.0)}
    with rejects("a: This is what Surprise's own cross_validate returns", whole=False):
        rn.compare({"a": surprise, "b": both["poor"]})


def test_names_and_draws_are_checked() -> None:
    """Blanks do not tell models apart; too few draws find nothing."""
    both = models(users=20)
    with rejects("called alike but for blanks"):
        rn.compare({"a": both["good"], "a ": both["poor"]})
    with rejects("baseline=\\['good'\\] is none of the models"):
        rn.compare(both, baseline=["good"])  # type: ignore[arg-type]
    with rejects("no corrected p of 3 pairs can be as low as 0.05.*draws=59 or more"):
        rn.compare(both, test="randomisation", correction="holm", draws=58)
    with rejects("'good' is compared with itself: name two models"):
        rn.compare(both).movers(3, a="good", b="good")


def test_longer_lists_of_one_model_are_told() -> None:
    """What is in no list cannot score."""
    true = ratings(40)
    labels = {"user": [], "item": [], "true": []} | {
        name: list(column)
        for name, column in zip(("user", "item", "true"), zip(*true, strict=True), strict=True)
    }

    def listed(most: int) -> rn.RankedLists:
        rows: dict[str, list[Any]] = {"user": [], "item": [], "rank": []}
        places: dict[str, int] = {}
        for user, item, _ in true:
            places[user] = places.get(user, 0) + 1
            if places[user] <= most:
                for name, value in zip(rows, (user, item, places[user]), strict=True):
                    rows[name].append(value)
        return rn.RankedLists.from_labels(labels, rows)

    found = rn.compare({"long": listed(8), "short": listed(1)}, metrics=["ndcg@5"])
    assert any(line.startswith("The lists of long are longer than") for line in found.remarks)
