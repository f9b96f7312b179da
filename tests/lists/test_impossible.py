"""Predictions that the model could not make: ranked, put last, or dropped; and always counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from tests import strategies, textbook
from tests.errors import assert_rejected
from tests.profiles import examples
from tests.textbook import Choices, Labels, Lists, Row

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # of ties
RULES = ("rank", "last", "drop")
METRICS = ("ndcg", "precision", "recall", "ap", "rr", "hit", "f1")
CUTOFFS = st.sampled_from([None, 1, 2, 3, 7])
FLAG = {"was_impossible": True, "reason": "User and/or item is unknown."}


class Prediction(NamedTuple):
    """As Surprise predicts, without Surprise."""

    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any

    @property
    def flagged(self) -> bool:
        """Whether the model could not predict."""
        return bool((self.details or {}).get("was_impossible"))


@st.composite
def predictions(draw: Callable[[Any], Any]) -> list[Prediction]:
    """Draw one to three users with ties, unlabelled items, and flags; the rows are mixed."""
    grade = st.none() | st.sampled_from(strategies.GRADES)
    flags = [{"was_impossible": one} for one in (False, np.True_, 1)]
    details = st.sampled_from([*flags, FLAG, FLAG, FLAG | {"actual_k": 3}, {}, None])
    estimate = st.sampled_from(strategies.ESTIMATES)
    rows = [
        Prediction(user, item, draw(grade), draw(estimate), draw(details))
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
            of_user.append(Row(-1e6 if last else one.est, one.r_ui, one.iid))
    return lists, outside


def agree(report: rn.Report, lists: Lists, outside: Labels, chosen: Choices) -> None:
    """Compare every number of a report with the textbook's."""
    close = partial(pytest.approx, nan_ok=True, abs=1e-12)
    for name in report.metrics:
        metric, _, k = name.partition("@")
        case = (metric, int(k) if k else None, lists, outside, chosen)
        assert report.per_user[name].to_dict() == close(textbook.table(*case))
        assert report.mean[name] == close(textbook.mean(*case))
        assert report.pooled[name] == close(textbook.pooled(*case))


def metrics_with_value(chosen: Choices, k: int | None) -> list[str]:
    """Return the metrics that have a value at this cutoff, under these choices."""
    inexact = chosen.ap_over == "hits" and chosen.ties in strategies.ANY_ORDER
    has_ap = not (inexact or (chosen.ap_over == "k" and k is None))
    names = [name for name in METRICS if name != "ap" or has_ap]
    return names if k is None else [f"{name}@{k}" for name in names]


PAIRS, GRADES = st.tuples(st.integers(0, 9), st.integers(8, 13)), st.sampled_from(strategies.GRADES)
LABELS = st.none() | st.dictionaries(PAIRS, GRADES, min_size=1, max_size=6)


@examples(2)
@given(predictions(), st.sampled_from(RULES), strategies.choices, CUTOFFS, LABELS)
def test_each_rule_changes_the_lists_before_they_are_ranked(
    rows: list[Prediction], rule: str, chosen: Choices, k: int | None, test: Any
) -> None:
    """Last is below all others and tied; drop leaves the label, as one outside the list.

    If test ratings are joined, the labels are theirs instead of the predictions' own.
    """
    convention = strategies.to_convention(chosen).replace(impossible=rule)
    if test is None:
        trues = {one.r_ui for one in rows}  # `evaluate` needs a label, and two for two users
        assume(trues != {None} and (len(trues) > 1 or len({one.uid for one in rows}) == 1))
        ranked, (lists, outside) = to_lists(rows), by_hand(rows, rule)
    else:
        chosen = replace(chosen, recommend_from=None)  # what is joined may be no ratings
        convention = convention.replace(recommend_from=None)
        labels = pd.DataFrame([(*pair, true) for pair, true in test.items()])
        labels = labels.set_axis(["user", "item", "true"], axis=1)
        ranked = rn.RankedLists.from_labels(labels, rows)._data
        joined = [one._replace(r_ui=test.get((one.uid, one.iid))) for one in rows]
        lists, outside = by_hand(joined, rule)
        for user, item in test.keys() - {(one.uid, one.iid) for one in rows}:
            outside.setdefault(user, []).append(test[user, item])
    names, threshold = metrics_with_value(chosen, k), chosen.threshold
    report = rn.evaluate(ranked, metrics=names, k=None, threshold=threshold, convention=convention)
    agree(report, lists, outside, chosen)
    assert report.counts["impossible"] == sum(one.flagged for one in rows)


def ann(*flagged: str) -> list[Prediction]:
    """Return three predictions, of which some items are flagged: the best is estimated least."""
    return [
        Prediction("ann", item, true, estimated, {"was_impossible": item in flagged})
        for item, true, estimated in (("a", 1, 5.0), ("b", 2, 4.0), ("c", 5, 3.0))
    ]


@pytest.mark.parametrize("step", [0.0, 1e-9, 100.0, "float32"])
@pytest.mark.parametrize("scale", [1.0, -1e6, 0.0])
def test_last_is_last_whatever_the_scale_and_the_tolerance(step: Any, scale: float) -> None:
    """No rounding lifts an impossible prediction to the one above it."""
    rows = [("ann", "a", 5.0, scale, FLAG), ("ann", "b", 1.0, scale, {}), ("ann", "c", 1.0, 0, {})]
    convention = rn.Convention(impossible="last", tie_tolerance=step)
    report = rn.evaluate(rows, metrics="rr", threshold=4, convention=convention)
    assert report.mean["rr"] == pytest.approx(1 / 3)


def test_a_user_without_a_possible_prediction_is_a_missing_user() -> None:
    """Counted, or an error that names the user, like any labelled user without a list."""
    rows = [*ann("a", "b"), *[one._replace(uid="bob", details=FLAG) for one in ann()]]
    drop = rn.Convention(impossible="drop")
    assert rn.evaluate(rows, convention=drop).counts["missing"] == 1
    strict = drop.replace(missing_user="raise")
    match = "1 labelled users have no list, the first 'bob'"
    assert_rejected(match, rn.evaluate, rows, convention=strict)


def test_an_item_without_a_label_is_named_unless_it_is_dropped() -> None:
    """Though its prediction is impossible."""
    rows = [one._replace(r_ui=None if one.iid == "a" else one.r_ui) for one in ann("a")]
    strict = rn.Convention(unlabelled="raise")
    match = "^1 items have no true value, the first user 'ann' item 'a'. Label them"
    assert_rejected(match, rn.evaluate, rows, convention=strict)
    assert rn.evaluate(rows, convention=strict.replace(impossible="drop")).mean.notna().all()


def test_rating_errors_are_over_the_predictions_that_are_not_dropped() -> None:
    """An estimate far below all others is no rating: `last` is rejected if there are any."""
    last, drop = rn.Convention(impossible="last"), rn.Convention(impossible="drop")
    for metric in ("rmse", "mae"):
        how: Any = {"metrics": ["ndcg@2", metric], "convention": last}
        assert_rejected("impossible='last' lowers estimates", rn.evaluate, ann("a"), **how)
        assert rn.evaluate(ann(), **how).mean[metric] > 0
    report = rn.evaluate(ann("a"), metrics=["rmse", "mae"], convention=drop)
    assert report.mean.tolist() == [2.0, 2.0]  # b is 2 too high, c is 2 too low
    assert rn.evaluate(ann("a"), metrics="mae").mean["mae"] == pytest.approx(8 / 3)


@pytest.mark.parametrize("rule", ["first", "last", "max", "mean"])
@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True), (False, False)])
def test_a_merged_row_is_impossible_if_the_rows_that_count_are(rule: Any, flags: Any) -> None:
    """The row that is taken decides; a mean, and the higher of two, are of both."""
    details = [{"was_impossible": flag} for flag in flags]
    twice = [Prediction("ann", "a", 5, 4.0 - 2 * at, one) for at, one in enumerate(details)]
    convention = rn.Convention(impossible="drop", duplicates=rule)
    report = rn.evaluate([*ann()[1:], *twice], convention=convention)
    expected = {"first": flags[0], "last": flags[1]}.get(rule, any(flags))
    assert report.counts["impossible"] == expected
    assert report.counts["duplicates"] == 1
    assert report.per_user["n_items"].tolist() == [2 if expected else 3]


def test_the_lists_that_were_given_stay_as_they_are() -> None:
    """A rule makes lists of its own."""
    lists = rn.RankedLists.from_surprise(ann("a"))
    n_impossible = lists._data.pool.count_impossible(lists._data).sum()
    before = lists.estimated.tolist(), lists.n_items.tolist(), n_impossible
    for rule in ("last", "drop", "rank"):
        report = rn.evaluate(lists, convention=rn.Convention(impossible=rule))
        assert report.explain("ann")["ndcg"].tolist()[-1] == pytest.approx(report.mean.iloc[0])
    assert (
        lists.estimated.tolist(),
        lists.n_items.tolist(),
        lists._data.pool.count_impossible(lists._data).sum(),
    ) == before


def test_surprises_own_flags_are_read() -> None:
    """Of a k-NN that knows neither user nor item."""
    surprise = pytest.importorskip("surprise")
    rows = [(user, item, (user * item) % 5 + 1) for user in range(8) for item in range(1 + user)]
    data = surprise.Dataset.load_from_df(pd.DataFrame(rows), surprise.Reader())
    model = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
    found = model.test([(0, 0, 3), (0, 5, 4), (0, 99, 1), (88, 1, 2), (3, 2, 5), (3, 98, 4)])
    assert [one.details["was_impossible"] for one in found].count(True) == 3
    dropped = rn.evaluate(found, convention=rn.Convention(impossible="drop"))
    assert dropped.counts["impossible"] == 3
    assert dropped.per_user["n_items"].to_dict() == {0: 2, 3: 1, 88: 0}
