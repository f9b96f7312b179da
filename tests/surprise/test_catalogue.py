"""Ranking the whole catalogue equals ranking every candidate one by one, in any convention."""

from __future__ import annotations

import copy
import gc
import tracemalloc
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from hypothesis import assume, given
from hypothesis import strategies as st
from surprise.model_selection import train_test_split

import recsys_ndcg as rn
from recsys_ndcg.catalogue import Placement, candidates, read_testset
from recsys_ndcg.scoring import Plan, rank
from recsys_ndcg.surprise import MostPopular, evaluate_catalogue, predict_all, rank_catalogue
from recsys_ndcg.surprise.catalogue import build_candidates
from tests.errors import assert_rejected, rejects
from tests.profiles import examples
from tests.strategies import choices, to_convention
from tests.surprise.samples import TABLE, dataset, svd

METRICS = ["ndcg@2", "ndcg", "dcg@3", "precision@2", "recall@2", "f1@3", "ap@2", "ap", "rr", "rr@2"]
METRICS += ["hit@2", "rprecision", "rbp@3", "judged@2", "cg@2", "auc"]


class Tabled(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm that looks estimates up in a table; None in it is an impossible prediction."""

    def __init__(self, table: Mapping[tuple[Any, int], float | None]) -> None:
        super().__init__()
        self.table = table

    def estimate(self, user: Any, item: Any) -> float:
        """Return the estimate of the table."""
        found = None
        if self.trainset.knows_user(user) and self.trainset.knows_item(item):
            found = self.table[self.trainset.to_raw_uid(user), self.trainset.to_raw_iid(item)]
        if found is None:
            raise surprise.PredictionImpossible
        return found


@st.composite
def experiments(draw: Callable[[Any], Any]) -> tuple[Any, Any, list[tuple[int, int, float]]]:
    """Draw training ratings of a few users, a table of estimates with ties, and a testset."""
    users, items = range(draw(st.integers(1, 4))), range(8, 8 + draw(st.integers(3, 6)))
    pairs = [(user, item) for user in users for item in items]
    first = [(draw(st.sampled_from(users)), item) for item in items[:3]]  # three items are known
    rated = dict.fromkeys([*first, *draw(st.lists(st.sampled_from(pairs), max_size=8))])
    frame = pd.DataFrame([(*pair, 3.0) for pair in rated])
    trainset = dataset(frame, (0, 5)).build_full_trainset()
    grades = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
    estimates = st.sampled_from([None, 0.1, 0.3, 2.0, 2.0000000001, 4.0, 7.0])
    table = {pair: draw(estimates) for pair in pairs}
    known = st.sampled_from([(user, item) for user, _ in rated for item in items])
    more = st.lists(st.sampled_from([*pairs, (99, 8), (0, 98)]))
    test = dict.fromkeys([draw(known), *draw(more)])
    return Tabled(table).fit(trainset), trainset, [(*pair, draw(grades)) for pair in test]


def ranked_the_long_way(algo: Any, trainset: Any, test: Any, *, clip: Any = False) -> Any:
    """Predict every candidate of every test user, and join the test ratings to them."""
    rows = []
    for user in dict.fromkeys(one for one, _, _ in test):
        seen: set[int] = set()
        if user in {trainset.to_raw_uid(inner) for inner in trainset.all_users()}:
            seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
        items = [trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen]
        rows += [algo.predict(user, item, clip=clip) for item in items]
    assume(rows)
    labels = pd.DataFrame(test, columns=["user", "item", "true"])
    return rn.RankedLists.from_labels(labels, rows)._data


def halved(rank: Any) -> Any:
    """Halve the weight from rank to rank."""
    return 0.5 ** (rank - 1)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@examples(1.5)
@given(
    experiments(),
    choices,
    st.sampled_from(["rank", "last", "drop"]),
    st.booleans(),
    st.sampled_from([None, None, 20.0]),
)
def test_the_report_is_that_of_all_candidates_ranked(
    experiment: Any, chosen: Any, impossible: str, clip: Any, coarse: float | None
) -> None:
    """Compare every metric in every convention: per user, pooled, and the audit."""
    algo, trainset, test = experiment
    convention = to_convention(chosen).replace(impossible=impossible)
    if coarse or convention.tie_tolerance == 0:
        convention = convention.replace(tie_tolerance=coarse or 1e-9)
    names: list[Any] = [*METRICS, rn.metric(over="weights")(halved)(2)]
    if convention.ties == "expected" and convention.ap_over == "hits":
        names = [name for name in names if not str(name).startswith("ap")]
    how = {"metrics": names, "k": None, "threshold": chosen.threshold, "convention": convention}
    # joined lists, under the protocol whose estimates are ratings
    lists = replace(ranked_the_long_way(algo, trainset, test, clip=clip), protocol="rated")
    # the catalogue rejects an anti-testset: every candidate has the same label
    is_unlabelled = lists.pool.count_unlabelled(lists).any() and impossible != "drop"
    assume(is_unlabelled or len({grade for _, _, grade in test}) > 1)
    try:
        long = rn.evaluate(rn.RankedLists(lists), **how)
    except rn.InvalidInputError:
        with pytest.raises(rn.InvalidInputError):
            evaluate_catalogue(algo, trainset, test, clip=clip, **how)
        return
    report = evaluate_catalogue(algo, trainset, test, clip=clip, **how)
    pd.testing.assert_frame_equal(report.per_user, long.per_user, rtol=1e-12, atol=1e-12)
    pd.testing.assert_series_equal(report.pooled, long.pooled, rtol=1e-12, atol=1e-12)
    # dropped predictions are no rows of the catalogue, and no unlabelled item counts as relevant
    ignored = ["unlabelled_top"] + (["unlabelled"] if impossible == "drop" else [])
    pd.testing.assert_frame_equal(
        report.audit.drop(columns=ignored), long.audit.drop(columns=ignored), rtol=1e-12, atol=1e-12
    )
    counts = {**long.counts}
    counts["candidates"] = counts.pop("ratings")
    if impossible == "drop":
        counts |= {name: report.counts[name] for name in ("candidates", "unlabelled", "unlisted")}
    assert report.counts == counts


ALGORITHMS: dict[str, Callable[[], Any]] = {
    "SVD": svd, "KNNBasic": lambda: surprise.KNNBasic(verbose=False), "MostPopular": MostPopular,
    "CoClustering": lambda: surprise.CoClustering(random_state=0),
}  # fmt: skip


@pytest.fixture(scope="module")
def split() -> Any:
    """Ratings in whole stars, a quarter of them for the test."""
    data = dataset(TABLE.assign(rating=np.ceil(TABLE["rating"])), (1, 5))
    return train_test_split(data, test_size=0.25, random_state=0)


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_top_of_the_catalogue_is_that_of_predict(split: Any, name: str, clip: Any) -> None:
    """Users come in the order asked for; equal estimates are in the trainset's order."""
    trainset, _ = split
    algo = ALGORITHMS[name]().fit(trainset)
    users = [trainset.to_raw_uid(inner) for inner in (7, 0, 30)]
    top = rank_catalogue(algo, trainset, 6, users=users, clip=clip)
    assert top["user"].unique().tolist() == users
    for user, rows in top.groupby("user"):
        seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
        items = [trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen]
        pairs = [(item, float(algo.predict(user, item, clip=clip).est)) for item in items]
        expected = sorted(pairs, key=lambda pair: -round(pair[1] / 1e-9))[:6]
        assert rows["item"].tolist() == [item for item, _ in expected]
        assert rows["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        np.testing.assert_allclose(rows["estimated"], [one for _, one in expected], atol=1e-9)


@pytest.mark.parametrize("k", [3, None])
def test_the_size_of_a_block_changes_nothing(split: Any, k: int | None, monkeypatch: Any) -> None:
    """A user's list is never cut at the end of a block of users."""
    trainset, test = split
    algo = ALGORITHMS["KNNBasic"]().fit(trainset)
    whole = rank_catalogue(algo, trainset, k)
    report = evaluate_catalogue(algo, trainset, test, k=k)
    monkeypatch.setattr(candidates, "_CELLS", 200)
    pd.testing.assert_frame_equal(rank_catalogue(algo, trainset, k), whole)
    again = evaluate_catalogue(algo, trainset, test, k=k)
    pd.testing.assert_frame_equal(again.per_user, report.per_user)
    if k is None:
        assert len(whole) == trainset.n_users * trainset.n_items - trainset.n_ratings


def test_every_estimate_of_predict_all_is_that_of_predict(split: Any) -> None:
    """Users and items may be unknown, and estimates cut to the scale or not."""
    trainset, _ = split
    users, items = [trainset.to_raw_uid(3), "a stranger"], [trainset.to_raw_iid(5), "nothing"]
    for name, make in ALGORITHMS.items():
        algo = make().fit(trainset)
        for clip in (True, False):
            table = predict_all(algo, users, items, clip=clip)
            expected = [[algo.predict(u, i, clip=clip).est for i in items] for u in users]
            np.testing.assert_allclose(table, expected, atol=1e-9, err_msg=name)
    assert predict_all(algo).shape == (trainset.n_users, trainset.n_items)


class ByContent(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm that can estimate for users who are not in the trainset."""

    def predict(self, uid: Any, iid: Any, *_: Any, **__: Any) -> Any:
        """Estimate by the lengths of the ids."""
        return surprise.Prediction(uid, iid, None, len(str(uid)) + len(str(iid)) / 100, {})


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_a_users_own_algorithm_gets_the_ids_of_unknown_users(split: Any) -> None:
    """It may know more users than the trainset."""
    trainset, _ = split
    algo = ByContent().fit(trainset)
    table = predict_all(algo, ["a stranger"], ["an item"], clip=False)
    assert table.loc["a stranger", "an item"] == 10.07
    test = [(user, "i003", 5.0) for user in ("u001", "a stranger", "bob")]
    with pytest.warns(rn.DataWarning, match="2 of 3 users .* such as 'a stranger'"):
        report = evaluate_catalogue(algo, trainset, test)
    assert report.explain("a stranger", 1)["estimated"].tolist() == [10.04]


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_every_catalogue_report_has_baselines(split: Any, tmp_path: Path) -> None:
    """They are the most popular items and chance, also in files and in printed reports."""
    trainset, test = split
    algo = svd().fit(trainset)
    names = ["ndcg@10", "recall@5", "rr"]
    report = evaluate_catalogue(algo, trainset, test, metrics=names, threshold=4)
    model = MostPopular().fit(trainset)
    popular = evaluate_catalogue(model, trainset, test, metrics=names, threshold=4)
    assert report.baselines.index.tolist() == ["MostPopular", "chance"]
    np.testing.assert_allclose(report.baselines.loc["MostPopular"], popular.mean)
    np.testing.assert_allclose(report.baselines.loc["chance"], report.summary["chance"])
    assert report.mean["recall@5"] < popular.mean["recall@5"]
    assert "MostPopular is as good or better in" in str(report)
    assert all("popular" in text for text in (report.to_markdown(), report.to_latex()))
    report.save(tmp_path / "svd.json")
    again = rn.Report.load(tmp_path / "svd.json")
    pd.testing.assert_frame_equal(again.baselines, report.baselines)
    assert str(again) == str(report)
    assert rn.evaluate(algo.test(test), threshold=4).baselines.index.tolist() == ["chance"]


def test_popularity_is_the_number_of_ratings(split: Any) -> None:
    """It is scaled to the rating scale, so clipping does not change its order."""
    trainset, _ = split
    algo = MostPopular().fit(trainset)
    counts = {trainset.to_raw_iid(inner): len(trainset.ir[inner]) for inner in trainset.all_items()}
    expected = [1 + 4 * count / max(counts.values()) for count in counts.values()]
    np.testing.assert_allclose([algo.predict("u001", item).est for item in counts], expected)
    assert algo.predict("u001", "unknown").est == 1


@pytest.mark.parametrize("unlisted", ["count", "ignore"])
def test_a_catalogue_score_can_be_explained(split: Any, unlisted: Any) -> None:
    """The table has a row per rank; its last NDCG is the user's score."""
    trainset, test = split
    test = [*test, (test[0][0], "unknown", 5.0)]
    algo = ALGORITHMS["KNNBasic"]().fit(trainset)
    convention = rn.Convention(unlisted=unlisted)
    report = evaluate_catalogue(algo, trainset, test, convention=convention)
    for user in [test[0][0], *report.users[:5]]:
        table = report.explain(user)
        score = report.per_user.loc[user, "ndcg@10"]
        assert table["ndcg"].iloc[-1] == pytest.approx(score, abs=1e-12, nan_ok=True)
        top = rank_catalogue(algo, trainset, users=[user])
        np.testing.assert_allclose(table["estimated"], top["estimated"], atol=1e-9)


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_a_report_does_not_depend_on_the_algorithm_any_more(split: Any) -> None:
    """The algorithm may be refitted, random or deleted: a report keeps no model and no trainset."""
    trainset, test = split
    algo = surprise.CoClustering(random_state=0).fit(trainset)
    report = evaluate_catalogue(algo, trainset, test, threshold=4)
    user = report.users[0]
    before = report.explain(user)
    algo.random_state = 5
    algo.fit(trainset)
    pd.testing.assert_frame_equal(report.explain(user), before)
    random = evaluate_catalogue(surprise.NormalPredictor().fit(trainset), trainset, test)
    table = random.explain(user)
    assert table["ndcg"].iloc[-1] == pytest.approx(random.per_user.loc[user, "ndcg@10"], abs=1e-12)
    kept = weakref.ref(algo), weakref.ref(copied := copy.deepcopy(trainset))
    own = evaluate_catalogue(algo.fit(copied), copied, test)
    del algo, copied
    gc.collect()
    assert [one() for one in kept] == [None, None]
    assert own.summary["chance"].gt(0).all()
    assert_rejected("keeps the first 10 ranks of each list.*up to 10", own.explain, user, 11)


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_impossible_estimates_come_last_and_are_never_recommended(tmp_path: Path) -> None:
    """Even if the scale or the limit goes below 0; a report without them can be saved."""
    items = range(8, 14)
    frame = pd.DataFrame([(user, 8, -3.0) for user in (0, 1)] + [(2, item, 1.0) for item in items])
    trainset = dataset(frame, (-10, 10)).build_full_trainset()
    values = {9: -2.0, 11: -8.0}
    table = {(user, item): values.get(item) for user in (0, 1) for item in items}
    table[1, 11] = -900.0
    algo, test = Tabled(table).fit(trainset), [(0, 10, 5.0), (1, 10, 5.0), (1, 9, 0.0)]
    how: dict[str, Any] = {"metrics": ["rr", "precision", "recall"], "k": None, "threshold": 4}
    last = rn.Convention(impossible="last", gain="binary", recommend_from=-1e3, ties="input")
    report = evaluate_catalogue(algo, trainset, test, convention=last, **how)
    assert report.per_user["rr"].tolist() == [1 / 3, 1 / 3]
    assert report.per_user[["precision", "recall"]].eq(0).all(axis=None)
    assert report.counts["impossible"] == 6
    for user in (0, 1):
        assert report.explain(user, 3)["item"].tolist() == [9, 11, 10]
    drop = rn.Convention(impossible="drop")
    report = evaluate_catalogue(algo, trainset, test, convention=drop, **how)
    assert (report._data.scores.counts.impossible > report._data.scores.counts.ratings).all()
    report.save(tmp_path / "r.json")
    assert rn.Report.load(tmp_path / "r.json") == report


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_an_estimate_of_exactly_the_limit_is_recommended() -> None:
    """As by `evaluate`: the limit is the least estimate of a recommended item."""
    trainset = dataset(pd.DataFrame([(0, 8, 3.0), (1, 9, 3.0), (1, 10, 3.0)]), (0, 5))
    trainset = trainset.build_full_trainset()
    table = {(0, 8): 1.0, (0, 9): 4.0, (0, 10): 3.0}
    algo, test = Tabled(table).fit(trainset), [(0, 9, 5.0)]
    how: dict[str, Any] = {"metrics": "precision", "k": None, "threshold": 4}
    for limit, expected in ((3.0, 1 / 2), (3.5, 1.0), (4.0, 1.0)):
        convention = rn.Convention(recommend_from=limit)
        report = evaluate_catalogue(algo, trainset, test, convention=convention, **how)
        assert report["precision"] == expected


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_catalogue_of_one_item_is_ranked() -> None:
    """A test rating of an item that is not in it counts as missed."""
    trainset = dataset(pd.DataFrame([(0, 8, 3.0)]), (0, 5)).build_full_trainset()
    algo, test = Tabled({(0, 8): 3.0}).fit(trainset), [(0, 9, 5.0), (1, 8, 4.0)]
    report = evaluate_catalogue(algo, trainset, test, metrics="hit", k=1, threshold=4)
    assert report.per_user["hit@1"].to_dict() == {0: 0.0, 1: 1.0}


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_the_threshold_is_known_before_anything_is_ranked(split: Any) -> None:
    """It is 1 if all labels are 0 or 1; otherwise it must be given if something needs it."""
    trainset, test = split
    popular = MostPopular().fit(trainset)
    liked = [(user, item, 1.0) for user, item, _ in test]
    report = evaluate_catalogue(popular, trainset, liked)
    assert report.metrics == ["ndcg@10", "precision@10", "recall@10"]
    assert report == evaluate_catalogue(popular, trainset, liked, threshold=1)
    assert evaluate_catalogue(popular, trainset, test).metrics == ["ndcg@10"]
    how: dict[str, Any] = {"convention": rn.Convention(recommend_from="threshold")}
    binary = [(user, item, float(rating > 3)) for user, item, rating in test]
    report = evaluate_catalogue(popular, trainset, binary, metrics="precision", **how)
    assert "threshold:1.0" in report.signature("precision@10")
    ndcg = evaluate_catalogue(popular, trainset, test, metrics="ndcg", **how)
    assert "threshold:none" in ndcg.signature("ndcg@10")
    popular.trainset = None  # nothing is asked of the algorithm
    with rejects("needs to know which items are relevant"):
        evaluate_catalogue(popular, trainset, test, metrics="recall@5")


def test_a_testset_that_is_not_among_the_candidates_gives_a_warning(split: Any) -> None:
    """Unknown items can only score 0; an anti-testset is rejected."""
    trainset, test = split
    algo = svd().fit(trainset)
    unknown = [(user, item.upper(), rating) for user, item, rating in test]
    match = f"^{len(test)} of {len(test)} test ratings are of items that are not in the trainset"
    with pytest.warns(rn.DataWarning, match=f"{match}, such as 'I.*trainset of the same split"):
        assert evaluate_catalogue(algo, trainset, unknown).counts["unlisted"] == len(test)
    for fill in (None, 0, 4):
        with rejects("build_anti_testset.., which fills in the mean.*real ratings of the test"):
            evaluate_catalogue(algo, trainset, trainset.build_anti_testset(fill))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:3 of 3000 test ratings")  # a coincidence of this sample
def test_many_users_take_little_memory() -> None:
    """The peak is far below the 96 MB of estimates of 3,000 users for 4,000 items."""
    draw = np.random.default_rng(0)
    users, items = np.repeat(np.arange(3000), 4), np.arange(12_000) % 4000
    frame = pd.DataFrame({"user": users, "item": items, "rating": draw.integers(1, 6, 12_000)})
    trainset = dataset(frame, (1, 5)).build_full_trainset()
    algo = surprise.SVD(n_factors=10, n_epochs=0, random_state=0).fit(trainset)
    test = [(user, (user * 7 + 5) % 4000, 5.0) for user in range(3000)]
    tracemalloc.start()
    rank_catalogue(algo, trainset)
    evaluate_catalogue(algo, trainset, test)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 4000 * 8


def test_estimates_that_differ_by_rounding_are_tied_at_the_cutoff() -> None:
    """The first of the trainset stays, not the one that rounding favours."""
    trainset = dataset(pd.DataFrame([(0, n, 3.0) for n in range(40)]), (0, 5)).build_full_trainset()
    algo = Tabled({(0, item): 4.0 if item else 4.0 - 4e-16 for item in range(40)}).fit(trainset)
    assert rank_catalogue(algo, trainset, 3, exclude=None)["item"].tolist() == [0, 1, 2]


def test_a_cutoff_beyond_the_catalogue_and_unknown_users_are_rejected(split: Any) -> None:
    """The message has the number of items, or the first unknown user."""
    trainset, test = split
    algo = svd().fit(trainset)
    n_items = trainset.n_items
    assert len(rank_catalogue(algo, trainset, n_items, users=["u001"], exclude=None)) == n_items
    beyond = f"k={n_items + 1}, but the catalogue has {n_items} items"
    assert_rejected(beyond, rank_catalogue, algo, trainset, n_items + 1)
    with rejects(beyond):
        evaluate_catalogue(algo, trainset, test, metrics=[f"ndcg@{n_items + 1}"])
    with rejects("1 of 2 users are not in the trainset, the first 'bob'.*predict_all"):
        rank_catalogue(algo, trainset, users=["u001", "bob"])
    with rejects("2 of 2 users of the testset are not in the trainset, such as 'ann'"):
        evaluate_catalogue(algo, trainset, [("ann", "i001", 5.0), ("bob", "i001", 2.0)])


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "item_asc", "text_desc"])
def test_one_users_gains_do_not_change_anothers_score(ties: Any) -> None:
    """A gain of 2^100 in one list leaves the other user's scores as they are, to the last bit."""
    frame = pd.DataFrame([("ann", 0, 50.0), ("bob", 0, 50.0), *(("eve", i, 9.0) for i in range(9))])
    trainset = dataset(frame, (1, 100)).build_full_trainset()
    table = {(user, item): float(item % 4) for user in ("ann", "bob", "eve") for item in range(9)}
    algo = Tabled(table).fit(trainset)
    test = [("ann", 3, 100.0), ("bob", 1, 2.0), ("bob", 2, 1.0), ("bob", 5, 3.5), ("bob", 7, 1.5)]
    names = ["ndcg", "dcg", "ap", "rr", "rbp", "precision"]
    how: dict[str, Any] = {"metrics": names, "threshold": 2, "convention": rn.Convention(ties=ties)}
    alone = evaluate_catalogue(algo, trainset, test[1:], k=[2, 4, None], **how)
    assert alone.mean["ndcg@4"] > 0.1
    for rows in (test, test[::-1]):
        together = evaluate_catalogue(algo, trainset, rows, k=[2, 4, None], **how).per_user
        pd.testing.assert_frame_equal(together.loc[["bob"]], alone.per_user, check_exact=True)


def test_lists_are_measured_by_the_rules_that_ranked_them(split: Any) -> None:
    """Another rule for ties or another tolerance is rejected."""
    trainset, test = split
    convention = rn.Convention(tie_tolerance=1e-9)
    candidates = build_candidates(svd().fit(trainset), trainset, convention=convention)
    placed = Placement(candidates, read_testset(test), Plan.of("ndcg@5")).lists()
    with rejects("were ranked with tie_tolerance=1e-09. To evaluate with tie_tolerance=0.5, rank"):
        rank(placed, convention.replace(tie_tolerance=0.5))
    with rejects("with ties=expected. To evaluate with ties=input, rank"):
        rank(placed, convention.replace(ties="input"))
