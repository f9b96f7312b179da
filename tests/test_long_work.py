"""Long work says how far it is, unless nobody wants to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import progress
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.progress import Steps
from tests.commands import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = {
    name: pd.DataFrame(
        {
            "user": np.repeat(np.arange(40), 5),
            "item": np.tile(np.arange(5), 40),
            "estimated": np.random.default_rng(seed).permutation(200) / 7,
            "true": np.random.default_rng(9).integers(1, 6, 200),
        }
    )
    for seed, name in enumerate("abc")
}
NDCG: dict[str, Any] = {"metrics": ["ndcg@5"], "threshold": 4}


class Said:
    """What a person would see, and how often somebody wanted that."""

    def __init__(self) -> None:
        self.steps: dict[str, list[float]] = {}
        self.wanted = 0

    def bar(self) -> Said:
        """Count."""
        self.wanted += 1
        return self

    def set(self, what: str, share: float) -> None:
        """Keep."""
        self.steps.setdefault(what, []).append(share)


@pytest.fixture(name="said")
def _said(monkeypatch: pytest.MonkeyPatch) -> Said:
    found = Said()
    monkeypatch.setattr(progress, "choose_bar", found.bar)
    monkeypatch.setattr(Steps, "set", lambda _, what, share: found.set(what, share))
    return found


def check(said: Said, work: Callable[..., Any], **steps: int) -> None:
    """Check how often each step is told of, up to its end; and nothing, where that is wanted."""
    work(progress=False)
    assert said.wanted == 0
    work()
    assert said.wanted
    found = {name.replace(" ", "_"): shares for name, shares in said.steps.items()}
    assert {name: len(shares) for name, shares in found.items()} == steps
    for shares in found.values():
        assert min(shares) >= 0
        assert max(shares) == 1


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_resampled_users(said: Said, method: str) -> None:
    """A block of 64 draws at a time; those of Student's t take no time."""
    report, comparison = rn.evaluate(MODELS["a"], **NDCG), rn.compare(MODELS, **NDCG)
    said.wanted = 0
    said.steps.clear()
    report.intervals()
    comparison.intervals()
    assert said.wanted == 0
    check(said, lambda **how: report.intervals(method=method, draws=256, **how), Resampling_users=4)
    said.wanted = 0
    said.steps.clear()
    check(
        said, lambda **how: comparison.intervals(method=method, draws=256, **how),
        Resampling_users=4,
    )  # fmt: skip


@pytest.mark.parametrize(("test", "size"), [("bootstrap", 64), ("randomisation", 128)])
def test_a_comparison_by_draws(said: Said, test: str, size: int) -> None:
    """The models, and then each test when it is asked for."""
    blocks = -(-1024 // size)

    def work(**how: Any) -> None:
        comparison = rn.compare(MODELS, **NDCG, test=test, draws=1024, by="activity", **how)
        assert len(comparison.pairwise) == 3
        assert len(comparison.segments)

    check(
        said, work, Evaluating=4, **{"Testing_ndcg@5": blocks, "Testing_pooled_ndcg@5": blocks},
        Testing_segments=1,
    )  # fmt: skip


def test_a_comparison_of_scores_alone_says_little(said: Said) -> None:
    """A test that draws nothing is done at once."""
    assert len(rn.compare(MODELS, **NDCG).pairwise) == 3
    assert said.steps.keys() == {"Evaluating"}


def test_the_command_line(said: Said, tmp_path: Path) -> None:
    """As many models as there are; nothing where it is to be quiet."""
    paths = []
    for name, table in MODELS.items():
        paths.append(tmp_path / f"{name}.csv")
        table.to_csv(paths[-1], index=False)

    def work(*, progress: bool = True) -> None:
        words = [] if progress else ["--quiet"]
        assert run("compare", *paths, "--metrics", "ndcg@5", *words).exit_code == 0
        words += ["--fail-if-worse", str(paths[1]), "--margin", "9"]
        assert run("evaluate", paths[0], "--metrics", "ndcg@5", *words).exit_code == 0

    # three models, as files and then as reports, and an older one
    check(said, work, Evaluating=4 + 4 + 2)


def test_folds_and_combinations(said: Said) -> None:
    """Each fold of each combination counts."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg.surprise import (  # noqa: PLC0415 - needs the library
        GridSearchCV,
        RandomizedSearchCV,
        cross_validate,
    )

    table = sample_ratings(30, 40)[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(0.5, 5)))
    grid = {"n_factors": [2, 3], "n_epochs": [1]}

    def searched(kind: Any, **how: Any) -> None:
        kind(surprise.SVD, grid, measures=["ndcg@5"], cv=3, **how).fit(data)

    model = surprise.SVD(n_factors=2, n_epochs=1)
    jobs: list[tuple[int, Callable[..., Any]]] = [
        (3, lambda **how: cross_validate(model, data, ["ndcg@5"], cv=3, **how)),
        (6, lambda **how: searched(GridSearchCV, **how)),
        (6, lambda **how: searched(GridSearchCV, n_jobs=2, **how)),
        (3, lambda **how: searched(RandomizedSearchCV, n_iter=1, **how)),
    ]
    for folds, job in jobs:
        said.wanted = 0
        said.steps.clear()
        check(said, job, Fitting=folds + 1)
        assert said.steps["Fitting"] == [fold / folds for fold in range(folds + 1)]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_blocks_of_a_catalogue(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of an algorithm that is asked pair by pair."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg.catalogue import candidates  # noqa: PLC0415
    from recsys_ndcg.surprise import (  # noqa: PLC0415 - needs the library
        evaluate_catalogue,
        predict_all,
        rank_catalogue,
    )

    monkeypatch.setattr(candidates, "_CELLS", 400)
    table = sample_ratings(30, 40)[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(0.5, 5)))
    trainset = data.build_full_trainset()
    blocks = -(-trainset.n_users // (400 // trainset.n_items))
    test = [(row.user, row.item, row.rating) for row in table.itertuples()]
    for kind in (surprise.SVD, surprise.NormalPredictor):
        algo = kind().fit(trainset)
        for step, work in {
            "Ranking_the_catalogue": lambda algo=algo, **how: rank_catalogue(algo, trainset, **how),
            "Predicting": lambda algo=algo, **how: predict_all(algo, **how),
        }.items():
            said.wanted = 0
            said.steps.clear()
            check(said, work, **{step: blocks})
    said.wanted = 0
    said.steps.clear()
    check(
        said,
        lambda **how: evaluate_catalogue(
            algo, trainset, test, exclude=None, metrics=["ndcg@5"], **how
        ),
        Ranking_the_catalogue=blocks,
        Ranking_by_popularity=blocks,
    )


def test_files_on_disk(said: Said, tmp_path: Path) -> None:
    """By default, too."""
    pytest.importorskip("duckdb")
    for name, table in MODELS.items():
        table.assign(user=table["user"].map(f"{name}{{}}".format)).to_csv(
            tmp_path / f"{name}.csv", index=False
        )

    def work(**how: Any) -> None:
        rn.evaluate(str(tmp_path / "*.csv"), **NDCG, **how)

    work(progress=False)
    assert said.wanted == 0
    work()
    assert said.wanted == 1
    assert said.steps["Looking at all rows"][-1] == 1
