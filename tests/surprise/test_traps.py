"""What goes wrong silently in Surprise is an error or a warning here."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import LeaveOneOut, RepeatedKFold, train_test_split

import recsys_ndcg as rn
from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.surprise import GridSearchCV, cross_validate, evaluate_catalogue, rank_catalogue
from tests.errors import assert_rejected, rejects
from tests.surprise import samples
from tests.surprise.samples import DATA, TABLE, THREE, TWO, dataset, svd, warnings_of

GRID = {"n_factors": [2], "n_epochs": [1], "random_state": [0, 1]}


def about(messages: Sequence[str], pattern: str) -> list[str]:
    """Return the messages that match."""
    return [one for one in messages if re.search(pattern, one)]


@pytest.fixture(name="split", scope="module")
def _split() -> Any:
    return train_test_split(DATA, test_size=0.3, random_state=0)


@pytest.fixture(name="fitted", scope="module")
def _fitted(split: Any) -> Any:
    return svd().fit(split[0])


# the rating scale


DOUBLED = TABLE.assign(rating=TABLE["rating"] * 2)


SCALED: list[Callable[[Any], Any]] = [
    lambda data: cross_validate(svd(), data, ["rmse"], cv=THREE),
    lambda data: GridSearchCV(surprise.SVD, GRID, ["rmse"], cv=TWO).fit(data),
    lambda data: rank_catalogue(svd().fit(full := data.build_full_trainset()), full, clip=True),
]


@pytest.mark.parametrize("act", SCALED, ids=["cross_validate", "search", "rank_catalogue"])
def test_ratings_outside_the_scale_give_one_warning_with_their_range(act: Any) -> None:
    """However many folds and combinations there are; a scale that is too wide is no problem."""
    (found,) = warnings_of(lambda: act(dataset(DOUBLED, (1, 5))))
    for part in ("(1, 5)", "from 1 to 10", "Reader(rating_scale=(1, 10))"):
        assert part in found
    outside = (DOUBLED["rating"] > 5).sum()
    assert act is not SCALED[2] or found.startswith(f"{outside} of {len(DOUBLED)} ratings are")
    (found,) = warnings_of(lambda: act(dataset(TABLE, (2, 5))))
    assert "from 0.5 to 5" in found
    assert not warnings_of(lambda: act(dataset(TABLE, (0, 10))))


# models that diverged


def catalogue_acts(algo: Any, split: Any, **options: Any) -> list[Callable[[], Any]]:
    """Return the calls of all functions of the whole catalogue."""
    return [
        lambda: rank_catalogue(algo, split[0], **options),
        lambda: evaluate_catalogue(algo, *split, **options),
        lambda: rn.surprise.predict_all(algo, **options),
    ]


def test_a_diverged_model_is_an_error(split: Any) -> None:
    """Surprise's clipping turns NaN into the top rating, so predictions do not show it."""
    algo, match = svd(20, lr_all=5).fit(split[0]), "SVD estimates NaN.*diverged.*smaller learning"
    assert {one.est for one in algo.test(split[1])} == {5}
    acts = [act for clip in (False, True) for act in catalogue_acts(algo, split, clip=clip)]
    acts += [
        functools.partial(cross_validate, svd(20, lr_all=5), DATA, names, cv=TWO)
        for names in (["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"], ["fcp", "mae"])
    ]
    for act in acts:
        with rejects(match, DivergedModelError):
            act()
    place = split[0].to_inner_iid(split[1][0][1])
    for value in (math.nan, math.inf, -math.inf):  # one estimate of the user's own algorithm
        own = samples.Formula(lambda *pair, value=value: value if pair[2] == place else 3)
        for act in catalogue_acts(own.fit(split[0]), split):
            with rejects("Formula estimates NaN.*diverged", DivergedModelError):
                act()


@pytest.mark.parametrize("measure", ["ndcg@5", "ndcg@5:catalogue"])
def test_a_search_ranks_diverged_combinations_last(measure: str) -> None:
    """The first combination diverges, so a NaN that won would be noticed."""
    grid = {"lr_all": [5, 0.005, 6], "n_factors": [4], "n_epochs": [20], "random_state": [0]}
    how: dict[str, Any] = {"cv": TWO, "refit": measure, "keep_per_user": True}
    search = GridSearchCV(surprise.SVD, grid, [measure, "rmse"], **how)
    (message,) = warnings_of(lambda: search.fit(DATA))
    assert message.startswith("2 of 3 combinations diverged, the first {'lr_all': 5, ")
    assert "SVD estimates NaN" in message
    scores = search.cv_results[f"mean_test_{measure}"]
    assert np.isnan(scores).tolist() == [True, False, True]
    assert search.best_index[measure] == 1
    assert search.best_score[measure] == scores[1]
    assert search.cv_results[f"rank_test_{measure}"][1] == 1
    chosen: dict[str, Any] = search.best_params
    assert chosen["rmse"]["lr_all"] == 0.005
    assert not math.isnan(search.predict("u001", "i001", clip=False).est)
    assert search.to_frame()[f"pooled_test_{measure}"].isna().tolist() == [True, False, True]
    assert search.per_user[measure].notna().any()


SEEN = {(user, item) for user, item, *_ in DATA.raw_ratings}
UNSEEN = {*product(TABLE["user"], TABLE["item"])} - SEEN


def sometimes_undefined(at: str) -> Any:
    """Return an algorithm with undefined estimates for unseen pairs, or after some trainsets."""

    def estimate(trainset: Any, user: Any, item: Any) -> float:
        if not (trainset.knows_user(user) and trainset.knows_item(item)):
            return 3.0
        if at == "unseen" and (trainset.to_raw_uid(user), trainset.to_raw_iid(item)) in UNSEEN:
            return math.nan
        return -math.inf if at == "some folds" and len(trainset.ir[0]) % 2 else 3 + item / 99

    return samples.Formula(estimate)


def test_a_combination_may_diverge_in_the_catalogue_or_in_some_folds_only() -> None:
    """The test predictions may not show it; tables keep the folds that have scores."""
    grid = {"at": ["unseen", "some folds", "nowhere"]}
    name = "ndcg@5:catalogue"
    search = GridSearchCV(sometimes_undefined, grid, [name], cv=THREE, keep_per_user=True)
    messages = warnings_of(lambda: search.fit(DATA))
    match = "2 of 3 combinations diverged.*'at': 'unseen'.*Formula estimates"
    assert about(messages, match)
    assert np.isnan(search.cv_results[f"mean_test_{name}"]).tolist() == [True, True, False]
    assert search.cv_results[f"rank_test_{name}"].tolist() == [2, 3, 1]
    places = {place[:2] for place in search.per_user.dropna().index.tolist()}
    odd = [len(trainset.ir[0]) % 2 for trainset, _ in THREE.split(DATA)]
    even = {(1, fold) for fold, one in enumerate(odd, 1) if not one}
    assert 0 < len(even) < 3
    assert places == even | {(2, 1), (2, 2), (2, 3)}


# types of ids


@pytest.fixture(name="numbered", scope="module")
def _numbered() -> tuple[Any, Any]:
    numbers = {name: TABLE[name].str[1:].astype(int) for name in ("user", "item")}
    trainset = dataset(TABLE.assign(**numbers)).build_full_trainset()
    return svd().fit(trainset), trainset


@pytest.mark.parametrize(
    ("act", "column"),
    [
        (lambda algo, train: rank_catalogue(algo, train, users=["1", "2"]), "user"),
        (lambda algo, _: rn.surprise.predict_all(algo, items=["1"]), "item"),
        (lambda algo, train: evaluate_catalogue(algo, train, [("1", 10, 4.0)]), "user"),
        (lambda algo, train: evaluate_catalogue(algo, train, [(1, "10", 4.0)]), "item"),
    ],
)
def test_ids_of_another_type_are_rejected(numbered: Any, act: Any, column: str) -> None:
    """Surprise takes them for unknown ids, and estimates the mean of all ratings."""
    assert numbered[0].predict("1", "10").details["was_impossible"] is False
    with rejects(f"^{column}: .*trainset have ids of type number .*of type text .*'[12]"):
        act(*numbered)


def test_unknown_ids_and_other_number_types_are_accepted(numbered: Any) -> None:
    """A testset may have new users; numpy's numbers and whole floats equal integers."""
    algo, trainset = numbered
    whole = DATA.build_full_trainset()
    with rejects("user: .*trainset have ids of type text .*of type number"):
        rank_catalogue(svd().fit(whole), whole, users=[1])
    known, item = trainset.to_raw_uid(0), trainset.to_raw_iid(0)
    first, *others = (
        rank_catalogue(algo, trainset, users=[one]).drop(columns="user")
        for one in (known, np.int64(known), float(known))
    )
    for table in others:
        pd.testing.assert_frame_equal(table, first)
    assert rn.surprise.predict_all(algo, [known, 10**6], [item]).notna().all(axis=None)
    test = [(known, first["item"][0], 5.0), (10**6, item, 4.0), (known, 10**6, 4.0)]
    report = evaluate_catalogue(algo, trainset, test, metrics="ndcg@5")
    assert report.per_user.index.tolist() == [known, 10**6]


# lists of one item


@pytest.mark.parametrize("cv", [LeaveOneOut(2, random_state=0), rn.surprise.LeaveNOut(1)])
@pytest.mark.parametrize("measures", [["rmse", "rr@5"], ["hit@5", "hit@5:catalogue"]])
def test_one_test_rating_per_user_is_rejected_for_rated_lists(cv: Any, measures: Any) -> None:
    """Any order of one item is perfect; in the whole catalogue it is not."""
    with rejects(r"one predicted item.*LeaveNOut\(5\).*'ndcg@10:catalogue'"):
        cross_validate(samples.NeverFitted(), DATA, measures, cv=cv, threshold=4)
    with rejects("one predicted item"):
        GridSearchCV(samples.NeverFitted, {"x": [1]}, measures, cv=cv, threshold=4).fit(DATA)
    found = cross_validate(svd(), DATA, ["rmse", "hit@5:catalogue"], cv=cv, threshold=0.5)
    assert set(found.per_user["hit@5:catalogue"]) == {0.0, 1.0}


# algorithms that truncate ratings


class OwnSlopeOne(surprise.SlopeOne):  # type: ignore[misc]
    """A subclass with a parameter to search."""

    def __init__(self, random_state: Any = None) -> None:
        super().__init__()
        self.random_state = random_state


@pytest.mark.parametrize("kind", [OwnSlopeOne, surprise.CoClustering])
def test_an_algorithm_that_truncates_half_stars_gives_one_warning(kind: Any, split: Any) -> None:
    """With the number of ratings and the first of them; doubled ratings are whole."""
    algo, grid = kind().fit(split[0]), {"random_state": [0, 1]}
    for act in (
        lambda: cross_validate(kind(), DATA, ["rmse"], cv=THREE),
        lambda: cross_validate(kind(), DATA, ["ndcg@5", "ndcg@5:catalogue"], cv=TWO),
        lambda: GridSearchCV(kind, grid, ["rmse"], cv=TWO).fit(DATA),
        lambda: rank_catalogue(algo, split[0]),
        lambda: evaluate_catalogue(algo, *split),
    ):
        (found,) = about(warnings_of(act), f"^{kind.__name__} keeps ratings as whole numbers: ")
        first = re.search(r"such as ([\d.]+), are rounded down \((\d)\)", found)
        assert first is not None
        assert math.floor(float(first[1])) == int(first[2]) != float(first[1])
    assert not warnings_of(lambda: cross_validate(kind(), dataset(DOUBLED, (1, 10)), cv=TWO))
    assert not warnings_of(lambda: cross_validate(surprise.KNNBasic(verbose=False), DATA, cv=TWO))


# arguments of the catalogue


def test_the_algorithm_and_the_trainset_must_belong_together(fitted: Any, split: Any) -> None:
    """Otherwise inner ids would mean other users; a copy of the trainset is the same."""
    for act in (*catalogue_acts(svd(), split), *catalogue_acts(surprise.SVD, split)):
        assert_rejected(r"^SVD is not fitted.*algo.fit\(trainset\)", act)
    other = dataset(TABLE.iloc[::2]).build_full_trainset()
    match = rf"another trainset \(\d+ ratings\) than this one \({other.n_ratings} ratings"
    test = [("u001", "i001", 4.0)]
    for wrong in (other, split[1], DATA, None, "train"):
        for act in catalogue_acts(fitted, (wrong, test))[:2]:
            assert_rejected(match if wrong is other else "[Tt]rainset", act)
    whole, again = DATA.build_full_trainset(), DATA.build_full_trainset()
    algo, turned = svd().fit(whole), dataset(TABLE.iloc[::-1]).build_full_trainset()
    assert_rejected("another trainset", rank_catalogue, algo, turned)
    pd.testing.assert_frame_equal(rank_catalogue(algo, again), rank_catalogue(algo, whole))


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(({"exclude": one}, "exclude must be 'train' or None") for one in ("test", True, ["i001"])),
    *(({"k": k}, "k must be a whole number of at least 1, not ") for k in (0, 2.5, "10", True)),
    ({"users": []}, "users is empty: give raw ids, or None"),
    *(({"users": one}, "users: found .* in place of a column") for one in ("u001", 5, b"u001")),
]


@pytest.mark.parametrize(("options", "match"), WRONG_OPTIONS, ids=str)
def test_a_wrong_option_is_rejected(fitted: Any, split: Any, options: Any, match: str) -> None:
    """Both functions have the same checks."""
    assert_rejected(match, rank_catalogue, fitted, split[0], **options)
    if "users" not in options:
        assert_rejected(match, evaluate_catalogue, fitted, *split, **options)


ROW = r"testset: Row 2 \(counted from 0\) is .*\(user, item, rating\)"


def test_a_wrong_row_of_a_testset_is_rejected(fitted: Any, split: Any) -> None:
    """Such as predictions, or raw ratings with timestamps."""
    rows = [("u001", "i001"), {"user": "u001"}, "u001", None, ("u001", "i001", 4.0, None)]
    ratings = {"4.0": "text such as '4.0'", math.inf: "infinite", -1.0: "the grade -1"}
    cases = [*((row, ROW) for row in rows), *((("u9", "i1", r), m) for r, m in ratings.items())]
    for row, match in cases:
        assert_rejected(match, evaluate_catalogue, fitted, split[0], [*split[1][:2], row])


def test_a_wrong_testset_is_rejected(fitted: Any, split: Any) -> None:
    """It must be a list with rows; repeated pairs follow the convention."""
    trainset, testset = split
    twice = [*testset, (*testset[0][:2], 0.5)]
    for wrong, match in (
        (None, "testset"), ([], "testset: there are no rows"),
        (twice, "the testset: user .* has the item .* twice or more"),
    ):  # fmt: skip
        assert_rejected(match, evaluate_catalogue, fitted, trainset, wrong)
    how: dict[str, Any] = {"metrics": "ndcg@5", "convention": rn.Convention(duplicates="first")}
    once, merged = (evaluate_catalogue(fitted, trainset, one, **how) for one in (testset, twice))
    assert merged.mean.tolist() == once.mean.tolist()
    assert merged.counts["duplicates"] == 1


# test ratings that are in the trainset


def leaking(n: int) -> tuple[Any, list[Any]]:
    """Return a split whose last n test ratings are in its trainset."""
    trainset, testset = train_test_split(DATA, random_state=0)
    return trainset, [*testset, *trainset.build_testset()[:n]]


@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"]])
def test_test_ratings_in_the_trainset_give_one_warning(measures: Any) -> None:
    """With their number and the first of them, also in a search of several combinations."""
    clean, leaky = leaking(0), leaking(30)
    first, rows = "user {!r} item {!r}".format(*leaky[1][-30]), len(clean[1]) * 2 + 30
    cv = samples.FixedSplits(lambda: [clean, leaky])
    search = GridSearchCV(surprise.SVD, GRID, measures, cv=cv)
    for act in (lambda: cross_validate(svd(), DATA, measures, cv), lambda: search.fit(DATA)):
        (message,) = warnings_of(act)
        start = f"30 of {rows} test ratings, the first {first}, are in the trainset of their split"
        assert message.startswith(f"{start} (1 of 2 splits)")
        assert "seen them, and scores better than on new ratings" in message
        assert "Test on ratings that are not in the trainset" in message
    trainset = DATA.build_full_trainset()
    whole = samples.FixedSplits(lambda: [(trainset, trainset.build_testset())])
    (message,) = warnings_of(lambda: cross_validate(svd(), DATA, measures, whole))
    assert message.startswith(f"All {len(TABLE)} test ratings, the first ")
    assert "the score is that of the training set" in message


def test_ids_that_are_equal_for_a_trainset_are_equal_for_the_warning() -> None:
    """1 and 1.0 are the same user."""
    rows = [(user, item, float(1 + (user + item) % 5)) for user in range(1, 9) for item in range(9)]
    data = dataset()
    data.raw_ratings = [(*row, None) for row in rows]
    assert not warnings_of(lambda: cross_validate(svd(), data, ["rmse"], TWO))
    data.raw_ratings += [(float(user), item, 3.0, None) for user, item, _ in rows]
    (message,) = warnings_of(lambda: cross_validate(svd(), data, ["rmse"], TWO))
    assert re.search(r"^\d+ of \d+ test ratings, the first .* are in the trainset", message)


def test_pairs_of_a_known_user_or_a_known_item_are_no_leak() -> None:
    """Pairs are compared, and unknown ids are not taken for the last user or item."""
    trainset, _ = leaking(0)
    last = trainset.n_items - 1
    raters = {inner for inner, _ in trainset.ir[last]}
    # the user after one who rated the last item, who has not rated it
    after = next(one + 1 for one in sorted(raters) if one + 1 not in raters)
    user, item = trainset.to_raw_uid(after), trainset.to_raw_iid(last)
    known = [(user, "new", 4.0), ("new", item, 3.0), ("new", "newer", 1.0), (user, "newer", 2.0)]
    new = samples.FixedSplits(lambda: [(trainset, known)])
    for cv in (new, None, RepeatedKFold(2, 2), rn.surprise.UserKFold(2), rn.surprise.LeaveNOut(3)):
        assert not warnings_of(lambda cv=cv: cross_validate(svd(), DATA, ["rmse"], cv))  # type: ignore[misc]


MEANINGS = [
    ("train", "no candidates, and count as missed", "no list has any of them"),
    (None, "the model has seen them, and ranks", "the score is that of the training set"),
]


@pytest.mark.parametrize(("exclude", "meaning", "alone"), MEANINGS)
def test_the_catalogue_warns_of_a_leak(exclude: Any, meaning: str, alone: str) -> None:
    """Its effect on the score depends on `exclude`."""
    trainset, testset = leaking(4)
    algo, rows = svd().fit(trainset), trainset.build_testset()
    for test, start, text in (
        (testset, f"4 of {len(testset)} test ratings, the first user {testset[-4][0]!r}", meaning),
        (rows, f"All {len(rows)} test ratings, the first user {rows[0][0]!r}", alone),
    ):
        act = lambda test=test: evaluate_catalogue(algo, trainset, test, exclude=exclude)  # noqa: E731
        (message,) = warnings_of(act)
        assert message.startswith(start)
        assert text in message
    assert not warnings_of(lambda: evaluate_catalogue(algo, *leaking(0), exclude=exclude))


# models without an order


def by_user(spread: float = 0.0) -> Any:
    """Return an algorithm that estimates by the user, and by the item if it has a spread."""
    return samples.Formula(
        lambda _, user, item: 2 + hash(user) % 7 / 7 + (spread * hash(item) % 0.7)
    )


@pytest.mark.parametrize("algo", [by_user(), surprise.KNNBasic(min_k=10**6, verbose=False)])
def test_an_algorithm_without_an_order_gives_a_warning(algo: Any) -> None:
    """It scores like random order; errors are not affected."""
    measures, found = ["rmse", "ndcg@5", "recall@5:catalogue"], []
    how: dict[str, Any] = {"cv": THREE, "threshold": 4}
    (message,) = warnings_of(lambda: found.append(cross_validate(algo, DATA, measures, **how)))
    same = f"{type(algo).__name__} estimates the same for every item of a user (3 of 3 folds): "
    order = "random order scores the same in ndcg@5, recall@5:catalogue. Check its parameters"
    assert message.startswith(same + order)
    assert not warnings_of(lambda: cross_validate(algo, DATA, ["rmse", "fcp"], **how))
    rows = [(*row, 3.0, {}) for row in next(THREE.split(DATA))[1]]
    with pytest.warns(rn.DataWarning):
        chance = rn.surprise.accuracy.ndcg(rows, 5, verbose=False)
    assert found[0]["test_ndcg@5"][0] == pytest.approx(chance, abs=1e-12)


def test_any_order_is_an_order() -> None:
    """The same one for all users, tiny differences, or one that clipping hides."""
    names = ["ndcg@5", "ndcg@5:catalogue"]
    for algo in (rn.surprise.MostPopular(), by_user(1e-3)):
        assert not warnings_of(lambda algo=algo: cross_validate(algo, DATA, names, cv=TWO))  # type: ignore[misc]
    data = dataset(TABLE.assign(rating=TABLE["rating"] + 5), (1, 5))
    messages = warnings_of(lambda: cross_validate(surprise.SVD(2, 1), data, names, THREE))
    (message,) = about(messages, "random order")
    assert "scores the same in ndcg@5. Check" in message


def test_a_search_names_the_first_combination_without_an_order() -> None:
    """And counts them."""
    search = GridSearchCV(by_user, {"spread": [1e-3, 0.0, 0.0]}, measures=["ndcg@5"], cv=TWO)
    (message,) = warnings_of(lambda: search.fit(DATA))
    assert message.startswith(
        "by_user with {'spread': 0.0} estimates the same for every item of a user (2 of 3 "
        "combinations): random order scores the same in ndcg@5. "
    )


ENDS = (
    "All 50 estimates are 3: .*its rating_scale ends at 3 and clips all .*highest true value is 5"
)
STEPS = "Check algo.predict(user, item, clip=False), and train with a smaller learning rate or"


@pytest.mark.parametrize(
    ("n_top", "n_other", "top", "start"),
    [
        (100, 0, 5.0, "All 100 estimates are 5: these items have no order.*it gives all items"),
        (95, 5, 5.0, "95 of 100 estimates are 5"), (94, 6, 5.0, ""), (50, 0, 3.0, ENDS),
    ],
)  # fmt: skip
def test_nearly_all_at_the_top_is_enough(n_top: int, n_other: int, top: float, start: str) -> None:
    """From 95% and 10 rows; a constant below the top may be the end of a wrong scale."""
    draw = np.random.default_rng(0)
    estimates = [top] * n_top + draw.uniform(1, 4, n_other).tolist()
    rows: list[Any] = [
        (f"u{place % 5}", f"i{place}", float(1 + place % 5), estimate, {})
        for place, estimate in enumerate(estimates)
    ]
    found = warnings_of(lambda: rn.surprise.accuracy.ndcg(rows, verbose=False))
    assert about(found, "Perhaps the model diverged") == (found[:1] if start else [])
    assert not start or (STEPS in found[0] and re.search(f"^{start}", found[0]))
