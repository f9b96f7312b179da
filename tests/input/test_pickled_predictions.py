"""Pickled predictions: read as they were written, and nothing in them is ever executed."""

from __future__ import annotations

import copy
import copyreg
import datetime as dt
import io
import os
import pickle
import pickletools
import subprocess
import sys
import time
from collections import OrderedDict, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surprise import (
    NMF,
    SVD,
    BaselineOnly,
    CoClustering,
    Dataset,
    KNNBaseline,
    KNNWithMeans,
    NormalPredictor,
    Reader,
    SlopeOne,
    SVDpp,
    dump,
)
from surprise.prediction_algorithms.predictions import Prediction

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.input import pickles
from recsys_ndcg.input.pickles import read_pickle
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    """Pickle anything, or write bytes as they are."""
    path = folder / name
    path.write_bytes(what if isinstance(what, bytes) else pickle.dumps(what, protocol))
    return path


def read_from_memory(content: bytes) -> list[tuple[Any, ...]]:
    """Read a file that is on no disk."""
    stream = io.BufferedReader(io.BytesIO(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", lambda *_: stream)
        return read_pickle("p.pickle")


class Calls:
    """Pickled as a call of a function."""

    def __init__(self, function: Callable[..., object], *args: object) -> None:
        self._call = function, args

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Tell pickle to call it when it loads."""
        return self._call


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_predictions_come_back_equal_under_every_protocol(tmp_path: Path, protocol: int) -> None:
    """A list by itself, and beside nothing in a dump; NumPy's numbers are Python's."""
    for what in (PREDICTIONS, {"predictions": PREDICTIONS, "algo": None}):
        read = read_pickle(written(tmp_path, what, protocol=protocol))
        assert read == PREDICTIONS
        assert [type(row).__name__ for row in read] == ["Prediction"] * len(read)
        assert {type(one) for row in read for one in row[:4]} <= {str, int, float, type(None)}


_NUMBERS = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "<f8", ">f8", ">i2", ">U3"]


@given(
    st.sampled_from(_NUMBERS),
    st.integers(0, 100) | st.floats(0, 100, width=16),
    st.sampled_from(PROTOCOLS),
)
def test_every_kind_of_number_is_read_as_numpy_reads_it(
    kind: str, number: float, protocol: int
) -> None:
    """Also in the byte order of another machine."""
    values = np.array([number]).astype(kind)
    value = values[0]
    scalar: Any = np.float64(1).__reduce__()[0]
    # NumPy writes a scalar in the order of the machine it is on: one of another is made by hand
    for one in (value, Calls(scalar, values.dtype, values.tobytes())):
        (row,) = read_from_memory(pickle.dumps([("u", "i", one, 1.0, {})], protocol))
        assert row[2] == value.item()
        assert type(row[2]) is type(value.item())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "algo",
    [
        SVD(n_epochs=2, random_state=np.random.RandomState(1)),
        SVDpp(n_epochs=1),
        NMF(n_epochs=1),
        KNNBaseline(verbose=False),
        KNNWithMeans(verbose=False),
        SlopeOne(),
        CoClustering(n_epochs=1),
        BaselineOnly(verbose=False),
        NormalPredictor(),
    ],
    ids=lambda algo: type(algo).__name__,
)
def test_the_algorithm_beside_the_predictions_is_not_built(
    tmp_path: Path, algo: Any, protocol: int
) -> None:
    """A fitted one drags its training set, arrays and defaultdicts along."""
    table = sample_ratings(n_users=20, n_items=30)
    data = Dataset.load_from_df(table[["user", "item", "rating"]], Reader(rating_scale=(0.5, 5)))
    algo = copy.deepcopy(algo).fit(data.build_full_trainset())
    algo.seen, algo.named, algo.items = deque([1, 2]), OrderedDict(a=[1]), {(1, "x"), frozenset()}
    predictions = algo.test(data.build_full_trainset().build_testset())
    path = written(tmp_path, {"predictions": predictions, "algo": algo}, protocol=protocol)
    assert read_pickle(path) == predictions


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # dump leaves its file open
def test_a_dump_is_scored_as_the_predictions_are(tmp_path: Path) -> None:
    """By all who take a path."""
    path = tmp_path / "run.dump"
    dump.dump(str(path), predictions=GOOD, algo=SVD())
    expected = rn.evaluate(GOOD, threshold=3).per_user
    for data in (path, str(path), rn.RankedLists.of(path), rn.RankedLists.from_file(path)):
        pd.testing.assert_frame_equal(rn.evaluate(data, threshold=3).per_user, expected)


def test_the_command_line_reads_a_pickle(tmp_path: Path) -> None:
    """And tells in one line what it refuses."""
    start = "import sys; from recsys_ndcg.cli import main; main()"
    call = [sys.executable, "-c", start, "evaluate"]
    good, bad = written(tmp_path, GOOD), written(tmp_path, Calls(os.getcwd), "bad.pkl")
    done = subprocess.run([*call, good], capture_output=True, text=True, check=True)  # noqa: S603
    assert "1 user" in done.stdout
    done = subprocess.run([*call, bad], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "getcwd" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["p.pickle", "p.pkl", "p.PKL", "p.dump", "p.p", "p", "p.csv"])
def test_a_pickle_is_known_by_its_name_or_by_its_first_bytes(tmp_path: Path, name: str) -> None:
    """No text in UTF-8 begins with that byte."""
    assert len(rn.RankedLists.of(written(tmp_path, GOOD, name))) == 1


def test_a_pickle_of_an_old_protocol_is_known_by_its_name_alone(tmp_path: Path) -> None:
    """It begins like text."""
    for name in ("p.pickle", "p.pkl", "p.PKL", "p.dump", "p.p"):
        assert len(rn.RankedLists.of(written(tmp_path, GOOD, name, protocol=0))) == 1
    with rejects("no column 'user'|cannot be parsed|p.csv"):
        rn.RankedLists.of(written(tmp_path, GOOD, "p.csv", protocol=0))


def test_other_bytes_are_told_how_files_are_named(tmp_path: Path) -> None:
    """The byte alone is no pickle; and a pipe is not read to find out."""
    for content in (b"\x80", b"\x80\x81abc", b"\xff\xfea", b"a,b\0c"):
        with rejects(r"p\.txt: not text.*\.parquet.*\.pickle"):
            rn.evaluate(written(tmp_path, content, "p.txt"))
    assert not pickles.is_pickle(written(tmp_path, b"a\x04,b", "p.txt"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not pickles.is_pickle(pipe)


def test_labels_and_results_may_be_pickles(tmp_path: Path) -> None:
    """They are told by the same code."""
    path = written(tmp_path, GOOD)
    lists = rn.RankedLists.from_labels(path, path)
    assert lists.true.tolist() == [4.0, 2.0]
    assert rn.RankedLists.from_surprise(path).true.tolist() == [4.0, 2.0]
    with rejects("columns= names the columns of a table, but a pickle"):
        rn.RankedLists.from_labels(path, path, columns={"user": "u"})


def test_columns_are_refused_with_a_pickle(tmp_path: Path) -> None:
    """It has none."""
    with rejects(r"p\.pickle: columns= names the columns of a table, but a pickle"):
        rn.evaluate(written(tmp_path, GOOD), columns={"user": "uid"})


def test_rows_of_four_are_read_like_a_list_of_them(tmp_path: Path) -> None:
    """The pickle decides nothing about their form, and neither about its faults."""
    rows = [("ann", "x", 3.5, 4.0), ("ann", "y", 2.0, 1.0)]
    for what in (rows, tuple(rows)):
        assert rn.RankedLists.of(written(tmp_path, what)).true.tolist() == [4.0, 1.0]
    with rejects("Row 0 .* each must be"):
        rn.evaluate(written(tmp_path, [1, 2]))
    with rejects("no rows"):
        rn.evaluate(written(tmp_path, []))


@pytest.mark.parametrize(
    ("what", "match"),
    [
        (b"", "the file is empty"),
        (b"user,item,estimated,true\n", "not a whole pickle.*Write it again: surprise.dump"),
        (bytes(range(256)), "not a whole pickle"),
        (b"\x80\x04", "not a whole pickle"),
        (b"\x80\x7f.", "not a whole pickle"),
        (b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f", "not a whole pickle"),  # 2**63 bytes announced
        (b"\x80\x04\x8b\xff\xff\xff\x7f", "not a whole pickle"),
        (b"\x80\x04Pid\n.", "not a whole pickle.*persistent"),
        (b"\x80\x04\x82\xf0.", "not a whole pickle"),  # an extension nobody registered
        (b"\x80\x05\x97.", "not a whole pickle"),  # a buffer that is not in the file
        (b"\x80\x04}]]s.", "holds something of type dict"),  # a list as a key
        (b"\x80\x04)R.", "not a whole pickle"),
        (b"\x80\x04K\x01)R.", "not a whole pickle"),
        (b"\x80\x04K\x01K\x02b.", "not a whole pickle"),
        (pickle.dumps(GOOD)[:-9], "not a whole pickle"),
        (3, "holds something of type int in place of a list of predictions"),
        ("text", "holds something of type str in place"),
        (None, "holds something of type NoneType in place"),
        ({"a": 1, "b": 2}, r"holds something of type dict with the keys \['a', 'b'\] in place"),
        (np.arange(3), "holds an object in place"),
        (OrderedDict(a=1), "holds an object in place"),
        ({"predictions": None, "algo": None}, "the dump holds no predictions"),
        ({"predictions": None, "algo": SVD()}, "holds an algorithm but no predictions. Write"),
        ({"predictions": 3, "algo": None}, "holds something of type int in place"),
        ({"predictions": SVD()}, "holds an object in place"),
        (pd.DataFrame({"a": [1]}), r"asks for 'pandas\.[\w.]+', .*nothing.*executed.*as CSV or"),
        ([("u", dt.date(2020, 1, 1), 1.0, 1.0, {})], "asks for 'datetime.date', .*ids that are"),
        ([("u", np.datetime64("2020-01-01"), 1.0, 1.0, {})], "item: .*an object or an array"),
        ([(np.arange(2), "i", 1.0, 1.0, {})], "user: .*an object or an array"),
        ([("u", "i", 1.0, np.array(1.0), {})], "estimated: .*an object or an array"),
        ([("u", "i", np.complex64(1), 1.0, {})], "true: .*an object or an array"),
        ([("u", "i", 1.0, 1.0, {}), ("u", "i", 1, 1, np.arange(2))], "details: .*an object"),
        ([("u", ("i", np.arange(2)), 1.0, 1.0, {})], "item: .*is nested"),
    ],
)
def test_what_is_no_pickle_of_predictions_is_refused(
    tmp_path: Path, what: object, match: str
) -> None:
    """By what was found, and with what to do; never by the innards of pickle."""
    with rejects(match, whole=not isinstance(what, pd.DataFrame)):
        rn.evaluate(written(tmp_path, what))


def test_a_file_that_cannot_be_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, a folder, or somebody else's."""
    with rejects(r"none\.pkl: cannot be read \(No such file"):
        rn.evaluate(tmp_path / "none.pkl")
    (tmp_path / "folder.p").mkdir()
    with rejects(r"folder\.p: cannot be read \(Is a directory"):
        rn.evaluate(tmp_path / "folder.p")

    def locked(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("p.pickle", "p"):
        path = written(tmp_path, GOOD, name)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", locked)
            patch.setattr(io, "open", locked)
            with rejects(f"{name}: cannot be read .Permission denied"):
                rn.evaluate(path)


def _hostile(marker: Path) -> dict[str, object]:
    """Return objects that write a file when they are unpickled."""
    code = f"open({str(marker)!r}, 'w').close()"
    return {
        "system": Calls(os.system, f"touch {marker}"),
        "exec": Calls(exec, code),
        "eval": Calls(eval, code),
        "open": Calls(open, str(marker), "w"),
        "getattr": Calls(getattr, Calls(__import__, "pathlib"), "Path"),
        "popen": Calls(subprocess.Popen, ["touch", str(marker)]),
        "mkdir": Calls(os.mkdir, str(marker)),
        "touch": Calls(Path.touch, marker),
        "add_extension": Calls(copyreg.add_extension, "os", "system", 240),
    }


@pytest.mark.parametrize("kind", list(_hostile(Path())))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hostile_pickle_is_refused_and_writes_nothing(
    tmp_path: Path, kind: str, protocol: int
) -> None:
    """Alone, among the details of a prediction, as an id, or in the algorithm beside."""
    marker = tmp_path / "marker"
    bomb = _hostile(marker)[kind]
    algo = SVD()
    algo.bomb = bomb
    for place in (
        bomb,
        [Prediction("ann", "x", 4.0, 3.5, {"reason": bomb})],
        [Prediction(bomb, "x", 4.0, 3.5, {})],
        {"predictions": GOOD, "algo": bomb},
        {"predictions": GOOD, "algo": algo},
    ):
        with rejects("the pickle asks for '.*', which is neither .*nothing in it was executed"):
            rn.evaluate(written(tmp_path, place, protocol=protocol))
    assert not marker.exists()


@pytest.mark.parametrize(
    "code",
    [
        # by a path of attributes through something allowed
        b"\x80\x04\x8c\x08builtins\x8c\x0elist.__class__\x93.",
        b"\x80\x04\x8c\x08builtins\x8c\x0fobject.__init__\x93.",
        b"\x80\x04\x8c\x0asurprised.\x8c\x01x\x93.",
        b"\x80\x04\x8c\x05numpy\x8c\x01x\x93\x8c\x02os\x8c\x06system\x93.",
        b"cos\nsystem\n(S'touch x'\ntR.",
        b"(S'touch x'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'touch x'\no.",  # OBJ
        b"c__builtin__\neval\n.",
        b"c__main__\nx\n.",
        b"crecsys_ndcg.input.pickles\n_STAND_INS\n.",
        b"cnumpy2\nx\n.",
        b"ccopy_reg\nadd_extension\n.",
        b"c_codecs\nlookup\n.",
    ],
)
def test_a_global_is_refused_by_its_whole_name(tmp_path: Path, code: bytes) -> None:
    """However it is looked up."""
    with rejects("the pickle asks for '", whole=False):
        rn.evaluate(written(tmp_path, code))


@pytest.mark.parametrize(
    "code",
    [
        # state for the class of predictions itself, as attributes and as a dict
        b"csurprise.prediction_algorithms.predictions\nPrediction\n(N(S'_make'\nI1\ndtb.",
        b"csurprise.prediction_algorithms.predictions\nPrediction\n(S'_make'\nI1\ndb.",
        b"cnumpy\nndarray\n(N(S'append'\nI1\ndtb.",
        b"cnumpy\ndtype\n(N(S'value'\nI1\ndtb.",
        b"cnumpy.core.multiarray\nscalar\n(N(S'value'\nI1\ndtb.",
        b"ccopy_reg\n_reconstructor\n(N(S'value'\nI1\ndtb.",
        b"c_codecs\nencode\n(N(S'value'\nI1\ndtb.",
    ],
)
def test_a_stand_in_cannot_be_changed_from_within_a_pickle(tmp_path: Path, code: bytes) -> None:
    """What one file sets would still be there for the next one."""
    kept = [pickles.Prediction, pickles.NumpyDtype, pickles.InertObject]
    before = [dict(vars(one)) for one in kept]
    with rejects("not a whole pickle|holds an object"):
        rn.evaluate(written(tmp_path, code))
    assert [dict(vars(one)) for one in kept] == before


@pytest.mark.parametrize(
    "code",
    [
        b'cnumpy.testing._private.utils\nrunstring\n(S\'open("%s", "w")\'\n(dtR.',
        b"cnumpy\nload\n(S'%s'\ntR.",
        b"cnumpy\nsave\n(S'%s'\nI1\ntR.",
        b"csurprise.dump\ndump\n(S'%s'\ntR.",
        b"c_codecs\nencode\n(S'%s'\nS'rot13'\ntR.",
        b"ccollections\nnamedtuple\n(S'%s'\nS'a'\ntR.",
    ],
)
def test_functions_of_the_known_packages_are_not_called_either(tmp_path: Path, code: bytes) -> None:
    """NumPy has some that run text, and Surprise one that writes files."""
    marker = tmp_path / "marker"
    with rejects("holds an object in place"):
        rn.evaluate(written(tmp_path, code % str(marker).encode()))
    assert not marker.exists()


def test_a_forged_number_is_refused(tmp_path: Path) -> None:
    """As an object or a structure, or of another length than its kind has."""
    kinds = ("O", "V8", "f8, f8", "f16", "U-1", "|O8", "m8", "x")
    scalar = b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'%s'\nI0\nI1\ntRC\x08AAAAAAAAtR"
    for kind in kinds:
        code = b"(lp0\n(" + scalar % kind.encode() + b"S'i'\nI1\nI1\n(dta."
        with rejects("user: .*an object"):
            rn.evaluate(written(tmp_path, code))
    for kind in ("f4", "i1", "U3"):
        with rejects("not a whole pickle"):
            rn.evaluate(written(tmp_path, scalar % kind.encode() + b"."))


def test_a_registered_extension_is_refused(tmp_path: Path) -> None:
    """Even if the process has used it, and without leaving a stand-in for others."""
    copyreg.add_extension("os", "getcwd", 241)
    try:
        assert pickle.loads(b"\x80\x04\x82\xf1.") is os.getcwd  # noqa: S301 - now in the cache
        with rejects("it names extension 241"):
            rn.evaluate(written(tmp_path, b"\x80\x04\x82\xf1)R."))
        assert pickle.loads(b"\x80\x04\x82\xf1.") is os.getcwd  # noqa: S301 - our own bytes
    finally:
        copyreg.remove_extension("os", "getcwd", 241)
        copyreg.clear_extension_cache()


def test_no_module_is_imported_for_a_pickle(tmp_path: Path) -> None:
    """Surprise may be missing, and a module that a file names is not looked for."""
    path = written(tmp_path, {"predictions": GOOD, "algo": SVD()})
    code = (
        "import sys; sys.modules['surprise'] = None; import recsys_ndcg as rn\n"
        f"before = set(sys.modules); print(len(rn.RankedLists.of({str(path)!r})))\n"
        "assert not [one for one in set(sys.modules) - before if 'surprise' in one]\n"
        "assert sys.modules['surprise'] is None"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.stdout, done.stderr) == ("1\n", "")


@given(st.binary(max_size=60), st.integers(0, 500))
def test_broken_bytes_make_no_other_error(extra: bytes, place: int) -> None:
    """Neither drawn ones nor a pickle with some of them inside."""
    whole = pickletools.optimize(pickle.dumps({"predictions": GOOD, "algo": None}, 4))
    place %= len(whole)
    for content in (
        extra,
        b"\x80\x04" + extra,
        whole[:place] + extra,
        whole[:place] + extra + whole[place:],
    ):
        try:
            read_from_memory(content)
        except rn.InvalidInputError as error:
            assert "p.pickle" in str(error)  # noqa: PT017 - a success is as good


def test_a_hundred_thousand_predictions_take_a_few_seconds(tmp_path: Path) -> None:
    """With NumPy's numbers, which are the slow part."""
    many: Sequence[Prediction] = [
        Prediction(
            str(row % 1000), np.int64(row), np.float64(3), np.float64(row / 7), dict(DETAILS)
        )
        for row in range(100_000)
    ]
    path = written(tmp_path, many)
    seconds = []
    for _ in range(2):
        start = time.process_time()  # what else the machine does is left out
        assert read_pickle(path) == many
        seconds.append(time.process_time() - start)
    assert min(seconds) < 5  # about 1.3 where nothing else runs
