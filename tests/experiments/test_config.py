"""Experiments as files of TOML, through Python and the command line."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

import recsys_ndcg as rn
from recsys_ndcg.cli.experiments import LiveLeaderboard
from recsys_ndcg.experiments import from_toml

pytest.importorskip("surprise")

from recsys_ndcg.surprise import SVD, LeaveNOut, MostPopular
from tests.commands import error_of, run_python
from tests.commands import run as run_command
from tests.experiments.made import JOBS, item_means, ratings, run

CONFIG = """
ratings = "ratings.csv"
folder = "runs/today"
metrics = ["ndcg@5", "ndcg@5:catalogue"]
threshold = 4
seeds = [3]

[splits]
class = "recsys_ndcg.surprise.LeaveNOut"
n = 2
n_splits = 2

[models.SVD]
class = "surprise.SVD"
n_factors = 3
n_epochs = 2

[models.mine]
function = "my_models.item_means"
power = 2
"""
MINE = """
def item_means(train, power=1):
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: pairs["item"].map(means).fillna(0.0) ** power
"""


@pytest.fixture(name="config")
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a configuration next to its ratings and models; another folder is the current one."""
    place = tmp_path / "config"
    place.mkdir()
    ratings().to_csv(place / "ratings.csv", index=False)
    (place / "my_models.py").write_text(MINE)
    path = place / "today.toml"
    path.write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(place)  # as it is taken away after the test
    return path


def _expected() -> rn.Comparison:
    def mine(train: pd.DataFrame) -> object:
        return lambda pairs: item_means(train)(pairs) ** 2

    how: dict[str, Any] = {"metrics": ["ndcg@5", "ndcg@5:catalogue"], "threshold": 4, "seeds": [3]}
    given = {"SVD": SVD(n_factors=3, n_epochs=2), "mine": mine}
    return run(given, splits=LeaveNOut(2, 2), **how)


@pytest.mark.parametrize("n_jobs", JOBS)
def test_a_file_gives_the_same_numbers_as_python(config: Path, n_jobs: int) -> None:
    """The command prints the comparison and the costs; a second call does not train again."""
    result = run_command("experiment", config, "--n-jobs", str(n_jobs))
    assert (result.exit_code, result.stderr.count(" of 4)\n")) == (0, 4)
    expected = _expected()
    for line in str(expected).splitlines()[:2]:
        assert line in result.stdout
    assert expected.verdict.split(".")[0] in " ".join(result.stdout.split())
    assert "- SVD: fit 0." in result.stdout
    found = rn.experiment(
        **from_toml(config), progress=False, on_result=lambda one: pytest.fail(str(one))
    )
    pd.testing.assert_frame_equal(found.per_user, expected.per_user)
    assert (config.parent / "runs" / "today" / "run.json").exists()
    printed = run_command("experiment", config, "--format", "csv").stdout
    table = pd.read_csv(io.StringIO(printed), index_col=["metric", "model"])
    means = expected.to_frame()["mean"]
    assert table["mean"].to_dict() == pytest.approx(means.to_dict(), abs=1e-15)


def test_the_leaderboard_shows_several_runs(config: Path) -> None:
    """With a remark if their splits differ."""
    run_command("experiment", config)
    config.write_text(CONFIG.replace("n = 2", "n = 3").replace("n_factors = 3", "n_factors = 2"))
    run_command("experiment", config, "--folder", "other")
    result = run_command("leaderboard", config.parent / "runs" / "today", "other")
    assert result.stdout.count("SVD") == 2, result.stderr
    assert "2/2" in result.stdout
    assert "- The runs have different splits: their numbers cannot be compared." in result.stdout
    assert len(rn.load_runs(config.parent / "runs" / "*", "other").table) == 4
    csv = run_command("leaderboard", "other", "--metric", "ndcg@5:catalogue", "--format", "csv")
    assert csv.stdout.splitlines()[0].startswith("run,model,ndcg@5,ndcg@5:catalogue,users,done,of")
    assert "map" in error_of("leaderboard", "other", "--metric", "map")
    for words in (["-n", "3"], ["--sort", "z"], ["--threshold", "4"], ["--ascending"]):
        assert "Saved runs cannot be evaluated again" in error_of("leaderboard", "other", *words)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("threshold", "treshold", "no option 'treshold'. Did you mean 'threshold'"),
        ('ratings = "ratings.csv"', "", "ratings must be the path of a file"),
        ("ratings.csv", "nowhere.csv", "nowhere.csv: cannot be read"),
        ('class = "surprise.SVD"', "", r"\[models.SVD\] needs class"),
        ("surprise.SVD", "surprise.SDV", "surprise has no 'SDV'. Did you mean 'SVD'"),
        ("surprise.SVD", "SVD", "'SVD' names no module"),
        ("n_factors", "factors", r"\[models.SVD\]: surprise.SVD rejects its parameters: .*factors"),
        ("n = 2\n", "n = 0\n", "rejects its parameters: .*n must be"),
        ("my_models.item_means", "my_models.__name__", "is not a function"),
        ("[3]", "[" * 5000 + "]" * 5000, "not the TOML of an experiment: .*recursion"),
        ("[3]", "9" * 100_000, "not the TOML of an experiment: .*100000 digits"),
        ("[3]", '"\\ud800"', "not the TOML"),
    ],
)
def test_an_invalid_file_is_an_error(config: Path, old: str, new: str, fault: str) -> None:
    """Of one line, from Python and from the command."""
    config.write_text(CONFIG.replace(old, new))
    with pytest.raises(rn.RecsysNdcgError, match=fault):
        rn.experiment(**from_toml(config), progress=False)
    assert re.search(fault, error_of("experiment", config))


def test_warnings_of_imported_modules_are_kept(config: Path) -> None:
    """Of a module that evaluates something, for example."""
    (config.parent / "warning_models.py").write_text(
        "import recsys_ndcg as rn\n"
        "from my_models import item_means\n"
        "rn.evaluate({1: [(1, 2), (2, 1)]}, metrics='precision@1', threshold=9)\n"
    )
    config.write_text(CONFIG.replace("my_models.", "warning_models."))
    with pytest.warns(rn.DataWarning, match="threshold=9 is above every true value"):
        from_toml(config)


def test_a_page_of_an_experiment(config: Path) -> None:
    """With the Python code; the configuration itself is never overwritten."""
    pytest.importorskip("altair")
    result = run_command("experiment", config, "--html", "page.html")
    assert "SVD" in result.stdout, result.stderr
    page = (config.parent.parent / "page.html").read_text(encoding="utf-8")
    assert "rn.experiment(" in page
    assert run_command("experiment", config, "--html", "-").stdout == page
    before = config.read_bytes()
    assert "--html" in error_of("experiment", config, "--html", config)
    assert config.read_bytes() == before


BROKEN = "'broken.item_means' cannot be imported: "


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("x = ", f"{BROKEN}SyntaxError"), ("import sys; sys.exit(0)", f"{BROKEN}SystemExit: 0"),
        ("class item_means:\n    def __init__(self, **_): {}['key']", "KeyError: 'key'"),
    ],
)  # fmt: skip
def test_a_module_that_fails_is_an_error(
    content: str, fault: str, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the model's name and the module's error."""
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    (config.parent / "broken.py").write_text(content)
    kind = "class =" if content.startswith("class") else "function ="
    config.write_text(CONFIG.replace("my_models", "broken").replace("function =", kind))
    message = error_of("experiment", config)
    assert "[models.mine]: " in message
    assert fault in message


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_output_of_models_goes_to_standard_error(n_jobs: int, config: Path) -> None:
    """Standard output has only the table."""
    loud = MINE.replace("    means", "    print('loud')\n    means", 1)
    (config.parent / "loud_models.py").write_text(loud)
    config.write_text(CONFIG.replace("my_models", "loud_models"))
    words = ["experiment", str(config), "--format=csv", f"--n-jobs={n_jobs}"]
    ran = run_python("-m", "recsys_ndcg", *words)
    assert ran.stdout.startswith("metric,model,mean")
    assert ran.stderr.count("loud\n") == ran.stderr.count("mine seed 3 fold") == 2


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Console:
    """Return the terminal that the leaderboard is drawn on."""
    how: dict[str, Any] = {"force_terminal": True, "highlight": False, "markup": False}
    console = Console(file=io.StringIO(), width=60, **how)
    monkeypatch.setattr("recsys_ndcg.cli.experiments.err", console)
    return console


def test_the_live_leaderboard_shows_the_means_so_far(config: Path, screen: Console) -> None:
    """Also of a run that resumes; errors in ascending order."""
    config.write_text(CONFIG.replace('["ndcg@5", "ndcg@5:catalogue"]', '["rmse", "ndcg@5"]'))
    options = from_toml(config)
    models, folder = [*options["models"], "new"], options["folder"]
    board, again = LiveLeaderboard(models), LiveLeaderboard(models)
    board.resume(folder)
    assert board.table()["folds"].tolist() == [0, 0, 0]
    found = rn.experiment(**options, progress=board.progress, on_result=board.add)
    table = board.table()
    assert table["folds"].to_dict() == {"SVD": 2, "mine": 2, "new": 0}
    assert table["rmse"].iloc[:2].is_monotonic_increasing
    means = found.runs.groupby("model")["ndcg@5"].mean()
    assert table["ndcg@5"].dropna().to_dict() == pytest.approx(means.to_dict())
    again.resume(folder)
    pd.testing.assert_frame_equal(again.table(), table)
    again.progress("Training", 0.5)
    with again.display():
        pass
    drawn = screen.file.getvalue()  # type: ignore[attr-defined] # it is a StringIO
    assert "mine" in drawn
    assert "50%" in drawn
    (folder / "run.json").write_text("{")
    LiveLeaderboard(models).resume(folder)  # the experiment raises the error


def test_the_live_leaderboard_is_removed_at_the_end(screen: Console) -> None:
    """Control characters and markup in names do not act."""
    shown = LiveLeaderboard(["[red]?[31m" + "m" * 80, "top"])
    with shown.display():
        shown.progress("Training", 0.25)
        run({"top": MostPopular(), "other": MostPopular()}, on_result=shown.add)
    text = screen.file.getvalue()  # type: ignore[attr-defined] # it is a StringIO
    for part in ("Training", "25%", "[red]", "ndcg@5"):
        assert part in text
    assert text.endswith("\x1b[2K")  # the last line is erased
