"""The folder of a run: descriptions of the experiment and its models, and every fold's result.

``run.json`` describes the ratings, the splits and the measures, each ``model.json`` a model. A fold
is done when its JSON exists: it lists the reports with its users' scores, which were written before
it, with their digests, and has the digest of everything that its numbers depend on. No file
is ever half-written.
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
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.experiments.models import GIVEN_PREFIX
from recsys_ndcg.files import Archive, check_path, open_file, to_json_value, write_file
from recsys_ndcg.folds import FoldRun
from recsys_ndcg.report import Report, ReportData
from recsys_ndcg.scoring import Audit

_FORMAT = 5
_RUN, _MODEL = "run.json", "model.json"
_MODELS = "models"
_DONE = re.compile(r"seed(\d{1,10})-fold(\d{1,6})\.json", re.ASCII)
_SIMPLE = re.compile(r"[\w=+,-][\w .=+,-]{0,58}[\w=+,-]|\w", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{16,}")
_FAILED = ".failed.txt"
_STALE = 3600  # seconds, after which an unfinished file is no longer being written
_SPLITS = "splits"  # the folder of the checks of folds
_PARTS = ("labels", "score", "users")  # of the scores by stratum of items
#: What is saved of a run as it is.
_SAVED = (
    *("model", "seed", "fold", "split", "test", "n_users", "without_order", "warnings"),
    *("fit_time", "test_time", "rank_time", "measure_time", "peak_memory"),
)
RunKey = tuple[str, int, int]  # a model, and the seed and the number of a fold


@dataclass(frozen=True)
class RunFolder:
    """A folder, and the experiment whose results it has.

    Parameters
    ----------
    path : Path
        The folder.
    description : dict
        The content of `run.json`.
    models : dict of str to dict
        The content of each model's `model.json`, by name.
    """

    path: Path
    description: dict[str, Any]
    models: dict[str, dict[str, Any]]

    @classmethod
    def open(
        cls, path: str | Path, description: dict[str, Any], models: Mapping[str, dict[str, Any]]
    ) -> RunFolder:
        """Create the folder, or resume its run if the experiment is the same.

        Parameters
        ----------
        path : str or Path
            The folder.
        description : dict
            The result of `describe_experiment`.
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
        named = {name: {"name": name, **model} for name, model in models.items()}
        machine = {  # times depend on it
            "system": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        }
        started = {
            **description,
            "begun": _format_time(),
            "versions": _get_versions(),
            "machine": machine,
        }
        try:
            stored = cls.read(place) if cls.is_run(place) else cls(place, {}, {})
            stored.check_matches(description, named)
            folder = cls(place, started, {**stored.models, **named})
            for one in (place / _SPLITS, *map(folder._get_model_folder, models)):
                one.mkdir(parents=True, exist_ok=True)
            _remove_unfinished(place)
        except OSError as error:
            msg = f"{path}: cannot be used as a folder of results ({error})."
            raise InvalidInputError(msg) from None
        if any(description[name] != stored.description.get(name) for name in description):
            _write_record(place / _RUN, "run", started)
        for name, model in named.items():
            before, fingerprint = stored.models.get(name), model["fingerprint"]
            if model != before:
                _write_record(folder._get_model_folder(name) / _MODEL, "model", model)
            if fingerprint is None:
                warn(
                    f"{name}: its folds are trained again in every run, because changes of the "
                    f"model cannot be detected: {model['incomparable']}. To resume it, pass "
                    f"fingerprint={{{name!r}: 'v1'}}, and another text whenever it changes."
                )
            # these results may be of a different model
            if fingerprint is None or (before and before["fingerprint"] != fingerprint):
                for done in folder._get_model_folder(name).glob("seed*"):
                    done.unlink(missing_ok=True)
        return folder

    def check_matches(self, description: dict[str, Any], models: dict[str, dict[str, Any]]) -> None:
        """Raise if the folder has results of a different experiment."""
        changes = []
        if any(self.list_runs(name) for name in self.models):
            saved = {name: self.description.get(name) for name in description}
            changes += _list_changes(saved, description)
        for name, model in models.items():
            if self.list_runs(name) and name in self.models:
                changes += _list_model_changes(self.models[name], model)
        if changes:
            msg = (
                f"This folder holds a different experiment: {'; '.join(changes)}. Use another "
                f"folder than {self.path}, or another name for a changed model."
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
            msg = f"{folder}: this is not the folder of an experiment: it has no {_RUN}."
            raise InvalidInputError(msg)
        files = sorted((folder / _MODELS).glob(f"*/{_MODEL}"))
        models = [_read_record(file, "model") for file in files]
        return cls(folder, _read_record(folder / _RUN, "run"), {one["name"]: one for one in models})

    def _compute_fingerprint(self, model: str) -> str | None:
        """Return the digest of all that the numbers of a model depend on; None if there is none."""
        described = self.models[model]
        if described["fingerprint"] is None:
            return None
        names = ("written_by", "data", "splits", "measures")
        digests = described["fingerprint"], described["libraries"]
        values = [[self.description[name] for name in names], *digests]
        # JSON has the same values before and after a file is written and read
        return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]

    @staticmethod
    def is_run(path: str | Path) -> bool:
        """Return whether a path is the folder of a run."""
        # Path.is_file() raises for a name that is too long
        return os.path.isfile(Path(path) / _RUN)  # noqa: PTH113

    def has_run(self, key: RunKey) -> bool:
        """Return whether the folder has a finished run of the same model on a fold."""
        is_known = self._compute_fingerprint(key[0]) is not None
        return is_known and self._get_path(key, ".json").exists()

    def save_run(self, run: FoldRun) -> None:
        """Save a run: first the per-user scores, then the record that marks it as done.

        Raises
        ------
        InvalidInputError
            A file cannot be written, or another process started a different experiment here.
        """
        self._check_not_replaced(run.model)
        files, by_items = {}, run.by_items
        for protocol, audit in run.audits.items():
            path = self._get_path(run.key, f".{protocol}.json")
            Report(ReportData(audit)).save(path)
            files[protocol] = {"file": path.name, "sha256": _compute_digest(path)}
        values = {
            **{name: to_json_value(getattr(run, name)) for name in _SAVED},
            "reports": files,
            "by_items": None
            if by_items is None
            else to_json_value(by_items[[*_PARTS]].reset_index().to_dict("list")),
            "fingerprint": self._compute_fingerprint(run.model),
            "versions": _get_versions(),
            "finished": _format_time(),
        }
        _write_record(self._get_path(run.key, ".json"), "fold", values)
        self._get_path(run.key, _FAILED).unlink(missing_ok=True)

    def _check_not_replaced(self, model: str) -> None:
        """Raise if another process has started a different experiment in the folder."""
        description = _read_record(self.path / _RUN, "run")
        described = _read_record(self._get_model_folder(model) / _MODEL, "model")
        now_here = RunFolder(self.path, description, {model: described})
        if now_here._compute_fingerprint(model) != self._compute_fingerprint(model):
            msg = (
                f"{self.path}: another process has started a different experiment in this folder. "
                "Use another folder."
            )
            raise InvalidInputError(msg)

    def save_split_report(self, seed: int, fold: int, values: dict[str, Any]) -> None:
        """Save the checks of a fold, if they are not there.

        Raises
        ------
        InvalidInputError
            A saved file is damaged, or cannot be written.
        """
        path = self.path / _SPLITS / f"seed{seed}-fold{fold}.json"
        redo = f"Delete {path}, and run the experiment again: it checks that fold again."
        record = {"report": json.loads(json.dumps(values))}  # as it is read
        if not path.exists() or _read_record(path, "split", redo) != record:
            _write_record(path, "split", record)

    def save_failure(self, run: FoldRun) -> Path:
        """Save the traceback of a failed run, and return its file."""
        path = self._get_path(run.key, _FAILED)
        write_file(path, f"{run}\n{run.traceback}".encode(errors="backslashreplace"))
        return path

    def load_run(self, key: RunKey) -> FoldRun:
        """Load a finished run.

        Raises
        ------
        InvalidInputError
            A file is damaged.
        """
        path = self._get_path(key, ".json")
        redo = f"Delete {path}, and run the experiment again: it trains that fold again."
        with Archive.open(path, f"fold {_FORMAT}", redo) as (stored, _):
            found = {name: _restore_number(stored[name]) for name in _SAVED}
            if stored["by_items"] is not None:
                parts = pd.DataFrame(stored["by_items"]).astype(dict.fromkeys(_PARTS, np.float64))
                found["by_items"] = parts.set_index(["metric", "stratum"])
            reports = stored["reports"].items()
            audits = {name: _load_audit(one, path.parent) for name, one in reports}
            run = FoldRun(**found, audits=audits)
            if run.key != key:
                msg = f"it has the result of another model, seed or fold than {FoldRun(*key)}."
                raise InvalidInputError(msg)
            digest = stored["fingerprint"]
        if digest != self._compute_fingerprint(run.model):
            msg = (
                f"{path}: this result is of a different experiment than {_RUN} and {_MODEL} "
                "describe. Another process may have started it. Use another folder, or delete it."
            )
            raise InvalidInputError(msg)
        return run

    def list_runs(self, model: str) -> list[RunKey]:
        """Return the keys of a model's finished runs, in order."""
        names = [path.name for path in self._get_model_folder(model).glob("*.json")]
        matches = filter(None, map(_DONE.fullmatch, names))
        return sorted((model, int(match[1]), int(match[2])) for match in matches)

    def list_failures(self, model: str) -> list[Path]:
        """Return the files with a model's tracebacks."""
        return sorted(self._get_model_folder(model).glob(f"*{_FAILED}"))

    def _get_model_folder(self, model: str) -> Path:
        return self.path / _MODELS / _make_folder_name(model)

    def _get_path(self, key: RunKey, end: str) -> Path:
        model, seed, fold = key
        return self._get_model_folder(model) / f"seed{seed}-fold{fold}{end}"


def _format_time() -> str:
    """Return the current time (UTC) in ISO format."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _compute_digest(path: Path) -> str:
    with open_file(path) as file:
        return sha256(file.read()).hexdigest()


def _load_audit(stored: dict[str, Any], folder: Path) -> Audit:
    """Load the scores of a file; raise if it has changed since it was written."""
    path = folder / stored["file"]
    if _compute_digest(path) != stored["sha256"]:
        msg = f"{path.name} was changed or damaged after it was written."
        raise InvalidInputError(msg)
    return Report.load(path)._data.audit


def _restore_number(stored: Any) -> Any:
    """Return a value with NaN in place of None."""
    if isinstance(stored, dict):
        return {name: _restore_number(one) for name, one in stored.items()}
    return math.nan if stored is None else stored


def _make_folder_name(model: str) -> str:
    """Return the name of a model's folder: the model's name if every system allows it."""
    if _SIMPLE.fullmatch(model):
        return model
    simple = re.sub(r"[^\w.=+,-]+", "_", model, flags=re.ASCII)[:40].strip("._")
    return f"{simple}-{sha256(model.encode(errors='replace')).hexdigest()[:8]}"


def _remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of killed processes."""
    for path in folder.rglob(".*.part"):
        with suppress(FileNotFoundError):  # another process has just finished it
            if path.stat().st_mtime < time.time() - _STALE:
                path.unlink()


def _write_record(path: Path, kind: str, values: dict[str, Any]) -> None:
    """Write a readable JSON file."""
    Archive(values, {}).write(path, f"{kind} {_FORMAT}")


def _read_record(path: Path, kind: str, advice: str = "Take another folder.") -> dict[str, Any]:
    with Archive.open(path, f"{kind} {_FORMAT}", advice) as (values, _):
        return values


def _list_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the differences between two experiments: ``["threshold: 4, now 3"]``."""
    places = {"data.digest": "ratings_digest"}
    changes: dict[str, tuple[Any, Any]] = {
        places.get(place, place.removeprefix("data.")): pair
        for place, pair in _find_differences(before, now).items()
        if not place.startswith("measures.")
    }
    measures = before["measures"], now["measures"]
    if measures[0].keys() != measures[1].keys():
        changes["metrics"] = ", ".join(measures[0]), ", ".join(measures[1])
    common = [name for name in measures[0] if name in measures[1]]
    measured: dict[tuple[str, Any], list[str]] = {}
    for name in common:
        for field, pair in _find_differences(*(each[name] for each in measures)).items():
            measured.setdefault((field, pair), []).append(name)
    for (field, pair), names in measured.items():
        owners = "" if names == common else f" of {', '.join(names)}"
        changes[f"{field}{owners}"] = pair
    return [_format_change(place, pair) for place, pair in changes.items()]


def _list_model_changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between two records of a model; none if the first has no fingerprint.

    Results of a model without a fingerprint cannot be compared with anything, and are deleted.
    """
    is_same = all(before[name] == now[name] for name in ("fingerprint", "libraries"))
    if before["fingerprint"] is None or is_same:
        return []
    owner, changes = f" of {now['name']}", _find_differences(before, now)
    digests = changes.pop("fingerprint", (None, None))
    changes.pop("incomparable", None)
    if any(str(one["fingerprint"]).startswith(GIVEN_PREFIX) for one in (before, now)):
        return [_format_change(f"fingerprint{owner}", digests)]
    if not changes:
        change = _format_change(f"fingerprint{owner}", digests)
        return [f"{change}, in code or data that {_MODEL} does not list"]
    # another class or function has other parameters and libraries, too
    kinds = {place: pair for place, pair in changes.items() if place in ("class", "function")}
    return [
        _format_change(f"{place.removeprefix('parameters.')}{owner}", pair)
        for place, pair in (kinds or changes).items()
    ]


def _find_differences(old: Any, new: Any, place: str = "") -> dict[str, tuple[Any, Any]]:
    """Return what differs between two values of JSON: ``{"parameters.k": (3, 4)}``."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return {} if old == new else {place: (old, new)}
    found: dict[str, tuple[Any, Any]] = {}
    for key in dict.fromkeys([*old, *new]):
        found |= _find_differences(old.get(key), new.get(key), f"{place}.{key}".strip("."))
    return found


def _format_change(place: str, values: tuple[Any, Any]) -> str:
    """Return a difference as text.

    Examples
    --------
    >>> _format_change("threshold", ("4.0", "3.5"))
    'threshold: 4, now 3.5'
    """
    texts = [one if isinstance(one, str) else quote(one) for one in values]
    old, new = (one[:8] if _DIGEST.fullmatch(one) else one.removesuffix(".0") for one in texts)
    return f"{place}: {old}, now {new}"


@cache  # reading the metadata takes milliseconds
def _get_versions() -> dict[str, str]:
    """Return the versions of the libraries that numbers depend on."""
    versions = {"python": platform.python_version()}
    surprise = ("scikit-surprise", "scikit-surprise-2")  # the fork has the same module
    for name in ("recsys-ndcg", *surprise, "numpy", "pandas", "scipy", "joblib"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
