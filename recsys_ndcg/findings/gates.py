"""Gates: whether a result passes a check, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.convention import split_names
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.findings.finding import SEVERITIES, Finding, tabulate_findings, write_sentences
from recsys_ndcg.findings.templates import read_templates
from recsys_ndcg.rendering import join_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gate:
    """Whether a check was passed, and why.

    Parameters
    ----------
    passed : bool
        Whether it was passed; also the gate's truth value.
    findings : tuple of Finding
        Why.
    """

    passed: bool
    findings: tuple[Finding, ...]

    @property
    def reason(self) -> str:
        """Why, in a few sentences."""
        return " ".join(write_sentences(self.findings))

    def __bool__(self) -> bool:
        """Return whether it passed."""
        return self.passed

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


class HasFindings(ABC):
    """A result with findings: the table of them, and gates."""

    @property
    @abstractmethod
    def _findings(self) -> Sequence[Finding]:
        """What the result shows, and then what limits it."""

    @property
    def _may_fail(self) -> Sequence[Finding]:
        """The findings of which a gate can fail."""
        return self._findings

    @property
    def findings(self) -> pd.DataFrame:
        """What the result shows and what limits it: the verdicts, then the remarks, a row each.

        Columns: kind, what was found; metric, None if it is about several or none; models, a tuple
        of names; numbers, a dict of what shows it; severity, ``"error"`` if numbers are wrong,
        ``"warning"`` if they mean less than they seem to, else ``"fact"``; and sentence. Of many
        remarks about the same thing, `remarks` has the first three only.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)
        >>> report.findings[["kind", "severity"]]
                  kind severity
        0  like_chance     fact
        1     one_user  warning
        2  high_chance  warning
        3  like_random  warning
        """
        return tabulate_findings(self._findings)

    def gate(self, fail_on: str | Iterable[str], accept: str | Iterable[str] = ()) -> Gate:
        """Return whether there is no finding that must not be, and which there are.

        Parameters
        ----------
        fail_on : str or several
            ``"error"``, ``"warning"`` (warnings and errors), or kinds of `findings`.
        accept : str or several
            Kinds that do not fail.

        Raises
        ------
        InvalidInputError
            There is no such kind, or `fail_on` has none.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)
        >>> print(report.gate("warning", accept=["high_chance", "like_random"]))
        1 finding fails: one_user. One user is not enough evidence.
        """
        return check_findings(self._may_fail, fail_on, accept)


@cache
def list_kinds() -> tuple[str, ...]:
    """Return what may fail a result: two severities, and then kinds of findings."""
    templates = read_templates().items()
    return (*SEVERITIES[:2], *(kind for kind, each in templates if each.group != "gate"))


def check_findings(
    findings: Iterable[Finding], fail_on: str | Iterable[str], accept: str | Iterable[str] = ()
) -> Gate:
    """Return the gate of some findings, as `HasFindings.gate`; raise if there is no such kind."""
    failing = _read_kinds(fail_on, list_kinds())
    fault = "A gate needs what fails it. Pass `fail_on='warning'`, 'error' or kinds of findings."
    InvalidInputError.raise_if("" if failing else fault)
    accepted = _read_kinds(accept, list_kinds()[2:])
    words = {*failing, "error"} if "warning" in failing else {*failing}
    bad = [finding for finding in findings if words & {finding.kind, finding.severity}]
    left = [finding for finding in bad if finding.kind not in accepted]
    if left:
        names = {"kinds": [*dict.fromkeys(finding.kind for finding in left)]}
        first = Finding("findings_fail", {"count": len(left)}, names)
        return Gate(passed=False, findings=(first, *left))
    names = {"fail_on": failing, "accepted": [*dict.fromkeys(finding.kind for finding in bad)]}
    return Gate(passed=True, findings=(Finding("nothing_fails", names=names),))


def check_mean(
    row: Mapping[str, Any], limit: float, names: Mapping[str, str | None], *, is_least: bool
) -> Gate:
    """Return whether a mean is within its limit.

    Parameters
    ----------
    row : mapping
        The mean, and the number of users.
    limit : float
        The limit.
    names : mapping
        The metric, and the model if there are several.
    is_least : bool
        Whether the limit is the least mean, not the largest.
    """
    mean = float(row["mean"])
    passed = mean >= limit if is_least else mean <= limit
    kind = "mean_within_limit" if passed else "mean_beyond_limit"
    numbers = {"mean": mean, "users": int(row["users"]), "limit": limit, "is_least": is_least}
    finding = Finding("no_score" if np.isnan(mean) else kind, numbers, names)
    return Gate(passed=passed, findings=(finding,))


def _read_kinds(texts: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Return kinds that may be written with spaces; raise if one is unknown."""
    kinds = [str(name).replace(" ", "_") for name in split_names(texts)]
    for kind in kinds:
        if kind not in known:
            nearest = join_names(get_close_matches(kind, known, 3, 0))
            msg = f"There is no kind of finding {quote(kind)}. The nearest are {nearest}."
            raise InvalidInputError(msg)
    return kinds
