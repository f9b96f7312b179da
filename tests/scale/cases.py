"""Data and options that every engine must measure as `recsys_ndcg.evaluate` does in memory.

Each case is about 2,000 seeded rows in pandas frames; `alike.py` compares the reports.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import recsys_ndcg as rn
from recsys_ndcg.errors import DataWarning
from recsys_ndcg.scoring import Plan

ALL = ["ndcg", "dcg", "precision", "recall", "f1", "hit", "ap", "rr", "rprecision", "rbp", "auc"]


@dataclass(frozen=True)
class Case:
    """Predictions, or labels and results, and the options of `evaluate`.

    Parameters
    ----------
    name : str
        What it is about.
    data : DataFrame, or mapping of the DataFrames "labels" and "results"
        As `evaluate` takes it.
    options : dict
        Keywords of `evaluate`.
    parts : int, optional
        Number of partitions of the users, if the case is about that.
    """

    name: str
    data: pd.DataFrame | dict[str, pd.DataFrame]
    options: dict[str, Any] = field(default_factory=dict)
    parts: int | None = None

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Its tables by what they are."""
        return {"predictions": self.data} if isinstance(self.data, pd.DataFrame) else self.data

    def local(self) -> rn.Report:
        """Evaluate it in memory, in one piece."""
        options, data = dict(self.options), self.data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            if isinstance(data, pd.DataFrame):
                return rn.evaluate(data, **options)
            columns = options.pop("columns", None)
            rule = Plan.of(**options).duplicates
            lists = rn.RankedLists.from_labels(
                data["labels"], data["results"], columns=columns, duplicates=rule
            )
            return rn.evaluate(lists, **options)

    whole = cached_property(local)  # once for all engines


def _user_counts(rng: np.random.Generator, n_users: int, n_rows: int) -> NDArray[np.int64]:
    """Return the number of rows of each user: some one, some many."""
    weights = rng.lognormal(sigma=1.0, size=n_users)
    return np.maximum(1, rng.multinomial(n_rows, weights / weights.sum())).astype(np.int64)


def predictions(
    seed: int, *, n_users: int = 150, n_rows: int = 2000, counts: list[int] | None = None
) -> pd.DataFrame:
    """Return rows of whole ids, grades from 1 to 5 and estimates near them, in no order."""
    rng = np.random.default_rng(seed)
    sizes = np.array(counts) if counts else _user_counts(rng, n_users, n_rows)
    user = np.repeat(np.arange(len(sizes), dtype=np.int64) * 7 + 3, sizes)
    item = np.concatenate([rng.permutation(max(sizes) + 50)[:size] for size in sizes])
    true = rng.integers(1, 6, len(user)).astype(np.float64)
    estimated = true + rng.normal(scale=1.5, size=len(user))
    columns = {"user": user, "item": item.astype(np.int64), "estimated": estimated, "true": true}
    return _shuffled(pd.DataFrame(columns), rng)


def _shuffled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


def _tied(seed: int) -> pd.DataFrame:
    frame = predictions(seed)
    return frame.assign(estimated=frame["estimated"].round())


def _with_gaps(seed: int, column: str = "true", share: float = 0.2) -> pd.DataFrame:
    frame = predictions(seed)
    lost = np.random.default_rng(seed).random(len(frame)) < share
    return frame.assign(**{column: frame[column].mask(lost)})


def _text(seed: int) -> pd.DataFrame:
    """Return ids of text: leading zeros, other alphabets, an empty one, one with a space."""
    frame = predictions(seed, n_users=120)
    words = np.array(["0{}", "{}", "Ünder {}", "用户{}", "{} ", "a/{}", "z\u0301{}", "🎬{}"])
    user = [words[one % len(words)].format(one // len(words)) for one in frame["user"]]
    item = [f"{one:07d}" for one in frame["item"]]
    named = frame.assign(user=user, item=item)
    return named.assign(user=named["user"].mask(named["user"] == named["user"].iloc[0], ""))


def _repeated(seed: int) -> pd.DataFrame:
    """Return rows of which one in five is repeated, with other numbers."""
    rng = np.random.default_rng(seed)
    frame = _with_gaps(seed, share=0.1)
    again = frame.sample(frac=0.2, random_state=seed)
    estimated = rng.normal(3, 1, len(again))
    again = again.assign(estimated=estimated, true=rng.integers(1, 6, len(again)))
    return _shuffled(pd.concat([frame, again], ignore_index=True), rng)


def _decimal(seed: int) -> pd.DataFrame:
    frame = _with_gaps(seed)
    grades = [None if np.isnan(one) else Decimal(int(one * 10)) / 10 for one in frame["true"] * 0.9]
    estimates = [Decimal(f"{one:.3f}") for one in frame["estimated"]]
    columns = {"true": grades, "estimated": estimates}
    return frame.assign(**{name: pd.Series(one, dtype=object) for name, one in columns.items()})


def _labels_and_results(seed: int, *, ranked: bool = False) -> dict[str, pd.DataFrame]:
    """Return users with both, with labels only, and with results only."""
    rng = np.random.default_rng(seed)
    labels, results = [], []
    for user in range(140):
        known = rng.permutation(60)[: rng.integers(1, 25)]
        found = rng.permutation(60)[: rng.integers(1, 30)]
        if user % 10 != 3:
            labels += [(user, item, float(rng.integers(0, 6))) for item in known]
        if user % 10 != 7:
            scores = np.round(rng.normal(size=len(found)), 1)  # with ties
            ranks = np.arange(1.0, len(found) + 1)
            shown = ranks if ranked else scores
            results += [(user, item, one) for item, one in zip(found, shown, strict=True)]
    one = pd.DataFrame(labels, columns=["user", "item", "true"])
    other = pd.DataFrame(results, columns=["user", "item", "rank" if ranked else "estimated"])
    other = other.astype({"rank": np.int64} if ranked else {})
    return {"labels": _shuffled(one, rng), "results": _shuffled(other, rng)}


def _implicit(seed: int) -> dict[str, pd.DataFrame]:
    """Return labels without grades, of text ids."""
    data = _labels_and_results(seed)
    data["labels"] = data["labels"].drop(columns="true")
    return {name: one.assign(user="u" + one["user"].astype(str)) for name, one in data.items()}


def _unlabelled_labels(seed: int) -> dict[str, pd.DataFrame]:
    data = _labels_and_results(seed)
    lost = np.random.default_rng(seed).random(len(data["labels"])) < 0.2
    data["labels"] = data["labels"].assign(true=data["labels"]["true"].mask(lost))
    return data


def _repeated_labels(seed: int) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    data = _labels_and_results(seed)
    for name, column in (("labels", "true"), ("results", "estimated")):
        again = data[name].sample(frac=0.3, random_state=seed)
        again = again.assign(**{column: rng.integers(0, 6, len(again)).astype(np.float64)})
        data[name] = _shuffled(pd.concat([data[name], again], ignore_index=True), rng)
    return data


def squared(true: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return gains by a custom function."""
    return true**2


def _under(**choices: Any) -> dict[str, Any]:
    return {"metrics": ["ndcg", "precision", "recall", "ap", "rr"], "threshold": 4.0} | {
        "convention": rn.Convention(**choices)
    }


_NAMES = {"user": "who", "item": "movieId", "estimated": "guess", "true": "r_ui"}
_SHORT_TYPES = {"user": np.int32, "item": np.int16, "estimated": np.float32, "true": np.int8}
_BINARY = predictions(10).assign(true=lambda frame: (frame["true"] >= 4).astype(np.float64))
_THIRD = [600, *[2, 5, 9, 14, 20, 30] * 17]  # of about 2000

CASES = [
    Case("all metrics", predictions(3), {"metrics": ALL, "k": [1, 5, 10], "threshold": 4}),
    Case("heavy ties", _tied(5), {"metrics": ALL, "threshold": 4}),
    Case("text ids", _text(7), {"threshold": 4}),
    Case("item order breaks ties", _tied(8), _under(ties="item_asc")),
    Case("one user", predictions(9, counts=[40]), {"threshold": 4}, parts=4),
    Case("the mean of duplicates", _repeated(14), _under(duplicates="mean")),
    Case("no grades are left out", _with_gaps(15), _under(unlabelled="filter")),
    Case("labels and results, all metrics", _labels_and_results(22),
         {"metrics": ALL, "k": [3, 10, None], "threshold": 4}),
    Case("labels and ranks", _labels_and_results(23, ranked=True), {"threshold": 4}),
    Case("labels without grades", _implicit(24), {"metrics": ALL}),
    Case("duplicates in labels and results", _repeated_labels(27), _under(duplicates="max")),
    Case("short numbers", predictions(13).round(1).astype(_SHORT_TYPES), {"threshold": 4}),
    Case("decimal grades and estimates", _decimal(17), {"threshold": 3.6}),
    Case("gains by a function", predictions(18), _under(gain=squared)),
    Case("column names", predictions(20).rename(columns=_NAMES).assign(timestamp=1),
         {"threshold": 4, "columns": _NAMES}),
    Case("defaults", predictions(1)),
    Case("no cutoff", predictions(4),
         {"metrics": [*ALL, "rmse", "mae"], "k": None, "threshold": 4}),
    Case("one user has 30 % of the rows", predictions(6, counts=_THIRD), {"threshold": 4}),
    Case("more parts than users", predictions(9, counts=[40, 25, 60]), {"threshold": 4}, parts=16),
    Case("ties as float32 has them", _tied(12), _under(tie_tolerance="float32")),
    Case("tenths of 32 bits", (predictions(13) / 10).astype({"user": int, "item": str})
         .astype({"true": np.float32, "estimated": np.float32})
         .drop_duplicates(["user", "item"]), {"threshold": 0.4}),
    Case("grades of 0 and 1", _BINARY, {"metrics": ALL}),
    Case("grades of true and false", _BINARY.astype({"true": bool})),
    Case("a mean of duplicates is neither 0 nor 1",
         _repeated(14).assign(true=lambda frame: frame["true"].fillna(1) % 2),
         {"convention": rn.Convention(duplicates="mean")}),
    Case("a mean of duplicates is below the highest grade",
         pd.concat([_with_gaps(15), _with_gaps(15).assign(true=lambda one: one["true"] - 1)],
                   ignore_index=True), _under(duplicates="mean")),
    Case("no grades", _with_gaps(15), {"metrics": ALL, "threshold": 4}),
    Case("a user without grades", _with_gaps(16, share=0.9), _under(mean_over="labelled")),
    Case("gains by grade", predictions(18),
         _under(gain={1: 0.0, 2: 0.5, 3: 1.0, 4: 3.0, 5: 10.0}, ideal="max", max_grade=5)),
    Case("labels and results of one part each", _labels_and_results(21), {"threshold": 4},
         parts=64),
    Case("labels with gaps", _unlabelled_labels(25), _under(missing_user="skip")),
    Case("unlisted labels do not count", _labels_and_results(26), _under(unlisted="ignore")),
    Case("column names of labels and results",
         {name: one.rename(columns={"user": "who", "true": "is", "estimated": "guess"})
          for name, one in _labels_and_results(28).items()},
         {"threshold": 4, "columns": {"user": "who", "true": "is", "estimated": "guess"}}),
]  # fmt: skip
#: The suite runs some of the first ones, CI all.
PARAMS = [
    pytest.param(one, id=one.name, marks=[pytest.mark.slow] if place % 2 or place > 10 else [])
    for place, one in enumerate(CASES)
]
