"""A process that goes through epochs, batch by batch, with torchmetrics and with ours in turn.

    python loops.py USERS ITEMS TIMES BATCH...

Prints a line of JSON for each number of users in a batch. Both are handed the same tensors; without
torchmetrics, ours alone is run, on arrays.
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

sys.path.append(str(Path(__file__).resolve().parents[2]))  # not installed beside the other library

import recsys_ndcg as rn

PEER = "torchmetrics"
METRICS = ["ndcg@10", "precision@10", "recall@10"]
#: Seconds until threads of torch no longer spin while they wait for work.
SETTLED = 0.25


class Epoch(NamedTuple):
    """What an epoch took and said: seconds of all updates and of the result, bytes held before."""

    updates: float
    result: float
    held: int
    means: list[float]

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.updates + self.result


def drawn(n_users: int, n_items: int) -> tuple[Any, Any, Any]:
    """Draw users, estimates and clicks as tables, users × items; a few users have no click.

    All estimates are above 0: torchmetrics counts no hit where they are not.
    """
    draw = np.random.default_rng(0)
    clicks = draw.random((n_users, n_items)) < 0.05
    estimated = np.exp(draw.normal(size=clicks.shape) + clicks).astype(np.float32)
    users = np.repeat(np.arange(n_users), n_items).reshape(clicks.shape)
    return users, estimated, clicks.astype(np.int64)


def cut(tables: tuple[Any, Any, Any], size: int, *, flat: bool) -> list[tuple[Any, ...]]:
    """Return batches of so many users, as tensors if there are such."""
    made: Any = np.ascontiguousarray
    if find_spec("torch"):
        import torch  # noqa: PLC0415 - not everywhere

        made = torch.from_numpy
    starts = range(0, len(tables[0]), size)
    batches = [[one[start : start + size] for one in tables] for start in starts]
    if flat:
        return [tuple(made(one.ravel()) for one in batch) for batch in batches]
    return [(made(one[0][:, 0].copy()), made(one[1]), made(one[2])) for one in batches]


def ours(batches: list[tuple[Any, ...]]) -> Epoch:
    """Go through an epoch with an accumulator, under the convention of the other."""
    start = time.perf_counter()
    scores = rn.Accumulator(METRICS, threshold=1, convention=PEER)
    for users, estimated, true in batches:
        scores.update(users, estimated, true)
    middle = time.perf_counter()
    means = scores.report().mean
    end = time.perf_counter()
    return Epoch(middle - start, end - middle, len(pickle.dumps(scores)), means.tolist())


def theirs(batches: list[tuple[Any, ...]]) -> Epoch:
    """Go through an epoch with a collection, whose metrics share what they hold."""
    from torchmetrics import MetricCollection, retrieval  # noqa: PLC0415 - not everywhere

    start = time.perf_counter()
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
    middle = time.perf_counter()
    found = metrics.compute()
    end = time.perf_counter()
    one = next(iter(metrics.values()))
    held = sum(
        part.nbytes for name in ("indexes", "preds", "target") for part in getattr(one, name)
    )
    return Epoch(middle - start, end - middle, held, [float(found[name]) for name in METRICS])


def main() -> None:
    """Print a line for each size of a batch."""
    warnings.simplefilter("ignore")
    n_users, n_items, times, *sizes = map(int, sys.argv[1:])
    tables = drawn(n_users, n_items)
    there = find_spec(PEER) is not None
    for size in sizes:
        columns, rows = (cut(tables, size, flat=flat) for flat in (True, False))
        ours(columns[:1])  # what is imported and kept at first
        if there:
            theirs(columns[:1])
        turn = {"columns": (ours, columns), "tables": (ours, rows), "theirs": (theirs, columns)}
        told = []
        for _ in range(times):
            run = {}
            for name, (way, batches) in turn.items():
                if there or way is ours:
                    time.sleep(SETTLED)
                    epoch = way(batches)
                    run[name] = [*epoch, epoch.seconds]
            told.append(run)
        peer = version(PEER) if there else None
        print(json.dumps({"size": size, "peer": peer, "runs": told}), flush=True)


if __name__ == "__main__":
    main()
