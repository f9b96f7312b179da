"""rn.experiment: every model in every fold of every seed, as if done by hand."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("surprise")

from surprise import BaselineOnly, KNNBasic, NormalPredictor, SlopeOne
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.experiments import workers
from recsys_ndcg.surprise import SVD, LeaveNOut, MostPopular, TimeSplit, UserKFold, cross_validate
from tests.errors import assert_rejected
from tests.experiments.failing import Failing
from tests.experiments.made import QUICK, item_means, models, ratings, run, run_once, with_top
from tests.surprise.samples import dataset


def test_an_experiment_is_cross_validation_of_each_model() -> None:
    """The numbers equal cross_validate on the same folds, under both protocols."""
    found = run(protocol="both", metrics=["ndcg@5", "recall@5"], threshold=4, seeds=[7])
    measures = ["ndcg@5", "recall@5", "ndcg@5:catalogue", "recall@5:catalogue"]
    assert found.metrics == measures
    how: dict[str, Any] = {"cv": UserKFold(2, random_state=7), "threshold": 4}
    given = models() | {"SVD": SVD(n_factors=3, n_epochs=2, random_state=7)}
    data = dataset(ratings())
    runs = {name: cross_validate(one, data, measures, **how) for name, one in given.items()}
    expected = rn.compare(runs)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    pd.testing.assert_frame_equal(found.per_user, expected.per_user)


def test_two_protocols_have_two_verdicts() -> None:
    """Each names its protocol: a model may be better in one and worse in the other."""
    found = run({"f": item_means, "top": MostPopular()}, protocol="both")
    rated, catalogue = found._document().verdicts
    assert "in ndcg@5 (rated items)" in rated.headline
    assert "in ndcg@5:catalogue (whole catalogue)" in catalogue.headline
    assert found.verdict == f"{rated} {catalogue}"
    assert found._document("ndcg@5:catalogue").verdicts == [catalogue, rated]
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        plain = text.replace("\\", "")
        assert rated.headline in plain
        assert catalogue.headline in plain


def test_the_mean_is_over_users() -> None:
    """Each user counts once, in however many folds and seeds the user is."""
    table = ratings()
    table = table[table.groupby("user").cumcount() < np.arange(len(table)) % 3 + 2]
    found = run({"f": item_means, "top": MostPopular()}, data=table, splits=3, seeds=[3, 8])
    folds = [
        cross_validate(MostPopular(), dataset(table), ["ndcg@5"], cv=UserKFold(3, seed)).per_user
        for seed in (3, 8)
    ]
    scores = pd.concat(folds)["ndcg@5"].groupby("user")
    assert len({*scores.count()}) > 1
    expected = pytest.approx(scores.mean().to_dict(), abs=1e-12)
    assert found.per_user["ndcg@5", "top"].to_dict() == expected
    mean = found.leaderboard.loc["top", "mean"]
    assert mean == pytest.approx(scores.mean().mean(), abs=1e-12)
    assert found.pairwise["runs"].tolist() == [2]  # the seeds, however many folds they have


@pytest.mark.slow
def test_workers_do_not_change_the_numbers() -> None:
    """Not even of models that draw random numbers: each fold has its own seed."""
    given = {**models(), "random": NormalPredictor(), "means": item_means}
    one, two = (run(given, n_jobs=n, seeds=2, protocol="both") for n in (1, 2))
    pd.testing.assert_frame_equal(one.per_user, two.per_user)
    assert one.runs.index.tolist() == two.runs.index.tolist()


def test_the_arguments_are_not_changed() -> None:
    """Models are copied, and the global random state of NumPy is restored."""
    given, before = models(), ratings().copy()
    np.random.seed(3)  # noqa: NPY002 - what must not be touched
    run(given)
    assert not hasattr(given["SVD"], "trainset")
    assert given["SVD"].random_state is None
    pd.testing.assert_frame_equal(ratings(), before)
    drawn = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    assert drawn == np.random.random()  # noqa: NPY002


def test_a_single_seed_keeps_random_states() -> None:
    """It replaces only missing ones."""
    options: dict[str, Any] = {"splits": KFold(2, random_state=9)}
    own, other = (run({"SVD": SVD(random_state=5)}, seeds=[n], **options) for n in (1, 2))
    pd.testing.assert_frame_equal(own.per_user, other.per_user)


def test_functions_are_models() -> None:
    """Functions of the ratings, or of the ratings and the pairs; with a seed if they take one."""
    seeds = []

    def at_once(train: pd.DataFrame, pairs: pd.DataFrame, seed: int) -> pd.DataFrame:
        seeds.append(seed)
        assert list(train) == list(ratings())
        assert list(pairs) == [name for name in train if name != "rating"]
        estimated = item_means(train)(pairs)
        return pairs.assign(estimated=estimated).sample(frac=1, random_state=seed)

    found = run({"later": item_means, "at once": at_once}, seeds=[4, 5])
    assert found.per_user["ndcg@5", "later"].equals(found.per_user["ndcg@5", "at once"])
    assert seeds == [4, 4, 5, 5]


def _changes_its_pairs(train: pd.DataFrame) -> Any:
    def predict(pairs: pd.DataFrame) -> Any:
        estimated = item_means(train)(pairs)
        pairs["item"] = "x" + pairs["item"]
        return pairs.assign(estimated=estimated)

    return predict


OTHERS = "returns other pairs than it was given"
INDEX = "returns a Series whose index is not the pairs' own .* return it with .to_numpy()"


def _more_than_requested(_: pd.DataFrame) -> Any:
    """Return estimates of the pairs, and of one more."""
    more = pd.DataFrame({"user": ["nobody"], "item": ["i1"]})
    return lambda pairs: pd.concat([pairs, more]).assign(estimated=1.0)


def _by_item(train: pd.DataFrame) -> Any:
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: means.reindex(pairs["item"]).fillna(0.0)


WRONG: list[tuple[Any, str]] = [
    (_changes_its_pairs, OTHERS),
    (lambda _: lambda pairs: pairs.assign(estimated=1.0).iloc[1:], OTHERS),
    (_more_than_requested, rf"{OTHERS}: 1 .* were not requested, the first \('nobody', 'i1'\)"),
    (_by_item, INDEX), (lambda _: lambda pairs: _by_item(ratings())(pairs.iloc[::-1]), INDEX),
    (lambda _: lambda p: pd.Series(1.0, pd.MultiIndex.from_frame(p[["user", "item"]])), INDEX),
    (lambda _: lambda pairs: pd.Series(1.0, index=[0] * len(pairs)), INDEX),
    (lambda _: lambda pairs: np.ones(len(pairs) - 1), "numbers for"),
    (lambda _: lambda pairs: pd.Series(1.0, pairs.index[1:]), "numbers for"),
    (lambda _: lambda _: [1.0], r"returns 1 number for \d+ pairs"),
    (lambda _: lambda _: 1.0, r"returns 1 number for \d+ pairs"),
    (lambda _: lambda pairs: np.ones((len(pairs), 2)), r"returns \d+ × 2 numbers for \d+ p"),
    (lambda _: lambda pairs: pairs["item"].map({}), "has no estimate for"),
    (lambda _: lambda pairs: pairs, "without estimated"), (lambda _: "no", "returns 'no'"),
    (lambda _: lambda p: pd.concat([p.assign(estimated=1.0)] * 2), "twice"),
    (lambda train: train["nope"], "KeyError: 'nope'"),
]  # fmt: skip


def test_functions_that_return_something_else_fail() -> None:
    """Each warning has the function's name and the reason; the other models continue."""
    mine = {f"f{place}": function for place, (function, _) in enumerate(WRONG)}
    with pytest.warns(rn.DataWarning, match="failed in 2") as caught:
        found = run({**mine, "top": MostPopular(), "biases": BaselineOnly()})
    assert found.models == ["top", "biases"]
    texts = [str(one.message) for one in caught if " failed in " in str(one.message)]
    for name, text, (_, fault) in zip(mine, texts, WRONG, strict=True):
        assert text.startswith(f"{name} failed in 2 of 2 folds, first in seed 0, fold 1")
        assert re.search(fault, text), text


def test_a_series_with_the_index_of_the_pairs_may_have_any_order() -> None:
    """It is aligned, under both protocols; values without an index have the order of the pairs."""

    def shuffled(train: pd.DataFrame) -> Any:
        return lambda pairs: item_means(train)(pairs.sample(frac=1, random_state=1))

    def at_once(train: pd.DataFrame, pairs: pd.DataFrame) -> Any:
        return shuffled(train)(pairs)

    def as_values(train: pd.DataFrame) -> Any:
        return lambda pairs: item_means(train)(pairs).to_numpy()

    given = {"ordered": item_means, "shuffled": shuffled, "values": as_values}
    for how in ({"at once": at_once}, {}):
        metrics = ["ndcg@5", "rmse"] if how else ["ndcg@5:catalogue"]  # which needs f(train)
        found: Any = run(given | how, metrics=metrics).per_user
        for (metric, model), scores in found.items():
            assert scores.equals(found[metric, "ordered"]), model


def test_if_all_models_fail_there_is_an_error(tmp_path: Path) -> None:
    """There is nothing to return, and nothing to load."""
    given = {"a": lambda _: None, "b": lambda _: None}
    assert_rejected(r"All models failed\. a failed in 2 of 2", run, given, folder=tmp_path)
    assert rn.load_runs(tmp_path).model_scores == {}


def test_costs_are_recorded_and_tracked() -> None:
    """Seconds and memory of every fold, users, and every measure; `on_result` gets each once."""
    seen: list[Any] = []
    found = run(metrics=["ndcg@5", "rmse"], on_result=seen.append).runs
    assert found.index.names == ["model", "seed", "fold"]
    seconds = ["fit_seconds", "predict_seconds", "measure_seconds"]
    assert [*found] == [*seconds, "peak_memory_mb", "users", "ndcg@5", "rmse"]
    assert (found[seconds] >= 0).all(axis=None)
    assert found["peak_memory_mb"].between(20, 20_000).all()
    assert [(one.fold, one.model) for one in seen] == [*product((1, 2), models())]
    tracked = seen[0].to_metrics()
    assert {*tracked} == {"ndcg_at_5", "rmse", "peak_memory_mb", *seconds}
    assert tracked["ndcg_at_5"] == seen[0].scores["ndcg@5"]


def test_seconds_are_of_the_whole_fold() -> None:
    """To fit, to predict and rank the catalogue, and to compute every measure."""

    def slow_model(train: pd.DataFrame) -> Any:
        def predict(pairs: pd.DataFrame) -> Any:
            time.sleep(0.1)  # for the test ratings, and for the catalogue
            return pairs["item"].map(means).fillna(0.0)

        means = train.groupby("item")["rating"].mean()
        time.sleep(0.05)
        return predict

    def slow_measure(_: list[Any]) -> float:
        time.sleep(0.3)
        return 1.0

    start = time.time()
    found = run({"f": slow_model}, metrics=["ndcg@5", slow_measure], protocol="both").runs
    for name, least in (("fit", 0.05), ("predict", 0.2), ("measure", 0.3)):
        assert (found[f"{name}_seconds"] >= least).all()
    assert found.filter(like="seconds").to_numpy().sum() < time.time() - start


def test_peak_memory_is_measured_per_fold() -> None:
    """Memory that was freed before does not count."""

    def hungry(train: pd.DataFrame) -> Any:
        np.ones(30_000_000)
        return item_means(train)

    found = run({"hungry": hungry, "top": MostPopular()}, **QUICK).runs["peak_memory_mb"]
    assert found["hungry"].min() > found["top"].max() + 150


def test_progress_counts_every_model_in_every_fold_of_every_seed() -> None:
    """A model that fails counts, too."""
    Failing.forget()
    shown: list[tuple[str, float]] = []
    with pytest.warns(rn.DataWarning, match="failed in 1"):
        run(with_top(Failing(3)), seeds=[0, 3], progress=lambda *one: shown.append(one))
    assert {title for title, _ in shown} == {"Training"}
    assert [share for _, share in shown] == pytest.approx([n / 8 for n in range(9)])


def test_a_long_ranking_of_the_catalogue_shows_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model in this process, up to its end; another process reports only whole folds."""
    monkeypatch.setattr("recsys_ndcg.catalogue.candidates._CELLS", 10 * 80)  # users × items
    shown: list[tuple[str, float]] = []
    options: dict[str, Any] = {"protocol": "catalogue", "seeds": [7]}

    def fails_at_once(_: pd.DataFrame) -> Any:
        return lambda pairs: pairs["nope"] if len(pairs) > 600 else np.ones(len(pairs))

    with pytest.warns(rn.DataWarning, match="g failed in 2 of 2"):
        run(
            {"f": item_means, "g": fails_at_once},
            progress=lambda *one: shown.append(one),
            **options,
        )
    for name, shares in (("f", [0, 1 / 3, 2 / 3, 1, 1]), ("g", [0, 1])):
        title = f"{name}, seed 7, fold 2: ranking the catalogue"
        assert [share for what, share in shown if what == title] == pytest.approx(shares)


def test_without_a_terminal_each_fold_has_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """On standard error, with its first score; not of folds that a folder has, and not if off."""
    Failing.forget()
    with pytest.warns(rn.DataWarning, match="failed in 1 of 2"):
        run(with_top(Failing(2)), progress=True, folder=tmp_path)
    printed, lines = capsys.readouterr()
    found = "\n".join(
        rf"{name} seed 0 fold {fold}/2: {result}{place} of 4\)"
        for name, fold, result, place in (
            ("f", 1, SCORE, 1), ("top", 1, SCORE, 2),
            ("f", 2, r"failed: RuntimeError: no convergence \(", 3), ("top", 2, SCORE, 4),
        )
    )  # fmt: skip
    assert re.fullmatch(f"{found}\n", lines)
    assert printed == ""
    run(with_top(Failing(2)), progress=True, folder=tmp_path)
    assert re.fullmatch(rf"f seed 0 fold 2/2: {SCORE}3 of 4\)\n", capsys.readouterr().err)
    for quiet in (False, lambda *_: None):
        run({"KNN": KNNBasic(), "biases": BaselineOnly()}, progress=quiet, **QUICK)
        assert capsys.readouterr() == ("", "")  # whatever these models print by default


SCORE = r"ndcg@5 0\.\d{3} \(\d+\.\d s; "


@pytest.mark.parametrize(("name", "k"), [("NDCG@5", 7), (rn.NDCG(5), 7), ("ndcg", np.int64(5))])
def test_metrics_may_be_names_or_objects(name: Any, k: Any) -> None:
    """A name without a cutoff takes k."""
    assert run(metrics=name, k=k, protocol="both").metrics == ["ndcg@5", "ndcg@5:catalogue"]


def test_default_metrics() -> None:
    """As in evaluate; one model is compared with chance."""
    found = run({"top": MostPopular()}, metrics=None)
    assert (found.metrics, found.models) == (["ndcg@10"], ["chance", "top"])
    usual = run(metrics=None, threshold=4, k=[1, 2]).metrics
    assert usual[:3] == ["ndcg@1", "ndcg@2", "precision@1"]
    named = ["ndcg", "rmse", "rr:catalogue", "coverage@5:catalogue"]
    both = run(metrics=named, threshold=4, protocol="both").metrics
    assert both == ["ndcg@10", *named[2:], "ndcg@10:catalogue", "rmse"]


def test_a_split_by_time_uses_the_mapped_columns() -> None:
    """Of a table whose columns have other names."""
    columns = {"rating": "stars", "timestamp": "when"}
    table = ratings().rename(columns=columns)
    splits = TimeSplit(at=float(table["when"].quantile(0.8)))
    assert len(run(data=table, columns=columns, splits=splits).runs) == 2


def test_data_of_any_kind(tmp_path: Any) -> None:
    """A table, a file, or a dataset of Surprise: the same numbers."""
    path = tmp_path / "ratings.csv"
    ratings().to_csv(path, index=False)
    given = (ratings(), path, str(path), dataset(ratings()))
    tables = [run(models("SVD"), data=one).per_user for one in given]
    for one in tables[1:]:
        pd.testing.assert_frame_equal(one, tables[0])


NO_NAMES: list[Any] = ["a\nb", "", " ", 5]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"models": {}}, "by name"),
        ({"models": {"SVD": SVD}}, r"SVD is a class. Pass an instance: SVD\(\)"),
        ({"models": {"SVD": 3}}, "SVD: a model has fit"),
        *(({"models": {name: SVD()}}, "name of a model must be printable") for name in NO_NAMES),
        ({"metrics": "rmse"}, "No metric here ranks"), ({"metrics": "ndgc"}, "Did you mean 'ndcg'"),
        ({"metrics": "precision@5"}, "threshold"), ({"metrics": 5}, "A measure is a name .*not 5"),
        ({"metrics": len}, "No metric here ranks anything. Add one"),
        ({"protocol": "all"}, "protocol must be one of 'rated', 'catalogue', 'both', not 'all'"),
        ({"splits": 1}, "splits=1"),
        ({"splits": "five"}, "split"), ({"splits": UserKFold(5000)}, "n_splits"),
        *(({"seeds": seeds}, "seeds must be") for seeds in (0, [1, 1], [2.5], [-1], [0, True])),
        ({"n_jobs": 0}, "n_jobs"), ({"baseline": "KNN"}, "baseline='KNN'"),
        ({"baseline": ["SVD"]}, r"baseline=\['SVD'\] is none"),
        ({"data": pd.DataFrame({"user": [], "item": [], "rating": []})}, "there are no rows"),
        ({"data": pd.DataFrame({"user": [1]})}, "no columns 'item' and 'rating'; it has user"),
        ({"data": "nowhere.csv"}, "nowhere.csv: cannot be read"),
        ({"data": 3}, "Cannot read data of type int"), ({"rating_scale": (5, 1)}, "rating scale"),
        ({"folder": 3}, "path"), ({"columns": 3}, "columns must map our names"),
        ({"data": ratings().assign(rating=3.0)}, "Every rating is 3, so no"),
    ],
)  # fmt: skip
def test_an_invalid_argument_is_an_error(options: dict[str, Any], fault: str) -> None:
    """Before anything is trained."""
    asked: dict[str, Any] = {"data": ratings(), "models": {"f": pytest.fail, "g": pytest.fail}}
    asked |= {"metrics": "ndcg@5"} | options
    with pytest.raises(rn.RecsysNdcgError, match=fault):
        rn.experiment(asked.pop("data"), asked.pop("models"), progress=False, **asked)


def test_a_catalogue_needs_predictions_of_any_pair() -> None:
    """An error for an algorithm; a function that takes the pairs fails in its folds."""

    class Closed:
        def fit(self, _: Any) -> None: ...

        def test(self, _: Any) -> list[Any]:
            return []

    with pytest.raises(rn.InvalidInputError, match=r"closed: .* needs predict\(user, item\)"):
        run({"closed": Closed(), **models()}, protocol="catalogue")
    with pytest.warns(rn.DataWarning, match="the function must take only the ratings"):
        run({"f": lambda train, pairs: item_means(train)(pairs), **models()}, protocol="catalogue")


def test_a_warning_about_a_model_is_given_once() -> None:
    """With the name of the model."""
    constant = {"same": lambda _: lambda pairs: np.ones(len(pairs)), "slope": SlopeOne()}
    with pytest.warns(rn.DataWarning) as caught:
        run(constant, seeds=2, **QUICK)
    first, second = sorted(str(one.message) for one in caught)
    assert "same estimates the same for every item" in first + second
    assert "SlopeOne keeps ratings as whole numbers" in first + second


def test_one_varied_parameter_colours_the_plot() -> None:
    """As after a search; a model without the parameter has no colour."""
    given = {f"SVD {n}": SVD(n_factors=n, n_epochs=2) for n in (2, 3, 5)}
    found = run({**given, "top": MostPopular()}, metrics=["ndcg@5", "recall@5"], threshold=4)
    chart = found.plot("trade-off").to_dict()
    layers = [one for one in chart["layer"] if one["mark"]["type"] == "point"]
    drawn = {
        row["model"]: "value" in one["encoding"]["color"]
        for one in layers
        for row in chart["datasets"][one["data"]["name"]]
    }
    assert drawn == {**dict.fromkeys(given, False), "top": True}
    assert "n_factors" not in str(run(metrics=["ndcg@5", "mae"]).plot("trade-off").to_dict())


@pytest.mark.slow
def test_the_code_on_a_page_reproduces_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it stands, in the folder of the ratings; it imports the models."""
    monkeypatch.chdir(tmp_path)
    ratings().to_csv("r.csv", index=False)
    options: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 4, "seeds": [3, 5]}
    options |= {"data": "r.csv", "rating_scale": (0, 6), "baseline": "top"}
    given = {**models(), "means": item_means}
    for splits, protocol in ((3, "both"), (LeaveNOut(3, 2), "rated")):
        found = run(given, **options, splits=splits, protocol=protocol)
        names: dict[str, Any] = {}
        exec(str(found._data.code), names)  # noqa: S102 - what we wrote
        again = names["comparison"]
        pd.testing.assert_frame_equal(again.per_user, found.per_user)
        assert again._data.baseline == "top"
    assert "ratings = 'ratings.csv'  # a file, or a table: put yours here" in str(
        run_once()._data.code
    )


@pytest.mark.slow
def test_a_worker_that_dies_fails_only_its_own_folds() -> None:
    """The warning has the model, and the other models continue."""

    def deadly(_: pd.DataFrame) -> Any:
        os._exit(3)

    with pytest.warns(
        rn.DataWarning, match="deadly failed in 2 of 2 folds.*its process was killed"
    ):
        found = run({"deadly": deadly, **models()}, n_jobs=2)
    pd.testing.assert_frame_equal(found.per_user, run_once().per_user)


def test_a_task_for_a_dead_worker_fails_with_its_error(tmp_path: Path) -> None:
    """So the task is run again with new workers."""
    error = BrokenProcessPool("a worker was killed")
    task: Any = ()
    pool: Any = SimpleNamespace(submit=Mock(side_effect=error))
    assert workers._submit(pool, task, tmp_path).exception() is error


def test_each_seed_has_its_own_random_numbers() -> None:
    """Also of models that draw from NumPy's global state, or have a seed of their own."""
    given = {"random": NormalPredictor(), "own": SVD(3, 2, random_state=9), "top": MostPopular()}
    same = run(given, splits=_Same(), seeds=[1, 2]).runs["ndcg@5"]
    assert [same[name].nunique() for name in given] == [2, 2, 1]
    parted = run(given, splits=UserKFold(2, random_state=4), seeds=[1, 2]).runs["ndcg@5"]
    assert parted["top"].nunique() == 4


class _Same:
    """A split that is the same whatever the seed."""

    def split(self, data: Any) -> Any:
        yield next(UserKFold(2, random_state=0).split(data))
