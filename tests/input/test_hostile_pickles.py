"""Pickles made to hang or crash their reader are rejected quickly, in little memory."""

from __future__ import annotations

import io
import itertools
import json
import pickle
import pickletools
import struct
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input import pickles
from recsys_ndcg.input.pickles import DamagedPickleError, ForbiddenNameError, load, read_pickle
from recsys_ndcg.lists import to_lists
from tests.errors import assert_rejected
from tests.input.tables import write

MODULUS = 2**61 - 1  # of the hashes of numbers
KEPT_TEXT = b"X" + struct.pack("<I", 60_000) + b"a" * 60_000 + b"q\x00"
ENCODE = b"c_codecs\nencode\n"
SCALAR = b"cnumpy.core.multiarray\nscalar\n"
LONG_TEXT = b"X" + struct.pack("<I", 400_000) + b"a" * 400_000


def whole(number: int) -> bytes:
    """Return the instruction for an integer of any length."""
    return pickle.dumps(number, 2)[2:-1] if number else b"K\x00"


def rows(users: Iterable[bytes], rest: bytes = b"K\x01K\x01K\x01") -> bytes:
    """Return a list of rows, each user given by its instructions."""
    return b"\x80\x04(" + b"".join(b"(" + user + rest + b"t" for user in users) + b"l."


def predictions(details: bytes) -> bytes:
    """Return two predictions with these details."""
    return rows([b"K\x01", b"K\x02"], b"K\x01K\x01K\x01" + details)


def pairs_of_one_hash(count: int) -> list[tuple[int, int]]:
    """Return tuples that have the same hash in CPython, which uses xxHash."""
    word, first = 2**64, 11400714785074694791
    second, fifth = 14029467366897019727, 2870177450012600261
    inverse = pow(second, -1, word)
    found: list[tuple[int, int]] = []
    for left in itertools.count(1):
        total = (fifth + left * second) % word
        start = (total << 31 | total >> 33) * first % word
        right = (123 - start) * inverse % word
        found += [(left, right)] if 0 < right < MODULUS else []
        if len(found) == count:
            break
    assert len(set(map(hash, found))) == 1
    return found


@cache
def attacks() -> dict[str, bytes]:
    """Return the contents of files that hang or crash a careless reader."""
    return {
        "no attack, 500,000 users": rows(map(whole, range(500_000))),
        "an id of doubling tuples": rows([b"K\x01" + b"2\x86" * 60]),
        "details of doubling lists": predictions(b"]q\x00" + b"0(h\x00h\x00lq\x00" * 60),
        "a key nested 200,000 deep": b"\x80\x04}K\x01" + b"\x85" * 200_000 + b"Ns.",
        "an id nested 200,000 deep": rows([b"K\x01" + b"\x85" * 200_000]),
        "lists nested 200,000 deep": b"\x80\x04" + b"(" * 200_000 + b"l" * 200_000 + b".",
        "rows of several widths with details nested deep": b"\x80\x04((K\x01K\x01K\x01K\x01t"
        b"(K\x01K\x01K\x01K\x01}U\x01a" + b"(" * 100_000 + b"l" * 100_000 + b"stl.",
        "a prediction in itself": b"\x80\x04]q\x00(K\x01K\x01K\x01K\x01}U\x01ah\x00sta.",
        "a far place in memory as text": b"Np67108863\n.",
        "many marks": b"\x80\x04" + b"(" * 600_000 + b".",
        "many lists": b"\x80\x04(" + b"]" * 600_000 + b"l.",
        "one row repeated": b"\x80\x04((K\x01K\x01K\x01K\x01t" + b"2" * 500_000 + b"l.",
        "one text encoded repeatedly": KEPT_TEXT + b"0" + ENCODE + b"q\x01U\x06latin1q\x020(0"
        + b"(" + b"h\x01h\x00h\x02\x86R" * 50_000 + b"l.",
        "one text of NumPy repeated": b"C" + b"\xf0" + b"a\0\0\0" * 60 + b"q\x00" + SCALAR
        + b"q\x010cnumpy\ndtype\n(U\x03U60\x89\x88tRq\x020("
        + b"h\x01h\x02h\x00\x86R" * 100_000 + b"l.",
        "one dtype of NumPy repeated": LONG_TEXT + b"\x85q\x00cnumpy\ndtype\nq\x01("
        + b"h\x01h\x00R" * 60_000 + b"l.",
        "one module repeated": b"X" + struct.pack("<I", 60_000) + b"numpy." * 10_000 + b"q\x00("
        + b"".join(b"h\x00U\x04" + b"%04d" % at + b"\x93" for at in range(10_000)) * 6 + b"l.",
        "data without an end": b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f",
        "a number without an end": b"\x80\x04\x8b\xff\xff\xff\x7f",
        "a long number as text": b"I" + b"9" * 1_000_000 + b"\n.",
        "an id of a long number repeated": b"\x80\x04\x8b" + struct.pack("<i", 400_000)
        + b"\x7f" * 400_000 + b"q\x000" + rows([b"h\x00"] * 60_000)[2:],
        "an id of a long tuple repeated": b"\x80\x04(" + b"K\x01" * 100_000 + b"tq\x000"
        + rows([b"h\x00"] * 60_000)[2:],
        "keys of one hash": b"\x80\x04}("
        + b"".join(whole(at * MODULUS) + b"N" for at in range(1, 60_000)) + b"u.",
        "ids of one hash": rows(whole(at * MODULUS) for at in range(1, 40_000)),
        "tuples of one hash": rows(
            whole(left) + whole(right) + b"\x86" for left, right in pairs_of_one_hash(40_000)
        ),
    }  # fmt: skip


CHILD = """
import json, os, resource, signal, sys, time
import pandas, scipy.stats
import recsys_ndcg as rn
memory = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    if os.fork() == 0:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.setitimer(signal.ITIMER_PROF, 30)
        before, start = memory(), time.process_time()
        try:
            outcome = type(rn.evaluate(path)).__name__
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"[:500]
        with open(path + ".json", "w") as file:
            json.dump([outcome, time.process_time() - start, memory() - before], file)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Read each attack in its own process; return the outcome, seconds and kilobytes of each."""
    folder = tmp_path_factory.mktemp("attacks")
    paths = [write(folder, code, f"{at}.pickle") for at, code in enumerate(attacks().values())]
    call = [sys.executable, "-c", CHILD, *map(str, paths)]
    subprocess.run(call, capture_output=True, timeout=500, check=False)  # noqa: S603
    results = [Path(f"{path}.json") for path in paths]
    found = [json.loads(one.read_text()) if one.exists() else ["dead", 99, 0] for one in results]
    return dict(zip(attacks(), found, strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
def test_an_attack_ends_soon_in_little_memory(outcomes: dict[str, Any]) -> None:
    """With our error or a report; never with a hang, a crash or another error."""
    for attack, (outcome, seconds, kilobytes) in outcomes.items():
        assert outcome.startswith(("InvalidInputError: ", "Report")), (attack, outcome)
        assert seconds < 2 * outcomes["no attack, 500,000 users"][1], (attack, outcome)
        assert kilobytes < 200 * 1024, (attack, outcome)


REASONS = {
    "a far place in memory as text": "it remembers a value at place 67108863",
    "an id of a long number repeated": "a number of more than 8192 bits",
    "ids of one hash": "chosen to have the hash of many others",
    "an id nested 200,000 deep": "user of .* is nested",
    "an id of doubling tuples": "user of .* is nested", "data without an end": "cut off or damaged",
}  # fmt: skip


@pytest.mark.parametrize(("attack", "match"), REASONS.items())
def test_an_attack_is_rejected_with_the_reason(tmp_path: Path, attack: str, match: str) -> None:
    """In this process, with the usual limits."""
    assert_rejected(match, rn.evaluate, write(tmp_path, attacks()[attack], "p.pickle"))


STACKS = (
    b"", b"(", b"N", b"NN", b"NNN", b"(N", b"(NN", b"K\x01K\x02", b"}", b"](", b"](N", b"}(N",
    b"}NN", b"}U\x01aN", b"}]N", b"]N", b"()", b"))", b"cnumpy\nx\n", b"cnumpy\nx\n)",
    b"(cnumpy\nx\n", b"cnumpy\ndtype\n)", b"cnumpy\ndtype\nN", b"cnumpy\nx\n)}", b"\x8f(N",
    b"csurprise.prediction_algorithms.predictions\nPrediction\n)", b"Nq\x00", b"U\x01aU\x01b",
    b"U\x02osU\x06system", b"cnumpy\nx\n)RN", b"(U\x01aN(", b"c_codecs\nencode\nU\x01a\x85",
    SCALAR + b"N\x85",
)  # fmt: skip
ARGUMENTS = (
    b"", b"\n", b"\xff", b"\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0" * 8, b"\x01a",
    b"\x02\0\0\0\xff\xff", b"\xff" * 7 + b"\x7f", b"-1\n", b"x\n", b"1\n", b"os\nsystem\n", b"\0\n",
    b"'\\x4'\n", b"\\u12\n", b"9" * 5000 + b"\n", b"numpy\nx", b"\xff\n\xff\n", b"'\n", b"1e999\n",
)  # fmt: skip


@pytest.mark.parametrize("opcode", pickletools.opcodes, ids=lambda opcode: opcode.name)
def test_every_instruction_is_read_or_rejected(opcode: pickletools.OpcodeInfo) -> None:
    """On any stack, with any argument, at the end of the file or before it."""
    code = opcode.code.encode("latin1")
    for stack, argument, end in itertools.product(STACKS, ARGUMENTS, (b"", b".", b"t.")):
        with suppress(DamagedPickleError, ForbiddenNameError):
            load(b"\x80\x04" + stack + code + argument + end)


def test_every_instruction_is_known() -> None:
    """Review each instruction that a new Python adds: does it call, hash or allocate."""
    assert pickle.HIGHEST_PROTOCOL == 5
    known = pickles._BoundedUnpickler.dispatch
    assert {ord(opcode.code) for opcode in pickletools.opcodes} == set(known)


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.integers(-(2**1600), 2**1600) | st.text()
    | st.binary(max_size=300) | st.floats(allow_nan=False)
)  # fmt: skip


def _containers(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inside, max_size=5)
    return lists | lists.map(tuple) | st.dictionaries(st.text(), inside, max_size=4)


NESTED, FORMS = st.recursive(PLAIN, _containers), st.sampled_from(["plain", "optimized", "fast"])


@given(NESTED, st.sampled_from(range(6)), FORMS)
def test_plain_values_are_read_as_by_python(value: object, protocol: int, form: str) -> None:
    """Nested in any way, and shared; written with memory or without."""
    expected, stream = [value, value, "text", "text"], io.BytesIO()
    pickler = pickle.Pickler(stream, protocol)
    pickler.fast = form == "fast"
    pickler.dump(expected)
    content = stream.getvalue()
    found = load(pickletools.optimize(content) if form == "optimized" else content)
    assert found == expected
    assert repr(found) == repr(expected)  # 1 is 1.0 and True


def test_shared_values_stay_shared() -> None:
    """A list that contains itself, in two places."""
    inside: list[Any] = []
    inside.append(inside)
    for protocol in range(6):
        first, second = load(pickle.dumps([inside, inside], protocol))
        assert first is second is first[0]


def test_a_memo_with_gaps_is_read() -> None:
    """Python 2 counted from 1; an entry that does not exist is rejected."""
    assert load(b"(K\x01q\x05K\x02p9\nh\x05g9\nl.") == [1, 2, 1, 2]
    assert load(b"(K\x01q\x02K\x02q\x02h\x02l.") == [1, 2, 2]
    for code in (b"h\x01", b"j\x01\0\0\0", b"g1\n"):
        with pytest.raises(DamagedPickleError):
            load(b"(K\x01q\x02" + code + b"l.")


OLD: list[tuple[bytes, object]] = [
    (b"S'a\\'\\n\\x41'\n.", "a'\nA"), (b'S"it\'s"\n.', "it's"), (b"U\x01a.", "a"),
    (b"T\x01\0\0\0a.", "a"), (b"I01\n.", True), (b"I0x10\n.", 16), (b"L-5L\n.", -5),
    (b"(K\x01K\x021K\x03.", 3), (b"K\x03(0.", 3), (b"K\x03(K\x0100.", 3),
    (b"}(K\x01K\x02U\x01aK\x03u.", {"a": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "value"), OLD)
def test_pickles_of_old_and_other_writers_are_read(code: bytes, value: object) -> None:
    """Texts of Python 2, and discarded marks; keys that are not text are dropped."""
    assert load(code) == value


def test_bytes_are_built_only_up_to_the_size_of_the_longest_text() -> None:
    """NumPy has four bytes per letter, and writes them as text under old protocols."""
    for n_bytes, is_built in ((4096, True), (4097, False)):
        content = b"\xff" * n_bytes
        assert (load(pickle.dumps(content, 2)) == content) == is_built


TEXT, NUMBER = "longer than 1024 characters. Shorten", "a number of more than 8192 bits. Renumber"
LONG = [("a" * 100_000, TEXT), (b"a" * 100_000, TEXT), (2**100_000, NUMBER)]


@pytest.mark.parametrize(("long", "match"), LONG, ids=["text", "bytes", "number"])
def test_a_very_long_id_is_rejected(tmp_path: Path, long: Any, match: str) -> None:
    """As another part of a dump it is ignored."""
    path = write(tmp_path, pickle.dumps([(long, "i", 1.0, 1.0)]), "p.pickle")
    assert_rejected(f"user of prediction 0 .* is {match} such ids", rn.evaluate, path)
    dump = pickle.dumps({"predictions": [("u", "i", 1.0, 1.0)], "algo": long})
    assert read_pickle(write(tmp_path, dump, "p.pickle")) == [("u", "i", 1.0, 1.0)]


def test_ids_of_more_than_64_bits_are_ids(tmp_path: Path) -> None:
    """Random ones, such as a UUID as a number, have different hashes."""
    ids = [2**127 + 12345 * at for at in range(200)]
    content = pickle.dumps([(one, (one, "i"), at % 5, 1.0) for at, one in enumerate(ids)])
    assert to_lists(write(tmp_path, content, "p.pickle")).users.tolist() == ids


def test_was_impossible_may_have_any_type(tmp_path: Path) -> None:
    """Its truth value counts, as in Python."""
    values = [True, False, 1, "", "no", [], [[]], {}]
    rows = [("u", at, at, 1.0, {"was_impossible": one}) for at, one in enumerate(values)]
    lists: Any = to_lists(write(tmp_path, pickle.dumps(rows), "p.pickle"))
    assert lists.impossible.tolist() == [*map(bool, values)]
