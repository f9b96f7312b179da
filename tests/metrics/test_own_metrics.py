"""A user's own metric: made by `@rn.metric`, it works wherever the package's metrics work."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import permutations
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.cli import options
from recsys_ndcg.metrics import METRICS, Metric, registry
from recsys_ndcg.ranking import Ranking
from recsys_ndcg.scoring import Measurement, Plan
from tests import sample_lists, strategies, textbook
from tests.commands import error_of, run, run_python
from tests.errors import assert_rejected, rejects
from tests.profiles import examples
from tests.rendering.parsed import Parsed
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, 4),
    ("bob", "a", 2.0, 4), ("bob", "b", 2.0, 2), ("bob", "c", 1.0, None),
]  # fmt: skip
CUTOFFS, BLOCKS = st.sampled_from([None, 1, 2, 3, 7]), st.sampled_from([1, 1 << 16])
TIES = st.sampled_from(["input", "item_asc", "item_desc", "text_asc", "text_desc"])
OWN_METRICS = """
from dataclasses import dataclass
import numpy as np
import recsys_ndcg as rn

@rn.metric
def early(rank):
    return 0.5 ** (rank - 1)

@rn.metric(ties="item_asc")
def extent(estimated, true, items):
    return np.nanmax(true) - np.nanmin(true) if (~np.isnan(true)).any() else np.nan

@rn.metric
@dataclass(frozen=True)
class Steep(rn.Metric):
    name = "steep"
    uses_gains = True
    bounded = False
    power: float = 2.0
    base: float = 1
    word: str = 'a'
    def numerator(self, ranking):
        table = ranking.gain[:, : self.k]
        return (table / (self.base + np.arange(table.shape[1])) ** self.power).sum(axis=1)
    def denominator(self, ranking):
        return np.ones(len(ranking.n_items))

number = 3
"""
NAMES = ["early@2", "extent@2", "steep(power=3.0,base=2)@2"]
LEVELS = ["chance", "worst", "best", "adjusted", "z", "tie_low", "tie_high", "decided_by_ties"]
JOINED, USUAL = sample_lists.joined_data(), Choices(threshold=3.0, max_grade=5.0)


@contextmanager
def limited_blocks(rows: int) -> Iterator[None]:
    """Let a block have no more rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        yield


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write a module of metrics and some data; forget what is imported from the folder."""
    (tmp_path / "own_metrics.py").write_text(OWN_METRICS)
    columns = ["user", "item", "estimated", "true"]
    pd.DataFrame(ROWS, columns=columns).to_csv(tmp_path / "p.csv", index=False)
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(name="own")
def _own(folder: Path) -> ModuleType:
    assert folder.is_dir()
    return import_module("own_metrics")


# functions of ranks


def halved(rank: Any) -> Any:
    """Halve the weight from rank to rank."""
    return 0.5 ** (rank - 1)


def level(rank: Any) -> Any:
    """Weigh all ranks the same."""
    return rank**0


WEIGHTS = st.sampled_from([halved, level, strategies.stairs])


@examples(1.5)
@given(strategies.datasets(), strategies.choices, CUTOFFS, WEIGHTS, BLOCKS)
@example(JOINED, USUAL, 2, halved, 1 << 16)
@example(JOINED, replace(USUAL, ideal="local", ties="best"), 2, halved, 1)
@example(JOINED, replace(USUAL, ideal="max"), None, halved, 1)
@example(JOINED, replace(USUAL, mean_over="labelled"), 2, halved, 1 << 16)
def test_a_function_of_ranks_equals_the_formula(
    data: strategies.Sample, chosen: Choices, k: int | None, weight: Callable[[Any], Any], rows: int
) -> None:
    """NDCG and DCG of the same weights, with relevance as a gain of 0 or 1."""
    assume(strategies.is_usable(data))
    convention = strategies.to_convention(replace(chosen, discount=weight))
    binary, levels = convention.replace(gain="binary", ideal="global"), LEVELS[:5]
    for of, gains in (("gain", convention), ("relevance", binary)):
        kinds = [
            rn.metric(name=f"{weight.__name__}_{of}_{over}", of=of, over=over)(weight)
            for over in ("ideal", "nothing", "weights")
        ]
        how: dict[str, Any] = {"threshold": chosen.threshold, "k": None}
        with limited_blocks(rows):
            metrics = [kind(k) for kind in kinds]
            own = rn.evaluate(data.lists, metrics=metrics, convention=convention, **how)
        known: list[Metric] = [rn.NDCG(k), rn.DCG(k)]
        expected = rn.evaluate(data.lists, metrics=known, convention=gains, **how)
        for tables in (
            (own.per_user.iloc[:, 2:4], expected.per_user.iloc[:, 2:]),
            (own.summary.iloc[:2], expected.summary),
            (own.audit[levels].iloc[:2], expected.audit[levels]),
        ):
            left, right = (np.asarray(table, dtype=float) for table in tables)
            np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)
        places = own.per_user["n_items"] if k is None else np.full(len(own.users), k)
        total = np.array([math.fsum(weight(np.arange(1.0, n + 1))) for n in places])
        np.testing.assert_allclose(
            own._data.scores.numerator[:, 2], own._data.scores.numerator[:, 1]
        )
        sums, counted = own._data.scores.denominator[:, 2], own._data.scores.denominator[:, 1] != 0
        np.testing.assert_allclose(sums[counted], total[counted], rtol=1e-12)
        assert own._data.audit.totals.kinds["bounded"].tolist() == [True, False, of == "relevance"]


def test_a_function_of_ranks_needs_and_signs_what_it_reads() -> None:
    """Of relevance a threshold, of gains the gain and the ideal, with its top grade."""
    relevant, worth = (rn.metric(name=f"of_{of}", of=of)(halved) for of in ("relevance", "gain"))
    assert relevant.__doc__ == halved.__doc__
    with rejects("of_relevance@2 needs to know which items are relevant"):
        rn.evaluate(ROWS, metrics=relevant(2))
    top = rn.Convention(ideal="max", max_grade=5, gain="linear")
    report = rn.evaluate(ROWS, metrics=[worth(2)], convention=top)
    for choice in ("gain:linear", "ideal:max", "max_grade:5.0"):
        assert choice in report.signature("of_gain@2").short
    signed = rn.evaluate(ROWS, metrics=[relevant(2)], threshold=4, convention=top).signature
    assert "max_grade" not in signed("of_relevance@2").short


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (lambda rank: rank, "'bad' gives 2.0 at rank 2"),
        (lambda rank: np.where(rank > 1, np.nan, 1.0), "'bad' gives nan at rank 2"),
        (lambda _: 1.0, r"'bad' must give one weight per rank; for 2 it gave 1.0\.$"),
        (lambda rank: rank.astype(str), "'bad' must give one weight per rank"),
        (lambda rank: 1 / rank.nothing, "'bad'.*nothing"),
    ],
)
def test_invalid_weights_are_rejected(weight: Any, match: str) -> None:
    """Before anything is measured: increasing, negative, infinite, of another shape."""
    how: dict[str, Any] = {"threshold": 4, "whole": match != "'bad'.*nothing"}
    for over in ("ideal", "weights", "nothing"):
        bad = rn.metric(name="bad", over=over)(weight)
        assert_rejected(match, rn.evaluate, ROWS, metrics=[bad(2)], **how)


# functions of a list


def digest(estimated: Any, true: Any, items: Any) -> Any:
    """Return one number that depends on everything a function of a list is given."""
    if not len(items):
        return math.nan
    places = np.arange(1, len(items) + 1)
    worth = np.where(np.isnan(true), -1.0, true)
    return float((places * (estimated + 10 * worth + 1000 * np.asarray(items))).sum())


@examples(0.6)
@given(data=strategies.datasets(), chosen=strategies.choices, k=CUTOFFS, ties=TIES, rows=BLOCKS)
def test_a_function_of_a_list_gets_the_sorted_rows(
    data: strategies.Sample, chosen: Choices, k: int | None, ties: str, rows: int
) -> None:
    """By its own rule for ties, cut at k, whatever else is measured."""
    assume(strategies.is_usable(data))
    chosen = replace(chosen, short_list="k")
    kind = rn.metric(ties=ties)(digest)
    how: Any = {"threshold": chosen.threshold, "convention": strategies.to_convention(chosen)}
    with limited_blocks(rows):
        report = rn.evaluate(data.lists, metrics=[kind(k)], **how)
        among = rn.evaluate(data.lists, metrics=["ndcg@1", kind(k), "auc", kind(), "rr"], **how)
    name = str(kind(k))
    pd.testing.assert_series_equal(report.per_user[name], among.per_user[name], check_exact=True)
    own = replace(chosen, ties=ties)
    expected = {}
    for user, counts in textbook.counted("cg", k, data.users, data.unlisted, own, 0.8).items():
        (order,) = textbook.orders(data.users.get(user, []), own)
        value = digest(
            np.array([row.estimated for row in order[:k]]),
            np.array([math.nan if row.true is None else row.true for row in order[:k]]),
            np.array([row.item for row in order[:k]], dtype=int),
        )
        if math.isnan(value) and not isinstance(own.undefined, str):
            value = own.undefined
        expected[user] = math.nan if counts is None else value
    assert report.per_user[name].to_dict() == pytest.approx(expected, rel=1e-11, nan_ok=True)
    assert f"|ties:{ties}|" in report.signature(name)


def test_a_function_is_not_called_for_users_who_do_not_count() -> None:
    """Without a list, or with a list that is too short; another rule calls it for them."""
    second = rn.metric(ties="input", name="second")(lambda _, true, __: true[1])
    seven = rn.metric(ties="input", name="seven")(lambda *_: 7.0)
    results = {"ann": {"a": 1.0, "b": 0.5}}
    lists = rn.RankedLists.from_trec({"ann": {"a": 1, "b": 2}, "bob": {"a": 1}}, results)
    rows, short = [*ROWS[:5], ("dan", "a", 1.0, 1.0)], rn.Convention(short_list="drop")
    assert rn.evaluate(rows, metrics=second(2), convention=short)["second@2"] == 1.5
    missing = [rn.Convention(missing_user=rule) for rule in ("skip", "zero")]
    skip, zero = (Measurement(seven(), rule) for rule in missing)
    assert rn.evaluate(lists, metrics=second(), convention=skip.convention)["second"] == 2.0
    scores = {skip: [7.0, math.nan], zero: [7.0, 7.0]}
    for rules in ((skip, zero), (zero, skip)):
        for rule, values in zip(rules, Plan(rules).measure(lists._data).per_user.T, strict=True):
            np.testing.assert_array_equal(values, scores[rule])


def test_items_are_positions_if_the_data_has_no_items() -> None:
    """From 0 on, among the user's own rows."""
    seen = []

    @rn.metric(ties="input")
    def looked(estimated: Any, true: Any, items: Any) -> float:
        seen.append((estimated.tolist(), true.tolist(), items.tolist()))
        return 1.0

    rn.evaluate({"ann": [(1, 5), (3, 2), (3, 4)], "bob": [(2, 1), (4, 3)]}, metrics=looked())
    assert ([3.0, 3.0, 1.0], [2.0, 4.0, 5.0], [1, 2, 0]) in seen
    assert ([4.0, 2.0], [3.0, 1.0], [1, 0]) in seen


def test_nan_is_undefined() -> None:
    """It is left out of the mean, or counts as the convention says."""
    best = rn.metric(ties="input", name="best")(lambda _, true, __: true.max())  # NaN for bob
    report = rn.evaluate(ROWS, metrics=[best(), best(2)])
    assert report.mean.tolist() == report.pooled.tolist() == [5.0, 4.5]
    assert report.counts["undefined best"] == 1
    zero = rn.evaluate(ROWS, metrics=best(), convention=rn.Convention(undefined=0.0))
    assert zero.mean["best"] == 2.5
    with rejects("bob"):
        rn.evaluate(ROWS, metrics=best(), convention=rn.Convention(undefined="raise"))


def test_a_function_of_a_list_has_no_chance_level_and_no_tie_range() -> None:
    """Its values for other orders are unknown: NaN, which no text and no table shows."""
    rows = [(user, ord(item), *rest) for user, item, *rest in ROWS]
    report = rn.evaluate(rows, metrics=[rn.metric(ties="input")(digest)(2), "ndcg@2"])
    assert report.audit.loc["digest@2", LEVELS].isna().all()
    assert report.audit.loc["ndcg@2", ["chance", "worst", "best", "tie_low"]].notna().all()
    own = report.summary.loc["digest@2"]
    assert own[["chance", "adjusted", "tie_low", "tie_high"]].isna().all()
    users = report.per_user_audit("digest@2")
    assert users["score"].notna().all()
    assert users[LEVELS[:5]].isna().all(axis=None)
    assert report.leaderboard("digest@2").index.size == 2
    for by in ("adjusted", "z"):
        assert_rejected("digest@2", report.leaderboard, "digest@2", by=by)
    for text in (str(report), report.to_markdown(), Parsed(report.to_html()).text):
        assert "digest@2" in text
        assert "nan" not in text.lower()


@pytest.mark.parametrize("answer", ["1", None, math.inf, -math.inf, [1.0], np.ones(2), 1j])
def test_a_function_of_a_list_must_give_a_number(answer: Any) -> None:
    """Of Python or NumPy, a flag too; the message has the user, and the function's own error."""
    of_list = rn.metric(ties="input", name="odd")
    for number in (1, True, np.True_, np.float32(1), np.int8(1)):
        assert rn.evaluate(ROWS, metrics=of_list(lambda *_, one=number: one)())["odd"] == 1.0
    odd = of_list(lambda _, true, __: answer if np.isnan(true).any() else 1.0)
    match = "'odd' must give a number for each list.*for user 'bob' it gave"
    assert_rejected(match, rn.evaluate, ROWS, metrics=odd())
    failing = of_list(lambda _, true, __: 1 / (int(true[0]) - 4))
    with rejects("'odd' fails for user 'bob': ZeroDivisionError") as caught:
        rn.evaluate(ROWS, metrics=failing())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("of", "over", "bounded", "score"),
    [
        ("relevance", "ideal", True, 1 / 2), ("gain", "ideal", True, 6 / 9),
        ("relevance", "weights", True, 1 / 2), ("gain", "weights", False, 3.0),
        ("relevance", "nothing", False, 1.0), ("gain", "nothing", False, 6.0),
    ],
)  # fmt: skip
def test_a_sum_is_divided_as_requested(of: str, over: str, score: float, *, bounded: bool) -> None:
    """By the ideal list's sum, by the sum of the weights, or by nothing."""
    kind = rn.metric(name="even", of=of, over=over)(level)
    convention = rn.Convention(gain="linear")
    report = rn.evaluate(ROWS[:3], metrics=[kind(2)], threshold=4, convention=convention)
    assert report.mean.tolist() == [pytest.approx(score)]
    assert (kind.bounded, kind.uses_gains) == (bounded, of == "gain")


@pytest.mark.parametrize("answer", [1j, "1", None])
@pytest.mark.parametrize("side", ["numerator", "denominator"])
def test_both_sides_of_a_class_must_be_numbers(side: str, answer: Any) -> None:
    """Complex numbers, text and None are refused."""

    def answer_all(_metric: Metric, ranking: Ranking) -> Any:
        return np.array([answer] * len(ranking.n_items))

    def count(_metric: Metric, ranking: Ranking) -> Floats:
        return np.ones(len(ranking.n_items))

    sides = {"numerator": count, "denominator": count} | {side: answer_all}
    own = type("Own", (Metric,), {"name": "odd", **sides, "__module__": __name__})
    match = f"The {side} of odd must be an array of real numbers, not "
    assert_rejected(match, rn.evaluate, {"ann": [(1, 2), (2, 3)]}, metrics=own())


@pytest.mark.parametrize("name", ["\ud800", "", "a b", 3])
def test_a_class_that_is_not_registered_needs_a_name_that_can_be_read(name: Any) -> None:
    """Or its report could not be printed, saved or asked."""
    own = type("Own", (Metric,), {"name": name, "__module__": __name__})
    match = "A metric needs a name in lower case, of letters, digits and _"
    assert_rejected(match, rn.evaluate, {"ann": [(1, 2), (2, 3)]}, metrics=own())


@pytest.mark.parametrize("k", [10_000_001, sys.maxsize])
def test_a_huge_cutoff_is_rejected_or_harmless(k: int) -> None:
    """Weights of all places are not added up; a list is cut nowhere."""
    match = f"huge@{k} adds up the weights of all k places; choose k up to"
    for over in ("ideal", "weights", "nothing"):
        huge = rn.metric(name="huge", over=over)(halved)(k)
        assert_rejected(match, rn.evaluate, ROWS, metrics=[huge], threshold=4)
    top = rn.metric(ties="input", name="top")(lambda _, true, __: true[0])
    assert len({*rn.evaluate(ROWS, metrics=[top(k), top()]).mean}) == 1


# they work wherever the package's metrics work


def test_all_kinds_are_printed_saved_and_pickled(own: ModuleType, tmp_path: Path) -> None:
    """Also if the file is read where the metrics are unknown; a pickle imports their module."""
    report = rn.evaluate(ROWS, metrics=[*NAMES, "ndcg@2"], threshold=4)
    assert report.metrics == [str(own.early(2)), *NAMES[1:], "ndcg@2"]
    texts = [str(report), report.to_markdown(), report.to_latex(), report.to_html()]
    assert all(name in text.replace(r"\_", "_") for name in NAMES for text in texts)
    alone = rn.evaluate(ROWS[:3], metrics=[*NAMES, "ndcg@2"], threshold=4)
    path, copy = tmp_path / "own.json", tmp_path / "copy.json"
    report.save(path)
    pickled, kinds = pickle.dumps(report), (own.early, own.extent, own.Steep)
    for kind in kinds:
        assert pickle.loads(pickle.dumps(kind)) is kind  # noqa: S301
        assert pickle.loads(pickle.dumps(kind(3))) == kind(3)  # noqa: S301
    loaded = [rn.Report.load(path), pickle.loads(pickled)]  # noqa: S301
    assert loaded == [report, report]
    for kind in kinds:
        del METRICS[kind.name]
    del sys.modules["own_metrics"]
    loaded.append(rn.Report.load(path))
    assert "own_metrics" not in sys.modules
    loaded.append(pickle.loads(pickled))  # noqa: S301
    for one in loaded:
        assert str(one) == str(report)
        assert one.to_dict() == report.to_dict()
        assert str(one.take(["ann"])) == str(alone)
        pd.testing.assert_frame_equal(one.intervals(), report.intervals())
        one.save(copy)
        assert copy.read_text() == path.read_text()


class Rooted(Metric):
    """The root of the share of relevant items."""

    name: ClassVar[str] = "rooted"
    needs_threshold: ClassVar[bool] = True
    same_denominator: ClassVar[bool | None] = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of rank 1."""
        return row_sums(ranking.relevance[:, :1])

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))

    def score(self, ratio: Floats) -> Floats:
        """Return the root."""
        return np.sqrt(np.maximum(ratio, 0))


def test_a_metric_with_its_own_score_is_loaded_only_if_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file holds numbers and no code."""
    report = rn.evaluate(ROWS, metrics=[Rooted()], threshold=4)
    assert report.per_user["rooted"].tolist() == pytest.approx([1.0, 0.5**0.5])
    report.save(tmp_path / "own.json")
    with rejects("rooted is not .* has its own formula .* Import the module", whole=False):
        rn.Report.load(tmp_path / "own.json")
    monkeypatch.setitem(METRICS, "rooted", Rooted)
    assert str(rn.Report.load(tmp_path / "own.json")) == str(report)


class Late(Rooted):
    """A metric whose best order does not start with the best items."""

    name: ClassVar[str] = "late"
    best_first: ClassVar[bool] = False

    @property
    def depth(self) -> int:
        """It reads the second rank."""
        return 2

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of rank 2."""
        return row_sums(ranking.relevance[:, 1:2])

    def score(self, ratio: Floats) -> Floats:
        """Return the share."""
        return ratio


def test_a_metric_whose_best_order_is_unknown_has_chance_only() -> None:
    """Worst, best, what follows from them and the tie range are missing."""
    report = rn.evaluate(ROWS, metrics=[Late(), Rooted()], threshold=4)
    late = report.audit.loc["late"]
    assert late["chance"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert late[["trivial", *LEVELS[1:]]].isna().all()
    assert report.counts["trivial late"] == 0
    with rejects("late has no adjusted for any user", whole=False):
        report.leaderboard("late", by="adjusted")
    assert report.leaderboard("late").index.tolist() == ["bob", "ann"]


class Started(Late):
    """A metric that is undefined unless the first item is relevant: it depends on the order."""

    name: ClassVar[str] = "started"
    best_first: ClassVar[bool] = True
    same_denominator: ClassVar[bool | None] = False  # of all users who have a score

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of the first, over the length of the list."""
        return ranking.relevance[:, 0] / ranking.n_items

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the relevance of the first."""
        return ranking.relevance[:, 0].copy()


class Pure(Metric):
    """The sum of 1 / rank over the hits, divided by their number: it depends on the order."""

    name: ClassVar[str] = "pure"
    needs_threshold: ClassVar[bool] = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum over the hits."""
        table = ranking.relevance[:, : self.k]
        return row_sums(table / np.arange(1, table.shape[1] + 1))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of hits."""
        return row_sums(ranking.relevance[:, : self.k])


class Deserved(Pure):
    """The same, divided by the number of relevant items, wherever they are."""

    name: ClassVar[str] = "deserved"
    same_denominator: ClassVar[bool | None] = False

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of relevant items in the list."""
        return np.asarray(ranking.n_relevant, dtype=np.float64)


@pytest.mark.filterwarnings("error::recsys_ndcg.DataWarning")
def test_a_class_has_chance_only_if_it_declares_its_denominator() -> None:
    """Else it would be E[numerator] / E[denominator], here above the mean over all orders."""
    grades = [1, 0, 1, 0, 0, 1]
    rows = [(user, item, -item, grade) for user in range(99) for item, grade in enumerate(grades)]
    audit = rn.evaluate(rows, metrics=[Pure(2), Deserved(2)], threshold=1).audit
    assert audit.loc["pure@2", LEVELS[:5]].isna().all()
    every = [one[0] / 1 + one[1] / 2 for one in permutations(grades)]
    assert audit.loc["deserved@2", "chance"] == pytest.approx(np.mean(every) / sum(grades))


def test_a_class_sees_as_many_ranks_as_its_depth() -> None:
    """The first k, also of the ideal list, or all if `depth` is None: the page says so."""
    seen = {}

    class Cut(Deserved):
        """A metric that notes the number of ranks."""

        name: ClassVar[str] = "cut"

        def numerator(self, ranking: Ranking) -> Floats:
            """Return the relevance of rank 1."""
            seen[self.name] = ranking.gain.shape[1], ranking.ideal_gain.shape[1]
            return row_sums(ranking.relevance[:, :1])

    whole = type("Whole", (Cut,), {"name": "whole", "depth": None})
    for kind in (Cut, whole):
        rn.evaluate([("u", item, -item, 1) for item in range(6)], metrics=kind(2), threshold=1)
    assert seen == {"cut": (2, 2), "whole": (6, 6)}
    page = Path("docs/how-to/own-metric.md").read_text(encoding="utf-8")
    assert "| `depth = None` |" in page.partition("## What a class declares")[2]


def test_reference_levels_are_over_the_users_who_have_a_score() -> None:
    """Under random order every user would have one."""
    rows = [*ROWS[:3], ("bob", "a", 2.0, 1), ("bob", "b", 1.0, 5)]
    both, ann = (rn.evaluate(one, metrics=Started(), threshold=4).audit for one in (rows, rows[:3]))
    pd.testing.assert_frame_equal(both[LEVELS[:3]], ann[LEVELS[:3]])


@pytest.mark.usefixtures("own")
def test_a_signature_names_the_function_or_class() -> None:
    """Module and name, and a fingerprint of weights. It reads back, in full and in short."""
    report = rn.evaluate(ROWS, metrics=[*NAMES, "ndcg@2"], threshold=4)
    early, extent, steep, ndcg = report.signatures.values()
    assert early.fields["own"].startswith("own_metrics:early#")
    assert extent.fields["own"] == "own_metrics:extent"
    assert steep.fields["own"] == "own_metrics:Steep"
    assert "own" not in ndcg.fields
    for one in (early, extent, steep):
        assert rn.Signature(one.text) == one
        assert rn.Signature(one.short) == one
        assert f"own:{one.fields['own']}" in one.short
    linear, worst = (
        rn.evaluate(ROWS, metrics=NAMES, threshold=4, convention=one).signature
        for one in (rn.Convention(gain="linear"), rn.Convention(ties="worst"))
    )
    assert (linear(NAMES[0]) == early, linear(NAMES[2]) == steep) == (True, False)  # of gains
    assert (worst(NAMES[0]) == early, worst(NAMES[1]) == extent) == (False, True)  # its own rule


def test_a_fingerprint_depends_on_the_function_only() -> None:
    """A changed function has another, other data of other lengths have the same."""

    def signature(base: float, rows: list[Any]) -> rn.Signature:
        @rn.metric(over="nothing")
        def steps(rank: Any) -> Any:
            return base ** (1 - rank)

        return rn.evaluate(rows, metrics=steps(), threshold=4).signature("steps")

    assert signature(2.0, ROWS).text == signature(2.0, ROWS).text
    assert signature(2.0, ROWS).fields["own"] == signature(2.0, ROWS[3:5]).fields["own"]
    assert list(signature(2.0, ROWS).differences(signature(3.0, ROWS))) == ["own"]


SEARCH = """
from recsys_ndcg.surprise import SVD, GridSearchCV
from tests.surprise.samples import DATA, GRID, TWO

names = [early(3), "extent@3", "steep(power=3.0,base=2)@3", "early@3:catalogue"]
for jobs in (1, 2) if __name__ == "__main__" else ():
    search = GridSearchCV(SVD, GRID, names, n_jobs=jobs, refit="extent@3", cv=TWO, threshold=4)
    search.fit(DATA)
    print(search.best_score, search.best_params)
"""


@pytest.mark.slow
@pytest.mark.parametrize("heading", ["from own_metrics import early", OWN_METRICS])
def test_surprise_searches_by_all_three_kinds(heading: str, folder: Path) -> None:
    """With two jobs as with one, defined in a module or in the script itself."""
    pytest.importorskip("surprise")
    (folder / "searching.py").write_text(heading + SEARCH)
    one, two = run_python("searching.py", paths=[folder]).stdout.splitlines()
    assert one == two
    assert all(name in one for name in ("early@3:catalogue", "extent@3", "steep(power=3.0,base=2)"))


def test_a_catalogue_takes_no_functions_of_lists() -> None:
    """It has positions instead of whole lists."""
    samples = pytest.importorskip("tests.surprise.samples")
    from recsys_ndcg.surprise import cross_validate, evaluate_catalogue  # noqa: PLC0415

    of_list = rn.metric(ties="input")(digest)
    trainset, testset = next(samples.TWO.split(samples.DATA))
    with rejects("digest@5 needs whole lists"):
        evaluate_catalogue(samples.svd().fit(trainset), trainset, testset, metrics=[of_list(5)])
    with rejects("digest@5.* needs whole lists"):
        cross_validate(samples.svd(), samples.DATA, ["digest@5:catalogue"], cv=2)


# the command line


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words",
    [
        ["own_metrics:early@2, rr,own_metrics:extent"], ["own_metrics:early", "rr"],
        ["own_metrics:Steep(power=3.0,base=2)@2,own_metrics:early@2"],
    ],
)  # fmt: skip
def test_the_command_line_imports_metrics(words: list[str]) -> None:
    """From the current folder, with parameters, several, after a comma."""
    given = [part for word in words for part in ("--metrics", word)]
    result = run("evaluate", "p.csv", *given, "--threshold", "4", "-k", "2")
    assert result.exit_code == 0, result.stderr
    text = ",".join(words).replace("own_metrics:", "").replace(" ", "")
    names = options.parse_metric_names([text])
    report = rn.evaluate(ROWS, metrics=[name.lower() for name in names], threshold=4, k=2)
    lines = result.stdout.splitlines()[1 : 1 + len(names)]
    assert [line.split()[:2] for line in lines] == [
        [name, f"{mean:.4f}"] for name, mean in report.items()
    ]
    result = run("reconcile", "p.csv", "--metric", "own_metrics:early@2", "--threshold", "4")
    assert "early@2" in result.stdout


@pytest.mark.slow
def test_the_current_folder_is_on_the_path_of_an_installed_program(folder: Path) -> None:
    """As several words, which `main` takes apart."""
    words = ["evaluate", "p.csv", "--threshold", "4"]
    words += ["--metrics", "rr", "own_metrics:early@2", "own_metrics:extent@2"]
    program = (
        "import sys\n"
        f"sys.path[:] = [one for one in sys.path if one not in ('', {str(folder)!r})]\n"
        "from recsys_ndcg.cli import main\n"
        "main()"
    )
    lines = run_python("-c", program, *words, paths=[folder]).stdout.splitlines()[1:4]
    assert [line.split()[0] for line in lines] == ["rr", "early@2", "extent@2"]


def test_words_that_are_metrics_are_distinguished_from_files() -> None:
    """Wherever in a word the user's own metric is."""
    for words, n_metrics in (
        ("rr own_metrics:early@2 p.csv", 2), ("rr ndcg,own_metrics:early@2 p.csv", 2),
        ("rr data:v2.csv", 1),
    ):  # fmt: skip
        given = options.repeat_options(["--metrics", *words.split()])
        assert given.count("--metrics") == n_metrics


@pytest.mark.parametrize(
    ("word", "match"),
    [
        ("nowhere:early@2", "nowhere:early@2: it cannot be imported .*No module named 'nowhere'"),
        ("own_metrics:late@2", "own_metrics:late@2: it cannot be imported .*no attribute 'late'"),
        ("own_metrics:number", "'number' is no metric. Decorate it with @rn.metric"),
        ("raises:early@2", "raises:early@2: it cannot be imported .*division by zero"),
        ("stolen:taken@2", "stolen:taken@2: it cannot be imported .*'ndcg' is taken"),
        ("own_metrics:early@x", "'x' is not a number"),
        ("own_metrics:early(1)@2", "early has no option in brackets"),
        ("own_metrics:Steep(1)@2", "steep.power=...,base=...,word=....@10"),
    ],
)
def test_a_metric_that_cannot_be_imported_is_reported(folder: Path, word: str, match: str) -> None:
    """In one line: no module, no attribute, no metric, one that raises, one that is ours."""
    (folder / "raises.py").write_text("early = 1 / 0\n")
    (folder / "stolen.py").write_text(
        "import recsys_ndcg as rn\n@rn.metric(name='ndcg')\ndef taken(rank):\n    return rank\n"
    )
    line = error_of("evaluate", "p.csv", "--metrics", word, "--threshold", "4")
    with rejects(match, whole=False):
        raise rn.InvalidInputError(line)


# names and options


@pytest.mark.parametrize("name", ["ndcg", "map", "roc_auc", "p", "early"])
def test_a_taken_name_is_rejected(own: ModuleType, name: str) -> None:
    """Of the package, one that leads to the package's, or of another module or metric."""
    stolen = type("Stolen", (Metric,), {"name": name, "__module__": __name__})
    match = f"The name '{name}' is taken by .*"
    for define in (
        lambda: rn.metric(name=name)(halved),
        lambda: rn.metric(name=name, ties="input")(digest),
        lambda: rn.evaluate(ROWS, metrics=[stolen(2)], threshold=4),
    ):
        assert_rejected(match, define, whole=False)
    assert_rejected(f"{match}give Stolen another name", rn.metric, stolen, whole=False)
    assert METRICS["early"] is own.early
    both = [type("Share", (Rooted,), {"name": "share", "part": part})() for part in (0.5, 0.9)]
    with rejects("Two different metrics are called 'share'"):
        rn.evaluate(ROWS, metrics=both, threshold=4)


def test_functions_without_a_name_need_one() -> None:
    """A lambda, a partial function, an object that can be called, a name with odd characters."""
    for name in ("early\ud800", "early\0", "<lambda>"):
        anonymous = FunctionType(halved.__code__, {}, name)
        assert_rejected("A metric needs a name in lower case, of letters", rn.metric, anonymous)
    weights = type("Weights", (), {"__call__": lambda _, rank: 1 / rank})()
    named = [rn.metric(name="part")(partial(np.power, 0.5)), rn.metric(weights)]
    report = rn.evaluate(ROWS, metrics=[kind(2) for kind in named], threshold=4)
    assert report.metrics == ["part@2", "weights@2"]
    there = rn.metric(name="there")(halved)
    assert (there.__module__, there.__qualname__) == (__name__, "halved")
    assert_rejected("Nameless has None", rn.metric, type("Nameless", (Metric,), {}))


TEXTS = ("", "Early", "2nd", "a-b", "a b", "früh", "a@2", "a:b", "a|b", "x\n", "_x")
WRONG_DEFINITIONS: list[tuple[Any, dict[str, Any], str]] = [
    *((halved, {"name": name}, "needs a name in lower case") for name in (*TEXTS, 3, b"x")),
    (halved, {"of": "gains"}, "of must be one of 'relevance', 'gain', not 'gains'"),
    (halved, {"over": "best"}, "over must be one of 'ideal', 'weights', 'nothing', not 'best'"),
    (halved, {"ties": "expected"}, "ties must be one of 'input', 'item_asc'"),
    (digest, {"ties": "input", "of": "gain"}, "a list does not take the option of"),
    (digest, {"ties": "input", "over": "nothing"}, "a list does not take the option over"),
    (
        digest,
        {},
        r"takes 3 parameters, but a function of ranks takes one.*metric\(ties='item_asc'\)",
    ),
    (lambda a, b: a + b, {"name": "two"}, "takes 2 parameters, but a function of ranks takes one"),
    (halved, {"ties": "input"}, "takes 1 parameter, but with ties= it is a function of a user's"),
    (halved, {"bounded": True}, "ranks does not take the option bounded"),
    (digest, {"ties": "input", "bounded": "yes"}, "bounded must be one of True, False, not 'yes'"),
    *((one, {}, "from a function or a subclass of") for one in (3, "early", int, {1: 2}, Any)),
]


@pytest.mark.parametrize(("function", "given", "match"), WRONG_DEFINITIONS)
def test_a_wrong_definition_is_rejected(function: Any, given: dict[str, Any], match: str) -> None:
    """A function needs a name and fitting options; a class has none. Nothing is registered."""
    before = dict(METRICS)
    assert_rejected(match, rn.metric, function, **given)
    if "name" in given and function is halved:
        assert_rejected(match, rn.metric, digest, **given, ties="input")
    if given:
        own = type("Own", (Metric,), {"name": "own"})
        assert_rejected("takes no options: leave out", rn.metric, own, **given)
    assert before == METRICS


def test_a_notebook_cell_may_run_twice() -> None:
    """The last definition holds, and the earlier objects still work."""

    def run_cell(power: float) -> list[type[Metric]]:
        @rn.metric
        def again(rank: Any) -> Any:
            return rank**-power

        @rn.metric(ties="input")
        def twice(*_: Any) -> float:
            return power

        return [again, twice, rn.metric(type("Thrice", (Rooted,), {"name": "thrice"}))]

    first, last = run_cell(1.0), run_cell(2.0)
    by_name = rn.evaluate(ROWS, metrics=["again@2", "twice", "thrice"], threshold=4)
    earlier, by_kind = (
        rn.evaluate(ROWS, metrics=[kind(2) for kind in kinds], threshold=4)
        for kinds in (first, last)
    )
    assert by_name.mean.tolist() == by_kind.mean.tolist()
    assert earlier.mean["twice@2"] == 1.0
    assert by_name.mean["twice"] == 2.0
    assert earlier.mean["again@2"] != by_name.mean["again@2"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Steep( base = 2 , POWER=3.0 )@5", "steep(power=3.0,base=2)@5"),
        ("steep(power=2.0,base=1)@3", "steep@3"), ("steep(power=3.0)", "steep(power=3.0)"),
        ("steep(base=1e-3)@3", "steep(base=0.001)@3"), ("steep(word='b-c')", "steep(word=b-c)"),
    ],
)  # fmt: skip
def test_parameters_read_and_print(own: ModuleType, text: str, printed: str) -> None:
    """By name, in any order, without defaults; equal numbers of any type are equal."""
    for one in (text, printed):
        assert rn.evaluate(ROWS, metrics=one, threshold=4, k=None).metrics == [printed]
    assert own.Steep(2, np.float64(3.0)) == own.Steep(2, 3.0) == own.Steep(2, np.float32(3))
    assert str(own.Steep(2, np.float64(3.0))) == "steep(power=3.0)@2"
    assert own.Steep(2, 3.0, np.True_).base is True


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ("3.0", "write the parameters of steep as 'steep.power=...,base=...,word=....@10'"),
        *((one, "write the parameters of") for one in ("p=3", "", "power=3,", "power=3,power=2")),
        ("power=", "'' is not a number"),
        ("word='b c'", "steep"),
        ("power=__import__", "'__import__' is not a number"),
        *((f"power={value}", "steep") for value in ("[1]", "[1", "{1: 2}", "1 2", "1e", "*")),
    ],
)
def test_odd_parameters_are_rejected(options: str, match: str) -> None:
    """The message has the right form."""
    assert_rejected(match, rn.evaluate, ROWS, metrics=f"steep({options})@5")


# entry points


@pytest.fixture(name="install")
def _install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that writes an installed package with its entry points."""
    monkeypatch.setattr(registry, "find_entry_points", registry.find_entry_points.__wrapped__)

    def install(points: str, code: str = OWN_METRICS, name: str = "brought") -> None:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[recsys_ndcg.metrics]\n{points}\n")
        (folder / f"{name}.py").write_text(code)

    return install


@pytest.mark.parametrize("text", ["early@5", "EARLY"])
def test_a_package_can_bring_metrics(install: Callable[..., None], text: str) -> None:
    """It is imported when its metric is asked for, and not before."""
    install("early = brought:early\nsteep = brought:Steep")
    with rejects("No metric is named 'earlly@2'. Did you mean 'early'?", rn.UnknownMetricError):
        rn.evaluate(ROWS, metrics="earlly@2")
    assert "brought" not in sys.modules
    report = rn.evaluate(ROWS, metrics=text, k=5, threshold=4)
    assert report.metrics == ["early@5"]
    assert report.signature("early@5").fields["own"].startswith("brought:early#")
    assert rn.evaluate(ROWS, metrics="steep(base=2)@5").metrics == ["steep(base=2)@5"]


def test_a_packages_metric_is_found_by_name_everywhere(install: Callable[..., None]) -> None:
    """By the command line, by reconcile, in a loaded report and by Surprise's cross-validation."""
    samples = pytest.importorskip("tests.surprise.samples")
    from recsys_ndcg.surprise import cross_validate  # noqa: PLC0415

    install("early = brought:early")
    rn.evaluate(ROWS, metrics="early@2", threshold=4).save("r.json")
    words, given = ["--metrics", "early@2", "--threshold", "4"], (samples.svd(), samples.DATA)
    uses: list[Callable[[], bool]] = [
        lambda: run("evaluate", "p.csv", *words).exit_code == 0,
        lambda: set(rn.reconcile(ROWS, "early@2", threshold=4)["metric"]) == {"early@2"},
        lambda: rn.Report.load("r.json").metrics == ["early@2"],
        lambda: "test_early@2" in cross_validate(*given, ["early@2"], cv=2, threshold=4),
    ]
    for use in uses:
        METRICS.pop("early", None)
        assert use()


@pytest.mark.parametrize(
    ("point", "match"),
    [
        ("early = nowhere:early", "'early' of nowhere:early cannot be loaded: ModuleNotFound"),
        ("early = brought:number", "brought:number must be a metric named 'early', but is 3"),
        ("early = brought:Steep", "brought:Steep must be a metric named 'early', but is the cl"),
        ("early = failing:early", r"'early' of failing:early cannot be loaded: RuntimeError\('no"),
    ],
)
def test_a_broken_package_is_reported(install: Callable[..., None], point: str, match: str) -> None:
    """When its metric is asked for; others still work."""
    install(point)
    Path("failing.py").write_text("raise RuntimeError('no licence')")
    assert rn.evaluate(ROWS, metrics="ndcg@2").metrics == ["ndcg@2"]
    assert_rejected(match, rn.evaluate, ROWS, metrics="early@2", threshold=4, whole=False)


def test_no_package_can_replace_a_metric_of_ours(install: Any, monkeypatch: Any) -> None:
    """Neither under its name, for which packages are not asked, nor under one that leads to it."""
    code = OWN_METRICS.replace("@rn.metric\ndef early", "@rn.metric(name='map')\ndef early")
    install("ndcg = brought:early\nmap = brought:early", code)
    assert_rejected("'map'", rn.evaluate, ROWS, metrics="map@2", threshold=4, whole=False)

    def fail(**_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    kinds = METRICS.items()
    names = [one for one, kind in kinds if kind.cutoff == "usual" and not kind.needs]
    assert str(rn.evaluate(ROWS, metrics=names, threshold=4, k=2))
