"""compare: several files in one table, and what cannot be compared."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.cli.conftest import FORMATS, show, write
from tests.commands import csv_of, error_of, json_of, run
from tests.comparison.models import models

HOSTILE = "\x1b[2J\u202e:car:[red]$_&|"
FILES = ("good.csv", "fair.csv", "poor.csv")


def _expected(names: Sequence[str] = FILES, **choices: object) -> rn.Comparison:
    files = {name.removesuffix(".csv"): name for name in names}
    return rn.compare(files, **choices)  # type: ignore[arg-type]


@pytest.mark.usefixtures("folder")
def test_the_table_names_each_model_after_its_file() -> None:
    """With a head, a verdict, remarks and the short signature; --quiet prints only the table."""
    result = run("compare", *FILES, "--threshold", "4")
    assert (result.exit_code, result.stderr) == (0, "")
    found = _expected(threshold=4)
    head, note, heading, *rest = result.stdout.splitlines()
    assert head == found._document("ndcg@10").facts
    assert note == "ndcg@10; users won, tied and lost against good"
    assert heading.split()[:3] == ["tier", "model", "mean"]
    assert [line.split()[1] for line in rest[:3]] == list(found.leaderboard.index)
    means = [line.split()[2] for line in rest[:3]]
    assert means == [f"{mean:.4f}" for mean in found.leaderboard["mean"]]
    assert [line.partition(":")[0] for line in rest[3:5]] == ["tier", "adjusted"]
    assert " ".join(rest[5:7]) == found.verdict
    assert rest[7 : 7 + len(found.remarks)] == [f"- {line}" for line in found.remarks]
    assert rest[-2] == found.signature("ndcg@10").short
    quiet = run("compare", *FILES, "--threshold", "4", "-q").stdout.splitlines()
    assert quiet == [note, heading, *rest[:3]]


@pytest.mark.usefixtures("folder")
def test_options_are_the_keywords_of_rn_compare() -> None:
    """With the same numbers."""
    words = [
        "--metrics", "precision@3,ndcg@2", "--threshold", "4", "--baseline", "poor",
        "--test", "randomisation", "--correction", "holm", "--alpha", "0.1", "--draws", "500",
        "--family", "baseline",
        "--seed", "3", "--margin", "0.01", "--convention", "short_list=n",
    ]  # fmt: skip
    found = json_of("compare", *FILES, *words)
    expected = _expected(
        metrics=["precision@3", "ndcg@2"], threshold=4, baseline="poor", test="randomisation",
        correction="holm", family="baseline", alpha=0.1, draws=500, seed=3, margin=0.01,
        convention=rn.Convention(short_list="n"),
    )  # fmt: skip
    assert found == json.loads(json.dumps(expected.to_dict()))
    preset = json_of("compare", *FILES, "--preset", "sklearn")
    assert preset["signatures"]["ndcg"].split("|")[1] == "gain:linear"
    assert json_of("compare", *FILES, "--baseline", "chance")["models"][0] == "chance"


@pytest.mark.usefixtures("folder")
def test_every_format_has_the_same_numbers() -> None:
    """CSV and JSON have every digit; Markdown and LaTeX are what Python renders."""
    found = _expected(FILES[:2], k=[3, 5])
    words = ["compare", *FILES[:2], "-k", "3,5", "--format"]
    table = csv_of(*words[:-1], index_col=["metric", "model"])
    signatures = table.pop("signature")
    pd.testing.assert_frame_equal(table, found.to_frame(), check_dtype=False)
    assert set(signatures) == {found.signature(name).short for name in found.metrics}
    pairs = csv_of(*words[:-1], "--pairs")
    pd.testing.assert_frame_equal(pairs, found.pairwise, check_dtype=False)
    assert json.loads(run(*words, "JSON").stdout)["pairwise"][0]["p"] == found.pairwise["p"][0]
    assert run(*words, "markdown").stdout.strip() == found.to_markdown().strip()
    assert run(*words, "latex").stdout.strip() == found.to_latex().strip()
    quiet = run(*words, "markdown", "--pairs", "-q").stdout
    assert quiet.count("\n") == 4 + 1 + 3
    assert found.to_markdown().startswith(quiet.partition("\n\n| a ")[0])
    assert run(*words, "latex", "--pairs").stdout.count(r"\begin{table}") == 2


@pytest.mark.usefixtures("folder")
def test_pairs_and_segments_are_shown_on_request(folder: Path) -> None:
    """Segments of a file of users, or built in."""
    users = sorted({row[0] for row in models(60)["good"]})
    halves = pd.DataFrame({"user": users, "half": ["one", "two"] * 30})
    halves.to_csv(folder / "halves.csv", index=False)
    assert "wins/ties/losses" not in run("compare", *FILES).stdout
    both = run("compare", *FILES, "--pairs", "--by", "halves.csv").stdout
    assert "wins/ties/losses" in both
    rows = [line.split() for line in both.splitlines() if line.startswith(("one ", "two "))]
    assert [row[1] for row in rows] == ["good", "fair", "poor"] * 2
    assert {row[2] for row in rows} == {"30"}
    assert "from good; p is corrected, intervals not" in both
    words = ["compare", *FILES, "--by", "list_length"]
    tables = csv_of(*words), _expected(by="list_length").segments
    ours, theirs = (table["difference"].dropna().tolist() for table in tables)
    assert ours == pytest.approx(theirs, rel=1e-14)  # an old pandas reads its neighbours
    assert "csv has one table" in error_of(*words, "--format", "csv", "--pairs")


def test_a_saved_report_is_a_model(folder: Path) -> None:
    """The other models must be measured under the same options."""
    rn.evaluate("good.csv", metrics=["ndcg@3", "rr"], threshold=4).save(folder / "old.json")
    words = ["compare", "old.json", "fair.csv"]
    found = json_of(*words, "--metrics", "ndcg@3")
    assert found["models"] == ["old", "fair"]
    assert found["leaderboards"]["ndcg@3"][0]["mean"] == rn.evaluate("good.csv", k=3)["ndcg@3"]
    assert run(*words, "--metrics", "rr", "--threshold", "4").exit_code == 0
    for options, message in (
        (["--metrics", "rr", "--threshold", "5"], "threshold is 4.0 for 'old' and 5.0 for 'fair'"),
        (["--metrics", "ndcg@9"], "has no ndcg@9"),
    ):
        assert message in error_of(*words, *options)


def test_options_without_effect_on_saved_reports_are_errors(folder: Path) -> None:
    """If every model is a saved report."""
    for name in ("good", "fair"):
        rn.evaluate(f"{name}.csv").save(folder / f"{name}.json")
    both = ["compare", "good.json", "fair.json"]
    assert run(*both).exit_code == 0
    message = error_of(*both, "--threshold", "4", "--sep", ";", "--preset", "sklearn")
    assert "on which --threshold and --preset and --sep has no effect" in message
    assert run(*both[:2], "fair.csv", "--convention", "ties=expected").exit_code == 0


def test_a_comparison_is_saved(folder: Path) -> None:
    """And never over an input."""
    run("compare", *FILES, "--save", "c.json")
    again = rn.Comparison.load(folder / "c.json")
    pd.testing.assert_frame_equal(again.leaderboard, _expected().leaderboard)
    assert "--save" in error_of("compare", *FILES, "--save", folder / "fair.csv")


def test_results_are_joined_with_labels(folder: Path) -> None:
    """Each file then holds results, or is a run to judge."""
    rows = pd.read_csv("good.csv").astype({"true": int}).assign(q="Q0", zero=0, rank=1, tag="tag")
    rows[["user", "item", "true"]].to_csv(folder / "labels.csv", index=False)
    text: Any = {"sep": " ", "header": False, "index": False}
    rows[["user", "zero", "item", "true"]].to_csv(folder / "qrels", **text)
    for name in ("good", "poor"):
        ranked = rows.assign(estimated=pd.read_csv(f"{name}.csv")["estimated"])
        ranked[["user", "item", "estimated"]].to_csv(folder / f"{name}.csv", index=False)
        columns = ["user", "q", "item", "rank", "estimated", "tag"]
        ranked[columns].to_csv(folder / f"{name}.run", **text)
    words = ["compare", "good.csv", "poor.csv", "--labels", "labels.csv"]
    found = json_of(*words)
    names = "good", "poor"
    lists = {name: rn.RankedLists.from_labels("labels.csv", f"{name}.csv") for name in names}
    expected = json.loads(json.dumps(rn.compare(lists).to_dict()))
    assert found["leaderboards"] == expected["leaderboards"]
    assert "protocol:supplied" in found["signatures"]["ndcg@10"]
    sized = json_of(*words, "--n-items", "40")
    assert "protocol:catalogue" in sized["signatures"]["ndcg@10"]
    judged = json_of("compare", "good.run", "poor.run", "--qrels", "qrels")
    assert judged["leaderboards"] == found["leaderboards"]


#: The options of a file for all models.
OF_ALL = ("--labels", "--qrels")
#: What only the data, or its form, shows.
LATE = {"empty.csv", "--by", "--metrics", "--n-items", "--qrels"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["good.csv"], "at least two models. There is only 'good'. Use 'evaluate' for one"),
        (["good.csv", "other=./good.csv"], "good.csv is given twice"),
        (["a=good.csv", "a=fair.csv"], "Two models are called 'a'"),
        (["good.csv", "none.csv"], "none.csv: cannot be read (No such file"),
        (["good.csv", "."], ".: cannot be read (Is a directory)"),
        (["good.csv", "empty.csv"], "empty.csv: the file is empty"),
        (["-", "-"], "- is given twice"),
        ([*FILES, "--baseline", "god"], "--baseline god is not a model. Did you mean 'good'"),
        (["good.csv", "broken.json"], "broken.json"),
        (
            [*FILES, "--labels", "good.csv", "--qrels", "good.csv"],
            "Given: --labels and --results and --qrels.",
        ),
        *(([*FILES, one, "-"], f"error: {one} is read for each model") for one in OF_ALL),
        ([*FILES, "--labels", "none.csv"], "none.csv: cannot be read"),
        ([*FILES, "--n-items", "9"], "--n-items has no effect"),
        ([*FILES, "--test", "f"], "test must be one of 't'"),
        ([*FILES, "--margin", "0"], "--margin must be a number above 0"),
        ([*FILES, "--users", "some"], "--users must be one of 'all', 'common', not 'some'"),
        ([*FILES, "--by", "none.csv"], "none.csv: cannot be read"),
        ([*FILES, "--by", "activty"], "'activty'. Did you mean 'activity'?"),
        ([*FILES, "--by", "cold"], "'cold' needs"),
        ([*FILES, "--train", "none.csv"], "none.csv: cannot be read"),
        ([*FILES, "--metrics", "precision"], "pass --threshold 4,"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found before anything is measured, unless only the data shows it."""
    (folder / "empty.csv").touch()
    (folder / "broken.json").write_text('{"format": "recsys_ndcg report 4"}')
    if len(words) > 1 and LATE.isdisjoint(words):
        assert rn.compare.__name__  # imported before it is patched, or it keeps the patch
        monkeypatch.setattr("recsys_ndcg.evaluation.evaluate_in_memory", pytest.fail)
    assert message in error_of("compare", *words)


def test_models_of_different_users_are_an_error(folder: Path) -> None:
    """The message names --users common, which compares the common users."""
    rows = models(60)["good"]
    write([row for row in rows if row[0] != "u0007"], folder / "less.csv")
    assert "--users common" in error_of("compare", "fair.csv", "less.csv")
    common = run("compare", "fair.csv", "less.csv", "--users", "common")
    assert "left out: 1 of fair" in common.stdout, common.stderr


def test_a_warning_names_its_model(folder: Path) -> None:
    """Unless all models have it."""
    rows = models(60)["good"]
    write([(user, item, 1.0, true) for user, item, _, true in rows], folder / "same.csv")
    (line,) = run("compare", "good.csv", "same.csv").stderr.splitlines()
    assert line.startswith("warning: same: ")
    assert not run("compare", "good.csv", "same.csv", "-q").stderr


def test_standard_input_is_one_model(folder: Path) -> None:
    """With a name like any other."""
    found = json_of("compare", "new=-", "fair.csv", stdin=(folder / "good.csv").read_bytes())
    assert found == json_of("compare", "new=good.csv", "fair.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_of_files_need_not_be_utf_8(folder: Path) -> None:
    """Other bytes are escapes in the name of the model."""
    odd = folder / os.fsdecode(b"odd\xff.csv")
    os.link(folder / "good.csv", odd)
    found = json_of("compare", odd.name, "fair.csv", "--html", "page.html")
    assert found["models"] == [r"odd\udcff", "fair"]
    assert r"odd\udcff" in (folder / "page.html").read_text()
    for form in FORMATS:
        shown = run("compare", odd.name, f"{odd.stem}2=fair.csv", "--format", form)
        assert "udcff" in shown.stdout, shown.stderr


def test_control_characters_of_names_are_escaped(folder: Path) -> None:
    """But not in CSV, which programs read; there is no formula in it either."""
    os.link(folder / "good.csv", folder / "h.csv")
    os.link(folder / "fair.csv", folder / "=1+1=fair.csv")
    words = ["compare", f"{HOSTILE}=h.csv", "=1+1=fair.csv", "--pairs"]
    for form in FORMATS:
        result = run(*words, "--format", form)
        assert "2J" in result.stdout, result.stderr
        if form != "csv":
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.stdout)
        else:
            assert not re.search(r"(^|,)=", result.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("width", [80, 50])
def test_a_terminal_shows_the_top_tier_in_bold(width: int) -> None:
    """And nothing else of the rows."""
    found = rn.compare(models(60, good=0.8, like=0.82, poor=6.0))
    text = show(width, found._document("ndcg@10"), force_terminal=True)
    top = found.leaderboard.index[found.leaderboard["tier"] == 1].tolist()
    assert top == found.leaderboard.index[:2].tolist()
    for line in text.splitlines():
        names = [name for name in found.models if f" {name} " in line]
        if names and line.strip("\x1b[0m")[:1].isdigit():
            assert line.startswith("\x1b[1m") == (names[0] in top)
    plain = re.sub(r"\x1b\[\d*m", "", text).split()
    assert found.leaderboard["mean"].map("{:.4f}".format).isin(plain).all()
