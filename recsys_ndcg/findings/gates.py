"""Gates: whether a result passes a check, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.findings.finding import SEVERITIES, Finding, write_sentences
from recsys_ndcg.findings.templates import read_templates
from recsys_ndcg.rendering import join_names


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
        Kinds of findings, or ``"error"``, or ``"warning"`` for warnings and errors.
    accept : str or several
        Kinds that do not fail.

    Raises
    ------
    InvalidInputError
        There is no such kind.
    """
    kinds = read_templates()
    failing, accepted = _read_kinds(fail_on, [*kinds, *SEVERITIES[:2]]), _read_kinds(accept, kinds)
    words = {*failing, *SEVERITIES[: "warning" in failing]}
    bad = [finding for finding in findings if words & {finding.kind, finding.severity}]
    left = [finding for finding in bad if finding.kind not in accepted]
    if left:
        names = {"kinds": [*dict.fromkeys(finding.kind for finding in left)]}
        first = Finding("findings_fail", {"count": len(left)}, names)
        return Gate(passed=False, findings=(first, *left))
    names = {"fail_on": failing, "accepted": [*dict.fromkeys(finding.kind for finding in bad)]}
    return Gate(passed=True, findings=(Finding("nothing_fails", names=names),))


def _read_kinds(texts: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Return kinds that may be written with spaces; raise if one is unknown."""
    kinds = [str(text).replace(" ", "_") for text in ([texts] if isinstance(texts, str) else texts)]
    for kind in kinds:
        if kind not in known:
            nearest = join_names(get_close_matches(kind, known, 3, 0))
            msg = f"There is no kind of finding {quote(kind)}. The nearest are {nearest}."
            raise InvalidInputError(msg)
    return kinds
