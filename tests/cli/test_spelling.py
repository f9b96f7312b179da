"""Messages name the options of the door that was used: Python's or the command line's."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.cli.spelling import name_options, use_options
from tests.commands import run
from tests.package_size import FILES

ROWS = "ann,a,2,5\nann,b,1,2\nbob,a,2,4\nbob,b,3,3\n"
#: Words of the shell that no option of ours is.
OTHERS = re.compile(
    r"--(py-files|upgrade|force-reinstall|no-cache-dir|per-user FILE)|var\(--|!--|^--$"
)
#: A file, options of Python, and the words of the command line for the same call.
FAULTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "pass --threshold": (
        f"user,item,estimated,true\n{ROWS}",
        {"metrics": "recall"},
        ["--metrics", "recall"],
    ),
    "pass --columns estimated=prediction": (f"user,item,prediction,true\n{ROWS}", {}, []),
    "--columns true=...": (
        f"user,item,estimated,rating,label\n{ROWS.replace(chr(10), ',1' + chr(10))}",
        {},
        [],
    ),
    "--convention gain=linear": ("user,item,estimated,true\nann,a,1,2000\nann,b,2,1\n", {}, []),
    "--convention duplicates=max": (f"user,item,estimated,true\n{ROWS}ann,a,1,1\n", {}, []),
    "--encoding latin-1": ("user,item,estimated,true\nj\xf6rg,a,1,2\n", {}, []),
    "--no-heading": (ROWS, {}, []),
    "--decimal ','": ("user;item;estimated;true\nann;a;1,5;2\n", {}, []),
    "Choose --convention undefined=skip, 0.0 or": (
        f"user,item,estimated,true\n{ROWS}",
        {"convention": rn.Convention(undefined="raise"), "metrics": "recall", "threshold": 6},
        ["--convention", "undefined=raise", "--metrics", "recall", "--threshold", "6"],
    ),
    "write --convention gain=linear.": (
        f"user,item,estimated,true\n{ROWS}",
        {"convention": "linear"},
        ["--preset", "linear"],
    ),
    "Give recommendations: --labels FILE --results FILE": (
        f"user,item,estimated,true\n{ROWS}",
        {"metrics": "coverage@2", "threshold": 3},
        ["--metrics", "coverage@2", "--threshold", "3"],
    ),
    "--weights must have": (
        f"user,item,estimated,true\n{ROWS}",
        {"weights": {"item": ["a"], "one": [1], "other": [1]}},
        ["--weights", "w.csv"],
    ),
    "--labels FILE --results FILE": ("user,item,estimated\nann,a,1\nann,b,2\n", {}, []),
}


@pytest.mark.parametrize("advice", FAULTS)
def test_a_message_names_what_its_reader_can_type(
    advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same fault, through both doors."""
    content, options, words = FAULTS[advice]
    path = tmp_path / "p.csv"
    path.write_text(content, encoding="latin-1")
    (tmp_path / "w.csv").write_text("item,one,other\na,1,1\n")
    monkeypatch.chdir(tmp_path)
    result = run("evaluate", path, *words)
    assert advice in result.stderr
    assert "Convention" not in result.stderr
    assert not re.search(r"\b(threshold|columns|metrics|convention|text|heading)=", result.stderr)
    with pytest.raises((rn.RecsysNdcgError, rn.DataWarning)) as caught:
        rn.evaluate(path, **options)
    assert "--" not in str(caught.value)


def test_the_package_writes_options_as_python_does() -> None:
    """The command line translates them, so nothing else may write them its own way."""
    found = [
        (file.place, one.value)
        for file in FILES
        if file.room not in {"cli", "__main__"}
        for one in file.nodes(ast.Constant)
        if isinstance(one.value, str) and re.search(r"(?<!\w)--[a-z]", OTHERS.sub("", one.value))
    ]
    docstrings = [(place, text) for place, text in found if "\n" in text]
    assert [one for one in found if one not in docstrings] == []


def test_names_of_models_and_ids_are_no_options(tmp_path: Path) -> None:
    """Whatever they look like."""
    rows = {user: [(4, 5), (3, 2)] for user in range(9)}
    path = tmp_path / "c.json"
    rn.compare({"KNN k=20": rows, "KNN k=40": dict(rows)}).save(path)
    result = run("report", path)
    assert "KNN k=20 and KNN k=40 have the same score" in result.stdout
    with use_options({"seed": ["--seed"]}):
        assert name_options("user 'seed=1' of x") == "user 'seed=1' of x"


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("a: users='common'.", "a: --users common."),
        ("columns={'estimated': 'my est', 'true': 'r'}.", "--columns 'estimated=my est,true=r'."),
        ("columns={'user': ...}", "--columns user=..."),
        ("columns= or k=5", "--columns or -k 5"),
        ("draws=99 is too few", "--draws 99 is too few"),
        ("draws must be", "--draws must be"),
        ("separator must be", "--sep must be"),
        ("pass max_grade=5.0, or tail_at=, now", "pass -c max_grade=5.0, or -c tail_at=, now"),
        ("Choose ties='expected' or 'input'.", "Choose -c ties=expected or 'input'."),
        ("unknown=3, users==4, 'users' = 5", "unknown=3, users==4, 'users' = 5"),
    ],
)
def test_an_argument_of_python_becomes_an_option(python: str, typed: str) -> None:
    """With its value as a shell reads it; others stay."""
    names = {name: [f"--{name}"] for name in ("users", "columns", "draws", "sep")}
    names |= {"k": ["-k"], "convention": ["-c"]}
    with use_options(names):
        assert name_options(python) == typed
