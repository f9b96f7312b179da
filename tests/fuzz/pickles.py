"""Random pickles: damaged real ones, and programs of random instructions."""

from __future__ import annotations

import pickle
import pickletools
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from surprise import NMF, SVD, Dataset, KNNBaseline, Reader
from surprise.prediction_algorithms.predictions import Prediction

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.fuzz.damage import damage

_ROWS = 6
_MOST_INSTRUCTIONS = 60
_NAMES = [
    b"surprise.prediction_algorithms.predictions Prediction", b"numpy dtype", b"numpy ndarray",
    b"numpy.core.multiarray scalar", b"numpy._core.multiarray scalar", b"_codecs encode",
    b"copy_reg _reconstructor", b"__builtin__ bytes", b"builtins object", b"os system",
    b"collections defaultdict",
]  # fmt: skip
_NUMBERS = [0, 1, 2, 3, 5, 127, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
_LINES = [
    b"0", b"1", b"00", b"01", b"-1", b"7L", b"1e999", b"nan", b"-0.0", b"9" * 400, b"9" * 5000,
    b"0x1F", b"'a'", b'"b\\x41"', b"'\\q'", b"'", b"u\\u0041", b"\\ud800", b"\xff", b"", b"\0",
    b"latin1", b"f8", b"U3", b"1_0", b"2305843009213693951", b"4611686018427387902",
]  # fmt: skip


def case(random: Random) -> bytes:
    """Return a pickle, perhaps a damaged one."""
    if random.random() < 0.4:
        return _program(random)
    content = random.choice(_real_ones())
    for _ in range(random.choice((1, 1, 2, 4, 10))):
        content = random.choice(_MUTATIONS)(random, content) or b"."
    return content


def run(case: bytes, folder: Path) -> None:
    """Evaluate it; any other error than ours, or any other warning, is a failure."""
    path = folder / "case.pickle"
    path.write_bytes(case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rn.DataWarning)
        for read in (rn.RankedLists.from_surprise, _evaluated):
            with suppress(rn.RecsysNdcgError):
                read(path)


def _evaluated(path: Path) -> object:
    return rn.evaluate(path, threshold=3).summary


@cache
def _real_ones() -> list[bytes]:
    """Return files as people have them, of every protocol."""
    made: list[object] = [_predictions(), [tuple(one)[:4] for one in _predictions()]]
    table = sample_ratings(n_users=3, n_items=20)[["user", "item", "rating"]]
    train = Dataset.load_from_df(table, Reader(rating_scale=(0.5, 5))).build_full_trainset()
    for algo in (SVD(n_epochs=1), KNNBaseline(verbose=False), NMF(n_epochs=1)):
        predictions = algo.fit(train).test(train.build_testset()[:_ROWS])
        made.append({"predictions": predictions, "algo": algo})
    written = [pickle.dumps(one, protocol) for one in made for protocol in range(6)]
    return [*written, *map(pickletools.optimize, written)]


def _predictions() -> list[Prediction]:
    ids: list[Any] = ["a", "zürich", np.str_("x"), 7, np.int64(2), 2.5, 2**70, (1, "b"), True, b"c"]
    true: list[Any] = [3, 4.0, np.float32(2), None, np.float64(5)]
    details: list[Any] = [{"was_impossible": False}, {"actual_k": 3, "deep": {"a": [{}]}}, {}, None]
    return [
        Prediction(one, ids[at - 3], true[at % 5], np.float64(at), details[at % 4])
        for at, one in enumerate(ids)
    ]


def _damaged(random: Random, content: bytes) -> bytes:
    return damage(random, content, random.choice((1, 1, 2, 8)))


def _spliced(random: Random, content: bytes) -> bytes:
    """Return its beginning with the end of another."""
    other = random.choice(_real_ones())
    return content[: random.randrange(1, len(content) + 1)] + other[random.randrange(len(other)) :]


def _with_part_moved(random: Random, content: bytes) -> bytes:
    start = random.randrange(len(content))
    part = content[start : start + random.choice((1, 2, 9, 40))]
    at = random.randrange(len(content))
    kept = content if random.random() < 0.5 else content.replace(part, b"", 1)
    return kept[:at] + part * random.choice((1, 1, 2, 50)) + kept[at:]


def _with_instructions(random: Random, content: bytes) -> bytes:
    """Return it with random instructions between two of its own, if it has any."""
    at = random.choice(_beginnings(content))
    return content[:at] + _instructions(random, random.choice((1, 1, 3))) + content[at:]


def _without_instruction(random: Random, content: bytes) -> bytes:
    beginnings = [*_beginnings(content), len(content)]
    at = random.randrange(len(beginnings) - 1)
    return content[: beginnings[at]] + content[beginnings[at + 1] :]


def _beginnings(content: bytes) -> list[int]:
    """Return where its instructions begin, as far as they can be read."""
    places = [0]
    with suppress(Exception):  # broken by a mutation before
        for _, _, at in pickletools.genops(content):
            places.append(at or 0)
    return places


_MUTATIONS: list[Callable[[Random, bytes], bytes]] = [
    _damaged, _damaged, _spliced, _with_part_moved, _with_instructions, _without_instruction,
]  # fmt: skip


def _program(random: Random) -> bytes:
    """Return instructions that leave rows on the stack, more often than not."""
    begin = random.choice((b"", b"\x80\x02", b"\x80\x04", b"\x80\x05"))
    if random.random() < 0.3:
        return begin + _instructions(random, random.randrange(_MOST_INSTRUCTIONS)) + b"."
    width = random.choice((4, 5, 5, 5, 5, 5, 3, 6))
    rows = b"".join(_row(random, width) for _ in range(random.choice((1, 2, 3, 30))))
    return begin + b"(" + rows + random.choice((b"l.", b"l.", b"l.", b"t.", b"l", b"d."))


def _row(random: Random, width: int) -> bytes:
    values = [_value(random) for _ in range(2)] + [_number(random) for _ in range(width - 2)]
    if random.random() < 0.05:
        values[random.randrange(width)] = _value(random)
    if width == 5:
        flag = b"U\x0ewas_impossible"
        values[4] = random.choice((b"}", b"N", b"}" + flag + _value(random) + b"s"))
    name = b"csurprise.prediction_algorithms.predictions\nPrediction\n"
    begin, end = random.choice(((b"", b"t"), (b"", b"t"), (name, b"t\x81"), (name, b"tR")))
    return (begin if width == 5 else b"") + b"(" + b"".join(values) + (end if width == 5 else b"t")


def _number(random: Random) -> bytes:
    """Return instructions that leave a number, seldom one that has no place in a row."""
    if random.random() < 0.95:
        return pickle.dumps(random.choice((0, 1, 3, 4.5, 5, 2.0, True)), 2)[2:-1]
    odd = (float("nan"), float("inf"), 1e308, -1e308, 5e-324, -0.0, 10**400, -(2**64), 2000)
    return pickle.dumps(random.choice(odd), 2)[2:-1]


def _value(random: Random, depth: int = 0) -> bytes:
    """Return instructions that leave one value, usually fit for an id."""
    number = random.choice((*_NUMBERS, random.randrange(10))) * random.choice((1, 1, -1))
    text = random.choice(("", "a", "ü", "\ud800", "1", "x\0", "z" * 300))
    if depth < 4 and random.random() < 0.05:
        inside = b"".join(_value(random, depth + 1) for _ in range(random.randrange(4)))
        return b"(" + inside + random.choice((b"t", b"t", b"l", b"d", b"t2\x862\x86", b"lq\0h\0a"))
    if random.random() < 0.1:
        kind = random.choice((b"f8", b"i8", b"f2", b"U1", b"U2", b"M8", b"b1"))
        data = bytes(random.randrange(256) for _ in range(random.choice((1, 2, 4, 8))))
        dtype = b"cnumpy\ndtype\n(U\x02" + kind + b"\x89\x88tR"
        sized = b"C" + bytes([len(data)]) + data
        return b"cnumpy.core.multiarray\nscalar\n" + dtype + sized + b"\x86R"
    simple = (b"K\x03", b"K\x04", b"\x88", b"C\x01a", b"X\x01\0\0\0a", _number(random))
    chosen = (pickle.dumps(number, 2)[2:-1], pickle.dumps(text, 2)[2:-1])
    return random.choice((*simple, *simple, *chosen))


def _instructions(random: Random, count: int) -> bytes:
    """Return any instructions at all with arguments of their form, and at times of another."""
    program = b""
    for _ in range(count):
        opcode = random.choice(pickletools.opcodes)
        program += opcode.code.encode("latin1") + _argument(random, opcode)
    return program


def _argument(random: Random, opcode: pickletools.OpcodeInfo) -> bytes:
    if opcode.arg is None:
        return b""
    if random.random() < 0.05:
        return bytes(random.randrange(256) for _ in range(random.randrange(12)))
    width: int = opcode.arg.n
    if width >= 0:
        number = random.choice(_NUMBERS) if random.random() < 0.2 else random.randrange(5)
        return (number % (1 << 8 * width)).to_bytes(width, "little")
    if opcode.name in ("GLOBAL", "INST"):
        return random.choice(_NAMES).replace(b" ", b"\n") + b"\n"
    if width == pickletools.UP_TO_NEWLINE:
        return random.choice(_LINES) + b"\n"
    lengths = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT8U: 8}
    length = lengths.get(width, 4)
    data = random.choice(_LINES)
    announced = len(data) if random.random() < 0.9 else random.choice(_NUMBERS)
    return (announced % (1 << 8 * length)).to_bytes(length, "little") + data
