"""Every sentence on data sets, drawn and checked against the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

import recsys_ndcg as rn
from tests.comparison.scenarios import draw_result
from tests.comparison.sentences import TABLE, check_sentences
from tests.registered import restore_metrics

pytestmark = pytest.mark.filterwarnings("ignore")
#: Scenarios that are drawn fast and have many sentences.
QUICK = (2, 9, 23, 32, 33, 34, 42, 44, 53, 54, 62, 65, 67, 73, 80, 82, 85)


def check_result(found: Any) -> list[str]:
    """Check each sentence of a result, and return their templates."""
    if not isinstance(found, rn.results.MetaAnalysis):
        return []  # tests/findings
    made = [one for line in found.remarks for one in check_sentences(line, "data sets", found)]
    if len(found.datasets) > 1:
        made += check_sentences(found.verdict, "data set", found)
    return made


def _draw(seeds: Iterable[int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        with restore_metrics():
            counts.update(check_result(draw_result(seed)))
    return counts


def test_sentences_are_true() -> None:
    """Each is in the table, and says what the tables have."""
    assert len(_draw(QUICK)) > 5


@pytest.mark.slow
def test_every_sentence_is_drawn_and_true() -> None:
    """In five hundred scenarios or more."""
    counts = _draw([*range(1000), 3401])  # the last has more than three models in one remark
    missing = [template for template in TABLE if not counts[template]]
    assert not missing, counts
