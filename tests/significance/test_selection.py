"""The optimism of a search's best: the same as a slow count, and near the truth."""

from __future__ import annotations

import numpy as np
import pytest

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import estimate_optimism
from recsys_ndcg.significance.exact_sums import draw_sums


def _drawn_halves(users: int, draws: int, seed: int) -> list[list[bool]]:
    """Return whether each user is in the first half, from sums of the users' own columns."""
    signs = draw_sums(np.eye(users), draws, seed, signs=True)
    return (signs > 0).tolist()  # type: ignore[no-any-return]


def _count_slowly(values: Floats, draws: int, seed: int) -> float:
    """Return the optimism in plain Python: choose in one half, score in the other."""
    users, models = values.shape
    fair = []
    for halves in _drawn_halves(users, draws, seed):
        chosen: list[float] = []
        for side in (True, False):
            means = []
            for model in range(models):
                own = [values[u, model] for u in range(users) if halves[u] == side]
                known = [one for one in own if not np.isnan(one)]
                means.append(sum(known) / len(known) if known else -np.inf)
            best = means.index(max(means))
            other = [values[u, best] for u in range(users) if halves[u] != side]
            chosen += [one for one in other if not np.isnan(one)]
        if chosen:
            fair.append(sum(chosen) / len(chosen))
    return float(np.nanmean(values, axis=0).max() - np.mean(fair))


@pytest.mark.parametrize("share_unknown", [0.0, 0.3])
@pytest.mark.parametrize("users", [2, 7, 40])
def test_it_is_the_slow_count(users: int, share_unknown: float) -> None:
    """Also with missing scores, and halves in which a model has none."""
    random = np.random.default_rng(users)
    values = random.normal(5, 1, (users, 6))
    values[random.random(values.shape) < share_unknown] = np.nan
    found = estimate_optimism(values, draws=150, seed=3)
    assert found == pytest.approx(_count_slowly(values, 150, 3), abs=1e-9)


def test_the_same_models_and_one_model_have_none() -> None:
    """There was nothing to choose."""
    values = np.random.default_rng(0).normal(size=(50, 1))
    assert abs(estimate_optimism(values)) < 1e-12
    assert abs(estimate_optimism(np.repeat(values, 9, axis=1))) < 1e-12
    clear = np.hstack([values, values + 5, values + 1])
    assert abs(estimate_optimism(clear)) < 1e-12


@pytest.mark.parametrize("values", [np.ones((1, 3)), np.full((9, 3), np.nan), np.ones((0, 2))])
def test_too_few_scores_have_none(values: Floats) -> None:
    """NaN, without a warning."""
    assert np.isnan(estimate_optimism(values))


def test_a_seed_gives_one_number_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """And another seed another one, that differs little."""
    values = np.random.default_rng(1).normal(size=(300, 12))
    found = [estimate_optimism(values, seed=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    assert found[2] == pytest.approx(found[0], rel=0.1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert estimate_optimism(values) == found[0]


@pytest.mark.parametrize(("spread", "users"), [(0.0, 100), (0.0, 400), (0.02, 100)])
def test_it_is_near_the_truth(spread: float, users: int) -> None:
    """24 models whose true means are known: never too small, and right if they are equal."""
    random = np.random.default_rng(users)
    truth = spread * random.normal(size=24)
    found, actual = [], []
    for _ in range(60):
        common = random.normal(0, 0.2, (users, 1))
        values = truth + common + random.normal(0, 0.05, (users, 24))
        best = values.mean(axis=0).argmax()
        actual.append((values - common).mean(axis=0)[best] - truth[best])
        found.append(estimate_optimism(values, draws=200))
    mean, error = np.mean(actual), np.std(actual) / 60**0.5
    high = 1.05 * mean if spread == 0 else 2 * mean
    assert 0.9 * mean - 2 * error < np.mean(found) < high + 2 * error
