"""What a report is made of, and reports as plain values: as a dict, for trackers, in files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.files import Archive, to_json_value
from recsys_ndcg.metrics import Metric, list_metric_names
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.ranking import Exposures
from recsys_ndcg.scoring import Audit, Measurement, Scores, Signature, Totals, find_metric_name
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

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


@dataclass(frozen=True, eq=False)
class ReportData:
    """The value that a `Report` shows; other rooms of this package read it, users do not.

    Parameters
    ----------
    audit : Audit
        Everything that was measured; all tables come from it: the scores of every user, chance,
        ties, counts, signatures, and the lists if they were kept.
    baselines : pandas.DataFrame, optional
        The means of other models on the same users, a row per model.
    inputs : mapping of str
        Python for the arguments of `evaluate` that are files, or for the report if it was loaded;
        for the code on a page.
    weights : mapping of str, optional
        `Report.label_weights`, if the lists are not known.
    """

    audit: Audit
    baselines: pd.DataFrame | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] | None = None

    @property
    def scores(self) -> Scores:
        """The numerators and denominators of every user."""
        return self.audit.scores

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order in which they were requested."""
        return [str(one) for one in self.audit.measurements]

    @property
    def metrics_of_users(self) -> list[str]:
        """The names of the metrics that have a score per user."""
        return [str(one) for one in self.audit.measurements if one.metric.per_user]

    @property
    def bounded(self) -> pd.Series[bool]:
        """Whether each metric is always between 0 and 1."""
        bounded = [one.is_bounded for one in self.audit.measurements]
        return pd.Series(bounded, index=self.metrics, dtype=bool)

    def find_column(
        self, metric: str | Metric | None, of_users: Sequence[str] | None = None
    ) -> int:
        """Return the position of a metric, by default the only one.

        Raises
        ------
        InvalidInputError
            There is no such metric, or `of_users` is given and does not have it.
        """
        return self.metrics.index(find_metric_name(metric, self.metrics, "This report", of_users))

    def find_column_of_users(self, metric: str | Metric | None = None) -> int:
        """Return the position of a metric that has a score per user, by default the first such one.

        Raises
        ------
        InvalidInputError
            There is no such metric, or it is a number of all lists together.
        """
        chosen = (self.metrics_of_users or self.metrics)[0] if metric is None else metric
        return self.find_column(chosen, self.metrics_of_users)


def to_dict(report: Report) -> dict[str, Any]:
    """Return the tables, findings and users' scores as plain values for JSON; NaN becomes None."""
    per_user, scores = report.per_user, report._data.scores
    columns = {name: per_user[name].tolist() for name in per_user}
    tables = {"per_user": {"user": per_user.index.tolist(), **columns}}
    for part, table in scores.tables_behind_scores.items():
        tables[part] = dict(zip(scores.names, table.T.tolist(), strict=True))
    findings = {"findings": report.findings.to_dict("records")}
    return {**_summarise(report), **to_json_value(findings), **to_json_value(tables)}


def _summarise(report: Report) -> dict[str, Any]:
    """Return the signatures, the counts, and tables with an entry per metric."""
    texts = {name: signature.text for name, signature in report.signatures.items()}
    summary: dict[str, Any] = {"signatures": texts, "counts": report.counts}
    for name in ("summary", "audit", "baselines"):
        table = report.baselines.T if name == "baselines" else getattr(report, name)
        summary[name] = to_json_value(table.astype(object).to_dict("index"))
    if report.label_weights is not None:
        summary["label_weights"] = to_json_value(report.label_weights.to_dict())
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


def save(report: Report, path: str | Path) -> None:
    """Write a report as a file.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    audit, summary = report._data.audit, _summarise(report)
    scores, totals = audit.scores_to_save, audit.totals_with_orders
    head = {
        "written_by": __version__,
        "signatures": summary["signatures"],
        "metrics": {str(metric): metric.to_dict() for metric in audit.measurements},
        **summary,
    }
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
    means = {
        role: np.array([head["audit"][name][column] for name in names], dtype=np.float64)
        for column, role in _ROLE_OF_COLUMN.items()
    }
    known = {
        role: np.array([values[name] for name in names], dtype=np.float64)
        for role, values in head.get("over_lists", {}).items()
    }
    totals = replace(Totals.of(scores).with_means(means), known_values=known)
    return Audit(signatures, totals, scores)
