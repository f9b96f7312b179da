"""The fast reader of text gives exactly what the careful one gives, or leaves the file to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.files import Content
from recsys_ndcg.input import TextFormat, text_tables
from recsys_ndcg.ratings import read_ratings
from tests.errors import assert_rejected
from tests.input.tables import compare_readings, ids_of_rows, read_fast, write
from tests.profiles import examples

HEADINGS = (
    "user item estimated true", "user item estimated true", "userId movieId rating prediction",
    "user item est", "user item true rank when", "user n_items n_relevant ndcg",
    "user uid item est", "item estimated note true user", "user user item", "1 2 3 4",
    '"user" "item" "estimated" "true"',
)  # fmt: skip
USUAL = ("0", "7", "42", "1.5", "-0.25", "3e2", "2.5000000000000004", "ann", "")
NASTY = (
    " ", " 7", "7 ", "\t", "007", "+7", "-7", "-0", "0x1F", "0XABCDEF012345", "1_0", "1e5", "1e400",
    "1e-400", "1e", ".5", "5.", ".", "-", "nan", "NaN", "-nan", "nan(1)", "NA", "n/a", "None",
    "nULL", "inf", "-Infinity", "1,5", "1.5,0", "999999999999999999", "1000000000000000000",
    "9" * 19, "18446744073709551615", "18446744073709551616", "-9223372036854775808",
    "-9223372036854775809", "9" * 400, "0." + "0" * 400 + "1", "\u0661", "½", "é", "\ufeff", "\x85",
    "\u2028", "\xa0", "\x1c", "\x0b", "\x0c", "\0", '"', '""', '"7"', '"a b"', '"a""b"', '"a"b',
    'a"b', '"a,b"', '"a\nb"', '"a\rb"', '"', "a::b", "::", "#", "'=1", "=1", "True", "\\", "\\n",
    "{", "1;2", "9007199254740993", "0.1000000000000000055511151231257827021181583404541015625",
    "🦜", "\x1a",
)  # fmt: skip
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n")


@st.composite
def files(draw: Callable[[Any], Any]) -> tuple[bytes, TextFormat, dict[str, str] | None]:
    """Draw a file with few faults, and the text format that a user gives."""
    separator = draw(st.sampled_from((",", ",", ",", "\t", ";", "|", " ", "::")))
    heading = draw(st.sampled_from((True, True, True, False)))
    names = draw(st.sampled_from(HEADINGS)).split()
    kind = st.sampled_from((("1", "2", "30"), ("u1", "u2", "0042"), ("0.5", "4.25", "-3"), USUAL))
    kinds = [draw(kind) for _ in names]
    count = draw(st.integers(1, 6))
    rows = [[draw(st.sampled_from(kind)) for kind in kinds] for _ in range(count)]
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
        row = draw(st.sampled_from(rows))
        cell = draw(st.one_of(st.sampled_from(NASTY), st.text(max_size=3)))
        way = draw(st.sampled_from(("change", "change", "change", "add", "remove")))
        if way == "add":
            row.append(cell)
        elif row:
            row[draw(st.integers(0, len(row) - 1))] = cell
            if way == "remove":
                row.pop()
    quoted = draw(st.sampled_from((99, 99, 99, *range(len(names)))))
    rows = [[f'"{one}"' if at == quoted else one for at, one in enumerate(row)] for row in rows]
    end = draw(st.sampled_from(LINE_ENDS))
    lines = [separator.join(row) for row in ([names] if heading else []) + rows]
    text = draw(st.sampled_from(("", "", "", "\ufeff", "\n"))) + end.join(lines)
    text += draw(st.sampled_from((end, end, "", "\n\n")))
    how = TextFormat(
        separator=draw(st.sampled_from((None, separator))) if separator != "::" else separator,
        decimal=draw(st.sampled_from((".", ".", ".", ","))),
        encoding=draw(st.sampled_from((None, None, "utf-8", "latin-1", "utf-16"))),
        heading=heading,
    )
    columns = draw(st.sampled_from((None, None, {"user": "user"}, {"item": "2", "user": "1"})))
    return text.encode(how.encoding or "utf-8", "replace"), how, columns


WHY = "an older pyarrow ends the process over a line of a million fields"
TRUSTED = pytest.mark.skipif(int(pa.__version__.partition(".")[0]) < 21, reason=WHY)


@examples(3, suppress_health_check=[HealthCheck.too_slow])
@given(file=files())
def test_the_fast_reader_agrees_with_the_careful_one(file: Any) -> None:
    """On any text that it does not leave to it."""
    data, how, columns = file
    compare_readings(Content("p.csv", ".csv", data), how, columns)


PLAIN = "user,item,estimated,true\n1,a,2.5,4\n1,b,-0.5,\n2,a,1e-3,NaN\n"
ORDINARY: dict[str, tuple[str, dict[str, Any]]] = {
    "commas": (PLAIN, {}), "tabs": (PLAIN.replace(",", "\t"), {}),
    "semicolons": (PLAIN.replace(",", ";"), {}), "no line end": (PLAIN.removesuffix("\n"), {}),
    "colons": (PLAIN.replace(",", "::"), {"separator": "::"}), "a mark": (f"\ufeff{PLAIN}", {}),
    "a space": (PLAIN.replace(",", " "), {"separator": " "}),
    "ends of Windows": (PLAIN.replace("\n", "\r\n"), {}),
    "Latin": (PLAIN.replace(",a,", ",ä,"), {"encoding": "latin-1"}),
    "wide": (PLAIN, {"encoding": "utf-16"}), "blank lines": (PLAIN.replace("\n", "\n\n"), {}),
    "no heading": (PLAIN.partition("\n")[2], {"heading": False}),
    "more columns": ("when," + PLAIN.replace("\n", "\nnow,", 3), {}),
    "in quotes": ('"user","item","estimated","true"\n"u","a\n1",2.5,4\n"u","b,c",1,""\n', {}),
    "decimal comma": ("user;item;estimated;true\n1;a;2,5;4\n1;b;-0,5;\n", {"decimal": ","}),
}  # fmt: skip
#: Changes of an ordinary file that make the fast reader leave it to the careful one.
ODD = {
    "missing id": ("1,a,", "1,,"), "blank id": ("1,a,", "1, ,"), "missing estimate": ("2.5", ""),
    "NaN as an estimate": ("2.5", "nan"), "infinite estimate": ("2.5", "inf"),
    "too large": ("2.5", "1e400"), "name": ("2.5", "1_0"), "decimal comma": ("2.5", '"2,5"'),
    "short": (",2.5,4", ",2.5"), "long": (",2.5,4", ",2.5,4,5"), "minus NaN": ("NaN", "-nan"),
    "very long": (",2.5,4", "," * 1_000_000), "twice": ("estimated", "item"),
    "scores of users": ("user,item,estimated", "user,n_items,n_relevant"),
}  # fmt: skip


def written(text: str, how: TextFormat) -> Content:
    """Return the content of a file with this text."""
    return Content("p.csv", ".csv", text.encode(how.encoding or "utf-8"))


@TRUSTED
@pytest.mark.parametrize(("text", "options"), ORDINARY.values(), ids=ORDINARY)
def test_ordinary_files_are_read_by_the_fast_reader(text: str, options: Any) -> None:
    """Also with fields in quotes, and with decimal commas."""
    how = TextFormat(**options)
    assert compare_readings(written(text, how), how, None)


@pytest.mark.parametrize("kind", ODD)
def test_unusual_files_are_left_to_the_careful_reader(kind: str) -> None:
    """Even if a library would read them."""
    text, how = PLAIN.replace(*ODD[kind]), TextFormat()
    assert text != PLAIN
    assert read_fast(written(text, how), how) is None


NOT_PLAIN = ("007", "+7", "-0", " 7", "0x1F", "18446744073709551616", "x")
WHOLE = ("-7", "1" * 19, "-9223372036854775808", "18446744073709551615")


@TRUSTED
@pytest.mark.parametrize("last", [*WHOLE, *NOT_PLAIN])
def test_ids_are_numbers_only_if_all_are_plain_whole_numbers(last: str) -> None:
    """Also if only the last one is not, in a later block of the file."""
    ids = [*map(str, range(100_000, 190_000)), last]
    text = "user,item,estimated\n" + "".join(f"{one},{one},1.5\n" for one in ids)
    table = read_fast(written(text, TextFormat()), TextFormat())
    assert table is not None
    user: Any = table["user"]
    if isinstance(user, np.ndarray):
        assert user.dtype == (np.uint64 if len(last) == 20 and last[0] != "-" else np.int64)
        assert [*map(str, user.tolist())] == ids
    else:
        assert last in NOT_PLAIN
        assert ids_of_rows(user) == ids


@TRUSTED
def test_hexadecimal_ids_that_are_as_long_as_their_numbers_stay_text() -> None:
    """By their total length alone they could be plain numbers."""
    for one in ("0xFFFFFFFF", "0XDE0B6B3A763FFFF"):
        content = written(f"user,item,estimated\n{one},1,1\n7,1,1\n", TextFormat())
        table: Any = read_fast(content, TextFormat())
        assert ids_of_rows(table["user"]) == [one, "7"]


@TRUSTED
def test_a_line_end_in_quotes_may_be_at_the_end_of_a_block() -> None:
    """In a file of several blocks."""
    rows = [f'"u{place % 9}","a\n{place}",{place}.5,1\n' for place in range(110_000)]
    content = written('"user","item","estimated","true"\n' + "".join(rows), TextFormat())
    assert len(content.data) > 2 * (1 << 20)
    assert compare_readings(content, TextFormat(), None)


def test_the_message_gives_the_line_of_a_late_fault(tmp_path: Path) -> None:
    """The careful reader finds it."""
    rows = [f"{place},1,0.5,1\n" for place in range(2000)]
    path = write(tmp_path, "user,item,estimated,true\n" + "".join(rows) + "2000,1,x,1\n")
    assert_rejected("p.csv, line 2002: estimated is 'x', which is not a number", rn.evaluate, path)


@TRUSTED
@pytest.mark.parametrize("separator", ["::", ",", "\t"])
@pytest.mark.parametrize("heading", ["", "user,item,rating,when\n"])
@pytest.mark.parametrize("ids", [("7", "31"), ("ann", "0042")])
def test_both_readers_agree_on_ratings(
    tmp_path: Path, separator: str, heading: str, ids: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without a heading."""
    lines = [heading, *(f"{one},{at},{at % 5}.5,97830{at}\n" for at in range(5) for one in ids)]
    path = write(tmp_path, "".join(lines).replace(",", separator), "r.dat")
    with monkeypatch.context() as patched:
        patched.setattr(text_tables, "parse_carefully", None)  # it is not called
        fast = read_ratings(path)
    monkeypatch.setattr(text_tables, "parse_plain", lambda *_: None)
    pd.testing.assert_frame_equal(fast, read_ratings(path))
