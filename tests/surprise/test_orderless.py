"""A model that orders nothing scores as random order does, and that is said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.surprise.warned import said

surprise = pytest.importorskip("surprise")

from recsys_ndcg.surprise import (  # noqa: E402
    SVD,
    AlgoBase,
    Dataset,
    GridSearchCV,
    KFold,
    KNNBasic,
    MostPopular,
    RandomizedSearchCV,
    Reader,
    accuracy,
    cross_validate,
    train_test_split,
)

TABLE = sample_ratings(40, 60)[["user", "item", "rating"]]
DATA = Dataset.load_from_df(TABLE, Reader(rating_scale=(0.5, 5)))
FOLDS = KFold(3, random_state=0)


class PerUser(AlgoBase):  # type: ignore[misc]
    """An algorithm that knows users alone; for some of them, items too."""

    def __init__(self, spread: float = 0.0) -> None:
        super().__init__()
        self.spread = spread

    def estimate(self, user: Any, item: Any) -> float:
        """Return what the user has for any item, or by the item what is beside it."""
        place = 0 if isinstance(user, str) else user % 7
        return 2 + place / 7 + (self.spread * hash(item) % 0.7)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("algo", "name"),
    [(PerUser(), "PerUser"), (KNNBasic(min_k=10**6, verbose=False), "KNNBasic")],
)
def test_an_algorithm_without_an_order_is_named_with_the_measures(
    algo: Any, name: str, n_jobs: int
) -> None:
    """One that knows users alone, and one that always falls back on the mean."""
    measures = ["rmse", "ndcg@5", "recall@5:catalogue"]
    how: dict[str, Any] = {"cv": FOLDS, "threshold": 4, "n_jobs": n_jobs}
    (message,) = said(lambda: cross_validate(algo, DATA, measures, **how))
    assert message.startswith(
        f"{name} estimates the same for every item of a user (3 of 3 folds): random order scores "
        "the same in ndcg@5, recall@5:catalogue. Check its parameters"
    )
    assert not said(lambda: cross_validate(algo, DATA, ["rmse", "fcp"], **how))


def test_its_score_is_that_of_random_order() -> None:
    """To the last bit that of any other constant, and the chance of the report."""
    with pytest.warns(rn.DataWarning, match="random order scores the same"):
        found = cross_validate(PerUser(), DATA, ["ndcg@5"], cv=FOLDS)
    trainset, testset = next(FOLDS.split(DATA))
    with pytest.warns(rn.DataWarning, match="Tied estimates"):
        report = rn.evaluate(PerUser().fit(trainset).test(testset), metrics="ndcg@5")
    assert found["test_ndcg@5"][0] == pytest.approx(report.audit["chance"]["ndcg@5"], abs=1e-12)


@pytest.mark.parametrize("algo", [MostPopular(), SVD(2, 1), PerUser(1e-3)])
def test_an_order_of_any_kind_is_one(algo: Any) -> None:
    """Also one that is the same for all users, or next to nothing."""
    assert not said(lambda: cross_validate(algo, DATA, ["ndcg@5", "ndcg@5:catalogue"], cv=FOLDS))


def test_clipped_estimates_may_have_an_order_in_the_catalogue() -> None:
    """Which is ranked unclipped: only the measure that has none is named."""
    data = Dataset.load_from_df(TABLE.assign(rating=TABLE["rating"] + 5), Reader())
    messages = said(lambda: cross_validate(SVD(2, 1), data, ["ndcg@5", "ndcg@5:catalogue"], FOLDS))
    (message,) = (one for one in messages if "random order" in one)
    assert "scores the same in ndcg@5. Check" in message


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_a_search_names_the_first_combination_without_an_order(kind: Any) -> None:
    """And counts them."""
    grid = {"spread": [1e-3, 0.0, 0.0]}
    more = {} if kind is GridSearchCV else {"n_iter": 3, "random_state": 0}
    search = kind(PerUser, grid, measures=["ndcg@5", "rmse"], cv=FOLDS, **more)
    (message,) = said(lambda: search.fit(DATA))
    assert message.startswith(
        "PerUser with {'spread': 0.0} estimates the same for every item of a user (2 of 3 "
        "combinations): random order scores the same in ndcg@5. "
    )


# predictions alone


METRICS = ["ap", "f1", "hit", "ndcg", "precision", "recall", "rr"]


@pytest.mark.parametrize("name", METRICS)
def test_a_model_that_diverged_is_told_by_its_predictions(name: str) -> None:
    """In one message, which says how to see it and what to do."""
    trainset, testset = train_test_split(DATA, random_state=0)
    algo = SVD(n_factors=4, n_epochs=20, lr_all=5, random_state=0).fit(trainset)
    found = algo.test(testset)
    assert math.isnan(algo.predict(*testset[0][:2], clip=False).est)
    values: list[float] = []
    metric = getattr(accuracy, name)
    (message,) = said(lambda: values.append(metric(found, verbose=False, threshold=4)))
    assert message.startswith(f"All {len(found)} estimates are 5: their order is random")
    for part in (
        "may have diverged",
        "predict(user, item, clip=False)",
        "smaller learning rate or more regularisation",
        "Else it estimates the same for everything.",
    ):
        assert part in message
    random = [(*one[:3], 3.0, {}) for one in found]
    with pytest.warns(rn.DataWarning):
        assert values == [metric(random, verbose=False, threshold=4)]


def predictions(n_top: int, n_other: int, top: float = 5.0) -> list[tuple[Any, ...]]:
    """Return predictions of which so many are at the top."""
    draw = np.random.default_rng(0)
    estimates = [top] * n_top + draw.uniform(1, 4, n_other).tolist()
    users = [f"u{place % 5}" for place in range(len(estimates))]
    return [
        (user, f"i{place}", float(1 + place % 5), estimate, {})
        for place, (user, estimate) in enumerate(zip(users, estimates, strict=True))
    ]


@pytest.mark.parametrize(
    ("n_top", "n_other", "start"),
    [(100, 0, "All 100 estimates are 5"), (95, 5, "95 of 100 estimates are 5"), (94, 6, None),
     (10, 0, "All 10 estimates are 5"), (9, 0, None)],
)  # fmt: skip
def test_nearly_all_at_the_top_are_enough(n_top: int, n_other: int, start: str | None) -> None:
    """Some users' estimates may be numbers still; few rows say nothing."""
    found = said(lambda: accuracy.ndcg(predictions(n_top, n_other), verbose=False))
    assert [one for one in found if "may have diverged" in one] == (found[:1] if start else [])
    assert start is None or found[0].startswith(start)


def test_a_constant_below_the_top_may_be_the_end_of_a_wrong_scale() -> None:
    """That is one more reason."""
    (message,) = said(lambda: accuracy.ndcg(predictions(50, 0, top=3.0), verbose=False))
    assert message.startswith("All 50 estimates are 3: ")
    assert message.endswith("its rating_scale ends there (the true values run to 5).")
    found = said(lambda: accuracy.ndcg(predictions(97, 3, top=4.5), verbose=False))
    assert "97.0% of the estimates are exactly 4.5" in found[0]
