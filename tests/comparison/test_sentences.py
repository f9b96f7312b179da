"""Every sentence that a comparison can make, drawn and checked against the tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.comparison.scenarios import draw_result
from tests.comparison.sentences import (
    TABLE,
    Gate,
    Numbers,
    check_sentences,
    find_disagreements,
    find_rough,
    find_same,
)
from tests.registered import restore_metrics

pytestmark = pytest.mark.filterwarnings("ignore")
_VERDICT = "empty|two|better|same|many|first|tied|baseline|power|margin|effect|chance|ranks"
#: Scenarios that are drawn fast and have many sentences.
QUICK = (2, 9, 23, 32, 33, 34, 42, 44, 53, 54, 62, 65, 67, 73, 80, 82, 85)
#: The groups of the sentences of a verdict, in their order.
_ORDER = re.compile(
    r"(empty|same|chance|(two|many|tied) (power|margin)|two|(better|first) (effect|margin)"
    r"|baseline( power| margin)?)( chance)?( ranks)?"
)


def check_result(found: Any) -> list[str]:
    """Check each sentence of a result, and return their templates."""
    if isinstance(found, tuple):
        comparison, gate, how = found
        known = Gate(comparison, passed=gate.passed, **how)
        return check_sentences(gate.reason, "gate|rough", known)
    if isinstance(found, rn.Comparison):
        return [*_check_verdicts(found), *_check_remarks(found)]
    if not hasattr(found, "comparisons"):  # tests/findings checks segments
        return []
    made = [one for line in found.remarks for one in check_sentences(line, "data sets", found)]
    if len(found.datasets) > 1:
        made += check_sentences(found.verdict, "data set", found)
    return made


def _check_verdicts(found: rn.Comparison) -> list[str]:
    made = []
    for metric in found.metrics:
        one = Numbers(found, metric)
        templates = check_sentences(found._verdict_in(metric), _VERDICT, one)
        groups = " ".join(TABLE[template][0] for template in templates)
        assert _ORDER.fullmatch(groups), groups
        assert ("margin" in groups) <= (found._data.margin is not None)
        if found._data.margin is not None:
            assert "power" not in groups
        with_chance = one.rows[(one.rows[["a", "b"]] == "chance").any(axis=1)]
        is_tested = len(found.models) > 2 and with_chance["p_corrected"].notna().any()
        assert ("chance" in groups.split()) == is_tested or "empty" in groups
        known = [name for name in one.models if not np.isnan(one.board["mean"][name])]
        tiers = {name: one.tier(name) for name in known}
        assert found.leaderboards[metric]["tier"][known].to_dict() == tiers
        made += templates
    return made


def _check_remarks(found: rn.Comparison) -> list[str]:
    remarks = found.remarks
    made = [check_sentences(line, "remark", found) for line in remarks]
    assert all(len(templates) == 1 for templates in made)
    text = "\n".join(remarks)
    same = find_same(found)
    assert text.count(" have the same score for every user.") == min(len(same), 3)
    if found._data.testing.test not in {"sign", "wilcoxon"}:
        for metric in found._data.metrics_of_users:
            if find_rough(found, metric):
                assert re.search(rf"p-values.* are rough in .*({metric} \(|\d more)", text)
    scores = [f"pooled {found.metrics[0]}", *found.metrics[1:]]
    due = [one for one in scores if find_disagreements(found, one)]
    assert text.count(" disagree significantly on ") == (len(due) if len(due) < 5 else 3)
    return [template for (template,) in made]


def _draw(seeds: Iterable[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        with restore_metrics():
            counts.update(check_result(draw_result(seed)))
    return counts


def test_sentences_are_true() -> None:
    """Each is in the table, and says what the tables have."""
    assert len(_draw(QUICK)) > 55


@pytest.mark.slow
def test_every_sentence_is_drawn_and_true() -> None:
    """In five hundred scenarios or more."""
    counts = _draw([*range(1000), 3401])  # the last has more than three models in one remark
    missing = [template for template in TABLE if not counts[template]]
    assert not missing, counts
