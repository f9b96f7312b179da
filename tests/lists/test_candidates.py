"""Lists chosen from a catalogue: their chance level is the mean over lists drawn from it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics.metric import Linear
from tests.errors import assert_rejected, rejects
from tests.profiles import examples

METRICS = ["ndcg", "dcg", "precision", "recall", "f1", "hit", "ap", "rr", "judged", "rbp"]
LABELS = {"a": 5.0, "b": 1.0, "c": 4.0}


def _report(grades: Any, listed: Any, options: dict[str, Any], **size: Any) -> rn.Report:
    lists = rn.RankedLists.from_labels({"u": grades}, {"u": list(listed)}, **size)
    return rn.evaluate(lists, **options)


CHOICES: dict[str, list[Any]] = {
    "gain": ["exponential", "linear", "binary"], "discount": ["log2", "reciprocal"],
    "ideal": ["global", "max"], "short_list": ["k", "n"], "recall_over": ["relevant", "capped"],
    "ap_over": ["relevant", "capped", "k"], "undefined": ["skip", 0.0, 1.0],
    "mean_over": ["all", "relevant"],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Exponential gain")
@pytest.mark.filterwarnings("ignore:threshold=4 is")
@examples(0.6)
@given(
    grades=st.lists(st.sampled_from([0.0, 1.0, 4.0, 5.0, 30.0]), min_size=1, max_size=4),
    others=st.integers(0, 2),
    shown=st.integers(1, 3),
    k=st.sampled_from([1, 2, 3, 10, None]),
    choices=st.fixed_dictionaries({name: st.sampled_from(own) for name, own in CHOICES.items()}),
)
def test_chance_is_the_mean_over_every_list_that_could_be_drawn(
    grades: list[float], others: int, shown: int, k: int | None, choices: dict[str, Any]
) -> None:
    """And the worst and best are the least and the greatest of them, z is over their spread."""
    items = [f"i{place}" for place in range(len(grades) + others)]
    shown = min(shown, len(items))
    labelled = dict(zip(items, grades, strict=False))
    convention = rn.Convention(max_grade=30.0 if choices["ideal"] == "max" else None, **choices)
    if k is None:
        convention = convention.replace(ap_over="relevant", recall_over="relevant")
    options: Any = {"metrics": METRICS, "k": k, "threshold": 4, "convention": convention}
    drawn = {f"u{place}": list(draw) for place, draw in enumerate(permutations(items, shown))}
    lists = rn.RankedLists.from_labels(dict.fromkeys(drawn, labelled), drawn)
    draws = rn.evaluate(lists, **options)  # each list that could be drawn, as a user's
    report = _report(labelled, items[:shown], options, n_items=len(items))
    chance = report.per_user_audit(report.metrics[0])
    assert chance["chance"].notna().all() or report.mean.isna().iloc[0]
    for one in report._data.scores.measurements:
        name = str(one)
        own, all_ = report.per_user_audit(name).iloc[0], draws.per_user[name]
        levels = own[["chance", "worst", "best"]].astype(float)
        expected, spread = [all_.mean(), all_.min(), all_.max()], all_.std(ddof=0)
        np.testing.assert_allclose(levels, expected, rtol=1e-9, atol=1e-12)
        assert isinstance(one.metric, Linear) or np.isnan(own["z"])
        if isinstance(one.metric, Linear) and spread > 1e-9:
            z = (report.per_user[name].iloc[0] - all_.mean()) / spread
            np.testing.assert_allclose(own["z"], z, rtol=1e-6, atol=1e-9)


def test_supplied_lists_and_a_catalogue_are_distinguished() -> None:
    """In the signature, the counts and the text."""
    options: Any = {"metrics": ["ndcg@2"], "threshold": 4}
    supplied = _report(LABELS, ["a", "x"], options)
    catalogue = _report(LABELS, ["a", "x"], options, n_items=1000)
    assert supplied.mean.equals(catalogue.mean)
    assert "|protocol:catalogue|" in catalogue.signature("ndcg@2")
    assert not {"ratings", "candidates"} & {*supplied.counts}
    assert (catalogue.counts["recommended"], catalogue.counts["candidates"]) == (2, 1000)
    assert str(supplied).startswith("1 user, 2 recommended items\n")
    assert str(catalogue).startswith("1 user, 2 recommended items, 1000 candidates\n")
    assert "A random order of each list would already score" in str(supplied)


def test_the_size_is_given_in_any_form(tmp_path: Any) -> None:
    """A number, one for each user, or the items."""
    options: Any = {"metrics": ["ndcg@2"]}
    ids = [*"abcxyz", "1"]
    numbers: list[Any] = [7, {"u": np.int64(7)}, pd.Series({"u": 7})]
    reports = [_report(LABELS, ["a", "x"], options, n_items=number) for number in numbers]
    reports += [_report(LABELS, ["a", "x"], options, items=one) for one in (ids, np.array(ids))]
    assert all(one.audit.equals(reports[0].audit) for one in reports)
    reports[0].save(tmp_path / "r.json")
    assert rn.Report.load(tmp_path / "r.json").counts == reports[0].counts
    assert reports[0].take(["u"]).audit.equals(reports[0].audit)
    trec = {"u": LABELS}, {"u": {"a": 2.0, "x": 1.0}}
    for size in ({"n_items": 7}, {"items": ids}):
        report = rn.evaluate(rn.RankedLists.from_trec(*trec, **size), **options)
        assert report.audit["chance"].equals(reports[0].audit["chance"])


def test_predictions_of_ratings_stay_so_if_the_catalogue_is_known() -> None:
    """Only their own order is by chance: they are no lists drawn from the catalogue."""
    rows = [("u", "a", 5.0, 2.0), ("u", "b", 1.0, 3.0)]
    known = rn.evaluate(rows, metrics="ndcg@1", catalogue=[*"abcxyz"])
    assert "|protocol:rated|" in known.signature("ndcg@1")
    assert known.audit.equals(rn.evaluate(rows, metrics="ndcg@1").audit)


def test_labels_beyond_the_catalogue_are_out_of_reach() -> None:
    """They count as relevant, and no draw finds them."""
    options: Any = {"metrics": ["recall@1"], "threshold": 4}
    report = _report(LABELS, ["a"], options, items=["a", "b"])  # c is relevant, and not there
    assert report.audit[["best", "chance"]].to_numpy().tolist() == [[0.5, 0.25]]
    whole = _report(LABELS, ["a"], options, n_items=3)
    assert whole.audit["chance"].iloc[0] == pytest.approx(1 / 3)


def test_a_user_without_a_list_draws_nothing() -> None:
    """The chance of an empty list is that it scores 0."""
    lists = rn.RankedLists.from_labels({"u": LABELS, "v": LABELS}, {"u": ["a", "b"]}, n_items=9)
    report = rn.evaluate(lists, metrics="recall@2", threshold=4)
    assert report.per_user_audit("recall@2")["chance"].tolist() == [pytest.approx(2 / 9), 0.0]


DEPENDENT = [
    ("auc", {}), ("ndcg@2", {"ideal": "local"}), ("ndcg@2", {"unlabelled": "filter"}),
    ("recall@2", {"unlisted": "ignore"}),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "choices"), DEPENDENT)
def test_a_metric_that_depends_on_the_draw_has_no_chance_level(metric: str, choices: Any) -> None:
    """There is no exact number, so there is none."""
    options = {"metrics": metric, "threshold": 4, "convention": rn.Convention(**choices)}
    audit = _report(LABELS, ["a", "x", "b"], options, n_items=9).audit
    assert audit[["chance", "worst", "best", "z"]].isna().all(axis=None)
    assert _report(LABELS, ["a", "x", "b"], options).audit["chance"].notna().all()


@pytest.mark.parametrize("metric", ["novelty@2", "popularity@2", "epc@2", "tail@2"])
def test_a_metric_of_items_has_no_chance_level_if_only_their_number_is_known(metric: str) -> None:
    """Which items could be drawn is not known."""
    train = pd.DataFrame({"user": [*"vvvw"], "item": [*"aaxx"]}).drop_duplicates()
    lists = rn.RankedLists.from_labels({"u": LABELS}, {"u": ["a", "x"]}, n_items=9)
    report = rn.evaluate(lists, metrics=metric, train=train, threshold=4)
    assert report.mean.notna().all()
    assert report.audit[["chance", "worst", "best", "z"]].isna().all(axis=None)


SIZES: list[tuple[dict[str, Any], str]] = [
    ({"items": ["a", "b", "c"]}, "items= lacks the items of 1 results, the first user 'u' item"),
    ({"n_items": {"u": 3}}, "items, 3, is less than the 4 different ones of user 'u' in"),
    ({"items": ["a", "x"], "n_items": 9}, "n_items= and items= exclude each other"),
    ({"n_items": {"v": 9}}, "1 users have no number of items, the first 'u'"),
    ({"n_items": 2}, "items, 2, is less than the 4 different ones in labels"),
    ({"n_items": 0}, "number of items must be whole and at least 1, not 0"),
    ({"items": [1, 2]}, "item: the items of items= have ids of type number"),
    ({"n_items": 7.0}, "number of items must be whole .* not 7.0"),
    ({"n_items": ["a", "x"]}, "Pass a list of items as catalogue="),
    ({"items": []}, "items is empty"),
    ({"items": "abcx"}, "items: found text"),
]  # fmt: skip


@pytest.mark.parametrize(("size", "match"), SIZES)
def test_an_impossible_size_is_rejected(size: dict[str, Any], match: str) -> None:
    """With what to give instead."""
    assert_rejected(match, _report, LABELS, ["a", "x"], {}, **size)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # the tables share no item
def test_a_size_below_the_items_of_both_tables_is_rejected() -> None:
    """Each user would fit, but not all of them together."""
    labels, results = {"u": {"a": 5}, "v": {"b": 5}}, {"u": ["c", "d"], "v": ["e", "f"]}
    with rejects("items, 5, is less than the 6 different ones in labels"):
        rn.RankedLists.from_labels(labels, results, n_items=5)
    lists = rn.RankedLists.from_labels(labels, results, n_items={"u": 5, "v": 3})
    assert lists.protocol == "catalogue"


def test_the_first_ranks_of_a_catalogue_have_the_levels_of_the_whole() -> None:
    """If the number of candidates of each user is given."""
    pytest.importorskip("surprise")
    from recsys_ndcg.surprise import evaluate_catalogue, rank_catalogue  # noqa: PLC0415
    from tests.surprise.samples import TABLE, dataset, svd  # noqa: PLC0415

    test = TABLE.sample(frac=0.2, random_state=0)
    train = TABLE.drop(test.index)
    test = test[test["item"].isin(train["item"])]
    trainset = dataset(train).build_full_trainset()
    algo = svd().fit(trainset)
    options: Any = {"metrics": ["ndcg@5", "precision@5", "recall@5", "hit@5"], "threshold": 4}
    rows = list(test.itertuples(index=False, name=None))
    whole = evaluate_catalogue(algo, trainset, rows, **options)
    first = rank_catalogue(algo, trainset, k=5, users=whole.users).drop(columns="rank")
    labels, sizes = test.rename(columns={"rating": "true"}), whole.per_user["n_items"]
    report = rn.evaluate(rn.RankedLists.from_labels(labels, first, n_items=sizes), **options)
    columns = ["chance", "adjusted", "z", "worst", "best", "trivial"]
    pd.testing.assert_frame_equal(report.audit[columns], whole.audit[columns], rtol=1e-9)
    assert report.counts["candidates"] == whole.counts["candidates"] == sizes.sum()
    differences = report.signature("hit@5").differences(whole.signature("hit@5"))
    assert differences == {"tie_tolerance": (0.0, 1e-9)}


def test_an_own_metric_has_a_chance_level_if_its_denominator_is_known_to_be_fixed() -> None:
    """`same_denominator` declares it; unknown is NaN rather than wrong."""

    class Found(rn.Metric):
        """The number of relevant items over a number that depends on the list."""

        name, reads = "found", rn.Precision.reads

        def numerator(self, ranking: Any) -> Any:
            return ranking.relevance[:, : self.k].sum(axis=1)

        def denominator(self, ranking: Any) -> Any:
            return ranking.labelled.sum(axis=1) + ranking.n_items / 2

    fixed = type("Fixed", (Found,), {"name": "fixed", "same_denominator": True})
    steep = rn.metric(name="steep")(lambda rank: 1.0 / rank)
    metrics: Any = [rn.metric(Found)(2), rn.metric(fixed)(2), steep(2)]
    report = _report(LABELS, ["a", "x"], {"metrics": metrics, "threshold": 4}, n_items=10)
    assert report.audit["chance"].isna().tolist() == [True, False, False]
