"""Reports as plain values: a dict, and the head and columns of a file, and back."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.files import from_parquet, json_value, open_archive, to_parquet, write_archive
from recsys_ndcg.metrics import Metric, Recorded, names_known, parse
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

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

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
    rows = {
        what: {
            str(name): {str(column): json_value(value) for column, value in row.items()}
            for name, row in table.astype(object).to_dict("index").items()
        }
        for what, table in tables.items()
    }
    texts = {name: one.text for name, one in signatures.items()}
    return {"signatures": texts, "counts": dict(counts), **rows}


def users_to_dict(per_user: pd.DataFrame, scores: Scores) -> dict[str, Any]:
    """Return what a report says of every user, as plain values that JSON can hold; NaN is None."""
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.parts.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    return {
        what: {str(name): [json_value(one) for one in column] for name, column in each.items()}
        for what, each in tables.items()
    }


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
        write_archive(path, _FORM, head | told, columns)


def load(path: str | Path) -> tuple[Audit, pd.DataFrame | None]:
    """Return what `Report` takes, from an archive.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no report, of another format, or was changed.
    """
    with open_archive(path, _FORM) as (head, columns):
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
    return to_parquet(_FORM, head | told, columns, names, shown)


def audit_from_parquet(content: bytes) -> Audit:
    """Return what `audit_to_parquet` wrote.

    Raises
    ------
    InvalidInputError
        It is no such file.
    MissingExtraError
        pyarrow is not installed.
    """
    return _audit(*from_parquet(content, _FORM))


def _head_and_columns(audit: Audit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what `_audit` makes the same audit of, but for the columns that lists give."""
    head = {
        "written_by": __version__,
        "signatures": {name: one.text for name, one in audit.signatures.items()},
        "metrics": {
            str(one): metric_to_dict(one.metric, one.undefined) for one in audit.measurements
        },
    }
    return head, audit.kept_scores.columns()


def _audit(head: dict[str, Any], columns: dict[str, NDArray[Any]]) -> Audit:
    names, known = [*head["metrics"]], names_known()
    measurements = (measurement_from(name, one, known) for name, one in head["metrics"].items())
    scores = Scores.from_columns(tuple(measurements), columns)
    means = {
        role: np.array([head["audit"][name][one] for name in names], dtype=np.float64)
        for one, role in _FROM_LISTS.items()
    }
    return Audit(
        {name: Signature(text) for name, text in head["signatures"].items()},
        scores,
        Totals.of(scores).with_means(means),
    )


def metric_to_dict(metric: Metric, undefined: float = np.nan) -> dict[str, Any]:
    """Return what must be known of a metric to show its scores."""
    return {
        "k": metric.k,
        "bounded": metric.bounded,
        "orders": metric.orders,
        "greater_is_better": metric.greater_is_better,
        "a_ratio": type(metric).score is Metric.score,
        "undefined": json_value(undefined),
    }


def measurement_from(name: str, stored: dict[str, Any], known: frozenset[str]) -> Measurement:
    """Return what fills a column; one whose metric is not known here shows its scores.

    Raises
    ------
    InvalidInputError
        The metric is not known, and its scores are no quotients.
    KeyError, TypeError, ValueError
        No metric is described like this.
    """
    if not name.isprintable():  # somebody made the file, and the name would act on a terminal
        raise ValueError(name)
    undefined = stored["undefined"]
    rule = Convention(undefined="skip" if undefined is None else undefined)
    if re.split(r"\W", name, maxsplit=1)[0].lower() in known:
        with suppress(RecsysNdcgError):
            return Measurement(parse(name)[0], rule)
    if not stored["a_ratio"]:
        msg = f"{name} makes its score in a way that is not known here: import its module first."
        raise InvalidInputError(msg)
    metric = Recorded(
        stored["k"],
        text=name,
        is_bounded=stored["bounded"],
        ranks=stored["orders"],
        more_is_better=stored.get("greater_is_better", True),  # the first files of 4 lack it
    )
    return Measurement(metric, rule)
