"""Long tasks report their progress, unless progress=False."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg import progress
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.progress import Steps
from tests.commands import run
from tests.scale.cases import predictions

ROWS = predictions(0, n_users=40, n_rows=200)
MODELS = {
    name: ROWS.assign(estimated=ROWS["estimated"] % most)
    for name, most in (("a", 9), ("b", 3), ("c", 2))
}
NDCG: dict[str, Any] = {"metrics": ["ndcg@5"], "threshold": 4}


class Recorder:
    """Records the steps that a person would see, and how many bars were made."""

    def __init__(self) -> None:
        self.steps: dict[str, list[float]] = {}
        self.bars = 0

    def make_bar(self) -> Recorder:
        """Count a bar."""
        self.bars += 1
        return self

    def check(self, work: Callable[..., Any], **steps: int) -> None:
        """Check how many shares each step reports, up to 1; and none with progress=False."""
        self.bars = 0
        self.steps.clear()
        work(progress=False)
        assert self.bars == 0
        work()
        assert self.bars
        found = {name.replace(" ", "_"): shares for name, shares in self.steps.items()}
        assert {name: len(shares) for name, shares in found.items()} == steps
        assert all((min(shares) >= 0) and (max(shares) == 1) for shares in found.values())


@pytest.fixture(name="recorder")
def _recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(progress, "choose_bar", recorder.make_bar)
    monkeypatch.setattr(
        Steps, "set", lambda _, what, share: recorder.steps.setdefault(what, []).append(share)
    )
    return recorder


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_resampled_users(recorder: Recorder, method: str) -> None:
    """A block of 64 draws at a time; Student's t needs no bar."""
    for one in (rn.evaluate(MODELS["a"], **NDCG), rn.compare(MODELS, **NDCG)):
        recorder.bars = 0
        one.intervals()
        assert recorder.bars == 0
        resample = partial(one.intervals, method=method, draws=256)
        recorder.check(resample, Resampling_users=4)


@pytest.mark.parametrize(("test", "size"), [("bootstrap", 64), ("randomisation", 128)])
def test_a_comparison_by_draws(recorder: Recorder, test: str, size: int) -> None:
    """The models, and then each test when it is first needed."""
    steps = {f"Testing_{one}": -(-1024 // size) for one in ("ndcg@5", "pooled_ndcg@5")}

    def compare(**how: Any) -> None:
        comparison = rn.compare(MODELS, **NDCG, test=test, draws=1024, by="activity", **how)
        assert len(comparison.pairwise) == 3
        assert len(comparison.segments)

    recorder.check(compare, Evaluating=4, **steps, Testing_segments=1)


def test_a_test_without_draws_has_no_step(recorder: Recorder) -> None:
    """It takes no time."""
    assert len(rn.compare(MODELS, **NDCG).pairwise) == 3
    assert recorder.steps.keys() == {"Evaluating"}


def test_commands(recorder: Recorder, tmp_path: Path) -> None:
    """A step per model; nothing with --quiet."""
    paths = [tmp_path / f"{name}.csv" for name in MODELS]
    for path, table in zip(paths, MODELS.values(), strict=True):
        table.to_csv(path, index=False)

    def call(*, progress: bool = True) -> None:
        words = [] if progress else ["--quiet"]
        assert run("compare", *paths, "--metrics", "ndcg@5", *words).exit_code == 0
        words += ["--fail-if-worse", str(paths[1]), "--margin", "9"]
        assert run("evaluate", paths[0], "--metrics", "ndcg@5", *words).exit_code == 0

    # three models, as files and then as reports, and an older one
    recorder.check(call, Evaluating=4 + 4 + 2)


@pytest.fixture(name="data")
def _data() -> Any:
    surprise = pytest.importorskip("surprise")
    table = sample_ratings(30, 40)[["user", "item", "rating"]]
    return surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(0.5, 5)))


@pytest.mark.parametrize(
    ("name", "folds", "options"),
    [
        ("cross_validate", 3, {}),
        ("GridSearchCV", 6, {}),
        pytest.param("GridSearchCV", 6, {"n_jobs": 2}, marks=pytest.mark.slow),
        ("RandomizedSearchCV", 3, {"n_iter": 1}),
    ],
)
def test_folds(
    recorder: Recorder, data: Any, name: str, folds: int, options: dict[str, Any]
) -> None:
    """Each fold of each combination of parameters."""
    import surprise  # noqa: PLC0415 - an extra

    from recsys_ndcg.surprise import model_selection  # noqa: PLC0415

    function = getattr(model_selection, name)
    grid = {"n_factors": [2, 3], "n_epochs": [1]}

    def fit(**how: Any) -> None:
        if name == "cross_validate":
            function(surprise.SVD(n_factors=2, n_epochs=1), data, ["ndcg@5"], cv=3, **how)
        else:
            function(surprise.SVD, grid, measures=["ndcg@5"], cv=3, **options, **how).fit(data)

    recorder.check(fit, Fitting=folds + 1)
    assert recorder.steps["Fitting"] == [fold / folds for fold in range(folds + 1)]


@pytest.mark.parametrize("kind", ["SVD", "NormalPredictor"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_blocks_of_a_catalogue(
    recorder: Recorder, data: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of an algorithm that estimates pair by pair."""
    import surprise  # noqa: PLC0415 - an extra

    import recsys_ndcg.surprise as ours  # noqa: PLC0415
    from recsys_ndcg.catalogue import candidates  # noqa: PLC0415

    monkeypatch.setattr(candidates, "_CELLS", 400)
    trainset = data.build_full_trainset()
    blocks = -(-trainset.n_users // (400 // trainset.n_items))
    algo = getattr(surprise, kind)().fit(trainset)
    test = [row[:3] for row in data.raw_ratings]
    rank = partial(ours.rank_catalogue, algo, trainset)
    recorder.check(rank, Ranking_the_catalogue=blocks)
    recorder.check(partial(ours.predict_all, algo), Predicting=blocks)
    score = partial(ours.evaluate_catalogue, algo, trainset, test, exclude=None, metrics=["ndcg@5"])
    recorder.check(score, Ranking_the_catalogue=blocks, Ranking_by_popularity=blocks)


def test_files_on_disk(recorder: Recorder, tmp_path: Path) -> None:
    """By default, too."""
    pytest.importorskip("duckdb")
    for name, table in MODELS.items():
        users = table["user"].map(f"{name}{{}}".format)
        table.assign(user=users).to_csv(tmp_path / f"{name}.csv", index=False)
    rn.evaluate(str(tmp_path / "*.csv"), **NDCG, progress=False)
    assert recorder.bars == 0
    rn.evaluate(str(tmp_path / "*.csv"), **NDCG)
    assert recorder.bars == 1
    assert recorder.steps["Looking at all rows"][-1] == 1
