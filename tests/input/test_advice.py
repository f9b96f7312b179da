"""What a message tells to pass works when it is passed, and a guess that is said was right."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.input.tables import write

GRADES = pd.DataFrame({"visitor": ["u", "u", "v"], "sku": ["a", "b", "c"], "stars": [5, 1, 4]})
SHOWN = pd.DataFrame({"uid": ["u", "u", "v"], "item": ["a", "c", "c"], "score": [2.0, 1.0, 1.0]})
CELLS = pd.DataFrame({"user": ["u", "v"], "item": ["a b", "a c"]})
WANTED = pd.DataFrame({"user": ["u", "v"], "item": ["a b", "c"]})
ARRAY = np.array([[0, 1, 2], [1, 0, 2]])
#: Labels and results, the advice, the options that obey it, and the mean reciprocal rank, by hand;
#: a user without a list has 0.
ADVICE: dict[str, tuple[Any, Any, str, dict[str, Any], float]] = {
    "cells that are lists": ({"u": ["b"], "v": ["c"]}, CELLS, "pass list_separator=' '",
        {"list_separator": " "}, 0.5),
    "cells that may be lists": (WANTED, CELLS, "list_separator=' ' if it is a",
        {"list_separator": " "}, 0.75),
    "cells that may be ids": (WANTED, CELLS, "list_separator='' if it is one",
        {"list_separator": ""}, 0.5),
    "rows of three numbers": ({0: [1], 5: [0]}, ARRAY, "[*map(tuple, results)]",
        {"results": [*map(tuple, ARRAY)]}, 0.5),
    "three items per user": ({0: [1], 5: [0]}, ARRAY, "dict(enumerate(results))",
        {"results": dict(enumerate(ARRAY))}, 0.25),
    "unlike names": (GRADES, SHOWN.rename(columns={"uid": "who"}),
        "columns={'user': ['visitor', 'who']}", {"columns": {"user": ["visitor", "who"]}}, 1.0),
    "recognised names": (GRADES[["visitor", "sku"]].set_axis(["userId", "sku"], axis=1), SHOWN,
        "pass columns={'user': 'userId', 'item': 'sku'}",
        {"columns": {"user": ["userId", "uid"], "item": ["sku", "item"], "estimated": "score"}},
        1.0),
    "an unused grade": (GRADES.rename(columns={"visitor": "user", "sku": "item"}), SHOWN,
        "columns={'true': 'stars'}",
        {"columns": {"user": ["user", "uid"], "true": "stars", "estimated": "score"},
         "threshold": 5}, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_an_advice_works(case: str) -> None:
    """Without a further warning about the form of the data."""
    labels, results, advice, obeyed, expected = ADVICE[case]
    how: dict[str, Any] = {"labels": labels, "results": results, "metrics": "rr"}
    if case == "unlike names":
        how["columns"] = {"user": "visitor"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            rn.evaluate(**how)
            texts = [str(one.message) for one in caught]
        except rn.InvalidInputError as error:
            texts = [str(error)]
    assert any(advice in text for text in texts), texts
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = rn.evaluate(**how | obeyed)
    assert report.mean.tolist() == [expected]
    assert not [text for one in caught if advice in (text := str(one.message))]


def test_a_table_whose_heading_is_a_row_has_its_path(tmp_path: Path) -> None:
    """As pandas reads a file without a heading."""
    path = write(tmp_path, "u,a,2,5\nu,b,1,3\n")
    with pytest.raises(rn.InvalidInputError) as caught:
        rn.evaluate(pd.read_csv(path))
    assert "If the file has no heading, give (path, rn.TextFormat(heading=False))." in str(
        caught.value
    )
    assert rn.evaluate((path, rn.TextFormat(heading=False)), metrics="ndcg").mean.iloc[0] == 1


def test_qrels_in_latin_1_have_their_encoding_beside_the_path(tmp_path: Path) -> None:
    """As all files."""
    path = write(tmp_path, "j\xf6rg 0 d1 1\n".encode("latin-1"), "qrels")
    run = {"j\xf6rg": {"d1": 1.0}}
    with pytest.warns(rn.DataWarning, match=r"give \(path, rn.TextFormat\(encoding='latin-1'\)\)"):
        guessed = rn.RankedLists.from_trec(path, run)
    lists = rn.RankedLists.from_trec((path, rn.TextFormat(encoding="latin-1")), run)
    assert lists.users.tolist() == guessed.users.tolist() == ["j\xf6rg"]


COLUMNS: list[tuple[Any, Any]] = [
    ({"user": [1, "uid"], "true": 3}, rn.TextFormat(heading=False)), ({"user": ["1", "uid"]}, None),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "text"), COLUMNS)
def test_a_column_has_several_names_in_several_files(
    columns: Any, text: Any, tmp_path: Path
) -> None:
    """Also positions; of each table it is the first name that it has."""
    labels = write(tmp_path, "u,a,5\nv,c,4\n", "l.csv")
    shown = write(tmp_path, "uid,item,estimated\nu,a,2\nv,b,2\nv,c,1\n", "r.csv")
    columns = {"item": ["2", "item"], **columns}
    if text is None:
        columns["true"] = "3"
    how: dict[str, Any] = {"labels": (labels, text) if text else labels, "results": shown}
    assert rn.evaluate(**how, columns=columns, metrics="rr", threshold=4).mean.iloc[0] == 0.75


def test_a_table_with_several_of_the_names_has_the_first() -> None:
    """The order says which; a name of no table is missing."""
    both = GRADES.assign(uid="w")
    how: dict[str, Any] = {"results": SHOWN, "metrics": "rr", "threshold": 4}
    for names, expected in ((["visitor", "uid"], 1.0), (["uid", "visitor"], 0.0)):
        columns = {"user": names, "item": ["sku", "item"], "true": "stars", "estimated": "score"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = rn.evaluate(labels=both, columns=columns, **how)
        assert report.mean.iloc[0] == expected
