"""load_runs: the runs of several folders."""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.errors import InvalidInputError, check_path, needing
from recsys_ndcg.errors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.experiments.runs import Runs


def load_runs(*paths: str | Path) -> Runs:
    """Read the runs of experiments, of different days and machines.

    Parameters
    ----------
    *paths : str or Path
        Folders of `experiment`, or patterns such as ``"runs/*"``.

    Returns
    -------
    Runs
        With `Runs.table`; ``rn.compare(runs)`` compares the models whose runs are of the same
        ratings, splits and measures.

    Raises
    ------
    InvalidInputError
        There is no such folder, or a file in it is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import recsys_ndcg as rn
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> from recsys_ndcg.surprise import MostPopular
    >>> models, ratings = {"popular": MostPopular()}, sample_ratings(n_users=30)
    >>> with TemporaryDirectory() as folder:
    ...     _ = rn.experiment(ratings, models, splits=2, folder=folder)
    ...     table = rn.load_runs(folder).table
    >>> table[["ndcg@10", "users", "done", "failed"]].round(3).to_numpy().tolist()
    [[0.737, 30.0, 2.0, 0.0]]
    """
    with needing("cloudpickle", "joblib", "surprise", job="Reading runs", extra="surprise"):
        from recsys_ndcg.experiments.folder import RunFolder  # noqa: PLC0415 - an extra
        from recsys_ndcg.experiments.runs import Runs  # noqa: PLC0415
    folders: dict[str, str | Path] = {}
    for path in paths:
        for folder in _folders(path):
            folders.setdefault(os.path.realpath(folder), folder)
    found = {visible(str(Path(one))): RunFolder.read(one) for one in folders.values()}
    if not found:
        msg = "Give the folder of at least one run, such as 'runs/today' or 'runs/*'."
        raise InvalidInputError(msg)
    return Runs(found)


def _folders(path: str | Path) -> Iterable[str | Path]:
    """Return the folder, or those that match a pattern."""
    check_path(path)
    matched = [] if Path(path).exists() else sorted(glob(str(path)))  # noqa: PTH207 - any pattern
    return [one for one in matched if Path(one).is_dir()] or [path]
