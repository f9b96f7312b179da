"""compare: its tables against reports, and against plain Python."""

from __future__ import annotations

import json
import math
import statistics
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from tests.comparison.models import model, models, ratings
from tests.errors import assert_rejected
from tests.files.signing import signed

MODELS = models()
METRICS = ["ndcg@3", "precision@3", "recall@3", "rmse"]
REPORTS = {name: rn.evaluate(MODELS[name], metrics=METRICS, threshold=4) for name in MODELS}
COMPARED = rn.compare(REPORTS)


def test_the_leaderboard_repeats_the_reports_numbers() -> None:
    """To the last bit, with the best mean first, which is the smallest of errors."""
    assert COMPARED.metrics == METRICS
    for metric, table in COMPARED.leaderboards.items():
        assert list(table.index) == ["good", "fair", "poor"]
        assert table["rank_low"].is_monotonic_increasing
        for name, row in table.iterrows():
            report = REPORTS[str(name)]
            ends = report.intervals().loc[metric]
            assert row["mean"] == report.mean[metric]
            assert row["pooled"] == pytest.approx(report.pooled[metric], rel=1e-14)
            assert (row["ci_low"], row["ci_high"]) == (ends["mean_low"], ends["mean_high"])
            if metric != "rmse":  # a root is linearised here, its interval's ends are roots there
                pooled = [row["pooled_low"], row["pooled_high"]]
                assert pooled == pytest.approx([ends["pooled_low"], ends["pooled_high"]], rel=1e-9)
            same = ["chance", "adjusted", "users"]
            np.testing.assert_allclose(row[same].astype(float), report.summary.loc[metric, same])
    per_user = COMPARED.per_user
    for metric, (name, report) in product(METRICS, REPORTS.items()):
        scores, expected = per_user[metric, name], report.per_user[metric]
        pd.testing.assert_series_equal(scores, expected, check_names=False)
    per_user.loc[:, :] = 0.0  # tables are copies: the comparison itself does not change
    assert COMPARED.per_user["ndcg@3", "fair"].mean() > 0


def test_pairs_are_what_plain_python_and_scipy_compute() -> None:
    """Differences, wins, d_z and Student's t, user by user; of errors, less is better."""
    pairs = rn.compare(REPORTS, correction="none").pairwise
    assert len(pairs) == len(METRICS) * 3
    for row in pairs.to_dict("records"):
        one, other = (REPORTS[row[name]].per_user[row["metric"]] for name in "ab")
        difference = [x - y for x, y in zip(one, other, strict=True) if not math.isnan(x - y)]
        gain = [-x if row["metric"] == "rmse" else x for x in difference]
        mean, deviation = statistics.fmean(difference), statistics.stdev(difference)
        outcomes = [row[one] for one in ("wins", "ties", "losses", "trivial")]
        assert row["users"] == len(difference) == sum(outcomes)
        share = (row["wins"] + (row["ties"] + row["trivial"]) / 2) / row["users"]
        assert row["common_language"] == pytest.approx(share)
        assert row["standard_error"] == pytest.approx(deviation / len(difference) ** 0.5)
        base = statistics.fmean(other[~(one - other).isna()])
        assert row["relative"] == pytest.approx(mean / base)
        assert row["runs"] == 0
        assert row["difference"] == pytest.approx(mean, abs=1e-12)
        assert row["d_z"] == pytest.approx(mean / deviation)
        assert row["wins"] == sum(x > 1e-12 for x in gain)
        assert row["losses"] == sum(x < -1e-12 for x in gain)
        test = stats.ttest_1samp(difference, 0.0)
        assert row["p"] == row["p_corrected"] == pytest.approx(test.pvalue, rel=1e-6)
        assert (row["statistic"], row["df"]) == pytest.approx((test.statistic, test.df))
        winner = row["a" if sum(gain) > 0 else "b"]
        assert row["better"] == (winner if test.pvalue <= 0.05 else None)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(test.confidence_interval()))
        assert row["interval"] == "per pair"


@pytest.mark.parametrize("metric", ["recall@3", "rmse"])
def test_pooled_scores_have_a_test_of_their_own(metric: str) -> None:
    """Student's t of the linearised parts n - r·d, times the slope of a root.

    Of the users for whom the denominator is not 0.
    """
    pairs = rn.compare(REPORTS, metrics=[metric], correction="none").pairwise
    for row in pairs.to_dict("records"):
        parts = []
        for name in (row["a"], row["b"]):
            scores, at = REPORTS[name]._data.scores, METRICS.index(metric)
            some = scores.denominator[:, at] != 0
            top, bottom = scores.numerator[some, at], scores.denominator[some, at]
            ratio = top.sum() / bottom.sum()
            rest = (top - ratio * bottom) / bottom.mean()
            root = math.sqrt(ratio)
            parts.append(root + rest / (2 * root) if metric == "rmse" else ratio + rest)
        test = stats.ttest_rel(*parts)
        pooled = REPORTS[row["a"]].pooled[metric] - REPORTS[row["b"]].pooled[metric]
        expected = [pooled, *test.confidence_interval()]
        found = [row[f"pooled_{what}"] for what in ("difference", "low", "high")]
        assert found == pytest.approx(expected)
        assert row["pooled_p"] == pytest.approx(test.pvalue, rel=1e-6)


def test_the_pooled_test_of_errors_is_the_same_in_any_unit() -> None:
    """And it accepts a model without errors, where a root has no slope."""
    both = models(users=30, one=1.0, other=1.2)
    both["perfect"] = [(user, item, true, true) for user, item, _, true in both["one"]]
    scaled = {
        name: [(user, item, 1e5 * est, 1e5 * true) for user, item, est, true in rows]
        for name, rows in both.items()
    }
    plain, other = (rn.compare(data, metrics=["rmse"]).pairwise for data in (both, scaled))
    columns = ["pooled_difference", "pooled_low", "pooled_high"]
    np.testing.assert_allclose(other[columns] / 1e5, plain[columns], rtol=1e-6)
    np.testing.assert_allclose(other["pooled_p"], plain["pooled_p"], rtol=1e-6)
    pooled = rn.evaluate(both["one"], metrics=["rmse"]).pooled["rmse"]
    assert plain["pooled_difference"][1] == pytest.approx(pooled)
    assert 0 < plain["pooled_p"][1] < 0.001


COMBINED: list[tuple[Any, Any, list[str]]] = [
    (["precision", "ndcg@1"], np.array([1, 3]), ["precision@1", "precision@3", "ndcg@1"]),
    (["ndcg@3", "rmse", "ndcg"], [3, 1], ["ndcg@3", "rmse", "ndcg@1"]),
    ("ndcg", iter, ["ndcg@1", "ndcg@3"]), (iter, np.int64(3), ["ndcg@3", "rmse"]),
]  # fmt: skip


@pytest.mark.parametrize(("metrics", "k", "expected"), COMBINED)
def test_metrics_and_cutoffs_combine_as_in_evaluate(metrics: Any, k: Any, expected: Any) -> None:
    """For predictions and reports; the first model does not use up an iterator."""
    how: dict[str, Any] = {"metrics": ["precision", "ndcg", "rmse"], "k": [1, 3], "threshold": 4}
    data = models(users=20)
    single: dict[str, Any] = {name: rn.evaluate(rows, **how) for name, rows in data.items()}
    both: list[tuple[Any, dict[str, Any]]] = [(data, {"threshold": 4}), (single, {})]
    for given, options in both:
        cutoffs = iter([1, 3]) if k is iter else k
        names = iter(["ndcg", "rmse"]) if metrics is iter else metrics
        found = rn.compare(given, metrics=names, k=cutoffs, **options)
        assert found.metrics == expected
        for name, report in single.items():
            means = [found.leaderboards[metric].loc[name, "mean"] for metric in expected]
            assert means == report.mean[expected].tolist()


def test_ranks_tiers_and_letters_follow_from_the_pairs() -> None:
    """1 + significantly better, N - significantly worse; equals share a letter."""
    noise = {f"m{place}": 0.5 + 0.35 * place for place in range(7)}
    found = rn.compare(models(users=80, seed=5, **noise), metrics=["ndcg@5"])
    board, pairs = found.leaderboard, found.pairwise
    sure = pairs[pairs["p_corrected"] <= 0.05].to_dict("records")
    assert 0 < len(sure) < len(pairs)
    ahead = [(row["a"], row["b"])[:: 1 if row["difference"] > 0 else -1] for row in sure]
    for name, row in board.iterrows():
        assert row["tier"] == row["rank_low"] == 1 + sum(loser == name for _, loser in ahead)
        assert row["rank_high"] == len(board) - sum(winner == name for winner, _ in ahead)
    for pair in pairs.to_dict("records"):
        shared = set(board["letters"][pair["a"]]) & set(board["letters"][pair["b"]])
        assert bool(shared) == (pair["p_corrected"] > 0.05)


@pytest.mark.parametrize("baseline", [None, "poor", "chance"])
def test_users_are_won_tied_and_lost_against_the_baseline(baseline: str | None) -> None:
    """The first model, the named one, or each user's chance level."""
    board = rn.compare(REPORTS, metrics=["ndcg@3"], baseline=baseline).leaderboard
    name = baseline or "good"
    columns = ["won", "tied", "lost"]
    assert board.loc[name, columns].isna().all()
    scores: dict[str, Any] = {one: report.per_user["ndcg@3"] for one, report in REPORTS.items()}
    if baseline == "chance":
        scores["chance"] = REPORTS["good"].per_user_audit("ndcg@3")["chance"]
        assert board.loc["chance", "mean"] == scores["chance"].mean()
        assert board.loc["chance", "adjusted"] == pytest.approx(0)
    for other in set(REPORTS) - {name}:
        gain = scores[other] - scores[name]
        counted = [(gain > 1e-12).sum(), (gain.abs() <= 1e-12).sum(), (gain < -1e-12).sum()]
        assert [board[column][other] for column in columns] == counted


def test_whatever_evaluate_accepts_can_be_compared(tmp_path: Path) -> None:
    """Rows, a table, a file, lists, a report and a saved one: the same numbers."""
    rows, path, saved = MODELS["good"], tmp_path / "rows.csv", tmp_path / "saved.json"
    table = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    table.to_csv(path, index=False)
    report = rn.evaluate(rows)
    report.save(saved)
    data = {"rows": rows, "table": table, "file": str(path), "lists": to_lists(rows)}
    data |= {"report": report, "saved": saved}
    board = rn.compare(data).leaderboard
    assert (board["mean"] == report.mean["ndcg@10"]).all()
    assert (board["rank_high"] == len(data)).all()


def test_the_order_of_rows_and_models_changes_no_number() -> None:
    """Draws are seeded."""
    both = models(users=40)
    mixed = {name: rows[::-1] for name, rows in reversed(both.items())}
    one, two = rn.compare(both), rn.compare(mixed, baseline="good")
    columns = ["mean", "ci_low", "pooled", "pooled_low", "adjusted", "won", "users"]
    left, right = (found.leaderboard[columns].sort_index() for found in (one, two))
    pd.testing.assert_frame_equal(left, right, check_exact=True)
    pd.testing.assert_frame_equal(one.pairwise, rn.compare(both).pairwise, check_exact=True)


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
@pytest.mark.parametrize("correction", ["max-T", "holm", "bonferroni", "bh", "none"])
def test_every_test_and_correction_finds_a_clear_difference(test: str, correction: str) -> None:
    """No p-value is 0."""
    found = rn.compare(MODELS, metrics=["ndcg@5"], test=test, correction=correction, draws=999)
    row = found.pairwise.query("a == 'good' and b == 'poor'").iloc[0]
    assert 0 < row["p"] <= row["p_corrected"] < 0.05
    assert found.leaderboard["tier"]["poor"] > 1


def test_disputed_tests_come_with_the_papers_on_both_sides() -> None:
    """As a warning, and in the remarks."""
    with pytest.warns(rn.DataWarning, match="Urbano.*Ihemelandu.*ECIR 2025"):
        found = rn.compare(MODELS, metrics=["ndcg@5"], test="wilcoxon")
    assert any("Urbano" in line for line in found.remarks)
    assert found._data.tested_by.startswith("Wilcoxon")


def test_movers_are_the_users_with_the_largest_differences() -> None:
    """Both lists are shown side by side; users without a difference are no movers."""
    movers = COMPARED.movers(5, a="poor", b="good")
    gain = (REPORTS["good"].per_user["ndcg@3"] - REPORTS["poor"].per_user["ndcg@3"]).sort_values()
    expected = [*gain.tail(5)[::-1], *gain[gain < 0].head(5)[::-1]]
    assert movers.table["improvement"].tolist() == expected
    user = movers.table.index[0]
    lists = movers.explain(user, 3)
    assert lists["good"]["item"].tolist() == REPORTS["good"].explain(user, 3)["item"].tolist()
    assert list(dict.fromkeys(lists.columns.get_level_values(0))) == ["poor", "good"]
    errors = COMPARED.movers(1, metric="rmse", a="poor", b="good").table.iloc[0]
    assert errors["improvement"] == errors["poor"] - errors["good"] > 0
    same = rn.compare({"a": MODELS["good"], "b": list(MODELS["good"])})
    assert same.movers(3).table.empty


def test_ids_of_folds_keep_their_digits() -> None:
    """Signed numbers in one fold, and in another those that only unsigned ones can hold."""
    ids = [np.array([1, 2]), np.array([2**63 + 5, 2**63 + 7], dtype=np.uint64)]
    rows = {"item": [1, 1, 2, 2], "estimated": [3, 3, 2, 2], "true": [5, 4, 4, 5]}
    runs = [rn.evaluate({"user": np.tile(users, 2), **rows}) for users in ids]
    found = rn.compare({"a": runs, "b": runs[::-1]})
    assert found.per_user.index.tolist() == [1, 2, 2**63 + 5, 2**63 + 7]


def test_models_overlap_as_their_lists_do() -> None:
    """Of each pair, and of each user."""
    good, poor = (REPORTS[name]._data.audit.lists for name in ("good", "poor"))
    per_user, mean = COMPARED.overlap(3, per_user=True), COMPARED.overlap(3)
    overlaps = {"jaccard": rn.jaccard_at_k(good, poor, 3), "rbo": rn.rbo(good, poor, k=3)}
    for name, expected in overlaps.items():
        found = per_user["good", "poor", name]
        pd.testing.assert_series_equal(found, expected, check_names=False)
        assert mean.loc[("good", "poor"), name] == pytest.approx(expected.mean())


@pytest.mark.filterwarnings("ignore:.*random order score:recsys_ndcg.DataWarning")
def test_remarks_name_metrics_that_order_two_models_differently() -> None:
    """NDCG against DCG, mean against pooled."""
    small = [
        (f"s{user}", f"i{item}", -item, 2.0 - item) for user in range(240) for item in range(2)
    ]
    large = [(f"t{user}", f"i{item}", -item, 5.0 - item) for user in range(80) for item in range(5)]
    reversed_small, reversed_large = (
        [(user, item, -est, true) for user, item, est, true in rows] for rows in (small, large)
    )
    data = {"a": small + reversed_large, "b": reversed_small + large}
    findings = rn.compare(data, metrics=["ndcg@5", "dcg@5"]).findings.set_index("kind")
    orders = findings.loc["different_order"]
    assert orders["models"].tolist() == [("a", "b"), ("a", "b")]
    assert [numbers["pooled"] for numbers in orders["numbers"]] == [True, False]
    noise = rn.compare(models(40, one=1.0, two=1.01), metrics=["ndcg@5", "dcg@5"], alpha=0.01)
    assert "different_order" not in noise.findings["kind"].to_numpy()


def test_a_pair_is_compared_over_the_users_who_have_a_score_in_both_models() -> None:
    """A remark counts the others."""
    data = {name: model(ratings(30), 1.0, seed) for seed, name in enumerate(("one", "two"))}
    data["two"] = [  # of whom nothing is recommended to ten users
        (user, item, est - 100 * (user < "u0010"), grade) for user, item, est, grade in data["two"]
    ]
    convention = rn.Convention(recommend_from=0.0, short_list="n")
    found = rn.compare(data, metrics=["precision@5"], threshold=4, convention=convention)
    row, scores = found.pairwise.iloc[0], found.per_user["precision@5"]
    difference = (scores["one"] - scores["two"]).dropna()
    assert row["users"] == len(difference) < found.leaderboard["users"].max()
    assert row["difference"] == pytest.approx(difference.mean())
    assert any("have a score in precision@5 from some models" in line for line in found.remarks)


def test_a_sign_test_ranks_first_who_wins_more_users() -> None:
    """Though the other one has the higher mean."""
    rows: dict[str, Any] = {"one": [], "two": []}
    for user in range(100):
        few = user >= 80
        for item, grade in enumerate((9.0, 0.0, 0.0) if few else (3.0, 2.5, 0.0)):
            orders = (item, 3 - item) if few else (3 - item, (0, 1, -1)[item])
            for name, order in zip(rows, orders, strict=True):
                rows[name].append((f"u{user:03}", f"i{item}", float(order), grade))
    with pytest.warns(rn.DataWarning, match="disputed"):
        board = rn.compare(rows, metrics=["ndcg@3"], test="sign").leaderboard
    assert board["mean"]["two"] > board["mean"]["one"]
    assert board["tier"].to_dict() == {"one": 1, "two": 2}


def test_your_own_error_metric_stays_an_error_in_a_file(tmp_path: Path) -> None:
    """Also if the metric is not defined any more."""
    paths = {name: tmp_path / f"{name}.json" for name in ("good", "poor")}
    for name, path in paths.items():
        rn.evaluate(MODELS[name], metrics=["ndcg@3"]).save(path)
        text = path.read_text(encoding="utf-8").replace("ndcg@3", "homemade@3")
        head = text.replace('"greater_is_better": true', '"greater_is_better": false')
        assert head != text
        path.write_bytes(signed(json.loads(head)))
    board = rn.compare(paths).leaderboard
    assert board.index[0] == "poor"
    assert board["mean"]["poor"] < board["mean"]["good"]


@pytest.mark.parametrize("method", ["t", "percentile", "bca"])
def test_intervals_repeat_the_reports(method: str) -> None:
    """Of every metric and model, from the same resampled users."""
    how: dict[str, Any] = {"method": method, "draws": 299, "seed": 1}
    found = COMPARED.intervals(0.9, **how)
    for name, report in REPORTS.items():
        expected = report.intervals(0.9, **how).loc[METRICS]
        own: Any = found.xs(name, level="model")
        np.testing.assert_allclose(own.to_numpy(), expected.to_numpy(), rtol=1e-6)
    assert_rejected("method must be one of", COMPARED.intervals, method="jackknife")


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_a_user_of_several_seeds_is_tied_if_any_seed_has_ties() -> None:
    """In any order of the seeds, whose other counts are those of one of them."""
    tied, apart = (rn.evaluate({1: [(4, 5), (3 + one, 2)]}) for one in (1, 0))
    for runs in ([tied, apart], [apart, tied]):
        (first, _) = rn.compare({"seeds": runs, "one": [apart, apart]})._data.model_scores.values()
        assert (first.counts.tied.tolist(), first.counts.n_items.tolist()) == ([True], [2])


def test_values_for_json_are_those_of_the_tables() -> None:
    """Each under its name; the intervals are those of the leaderboards, of chance, too."""
    rng = np.random.default_rng(0)
    truth = [(user, item, float(rng.integers(1, 6))) for user in range(30) for item in range(8)]
    models = {
        name: [(*one[:2], one[2] + noise * rng.normal(), one[2]) for one in truth]
        for name, noise in (("a", 1.0), ("b", 3.0))
    }
    how: Any = {"metrics": ["precision@2", "ndcg@3"], "threshold": 4, "baseline": "chance"}
    found = rn.compare(models, **how)
    plain = found.to_dict()
    known = {"models": ["chance", "a", "b"], "metrics": how["metrics"], "users": 30}
    known |= {"baseline": "chance", "segments": None}
    assert {name: plain[name] for name in known} == known
    assert plain["how"]["alpha"] == 0.05
    assert len(plain["pairwise"]) == len(found.pairwise)
    assert plain["signatures"]["ndcg@3"] == found.signature("ndcg@3").text
    board, ends = found.leaderboards["precision@2"], found.intervals()
    # all users have the same denominator, so both means are equal
    assert board["pooled"].astype(float).to_dict() == pytest.approx(board["mean"].to_dict())
    columns = {"mean": "ci", "pooled": "pooled"}
    for mean, name in columns.items():
        for end in ("low", "high"):
            expected = board[f"{name}_{end}"].astype(float).to_dict()
            own: Any = ends.loc["precision@2", f"{mean}_{end}"]
            assert own.to_dict() == pytest.approx(expected)
    assert [*ends] == ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    wide = found.intervals(0.99)
    assert (wide["mean_high"] > ends["mean_high"]).all()
