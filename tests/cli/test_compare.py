"""compare: files side by side, and what is said where they cannot be."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from rich.console import Console

import recsys_ndcg as rn
from recsys_ndcg.cli.reading import named, read_entry
from recsys_ndcg.cli.terminal import print_document
from tests.commands import refusal, run
from tests.comparison.models import Rows, models

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["user", "item", "estimated", "true"]
HOSTILE = "\x1b[2J\u202e:car:[red]$_&|"


def write(rows: Rows, path: Path) -> Path:
    """Write predictions as CSV."""
    pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False)
    return path


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models of 60 users as files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, rows in models(60).items():
        write(rows, tmp_path / f"{name}.csv")
    return tmp_path


FILES = ("good.csv", "fair.csv", "poor.csv")


def _expected(**choices: object) -> rn.Comparison:
    files = {name.removesuffix(".csv"): name for name in FILES}
    return rn.compare(files, **choices)  # type: ignore[arg-type]


@pytest.mark.usefixtures("folder")
def test_models_are_called_by_their_files() -> None:
    """The head, the leaderboard, the verdict, the remarks and the short signature."""
    result = run("compare", *FILES, "--threshold", "4")
    assert (result.exit_code, result.stderr) == (0, "")
    found = _expected(threshold=4)
    head, note, heading, *rest = result.stdout.splitlines()
    assert head == found.document("ndcg@10").facts
    assert note == "ndcg@10; won, tied, lost: users, against good"
    assert heading.split()[:3] == ["tier", "model", "mean"]
    assert [line.split()[1] for line in rest[:3]] == list(found.leaderboard.index)
    means = [line.split()[2] for line in rest[:3]]
    assert means == [f"{mean:.4f}" for mean in found.leaderboard["mean"]]
    assert rest[3] == found.verdict
    assert rest[4 : 4 + len(found.remarks)] == [f"- {line}" for line in found.remarks]
    assert rest[-2] == found.signature("ndcg@10").short


@pytest.mark.usefixtures("folder")
def test_options_are_those_of_the_function() -> None:
    """The same numbers, whatever is chosen."""
    words = [
        "--metrics", "precision@3,ndcg@2", "--threshold", "4", "--baseline", "poor",
        "--test", "randomisation", "--correction", "holm", "--alpha", "0.1", "--draws", "500",
        "--seed", "3", "--margin", "0.01", "--convention", "short_list=n", "--format", "json",
    ]  # fmt: skip
    told = json.loads(run("compare", *FILES, *words).stdout)
    expected = _expected(
        metrics=["precision@3", "ndcg@2"], threshold=4, baseline="poor", test="randomisation",
        correction="holm", alpha=0.1, draws=500, seed=3, margin=0.01,
        convention=rn.Convention(short_list="n"),
    )  # fmt: skip
    assert told == json.loads(json.dumps(expected.to_dict()))
    preset = json.loads(run("compare", *FILES, "--preset", "sklearn", "--format", "json").stdout)
    assert preset["signatures"]["ndcg@10"].split("|")[1] == "gain:linear"
    chance = run("compare", *FILES, "--baseline", "chance", "--format", "json").stdout
    assert json.loads(chance)["models"][0] == "chance"


@pytest.mark.usefixtures("folder")
def test_tables_are_read_back_from_every_format() -> None:
    """CSV and JSON have every digit; Markdown and LaTeX are those of Python."""
    found = _expected(k=[3, 5])
    words = ["compare", *FILES, "-k", "3,5", "--format"]
    table = pd.read_csv(io.StringIO(run(*words, "csv").stdout), index_col=["metric", "model"])
    pd.testing.assert_frame_equal(
        table.drop(columns="signature"), found.to_frame(), check_dtype=False
    )
    assert set(table["signature"]) == {found.signature(name).short for name in found.metrics}
    pairs = pd.read_csv(io.StringIO(run(*words, "csv", "--pairs").stdout))
    pd.testing.assert_frame_equal(pairs, found.pairwise, check_dtype=False)
    assert json.loads(run(*words, "JSON").stdout)["pairwise"][0]["p"] == found.pairwise["p"][0]
    assert run(*words, "markdown").stdout.strip() == found.to_markdown().strip()
    assert run(*words, "latex").stdout.strip() == found.to_latex().strip()
    quiet = run(*words, "markdown", "--pairs", "-q").stdout
    assert quiet.count("\n") == 5 + 5
    assert "defaults" not in quiet
    assert found.to_markdown().startswith(quiet.partition("\n| a ")[0])
    assert run(*words, "latex", "-q").stdout.startswith(r"\begin{tabular}")
    both = run(*words, "latex", "--pairs").stdout
    assert both.count(r"\begin{table}") == 2


@pytest.mark.usefixtures("folder")
def test_pairs_and_segments_are_shown_if_asked_for(folder: Path) -> None:
    """Segments of a file of users, or built in."""
    users = sorted({row[0] for row in models(60)["good"]})
    halves = pd.DataFrame({"user": users, "half": ["one", "two"] * 30})
    halves.to_csv(folder / "halves.csv", index=False)
    plain = run("compare", *FILES).stdout
    assert "wins/ties/losses" not in plain
    both = run("compare", *FILES, "--pairs", "--by", "halves.csv").stdout
    assert "wins/ties/losses" in both
    rows = [line.split() for line in both.splitlines() if line.startswith(("one ", "two "))]
    assert [row[1] for row in rows] == ["good", "fair", "poor"] * 2
    assert {row[2] for row in rows} == {"30"}
    assert "to good, each interval its own" in both
    words = ["--by", "list_length", "--format", "csv"]
    table = pd.read_csv(io.StringIO(run("compare", *FILES, *words).stdout))
    reports = {name: rn.evaluate(f"{name}.csv") for name in ("good", "fair", "poor")}
    expected = rn.compare(reports, by="list_length").segments.reset_index()
    ours, theirs = (one["difference"].dropna().tolist() for one in (table, expected))
    assert ours == pytest.approx(theirs, rel=1e-14)  # an old pandas reads its neighbours
    assert "csv holds one table" in refusal("compare", *FILES, *words, "--pairs")


@pytest.mark.usefixtures("folder")
def test_quiet_is_the_tables_alone() -> None:
    """No verdict, no remarks, no signature."""
    lines = run("compare", *FILES, "-q").stdout.splitlines()
    assert len(lines) == 2 + 3
    assert "defaults" not in "".join(lines)


def test_a_saved_report_is_a_model(folder: Path) -> None:
    """Measured as it was; what is measured now must agree."""
    rn.evaluate("good.csv", metrics=["ndcg@3", "rr"], threshold=4).save(folder / "old.json")
    words = ["compare", "old.json", "fair.csv", "--metrics", "ndcg@3", "--format", "json"]
    told = json.loads(run(*words).stdout)
    assert told["models"] == ["old", "fair"]
    assert told["leaderboards"]["ndcg@3"][0]["mean"] == rn.evaluate("good.csv", k=3)["ndcg@3"]
    rr = ["compare", "old.json", "fair.csv", "--metrics", "rr", "--threshold"]
    assert run(*rr, "4").exit_code == 0
    assert "threshold is 4.0 for 'old' and 5.0 for 'fair'" in refusal(*rr, "5")
    assert "The models share no metric" in refusal("compare", "old.json", "fair.csv", "-k", "9")
    assert "not measured in ndcg@9" in refusal(
        "compare", "old.json", "fair.csv", "--metrics", "ndcg@9"
    )


def test_choices_that_come_too_late_are_refused(folder: Path) -> None:
    """Where every model is measured already."""
    for name in ("good", "fair"):
        rn.evaluate(f"{name}.csv").save(folder / f"{name}.json")
    both = ["compare", "good.json", "fair.json"]
    assert run(*both).exit_code == 0
    message = refusal(*both, "--threshold", "4", "--sep", ";", "--preset", "sklearn")
    assert "--threshold and --preset and --sep would change nothing" in message
    assert run(*both[:2], "fair.csv", "--convention", "ties=expected").exit_code == 0


def test_a_comparison_is_saved(folder: Path) -> None:
    """And not onto what is read."""
    assert run("compare", *FILES, "--save", "c.json").exit_code == 0
    again = rn.Comparison.load(folder / "c.json")
    pd.testing.assert_frame_equal(again.leaderboard, _expected().leaderboard)
    before = (folder / "fair.csv").read_bytes()
    message = refusal("compare", *FILES, "--save", folder / "fair.csv")
    assert "--save" in message
    assert (folder / "fair.csv").read_bytes() == before


def test_results_are_joined_with_labels(folder: Path) -> None:
    """Every file is one of results; runs with judgements likewise."""
    rows = pd.DataFrame(models(20)["good"], columns=COLUMNS)
    rows[["user", "item", "true"]].to_csv(folder / "labels.csv", index=False)
    for name, some in models(20).items():
        table = pd.DataFrame(some, columns=COLUMNS)[COLUMNS[:3]]
        table.to_csv(folder / f"{name}.csv", index=False)
        ranked = table.assign(q="Q0", rank=1, tag=name)
        ranked[["user", "q", "item", "rank", "estimated", "tag"]].to_csv(
            folder / f"{name}.run", sep=" ", header=False, index=False
        )
    grades = rows.assign(zero=0, true=rows["true"].astype(int))
    grades[["user", "zero", "item", "true"]].to_csv(
        folder / "qrels", sep=" ", header=False, index=False
    )
    words = ["compare", "good.csv", "poor.csv", "--labels", "labels.csv", "--format", "json"]
    told = json.loads(run(*words).stdout)
    lists = {
        name: rn.RankedLists.from_labels("labels.csv", f"{name}.csv") for name in ("good", "poor")
    }
    expected = rn.compare(lists)
    means = [row["mean"] for row in told["leaderboards"]["ndcg@10"]]
    assert means == expected.leaderboard["mean"].tolist()
    assert "protocol:supplied" in told["signatures"]["ndcg@10"]
    sized = json.loads(run(*words, "--n-items", "40").stdout)
    assert "protocol:catalogue" in sized["signatures"]["ndcg@10"]
    runs = ["compare", "good.run", "poor.run", "--qrels", "qrels", "--format", "json"]
    assert json.loads(run(*runs).stdout)["leaderboards"]["ndcg@10"][0]["mean"] == means[0]
    assert "Say in one way" in refusal(*words, "--qrels", "qrels")
    assert "--n-items tells" in refusal("compare", "good.csv", "poor.csv", "--n-items", "9")
    assert "read once" in refusal("compare", "good.csv", "poor.csv", "--labels", "-")
    assert "none.csv: cannot be read" in refusal("compare", *FILES, "--labels", "none.csv")


def test_names_are_short_and_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's without its end; folders where files are called alike."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.csv").touch()
    here = tmp_path.name
    cases = {
        ("a.csv", "b.csv.gz", "c.parquet", "d.v2.json"): ["a", "b", "c", "d.v2"],
        ("one/svd.csv", "two/svd.csv", "knn.csv"): ["one/svd", "two/svd", "knn"],
        ("x/one/svd.csv", "y/one/svd.csv"): ["x/one/svd", "y/one/svd"],
        ("svd.csv", "two/svd.csv"): [f"{here}/svd", "two/svd"],
        ("svd.csv", "svd.json"): ["svd.csv", "svd.json"],
        ("best=svd.csv", "svd.json"): ["best", "svd"],
        ("a=b.csv", "b=a.csv"): ["a=b", "b"],
        ("out/lr=0.1.csv", "out/lr=0.2.csv"): ["lr=0.1", "lr=0.2"],
        ("-", ".csv"): ["standard input", ".csv"],
    }
    for words, names in cases.items():
        assert list(named([read_entry(word) for word in words])) == names


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["good.csv"], "at least two models. There is only 'good'. rn.evaluate() is for one"),
        (["good.csv", "good.csv"], "good.csv is given twice"),
        (["good.csv", "other=./good.csv"], "good.csv is given twice"),
        (["a=good.csv", "a=fair.csv"], "Two models are called 'a'"),
        (["fair=good.csv", "fair.csv"], "Two models are called 'fair'"),
        (["good.csv", "none.csv"], "none.csv: cannot be read (No such file"),
        (["good.csv", "."], ".: cannot be read (Is a directory)"),
        (["good.csv", ""], "cannot be read"),
        (["good.csv", "empty.csv"], "empty.csv: the file is empty"),
        (["-", "-"], "- is given twice"),
        (
            [*FILES, "--baseline", "god"],
            "--baseline='god' is none of the models. Did you mean 'good'",
        ),
        ([*FILES, "--test", "f"], "test must be one of 't'"),
        ([*FILES, "--correction", "holms"], "Did you mean 'holm'"),
        ([*FILES, "--test", "sign", "--correction", "max-T"], "has no correction 'max-T'"),
        ([*FILES, "--alpha", "5"], "alpha"),
        ([*FILES, "--draws", "0"], "draws"),
        ([*FILES, "--seed", "-1"], "seed"),
        ([*FILES, "--margin", "0"], "--margin must be a number above 0"),
        ([*FILES, "--margin", "nan"], "--margin must be a number above 0"),
        ([*FILES, "--users", "some"], "--users must be one of 'all', 'common', not 'some'"),
        ([*FILES, "--by", "none.csv"], "none.csv: cannot be read"),
        ([*FILES, "--by", "activty"], "activty"),
        ([*FILES, "--by", "cold"], "'cold' needs"),
        ([*FILES, "--train", "none.csv"], "none.csv: cannot be read"),
        ([*FILES, "--format", "pdf"], "--format must be one of 'text'"),
        ([*FILES, "--metrics", "ndgc"], "Did you mean 'ndcg'"),
        ([*FILES, "-k", "0"], "k must be a whole number"),
        ([*FILES, "--metrics", "precision"], "pass threshold=4.0 (--threshold 4)"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder: Path, words: list[str], match: str) -> None:
    """In one line, and nothing is printed."""
    (folder / "empty.csv").touch()
    assert match in refusal("compare", *words)


def test_nothing_is_measured_before_all_is_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing is told before another is read."""

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("recsys_ndcg.evaluation.measured", fail)
    (folder / "broken.json").write_text('{"format": "recsys_ndcg report 4"}')
    for words in (
        ["none.csv"],
        ["fair.csv", "--baseline", "x"],
        ["fair.csv", "--test", "x"],
        ["fair.csv", "--margin", "-1"],
        ["fair.csv", "--by", "none.csv"],
        ["fair.csv", "--save", "good.csv"],
        ["broken.json"],
    ):
        refusal("compare", "good.csv", *words)


def test_other_users_and_other_ratings_are_told(folder: Path) -> None:
    """With the option that compares those who are there."""
    rows = models(60)["good"]
    write([row for row in rows if row[0] != "u0007"], folder / "less.csv")
    message = refusal("compare", "fair.csv", "less.csv")
    assert "'less'" in message
    assert "--users common" in message
    common = run("compare", "fair.csv", "less.csv", "--users", "common")
    assert common.exit_code == 0
    assert "- Users that not all models have are left out: 1 of fair" in common.stdout
    write([(*row[:3], 6 - row[3]) for row in rows], folder / "other.csv")
    assert "different ratings" in refusal("compare", "fair.csv", "other.csv")


def test_other_protocols_are_told(folder: Path) -> None:
    """Of supplied lists, say, and of a user's own test ratings."""
    rows = pd.read_csv("fair.csv")
    rows[["user", "item", "true"]].to_csv(folder / "labels.csv", index=False)
    words = ["--labels", "labels.csv", "--results", "fair.csv", "--json", "supplied.json"]
    assert run("evaluate", *words).exit_code == 0
    message = refusal("compare", "good.csv", "supplied.json")
    assert "'good' ranks each user's own test ratings" in message
    assert "'supplied' scores lists that were supplied" in message


def test_warnings_say_of_which_model_they_are(folder: Path) -> None:
    """Unless they are of all."""
    rows = models(60)["good"]
    write([(user, item, 1.0, true) for user, item, _, true in rows], folder / "same.csv")
    result = run("compare", "good.csv", "same.csv")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: same: ")
    assert not run("compare", "good.csv", "same.csv", "-q").stderr


def test_standard_input_is_one_model(folder: Path) -> None:
    """Named like any other."""
    given = (folder / "good.csv").read_bytes()
    result = run("compare", "new=-", "fair.csv", "--format", "json", given=given)
    assert json.loads(result.stdout)["models"] == ["new", "fair"]


@pytest.mark.usefixtures("folder")
def test_a_model_may_come_through_a_pipe() -> None:
    """Which is read once."""
    line = f"{sys.executable} -m recsys_ndcg compare new=<(cat good.csv) fair.csv --format json"
    ran = subprocess.run(  # noqa: S603 - our own
        ["/bin/bash", "-c", line], capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (
        json.loads(ran.stdout)["leaderboards"]
        == json.loads(run("compare", "new=good.csv", "fair.csv", "--format", "json").stdout)[
            "leaderboards"
        ]
    )


def test_names_of_files_need_not_be_utf_8(folder: Path) -> None:
    """What is no character is an escape in the name of the model."""
    odd = folder / os.fsdecode(b"odd\xff.csv")
    try:
        os.link(folder / "good.csv", odd)
    except OSError:
        pytest.skip("this system has no such names")
    expected = run("compare", "o=good.csv", "fair.csv", "--format", "json").stdout
    result = run("compare", odd.name, "fair.csv", "--format", "json", "--html", "page.html")
    assert json.loads(result.stdout)["models"] == [r"odd\udcff", "fair"]
    assert r"odd\udcff" in (folder / "page.html").read_text()
    assert json.loads(expected)["leaderboards"].keys() == (
        json.loads(result.stdout)["leaderboards"].keys()
    )
    for form in ("text", "markdown", "latex", "csv"):
        shown = run("compare", odd.name, f"{odd.stem}2=fair.csv", "--format", form)
        assert shown.exit_code == 0, shown.stderr
        assert "udcff" in shown.stdout


def test_names_of_models_do_not_act(folder: Path) -> None:
    """Whatever stands in them."""
    os.link(folder / "good.csv", folder / "h.csv")
    words = ["compare", f"{HOSTILE}=h.csv", "=1+1=fair.csv", "poor.csv"]
    (folder / "=1+1=fair.csv").write_bytes((folder / "fair.csv").read_bytes())
    for form in ("text", "markdown", "latex", "csv", "json"):
        result = run(*words, "--pairs", "--format", form)
        assert result.exit_code == 0, result.stderr
        assert "2J" in result.stdout
        if form != "csv":  # which programs read, as it was given
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.stdout)
        else:
            assert not re.search(r"(^|,)=", result.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("width", [80, 50])
def test_a_terminal_shows_the_top_tier_in_bold(width: int) -> None:
    """And nothing else of the rows."""
    found = rn.compare(models(60, good=0.8, like=0.82, poor=6.0))
    screen = Console(
        file=io.StringIO(), width=width, soft_wrap=True, markup=False, force_terminal=True
    )
    print_document(found.document("ndcg@10"), screen, quiet=True)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    top = found.leaderboard.index[found.leaderboard["tier"] == 1].tolist()
    assert top == found.leaderboard.index[:2].tolist()
    for line in text.splitlines():
        names = [name for name in found.models if f" {name} " in line]
        if names and line.strip("\x1b[0m")[:1].isdigit():
            assert line.startswith("\x1b[1m") == (names[0] in top)
    plain = re.sub(r"\x1b\[\d*m", "", text)
    assert max(map(len, plain.splitlines())) <= width
    assert found.leaderboard["mean"].map("{:.4f}".format).isin(plain.split()).all()
