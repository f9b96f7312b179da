"""Comparisons as files: every model's scores as packed columns, and how they are tested."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.comparison.contender import TABLES, Contender
from recsys_ndcg.comparison.models import Field
from recsys_ndcg.errors import RecsysNdcgError, shown
from recsys_ndcg.errors.visible import visible
from recsys_ndcg.input.ids import column_of
from recsys_ndcg.metrics.registry import names_known
from recsys_ndcg.parallel import in_threads
from recsys_ndcg.report import loading
from recsys_ndcg.report.packing import pack
from recsys_ndcg.report.plain import plain
from recsys_ndcg.report.possible import doubts_of_counts
from recsys_ndcg.report.saved_files import read_saved
from recsys_ndcg.report.segments.membership import labels_from
from recsys_ndcg.report.storage import (
    checked_ids,
    described,
    least_size,
    packed_ids,
    write_json,
)
from recsys_ndcg.scoring.scores import LISTS
from recsys_ndcg.significance.testing import Testing
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.comparison.contender import Parameter
    from recsys_ndcg.report.parts import Part
    from recsys_ndcg.report.possible import Doubt

KIND = "comparison"
FORMAT = 1
_MOST_MODELS = 10_000
_MOST = 1e300  # so that sums over users are numbers
_ROUNDED = 1e-9


def write(told: dict[str, Any], field: Field, path: str | Path) -> None:
    """Write a comparison as JSON.

    Parameters
    ----------
    told : dict
        What it says, as plain values.
    field : Field
        The models, whose scores are packed.
    path : str or Path
        The file.

    Raises
    ------
    InvalidInputError
        A user id or a segment label is neither text nor a number, or the file cannot be written.
    """
    first = field.first
    n_columns = len(field.contenders) * len(first.names) * (len(TABLES) + 1)
    stored: dict[str, Any] = {
        "format": f"recsys_ndcg {KIND} {FORMAT}",
        "written_by": __version__,
        "said": told,
        "testing": {one.name: getattr(field.how, one.name) for one in fields(Testing)},
        "baseline": field.baseline,
        "margin": field.margin,
        "left_out": dict(field.left_out),
        "other_metrics": list(field.other_metrics),
        "metrics": {
            name: described(metric) for name, metric in zip(first.names, first.metrics, strict=True)
        },
        "n_users": len(first.users),
        "users": packed_ids(first.users),
        "lists": {name: pack(getattr(first.counts, name)) for name in LISTS},
        "models": _packed_models(field),
        "segment_of": None if field.groups is None else _packed_groups(field.groups),
    }
    write_json(stored, path, least_size(len(first.users), n_columns))


def _packed_models(field: Field) -> dict[str, Any]:
    columns = [
        (name, table, metric, getattr(one, table)[:, one.at(metric)])
        for name, one in field.contenders.items()
        for table in (*TABLES, "truth")
        for metric in one.names
    ]
    packed = in_threads(lambda one: pack(one[-1]), columns)
    models: dict[str, Any] = {
        name: {
            "signatures": [signature.text for signature in one.signatures],
            "runs": [[plain(mean) for mean in run] for run in one.runs.tolist()],
            **({"parameters": dict(one.parameters)} if one.parameters else {}),
        }
        for name, one in field.contenders.items()
    }
    for (name, table, metric, _), column in zip(columns, packed, strict=True):
        models[name].setdefault(table, {})[metric] = column
    return models


def _packed_groups(groups: pd.Series[Any]) -> dict[str, Any]:
    codes = groups.cat.codes.to_numpy().astype(np.int64)
    names = checked_ids(groups.cat.categories.tolist(), "segment label")
    return {"names": names, "codes": pack(codes)}


def read(path: str | Path) -> Field:
    """Return the models of the comparison in a file.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no comparison, of another format, or was changed: the part
        that is wrong is named.
    """
    return read_saved(path, KIND, FORMAT, _loaded)


def _loaded(stored: Part, n_bytes: int) -> Field:
    size = stored["n_users"].whole(least=1)
    names = list(stored["metrics"].names())
    models = list(stored["models"].names())
    if not names or not 1 < len(models) <= _MOST_MODELS:
        stored["models"].refuse("holds no models to compare")
    if n_bytes < least_size(size, len(models) * len(names) * (len(TABLES) + 1)):
        stored["n_users"].refuse(f"is {size}, which is more than a file of this size holds")
    users = loading.ids(stored["users"], size)
    counts = loading.counts(stored["lists"], size)
    known = names_known()
    measured = [
        loading.measurement(_bare(name), stored["metrics"][name], known).metric for name in names
    ]
    contenders = {
        model: Contender(
            names=tuple(names),
            metrics=tuple(measured),
            users=users,
            counts=counts,
            **_tables(stored["models"][model], names, size),
        )
        for model in models
    }
    for model, one in contenders.items():
        with np.errstate(all="ignore"):
            for bad, what in chain(doubts_of_counts(counts), _doubts(one)):
                if bad.any():
                    stored["models"].refuse(
                        f"holds what cannot be: {what} for user {shown(users[int(bad.argmax())])} "
                        f"of {shown(model)}"
                    )
    return Field(contenders, **_choices(stored, contenders, size))


def _tables(part: Part, names: list[str], size: int) -> dict[str, Any]:
    """Return the scores of one model, and how they were computed."""
    tables: dict[str, Any] = {
        table: np.column_stack([part[table][name].column(size, "f") for name in names])
        for table in TABLES
    }
    truth = np.column_stack([part["truth"][name].column(size, "u") for name in names])
    texts = part["signatures"].entries(len(names))
    signatures = [
        loading.signature(_bare(name), text) for name, text in zip(names, texts, strict=True)
    ]
    runs = _runs(part["runs"], len(names))
    return {
        **tables,
        "truth": truth.astype(np.uint64),
        "signatures": tuple(signatures),
        "runs": runs,
        "parameters": _parameters(part),
    }


def _parameters(part: Part) -> dict[str, Parameter]:
    """Return the parameters of a model, which few have, and none in older files."""
    if "parameters" not in part.names():
        return {}
    stored = part["parameters"]
    for name in stored.names():
        one = stored[name]
        if visible(name) != name:
            one.refuse("has a name that cannot be shown")
        if not (one.value is None or isinstance(one.value, bool)):
            one.text() if isinstance(one.value, str) else one.number()
    return dict(stored.value)


def _doubts(one: Contender) -> Iterator[Doubt]:
    """Return which numbers no model collects."""
    for place, (name, metric) in enumerate(zip(one.names, one.metrics, strict=True)):
        for table in TABLES:
            values = getattr(one, table)[:, place]
            yield ~(np.abs(values) <= _MOST) & ~np.isnan(values), f"{table}.{name} is too high"
            if metric.bounded and table in {"scores", "chance", "best"}:
                yield (values < -_ROUNDED) | (values > 1 + _ROUNDED), f"{table}.{name} is no share"
        top, bottom = one.numerator[:, place], one.denominator[:, place]
        yield np.isnan(top) | np.isnan(bottom), f"numerator.{name} or its denominator is missing"
        yield bottom < 0, f"denominator.{name} is negative"
        if metric.bounded:
            yield top > bottom * (1 + _ROUNDED), f"numerator.{name} is above its denominator"


def _runs(stored: Part, width: int) -> Floats:
    """Return the means of each fold or seed."""
    rows = [[one.number() for one in run.entries(width)] for run in stored.entries()]
    return np.array(rows, dtype=np.float64).reshape(-1, width)


def _bare(name: str) -> str:
    """Return the name of a metric without the protocol that stands behind it."""
    return name.partition(":")[0]


def _choices(stored: Part, contenders: Mapping[str, Contender], size: int) -> dict[str, Any]:
    """Return how the models are compared."""
    testing, baseline = stored["testing"], stored["baseline"].value
    if baseline not in [*contenders]:
        stored["baseline"].refuse("is none of the models")
    try:
        how = Testing(**{one.name: testing[one.name].value for one in fields(Testing)})
    except (RecsysNdcgError, TypeError) as error:
        testing.refuse(f"holds what no comparison has: {error}".rstrip("."))
    margin = stored["margin"].number(np.nextafter(0.0, 1.0))
    left_out = stored["left_out"]
    return {
        "how": how,
        "baseline": baseline,
        "margin": None if np.isnan(margin) else margin,
        "left_out": {name: left_out[name].whole(least=0) for name in left_out.names()},
        "other_metrics": tuple(one.text() for one in stored["other_metrics"].entries()),
        "groups": _groups(stored["segment_of"], size, next(iter(contenders.values()))),
    }


def _groups(stored: Part, size: int, first: Contender) -> pd.Series[Any] | None:
    if stored.value is None:
        return None
    names = loading.listed_ids(stored["names"])
    codes = stored["codes"].column(size, "i")
    if not (codes.min() >= -1 and codes.max() < len(names)):
        stored.refuse("holds segments that are not among its names")
    return pd.Series(
        pd.Categorical.from_codes(codes, categories=pd.Index(column_of(labels_from(names)))),
        index=pd.Index(first.users.tolist(), name="user"),
    )
