"""Reports as plain values: a dict, numbers for trackers, a head and columns of a file, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.files import Archive, json_value
from recsys_ndcg.metrics import names_known
from recsys_ndcg.parallel import at_most
from recsys_ndcg.report.tables import audit_table, counts_of
from recsys_ndcg.scoring import (
    Audit,
    Measurement,
    Scores,
    Signature,
    Totals,
)
from recsys_ndcg.version import __version__

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
    ends = suffixes(columns)
    models = tracker_keys(tables)
    found: dict[str, float] = {}
    for model, table in tables.items():
        for metric, name in tracker_keys(table.index, ends).items():
            key = f"{models[model]}/{name}" if model else name
            for end, column in zip(ends, columns, strict=True):
                found[f"{key}{end}"] = float(table[column][metric])
    return {key: value for key, value in found.items() if math.isfinite(value)}


def suffixes(columns: Sequence[str]) -> list[str]:
    """Return what the name of a metric ends in for each of the columns."""
    return ["" if one == "mean" else f"_{one}" for one in columns]


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
        plain = _plain(name)
        for number in count(1):
            key = plain if number == 1 else f"{plain}_{number}"
            family = {f"{key}{end}".casefold() for end in ends}
            if taken.isdisjoint(family):
                break
        taken |= family
        found[name] = key
    return found


def _plain(name: str) -> str:
    text = _REFUSED.sub("_", name.replace("@", "_at_")).strip()[:_LONGEST].strip()
    # points in front would make a path that leads elsewhere
    rest = text.lstrip(".")
    return "_" * (len(text) - len(rest)) + rest or "_"


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


def summary_to_dict(
    tables: Mapping[str, pd.DataFrame],
    counts: Mapping[str, int],
    signatures: Mapping[str, Signature],
) -> dict[str, Any]:
    """Return what a report says of all users, as plain values that JSON can hold; NaN is None."""
    rows = {what: table.astype(object).to_dict("index") for what, table in tables.items()}
    texts = {name: one.text for name, one in signatures.items()}
    return {"signatures": texts, "counts": dict(counts), **json_value(rows)}


def users_to_dict(per_user: pd.DataFrame, scores: Scores) -> dict[str, Any]:
    """Return what a report says of every user, as plain values that JSON can hold; NaN is None."""
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.parts.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    told: dict[str, Any] = json_value(tables)
    return told


def save(told: dict[str, Any], audit: Audit, path: str | Path) -> None:
    """Write a report as an archive.

    Parameters
    ----------
    told : dict
        What `summary_to_dict` returns.
    audit : Audit
        With the scores of every user.
    path : str or Path
        The file.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    head, columns = _head_and_columns(audit)
    with at_most(audit.n_jobs):
        Archive(head | told, columns).write(path, _FORM)


def load(path: str | Path) -> tuple[Audit, pd.DataFrame | None]:
    """Return what `Report` takes, from an archive.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no report, of another format, or was changed.
    """
    with Archive.open(path, _FORM) as (head, columns):
        audit, stored = _audit(head, columns), head["baselines"]
        names = audit.scores.names
        others = [one for one in stored[names[0]] if one != "chance"]
        rows = [[stored[name][one] for name in names] for one in others]
        return audit, pd.DataFrame(rows, others, names, dtype=np.float64) if rows else None


def audit_to_parquet(audit: Audit) -> bytes:
    """Return a Parquet file with the user, the score in each metric, and what else is saved.

    Raises
    ------
    InvalidInputError
        The users have ids of several types, or of one that Parquet does not have.
    MissingExtraError
        pyarrow is not installed.
    """
    head, columns = _head_and_columns(audit)
    names = audit.scores.names
    told = summary_to_dict(
        {"audit": audit_table(audit.full_totals)}, counts_of(audit), audit.signatures
    )
    shown = dict(zip(names, audit.scores.per_user.T, strict=True))
    return Archive(head | told, columns).to_parquet(_FORM, names, shown)


def audit_from_parquet(content: bytes) -> Audit:
    """Return what `audit_to_parquet` wrote.

    Raises
    ------
    InvalidInputError
        It is no such file.
    MissingExtraError
        pyarrow is not installed.
    """
    return _audit(*Archive.from_parquet(content, _FORM))


def _head_and_columns(audit: Audit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what `_audit` makes the same audit of, but for the columns that lists give."""
    head = {
        "written_by": __version__,
        "signatures": {name: one.text for name, one in audit.signatures.items()},
        "metrics": {str(one): one.to_dict() for one in audit.measurements},
    }
    return head, audit.kept_scores.columns()


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
