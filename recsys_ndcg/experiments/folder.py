"""The folder of a run: what was asked for, and the result of every fold, each file written whole.

``run.json`` describes the ratings, the splits and the measures, each ``model.json`` a model. A fold
is done when its JSON is there: it names the Parquet files of its users' scores with their digests,
which were written before it, and has the digest of everything that its numbers depend on.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.experiments.cells import Cell, Failure, Result
from recsys_ndcg.experiments.models import GIVEN
from recsys_ndcg.files import Archive, check_path, json_value, open_file, write_whole
from recsys_ndcg.folds import FoldRun, ProtocolScores
from recsys_ndcg.report import Report, audit_from_parquet, report_to_parquet

_FORMAT = 3
_RUN, _MODEL = "run.json", "model.json"
_CELLS = "cells"
_DONE = re.compile(r"seed(\d{1,10})-fold(\d{1,6})\.json", re.ASCII)
_SIMPLE = re.compile(r"[\w=+,-][\w .=+,-]{0,58}[\w=+,-]|\w", re.ASCII)
_FAILED = ".failed.txt"
_STALE = 3600  # seconds, after which an unfinished file is no longer being written


@dataclass(frozen=True)
class RunFolder:
    """A folder, and the experiment whose results it has.

    Parameters
    ----------
    path : Path
        The folder.
    asked : dict
        The content of `run.json`.
    models : dict of str to dict
        The content of each model's `model.json`, by name.
    """

    path: Path
    asked: dict[str, Any]
    models: dict[str, dict[str, Any]]

    @classmethod
    def open(
        cls, path: str | Path, asked: dict[str, Any], models: Mapping[str, dict[str, Any]]
    ) -> RunFolder:
        """Create the folder, or resume its run if the experiment is the same.

        Parameters
        ----------
        path : str or Path
            The folder.
        asked : dict
            What the numbers of all models depend on: ratings, splits, measures.
        models : mapping of str to dict
            The results of `Model.describe`, by name.

        Raises
        ------
        InvalidInputError
            The folder has results of a different experiment, or cannot be written.

        Warns
        -----
        DataWarning
            A model cannot be compared with the saved one: its results are deleted.
        """
        check_path(path)
        place = Path(path).absolute()  # a model may change the working directory
        stored = cls.read(place) if cls.is_run(place) else cls(place, {}, {})
        named = {name: {"name": name, **model} for name, model in models.items()}
        stored.check_same_experiment(asked, named)
        machine = {  # times depend on it
            "system": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        }
        began = {**asked, "begun": _now(), "versions": _versions(), "machine": machine}
        folder = cls(place, began, {**stored.models, **named})
        try:
            for name in models:
                folder._folder_of(name).mkdir(parents=True, exist_ok=True)
            _clear(place)
        except OSError as error:
            msg = f"{path}: cannot be a folder of results ({error.strerror or error})."
            raise InvalidInputError(msg) from None
        if any(asked[name] != stored.asked.get(name) for name in asked):
            _write_record(place / _RUN, "run", began)
        for name, model in named.items():
            before, fingerprint = stored.models.get(name), model["fingerprint"]
            if model != before:
                _write_record(folder._folder_of(name) / _MODEL, "model", model)
            if fingerprint is None:
                warn(
                    f"{name}: its folds are trained again in every run, as two models of its kind "
                    f"cannot be compared: {model['incomparable']}. To resume it, pass "
                    f"fingerprint={{{name!r}: 'v1'}}, and another text whenever it changes."
                )
            # these results may be of a different model
            if fingerprint is None or (before and before["fingerprint"] != fingerprint):
                for done in folder._folder_of(name).glob("seed*"):
                    done.unlink(missing_ok=True)
        return folder

    def check_same_experiment(
        self, asked: dict[str, Any], models: dict[str, dict[str, Any]]
    ) -> None:
        """Raise if the folder has results of a different experiment."""
        found = []
        if any(self.cells(name) for name in self.models):
            found += _differences("", {name: self.asked.get(name) for name in asked}, asked)
        for name, model in models.items():
            if self.cells(name) and name in self.models:
                found += [f"{name}: {one}" for one in _changes_of_model(self.models[name], model)]
        if found:
            msg = (
                f"{self.path}: this folder has results of a different experiment: "
                f"{'; '.join(found)}. Use another folder, or another name for a changed model."
            )
            raise InvalidInputError(msg)

    @classmethod
    def read(cls, path: str | Path) -> RunFolder:
        """Read the folder of a run.

        Raises
        ------
        InvalidInputError
            The folder has no run, or a damaged one.
        """
        check_path(path)
        folder = Path(path)
        if not cls.is_run(folder):
            msg = f"{folder}: no folder of an experiment: it has no {_RUN}."
            raise InvalidInputError(msg)
        files = sorted((folder / _CELLS).glob(f"*/{_MODEL}"))
        models = [_read_record(file, "model") for file in files]
        return cls(folder, _read_record(folder / _RUN, "run"), {one["name"]: one for one in models})

    def _fingerprint(self, model: str) -> str | None:
        """Return the digest of all that the numbers of a model depend on; None if there is none."""
        described = self.models[model]
        if described["fingerprint"] is None:
            return None
        asked = [self.asked[name] for name in ("written_by", "data", "splits", "measures")]
        values = [asked, described["fingerprint"], described["libraries"]]
        # the same after they were written and read
        return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]

    @staticmethod
    def is_run(path: str | Path) -> bool:
        """Return whether a path is the folder of a run."""
        return (Path(path) / _RUN).is_file()

    def holds(self, cell: Cell) -> bool:
        """Return whether the folder has a result of the same model for a fold."""
        return self._fingerprint(cell.model) is not None and self._file(cell, ".json").exists()

    def keep(self, result: Result) -> None:
        """Save a result: first the per-user scores, then the record that marks it as done.

        Raises
        ------
        InvalidInputError
            A file cannot be written, or another process started a different experiment here.
        """
        cell, fold = result.cell, result.fold
        self._check_not_replaced(cell.model)
        ranked = []
        for one in fold.ranked:
            if one.audit is None:
                continue
            is_catalogue = any(name.endswith(":catalogue") for name in one.names)
            path = self._file(cell, f".{'catalogue' if is_catalogue else 'rated'}.parquet")
            content = report_to_parquet(Report(one.audit))
            write_whole(path, content)
            ranked.append(
                {
                    "file": path.name,
                    "sha256": sha256(content).hexdigest(),
                    "names": one.names,
                    "orderless": one.has_no_order,
                }
            )
        values = {
            **cell._asdict(),
            "fingerprint": self._fingerprint(cell.model),
            "split": result.split,
            "values": json_value(result.scores),
            **json_value(result.costs),
            "users": fold.n_users,
            "said": list(result.said),
            "ranked": ranked,
            "versions": _versions(),
            "finished": _now(),
        }
        _write_record(self._file(cell, ".json"), "cell", values)
        self._file(cell, _FAILED).unlink(missing_ok=True)

    def _check_not_replaced(self, model: str) -> None:
        """Raise if another process has started a different experiment in the folder."""
        asked = _read_record(self.path / _RUN, "run")
        described = _read_record(self._folder_of(model) / _MODEL, "model")
        now_here = RunFolder(self.path, asked, {model: described})
        if now_here._fingerprint(model) != self._fingerprint(model):
            msg = (
                f"{self.path}: another process has started a different experiment in this folder. "
                "Use another folder."
            )
            raise InvalidInputError(msg)

    def fail(self, failure: Failure) -> Path:
        """Save the traceback of a failed fold, and return its file."""
        path = self._file(failure.cell, _FAILED)
        told = f"{failure.cell}\n{failure.traceback}"
        write_whole(path, told.encode(errors="backslashreplace"))
        return path

    def result(self, cell: Cell) -> Result:
        """Load the result of a finished fold.

        Raises
        ------
        InvalidInputError
            A file is damaged.
        """
        path = self._file(cell, ".json")
        redo = f"Delete {path}, and run the experiment again: that cell is redone."
        with Archive.open(path, f"cell {_FORMAT}", redo) as (stored, _):
            if [stored[name] for name in cell._fields] != [*cell]:
                msg = f"this result is not that of {cell}."
                raise InvalidInputError(msg)
            fold = FoldRun(
                test={name: _number(stored["values"][name]) for name in self.asked["measures"]},
                train={},
                fit_time=_number(stored["fit_time"]),
                test_time=_number(stored["test_time"]),
                n_users=stored["users"],
                ranked=[_ranked(one, path.parent) for one in stored["ranked"]],
            )
            memory, said = _number(stored["peak_memory_mb"]), tuple(stored["said"])
            mark, result = stored["fingerprint"], Result(cell, fold, memory, stored["split"], said)
        if mark != self._fingerprint(cell.model):
            msg = (
                f"{path}: this result is of a different experiment than {_RUN} and {_MODEL} "
                "describe. Another process may have begun it; take another folder, or delete it."
            )
            raise InvalidInputError(msg)
        return result

    def cells(self, model: str) -> list[Cell]:
        """Return the cells of a model that are done."""
        names = [path.name for path in self._folder_of(model).glob("*.json")]
        found = filter(None, map(_DONE.fullmatch, names))
        return sorted(Cell(model, int(one[1]), int(one[2])) for one in found)

    def failures(self, model: str) -> list[Path]:
        """Return the files with a model's tracebacks."""
        return sorted(self._folder_of(model).glob(f"*{_FAILED}"))

    def _folder_of(self, model: str) -> Path:
        return self.path / _CELLS / _folder(model)

    def _file(self, cell: Cell, end: str) -> Path:
        return self._folder_of(cell.model) / f"seed{cell.seed}-fold{cell.fold}{end}"


def _now() -> str:
    """Return the time, to be read."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _ranked(stored: dict[str, Any], folder: Path) -> ProtocolScores:
    """Return the scores of a file, if it is the one that was written."""
    name = stored["file"]
    with open_file(folder / name) as file:
        content = file.read()
    if sha256(content).hexdigest() != stored["sha256"]:
        msg = f"{name} was changed or damaged after it was written."
        raise InvalidInputError(msg)
    audit = audit_from_parquet(content)
    return ProtocolScores(stored["names"], audit.totals, audit, stored["orderless"])


def _number(stored: float | None) -> float:
    return math.nan if stored is None else stored


def _folder(model: str) -> str:
    """Return the name of a model's folder: the model's name if every system allows it."""
    if _SIMPLE.fullmatch(model):
        return model
    simple = re.sub(r"[^\w.=+,-]+", "_", model, flags=re.ASCII)[:40].strip("._")
    return f"{simple}-{sha256(model.encode(errors='replace')).hexdigest()[:8]}"


def _clear(folder: Path) -> None:
    """Remove the unfinished files of killed processes."""
    for path in folder.rglob(".*.part"):
        with suppress(FileNotFoundError):  # another process has just finished it
            if path.stat().st_mtime < time.time() - _STALE:
                path.unlink()


def _write_record(path: Path, kind: str, values: dict[str, Any]) -> None:
    """Write plain values as JSON that people read."""
    Archive(values, {}).write(path, f"{kind} {_FORMAT}")


def _read_record(path: Path, kind: str) -> dict[str, Any]:
    with Archive.open(path, f"{kind} {_FORMAT}", "Take another folder.") as (values, _):
        return values


def _differences(name: str, before: Any, now: Any) -> list[str]:
    """Return where two values differ: ``"parameters.k (3, now 4)"``."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            found
            for one in dict.fromkeys([*before, *now])
            for found in _differences(f"{name}.{one}".strip("."), before.get(one), now.get(one))
        ]
    return [] if before == now else [f"{name} ({quote(before)}, now {quote(now)})"]


def _changes_of_model(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between two records of a model; none if the first has no fingerprint.

    Results of a model without a fingerprint cannot be compared with anything, and are deleted.
    """
    is_same = all(before[name] == now[name] for name in ("fingerprint", "libraries"))
    if before["fingerprint"] is None or is_same:
        return []
    if any(str(one["fingerprint"]).startswith(GIVEN) for one in (before, now)):
        return _differences("fingerprint", before["fingerprint"], now["fingerprint"])
    found = _differences("", before, now)
    named = [one for one in found if not one.startswith(("fingerprint", "incomparable"))]
    return named or [f"{one}, in code or data that {_MODEL} does not list" for one in found[:1]]


def _versions() -> dict[str, str]:
    """Return the versions of the libraries that numbers depend on."""
    found = {"python": platform.python_version()}
    for name in ("recsys-ndcg", "scikit-surprise", "numpy", "pandas", "scipy", "joblib"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
