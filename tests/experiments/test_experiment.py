"""rn.experiment: every model in every fold of every seed, as if one had done it by hand."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from surprise import BaselineOnly, Dataset, KNNBasic, NormalPredictor, Reader, SlopeOne
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.surprise import SVD, LeaveNOut, MostPopular, TimeSplit, UserKFold, cross_validate
from tests.experiments.made import Elsewhere, Failing, item_means, models, ratings, run

if TYPE_CHECKING:
    from recsys_ndcg.experiments.cells import Result


def _dataset() -> Any:
    table = ratings()[["user", "item", "rating"]]
    scale = table["rating"].min(), table["rating"].max()
    return Dataset.load_from_df(table, Reader(rating_scale=scale))


@pytest.mark.parametrize("seed", [0, 7])
def test_it_is_cross_validation_of_each(seed: int) -> None:
    """The numbers are those of cross_validate on the same folds, under both protocols."""
    found = run(protocol="both", metrics=["ndcg@5", "recall@5"], threshold=4, seeds=[seed])
    measures = ["ndcg@5", "recall@5", "ndcg@5:catalogue", "recall@5:catalogue"]
    assert found.metrics == measures
    by_hand = {
        name: cross_validate(
            one, _dataset(), measures, cv=UserKFold(2, random_state=seed), threshold=4
        )
        for name, one in {
            "SVD": SVD(n_factors=3, n_epochs=2, random_state=seed),
            "biases": BaselineOnly(verbose=False),
            "top": MostPopular(),
        }.items()
    }
    expected = rn.compare(by_hand)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    pd.testing.assert_frame_equal(found.per_user, expected.per_user)


def test_workers_find_the_same() -> None:
    """Also what is drawn at random: each cell has its seed."""
    given = {**models(), "random": NormalPredictor(), "means": item_means}
    one, two = (run(given, n_jobs=n, seeds=2, protocol="both") for n in (1, 2))
    pd.testing.assert_frame_equal(one.per_user, two.per_user)
    assert one.runs.index.tolist() == two.runs.index.tolist()


def test_what_is_given_stays_as_it_is() -> None:
    """Models are copied, data is not touched, and the random numbers of NumPy go on."""
    given, before = models(), ratings().copy()
    np.random.seed(3)  # noqa: NPY002 - what must not be touched
    run(given)
    assert not hasattr(given["SVD"], "trainset")
    assert given["SVD"].random_state is None
    pd.testing.assert_frame_equal(ratings(), before)
    drawn = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    assert drawn == np.random.random()  # noqa: NPY002


def test_seeds_are_for_splits_and_models() -> None:
    """Each draws its own; a single one leaves alone what has one already."""
    both = run({"SVD": SVD(n_factors=3, n_epochs=2, random_state=5)}, seeds=2).runs["ndcg@5"]
    assert both.xs(0, level="seed").tolist() != both.xs(1, level="seed").tolist()
    own = run({"SVD": SVD(random_state=5)}, splits=KFold(2, random_state=9), seeds=[1])
    other = run({"SVD": SVD(random_state=5)}, splits=KFold(2, random_state=9), seeds=[2])
    pd.testing.assert_frame_equal(own.per_user, other.per_user)


def test_one_model_meets_random_order() -> None:
    """A comparison needs two."""
    assert run({"top": MostPopular()}).models == ["chance", "top"]


def test_functions_are_models() -> None:
    """Of the ratings alone, or of the pairs as well; with a seed, if they take one."""
    seeds = []

    def at_once(train: pd.DataFrame, pairs: pd.DataFrame, seed: int) -> pd.DataFrame:
        seeds.append(seed)
        assert list(train) == ["user", "item", "rating"]
        assert list(pairs) == ["user", "item"]
        estimated = item_means(train)(pairs)
        return pairs.assign(estimated=estimated).sample(frac=1, random_state=seed)

    found = run({"later": item_means, "at once": at_once}, seeds=[4, 5])
    assert found.per_user["ndcg@5", "later"].equals(found.per_user["ndcg@5", "at once"])
    assert seeds == [4, 4, 5, 5]


def test_functions_rank_the_catalogue() -> None:
    """As an algorithm that says the same, and block by block."""

    class Means(SlopeOne):  # type: ignore[misc] # surprise has no types
        def fit(self, trainset: Any) -> Any:
            super().fit(trainset)
            self.means = [np.mean([r for _, r in trainset.ir[i]]) for i in trainset.all_items()]
            return self

        def estimate(self, _: Any, item: Any) -> Any:
            return self.means[item] if isinstance(item, int) else 0.0

    doubled = _dataset()  # which SlopeOne does not cut
    doubled.raw_ratings = [(u, i, 2 * r, t) for u, i, r, t in doubled.raw_ratings]
    doubled.reader.rating_scale = (1.0, 10.0)
    found = run({"f": item_means, "class": Means()}, data=doubled, protocol="catalogue")
    assert found.per_user["ndcg@5:catalogue", "f"].equals(
        found.per_user["ndcg@5:catalogue", "class"]
    )


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda _: lambda pairs: pairs.assign(estimated=1.0).iloc[1:], "other pairs than asked"),
        (lambda _: lambda pairs: np.ones(len(pairs) - 1), "numbers for"),
        (lambda _: lambda pairs: pairs["item"].map({}), "estimates no number for"),
        (lambda _: lambda pairs: pairs, "without estimated"),
        (lambda _: "nothing", "returns 'nothing'"),
        (lambda _: lambda p: pd.concat([p.assign(estimated=1.0)] * 2), "twice"),
        (lambda train: train["nope"], "KeyError: 'nope'"),
    ],
)
def test_functions_that_answer_otherwise(function: Any, fault: str) -> None:
    """What is wrong is said, with the name of the model; the others go on."""
    with pytest.warns(rn.DataWarning, match=fault) as caught:
        found = run({"mine": function, "top": MostPopular(), "biases": BaselineOnly()})
    assert found.models == ["top", "biases"]
    assert "mine failed in 2 of 2 folds, first in seed 0, fold 1" in str(caught[0].message)


def test_other_pairs_than_asked() -> None:
    """Also of an algorithm with a test of its own."""
    with pytest.warns(rn.DataWarning, match="other pairs than asked for: 1 of") as caught:
        run({"other": Elsewhere(), **models()})
    assert "('u" in str(caught[0].message)


def test_a_model_that_fails_in_one_fold() -> None:
    """It is named, with the fold; the others are compared over all folds."""
    Failing.forget()
    with pytest.warns(rn.DataWarning, match="RuntimeError: no convergence") as caught:
        found = run({"bad": Failing(fold=2), **models()}, splits=3)
    assert "bad failed in 1 of 3 folds, first in seed 0, fold 2" in str(caught[0].message)
    assert found.models == ["SVD", "biases", "top"]
    assert len(found.runs) == 9


def test_all_models_fail() -> None:
    """There is nothing to return."""
    with pytest.raises(rn.InvalidInputError, match=r"All models failed\. mine failed in 2 of 2"):
        run({"mine": lambda _: None})


def test_models_that_cannot_be_sent_fail_alone() -> None:
    """Workers get copies; what cannot be copied is said of that model."""
    import threading  # noqa: PLC0415 - for a lock, which cannot be pickled

    lock = threading.Lock()
    with pytest.warns(rn.DataWarning, match="mine failed in 2 of 2.*pickle"):
        found = run({"mine": lambda train: (lock, item_means(train))[1], **models()}, n_jobs=2)
    assert found.models == [*models()]


def test_costs_are_kept() -> None:
    """Seconds and memory of every fold, users, and the value of every measure."""
    found = run(metrics=["ndcg@5", "rmse"]).runs
    assert found.index.names == ["model", "seed", "fold"]
    assert [*found] == ["fit_time", "test_time", "peak_memory_mb", "users", "ndcg@5", "rmse"]
    assert (found[["fit_time", "test_time"]] >= 0).all(axis=None)
    assert found["peak_memory_mb"].between(20, 20_000).all()
    with pytest.raises(rn.InvalidInputError, match="load_runs"):
        _ = rn.compare({"a": {1: [(1, 2), (2, 1)]}, "b": {1: [(2, 2), (1, 1)]}}).runs


def test_the_peak_is_that_of_the_fold() -> None:
    """What was taken and given back before does not count."""

    def hungry(train: pd.DataFrame) -> Any:
        np.ones(40_000_000)
        return item_means(train)

    found = run({"hungry": hungry, "top": MostPopular()}).runs["peak_memory_mb"]
    assert found["hungry"].min() > found["top"].max() + 200


def test_results_are_given_on_as_they_come() -> None:
    """Once each, with what a tracker wants."""
    seen: list[Result] = []
    shown: list[float] = []
    run(on_result=seen.append, progress=lambda _, share: shown.append(share))
    assert [(one.model, one.cell.fold) for one in seen] == [
        (name, fold) for fold in (1, 2) for name in models()
    ]
    assert shown == pytest.approx([n / 6 for n in range(7)])
    tracked = seen[0].to_metrics()
    assert {*tracked} == {"ndcg_at_5", "fit_time", "test_time", "peak_memory_mb"}
    assert tracked["ndcg_at_5"] == seen[0].scores["ndcg@5"]


@pytest.mark.parametrize("seeds", [(0,), (0, 3, 5)])
@pytest.mark.parametrize("failing_in", [0, 3])
def test_progress_counts_every_model_in_every_fold_of_every_seed(
    seeds: tuple[int, ...], failing_in: int
) -> None:
    """One that fails counts as one that does not."""
    Failing.forget()
    shown: list[tuple[str, float]] = []
    given = {"top": MostPopular(), "other": Failing(failing_in)}
    with pytest.warns(rn.DataWarning, match="failed in 1") if failing_in else nullcontext():
        run(given, splits=3, seeds=seeds, progress=lambda *one: shown.append(one))
    n_cells = 2 * 3 * len(seeds)
    assert {what for what, _ in shown} == {"Training"}
    assert [share for _, share in shown] == pytest.approx([n / n_cells for n in range(n_cells + 1)])


@pytest.mark.parametrize("name", ["ndcg", "NDCG@5", rn.NDCG(5)])
def test_metrics_may_be_named_in_any_way(name: Any) -> None:
    """A name takes k and the protocol."""
    assert run(metrics=name, k=5, protocol="both").metrics == ["ndcg@5", "ndcg@5:catalogue"]


def test_metrics_by_default() -> None:
    """As those of evaluate."""
    assert run(metrics=None).metrics == ["ndcg@10"]
    assert run(metrics=None, threshold=4, k=[1, 2]).metrics[:3] == [
        "ndcg@1",
        "ndcg@2",
        "precision@1",
    ]
    assert run(metrics=["ndcg", "rmse", "rr:catalogue"], threshold=4, protocol="both").metrics == [
        "ndcg@10",
        "rr:catalogue",
        "ndcg@10:catalogue",
        "rmse",
    ]


def test_splits_of_any_kind() -> None:
    """By time too, from a table with timestamps, whatever its columns are called."""
    table = ratings().rename(columns={"rating": "stars", "timestamp": "when"})
    columns = {"rating": "stars", "timestamp": "when"}
    late = float(table["when"].quantile(0.8))
    found = run(data=table, columns=columns, splits=TimeSplit(at=late))
    assert len(found.runs) == 3


def test_data_of_any_kind(tmp_path: Any) -> None:
    """A table, a file, or a dataset of Surprise: the same numbers."""
    path = tmp_path / "ratings.csv"
    ratings().to_csv(path, index=False)
    tables = [run(data=one).per_user for one in (ratings(), path, str(path), _dataset())]
    for one in tables[1:]:
        pd.testing.assert_frame_equal(one, tables[0])


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"models": {}}, "by name"),
        ({"models": {"SVD": SVD}}, r"SVD is a class; a model is one of it, SVD\(\)"),
        ({"models": {"SVD": 3}}, "SVD: a model has fit"),
        ({"models": {" ": SVD()}}, "name of a model is text"),
        ({"models": {"a\nb": SVD()}}, "name of a model is text"),
        ({"metrics": "rmse"}, "No metric here ranks"),
        ({"metrics": "ndgc"}, "Did you mean 'ndcg'"),
        ({"metrics": "precision@5"}, "threshold"),
        ({"protocol": "all"}, "protocol='all'"),
        ({"protocol": 3}, "protocol=3"),
        ({"splits": 1}, "splits=1"),
        ({"splits": "five"}, "split"),
        ({"splits": UserKFold(5000)}, "n_splits"),
        ({"seeds": 0}, "seeds is"),
        ({"seeds": [1, 1]}, "seeds is"),
        ({"seeds": [-1]}, "seeds is"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"baseline": "KNN"}, "baseline='KNN'"),
        ({"baseline": ["SVD"]}, r"baseline=\['SVD'\] is none"),
        ({"data": pd.DataFrame({"user": [], "item": [], "rating": []})}, "no ratings"),
        ({"data": pd.DataFrame({"user": [1]})}, "no column 'item'; there are: user"),
        ({"data": "nowhere.csv"}, "nowhere.csv: cannot be read"),
        ({"data": 3}, "Cannot read a int"),
        ({"rating_scale": (5, 1)}, "rating scale"),
        ({"folder": 3}, "path"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_trained(
    options: dict[str, Any], fault: str
) -> None:
    """In one line that says what to do."""
    asked: dict[str, Any] = {"data": ratings(), "models": {"f": _never, "g": _never}}
    asked |= {"metrics": "ndcg@5"} | options
    with pytest.raises(rn.RecsysNdcgError, match=fault):
        rn.experiment(asked.pop("data"), asked.pop("models"), progress=False, **asked)


def _never(_: Any) -> Any:
    pytest.fail("something was trained")


def test_a_catalogue_needs_predictions_of_any_pair() -> None:
    """Said before anything is trained; of a function that takes the pairs, in its folds."""

    class Closed:
        def fit(self, _: Any) -> None: ...

        def test(self, _: Any) -> list[Any]:
            return []

    with pytest.raises(rn.InvalidInputError, match=r"closed: .* needs predict\(user, item\)"):
        run({"closed": Closed(), **models()}, protocol="catalogue")
    with pytest.warns(rn.DataWarning, match="the function takes the ratings alone"):
        run({"f": lambda train, pairs: item_means(train)(pairs), **models()}, protocol="catalogue")


def test_what_is_said_of_ratings_and_models() -> None:
    """Once, with the name of the model."""
    constant = {"same": lambda _: lambda pairs: np.ones(len(pairs)), "top": MostPopular()}
    with pytest.warns(rn.DataWarning, match="same estimates the same for every item") as caught:
        run(constant)
    assert len(caught) == 1
    with pytest.warns(rn.DataWarning, match="SlopeOne keeps ratings as whole numbers") as caught:
        run({"slope": SlopeOne(), "top": MostPopular()}, seeds=2)
    assert len(caught) == 1


def test_models_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever they say by default."""
    run({"KNN": KNNBasic(), "biases": BaselineOnly()})
    assert capsys.readouterr() == ("", "")


def test_parameters_tell_models_apart() -> None:
    """As those of a search: they colour the plot of two metrics, also of runs that were read."""
    given = {f"SVD {n}": SVD(n_factors=n, n_epochs=2) for n in (2, 3, 5)}
    found = run({**given, "top": MostPopular()}, metrics=["ndcg@5", "recall@5"], threshold=4)
    chart = found.plot("trade-off").to_dict()
    drawn = {
        row["model"]: "value" in one["encoding"]["color"]
        for one in chart["layer"]
        if one["mark"]["type"] == "point"
        for row in chart["datasets"][one["data"]["name"]]
    }
    assert drawn == {**dict.fromkeys(given, False), "top": True}  # no colour stands for nothing


def test_what_one_model_has_alone_is_no_difference() -> None:
    """Models of other classes have other parameters, by which none of them is coloured."""
    assert "n_factors" not in str(run(metrics=["ndcg@5", "mae"]).plot("trade-off").to_dict())


def test_what_is_to_be_typed_makes_the_same() -> None:
    """The lines that a page shows, where the names in them stand for what they did."""
    options: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 4, "seeds": [3, 5]}
    given = {**models(), "means": item_means}
    for splits in (3, LeaveNOut(3, 2)):
        found = run(given, **options, splits=splits, protocol="both")
        names: dict[str, Any] = {"ratings": ratings(), "item_means": item_means}
        names |= {one.__name__: one for one in (SVD, BaselineOnly, MostPopular, LeaveNOut)}
        exec(str(found.made_by), names)  # noqa: S102 - what we wrote
        pd.testing.assert_frame_equal(names["comparison"].per_user, found.per_user)


def test_a_worker_that_dies_takes_no_other_cell_with_it() -> None:
    """It is named, and the others go on, whoever was beside it."""

    def deadly(_: pd.DataFrame) -> Any:
        os._exit(3)

    with pytest.warns(rn.DataWarning, match="deadly failed in 2 of 2 folds.*ended from outside"):
        found = run({"deadly": deadly, **models()}, n_jobs=2)
    pd.testing.assert_frame_equal(found.per_user, run().per_user)
