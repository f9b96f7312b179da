"""check_split: a report of what is wrong with a split, before any model is trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, format_count, quote
from recsys_ndcg.files import is_files, to_json_value
from recsys_ndcg.findings import Finding as WhyFinding
from recsys_ndcg.findings import Gate
from recsys_ndcg.input import EncodedIds, read_rows, reject_text_lists
from recsys_ndcg.ratings import Interactions, read_interactions
from recsys_ndcg.rendering import Document, Renderable, Section, ShownTable, Verdict, join_names
from recsys_ndcg.scale import find_engine
from recsys_ndcg.scoring import Plan
from recsys_ndcg.split_checks.checks import run_checks
from recsys_ndcg.split_checks.split import (
    ROW_NAMES,
    VERDICTS,
    Finding,
    Profile,
    Split,
    TrainSummary,
)


@dataclass(frozen=True, eq=False, repr=False)
class SplitReport(Renderable):
    """What the checks of a split found, as `check_split` returns it.

    Parameters
    ----------
    findings : tuple of Finding
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
    verdict : {'error', 'warning', 'fact'}
        The worst verdict.
    """

    findings: tuple[Finding, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    n_rows: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The worst verdict of all checks."""
        return min((one.verdict for one in self.findings), key=VERDICTS.index, default="fact")

    @property
    def checks(self) -> pd.DataFrame:
        """A row per check, the worst first."""
        names = ["verdict", "count", "share", "sentence", "rows"]
        ordered = sorted(self.findings, key=lambda one: VERDICTS.index(one.verdict))
        rows = [[getattr(one, name) for name in names] for one in ordered]
        index = pd.Index([one.check for one in ordered], name="check")
        return pd.DataFrame(rows, index=index, columns=names).astype({"count": "Int64"})

    def __getitem__(self, check: str) -> Finding:
        """Return the finding of a check.

        Raises
        ------
        InvalidInputError
            No check of that name has run.
        """
        found = {one.check: one for one in self.findings}
        if check not in found:
            known = (
                f"it needs {self.skipped[check]}"
                if check in self.skipped
                else f"it has {join_names([*found])}"
            )
            msg = f"This report has no check {quote(check)}: {known}."
            raise InvalidInputError(msg)
        return found[check]

    def find(self, verdict: str) -> list[Finding]:
        """Return the findings with a verdict."""
        return [one for one in self.findings if one.verdict == verdict]

    def gate(self, fail_on: str) -> Gate:
        """Return whether no check has a verdict, or a worse one, and which checks have.

        Raises
        ------
        InvalidInputError
            There is no such verdict.
        """
        check_choice("fail_on", fail_on, VERDICTS[:2])
        bad = [
            one.check
            for verdict in VERDICTS[: VERDICTS.index(fail_on) + 1]
            for one in self.find(verdict)
        ]
        if not bad:
            finding = WhyFinding("split_passes", names={"fail_on": fail_on})
        else:
            finding = WhyFinding("split_fails", {"count": len(bad)}, {"checks": bad})
        return Gate(passed=not bad, findings=(finding,))

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
        tables = {key: one.checks.drop(columns="rows") for key, one in reports.items()}
        table: pd.DataFrame = pd.concat(tables, names=[*names, "check"])
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON; NaN becomes None."""
        findings = [asdict(one) for one in self.findings]
        parts = {"verdict": self.verdict, "rows": dict(self.n_rows), "skipped": dict(self.skipped)}
        columns = {name: dict(one) for name, one in self.names.items() if one}
        return {**parts, "columns": columns, "findings": to_json_value(findings)}

    def _document(self, *, with_verdict: bool = True) -> Document:  # noqa: ARG002 - always on top
        """Return the content of the report for people."""
        parts = ", ".join(format_count(n, f"{ROW_NAMES[name]}") for name, n in self.n_rows.items())
        headline = {
            "error": "This split has errors: scores on it would be wrong.",
            "warning": "Scores on this split mean less than they seem to; see the warnings.",
            "fact": "Nothing is wrong with this split, as far as it could be checked.",
        }[self.verdict]
        if not self.findings:
            headline = "This split could not be checked."
        evidence = ""
        if self.verdict != "fact":
            worst = [one.check for one in self.find(self.verdict)[:3]]
            evidence = f"First of all: {join_names(worst)}."
        sections = []
        for verdict, title in zip(VERDICTS, ("Errors", "Warnings", "Facts"), strict=True):
            if found := self.find(verdict):
                table = _build_table(verdict, found)
                sections.append(Section(f"{verdict}s", title, _LEADS[verdict], [table]))
        remarks = [*_join_names(self.names), *_join_skipped(self.skipped)]
        if remarks:
            sections.append(Section("skipped", "Not checked", "", [remarks]))
        return Document(
            parts,
            sections,
            [Verdict(headline, evidence)],
            title="Check of a split",
        )


_LEADS = {
    "error": "Scores would be wrong. Make the split again.",
    "warning": "Scores mean less than they seem to, or hold for other users or items.",
    "fact": "What to report with the scores.",
}


def _join_names(names: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a sentence for each part whose columns have other names."""
    return [
        f"Columns of {part}: {join_names(f'{theirs} as {ours}' for ours, theirs in one.items())}."
        for part, one in names.items()
        if one
    ]


def _join_skipped(skipped: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason, with the checks that it left out."""
    by_reason: dict[str, list[str]] = {}
    for name, why in skipped.items():
        by_reason.setdefault(why, []).append(name)
    return [f"No {why}, so not checked: {join_names(names)}." for why, names in by_reason.items()]


def _build_table(verdict: str, findings: Iterable[Finding]) -> ShownTable:
    rows = [
        {
            verdict: one.check,
            "finding": one.sentence
            + (f" First: {'; '.join(one.rows)}." if one.rows and verdict != "fact" else ""),
        }
        for one in findings
    ]
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
    >>> report.verdict, report["pairs in both parts"].rows
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
        The names of checks to leave out.
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
        if all(one == by_part["train"] for one in by_part.values()):
            continue
        named = "; ".join(f"{name}: {'/'.join(sorted(one))}" for name, one in by_part.items())
        shared = ~(test.is_unknown_user if column == "user" else test.is_unknown_item)
        sentence = (
            f'The {column}s are of different types ({named}), and 1 is never "1". As text, '
            f"{int(shared.sum())} of {len(shared)} test rows have the {column} of a training row: "
            "give all parts the same type."
        )
        check = f"{column} ids of one type"
        yield Finding("error", sentence, int(shared.sum()), float(shared.mean()), check=check)
