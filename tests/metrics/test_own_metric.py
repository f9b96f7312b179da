"""A metric class of a user's own works wherever one of ours does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.arrays import row_sums
from recsys_ndcg.metrics import METRICS, Metric
from tests.errors import rejects

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.ranking import Ranking

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ROWS = [
    ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, None),
    ("bob", "a", 2.0, 4), ("bob", "b", 2.0, 2),
]  # fmt: skip


class First(Metric):
    """Whether the first item is relevant."""

    name: ClassVar[str] = "first"
    needs_threshold: ClassVar[bool] = True

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of rank 1."""
        return row_sums(ranking.relevance[:, :1])

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))


@dataclass(frozen=True)
class Steep(Metric):
    """A sum of gains that has no bound, and a parameter."""

    name: ClassVar[str] = "steep"
    uses_gains: ClassVar[bool] = True
    bounded: ClassVar[bool] = False

    power: float = 2.0

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted gains."""
        table = ranking.gain[:, : self.k]
        return row_sums(table / np.arange(1, table.shape[1] + 1) ** self.power)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))


class Rooted(First):
    """One that makes its score in a way of its own."""

    name: ClassVar[str] = "rooted"

    def score(self, ratio: Floats) -> Floats:
        """Return the root."""
        root: Floats = np.sqrt(np.maximum(ratio, 0))
        return root


def test_it_is_measured_printed_saved_and_loaded(tmp_path: Path) -> None:
    """Beside metrics of ours, under a name that is not known where the file is read."""
    report = rn.evaluate(ROWS, metrics=[First(), "ndcg@2", Steep(2, 3.0), Steep()], threshold=4)
    assert report.metrics == ["first", "ndcg@2", "steep(power=3.0)@2", "steep"]
    assert report.mean["first"] == 0.75
    for text in (str(report), report.to_markdown(), report.to_latex(), report.to_html()):
        assert "first" in text
        assert "steep" in text
    assert "Random order would already score" in str(report)
    report.save(tmp_path / "own.json")
    again = rn.Report.load(tmp_path / "own.json")
    pd.testing.assert_frame_equal(again.per_user, report.per_user)
    pd.testing.assert_frame_equal(again.summary, report.summary)
    pd.testing.assert_frame_equal(again.intervals(), report.intervals())
    assert str(again) == str(report)
    assert again._repr_html_() == report._repr_html_()
    assert again.leaderboard("steep(power=3.0)@2").index[0] == "ann"
    assert again.to_dict() == report.to_dict()


def test_one_that_makes_its_own_score_is_loaded_where_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file holds numbers and no code."""
    report = rn.evaluate(ROWS, metrics=[Rooted()], threshold=4)
    assert report.per_user["rooted"].tolist() == pytest.approx([1.0, 0.5**0.5])
    assert "rooted" in str(report)
    report.save(tmp_path / "own.json")
    with rejects("rooted makes its score in a way .* import its module", whole=False):
        rn.Report.load(tmp_path / "own.json")
    monkeypatch.setitem(METRICS, "rooted", Rooted)
    assert str(rn.Report.load(tmp_path / "own.json")) == str(report)


def test_it_goes_through_reconcile_and_signatures() -> None:
    """Under every preset, as a metric that no library has."""
    table = rn.reconcile(ROWS, First(), threshold=4)
    assert table["value"].notna().sum() > 20
    assert set(table["metric"]) == {"first"}
    report = rn.evaluate(ROWS, metrics=First(), threshold=4)
    assert report.signature("first").startswith("first|gain:exponential|")


def test_the_names_of_classes_are_known_to_type_checkers() -> None:
    """A checker reads this file: parameters of their own are those of the class."""
    persistent: rn.RBP = rn.RBP(10, p=0.9)
    assert str(persistent) == "rbp(p=0.9)@10"
    source = Path(rn.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    missing: list[Any] = [
        kind for kind in METRICS.values() if f"as {kind.__name__}\n" not in source
    ]
    assert not missing


class Late(First):
    """One whose best order is not that with the best items first."""

    name: ClassVar[str] = "late"
    best_first: ClassVar[bool] = False

    @property
    def depth(self) -> int:
        """It reads the second rank."""
        return 2

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of rank 2."""
        return row_sums(ranking.relevance[:, 1:2])


def test_where_the_best_items_do_not_make_the_best_order_none_is_told() -> None:
    """Chance is; worst, best, what follows from them and the tie range are not."""
    report = rn.evaluate(ROWS, metrics=[Late(), First()], threshold=4)
    late = report.audit.loc["late"].to_dict()
    assert late["chance"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    unknown = ["worst", "best", "adjusted", "z", "trivial", "tie_low", "decided_by_ties"]
    assert all(np.isnan(late[name]) for name in unknown)
    assert report.counts["trivial late"] == 0
    with rejects("late has no adjusted for any user", whole=False):
        report.leaderboard("late", by="adjusted")
    assert report.leaderboard("late").index.tolist() == ["bob", "ann"]


@pytest.mark.parametrize("name", ["early\ud800", "early\0"])
def test_a_name_that_no_class_can_have_is_refused(name: str) -> None:
    """Like any other that cannot be typed."""

    def early(ranks: Any) -> Any:
        return 1 / ranks

    early.__name__ = name
    with rejects("A metric needs a name in lower case, of letters"):
        rn.metric(early)


def test_two_metrics_of_one_name_are_not_measured_together() -> None:
    """A table has one column of that name."""

    def made(share: float) -> Any:
        return type("Share", (First,), {"name": "share", "part": share})

    with rejects("Two different metrics are called 'share'"):
        rn.evaluate(ROWS, metrics=[made(0.5)(), made(0.9)()], threshold=4)


class Started(First):
    """One whose denominator depends on the order: undefined unless the list starts well."""

    name: ClassVar[str] = "started"

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the relevance of the first, over the length of the list."""
        return ranking.relevance[:, 0] / ranking.n_items

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the relevance of the first."""
        return ranking.relevance[:, 0].copy()


def test_reference_levels_are_over_the_users_who_have_a_score_of_their_own() -> None:
    """Random order would give everybody one."""
    rows = [
        ("ann", "a", 3.0, 5), ("ann", "b", 2.0, 1), ("ann", "c", 1.0, 1),
        ("bob", "a", 2.0, 1), ("bob", "b", 1.0, 5),
    ]  # fmt: skip
    levels = ["chance", "worst", "best"]
    audit = rn.evaluate(rows, metrics=[Started()], threshold=4).audit[levels]
    ann = rn.evaluate(rows[:3], metrics=[Started()], threshold=4).audit[levels]
    pd.testing.assert_frame_equal(audit, ann)
