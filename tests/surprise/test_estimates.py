"""Surprise's algorithms over arrays give what predict gives, pair by pair."""

from __future__ import annotations

import heapq
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surprise import (
    NMF,
    SVD,
    AlgoBase,
    BaselineOnly,
    CoClustering,
    Dataset,
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    KNNWithZScore,
    NormalPredictor,
    PredictionImpossible,
    Reader,
    SlopeOne,
    SVDpp,
)

from recsys_ndcg import DataWarning
from recsys_ndcg.catalogue.candidates import Ratings, Training
from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.surprise.estimates import (
    RULES,
    Estimates,
    Factors,
    Neighbours,
    keep_nearest,
    places,
)
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NOBODY = object()
KNN = [KNNBasic, KNNWithMeans, KNNWithZScore, KNNBaseline]
SIMILARITIES = ["msd", "cosine", "pearson", "pearson_baseline"]


def trainset_of(kind: str, n: int = 900) -> Any:
    """Return ratings of 60 items, some popular, by 40 users and one who rated a single item."""
    draw = np.random.default_rng(7)
    share = 1.0 / (np.arange(60) + 5)
    pairs = draw.choice(2400, n, replace=kind == "repeats", p=np.tile(share / share.sum() / 40, 40))
    user, item = np.divmod(pairs, 60)
    taste = 3.0 + draw.normal(size=40)[user] * 0.7 + draw.normal(size=60)[item] * 0.7
    rating = np.clip(taste + draw.normal(size=n) * 0.7, 1, 5)
    rating = np.rint(rating * 2) / 2 if kind == "half" else np.rint(rating)
    user, item, rating = (np.append(*one) for one in ((user, 40), (item, 0), (rating, 2.0)))
    frame = {"user": [f"u{one}" for one in user], "item": [f"i{one}" for one in item], "r": rating}
    return Dataset.load_from_df(pd.DataFrame(frame), Reader()).build_full_trainset()


TRAINSETS = {kind: trainset_of(kind) for kind in ("whole", "half", "repeats")}


def predicted(algo: Any, users: list[Any], items: list[Any]) -> tuple[Any, Any]:
    """Return the estimates of predict, and where they were impossible."""
    rows = [[algo.predict(user, item, clip=False) for item in items] for user in users]
    values = np.array([[float(one.est) for one in row] for row in rows])
    return values, np.array([[one.details["was_impossible"] for one in row] for row in rows])


def estimates_of(algo: Any) -> Estimates:
    """Return the estimates of an algorithm."""
    return Estimates(algo, Training(algo.trainset))


def asked(algo: Any, estimates: Estimates, inner: Any) -> tuple[Any, Any]:
    """Return the estimates for inner users, -1 for a stranger, and where they are impossible."""
    users = np.append(Training(algo.trainset).users, np.array([NOBODY]))[inner]
    values, impossible = estimates.of_all(users, np.asarray(inner))
    return values, np.zeros(values.shape, dtype=bool) if impossible is None else impossible


def assert_as_predicted(algo: Any, estimates: Estimates) -> None:
    """Compare all pairs, unknown users and items among them."""
    trainset = algo.trainset
    training = Training(trainset)
    users, items = ([*ids.tolist(), NOBODY] for ids in (training.users, training.items))
    true, impossible = predicted(algo, users, items)
    inner = np.append(np.arange(trainset.n_users), -1)
    np.random.default_rng(3).shuffle(inner)
    scratch, _ = asked(algo, estimates, inner)
    scratch[:] = -7.0  # the caller's own: this must not reach the model
    values, where = asked(algo, estimates, inner)
    assert values.shape == (len(users), trainset.n_items)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    np.testing.assert_allclose(values, true[inner, :-1], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(where, impossible[inner, :-1])


FACTORS: dict[str, Callable[[], Any]] = {
    "SVD": lambda: SVD(n_factors=8, n_epochs=5, random_state=1),
    "SVD unbiased": lambda: SVD(n_factors=8, n_epochs=5, biased=False, random_state=1),
    "SVDpp": lambda: SVDpp(n_factors=8, n_epochs=2, random_state=1),
    "NMF": lambda: NMF(n_factors=8, n_epochs=5, random_state=1),
    "NMF biased": lambda: NMF(n_factors=8, n_epochs=5, biased=True, random_state=1),
    "baselines als": lambda: BaselineOnly({"method": "als"}, verbose=False),
    "baselines sgd": lambda: BaselineOnly({"method": "sgd"}, verbose=False),
    "SlopeOne": SlopeOne,
    "CoClustering": lambda: CoClustering(random_state=1),
}


@pytest.mark.parametrize("data", list(TRAINSETS))
@pytest.mark.parametrize("name", list(FACTORS))
def test_all_pairs_are_as_predicted(name: str, data: str) -> None:
    """Also for unknown users and items, half stars, and the same pair rated twice."""
    algo = FACTORS[name]().fit(TRAINSETS[data])
    estimates = estimates_of(algo)
    assert estimates.vectorised
    assert_as_predicted(algo, estimates)


def neighbours(kind: Any, similarity: str, data: str, *, user_based: bool, **options: int) -> Any:
    """Return a fitted k-NN algorithm."""
    similarity_options = {"name": similarity, "user_based": user_based}
    algo = kind(**{"k": 5, "sim_options": similarity_options, "verbose": False, **options})
    return algo.fit(TRAINSETS[data])


@pytest.mark.parametrize(
    ("kind", "similarity", "user_based", "k", "data"),
    [
        (*options, data)
        for options, data in zip(
            itertools.product(KNN, SIMILARITIES, (True, False), (5, 40)),
            itertools.cycle(TRAINSETS),  # three kinds against powers of two: all of them meet
            strict=False,
        )
    ],
)
def test_all_neighbours_are_as_predicted(
    kind: Any,
    similarity: str,
    user_based: bool,  # noqa: FBT001 - a parameter of the test
    k: int,
    data: str,
) -> None:
    """With few and with all neighbours, and with too few of them."""
    min_k = 3 if k == 5 else 1
    algo = neighbours(kind, similarity, data, user_based=user_based, k=k, min_k=min_k)
    estimates = estimates_of(algo)
    assert estimates.vectorised
    assert_as_predicted(algo, estimates)


@pytest.mark.parametrize("kind", KNN[1:])
def test_without_a_least_number_of_neighbours(kind: Any) -> None:
    """min_k=0 leaves the mean or the baseline where nobody is similar."""
    algo = neighbours(kind, "pearson", "whole", user_based=True, min_k=0)
    estimates = estimates_of(algo)
    assert estimates.vectorised
    assert_as_predicted(algo, estimates)


@examples(2)
@given(
    st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1e-300]), min_size=1, max_size=9),
    st.lists(st.integers(0, 8), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_the_nearest_are_those_of_the_heap(row: list[float], who: list[int], k: int) -> None:
    """Of equal ones at the last place the earlier ones, whichever row they are in."""
    who = [one % len(row) for one in who]
    sim = np.array([row, row[::-1], [0.5] * len(row), [0.0] * len(row)])
    near = keep_nearest(sim, places(sim), np.array(who, dtype=np.int32), k)
    for got, values in zip(near, sim, strict=True):
        best = heapq.nlargest(k, enumerate(who), key=lambda one, v=values: v[one[1]])  # type: ignore[misc]
        expected = np.zeros(len(who))
        for column, one in best:
            expected[column] = max(values[one], 0.0)
        np.testing.assert_array_equal(got, expected)


def _shifted(algo: Any, name: str) -> Callable[..., Any]:
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
def test_what_is_overridden_is_called(name: str, where: str) -> None:
    """The class is not enough to know the formula."""
    algo = neighbours(KNNBasic, "msd", "whole", user_based=True, min_k=3)
    shifted = _shifted(algo, name)
    if where == "instance":
        setattr(algo, name, shifted)
    else:
        algo.__class__ = type("Own", (KNNBasic,), {name: lambda _self, *a, **o: shifted(*a, **o)})
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    assert_as_predicted(algo, estimates)


class _Own(AlgoBase):  # type: ignore[misc]
    """An algorithm of the user's own, which cannot say anything about some pairs."""

    def estimate(self, user: Any, item: Any) -> Any:
        """Return something for every third pair, without details."""
        if isinstance(user, str) or isinstance(item, str) or (user + item) % 3:
            msg = "no idea"
            raise PredictionImpossible(msg)
        return user / 3 + item


def test_an_algorithm_of_ones_own_is_asked_pair_by_pair() -> None:
    """Whatever it says is impossible is so."""
    algo = _Own().fit(TRAINSETS["whole"])
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    assert_as_predicted(algo, estimates)


def test_random_predictions_are_drawn_for_every_pair_in_order() -> None:
    """Unknown users get draws of their own, too."""
    algo = NormalPredictor().fit(TRAINSETS["whole"])
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    np.random.seed(5)  # noqa: NPY002 - the generator that Surprise draws from
    values, impossible = asked(algo, estimates, np.array([0, -1, -1]))
    np.random.seed(5)  # noqa: NPY002
    user, items = algo.trainset.to_raw_uid(0), Training(algo.trainset).items.tolist()
    true, _ = predicted(algo, [user, NOBODY, NOBODY], items)
    assert not impossible.any()
    np.testing.assert_array_equal(values, true)


def test_the_global_generator_is_left_alone() -> None:
    """The pairs that are checked come from a generator of their own."""
    algo = FACTORS["SVD"]().fit(TRAINSETS["whole"])
    before = np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002
    asked(algo, estimates_of(algo), np.arange(3))
    assert before == np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002


class _Shifted(Factors):
    """A rule that is off by little."""

    def block(self, users: Any, items: Any) -> Any:
        """Return estimates that are a millionth too high."""
        return super().block(users, items)[0] + 1e-6, None


class _Silent(Neighbours):
    """A rule that does not say what is impossible."""

    def block(self, users: Any, items: Any) -> Any:
        """Return the estimates alone."""
        return super().block(users, items)[0], None


def test_a_rule_that_differs_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, with the size of the difference."""
    algo = FACTORS["SVD"]().fit(TRAINSETS["whole"])
    monkeypatch.setitem(RULES, SVD.estimate, _Shifted)
    with pytest.warns(DataWarning, match=r"^SVD: .*by up to 1e-06\..*slow") as caught:
        estimates = estimates_of(algo)
    assert caught[0].filename == __file__
    assert not estimates.vectorised
    assert_as_predicted(algo, estimates)


def test_a_rule_that_hides_what_is_impossible_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal numbers are not all that predict says."""
    algo = neighbours(KNNBasic, "msd", "whole", user_based=True, k=40, min_k=20)
    monkeypatch.setitem(RULES, KNNBasic.estimate, _Silent)
    with pytest.warns(DataWarning, match="KNNBasic: "):
        estimates = estimates_of(algo)
    assert_as_predicted(algo, estimates)


def test_a_formula_that_the_library_changed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN where there was a number is a difference, too."""
    algo = FACTORS["CoClustering"]().fit(TRAINSETS["whole"])
    monkeypatch.setitem(RULES, CoClustering.estimate, RULES[SVD.estimate])
    algo.biased, algo.pu, algo.qi = False, np.full((41, 2), np.nan), np.ones((60, 2))
    with pytest.warns(DataWarning, match="by up to inf"):
        estimates = estimates_of(algo)
    assert_as_predicted(algo, estimates)


def test_nan_in_a_model_is_refused() -> None:
    """Of those that are asked for; the formula is still that of predict."""
    algo = FACTORS["SVD"]().fit(TRAINSETS["whole"])
    algo.pu[3:30] = np.nan
    algo.bu[39] = np.inf
    estimates = estimates_of(algo)
    assert estimates.vectorised
    values, _ = asked(algo, estimates, np.arange(3))
    assert np.isfinite(values).all()
    users = Training(algo.trainset).users
    for bad, first in ((np.arange(40), 3), (np.array([0, 39]), 39)):
        with pytest.raises(DivergedModelError, match=f"first for user {users[first]!r}"):
            asked(algo, estimates, bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_similarities_without_an_order_are_left_to_the_library(value: float) -> None:
    """What a heap makes of NaN depends on the order of the ratings."""
    algo = neighbours(KNNWithMeans, "msd", "whole", user_based=False)
    algo.sim[4, ::3] = value
    assert not estimates_of(algo).vectorised


def test_what_the_library_cannot_divide_is_its_own_error() -> None:
    """KNNBasic with min_k=0 divides by zero where nobody is similar."""
    algo = neighbours(KNNBasic, "msd", "whole", user_based=True, min_k=0)
    algo.sim[:] = 0.0
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    with pytest.raises(ZeroDivisionError):
        asked(algo, estimates, np.arange(2))


def test_a_user_without_a_list_of_ratings_is_unknown() -> None:
    """The trainset decides who is known by its lists, not by its ids."""
    algo = FACTORS["SVD"]().fit(trainset_of("whole"))
    del algo.trainset.ur[3]
    estimates = estimates_of(algo)
    assert not estimates.vectorised
    assert_as_predicted(algo, estimates)
    assert Ratings(algo.trainset.ur, algo.trainset.n_users).sizes[3] == 0
    assert 3 not in algo.trainset.ur


@pytest.mark.parametrize("user_based", [True, False])
def test_two_threads_get_the_same_as_one(user_based: bool) -> None:  # noqa: FBT001
    """Nothing is kept that a block could disturb."""
    algo = neighbours(KNNBaseline, "msd", "repeats", user_based=user_based)
    users: NDArray[np.intp] = np.append(np.arange(41), -1)
    alone, threaded = estimates_of(algo), estimates_of(algo)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda _: asked(algo, threaded, users)[0], range(12)))
    for block in blocks:
        np.testing.assert_array_equal(block, asked(algo, alone, users)[0])


def test_all_users_at_once_are_as_in_parts() -> None:
    """Also when none of them is asked for, and when none is known."""
    algo = neighbours(KNNBasic, "cosine", "half", user_based=True)
    estimates = estimates_of(algo)
    whole, _ = asked(algo, estimates, np.arange(40))
    parts = [asked(algo, estimates, part)[0] for part in np.array_split(np.arange(40), 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert asked(algo, estimates, np.arange(0))[0].shape == (0, algo.trainset.n_items)
    unknown, impossible = asked(algo, estimates, np.array([-1, -1]))
    assert impossible.all()
    np.testing.assert_array_equal(unknown[0], unknown[1])


@pytest.mark.parametrize("user_based", [True, False])
def test_the_size_of_a_piece_is_for_speed_alone(
    user_based: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Similarities are looked at some rows at a time."""
    algo = neighbours(KNNBasic, "msd", "whole", user_based=user_based, min_k=3)
    whole, _ = asked(algo, estimates_of(algo), np.arange(41))
    for name in ("_CELLS", "_SORTED"):
        monkeypatch.setattr(f"recsys_ndcg.surprise.estimates.{name}", 400)
    np.testing.assert_array_equal(asked(algo, estimates_of(algo), np.arange(41))[0], whole)


def test_more_places_than_sixteen_bits_have() -> None:
    """The type of the places has room for as many as there are neighbours."""
    sim = np.random.default_rng(0).permutation(70_000)[None] / 70_000
    np.testing.assert_array_equal(places(sim), np.rint(sim * 70_000))


def test_more_ratings_of_a_user_than_sixteen_bits_have() -> None:
    """SlopeOne counts them, in a type that has room for them."""
    frame = pd.DataFrame({"user": "a", "item": ["x"] * 40_000 + ["y"], "rating": 3.0})
    algo = SlopeOne()
    AlgoBase.fit(algo, Dataset.load_from_df(frame, Reader()).build_full_trainset())
    # its own fit takes the square of the number of ratings
    algo.freq, algo.dev = np.ones((2, 2), dtype=int), np.array([[0.0, 1.0], [-1.0, 0.0]])
    algo.user_mean = [3.0]
    estimates = estimates_of(algo)
    assert estimates.vectorised
    assert_as_predicted(algo, estimates)


@pytest.mark.parametrize("data", list(TRAINSETS))
def test_ratings_are_the_lists_of_the_trainset(data: str) -> None:
    """In their order, with repeats."""
    trainset = TRAINSETS[data]
    sides = [
        (Ratings(lists, n), lists)
        for lists, n in ((trainset.ur, trainset.n_users), (trainset.ir, trainset.n_items))
    ]
    for ratings, lists in sides:
        offsets, codes = ratings.offsets, ratings.codes
        values = np.asarray(ratings.values)
        assert [offsets.dtype.name, values.dtype.name] == ["int64", "float64"]
        assert len(offsets) == len(lists) + 1
        for inner, (start, end) in enumerate(itertools.pairwise(offsets)):
            both = zip(codes[start:end].tolist(), values[start:end].tolist(), strict=True)
            assert list(both) == lists[inner]
            assert (ratings.rows[start:end] == inner).all()


def test_raw_ids_of_any_kind_come_back_by_inner_id() -> None:
    """Numbers, text and tuples are the objects that went in."""
    ids = [("a", 1), "b", 3, 2.5]
    frame = pd.DataFrame({"user": ids, "item": ids[::-1], "rating": [1, 2, 3, 4]}, dtype=object)
    trainset = Dataset.load_from_df(frame, Reader()).build_full_trainset()
    training = Training(trainset)
    assert [training.users.tolist(), training.items.tolist()] == [ids, ids[::-1]]
