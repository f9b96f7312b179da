"""Models as other libraries give them: functions of all columns, lists, estimators."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

pytest.importorskip("surprise")

from surprise import Dataset, Reader
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.experiments.models import format_imports
from recsys_ndcg.surprise import SVD, BaselineOnly, MostPopular
from tests.errors import assert_rejected
from tests.experiments.made import QUICK, item_means, ratings, run
from tests.profiles import some
from tests.surprise.samples import dataset

BOTH: dict[str, Any] = {**QUICK, "protocol": "both"}


def features() -> pd.DataFrame:
    """Return ratings with columns of the item, of the user, and of the rating."""
    table = ratings()
    number = table["item"].str[1:].astype(int)
    ages = table["user"].str[1:].astype(int)
    place = [f"at home {row % 3}" for row in range(len(table))]
    return table.assign(genre=number % 7, age=ages, place=place)


# functions of all columns


class Recorder:
    """A function of the ratings that keeps the tables that it gets."""

    def __init__(self) -> None:
        self.train: list[pd.DataFrame] = []
        self.pairs: list[pd.DataFrame] = []

    def __deepcopy__(self, _: Any) -> Any:
        """Return the same, so that the test sees it."""
        return self

    def __call__(self, train: pd.DataFrame) -> Any:
        """Train."""
        self.train.append(train)
        means = train.groupby("genre")["rating"].mean()

        def predict(pairs: pd.DataFrame) -> Any:
            self.pairs.append(pairs)
            return pairs["genre"].map(means)

        return predict


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas, lambda table: dict(table.items())])
def test_a_function_gets_all_columns(form: Any) -> None:
    """Also of the test ratings; of other pairs the columns of the user and of the item."""
    table, seen = features().rename(columns={"timestamp": "when"}), Recorder()
    run({"f": seen}, data=form(table), columns={"timestamp": "when"}, **BOTH)
    rated, unrated = seen.pairs[:2]
    both = pd.concat([seen.train[0], rated.merge(features(), how="left")])
    expected = features()[list(both)]
    order = ["user", "item"]
    both, expected = (one.sort_values(order, ignore_index=True) for one in (both, expected))
    pd.testing.assert_frame_equal(both, expected, check_dtype=False)
    assert list(rated) == list(unrated) == [name for name in expected if name != "rating"]
    assert (unrated["genre"] == unrated["item"].str[1:].astype(int) % 7).all()
    assert (unrated["age"] == unrated["user"].str[1:].astype(int)).all()
    assert unrated[["timestamp", "place"]].isna().all(axis=None)


def test_a_function_gets_the_mapped_column_of_users_alone() -> None:
    """Another column that is called user is not passed on."""
    table = ratings().rename(columns={"user": "customer"}).assign(user="a shop")
    seen = list[Any]()

    def function(train: pd.DataFrame) -> Any:
        seen.append(train)
        return item_means(train)

    run({"f": function}, data=table, columns={"user": "customer"})
    assert set(seen[0]) == {"user", "item", "rating", "timestamp"}
    assert set(seen[0]["user"]) == set(table["customer"])


def test_a_function_gets_the_times_of_a_dataset() -> None:
    """Of Surprise; a dataset without times has three columns."""
    data, seen = dataset(ratings()), list[Any]()

    def function(train: pd.DataFrame) -> Any:
        seen.append(list(train))
        return item_means(train)

    for times in (False, True):
        data.raw_ratings = [(*row[:3], 7.0 if times else None) for row in data.raw_ratings]
        run({"f": function}, data=data)
    assert seen[0] == seen[1] == ["user", "item", "rating"]
    assert seen[2] == ["user", "item", "rating", "timestamp"]


def _surprise_in_a_function(train: pd.DataFrame) -> Any:
    """Train an algorithm as Surprise's documentation does, with exactly three columns."""
    data = Dataset.load_from_df(train, Reader(rating_scale=(0.5, 5)))
    algo = BaselineOnly(verbose=False).fit(data.build_full_trainset())
    return lambda pairs: [
        algo.predict(u, i, clip=False).est for u, i in pairs.itertuples(index=False)
    ]


def test_a_function_of_three_columns_goes_on_working() -> None:
    """It gets only these, and a warning says so once; its numbers do not change."""
    given = {"f": _surprise_in_a_function, "top": MostPopular()}
    with pytest.warns(
        rn.DataWarning, match=r"^f: The function fails on all columns.*ValueError"
    ) as one:
        wide = run(given, **BOTH)
    assert len(one) == 1
    narrow = run(given, data=ratings()[["user", "item", "rating"]], **BOTH)
    pd.testing.assert_frame_equal(wide.per_user, narrow.per_user)


def test_a_changed_column_is_another_experiment(tmp_path: Path) -> None:
    """For models that get it; a Surprise algorithm goes on."""
    table, algorithm = features(), {"SVD": SVD(n_epochs=1), "top": MostPopular()}
    changed = table.assign(genre=table["genre"] % 2)
    both = {**algorithm, "f": Recorder()}
    how: dict[str, Any] = {"folder": tmp_path, **QUICK}
    run(both, data=table, fingerprint={"f": "v1"}, **how)
    run(algorithm, data=changed, on_result=pytest.fail, **how)
    fault = "experiment: fingerprint of f: given: v1 .*, now given: v1 "
    assert_rejected(fault, run, both, data=changed, fingerprint={"f": "v1"}, **how)


# estimators of scikit-learn


class GenreMeans:
    """An estimator without scikit-learn."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Any = None) -> Any:  # noqa: N803 - scikit-learn's name
        """Compute means."""
        assert "rating" not in X
        assert isinstance(self.random_state, int)
        self.means = y.groupby(X["genre"]).mean()
        return self

    def predict(self, X: pd.DataFrame) -> Any:  # noqa: N803
        """Return means."""
        return X["genre"].map(self.means)


def test_an_estimator_is_a_model(tmp_path: Path) -> None:
    """Of all columns but the rating, unlike Surprise's algorithms and callable objects."""
    given = {"own": GenreMeans(), "f": Recorder(), "SVD": SVD(n_epochs=1)}
    found = run(given, data=features(), folder=tmp_path, **BOTH)
    for metric in found.metrics:
        assert found.per_user[metric, "own"].equals(found.per_user[metric, "f"])
    assert not hasattr(given["own"], "means")
    again: dict[str, Any] = {"own": GenreMeans(), "top": MostPopular()}
    run(again, data=features(), folder=tmp_path, **BOTH)
    again["own"] = GenreMeans(3)
    assert_rejected(
        "random_state of own: None, now 3", run, again, data=features(), folder=tmp_path, **BOTH
    )


def test_a_pipeline_is_a_model(tmp_path: Path) -> None:
    """Its steps get the seed of the run, and a change of a step is another experiment."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import Ridge, SGDRegressor  # noqa: PLC0415 - a peer
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415

    def pipeline(step: Any) -> Any:
        return make_pipeline(OneHotEncoder(handle_unknown="ignore"), step)

    table = ratings()[["user", "item", "rating"]]
    noisy = SGDRegressor(max_iter=3, tol=None)
    given = {"ridge": pipeline(Ridge()), "noisy": pipeline(noisy), "top": MostPopular()}
    found = run(given, data=table, folder=tmp_path, seeds=[1], **BOTH)
    assert found.leaderboard.index[0] == "ridge"
    assert noisy.random_state is None
    for line in ("from sklearn.linear_model import Ridge\n", "'ridge': Pipeline(steps=[('onehot"):
        assert line in str(found._data.code)
    run(given, data=table, folder=tmp_path, seeds=[1], **BOTH, on_result=pytest.fail)
    pd.testing.assert_frame_equal(
        run(given, data=table, seeds=[1], **BOTH).per_user, found.per_user
    )
    other = {"ridge": pipeline(Ridge(alpha=3.0)), "top": MostPopular()}
    fault = "ridge__alpha of ridge: 1, now 3"
    assert_rejected(fault, run, other, data=table, folder=tmp_path, seeds=[1], **BOTH)


def test_code_imports_models_their_steps_and_splitters() -> None:
    """What is in no module gets a comment."""

    class Step(GenreMeans):
        def get_params(self) -> dict[str, Any]:
            return {}

    class Steps(GenreMeans):
        def get_params(self) -> dict[str, Any]:
            return {"step": Step()}

    assert format_imports([Steps(), KFold(2), MostPopular()]) == [
        "# define Steps here", "# define Step here",
        "from surprise.model_selection import KFold",
        "from recsys_ndcg.surprise import MostPopular",
    ]  # fmt: skip


# lists


def _estimates(train: pd.DataFrame) -> Any:
    counts = train.groupby("item").size() + train.groupby("item")["rating"].mean() / 100
    return lambda pairs: pairs["item"].map(counts).fillna(0.0)


def _lists(form: str, n: int = 80, *, unrated: bool = True) -> Any:
    """Return a function that lists the items with the highest estimates."""

    def function(train: pd.DataFrame) -> Any:
        pairs = train[["user"]].drop_duplicates().merge(train[["item"]].drop_duplicates(), "cross")
        pairs["estimated"] = _estimates(train)(pairs)
        if unrated:
            seen = pd.MultiIndex.from_frame(train[["user", "item"]])
            pairs = pairs[~pd.MultiIndex.from_frame(pairs[["user", "item"]]).isin(seen)]
        top = pairs.sort_values("estimated", ascending=False).groupby("user").head(n)
        if form == "dict":
            return top.groupby("user")["item"].agg(list).to_dict()
        if form == "rank":
            top = top.assign(rank=top.groupby("user").cumcount() + 1)
        return top[["user", "item", form]]

    return function


LEFT_OUT = r"^\w+: Listed items are left out \(\d+ of \d+\), because the user rated them in"
BEYOND: dict[str, Any] = {
    "metrics": ["ndcg@5", "recall@5", "coverage@5", "popularity@5"],
    "threshold": 4,
}


FORMS_OF_LISTS = product(["dict", "rank", "estimated"], [{}, {"n": 8}, {"unrated": False}])


@pytest.mark.parametrize("case", some(FORMS_OF_LISTS, 4))
def test_lists_are_measured_like_the_estimates_behind_them(case: tuple[str, Any]) -> None:
    """Under the catalogue protocol, with the same chance; without items rated in training."""
    form, options = case
    given = {"f": _estimates, "lists": _lists(form, **options)}
    is_left_out = options and "n" not in options and form != "estimated"
    expected = pytest.warns(rn.DataWarning, match=LEFT_OUT) if is_left_out else nullcontext()
    with expected:
        found = run(given, protocol="catalogue", **BEYOND)
    assert found.metrics == [f"{name}:catalogue" for name in BEYOND["metrics"]]
    one, other = (
        found.to_frame()[["mean", "chance"]].xs(name, level="model").to_numpy() for name in given
    )
    assert one == pytest.approx(other, nan_ok=True)


def test_lists_have_no_scores_on_test_ratings() -> None:
    """With both protocols they have those of the catalogue; if only ratings are, an error helps."""
    given = {"lists": _lists("dict"), "top": MostPopular(), "f": _estimates}
    both = run(given, **BOTH | {"metrics": ["ndcg@5", "rmse"]})
    assert both.metrics == ["ndcg@5:catalogue"]
    assert "Metrics that only some models have are left out: ndcg@5, rmse." in both.remarks
    rated = both.runs[["ndcg@5", "rmse"]].groupby("model").count()
    assert rated.T.to_dict("list") == {"f": [2, 2], "lists": [0, 0], "top": [2, 2]}
    with pytest.warns(
        rn.DataWarning, match="^lists failed in 2 of 2.*Pass protocol='catalogue', or"
    ):
        run(given)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (_lists("rank", 3), r"^f: 30 of 30 test users have lists of fewer than 5 .* Return more"),
        (_lists("dict", 7, unrated=False), f"{LEFT_OUT}|fewer than 5 items"),
        (lambda train: {user: ["i001"] * 2 for user in train["user"]}, "has the item 'i001' twice"),
        (lambda _: {1: ["i001"]}, "have ids of type text .*the lists of type number"),
        (lambda train: train[["user", "item"]], "returns a table without estimated.*{user: "),
        (lambda _: {}, "no items in any list"),
    ],
)  # fmt: skip
def test_lists_that_cannot_be_measured_give_a_message(function: Any, match: str) -> None:
    """Once, with the numbers of the first such fold."""
    with pytest.warns(rn.DataWarning, match=match) as caught:
        run({"f": function, "top": MostPopular()}, protocol="catalogue", **QUICK)
    assert len(caught) == 1 + ("|" in match)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("column", ["estimated", "score"])
def test_users_without_a_list_score_0(column: str) -> None:
    """Also if the last users have none, or the only listed items are left out."""
    table = ratings()
    users = sorted(table["user"].unique())

    def listed(train: pd.DataFrame) -> pd.DataFrame:
        top = train["item"].value_counts().index[:3]
        pairs = [(user, item, -place) for user in users[:9] for place, item in enumerate(top)]
        return pd.DataFrame(pairs, columns=["user", "item", column])

    found = run({"some": listed}, data=table, protocol="catalogue")
    scores = found.per_user[found.metrics[0]]["some"]
    assert (scores.drop(users[:9]) == 0).all()
    nobody = run({"no": lambda _: {"x": ["y"]}}, protocol="catalogue")
    assert nobody.leaderboards[nobody.metrics[0]]["mean"]["no"] == 0


def test_the_ratings_of_a_user_do_not_depend_on_the_number_of_seeds() -> None:
    """Each rating is tested once in a run."""
    for seeds in (1, 2):
        found = run({"top": MostPopular()}, seeds=seeds, **QUICK)
        counts = pd.Series(found._data.model_scores["top"].counts.n_items, list(found.users))
        assert counts.to_dict() == ratings()["user"].value_counts().to_dict()
