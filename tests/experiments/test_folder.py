"""The folder of a run: runs resume, are never mixed, and damaged files are errors."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("surprise")

from surprise import BaselineOnly
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.experiments.ratings import build_dataset, describe_ratings
from recsys_ndcg.files import Archive
from recsys_ndcg.surprise import SVD, MostPopular, make_measure
from tests.commands import error_of
from tests.errors import assert_rejected
from tests.experiments import made
from tests.experiments.failing import Failing
from tests.experiments.made import JOBS, QUICK, digest, item_means, models, ratings, run, with_top
from tests.profiles import some
from tests.registered import restore_metrics
from tests.surprise.samples import dataset


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that does not exist yet."""
    return tmp_path / "runs" / "today"


@pytest.fixture(scope="module")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    run(folder=folder, protocol="both")
    return folder


@pytest.fixture
def done(folder: Path, _finished: Path) -> Path:
    """Return a copy of the folder of a finished run."""
    shutil.copytree(_finished, folder)
    return folder


def test_a_folder_describes_its_run(done: Path) -> None:
    """The request, the data, the versions; each fold's costs and scores, and a report per user."""
    described = json.loads((done / "run.json").read_text())
    assert described["data"]["ratings"] == len(ratings())
    assert described["data"]["users"] == ratings()["user"].nunique()
    assert described["splits"]["n_splits"] == 2
    assert described["measures"]["ndcg@5:catalogue"]["gain"] == "exponential"
    assert {"python", "numpy", "scikit-surprise"} <= described["versions"].keys()
    assert {"system", "cores"} <= described["machine"].keys()
    model = json.loads((done / "models" / "SVD" / "model.json").read_text())
    assert model["parameters"]["n_factors"] == 3
    fold = json.loads((done / "models" / "SVD" / "seed0-fold2.json").read_text())
    assert fold["test"].keys() == described["measures"].keys()
    assert fold["fit_time"] > 0
    report = rn.Report.load(done / "models" / "SVD" / "seed0-fold2.rated.json")
    assert set(report.users) == set(ratings()["user"])
    assert report.mean["ndcg@5"] == pytest.approx(fold["test"]["ndcg@5"], abs=1e-12)


@pytest.mark.parametrize("n_jobs", JOBS)
def test_an_interrupted_run_resumes(folder: Path, n_jobs: int) -> None:
    """Finished folds are not repeated, and the numbers are the same to the last digit."""
    seen: list[Any] = []

    def stop(result: Any) -> None:
        seen.append(result.key)
        if len(seen) == 3:
            raise InterruptedError

    options: dict[str, Any] = {"seeds": 2, "protocol": "both", "n_jobs": n_jobs}
    with pytest.raises(InterruptedError):
        run(folder=folder, on_result=stop, **options)
    found = run(folder=folder, on_result=lambda one: seen.append(one.key), **options)
    assert len(seen) == len({*seen}) == 8
    expected = run(**options)
    pd.testing.assert_frame_equal(found.per_user, expected.per_user)
    assert str(found) == str(expected)


def test_models_and_seeds_may_be_added(folder: Path) -> None:
    """To the results that exist."""
    run(models("SVD"), folder=folder)
    runs: list[Any] = []
    found = run(folder=folder, seeds=[1, 0], on_result=lambda one: runs.append(one.key[:2]))
    # one seed is for what has none of its own, as are two for all: these models have none
    assert set(runs) == {("top", 0), ("SVD", 1), ("top", 1)}
    pd.testing.assert_frame_equal(found.per_user, run(seeds=2).per_user)
    assert found.runs.index.tolist() == [*product(models(), (0, 1), (1, 2))]  # sorted
    assert rn.load_runs(folder).table["done"].tolist() == [4, 4]


def _raised(power: int) -> Any:
    return with_top(lambda train: lambda pairs: item_means(train)(pairs) ** power)


_LOCK = threading.Lock()


def _locked(train: Any) -> Any:
    """Return a model; the lock leaves it without a fingerprint."""
    return (_LOCK, item_means(train))[1]


def _size(function: Any, **keywords: Any) -> Any:
    return ["ndcg@5", make_measure(function, "size", **keywords)]


def _own(function: Any) -> Any:
    with restore_metrics():
        kind = rn.metric(name="own", of="gain")(_halved)
    kind.function = staticmethod(function)  # type: ignore[attr-defined]
    return [kind(5)]


def _halved(rank: Any) -> Any:
    return 0.5**rank


def _inverse(rank: Any) -> Any:
    return 1 / rank


_DISCOUNTS: Any = [rn.Convention(discount=one) for one in (_halved, _inverse)]
CHANGES: list[tuple[str, Any, Any, str]] = [
    ("data", ratings(), ratings().iloc[::-1], r"ratings_digest: .*, now"),
    ("data", dataset(ratings(), (0, 5)), dataset(ratings(), (0, 9)), r"rating_scale: .* now .*9"),
    ("rating_scale", (0, 5), (0, 6), r"rating_scale: .*5.* now .*6"),
    ("splits", 2, 3, r"splits\.n_splits: 2, now 3"),
    ("splits", 2, KFold(2), r"splits\.class: .*UserKFold, now .*KFold"),
    ("splits", KFold(2, 9), KFold(2, 8), r"splits\.random_state: 9, now 8"),
    ("seeds", 1, 2, "random_state of f: 5, now None"),
    ("protocol", "both", "catalogue", "metrics: ndcg@5, .*, now ndcg@5:catalogue, "),
    ("threshold", 4.0, 3.9999999, "^This folder .* experiment: threshold: 4, now 3.9999999. Use"),
    ("metrics", ["ndcg@5"], ["ndcg@6"], "metrics: ndcg@5, now ndcg@6"),
    ("metrics", _size(lambda rows: +len(rows)), _size(lambda rows: -len(rows)), "of size"),
    ("metrics", *(_size(lambda rows, k: len(rows) + k, k=k) for k in (1, 2)), "function of size"),
    ("metrics", _own(_halved), _own(_inverse), "code of metric: "),
    ("convention", None, rn.Convention(gain="linear"), ": gain: exponential, now linear"),
    ("convention", rn.Convention(gain=_halved), rn.Convention(gain=_inverse), "code of gain"),
    ("convention", *_DISCOUNTS, "code of discount: "),
    ("given", with_top(SVD()), with_top(BaselineOnly()), "of f: .*SVD, now .*BaselineOnly[.]"),
    ("given", with_top(SVD(3, 1)), with_top(SVD(3, 2)), "n_epochs of f: 1, now 2"),
    ("given", _raised(1), _raised(2), "power of f: 1, now 2"),
    ("given", _raised(1), with_top(lambda train: item_means(train)), "function of f: "),  # noqa: PLW0108
    ("fingerprint", "one", "other", "fingerprint of f: given: one, now given: other"),
    ("fingerprint", {"f": "one"}, {"f": "other"}, "fingerprint of f: given: one, now"),
    ("fingerprint", "one", None, "fingerprint of f: given: one, now None"),
]


@pytest.mark.parametrize("change", some(CHANGES, 4))
def test_a_run_resumes_only_with_the_same_options(change: Any, folder: Path) -> None:
    """The error has what differs, with both values, and the folder stays as it is.

    A fingerprint for all models replaces only missing ones.
    """
    option, one, other, fault = change
    model = _locked if option == "fingerprint" else SVD(n_epochs=1, random_state=5)
    options: dict[str, Any] = {"given": with_top(model), "folder": folder, "fingerprint": "v1"}
    options |= {"metrics": ["ndcg@5", "precision@5"], "threshold": 4.0, option: one}
    run(**options)
    run(**options, on_result=pytest.fail)
    before = _contents(folder)
    assert_rejected(fault, run, whole=False, **options | {option: other})
    assert _contents(folder) == before


def test_a_choice_in_brackets_is_an_option(folder: Path) -> None:
    """Also a library's, behind the name of the metric."""
    options: dict[str, Any] = {"metrics": ["gini@3"], "protocol": "catalogue", "folder": folder}
    library = run(with_top(MostPopular()), convention="elliot", **options)
    assert "gini(over=n-1,as=equality)@3" in library.signature().text
    same = rn.Convention(**rn.Convention.preset("elliot", "gini").choices)
    fault = "metric: gini.over=n-1,as=equality.@3, now gini@3"
    assert_rejected(fault, run, with_top(MostPopular()), whole=False, convention=same, **options)


def test_a_splitter_must_repeat_its_splits(folder: Path) -> None:
    """One that draws other splits each time would mix what cannot be compared."""

    class Fickle:
        calls = 0

        def split(self, data: Any) -> Iterator[Any]:
            type(self).calls += 1
            yield from KFold(2, random_state=type(self).calls).split(data)

    run(folder=folder, splits=Fickle())
    assert_rejected("fold 1 was measured on another split", run, folder=folder, splits=Fickle())


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "lost", ["seed0-fold1.json", "seed0-fold1.rated.json", "seed0-fold2.catalogue.json"]
)
def test_a_run_resumes_after_every_write(done: Path, lost: str) -> None:
    """Killed between two writes, or in the middle of one."""
    path = done / "models" / "SVD" / lost
    (path.parent / ".0123456789abcdef.part").write_bytes(path.read_bytes()[:100])
    path.with_name(f"{lost.partition('.')[0]}.json").unlink()  # written last
    found = run(folder=done, protocol="both")
    pd.testing.assert_frame_equal(found.per_user, made.run_once(protocol="both").per_user)


def _damaged(content: bytes, how: str) -> bytes:
    half, rest = content[: len(content) // 2], content[len(content) // 2 :]
    return {"cut": half, "bit": half + bytes([rest[0] ^ 64]) + rest[1:], "empty": b""}[how]


@pytest.mark.parametrize("how", ["cut", "bit", "empty"])
@pytest.mark.parametrize("name", ["seed0-fold1.json", "seed0-fold1.rated.json", "model.json"])
def test_a_damaged_file_is_an_error(done: Path, name: str, how: str) -> None:
    """With its name; if the fold's files are deleted, the fold is repeated."""
    path = done / "models" / "SVD" / name
    path.write_bytes(_damaged(path.read_bytes(), how))
    with pytest.raises(rn.RecsysNdcgError, match=None if how == "bit" else name) as caught:
        run(folder=done, protocol="both")
    if name.endswith("rated.json"):
        assert "it trains that fold again" in str(caught.value)
        for one in done.glob("models/SVD/seed0-fold1.*"):
            one.unlink()
        run(folder=done, protocol="both")


def test_failed_folds_are_saved_and_repeated(folder: Path) -> None:
    """With the traceback, until they succeed."""
    Failing.forget()
    match = r"bad failed in 1 of 2 folds, first in seed 0, fold 2.*no conver.*fold2\.failed\.txt"
    with pytest.warns(rn.DataWarning, match=match):
        found = run({"bad": Failing(fold=2), **models()}, folder=folder)
    assert found.models == [*models()]
    saved = (folder / "models" / "bad" / "seed0-fold2.failed.txt").read_text()
    assert "Traceback" in saved
    assert "RuntimeError: no convergence" in saved
    runs = rn.load_runs(folder)
    (row,) = runs.table.xs("bad", level="model")[["done", "of", "failed"]].to_numpy().tolist()
    assert row == [1, 2, 1]
    assert "bad failed" in runs.remarks[0]
    again: list[Any] = []
    found = run({"bad": Failing(fold=2), **models()}, folder=folder, on_result=again.append)
    assert [str(one) for one in again] == ["bad, seed 0, fold 2"]
    assert "bad" in found.models
    assert not list(folder.rglob("*.failed.txt"))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is an error before anything is trained."""
    file = tmp_path / "file"
    file.write_text("here")
    for path in (file, file / "below"):
        with pytest.raises(rn.InvalidInputError, match="cannot be used as a folder of results"):
            run({"f": pytest.fail, "g": pytest.fail}, folder=path)


def test_a_full_disk_loses_nothing(folder: Path) -> None:
    """Saved files stay whole, and the run resumes when there is room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(result: Any) -> None:
        if result.model == [*models()][1]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))

    try:
        assert_rejected(r"cannot be written \(File too large\)", run, folder=folder, on_result=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list(folder.rglob(".*.part"))
    again: list[Any] = []
    found = run(folder=folder, on_result=again.append)
    assert len(again) == 2
    pd.testing.assert_frame_equal(found.per_user, made.run_once().per_user)


def _work(folder: str, names: list[str]) -> None:
    run(models(*names), folder=folder, seeds=3)


@pytest.mark.slow
def test_processes_may_share_a_folder(folder: Path) -> None:
    """They may even train the same models."""
    spawned = multiprocessing.get_context("spawn")
    given = [["SVD", "top"], ["top", "SVD"], ["SVD", "top"]]
    workers = [spawned.Process(target=_work, args=(str(folder), names)) for names in given]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)
        assert one.exitcode == 0
    found = run(folder=folder, seeds=3, on_result=pytest.fail)
    pd.testing.assert_frame_equal(found.per_user, run(seeds=3).per_user)


@pytest.mark.parametrize("name", ["../../up", ".", "con ", "x" * 300, "名前", "n=5, biased=True"])
def test_models_may_have_any_name(name: str, folder: Path) -> None:
    """Each has a folder of its own inside the run's folder."""
    run({name: MostPopular(), f"{name}'": BaselineOnly()}, folder=folder, **QUICK)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}
    assert len(list((folder / "models").iterdir())) == 2
    found = rn.load_runs(folder).table
    assert {*found.index.get_level_values("model")} == {name, f"{name}'"}


def test_a_measure_may_have_the_name_of_a_column(folder: Path) -> None:
    """The table of runs keeps its own column."""
    own = [make_measure(lambda _: 0.5, name) for name in ("users", "ratings_digest")]
    run({"top": MostPopular()}, metrics=["ndcg@5", *own], folder=folder)
    row = rn.load_runs(folder).table.iloc[0]
    assert row["users"] == 30
    saved = json.loads((folder / "run.json").read_text())
    assert row["ratings_digest"] == saved["data"]["digest"][:8]


def test_other_files_in_the_folder_stay(folder: Path) -> None:
    """Except old parts of files, whose process was killed."""
    (folder / "models").mkdir(parents=True)
    old, new = folder / "models" / ".0123456789abcdef.part", folder / ".4567.part"
    for one in (old, new, folder / "notes.txt"):
        one.write_text("mine")
    os.utime(old, (time.time() - 4000, time.time() - 4000))
    run(folder=folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: ("new", *row[1:]), lambda row: (row[0], "new", *row[2:]),
        lambda row: (*row[:2], row[2] + 0.5, row[3]), lambda row: (*row[:3], row[3] + 1),
        lambda row: (10**400, *row[1:]), lambda row: (*row[:2], row[2] + 1e-12, row[3]),
    ],
)  # fmt: skip
def test_every_change_of_the_ratings_changes_the_digests(change: Any) -> None:
    """One bit of a number in one row; of the ratings, of the split and of its testset."""
    one, other = build_dataset(ratings()), build_dataset(ratings())
    assert describe_ratings(one) == describe_ratings(other)
    row = one.raw_ratings[7]
    other.raw_ratings[7] = changed = change(row)
    assert describe_ratings(one)["digest"] != describe_ratings(other)["digest"]
    if changed[:3] != row[:3]:
        splits = [next(iter(KFold(2, random_state=0).split(data))) for data in (one, other)]
        testset = [changed[:3], *splits[0][1]]
        testsets = [row[:3], *testset[1:]], testset, testset[1:-1]
        splits += [(splits[0][0], rows) for rows in testsets]
        assert len({digest(*split) for split in splits}) == 5


def _svd(n_factors: int) -> dict[str, Any]:
    return with_top(SVD(n_factors=n_factors, n_epochs=2))


@pytest.mark.parametrize("other", [{"given": _svd(4)}, {"given": _svd(3), "splits": 3}])
def test_two_experiments_that_start_together_are_not_mixed(other: Any, folder: Path) -> None:
    """The one that started first finds the other's results at its first result."""
    trained: list[Any] = []

    def begin_another(what: str, _: float) -> None:
        if what == "Training" and not trained:
            trained.append(other)
            run(**other, **how)

    how: dict[str, Any] = {"folder": folder, **QUICK}
    assert_rejected("a different experiment", run, _svd(3), progress=begin_another, **how)
    run(**other, on_result=pytest.fail, **how)


def test_a_missing_or_copied_file_of_a_fold_is_an_error(done: Path) -> None:
    """A missing fold or model is trained again; a folder without run.json is none of ours."""
    place = done / "models" / "SVD"
    for name in ("seed0-fold1.json", "model.json"):
        (place / name).unlink()
        run(folder=done, protocol="both")
    (place / "seed0-fold1.rated.json").unlink()
    assert_rejected(r"seed0-fold1.rated.json", run, folder=done, protocol="both")
    shutil.copy(place / "seed0-fold2.json", place / "seed0-fold1.json")
    assert_rejected(
        "another model, seed or fold than SVD, seed 0, fold 1", run, folder=done, protocol="both"
    )
    (done / "run.json").unlink()
    assert_rejected(r"not the folder of an experiment", rn.load_runs, done)


def test_a_copied_result_of_another_model_is_an_error(folder: Path, tmp_path: Path) -> None:
    """With the name of its file."""
    for n_factors, place in ((3, folder), (4, tmp_path / "other")):
        run(_svd(n_factors), folder=place)
    for path in (tmp_path / "other").glob("models/f/seed0-fold1*"):
        shutil.copy(path, folder / "models" / "f")
    for call in (lambda: run(_svd(3), folder=folder), lambda: rn.load_runs(folder).table):
        assert_rejected(r"seed0-fold1\.json: this result is of a diff", call)


MODEL = "models/SVD/model.json"
DAMAGES: list[tuple[str, str, Any]] = [
    *(("run.json", key, None) for key in ("written_by", "begun")),
    *((MODEL, key, None) for key in ("fingerprint", "libraries")),
    *(("run.json", key, value) for key, value in (("data", {"digest": 3}), ("begun", 1))),
    ("run.json", "measures", [1]),
]


@pytest.mark.parametrize(("file", "key", "value"), DAMAGES)
def test_a_missing_or_wrong_value_is_an_error(done: Path, file: str, key: str, value: Any) -> None:
    """With the name of its file."""
    path = done / file
    saved = json.loads(path.read_text())
    del saved[key]
    path.write_text(json.dumps(saved | ({} if value is None else {key: value})))
    match = rf"{path.name}: this \w+ was damaged" if value is None else path.name
    assert_rejected(match, lambda: rn.load_runs(done).table, whole=False)
    assert path.name in error_of("leaderboard", done)
    if value is None:
        assert_rejected(match, rn.load_runs, done)
        assert_rejected(match, run, folder=done, protocol="both")


def test_an_invalid_call_leaves_nothing_behind(folder: Path, done: Path) -> None:
    """Neither in a new folder, nor in another experiment's folder."""
    before = _contents(done)
    with pytest.raises(rn.InvalidInputError, match="n_factors of SVD: 3, now 9"):
        run({"new": MostPopular(), "SVD": SVD(n_factors=9)}, folder=done, protocol="both")
    assert _contents(done) == before
    run({"new": BaselineOnly(), **models()}, folder=done, protocol="both")
    other = folder.parent / "other"
    with pytest.raises(rn.InvalidInputError, match="test ratings"):
        run(with_top(pytest.fail), folder=other, splits=_Refused())
    run(folder=other)  # other models and splits


class _Refused:
    def split(self, _: Any) -> Any:
        msg = "no test ratings"
        raise rn.InvalidInputError(msg)


def test_a_model_that_failed_in_every_fold_may_change(folder: Path) -> None:
    """It has no results that could be mixed."""
    given = {"f": lambda train: train["missing"], "top": MostPopular()}
    with pytest.warns(rn.DataWarning, match="f failed in 2 of 2 folds"):
        run(given, folder=folder)
    found = run(given | {"f": item_means}, folder=folder)
    assert found.models == ["f", "top"]
    assert not list(folder.rglob("*.failed.txt"))


def test_a_folder_without_a_name_is_an_error(tmp_path: Path, monkeypatch: Any) -> None:
    """It would be the working directory."""
    monkeypatch.chdir(tmp_path)
    for call in (lambda: run(folder=""), lambda: rn.load_runs("")):
        assert_rejected("'': cannot be the name of a file", call)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_jobs", JOBS)
def test_a_model_may_change_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int
) -> None:
    """As Hydra does: results are saved in the run's folder."""
    monkeypatch.chdir(tmp_path)
    away = tmp_path / "away"
    away.mkdir()

    def moves(train: pd.DataFrame) -> Any:
        os.chdir(away)
        return item_means(train)

    run({"moves": moves, **models()}, folder="runs/today", n_jobs=n_jobs)
    assert not list(away.iterdir())
    assert Path.cwd() == tmp_path
    assert rn.load_runs("runs/today").table["done"].tolist() == [2] * 3


def test_runs_are_printed_with_the_day_on_which_they_began(done: Path) -> None:
    """Without the time of day."""
    heading, *lines = str(rn.load_runs(done)).partition("begun")[1:]
    begun = json.loads((done / "run.json").read_text())["begun"]
    assert heading == "begun"
    assert "".join(lines).count(begun[:10]) == len(models())
    assert begun[:11] not in "".join(lines)


def test_the_library_without_which_runs_cannot_be_read_is_named(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read."""
    for library in ("cloudpickle", "joblib"):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, library, None)
            match = f"^Reading runs needs {library}, which is not "
            with pytest.raises(rn.MissingExtraError, match=match):
                rn.load_runs(done)


def test_a_folder_with_several_names_is_loaded_once(done: Path, monkeypatch: Any) -> None:
    """Under the first name."""
    link = done.parent / "link"
    link.symlink_to(done)
    monkeypatch.chdir(done.parent)
    table = rn.load_runs("today", done, "./today/", "../runs/today", link, "*").table
    assert table.index.get_level_values("run").unique().tolist() == ["today"]
    assert len(table) == len(models())


def test_a_measure_that_is_saved_twice_is_an_error(done: Path) -> None:
    """For every reader of the file."""
    path = done / "models" / "SVD" / "seed0-fold1.json"
    saved = json.loads(path.read_text())
    rated = saved["reports"]["rated"]
    for reports in ({"rated": rated, "catalogue": rated}, {"rated": rated}, {}):
        path.write_text(json.dumps({**saved, "reports": reports}))
        for call in (
            lambda: run(folder=done, protocol="both"),
            lambda: rn.compare(rn.load_runs(done)),
            lambda: rn.load_runs(done).table,
        ):
            assert_rejected(r"seed0-fold1\.json", call)


@pytest.mark.parametrize("how", ["cut", "bit", "empty"])
def test_a_damaged_check_of_a_split_is_an_error(done: Path, how: str) -> None:
    """Which names the file; if it is deleted, the fold is checked again."""
    path = done / "splits" / "seed0-fold1.json"
    before = path.read_bytes()
    path.write_bytes(_damaged(before, how))
    assert_rejected(f"Delete {path}, and run the experiment again", run, folder=done,
                    protocol="both", whole=False)  # fmt: skip
    path.unlink()
    run(folder=done, protocol="both")
    assert path.read_bytes() == before


def test_a_run_does_not_write_the_same_checks_again(done: Path) -> None:
    """Nor take what another version of the package wrote for damage."""
    first, second = (done / "splits" / f"seed0-fold{fold}.json" for fold in (1, 2))
    with Archive.open(second, "split 5") as (values, _):
        Archive({"report": values["report"] | {"verdict": "?"}}, {}).write(second, "split 5")
    untouched = first.stat().st_mtime_ns
    run(folder=done, protocol="both")
    assert first.stat().st_mtime_ns == untouched
    assert json.loads(second.read_text())["report"] == values["report"]


def test_splits_that_are_no_folder_are_an_error(done: Path) -> None:
    """Which names them."""
    shutil.rmtree(done / "splits")
    (done / "splits").write_text("here")
    with pytest.raises(rn.InvalidInputError, match=f"cannot be used .*{done / 'splits'}"):
        run(folder=done, protocol="both")


def test_the_name_of_a_folder_may_be_too_long(tmp_path: Path) -> None:
    """For the system."""
    folder = tmp_path / ("x" * 300)
    with pytest.raises(rn.InvalidInputError, match=r"cannot be used .*name too long"):
        run(folder=folder)
    with pytest.raises(rn.InvalidInputError, match="this is not the folder of an experiment"):
        rn.load_runs(folder)
