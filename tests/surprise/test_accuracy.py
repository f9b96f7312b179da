"""accuracy: as surprise.accuracy, for ranking metrics; the value is that of evaluate."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.errors import rejects

surprise = pytest.importorskip("surprise")

from surprise import accuracy as theirs  # noqa: E402
from surprise.model_selection import LeaveOneOut, train_test_split  # noqa: E402

from recsys_ndcg.surprise import accuracy  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["ndcg", "precision", "recall", "ap", "rr", "hit", "f1"]
BINARY = NAMES[1:]
TOLERANT = rn.Convention(tie_tolerance=1e-9)

ANN: list[Any] = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]


def dataset(n_users: int = 60, n_items: int = 80) -> Any:
    """Return the sample ratings as Surprise reads them."""
    frame = sample_ratings(n_users, n_items)[["user", "item", "rating"]]
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0.5, 5)))


@pytest.fixture(name="predictions", scope="module")
def _predictions() -> list[Any]:
    trainset, testset = train_test_split(dataset(), test_size=0.4, random_state=0)
    found: list[Any] = surprise.BaselineOnly(verbose=False).fit(trainset).test(testset)
    return found


@pytest.fixture(name="anti", scope="module")
def _anti() -> tuple[Any, Any]:
    trainset = dataset(20, 30).build_full_trainset()
    return surprise.SVD(n_factors=2, n_epochs=1, random_state=0).fit(trainset), trainset


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 3, 10, None])
@pytest.mark.parametrize("threshold", [3.0, 4.0])
def test_each_function_is_the_metric_of_evaluate(
    predictions: list[Any],
    name: str,
    k: int | None,
    threshold: float,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same float, printed to four digits as Surprise prints RMSE."""
    value = getattr(accuracy, name)(predictions, k=k, threshold=threshold)
    metric = name if k is None else f"{name}@{k}"
    report = rn.evaluate(
        predictions, metrics=metric, k=None, threshold=threshold, convention=TOLERANT
    )
    assert type(value) is float
    assert value == report.mean[metric]
    assert 0 < value <= 1
    assert capsys.readouterr().out == f"{metric.upper()}: {value:.4f}\n"


def test_what_is_printed_looks_as_in_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    """Name, cutoff, four digits, a line."""
    accuracy.ndcg(ANN, k=2)
    accuracy.recall(ANN, threshold=4)
    accuracy.ndcg(ANN, None)
    assert capsys.readouterr().out == "NDCG@2: 0.8129\nRECALL@10: 1.0000\nNDCG: 0.9626\n"


def test_the_value_is_the_formulas() -> None:
    """By hand: 31 + 3 / log2(3) over 31 + 15 / log2(3)."""
    expected = (31 + 3 / math.log2(3)) / (31 + 15 / math.log2(3))
    assert accuracy.ndcg(ANN, k=2, verbose=False) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_printed_without_verbose(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By name, and by place as Surprise's own second argument is given."""
    function = getattr(accuracy, name)
    assert function(ANN, verbose=False, threshold=4) == function(ANN, 10, False, threshold=4)  # noqa: FBT003
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_is_the_same_for_all(name: str) -> None:
    """predictions, k=10, verbose=True, then the choices by name."""
    text = str(inspect.signature(getattr(accuracy, name)))
    assert text == str(inspect.signature(accuracy.ndcg))
    parameters = inspect.signature(getattr(accuracy, name)).parameters
    assert list(parameters) == ["predictions", "k", "verbose", "threshold", "convention"]
    assert parameters["k"].default == 10
    assert parameters["verbose"].default is True


@pytest.mark.parametrize("name", ["rmse", "mae", "mse", "fcp"])
def test_surprises_own_are_the_very_same_functions(name: str) -> None:
    """Only the import line of a script changes."""
    assert getattr(accuracy, name) is getattr(theirs, name)
    assert name in accuracy.__all__


def test_everything_is_listed() -> None:
    """What can be imported, and nothing that is not there."""
    assert set(accuracy.__all__) == {*NAMES, "rmse", "mae", "mse", "fcp"}


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_metric_needs_a_threshold(name: str, predictions: list[Any]) -> None:
    """Half stars do not say what is relevant; 0 and 1 do."""
    with rejects(f"{name}@10 needs to know which items are relevant: pass threshold"):
        getattr(accuracy, name)(predictions)
    liked = [one._replace(r_ui=float(one.r_ui >= 4)) for one in predictions]
    value = getattr(accuracy, name)(liked, verbose=False)
    assert value == getattr(accuracy, name)(predictions, verbose=False, threshold=4)


def test_a_gain_that_needs_a_threshold_says_so(predictions: list[Any]) -> None:
    """NDCG itself needs none, unless its gain does."""
    convention = rn.Convention(gain="binary")
    with rejects("threshold"):
        accuracy.ndcg(predictions, convention=convention)
    assert accuracy.ndcg(predictions, verbose=False, threshold=4, convention=convention) < 1


@pytest.mark.filterwarnings("ignore:Tied estimates:recsys_ndcg.DataWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"gain": "linear"},
        {"discount": "reciprocal"},
        {"ties": "worst", "tie_tolerance": 0.5},
        {"short_list": "n"},
        {"undefined": 1.0},
        {"missing_user": "skip"},
    ],
)
def test_a_convention_reaches_the_number(predictions: list[Any], options: dict[str, Any]) -> None:
    """Every choice that evaluate takes."""
    convention = rn.Convention(**options)
    value = accuracy.ndcg(predictions, k=3, verbose=False, convention=convention)
    tolerant = convention if "tie_tolerance" in options else convention.replace(tie_tolerance=1e-9)
    assert value == rn.evaluate(predictions, metrics="ndcg@3", convention=tolerant).mean.iloc[0]


def test_the_convention_moves_the_number(predictions: list[Any]) -> None:
    """Otherwise the test above could not fail."""
    conventions = [
        rn.Convention(),
        rn.Convention(gain="linear"),
        rn.Convention(discount="reciprocal"),
        rn.Convention(ideal="local"),
    ]
    values = {accuracy.ndcg(predictions, verbose=False, convention=one) for one in conventions}
    assert len(values) == 3  # all rated items are in the list, so that ideal changes nothing


@pytest.mark.filterwarnings("ignore:Tied estimates:recsys_ndcg.DataWarning")
def test_estimates_that_differ_in_the_last_digit_are_tied() -> None:
    """As sums over neighbours do: 4.0 and 3.9999999999999996."""
    rows: list[Any] = [("ann", "a", 0, 4.0, {}), ("ann", "b", 1, np.nextafter(4.0, 0), {})]
    assert accuracy.precision(rows, 1, verbose=False) == pytest.approx(1 / 2)
    assert rn.evaluate(rows, metrics="precision@1").mean.iloc[0] == 0
    strict = rn.Convention(tie_tolerance=1e-12)
    rows = [("ann", "a", 0, 4.0, {}), ("ann", "b", 1, 4.0 - 1e-10, {})]
    assert accuracy.precision(rows, 1, verbose=False, convention=strict) == pytest.approx(1 / 2)
    coarse = rn.Convention(tie_tolerance=0.5)
    rows = [("ann", "a", 0, 4.0, {}), ("ann", "b", 1, 3.9, {})]
    assert accuracy.precision(rows, 1, verbose=False, convention=coarse) == pytest.approx(1 / 2)


@pytest.mark.parametrize("wrong", [{"gain": "linear"}, 5, rn.Convention])
def test_a_convention_that_is_none_is_refused(wrong: Any) -> None:
    """Neither its name, nor its options."""
    with rejects("convention must be a Convention"):
        accuracy.ndcg(ANN, convention=wrong)


@pytest.mark.parametrize("k", [0, -1, 2.5, "10", True, [5, 10]])
@pytest.mark.parametrize("name", NAMES)
def test_a_cutoff_is_a_whole_number_of_at_least_1(name: str, k: Any) -> None:
    """One of them: a function returns one number."""
    with rejects("k must be a whole number of at least 1, not "):
        getattr(accuracy, name)(ANN, k=k, threshold=4)


@pytest.mark.parametrize("threshold", ["4", math.nan, math.inf, True, [4]])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    """Of the ratings' scale."""
    with rejects("threshold must be a finite number"):
        accuracy.precision(ANN, threshold=threshold)


@pytest.mark.parametrize("name", NAMES)
def test_lists_of_one_item_are_refused(name: str) -> None:
    """Any order of one item is perfect: LeaveOneOut gives NDCG 1 to every model."""
    trainset, testset = next(LeaveOneOut(1, random_state=0).split(dataset()))
    model = surprise.BaselineOnly(verbose=False).fit(trainset)
    with rejects("All 60 users have one predicted item.*LeaveNOut.*evaluate_catalogue"):
        getattr(accuracy, name)(model.test(testset), threshold=4)


def test_one_user_with_one_item_is_not_refused() -> None:
    """Somebody looks at a single case."""
    assert accuracy.ndcg(ANN[:1], verbose=False) == 1.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fill", [None, 0, 3, math.nan])
def test_predictions_of_an_anti_testset_are_refused(
    anti: tuple[Any, Any], name: str, fill: float | None
) -> None:
    """Its ratings are invented; the message says which to take instead."""
    model, trainset = anti
    found = model.test(trainset.build_anti_testset(fill=fill))
    with rejects("real ratings|users' own ratings", whole=False):
        getattr(accuracy, name)(found, threshold=3)


def test_the_refusal_of_an_anti_testset_names_it_and_what_to_do(anti: tuple[Any, Any]) -> None:
    """So that one need not know what build_anti_testset fills in."""
    model, trainset = anti
    found = model.test(trainset.build_anti_testset())
    advice = r"build_anti_testset\(\).*RankedLists.from_labels\(test_ratings, predictions\)"
    with rejects(advice, whole=False):
        accuracy.ndcg(found)


def test_what_the_refusal_of_an_anti_testset_advises_works(anti: tuple[Any, Any]) -> None:
    """Joined with real ratings, the same predictions have a score."""
    model, trainset = anti
    found = model.test(trainset.build_anti_testset())
    test = [(one.uid, one.iid, 5.0) for one in found[::40]]
    labels = pd.DataFrame(test, columns=["user", "item", "true"])
    lists = rn.RankedLists.from_labels(labels, found)
    value = accuracy.ndcg(lists, verbose=False)
    assert 0 < value < 1


def test_predictions_without_a_rating_are_refused(anti: tuple[Any, Any]) -> None:
    """predict() without r_ui leaves None."""
    model, trainset = anti
    found = [
        model.predict(trainset.to_raw_uid(user), trainset.to_raw_iid(item))
        for user in range(5)
        for item in range(5)
    ]
    assert found[0].r_ui is None
    with rejects("No item has a true value.*own ratings"):
        accuracy.ndcg(found)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_estimates_that_cannot_be_ranked_are_refused(value: float) -> None:
    """The row is named."""
    with rejects("estimated.*(NaN|infinite).*(diverged|train it again)"):
        accuracy.ndcg([*ANN, ("ann", "d", 1, value, {})])


def test_no_predictions_are_refused() -> None:
    """As Surprise refuses them."""
    with rejects("There are no rows in the predictions"):
        accuracy.ndcg([])


GARBAGE: list[tuple[Any, str]] = [
    (5, "Cannot read a int. Give predictions"),
    (None, "Cannot read a NoneType. Give predictions"),
    ([1, 2, 3], "Row 0"),
    (["ann", "bob"], "Row 0"),
    ([None], "Row 0"),
    ([("ann", "a", 5)], "Row 0"),
    ([*ANN, ("ann", "d", 5)], "Row 3"),
    ([*ANN, ("ann", "d", 5, 3.0, {}, 1)], "Row 3"),
    ([*ANN, None], "Row 3"),
    ([("ann", "a", "five", 4.5, {}), ("ann", "b", 2, 3.0, {})], "text such as 'five'"),
    ([("ann", "a", 5, None, {}), ("ann", "b", 2, 3.0, {})], "estimated"),
    ([("ann", "a", math.inf, 4, {}), ("ann", "b", 2, 3.0, {})], "infinite grade"),
    ([("ann", "a", -5, 4, {}), ("ann", "b", 2, 3.0, {})], "the grade -5"),
    ([*ANN, ANN[0]], "has the item .* twice or more"),
]


@pytest.mark.parametrize(("data", "match"), GARBAGE, ids=range(len(GARBAGE)))
def test_what_are_no_predictions_is_refused(data: Any, match: str) -> None:
    """With the row that is wrong."""
    with rejects(match):
        accuracy.ndcg(data)


@pytest.mark.parametrize("place", [2, 3], ids=["r_ui", "est"])
def test_digits_in_text_are_no_number(place: int) -> None:
    """As in every other form of predictions: where a column is text, others may be wrong too."""
    row: list[Any] = ["ann", "a", 5, 4.5, {}]
    row[place] = str(row[place])
    with rejects("text such as '"):
        accuracy.ndcg([tuple(row), *ANN[1:]])
    with rejects("text such as '"):
        rn.evaluate([tuple(row[:2] + row[3:1:-1]), ("ann", "b", 3.0, 2)])


def test_garbage_for_the_whole_is_refused_with_what_is_wanted() -> None:
    """A testset instead of predictions is a common slip."""
    with rejects("Row 0 .*each must be"):
        accuracy.ndcg([("ann", "a", 5.0), ("bob", "a", 4.0)])


def test_repeated_predictions_are_merged_if_the_convention_says_so() -> None:
    """The first of the two, so that nothing changes."""
    convention = rn.Convention(duplicates="first")
    again = accuracy.ndcg([*ANN, ANN[0]], verbose=False, convention=convention)
    assert again == accuracy.ndcg(ANN, verbose=False)


def test_any_iterable_of_predictions_is_taken(predictions: list[Any]) -> None:
    """A tuple, a generator, a table."""
    value = accuracy.ndcg(predictions, verbose=False)
    frame = pd.DataFrame(
        {
            "user": [one.uid for one in predictions],
            "item": [one.iid for one in predictions],
            "estimated": [one.est for one in predictions],
            "true": [one.r_ui for one in predictions],
        }
    )
    forms: list[Callable[[], Any]] = [
        lambda: tuple(predictions),
        lambda: iter(predictions),
        lambda: frame,
        lambda: rn.RankedLists.from_surprise(predictions),
        lambda: list(map(tuple, predictions)),
    ]
    assert [accuracy.ndcg(form(), verbose=False) for form in forms] == [value] * 5


def test_a_metric_that_nobody_has_a_score_in_is_nan(capsys: pytest.CaptureFixture[str]) -> None:
    """No item is relevant, so that recall has no denominator."""
    with pytest.warns(rn.DataWarning, match="threshold=6 is above every true value"):
        value = accuracy.recall(ANN, threshold=6)
    assert math.isnan(value)
    assert capsys.readouterr().out == "RECALL@10: nan\n"


def test_impossible_predictions_can_be_put_last() -> None:
    """By the convention, as in evaluate."""
    rows = [("ann", "a", 1, 4.5, {"was_impossible": True}), *ANN[1:]]
    values = [
        accuracy.rr(rows, verbose=False, threshold=4, convention=rn.Convention(impossible=rule))
        for rule in ("rank", "last", "drop")
    ]
    assert values == pytest.approx([1 / 3, 1 / 2, 1 / 2])


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_librarys_name_measures_each_metric_in_its_way() -> None:
    """CatBoost's NDCG is 1 for a user with nothing relevant, its AP 0."""
    rows: list[Any] = [*ANN, ("bob", "a", 0, 3.0, {}), ("bob", "b", 0, 2.0, {})]
    for name, function in (("ndcg", accuracy.ndcg), ("ap", accuracy.ap)):
        own = rn.Convention.preset("catboost", name)
        value = function(rows, 2, verbose=False, threshold=3, convention="catboost")
        assert value == function(rows, 2, verbose=False, threshold=3, convention=own)
    with rejects("but catboost measures ap@2 under undefined=0.0"):
        ndcg = rn.Convention.preset("catboost")
        accuracy.ap(rows, 2, verbose=False, threshold=3, convention=ndcg)
    with rejects("No preset is named 'cat'"):
        accuracy.ap(rows, 2, verbose=False, threshold=3, convention="cat")
