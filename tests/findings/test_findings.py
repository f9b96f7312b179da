"""Every kind of finding, drawn at random and checked against the tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.findings import Finding, Gate
from tests.comparison.scenarios import draw_result
from tests.findings.claims import check_claims, read_kinds
from tests.findings.data_set_claims import check_remarks as check_remarks_on_data_sets
from tests.findings.data_set_claims import check_verdict
from tests.findings.remark_claims import check_remarks
from tests.findings.verdict_claims import Gated, Numbers, list_contradictions, list_verdict
from tests.profiles import slow
from tests.registered import restore_metrics

pytestmark = pytest.mark.filterwarnings("ignore")
#: Scenarios that are drawn fast and have every kind.
QUICK = (
    12, 27, 52, 94, 102, 107, 123, 124, 132, 154, 172, 182, 183, 202, 236, 247, 252, 272, 289,
    292, 307, 309, 402, 408, 422, 469, 472, 479, 517, 627, 640, 687, 708, 717, 730, 742, 757, 763,
    772, 780, 793, 794, 812, 834, 842, 849, 871, 882, 902, 907, 910, 916, 918, 942, 951, 952, 975,
    977, 993,
)  # fmt: skip
#: Kinds that are not drawn, but have a test of their own.
ELSEWHERE = {
    *("nothing_fails", "findings_fail"),
    *("no_score", "mean_within_limit", "mean_beyond_limit"),  # of the command line
    *("errors_in_folds", "warnings_in_folds"),  # of an experiment
}
#: What the kinds of a verdict do, and in which order.
_PARTS = {
    "empty": "nothing_to_compare|too_few_for_a_test",
    "same": "equal_models|equal_values",
    "level": "no_winner|no_differences|several_in_first_tier",
    "cycle": "all_worse_than_another",
    "ranks": "no_winner_by_ranks_or_signs",
    "winner": "clear_winner|winner_by_signs|winner_by_ranks",
    "first": "best_of_all|alone_in_first_tier",
    "next": "runner_up|runner_up_with_equal_mean|runner_up_with_better_mean",
    "mean": "equal_means|better_mean|mean_agrees|mean_contradicts",
    "baseline": "against_baseline",
    "chance": "against_chance|all_above_chance",
    "effect": "share_of_users|tested_by_swaps|tested_by_jackknife",
    "power": "detectable_difference|nothing_detectable|unknown_power",
    "margin": "equivalent|either_may_be_worse|one_not_worse_by_margin|worse_by_margin"
    "|maybe_worse_by_margin|within_margin|none_within_margin",
    "against": "contradicting_means",
}
_PART_OF_KIND = {kind: part for part, kinds in _PARTS.items() for kind in kinds.split("|")}
_ORDER = re.compile(
    r"(empty|same|chance|cycle|level (power|margin)|ranks mean( margin)?"
    r"|(winner|winner mean|first next) (effect|margin)|baseline( power| margin)?)"
    r"( chance)?( against)?"
)


def _check_verdicts(found: rn.Comparison) -> list[str]:
    """Check the verdict in each metric: the claims, their order, and what is due."""
    kinds = []
    for metric in found.metrics:
        known, findings = Numbers(found, metric), list_verdict(found, metric)
        names = {(finding.names["metric"], finding.names["ranked"]) for finding in findings}
        assert names == {(metric, known.ranked)}
        parts = _check_order(findings)
        assert ("margin" in parts) <= (found._data.margin is not None)
        assert "power" not in parts or found._data.margin is None
        with_chance = known.rows[(known.rows[["a", "b"]] == "chance").any(axis=1)]
        is_tested = len(found.models) > 2 and with_chance["p_corrected"].notna().any()
        assert ("chance" in parts) == is_tested or "empty" in parts
        scored = [name for name in known.models if not np.isnan(known.board["mean"][name])]
        tiers = {name: known.tier(name) for name in scored}
        assert found.leaderboards[metric]["tier"][scored].to_dict() == tiers
        assert ("against" in parts) == (len(known.rows) > 1 and bool(list_contradictions(known)))
        kinds += check_claims(findings, known)
    return kinds


def _check_order(findings: list[Finding]) -> list[str]:
    """Check the order of a verdict's kinds, and that what follows is about the same pair."""
    parts = [_PART_OF_KIND[finding.kind] for finding in findings]
    assert _ORDER.fullmatch(" ".join(parts)), parts
    for before, after in pairwise(findings):
        is_about = _PART_OF_KIND[after.kind] in {"mean", "effect", "margin"} and after.models
        if is_about and {"winner", "loser"} <= before.names.keys():
            assert {*before.models} == {*after.models}, findings
    return parts


def _check_gate(drawn: tuple[rn.Comparison, Gate, dict[str, Any]]) -> list[str]:
    found, gate, how = drawn
    assert gate.passed == (gate.findings[0].kind == "not_worse")
    known = Gated(found, how)
    kinds = check_claims(gate.findings, known)
    assert ("rough_p" in kinds) == known.is_rough
    return kinds


#: How the findings of each group are checked, by the type of what is drawn.
CHECKS: dict[tuple[type, str], Callable[[Any], list[str]]] = {
    (rn.Comparison, "verdict"): _check_verdicts,
    (rn.Comparison, "remark"): check_remarks,
    (tuple, "gate"): _check_gate,
    (rn.results.MetaAnalysis, "data_sets_verdict"): check_verdict,
    (rn.results.MetaAnalysis, "data_sets_remark"): check_remarks_on_data_sets,
}


def _draw(seeds: Iterable[int]) -> Counter[str]:
    """Check all findings of drawn results, also a gate's comparison, and count their kinds."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        with restore_metrics():
            drawn = draw_result(seed)
            results = [drawn, drawn[0]] if isinstance(drawn, tuple) else [drawn]
            for result, ((result_type, _), check) in product(results, CHECKS.items()):
                if isinstance(result, result_type):
                    counts.update(check(result))
    return counts


@pytest.mark.parametrize("seeds", [QUICK, *slow(range(1000))])
def test_every_kind_is_drawn_and_true(seeds: Iterable[int]) -> None:
    """Each has the numbers and names of the tables."""
    counts, groups = _draw(seeds), {group for _, group in CHECKS}
    kinds = {kind for group in groups for kind in read_kinds()[group]}
    assert not kinds - {*counts} - ELSEWHERE, counts
