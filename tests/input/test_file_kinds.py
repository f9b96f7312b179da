"""Files as they come: packed, of JSON lines, Feather, without a heading, in other encodings."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyarrow import ipc

import recsys_ndcg as rn
from recsys_ndcg.files import contents
from recsys_ndcg.files.contents import Content
from recsys_ndcg.input import text_tables
from recsys_ndcg.input.arrow_files import FeatherColumns
from recsys_ndcg.input.file_kinds import KINDS, FileKind
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ROWS = [
    ("01", "a", 4.5, 5.0),
    ("01", "b", 3.0, 2.0),
    ("bö", "a", 2.0, 4.0),
    ("bö", "c,d", 3.5, None),
]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "estimated", "true"])
CSV = FRAME.to_csv(index=False).encode()
BARE = FRAME.to_csv(index=False, header=False).encode()
EXPECTED = rn.evaluate(FRAME, threshold=4)


def _zipped(content: bytes, *names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("p.csv",):
            archive.writestr(name, content)
    return stream.getvalue()


def _zstd(content: bytes) -> bytes:
    packed: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return packed


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": _zstd,
    ".zip": _zipped,
}


def written(folder: Path, content: bytes, name: str) -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("suffix", PACKED)
def test_what_is_packed_is_unpacked(tmp_path: Path, suffix: str) -> None:
    """By the end of its name, in capitals, too; from a stream by how it begins."""
    packed = PACKED[suffix](CSV)
    assert rn.evaluate(written(tmp_path, packed, f"p.csv{suffix}"), threshold=4) == EXPECTED
    assert rn.evaluate(written(tmp_path, packed, f"P{suffix.upper()}"), threshold=4) == EXPECTED
    lists = rn.RankedLists.from_file(io.BytesIO(packed))
    assert rn.evaluate(lists, threshold=4) == EXPECTED


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("damage", ["cut", "other", "changed", "empty"])
def test_a_damaged_archive_is_refused(tmp_path: Path, suffix: str, damage: str) -> None:
    """In one line that says which and why."""
    packed = PACKED[suffix](CSV * 50)
    damaged = {
        "cut": packed[: len(packed) // 2],
        "other": CSV,
        "changed": packed[:40] + bytes(20) + packed[60:],
        "empty": b"",
    }[damage]
    with rejects(
        rf"p\.csv\{suffix}: (cannot be unpacked \(.+\)\. Pack it again|the file is empty)",
        whole=False,
    ):
        rn.evaluate(written(tmp_path, damaged, f"p.csv{suffix}"))


@pytest.mark.parametrize("suffix", PACKED)
def test_what_unpacks_to_very_much_is_refused_before_it_fills_the_memory(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many bytes as no table of this size has."""
    monkeypatch.setattr(contents, "BYTES_ANYWAY", 1 << 21)
    packed = PACKED[suffix](CSV + b"1,1,1,1\n" * (1 << 22))
    with rejects(r"it unpacked to [\d,]+ bytes after [\d,]+ of its own.* unpack it yourself"):
        rn.evaluate(written(tmp_path, packed, f"p.csv{suffix}"))


@pytest.mark.parametrize("suffix", PACKED)
def test_what_unpacks_to_very_much_is_refused_wherever_it_begins(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before, and unpacked to little, allows nothing to it; and little of it is kept."""
    monkeypatch.setattr(contents, "BYTES_ANYWAY", 1 << 21)
    monkeypatch.setattr(contents, "BYTES_PER_BYTE", 16)
    tame = np.random.default_rng(3).bytes(1 << 22)
    path = written(tmp_path, PACKED[suffix](tame + b"x" * (1 << 26)), f"p.csv{suffix}")
    with rejects("it unpacked to") as caught:
        rn.evaluate(path)
    (refused_at,) = re.findall(r"unpacked to ([\d,]+) bytes", str(caught.value))
    assert int(refused_at.replace(",", "")) < 1 << 23
    path.write_bytes(PACKED[suffix](tame))
    assert Content.of(path).data == tame


def test_an_archive_holds_one_file(tmp_path: Path) -> None:
    """What a Macintosh adds does not count; of several, one is asked for by name."""
    mac = _zipped(CSV, "p.csv", "__MACOSX/._p.csv")
    assert rn.evaluate(written(tmp_path, mac, "p.zip"), threshold=4) == EXPECTED
    with rejects(r"p.zip: it holds 2 files \(a.csv, b.csv\); pack the one"):
        rn.evaluate(written(tmp_path, _zipped(CSV, "a.csv", "b.csv"), "p.zip"))
    with rejects("p.zip: it holds no file"):
        rn.evaluate(written(tmp_path, _zipped(CSV, "folder/"), "p.zip"))


def test_what_is_binary_is_not_read_from_an_archive(tmp_path: Path) -> None:
    """Parquet is packed already."""
    with rejects("p.parquet.gz: a .parquet in an archive is not read. Unpack it first"):
        rn.evaluate(written(tmp_path, gzip.compress(b"PAR1"), "p.parquet.gz"))
    with rejects("p.zip: a .feather in an archive"):
        rn.evaluate(written(tmp_path, _zipped(b"ARROW1", "p.feather"), "p.zip"))


def test_a_stream_of_text_is_read_and_another_is_told_what_it_is() -> None:
    """Parquet is read from a file."""
    assert rn.evaluate(io.BytesIO(CSV), threshold=4) == EXPECTED
    stream = io.BytesIO()
    FRAME.to_parquet(stream)
    for content, what in ((stream.getvalue(), "Parquet"), (b"\x80\x04]", "a pickle")):
        with rejects(f"the stream: that is {what}, which is read from a file whose name"):
            rn.evaluate(io.BytesIO(content))
    with rejects("the stream: it gives text; open it for reading bytes"):
        rn.evaluate(io.StringIO(CSV.decode()))


@pytest.mark.parametrize("name", ["p.jsonl", "p.ndjson", "p.jsonl.gz", "p.zip"])
def test_lines_of_json_are_read(tmp_path: Path, name: str) -> None:
    """What an object lacks is not there; other names may hold anything."""
    more: Any = [[1], {"a": 2}, None, 3]
    lines = FRAME.assign(more=more).to_json(orient="records", lines=True)
    content = ("\n" + lines.replace('"true":null,', "") + "\n\n").encode()
    packed = {"p.jsonl.gz": gzip.compress, "p.zip": lambda one: _zipped(one, "p.jsonl")}
    content = packed.get(name, bytes)(content)
    assert rn.evaluate(written(tmp_path, content, name), threshold=4) == EXPECTED


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ('{"user": 1', "p.jsonl, line 3: '{\"user\": 1' is not an object, such as"),
        ("[1, 2]", "line 3: '.1, 2.' is not an object"),
        ("[" * 100_000, "line 3: .* is not an object"),
        ("9" * 5000, "line 3: .* is not an object"),
        ('{"user": [1], "item": 1, "estimated": 1}', r"line 3: user is \[1\]; write a number"),
        ('{"user": 1, "item": 1, "estimated": "x"}', "row 2|estimated"),
        ('{"item": 1, "estimated": 1}', "user"),
        ("{" + ",".join(f'"{n}": 1' for n in range(1001)) + "}", "line 3: .* 1000 different"),
    ],
)
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, line: str, match: str) -> None:
    """By its number."""
    good = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}\n{"user": 1, "item": 3, '
    text = f'{good}"estimated": 2, "true": 1}}\n{line}\n'
    with rejects(match):
        rn.evaluate(written(tmp_path, text.encode(), "p.jsonl"))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("name", ["p.feather", "p.arrow"])
def test_feather_is_read(tmp_path: Path, name: str, compression: Any) -> None:
    """With what pandas writes beside the columns, and categories."""
    nested: Any = [[1], [], None, [2]]
    frame = FRAME.astype({"item": "category"}).assign(nested=nested)
    frame.to_feather(tmp_path / name, compression=compression)
    assert rn.evaluate(tmp_path / name, threshold=4) == EXPECTED


def test_a_stream_of_arrow_is_read(tmp_path: Path) -> None:
    """In several batches."""
    table = pa.Table.from_pandas(FRAME)
    with ipc.new_stream(tmp_path / "p.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    assert rn.evaluate(tmp_path / "p.arrow", threshold=4) == EXPECTED


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", b"PAR1", CSV])
def test_what_is_no_feather_is_refused(tmp_path: Path, content: bytes) -> None:
    """As such."""
    with rejects(r"p.feather: cannot be read as Feather \(", whole=False):
        rn.evaluate(written(tmp_path, content, "p.feather"))
    with rejects("none.feather: cannot be read .No such file"):
        rn.evaluate(tmp_path / "none.feather")


def test_a_feather_file_of_very_much_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that take no room, and text that is packed tightly."""
    rows = pa.table({"user": pa.nulls(1_000_000), "item": pa.nulls(1_000_000)})
    ipc.new_file(tmp_path / "p.arrow", rows.schema).write_table(rows)
    with ipc.new_file(tmp_path / "p.arrow", rows.schema) as file:
        file.write_table(rows)
    with rejects("p.arrow: 1,000,000 rows in a file of .* bytes. If that is right"):
        rn.evaluate(tmp_path / "p.arrow")
    monkeypatch.setattr(contents, "BYTES_ANYWAY", 1 << 21)
    table = pa.table({"user": ["x" * (1 << 24)]})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(tmp_path / "p.feather", table.schema, options=options) as file:
        file.write_table(table)
    with rejects(r"p.feather: 16,777,\d+ bytes in a file of"):
        rn.evaluate(tmp_path / "p.feather")


def test_a_feather_file_that_points_anywhere_is_refused(tmp_path: Path) -> None:
    """And does not end the process: where a text begins is not believed."""
    table = pa.table({"user": ["aa", "bb", "cc"] * 50})
    stream = io.BytesIO()
    with ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    content = bytearray(stream.getvalue())
    begins = content.index(np.arange(0, 20, 2, dtype=np.int32).tobytes())
    content[begins + 8 : begins + 12] = (1 << 30).to_bytes(4, "little")
    (tmp_path / "p.feather").write_bytes(content)
    columns = FeatherColumns(tmp_path / "p.feather")
    with rejects(r"p.feather: cannot be read as Feather \(", whole=False):
        columns["user"]


FORMS: dict[str, tuple[bytes, rn.TextFormat]] = {
    "no heading": (BARE, rn.TextFormat(heading=False)),
    "separator": (CSV.replace(b'"c,d"', b"c,d").replace(b",", b"^").replace(b"c^d", b"c,d"),
                  rn.TextFormat(separator="^")),
    "two signs": (CSV.replace(b'"c,d"', b"c_d").replace(b",", b"::").replace(b"c_d", b"c,d"),
                  rn.TextFormat(separator="::")),
    "tab": (FRAME.to_csv(index=False, sep="\t").encode(), rn.TextFormat(separator="tab")),
    "decimal": (FRAME.to_csv(index=False, sep=";", decimal=",").encode(),
                rn.TextFormat(decimal=",")),
    "decimal, no heading": (FRAME.to_csv(index=False, header=False, sep=";", decimal=",").encode(),
                            rn.TextFormat(decimal=",", heading=False)),
    "decimal in quotes": (FRAME.to_csv(index=False, decimal=",").encode(),
                          rn.TextFormat(decimal=",")),
    "latin-1": (CSV.decode().encode("latin-1"), rn.TextFormat(encoding="latin-1")),
    "utf-16": (CSV.decode().encode("utf-16"), rn.TextFormat()),
    "utf-16-le": (CSV.decode().encode("utf-16-le"), rn.TextFormat(encoding="utf-16-le")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_text_is_read_as_it_is_said_to_be_written(tmp_path: Path, form: str) -> None:
    """Packed as well."""
    content, how = FORMS[form]
    path = written(tmp_path, content, "p.csv")
    packed = written(tmp_path, gzip.compress(content), "p.csv.gz")
    for place in (path, packed):
        lists = rn.RankedLists.from_file(place, text=how)
        assert rn.evaluate(lists, threshold=4) == EXPECTED


def test_columns_without_a_heading_are_named_by_their_places(tmp_path: Path) -> None:
    """From 1 on; without a name they stand in the usual order, also of labels and results."""
    how = rn.TextFormat(heading=False)
    path = written(tmp_path, b"7,5,01,4.5,a\n7,2,01,3,b\n7,4,02,2,a\n7,3,02,3.5,b\n", "p.csv")
    places: Any = {"user": 3, "item": "5", "estimated": 4, "true": "2"}
    lists = rn.RankedLists.from_file(path, columns=places, text=how)
    assert lists.users.tolist() == ["01", "02"]
    assert lists.true.tolist() == [5.0, 2.0, 4.0, 3.0]
    labels = written(tmp_path, b"1,10,5\n1,11,3\n", "l.csv")
    results = written(tmp_path, b"1,10,0.5\n1,12,0.25\n", "r.csv")
    joined = rn.RankedLists.from_labels(labels, results, text=how)
    assert (joined.estimated.tolist(), joined.unlisted_true.tolist()) == ([0.5, 0.25], [3.0])
    with rejects(r"no column '9'; it has 1, 2, 3, 4, 5"):
        rn.RankedLists.from_file(path, columns=places | {"true": 9}, text=how)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"separator": ""}, "separator .--sep. is one sign"),
        ({"separator": ";;"}, "separator .--sep. is one sign"),
        ({"separator": "\n"}, "separator .--sep. is one sign"),
        ({"separator": 3}, "separator .--sep. is one sign"),
        ({"decimal": ";"}, "decimal .--decimal. is '.' or ','"),
        ({"encoding": "klingon"}, "encoding .--encoding. is the name of one.*not 'klingon'"),
        ({"encoding": "base64"}, "encoding .--encoding. is the name of one"),
        ({"encoding": "a\0b"}, "encoding .--encoding. is the name of one"),
    ],
)
def test_a_form_that_no_file_has_is_refused(options: Any, match: str) -> None:
    """Before anything is read."""
    with rejects(match):
        rn.TextFormat(**options)


@pytest.mark.parametrize("name", ["p.parquet", "p.feather", "p.jsonl", "p.pickle"])
def test_how_text_is_written_is_not_said_of_what_is_none(tmp_path: Path, name: str) -> None:
    """Rather than overlooked."""
    path = written(tmp_path, CSV, name)
    with rejects(f"{name}: separator, decimal, heading and encoding .--sep.*Leave them out"):
        rn.RankedLists.from_file(path, text=rn.TextFormat(separator=";"))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a,x,1,2\na,y,2\n", "line 3: 3 fields in place of 4: 'a,y,2'. Was it cut off"),
        ("a,x,1,2\n\n\na,y\n", "line 5: 2 fields"),
        ("a,x,1,2\na\n", "line 3: 1 fields"),
        ('"a\nb",x,1,2\na,y,2\n', "line 3: 3 fields"),
    ],
)
def test_a_row_that_was_cut_off_is_no_unlabelled_item(
    tmp_path: Path, text: str, match: str
) -> None:
    """A value that is not there is an empty field."""
    with rejects(match):
        rn.evaluate(written(tmp_path, ("user,item,estimated,true\n" + text).encode(), "p.csv"))


def test_an_empty_last_field_is_an_unlabelled_item(tmp_path: Path) -> None:
    """Also in quotes, before blank lines, and on Windows."""
    for end in ("\n", "\r\n", "\r"):
        lines = ["user,item,estimated,true", "a,x,1,2", "a,y,3.5,", 'a,z,3,""', "", ",,,", ""]
        report = rn.evaluate(written(tmp_path, end.join(lines).encode(), "p.csv"))
        assert report.counts["unlabelled"] == 2


def test_judgements_and_runs_may_be_packed(tmp_path: Path) -> None:
    """And in UTF-16."""
    qrels = written(tmp_path, gzip.compress(b"1 0 d1 2\r\n1 0 d2 1\n"), "q.txt.gz")
    run = written(tmp_path, _zipped("1 Q0 d2 1 0.5 tag\n".encode("utf-16"), "run"), "run.zip")
    lists = rn.RankedLists.from_trec(qrels, run)
    assert (lists.true.tolist(), lists.unlisted_true.tolist()) == ([1.0], [2.0])
    with rejects("q.txt.gz: cannot be unpacked"):
        rn.RankedLists.from_trec(written(tmp_path, b"1 0 d1 2\n", "q.txt.gz"), run)


def test_labels_and_results_without_a_heading_may_have_one_place_for_two_columns(
    tmp_path: Path,
) -> None:
    """The third is the grade in one file, and the rank in the other."""
    labels = written(tmp_path, b"1,10,5\n1,11,3\n", "l.csv")
    results = written(tmp_path, b"1,10,1\n1,11,2\n1,12,3\n", "r.csv")
    places: Any = {"user": 1, "item": 2, "true": 3, "rank": 3}
    how = rn.TextFormat(heading=False)
    lists = rn.RankedLists.from_labels(labels, results, columns=places, text=how)
    assert (np.asarray(lists.items).tolist(), lists.true[:2].tolist()) == ([10, 11, 12], [5.0, 3.0])
    frames = [pd.read_csv(one, names=["user", "item", "score"]) for one in (labels, results)]
    same = rn.RankedLists.from_labels(*frames, columns={"true": "score", "rank": "score"})
    assert np.asarray(same.items).tolist() == [10, 11, 12]
    with rejects("there is no column 'ranks' to rename"):
        rn.RankedLists.from_labels(*frames, columns={"ranks": "score"})
    with rejects("item and true would both be read from the column 'score'"):
        rn.RankedLists.from_labels(*frames, columns={"item": "score", "true": "score"})


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_of_json_are_known_by_how_they_begin(mark: str) -> None:
    """A stream has no name; nor does the mark of UTF-8 matter where it is said to be that."""
    content = (mark + FRAME.to_json(orient="records", lines=True)).encode()
    for how in (None, rn.TextFormat(encoding="utf-8")):
        for one in (content, gzip.compress(content)):
            lists = rn.RankedLists.from_file(io.BytesIO(one), text=how)
            assert rn.evaluate(lists, threshold=4) == EXPECTED


def test_an_array_of_json_is_told_to_be_lines(tmp_path: Path) -> None:
    """As pandas writes it by default, or nearly."""
    content = FRAME.to_json(orient="records").encode()
    with rejects(
        "p.json, line 1: .* is not an object, .* Of an array, write each object in a line"
    ):
        rn.evaluate(written(tmp_path, content, "p.json"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_known_by_its_zeros(tmp_path: Path, encoding: str) -> None:
    """Of which half the bytes of Latin letters are; what is advised works."""
    path = written(tmp_path, CSV.decode().encode(encoding), "p.csv")
    with rejects(f"It looks like UTF-16: --encoding {encoding} .encoding=.*"):
        rn.evaluate(path)
    for said in (encoding, "utf-16", "UTF-16"):
        lists = rn.RankedLists.from_file(path, text=rn.TextFormat(encoding=said))
        assert rn.evaluate(lists, threshold=4) == EXPECTED


@pytest.mark.parametrize("suffix", PACKED)
def test_what_is_packed_under_another_name_is_told_to_be_so(tmp_path: Path, suffix: str) -> None:
    """Latin-1 would read it, too, as no table."""
    path = written(tmp_path, PACKED[suffix](CSV), "p.csv")
    with rejects(rf"p.csv: not text.*It begins as a \{suffix} does: let its name end so"):
        rn.evaluate(path)


@pytest.mark.parametrize(
    ("content", "options", "match"),
    [
        (CSV.replace(b",", b"::"), {}, "If '::' separates fields: --sep '::'"),
        (CSV.replace(b",", b" "), {}, "If 'space' separates fields: --sep 'space'"),
        (CSV.replace(b",", b"\t"), {"separator": ";"}, "If 'tab' separates fields: --sep 'tab'"),
        (b"# made today\n" + CSV, {}, "a single field, '# made today'.*take it out"),
        (CSV, {"heading": False}, "'estimated', .* If this line is a heading, leave out --no-head"),
        (
            b"user,item,estimated,true\na,b,1_0,3\n",
            {},
            "'1_0', which is not a number; correct it, or name",
        ),
        (
            b"user,item,estimated,true\na,b,1,3\na,b,1,3,4\n",
            {},
            "line 3: 5 fields in place of 4. A",
        ),
    ],
)
def test_a_table_that_is_written_otherwise_is_told_what_to_say(
    tmp_path: Path, content: bytes, options: Any, match: str
) -> None:
    """And nothing that would not help."""
    path = written(tmp_path, content, "p.csv")
    with rejects(match):
        rn.RankedLists.from_file(path, text=rn.TextFormat(**options))


def test_places_count_from_one(tmp_path: Path) -> None:
    """The place 0 is none, and is told before what stands beside it is read as a number."""
    places: Any = {"user": 0, "item": 1, "estimated": 2, "true": 3}
    with rejects("no column '0'; it has 1, 2, 3, 4. Without a heading, .* from 1 on"):
        rn.RankedLists.from_file(
            written(tmp_path, BARE, "p.csv"), columns=places, text=rn.TextFormat(heading=False)
        )


def test_an_interrupt_while_a_table_is_parsed_is_no_fault_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though pandas says so."""

    class Interrupted(io.StringIO):
        def read(self, *_: Any) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(text_tables, "io", SimpleNamespace(StringIO=Interrupted))
    with pytest.raises(KeyboardInterrupt):
        rn.evaluate(written(tmp_path, b"\n" + CSV, "p.csv"))  # of which fast readers see nothing


def test_the_name_of_a_column_that_is_no_text_is_the_fault_of_the_file(tmp_path: Path) -> None:
    """It is read when it is asked for, after the file was opened; found by the fuzzers."""
    frame = pd.DataFrame({"user": [1], "item": [2], "estimated": [1.0], "true": [3.0]})
    frame.to_feather(tmp_path / "p.feather", compression="uncompressed")
    content = (tmp_path / "p.feather").read_bytes().replace(b"item", b"it\x98m")
    with rejects(r"p.feather: cannot be read as Feather \(", whole=False):
        rn.evaluate(written(tmp_path, content, "p.feather"))


def _read_toy(path: Path) -> pd.DataFrame:
    rows = [line.split("/") for line in path.read_text(encoding="utf-8").splitlines()]
    frame = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    return frame.astype({"estimated": float, "true": float})


@pytest.fixture
def toy() -> Iterator[None]:
    """Register a kind of file for a while."""
    kind = FileKind("Toy", (".toy",), _read_toy, begins=(b"TOY",))
    KINDS.append(kind)
    yield
    KINDS.remove(kind)


@pytest.mark.usefixtures("toy")
def test_a_new_kind_of_file_is_one_entry(tmp_path: Path) -> None:
    """It is read, shown in the help, refused in archives and within a memory limit."""
    path = tmp_path / "p.toy"
    path.write_text("01/a/4.5/5\n01/b/3.0/2\nbö/a/2.0/4\nbö/c,d/3.5/nan\n", encoding="utf-8")
    assert rn.evaluate(path, threshold=4) == EXPECTED
    assert FileKind.describe_all().endswith(", Toy (.toy)")
    assert FileKind.stem_of("svd.toy.gz") == "svd"
    with rejects("p.toy: within a memory limit"):
        rn.evaluate(path, threshold=4, memory_limit="1GB")
    (tmp_path / "p.toy.gz").write_bytes(gzip.compress(path.read_bytes()))
    with rejects("p.toy.gz: a .toy in an archive is not read"):
        rn.evaluate(tmp_path / "p.toy.gz")
    with rejects("the stream: that is Toy, which is read .*, .toy"):
        rn.evaluate(io.BytesIO(b"TOY"))
    with rejects("separator, decimal, heading and encoding"):
        rn.RankedLists.from_file(path, text=rn.TextFormat(decimal=","))
