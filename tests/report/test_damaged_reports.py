"""A saved report that was changed is refused when it is loaded, and the part is named."""

from __future__ import annotations

import base64
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.report.packing import pack
from recsys_ndcg.report.storage import least_size
from tests.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
Stored = dict[str, Any]
METRICS = ["ndcg@2", "precision@2", "rr", "rmse"]
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics=METRICS, threshold=2).save(path)
    return path


def _set(*where: str, to: Any) -> Callable[[Stored], None]:
    """Return what puts a value, or a column, somewhere."""

    def change(stored: Stored) -> None:
        *keys, last = where
        for key in keys:
            stored = stored[key]
        stored[last] = pack(to) if isinstance(to, np.ndarray) else to

    return change


def _without(*where: str) -> Callable[[Stored], None]:
    def change(stored: Stored) -> None:
        *keys, last = where
        for key in keys:
            stored = stored[key]
        del stored[last]

    return change


def _flags_that_are_none(stored: Stored) -> None:
    data = base64.b64encode(zlib.compress(bytes([0, 7, 255]))).decode()
    stored["lists"]["tied"]["data"] = data


def _whole(*values: int) -> Any:
    return np.array(values)


def _floats(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


nan, inf = np.nan, np.inf
CHANGES: list[tuple[Callable[[Stored], None], str]] = [
    (_set("signatures", to={}), "signatures is empty"),
    (_set("signatures", to=["ndcg@2"]), r"signatures is \['ndcg@2'\], which has no parts"),
    (_set("signatures", "ndcg@2", to=None), "signatures.ndcg@2 is None, not the signature"),
    (_set("signatures", "ndcg@2", to="rr|x"), "signatures.ndcg@2 is none: "),
    (_set("signatures", "NDCG@2", to="rr"), "signatures.NDCG@2 is none: "),
    (lambda s: s["signatures"].update({"ndcg@2": s["signatures"]["rr"]}), "of another metric"),
    (
        lambda s: s["signatures"].update(
            rmse=s["signatures"]["rmse"].replace("users:3", "users:2")
        ),
        "signatures.rmse tells of 2 users with a score, but there are 3",
    ),
    (
        lambda s: s["signatures"].update(
            rr=s["signatures"]["rr"].replace("threshold:2.0", "threshold:inf")
        ),
        "signatures.rr is .* another metric or threshold",
    ),
    (
        lambda s: s["signatures"].update(rr=s["signatures"]["rr"] + "\ud800"),
        "signatures.rr is none",
    ),
    (_without("n_users"), "n_users is missing"),
    (_set("n_users", to=0), "n_users is 0, not a whole number from 1 to"),
    (_set("n_users", to=-3), "n_users is -3, not a whole number"),
    (_set("n_users", to=True), "n_users is True, not a whole number"),
    (_set("n_users", to=3.0), "n_users is 3.0, not a whole number"),
    (_set("n_users", to=10**400), "n_users is 1000.*, not a whole number"),
    (_set("n_users", to=2 * 10**9), "n_users is 2000000000, .*more than a file of this size"),
    (_set("n_users", to=4), "users holds 3 ids, but n_users is 4"),
    (_set("users", to=[]), "users holds 0 ids, but n_users is 3"),
    (_set("users", to="abc"), "users is no packed column of 3 values"),
    (_set("users", to=None), "users is no packed column of 3 values"),
    (_set("users", to=["a", "b", []]), r"users holds \[\], which is no id"),
    (_set("users", to=["a", "b", {}]), "users holds {}, which is no id"),
    (_set("users", to=["a", "b", None]), "users holds None, which is no id"),
    (_set("users", to=["a", "b", "\ud800"]), r"users holds '.ud800', which is no id"),
    (_set("users", to=[1, 2, nan]), "users holds nan, which is no id"),
    (_set("users", to=[1, 2, -inf]), "users holds -inf, which is no id"),
    (_set("users", to=["a", "b", "a"]), "users holds an id twice"),
    (_set("users", to=[1, True, 2]), "users holds an id twice"),
    (_set("users", to=_floats(1, 2, 3)), "users is packed as float64"),
    (_set("users", to=_whole(1, 2, 2)), "users holds an id twice"),
    (_set("users", to=_whole(2, 1, 2)), "users holds an id twice"),
    (_without("lists"), "lists is missing"),
    (_without("lists", "tied"), "lists.tied is missing"),
    (_set("lists", "n_items", to=5), "lists.n_items is no packed column of 3 values"),
    (_set("lists", "n_items", to=_whole(1, 2)), "lists.n_items is no packed column of 3 values"),
    (_set("lists", "n_items", to=_whole(3, -1, 2)), "lists.n_items is no count for user 'bob'"),
    (_set("lists", "n_items", to=_whole(3, 2, 9)), "lists.n_items is above ratings for user 'cy'"),
    (_set("lists", "n_items", to=_floats(3, 2, 2)), "lists.n_items is packed as float64"),
    (_set("lists", "n_items", to=_whole(3, 2, 2**62)), "lists.n_items is too high for user 'cy'"),
    (_set("lists", "ratings", to=_whole(2**52, 2**52, 2)), "lists.ratings is too high"),
    (_set("lists", "n_relevant", to=_floats(2, nan, 0)), "n_relevant is no count for user 'bob'"),
    (_set("lists", "n_relevant", to=_floats(2, 1, inf)), "n_relevant is no count for user 'cy'"),
    (_set("lists", "n_relevant", to=_floats(2, 0.5, 0)), "n_relevant is no count for user 'bob'"),
    (_set("lists", "n_relevant", to=_floats(2, 3, 0)), r"n_relevant is above ratings \+ unlisted"),
    (_set("lists", "unlabelled", to=_floats(9, 0, 1)), "lists.unlabelled is above ratings"),
    (_set("lists", "impossible", to=_floats(0, 0, -3)), "lists.impossible is no count for .*cy"),
    (_set("lists", "repeats", to=_whole(0, -1, 0)), "lists.repeats is no count for user 'bob'"),
    (_set("lists", "tied", to=_whole(0, 1, 0)), "lists.tied is packed as int64"),
    (_flags_that_are_none, "lists.tied is no packed column"),
    (_set("lists", "n_items", "packed", to=False), "lists.n_items is no packed column"),
    (_set("lists", "n_items", "as", to="<f8"), "lists.n_items is no packed column"),
    (_set("lists", "n_items", "size", to=-3), "lists.n_items is no packed column"),
    (_set("lists", "n_items", "data", to="é"), "lists.n_items is no packed column"),
    (_set("lists", "truth", to=_whole(1, 2, 3)), "lists.truth is packed as int64"),
    (_set("lists", "truth", to=np.zeros(3, dtype="uint8")), "lists.truth is packed as uint8"),
    (_set("scores", "left_out", "rr", to=_floats(0, nan, 0)), "scores.left_out.rr is packed as fl"),
    (_set("scores", "numerator", "rr", to=_whole(0, 1, 1)), "scores.numerator.rr is packed as int"),
    (_without("scores", "numerator", "rr"), "scores.numerator.rr is missing"),
    (
        _set("scores", "numerator", "rmse", to=_floats(1, inf, 1)),
        "scores.numerator.rmse is infinite for user 'bob'",
    ),
    (
        _set("scores", "numerator", "rmse", to=_floats(1, 1, -1)),
        "scores.numerator.rmse is negative for user 'cy'",
    ),
    (
        _set("scores", "numerator", "rmse", to=_floats(1, 1e308, 1e308)),
        "scores.numerator.rmse is too high for user 'bob'",
    ),
    (
        _set("scores", "numerator", "precision@2", to=_floats(1, 3, 1)),
        "scores.numerator.precision@2 is above scores.denominator.precision@2 for user 'bob'",
    ),
    (
        _set("scores", "denominator", "precision@2", to=_floats(2, 2, -2)),
        "scores.denominator.precision@2 is negative for user 'cy'",
    ),
    (
        _set("scores", "denominator", "precision@2", to=_floats(2, inf, 2)),
        "scores.denominator.precision@2 is infinite for user 'bob'",
    ),
    (
        _set("scores", "denominator", "rmse", to=_floats(1, 1, 5e-324)),
        "scores.numerator.rmse is too high for scores.denominator.rmse for user 'cy'",
    ),
    (
        _set("scores", "numerator", "precision@2", to=_floats(nan, 1, 1)),
        "signatures.precision@2 tells of 3 users with a score, but there are 2",
    ),
    (_set("orders", "best", "rr", to=_floats(1, inf, 1)), "orders.best.rr is infinite for .*bob"),
    (
        _set("orders", "deviation", "ndcg@2", to=_floats(-1, 1, 1)),
        "orders.deviation.ndcg@2 is negative for user 'ann'",
    ),
    (
        _set("orders", "deviation", "ndcg@2", to=_floats(5e-324, 1, 1)),
        "orders.deviation.ndcg@2 is too small for user 'ann'",
    ),
    (_set("metrics", "rr", "k", to=2.5), "metrics.rr holds what no metric has: k must be"),
    (_set("metrics", "rr", "k", to=3), "metrics.rr has k=3, but the name stands for rr"),
    (_set("metrics", "rr", "bounded", to="yes"), "metrics.rr.bounded is 'yes', not true or false"),
    (_set("metrics", "rr", "undefined", to=0.5), "metrics.rr holds what no metric has: undefined"),
    (_set("metrics", "rr", "undefined", to=[]), r"metrics.rr.undefined is \[\], not a finite"),
    (_without("metrics", "rr"), "metrics.rr is missing"),
    (_without("audit", "rr", "judged"), "audit.rr.judged is missing"),
    (_set("audit", "rr", "judged", to=1.5), "audit.rr.judged is 1.5, not a finite .* 0 to 1 "),
    (_set("audit", "rr", "tie_low", to=10**400), "audit.rr.tie_low is 1000.*, not a finite number"),
    (_set("audit", "rr", "tie_low", to="x"), "audit.rr.tie_low is 'x', not a finite number"),
    (_set("audit", "rr", "tie_low", to=True), "audit.rr.tie_low is True, not a finite number"),
    (_set("audit", "rr", "tie_low", to=inf), "audit.rr.tie_low is inf, not a finite number"),
    (_set("baselines", to=[]), r"baselines is \[\], which has no parts"),
    (_set("baselines", "ndcg@2", "Popular", to=0.5), "baselines.precision@2.Popular is missing"),
    (_set("baselines", "ndcg@2", "\ud800", to=0.5), "baselines holds .*, which is no name"),
]


@pytest.mark.parametrize(("change", "match"), CHANGES, ids=[match for _, match in CHANGES])
def test_a_part_that_no_report_has_is_named(
    path: Path, change: Callable[[Stored], None], match: str
) -> None:
    """With the user, where it is one's own."""
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))
    with refused(f"r.json: .*{match}.*[Ss]ave the report again", whole=False):
        rn.Report.load(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("[" * 50_000, "nested too deep"),
        (f'{{"format": {"9" * 5000}}}', "a number of more than 4300 digits"),
        ('{"format": 1, "format": 2}', "'format' stands in one place twice"),
        (b'{"format": "\xff"}', "no text in UTF-8 from byte 12 on"),
        ("{", "not JSON"),
    ],
)
def test_what_json_cannot_be_of_a_report_is_said(
    path: Path, content: str | bytes, match: str
) -> None:
    """In words of ours."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with refused(f"r.json: .*{match}", whole=False):
        rn.Report.load(path)


def test_a_part_inside_that_stands_there_twice_is_refused(path: Path) -> None:
    """Which of the two counts is nobody's to say."""
    text = path.read_text()
    path.write_text(text.replace('"n_users": 3', '"n_users": 2, "n_users": 3'))
    with refused("r.json: 'n_users' stands in one place twice", whole=False):
        rn.Report.load(path)


@pytest.mark.parametrize("odd", [5, b"r.json", 2.5, ["r.json"]])
def test_what_is_no_path_is_neither_loaded_nor_saved_to(odd: Any) -> None:
    """It is shown."""
    report = rn.evaluate(ROWS)
    acts: list[Callable[[Any], Any]] = [rn.Report.load, report.save, report.to_html]
    for act in acts:
        with refused("Give the path of a file, not "):
            act(odd)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_has_is_refused(name: str) -> None:
    """With a zero byte, or with half a character."""
    report = rn.evaluate(ROWS)
    for act in (rn.Report.load, report.save, report.to_html):
        with refused("cannot be the name of a file"):
            act(name)


def _alike(n_users: int) -> rn.Report:
    rows = [(user, item, 2.0 - item, 1 - item) for user in range(n_users) for item in (0, 1)]
    return rn.evaluate(rows, metrics=[f"rbp(p=0.{p})" for p in range(10, 40)], threshold=1)


def test_a_report_of_users_who_are_all_alike_is_loaded_again(tmp_path: Path) -> None:
    """Its columns take a thousandth of their room: blanks make up for it."""
    report = _alike(20_000)
    report.save(tmp_path / "r.json")
    least = least_size(20_000, 30)
    assert least > 10**5
    assert (tmp_path / "r.json").stat().st_size == least + 1
    assert rn.Report.load(tmp_path / "r.json") == report
    short = (tmp_path / "r.json").read_bytes().rstrip()
    (tmp_path / "r.json").write_bytes(short)
    with refused("n_users is 20000, which is more than a file of this size holds", whole=False):
        rn.Report.load(tmp_path / "r.json")


def test_a_report_of_very_many_metrics_that_are_not_known_is_loaded_at_once(path: Path) -> None:
    """Installed packages are asked once for the metrics that they offer, not for each name."""
    stored = json.loads(path.read_text())
    by_metric = [stored[name] for name in ("signatures", "audit", "baselines", "metrics")]
    for own in [*by_metric, *stored["scores"].values(), *stored["orders"].values()]:
        one = own["precision@2"]
        own.clear()
        for place in range(800):
            name = f"homemade{place}@2"
            own[name] = one.replace("precision@2", name) if isinstance(one, str) else one
    path.write_text(json.dumps(stored))
    start = time.process_time()
    assert len(rn.Report.load(path)) == 800
    assert time.process_time() - start < 2


class Negative(rn.Metric):
    """A metric whose denominator is none."""

    name = "negative"
    needs_threshold = False

    def numerator(self, ranking: Any) -> Any:
        """Count."""
        return ranking.n_items.astype(float)

    def denominator(self, ranking: Any) -> Any:
        """Count, the wrong way."""
        return -ranking.n_items.astype(float)


def test_a_report_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    """It is said while the data is still at hand."""
    rn.metric(Negative)
    report = rn.evaluate(ROWS, metrics=[Negative()])
    with refused("cannot be saved: scores.denominator.negative is negative for user 'ann'"):
        report.save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_ids_that_are_chosen_to_have_one_hash_are_refused(tmp_path: Path) -> None:
    """To tell them apart would take minutes."""
    path, users = tmp_path / "r.json", 3000
    rn.evaluate({user: [(2.0, 1), (1.0, 3)] for user in range(users)}).save(path)
    stored = json.loads(path.read_text())
    stored["users"] = [place * (2**61 - 1) for place in range(8, users + 8)]
    path.write_text(json.dumps(stored))
    with refused("users holds whole numbers that are chosen to have the same hash", whole=False):
        rn.Report.load(path)
