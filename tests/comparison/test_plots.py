"""The plots of a comparison show its numbers, also in words; parameters give colours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.comparison import ModelScores, flatten_parameters
from recsys_ndcg.datasets import sample_ratings
from tests.comparison.models import models
from tests.errors import assert_rejected

pytest.importorskip("altair")

GIVEN = {"n": 2, "reg": 0.02, "kind": "a", "on": True, "off": None}


METRICS = ["ndcg@3", "rmse"]
COMPARISON = rn.compare(models(), metrics=METRICS)


def described(comparison: rn.Comparison, kind: str, **options: str) -> str:
    """Return the text alternative of a plot."""
    return str(comparison.plot(kind, **options).to_dict()["description"])


def test_intervals_by_activity_stay_in_the_bounds() -> None:
    """Of three users, Student's would not."""
    page = rn.evaluate(models(3)["good"], metrics="ndcg@3")._page()
    (section,) = [one for one in page.sections if one.name == "activity"]
    charts: Any = section.parts[0]
    for spec in charts.specs:
        rows = [row for table in spec["datasets"].values() for row in table if "high" in row]
        assert rows
        assert all(0 <= row["low"] <= row["high"] <= 1 for row in rows)


@pytest.mark.parametrize("how", [{}, {"correction": "holm"}, {"family": "baseline"}])
def test_plots_draw_the_intervals_that_the_tests_compare(how: Any) -> None:
    """Of differences, in each plot; none if the corrected test has none."""
    found = rn.compare(models(), metrics=METRICS, **how)
    row = found.pairwise.query("a == 'good' and b == 'poor' and metric == 'ndcg@3'").iloc[0]
    ends = [row["ci_low"], row["ci_high"]]
    text = described(found, "differences", a="poor", b="good")
    assert ("interval" in text) == ("correction" not in how)
    if "correction" in how:
        assert "lines:" not in str(found.plot("trade-off").to_dict()["title"])
        return
    assert "interval {:.4f} to {:.4f}".format(*ends) in text
    spec = found.plot("trade-off").to_dict()
    rows = [one for rows in spec["datasets"].values() for one in rows if one.get("model") == "poor"]
    mean = found.leaderboard.loc["good", "mean"]  # the best, and the baseline
    (low,) = {one["x_low"] for one in rows if "x_low" in one}
    assert low == pytest.approx(mean - ends[1])
    assert "lines: intervals of the difference from good" in str(spec["title"])


def test_each_plot_describes_its_numbers() -> None:
    """As its text alternative."""
    score, error = (COMPARISON.leaderboards[name]["mean"]["good"] for name in METRICS)
    rows = COMPARISON.pairwise.query("a == 'good' and b == 'poor'").set_index("metric")
    both = {"a": "poor", "b": "good"}
    text = described(COMPARISON, "tiers")
    assert f"{score:.4f}" in text
    assert f"chance {COMPARISON.leaderboard['chance']['good']:.4f}" in text
    assert "the best first: good" in described(COMPARISON, "tiers", metric="rmse")
    text = described(COMPARISON, "differences", **both)
    assert f"good better: {rows['wins']['ndcg@3']} users" in text
    assert f"mean {rows['difference']['ndcg@3']:.4f}" in text
    assert "good" in described(COMPARISON, "activity")
    text = described(COMPARISON, "scatter", metric="rmse", **both)
    assert text.startswith("rmse of good against poor, of 60 users: mean ")
    assert f"below it: good better: {rows['wins']['rmse']} users" in text
    assert "lower is better" in text
    text = described(COMPARISON, "trade-off")
    assert text.startswith("Trade-off of ndcg@3 (higher is better) and rmse (lower is better): ")
    assert f"good {score:.4f} and {error:.4f}" in text
    text = described(COMPARISON, "trade-off", metric="rmse")
    assert f"good {error:.4f} and {score:.4f}" in text


def test_unusable_options_of_a_plot_raise() -> None:
    """Kinds, metrics, models, parameters."""
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("kind must be one of 'tiers', .*, 'trade-off', not 'tier'", "tier", {}),
        ("has no metric 'rr'", "tiers", {"metric": "rr"}),
        ("There is no model 'x'", "differences", {"a": "x"}),
        ("has no metric 'rr'", "trade-off", {"against": "rr"}),
        ("two metrics, not 'rmse' twice", "trade-off", {"metric": "rmse", "against": "rmse"}),
        ("No model has a parameter 'reg'. Only models of a search", "trade-off", {"colour": "reg"}),
    ]
    for message, kind, options in cases:
        assert_rejected(message, COMPARISON.plot, kind, **options)


def test_a_plot_needs_scores() -> None:
    """Of both models, or in both metrics."""
    one = {"ann": [(1, 1), (2, 2)], "bob": [(1, 2), (2, 1)]}
    other = {user: [(5 - est, true) for est, true in rows] for user, rows in one.items()}
    with pytest.warns(rn.DataWarning, match="nothing is relevant"):
        found = rn.compare({"a": one, "b": other}, metrics=["recall@10", "rmse"], threshold=4)
    assert_rejected("No user has a score in recall@10", found.plot, "scatter")
    assert_rejected("No model has a score in both recall@10 and rmse", found.plot, "trade-off")
    plot = rn.compare(models()).plot
    assert_rejected("two metrics, and there is only ndcg@10", plot, "trade-off")


def test_a_catalogues_baselines_are_rules() -> None:
    """If a report has them; its lists give the overlap, down to the last rank kept."""
    samples = pytest.importorskip("tests.surprise.samples")
    plugin = pytest.importorskip("recsys_ndcg.surprise")
    data = samples.dataset(sample_ratings()[["user", "item", "rating"]].head(3000))
    trainset, testset = next(plugin.KFold(4, random_state=0).split(data))
    reports = {
        type(algo).__name__: plugin.evaluate_catalogue(algo.fit(trainset), trainset, testset)
        for algo in (plugin.MostPopular(), plugin.BaselineOnly(verbose=False))
    }
    found = rn.compare(reports)
    popular = float(reports["BaselineOnly"].baselines["ndcg@10"]["MostPopular"])
    assert f"MostPopular {popular:.4f}" in described(found, "tiers")
    overlap = found.overlap(5, per_user=True)["MostPopular", "BaselineOnly", "jaccard"]
    for user in reports["BaselineOnly"].users[:20].tolist():
        one, other = (set(each.explain(user, 5)["item"].dropna()) for each in reports.values())
        assert np.isclose(overlap[user], len(one & other) / len(one | other))
    assert_rejected("keeps the first 10 ranks", found.overlap, 50)


def with_parameters(**parameters: Any) -> ModelScores:
    """Return a model with such parameters."""
    report = rn.evaluate(models()["good"], metrics=METRICS)
    return replace(ModelScores.from_audit(report._data.audit, report=report), parameters=parameters)


class Search:
    """Models with parameters, as a fitted search gives them."""

    def __init__(self, *given: dict[str, Any]) -> None:
        self.given = given

    @property
    def model_scores(self) -> dict[str, ModelScores]:
        """By place."""
        return {f"m{place}": with_parameters(**one) for place, one in enumerate(self.given)}


def test_parameters_become_numbers_and_texts() -> None:
    """Numbers of numpy, mappings, other objects, and control characters."""
    found = flatten_parameters(
        {"a": np.int64(2), "b": np.float32(0.5), "c": {"d": {"e": "f"}}, 3: float("nan")}
        | {"g": [1, 2], "h\x1b": "x\u202ey", "i": 2**70, "j": np.bool_(0)}
    )
    assert found == {"a": 2, "b": 0.5, "c.d.e": "f", "3": "nan", "g": "[1, 2]"} | {
        "h\\x1b": "x\\u202ey", "i": str(2**70), "j": False,
    }  # fmt: skip
    assert {type(one) for one in found.values()} == {int, float, str, bool}


def test_parameters_stay_with_a_model(tmp_path: Path) -> None:
    """Through whatever is done to it, also in a file; of several runs, those that all share."""
    one = with_parameters(**GIVEN)
    runs = [with_parameters(**GIVEN, seed=seed) for seed in range(3)]
    parts = [one.select_metrics([name]) for name in METRICS]
    averages = [ModelScores.average_runs(some) for some in ([one], runs)]
    for same in (one.take(np.array([1, 3])), *parts, ModelScores.join_metrics(parts), *averages):
        assert same.parameters == GIVEN
    assert ModelScores.average_runs([*runs, with_parameters()]).parameters == {}
    given = GIVEN | {"of\xa0all": "\U0001f469\u200d\U0001f52c"}
    rn.compare(Search(given, {})).save(tmp_path / "c.json")
    again = rn.Comparison.load(tmp_path / "c.json")
    assert [one.parameters for one in again._data.model_scores.values()] == [given, {}]


def test_a_trade_off_is_coloured_by_the_parameter_with_most_values() -> None:
    """Unless another is chosen; what is the same in all models has no legend."""

    def title(found: rn.Comparison, **options: Any) -> str | None:
        spec = found.plot("trade-off", **options).to_dict()
        legend = spec["layer"][-5]["encoding"]["color"].get("legend")
        return None if legend is None else str(legend["title"])

    search = Search({"n": 1, "reg": 1}, {"n": 1, "reg": 2}, {"n": 2, "reg": 3})
    found = rn.compare(search, metrics=METRICS)
    assert (title(found), title(found, colour="n")) == ("reg", "n")
    assert_rejected("No model has a parameter 'rig'. .*reg", title, found, colour="rig")
    found = rn.compare(Search({"n": 1}, {"n": 1}), metrics=METRICS)
    assert (title(found), title(found, colour="n")) == (None, "n")


def test_a_search_gives_its_models_their_parameters() -> None:
    """Also those that its names leave out, being the same for all."""
    samples = pytest.importorskip("tests.surprise.samples")
    plugin = pytest.importorskip("recsys_ndcg.surprise")
    grid = {"bsl_options": {"method": ["als"], "n_epochs": [1, 2]}, "verbose": [False]}
    how = {"measures": ["ndcg@5"], "cv": 2, "keep_per_user": True}
    search = samples.fit_search(plugin.GridSearchCV, plugin.BaselineOnly, grid, **how)
    same = {"bsl_options.method": "als", "verbose": False}
    found = [one.parameters for one in search.model_scores.values()]
    assert found == [{**same, "bsl_options.n_epochs": epochs} for epochs in (1, 2)]
