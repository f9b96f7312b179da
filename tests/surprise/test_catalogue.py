"""The whole catalogue: equal to ranking every candidate the long way, at any convention."""

from __future__ import annotations

import copy
import gc
import tracemalloc
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ranking import rank
from recsys_ndcg.scoring import Plan
from tests.errors import rejects
from tests.strategies import choices, to_convention

surprise = pytest.importorskip("surprise")

from surprise.model_selection import train_test_split  # noqa: E402

from recsys_ndcg.catalogue import candidates  # noqa: E402
from recsys_ndcg.catalogue.placement import Placement, labels_from_testset  # noqa: E402
from recsys_ndcg.surprise import (  # noqa: E402
    MostPopular,
    evaluate_catalogue,
    predict_all,
    rank_catalogue,
)
from recsys_ndcg.surprise.catalogue import candidates_of  # noqa: E402
from tests.profiles import examples  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METRICS = ["ndcg@2", "ndcg", "dcg@3", "precision@2", "recall@2", "f1@3", "ap@2", "ap", "rr", "rr@2"]
METRICS += ["hit@2", "rprecision", "rbp@3", "judged@2", "cg@2"]


class Tabled(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates what a table says, and cannot where it says nothing."""

    def __init__(self, table: dict[tuple[int, int], float | None]) -> None:
        super().__init__()
        self.table = table

    def estimate(self, user: Any, item: Any) -> float:
        """Look up."""
        if not (self.trainset.knows_user(user) and self.trainset.knows_item(item)):
            msg = "unknown"
            raise surprise.PredictionImpossible(msg)
        found = self.table[self.trainset.to_raw_uid(user), self.trainset.to_raw_iid(item)]
        if found is None:
            msg = "not in the table"
            raise surprise.PredictionImpossible(msg)
        return found


@st.composite
def experiments(draw: Callable[[Any], Any]) -> tuple[Any, Any, list[tuple[int, int, float]]]:
    """Draw a few users and items: training ratings, a table of estimates with ties, a test."""
    users, items = range(draw(st.integers(1, 4))), range(8, 8 + draw(st.integers(2, 6)))
    pairs = [(user, item) for user in users for item in items]
    rated = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8, unique=True))
    frame = pd.DataFrame([(*pair, 3.0) for pair in rated])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0, 5)))
    trainset = data.build_full_trainset()
    grades = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
    estimates = st.sampled_from([None, 0.1, 0.3, 2.0, 2.0000000001, 4.0, 7.0])
    table = {pair: draw(estimates) for pair in pairs}
    test = draw(st.lists(st.sampled_from([*pairs, (99, 8), (0, 98)]), min_size=1, unique=True))
    return Tabled(table).fit(trainset), trainset, [(*pair, draw(grades)) for pair in test]


def ranked_the_long_way(
    algo: Any, trainset: Any, test: list[tuple[int, int, float]], **options: Any
) -> rn.RankedLists:
    """Predict every candidate of every user of the test, and join the test to them."""
    clip, exclude = options.get("clip", False), options.get("exclude", "train")
    rows = []
    for user in dict.fromkeys(one for one, _, _ in test):
        seen: set[int] = set()
        if exclude and user in {trainset.to_raw_uid(inner) for inner in trainset.all_users()}:
            seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
        items = [trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen]
        rows += [algo.predict(user, item, clip=clip) for item in items]
    assume(rows)
    labels = pd.DataFrame(test, columns=["user", "item", "true"])
    return rn.RankedLists.from_labels(labels, rows)


def estimated(lists: rn.RankedLists) -> rn.RankedLists:
    """Return joined lists as ones of which it is known that the estimates are ratings."""
    return replace(lists, protocol="rated")


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
    experiment: tuple[Any, Any, list[tuple[int, int, float]]],
    chosen: Any,
    impossible: str,
    clip: bool,  # noqa: FBT001
    coarse: float | None,
) -> None:
    """Every metric, every convention: per user, pooled, and what stands beside them."""
    algo, trainset, test = experiment
    convention = to_convention(chosen).replace(impossible=impossible)
    if coarse or convention.tie_tolerance == 0:
        convention = convention.replace(tie_tolerance=coarse or 1e-9)
    names = METRICS
    if convention.ties == "expected" and convention.ap_over == "hits":
        names = [name for name in METRICS if not name.startswith("ap")]
    how = {"metrics": names, "k": None, "threshold": chosen.threshold, "convention": convention}
    known = {trainset.to_raw_uid(inner) for inner in trainset.all_users()}
    assume(trainset.n_items >= 3 and known & {user for user, _, _ in test})
    lists = estimated(ranked_the_long_way(algo, trainset, test, clip=clip))
    # the catalogue refuses an anti-testset: every candidate labelled, all alike
    is_unlabelled = lists.n_unlabelled and impossible != "drop"
    assume(is_unlabelled or len({grade for _, _, grade in test}) > 1)
    try:
        long = rn.evaluate(lists, **how)
    except rn.InvalidInputError:
        with pytest.raises(rn.InvalidInputError):
            evaluate_catalogue(algo, trainset, test, clip=clip, **how)
        return
    report = evaluate_catalogue(algo, trainset, test, clip=clip, **how)
    pd.testing.assert_frame_equal(report.per_user, long.per_user, rtol=1e-12, atol=1e-12)
    pd.testing.assert_series_equal(report.pooled, long.pooled, rtol=1e-12, atol=1e-12)
    # what is dropped before ranking is no row of the catalogue, and no item is taken for relevant
    beside = ["unlabelled_top"] + (["unlabelled"] if impossible == "drop" else [])
    pd.testing.assert_frame_equal(
        report.audit.drop(columns=beside), long.audit.drop(columns=beside), rtol=1e-12, atol=1e-12
    )
    counts = {**long.counts}
    counts["candidates"] = counts.pop("ratings")
    if impossible == "drop":
        counts |= {name: report.counts[name] for name in ("candidates", "unlabelled", "unlisted")}
    assert report.counts == counts


def test_what_could_not_be_predicted_is_not_recommended_from_any_limit() -> None:
    """Last of all, by an estimate that nobody made."""
    pairs = [(1, 7), (1, 8), (2, 9), (2, 10)]
    frame = pd.DataFrame([(*pair, 3.0) for pair in pairs])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0, 5)))
    trainset = data.build_full_trainset()
    found: dict[Any, Any] = {(1, 9): 4.0, (1, 10): None, (2, 7): None, (2, 8): 2.0}
    algo = Tabled(dict.fromkeys(pairs, 3.0) | found).fit(trainset)
    convention = rn.Convention(impossible="last", recommend_from=-1000.0, tie_tolerance=1e-9)
    report = evaluate_catalogue(
        algo, trainset, [(1, 9, 4.0), (2, 7, 4.0), (2, 8, 1.0)],
        metrics=["precision", "recall"], k=None, threshold=4, convention=convention,
    )  # fmt: skip
    assert report.per_user["precision"].tolist() == [1.0, 0.0]
    assert report.per_user["recall"].tolist() == [1.0, 0.0]


ALGORITHMS: dict[str, Callable[[], Any]] = {
    "SVD": lambda: surprise.SVD(n_factors=5, random_state=0),
    "SVD unbiased": lambda: surprise.SVD(n_factors=5, biased=False, random_state=0),
    "SVDpp": lambda: surprise.SVDpp(n_factors=3, n_epochs=2, random_state=0),
    "NMF": lambda: surprise.NMF(n_factors=3, n_epochs=5, random_state=0),
    "BaselineOnly": lambda: surprise.BaselineOnly(verbose=False),
    "KNNBasic": lambda: surprise.KNNBasic(verbose=False),
    "KNNWithMeans items": lambda: surprise.KNNWithMeans(
        sim_options={"user_based": False}, verbose=False
    ),
    "KNNWithZScore": lambda: surprise.KNNWithZScore(k=5, verbose=False),
    "KNNBaseline": lambda: surprise.KNNBaseline(
        sim_options={"name": "pearson_baseline"}, verbose=False
    ),
    "SlopeOne": surprise.SlopeOne,
    "CoClustering": lambda: surprise.CoClustering(random_state=0),
    "MostPopular": MostPopular,
}


@pytest.fixture(scope="module")
def split() -> tuple[Any, Any]:
    """Ratings in whole stars, a quarter of them for the test."""
    ratings = sample_ratings(80, 90)[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(
        ratings.assign(rating=np.ceil(ratings["rating"])), surprise.Reader(rating_scale=(1, 5))
    )
    split: tuple[Any, Any] = train_test_split(data, test_size=0.25, random_state=0)
    return split


def sorted_by_hand(algo: Any, trainset: Any, user: str, *, clip: bool) -> list[tuple[str, float]]:
    """Predict, round and sort every item that the user did not rate."""
    seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
    items = [trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen]
    pairs = [(item, float(algo.predict(user, item, clip=clip).est)) for item in items]
    return sorted(pairs, key=lambda pair: -round(pair[1] / 1e-9))


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_top_of_the_catalogue_is_that_of_predict(
    split: tuple[Any, Any],
    name: str,
    clip: bool,  # noqa: FBT001
) -> None:
    """In the order of the users asked for; equal estimates in the trainset's order."""
    trainset, _ = split
    algo = ALGORITHMS[name]().fit(trainset)
    users = [trainset.to_raw_uid(inner) for inner in (7, 0, 30)]
    top = rank_catalogue(algo, trainset, 6, users=users, clip=clip)
    assert top["user"].unique().tolist() == users
    for user, rows in top.groupby("user"):
        expected = sorted_by_hand(algo, trainset, str(user), clip=clip)[:6]
        assert rows["item"].tolist() == [item for item, _ in expected]
        assert rows["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        np.testing.assert_allclose(rows["estimated"], [one for _, one in expected], atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 40, None])
def test_a_cutoff_of_any_size_and_blocks_of_any_size_give_the_same(
    split: tuple[Any, Any], k: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's list is never cut where a block of users ends."""
    trainset, test = split
    algo = ALGORITHMS["KNNBasic"]().fit(trainset)
    whole = rank_catalogue(algo, trainset, k)
    report = evaluate_catalogue(algo, trainset, test, k=k)
    monkeypatch.setattr(candidates, "_CELLS", 200)
    pd.testing.assert_frame_equal(rank_catalogue(algo, trainset, k), whole)
    again = evaluate_catalogue(algo, trainset, test, k=k)
    pd.testing.assert_frame_equal(again.per_user, report.per_user)
    sizes = whole.groupby("user").size()
    rated = pd.Series({trainset.to_raw_uid(u): len(trainset.ur[u]) for u in trainset.all_users()})
    assert (sizes == np.minimum(k or 1000, trainset.n_items - rated)[sizes.index]).all()


def test_every_estimate_is_that_of_predict(split: tuple[Any, Any]) -> None:
    """Known and unknown users and items, cut to the scale or not."""
    trainset, _ = split
    users, items = [trainset.to_raw_uid(3), "nobody"], [trainset.to_raw_iid(5), "nothing"]
    for name, make in ALGORITHMS.items():
        algo = make().fit(trainset)
        for clip in (True, False):
            table = predict_all(algo, users, items, clip=clip)
            expected = [[algo.predict(u, i, clip=clip).est for i in items] for u in users]
            np.testing.assert_allclose(table, expected, atol=1e-9, err_msg=name)
    assert predict_all(algo).shape == (trainset.n_users, trainset.n_items)


class ByContent(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that knows more of its users than Surprise does."""

    def predict(self, uid: Any, iid: Any, *_: Any, **__: Any) -> Any:
        """Estimate by how the ids are written."""
        return surprise.Prediction(uid, iid, None, len(str(uid)) + len(str(iid)) / 100, {})


@pytest.mark.filterwarnings("ignore:Tied estimates")
def test_an_algorithm_of_ones_own_is_asked_about_strangers_by_their_ids(
    split: tuple[Any, Any],
) -> None:
    """Not about nobody in particular."""
    trainset, _ = split
    algo = ByContent().fit(trainset)
    table = predict_all(algo, ["a stranger"], ["an item"], clip=False)
    assert table.loc["a stranger", "an item"] == 10.07
    with pytest.warns(rn.DataWarning, match="2 of 3 users .* such as 'a stranger'"):
        report = evaluate_catalogue(
            algo, trainset, [(user, "i001", 5.0) for user in ("u001", "a stranger", "bob")]
        )
    assert report.explain("a stranger", 1)["estimated"].tolist() == [10.04]


@pytest.mark.filterwarnings("ignore:Tied estimates")
def test_baselines_stand_in_every_catalogue_report(split: tuple[Any, Any], tmp_path: Path) -> None:
    """The most popular items by a report of their own, and chance; kept in files and renderings."""
    trainset, test = split
    algo = ALGORITHMS["SVD"]().fit(trainset)
    names = ["ndcg@10", "recall@5", "rr"]
    report = evaluate_catalogue(algo, trainset, test, metrics=names, threshold=4)
    model = MostPopular().fit(trainset)
    popular = evaluate_catalogue(model, trainset, test, metrics=names, threshold=4)
    assert report.baselines.index.tolist() == ["MostPopular", "chance"]
    np.testing.assert_allclose(report.baselines.loc["MostPopular"], popular.mean)
    np.testing.assert_allclose(report.baselines.loc["chance"], report.summary["chance"])
    assert report.mean["recall@5"] < popular.mean["recall@5"]
    assert "MostPopular is as good or better in" in str(report)
    for text in (str(report), report.to_markdown(), report.to_latex(), report.to_html()):
        assert "popular" in text
    report.save(tmp_path / "svd.json")
    again = rn.Report.load(tmp_path / "svd.json")
    pd.testing.assert_frame_equal(again.baselines, report.baselines)
    assert str(again) == str(report)
    rated = rn.evaluate(algo.test(test), threshold=4)
    assert rated.baselines.index.tolist() == ["chance"]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_report_without_the_impossible_predictions_is_kept_in_a_file(
    split: tuple[Any, Any], tmp_path: Path
) -> None:
    """They are counted, but not among the rows."""
    trainset, test = split
    table = {
        (trainset.to_raw_uid(user), trainset.to_raw_iid(item)): None if item % 4 else user + item
        for user in trainset.all_users()
        for item in trainset.all_items()
    }
    algo = Tabled(table).fit(trainset)
    report = evaluate_catalogue(
        algo, trainset, test, metrics="ndcg@5", convention=rn.Convention(impossible="drop")
    )
    counts = report.scores.counts
    assert (counts.impossible > counts.ratings).any()
    report.save(tmp_path / "r.json")
    assert rn.Report.load(tmp_path / "r.json") == report


def test_popularity_is_the_number_of_ratings(split: tuple[Any, Any]) -> None:
    """Scaled so that clipping leaves its order alone."""
    trainset, _ = split
    algo = MostPopular().fit(trainset)
    counts = {trainset.to_raw_iid(inner): len(trainset.ir[inner]) for inner in trainset.all_items()}
    items = sorted(counts, key=lambda item: counts[item])
    estimates = [algo.predict("u001", item).est for item in items]
    expected = [1 + 4 * counts[item] / max(counts.values()) for item in items]
    np.testing.assert_allclose(estimates, expected)
    assert algo.predict("u001", "unknown").est == 1


@pytest.mark.parametrize("unlisted", ["count", "ignore"])
def test_a_score_of_the_catalogue_can_be_explained(split: tuple[Any, Any], unlisted: str) -> None:
    """Rank by rank, from all candidates: the last NDCG is the user's."""
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


@pytest.mark.filterwarnings("ignore:Tied estimates")
def test_a_report_shows_what_was_measured_whatever_becomes_of_the_algorithm(
    split: tuple[Any, Any],
) -> None:
    """Fitted again, random, or gone: a report is a value, and keeps neither model nor trainset."""
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
    with rejects("keeps the first 10 ranks of each list.*up to k=10"):
        own.explain(user, 11)
    with rejects("keeps the first 10 ranks"):
        own.explain(user, None)


def test_impossible_estimates_come_last_for_each_user_alone() -> None:
    """Below any estimate, also of a scale that goes below 0; and can be explained there."""
    items = range(8, 12)
    frame = pd.DataFrame([(user, 8, -3.0) for user in (0, 1)] + [(2, item, 1.0) for item in items])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(-10, 10)))
    trainset = data.build_full_trainset()
    values = {9: -2.0, 10: None, 11: -8.0}
    table = {(user, item): values.get(item, 1.0) for user in (0, 1) for item in items}
    table[1, 11] = -900.0
    algo = Tabled(table).fit(trainset)
    last = rn.Convention(impossible="last", gain="binary")
    test = [(0, 10, 5.0), (1, 10, 5.0), (1, 9, 0.0)]
    report = evaluate_catalogue(
        algo, trainset, test, metrics=["rr", "ndcg@3"], threshold=4, convention=last
    )
    assert report.per_user["rr"].tolist() == [1 / 3, 1 / 3]
    assert report.counts["impossible"] == 2
    for user in (0, 1):
        assert report.explain(user, 3)["item"].tolist() == [9, 11, 10]


def test_a_threshold_is_settled_before_anything_is_ranked(split: tuple[Any, Any]) -> None:
    """1 where all labels are 0 or 1, also for what counts as recommended; else it is asked for."""
    trainset, test = split
    algo = ALGORITHMS["SVD"]().fit(trainset)
    convention = rn.Convention(recommend_from="threshold")
    binary = [(user, item, float(rating > 3)) for user, item, rating in test]
    options: dict[str, Any] = {"threshold": None, "convention": convention}
    report = evaluate_catalogue(algo, trainset, binary, metrics="precision", **options)
    assert "threshold:1.0" in report.signature("precision@10")
    alone = evaluate_catalogue(algo, trainset, test, metrics="ndcg", **options)
    assert "threshold:none" in alone.signature("ndcg@10")
    algo.trainset = None  # nothing is asked of the algorithm
    with rejects("needs to know which items are relevant"):
        evaluate_catalogue(algo, trainset, test, metrics="recall@5", threshold=None)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_binary_ratings_need_no_threshold(split: tuple[Any, Any]) -> None:
    """All of the usual metrics are measured, as with a threshold of 1; of graded ones ndcg."""
    trainset, testset = split
    popular = MostPopular().fit(trainset)
    binary = [(user, item, 1.0) for user, item, _ in testset]
    report = evaluate_catalogue(popular, trainset, binary)
    assert report.metrics == ["ndcg@10", "precision@10", "recall@10"]
    assert report == evaluate_catalogue(popular, trainset, binary, threshold=1)
    assert evaluate_catalogue(popular, trainset, testset).metrics == ["ndcg@10"]


def test_a_testset_of_no_candidates_is_warned_of(split: tuple[Any, Any]) -> None:
    """Ratings of the training, or of items that nobody knows, can only score 0."""
    trainset, test = split
    algo = ALGORITHMS["SVD"]().fit(trainset)
    with pytest.warns(rn.DataWarning, match="rated in training: no list has any of them"):
        report = evaluate_catalogue(algo, trainset, trainset.build_testset(), threshold=4)
    assert report.mean["recall@10"] == 0
    unknown = [(user, item.upper(), rating) for user, item, rating in test]
    match = f"^{len(test)} of {len(test)} test ratings are of items that are not in the trainset"
    with pytest.warns(rn.DataWarning, match=f"{match}, such as 'I.*trainset of the same split"):
        assert evaluate_catalogue(algo, trainset, unknown).counts["unlisted"] == len(test)
    with pytest.warns(rn.DataWarning, match="above every true value .*is 5"):
        evaluate_catalogue(algo, trainset, test, threshold=8)


def test_an_anti_testset_is_no_test_of_the_catalogue(split: tuple[Any, Any]) -> None:
    """All candidates labelled, all alike."""
    trainset, _ = split
    algo = ALGORITHMS["SVD"]().fit(trainset)
    for fill in (None, 0, 4):
        with rejects("build_anti_testset.., which fills in the mean.*real ratings of a test"):
            evaluate_catalogue(algo, trainset, trainset.build_anti_testset(fill))


@pytest.mark.filterwarnings("ignore:3 of 3000 test ratings")  # which chance has put in both
def test_many_users_take_little_memory() -> None:
    """Far less than their estimates would: 3,000 users by 4,000 items are 96 MB."""
    draw = np.random.default_rng(0)
    users, items = np.repeat(np.arange(3000), 4), np.arange(12_000) % 4000
    frame = pd.DataFrame({"user": users, "item": items, "rating": draw.integers(1, 6, 12_000)})
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    trainset = data.build_full_trainset()
    algo = surprise.SVD(n_factors=10, n_epochs=0, random_state=0).fit(trainset)
    test = [(user, (user * 7 + 5) % 4000, 5.0) for user in range(3000)]
    tracemalloc.start()
    rank_catalogue(algo, trainset)
    evaluate_catalogue(algo, trainset, test)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 4000 * 8


def test_estimates_equal_but_for_their_last_digits_are_tied_at_the_cutoff() -> None:
    """So that the first of the trainset stays, not the one that arithmetic favours."""
    items = range(40)
    frame = pd.DataFrame([(0, item, 3.0) for item in items])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0, 5)))
    trainset = data.build_full_trainset()
    table: dict[tuple[int, int], float | None] = {(0, item): 4.0 for item in items}
    table[0, 0] = 4.0 - 4e-16
    top = rank_catalogue(Tabled(table).fit(trainset), trainset, 3, exclude=None)
    assert top["item"].tolist() == [0, 1, 2]


def test_what_the_catalogue_does_not_reach_is_refused(split: tuple[Any, Any]) -> None:
    """A cutoff beyond its items, and users whom the trainset does not know."""
    trainset, test = split
    algo = ALGORITHMS["SVD"]().fit(trainset)
    n_items = trainset.n_items
    assert len(rank_catalogue(algo, trainset, n_items, users=["u001"], exclude=None)) == n_items
    beyond = f"k={n_items + 1}, but the catalogue has {n_items} items"
    with rejects(beyond):
        rank_catalogue(algo, trainset, n_items + 1)
    with rejects(beyond):
        evaluate_catalogue(algo, trainset, test, metrics=[f"ndcg@{n_items + 1}"])
    with rejects("1 of 2 users are not in the trainset, the first 'bob'.*predict_all"):
        rank_catalogue(algo, trainset, users=["u001", "bob"])
    with rejects("2 of 2 users of the testset are not in the trainset, such as 'ann'"):
        evaluate_catalogue(algo, trainset, [("ann", "i001", 5.0), ("bob", "i001", 2.0)])


def _hundred() -> tuple[Any, Any, list[tuple[str, int, float]]]:
    """Train on a scale of 100, with one test rating of the top grade and some of the lowest."""
    frame = pd.DataFrame([("ann", 0, 50.0), ("bob", 0, 50.0), *(("eve", i, 9.0) for i in range(9))])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 100)))
    trainset = data.build_full_trainset()
    table: dict[tuple[Any, Any], float | None] = {
        (user, item): float(item % 4) for user in ("ann", "bob", "eve") for item in range(9)
    }
    test = [("ann", 3, 100.0), ("bob", 1, 2.0), ("bob", 2, 1.0), ("bob", 5, 3.0), ("bob", 7, 1.5)]
    return Tabled(table).fit(trainset), trainset, test


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "item_asc", "text_desc"])
def test_one_users_gains_do_not_destroy_anothers_score(ties: str) -> None:
    """2^100 in one user's list, and bob's score is still what it is alone, to the last bit."""
    algo, trainset, test = _hundred()
    how: dict[str, Any] = {"k": [2, 4], "threshold": 2, "convention": rn.Convention(ties=ties)}
    alone = evaluate_catalogue(algo, trainset, [row for row in test if row[0] == "bob"], **how)
    together = evaluate_catalogue(algo, trainset, test, **how)
    assert alone.mean["ndcg@4"] > 0.1
    pd.testing.assert_frame_equal(together.per_user.loc[["bob"]], alone.per_user, check_exact=True)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_score_does_not_depend_on_the_other_users_of_the_testset(split: tuple[Any, Any]) -> None:
    """Half-star gains, in lists with and without ties: alone, in another order, among all."""
    trainset, test = split
    algo = ALGORITHMS["KNNBasic"]().fit(trainset)
    test = [(user, item, rating - 0.5) for user, item, rating in test]
    names = ["ndcg@10", "ndcg", "dcg", "ap", "rr", "rbp", "precision@5"]
    how: dict[str, Any] = {"metrics": names, "k": None, "threshold": 3.5}
    together = evaluate_catalogue(algo, trainset, test, **how).per_user
    mixed = evaluate_catalogue(algo, trainset, test[::-1], **how).per_user
    pd.testing.assert_frame_equal(mixed, together, check_exact=True)
    for user in together.index[:12]:
        own = [row for row in test if row[0] == user]
        alone = evaluate_catalogue(algo, trainset, own, **how).per_user
        pd.testing.assert_frame_equal(alone, together.loc[[user]], check_exact=True)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@examples(0.6)
@given(experiments(), choices, st.sampled_from([1, 3, None]))
def test_lists_that_hold_places_are_ranked_like_whole_ones(
    experiment: tuple[Any, Any, list[tuple[int, int, float]]], chosen: Any, depth: int | None
) -> None:
    """Every table of a `Ranking`; and another rule for ties or tolerance is refused."""
    algo, trainset, test = experiment
    convention = to_convention(chosen).replace(tie_tolerance=1e-9, unlabelled="zero")
    known = {trainset.to_raw_uid(inner) for inner in trainset.all_users()}
    assume(known & {user for user, _, _ in test})
    whole = ranked_the_long_way(algo, trainset, test)
    plan = Plan.of("precision", threshold=chosen.threshold, convention=convention)
    candidates = candidates_of(algo, trainset, convention=convention)
    placed = Placement(candidates, labels_from_testset(test), plan).lists()
    try:
        expected = rank(whole, convention, depth, threshold=chosen.threshold)
    except rn.InvalidInputError:
        with pytest.raises(rn.InvalidInputError):
            rank(placed, convention, depth, threshold=chosen.threshold)
        return
    ours = rank(placed, convention, depth, threshold=chosen.threshold)
    for name in (
        "gain", "relevance", "labelled", "relevance_so_far", "first_hit", "ideal_gain",
        "n_items", "n_labelled", "n_relevant", "n_recommended",
    ):  # fmt: skip
        np.testing.assert_allclose(
            getattr(ours, name), getattr(expected, name), rtol=1e-12, atol=1e-12, err_msg=name
        )
    with rejects("hold the places of their items under tie_tolerance=1e-09, not tie_tolerance=0.5"):
        rank(placed, convention.replace(tie_tolerance=0.5))
    other = "item_asc" if convention.ties != "item_asc" else "input"
    with rejects(f"under ties={convention.ties}, not ties={other}"):
        rank(placed, convention.replace(ties=other))
