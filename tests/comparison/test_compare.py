"""compare: the tables against reports, and against counting by hand."""

from __future__ import annotations

import json
import math
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn
from tests.comparison.models import model, models, ratings
from tests.errors import rejects
from tests.files.signing import signed

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["ndcg@3", "precision@3", "dcg@3", "rmse"]


@pytest.fixture(scope="module")
def reports() -> dict[str, rn.Report]:
    """Return three models, measured."""
    return {
        name: rn.evaluate(rows, metrics=METRICS, threshold=4) for name, rows in models().items()
    }


def test_a_row_of_the_leaderboard_says_what_the_report_says(reports: dict[str, rn.Report]) -> None:
    """To the last bit, for every metric."""
    found = rn.compare(reports)
    assert found.metrics == METRICS
    for metric, table in found.leaderboards.items():
        assert set(table.index) == set(reports)
        for name, row in table.iterrows():
            report = reports[str(name)]
            ends = report.intervals().loc[metric]
            assert row["mean"] == report.mean[metric]
            assert row["pooled"] == pytest.approx(report.pooled[metric], rel=1e-14)
            assert (row["ci_low"], row["ci_high"]) == (ends["mean_low"], ends["mean_high"])
            if metric != "rmse":  # a root is linearised here, its interval's ends are roots there
                assert row["pooled_low"] == pytest.approx(ends["pooled_low"], rel=1e-9)
                assert row["pooled_high"] == pytest.approx(ends["pooled_high"], rel=1e-9)
            same = report.summary.loc[metric, ["chance", "adjusted"]]
            np.testing.assert_allclose(row[["chance", "adjusted"]].astype(float), same)
            assert row["users"] == report.summary.loc[metric, "users"]


def test_the_best_stands_first_also_where_less_is_better(reports: dict[str, rn.Report]) -> None:
    """Errors are better the smaller they are."""
    found = rn.compare(reports)
    for metric, table in found.leaderboards.items():
        assert list(table.index) == ["good", "fair", "poor"], metric
        assert table["rank_low"].is_monotonic_increasing
    rows = found.pairwise.query("metric == 'rmse' and a == 'good' and b == 'poor'").iloc[0]
    assert rows["difference"] < 0
    assert rows["ci_low"] < rows["difference"] < rows["ci_high"] < 0
    assert rows["wins"] > rows["losses"]


def test_pairs_are_what_plain_python_finds(reports: dict[str, rn.Report]) -> None:
    """Differences, wins, d_z and Student's t, user by user."""
    found = rn.compare(reports, correction="none").pairwise
    assert len(found) == len(METRICS) * 3
    for row in found.to_dict("records"):
        one = reports[row["a"]].per_user[row["metric"]]
        other = reports[row["b"]].per_user[row["metric"]]
        apart = [x - y for x, y in zip(one, other, strict=True) if not math.isnan(x - y)]
        better = [-x if row["metric"] == "rmse" else x for x in apart]
        mean, deviation = statistics.fmean(apart), statistics.stdev(apart)
        assert row["users"] == len(apart)
        assert row["difference"] == pytest.approx(mean, abs=1e-12)
        assert row["effect"] == pytest.approx(mean / deviation)
        assert row["wins"] == sum(x > 1e-12 for x in better)
        assert row["losses"] == sum(x < -1e-12 for x in better)
        assert row["wins"] + row["ties"] + row["losses"] == len(apart)
        test = stats.ttest_1samp(apart, 0.0)
        assert row["p"] == pytest.approx(test.pvalue, rel=1e-6)
        assert row["p"] == row["p_corrected"]
        low, high = test.confidence_interval()
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
        assert row["interval"] == "own"


@pytest.mark.parametrize("metric", ["ndcg@3", "rmse"])
def test_pooled_scores_have_a_test_of_their_own(reports: dict[str, rn.Report], metric: str) -> None:
    """Of the linearised parts n - r·d, times the slope of a root, not of the mean's differences."""
    found = rn.compare(reports, metrics=[metric], correction="none").pairwise
    for row in found.to_dict("records"):
        parts = []
        for name in (row["a"], row["b"]):
            scores, at = reports[name].scores, METRICS.index(metric)
            top, bottom = scores.numerator[:, at].tolist(), scores.denominator[:, at].tolist()
            ratio, mean = sum(top) / sum(bottom), statistics.fmean(bottom)
            score, slope = ratio, 1.0
            if metric == "rmse":
                score, slope = math.sqrt(ratio), 1 / (2 * math.sqrt(ratio))
            rest = [(n - ratio * d) / mean for n, d in zip(top, bottom, strict=True)]
            parts.append([score + slope * one for one in rest])
        apart = [x - y for x, y in zip(*parts, strict=True)]
        test = stats.ttest_1samp(apart, 0.0)
        pooled = reports[row["a"]].pooled[metric] - reports[row["b"]].pooled[metric]
        assert row["pooled_difference"] == pytest.approx(pooled)
        assert row["pooled_p"] == pytest.approx(test.pvalue, rel=1e-6)
        assert (row["pooled_low"], row["pooled_high"]) == pytest.approx(
            tuple(test.confidence_interval())
        )
        assert row["pooled_p"] != row["p"]


def test_the_pooled_interval_agrees_with_the_bootstrap() -> None:
    """Of the ratios of resampled users."""
    both = models(users=300, seed=3, one=1.0, other=1.4)
    row = rn.compare(both, metrics=["ndcg@5"]).pairwise.iloc[0]
    scores = [rn.evaluate(rows, metrics=["ndcg@5"]).scores for rows in both.values()]
    draw = np.random.default_rng(0)
    apart = []
    for _ in range(2000):
        who = draw.integers(300, size=300)
        first, second = (
            one.numerator[who, 0].sum() / one.denominator[who, 0].sum() for one in scores
        )
        apart.append(first - second)
    low, high = np.quantile(apart, [0.025, 0.975])
    width = row["pooled_high"] - row["pooled_low"]
    assert abs(row["pooled_low"] - low) < 0.1 * width
    assert abs(row["pooled_high"] - high) < 0.1 * width


def test_a_user_whom_no_model_has_a_score_for_plays_no_part_in_the_pooled_test() -> None:
    """Nothing is relevant to them: there is nothing to collect."""
    both = models(users=30, one=1.0, other=1.2)
    nobody = [("z", "i1", 2.0, 1.0), ("z", "i2", 1.0, 2.0)]
    more = {name: [*rows, *nobody] for name, rows in both.items()}
    columns = ["pooled_difference", "pooled_low", "pooled_high", "pooled_p"]
    found = [
        rn.compare(one, metrics=["recall@2"], threshold=4).pairwise[columns].iloc[0].tolist()
        for one in (both, more)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("unit", [1e-5, 1e5])
def test_the_pooled_test_of_errors_is_the_same_in_any_unit(unit: float) -> None:
    """The slope of the root is taken over a share of the ratio."""
    both = models(users=30, one=1.0, other=1.2)
    scaled = {
        name: [(user, item, unit * est, unit * true) for user, item, est, true in rows]
        for name, rows in both.items()
    }
    columns = ["pooled_difference", "pooled_low", "pooled_high"]
    plain, other = (rn.compare(one, metrics=["rmse"]).pairwise.iloc[0] for one in (both, scaled))
    assert other["pooled_p"] == pytest.approx(plain["pooled_p"], rel=1e-6)
    assert (other[columns] / unit).tolist() == pytest.approx(plain[columns].tolist(), rel=1e-6)


def test_the_pooled_test_takes_a_model_without_errors() -> None:
    """A root has no slope at 0, where no user has any part in it either."""
    one = models(users=30, one=1.0)["one"]
    perfect = [(user, item, true, true) for user, item, _, true in one]
    row = rn.compare({"one": one, "perfect": perfect}, metrics=["rmse"]).pairwise.iloc[0]
    pooled = rn.evaluate(one, metrics=["rmse"]).pooled["rmse"]
    assert row["pooled_difference"] == pytest.approx(pooled)
    assert row["pooled_low"] < pooled < row["pooled_high"]
    assert 0 < row["pooled_p"] < 0.001


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize(
    ("metrics", "k", "expected"),
    [
        (["ndcg", "rmse"], [1, 3], ["ndcg@1", "ndcg@3", "rmse"]),
        ("ndcg", (3, 1), ["ndcg@3", "ndcg@1"]),
        (["precision", "ndcg@1"], np.array([1, 3]), ["precision@1", "precision@3", "ndcg@1"]),
        (["ndcg"], np.int64(3), ["ndcg@3"]),
        (["ndcg@3", "rmse", "ndcg"], [3, 1], ["ndcg@3", "rmse", "ndcg@1"]),
        (["ndcg"], 3, ["ndcg@3"]),
        ("ndcg", iter, ["ndcg@1", "ndcg@3"]),
        (iter, 3, ["ndcg@3", "rmse"]),
    ],
)
def test_several_cutoffs_are_compared(
    metrics: Any, k: Any, expected: list[str], *, measured: bool
) -> None:
    """Of reports as of predictions; an iterator is not used up by the first model."""
    k = iter([1, 3]) if k is iter else k
    metrics = iter(["ndcg", "rmse"]) if metrics is iter else metrics
    given: dict[str, Any] = models(users=20)
    options: dict[str, Any] = {} if measured else {"threshold": 4}
    single = {
        name: rn.evaluate(rows, metrics=["precision", "ndcg", "rmse"], k=[1, 3], threshold=4)
        for name, rows in given.items()
    }
    found = rn.compare(single if measured else given, metrics=metrics, k=k, **options)
    assert found.metrics == expected
    for name in expected:
        for model_, report in single.items():
            assert found.leaderboards[name].loc[model_, "mean"] == report.mean[name]


@pytest.mark.parametrize("k", [0, "3", 2.5, [1, 0], []])
def test_cutoffs_that_are_none_are_refused(reports: dict[str, rn.Report], k: Any) -> None:
    """Of reports as of predictions; ndcg was left out without a word, where there is no k."""
    with rejects("k must be a whole number|at least one metric and one k"):
        rn.compare(reports, metrics=["ndcg", "rmse"], k=k)
    with rejects("k must be a whole number|at least one metric and one k"):
        rn.compare(models(), metrics=["ndcg", "rmse"], k=k)
    with rejects("k must be a whole number|at least one metric and one k"):
        rn.evaluate(models()["good"], metrics=["ndcg", "rmse"], k=k)
    assert rn.evaluate(models()["good"], metrics=["ndcg@5", "rmse"], k=[]).metrics[0] == "ndcg@5"


def test_ranks_tiers_and_letters_follow_from_the_pairs() -> None:
    """1 + significantly better, N - significantly worse; letters are shared by the undecided."""
    noise = {f"m{place}": 0.5 + 0.35 * place for place in range(7)}
    found = rn.compare(models(users=80, seed=5, **noise), metrics=["ndcg@5"])
    board, pairs = found.leaderboard, found.pairwise
    sure = pairs[pairs["p_corrected"] <= 0.05].to_dict("records")
    assert 0 < len(sure) < len(pairs)
    ahead = [
        (row["a"], row["b"]) if row["difference"] > 0 else (row["b"], row["a"]) for row in sure
    ]
    for name, row in board.iterrows():
        assert row["rank_low"] == 1 + sum(loser == name for _, loser in ahead)
        assert row["rank_high"] == len(board) - sum(winner == name for winner, _ in ahead)
        assert row["tier"] == row["rank_low"]
    for pair in pairs.to_dict("records"):
        shared = set(board["letters"][pair["a"]]) & set(board["letters"][pair["b"]])
        assert bool(shared) == (pair["p_corrected"] > 0.05)


def test_users_are_won_against_the_baseline(reports: dict[str, rn.Report]) -> None:
    """The first model, or the one that is named."""
    for baseline in (None, "poor"):
        board = rn.compare(reports, metrics=["ndcg@3"], baseline=baseline).leaderboard
        name = baseline or "good"
        assert board.loc[[name], ["won", "tied", "lost"]].isna().to_numpy().all()
        for other in set(reports) - {name}:
            apart = reports[other].per_user["ndcg@3"] - reports[name].per_user["ndcg@3"]
            counted = [(apart > 1e-12).sum(), (apart.abs() <= 1e-12).sum(), (apart < -1e-12).sum()]
            assert [board[name][other] for name in ("won", "tied", "lost")] == counted


def test_chance_can_be_the_baseline(reports: dict[str, rn.Report]) -> None:
    """Each user's own, as a model that is in the leaderboard."""
    found = rn.compare(reports, metrics=["ndcg@3"], baseline="chance")
    board, audit = found.leaderboard, reports["good"].per_user_audit("ndcg@3")
    assert board.loc["chance", "mean"] == audit["chance"].mean()
    assert board.loc["chance", "adjusted"] == pytest.approx(0)
    won = (audit["score"] - audit["chance"] > 1e-12).sum()
    assert board.loc["good", "won"] == won


def test_every_input_of_evaluate_is_one_of_compare(tmp_path: Path) -> None:
    """Rows, a table, a file, lists, a report and a saved one: the same numbers."""
    rows = models()["good"]
    table = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    table.to_csv(tmp_path / "rows.csv", index=False)
    report = rn.evaluate(rows, threshold=4)
    report.save(tmp_path / "saved.json")
    entered = {
        "rows": rows,
        "table": table,
        "file": str(tmp_path / "rows.csv"),
        "lists": rn.RankedLists.of(rows),
    }
    board = rn.compare(entered, threshold=4).leaderboard
    assert (board["mean"] == report.mean["ndcg@10"]).all()
    measured = {"report": report, "saved": tmp_path / "saved.json"}
    again = rn.compare(measured).leaderboard
    assert (again["mean"] == report.mean["ndcg@10"]).all()
    assert (again["rank_high"] == 2).all()


def test_a_report_and_predictions_meet() -> None:
    """Measured in the same way."""
    both = models()
    one = rn.evaluate(both["good"], metrics=["ndcg@3"])
    found = rn.compare({"one": one, "two": both["poor"]}, metrics=["ndcg"], k=3)
    assert found.metrics == ["ndcg@3"]


def test_scores_of_all_models_stand_side_by_side(reports: dict[str, rn.Report]) -> None:
    """By metric, then model; a copy, so that the comparison is a value."""
    found = rn.compare(reports)
    table = found.per_user
    pd.testing.assert_series_equal(
        table["ndcg@3", "fair"], reports["fair"].per_user["ndcg@3"], check_names=False
    )
    table.loc[:, :] = 0.0
    board = found.leaderboard
    board["mean"] = 7.0
    assert found.per_user["ndcg@3", "fair"].mean() > 0
    assert found.leaderboard["mean"].max() <= 1


def test_it_does_not_matter_in_which_order_rows_and_models_come() -> None:
    """The same numbers for each pair of models; draws are seeded."""
    both = models(users=40)
    mixed = {name: rows[::-1] for name, rows in reversed(both.items())}
    one, two = rn.compare(both), rn.compare(mixed, baseline="good")
    told = ["mean", "ci_low", "pooled", "pooled_low", "adjusted", "won", "users"]
    pd.testing.assert_frame_equal(
        one.leaderboard[told].sort_index(), two.leaderboard[told].sort_index(), check_exact=True
    )
    again = rn.compare(both)
    pd.testing.assert_frame_equal(one.pairwise, again.pairwise, check_exact=True)


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
@pytest.mark.parametrize("correction", ["max-T", "holm", "bonferroni", "bh", "none"])
def test_every_test_and_correction_orders_clear_cases_alike(test: str, correction: str) -> None:
    """And never says 0."""
    found = rn.compare(models(), metrics=["ndcg@5"], test=test, correction=correction, draws=999)
    row = found.pairwise.query("a == 'good' and b == 'poor'").iloc[0]
    assert 0 < row["p"] <= row["p_corrected"] < 0.05
    assert found.leaderboard["tier"]["poor"] > 1


def test_disputed_tests_come_with_both_sides() -> None:
    """As a warning, and in the remarks."""
    with pytest.warns(rn.DataWarning, match="Urbano.*Ihemelandu.*ECIR 2025"):
        found = rn.compare(models(), metrics=["ndcg@5"], test="wilcoxon")
    assert any("Urbano" in line for line in found.remarks)
    assert found.tested_by.startswith("Wilcoxon")


def test_movers_are_those_with_the_largest_differences(reports: dict[str, rn.Report]) -> None:
    """Both lists stand side by side; who neither gains nor loses is no mover."""
    found = rn.compare(reports, metrics=["ndcg@3", "rmse"])
    movers = found.movers(5, a="poor", b="good")
    apart = reports["good"].per_user["ndcg@3"] - reports["poor"].per_user["ndcg@3"]
    assert movers.table["gain"].iloc[0] == apart.max()
    least = apart.min()
    assert movers.table["gain"].iloc[-1] == (least if least < 0 else movers.table["gain"].min())
    assert movers.table["gain"].is_monotonic_decreasing
    assert len(movers.table) <= 10
    user = movers.table.index[0]
    side = movers.explain(user, 3)
    assert side["good"]["item"].tolist() == reports["good"].explain(user, 3)["item"].tolist()
    assert list(dict.fromkeys(side.columns.get_level_values(0))) == ["poor", "good"]
    errors = found.movers(1, metric="rmse", a="poor", b="good").table
    assert errors["gain"].iloc[0] > 0
    assert errors["good"].iloc[0] < errors["poor"].iloc[0]
    same = rn.compare({"a": models()["good"], "b": list(models()["good"])})
    assert same.movers(3).table.empty


def test_users_of_folds_keep_their_digits() -> None:
    """Signed numbers in one fold, and in another those that only unsigned ones can hold."""
    ids = [np.array([1, 2]), np.array([2**63 + 5, 2**63 + 7], dtype=np.uint64)]
    rows = {"item": [1, 1, 2, 2], "estimated": [3, 3, 2, 2], "true": [5, 4, 4, 5]}
    runs = [rn.evaluate({"user": np.tile(users, 2), **rows}) for users in ids]
    found = rn.compare({"a": runs, "b": runs[::-1]})
    assert found.per_user.index.tolist() == [1, 2, 2**63 + 5, 2**63 + 7]


def test_ids_with_half_a_character_have_an_overlap() -> None:
    """Though Arrow has no such text, in which pandas keeps ids."""
    rows = [(user, item, 1.0, 1.0) for user in ("a", "b\ud800") for item in ("x", "y\udcff")]
    assert rn.jaccard_at_k(rows, rows, k=2).tolist() == [1.0, 1.0]
    assert rn.rbo(rows, rows).tolist() == [1.0, 1.0]


def test_overlap_is_that_of_the_lists(reports: dict[str, rn.Report]) -> None:
    """Of each pair, and of each user."""
    found = rn.compare(reports)
    lists = {name: one.audited.lists for name, one in reports.items()}
    per_user = found.overlap(3, per_user=True)
    expected = rn.jaccard_at_k(lists["good"], lists["poor"], 3)
    pd.testing.assert_series_equal(per_user["good", "poor", "jaccard"], expected, check_names=False)
    mean = found.overlap(3)
    assert mean.loc[("good", "poor"), "jaccard"] == pytest.approx(expected.mean())
    both = rn.rbo(lists["good"], lists["poor"], k=3)
    assert mean.loc[("good", "poor"), "rbo"] == pytest.approx(both.mean())


def test_another_order_in_another_metric_is_said() -> None:
    """NDCG against DCG, mean against pooled."""
    small = [
        (f"s{user}", item, est, true)
        for user in range(30)
        for item, est, true in [("x", 2.0, 2.0), ("y", 1.0, 1.0)]
    ]
    swapped = [(user, item, 3 - est, true) for user, item, est, true in small]
    large = [(f"t{user}", f"i{item}", -item, 5.0 - item) for user in range(10) for item in range(5)]
    turned = [(user, item, -est, true) for user, item, est, true in large]
    found = rn.compare({"a": small + turned, "b": swapped + large}, metrics=["ndcg@5", "dcg@5"])
    told = " ".join(found.remarks)
    assert "ndcg@5 and dcg@5 order 1 of 1 pairs differently: a is ahead of b" in told
    assert "ndcg@5 and pooled ndcg@5 order 1 of 1 pairs differently" in told


def test_some_models_may_have_no_score_for_a_user() -> None:
    """Each pair is compared over the users whom both have a score for, and that is said."""
    true = ratings(30)
    one = [(user, item, est, grade) for user, item, est, grade in model(true, 1.0, 0)]
    two = [
        (user, item, est - 100 if user < "u0010" else est, grade)
        for user, item, est, grade in model(true, 1.0, 1)
    ]
    found = rn.compare(
        {"one": one, "two": two},
        metrics=["precision@5"],
        threshold=4,
        convention=rn.Convention(recommend_from=0.0, short_list="n"),
    )
    row, scores = found.pairwise.iloc[0], found.per_user["precision@5"]
    both = (scores["one"] - scores["two"]).notna()
    assert row["users"] == both.sum() < found.leaderboard["users"].max()
    apart = (scores["one"] - scores["two"])[both]
    assert row["difference"] == pytest.approx(apart.mean())
    assert any("have a score in precision@5 by some models" in line for line in found.remarks)


def test_a_sign_test_speaks_for_who_wins_more_users() -> None:
    """Though the other one has the higher mean."""
    one: list[tuple[str, str, float, float]] = []
    two: list[tuple[str, str, float, float]] = []
    for user in range(100):
        wins = user < 80
        for item, grade in enumerate((3.0, 2.5, 0.0) if wins else (9.0, 0.0, 0.0)):
            good, bad = (3 - item, item) if not wins else (3 - item, (0, 1, -1)[item])
            one.append((f"u{user:03}", f"i{item}", float(good if wins else bad), grade))
            two.append((f"u{user:03}", f"i{item}", float(bad if wins else good), grade))
    with pytest.warns(rn.DataWarning, match="disputed"):
        found = rn.compare({"one": one, "two": two}, metrics=["ndcg@3"], test="sign")
    board = found.leaderboard
    assert board["mean"]["two"] > board["mean"]["one"]
    assert board["tier"].to_dict() == {"one": 1, "two": 2}


def test_errors_of_ones_own_stay_errors_in_a_file(tmp_path: Path) -> None:
    """Also where the metric is not known any more."""
    paths = {name: tmp_path / f"{name}.json" for name in ("good", "poor")}
    for name, path in paths.items():
        rn.evaluate(models()[name], metrics=["ndcg@3"]).save(path)
        text = path.read_text(encoding="utf-8").replace("ndcg@3", "homemade@3")
        told = '"greater_is_better": '
        assert f"{told}true" in text
        path.write_bytes(signed(json.loads(text.replace(f"{told}true", f"{told}false"))))
    board = rn.compare(paths).leaderboard
    assert board.index[0] == "poor"
    assert board["mean"]["poor"] < board["mean"]["good"]


def test_saved_reports_have_segments_too(tmp_path: Path) -> None:
    """Their files are no tables of users; labels may be anything."""
    paths = {}
    for name, rows in models().items():
        paths[name] = tmp_path / f"{name}.json"
        rn.evaluate(rows).save(paths[name])
    found = rn.compare(paths, by="activity").segments
    assert found.loc["ndcg@10"]["users"].sum() == 60 * 3
    labels = {user: (1, "a") if user < "u0030" else (2, "b") for user in rn.compare(paths).users}
    table = rn.compare(paths, by=labels).segments
    assert table.index.get_level_values("segment").unique().tolist() == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("method", ["t", "percentile", "bca"])
def test_intervals_are_those_of_the_reports(reports: dict[str, rn.Report], method: str) -> None:
    """Of every metric and model; users are resampled alike."""
    found = rn.compare(reports).intervals(0.9, method=method, draws=299, seed=1)
    for name, report in reports.items():
        own = report.intervals(0.9, method=method, draws=299, seed=1)
        ours: Any = found.xs(name, level="model")
        np.testing.assert_allclose(ours.to_numpy(), own.loc[METRICS].to_numpy(), rtol=1e-6)
    with rejects("method must be one of"):
        rn.compare(reports).intervals(method="jackknife")
