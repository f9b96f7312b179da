"""What cross_validate prints under verbose=True: Surprise's summary, with what ranking adds."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from recsys_ndcg.datasets import sample_ratings

surprise = pytest.importorskip("surprise")

from surprise import model_selection  # noqa: E402
from surprise.model_selection import KFold, LeaveOneOut, ShuffleSplit  # noqa: E402

from recsys_ndcg.surprise import cross_validate, make_measure  # noqa: E402

TABLE = sample_ratings(40, 60)[["user", "item", "rating"]]
DATA = surprise.Dataset.load_from_df(TABLE, surprise.Reader(rating_scale=(0.5, 5)))
RANKING = ["ndcg@10", "recall@10:catalogue"]


def svd() -> Any:
    """Return a small SVD."""
    return surprise.SVD(n_factors=2, n_epochs=2, random_state=0)


def timeless(text: str) -> str:
    """Return a summary whose times are all the same."""
    lines = text.splitlines(keepends=True)
    return "".join(
        re.sub(r"\d+\.\d\d", "t.tt", one) if one.startswith(("Fit time", "Test time")) else one
        for one in lines
    )


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize(
    "measures", [["rmse", "mae"], ["FCP"], [], ["mse", "rmse", "fcp", "MAE"]], ids=str
)
@pytest.mark.parametrize(
    "cv",
    [
        KFold(2, random_state=0),
        KFold(5, random_state=1),
        ShuffleSplit(12, random_state=0),
        LeaveOneOut(3, random_state=0),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_the_summary_of_surprises_measures_is_surprises_to_the_byte(
    capsys: pytest.CaptureFixture[str],
    measures: list[str],
    cv: Any,
    train: bool,  # noqa: FBT001
) -> None:
    """But for the times, which are as long."""
    if isinstance(cv, LeaveOneOut):
        measures = [one for one in measures if one.lower() != "fcp"]  # of one item there is none
    printed = []
    for function in (model_selection.cross_validate, cross_validate):
        function(svd(), DATA, measures, cv, return_train_measures=train, verbose=True)
        printed.append(timeless(capsys.readouterr().out))
    assert printed[1] == printed[0]
    assert "Fold 1" in printed[0]


def test_ranking_measures_stand_in_the_same_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Their long names make the first column wider; every cell begins below its head."""
    cv = KFold(3, random_state=0)
    found = cross_validate(svd(), DATA, ["rmse", *RANKING], cv, threshold=4, verbose=True)
    title, empty, head, *lines = capsys.readouterr().out.splitlines()
    assert title == (
        "Evaluating RMSE, NDCG@10, RECALL@10:CATALOGUE of algorithm SVD on 3 split(s)."
    )
    assert empty == ""
    starts = [one.start() for one in re.finditer(r"Fold \d|Mean|Std", head)]
    assert len({len(line) for line in [head, *lines]}) == 1
    cells = {}
    for line in lines:
        name = line[: starts[0]].rstrip()
        cells[name] = [line[at : at + 8].strip() for at in starts]
        assert all(line[at - 1] == " " for at in starts)
    assert list(cells) == [
        "RMSE (testset)",
        "NDCG@10 (testset)",
        "RECALL@10:CATALOGUE (testset)",
        "NDCG@10 (pooled)",
        "RECALL@10:CATALOGUE (pooled)",
        "Users (testset)",
        "Fit time",
        "Test time",
    ]
    for name in ("rmse", *RANKING):
        scores = found[f"test_{name}"]
        expected = [f"{one:.4f}" for one in (*scores, np.mean(scores), np.std(scores))]
        assert cells[f"{name.upper()} (testset)"] == expected
    for name in RANKING:
        assert cells[f"{name.upper()} (pooled)"] == [*[""] * 3, f"{found.pooled[name]:.4f}", ""]
    assert cells["Users (testset)"][:3] == [str(one) for one in found.n_users]
    assert cells["Users (testset)"][3] == f"{np.mean(found.n_users):.1f}"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_numbers_that_would_run_together_have_wider_columns(
    capsys: pytest.CaptureFixture[str], n_jobs: int
) -> None:
    """Those of a measure of one's own may be of any size."""
    large = make_measure(len, "how many of them there are")
    cv = KFold(2, random_state=0)
    huge = make_measure(largest)
    cross_validate(svd(), DATA, [large, huge], cv, verbose=True, n_jobs=n_jobs)
    text = capsys.readouterr().out
    assert f"HOW MANY OF THEM THERE ARE (testset) {len(TABLE) // 2}.0000" in text
    assert "-123456789.0000 -123456789.0000 -123456789.0000 0.0000" in text


def largest(_: Any) -> float:
    """Return a number that no column of Surprise's holds."""
    return -123456789.0


class OfOnesOwn:
    """A splitter that does not say how many folds it has."""

    def split(self, data: Any) -> Any:
        """Split in two."""
        return KFold(2, random_state=0).split(data)


def test_the_folds_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Where Surprise trusts a number: it misses, or is that of one repetition."""
    cross_validate(svd(), DATA, ["rmse"], OfOnesOwn(), verbose=True)
    assert "on 2 split(s)" in capsys.readouterr().out
    cv = model_selection.RepeatedKFold(2, 2, random_state=0)
    found = cross_validate(svd(), DATA, ["rmse"], cv, verbose=True)
    text = capsys.readouterr().out
    assert "on 4 split(s)" in text
    (row,) = re.findall(r"^RMSE \(testset\) +(.*)$", text, re.MULTILINE)
    scores = found["test_rmse"]
    assert row.split() == [f"{one:.4f}" for one in (*scores, np.mean(scores), np.std(scores))]
