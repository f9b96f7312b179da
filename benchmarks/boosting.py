"""What a metric costs: LightGBM and XGBoost train with and without ours on a validation set.

Trains in turn without and with the metric, and prints the ratio of the fastest times, and the time
of one call. Without the metric the libraries predict for the validation set, too. Needs the extras
`lightgbm` and `xgboost`.

    python benchmarks/boosting.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import lightgbm
import numpy as np
import xgboost

import recsys_ndcg as rn

ROWS, GROUPS, FEATURES, ROUNDS = 100_000, 4_000, 30, 100


def draw(seed: int, n_rows: int) -> tuple[Any, Any, Any]:
    """Return features, grades from 0 to 4, and the sizes of groups."""
    rng = np.random.default_rng(seed)
    n_groups = n_rows * GROUPS // ROWS
    sizes = rng.multinomial(n_rows - n_groups, np.full(n_groups, 1 / n_groups)) + 1
    features = rng.normal(size=(n_rows, FEATURES)).astype(np.float32)
    grades = np.clip(features[:, :5].sum(axis=1) + rng.normal(size=n_rows), 0, 4).astype(int)
    return features, grades, sizes


def train_lightgbm(parts: list[Any], metric: Any) -> None:
    """Train with LightGBM; a metric that does nothing stands for none."""
    data, valid = (lightgbm.Dataset(x, y, group=sizes) for x, y, sizes in parts)
    valid.reference = data
    options = {"objective": "lambdarank", "metric": "none", "verbose": -1}
    lightgbm.train(options, data, ROUNDS, valid_sets=[valid], feval=metric)


def train_xgboost(parts: list[Any], metric: Any) -> None:
    """Train with XGBoost; a metric that does nothing stands for none."""
    data, valid = (
        xgboost.DMatrix(x, y, qid=np.repeat(np.arange(len(sizes)), sizes)) for x, y, sizes in parts
    )
    options = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    how: dict[str, Any] = {"evals": [(valid, "valid")], "verbose_eval": False}
    xgboost.train(options, data, ROUNDS, **how, custom_metric=metric)


def measure(
    train: Callable[[list[Any], Any], None], parts: list[Any], metrics: dict[str, Any], times: int
) -> dict[str, float]:
    """Return the fastest time of training with each metric, in turn."""
    taken: dict[str, float] = dict.fromkeys(metrics, np.inf)
    for _ in range(times):
        for name, metric in metrics.items():
            began = time.perf_counter()
            train(parts, metric)
            taken[name] = min(taken[name], time.perf_counter() - began)
    return taken


def main() -> None:
    """Print a line for each library, size of the validation set and metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, once")
    quick = parser.parse_args().quick
    n_rows = ROWS // 10 if quick else ROWS
    several = {"metrics": ["ndcg@10", "recall@10", "ap@10"], "threshold": 3}
    libraries: dict[str, tuple[Any, Any]] = {
        "LightGBM": (train_lightgbm, rn.lightgbm_metric),
        "XGBoost": (train_xgboost, rn.xgboost_metric),
    }
    for (name, (train, make)), n_valid in product(libraries.items(), (n_rows // 4, n_rows)):
        parts = [draw(0, n_rows), draw(1, n_valid)]
        metrics = {"none": lambda *_: [], "ndcg@10": make("ndcg@10"), "three": make(**several)}
        taken = measure(train, parts, metrics, 1 if quick else 3)
        for metric in ("ndcg@10", "three"):
            ratio, more = taken[metric] / taken["none"], taken[metric] - taken["none"]
            print(
                f"{name}, {n_rows} rows, {n_valid} to validate, {metric}: {taken[metric]:.2f} s, "
                f"{ratio:.3f} times {taken['none']:.2f} s, {1000 * more / ROUNDS:.1f} ms a round"
            )


if __name__ == "__main__":
    main()
