"""Files as they come: packed, JSON lines, without a heading, in other encodings."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from recsys_ndcg.files import Content, contents
from recsys_ndcg.input import FileKind
from recsys_ndcg.input.file_kinds import KINDS
from tests.errors import assert_rejected, rejects
from tests.input.tables import write
from tests.profiles import slow

TOY = "user/item/estimated/true\n01/a/4.5/5\n01/b/3.0/2\nbö/a/2.0/4\nbö/c,d/3.5/\n"


def read_toy(path: Any) -> pd.DataFrame:
    """Read a file with slashes between its fields."""
    return pd.read_csv(path, sep="/", dtype={"user": str})


FRAME = read_toy(io.StringIO(TOY))
CSV = FRAME.to_csv(index=False).encode()
BARE_FORMAT = rn.TextFormat(heading=False)
EXPECTED = rn.evaluate(FRAME, threshold=4)


def zip_files(content: bytes, *names: str) -> bytes:
    """Return a zip archive in which each file has this content."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("p.csv",):
            archive.writestr(name, content)
    return stream.getvalue()


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zip_files,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
}  # fmt: skip


def assert_read(data: Any, text: rn.TextFormat | None = None) -> None:
    """Compare the report of a file or stream with the expected one."""
    lists = rn.RankedLists.from_file(data, text=text)
    assert rn.evaluate(lists, threshold=4) == EXPECTED


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_are_unpacked(tmp_path: Path, suffix: str) -> None:
    """By the end of the name, in capitals too, or the first bytes; macOS may add a folder."""
    packed = PACK[suffix](CSV)
    assert_read(write(tmp_path, packed, f"p.csv{suffix}"))
    assert_read(write(tmp_path, packed, f"P{suffix.upper()}"))
    assert_read(io.BytesIO(packed))
    assert_read(write(tmp_path, zip_files(CSV, "p.csv", "__MACOSX/._p.csv"), "mac.zip"))
    match = rf"p.csv: not text.*It starts like a \{suffix} file: let its name end in \{suffix}"
    assert_rejected(match, rn.evaluate, write(tmp_path, packed, "p.csv"))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("damage", ["cut", "other", "changed", "empty"])
def test_a_damaged_archive_is_rejected(tmp_path: Path, suffix: str, damage: str) -> None:
    """In one line with the file and the reason."""
    packed = PACK[suffix](CSV * 50)
    damaged = {"cut": packed[: len(packed) // 2], "other": CSV, "empty": b"",
               "changed": packed[:40] + bytes(20) + packed[60:]}  # fmt: skip
    match = rf"p\.csv\{suffix}: (cannot be decompressed \(.+\)\. Compress it again|the file is em)"
    with rejects(match, whole=False):
        rn.evaluate(write(tmp_path, damaged[damage], f"p.csv{suffix}"))


@pytest.mark.parametrize("suffix", [".gz", ".zip", ".zst", *slow(".bz2", ".xz")])
def test_an_archive_that_unpacks_to_far_more_than_its_size_is_rejected_early(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it begins with data that hardly shrinks; and few of its bytes are kept."""
    monkeypatch.setattr(contents, "BYTES_ANYWAY", 1 << 19)
    monkeypatch.setattr(contents, "BYTES_PER_BYTE", 16)
    tame = np.random.default_rng(3).bytes(1 << 20)
    path = write(tmp_path, PACK[suffix](tame + b"x" * (1 << 24)), f"p.csv{suffix}")
    match = r"[\d,]+ bytes decompress to [\d,]+ bytes.* decompress it yourself"
    with rejects(match) as caught:
        rn.evaluate(path)
    (unpacked,) = re.findall(r"decompress to ([\d,]+) bytes", str(caught.value))
    assert int(unpacked.replace(",", "")) < 1 << 22
    path.write_bytes(PACK[suffix](tame))
    assert Content.of(path).data == tame


def _lines_with(line: str) -> str:
    good = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}\n{"user": 1, "item": 3, '
    return f'{good}"estimated": 2, "true": 1}}\n{line}\n'


NOT_ONE_TABLE = [
    (zip_files(CSV, "a.csv", "b.csv"), "p.zip", r"the archive has 2 files \(a.csv, b.csv\)\. Make"),
    (zip_files(CSV, "folder/"), "p.zip", "p.zip: the archive has no file"),
    (zip_files(b"PAR1\x15", "p.parquet"), "p.zip", "p.zip: a .parquet in an archive .* Unpack it"),
]
NO_OBJECTS = [
    ('{"user": [1], "item": 1, "estimated": 1}', r"line 3: user is \[1\]; write a number"),
    ("{" + ",".join(f'"{n}": 1' for n in range(10001)) + "}", "line 3: .* 10000 different"),
    ('{"user": 1', "p.jsonl, line 3: '{\"user\": 1' is not a JSON object, such as"),
    ("[1, 2]", "line 3: '.1, 2.' .* Write each object of an array on its own line"),
    ('{"user": 1, "item": 1, "estimated": "x"}', "row 2|estimated"),
    ("[" * 100_000, "line 3: .* is not a JSON object"), ('{"item": 1, "estimated": 1}', "user"),
]  # fmt: skip
BAD = [*NOT_ONE_TABLE, *((_lines_with(line), "p.jsonl", match) for line, match in NO_OBJECTS)]


@pytest.mark.parametrize(("content", "name", "match"), BAD)
def test_bad_data_is_rejected(tmp_path: Path, content: str | bytes, name: str, match: str) -> None:
    """An archive must hold one text file; a line must hold an object."""
    assert_rejected(match, rn.evaluate, write(tmp_path, content, name))


def test_a_stream_must_be_in_bytes() -> None:
    """The message explains how to open it; the number of a nameless file is not its name."""
    with rejects("^the stream: it gives text. Open it in binary mode"):
        rn.evaluate(io.StringIO(CSV.decode()))
    with TemporaryFile("w+") as nameless, rejects("^the stream: it gives text"):
        rn.evaluate(nameless)


@pytest.mark.parametrize("name", ["p.jsonl", "p.ndjson", "p.jsonl.gz", "p.zip"])
def test_json_lines_are_read(tmp_path: Path, name: str) -> None:
    """A key may be missing, and unused keys may hold any value."""
    frame = FRAME.assign(more=pd.Series([[1], {"a": 2}, None, 3], dtype=object))
    lines = frame.to_json(orient="records", lines=True).replace('"true":null,', "")
    packed = {"p.jsonl.gz": gzip.compress, "p.zip": lambda one: zip_files(one, "p.jsonl")}
    assert_read(write(tmp_path, packed.get(name, bytes)(f"\n{lines}\n\n".encode()), name))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_stream_of_json_lines_is_recognised(mark: str) -> None:
    """With a byte order mark, packed, or with UTF-8 as the given encoding."""
    content = (mark + FRAME.to_json(orient="records", lines=True)).encode()
    for text in (None, rn.TextFormat(encoding="utf-8")):
        assert_read(io.BytesIO(content), text)
        assert_read(io.BytesIO(gzip.compress(content)), text)


@pytest.mark.parametrize("content", [b"", b"PAR1", CSV])
def test_a_file_that_is_not_parquet_is_rejected(tmp_path: Path, content: bytes) -> None:
    """By its name."""
    with rejects(r"p.parquet: cannot be read as Parquet \(", whole=False):
        rn.evaluate(write(tmp_path, content, "p.parquet"))


def test_a_feather_file_gets_the_call_that_reads_it(tmp_path: Path) -> None:
    """Its table is read."""
    FRAME.to_feather(tmp_path / "p.feather")
    with rejects(r"p.feather.*give the table, such as pandas.read_feather\(path\)"):
        rn.evaluate(tmp_path / "p.feather")
    assert rn.evaluate(pd.read_feather(tmp_path / "p.feather")) == rn.evaluate(FRAME)


FORMATS: list[tuple[bytes, dict[str, Any]]] = [
    (TOY.replace("/", "::").encode(), {"separator": "::"}),
    (FRAME.to_csv(index=False, decimal=",").encode(), {"decimal": ","}),  # in quotes
]  # fmt: skip


@pytest.mark.parametrize(("content", "options"), FORMATS, ids=str)
def test_text_is_read_in_the_given_format(tmp_path: Path, content: bytes, options: Any) -> None:
    """Packed as well."""
    text = rn.TextFormat(**options)
    assert_read(write(tmp_path, content), text)
    assert_read(write(tmp_path, gzip.compress(content), "p.csv.gz"), text)


def test_columns_without_a_heading_are_named_by_their_places(tmp_path: Path) -> None:
    """Counted from 1; by default predictions have the usual order."""
    path = write(tmp_path, "7,5,01,4.5,a\n7,2,01,3,b\n7,4,02,2,a\n7,3,02,3.5,b\n")
    places: Any = {"user": 3, "item": "5", "estimated": 4, "true": "2"}
    lists = rn.RankedLists.from_file(path, columns=places, text=BARE_FORMAT)
    assert lists.users.tolist() == ["01", "02"]
    assert lists.true.tolist() == [5.0, 2.0, 4.0, 3.0]
    for wrong in (0, 9):
        with rejects(rf"no column '{wrong}'; it has 1, 2, 3, 4, 5. Without .* starting at 1"):
            rn.RankedLists.from_file(path, columns=places | {"true": wrong}, text=BARE_FORMAT)


def test_labels_and_results_without_a_heading_are_joined(tmp_path: Path) -> None:
    """In the usual order; or the third column is the grade in one and the rank in the other."""
    labels = write(tmp_path, "1,10,5\n1,11,3\n", "l.csv")
    results = write(tmp_path, "1,10,1\n1,11,2\n1,12,3\n", "r.csv")
    lists = rn.RankedLists.from_labels(labels, results, text=BARE_FORMAT)
    assert lists.estimated.tolist() == [1.0, 2.0, 3.0]
    places: Any = {"user": 1, "item": 2, "true": 3, "rank": 3}
    lists = rn.RankedLists.from_labels(labels, results, columns=places, text=BARE_FORMAT)
    assert (np.asarray(lists.items).tolist(), lists.true[:2].tolist()) == ([10, 11, 12], [5.0, 3.0])
    frames = [pd.read_csv(one, names=["user", "item", "score"]) for one in (labels, results)]
    same = rn.RankedLists.from_labels(*frames, columns={"true": "score", "rank": "score"})
    assert np.asarray(same.items).tolist() == [10, 11, 12]
    twice, match = {"item": "score", "true": "score"}, "item and true would both be read from the"
    assert_rejected(f"{match} column 'score'", rn.RankedLists.from_labels, *frames, columns=twice)
    with rejects("'ranks' is not one of our column names"):
        rn.RankedLists.from_labels(*frames, columns={"ranks": "score"})


INVALID = [
    *(("separator", one, "separator must be one character") for one in ("", ";;", "\n", 3)),
    ("decimal", ";", "decimal must be '.' or ','"),
    ("encoding", "klingon", "encoding must be the name.*not 'klingon'"),
    *(("encoding", one, "encoding must be the name") for one in ("base64", "a\0b")),
]


@pytest.mark.parametrize(("option", "value", "match"), INVALID)
def test_an_invalid_text_format_is_rejected(option: str, value: Any, match: str) -> None:
    """Before anything is read."""
    assert_rejected(match, rn.TextFormat, **{option: value})


@pytest.mark.parametrize("name", ["p.parquet", "p.jsonl", "p.pickle"])
def test_a_text_format_for_other_files_is_rejected(tmp_path: Path, name: str) -> None:
    """It would have no effect."""
    path = write(tmp_path, CSV, name)
    with rejects(
        f"{name}: options for separator, decimal, heading and encoding are .*Leave them out"
    ):
        rn.RankedLists.from_file(path, text=rn.TextFormat(separator=";"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_empty_last_field_is_an_unlabelled_item(tmp_path: Path, end: str) -> None:
    """Also in quotes, and before blank lines."""
    lines = ["user,item,estimated,true", "a,x,1,2", "a,y,3.5,", 'a,z,3,""', "", ",,,", ""]
    assert rn.evaluate(write(tmp_path, end.join(lines))).counts["unlabelled"] == 2


def test_trec_files_may_be_packed(tmp_path: Path) -> None:
    """And in UTF-16."""
    qrels = write(tmp_path, gzip.compress(b"1 0 d1 2\r\n1 0 d2 1\n"), "q.txt.gz")
    run = write(tmp_path, zip_files("1 Q0 d2 1 0.5 tag\n".encode("utf-16"), "run"), "run.zip")
    lists = rn.RankedLists.from_trec(qrels, run)
    assert (lists.true.tolist(), lists.unlisted["true"].tolist()) == ([1.0], [2.0])
    qrels = write(tmp_path, b"1 0 d1 2\n", "q.txt.gz")
    assert_rejected("q.txt.gz: cannot be decompressed", rn.RankedLists.from_trec, qrels, run)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_byte_order_mark_is_recognised(tmp_path: Path, encoding: str) -> None:
    """By its zeros; the encoding that the message proposes works."""
    path = write(tmp_path, CSV.decode().encode(encoding))
    assert_rejected(
        f"It looks like UTF-16: give .path, rn.TextFormat.encoding='{encoding}'", rn.evaluate, path
    )
    for given in (encoding, "UTF-16"):
        assert_read(path, rn.TextFormat(encoding=given))


def test_an_encoding_with_four_bytes_per_letter_is_read(tmp_path: Path) -> None:
    """Four letters of ASCII are no text in it, but that is no reason to refuse its name."""
    path = write(tmp_path, CSV.decode().encode("utf-32"))
    assert_read(path, rn.TextFormat(encoding="utf-32"))


PROPOSALS: list[tuple[bytes, dict[str, Any], str]] = [
    (
        CSV.replace(b",", b" "),
        {},
        "If 'space' separates fields, give \\(path, rn.TextFormat\\(separator='space'",
    ),
    (
        CSV.replace(b",", b"\t"),
        {"separator": ";"},
        "If 'tab' separates fields, give \\(path, rn.TextFormat\\(separator='tab'",
    ),
    (b"# made today\n" + CSV, {}, "a single field, '# made today'.*remove it"),
    (CSV, {"heading": False}, "'estimated', .* If this line is a heading, leave out heading=False"),
    (CSV.replace(b"4.5", b"1_0"), {}, "'1_0', which is not a number; correct it, or name"),
]


@pytest.mark.parametrize(("content", "options", "match"), PROPOSALS)
def test_a_text_format_is_proposed(tmp_path: Path, content: Any, options: Any, match: str) -> None:
    """If another one would help."""
    with rejects(match):
        rn.RankedLists.from_file(write(tmp_path, content), text=rn.TextFormat(**options))


def test_a_new_kind_of_file_is_one_entry(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """It is read, listed in the help, and rejected in archives and within a memory limit."""
    KINDS.append(FileKind("Toy", (".toy",), read_toy, magic=(b"TOY",)))
    request.addfinalizer(KINDS.pop)
    path = write(tmp_path, TOY, "p.toy")
    assert_read(path)
    assert FileKind.describe_all().endswith(", Toy (.toy)")
    assert FileKind.strip_suffixes("svd.toy.gz") == "svd"
    packed = write(tmp_path, gzip.compress(path.read_bytes()), "p.toy.gz")
    assert_rejected("p.toy: with a memory limit", rn.evaluate, path, memory_limit="4GB")
    assert_rejected("p.toy.gz: a .toy in an archive is not read", rn.evaluate, packed)
    match = "the stream: this is Toy, which is read only from a file whose name .*, .toy"
    assert_rejected(match, rn.evaluate, io.BytesIO(b"TOY"))
    text, match = rn.TextFormat(decimal=","), "separator, decimal, heading and encoding"
    assert_rejected(match, rn.RankedLists.from_file, path, text=text)
