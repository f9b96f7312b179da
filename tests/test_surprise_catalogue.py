"""The whole catalogue: equal to ranking every candidate the long way, at any convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.drawn import choices, convention_of, fitting

surprise = pytest.importorskip("surprise")

from recsys_ndcg.surprise import evaluate_catalogue  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["ndcg@2", "ndcg", "dcg@3", "precision@2", "recall@2", "f1@3", "ap@2", "ap", "rr", "rr@2"]
METRICS += ["hit@2", "rprecision", "rbp@3", "judged@2", "cg@2"]


class Tabled(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates what a table says, and cannot where it says nothing."""

    def __init__(self, table: dict[tuple[int, int], float | None]) -> None:
        super().__init__()
        self.table = table

    def estimate(self, user: Any, item: Any) -> float:
        """Look up."""
        if not (self.trainset.knows_user(user) and self.trainset.knows_item(item)):
            msg = "unknown"
            raise surprise.PredictionImpossible(msg)
        found = self.table[self.trainset.to_raw_uid(user), self.trainset.to_raw_iid(item)]
        if found is None:
            msg = "not in the table"
            raise surprise.PredictionImpossible(msg)
        return found


@st.composite
def experiments(draw: Callable[[Any], Any]) -> tuple[Any, Any, list[tuple[int, int, float]]]:
    """Draw a few users and items: training ratings, a table of estimates with ties, a test."""
    users, items = range(draw(st.integers(1, 4))), range(8, 8 + draw(st.integers(2, 6)))
    pairs = [(user, item) for user in users for item in items]
    rated = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8, unique=True))
    frame = pd.DataFrame([(*pair, 3.0) for pair in rated])
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0, 5)))
    trainset = data.build_full_trainset()
    grades = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
    estimates = st.sampled_from([None, 0.1, 0.3, 2.0, 2.0000000001, 4.0, 7.0])
    table = {pair: draw(estimates) for pair in pairs}
    test = draw(st.lists(st.sampled_from([*pairs, (99, 8), (0, 98)]), min_size=1, unique=True))
    return Tabled(table).fit(trainset), trainset, [(*pair, draw(grades)) for pair in test]


def ranked_the_long_way(
    algo: Any, trainset: Any, test: list[tuple[int, int, float]], **options: Any
) -> rn.RankedLists:
    """Predict every candidate of every user of the test, and join the test to them."""
    clip, exclude = options.get("clip", False), options.get("exclude", "train")
    rows = []
    for user in dict.fromkeys(one for one, _, _ in test):
        seen: set[int] = set()
        if exclude and user in {trainset.to_raw_uid(inner) for inner in trainset.all_users()}:
            seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
        items = [trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen]
        rows += [algo.predict(user, item, clip=clip) for item in items]
    assume(rows)
    labels = pd.DataFrame(test, columns=["user", "item", "true"])
    return rn.RankedLists.from_labels(labels, rows)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@settings(max_examples=150, deadline=None)
@given(experiments(), choices, st.sampled_from(["rank", "last", "drop"]), st.booleans())
def test_the_report_is_that_of_all_candidates_ranked(
    experiment: tuple[Any, Any, list[tuple[int, int, float]]],
    chosen: Any,
    impossible: str,
    clip: bool,  # noqa: FBT001
) -> None:
    """Every metric, every convention: per user, pooled, and what stands beside them."""
    algo, trainset, test = experiment
    convention = convention_of(fitting(chosen)).replace(impossible=impossible)
    if convention.tie_tolerance == 0:
        convention = convention.replace(tie_tolerance=1e-9)
    names = METRICS
    if convention.ties == "expected" and convention.ap_over == "hits":
        names = [name for name in METRICS if not name.startswith("ap")]
    how = {"metrics": names, "threshold": chosen.threshold, "convention": convention}
    lists = ranked_the_long_way(algo, trainset, test, clip=clip)
    # the catalogue refuses an anti-testset: every candidate labelled, all alike
    assume(lists.n_unlabelled or len({grade for _, _, grade in test}) > 1)
    try:
        long = rn.evaluate(lists, **how)
    except rn.InvalidInputError:
        with pytest.raises(rn.InvalidInputError):
            evaluate_catalogue(algo, trainset, test, clip=clip, **how)
        return
    report = evaluate_catalogue(algo, trainset, test, clip=clip, **how)
    pd.testing.assert_frame_equal(report.per_user, long.per_user, rtol=1e-12, atol=1e-12)
    pd.testing.assert_series_equal(report.pooled, long.pooled, rtol=1e-12, atol=1e-12)
    # what is dropped before ranking is no row of the catalogue, and no item is taken for relevant
    beside = ["unlabelled_top"] + (["unlabelled"] if impossible == "drop" else [])
    pd.testing.assert_frame_equal(
        report.audit.drop(columns=beside), long.audit.drop(columns=beside), rtol=1e-12, atol=1e-12
    )
    counts = {**long.counts}
    if impossible == "drop":
        counts |= {name: report.counts[name] for name in ("ratings", "unlabelled", "unlisted")}
    assert report.counts == counts
