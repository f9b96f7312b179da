"""A report as a dict, a file, a table in Markdown or LaTeX, and a page."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.rendering.parsed import Parsed, harmless

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@2", "precision@2", "recall@2", "rbp(p=0.95)@2", "rr", "rmse"]
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return rn.evaluate(ROWS, metrics=METRICS, threshold=2)


def renamed(name: Any) -> rn.Report:
    """Return a report with a user of this name."""
    return rn.evaluate([(name, *rest) if user == "ann" else (user, *rest) for user, *rest in ROWS])


def same(left: rn.Report, right: rn.Report) -> None:
    """Compare all that two reports say."""
    pd.testing.assert_frame_equal(left.per_user, right.per_user)
    pd.testing.assert_frame_equal(left.summary, right.summary)
    pd.testing.assert_series_equal(left.mean, right.mean)
    pd.testing.assert_series_equal(left.pooled, right.pooled)
    pd.testing.assert_frame_equal(left.intervals(0.9), right.intervals(0.9))
    assert left.counts == right.counts
    assert left.metrics == right.metrics
    assert str(left) == str(right)
    assert [left.signature(one) for one in left.metrics] == [
        right.signature(one) for one in left.metrics
    ]


def test_a_dict_holds_plain_values(report: rn.Report) -> None:
    """JSON takes them without help, and without NaN."""
    stored = report.to_dict()
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    assert stored["per_user"]["user"] == ["ann", "bob", "cy"]
    assert stored["per_user"]["recall@2"][2] is None
    assert stored["summary"]["ndcg@2"]["mean"] == report.mean["ndcg@2"]


@pytest.mark.parametrize("name", ["ann", "0042", 7, 2.5, 2**70, "Zoë", '<"&>', True])
def test_a_saved_report_is_loaded_as_it_was(name: Any, tmp_path: Path) -> None:
    """To the last digit, whatever the ids are."""
    ids = {"ann": name, "bob": "b" if isinstance(name, str) else 1000, "cy": "c"}
    if not isinstance(name, str):
        ids["cy"] = 1001
    rows = [(ids[user], *rest) for user, *rest in ROWS]
    for convention in (rn.Convention(), rn.Convention(undefined=0.0, short_list="drop")):
        report = rn.evaluate(rows, metrics=METRICS, threshold=2, convention=convention)
        report.save(tmp_path / "r.json")
        loaded = rn.Report.load(str(tmp_path / "r.json"))
        same(report, loaded)
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text() == (tmp_path / "r.json").read_text()


def test_a_report_of_one_user_and_no_score_is_loaded_as_it_was(tmp_path: Path) -> None:
    """Columns without a number keep their type."""
    report = rn.evaluate({"ann": [(2, 0), (1, 0)]}, metrics=["ndcg@2", "recall@2"], threshold=1)
    report.save(tmp_path / "r.json")
    same(report, rn.Report.load(tmp_path / "r.json"))


def test_an_id_that_would_come_back_as_another_is_not_saved(tmp_path: Path) -> None:
    """JSON has no tuples: (1, 2) would be loaded as a list."""
    path = tmp_path / "r.json"
    try:
        renamed(("ann", 1)).save(path)
    except rn.InvalidInputError:
        return
    assert ("ann", 1) in rn.Report.load(path).users.tolist()


def test_markdown_has_a_row_per_metric_and_every_signature(report: rn.Report) -> None:
    """With the remarks that matter."""
    text = report.to_markdown()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(METRICS)
    assert len({line.count("|") for line in rows}) == 1
    assert f"{report.mean['ndcg@2']:.4f}" in rows[2]
    assert all(report.signature(one) in text for one in METRICS)
    assert "Ties decide ndcg@2 for" in text
    assert "nan" not in text.lower()


def test_latex_is_escaped(report: rn.Report) -> None:
    """No bare special character outside a comment."""
    pytest.importorskip("jinja2")
    text = report.to_latex()
    assert "rbp(p=0.95)@2" in text
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert sum(r"\\" in line for line in lines) == 1 + len(METRICS)
    for line in lines:
        bare = line.replace(r"\_", "").replace(r"\%", "").replace(r"\&", "")
        assert "_" not in bare
        assert "%" not in bare
    assert all(f"% {report.signature(one)}" in text for one in METRICS)


def test_a_page_is_written_and_whole(report: rn.Report, tmp_path: Path) -> None:
    """Every tag is closed, nothing is fetched from elsewhere."""
    pytest.importorskip("vl_convert")
    page = report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    found = harmless(page)
    for name in METRICS:
        assert name in found.text
        assert report.signature(name) in found.text


@pytest.mark.parametrize("make", [rn.Report.to_html, rn.Report._repr_html_])
@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "a&b"])
def test_names_cannot_write_tags_into_a_page(make: Any, name: str) -> None:
    """Neither the ids of users nor what a function of the caller is called."""
    pytest.importorskip("vl_convert")

    def gain(grades: Any) -> Any:
        return grades

    gain.__name__ = name
    rows = [(name, item, estimated, true) for _, item, estimated, true in ROWS[:3]]
    page = make(rn.evaluate(rows, convention=rn.Convention(gain=gain)))
    found = harmless(page) if page.startswith("<!DOCTYPE") else Parsed(page)
    assert not found.named("img")
    assert name in found.text  # in the signature


def test_a_report_is_printed_with_its_signatures(report: rn.Report) -> None:
    """Also where a notebook or a debugger shows it."""
    assert str(report) == repr(report)
    assert str(report).startswith("3 users, 7 ratings\n")
    *_, first, others = str(report).splitlines()
    assert first == report.signature("ndcg@2")
    assert others.startswith("the same for precision@2|users:3, recall@2|users:2, ")


def test_rendering_gives_no_warnings(report: rn.Report, tmp_path: Path) -> None:
    """Of no library underneath."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report.save(tmp_path / "r.json")
        loaded = rn.Report.load(tmp_path / "r.json")
        for one in (report, loaded):
            assert all((one.to_markdown(), one.to_html(), str(one), one.summary.size))
