"""Gates for pipelines: exit code 0 if they pass, 1 if they fail, 2 if they are invalid."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import error_of, run

pytestmark = pytest.mark.usefixtures("folder")
WORSE = ("--fail-if-worse", "good.csv", "--margin", "0.005")


def test_a_mean_below_its_limit_fails() -> None:
    """The reason goes to standard error, the table stays the same; --quiet hides passed gates."""
    mean = rn.evaluate("fair.csv")["ndcg@10"]
    table = run("evaluate", "fair.csv").stdout
    passed = run("evaluate", "fair.csv", "--fail-under", f"ndcg@10={mean:.17g}")
    reason = f"The mean ndcg@10 is {mean:.6g} over 60 users, not below {mean:g}."
    assert passed == (0, table, f"passed: {reason}\n")
    failed = run("evaluate", "fair.csv", "--fail-under", f"ndcg={mean + 1e-9:.17g}")
    assert (failed.exit_code, failed.stdout) == (1, table)
    assert failed.stderr.startswith(f"failed: The mean ndcg@10 is {mean:.6g} over 60 users, below ")
    assert run("evaluate", "fair.csv", "-q", "--fail-under", "ndcg@10=0").stderr == ""
    assert run("evaluate", "fair.csv", "-q", "--fail-under", "ndcg@10=1").stderr[:7] == "failed:"


def test_an_error_above_its_limit_fails() -> None:
    """Less is better."""
    mean = rn.evaluate("fair.csv", metrics=["rmse"])["rmse"]
    words = ["evaluate", "fair.csv", "--metrics", "rmse", "--fail-above"]
    assert run(*words, f"rmse={mean:.17g}").exit_code == 0
    failed = run(*words, f"RMSE={mean - 1e-9:.17g}")
    assert failed.exit_code == 1
    assert "over 60 users, above" in failed.stderr


def test_the_metric_of_a_gate_is_measured() -> None:
    """Also if --metrics does not name it; one gate that fails is enough."""
    limits = ["--fail-under", "ndcg@3=0", "--fail-under", "rr=0.99", "--fail-above", "mae=100"]
    result = run("evaluate", "fair.csv", "--metrics", "recall@5", "--threshold", "4", *limits)
    assert result.exit_code == 1
    names = [line.split()[0] for line in result.stdout.splitlines()[1:5]]
    assert names == ["recall@5", "ndcg@3", "rr", "mae"]
    results = [line.partition(":")[0] for line in result.stderr.splitlines()]
    assert results == ["passed", "failed", "passed"]


def test_a_gate_of_a_binary_metric_needs_a_threshold() -> None:
    """The metric is not left out, as a default metric is."""
    words = ["evaluate", "fair.csv", "--fail-under", "precision@10=0.1"]
    assert "pass --threshold 4," in error_of(*words)
    assert run(*words, "--threshold", "4").exit_code == 0
    table = pd.read_csv("fair.csv")
    table.assign(true=(table["true"] > 3).astype(int)).to_csv("binary.csv", index=False)
    binary = run("evaluate", "binary.csv", "--fail-under", "precision@10=0.1")
    assert "recall@10" in binary.stdout


def test_a_metric_without_scores_fails(folder: Path) -> None:
    """A model with no score passes no gate."""
    (folder / "none.csv").write_text("user,item,estimated,true\nann,a,1,1\nann,b,2,2\n")
    result = run("evaluate", "none.csv", "--threshold", "5", "--fail-under", "recall@2=0")
    assert "failed: No user has a score in recall@2." in result.stderr


def test_a_gate_knows_a_library_s_choice_behind_a_plain_name(folder: Path) -> None:
    """In the brackets of the metric: novelty(as=share)@2."""
    rows = "user,item,estimated\na,1,3\na,2,2\nb,3,2\nb,1,1\nc,2,1\n"
    files = {"train": "user,item\na,2\nb,2\nc,1\nc,3\n", "results": rows, "old": rows}
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    words = ["--labels", "train.csv", "--results", "results.csv", "--train", "train.csv"]
    words += ["--metrics", "novelty@2", "--preset", "replay", "--fail-under", "novelty@2=0"]
    for metric in ([], ["--gate-metric", "novelty@2"]):
        gate = ["--fail-if-worse", "old.csv", "--margin", "9", *metric]
        assert " against old in novelty@2" in run("evaluate", *words, *gate).stderr


def test_files_are_written_before_a_gate_fails(folder: Path) -> None:
    """So that the failure can be examined."""
    words = ["--fail-under", "ndcg@10=1", "--json", "r.json", "--per-user", "u.csv"]
    assert run("evaluate", "fair.csv", *words).exit_code == 1
    assert rn.Report.load(folder / "r.json") == rn.evaluate("fair.csv")
    assert (folder / "u.csv").exists()


@pytest.mark.parametrize(("new", "old", "code"), [("good", "fair", 0), ("fair", "good", 1)])
def test_a_model_that_is_not_worse_passes(new: str, old: str, code: int) -> None:
    """As `Comparison.not_worse` decides, with its reason; the table stays the same."""
    result = run("evaluate", f"{new}.csv", "--fail-if-worse", f"{old}.csv", "--margin", "0.005")
    gate = rn.compare({old: f"{old}.csv", new: f"{new}.csv"}).not_worse(new, old, margin=0.005)
    assert bool(gate) == (code == 0)
    line = f"{'failed' if code else 'passed'}: {gate.reason}\n"
    assert result == (code, run("evaluate", f"{new}.csv").stdout, line)


def test_the_metric_and_the_level_are_options() -> None:
    """By default the first metric, which may be an error."""
    words = ["evaluate", "fair.csv", *WORSE, "--threshold", "4"]
    names = ["rmse", "precision@3"]
    found = rn.compare({"good": "good.csv", "fair": "fair.csv"}, metrics=names, threshold=4)
    for metric in names:
        result = run(*words, "--gate-metric", metric, "--alpha", "0.2")
        reason = found.not_worse("fair", metric=metric, margin=0.005, alpha=0.2).reason
        assert reason in result.stderr
        assert reason in run(*words, "--metric", f"{metric},ndcg", "--alpha", "0.2").stderr


def test_a_saved_report_is_a_baseline(folder: Path) -> None:
    """In the metrics that it has, under the same options."""
    rn.evaluate("good.csv", metrics=["ndcg@3"]).save(folder / "old.json")
    words = ["evaluate", "fair.csv", "--fail-if-worse", "old.json", "--margin", "0.005"]
    saved = run(*words, "-k", "3")
    fresh = run("evaluate", "fair.csv", "-k", "3", *WORSE)
    assert saved.exit_code == 1
    assert saved.stderr == fresh.stderr.replace("good", "old")
    assert "old: the saved report has no ndcg@10. It has ndcg@3" in error_of(*words)
    both = ["compare", "old.json", "fair.csv", "-k", "3", "--fail-under"]
    assert run(*both, "ndcg@3=0").exit_code == 0
    assert "old: the saved report has no rr. It has ndcg@3" in error_of(*both, "rr=0")
    linear = error_of(*words, "-k", "3", "--convention", "gain=linear")
    assert "gain is 'exponential' for 'old' and 'linear' for 'fair'" in linear


def test_results_are_compared_with_results(folder: Path) -> None:
    """Of the same labels."""
    rows = pd.read_csv("good.csv")
    rows[["user", "item", "true"]].to_csv(folder / "labels.csv", index=False)
    result = run("evaluate", "--labels", "labels.csv", "--results", "fair.csv", *WORSE)
    assert result.stderr.startswith("failed: fair against good in ndcg@10 (supplied lists): ")


def test_only_common_users_are_compared_on_request(folder: Path) -> None:
    """Different users are otherwise an error."""
    rows = pd.read_csv("good.csv")
    rows[rows["user"] != "u0007"].to_csv(folder / "good.csv", index=False)
    assert "--users common" in error_of("evaluate", "fair.csv", *WORSE)
    assert "over 59 users" in run("evaluate", "fair.csv", *WORSE, "--users", "common").stderr


def test_every_model_of_a_comparison_must_pass() -> None:
    """Except the baseline: a model, or another file, which is compared as well."""
    words = ["compare", "good.csv", "fair.csv", "poor.csv"]
    gate = ["--margin", "0.005", "--fail-if-worse"]
    result = run(*words, *gate, "fair")
    assert result.exit_code == 1
    passed, failed = result.stderr.splitlines()
    assert passed.startswith("passed: good against fair ")
    assert failed.startswith("failed: poor against fair ")
    assert "against fair" in result.stdout.splitlines()[1]
    assert run(*words, *gate, "./fair.csv") == result
    joined = run(*words[:2], "poor.csv", *gate, "fair.csv")
    assert [line.split()[1] for line in joined.stderr.splitlines()] == ["good", "poor"]
    assert joined.stdout.startswith("3 models")
    assert "good against old" in run("compare", "good.csv", *gate, "old=fair.csv").stderr
    other = run(*words, *gate, "fair", "--gate-metric", "rmse", "--baseline", "poor")
    assert "good against fair in rmse" in other.stderr
    assert "against poor" in other.stdout.splitlines()[1]


def test_limits_apply_to_every_model_except_the_baseline() -> None:
    """Chance is no model."""
    words = ["compare", "good.csv", "fair.csv", "poor.csv"]
    means = [rn.evaluate(name)["ndcg@10"] for name in words[1:]]
    limit = ["--fail-under", f"ndcg@10={(means[1] + means[2]) / 2}"]
    lines = run(*words, *limit, "--baseline", "chance").stderr.splitlines()
    results = {"good": "passed", "fair": "passed", "poor": "failed"}
    expected = [f"{result}: The mean ndcg@10 of {name}" for name, result in results.items()]
    assert [line.partition(" is ")[0] for line in lines] == expected
    gate = run(*words, *limit, "--fail-if-worse", "poor", "--margin", "0.1")
    assert gate.exit_code == 0
    assert "of poor" not in gate.stderr
    other = run(*words, "--metrics", "ndcg@3", "--fail-above", "rmse=100")
    assert "rmse" in other.stdout.splitlines()[2]


@pytest.mark.parametrize("command", ["evaluate", "compare good.csv"])
def test_findings_fail(command: str) -> None:
    """By their severity or kind, but for those that are accepted; as `gate` does in Python."""
    words = [*command.split(), "fair.csv", "--fail-on"]
    models = {"good": "good.csv", "fair": "fair.csv"}
    result = rn.evaluate("fair.csv") if command == "evaluate" else rn.compare(models)
    kinds = [*result.findings["kind"]]
    failed = run(*words, "error", kinds[-1])
    assert failed.exit_code == 1
    assert failed.stderr == f"failed: {result.gate(['error', kinds[-1]]).reason}\n"
    assert run(*words, "error").exit_code == 0
    assert run(*words, *kinds, "--accept", *kinds).exit_code == 0
    assert run(*words, "warning").exit_code == result.findings["severity"].eq("warning").any()
    assert not result.gate(kinds[-1].replace("_", " "))
    with pytest.raises(rn.InvalidInputError, match="A gate needs what fails it"):
        result.gate([])


@pytest.mark.parametrize("command", ["evaluate fair.csv", "compare fair.csv poor.csv"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-under", "ndcg@10"], "'ndcg@10' is not of the form METRIC=NUMBER"),
        (["--fail-under", "ndcg@10=1e999"], "is not of the form METRIC=NUMBER"),
        (["--fail-under", "ndgc@10=0.8"], "Did you mean 'ndcg'"),
        (["--fail-under", "ndcg@10=80"], "ndcg@10 is between 0 and 1"),
        (["--fail-under", "rmse=0.9"], "lower rmse is better.*--fail-above rmse=0.9"),
        (["--fail-above", "ndcg@10=0.9"], "higher ndcg@10 is better.*--fail-under ndcg@10=0.9"),
        (["--fail-under", "ndcg=0.8", "-k", "5,10"], "2 metrics: ndcg@5, ndcg@10"),
        (["--fail-if-worse", "good.csv"], "--fail-if-worse needs --margin"),
        (["--fail-if-worse", "none.csv", "--margin", "1"], "none.csv: cannot be read"),
        ([*WORSE, "--gate-metric", "ndgc"], "Did you mean 'ndcg'"),
        ([*WORSE, "--gate-metric", "ndcg", "-k", "5,10"], "error: --gate-metric .*2 metrics"),
        (["--gate-metric", "ndcg@10"], "--fail-if-worse"),
        (["--fail-on", "fact"], "no kind of finding 'fact'. The nearest are "),
        (["--fail-on", "error", "--accept", "one_usr"], "'one_usr'. The nearest are one_user, "),
        (["--accept", "one_user"], "--accept has no effect without --fail-on"),
    ],
)
def test_an_invalid_gate_is_an_error(
    command: str, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is measured."""
    assert rn.compare.__name__  # imported before it is patched, or it keeps the patch
    monkeypatch.setattr("recsys_ndcg.evaluation.evaluate_in_memory", pytest.fail)
    assert re.search(message, error_of(*command.split(), *words))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--alpha", "0.1"], "--alpha has no effect without --fail-if-worse"),
        (["--fail-if-worse", "./fair.csv", "--margin", "1"], "given twice"),
        ([*WORSE, "--json", "good.csv"], "good.csv: this is also the file of --fail-if-worse"),
    ],
)
def test_a_gate_of_one_model_is_checked(folder: Path, words: list[str], message: str) -> None:
    """Options without a baseline, or a baseline that cannot be used."""
    before = (folder / "good.csv").read_bytes()
    assert message in error_of("evaluate", "fair.csv", *words)
    assert (folder / "good.csv").read_bytes() == before
