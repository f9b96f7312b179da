"""Saved files are read back bit for bit; damaged ones are rejected with their name."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.files import Archive, Content, archive
from recsys_ndcg.report import find_score_writer
from tests.drawn_reports import have_same_labels
from tests.errors import assert_rejected, rejects
from tests.files.examples import ROWS, comparisons, reports
from tests.files.signing import signed
from tests.input.tables import write
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@2", "precision@2", "rmse"]
BITS = [
    0x0000000000000000, 0x8000000000000000,  # 0 and -0
    0x7FF0000000000000, 0xFFF0000000000000,  # the infinities
    0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8DEADBEEF0001, 0x7FF0000000000001,  # NaN
    0x0000000000000001, 0x800FFFFFFFFFFFFF,  # subnormal
    0x7FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001,
]  # fmt: skip
DAMAGED = "was damaged, or changed after it was saved. Save the report again"
often = examples(0.8, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_same_ids(found: Any, expected: Any) -> None:
    """Compare ids with their types and order."""
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    assert [*map(type, found.tolist())] == [*map(type, expected.tolist())]


def _save_twice(one: Any, path: Path) -> Any:
    """Return what is loaded from its file, after it was loaded and saved once before."""
    for _ in range(2):
        one.save(path)
        one = type(one).load(path)
    return one


def test_a_saved_report_comes_back(tmp_path: Path) -> None:
    """All that it shows; also after it is saved again."""
    for name, report in reports().items():
        again = _save_twice(report, tmp_path / "r.json")
        assert again == report, name
        assert have_same_labels(again, report)
        assert_same_ids(again.users, report.users)
        for table in ("per_user", "summary", "audit", "baselines"):
            pd.testing.assert_frame_equal(getattr(again, table), getattr(report, table))
        for metric in report:
            one, other = again.per_user_audit(metric), report.per_user_audit(metric)
            pd.testing.assert_frame_equal(one, other)


def test_a_saved_comparison_comes_back(tmp_path: Path) -> None:
    """With the same random draws, segments and runs; also after it is saved again."""
    for name, comparison in comparisons().items():
        again = _save_twice(comparison, tmp_path / "c.json")
        for table in ("leaderboard", "pairwise", "per_user"):
            pd.testing.assert_frame_equal(getattr(again, table), getattr(comparison, table))
        if name == "segments":
            pd.testing.assert_frame_equal(again.segments, comparison.segments)
        assert again.movers(3).table.equals(comparison.movers(3).table)
        assert (again._data.baseline, again.verdict) == (
            comparison._data.baseline,
            comparison.verdict,
        )


def _check_round_trip(path: Path, column: Any) -> None:
    """Save a column, and compare the bits of the one that is read back."""
    Archive({}, {"column": column}).write(path, "report 5")
    with Archive.open(path, "report 5") as (_, columns):
        again = columns["column"]
    native = column.astype(column.dtype.newbyteorder("="))
    assert (again.dtype, again.shape) == (native.dtype, native.shape)
    assert again.tobytes() == native.tobytes()


# columns


@often
@given(bits=st.lists(st.one_of(st.sampled_from(BITS), st.integers(0, 2**64 - 1)), max_size=40))
def test_floats_come_back_bit_for_bit(tmp_path: Path, bits: list[int]) -> None:
    """The payload of NaN, -0, infinities and subnormals; also in tables."""
    column = np.array(bits, dtype=np.uint64).view(np.float64)
    _check_round_trip(tmp_path / "f", column)
    for width in (1, 2, 3):
        _check_round_trip(tmp_path / "f", np.resize(column, (len(bits), width)) if bits else column)


@pytest.mark.parametrize("kind", ["int8", "uint64", "bool", "float32", ">i2", ">f8"])
@pytest.mark.parametrize("shape", [0, 7, (0, 3), (4, 3), (2, 0)])
def test_columns_of_every_type_and_shape_come_back(kind: str, shape: Any, tmp_path: Path) -> None:
    """Another byte order becomes the order of this machine."""
    values = (np.arange(np.prod(shape)).reshape(shape) - 1).astype(kind)
    for column in (values, np.asfortranarray(values), values[::-2]):
        _check_round_trip(tmp_path / "f", column)


def test_a_long_column_is_compressed(tmp_path: Path) -> None:
    """With few different numbers, and with equal ones."""
    few = np.random.default_rng(0).choice([0.0, 0.25, 0.5, np.nan, 1.0], 100_000)
    for column, most in ((few, 180_000), (np.zeros(100_000), 5_000)):
        _check_round_trip(tmp_path / "f", column)
        assert (tmp_path / "f").stat().st_size < most


def test_a_column_that_cannot_be_compressed_takes_four_thirds_of_its_bytes(tmp_path: Path) -> None:
    """As text in base64, without blanks that nothing needs."""
    column = np.random.default_rng(0).random(80_000)
    Archive({}, {"column": column}).write(tmp_path / "f", "report 5")
    assert (tmp_path / "f").stat().st_size < 4 / 3 * column.nbytes + 1000


# damage


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics=METRICS, threshold=2).save(path)
    return path


def test_a_file_with_any_changed_byte_is_rejected(path: Path) -> None:
    """Each byte of the beginning, and some of the others; also a truncated or extended file."""
    content = path.read_bytes()
    damaged = [content[:end] for end in range(0, len(content), 83)] + [content + b" "]
    for place in [*range(120), *range(120, len(content), 61), len(content) - 1]:
        other = bytes([content[place] ^ 1 << place % 7])
        damaged.append(content[:place] + other + content[place + 1 :])
    for changed in damaged:
        path.write_bytes(changed)
        assert_rejected(f"^{path}: ", rn.Report.load, path, whole=False)


def test_a_file_that_was_edited_without_a_new_digest_is_rejected(path: Path) -> None:
    """The message explains what to do."""
    stored = json.loads(path.read_text())
    del stored["counts"]
    path.write_text(json.dumps(stored))
    assert_rejected(f"{path}: this report {DAMAGED}", rn.Report.load, path, whole=False)


def test_line_ends_of_windows_are_accepted(path: Path) -> None:
    """Git can write them."""
    report = rn.Report.load(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert rn.Report.load(path) == report


FORMATS = [
    ("1", "a report of format 1, which an older .* Evaluate the data again"),
    ("6", "a report of format 6, which a newer .* Read it with that version"),
    ("-1", "not a report that recsys_ndcg saved"), ("0", "a report of format 0, which an older"),
    *((number, "not a report that") for number in ("9" * 40, "3 ")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "message"), FORMATS)
def test_an_older_or_newer_format_is_rejected(path: Path, number: str, message: str) -> None:
    """The message explains how to get a readable file."""
    stored = json.loads(path.read_text()) | {"format": f"recsys_ndcg report {number}"}
    for content in (json.dumps(stored).encode(), signed(stored)):
        path.write_bytes(content)
        assert_rejected(f"r.json: ({message})", rn.Report.load, path, whole=False)


OTHERS = ["null", "{}", '[{"format": "recsys_ndcg report 5"}]']
OTHERS += [f'{{"format": {one}}}' for one in ("null", '["report 3"]', '"recsys_ndcg"')]
NO_REPORTS: list[tuple[str | bytes, str]] = [
    *((content, "not a report that recsys_ndcg saved") for content in OTHERS),
    *((content, "not JSON") for content in ("{", "", "{}x", b"\x80\x04K\x03.")),
    *((content * 100_000, "recursion") for content in ("[", '{"format": ')),
    (f'{{"format": {"9" * 5000}}}', "4300 digits"), (b'{"format": "\xff"}', "in position 12"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "match"), NO_REPORTS)
def test_another_file_than_a_report_is_rejected(path: Path, content: Any, match: str) -> None:
    """Invalid JSON with the place or the reason."""
    write(path.parent, content, path.name)
    assert_rejected(f"r.json: .*{match}", rn.Report.load, path, whole=False)


# malicious files


def _packed(packed: bytes, **values: Any) -> dict[str, Any]:
    return {"dtype": "<f8", "shape": [3], "data": base64.b64encode(packed).decode(), **values}


_THREE = zlib.compress(bytes(24))
_BOMB = zlib.compress(bytes(8_000_000), 9)
HOSTILE: list[Any] = [
    None, [[1]], {}, {"dtype": "<f8"}, _packed(_THREE, dtype="O"), _packed(_THREE, dtype=[]),
    _packed(_THREE, shape=3), _packed(_THREE, shape=[-1, -3]), _packed(_THREE, shape=["3"]),
    _packed(_THREE, shape=[2]), _packed(_THREE, shape=[3.0]), _packed(_THREE, shape=[10**30]),
    _packed(_THREE, shape=[]), _packed(_THREE, shape=[1] * 70 + [3]), _packed(_THREE, data=3),
    _packed(_THREE, data="é"), _packed(_THREE, data="!"), _packed(_THREE[:-1]),
    _packed(_THREE + b"x"), _packed(b"x"), _packed(_BOMB), _packed(_BOMB, shape=[10**9, 10**9]),
]  # fmt: skip
_BOMBS = {str(place): _packed(_BOMB, shape=[1_000_000]) for place in range(20)}
_COVERED = {"below 0": _packed(_THREE, shape=[-(10**9)])} | _BOMBS  # whose sizes have a small sum


@pytest.mark.parametrize("columns", [*({"denominator": one} for one in HOSTILE), _BOMBS, _COVERED])
def test_an_invalid_column_is_rejected_in_little_memory(path: Path, columns: Any) -> None:
    """Though the digest is right; also many columns that only together unpack to too much."""
    stored = json.loads(path.read_text())
    stored["columns"] |= columns
    path.write_bytes(signed(stored))
    tracemalloc.start()
    assert_rejected("r.json: this report was damaged", rn.Report.load, path, whole=False)
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


REPLACED: list[Any] = [
    None, True, -1, 3, 10**30, 0.5, float("inf"), float("nan"), "", "x", [], [1, "a"], {}, {"x": 1},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@often
@given(data=st.data())
def test_a_changed_value_is_rejected_or_read(path: Path, data: Any) -> None:
    """Though the digest is right."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    part = stored
    while True:
        key = data.draw(st.sampled_from([*part] if isinstance(part, dict) else [*range(len(part))]))
        if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.booleans()):
            break
        part = part[key]
    if data.draw(st.booleans()):
        del part[key]
    else:
        part[key] = data.draw(st.sampled_from(REPLACED))
    changed = path.with_name("changed.json")
    changed.write_bytes(signed(stored))
    try:
        rn.Report.load(changed)
    except rn.InvalidInputError as error:
        message = str(error)
        assert message.startswith(f"{changed}: ")
        assert "\n" not in message


def test_a_highly_compressed_report_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks pad the file, so that the limit for unpacking is not reached."""
    monkeypatch.setattr(archive, "BYTES_ANYWAY", 1 << 10)
    monkeypatch.setattr(archive, "BYTES_PER_BYTE", 16)
    monkeypatch.setattr(Content, "compute_size_limit", lambda size: (1 << 10) + 16 * size)
    rows = [(user, item, 2.0 - item, 1 - item) for user in range(2000) for item in (0, 1)]
    report = rn.evaluate(rows, metrics=[f"rbp(p=0.{p})" for p in range(10, 40)], threshold=1)
    report.save(path)
    assert path.read_bytes().count(b" ") > 10_000
    assert rn.Report.load(path) == report


# reports


IDS: list[Any] = [
    np.array([-(2**63), 0, 2**63 - 1]), np.array([0, 2**63, 2**64 - 1], dtype="uint64"),
    np.array([5, 2**62, -1], dtype=">i8"), np.array([0.5, -1e300, 3.0]),
    np.array([0.1, 0.2, 1 / 3], dtype="float32"), [True, False, 2], ["a", "0042", "Zoë"],
    ["x\x00y", "\U0001f600", "\\ud800"], ["1", 2, 2.5], [1, 2**70, -(2**70)],
    pd.array([1, 2, 3], dtype="Int64"), pd.Categorical(["b", "a", "c"]),
]  # fmt: skip


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: str(getattr(ids, "dtype", ids)))
def test_ids_of_every_kind_come_back(ids: Any, tmp_path: Path) -> None:
    """With their types and order; saving again gives the same file."""
    users = pd.Series(ids).repeat(2).reset_index(drop=True)
    columns = {"item": [1, 2] * 3, "estimated": [2.0, 1.0] * 3, "true": [5, 1, 3, 4, 2, 2]}
    frame = pd.DataFrame({"user": users, **columns})
    report, paths = rn.evaluate(frame, metrics="ndcg@2"), [tmp_path / "r.json", tmp_path / "s.json"]
    report.save(paths[0])
    again = rn.Report.load(paths[0])
    assert again == report
    assert str(again) == str(report)
    assert_same_ids(again.users, report.users)
    assert have_same_labels(again, report)
    again.save(paths[1])
    assert paths[1].read_bytes() == paths[0].read_bytes()


def test_a_file_without_columns_comes_back(tmp_path: Path) -> None:
    """It has only its head."""
    Archive({"k": 3}, {}).write(tmp_path / "f", "report 5")
    with Archive.open(tmp_path / "f", "report 5") as again:
        assert (again.head, again.columns) == ({"k": 3}, {})


UNSAVED = [[pd.Timestamp("2020-01-01")], [(1, 2), (3, 4)], [b"a"], [frozenset({1})], ["\ud800"]]


@pytest.mark.parametrize("ids", UNSAVED)
def test_ids_that_json_cannot_hold_are_rejected(ids: list[Any], tmp_path: Path) -> None:
    """Without leaving a file."""
    rows = [(user, item, 2.0 - item, item) for user in ids for item in (0, 1)]
    hint = r" without lone surrogates\.$" if isinstance(ids[0], str) else r"\.$"
    with rejects(f"user id .* cannot be saved; use text or numbers{hint}", whole=False):
        rn.evaluate(rows, metrics="ndcg@2").save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_a_lone_surrogate_is_shown_but_not_written() -> None:
    """Names of files and broken tables can contain one."""
    report = rn.evaluate({"\ud800": [(2.0, 1), (1.0, 3)], "b": [(2.0, 1), (1.0, 2)]})
    for end in (".csv", ".csv.gz", ".parquet"):
        with rejects(r"user id '\\ud800' has a lone surrogate, which no file can hold"):
            find_score_writer(end)(report.per_user)
    for shown in (str(report), report.to_markdown(), report.to_latex(), report.to_html()):
        shown.encode()


def test_a_person_can_read_the_file(path: Path) -> None:
    """Plain JSON without NaN: means, signatures and counts, each on its own line."""
    stored = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    report = rn.evaluate(ROWS, metrics=METRICS, threshold=2)
    assert stored["format"] == "recsys_ndcg report 5"
    assert stored["written_by"] == rn.__version__
    assert stored["counts"] == report.counts
    assert stored["signatures"] == {name: report.signature(name).text for name in METRICS}
    expected = report.to_dict()
    for part in ("summary", "audit", "baselines"):
        assert stored[part] == expected[part]
    lines = path.read_text().splitlines()
    assert sum('"mean": ' in line for line in lines) == len(METRICS)
    assert '  "user": ["Zo\\u00eb", "ann", "bob"],' in lines
    assert [*stored][:3] == ["format", "sha256", "written_by"]
    assert [*stored][-1] == "columns"


def test_a_few_lines_of_any_program_read_a_column(path: Path) -> None:
    """As `docs/how-to/read-a-report.md` shows."""
    column = json.loads(path.read_text())["columns"]["numerator"]
    data = zlib.decompress(base64.b64decode(column["data"]))
    table = np.frombuffer(data, column["dtype"]).reshape(column["shape"], order="F")
    assert np.array_equal(table, rn.Report.load(path)._data.scores.numerator)
    content = path.read_bytes()
    digest = json.loads(content)["sha256"]
    assert sha256(content.replace(digest.encode(), b"", 1)).hexdigest() == digest


def test_a_saved_file_is_recognised_by_its_beginning(path: Path, tmp_path: Path) -> None:
    """Without reading all of it."""
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "quoting.json").write_bytes(b" " * 1000 + path.read_bytes())
    assert Archive.is_saved(path)
    assert not Archive.is_saved(path, "comparison")
    others = [tmp_path / f"{name}.json" for name in ("other", "quoting", "none")]
    assert not any(map(Archive.is_saved, others))
