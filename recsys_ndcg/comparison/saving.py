"""Comparisons as the head and columns of a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.model_scores import TABLES, ModelScores
from recsys_ndcg.comparison.models import ComparedModels
from recsys_ndcg.files import checked_ids, json_value, open_archive, write_archive
from recsys_ndcg.input import index_of
from recsys_ndcg.metrics import names_known
from recsys_ndcg.scoring import LISTS, ListCounts, Measurement, Signature
from recsys_ndcg.significance import Testing
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


FORM = "comparison 2"


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as plain values, row by row; NaN is None."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


def _plain(value: Any) -> Any:
    """Return what JSON can hold; the label of a segment may be anything."""
    value = None if value is pd.NA else json_value(value)
    return value if isinstance(value, str | bool | int | float | None) else str(value)


def save(told: dict[str, Any], compared: ComparedModels, path: str | Path) -> None:
    """Write a comparison as an archive.

    Parameters
    ----------
    told : dict
        What it says, as plain values.
    compared : ComparedModels
        The models, whose scores are packed.
    path : str or Path
        The file.

    Raises
    ------
    InvalidInputError
        A user id or a segment label is neither text nor a number, or the file cannot be written.
    """
    first = compared.first
    head: dict[str, Any] = {
        "written_by": __version__,
        "said": told,
        "testing": asdict(compared.how),
        "baseline": compared.baseline,
        "margin": compared.margin,
        "left_out": dict(compared.left_out),
        "other_metrics": list(compared.other_metrics),
        "metrics": {
            name: Measurement(one).to_dict()
            for name, one in zip(first.names, first.metrics, strict=True)
        },
        "models": {
            name: {
                "signatures": [signature.text for signature in one.signatures],
                "runs": [[json_value(mean) for mean in run] for run in one.runs.tolist()],
                "parameters": dict(one.parameters),
            }
            for name, one in compared.contenders.items()
        },
        "segments": None,
    }
    counts = {name: getattr(first.counts, name) for name in LISTS}
    columns = {"user": first.users, **counts}
    if compared.groups is not None:
        head["segments"] = checked_ids(compared.groups.cat.categories.tolist(), "segment label")
        columns["segment"] = compared.groups.cat.codes.to_numpy()
    for model, one in compared.contenders.items():
        columns |= {f"{name}.{model}": getattr(one, name) for name in (*TABLES, "truth")}
    write_archive(path, FORM, head, columns)


def load(path: str | Path) -> ComparedModels:
    """Return the models of the comparison in an archive.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no comparison, of another format, or was changed.
    """
    with open_archive(path, FORM) as (head, columns):
        known = names_known()
        metrics = {
            # a protocol may stand behind the name of a metric
            name: Measurement.from_dict(name.partition(":")[0], one, known).metric
            for name, one in head["metrics"].items()
        }
        shared: dict[str, Any] = {
            "names": tuple(metrics),
            "metrics": tuple(metrics.values()),
            "users": columns["user"],
            "counts": ListCounts(**{name: columns[name] for name in LISTS}),
        }
        return ComparedModels(
            {
                name: ModelScores.of_tables(**shared, **_model(name, one, columns))
                for name, one in head["models"].items()
            },
            how=Testing(**head["testing"]),
            groups=_groups(head["segments"], columns),
            other_metrics=tuple(head["other_metrics"]),
            **{name: head[name] for name in ("baseline", "margin", "left_out")},
        )


def _model(name: str, head: dict[str, Any], columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the scores of one model, and how they were computed."""
    tables = {table: columns[f"{table}.{name}"] for table in TABLES}
    return {
        "tables": tables,
        "truth": columns[f"truth.{name}"],
        "signatures": tuple(map(Signature, head["signatures"])),
        "runs": np.array(head["runs"], dtype=np.float64).reshape(-1, tables["scores"].shape[1]),
        "parameters": head.get("parameters", {}),
    }


def _groups(labels: list[Any] | None, columns: dict[str, NDArray[Any]]) -> pd.Series[Any] | None:
    if labels is None:
        return None
    categories = index_of(np.array(labels, dtype=object))
    groups = pd.Categorical.from_codes(columns["segment"], categories=categories)
    return pd.Series(groups, index=pd.Index(columns["user"].tolist(), name="user"))
