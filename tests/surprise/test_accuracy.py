"""`accuracy` computes ranking metrics with the signature and output of surprise.accuracy."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise import accuracy as theirs
from surprise.model_selection import LeaveOneOut, train_test_split

import recsys_ndcg as rn
from recsys_ndcg.surprise import accuracy
from tests.errors import assert_rejected, rejects
from tests.surprise.samples import DATA, svd

NAMES = ["ndcg", "precision", "recall", "ap", "rr", "hit", "f1"]
TOLERANT = rn.Convention(tie_tolerance=1e-9)

ANN: list[Any] = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]


@pytest.fixture(name="predictions", scope="module")
def _predictions() -> Any:
    trainset, testset = train_test_split(DATA, test_size=0.4, random_state=0)
    return surprise.BaselineOnly(verbose=False).fit(trainset).test(testset)


@pytest.fixture(name="anti", scope="module")
def _anti() -> Any:
    """Return a function that predicts an anti-testset with a fill value."""
    trainset = DATA.build_full_trainset()
    algo = svd().fit(trainset)
    return lambda fill=None: algo.test(trainset.build_anti_testset(fill)[::40])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 10, None])
def test_each_function_equals_evaluate(predictions: Any, name: str, k: Any, capsys: Any) -> None:
    """The float is the same, and it is printed with four digits as Surprise prints RMSE."""
    function = getattr(accuracy, name)
    value = function(predictions, k=k, threshold=4)
    metric = name if k is None else f"{name}@{k}"
    report = rn.evaluate(predictions, metrics=metric, k=None, threshold=4, convention=TOLERANT)
    assert type(value) is float
    assert value == report.mean[metric]
    assert capsys.readouterr().out == f"{metric.upper()}: {value:.4f}\n"
    assert value == function(predictions, k, False, threshold=4)  # noqa: FBT003 - as scripts do
    assert capsys.readouterr() == ("", "")


def test_all_functions_have_one_signature_and_surprises_own_are_the_same_objects() -> None:
    """The first three arguments may be positional, as in Surprise."""
    for name in NAMES:
        parameters = inspect.signature(getattr(accuracy, name)).parameters
        assert parameters == inspect.signature(accuracy.ndcg).parameters
        assert list(parameters) == ["predictions", "k", "verbose", "threshold", "convention"]
        assert [parameters[one].default for one in ("k", "verbose")] == ["default", True]
    errors = ["rmse", "mae", "mse", "fcp"]
    assert all(getattr(accuracy, name) is getattr(theirs, name) for name in errors)
    assert set(accuracy.__all__) == {*NAMES, *errors}


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_binary_metric_needs_a_threshold(name: str, predictions: list[Any]) -> None:
    """Ratings of 0 and 1 need none."""
    with rejects(f"{name}@10 needs to know which items are relevant: pass threshold"):
        getattr(accuracy, name)(predictions)
    liked = [one._replace(r_ui=float(one.r_ui >= 4)) for one in predictions]
    value = getattr(accuracy, name)(liked, verbose=False)
    assert value == getattr(accuracy, name)(predictions, verbose=False, threshold=4)


@pytest.mark.filterwarnings("ignore:Ties affect:recsys_ndcg.DataWarning")
@pytest.mark.parametrize("options", [{"ties": "worst", "tie_tolerance": 0.5}, {"gain": "linear"}])
def test_a_convention_changes_the_number_as_in_evaluate(predictions: Any, options: Any) -> None:
    """A tie tolerance in the convention replaces the default of 1e-9."""
    how: dict[str, Any] = {"convention": rn.Convention(**options), "threshold": 4}
    value = accuracy.ndcg(predictions, verbose=False, **how)
    how["convention"] = rn.Convention(**{"tie_tolerance": 1e-9, **options})
    assert value == rn.evaluate(predictions, metrics="ndcg", **how)["ndcg@10"]
    assert value != accuracy.ndcg(predictions, verbose=False)


@pytest.mark.filterwarnings("ignore:Ties affect:recsys_ndcg.DataWarning")
@pytest.mark.parametrize(
    ("lower", "tolerance", "value"),
    [
        (np.nextafter(4.0, 0), None, 1 / 2), (4.0 - 1e-8, None, 0),
        (4.0 - 1e-10, 1e-12, 1 / 2), (3.9, 0.5, 1 / 2),
    ],
)  # fmt: skip
def test_estimates_within_the_tolerance_are_tied(lower: Any, tolerance: Any, value: float) -> None:
    """Sums over neighbours give 4.0 and 3.9999999999999996; the least tolerance is 1e-9."""
    rows: list[Any] = [("ann", "a", 0, 4.0, {}), ("ann", "b", 1, lower, {})]
    convention = None if tolerance is None else rn.Convention(tie_tolerance=tolerance)
    found = accuracy.precision(rows, 1, verbose=False, convention=convention)
    assert found == pytest.approx(value)


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (ANN, {"k": 0}, "k must be a whole number of at least 1, not "),
    (ANN, {"threshold": "4"}, "threshold must be a finite number"),
    (ANN, {"convention": rn.Convention(gain="binary"), "threshold": None}, "threshold"),
    ([], {}, "There are no rows in the predictions"),
    ([*ANN, None], {}, "Row 3"),
    ([*ANN, ("ann", "d", 1, math.nan, {})], {}, "estimated.*NaN.*(diverged|train it again)"),
    ([*ANN, ("ann", "d", 1, -math.inf, {})], {}, "estimated.*infinite.*(diverged|train it again)"),
    ([*ANN, ANN[0]], {}, "has the item .* twice or more"),
    ([("ann", one, None, 4, {}) for one in "ab"], {}, "No item has a true.*own ratings"),
]


@pytest.mark.parametrize(("data", "options", "match"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_option_or_row_is_rejected(data: Any, options: dict[str, Any], match: str) -> None:
    """Every function has the same checks."""
    for function in (accuracy.ndcg, accuracy.recall) if options else (accuracy.ndcg,):
        assert_rejected(match, function, data, **{"threshold": 4, **options})


def test_lists_of_one_item_and_anti_testsets_are_rejected(anti: Any) -> None:
    """Any order of one item is perfect; the ratings of an anti-testset are invented."""
    assert accuracy.ndcg(ANN[:1], verbose=False) == 1.0  # one user may have one
    trainset, testset = next(LeaveOneOut(1, random_state=0).split(DATA))
    single = surprise.BaselineOnly(verbose=False).fit(trainset).test(testset)
    for name in NAMES:
        with rejects("All 40 users have one predicted item.*LeaveNOut.*evaluate_catalogue"):
            getattr(accuracy, name)(single, threshold=4)
        for fill in (None, 0, 3, math.nan):
            with rejects("real ratings|users' own ratings", whole=False):
                getattr(accuracy, name)(anti(fill), threshold=3)


def test_the_fix_for_an_anti_testset_works(anti: Any) -> None:
    """Joined with real ratings, the same predictions have a score."""
    found = anti()
    fix = r"build_anti_testset\(\).*RankedLists.from_labels\(test_ratings, predictions\)"
    assert_rejected(fix, accuracy.ndcg, found, whole=False)
    test = [(one.uid, one.iid, 5.0) for one in found[::10]]
    labels = pd.DataFrame(test, columns=["user", "item", "true"])
    lists = rn.RankedLists.from_labels(labels, found)
    assert 0 < accuracy.ndcg(lists, verbose=False) <= 1


def test_a_convention_decides_about_impossible_and_duplicated_predictions() -> None:
    """Impossible ones can be put last or dropped, duplicates merged."""
    rows = [("ann", "a", 1, 4.5, {"was_impossible": True}), *ANN[1:]]
    values = [
        accuracy.rr(rows, verbose=False, threshold=4, convention=rn.Convention(impossible=rule))
        for rule in ("rank", "last", "drop")
    ]
    assert values == pytest.approx([1 / 3, 1 / 2, 1 / 2])
    first = rn.Convention(duplicates="first")
    again = accuracy.ndcg([*ANN, ANN[0]], verbose=False, convention=first)
    assert again == accuracy.ndcg(ANN, verbose=False)
