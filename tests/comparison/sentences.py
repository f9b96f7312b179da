"""Every sentence on segments or data sets, with a check of its claim against the tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

_NAME = r"(?:(?:grid|random): )?(?!Both\b)\w+"
_NUMBER = r"-?\d[\d.]*(?:e[+-]?\d+)?"
_NAMES = rf"{_NAME}(?:, {_NAME})*(?: and (?:\d+ more|{_NAME}))?"
#: What a placeholder may stand for, by its name without digits; others are names of models.
PLACEHOLDERS = {
    "names": _NAMES,
    "text": r".+?",
    "metric": r"[a-z_]+(?:@\d+)?",
    "metrics": r"[a-z_@\d]+(?:, [a-z_@\d]+)*(?: and (?:\d+ more|[a-z_@\d]+))?",
    "where": r"[a-z_]+(?:@\d+)? \((?:rated items|supplied lists|whole catalogue)\)",
    "score": r"(?:pooled )?[a-z_]+(?:@\d+)?",
    "size": rf"{_NUMBER}(?: \([^()]*\))?",
    "number": rf"[+-]?{_NUMBER}|-",
    "n": r"\d+",
    "p": r"p (?:= [\d.e-]+|< 0\.0001)",
    "test": r"[^().;]*",
    "words": r"[a-z -]+",
}
TABLE: dict[str, tuple[str, re.Pattern[str], Callable[..., Any]]] = {}


def claim(group: str, *templates: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add sentences to the table: a placeholder is in braces, its check takes it by its name."""

    def add(check: Callable[..., Any]) -> Callable[..., Any]:
        for template in templates:
            parts = re.split(r"\{(\w+)\}", template)
            for place in range(1, len(parts), 2):
                kind = PLACEHOLDERS.get(parts[place].rstrip("_0123456789"), _NAME)
                parts[place] = f"(?P<{parts[place]}>{kind})"
            parts[::2] = [re.escape(part) for part in parts[::2]]
            TABLE[template] = group, re.compile("".join(parts) + "(?: |$)"), check
        return check

    return add


def parse(text: str, groups: str) -> list[list[tuple[str, re.Match[str]]]]:
    """Return each way to read a text as sentences of these groups."""
    if not text:
        return [[]]
    return [
        [(template, match), *rest]
        for template, (group, pattern, _) in TABLE.items()
        if re.fullmatch(groups, group) and (match := pattern.match(text))
        for rest in parse(text[match.end() :], groups)
    ]


def check_sentences(text: str, groups: str, known: Any) -> list[str]:
    """Check each sentence of a text, and return their templates."""
    ways = parse(text, groups)
    assert len(ways) == 1, f"{len(ways)} ways to read: {text}"
    for template, match in ways[0]:
        assert TABLE[template][2](known, **match.groupdict()) is not False, template
    return [template for template, _ in ways[0]]


def is_shown(text: str, value: float) -> bool:
    """Return whether a text is the value, rounded."""
    if text == "-" or math.isnan(value):
        return text == "-" and math.isnan(value)
    digits, _, power = text.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return math.isclose(float(text), value, rel_tol=1e-9, abs_tol=0.5001 * unit)


def is_list(text: str, every: list[str], most: int) -> bool:
    """Return whether a text has the first names, and how many more there are."""
    more = len(every) - most
    return re.split(r", | and ", text) == (
        every if more < 2 else [*every[:most], f"{more} more"]
    )  # fmt: skip


# Segments of one report


@claim(
    "segments",
    "{n_outside} of {n_users} users are in no segment: only the row (all) includes them.",
)
def _(found: Any, n_outside: str, n_users: str) -> bool:
    assert int(n_users) == found.whole.counts["users"]
    return 0 < int(n_outside) == found.counts[None] == int(n_users) - sum(
        one.counts["users"] for one in found.values()
    )  # fmt: skip


@claim("segments", "All users are in segment {segment}: there is no other segment to compare.")
def _(found: Any, segment: str) -> bool:
    return [*found] == [segment]


@claim("segments", "Too few users for a test or a reliable interval (fewer than 10): {text}.")
def _(found: Any, text: str) -> bool:
    small = [
        f"{name} ({one.counts['users']})" for name, one in found.items() if one.counts["users"] < 10
    ]
    return is_list(text, small, 3)


@claim(
    "segments",
    "Chance in {metric} is {number_1} for segment {low} and {number_2} for segment {high}: compare "
    "adjusted scores, not means.",
)
def _(found: Any, metric: str, number_1: str, low: str, number_2: str, high: str) -> bool:
    chance = found.summary["chance"].xs(metric, level="metric")
    assert (chance[low], chance[high]) == (chance.min(), chance.max())
    assert chance[high] - chance[low] >= 0.05
    return is_shown(number_1, chance[low]) and is_shown(number_2, chance[high])


@claim(
    "segments",
    *(f"In {{metric}}{less}, {{n}} of {{n_all}} segments {{words}} from the others together "
      "(corrected for the number of segments): {text}."
      for less in ("", " minus chance")),
)  # fmt: skip
def _(found: Any, metric: str, n: str, n_all: str, words: str, text: str) -> bool:
    table = found.summary.xs(metric, level="metric")
    due = table[table["p_corrected"] <= 0.05].sort_values("difference", key=lambda x: -abs(x))
    shown = [f"{name} ({value:+.4f})" for name, value in due["difference"].items()]
    assert (int(n), int(n_all)) == (len(due), len(table)) and is_list(text, shown, 3)
    return words == ("differs" if len(due) == 1 else "differ")


@claim(
    "segments",
    "In {metric}, segment {high} has a higher mean than segment {low} ({number_1} and {number_2}), "
    "but a lower pooled score, in which large lists count for more ({number_3} and {number_4}).",
)
def _(found: Any, metric: str, high: str, low: str, **numbers: str) -> bool:
    mean, pooled = (found.summary[one].xs(metric, level="metric") for one in ("mean", "pooled"))
    assert mean[high] > mean[low] and pooled[high] < pooled[low]
    expected = [mean[high], mean[low], pooled[high], pooled[low]]
    return all(map(is_shown, numbers.values(), expected))


@claim("segments", "… and the same in {n} more metrics.")
def _(found: Any, n: str) -> bool:
    return 1 < int(n) <= len(found.whole.metrics) - 3
