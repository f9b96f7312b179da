"""The Python code on a page gives the same numbers again."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import run
from tests.comparison.models import models
from tests.profiles import slow, some

pytest.importorskip("jinja2")
pytest.importorskip("altair")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = models(users=12)["good"]


OPTIONS: list[dict[str, Any]] = [
    {"threshold": 4}, {"metrics": ["ndcg@5", "p@3", "rr", "rmse"], "threshold": 3.5},
    {"convention": rn.Convention(gain="linear", ties="input", tie_tolerance=1e-9)},
    {"convention": rn.Convention(gain={1.0: 0.0, 2.0: 0.5, 3.0: 1.0, 4.0: 2.0, 5.0: 4.0})},
    {"convention": "catboost", "metrics": ["ndcg@3", "ap@3", "rr"], "threshold": 3},
    {"metrics": ["rbp(p=0.9)@3", "ndcg"], "k": None, "threshold": 3},
    {"convention": rn.Convention(ideal="max", max_grade=5, undefined=0.0)},
]  # fmt: skip


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write predictions of three models, and what is known about items, into the current folder."""
    monkeypatch.chdir(tmp_path)
    columns = ["user", "item", "estimated", "true"]
    for n, (name, rows) in enumerate(models(users=30).items(), 1):
        table = pd.DataFrame(rows, columns=columns)
        for path in [f"{name}.csv", f"predictions_{n}.csv", "predictions.csv"][
            : 3 if n == 1 else 2
        ]:
            table.to_csv(path, index=False)
        table.set_axis(["uid", "iid", "est", "r"], axis=1).to_csv(f"{name}-own.csv", index=False)
        table.to_csv(f"{name}-semicolon.csv", index=False, sep=";", decimal=",")
        table[["user", "item", "estimated"]].to_csv(f"{name}-results.csv", index=False)
    table[["user", "item", "true"]].to_csv("labels.csv", index=False)
    table[["user", "item"]].iloc[::2].to_csv("train.csv", index=False)
    segments = table[["user"]].drop_duplicates()
    segments["half"] = np.arange(len(segments)) % 2
    segments.to_csv("segments.csv", index=False)


def paste(page: str) -> dict[str, Any]:
    """Run the code that a page offers for copying, as in a fresh Python; return its names."""
    (code,) = re.findall('aria-label="The same in Python"><code>(.*?)</code>', page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(unescape(code), names)  # noqa: S102 - our own
    return names


def signatures_in(names: dict[str, Any]) -> dict[str, str]:
    """Return the text of each signature of the reports that some code made."""
    reports = [one for one in names.values() if isinstance(one, rn.Report)]
    return {name: one.text for each in reports for name, one in each.signatures.items()}


@pytest.mark.parametrize("how", OPTIONS)
@pytest.mark.parametrize("data", ["good.csv", *slow(ROWS)])
def test_the_code_of_a_report_gives_the_same_signatures(data: Any, how: dict[str, Any]) -> None:
    """In several calls if the metrics have different conventions; a table's file is a guess."""
    report = rn.evaluate(data, **how)
    page = report.to_html()
    own = {name: one.text for name, one in report.signatures.items()}
    found = signatures_in(paste(page))
    if isinstance(data, str):
        assert found == own
        n_calls = 1 + (how.get("convention") == "catboost")
        assert page.count("rn.evaluate(data") == n_calls
    assert found.keys() == own.keys()


def test_the_code_has_the_name_of_a_function() -> None:
    """Or dots, if it has no name."""

    def cubed(true: Any) -> Any:
        return true**3

    for gain, name in ((cubed, "cubed"), (lambda true: true, "...")):
        page = rn.evaluate(ROWS, convention=rn.Convention(gain=gain)).to_html()
        line = f"(data, metrics=['ndcg@10'], convention=rn.Convention(gain={name}))"
        assert line in unescape(page)


def compare_saved(**how: Any) -> rn.Comparison:
    """Compare saved reports, and a file."""
    rn.evaluate("good.csv", metrics="ndcg@3", threshold=4).save("good.json")
    return rn.compare({"a": "good.json", "b": rn.evaluate("fair.csv", metrics="ndcg@3")}, **how)


def load(result: Any, path: str) -> Any:
    """Save something, and load it."""
    result.save(path)
    return type(result).load(path)


OWN = {"user": "uid", "item": "iid", "estimated": "est", "true": "r"}
MODELS = {"good": "good.csv", "fair": Path("fair.csv")}
TABLES = {name: models(users=30)[name] for name in MODELS}
GAINS = rn.Convention(gain={1.0: 0.0, 2.0: 0.5, 3.0: 1.0, 4.0: 2.0, 5.0: 4.0})
RESULTS: dict[str, Callable[[], Any]] = {
    "own columns": lambda: rn.evaluate("good-own.csv", columns=OWN, threshold=4),
    "results": lambda: rn.evaluate(
        {"labels": "labels.csv", "results": "good-results.csv"}, metrics="novelty@2",
        train="train.csv",
    ),
    "a loaded report": lambda: load(rn.evaluate(ROWS), "good.json"),
    "with options": lambda: rn.compare(
        MODELS, threshold=4, metrics=["ndcg@3", "recall@3"], baseline="fair", margin=0.01
    ),
    "randomised": lambda: rn.compare(
        MODELS, test="randomisation", draws=500, seed=3, by="activity"
    ),
    "against chance": lambda: rn.compare(MODELS, baseline="chance"),
    "by cold": lambda: rn.compare(MODELS, by="cold", train="train.csv"),
    "by a file": lambda: rn.compare(MODELS, by="segments.csv"),
    "own columns of all": lambda: rn.compare(
        {name: f"{name}-own.csv" for name in MODELS}, columns=OWN, threshold=4
    ),
    "own columns of one": lambda: rn.compare(
        {"a": rn.evaluate("good-own.csv", columns=OWN), "b": rn.evaluate("fair.csv")}
    ),
    "gains, own columns of one": lambda: rn.compare(
        {name: rn.evaluate(f"{name}{end}.csv", convention=GAINS, columns=columns)
         for name, end, columns in (("good", "-own", OWN), ("fair", "", None))}
    ),
    "loaded reports": compare_saved,
    "tables": lambda: rn.compare(TABLES),
    "tables and a file": lambda: rn.compare(TABLES, by="cold", train="train.csv"),
    "many models": lambda: rn.compare(
        {f"m{n}": path for n, path in enumerate([*MODELS.values(), *Path().glob("pred*.csv")])}
    ),
    "a loaded comparison": lambda: load(rn.compare(MODELS), "c.json"),
}  # fmt: skip


@pytest.mark.parametrize("case", some(RESULTS, 3))
def test_the_code_on_a_page_runs_as_it_stands(case: str) -> None:
    """In the folder of the data; what was in memory is expected in a file."""
    result = RESULTS[case]()
    names = paste(result.to_html())
    if isinstance(result, rn.Report):
        assert names["report"] == result
    else:
        assert names["comparison"].to_dict() == result.to_dict()


COMMANDS = {
    "report good.csv --threshold 4": "report",
    "report good-semicolon.csv --sep ; --decimal , -k 3": "report",
    "report --labels labels.csv --results good-results.csv --n-items 99": "report",
    "compare good.csv poor.csv --threshold 4 --by segments.csv": "comparison",
    "compare --labels labels.csv a=good-results.csv b=fair-results.csv -k 2": "comparison",
}


def test_the_code_on_the_page_of_the_demo_runs() -> None:
    """It trains the same models, and compares them."""
    pytest.importorskip("surprise")
    assert run("demo", "-k", "5", "--seed", "3", "--html", "page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    (board,) = paste(page)["comparison"].leaderboards["ndcg@5"][:1].itertuples()
    assert f"<bdi>{board.Index}</bdi></th><td>1</td><td>{board.mean:.4f} <small>" in page


@pytest.mark.parametrize("command", some(COMMANDS, 3))
def test_the_code_on_a_page_of_a_command_runs(command: str) -> None:
    """With the options that say how files are read."""
    saved = "--save" if command.startswith("compare") else None
    result = run(*command.split(), "--html", "page.html", *([saved, "c.json"] if saved else ()))
    assert result.exit_code == 0, result.stderr
    names = paste(Path("page.html").read_text(encoding="utf-8"))
    found = names[COMMANDS[command]]
    if saved:
        assert found.to_dict() == rn.Comparison.load("c.json").to_dict()
    else:
        run("evaluate", *command.split()[1:], "--json", "r.json")
        assert found == rn.Report.load("r.json")


def test_the_files_of_a_report_are_written_as_python() -> None:
    """Paths as text, no labels as None, and what differs from the defaults."""
    how: Any = {"metrics": "popularity@2", "train": Path("train.csv")}
    data: dict[str, Any] = {"labels": Path("labels.csv"), "results": Path("good-results.csv")}
    files = {"labels": "labels.csv", "results": "good-results.csv"}
    for labels, name in ((data["labels"], "labels.csv"), (None, None)):
        found = rn.evaluate({**data, "labels": labels}, **how)
        assert found._data.inputs == {
            "train": "'train.csv'",
            "data": repr({**files, "labels": name}),
        }
    found = rn.evaluate(**data, **how, list_separator="")
    assert (
        found._data.inputs["data"] == f"rn.RankedLists.from_labels(**{files!r}, list_separator='')"
    )
    films = Path("films.csv")
    films.write_text("item,price\ni0,2.5\n", encoding="utf-8")
    assert rn.evaluate(data, **how, features=films)._data.inputs["features"] == "'films.csv'"
    parts = [Path("good.csv")]
    assert rn.evaluate(parts, metrics="rmse")._data.inputs == {"data": "['good.csv']"}
    columns = {"user": "uid", "item": "iid", "estimated": "est", "true": "r"}
    found = rn.evaluate("good-own.csv", metrics="rmse", columns=columns)
    assert found._data.inputs == {"columns": repr(columns), "data": "'good-own.csv'"}
