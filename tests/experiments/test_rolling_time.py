"""Experiments with RollingTime: scores by cut, trends, the cold start; the future never leaks."""

from __future__ import annotations

import json
import math
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.experiments import ExperimentComparison
from recsys_ndcg.folds import RollingTime
from recsys_ndcg.rendering import format_times
from recsys_ndcg.report import bin_training_counts
from recsys_ndcg.results import Trends
from recsys_ndcg.significance import fit_slopes
from tests.commands import run as run_command
from tests.errors import assert_rejected
from tests.experiments.made import item_means, models, ratings, run
from tests.findings.trend_claims import check_trends
from tests.pages import page_of, text_of

pytestmark = pytest.mark.filterwarnings("ignore:.*ranked as unknown users:recsys_ndcg.DataWarning")
N_CUTS = 4
NAMES = ["SVD", "biases", "top"]
METRICS = ["ndcg@5", "rmse", "recall@5:catalogue"]
HOW: dict[str, Any] = {"metrics": METRICS, "threshold": 4}


@cache
def rolled() -> ExperimentComparison:
    """Return an experiment with cuts."""
    return run(models(*NAMES), splits=RollingTime(N_CUTS), **HOW)


@cache
def at_each_cut() -> list[tuple[float, float, ExperimentComparison]]:
    """Return the start and the end of each window, and an experiment with that cut alone."""
    times = sorted(ratings()["timestamp"])
    starts = [times[len(times) * part // (N_CUTS + 1)] for part in range(1, N_CUTS + 1)]
    windows = list(zip(starts, [*starts[1:], times[-1] + 1], strict=True))
    return [(a, b, run(models(*NAMES), splits=RollingTime([a], b - a), **HOW)) for a, b in windows]


def test_each_cut_has_the_scores_of_an_experiment_with_that_cut_alone() -> None:
    """With its users, chance level and intervals."""
    table = rolled().trends.table
    assert table.index.names == ["metric", "cut", "model"]
    columns = ["users", "mean", "ci_low", "ci_high", "chance"]
    for cut, (start, _, alone) in enumerate(at_each_cut(), 1):
        for metric in METRICS:
            own = table.loc[metric].loc[cut]
            assert (own["time"] == start).all()
            expected = alone.leaderboards[metric].loc[own.index, columns]
            np.testing.assert_allclose(own[columns], expected.astype(float), rtol=1e-12)


def test_the_ratings_of_each_cut_are_counted() -> None:
    """Unknown users and items have no earlier rating."""
    table, counted = ratings(), rolled().trends.cuts
    assert counted.index.tolist() == [1, 2, 3, 4]
    for row, (start, end, _) in zip(counted.itertuples(), at_each_cut(), strict=True):
        past = table[table["timestamp"] < start]
        tested = table[table["timestamp"].between(start, end, inclusive="left")]
        users, items = ({*tested[side]} for side in ("user", "item"))
        unknown = len(users - {*past["user"]}), len(items - {*past["item"]})
        numbers = len(past), len(tested), len(users), unknown[0], len(items), unknown[1]
        assert row[1:] == (start, *numbers)


def test_slopes_are_of_the_means_weighted_by_users() -> None:
    """The change is from the first cut to the last; p is corrected by Holm's method."""
    trends: Any = rolled().trends
    for metric in METRICS:
        slopes = trends.slopes.loc[metric]
        for model in NAMES:
            own = trends.table.loc[metric].xs(model, level="model")
            line = np.polyfit(own.index, own["mean"], 1, w=np.sqrt(own["users"]))
            found = slopes.loc[model]
            change = own["mean"].iloc[-1] - own["mean"].iloc[0]
            assert [found["slope"], found["change"]] == pytest.approx([line[0], change])
            assert found["slope_low"] < found["slope"] < found["slope_high"]
        for name in ("slope_p", "change_p"):
            ordered = slopes[name].sort_values()
            steps = [n * p for n, p in zip((3, 2, 1), ordered, strict=True)]
            holm = [min(max(steps[: place + 1]), 1) for place in range(3)]
            assert slopes.loc[ordered.index, f"{name}_corrected"].tolist() == pytest.approx(holm)
    scores = [one.per_user["ndcg@5"]["SVD"].reindex(rolled().users) for *_, one in at_each_cut()]
    expected = fit_slopes(np.array(scores)[:, :, None])
    found = trends.slopes.loc[("ndcg@5", "SVD")]
    columns = ["slope", "slope_low", "slope_high", "slope_p"]
    assert found[columns].tolist() == pytest.approx(np.array(expected)[:, 0].tolist())


def test_seeds_are_averaged_within_each_user() -> None:
    """A cut then has as many users as with one seed."""
    both = run(splits=RollingTime(2), seeds=[1, 2]).trends.table["mean"]
    each = [run(splits=RollingTime(2), seeds=[seed]).trends.table["mean"] for seed in (1, 2)]
    np.testing.assert_allclose(both, (each[0] + each[1]) / 2)
    assert (each[0] != each[1]).any()


def test_later_ratings_change_no_earlier_score() -> None:
    """Neither the candidates, nor popularity, nor what a function is trained on."""
    table, (first, second, _) = ratings(), at_each_cut()[0]
    asked = {"metrics": [*METRICS, "novelty@5:catalogue"], "threshold": 4, "rating_scale": (0.5, 5)}
    seen: list[tuple[float, float]] = []

    def see_times(train: pd.DataFrame) -> Any:
        return lambda pairs: _keep(pairs, train, seen)

    given = {**models(), "means": item_means, "times": see_times}
    early = table[table["timestamp"] < second]
    whole = run(given, splits=RollingTime([first, second]), **asked)
    alone = run(given, data=early, splits=RollingTime([first]), **asked)
    for metric in alone.metrics:
        found: Any = (one.trends.table.loc[metric].loc[1] for one in (whole, alone))
        pd.testing.assert_frame_equal(*found)
    assert len(seen) >= 3
    assert all(trained < tested for trained, tested in seen)


def _keep(pairs: pd.DataFrame, train: pd.DataFrame, seen: list[tuple[float, float]]) -> Any:
    """Keep the last time of training and the first time of the pairs, which candidates have not."""
    if pairs["timestamp"].notna().all():
        seen.append((train["timestamp"].max(), pairs["timestamp"].min()))
    return np.zeros(len(pairs)) + np.arange(len(pairs)) % 7


@given(st.lists(st.integers(0, 130), min_size=1, max_size=80))
def test_bins_of_training_ratings_cover_every_number_once(counts: list[int]) -> None:
    """All but 0 have ten or more, if there are as many; limits are 1, 2, 5, 10 and so on."""
    codes, labels = bin_training_counts(np.array(counts))
    sizes = np.bincount(codes, minlength=len(labels))
    others = dict(zip(labels, sizes.tolist(), strict=True))
    assert others.pop("0 (unknown)", 0) == counts.count(0)
    assert len(others) == 1 or min(others.values(), default=10) >= 10
    spans = [[int(end) for end in label.split("–")] for label in others]
    assert [span[0] for span in spans] == sorted({span[0] for span in spans})
    for number, code in zip(counts, codes.tolist(), strict=True):
        span = [0, 0] if not number else [int(end) for end in labels[code].split("–")]
        assert span[0] <= number <= span[-1]
        assert not number or {span[0], span[-1] + 1} <= {1, 2, 5, 10, 20, 50, 100, 200}


def test_the_cold_start_is_a_mean_over_users_in_each_bin() -> None:
    """A user who is in a bin at several cuts counts once in it."""
    found: Any = rolled().cold_start()
    counts: dict[tuple[int, Any], int] = {}
    for cut, (start, _, alone) in enumerate(at_each_cut()):
        past = ratings()[ratings()["timestamp"] < start].groupby("user").size().to_dict()
        counts |= {(cut, user): past.get(user, 0) for user in alone.users.tolist()}
    codes, labels = bin_training_counts(np.array([*counts.values()]))
    assert "0 (unknown)" in labels
    for metric in METRICS:
        for place, label in enumerate(labels):
            by_user: dict[Any, list[float]] = {}
            for (cut, user), code in zip(counts, codes.tolist(), strict=True):
                score = at_each_cut()[cut][2].per_user[metric]["top"][user]
                if code == place and not math.isnan(score):
                    by_user.setdefault(user, []).append(score)
            own = found.loc[("user", metric, label)].loc["top"]
            means = [sum(scores) / len(scores) for scores in by_user.values()]
            assert own["users"] == len(means)
            assert own["mean"] == pytest.approx(sum(means) / len(means))
            assert own["ci_low"] < own["mean"] < own["ci_high"]
    assert "0 (unknown)" in str(found)
    headings = [line.split("  ")[0] for line in str(found).splitlines()]
    assert any(one.startswith("training ratings users ") for one in headings)
    assert any(one.startswith("training ratings of the item users ") for one in headings)


def test_the_cold_start_by_item_averages_the_parts_of_all_cuts(tmp_path: Path) -> None:
    """Evaluated cut by cut by hand; a saved experiment has the same."""
    how: Any = {"splits": RollingTime(N_CUTS), "folder": tmp_path / "run", "metrics": ["ndcg@5"]}
    first = run({"means": item_means}, **how).cold_start()
    pd.testing.assert_frame_equal(run({"means": item_means}, **how).cold_start(), first)
    parts = []
    for start, end, _ in at_each_cut():
        table = ratings()
        past = table[table["timestamp"] < start]
        tested = table[table["timestamp"].between(start, end, inclusive="left")]
        rows = tested.rename(columns={"rating": "true"})
        rows = rows.assign(estimated=np.asarray(item_means(past)(tested)))
        convention = rn.Convention(tie_tolerance=1e-9)
        report = rn.evaluate(rows, metrics=["ndcg@5"], convention=convention)
        parts.append(report.by_items(train=past))
    joined: Any = pd.concat(parts).loc["ndcg@5"]
    every = joined.dropna(subset="score")
    by_item: Any = first.loc[("item", "ndcg@5")]
    found = by_item.xs("means", level="model")
    assert found.index[0] == "0 (unknown)"
    for stratum, rows in every.groupby(level=0):
        users = rows["users"].sum()
        assert found.loc[stratum, "users"] == users
        mean = (rows["score"] * rows["users"]).sum() / users
        assert found.loc[stratum, "mean"] == pytest.approx(mean, rel=1e-12)


def test_a_report_is_cut_by_training_ratings() -> None:
    """As a built-in group, which needs the training data."""
    train = pd.DataFrame({"user": [*range(1, 31), *range(11, 31), *range(21, 31)] * 2})
    report = rn.evaluate({user: [(4, 5), (3, user % 5)] for user in range(31)})
    assert report.by("training_ratings", train=train).counts == {
        "0 (unknown)": 1,
        "2–4": 20,
        "5–9": 10,
        None: 0,
    }
    assert_rejected("'training_ratings' needs train=", report.by, "training_ratings")
    assert_rejected("'training_ratings' counts", report.by, "training_ratings", train={1, 2})


def _age(train: pd.DataFrame) -> Any:
    """Return a model that knows the ratings at first, and then adds more and more noise."""
    noise, rng = 8 * len(train) / len(ratings(60)) - 1, np.random.default_rng(0)
    return lambda pairs: pairs["hint"] + max(noise, 0) * rng.normal(size=len(pairs))


def test_a_clear_trend_is_found() -> None:
    """With the models that are worse at the last cut than at the first."""
    hinted = ratings(60).assign(hint=ratings(60)["rating"])
    asked: dict[str, Any] = {"data": hinted, "metrics": ["ndcg@5", "rmse"]}
    found = run({"ageing": _age, **models()}, splits=RollingTime(8), **asked)
    for metric, kind in (("ndcg@5", "falling_score"), ("rmse", "rising_score")):
        kinds = check_trends(found.trends, metric)
        assert [kinds.count(name) for name in (kind, "no_clear_trend")] == [1, len(models())]
        models_of = {finding.kind: finding.models for finding in found.trends._find(metric)}
        assert models_of[kind] == models_of["worse_at_last_cut"][:1] == ("ageing",)
        assert "SVD" not in models_of["worse_at_last_cut"]
    table = found.trends.findings
    assert table["sentence"].str.contains("ageing falls: -0.0.* per cut .*Holm p").any()
    assert found.findings["kind"].tolist()[-len(table) :] == table["kind"].tolist()
    assert "falls" in str(found)
    assert "rises" in str(found.trends)
    alone = run(splits=RollingTime([1.43e9])).trends
    assert {*alone.findings["kind"]} == {"one_cut"}


@pytest.mark.slow
def test_the_page_draws_the_scores_over_time() -> None:
    """With the times as dates, a line per model and intervals; and the cold start."""
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    chart = rolled().plot("time", metric="rmse")
    assert chart.description.startswith("Mean rmse by cut: biases: 0.")
    assert [one["mark"]["type"] for one in chart.to_dict()["layer"]][1:] == [
        "line",
        "rule",
        "point",
    ]
    page = rolled().to_html()
    times = format_times(rolled().trends.cuts["time"])
    for text in ("Scores over time", "Cold start", "The ratings at each cut", *times):
        assert text in page
    assert "Scores over time" not in run().to_html()


def test_other_comparisons_have_no_trends() -> None:
    """The message says what has; times that are no dates stay numbers."""
    plain = run()
    assert_rejected(r"splits=RollingTime\(\)", lambda: plain.trends, whole=False)
    assert_rejected("RollingTime", plain.plot, "time", whole=False)
    assert plain.cold_start().index.names == ["side", "metric", "training_ratings", "model"]
    numbered = ratings().assign(timestamp=range(len(ratings())))
    found = run(data=numbered, splits=RollingTime(2)).trends
    third = len(ratings()) // 3
    assert f" {third}  " in str(found)
    assert format_times([1.4e9 + 1, 1.4e9 + 2]) == ["2014-05-13 16:53:21", "2014-05-13 16:53:22"]
    assert format_times([1.4e9, 1.4e9 + 0.5]) == ["1400000000", "1400000000.5"]


def test_the_command_line_names_the_cuts_in_its_file(tmp_path: Path) -> None:
    """The same numbers as from Python, in the text and in JSON."""
    pytest.importorskip("surprise")
    ratings().to_csv(tmp_path / "ratings.csv", index=False)
    lines = [
        *('ratings = "ratings.csv"', 'metrics = ["ndcg@5"]', "progress = false"),
        *("[splits]", 'class = "recsys_ndcg.folds.RollingTime"', "cuts = 4"),
        *("[models.top]", 'class = "recsys_ndcg.surprise.MostPopular"'),
        *("[models.biases]", 'class = "surprise.BaselineOnly"'),
    ]
    path = tmp_path / "rolling.toml"
    path.write_text("\n".join(line for line in lines if "progress" not in line))
    assert "ndcg@5 of top" in run_command("experiment", path).stdout
    found = json.loads(run_command("experiment", path, "--format", "json").stdout)
    table = rolled().trends.table.loc["ndcg@5"]
    for row in found["trends"]["scores"]:
        assert row["mean"] == pytest.approx(table.loc[(row["cut"], row["model"]), "mean"])
    assert [row["cut"] for row in found["trends"]["cuts"]] == [1, 2, 3, 4]
    assert {row["side"] for row in found["cold_start"]} == {"user", "item"}


@pytest.mark.slow
@pytest.mark.skipif("RECSYS_NDCG_DATA" not in os.environ, reason="RECSYS_NDCG_DATA is not set")
def test_ten_cuts_of_movietweetings_in_one_command(tmp_path: Path) -> None:
    """Films that become popular after a cut are unknown before it."""
    folder = Path(os.environ["RECSYS_NDCG_DATA"]).resolve()  # the settings are in another folder
    data = folder / "movietweetings-100k" / "ratings.dat"
    lines = [
        *(
            f'ratings = "{data}"',
            'metrics = ["recall@10"]',
            "threshold = 7",
            "rating_scale = [0, 10]",
        ),
        *('protocol = "catalogue"', "[splits]", 'class = "recsys_ndcg.folds.RollingTime"'),
        *("[models.top]", 'class = "recsys_ndcg.surprise.MostPopular"'),
        *("[models.biases]", 'class = "surprise.BaselineOnly"'),
    ]
    path = tmp_path / "rolling.toml"
    path.write_text("\n".join(lines))
    found = json.loads(run_command("experiment", path, "--format", "json").stdout)
    cuts = pd.DataFrame(found["trends"]["cuts"])
    assert len(cuts) == 10
    assert cuts["unknown_items"].gt(0).all()
    assert cuts["test_ratings"].between(8500, 9700).all()
    first, *others, last = (r["mean"] for r in found["trends"]["scores"] if r["model"] == "top")
    shown = [f"{one:.3f}" for one in (first, min(others), max(others), last)]
    (paragraph,) = re.findall(r"^MovieTweetings.*$", text_of(page_of("over-time")), re.MULTILINE)
    assert re.findall(r"\d\.\d+", paragraph) == shown


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({"SVD": -0.1, "biases": -0.2, "top": 0.1}, ("SVD", "biases")),
        ({"SVD": 0.1, "biases": 0.2, "top": 0.1}, ()),
    ],
)
def test_other_lengths_of_lists_explain_only_changes_in_the_same_direction(
    changes: dict[str, float], who: tuple[str, ...]
) -> None:
    """If chance falls and a model rises, they explain nothing of it."""
    trends: Any = Trends(rolled(), rolled()._folds)
    table, slopes = trends.table, trends.slopes
    table["chance"] = table.index.get_level_values("cut").map({1: 0.8, 2: 0.7, 3: 0.6, 4: 0.5})
    slopes["change"] = slopes.index.get_level_values("model").map(changes)
    vars(trends).update(_table=table, _slopes=slopes)
    assert check_trends(trends, "ndcg@5")[-1] == "changing_chance"
    last = trends._find("ndcg@5")[-1]
    assert last.models == who
    assert ("explain a part" in last.sentence) == bool(who)
