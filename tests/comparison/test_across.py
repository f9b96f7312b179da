"""Several data sets: the numbers of each comparison, their mean, and what cannot be combined."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.comparison import ModelScores
from recsys_ndcg.scoring import Signature
from recsys_ndcg.significance import combine_effects
from tests.comparison.models import models, ratings
from tests.errors import assert_rejected
from tests.findings.data_set_claims import check_data_sets

METRICS = ["ndcg@5", "rmse"]


def compared(users: int, seed: int, metrics: Any = METRICS, **noise: float) -> rn.Comparison:
    """Return a comparison on a data set of its own."""
    noise = noise or {"good": 0.8, "fair": 2.0, "poor": 6.0}
    return rn.compare(models(users, seed, **noise), metrics=metrics)


SMALL, LARGE, THIRD = compared(60, 0), compared(150, 1), compared(90, 2)
THREE = rn.across({"small": SMALL, "large": LARGE, "third": THIRD})


@pytest.mark.parametrize("metric", METRICS)
def test_differences_are_the_comparisons_own(metric: str) -> None:
    """With intervals of the pair alone, and the sign of the metric."""
    found = rn.across({"small": SMALL, "large": LARGE}, metric=metric)
    for row in found.differences.to_dict("records"):
        comparison = {"small": SMALL, "large": LARGE}[row["dataset"]]
        scores = comparison.per_user[metric]
        apart = (scores[row["a"]] - scores[row["b"]]).dropna()
        assert row["users"] == len(apart)
        assert row["difference"] == pytest.approx(apart.mean(), rel=1e-12)
        half = row["ci_high"] - row["difference"]
        t = stats.t.isf(0.025, len(apart) - 1)
        assert half == pytest.approx(t * apart.std() / len(apart) ** 0.5, rel=1e-9)
        d_z = apart.mean() / apart.std()
        assert row["d_z"] == pytest.approx(d_z, rel=1e-9)
        error = math.sqrt(1 / len(apart) + d_z**2 / (2 * len(apart) - 2))
        assert row["d_z_high"] - row["d_z"] == pytest.approx(t * error, rel=1e-9)
        means = comparison.leaderboards[metric]["mean"]
        ahead = (means[row["a"]] < means[row["b"]]) == (metric == "rmse")
        assert row["better"] == (row["a"] if ahead else row["b"])  # these differ significantly


def test_pairs_count_wins_and_have_the_mean_of_d_z() -> None:
    """And p-values by Holm's method, for the number of pairs."""
    for row in THREE.pairs.to_dict("records"):
        rows = THREE.differences.query("a == @row['a'] and b == @row['b']")
        assert rows["dataset"].tolist() == ["small", "large", "third"]
        d_z, users = rows["d_z"].to_numpy(), rows["users"].to_numpy()
        expected = combine_effects(d_z, 1 / users + d_z**2 / (2 * users - 2))
        names = ["mean_d_z", "mean_d_z_low", "mean_d_z_high", "prediction_low", "prediction_high"]
        assert [row[name] for name in [*names, "tau", "p"]] == pytest.approx(list(expected))
        wins = [(rows["better"] == row[name]).sum() for name in ("a", "b")]
        assert [row["wins_a"], row["wins_b"], row["tied"]] == [*wins, 3 - sum(wins)]
    table = THREE.pairs.sort_values("p")
    by_holm = np.maximum.accumulate(table["p"] * [3, 2, 1])
    assert table["p_corrected"].tolist() == pytest.approx(by_holm.tolist())
    kinds = ["winners_in_all_data_sets", "winners_on_average", "few_data_sets"]
    assert check_data_sets(THREE) == THREE.findings["kind"].tolist() == kinds
    assert THREE.findings["models"].tolist() == [(), ("good", "fair", "poor"), ()]


def test_the_order_of_the_models_does_not_matter() -> None:
    """A pair has the order of the first data set, whatever the order of the others."""
    turned = rn.compare(dict(reversed(models(150, 1).items())), metrics=METRICS)
    found = rn.across({"small": SMALL, "large": turned, "third": THIRD})
    for mine, other in ((found.differences, THREE.differences), (found.pairs, THREE.pairs)):
        for column in other:
            if other[column].dtype == float:
                np.testing.assert_allclose(mine[column], other[column], rtol=1e-12, atol=1e-12)
            else:
                assert mine[column].tolist() == other[column].tolist()


def test_lower_is_better_for_errors() -> None:
    """The verdict names the model with the smaller error."""
    found = rn.across({f"d{n}": compared(80, n, a=1.0, b=2.0) for n in range(5)}, metric="rmse")
    row = found.pairs.iloc[0]
    assert (row["wins_a"], row["wins_b"], row["tied"]) == (5, 0, 0)
    assert row["mean_d_z"] < 0
    kinds = ["wins_by_data_set", "winner_on_average", "rough_prediction_intervals"]
    assert check_data_sets(found) == kinds


def test_a_pair_may_be_better_here_and_worse_there() -> None:
    """The verdict then says what is known."""
    found = rn.across({"x": compared(90, 0, a=0.5, b=4.0), "y": compared(90, 9, b=0.5, a=4.0)})
    row = found.pairs.iloc[0]
    assert (row["wins_a"], row["wins_b"], row["tied"]) == (1, 1, 0)
    assert "no_winner_on_average" in check_data_sets(found)
    assert math.isnan(row["prediction_low"])


def test_few_data_sets_are_few_observations() -> None:
    """One, two, three and four have a remark; of four to ten, the prediction intervals have one."""
    parts = {f"d{n}": compared(30, n, a=1.0, b=1.5) for n in range(11)}
    few = ["one_data_set", *["few_data_sets"] * 3, *[""] * 6]
    for count, kind in enumerate(few, start=1):
        found = rn.across(dict([*parts.items()][:count]))
        rough = "rough_prediction_intervals" if count > 3 else ""
        assert [one.kind for one in found._find_remarks()] == [*filter(None, [kind, rough])]
        assert ("prediction" in str(found)) == (count > 2)
    assert rn.across(parts).remarks == []


def test_one_data_set_has_no_mean() -> None:
    """The reason says why; the verdict is the comparison's."""
    found = rn.across({"small": SMALL})
    row = found.pairs.iloc[0]
    assert math.isnan(row["mean_d_z"])
    assert math.isnan(row["p_corrected"])
    assert row["reason"] == "a mean over data sets needs two with a d_z"
    assert found.verdict == SMALL.verdict
    json.dumps(found.to_dict(), allow_nan=False)


def test_users_who_never_differ_give_no_d_z() -> None:
    """The data set is counted as tied, and left out of the mean."""
    data = models(40, 5, a=1.0)
    same = rn.compare({"a": data["a"], "b": list(data["a"])}, metrics=["ndcg@5"])
    found = rn.across({"x": compared(60, 0, a=1.0, b=2.0), "y": same})
    second = found.differences.iloc[1]
    assert (found.differences["better"][0], second["better"]) == ("a", None)
    assert second["difference"] == 0
    assert np.isnan([second["ci_low"], second["ci_high"], second["d_z"]]).all()
    row = found.pairs.iloc[0]
    assert (row["datasets"], row["tied"] >= 1, math.isnan(row["mean_d_z"])) == (2, True, True)
    kinds = ["wins_by_data_set", "few_data_sets", "no_mean_over_data_sets"]
    assert check_data_sets(found) == kinds


def test_models_and_metrics_must_be_shared(tmp_path: Path) -> None:
    """Models that are not are left out, with a remark; files are read."""
    more = compared(70, 3, good=0.8, fair=2.0, other=3.0)
    more.save(tmp_path / "more.json")
    found = rn.across({"small": SMALL, "more": tmp_path / "more.json"})
    assert found.models == ["good", "fair"]
    assert "left_out_models" in check_data_sets(found)
    (models_left_out,) = found.findings.query("kind == 'left_out_models'")["models"]
    assert models_left_out == ("poor", "other")
    alone = compared(70, 3, good=0.8, x=2.0)
    assert_rejected("fewer than two models in common", rn.across, {"s": SMALL, "x": alone})
    rated = compared(50, 4, ["rmse", "ndcg@5"])
    assert rn.across({"small": SMALL, "x": rated}).metric == "ndcg@5"
    assert rn.across({"small": SMALL, "x": rated}, metric="NDCG@5").metric == "ndcg@5"
    message = "The comparison on 'small' has no metric 'rr'; it has ndcg@5, rmse"
    assert_rejected(message, rn.across, {"small": SMALL}, metric="rr")
    other = compared(50, 4, ["ndcg@2"])
    assert_rejected("share no metric", rn.across, {"small": SMALL, "other": other})


def test_users_without_a_list_are_counted_in_each_data_set() -> None:
    """Three data sets are named, and the number of the others."""
    parts = {}
    for count in range(20, 25):
        labels = pd.DataFrame(ratings(count, count), columns=["user", "item", "true"])
        results = labels.rename(columns={"true": "estimated"})
        made = {"all": results, "few": results[results["user"] >= "u0005"]}
        models = {name: {"labels": labels, "results": table} for name, table in made.items()}
        parts[f"d{count}"] = rn.compare(models, metrics=["ndcg@5"])
    found = rn.across(parts)
    table = found.findings.query("kind == 'missing_lists'")
    assert check_data_sets(found).count("missing_lists") == len(table) == 5
    assert [one["missing"] for one in table["numbers"]] == [5] * 5
    assert found.remarks[0].startswith("d20: 5 of 20 users have no list from few")
    assert found.remarks[3] == "… and the same on 2 more data sets."


def test_unusable_input_is_rejected() -> None:
    """Names, values, levels, and the same data twice."""
    assert_rejected("by the names of their data sets", rn.across, [SMALL, LARGE])
    assert_rejected("by the names of their data sets", rn.across, {})
    assert_rejected("must be text, not 7", rn.across, {7: SMALL})
    assert_rejected("'x' must be a comparison", rn.across, {"x": 5})
    assert_rejected("alpha", rn.across, {"x": SMALL}, alpha=2)
    again = compared(60, 0)
    assert_rejected("'x' and 'y' are of the same users", rn.across, {"x": SMALL, "y": again})


def resigned(comparison: rn.Comparison, **texts: str) -> rn.Comparison:
    """Return a comparison with other fields in its signatures."""
    scores: dict[str, ModelScores] = {}
    for name, one in comparison._data.model_scores.items():
        changed = {
            metric: Signature(re.sub(r"(\w+):[^|]*", lambda part: _change(part, texts), text))
            for metric, text in one.signatures.items()
        }
        scores[name] = replace(one, signatures=changed)
    return rn.Comparison(replace(comparison._data, model_scores=scores))


def _change(part: re.Match[str], texts: dict[str, str]) -> str:
    return f"{part[1]}:{texts[part[1]]}" if part[1] in texts else part[0]


def test_the_metric_must_be_computed_in_the_same_way() -> None:
    """Another gain raises an error; another scale or version is a remark."""
    other = rn.compare(models(70, 3), metrics=METRICS, convention=rn.Convention(gain="linear"))
    message = (
        "ndcg@5 was computed in different ways: gain is 'exponential' for 'small' and 'linear'"
    )
    assert_rejected(message, rn.across, {"small": SMALL, "x": other})
    assert rn.across({"small": SMALL, "x": other}, metric="rmse").models == SMALL.models
    assert_rejected("protocol", rn.across, {"s": SMALL, "x": resigned(LARGE, protocol="supplied")})
    found = rn.across({"small": SMALL, "x": resigned(LARGE, version="0.0.1")})
    assert check_data_sets(found)[-1] == "different_choice"
    binary = [
        rn.compare(models(n, n), metrics=["precision@3"], threshold=threshold)
        for n, threshold in ((50, 4), (80, 3))
    ]
    found = rn.across(dict(zip("xy", binary, strict=True)))
    assert "threshold is 4.0 for x and 3.0 for y." in found.remarks


@pytest.mark.parametrize("how", [{"alpha": 0.01}, {"family": "baseline"}])
def test_different_tests_are_a_remark(how: dict[str, Any]) -> None:
    """Wins do not mean the same."""
    other = rn.compare(models(70, 3), metrics=METRICS, **how)
    assert "different_tests" in check_data_sets(rn.across({"small": SMALL, "x": other}))


def test_intervals_of_differences_in_the_unit_interval_end_at_1() -> None:
    """Two users are not enough for ±1.9."""
    few = {"good": {1: [(2, 1), (1, 0)], 2: [(2, 1), (1, 0)]}}
    few["bad"] = {1: [(1, 1), (2, 0)], 2: [(2, 1), (1, 0)]}
    small = rn.compare(few, metrics="precision@1", threshold=1, by={1: "all", 2: "all"})
    large = rn.compare(models(40, good=1.0, bad=6.0), metrics="precision@1", threshold=4)
    row = rn.across({"few": small, "many": large}).differences.iloc[0]
    assert row[["difference", "ci_low", "ci_high"]].tolist() == [0.5, -1, 1]
    row = small.segments.xs("bad", level="model").iloc[0]
    assert row[["difference", "difference_low", "difference_high"]].tolist() == [-0.5, -1, 1]


def test_it_is_printed_like_a_comparison(tmp_path: Path) -> None:
    """As text, Markdown, LaTeX, HTML and plain values."""
    pytest.importorskip("jinja2")
    first, *_ = str(THREE).splitlines()
    assert first == (
        "3 models, 3 data sets (small, large, third), random effects, Holm over 3 pairs, alpha 0.05"
    )
    assert THREE.verdict in str(THREE).replace("\n", " ")
    assert THREE.to_markdown().count("|:-----|") >= 1
    assert THREE.to_latex().count("\\toprule") == 2
    page = THREE.to_html(tmp_path / "page.html")
    assert page.count('class="drawing"') == 6
    plain = THREE.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert len(plain["differences"]) == len(THREE.to_frame()) == 9
    table = THREE.differences
    table["a"] = "changed"
    assert THREE.differences["a"].tolist() == ["good"] * 6 + ["fair"] * 3


def test_the_forest_plot_shows_the_numbers() -> None:
    """Of each data set, and their mean; also in words."""
    pytest.importorskip("altair")
    spec = THREE.plot(a="poor", b="good").to_dict()
    row = THREE.pairs.query("a == 'good' and b == 'poor'").iloc[0]
    for low, high in (
        one["layer"][0]["encoding"]["x"]["scale"]["domain"] for one in spec["concat"]
    ):
        assert low <= 0 < high
    text = spec["description"]
    for one in THREE.differences.query("a == 'good' and b == 'poor'").to_dict("records"):
        pairs = THREE.comparisons[one["dataset"]].pairwise.query("a == 'good' and b == 'poor'")
        low = pairs["ci_low"].iloc[0]  # of the data set's own test, which decides what is filled
        assert f"{one['dataset']} {one['difference']:.4f} (95 % interval {low:.4f}" in text
        assert f"{one['dataset']} {one['d_z']:.4f}" in text
    assert f"mean over data sets {row['mean_d_z']:.4f}" in text
    assert "good is better to the right of 0." in text
    tables = models(60, 0, good=0.8, poor=6.0)
    holm = rn.across({"small": rn.compare(tables, metrics=METRICS, correction="holm")}, alpha=0.1)
    assert "interval" not in holm.plot().to_dict()["description"].partition(", standardised")[0]
    first = THREE.plot().to_dict()["description"]
    best = THREE.pairs.sort_values("p").iloc[0]
    assert first.startswith(f"{best['a']} minus {best['b']}")
    long = "a data set with a very long name, of "
    shown = rn.across({long + "today": SMALL, long + "tomorrow": LARGE}).plot().to_dict()
    assert "a data set with a very long nam… (2) " in shown["description"]
    assert long not in json.dumps(shown)
    error = rn.across({"small": SMALL, "large": LARGE}, metric="rmse").plot().to_dict()
    assert "to the left of 0." in error["description"]
    assert "mean over" not in rn.across({"small": SMALL}).plot().to_dict()["description"]
    assert_rejected("Pass both a= and b=", THREE.plot, a="good")
    assert_rejected("There is no model 'bad'", THREE.plot, a="good", b="bad")
    assert_rejected("No data set compares 'good' with 'good'", THREE.plot, a="good", b="good")
