"""experiment, demo: commands that train and compare models; and check-split, before that."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Group
from rich.live import Live

from recsys_ndcg.cli.comparison import FindingOptions, print_gates
from recsys_ndcg.cli.options import (
    ConventionOptions,
    Cutoff,
    Integer,
    Number,
    Pairs,
    option,
    parse_pairs,
)
from recsys_ndcg.cli.output import OutputOptions, PageOptions, err, print_line
from recsys_ndcg.cli.reports import build_leaderboard_document
from recsys_ndcg.cli.sources import File, add_format, check_files_exist
from recsys_ndcg.errors import InvalidInputError, check_integer, escape_for_stdout
from recsys_ndcg.progress import Steps, build_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from recsys_ndcg.experiments import ExperimentComparison
    from recsys_ndcg.folds import FoldRun
    from recsys_ndcg.report import Report

_MIN_RATINGS = 50


def experiment(  # noqa: PLR0913 - one parameter per option
    config: File,
    /,
    *,
    folder: Annotated[str | None, option("FOLDER")] = None,  # an empty Path is the current folder
    n_jobs: Integer | None = None,
    gate: FindingOptions = FindingOptions(),
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> int:
    """Train and evaluate models over folds and seeds.

    CONFIG describes the experiment. If it names a folder, the same command resumes an interrupted
    run.

    Parameters
    ----------
    config : Path
        TOML file with ratings, metrics, splits, folder, and a table [models.NAME] per model.
    folder : str, optional
        Folder that results are saved to and resumed from.
    n_jobs : int, optional
        Number of processes that train at the same time.

    Examples
    --------
    recsys-ndcg experiment today.toml --n-jobs 2
    recsys-ndcg experiment today.toml --folder runs/today --format markdown
    """
    from recsys_ndcg import experiment as run
    from recsys_ndcg.experiments import from_toml

    gate.check_kinds()
    page.check({"CONFIG": config})
    options = {"folder": folder, "n_jobs": n_jobs}
    with _print_to_stderr():
        given = {name: value for name, value in options.items() if value is not None}
        keywords = from_toml(config) | given
        if output.quiet or not err.is_terminal:  # without a terminal, a line per fold
            comparison = run(**keywords, progress=not output.quiet)
        else:
            live = LiveLeaderboard(list(keywords["models"]))
            live.resume(keywords.get("folder"))
            with live.display():
                comparison = run(**keywords, progress=live.progress, on_result=live.add)
    if not page.write(comparison):
        output.show_comparison(comparison)
        if output.form == "text" and not output.quiet:
            _print_costs(comparison)
    return print_gates(gate.judge(comparison), quiet=output.quiet)


class LiveLeaderboard:
    """Each model's mean scores so far, while an experiment runs.

    Parameters
    ----------
    models : list of str
        Their names.
    """

    def __init__(self, models: list[str]) -> None:
        self._models = models
        self._runs: list[FoldRun] = []
        self._steps = Steps()
        self.add = self._runs.append
        self.progress = self._steps.set

    def display(self) -> Live:
        """Show it on the terminal, and remove it at the end."""
        return Live(console=err, transient=True, get_renderable=self._render)

    def resume(self, folder: Path | None) -> None:
        """Add the models' saved results; an invalid folder is ignored, the experiment raises."""
        from recsys_ndcg.experiments import RunFolder

        if folder is None or not RunFolder.is_run(folder):
            return
        with suppress(InvalidInputError):
            run = RunFolder.read(folder)
            self._runs += (run.load_run(key) for one in self._models for key in run.list_runs(one))

    def table(self) -> pd.DataFrame:
        """Return a row per model: the number of finished folds, and the means over them."""
        import pandas as pd

        from recsys_ndcg.folds import lower_is_better

        rows = [
            {"model": one.model, **one.scores, "fit s": one.costs["fit_seconds"]}
            for one in self._runs
        ]
        groups = pd.DataFrame(rows, columns=None if rows else ["model"]).groupby("model")
        table = groups.mean().reindex(pd.Index(self._models, name="model"))
        table.insert(0, "folds", groups.size().reindex(self._models, fill_value=0))
        if not rows:
            return table
        first = table.columns[1]
        return table.sort_values(first, ascending=lower_is_better(first))

    def _render(self) -> Group:
        from recsys_ndcg.cli.terminal import draw_grid
        from recsys_ndcg.rendering import ShownTable, map_texts, show_columns

        table = self.table().reset_index()
        shown = ShownTable("The means so far", show_columns(table, plain=[*table]))
        visible = map_texts(shown, escape_for_stdout)
        return Group(*draw_grid(visible, err.width), build_table(self._steps.lines(monotonic())))


@contextmanager
def _print_to_stderr() -> Iterator[None]:
    """Send what models print, here and in workers, to standard error."""
    kept = -1
    with suppress(OSError):  # a stream that is closed
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)


def _print_costs(comparison: ExperimentComparison) -> None:
    """Print each model's times and memory."""
    for model, rows in comparison.runs.groupby(level="model", sort=False):
        print_line(
            f"- {model}: fit {rows['fit_seconds'].mean():.2f} s, predict "
            f"{rows['predict_seconds'].mean():.2f} s, measure {rows['measure_seconds'].mean():.2f} "
            f"s, {rows['peak_memory_mb'].max():.0f} MB at most ({len(rows)} folds)."
        )


def demo(
    *,
    ratings: File | None = None,
    threshold: Number | None = None,
    k: Cutoff = 10,
    seed: Integer = 0,
    page: PageOptions = PageOptions(),
) -> None:
    """Train four Surprise models and compare their rankings.

    Parameters
    ----------
    ratings : Path, optional
        A file of user, item, rating[, timestamp]: CSV, or separated by '::'.  [default: a sample]
    threshold : float, optional
        Ratings at or above this count as relevant.  [default: 4/5 of the highest]
    k : int
        Cutoff.
    seed : int
        Random seed of the sample, the split and the models.

    Examples
    --------
    recsys-ndcg demo --ratings ratings.dat -k 5
    recsys-ndcg demo --html demo.html
    """
    import numpy as np

    from recsys_ndcg import compare, datasets
    from recsys_ndcg.comparison import map_models
    from recsys_ndcg.evaluation import evaluate_by_plan
    from recsys_ndcg.ratings import read_ratings
    from recsys_ndcg.rendering import build_document
    from recsys_ndcg.surprise import import_library

    check_integer("seed", seed, 0, 2**32 - 1)  # the range of NumPy
    page.check({} if ratings is None else {"--ratings": ratings})
    table = datasets.sample_ratings(seed=seed) if ratings is None else read_ratings(ratings)
    _check_ratings(table)
    scale = float(table["rating"].min()), float(table["rating"].max())
    limit = scale[1] * 0.8 if threshold is None else threshold
    plan = ConventionOptions(limit).plan(["ndcg", "precision", "recall", "rmse"], [k])
    surprise = import_library("The demo")
    order = np.random.default_rng(seed).permutation(len(table))
    shuffled = table[["user", "item", "rating"]].iloc[order]
    n_test = len(table) // 5
    test = list(shuffled[:n_test].itertuples(index=False, name=None))
    reader = surprise.Reader(rating_scale=scale)
    train = surprise.Dataset.load_from_df(shuffled[n_test:], reader).build_full_trainset()
    similarity = {"name": "pearson_baseline", "user_based": False}
    knn = {"sim_options": similarity, "bsl_options": {"method": "als"}, "verbose": False}
    models = {
        "SVD": surprise.SVD(random_state=seed),
        "KNNBaseline": surprise.KNNBaseline(**knn),
        "BaselineOnly": surprise.BaselineOnly(verbose=False),
        "NormalPredictor": surprise.NormalPredictor(),
    }

    def train_and_evaluate(_: str, model: Any) -> Report:
        np.random.seed(seed)  # noqa: NPY002 - what NormalPredictor draws from
        return evaluate_by_plan(model.fit(train).test(test), plan)

    reports = map_models(models, train_and_evaluate, progress=True)
    comparison = compare(reports)
    read = f"sample_ratings(seed={seed})" if ratings is None else f"read_ratings({str(ratings)!r})"
    code = _DEMO.format(read=read, seed=seed, scale=scale, k=k, threshold=limit)
    if page.write(replace(comparison, _data=replace(comparison._data, code=code))):
        return
    source = "sample ratings" if ratings is None else f"ratings of {ratings}"
    print_line(
        f"{len(table)} {source}: {len(table) - n_test} to train on, {n_test} to "
        f"rank; {limit:g} and above is relevant."
    )
    shown, best = build_document(comparison), comparison.leaderboard.index[0]
    users = reports[best].leaderboard(comparison.metrics[0], n=5, by="z", ascending=True)
    worst = build_leaderboard_document(users, f"Worst users of {best} by z")
    shown = replace(shown, sections=[*shown.sections, *worst.sections])
    OutputOptions().show(shown, users)


#: The code on the page of the demo.
_DEMO = """\
import numpy as np
import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ratings import read_ratings
from surprise import SVD, BaselineOnly, Dataset, KNNBaseline, NormalPredictor, Reader

ratings = {read}[["user", "item", "rating"]]
shuffled = ratings.iloc[np.random.default_rng({seed}).permutation(len(ratings))]
n_test = len(ratings) // 5
test = list(shuffled[:n_test].itertuples(index=False, name=None))
data = Dataset.load_from_df(shuffled[n_test:], Reader(rating_scale={scale}))
train = data.build_full_trainset()
similarity = dict(name="pearson_baseline", user_based=False)
models = dict(
    SVD=SVD(random_state={seed}),
    KNNBaseline=KNNBaseline(sim_options=similarity, bsl_options=dict(method="als"), verbose=False),
    BaselineOnly=BaselineOnly(verbose=False),
    NormalPredictor=NormalPredictor(),
)
predictions = dict()
for name, model in models.items():
    np.random.seed({seed})  # NormalPredictor draws from it
    predictions[name] = model.fit(train).test(test)
metrics = ["ndcg", "precision", "recall", "rmse"]
comparison = rn.compare(predictions, metrics=metrics, k={k}, threshold={threshold})"""


def _check_ratings(ratings: pd.DataFrame) -> None:
    """Raise if there are too few ratings, or a pair is rated twice."""
    grades = ratings["rating"].nunique()
    if len(ratings) < _MIN_RATINGS or grades < 2:
        msg = (
            f"{len(ratings)} ratings with {grades} different values are too few to train on. "
            f"Pass at least {_MIN_RATINGS}."
        )
        raise InvalidInputError(msg)
    repeats = ratings[ratings.duplicated(["user", "item"])]
    for user, item, *_ in repeats[:1].itertuples(index=False):
        msg = (
            f"User {user!r} rates item {item!r} more than once ({len(repeats)} such rows). Keep "
            "one rating of each."
        )
        raise InvalidInputError(msg)


def check_split(  # noqa: PLR0913 - one parameter per option
    train: File,
    test: File,
    /,
    *,
    validation: File | None = None,
    lists: File | None = None,
    threshold: Number | None = None,
    k: Annotated[Cutoff, option("K", "-k")] = 10,
    columns: Pairs = "",
    memory_limit: Annotated[str | None, option("SIZE")] = None,
    gate: FindingOptions = FindingOptions(),
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> int:
    """Check a split before a model is trained.

    Shows leaks, times, unknown users and items, shifts, and what the split can tell apart.

    Parameters
    ----------
    train : Path
        Training rows: user, item and, if known, rating and timestamp.
    test : Path
        Test rows.
    validation : Path, optional
        Validation rows, on which parameters are chosen.
    lists : Path, optional
        Recommendations or candidates: user, item, and rank or estimated.
    threshold : float, optional
        Ratings at or above it are relevant.
    k : int
        The cutoff of the metrics.
    columns : str
        Map columns to the files': user=uid,item=iid,rating=stars,timestamp=date.
    memory_limit : str, optional
        Memory limit, such as 2GB: the training rows are then sorted on disk.

    Examples
    --------
    recsys-ndcg check-split train.csv test.csv --threshold 4
    recsys-ndcg check-split train.csv test.csv --lists top10.csv --fail-on error
    recsys-ndcg check-split train.csv test.csv --fail-on warning --accept overlap_of_periods
    """
    from recsys_ndcg import check_split as check

    files = {"train": train, "test": test, "validation": validation, "lists": lists}
    given = {name: path for name, path in files.items() if path is not None}
    gate.check_kinds()
    check_files_exist(*given.values())
    page.check(given)
    found = check(
        **{name: add_format(path) for name, path in given.items()},
        threshold=threshold,
        k=k,
        columns=parse_pairs(columns, "--columns"),
        memory_limit=memory_limit,
    )
    if not page.write(found):
        table = found.checks.reset_index()
        table["rows"] = table["rows"].map("; ".join)
        output.show(found, found.to_dict() if output.form == "json" else table)
    return print_gates(gate.judge(found), quiet=output.quiet)
