"""Estimates computed over arrays equal `predict`, pair by pair."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recsys_ndcg import DataWarning
from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.ratings import GroupedRows, Interactions
from recsys_ndcg.surprise.estimates import (
    RULES,
    Estimates,
    Factors,
    Neighbours,
    keep_nearest,
)
from tests.profiles import examples
from tests.surprise.samples import dataset

STRANGER = object()
KNN = [surprise.KNNBasic, surprise.KNNWithMeans, surprise.KNNWithZScore, surprise.KNNBaseline]
SIMILARITIES = ["msd", "cosine", "pearson", "pearson_baseline"]


def trainset_of(kind: str, n: int = 900) -> Any:
    """Return ratings of 60 items by 40 users, and a user with a single rating."""
    draw = np.random.default_rng(7)
    share = 1.0 / (np.arange(60) + 5)
    pairs = draw.choice(2400, n, replace=kind == "repeats", p=np.tile(share / share.sum() / 40, 40))
    user, item = np.divmod(pairs, 60)
    taste = 3.0 + draw.normal(size=40)[user] * 0.7 + draw.normal(size=60)[item] * 0.7
    rating = np.clip(taste + draw.normal(size=n) * 0.7, 1, 5)
    rating = np.rint(rating * 2) / 2 if kind == "half" else np.rint(rating)
    user, item, rating = (np.append(*one) for one in ((user, 40), (item, 0), (rating, 2.0)))
    frame = {"user": [f"u{one}" for one in user], "item": [f"i{one}" for one in item], "r": rating}
    return dataset(pd.DataFrame(frame), (1, 5)).build_full_trainset()


TRAINSETS = {kind: trainset_of(kind) for kind in ("whole", "half", "repeats")}


def predict_pairs(algo: Any, users: list[Any], items: list[Any]) -> tuple[Any, Any]:
    """Return the estimates of `predict`, and which of them were impossible."""
    rows = [[algo.predict(user, item, clip=False) for item in items] for user in users]
    values = np.array([[float(one.est) for one in row] for row in rows])
    return values, np.array([[one.details["was_impossible"] for one in row] for row in rows])


def estimates_of(algo: Any) -> Estimates:
    """Return the estimates of an algorithm."""
    return Estimates(algo, Interactions.from_trainset(algo.trainset))


def estimate_all(algo: Any, estimates: Estimates, inner: Any) -> tuple[Any, Any]:
    """Return the estimates for inner users (-1 is unknown), and which of them are impossible."""
    users = np.append(Interactions.from_trainset(algo.trainset).user.ids, np.array([STRANGER]))[
        inner
    ]
    values, impossible = estimates.estimate_all(users, np.asarray(inner))
    return values, np.zeros(values.shape, dtype=bool) if impossible is None else impossible


def assert_as_predicted(algo: Any, *, vectorised: bool = True) -> None:
    """Compare all pairs, including an unknown user and an unknown item."""
    trainset, estimates = algo.trainset, estimates_of(algo)
    assert estimates.vectorised is vectorised
    training = Interactions.from_trainset(trainset)
    users, items = ([*ids.tolist(), STRANGER] for ids in (training.user.ids, training.item.ids))
    true, impossible = predict_pairs(algo, users, items)
    inner = np.append(np.arange(trainset.n_users), -1)
    np.random.default_rng(3).shuffle(inner)
    scratch, _ = estimate_all(algo, estimates, inner)
    scratch[:] = -7.0  # the caller may change it: this must not reach the model
    values, where = estimate_all(algo, estimates, inner)
    assert values.shape == (len(users), trainset.n_items)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    np.testing.assert_allclose(values, true[inner, :-1], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(where, impossible[inner, :-1])


FACTORS: dict[str, Callable[[], Any]] = {
    "SVD": lambda: surprise.SVD(n_factors=8, n_epochs=5, random_state=1),
    "SVD unbiased": lambda: surprise.SVD(n_factors=8, n_epochs=5, biased=False, random_state=1),
    "SVDpp": lambda: surprise.SVDpp(n_factors=8, n_epochs=2, random_state=1),
    "NMF": lambda: surprise.NMF(n_factors=8, n_epochs=5, random_state=1),
    "NMF biased": lambda: surprise.NMF(n_factors=8, n_epochs=5, biased=True, random_state=1),
    "baselines als": lambda: surprise.BaselineOnly({"method": "als"}, verbose=False),
    "baselines sgd": lambda: surprise.BaselineOnly({"method": "sgd"}, verbose=False),
    "SlopeOne": surprise.SlopeOne,
    "CoClustering": lambda: surprise.CoClustering(random_state=1),
}


@pytest.mark.parametrize("data", list(TRAINSETS))
@pytest.mark.parametrize("name", list(FACTORS))
def test_every_estimate_is_that_of_predict(name: str, data: str) -> None:
    """Also for half stars, and for a pair that is rated twice."""
    assert_as_predicted(FACTORS[name]().fit(TRAINSETS[data]))


def neighbours(kind: Any, similarity: str, data: str, *, user_based: bool, **options: int) -> Any:
    """Return a fitted k-NN algorithm."""
    similarity_options = {"name": similarity, "user_based": user_based}
    algo = kind(**{"k": 5, "sim_options": similarity_options, "verbose": False, **options})
    return algo.fit(TRAINSETS[data])


CASES = itertools.product(KNN, SIMILARITIES, (True, False), (5, 40))
NEIGHBOURS = [
    # every fifth combination is in the quick suite, and these have every value of every option
    pytest.param((*case, data), marks=[pytest.mark.slow] if place % 5 else [])
    # three kinds of data against powers of two: all of them meet
    for place, (case, data) in enumerate(zip(CASES, itertools.cycle(TRAINSETS), strict=False))
]


@pytest.mark.parametrize("options", NEIGHBOURS)
def test_every_estimate_of_k_nn_is_that_of_predict(options: tuple[Any, ...]) -> None:
    """With few neighbours, with all of them, and with too few."""
    kind, similarity, user_based, k, data = options
    min_k = 3 if k == 5 else 1
    assert_as_predicted(neighbours(kind, similarity, data, user_based=user_based, k=k, min_k=min_k))


@pytest.mark.parametrize("kind", KNN[1:])
def test_min_k_may_be_0(kind: Any) -> None:
    """Without neighbours the mean or the baseline is left."""
    assert_as_predicted(neighbours(kind, "pearson", "whole", user_based=True, min_k=0))


@examples(2)
@given(
    st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1e-300]), min_size=1, max_size=9),
    st.lists(st.integers(0, 8), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_the_nearest_neighbours_are_those_of_the_heap(row: Any, who: list[int], k: int) -> None:
    """The earlier ones of those that are tied at the last place."""
    who = [one % len(row) for one in who]
    sim = np.array([row, row[::-1], [0.5] * len(row), [0.0] * len(row)])
    near = keep_nearest(sim, np.array(who, dtype=np.int32), k)
    for got, values in zip(near, sim, strict=True):
        best = heapq.nlargest(k, enumerate(who), key=lambda one, v=values: v[one[1]])  # type: ignore[misc]
        expected = np.zeros(len(who))
        for column, one in best:
            expected[column] = max(values[one], 0.0)
        np.testing.assert_array_equal(got, expected)


def _with_shift(algo: Any, name: str) -> Callable[..., Any]:
    """Return the method with its estimate shifted, as an override might do."""
    method = getattr(algo, name)

    def shifted(*args: Any, **options: Any) -> Any:
        result = method(*args, **options)
        if name == "predict":
            return result._replace(est=result.est + 0.5)
        return (result[0] + 0.5, result[1]) if isinstance(result, tuple) else result + 0.5

    return shifted


@pytest.mark.parametrize("name", ["estimate", "predict", "default_prediction"])
@pytest.mark.parametrize("where", ["instance", "subclass"])
def test_an_overridden_method_is_called(name: str, where: str) -> None:
    """The class does not decide which formula applies."""
    algo = neighbours(surprise.KNNBasic, "msd", "whole", user_based=True, min_k=3)
    shifted = _with_shift(algo, name)
    if where == "instance":
        setattr(algo, name, shifted)
    else:
        own = {name: lambda _self, *given, **options: shifted(*given, **options)}
        algo.__class__ = type("Own", (surprise.KNNBasic,), own)
    assert_as_predicted(algo, vectorised=False)


def test_random_predictions_are_drawn_for_every_pair_in_order() -> None:
    """Every unknown user gets new draws, too."""
    algo = surprise.NormalPredictor().fit(TRAINSETS["whole"])
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    np.random.seed(5)  # noqa: NPY002 - the generator that Surprise draws from
    values, impossible = estimate_all(algo, estimates, np.array([0, -1, -1]))
    np.random.seed(5)  # noqa: NPY002
    user, items = (
        algo.trainset.to_raw_uid(0),
        Interactions.from_trainset(algo.trainset).item.ids.tolist(),
    )
    true, _ = predict_pairs(algo, [user, STRANGER, STRANGER], items)
    assert not impossible.any()
    np.testing.assert_array_equal(values, true)


def _rule(kind: Any, change: Callable[[Any], Any]) -> Any:
    """Return a rule with other estimates, which does not report which are impossible."""

    def estimate_block(*given: Any) -> Any:
        return change(kind.estimate_block(*given)[0]), None

    return type("Rule", (kind,), {"estimate_block": estimate_block})


@pytest.mark.parametrize(
    ("kind", "rule", "match"),
    [
        (surprise.SVD, _rule(Factors, lambda one: one + 1e-6), r"^SVD: .*by up to 1e-06\..*slow"),
        (surprise.KNNBasic, _rule(Neighbours, lambda one: one), "KNNBasic: "),
        (surprise.SVD, _rule(Factors, lambda one: one * np.nan), "by up to inf"),
    ],
)
def test_a_wrong_rule_is_not_used(kind: Any, rule: Any, match: str, monkeypatch: Any) -> None:
    """The warning has the size of the difference; NaN and a missing flag are differences too."""
    algo = FACTORS["SVD"]().fit(TRAINSETS["whole"])
    if kind is surprise.KNNBasic:
        algo = neighbours(kind, "msd", "whole", user_based=True, k=40, min_k=20)
    monkeypatch.setitem(RULES, kind.estimate, rule)
    with pytest.warns(DataWarning, match=match) as caught:
        assert_as_predicted(algo, vectorised=False)
    assert caught[0].filename == __file__


def test_nan_in_a_model_is_rejected_with_the_first_user() -> None:
    """Other users of the same model can still be estimated."""
    algo = FACTORS["SVD"]().fit(TRAINSETS["whole"])
    algo.pu[3:30] = np.nan
    algo.bu[39] = np.inf
    estimates = estimates_of(algo)
    assert estimates.vectorised
    values, _ = estimate_all(algo, estimates, np.arange(3))
    assert np.isfinite(values).all()
    users = Interactions.from_trainset(algo.trainset).user.ids
    for bad, first in ((np.arange(40), 3), (np.array([0, 39]), 39)):
        with pytest.raises(DivergedModelError, match=f"first for user {users[first]!r}"):
            estimate_all(algo, estimates, bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_similarities_of_nan_or_infinity_are_left_to_the_library(value: float) -> None:
    """The library's heap makes the result depend on the order of the ratings."""
    algo = neighbours(surprise.KNNWithMeans, "msd", "whole", user_based=False)
    algo.sim[4, ::3] = value
    assert not estimates_of(algo).vectorised


def test_a_division_by_zero_in_the_library_is_raised() -> None:
    """KNNBasic with min_k=0 divides by zero if no neighbour is similar."""
    algo = neighbours(surprise.KNNBasic, "msd", "whole", user_based=True, min_k=0)
    algo.sim[:] = 0.0
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    with pytest.raises(ZeroDivisionError):
        estimate_all(algo, estimates, np.arange(2))


def test_a_user_without_a_list_of_ratings_is_unknown() -> None:
    """The trainset's lists decide who is known, not its ids."""
    algo = FACTORS["SVD"]().fit(trainset_of("whole"))
    del algo.trainset.ur[3]
    assert_as_predicted(algo, vectorised=False)
    assert GroupedRows.from_lists(algo.trainset.ur, algo.trainset.n_users).sizes[3] == 0
    assert 3 not in algo.trainset.ur


@pytest.mark.parametrize("user_based", [True, False])
def test_blocks_and_threads_change_nothing(user_based: Any, monkeypatch: Any) -> None:
    """Users in parts, several threads and small pieces of the similarities agree."""
    algo = neighbours(surprise.KNNBaseline, "msd", "repeats", user_based=user_based, min_k=3)
    users: NDArray[np.intp] = np.append(np.arange(41), -1)
    whole, _ = estimate_all(algo, estimates_of(algo), users)
    threaded = estimates_of(algo)
    with ThreadPoolExecutor(4) as pool:
        some = pool.map(lambda part: estimate_all(algo, threaded, part), np.array_split(users, 7))
    np.testing.assert_array_equal(np.concatenate([values for values, _ in some]), whole)
    assert estimate_all(algo, threaded, np.arange(0))[0].shape == (0, algo.trainset.n_items)
    monkeypatch.setattr("recsys_ndcg.surprise.estimates._CELLS", 400)
    np.testing.assert_array_equal(estimate_all(algo, estimates_of(algo), users)[0], whole)


@pytest.mark.slow
def test_more_ratings_of_a_user_than_sixteen_bits_have() -> None:
    """SlopeOne counts them in a wider type."""
    frame = pd.DataFrame({"user": "a", "item": ["x"] * 40_000 + ["y"], "rating": 3.0})
    algo = surprise.SlopeOne()
    surprise.AlgoBase.fit(algo, dataset(frame, (1, 5)).build_full_trainset())
    # its own fit takes the square of the number of ratings
    algo.freq, algo.dev = np.ones((2, 2), dtype=int), np.array([[0.0, 1.0], [-1.0, 0.0]])
    algo.user_mean = [3.0]
    assert_as_predicted(algo)
