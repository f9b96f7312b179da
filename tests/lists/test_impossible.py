"""Predictions that the model could not make: ranked, put last, or dropped; and always counted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies, textbook
from tests.errors import rejects
from tests.profiles import examples
from tests.textbook import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.textbook import Choices, Labels, Lists

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # of ties
RULES = ("rank", "last", "drop")
METRICS = ("ndcg", "precision", "recall", "ap", "rr", "hit", "f1")
CUTOFFS = st.sampled_from([None, 1, 2, 3, 7])
FLAG = {"was_impossible": True, "reason": "User and/or item is unknown."}
FAR_BELOW = -1e6


class Prediction(NamedTuple):
    """As Surprise predicts, without Surprise."""

    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any

    @property
    def flagged(self) -> bool:
        """Whether the model says that it could not predict."""
        return bool((self.details or {}).get("was_impossible"))


@st.composite
def predictions(draw: Callable[[Any], Any]) -> list[Prediction]:
    """Draw one to three users with ties, unlabelled items, and flags; the rows are mixed."""
    grade = st.one_of(st.none(), *[st.just(one) for one in strategies.GRADES])
    details = st.sampled_from(
        [{"was_impossible": False}, FLAG, FLAG, {}, None, {"actual_k": 3, "was_impossible": True}]
    )
    rows = [
        Prediction(
            user, item, draw(grade), draw(st.sampled_from(strategies.ESTIMATES)), draw(details)
        )
        for user in draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
        for item in draw(st.lists(st.integers(8, 13), min_size=1, max_size=5, unique=True))
    ]
    mixed: list[Prediction] = draw(st.permutations(rows))
    return mixed


def by_hand(rows: Sequence[Prediction], rule: str) -> tuple[Lists, Labels]:
    """Return what is left to rank of each user, and the labels outside: nothing but loops."""
    lists: Lists = {}
    outside: Labels = {}
    for one in rows:
        of_user, labels = lists.setdefault(one.uid, []), outside.setdefault(one.uid, [])
        if rule == "drop" and one.flagged:
            labels += [] if one.r_ui is None else [one.r_ui]
        else:
            last = rule == "last" and one.flagged
            of_user.append(Row(FAR_BELOW if last else one.est, one.r_ui, one.iid))
    return lists, outside


def usable(rows: Sequence[Prediction]) -> bool:
    """Tell predictions that `evaluate` accepts: some are labelled, and not all the same."""
    trues = [one.r_ui for one in rows]
    constant = len(set(trues)) == 1 and len({one.uid for one in rows}) > 1
    return any(true is not None for true in trues) and not constant


def agree(report: rn.Report, lists: Lists, outside: Labels, chosen: Choices) -> None:
    """Hold every number of a report against the textbook's."""
    for name in report.metrics:
        metric, _, k = name.partition("@")
        case = (metric, int(k) if k else None, lists, outside, chosen)
        expected = textbook.table(*case)
        assert report.per_user[name].to_dict() == pytest.approx(expected, nan_ok=True, abs=1e-12)
        assert report.mean[name] == pytest.approx(textbook.mean(*case), nan_ok=True, abs=1e-12)
        assert report.pooled[name] == pytest.approx(textbook.pooled(*case), nan_ok=True, abs=1e-12)


def asked(chosen: Choices, k: int | None) -> list[str]:
    """Return the metrics that have a value at this cutoff, under these choices."""
    inexact = chosen.ap_over == "hits" and chosen.ties in strategies.ANY_ORDER
    no_k = chosen.ap_over == "k" and k is None
    names = [name for name in METRICS if not (name == "ap" and (inexact or no_k))]
    return names if k is None else [f"{name}@{k}" for name in names]


@examples(1)
@given(
    rows=predictions(),
    rule=st.sampled_from(RULES),
    chosen=strategies.choices,
    k=CUTOFFS,
)
def test_each_rule_is_a_transformation_of_the_lists_before_ranking(
    rows: list[Prediction], rule: str, chosen: Choices, k: int | None
) -> None:
    """Last is below all others and tied; drop leaves the label, as one outside the list."""
    assume(usable(rows))
    convention = strategies.to_convention(chosen).replace(impossible=rule)
    names, threshold = asked(chosen, k), chosen.threshold
    report = rn.evaluate(rows, metrics=names, k=None, threshold=threshold, convention=convention)
    agree(report, *by_hand(rows, rule), chosen)
    assert report.counts["impossible"] == sum(one.flagged for one in rows)


@examples(0.6)
@given(rows=predictions(), rule=st.sampled_from(["rank", "drop"]))
def test_errors_of_ratings_are_over_what_is_ranked(rows: list[Prediction], rule: str) -> None:
    """RMSE and MAE leave out what is dropped, and nothing else."""
    assume(usable(rows))
    chosen = textbook.Choices()
    convention = rn.Convention(impossible=rule)
    report = rn.evaluate(rows, metrics=["rmse", "mae"], convention=convention)
    lists, _ = by_hand(rows, rule)
    left = {user: [row for row in one if row.true is not None] for user, one in lists.items()}
    agree(report, left, {}, replace(chosen, missing_user="zero"))


@examples(1)
@given(
    rows=predictions(),
    rule=st.sampled_from(RULES),
    chosen=strategies.choices,
    k=CUTOFFS,
    test=st.dictionaries(
        st.tuples(st.integers(0, 9), st.integers(8, 13)),
        st.sampled_from(strategies.GRADES),
        min_size=1,
        max_size=6,
    ),
)
def test_flags_survive_the_join_with_the_test_ratings(
    rows: list[Prediction],
    rule: str,
    chosen: Choices,
    k: int | None,
    test: dict[tuple[int, int], float],
) -> None:
    """The labels are those of the test; what the predictions say of themselves does not count."""
    labels = pd.DataFrame([(*pair, true) for pair, true in test.items()])
    labels.columns = pd.Index(["user", "item", "true"])
    joined = [one._replace(r_ui=test.get((one.uid, one.iid))) for one in rows]
    listed = {(one.uid, one.iid) for one in rows}
    lists, outside = by_hand(joined, rule)
    for (user, item), true in test.items():
        if (user, item) not in listed:
            outside.setdefault(user, []).append(true)
    chosen = replace(chosen, recommend_from=None)  # what is joined may be no ratings
    convention = strategies.to_convention(chosen).replace(impossible=rule)
    ranked = rn.RankedLists.from_labels(labels, rows)
    names, threshold = asked(chosen, k), chosen.threshold
    report = rn.evaluate(ranked, metrics=names, k=None, threshold=threshold, convention=convention)
    agree(report, lists, outside, chosen)
    assert report.counts["impossible"] == sum(one.flagged for one in rows)


def ann(*flagged: str) -> list[Prediction]:
    """Return three predictions, of which some items are flagged: the best is estimated least."""
    rows = [("a", 1, 5.0), ("b", 2, 4.0), ("c", 5, 3.0)]
    return [
        Prediction("ann", item, true, est, {"was_impossible": item in flagged})
        for item, true, est in rows
    ]


@pytest.mark.parametrize(
    ("rule", "precision", "recall", "rr"),
    [("rank", 0.0, 0.0, 1 / 3), ("last", 1.0, 1.0, 1.0), ("drop", 1.0, 1.0, 1.0)],
)
def test_the_rules_move_the_numbers(rule: str, precision: float, recall: float, rr: float) -> None:
    """Worked by hand: c is relevant, and a and b before it are guesses."""
    report = rn.evaluate(
        ann("a", "b"),
        metrics=["precision@1", "recall@1", "rr"],
        threshold=4,
        convention=rn.Convention(impossible=rule),
    )
    assert report.mean.tolist() == pytest.approx([precision, recall, rr])
    assert report.counts["impossible"] == 2


def test_a_dropped_label_still_counts_for_recall_and_the_ideal_unless_it_is_ignored() -> None:
    """Otherwise a model would gain by giving up on what it does not know."""
    rows = [*ann("c"), Prediction("ann", "d", 4, 2.0, {})]
    means = [
        rn.evaluate(
            rows,
            metrics=["recall@3", "ndcg@3"],
            threshold=4,
            convention=rn.Convention(impossible="drop", unlisted=unlisted, gain="linear"),
        ).mean.tolist()
        for unlisted in ("count", "ignore")
    ]
    dcg = 1 + 2 / math.log2(3) + 4 / 2
    ideals = 5 + 4 / math.log2(3) + 2 / 2, 4 + 2 / math.log2(3) + 1 / 2
    assert means[0] == pytest.approx([1 / 2, dcg / ideals[0]])
    assert means[1] == pytest.approx([1.0, dcg / ideals[1]])


def test_impossible_predictions_are_tied_among_themselves() -> None:
    """What they were estimated at says nothing any more: the first place is a draw."""
    report = rn.evaluate(
        ann("a", "b", "c"),
        metrics="precision@1",
        threshold=4,
        convention=rn.Convention(impossible="last"),
    )
    assert report.mean["precision@1"] == pytest.approx(1 / 3)
    assert report.counts["tied"] == 1


@pytest.mark.parametrize("step", [0.0, 1e-9, 1.0, 100.0, "float32"])
@pytest.mark.parametrize("scale", [1.0, -1.0, 1e6, -1e6, 0.0])
def test_last_is_last_whatever_the_scale_and_the_tolerance(step: float | str, scale: float) -> None:
    """No rounding lifts an impossible prediction to the one above it."""
    rows = [("ann", "a", 5.0, scale, FLAG), ("ann", "b", 1.0, scale, {}), ("ann", "c", 1.0, 0, {})]
    convention = rn.Convention(impossible="last", tie_tolerance=step)
    report = rn.evaluate(rows, metrics="rr", threshold=4, convention=convention)
    assert report.mean["rr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("missing", "value"), [("zero", 1 / 2), ("skip", 1.0)], ids=["zero", "skip"]
)
def test_a_user_without_a_possible_prediction_is_a_missing_user(missing: str, value: float) -> None:
    """Dropped altogether: an empty list, or no user, as for any labelled user without a list."""
    rows = [*ann("a", "b"), *[one._replace(uid="bob", details=FLAG) for one in ann()]]
    convention = rn.Convention(impossible="drop", missing_user=missing)
    report = rn.evaluate(rows, metrics="recall@1", threshold=4, convention=convention)
    assert report.mean["recall@1"] == pytest.approx(value)
    assert report.counts["missing"] == 1
    assert report.counts["impossible"] == 5


def test_a_missing_user_can_be_an_error() -> None:
    """It is named."""
    rows = [*ann(), *[one._replace(uid="bob", details=FLAG) for one in ann()]]
    with rejects("1 labelled users have no list, the first 'bob'"):
        rn.evaluate(rows, convention=rn.Convention(impossible="drop", missing_user="raise"))
    assert len(rn.evaluate(rows, convention=rn.Convention(missing_user="raise")).per_user) == 2


@pytest.mark.parametrize("metric", ["rmse", "mae"])
def test_errors_of_moved_estimates_are_refused(metric: str) -> None:
    """An estimate far below all others is no rating; dropped, the rest can be compared."""
    last = rn.Convention(impossible="last")
    with rejects("impossible='last' moves estimates"):
        rn.evaluate(ann("a"), metrics=["ndcg@2", metric], convention=last)
    assert rn.evaluate(ann(), metrics=metric, convention=last).mean[metric] > 0


def test_errors_are_of_what_is_not_dropped() -> None:
    """By hand: only b, 2 too high, and c, 2 too low, are left."""
    convention = rn.Convention(impossible="drop")
    report = rn.evaluate(ann("a"), metrics=["rmse", "mae"], convention=convention)
    assert report.mean.tolist() == [2.0, 2.0]
    assert rn.evaluate(ann("a"), metrics="mae").mean["mae"] == pytest.approx(8 / 3)


@pytest.mark.parametrize("details", [None, {}, {"actual_k": 4}, {"was_impossible": False}])
def test_details_that_do_not_say_are_of_a_prediction_that_was_possible(details: Any) -> None:
    """None, empty, or about something else."""
    rows = [one._replace(details=details) for one in ann()]
    reports = [
        rn.evaluate(rows, convention=rn.Convention(impossible=rule), threshold=4) for rule in RULES
    ]
    assert [report.counts["impossible"] for report in reports] == [0, 0, 0]
    for report in reports[1:]:
        pd.testing.assert_frame_equal(report.per_user, reports[0].per_user)


def test_every_kind_of_true_flag_counts() -> None:
    """Also numpy's, and 1, as they come out of a file."""
    flags = [True, np.True_, 1]
    rows = [
        one._replace(details={"was_impossible": flag})
        for one, flag in zip(ann(), flags, strict=True)
    ]
    assert rn.evaluate(rows).counts["impossible"] == 3


@pytest.mark.parametrize("wrong", ["impossible", 4, 0.5, ["was_impossible"], True])
@pytest.mark.parametrize("entry", ["evaluate", "from_surprise", "labels", "results"])
def test_details_that_are_no_mapping_are_refused_and_the_row_named(wrong: Any, entry: str) -> None:
    """Also in a later row, where the form has been settled by the first."""
    rows = [*ann("a"), Prediction("ann", "d", 4, 2.0, wrong)]
    acts: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: rn.evaluate(rows),
        "from_surprise": lambda: rn.RankedLists.from_surprise(rows),
        "labels": lambda: rn.RankedLists.from_labels(rows, ann()),
        "results": lambda: rn.RankedLists.from_labels(ann(), rows),
    }
    with rejects("3"):
        acts[entry]()


@pytest.mark.parametrize("rule", ["first", "last", "max", "mean"])
@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True), (False, False)])
def test_merged_rows_are_impossible_if_any_of_them_that_counts_is(
    rule: str, flags: tuple[bool, bool]
) -> None:
    """The row that is taken decides; a mean, and the higher of two, are of both."""
    twice = [
        Prediction("ann", "a", 5, est, {"was_impossible": flag})
        for est, flag in zip((4.0, 2.0), flags, strict=True)
    ]
    convention = rn.Convention(impossible="drop", duplicates=rule)
    report = rn.evaluate([*ann()[1:], *twice], convention=convention)
    expected = {"first": flags[0], "last": flags[1]}.get(rule, any(flags))
    assert report.counts["impossible"] == expected
    assert report.counts["duplicates"] == 1
    assert report.per_user["n_items"].tolist() == [2 if expected else 3]


def test_duplicates_are_refused_whether_flagged_or_not() -> None:
    """A flag is no reason to have a prediction twice."""
    with rejects("a"):
        rn.evaluate([*ann("a"), *ann("b")], convention=rn.Convention(impossible="drop"))


def test_labels_stay_the_test_sets_where_the_results_are_flagged() -> None:
    """One list of predictions and one test, joined: dropped is out of reach, but wanted."""
    test = pd.DataFrame({"user": ["ann", "ann"], "item": ["c", "z"], "true": [5, 4]})
    lists = rn.RankedLists.from_labels(test, ann("a", "c"))
    assert lists.n_impossible == 2
    reports = {
        rule: rn.evaluate(
            lists, metrics="recall@2", threshold=4, convention=rn.Convention(impossible=rule)
        )
        for rule in RULES
    }
    assert {rule: report.mean.iloc[0] for rule, report in reports.items()} == {
        "rank": 0.0,
        "last": 0.25,  # c shares the last two places with a, and there are two for the taking
        "drop": 0.0,
    }
    assert [report.counts["impossible"] for report in reports.values()] == [2, 2, 2]
    assert [report.per_user["n_items"].item() for report in reports.values()] == [3, 3, 1]


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_stands_in_the_signature(rule: str) -> None:
    """And comes back from it."""
    convention = rn.Convention(impossible=rule)
    assert f"|impossible:{rule}|" in convention.signature
    assert rn.Convention.from_signature(convention.signature) == convention
    report = rn.evaluate(ann("a"), convention=convention)
    (signature,) = report.signatures.values()
    assert f"|impossible:{rule}|" in signature
    assert rn.Convention.from_signature(signature) == convention


@pytest.mark.parametrize("value", ["lst", None, True, 0, "Drop", ["drop"]])
def test_another_rule_is_refused(value: Any) -> None:
    """With those that there are."""
    with rejects("impossible must be one of 'rank', 'last', 'drop', not "):
        rn.Convention(impossible=value)


def test_the_rule_is_explained_where_it_is_not_surprises_own() -> None:
    """In words, beside the formulas."""
    texts = {rule: rn.Convention(impossible=rule).explain() for rule in RULES}
    assert len(set(texts.values())) == 3
    assert len(texts["rank"]) < min(len(texts["last"]), len(texts["drop"]))


def test_the_lists_that_were_given_stay_as_they_are() -> None:
    """A rule makes lists of its own."""
    lists = rn.RankedLists.from_surprise(ann("a"))
    before = lists.estimated.tolist(), lists.n_items.tolist(), lists.n_impossible
    for rule in ("last", "drop", "rank"):
        rn.evaluate(lists, convention=rn.Convention(impossible=rule))
    assert (lists.estimated.tolist(), lists.n_items.tolist(), lists.n_impossible) == before


def test_an_explanation_of_a_user_agrees_with_the_score() -> None:
    """Under every rule, and without the items that are not listed."""
    for rule in RULES:
        report = rn.evaluate(ann("a"), metrics="ndcg@2", convention=rn.Convention(impossible=rule))
        assert str(report.explain("ann", 2))


def test_a_hundred_thousand_predictions_are_read_with_their_flags() -> None:
    """Large enough that a slow path would be felt; the flags are where they were."""
    rows = [
        Prediction(place // 50, place % 50, float(place % 5), place % 7 / 2, FLAG if at else {})
        for place in range(100_000)
        for at in [place % 10 == 3]
    ]
    lists = rn.RankedLists.from_surprise(rows)
    assert lists.n_impossible == 10_000
    assert lists.impossible is not None
    assert np.flatnonzero(lists.impossible).tolist() == list(range(3, 100_000, 10))


def test_the_flags_of_surprise_itself_are_read() -> None:
    """An item-based k-NN that knows too few neighbours says so, and is counted."""
    surprise = pytest.importorskip("surprise")
    frame = pd.DataFrame(
        [(user, item, (user * item) % 5 + 1) for user in range(8) for item in range(1 + user)]
    )
    data = surprise.Dataset.load_from_df(frame, surprise.Reader())
    model = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
    found = model.test([(0, 0, 3), (0, 5, 4), (0, 99, 1), (88, 1, 2), (3, 2, 5), (3, 98, 4)])
    assert [one.details["was_impossible"] for one in found].count(True) == 3
    report = rn.evaluate(found, metrics="precision@3", threshold=3)
    assert report.counts["impossible"] == 3
    lists, outside = by_hand([Prediction(*one) for one in found], "drop")
    dropped = rn.evaluate(
        found, metrics="precision@3", threshold=3, convention=rn.Convention(impossible="drop")
    )
    agree(dropped, lists, outside, textbook.Choices(threshold=3))
