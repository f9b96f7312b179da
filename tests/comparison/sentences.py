"""Every sentence of a verdict, a gate or a remark, with a check of its claim against the tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import recsys_ndcg as rn

_NAME = r"(?:(?:grid|random): )?(?!Both\b)\w+"
_NUMBER = r"-?\d[\d.]*(?:e[+-]?\d+)?"
_NAMES = rf"{_NAME}(?:, {_NAME})*(?: and (?:\d+ more|{_NAME}))?"
_OUTCOME = rf"{_NAMES} (?:is|are) (?:better than|worse than|level with) {_NAME}"
#: What a placeholder may stand for, by its name without digits; others are names of models.
PLACEHOLDERS = {
    "names": _NAMES,
    "outcomes": rf"{_OUTCOME}(?:; {_OUTCOME})*",
    "text": r".+?",
    "metric": r"[a-z_]+(?:@\d+)?",
    "metrics": r"[a-z_@\d]+(?:, [a-z_@\d]+)*(?: and (?:\d+ more|[a-z_@\d]+))?",
    "where": r"[a-z_]+(?:@\d+)? \((?:rated items|supplied lists|whole catalogue)\)",
    "score": r"(?:pooled )?[a-z_]+(?:@\d+)?",
    "size": rf"{_NUMBER}(?: \([^()]*\))?",
    "number": rf"[+-]?{_NUMBER}|-",
    "n": r"\d+",
    "units": r"\d+(?: to \d+)? users?(?: and \d+(?: to \d+)? runs)?",
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


@dataclass
class Pair:
    """One model against another: gains are positive if it is better."""

    row: Any
    gain: float
    ends: list[float]
    relative: list[float]
    wins: int
    losses: int
    direction: float
    p_not_worse: float
    p_not_better: float

    @property
    def is_open(self) -> bool:
        """Whether neither is significantly better."""
        return self.direction == 0


#: The table is made anew each time that it is asked for.
_read_pairs = lru_cache(maxsize=2)(lambda found: found.pairwise)


class Numbers:
    """A comparison in one metric, as its public tables have it."""

    def __init__(self, found: rn.Comparison, metric: str) -> None:
        """Take the tables of the metric."""
        self.found, self.metric, self.alpha = found, metric, found._data.testing.alpha
        ranked = {"rated": "rated items", "supplied": "supplied lists"}
        protocol = found.signature(metric).fields["protocol"]
        self.where = f"{metric} ({ranked.get(protocol, 'whole catalogue')})"
        self.sign = -1 if metric.split("@", maxsplit=1)[0] in {"rmse", "gini", "of_c"} else 1
        self.is_bounded = not re.match("rmse|of_|novelty", metric)
        self.board, pairs = found.leaderboards[metric], _read_pairs(found)
        self.rows = pairs[pairs["metric"] == metric]
        self._by_pair = {(row["a"], row["b"]): row for row in self.rows.to_dict("records")}
        self.test, self.family = found._data.testing.test, found._data.testing.family
        self.margin = found._data.margin
        self.scores = found.per_user.get(metric)
        every = sorted(found.models, key=lambda one: self._place(found.models, one))
        self.models = [one for one in every if one != "chance" or len(every) == 2]
        self.judged = self.models[:2]  # the pair of the last sentence
        self.pairs = [pair for pair in self._by_pair if {*pair} <= {*self.models}]

    def _place(self, models: list[str], name: str) -> tuple[float, int]:
        mean = self.board["mean"][name]
        return (math.inf if math.isnan(mean) else -self.sign * mean), models.index(name)

    def pair(self, one: str, other: str) -> Pair:
        """Return the numbers of a pair, whichever model comes first in the table."""
        turn = 1 if (one, other) in self._by_pair else -1
        row = self._by_pair[(one, other)[::turn]]
        sides = ("wins", "losses")[::turn], ("p_a_not_worse", "p_b_not_worse")[::turn]
        gain, *ends = (turn * self.sign * row[name] for name in ("difference", "ci_low", "ci_high"))
        ratios = [1 + row[name] for name in ("relative", "relative_low", "relative_high")]
        if turn < 0:
            ratios = [1 / x if x > 0 else math.nan for x in (ratios[0], ratios[2], ratios[1])]
        apart = self._compute_direction(one, other, gain) if row["p_corrected"] <= self.alpha else 0
        return Pair(
            *(row, gain, sorted(ends), [100 * (ratio - 1) for ratio in ratios]),
            *(row[name] for name in sides[0]),
            apart,
            *(row.get(name, math.nan) for name in sides[1]),
        )

    def _compute_direction(self, one: str, other: str, gain: float) -> float:
        """Return 1 if the test favours the first model, by the users' scores."""
        if self.test in {"sign", "wilcoxon"}:
            apart = self.sign * (self.scores[one] - self.scores[other]).dropna()
            apart = apart[apart.abs() > 1e-9]
            ranks = apart.abs().round(9).rank() if self.test == "wilcoxon" else 1
            gain = float((np.sign(apart) * ranks).sum())
        return float(np.sign(gain))

    def beats(self, one: str, other: str) -> bool:
        """Return whether the first model is significantly better."""
        is_tested = not self._by_pair.keys().isdisjoint({(one, other), (other, one)})
        return is_tested and self.pair(one, other).direction > 0

    def tier(self, one: str) -> int:
        """Return 1 + the number of significantly better models."""
        return 1 + sum(self.beats(other, one) for other in self.models if other != one)

    def has_units(self, text: str, pairs: list[tuple[str, str]] | None = None) -> bool:
        """Return whether these are the numbers of users and runs of the pairs."""
        rows = [self.pair(*pair).row for pair in pairs or self.pairs]
        runs = sorted({row["runs"] for row in rows if row["runs"]})
        users = sorted({row["users"] for row in rows})
        n_users, n_runs = (
            f"{one[0]} to {one[-1]}" if len(one) > 1 else f"{one[0]}" if one else ""
            for one in (users, runs)
        )
        noun = "user" if users == [1] else "users"
        return text == f"{n_users} {noun}" + (f" and {n_runs} runs" if runs else "")

    def has_size(self, text: str, one: str, other: str, turn: int = 1) -> bool:
        """Return whether a text is a difference with its interval, also in percent."""
        pair = self.pair(one, other)
        ends = sorted(turn * end for end in pair.ends)
        numbers = [
            float(one)
            for one in re.findall(rf"(?<![\w.]){_NUMBER}", text.split("(", maxsplit=1)[0])
        ]
        assert len(numbers) == 1
        assert is_shown(text.split(" ", maxsplit=1)[0], turn * pair.gain)
        level = f"{100 * (1 - self.alpha):.10g} %"
        kind = "t interval" if self.test in {"sign", "wilcoxon"} else "interval"
        shown = re.search(rf"{level} {kind} ({_NUMBER}) to ({_NUMBER})", text)
        assert bool(shown) == math.isfinite(ends[0])
        if shown:
            assert all(map(is_shown, shown.groups(), ends))
        number = r"([+-][\d.,e+-]+)"
        relative = re.search(rf"relative {number} %(?:, {number} to {number} %)?\)", text)
        assert bool(relative) == math.isfinite(pair.relative[0])
        if relative:
            signed = [turn * self.sign * value for value in pair.relative]
            values = [signed[0], *sorted(signed[1:])]
            for found, value in zip(relative.groups(), values, strict=True):
                assert (found is None) == (value is not values[0] and np.isnan(values).any())
                shown = math.nan if found is None else float(found.replace(",", ""))
                assert found is None or math.isclose(shown, value, rel_tol=0.006)
            if self.scores is not None:  # the relative difference of the means themselves
                means = self.scores[[one, other]].dropna().mean()
                expected = turn * self.sign * (means[one] / means[other] - 1)
                assert np.isclose(expected, values[0] / 100)
        return True

    def has_test(self, text: str) -> bool:
        """Return whether this is the test in words, as the comparison has it."""
        return self.found._data.tested_by.startswith(text)


#: Many sentences are about the same metric.
read_numbers = lru_cache(maxsize=8)(Numbers)


# Verdicts


@claim(
    "empty",
    "Nothing can be compared in {where}: no user has scores from two models. Choose another "
    "metric or threshold.",
)
def _(one: Numbers, where: str) -> bool:
    return where == one.where and not one.rows["users"].any()


@claim("empty", "Only {units} can be compared in {where}, too few for a test. The scores: {text}.")
def _(one: Numbers, units: str, where: str, text: str) -> bool:
    assert one.rows["p_corrected"].isna().all() and (where, units) == (one.where, "1 user")
    assert one.rows["users"].max() == 1
    *shown, last = text.split(", ")
    n_more = int(last.split()[0]) if last.endswith(" more") else 0
    scores = shown if n_more else [*shown, last]
    assert len(scores) + n_more == len(one.board)
    return all(
        is_shown(number, one.board["mean"][name])
        for name, number in (score.rsplit(" ", 1) for score in scores)
    )


@claim(
    "same",
    "All {n} models have the same score in {where} for each of {units}. Are they different models?",
    "{first} and {second} have the same score in {where} for each of {units}. Are they different "
    "models?",
)
def _(one: Numbers, where: str, units: str, **names: str) -> bool:
    assert where == one.where and one.has_units(units) and _names_all(one, names)
    scores = one.scores[one.models]
    return all(np.allclose(*scores[[a, b]].dropna().to_numpy().T) for a, b in one.pairs)


@claim(
    "same",
    "All {n} models have the same {where}: {number}.",
    "{first} and {second} have the same {where}: {number}.",
)
def _(one: Numbers, where: str, number: str, **names: str) -> bool:
    assert where == one.where and one.scores is None and _names_all(one, names)
    return all(is_shown(number, mean) for mean in one.board["mean"])


def _names_all(one: Numbers, names: dict[str, str]) -> bool:
    if "n" in names:
        return int(names["n"]) == len(one.models) != 2
    return [*names.values()] == [name for name in one.found.models if name in one.models]


_LEVEL = "No clear winner in {where}: {first} and {second} are level."


@claim(
    "two", f"{_LEVEL} {{first_}} minus {{second_}} is {{size}} over {{units}} ({{test}}, {{p}})."
)
def _(one: Numbers, where: str, size: str, units: str, test: str, p: str, **names: str) -> bool:
    a, b, *again = names.values()
    assert [a, b] == again and one.pairs == [(a, b)] and where == one.where and one.has_test(test)
    pair = one.pair(a, b)
    assert pair.row["p_corrected"] > one.alpha and _has_p(p, pair.row["p_corrected"])
    return one.has_size(size, a, b, one.sign) and one.has_units(units)


def _has_p(text: str, p: float) -> bool:
    shown = text.rsplit(maxsplit=1)[-1]
    return (
        p < 0.0001 if "<" in text else p >= 0.0001 and math.isclose(float(shown), p, rel_tol=0.051)
    )


@claim(
    "better",
    "{winner} is better than {loser} in {where}. It is ahead by {size} over {units} ({test}, {p}).",
)
def _(one: Numbers, winner: str, loser: str, where: str, size: str, units: str, test: str,
      p: str) -> bool:  # fmt: skip
    pair = one.pair(winner, loser)
    assert len(one.pairs) == 1 and where == one.where and one.test not in {"sign", "wilcoxon"}
    assert pair.direction > 0 < pair.gain and _has_p(p, pair.row["p_corrected"])
    return one.has_size(size, winner, loser) and one.has_units(units) and one.has_test(test)


@claim(
    "two",
    f"{_LEVEL} The test favours neither over {{units}} ({{test}}, {{p}}). The means are equal.",
    f"{_LEVEL} The test favours neither over {{units}} ({{test}}, {{p}}). {{better}} has the "
    "better mean, by {size}.",
)
def _(one: Numbers, first: str, second: str, where: str, test: str, units: str, p: str,
      better: str = "", size: str = "") -> bool:  # fmt: skip
    pair = one.pair(first, second)
    assert one.pairs == [(first, second)] and where == one.where and one.has_test(test)
    assert one.test in {"sign", "wilcoxon"} and pair.row["p_corrected"] > one.alpha
    assert _has_p(p, pair.row["p_corrected"]) and one.has_units(units)
    if not better:
        return pair.gain == 0
    worse = second if better == first else first
    return one.pair(better, worse).gain > 0 and one.has_size(size, better, worse)


@claim("ranks", "The means point the other way: {text}.")
def _(one: Numbers, text: str) -> bool:
    rows = one.rows[["a", "b"]].itertuples(index=False)
    pairs = {(a, b): one.pair(a, b) for a, b in rows}
    due = [
        " above ".join((a, b) if pair.gain > 0 else (b, a))
        for (a, b), pair in pairs.items()
        if pair.direction * pair.gain < 0
    ]
    assert one.test in {"sign", "wilcoxon"} and len(one.rows) > 1
    return is_list(text, due, 4)


_MORE = "More users are ahead with {winner} than with {loser} in {where}."
_RANKS = "The ranks of the users' differences favour {winner} over {loser} in {where}."


@claim(
    "better",
    *(
        f"{order} Over {{units}}, {{test}}, {{p}}. {means}"
        for order in (_MORE, _RANKS)
        for means in (
            "The means are equal.",
            "{winner_} also has the better mean, by {size}.",
            "But {loser_} has the better mean, by {size}.",
        )
    ),
)
def _(one: Numbers, winner: str, loser: str, where: str, test: str, units: str, p: str,
      size: str = "", **again: str) -> bool:  # fmt: skip
    pair = one.pair(winner, loser)
    assert pair.direction > 0 and where == one.where and one.has_test(test)
    assert _has_p(p, pair.row["p_corrected"]) and one.has_units(units)
    assert test == {"sign": "sign test", "wilcoxon": "Wilcoxon signed-rank test"}[one.test]
    if not again:
        return pair.gain == 0
    better, worse = (winner, loser) if "winner_" in again else (loser, winner)
    assert again.popitem()[1] == better
    return one.pair(better, worse).gain > 0 and one.has_size(size, better, worse)


@claim("many", "No clear winner in {where}: all {n} models are level. {units}; {test}.")
def _(one: Numbers, n: str, where: str, units: str, test: str) -> bool:
    assert where == one.where and int(n) == len(one.models) and one.has_test(test)
    return all(one.pair(*pair).is_open for pair in one.pairs) and one.has_units(units)


_NEXT = "{units}; {test}. {second} comes next; {ahead} is ahead by {size}."


@claim(
    "first",
    f"{{best}} is better than each of the other {{n}} models in {{where}}. {_NEXT}",
    "Only {best} is in the first tier in {where}, but it is not clearly better than {names}. "
    + _NEXT.replace(". ", ". Each other model is worse than at least one. ", 1),
)
def _(one: Numbers, best: str, where: str, units: str, test: str, second: str, ahead: str,
      size: str, n: str = "", names: str = "") -> bool:  # fmt: skip
    others = [name for name in one.models if name != best]
    one.judged = [best, second]
    assert where == one.where and one.has_units(units) and one.has_test(test)
    assert [name for name in one.models if one.tier(name) == 1] == [best]
    assert others[0] == second
    level = [other for other in others if not one.beats(best, other)]
    assert is_list(names, level, 4) if level else int(n) == len(others)
    assert ahead == (best if one.pair(best, second).gain >= 0 else "its mean")
    return one.has_size(size, *((best, second) if ahead == best else (second, best)))


def _check_tied(
    one: Numbers, names_1: str, names_2: str, where: str, units: str, test: str
) -> bool:
    """Check the models of the first tier and the others; return whether these lose to all of it."""
    assert where == one.where and one.has_units(units) and one.has_test(test)
    top = [name for name in one.models if one.tier(name) == 1]
    behind = [name for name in one.models if one.tier(name) > 1]
    assert all(one.pair(*pair).is_open for pair in one.pairs if {*pair} <= {*top})
    assert behind and is_list(names_1, top, 4) and is_list(names_2, behind, 4)
    return all(one.beats(first, other) for first in top for other in behind)


_WORSE = "No clear winner in {where}: {names_1} are level; {names_2} "
_TESTED = " {units}; {test}."
claim("tied", f"{_WORSE}is worse.{_TESTED}", f"{_WORSE}are worse.{_TESTED}")(_check_tied)


@claim(
    "tied",
    f"{_WORSE}is worse than at least one model.{_TESTED}",
    f"{_WORSE}are worse than at least one model.{_TESTED}",
)
def _(one: Numbers, **what: str) -> bool:
    return not _check_tied(one, **what)


def _read_groups(text: str, against: str, numbers: Numbers) -> bool:
    """Check the models that are better than one, worse, or neither."""
    found: dict[float, list[str]] = {}
    for name in numbers.found.models:
        if name != against:
            found.setdefault(numbers.pair(name, against).direction, []).append(name)
    words = {1.0: "better than", -1.0: "worse than", 0.0: "level with"}
    expected = []
    for direction, outcome in words.items():
        names = found.get(direction, [])
        rest = [*names[:4], f"{len(names) - 4} more"] if len(names) > 5 else names
        if names:
            joined = f"{', '.join(rest[:-1])} and {rest[-1]}" if len(rest) > 1 else rest[0]
            expected.append(f"{joined} {'is' if len(names) == 1 else 'are'} {outcome} {against}")
    return text == "; ".join(expected)


@claim("baseline", "In {where}, {outcomes}. {units}; {test}.")
def _(one: Numbers, where: str, outcomes: str, units: str, test: str) -> bool:
    assert where == one.where and one.has_units(units) and one.has_test(test)
    return one.family == "baseline" and _read_groups(outcomes, one.found._data.baseline, one)


@claim("chance", "Both are better than chance.", "All {n} models are better than chance.")
def _(one: Numbers, n: str = "2") -> bool:
    names = [name for name in one.found.models if name != "chance"]
    return int(n) == len(names) and all(one.beats(name, "chance") for name in names)


@claim("chance", "{outcomes}.")
def _(one: Numbers, outcomes: str) -> bool:
    others = [name for name in one.found.models if name != "chance"]
    assert not all(one.beats(name, "chance") for name in others)
    return len(others) > 1 and _read_groups(outcomes, "chance", one)


@claim("effect", "{name} is ahead for {n_wins}% of the users and behind for {n_losses}%.")
def _(one: Numbers, name: str, n_wins: str, n_losses: str) -> bool:
    (other,) = {*one.judged} - {name}
    pair = one.pair(name, other)
    assert (pair.direction or pair.gain) >= 0
    apart = (one.sign * (one.scores[name] - one.scores[other])).dropna()
    shares = (apart > 1e-9).mean(), (apart < -1e-9).mean()
    return [n_wins, n_losses] == [f"{100 * share:.0f}" for share in shares]


@claim(
    "effect",
    "It is a number of all lists together; the test swaps the lists of users.",
    "It is a number of all lists together; the test is the jackknife's over users.",
)
def _(one: Numbers) -> bool:
    return one.scores is None


@claim(
    "power",
    "With 80 % power the test would find a difference of {number_1}.",
    "With 80 % power the test would find a difference of {number_1} to {number_2}, depending on "
    "the pair.",
    "With so few users whose scores differ, no difference can be found reliably.",
    "For this test, the detectable difference is unknown.",
)
def _(one: Numbers, number_1: str = "", number_2: str = "") -> bool:
    top = [name for name in one.models if one.tier(name) == 1]
    tied = [pair for pair in one.pairs if one.pair(*pair).is_open]
    if one.family != "baseline":
        tied = [pair for pair in tied if {*pair} <= {*top}]
    known = [float(one.pair(*pair).row["detectable"]) for pair in tied]
    known = [each for each in known if math.isfinite(each) and (each <= 1 or not one.is_bounded)]
    if not known:
        return not number_1
    return is_shown(number_1, min(known)) and is_shown(number_2 or number_1, max(known))


# Margins and gates


@claim("margin", "{first} and {second} are equivalent within the margin of {number}.")
def _(one: Numbers, number: str, first: str, second: str) -> bool:
    pair = one.pair(*one.judged)
    assert {first, second} == {*one.judged}
    return float(number) == one.margin and max(pair.p_not_worse, pair.p_not_better) <= one.alpha


@claim(
    "margin",
    "{bad} is worse by the margin of {number} or more.",
    "{bad} may be worse by the margin of {number} or more.",
    "{good} is not worse by the margin of {number} or more; {bad} may be.",
    "Either of {first} and {second} may be worse than the other by {number} or more.",
)
def _(one: Numbers, number: str, good: str = "", bad: str = "", **both: str) -> bool:
    assert float(number) == one.margin
    a, b = one.judged
    assert not both or {*both.values()} == {a, b}
    pair = one.pair(a, b)
    shown = [pair.p_not_worse <= one.alpha, pair.p_not_better <= one.alpha]
    if not bad:
        return shown == [False, False]
    assert {good or ({a, b} - {bad}).pop(), bad} == {a, b} and pair.is_open == bool(good)
    return shown == ([False, True] if bad == a else [True, False])


@claim(
    "margin",
    "{names} is less than {number} worse than {best}.",
    "{names} are less than {number} worse than {best}.",
    "No other model is shown to be less than {number} worse than {best}.",
)
def _(one: Numbers, number: str, best: str, names: str = "") -> bool:
    assert float(number) == one.margin
    assert best == (one.found._data.baseline if one.family == "baseline" else one.models[0])
    pairs = [{*pair} for pair in one.pairs if len(one.models) < 2 or "chance" not in pair]
    others = [other for other in one.found.models if {best, other} in pairs]
    shown = [other for other in others if one.pair(other, best).p_not_worse <= one.alpha]
    return is_list(names, shown, 4) if shown else not names


_GATE = "{model} against {than} in {where}: {number} over {units}"


@dataclass
class Gate:
    """A gate, and the numbers of its two models."""

    found: rn.Comparison
    passed: bool
    model: str
    than: str
    margin: float
    metric: str
    alpha: float

    def __post_init__(self) -> None:
        """Test the users' gains by SciPy; with runs, only the size of the gain is known."""
        self.one = read_numbers(self.found, self.metric)
        self.where = self.one.where
        scores = self.one.scores
        self.gains = self.one.sign * (scores[self.model] - scores[self.than]).dropna()
        runs = [
            len(self.found._data.model_scores[name].run_scores) for name in (self.model, self.than)
        ]
        self.has_runs = min(runs) > 0
        less = stats.ttest_1samp(self.gains, -self.margin, alternative="greater").pvalue
        self.p_less, self.p = less, stats.ttest_1samp(self.gains, 0).pvalue
        self.is_constant = len(self.gains) > 1 and self.gains.std() < 1e-12
        if self.is_constant and self.gains.mean() > -self.margin:
            self.p_less = 2.0 ** -len(self.gains)  # of random signs

    def check(self, *, number: str, units: str, p: str = "", **names: str) -> bool:
        """Check the beginning of the reason, and p that the model is not worse by the margin."""
        assert all(text == getattr(self, name) for name, text in names.items())
        assert is_shown(number.lstrip("+"), self.one.sign * self.gains.mean())
        assert number.startswith("+") == (self.one.sign * self.gains.mean() > 0)
        assert units.startswith(f"{len(self.gains)} user")
        assert ("runs" in units) == self.has_runs
        return not p or self.has_runs or _has_p(p, self.p_less)


@claim(
    "gate",
    f"{_GATE}; {{model_}} is better, or worse by less than {{number_2}} ({{p}}, alpha "
    "{number_3}).",
    f"{_GATE}. {{model_}} may still be worse by {{number_2}} or more ({{p}}, alpha {{number_3}}): "
    "too few users or runs.",
    f"{_GATE}. {{model_}} may still be worse by {{number_2}} or more ({{p}}, alpha {{number_3}}): "
    "too few users. If the difference stays the same, about {n} users "
    "would be enough.",
)
def _(gate: Gate, model_: str, number_2: str, number_3: str, n: str = "", **what: str) -> bool:
    assert model_ == gate.model and gate.check(**what)
    assert gate.has_runs or gate.passed == (gate.p_less <= gate.alpha)
    assert gate.gains.mean() > -gate.margin
    if n:
        size = {"deviation": gate.gains.std(), "alpha": 2 * gate.alpha}
        expected = rn.power(gate.gains.mean() + gate.margin, **size)
        assert int(n) == (math.ceil(-math.log2(gate.alpha)) if gate.is_constant else expected)
    return [float(number_2), float(number_3)] == [gate.margin, gate.alpha]


@claim(
    "gate",
    f"{_GATE}. The means differ by the margin of {{number_2}} or more, and the difference is "
    "significant ({p_2}).",
    f"{_GATE}. The means differ by the margin of {{number_2}} or more, and the difference is not "
    "significant ({p_2}).",
)
def _(gate: Gate, number_2: str, p_2: str, **what: str) -> bool:
    assert gate.check(**what) and float(number_2) == gate.margin
    return not gate.passed and gate.gains.mean() <= -gate.margin + 1e-12 and (
        gate.has_runs or _has_p(p_2, gate.p)
    )  # fmt: skip


@claim(
    "gate",
    "{model} against {than} in {where}: too few scores, because {words} has a score in both.",
    "{model} against {than} in {where}: too few scores, because 1 user has a score in both.",
)
def _(gate: Gate, words: str = "1 user", **names: str) -> bool:
    assert all(text == getattr(gate, name) for name, text in names.items())
    return words == ("1 user" if len(gate.gains) else "no user") and not gate.passed


@claim(
    "rough",
    "This p is rough: no user has different scores.",
    "This p is rough: only {text} different scores.",
    "This p is rough: the differences are skewed (skewness {text}).",
)
def _(gate: Gate, text: str = "") -> bool:
    different = int((gate.gains.abs() > 1e-9).sum())
    return (different == 0) == (not text) and (
        not text
        or (text.startswith(f"{different} user") and different < 30)
        or len(gate.gains) < 25 * stats.skew(gate.gains) ** 2
    )  # fmt: skip


# Remarks


@claim(
    "remark",
    "{n} of {n_users} users have no list from {text}: each scores like an empty list "
    "(missing_user='zero').",
)
def _(found: rn.Comparison, n: str, n_users: str, text: str) -> bool:
    assert int(n_users) == len(found.users) and found.remarks[0].startswith(f"{n} of {n_users} ")
    counts: dict[int, list[str]] = {}
    for name, one in found._data.model_scores.items():
        if one.report is not None:
            counts.setdefault(one.report.counts["missing"], []).append(name)
    every = [(size, names) for size, names in sorted(counts.items(), reverse=True) if size]
    shown = re.findall(r"(?:^|, )(?:(\d+) from )?(\D.*?)(?=, \d+ from|$)", text)
    assert [int(size or n) for size, _ in shown] == [size for size, _ in every]
    return all(is_list(text, names, 4) for (_, text), (_, names) in zip(shown, every, strict=True))


@claim("remark", "Users that some models do not have are left out: {text}.")
def _(found: rn.Comparison, text: str) -> bool:
    counts = {name: n for name, n in found._data.n_dropped_users.items() if n}
    return text == ", ".join(f"{n} of {name}" for name, n in counts.items())


@claim("remark", "Metrics that only some models have are left out: {text}.")
def _(found: rn.Comparison, text: str) -> bool:
    return {*text.split(", ")}.isdisjoint(found.metrics)


@claim("remark", "{first} and {second} have the same score for every user.")
def _(found: rn.Comparison, first: str, second: str) -> bool:
    return (first, second) in find_same(found)


def find_same(found: rn.Comparison) -> list[tuple[str, str]]:
    """Return the pairs of models whose users all have the same scores."""
    together = [name for name in found.metrics if name not in found.per_user]
    return [
        (a, b)
        for n, a in enumerate(found.models)
        for b in found.models[n + 1 :]
        if len(found.per_user.columns)
        and all(table[a].equals(table[b]) for _, table in found.per_user.T.groupby(level=0)
                for table in [table.droplevel(0).T])
        and all(found.leaderboards[one]["mean"][[a, b]].nunique() <= 1 for one in together)
    ]  # fmt: skip


@claim(
    "remark",
    "The lists of {long} are longer than the lists of {short} ({number_1} and {number_2} items on "
    "average): an item that is not listed cannot score.",
)
def _(found: rn.Comparison, long: str, short: str, number_1: str, number_2: str) -> bool:
    mean = {name: one.counts.n_items.mean() for name, one in found._data.model_scores.items()}
    others = [value for name, value in mean.items() if name != "chance"]
    assert mean[long] == max(others) > 1.05 * mean[short] == 1.05 * min(others)
    return is_shown(number_1, mean[long]) and is_shown(number_2, mean[short])


def _is_count(text: str, names: str, counts: dict[str, int]) -> bool:
    """Return whether these are all the metrics with this number."""
    return is_list(names, [name for name, count in counts.items() if count == int(text)], 4)


@claim("remark", "{n_without} of {n_users} users have no score in {metrics}.")
def _(found: rn.Comparison, n_without: str, n_users: str, metrics: str) -> bool:
    known = {
        name: found.per_user[name].notna().any(axis=1) for name in found._data.metrics_of_users
    }
    counts = {name: int((~one).sum()) for name, one in known.items()}
    assert 0 < int(n_without) < len(found.users) == int(n_users)
    return _is_count(n_without, metrics, counts)


@claim(
    "remark",
    *(f"{{n}} {words} a score in {{metrics}} from some models only: each pair is compared over its "
      "common users, and each mean is over the model's own users."
      for words in ("users have", "user has")),
)  # fmt: skip
def _(found: rn.Comparison, n: str, metrics: str) -> bool:
    counts = {}
    for name in found._data.metrics_of_users:
        known = found.per_user[name].notna()
        known = known.loc[:, known.any()]
        counts[name] = int((known.any(axis=1) & ~known.all(axis=1)).sum())
    return int(n) > 0 and _is_count(n, metrics, counts)


@claim(
    "remark",
    *(f"All {{n}} users of {{model}} score {{number}} in {{metric}}: {interval}"
      for interval in ("the interval is the exact binomial bound.",
                       "no interval can be computed from scores that do not vary.")),
)  # fmt: skip
def _(found: rn.Comparison, n: str, model: str, number: str, metric: str) -> bool:
    scores, row = found.per_user[metric, model].dropna(), found.leaderboards[metric].loc[model]
    has_bound = math.isfinite(row["ci_low"])
    if has_bound:
        bound = (found._data.testing.alpha / 2) ** (1 / len(scores))
        value = float(number)
        ends = [0, 1 - bound] if value == 0 else [bound, 1]
        assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(ends)
    assert len(scores) == int(n) > 1 and np.ptp(scores) < 1e-9
    return is_shown(number, scores.mean())


@claim(
    "remark",
    *(f"Only {{n_few}} of {{n}} users of {{model}} {verb} a score {side} in {{metric}}: the "
      "interval of the mean is rough."
      for verb in ("has", "have") for side in ("other than 0", "below 1")),
    "The scores of {n} users of {model} are skewed (skewness {number}: {n_needed} users are "
    "needed) in {metric}: the interval of the mean is rough.",
)  # fmt: skip
def _(found: rn.Comparison, n: str, model: str, metric: str, n_few: str = "", number: str = "",
      n_needed: str = "") -> bool:  # fmt: skip
    scores = found.per_user[metric, model].dropna()
    assert len(scores) == int(n) and np.ptp(scores) > 0
    if n_few:
        assert int(n_few) in {(scores != 0).sum(), (scores < 1 - 1e-9).sum()}
        return int(n_few) < (10 if len(scores) <= 10 * int(n_few) else 30)
    skewness = stats.skew(scores)
    assert is_shown(number, skewness)
    assert not metric.startswith(("ndcg", "precision", "recall", "hit", "ap", "rr"))
    return len(scores) < int(n_needed) == math.ceil(25 * skewness**2)


@claim("remark", "… and the same for {n} more means.", "… and the same for {n} more scores.",
       "… and the same in {n} more cases.")  # fmt: skip
def _(found: rn.Comparison, n: str) -> bool:  # noqa: ARG001 - as all checks
    return int(n) > 1


@claim(
    "remark",
    *(f"Each user's scores are averaged over {parts}, so the tests have one score for each of "
      "{n_users} users. The column spread is the standard deviation of the means of these folds or "
      "runs." for parts in ("{n_low} runs", "{n_low} to {n_high} runs",
                            "{n_folds} folds of one partition")),
)  # fmt: skip
def _(found: rn.Comparison, n_users: str, n_low: str = "1", n_high: str = "",
      n_folds: str = "") -> bool:  # fmt: skip
    models = [one for name, one in found._data.model_scores.items() if name != "chance"]
    runs = [max(len(one.run_scores), 1) for one in models]
    assert any(board["spread"].notna().any() for board in found.leaderboards.values())
    assert not n_folds or {int(n_folds)} == {len(one.run_means) for one in models}
    return [int(n_low), int(n_high or n_low), int(n_users)] == [
        min(runs), max(runs), len(found.users)
    ]  # fmt: skip


@claim(
    "remark",
    "The standard errors include the variation between runs, so the results hold for other seeds "
    "or splits of the same ratings. Pooled scores have the variation between users only.",
)
def _(found: rn.Comparison) -> bool:
    return bool((found.pairwise["runs"] > 1).all())


@claim(
    "remark",
    "{n_1} runs show the variation between runs only roughly, so the tests may err more often than "
    "alpha. 5 or more are better.",
)
def _(found: rn.Comparison, n_1: str) -> bool:
    return bool((found.pairwise["runs"] > 1).all()) and found.pairwise["runs"].min() == int(n_1) < 5


_TRAINED = (
    ": better and worse are about the models as trained, and another seed or training sample may "
    "change the result."
)


@claim(
    "remark",
    f"Each model has one run{_TRAINED}",
    f"Only one run is known of {{text}}{_TRAINED}",
    f"The {{test}} test has only users as units{_TRAINED}",
)
def _(found: rn.Comparison, text: str = "", test: str = "") -> bool:
    models = {name: len(one.run_scores) for name, one in found._data.model_scores.items()}
    alone = [name for name, count in models.items() if not count and name != "chance"]
    assert found.pairwise["better"].notna().any() and (found.pairwise["runs"] == 0).any()
    if test:
        return test == found._data.testing.test != "t" and not alone
    return not text or is_list(text.replace(" and ", ", "), alone, 3) or text == ", ".join(alone)


@lru_cache(maxsize=8)
def find_rough(found: rn.Comparison, metric: str) -> list[tuple[str, str, list[str]]]:
    """Return the pairs whose p is rough, with the numbers of the reason."""
    one = read_numbers(found, metric)
    rough: list[tuple[str, str, list[str]]] = []
    for a, b in one.rows[["a", "b"]].itertuples(index=False):
        apart = one.sign * (one.scores[a] - one.scores[b]).dropna()
        apart[apart.abs() < 1e-9] = 0
        different, varies = int((apart != 0).sum()), len(apart) > 1 and apart.std() > 1e-9
        needed = 25 * stats.skew(apart) ** 2 if varies else 0
        if not different and len(apart) > 1 and found._data.margin is not None:
            rough.append((a, b, []))
        elif 0 < different < 30 and len(apart) > 1:
            rough.append((a, b, [f"{different}"]))
        elif different and len(apart) < needed:
            rough.append((a, b, [f"{stats.skew(apart):.1f}", f"{needed:.0f}", f"{len(apart)}"]))
    return rough


@claim(
    "remark",
    *(
        f"The p-values{words} are rough in {{text}}; for {{first}} and {{second}} in {{metric}}: "
        f"{reason}."
        for words in (" and intervals", ", intervals and margins")
        for reason in (
            *("only {n_1} users have different {words}", "only {n_1} user has different {words}"),
            "no user has different {words}",
            (
                "the differences are skewed (skewness {number}: {n_2} users are needed, and there "
                "are {n_3})"
            ),
        )
        if "margin" in words or "no user" not in reason  # otherwise p is 1, without an interval
    ),
)
def _(found: rn.Comparison, text: str, metric: str, first: str, second: str, words: str = "",
      **shown: str) -> bool:  # fmt: skip
    assert found._data.testing.test not in {"sign", "wilcoxon"} and text.startswith(f"{metric} (")
    for name, n_rough, n_pairs in re.findall(r"(\S+) \((\d+) of (\d+) pairs?\)", text):
        assert int(n_pairs) == (found.pairwise["metric"] == name).sum()
        assert name not in found.per_user or len(find_rough(found, name)) == int(n_rough)
    if metric not in found.per_user:
        return words in {"", "jackknife values"}
    a, b, numbers = find_rough(found, metric)[0]
    assert (a, b) == (first, second) and words in {"", "scores"}
    return all(
        abs(float(text) - float(one)) <= 1
        for text, one in zip(shown.values(), numbers, strict=True)
    )


@claim(
    "remark",
    "The intervals of ranks are too narrow to hold together, because the correction {text} does "
    "not bound the chance of a false finding. Use max-T or Holm for ranks.",
)
def _(found: rn.Comparison, text: str) -> bool:
    return text in {"'bh'", "'none'"} and text.strip("'") == found._data.testing.correction


@claim(
    "remark",
    "Wilcoxon and sign tests are disputed, because they do not test the mean: Urbano, Lima & "
    "Hanjalic (SIGIR 2019) and Ihemelandu & Ekstrand (SIGIR 2023) argue against them; Otero, "
    "Parapar & Barreiro (ECIR 2025) for Wilcoxon.",
)
def _(found: rn.Comparison) -> bool:
    return found._data.testing.test in {"sign", "wilcoxon"}


@claim(
    "remark",
    *(f"{{best}} is the best of {{n}} models that a search tried on the same users: its mean "
      f"{{metric}} of {{number}} is about {{number_2}} too {side} (by users split into halves "
      "at random), and its lead over a model chosen beforehand is too large by as much. For a fair "
      "number, measure it on other users." for side in ("high", "low")),
)  # fmt: skip
def _(found: rn.Comparison, best: str, n: str, metric: str, number: str, number_2: str) -> bool:
    search = best.split(": ", maxsplit=1)[0]
    tried = [name for name in read_numbers(found, metric).models if name.startswith(f"{search}: ")]
    assert best == tried[0] and len(tried) == int(n) and metric == found.metrics[0]
    optimism = found.optimism[best]
    return is_shown(number, found.leaderboard["mean"][best]) and is_shown(number_2, optimism)


def find_disagreements(found: rn.Comparison, score: str) -> list[tuple[float, str, str, float]]:
    """Return each pair that is ahead in the first metric and behind in another score.

    With both leads, the largest first.
    """
    one, metric = read_numbers(found, found.metrics[0]), score.removeprefix("pooled ")
    other, prefix = read_numbers(found, metric), "pooled_" if score != metric else ""
    pairs = []
    for a, b in one.rows[["a", "b"]].to_numpy():
        mine, row = one.pair(a, b), other.pair(a, b).row
        gain = other.sign * row[f"{prefix}difference"]
        agrees = row["direction"] * gain > 0 or prefix
        is_sure = row[f"{prefix}p_corrected"] <= one.alpha and mine.direction * mine.gain > 0
        if mine.gain * gain < 0 and is_sure and agrees:
            pairs.append((abs(mine.gain), *((a, b) if mine.gain > 0 else (b, a)), abs(gain)))
    return sorted(pairs, key=lambda pair: -pair[0])


@claim(
    "remark",
    "{metric} and {score} disagree significantly on the order of {n} of {n_pairs} pairs: {ahead} "
    "is ahead of {behind} by {number_1} in {metric_}, and behind by {number_2} in {score_}.",
)
def _(found: rn.Comparison, metric: str, score: str, n: str, n_pairs: str, ahead: str, behind: str,
      number_1: str, number_2: str, **again: str) -> bool:  # fmt: skip
    assert [*again.values()] == [metric, score] and metric == found.metrics[0]
    pairs = find_disagreements(found, score)
    assert len(pairs) == int(n) and len(read_numbers(found, metric).rows) == int(n_pairs)
    size = {pair[1:3]: (pair[0], pair[3]) for pair in pairs}[ahead, behind]
    return math.isclose(size[0], pairs[0][0]) and is_shown(number_1, size[0]) and is_shown(
        number_2, size[1]
    )  # fmt: skip


@claim("remark", "Significantly below random order in {metric}: {text}.")
def _(found: rn.Comparison, metric: str, text: str) -> bool:
    scores, chance = found.per_user[metric], found.leaderboard["chance"]
    names, sign = text.split(", "), read_numbers(found, metric).sign
    assert metric == found.metrics[0]
    return all(
        name.endswith(" more")
        or (sign * (scores[name].mean() - chance[name]) < 0 and scores[name].nunique() > 0)
        for name in names
    )


@claim(
    "remark",
    "{best} has the best {text}. It is significantly worse than {ahead} in {metric}: irrelevant "
    "lists are easily novel and different.",
)
def _(found: rn.Comparison, best: str, text: str, ahead: str, metric: str) -> bool:
    assert read_numbers(found, metric).beats(ahead, best)
    for name, mean, chance in re.findall(
        r"(\S+), (\S+?)(?: \(random lists: (\S+)\))?(?:; |$)", text
    ):
        one = read_numbers(found, name)
        assert one.models[0] == best and one.beats(best, ahead)
        assert is_shown(mean, one.board["mean"][best])
        assert is_shown(chance or "-", one.board["chance"][best])
    return True


@claim("remark", "{n_outside} of {n_users} users are in no segment.")
def _(found: rn.Comparison, n_outside: str, n_users: str) -> bool:
    segments = found._data.segment_of_user
    return 0 < int(n_outside) == segments.isna().sum() and int(n_users) == len(segments)


@claim(
    "remark",
    "The p-values and intervals of segments with few users are rough (fewer than 30): {text}.",
)
def _(found: rn.Comparison, text: str) -> bool:
    sizes = found._data.segment_of_user.value_counts(sort=False)
    return is_list(text, [f"{name} ({n})" for name, n in sizes.items() if 0 < n < 30], 3)


def _get_segments(found: rn.Comparison, model: str, metric: str) -> Any:
    table = found.segments.loc[[metric]].droplevel("metric").xs(model, level="model")
    return table[table["difference"].notna()]


@claim(
    "remark",
    *(f"In segment {{segment}}, {{model}} is {{number}} {side} {{base}} in {{metric}} (corrected p "
      "= {number_2}); over all segments together, the opposite." for side in ("above", "below")),
)  # fmt: skip
def _(found: rn.Comparison, segment: str, model: str, number: str, base: str, metric: str,
      number_2: str) -> bool:  # fmt: skip
    rows = _get_segments(found, model, metric)
    row, scores = rows.loc[segment], found.per_user[metric]
    apart = (scores[model] - scores[base])[found._data.segment_of_user.notna().to_numpy()].mean()
    own = (scores[model] - scores[base])[(found._data.segment_of_user == segment).to_numpy()].mean()
    assert base == found._data.baseline and math.isclose(own, row["difference"]) and own * apart < 0
    assert row["p_corrected"] <= found._data.testing.alpha
    assert math.isclose(float(number_2), row["p_corrected"], rel_tol=0.051)
    return is_shown(number, abs(own))


@claim(
    "remark",
    *(f"Simpson's paradox: in every segment {{model}} is {here} {{base}} in {{score}}, but over "
      f"all segments together it is {there}, because the segments' weights (denominators) differ "
      "between the models. Compare segment by segment."
      for here, there in (("above", "below"), ("below", "above"))),
)  # fmt: skip
def _(found: rn.Comparison, model: str, base: str, score: str) -> bool:
    metric = score.removeprefix("pooled ")
    prefix, column = ("pooled_", "pooled") if metric != score else ("", "mean")
    rows, board = _get_segments(found, model, metric), found.leaderboards[metric][column]
    apart = rows[f"{prefix}difference"].dropna()
    row = read_numbers(found, metric).pair(model, base).row
    assert len(apart) > 1 and row[f"{prefix}p_corrected"] <= found._data.testing.alpha
    whole = board[model] - board[base]
    if found._data.segment_of_user.isna().any():
        return bool((np.sign(apart) == np.sign(apart.iloc[0])).all())
    return bool((apart * whole < 0).all())


@claim(
    "remark", "The difference of {model} from {base} in {metric} depends on the segment: {text}."
)
def _(found: rn.Comparison, model: str, base: str, metric: str, text: str) -> bool:
    rows, scores = _get_segments(found, model, metric), found.per_user[metric]
    apart, segments = scores[model] - scores[base], found._data.segment_of_user.to_numpy()
    known = ~found._data.segment_of_user.isna().to_numpy()
    due = rows[rows["p_interaction"] <= found._data.testing.alpha]
    parts = re.findall(
        r"in (\w+) it is (\S+) (higher|lower) than elsewhere \(corrected p = (\S+)\)", text
    )
    assert base == found._data.baseline and (
        len(parts) == len(due) or f"{len(due) - 3} more" in text
    )
    for segment, number, side, p in parts:
        own = known & (segments == segment)
        from_others = apart[own].mean() - apart[known & ~own].mean()
        assert is_shown(number, abs(from_others)) and (side == "higher") == (from_others > 0)
        assert math.isclose(float(p), due.loc[segment, "p_interaction"], rel_tol=0.051)
    return True


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
    return read_numbers(next(iter(found.comparisons.values())), found.metric).where


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
