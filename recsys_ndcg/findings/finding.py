"""A finding: a kind, numbers and names, and its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pandas as pd

from recsys_ndcg.errors import escape_invisible
from recsys_ndcg.findings.templates import Template, read_templates
from recsys_ndcg.rendering import Verdict, list_first

#: The worst first. "error": scores are wrong; "warning": they mean less than they seem to.
SEVERITIES = ("error", "warning", "fact")
#: Names that are of models, in the order of the column `models`.
_MODELS = (
    *("winner", "loser", "model", "models", "other", "others"),
    *("better", "worse", "undecided", "baseline"),
)
_MAX_SENTENCES = 3  # about the same thing


@dataclass(frozen=True)
class Finding:
    """What a result shows, or what limits it.

    Parameters
    ----------
    kind : str
        What was found, the key of its template.
    numbers : mapping of str
        The numbers that show it, or sequences of numbers.
    names : mapping of str
        The names of a metric, models and the like, or sequences of names.
    severity : {'error', 'warning', 'fact'}, optional
        By default the template's.
    """

    kind: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    severity: str = ""

    def __post_init__(self) -> None:
        """Take the severity of the template, if there is none."""
        if not self.severity:
            object.__setattr__(self, "severity", self.template.severity)

    @property
    def template(self) -> Template:
        """Its words."""
        return read_templates()[self.kind]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that it is about."""
        given = [self.names[role] for role in _MODELS if self.names.get(role)]
        parts = [(each,) if isinstance(each, str) else each for each in given]
        return tuple(dict.fromkeys(name for part in parts for name in part))

    @property
    def headline(self) -> str:
        """The sentence without its evidence."""
        return escape_invisible(self.template.fill(self.template.text, self._values))

    @property
    def evidence(self) -> str:
        """The sentences of evidence, or ``""``."""
        return escape_invisible(self.template.fill(self.template.evidence, self._values)).strip()

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return f"{self.headline} {self.evidence}".rstrip()

    @property
    def _values(self) -> dict[str, Any]:
        return {**self.names, **self.numbers}


def tabulate_findings(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return a row per finding: kind, metric, models, numbers, severity and sentence."""
    rows = [*findings]
    columns = {
        "kind": [finding.kind for finding in rows],
        "metric": [finding.names.get("metric") for finding in rows],
        "models": [finding.models for finding in rows],
        "numbers": [dict(finding.numbers) for finding in rows],
        "severity": [finding.severity for finding in rows],
        "sentence": [finding.sentence for finding in rows],
    }
    return pd.DataFrame(columns, dtype=object)  # text would turn None into NaN


def write_sentences(findings: Iterable[Finding], most: int = _MAX_SENTENCES) -> list[str]:
    """Write a sentence per finding; of many about the same thing, the first and their number."""
    sentences: list[str] = []
    for more, group in groupby(findings, lambda finding: finding.template.more):
        texts = [finding.sentence for finding in group]
        sentences += list_first(texts, most, more) if more else texts
    return sentences


def write_verdict(findings: Sequence[Finding]) -> Verdict:
    """Write the first finding as the headline, and the others as its evidence."""
    first, *others = findings
    evidence = [first.evidence, *(finding.sentence for finding in others)]
    return Verdict(first.headline, " ".join(filter(None, evidence)))
