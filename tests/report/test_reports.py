"""The tables, intervals, explanations and formats of a report."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects
from tests.profiles import slow
from tests.rendering.parsed import harmless

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
SUMMARY = [
    "mean", "ci_low", "ci_high", "pooled", "median", "users", "undefined", "chance", "adjusted",
    "adjusted_low", "adjusted_high", "tie_low", "tie_high",
]  # fmt: skip
EXPLAINED = [
    "item", "estimated", "true", "relevant", "gain", "discount", "discounted_gain", "dcg",
    "ideal_item", "ideal_gain", "ideal_dcg", "ndcg",
]  # fmt: skip
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip
METRICS = ["ndcg@2", "precision@2", "recall@2", "rbp(p=0.95)@2", "rmse"]


def drawn_lists(n_users: int, seed: int) -> pd.DataFrame:
    """Return lists of very different lengths."""
    draw = np.random.default_rng(seed)
    user = np.repeat(np.arange(n_users), draw.integers(1, 30, n_users))
    quality = draw.normal(0, 1, len(user))
    frame = pd.DataFrame({"user": user, "true": np.clip(np.round(3 + quality), 1, 5)})
    return frame.assign(item=frame.index, estimated=quality + draw.normal(0, 1, len(user)))


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return rn.evaluate(ROWS, metrics=METRICS, threshold=2)


def test_the_summary_has_the_columns_of_the_contract(report: rn.Report) -> None:
    """In this order, a row per metric; chance and ties are computed by hand."""
    summary = report.summary
    assert summary.columns.tolist() == SUMMARY
    assert report.per_user.columns.tolist() == ["n_items", "n_relevant", *METRICS]
    assert (report.per_user.index.name, [*report.per_user.index]) == ("user", ["ann", "bob", "cy"])
    assert summary.index.tolist() == report.metrics == report.mean.index.tolist()
    assert summary["users"].tolist() == [3, 3, 2, 3, 3]
    assert summary["undefined"].tolist() == [0, 0, 1, 0, 0]
    medians = report.per_user[report.metrics].median()
    assert summary["median"].tolist() == pytest.approx(medians.tolist())
    pd.testing.assert_series_equal(summary["mean"], report.mean, check_names=False)
    pd.testing.assert_series_equal(summary["pooled"], report.pooled, check_names=False)
    rows: dict[Any, dict[Any, float]] = summary.to_dict("index")
    recall, chance = rows["recall@2"], (2 / 3 + 1) / 2
    assert recall["chance"] == pytest.approx(chance)
    assert recall["adjusted"] == pytest.approx((recall["mean"] - chance) / (1 - chance))
    assert math.isnan(rows["rmse"]["chance"])
    assert rows["precision@2"]["tie_low"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert rows["precision@2"]["tie_high"] == pytest.approx((2 / 2 + 1 / 2 + 0) / 3)


def test_counts_are_plain_whole_numbers(report: rn.Report) -> None:
    """A user is trivial if every order of the list has the same score."""
    expected = {
        "users": 3, "ratings": 7, "short": 0, "trivial": 0, "tied": 1, "unlabelled": 1,
        "missing": 0, "duplicates": 0, "undefined ndcg@2": 0, "undefined recall@2": 1,
    }  # fmt: skip
    assert {name: report.counts[name] for name in expected} == expected
    assert {type(value) for value in report.counts.values()} == {int}
    lists = {"one": [(1, 3)], "equal": [(1, 2), (2, 2)], "open": [(1, 3), (2, 1)]}
    assert rn.evaluate(lists, k=2).counts["trivial"] == 2
    assert rn.evaluate(lists, metrics="ndcg@5").counts["short"] == 3


# Intervals


def test_the_interval_of_a_mean_is_students() -> None:
    """As SciPy computes it, over the users with a score; of the logit if scores are in [0, 1].

    Of the logarithm if scores are only known not to be negative.
    """
    report = rn.evaluate(
        drawn_lists(60, 0), metrics=["ndcg", "recall", "dcg", "rmse"], k=5, threshold=4
    )
    for name, row in report.summary.iterrows():
        values = report.per_user[name].dropna()
        mean, error = values.mean(), stats.sem(values)
        is_bounded = name in ("ndcg@5", "recall@5")
        center, scale = np.log(mean), mean
        if is_bounded:
            center, scale = special.logit(mean), mean * (1 - mean)
        expected = np.array(stats.t.interval(0.95, len(values) - 1, center, error / scale))
        expected = special.expit(expected) if is_bounded else expected
        expected = expected if is_bounded else np.exp(expected)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([*expected])
    one = rn.evaluate({"ann": [(2, 3), (1, 1)]})
    assert one.summary[["ci_low", "ci_high"]].isna().all(axis=None)


def test_the_interval_of_a_pooled_score_is_that_of_a_bootstrap() -> None:
    """Within a fifteenth of its width, on lists of very different lengths."""
    metrics = ["ndcg@5", "precision@5", "recall@5", "rmse"]
    report = rn.evaluate(drawn_lists(3000, 1), metrics=metrics, threshold=4)
    picked = np.random.default_rng(2).integers(0, 3000, (1000, 3000))
    for place, (name, found) in enumerate(report.intervals().to_dict("index").items()):
        parts = (report._data.scores.numerator[:, place], report._data.scores.denominator[:, place])
        ratio = np.divide(*(part[picked].sum(axis=1) for part in parts))
        scores = np.sqrt(ratio) if name == "rmse" else ratio
        low, high = np.quantile(scores, [0.025, 0.975])
        ours = [found["pooled_low"], found["pooled_high"]]
        assert ours == pytest.approx([low, high], abs=(high - low) / 15)


# Explanations


def test_an_explanation_adds_up_to_the_score(report: rn.Report) -> None:
    """Rank by rank, to the number in the table."""
    for user in report.users:
        table = report.explain(user, 2)
        assert table.columns.tolist() == EXPLAINED
        assert table.index.tolist() == [1, 2]
        assert table["dcg"].tolist() == pytest.approx(table["discounted_gain"].cumsum().tolist())
        score = report.per_user["ndcg@2"].to_dict()[user]
        assert table["ndcg"].iloc[-1] == pytest.approx(score)
    assert report.explain("ann", None)["item"].tolist() == ["a", "b", "c"]
    assert report.explain("ann", 2)["gain"].tolist() == [7.0, 2.0]
    assert math.isnan(report.explain("cy")["true"].iloc[1])


FLAGGED: list[Any] = [
    ("ann", "a", 5.0, 4.0, {}), ("ann", "b", None, 3.0, {}), ("ann", "c", 2.0, 2.0, {}),
    ("ann", "d", 4.0, 1.0, {"was_impossible": True}), ("bob", "a", 1.0, 1.0, {}),
]  # fmt: skip
JOINED = rn.RankedLists.from_trec(
    {"ann": {"a": 1, "y": 4, "z": 5, "c": 3}, "bob": {"y": 2}}, {"ann": {"c": 3, "a": 2, "b": 1}}
)


IDEALS: list[tuple[Any, dict[str, Any], str, Any]] = [
    (FLAGGED, {}, "ann", "adcb"), (FLAGGED, {"impossible": "drop"}, "ann", "adc"),
    (FLAGGED, {"ideal": "max", "max_grade": 5}, "ann", [""] * 10),
    (FLAGGED, {"impossible": "drop", "ideal": "local"}, "ann", "acb"),
    (FLAGGED, {"impossible": "drop", "unlisted": "ignore"}, "ann", "acb"),
    (JOINED, {}, "ann", "zyca"), (JOINED, {"ideal": "local"}, "ann", "cab"),
    (JOINED, {"unlisted": "ignore"}, "ann", "cab"), (JOINED, {"ideal": "local"}, "bob", "y"),
]  # fmt: skip


@pytest.mark.parametrize(("lists", "options", "user", "ideal"), IDEALS)
def test_an_explanation_has_the_items_of_the_ideal_list(
    lists: Any, options: dict[str, Any], user: str, ideal: Any
) -> None:
    """Unlisted labels among them if they count; relevant items are marked."""
    how: dict[str, Any] = {"convention": rn.Convention(**options), "metrics": "ndcg@9"}
    table = rn.evaluate(lists, threshold=3, **how).explain(user)
    assert table["ideal_item"].fillna("").tolist() == [*ideal]
    listed = table["item"].notna()
    assert table["relevant"][listed].tolist() == [true >= 3 for true in table["true"][listed]]
    assert table["relevant"][~listed].isna().all()
    assert rn.evaluate(lists, **how).explain(user)["relevant"].isna().all()


# Formats


def test_a_dict_has_plain_values(report: rn.Report) -> None:
    """JSON takes them as they are; NaN is None."""
    stored = report.to_dict()
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    assert stored["per_user"]["user"] == ["ann", "bob", "cy"]
    assert stored["per_user"]["recall@2"][2] is None
    assert stored["summary"]["ndcg@2"]["mean"] == report.mean["ndcg@2"]


def test_every_format_has_the_scores_and_the_signatures(report: rn.Report, tmp_path: Path) -> None:
    """Of a saved report, too; saved again, the file is the same."""
    pytest.importorskip("vl_convert")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report.save(tmp_path / "r.json")
        loaded = rn.Report.load(tmp_path / "r.json")
        loaded.save(str(tmp_path / "again.json"))
        markdown, latex = report.to_markdown(), loaded.to_latex()
        page = report.to_html(tmp_path / "report.html")
        assert loaded.to_html()
        assert repr(page) == f"<HTML page of {len(page):,} characters>"
    assert (tmp_path / "again.json").read_text() == (tmp_path / "r.json").read_text()
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(METRICS)
    assert f"{report.mean['ndcg@2']:.4f}" in rows[2]
    assert "nan" not in markdown.lower()
    assert latex.count("\\\\\n") == 1 + len(METRICS)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    text = harmless(page).text
    for name in METRICS:
        assert report.signature(name) in markdown
        assert f"% {report.signature(name)}" in latex
        assert report.signature(name) in text
    assert str(report) == repr(report) == str(loaded)
    first, *_, signature, others = str(report).splitlines()
    assert first == "3 users, 7 ratings"
    assert signature == report.signature("ndcg@2").short
    assert "; recall@2|threshold:2.0|users:2; " in others


# One list


SHORTCUTS: dict[str, Callable[..., float]] = {
    "dcg": rn.dcg_at_k, "ndcg": rn.ndcg_at_k, "precision": rn.precision_at_k,
    "recall": rn.recall_at_k, "ap": rn.average_precision_at_k, "rr": rn.reciprocal_rank,
}  # fmt: skip
LISTS: list[Any] = [
    [(3.0, 2.0), (3.0, 5.0), (1.0, 4.0), (2.5, 0.0)], [(2.0, 1.0), (2.0, 1.0)], [3, 5, 0, 4],
]  # fmt: skip
CONVENTIONS = [
    None,
    rn.Convention(gain="linear", discount="ln", ties="worst", ap_over="capped"),
    *slow(*rn.Convention.presets()),
    "sklearn",
    "surprise_faq",
]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_function_of_one_list_agrees_with_evaluate(name: str, convention: Any) -> None:
    """With a preset's name, a convention, single choices; and its errors are the same."""
    other: dict[str, Any] = {"ties": "best", "undefined": 0.0, "short_list": "n"}
    for k, choices, rows in product((3, None), ({}, other), LISTS):
        metric, base = rn.metrics.METRICS[name](k), convention or rn.Convention()
        if isinstance(base, str):
            base = rn.Convention.preset(base, str(metric))
        if base.ideal == "max" and base.gain != "binary":
            continue
        pairs = rows if isinstance(rows[0], tuple) else [*zip((4, 3, 2, 1), rows, strict=True)]
        how: dict[str, Any] = {"threshold": 4, "convention": base.replace(**choices)}
        limited = base.recommend_from is not None and "recommend_from" in metric.reads
        message = "recommend_from" if limited and pairs is not rows else None  # no estimates
        try:
            expected = rn.evaluate({"ann": pairs}, metrics=metric, **how).per_user.iloc[0, 2]
        except rn.InvalidInputError:
            message = "."
        if message is not None:
            with rejects(message):
                SHORTCUTS[name](rows, k, threshold=4, convention=convention, **choices)
            continue
        score = SHORTCUTS[name](rows, k, threshold=4, convention=convention, **choices)
        assert type(score) is float
        np.testing.assert_array_equal(score, expected)


def test_a_function_of_one_list_rejects_unusable_conventions() -> None:
    """With the nearest name, as evaluate does."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"convention": "sklear"}, "No preset is named 'sklear'. Did you mean 'sklearn'"),
        ({"convention": "sklearn", "gian": 1}, "no option gian=. Did you mean 'gain'"),
        *(({"convention": one}, "convention") for one in (["gain"], rn.Convention)),
        ({"gain": "line"}, "gain must be one of .* or a function, not 'line'"),
    ]
    for options, message in cases:
        assert_rejected(message, rn.precision_at_k, [3, 1], 2, threshold=2, **options)
