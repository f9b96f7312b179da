"""Reports as plain values: as a dict, for trackers, in files; users' scores as CSV or Parquet."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.errors import InvalidInputError, is_encodable, require_libraries
from recsys_ndcg.files import Archive, to_json_value
from recsys_ndcg.findings import tabulate_findings
from recsys_ndcg.input import TextFormat
from recsys_ndcg.metrics import list_metric_names
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.ranking import Exposures
from recsys_ndcg.report.data import ReportData
from recsys_ndcg.scoring import Audit, Measurement, Scores, Signature, Totals
from recsys_ndcg.version import __version__

#: The numbers of each metric for trackers; the key of the mean has no suffix.
COLUMNS = ("mean", "pooled", "ci_low", "ci_high", "chance", "adjusted", "users")

_REJECTED = re.compile(r"[^\w. -]")  # MLflow allows ":" and "/", too; other trackers do not
_MAX_NAME = 110  # characters: MLflow accepts keys of up to 250, of a model and a metric


def flatten_metrics(tables: Mapping[str, pd.DataFrame], *more: str) -> dict[str, float]:
    """Return the finite numbers of tables as one flat dict.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        By model, or under "" if there is only one: a row per metric, the same metrics in all.
    *more : str
        Further columns, in addition to `COLUMNS`.
    """
    columns = [*COLUMNS, *more]
    suffixes = ["" if column == "mean" else f"_{column}" for column in columns]
    models = build_tracker_keys(tables)
    numbers: dict[str, float] = {}
    for model, table in tables.items():
        for metric, name in build_tracker_keys(table.index, suffixes).items():
            key = f"{models[model]}/{name}" if model else name
            for suffix, column in zip(suffixes, columns, strict=True):
                numbers[f"{key}{suffix}"] = float(table[column][metric])
    return {key: number for key, number in numbers.items() if math.isfinite(number)}


def build_tracker_keys(names: Iterable[str], suffixes: Sequence[str] = ("",)) -> dict[str, str]:
    """Return a key for each name, of letters, digits, ``_``, ``-``, ``.`` and spaces.

    Keys that would be equal, ignoring case, are numbered.

    Parameters
    ----------
    names : iterable of str
        Different names.
    suffixes : sequence of str
        Suffixes that will be added: the keys stay different with any of them.

    Examples
    --------
    >>> build_tracker_keys(["ndcg@10", "ndcg@10:catalogue"])
    {'ndcg@10': 'ndcg_at_10', 'ndcg@10:catalogue': 'ndcg_at_10_catalogue'}
    >>> build_tracker_keys(["lr=0.1", "lr:0.1"])
    {'lr=0.1': 'lr_0.1', 'lr:0.1': 'lr_0.1_2'}
    """
    taken: set[str] = set()
    keys = {}
    for name in names:
        text = _REJECTED.sub("_", name.replace("@", "_at_")).strip()[:_MAX_NAME].strip()
        # leading dots would make a path to another folder
        undotted = text.lstrip(".")
        plain = "_" * (len(text) - len(undotted)) + undotted or "_"
        for number in count(1):
            key = plain if number == 1 else f"{plain}_{number}"
            with_suffixes = {f"{key}{suffix}".casefold() for suffix in suffixes}
            if taken.isdisjoint(with_suffixes):
                break
        taken |= with_suffixes
        keys[name] = key
    return keys


_FORMAT = "report 5"
_EXPOSURES = "exposures."  # the beginning of the names of their columns
#: The audit columns that need the lists: each is the mean of a role.
_ROLE_OF_COLUMN = {
    "tie_low": "lowest",
    "tie_high": "highest",
    "decided_by_ties": "decided_by_ties",
    "judged": "judged",
    "unlabelled_zero": "zero",
    "unlabelled_top": "top",
}


def to_dict(data: ReportData) -> dict[str, Any]:
    """Return tables, findings and users' scores as plain values for JSON; NaN becomes None."""
    scores, per_user = data.scores, data.scores.table()
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.tables_behind_scores.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    findings = tabulate_findings([*data.verdict, *data.remarks])
    return {**_summarise(data), **to_json_value({"findings": findings, **tables})}


def _summarise(data: ReportData) -> dict[str, Any]:
    """Return the signatures, the counts, and tables with an entry per metric."""
    texts = {name: signature.text for name, signature in data.audit.signatures.items()}
    summary: dict[str, Any] = {"signatures": texts, "counts": data.counts}
    tables = {"summary": data.summary, "audit": data.audit_table}
    for name, table in {**tables, "baselines": data.baseline_table.T}.items():
        summary[name] = to_json_value(table.astype(object).to_dict("index"))
    if data.label_weights is not None:
        summary["label_weights"] = to_json_value(data.label_weights.to_dict())
    return summary


def pack_exposures(
    scores: Scores, start: str = _EXPOSURES
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a head, and columns of who was shown what, that `unpack_exposures` reads.

    The names of the columns begin with `start`.
    """
    distinct = {id(one): one for one in scores.exposures if one is not None}
    if not distinct:
        return {}, {}
    names = {key: f"{start}{place}." for place, key in enumerate(distinct)}
    columns: dict[str, NDArray[Any]] = {}
    for key, one in distinct.items():
        columns |= {f"{names[key]}{name}": column for name, column in one.columns.items()}
    return {"exposures": [names.get(id(one)) for one in scores.exposures]}, columns


def unpack_exposures(
    head: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]
) -> tuple[Exposures | None, ...]:
    """Return the exposures of each measurement."""
    found: dict[str | None, Exposures | None] = {None: None}
    for start in {*head.get("exposures", ())} - {None}:
        parts = {
            name.removeprefix(start): column
            for name, column in columns.items()
            if name.startswith(start)
        }
        found[start] = Exposures.from_columns(parts)
    return tuple(found[start] for start in head.get("exposures", ()))


def save(data: ReportData, path: str | Path) -> None:
    """Write a report as a file.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    audit, summary = data.audit, _summarise(data)
    scores, totals = audit.scores_to_save, audit.totals_with_orders
    metrics = {str(metric): metric.to_dict() for metric in audit.measurements}
    head = {"written_by": __version__, **summary, "metrics": metrics}
    if totals.is_over_lists.any():
        head["over_lists"] = {
            role: to_json_value(dict(zip(totals.names, values.tolist(), strict=True)))
            for role, values in totals.values_over_lists.items()
        }
    more, columns = pack_exposures(scores)
    archive = Archive({**head, **more}, {**scores.columns(), **columns})
    with limit_threads(audit.n_jobs):
        archive.write(path, _FORMAT)


def load(path: str | Path) -> ReportData:
    """Return what a saved report is made of.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is not a report, has a format that this version does not read, or
        was changed.
    """
    with Archive.open(path, _FORMAT) as (head, columns):
        audit = _build_audit(head, columns)
        baselines = pd.DataFrame(head["baselines"], dtype=np.float64)[audit.scores.names]
        baselines = baselines.drop("chance")
        return ReportData(
            audit, None if baselines.empty else baselines, weights=head.get("label_weights")
        )


def _build_audit(head: dict[str, Any], columns: dict[str, NDArray[Any]]) -> Audit:
    stored, registered = head["metrics"], list_metric_names()
    names = [*stored]
    measurements = tuple(Measurement.from_dict(name, stored[name], registered) for name in names)
    signatures = {name: Signature(text) for name, text in head["signatures"].items()}
    measurements = tuple(
        one if one.metric.per_user else replace(one, convention=signatures[str(one)].convention)
        for one in measurements
    )
    exposures = unpack_exposures(head, columns)
    by_user = {name: one for name, one in columns.items() if not name.startswith(_EXPOSURES)}
    scores = replace(Scores.from_columns(measurements, by_user), exposures=exposures)
    tables = head["audit"], head.get("over_lists", {})
    audit, over_lists = (pd.DataFrame(table, dtype=np.float64) for table in tables)
    means = {role: audit.loc[name, names].to_numpy() for name, role in _ROLE_OF_COLUMN.items()}
    known = {str(role): values[names].to_numpy() for role, values in over_lists.items()}
    totals = replace(Totals.of(scores).with_means(means), known_values=known)
    return Audit(signatures, totals, scores)


# Users' scores

#: Separators of cells in spreadsheets of some countries, and ends of lines in all.
_SEPARATORS = re.compile(r"[;|\t\r]")


def find_score_writer(name: str) -> Callable[[pd.DataFrame], bytes]:
    """Return the function that writes a table of users' scores in the format of a file's name.

    Raises
    ------
    InvalidInputError
        There is no such format. The function raises it if the format cannot hold the ids.
    MissingExtraError
        Raised by the function: Parquet needs pyarrow.
    """
    for end, write in _FORMS.items():
        if name.lower().endswith(end):
            return write
    ends = ", ".join(_FORMS)
    msg = f"{name}: scores of users are written as CSV or Parquet. Let the name end in {ends}."
    raise InvalidInputError(msg)


def _check_encodable(per_user: pd.DataFrame) -> None:
    for one in per_user.index:
        if isinstance(one, str) and not is_encodable(one):
            msg = f"The user id {one!r} has a lone surrogate, which no file can hold. Correct it."
            raise InvalidInputError(msg)


def _write_parquet(per_user: pd.DataFrame) -> bytes:
    _check_encodable(per_user)
    stream = io.BytesIO()
    with require_libraries("pyarrow", job="Writing Parquet", extra="scale"):
        try:
            per_user.reset_index().to_parquet(stream, index=False, engine="pyarrow")
        except (ValueError, TypeError, OverflowError):  # pyarrow's own are among them
            msg = "Parquet has no type for these user ids. Write CSV or JSON."
            raise InvalidInputError(msg) from None
    return stream.getvalue()


def write_csv(per_user: pd.DataFrame) -> str:
    r"""Return a table of users' scores as CSV, in which no text is a formula.

    `TextFormat.escape_formula` puts an apostrophe before ids and headings that a spreadsheet would
    run.
    Our reader removes it; with pandas, ``pd.read_csv(path, dtype={"user": str})`` and then
    ``table["user"].str.replace(r"^'(?='*[=+\-@\t\r\n])", "", regex=True)``.

    Raises
    ------
    InvalidInputError
        An id is blank, or has a zero byte or a lone surrogate, so it could not be read back.
    """
    _check_encodable(per_user)
    for one in per_user.index:
        if isinstance(one, str) and ("\0" in one or not one.strip()):
            msg = f"The user id {one!r} cannot be read back from CSV. Save the report as JSON."
            raise InvalidInputError(msg)
    escape = TextFormat.escape_formula
    ids = [*map(escape, per_user.index)]
    users = pd.Index(ids, name=per_user.index.name, dtype=object, tupleize_cols=False)
    table = per_user.set_axis(users, axis=0).set_axis([*map(escape, per_user)], axis=1)
    odd = any(_SEPARATORS.search(str(one)) for one in [*users, *table])
    return table.to_csv(
        lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    )


_FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    ".csv": lambda table: write_csv(table).encode(),
    ".csv.gz": lambda table: gzip.compress(write_csv(table).encode(), mtime=0),
    ".csv.bz2": lambda table: bz2.compress(write_csv(table).encode()),
    ".csv.xz": lambda table: lzma.compress(write_csv(table).encode()),
    ".parquet": _write_parquet,
}
