"""Each chart shows the numbers that it is given, and describes them in words."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.rendering.plots.means import (
    plot_intervals_by_tier,
    plot_score_by_activity,
    plot_score_by_cut,
    plot_score_by_cutoff,
)
from recsys_ndcg.rendering.plots.users import plot_difference_per_user, plot_users_against_chance
from tests.profiles import examples
from tests.rendering.drawings import described, layers, marked, shown_numbers, texts

pytest.importorskip("altair")
NAN = math.nan
BY_K = pd.DataFrame(
    [[10, 0.9, 0.88, 0.92, 0.6], [1, 0.7, 0.65, 0.75, 0.4], [5, 0.8, 0.77, 0.83, 0.5]],
    columns=["k", "mean", "low", "high", "chance"],
).assign(metric="ndcg")
MODELS = pd.DataFrame(
    [["KNN", 0.3, 0.28, 0.32, 3], ["SVD", 0.5, 0.48, 0.52, 1], ["SVD++", 0.48, NAN, NAN, 1]],
    columns=["model", "mean", "low", "high", "tier"],
).assign(bar_low=[0.27, NAN, 0.46], bar_high=[0.34, NAN, 0.53])
T_OF_TWO = 4.302652729911275  # 97.5 % of Student's t, 2 degrees of freedom


def users(scores: Any, chance: Any) -> pd.DataFrame:
    """Return users with a score and a chance."""
    return pd.DataFrame({"user": range(len(scores)), "score": scores, "chance": chance})


def test_the_mean_of_each_model_is_a_line_over_the_cuts() -> None:
    """The best model first; long names are shortened, and stay different."""
    long = "a model with a very long name, of "
    rows = [
        (long + name, group, 9, mean + gain, mean - 0.1, mean + 0.2)
        for name, mean in (("today", 0.25), ("tomorrow", 0.5))
        for group, gain in (("2019", 0.0), ("2020", 0.125))
    ]
    frame = pd.DataFrame(rows, columns=["model", "group", "size", "mean", "low", "high"])
    chart = plot_score_by_cut(frame, "ndcg@10")
    short = "a model with a very long name,…"
    assert described(chart) == (
        f"Mean ndcg@10 by cut: {short} (1): 0.5000 from 2019 and 0.6250 from 2020; {short} (2): "
        "0.2500 from 2019 and 0.3750 from 2020."
    )
    assert not [one for one in texts(chart) if long in one]


def test_the_mean_is_a_line_over_the_cutoffs() -> None:
    """From the lowest on, in its interval, with chance as a dashed line."""
    chart = plot_score_by_cutoff(BY_K)
    (band,), (lines,) = marked(chart, "area"), marked(chart, "line")
    ends = [(one["k"], one["low"], one["high"]) for one in band.rows]
    assert ends == [(1, 0.65, 0.75), (5, 0.77, 0.83), (10, 0.88, 0.92)]
    names = lines.encoding["strokeDash"]["scale"]["domain"]
    assert lines.encoding["strokeDash"]["scale"]["range"][0] == [1, 0]
    found = [(names.index(one["line"]), one["k"], one["score"]) for one in lines.rows]
    chance = [(1, 1, 0.4), (1, 5, 0.5), (1, 10, 0.6)]
    assert sorted(found) == [(0, 1, 0.7), (0, 5, 0.8), (0, 10, 0.9), *chance]
    assert described(chart) == (
        "The mean of ndcg over users is 0.7000 at k = 1 (95 % interval 0.6500 to 0.7500; chance "
        "0.4000) and 0.9000 at k = 10 (95 % interval 0.8800 to 0.9200; chance 0.6000)."
    )
    written = {*texts(chart)}
    assert {"ndcg by cutoff", "cutoff k", "mean score over users", "1", "5", "10"} <= written
    assert "mean over users, with its 95 % interval" in written


def test_each_metric_has_a_panel() -> None:
    """In the given order; the first four are described."""
    names = ["precision", "dcg", "ap", "recall", "f1", "hit"]
    chart = plot_score_by_cutoff(pd.concat([BY_K.assign(metric=name) for name in names]), level=0.9)
    assert [one["title"]["text"] for one in chart.to_dict()["concat"]] == names
    assert len(marked(chart, "line")) == len(names)
    text = described(chart)
    assert [name for name in names if f"The mean of {name} over users" in text] == names[:4]
    assert text.endswith("And 2 more metrics.")
    assert "90 % interval" in text


def test_one_cutoff_is_a_point_and_gaps_are_left_out() -> None:
    """The interval of one point is a rule, and so is chance, over the whole width."""
    chart = plot_score_by_cutoff(BY_K[:1])
    assert not marked(chart, "area")
    interval, chance = marked(chart, "rule")
    assert (interval.rows[0]["low"], interval.rows[0]["high"]) == (0.88, 0.92)
    assert [one["score"] for one in chance.rows] == [0.6]
    assert "x" not in chance.encoding
    assert "and" not in described(chart)
    chart = plot_score_by_cutoff(BY_K.assign(mean=[0.9, NAN, 0.8], chance=NAN, low=NAN))
    (lines,) = marked(chart, "line")
    assert [one["k"] for one in lines.rows] == [5, 10]
    assert lines.encoding["color"]["scale"]["domain"] == ["mean over users"]
    assert described(chart).endswith("is 0.8000 at k = 5 and 0.9000 at k = 10.")


def test_few_of_many_cutoffs_are_labelled() -> None:
    """All would overlap."""
    ks = np.arange(1, 201)
    frame = pd.DataFrame({"metric": "ndcg", "k": ks, "mean": ks / 200, "low": NAN, "high": NAN})
    (points,) = marked(plot_score_by_cutoff(frame.assign(chance=NAN)), "point")
    assert points.encoding["x"]["axis"]["values"] == [1, 2, 5, 10, 20, 50, 100, 200]
    assert points.encoding["x"]["scale"]["type"] == "log"
    assert len(points.rows) == 200


@examples(0.15)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_every_user_is_in_a_bin(pairs: list[tuple[float, float]]) -> None:
    """Once by the score, once by chance; the rules are at both means."""
    scores, chance = map(list, zip(*pairs, strict=True))
    chart = plot_users_against_chance(users(scores, chance), "ndcg@10")
    (bars,), (means,), (outlines,) = (marked(chart, one) for one in ("rect", "rule", "line"))
    middles = [statistics.fmean(scores), statistics.fmean(chance)]
    assert [one["place"] for one in means.rows] == pytest.approx(middles)
    names = outlines.encoding["color"]["scale"]["domain"]
    for line, tops in zip(names, ("top", "chance"), strict=True):
        counts = [one[tops] for one in bars.rows]
        assert sum(counts) == len(pairs)
        corners = [one["users"] for one in outlines.rows if one["line"] == line]
        assert corners[1:-1:2] == corners[2:-1:2] == counts


def test_users_are_described_by_their_quartiles() -> None:
    """Users without a score are counted apart; rmse has no chance."""
    chart = plot_users_against_chance(users([0.0, 0.5, 1.0, NAN], [0.2, 0.4, 0.9, 0.1]), "rr")
    assert described(chart) == (
        "rr of 3 users: mean 0.5000, quartiles 0.2500 and 0.7500; chance 0.5000, quartiles 0.3000 "
        "and 0.6500. 1 user without a score left out."
    )
    assert {"Users by rr", "3 users", "rr of a user", "number of users"} <= {*texts(chart)}
    chart = plot_users_against_chance(users([1.5, 0.5], [NAN, NAN]), "rmse")
    assert len(marked(chart, "rule")[0].rows) == 1
    assert "mean 1.0000" in described(chart)
    assert all("chance" not in one for one in texts(chart))
    assert "chance 0" not in described(chart)


def test_few_users_are_counted_in_whole_numbers() -> None:
    """Each is a label of the axis once."""
    for n in (1, 5):
        written = texts(plot_users_against_chance(users([0.25] * n, [NAN] * n), "ndcg@10"))
        assert [written.count(str(one)) for one in range(n + 2)] == [1] * (n + 1) + [0]


def test_a_chart_of_many_users_is_small() -> None:
    """It holds bins."""
    rng = np.random.default_rng(0)
    n, started = 100_000, time.process_time()
    many, activity = users(rng.random(n), rng.random(n)), rng.integers(1, 500, n)
    by_model = pd.DataFrame({"model": "SVD", "activity": activity, "score": many["score"]})
    difference = (many["score"] - many["chance"]).to_numpy()
    for chart in (
        plot_users_against_chance(many, "ndcg@10"),
        plot_difference_per_user(difference, "SVD", "KNN", "ndcg@10"),
        plot_score_by_activity(by_model, "ndcg@10"),
    ):
        assert len(chart.to_json()) < 50_000
    assert time.process_time() - started < 10


def test_models_are_sorted_from_the_best() -> None:
    """The top tier is filled; chance and baselines are rules with their numbers."""
    baselines = {"MostPopular": 0.35, "none": NAN}
    chart = plot_intervals_by_tier(MODELS, "ndcg@10", 0.2, baselines=baselines, bars_from="SVD")
    (points,) = marked(chart, "point")
    assert points.encoding["y"]["scale"]["domain"] == ["SVD", "SVD++", "KNN"]
    assert [one["model"] for one in points.rows] == ["SVD", "SVD++", "KNN"]
    scale = points.encoding["fill"]["scale"]
    look = dict(zip(scale["domain"], scale["range"], strict=True))
    assert [look[one["top"]] for one in points.rows] == ["#0072B2", "#0072B2", "white"]
    intervals, rules = marked(chart, "rule")
    ends = [(one["model"], one["low"], one["high"]) for one in intervals.rows]
    assert ends == [("SVD", 0.48, 0.52), ("KNN", 0.28, 0.32)]
    (bars,) = marked(chart, "bar")
    ends = [(one["model"], one["bar_low"], one["bar_high"]) for one in bars.rows]
    assert ends == [("SVD++", 0.46, 0.53), ("KNN", 0.27, 0.34)]
    bar = "bar: the difference from SVD, significant if it does not reach the dot of SVD"
    assert bar in texts(chart)
    lines = {one["line"]: one["mean"] for one in rules.rows}
    assert lines == {"chance 0.2000": 0.2, "MostPopular 0.3500": 0.35}
    assert described(chart) == (
        "3 models by ndcg@10, the best first: SVD 0.5000 (95 % interval 0.4800 to 0.5200) to "
        "KNN 0.3000 (95 % interval 0.2800 to 0.3200); 2 in tier 1; "
        "chance 0.2000; MostPopular 0.3500."
    )
    assert {"SVD", "SVD++", "KNN", "chance 0.2000"} <= {*texts(chart)}


def test_the_lowest_error_is_the_best() -> None:
    """A model without a mean is left out; of a difference, the model with less wins."""
    frame = pd.concat([MODELS, pd.DataFrame({"model": ["lost"], "mean": [NAN], "tier": [4]})])
    chart = plot_intervals_by_tier(frame.assign(tier=[1, 3, 2, 4]), "rmse", lower_is_better=True)
    (points,) = marked(chart, "point")
    assert [one["model"] for one in points.rows] == ["KNN", "SVD++", "SVD"]
    assert "KNN 0.3000" in described(chart).split(" to ")[0]
    assert len(marked(chart, "rule")) == 1
    chart = plot_difference_per_user(np.array([0.2, 0.1]), "A", "B", "rmse", lower_is_better=True)
    for text in ("A better: 0 users (0.0%)", "B better: 2 users (100.0%)", "mean 0.1500"):
        assert text in described(chart)


def test_the_best_of_hundreds_of_models_are_shown() -> None:
    """All of fifty; the description is of all."""
    for n, most in ((50, 50), (500, 60)):
        frame = pd.DataFrame({"model": [f"m{i}" for i in range(n)], "mean": np.arange(n) / n})
        ends = dict.fromkeys(("low", "high", "bar_low", "bar_high"), NAN)
        frame = frame.assign(**ends, tier=range(n, 0, -1))
        chart = plot_intervals_by_tier(frame, "ndcg@10")
        written = texts(chart)
        names = [one for one in written if one.startswith("m") and one[1:].isdigit()]
        assert names == [f"m{i}" for i in range(n - 1, n - 1 - most, -1)]
        assert f"{n} models" in described(chart)
        assert (f"the best 60 of {n} models" in written) == (n > most)


def test_differences_are_stacked_by_the_better_model() -> None:
    """Near zero all three share a bin; a difference in the last digits counts as equal."""
    found = [0.5, 0.25, 0.01, -0.01, -0.3, 0.0, 1e-17, NAN]
    chart = plot_difference_per_user(np.array(found), "SVD", "KNN", "ndcg@10")
    (bars,) = marked(chart, "rect")[:1]
    outcomes = bars.encoding["color"]["scale"]["domain"]
    equal, lost = "equal: 2 users (28.6%)", "KNN better: 2 users (28.6%)"
    assert outcomes == ["SVD better: 3 users (42.9%)", equal, lost]
    counts = [sum(one["users"] for one in bars.rows if one["outcome"] == what) for what in outcomes]
    assert counts == [3, 2, 2]
    assert sum(one["top"] - one["base"] for one in bars.rows) == 7
    middle = {one["low"] for one in bars.rows if one["outcome"] == outcomes[1]}
    assert len(middle) == 1
    assert [one["outcome"] for one in bars.rows if one["low"] in middle] == outcomes
    for one in bars.rows:
        assert one["low"] in middle or (one["low"] > 0) == (one["outcome"] == outcomes[0])
    assert all(one in described(chart) for one in outcomes)


def test_the_mean_difference_has_the_given_interval() -> None:
    """Or none."""
    values = np.array([0.2, 0.5, -0.1])
    chart = plot_difference_per_user(values, "A", "B", "ap", interval=(-0.3, 0.75))
    band = marked(chart, "rect")[1]
    assert (band.rows[0]["low"], band.rows[0]["high"]) == (-0.3, 0.75)
    zero, rule = marked(chart, "rule")
    assert [zero.rows[0]["place"], rule.rows[0]["place"]] == pytest.approx([0.0, 0.2])
    assert shown_numbers(described(chart))[:3] == [0.2, -0.3, 0.75]
    assert len(marked(plot_difference_per_user(values, "A", "B", "ap"), "rect")) == 1


def by_activity(activity: list[int], **scores: list[float]) -> pd.DataFrame:
    """Return the scores of models for users of some activity."""
    table = pd.DataFrame({"activity": activity, **scores})
    return table.melt("activity", var_name="model", value_name="score")


def test_groups_of_activity_have_the_means_of_their_users() -> None:
    """Each user is in one group of each model; users of equal activity share a group."""
    rng = np.random.default_rng(0)
    activity = rng.integers(1, 12, 90).tolist()
    scores = {name: rng.random(90).tolist() for name in ("SVD", "KNN")}
    chart = plot_score_by_activity(by_activity(activity, **scores), "ndcg@10")
    (points,) = marked(chart, "point")
    assert not marked(chart, "rule")  # intervals of two means do not tell whether they differ
    groups = points.encoding["x"]["scale"]["domain"]
    ends = [[int(end) for end in group.split("–")] for group in groups]
    flat = [end for pair in ends for end in pair]
    assert flat == sorted(flat)
    assert len(groups) == 6
    for name, values in scores.items():
        rows = {one["group"]: one for one in points.rows if one["model"] == name}
        assert sum(one["size"] for one in rows.values()) == 90
        for group, pair in zip(groups, ends, strict=True):
            both = zip(values, activity, strict=True)
            some = [score for score, n in both if pair[0] <= n <= pair[-1]]
            row, mean = rows[group], statistics.fmean(some)
            assert row["size"] == len(some)
            assert row["mean"] == pytest.approx(mean)
    first = max(scores, key=lambda name: statistics.fmean(scores[name]))
    assert described(chart).startswith(f"Mean ndcg@10 by activity: {first}: ")


def test_groups_have_equal_sizes() -> None:
    """At least ten users each, at most six groups; few users are one group with a t interval."""
    for count, groups in ((25, 2), (60, 6), (120, 6)):
        frame = by_activity([*range(count)], SVD=[0.5] * count, KNN=[0.4] * count)
        (points,) = marked(plot_score_by_activity(frame, "ndcg@10"), "point")
        sizes = [one["size"] for one in points.rows if one["model"] == "KNN"]
        assert len(sizes) == groups
        assert max(sizes) - min(sizes) <= 1
    frame, known = by_activity([3, 7, 9, 4], SVD=[0.5, NAN, 1.0, 0.25]), [0.5, 1.0, 0.25]
    (points,) = marked(plot_score_by_activity(frame, "ap"), "point")
    (row,) = points.rows
    mean, half = statistics.fmean(known), T_OF_TWO * statistics.stdev(known) / math.sqrt(3)
    assert (row["group"], row["size"]) == ("3–9", 3)
    assert [row["mean"], row["low"], row["high"]] == pytest.approx([mean, mean - half, mean + half])


def test_the_best_six_models_have_colours() -> None:
    """The others are grey."""
    scores = {f"m{n}": [n / 10, n / 20] for n in range(9)}
    for lower, best in ((False, [8, 7, 6, 5, 4, 3]), (True, [0, 1, 2, 3, 4, 5])):
        chart = plot_score_by_activity(by_activity([1, 1], **scores), "mae", lower_is_better=lower)
        grey, lines = marked(chart, "line")
        names = [f"m{n}" for n in best]
        assert lines.encoding["color"]["scale"]["domain"] == [*names, "3 other models"]
        assert {one["model"] for one in lines.rows} == {*names}
        assert {one["model"] for one in grey.rows} == {*scores} - {*names}
        assert described(chart).endswith("; and 6 more models.")
        assert "3 other models" in texts(chart)


ODD: dict[str, Callable[[], Any]] = {
    "one user": lambda: plot_users_against_chance(users([1.0], [1.0]), "ndcg@10"),
    "all zero": lambda: plot_users_against_chance(users([0.0, 0.0], [NAN, NAN]), "ndcg@10"),
    "huge": lambda: plot_users_against_chance(users([1e9, 3.0], [2e8, NAN]), "dcg@10"),
    "one k": lambda: plot_score_by_cutoff(BY_K[:1].assign(low=NAN, high=NAN, chance=NAN, mean=0.0)),
    "huge k": lambda: plot_score_by_cutoff(BY_K.assign(k=[1, 10**6, 10**9], mean=[1.0, 5e8, 1e9])),
    "one model": lambda: plot_intervals_by_tier(MODELS[2:], "ndcg@10"),
    "huge means": lambda: plot_intervals_by_tier(MODELS.assign(mean=[1e9, 2, 0.0]), "dcg@10", 1e7),
    "one difference": lambda: plot_difference_per_user(np.array([0.5]), "A", "B", "ndcg@10"),
    "no difference": lambda: plot_difference_per_user(np.zeros(5), "A", "A", "ndcg@10"),
    "two far apart": lambda: plot_difference_per_user(np.array([-1e9, 2e9]), "A", "B", "dcg@10"),
    "one group": lambda: plot_score_by_activity(by_activity([3], SVD=[1e9]), "dcg@10"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_numbers_are_drawn(case: str) -> None:
    """Without NaN in the drawing or the description."""
    chart = ODD[case]()
    assert all(texts(chart))
    assert "nan" not in described(chart)
    assert layers(chart)


def test_charts_fetch_nothing_and_combine() -> None:
    """They refer to no other data, and have no settings that conflict."""
    one, other = ODD["one user"](), ODD["one model"]()
    spec = (one | other).to_dict()
    assert "url" not in str(spec)
    assert len(spec["hconcat"]) == 2
    assert "config" not in one.to_dict()["layer"]
