"""The timed libraries: where each is installed, its preset here, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    """A library, and the facts needed to run it and to compare its numbers.

    Parameters
    ----------
    name : str
        The name as printed.
    module : str
        A module in the folder libraries/.
    environment : str
        A name in tests/peers/environments.toml; empty for the environment of this process.
    preset : str, optional
        The preset under which our means are compared with its means; our defaults without one.
    whole : bool
        Whether it accepts only whole grades; then it receives doubled half stars.
    leaves_out : str
        What we compute and it does not.
    computes : str
        What it computes, if that differs by library.
    """

    name: str
    module: str
    environment: str
    preset: str | None = None
    whole: bool = False
    leaves_out: str = ""
    computes: str = ""


OURS = Contestant("recsys_ndcg", "ours", "")
_TIES, _BINARY, _HALF, _USERS = "exact ties", "graded gains", "half stars", "per-user values"
_HAND = "exact ties, per-user values, all checks of the data"
PEERS = (
    Contestant("polars by hand", "polars_by_hand", "classics", leaves_out=_HAND),
    Contestant("DuckDB by hand, windows", "duckdb_by_hand", "classics", leaves_out=_HAND),
    Contestant("DuckDB by hand, lists", "duckdb_by_lists", "classics", leaves_out=_HAND),
    Contestant(
        "scikit-learn",
        "scikit_learn",
        "classics",
        leaves_out=f"precision and recall, {_USERS}, exponential gains (we pass gains as grades)",
    ),
    Contestant(
        "CatBoost",
        "catboost",
        "classics",
        "catboost",
        leaves_out=f"{_TIES} (takes the worst order), {_USERS}",
    ),
    Contestant(
        "RecTools",
        "rectools",
        "frames",
        "rectools",
        leaves_out=f"{_TIES}, {_BINARY}, ranking (it receives ranks)",
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
        leaves_out=f"{_TIES} (by id), {_HALF}, tables as input",
    ),
    Contestant(
        "ir_measures",
        "ir_measures",
        "classics",
        "ir_measures",
        whole=True,
        leaves_out=f"{_TIES} (by id), {_HALF}, {_USERS} (they take another call)",
    ),
    Contestant(
        "ranx",
        "ranx",
        "classics",
        "ranx",
        whole=True,
        leaves_out=f"{_TIES}, {_HALF}, numeric ids",
    ),
    Contestant(
        "LensKit", "lenskit", "torch", "lenskit", leaves_out=f"{_TIES}, {_BINARY} by default"
    ),
    Contestant(
        "torchmetrics",
        "torchmetrics",
        "torch",
        "torchmetrics",
        leaves_out=f"{_TIES} except in ndcg, {_USERS}, double precision",
    ),
    Contestant(
        "cornac",
        "cornac",
        "torch",
        "cornac",
        leaves_out=f"{_TIES}, {_BINARY}, tables as input (we wrote the loop over users)",
    ),
    Contestant(
        "TF-Ranking",
        "tensorflow_ranking",
        "tensorflow",
        "tensorflow_ranking",
        leaves_out=f"{_TIES} (shuffled), {_USERS}, double precision, tables as input",
    ),
    Contestant(
        "recpack", "recpack", "old", "recpack", leaves_out=f"{_TIES}, {_BINARY}, tables as input"
    ),
)
#: libraries that have a preset here but cannot evaluate a frame of predictions, and why
ABSENT = {
    "implicit": "gets the lists from a model, and has no recall",
    "RecBole": "evaluates only inside its own pipeline",
    "Elliot": "evaluates only the files of its own experiments",
    "evidently": "makes a report with charts for each metric",
    "LightGBM, XGBoost": "evaluate boosters, for NDCG and AP of whole grades",
}
