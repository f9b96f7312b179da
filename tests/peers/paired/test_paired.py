"""Our significance tests equal the real libraries', if these define them alike.

Their answers on drawn scores are kept in tests/peers/paired/golden; ``python tests/peers/build.py
--live`` runs them again. Drawn p-values, theirs or ours, are compared to within
Monte-Carlo error: 4.5 standard errors of their difference.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recsys_ndcg.significance import PairResults, Testing, compare_pairs, power
from recsys_ndcg.significance.intervals import bootstrap_ratios
from recsys_ndcg.significance.testing import benjamini_hochberg, bonferroni, holm
from tests.pages import page_of, section
from tests.peers.paired.cases import cases
from tests.profiles import slow

GOLDEN = Path(__file__).parent / "golden"
CASES = {case.name: case for case in cases()}
DRAWS = 40_000
SCIPYS_DRAWS = 20_000
CORRECTIONS = {"bonferroni": bonferroni, "holm": holm, "fdr_bh": benjamini_hochberg}
#: Cases in which sums of differences are equal only if their signs are opposite, and few users
#: have the same difference: how a test counts draws that equal the observed sum does not matter.
WITHOUT_EQUALS = ("plain", "skewed", "many")


def _answers(library: str, test: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return a library's answers to a test, by case and pair."""
    answers = json.loads((GOLDEN / f"{library}.json").read_text())["answers"]
    split = {tuple(key.split()): answer for key, answer in answers.items()}
    found = {(case, pair): answer for (kind, case, pair), answer in split.items() if kind == test}
    assert found
    return found


@cache
def _tested(case: str, test: str, correction: str = "none") -> dict[str, dict[str, float]]:
    """Return our answers by pair."""
    one = CASES[case]
    pairs = list(combinations(range(len(one.scores)), 2))
    how = Testing(test, correction, draws=DRAWS)
    found = compare_pairs(np.array(list(one.scores.values())).T, pairs, how)
    return {
        pair: {one.name: float(getattr(found, one.name)[at]) for one in fields(PairResults)}
        for at, pair in enumerate(one.pairs())
    }


def _error(p: float, *draws: int) -> float:
    """Return 4.5 standard errors of the difference of drawn p-values; 0 draws are all there are."""
    share = max(p, 1 / min((one for one in draws if one), default=1))
    return 4.5 * math.sqrt(share * (1 - min(share, 0.5)) * sum(1 / one for one in draws if one))


@pytest.mark.parametrize("library", ["scipy", "statsmodels", "ranx"])
def test_the_paired_t_test(library: str) -> None:
    """With its interval, where the library gives one."""
    for (case, pair), theirs in _answers(library, "t").items():
        ours = _tested(case, "t")[pair]
        if case == "equal":  # 0 / 0 has no p there and 1 here; x / 0 has p = 0, and signs' p here
            assert theirs["p"] == (None if pair == "A-B" else 0)
            assert ours["p"] == (1 if pair == "A-B" else 2 ** (1 - ours["users"]))
            continue
        assert ours["p"] == pytest.approx(theirs["p"], rel=1e-9)
        for end in {"low", "high"} & theirs.keys():
            assert ours[end] == pytest.approx(theirs[end], rel=1e-12, abs=1e-14)
        if "statistic" in theirs:
            assert ours["statistic"] == pytest.approx(theirs["statistic"], rel=1e-12)


@pytest.mark.parametrize("method", CORRECTIONS)
def test_corrections_equal_those_of_statsmodels(method: str) -> None:
    """Of the p-values of all pairs of a case, and of p-values alone."""
    theirs = _answers("statsmodels", method)
    alone = _answers("statsmodels", "t")
    name = {"fdr_bh": "bh"}.get(method, method)
    for case in {case for case, _ in theirs}:
        pairs = [pair for one, pair in theirs if one == case]
        expected = [theirs[case, pair]["p"] for pair in pairs]
        ours = [_tested(case, "t", name)[pair]["p_corrected"] for pair in pairs]
        assert ours == pytest.approx(expected, rel=1e-9)
        p = np.array([alone[case, pair]["p"] for pair in pairs])
        assert CORRECTIONS[method](p) == pytest.approx(expected, rel=1e-12)


def test_the_detectable_difference_equals_statsmodels() -> None:
    """The difference of 80 % power under the t test, in standard deviations."""
    for (case, _), theirs in _answers("statsmodels", "power").items():
        users = len(CASES[case].denominators)
        assert power(deviation=1.0, users=users) == pytest.approx(theirs["effect"], rel=1e-5)
        for ours in _tested(case, "t").values():
            share = ours["detectable"] / ours["sd_difference"]
            assert share == pytest.approx(theirs["effect"], rel=1e-5)


def test_the_sign_test_equals_scipys() -> None:
    """Its exact binomial test of wins against losses."""
    for (case, pair), theirs in _answers("scipy", "sign").items():
        assert _tested(case, "sign")[pair]["p"] == pytest.approx(theirs["p"], rel=1e-9)


@pytest.mark.parametrize("kind", ["normal", "exact", "drawn"])
def test_wilcoxons_test_equals_scipys(kind: str) -> None:
    """Users without a difference apart: by the normal distribution of more than 50, else exactly.

    Where ranks are tied, SciPy has no exact p of more than a few; it is drawn there.
    """
    many = kind == "normal"
    seen = 0
    for (case, pair), theirs in _answers("scipy", f"wilcoxon_{kind}").items():
        ours = _tested(case, "wilcoxon")[pair]
        if many == (ours["wins"] + ours["losses"] > 50):
            near = _error(theirs["p"], SCIPYS_DRAWS) if kind == "drawn" else 1e-9 * theirs["p"]
            assert abs(ours["p"] - theirs["p"]) <= near, (case, pair)
            seen += 1
    assert seen > 5


@pytest.mark.parametrize(("library", "test"), [("scipy", "permutation"), ("ranx", "fisher")])
def test_random_signs_against_other_draws(library: str, test: str) -> None:
    """SciPy enumerates where users are few, we draw; p of either counts the data as a draw.

    Where SciPy draws too, its p is twice the smaller of two sides, so from one draw
    2 / (draws + 1) and not 1. The p of ranx is c / draws, so 0 where no draw is as far out; ours
    is at least 1 / (draws + 1).
    """
    for (case, pair), theirs in _answers(library, test).items():
        ours = _tested(case, "randomisation")[pair]["p"]
        assert abs(ours - theirs["p"]) <= _error(theirs["p"], DRAWS, theirs["draws"]), (case, pair)
        assert ours > 0


def test_random_signs_against_sacrebleus_approximate_randomisation() -> None:
    """It has the same formula, and does not count draws that equal the observed difference."""
    for (case, pair), theirs in _answers("sacrebleu", "randomisation").items():
        ours = _tested(case, "randomisation")[pair]["p"]
        near = _error(theirs["p"], DRAWS, theirs["draws"])
        if case in WITHOUT_EQUALS:
            assert abs(ours - theirs["p"]) <= near, (case, pair)
        else:
            assert theirs["p"] <= ours + near
    # so it reports a difference of models that are equal for every user
    found = _answers("sacrebleu", "randomisation")["equal", "A-B"]
    assert found["p"] == 1 / (found["draws"] + 1)
    assert _tested("equal", "randomisation")["A-B"]["p"] == 1


@pytest.mark.parametrize("case", ["few", "few_ties"])
def test_sacrebleu_and_we_differ_by_the_draws_that_equal_the_difference(case: str) -> None:
    """Of few users all signs can be gone through: with them it is our p, without it is theirs."""
    for pair, (one, other) in CASES[case].pairs().items():
        apart = [first - second for first, second in zip(one, other, strict=True)]
        sums = [
            abs(sum(sign * own for sign, own in zip(signs, apart, strict=True)))
            for signs in product((1, -1), repeat=len(apart))
        ]
        observed = abs(sum(apart))
        at_least = sum(one >= observed for one in sums) / len(sums)
        beyond = sum(one > observed for one in sums) / len(sums)
        theirs = _answers("sacrebleu", "randomisation")[case, pair]
        assert at_least > beyond
        assert abs(theirs["p"] - beyond) <= _error(beyond, theirs["draws"])
        ours = _tested(case, "randomisation")[pair]["p"]
        assert abs(ours - at_least) <= _error(at_least, DRAWS)
        assert _answers("scipy", "permutation")[case, pair]["p"] == pytest.approx(at_least)


@pytest.mark.slow
def test_resampled_users_against_sacrebleus_paired_bootstrap() -> None:
    """It counts one side, we count both: where differences are alike on both, it has half our p.

    It takes the mean of the absolute differences from them, which shifts them to 0 only where none
    changes its sign; so nearer to 0 its p is not half of ours, and is never above it.
    """
    halves = 0
    for (case, pair), theirs in _answers("sacrebleu", "bootstrap").items():
        ours = _tested(case, "bootstrap")[pair]
        assert theirs["p"] <= ours["p"] + _error(theirs["p"], DRAWS, theirs["draws"]), (case, pair)
        if case == "many" and abs(ours["d_z"]) * ours["users"] ** 0.5 > 1.9:
            near = _error(theirs["p"], theirs["draws"]) + _error(ours["p"] / 2, DRAWS)
            assert abs(ours["p"] / 2 - theirs["p"]) <= near, pair
            halves += 1
    assert halves == 9
    assert _tested("equal", "bootstrap")["A-B"]["p"] == 1


@pytest.mark.parametrize("case", ["few", *slow(*(name for name in CASES if name != "few"))])
@pytest.mark.parametrize("method", [*slow("percentile"), "bca"])
def test_bootstrap_intervals_equal_scipys(method: str, case: str) -> None:
    """Of means and of ratios of sums, to within what both draw."""
    for place, kind in enumerate(("mean", "pooled")):
        theirs = _answers("scipy", f"{kind}_{method}")
        for model in CASES[case].scores:
            ours, one = _interval(case, model, method)[place], theirs[case, model]
            near = _near(case, one["error"])
            assert ours == pytest.approx((one["low"], one["high"]), abs=near), model


@pytest.mark.slow
def test_the_percentile_interval_is_as_long_as_sacrebleus() -> None:
    """It gives half the length of the second model's interval."""
    errors = _answers("scipy", "mean_percentile")
    for (case, pair), theirs in _answers("sacrebleu", "bootstrap").items():
        model = pair[-1]
        low, high = _interval(case, model, "percentile")[0]
        near = _near(case, errors[case, model]["error"])
        assert abs((high - low) / 2 - theirs["half"]) <= near, (case, pair)


def test_the_page_names_the_versions_that_were_compared() -> None:
    """In the section on tests and intervals."""
    text = " ".join(section(page_of("libraries"), "Tests and intervals").split())
    names = {"scipy": "SciPy", "sacrebleu": "sacreBLEU"}
    for path in GOLDEN.glob("*.json"):
        head = json.loads(path.read_text())
        assert f"{names.get(head['library'], head['library'])} {head['version']}" in text


@cache
def _interval(case: str, model: str, method: str) -> list[tuple[float, float]]:
    """Return our bootstrap intervals of a model's mean and pooled score."""
    scores, below = np.array(CASES[case].scores[model]), np.array(CASES[case].denominators)
    top, bottom = np.stack([scores, scores * below], 1), np.stack([np.ones(len(below)), below], 1)
    ends = bootstrap_ratios(top, bottom, level=0.95, method=method, draws=DRAWS, seed=0)
    return list(zip(*(end.tolist() for end in ends), strict=True))


def _near(case: str, error: float) -> float:
    """Return how far drawn ends may be apart, given the standard error of what they are ends of.

    A quantile at 2.5 % of 40,000 draws has an error of sqrt(0.025 · 0.975 / 40,000) / φ(1.96) =
    0.013 standard errors, and BCa adds its bias's error, 0.006, twice: 4.5 times these are 0.12 for
    the difference of two ends. Few users have few resamples, of which the next may be the quantile;
    if scores are whole quarters, these are whole steps.
    """
    users = len(CASES[case].denominators)
    step = 0.25 / users if "ties" in case else 0.0
    return (0.12 if users > 10 else 0.2) * error + 1.001 * step
