"""`@rn.metric`: what it makes equals what is written out by hand, and goes wherever ours go."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.cli import options
from recsys_ndcg.metrics import METRICS, Metric
from recsys_ndcg.scoring import Measurement, Plan
from tests import sample_lists, strategies, textbook
from tests.commands import error_of, run
from tests.errors import rejects
from tests.profiles import examples
from tests.rendering.parsed import Parsed
from tests.textbook import Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking import Ranking
    from tests.strategies import Sample
    from tests.textbook import Row

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, 4),
    ("bob", "a", 2.0, 4), ("bob", "b", 2.0, 2), ("bob", "c", 1.0, None),
]  # fmt: skip
CUTOFFS = st.sampled_from([None, 1, 2, 3, 7])
RULES = ["input", "item_asc", "item_desc", "text_asc", "text_desc"]
SOMEBODYS = '''
"""Metrics of somebody's own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import recsys_ndcg as rn
from recsys_ndcg.metrics import Metric


@rn.metric
def early(rank):
    """Halve the weight from rank to rank."""
    return 0.5 ** (rank - 1)


@rn.metric(ties="item_asc")
def extent(estimated, true, items):
    """Tell how far apart the true values lie."""
    return np.nanmax(true) - np.nanmin(true) if (~np.isnan(true)).any() else np.nan


@rn.metric
@dataclass(frozen=True)
class Steep(Metric):
    """Have two parameters."""

    name: ClassVar[str] = "steep"
    uses_gains: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    power: float = 2.0
    base: float = 1

    def numerator(self, ranking):
        table = ranking.gain[:, : self.k]
        return (table / (self.base + np.arange(table.shape[1])) ** self.power).sum(axis=1)

    def denominator(self, ranking):
        return np.ones(len(ranking.n_items))


number = 3
'''
NAMES = ["early@2", "extent@2", "steep(power=3.0,base=2)@2"]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the module, where this process finds it; what is imported from there is forgotten."""
    (tmp_path / "somebodys.py").write_text(SOMEBODYS)
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(name="somebodys")
def _somebodys(folder: Path) -> ModuleType:
    assert folder.is_dir()
    return import_module("somebodys")


def _elsewhere(text: str, folder: Path | None = None) -> str:
    """Run a program in another process, which finds the modules of a folder."""
    paths = [str(Path(rn.__file__).parents[1]), *([] if folder is None else [str(folder)])]
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", text] if "\n" in text else [sys.executable, text],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _same(ours: float, theirs: float) -> bool:
    if math.isnan(theirs):
        return math.isnan(ours)
    return math.isclose(ours, theirs, rel_tol=1e-11, abs_tol=1e-11)


def _score(report: rn.Report, user: Any, name: str) -> float:
    return float(report.per_user[name].to_dict()[user])


# functions of ranks


def halved(rank: Any) -> Any:
    """Halve the weight from rank to rank."""
    return 0.5 ** (rank - 1)


def level(rank: Any) -> Any:
    """Weigh all ranks the same."""
    return rank**0


def logged(rank: Any) -> Any:
    """Weigh as DCG does."""
    return 1 / np.log2(rank + 1)


def two(rank: Any) -> Any:
    """Look at two ranks."""
    return (rank <= 2) * 1.0


WEIGHTS = [halved, level, logged, two, strategies.stairs]


def _divisor(  # noqa: PLR0913, PLR0917 - a formula takes all that it depends on
    of: str,
    over: str,
    weight: Callable[[float], float],
    k: int | None,
    order: list[Row],
    unlisted: list[float],
    chosen: Choices,
) -> float:
    if over == "nothing":
        return 1.0
    if over == "weights":
        return math.fsum(weight(rank + 1.0) for rank in range(len(order) if k is None else k))
    if of == "gain":
        ideal = textbook.ideal_gains(k, order, unlisted, chosen)
    else:
        trues = [*(row.true for row in order), *unlisted]
        ideal = sorted((float(textbook.relevant(one, chosen)) for one in trues), reverse=True)[:k]
    return math.fsum(weight(rank) * one for rank, one in enumerate(ideal, 1))


def _by_hand(  # noqa: PLR0913, PLR0917
    of: str,
    over: str,
    weight: Callable[[float], float],
    k: int | None,
    data: Sample,
    chosen: Choices,
) -> dict[int, textbook.Parts | None]:
    """Return numerator and denominator of each user who counts, over all orders of ties."""
    worth = textbook.gain if of == "gain" else textbook.relevant
    counted = textbook.counted("cg", k, data.users, data.unlisted, chosen, 0.8)
    result: dict[int, textbook.Parts | None] = {}
    for user, counts in counted.items():
        if counts is None:
            result[user] = None
            continue
        unlisted = textbook.known(data.unlisted.get(user, []), chosen)
        orders = [*textbook.orders(data.users.get(user, []), chosen)]
        sums = [
            math.fsum(weight(rank) * worth(row.true, chosen) for rank, row in enumerate(one[:k], 1))
            for one in orders
        ]
        whole = {"best": max(sums), "worst": min(sums)}
        found = whole.get(chosen.ties, math.fsum(sums) / len(sums))
        result[user] = found, _divisor(of, over, weight, k, orders[0], unlisted, chosen)
    return result


@examples(0.8)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    k=CUTOFFS,
    weight=st.sampled_from(WEIGHTS),
    rows=st.sampled_from([1, 1 << 16]),
)
def test_a_function_of_ranks_equals_the_formula(
    data: Sample, chosen: Choices, k: int | None, weight: Callable[[Any], Any], rows: int
) -> None:
    """Every combination of `of` and `over`: per user, mean and pooled, over all orders of ties."""
    assume(strategies.is_usable(data))
    _equals_the_formula(data, chosen, k, weight, rows)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize(
    "changes", [{}, {"ideal": "max"}, {"ideal": "local", "ties": "best"}, {"mean_over": "labelled"}]
)
def test_a_function_of_ranks_on_lists_made_to_show_it(
    changes: dict[str, Any], k: int | None
) -> None:
    """With ties across the cutoff, and with users who have no list or no label."""
    chosen = replace(Choices(threshold=3.0, max_grade=5.0), **changes)
    _equals_the_formula(sample_lists.joined_data(), chosen, k, WEIGHTS[0], 1 << 16)


def _equals_the_formula(
    data: Sample, chosen: Choices, k: int | None, weight: Callable[[Any], Any], rows: int
) -> None:
    kinds = {
        (of, over): rn.metric(name=f"{weight.__name__}_{of}_{over}", of=of, over=over)(weight)
        for of in ("relevance", "gain")
        for over in ("ideal", "weights", "nothing")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        report = rn.evaluate(
            data.lists,
            metrics=[kind(k) for kind in kinds.values()],
            threshold=chosen.threshold,
            convention=strategies.to_convention(chosen),
        )
    for (of, over), kind in kinds.items():
        name = str(kind(k))
        expected = _by_hand(of, over, weight, k, data, chosen)
        assert set(expected) == set(report.users.tolist())
        values = {}
        for user, parts in expected.items():
            values[user] = math.nan if parts is None else textbook.value("dcg", *parts, chosen)
            assert _same(_score(report, user, name), values[user]), f"{name} of {user}"
        defined = [value for value in values.values() if not math.isnan(value)]
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        assert _same(report.mean[name], mean), name
        pairs = [parts for parts in expected.values() if parts and parts[1] != 0]
        pooled = [math.fsum(column) for column in zip(*pairs, strict=True)] or [0.0, 0.0]
        skipping = replace(chosen, undefined="skip")
        assert _same(report.pooled[name], textbook.value("dcg", pooled[0], pooled[1], skipping))
        assert bool(report.bounded[name]) == (
            over == "ideal" or (over == "weights" and of == "relevance")
        )


@examples(0.4)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    k=st.sampled_from([1, 2, 7]),
)
def test_metrics_of_ours_can_be_made_of_a_function(data: Sample, chosen: Choices, k: int) -> None:
    """Precision, capped recall, NDCG, DCG and CG, with all that an audit says of them."""
    assume(strategies.is_usable(data))
    chosen = replace(
        chosen, discount="log2", recommend_from=None, short_list="k", recall_over="capped"
    )
    made = {
        "precision": rn.metric(name="my_precision", over="weights")(level),
        "recall": rn.metric(name="my_recall")(level),
        "ndcg": rn.metric(name="my_ndcg", of="gain")(logged),
        "dcg": rn.metric(name="my_dcg", of="gain", over="nothing")(logged),
        "cg": rn.metric(name="my_cg", of="gain", over="nothing")(level),
    }
    report = rn.evaluate(
        data.lists,
        metrics=[
            *(f"{name}@{k}" for name in made),
            *(kind(k) for kind in made.values()),
        ],
        threshold=chosen.threshold,
        convention=strategies.to_convention(chosen),
    )
    for table in (report.per_user, report.summary.T, report.audit.T):
        for name in made:
            pd.testing.assert_series_equal(
                table[f"my_{name}@{k}"].astype(float),
                table[f"{name}@{k}"].astype(float),
                check_names=False,
                rtol=1e-10,
                atol=1e-10,
            )


# functions of a list


def told(estimated: Any, true: Any, items: Any) -> Any:
    """Tell everything that a function of a list is given, in one number."""
    if not len(items):
        return math.nan
    places = np.arange(1, len(items) + 1)
    worth = np.where(np.isnan(true), -1.0, true)
    return float((places * (estimated + 10 * worth + 1000 * np.asarray(items))).sum())


@examples(0.6)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    k=CUTOFFS,
    ties=st.sampled_from(RULES),
    rows=st.sampled_from([1, 1 << 16]),
)
def test_a_function_of_a_list_gets_the_sorted_rows(
    data: Sample, chosen: Choices, k: int | None, ties: str, rows: int
) -> None:
    """By its own rule for ties, cut at k, whatever is measured beside it."""
    assume(strategies.is_usable(data))
    own = replace(chosen, ties=ties)
    kind = rn.metric(ties=ties)(told)
    how: dict[str, Any] = {
        "threshold": chosen.threshold,
        "convention": strategies.to_convention(replace(chosen, short_list="k")),
    }
    own = replace(own, short_list="k")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        report = rn.evaluate(data.lists, metrics=[kind(k)], **how)
        beside = rn.evaluate(data.lists, metrics=["ndcg@1", kind(k), "auc", kind(), "rr"], **how)
    name = str(kind(k))
    pd.testing.assert_series_equal(report.per_user[name], beside.per_user[name], check_exact=True)
    counted = textbook.counted("cg", k, data.users, data.unlisted, own, 0.8)
    for user, counts in counted.items():
        (order,) = textbook.orders(data.users.get(user, []), own)
        kept = order[:k]
        trues = [math.nan if row.true is None else row.true for row in kept]
        value = told(
            np.array([row.estimated for row in kept]),
            np.array(trues, dtype=float),
            np.array([row.item for row in kept], dtype=int),
        )
        if math.isnan(value) and not isinstance(own.undefined, str):
            value = own.undefined
        expected = math.nan if counts is None else value
        assert _same(_score(report, user, name), expected)
    assert f"|ties:{ties}|" in report.signature(name)


def test_who_is_asked_about_does_not_depend_on_what_is_measured_beside() -> None:
    """The same function under two rules for missing users, in one pass over the lists."""

    @rn.metric(ties="input")
    def seven(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
        return 7.0

    lists = rn.RankedLists.from_trec({"ann": {"a": 1}, "bob": {"a": 1}}, {"ann": {"a": 1.0}})
    rules = [Measurement(seven(), rn.Convention(missing_user=rule)) for rule in ("skip", "zero")]
    for order in (rules, rules[::-1]):
        scores = Plan(tuple(order)).measure(lists)
        found = dict(
            zip([one.convention.missing_user for one in order], scores.per_user.T, strict=True)
        )
        np.testing.assert_array_equal(found["skip"], [7.0, math.nan])
        np.testing.assert_array_equal(found["zero"], [7.0, 7.0])


@pytest.mark.parametrize("ties", RULES)
def test_a_score_depends_on_the_own_rows_alone(ties: str) -> None:
    """To the last bit, with or without the others, in any order of users."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(30), 7),
            "item": np.concatenate([rng.permutation(20)[:7] for _ in range(30)]),
            "estimated": rng.integers(0, 3, 210) / 3,
            "true": rng.choice([1.0, 2.5, np.nan], 210),
        }
    )
    kind = rn.metric(ties=ties)(told)
    whole = rn.evaluate(frame, metrics=[kind(3), kind()]).per_user
    for user, own in frame.groupby("user"):
        alone = rn.evaluate(own, metrics=[kind(3), kind()]).per_user
        pd.testing.assert_frame_equal(alone, whole.loc[[user]], check_exact=True, check_dtype=False)


def test_items_are_places_where_the_data_has_none() -> None:
    """From 0 on, among the user's own rows."""
    seen = []

    @rn.metric(ties="input")
    def looked(estimated: Any, true: Any, items: Any) -> float:
        seen.append((estimated.tolist(), true.tolist(), items.tolist()))
        return 1.0

    rn.evaluate({"ann": [(1, 5), (3, 2), (3, 4)], "bob": [(2, 1), (4, 3)]}, metrics=looked())
    assert ([3.0, 3.0, 1.0], [2.0, 4.0, 5.0], [1, 2, 0]) in seen
    assert ([4.0, 2.0], [3.0, 1.0], [1, 0]) in seen


@pytest.mark.parametrize("answer", [1, 1.0, True, np.True_, np.float32(1), np.int8(1)])
def test_any_number_will_do(answer: Any) -> None:
    """Of Python or NumPy, a flag too."""

    @rn.metric(ties="input")
    def answered(estimated: Any, true: Any, items: Any) -> Any:
        return answer if len(estimated) == len(true) == len(items) else None

    assert rn.evaluate(ROWS, metrics=answered())["answered"] == 1.0


def test_nan_is_undefined() -> None:
    """It is left out of the mean, or counts as the convention says."""

    @rn.metric(ties="input")
    def best(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
        return float(true.max())  # NaN for bob

    report = rn.evaluate(ROWS, metrics=[best(), best(2)])
    assert report.mean.tolist() == [5.0, 4.5]
    assert report.pooled.tolist() == [5.0, 4.5]
    assert report.counts["undefined best"] == 1
    zero = rn.evaluate(ROWS, metrics=best(), convention=rn.Convention(undefined=0.0))
    assert zero.mean["best"] == 2.5
    with rejects("bob"):
        rn.evaluate(ROWS, metrics=best(), convention=rn.Convention(undefined="raise"))


def test_there_are_no_levels_for_a_function_of_a_list() -> None:
    """Nobody knows what it says of other orders: NaN, in words and tables too."""
    kind = rn.metric(ties="input")(told)
    rows = [(user, ord(item), *rest) for user, item, *rest in ROWS]
    report = rn.evaluate(rows, metrics=[kind(2), "ndcg@2"])
    unknown = ["chance", "worst", "best", "adjusted", "tie_low", "tie_high", "decided_by_ties", "z"]
    assert report.audit.loc["told@2", unknown].isna().all()
    assert report.audit.loc["ndcg@2", ["chance", "worst", "best", "tie_low"]].notna().all()
    assert report.summary.loc["told@2", ["chance", "adjusted", "tie_low", "tie_high"]].isna().all()
    assert math.isnan(report.baselines["told@2"].to_dict()["chance"])
    users = report.per_user_audit("told@2")
    assert users["score"].notna().all()
    assert users[["chance", "worst", "best", "adjusted", "z"]].isna().all(axis=None)
    assert report.leaderboard("told@2").index.size == 2
    for by in ("adjusted", "z"):
        with rejects("told@2"):
            report.leaderboard("told@2", by=by)
    for text in (str(report), report.to_markdown(), Parsed(report.to_html()).text):
        assert "told@2" in text
        assert "nan" not in text.lower()


def test_who_is_left_out_is_not_asked_about() -> None:
    """A function need not bear the lists of users who do not count."""

    @rn.metric(ties="input")
    def top(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
        return float(true.max())  # raises where there is none

    labels = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "true": [5.0, 1.0, 2.0]})
    lists = rn.RankedLists.from_labels(labels, labels[:2].assign(estimated=[2.0, 1.0]))
    skipping = rn.Convention(missing_user="skip")
    assert rn.evaluate(lists, metrics=top(), convention=skipping)["top"] == 5.0


def test_who_is_too_short_is_not_asked_about() -> None:
    """Where short lists are dropped, a function need not bear them."""

    @rn.metric(ties="input")
    def second(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
        return float(true[1])

    rows = [*ROWS, ("dan", "a", 1.0, 1.0)]
    dropping = rn.Convention(short_list="drop")
    assert rn.evaluate(rows, metrics=second(2), convention=dropping)["second@2"] == 1.5


# they go wherever ours go


def test_all_three_kinds_are_printed_saved_and_loaded(
    somebodys: ModuleType, tmp_path: Path
) -> None:
    """Here, where they are known, and in another process, where they are not."""
    report = rn.evaluate(ROWS, metrics=[*NAMES, "ndcg@2"], threshold=4)
    assert report.metrics == [*NAMES, "ndcg@2"]
    assert report.metrics[0] == str(somebodys.early(2))
    texts = [str(report), report.to_markdown(), report.to_latex(), report.to_html()]
    assert all(name in text.replace(r"\_", "_") for name in NAMES for text in texts)
    report.save(tmp_path / "own.json")
    again = rn.Report.load(tmp_path / "own.json")
    assert again == report
    assert str(again) == str(report)
    program = (
        "import sys, recsys_ndcg as rn\n"
        f"report = rn.Report.load({str(tmp_path / 'own.json')!r})\n"
        "assert 'somebodys' not in sys.modules\n"
        "report.save('again.json')\n"
        "print(report, report.to_dict(), [hash(one) for one in report.signatures] != [])"
    )
    assert _elsewhere(program) == f"{report} {report.to_dict()} True\n"
    assert (tmp_path / "again.json").read_text() == (tmp_path / "own.json").read_text()


def test_all_three_kinds_are_pickled(somebodys: ModuleType, tmp_path: Path) -> None:
    """Metrics, classes and reports, here and for another process that can import them."""
    report = rn.evaluate(ROWS, metrics=NAMES, threshold=4)
    again = pickle.loads(pickle.dumps(report))  # noqa: S301
    assert again == report
    assert str(again) == str(report)
    assert again.take(["ann"]) == report.take(["ann"])
    for kind in (somebodys.early, somebodys.extent, somebodys.Steep):
        assert pickle.loads(pickle.dumps(kind)) is kind  # noqa: S301
        assert pickle.loads(pickle.dumps(kind(3))) == kind(3)  # noqa: S301
    (tmp_path / "report.pickle").write_bytes(pickle.dumps(report))
    program = (
        "import pickle, pathlib\n"
        f"bytes = pathlib.Path({str(tmp_path / 'report.pickle')!r}).read_bytes()\n"
        "print(pickle.loads(bytes))"
    )
    assert _elsewhere(program, tmp_path) == f"{report}\n"


@pytest.mark.usefixtures("somebodys")
@pytest.mark.parametrize("name", NAMES)
def test_all_three_kinds_go_through_reconcile(name: str) -> None:
    """Under every preset, as metrics that no library has."""
    table = rn.reconcile(ROWS, name, threshold=4)
    assert set(table["metric"]) == {name}
    assert table["value"].notna().sum() > 10


def test_a_report_on_all_three_kinds_is_taken_apart(somebodys: ModuleType, tmp_path: Path) -> None:
    """That of some users is that of their rows alone, from a file too."""
    report = rn.evaluate(ROWS, metrics=[*NAMES, somebodys.early()], threshold=4)
    alone = rn.evaluate(ROWS[:3], metrics=[*NAMES, somebodys.early()], threshold=4)
    assert report.take(["ann"]) == alone
    assert str(report.take(["ann"])) == str(alone)
    report.save(tmp_path / "own.json")
    assert rn.Report.load(tmp_path / "own.json").take(["ann"]) == alone


def test_a_function_of_ranks_needs_and_signs_what_it_reads() -> None:
    """Of relevance a threshold, of gains the gain and the ideal, with its top grade."""
    relevant, worth = (rn.metric(name=f"of_{of}", of=of)(halved) for of in ("relevance", "gain"))
    with rejects("of_relevance@2 needs to know which items are relevant"):
        rn.evaluate(ROWS, metrics=relevant(2))
    top = rn.Convention(ideal="max", max_grade=5, gain="linear")
    report = rn.evaluate(ROWS, metrics=[worth(2)], convention=top)
    for choice in ("gain:linear", "ideal:max", "max_grade:5.0"):
        assert choice in report.signature("of_gain@2").short
    signed = rn.evaluate(ROWS, metrics=[relevant(2)], threshold=4, convention=top).signature
    assert "max_grade" not in signed("of_relevance@2").short


def test_a_made_metric_is_documented_as_its_function() -> None:
    """For `help`, for pickles and for signatures."""

    def early(rank: Any) -> Any:
        """Prefer the first ranks."""
        return 1 / rank

    kind = rn.metric(early)
    assert kind.__doc__ == "Prefer the first ranks."
    assert (kind.__name__, kind.__qualname__) == ("early", early.__qualname__)
    assert kind().origin == f"{__name__}:{early.__qualname__}"
    assert rn.NDCG(3).origin == ""


def test_a_fingerprint_is_of_the_function_and_not_of_the_data() -> None:
    """Without a cutoff, too: the longest list of others says nothing about a function."""
    kind = rn.metric(name="made")(halved)
    whole = rn.evaluate([*ROWS[:3], *ROWS[3:5]], metrics=kind(), threshold=4).signature("made")
    alone = rn.evaluate(ROWS[3:5], metrics=kind(), threshold=4).signature("made")
    assert whole.fields["own"] == alone.fields["own"]


@pytest.mark.usefixtures("somebodys")
def test_a_signature_says_whose_a_metric_is() -> None:
    """Module and name; of weights a fingerprint, too. It reads back, in full and in short."""
    report = rn.evaluate(ROWS, metrics=[*NAMES, "ndcg@2"], threshold=4)
    early, extent, steep, ndcg = report.signatures.values()
    assert early.fields["own"].startswith("somebodys:early#")
    assert extent.fields["own"] == "somebodys:extent"
    assert steep.fields["own"] == "somebodys:Steep"
    assert "own" not in ndcg.fields
    for one in (early, extent, steep):
        assert rn.Signature(one.text) == one
        assert rn.Signature(one.short) == one
        assert f"own:{one.fields['own']}" in one.short
    linear = rn.evaluate(ROWS, metrics=NAMES, threshold=4, convention=rn.Convention(gain="linear"))
    assert linear.signature(NAMES[0]) == early  # it reads no gains
    assert linear.signature(NAMES[2]) != steep
    other = rn.evaluate(ROWS, metrics=NAMES, threshold=4, convention=rn.Convention(ties="worst"))
    assert other.signature(NAMES[0]) != early
    assert other.signature(NAMES[1]) == extent  # it breaks ties by its own rule


def test_two_functions_of_one_name_have_two_signatures() -> None:
    """A fingerprint of the weights: the same cell run twice has one, a changed one another."""

    def made(base: float) -> rn.Signature:
        @rn.metric(over="nothing")
        def steps(rank: Any) -> Any:
            return base ** (1 - rank)

        return rn.evaluate(ROWS, metrics=steps(2), threshold=4).signature("steps@2")

    assert made(2.0) == made(2.0)
    assert made(2.0).text == made(2.0).text
    assert made(2.0) != made(3.0)
    assert list(made(2.0).differences(made(3.0))) == ["own"]


SEARCH = """
import json
import surprise
from surprise.model_selection import KFold
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import GridSearchCV, cross_validate

if __name__ == "__main__":
    table = sample_ratings(20, 25)[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(0.5, 5)))
    names = ["early@3", "extent@3", "steep(power=3.0,base=2)@3", "early@3:catalogue"]
    how = {"cv": KFold(2, random_state=0), "threshold": 4}
    model = surprise.BaselineOnly(verbose=False)
    one, two = ({k: list(v) for k, v in dict(cross_validate(model, data, names, n_jobs=jobs, **how)).items()
                 if k.startswith("test_") and k != "test_time"} for jobs in (1, 2))
    assert one == two, (one, two)
    assert sorted(one) == sorted("test_" + name for name in names), one
    found = []
    for jobs in (1, 2):
        search = GridSearchCV(surprise.SVD, {"n_epochs": [2], "n_factors": [2, 5], "random_state": [0]},
                              [early(3), *names[1:]], n_jobs=jobs, refit="extent@3", **how)
        search.fit(data)
        found.append((search.best_score, search.best_params))
    assert found[0] == found[1], found
    print(json.dumps(one))
"""  # noqa: E501


@pytest.mark.parametrize("where", ["module", "script"])
def test_surprise_searches_by_all_three_kinds(where: str, folder: Path) -> None:
    """With two jobs as with one, defined in a module or in the script itself."""
    pytest.importorskip("surprise")
    script = folder / "searching.py"
    heading = "from somebodys import early\n" if where == "module" else SOMEBODYS
    script.write_text(heading + SEARCH)
    found = json.loads(_elsewhere(str(script), folder))
    assert len(found) == 4
    assert all(0 < value < 10 for values in found.values() for value in values)


# a catalogue


def _catalogue() -> tuple[Any, Any, list[Any], pd.DataFrame]:
    """Return a fitted model, its trainset, a testset and all estimates."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg.datasets import sample_ratings  # noqa: PLC0415
    from recsys_ndcg.surprise import predict_all  # noqa: PLC0415

    table = sample_ratings(20, 25)[["user", "item", "rating"]]
    reader = surprise.Reader(rating_scale=(0.5, 5))
    test = table[::3]
    train = surprise.Dataset.load_from_df(table.drop(test.index), reader).build_full_trainset()
    model = surprise.KNNBasic(verbose=False, k=2, min_k=2).fit(train)  # ties: many means
    rows = [*test.itertuples(index=False, name=None)]
    return model, train, rows, predict_all(model, clip=False)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_catalogue_takes_functions_of_ranks_and_refuses_those_of_lists() -> None:
    """Of a catalogue there are places alone."""
    model, train, test, _ = _catalogue()
    from recsys_ndcg.surprise import cross_validate, evaluate_catalogue  # noqa: PLC0415

    ranks, lists = rn.metric(over="weights")(level), rn.metric(ties="input")(told)
    how: dict[str, Any] = {"threshold": 4}
    report = evaluate_catalogue(model, train, test, metrics=[ranks(5), "precision@5"], **how)
    assert report.mean["level@5"] == pytest.approx(report.mean["precision@5"])
    assert report.audit.loc["level@5", "z"] == pytest.approx(report.audit.loc["precision@5", "z"])
    with rejects("told@5 looks at whole lists"):
        evaluate_catalogue(model, train, test, metrics=[lists(5)], **how)
    with rejects("told@5.* looks at whole lists"):
        cross_validate(model, _data(test), ["told@5:catalogue"], cv=2, **how)


def _data(rows: list[Any]) -> Any:
    surprise = pytest.importorskip("surprise")
    reader = surprise.Reader(rating_scale=(0.5, 5))
    return surprise.Dataset.load_from_df(pd.DataFrame(rows), reader)


# the command line


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    pd.DataFrame(ROWS, columns=["user", "item", "estimated", "true"]).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words",
    [
        ["somebodys:early@2"],
        ["ndcg@2,somebodys:early@2"],
        ["somebodys:early@2, rr,somebodys:extent"],
        ["somebodys:Steep(power=3.0,base=2)@2,somebodys:early@2"],
        ["somebodys:early@2", "somebodys:extent", "rr"],
        ["somebodys:early"],
    ],
)
def test_the_command_line_imports_metrics(path: Path, words: list[str]) -> None:
    """From the current folder, with parameters, several, after a comma."""
    given = [part for word in words for part in ("--metrics", word)]
    result = run("evaluate", path, *given, "--threshold", "4", "-k", "2")
    assert result.exit_code == 0, result.stderr
    plain = ",".join(words).replace("somebodys:", "").replace(" ", "")
    names = options.names_of([plain])
    report = rn.evaluate(ROWS, metrics=[name.lower() for name in names], threshold=4, k=2)
    lines = result.stdout.splitlines()[1 : 1 + len(names)]
    assert [line.split()[:2] for line in lines] == [
        [name, f"{mean:.4f}"] for name, mean in report.items()
    ]


@pytest.mark.usefixtures("folder")
def test_other_commands_import_metrics_too(path: Path, tmp_path: Path) -> None:
    """Reconcile; and a report that is saved is read where the metric is unknown."""
    result = run("reconcile", path, "--metric", "somebodys:early@2", "--threshold", "4")
    assert result.exit_code == 0, result.stderr
    assert "early@2" in result.stdout
    words: list[str | Path] = ["--metrics", "somebodys:extent@2", "--json", tmp_path / "r.json"]
    assert run("evaluate", path, *words).exit_code == 0
    assert rn.Report.load(tmp_path / "r.json").metrics == ["extent@2"]


def test_the_current_folder_is_on_the_path_of_an_installed_program(
    folder: Path, path: Path
) -> None:
    """As several words, which `main` takes apart."""
    words = ["evaluate", str(path), "--threshold", "4"]
    words += ["--metrics", "rr", "somebodys:early@2", "somebodys:extent@2"]
    program = (
        "import sys\n"
        f"sys.path[:] = [one for one in sys.path if one not in ('', {str(folder)!r})]\n"
        f"sys.argv[1:] = {words!r}\n"
        "from recsys_ndcg.cli import main\n"
        "main()"
    )
    names = [line.split()[0] for line in _elsewhere(program).splitlines()[1:4]]
    assert names == ["rr", "early@2", "extent@2"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rr", "somebodys:early@2", "p.csv"], ["rr", "somebodys:early@2"]),
        (["rr", "somebodys:early@2,ndcg", "p.csv"], ["rr", "somebodys:early@2,ndcg"]),
        (["rr", "ndcg,somebodys:early@2", "p.csv"], ["rr", "ndcg,somebodys:early@2"]),
        (["rr", "data:v2.csv"], ["rr"]),
    ],
)
def test_words_that_are_metrics_are_told_from_files(words: list[str], expected: list[str]) -> None:
    """Wherever in a word somebody's own stands."""
    spread = options.spread(["--metrics", *words])
    given = [spread[place + 1] for place, word in enumerate(spread) if word == "--metrics"]
    assert given == expected


@pytest.mark.parametrize(
    ("word", "match"),
    [
        ("nowhere:early@2", "nowhere:early@2: it cannot be imported .*No module named 'nowhere'"),
        ("somebodys:late@2", "somebodys:late@2: it cannot be imported .*no attribute 'late'"),
        ("somebodys:number", "'number' is no metric; make it one with @rn.metric"),
        ("somebodys:np", "'np' is no metric"),
        ("somebodys:Metric", "somebodys:Metric"),
        ("broken:early@2", "broken:early@2: it cannot be imported .*division by zero"),
        ("stolen:taken@2", "stolen:taken@2: it cannot be imported .*'ndcg' is taken"),
        ("somebodys:early@x", "'x' is not a number"),
        ("somebodys:early@0", "at least 1, not 0"),
        ("somebodys:early(1)@2", "early has no option in brackets"),
        ("somebodys:Steep(1)@2", "steep.power=...,base=....@10"),
        ("somebodys:early.more", "early.more"),
    ],
)
def test_what_cannot_be_imported_is_told(folder: Path, path: Path, word: str, match: str) -> None:
    """In one line: no module, no attribute, no metric, one that raises, one that is ours."""
    (folder / "broken.py").write_text("early = 1 / 0\n")
    (folder / "stolen.py").write_text(
        "import recsys_ndcg as rn\n@rn.metric(name='ndcg')\ndef taken(rank):\n    return rank\n"
    )
    line = error_of("evaluate", path, "--metrics", word, "--threshold", "4")
    with rejects(match, whole=False):
        raise rn.InvalidInputError(line)


# what is refused


@pytest.mark.parametrize(
    "name", ["ndcg", "map", "mrr", "auc", "rocauc", "roc_auc", "p", "rmse", "early"]
)
def test_a_taken_name_is_refused(somebodys: ModuleType, name: str) -> None:
    """Of ours, one that leads to ours, or of another module's."""
    with rejects(f"The name '{name}' is taken by", whole=False):
        rn.metric(name=name)(halved)
    with rejects(f"The name '{name}' is taken by", whole=False):
        rn.metric(name=name, ties="input")(told)
    stolen = type("Stolen", (Metric,), {"name": name, "__module__": __name__})
    with rejects(f"The name '{name}' is taken by .*give Stolen another name", whole=False):
        rn.metric(stolen)
    with rejects(f"The name '{name}' is taken by", whole=False):
        rn.evaluate(ROWS, metrics=[stolen(2)], threshold=4)
    assert METRICS["early"] is somebodys.early


@pytest.mark.parametrize(
    "name", ["", "Early", "2nd", "a-b", "a b", "früh", "a@2", "a:b", "a|b", "x\n", "_x", 3, b"x"]
)
def test_a_name_that_does_not_read_back_is_refused(name: Any) -> None:
    """Of letters, digits and _, and text."""
    before = dict(METRICS)
    for make in (rn.metric(name=name), rn.metric(name=name, ties="input")):
        with rejects("needs a name in lower case"):
            make(halved)
    assert before == METRICS


def test_functions_without_a_name_need_one() -> None:
    """A lambda, a part of another function, an object that can be called."""

    class Weights:
        def __call__(self, rank: Any) -> Any:
            return 1 / rank

    with rejects("needs a name in lower case"):
        rn.metric(lambda rank: 1 / rank)
    named = [
        rn.metric(name="anonymous")(lambda rank: 1 / rank),
        rn.metric(name="part")(partial(np.power, 0.5)),
        rn.metric(name="called")(Weights()),
        rn.metric(Weights()),
    ]
    report = rn.evaluate(ROWS, metrics=[kind(2) for kind in named], threshold=4)
    assert report.metrics == ["anonymous@2", "part@2", "called@2", "weights@2"]


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"of": "gains"}, "of must be one of 'relevance', 'gain', not 'gains'"),
        ({"over": "best"}, "over must be one of 'ideal', 'weights', 'nothing', not 'best'"),
        ({"ties": "expected"}, "ties must be one of 'input', 'item_asc'"),
        ({"ties": "best"}, "ties must be one of"),
        ({"ties": "input", "of": "gain"}, "a list has no option of"),
        ({"ties": "input", "over": "nothing"}, "a list has no option over"),
        ({"bounded": True}, "ranks has no option bounded"),
        ({"ties": "input", "bounded": "yes"}, "bounded must be one of True, False, not 'yes'"),
        ({"of": ["gain"]}, "of must be one of"),
    ],
)
def test_options_of_another_kind_are_refused(wrong: dict[str, Any], match: str) -> None:
    """And those that are none."""
    with rejects(match):
        rn.metric(**wrong)(halved)
    with rejects("says all by itself: leave out"):
        rn.metric(**wrong)(type("Own", (Metric,), {"name": "own"}))


@pytest.mark.parametrize("made", [3, "early", int, {"early": 1}, Any])
def test_only_functions_and_classes_make_metrics(made: Any) -> None:
    """And no class of something else."""
    with rejects("A metric is made of a function or a subclass of Metric"):
        rn.metric(made)


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (lambda rank: rank, "'bad' gives 2.0 at rank 2"),
        (lambda rank: 1.5 - rank, "'bad' gives -0.5 at rank 2"),
        (lambda rank: np.where(rank > 1, np.nan, 1.0), "'bad' gives nan at rank 2"),
        (lambda rank: np.where(rank > 1, 0.0, np.inf), "'bad' gives inf at rank 1"),
        (lambda _: 1.0, "'bad' must give one weight per rank; for 2 it gave 1.0"),
        (lambda rank: rank[:1], "'bad' must give one weight per rank"),
        (lambda _: None, "'bad' must give one weight per rank; for 2 it gave None"),
        (lambda rank: rank.astype(str), "'bad' must give one weight per rank"),
        (lambda rank: 1 if rank == 1 else 0, "'bad'.*ambiguous"),
        (lambda: 1.0, "'bad' must give one weight per rank, for an array of them"),
        (lambda rank: math.log(rank), "'bad' must give one weight per rank, for an array"),  # noqa: PLW0108
        (lambda rank: 1 / rank.nothing, "'bad'.*nothing"),
    ],
)
@pytest.mark.parametrize("of", ["relevance", "gain"])
def test_weights_that_are_none_are_refused(weight: Any, match: str, of: str) -> None:
    """Before anything is measured: increasing, negative, infinite, of another shape."""
    for over in ("ideal", "weights", "nothing"):
        bad = rn.metric(name="bad", of=of, over=over)(weight)
        for k in (2, 2) if "2" in match else (2, None):
            with rejects(match, whole=match != "'bad'.*nothing"):
                rn.evaluate(ROWS, metrics=[bad(k)], threshold=4)


@pytest.mark.parametrize("answer", ["1", None, math.inf, -math.inf, [1.0], np.ones(2), 1j])
def test_a_list_function_that_says_no_number_is_refused(answer: Any) -> None:
    """And the user is named."""

    @rn.metric(ties="input")
    def odd(estimated: Any, true: Any, items: Any) -> Any:  # noqa: ARG001
        return answer if np.isnan(true).any() else 1.0

    with rejects("'odd' must give a number for each list.*for user 'bob' it gave"):
        rn.evaluate(ROWS, metrics=odd())


def test_a_list_function_that_fails_is_told_with_the_user() -> None:
    """And with what it said; the cause stays attached."""

    @rn.metric(ties="input")
    def failing(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
        return 1 / (len(items) - 3) if "b" in items and true[0] == 4 else 0.5

    with pytest.raises(rn.InvalidInputError, match="'failing' fails for user 'bob'") as caught:
        rn.evaluate(ROWS, metrics=failing())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with rejects("'failing' fails for user 'bob': ZeroDivisionError"):
        rn.evaluate(ROWS, metrics=failing())


@pytest.mark.parametrize("k", [10_000_001, 10**12, sys.maxsize])
def test_a_huge_cutoff_is_refused_or_harmless(k: int) -> None:
    """Weights of all places are not added up; a list is cut nowhere."""
    for over in ("ideal", "weights", "nothing"):
        kind = rn.metric(name="huge", over=over)(halved)
        with rejects(f"huge@{k} adds up the weights of all k places; choose k up to"):
            rn.evaluate(ROWS, metrics=[kind(k)], threshold=4)
    lists = rn.metric(ties="input")(told)
    rows = [(user, ord(item), *rest) for user, item, *rest in ROWS]
    report = rn.evaluate(rows, metrics=[lists(k), lists()])
    assert report.mean.iloc[0] == report.mean.iloc[1]


def test_a_cell_of_a_notebook_may_run_twice() -> None:
    """The last definition holds, and the earlier objects go on working."""

    def cell(power: float) -> tuple[Any, Any, Any]:
        @rn.metric
        def again(rank: Any) -> Any:
            return rank**-power

        @rn.metric(ties="input")
        def twice(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001
            return power

        @rn.metric
        class Thrice(Metric):
            name: ClassVar[str] = "thrice"

            def numerator(self, ranking: Ranking) -> Floats:
                return np.full(len(ranking.n_items), power)

            def denominator(self, ranking: Ranking) -> Floats:
                return np.ones(len(ranking.n_items))

        return again, twice, Thrice

    first, second = cell(1.0), cell(2.0)
    names = ["again@2", "twice", "thrice"]
    by_name = rn.evaluate(ROWS, metrics=names, threshold=4)
    by_kind = rn.evaluate(ROWS, metrics=[kind(2) for kind in second], threshold=4)
    assert by_name.mean.tolist() == by_kind.mean.tolist()
    assert by_name.mean["twice"] == 2.0
    earlier = rn.evaluate(ROWS, metrics=[kind(2) for kind in first], threshold=4)
    assert earlier.mean["twice@2"] == 1.0
    assert earlier.mean["again@2"] != by_name.mean["again@2"]


# parameters


@pytest.mark.usefixtures("somebodys")
@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("steep(power=3.0,base=2)@5", "steep(power=3.0,base=2)@5"),
        ("Steep( base = 2 , POWER=3.0 ) @5".replace(" @", "@"), "steep(power=3.0,base=2)@5"),
        ("steep(power=3.0)", "steep(power=3.0)"),
        ("steep(power=2.0,base=1)@3", "steep@3"),
        ("steep(base=1e-3)@3", "steep(base=0.001)@3"),
        ("steep(base=0.5)@3", "steep(base=0.5)@3"),
    ],
)
def test_parameters_read_and_print(text: str, printed: str) -> None:
    """By name, in any order, without those at their defaults."""
    (metric,) = rn.evaluate(ROWS, metrics=text, threshold=4, k=None).metrics
    assert metric == printed
    assert rn.evaluate(ROWS, metrics=printed, threshold=4, k=None).metrics == [printed]


@pytest.mark.usefixtures("somebodys")
@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("steep(3.0)@5", "write the parameters of steep as 'steep.power=...,base=....@10'"),
        ("steep(power=3.0,power=2.0)@5", "write the parameters of steep"),
        ("steep(p=3.0)@5", "write the parameters of steep"),
        ("steep()@5", "write the parameters of steep"),
        ("steep(power=)@5", "'' is not a number"),
        ("steep(power=x)@5", "'x' is not a number"),
        ("steep(power=3.0,)@5", "write the parameters of steep"),
        ("steep(power=__import__)@5", "'__import__' is not a number"),
    ],
)
def test_odd_parameters_are_refused(text: str, match: str) -> None:
    """With the form that reads."""
    with rejects(match):
        rn.evaluate(ROWS, metrics=text)


@pytest.mark.usefixtures("somebodys")
@pytest.mark.parametrize("value", ["[1]", "[1", "{}", "{1: 2}", "{1}", "1 2", "1e", "*"])
def test_parameters_that_cannot_be_compared_are_refused(value: str) -> None:
    """A metric is a value, and its name must read back."""
    with rejects("steep"):
        rn.evaluate(ROWS, metrics=f"steep(power={value})@5")


# entry points


@pytest.fixture(name="install")
def _install(folder: Path) -> Callable[..., None]:
    """Return what lays down an installed package, with its entry points."""

    def install(points: str, code: str = SOMEBODYS, name: str = "brought") -> None:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[recsys_ndcg.metrics]\n{points}\n")
        (folder / f"{name}.py").write_text(code)

    return install


@pytest.mark.parametrize("text", ["early@5", "EARLY@5", "early"])
def test_a_package_brings_metrics(install: Callable[..., None], text: str) -> None:
    """It is imported when its metric is asked for, and not before."""
    install("early = brought:early\nsteep = brought:Steep")
    assert "brought" not in sys.modules
    report = rn.evaluate(ROWS, metrics=text, k=5, threshold=4)
    assert report.metrics == ["early@5"]
    assert report.signature("early@5").fields["own"].startswith("brought:early#")
    assert rn.evaluate(ROWS, metrics="steep(base=2)@5").metrics == ["steep(base=2)@5"]


def test_a_metric_of_a_package_goes_by_name_everywhere(
    install: Callable[..., None], path: Path, tmp_path: Path
) -> None:
    """The command line, reconcile, a report that is loaded where nobody asked before."""
    install("early = brought:early")
    report = rn.evaluate(ROWS, metrics="early@2", threshold=4)
    report.save(tmp_path / "r.json")
    words = ["--metrics", "early@2", "--threshold", "4"]
    uses: list[Callable[[], bool]] = [
        lambda: run("evaluate", path, *words).exit_code == 0,
        lambda: set(rn.reconcile(ROWS, "early@2", threshold=4)["metric"]) == {"early@2"},
        lambda: rn.Report.load(tmp_path / "r.json") == report,
    ]
    for use in uses:
        METRICS.pop("early", None)
        assert use()


def test_surprise_knows_metrics_of_packages(install: Callable[..., None]) -> None:
    """Cross-validation takes the names that `evaluate` takes."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg.datasets import sample_ratings  # noqa: PLC0415
    from recsys_ndcg.surprise import cross_validate  # noqa: PLC0415

    install("early = brought:early")
    data = _data([*sample_ratings(20, 25)[["user", "item", "rating"]].to_numpy().tolist()])
    model = surprise.BaselineOnly(verbose=False)
    found = cross_validate(model, data, ["early@5"], cv=2, threshold=4)
    assert len(found["test_early@5"]) == 2


@pytest.mark.parametrize(
    ("point", "match"),
    [
        ("early = nowhere:early", "'early' of nowhere:early cannot be loaded: ModuleNotFound"),
        ("early = brought:late", "'early' of brought:late cannot be loaded: AttributeError"),
        ("early = brought:number", "brought:number is offered as the metric 'early', but is 3"),
        ("early = brought:Steep", "brought:Steep is offered as the metric 'early', but is the cl"),
        ("early = brought:np", "brought:np is offered as the metric 'early', but is <module"),
        ("early = brought", "brought is offered as the metric 'early', but is <module"),
    ],
)
def test_a_broken_package_is_told(install: Callable[..., None], point: str, match: str) -> None:
    """When its metric is asked for; others do not suffer."""
    install(point)
    assert rn.evaluate(ROWS, metrics="ndcg@2").metrics == ["ndcg@2"]
    with rejects(match, whole=False):
        rn.evaluate(ROWS, metrics="early@2", threshold=4)


def test_a_package_that_fails_or_steals_is_told(install: Callable[..., None]) -> None:
    """Whatever it raises; and a name that leads to ours stays taken."""
    install("early = brought:early", "raise RuntimeError('no licence')")
    with rejects(r"'early' of brought:early cannot be loaded: RuntimeError\('no licence'\)"):
        rn.evaluate(ROWS, metrics="early@2")
    code = SOMEBODYS.replace("@rn.metric\ndef early", "@rn.metric(name='map')\ndef early")
    install("map = stealing:early", code, "stealing")
    with rejects("'map'", whole=False):
        rn.evaluate(ROWS, metrics="map@2", threshold=4)


def test_names_of_ours_ask_no_package(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody can put another metric under them, and nothing is looked up."""
    install("ndcg = brought:early")

    def asked(**_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("importlib.metadata.entry_points", asked)
    names = [name for name in METRICS if name not in {"rmse", "mse", "mae", "auc"}]
    report = rn.evaluate(ROWS, metrics=names, threshold=4, k=2)
    assert str(report)
    assert "brought" not in sys.modules


def test_an_unknown_name_has_those_of_packages_near(install: Callable[..., None]) -> None:
    """Without loading them."""
    install("earliest = brought:early")
    with rejects("No metric is named 'earlest@2'. Did you mean 'earliest'?", rn.UnknownMetricError):
        rn.evaluate(ROWS, metrics="earlest@2")
    assert "brought" not in sys.modules


# auc


def _pairs(rows: list[Row], chosen: Choices) -> tuple[float, float]:
    """Return the pairs in the right order, with half of the tied ones, and all pairs."""
    kept = textbook.kept(rows, chosen)
    relevant = [row for row in kept if textbook.relevant(row.true, chosen)]
    others = [row for row in kept if not textbook.relevant(row.true, chosen)]
    estimates = [
        (textbook.ranked_by(one, chosen), textbook.ranked_by(other, chosen))
        for one in relevant
        for other in others
    ]
    right = sum(high > low for high, low in estimates)
    tied = sum(high == low for high, low in estimates)
    return right + tied / 2, len(estimates)


@examples(0.6)
@given(data=strategies.datasets(most=9), chosen=strategies.choices)
def test_auc_is_the_share_of_pairs(data: Sample, chosen: Choices) -> None:
    """Ties half; pooled is weighted by pairs; exact, as all are halves."""
    assume(strategies.is_usable(data))
    chosen = replace(chosen, ties="expected", short_list="k", mean_over="all", undefined="skip")
    report = rn.evaluate(
        data.lists,
        metrics="auc",
        threshold=chosen.threshold,
        convention=strategies.to_convention(chosen),
    )
    pairs = {user: _pairs(data.users.get(user, []), chosen) for user in report.users.tolist()}
    for user, (right, total) in pairs.items():
        assert _same(_score(report, user, "auc"), right / total if total else math.nan)
    every = sum(total for _, total in pairs.values())
    whole = sum(right for right, _ in pairs.values()) / every if every else math.nan
    assert _same(report.pooled["auc"], whole)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_auc_of_a_catalogue_is_that_of_all_candidates() -> None:
    """All items that a user has not rated in training; the unlabelled are not relevant."""
    model, train, test, estimates = _catalogue()
    from recsys_ndcg.surprise import evaluate_catalogue  # noqa: PLC0415

    report = evaluate_catalogue(model, train, test, metrics=["auc", "ndcg@5"], threshold=4)
    rated = {(train.to_raw_uid(u), train.to_raw_iid(i)) for u, i, _ in train.all_ratings()}
    true = {(user, item): rating for user, item, rating in test}
    table = estimates.to_dict("index")
    all_right = all_pairs = 0.0
    for user in report.users.tolist():
        items = {item: est for item, est in table[user].items() if (user, item) not in rated}
        relevant = [est for item, est in items.items() if true.get((user, item), 0) >= 4]
        others = [est for item, est in items.items() if true.get((user, item), 0) < 4]
        gaps = [one - other for one in relevant for other in others]
        right = math.fsum(1.0 if gap > 1e-9 else 0.5 * (abs(gap) <= 1e-9) for gap in gaps)
        all_right, all_pairs = all_right + right, all_pairs + len(gaps)
        assert _same(_score(report, user, "auc"), right / len(gaps) if gaps else math.nan)
    assert report.pooled["auc"] == pytest.approx(all_right / all_pairs)
    assert report.audit.loc["auc", "chance"] == pytest.approx(0.5)


def test_auc_has_no_cutoff() -> None:
    """And is found under its other names."""
    with rejects("auc has no cutoff; ask for 'auc', not 'auc@5'"):
        rn.evaluate(ROWS, metrics="auc@5", threshold=4)
    assert rn.evaluate(ROWS, metrics="auroc", threshold=4).metrics == ["auc"]
    assert rn.evaluate(ROWS, metrics="auc", k=[1, 5], threshold=4).metrics == ["auc"]
    assert not rn.evaluate(ROWS, metrics="auc", threshold=4).signature("auc").fields.get("own")


def test_a_class_with_parameters_is_made_by_the_same_door() -> None:
    """A dataclass that was frozen before, used by its object and by its name."""

    @rn.metric
    @dataclass(frozen=True)
    class Deep(Metric):
        name: ClassVar[str] = "deep"
        bounded: ClassVar[bool] = False
        first: float = 1.0
        second: float = 0.0

        def numerator(self, ranking: Ranking) -> Floats:
            return np.full(len(ranking.n_items), self.first + self.second)

        def denominator(self, ranking: Ranking) -> Floats:
            return np.ones(len(ranking.n_items))

    report = rn.evaluate(ROWS, metrics=[Deep(second=2.0), "deep(first=3.0,second=1.0)@2"])
    assert dict(report) == {"deep(second=2.0)": 3.0, "deep(first=3.0,second=1.0)@2": 4.0}
    assert Deep(2, np.float64(3.0)) == Deep(2, 3.0)
    assert str(Deep(2, np.float64(3.0))) == "deep(first=3.0)@2"
