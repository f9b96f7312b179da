"""How what was found is shown: formats, lists of what there is, widths, help and completion."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from rich.console import Console

import recsys_ndcg as rn
from recsys_ndcg.cli import application
from recsys_ndcg.cli.measuring import explanation_document
from recsys_ndcg.cli.terminal import print_document
from recsys_ndcg.convention.presets import PRESETS
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.reconciliation import reconciliation_document
from tests.commands import COMMANDS, refusal, run

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,=b|c,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,=b|c,3.5,3\n"


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    path.write_text(HEADING + ROWS)
    return path


def test_several_cutoffs_may_be_given_one_by_one(path: Path) -> None:
    """As with commas."""
    both = run("evaluate", path, "-k", "1", "-k", "2,3").stdout
    assert both == run("evaluate", path, "-k", "1,2,3").stdout
    assert [line.split()[0] for line in both.splitlines()[1:4]] == ["ndcg@1", "ndcg@2", "ndcg@3"]


def test_the_version_is_printed() -> None:
    """And nothing else is done."""
    assert run("--version").stdout == f"recsys-ndcg {rn.__version__}\n"
    assert run("--version", "evaluate", "none").exit_code == 0


def test_the_package_runs_as_a_module() -> None:
    """Under the name of the program."""
    ran = subprocess.run(
        [sys.executable, "-m", "recsys_ndcg", "metrics", "--help"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "80"},
    )  # fmt: skip
    assert ran.stdout.startswith("Usage: recsys-ndcg metrics")


def test_quiet_is_the_table_alone(path: Path) -> None:
    """Without remarks, signature and warnings; an error is told."""
    path.write_text(HEADING + "ann,a,1,5\nann,b,1,2\n")
    loud, quiet = run("evaluate", path), run("evaluate", path, "--quiet")
    assert loud.stderr.startswith("warning: ")
    assert not quiet.stderr
    assert quiet.stdout.splitlines() == loud.stdout.splitlines()[:2]
    more: list[list[str]] = [["explain", "--user", "ann"], ["reconcile", "--metric", "ndcg@2"]]
    for words in ([*one, str(path)] for one in more):
        assert "defaults:" in run(*words).stdout
        assert "defaults:" not in run(*words, "-q").stdout
    assert "k must be" in refusal("evaluate", path, "-q", "-k", "0")


def test_the_signature_is_short_unless_all_of_it_is_asked_for(path: Path) -> None:
    """Both read back as the same."""
    words = ["--convention", "gain=linear"]
    short = run("evaluate", path, *words).stdout.splitlines()[-1]
    full = run("evaluate", path, *words, "--full-signature").stdout.splitlines()[-1]
    assert len(short) < 80 < len(full)
    assert rn.Signature(short) == rn.Signature(full)
    for given in (words, [], [*words, "--full-signature"]):
        yours = run("reconcile", path, "--metric", "ndcg@2", *given).stdout.splitlines()[-1]
        expected = run("evaluate", path, *given).stdout
        for line in (yours, yours.removeprefix("yours: ")):
            again = ["--convention", line, *given[2:]]
            assert run("evaluate", path, *again).stdout == expected


def test_a_report_is_printed_in_every_format(path: Path) -> None:
    """For programs with every digit and the signature."""
    report = rn.evaluate(path, threshold=4)
    words = ["evaluate", str(path), "--threshold", "4", "--format"]
    assert run(*words, "markdown").stdout.strip() == report.to_markdown().strip()
    assert run(*words, "latex").stdout.strip() == report.to_latex().strip()
    rows = json.loads(run(*words, "json").stdout)
    table = list(csv.DictReader(io.StringIO(run(*words, "CSV").stdout)))
    assert [row["mean"] for row in rows] == report.summary["mean"].tolist()
    assert [float(row["mean"]) for row in table] == report.summary["mean"].tolist()
    for place, name in enumerate(report.metrics):
        assert rn.Signature(rows[place]["signature"]) == report.signature(name)
    bare = run(*words, "markdown", "--quiet").stdout
    assert report.to_markdown().startswith(bare.strip())
    assert "defaults" not in bare


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "--user", "ann"],
        ["reconcile", "--metric", "ndcg@2"],
        ["reconcile", "--metric", "ndcg@2", "--reported", "0.5"],
        ["presets"],
        ["metrics"],
    ],
)
def test_other_tables_are_printed_in_every_format(path: Path, words: list[Any]) -> None:
    """JSON is null where there is nothing; CSV holds no formula."""
    words = [*words, path] if words[0] in {"explain", "reconcile"} else words
    texts = {form: run(*words, "--format", form).stdout for form in ("markdown", "latex")}
    assert texts["markdown"].startswith("|")
    assert texts["latex"].startswith("\\begin{tabular}")
    rows = json.loads(run(*words, "--format", "json").stdout)
    csv = run(*words, "--format", "csv").stdout
    assert len(pd.read_csv(io.StringIO(csv))) == len(rows) > 2
    assert not re.search(r"(^|,)=", csv, flags=re.MULTILINE)
    if words[0] == "explain":
        assert [row["item"] for row in rows] == ["a", "=b|c", "c"]
        assert "'=b|c" in csv
        assert r"=b\|c" in texts["markdown"]


def test_what_there_is_is_listed() -> None:
    """A line each: the libraries with their versions, the metrics with what they are."""
    lines = run("presets").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(PRESETS)
    assert any("trec_eval 9.0.8" in line for line in lines)
    lines = run("metrics").stdout.splitlines()
    names = [re.split(r"[@( ]", line)[0] for line in lines[1:]]
    assert names == sorted(METRICS)
    assert any("mrr" in line and "One over the rank" in line for line in lines)


@pytest.mark.parametrize("width", [80, 60, 40, 30])
def test_nothing_is_cut_where_a_terminal_is_narrow(path: Path, width: int) -> None:
    """Columns stand in blocks below each other, and long rows as paragraphs."""
    report = rn.evaluate(path, metrics=["ndcg", "precision", "recall", "rmse"], threshold=4)
    screen = Console(file=io.StringIO(), width=width, soft_wrap=True, markup=False)
    print_document(report.document(), screen, quiet=True)
    rows = rn.reconcile(path, "precision@10", threshold=4)
    print_document(reconciliation_document(rows, None, []), screen, quiet=True)
    explained = explanation_document(report.explain("ann"), report.signature("ndcg@10"))
    print_document(explained, screen, quiet=True)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for row in report.summary.itertuples():
        assert f"{row.mean:.4f}" in text
    for word in ("pooled", "adjusted", "undefined", "discounted", "evaluation_for_ir"):
        assert word in text.replace("\n", "").replace(" ", "")
    assert ("\n  surprise_faq" in text) == (width < 72)
    heads = [line for line in text.splitlines() if line.split()[:1] == ["metric"]]
    assert len(heads) == {80: 1, 60: 2, 40: 3, 30: 4}[width]


def test_a_name_that_is_wider_than_a_terminal_is_folded(path: Path) -> None:
    """To its last letter."""
    item = "i" * 70
    path.write_text(HEADING + f"ann,{item},2,5\nann,b,1,2\n")
    report = rn.evaluate(path)
    document = explanation_document(report.explain("ann"), report.signature("ndcg@10"))
    screen = Console(file=io.StringIO(), width=40, soft_wrap=True, markup=False)
    print_document(document, screen, quiet=True)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("i") > 70
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 40


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_an_example_that_stands_on_lines_of_its_own(command: str) -> None:
    """And fits a terminal; nothing in the list of commands is cut."""
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert re.search(rf"\n    (\w.* \| )?recsys-ndcg {command or 'evaluate'}", result.stdout)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "..." not in result.stdout.partition("Commands:")[2]
    assert "\b" not in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ev", ["evaluate"]),
        ("evaluate --preset ran", ["ranx", "ranx_burges"]),
        ("reconcile --metric nd", ["ndcg"]),
        ("evaluate --format m", ["markdown"]),
        ("compare --test boot", ["bootstrap"]),
        ("evaluate --metric rec", ["recall"]),
        ("leaderboard --metric prec", ["precision"]),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_words(words: str, expected: list[str], shell: str) -> None:
    """Of commands, presets, metrics and formats, through the program itself."""
    line = f"recsys-ndcg {words}"
    asked = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words.rsplit(maxsplit=1)[-1],
        "_RECSYS_NDCG_COMPLETE": f"complete_{shell}",
    }
    ran = subprocess.run(
        [sys.executable, "-m", "recsys_ndcg"],
        capture_output=True, text=True, check=False, env=os.environ | asked,
    )  # fmt: skip
    for name in expected:
        assert name in ran.stdout
    assert "trec_eval" not in ran.stdout
    assert not ran.stderr


def test_completion_can_be_shown_and_installed() -> None:
    """The options of typer are there."""
    assert application()._add_completion  # noqa: SLF001 - nothing else tells
    shown = run("--help").stdout
    assert "--install-completion" in shown
    assert "--show-completion" in shown
