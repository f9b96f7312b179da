"""Output of every command: formats, widths of terminals, help pages, completion."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.cli import build_application
from recsys_ndcg.cli.evaluation import build_explanation_document
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.reconciliation import build_document
from tests.cli.conftest import HEADING, show
from tests.commands import csv_of, json_of, run, run_python

ROWS = "ann,a,4.5,5\nann,=b|c,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,=b|c,3.5,3\n"


@pytest.fixture(name="table")
def _table(path: Path) -> Path:
    path.write_text(HEADING + ROWS)
    return path


def test_the_version_is_printed() -> None:
    """Whatever else is typed."""
    assert run("--version").stdout == f"recsys-ndcg {rn.__version__}\n"
    assert run("--version", "evaluate", "none").exit_code == 0


def test_short_and_full_signatures_are_equal(table: Path) -> None:
    """Both are valid for --convention."""
    words = ["--convention", "gain=linear"]
    short = run("evaluate", table, *words).stdout.splitlines()[-1]
    full = run("evaluate", table, *words, "--full-signature").stdout.splitlines()[-1]
    assert len(short) < 80 < len(full)
    assert rn.Signature(short) == rn.Signature(full)
    for given in (words, [], [*words, "--full-signature"]):
        yours = run("reconcile", table, "--metric", "ndcg@2", *given).stdout.splitlines()[-1]
        expected = run("evaluate", table, *given).stdout
        for line in (yours, yours.removeprefix("yours: ")):
            again = ["--convention", line, *given[2:]]
            assert run("evaluate", table, *again).stdout == expected


def test_a_report_is_printed_in_every_format(path: Path) -> None:
    """CSV and JSON have every digit and the signature."""
    report = rn.evaluate(path, threshold=4)
    words = ["evaluate", str(path), "--threshold", "4"]
    for form in ("markdown", "latex"):
        expected = getattr(report, f"to_{form}")()
        assert run(*words, "--format", form.upper()).stdout.strip() == expected.strip()
    rows, table = json_of(*words)["summary"], csv_of(*words, dtype=str)
    means = report.summary["mean"].tolist()
    assert [row["mean"] for row in rows] == [*map(float, table["mean"])] == means
    for place, name in enumerate(report.metrics):
        assert rn.Signature(rows[place]["signature"]) == report.signature(name)
    quiet = run(*words, "--format", "markdown", "--quiet").stdout.strip()
    assert report.to_markdown().startswith(quiet)


@pytest.mark.parametrize(
    "words",
    [
        *(["presets"], ["metrics"], ["explain", "p.csv", "--user", "ann"]),
        ["reconcile", "p.csv", "--metric", "ndcg@2"],
        ["reconcile", "p.csv", "--metric", "ndcg@2", "--reported", "0.5"],
    ],
)
@pytest.mark.usefixtures("table")
def test_other_tables_are_printed_in_every_format(words: list[str]) -> None:
    """JSON has null for a missing value; CSV has no formulas."""
    texts = {form: run(*words, "--format", form).stdout for form in ("markdown", "latex")}
    assert texts["markdown"].startswith("|")
    assert texts["latex"].startswith("\\begin{tabular}")
    rows = json_of(*words)
    csv = run(*words, "--format", "csv").stdout
    assert len(pd.read_csv(io.StringIO(csv))) == len(rows) > 2
    assert not re.search(r"(^|,)=", csv, flags=re.MULTILINE)
    if words[0] == "explain":
        assert [row["item"] for row in rows] == ["a", "=b|c", "c"]
        assert "'=b|c" in csv
        assert r"=b\|c" in texts["markdown"]


def test_presets_and_metrics_are_listed() -> None:
    """A line each: libraries with their versions, metrics with their definitions."""
    lines = run("presets").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(PRESETS)
    assert any("trec_eval 9.0.8" in line for line in lines)
    lines = run("metrics").stdout.splitlines()
    names = [re.split(r"[@( ]", line)[0] for line in lines[1:]]
    assert names == sorted(METRICS)
    assert any("mrr" in line and "One over the rank" in line for line in lines)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_each_heading_is_explained_once(folder: Path, command: str) -> None:
    """Below the first table, or at the end."""
    printed = run(command, *sorted(folder.glob("*.csv"))[: 1 + (command == "compare")]).stdout
    lines = [line for line in printed.splitlines() if re.match(r"\S+: ", line)]
    assert [line.partition(":")[0] for line in lines].count("adjusted") == 1
    assert len({*lines}) == len(lines) > 1


@pytest.mark.parametrize("width", [80, 60, 40, 30])
def test_a_narrow_terminal_shows_everything(table: Path, width: int) -> None:
    """Columns wrap into blocks, and long rows into paragraphs."""
    report = rn.evaluate(table, metrics=["ndcg", "precision", "recall", "rmse"], threshold=4)
    text = show(
        width,
        report._document(),
        build_document(rn.reconcile(table, "precision@10", threshold=4), None, []),
        build_explanation_document(report.explain("ann"), report.signature("ndcg@10")),
    )
    assert "…" not in text
    for row in report.summary.itertuples():
        assert f"{row.mean:.4f}" in text
    for word in ("pooled", "adjusted", "undefined", "discounted", "evaluation_for_ir"):
        assert word in text.replace("\n", "").replace(" ", "")
    assert ("\n  surprise_faq" in text) == (width < 72)
    heads = [line for line in text.splitlines() if line.split()[:1] == ["metric"]]
    assert len(heads) == {80: 2, 60: 2, 40: 4, 30: 6}[width]


def test_help_is_in_groups_and_usage_names_what_is_meant() -> None:
    """`--k` is `-k`, and further files are FILE..."""
    text = run("evaluate", "--help").stdout
    assert text.startswith("Usage: recsys-ndcg evaluate [OPTIONS] [FILE...]\n")
    assert "-k, --k K[,K...]" in text
    headings = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert headings == ["Arguments", "Predictions", "Text files", "Metrics",
                        "How numbers are computed", "Measures beyond accuracy", "Pass or fail",
                        "Output", "Examples"]  # fmt: skip
    assert run("compare", "--help").stdout.startswith(
        "Usage: recsys-ndcg compare [OPTIONS] FILE..."
    )


PAGE, SHOWN = "--date --html --title ", "--format --full-signature --quiet -q "
TEXT = "--columns --decimal --encoding --list-sep --no-heading --sep "
MODELS = f"{TEXT}--convention --labels --n-items --preset --qrels --threshold "
DATA, METRIC, K = f"{MODELS}--results --run ", "--metric --metrics ", "--k -k "
ITEMS = "--base --catalogue --features --groups --train --weights "
FINDINGS = "--accept --fail-on "
GATES = (
    f"{FINDINGS}--alpha --fail-above --fail-if-worse --fail-under --gate-metric --margin --users "
)
#: What scripts may type, whichever library reads it.
OPTIONS = {
    "evaluate": f"{DATA}{METRIC}{K}{ITEMS}{GATES}{SHOWN}--json --memory-limit --per-user",
    "compare": f"{MODELS}{METRIC}{K}{ITEMS}{GATES}{PAGE}{SHOWN}--baseline --by --correction "
               "--draws --family --pairs --save --seed --test",
    "across": f"{METRIC}{PAGE}{SHOWN}--alpha",
    "report": f"{DATA}{METRIC}{K}{PAGE}{SHOWN}--memory-limit",
    "leaderboard": f"{DATA}{METRIC}{SHOWN}--ascending --sort -n",
    "explain": f"{DATA}{K}{SHOWN}--user",
    "reconcile": f"{DATA}{METRIC}{ITEMS}{SHOWN}--reported",
    "explain-number": "--format --items",
    "experiment": f"{FINDINGS}{PAGE}{SHOWN}--folder --n-jobs",
    "check-split": f"{FINDINGS}{PAGE}{SHOWN}--columns --lists --memory-limit --threshold "
                   "--validation -k",
    "demo": f"{PAGE}{K}--ratings --seed --threshold",
    "presets": "--format", "metrics": "--format",
}  # fmt: skip


@pytest.mark.parametrize("command", OPTIONS)
def test_a_command_keeps_its_options(command: str) -> None:
    """None goes, and a new one is listed here; the page fits 80 columns and has examples."""
    text = run(command, "--help").stdout
    assert re.search(rf"\n  (\w.* \| )?recsys-ndcg {command}", text)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"^  -.* (STR|PATH|INT|FLOAT)\b", text, re.MULTILINE)
    found = [one for line in re.findall(r"^  (-.*)", text, re.MULTILINE)
             for one in re.findall(r"(?:^|(?<=, ))--?[\w-]+", line)]  # fmt: skip
    assert sorted(found) == sorted(OPTIONS[command].split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("evaluate --preset ran", "ranx_burges"), ("reconcile --metric nd", "ndcg"),
        ("compare --test boot", "bootstrap"), ("evaluate --fail-on high", "high_chance"),
    ],
)  # fmt: skip
def test_shells_complete_values(words: str, expected: str) -> None:
    """Of presets, metrics and formats; the shell knows which of them begin as typed."""
    assert expected in run("__complete", *words.split()).stdout.splitlines()
    script = build_application(["evaluate"]).generate_completion(shell="fish")  # noqa: S604 - its name
    assert "text markdown latex csv json" in script


@pytest.mark.slow
def test_the_module_is_the_program(path: Path) -> None:
    """With its name, the completion that --help offers and, without a warning, the same output."""
    assert "--install-completion" in run("--help").stdout
    evaluate = "evaluate", path, "--threshold", "4"
    cases: Any = (
        (["metrics", "--help"], "Usage: recsys-ndcg metrics"),
        (evaluate, run(*evaluate).stdout),
    )
    for words, expected in cases:
        module = "-W", "error", "-m", "recsys_ndcg"
        done = run_python(*module, *words, COLUMNS="80")
        assert (done.stdout[: len(expected)], done.stderr) == (expected, "")
