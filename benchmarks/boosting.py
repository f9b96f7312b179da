"""What a metric costs while LightGBM and XGBoost train: 100 rounds, and a validation set.

Prints the ratio of the time with the metric to the time without its calls, by CPU and by wall, the
least of three.
Needs the extras `lightgbm` and `xgboost`.

    python benchmarks/boosting.py [--quick]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from side_by_side.measuring import read_clocks

import recsys_ndcg as rn

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # waiting threads would take our processor
import lightgbm
import xgboost

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
    """Train with LightGBM; evaluate after each round."""
    data, valid = (lightgbm.Dataset(x, y, group=sizes) for x, y, sizes in parts)
    valid.reference = data
    options = {"objective": "lambdarank", "metric": "none", "verbose": -1}
    lightgbm.train(options, data, ROUNDS, valid_sets=[valid], feval=metric)


def train_xgboost(parts: list[Any], metric: Any) -> None:
    """Train with XGBoost; evaluate after each round."""
    data, valid = (
        xgboost.DMatrix(x, y, qid=np.repeat(np.arange(len(sizes)), sizes)) for x, y, sizes in parts
    )
    options = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    how: dict[str, Any] = {"evals": [(valid, "valid")], "verbose_eval": False}
    xgboost.train(options, data, ROUNDS, **how, custom_metric=metric)


class Timed:
    """A metric that adds up the time of its calls."""

    def __init__(self, metric: Any) -> None:
        self.metric, self.taken = metric, np.zeros(2)

    def __call__(self, estimated: Any, data: Any) -> Any:
        """Call the metric."""
        began = read_clocks()
        result = self.metric(estimated, data)
        self.taken += read_clocks() - began
        return result


def measure(train: Callable[[list[Any], Any], None], parts: list[Any], metric: Any) -> str:
    """Train with a metric, and return the ratio of the times with and without its calls."""
    timed, began = Timed(metric), read_clocks()
    train(parts, timed)
    without = read_clocks() - began - timed.taken
    ratios, each = 1 + timed.taken / without, 1000 * timed.taken / ROUNDS
    return ", ".join(
        f"{clock} {ratio:.3f} times {seconds:.2f} s, {milliseconds:.1f} ms a round"
        for clock, ratio, seconds, milliseconds in zip(
            ("CPU", "wall"), ratios, without, each, strict=True
        )
    )


def main() -> None:
    """Print a line for each library, size of the validation set and metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, once")
    quick = parser.parse_args().quick
    n_rows = ROWS // 10 if quick else ROWS
    several = {"metrics": ["ndcg@10", "recall@10", "ap@10"], "threshold": 3}
    libraries: dict[str, tuple[Any, Any]] = {
        "LightGBM": (train_lightgbm, rn.integrations.lightgbm_metric),
        "XGBoost": (train_xgboost, rn.integrations.xgboost_metric),
    }
    for (name, (train, make)), n_valid in product(libraries.items(), (n_rows // 4, n_rows)):
        parts = [draw(0, n_rows), draw(1, n_valid)]
        for metric in (make("ndcg@10"), make(**several)):
            ratios = [measure(train, parts, metric) for _ in range(1 if quick else 3)]
            print(f"{name}, {n_rows} rows, {n_valid} to validate, {metric!r}: {min(ratios)}")


if __name__ == "__main__":
    main()
