"""Experiments as files of TOML, through Python and the command line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import recsys_ndcg as rn
from recsys_ndcg.cli.training import LiveLeaderboard
from recsys_ndcg.experiments.trials import from_toml
from recsys_ndcg.surprise import SVD, LeaveNOut
from tests.commands import run as run_command
from tests.experiments.made import ratings, run

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
    """Return a config beside its ratings and models, from another folder."""
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
        means = train.groupby("item")["rating"].mean()
        return lambda pairs: pairs["item"].map(means).fillna(0.0) ** 2

    return run(
        {"SVD": SVD(n_factors=3, n_epochs=2), "mine": mine},
        metrics=["ndcg@5", "ndcg@5:catalogue"],
        threshold=4,
        seeds=[3],
        splits=LeaveNOut(2, 2),
    )


def test_a_file_asks_as_python_does(config: Path) -> None:
    """All but the names of the options is the same."""
    found = rn.experiment(**from_toml(config), progress=False)
    pd.testing.assert_frame_equal(found.per_user, _expected().per_user)
    assert (config.parent / "runs" / "today" / "run.json").exists()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_command_prints_the_leaderboard(config: Path, n_jobs: int) -> None:
    """As compare does, and what the models take; what is done is not done again."""
    said = run_command("experiment", config, "--n-jobs", str(n_jobs))
    assert said.exit_code == 0, said.stderr
    assert said.stderr == ""
    expected = _expected()
    shown = str(expected).splitlines()
    for line in shown[:2]:
        assert line in said.stdout
    assert expected.verdict.split(".")[0] in " ".join(said.stdout.split())
    assert "- SVD: fit 0." in said.stdout
    as_json = run_command("experiment", config, "--format", "csv").stdout
    table = pd.read_csv(io.StringIO(as_json), index_col=["metric", "model"])
    means = expected.to_frame()["mean"]
    assert table["mean"].to_dict() == pytest.approx(means.to_dict(), abs=1e-15)


def test_runs_in_one_table(config: Path) -> None:
    """Those of different days; what makes them differ is said."""
    run_command("experiment", config)
    text = CONFIG.replace("n = 2", "n = 3").replace("n_factors = 3", "n_factors = 2")
    config.write_text(text)
    run_command("experiment", config, "--folder", "other")
    said = run_command("leaderboard", config.parent / "runs" / "today", "other")
    assert said.exit_code == 0, said.stderr
    assert said.stdout.count("SVD") == 2
    assert "2/2" in said.stdout
    assert "- The runs have different splits: their numbers cannot be compared." in said.stdout
    table = rn.load_runs(config.parent / "runs" / "*", "other").table
    assert len(table) == 4
    csv = run_command("leaderboard", "other", "--metric", "ndcg@5:catalogue", "--format", "csv")
    assert csv.stdout.splitlines()[0].startswith("run,model,ndcg@5,ndcg@5:catalogue,users,done,of")
    assert run_command("leaderboard", "other", "--metric", "map").exit_code == 2
    for words in (["-n", "3"], ["--sort", "z"], ["--threshold", "4"], ["--ascending"]):
        refused = run_command("leaderboard", "other", *words)
        assert refused.exit_code == 2
        assert "Runs are measured already" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("threshold", "treshold", "no option 'treshold'. Did you mean 'threshold'"),
        ('ratings = "ratings.csv"', "", "ratings is the path of a file"),
        ("ratings.csv", "nowhere.csv", "nowhere.csv: cannot be read"),
        ('class = "surprise.SVD"', "", r"\[models.SVD\] needs class"),
        ("surprise.SVD", "surprise.SDV", "surprise has no 'SDV'. Did you mean 'SVD'"),
        ("surprise.SVD", "surprize.SVD", "'surprize.SVD' cannot be imported: No module"),
        ("surprise.SVD", "SVD", "'SVD' names no module"),
        ("n_factors", "factors", r"\[models.SVD\]: surprise.SVD cannot be made so: .*factors"),
        ("n = 2\n", "n = 0\n", "cannot be made so: .*n must be"),
        ("my_models.item_means", "my_models.__name__", "is no function"),
        ("[models.mine]", "[models.mine", "no TOML"),
        ("power", "power = 3\npower", "no TOML"),
        ("seeds = [3]", "seeds = 0", "seeds is"),
        ("[3]", "[" * 5000 + "]" * 5000, "no TOML of an experiment: .*recursion"),
        ("[3]", "[" * 100 + "]" * 100, "seeds is"),
        ("seeds = [3]", "seeds" + ".a" * 5000 + " = 1", "seeds is"),
        ("[3]", "9" * 100_000, "no TOML of an experiment: .*100000 digits"),
        ("[3]", "0x" + "f" * 100_000, "seeds is"),
        ("[3]", '"\\ud800"', "no TOML"),
    ],
)
def test_what_is_wrong_with_a_file(config: Path, old: str, new: str, fault: str) -> None:
    """In one line that begins with its name."""
    config.write_text(CONFIG.replace(old, new))
    with pytest.raises(rn.RecsysNdcgError, match=fault):
        rn.experiment(**from_toml(config), progress=False)
    said = run_command("experiment", config)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("error: ")
    assert "Traceback" not in said.stderr


def test_what_is_warned_of_while_it_is_read(config: Path) -> None:
    """A module of the user's own may measure something."""
    (config.parent / "warning_models.py").write_text(
        "import recsys_ndcg as rn\n"
        "from my_models import item_means\n"
        "rn.evaluate({1: [(1, 2), (2, 1)]}, metrics='precision@1', threshold=9)\n"
    )
    config.write_text(CONFIG.replace("my_models.", "warning_models."))
    with pytest.warns(rn.DataWarning, match="threshold=9 is above every true value"):
        from_toml(config)


def test_a_page_of_an_experiment(config: Path) -> None:
    """With what was typed, and what Python would have to type; the config itself is safe."""
    pytest.importorskip("altair")
    said = run_command("experiment", config, "--html", "page.html")
    assert said.exit_code == 0, said.stderr
    page = (config.parent.parent / "page.html").read_text(encoding="utf-8")
    assert "rn.experiment(" in page
    assert "SVD" in said.stdout
    alone = run_command("experiment", config, "--html", "-")
    assert alone.stdout == page
    before = config.read_bytes()
    assert run_command("experiment", config, "--html", config).exit_code == 2
    assert config.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("x = ", "SyntaxError"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
    ],
)
def test_a_module_that_cannot_be_loaded(content: str, fault: str, config: Path) -> None:
    """Is its fault, and said with its name."""
    name = f"faulty_{fault.partition(':')[0].lower()}"
    (config.parent / f"{name}.py").write_text(content)
    config.write_text(CONFIG.replace("my_models", name))
    said = run_command("experiment", config)
    assert (said.exit_code, said.stdout) == (2, "")
    assert f"[models.mine]: '{name}.item_means' cannot be imported: {fault}" in said.stderr


def test_a_class_that_fails_when_it_is_made(config: Path) -> None:
    """Whatever it raises."""
    (config.parent / "unmade.py").write_text("class Model:\n    def __init__(self): {}['key']\n")
    config.write_text(CONFIG + '[models.bad]\nclass = "unmade.Model"\n')
    said = run_command("experiment", config)
    assert (said.exit_code, said.stdout) == (2, "")
    assert "[models.bad]: unmade.Model cannot be made so: KeyError: 'key'" in said.stderr


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_what_models_print_stands_aside(n_jobs: str, config: Path) -> None:
    """The output of the command is the leaderboard alone."""
    loud = MINE.replace("    means", "    print('loud')\n    means", 1)
    (config.parent / "loud_models.py").write_text(loud)
    config.write_text(CONFIG.replace("my_models", "loud_models"))
    said = subprocess.run(  # noqa: S603 - our own command, as its streams are the system's
        [
            sys.executable,
            "-m",
            "recsys_ndcg",
            "experiment",
            config,
            "--format=csv",
            f"--n-jobs={n_jobs}",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(rn.__file__).parents[1])},
    )
    assert said.stdout.startswith("metric,model,mean")
    assert said.stderr.split() == ["loud", "loud"]


def test_the_leaderboard_while_it_fills(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where some of it was done before, and by errors the lowest first."""
    screen = Console(file=io.StringIO(), force_terminal=True, width=60)
    monkeypatch.setattr("recsys_ndcg.cli.training.err", screen)
    config.write_text(CONFIG.replace('["ndcg@5", "ndcg@5:catalogue"]', '["rmse", "ndcg@5"]'))
    asked = from_toml(config)
    models = [*asked["models"], "new"]
    filling = LiveLeaderboard(models)
    filling.resume(asked["folder"])
    assert filling.table()["folds"].tolist() == [0, 0, 0]
    given = rn.experiment(**asked, progress=filling.progress, on_result=filling.add)
    table = filling.table()
    assert table["folds"].to_dict() == {"SVD": 2, "mine": 2, "new": 0}
    assert table["rmse"].iloc[:2].is_monotonic_increasing
    runs = given.runs.groupby("model")["ndcg@5"].mean()
    assert table["ndcg@5"].dropna().to_dict() == pytest.approx(runs.to_dict())
    again = LiveLeaderboard(models)
    again.resume(asked["folder"])
    pd.testing.assert_frame_equal(again.table(), table)
    again.progress("Training", 0.5)
    with again.shown():
        pass
    drawn = screen.file.getvalue()  # type: ignore[attr-defined] # it is a StringIO
    assert "mine" in drawn
    assert "50%" in drawn
    (asked["folder"] / "run.json").write_text("{")
    LiveLeaderboard(models).resume(asked["folder"])  # which the experiment says
