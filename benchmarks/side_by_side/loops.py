"""A process that runs epochs batch by batch, with torchmetrics and ours alternately.

    python loops.py USERS ITEMS TIMES BATCH...

Prints a line of JSON for each batch size. Both get the same tensors; without torchmetrics, only
ours runs, on arrays.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import read_clocks

sys.path.append(
    str(Path(__file__).resolve().parents[2])
)  # not installed in the environment of torch

import recsys_ndcg as rn

PEER = "torchmetrics"
METRICS = ["ndcg@10", "precision@10", "recall@10"]
#: Seconds until torch's idle threads stop spinning.
SETTLED = 0.25


class Epoch(NamedTuple):
    """CPU and wall seconds of updates and of the result, bytes kept between updates, and means."""

    updates: list[float]
    result: list[float]
    held: int
    means: list[float]


def draw_tables(n_users: int, n_items: int) -> tuple[Any, Any, Any]:
    """Draw users, estimates and clicks as tables, users × items; a few users have no click.

    All estimates are above 0, because torchmetrics counts other items as no hits.
    """
    draw = np.random.default_rng(0)
    clicks = draw.random((n_users, n_items)) < 0.05
    estimated = np.exp(draw.normal(size=clicks.shape) + clicks).astype(np.float32)
    users = np.repeat(np.arange(n_users), n_items).reshape(clicks.shape)
    return users, estimated, clicks.astype(np.int64)


def cut_batches(tables: tuple[Any, Any, Any], size: int, *, flat: bool) -> list[tuple[Any, ...]]:
    """Return batches of `size` users, as tensors if torch is installed."""
    convert: Any = np.ascontiguousarray
    if find_spec("torch"):
        import torch  # noqa: PLC0415 - not everywhere

        convert = torch.from_numpy
    starts = range(0, len(tables[0]), size)
    batches = [[one[start : start + size] for one in tables] for start in starts]
    if flat:
        return [tuple(convert(one.ravel()) for one in batch) for batch in batches]
    return [(convert(one[0][:, 0].copy()), convert(one[1]), convert(one[2])) for one in batches]


def run_ours(batches: list[tuple[Any, ...]]) -> Epoch:
    """Run an epoch with an accumulator, under torchmetrics' convention."""
    start = read_clocks()
    scores = rn.Accumulator(METRICS, threshold=1, convention=PEER)
    for users, estimated, true in batches:
        scores.update(users, estimated, true)
    middle = read_clocks()
    means = scores.report().mean
    end = read_clocks()
    seconds = (middle - start).tolist(), (end - middle).tolist()
    return Epoch(*seconds, len(pickle.dumps(scores)), means.tolist())


def run_theirs(batches: list[tuple[Any, ...]]) -> Epoch:
    """Run an epoch with a torchmetrics collection, whose metrics share their state."""
    from torchmetrics import MetricCollection, retrieval  # noqa: PLC0415 - not everywhere

    start = read_clocks()
    kinds = (
        retrieval.RetrievalNormalizedDCG,
        retrieval.RetrievalPrecision,
        retrieval.RetrievalRecall,
    )
    metrics = MetricCollection(
        {name: kind(top_k=10) for name, kind in zip(METRICS, kinds, strict=True)}
    )
    for users, estimated, true in batches:
        metrics.update(estimated, true, indexes=users)
    middle = read_clocks()
    found = metrics.compute()
    end = read_clocks()
    one = next(iter(metrics.values()))
    held = sum(
        part.nbytes for name in ("indexes", "preds", "target") for part in getattr(one, name)
    )
    seconds = (middle - start).tolist(), (end - middle).tolist()
    return Epoch(*seconds, held, [float(found[name]) for name in METRICS])


def main() -> None:
    """Print a line for each batch size."""
    warnings.simplefilter("ignore")
    n_users, n_items, times, *sizes = map(int, sys.argv[1:])
    tables = draw_tables(n_users, n_items)
    is_installed = find_spec(PEER) is not None
    for size in sizes:
        columns, rows = (cut_batches(tables, size, flat=flat) for flat in (True, False))
        run_ours(columns[:1])  # a warm-up
        if is_installed:
            run_theirs(columns[:1])
        contestants = {
            "columns": (run_ours, columns),
            "tables": (run_ours, rows),
            "theirs": (run_theirs, columns),
        }
        runs = []
        for _ in range(times):
            run = {}
            for name, (run_epoch, batches) in contestants.items():
                if is_installed or run_epoch is run_ours:
                    time.sleep(SETTLED)
                    run[name] = run_epoch(batches)
            runs.append(run)
        peer = version(PEER) if is_installed else None
        print(json.dumps({"size": size, "peer": peer, "runs": runs}), flush=True)


if __name__ == "__main__":
    main()
