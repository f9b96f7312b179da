"""Labels and results in any form are joined on user and item; repeated rows follow their rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
KNOWN = [("ann", "x", 4.0), ("ann", "y", 2.0), ("bob", "x", 5.0), ("cy", "y", 3.0)]
FOUND = [("ann", "x", 1), ("dee", "y", 1), ("ann", "z", 2), ("bob", "y", 1), ("bob", "x", 2)]
LABELS = pd.DataFrame(KNOWN, columns=["user", "item", "true"])
RESULTS = pd.DataFrame(FOUND, columns=["user", "item", "rank"])
SIZES = {"ann": 5, "bob": 7, "cy": 3, "dee": 4}


def evaluated(lists: rn.RankedLists, **options: Any) -> rn.Report:
    """Evaluate at 2."""
    return rn.evaluate(lists, k=2, threshold=3, **options)


def nested(frame: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """Return {user: {item: number}}."""
    by_user = frame.groupby("user")
    return {str(user): dict(own[["item", column]].to_numpy(object)) for user, own in by_user}


def test_ranks_scores_files_and_trec_give_the_same_report(tmp_path: Path) -> None:
    """A rank is the better the lower, a score the better the higher."""
    expected = evaluated(rn.RankedLists.from_labels(LABELS, RESULTS))
    scored = RESULTS.assign(estimated=10 - 2.5 * RESULTS["rank"])
    LABELS.to_csv(tmp_path / "labels.csv", index=False)
    RESULTS.to_parquet(tmp_path / "results.parquet")
    qrels = [f"{u} 0 {i} {t}\n" for u, i, t in LABELS.itertuples(index=False)]
    run = [f"{u} Q0 {i} 0 {-r} tag\n\n" for u, i, r in RESULTS.itertuples(index=False)]
    (tmp_path / "q.txt").write_text("\ufeff" + "".join(qrels), encoding="utf-8")
    (tmp_path / "r.txt").write_text("".join(run))
    rows = [(user, item, 0.0, true) for user, item, true in LABELS.itertuples(index=False)]
    for lists in (
        rn.RankedLists.from_labels(LABELS, scored.drop(columns="rank")),
        rn.RankedLists.from_labels(rows, RESULTS),
        rn.RankedLists.from_labels(tmp_path / "labels.csv", str(tmp_path / "results.parquet")),
        rn.RankedLists.from_trec(nested(LABELS, "true"), nested(scored, "estimated")),
        rn.RankedLists.from_trec(tmp_path / "q.txt", tmp_path / "r.txt"),
        rn.RankedLists.from_trec(tmp_path / "q.txt", nested(scored, "estimated")),
    ):
        assert evaluated(lists) == expected


@pytest.mark.parametrize(("low", "high"), [(2**60 + 1, 2**60 + 2), (1, 2**63 + 1)])
def test_long_ids_in_columns_of_two_widths_are_not_rounded(low: int, high: int) -> None:
    """Signed and unsigned 64-bit columns joined become floats, which makes two users one."""
    labels = {"user": np.array([low, high], dtype=np.uint64), "item": [1, 1], "true": [1, 0]}
    results = {"user": np.array([low], dtype=np.int64), "item": [1], "rank": [1]}
    lists = rn.RankedLists.from_labels(labels, results)
    assert lists.users.tolist() == [low, high]
    assert lists._data.missing.tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float64", "Int64", "category"])
def test_the_same_numbers_in_two_widths_match(dtype: str) -> None:
    """1 and 1.0 are the same user, as they are in Python."""
    ids = {"user": {"ann": 1, "bob": 2, "cy": 3, "dee": 4}, "item": {"x": 7, "y": 8, "z": 9}}
    labels, results = (
        table.assign(**{name: table[name].map(ids[name]) for name in ids})
        for table in (LABELS, RESULTS)
    )
    expected = evaluated(rn.RankedLists.from_labels(labels, results))
    other = evaluated(rn.RankedLists.from_labels(labels.astype({"user": dtype}), results))
    assert expected.mean.to_dict() == other.mean.to_dict()


@pytest.mark.parametrize(("rule", "true"), [("first", 5), ("last", 1), ("max", 5), ("mean", 3)])
def test_repeated_labels_and_results_follow_their_rule(rule: str, true: float) -> None:
    """Each table by itself; of two ranks the lower is the maximum."""
    labels = {"user": [1, 1, 1], "item": [7, 8, 7], "true": [5, 2, 1]}
    results = {"user": [1, 1, 1], "item": [8, 7, 8], "rank": [3, 2, 1]}
    lists: Any = rn.RankedLists.from_labels(labels, results, duplicates=rule)
    found = dict(zip(lists.items.tolist(), lists.true.tolist(), strict=True))
    assert found == {7: true, 8: 2}
    ranks = dict(zip(lists.items.tolist(), (-lists.estimated).tolist(), strict=True))
    assert ranks == {7: 2, 8: {"first": 3, "last": 1, "max": 1, "mean": 2}[rule]}
    assert lists._data.repeats.sum() == 2


def test_a_negative_judgement_is_no_label() -> None:
    """As in trec_eval."""
    lists = rn.RankedLists.from_trec({"t": {"a": -1, "b": 2}}, {"t": {"a": 2.0, "b": 1.0}})
    assert np.isnan(lists.true).tolist() == [True, False]


@pytest.mark.parametrize("column", ["true", "user"])
def test_labels_of_unequal_columns_are_rejected(column: str) -> None:
    """Joined in part they would score as if some labels did not exist."""
    labels: dict[str, list[float]] = {"user": [1, 1, 2], "item": [1, 2, 1], "true": [5, 4, 3]}
    results = {"user": [1, 2], "item": [1, 1], "estimated": [2.0, 1.0]}
    with rejects("columns of the labels have different lengths"):
        rn.RankedLists.from_labels(labels | {column: labels[column][:-1]}, results)
    with rejects("columns of the results have different lengths"):
        rn.RankedLists.from_labels(labels, results | {"estimated": [1.0]})


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("table", ["labels", "results"])
def test_a_missing_id_is_reported_with_its_table(table: str, column: str) -> None:
    """And its row there, before a message about ids that the tables do not share."""
    whole: dict[str, Any] = {"user": ["a", "b"], "item": ["x", "y"]}
    tables: dict[str, Any] = {"labels": whole, "results": whole | {"rank": [1, 1]}}
    tables[table] = tables[table] | {column: [None, None]}
    with rejects(f"{column} of the {table}: .* in row 0, 1 "):
        rn.RankedLists.from_labels(**tables)
    with rejects(f"{column}: a missing id in row 0"):
        rn.jaccard_at_k(tables[table] | {"rank": [1, 1]}, tables["results"], 1)


def test_an_overlap_does_not_depend_on_grades() -> None:
    """Ratings from -10 to 10 have no gain, but lists in common all the same."""
    rows = [("a", "x", 2.0, -10.0), ("a", "y", 1.0, 2000.0)]
    assert rn.jaccard_at_k(rn.RankedLists.from_tuples(rows), rows, 1).to_dict() == {"a": 1.0}
    assert rn.rbo(rn.RankedLists.from_tuples(rows), rows).to_dict() == {"a": 1.0}


@pytest.mark.parametrize(
    ("catalogue", "same"),
    [(9, {"n_items": 9}), (SIZES, {"n_items": SIZES}), ([*"xyzq"], {"items": [*"xyzq"]}),
     (pd.DataFrame({"movieId": [*"xyzq"]}), {"items": [*"xyzq"]})],
)  # fmt: skip
def test_a_catalogue_is_a_number_numbers_or_items(catalogue: Any, same: dict[str, Any]) -> None:
    """As `n_items` and `items` are, of which it takes the place."""
    found, expected = (
        evaluated(rn.RankedLists.from_labels(LABELS, RESULTS, **one), metrics="recall").summary
        for one in ({"catalogue": catalogue}, same)
    )
    pd.testing.assert_frame_equal(found, expected)
    with rejects("Give catalogue= alone"):
        rn.RankedLists.from_labels(LABELS, RESULTS, catalogue=catalogue, **same)
