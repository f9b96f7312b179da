"""What libraries do with users and items that most inputs do not have, by hand."""

import math
import warnings
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.beyond.textbook import log_discount
from tests.errors import assert_rejected

#: Topics and makers of four items; d has no topics.
FEATURES = {"item": [*"abcd"], "maker": [*"xyyx"], "topics": [{"s"}, {"t"}, {"s"}, set()]}
TRAIN = [("u", "c"), ("v", "b"), ("w", "a"), ("w", "b")]
GRADED = {"u": {"a": 5.0}, "v": {"a": 1.0}}
BOTH = log_discount(1) + log_discount(2)


def measure(
    library: str, lists: dict[str, str], labels: dict[str, dict[str, float]], **options: Any
) -> dict[str, float]:
    """Return the mean of each metric as a library computes it; estimates are 0.9, 0.8 and so on."""
    rows = [(u, i, 0.9 - at / 10) for u, items in lists.items() for at, i in enumerate(items)]
    true = [(u, i, grade) for u, own in labels.items() for i, grade in own.items()]
    data = {
        "labels": pd.DataFrame(true, columns=["user", "item", "true"]),
        "results": pd.DataFrame(rows, columns=["user", "item", "estimated"]),
    }
    known = {"train": TRAIN, "catalogue": [*"abcd"], "features": FEATURES, "threshold": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        report = rn.evaluate(data, convention=library, **{**known, **options})
    return {str(name): mean for name, mean in report.mean.items()}


def test_elliot_measures_lists_of_users_with_relevant_items() -> None:
    """Those who have only labels below the threshold are left out, with their longer list."""
    wanted = {
        "efd@2": math.log2(4) / BOTH,
        "epc@2": (1 - 1 / 3) / BOTH,
        "n_retrieved@3": 2,
        "score@2": 0.85,
        "item_gap(maker,of=score)@2": 0.9,
        "subtopic_recall(topics)@2": 1 / 2,
    }
    found = measure("elliot", {"u": "ab", "v": "abc"}, GRADED, metrics=[*wanted], threshold=3)
    assert found == pytest.approx(wanted)


def test_elliot_counts_gains_above_the_threshold() -> None:
    """The item gap is that of 2^(5 - 3 + 1) - 1 and 0."""
    found = measure("elliot", {"u": "ab"}, GRADED, metrics="item_gap(maker)@2", threshold=3)
    assert [*found.values()] == [7]


def test_elliot_takes_the_preference_in_lists_of_labelled_users() -> None:
    """That of training is of all users: two of five rows of x, which is half the catalogue."""
    names = [f"bias_disparity(maker,item_group=x,which={one})@1" for one in ("BS", "BR")]
    train = [*TRAIN, ("x", "a")]
    found = measure("elliot", {"u": "b", "v": "a"}, {"u": {"b": 1}}, metrics=names, train=train)
    assert [*found.values()] == pytest.approx([2 / 5 / (2 / 4), 0])


def test_elliot_divides_by_the_topics_of_training_items() -> None:
    """The item b of the other topic is not in training."""
    train = [("u", "c"), ("v", "a")]
    metric = "subtopic_recall(topics)@1"
    found = measure("elliot", {"u": "a"}, {"u": {"a": 1}}, metrics=metric, train=train)
    assert found == {metric: 1}
    labels = {"u": {"a": 1.0}}
    assert_rejected(
        "needs train=", measure, "elliot", {"u": "a"}, labels, metrics=metric, train=None
    )


@pytest.mark.parametrize(("library", "wanted"), [("elliot", 1 / 4), ("warprec", 1 / 2)])
def test_relevant_items_without_topics_score_0(library: str, wanted: float) -> None:
    """In subtopic recall, beside a user who has the one topic of two; others are left out."""
    lists = {"u": "a", "v": "d", "w": "b"}
    labels = {"u": {"a": 1.0}, "v": {"d": 1.0}, "w": {"b": 0.0}}
    metric = "subtopic_recall(topics)@1"
    assert measure(library, lists, labels, metrics=metric) == {metric: wanted}


def test_warprec_takes_a_cold_item_for_one_of_a_single_user() -> None:
    """In EPC and EFD; the rarest item of training has two."""
    train = [("u", "a"), ("v", "a"), ("u", "b"), ("v", "b")]
    wanted = {"epc@1": 1 - 1 / 2, "efd@1": -math.log2(1 / 4)}
    found = measure("warprec", {"u": "c"}, {"u": {"c": 1}}, metrics=[*wanted], train=train)
    assert found == pytest.approx(wanted)


def test_warprec_leaves_out_users_without_relevant_items() -> None:
    """In EPC and EFD."""
    wanted = {"epc@1": 1 - 1 / 3, "efd@1": -math.log2(1 / 4)}
    labels = {"u": {"a": 1.0}, "v": {"a": 0.0}}
    found = measure("warprec", {"u": "a", "v": "a"}, labels, metrics=[*wanted])
    assert found == pytest.approx(wanted)


def test_warprec_cuts_equally_popular_items_by_id() -> None:
    """If its matrix has them in this order; these numbers are those of its own classes.

    Of b, c and d, which two users have each, the head takes two.
    """
    train = [(f"u{user}", "a") for user in range(9)]
    train += [(f"u{user}", item) for user, own in enumerate(["d", "dc", "cb", "b"]) for item in own]
    wanted = {"tail@2": 0.5, "popreo@2": 0.2, "poprsp@2": 0.2}
    found = measure(
        "warprec",
        {"u5": "be", "u6": "ce", "u7": "db"},
        {"u5": {"b": 1, "d": 1}, "u6": {"c": 1}, "u7": {"d": 1, "e": 1}},
        metrics=[*wanted],
        train=[*train, ("u4", "e")][::-1],
        catalogue=[*"abcde"],
    )
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("CoveredUsers", 0.8),
        ("CoveredUsers@3", 0.8),
        ("user_coverage", 0.8),
        ("SufficientReco@3", 0.5),
        ("user_coverage@3", 0.5),
    ],
)
def test_rectools_has_two_measures_of_users_with_lists(metric: str, wanted: float) -> None:
    """CoveredUsers of test users with any list, SufficientReco of lists that are long enough.

    RecTools 0.19.0 returns these numbers on this data.
    """
    lists = {"u": "abc", "v": "a", "w": "bcd", "x": "a"}
    labels = {user: {"d": 1.0} for user in "uvwxy"}
    assert [*measure("rectools", lists, labels, metrics=metric).values()] == [wanted]


@pytest.mark.parametrize(("groups", "n_users"), [(None, 3), ({"u": "g", "y": "h"}, 4)])
def test_only_training_and_groups_say_how_many_users_there_are(groups: Any, n_users: int) -> None:
    """In EPC of WarpRec, whose matrix has a row for each user; never another model's lists."""
    report = rn.evaluate(
        {"labels": {"u": {"a"}}, "results": {"u": ["a"]}},
        metrics="epc@1",
        train=TRAIN,
        base={"someone": ["a"], "else": ["b"]},
        groups=groups,
        convention="warprec",
    )
    assert report.mean.to_dict() == {"epc@1": pytest.approx(1 - 1 / n_users)}


def test_more_topics_than_in_training_count_in_elliot() -> None:
    """The mean over ties of 2 topics of 1 in training, and of none."""
    features = {"item": [*"abd"], "topics": [{"x"}, {"x"}, {"p", "q"}]}
    lists = pd.DataFrame({"user": "u", "item": [*"db"], "estimated": 1.0})
    report = rn.evaluate(
        {"labels": {"u": {"d"}}, "results": lists},
        metrics="subtopic_recall(topics,over=train)@1",
        features=features,
        train=[("u", "a")],
        threshold=1,
    )
    assert report.mean.iloc[0] == pytest.approx((2 + 0) / 2)
