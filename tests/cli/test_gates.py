"""Gates for pipelines: 0 where they pass, 1 where they do not, 2 where they are no gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import refusal, run
from tests.comparison.models import models

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["user", "item", "estimated", "true"]
WORSE = ("--fail-if-worse", "good.csv", "--margin", "0.005")


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models of 60 users as files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, rows in models(60).items():
        pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_a_mean_below_its_limit_fails() -> None:
    """The reason goes to the other stream, the table is what it was."""
    mean = rn.evaluate("fair.csv")["ndcg@10"]
    table = run("evaluate", "fair.csv").stdout
    passed = run("evaluate", "fair.csv", "--fail-under", f"ndcg@10={mean:.17g}")
    assert passed == (
        0, table, f"passed: The mean ndcg@10 is {mean:.6g} over 60 users, not below {mean:g}.\n"
    )  # fmt: skip
    failed = run("evaluate", "fair.csv", "--fail-under", f"ndcg={mean + 1e-9:.17g}")
    assert (failed.exit_code, failed.stdout) == (1, table)
    assert failed.stderr.startswith(f"failed: The mean ndcg@10 is {mean:.6g} over 60 users, below ")


def test_an_error_above_its_limit_fails() -> None:
    """Less is better."""
    mean = rn.evaluate("fair.csv", metrics=["rmse"])["rmse"]
    words = ["evaluate", "fair.csv", "--metrics", "rmse", "--fail-over"]
    assert run(*words, f"rmse={mean:.17g}").exit_code == 0
    failed = run(*words, f"RMSE={mean - 1e-9:.17g}")
    assert failed.exit_code == 1
    assert "over 60 users, above" in failed.stderr


def test_what_a_gate_names_is_measured() -> None:
    """Also where --metrics does not name it; one gate that fails is enough."""
    limits = ["--fail-under", "ndcg@3=0", "--fail-under", "rr=0.99", "--fail-over", "mae=100"]
    result = run("evaluate", "fair.csv", "--metrics", "recall@5", "--threshold", "4", *limits)
    assert result.exit_code == 1
    names = [line.split()[0] for line in result.stdout.splitlines()[1:5]]
    assert names == ["recall@5", "ndcg@3", "rr", "mae"]
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == [
        "passed", "failed", "passed",
    ]  # fmt: skip
    usual = run("evaluate", "fair.csv", "--fail-over", "mae=100")
    assert [line.split()[0] for line in usual.stdout.splitlines()[1:3]] == ["ndcg@10", "mae"]
    twice = run("evaluate", "fair.csv", "--fail-under", "ndcg@10=0").stdout
    assert twice == run("evaluate", "fair.csv").stdout


def test_a_gate_of_what_is_relevant_needs_the_threshold() -> None:
    """The metric does not fall away as those that nobody asked for do."""
    words = ["evaluate", "fair.csv", "--fail-under", "precision@10=0.1"]
    assert "pass threshold=4.0 (--threshold 4)" in refusal(*words)
    assert run(*words, "--threshold", "4").exit_code == 0
    table = pd.read_csv("fair.csv")
    table.assign(true=(table["true"] > 3).astype(int)).to_csv("binary.csv", index=False)
    result = run("evaluate", "binary.csv", "--fail-under", "precision@10=0.1")
    assert result.exit_code == 0
    assert "recall@10" in result.stdout


def test_quiet_gates_say_only_why_they_fail() -> None:
    """The exit code is the same."""
    assert run("evaluate", "fair.csv", "-q", "--fail-under", "ndcg@10=0").stderr == ""
    failed = run("evaluate", "fair.csv", "-q", "--fail-under", "ndcg@10=1")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("failed: ")


def test_a_user_without_a_score_passes_no_gate(folder: Path) -> None:
    """Nor does a model of which nothing is known."""
    (folder / "none.csv").write_text("user,item,estimated,true\nann,a,1,1\nann,b,2,2\n")
    words = ["--metrics", "recall@2", "--threshold", "5", "--fail-under", "recall@2=0"]
    result = run("evaluate", "none.csv", *words)
    assert result.exit_code == 1
    assert "failed: No user has a score in recall@2." in result.stderr


def test_files_are_written_before_a_gate_ends_the_program(folder: Path) -> None:
    """What failed can be looked at."""
    words = ["--fail-under", "ndcg@10=1", "--json", "r.json", "--per-user", "u.csv"]
    assert run("evaluate", "fair.csv", *words).exit_code == 1
    assert rn.Report.load(folder / "r.json") == rn.evaluate("fair.csv")
    assert (folder / "u.csv").exists()


def test_what_is_not_worse_passes() -> None:
    """As `Comparison.not_worse` says, with its reason; the table is not touched."""
    for new, old, code in (("good", "fair", 0), ("fair", "good", 1)):
        result = run("evaluate", f"{new}.csv", "--fail-if-worse", f"{old}.csv", "--margin", "0.005")
        found = rn.compare({old: f"{old}.csv", new: f"{new}.csv"})
        gate = found.not_worse(new, old, margin=0.005)
        assert result.exit_code == code
        assert bool(gate) == (code == 0)
        assert result.stderr == f"{'failed' if code else 'passed'}: {gate.reason}\n"
        assert result.stdout == run("evaluate", f"{new}.csv").stdout


def test_the_metric_and_the_level_can_be_chosen() -> None:
    """Of an error too; by default it is the first."""
    words = ["evaluate", "fair.csv", *WORSE, "--threshold", "4"]
    found = rn.compare(
        {"good": "good.csv", "fair": "fair.csv"}, metrics=["rmse", "precision@3"], threshold=4
    )
    for metric in ("rmse", "precision@3"):
        result = run(*words, "--metric", metric, "--alpha", "0.2")
        reason = found.not_worse("fair", metric=metric, margin=0.005, alpha=0.2).reason
        assert reason in result.stderr
    passes = run("evaluate", "good.csv", "--fail-if-worse", "fair.csv", *WORSE[2:])
    assert "alpha 0.05" in passes.stderr
    level = run("evaluate", "good.csv", "--fail-if-worse", "fair.csv", *WORSE[2:], "--alpha", "0.2")
    assert level.stderr == passes.stderr.replace("alpha 0.05", "alpha 0.2")
    chosen = run(*words, "--metrics", "precision@3").stderr
    assert found.not_worse("fair", metric="precision@3", margin=0.005).reason in chosen


def test_too_few_users_do_not_pass(folder: Path) -> None:
    """A model that is no worse is not shown to be so by three of them, and that is said."""
    for place, name in enumerate(("old", "new")):
        rows = models(4, seed=1, old=1.0, new=1.0)[name]
        some = [(user, item, estimated + place, true) for user, item, estimated, true in rows]
        pd.DataFrame(some, columns=COLUMNS).to_csv(folder / f"{name}.csv", index=False)
    pd.read_csv("old.csv").assign(estimated=lambda rows: rows["true"]).to_csv(
        "best.csv", index=False
    )
    result = run("evaluate", "best.csv", "--fail-if-worse", "old.csv", "--margin", "0.0001")
    assert result.exit_code == 1
    assert "too few users to tell" in result.stderr


def test_a_baseline_may_be_saved(folder: Path) -> None:
    """In the metrics that it has, measured as it was."""
    rn.evaluate("good.csv", metrics=["ndcg@3"]).save(folder / "old.json")
    words = ["evaluate", "fair.csv", "--fail-if-worse", "old.json", "--margin", "0.005"]
    saved = run(*words, "-k", "3")
    fresh = run("evaluate", "fair.csv", "-k", "3", *WORSE)
    assert saved.exit_code == 1
    assert saved.stderr == fresh.stderr.replace("good", "old")
    assert "old: it was not measured in ndcg@10; it has ndcg@3" in refusal(*words)
    both = ["compare", "old.json", "fair.csv", "-k", "3", "--fail-under"]
    assert run(*both, "ndcg@3=0").exit_code == 0
    assert "old: it was not measured in rr; it has ndcg@3" in refusal(*both, "rr=0")
    linear = refusal(*words, "-k", "3", "--convention", "gain=linear")
    assert "gain is 'exponential' for 'old' and 'linear' for 'fair'" in linear


def test_results_have_results_as_their_baseline(folder: Path) -> None:
    """With the same labels."""
    rows = pd.read_csv("good.csv")
    rows[["user", "item", "true"]].to_csv(folder / "labels.csv", index=False)
    words = ["evaluate", "--labels", "labels.csv", "--results", "fair.csv", *WORSE]
    result = run(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith("failed: fair against good in ndcg@10: ")


def test_the_users_in_common_can_be_asked_for(folder: Path) -> None:
    """Others are refused."""
    rows = pd.read_csv("good.csv")
    rows[rows["user"] != "u0007"].to_csv(folder / "good.csv", index=False)
    assert "--users common" in refusal("evaluate", "fair.csv", *WORSE)
    assert "over 59 users" in run("evaluate", "fair.csv", *WORSE, "--users", "common").stderr


def test_every_model_of_a_comparison_must_pass() -> None:
    """But the one that is named, a model or another file, which joins them."""
    words = ["compare", "good.csv", "fair.csv", "poor.csv"]
    gate = ["--margin", "0.005", "--fail-if-worse"]
    result = run(*words, *gate, "fair")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["passed:", "good", "against", "fair"],
        ["failed:", "poor", "against", "fair"],
    ]
    assert "against fair" in result.stdout.splitlines()[1]
    by_file = run(*words, *gate, "./fair.csv")
    assert by_file == result
    joined = run(*words[:2], "poor.csv", *gate, "fair.csv")
    assert [line.split()[1] for line in joined.stderr.splitlines()] == ["good", "poor"]
    assert joined.stdout.startswith("3 models")
    alone = run("compare", "good.csv", *gate, "old=fair.csv")
    assert alone.exit_code == 0
    assert "good against old" in alone.stderr
    other = run(*words, *gate, "fair", "--metric", "rmse", "--baseline", "poor")
    assert "good against fair in rmse" in other.stderr
    assert "against poor" in other.stdout.splitlines()[1]


def test_limits_hold_for_every_model_but_the_one_in_place() -> None:
    """Chance is none of them."""
    means = {name: rn.evaluate(f"{name}.csv")["ndcg@10"] for name in ("good", "fair", "poor")}
    middle = (means["fair"] + means["poor"]) / 2
    words = ["compare", "good.csv", "fair.csv", "poor.csv", "--fail-under", f"ndcg@10={middle}"]
    result = run(*words, "--baseline", "chance")
    assert result.exit_code == 1
    kinds = [line.partition(" over")[0].split(" is ")[0] for line in result.stderr.splitlines()]
    assert kinds == [
        "passed: The mean ndcg@10 of good",
        "passed: The mean ndcg@10 of fair",
        "failed: The mean ndcg@10 of poor",
    ]
    in_place = run(*words, "--fail-if-worse", "poor", "--margin", "0.1")
    assert in_place.exit_code == 0
    assert "of poor" not in in_place.stderr
    measured = run(*words[:4], "--metrics", "ndcg@3", "--fail-over", "rmse=100")
    assert measured.exit_code == 0
    assert "rmse" in measured.stdout.splitlines()[2]


@pytest.mark.parametrize("command", ["evaluate fair.csv", "compare fair.csv poor.csv"])
@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--fail-under", "ndcg@10"], "'ndcg@10' is not of the form metric=number"),
        (["--fail-under", "=0.8"], "is not of the form metric=number"),
        (["--fail-under", "ndcg@10=high"], "is not of the form metric=number"),
        (["--fail-under", "ndcg@10=nan"], "is not of the form metric=number"),
        (["--fail-under", "ndcg@10=1e999"], "is not of the form metric=number"),
        (["--fail-under", "ndgc@10=0.8"], "Did you mean 'ndcg'"),
        (["--fail-under", "ndcg@10=80"], "ndcg@10 lies between 0 and 1"),
        (["--fail-under", "rmse=0.9"], "less is better in rmse.*--fail-over rmse=0.9"),
        (["--fail-over", "ndcg@10=0.9"], "more is better in ndcg@10.*--fail-under ndcg@10=0.9"),
        (["--fail-under", "ndcg=0.8", "-k", "5,10"], "2 metrics: ndcg@5, ndcg@10"),
        (["--fail-under", "ndcg,rr=0.8"], "2 metrics: ndcg@10, rr"),
        (["--fail-if-worse", "good.csv"], "--fail-if-worse needs --margin"),
        (["--fail-if-worse", "none.csv", "--margin", "1"], "none.csv: cannot be read"),
        ([*WORSE, "--margin", "-1"], "--margin must be a number above 0"),
        ([*WORSE, "--metric", "ndgc"], "Did you mean 'ndcg'"),
        ([*WORSE, "--metric", "ndcg", "-k", "5,10"], "2 metrics"),
        ([*WORSE, "--alpha", "2"], "alpha"),
        ([*WORSE, "--users", "any"], "--users must be one of 'all', 'common', not 'any'"),
        (["--metric", "ndcg@10"], "--fail-if-worse"),
    ],
)
def test_what_is_no_gate_is_refused(
    command: str, words: list[str], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is measured."""

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("recsys_ndcg.evaluation.measured", fail)
    message = refusal(*command.split(), *words)
    assert pd.Series([message]).str.contains(match).all(), message


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--margin", "0.1"], "--margin is about --fail-if-worse, which is not given"),
        (["--alpha", "0.1"], "--alpha is about --fail-if-worse, which is not given"),
        (["--fail-if-worse", "./fair.csv", "--margin", "1"], "given twice"),
        (["--fail-if-worse", "broken.json", "--margin", "1"], "broken.json"),
        ([*WORSE, "--json", "good.csv"], "--json good.csv: this is the file of --fail-if-worse"),
    ],
)
def test_a_gate_of_one_file_is_refused_where_it_says_nothing(
    folder: Path, words: list[str], match: str
) -> None:
    """Or would lose the baseline."""
    (folder / "broken.json").write_text('{"format": "recsys_ndcg report 4"}')
    before = (folder / "good.csv").read_bytes()
    assert match in refusal("evaluate", "fair.csv", *words)
    assert (folder / "good.csv").read_bytes() == before
