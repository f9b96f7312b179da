"""check_split: a report of what is wrong with a split, before any model is trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, check_integer, format_count, quote
from recsys_ndcg.files import is_files, to_json_value
from recsys_ndcg.findings import (
    SEVERITIES,
    Finding,
    HasFindings,
    write_verdict,
)
from recsys_ndcg.input import EncodedIds, read_rows, reject_text_lists
from recsys_ndcg.ratings import Interactions, read_interactions
from recsys_ndcg.rendering import Document, Renderable, Section, ShownTable, join_names
from recsys_ndcg.scale import find_engine
from recsys_ndcg.scoring import Plan
from recsys_ndcg.split_checks.checks import run_checks
from recsys_ndcg.split_checks.split import (
    ROW_NAMES,
    Profile,
    Split,
    TrainSummary,
    count_flags,
    name_check,
)


@dataclass(frozen=True, eq=False, repr=False)
class SplitReport(HasFindings, Renderable):
    """What the checks of a split found, as `check_split` returns it.

    Parameters
    ----------
    _checked : tuple of Finding
        What each check found.
    skipped : mapping of str to str
        The checks that could not run, with what they lack.
    n_rows : mapping of str to int
        The number of rows of each part.
    names : mapping of str to mapping
        For each part, our names of columns to the table's, if they differ.

    Attributes
    ----------
    checks : pandas.DataFrame
        A row per check, the worst first: verdict, count, share, sentence and the first rows.
    findings : pandas.DataFrame
        The same as findings of other results: kind, metric, models, numbers, severity, sentence.
        The kind is the name of the check, with underscores.
    verdict : {'error', 'warning', 'fact'}
        The worst verdict.
    """

    _checked: tuple[Finding, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    n_rows: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def _findings(self) -> tuple[Finding, ...]:
        return self._checked

    @property
    def verdict(self) -> str:
        """The worst verdict of all checks."""
        severities = (finding.severity for finding in self._findings)
        return min(severities, key=SEVERITIES.index, default="fact")

    @property
    def checks(self) -> pd.DataFrame:
        """A row per check, the worst first."""
        ordered = [finding for severity in SEVERITIES for finding in self.find(severity)]
        index = pd.Index([name_check(finding.kind) for finding in ordered], name="check")
        names = ["verdict", "count", "share", "sentence", "rows"]
        table = pd.DataFrame(map(_describe, ordered), index=index, columns=names)
        return table.astype({"count": "Int64", "share": "float64"})

    def __getitem__(self, check: str) -> Finding:
        """Return the finding of a check, by its name or its kind.

        Raises
        ------
        InvalidInputError
            No check of that name has run.
        """
        name = name_check(check)
        by_name = {name_check(finding.kind): finding for finding in self._findings}
        if name not in by_name:
            known = (
                f"it needs {self.skipped[name]}"
                if name in self.skipped
                else f"it has {join_names([*by_name])}"
            )
            msg = f"This report has no check {quote(check)}: {known}."
            raise InvalidInputError(msg)
        return by_name[name]

    def find(self, verdict: str) -> list[Finding]:
        """Return the findings with a verdict."""
        return [finding for finding in self._findings if finding.severity == verdict]

    @property
    def _may_fail(self) -> list[Finding]:
        """The errors and warnings: every check has a finding, which is a fact if all is well."""
        return [*self.find("error"), *self.find("warning")]

    @staticmethod
    def tabulate(reports: Mapping[Any, SplitReport], names: Sequence[str]) -> pd.DataFrame:
        """Return the checks of several splits: a row per split and check, the worst first.

        Parameters
        ----------
        reports : mapping of keys to SplitReport
            By the number of the split, or by seed and number.
        names : sequence of str
            The names of the parts of a key.
        """
        tables = {key: report.checks.drop(columns="rows") for key, report in reports.items()}
        table: pd.DataFrame = pd.concat(tables, names=[*names, "check"])
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON; NaN becomes None."""
        parts = {"verdict": self.verdict, "rows": dict(self.n_rows), "skipped": dict(self.skipped)}
        columns = {name: dict(each) for name, each in self.names.items() if each}
        rows = self.findings.to_dict("records")
        findings = [
            {"check": name_check(finding.kind), **row, **_describe(finding)}
            for row, finding in zip(rows, self._findings, strict=True)
        ]
        return {**parts, "columns": columns, "findings": to_json_value(findings)}

    def _document(self, *, with_verdict: bool = True) -> Document:  # noqa: ARG002 - always on top
        """Return the content of the report for people."""
        parts = ", ".join(format_count(n, ROW_NAMES[name]) for name, n in self.n_rows.items())
        sections = [
            Section(f"{verdict}s", title, lead, [_build_table(verdict, self.find(verdict))])
            for verdict, (title, lead) in _SECTIONS.items()
            if self.find(verdict)
        ]
        notes = [*_list_columns(self.names), *_list_skipped(self.skipped)]
        if notes:
            sentences = [finding.sentence for finding in notes]
            sections.append(Section("skipped", "Not checked", "", [sentences]))
        verdicts = [write_verdict([self._judge()])]
        return Document(parts, sections, verdicts, title="Check of a split")

    def _judge(self) -> Finding:
        """Return whether anything is wrong with the split, and what first of all."""
        if not self._findings:
            return Finding("split_unchecked")
        worst = [name_check(finding.kind) for finding in self.find(self.verdict)[:3]]
        return Finding(_HEADLINES[self.verdict], names={"checks": worst})


_HEADLINES = {"error": "split_errors", "warning": "split_warnings", "fact": "no_split_faults"}
#: By verdict: the title of its section, and what its checks mean.
_SECTIONS = {
    "error": ("Errors", "Scores would be wrong. Make the split again."),
    "warning": (
        "Warnings",
        "Scores mean less than they seem to, or hold for other users or items.",
    ),
    "fact": ("Facts", "What to report with the scores."),
}


def _describe(finding: Finding) -> dict[str, Any]:
    """Return the columns of `SplitReport.checks` for a finding."""
    return {
        "verdict": finding.severity,
        "count": finding.numbers.get("count"),
        "share": finding.numbers.get("share"),
        "sentence": finding.sentence,
        "rows": finding.names.get("rows", ()),
    }


def _list_columns(names: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    """Yield the columns of each part that have other names."""
    for part, columns in names.items():
        if columns:
            pairs = [f"{theirs} as {ours}" for ours, theirs in columns.items()]
            yield Finding("other_columns", names={"part": part, "columns": pairs})


def _list_skipped(skipped: Mapping[str, str]) -> Iterator[Finding]:
    """Yield each thing that is lacking, with the checks that need it."""
    for lacking in dict.fromkeys(skipped.values()):
        checks = [name for name, reason in skipped.items() if reason == lacking]
        yield Finding("skipped_checks", names={"lacking": lacking, "checks": checks})


def _build_table(verdict: str, findings: Iterable[Finding]) -> ShownTable:
    rows = []
    for finding in findings:
        first = "; ".join(finding.names.get("rows", ()) if verdict != "fact" else ())
        text = finding.sentence + (f" First: {first}." if first else "")
        rows.append({verdict: name_check(finding.kind), "finding": text})
    return ShownTable(f"{verdict}s", pd.DataFrame(rows), numeric=())


def check_split(  # noqa: PLR0913 - all are inputs
    train: Any,
    test: Any,
    validation: Any = None,
    lists: Any = None,
    *,
    threshold: float | None = None,
    k: int = 10,
    columns: Mapping[str, Any] | None = None,
    memory_limit: str | float | None = None,
) -> SplitReport:
    """Check a split before any model is trained: leaks, time, unknown users and items, shifts.

    Parameters
    ----------
    train, test : table, rows, path, or trainset of Surprise
        A row per rating: user, item and, if they are known, rating and timestamp (a number, a date
        or text such as ``2020-01-31``).
    validation : table, rows or path, optional
        The rows on which parameters are chosen.
    lists : results, optional
        Recommendations or candidates, as results of `recsys_ndcg.evaluate`.
    threshold : float, optional
        Ratings at or above it are relevant.
    k : int
        The cutoff of the metrics.
    columns : mapping, optional
        Our names to the tables': ``{"rating": "stars", "timestamp": "date"}``.
    memory_limit : str or number, optional
        For files larger than memory, as in `recsys_ndcg.evaluate`: the training rows are sorted on
        disk. The other parts are read into memory.

    Returns
    -------
    SplitReport
        A finding per check with a verdict: ``"error"`` (scores would be wrong), ``"warning"`` (they
        mean less than they seem to) or ``"fact"``. Print it, or write a page with ``to_html``.

    Raises
    ------
    InvalidInputError
        A part cannot be read, or an option is out of range.

    References
    ----------
    Ji et al. (2023), doi:10.1145/3569930, on leaks of time; Meng et al. (2020),
    doi:10.1145/3383313.3418479, on the choice of a split; Hidasi & Czapp (2023),
    doi:10.1145/3604915.3608816

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a", 5), ("ann", "b", 3), ("bob", "a", 4)]
    >>> report = rn.check_split(train, [("ann", "a", 5), ("eve", "b", 2)])
    >>> report.verdict, report["pairs in both parts"].names["rows"]
    ('error', ("user 'ann' item 'a'",))
    """
    check_integer("k", k, 1)
    threshold = Plan.of(threshold=threshold).threshold  # checked
    if test is None:
        msg = "test is None. Give the test rows."
        raise InvalidInputError(msg)
    parts = {"test": read_interactions(test, "test", columns)}
    if validation is not None:
        parts["validation"] = read_interactions(validation, "validation", columns)
    if lists is not None:
        rows = read_rows(lists, table="results")
        reject_text_lists(rows)
        rows.check_not_empty()
        parts["lists"] = Interactions.of(rows.user, rows.item)
    is_limited = memory_limit is not None and is_files(train)
    if is_limited or find_engine(train) is not None:
        batches = _read_batches(train, "train", columns, memory_limit)
    else:
        batches = iter([read_interactions(train, "train", columns)])
    return check_parts(batches, parts, threshold=threshold, k=k)


def check_parts(
    batches: Iterable[Interactions],
    parts: Mapping[str, Interactions],
    *,
    threshold: float | None = None,
    k: int = 10,
    without: tuple[str, ...] = (),
) -> SplitReport:
    """Run the checks on parts that are read.

    Parameters
    ----------
    batches : iterable of Interactions
        The training rows; each batch has all rows of its users.
    parts : mapping of str to Interactions
        ``"test"``, and perhaps ``"validation"`` and ``"lists"``.
    threshold : float, optional
        The least rating of a relevant item.
    k : int
        The cutoff.
    without : tuple of str
        The kinds of checks to leave out.
    """
    types: dict[str, dict[str, set[str]]] = {"user": {}, "item": {}}
    summaries, names = [], {}
    for batch in batches:
        names["train"] = batch.names
        train, parts = _unify_id_types({"train": batch, **parts}, types)
        summaries.append(TrainSummary.of(train, parts, threshold))
    summary = reduce(add, summaries)
    profiles = {name: Profile(name, part, summary) for name, part in parts.items()}
    retyped = tuple(_describe_types(types, profiles["test"]))
    split = Split(summary, profiles, retyped, k, threshold)
    findings, skipped = run_checks(split, without)
    n_rows = {"train": len(summary), **{name: len(part) for name, part in parts.items()}}
    names |= {name: part.names for name, part in parts.items()}
    return SplitReport(tuple(findings), skipped, n_rows, names)


def _read_batches(
    data: Any, name: str, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Interactions]:
    """Yield all rows of some users at a time, from files or streams that are sorted on disk.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or has no columns of users and items.
    """
    from recsys_ndcg.scale import read_users_in_batches  # noqa: PLC0415 - narwhals

    try:
        for names, batch in read_users_in_batches(data, columns, memory_limit):
            part = read_interactions(batch, name)
            differing = {ours: theirs for ours, theirs in names.items() if ours != theirs}
            yield replace(part, names=differing, others={})
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None


def _unify_id_types(
    parts: Mapping[str, Interactions], types: Mapping[str, dict[str, set[str]]]
) -> tuple[Interactions, dict[str, Interactions]]:
    """Return training rows and the other parts with ids of one type: text if types differ.

    `types` are the types of the ids of each part, by column; those of these parts are added.
    """
    for column, known in types.items():
        for name, part in parts.items():
            if name == "train" or name not in known:
                found = EncodedIds.list_types(getattr(part, column).ids)
                known.setdefault(name, set()).update(found)
        if any(one != known["train"] for one in known.values()):
            parts = {name: part.with_text_ids(column) for name, part in parts.items()}
    others = dict(parts)
    return others.pop("train"), others


def _describe_types(
    types: Mapping[str, Mapping[str, set[str]]], test: Profile
) -> Iterator[Finding]:
    """Yield an error for each column of ids whose types differ."""
    for column, by_part in types.items():
        if all(kinds == by_part["train"] for kinds in by_part.values()):
            continue
        counts = count_flags(~(test.is_unknown_user if column == "user" else test.is_unknown_item))
        names = {part: "/".join(sorted(kinds)) for part, kinds in by_part.items()}
        yield Finding(f"{column}_ids_of_one_type", counts, names, "error")
