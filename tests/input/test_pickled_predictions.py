"""Pickled predictions are read as they were written, and nothing in them is executed."""

from __future__ import annotations

import copy
import copyreg
import datetime as dt
import io
import os
import pickle
import subprocess
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("surprise")

from surprise import SVD, CoClustering, Dataset, KNNBaseline, Reader, SlopeOne, dump
from surprise.prediction_algorithms.predictions import Prediction

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.input import file_kinds, pickles
from recsys_ndcg.input.pickles import DamagedPickleError, ForbiddenNameError, load, read_pickle
from recsys_ndcg.lists import to_lists
from tests.commands import run_python
from tests.errors import assert_rejected, rejects
from tests.input.tables import write

PROTOCOLS = range(6)
DETAILS = {"was_impossible": False}
PREDICTIONS = [
    Prediction("ann", 1, 4.0, np.float64(3.5), DETAILS),
    Prediction("ann", np.int64(2), np.float32(2.5), 1, {"actual_k": np.int64(3), "reason": "few"}),
    Prediction("bob", np.str_("zürich"), 3, np.float16(0.5), None),
    Prediction(7, "", np.float64(2), np.float64("inf"), {}),
    Prediction(np.uint8(200), np.str_(""), None, -np.float64(1), {"a": {"b": [np.bool_(1)]}}),
]
GOOD = [Prediction("ann", "x", 4.0, 3.5, DETAILS), Prediction("ann", "y", 2.0, 4.5, DETAILS)]


def written(folder: Path, what: object, name: str = "p.pickle", protocol: int = 4) -> Path:
    """Write the pickle of a value, or bytes as they are."""
    return write(folder, what if isinstance(what, bytes) else pickle.dumps(what, protocol), name)


class Calls:
    """Pickled as a call of a function."""

    def __init__(self, function: Callable[..., object], *args: object) -> None:
        self._call, self.name = (function, args), function.__name__

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Return the call that pickle makes when it loads this."""
        return self._call


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_predictions_come_back_equal_under_every_protocol(tmp_path: Path, protocol: int) -> None:
    """From a list and from a dump; numbers of NumPy become numbers of Python."""
    for what in (PREDICTIONS, {"predictions": PREDICTIONS, "algo": None}):
        read = read_pickle(written(tmp_path, what, protocol=protocol))
        assert read == PREDICTIONS
        assert [type(row).__name__ for row in read] == ["Prediction"] * len(read)
        assert {type(one) for row in read for one in row[:4]} <= {str, int, float, type(None)}


_NUMBERS = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "<f8", ">f8", ">i2", ">U3"]
_VALUES = st.integers(0, 100) | st.floats(0, 100, width=16)
_ALGORITHMS = [SVD(n_epochs=2, random_state=np.random.RandomState(1)), SlopeOne(),
               KNNBaseline(verbose=False), CoClustering(n_epochs=1)]  # fmt: skip


@given(st.sampled_from(_NUMBERS), _VALUES, st.sampled_from(PROTOCOLS))
def test_numbers_are_read_as_numpy_reads_them(kind: str, number: float, protocol: int) -> None:
    """Of every type, and also in the byte order of another machine."""
    values = np.array([number]).astype(kind)
    value = values[0]
    scalar: Any = np.float64(1).__reduce__()[0]
    # NumPy writes scalars in the byte order of this machine; the second one is written by hand
    for one in (value, Calls(scalar, values.dtype, values.tobytes())):
        ((_, _, found, *_),) = load(pickle.dumps([("u", "i", one, 1.0, {})], protocol))
        assert found == value.item()
        assert type(found) is type(value.item())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("algo", _ALGORITHMS, ids=lambda algo: type(algo).__name__)
def test_the_algorithm_in_a_dump_is_not_built(tmp_path: Path, algo: Any, protocol: int) -> None:
    """A fitted one contains its training set, arrays and defaultdicts."""
    table = sample_ratings(n_users=20, n_items=30)
    data = Dataset.load_from_df(table[["user", "item", "rating"]], Reader(rating_scale=(0.5, 5)))
    algo = copy.deepcopy(algo).fit(data.build_full_trainset())
    algo.seen, algo.named, algo.items = deque([1, 2]), OrderedDict(a=[1]), {(1, "x"), frozenset()}
    predictions = algo.test(data.build_full_trainset().build_testset())
    path = written(tmp_path, {"predictions": predictions, "algo": algo}, protocol=protocol)
    assert read_pickle(path) == predictions


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # dump leaves its file open
def test_a_dump_gives_the_report_of_its_predictions(tmp_path: Path) -> None:
    """In every function that accepts a path."""
    path = tmp_path / "run.dump"
    dump.dump(str(path), predictions=GOOD, algo=SVD())
    expected = rn.evaluate(GOOD, threshold=3).per_user
    for data in (path, str(path), to_lists(path), rn.RankedLists.from_file(path)):
        pd.testing.assert_frame_equal(rn.evaluate(data, threshold=3).per_user, expected)


@pytest.mark.parametrize("name", ["p.pickle", "p.pkl", "p.PKL", "p.dump", "p.p", "p", "p.csv"])
def test_a_pickle_is_recognised_by_its_name_or_its_first_bytes(tmp_path: Path, name: str) -> None:
    """No text in UTF-8 begins with that byte."""
    assert len(to_lists(written(tmp_path, GOOD, name))) == 1


def test_other_bytes_are_not_taken_for_a_pickle(tmp_path: Path) -> None:
    """The message explains names of files; a pipe is not read to look at its first bytes."""
    for content in (b"\x80", b"\x80\x81abc", b"\xff\xfea", b"a,b\0c"):
        with rejects(r"p\.txt: not text.*\.parquet.*\.pickle"):
            rn.evaluate(written(tmp_path, content, "p.txt"))
    with rejects(
        "no columns 'item', 'estimated'|cannot be parsed|p.csv"
    ):  # protocol 0 begins like text
        to_lists(written(tmp_path, GOOD, "p.csv", protocol=0))
    assert file_kinds.find_kind_of_file(written(tmp_path, b"a\x04,b", "p.txt")) is file_kinds.CSV
    os.mkfifo(tmp_path / "pipe")
    assert file_kinds.find_kind_of_file(tmp_path / "pipe") is file_kinds.CSV


def test_labels_and_results_may_be_pickles(tmp_path: Path) -> None:
    """Without columns, of which a pickle has none."""
    path = written(tmp_path, GOOD)
    lists = rn.RankedLists.from_labels(path, path)
    assert lists.true.tolist() == rn.RankedLists.from_surprise(path).true.tolist() == [4.0, 2.0]
    for act in (partial(rn.RankedLists.from_labels, path), rn.evaluate):
        match = r"p\.pickle: columns= names the columns of a table, but a pickle"
        assert_rejected(match, act, path, columns={"user": "u"})


def test_pickled_rows_of_four_are_read_like_the_rows(tmp_path: Path) -> None:
    """And checked like them."""
    rows = [("ann", "x", 3.5, 4.0), ("ann", "y", 2.0, 1.0)]
    for what in (rows, tuple(rows)):
        assert to_lists(written(tmp_path, what)).true.tolist() == [4.0, 1.0]
    assert_rejected("Row 0 .* each must be", rn.evaluate, written(tmp_path, [1, 2]))
    assert_rejected("no rows", rn.evaluate, written(tmp_path, []))


BAD: list[tuple[object, str]] = [
    (b"", "the file is empty"),
    (b"user,item,estimated,true\n", "not a whole pickle.*Write it again: surprise.dump"),
    (b"]K\x01K\x02s.", "not a whole pickle.*sets an entry of something that is not a dict"),
    (b"Np-1\n.", "not a whole pickle.*it remembers a value at place -1"),
    (b"\x80\x04Pid\n.", "not a whole pickle.*persistent"),
    (3, "holds something of type int in place of a list of predictions"),
    ({"a": 1, "b": 2}, r"holds something of type dict with the keys \['a', 'b'\] in place"),
    (np.arange(3), "holds an object in place"),
    ({"predictions": None, "algo": None}, "the dump holds no predictions"),
    ({"predictions": None, "algo": SVD()}, "holds an algorithm but no predictions. Add"),
    ({"predictions": 3, "algo": None}, "holds something of type int in place"),
    ({"predictions": SVD()}, "holds an object in place"),
    (pd.DataFrame({"a": [1]}), r"asks for 'pandas\.[\w.]+', .*nothing.*executed.*as CSV or"),
    ([("u", dt.date(2020, 1, 1), 1.0, 1.0, {})], "asks for 'datetime.date', .*ids that are"),
    ([("u", np.datetime64("2020-01-01"), 1.0, 1.0, {})], "item of .*an object or an array"),
    ([(np.arange(2), "i", 1.0, 1.0, {})], "user of .*an object or an array"),
    ([("u", "i", 1.0, 1.0, {}), ("u", "i", 1, 1, np.arange(2))], "details of .*an object"),
    ([("u", ("i", np.arange(2)), 1.0, 1.0, {})], "item of .*is nested"),
    ([(1, 1, 1.0, 1.0), (1, 1, 1.0, 1.0, {})], "prediction 1 .* 5 entries, .*first one 4"),
    (b"\x80\x04}]]s.", "holds something of type dict"),  # a list as a key
]  # fmt: skip


@pytest.mark.parametrize(("what", "match"), BAD)
def test_a_pickle_without_predictions_is_rejected(tmp_path: Path, what: object, match: str) -> None:
    """The message reports what was found and how to fix it, without the internals of pickle."""
    with rejects(match, whole=not isinstance(what, pd.DataFrame)):
        rn.evaluate(written(tmp_path, what))


def test_a_locked_file_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not permitted; `test_bad_files` has missing ones and folders."""
    paths = [written(tmp_path, GOOD, name) for name in ("p.pickle", "p")]
    locked = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr(Path, "open", locked)
    monkeypatch.setattr(io, "open", locked)
    for path in paths:
        assert_rejected(f"{path.name}: cannot be read .Permission denied", rn.evaluate, path)


def _hostile(marker: Path) -> dict[str, object]:
    """Return objects that write a file when they are unpickled."""
    code = f"open({str(marker)!r}, 'w').close()"
    calls = [
        Calls(os.system, f"touch {marker}"), Calls(exec, code), Calls(open, str(marker), "w"),
        Calls(getattr, Calls(__import__, "pathlib"), "Path"), Calls(Path.touch, marker),
        Calls(subprocess.Popen, ["touch", str(marker)]),
        Calls(copyreg.add_extension, "os", "system", 240),
    ]  # fmt: skip
    return {call.name: call for call in calls}


@pytest.mark.parametrize("kind", list(_hostile(Path())))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hostile_pickle_is_not_executed(tmp_path: Path, kind: str, protocol: int) -> None:
    """On its own, in the details of a prediction, as an id, or in the algorithm of a dump."""
    marker = tmp_path / "marker"
    bomb = _hostile(marker)[kind]
    algo = SVD()
    algo.bomb = bomb
    details, user = Prediction("ann", "x", 4.0, 3.5, {"reason": bomb}), Prediction(bomb, *"xyz", {})
    dumps = ({"predictions": GOOD, "algo": one} for one in (bomb, algo))
    for place in (bomb, [details], [user], *dumps):
        with rejects("the pickle asks for '.*', which is neither .*nothing in it was executed"):
            rn.evaluate(written(tmp_path, place, protocol=protocol))
    assert not marker.exists()


FORBIDDEN = [
    b"\x80\x04\x8c\x08builtins\x8c\x0elist.__class__\x93.",  # attributes of an allowed class
    b"\x80\x04\x8c\x0asurprised.\x8c\x01x\x93.",
    b"\x80\x04\x8c\x05numpy\x8c\x01x\x93\x8c\x02os\x8c\x06system\x93.",
    b"cos\nsystem\n(S'touch x'\ntR.", b"(S'touch x'\nios\nsystem\n.",  # the second by INST
    b"(cos\nsystem\nS'touch x'\no.",  # by OBJ
    b"cnumpy2\nx\n.", b"ccopy_reg\nadd_extension\n.", b"c_codecs\nlookup\n.",
]  # fmt: skip


@pytest.mark.parametrize("code", FORBIDDEN)
def test_a_name_outside_surprise_and_numpy_is_rejected(code: bytes) -> None:
    """By its full name, in every instruction that names something."""
    with pytest.raises(ForbiddenNameError):
        load(code)


CHANGES = [
    b"csurprise.prediction_algorithms.predictions\nPrediction\n(N(S'_make'\nI1\ndtb.",
    b"csurprise.prediction_algorithms.predictions\nPrediction\n(S'_make'\nI1\ndb.",
    b"cnumpy\ndtype\n(N(S'value'\nI1\ndtb.", b"ccopy_reg\n_reconstructor\n(N(S'value'\nI1\ndtb.",
]  # fmt: skip


@pytest.mark.parametrize("code", CHANGES)
def test_a_pickle_cannot_change_a_stand_in(code: bytes) -> None:
    """The next file would find it changed."""
    kept = [pickles.Prediction, pickles.NumpyDtype, pickles.InertObject]
    before = [dict(vars(one)) for one in kept]
    with suppress(DamagedPickleError):
        load(code)
    assert [dict(vars(one)) for one in kept] == before


CALLS = [
    b'cnumpy.testing._private.utils\nrunstring\n(S\'open("%s", "w")\'\n(dtR.',
    b"cnumpy\nsave\n(S'%s'\nI1\ntR.", b"csurprise.dump\ndump\n(S'%s'\ntR.",
    b"c_codecs\nencode\n(S'%s'\nS'rot13'\ntR.", b"ccollections\nnamedtuple\n(S'%s'\nS'a'\ntR.",
]  # fmt: skip


@pytest.mark.parametrize("code", CALLS)
def test_functions_of_surprise_and_numpy_are_not_called(tmp_path: Path, code: bytes) -> None:
    """Some functions of NumPy execute text, and one of Surprise writes files."""
    marker = tmp_path / "marker"
    assert load(code % str(marker).encode()) is pickles.INERT
    assert not marker.exists()


def test_a_number_of_a_forged_type_is_not_built() -> None:
    """Neither an object, nor a structure, nor a number of the wrong length."""
    scalar = b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'%s'\nI0\nI1\ntRC\x08AAAAAAAAtR."
    for kind in ("O", "V8", "f8, f8", "f16", "U-1", "|O8", "m8", "x"):
        assert load(scalar % kind.encode()) is pickles.INERT
    for kind in ("f4", "i1", "U3"):
        with pytest.raises(DamagedPickleError):
            load(scalar % kind.encode())


def test_a_registered_extension_is_rejected(tmp_path: Path) -> None:
    """Even if it is in Python's cache, which stays as it was."""
    copyreg.add_extension("os", "getcwd", 241)
    try:
        assert pickle.loads(b"\x80\x04\x82\xf1.") is os.getcwd  # noqa: S301 - now in the cache
        with rejects("it names extension 241"):
            rn.evaluate(written(tmp_path, b"\x80\x04\x82\xf1)R."))
        assert pickle.loads(b"\x80\x04\x82\xf1.") is os.getcwd  # noqa: S301 - our own bytes
    finally:
        copyreg.remove_extension("os", "getcwd", 241)
        copyreg.clear_extension_cache()


@pytest.mark.slow
def test_no_module_is_imported_for_a_pickle(tmp_path: Path) -> None:
    """Surprise may be missing, and the modules that a file names are not searched."""
    path = written(tmp_path, {"predictions": GOOD, "algo": SVD()})
    code = (
        "import sys; sys.modules['surprise'] = None; import recsys_ndcg as rn\n"
        f"before = set(sys.modules); print(len(rn.RankedLists.from_surprise({str(path)!r})))\n"
        "assert not [one for one in set(sys.modules) - before if 'surprise' in one]\n"
        "assert sys.modules['surprise'] is None"
    )
    done = run_python("-c", code)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.slow
def test_a_hundred_thousand_predictions_take_a_few_seconds(tmp_path: Path) -> None:
    """With numbers of NumPy, which are the slow part."""
    many = [
        Prediction(str(row % 1000), np.int64(row), np.float64(3), np.float64(row / 7), DETAILS)
        for row in range(100_000)
    ]
    path = written(tmp_path, many)
    start = time.process_time()  # other processes do not count
    assert read_pickle(path) == many
    assert time.process_time() - start < 5  # about 1.3 on an idle machine
