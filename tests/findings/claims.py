"""What each kind of finding claims: a check of its numbers and names against public tables."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

from recsys_ndcg.findings import Finding

#: The check of each kind, and the type of what is known if several types have such findings.
#: It takes what is known, and the finding's numbers and names by name.
CLAIMS: dict[str | tuple[str, type], Callable[..., Any]] = {}


def claim(
    *kinds: str, result: type | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the check of some kinds, if they are found in results of a type."""

    def add(check: Callable[..., Any]) -> Callable[..., Any]:
        CLAIMS.update(dict.fromkeys([(kind, result) if result else kind for kind in kinds], check))
        return check

    return add


def read_kinds() -> dict[str, list[str]]:
    """Return the kinds of each group of templates."""
    path = files("recsys_ndcg.findings") / "templates.toml"
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    del groups["pieces"]
    return {name: [kind for kind in group if kind != "severity"] for name, group in groups.items()}


def check_claims(findings: Iterable[Finding], known: Any) -> list[str]:
    """Check each finding, and return their kinds.

    Parameters
    ----------
    findings : iterable of Finding
        The findings.
    known
        What the checks compare them with.
    """
    kinds = []
    for finding in findings:
        check = CLAIMS.get((finding.kind, type(known))) or CLAIMS[finding.kind]
        assert check(known, **finding.numbers, **finding.names), finding
        kinds.append(finding.kind)
    return kinds
