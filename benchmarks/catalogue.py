"""Rank the whole catalogue in Surprise's own way and with recsys_ndcg.surprise, and compare.

    python benchmarks/catalogue.py [--small]

Draws ratings in the shape of MovieLens-100K (943 users, 1,682 items), and a model of 134,632 users
and 4,629 items, for which 128 GB were not enough (Surprise's issue 368).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from side_by_side.measuring import read_clocks, time_fastest
from side_by_side.tables import describe_machine, format_ratio, format_seconds, format_table
from surprise import NMF, SVD, Dataset, KNNBaseline, KNNBasic, KNNWithMeans, Reader, SlopeOne, SVDpp

from recsys_ndcg import DataWarning
from recsys_ndcg.surprise import evaluate_catalogue, rank_catalogue

if TYPE_CHECKING:
    from numpy.typing import NDArray

ITEM = {"name": "pearson_baseline", "user_based": False}
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "SVD, 100 factors": (SVD, {"n_epochs": 2, "random_state": 0}),
    "SVDpp": (SVDpp, {"n_epochs": 1, "random_state": 0}),
    "NMF": (NMF, {"n_epochs": 2, "random_state": 0}),
    "SlopeOne": (SlopeOne, {}),
    "KNNBasic, users": (KNNBasic, {"verbose": False}),
    "KNNWithMeans, users": (KNNWithMeans, {"verbose": False}),
    "KNNBaseline, items": (KNNBaseline, {"sim_options": ITEM, "verbose": False}),
}
USERS, ITEMS, RATINGS = 943, 1_682, 100_000
MANY_USERS, MANY_ITEMS, FACTORS = 134_632, 4_629, 100
_SAMPLE = 20_000  # pairs, for models too slow for all pairs


def draw_ratings(n_users: int, n_items: int, n_ratings: int) -> Dataset:
    """Draw ratings: a few users rate many items, and a few items get many ratings."""
    draw = np.random.default_rng(0)
    popular = 1 / np.arange(1, n_items + 1) ** 0.9
    active = draw.lognormal(4, 0.9, n_users)
    user = draw.choice(n_users, 3 * n_ratings, p=active / active.sum())
    item = draw.choice(n_items, 3 * n_ratings, p=popular / popular.sum())
    # every user and every item occurs
    user = np.concatenate([np.arange(n_users), draw.integers(0, n_users, n_items), user])
    item = np.concatenate([draw.integers(0, n_items, n_users), np.arange(n_items), item])
    frame = pd.DataFrame({"user": user, "item": item}).drop_duplicates().head(n_ratings)
    rating = draw.integers(1, 6, len(frame))
    return Dataset.load_from_df(frame.assign(rating=rating), Reader(rating_scale=(1, 5)))


def time_surprise(algo: Any, trainset: Any) -> tuple[NDArray[np.float64], float]:
    """Return the times of build_anti_testset and algo.test, and the share of pairs predicted.

    A slow model predicts a sample of the pairs; its time is scaled up.
    """
    start = read_clocks()
    pairs = trainset.build_anti_testset()
    built = read_clocks() - start
    sample = pairs
    if not isinstance(algo, SVD | NMF):
        chosen = np.random.default_rng(0).choice(len(pairs), _SAMPLE, replace=False)
        sample = [pairs[index] for index in chosen]
    start = read_clocks()
    algo.test(sample)
    share = len(sample) / len(pairs)
    return built + (read_clocks() - start) / share, share


def compare_models() -> None:
    """Print a table with a row per model."""
    trainset = draw_ratings(USERS, ITEMS, RATINGS).build_full_trainset()
    draw = np.random.default_rng(1)
    seen = {(u, i) for u, i, _ in trainset.build_testset()}
    pairs = zip(draw.integers(0, USERS, 25_000), draw.integers(0, ITEMS, 25_000), strict=True)
    test = [(int(u), int(i), 5.0) for u, i in dict.fromkeys(pairs) if (u, i) not in seen]
    print(f"{USERS} users x {ITEMS:,} items, {RATINGS:,} ratings")
    print("CPU seconds, and the wall's; ratio of Surprise's to ours by CPU, and by wall")
    print("part: predicted by Surprise, whose seconds are scaled")
    rows = []
    for name, (kind, options) in MODELS.items():
        algo = kind(**options).fit(trainset)
        theirs, share = time_surprise(algo, trainset)
        top = time_fastest(lambda algo=algo: rank_catalogue(algo, trainset), 5)  # type: ignore[misc]
        scored = time_fastest(
            lambda algo=algo: evaluate_catalogue(algo, trainset, test, threshold=4).summary,  # type: ignore[misc]
            times=2,
        )
        cells = map(format_seconds, theirs)
        for ours in (top, scored):
            cells = [*cells, *map(format_seconds, ours), *map(format_ratio, theirs / ours)]
        rows.append([name, *cells, "" if share == 1 else f"{share:.1%}"])
    more = ["wall", "ratio", "wall"]
    print(format_table(["", "Surprise", "wall", "top 10", *more, "NDCG", *more, "part"], rows))


def run_large_model() -> None:
    """Rank and score the large model's catalogue, and print time and memory."""
    trainset = draw_ratings(MANY_USERS, MANY_ITEMS, 5 * MANY_USERS).build_full_trainset()
    algo = SVD(n_factors=FACTORS, n_epochs=0, random_state=0).fit(trainset)
    draw = np.random.default_rng(1)
    items = draw.integers(0, MANY_ITEMS, MANY_USERS).tolist()
    test = [(user, item, 5.0) for user, item in enumerate(items)]
    start = read_clocks()
    top = rank_catalogue(algo, trainset)
    ranked = read_clocks()
    report = evaluate_catalogue(algo, trainset, test, threshold=4)
    counts = report.counts
    took, scored = ranked - start, read_clocks() - ranked
    print(
        f"\n{MANY_USERS:,} users x {MANY_ITEMS:,} items, SVD of {FACTORS} factors, "
        f"{trainset.n_ratings:,} ratings\n"
        f"top 10 of all users, {len(top):,} rows: {took[0]:.1f} s CPU, {took[1]:.1f} s wall\n"
        f"NDCG, precision, recall of {counts['ratings']:,} candidates, "
        f"with the MostPopular baseline: {scored[0]:.1f} s CPU, {scored[1]:.1f} s wall\n"
        f"peak memory of the process: {_peak_memory():.0f} MiB, with the ratings and the model"
    )


def _peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the table; the large model runs in its own process, so that its memory is known."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="without the large model")
    parser.add_argument("--large", action="store_true", help="only the large model")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    if chosen.large:
        run_large_model()
        return
    print(describe_machine())
    compare_models()
    if not chosen.small:
        subprocess.run([sys.executable, __file__, "--large"], check=True)  # noqa: S603 - ourselves


if __name__ == "__main__":
    main()
