"""Running experiments, from Python or a TOML file, and loading saved runs."""

from __future__ import annotations

import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.calls import take_options
from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import (
    InvalidInputError,
    escape_invisible,
    quote,
    require_libraries,
    suggest,
)
from recsys_ndcg.files import check_path, open_file
from recsys_ndcg.progress import progress_bar, write_progress_line

if TYPE_CHECKING:
    from recsys_ndcg.experiments.comparison import ExperimentComparison
    from recsys_ndcg.experiments.runs import SavedRuns
    from recsys_ndcg.folds import FoldRun
    from recsys_ndcg.scoring import Cutoffs

_NOT_IN_FILES = ("data", "models", "progress", "on_result")  # options that a file gives otherwise


@take_options()
def experiment(  # noqa: PLR0913 - the contract
    data: Any,
    models: Mapping[str, Any],
    *,
    metrics: Any = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    protocol: str | Iterable[str] = "rated",
    splits: Any = 5,
    seeds: int | Iterable[int] = 1,
    folder: str | Path | None = None,
    fingerprint: str | Mapping[str, str] | None = None,
    n_jobs: int | None = 1,
    baseline: str | None = None,
    columns: Mapping[str, Any] | None = None,
    rating_scale: tuple[float, float] | None = None,
    features: Any = None,
    progress: bool | Callable[[str, float], object] = True,
    on_result: Callable[[FoldRun], object] | None = None,
) -> ExperimentComparison:
    """Train and evaluate models over folds and seeds, and compare them.

    Parameters
    ----------
    data : surprise.Dataset, table, or path
        The ratings: a table with columns user, item, rating and, for splits by time, timestamp; or
        a file of one.
    models : mapping of str to models
        By name. A model has ``fit(trainset)`` and ``test(testset)``, like Surprise's, or
        ``fit(X, y)`` and ``predict(X)``, like scikit-learn's; a copy is trained in each fold. Or it
        is a function ``f(train)`` of a table user, item, rating and all other columns of the
        ratings. It returns a function of pairs (a table of the same columns without the rating)
        that returns their estimates: a number per pair, or a table user, item, estimated. Or it
        returns lists for the catalogue, ``{user: [items]}`` or a table user, item and rank or
        estimated. If only test ratings are ranked, ``f(train, pairs)`` may return the estimates
        itself.
    metrics : names, metrics, or measures of `recsys_ndcg.surprise`, optional
        As in `cross_validate`; the first is the main metric. A name without ``@k`` is computed at
        each `k`; one with ``:catalogue`` ranks the catalogue, whatever the `protocol`. By default
        ndcg, and with a threshold also precision and recall.
    k, threshold, convention
        As in `recsys_ndcg.evaluate`; estimates that differ by less than 1e-9 are
        always tied.
    protocol : {'rated', 'catalogue', 'both'}
        The ranked items: each user's test ratings, all items that the user did not rate in
        training, or both, separately.
    splits : int or splitter
        Number of folds of each user's ratings (`UserKFold`), or an object with ``split(data)``: a
        splitter of Surprise, `LeaveLastOut`, `TimeSplit` or another. `RollingTime` adds
        ``comparison.trends``.
    seeds : int or several
        Number of repetitions, or their seeds, for splits and models with a `random_state`. With
        one repetition, a `random_state` that is set is kept; with several, the seeds replace it.
    folder : path, optional
        Folder that every result is saved to as soon as it is computed, as JSON. The same call
        resumes an interrupted run; models and seeds may be added. Results of other ratings,
        splits, measures, versions or model code are an error. `load_runs` reads the folder. Several
        processes may share it.
    fingerprint : str or mapping of str to str, optional
        A version text per model, which is compared instead of its code and content when a run
        resumes: change it whenever the model changes. A text in place of a mapping is used only
        for models whose changes cannot be detected, because they hold a lock, a connection or an
        open file, for example. Without a text, these are trained again in every run.
    n_jobs : int, optional
        Number of processes that train at the same time; -1 for the number of processors.
    baseline : str, optional
        As in `recsys_ndcg.compare`; a single model is compared with ``"chance"``.
    columns : mapping, optional
        Maps our column names to the table's: ``{"rating": "stars"}``.
    rating_scale : pair of float, optional
        For a table or a file; by default its lowest and highest ratings.
    features : table, optional
        The features of the items, as in `recsys_ndcg.evaluate`, for measures such as
        ``"diversity(genres)@10:catalogue"``.
    progress : bool or callable
        Whether to show progress: a bar in a terminal or a notebook, elsewhere a line per fold on
        standard error. Or a function that is called instead, with the title of a step and its
        finished share, from 0 to 1.
    on_result : callable, optional
        Called with each new `FoldRun` after it is saved. For MLflow, log ``result.to_metrics()``.

    Returns
    -------
    ExperimentComparison
        The comparison of all models; each user's scores are averaged over folds and seeds.
        ``comparison.runs`` has the scores, the seconds to fit, predict and measure, and the memory
        of every fold; ``comparison.cold_start()`` the scores by number of training ratings.

    Raises
    ------
    InvalidInputError
        An argument is invalid (before anything is trained), the folder holds another experiment or
        cannot be written, or all models failed.

    Warns
    -----
    DataWarning
        A model failed in a fold: it is left out of the comparison, and its traceback is in the
        folder. A function fails on all columns of the ratings, or lists too few items. Also the
        warnings of `cross_validate`.

    Notes
    -----
    Folds have different users, and seeds are not independent: each user's scores are averaged
    before significance is tested.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> from surprise import BaselineOnly
    >>> from recsys_ndcg.datasets import sample_ratings
    >>> from recsys_ndcg.surprise import MostPopular
    >>> def mean_of_item(train):
    ...     means = train.groupby("item")["rating"].mean()
    ...     return lambda pairs: pairs["item"].map(means).fillna(0.0)
    >>> models = {"biases": BaselineOnly(), "popular": MostPopular(), "mean": mean_of_item}
    >>> ratings = sample_ratings(n_users=100)
    >>> found = rn.experiment(ratings, models, metrics=["ndcg@10", "rmse"], splits=2)
    >>> found.leaderboard[["mean", "tier"]].round(3)
              mean  tier
    model
    biases   0.778     1
    mean     0.775     1
    popular  0.689     3
    """
    with require_libraries("cloudpickle", "joblib", job="An experiment", extra="experiments"):
        from recsys_ndcg.experiments.models import (  # noqa: PLC0415 - an extra
            add_columns,
            check_models_rank_catalogue,
            is_algorithm,
            parse_models,
            parse_seeds,
        )
        from recsys_ndcg.experiments.ratings import build_dataset  # noqa: PLC0415
        from recsys_ndcg.experiments.runs import Experiment  # noqa: PLC0415
        from recsys_ndcg.folds import CheckedSplits, FoldPlan  # noqa: PLC0415
    each = parse_seeds(seeds)
    parsed = parse_models(models, each, baseline, fingerprint)
    plain = not any(is_algorithm(model.given) for model in parsed.values())
    ratings = build_dataset(data, columns, rating_scale, plain=plain)
    parsed = add_columns(parsed, ratings)
    plan = FoldPlan.of_protocols(protocol, metrics, k, threshold, convention, features=features)
    split = CheckedSplits(ratings, splits)
    split.check_n_jobs(n_jobs)
    plan = replace(split.resolve(plan), split_items=True)
    if plan.catalogue is not None:
        check_models_rank_catalogue(parsed)
    found = Experiment(parsed, split, each, plan)
    if folder is not None:
        found = found.with_folder(folder, fingerprint)
    bar = nullcontext(progress) if callable(progress) else progress_bar(enabled=progress)
    with bar as show:
        show_line = write_progress_line if progress is True else lambda _: None
        found.run_missing(n_jobs, on_result, show, show_line)
    found.emit_warnings()
    arguments = {"ratings": data, "features": features, "columns": columns}
    arguments |= {"rating_scale": rating_scale, "baseline": baseline}
    return found.compare_models(baseline, arguments, progress=progress is True)


def load_runs(*paths: str | Path) -> SavedRuns:
    """Read saved runs of experiments.

    Parameters
    ----------
    *paths : str or Path
        Folders of `experiment`, or patterns such as ``"runs/*"``.

    Returns
    -------
    SavedRuns
        The runs; their `table` has a row per run and model. Its columns ratings_digest and
        settings_digest are short hashes of the ratings, and of the splits and measures.
        ``rn.compare(runs)`` compares the models if the runs have the same of both.

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
    with require_libraries("cloudpickle", "joblib", job="Reading runs", extra="experiments"):
        from recsys_ndcg.experiments.folder import RunFolder  # noqa: PLC0415 - an extra
        from recsys_ndcg.experiments.runs import SavedRuns  # noqa: PLC0415
    folders: dict[str, str | Path] = {}
    for path in paths:
        check_path(path)
        # the name of an existing folder is not a pattern; Path.exists() raises for a long one
        matches = [] if os.path.exists(path) else sorted(glob(str(path)))  # noqa: PTH110, PTH207
        several: list[str | Path] = [match for match in matches if Path(match).is_dir()]
        for folder in several or [path]:
            folders.setdefault(os.path.realpath(folder), folder)
    runs = {escape_invisible(str(Path(one))): RunFolder.read(one) for one in folders.values()}
    if not runs:
        msg = "No folder. Pass at least one, such as 'runs/today' or 'runs/*'."
        raise InvalidInputError(msg)
    return SavedRuns(runs)


def from_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file as the arguments of `experiment`.

    Parameters
    ----------
    path : str or Path
        A file with ``ratings``, a table ``[models.NAME]`` for each model, and any option of
        `experiment`. A model has ``class`` or ``function``, an import path such as
        ``"surprise.SVD"``, and parameters; so has a table ``[splits]``. Paths are relative to the
        file's folder, from which modules can be imported.

    Raises
    ------
    InvalidInputError
        The file cannot be read, or has invalid content.
    """
    with open_file(path) as file:
        content = file.read()
    directory = str(Path(path).resolve().parent)
    try:
        with _label_errors("this is not the TOML of an experiment"):
            parsed = tomllib.loads(content.decode())
        if directory not in sys.path:  # permanently: workers import the folder's modules again
            sys.path.append(directory)
        return _parse_options(parsed, Path(path).parent)
    except InvalidInputError as error:
        msg = f"{path}: {error}"
        raise InvalidInputError(msg) from None


def _parse_options(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    arguments = inspect.signature(experiment).parameters
    names = [name for name in arguments if name not in _NOT_IN_FILES] + ["ratings", "models"]
    for name in given:
        if name not in names:
            msg = f"there is no option {name!r}. {suggest(name, names)}"
            raise InvalidInputError(msg)
    ratings, models = given.pop("ratings", None), given.pop("models", None)
    if not isinstance(ratings, str):
        msg = f'ratings must be the path of a file, ratings = "ratings.csv", not {quote(ratings)}.'
        raise InvalidInputError(msg)
    if not isinstance(models, dict) or not all(isinstance(one, dict) for one in models.values()):
        msg = 'a model must be a table, [models.SVD], with class = "surprise.SVD" and parameters.'
        raise InvalidInputError(msg)
    objects = {name: _build_object(f"models.{name}", one) for name, one in models.items()}
    if isinstance(given.get("splits"), dict):
        given["splits"] = _build_object("splits", given["splits"])
    if isinstance(given.get("folder"), str) and given["folder"]:
        given["folder"] = folder / given["folder"]
    return {**given, "data": folder / ratings, "models": objects}


def _build_object(place: str, given: Mapping[str, Any]) -> Any:
    """Return the imported function, or a new object of the imported class, with its parameters."""
    kinds = [kind for kind in ("class", "function") if kind in given]
    if len(kinds) != 1 or not isinstance(given[kinds[0]], str):
        msg = f'[{place}] needs class = "module.Class", or function = "module.function".'
        raise InvalidInputError(msg)
    (kind,) = kinds
    imported = _import_object(place, given[kind])
    parameters = {name: value for name, value in given.items() if name != kind}
    if kind == "function" or not isinstance(imported, type):
        if not callable(imported) or hasattr(imported, "fit"):
            msg = f"[{place}]: {given[kind]} is not a {kind}, but {quote(imported)}."
            raise InvalidInputError(msg)
        return partial(imported, **parameters) if parameters else imported
    with _label_errors(f"[{place}]: {given[kind]} rejects its parameters"):
        return imported(**parameters)


def _import_object(place: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module:
        msg = f"[{place}]: {path!r} names no module. Write one, such as surprise.SVD."
        raise InvalidInputError(msg)
    with _label_errors(f"[{place}]: {path!r} cannot be imported"):
        imported = import_module(module)
    if not hasattr(imported, name):
        names = [member for member in dir(imported) if not member.startswith("_")]
        msg = f"[{place}]: {module} has no {name!r}. {suggest(name, names)}"
        raise InvalidInputError(msg)
    return getattr(imported, name)


@contextmanager
def _label_errors(what: str) -> Iterator[None]:
    """Raise errors of a user's module or class as `InvalidInputError`, with a label."""
    try:
        yield
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's code may raise anything
        plain = isinstance(error, ModuleNotFoundError | TypeError | ValueError)
        message = str(error) if plain else f"{type(error).__name__}: {error}"
        msg = f"{what}: {message.rstrip('.')}."
        raise InvalidInputError(msg) from None
