"""A report as a mapping of its means, as a value, and as the report of some of its users."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import drawn_reports, strategies
from tests.errors import rejects
from tests.lists import test_impossible as impossible
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.strategies import Sample
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@10", "rbp(p=0.9)@2", "rr", "recall@2", "rmse"]
ROWS: list[tuple[Any, ...]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip
#: What tells of lists that a file does not hold.
OF_LISTS = (
    "tie_low",
    "tie_high",
    "decided_by_ties",
    "judged",
    "unlabelled_zero",
    "unlabelled_top",
)


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return _evaluated()


def _evaluated(rows: Any = ROWS, **choices: Any) -> rn.Report:
    how: dict[str, Any] = {"metrics": METRICS, "threshold": 2}
    return rn.evaluate(rows, convention=rn.Convention(**choices), **how)


def test_it_is_a_mapping_of_its_means(report: rn.Report) -> None:
    """In the order they were asked for; numbers of Python."""
    assert [*report] == [*report.keys()] == report.metrics == METRICS
    assert len(report) == 5
    assert dict(report) == report.mean.to_dict()
    assert [*report.items()] == [*zip(METRICS, report.mean, strict=True)]
    assert [*report.values()] == report.mean.tolist()
    assert {**report} == dict(report)
    assert all(type(mean) is float for mean in report.values())


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ndcg@10", "ndcg@10"),
        ("NDCG@10", "ndcg@10"),
        (" ndcg@10 ", "ndcg@10"),
        (rn.NDCG(10), "ndcg@10"),
        ("rbp(0.9)@2", "rbp(p=0.9)@2"),
        (rn.RBP(2, p=0.9), "rbp(p=0.9)@2"),
        (rn.RR(), "rr"),
    ],
)
def test_a_mean_is_found_by_any_name_of_its_metric(
    report: rn.Report, asked: Any, name: str
) -> None:
    """As evaluate takes them."""
    assert asked in report
    assert report[asked] == report.get(asked) == report.mean[name]


@pytest.mark.parametrize("asked", ["ndcg@5", "ndcg", "ndgc@10", rn.NDCG(5), rn.RBP(2), "", 3, None])
def test_a_metric_that_is_not_there_is_a_missing_key(report: rn.Report, asked: Any) -> None:
    """An error of ours that says what there is, and one that a mapping raises."""
    for kind in (rn.InvalidInputError, KeyError):
        with pytest.raises(kind, match=r"has no metric .*; it has ndcg@10, rbp\(p=0.9\)@2"):
            report[asked]
    with rejects("has no metric"):
        report[asked]
    assert asked not in report
    assert report.get(asked) is None
    assert report.get(asked, 0.5) == 0.5


def test_an_undefined_mean_is_nan() -> None:
    """It is there, and no number."""
    report = rn.evaluate({"ann": [(2, 0), (1, 0)]}, metrics="recall@2", threshold=1)
    assert "recall@2" in report
    assert np.isnan(report["recall@2"])


def _copies(report: rn.Report) -> list[rn.Report]:
    pickled = [pickle.dumps(report, protocol) for protocol in (2, 3, 4, 5)]
    return [pickle.loads(one) for one in pickled] + [copy.deepcopy(report), copy.copy(report)]  # noqa: S301


def _lists() -> rn.RankedLists:
    grades = {"ann": {"a": 1, "b": 2, "z": 3}, "bob": {"a": 0, "c": 2}}
    return rn.RankedLists.from_trec(grades, {"ann": {"a": 1.0, "c": 1.0}, "bob": {"a": 0.5}})


DATA: dict[str, Callable[[], rn.Report]] = {
    "rated": _evaluated,
    "joined": lambda: rn.evaluate(_lists(), metrics=["ndcg@2", "auc"], threshold=2),
    "a preset": lambda: rn.evaluate(ROWS, metrics=METRICS[:4], threshold=2, convention="ranx"),
    "nobody has a score": lambda: rn.evaluate({1: [(2, 0)]}, metrics="recall@2", threshold=1),
}


@pytest.mark.parametrize("data", DATA)
def test_it_equals_itself_after_pickling_and_after_load(data: str, tmp_path: Path) -> None:
    """With the same hash, and the same text."""
    report = DATA[data]()
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    for one in (report, DATA[data](), loaded, *_copies(report), *_copies(loaded)):
        assert one == report
        assert report == one
        assert (one != report) is False
        assert hash(one) == hash(report)
        assert str(one) == repr(one) == str(report)
        assert one.signatures == report.signatures
        assert one.same_ratings(report)
        pd.testing.assert_frame_equal(one.per_user, report.per_user, check_exact=True)
        pd.testing.assert_frame_equal(one.summary, report.summary, check_exact=True)
    assert {report: 1}[loaded] == 1


def test_a_copy_explains_and_measures_as_the_report_does(report: rn.Report) -> None:
    """It has the lists."""
    for one in _copies(report):
        pd.testing.assert_frame_equal(one.explain("ann"), report.explain("ann"))
        pd.testing.assert_frame_equal(one.audit, report.audit)
        assert one.take(["ann"]) == report.take(["ann"])
        assert one.counts == report.counts


def test_it_differs_from_another(report: rn.Report) -> None:
    """Of other scores, users, choices, metrics; and from anything else."""
    moved = [(*ROWS[0][:2], 2.5, 3), *ROWS[1:]]
    renamed = [("dan" if user == "cy" else user, *rest) for user, *rest in ROWS]
    others = [
        _evaluated(moved),
        _evaluated(renamed),
        _evaluated(ROWS[:5]),
        _evaluated(gain="linear"),
        _evaluated(undefined=0.0),
        rn.evaluate(ROWS, metrics=METRICS, threshold=1),
        rn.evaluate(ROWS, metrics=METRICS[:4], threshold=2),
        rn.evaluate(ROWS, metrics=METRICS[::-1], threshold=2),
        report.take(["ann", "bob"]),
    ]
    for other in others:
        assert report != other
        assert other != report
    for thing in (dict(report), [*report], None, 3, "report"):
        assert report != thing


def test_equal_reports_have_equal_hashes_whatever_the_order_of_the_metrics() -> None:
    """Where the columns are the same: one item is a hit among the first one and two."""
    one, other = (
        rn.evaluate({"ann": [(1.0, 1)]}, metrics=names, threshold=1)
        for names in (["hit@1", "hit@2"], ["hit@2", "hit@1"])
    )
    assert one != other or hash(one) == hash(other)


def _arrays(one: Any) -> list[np.ndarray[Any, Any]]:
    """Return the arrays of a record."""
    values = (getattr(one, field.name) for field in fields(one))
    return [value for value in values if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("data", DATA)
def test_a_copy_cannot_be_written_to_either(data: str, tmp_path: Path) -> None:
    """Neither its scores and what they are made of, nor the lists."""
    report = DATA[data]()
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    for one in (report, loaded, *_copies(report), *_copies(loaded)):
        arrays = [one.users, one.scores.per_user, *_arrays(one.scores)]
        arrays += [] if one.audited.lists is None else _arrays(one.audited.lists)
        assert not [values for values in arrays if values.flags.writeable]


@pytest.mark.parametrize("data", DATA)
def test_what_is_counted_of_each_user_cannot_be_written_to(data: str, tmp_path: Path) -> None:
    """The lengths of the lists stand in `per_user` and in `counts`."""
    report = DATA[data]()
    report.save(tmp_path / "r.json")
    for one in (report, rn.Report.load(tmp_path / "r.json"), *_copies(report)):
        arrays = _arrays(one.scores.counts)
        assert not [values for values in arrays if values.flags.writeable]


def test_what_a_copy_hands_out_is_the_readers_own(report: rn.Report) -> None:
    """Writing into a table of it does not write into the report."""
    for one in _copies(report):
        for table in (one.per_user, one.mean, one.pooled, one.summary, one.audit, one.truth):
            table.iloc[:] = 0
        one.signatures.clear()
        one.counts.clear()
        _agree(one, report)
        with pytest.raises(TypeError, match="item assignment"):
            one["ndcg@10"] = 1.0  # type: ignore[index]


def _agree(taken: rn.Report, alone: rn.Report, *, text: bool = True) -> None:
    """Compare all that two reports say, to the last bit."""
    for table in ("per_user", "summary", "audit"):
        pd.testing.assert_frame_equal(
            getattr(taken, table), getattr(alone, table), check_exact=True, obj=table
        )
    for column in ("mean", "pooled", "truth"):
        pd.testing.assert_series_equal(
            getattr(taken, column), getattr(alone, column), check_exact=True, obj=column
        )
    pd.testing.assert_frame_equal(taken.intervals(), alone.intervals(), check_exact=True)
    assert taken.counts == alone.counts
    assert {name: one.text for name, one in taken.signatures.items()} == {
        name: one.text for name, one in alone.signatures.items()
    }
    assert taken == alone
    assert hash(taken) == hash(alone)
    assert taken.same_ratings(alone)
    for name in taken:
        pd.testing.assert_frame_equal(taken.per_user_audit(name), alone.per_user_audit(name))
    if text:
        assert taken.remarks == alone.remarks
        assert str(taken) == str(alone)
    for user in taken.users.tolist():
        pd.testing.assert_frame_equal(taken.explain(user, 3), alone.explain(user, 3))


def _some(draw: st.DataObject, users: list[Any]) -> list[Any]:
    """Draw some users, in any order."""
    return draw.draw(st.lists(st.sampled_from(users), min_size=1, unique=True))


@examples(0.25)
@given(
    data=drawn_reports.data_of,
    chosen=drawn_reports.chosen_of,
    k=drawn_reports.cutoffs,
    draw=st.data(),
)
def test_some_users_are_what_their_rows_alone_are(
    data: Sample, chosen: Choices, k: Any, draw: st.DataObject
) -> None:
    """Of a table of ratings, or of labels and results; every metric, any convention."""
    names = drawn_reports.RANKING + ([] if data.joined else ["rmse", "mse", "mae"])
    report = drawn_reports.evaluated(data, chosen, k, metrics=names)
    users = _some(draw, report.users.tolist())
    try:
        alone = drawn_reports.evaluated(
            data, chosen, k, lambda table: table[table["user"].isin(users)], metrics=names
        )
    except rn.InvalidInputError:
        reject()  # all alike, or nobody has a label
    _agree(report.take(users), alone)


@examples(0.25)
@given(
    rows=impossible.predictions().filter(impossible.usable),
    chosen=drawn_reports.chosen_of,
    rule=st.sampled_from(impossible.RULES),
    draw=st.data(),
)
def test_some_users_of_impossible_predictions_are_what_their_rows_alone_are(
    rows: list[impossible.Prediction], chosen: Choices, rule: str, draw: st.DataObject
) -> None:
    """Wherever these go."""
    convention = strategies.to_convention(chosen).replace(impossible=rule)
    how: dict[str, Any] = {
        "metrics": drawn_reports.RANKING, "k": 2, "threshold": chosen.threshold,
        "convention": convention,
    }  # fmt: skip
    try:
        report = rn.evaluate(rows, **how)
        users = _some(draw, report.users.tolist())
        alone = rn.evaluate([one for one in rows if one.uid in users], **how)
    except rn.InvalidInputError:
        reject()
    _agree(report.take(users), alone)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"ties": "item_asc", "impossible": "last"},
        {"ties": "worst", "impossible": "drop", "undefined": 0.0},
        {"recommend_from": 3.0, "unlabelled": "filter"},
        {"unlisted": "ignore", "missing_user": "skip", "mean_over": "relevant"},
        {"short_list": "drop", "gain": "linear", "tie_tolerance": 1.0},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_some_users_of_a_catalogue_are_what_their_test_alone_is(
    choices: dict[str, Any], seed: int
) -> None:
    """Where the places of the test's items are kept, and not the items."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg.surprise import evaluate_catalogue  # noqa: PLC0415 - an extra

    rng = np.random.default_rng(seed)
    pairs = rng.permutation(8 * 12)[:70]
    rows = pd.DataFrame({"user": pairs // 12, "item": pairs % 12})
    rows["rating"] = rng.integers(1, 6, len(rows)).astype(float)
    data = surprise.Dataset.load_from_df(rows[:35], surprise.Reader(rating_scale=(1, 5)))
    trainset = data.build_full_trainset()
    algo = surprise.KNNBasic(k=2, verbose=False).fit(trainset)
    test = [*rows[35:].itertuples(index=False, name=None), (99, 3, 4.0), (0, 98, 5.0)]
    how: dict[str, Any] = {
        "metrics": ["ndcg", "precision", "recall", "ap", "rr", "rprecision", "rbp", "judged"],
        "k": [2, 5],
        "threshold": 4,
        "convention": rn.Convention(**{"tie_tolerance": 1e-9, **choices}),
    }
    report = evaluate_catalogue(algo, trainset, test, **how)
    for users in ([99, 1], [0, 3], report.users[::2].tolist(), report.users.tolist()):
        own = [one for one in test if one[0] in users]
        alone = evaluate_catalogue(algo, trainset, own, **how)
        taken = report.take(users)
        _agree(taken, alone, text=False)
        assert taken.baselines.index.tolist() == ["chance"]
        pd.testing.assert_frame_equal(taken.baselines, alone.baselines.loc[["chance"]])


@pytest.mark.parametrize(
    ("users", "message"),
    [
        (["dan"], "no user 'dan' among the 3 of this report. The users run from 'ann' to 'cy'"),
        (["ann", "dan"], "no user 'dan'"),
        ([3], "no user 3"),
        ([["ann"]], "no user"),
        ([], "Name at least one user"),
        (np.array([]), "Name at least one user"),
        (["ann", "bob", "ann"], "given twice"),
        ("ann", "as a list of their ids, not 'ann'"),
        (b"ann", "as a list of their ids"),
        (3, "as a list of their ids, not 3"),
        (None, "as a list of their ids"),
    ],
)
def test_users_that_cannot_be_taken_are_refused(
    report: rn.Report, users: Any, message: str, tmp_path: Path
) -> None:
    """By a report that was measured, and by one from a file."""
    report.save(tmp_path / "r.json")
    for one in (report, rn.Report.load(tmp_path / "r.json")):
        with rejects(message):
            one.take(users)


def test_an_id_of_another_type_is_told_apart() -> None:
    """Text is no number; a number of NumPy is one."""
    report = rn.evaluate([(7, 1, 2.0, 1), (7, 2, 1.0, 3), (8, 1, 1.0, 2)])
    with rejects("no user '7' .*whose id is of type int, not str"):
        report.take(["7"])
    for users in ([7], (7,), {7}, np.array([7]), pd.Series([7]), iter([7]), {7: "x"}):
        assert report.take(users).users.tolist() == [7]
    assert report.take([8, 7]) == report
    assert report.take([8, 7]).users.tolist() == [7, 8]


def test_some_of_some_are_some(report: rn.Report) -> None:
    """And what was taken can be saved, loaded and pickled."""
    taken = report.take(["cy", "ann"])
    _agree(taken.take(["ann"]), report.take(["ann"]))
    for one in _copies(taken):
        _agree(one, taken)


@examples(0.25)
@given(data=drawn_reports.data_of, chosen=drawn_reports.chosen_of, draw=st.data())
def test_some_users_of_a_loaded_report_keep_what_a_file_knows(
    tmp_path_factory: pytest.TempPathFactory,
    data: Sample,
    chosen: Choices,
    draw: st.DataObject,
) -> None:
    """Scores, chance, adjusted, z; what takes a look at the lists is NaN."""
    names = drawn_reports.RANKING
    report = drawn_reports.evaluated(data, chosen, (2,), metrics=names)
    path = tmp_path_factory.mktemp("reports") / "r.json"
    report.save(path)
    users = _some(draw, report.users.tolist())
    mine, theirs = report.take(users), rn.Report.load(path).take(users)
    pd.testing.assert_frame_equal(mine.per_user, theirs.per_user, check_exact=True)
    pd.testing.assert_series_equal(mine.pooled, theirs.pooled, check_exact=True)
    pd.testing.assert_series_equal(mine.truth, theirs.truth, check_exact=True)
    assert mine.counts == theirs.counts
    unknown = theirs.audit[[*OF_LISTS]]
    assert unknown.isna().all(axis=None)
    known = [name for name in mine.audit if name not in OF_LISTS]
    pd.testing.assert_frame_equal(mine.audit[known], theirs.audit[known], check_exact=True)
    kept = [name for name in mine.summary if name not in OF_LISTS]
    pd.testing.assert_frame_equal(mine.summary[kept], theirs.summary[kept], check_exact=True)
    for name in names:
        if name in mine:
            pd.testing.assert_frame_equal(mine.per_user_audit(name), theirs.per_user_audit(name))
    assert mine.scores.same_as(theirs.scores)
    if not (callable(chosen.gain) or callable(chosen.discount)):
        assert mine == theirs  # of functions, all users tell what they give
    theirs.save(path)
    again = rn.Report.load(path)
    assert again == theirs
    assert str(again) == str(theirs)
    with rejects("read from a file"):
        theirs.explain(users[0])


SHORTCUTS: dict[str, Callable[..., float]] = {
    "dcg": rn.dcg_at_k,
    "ndcg": rn.ndcg_at_k,
    "precision": rn.precision_at_k,
    "recall": rn.recall_at_k,
    "ap": rn.average_precision_at_k,
    "rr": rn.reciprocal_rank,
}
LISTS: list[Any] = [
    [(3.0, 2.0), (3.0, 5.0), (1.0, 4.0), (2.5, 0.0)],
    [(2.0, 1.0), (2.0, 1.0)],
    [(0.5, 5.0)],
    [3, 5, 0, 4],
]
CONVENTIONS = [
    None,
    rn.Convention(),
    rn.Convention(gain="linear", discount="ln", ties="worst", ap_over="capped"),
    *rn.Convention.presets(),
]


@pytest.mark.parametrize("name", SHORTCUTS)
@pytest.mark.parametrize("choices", [{}, {"ties": "best", "undefined": 0.0, "short_list": "n"}])
@pytest.mark.parametrize("k", [3, None])
def test_a_shortcut_takes_what_evaluate_takes(
    name: str, choices: dict[str, Any], k: int | None
) -> None:
    """A preset's name, a convention, single choices on top; and refuses what evaluate refuses."""
    scored = 0
    for convention in CONVENTIONS:
        for rows in LISTS:
            metric = rn.metrics.METRICS[name](k)
            base = convention or rn.Convention()
            if isinstance(base, str):
                base = rn.Convention.preset(base, str(metric))
            if base.ideal == "max" and base.gain != "binary":
                continue
            pairs = rows if isinstance(rows[0], tuple) else [*zip((4, 3, 2, 1), rows, strict=True)]
            try:
                report = rn.evaluate(
                    {"ann": pairs}, metrics=metric, threshold=4, convention=base.replace(**choices)
                )
            except rn.InvalidInputError as error:
                with pytest.raises(type(error)):
                    SHORTCUTS[name](rows, k, threshold=4, convention=convention, **choices)
                continue
            limited = base.recommend_from is not None and "recommend_from" in metric.reads
            if limited and pairs is not rows:  # grades in order have no estimates to be limited
                with rejects("recommend_from"):
                    SHORTCUTS[name](rows, k, threshold=4, convention=convention, **choices)
                continue
            score = SHORTCUTS[name](rows, k, threshold=4, convention=convention, **choices)
            assert type(score) is float
            np.testing.assert_array_equal(score, report.per_user.iloc[0, 2])
            scored += 1
    assert scored > 60


@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_refuses_what_is_no_convention(name: str) -> None:
    """With the nearest name, as evaluate does."""
    shortcut = SHORTCUTS[name]
    with rejects("No preset is named 'sklear'. Did you mean 'sklearn'"):
        shortcut([3, 1], 2, threshold=2, convention="sklear")
    with rejects("no option 'gian'. Did you mean 'gain'"):
        shortcut([3, 1], 2, threshold=2, convention="sklearn", gian="linear")
    with rejects("gain must be one of"):
        shortcut([3, 1], 2, threshold=2, convention=rn.Convention(), gain="line")
    for thing in (3, {"gain": "linear"}, rn.Convention):
        with rejects("convention"):
            shortcut([3, 1], 2, threshold=2, convention=thing)
