"""What checks of a split find, computed again from the tables; each claim returns the severity."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import gamma, norm

import recsys_ndcg as rn
from tests.findings.claims import claim

DATES = 631_152_000  # times above are seconds since 1970


@dataclass
class DrawnSplit:
    """A split as `check_split` gets it, and with what claims need.

    Parameters
    ----------
    given : mapping of str to DataFrame
        The parts: train and test, perhaps validation and lists.
    threshold : float, optional
        The least relevant rating.
    k : int
        The cutoff.
    """

    given: Mapping[str, pd.DataFrame]
    threshold: float | None
    k: int

    def check(self) -> rn.results.SplitReport:
        """Return the report."""
        parts: dict[str, Any] = {**self.given}
        return rn.check_split(**parts, threshold=self.threshold, k=self.k)

    def __getitem__(self, part: str) -> pd.DataFrame:
        """Return a part, with users as text."""
        return self._parts[part]

    @cached_property
    def _parts(self) -> dict[str, pd.DataFrame]:
        parts = {}
        for name, table in self.given.items():
            ids = table[["user", "item"]].astype(str).replace(r"\.0$", "", regex=True)
            parts[name] = table.assign(**ids.astype(object), pair=ids["user"] + " " + ids["item"])
        rated = parts["train"], parts["test"]
        return {name: _flag_rows(part, *rated) for name, part in parts.items()}


def _flag_rows(part: pd.DataFrame, train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Return a part with a column for each fault of its rows."""
    flags = {
        "in_train": part["pair"].isin(train["pair"]),
        "in_others": part["pair"].isin([*train["pair"], *test["pair"]]),
        "unknown_user": ~part["user"].isin(train["user"]),
        "unknown_item": ~part["item"].isin(train["item"]),
    }
    if "timestamp" in train:
        first = part["item"].map(train.groupby("item")["timestamp"].min())
        time = part.get("timestamp", np.nan)
        flags["before_user"] = part["user"].map(train.groupby("user")["timestamp"].max()) > time
        flags["before_item"] = first > time
        flags["after_test"] = first > part["user"].map(test.groupby("user")["timestamp"].max())
    return part.assign(**flags)


def draw_split(seed: int) -> DrawnSplit:
    """Return a split of drawn rows, by chance, of each user or in time, with and without faults."""
    rng = np.random.default_rng(seed)
    rows = _draw_rows(rng)
    is_test = _draw_test(rng, rows)
    test, train = rows[is_test], rows if rng.random() < 0.2 or is_test.all() else rows[~is_test]
    parts = {"train": train, "test": test}
    if rng.random() < 0.5:
        late = parts["validation"] = train.groupby("user").tail(int(rng.integers(1, 3)))
        is_apart = rng.random() < 0.7 and len(late) < len(train)
        parts["train"] = train.drop(late.index) if is_apart else train
    _spoil(rng, parts)
    if rng.random() < 0.4:
        parts["lists"] = _draw_lists(rng, test)
    threshold = float(rng.choice([0, 1, 4, 9])) or None
    return DrawnSplit(parts, threshold, int(rng.choice([3, 10])))


def _draw_rows(rng: np.random.Generator) -> pd.DataFrame:
    """Return ratings of a few or many users, with popular items and perhaps repeated pairs."""
    rows = [
        (f"u{user}", f"i{item if rng.random() < 0.7 else item // 4}")
        for user in range(rng.choice([1, 3, 30, 90]))
        for item in rng.permutation(60)[: rng.choice([2, 6, 12])]
    ]
    table = pd.DataFrame(rows, columns=["user", "item"])
    table["rating"] = rng.integers(1, 6, len(table)).astype(float)
    table["timestamp"] = rng.choice([1.4e9, 5.0]) + rng.integers(0, 9_999_999, len(table))
    return table if rng.random() < 0.3 else table.drop_duplicates(["user", "item"])


def _draw_test(rng: np.random.Generator, rows: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each row is tested: the last or random ones, or those of popular items."""
    users = rows.groupby("user")
    order = {
        "last of each user": -users.cumcount(ascending=False),
        "random": pd.Series(rng.permutation(len(rows)), rows.index),
        "in time": rows["timestamp"],
        "popular": rows.groupby("item")["user"].transform("size"),
    }[rng.choice(["last of each user", "random", "in time", "popular"])]
    least = 0 if order.max() == 0 else order.quantile(rng.choice([0.5, 0.8]))
    return order >= least


def _spoil(rng: np.random.Generator, parts: dict[str, pd.DataFrame]) -> None:
    """Change what a part has: its ratings, units of time, missing values, columns, types of ids."""
    if rng.random() < 0.2:
        parts["test"] = parts["test"].assign(rating=parts["test"]["rating"].clip(lower=4))
    if rng.random() < 0.1:
        part = rng.choice([*parts])
        parts[part] = parts[part].assign(timestamp=parts[part]["timestamp"] * 1000)
    for part, column in itertools.product(("train", "test"), ("timestamp", "rating")):
        if rng.random() < 0.1:
            is_there = rng.random(len(parts[part])) < 0.9
            parts[part] = parts[part].assign(**{column: parts[part][column].where(is_there)})
    missing = {*rng.choice(["rating", "timestamp"], rng.choice([0, 0, 0, 2]))}
    for part, table in parts.items():
        parts[part] = table.drop(columns=missing)
    if rng.random() < 0.1:
        side = rng.choice(["user", "item"])
        for part, kind in (("train", float), ("test", str)):
            ids = parts[part][side].str[1:].astype(int).astype(kind)
            parts[part] = parts[part].assign(**{side: ids})


def _draw_lists(rng: np.random.Generator, test: pd.DataFrame) -> pd.DataFrame:
    """Return candidates with test items, or lists of a few items, perhaps of other users."""
    kind, size = rng.choice(["few", "foreign", "candidates"]), int(rng.choice([1, 7, 12]))
    pairs: list[tuple[str, str]] = []
    for user, tested in test.groupby("user", sort=False)["item"]:
        items = [f"i{item}" for item in rng.permutation(150)]
        if kind == "candidates":  # the first user may lack an item
            items = [*dict.fromkeys([*tested[0 if pairs else 1 :], *items])]
            size = 101 if size in {12, 101} else 100
        pairs += [(str(user), item) for item in items[:size]]
    lists = pd.DataFrame(pairs, columns=["user", "item"]).assign(estimated=1.0)
    return lists.assign(user=lists["user"] + "x")[-50:] if kind == "foreign" else lists


def _count(flags: Any) -> dict[str, float]:
    return {"count": int(np.sum(flags)), "total": len(flags), "share": float(np.mean(flags))}


def _name_rows(part: pd.DataFrame, flags: Any) -> tuple[str, ...]:
    first = part.loc[np.asarray(flags), ["user", "item"]].head(3)
    return tuple(f"user {user!r} item {item!r}" for user, item in first.to_numpy())


def _describe_rows(part: pd.DataFrame, flags: Any) -> dict[str, Any]:
    return {**_count(flags), "rows": _name_rows(part, flags)}


#: Of checks of rows: the part, the fault, how bad it is, and above which share.
_ROWS = {
    "pairs_in_both_parts": ("test", "in_train", "error", 0),
    "validation_rows_in_other_parts": ("validation", "in_others", "error", 0),
    "users_unknown_in_training": ("test", "unknown_user", "warning", 0.2),
    "items_unknown_in_training": ("test", "unknown_item", "warning", 0.2),
    "later_rows_of_the_same_user_in_training": ("test", "before_user", "warning", 0),
    "items_from_the_future": ("test", "before_item", "warning", 0.2),
    "items_from_the_future_in_lists": ("lists", "after_test", "warning", 0),
    "training_items_in_lists": ("lists", "in_train", "error", 0),
}


def _claim_rows(how: tuple[str, str, str, float], split: DrawnSplit, **said: Any) -> str:
    name, fault, severity, least = how
    part = split[name]
    assert said == _describe_rows(part, part[fault])
    return severity if part[fault].mean() > least else "fact"


for kind, how in _ROWS.items():
    claim(kind)(partial(_claim_rows, how))


def _find_p(gap: float, error: float) -> float:
    """Return the p-value of a difference."""
    return float(2 * norm.sf(abs(gap) / error)) if error else float(gap == 0)


def _claim_types(side: str, split: DrawnSplit, **said: Any) -> str:
    kinds = {
        part: "number" if pd.api.types.is_numeric_dtype(table[side]) else "text"
        for part, table in split.given.items()
    }
    assert said == kinds | _count(split["test"][side].isin(split["train"][side]))
    return "error"


claim("user_ids_of_one_type")(partial(_claim_types, "user"))
claim("item_ids_of_one_type")(partial(_claim_types, "item"))


@claim("repeated_pairs")
def _(split: DrawnSplit, *, test: int, train: int, rows: Any, **said: float) -> str:
    flags = {name: split[name]["pair"].duplicated() for name in ("test", "train")}
    assert (test, train) == (flags["test"].sum(), flags["train"].sum())
    total = sum(map(len, flags.values()))
    assert said == {"count": test + train, "share": (test + train) / total}
    assert rows == next(
        (_name_rows(split[name], flags[name]) for name in flags if flags[name].any()), ()
    )
    return "error" if test else "warning" if train else "fact"


@claim("users_who_can_be_scored")
def _(split: DrawnSplit, **said: int) -> str:
    test, n_rows = split["test"], split["test"]["user"].value_counts()
    expected = {"count": len(n_rows), "with_two_rows": (n_rows > 1).sum()}
    expected["in_training"] = test.loc[~test["unknown_user"], "user"].nunique()
    if split.threshold is not None and "rating" in test and test["rating"].notna().any():
        liked = test[test["rating"] >= split.threshold]
        expected["with_relevant_row"] = liked["user"].nunique()
        expected["with_known_item"] = liked.loc[~liked["unknown_item"], "user"].nunique()
    assert said == expected
    return "fact"


@claim("users_with_one_test_row")
def _(split: DrawnSplit, **said: float) -> str:
    is_single = split["test"]["user"].value_counts() == 1
    assert said == _count(is_single)
    return "warning" if is_single.mean() > 0.5 else "fact"


@claim("users_with_fewer_than_k_test_rows")
def _(split: DrawnSplit, **said: float) -> str:
    assert said == _count(split["test"]["user"].value_counts() < split.k) | {"k": split.k}
    return "fact"


@claim("filtered_by_number_of_rows")
def _(split: DrawnSplit, sides: list[str], least: list[int], shares: list[float]) -> str:
    every = pd.concat([split[name] for name in split.given if name != "lists"])
    counts = {side: every[side].value_counts() for side in ("user", "item")}
    fewest = [(side, n.min(), (n == n.min()).mean()) for side, n in counts.items()]
    due = [(side, n_rows, share) for side, n_rows, share in fewest if n_rows > 1 and share > 0.01]
    assert [*zip(sides, least, shares, strict=True)] == due
    return "fact"


@claim("popularity_shift")
def _(split: DrawnSplit, z_squared: float, p: float, items: int, *, is_shifted: bool) -> str:
    """Of items with ten rows or more, against rows drawn at random or, if equally many, by user."""
    test, train = split["test"], split["train"]
    rows = pd.concat([test.assign(is_test=1.0), train.assign(is_test=0.0)])
    n_test, n_rows = test["user"].value_counts(), len(rows)
    by_user = n_test.min() == n_test.max() and train["user"].isin(test["user"]).any()
    rows["p"] = rows.groupby("user")["is_test"].transform("mean") if by_user else len(test) / n_rows
    q = rows["variance"] = rows["p"] * (1 - rows["p"])
    rows["fourth"] = q * (1 - 6 * q)
    sums = rows.groupby("item")[["is_test", "p", "variance", "fourth"]].sum()
    size = rows.groupby("item").size()
    kept = (size >= 10) & (sums["variance"] > 0)
    sums, size = sums[kept], size[kept]
    assert items == len(sums)
    total = float(((sums["is_test"] - sums["p"]) ** 2 / sums["variance"]).sum())
    share = 0 * size if by_user else size / n_rows
    usual = float(len(size) if by_user else (n_rows - size).sum() / (n_rows - 1))
    if usual == 0:
        assert np.isnan([z_squared, p]).all()
        return "fact"
    few = float((sums["fourth"] / sums["variance"] ** 2).sum())
    variance = 2 * (items - 2 * share.sum() + share.sum() ** 2) + few
    expected = total / usual, gamma.sf(total, usual**2 / variance, scale=variance / usual)
    np.testing.assert_allclose((z_squared, p), expected)
    assert is_shifted == (p < 0.01)
    return "warning" if is_shifted else "fact"


@claim("rating_shift")
def _(split: DrawnSplit, test: float, train: float, p: float) -> str:
    after, before = (split[name]["rating"].dropna() for name in ("test", "train"))
    np.testing.assert_allclose((test, train), (after.mean(), before.mean()))
    variances = [part.var(ddof=0) / len(part) for part in (after, before)]
    np.testing.assert_allclose(p, _find_p(test - train, np.sqrt(sum(variances))), atol=1e-12)
    is_large = abs(test - train) > 0.1 * before.std(ddof=0)
    return "warning" if p < 0.01 and is_large else "fact"


@claim("share_of_relevant_rows")
def _(split: DrawnSplit, *, test: float, train: float, p: float, **said: float) -> str:
    after, before = (
        split[name]["rating"].dropna() >= split.threshold for name in ("test", "train")
    )
    assert (test, train) == (after.mean(), before.mean())
    error = np.sqrt(train * (1 - train) * (1 / len(after) + 1 / len(before)))
    np.testing.assert_allclose(p, _find_p(test - train, error), atol=1e-12)
    separates_none = after.all() or not after.any()
    assert said == {"threshold": split.threshold, "separates_none": separates_none}
    return "warning" if separates_none or (p < 0.01 and abs(test - train) > 0.05) else "fact"


@claim("validation_made_like_test")
def _(split: DrawnSplit, shares: list[str], **said: list[float]) -> str:
    parts = ("test", "validation")
    measured = {part: _measure_shares(split[part], split["train"]) for part in parts}
    test, late = measured.values()
    assert shares == [name for name in test if abs(test[name] - late.get(name, np.nan)) > 0.2]
    assert said == {part: [each[name] for name in shares] for part, each in measured.items()}
    return "warning" if shares else "fact"


def _measure_shares(part: pd.DataFrame, train: pd.DataFrame) -> dict[str, float]:
    shares = {
        "rows of unknown users": part["unknown_user"].mean(),
        "rows of unknown items": part["unknown_item"].mean(),
        "users with one row": (part["user"].value_counts() == 1).mean(),
    }
    times = pd.concat([part, train]).get("timestamp", pd.Series([np.nan]))
    if times.max() > times.min():
        is_later = train["timestamp"] > part["timestamp"].median()
        shares["rows with later training rows of the user"] = part["before_user"].mean()
        shares["training rows later than the median"] = is_later[train["timestamp"].notna()].mean()
    return {name: float(share) for name, share in shares.items()}


@claim("overlap_of_periods")
def _(split: DrawnSplit, count: int, share: float) -> str:
    time = split["train"]["timestamp"].dropna()
    is_later = time > split["test"]["timestamp"].median()
    assert (count, share) == (is_later.sum(), is_later.mean())
    return "warning" if share > 0.2 else "fact"


@claim("test_period")
def _(split: DrawnSplit, untimed: int, other_units: Any = None, **periods: Any) -> str:
    times = {"test": split["test"]["timestamp"], "training": split["train"]["timestamp"]}
    assert periods == {name: [time.min(), time.max()] for name, time in times.items()}
    assert untimed == sum(time.isna().sum() for time in times.values())
    if "validation" in split.given:
        times["validation"] = split["validation"]["timestamp"]
    lasts = pd.Series({name: time.max() for name, time in times.items()})
    differ = lasts.max() >= DATES and lasts.min() * 50 < lasts.max()
    assert other_units == ([lasts.idxmin(), lasts.idxmax()] if differ else None)
    return "error" if differ else "fact"


def _is_missing(split: DrawnSplit) -> Any:
    test, lists = split["test"], split["lists"]
    return test["user"].isin(lists["user"]) & ~test["pair"].isin(lists["pair"])


def _is_sampled(split: DrawnSplit) -> bool:
    lengths = {*split["lists"]["user"].value_counts()}
    return lengths in ({100}, {101}) and _is_missing(split).mean() < 0.1


@claim("sampled_candidates")
def _(split: DrawnSplit, lengths: list[int], drawn: int | None = None) -> str:
    sizes = split["lists"]["user"].value_counts()
    assert lengths == [sizes.min(), sizes.max()]
    assert drawn == (sizes.max() - 1 if _is_sampled(split) else None)
    return "fact" if drawn is None else "warning"


@claim("test_items_missing_from_candidates")
def _(split: DrawnSplit, *, is_sampled: bool, **said: Any) -> str:
    is_missing = _is_missing(split)
    assert said == _describe_rows(split["test"], is_missing)
    assert is_sampled == _is_sampled(split)
    return "error" if is_sampled and is_missing.any() else "fact"


@claim("users_with_lists")
def _(split: DrawnSplit, **said: float) -> str:
    has_list = pd.Series(split["test"]["user"].unique()).isin(split["lists"]["user"])
    assert said == _count(has_list)
    return "fact" if has_list.any() else "error"


@claim("what_this_split_can_tell_apart")
def _(split: DrawnSplit, count: int, **said: Any) -> str:
    """By the variance of a sum of gains times discounts over all orders of a user's rows."""
    assert count == split["test"]["user"].nunique()
    variances = _measure_orders(split)
    deviations = {name: np.sqrt(2 * np.mean(each)) for name, each in variances.items() if any(each)}
    users = {name: len(variances[name]) for name in deviations}
    if not deviations:
        name = "hit of two independent models, at most"
        deviations, users = {name: np.sqrt(0.5)}, {name: count}
    least = {
        name: rn.power(deviation=deviation, users=users[name])
        for name, deviation in deviations.items()
        if users[name] > 1
    }
    metrics = [name for name in least if least[name] < 1]
    assert (said["metrics"], said["users"]) == (metrics, [users[name] for name in metrics])
    np.testing.assert_allclose(said["differences"], [least[name] for name in metrics])
    return "fact" if metrics else "warning"


def _measure_orders(split: DrawnSplit) -> dict[str, list[float]]:
    """Return by metric the variance of each user's score if his test rows are in random order."""
    k, test = split.k, split["test"].drop_duplicates("pair")
    variances: dict[str, list[float]] = {
        f"rated {name}@{k}": [] for name in ("ndcg", "precision", "recall")
    }
    for _, rating in test.get("rating", pd.Series([])).groupby(test["user"]):
        true = np.sort(rating.dropna())[::-1]
        discount = np.where(np.arange(len(true)) < k, 1 / np.log2(np.arange(len(true)) + 2), 0)
        gain, hit = 2.0**true - 1, (true >= (split.threshold or np.inf)).astype(float)
        wholes = (gain * discount).sum(), k if split.threshold else 0, hit.sum()
        weights = discount, discount > 0, discount > 0
        for name, values, weight, whole in zip(
            variances, (gain, hit, hit), weights, wholes, strict=True
        ):
            if len(true) and whole:
                spread = len(true) ** 2 * values.var() * weight.var() / max(len(true) - 1, 1)
                variances[name].append(spread / whole**2)
    return variances
