"""The same rows in every form give the same result wherever rows are taken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.ratings import read_interactions
from tests.errors import rejects
from tests.experiments.made import item_means
from tests.profiles import some
from tests.ratings.forms import FORMS, FRAME, UNRATED, make

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
LABELS = {user: [(user + 1) % 9 + 1, (user + 3) % 9 + 1] for user in range(1, 13)}
LISTS = {user: [(user + place) % 9 + 1 for place in range(4)] for user in range(1, 13)}
TEST = FRAME.assign(item=FRAME["item"] % 4 + 8)


def _evaluate(**options: Any) -> list[float]:
    report = rn.evaluate(labels=LABELS, results=LISTS, progress=False, **options)
    found: list[float] = report.mean.round(12).tolist()
    return found


def _segment(train: Any) -> dict[Any, int]:
    report = rn.evaluate(labels=LABELS, results=LISTS, metrics="ndcg@3")
    return report.by("training_ratings", train=train).counts


def _check(train: Any, test: Any) -> Any:
    """Return the first check, of test rows in training; it needs no ratings and no times."""
    return rn.check_split(train, test).findings.iloc[0].to_dict()


def _experiment(ratings: Any) -> list[float]:
    models = {"item mean": item_means, "zero": lambda _: lambda pairs: np.zeros(len(pairs))}
    found = rn.experiment(ratings, models, metrics=["rr@3"], threshold=3, splits=2, progress=False)
    means: list[float] = found.leaderboard["mean"].round(12).tolist()
    return means


DOORS: dict[str, Callable[[Any], Any]] = {
    "train": lambda rows: _evaluate(metrics=["popularity@3", "novelty@3"], train=rows),
    "catalogue": lambda rows: _evaluate(metrics=["coverage@3"], catalogue=rows),
    "labels": lambda rows: (
        rn.evaluate(labels=rows, results=LISTS, metrics=["ndcg@3", "recall@3"], threshold=1)
        .mean.round(12)
        .tolist()
    ),
    "propensity": lambda rows: rn.propensity(rows, gamma=1.5).weights.round(12).to_dict(),
    "by": _segment,
    "check_split, training": lambda rows: _check(rows, TEST),
    "check_split, test": lambda rows: _check(TEST, rows),
    "experiment": _experiment,
}
#: What makes no sense, and what is said.
REFUSED = {
    **{(form, "experiment"): "rating" for form in UNRATED},
    ("rows of four", "labels"): "gain too large",  # rows of four are predictions
}


#: The last door trains models.
CASES = [*product(FORMS, [*DOORS][:-1]), *some(product(FORMS, [*DOORS][-1:]), 3)]
_expect = cache(lambda door, **given: DOORS[door](FRAME.assign(**given)))


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_every_form_is_read_at_every_door(case: tuple[str, str], tmp_path: Path) -> None:
    """Or one message says what is missing."""
    form, door = case
    rows = make(form, tmp_path)
    if (form, door) in REFUSED:
        with rejects(REFUSED[form, door]):
            DOORS[door](rows)
        return
    given = {"rating": 1.0} if door == "labels" and form in UNRATED else {}
    assert DOORS[door](rows) == _expect(door, **given)


@pytest.mark.parametrize("form", FORMS)
def test_rows_ratings_and_times_are_the_same(form: str, tmp_path: Path) -> None:
    """Whatever order they are in."""
    found = read_interactions(make(form, tmp_path), "ratings").to_frame()
    expected = FRAME[[*found]]
    if form in UNRATED and "rating" in found:
        expected = expected.assign(rating=1.0)
    keys = ["user", "item"]
    found, expected = (one.sort_values(keys, ignore_index=True) for one in (found, expected))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.parametrize("columns", [["user", "item"], ["user", "item", "rating"], [*FRAME]])
def test_an_array_of_rows_is_no_matrix(columns: list[str]) -> None:
    """Of two to four columns."""
    rows = FRAME[columns].to_numpy()
    assert DOORS["train"](rows) == _expect("train")
    assert DOORS["by"](rows) == _expect("by")


def test_ids_of_users_may_be_text() -> None:
    """And are not taken for names of files."""
    report = rn.evaluate({"1": [(1, 2), (2, 1)], "2": [(1, 2), (2, 1)]}, metrics="ndcg@2")
    assert report.by("cold", train=["1", "1"]).counts == {"known": 1, "unknown": 1, None: 0}
