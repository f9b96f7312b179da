"""The folder of a run: it resumes, it mixes nothing, and nothing half-written is read."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from surprise import BaselineOnly
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.experiments.ratings import dataset_of, describe_ratings, digest_of_split
from recsys_ndcg.surprise import SVD, MostPopular
from recsys_ndcg.surprise.model_selection import make_measure
from tests.experiments.made import Failing, item_means, models, ratings, run

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that is not there yet."""
    return tmp_path / "runs" / "today"


@pytest.fixture
def done(folder: Path) -> Path:
    """Return one with a whole run."""
    run(folder=folder, protocol="both")
    return folder


def _never(_: Any) -> Any:
    pytest.fail("something was trained again")


def test_it_says_what_was_done(done: Path) -> None:
    """What was asked, of which data, by what; and of each cell what it took and scored."""
    told = json.loads((done / "run.json").read_text())
    assert told["data"]["ratings"] == len(ratings())
    assert told["data"]["users"] == ratings()["user"].nunique()
    assert told["splits"]["n_splits"] == 2
    assert told["measures"]["ndcg@5:catalogue"]["gain"] == "exponential"
    assert {"python", "numpy", "scikit-surprise"} <= told["versions"].keys()
    assert {"system", "cores"} <= told["machine"].keys()
    model = json.loads((done / "cells" / "SVD" / "model.json").read_text())
    assert model["parameters"]["n_factors"] == 3
    cell = json.loads((done / "cells" / "SVD" / "seed0-fold1.json").read_text())
    assert cell["values"].keys() == told["measures"].keys()
    assert cell["fit_time"] > 0


def test_scores_of_users_are_parquet(done: Path) -> None:
    """For any program: a row per user, a column per metric."""
    table = pd.read_parquet(done / "cells" / "SVD" / "seed0-fold2.rated.parquet")
    by_fold = run().per_user["ndcg@5", "SVD"]
    assert set(table["user"]) == set(by_fold.index)
    cell = json.loads((done / "cells" / "SVD" / "seed0-fold2.json").read_text())
    assert table["ndcg@5"].mean() == pytest.approx(cell["values"]["ndcg@5"], abs=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_resumes(folder: Path, n_jobs: int) -> None:
    """What is done is not done again, and the numbers are the same to the last digit."""

    class StopError(Exception):
        pass

    seen = []

    def stop(result: Any) -> None:
        seen.append(result.cell)
        if len(seen) == 3:
            raise StopError

    options: dict[str, Any] = {"seeds": 2, "protocol": "both", "n_jobs": n_jobs}
    with pytest.raises(StopError):
        run(folder=folder, on_result=stop, **options)
    again: list[Any] = []
    found = run(folder=folder, on_result=lambda one: again.append(one.cell), **options)
    assert len(again) == 12 - 3
    assert not {*again} & {*seen}
    expected = run(**options)
    pd.testing.assert_frame_equal(found.per_user, expected.per_user)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert str(found) == str(expected)


def test_models_and_seeds_may_be_added(folder: Path) -> None:
    """And what is there already is taken."""
    run({"SVD": SVD(n_factors=3, n_epochs=2), "top": MostPopular()}, folder=folder)
    cells: list[Any] = []
    found = run(folder=folder, seeds=2, on_result=lambda one: cells.append(one.cell[:2]))
    # one seed is for what has none of its own, as are two for all: these models have none
    assert set(cells) == {("biases", 0), ("SVD", 1), ("biases", 1), ("top", 1)}
    pd.testing.assert_frame_equal(found.per_user, run(seeds=2).per_user)
    assert rn.load_runs(folder).table["done"].tolist() == [4, 4, 4]


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "data": ({"data": ratings().iloc[1:]}, r"data\.digest .*now"),
    "order": ({"data": ratings().iloc[::-1]}, r"data\.digest .*now"),
    "folds": ({"splits": 3}, r"splits\.n_splits \(2, now 3\)"),
    "splitter": ({"splits": KFold(2)}, r"splits\.class \('.*UserKFold', now '.*KFold'\)"),
    "metrics": ({"metrics": ["ndcg@6"]}, r"measures\.ndcg@5 .*; measures\.ndcg@6"),
    "convention": (
        {"convention": rn.Convention(gain="linear")},
        r"measures\.ndcg@5\.gain \('exponential', now 'linear'\)",
    ),
    "protocol": ({"protocol": "catalogue"}, r"measures\.ndcg@5 \(.*, now None\)"),
    "parameters": (
        {"given": models() | {"SVD": SVD(n_factors=4, n_epochs=2)}},
        r"SVD: parameters\.n_factors \(3, now 4\)",
    ),
    "class": (
        {"given": models() | {"SVD": BaselineOnly()}},
        "SVD: class .*SVD', now .*BaselineOnly",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_it_mixes_nothing(name: str, done: Path) -> None:
    """What differs is named, and nothing is trained."""
    options, fault = OTHERS[name]
    asked = {"protocol": "both", **options}
    before = _contents(done)
    with pytest.raises(rn.InvalidInputError, match=fault):
        run(folder=done, **asked)
    assert _contents(done) == before


def test_functions_are_known_by_what_they_are(folder: Path) -> None:
    """By their source, and what they enclose."""

    def made(power: int) -> Any:
        return lambda train: lambda pairs: item_means(train)(pairs) ** power

    run({"f": made(1), "top": MostPopular()}, folder=folder)
    run({"f": made(1), "top": MostPopular()}, folder=folder)
    with pytest.raises(rn.InvalidInputError, match=r"f: parameters\.power \(1, now 2\)"):
        run({"f": made(2), "top": MostPopular()}, folder=folder)
    with pytest.raises(rn.InvalidInputError, match="f: code"):
        run({"f": lambda train: item_means(train), "top": MostPopular()}, folder=folder)  # noqa: PLW0108


def test_a_splitter_that_draws_anew_is_found_out(folder: Path) -> None:
    """One whose splits differ each time would mix what cannot be compared."""

    class Fickle:
        calls = 0

        def split(self, data: Any) -> Iterator[Any]:
            type(self).calls += 1
            yield from KFold(2, random_state=type(self).calls).split(data)

    run(folder=folder, splits=Fickle())
    with pytest.raises(rn.InvalidInputError, match="fold 1 was measured on another split"):
        run(folder=folder, splits=Fickle())


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_every_beginning_of_a_run_resumes(done: Path, tmp_path: Path) -> None:
    """Wherever it was killed between two writes, or in the middle of one."""
    expected = run(protocol="both").per_user
    files = sorted(path for path in done.rglob("*") if path.is_file())
    for number, lost in enumerate(files):
        if lost.name in ("run.json", "model.json"):
            continue
        folder = tmp_path / str(number)
        shutil.copytree(done, folder)
        cell = (folder / lost.relative_to(done)).parent / f"{lost.name.split('.')[0]}.json"
        cell.unlink()  # written last
        part = cell.parent / ".0123456789abcdef.part"
        part.write_bytes(lost.read_bytes()[: lost.stat().st_size // 2])
        found = run(folder=folder, protocol="both")
        pd.testing.assert_frame_equal(found.per_user, expected)


@pytest.mark.parametrize("how", ["cut", "bit", "empty", "gone"])
@pytest.mark.parametrize("name", ["seed0-fold1.json", "seed0-fold1.rated.parquet", "model.json"])
def test_a_damaged_file_is_named(done: Path, name: str, how: str) -> None:
    """It is never believed, and what to do is said."""
    path = done / "cells" / "SVD" / name
    content = path.read_bytes()
    middle = len(content) // 2
    if how == "gone":
        path.unlink()
    else:
        changed = {
            "cut": content[:middle],
            "bit": content[:middle] + bytes([content[middle] ^ 64]) + content[middle + 1 :],
            "empty": b"",
        }
        path.write_bytes(changed[how])
    if how == "gone" and name.endswith("json"):  # not done, or not known: is made again
        run(folder=done, protocol="both")
        return
    if how == "bit" and name.endswith("json"):
        with pytest.raises(rn.RecsysNdcgError):
            run(folder=done, protocol="both")
        return
    with pytest.raises(rn.InvalidInputError, match=rf"{name}.*") as caught:
        run(folder=done, protocol="both")
    if name != "model.json":
        assert "that cell is redone" in str(caught.value)
        for one in done.glob("cells/SVD/seed0-fold1.*"):
            one.unlink()
        run(folder=done, protocol="both")


def test_a_file_of_another_cell_is_no_result(done: Path) -> None:
    """Nor is one of another model."""
    cells = done / "cells" / "SVD"
    (cells / "seed0-fold1.json").write_bytes((cells / "seed0-fold2.json").read_bytes())
    with pytest.raises(rn.InvalidInputError, match="is not that of SVD, seed 0, fold 1"):
        run(folder=done, protocol="both")


def test_results_without_a_run_are_refused(done: Path) -> None:
    """Nobody knows of what they are."""
    (done / "run.json").unlink()
    with pytest.raises(rn.InvalidInputError, match=r"no folder of an experiment"):
        rn.load_runs(done)


def test_failures_are_kept_and_tried_again(folder: Path) -> None:
    """With the traceback; when it works later, that is gone."""
    Failing.forget()
    with pytest.warns(rn.DataWarning, match=r"seed0-fold2\.failed\.txt"):
        run({"bad": Failing(fold=2), **models()}, folder=folder)
    told = (folder / "cells" / "bad" / "seed0-fold2.failed.txt").read_text()
    assert "Traceback" in told
    assert "RuntimeError: no convergence" in told
    table = rn.load_runs(folder).table
    assert table.xs("bad", level="model")[["done", "of", "failed"]].to_numpy().tolist() == [
        [1, 2, 1]
    ]
    assert "bad failed" in rn.load_runs(folder).remarks[0]
    again: list[Any] = []
    found = run({"bad": Failing(fold=2), **models()}, folder=folder, on_result=again.append)
    assert [str(one.cell) for one in again] == ["bad, seed 0, fold 2"]
    assert "bad" in found.models
    assert not list(folder.rglob("*.failed.txt"))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is said before anything is trained."""
    file = tmp_path / "file"
    file.write_text("here")
    for path in (file, file / "below"):
        with pytest.raises(rn.InvalidInputError, match="cannot be a folder of results"):
            run({"f": _never, "g": _never}, folder=path)


def test_a_full_disk_loses_nothing(folder: Path) -> None:
    """What is kept stays whole, the error says so, and the run goes on where there is room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    seen: list[Any] = []

    def fill(result: Any) -> None:
        seen.append(result.cell)
        if len(seen) == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))

    try:
        with pytest.raises(rn.InvalidInputError, match=r"cannot be written \(File too large\)"):
            run(folder=folder, on_result=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list(folder.rglob(".*.part"))
    again: list[Any] = []
    found = run(folder=folder, on_result=lambda one: again.append(one.cell))
    assert len(again) == 4
    pd.testing.assert_frame_equal(found.per_user, run().per_user)


def _work(folder: str, names: list[str]) -> None:
    run({name: models()[name] for name in names}, folder=folder, seeds=3)


def test_two_processes_do_not_hurt_each_other(folder: Path) -> None:
    """They may even do the same."""
    spawned = multiprocessing.get_context("spawn")
    asked = [["SVD", "biases"], ["biases", "top"], ["SVD", "biases"]]
    workers = [spawned.Process(target=_work, args=(str(folder), names)) for names in asked]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)
        assert one.exitcode == 0
    again: list[Any] = []
    found = run(folder=folder, seeds=3, on_result=again.append)
    assert not again
    pd.testing.assert_frame_equal(found.per_user, run(seeds=3).per_user)


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "..",
        ".",
        "con ",
        "x" * 300,
        "名前",
        "SVD (k=20)",
        "n=5, biased=True",
        "../../up",
    ],
)
def test_models_may_be_called_anything(name: str, folder: Path) -> None:
    """Each has a folder of its own, inside that of the run."""
    run({name: MostPopular(), f"{name}'": BaselineOnly()}, folder=folder)
    assert {path.name for path in folder.parent.iterdir()} == {folder.name}
    assert len(list((folder / "cells").iterdir())) == 2
    found = rn.load_runs(folder).table
    assert {*found.index.get_level_values("model")} == {name, f"{name}'"}


def _half(_: Any) -> float:
    return 0.5


def test_a_measure_called_as_a_column_leaves_the_column_alone(folder: Path) -> None:
    """What is known of a run is no score."""
    own = [make_measure(_half, name) for name in ("users", "data")]
    run({"top": MostPopular()}, metrics=["ndcg@5", *own], folder=folder)
    row = rn.load_runs(folder).table.iloc[0]
    assert row["users"] == 60
    assert row["data"] == json.loads((folder / "run.json").read_text())["data"]["digest"][:8]


def test_other_files_in_the_folder_stay(folder: Path) -> None:
    """Also parts of files that somebody may be writing now."""
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    part = folder / ".0123456789abcdef.part"
    part.write_text("half")
    run(folder=folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert part.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda row: ("new", *row[1:]),
        lambda row: (row[0], "new", *row[2:]),
        lambda row: (*row[:2], row[2] + 0.5, row[3]),
        lambda row: (*row[:3], row[3] + 1),
        lambda row: (10**400, *row[1:]),
        lambda row: (*row[:2], row[2] + 1e-12, row[3]),
    ],
)
def test_any_change_of_the_ratings_is_noticed(change: Any) -> None:
    """In one row of many, by one bit of a number; the split notices it, too."""
    one, other = dataset_of(ratings()), dataset_of(ratings())
    assert describe_ratings(one) == describe_ratings(other)
    other.raw_ratings[7] = change(other.raw_ratings[7])
    assert describe_ratings(one)["digest"] != describe_ratings(other)["digest"]
    if other.raw_ratings[7][:3] != one.raw_ratings[7][:3]:
        splits = (next(iter(KFold(2, random_state=0).split(data))) for data in (one, other))
        assert len({digest_of_split(*split) for split in splits}) == 2


def _svd(n_factors: int) -> dict[str, Any]:
    return {"f": SVD(n_factors=n_factors, n_epochs=2), "top": MostPopular()}


@pytest.mark.parametrize("other", [{"given": _svd(4)}, {"given": _svd(3), "splits": 3}])
def test_two_experiments_that_begin_at_once_are_not_mixed(
    other: dict[str, Any], folder: Path
) -> None:
    """The first that has a result finds that it is not alone."""
    trained: list[Any] = []

    def begin_another(what: str, _: float) -> None:
        if what == "Training" and not trained:
            trained.append(other)
            run(**other, folder=folder)

    with pytest.raises(rn.InvalidInputError, match="a different experiment"):
        run(_svd(3), folder=folder, progress=begin_another)
    again: list[Any] = []
    run(**other, folder=folder, on_result=again.append)
    assert not again


def test_a_result_of_another_model_is_no_result(folder: Path, tmp_path: Path) -> None:
    """However it came here."""
    other = tmp_path / "other"
    run(_svd(3), folder=folder)
    run(_svd(4), folder=other)
    for path in (other / "cells" / "f").glob("seed0-fold1*"):
        shutil.copy(path, folder / "cells" / "f")
    for call in (lambda: run(_svd(3), folder=folder), lambda: rn.load_runs(folder).table):
        with pytest.raises(
            rn.InvalidInputError, match=r"seed0-fold1\.json: this result is of a diff"
        ):
            call()


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("run.json", "written_by"),
        ("run.json", "measures"),
        ("run.json", "begun"),
        ("cells/SVD/model.json", "fingerprint"),
        ("cells/SVD/model.json", "libraries"),
    ],
)
def test_a_record_that_lacks_something_is_named(done: Path, file: str, key: str) -> None:
    """Whoever reads it."""
    path = done / file
    told = json.loads(path.read_text())
    del told[key]
    path.write_text(json.dumps(told))
    for call in (lambda: run(folder=done, protocol="both"), lambda: rn.load_runs(done)):
        with pytest.raises(rn.InvalidInputError, match=rf"{path.name}: this \w+ was damaged"):
            call()


def test_a_splitter_is_known_by_its_own_seed(folder: Path) -> None:
    """Where there is one seed; that of a run is in the names of its cells."""
    run(folder=folder, splits=KFold(2, random_state=9))
    run(folder=folder, splits=KFold(2, random_state=9))
    with pytest.raises(rn.InvalidInputError, match=r"splits\.random_state \(9, now 8\)"):
        run(folder=folder, splits=KFold(2, random_state=8))


def test_any_change_of_a_testset_is_noticed() -> None:
    """Of its users, items, ratings, and of how many rows it has."""
    trainset, testset = next(iter(KFold(2, random_state=0).split(dataset_of(ratings()))))
    user, item, rating = testset[3]
    others = [("new", item, rating), (user, "new", rating), (user, item, rating + 0.5)]
    changed = [[*testset[:3], one, *testset[4:]] for one in others] + [testset[:-1]]
    digests = {digest_of_split(trainset, one) for one in [testset, *changed]}
    assert len(digests) == 5


def test_a_refused_call_leaves_nothing_behind(folder: Path, done: Path) -> None:
    """Neither in a folder of its own, nor in one of another experiment."""
    before = _contents(done)
    with pytest.raises(rn.InvalidInputError, match=r"SVD: parameters\.n_factors"):
        run({"new": MostPopular(), "SVD": SVD(n_factors=9)}, folder=done, protocol="both")
    assert _contents(done) == before
    run({"new": BaselineOnly(), **models()}, folder=done, protocol="both")
    other = folder.parent / "other"
    with pytest.raises(rn.InvalidInputError, match="test ratings"):
        run({"f": _never, "top": MostPopular()}, folder=other, splits=_Refused())
    run(folder=other)  # other models and splits


class _Refused:
    def split(self, _: Any) -> Any:
        msg = "no test ratings"
        raise rn.InvalidInputError(msg)


def test_a_model_whose_every_fold_failed_can_be_corrected(folder: Path) -> None:
    """There are no results that could be mixed; what it said is gone."""
    given = {"f": lambda train: train["missing"], "top": MostPopular()}
    with pytest.warns(rn.DataWarning, match="f failed in 2 of 2 folds"):
        run(given, folder=folder)
    found = run(given | {"f": item_means}, folder=folder)
    assert found.models == ["f", "top"]
    assert not list(folder.rglob("*.failed.txt"))


def test_a_folder_without_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be the working directory."""
    monkeypatch.chdir(tmp_path)
    for call in (lambda: run(folder=""), lambda: rn.load_runs("")):
        with pytest.raises(rn.InvalidInputError, match="'': cannot be the name of a file"):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_may_change_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int
) -> None:
    """As Hydra does: results are kept where they were asked for, and the caller stays."""
    monkeypatch.chdir(tmp_path)
    away = tmp_path / "away"
    away.mkdir()

    def moves(train: pd.DataFrame) -> Any:
        os.chdir(away)
        return item_means(train)

    run({"moves": moves, **models()}, folder="runs/today", n_jobs=n_jobs)
    assert not list(away.iterdir())
    assert Path.cwd() == tmp_path
    assert rn.load_runs("runs/today").table["done"].tolist() == [2] * 4


def test_one_folder_by_several_names_is_one(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first name is shown."""
    link = done.parent / "link"
    link.symlink_to(done)
    monkeypatch.chdir(done.parent)
    table = rn.load_runs("today", done, "./today/", "../runs/today", link, "*").table
    assert table.index.get_level_values("run").unique().tolist() == ["today"]
    assert len(table) == len(models())


def test_a_measure_twice_is_damage(done: Path) -> None:
    """The file is named, whatever asks for it."""
    path = done / "cells" / "SVD" / "seed0-fold1.json"
    told = json.loads(path.read_text())
    rated, catalogue = told["ranked"]
    for ranked in ([rated, rated], [rated, {**catalogue, "names": rated["names"]}], []):
        path.write_text(json.dumps({**told, "ranked": ranked}))
        for call in (
            lambda: run(folder=done, protocol="both"),
            lambda: rn.compare(rn.load_runs(done)),
            lambda: rn.load_runs(done).table,
        ):
            with pytest.raises(rn.InvalidInputError, match=r"seed0-fold1\.json"):
                call()
