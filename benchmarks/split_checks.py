"""What check_split says of three usual splits of a data set, and how long a million rows take.

    python benchmarks/split_checks.py ratings.dat

The file has user, item, rating and timestamp: CSV, tabs or '::'.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.ratings import read_ratings

CHECKS = {
    "users unknown in training": "test rows of unknown users",
    "items unknown in training": "test rows of unknown items",
    "later rows of the same user in training": "the user's later rows in training",
    "overlap of periods": "training rows later than the median test row",
    "items from the future": "the item's first training row is later",
    "users with one test row": "users with one test row",
}
MILLION = 1_000_000


def make_splits(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.Series[bool]]]:
    """Yield the name of a split, and which rows are tested."""
    draws = np.random.default_rng(0).random(len(ratings))
    yield "random 20 %", pd.Series(draws < 0.2, ratings.index)
    by_time = ratings.sort_values(["user", "timestamp"], kind="stable")
    yield "last of each user", by_time.groupby("user").cumcount(ascending=False) == 0
    place = ratings["timestamp"].rank(method="first")
    yield "last 20 % in time", place > 0.8 * len(ratings)


def build_table(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each check, and a column for each split."""
    columns = {}
    for name, is_test in make_splits(ratings):
        is_tested = is_test.reindex(ratings.index)
        found = rn.check_split(ratings[~is_tested], ratings[is_tested])
        shares = found.checks["share"]
        columns[name] = {title: f"{100 * shares[check]:.1f} %" for check, title in CHECKS.items()}
        z = found["popularity shift"].numbers["z_squared"]
        columns[name]["mean z² of items"] = f"{z:.1f}"
    return pd.DataFrame(columns)


def time_a_million(ratings: pd.DataFrame) -> float:
    """Return the seconds of a check of a million rows: copies with other users."""
    copies = [ratings.assign(user=ratings["user"].astype(str) + f"_{n}") for n in range(100)]
    rows = pd.concat(copies[: -(-MILLION // len(ratings))], ignore_index=True)[:MILLION]
    rows = rows.assign(user=pd.factorize(rows["user"])[0], item=pd.factorize(rows["item"])[0])
    is_test = np.random.default_rng(0).random(len(rows)) < 0.2
    train, test = rows[~is_test], rows[is_test]
    begin = time.perf_counter()
    rn.check_split(train, test)
    return time.perf_counter() - begin


def main() -> None:
    """Print the table, and the time."""
    ratings = read_ratings(sys.argv[1])
    users, items = ratings["user"].nunique(), ratings["item"].nunique()
    print(f"{len(ratings)} ratings, {users} users, {items} items")
    print(build_table(ratings).to_string())
    print(f"a million rows: {time_a_million(ratings):.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
