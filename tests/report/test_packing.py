"""Columns as text come back bit for bit, and no file, whatever it holds, breaks what reads it."""

from __future__ import annotations

import base64
import copy
import json
import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import recsys_ndcg as rn
from recsys_ndcg.rendering.exports import per_user_file
from recsys_ndcg.report.packing import pack, unpack
from tests.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@2", "precision@2", "rmse"]
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip
WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
BITS = [
    0x0000000000000000, 0x8000000000000000,  # 0 and -0
    0x7FF0000000000000, 0xFFF0000000000000,  # the infinities
    0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8DEADBEEF0001, 0x7FF0000000000001,  # NaN
    0x0000000000000001, 0x800FFFFFFFFFFFFF,  # subnormal
    0x7FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001,
]  # fmt: skip


def _same(column: Any) -> None:
    """Pack a column, send it through JSON, and compare what comes back bit by bit."""
    again = unpack(json.loads(json.dumps(pack(column), allow_nan=False)), len(column))
    assert again.dtype == column.dtype.newbyteorder("=")
    assert again.shape == column.shape
    assert again.tobytes() == column.astype(column.dtype.newbyteorder("=")).tobytes()


@settings(max_examples=80, deadline=None)
@given(
    bits=st.lists(st.one_of(st.sampled_from(BITS), st.integers(0, 2**64 - 1)), max_size=40),
    times=st.sampled_from([1, 4, 9]),
)
def test_floats_come_back_bit_for_bit(bits: list[int], times: int) -> None:
    """What NaN carries, -0, the infinities and the smallest; of few different ones and of many."""
    if not bits:
        bits = [0]
    _same(np.tile(np.array(bits, dtype=np.uint64), times).view(np.float64))
    _same(np.repeat(np.array(bits, dtype=np.uint64), times).view(np.float64))


@settings(max_examples=80, deadline=None)
@given(data=st.data(), kind=st.sampled_from(WHOLE), order=st.sampled_from(["ascending", "any"]))
def test_whole_numbers_come_back_in_their_type(data: st.DataObject, kind: str, order: str) -> None:
    """The extremes of the type, sorted or not, constant, or none at all."""
    ends = np.iinfo(kind)
    number = st.one_of(
        st.sampled_from([ends.min, ends.max, 0, 1, ends.max - 1, ends.min + 1, ends.max // 2]),
        st.integers(int(ends.min), int(ends.max)),
    )
    column = np.array(data.draw(st.lists(number, max_size=30)), dtype=kind)
    column = np.sort(column) if order == "ascending" else column
    _same(column)
    _same(column[:1].repeat(20))
    _same(np.cumsum(column, dtype=column.dtype))
    _same(column[::-1])
    _same(column[::2])


@pytest.mark.parametrize("kind", [*WHOLE, "bool", "float64"])
def test_an_empty_column_comes_back(kind: str) -> None:
    """In its type."""
    _same(np.zeros(0, dtype=kind))


@pytest.mark.parametrize("kind", [">i2", ">i4", ">i8", ">u2", ">u4", ">u8", ">f8"])
def test_columns_of_the_other_byte_order_come_back(kind: str) -> None:
    """As numbers; their bytes are those of this machine."""
    for values in (
        [1, 2, 3],
        [0, 0, 0, 0, 0, 7],
        [1, np.iinfo(kind).max] if "f" not in kind else [],
    ):
        if values:
            _same(np.array(values, dtype=kind))
    if "i" in kind:
        _same(np.array([-1, np.iinfo(kind).max // 2 + 2, np.iinfo(kind).min], dtype=kind))


@given(column=arrays.arrays(bool, st.integers(0, 50)))
def test_flags_come_back(column: Any) -> None:
    """As flags."""
    _same(column)


_RNG = np.random.default_rng(5)
#: Longer than what is looked at to choose how they are compressed.
LONG: dict[str, Any] = {
    "one number": np.zeros(100_000, dtype=np.int64),
    "few in no order": _RNG.integers(0, 10, 100_000),
    "many in no order": _RNG.integers(0, 2_000, 100_000),
    "many in order": np.sort(_RNG.integers(0, 2_000, 100_000)),
    "over and over": np.tile(np.arange(100), 1_000),
    "digests": _RNG.integers(0, 2**32, 100_000, dtype=np.uint32),
    "few floats": _RNG.integers(0, 10, 100_000) / 7,
    "many floats": np.repeat(_RNG.normal(size=20_000), 5),
}


@pytest.mark.parametrize("name", LONG)
def test_long_columns_come_back_however_they_are_compressed(name: str) -> None:
    """And take hardly more room than by looking for what stood there before."""
    _same(LONG[name])
    packed = pack(LONG[name])
    for one in (packed, *(packed[part] for part in ("codes", "values", "steps") if part in packed)):
        if "data" in one:
            bytes_ = base64.b64decode(one["data"])
            plain = zlib.decompress(bytes_) if one["packed"] else bytes_
            assert len(bytes_) <= len(zlib.compress(plain, 1)) * 1.05


def test_what_cannot_be_compressed_is_not() -> None:
    """As nothing is gained, and time lost."""
    assert not pack(LONG["digests"])["packed"]
    assert pack(LONG["many in no order"])["packed"]


def test_few_different_numbers_take_little_room() -> None:
    """A column of five scores, and ids in a row."""
    scores = np.random.default_rng(0).choice([0.0, 0.25, 0.5, np.nan, 1.0], 100_000)
    assert len(json.dumps(pack(scores))) < 60_000
    assert len(json.dumps(pack(np.arange(1, 100_001)))) < 2_000
    assert len(json.dumps(pack(np.zeros(100_000)))) < 1_000


def _data(column: Any) -> str:
    return base64.b64encode(np.asarray(column).tobytes()).decode()


TYPES = ["|b1", "|i1", "|u1", "<i2", "<i8", "<u8", "<f8", ">f8", "|O", "|V8", "<U1", "x", "", 3]
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 12),
        st.sampled_from([10**9, 10**30, 2.0, 0.5, float("nan"), float("inf"), -1e300]),
        st.sampled_from([*TYPES, "eJw=", "!", "AA==", "codes", "steps", "ä", _data([0.0, 1.0])]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["type", "size", "packed", "data", "as", "codes", "values", "steps", "of"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=8,
)
STORED = st.fixed_dictionaries(
    {
        "type": st.sampled_from(TYPES),
        "size": st.sampled_from([0, 1, 2, 2.0, 3, -1, True, None]),
        "packed": st.sampled_from([False, True, 0, None]),
        "data": st.sampled_from(
            [
                "", "!", "A", "AA==", "AAE=", _data([0, 1]), _data([0.0, 1.0]), _data([-1, 5]), 7,
                base64.b64encode(zlib.compress(bytes(16))).decode(),
                base64.b64encode(zlib.compress(bytes(2))).decode(),
            ]
        ),
    },
    optional={"as": st.sampled_from(TYPES)},
)  # fmt: skip
PACKED = st.sampled_from(
    [
        pack(np.array(values, dtype=kind))
        for values in ([0], [0, 1], [1, 0], [2, 0], [0, 1, 1])
        for kind in ("bool", "float64", "int8", "uint8", "int64", "uint64")
    ]
)
HOSTILE = st.one_of(
    JSON,
    STORED,
    st.fixed_dictionaries({"codes": PACKED, "values": PACKED}),
    st.fixed_dictionaries({"steps": PACKED, "of": st.sampled_from(TYPES)}),
    st.fixed_dictionaries({"codes": st.one_of(STORED, JSON), "values": st.one_of(STORED, JSON)}),
    st.fixed_dictionaries({"steps": st.one_of(STORED, JSON), "of": st.sampled_from(TYPES)}),
)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@settings(max_examples=150, deadline=None)
@given(packed=HOSTILE, size=st.sampled_from([0, 1, 2, 3]))
def test_whatever_is_unpacked_is_a_column_of_that_size_or_a_known_error(
    packed: Any, size: int
) -> None:
    """Of the errors that the function tells of, and no other."""
    try:
        column = unpack(packed, size)
    except (ValueError, KeyError, TypeError):
        return
    assert column.shape == (size,)
    assert column.dtype.kind in "biuf"


@settings(max_examples=150, deadline=None)
@given(data=st.data(), column=st.sampled_from(["floats", "codes", "steps", "whole", "flags"]))
def test_a_packed_column_with_a_part_changed_is_refused_or_of_its_size(
    data: st.DataObject, column: str
) -> None:
    """One part of a real column, at any depth, gone or another."""
    packed = pack(
        {
            "floats": np.array([0.5, 0.25, 1.0]),
            "codes": np.tile([0.5, np.nan], 6),
            "steps": np.arange(1000, 1012),
            "whole": np.array([5, 1000, -3]),
            "flags": np.array([True, False]),
        }[column]
    )
    size = {"floats": 3, "codes": 12, "steps": 12, "whole": 3, "flags": 2}[column]
    changed = copy.deepcopy(packed)
    *path, last = data.draw(st.sampled_from([*_places(packed)]))
    place = changed
    for key in path:
        place = place[key]
    if data.draw(st.booleans()):
        del place[last]
    else:
        place[last] = data.draw(JSON)
    try:
        again = unpack(changed, size)
    except (ValueError, KeyError, TypeError):
        return
    assert again.shape == (size,)


@pytest.mark.parametrize("start", [10**30, -(10**30)])
def test_steps_from_beyond_all_numbers_are_refused(start: int) -> None:
    """As damage, like any other start that is none."""
    packed = pack(np.arange(1000, 1012))
    assert unpack(packed, 12).tolist() == [*range(1000, 1012)]
    with pytest.raises(ValueError, match=str(start)):
        unpack({**packed, "from": start}, 12)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("kind", ["|b1", "<f8"])
def test_a_bomb_takes_no_more_room_than_was_told(size: int, kind: str) -> None:
    """A hundred kilobytes that would blow up to a hundred megabytes."""
    bomb = {
        "type": kind,
        "size": size,
        "packed": True,
        "data": base64.b64encode(zlib.compress(bytes(100_000_000), 9)).decode(),
    }
    for packed in (bomb, {"codes": bomb, "values": bomb}, {"steps": bomb, "of": "<i8"}):
        tracemalloc.start()
        with pytest.raises((ValueError, KeyError, TypeError)):
            unpack(packed, size)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2_000_000


@pytest.mark.parametrize("size", [-1, 10**12, 2.5, "3", None, [3], float("inf"), float("nan")])
def test_values_of_an_impossible_number_are_refused(size: Any) -> None:
    """Before any room is taken for them."""
    values = pack(np.tile([0.5, 1.0], 6))
    values["values"]["size"] = size
    with pytest.raises((ValueError, KeyError, TypeError)):
        unpack(values, 12)


# saved reports


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics=METRICS, threshold=2).save(path)
    return path


def _changed(path: Path, **values: Any) -> None:
    stored = json.loads(path.read_text())
    path.write_text(json.dumps(stored | values))


@pytest.mark.parametrize(
    ("number", "told"),
    [
        ("1", "a report of format 1, which an older .* Evaluate the data again"),
        ("2", "a report of format 2, which an older .* Evaluate the data again"),
        ("3", "a report of format 3, which an older .* Evaluate the data again"),
        ("5", "a report of format 5, which a newer .* pip install -U recsys-ndcg"),
        ("999999999", "a report of format 999999999, which a newer"),
        ("0", "a report of format 0, which an older"),
        ("9" * 40, "not a report that|which a newer"),
        ("-1", "not a report that recsys_ndcg saved"),
        ("3.5", "not a report"),
        ("three", "not a report"),
        ("", "not a report"),
        ("3 ", "not a report"),
    ],
)
def test_another_format_is_told_as_older_or_newer(path: Path, number: str, told: str) -> None:
    """With what to do about it."""
    _changed(path, format=f"recsys_ndcg report {number}")
    with refused(f"r.json: ({told})", whole=False):
        rn.Report.load(path)


@pytest.mark.parametrize("form", [None, 3, [], {}, True, "report 3", "recsys_ndcg"])
def test_what_has_no_format_is_no_report(path: Path, form: Any) -> None:
    """Nor is what is no dict."""
    _changed(path, format=form)
    with refused("r.json: not a report that recsys_ndcg saved", whole=False):
        rn.Report.load(path)
    path.write_text(json.dumps([form]))
    with refused("r.json: not a report that recsys_ndcg saved", whole=False):
        rn.Report.load(path)
    stored: dict[str, Any] = {}
    path.write_text(json.dumps(stored))
    with refused("r.json: not a report that recsys_ndcg saved", whole=False):
        rn.Report.load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\xff\xfe", b"{}x", b"null", b"\x00" * 9, b"NaN", b"[" * 100_000,
        b'{"format": ' * 100_000, b"9" * 10_000,
    ],
)  # fmt: skip
def test_any_file_is_a_report_or_refused(path: Path, content: bytes) -> None:
    """Not text, not JSON, too deep, too long a number."""
    path.write_bytes(content)
    with refused("r.json: ", whole=False):
        rn.Report.load(path)


@pytest.mark.parametrize("depth", [3, 700, *range(800, 1000, 20)])
def test_a_column_packed_too_deep_is_refused(path: Path, depth: int) -> None:
    """As deep as JSON itself can be read, and a little less."""
    stored = json.loads(path.read_text())
    stored["lists"]["n_items"] = "here"
    deep = '{"codes": ' * depth + "1" + "}" * depth
    path.write_text(json.dumps(stored).replace('"here"', deep))
    with refused("r.json: ", whole=False):
        rn.Report.load(path)


def _places(stored: Any) -> Iterator[tuple[Any, ...]]:
    """Go through where each part stands, at each level."""
    if isinstance(stored, dict):
        for key, value in stored.items():
            yield (key,)
            yield from ((key, *rest) for rest in _places(value))
    elif isinstance(stored, list):
        for place, value in enumerate(stored):
            yield (place,)
            yield from ((place, *rest) for rest in _places(value))


def _looked_at(report: rn.Report) -> None:
    """Ask for all that a report has."""
    assert str(report)
    assert report.to_html()
    assert report.to_markdown()
    assert report.to_dict()
    assert len(report.truth) == len(report.users)
    assert report.intervals().size
    assert report == report  # noqa: PLR0124
    for name in report.metrics:
        report.leaderboard(name)
        report.per_user_audit(name)
        assert report.signature(name)
    report.take(report.users[:1].tolist())


def _read(path: Path) -> None:
    """Read a report and look at it, unless it is refused by its name, in a line."""
    try:
        report = rn.Report.load(path)
    except rn.InvalidInputError as error:
        told = str(error)
    else:
        _looked_at(report)
        return
    assert told.startswith(f"{path}: ")
    assert "\n" not in told


REPLACED: list[Any] = [
    None, True, -1, 3, 10**30, 0.5, float("inf"), float("nan"), "", "x", [], [1, "a"], {}, {"x": 1},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_file_damaged_anywhere_is_refused_by_its_name(path: Path, data: st.DataObject) -> None:
    """A part gone or another, at any level: when it is read, not when the report is looked at."""
    stored = json.loads(path.read_text())
    *where, last = data.draw(st.sampled_from([*_places(stored)]))
    place = stored
    for key in where:
        place = place[key]
    if data.draw(st.booleans()):
        del place[last]
    else:
        place[last] = data.draw(st.sampled_from(REPLACED))
    changed = path.with_name("changed.json")
    changed.write_text(json.dumps(stored))
    _read(changed)


@pytest.mark.parametrize("ids", [[[], "bob", "cy"], [{}, "b", "c"], [None, 1, 2], ["a", "a", "b"]])
def test_a_file_with_odd_ids_is_refused_or_read(path: Path, ids: list[Any]) -> None:
    """Ids that no report has: what cannot be looked up, nothing, the same one twice."""
    _changed(path, users=ids)
    _read(path)


@pytest.mark.parametrize("kind", ["bool", "float64"])
def test_codes_are_whole_numbers(kind: str) -> None:
    """Flags would choose rows, and numbers with a point none."""
    packed = {"codes": pack(np.array([1, 0], dtype=kind)), "values": pack(np.array([0.5, 0.7]))}
    with pytest.raises((ValueError, KeyError, TypeError)):
        unpack(packed, 2)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    place=st.integers(0, 10**6),
    byte=st.integers(0, 255),
    damage=st.sampled_from(["cut off", "one byte"]),
)
def test_a_file_with_a_wrong_byte_is_refused_or_read(
    path: Path, place: int, byte: int, damage: str
) -> None:
    """Cut off, or one byte another."""
    content = bytearray(path.read_bytes())
    place %= len(content)
    content[place:] = b"" if damage == "cut off" else bytes([byte]) + bytes(content[place + 1 :])
    changed = path.with_name("changed.json")
    changed.write_bytes(content)
    _read(changed)


def test_what_every_user_scored_can_be_missing_or_of_another_user_count(path: Path) -> None:
    """Each packed column of a report with one user more is of another length."""
    more = path.with_name("more.json")
    rn.evaluate([*ROWS, ("dan", "a", 1.0, 2)], metrics=METRICS, threshold=2).save(more)
    other = json.loads(more.read_text())
    for kind, name in [("lists", "truth"), ("lists", "n_items"), ("users", None)]:
        stored = json.loads(path.read_text())
        if name is None:
            stored[kind] = other[kind]
        else:
            stored[kind][name] = other[kind][name]
        more.write_text(json.dumps(stored))
        where = kind if name is None else f"{kind}.{name}"
        with refused(f"more.json: {where} (is no packed column|holds)", whole=False):
            rn.Report.load(more)


IDS: list[Any] = [
    np.array([1, 2, 3], dtype="int8"),
    np.array([-128, 0, 127], dtype="int8"),
    np.array([0, 2**16 - 1, 7], dtype="uint16"),
    np.array([-(2**63), 0, 2**63 - 1]),
    np.array([0, 2**63, 2**64 - 1], dtype="uint64"),
    np.array([5, 2**62, -1], dtype=">i8"),
    np.array([0.5, -1e300, 3.0]),
    np.array([1.0, 2.0, 3.0]),
    np.array([0.1, 0.2, 1 / 3], dtype="float32"),
    [True, False, 2],
    ["a", "0042", "Zoë"],
    ["", " ", "\n"],
    ["x\x00y", "\U0001f600", "\\ud800"],
    ["1", 2, 2.5],
    [1, 2**70, -(2**70)],
    pd.array([1, 2, 3], dtype="Int64"),
    pd.Categorical(["b", "a", "c"]),
]


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: str(getattr(ids, "dtype", ids)))
def test_ids_of_every_kind_come_back(ids: Any, tmp_path: Path) -> None:
    """Equal and of the same type, in the same order; and the report with them."""
    frame = pd.DataFrame(
        {
            "user": pd.Series(ids).repeat(2).reset_index(drop=True),
            "item": [1, 2] * 3,
            "estimated": [2.0, 1.0] * 3,
            "true": [5.0, 1.0, 3.0, 4.0, 2.0, 2.0],
        }
    )
    report = rn.evaluate(frame, metrics="ndcg@2")
    report.save(tmp_path / "r.json")
    again = rn.Report.load(tmp_path / "r.json")
    assert again == report
    assert str(again) == str(report)
    assert again.users.dtype == report.users.dtype or report.users.dtype.kind == "f"
    assert [type(one) for one in again.users.tolist()] == [
        type(one) for one in report.users.tolist()
    ]
    assert again.same_ratings(report)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "r.json").read_bytes()


@pytest.mark.parametrize(
    "ids",
    [[pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")], [(1, 2), (3, 4)], [b"a", b"b"]],
)
def test_ids_that_json_does_not_have_are_refused(ids: list[Any], tmp_path: Path) -> None:
    """Nothing is written then."""
    rows = [(user, item, 2.0 - item, item) for user in ids for item in (0, 1)]
    with refused("user id .* cannot be saved; use text or numbers", whole=False):
        rn.evaluate(rows, metrics="ndcg@2").save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_half_a_character_is_refused_as_an_id(tmp_path: Path) -> None:
    """As names of files and broken tables have it: no table could show it."""
    report = rn.evaluate({"\ud800": [(2.0, 1), (1.0, 3)], "b": [(2.0, 1), (1.0, 2)]})
    with refused("user id .* cannot be saved; use text or numbers without lone", whole=False):
        report.save(tmp_path / "r.json")
    for end in (".csv", ".csv.gz", ".parquet"):
        with refused(r"user id '\\ud800' has a lone surrogate, which no file can hold"):
            per_user_file(report.per_user, end)
    for shown in (str(report), report.to_markdown(), report.to_latex(), report.to_html()):
        shown.encode()


def test_a_file_is_read_however_its_lines_are_broken(path: Path) -> None:
    """As earlier versions wrote each id on a line of its own."""
    before, text = rn.Report.load(path), path.read_text(encoding="utf-8")
    assert '\n "users": ["ann", "bob", "cy"],\n' in text
    for indent in (None, 1, 3):
        path.write_text(json.dumps(json.loads(text), indent=indent), encoding="utf-8")
        assert rn.Report.load(path) == before


def test_a_person_can_read_the_file(path: Path) -> None:
    """Plain JSON without NaN: the means, how they were computed and the counts, line by line."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    stored = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    report = rn.evaluate(ROWS, metrics=METRICS, threshold=2)
    assert stored["format"] == "recsys_ndcg report 4"
    assert stored["written_by"] == rn.__version__
    assert stored["counts"] == report.counts
    assert stored["signatures"] == {name: report.signature(name).text for name in METRICS}
    for name, mean in report.items():
        assert stored["summary"][name]["mean"] == mean
        assert (
            stored["audit"][name]["chance"]
            == pytest.approx(report.audit.loc[name, "chance"], nan_ok=True)
            or stored["audit"][name]["chance"] is None
        )
    lines = path.read_text().splitlines()
    assert sum('"mean": ' in line for line in lines) == len(METRICS)
    assert [*stored][:2] == ["format", "written_by"]
    assert [*stored].index("summary") < [*stored].index("scores")
