"""What cross_validate prints under verbose=True: Surprise's summary, with ranking measures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from surprise import model_selection
from surprise.model_selection import LeaveOneOut, ShuffleSplit

from recsys_ndcg.surprise import cross_validate, make_measure
from tests.surprise.samples import DATA, TABLE, THREE, TWO, svd

RANKING = ["ndcg@10", "recall@10:catalogue"]


@pytest.mark.parametrize(
    ("measures", "cv", "train"),
    [
        (["rmse", "mae"], TWO, False),
        (["FCP"], THREE, True),
        ([], TWO, True),
        (["mse", "rmse", "fcp", "MAE"], ShuffleSplit(12, random_state=0), True),
        (["mse"], LeaveOneOut(3, random_state=0), False),
    ],
)
def test_the_summary_of_surprises_measures_is_surprises_to_the_byte(
    capsys: pytest.CaptureFixture[str], measures: list[str], cv: Any, train: Any
) -> None:
    """Only the digits of the times differ."""
    printed = []
    for function in (model_selection.cross_validate, cross_validate):
        function(svd(1), DATA, measures, cv, return_train_measures=train, verbose=True)
        lines = capsys.readouterr().out.splitlines(keepends=True)
        printed.append([re.sub(r"\d", "t", one) if " time" in one else one for one in lines])
    assert printed[1] == printed[0]
    assert "Fold 1" in "".join(printed[0])


def test_ranking_measures_are_aligned_with_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """Their long names widen the first column; every cell begins below its heading."""
    found = cross_validate(svd(), DATA, ["rmse", *RANKING], THREE, threshold=4, verbose=True)
    title, empty, head, *lines = capsys.readouterr().out.splitlines()
    names = "RMSE, NDCG@10, RECALL@10:CATALOGUE"
    assert (title, empty) == (f"Evaluating {names} of algorithm SVD on 3 split(s).", "")
    starts = [one.start() for one in re.finditer(r"Fold \d|Mean|Std", head)]
    assert {len(line) for line in lines} == {len(head)}
    assert all(line[at - 1] == " " for line in lines for at in starts)
    rows = [
        [line[: starts[0]].rstrip(), *(line[at : at + 8].strip() for at in starts)]
        for line in lines
    ]
    cells = {name: row for name, *row in rows}
    expected = {}
    for name in ("rmse", *RANKING):
        scores = found[f"test_{name}"]
        values = [f"{one:.4f}" for one in (*scores, np.mean(scores), np.std(scores))]
        expected[f"{name.upper()} (testset)"] = values
    for name in RANKING:
        expected[f"{name.upper()} (pooled)"] = ["", "", "", f"{found.pooled[name]:.4f}", ""]
    users = [f"{one:.1f}" for one in (np.mean(found.n_users), np.std(found.n_users))]
    expected["Users (testset)"] = [*map(str, found.n_users), *users]
    assert dict(list(cells.items())[:-2]) == expected
    assert list(cells) == [*expected, "Fit time", "Test time"]


def test_columns_are_as_wide_as_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """A user's own measure may have any name and size."""
    measures = [
        make_measure(len, "how many predictions there are"),
        make_measure(lambda _: -123456789.0, "largest"),
    ]
    cross_validate(svd(), DATA, measures, TWO, verbose=True)
    text = capsys.readouterr().out
    assert f"HOW MANY PREDICTIONS THERE ARE (testset) {len(TABLE) // 2}.0000" in text
    assert "-123456789.0000 -123456789.0000 -123456789.0000 0.0000" in text
