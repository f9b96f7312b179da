"""What the findings of verdicts and gates claim, compared with the public tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.findings import Finding
from tests.findings.claims import claim

_OF_RANKS = {"sign": "sign test", "wilcoxon": "Wilcoxon signed-rank test"}
_NEAR = 1e-9  # scores that differ by less are the same


@dataclass
class Pair:
    """One model against another: gains are positive if it is better."""

    row: Any
    gain: float
    ends: list[float]
    shares: list[float]
    direction: float
    p_not_worse: float
    p_not_better: float


#: The table is made anew each time that it is asked for.
_read_pairs = lru_cache(maxsize=2)(lambda found: found.pairwise)


class Numbers:
    """A comparison in one metric, as its public tables have it."""

    def __init__(self, found: rn.Comparison, metric: str) -> None:
        """Take the tables of the metric."""
        self.found, self.metric, self.alpha = found, metric, found._data.testing.alpha
        ranked = {"rated": "rated items", "supplied": "supplied lists"}
        protocol = found.signature(metric).fields["protocol"]
        self.ranked = ranked.get(protocol, "whole catalogue")
        self.sign = -1 if metric.split("@", maxsplit=1)[0] in {"rmse", "gini", "of_c"} else 1
        self.is_bounded = not re.match("rmse|of_|novelty", metric)
        self.board, pairs = found.leaderboards[metric], _read_pairs(found)
        self.rows = pairs[pairs["metric"] == metric]
        self._by_pair = {(row["a"], row["b"]): row for row in self.rows.to_dict("records")}
        self.test, self.family = found._data.testing.test, found._data.testing.family
        self.margin = found._data.margin
        self.scores = found.per_user.get(metric)
        every = sorted(found.models, key=lambda name: self._place(found.models, name))
        self.models = [name for name in every if name != "chance" or len(every) == 2]
        self.pairs = [pair for pair in self._by_pair if {*pair} <= {*self.models}]

    def _place(self, models: list[str], name: str) -> tuple[float, int]:
        mean = self.board["mean"][name]
        return (math.inf if math.isnan(mean) else -self.sign * mean), models.index(name)

    def pair(self, model: str, other: str) -> Pair:
        """Return the numbers of a pair, whichever model comes first in the table."""
        turn = 1 if (model, other) in self._by_pair else -1
        row = self._by_pair[(model, other)[::turn]]
        gain, *ends = (turn * self.sign * row[name] for name in ("difference", "ci_low", "ci_high"))
        shares = [row[name] for name in ("relative", "relative_low", "relative_high")]
        if turn < 0:  # x/(1 + x) is the same share of the other mean
            shares = [-x / (1 + x) if x > -1 else math.nan for x in (shares[0], *shares[:0:-1])]
        p = [row.get(name, math.nan) for name in ("p_a_not_worse", "p_b_not_worse")][::turn]
        is_apart = row["p_corrected"] <= self.alpha
        direction = self._compute_direction(model, other, gain) if is_apart else 0
        return Pair(row, gain, ends, shares, direction, *p)

    def _compute_direction(self, model: str, other: str, gain: float) -> float:
        """Return 1 if the test favours the first model, by the users' scores."""
        if self.test in _OF_RANKS:
            apart = self.sign * (self.scores[model] - self.scores[other]).dropna()
            apart = apart[apart.abs() > _NEAR]
            ranks = apart.abs().round(9).rank() if self.test == "wilcoxon" else 1
            gain = float((np.sign(apart) * ranks).sum())
        return float(np.sign(gain))

    def beats(self, model: str, other: str) -> bool:
        """Return whether the first model is significantly better."""
        is_tested = not self._by_pair.keys().isdisjoint({(model, other), (other, model)})
        return is_tested and self.pair(model, other).direction > 0

    def tier(self, model: str) -> int:
        """Return 1 + the number of significantly better models."""
        return 1 + sum(self.beats(other, model) for other in self.models if other != model)

    def list_open(self, models: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs of some models of which neither is better."""
        pairs = [pair for pair in self.pairs if {*pair} <= {*models}]
        return [pair for pair in pairs if not self.pair(*pair).direction]

    def is_tested(self, users: list[int], runs: list[int], test: str, **_: Any) -> bool:
        """Return whether these are the test of all pairs, and their numbers of users and runs."""
        rows = [self.pair(*pair).row for pair in self.pairs]
        assert users == sorted({row["users"] for row in rows})
        assert self.found._data.tested_by.startswith(test)
        return runs == sorted({row["runs"] for row in rows if row["runs"]})


def list_verdict(found: rn.Comparison, metric: str) -> list[Finding]:
    """Return the findings of the verdict in a metric."""
    verdicts = [each for each in found._findings if each.template.group == "verdict"]
    return [each for each in verdicts if each.names["metric"] == metric]


#: Many findings are about the same metric.
read_numbers = lru_cache(maxsize=8)(Numbers)


# Two models


def _is_pair(
    known: Numbers, model: str, other: str, *, turn: int, is_gain: bool = True, **numbers: Any
) -> bool:
    """Return whether these are the numbers of a pair: of the gain, or of the metric itself."""
    pair, turn_shares = known.pair(model, other), known.sign if is_gain else 1
    wanted: dict[str, float] = {}
    for (value, *ends), names, side in (
        ((pair.gain, *pair.ends), ("difference", "low", "high"), turn),
        (pair.shares, ("relative", "relative_low", "relative_high"), turn_shares),
    ):
        sided = [side * value, *np.sort([side * end for end in ends])]
        wanted |= dict(zip(names, sided, strict=True))
    if np.isnan(pair.shares).any():  # no interval of shares if one end is unknown
        wanted |= dict.fromkeys(("relative_low", "relative_high"), math.nan)
    for name, value in wanted.items():
        expected = value if math.isfinite(value) else math.nan
        assert np.isclose(numbers[name], expected, equal_nan=True), name
    if known.scores is not None and math.isfinite(pair.shares[0]):
        means = known.scores[[model, other]].dropna().mean()
        assert np.isclose(numbers["relative"], turn_shares * (means[model] / means[other] - 1))
    assert numbers["tests_mean"] == (known.test not in _OF_RANKS)
    assert known.found._data.tested_by.startswith(numbers["test"])
    assert (numbers["p"], numbers["alpha"]) == (pair.row["p_corrected"], known.alpha)
    return (numbers["users"], numbers["runs"] or 0) == (pair.row["users"], pair.row["runs"])


@claim("clear_winner", "winner_by_signs", "winner_by_ranks")
def _(known: Numbers, winner: str, loser: str, **numbers: Any) -> bool:
    pair = known.pair(winner, loser)
    assert len(known.pairs) == 1 and pair.direction > 0
    assert pair.gain > 0 or numbers["test"] == _OF_RANKS[known.test]
    return _is_pair(known, winner, loser, turn=1, **numbers)


@claim("no_winner", "no_winner_by_ranks_or_signs")
def _(known: Numbers, model: str, other: str, **numbers: Any) -> bool:
    assert known.pairs == known.list_open(known.models) == [(model, other)]
    assert numbers["p"] > known.alpha
    return _is_pair(known, model, other, turn=known.sign, is_gain=False, **numbers)


@claim("equal_means")
def _(known: Numbers, model: str, other: str, **_: Any) -> bool:
    return known.pair(model, other).gain == 0


def _has_better_mean(
    known: Numbers, winner: str, loser: str, *, direction: int | None, **numbers: Any
) -> bool:
    pair = known.pair(winner, loser)
    assert pair.gain > 0 and direction in {None, pair.direction}
    return _is_pair(known, winner, loser, turn=1, **numbers)


claim("better_mean")(partial(_has_better_mean, direction=0))
claim("mean_agrees")(partial(_has_better_mean, direction=1))
claim("mean_contradicts")(partial(_has_better_mean, direction=-1))


@claim("share_of_users")
def _(known: Numbers, model: str, other: str, ahead: float, behind: float, **_: Any) -> bool:
    pair = known.pair(model, other)
    assert (pair.direction or pair.gain) >= 0
    apart = known.sign * (known.scores[model] - known.scores[other]).dropna()
    return np.allclose([ahead, behind], [(apart > _NEAR).mean(), (apart < -_NEAR).mean()])


@claim("tested_by_swaps", "tested_by_jackknife")
def _(known: Numbers, **_: Any) -> bool:
    return known.scores is None


# Several models


@claim("nothing_to_compare")
def _(known: Numbers, **_: Any) -> bool:
    return not known.rows["users"].any()


@claim("too_few_for_a_test")
def _(known: Numbers, users: int, means: list[float], models: list[str], **_: Any) -> bool:
    assert users == known.rows["users"].max() == 1 and known.rows["p_corrected"].isna().all()
    assert {*models} == {*known.board.index}
    return np.allclose(means, known.board["mean"][models], equal_nan=True)


@claim("equal_models", "equal_values")
def _(known: Numbers, models: list[str], count: int | None, value: float = 0, **units: Any) -> bool:
    assert models == [name for name in known.found.models if name in known.models]
    assert count == (len(models) if len(models) > 2 else None)
    if known.scores is None:
        return np.allclose(known.board["mean"], value)
    test = known.found._data.tested_by
    pairs = [known.scores[[*pair]].dropna().to_numpy() for pair in known.pairs]
    return known.is_tested(**units, test=test) and all(np.allclose(*pair.T) for pair in pairs)


@claim("no_differences")
def _(known: Numbers, models: list[str], count: int, **tested: Any) -> bool:
    assert count == len(models) and {*models} == {*known.models}
    return known.list_open(models) == known.pairs and known.is_tested(**tested)


@claim("all_worse_than_another")
def _(known: Numbers, **tested: Any) -> bool:
    return min(map(known.tier, known.models)) > 1 and known.is_tested(**tested)


@claim("best_of_all", "alone_in_first_tier")
def _(known: Numbers, winner: str, others: list[str], count: int, **tested: Any) -> bool:
    assert [name for name in known.models if known.tier(name) == 1] == [winner]
    behind = [name for name in known.models if name != winner]
    level = [name for name in behind if not known.beats(winner, name)]
    assert others == (level or behind)
    return count == len(behind) and known.is_tested(**tested)


def _comes_next(
    known: Numbers, winner: str, loser: str, *, is_equal: bool = False, **numbers: Any
) -> bool:
    first, second = sorted([winner, loser], key=known.tier)
    assert known.tier(first) == 1 and second == next(name for name in known.models if name != first)
    if is_equal:
        return known.pair(winner, loser).gain == 0
    return _has_better_mean(known, winner, loser, direction=None, **numbers)


claim("runner_up")(_comes_next)
claim("runner_up_with_equal_mean")(partial(_comes_next, is_equal=True))
claim("runner_up_with_better_mean")(_comes_next)


@claim("several_in_first_tier")
def _(known: Numbers, models: list[str], others: list[str], *, count: int, worse_than_some: bool,
      **tested: Any) -> bool:  # fmt: skip
    assert models == [name for name in known.models if known.tier(name) == 1]
    assert others == [name for name in known.models if known.tier(name) > 1] != []
    pairs = [pair for pair in known.pairs if {*pair} <= {*models}]
    assert known.list_open(models) == pairs and count == len(models)
    loses_to_all = all(known.beats(first, other) for first in models for other in others)
    return worse_than_some != loses_to_all and known.is_tested(**tested)


def list_contradictions(known: Numbers) -> set[tuple[str, str]]:
    """Return the pairs of which the test favours one model, and the means the other."""
    rows = [*known.rows[["a", "b"]].itertuples(index=False)]
    pairs = {names: known.pair(*names) for a, b in rows for names in ((a, b), (b, a))}
    return {names for names, pair in pairs.items() if pair.gain > 0 > pair.direction}


@claim("contradicting_means")
def _(known: Numbers, models: list[str], others: list[str], **_: Any) -> bool:
    assert known.test in _OF_RANKS
    return {*zip(models, others, strict=True)} == list_contradictions(known) != set()


@claim("against_baseline", "against_chance")
def _(known: Numbers, baseline: str, better: list[str], worse: list[str], undecided: list[str],
      **tested: Any) -> bool:  # fmt: skip
    is_chance = baseline == "chance" and "users" not in tested
    assert is_chance or (known.family == "baseline" and known.is_tested(**tested))
    assert is_chance or baseline == known.found._data.baseline
    groups: dict[float, list[str]] = {1: [], -1: [], 0: []}
    for name in known.found.models if is_chance else known.models:
        if name != baseline:
            groups[known.pair(name, baseline).direction].append(name)
    return [{*part} for part in groups.values()] == [{*part} for part in (better, worse, undecided)]


@claim("all_above_chance")
def _(known: Numbers, models: list[str], count: int | None, **_: Any) -> bool:
    names = [name for name in known.found.models if name != "chance"]
    assert models == names and count == (len(names) if len(names) > 2 else None)
    return all(known.beats(name, "chance") for name in names)


@claim("detectable_difference", "nothing_detectable", "unknown_power")
def _(known: Numbers, least: float | None = None, most: float | None = None, **_: Any) -> bool:
    top = [name for name in known.models if known.tier(name) == 1]
    level = known.list_open(known.models if known.family == "baseline" else top)
    sizes = [float(known.pair(*pair).row["detectable"]) for pair in level]
    sizes = [size for size in sizes if math.isfinite(size) and (size <= 1 or not known.is_bounded)]
    return (least, most) == ((min(sizes), max(sizes)) if sizes else (None, None))


# Margins and gates


def _is_within(
    known: Numbers, margin: float, *, shown: tuple[bool, bool], is_open: bool | None = None,
    is_far: bool | None = None, **names: str,
) -> bool:  # fmt: skip
    """Return whether neither, one or both of two models are shown to be not worse.

    And whether the better one is shown to be ahead by the margin.
    """
    pair = known.pair(*(names[role] for role in names if role not in {"metric", "ranked"}))
    assert margin == known.margin and is_open in {None, not pair.direction}
    least = pair.gain if np.isnan(pair.ends).any() else min(pair.ends)
    assert is_far in {None, least >= margin}
    return shown == (pair.p_not_worse <= known.alpha, pair.p_not_better <= known.alpha)


claim("equivalent")(partial(_is_within, shown=(True, True)))
claim("either_may_be_worse")(partial(_is_within, shown=(False, False)))
claim("one_not_worse_by_margin")(partial(_is_within, shown=(True, False), is_open=True))
for _kind, _is_far in {"worse_by_margin": True, "maybe_worse_by_margin": False}.items():
    claim(_kind)(partial(_is_within, shown=(True, False), is_open=False, is_far=_is_far))


@claim("within_margin", "none_within_margin")
def _(known: Numbers, margin: float, models: list[str], other: str, **_: Any) -> bool:
    assert margin == known.margin
    is_to_baseline = known.family == "baseline"
    assert other == (known.found._data.baseline if is_to_baseline else known.models[0])
    others = [name for pair in known.pairs if other in pair for name in pair if name != other]
    due = {name for name in others if known.pair(name, other).p_not_worse <= known.alpha}
    return {*models} == due


class Gated:
    """A gate, and the numbers of its two models."""

    def __init__(self, found: rn.Comparison, how: dict[str, Any]) -> None:
        """Test the users' gains by SciPy; with runs, only the size of the gain is known."""
        self.known, self.alpha = read_numbers(found, how["metric"]), how["alpha"]
        self.names, self.margin = (how["model"], how["than"]), how["margin"]
        model, than = self.names
        scores, models = self.known.scores, found._data.model_scores
        self.gains = self.known.sign * (scores[model] - scores[than]).dropna()
        self.has_runs = min(len(models[name].run_scores) for name in self.names) > 0
        less = stats.ttest_1samp(self.gains, -self.margin, alternative="greater").pvalue
        self.p_less, self.p = less, stats.ttest_1samp(self.gains, 0).pvalue
        self.is_constant = len(self.gains) > 1 and self.gains.std() < 1e-12
        if self.is_constant and self.gains.mean() > -self.margin:
            self.p_less = 2.0 ** -len(self.gains)  # of random signs

    @property
    def is_rough(self) -> bool:
        """Whether few users differ, or the gains are skewed."""
        few = (self.gains.abs() > _NEAR).sum() < 30
        return len(self.gains) > 1 and (few or len(self.gains) < 25 * stats.skew(self.gains) ** 2)

    def has(self, *, p_due: float, **numbers: Any) -> bool:
        """Return whether these are the gate's numbers, and p is due."""
        assert (numbers["model"], numbers["baseline"]) == self.names
        assert (numbers["margin"], numbers["alpha"]) == (self.margin, self.alpha)
        assert numbers["users"] == len(self.gains)
        assert bool(numbers["runs"]) == (self.has_runs and len(self.gains) > 1)
        difference = self.known.sign * self.gains.mean()
        assert np.isclose(numbers["difference"], difference, equal_nan=True)
        return self.has_runs or np.isclose(numbers["p"], p_due, equal_nan=True)


@claim("not_worse")
def _(gate: Gated, **numbers: Any) -> bool:
    return numbers["p"] <= gate.alpha and gate.has(p_due=gate.p_less, **numbers)


@claim("may_still_be_worse")
def _(gate: Gated, needed: int | None, **numbers: Any) -> bool:
    mean, deviation = gate.gains.mean(), gate.gains.std()
    assert numbers["p"] > gate.alpha and mean > -gate.margin
    if needed is not None:
        due = math.ceil(-math.log2(gate.alpha))
        if not gate.is_constant:
            due = rn.power(mean + gate.margin, deviation=deviation, alpha=2 * gate.alpha)
        assert needed == due
    return (needed is None) == gate.has_runs and gate.has(p_due=gate.p_less, **numbers)


@claim("mean_worse_by_margin")
def _(gate: Gated, *, is_significant: bool, **numbers: Any) -> bool:
    assert gate.gains.mean() <= -gate.margin + 1e-12
    assert is_significant == (numbers["p"] <= gate.alpha)
    return gate.has(p_due=gate.p, **numbers)


@claim("too_few_scores")
def _(gate: Gated, **numbers: Any) -> bool:
    return len(gate.gains) < 2 and gate.has(p_due=math.nan, **numbers)


@claim("rough_p")
def _(gate: Gated, users: int, different: int | None = None, skewness: float | None = None,
      needed: int = 0, **_: Any) -> bool:  # fmt: skip
    due = int((gate.gains.abs() > _NEAR).sum())
    assert users == len(gate.gains)
    if skewness is None:
        return due == (different or 0) < 30
    assert np.isclose(skewness, stats.skew(gate.gains), atol=1e-6)
    return users < needed == math.ceil(25 * skewness**2) and due >= 30
