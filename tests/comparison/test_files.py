"""A saved comparison comes back the same; a changed file raises an error that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.errors import assert_rejected
from tests.profiles import examples

HOW: dict[str, Any] = {"threshold": 4, "margin": 0.02, "by": "list_length", "alpha": 0.1}
MODELS = models(users=30, good=0.8, fair=2.0)
COMPARISON = rn.compare(MODELS, metrics=["ndcg@3", "precision@3", "rmse"], **HOW)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "c.json"


def saved(comparison: rn.Comparison, path: Path) -> rn.Comparison:
    """Save a comparison, and load it."""
    comparison.save(path)
    return rn.Comparison.load(path)


def check_same(one: rn.Comparison, other: rn.Comparison) -> None:
    """Compare tables, to the last bit, and all that is printed."""
    for name in ("leaderboard", "pairwise", "per_user", "segments"):
        tables = getattr(one, name), getattr(other, name)
        pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert (str(one), one.verdict, one.remarks) == (str(other), other.verdict, other.remarks)
    assert one.to_dict() == other.to_dict()


def test_everything_but_the_lists_is_saved(path: Path) -> None:
    """Saving it again writes the same bytes."""
    again = saved(COMPARISON, path)
    check_same(COMPARISON, again)
    assert again.movers(3).table.equals(COMPARISON.movers(3).table)
    assert str(again.not_worse("fair")) == str(COMPARISON.not_worse("fair"))
    assert_rejected("'good' has no lists", again.overlap, 3)
    content = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == content


#: Text as people and tables have it: emoji of several characters, invisible characters.
TEXTS = st.one_of(
    st.text(max_size=8),
    st.text("a7 \t\n\0\xa0\u200b\u200d\u202e\ufeff\x1b\U0001f469e\u0301", max_size=8),
).filter(str.strip)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(st.integers(), st.integers(-(2**70), 2**70), FLOATS, st.booleans())
ANY = st.one_of(TEXTS, NUMBERS)


@pytest.mark.slow
@examples(0.4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    names=st.lists(TEXTS, min_size=2, max_size=3, unique_by=str.strip),
    labels=st.lists(ANY, min_size=1, max_size=3, unique=True),
    users=st.one_of(
        *(st.lists(one, min_size=3, max_size=4, unique=True) for one in (TEXTS, NUMBERS, ANY))
    ),
)
@example(["SVD\xa0++", "\U0001f469\u200d\U0001f52c"], [7, 30], ["a\tb", "\ufeffb", "c\u200dd"])
@example(["SVD", "\ufeffKNN"], ["a\xa0b", "\t7", 7.5], [-1, 2**63, 0])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_names_labels_and_ids_may_be_any_text_or_number(
    path: Path, names: list[str], labels: list[Any], users: list[Any]
) -> None:
    """Each comes back as what it was, of its type; in reports, too."""
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
    again = saved(comparison, path)
    check_same(comparison, again)
    kept, loaded = (one.segments.index.get_level_values(1).tolist() for one in (comparison, again))
    assert [*map(type, loaded)] == [*map(type, kept)]
    report = rn.evaluate(rows, metrics="ndcg@2")
    report.save(path)
    assert rn.Report.load(path) == report
    assert rn.Report.load(path).to_dict() == report.to_dict()


@pytest.mark.parametrize("label", [pd.Timestamp("2020-01-01"), (1, 2), pd.Interval(0, 4)])
def test_labels_must_be_text_or_numbers_to_be_saved(label: Any, path: Path) -> None:
    """As user ids must be."""
    groups = {f"u{user:04}": label if user % 2 else "other" for user in range(9)}
    comparison = rn.compare(models(users=9), by=groups)
    message = "segment label .* cannot be saved; use text or numbers"
    assert_rejected(message, comparison.save, path, whole=False)
    assert not path.exists()
    rows = [((1, 2), item, 1.0 * item, 4.0 - item) for item in range(3)]
    comparison = rn.compare({"a": rows, "b": list(rows)})
    assert_rejected(r"user id \(1, 2\) cannot be saved", comparison.save, path)


def test_folds_and_a_baseline_of_chance_are_saved(path: Path) -> None:
    """The leaderboard keeps the spread between folds."""
    runs = [rn.evaluate(models(seed=0, a=1.0 + seed)["a"]) for seed in range(3)]
    comparison = rn.compare({"runs": runs, "one": models(seed=0, b=3.0)["b"]}, baseline="chance")
    again = saved(comparison, path)
    assert again._data.baseline == "chance"
    assert again.leaderboard.equals(comparison.leaderboard)
    assert again.leaderboard["spread"]["runs"] > 0


def test_a_changed_file_raises_and_is_named(path: Path) -> None:
    """Wherever it was changed."""
    COMPARISON.save(path)
    content = path.read_bytes()
    for place in range(0, len(content), len(content) // 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert_rejected(f"^{path}: ", rn.Comparison.load, path, whole=False)
    path.write_bytes(content.replace(b'"baseline": "good"', b'"baseline": "fair"', 1))
    message = "c.json: this comparison was damaged, or changed after it was"
    assert_rejected(message, rn.Comparison.load, path, whole=False)
    rn.evaluate(models()["good"]).save(path)
    message = "not a comparison that recsys_ndcg saved"
    assert_rejected(message, rn.Comparison.load, path, whole=False)
