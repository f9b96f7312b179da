"""Archives come back bit for bit; one that was damaged is refused, in a line that names it."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.files import archive
from recsys_ndcg.files.archive import Archive
from recsys_ndcg.files.contents import Content
from recsys_ndcg.rendering.exports import per_user_writer
from tests.errors import rejects
from tests.files.made_earlier import FOLDER
from tests.files.signing import signed
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable
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
DAMAGED = "was damaged, or changed after it was saved. Save the report again"
often = examples(0.8, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _same(path: Path, column: Any) -> None:
    """Save a column, and compare what comes back bit by bit."""
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
    """What NaN carries, -0, the infinities and the smallest; in tables, too."""
    column = np.array(bits, dtype=np.uint64).view(np.float64)
    _same(tmp_path / "f", column)
    for width in (1, 2, 3):
        _same(tmp_path / "f", np.resize(column, (len(bits), width)) if bits else column)


@often
@given(data=st.data(), kind=st.sampled_from(WHOLE))
def test_whole_numbers_come_back_in_their_type(
    tmp_path: Path, data: st.DataObject, kind: str
) -> None:
    """The extremes of the type, or none at all."""
    ends = np.iinfo(kind)
    number = st.one_of(
        st.sampled_from([ends.min, ends.max, 0, 1]), st.integers(int(ends.min), int(ends.max))
    )
    column = np.array(data.draw(st.lists(number, max_size=30)), dtype=kind)
    _same(tmp_path / "f", column)
    _same(tmp_path / "f", column[::-2])


@pytest.mark.parametrize("kind", [*WHOLE, "bool", "float32", "float64", ">i2", ">u8", ">f8"])
@pytest.mark.parametrize("shape", [0, 7, (0, 3), (4, 3), (2, 0)])
def test_columns_of_every_type_and_shape_come_back(kind: str, shape: Any, tmp_path: Path) -> None:
    """Those of the other byte order as numbers of this machine."""
    values = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    _same(tmp_path / "f", values)
    _same(tmp_path / "f", np.asfortranarray(values))


def test_a_long_column_takes_no_more_room_than_it_must(tmp_path: Path) -> None:
    """Few different numbers, and numbers in a row."""
    few = np.random.default_rng(0).choice([0.0, 0.25, 0.5, np.nan, 1.0], 100_000)
    for column, most in ((few, 180_000), (np.zeros(100_000), 5_000)):
        _same(tmp_path / "f", column)
        assert (tmp_path / "f").stat().st_size < most


# damage


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics=METRICS, threshold=2).save(path)
    return path


def test_a_file_with_any_byte_changed_is_refused(path: Path) -> None:
    """Each byte of the beginning, and every seventh of the others; and it is named."""
    content = path.read_bytes()
    for place in [*range(120), *range(120, len(content), 7), len(content) - 1]:
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7
        path.write_bytes(changed)
        with rejects(f"^{path}: ", whole=False):
            rn.Report.load(path)


def test_a_file_that_was_cut_off_is_refused(path: Path) -> None:
    """Wherever; and one that goes on."""
    content = path.read_bytes()
    for end in range(0, len(content), 13):
        path.write_bytes(content[:end])
        with rejects(f"^{path}: ", whole=False):
            rn.Report.load(path)
    path.write_bytes(content + b" ")
    with rejects(DAMAGED, whole=False):
        rn.Report.load(path)


def _without_signatures(stored: dict[str, Any]) -> None:
    del stored["signatures"]


def _another_number(stored: dict[str, Any]) -> None:
    stored["columns"]["truth"]["data"] = "eJw="


@pytest.mark.parametrize("change", [_without_signatures, _another_number, dict.clear])
def test_what_was_written_by_other_hands_is_refused(
    path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    """Without its digest, which other programs do not make."""
    stored = json.loads(path.read_text())
    form = stored["format"]
    change(stored)
    path.write_text(json.dumps({"format": form, **stored}))
    with rejects(f"{path}: this report {DAMAGED}", whole=False):
        rn.Report.load(path)


def test_line_ends_of_windows_are_no_damage(path: Path) -> None:
    """Git writes them, and a report may be kept there."""
    report = rn.Report.load(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert rn.Report.load(path) == report


@pytest.mark.parametrize(
    ("number", "told"),
    [
        ("1", "a report of format 1, which an older .* Evaluate the data again"),
        ("3", "a report of format 3, which an older .* Evaluate the data again"),
        ("6", "a report of format 6, which a newer .* pip install -U recsys-ndcg"),
        ("999999999", "a report of format 999999999, which a newer"),
        ("0", "a report of format 0, which an older"),
        ("9" * 40, "not a report that"),
        ("-1", "not a report that recsys_ndcg saved"),
        ("3.5", "not a report"),
        ("three", "not a report"),
        ("", "not a report"),
        ("3 ", "not a report"),
    ],
)
def test_another_format_is_told_as_older_or_newer(path: Path, number: str, told: str) -> None:
    """With what to do about it."""
    stored = json.loads(path.read_text()) | {"format": f"recsys_ndcg report {number}"}
    for content in (json.dumps(stored).encode(), signed(stored)):
        path.write_bytes(content)
        with rejects(f"r.json: ({told})", whole=False):
            rn.Report.load(path)


@pytest.mark.parametrize("form", [None, 3, [], {}, True, "report 3", "recsys_ndcg"])
def test_what_has_no_format_is_no_report(path: Path, form: Any) -> None:
    """Nor is what is no dict."""
    changed: list[Any] = [json.loads(path.read_text()) | {"format": form}, [form], {}]
    for stored in changed:
        path.write_text(json.dumps(stored))
        with rejects("r.json: not a report that recsys_ndcg saved", whole=False):
            rn.Report.load(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("[" * 100_000, "recursion"),
        ('{"format": ' * 100_000, "recursion"),
        (f'{{"format": {"9" * 5000}}}', "4300 digits"),
        (b'{"format": "\xff"}', "in position 12"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ("{}x", "not JSON"),
        (b"\x00" * 9, "not JSON"),
        ("null", "not a report"),
        ("NaN", "not a report"),
    ],
)
def test_what_json_cannot_be_of_a_report_is_said(
    path: Path, content: str | bytes, match: str
) -> None:
    """With where, or why."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with rejects(f"r.json: .*{match}", whole=False):
        rn.Report.load(path)


# files that are made to do harm


def _packed(packed: bytes, **values: Any) -> dict[str, Any]:
    return {"dtype": "<f8", "shape": [3], "data": base64.b64encode(packed).decode(), **values}


_THREE = zlib.compress(bytes(24))
_BOMB = zlib.compress(bytes(100_000_000), 9)
HOSTILE: list[Any] = [
    None, 3, "x", [[1]], [None], [{}], {}, {"dtype": "<f8"},
    _packed(_THREE, dtype="O"), _packed(_THREE, dtype="|V8"), _packed(_THREE, dtype=[]),
    _packed(_THREE, shape=3), _packed(_THREE, shape=[-3]), _packed(_THREE, shape=[-1, -3]),
    _packed(_THREE, shape=["3"]), _packed(_THREE, shape=[2]), _packed(_THREE, shape=[4]),
    _packed(_THREE, shape=[3.0]), _packed(_THREE, shape=[10**30]), _packed(_THREE, shape=[]),
    _packed(_THREE, shape=[float("nan")]), _packed(_THREE, shape=[1] * 70 + [3]),
    _packed(_THREE, data=3), _packed(_THREE, data="é"), _packed(_THREE, data="!"),
    _packed(_THREE[:-1]), _packed(_THREE + b"x"), _packed(b"x"), _packed(b""),
    _packed(_BOMB), _packed(_BOMB, shape=[10**9]), _packed(_BOMB, shape=[10**9, 10**9]),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_column_that_is_none_is_refused_in_little_room(path: Path, place: int) -> None:
    """Though the digest is right."""
    stored = json.loads(path.read_text())
    stored["columns"]["denominator"] = HOSTILE[place]
    path.write_bytes(signed(stored))
    tracemalloc.start()
    with rejects("r.json: this report was damaged", whole=False):
        rn.Report.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


def test_many_columns_may_not_unpack_to_more_than_a_file_of_that_size(path: Path) -> None:
    """Each of them could alone."""
    stored = json.loads(path.read_text())
    one = _packed(zlib.compress(bytes(40_000_000), 9), shape=[5_000_000])
    stored["columns"] |= {str(place): one for place in range(5)}
    path.write_bytes(signed(stored))
    tracemalloc.start()
    with rejects("r.json: this report was damaged", whole=False):
        rn.Report.load(path)
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


REPLACED: list[Any] = [
    None, True, -1, 3, 10**30, 0.5, float("inf"), float("nan"), "", "x", [], [1, "a"], {}, {"x": 1},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@often
@given(data=st.data(), earlier=st.booleans())
def test_a_file_changed_anywhere_is_refused_or_read(
    path: Path,
    data: st.DataObject,
    earlier: bool,  # noqa: FBT001 - drawn
) -> None:
    """Though the digest is right, or in a file that has none."""
    source = FOLDER / "report-text.json" if earlier else path
    stored = json.loads(source.read_text(encoding="utf-8"))
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
    if earlier:
        changed.write_text(json.dumps(stored), encoding="utf-8")
    else:
        changed.write_bytes(signed(stored))
    try:
        rn.Report.load(changed)
    except rn.InvalidInputError as error:
        told = str(error)
    else:
        return
    assert told.startswith(f"{changed}: ")
    assert "\n" not in told


def test_what_unpacks_to_very_much_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users who are all alike take little room: blanks make up for it."""
    monkeypatch.setattr(archive, "BYTES_ANYWAY", 1 << 10)
    monkeypatch.setattr(archive, "BYTES_PER_BYTE", 16)
    monkeypatch.setattr(Content, "most_bytes", lambda size: (1 << 10) + 16 * size)
    rows = [(user, item, 2.0 - item, 1 - item) for user in range(2000) for item in (0, 1)]
    report = rn.evaluate(rows, metrics=[f"rbp(p=0.{p})" for p in range(10, 40)], threshold=1)
    report.save(path)
    assert path.read_bytes().count(b" ") > 10_000
    assert rn.Report.load(path) == report


# reports


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
    assert again.users.dtype == report.users.dtype
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
    with rejects("user id .* cannot be saved; use text or numbers", whole=False):
        rn.evaluate(rows, metrics="ndcg@2").save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_half_a_character_is_refused_as_an_id(tmp_path: Path) -> None:
    """As names of files and broken tables have it: no table could show it."""
    report = rn.evaluate({"\ud800": [(2.0, 1), (1.0, 3)], "b": [(2.0, 1), (1.0, 2)]})
    with rejects("user id .* cannot be saved; use text or numbers without lone", whole=False):
        report.save(tmp_path / "r.json")
    for end in (".csv", ".csv.gz", ".parquet"):
        with rejects(r"user id '\\ud800' has a lone surrogate, which no file can hold"):
            per_user_writer(end)(report.per_user)
    for shown in (str(report), report.to_markdown(), report.to_latex(), report.to_html()):
        shown.encode()


@pytest.mark.parametrize("odd", [5, b"r.json", 2.5, ["r.json"]])
def test_what_is_no_path_is_neither_loaded_nor_saved_to(odd: Any) -> None:
    """It is shown."""
    report = rn.evaluate(ROWS)
    acts: list[Callable[[Any], Any]] = [rn.Report.load, report.save, report.to_html]
    for act in acts:
        with rejects("Give the path of a file, not "):
            act(odd)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_has_is_refused(name: str) -> None:
    """With a zero byte, or with half a character."""
    report = rn.evaluate(ROWS)
    for act in (rn.Report.load, report.save, report.to_html):
        with rejects("cannot be the name of a file"):
            act(name)


def test_a_person_can_read_the_file(path: Path) -> None:
    """Plain JSON without NaN: the means, how they were computed and the counts, line by line."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    stored = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    report = rn.evaluate(ROWS, metrics=METRICS, threshold=2)
    assert stored["format"] == "recsys_ndcg report 5"
    assert stored["written_by"] == rn.__version__
    assert stored["counts"] == report.counts
    assert stored["signatures"] == {name: report.signature(name).text for name in METRICS}
    told = report.to_dict()
    for part in ("summary", "audit", "baselines"):
        assert stored[part] == told[part]
    lines = path.read_text().splitlines()
    assert sum('"mean": ' in line for line in lines) == len(METRICS)
    assert '  "user": ["ann", "bob", "cy"],' in lines
    assert [*stored][:3] == ["format", "sha256", "written_by"]
    assert [*stored][-1] == "columns"


def test_a_few_lines_of_any_program_read_a_column(path: Path) -> None:
    """As `docs/reports.md` tells."""
    column = json.loads(path.read_text())["columns"]["numerator"]
    data = zlib.decompress(base64.b64decode(column["data"]))
    table = np.frombuffer(data, column["dtype"]).reshape(column["shape"], order="F")
    assert np.array_equal(table, rn.Report.load(path).scores.numerator)
    content = path.read_bytes()
    digest = json.loads(content)["sha256"]
    assert sha256(content.replace(digest.encode(), b"", 1)).hexdigest() == digest


def test_a_file_is_known_by_its_beginning(path: Path, tmp_path: Path) -> None:
    """Without being read."""
    (tmp_path / "other.json").write_text("{}")
    assert Archive.is_saved(path)
    assert not Archive.is_saved(path, "comparison")
    assert not Archive.is_saved(tmp_path / "other.json")
    assert not Archive.is_saved(tmp_path / "none.json")
    assert Archive.is_saved(FOLDER / "report-text.json")
