"""What is known besides the lists: how it is read, and what of it a number depends on."""

import gc
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.folds import parse_measures
from recsys_ndcg.metrics import OverLists, distances
from recsys_ndcg.metrics.of_items import OfItems
from tests.errors import assert_rejected

LISTS = {"labels": {1: {1}}, "results": {1: [1, 2]}}
FILMS = pd.DataFrame({"movieId": [1, 2, 3], "price": [10.0, 20.0, 30.0]})
FORMS: dict[str, Any] = {
    "column item": FILMS.rename(columns={"movieId": "item"}),
    "index": FILMS.set_index("movieId"),
    "index without a name": FILMS.set_index("movieId").rename_axis(None),
    "some rows": FILMS.iloc[[1, 0]],
    "mapping": {"item": [1, 2], "price": [10.0, 20.0]},
    "Series": pd.Series({1: 10.0, 2: 20.0}, name="price"),
    "other columns": pd.DataFrame({"item": [1, 2], "price": [10.0, 20.0], 0: [1, 2]}),
    "categories": pd.DataFrame({"item": pd.Categorical([1, 2]), "price": [10.0, 20.0]}),
}


def mean_price(features: Any) -> float:
    """Return the mean price of the items 1 and 2."""
    report = rn.evaluate(LISTS, metrics="item(price)@2", features=features)
    return float(report.mean.iloc[0])


@pytest.mark.parametrize("form", FORMS)
def test_a_table_by_item_is_joined_by_item(form: str) -> None:
    """Never by the number of the row."""
    if form == "some rows":
        with pytest.warns(rn.DataWarning, match="using movieId as item"):
            assert mean_price(FORMS[form]) == 15.0
    else:
        assert mean_price(FORMS[form]) == 15.0


def test_a_lazy_table_is_read() -> None:
    """Of polars, as features and as the catalogue."""
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(FORMS["column item"]).lazy()
    assert mean_price(table) == 15.0
    report = rn.evaluate(LISTS, metrics="coverage@2", catalogue=table)
    assert report.mean.iloc[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "features must be a table with a column 'item', or indexed by item, not"),
        ({"item": [1, 2], "price": [10.0]}, "features: the mapping must have columns of equal"),
        ({"item": [1, 2, 2], "price": [1, 2, 3]}, "features: the item 2 has 2 rows. Give one"),
        (FILMS.rename(columns={"movieId": "x"}), "features has no column 'item'; it has x, price"),
        (FILMS.assign(artist=1), "'movieId' and 'artist' could each be it"),
        (
            pd.Series([10.0, 20.0], name="price"),
            "is a Series whose index has row numbers, no items",
        ),
    ],
)
def test_a_table_without_items_is_refused(table: Any, message: str) -> None:
    """Row numbers are no items."""
    assert_rejected(message, rn.evaluate, LISTS, metrics="item(price)@2", features=table)


@pytest.mark.parametrize(
    ("known", "names"),
    [
        ({"features": {"item": ["a"], "price": [3]}}, "item: the items of features="),
        ({"catalogue": ["a"], "train": [(1, "a")]}, "item: the items of train= and catalogue="),
        ({"train": [("ann", 1)]}, "user: the users of train="),
    ],
)
def test_ids_of_another_type_are_named_by_their_argument(known: Any, names: str) -> None:
    """Only by one that was given and has such ids."""
    match = rf"^{names} have ids of type text \(such as 'an?n?'\), the lists of type number"
    assert_rejected(match, rn.evaluate, LISTS, metrics="popularity@2", **known)


def test_a_catalogue_of_prices_is_refused() -> None:
    """A column that is not named like items."""
    how: dict[str, Any] = {"metrics": "coverage@2", "catalogue": FILMS[["price"]]}
    assert_rejected("catalogue has no column 'item'; it has price", rn.evaluate, LISTS, **how)


def find_overlap(base: Any, k: int) -> float:
    """Return the overlap of the list c, d with a base model's."""
    data = {"labels": None, "results": {"ann": ["c", "d"]}}
    report = rn.evaluate(data, metrics=[f"overlap@{k}", f"unexpected@{k}"], base=base)
    assert report.mean.sum() == 1
    return float(report.mean.iloc[0])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ties_of_a_base_model_count_with_their_probability(k: int) -> None:
    """The mean over the orders of its ties, in any order of its rows."""
    scores = {"a": 3.0, "c": 1.0, "d": 1.0, "e": 1.0}
    orders = [["a", *rest] for rest in permutations("cde")]
    wanted = np.mean([find_overlap({"ann": order}, k) for order in orders])
    for order in orders:
        rows = pd.DataFrame({"user": "ann", "item": order, "estimated": [*map(scores.get, order)]})
        assert find_overlap(rows, k) == pytest.approx(wanted)


def test_a_repeated_item_of_a_base_model_is_refused() -> None:
    """It would take a rank from another item."""
    data = {"labels": None, "results": {"ann": ["c", "d"]}}
    how: dict[str, Any] = {"metrics": "overlap@2", "base": {"ann": ["c", "c", "d"]}}
    assert_rejected("user 'ann' has the item 'c' twice or more", rn.evaluate, data, **how)


@pytest.mark.parametrize("form", ["Series", "table", "file"])
def test_groups_have_any_form(form: str, tmp_path: Path) -> None:
    """The same number as from a mapping."""
    groups = {7: "new", 8: "old"}
    table = pd.DataFrame({"user": [*groups], "kind": [*groups.values()]})
    table.to_csv(tmp_path / "groups.csv", index=False)
    forms = {"Series": pd.Series(groups), "table": table, "file": tmp_path / "groups.csv"}
    how: dict[str, Any] = {
        "metrics": "bias_disparity(maker,item_group=x,user_group=new,which=BR)@2",
        "train": [(7, "c"), (8, "b")],
        "catalogue": [*"abc"],
        "features": {"item": [*"abc"], "maker": [*"xxy"]},
    }
    data = {"labels": None, "results": {7: ["a", "b"], 8: ["c", "a"]}}
    found = [rn.evaluate(data, groups=one, **how).to_dict() for one in (groups, forms[form])]
    assert found[0] == found[1]
    assert_rejected("one column besides", rn.evaluate, data, groups=table.assign(more=1), **how)


GIVEN: dict[str, Any] = {
    "train": [("a", "x"), ("b", "z")],
    "catalogue": [*"wxyz"],
    "features": {"item": [*"vwxyz"], "maker": [*"qqqrr"]},
    "base": {"a": ["x"], "b": ["y"]},
}
OTHER: dict[str, Any] = {
    "train": [("a", "x"), ("b", "z"), ("b", "z")],
    "catalogue": [*"vwxyz"],
    "features": {"item": [*"vwxyz"], "maker": [*"qqrrr"]},
    "base": {"a": ["x"], "b": ["w"]},
}
READS = {
    "coverage@2": {"catalogue"},
    "novelty@2": {"train"},
    "diversity(maker)@2": {"features"},
    "overlap@2": {"base"},
    "tail@2": {"train"},
}


@pytest.mark.parametrize("source", GIVEN)
def test_models_measured_with_different_data_are_not_compared(source: str) -> None:
    """The signatures of the metrics that read the data say so, and no others."""
    data = {"labels": None, "results": {"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "w"]}}
    first = rn.evaluate(data, metrics=[*READS], **GIVEN)
    second = rn.evaluate(data, metrics=[*READS], **GIVEN | {source: OTHER[source]})
    for metric, sources in READS.items():
        one, other = first.signature(metric), second.signature(metric)
        assert (one != other) == (source in sources)
        assert sources <= one.fields.keys()
    assert_rejected(f"different ways: {source} is ", rn.compare, {"A": first, "B": second})


def read_candidates(features: Any) -> Background:
    """Return a background whose items are all candidates."""
    known = Background.of(features=features)
    assert known is not None
    return replace(known, is_candidate=np.ones(len(known.items), dtype=bool))


def test_distances_stay_known_when_an_equal_background_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the garbage collector does between two questions about the same items."""
    features = {"item": [*"abc"], "x": [*"qqr"]}
    known = [read_candidates(features)]
    equal = read_candidates(features)
    find = distances.find_distances

    def find_and_forget(*how: Any) -> distances.Distances:
        found = find(*how)
        known.clear()
        gc.collect()
        return found

    assert distances.find_distances(known[0], "x", Convention()) is not None
    monkeypatch.setattr(distances, "find_distances", find_and_forget)
    assert distances.sum_candidates(equal, "x", Convention()).tolist() == [1, 1, 2]


def test_a_digest_depends_on_the_contents_alone() -> None:
    """Not on the order or form of the data, nor on the lists."""
    data = {"labels": None, "results": {1: [7, 8], 2: [8, 9]}}
    forms: dict[str, Any] = {"catalogue": [7, 8, 9, 10], "train": [(1, 9), (2, 7), (2, 8)]}
    texts = set()
    for turned in (False, True):
        train = pd.DataFrame(forms["train"], columns=["user", "item"])
        items: Any = np.array(forms["catalogue"][::-1], dtype=np.int16)
        given = {"catalogue": items, "train": train[::-1]} if turned else forms
        lists = {"labels": None, "results": {2: [8, 9]}} if turned else data
        report = rn.evaluate(lists, metrics=["seen@2", "coverage@2"], **given)
        texts |= {report.signature("seen@2").fields["train"]}
        texts |= {report.signature("coverage@2").fields["catalogue"]}
    assert len(texts) == 2
    assert {text.partition("#")[0] for text in texts} == {"3", "4"}
    repeated = [[(1, "a"), (1, "a"), (2, "b")], [(1, "a"), (2, "b"), (2, "b")]]
    known = [Background.of(train=rows) for rows in repeated]
    assert len({one.digest("train") for one in known if one is not None}) == 2
    divided = [{1: ["a"], 2: ["b", "c"]}, {1: ["a", "b"], 2: ["c"]}]
    known = [Background.of(base=lists) for lists in divided]
    assert len({one.digest("base") for one in known if one is not None}) == 2


def test_a_digest_has_the_size_and_a_checksum_of_what_is_known() -> None:
    """By this formula in every version, as a saved report has it, too."""
    features = {"item": ["a", "b", "c"], "genre": ["war", None, "love"]}
    known = Background.of(features=features, groups={"ann": "new", "bob": "old"})
    assert known is not None
    contents = {
        "features": b"'genre'\0'love'\0'war'" + b"'a'\0'c'" + np.array([1, 0]).tobytes(),
        "groups": b"'ann'\0'bob'" + np.array([0, 1]).tobytes() + b"'new'\0'old'",
    }
    for source, content in contents.items():
        assert known.digest(source) == f"2#{crc32(content):08x}"


def test_equal_data_have_equal_digests() -> None:
    """Of ids that other ids made floats, and of columns with entries that are not read."""
    train = pd.DataFrame({"user": [1, 2, 2], "item": [10, 10, 11]})
    films = {"item": [10, 11, 12], "genre": [*"xyx"], "year": [1, 2, 2]}
    lists = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12], "estimated": [2.0, 1, 2]})
    metrics = ["novelty@2", "diversity@2"]

    def sign(results: Any, **given: Any) -> list[Any]:
        data = {"labels": None, "results": results}
        convention = rn.Convention(cold_item="one_user")
        report = rn.evaluate(data, metrics=metrics, convention=convention, **given)
        return [report.signature(one).fields for one in metrics]

    first = sign(lists, train=train, features=films)
    assert sign(lists.astype({"item": float}), train=train.astype(float), features=films) == first
    more = {"train": [(1, 9), (1, 8)], "features": films}
    assert sign(lists, **more)[1]["features"] == first[1]["features"]
    changed = {**films, "year": [1, 2, 3]}
    assert sign(lists, train=train, features=changed)[1] != first[1]


def test_sources_that_a_choice_reads_are_signed() -> None:
    """Also if the metric alone does not need them."""
    data = {"labels": {"u": {"a"}, "v": {"b"}}, "results": {"u": ["a", "b"], "v": ["a", "c"]}}
    convention = rn.Convention(mean_over="train")
    how: dict[str, Any] = {"metrics": ["ndcg@1", "epc(population=known)@1"], "threshold": 1}
    report = rn.evaluate(data, train=[("u", "a")], groups={"u": "g"}, convention=convention, **how)
    assert "train" in report.signature("ndcg@1").fields
    assert {"train", "groups"} <= report.signature("epc(population=known)@1").fields.keys()


def test_all_runs_of_a_model_count_in_its_signature() -> None:
    """In any order."""
    labels = pd.DataFrame({"user": [1, 2, 3], "item": [10, 11, 12], "true": 1})
    samples = [[(1, 11), (2, 10), (3, 13)], [(1, 11), (2, 10), (3, 12)]]

    def run(sample: int, seed: int) -> rn.Report:
        scores = np.random.default_rng(seed).random(12)
        pairs = [(user, item) for user in (1, 2, 3) for item in (10, 11, 12, 13)]
        results = pd.DataFrame(pairs, columns=["user", "item"]).assign(estimated=scores)
        data = {"labels": labels, "results": results}
        return rn.evaluate(data, metrics="novelty@2", train=samples[sample], threshold=1)

    def compare(second: list[rn.Report]) -> rn.Comparison:
        return rn.compare({"A": [run(0, 0), run(1, 1)], "B": second})

    assert "novelty@2" in compare([run(1, 2), run(0, 3)]).verdict
    assert_rejected("train is ", compare, [run(0, 2), run(0, 3)])


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_items_are_read_from_any_file(suffix: str, tmp_path: Path) -> None:
    """Features and the catalogue."""
    path = tmp_path / f"films{suffix}"
    table = FORMS["column item"]
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    elif suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False)
    assert mean_price(path) == 15.0
    report = rn.evaluate(LISTS, metrics="coverage@2", catalogue=path)
    assert report.mean.iloc[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", ["simpson", "personalization", "entropy"])
def test_the_best_is_unknown_if_items_outside_the_catalogue_are_shown(name: str) -> None:
    """They are not refused where the number does not need the catalogue."""
    data = {"labels": None, "results": {"u": ["a", "b"], "v": ["c", "d"]}}
    report = rn.evaluate(data, metrics=f"{name}@2", catalogue=["a", "b"])
    assert np.isnan(report.audit["best"].iloc[0])


def test_own_measures_have_chance_where_it_is_known() -> None:
    """A mean over items has it, a number of all lists only if it says that it is linear."""

    class Root(OfItems):
        name = "root_of_users"
        needs = frozenset({"items", "train"})

        def values_by_item(self, known: Any, convention: Any) -> Any:  # noqa: ARG002
            return np.sqrt(known.n_users_of)

    class Largest(OverLists):
        name = "largest_share"

        def value(self, totals: Any, convention: Any) -> float:  # noqa: ARG002
            return float(totals.shown.max() / totals.shown.sum())

    data = {"labels": None, "results": {"a": ["x", "y"]}}
    train = [("a", "x"), ("b", "x"), ("b", "z")]
    how: dict[str, Any] = {"train": train, "catalogue": [*"xyz"]}
    report = rn.evaluate(data, metrics=[Root(2), Largest(2)], **how)
    chance = report.audit["chance"]
    assert chance["root_of_users@2"] == pytest.approx((np.sqrt(2) + 1) / 3)
    assert np.isnan(chance["largest_share@2"])
    assert "value_of:expected_exposure" in report.signature("largest_share@2")


@pytest.mark.filterwarnings("ignore:Ties affect")
def test_ties_do_not_matter_where_nothing_is_divided_by_the_items_left() -> None:
    """Under ``list_over="k"``, and in P-IA, items that are left out do not change the bottom."""
    rows = pd.DataFrame({"user": 1, "item": [*"abc"], "estimated": 1.0})
    data = {"labels": {1: {"a"}}, "results": rows}
    how: dict[str, Any] = {"features": {"item": [*"ab"], "g": [*"xy"]}, "train": [(2, "a")]}
    left_out = rn.Convention(missing_feature="drop", cold_item="drop", list_over="k")
    metrics = ["p_ia(g)@2", "popularity@2"]
    report = rn.evaluate(data, metrics=metrics, convention=left_out, threshold=1, **how)
    assert report.mean.tolist() == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize("rule", ["k", "full"])
def test_epc_is_over_k_places(rule: Any) -> None:
    """Of a shorter list, too, as other means over a list."""
    data = {"labels": {1: {"a"}}, "results": {1: ["a"]}}
    how: dict[str, Any] = {"train": [(2, "a"), (3, "b")], "threshold": 1}
    convention = rn.Convention(list_over=rule)
    report = rn.evaluate(data, metrics="epc@2", convention=convention, **how)
    assert report.mean.iloc[0] == pytest.approx(0.5 / (1 + 1 / np.log2(3)))


def test_a_tail_by_count_needs_the_count() -> None:
    """In every measure of the tail."""
    assert_rejected("tail_at=", rn.Convention, tail="count")


def test_undefined_numbers_of_all_lists_are_counted() -> None:
    """One list has no pair of lists."""
    report = rn.evaluate({"labels": None, "results": {1: ["a"]}}, metrics="personalization@1")
    assert report.counts["undefined personalization@1"] == 1
    assert "Undefined for these lists: personalization@1." in report.remarks


@pytest.mark.filterwarnings("ignore:features")
def test_a_column_that_cannot_be_read_is_an_error_only_if_it_is_needed() -> None:
    """A table of films has dates, too."""
    dates = pd.date_range("2020", periods=2)
    films = pd.DataFrame({"item": [1, 2], "genres": ["x", "x|y"], "released": dates})
    report = rn.evaluate(LISTS, metrics="diversity(genres)@2", features=films)
    assert report.mean.iloc[0] == 0.5
    for metric in ("diversity@2", "categories(released)@2"):
        how: dict[str, Any] = {"metrics": metric, "features": films}
        assert_rejected("released has Timestamp.* Give numbers", rn.evaluate, LISTS, **how)
    how = {"metrics": "diversity(place)@2", "features": {"item": [1, 2], "place": [[1], [1, 2]]}}
    assert_rejected("features: place has vectors of 1 and of 2 numbers", rn.evaluate, LISTS, **how)


@pytest.mark.filterwarnings("ignore:features")
@pytest.mark.parametrize("text", ["x|y", "x | y", "x|y|", " x||y"])
def test_sets_in_texts_have_no_blanks(text: str) -> None:
    """Nor empty members."""
    known = Background.of(features={"item": [1, 2], "genres": [text, "y"]})
    assert known is not None
    assert known.features["genres"].labels == ("x", "y")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"catalogue": [1, 2, None]}, "catalogue=: item: a missing id in row 2"),
        ({"train": [(1, 1)], "catalogue": [1, None]}, "catalogue=: item: a missing id in row 1"),
        ({"features": {"item": [1, None], "g": [1, 2]}}, "features=: item: a missing id in row 1"),
    ],
)
def test_a_missing_id_is_named_with_its_source(given: Any, message: str) -> None:
    """And its row there."""
    assert_rejected(message, rn.evaluate, LISTS, metrics="n_retrieved", **given)


@pytest.mark.parametrize("name", ["seen", "cold", "overlap"])
def test_a_sum_over_the_list_is_not_cut(name: str) -> None:
    """Though the mean is at most 1."""
    data = {"labels": None, "results": {"u": ["a", "b", "c"]}}
    how: dict[str, Any] = {"base": {"u": ["a", "b", "c"]}}
    how["train"] = [("w", "z")] if name == "cold" else [("u", item) for item in "abc"]
    convention = rn.Convention(list_over="one")
    report = rn.evaluate(data, metrics=f"{name}@3", convention=convention, **how)
    assert report.mean.iloc[0] == 3


def test_equal_numbers_of_all_lists_are_not_equal_scores() -> None:
    """Two models can cover as much with other items."""
    lists = {"A": ["a", "b"], "B": ["c", "d"]}
    models = {
        name: {"labels": None, "results": dict.fromkeys(range(3), items)}
        for name, items in lists.items()
    }
    found = rn.compare(models, metrics="coverage@2", catalogue=[*"abcd"])
    assert found.verdict == "A and B have the same coverage@2 (whole catalogue): 0.5000."
    assert not any("same score for every user" in one for one in found.remarks)


def test_what_cannot_be_compared_is_said() -> None:
    """Segments of numbers of all lists, and measures that no library has."""
    lists = {"A": {1: ["a"], 2: ["b"]}, "B": {1: ["c"], 2: ["d"]}}
    models = {name: {"labels": None, "results": one} for name, one in lists.items()}
    how: dict[str, Any] = {"metrics": "coverage@1", "catalogue": [*"abcd"], "by": {1: "x", 2: "y"}}
    with pytest.raises(rn.InvalidInputError, match="not compared by segment"):
        _ = rn.compare(models, **how).segments
    known: dict[str, Any] = {"train": [(1, "a")], "features": {"item": [*"abcd"], "k": [*"xxyy"]}}
    assert_rejected("No library has", rn.reconcile, models["A"], "calibration(k)@1", **known)


@pytest.mark.parametrize(
    "metric", ["overlap@3", "bias_disparity(maker,item_group=x,user_group=new)@3"]
)
def test_folds_have_no_lists_of_another_model(metric: str) -> None:
    """Nor groups of users."""
    assert_rejected("folds do not have", parse_measures, f"{metric}:catalogue")


def test_the_exposure_of_groups_needs_no_labels() -> None:
    """Its disparity, which compares it with nothing."""
    data = {"labels": None, "results": {"u": ["a", "b"]}}
    how: dict[str, Any] = {"catalogue": [*"ab"], "features": {"item": [*"ab"], "g": [*"xy"]}}
    report = rn.evaluate(data, metrics="ee_d(g)@2", **how)
    assert report.mean.iloc[0] == 1 + 0.5**2
