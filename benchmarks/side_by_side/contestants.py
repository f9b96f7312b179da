"""Who takes part: where each library lives, what it is held against, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    """A library, and what to know of the numbers that it gives.

    Parameters
    ----------
    name : str
        As printed.
    module : str
        Of the folder libraries/.
    environment : str
        Of tests/peers/environments.toml; empty for this process' own.
    preset : str, optional
        The convention of ours under which the means are held against its means; the defaults
        without one.
    whole : bool
        Whether it takes whole grades alone, and is given twice the half stars.
    leaves_out : str
        What it does not tell that ours does.
    """

    name: str
    module: str
    environment: str
    preset: str | None = None
    whole: bool = False
    leaves_out: str = ""


OURS = Contestant("recsys_ndcg", "ours", "")
_TIES, _BINARY, _HALF, _USERS = "exact ties", "graded gains", "half stars", "per-user values"
_HAND = "exact ties, per-user values, all checks of the data"
PEERS = (
    Contestant("polars by hand", "polars_by_hand", "queries", leaves_out=_HAND),
    Contestant("DuckDB by hand, windows", "duckdb_by_hand", "queries", leaves_out=_HAND),
    Contestant("DuckDB by hand, lists", "duckdb_by_lists", "queries", leaves_out=_HAND),
    Contestant(
        "scikit-learn",
        "scikit_learn",
        "classics",
        leaves_out=f"precision and recall, {_USERS}, exponential gains (given in place of grades)",
    ),
    Contestant(
        "CatBoost", "catboost", "classics", "catboost", leaves_out=f"{_TIES} (the worst), {_USERS}"
    ),
    Contestant(
        "RecTools",
        "rectools",
        "frames",
        "rectools",
        leaves_out=f"{_TIES}, {_BINARY}, ranking (it takes ranks)",
    ),
    Contestant("RePlay", "replay", "frames", "replay", leaves_out=f"{_TIES}, {_BINARY}"),
    Contestant(
        "recommenders",
        "recommenders",
        "frames",
        "recommenders",
        leaves_out=f"{_TIES}, {_BINARY}, {_USERS}",
    ),
    Contestant(
        "pytrec_eval",
        "pytrec_eval",
        "classics",
        "pytrec_eval",
        whole=True,
        leaves_out=f"{_TIES} (by id), {_HALF}, tables",
    ),
    Contestant(
        "ir_measures",
        "ir_measures",
        "classics",
        "ir_measures",
        whole=True,
        leaves_out=f"{_TIES} (by id), {_HALF}; {_USERS} by another call",
    ),
    Contestant(
        "ranx",
        "ranx",
        "classics",
        "ranx",
        whole=True,
        leaves_out=f"{_TIES}, {_HALF}, ids as numbers",
    ),
    Contestant(
        "LensKit", "lenskit", "torch", "lenskit", leaves_out=f"{_TIES}, {_BINARY} unless asked"
    ),
    Contestant(
        "torchmetrics",
        "torchmetrics",
        "torch",
        "torchmetrics",
        leaves_out=f"{_TIES} but in ndcg, {_USERS}, double precision",
    ),
    Contestant(
        "cornac",
        "cornac",
        "torch",
        "cornac",
        leaves_out=f"{_TIES}, {_BINARY}, tables (a loop over the users is written by hand)",
    ),
    Contestant(
        "TF-Ranking",
        "tensorflow_ranking",
        "tensorflow",
        "tensorflow_ranking",
        leaves_out=f"{_TIES} (shuffled), {_USERS}, double precision, tables",
    ),
    Contestant("recpack", "recpack", "old", "recpack", leaves_out=f"{_TIES}, {_BINARY}, tables"),
)
#: libraries of the comparison that cannot be handed a frame of predictions, and why
ABSENT = {
    "implicit": "asks a model for its lists, and has no recall",
    "RecBole": "evaluates inside its own pipeline alone",
    "Elliot": "evaluates the files of its own experiments alone",
    "evidently": "makes a report for each metric, charts included",
    "LightGBM, XGBoost": "evaluate boosters, for NDCG and AP of whole grades",
}
