"""A comparison that was saved comes back the same; one that was changed is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.report import audit_from_parquet, report_to_parquet
from tests.comparison.models import models
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["ndcg@3", "precision@3", "rmse"]


@pytest.fixture(name="comparison", scope="module")
def _comparison() -> rn.Comparison:
    return rn.compare(
        models(users=30), metrics=METRICS, threshold=4, margin=0.02, by="list_length", alpha=0.1
    )


def test_all_but_the_lists_comes_back(comparison: rn.Comparison, tmp_path: Path) -> None:
    """To the last bit, with the same draws."""
    comparison.save(tmp_path / "c.json")
    again = rn.Comparison.load(tmp_path / "c.json")
    for name in ("leaderboard", "pairwise", "per_user", "segments"):
        pd.testing.assert_frame_equal(
            getattr(comparison, name), getattr(again, name), check_exact=True
        )
    assert again.verdict == comparison.verdict
    assert again.remarks == comparison.remarks
    assert str(again) == str(comparison)
    assert again.to_dict() == comparison.to_dict()
    assert again.movers(3).table.equals(comparison.movers(3).table)
    assert str(again.not_worse("fair")) == str(comparison.not_worse("fair"))
    with rejects("'good' has no lists"):
        again.overlap(3)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "c.json").read_bytes()


@pytest.mark.parametrize("ids", [[7, 8, 2**70], ["x", "ü", "7"], [1.5, 2.0, 3.0]])
def test_ids_come_back_as_they_were(ids: list[Any], tmp_path: Path) -> None:
    """Numbers and text."""
    rows = [(user, item, 1.0 * item, 4.0 - item) for user in ids for item in range(3)]
    other = [(user, item, -est, true) for user, item, est, true in rows]
    comparison = rn.compare({"a": rows, "b": other}, baseline="chance")
    comparison.save(tmp_path / "c.json")
    again = rn.Comparison.load(tmp_path / "c.json")
    assert again.users.tolist() == comparison.users.tolist()
    assert again.baseline == "chance"


#: Text as people and tables have it: in emoji of several characters, with signs that are not seen.
TEXTS = st.one_of(
    st.text(max_size=8),
    st.text("a7 \t\n\0\xa0\u200b\u200d\u202e\ufeff\x1b\U0001f469e\u0301", max_size=8),
).filter(str.strip)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)


@examples(0.6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    names=st.lists(TEXTS, min_size=2, max_size=3, unique_by=str.strip),
    labels=st.lists(st.one_of(TEXTS, NUMBERS), min_size=1, max_size=3, unique=True),
    users=st.one_of(*(st.lists(kind, min_size=3, max_size=4, unique=True) for kind in (
        TEXTS, NUMBERS, st.one_of(TEXTS, NUMBERS)))),
)  # fmt: skip
@example(["SVD\xa0++", "\U0001f469\u200d\U0001f52c"], [7, 30], ["a\tb", "\ufeffb", "c\u200dd"])
@example(["SVD", "\ufeffKNN"], ["a\xa0b", "\t7", 7.5], [-1, 2**63, 0])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_whatever_models_segments_and_users_are_called_comes_back(
    tmp_path: Path, names: list[str], labels: list[Any], users: list[Any]
) -> None:
    """Any text and any number, each of its type, and all that is said of it."""
    path = tmp_path / "c.json"
    rows = [(user, item, place - item, item) for place, user in enumerate(users) for item in (1, 2)]
    data = {
        name: [(user, item, est * (-1) ** place, true) for user, item, est, true in rows]
        for place, name in enumerate(names)
    }
    groups = {user: labels[place % len(labels)] for place, user in enumerate(users)}
    try:
        comparison = rn.compare(data, metrics="ndcg@2", by=groups)
    except rn.InvalidInputError as error:
        assume("written alike" not in str(error))  # such as 7 and "7"
        raise
    comparison.save(path)
    again = rn.Comparison.load(path)
    for name in ("leaderboard", "pairwise", "per_user", "segments"):
        pd.testing.assert_frame_equal(getattr(comparison, name), getattr(again, name))
    kept, loaded = (one.segments.index.get_level_values(1).tolist() for one in (comparison, again))
    assert [*map(type, loaded)] == [*map(type, kept)]
    assert again.to_dict() == comparison.to_dict()
    assert (str(again), again.verdict) == (str(comparison), comparison.verdict)
    report = rn.evaluate(rows, metrics="ndcg@2")
    report.save(path)
    assert rn.Report.load(path) == report
    assert rn.Report.load(path).to_dict() == report.to_dict()
    try:
        parquet = report_to_parquet(report)
    except rn.InvalidInputError:  # of several types, or longer than 64 bits
        return
    assert rn.Report(audit_from_parquet(parquet)).users.tolist() == report.users.tolist()


@pytest.mark.parametrize("label", [pd.Timestamp("2020-01-01"), (1, 2), pd.Interval(0, 4)])
def test_labels_that_json_does_not_have_are_refused(label: Any, tmp_path: Path) -> None:
    """When they are saved, as user ids are; they came back as text."""
    groups = {f"u{user:04}": label if user % 2 else "other" for user in range(9)}
    comparison = rn.compare(models(users=9), by=groups)
    with rejects("segment label .* cannot be saved; use text or numbers", whole=False):
        comparison.save(tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_folds_come_back_with_their_spread(tmp_path: Path) -> None:
    """Seeds, too."""
    runs = [rn.evaluate(models(seed=0, a=1.0 + seed)["a"]) for seed in range(3)]
    comparison = rn.compare({"runs": runs, "one": models(seed=0, b=3.0)["b"]})
    comparison.save(tmp_path / "c.json")
    again = rn.Comparison.load(tmp_path / "c.json")
    assert again.leaderboard.equals(comparison.leaderboard)
    assert again.leaderboard["spread"]["runs"] > 0


def test_a_comparison_that_was_changed_is_refused(
    comparison: rn.Comparison, tmp_path: Path
) -> None:
    """Wherever, and it is named."""
    path = tmp_path / "c.json"
    comparison.save(path)
    content = path.read_bytes()
    for place in range(0, len(content), 97):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with rejects(f"^{path}: ", whole=False):
            rn.Comparison.load(path)
    path.write_bytes(content.replace(b'"baseline": "good"', b'"baseline": "fair"', 1))
    with rejects("c.json: this comparison was damaged, or changed after it was", whole=False):
        rn.Comparison.load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A report, and what is no JSON."""
    rn.evaluate(models()["good"]).save(tmp_path / "r.json")
    with rejects("not a comparison that recsys_ndcg saved", whole=False):
        rn.Comparison.load(tmp_path / "r.json")
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with rejects("not JSON", whole=False):
        rn.Comparison.load(tmp_path / "x.json")
    with rejects("cannot be read", whole=False):
        rn.Comparison.load(tmp_path / "none.json")
    rows = [((1, 2), item, 1.0 * item, 4.0 - item) for item in range(3)]
    other = [(user, item, -est, true) for user, item, est, true in rows]
    with rejects(r"user id \(1, 2\) cannot be saved"):
        rn.compare({"a": rows, "b": other}).save(tmp_path / "t.json")
