"""The table for a paper: its numbers, and that LaTeX sets it in a narrow column."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.errors import assert_rejected

METRICS = ["ndcg@5", "precision@3", "rmse"]
FOUR = rn.compare(models(60, fair=1.2, good=0.5, like=0.5, poor=9.0), metrics=METRICS, threshold=4)
PAGE = r"\documentclass{article}\usepackage{booktabs,tabularx}\setlength{\textwidth}{240pt}"
LONG = (
    "a_model_& 50% #1 whose_name_never_ends",
    "TheVeryLongNameOfAModelWrittenLikeAClass",
    "x" * 99,
)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the lines below the heading."""
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split(" & ")] for line in lines]


def test_each_metric_has_means_letters_intervals_and_its_own_first_tier() -> None:
    """Models are in the order of the first metric."""
    text, boards = FOUR.to_latex(), FOUR.leaderboards
    found = rows(text)
    assert [row[0] for row in found[::2]] == list(FOUR.leaderboard.index)
    for scores, intervals in zip(found[::2], found[1::2], strict=True):
        for name, cell, interval in zip(METRICS, scores[1:], intervals[1:], strict=True):
            row = boards[name].loc[scores[0]]
            assert re.search(r"-?\d+\.\d{3}", cell)[0] == f"{row['mean']:.3f}"  # type: ignore[index]
            assert re.search(r"superscript{(\w+)}", cell)[1] == row["letters"]  # type: ignore[index]
            assert cell.startswith(r"\textbf{") == (row["tier"] == 1)
            ends = f"[{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
            assert interval == rf"{{\tiny {ends}}}"
    assert {name: (boards[name]["tier"] == 1).sum() for name in METRICS} != dict.fromkeys(
        METRICS, 4
    )
    assert text.startswith("% Preamble: \\usepackage{booktabs,tabularx}\n")
    assert r"\label{tab:models}" in text
    assert FOUR._data.tested_by in text
    assert r"precision@3\textbar\allowbreak{}threshold:4.0" in text.partition(r"\end{tabularx}")[2]


def test_the_caller_chooses_metrics_columns_digits_label_and_caption() -> None:
    """Other columns have intervals, too, if there are any."""
    options: dict[str, Any] = {"columns": ["mean", "pooled", "users"], "digits": 1}
    text = FOUR.to_latex(["rmse", "NDCG@5"], label="tab:x", caption="$x$", **options)
    assert r"\caption{$x$}" in text
    assert r"\label{tab:x}" in text
    assert r"\multicolumn{3}{c}{rmse} & \multicolumn{3}{c}{ndcg@5} \\" in text
    board = FOUR.leaderboards["rmse"]
    (first, below, *_) = rows(text)
    assert first[0] == board.index[0]
    assert first[2:4] == [f"{board['pooled'].iloc[0]:.1f}", "60"]
    ends = board[["pooled_low", "pooled_high"]].iloc[0]
    assert below[2:4] == [rf"{{\tiny [{ends.iloc[0]:.1f}, {ends.iloc[1]:.1f}]}}", ""]
    assert_rejected("There is no column 'men'. Did you mean 'mean'", FOUR.to_latex, columns=["men"])
    assert_rejected("has no metric 'recall@5'", FOUR.to_latex, "recall@5")
    assert FOUR.to_latex(columns="mean") == FOUR.to_latex(columns=[]) == FOUR.to_latex()
    assert_rejected("digits", FOUR.to_latex, digits=-1)


@pytest.mark.parametrize("metric", ["ndcg@5", "rmse"])
def test_with_a_baseline_signs_replace_letters(metric: str) -> None:
    """+ is better, for errors, too; nothing is bold."""
    data = models(60, fair=1.2, good=0.5, like=1.2, poor=9.0)
    found = rn.compare(data, metrics=metric, family="baseline", baseline="fair")
    text = found.to_latex()
    signs = {row[0]: re.findall(r"superscript{([^\\].*)}", row[1]) for row in rows(text)[::2]}
    assert signs == {"fair": [], "good": ["+"], "like": [], "poor": ["$-$"]}
    assert "textbf" not in text
    assert "$+$ and $-$: significantly better and worse than fair" in text


def _set(text: str, folder: Path) -> list[str]:
    """Run LaTeX in a column of 240 pt, and return its complaints."""
    path = folder / "table.tex"
    path.write_text(rf"{PAGE}\begin{{document}}{text}\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
    for _ in range(2):  # the second run knows the label
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60)  # noqa: S603
    log = (folder / "table.log").read_text(encoding="latin-1")
    return [line for line in log.splitlines() if re.match(r"!|.*full \\hbox|.*Warning", line)]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_it_fits_a_column_of_240_points(tmp_path: Path) -> None:
    """With three metrics, long and hostile names, letters, signs and missing means."""
    rows = models(60, a=0.5, b=0.6, c=1.2)
    data = dict(zip(LONG, rows.values(), strict=True))
    how: dict[str, Any] = {"threshold": 4, "metrics": ["ndcg@10", "precision@10", "recall@10"]}
    found = [rn.compare(data, **how, family=one) for one in ("pairs", "baseline")]
    found.append(rn.compare(data, metrics=["ndcg@10", "rmse"], baseline="chance"))
    tables = [FOUR.to_latex(), *(one.to_latex() for one in found)]
    tables.append(found[0].to_latex("recall@10", columns=["mean", "difference", "tier"]))
    assert [_set(text, tmp_path) for text in tables] == [[]] * len(tables)
    broken = tables[0].replace("0.", "0.1111111111111111111111", 3)
    assert any("Overfull" in line for line in _set(broken, tmp_path))


def test_a_model_without_a_mean_has_a_dash() -> None:
    """Chance, in a metric that has no chance level."""
    found = rn.compare(models(40, a=0.5, b=2.0), metrics=["ndcg@5", "rmse"], baseline="chance")
    assert found.leaderboards["rmse"]["mean"].isna()["chance"]
    (row,) = (row for row in rows(found.to_latex()) if row[0] == "chance")
    assert row[2].startswith("--")
    assert float(row[1].split("\\")[0]) > 0
