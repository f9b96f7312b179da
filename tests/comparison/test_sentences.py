"""Every remark on a comparison, drawn and checked against the tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

import recsys_ndcg as rn
from tests.comparison.scenarios import draw_result
from tests.comparison.sentences import (
    TABLE,
    check_sentences,
    find_disagreements,
    find_rough,
    find_same,
)
from tests.registered import restore_metrics

pytestmark = pytest.mark.filterwarnings("ignore")
#: Scenarios that are drawn fast and have many sentences.
QUICK = (2, 9, 23, 32, 33, 34, 42, 44, 53, 54, 62, 65, 67, 73, 80, 82, 85)


def check_result(found: Any) -> list[str]:
    """Check each sentence of a result, and return their templates."""
    if isinstance(found, tuple):
        return []  # a gate: tests/findings
    if isinstance(found, rn.Comparison):
        return _check_remarks(found)
    is_analysis = hasattr(found, "comparisons")
    groups, lines = ("data sets" if is_analysis else "segments"), found.remarks
    made = [one for line in lines for one in check_sentences(line, groups, found)]
    if is_analysis and len(found.datasets) > 1:
        made += check_sentences(found.verdict, "data set", found)
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
    assert len(_draw(QUICK)) > 35


@pytest.mark.slow
def test_every_sentence_is_drawn_and_true() -> None:
    """In five hundred scenarios or more."""
    counts = _draw([*range(1000), 3401])  # the last has more than three models in one remark
    missing = [template for template in TABLE if not counts[template]]
    assert not missing, counts
