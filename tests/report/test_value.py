"""A report is a value: what it shows is what was measured, whenever it is asked."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def _frame() -> pd.DataFrame:
    """Rows that are grouped by user already, so that nothing has to be sorted."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(20), 6),
            "item": np.tile(np.arange(6), 20),
            "estimated": rng.normal(size=120),
            "true": rng.integers(1, 6, 120).astype(float),
        }
    )


def _shown(report: rn.Report) -> list[Any]:
    return [
        report.to_dict(), str(report), report.explain(3).to_dict(), report.leaderboard("ndcg@5"),
        report.audit.to_dict(), report.counts, report.intervals().to_dict(),
    ]  # fmt: skip


def _column(frame: pd.DataFrame, name: str, value: float) -> None:
    frame.loc[:, name] = value


CHANGES: list[Callable[[pd.DataFrame], None]] = [
    lambda frame: _column(frame, "true", 1.0),
    lambda frame: _column(frame, "estimated", 0.0),
    lambda frame: _column(frame, "item", 3),
    lambda frame: frame.insert(0, "another", frame.pop("true")),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["frame", "columns", "lists"])
def test_what_happens_to_the_data_later_changes_nothing(
    change: Callable[[pd.DataFrame], None], form: str
) -> None:
    """Chance, audit and explain are worked out when asked for, of what was measured."""
    forms: dict[str, Callable[[pd.DataFrame], Any]] = {
        "frame": lambda frame: frame,
        "columns": lambda frame: {name: frame[name].to_numpy() for name in frame},
        "lists": rn.RankedLists.from_frame,
    }
    how: dict[str, Any] = {"metrics": ["ndcg@5", "precision@5", "rmse"], "threshold": 4}
    expected = _shown(rn.evaluate(_frame(), **how))
    frame = _frame()
    report = rn.evaluate(forms[form](frame), **how)
    change(frame)
    for ours, theirs in zip(_shown(report), expected, strict=True):
        if isinstance(ours, pd.DataFrame):
            pd.testing.assert_frame_equal(ours, theirs)
        else:
            assert str(ours) == str(theirs)


def test_lists_share_no_memory_with_what_they_are_made_of() -> None:
    """Arrays of NumPy written to afterwards; and the lists themselves cannot be written to."""
    columns = {name: _frame()[name].to_numpy(copy=True) for name in _frame()}
    lists = rn.RankedLists.from_arrays(*columns.values())
    report = rn.evaluate(lists, threshold=4)
    before = copy.deepcopy(_shown(rn.evaluate(_frame(), metrics=["ndcg@5"])))
    for column in columns.values():
        column[:] = 1
    assert lists.true.max() == 5.0
    own = rn.evaluate(lists, metrics=["ndcg@5"])
    assert str(_shown(own)[2]) == str(before[2])
    held = [lists.true, lists.estimated, lists.offsets, lists.item_codes, lists.users]
    for values in (*held, lists.n_items, lists.n_unlisted):
        assert values is not None
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    assert report.counts["users"] == 20


def test_lists_have_categories_of_their_own() -> None:
    """Also where all of them occur, in ascending order."""
    names = pd.Index(np.array(["a", "b"], dtype=object), dtype=object)
    user = pd.Categorical.from_codes([0, 0, 1, 1], categories=names)
    frame = pd.DataFrame({"user": user, "item": [1, 2, 1, 2], "estimated": [4.0, 3.0, 2.0, 1.0]})
    lists = rn.RankedLists.from_frame(frame.assign(true=[1.0, 0.0, 0.0, 1.0]))
    assert not np.shares_memory(lists.users, names.to_numpy())


def test_what_a_report_hands_out_is_the_readers_own() -> None:
    """Writing into a table of a report does not write into the report."""
    report = rn.evaluate(_frame(), metrics=["ndcg@5", "recall@5"], threshold=4)
    for name in ("per_user", "summary", "audit", "mean", "pooled", "baselines"):
        before = getattr(report, name).copy()
        table = getattr(report, name)
        table.iloc[:] = 0
        pd.testing.assert_frame_equal(
            pd.DataFrame(getattr(report, name)), pd.DataFrame(before), check_exact=True
        )
    report.counts["users"] = 0
    assert report.counts["users"] == 20
    assert report.mean["ndcg@5"] == report.summary.loc["ndcg@5", "mean"]


@pytest.mark.parametrize("choices", [{}, {"ap_over": "hits", "ties": "item_asc"}])
def test_reference_levels_are_over_the_users_of_the_mean(choices: dict[str, Any]) -> None:
    """Whom short_list="drop" leaves out of rr hangs on ap@5: for chance as for the mean."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 12, 200)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(200), lengths),
            "item": np.concatenate([np.arange(n) for n in lengths]),
            "estimated": rng.normal(size=lengths.sum()),
            "true": rng.integers(1, 6, lengths.sum()),
        }
    )
    convention = rn.Convention(short_list="drop", **choices)
    how: dict[str, Any] = {"threshold": 4, "convention": convention}
    report = rn.evaluate(frame, metrics=["rr", "ap@5"], **how)
    long = frame[lengths[frame["user"]] >= 5]
    own = rn.evaluate(long, metrics=["rr", "ap@5"], **how)
    beside = ["chance", "tie_low", "tie_high", "worst", "best", "trivial", "judged"]
    pd.testing.assert_frame_equal(report.audit.loc[["rr"], beside], own.audit.loc[["rr"], beside])
    assert report.mean["rr"] == pytest.approx(own.mean["rr"])
    alone = rn.evaluate(frame, metrics=["rr"], **how)
    assert alone.summary["chance"].iloc[0] > report.summary["chance"].iloc[0] + 0.01


def test_a_report_from_a_file_cannot_be_written_to_either(tmp_path: Path) -> None:
    """Its users, its signatures and its counts are its own."""
    report = rn.evaluate(_frame(), metrics=["ndcg@5"], threshold=4)
    report.save(tmp_path / "r.json")
    for one in (report, rn.Report.load(tmp_path / "r.json")):
        with pytest.raises(ValueError, match="read-only"):
            one.users[:] = 1
        one.signatures.clear()
        assert one.signature("ndcg@5").startswith("ndcg@5|gain:")
        with pytest.raises(ValueError, match="read-only"):
            one.scores.per_user[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            one.scores.numerator[0] = 1
