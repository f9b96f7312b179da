"""The folder of a run: what was asked, and what came of every cell, each file written whole.

``run.json`` says what was asked, and each model's ``model.json`` what it is; neither is written
again. A cell is done when its JSON is there: it names the Parquet files of its users' scores with
their digests, which were written before it.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, check_path, reading
from recsys_ndcg.experiments.cells import Cell, Result
from recsys_ndcg.experiments.models import machine, versions
from recsys_ndcg.experiments.settled import FORMAT, settled, told_in, write_json
from recsys_ndcg.rendering.writing import write_whole
from recsys_ndcg.report.parquet import from_parquet, to_parquet
from recsys_ndcg.report.plain import plain
from recsys_ndcg.report.saved_files import read_saved
from recsys_ndcg.surprise.model_selection.folds import Fold, Ranked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.experiments.cells import Failure
    from recsys_ndcg.experiments.models import Model
    from recsys_ndcg.report.parts import Part

_RUN = "run.json"
_CELLS = "cells"
_MODEL = "model.json"
_DONE = re.compile(r"seed(\d{1,10})-fold(\d{1,6})\.json", re.ASCII)
_SIMPLE = re.compile(r"[\w=+,-][\w .=+,-]{0,58}[\w=+,-]|\w", re.ASCII)
_FAILED = ".failed.txt"
_STALE = 3600  # seconds, after which nobody is writing a part of a file any more


@dataclass(frozen=True)
class RunFolder:
    """A folder, and what was asked of it.

    Parameters
    ----------
    path : Path
        The folder.
    asked : dict
        What `run.json` says.
    """

    path: Path
    asked: dict[str, Any]

    @classmethod
    def opened(
        cls, path: str | Path, asked: dict[str, Any], models: Mapping[str, Model]
    ) -> RunFolder:
        """Make the folder, or go on with it if the same is asked.

        Raises
        ------
        InvalidInputError
            Something else was asked before: what differs is named; or nothing can be written.
        """
        check_path(path)
        folder = Path(path)
        try:
            for name in models:
                (folder / _CELLS / _folder(name)).mkdir(parents=True, exist_ok=True)
            _clear(folder)
        except OSError as error:
            msg = f"{folder}: cannot be a folder of results ({error.strerror or error})."
            raise InvalidInputError(msg) from None
        begun = {**asked, "begun": now(), "versions": versions(), "machine": machine()}
        differences = settled(folder / _RUN, "run", begun, asked.keys())
        for name, model in models.items():
            told = {"name": name, **model.described}
            file = folder / _CELLS / _folder(name) / _MODEL
            differences += [f"{name}: {one}" for one in settled(file, "model", told, told.keys())]
        if differences:
            msg = (
                f"{folder}: another experiment was begun there; different are "
                f"{'; '.join(differences)}. Take another folder, or another name for a model."
            )
            raise InvalidInputError(msg)
        return cls.read(folder)

    @classmethod
    def read(cls, path: str | Path) -> RunFolder:
        """Return a folder that there is.

        Raises
        ------
        InvalidInputError
            It is no folder of a run, or a damaged one.
        """
        check_path(path)
        folder = Path(path)
        if not cls.is_one(folder):
            msg = f"{folder}: no folder of an experiment, which has a {_RUN}."
            raise InvalidInputError(msg)
        return cls(folder, told_in(folder / _RUN, "run"))

    @staticmethod
    def is_one(path: str | Path) -> bool:
        """Tell the folder of a run from anything else."""
        return (Path(path) / _RUN).is_file()

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """What is known of each model, by its name."""
        files = sorted((self.path / _CELLS).glob(f"*/{_MODEL}"))
        told = [told_in(file, "model") for file in files]
        return {one["name"]: one for one in told}

    def holds(self, cell: Cell) -> bool:
        """Tell whether a cell is done."""
        return self._file(cell, ".json").exists()

    def keep(self, result: Result) -> None:
        """Write what came of a cell: the scores of its users, and then that it is done.

        Raises
        ------
        InvalidInputError
            It cannot be written.
        """
        cell, fold = result.cell, result.fold
        ranked = []
        for one in fold.ranked:
            if one.audit is None:
                continue
            path = self._file(cell, f".{_protocol(one)}.parquet")
            content = to_parquet(one.audit)
            write_whole(path, content)
            ranked.append(
                {
                    "file": path.name,
                    "sha256": sha256(content).hexdigest(),
                    "names": one.names,
                    "orderless": one.orderless,
                }
            )
        told = {
            "format": f"recsys_ndcg cell {FORMAT}",
            **cell._asdict(),
            "split": result.split,
            "values": {name: plain(value) for name, value in result.scores.items()},
            **{name: plain(value) for name, value in result.costs.items()},
            "users": fold.n_users,
            "said": list(result.said),
            "ranked": ranked,
            "versions": versions(),
            "finished": now(),
        }
        write_json(self._file(cell, ".json"), told)
        self._file(cell, _FAILED).unlink(missing_ok=True)

    def fail(self, failure: Failure) -> Path:
        """Write what went wrong in a cell, and return where."""
        path = self._file(failure.cell, _FAILED)
        told = f"{failure.cell}\n{failure.traceback}"
        write_whole(path, told.encode(errors="backslashreplace"))
        return path

    def result(self, cell: Cell) -> Result:
        """Return what came of a cell that is done.

        Raises
        ------
        InvalidInputError
            A file is damaged: it is named.
        """
        path = self._file(cell, ".json")
        try:
            return read_saved(path, "cell", FORMAT, lambda part, _: _result(cell, part, path), "")
        except InvalidInputError as error:
            msg = f"{error} Delete {path}, and run the experiment again: that cell is redone."
            raise InvalidInputError(msg) from None

    def cells(self, model: str) -> list[Cell]:
        """Return the cells of a model that are done."""
        names = [path.name for path in (self.path / _CELLS / _folder(model)).glob("*.json")]
        found = filter(None, map(_DONE.fullmatch, names))
        return sorted(Cell(model, int(one[1]), int(one[2])) for one in found)

    def failures(self, model: str) -> list[Path]:
        """Return where it says what went wrong with a model."""
        return sorted((self.path / _CELLS / _folder(model)).glob(f"*{_FAILED}"))

    def _file(self, cell: Cell, end: str) -> Path:
        folder = self.path / _CELLS / _folder(cell.model)
        return folder / f"seed{cell.seed}-fold{cell.fold}{end}"


def now() -> str:
    """Return the time, to be read."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _result(cell: Cell, part: Part, path: Path) -> Result:
    """Return what the file of a cell says."""
    if [part[name].value for name in cell._fields] != [*cell]:
        part["model"].refuse(f"is not that of {cell}")
    values = {name: part["values"][name].number() for name in part["values"].names()}
    fold = Fold(
        test=values,
        train={},
        fit_time=part["fit_time"].number(0.0),
        test_time=part["test_time"].number(0.0),
        n_users=part["users"].whole(least=1),
        ranked=[_ranked(one, path.parent) for one in part["ranked"].entries()],
    )
    said = tuple(one.text() for one in part["said"].entries())
    return Result(cell, fold, part["peak_memory_mb"].number(), part["split"].text(), said)


def _ranked(part: Part, folder: Path) -> Ranked:
    """Return the scores of a file, if it is the one that was written."""
    name = part["file"].text()
    if Path(name).name != name:
        part["file"].refuse("is no file beside this one")
    with reading(folder / name):
        content = (folder / name).read_bytes()
    if sha256(content).hexdigest() != part["sha256"].value:
        part["file"].refuse(f"({name}) was changed or damaged after it was written")
    audit = from_parquet(content)
    names = [one.text() for one in part["names"].entries(len(audit.scores.names))]
    return Ranked(names, audit.totals, audit, part["orderless"].flag())


def _protocol(one: Ranked) -> str:
    return "catalogue" if any(name.endswith(":catalogue") for name in one.names) else "rated"


def _folder(model: str) -> str:
    """Return the name of a model's folder: its own, where every system has such names."""
    if _SIMPLE.fullmatch(model):
        return model
    simple = re.sub(r"[^\w.=+,-]+", "_", model, flags=re.ASCII)[:40].strip("._")
    return f"{simple}-{sha256(model.encode(errors='replace')).hexdigest()[:8]}"


def _clear(folder: Path) -> None:
    """Remove what was being written when a process was killed."""
    for path in folder.rglob(".*.part"):
        with suppress(FileNotFoundError):  # another process has just finished it
            if path.stat().st_mtime < time.time() - _STALE:
                path.unlink()
