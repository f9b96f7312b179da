"""Reports as plain values: as a dict, for experiment trackers, and in files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.files import Archive, to_json_value
from recsys_ndcg.metrics import list_metric_names
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.scoring import Audit, Measurement, Scores, Signature, Totals
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

#: The numbers of each metric for trackers; the key of the mean has no suffix.
COLUMNS = ("mean", "pooled", "ci_low", "ci_high", "chance", "adjusted", "users")

_REJECTED = re.compile(r"[^\w. -]")  # MLflow allows ":" and "/", too; other trackers do not
_LONGEST = 110  # of a model or a metric: MLflow accepts keys of up to 250 characters


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
    ends = ["" if one == "mean" else f"_{one}" for one in columns]
    models = build_tracker_keys(tables)
    found: dict[str, float] = {}
    for model, table in tables.items():
        for metric, name in build_tracker_keys(table.index, ends).items():
            key = f"{models[model]}/{name}" if model else name
            for end, column in zip(ends, columns, strict=True):
                found[f"{key}{end}"] = float(table[column][metric])
    return {key: value for key, value in found.items() if math.isfinite(value)}


def build_tracker_keys(names: Iterable[str], ends: Sequence[str] = ("",)) -> dict[str, str]:
    """Return a key for each name, of letters, digits, ``_``, ``-``, ``.`` and spaces.

    Keys that would be equal, ignoring case, are numbered.

    Parameters
    ----------
    names : iterable of str
        Different names.
    ends : sequence of str
        Suffixes of the keys: the keys with their suffixes are different, too.

    Examples
    --------
    >>> build_tracker_keys(["ndcg@10", "ndcg@10:catalogue"])
    {'ndcg@10': 'ndcg_at_10', 'ndcg@10:catalogue': 'ndcg_at_10_catalogue'}
    >>> build_tracker_keys(["lr=0.1", "lr:0.1"])
    {'lr=0.1': 'lr_0.1', 'lr:0.1': 'lr_0.1_2'}
    """
    taken: set[str] = set()
    found = {}
    for name in names:
        text = _REJECTED.sub("_", name.replace("@", "_at_")).strip()[:_LONGEST].strip()
        # leading dots would make a path to another folder
        rest = text.lstrip(".")
        plain = "_" * (len(text) - len(rest)) + rest or "_"
        for number in count(1):
            key = plain if number == 1 else f"{plain}_{number}"
            family = {f"{key}{end}".casefold() for end in ends}
            if taken.isdisjoint(family):
                break
        taken |= family
        found[name] = key
    return found


_FORM = "report 5"
#: The columns of the audit that need the lists, and the roles whose means they are.
_FROM_LISTS = {
    "tie_low": "lowest",
    "tie_high": "highest",
    "decided_by_ties": "decided_by_ties",
    "judged": "judged",
    "unlabelled_zero": "zero",
    "unlabelled_top": "top",
}


def to_dict(report: Report) -> dict[str, Any]:
    """Return everything except the lists, as plain values for JSON; NaN becomes None."""
    per_user, scores = report.per_user, report.scores
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.parts.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    return {**_summarise(report), **to_json_value(tables)}


def _summarise(
    report: Report, tables: Sequence[str] = ("summary", "audit", "baselines")
) -> dict[str, Any]:
    """Return the signatures, the counts, and tables with an entry per metric."""
    texts = {name: one.text for name, one in report.signatures.items()}
    summary: dict[str, Any] = {"signatures": texts, "counts": report.counts}
    for name in tables:
        table = report.baselines.T if name == "baselines" else getattr(report, name)
        summary[name] = to_json_value(table.astype(object).to_dict("index"))
    return summary


def _build_archive(report: Report, summary: dict[str, Any]) -> Archive:
    """Return the archive of a report, from which `_build_audit` restores it."""
    audit = report.audited
    head = {
        "written_by": __version__,
        "signatures": summary["signatures"],
        "metrics": {str(one): one.to_dict() for one in audit.measurements},
        **summary,
    }
    return Archive(head, audit.scores_to_save.columns())


def save(report: Report, path: str | Path) -> None:
    """Write a report as a file.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    archive = _build_archive(report, _summarise(report))
    with limit_threads(report.audited.n_jobs):
        archive.write(path, _FORM)


def load(path: str | Path) -> tuple[Audit, pd.DataFrame | None]:
    """Read the audit and the known baselines of a saved report.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is not a report, has another format, or was changed.
    """
    with Archive.open(path, _FORM) as (head, columns):
        audit = _build_audit(head, columns)
        known = pd.DataFrame(head["baselines"], dtype=np.float64)[audit.scores.names]
        known = known.drop("chance")
        return audit, None if known.empty else known


def report_to_parquet(report: Report) -> bytes:
    """Return a report as a Parquet file with a column of scores per metric.

    Raises
    ------
    InvalidInputError
        The user ids have several types, or a type that Parquet does not have.
    MissingExtraError
        pyarrow is not installed.
    """
    scores = report.scores
    shown = dict(zip(scores.names, scores.per_user.T, strict=True))
    archive = _build_archive(report, _summarise(report, ["audit"]))
    return archive.to_parquet(_FORM, scores.names, shown)


def audit_from_parquet(content: bytes) -> Audit:
    """Read the audit of a Parquet file that `report_to_parquet` wrote.

    Raises
    ------
    InvalidInputError
        The file has another format.
    MissingExtraError
        pyarrow is not installed.
    """
    return _build_audit(*Archive.from_parquet(content, _FORM))


def _build_audit(head: dict[str, Any], columns: dict[str, NDArray[Any]]) -> Audit:
    stored, known = head["metrics"], list_metric_names()
    names = [*stored]
    measurements = tuple(Measurement.from_dict(name, stored[name], known) for name in names)
    scores = Scores.from_columns(measurements, columns)
    means = {
        role: np.array([head["audit"][name][one] for name in names], dtype=np.float64)
        for one, role in _FROM_LISTS.items()
    }
    return Audit(
        {name: Signature(text) for name, text in head["signatures"].items()},
        Totals.of(scores).with_means(means),
        scores,
    )
