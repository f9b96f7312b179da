"""Comparisons as text, Markdown, LaTeX, HTML and plain values."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.rendering.wording import number
from tests.comparison.models import models
from tests.errors import rejects

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

METRICS = ["ndcg@5", "precision@3", "rmse"]
HOSTILE = "\x1b[2J\u202e=_$&%#{~^}<b>|*`[x](y)\\\n- "


@pytest.fixture(name="comparison", scope="module")
def _comparison() -> rn.Comparison:
    drawn = models(60, fair=2.0, good=0.8, poor=6.0, like=0.81)
    drawn["like"] = [(user, item, 3 * one, true) for user, item, one, true in drawn["like"]]
    return rn.compare(drawn, metrics=METRICS, threshold=4)


def _rows(markdown: str) -> list[list[str]]:
    """Return the cells of the lines that are rows of a table."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def _cells_of(html: str) -> list[list[str]]:
    rows = html.partition("<tbody>")[2].split("</tr>")[:-1]
    return [re.findall("<td>(.*?)</td>", row) for row in rows]


def test_the_text_begins_with_how_many_models_and_users_were_tested_and_how(
    comparison: rn.Comparison,
) -> None:
    """Then the leaderboard, the verdict, what to know, and how it was computed."""
    first, second, heading, *rest = str(comparison).splitlines()
    assert first == "4 models, 60 users, paired t test, max-T over 6 pairs, alpha 0.05"
    assert second == "ndcg@5; won, tied, lost: users, against fair"
    assert heading.split() == [
        "tier", "model", "mean", "±95%", "pooled", "chance", "adjusted", "won", "tied", "lost",
        "rank", "precision@3", "rmse",
    ]  # fmt: skip
    board = comparison.leaderboard
    for line, (name, row) in zip(rest, board.iterrows(), strict=False):
        tier, model, mean, half, *others = line.split()
        assert (tier, model) == (str(row["tier"]), name)
        assert mean == f"{row['mean']:.4f}"
        assert half == f"{row['mean'] - row['ci_low']:.4f}"
        counts = ["-" if pd.isna(row[one]) else str(row[one]) for one in ("won", "tied", "lost")]
        low, high = row["rank_low"], row["rank_high"]
        assert others[3:7] == [*counts, str(low) if low == high else f"{low}–{high}"]
        means = [comparison.leaderboards[one]["mean"] for one in METRICS[1:]]
        assert others[7:] == [f"{one[model]:.4f}" for one in means]
    below = rest[4:]
    assert below[0] == comparison.verdict
    assert below[1:-2] == [f"- {line}" for line in comparison.remarks]
    assert below[-2] == comparison.signatures["ndcg@5"]
    assert below[-1].startswith("the same for precision@3|users:")
    assert repr(comparison) == str(comparison)


def test_the_top_tier_is_bold_and_not_the_top_row(comparison: rn.Comparison) -> None:
    """In Markdown and LaTeX; letters join what cannot be told apart."""
    board = comparison.leaderboard
    top = {name for name, tier in board["tier"].items() if tier == 1}
    assert 1 < len(top) < 4
    rows = _rows(comparison.to_markdown())[2:]
    assert {row[1].strip("*") for row in rows if row[1].startswith("**")} == top
    assert {row[1].strip("*") for row in rows if re.fullmatch(r"\*\*[\d.]+\*\*", row[2])} == top
    lines = [line for line in comparison.to_latex().splitlines() if line.endswith(r"\\")][1:]
    for line, (name, row) in zip(lines, board.iterrows(), strict=True):
        model, mean = line.split(" & ")[1:3]
        number, letters = f"{row['mean']:.4f}", rf"\textsuperscript{{{row['letters']}}}"
        if name in top:
            assert (model, mean) == (rf"\textbf{{{name}}}", rf"\textbf{{{number}}}{letters}")
        else:
            assert (model, mean) == (name, number + letters)


def test_latex_is_a_table_whose_caption_says_what_is_shown(comparison: rn.Comparison) -> None:
    """And how it was tested; no label, which is the paper's; the rest are comments."""
    lines = comparison.to_latex("rmse").splitlines()
    table = [line for line in lines if not line.startswith("% ")]
    assert table[:2] == [r"\begin{table}", r"\centering"]
    assert table[-1] == r"\end{table}"
    caption = table[2]
    short = comparison.signature("rmse").short.replace("|", r"\textbar{}")
    for told in ("4 models, 60 users", comparison.tested_by, "rmse; won", "first tier", short):
        assert told in caption
    assert r"\label" not in "".join(lines)
    rules = [one for one in table if "rule" in one]
    assert rules == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert lines[0] == f"% {comparison.verdict_in('rmse')}"


def test_every_metric_has_its_own_table_and_verdict(comparison: rn.Comparison) -> None:
    """The others stand behind it; an error has no chance level, and so no columns for it."""
    rows = _rows(comparison.to_markdown("RMSE"))
    assert "chance" not in rows[0]
    assert "adjusted" not in rows[0]
    assert rows[0][-2:] == ["ndcg@5", "precision@3"]
    assert [row[1].strip("*") for row in rows[2:]] == list(comparison.leaderboards["rmse"].index)
    assert "in rmse" in comparison.verdict_in("rmse")
    assert comparison.verdict_in("ndcg@5") == comparison.verdict
    assert comparison.signature("rmse") == comparison.signatures["rmse"]
    with rejects("no metric 'recall@5'; it has ndcg@5"):
        comparison.to_markdown("recall@5")


def test_pairs_stand_with_their_intervals(comparison: rn.Comparison) -> None:
    """Differences have a sign, also where it is a minus of LaTeX."""
    table = comparison.pairwise[comparison.pairwise["metric"] == "ndcg@5"]
    heading, _, *rows = _rows(comparison.to_markdown(pairs=True))
    assert heading == [
        "a", "b", r"difference \[95%\]", r"d\_z", "wins/ties/losses", "p", "corrected p",
    ]  # fmt: skip
    for cells, row in zip(rows, table.to_dict("records"), strict=True):
        assert cells[:2] == [row["a"], row["b"]]
        ends = [f"{row[one]:+.4f}" for one in ("difference", "ci_low", "ci_high")]
        assert cells[2] == rf"{ends[0]} \[{ends[1]}, {ends[2]}\]"
        assert cells[4] == f"{row['wins']}/{row['ties']}/{row['losses']}"
        small = row["p_corrected"] < 0.0001
        assert cells[6] == (r"\<0.0001" if small else f"{row['p_corrected']:.4f}")
    latex = comparison.to_latex(pairs=True)
    assert "{[}$-$0." in latex
    assert not re.search(r"[ \[]-\d", latex.partition(r"\midrule")[2])


def test_an_interval_that_is_not_simultaneous_is_said_to_be_the_pairs_own() -> None:
    """Where there are several, and not of one pair."""
    data = models(60)
    together = rn.compare(data).to_markdown(pairs=True)
    assert "the intervals of all 3 pairs hold together" in together
    alone = rn.compare(data, correction="holm")
    for text in (alone.to_markdown(pairs=True), alone.to_latex(pairs=True)):
        assert "each interval is its pair's own, so that all 3 hold together less often" in text
    del data["poor"]
    pair = rn.compare(data, correction="holm", alpha=0.1).to_markdown(pairs=True)
    assert "hold together" not in pair
    assert r"difference \[90%\]" in pair
    assert "paired t test, alpha 0.1" in pair


def test_the_level_is_that_of_the_comparison() -> None:
    """And margins have their own columns."""
    found = rn.compare(models(60), alpha=0.01, margin=0.02)
    assert "±99%" in str(found)
    heading = _rows(found.to_markdown(pairs=True))[0]
    assert heading[-3:] == ["p: a not worse", "p: b not worse", "p: equivalent"]


def test_names_do_nothing() -> None:
    """Whatever stands in them, in any form."""
    data = models(30)
    found = rn.compare({HOSTILE: data["good"], "=1+1": data["poor"]}, metrics=["ndcg@3"])
    for text in (str(found), found.to_markdown(), found.to_latex(), found.to_markdown(pairs=True)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "[2J" in text
    markdown = found.to_markdown()
    row = next(line for line in markdown.splitlines() if "[2J" in line)
    assert r"=\_\$\&%\#\{\~^\}\<b\>\|\*\`\[x\](y)\\\\n-" in row
    assert len(_rows(markdown)) == 4
    latex = found.to_latex()
    row = next(line for line in latex.splitlines() if "{[}2J" in line and line.endswith(r"\\"))
    assert r"\_\$\&\%\#\{\textasciitilde{}\textasciicircum{}\}\textless{}b" in row
    assert r"\textbackslash{}x1b" in row
    html = found._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert found.to_dict()["models"] == [HOSTILE, "=1+1"]


def test_a_metric_may_be_called_like_a_column() -> None:
    """Both are there."""

    @rn.metric
    def rank(rank: Floats) -> Floats:
        """Weights by rank."""
        return 1 / rank

    found = rn.compare(models(30), metrics=["ndcg@3", rank(None)], threshold=4)
    assert found.metrics[1] == "rank"
    assert _rows(found.to_markdown())[0][-2:] == ["rank", "mean rank"]


def test_what_is_missing_is_a_dash() -> None:
    """And not NaN, of users or of tests."""
    relevant = rn.compare(models(30), metrics=["recall@3"], threshold=5)
    assert "nan" not in str(relevant).lower()
    alone = rn.compare({"a": {"ann": [(2, 5), (1, 3)]}, "b": {"ann": [(1, 5), (2, 3)]}})
    text = str(alone)
    assert text.startswith("2 models, 1 user, ")
    assert "nan" not in text.lower()
    assert "nan" not in alone.to_markdown(pairs=True).lower()


def test_folds_have_their_spread() -> None:
    """A column of its own."""
    runs = {
        name: [rn.evaluate(models(30, seed)[name]) for seed in (1, 2)] for name in ("good", "poor")
    }
    found = rn.compare(runs)
    rows = _rows(found.to_markdown())
    assert rows[0][-1] == "spread"
    assert rows[2][-1] == f"{found.leaderboard['spread'].iloc[0]:.4f}"


def test_the_frame_has_the_leaderboards_of_all_metrics(comparison: rn.Comparison) -> None:
    """Below each other."""
    frame = comparison.to_frame()
    assert frame.index.names == ["metric", "model"]
    for name, board in comparison.leaderboards.items():
        pd.testing.assert_frame_equal(pd.DataFrame(frame.xs(name, level="metric")), board)


def test_plain_values_are_what_json_holds(comparison: rn.Comparison) -> None:
    """Every digit, in order; what is not there is null."""
    told = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert told["models"] == ["fair", "good", "poor", "like"]
    assert told["users"] == 60
    assert told["how"] == {
        "test": "t", "correction": "max-T", "alpha": 0.05, "draws": 10000, "seed": 0,
        "margin": None,
    }  # fmt: skip
    for name, board in comparison.leaderboards.items():
        rows = told["leaderboards"][name]
        assert [row["model"] for row in rows] == list(board.index)
        assert [row["mean"] for row in rows] == board["mean"].tolist()
        assert {row["won"] for row in rows if row["model"] == "fair"} == {None}
    assert [row["p"] for row in told["pairwise"]] == comparison.pairwise["p"].tolist()
    assert told["leaderboards"]["rmse"][0]["chance"] is None
    assert told["segments"] is None
    assert told["verdict"] == comparison.verdict
    assert told["remarks"] == comparison.remarks
    assert told["signatures"]["rmse"] == comparison.signatures["rmse"]
    reports = {name: rn.evaluate(rows) for name, rows in models(60).items()}
    segments = rn.compare(reports, by="list_length").to_dict()["segments"]
    assert {row["metric"] for row in segments} == {"ndcg@10"}
    assert len({row["segment"] for row in segments}) * 3 == len(segments)
    json.dumps(segments, allow_nan=False)


def test_a_terminal_of_ascii_gets_ascii(
    comparison: rn.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what stands for ± and – in plain text."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    text = str(comparison)
    assert text.isascii()
    assert "+-95%" in text
    assert " 1-2 " in text


def test_a_page_has_the_same(comparison: rn.Comparison) -> None:
    """As a part of one."""
    html = comparison._repr_html_()
    names = [cells[1] for cells in _cells_of(html)]
    assert names == list(comparison.leaderboard.index)
    assert comparison.verdict in html


@pytest.mark.parametrize(
    ("value", "plain", "with_sign"),
    [
        (-0.0, "0.0000", "+0.0000"),
        (-0.00004, "0.0000", "+0.0000"),
        (0.00004, "0.0000", "+0.0000"),
        (-0.00006, "-0.0001", "-0.0001"),
        (0.25, "0.2500", "+0.2500"),
        (-2e9, "-2e+09", "-2e+09"),
        (2e9, "2e+09", "+2e+09"),
        (math.nan, "-", "-"),
    ],
)
def test_what_rounds_to_zero_has_no_minus(value: float, plain: str, with_sign: str) -> None:
    """Of floats, and of NumPy's."""
    for one in (value, np.float64(value)):
        assert (number(one), number(one, "+")) == (plain, with_sign)
