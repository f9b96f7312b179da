"""Ask here for the numbers of other libraries, by the tables in parity/."""

from __future__ import annotations

import importlib
import math
import pkgutil
import warnings
from typing import Any

import pandas as pd

import recsys_ndcg as rn
from tests.beyond import parity
from tests.beyond.parity import Ask
from tests.peers.beyond.cases import Case

_SINGLE_PRECISION = {"pyg", "warprec", "recbole", "ExposureGini(0.85)"}
_TABLES = [
    importlib.import_module(f"{parity.__name__}.{module.name}")
    for module in pkgutil.iter_modules(parity.__path__)
]
ASKS: dict[tuple[str, str], Ask] = {
    key: ask for table in _TABLES for key, ask in table.ASKS.items()
}


def find_tolerance(library: str, measure: str) -> float:
    """Return how far apart numbers may be: 1e-9, or 2e-6 if the library has single precision."""
    return 2e-6 if {library, measure} & _SINGLE_PRECISION else 1e-9


def evaluate_case(case: Case, library: str, measure: str) -> dict[str, Any]:
    """Return {"value": number, "per_user": {user: number}} as the library defines its measure."""
    ask = ASKS[library, measure]
    k = case.k if ask.k is None else ask.k
    metric = f"{ask.metric}@{k}" if k else ask.metric
    features = pd.DataFrame(case.features).T.add_prefix("f")
    table = features.assign(
        topics=features.apply(lambda row: {name for name, has in row.items() if has}, axis=1),
        category=[f"c{case.category[item]}" for item in features.index],
        group=[f"g{case.item_group[item]}" for item in features.index],
    )
    lists = [(user, item, score) for user, own in case.run.items() for item, score in own.items()]
    base = [(user, item, -at) for user, own in case.base.items() for at, item in enumerate(own)]
    columns = ["user", "item", "estimated"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report = rn.evaluate(
            {
                "labels": pd.DataFrame(case.rows("test"), columns=columns[:2]).assign(true=1.0),
                "results": pd.DataFrame(lists, columns=columns),
            },
            metrics=metric,
            threshold=1,
            train=case.train if ask.train == "train" else case.rows("test"),
            catalogue=case.catalogue,
            features=table,
            base=pd.DataFrame(base, columns=columns),
            groups={user: f"u{group}" for user, group in case.user_group.items()},
            convention=rn.Convention.preset(library, metric).replace(**ask.choices),
        )
    return {"value": _read(report, ask), "per_user": _read_users(report)}


def _read(report: rn.Report, ask: Ask) -> float:
    if ask.read == "gap":
        gaps = report.gaps()
        return math.nan if gaps is None else float(gaps["mean_gap"].iloc[0])
    if ask.read == "sum":
        return float(report.mean.iloc[0] * report._data.audit.totals.n_scored[0])
    return float(getattr(report, ask.read).iloc[0])


def _read_users(report: rn.Report) -> dict[str, float]:
    scores = report.per_user.iloc[:, -1].dropna()
    return {str(user): float(score) for user, score in scores.items()}
