"""Gates: whether a result passes a check, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.findings.finding import SEVERITIES, Finding, write_sentences
from recsys_ndcg.findings.templates import read_templates


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


def check_findings(
    findings: Iterable[Finding], fail_on: str | Iterable[str], accept: str | Iterable[str] = ()
) -> Gate:
    """Return whether there is no finding that must not be.

    Parameters
    ----------
    findings : iterable of Finding
        The findings of a result.
    fail_on : str or several
        Kinds of findings, or severities: ``"error"``, or ``"warning"`` for warnings and errors.
    accept : str or several
        Kinds that do not fail.

    Raises
    ------
    InvalidInputError
        There is no such kind.
    """
    failing, accepted = (
        [texts] if isinstance(texts, str) else [*texts] for texts in (fail_on, accept)
    )
    known = {*read_templates(), *SEVERITIES}
    for name in (*failing, *accepted):
        if name not in known:
            msg = f"There is no kind of finding {quote(name)}. {suggest(name, known)}"
            raise InvalidInputError(msg)
    severities = [*failing, *(["error"] if "warning" in failing else [])]
    bad = [
        finding
        for finding in findings
        if finding.kind not in accepted
        and (finding.kind in failing or finding.severity in severities)
    ]
    if not bad:
        return Gate(passed=True, findings=(Finding("nothing_fails", names={"fail_on": failing}),))
    kinds = [*dict.fromkeys(finding.kind for finding in bad)]
    first = Finding("findings_fail", {"count": len(bad)}, {"kinds": kinds})
    return Gate(passed=False, findings=(first, *bad))
