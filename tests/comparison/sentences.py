"""Every sentence on segments or data sets, with a check of its claim against the tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tests.findings.verdict_claims import read_numbers

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


# Several data sets


def _get_row(found: Any, a: str, b: str) -> Any:
    """Return the row of a pair, after its wins are counted."""
    (row,) = found.pairs[(found.pairs["a"] == a) & (found.pairs["b"] == b)].to_dict("records")
    tables = [read_numbers(one, found.metric) for one in found.comparisons.values()]
    tables = [one for one in tables if {a, b} <= {*one.models}]
    assert row["datasets"] == len(tables)
    assert row["wins_a"] == sum(one.beats(a, b) for one in tables)
    assert row["wins_b"] == sum(one.beats(b, a) for one in tables)
    return row


def _get_where(found: Any) -> str:
    known = read_numbers(next(iter(found.comparisons.values())), found.metric)
    return f"{found.metric} ({known.ranked})"


def _name_better(found: Any, row: Any) -> str:
    return row["a"] if (row["mean_d_z"] > 0) != (found.metric == "rmse") else row["b"]


@claim(
    "data set",
    "Of {n} data sets, {a} is significantly better than {b} in {where} on {n_a}, {b_} on {n_b}, "
    "neither on {n_tied}.",
)
def _(found: Any, n: str, a: str, b: str, where: str, b_: str, **counts: str) -> bool:
    row = _get_row(found, a, b)
    assert int(n) == len(found.datasets) == row["datasets"] and (b, where) == (
        b_,
        _get_where(found),
    )
    return [*map(int, counts.values())] == [row["wins_a"], row["wins_b"], row["tied"]]


@claim(
    "data set",
    *(f"The mean d_z of {{a}} minus {{b}} is {{size}}, so {end}." for end in (
        "which of them is better on other data sets is not known",
        "{better} is better on average over data sets like these")),
)  # fmt: skip
def _(found: Any, a: str, b: str, size: str, better: str = "") -> bool:
    row = _get_row(found, a, b)
    level, p = f"{100 * (1 - found.alpha):.10g} % interval", rf"p = ({_NUMBER})\)"
    match = re.fullmatch(rf"({_NUMBER}) \({level} ({_NUMBER}) to ({_NUMBER}), {p}", size)
    assert match
    names = ("mean_d_z", "mean_d_z_low", "mean_d_z_high")
    assert all(is_shown(text, row[name]) for text, name in zip(match.groups(), names, strict=False))
    assert math.isclose(float(match[4]), row["p_corrected"], rel_tol=0.051)
    return better == (_name_better(found, row) if row["p_corrected"] <= found.alpha else "")


@claim(
    "data set",
    "Pairs with the same significantly better model in {where} on each of {n} data sets: {n_same} "
    "of {n_pairs}.",
    "With one on some and the other on others: {n_both}.",
)
def _(found: Any, where: str = "", n: str = "", n_same: str = "", n_pairs: str = "",
      n_both: str = "") -> bool:  # fmt: skip
    wins = [(row["wins_a"], row["wins_b"]) for a, b in found.pairs[["a", "b"]].to_numpy()
            for row in [_get_row(found, a, b)]]  # fmt: skip
    if n_both:
        return 0 < int(n_both) == sum(min(pair) > 0 for pair in wins)
    assert (where, int(n), int(n_pairs)) == (_get_where(found), len(found.datasets), len(wins))
    return int(n_same) == sum(max(pair) == len(found.datasets) for pair in wins)


@claim(
    "data set",
    "On average over data sets like these, no model is shown to be better than another (mean d_z, "
    "corrected p above {number}).",
    "Shown to be better on average over data sets like these (mean d_z, corrected p at most "
    "{number}): {text}.",
)
def _(found: Any, number: str, text: str = "") -> bool:
    assert float(number) == found.alpha
    due = found.pairs[found.pairs["p_corrected"] <= found.alpha].sort_values("p", kind="stable")
    names = [(_name_better(found, row), row) for row in due.to_dict("records")]
    shown = [f"{one} than {row['b'] if one == row['a'] else row['a']}" for one, row in names]
    return is_list(text, shown, 3) if shown else not text


@claim(
    "data sets",
    "One data set is one observation: it has no mean over data sets, and no interval.",
    *(f"{count} data sets are {count.lower()} observations, however many users they have: a claim "
      "about other data sets needs more." for count in ("Two", "Three", "Four")),
)  # fmt: skip
def _(found: Any) -> bool:
    return len(found.datasets) < 5


@claim(
    "data sets",
    "The prediction intervals are rough: with four to {n} data sets, they hold less often than "
    "{number} % if the true differences vary little.",
)
def _(found: Any, n: str, number: str) -> bool:
    assert found.pairs["prediction_low"].notna().any()
    return number == f"{100 * (1 - found.alpha):.10g}" and 4 <= len(found.datasets) <= int(n)


@claim("data sets", "Models that some data sets do not have are left out: {text}.")
def _(found: Any, text: str) -> bool:
    for model, missing in re.findall(r"(\w+) \(not in ([^)]+)\)", text):
        assert model not in found.models
        assert missing.split(", ") == [
            name for name, one in found.comparisons.items() if model not in one.models
        ]
    return True


@claim("data sets", "{words} is {number_1} for {first} and {number_2} for {other}.")
def _(found: Any, words: str, first: str, other: str, **values: str) -> bool:
    assert first == found.datasets[0]
    return all(
        float(value)
        == float(
            re.search(rf"\|{words}:([^|]+)", found.comparisons[name].signature(found.metric).text)[
                1
            ]
        )
        for value, name in zip(values.values(), (first, other), strict=True)
    )


@claim(
    "data sets",
    "The data sets are tested in different ways, so wins do not mean the same ({text}).",
)
def _(found: Any, text: str) -> bool:
    how = {name: one._data.tested_by for name, one in found.comparisons.items()}
    return (
        text == "; ".join(f"{name}: {test}" for name, test in how.items())
        and len({*how.values()}) > 1
    )


@claim("data sets", "No mean over data sets, because fewer than two have a d_z with an interval: "
       "{text}.")  # fmt: skip
def _(found: Any, text: str) -> bool:
    unknown = found.pairs[found.pairs["mean_d_z"].isna()]
    names = [f"{a} and {b}" for a, b in unknown[["a", "b"]].to_numpy()]
    return text == ", ".join([*names[:3], f"{len(names) - 3} more"] if len(names) > 4 else names)
