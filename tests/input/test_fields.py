"""The fields of rows are what looking at each of them says, wherever their kind changes."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input.ids import Coded, encode
from recsys_ndcg.input.python_objects import read_objects
from tests.errors import rejects
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable


class Named(enum.StrEnum):
    """Text, and more than that."""

    ANN = "ann"


class Prediction(NamedTuple):
    """What Surprise returns."""

    uid: Any
    iid: Any
    r_ui: Any
    est: Any
    details: Any


INTEGERS = st.sampled_from([0, 1, -1, 7, 2**31 - 1, -(2**31), 2**31, 2**63, 10**30])
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "b", "12345678", "123456789", "1234567890123456", "12345678901234567", "a\nb"]
    ),
    st.sampled_from(["a\0", "\0", "\n", "é" * 8, "é" * 9, "\ud800", "🦜🦜", "ann", "1"]),
    st.text(max_size=18),
)
IDS = st.one_of(
    INTEGERS,
    TEXTS,
    st.sampled_from([True, 1.0, 1.5, None, (1, 2), Named.ANN, np.int64(7), np.str_("a"), [1]]),
)


def mostly(kinds: list[st.SearchStrategy[Any]], any_: st.SearchStrategy[Any]) -> Any:
    """Draw values of one kind, and perhaps some others among them."""
    alike = st.one_of([st.lists(kind, min_size=1, max_size=9) for kind in kinds])
    return st.tuples(alike, st.lists(any_, max_size=2), st.integers(0, 9)).map(
        lambda parts: [*parts[0][: parts[2]], *parts[1], *parts[0][parts[2] :]]
    )


def outcome(work: Callable[[], Any]) -> Any:
    """Return what comes of it: values with their types, or what is said against them."""
    try:
        ids, codes = work()
    except rn.InvalidInputError as error:
        return str(error)
    return [(type(one), one) for one in ids.tolist()], codes.tolist()


@examples(4, suppress_health_check=[HealthCheck.too_slow])
@given(mostly([INTEGERS, TEXTS, st.integers(-5, 5)], IDS))
def test_ids_are_those_that_a_dict_tells_apart(values: list[Any]) -> None:
    """Also where whole numbers, or short texts, give way to others."""

    def read() -> Any:
        return encode(read_objects([(one, 1, 1.0, 1.0) for one in values]).user, "user")

    def expected() -> Any:
        places: dict[Any, int] = {}
        try:
            codes = [places.setdefault(one, len(places)) for one in values]
        except TypeError as error:
            msg = f"user: an id is not hashable ({error}); use numbers or text."
            raise rn.InvalidInputError(msg) from None
        ids = np.fromiter(places, dtype=object, count=len(places))
        return encode(Coded(ids, np.array(codes, dtype=np.int32)), "user")

    assert outcome(read) == outcome(expected)


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 2, 3.0, 4.0), (1, 3, "abcd", 4.0)],  # as many bytes as a float
        [(1, 2, 3.0, 4.0), (1, 3, 3.0, "abcd")],
        [("a", "b", 3.0, 4.0), ("a", "c", "abcd", 4.0)],
    ],
)
def test_text_as_long_as_a_number_is_none(rows: Any) -> None:
    """By its length alone it would be one."""
    with rejects("text such as 'abcd' in row 1", whole=False):
        read_objects(rows)


@pytest.mark.parametrize("ids", [[1, ""], [(1, "")[at > 2] for at in range(9)]])
def test_an_empty_text_is_no_whole_number(ids: list[Any]) -> None:
    """Though it is written in as many bytes."""
    rows = [(one, at, 1.0, 2.0) for at, one in enumerate(ids)]
    found: Any = read_objects(rows).user
    assert found.tolist() == ids


@pytest.mark.parametrize(
    "odd",
    [{1, "a", 2.0, 3.0}, {1: 0, "a": 0, 2.0: 0, 3.0: 0}, "abcd", (1, "a", 2.0), (1, "a", 2, 3, 4)],
)
@pytest.mark.parametrize("ids", [(1, 2), ("u", "i")])
def test_no_other_row_is_taken_for_a_tuple(odd: Any, ids: Any) -> None:
    """Though it has as many entries, or makes up for those of another."""
    rows = [(*ids, 3.0, float(place)) for place in range(8)]
    rows.insert(5, odd)
    with pytest.raises(rn.InvalidInputError, match=r"Row 5 \(counted from 0\) is "):
        read_objects(rows)


def test_rows_of_all_kinds_are_the_same_rows() -> None:
    """Tuples, lists and arrays, numbers and text."""
    rows = [(place % 3, f"item {place}", place / 3, float(place % 5)) for place in range(10)]
    lists = rn.RankedLists.from_tuples(rows)
    for other in ([*map(list, rows)], [np.array(row, dtype=object) for row in rows], iter(rows)):
        same = rn.RankedLists.from_tuples(other)
        assert same.users.tolist() == lists.users.tolist()
        assert np.asarray(same.items).tolist() == np.asarray(lists.items).tolist()
        assert same.estimated.tolist() == lists.estimated.tolist()
        assert same.true.tolist() == lists.true.tolist()


@pytest.mark.parametrize("details", [{"was_impossible": True}, {}, None])
def test_details_are_looked_at_wherever_they_stand(details: Any) -> None:
    """One impossible prediction behind many others."""
    rows = [Prediction(f"u{at}", "i", 4.0, 3.0, {"was_impossible": False}) for at in range(9)]
    rows[7] = rows[7]._replace(details=details)
    flags = read_objects(rows).columns.get("impossible")
    assert (flags is None) == (not details)
    if flags is not None:
        assert flags.tolist() == [at == 7 for at in range(9)]
