"""The report of some users is the report of their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.drawn_reports import RANKING, chosen_of, cutoffs, data_of, evaluated, have_same_labels
from tests.errors import assert_rejected
from tests.profiles import examples
from tests.report.test_reports import ROWS, drawn_lists
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
#: The columns that need the lists, which a file does not hold.
OF_LISTS = [
    "tie_low", "tie_high", "decided_by_ties", "judged", "unlabelled_zero", "unlabelled_top",
]  # fmt: skip


def _check_equal(taken: rn.Report, own: rn.Report, *, with_remarks: bool = True) -> None:
    """Compare everything in two reports, to the last bit."""
    for table in ("per_user", "summary", "audit"):
        both = getattr(taken, table), getattr(own, table)
        pd.testing.assert_frame_equal(*both, check_exact=True, obj=table)
    pd.testing.assert_frame_equal(taken.intervals(), own.intervals(), check_exact=True)
    assert taken.counts == own.counts
    assert [*map(str, taken.signatures.values())] == [*map(str, own.signatures.values())]
    assert taken == own
    assert hash(taken) == hash(own)
    assert have_same_labels(taken, own)
    for name in taken:
        pd.testing.assert_frame_equal(taken.per_user_audit(name), own.per_user_audit(name))
    if with_remarks:
        assert str(taken) == str(own)
    for user in taken.users.tolist():
        pd.testing.assert_frame_equal(taken.explain(user, 3), own.explain(user, 3))


def _some(draw: st.DataObject, report: rn.Report) -> list[Any]:
    """Draw some users, in any order."""
    users = st.sampled_from(report.users.tolist())
    return draw.draw(st.lists(users, min_size=1, unique=True))


@examples(0.25)
@given(data=data_of, chosen=chosen_of, k=cutoffs, draw=st.data())
def test_some_users_have_the_report_of_their_rows(
    data: Sample, chosen: Choices, k: Any, draw: st.DataObject
) -> None:
    """Of ratings, or of labels and results; every metric, any convention."""
    names = RANKING + ([] if data.joined else ["rmse", "mse", "mae"])
    report = evaluated(data, chosen, k, metrics=names)
    users = _some(draw, report)
    try:
        own = evaluated(data, chosen, k, lambda one: one[one["user"].isin(users)], metrics=names)
    except rn.InvalidInputError:
        reject()  # all grades are equal, or no user has a label
    _check_equal(report.take(users), own)


@pytest.mark.parametrize("rule", ["rank", "last", "drop"])
def test_some_users_of_impossible_predictions_have_the_report_of_their_rows(rule: Any) -> None:
    """Wherever impossible predictions are ranked."""
    rows = [
        (user, item, float((user + item) % 5), float(user * item % 3), {"was_impossible": odd})
        for user in range(1, 5)
        for item, odd in enumerate((False, True, user == 3, False))
    ]
    how: dict[str, Any] = {"k": 2, "threshold": 2, "convention": rn.Convention(impossible=rule)}
    report = rn.evaluate(rows, metrics=RANKING, **how)
    own = [one for one in rows if one[0] in {3, 4}]
    _check_equal(report.take([3, 4]), rn.evaluate(own, metrics=RANKING, **how))


CATALOGUES: list[dict[str, Any]] = [
    {"ties": "item_asc", "impossible": "last"}, {"ties": "worst", "impossible": "drop"},
    {"unlisted": "ignore", "missing_user": "skip", "mean_over": "relevant", "undefined": 0.0},
    {"short_list": "drop", "recommend_from": 3.0, "tie_tolerance": 1.0},
]  # fmt: skip


@pytest.mark.parametrize("choices", CATALOGUES)
def test_some_users_of_a_catalogue_have_the_report_of_their_test_rows(choices: Any) -> None:
    """The report has the ranks of the test items, not the whole lists."""
    samples = pytest.importorskip("tests.surprise.samples")
    plugin = pytest.importorskip("recsys_ndcg.surprise")
    rng = np.random.default_rng(0)
    pairs = rng.permutation(8 * 12)[:70]
    rows = pd.DataFrame({"user": pairs // 12, "item": pairs % 12})
    rows["rating"] = rng.integers(1, 6, len(rows)).astype(float)
    trainset = samples.dataset(rows[:35], (1, 5)).build_full_trainset()
    algo = plugin.KNNBasic(k=2, verbose=False).fit(trainset)
    test = [*rows[35:].itertuples(index=False, name=None), (99, 3, 4.0), (0, 98, 5.0)]
    metrics = ["ndcg", "precision", "recall", "ap", "rr", "rprecision", "rbp", "judged"]
    how = {"k": [2, 5], "threshold": 4, "convention": rn.Convention(**choices)}

    def measure(some: list[Any]) -> Any:
        return plugin.evaluate_catalogue(algo, trainset, some, metrics=metrics, **how)

    report = measure(test)
    for users in ([99, 1], report.users[::2].tolist()):
        taken, own = report.take(users), measure([one for one in test if one[0] in users])
        _check_equal(taken, own, with_remarks=False)
        pd.testing.assert_frame_equal(taken.baselines, own.baselines.loc[["chance"]])


def test_users_that_do_not_exist_are_rejected(tmp_path: Path) -> None:
    """By a report of data, and by one from a file."""
    report = rn.evaluate(ROWS, metrics=["ndcg@10", "rr", "recall@2", "rmse"], threshold=2)
    report.save(tmp_path / "r.json")
    no_dan = "This report has 3 users, but no user 'dan'. The users are 'ann',"
    cases: dict[str, list[Any]] = {
        no_dan: [["ann", "dan"]], "no user": [[["ann"]], [7]], "Name at least one user": [[]],
        "given twice": [["ann", "bob", "ann"]], "as a list of their ids, not": ["ann", None],
    }  # fmt: skip
    for one in (report, rn.Report.load(tmp_path / "r.json")):
        for message, several in cases.items():
            for users in several:
                assert_rejected(message, one.take, users)


def test_user_ids_may_be_in_any_collection() -> None:
    """Text is no number; a number of NumPy is one. Users keep the order of the report."""
    report = rn.evaluate([(7, 1, 2.0, 1), (7, 2, 1.0, 3), (8, 1, 1.0, 2)])
    assert_rejected("no user '7'. .*whose id is of type int, not str", report.take, ["7"])
    for users in ({7}, np.array([7]), pd.Series([7]), iter([7]), {7: "x"}):
        assert report.take(users).users.tolist() == [7]
    assert report.take([8, 7]) == report
    _check_equal(report.take([8, 7]).take([7]), report.take([7]))


@examples(0.25)
@given(data=data_of, chosen=chosen_of, draw=st.data())
def test_some_users_of_a_loaded_report_have_all_that_needs_no_lists(
    tmp_path_factory: pytest.TempPathFactory, data: Sample, chosen: Choices, draw: st.DataObject
) -> None:
    """Scores, chance, adjusted, z; columns about ties and labels are NaN."""
    report = evaluated(data, chosen, (2,))
    path = tmp_path_factory.mktemp("reports") / "r.json"
    report.save(path)
    users = _some(draw, report)
    own, loaded = report.take(users), rn.Report.load(path).take(users)
    pd.testing.assert_frame_equal(own.per_user, loaded.per_user, check_exact=True)
    assert have_same_labels(own, loaded)
    assert own.counts == loaded.counts
    assert loaded.audit[OF_LISTS].isna().all(axis=None)
    for left, right in ((own.audit, loaded.audit), (own.summary, loaded.summary)):
        known = left.columns.difference(OF_LISTS, sort=False)
        pd.testing.assert_frame_equal(left[known], right[known], check_exact=True)
    for name in own:
        pd.testing.assert_frame_equal(own.per_user_audit(name), loaded.per_user_audit(name))
    assert own._data.scores.equals(loaded._data.scores)
    if not (callable(chosen.gain) or callable(chosen.discount)):
        assert own == loaded  # the signature of a function has its values for all users
    loaded.save(path)
    again = rn.Report.load(path)
    assert again == loaded
    assert str(again) == str(loaded)
    match = "read from a file.*Evaluate the data again"
    assert_rejected(match, loaded.explain, users[0])


@pytest.mark.parametrize("choices", [{}, {"ap_over": "hits", "ties": "item_asc"}])
def test_chance_is_averaged_over_the_users_of_the_mean(choices: dict[str, Any]) -> None:
    """With short_list="drop", ap@5 decides which users rr has: for chance as for the mean."""
    frame = drawn_lists(200, 0)
    long = frame[frame.groupby("user")["item"].transform("size") >= 5]
    how: dict[str, Any] = {"convention": rn.Convention(short_list="drop", **choices)}
    how |= {"metrics": ["rr", "ap@5"], "threshold": 4}
    report, own = (rn.evaluate(one, **how) for one in (frame, long))
    columns = ["chance", "tie_low", "tie_high", "worst", "best", "trivial", "judged"]
    pd.testing.assert_frame_equal(report.audit.loc[["rr"], columns], own.audit.loc[["rr"], columns])
    assert report["rr"] == pytest.approx(own["rr"])
