"""Every finding of reports and segments, drawn and checked against their tables."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from recsys_ndcg.report.remarks import find_misleading_scores
from tests.findings import segment_claims  # noqa: F401 - registers them
from tests.findings.claims import check_claims, read_kinds
from tests.findings.drawn_reports import draw_report, draw_segments
from tests.findings.report_claims import list_kinds_due
from tests.profiles import slow

#: Reports and segments that are drawn fast and have every kind.
QUICK = (
    [3, 6, 95, 96, 99, 111, 125, 132, 135, 155, 159, 191, 201, 205, 240, 246, 247, 251, 254, 263,
     266, 267, 277, 279],
    [10, 13, 15, 17, 21, 23],
)  # fmt: skip
GROUPS = {"report_verdict", "report_remark", "segment"}


def _check_report(seed: int) -> list[str]:
    """Check the findings of a drawn report, and return their kinds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = draw_report(seed)
    kinds = check_claims([*report._data.verdict, *report._data.remarks], report)
    table = report.to_dict()["findings"]
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    assert [finding["kind"] for finding in table] == kinds
    assert list_kinds_due(report) <= {*kinds}
    audit: Any = report._data.audit
    warned = [*find_misleading_scores(audit, audit.source.facts)]
    assert {finding.sentence for finding in warned} <= {str(each.message) for each in caught}
    return kinds + check_claims(warned, report)


def _check_segments(seed: int) -> list[str]:
    """Check the findings of drawn segments, and return their kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        segments = draw_segments(seed)
    table = segments.summary
    clear = table.index[table["p_corrected"] <= 0.05].get_level_values("metric")
    named = [one.names["metric"] for one in segments._findings if one.kind == "different_segments"]
    assert {*named} == {*clear}
    return check_claims(segments._findings, segments)


@pytest.mark.parametrize("seeds", [QUICK, *slow(([*range(300)], [*range(30)]))])
def test_every_finding_is_drawn_and_true(seeds: tuple[list[int], list[int]]) -> None:
    """Of reports and segments."""
    checked = [*map(_check_report, seeds[0]), *map(_check_segments, seeds[1])]
    due = {kind for group in GROUPS for kind in read_kinds()[group]}
    assert not due.difference(*checked)
