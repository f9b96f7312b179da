"""Messages name the options of the door that was used: Python's or the command line's."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from tests.commands import run
from tests.package_size import FILES

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,2,5\nann,b,1,2\nbob,a,2,4\nbob,b,3,3\n"
#: Words of the shell that no option of ours is.
OTHERS = re.compile(
    r"--(py-files|upgrade|force-reinstall|no-cache-dir|per-user FILE)|var\(--|!--|^--$"
)
#: A file, options of Python, and the words of the command line for the same call.
FAULTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "pass --threshold": (HEADING + ROWS, {"metrics": "recall"}, ["--metrics", "recall"]),
    "pass --columns estimated=prediction": (f"user,item,prediction,true\n{ROWS}", {}, []),
    "--columns true=...": (
        f"user,item,estimated,rating,label\n{ROWS.replace(chr(10), ',1' + chr(10))}", {}, []),
    "--convention gain=linear": (f"{HEADING}ann,a,1,2000\nann,b,2,1\n", {}, []),
    "--convention duplicates=max": (f"{HEADING}{ROWS}ann,a,1,1\n", {}, []),
    "Choose --convention undefined=skip, 0.0 or": (HEADING + ROWS,
        {"convention": rn.Convention(undefined="raise"), "metrics": "recall", "threshold": 6},
        ["--convention", "undefined=raise", "--metrics", "recall", "--threshold", "6"]),
    "write --convention gain=linear.": (
        HEADING + ROWS, {"convention": "linear"}, ["--preset", "linear"]),
    "Give recommendations: --labels FILE --results FILE": (HEADING + ROWS,
        {"metrics": "coverage@2", "threshold": 3}, ["--metrics", "coverage@2", "--threshold", "3"]),
    "--weights must have": (HEADING + ROWS,
        {"weights": {"item": ["a"], "one": [1], "other": [1]}}, ["--weights", "w.csv"]),
    "--labels FILE --results FILE": ("user,item,estimated\nann,a,1\nann,b,2\n", {}, []),
}  # fmt: skip


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
    assert not re.search(
        r"(?<![\w,])(threshold|columns|metrics|convention|text|heading)=", result.stderr
    )
    with pytest.raises((rn.RecsysNdcgError, rn.DataWarning)) as caught:
        rn.evaluate(path, **options)
    assert "--" not in str(caught.value)


LABELS, SHOWN = "user,item,true\nu,a,1\nu,b,1\n", "user,item,estimated\nu,a,2\nu,c,1\n"
PAIR = ["--labels", "l.csv", "--results", "r.csv", "--metrics", "ndcg@2"]
#: Files, the words of a command, its advice, and what of the words is replaced by what to obey.
OBEYED: dict[str, tuple[dict[str, str], list[str], str, dict[str, str]]] = {
    "a missing heading": ({"p.csv": ROWS}, ["p.csv"], "give FILE,heading=no.",
        {"p.csv": "p.csv,heading=no"}),
    "Latin-1": ({"p.csv": HEADING + ROWS + "j\xf6rg,a,1,2\n"}, ["p.csv"],
        "give FILE,encoding=latin-1.", {"p.csv": "p.csv,encoding=latin-1"}),
    "a decimal comma": ({"p.csv": HEADING.replace(",", ";") + "u;a;1,5;2\nu;b;1;2\nu;c;2;3\n"},
        ["p.csv"], "give 'FILE,decimal=,'", {"p.csv": "p.csv,decimal=,"}),
    "blanks": ({"p.csv": (HEADING + ROWS).replace(",", " ")}, ["p.csv"], "give FILE,sep=space.",
        {"p.csv": "p.csv,sep=space"}),
    "another separator": ({"p.csv": HEADING + ROWS}, ["p.csv", "--sep", ";"],
        "give 'FILE,sep=,'", {"p.csv": "p.csv,sep=,"}),
    "training rows in Latin-1": (
        {"l.csv": LABELS, "r.csv": SHOWN, "t.csv": "user,item\nj\xf6rg,a\nu,c\n"},
        [*PAIR[:4], "--metrics", "popularity@2", "--train", "t.csv"],
        "t.csv: not text in UTF-8, so it is read as Latin-1",
        {"t.csv": "t.csv,encoding=latin-1"}),
    "weights without a heading": ({"l.csv": LABELS, "r.csv": SHOWN, "w.csv": "a,0.5\nb,1\nc,2\n"},
        [*PAIR, "--weights", "w.csv"], "first column is taken as item. To silence this, give FIL",
        {"w.csv": "w.csv,heading=no"}),
    "lists": ({"l.csv": "user,item\nu,a b\nv,c\n", "r.csv": "user,item\nu,a b\nv,a c\n"}, PAIR,
        "Pass --list-sep ' ' if it is a list", {"r.csv": "r.csv --list-sep  "}),
    "ids with blanks": (
        {"l.csv": "user,item\nu,a b\nv,c\n", "r.csv": "user,item\nu,a b\nv,a c\n"}, PAIR,
        "or --list-sep '' if it is one id", {"r.csv": "r.csv --list-sep "}),
    "lists that are recognised": (
        {"l.csv": "user,item\nu,a\nu,b\nv,c\n", "r.csv": "user,item\nu,a b\nv,a c\n"}, PAIR,
        "To silence this, pass --list-sep ' '.", {"r.csv": "r.csv --list-sep  "}),
    "unlike headings": (
        {"l.csv": LABELS.replace("user", "who"), "r.csv": SHOWN.replace("user", "uid")},
        [*PAIR, "--columns", "user=who"], "Use --columns user=who,user=",
        {"user=who": "user=who,user=uid"}),
}  # fmt: skip


@pytest.mark.parametrize("case", OBEYED)
def test_an_advice_works(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says is typed, and then there is nothing more to say; a guess was right."""
    files, words, advice, typed = OBEYED[case]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    monkeypatch.chdir(tmp_path)
    first = run("evaluate", *words)
    assert advice in first.stderr
    obeyed = [part for word in words for part in typed.get(word, word).split(" ", 2)]
    second = run("evaluate", *obeyed)
    assert (second.exit_code, second.stderr) == (0, "")
    if first.exit_code == 0:
        assert second.stdout == first.stdout


def test_each_file_has_its_own_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a comma; options are for the others, and what exists by its whole name is a name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").write_text("u^a^1\nu^b^1\n")
    (tmp_path / "r.csv").write_text("user;item;estimated\nu;a;2,5\nu;c;1,5\n")
    (tmp_path / "t.txt").write_text("u/b\nv/b\nv/a\n")
    words = [*PAIR[:1], "l.csv,sep=^", *PAIR[2:3], "r.csv,decimal=,,heading=yes", "--no-heading"]
    words += ["--train", "t.txt,heading=no,sep=/", "--metrics", "popularity@2", "--threshold", "1"]
    (tmp_path / "plain.csv").write_text("user,item,estimated\nu,a,2.5\nu,c,1.5\n")
    (tmp_path / "train.csv").write_text("user,item\nu,b\nv,b\nv,a\n")
    (tmp_path / "labels.csv").write_text("user,item,true\nu,a,1\nu,b,1\n")
    plain = ["--labels", "labels.csv", "--results", "plain.csv", "--train", "train.csv"]
    plain += words[-4:]
    found = run("evaluate", *words)  # a heading that is not there would be said
    assert (found.stdout, found.stderr) == (run("evaluate", *plain).stdout, "")
    assert "heading must be one of 'yes', 'no'" in run("evaluate", "l.csv,heading=maybe").stderr
    (tmp_path / "p,sep=;").write_text(HEADING + ROWS)
    assert run("evaluate", "p,sep=;").exit_code == 0
    split = ["check-split", "train.csv", "t.txt,sep=/,heading=no"]
    assert run(*split).stdout == run("check-split", "train.csv", "train.csv").stdout


def test_the_package_writes_options_as_python_does() -> None:
    """The command line translates them, so nothing else may write them its own way."""
    found = [
        (file.place, one.value)
        for file in FILES
        if file.room not in {"cli", "__main__"}
        for one in file.nodes(ast.Constant)
        if isinstance(one.value, str) and re.search(r"(?<!\w)--[a-z]", OTHERS.sub("", one.value))
    ]
    assert [one for one in found if "\n" not in one[1]] == []  # docstrings may


def test_names_of_models_and_ids_are_no_options(tmp_path: Path) -> None:
    """Whatever they look like."""
    rows = {user: [(4, 5), (3, 2)] for user in range(9)}
    path = tmp_path / "c.json"
    rn.compare({"KNN k=20": rows, "KNN k=40": dict(rows)}).save(path)
    result = run("report", path)
    assert "KNN k=20 and KNN k=40 have the same score" in result.stdout
    twice = [("the `k=5` one", "a", 1, 2)] * 2
    with pytest.raises(rn.InvalidInputError, match="user 'the `k=5` one' has the item 'a' twice"):
        rn.evaluate(twice)
    (tmp_path / "p.csv").write_text("\n".join(["user,item,estimated,true", *["`k=5` a,b,1,2"] * 2]))
    assert "user '`k=5` a' has the item 'b' twice" in run("evaluate", tmp_path / "p.csv").stderr
