"""A report as a mapping of its means, and as a value that never changes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.drawn_reports import have_same_labels
from tests.errors import rejects
from tests.profiles import slow
from tests.report.test_reports import ROWS

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@10", "rbp(p=0.9)@2", "rr", "recall@2", "rmse"]


def _evaluate(rows: Any = ROWS, **choices: Any) -> rn.Report:
    convention = rn.Convention(**choices)
    return rn.evaluate(rows, metrics=METRICS, threshold=2, convention=convention)


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return _evaluate()


def test_a_report_is_a_mapping_of_its_means(report: rn.Report) -> None:
    """In the order of the metrics; the values are Python floats, NaN if undefined."""
    assert [*report] == [*report.keys()] == report.metrics == METRICS
    assert len(report) == 5
    assert {**report} == dict(report) == report.mean.to_dict()
    assert [*report.values()] == report.mean.tolist()
    assert all(type(mean) is float for mean in report.values())
    undefined = rn.evaluate({"ann": [(2, 0), (1, 0)]}, metrics="recall@2", threshold=1)
    assert np.isnan(undefined["recall@2"])


def test_a_mean_is_found_by_any_name_of_its_metric(report: rn.Report) -> None:
    """As evaluate takes them."""
    names: dict[str, list[Any]] = {
        "ndcg@10": [" NDCG@10 ", "ndcg", rn.NDCG(10)],
        "rbp(p=0.9)@2": ["rbp(0.9)@2", "RBP", "rbp(0.9)", rn.RBP(2, p=0.9)],
    }  # fmt: skip
    for name, keys in names.items():
        for key in keys:
            assert key in report
            assert report[key] == report.get(key) == report.mean[name]


@pytest.mark.parametrize("key", ["ndcg@5", "ndcg:rated", "ndgc@10", rn.RBP(2), "", 3, None])
def test_a_missing_metric_is_a_missing_key(report: rn.Report, key: Any) -> None:
    """The error lists the metrics, and is a KeyError, too."""
    with rejects(r"has no metric .*; it has ndcg@10, rbp\(p=0.9\)@2") as caught:
        report[key]
    assert isinstance(caught.value, KeyError)
    assert key not in report
    assert report.get(key, 0.5) == 0.5


def _copies(report: rn.Report) -> list[rn.Report]:
    pickled = [pickle.dumps(report, protocol) for protocol in (2, pickle.HIGHEST_PROTOCOL)]
    return [pickle.loads(one) for one in pickled] + [copy.deepcopy(report), copy.copy(report)]  # noqa: S301


def _joined() -> rn.Report:
    grades = {"ann": {"a": 1, "b": 2, "z": 3}, "bob": {"a": 0, "c": 2}}
    lists = rn.RankedLists.from_trec(grades, {"ann": {"a": 1.0, "c": 1.0}, "bob": {"a": 0.5}})
    return rn.evaluate(lists, metrics=["ndcg@2", "auc"], threshold=2)


DATA: dict[str, Callable[[], rn.Report]] = {
    "ratings": _evaluate,
    "labels and results": _joined,
    "a preset": lambda: rn.evaluate(ROWS, metrics=METRICS[:4], threshold=2, convention="ranx"),
    "no scores": lambda: rn.evaluate({1: [(2, 0)]}, metrics="recall@2", threshold=1),
}


def _arrays(one: Any) -> list[Any]:
    """Return the arrays of a record."""
    values = (getattr(one, field.name) for field in fields(one))
    return [value for value in values if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("data", [*list(DATA)[:2], *slow(*list(DATA)[2:])])
def test_copies_are_equal_and_nothing_can_be_written_to(data: str, tmp_path: Path) -> None:
    """After copying, pickling and loading: same hash, same text, read-only arrays."""
    report = DATA[data]()
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    for one in (DATA[data](), loaded, *_copies(report), *_copies(loaded)):
        assert one == report
        assert (one != report) is False
        assert hash(one) == hash(report)
        assert str(one) == repr(one) == str(report)
        assert have_same_labels(one, report)
        pd.testing.assert_frame_equal(one.per_user, report.per_user, check_exact=True)
        pd.testing.assert_frame_equal(one.summary, report.summary, check_exact=True)
        arrays = [
            one.users,
            one._data.scores.per_user,
            *_arrays(one._data.scores),
            *_arrays(one._data.scores.counts),
        ]
        lists = one._data.audit.lists
        arrays += [] if lists is None else [*_arrays(lists), lists.n_items]
        assert not [values for values in arrays if values.flags.writeable]


def test_a_copy_explains_and_takes_users_as_the_report_does(report: rn.Report) -> None:
    """It has the lists; what is written into its tables does not change it."""
    for one in _copies(report):
        for table in (one.per_user, one.mean, one.pooled, one.summary, one.audit):
            table.iloc[:] = 0
        one.signatures.clear()
        one.counts.clear()
        pd.testing.assert_frame_equal(one.explain("ann"), report.explain("ann"))
        for name in ("per_user", "summary", "audit", "baselines"):
            pd.testing.assert_frame_equal(getattr(one, name), getattr(report, name))
        assert (one.counts, one.signatures) == (report.counts, report.signatures)
        assert one.take(["ann"]) == report.take(["ann"])
        with pytest.raises(TypeError, match="item assignment"):
            one["ndcg@10"] = 1.0  # type: ignore[index]


def test_reports_of_other_scores_users_or_choices_differ(report: rn.Report) -> None:
    """And a report differs from anything else."""
    others = [
        _evaluate([(*ROWS[0][:2], 2.5, 3), *ROWS[1:]]),
        _evaluate([("dan" if user == "cy" else user, *rest) for user, *rest in ROWS]),
        *(_evaluate(ROWS[:5]), _evaluate(gain="linear"), _evaluate(undefined=0.0)),
        rn.evaluate(ROWS, metrics=METRICS, threshold=1),
        *(rn.evaluate(ROWS, metrics=one, threshold=2) for one in (METRICS[:4], METRICS[::-1])),
        report.take(["ann", "bob"]),
    ]
    for other in [*others, dict(report), [*report], None, "report"]:
        assert report != other
        assert other != report


def _frame() -> pd.DataFrame:
    """Return rows that are already grouped by user, so that nothing has to be sorted."""
    rng, row = np.random.default_rng(0), np.arange(120)
    frame = pd.DataFrame({"user": row // 6, "item": row % 6, "estimated": rng.normal(size=120)})
    return frame.assign(true=rng.integers(1, 6, 120).astype(float))


def _everything(report: rn.Report) -> list[str]:
    tables = [report.explain(3), report.leaderboard("ndcg@5"), report.audit, report.intervals()]
    return [str(report.to_dict()), str(report), *(str(one.to_dict()) for one in tables)]


def _view(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, copy=False)


FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "frame": _view,
    "columns": lambda columns: columns,
    "lists of a frame": lambda columns: rn.RankedLists.from_frame(_view(columns)),
    "lists of arrays": lambda columns: rn.RankedLists.from_arrays(*columns.values()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_report_does_not_change_with_its_data(form: str) -> None:
    """Chance, audit and explain are computed when they are first needed, of the data as it was."""
    how: dict[str, Any] = {"metrics": ["ndcg@5", "precision@5", "rmse"], "threshold": 4}
    expected = _everything(rn.evaluate(_frame(), **how))
    columns = {str(name): _frame()[name].to_numpy(copy=True) for name in _frame()}
    report = rn.evaluate(FORMS[form](columns), **how)
    for column in columns.values():
        column[:] = 1
    assert _everything(report) == expected


def test_users_share_no_memory_with_categories() -> None:
    """Even if the lists have the same users in the same order."""
    names = pd.Index(np.array(["a", "b"], dtype=object), dtype=object)
    user = pd.Categorical.from_codes([0, 0, 1, 1], categories=names)
    frame = pd.DataFrame({"user": user, "item": [1, 2, 1, 2], "estimated": [4.0, 3.0, 2.0, 1.0]})
    categorical = rn.RankedLists.from_frame(frame.assign(true=[1.0, 0.0, 0.0, 1.0]))
    assert not np.shares_memory(categorical.users, names.to_numpy())
