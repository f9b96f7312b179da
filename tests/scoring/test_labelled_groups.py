"""Labels that are scored with other estimates again and again have the scores of `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import recsys_ndcg as rn
from recsys_ndcg.scoring import LabelledGroups, Plan, Scores
from tests.accuracy import METRICS
from tests.strategies import ESTIMATES, Sample, choices, datasets, is_usable, to_convention
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = [*METRICS, *(f"{name}@2" for name, kind in METRICS.items() if kind.cutoff != "none")]


@given(datasets(may_join=False), choices, st.data())
def test_scores_are_those_of_evaluate_to_the_last_bit(
    sample: Sample, chosen: Choices, data: st.DataObject
) -> None:
    """For any choices, with ties, and whatever was scored before; or both raise."""
    assume(is_usable(sample))
    users, true = sample.frame["user"], sample.frame["true"]
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    how: dict[str, Any] = {"threshold": chosen.threshold, "convention": to_convention(chosen)}
    column = st.lists(st.sampled_from(ESTIMATES), min_size=len(true), max_size=len(true))
    kinds = st.sampled_from([np.float32, np.float64])
    estimates = [np.array(data.draw(column), dtype=data.draw(kinds)) for _ in range(3)]
    groups: LabelledGroups | None = None

    def score(estimated: NDArray[Any]) -> Scores:
        nonlocal groups
        groups = groups or LabelledGroups.of(Plan.of(names, k=None, **how), users, true)
        return groups.score(estimated)

    def evaluate(estimated: NDArray[Any]) -> Scores:
        lists = rn.RankedLists.from_arrays(users, None, estimated, true)
        return rn.evaluate(lists, metrics=names, k=None, **how)._data.scores

    for estimated in estimates:
        ours, theirs = (result_or_message(one, estimated) for one in (score, evaluate))
        if isinstance(theirs, str):
            assert isinstance(ours, str)  # of two reasons, another may come first
            continue
        assert ours.equals(theirs)
        assert np.array_equal(ours.per_user, theirs.per_user, equal_nan=True)
        assert vars(ours.counts).keys() == vars(theirs.counts).keys()
        for name, count in vars(ours.counts).items():
            assert np.array_equal(count, getattr(theirs.counts, name), equal_nan=True), name


def result_or_message(function: Callable[[NDArray[Any]], Scores], estimated: NDArray[Any]) -> Any:
    """Return the scores, or the message of the error."""
    try:
        return function(estimated)
    except rn.InvalidInputError as error:
        return str(error)


def test_a_diverged_model_and_other_rows_are_refused() -> None:
    """With the row."""
    groups = LabelledGroups.of(Plan.of("ndcg"), [1, 1, 2], [0, 1, 1])
    with pytest.raises(rn.InvalidInputError, match=r"row 1.*diverged"):
        groups.score(np.array([0.1, np.nan, 0.3]))
    with pytest.raises(rn.InvalidInputError, match="2 estimates for 3 labels"):
        groups.score([0.1, 0.2])
