"""Reports as plain values: a dict, numbers for trackers, a head and columns of a file, and back."""

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

from recsys_ndcg.files import Archive, json_value
from recsys_ndcg.metrics import names_known
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.scoring import Audit, Measurement, Scores, Signature, Totals
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

#: What is told of each metric; the mean stands under the name alone.
COLUMNS = ("mean", "pooled", "ci_low", "ci_high", "chance", "adjusted", "users")

_REFUSED = re.compile(r"[^\w. -]")  # by MLflow, but for ":" and "/", which other trackers refuse
_LONGEST = 110  # of a model or a metric: MLflow refuses a key of more than 250


def tracker_metrics(tables: Mapping[str, pd.DataFrame], *more: str) -> dict[str, float]:
    """Return one number under each key; what is no finite number is left out.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        By what stands before the keys, a model or nothing: a row for each metric, the same in all.
    *more : str
        Which columns of them are wanted beside `COLUMNS`.
    """
    columns = [*COLUMNS, *more]
    ends = ["" if one == "mean" else f"_{one}" for one in columns]
    models = tracker_keys(tables)
    found: dict[str, float] = {}
    for model, table in tables.items():
        for metric, name in tracker_keys(table.index, ends).items():
            key = f"{models[model]}/{name}" if model else name
            for end, column in zip(ends, columns, strict=True):
                found[f"{key}{end}"] = float(table[column][metric])
    return {key: value for key, value in found.items() if math.isfinite(value)}


def tracker_keys(names: Iterable[str], ends: Sequence[str] = ("",)) -> dict[str, str]:
    """Return a key for each name, in letters, digits, ``_``, ``-``, ``.`` and blanks.

    Where keys would be the same, but for capitals, those that come later are numbered.

    Parameters
    ----------
    names : iterable of str
        Each different.
    ends : sequence of str
        What will be put behind the keys: they stay different with these, too.

    Examples
    --------
    >>> tracker_keys(["ndcg@10", "ndcg@10:catalogue"])
    {'ndcg@10': 'ndcg_at_10', 'ndcg@10:catalogue': 'ndcg_at_10_catalogue'}
    >>> tracker_keys(["lr=0.1", "lr:0.1"])
    {'lr=0.1': 'lr_0.1', 'lr:0.1': 'lr_0.1_2'}
    """
    taken: set[str] = set()
    found = {}
    for name in names:
        text = _REFUSED.sub("_", name.replace("@", "_at_")).strip()[:_LONGEST].strip()
        # points in front would make a path that leads elsewhere
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
#: The columns of the audit that take a look at the lists, and the roles that they are means of.
_FROM_LISTS = {
    "tie_low": "lowest",
    "tie_high": "highest",
    "decided_by_ties": "moved",
    "judged": "judged",
    "unlabelled_zero": "zero",
    "unlabelled_top": "top",
}


def to_dict(report: Report) -> dict[str, Any]:
    """Return all that a report says as plain values that JSON can hold; NaN is None."""
    per_user, scores = report.per_user, report.scores
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.parts.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    return {**_of_all_users(report), **json_value(tables)}


def _of_all_users(
    report: Report, tables: Sequence[str] = ("summary", "audit", "baselines")
) -> dict[str, Any]:
    """Return the signatures, the counts, and tables with an entry for each metric."""
    texts = {name: one.text for name, one in report.signatures.items()}
    told: dict[str, Any] = {"signatures": texts, "counts": report.counts}
    for name in tables:
        table = report.baselines.T if name == "baselines" else getattr(report, name)
        told[name] = json_value(table.astype(object).to_dict("index"))
    return told


def _archive(report: Report, told: dict[str, Any]) -> Archive:
    """Return a report as an archive, which `_audit` reads."""
    audit = report.audited
    head = {
        "written_by": __version__,
        "signatures": told["signatures"],
        "metrics": {str(one): one.to_dict() for one in audit.measurements},
        **told,
    }
    return Archive(head, audit.kept_scores.columns())


def save(report: Report, path: str | Path) -> None:
    """Write a report as an archive.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    archive = _archive(report, _of_all_users(report))
    with limit_threads(report.audited.n_jobs):
        archive.write(path, _FORM)


def load(path: str | Path) -> tuple[Audit, pd.DataFrame | None]:
    """Return what `Report` takes, from an archive.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no report, of another format, or was changed.
    """
    with Archive.open(path, _FORM) as (head, columns):
        audit = _audit(head, columns)
        known = pd.DataFrame(head["baselines"], dtype=np.float64)[audit.scores.names]
        known = known.drop("chance")
        return audit, None if known.empty else known


def report_to_parquet(report: Report) -> bytes:
    """Return a Parquet file with the user, the score in each metric, and what else is saved.

    Raises
    ------
    InvalidInputError
        The users have ids of several types, or of one that Parquet does not have.
    MissingExtraError
        pyarrow is not installed.
    """
    scores = report.scores
    shown = dict(zip(scores.names, scores.per_user.T, strict=True))
    archive = _archive(report, _of_all_users(report, ["audit"]))
    return archive.to_parquet(_FORM, scores.names, shown)


def audit_from_parquet(content: bytes) -> Audit:
    """Return what `Report` takes, from what `report_to_parquet` wrote.

    Raises
    ------
    InvalidInputError
        It is no such file.
    MissingExtraError
        pyarrow is not installed.
    """
    return _audit(*Archive.from_parquet(content, _FORM))


def _audit(head: dict[str, Any], columns: dict[str, NDArray[Any]]) -> Audit:
    stored, known = head["metrics"], names_known()
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
